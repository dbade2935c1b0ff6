"""The largest difference of a metric between subgroups, and its simultaneous interval."""

import pickle

import numpy as np
import pytest
from scipy.stats import binom

from skeval.model_selection import metric_interval


def rate(_, y_pred):
    """Return the fraction of positive predictions, as in demographic parity."""
    return np.mean(y_pred == 1)


def sample(rates, n=40, seed=0):
    rng = np.random.default_rng(seed)
    by = np.repeat(np.arange(len(rates)), n)
    return rng.integers(0, 2, len(by)), (rng.random(len(by)) < np.array(rates)[by]).astype(int), by


def test_value_and_limits():
    y, called, by = sample([0.2, 0.5, 0.9])
    found = metric_interval(rate, y, called, by=by)
    values = [estimate.value for estimate in found.values()]
    difference = found.largest_difference
    assert difference.value == pytest.approx(max(values) - min(values))
    ends = [estimate.confidence_interval(1 - 0.05 / 3) for estimate in found.values()]
    assert difference.interval.low == pytest.approx(ends[2].low - ends[0].high)
    assert difference.interval.high == pytest.approx(ends[2].high - ends[0].low)
    assert pickle.loads(pickle.dumps(difference)).interval == difference.interval


def test_order_and_names_of_subgroups():
    y, called, by = sample([0.3, 0.4])
    once = metric_interval(rate, y, called, by=by).largest_difference
    turned = metric_interval(rate, y, called, by=np.array(["b", "a"])[by]).largest_difference
    assert turned.interval == once.interval
    assert metric_interval(rate, y, called, by=0 * by).largest_difference is None


def covered(rates, n, n_sets):
    truth, hits = max(rates) - min(rates), 0
    for seed in range(n_sets):
        y, called, by = sample(rates, n, seed)
        hits += truth in metric_interval(rate, y, called, by=by).largest_difference.interval
    return hits


@pytest.mark.simulated
@pytest.mark.parametrize("rates", [[0.3] * 4, [0.1, 0.1, 0.5]])
def test_it_covers_equal_and_unequal_subgroups(rates):
    assert binom.cdf(covered(rates, 40, 40), 40, 0.95) > 0.001
