"""Calibration curves: points, intervals, and the band of a calibrated model."""

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose, assert_array_equal
from reference.calibration import mean, members
from scipy.stats import beta, binomtest
from sklearn import calibration

from skeval.metrics import reliability_curve


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
        (["a", "b"], [0.1, 0.2], {}, "pos_label must be given"),
        ([0, 1], [0.1, 0.2], {"labels": [0, 1]}, "labels must be None"),
        ([0, 1], np.full((2, 3), 1 / 3), {}, "each of the 3 columns .* got .0, 1. from y_true"),
        ([0, 1], np.full((2, 3), 1 / 3), {"labels": [0, 1, 1]}, "columns of y_proba once"),
        ([0, 3], np.full((2, 3), 1 / 3), {"labels": [0, 1, 2]}, "y_true must only have the labels"),
        ([0, 1], np.full((2, 2), 0.5), {"pos_label": 2}, "pos_label must be one of"),
        ([0, 1], [0.1, 0.2, 0.3], {}, "inconsistent numbers"),
        ([0, 1], [0.1, 0.2], {"n_bins": 0}, "n_bins"),
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
