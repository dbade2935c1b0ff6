"""Curves with bands, net benefit, dominance, and what must not matter to any curve."""

from functools import partial

import numpy as np
import pytest
from helpers.published_scores import DCURVES, FAMILY_HISTORY, TREAT_ALL, decision_patients
from helpers.strategies import scored
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import curves as reference
from reference.ranking import value_on_curve
from scipy.stats import binom, norm
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve
from sklearn.metrics import roc_auc_score as sk_area

from skeval.metrics import (
    cost_curve_band,
    curve_dominance,
    net_benefit,
    precision_recall_curve_band,
    roc_auc_score,
    roc_curve_band,
)
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


def test_the_interval_of_the_area_is_that_of_metric_interval():
    y, score = problem()
    found = roc_curve_band(y, score, n_resamples=2).area.interval
    expected = metric_interval(roc_auc_score, y, score).interval
    assert_allclose((found.low, found.high), (expected.low, expected.high))


@pytest.mark.parametrize(
    ("n", "n_positive"), [(40, 4), (800, 8), (2000, 20), (2000, 200), (40_000, 8)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_area_of_a_rare_class_is_that_of_the_other_class(n, n_positive, weighted):
    # few positives are compared with the others, and many are sorted with them
    rng = np.random.default_rng(n_positive)
    y = rng.permutation(np.arange(n) < n_positive)
    score = (2 * rng.normal(size=n) + 2 * y).round(1)  # with ties
    weight = rng.integers(1, 4, n) if weighted else None
    one, other = (
        roc_curve_band(labels, values, sample_weight=weight, n_resamples=2, n_points=3).area
        for labels, values in ((y, score), (~y, -score))
    )
    assert one.value == pytest.approx(sk_area(y, score, sample_weight=weight), abs=1e-12)
    assert_allclose(one.value, other.value, rtol=1e-12)
    assert_allclose(one.standard_error, other.standard_error, rtol=1e-12)


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


def reference_winner(a, b):
    """Compare just before and after every knot, where alone polylines can differ in sign first."""
    above = below = False
    for x in {*a[0], *b[0]}:
        for side in (-1, 1):
            if not (x == 0 and side < 0) and not (x == 1 and side > 0):
                difference = value_on_curve(*a, x, side) - value_on_curve(*b, x, side)
                above, below = above or difference > 1e-6, below or difference < -1e-6
    return {(0, 0): "equal", (1, 0): "a", (0, 1): "b", (1, 1): "cross"}[above, below]


SCORES = st.lists(st.integers(0, 3), min_size=10, max_size=10)
labels_and_scores = given(st.lists(st.integers(0, 1), min_size=2, max_size=8), SCORES, SCORES)


@labels_and_scores
def test_roc_winner_equals_the_reference_implementation(y, first, second):
    y = [0, 1, *y]
    a, b = (roc_curve(y, score[: len(y)])[:2] for score in (first, second))
    winner, crossings = curve_dominance(a, b)
    assert winner == reference_winner(a, b)
    mirrored_winner, mirrored = curve_dominance(b, a)
    assert mirrored_winner == {"a": "b", "b": "a"}.get(winner, winner)
    assert (winner == "cross") == (len(crossings) > 0)
    assert_allclose(mirrored, crossings, atol=1e-12)
    for x, height in crossings:  # on both curves, a vertical step included
        for curve in (a, b):
            ends = [value_on_curve(*curve, x, side) for side in (-1, 1) if 0 < x < 1]
            assert min(ends) - 1e-6 <= height <= max(ends) + 1e-6


@labels_and_scores
def test_pr_winner_equals_the_reference_implementation(y, first, second):
    y = [0, 1, *y]
    a, b = (precision_recall_curve(y, score[: len(y)]) for score in (first, second))
    flat_a, flat_b = ((recall[::-1], precision[::-1]) for precision, recall, _ in (a, b))
    assert curve_dominance(a, b, kind="pr")[0] == reference_winner(flat_a, flat_b)


@given(
    st.lists(st.integers(0, 1), min_size=2, max_size=8),
    st.lists(st.integers(0, 3), min_size=10, max_size=10),
    st.lists(st.integers(0, 3), min_size=10, max_size=10),
    st.integers(0, 2**32 - 1),
)
def test_rounding_of_x_changes_nothing(y, first, second, seed):
    """Sums of weights in another order put the steps of two curves one bit apart."""
    y = np.array([0, 1, *y])
    a, b = (roc_curve(y, s[: len(y)], drop_intermediate=False) for s in (first, second))
    rng = np.random.default_rng(seed)

    def moved(curve):
        x = curve[0] * (1 + rng.integers(-9, 10, size=len(curve[0])) * 1e-15)
        return np.sort(x + (curve[0] == 0) * rng.integers(0, 3, len(x)) * 5e-324), curve[1]

    plain, rounded = curve_dominance(a, b), curve_dominance(moved(a), moved(b))
    assert rounded[0] == plain[0]
    assert_allclose(rounded[1], plain[1], atol=1e-9)


SIMULATED = {"n_resamples": 30, "n_points": 21, "random_state": 5}
CURVES = {
    "roc": partial(roc_curve_band, **SIMULATED),
    "precision_recall": partial(precision_recall_curve_band, **SIMULATED),
    "cost": partial(cost_curve_band, **SIMULATED),
    "net_benefit": partial(net_benefit, thresholds=[0.1, 0.3, 0.6]),
}
DIFFERENCES = {name: CURVES[name] for name in ("cost", "net_benefit")}
EACH = [(name, False) for name in CURVES] + [(name, True) for name in DIFFERENCES]
each_curve = pytest.mark.parametrize(("name", "difference"), EACH)


def two_models(n=60):
    """Return classes and the probabilities of two models, with ties."""
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 3 == 0).astype(int)
    odds = [np.rint(5 * (2 * y - 1 + 2 * rng.normal(size=n))) for _ in range(2)]
    return y, *(1 / (1 + np.exp(-values / 5)) for values in odds)


def ends_of(name, difference, y, p, other, **options):
    """Return the curve with its pointwise limits and its band."""
    baseline = {"baseline": other} if difference else {}
    curve = CURVES[name](y, p, **baseline, **options)
    return np.array([curve.y, curve.low, curve.high, *(curve.band or ())])


@each_curve
def test_order_names_and_the_unit_of_weights_change_nothing(name, difference):
    y, p, other = two_models()
    weight = np.random.default_rng(1).random(60) + 0.1
    expected = ends_of(name, difference, y, p, other, sample_weight=weight)
    # resamples of the cost curve follow the order of the samples
    order = np.arange(60) if name == "cost" else np.random.default_rng(2).permutation(60)
    named = np.array(["well", "ill"])[y[order]]
    options = {"pos_label": "ill", "sample_weight": 1e100 * weight[order]}
    changed = ends_of(name, difference, named, p[order], other[order], **options)
    assert_allclose(changed, expected, atol=1e-5)


@pytest.mark.parametrize("name", ["roc", "precision_recall", "cost"])
@pytest.mark.parametrize("change", [np.exp, np.arctan, lambda s: 1e6 * s - 3])
def test_increasing_functions_of_the_score_change_nothing(name, change):
    y, p, _ = two_models()
    found = ends_of(name, False, y, change(p), None)
    assert_allclose(found, ends_of(name, False, y, p, None), rtol=0, atol=1e-12)


@each_curve
def test_samples_without_weight_are_absent_and_equal_weights_are_none(name, difference):
    y, p, other = two_models()
    plain = ends_of(name, difference, y, p, other)
    assert_allclose(ends_of(name, difference, y, p, other, sample_weight=np.full(60, 7)), plain)
    seen = np.arange(60) % 4 > 0
    absent = ends_of(name, difference, y, p, other, sample_weight=seen)
    expected = ends_of(name, difference, y[seen], p[seen], other[seen])
    assert_allclose(absent, expected, atol=1e-5)


@each_curve
def test_limits_enclose_the_curve_and_widen_with_the_level(name, difference):
    y, p, other = two_models()
    narrow, wide = (
        ends_of(name, difference, y, p, other, confidence_level=level) for level in (0.8, 0.99)
    )
    for value, low, high, *band in (narrow, wide):
        if not (difference and name == "cost"):  # quantiles of differences may exclude it
            assert (low <= value + 1e-12).all()
            assert (value <= high + 1e-12).all()
        assert not band or ((band[0] <= low).all() and (high <= band[1]).all())
    assert (wide[1] <= narrow[1]).all()
    assert (narrow[2] <= wide[2]).all()


@pytest.mark.parametrize("name", CURVES)
def test_perfect_predictions_leave_a_width(name):
    y = np.repeat([0, 1], [30, 10])
    _, low, high, *_ = ends_of(name, False, y, y.astype(float), None)
    assert (high - low)[1:-1].min() > 0.02


@pytest.mark.parametrize("name", ["roc", "precision_recall", "net_benefit"])
def test_copies_in_a_group_count_once(name):
    y, p, _ = two_models(240)
    alone = ends_of(name, False, y, p, None, groups=np.arange(240))
    copies = (np.repeat(values, 3) for values in (y, p, np.arange(240)))
    y_copied, p_copied, groups = copies
    grouped = ends_of(name, False, y_copied, p_copied, None, groups=groups)
    assert_allclose(grouped[:3], alone[:3], atol=0.01)
    names = np.array([f"patient {i}" for i in groups])
    assert_allclose(ends_of(name, False, y_copied, p_copied, None, groups=names), grouped)
    free = ends_of(name, False, y_copied, p_copied, None)
    assert np.mean(free[2] - free[1]) < np.mean(grouped[2] - grouped[1])


@pytest.mark.parametrize("name", ["roc", "precision_recall", "cost"])
def test_seeds(name):
    y, p, _ = two_models()

    def run(seed, n_resamples=6):
        curve = CURVES[name](y, p, n_resamples=n_resamples, random_state=seed)
        return curve.extra.replicates if name == "cost" else curve.extra.distances

    assert_array_equal(run(1), run(1))
    assert_array_equal(run(1), run(1, 9)[:6])
    assert np.abs(run(1) - run(2)).max() > 0
    assert np.abs(run(None) - run(None)).max() > 0


def test_numbers_of_dcurves():
    y, proba = decision_patients()
    curve = net_benefit(y, proba, thresholds=list(DCURVES))
    assert_allclose(curve.y, [row[2] for row in DCURVES.values()], rtol=1e-12)
    curve = net_benefit(y, proba, thresholds=list(TREAT_ALL))
    assert_allclose(curve.columns["treat_all"], list(TREAT_ALL.values()), rtol=1e-12)
    assert_allclose(
        net_benefit(y, np.ones(750), thresholds=list(TREAT_ALL)).y, curve.columns["treat_all"]
    )
    history = np.zeros(750)
    history[:24], history[105 : 105 + 91] = 1, 1  # of 0.032 and 0.1213 of the patients
    found = net_benefit(y, history, thresholds=list(FAMILY_HISTORY)).y
    assert_allclose(found, list(FAMILY_HISTORY.values()), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:y_proba looks reversed")
@given(scored())
@settings(max_examples=15)
def test_it_is_its_definition(data):
    y, score, weight = data
    proba, thresholds = score / 6, [0.0, 0.1, 1 / 3, 0.5, 0.9]
    found = net_benefit(y, proba, sample_weight=weight, thresholds=thresholds)
    expected = [reference.net_benefit(y == 1, proba, t, weight) for t in thresholds]
    assert_allclose(found.y, expected, atol=1e-12)
    assert_allclose(found.columns["treat_all"][0], found.extra.prevalence)
    repeats = weight.astype(int)
    repeated = net_benefit(np.repeat(y, repeats), np.repeat(proba, repeats), thresholds=thresholds)
    assert_allclose(found.y, repeated.y, atol=1e-12)


def models(seed=0, n=90):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    scores = rng.normal(size=(2, n)) + np.array([[1.5], [0.7]]) * y
    return y, *(1 / (1 + np.exp(1 - score)) for score in scores)


def test_a_difference_is_that_of_two_curves_and_turns_round():
    y, proba, other = models()
    difference = net_benefit(y, proba, baseline=other)
    one, two = net_benefit(y, proba), net_benefit(y, other)
    assert difference.extra.is_difference
    assert_allclose(difference.y, one.y - two.y, atol=1e-12)
    turned = net_benefit(y, other, baseline=proba)
    assert_allclose(turned.y, -difference.y, atol=1e-12)
    assert_allclose(turned.low, -difference.high, atol=2e-5)
    middle = np.arange(20, 50)
    paired = difference.high - difference.low
    apart = np.hypot(one.high - one.low, two.high - two.low)
    assert np.mean(paired[middle]) < np.mean(apart[middle])  # for the same samples judge both


def test_a_threshold_does_not_ask_about_the_others():
    """In any order, twice, or at a probability that occurs."""
    y, proba, other = models()
    thresholds = [0.5, 0.2, float(proba[0]), 0.5, 0.0]
    groups = np.arange(len(y)) // 3
    for given_groups, baseline in ((None, None), (None, other), (groups, other)):
        options = {"groups": given_groups, "baseline": baseline}
        found = net_benefit(y, proba, thresholds=thresholds, **options)
        alone = [net_benefit(y, proba, thresholds=[each], **options) for each in thresholds]
        for name in ("y", "low", "high"):
            expected = [getattr(each, name)[0] for each in alone]
            assert_allclose(getattr(found, name), expected, rtol=0, atol=1e-9)


def test_it_reads_and_refuses():
    y, proba, _ = models()
    curve = net_benefit(y, proba)
    assert str(curve).splitlines()[0] == "net benefit"
    columns = ["threshold", "net_benefit", "low", "high", "treat_all"]
    assert list(curve.to_frame().columns) == columns
    assert_array_equal(curve.thresholds, np.arange(1, 100) / 100)
    with pytest.raises(ValueError, match="y_proba must lie between 0 and 1, got -"):
        net_benefit(y, proba - 1 - proba.min())
    with pytest.raises(ValueError, match="baseline must lie between 0 and 1"):
        net_benefit(y, proba, baseline=2 * proba + 1)
    for wrong in ([1.0], [-0.1, 0.5]):
        with pytest.raises(ValueError, match=r"thresholds must lie in \[0, 1\)"):
            net_benefit(y, proba, thresholds=wrong)
    with pytest.raises(ValueError, match="thresholds must have one column"):
        net_benefit(y, proba, thresholds=[[0.1, 0.2]])
    with pytest.raises(ValueError, match="at least two groups"):
        net_benefit(y, proba, groups=np.zeros(90))
    with pytest.raises(ValueError, match="pos_label"):
        net_benefit(y + 3, proba)


def test_standardized_net_benefit_is_relative_to_the_prevalence():
    rng = np.random.default_rng(0)
    y, proba, other = rng.random(80) < 0.3, rng.random(80), rng.random(80)
    weight = rng.integers(1, 4, 80)
    for options in ({}, {"baseline": other}, {"sample_weight": weight}):
        plain = net_benefit(y, proba, **options)
        standard = net_benefit(y, proba, standardize=True, **options)
        share = plain.extra.prevalence
        np.testing.assert_allclose(standard.y, plain.y / share, atol=1e-12)
        np.testing.assert_allclose(
            standard.columns["treat_all"], plain.columns["treat_all"] / share, atol=1e-12
        )
        assert np.all(standard.low <= standard.y)
        assert np.all(standard.y <= standard.high)
    # a perfect model has 1, and no model more
    perfect = net_benefit(y, y.astype(float), standardize=True)
    np.testing.assert_allclose(perfect.y, 1.0)
    assert np.all(perfect.high <= 1 + 1e-9)
    with pytest.raises(ValueError, match="a positive sample for standardize=True"):
        net_benefit([0, 0], [0.1, 0.2], standardize=True)


def covered_benefit(n, rate, area, n_sets, seed=0, standardize=False):
    """Return how many intervals hold the net benefit of one model, and of a difference."""
    rng, thresholds = np.random.default_rng(seed), rate * np.array([0.5, 1, 1.5])
    odds = thresholds / (1 - thresholds)
    shifts = [np.sqrt(2) * norm.ppf(a) for a in (area, (area + 0.5) / 2)]
    cuts = [(np.log(odds * (1 - rate) / rate) + s**2 / 2) / s for s in shifts]
    truths = [
        rate * norm.sf(cut - shift) - (1 - rate) * odds * norm.sf(cut)
        for cut, shift in zip(cuts, shifts, strict=True)
    ]
    truths = [truth / (rate if standardize else 1) for truth in truths]
    options = {"thresholds": thresholds, "standardize": standardize}
    hits = np.zeros((2, 3), dtype=int)
    for _ in range(n_sets):
        y = (rng.random(n) < rate).astype(int)
        odds_of = [
            rate / (1 - rate) * np.exp(s * (rng.normal(size=n) + s * y) - s**2 / 2) for s in shifts
        ]
        proba, other = (o / (1 + o) for o in odds_of)
        one = net_benefit(y, proba, **options)
        two = net_benefit(y, proba, baseline=other, **options)
        hits[0] += (one.low <= truths[0]) & (truths[0] <= one.high)
        hits[1] += (two.low <= truths[0] - truths[1]) & (truths[0] - truths[1] <= two.high)
    return hits


@pytest.mark.simulated
def test_it_covers_in_93_of_100_data_sets_at_least():
    assert binom.cdf(covered_benefit(50, 0.1, 0.9, 60), 60, 0.93).min() > 0.005


@pytest.mark.simulated
def test_standardized_net_benefit_covers():
    hits = covered_benefit(100, 0.3, 0.8, 40, standardize=True)
    assert binom.cdf(hits, 40, 0.93).min() > 0.005
