"""What a training part predicts for many label vectors: scikit-learn's answers, one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from skeval._solvers.label_free import (
    Discriminant,
    Neighbours,
    Smoother,
    average,
    class_signs,
    count_votes,
    decide,
    find_basis,
    weigh_votes,
)

M, N_TESTED, P, N_FITS = 30, 12, 3, 5


def parts(seed=0):
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(M, P)), rng.normal(size=(N_TESTED, P))


def test_a_smoother_is_a_fit_to_each_label_vector():
    rng, train, test = parts()
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


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_votes_and_means_of_neighbours(weights):
    rng, train, test = parts()
    codes = rng.integers(0, 3, size=(N_FITS, M))
    distances, indices = KNeighborsRegressor(4).fit(train, np.zeros(M)).kneighbors(test)
    neighbours = Neighbours(indices, None if weights == "uniform" else 1.0 / distances)
    vote = count_votes if weights == "uniform" else weigh_votes
    codes[:, :3] = [0, 1, 2]  # KNeighborsClassifier must see every class.
    predicted, shares = vote(codes, neighbours, 3)
    means = average(codes.astype(float), neighbours)
    for r, labels in enumerate(codes):
        classifier = KNeighborsClassifier(4, weights=weights).fit(train, labels)
        assert_array_equal(predicted[r], classifier.predict(test))
        assert_allclose(shares[r], classifier.predict_proba(test), rtol=1e-12)
        regressor = KNeighborsRegressor(4, weights=weights).fit(train, labels.astype(float))
        assert_allclose(means[r], regressor.predict(test), rtol=1e-12)


@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
@pytest.mark.parametrize("priors", [None, (0.3, 0.7)])
def test_discriminant_analysis(shrinkage, priors):
    if shrinkage and priors:
        return  # scikit-learn weighs the covariances of the classes by priors of its own.
    rng, train, test = parts()
    codes = rng.permuted(np.tile(np.arange(M) % 2, (N_FITS, 1)), axis=1)
    shrunk = {"solver": "lsqr", "shrinkage": shrinkage} if shrinkage else {"solver": "svd"}
    single = LinearDiscriminantAnalysis(priors=priors, **shrunk)
    # scikit-learn divides the scatter by n or by n - 2, as it may have changed its mind.
    divisors = [M] if shrinkage else [M, M - 2]
    expected = [single.fit(train, labels).decision_function(test) for labels in codes]
    agree = []
    for divisor in divisors:
        # Shrunk covariances are those of columns of unit variance in each class, hence no test
        # of shrinkage on columns of other scales here: the adapter's tests have those.
        found = Discriminant(train, test, shrinkage, divisor, priors).solve(codes)
        assert found.solved.all()
        agree.append(np.allclose(found.values, expected, rtol=1e-8, atol=1e-8))
    assert any(agree)


def test_classes_that_are_all_but_separated_are_not_solved():
    train = np.c_[np.repeat([0.0, 1.0], M // 2), np.random.default_rng(0).normal(size=M)]
    codes = np.repeat([0, 1], M // 2)
    found = Discriminant(train, train, 0.0, M).solve(np.stack([codes, np.roll(codes, 3)]))
    assert found.solved.tolist() == [False, True]
