"""Predictions that are linear in the labels: fits to each label vector."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from skeval._solvers.smoothers import Smoother, class_signs, decide, find_basis

M, N_TESTED, P, N_FITS = 30, 12, 3, 5


def test_a_smoother_is_a_fit_to_each_label_vector():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(M, P)), rng.normal(size=(N_TESTED, P))
    labels = rng.normal(size=(N_FITS, M))
    basis = find_basis(train)
    assert basis.shape == (M, P + 1)
    responses = Ridge().fit(train, basis).predict(test)
    found = Smoother(basis, responses)(labels)
    for row, predicted in zip(labels, found, strict=True):
        assert_allclose(predicted, Ridge().fit(train, row).predict(test), rtol=1e-10)
    everything = Smoother(None, Ridge().fit(train, np.eye(M)).predict(test))
    assert_allclose(everything(labels), found, rtol=1e-9)
    assert find_basis(train[: P + 1]) is None


def test_signs_of_classes():
    codes = np.array([[0, 1, 1], [1, 0, 0]])
    assert class_signs(codes, 2).tolist() == [[-1, 1, 1], [1, -1, -1]]
    three = class_signs(np.array([[0, 2, 1]]), 3)
    assert three.tolist() == [[[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]]


def test_decisions_nearer_than_the_noise_are_not_certain():
    values = np.array([[0.5, -0.2], [0.5, 1e-12]])
    predicted, certain = decide(values, 1e-9)
    assert predicted[0].tolist() == [1, 0]
    assert certain.tolist() == [True, False]
    each_class = np.array([[[0.1], [0.3], [0.2]], [[0.3], [0.3 - 1e-10], [0.0]]])
    predicted, certain = decide(each_class, 1e-9)
    assert predicted[:, 0].tolist() == [1, 0]
    assert certain.tolist() == [True, False]
