"""Names of estimators, dates, and what a notebook shows of results."""

import html
import re
import sys
from dataclasses import is_dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from types import SimpleNamespace
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.cluster import ClusterStability
from skeval.metrics.cluster import external_indices
from skeval.model_selection import (
    Estimate,
    PerturbationDisplay,
    Test,
    compare_classifiers,
    cross_val_error,
    holdout_error,
)
from skeval.utils._text import read_times, write_estimate

SCALED = make_pipeline(StandardScaler(), SVC())


def test_a_comparison_tells_pipelines_apart():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    other = make_pipeline(StandardScaler(), LogisticRegression())
    found = compare_classifiers([SCALED, other], X, y, cv=3, random_state=0)
    assert found.names == ("SVC", "LogisticRegression")


def test_a_result_has_a_short_repr_and_is_escaped_in_a_notebook():
    names = ["<b>"] * 60 + ["c"] * 60
    found = holdout_error(names, ["c"] * 120, priors={"<b>": 0.5, "c": 0.5})
    text = repr(replace(found, details={"one": list(range(40))}, replicates=np.zeros((9, 9))))
    assert text.startswith("Estimate(name='error rate', value=0.5, standard_error=")
    assert "details=<dict of 1>" in text
    assert len(text) < 450
    shown = external_indices([0, 0, 1], [0, 1, 1])
    assert shown._repr_html_() == f"<pre>{shown}</pre>"
    assert found._repr_html_() == f"<pre>{html.escape(str(found))}</pre>"


MODULES = (
    "cluster",
    "feature_selection",
    "metrics",
    "metrics.cluster",
    "model_selection",
    "report",
)


def list_results():
    modules = [import_module(f"skeval.{name}") for name in MODULES]
    found = [vars(module)[name] for module in modules for name in module.__all__]
    return [
        one
        for one in found
        if isinstance(one, type) and is_dataclass(one) and not one.__name__.endswith("Display")
    ]


@pytest.mark.parametrize("result", list_results(), ids=lambda result: result.__name__)
def test_every_public_result_is_shown_in_notebooks_and_has_a_short_repr(result):
    assert callable(result._repr_html_)
    assert result.__repr__.__qualname__ in ("write_fields", "Report.__repr__")


def print_rows(result):
    """Return the rows of a printed result by name."""
    rows = (line.strip().split("  ", 1) for line in str(result).splitlines()[1:])
    return {row[0]: row[1].strip() for row in rows}


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((np.nan, np.nan), "undefined"),
        ((-np.inf, np.inf), "unbounded"),
        ((-1, 2), "[-1.0000, 2.0000]"),
    ],
)
@pytest.mark.filterwarnings("ignore:The interval is undefined")
def test_limits_without_a_figure(ends, text):
    limits = {"own": lambda level: ends}
    found = Estimate(name="loss", value=0.5, standard_error=0.1, method="own", limits=limits)
    assert print_rows(found)["95 % interval"] == f"{text} ({found.interval.method})"


@pytest.mark.parametrize(
    ("ends", "text"), [((np.nan, np.nan), "undefined"), ((-1.0, 2.0), "-1.0000 to 2.0000")]
)
@pytest.mark.filterwarnings("ignore:The interval is undefined")
def test_a_legend_has_the_limits_in_words(ends, text):
    found = Estimate(
        name="loss", value=0.5, standard_error=0.1, method="own", limits={"own": lambda _: ends},
        replicates=np.arange(9.0), extra=SimpleNamespace(resubstitution=0.1, statistic="oob"),
    )  # fmt: skip
    legend = PerturbationDisplay.from_result(found).ax_.get_legend().get_texts()
    assert f"95 % interval {text} (" in legend[1].get_text()


def test_what_is_unknown_has_no_figure():
    for spread, text in ((0.0, "unknown"), (np.nan, "unknown"), (0.0123, "0.0123")):
        found = Estimate(name="loss", value=np.nan, standard_error=spread, method="own", limits={})
        assert print_rows(found) == {"value": "undefined", "standard error": text}
    for pvalue, text in (
        (np.nan, "undefined"),
        (0.000999, "< 0.001"),
        (0.001, "0.0010"),
        (0.0123, "0.012"),
        (1.0, "1.0"),
    ):
        found = Test(name="t", statistic=1.0, pvalue=pvalue, method="own")
        assert print_rows(found)["P-value"] == text
    replicates = 0.5 + np.outer([0, np.nan, 0.0001, 0.0246], [-1, 1, -1, 1])
    arrays = np.arange(4), np.ones(4), np.full(4, 0.5), np.array([0.0, np.nan, 0.00004, 0.0123])
    found = ClusterStability(*arrays, replicates, np.zeros(4), "bootstrap")
    shown = re.findall(r"0\.500 \+/- (\S+)", str(found))
    assert shown == ["unknown", "4e-05", "0.012"]
    assert str(found).count("0.500 (no variation)") == 1


