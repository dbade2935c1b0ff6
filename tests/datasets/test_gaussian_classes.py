"""Simulated classes: the true error is exact."""

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from sklearn.svm import SVC

from skeval.datasets import make_gaussian_classes


@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_true_error_is_the_error_on_many_new_samples(prior):
    train = make_gaussian_classes(60, 4, n_informative=2, separation=2, prior=prior, random_state=0)
    rule = SVC(kernel="linear").fit(train.X, train.y)
    new = make_gaussian_classes(
        100_000, 4, n_informative=2, separation=2, prior=prior, random_state=1
    )
    wrong = int(np.sum(rule.predict(new.X) != new.y))
    expected = train.true_error(rule.coef_, rule.intercept_)
    assert binomtest(wrong, 100_000, expected).pvalue > 0.001


def test_bayes_error():
    data = make_gaussian_classes(10, 5, separation=3, random_state=0)
    assert data.bayes_error == pytest.approx(norm.cdf(-1.5), abs=1e-14)
    uneven = make_gaussian_classes(10, 5, separation=3, prior=0.1, random_state=0)
    best = min(uneven.true_error(uneven.mean, b) for b in np.linspace(-3, 3, 2001))
    assert uneven.bayes_error == pytest.approx(best, abs=1e-6)
    nothing = make_gaussian_classes(10, 5, separation=0, prior=0.3, random_state=0)
    assert nothing.bayes_error == 0.3


def test_shapes_and_means():
    data = make_gaussian_classes(20_000, 3, n_informative=1, separation=4, random_state=2)
    assert data.X.shape == (20_000, 3)
    gap = data.X[data.y == 1].mean(axis=0) - data.X[data.y == 0].mean(axis=0)
    np.testing.assert_allclose(gap, [4, 0, 0], atol=0.06)
    assert np.linalg.norm(2 * data.mean) == pytest.approx(4)


def test_a_rule_that_always_answers_the_same():
    data = make_gaussian_classes(10, 2, prior=0.3, random_state=0)
    assert data.true_error([0, 0], 1.0) == 0.7
    assert data.true_error([0, 0], -1.0) == 0.3


def test_each_class_has_two_members():
    for seed in range(200):
        y = make_gaussian_classes(4, 1, prior=0.1, random_state=seed).y
        assert np.bincount(y, minlength=2).min() == 2 or np.bincount(y).min() >= 2


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-8, 1e8, 1e160, 1e300])
def test_the_size_of_a_rule_changes_nothing(scale):
    data = make_gaussian_classes(10, 3, prior=0.3, random_state=0)
    coef = np.array([1.0, 0.5, -0.2])
    scaled = data.true_error(scale * coef, scale * 0.3)
    assert scaled == pytest.approx(data.true_error(coef, 0.3), rel=1e-12)


@pytest.mark.parametrize("prior", [0.5, 0.9])
def test_bayes_error_at_any_separation(prior):
    separations = [0, 1e-300, 1e-160, 1e-9, 0.1, 1, 10, 1e3, 1e160, 1e300]
    errors = [
        make_gaussian_classes(10, 3, separation=s, prior=prior, random_state=0).bayes_error
        for s in separations
    ]
    assert errors[0] == pytest.approx(1 - prior)
    assert errors[-1] == 0
    assert (np.diff(errors) <= 1e-15).all()
