"""The mean distance of bins: its moments, the limits that invert them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from skeval._inference.calibration import (
    Bins,
    corrected_gap,
    gap_limits,
    gap_moments,
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
