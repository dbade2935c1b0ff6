"""What stands beside the package says the same as the package."""

import ast
import csv
import json
import re
import statistics
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

from skeval import __version__
from skeval.__main__ import main

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def read(name):
    return (ROOT / name).read_text()


def test_the_version_is_one():
    assert f"version: {__version__}\n" in read("CITATION.cff")
    assert json.loads(read("codemeta.json"))["version"] == __version__
    assert f'set version = "{__version__}"' in read("recipe/meta.yaml")


def test_the_dependencies_are_those_of_the_project():
    assert json.loads(read("codemeta.json"))["softwareRequirements"] == PROJECT["dependencies"]
    needed = [f"python {PROJECT['requires-python']}"]
    needed += [re.sub(r"(>=)", r" \1", each) for each in PROJECT["dependencies"]]
    run = read("recipe/meta.yaml").partition("  run:\n")[2].partition("\n\n")[0]
    assert [line.strip("- ") for line in run.splitlines()] == needed


def test_the_coverage_in_the_readme_is_that_of_the_benchmark():
    rows = list(csv.DictReader(read("benchmarks/results/adaptive_repeats.csv").splitlines()))
    key = {"repeats": "auto", "rule": "chosen"}
    cells = [float(row["coverage"]) for row in rows if key.items() <= row.items()]
    low, high = 100 * min(cells), 100 * max(cells)
    text = " ".join(read("README.rst").split())
    claim = (
        f"covered the true error in {low:.0f} to {high:.0f} % of data sets, in each of {len(cells)}"
    )
    assert claim in text


def test_the_speed_in_the_readme_is_that_of_the_benchmark():
    rows = list(csv.DictReader(read("benchmarks/results/flagship.csv").splitlines()))
    ratios = sorted(float(row["ratio"]) for row in rows)
    assert all(float(row["ratio"]) >= float(row["mark"]) for row in rows)
    median = statistics.median(ratios)
    claim = f"{median:.0f} times as long in {len(rows)} calls with a solver for many fits (see"
    assert claim in " ".join(read("README.rst").split())
    claim = (
        f"In {len(rows)} calls with a solver, scikit-learn takes {ratios[0]:.1f} to "
        f"{ratios[-1]:.0f} times as long"
    )
    assert claim in " ".join(read("doc/user_guide/scale.rst").split())


def test_the_speed_of_natural_calls_in_the_readme_is_that_of_the_benchmark():
    rows = list(csv.DictReader(read("benchmarks/results/natural.csv").splitlines()))
    ratios = [float(row["ratio"]) for row in rows]
    claim = (
        f"In the median, scikit-learn's loop takes {statistics.median(ratios):.2f} times as long "
        f"as skeval in {len(rows)} typical calls"
    )
    assert claim in " ".join(read("README.rst").split())
    n_slow = sum(ratio < 0.95 for ratio in ratios)
    claim = f"In {'one call' if n_slow == 1 else f'{n_slow} calls'} the ratio is below 0.95"
    assert claim in " ".join(read("doc/user_guide/scale.rst").split())


def test_the_first_command_prints_what_the_readme_says(capsys):
    """A reader who tries it compares the two."""
    readme = read("README.rst")
    command = re.search(r"^    pip install \. && python -m skeval (.*)$", readme, re.M)[1]
    assert main(command.split()) == 0
    assert textwrap.indent(capsys.readouterr().out.strip(), "    ") in readme


def test_the_license_is_one():
    assert f"license: {PROJECT['license']}\n" in read("CITATION.cff")
    assert json.loads(read("codemeta.json"))["license"].endswith(PROJECT["license"])
    assert f"license: {PROJECT['license']}\n" in read("recipe/meta.yaml")
    assert read("LICENSE").startswith("BSD 3-Clause License")


def test_what_the_paper_cites_is_listed_and_nothing_else():
    cited = set(re.findall(r"@(\w+)", read("paper/paper.md")))
    listed = set(re.findall(r"^@\w+\{(\w+),", read("paper/paper.bib"), re.M))
    assert cited == listed


def test_the_files_that_the_one_command_names_exist():
    named = re.findall(r"(?m)(?:^ +|=)(tests/\S+?|skeval)$", read(".ci/run"))
    assert len(named) > 25
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_tables_of_the_methods_page_are_those_of_the_benchmark():
    command = [sys.executable, ROOT / "benchmarks" / "default_interval.py"]
    tables = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = read("doc/user_guide/formulas.rst")
    assert all(table.strip() in page for table in tables.split("\n\n"))


def test_benchmarks_import_what_modules_have():
    """They are run by hand, seldom, and would say so late."""
    missing = []
    for path in sorted((ROOT / "benchmarks").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skeval"):
                try:
                    exec(ast.unparse(node), {})
                except ImportError as error:
                    missing.append(f"{path.name}: {error}")
    assert missing == []
