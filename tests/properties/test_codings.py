"""Labels that name the classes in another way are refused, not counted as wrong."""

import numpy as np
import pytest
from helpers.outcomes import Refused, assert_value_or_error
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import skeval
from skeval import metrics
from skeval.model_selection import (
    bootstrap_score,
    compare_classifiers,
    compare_predictions,
    holdout_error,
    metric_interval,
    permutation_test,
    score_interval,
    threshold_measures,
)

RNG = np.random.default_rng(0)
N = 60
Z = np.arange(N) % 2
P = np.where(RNG.random(N) < 0.2, 1 - Z, Z)
THREE = np.arange(N) % 3
PROBA = (Z + RNG.random(N)) / 2
X = Z[:, None] + RNG.normal(size=(N, 2))
NAMES, GUESSES = np.where(Z, "yes", "no"), np.where(P, "yes", "no")
READERS = {
    "holdout_error": holdout_error,
    "metric_interval": lambda y, p: metric_interval("accuracy", y, p),
    "f1_macro": lambda y, p: metric_interval("f1_macro", y, p),
    "by": lambda y, p: metric_interval("accuracy", y, p, by=np.arange(N) // 30),
    "error_rate": metrics.error_rate,
    "macro_fbeta_score": metrics.macro_fbeta_score,
    "right": lambda y, p: compare_predictions(y, {"a": p, "b": y}),
    "compare_predictions": lambda y, p: compare_predictions(
        y, {"a": p, "b": y}, metric="balanced_accuracy", n_resamples=9
    ),
}
CODINGS = {
    "1/2": (Z + 1, P),
    "-1/1": (2 * Z - 1, P),
    "0/1 and -1/1": (Z, 2 * P - 1),
    "floats": (Z + 1.0, P * 1.0),
    "booleans": (Z + 1, P == 1),
    "constant": (Z + 1, 0 * P),
    "three": (THREE + 1, THREE),
    "three from 1": (THREE, THREE + 1),
    "spaces": (NAMES, np.char.add(GUESSES, " ")),
    "case": (NAMES, np.char.upper(GUESSES)),
    "other names": (NAMES, np.where(P, "1", "0")),
}


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("name", READERS)
def test_other_codes_are_refused(name, coding):
    if coding == "constant" and hasattr(metrics, name):
        pytest.skip("a metric of a fold, which may lack a class, computes it")
    with pytest.raises(ValueError, match=r"must contain the classes of y_true.*same class names"):
        READERS[name](*CODINGS[coding])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("name", READERS)
def test_a_class_that_is_not_predicted_or_not_true_is_no_other_code(name):
    for y, p in ((Z, 0 * P), (THREE, Z), (Z, THREE), (NAMES, np.where(P, "yes", "never"))):
        assert not isinstance(assert_value_or_error(READERS[name], y, p), Refused)


CURVES = {
    name: getattr(metrics, name)
    for name in (
        "expected_calibration_error",
        "reliability_curve",
        "score_decomposition",
        "calibration_measures",
        "net_benefit",
        "roc_curve_band",
        "precision_recall_curve_band",
        "cost_curve",
        "break_even_point",
        "expected_cost",
        "ranking_loss",
    )
} | {"threshold_measures": threshold_measures}


@pytest.mark.parametrize("name", CURVES)
def test_swapped_arrays_are_recognized(name):
    for y in (Z, 2 * Z - 1, Z + 1, Z == 1):
        with pytest.raises(ValueError, match="look swapped"):
            CURVES[name](PROBA, y)


def test_r2_of_classes_is_refused():
    for call in (
        lambda: score_interval(GaussianNB(), X, Z, scoring="r2"),
        lambda: permutation_test(GaussianNB(), X, THREE, scoring="explained_variance"),
        lambda: bootstrap_score(GaussianNB(), X, Z, scoring=["accuracy", "r2"]),
        lambda: skeval.evaluate(GaussianNB(), X, Z, scoring="r2"),
        lambda: compare_classifiers(
            {"a": GaussianNB(), "b": LogisticRegression()}, X, Z, scoring="r2"
        ),
    ):
        with pytest.raises(ValueError, match="needs a regressor"):
            call()
    with pytest.raises(ValueError, match="For classes, use accuracy_score"):
        metric_interval("r2", THREE, np.roll(THREE, 3))
    assert metric_interval("r2", THREE, THREE * 0.9).value > 0.9


def test_sparse_columns_and_big_integers():
    column, big = sparse.csr_array(Z[:, None]), [2**70 + int(z) for z in Z]
    functions = [*READERS.values(), skeval.evaluate_predictions]
    for function in functions:
        with pytest.raises(TypeError, match=r"y_true must be a dense array.*toarray"):
            function(column, P)
        with pytest.raises(ValueError, match="y_true"):
            function(big, big)
        with pytest.raises(ValueError, match="y_true"):
            function(np.array(big, dtype=object), P)
    for name in CURVES:
        with pytest.raises(TypeError, match=r"y_true must be a dense array.*toarray"):
            CURVES[name](column, PROBA)
