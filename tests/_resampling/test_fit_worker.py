"""One fit: its outputs, and errors that locate what the estimator refuses."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from skeval._resampling.fit_request import FitRequest
from skeval._resampling.fit_worker import make_worker, take_rows
from skeval._resampling.inputs import validate_inputs
from skeval._resampling.plans import Fit, whole_plan

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = np.arange(30) % 2


def one_fit():
    train = np.r_[np.full(10, 2), np.zeros(10, int), np.ones(10, int)]
    return Fit(train, train == 0, None)


def test_counts_repeat_the_training_samples():
    request = FitRequest(("predict", "predict_proba"))
    inputs = validate_inputs(GaussianNB(), X, Y)
    output = make_worker(inputs, whole_plan(30), request)(one_fit())
    rows = np.r_[np.repeat(np.arange(10), 2), 20:30]
    model = GaussianNB().fit(X[rows], Y[rows])
    assert_array_equal(output.predicted, model.predict(X[10:20]))
    assert_array_equal(output.probability, model.predict_proba(X[10:20]))


def test_a_precomputed_kernel_loses_rows_and_columns():
    inputs = validate_inputs(SVC(kernel="precomputed"), X @ X.T, Y)
    output = make_worker(inputs, whole_plan(30), FitRequest())(one_fit())
    rows = np.r_[np.repeat(np.arange(10), 2), 20:30]
    assert_array_equal(
        output.predicted, SVC(kernel="linear").fit(X[rows], Y[rows]).predict(X[10:20])
    )


def test_a_trial_model_is_fitted_once():
    inputs = validate_inputs(GaussianNB(), X, Y)
    worker = make_worker(inputs, whole_plan(30), FitRequest())
    model = worker.keep_model(one_fit())
    assert worker.keep_model(one_fit()) is model
    assert inputs.trial_models == worker.models


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_in_the_layout_of_indexing(order):
    array, rows = np.asarray(X, order=order), np.array([4, 4, 0])
    assert_array_equal(take_rows(array, rows), array[rows])
    assert take_rows(array, rows).flags == array[rows].flags
