"""Intervals from labels and judgments: methods, coverage, sample size, bad input."""

import numpy as np
import pandas as pd
import pytest
from helpers.coverage import consistent_with
from numpy.testing import assert_allclose
from reference import judges as reference
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from skeval._inference.designs import limits_of_mean, regress_on_judge, stratified_mean
from skeval.model_selection import judge_assisted_interval


def draw_binary(n=60, m=400, rate=0.8, accuracy=0.9, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n + m) < rate).astype(int)
    judge = np.where(rng.random(n + m) < accuracy, y, 1 - y)
    return y[:n], judge[:n], judge[n:]


def test_binary_outcomes_have_strata():
    y, judge, others = draw_binary()
    estimate = judge_assisted_interval(y, judge, others)
    expected = reference.by_strata(y, judge, others)
    assert_allclose([estimate.value, *estimate.interval], expected)
    assert estimate.method == "strata"
    assert estimate.details["n_unlabeled"] == 400
    low, high = proportion_confint(y.sum(), 60, method="wilson")
    assert_allclose(estimate.details["relative_width"], np.ptp([*estimate.interval]) / (high - low))
    expected = reference.by_strata(y, judge, others, level=0.8)
    assert_allclose([*estimate.confidence_interval(0.8)], expected[1:])


@pytest.mark.parametrize("change", [lambda x: x.astype(bool), pd.Series, list, lambda x: x + 0.0])
def test_forms_of_binary_outcomes(change):
    arrays = draw_binary()
    expected = judge_assisted_interval(*arrays).interval
    assert_allclose([*judge_assisted_interval(*map(change, arrays)).interval], [*expected])


def test_no_other_judgments_is_wilsons_interval():
    y, judge, _ = draw_binary()
    estimate = judge_assisted_interval(y, judge)
    assert estimate.method == "labels"
    assert_allclose([*estimate.interval], proportion_confint(y.sum(), 60, method="wilson"))
    assert estimate.details["relative_width"] == 1
    assert not estimate.details["caution"]


def test_answer_without_labels():
    estimate = judge_assisted_interval(np.ones(20), np.ones(20), np.r_[np.ones(95), np.zeros(5)])
    assert estimate.method == "labels"
    assert_allclose([*estimate.interval], proportion_confint(20, 20, method="wilson"))
    assert "the judge is not used" in estimate.details["caution"]


def test_few_other_judgments_use_the_regression():
    y, judge, others = draw_binary()
    estimate = judge_assisted_interval(y, judge, others[:10])
    expected = reference.by_regression(y, judge, others[:10])
    assert_allclose([estimate.value, estimate.standard_error], expected)
    assert estimate.details["relative_width"] < 1.03


def test_differences_of_two_systems():
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 0, 1], 500, p=[0.05, 0.8, 0.15])
    judge = np.where(rng.random(500) < 0.9, y, 0)
    estimate = judge_assisted_interval(y[:50], judge[:50], judge[50:])
    assert estimate.name == "mean"
    assert -1 <= estimate.interval.low < estimate.value < estimate.interval.high <= 1
    # labels without a negative difference are still differences
    none = judge_assisted_interval(np.zeros(50), judge[:50], judge[50:])
    assert none.interval.low < 0 < none.interval.high


def test_losses_are_not_negative():
    rng = np.random.default_rng(0)
    y = rng.exponential(size=2000)
    judge = y * rng.uniform(0.5, 2, size=2000)
    estimate = judge_assisted_interval(y[:30], judge[:30], judge[30:])
    assert 0 < estimate.interval.low < estimate.value < estimate.interval.high
    assert estimate.details["relative_width"] < 0.9


