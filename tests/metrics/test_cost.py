"""Costs: errors, curves and their bands; ranking loss and break-even point."""

import itertools
from functools import partial

import numpy as np
import pytest
from helpers.strategies import scored
from hypothesis import given
from numpy.testing import assert_allclose
from reference import classification, ranking
from reference import ranking as reference
from scipy.integrate import quad
from scipy.stats import binom, norm
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from skeval.metrics import (
    break_even_point,
    cost_curve,
    cost_curve_band,
    cost_sensitive_error,
    expected_cost,
    get_scorer,
    probability_cost,
    ranking_loss,
)
from skeval.model_selection import metric_interval

NAMED = {"false_positive_cost": 1, "false_negative_cost": 9}


def test_cost_sensitive_error_equals_the_reference_implementation():
    rng = np.random.default_rng(0)
    names = np.array(["ox", "cow", "elk"])
    y, p, w = rng.integers(0, 3, 40), rng.integers(0, 3, 40), rng.random(40)
    costs = rng.random((3, 3)) * 10
    np.fill_diagonal(costs, 0)
    expected = classification.mean_cost(y, p, w, lambda t, q: costs[t, q])
    got = cost_sensitive_error(names[y], names[p], cost_matrix=costs, labels=names, sample_weight=w)
    assert_allclose(got, expected, rtol=1e-12)
    # Without labels= the classes are sorted: cow, elk, ox.
    order = np.argsort(names)
    sorted_costs = costs[np.ix_(order, order)]
    assert_allclose(
        cost_sensitive_error(names[y], names[p], cost_matrix=sorted_costs, sample_weight=w),
        expected,
        rtol=1e-12,
    )


def test_an_absent_class_needs_labels():
    costs = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    with pytest.raises(ValueError, match=r"shape \(2, 2\), got \(3, 3\)[.] labels="):
        cost_sensitive_error([0, 2], [2, 2], cost_matrix=costs)
    assert cost_sensitive_error([0, 2], [2, 2], cost_matrix=costs, labels=[0, 1, 2]) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cost_matrix": [[0, 1, 1], [1, 0, 1]]}, r"shape \(2, 2\), got \(2, 3\)"),
        ({"cost_matrix": [0, 1]}, "rows and columns"),
        ({"cost_matrix": [[0, -1], [1, 0]]}, "must be >= 0, got -1"),
        ({"cost_matrix": [[1, 1], [1, 0]]}, r"zero diagonal, got \[1. 0.\]"),
        ({"cost_matrix": [[0, np.nan], [1, 0]]}, "cost_matrix contains NaN"),
        ({"cost_matrix": [[0, 1], [1, 0]], "labels": [0, 7]}, r"class that occurs, but "),
        ({"cost_matrix": [[0, 1], [1, 0]], "labels": [0, 0]}, "must not repeat"),
        ({"cost_matrix": [[0, 1], [1, 0]], "sample_weight": [0, 0]}, "only zeros"),
        ({}, "cost_matrix, or both false_positive_cost and false_negative_cost, must be passed"),
        ({"false_positive_cost": 1}, r"got cost_matrix=None and costs \(1, None\)"),
        ({**NAMED, "cost_matrix": [[0, 1], [1, 0]]}, "must be passed, got cost_matrix="),
        ({**NAMED, "labels": [0, 1, 2]}, r"at most two classes, got \[0, 1, 2\]"),
        ({**NAMED, "pos_label": 5}, "pos_label must be one of the classes"),
        ({**NAMED, "false_positive_cost": -1}, "false_positive_cost must be"),
    ],
)
def test_bad_costs(arguments, message):
    with pytest.raises(ValueError, match=message):
        cost_sensitive_error([0, 1], [1, 1], **arguments)