@pytest.mark.parametrize(
    ("value", "spread", "text"),
    [
        (0.123456, 0.0321, "0.123"),
        (0.123456, 0.0004, "0.12346"),
        (1234.5678, 12.0, "1235"),
        (123456.78, 4200.0, "123,500"),
        (0.5, 0.0, "0.5000"),
        (0.5, np.nan, "0.5000"),
        (-0.00004, 0.05, "0.000"),
        (3e-9, 1e-10, "3e-09"),
    ],
)
def test_no_more_decimals_than_the_spread_leaves(value, spread, text):
    assert write_estimate(value, spread) == text


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_no_result_says_that_its_spread_is_zero(scale):
    """Nor that its interval is nan: what does not vary in the data is unknown, not certain."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), scale * rng.normal(size=30)
    with catch_warnings():
        simplefilter("ignore")
        results = [
            cross_val_error(LinearRegression(), X, y, cv=3, random_state=0),
            cross_val_error(LinearRegression(), X, scale * X[:, 0], cv=3, random_state=0),
            cross_val_error(DummyRegressor(), X, np.full(30, scale), cv=3, random_state=0),
            cross_val_error(GaussianNB(), X, X[:, 0] > 0, cv=3, random_state=0),
            holdout_error(["a"] * 9, ["a"] * 9),
        ]
    for result in results:
        said = str(result)
        assert "nan" not in said
        assert " 0.0000\n" not in said.partition("standard error")[2].partition("\n")[0] + "\n"


def test_a_frame_without_pandas_names_the_extra(monkeypatch):
    found = holdout_error(["a"] * 9, ["a"] * 9)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="frame needs pandas: pip install pandas"):
        found.to_frame()


def count_seconds(*date):
    return datetime(*date, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2024-01-31", "NA", "2024-02"], [[(2024, 1, 31), None, (2024, 2, 1)]]),
        (["31.1.2024 10:30"], [[(2024, 1, 31, 10, 30)]]),
        (["1/2/2024"], [[(2024, 2, 1)], [(2024, 1, 2)]]),
        (["2024-01-31T10:30:00+01:00"], [[(2024, 1, 31, 9, 30)]]),
        (["2024-13-01"], []),
        (["2024-01-31", "soon"], []),
        (["", "-"], []),
        ([1.5, 2.5], []),
    ],
)
def test_dates_have_one_reading_unless_day_and_month_may_be_swapped(texts, expected):
    result = read_times(np.array(texts))
    assert len(result) == len(expected)
    for seconds, dates in zip(result, expected, strict=True):
        wanted = [np.nan if date is None else count_seconds(*date) for date in dates]
        np.testing.assert_array_equal(seconds, wanted)


def test_stored_dates_are_read():
    times = np.array(["2024-01-31T10:30", "NaT"], dtype="datetime64[m]")
    (seconds,) = read_times(times)
    np.testing.assert_array_equal(seconds, [count_seconds(2024, 1, 31, 10, 30), np.nan])


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((0.0006258, 0.0006259), "[0.0006258, 0.0006259]"),
        ((0.0006258, 0.02), "[0.0006, 0.0200]"),
        ((-0.00002, 0.02), "[-2e-05, 0.0200]"),
        ((np.finfo(float).tiny, 0.02), "[0.0000, 0.0200]"),
        ((-0.7, -np.finfo(float).tiny), "[-0.7000, 0.0000]"),
        ((0.0006258, 0.0009), "[0.0006258, 0.0009]"),
    ],
)
def test_a_small_number_beside_a_larger_one_has_its_decimals(ends, text):
    found = Estimate(
        name="loss", value=0.5, standard_error=0.1, method="own", limits={"own": lambda level: ends}
    )
    assert print_rows(found)["95 % interval"] == f"{text} ({found.interval.method})"
