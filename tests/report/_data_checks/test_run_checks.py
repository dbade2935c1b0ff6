"""Warnings of tables, clean or with a fault; row numbers; inputs that are no table."""

import csv
import importlib.util
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.tables import check_table, warnings_of
from scipy.sparse import csr_matrix, issparse
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

import skeval


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_bundled_sets_have_no_fault(load):
    found = warnings_of(*load(return_X_y=True))
    notes = {load_digits: ["constant"]}  # blank corners
    assert [warning.code for warning in found] == notes.get(load, [])
    assert not any(warning.headline or warning.lead for warning in found)


def test_row_numbers(noise):
    X, y = noise
    frame = pd.DataFrame(X, columns=list("abc")).assign(id=np.arange(1000, 1050))
    mixed = frame.sample(frac=1, random_state=0)
    for numbered in (frame, mixed):
        (sentence,) = warnings_of(numbered, y, names=list(frame))
        assert str(sentence).startswith("Row number: feature 'id' counts the samples")
        assert not sentence.headline
    (sentence,) = warnings_of(frame.assign(id=7 * frame["id"]), y, names=list(frame))
    assert sentence.code == "row-number"
    assert warnings_of(mixed.assign(id=7 * mixed["id"]), y, names=list(frame)) == []


@pytest.mark.parametrize(("n_missing", "n_codes"), [(0, 1), (1, 0), (10, 0), (50, 1)])
def test_a_value_that_is_missing_elsewhere_is_not_constant(noise, n_missing, n_codes):
    """It is an indicator. An empty column is constant."""
    X, y = noise
    mark = np.where(np.arange(50) < 50 - n_missing, 7.0, np.nan)
    codes = [text.code for text in warnings_of(np.column_stack([X, mark]), y)]
    assert codes.count("constant") == n_codes


@pytest.mark.parametrize(("n", "limit"), [(39, "fewer than 40"), (50_001, "more than 50000")])
def test_checks_that_need_another_number_of_rows_are_listed(n, limit):
    X, y = np.random.default_rng(0).normal(size=(n, 2)), np.arange(n) % 2
    (unchecked,) = warnings_of(X, y)
    sizes = f"({limit} distinct rows)"
    assert str(unchecked).startswith(f"Not checked: near-duplicates {sizes}. ")
    assert warnings_of(X[:, :1], y) == []  # no distances between neighbors in one column


@pytest.mark.parametrize("left_out", [[1, 2], {"a": [1, 2]}, {"a": np.zeros((20, 2))}])
def test_left_out_must_be_columns(left_out):
    with pytest.raises(ValueError, match="left_out must"):
        skeval.evaluate(DecisionTreeClassifier(), np.zeros((20, 2)), [0, 1] * 10, left_out=left_out)


def test_each_check_has_an_outcome_and_may_be_ignored(noise):
    X, y = np.vstack([noise[0]] * 2), np.r_[noise[1], noise[1]]
    quick = {"cv": 2, "include": [], "n_permutations": 0, "random_state": 0}
    report = skeval.evaluate(DecisionTreeClassifier(), X, y, **quick)
    outcomes = {result.code: result.outcome for result in report.checks}
    assert len(outcomes) == len(report.checks)
    with pytest.raises(ValueError, match="ignore must be one of") as refused:
        skeval.evaluate(DecisionTreeClassifier(), X, y, ignore="no such")
    assert list(outcomes) == re.findall("'([^']+)'", str(refused.value))[:-1]
    assert outcomes["copies"] == "serious"
    assert outcomes["target-copy"] == "passed"
    assert outcomes["target-formula"] == "not applicable"
    ignoring = skeval.evaluate(DecisionTreeClassifier(), X, y, ignore="copies", **quick)
    ignored = {result.code: result.outcome for result in ignoring.checks}
    assert ignored["copies"] == "ignored"
    # copies are units of the interval, which is wide
    left = {text.code for text in report.warnings} - {"copies"}
    assert {text.code for text in ignoring.warnings} == left