def test_one_convention_of_costs():
    """The cost of a table equals that of its rates at the place of its prior, times the largest."""
    y = np.repeat([0, 1], [5, 3])
    p = np.array([0, 0, 0, 1, 1, 0, 1, 1])  # 2 false positives, 1 false negative
    assert cost_sensitive_error(y, p, **NAMED) == (2 * 1 + 1 * 9) / 8 == 1.375
    assert cost_sensitive_error(y, p, cost_matrix=[[0, 1], [9, 0]]) == 1.375
    # c01 = 9 of the lecture notes is predicted 0 for true 1: rows are predicted, so transpose
    assert cost_sensitive_error(y, p, cost_matrix=np.transpose([[0, 9], [1, 0]])) == 1.375
    x = probability_cost(3 / 8, **NAMED)
    largest = 3 / 8 * 9 + 5 / 8 * 1
    assert_allclose(largest * (1 / 3 * x + 2 / 5 * (1 - x)), 1.375)
    names = np.array(["ill", "well"])[1 - y], np.array(["ill", "well"])[1 - p]
    assert cost_sensitive_error(*names, pos_label="ill", **NAMED) == 1.375
    with pytest.raises(ValueError, match="pos_label must be passed"):
        cost_sensitive_error(*names, **NAMED)
    assert cost_sensitive_error([1, 1], [1, 1], labels=[0, 1], **NAMED) == 0
    by_matrix = metric_interval(partial(cost_sensitive_error, cost_matrix=[[0, 1], [9, 0]]), y, p)
    by_name = metric_interval(partial(cost_sensitive_error, **NAMED), y, p)
    assert by_name.interval == by_matrix.interval
    scorer = get_scorer("neg_cost_sensitive_error", **NAMED)
    model = DummyClassifier(strategy="constant", constant=0).fit(y[:, None], y)
    assert scorer(model, y[:, None], y) == -27 / 8


@given(scored())
def test_envelope_is_the_best_over_all_thresholds(problem):
    y, score, weight = problem
    curve = cost_curve(y, score, sample_weight=weight)
    grid = np.linspace(0, 1, 41)
    expected = [ranking.envelope(y == 1, score, weight, x)[0] for x in grid]
    assert_allclose(curve.at(grid), expected, atol=1e-12)
    assert curve.x[0] == 0
    assert curve.x[-1] == 1
    assert (np.diff(curve.x) > 0).all()
    assert (curve.y >= -1e-15).all()
    assert (curve.at(grid) <= np.minimum(grid, 1 - grid) + 1e-12).all()


def test_area_is_the_integral():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [30, 20])
    score = rng.normal(size=50).round(1) + y
    curve = cost_curve(y, score)
    knots = curve.x
    area = sum(
        quad(lambda x: ranking.envelope(y == 1, score, np.ones(50), x)[0], a, b)[0]
        for a, b in itertools.pairwise(knots)
    )
    assert_allclose(curve.area.value, area, rtol=1e-9)
    assert expected_cost(y, score) == curve.area.value
    assert expected_cost(y, score, probability_cost=0.3) == curve.at(0.3)


def test_one_class():
    with pytest.raises(ValueError, match="must contain both classes"):
        cost_curve([1, 1], [1, 2])
    with pytest.warns(UndefinedMetricWarning, match="needs both classes"):
        assert np.isnan(expected_cost([1, 1], [1, 2]))
    with pytest.raises(ValueError, match="probability_cost must be"):
        expected_cost([0, 1], [1, 2], probability_cost=2)
    with pytest.raises(ValueError, match="y_score contains NaN"):
        cost_curve([0, 1], [1, np.nan])


def population(separation, x, cuts=None):
    """Return the lowest cost over every threshold of two normal scores, or of their classes."""
    cuts = np.linspace(-8, 8 + separation, 100_001) if cuts is None else cuts
    cuts = np.concatenate([[-np.inf], cuts, [np.inf]])
    costs = norm.sf(cuts) * (1 - x[:, None]) + norm.cdf(cuts, separation) * x[:, None]
    return costs.min(axis=1)


