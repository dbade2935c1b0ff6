"""Display text decides no number: every label and sentence may be replaced."""

import sys
from enum import Enum

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skeval import evaluate
from skeval._resampling import sampling_units
from skeval.model_selection import (
    compare_classifiers,
    cross_val_error,
    error_interval,
    permutation_test,
    score_interval,
)

X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, flip_y=0.2, random_state=2)
GROUPS = np.arange(60) // 4
NUMBERS = X[:, 0] + np.sin(np.arange(60) / 5)
IN_TIME = TimeSeriesSplit(4)
FEW = {"n_bootstraps": 20, "n_permutations": 20, "n_perturbations": 20, "random_state": 0}
PARTS = ("report", "model_selection", "cluster", "_inference", "_resampling")
BAYES, RIDGE = GaussianNB(), Ridge()
SELECTING = make_pipeline(SelectKBest(k=2), GaussianNB())
CALLS = {
    "samples": lambda: error_interval(BAYES, X, Y, random_state=0),
    "groups": lambda: error_interval(BAYES, X, Y, groups=GROUPS, random_state=0),
    "folds": lambda: error_interval(BAYES, X, Y, cv=KFold(5)),
    "overlapping": lambda: error_interval(BAYES, X, Y, cv=ShuffleSplit(5, random_state=0)),
    "blocks": lambda: error_interval(RIDGE, X, NUMBERS, cv=IN_TIME),
    "blocks, one cv": lambda: cross_val_error(RIDGE, X, NUMBERS, cv=IN_TIME),
    "wald": lambda: error_interval(BAYES, X, Y, method="cv_wald", groups=GROUPS, random_state=0),
    "scores": lambda: score_interval(BAYES, X, Y, scoring=["roc_auc", "f1"], random_state=0),
    "exchanged groups": lambda: permutation_test(
        BAYES, X, Y, groups=GROUPS, n_permutations=20, random_state=0
    ),
    "exchanged blocks": lambda: permutation_test(
        BAYES, X, Y, exchange="blocks", n_permutations=20, random_state=0
    ),
    "comparison": lambda: compare_classifiers(
        {"a": BAYES, "b": SVC()}, X, Y, groups=GROUPS, random_state=0
    ),
    "report": lambda: evaluate(SVC(kernel="linear"), X, Y, include="all", **FEW),
    "report of groups": lambda: evaluate(BAYES, X, Y, groups=GROUPS, by=GROUPS % 3, **FEW),
    "report in time": lambda: evaluate(RIDGE, X, NUMBERS, cv=IN_TIME, **FEW),
    "report of selection": lambda: evaluate(SELECTING, X, Y, include="all", **FEW),
}


def numbers(value):
    """Return the numbers of a result, in order."""
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [number for part in value for number in numbers(part)]
    return [value] if isinstance(value, bool | int | float) else []


def is_sentence(value):
    return isinstance(value, str) and " " in value


def list_texts():
    """Yield module, name and value of every constant that is a sentence or holds some."""
    for name, module in sorted(sys.modules.items()):
        if not name.startswith(tuple(f"skeval.{part}" for part in PARTS)):
            continue
        for constant, value in vars(module).copy().items():
            held = list(value.values()) if isinstance(value, dict) else [value]
            if constant.isupper() and any(map(is_sentence, held)):
                yield module, constant, value
    yield sampling_units, "LABELS", sampling_units.LABELS


def blank(value):
    """Return "x" in place of a text, and of each text that a mapping holds."""
    if isinstance(value, str):
        return "x"
    return {key: blank(part) if isinstance(part, str) else part for key, part in value.items()}


def test_every_enum_has_its_labels_outside():
    """An Enum compares by its members, so a label is a row of a table that may be replaced."""
    enums = {
        value
        for name, module in sys.modules.items()
        if name.startswith("skeval.")
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Enum) and value.__module__ == name
    }
    assert enums == {sampling_units.UnitKind}
    assert set(sampling_units.LABELS) == set(sampling_units.UnitKind)
    assert not any(isinstance(kind.value, str) for kind in sampling_units.UnitKind)


@pytest.fixture(scope="module")
def expected():
    return {name: numbers(call()) for name, call in CALLS.items()}


@pytest.mark.parametrize("name", CALLS)
def test_labels_and_sentences_change_no_number(name, expected, monkeypatch):
    texts = list(list_texts())
    assert len(texts) > 20
    for module, constant, value in texts:
        monkeypatch.setattr(module, constant, blank(value))
    np.testing.assert_equal(numbers(CALLS[name]()), expected[name])
