"""The tables of doc/reproduced.rst: short forms agree with the files that the pages read."""

import csv
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("reproduced", ROOT / "benchmarks" / "reproduced.py")
reproduced = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(reproduced)


def assert_agrees_with_page(name, full):
    """Hold rows to those of the file: equal, but for what random draws explain."""
    if name == "colon" and not (reproduced.DATA / "colon.npz").exists():
        pytest.skip("SKEVAL_DATA names no folder with colon.npz")
    with (ROOT / f"benchmarks/results/reproduced_{name}.csv").open(encoding="utf-8") as file:
        written = {row["quantity"]: row for row in csv.DictReader(file)}
    rows = list(reproduced.TABLES[name](full))
    assert {row.quantity for row in rows} <= set(written)
    assert not full or len(rows) == len(written)
    for row in rows:
        other = written[row.quantity]
        assert row.published == other["published"]
        digits = len(row.skeval.partition(".")[2])
        noise = np.hypot(float(row.standard_error or 0), float(other["standard_error"] or 0))
        distance = abs(float(row.skeval) - float(other["skeval"]))
        assert distance <= 4 * noise + 1.01 * 10.0**-digits, row


@pytest.mark.parametrize("name", reproduced.TABLES)
def test_the_short_form_agrees_with_the_page(name):
    assert_agrees_with_page(name, full=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # as in the study
@pytest.mark.parametrize("name", reproduced.TABLES)
def test_the_full_form_agrees_with_the_page(name):
    assert_agrees_with_page(name, full=True)


def test_each_table_is_on_the_page():
    page = (ROOT / "doc" / "reproduced.rst").read_text(encoding="utf-8")
    assert sorted(re.findall(r"results/reproduced_(\w+)\.csv", page)) == sorted(reproduced.TABLES)
