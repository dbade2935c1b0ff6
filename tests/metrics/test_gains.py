"""Precision, recall and lift of the highest scores, and the Kolmogorov-Smirnov statistic."""

from functools import partial

import numpy as np
import pytest
from helpers.echo import metric_of
from hypothesis import given
from hypothesis import strategies as st
from reference import ranking
from scipy.integrate import trapezoid
from scipy.optimize import brentq
from scipy.stats import binom, ks_2samp, norm, t
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from skeval.metrics import RocCurveDisplay, get_scorer, precision_at_k, roc_curve_band
from skeval.model_selection import metric_interval

AT_K = ["precision_at_k", "recall_at_k", "lift_at_k"]
SCORES = st.lists(st.integers(0, 4), min_size=3, max_size=9)


@given(scores=SCORES, data=st.data())
def test_hits_are_the_mean_over_the_orders_of_tied_samples(scores, data):
    n = len(scores)
    y = [1, 0, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    k = data.draw(st.integers(1, n))
    hits = ranking.gains(y, scores, k)
    assert precision_at_k(y, scores, k=k) == pytest.approx(hits / k)
    assert metric_of("recall_at_k", k=k)(y, scores) == pytest.approx(hits / sum(y))
    assert metric_of("lift_at_k", k=k)(y, scores) == pytest.approx(hits / k / (sum(y) / n))
    if k < n:
        assert precision_at_k(y, scores, k=k / n) == pytest.approx(hits / k)


@given(scores=SCORES, data=st.data())
def test_ks_is_scipys(scores, data):
    n = len(scores)
    y = np.array([1, 0, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    score = np.array(scores)
    expected = ks_2samp(score[y == 0], score[y == 1], alternative="greater").statistic
    assert metric_of("ks_statistic")(y, score) == pytest.approx(expected, abs=1e-12)


def sample(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, np.round(rng.normal(size=n) + 1.5 * y, 1)


@pytest.mark.parametrize("metric", AT_K)
def test_the_standard_error_is_that_of_the_bootstrap(metric):
    """Resamples move the threshold, too."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    score, at = y + 1.2 * rng.normal(size=3000), metric_of(metric, k=0.3)
    rows = rng.integers(0, 3000, (400, 3000))
    replicates = [at(y[row], score[row]) for row in rows]
    found = metric_interval(get_scorer(metric, k=0.3), y, score)
    assert found.standard_error == pytest.approx(np.std(replicates), 0.15)


@pytest.mark.parametrize("metric", [*AT_K, "ks_statistic"])
def test_weights_order_and_monotone_functions(metric):
    y, score = sample()
    weight, value = np.random.default_rng(1).integers(1, 4, len(y)), metric_of(metric)
    repeated = value(np.repeat(y, weight), np.repeat(score, weight))
    assert value(y, score, sample_weight=weight) == pytest.approx(repeated)
    found = metric_interval(metric, y, score)
    assert found.value == value(y, score)
    assert found.interval.low < found.value < found.interval.high
    turned = metric_interval(metric, y[::-1], np.exp(score[::-1]))
    assert [*turned.interval] == pytest.approx([*found.interval])
    # groups of one sample are samples, and equal weights none
    alone = metric_interval(metric, y, score, groups=np.arange(len(y)))
    assert [*alone.interval] == pytest.approx([*found.interval], rel=0.02)
    equal = metric_interval(metric, y, score, sample_weight=np.full(len(y), 3.0))
    assert equal.interval == found.interval


def test_lift_is_the_recall_over_the_fraction():
    y, score = sample()
    lift, recall = (metric_interval(f"{name}_at_k", y, score) for name in ("lift", "recall"))
    np.testing.assert_allclose([*lift.interval], 10 * np.array([*recall.interval]))
    assert lift.value == pytest.approx(10 * recall.value)


@pytest.mark.parametrize("options", ["", "sample_weight", "groups"])
def test_the_curve_of_gains_is_the_recall_at_each_fraction(options):
    y, score = sample()
    given = {"": None, "sample_weight": np.arange(200) % 3 + 1, "groups": np.arange(200) // 4}
    data = {options: given[options]} if options else {}
    curve = roc_curve_band(y, score, kind="gains", n_points=6, confidence_level=0.8, **data)
    for at in range(1, 5):
        metric, level = get_scorer("recall_at_k", k=curve.x[at]), {"confidence_level": 0.8}
        found = metric_interval(metric, y, score, **data, **level)
        each = [curve.y[at], curve.low[at], curve.high[at]]
        assert each == pytest.approx([found.value, *found.interval])
    for side in (curve.y, curve.low, curve.high):
        assert side[[0, -1]].tolist() == [0, 1]
    # the selected negatives are the rest, so its area follows from that of the ROC curve
    share = np.average(y, weights=data.get("sample_weight"))
    area = roc_auc_score(y, score, sample_weight=data.get("sample_weight"))
    fraction, recall = curve.extra.points.T
    assert trapezoid(recall, fraction) == pytest.approx(share / 2 + (1 - share) * area)
    assert len(curve.thresholds) == len(fraction)


def test_the_chart_of_gains():
    y, score = sample()
    display = RocCurveDisplay.from_predictions(y, score, kind="gains", name="mine")
    np.testing.assert_array_equal(display.line_.get_xydata(), display.curve.extra.points)
    assert display.ax_.get_xlabel() == "Fraction of samples"
    assert display.line_.get_label() == "mine"
    assert type(display.curve.plot()) is RocCurveDisplay
    with pytest.raises(ValueError, match="kind"):
        roc_curve_band(y, score, kind="lift")


def test_a_scorer_has_the_interval_of_its_metric():
    y, score = sample()
    by_scorer = metric_interval(get_scorer("precision_at_k", k=30), y, score)
    by_function = metric_interval(partial(precision_at_k, k=30), y, score)
    assert (by_scorer.interval, by_scorer.name) == (by_function.interval, by_function.name)
    assert metric_interval("error_rate", y, score > 1).value == np.mean(y != (score > 1))


def test_weights_do_not_take_a_perfect_selection_below_1():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(5, 40))
        weight, y = rng.random(n) + 0.1, np.ones(n, dtype=int)
        y[n // 2 :] = 0
        share, data = y @ weight / weight.sum(), (y, -np.arange(n))
        assert precision_at_k(*data, sample_weight=weight, k=0.2 * share) == 1
        assert metric_of("recall_at_k", k=share)(*data, sample_weight=weight) == 1


def test_a_selection_of_one_class_has_a_standard_error():
    """One more positive and negative would change it: (k + 1) / (k + 2) of them are positive."""
    y, score = np.arange(100) < 30, -np.arange(100)
    found = metric_interval(partial(precision_at_k, k=10), y, score)
    assert found.value == 1
    assert found.standard_error == pytest.approx(np.sqrt(11 / 12 * 1 / 12 / 10))


@pytest.mark.parametrize("metric", ["recall_at_k", "lift_at_k"])
@pytest.mark.parametrize("n", [20, 30, 70])
def test_tied_scores_that_fix_a_rate_have_no_interval(metric, n):
    """All scores are equal, so each sample counts k, whatever its class."""
    y = np.arange(2 * n) % 2
    with pytest.warns(UndefinedMetricWarning, match="no interval|undefined"):
        found = metric_interval(metric, y, np.ones(2 * n))
    assert found.value == pytest.approx(0.1 if metric == "recall_at_k" else 1)
    assert np.isnan([*found.interval]).all()


@pytest.mark.parametrize("metric", AT_K[:2])
def test_limits_are_wilsons_with_the_standard_error(metric):
    y, score = sample(n=24)
    found = metric_interval(get_scorer(metric, k=0.3), y, score)
    value, z = found.value, t.isf(0.025, 23)
    n = value * (1 - value) / found.standard_error**2
    for limit in found.interval:
        assert abs(value - limit) == pytest.approx(z * np.sqrt(limit * (1 - limit) / n))


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_lower_limit_of_ks_is_0_unless_the_test_rejects(level):
    """Some negatives, then some positives have the highest scores, then the other negatives."""
    for ahead, positives in np.ndindex(4, 31):
        y = np.repeat([0, 1, 0, 1], [ahead, positives, 50 - ahead, 30 - positives])
        found = metric_interval("ks_statistic", y, -np.arange(80), confidence_level=level)
        assert found.value == pytest.approx(max(positives / 30 - ahead / 50, 0), abs=1e-12)
        rejects = found.value > np.sqrt(-np.log((1 - level) / 2) / 2 * (1 / 30 + 1 / 50))
        assert (found.interval.low > 0) == rejects


def test_undefined_and_wrong():
    for metric in ("recall_at_k", "lift_at_k", "ks_statistic"):
        with pytest.warns(UndefinedMetricWarning, match=metric):
            assert np.isnan(metric_of(metric)([0, 0], [0.1, 0.2]))
    with pytest.raises(ValueError, match="k must be at most the number of samples, 2, got 3"):
        precision_at_k([0, 1], [0.1, 0.2], k=3)
    with pytest.raises(ValueError, match="k"):
        precision_at_k([0, 1], [0.1, 0.2], k=1.5)


def truths(share, shift, k):
    """Return the four metrics of normal scores."""
    cut = brentq(lambda c: share * norm.sf(c - shift) + (1 - share) * norm.sf(c) - k, -9, 9)
    recall = norm.sf(cut - shift)
    return {
        "precision_at_k": recall * share / k,
        "recall_at_k": recall,
        "lift_at_k": recall / k,
        "ks_statistic": 2 * norm.cdf(shift / 2) - 1,
    }


def covered(share, shift, n, n_sets):
    rng, hits = np.random.default_rng(0), dict.fromkeys([*AT_K, "ks_statistic"], 0)
    for _ in range(n_sets):
        y = np.arange(n) < max(2, rng.binomial(n, share))
        score = rng.normal(size=n) + shift * y
        for metric, truth in truths(share, shift, 0.1).items():
            hits[metric] += truth in metric_interval(metric, y, score).interval
    return hits


@pytest.mark.simulated
@pytest.mark.parametrize(("share", "shift", "n"), [(0.1, 1.0, 100), (0.5, 0.0, 100)])
def test_it_covers(share, shift, n):
    for hits in covered(share, shift, n, 60).values():
        assert binom.cdf(hits, 60, 0.94) > 0.001