def test_groups():
    y, judge, others = draw_binary(n=200, m=1000)
    groups = np.arange(1200) // 4
    estimate = judge_assisted_interval(y, judge, others, groups=groups)
    assert estimate.n_groups == 50
    assert estimate.method == "regression"
    copied = [np.repeat(array, 4) for array in (y, judge, others)]
    repeated = judge_assisted_interval(*copied, groups=np.arange(4800) // 4)
    alone = judge_assisted_interval(y, judge, others)
    assert_allclose(np.ptp([*repeated.interval]), np.ptp([*alone.interval]), rtol=0.06)


@pytest.mark.parametrize(("n", "rate", "accuracy"), [(30, 0.95, 0.9), (100, 0.8, 0.9)])
def test_coverage(n, rate, accuracy):
    # counts of 4,000 data sets; prediction-powered intervals cover .76 in the first case
    rng = np.random.default_rng(0)
    shares = [rate * (1 - accuracy), rate * accuracy]
    shares += [(1 - rate) * accuracy, (1 - rate) * (1 - accuracy)]
    counts = rng.multinomial(n, shares, 4000).astype(float)
    positive, labeled = counts[:, :2], counts[:, :2] + counts[:, 2:]
    others = rng.multinomial(20 * n, [shares[0] + shares[2], shares[1] + shares[3]], 4000)
    _, low, high = stratified_mean(labeled, positive, labeled + others, 1.959964)
    assert 0.93 <= np.mean((low <= rate) & (rate <= high)) <= 0.985


def test_coverage_of_graded_judgments():
    rng, covered, n_sets = np.random.default_rng(0), 0, 300
    for _ in range(n_sets):
        quality = rng.normal(size=500)
        judge = quality + 0.5 * rng.normal(size=500)
        y = quality[:50] > -1
        covered += 0.8413447 in judge_assisted_interval(y, judge[:50], judge[50:]).interval
    assert consistent_with(covered, n_sets, 0.95)


@pytest.mark.parametrize("binary", [True, False])
def test_coverage_of_skewed_judgments(binary):
    """The judgment is log-normal, as a likelihood or a length; raw judgments covered .88."""
    rng, covered, n_sets = np.random.default_rng(1), 0, 200
    truth = 0.5 if binary else 0.0
    for _ in range(n_sets):
        quality = rng.normal(size=660)
        judge = np.exp(2 * (quality + rng.normal(size=660)))
        y = (quality > 0) * 1.0 if binary else quality
        estimate = judge_assisted_interval(y[:60], judge[:60], judge[60:])
        assert estimate.details["relative_width"] <= 1
        covered += truth in estimate.interval
    assert consistent_with(covered, n_sets, 0.95)


def test_only_the_order_of_judgments_counts():
    rng = np.random.default_rng(2)
    judge = rng.normal(size=300)
    y = judge[:40] + rng.normal(size=40)
    expected = judge_assisted_interval(y, judge[:40], judge[40:])
    for monotone in (np.exp(3 * judge), judge**3, -np.exp(judge)):
        estimate = judge_assisted_interval(y, monotone[:40], monotone[40:])
        assert_allclose(list(estimate.interval), list(expected.interval))
        assert estimate.value == pytest.approx(expected.value)


@pytest.mark.parametrize("seed", range(10))
def test_a_useless_judge_makes_no_interval_wider(seed):
    rng = np.random.default_rng(seed)
    y, judge = rng.random(30) < 0.6, rng.integers(0, 2 + seed % 3, 200)
    estimate = judge_assisted_interval(y, judge[:30], judge[30:])
    alone = judge_assisted_interval(y, judge[:30])
    assert np.ptp(list(estimate.interval)) <= np.ptp(list(alone.interval)) * (1 + 1e-12)
    if estimate.method == "labels":
        assert list(estimate.interval) == list(alone.interval)
        assert estimate.value == alone.value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_human": [1, 0]}, "at least 3, got 2"),
        ({"judge": np.ones(59)}, "the same length"),
        ({"y_human": ["right"] * 60}, "y_human must be numbers"),
        ({"judge": ["right"] * 60}, "judge must be numbers"),
        ({"y_human": np.full(60, np.nan)}, "y_human"),
        ({"judge_unlabeled": [1, np.inf]}, "judge_unlabeled"),
        ({"judge_unlabeled": np.ones((3, 2))}, "judge_unlabeled"),
        ({"groups": np.arange(60)}, "groups must have a group for each of the 460 samples"),
        ({"groups": np.zeros(460)}, "at least two groups"),
        ({"groups": np.r_[np.zeros(60), np.arange(400)]}, "two groups with a label"),
    ],
)
def test_bad_input(change, message):
    arguments = dict(zip(("y_human", "judge", "judge_unlabeled"), draw_binary(), strict=True))
    with pytest.raises(ValueError, match=message):
        judge_assisted_interval(**(arguments | change))


def test_means_that_may_be_negative_have_a_normal_interval():
    rng = np.random.default_rng(0)
    judge = rng.normal(size=100)
    y = judge[:20] + rng.normal(size=20)
    result, alone = regress_on_judge(y, judge, None), regress_on_judge(y, judge[:20], None)
    low, high = limits_of_mean(y, result, alone, False, 0.95)
    half = stats.t.isf(0.025, result.degrees_of_freedom) * result.error
    assert_allclose([low, high], [result.value - half, result.value + half])
