"""Metrics of out-of-fold predictions: scikit-learn's values, and intervals that exist."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics as sk
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge

import skeval
from skeval._adapters.fits import fit_each
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import validate_inputs
from skeval._resampling.plans import repeated_folds
from skeval._resampling.predictions import collect_predictions
from skeval.model_selection._fold_metrics import measure_metrics
from skeval.utils._checks import root_seed

X, Y = load_iris(return_X_y=True)
X, Y = X[::2], Y[::2]


def collect(estimator, X, y, n_repeats=2):
    inputs = validate_inputs(estimator, X, y)
    plan = repeated_folds(inputs.units, 5, n_repeats, root_seed(0))
    outputs = list(fit_each(inputs, plan, FitRequest()))
    return collect_predictions(inputs, outputs, plan, 1.3)


def test_metrics_of_labels_are_those_of_all_predictions():
    predictions = collect(LinearDiscriminantAnalysis(), X, Y)
    metrics = measure_metrics(predictions, 0.95)
    true, predicted = Y[predictions.row], predictions.predicted
    for name, function in {
        "accuracy": sk.accuracy_score,
        "balanced_accuracy": sk.balanced_accuracy_score,
        "matthews_corrcoef": sk.matthews_corrcoef,
        "cohen_kappa": sk.cohen_kappa_score,
    }.items():
        assert metrics[name].value == pytest.approx(function(true, predicted), abs=1e-12)
        assert metrics[name].interval.low < metrics[name].value < metrics[name].interval.high
    recall = sk.recall_score(true, predicted, average=None)
    assert_allclose([metrics[f"recall, {c}"].value for c in range(3)], recall)
    assert metrics["recall, 1"].extra.label == "1"


def test_losses_of_probabilities_are_means():
    predictions = collect(LinearDiscriminantAnalysis(), X, Y)
    (only,) = measure_metrics(predictions, 0.95, only="log_loss").values()
    expected = sk.log_loss(Y[predictions.row], predictions.probabilities)
    assert only.value == pytest.approx(expected)
    assert only.extra.greater_is_better is False


def test_scores_that_rank_nothing_have_no_interval():
    two = Y < 2
    predictions = collect(DummyClassifier(), X[two], Y[two])
    area = measure_metrics(predictions, 0.95)["roc_auc"]
    assert area.value == pytest.approx(0.5)
    assert np.isnan(area.interval.low)


def test_metrics_of_numbers():
    X, y = load_diabetes(return_X_y=True)
    predictions = collect(Ridge(), X[:100], y[:100], n_repeats=1)
    metrics = measure_metrics(predictions, 0.95)
    true = y[:100][predictions.row]
    assert metrics["r2"].value == pytest.approx(sk.r2_score(true, predictions.predicted))
    error = sk.mean_absolute_error(true, predictions.predicted)
    assert metrics["mean_absolute_error"].value == pytest.approx(error)
    root = sk.root_mean_squared_error(true, predictions.predicted)
    assert metrics["root_mean_squared_error"].value == pytest.approx(root)


def test_rounding_of_a_constant_metric_does_not_widen_its_interval():
    """The recall of a class that is always predicted is 1 in every repeat, up to rounding."""
    rng = np.random.default_rng(0)
    y = np.where(rng.permutation(120) < 14, "dead", "alive")
    report = skeval.evaluate(
        DummyClassifier(), rng.normal(size=(120, 2)), y, include=(), random_state=0
    )
    recall = report.metrics["recall, alive"]
    assert recall.value == pytest.approx(1)
    assert recall.interval.low > 0.95
