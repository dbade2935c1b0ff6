"""Parts of proper scores: they add up, and are those of Murphy, Stephenson and CORP."""

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import calibration as reference
from sklearn.metrics import brier_score_loss, log_loss

from skeval.metrics import reliability_curve, score_decomposition


def draw(n=60, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.integers(1, 20, n) / 20
    return (rng.random(n) < p).astype(int), p, rng.random(n) + 0.1


def add_up(parts):
    return (
        parts["miscalibration"]
        - parts["discrimination"]
        + parts["uncertainty"]
        + parts["within_bins"]
    )


@each_value
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["corp", "murphy"])
def test_score_is_that_of_scikit_learn(method, weighted):
    y, p, w = draw()
    weight = w if weighted else None
    options = {"method": method, "sample_weight": weight}
    brier, log = (score_decomposition(y, p, loss=loss, **options) for loss in ("brier", "log_loss"))
    assert_allclose(brier["score"], brier_score_loss(y, p, sample_weight=weight), rtol=1e-12)
    assert_allclose(log["score"], log_loss(y, p, sample_weight=weight), rtol=1e-12)
    for parts in (brier, log):
        assert_allclose(add_up(parts), parts["score"], rtol=1e-12)


@each_value
@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
@pytest.mark.parametrize("weighted", [False, True])
def test_murphy_with_the_terms_within_bins(strategy, weighted):
    y, p, w = draw()
    weight = w if weighted else np.ones(60)
    options = {"n_bins": 4, "strategy": strategy, "sample_weight": weight}
    bins = reliability_curve(y, p, **options).columns
    reliability, resolution, uncertainty, variance, covariance = reference.murphy(
        y, p, weight, [*bins["above"], bins["up_to"][-1]]
    )
    parts = score_decomposition(y, p, method="murphy", **options)
    assert_allclose(parts["miscalibration"], reliability, rtol=1e-10)
    assert_allclose(parts["discrimination"], resolution, rtol=1e-10)
    assert_allclose(parts["uncertainty"], uncertainty, rtol=1e-10)
    assert_allclose(parts["within_bins"], variance - covariance, rtol=1e-9, atol=1e-13)
    assert abs(parts["within_bins"]) > 1e-6


@each_value
@pytest.mark.parametrize("loss", ["brier", "log_loss"])
@pytest.mark.parametrize("seed", range(4))
def test_corp_by_pooling_violators(loss, seed):
    y, p, w = draw(30, seed)
    w = w if seed % 2 else np.ones(30)
    parts = score_decomposition(y, p, loss=loss, sample_weight=w)
    expected = reference.corp(y.tolist(), p.tolist(), w.tolist(), loss)
    found = parts["miscalibration"], parts["discrimination"], parts["uncertainty"]
    assert_allclose(found, expected, atol=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=1, max_size=12))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_parts_of_corp_are_never_negative(samples):
    y, p = np.array([a for a, _ in samples]), np.array([b for _, b in samples]) / 8
    for loss in ("brier", "log_loss"):
        parts = score_decomposition(y, p, loss=loss)
        assert min(parts["miscalibration"], parts["discrimination"], parts["uncertainty"]) >= -1e-12
        assert add_up(parts) == pytest.approx(parts["score"])
        assert parts["within_bins"] == 0
