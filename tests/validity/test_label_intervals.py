"""Intervals of averages over labels that are not independent."""

from functools import partial

import numpy as np
import pytest
from helpers.coverage import consistent_with
from scipy.stats import norm
from sklearn import metrics as sk

from skeval.model_selection import metric_interval

N, L = 90, 4
SHARES = np.array([0.5, 0.4, 0.3, 0.2])


def draw(rng, n=N):
    """Return labels that go together, and their probabilities."""
    together = rng.normal(size=(n, 1))
    y = (0.6 * rng.normal(size=(n, L)) + 0.8 * together > norm.isf(SHARES)).astype(int)
    odds = 1.5 * y - 1.2 + 0.6 * rng.normal(size=(n, 1)) + 0.8 * rng.normal(size=(n, L))
    return y, 1 / (1 + np.exp(-odds))


@pytest.mark.simulated
def test_intervals_hold_the_truth_though_labels_go_together():
    """A short simulation; the user guide has the long one."""
    metrics = {
        "f1_micro": (partial(sk.f1_score, average="micro"), False),
        "hamming": (sk.hamming_loss, False),
        "auc_macro": (sk.roc_auc_score, True),
    }
    y, p = draw(np.random.default_rng(0), 100_000)
    truth = {k: f(y, p if ranked else p >= 0.5) for k, (f, ranked) in metrics.items()}
    held, n_sets = dict.fromkeys(metrics, 0), 20
    for seed in range(n_sets):
        y, p = draw(np.random.default_rng([1, seed]), 80)
        for name, (metric, ranked) in metrics.items():
            found = metric_interval(metric, y, p if ranked else (p >= 0.5).astype(int))
            assert found.interval.method == "score"
            held[name] += truth[name] in found.interval
    for name, count in held.items():
        assert consistent_with(count, n_sets), (name, count)
