"""What every estimate promises: repeatable, independent of workers and blocks, input untouched."""

import copy
import pickle
from contextlib import contextmanager
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.jobs import two_workers
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from skeval._resampling import plans as plan_module
from skeval._resampling.splitters import fold_plan
from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import (
    BootstrapSplit,
    bootstrap_error,
    cross_val_error,
    holdout_error,
    resubstitution_error,
)
from skeval.svm import PerturbationResamplingSVC


def bootstrap(estimator, X, y, **options):
    return bootstrap_error(estimator, X, y, n_resamples=16, **options)


def cross_validation(estimator, X, y, **options):
    return cross_val_error(estimator, X, y, cv=5, **options)


RANDOM = [bootstrap, cross_validation]


def same(first, second):
    np.testing.assert_array_equal(first.replicates, second.replicates)
    assert first.to_dict() == second.to_dict()
    return True


@pytest.mark.parametrize("estimate", RANDOM)
def test_repeatable_with_an_int_random_with_none(cancer, estimate):
    fixed = [estimate(Ridge(), *cancer, random_state=4) for _ in range(2)]
    assert same(*fixed)
    first, second = (estimate(Ridge(), *cancer).replicates for _ in range(2))
    assert not np.isin(first, second).any()  # squared losses: no two splits give equal errors


@each_value
@pytest.mark.parametrize("estimate", RANDOM)
@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
def test_a_generator_advances(cancer, estimate, kind):
    state = kind(0)
    first, second = (estimate(Ridge(), *cancer, random_state=state) for _ in range(2))
    assert not np.isin(first.replicates, second.replicates).any()
    assert same(first, estimate(Ridge(), *cancer, random_state=kind(0)))


@pytest.mark.parametrize("estimate", RANDOM)
def test_the_global_generator_is_left_alone(cancer, estimate):
    with unchanged_generator():
        estimate(GaussianNB(), *cancer, random_state=0)


