"""Names of estimators, and what a notebook shows of results."""

from dataclasses import dataclass, field, is_dataclass
from importlib import import_module

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.metrics.cluster import pair_counts
from skeval.model_selection import (
    ConfidenceInterval,
    ErrorEstimate,
    compare_classifiers,
    holdout_error,
)
from skeval.utils._text import ShownAsText, name_estimators

SCALED = make_pipeline(StandardScaler(), SVC())


@pytest.mark.parametrize(
    ("estimators", "names"),
    [
        ([SVC(), GaussianNB()], ["SVC", "GaussianNB"]),
        ([SCALED], ["SVC"]),
        ([SCALED, make_pipeline(StandardScaler(), GaussianNB())], ["SVC", "GaussianNB"]),
        ([SCALED, SVC()], ["StandardScaler + SVC", "SVC"]),
        ([SCALED, make_pipeline("passthrough", SVC())], ["StandardScaler + SVC", "SVC"]),
        ([make_pipeline(SCALED), SVC()], ["StandardScaler + SVC", "SVC"]),
        ([SVC(C=1), SVC(C=2)], ["SVC (1)", "SVC (2)"]),
    ],
)
def test_names(estimators, names):
    assert name_estimators(*estimators) == names


def test_a_comparison_tells_pipelines_apart():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    other = make_pipeline(StandardScaler(), LogisticRegression())
    found = compare_classifiers(SCALED, other, X, y, cv=3, random_state=0)
    assert (found.name_a, found.name_b) == ("SVC", "LogisticRegression")


def test_a_notebook_shows_what_is_printed():
    result = holdout_error(["<b>"] * 5 + ["c"] * 5, ["c"] * 10)
    assert isinstance(result, ErrorEstimate)
    for one in (result, pair_counts([0, 0, 1], [0, 1, 1])):
        shown = one._repr_html_()
        assert shown.startswith("<pre>")
        assert str(one).splitlines()[1].split()[0] in shown


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
    assert result.__repr__.__qualname__ in (
        "write_fields",
        "InternalIndices.__repr__",
        "WritableReport.__repr__",
    )


@dataclass(frozen=True)
class Found(ShownAsText):
    value: float
    interval: ConfidenceInterval
    scores: np.ndarray
    names: list
    text: str
    hidden: int = field(default=0, repr=False)

    def __str__(self):
        return "<one>\nand two"


def test_repr_is_short():
    interval = ConfidenceInterval(1 / 3, 2 / 3, 0.95, "wilson")
    assert repr(interval) == (
        "ConfidenceInterval(low=0.333333, high=0.666667, confidence_level=0.95, method='wilson')"
    )
    found = Found(1 / 3, interval, np.zeros((50, 50)), ["a"] * 40, "b" * 100)
    assert repr(found) == (
        "Found(value=0.333333, interval=[0.3333, 0.6667] (95 %, wilson), "
        f"scores=<ndarray of (50, 50)>, names=<list of 40>, text='{'b' * 55}...')"
    )
    small = Found(0.5, interval, np.arange(3), [], "b")
    assert "scores=array([0, 1, 2]), names=[], text='b'" in repr(small)
    assert small._repr_html_() == "<pre>&lt;one&gt;\nand two</pre>"
    assert len(repr(Found(0.5, interval, *[("word " * 10)] * 3))) < 450
    assert "names=<Found>" in repr(Found(0.5, interval, 0, small, "b"))
