"""Scores of many fits at once are those of scikit-learn's scorers, one by one."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics
from sklearn.base import clone
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import get_scorer, make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from skeval.model_selection import permutation_test

OF_TWO = [
    "f1",
    "precision",
    "recall",
    "roc_auc",
    "average_precision",
    "neg_brier_score",
    make_scorer(metrics.f1_score),
]
OF_ANY = [
    "accuracy",
    "balanced_accuracy",
    "f1_macro",
    "f1_micro",
    "matthews_corrcoef",
    "neg_log_loss",
    make_scorer(metrics.cohen_kappa_score),
]
OF_NUMBERS = [
    "r2",
    "neg_mean_squared_error",
    "neg_mean_absolute_error",
    "neg_root_mean_squared_error",
]
ONE_BY_ONE = [
    make_scorer(metrics.f1_score, pos_label=0),
    make_scorer(metrics.fbeta_score, beta=2.0),
    make_scorer(metrics.roc_auc_score),
    make_scorer(lambda y, p: 1.0),
    "jaccard",
    "roc_auc_ovr",
]
"""Scorers without a form for many fits."""

N, N_DRAWS = 40, 24
MODELS = {
    "ties": KNeighborsClassifier(4),
    "probabilities": GaussianNB(),
    "decisions": RidgeClassifier(),
}
OF_PROBABILITIES = ("neg_log_loss", "neg_brier_score")


def compare(model, X, y, test, scoring, monkeypatch):
    """Compare scores of a test set under permutations with those of a plain loop.

    A solver does most fits, so that they are scored many at once where that is possible.
    """
    rng, fit, n_fits = np.random.default_rng(0), type(model).fit, []
    train, several = np.setdiff1d(np.arange(N), test), isinstance(scoring, list)
    orders = np.array([rng.permutation(N) for _ in range(N_DRAWS)])
    options = {"cv": [(train, test)], "permutations": orders, "random_state": 0}
    with warnings.catch_warnings(), monkeypatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr(type(model), "fit", lambda *a, **k: n_fits.append(1) or fit(*a, **k))
        given = {str(one): get_scorer(one) for one in scoring} if several else scoring
        found = permutation_test(model, X, y, scoring=given, **options)
        assert len(n_fits) < N_DRAWS / 2
        fitted = [(clone(model).fit(X[train], y[order][train]), order) for order in orders]
        for one in scoring if several else [scoring]:
            scorer, scores = get_scorer(one or "accuracy"), found[str(one)] if several else found
            if one == "neg_log_loss":  # a test set may lack a class
                log_loss = partial(metrics.log_loss, labels=np.unique(y))
                scorer = make_scorer(
                    log_loss, greater_is_better=False, response_method="predict_proba"
                )
            expected = [scorer(each, X[test], y[order][test]) for each, order in fitted]
            assert_allclose(scores.null_distribution, expected, atol=1e-12, err_msg=str(one))


def make_classes(classes):
    """Return samples, and a few of them, with one of each class but the first."""
    rng = np.random.default_rng(len(classes))
    codes = rng.permutation(np.arange(N) % 5 % len(classes))
    first = np.flatnonzero(codes == 0)
    test = [*first[:4], *(np.flatnonzero(codes == code)[0] for code in range(1, len(classes)))]
    return rng.normal(size=(N, 2)) + codes[:, None], np.array(classes)[codes], test


@pytest.mark.parametrize(
    ("kind", "classes"),
    [
        ("ties", [0, 1]),
        ("probabilities", [1, 2]),
        ("ties", [0, 1, 2]),
        ("probabilities", [0, 1, 2]),
        ("decisions", [-1, 1]),
    ],
)
def test_scores_of_classes(kind, classes, monkeypatch):
    """Under permutations the test set may lack a class. The class 1 is positive for F1."""
    names = OF_ANY + (OF_TWO if len(classes) == 2 else [])
    if kind == "decisions":
        names = [name for name in names if name not in OF_PROBABILITIES]
    compare(MODELS[kind], *make_classes(classes), names, monkeypatch)


@pytest.mark.parametrize("scoring", [*ONE_BY_ONE, "roc_auc", "f1", None], ids=str)
def test_a_score_of_two_classes(scoring, monkeypatch):
    compare(MODELS["ties"], *make_classes([0, 1]), scoring, monkeypatch)


def test_several_scorers_of_which_some_score_one_by_one(monkeypatch):
    names = [*ONE_BY_ONE, "accuracy", "f1", "roc_auc"]
    compare(MODELS["probabilities"], *make_classes([0, 1]), names, monkeypatch)


@pytest.mark.parametrize("model", [Ridge(), KNeighborsRegressor(4)], ids=str)
def test_scores_of_numbers(model, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2, N))
    compare(model, X[:, None], y, np.arange(5), OF_NUMBERS, monkeypatch)
    compare(model, X[:, None], y, np.arange(5), "r2", monkeypatch)


def test_a_function_of_the_model_and_no_scorer():
    X, y, _ = make_classes([0, 1])
    options = {"cv": 2, "n_permutations": 9, "random_state": 0}
    found = permutation_test(MODELS["ties"], X, y, scoring=lambda *_: 0.25, **options)
    assert set(found.null_distribution) == {0.25}
    with pytest.raises(ValueError, match="scoring must be one of"):
        permutation_test(MODELS["ties"], X, y, scoring="no such scorer")


@pytest.mark.parametrize(
    "scoring", ["accuracy", "neg_log_loss", "average_precision", "roc_auc", "f1_micro"]
)
def test_scorers_are_called_for_undefined_scores_only(scoring, monkeypatch):
    """The scores of all permutations are computed together. Each test set has both classes."""
    X, y, _ = make_classes([0, 1])
    scorer, calls = get_scorer(scoring), []
    once = type(scorer).__call__
    monkeypatch.setattr(type(scorer), "__call__", lambda *a, **k: calls.append(1) or once(*a, **k))
    options = {"cv": 4, "n_permutations": N_DRAWS, "random_state": 0}
    permutation_test(MODELS["probabilities"], X, y, scoring=scorer, **options)
    assert len(calls) < N_DRAWS / 2
