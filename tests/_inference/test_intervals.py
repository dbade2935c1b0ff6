"""Intervals of proportions against SciPy, statsmodels, root finding and formulas."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference import holdout as reference
from scipy import stats
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from skeval.model_selection import holdout_error

counts = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.floats(0.5, 0.999)


@pytest.mark.filterwarnings("ignore:The interval is undefined")  # Wald's without errors
@given(counts, levels)
def test_all_are_statsmodels(count, level):
    k, n = count
    result = holdout_error(np.zeros(n), np.arange(n) < k)
    names = {"wilson": "wilson", "exact": "beta", "wald": "normal"}
    names |= {"agresti_coull": "agresti_coull", "jeffreys": "jeffreys"}
    assert {*names, "normal"} == set(result.interval_methods)
    for method, name in names.items():
        expected = np.array(proportion_confint(k, n, alpha=1 - level, method=name))
        if method == "jeffreys":  # nothing seen excludes 0, nor everything 1
            expected = np.where([k == 0, k == n], [0, 1], expected)
        if method == "wald" and k in (0, n):
            expected = [np.nan, np.nan]
        interval = tuple(result.confidence_interval(level, method))
        assert interval == pytest.approx(np.clip(expected, 0, 1), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("n_wrong", [0, 1, 4, 9])
def test_wilson_of_real_counts_solves_the_score_equation(n_wrong):
    weight, wrong = np.random.default_rng(0).exponential(size=9), np.arange(9) < n_wrong
    low, high = holdout_error(np.zeros(9), wrong, sample_weight=weight).interval
    n, share = weight.sum() ** 2 / np.sum(weight**2), weight @ wrong / weight.sum()
    expected = reference.wilson_by_roots(n * share, n, norm.ppf(0.975))
    assert (low, high) == pytest.approx(expected, abs=1e-9)
    assert low <= share <= high


@pytest.mark.parametrize("n", [5, 40, 10**6])
@pytest.mark.parametrize("rate", [0.0, 1e-5, 0.1, 0.5, 0.8, 1.0])
def test_limits_of_real_counts_are_quantiles_of_beta_laws(n, rate):
    weight, wrong = np.random.default_rng(0).exponential(size=n), np.arange(n) < rate * n
    weight[0 if rate < 0.5 else -1] = 1e-4
    found = holdout_error(np.zeros(n), wrong, sample_weight=weight)
    size, share = weight.sum() ** 2 / np.sum(weight**2), weight @ wrong / weight.sum()
    hits, misses = share * size, size - share * size
    for method, own, other in (("exact", 0, 1), ("jeffreys", 0.5, 0.5)):
        low, high = found.confidence_interval(method=method)
        lowest = stats.beta.ppf(0.025, hits + own, misses + other) if share > 0 else 0
        highest = stats.beta.isf(0.025, hits + other, misses + own) if share < 1 else 1
        assert low == pytest.approx(min(lowest, share), rel=1e-9)
        assert high == pytest.approx(max(highest, share), rel=1e-9)


def error_of_strata(wrong, sizes, weights, level=0.95):
    """Return the error of classes with these numbers of errors and samples, and its interval."""
    wrong, sizes = np.array(wrong, int), np.array(sizes, int)
    y = np.repeat(np.arange(len(sizes)), sizes)
    is_wrong = np.arange(len(y)) - np.repeat(np.cumsum(sizes) - sizes, sizes) < wrong[y]
    priors = dict(enumerate(weights))
    found = holdout_error(y, np.where(is_wrong, (y + 1) % len(sizes), y), priors=priors)
    return found.value, found.confidence_interval(level)


@given(st.lists(counts, min_size=2, max_size=4), levels)
def test_stratified_wilson(strata, level):
    assume(any(0 < k < n for k, n in strata))
    wrong, sizes = np.array(strata, dtype=float).T
    weights = np.arange(1, len(strata) + 1) / np.arange(1, len(strata) + 1).sum()
    expected = reference.stratified_wilson(wrong, sizes, weights, level)
    result = error_of_strata(wrong, sizes, weights, level)[1]
    assert tuple(result) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("wrong", [[0, 0], [30, 12], [0, 12]])
def test_stratified_wilson_without_any_variance(wrong):
    wrong, sizes, weights = np.array(wrong), np.array([30, 12]), np.array([0.4, 0.6])
    error, (low, high) = error_of_strata(wrong, sizes, weights)
    assert error == pytest.approx(weights @ (wrong / sizes))
    assert 0 <= low <= error <= high <= 1
    assert high - low > 0.02
    mirrored = error_of_strata(sizes - wrong, sizes, weights)[1]
    assert tuple(mirrored) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize("k", [1, 5, 9])
def test_normal_interval_is_clipped_to_the_range_of_the_quantity(k):
    found = holdout_error(np.zeros(10), np.arange(10) < k)
    reach = norm.ppf(0.975) * found.standard_error
    expected = np.clip([k / 10 - reach, k / 10 + reach], 0, 1)
    assert tuple(found.confidence_interval(method="normal")) == pytest.approx(expected)
