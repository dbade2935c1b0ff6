"""Classifiers by the moments of their classes: the answers of single fits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from helpers.deletion import (
    KINDS,
    OTHER_PARTS,
    adapter_of,
    check_against_single_fits,
    other_parts_plan,
    some_labels,
    some_samples,
)
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skeval.model_selection import error_interval, permutation_test

LDA, QDA = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
PRIORS = [0.2, 0.5, 0.3]
MODELS = {
    "naive": GaussianNB(),
    "naive with priors": GaussianNB(priors=PRIORS, var_smoothing=1e-3),
    "linear": LDA(),
    "linear with priors": LDA(priors=PRIORS),
    "least squares": LDA(solver="lsqr"),
    "eigen": LDA(solver="eigen"),
    "shrunk": LDA(solver="lsqr", shrinkage=0.3),
}
SCALED = {f"scaled {name}": make_pipeline(StandardScaler(), MODELS[name]) for name in MODELS}


def test_plain_samples_in_redrawn_folds():
    X, y, plan = some_samples("plain"), some_labels(n_classes=3), other_parts_plan("redrawn folds")
    for name, model in MODELS.items():
        assert check_against_single_fits(model, X, y, plan=plan) <= 0.1, name


@pytest.mark.parametrize(("number", "kind"), enumerate(KINDS))
def test_any_training_sets(number, kind):
    X, y = some_samples(kind), some_labels(n_classes=3)
    plan = other_parts_plan(OTHER_PARTS[number % len(OTHER_PARTS)])
    # Every fourth model, so that each meets three kinds of samples.
    for name, model in list((MODELS | SCALED).items())[number % 4 :: 4]:
        left = check_against_single_fits(model, X, y, most_left=1.0, rtol=1e-7, plan=plan)
        if "naive" in name and kind != "all scales":
            assert left <= 0.1, name


@each_value
@pytest.mark.parametrize("name", ["naive", "naive with priors"])
@pytest.mark.parametrize("kind", ["plain", "integers", "constant columns", "many columns"])
def test_weights_of_samples(kind, name):
    X, y, plan = some_samples(kind), some_labels(n_classes=3), other_parts_plan("weights")
    for model in (MODELS[name], SCALED[f"scaled {name}"]):
        assert check_against_single_fits(model, X, y, plan=plan) == 0


@pytest.mark.parametrize(
    "model", [LDA(solver="lsqr", shrinkage=0.3), LDA(solver="eigen", shrinkage=1.0), GaussianNB()]
)
def test_two_classes(model):
    X, y = some_samples("plain"), some_labels()
    assert check_against_single_fits(model, X, y, plan=other_parts_plan("redrawn folds")) == 0


def test_a_shift_of_all_samples_changes_no_prediction():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 20)
    X = rng.normal(size=(60, 4)) + np.repeat(np.arange(3.0), 20)[:, None]
    plan = other_parts_plan("redrawn folds", 60)
    block = plan.draw(0)
    for name in ("naive", "linear", "linear with priors"):
        adapters = [adapter_of(MODELS[name], X + shift, y, plan) for shift in (0.0, 1e6)]
        here, there = (adapter(block) for adapter in adapters)
        both = ~(here.failed | there.failed)
        assert both.mean() > 0.7, name
        for ours, theirs in zip(here, there, strict=True):
            if not (ours.failed[0] or theirs.failed[0]):
                assert_array_equal(ours.predicted, theirs.predicted)


def test_whole_numbers_of_no_variance_in_a_class():
    y = np.repeat(["a", "b"], 24)
    X = np.random.default_rng(0).integers(0, 5, size=(48, 4))
    X[:24, 1] = 7
    X[24:, 2] = 0
    for model in (GaussianNB(), make_pipeline(StandardScaler(), GaussianNB())):
        left = check_against_single_fits(model, X, y, plan=other_parts_plan("leave one out"))
        assert left <= 0.1


def test_scalers_that_move_no_scores_are_served():
    X, y, plan = some_samples("plain"), some_labels(n_classes=3), other_parts_plan("redrawn folds")
    steps = MinMaxScaler(), StandardScaler()
    served = [make_pipeline(MinMaxScaler(), LDA()), make_pipeline(*steps, GaussianNB())]
    for model in served:
        assert check_against_single_fits(model, X, y, plan=plan) == 0
    for last in (GaussianNB(), LDA(solver="lsqr", shrinkage=0.3)):
        assert adapter_of(make_pipeline(MinMaxScaler(), last), X, y, plan) is None


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(priors=[0.5, 0.5]),
        GaussianNB(priors=[0.0, 0.5, 0.5]),
        LDA(solver="lsqr", shrinkage="auto"),
        LDA(solver="lsqr", priors=PRIORS),
    ],
)
def test_what_moments_do_not_tell_is_left_to_the_estimator(model):
    X, y = some_samples("plain"), some_labels(n_classes=3)
    assert adapter_of(model, X, y, other_parts_plan("redrawn folds")) is None


def test_samples_that_are_not_served():
    X, y, plan = some_samples("plain"), some_labels(n_classes=3), other_parts_plan("redrawn folds")
    assert adapter_of(GaussianNB(), X.astype(np.float32), y, plan) is None
    assert adapter_of(LDA(), csr_array(X), y, plan) is None
    assert adapter_of(LDA(), some_samples("many columns"), y, plan) is None
    X[3, 2] = np.nan
    assert adapter_of(GaussianNB(), X, y, plan) is None


def test_an_error_of_the_estimator_is_raised():
    X, y = some_samples("many columns"), some_labels(n_classes=3)
    with pytest.raises(ValueError, match="prior"):
        permutation_test(GaussianNB(priors=[0.5, 0.5]), X, y, n_permutations=20)


@pytest.mark.parametrize("model", [GaussianNB(), LDA()])
def test_calls_as_people_write_them(model):
    class Own(type(model)):
        """No adapter knows it."""

    rng = np.random.default_rng(3)
    y = rng.permutation(np.repeat(["u", "v", "w"], 20))
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    both = [cls(**model.get_params()) for cls in (type(model), Own)]
    options = {"cv": StratifiedKFold(4, shuffle=True, random_state=0), "random_state": 0}
    tests = [permutation_test(each, X, y, n_permutations=5, **options) for each in both]
    assert_array_equal(tests[0].null_distribution, tests[1].null_distribution)
    found, expected = (error_interval(each, X, y, cv=3, random_state=0) for each in both)
    assert found.value == expected.value
    assert (found.interval.low, found.interval.high) == (
        expected.interval.low,
        expected.interval.high,
    )