@pytest.mark.parametrize("kind", ["array", "frame", "single"])
def test_the_checks_need_four_times_the_memory_of_the_table(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 200)).astype(np.float32 if kind == "single" else float)
    X[:, :100] = np.round(X[:, :100], 1)
    y = rng.integers(0, 2, len(X))
    table = pd.DataFrame(X) if kind == "frame" else X
    tracemalloc.start()
    check_table(table, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 4 * 8 * X.size


def load_kinds():
    """Import the kinds of tables of the benchmark."""
    path = Path(__file__).parents[3] / "benchmarks" / "data_checks.py"
    spec = importlib.util.spec_from_file_location("data_checks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


KINDS = load_kinds()
SLOW_KINDS = [
    pytest.param(kind, n, 100, marks=pytest.mark.slow)
    for n in KINDS.SIZES
    for kind in (*KINDS.CLEAN, *KINDS.TRAPS)
]


@pytest.mark.parametrize(
    ("kind", "n", "n_sets"),
    [*((kind, 200, 4) for kind in (*KINDS.CLEAN, *KINDS.TRAPS)), *SLOW_KINDS],
)
def test_clean_tables_raise_no_grave_warning_and_traps_do(kind, n, n_sets):
    n_grave = KINDS.count_grave(kind, n, n_sets)
    if kind in KINDS.TRAPS:
        assert binom.cdf(n_grave, n_sets, 0.9) > 0.001
    else:
        assert binom.sf(n_grave - 1, n_sets, 0.02) > 0.0003


def test_the_guide_lists_the_measured_error_rates():
    """Clean tables have at most 2 % grave false alarms, or are named; 90 % of faults are found."""
    root = Path(__file__).parents[3]
    page = (root / "doc" / "user_guide" / "warning_rules.rst").read_text(encoding="utf-8")
    for kind in ("clean", "trap"):  # the tables are made from the file
        assert f".. results:: data_checks.csv\n   :where: kind={kind}\n" in page
    counts, above = {}, set()
    with (root / "benchmarks" / "results" / "data_checks.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            counts.setdefault((row["table"], row["kind"]), []).append(row["grave"])
            if row["table"] in KINDS.FETCHED and row["grave"] == KINDS.NOT_RUN:
                continue
            n_sets, n_grave = int(row["sets"]), int(row["grave"])
            assert n_sets == 100
            if row["kind"] == "trap":
                assert n_grave >= 90
            elif n_grave > 2:
                above.add((row["table"], row["samples"], row["grave"]))
    # the page names each clean kind that is above
    stated = re.findall(r"\*([^*]+)\* of (\d+) rows, with (\d+) of 100", " ".join(page.split()))
    assert set(stated) == above
    kinds = [kind for _, kind in counts]
    assert kinds.count("clean") >= 30
    assert kinds.count("trap") >= 20
    assert {len(cells) for cells in counts.values()} == {3}


@pytest.mark.parametrize("kind", KINDS.TRAPS)
def test_infinite_values_are_missing_values(kind):
    """They stop no check, and the findings are those of missing values."""
    rng = np.random.default_rng(0)
    sample = KINDS.TRAPS[kind][0](rng, 60)
    X = sample.X.toarray() if issparse(sample.X) else sample.X
    X = X.copy() if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
    names = [name for name in X if X[name].dtype.kind in "fi"][::2]
    cells = rng.random((len(X), len(names))) < 0.1
    left_out = {name: np.asarray(column) for name, column in sample.left_out.items()}
    found = []
    for values in (np.inf, np.nan, rng.choice([-np.inf, np.inf], cells.shape)):
        spoiled = X.copy()
        spoiled[names] = X[names].astype(float).mask(cells, values)
        found.append(KINDS.find_codes(sample._replace(X=spoiled, left_out=left_out)))
    assert found[0] == found[1] == found[2]


def test_findings_are_not_said_twice(noise):
    """A copy of the target explains perfect predictions, and a serious cause is said, too."""
    X, y = np.column_stack([noise[0], noise[1]]), noise[1]
    report = skeval.evaluate(DecisionTreeClassifier(random_state=0), X, y, include=[])
    perfect = [check.outcome for check in report.checks if check.code == "perfect"]
    codes = ["target-copy", "perfect"] if perfect == ["serious"] else ["target-copy"]
    assert perfect[0] in ("serious", "note")
    assert [one.code for one in report.warnings if one.code in ("target-copy", "perfect")] == codes


def test_samples_that_are_no_table_are_listed_as_unchecked(noise):
    X, y = noise
    twice = np.vstack([X[:25], X[:25]])
    (kernel,) = warnings_of(twice @ twice.T, y)
    assert str(kernel).startswith(
        "Not checked: copies and features, because the samples are not rows"
    )
    assert not kernel.headline
    texts = [f"a text of some length with the number {k}" for k in range(50)]
    (unchecked,) = warnings_of(texts, y)
    assert unchecked.code == "unchecked"
    copies, _ = warnings_of([text.upper() for text in texts[:25]] + texts[:25], y)
    assert copies.headline == "50 of 50 samples are exact copies of another sample"
    assert [text.code for text in warnings_of(["one text"] * 50, y)] == ["unchecked"]
    assert [text.code for text in warnings_of(csr_matrix(twice), np.tile(y[:25], 2))] == ["copies"]
    assert warnings_of(csr_matrix(twice), y) == []
    assert warnings_of(np.where(X > 2, np.inf, np.where(X < -1, np.nan, X)), y) == []


def test_lists_of_rows_are_checked_as_tables(noise):
    X, y = np.tile(noise[0], (3, 1)), np.tile(noise[1], 3)
    assert warnings_of(X.tolist(), y) == warnings_of(X, y)
