"""Means from few labels and many judgments: strata and regression against brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import judges as reference
from scipy import stats
from scipy.stats import norm

from skeval._inference.designs import limits_of_mean, regress_on_judge, stratified_mean


@pytest.mark.parametrize("seed", range(5))
def test_strata_and_brute_force(seed):
    rng = np.random.default_rng(seed)
    judged = (rng.random(200) < 0.7).astype(int)
    y = np.where(rng.random(40) < 0.8, judged[:40], 1 - judged[:40])
    counts = [
        np.bincount(codes, weights, 2).astype(float)
        for codes, weights in ((judged[:40], None), (judged[:40], y), (judged, None))
    ]
    expected = reference.by_strata(y, judged[:40], judged[40:])
    assert_allclose(stratified_mean(*counts, norm.ppf(0.975)), expected)


def test_strata_of_many_data_sets():
    rng = np.random.default_rng(0)
    labeled = rng.integers(1, 20, (50, 2)).astype(float)
    positive = np.floor(labeled * rng.random((50, 2)))
    judged = labeled + rng.integers(0, 100, (50, 2))
    together = stratified_mean(labeled, positive, judged, 1.96)
    for at in range(50):
        assert_allclose(
            [part[at] for part in together],
            stratified_mean(labeled[at], positive[at], judged[at], 1.96),
        )


@pytest.mark.parametrize("seed", range(5))
def test_regression_and_brute_force(seed):
    rng = np.random.default_rng(seed)
    judged = rng.exponential(size=300)
    y = judged[:25] + rng.normal(size=25)
    result = regress_on_judge(y, judged, None)
    assert_allclose(result[:2], reference.by_regression(y, judged[:25], judged[25:]))
    assert result.used


def test_means_that_may_be_negative_have_a_normal_interval():
    rng = np.random.default_rng(0)
    judge = rng.normal(size=100)
    y = judge[:20] + rng.normal(size=20)
    result, alone = regress_on_judge(y, judge, None), regress_on_judge(y, judge[:20], None)
    low, high = limits_of_mean(y, result, alone, False, 0.95)
    half = stats.t.isf(0.025, result.degrees_of_freedom) * result.error
    assert_allclose([low, high], [result.value - half, result.value + half])
