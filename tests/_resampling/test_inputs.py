"""Inputs are validated once, and every function that fits takes the same arguments."""

import inspect
import warnings
from importlib import import_module

import numpy as np
import pytest
from helpers.public_modules import MODULES
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval import model_selection as ms
from skeval._resampling import inputs as inputs_module
from skeval._resampling.inputs import validate_inputs
from skeval.feature_selection import selection_bias

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
W = RNG.uniform(0.5, 2.0, 60)
GROUPS = np.arange(60) // 2

ARGUMENTS = {"groups", "sample_weight", "params", "n_jobs", "verbose", "memory", "error_score"}
FITTED = {"estimator", "estimators", "classifier", "search", "clusterer"}
LACKING = {
    # One fit, which is done here.
    "resubstitution_error": {"n_jobs", "verbose"}
}
# A clusterer is fitted to samples alone, and one fit that fails leaves no number.
CLUSTERINGS = {"groups", "params", "sample_weight", "error_score"}


def list_fitting():
    """Yield all public functions that fit, with the names of their parameters."""
    for module in map(import_module, MODULES):
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)):
                taken = set(inspect.signature(getattr(module, name)).parameters)
                if FITTED & taken and taken & {"X", "datasets"}:
                    yield name, taken


def test_functions_that_fit_take_the_same_arguments():
    found = dict(list_fitting())
    assert len(found) >= 18
    for name, taken in found.items():
        lacking = CLUSTERINGS if "clusterer" in taken else LACKING.get(name, set())
        assert ARGUMENTS - taken == lacking, name


@pytest.mark.parametrize(
    "model",
    [make_pipeline(StandardScaler(), SVC(kernel="linear")), DecisionTreeClassifier(random_state=0)],
    ids=["served", "in a loop"],
)
def test_an_evaluation_validates_inputs_once_and_makes_one_adapter(model, monkeypatch):
    read, asked = [], []
    validate_data, ask_steps = inputs_module.validate_data, inputs_module.ask_steps
    monkeypatch.setattr(
        inputs_module, "validate_data", lambda *a: read.append(a) or validate_data(*a)
    )
    monkeypatch.setattr(inputs_module, "ask_steps", lambda *a: asked.append(a) or ask_steps(*a))
    options = {"cv": 3, "n_bootstraps": 3, "n_permutations": 3, "n_perturbations": 5}
    skeval.evaluate(model, X, Y, include="all", random_state=0, **options)
    assert len(read) == 1
    assert len(asked) == 1


def test_settings_share_what_was_found_out_and_other_estimators_do_not(monkeypatch):
    asked, ask_steps = [], inputs_module.ask_steps
    monkeypatch.setattr(inputs_module, "ask_steps", lambda *a: asked.append(a[0]) or ask_steps(*a))
    inputs = validate_inputs(SVC(), X, Y)
    for each in (inputs.with_options(n_jobs=2), inputs, inputs.with_options(weight=W)):
        assert each.adapter is inputs.adapter
    other = inputs.with_estimator(GaussianNB())
    assert other.adapter is not inputs.adapter
    assert [type(estimator) for estimator in asked] == [SVC, GaussianNB]


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
        (ms.tuning_optimism, {}, lambda found: found.nested_scores),
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
    assert same.cv1_error == plain.cv1_error
    assert same.cv2_error == plain.cv2_error


def test_weights_that_an_estimator_does_not_take_are_refused_by_its_name():
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(
        TypeError, match=r"'KNeighborsClassifier'.: estimator must take sample_weight"
    ):
        ms.compare_classifiers([GaussianNB(), KNeighborsClassifier()], X, Y, sample_weight=W)


def test_perturbed_weights_are_not_given_twice():
    with pytest.raises(ValueError, match="params must not hold 'sample_weight'"):
        ms.perturbation_interval(GaussianNB(), X, Y, params={"sample_weight": W}, n_resamples=50)


class FailsWithoutTheFirst(GaussianNB):
    """Refuses to be fitted where a certain sample is missing."""

    def fit(self, X, y, sample_weight=None):
        if not (X[:, 0] == FIRST).any():
            raise RuntimeError("the first sample is missing")
        return super().fit(X, y, sample_weight)


FIRST = X[0, 0]


def test_fits_that_fail_are_left_out():
    cv, model = StratifiedKFold(5), FailsWithoutTheFirst()
    folds = list(cv.split(X, Y))
    kept = [fold for fold in folds if 0 in fold[0]]
    assert len(kept) == 4
    with pytest.warns(FitFailedWarning, match="fits failed"):
        test = ms.permutation_test(
            model, X, Y, cv=folds, n_permutations=5, random_state=0, error_score=np.nan
        )
    expected = ms.permutation_test(model, X, Y, cv=kept, n_permutations=5, random_state=0)
    assert test.statistic == pytest.approx(expected.statistic)
    assert_allclose(test.null_distribution, expected.null_distribution)
    pair = model, DecisionTreeClassifier(max_depth=2, random_state=0)
    with pytest.warns(FitFailedWarning, match="1 of 5 fits failed"):
        comparison = ms.compare_classifiers(pair, X, Y, cv=folds, error_score=np.nan)
    assert len(comparison.split_scores) == 4
    with pytest.raises(ValueError, match="error_score must be 'raise' for method='mcnemar'"):
        ms.compare_classifiers(pair, X, Y, cv=folds, method="mcnemar", error_score=np.nan)


def test_a_repetition_without_a_fit_has_no_draw():
    weights = np.random.default_rng(0).exponential(size=(60, 60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        found = ms.perturbation_interval(
            FailsWithoutTheFirst(),
            X,
            Y,
            weights=weights,
            statistic="resubstitution",
            error_score=np.nan,
        )
    assert len(found.statistics) == 60  # the fit to all samples has the first one
