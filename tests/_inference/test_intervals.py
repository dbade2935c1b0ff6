"""Intervals of proportions against SciPy, statsmodels, root finding and formulas."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference import holdout as reference
from scipy import stats
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from skeval._inference.intervals import Design, stratified_wilson_interval
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


@pytest.mark.parametrize("k", [1, 5, 9])
def test_normal_interval_is_clipped_to_the_range_of_the_quantity(k):
    found = holdout_error(np.zeros(10), np.arange(10) < k)
    reach = norm.ppf(0.975) * found.standard_error
    expected = np.clip([k / 10 - reach, k / 10 + reach], 0, 1)
    assert tuple(found.confidence_interval(method="normal")) == pytest.approx(expected)


@given(st.floats(1, 30), st.floats(0, 1), st.floats(2, 500), st.floats(0.5, 0.99))
def test_the_number_of_samples_is_the_smallest_one(size, correlation, n_independent, level):
    design = Design(size, correlation)
    n = design.needed(n_independent, level)

    def suffices(n):
        quantile = stats.t.isf((1 - level) / 2, n / size - 1) / norm.isf((1 - level) / 2)
        return n >= 2 * size and n / design.effect / quantile**2 >= n_independent * (1 - 1e-9)

    assert suffices(n)
    assert n <= np.ceil(2 * size) or not suffices(n - 1) or n_independent > n / design.effect * 0.9
