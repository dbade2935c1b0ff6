"""Bands of ROC and precision-recall curves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import curves as reference
from scipy.stats import binom, norm
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve

from skeval.metrics import precision_recall_curve_band, roc_auc_score, roc_curve_band
from skeval.model_selection import metric_interval

BANDS = [roc_curve_band, precision_recall_curve_band]


def problem(seed=0, n=60, shift=1.0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    return y, (4 * rng.normal(size=n) + 4 * shift * y).round()


def ends(band, y, score, **options):
    options = {"n_resamples": 30, "n_points": 21, "random_state": 5} | options
    made = band(y, score, **options)
    return np.array([made.y, made.low, made.high, *made.band])


@pytest.mark.parametrize("seed", range(3))
def test_points_are_those_of_scikit_learn(seed):
    y, score = problem(seed)
    weight = np.random.default_rng(seed).integers(1, 4, size=60)
    options = {"sample_weight": weight, "n_resamples": 2, "random_state": 0}
    roc = roc_curve_band(y, score, **options)
    fpr, tpr, thresholds = roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    assert_allclose(roc.extra.points, np.column_stack([fpr, tpr]), atol=1e-12)
    assert_allclose(roc.thresholds, thresholds)
    assert_allclose(roc.area.value, roc_auc_score(y, score, sample_weight=weight))
    pr = precision_recall_curve_band(y, score, **options)
    precision, recall, thresholds = precision_recall_curve(y, score, sample_weight=weight)
    assert_allclose(pr.extra.points, np.column_stack([recall, precision])[-2::-1], atol=1e-12)
    assert_allclose(pr.thresholds, thresholds[::-1])
    expected = average_precision_score(y, score, sample_weight=weight)
    assert_allclose(pr.area.value, expected)
    assert pr.extra.prevalence == weight @ y / weight.sum()


def test_curves_on_the_grid_are_those_of_the_cuts():
    y, score = problem(n=61)
    y[-1] = 0  # 40 negatives and 20 others: the grid meets the cuts
    ones = np.ones(len(y))
    points = reference.roc_points(y == 1, score, ones)
    roc = roc_curve_band(y, score, n_points=21, n_resamples=2, random_state=0)
    expected = [reference.height(points, x, "top") for x in roc.x]
    assert_allclose(roc.y, expected, atol=1e-9)
    distinct = score + 1e-6 * np.arange(61)
    pr = precision_recall_curve_band(y, distinct, n_points=21, n_resamples=2, random_state=0)
    expected = [reference.precision_at(y == 1, distinct, ones, r) for r in pr.x]
    assert_allclose(pr.y, expected, atol=1e-9)


def test_limits_are_those_of_the_definition():
    y, score = problem(2)
    roc = roc_curve_band(y, score, n_points=11, n_resamples=50, random_state=0)
    points, z = reference.roc_points(y == 1, score, np.ones(60)), norm.ppf(0.975)
    for at, low, high in zip(roc.x, roc.low, roc.high, strict=True):
        assert_allclose((low, high), reference.curve_limits(points, (40, 20), at, z, False))
    z = np.quantile(roc.extra.distances, 0.95)
    found = roc.band.low[3], roc.band.high[3]
    assert_allclose(found, reference.curve_limits(points, (40, 20), 0.3, z, True))


def test_the_interval_of_the_area_is_that_of_metric_interval():
    y, score = problem()
    found = roc_curve_band(y, score, n_resamples=2).area.interval
    expected = metric_interval(roc_auc_score, y, score).interval
    assert_allclose((found.low, found.high), (expected.low, expected.high))


@pytest.mark.parametrize("weight", [None, [1, 1, 1, 1, 1e-9]])
def test_the_area_of_one_positive_has_an_interval_and_no_standard_error(weight):
    y, score = [0, 0, 0, 1, 1], [0.1, 0.3, 0.5, 0.4, 0.6]
    kept = slice(None) if weight else slice(-1)
    with pytest.warns(UndefinedMetricWarning, match="standard error of the area is nan"):
        area = roc_curve_band(y[kept], score[kept], sample_weight=weight, n_resamples=2).area
    assert np.isnan(area.standard_error)
    assert 0 < area.interval.low < area.value < area.interval.high < 1


def covered(n, rate, area, n_sets, n_resamples, seed=0):
    """Return how many bands hold each curve: at each of nine places, and as a whole."""
    rng = np.random.default_rng(seed)
    shift = np.sqrt(2) * norm.ppf(area)
    grid = np.linspace(0, 1, 41)[1:-1]
    fpr = norm.sf(norm.isf(grid) + shift)
    truths = norm.sf(norm.isf(grid) - shift), rate * grid / (rate * grid + (1 - rate) * fpr)
    points, whole = np.zeros((2, len(grid)), dtype=int), np.zeros(2, dtype=int)
    for _ in range(n_sets):
        y = np.zeros(n, dtype=int)
        while not 0 < y.sum() < n:
            y = (rng.random(n) < rate).astype(int)
        score = rng.normal(size=n) + shift * y
        for row, (band, truth) in enumerate(zip(BANDS, truths, strict=True)):
            made = band(y, score, n_points=41, n_resamples=n_resamples, random_state=rng)
            inside = slice(1, -1) if band is roc_curve_band else slice(0, -1)
            low, high, least, most = (ends[inside] for ends in (made.low, made.high, *made.band))
            points[row] += (low <= truth) & (truth <= high)
            whole[row] += np.all((least <= truth) & (truth <= most))
    return points, whole


RARE = pytest.mark.filterwarnings("ignore:The standard error of the area")


@pytest.mark.simulated
@RARE
@pytest.mark.parametrize(("n", "rate", "area"), [(50, 0.1, 0.9), (100, 0.5, 0.98)])
def test_they_cover_in_93_of_100_data_sets_at_least(n, rate, area):
    points, whole = covered(n, rate, area, n_sets=20, n_resamples=40)
    assert binom.cdf(points, 20, 0.93).min() > 0.002
    assert binom.cdf(whole, 20, 0.93).min() > 0.005
