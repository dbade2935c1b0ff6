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
    rows = list(csv.DictReader(read("benchmarks/results/inflation.csv").splitlines()))
    key = {"loss": "zero_one", "half": "1", "folds": "10", "repeats": "5", "rule": "chosen"}
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
    claim = (
        f"in {len(rows)} measured calls, scikit-learn takes "
        f"{ratios[0]:.1f} to {ratios[-1]:.0f} times as long ({median:.0f} in the median)"
    )
    assert claim in " ".join(read("README.rst").split())


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


def test_the_table_of_methods_is_that_of_the_benchmark():
    rows = list(csv.DictReader(read("benchmarks/results/methods.csv").splitlines()))
    lines = [" ".join(line.split()) for line in read("doc/validation.rst").splitlines()]
    cells = {}
    for row in rows:
        cell = ", ".join(row[name] for name in ("population", "learner", "n")).replace(
            "neighbours", "neighbors"
        )
        shown = f"{float(row['covers_risk']):.2f} ({float(row['relative_width']):.2f})"
        cells[cell] = f"{cells.get(cell, cell)} {shown}"
    assert cells
    assert set(cells.values()) <= set(lines)
    for method in {row["method"] for row in rows}:
        part = [row for row in rows if row["method"] == method]
        assert len(part) == len(cells)
        assert {row["sets"] for row in part} == {"100"}


def test_the_table_of_groups_is_that_of_the_benchmark():
    """Rows have the lowest and the highest coverage for each correlation within groups."""
    names = {
        "error rate": "error_rate", "difference of two error rates": "difference",
        "area, both classes in each group": "roc_auc", "calibration slope": "slope",
        "area, one class in each group": "roc_auc of pure groups", "crossed: area": "roc_auc",
        "crossed: error rate": "error_rate", "crossed: difference": "difference",
        "crossed: calibration slope": "slope",
    }  # fmt: skip
    cells = {}
    for row in csv.DictReader(read("benchmarks/results/coverage_groups.csv").splitlines()):
        key = row["statistic"], "x" in row["groups"], row["icc"]
        cells.setdefault(key, []).append(round(100 * float(row["coverage"])) / 100)
    lines = [" ".join(line.split()) for line in read("doc/user_guide/dependence.rst").splitlines()]
    for name, statistic in names.items():
        of_row = [cells[statistic, "crossed" in name, icc] for icc in ("0.0", "0.3", "0.8")]
        shown = [f"{min(cell):.2f} to {max(cell):.2f}".replace("0.", ".") for cell in of_row]
        assert " ".join([name, *shown]) in lines


def test_the_tables_of_calibration_are_those_of_the_benchmarks():
    lines = [" ".join(line.split()) for line in read("doc/validation.rst").splitlines()]
    bins = {}
    for row in csv.DictReader(
        read("benchmarks/results/coverage_calibration_bins.csv").splitlines()
    ):
        cell = f"{float(row['coverage']):.2f} ({float(row['width']):.2f})"
        bins.setdefault(row["samples_of_bin"], {})[row["method"], row["rate"]] = cell
    for size, cells in bins.items():
        methods, rates = ("clopper_pearson", "wilson"), ("0.5", "0.1", "0.02")
        assert " ".join([size, *(cells[m, r] for m in methods for r in rates)]) in lines
    errors = {}
    for row in csv.DictReader(
        read("benchmarks/results/coverage_calibration_error.csv").splitlines()
    ):
        errors.setdefault((row["rate"], row["n"]), {})[row["model"], row["bins"]] = row
    for (rate, n), rows in errors.items():
        coverage = [float(row["coverage"]) for row in rows.values()]
        right, over = rows["calibrated", "quantile 10"], rows["overconfident", "quantile 10"]
        shown = [min(coverage), statistics.mean(coverage), right["error"], right["corrected"]]
        shown += [over["truth"], over["error"], over["corrected"]]
        cells = [rate, n, *(f"{float(cell):.3f}" for cell in shown), f"{float(over['width']):.2f}"]
        assert " ".join(cells) in lines


def test_the_table_of_reports_of_predictions_is_that_of_the_benchmark():
    lines = [" ".join(line.split()) for line in read("doc/validation.rst").splitlines()]
    measures = "accuracy", "f1_macro", "log_loss", "brier_score", "roc_auc", "average_precision"
    cells = {}
    for row in csv.DictReader(read("benchmarks/results/coverage_predictions.csv").splitlines()):
        cell = row["truth"], int(row["n"]), row["share"], row["groups"]
        cells.setdefault(cell, {})[row["statistic"]] = f"{float(row['coverage']):.2f}"
    for n, groups in ((50, "0"), (200, "0"), (1000, "0"), (600, "30")):
        for share in ("0.5", "0.1", "0.02"):
            cell = cells["right", n, share, groups]
            name = f"{share}, {n:,}" + " in 30 groups" * (groups != "0")
            assert " ".join([name, *(cell[measure] for measure in measures)]) in lines


def test_the_tables_of_curves_are_those_of_the_benchmark():
    lines = [" ".join(line.split()) for line in read("doc/validation.rst").splitlines()]
    rows = {}
    for row in csv.DictReader(read("benchmarks/results/coverage_curves.csv").splitlines()):
        if row["method"] == "band":
            key = row["curve"], int(row["n"]), row["rate"], row["area"]
            rows[key] = {name: row[name] for name in ("lowest", "whole")}

    def write(value):
        return f"{float(value):.3f}".removeprefix("0").replace("1.000", "1.00")

    tables = {"roc": "auc", "precision_recall": "average_precision", "net_benefit": "difference"}
    for (curve, n, rate, _), _ in rows.items():
        if curve in tables:
            cells = []
            for area in ("0.6", "0.9", "0.98"):
                band, other = (rows[name, n, rate, area] for name in (curve, tables[curve]))
                cells += [write(band["lowest"]), write(other["lowest"])]
                if curve != "net_benefit":
                    cells.insert(-1, write(band["whole"]))
            step = len(cells) // 3
            shown = [", ".join(cells[k : k + step]) for k in range(0, len(cells), step)]
            assert " ".join([str(n), rate, *shown]) in lines


def test_the_tables_of_the_methods_page_are_those_of_the_benchmark():
    command = [sys.executable, ROOT / "benchmarks" / "default_interval.py"]
    tables = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = read("doc/default_interval.rst")
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


def test_the_table_of_importance_is_that_of_the_benchmark():
    lines = [" ".join(line.split()) for line in read("doc/validation.rst").splitlines()]
    cells = {}
    for row in csv.DictReader(read("benchmarks/results/coverage_importance.csv").splitlines()):
        cells.setdefault(row["cell"], []).append(f"{float(row['coverage']):.2f}")
    assert len(cells) == 6
    for name, coverage in cells.items():
        assert " ".join([name, *coverage]) in lines
