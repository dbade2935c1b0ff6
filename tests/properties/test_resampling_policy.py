"""What every estimate promises: repeatable, independent of workers and blocks, input untouched."""

import copy
from contextlib import contextmanager

import numpy as np
import pytest
from helpers.crossed import each_value
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from skeval._resampling import plans as plan_module
from skeval.model_selection import bootstrap_error, cross_val_error, resubstitution_error


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


@pytest.mark.parametrize("estimate", RANDOM)
def test_the_global_generator_is_left_alone(cancer, estimate):
    with assert_unchanged_generator():
        estimate(GaussianNB(), *cancer, random_state=0)


@contextmanager
def assert_unchanged_generator():
    before = np.random.get_state()  # noqa: NPY002
    yield
    after = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(after[1], before[1])
    assert after[2:] == before[2:]


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
    one = plan_module.PlanBlock(np.ones((1, 10), dtype=int), np.ones((1, 10), dtype=bool))
    plan = plan_module.ResamplingPlan(10, 8, lambda _: one)
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
def test_failed_fits_are_counted_left_out_and_told(estimate):
    with pytest.warns(FitFailedWarning, match=r"\d+ of \d+ fits failed and are left out"):
        result = estimate(Fragile(), X_FRAGILE, Y_FRAGILE, random_state=0, error_score=np.nan)
    assert 0 < result.extra.n_failed < len(result.replicates)
    assert np.isnan(result.replicates).sum() == result.extra.n_failed
    assert np.isfinite([result.value, result.standard_error]).all()
    assert "failed fits" in str(result)
    with pytest.raises(ValueError, match=r"all \d+ fits failed"):
        estimate(Fragile(always=True), X_FRAGILE, Y_FRAGILE, random_state=0, error_score=np.nan)
