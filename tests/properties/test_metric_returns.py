"""The tables of what functions return and of re-exported ones are complete, and hold."""

import importlib
import inspect
import re
from collections.abc import Mapping
from numbers import Real
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics
from helpers.families import FAMILIES
from helpers.sound import sound_calls
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.metrics import make_scorer

import skeval.metrics
from skeval.metrics import Curve, make_clustering_scorer, probability_cost
from skeval.model_selection import Estimate

PAGE = Path(__file__).parents[2] / "doc" / "api" / "metrics.rst"
MACHINERY = {"get_scorer", "get_scorer_names", "make_clustering_scorer"}
SCORES = ("decision_function", "predict_proba")


def read_table():
    """Return the kind and the scorer of each function in the table of the API page."""
    section = PAGE.read_text(encoding="utf-8").split(".. list-table::")[1]
    table = {}
    for row in section.split("\n\nClassification\n")[0].split("   * - ")[2:]:
        kind, names, scorer = (" ".join(cell.split()) for cell in row.split("\n     - "))
        for name in re.findall(r"`(\w+)`", names):
            assert name not in table, f"{name} has two rows"
            table[name] = kind.split(";")[0], scorer
    return table


TABLE = read_table()
CALLS = {
    name: (FAMILIES[family][name], data) for family, name, data in sound_calls() if name in TABLE
}
CALLS["probability_cost"] = probability_cost, (0.2,)
KINDS = {
    "number": lambda value: isinstance(value, Real),
    "tuple": lambda value: isinstance(value, tuple),
    "array": lambda value: isinstance(value, np.ndarray),
    "curve": lambda value: (
        isinstance(value, Curve)
        or (isinstance(value, tuple) and all(isinstance(part, np.ndarray) for part in value))
    ),
    "number, or array of classes with ``average=None``": lambda value: isinstance(value, Real),
    "mapping": lambda value: isinstance(value, Mapping),
    "result": lambda value: isinstance(value, Estimate),
}


class Echo(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose responses are its samples."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return X

    decision_function = predict


def test_the_table_is_complete():
    public = {
        name
        for module in map(importlib.import_module, ("skeval.metrics", "skeval.metrics.cluster"))
        for name in module.__all__
        if inspect.isfunction(inspect.unwrap(getattr(module, name)))
    }
    assert set(TABLE) == public - MACHINERY
    assert set(CALLS) == set(TABLE)


@pytest.mark.filterwarnings("ignore:A BLEU precision is 0.0")
@pytest.mark.parametrize("name", TABLE)
def test_each_function_returns_what_the_table_says(name):
    function, data = CALLS[name]
    assert KINDS[TABLE[name][0]](function(*data))


@pytest.mark.filterwarnings("ignore:A BLEU precision is 0.0")
@pytest.mark.parametrize("name", [n for n, (_, scorer) in TABLE.items() if scorer[:2] != "no"])
def test_each_scorer_of_the_table_gives_a_number(name):
    (function, (y_true, y_pred)), scorer = CALLS[name], TABLE[name][1]
    both = scorer == "with both"
    losses = both or "greater_is_better=False" in scorer
    options = {"response_method": SCORES} if both or "response_method" in scorer else {}
    options |= {"per_image": True} if "per_image" in scorer else {}
    sign = -1 if losses else 1
    score = make_scorer(function, greater_is_better=not losses, **options)(Echo(), y_pred, y_true)
    options.pop("response_method", None)
    assert isinstance(score, Real)
    assert score == sign * function(y_true, y_pred, **options)


@pytest.mark.parametrize(
    "name", [n for n, (_, scorer) in TABLE.items() if scorer == "no, but `make_clustering_scorer`"]
)
def test_indices_of_the_data_are_ready_for_the_scorer_of_clusterers(name):
    function, (X, _) = CALLS[name]
    model = KMeans(2, n_init=1, random_state=0).fit(X)
    assert make_clustering_scorer(function)(model, X) == function(X, model.predict(X))


REEXPORTED = [
    "accuracy_score",
    "auc",
    "average_precision_score",
    "confusion_matrix",
    "f1_score",
    "fbeta_score",
    "mean_absolute_error",
    "mean_squared_error",
    "precision_recall_curve",
    "precision_recall_fscore_support",
    "precision_score",
    "recall_score",
    "roc_auc_score",
    "roc_curve",
    "root_mean_squared_error",
]


def test_they_are_the_functions_of_scikit_learn_and_all_there_are():
    for name in REEXPORTED:
        assert getattr(skeval.metrics, name) is getattr(sklearn.metrics, name)
    foreign = [
        name
        for name in skeval.metrics.__all__
        if getattr(skeval.metrics, name).__module__.startswith("sklearn")
    ]
    assert sorted(foreign) == REEXPORTED
