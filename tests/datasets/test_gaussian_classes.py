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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 3}, "n_samples must be an integer >= 4, got 3"),
        ({"n_informative": 21}, "n_informative must be <= 20, got 21"),
        ({"separation": -1}, "separation must be >= 0, got -1"),
        ({"prior": 1}, "prior must fulfil 0 < prior < 1, got 1"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        make_gaussian_classes(**options)


def test_coef_of_another_length():
    data = make_gaussian_classes(10, 2, random_state=0)
    with pytest.raises(ValueError, match="coef must have 2 values, got 3"):
        data.true_error([1, 2, 3], 0)
