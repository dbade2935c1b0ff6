"""Blocks of time: how long they are, and how often intervals by them hold a mean."""

import warnings

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from reference.metric_intervals import clustered_variance
from scipy import stats
from scipy.signal import lfilter
from sklearn.exceptions import UndefinedMetricWarning

from skeval._inference.paired import autocorrelation
from skeval.model_selection import compare_predictions


def compare(d, method, **options):
    """Return the test of two forecasts whose absolute errors have these differences."""
    base = np.abs(d).max() + 1.0
    errors, options = {"a": base + d, "b": np.full(len(d), base)}, options | {"method": method}
    return compare_predictions(
        np.zeros(len(d)), errors, metric="mean_absolute_error", **options
    ).difference


def blocks_test(d):
    """Return the test of one series of differences."""
    return compare(d, "time_blocks")


def diebold_mariano(d, horizon=1):
    return compare(d, "diebold_mariano", horizon=horizon)


def count_blocks(d):
    """Return the number of blocks, from the quantile of Student's t in the interval."""
    found = blocks_test(d)
    quantile = (found.interval.high - found.value) / found.standard_error
    (number,) = (k for k in range(3, 21) if np.isclose(stats.t.isf(0.025, k - 1), quantile))
    return number


def draw_series(rng, n, rho):
    """Return an autoregressive series of the first order, with mean 0 and variance 1."""
    noise = rng.standard_normal(n + 200)
    return lfilter([np.sqrt(1 - rho**2)], [1, -rho], noise)[200:]


@each_value
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_autocorrelation_has_no_bias(n, rho):
    rng = np.random.default_rng(0)
    found = [autocorrelation(draw_series(rng, n, rho)) for _ in range(400)]
    spread = np.sqrt((1 - rho**2) / n)
    # below 0 it is 0: of a normal estimate around 0 that leaves .4 of its spread
    expected = rho if rho else spread * stats.norm.pdf(0)
    assert np.mean(found) == pytest.approx(expected, abs=4 * spread / np.sqrt(400) + 1 / n)


def test_blocks_are_equal_stretches_in_order():
    rng = np.random.default_rng(0)
    for n in (60, 101, 500, 5000):
        series = draw_series(rng, n, 0.3)
        groups, ones = np.arange(n) * count_blocks(series) // n, np.ones(n)
        influence = (series - series.mean()) / n
        variance = clustered_variance(influence, groups, ones, ones)
        assert_allclose(blocks_test(series).standard_error, np.sqrt(variance))


def test_blocks_do_not_depend_on_scale_shift_or_direction():
    series = draw_series(np.random.default_rng(0), 300, 0.7)
    number = count_blocks(series)
    for other in (5 - 3 * series, series[::-1], 1e6 * series, series + 1e6):
        assert count_blocks(other) == number


def test_the_more_alike_neighbors_are_the_fewer_blocks_there_are():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(1200)
    numbers = [count_blocks(lfilter([1], [1, -rho], noise)[200:]) for rho in (0, 0.6, 0.8, 0.9)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > numbers[-1]


def test_too_few_samples_for_how_alike_they_are_have_none():
    walk = np.cumsum(np.random.default_rng(0).standard_normal(200))
    for series in (np.arange(5.0), walk):
        with pytest.warns(UndefinedMetricWarning, match="fewer than three blocks"):
            found = blocks_test(series)
        assert np.isnan([found.standard_error, found.pvalue]).all()
    with pytest.warns(UndefinedMetricWarning):
        assert blocks_test(np.ones(200)).standard_error == 0  # nothing varies: nothing is alike


@pytest.mark.simulated
@pytest.mark.parametrize(("n", "rho"), [(100, 0.0), (100, 0.5), (400, 0.5), (2000, 0.9)])
def test_intervals_by_blocks_hold_the_mean(n, rho):
    rng, held, given = np.random.default_rng(0), 0, 0
    for _ in range(300):
        series = draw_series(rng, n, rho)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            found = blocks_test(series)
        if np.isnan(found.standard_error):
            continue
        given += 1
        held += 0 in found.interval
    assert given > 270
    assert stats.binomtest(held, given, 0.95).pvalue > 0.001


def mean_of_products(d, k):
    """Return the autocovariance at a lag, term by term."""
    mean = sum(d) / len(d)
    return sum((d[t] - mean) * (d[t - k] - mean) for t in range(k, len(d))) / len(d)


@pytest.mark.parametrize("horizon", [1, 2, 5])
def test_diebold_and_mariano_is_its_definition(horizon):
    d = draw_series(np.random.default_rng(3), 60, 0.4) + 0.2
    n, h = len(d), horizon
    variance = mean_of_products(d, 0) + 2 * sum(mean_of_products(d, k) for k in range(1, h))
    statistic = d.mean() / np.sqrt(variance / n)
    statistic *= np.sqrt((n + 1 - 2 * h + h * (h - 1) / n) / n)
    found = diebold_mariano(d, horizon)
    assert_allclose(found.statistic, statistic)
    assert_allclose(found.pvalue, 2 * stats.t.sf(abs(statistic), n - 1))


@pytest.mark.parametrize("test", [blocks_test, lambda d: diebold_mariano(d, 4)])
def test_size_where_neighbors_err_together(test):
    # forecasts four steps ahead: errors are sums of four shocks
    rng, rejected = np.random.default_rng(0), 0
    for _ in range(300):
        d = lfilter(np.ones(4), [1], rng.standard_normal(303))[3:]
        rejected += test(d).pvalue <= 0.05
    assert stats.binomtest(rejected, 300, 0.05, alternative="greater").pvalue > 0.001


@pytest.mark.filterwarnings("ignore:The interval is undefined")
@pytest.mark.parametrize("test", [blocks_test, diebold_mariano])
def test_where_nothing_varies_nothing_is_told(test):
    found = test(np.zeros(40))
    assert (found.standard_error, found.statistic, found.pvalue) == (0.0, 0.0, 1.0)
    for equal in (np.full(40, 0.1), np.tile([0.0, 1.0], 20)):  # or all blocks are
        if np.ptp(equal) == 0 or test is blocks_test:
            with pytest.warns(UndefinedMetricWarning, match="[Tt]he test is undefined"):
                found = test(equal)
            assert np.isnan([found.statistic, found.pvalue]).all()
            assert np.isnan([*found.confidence_interval(0.9)]).all()
