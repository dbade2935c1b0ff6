"""The mean distance of bins: its moments, the limits that invert them."""

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from reference.calibration import number_of_events
from scipy.stats import binom

from skeval._inference.calibration import (
    Bins,
    corrected_gap,
    count_probabilities,
    gap_limits,
    gap_moments,
    share_limits,
    shrink_distances,
)


def bins(observed, predicted, size=10.0):
    shape = len(observed)
    share = np.full(shape, 1 / shape)
    return Bins(share, np.full(shape, size), np.array(predicted), np.array(observed))


def corrected(found):
    return corrected_gap(found, shrink_distances(found))


def limits(found, confidence_level=0.95):
    return gap_limits(found, shrink_distances(found), confidence_level)


@each_value
@pytest.mark.parametrize("size", [1, 2, 7, 30])
@pytest.mark.parametrize("truth", [0.0, 0.02, 0.4, 1.0])
@pytest.mark.parametrize("predicted", [0.0, 0.15, 0.5, 1.0])
def test_moments_against_the_sum_over_outcomes(size, truth, predicted):
    events = np.arange(size + 1)
    mass, distance = binom.pmf(events, size, truth), np.abs(events / size - predicted)
    found = gap_moments(bins([0.0], [predicted], float(size)), np.array([truth]))
    mean = mass @ distance
    assert_allclose(found, [mean, np.sqrt(mass @ (distance - mean) ** 2)], atol=1e-7)


def test_corrected_distance_has_the_observed_one_as_its_mean():
    found = bins([0.9, 0.2, 0.6], [0.5, 0.4, 0.55])
    truth = corrected(found)
    observed = found.share @ np.abs(found.observed - found.predicted)
    assert 0 < truth < observed
    one = bins([0.9], [0.5])
    assert_allclose(gap_moments(one, np.array([0.5 + corrected(one)]))[0], 0.4, atol=1e-9)
    assert corrected(bins([0.5, 0.6], [0.5, 0.5])) == 0


@pytest.mark.parametrize("observed", [[0.5] * 4, [0.9, 0.1, 0.6, 0.3], [1.0] * 4, [0.0, 1.0] * 2])
def test_limits_hold_the_corrected_distance_and_widen_with_the_level(observed):
    found = bins(observed, [0.5, 0.2, 0.6, 0.1])
    inner, outer = limits(found, 0.5), limits(found, 0.99)
    assert outer[0] <= inner[0] <= corrected(found) <= inner[1] + 1e-12
    assert inner[1] <= outer[1]
    farthest = np.maximum(found.predicted, 1 - found.predicted)
    assert outer[0] >= 0
    assert outer[1] <= found.share @ farthest + 1e-12


@pytest.mark.parametrize("n_bins", [1, 2, 10])
def test_no_event_is_no_certainty(n_bins):
    """Nothing was predicted and nothing happened: 0, and not surely 0."""
    low, high = limits(bins([0.0] * n_bins, [0.0] * n_bins, 10 / n_bins))
    assert low == 0
    assert high > 0.2


def test_a_single_bin_has_about_the_interval_of_a_proportion():
    low, high = limits(bins([0.7], [0.2], 100.0))
    assert_allclose((low, high), (0.4, 0.58), atol=0.02)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 11])
def test_count_against_all_that_can_happen(n):
    p = np.random.default_rng(n).random(n)
    assert_allclose(count_probabilities(p), number_of_events(p.tolist()), atol=1e-14)


def test_count_of_many_equal_events_is_binomial():
    found = count_probabilities(np.full(5000, 0.003))
    assert_allclose(found, binom.pmf(np.arange(5001), 5000, 0.003), atol=1e-13)
    assert_allclose(count_probabilities(np.array([0.0, 1.0, 1.0])), [0, 0, 1, 0], atol=1e-15)


@pytest.mark.parametrize("n", [4, 30])
def test_limits_are_the_quantiles_of_a_simulation(n):
    rng = np.random.default_rng(n)
    p = rng.beta(1, 3, n)
    share = (rng.random((40_000, n)) < p).mean(axis=1)
    low, high = share_limits(p, np.full(n, 0.7), 0.9)
    assert np.mean((low <= share) & (share <= high)) > 0.9 - 0.005
    # the next share inside would leave too much out
    assert np.mean(share < low + 0.5 / n) > 0.05 - 0.005
    assert np.mean(share > high - 0.5 / n) > 0.05 - 0.005


def test_limits_of_weighted_events_are_near_those_of_a_simulation():
    rng = np.random.default_rng(0)
    p, weight = rng.beta(1, 4, 40), rng.random(40) + 0.2
    share = (rng.random((40_000, 40)) < p) @ weight / weight.sum()
    assert_allclose(share_limits(p, weight, 0.95), np.quantile(share, [0.025, 0.975]), atol=0.01)
    certain = np.array([0.0, 1.0])
    assert share_limits(certain, np.array([1.0, 3.0]), 0.95) == (0.75, 0.75)


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.02])
def test_limits_of_weighted_events_hold_the_share_that_is_none_at_all(rate):
    rng = np.random.default_rng(1)
    held = []
    for _ in range(20):
        p, weight = rng.beta(4 * rate, 4 - 4 * rate, 20), rng.exponential(size=20)
        share = (rng.random((500, 20)) < p) @ weight / weight.sum()
        low, high = share_limits(p, weight, 0.95)
        held.append(np.mean((low <= share) & (share <= high)))
        turned = share_limits(1 - p, weight, 0.95)
        assert_allclose(turned, (1 - high, 1 - low), atol=1e-9)
    assert np.mean(held) > 0.94
