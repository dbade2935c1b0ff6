"""Rows of probabilities sum to 1 within half a unit of the last decimal per column."""

import warnings
from functools import partial

import numpy as np
import pytest
from helpers.crossed import each_value
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import skeval
from skeval import metrics
from skeval.metrics import expected_calibration_error, score_decomposition
from skeval.model_selection import (
    compare_predictions,
    cross_val_error,
    metric_interval,
    threshold_measures,
)

RNG = np.random.default_rng(0)
N = 300
Y = np.arange(N) % 3
P = RNG.dirichlet([1, 1, 1], N) + 0.2 * np.eye(3)[Y]
P /= P.sum(axis=1, keepdims=True)
OVR = "roc_auc_ovr"
OTHER = np.roll(P, 3, axis=0)
READERS = {
    "metric_interval": lambda y, p: (
        metric_interval(OVR, y, p, method="percentile", n_resamples=5, random_state=0).value
    ),
    "log_loss": lambda y, p: metric_interval(log_loss, y, p).value,
    "compare_predictions": lambda y, p: compare_predictions(
        y, {"a": p, "b": OTHER}, metric=OVR, n_resamples=9, random_state=0, method="bootstrap"
    ).values[0],
    "ece": lambda y, p: expected_calibration_error(y, p).value,
    "decomposition": lambda y, p: score_decomposition(y, p)["score"],
    "evaluate_predictions": lambda y, p: (
        skeval.evaluate_predictions(y, p, kind="probabilities").metrics["log_loss"].value
    ),
}


@each_value
@pytest.mark.parametrize("decimals", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", READERS)
def test_rounded_probabilities_are_divided_by_their_sums(name, decimals):
    p = P.round(decimals)
    p = p[p.sum(axis=1) > 0]
    exact = p / p.sum(axis=1, keepdims=True)
    if decimals > 1 or name not in ("log_loss", "evaluate_predictions"):
        assert READERS[name](Y, p) == pytest.approx(READERS[name](Y, exact), abs=1e-12)
    if name == "ece":  # a rounding error may move a sample to another bin
        return
    assert READERS[name](Y, p.astype(np.float32)) == pytest.approx(READERS[name](Y, p), abs=1e-5)


@pytest.mark.parametrize("name", READERS)
def test_other_rows_are_refused(name):
    for p in (P * 1.01, P * 3, -P, P + [0, 0, 0.002], RNG.random((N, 3)), (P > 0.4) * 1.0 + 0.5):
        with pytest.raises(ValueError, match="sum to 1"):
            READERS[name](Y, p)


def test_columns_of_two_systems_are_refused():
    y = Y > 1
    two = np.c_[P[:, 2], np.clip(P[:, 2] + 0.05 * RNG.normal(size=N), 0, 1)]
    for name in ("ece", "decomposition", "log_loss"):
        with pytest.raises(ValueError, match="For one class, pass its column"):
            READERS[name](y, two)


class Unnormalized(ClassifierMixin, BaseEstimator):
    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.factor * self.model_.predict_proba(X)


@pytest.mark.parametrize("loss", ["log_loss", "brier"])
def test_an_estimator_whose_rows_are_no_probabilities(loss):
    right = cross_val_error(Unnormalized(), P, Y, cv=3, loss=loss, random_state=0).value
    assert 0 < right < 1.1
    for factor in (1.5, 3.0, -1.0, 0.5):
        with pytest.raises(ValueError, match=r"predict_proba of the estimator must .* sum to 1"):
            cross_val_error(Unnormalized(factor), P, Y, cv=3, loss=loss, random_state=0)


TWO = np.c_[1 - P[:, 2], P[:, 2]]
OF_ONE_COLUMN = {
    name: getattr(metrics, name)
    for name in (
        "roc_curve_band",
        "precision_recall_curve_band",
        "cost_curve",
        "cost_curve_band",
        "net_benefit",
        "calibration_measures",
        "break_even_point",
        "expected_cost",
        "ranking_loss",
    )
} | {
    "threshold_measures": threshold_measures,
    "metric_interval": lambda y, p: metric_interval("roc_auc", y, p),
    "average_precision": lambda y, p: metric_interval("average_precision", y, p),
    "compare_predictions": lambda y, p: compare_predictions(
        y, {"a": p, "b": p[:, ::-1]}, method="delong"
    ),
}


@pytest.mark.parametrize("name", OF_ONE_COLUMN)
def test_two_columns_where_one_is_wanted(name):
    y = (Y > 1).astype(int)
    with pytest.raises(ValueError, match=r"Pass the column of the positive class, .*\[:, 1\]"):
        OF_ONE_COLUMN[name](y, TWO)


@pytest.mark.parametrize(
    "name",
    [
        "calibration_measures",
        "net_benefit",
        "expected_calibration_error",
        "reliability_curve",
        "score_decomposition",
        "threshold_measures",
    ],
)
def test_probabilities_of_the_other_class(name):
    at = partial(threshold_measures, threshold=0.3, n_resamples=20, random_state=0)
    function = getattr(metrics, name, at)
    y = (Y > 1).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(y, P[:, 2])
        if name != "threshold_measures":  # where some measures are undefined
            function(np.roll(y, 1), P[::-1, 2].round(1).clip(0.05, 0.95))  # no information
    with pytest.warns(
        UserWarning, match="looks reversed, because its area under the ROC curve is 0"
    ):
        function(y, 1 - P[:, 2])
    names = np.where(y, "ill", "well")
    with pytest.warns(UserWarning, match="pos_label="):
        function(names, P[:, 2], pos_label="well")
