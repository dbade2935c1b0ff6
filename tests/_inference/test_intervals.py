"""Intervals of proportions and of sites against SciPy, statsmodels, root finding and formulas."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import holdout as reference
from reference import sites
from scipy import stats
from scipy.special import expit, logit
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from skeval._inference.intervals import (
    PROPORTION_INTERVALS,
    Design,
    normal_interval,
    stratified_wilson_interval,
    wilson_interval,
)
from skeval.model_selection import _pooling
from skeval.model_selection._pooling import PooledRate, SiteCounts

counts = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.floats(0.5, 0.999)


@given(counts, levels)
def test_all_are_statsmodels(count, level):
    k, n = count
    names = {"wilson": "wilson", "exact": "beta", "wald": "normal"}
    names |= {"agresti_coull": "agresti_coull", "jeffreys": "jeffreys"}
    assert set(names) == set(PROPORTION_INTERVALS)
    for method, name in names.items():
        expected = np.array(proportion_confint(k, n, alpha=1 - level, method=name))
        interval = PROPORTION_INTERVALS[method](k, n, level)
        if method == "jeffreys":  # nothing seen excludes 0, nor everything 1
            expected = np.where([k == 0, k == n], [0, 1], expected)
        assert interval == pytest.approx(np.clip(expected, 0, 1), abs=1e-9)


@pytest.mark.parametrize(("k", "n"), [(0.5, 7.3), (3.25, 10), (0, 8.5), (8.5, 8.5)])
def test_wilson_of_real_counts_solves_the_score_equation(k, n):
    low, high = wilson_interval(k, n, 0.95)
    expected = reference.wilson_by_roots(k, n, norm.ppf(0.975))
    assert (low, high) == pytest.approx(expected, abs=1e-12)
    assert low <= k / n <= high


@given(st.lists(counts, min_size=1, max_size=4), levels)
def test_stratified_wilson(strata, level):
    assume(any(0 < k < n for k, n in strata))
    wrong, sizes = np.array(strata, dtype=float).T
    weights = np.arange(1, len(strata) + 1) / np.arange(1, len(strata) + 1).sum()
    expected = reference.stratified_wilson(wrong, sizes, weights, level)
    result = stratified_wilson_interval(wrong, sizes, weights, level)
    assert result == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("wrong", [[0, 0], [30, 12], [0, 12]])
def test_stratified_wilson_without_any_variance(wrong):
    wrong, sizes, weights = np.array(wrong, float), np.array([30.0, 12.0]), np.array([0.4, 0.6])
    low, high = stratified_wilson_interval(wrong, sizes, weights, 0.95)
    error = weights @ (wrong / sizes)
    assert 0 <= low <= error <= high <= 1
    assert high - low > 0.02
    mirrored = stratified_wilson_interval(sizes - wrong, sizes, weights, 0.95)
    assert mirrored == pytest.approx((1 - high, 1 - low))


def test_normal_interval_is_clipped_to_the_range_of_the_quantity():
    z = norm.ppf(0.975)
    assert normal_interval(0.5, 0.1, 0.95) == pytest.approx((0.5 - z / 10, 0.5 + z / 10))
    assert normal_interval(0.1, 0.1, 0.95, (0, 1)) == pytest.approx((0, 0.1 + z / 10))
    assert normal_interval(0.9, 0.1, 0.95, (0, 1)) == pytest.approx((0.9 - z / 10, 1))


@given(st.floats(1, 30), st.floats(0, 1), st.floats(2, 500), st.floats(0.5, 0.99))
def test_the_number_of_samples_is_the_smallest_one(size, correlation, n_independent, level):
    design = Design(size, correlation)
    n = design.needed(n_independent, level)

    def suffices(n):
        quantile = stats.t.isf((1 - level) / 2, n / size - 1) / norm.isf((1 - level) / 2)
        return n >= 2 * size and n / design.effect / quantile**2 >= n_independent * (1 - 1e-9)

    assert suffices(n)
    assert n <= np.ceil(2 * size) or not suffices(n - 1) or n_independent > n / design.effect * 0.9


@pytest.mark.parametrize("spread", [0.05, 0.5, 3.0])
def test_likelihood_equals_its_integral(spread):
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 60, 6).astype(float)
    errors = rng.binomial(sizes.astype(int), 0.1).astype(float) + 0.25
    counts = SiteCounts(errors, sizes)
    for mean in (-5.0, -2.0, 0.5):
        expected = sites.log_likelihood(errors, sizes, mean, spread)
        assert_allclose(counts.log_likelihood(np.array([mean]), spread), expected, rtol=1e-5)


@pytest.mark.parametrize("errors", [[0, 0, 0, 0], [0, 1, 0, 2], [3, 8, 5, 7], [10, 30, 20, 40]])
def test_equal_sites_have_the_limits_of_clopper_and_pearson(errors, monkeypatch):
    monkeypatch.setattr(_pooling, "PRIOR_SCALE", 1e-4)
    sizes = [10, 30, 20, 40]
    pooled = PooledRate(SiteCounts(np.array(errors, float), np.array(sizes, float)))
    expected = stats.binomtest(sum(errors), sum(sizes)).proportion_ci(method="exact")
    assert_allclose(pooled.limits(0.95), (expected.low, expected.high), rtol=2e-2, atol=1e-9)
    assert_allclose(pooled.mean, sum(errors) / sum(sizes), rtol=1e-6)


def test_the_estimate_has_the_largest_likelihood():
    errors, sizes = np.array([1.0, 9.0, 20.0, 4.0]), np.array([40.0, 50.0, 45.0, 200.0])
    pooled = PooledRate(SiteCounts(errors, sizes))

    def value(rate, spread):
        return (
            sites.log_likelihood(errors, sizes, logit(rate), spread)
            - spread**2 / 2 / _pooling.PRIOR_SCALE**2
        )

    best = value(pooled.mean, np.sqrt(pooled.between))
    for factor in (0.98, 1.02):
        assert value(factor * pooled.mean, np.sqrt(pooled.between)) < best
        assert value(pooled.mean, factor * np.sqrt(pooled.between)) < best


def test_correct_answers_mirror_errors():
    errors, sizes = np.array([1.0, 0.0, 5.0]), np.array([20.0, 30.0, 25.0])
    one, other = (
        PooledRate(SiteCounts(errors, sizes)),
        PooledRate(SiteCounts(sizes - errors, sizes)),
    )
    for a, b in [
        (one.limits(0.9), other.limits(0.9)),
        (one.prediction_limits(0.9), other.prediction_limits(0.9)),
    ]:
        assert_allclose(a, (1 - b[1], 1 - b[0]), rtol=1e-4, atol=1e-6)
    assert_allclose(one.standard_error, other.standard_error, rtol=1e-4)


def test_two_sites_do_not_predict_a_third():
    two = PooledRate(SiteCounts(np.array([1.0, 2.0]), np.array([20.0, 30.0])))
    assert two.prediction_limits(0.95) == (0.0, 1.0)


def count_covered(n_sites, rate, spread, n_sets, seed=0):
    """Return how often the intervals cover the median site and another one."""
    rng, covered = np.random.default_rng(seed), np.zeros(2, dtype=int)
    for _ in range(n_sets):
        sizes = np.round(5 * 100 ** rng.random(n_sites))  # 5 to 500, unequal
        rates = expit(logit(rate) + spread * rng.normal(size=n_sites + 1))
        errors = rng.binomial(sizes.astype(int), rates[:-1])
        pooled = PooledRate(SiteCounts(errors.astype(float), sizes))
        (low, high), (least, most) = pooled.limits(0.95), pooled.prediction_limits(0.95)
        covered += [low <= rate <= high, least <= rates[-1] <= most]
    return covered


@pytest.mark.parametrize(("n_sites", "rate", "spread"), [(20, 0.008, 0.0), (7, 0.05, 0.7)])
def test_intervals_cover_the_median_site_and_another(n_sites, rate, spread):
    covered = count_covered(n_sites, rate, spread, 15)
    assert (stats.binom.cdf(covered, 15, 0.93) > 0.001).all()


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rate", [0.004, 0.03, 0.2, 0.5])
@pytest.mark.parametrize("n_sites", [3, 7, 20, 50])
def test_coverage_of_many_kinds_of_sites(n_sites, rate, spread):
    covered = count_covered(n_sites, rate, spread, 200)
    assert (stats.binom.cdf(covered, 200, 0.93) > 0.001).all()