def covered(n, separation, n_sets, n_resamples, n_points, seed=0, cuts=None):
    """Return in how many data sets the band holds the true cost, at each x inside (0, 1)."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], n)
    x = np.linspace(0, 1, n_points)[1:-1]
    truth = population(separation, x, cuts)
    hits = np.zeros(len(x), dtype=int)
    for _ in range(n_sets):
        score = rng.normal(size=2 * n) + separation * y
        score = score if cuts is None else np.digitize(score, cuts)
        band = cost_curve_band(
            y, score, n_resamples=n_resamples, n_points=n_points, random_state=rng
        )
        hits += (band.low[1:-1] <= truth) & (truth <= band.high[1:-1])
    return hits


@pytest.mark.simulated
@pytest.mark.parametrize(("n", "separation"), [(30, 1), (100, 2)])
def test_it_covers_in_93_of_100_data_sets_at_least(n, separation):
    hits = covered(n, separation, n_sets=25, n_resamples=50, n_points=6)
    assert binom.cdf(hits, 25, 0.93).min() > 0.005


def test_groups_widen_the_band_of_a_difference():
    """With copies of independent samples as groups, more copies do not narrow the band."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    scores = [y + rng.normal(size=60) for _ in range(2)]
    copies, group = np.repeat(np.arange(60), 5), np.repeat(np.arange(60), 5)
    options = {"n_points": 5, "n_resamples": 150, "random_state": 0}
    one, other = (score[copies] for score in scores)
    grouped = cost_curve_band(y[copies], one, baseline=other, groups=group, **options)
    ignored = cost_curve_band(y[copies], one, baseline=other, **options)
    single = cost_curve_band(y, scores[0], baseline=scores[1], **options)
    assert_allclose(grouped.y, single.y)
    widths = [(band.high - band.low)[1:-1].sum() for band in (grouped, ignored, single)]
    assert 0.8 < widths[0] / widths[2] < 1.5
    assert widths[1] < 0.7 * widths[2]


def test_resamples_of_groups_have_both_classes():
    """Half of the resamples of two groups with one class each lack a class; others are drawn."""
    y, score, group = np.repeat([0, 1], 5), np.arange(10.0), np.repeat([0, 1], 5)
    band = cost_curve_band(y, score, groups=group, n_resamples=20, n_points=3, random_state=0)
    assert np.isfinite(band.extra.replicates).all()


@given(scored())
def test_equal_the_reference_implementations(problem):
    y, score, weight = problem
    for metric, expected in [
        (ranking_loss, reference.ranking_loss),
        (break_even_point, reference.break_even_point),
    ]:
        got = metric(y, score, sample_weight=weight)
        assert_allclose(got, expected(y == 1, score, weight), rtol=1e-12, atol=1e-15)
        assert type(got) is float
    auc = roc_auc_score(y, score, sample_weight=weight)
    assert_allclose(1 - ranking_loss(y, score, sample_weight=weight), auc, atol=1e-12)


def test_a_cut_without_true_positives_is_no_break_even_point():
    weight = np.array([0.2, 0.1, 0.4, 0.3])
    for unit in (1, 10, 0.1):
        value = break_even_point([0, 0, 1, 1], [2, 1, 1, 0], sample_weight=unit * weight)
        assert_allclose(value, 4 / 7)
    # A negative alone at the top says nothing of where three positives and three negatives lie.
    assert break_even_point([0, 1, 1, 1, 0, 0, 0], [2, 1, 1, 1, 1, 1, 1]) == 3 / 7


def test_break_even_point_is_precision_and_recall_where_no_tie_hides_it():
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, score = rng.integers(0, 2, 50), rng.normal(size=50)
        chosen = np.argsort(-score)[: y.sum()]
        assert break_even_point(y, score) == y[chosen].mean()


@pytest.mark.parametrize("n_positive", [1, 3, 9])
def test_constant_score_has_the_prevalence(n_positive):
    y = np.repeat([1, 0], [n_positive, 10 - n_positive])
    assert break_even_point(y, np.ones(10)) == n_positive / 10
    assert ranking_loss(y, np.ones(10)) == 0.5


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_one_class_has_no_ranking_loss(y):
    with pytest.warns(UndefinedMetricWarning, match="needs both classes in y_true"):
        assert np.isnan(ranking_loss(y, [1, 2, 3]))


def test_break_even_point_of_one_class():
    with pytest.warns(UndefinedMetricWarning, match="needs a positive sample"):
        assert np.isnan(break_even_point([0, 0], [1, 2]))
    assert break_even_point([1, 1], [1, 2]) == 1.0  # P = 1 everywhere, R = 1 at the end
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(break_even_point([0, 1], [1, 2], sample_weight=[1, 0]))
