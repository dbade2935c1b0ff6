"""Relative errors of forecasts, prediction intervals, quantiles, and the geometric mean."""

import numpy as np
import pytest
from helpers.echo import metric_of
from scipy.stats import binom, norm
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, recall_score

from skeval.metrics import get_scorer
from skeval.model_selection import metric_interval

RNG = np.random.default_rng(0)
Y = RNG.gamma(2, size=60)
GUESS = Y + RNG.normal(size=60)
LIMITS = np.column_stack([GUESS - 0.5, GUESS + 0.6])
PAST = RNG.gamma(2, size=40)
WEIGHT = RNG.integers(1, 4, 60)
# each with its arguments, data, and a plain loop
CASES = {
    "neg_smape": (
        {},
        GUESS,
        lambda y, p: (
            sum(2 * abs(a - b) / (abs(a) + abs(b)) for a, b in zip(y, p, strict=True)) / len(y)
        ),
    ),
    "neg_mase": (
        {"y_train": PAST, "season": 3},
        GUESS,
        lambda y, p: mean_absolute_error(y, p) / mean_absolute_error(PAST[3:], PAST[:-3]),
    ),
    "interval_coverage": (
        {},
        LIMITS,
        lambda y, p: sum(low <= a <= high for a, (low, high) in zip(y, p, strict=True)) / len(y),
    ),
    "neg_winkler_loss": (
        {"confidence_level": 0.8},
        LIMITS,
        lambda y, p: (
            10 * sum(mean_pinball_loss(y, p[:, i], alpha=q) for i, q in enumerate((0.1, 0.9)))
        ),
    ),
    "neg_mean_quantile_loss": (
        {"quantiles": [0.3, 0.6]},
        LIMITS,
        lambda y, p: np.mean(
            [mean_pinball_loss(y, p[:, i], alpha=q) for i, q in enumerate((0.3, 0.6))]
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reference_weights_and_order(name):
    arguments, pred, reference = CASES[name]
    metric, scorer = metric_of(name, **arguments), get_scorer(name, **arguments)
    value = metric(Y, pred)
    assert value == pytest.approx(reference(Y, pred))
    weighted = metric(Y, pred, sample_weight=WEIGHT)
    assert weighted == pytest.approx(metric(np.repeat(Y, WEIGHT), np.repeat(pred, WEIGHT, axis=0)))
    assert metric(Y[::-1], pred[::-1]) == pytest.approx(value)
    found = metric_interval(scorer, Y, pred)
    assert found.value == pytest.approx(value)
    assert found.interval.low < value < found.interval.high
    # groups of copies
    copies = np.repeat(np.arange(60), 2)
    once = metric_interval(scorer, Y, pred, groups=np.arange(60))
    more = metric_interval(scorer, Y[copies], pred[copies], groups=copies)
    assert [*more.interval] == pytest.approx([*once.interval], rel=0.02)


def test_zeros():
    assert metric_of("neg_smape")([0.0, 1.0], [0.0, 0.0]) == 1.0
    assert metric_of("neg_mase", y_train=[0, 2, 0])([0.0, 0.0], [1.0, 1.0]) == 0.5
    with pytest.raises(ValueError, match="y_train must have more than season=2 values"):
        metric_of("neg_mase", y_train=[1, 2, 1, 2, 1], season=2)([0.0], [1.0])


def test_wrong_limits():
    with pytest.raises(ValueError, match=r"\(n_samples, 2\).*\(60,\)"):
        metric_of("neg_winkler_loss")(Y, GUESS)
    for name in ("neg_winkler_loss", "interval_coverage"):
        with pytest.raises(ValueError, match="the lower limit in the first column"):
            metric_of(name)(Y, LIMITS[:, ::-1])
    with pytest.raises(ValueError, match=r"quantiles must lie between 0 and 1"):
        metric_of("neg_mean_quantile_loss", quantiles=[0, 1])(Y, LIMITS)


def test_few_misses_have_no_interval():
    wide = LIMITS + [-9, 9]
    assert np.isnan(metric_interval("winkler_loss", Y, wide).interval.low)


def test_geometric_mean():
    y = RNG.integers(0, 3, 90)
    p = np.where(RNG.random(90) < 0.6, y, RNG.integers(0, 3, 90))
    recalls = recall_score(y, p, average=None)
    assert metric_of("geometric_mean")(y, p) == pytest.approx(np.prod(recalls) ** (1 / 3))
    found = metric_interval("geometric_mean", y, p)
    assert found.method == "score"
    assert found.interval.low < found.value < found.interval.high
    names = np.array(["c", "a", "b"])
    assert [*metric_interval("geometric_mean", names[y], names[p]).interval] == pytest.approx(
        [*found.interval], abs=1e-4
    )


def covered(n, n_sets, share=0.2, shift=1.5):
    """Return how often each interval covers its metric, of normal values and scores."""
    rng, hits = np.random.default_rng(0), dict.fromkeys(["coverage", "winkler", "g_mean"], 0)
    edge, winkler = norm.ppf(0.9), get_scorer("neg_winkler_loss", confidence_level=0.8)
    # expected score of the central 80 % interval: 2 phi(z) / alpha per side
    truth = {"coverage": 0.8, "winkler": 2 * norm.pdf(edge) / 0.1, "g_mean": norm.cdf(shift / 2)}
    for _ in range(n_sets):
        y, limits = rng.normal(size=n), np.tile([-edge, edge], (n, 1))
        label = np.arange(n) < max(2, rng.binomial(n, share))
        called = rng.normal(size=n) + shift * label > shift / 2
        found = {
            "coverage": metric_interval("interval_coverage", y, limits),
            "winkler": metric_interval(winkler, y, limits),
            "g_mean": metric_interval("geometric_mean", label, called),
        }
        for name, estimate in found.items():
            hits[name] += truth[name] in estimate.interval or np.isnan(estimate.interval.low)
    return hits


@pytest.mark.simulated
def test_it_covers():
    for hits in covered(100, 60).values():
        assert binom.cdf(hits, 60, 0.94) > 0.001
