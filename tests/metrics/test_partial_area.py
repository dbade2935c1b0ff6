"""Partial areas under ROC curves: values, intervals and comparisons."""

from functools import partial

import numpy as np
import pytest
from reference.metric_intervals import derivatives
from scipy.integrate import quad
from scipy.stats import binom, norm
from sklearn.metrics import roc_auc_score

from skeval.model_selection import compare_predictions, metric_interval


def sample(n=120, seed=0, decimals=1):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    return y, np.round(rng.normal(size=n) + 1.2 * y, decimals)


@pytest.mark.parametrize("max_fpr", [0.01, 0.1, 0.25, 0.5, 0.99])
@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_the_value_is_scikit_learns(max_fpr, decimals):
    y, score = sample(decimals=decimals)
    weight = np.random.default_rng(1).random(len(y)) + 0.1
    expected = roc_auc_score(y, score, sample_weight=weight, max_fpr=max_fpr)
    found = metric_interval(partial(roc_auc_score, max_fpr=max_fpr), y, score, sample_weight=weight)
    assert found.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("max_fpr", [0.13, 0.5])
def test_the_error_is_that_of_the_derivatives(max_fpr):
    """The cut lies within a tie, so that the curve is smooth in the weights."""
    y, score = sample(decimals=0)
    metric = partial(roc_auc_score, max_fpr=max_fpr)
    slopes = derivatives(metric, y, score, np.ones(len(y)))
    assert [slopes[y].sum(), slopes[~y].sum()] == pytest.approx([0, 0], abs=1e-7)
    n = np.where(y, y.sum(), (~y).sum())
    found = metric_interval(metric, y, score)
    assert found.standard_error**2 == pytest.approx(np.sum(slopes**2 * n / (n - 1)), rel=1e-6)


def test_the_whole_area_is_a_partial_one():
    y, score = sample()
    first, second = (
        metric_interval(partial(roc_auc_score, max_fpr=each), y, score) for each in (None, 1.0)
    )
    for one in ("value", "standard_error"):
        assert getattr(second, one) == pytest.approx(getattr(first, one))
    assert [*second.interval] == pytest.approx([*first.interval])


def test_interval_of_groups_order_and_monotone_functions():
    y, score = sample()
    metric = partial(roc_auc_score, max_fpr=0.2)
    found = metric_interval(metric, y, score)
    assert found.method == "score"
    assert found.interval.low < found.value < found.interval.high
    turned = metric_interval(metric, y[::-1], np.exp(score[::-1]))
    assert [*turned.interval] == pytest.approx([*found.interval])
    # copies of samples in groups are no new samples
    copies = np.repeat(np.arange(len(y)), 3)
    once = metric_interval(metric, y, score, groups=np.arange(len(y)))
    more = metric_interval(metric, y[copies], score[copies], groups=copies)
    assert [*more.interval] == pytest.approx([*once.interval], abs=0.01)


def test_delong_is_the_bootstrap_of_the_difference():
    rng = np.random.default_rng(0)
    y = np.arange(400) < 160
    a, b = (1.5 * y + rng.normal(size=400) for _ in range(2))
    metric = partial(roc_auc_score, max_fpr=0.2)
    found = compare_predictions(y, {"a": a, "b": b}, metric=metric)
    assert found.method == "delong"
    assert found.values == pytest.approx([metric(y, a), metric(y, b)])
    drawn = compare_predictions(
        y, {"a": a, "b": b}, metric=metric, method="bootstrap", n_resamples=300, random_state=0
    )
    widths = [np.ptp([*each["a", "b"].interval]) for each in (found, drawn)]
    assert widths[0] == pytest.approx(widths[1], rel=0.15)


def truth(shift, max_fpr):
    area = quad(lambda x: norm.sf(norm.isf(x) - shift), 0, max_fpr)[0]
    low = max_fpr**2 / 2
    return 0.5 + 0.5 * (area - low) / (max_fpr - low)


def covered(share, shift, n, max_fpr, n_sets):
    rng, expected, hits = np.random.default_rng(0), truth(shift, max_fpr), 0
    metric = partial(roc_auc_score, max_fpr=max_fpr)
    for _ in range(n_sets):
        y = np.arange(n) < max(2, rng.binomial(n, share))
        hits += expected in metric_interval(metric, y, rng.normal(size=n) + shift * y).interval
    return hits


@pytest.mark.simulated
@pytest.mark.parametrize(("share", "shift", "n"), [(0.5, 1.0, 100), (0.2, 2.5, 100)])
def test_it_covers(share, shift, n):
    assert binom.cdf(covered(share, shift, n, 0.2, 60), 60, 0.94) > 0.001