@pytest.mark.parametrize(
    "estimator",
    [PerturbationResamplingSVC(n_resamples=5, cv=3), CV2FeatureSelectionPipeline(cv=3)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_with_a_seed_leave_the_global_generator_alone(cancer, estimator):
    with unchanged_generator():
        fitted = clone(estimator).set_params(random_state=0).fit(*cancer)
        fitted.predict(cancer[0])
        assert getattr(fitted, "cv_error_", 0) is not None


@contextmanager
def unchanged_generator():
    before = np.random.get_state()  # noqa: NPY002
    yield
    after = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(after[1], before[1])
    assert after[2:] == before[2:]


@pytest.mark.parametrize("estimate", RANDOM)
@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_any_number_of_workers_and_any_backend(cancer, estimate, backend):
    alone = estimate(GaussianNB(), *cancer, random_state=0, n_jobs=1)
    with two_workers(backend):
        assert same(alone, estimate(GaussianNB(), *cancer, random_state=0, n_jobs=2))


@each_value
@pytest.mark.parametrize("estimate", RANDOM)
@pytest.mark.parametrize("elements", [1, 200])
def test_any_size_of_block(cancer, estimate, elements, monkeypatch):
    whole = estimate(GaussianNB(), *cancer, random_state=0)
    monkeypatch.setattr(plan_module, "BLOCK_ELEMENTS", elements)
    blocks = estimate(GaussianNB(), *cancer, random_state=0)
    np.testing.assert_array_equal(whole.replicates, blocks.replicates)
    assert whole.value == pytest.approx(blocks.value, rel=1e-14)
    assert whole.standard_error == pytest.approx(blocks.standard_error, rel=1e-12)


def test_blocks_are_bounded(monkeypatch):
    monkeypatch.setattr(plan_module, "BLOCK_ELEMENTS", 30)
    plan = fold_plan(10, [(range(9), [9])] * 8)
    assert [len(block) for block in plan.blocks()] == [3, 3, 2]


@pytest.mark.parametrize("estimate", [*RANDOM, resubstitution_error])
def test_input_is_read_only_and_the_estimator_stays_unfitted(cancer, estimate):
    X, y = (array.copy() for array in cancer)
    groups = np.arange(len(y))
    for array in (X, y, groups):
        array.setflags(write=False)
    estimator = GaussianNB()
    before = copy.deepcopy(vars(estimator))
    options = {} if estimate is resubstitution_error else {"groups": groups}
    estimate(estimator, X, y, **options)
    assert vars(estimator) == before


def test_holdout_does_not_modify_its_input():
    arrays = [np.array([0, 1, 1]), np.array([0, 1, 0]), np.ones(3), np.array([0.5, 0.5])]
    for array in arrays:
        array.setflags(write=False)
    y_true, y_pred, weights, priors = arrays
    found = holdout_error(y_true, y_pred, sample_weight=weights, priors=priors)
    copies = [array.copy() for array in arrays]
    again = holdout_error(*copies[:2], sample_weight=copies[2], priors=copies[3])
    assert found.value == again.value == 0.25


class Fragile(ClassifierMixin, BaseEstimator):
    """Raises where the training rows add up to a multiple of 3 (or always)."""

    def __init__(self, always=False):
        self.always = always

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        whole = len(np.unique(X)) == 20
        if not whole and (self.always or int(X.sum()) % 3 == 0):
            raise RuntimeError("no fit for this sum")
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


X_FRAGILE, Y_FRAGILE = np.arange(20)[:, None], np.arange(20) % 2


@pytest.mark.parametrize("estimate", RANDOM)
def test_a_fit_that_raises_raises(estimate):
    with pytest.raises(RuntimeError, match="no fit for this sum"):
        estimate(Fragile(), X_FRAGILE, Y_FRAGILE, random_state=0)


@pytest.mark.parametrize("estimate", RANDOM)
def test_failed_fits_are_counted_left_out_and_told(estimate):
    with pytest.warns(FitFailedWarning, match=r"\d+ of \d+ fits failed and are left out"):
        result = estimate(Fragile(), X_FRAGILE, Y_FRAGILE, random_state=0, error_score=np.nan)
    assert 0 < result.extra.n_failed < len(result.replicates)
    assert np.isnan(result.replicates).sum() == result.extra.n_failed
    assert np.isfinite([result.value, result.standard_error]).all()
    assert "failed fits" in str(result)
    with pytest.raises(ValueError, match=r"all \d+ fits failed"):
        estimate(Fragile(always=True), X_FRAGILE, Y_FRAGILE, random_state=0, error_score=np.nan)


class FragileRidge(Ridge):
    """Raises where the training rows add up to a multiple of 3."""

    def fit(self, X, y):
        if len(np.unique(X)) < 20 and int(X.sum()) % 3 == 0:
            raise RuntimeError("no fit for this sum")
        return super().fit(X, y)


@each_value
@pytest.mark.filterwarnings("ignore:The interval is undefined")  # losses of 0.5 throughout
@pytest.mark.parametrize("estimate", RANDOM)
@pytest.mark.parametrize("loss", ["squared", "absolute", lambda true, told: (true - told) ** 4])
def test_failed_fits_of_numbers_have_no_loss(estimate, loss):
    with pytest.warns(FitFailedWarning, match=r"\d+ of \d+ fits failed and are left out"):
        result = estimate(
            FragileRidge(), X_FRAGILE, Y_FRAGILE, loss=loss, random_state=0, error_score=np.nan
        )
    assert 0 < result.extra.n_failed < len(result.replicates)
    assert np.isnan(result.replicates).sum() == result.extra.n_failed
    assert np.isfinite([result.value, result.standard_error]).all()


def test_failed_resamples_are_as_if_never_drawn():
    with pytest.warns(FitFailedWarning):
        result = bootstrap(Fragile(), X_FRAGILE, Y_FRAGILE, random_state=0, error_score=np.nan)
    trains = [
        train
        for train, _ in BootstrapSplit(16, random_state=0).split(X_FRAGILE, Y_FRAGILE)
        if X_FRAGILE[train].sum() % 3
    ]
    kept = bootstrap_error(Fragile(), X_FRAGILE, Y_FRAGILE, indices=trains)
    assert result.value == pytest.approx(kept.value)
    assert result.standard_error == pytest.approx(kept.standard_error)


def test_results_are_frozen_and_picklable(cancer):
    for result in (
        bootstrap(GaussianNB(), *cancer, random_state=0),
        cross_validation(GaussianNB(), *cancer, random_state=0),
        resubstitution_error(GaussianNB(), *cancer),
        holdout_error([0, 1, 1], [0, 1, 0]),
    ):
        assert same(result, pickle.loads(pickle.dumps(result)))
        with pytest.raises(FrozenInstanceError):
            result.value = 0.0
        interval = result.confidence_interval(0.9)
        assert result.value in interval
        assert (interval.confidence_level, interval.method) == (0.9, result.interval_methods[0])
        assert type(result.value) is type(result.standard_error) is float
        with pytest.raises(FrozenInstanceError):
            interval.low = 0.0
