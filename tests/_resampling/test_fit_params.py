"""Arguments of `fit`: weights, groups and parameters reach the steps that take them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skeval import model_selection as ms
from skeval._resampling.inputs import (
    check_takes_weights,
    count_effective,
    fit_arguments,
    group_parameters,
    params_of_part,
    weight_parameters,
)
from skeval.feature_selection import selection_bias

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
W = RNG.uniform(0.5, 2.0, 60)


def test_weights_reach_every_step_that_takes_them():
    pipeline = make_pipeline(StandardScaler(), SelectKBest(k=1), GaussianNB())
    arguments = weight_parameters(pipeline, W)
    assert set(arguments) == {"standardscaler__sample_weight", "gaussiannb__sample_weight"}
    search = GridSearchCV(pipeline, {"selectkbest__k": [1, 2]})
    assert set(weight_parameters(search, W)) == set(arguments)
    assert weight_parameters(GaussianNB(), None) == {}


def test_arguments_of_a_fit_are_those_of_its_rows():
    rows = np.array([3, 1, 3])
    arguments = fit_arguments(GaussianNB(), X, {"sample_weight": W}, None, None, rows)
    assert_array_equal(arguments["sample_weight"], W[rows])
    # the user's weights override those of the plan
    arguments = fit_arguments(GaussianNB(), X, {"sample_weight": W}, np.ones(3), None, rows)
    assert_array_equal(arguments["sample_weight"], W[rows])


def test_an_estimator_without_weights_is_named():
    pipeline = make_pipeline(GaussianNB(), StandardScaler(), SelectKBest())
    with pytest.raises(TypeError, match="the last step 'selectkbest' of the pipeline"):
        check_takes_weights(pipeline)


def test_equal_weights_are_worth_all_samples():
    assert count_effective(np.full(7, 1e200)) == pytest.approx(7)
    assert count_effective(np.array([1.0, 1.0, 0.0])) == pytest.approx(2)
    with pytest.raises(ValueError, match="sample_weight must be positive"):
        count_effective(np.zeros(3))


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


@pytest.mark.parametrize("method", ["corrected_t", "mcnemar", "bootstrap", "delong"])
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


def test_weights_that_an_estimator_does_not_take_are_refused_by_its_name():
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(
        TypeError, match=r"'KNeighborsClassifier'.: estimator must take sample_weight"
    ):
        ms.compare_classifiers([GaussianNB(), KNeighborsClassifier()], X, Y, sample_weight=W)


def test_perturbed_weights_are_not_given_twice():
    with pytest.raises(ValueError, match="params must not hold 'sample_weight'"):
        ms.perturbation_interval(GaussianNB(), X, Y, params={"sample_weight": W}, n_resamples=50)


def test_arguments_of_one_part_of_a_pipeline():
    head = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    weights = {"standardscaler__sample_weight": W, "decisiontreeclassifier__sample_weight": W}
    assert params_of_part(head, {"sample_weight": W}) == weights
    assert params_of_part(head, {"groups": Y}) == {}
    assert params_of_part(head, {"svc__sample_weight": W, **weights}) == weights


def test_arguments_of_a_part_under_metadata_routing():
    with config_context(enable_metadata_routing=True):
        head = make_pipeline(GaussianNB().set_fit_request(sample_weight=True))
        assert params_of_part(head, {"sample_weight": W, "groups": Y}) == {"sample_weight": W}


class TakesGroups(BaseEstimator):
    """An estimator that splits by groups in its fit."""

    def __init__(self, cv=None):
        self.cv = cv

    def fit(self, X, y, groups=None):
        return self


def test_groups_reach_what_splits_by_them():
    assert_array_equal(group_parameters(TakesGroups(GroupKFold(2)), Y)["groups"], Y)
    assert group_parameters(TakesGroups(KFold(2)), Y) == {}
