"""The number of independent events that happen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference.calibration import number_of_events
from scipy.stats import binom

from skeval._inference.calibration import count_probabilities, share_limits


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
