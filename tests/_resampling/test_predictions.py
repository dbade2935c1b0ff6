"""Out-of-fold predictions as columns, one row for each answer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier

from skeval._adapters.fits import fit_each
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.fold_plans import repeated_folds
from skeval._resampling.inputs import validate_inputs
from skeval._resampling.predictions import collect_predictions
from skeval.utils._checks import root_seed

X, Y = load_iris(return_X_y=True)
X, Y = X[::3], Y[::3]


def collect(estimator, failed=()):
    inputs = validate_inputs(estimator, X, Y)
    plan = repeated_folds(inputs.units, 5, 2, root_seed(0))
    outputs = list(fit_each(inputs, plan, FitRequest()))
    outputs = [None if fit in failed else output for fit, output in enumerate(outputs)]
    return collect_predictions(inputs, outputs, plan, 1.5)


def test_each_sample_is_predicted_once_per_repeat():
    predictions = collect(LinearDiscriminantAnalysis())
    assert_array_equal(np.bincount(predictions.row), 2)
    for rows in predictions.repeats:
        assert_array_equal(np.sort(predictions.row[rows]), np.arange(50))
    assert predictions.n_tested == 50
    assert_array_equal(np.unique(predictions.fit), np.arange(10))
    assert_array_equal(predictions.loss, predictions.predicted != Y[predictions.row])
    assert predictions.test_train_ratio == pytest.approx(1 / 4)
    assert predictions.group is None


def test_probabilities_and_decision_values():
    predictions = collect(LinearDiscriminantAnalysis())
    assert_allclose(predictions.probabilities.sum(axis=1), 1)
    assert_array_equal(predictions.class_scores.argmax(axis=1), predictions.predicted)
    predictions = collect(RidgeClassifier())
    assert predictions.probabilities is None
    assert predictions.class_scores.shape == (100, 3)
    curve = predictions.rank(0)
    assert curve.positive.sum() == 2 * np.sum(Y == 0)


def test_fits_that_failed_have_no_answers():
    predictions = collect(LinearDiscriminantAnalysis(), failed=[3])
    assert predictions.n_fits == 10
    assert 3 not in predictions.fit
    assert len(predictions.row) == 90


def test_a_class_without_samples_has_no_curve():
    predictions = collect(LinearDiscriminantAnalysis())
    assert predictions.rank(3) is None
