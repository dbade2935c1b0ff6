"""Cost-sensitive error, cost curve, expected cost."""

import itertools
import json
from functools import partial

import numpy as np
import pytest
from helpers.strategies import scored
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import classification, ranking
from scipy.integrate import quad
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_curve

from skeval.metrics import (
    cost_curve,
    cost_sensitive_error,
    error_rate,
    expected_cost,
    get_scorer,
    probability_cost,
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


def test_equal_costs_are_the_error_rate_and_rows_are_true():
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 4, 50), rng.integers(0, 4, 50)
    assert_allclose(cost_sensitive_error(y, p, cost_matrix=1 - np.eye(4)), error_rate(y, p))
    assert cost_sensitive_error([1, 0], [0, 0], cost_matrix=[[0, 1], [5, 0]]) == 2.5
    assert cost_sensitive_error([0, 0], [1, 0], cost_matrix=[[0, 1], [5, 0]]) == 0.5


def test_an_absent_class_needs_labels():
    costs = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    with pytest.raises(ValueError, match=r"shape \(2, 2\), .* got \(3, 3\)"):
        cost_sensitive_error([0, 2], [2, 2], cost_matrix=costs)
    assert cost_sensitive_error([0, 2], [2, 2], cost_matrix=costs, labels=[0, 1, 2]) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cost_matrix": [[0, 1, 1], [1, 0, 1]]}, r"shape \(2, 2\), .* got \(2, 3\)"),
        ({"cost_matrix": [0, 1]}, "2D array"),
        ({"cost_matrix": [[0, -1], [1, 0]]}, "must be >= 0, got -1"),
        ({"cost_matrix": [[1, 1], [1, 0]]}, r"zero diagonal, got \[1.0, 0.0\]"),
        ({"cost_matrix": [[0, np.nan], [1, 0]]}, "cost_matrix contains NaN"),
        ({"cost_matrix": [[0, 1], [1, 0]], "labels": [0, 7]}, r"class that occurs, got none of"),
        ({"cost_matrix": [[0, 1], [1, 0]], "labels": [0, 0]}, "must not repeat"),
        ({"cost_matrix": [[0, 1], [1, 0]], "sample_weight": [0, 0]}, "only zeros"),
    ],
)
def test_bad_costs(arguments, message):
    with pytest.raises(ValueError, match=message):
        cost_sensitive_error([0, 1], [1, 1], **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "cost_matrix, or both false_positive_cost and false_negative_cost, must be given"),
        ({"false_positive_cost": 1}, "must be given, got cost_matrix=None, false_positive_cost=1"),
        ({**NAMED, "cost_matrix": [[0, 1], [1, 0]]}, "must be given, got cost_matrix="),
        ({**NAMED, "labels": [0, 1, 2]}, "at most two classes .* got 3"),
        ({**NAMED, "pos_label": 5}, "pos_label must be one of the classes"),
        ({**NAMED, "false_positive_cost": -1}, "'false_positive_cost' parameter"),
    ],
)
def test_bad_named_costs(arguments, message):
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
    with pytest.raises(ValueError, match="pos_label must be given"):
        cost_sensitive_error(*names, **NAMED)
    assert cost_sensitive_error([1, 1], [1, 1], labels=[0, 1], **NAMED) == 0
    by_matrix = metric_interval(partial(cost_sensitive_error, cost_matrix=[[0, 1], [9, 0]]), y, p)
    by_name = metric_interval(partial(cost_sensitive_error, **NAMED), y, p)
    assert by_name.interval == by_matrix.interval
    scorer = get_scorer("neg_cost_sensitive_error", **NAMED)
    model = DummyClassifier(strategy="constant", constant=0).fit(y[:, None], y)
    assert scorer(model, y[:, None], y) == -27 / 8


def test_probability_cost_by_hand():
    # p = 0.1, c01 = 10, c10 = 1: x = 1 / (1 + 0.9).
    x = probability_cost(0.1, false_negative_cost=10)
    assert_allclose(x, 1 / 1.9)
    # FNR = 0.5, FPR = 0.2: (0.5 * 1 + 0.2 * 0.9) / (1 + 0.9) = 0.68 / 1.9 = 0.358.
    y, score = [1, 1, 0, 0, 0, 0, 0], [0.9, 0.1, 0.8, 0.2, 0.2, 0.2, 0.2]
    line = cost_curve(y, score).lines[2]
    assert_allclose(line, [0.2, 0.5])
    normalized = line[1] * x + line[0] * (1 - x)
    assert_allclose(normalized, 0.68 / 1.9)
    # Under the product p c01 * (1 - p) c10 = 0.9 * 1 of some posts, a classifier that is always
    # wrong would cost (1 + 0.9) / 0.9 = 2.11 of the largest cost; under the sum it costs 1.
    worst = (1.0 * 0.1 * 10 + 1.0 * 0.9) / (0.1 * 10 * 0.9)
    assert worst > 2
    assert_allclose(1.0 * x + 1.0 * (1 - x), 1.0)
    assert probability_cost(0.3) == 0.3
    assert probability_cost(0.0) == 0.0
    assert probability_cost(1.0) == 1.0


