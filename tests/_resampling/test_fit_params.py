"""Arguments of `fit`: weights, groups and parameters reach the steps that take them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skeval import model_selection as ms
from skeval.feature_selection import selection_bias

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
W = RNG.uniform(0.5, 2.0, 60)


def test_a_tested_sample_has_a_positive_weight():
    cv = [(np.arange(30, 60), np.arange(30))]
    with pytest.raises(ValueError, match="sample_weight"):
        ms.cross_val_error(GaussianNB(), X, Y, cv=cv, sample_weight=(np.arange(60) >= 30) * 1.0)


def test_weights_are_those_among_the_arguments_of_fit():
    """Where only fits are weighted, there are two ways to say it."""
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    given = {"sample_weight": W}
    for function, options, read in (
        (
            ms.permutation_test,
            {"n_permutations": 9, "random_state": 0},
            lambda test: test.null_distribution,
        ),
        (ms.tuning_optimism, {}, lambda found: found.extra.nested_scores),
    ):
        model = GaussianNB()
        if function is ms.tuning_optimism:
            model = GridSearchCV(model, {"var_smoothing": [1e-9, 1]}, cv=2)
        one = function(model, X, Y, cv=cv, sample_weight=W, **options)
        other = function(model, X, Y, cv=cv, params=given, **options)
        plain = function(model, X, Y, cv=cv, **options)
        assert_array_equal(read(one), read(other))
        assert not np.array_equal(read(one), read(plain))


@pytest.mark.parametrize("method", ["corrected_t", "mcnemar", "bootstrap"])
def test_weights_of_compared_estimators(method):
    pair = GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0)
    options = {"cv": StratifiedKFold(5), "method": method, "n_resamples": 20, "random_state": 0}
    one = ms.compare_classifiers(pair, X, Y, sample_weight=W, **options)
    other = ms.compare_classifiers(pair, X, Y, params={"sample_weight": W}, **options)
    assert one.difference.value == other.difference.value
    assert one.difference.standard_error == other.difference.standard_error


def test_weights_of_scores_are_those_of_the_fits():
    options = {"scoring": "roc_auc", "method": "corrected_t", "n_repeats": 8, "random_state": 0}
    one = ms.score_interval(GaussianNB(), X, Y, sample_weight=W, **options)
    other = ms.score_interval(GaussianNB(), X, Y, params={"sample_weight": W}, **options)
    assert_allclose(one.replicates, other.replicates, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:selecting features on all samples")
def test_selection_is_weighted_in_both_places():
    inputs = SelectKBest(k=3), GaussianNB(), np.random.default_rng(1).normal(size=(60, 40)), Y
    plain = selection_bias(*inputs, cv=5, random_state=0)
    same = selection_bias(*inputs, cv=5, sample_weight=np.full(60, 3.0), random_state=0)
    assert same.extra.cv1_error == plain.extra.cv1_error
    assert same.extra.cv2_error == plain.extra.cv2_error


def test_perturbed_weights_are_not_given_twice():
    with pytest.raises(ValueError, match="params must not contain 'sample_weight'"):
        ms.perturbation_interval(GaussianNB(), X, Y, params={"sample_weight": W}, n_resamples=50)
