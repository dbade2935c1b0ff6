"""Calibration: curves with their band, the expected error, parts of proper scores."""

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose, assert_array_equal
from reference import calibration as reference
from reference.calibration import calibration_error, mean, members
from scipy.special import expit, logit
from scipy.stats import beta, binom, binomtest
from sklearn import calibration
from sklearn.metrics import brier_score_loss, log_loss

from skeval.metrics import expected_calibration_error, reliability_curve, score_decomposition


def draw(n=200, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 2, n)
    y = (rng.random(n) < p).astype(int)
    return y, p if decimals is None else p.round(decimals)


def draw_classes(n=120, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([1, 2, 1], n)
    return np.array(["a", "b", "c"])[(p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)], p


@each_value
@pytest.mark.parametrize(
    ("strategy", "n"),
    [("uniform", 23), ("uniform", 101), ("quantile", 40), ("quantile", 100), ("quantile", 120)],
)
@pytest.mark.parametrize("decimals", [None, 1])
def test_points_are_those_of_scikit_learn(strategy, n, decimals):
    for n_bins in (1, 4, 10):
        y, p = draw(n, n, decimals)
        found = reliability_curve(y, p, n_bins=n_bins, strategy=strategy)
        observed, predicted = calibration.calibration_curve(y, p, n_bins=n_bins, strategy=strategy)
        assert_allclose(found.y, observed, rtol=1e-13)
        assert_allclose(found.x, predicted, rtol=1e-13)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_weighted_points_by_the_definition(strategy):
    y, p = draw(60, decimals=2)
    w = np.random.default_rng(1).random(60)
    if strategy == "uniform":
        edges = np.linspace(0, 1, 6)
    else:
        order = np.argsort(p, kind="stable")
        below = np.cumsum(w[order]) / w.sum()
        edges = [p[order][np.argmax(below >= q - 1e-12)] for q in np.linspace(0, 1, 6)]
    found = reliability_curve(y, p, n_bins=5, strategy=strategy, sample_weight=w)
    inside = members(p, edges)
    assert_array_equal(found.columns["count"], [len(i) for i in inside])
    assert_allclose(found.x, [mean(p, w, i) for i in inside])
    assert_allclose(found.y, [mean(y, w, i) for i in inside])


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_a_tiny_difference_of_weights_moves_no_point(strategy):
    for seed in range(20):
        y, p = draw(20 + 3 * seed, seed)
        equal = reliability_curve(y, p, strategy=strategy)
        for size in (1e-12, 1e-9):
            w = np.ones(len(y))
            w[seed] += size
            found = reliability_curve(y, p, strategy=strategy, sample_weight=w)
            assert_allclose(found.y, equal.y, atol=1e-8)


def test_intervals_are_those_of_proportions():
    y, p = draw()
    found = reliability_curve(y, p, confidence_level=0.9)
    events = np.round(found.y * found.columns["count"]).astype(int)
    for k, size in enumerate(found.columns["count"].tolist()):
        low, high = binomtest(int(events[k]), size).proportion_ci(0.9, "exact")
        assert_allclose((found.low[k], found.high[k]), (low, high), atol=1e-12)


def test_band_holds_a_calibrated_model_as_often_as_it_says():
    _, p = draw(60)
    rng = np.random.default_rng(3)
    curve = reliability_curve(np.zeros(60, dtype=int), p, n_bins=4, confidence_level=0.8)
    order = np.argsort(p).reshape(4, 15)
    fractions = (rng.random((20_000, 60)) < p)[:, order].mean(axis=2)
    low, high = curve.columns["calibrated_low"], curve.columns["calibrated_high"]
    inside = (low <= fractions + 1e-9) & (fractions <= high + 1e-9)
    assert (inside.mean(axis=0) > 0.79).all()
    assert inside.mean() < 0.92  # of 15 samples there are few fractions


def test_several_classes():
    y, p = draw_classes()
    top = reliability_curve(y, p)
    right = y == np.array(["a", "b", "c"])[p.argmax(axis=1)]
    expected = reliability_curve(right, p.max(axis=1))
    assert_allclose(top.y, expected.y)
    assert_allclose(top.x, expected.x)
    assert top.extra.pos_label is None
    for k, label in enumerate(["a", "b", "c"]):
        one = reliability_curve(y, p, pos_label=label)
        assert_allclose(one.y, reliability_curve(y == label, p[:, k]).y)
        assert one.extra.pos_label == label
    turned = reliability_curve(y, p[:, [2, 0, 1]], labels=["c", "a", "b"])
    assert_allclose(turned.y, top.y)
    frame = reliability_curve(pd.Series(y), pd.DataFrame(p, columns=list("abc")))
    assert_allclose(frame.y, top.y)


@pytest.mark.parametrize(
    ("y", "p", "options", "message"),
    [
        ([0, 1], [0.5, 1.5], {}, "y_proba must lie between 0 and 1, got 1.5"),
        ([0, 1], [-0.1, 0.5], {}, "y_proba must lie between 0 and 1, got -0.1"),
        ([0, 1, 2], [0.1, 0.2, 0.3], {}, "y_true must contain two classes"),
        (["a", "b"], [0.1, 0.2], {}, "pos_label must be passed"),
        ([0, 1], [0.1, 0.2], {"labels": [0, 1]}, "labels must be None"),
        ([0, 1], np.full((2, 3), 1 / 3), {}, "each of the 3 columns .* got .0, 1. from y_true"),
        ([0, 1], np.full((2, 3), 1 / 3), {"labels": [0, 1, 1]}, "columns of y_proba once"),
        (
            [0, 3],
            np.full((2, 3), 1 / 3),
            {"labels": [0, 1, 2]},
            r"y_true must contain only the labels \[0, 1, 2\], got other labels",
        ),
        ([0, 1], np.full((2, 2), 0.5), {"pos_label": 2}, "pos_label must be one of"),
        ([0, 1], [0.1, 0.2, 0.3], {}, "must have the same length, got 2 and 3"),
    ],
)
def test_refusals(y, p, options, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve(y, p, **options)


def test_a_bin_with_one_group_counts_as_one_sample():
    y, p = [0, 1, 1, 0, 1, 1], [0.1, 0.2, 0.2, 0.7, 0.8, 0.9]
    curve = reliability_curve(y, p, n_bins=2, strategy="uniform", groups=[0, 0, 0, 1, 1, 2])
    share = 2 / 3
    assert_allclose(curve.y, share)
    # the Clopper-Pearson limits of 2/3 successes in one trial
    assert_allclose(curve.low[0], beta.ppf(0.025, share, 1 - share + 1))
    assert_allclose(curve.high[0], beta.ppf(0.975, share + 1, 1 - share))


MODELS = {
    "calibrated": lambda q, r: q,
    "overconfident": lambda q, r: expit(2 * logit(q) - logit(r)),
    "too low": lambda q, r: q / 2,
    "too high": lambda q, r: np.minimum(1, 1.5 * q + 0.02),
    "flat": lambda q, r: r + 0.2 * (q - r),
}


def simulate(model, rate, n, n_sets, **options):
    """Return (error, corrected, true distance, covered) of each data set."""
    rng, rows = np.random.default_rng(0), []
    for _ in range(n_sets):
        q = np.clip(rng.beta(4 * rate, 4 * (1 - rate), n), 1e-9, 1 - 1e-9)
        p = MODELS[model](q, rate)
        found = expected_calibration_error(rng.random(n) < q, p, **options)
        bins = reliability_curve(q < 0, p, **options).columns
        edges = np.column_stack([bins["above"], bins["up_to"]])
        truth = calibration_error(q, p, np.ones(n), [*edges[:, 0], edges[-1, 1]])
        covered = found.interval.low - 1e-9 <= truth <= found.interval.high
        rows.append((found.value, found.details["corrected"], truth, covered))
    return np.array(rows).T


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_error_by_the_definition(strategy):
    rng = np.random.default_rng(0)
    p, w = rng.random(40), rng.random(40)
    y = (rng.random(40) < p).astype(int)
    options = {"n_bins": 4, "strategy": strategy}
    for weight in (None, w):
        bins = reliability_curve(y, p, sample_weight=weight, **options).columns
        edges = np.column_stack([bins["above"], bins["up_to"]])
        expected = calibration_error(
            y, p, np.ones(40) if weight is None else w, [*edges[:, 0], edges[-1, 1]]
        )
        found = expected_calibration_error(y, p, sample_weight=weight, **options)
        assert_allclose(found.value, expected, rtol=1e-12)


@pytest.mark.simulated
def test_bias_is_what_it_says():
    error, corrected, truth, _ = simulate("calibrated", 0.5, 100, 40)
    rng = np.random.default_rng(1)
    p = rng.beta(2, 2, 100)
    by_chance = expected_calibration_error(p > 0.5, p).details["by_chance"]
    assert truth.max() == pytest.approx(0, abs=1e-12)
    assert error.mean() == pytest.approx(by_chance, rel=0.15)  # 40 data sets
    assert corrected.mean() < error.mean() / 2
    error, corrected, truth, _ = simulate("overconfident", 0.5, 200, 40)
    assert truth.mean() < error.mean()
    assert abs(corrected.mean() - truth.mean()) < error.mean() - truth.mean()


@pytest.mark.simulated
@pytest.mark.parametrize(
    ("model", "rate", "n"),
    [("calibrated", 0.5, 50), ("overconfident", 0.1, 200), ("too high", 0.02, 50)],
)
def test_it_covers_in_93_of_100_data_sets_at_least(model, rate, n):
    *_, covered = simulate(model, rate, n, 30)
    assert binom.cdf(covered.sum(), 30, 0.93) > 0.005


def draw_weighted(n=60, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.integers(1, 20, n) / 20
    return (rng.random(n) < p).astype(int), p, rng.random(n) + 0.1


def add_up(parts):
    return (
        parts["miscalibration"]
        - parts["discrimination"]
        + parts["uncertainty"]
        + parts["within_bins"]
    )


@each_value
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["corp", "murphy"])
def test_score_is_that_of_scikit_learn(method, weighted):
    y, p, w = draw_weighted()
    weight = w if weighted else None
    options = {"method": method, "sample_weight": weight}
    brier, log = (score_decomposition(y, p, loss=loss, **options) for loss in ("brier", "log_loss"))
    assert_allclose(brier["score"], brier_score_loss(y, p, sample_weight=weight), rtol=1e-12)
    assert_allclose(log["score"], log_loss(y, p, sample_weight=weight), rtol=1e-12)
    for parts in (brier, log):
        assert_allclose(add_up(parts), parts["score"], rtol=1e-12)


@each_value
@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
@pytest.mark.parametrize("weighted", [False, True])
def test_murphy_with_the_terms_within_bins(strategy, weighted):
    y, p, w = draw_weighted()
    weight = w if weighted else np.ones(60)
    options = {"n_bins": 4, "strategy": strategy, "sample_weight": weight}
    bins = reliability_curve(y, p, **options).columns
    reliability, resolution, uncertainty, variance, covariance = reference.murphy(
        y, p, weight, [*bins["above"], bins["up_to"][-1]]
    )
    parts = score_decomposition(y, p, method="murphy", **options)
    assert_allclose(parts["miscalibration"], reliability, rtol=1e-10)
    assert_allclose(parts["discrimination"], resolution, rtol=1e-10)
    assert_allclose(parts["uncertainty"], uncertainty, rtol=1e-10)
    assert_allclose(parts["within_bins"], variance - covariance, rtol=1e-9, atol=1e-13)
    assert abs(parts["within_bins"]) > 1e-6


@each_value
@pytest.mark.parametrize("loss", ["brier", "log_loss"])
@pytest.mark.parametrize("seed", range(4))
def test_corp_by_pooling_violators(loss, seed):
    y, p, w = draw_weighted(30, seed)
    w = w if seed % 2 else np.ones(30)
    parts = score_decomposition(y, p, loss=loss, sample_weight=w)
    expected = reference.corp(y.tolist(), p.tolist(), w.tolist(), loss)
    found = parts["miscalibration"], parts["discrimination"], parts["uncertainty"]
    assert_allclose(found, expected, atol=1e-12)