@given(
    st.floats(0, 1),
    st.floats(0.01, 100),
    st.floats(0.01, 100),
    st.sampled_from([1e-306, 1e-160, 1e160, 1e306]),
)
def test_only_the_ratio_of_costs_counts(prior, c01, c10, unit):
    x = probability_cost(prior, false_negative_cost=c01, false_positive_cost=c10)
    scaled = probability_cost(prior, false_negative_cost=unit * c01, false_positive_cost=unit * c10)
    assert_allclose(scaled, x, rtol=1e-12)
    costs, options = np.array([[0, c10], [c01, 0]]), {"labels": [0, 1]}
    error = cost_sensitive_error([0, 0, 1, 1], [0, 1, 0, 0], cost_matrix=costs, **options)
    larger = cost_sensitive_error([0, 0, 1, 1], [0, 1, 0, 0], cost_matrix=unit * costs, **options)
    assert_allclose(larger, unit * error, rtol=1e-12)


def test_a_rare_class_that_alone_costs():
    assert probability_cost(1e-300, false_negative_cost=1e-300, false_positive_cost=0) == 1.0


@pytest.mark.parametrize("weight", [[1, 1e-20, 1, 1e-20], [1e-20, 1, 1e-20, 1], [1, 1, 1e-17, 1]])
def test_a_weight_too_small_to_move_a_sum_makes_no_nan(weight):
    curve = cost_curve([1, 1, 0, 0], [4, 3, 2, 1], sample_weight=weight)
    assert np.isfinite(curve.y).all()
    assert curve.area.value < 1e-12
    curve = cost_curve([0, 1, 0, 1], [4, 3, 2, 1], sample_weight=weight)
    assert (np.diff(curve.x) > 0).all()
    assert np.isfinite(curve.y).all()


@given(st.floats(0, 1), st.floats(0.01, 100), st.floats(0.01, 100))
def test_probability_cost_stays_in_the_unit_interval(prior, c01, c10):
    x = probability_cost(prior, false_negative_cost=c01, false_positive_cost=c10)
    assert 0 <= x <= 1
    swapped = probability_cost(1 - prior, false_negative_cost=c10, false_positive_cost=c01)
    assert_allclose(x + swapped, 1)


@pytest.mark.parametrize(
    ("prior", "costs", "message"),
    [
        (1.2, {}, "'prior' parameter"),
        (0.2, {"false_negative_cost": -1}, "'false_negative_cost' parameter"),
        (0.0, {"false_positive_cost": 0}, "needs an error with a cost"),
    ],
)
def test_bad_probability_cost(prior, costs, message):
    with pytest.raises(ValueError, match=message):
        probability_cost(prior, **costs)


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


@given(scored())
def test_thresholds_attain_the_envelope(problem):
    y, score, weight = problem
    curve = cost_curve(y, score, sample_weight=weight)
    x = (curve.x[1:] + curve.x[:-1]) / 2
    for at, threshold in zip(x, curve.thresholds, strict=True):
        said_positive = score >= threshold
        fnr = weight[(y == 1) & ~said_positive].sum() / weight[y == 1].sum()
        fpr = weight[(y == 0) & said_positive].sum() / weight[y == 0].sum()
        assert_allclose(fnr * at + fpr * (1 - at), curve.at(at), atol=1e-12)


def test_each_roc_point_is_a_line():
    rng = np.random.default_rng(2)
    y, score = np.repeat([0, 1], [30, 12]), rng.normal(size=42)
    fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)
    assert_allclose(cost_curve(y, score).lines, np.column_stack([fpr, 1 - tpr]), atol=1e-15)


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


def test_extremes():
    perfect = cost_curve([0, 0, 1, 1], [1, 2, 3, 4])
    assert perfect.area.value == 0
    assert perfect.thresholds.tolist() == [3]
    for useless in (cost_curve([0, 1], [5, 5]), cost_curve([0, 1], [6, 5])):
        assert useless.area.value == 0.25
        assert useless.x.tolist() == [0, 0.5, 1]
        assert useless.thresholds.tolist() == [np.inf, 5]


def test_result_is_readable_and_frozen():
    curve = cost_curve(["n", "n", "p", "p"], [1, 3, 2, 4], pos_label="p")
    assert str(curve).splitlines()[:2] == ["cost curve", "area 0.1250"]
    frame = curve.to_frame()
    assert list(frame.columns) == ["probability_cost", "normalized_expected_cost"]
    assert len(frame) == len(curve.thresholds) + 1
    assert json.loads(json.dumps(curve.to_dict()))["area"]["value"] == 0.125
    with pytest.raises(AttributeError):
        curve.area = None
    with pytest.raises(ValueError, match=r"probability_cost must lie in \[0, 1\], got 1.5"):
        curve.at(1.5)


def test_one_class():
    with pytest.raises(ValueError, match="must hold both classes"):
        cost_curve([1, 1], [1, 2])
    with pytest.warns(UndefinedMetricWarning, match="needs both classes"):
        assert np.isnan(expected_cost([1, 1], [1, 2]))
    with pytest.raises(ValueError, match="'probability_cost' parameter"):
        expected_cost([0, 1], [1, 2], probability_cost=2)
    with pytest.raises(ValueError, match="y_score contains NaN"):
        cost_curve([0, 1], [1, np.nan])
