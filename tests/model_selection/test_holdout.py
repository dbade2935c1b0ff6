"""holdout_error: random and selective sampling, weights, variances; the size of a test set."""

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from hypothesis import given
from hypothesis import strategies as st
from reference import holdout as reference
from reference.holdout import smallest_size, wilson_by_roots
from scipy import stats
from scipy.stats import norm
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import zero_one_loss

from skeval.model_selection import holdout_error, holdout_size, metric_interval

RATES = {"a": 0.1, "b": 0.3, "c": 0.05}
PRIORS = {"a": 0.5, "b": 0.2, "c": 0.3}


def drawn(sizes, rng):
    """Labels of given class sizes, and predictions wrong at the rates above."""
    y_true = np.repeat(list(sizes), list(sizes.values()))
    wrong = rng.random(len(y_true)) < np.array([RATES[label] for label in y_true])
    return y_true, np.where(wrong, "x", y_true)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_random_sampling(pairs):
    y_true, y_pred = map(np.array, zip(*pairs, strict=True))
    result = holdout_error(y_true, y_pred)
    wrong = sum(t != p for t, p in pairs)
    assert result.extra.n_errors == wrong
    assert result.value == pytest.approx(wrong / len(pairs))
    assert result.value == pytest.approx(zero_one_loss(y_true, y_pred))
    assert result.standard_error == pytest.approx(
        (result.value * (1 - result.value) / len(pairs)) ** 0.5
    )
    assert result.extra.variance_reduction is None


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=40), st.randoms())
def test_selective_sampling(pairs, random):
    pairs = [*pairs, (0, 0), (1, 0), (2, 2)]
    shares = np.array([random.random() + 0.01 for _ in range(3)])
    priors = dict(enumerate(shares / shares.sum()))
    y_true, y_pred = zip(*pairs, strict=True)
    result = holdout_error(y_true, y_pred, priors=priors)
    assert result.value == pytest.approx(reference.selective_error(y_true, y_pred, priors))
    variance = reference.selective_variance(y_true, y_pred, priors)
    assert result.standard_error == pytest.approx(variance**0.5)
    at_random = result.value * (1 - result.value) / len(pairs)
    assert result.extra.variance_reduction == pytest.approx(at_random - variance)


def test_priors_by_label_by_position_and_in_a_series():
    y_true, y_pred = drawn({"a": 30, "b": 30, "c": 30}, np.random.default_rng(2))
    by_label = holdout_error(y_true, y_pred, priors=PRIORS).value
    assert holdout_error(y_true, y_pred, priors=[0.5, 0.2, 0.3]).value == by_label
    series = pd.Series(PRIORS).sort_values()
    assert list(series.index) != ["a", "b", "c"]
    assert holdout_error(y_true, y_pred, priors=series).value == by_label
    assert holdout_error(pd.Series(y_true), pd.Categorical(y_pred), priors=series).value == by_label


def test_a_prior_of_zero_and_priors_equal_to_the_shares():
    y_true, y_pred = drawn({"a": 30, "b": 30}, np.random.default_rng(3))
    only_a = holdout_error(y_true, y_pred, priors={"a": 1.0, "b": 0.0})
    assert only_a.value == only_a.extra.class_errors[0]
    equal = holdout_error(y_true, y_pred, priors=[0.5, 0.5])
    assert equal.value == pytest.approx(holdout_error(y_true, y_pred).value)
    assert equal.standard_error <= holdout_error(y_true, y_pred).standard_error


def test_weights():
    rng = np.random.default_rng(4)
    y_true, y_pred = drawn({"a": 30, "b": 30, "c": 30}, rng)
    weights = rng.random(90) + 0.1
    result = holdout_error(y_true, y_pred, sample_weight=weights)
    assert result.value == pytest.approx(reference.weighted_error(y_true, y_pred, weights))
    assert result.effective_n_samples == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    same = holdout_error(y_true, y_pred, sample_weight=np.full(90, 7.0))
    plain = holdout_error(y_true, y_pred)
    assert same.value == pytest.approx(plain.value)
    assert same.standard_error == pytest.approx(plain.standard_error)
    assert same.confidence_interval().low == pytest.approx(plain.confidence_interval().low)
    selective = holdout_error(y_true, y_pred, sample_weight=weights, priors=PRIORS)
    by_class = [
        reference.weighted_error(y_true[y_true == c], y_pred[y_true == c], weights[y_true == c])
        for c in PRIORS
    ]
    assert selective.value == pytest.approx(sum(np.array(by_class) * list(PRIORS.values())))


def test_weights_against_the_variance_of_a_weighted_mean():
    rng = np.random.default_rng(5)
    weights = rng.integers(1, 4, 200).astype(float)
    errors, variances = [], []
    for _ in range(800):
        wrong = rng.random(200) < 0.3
        result = holdout_error(np.zeros(200), wrong.astype(float), sample_weight=weights)
        errors.append(result.value)
        variances.append(result.standard_error**2)
    assert abs(np.mean(variances) / np.var(errors) - 1) < 4 * (2 / 800) ** 0.5


def test_default_interval_with_priors_has_a_width_without_errors():
    result = holdout_error([0] * 20 + [1] * 20, [0] * 20 + [1] * 20, priors=[0.9, 0.1])
    interval = result.confidence_interval()
    assert interval.method == "stratified_wilson"
    assert interval.low == 0
    assert 0.1 < interval.high < 0.25
    with pytest.warns(UndefinedMetricWarning, match="both of its limits are 0"):
        normal = result.confidence_interval(method="normal")
    assert np.isnan([normal.low, normal.high]).all()


@each_value
@pytest.mark.parametrize("priors", [None, [0.5, 0.5]])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-8, 1e8, 1e160, 1e300])
def test_only_ratios_of_weights_count(scale, priors):
    y_true, y_pred, weight = [0, 0, 1, 1, 1], [0, 1, 1, 1, 0], np.array([1.0, 2, 3, 1, 2])
    plain = holdout_error(y_true, y_pred, sample_weight=weight, priors=priors)
    scaled = holdout_error(y_true, y_pred, sample_weight=scale * weight, priors=priors)
    assert scaled.value == pytest.approx(plain.value, rel=1e-12)
    assert scaled.standard_error == pytest.approx(plain.standard_error, rel=1e-12)
    assert scaled.confidence_interval().low == pytest.approx(plain.confidence_interval().low)
    assert scaled.extra.n_errors == pytest.approx(scale * plain.extra.n_errors, rel=1e-12)


def test_classes_weighted_on_scales_far_apart():
    weight = np.array([1.0, 2, 3e-200, 1e-200, 2e-200])
    result = holdout_error([0, 0, 1, 1, 1], [0, 1, 1, 1, 0], sample_weight=weight, priors=[0.5] * 2)
    assert result.value == pytest.approx((2 / 3 + 2 / 6) / 2)
    assert result.extra.class_sizes == pytest.approx([9 / 5, 36 / 14])


def test_groups_without_priors_are_those_of_accuracy():
    rng = np.random.default_rng(0)
    y_true, y_pred = drawn({"a": 40, "b": 30, "c": 50}, rng)
    rater, item = rng.integers(0, 12, 120), rng.integers(0, 15, 120)
    weights = rng.uniform(0.5, 2, 120)
    for groups in (rater, np.c_[rater, item]):
        found = holdout_error(y_true, y_pred, groups=groups, sample_weight=weights)
        right = metric_interval("accuracy", y_true, y_pred, groups=groups, sample_weight=weights)
        assert found.value == pytest.approx(1 - right.value)
        assert found.standard_error == pytest.approx(right.standard_error)
        ends, mirrored = found.confidence_interval(), right.confidence_interval(method="score")
        assert tuple(ends) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))
        assert found.n_groups == right.n_groups


def test_groups_with_priors():
    rng = np.random.default_rng(1)
    y_true, y_pred = drawn({"a": 400, "b": 400, "c": 400}, rng)
    group = rng.integers(0, 300, 1200)
    wrong, codes = y_true != y_pred, np.unique(y_true, return_inverse=True)[1]
    found = holdout_error(y_true, y_pred, priors=PRIORS, groups=group)
    assert found.value == holdout_error(y_true, y_pred, priors=PRIORS).value
    rate = np.array([wrong[codes == code].mean() for code in range(3)])
    moved = np.array(list(PRIORS.values()))[codes] / 400 * (wrong - rate[codes])
    sums = [moved[group == each].sum() for each in range(300)]
    assert found.standard_error == pytest.approx(np.linalg.norm(sums), rel=0.02)
    # copies of a sample are one group, and tell no more than the sample
    alone = holdout_error(y_true, y_pred, priors=PRIORS, groups=np.arange(1200))
    copies = [np.repeat(each, 3) for each in (y_true, y_pred, np.arange(1200))]
    threefold = holdout_error(*copies[:2], priors=PRIORS, groups=copies[2])
    assert threefold.standard_error == pytest.approx(alone.standard_error)


def test_groups_of_a_class_with_a_prior_of_zero_do_not_count():
    y_true, y_pred = drawn({"a": 60, "b": 60, "c": 60}, np.random.default_rng(2))
    group, kept = np.arange(180) % 13, y_true != "b"
    found = holdout_error(y_true, y_pred, priors={"a": 0.4, "b": 0.0, "c": 0.6}, groups=group)
    without = holdout_error(
        y_true[kept], y_pred[kept], priors={"a": 0.4, "c": 0.6}, groups=group[kept]
    )
    assert 0 < found.standard_error == pytest.approx(without.standard_error)
    assert found.interval.low == pytest.approx(without.interval.low)


def test_groups_without_errors_count_as_samples():
    y = np.tile([0, 1], 60)
    found = holdout_error(y, y, priors=[0.9, 0.1], groups=np.repeat(np.arange(12), 10))
    assert found.effective_n_samples == 12
    with pytest.raises(ValueError, match="groups must have at least two groups"):
        holdout_error(y, y, groups=np.zeros(120))


@pytest.mark.simulated
def test_coverage_in_groups_with_priors():
    rng, held, group = np.random.default_rng(2), 0, np.repeat(np.arange(20), 10)
    for _ in range(120):
        y = rng.permutation(np.repeat([0, 1], 100))
        latent = 0.3**0.5 * rng.normal(size=20)[group] + 0.7**0.5 * rng.normal(size=200)
        wrong = latent < np.where(y, stats.norm.ppf(0.3), stats.norm.ppf(0.1))
        found = holdout_error(y, np.where(wrong, 1 - y, y), priors=[0.8, 0.2], groups=group)
        ends = found.confidence_interval()
        held += ends.low <= 0.8 * 0.1 + 0.2 * 0.3 <= ends.high
    assert stats.binomtest(held, 120, 0.95).pvalue > 1e-3


def wilson(k, n, level):
    return wilson_by_roots(k, n, norm.ppf((1 + level) / 2))


@each_value
@pytest.mark.parametrize(
    ("error", "half_width"), [(0.1, 0.05), (0.5, 0.1), (0.02, 0.04), (0.3, 0.4)]
)
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_random_sampling_is_the_first_that_suffices(error, half_width, level):
    result = holdout_size(error, half_width, confidence_level=level)
    expected = smallest_size(error, half_width, wilson, level)
    assert result.n_samples == expected
    assert result.half_width <= half_width
    assert result.per_class is None


@each_value
@pytest.mark.parametrize("error", [0.0, 1.0])
def test_no_errors_expected(error):
    expected = smallest_size(error, 0.02, wilson, 0.95)
    assert holdout_size(error, 0.02).n_samples == expected


@each_value
@pytest.mark.parametrize("allocation", ["proportional", "optimal"])
@pytest.mark.parametrize(
    ("errors", "priors"),
    [([0.05, 0.3], [0.9, 0.1]), ([0.1, 0.2, 0.3], [0.2, 0.3, 0.5]), (0.1, [0.4, 0.6])],
)
def test_selective_sampling_reaches_the_width_and_hardly_more(errors, priors, allocation):
    result = holdout_size(errors, 0.03, priors=priors, allocation=allocation)
    errors, priors = np.broadcast_to(errors, len(priors)), np.array(priors)

    def half(sizes):
        return norm.ppf(0.975) * np.sqrt(np.sum(priors**2 * errors * (1 - errors) / sizes))

    sizes = np.array(result.per_class)
    assert result.n_samples == sizes.sum()
    assert result.half_width == pytest.approx(half(sizes))
    assert half(sizes) <= 0.03
    # each class was rounded up by less than one
    assert half(sizes - 1) > 0.03
    if allocation == "proportional":
        np.testing.assert_allclose(sizes / sizes.sum(), priors, atol=2 / sizes.sum())


def test_neyman_needs_no_more_than_any_other_allocation():
    errors, priors = np.array([0.02, 0.4]), np.array([0.7, 0.3])
    best = holdout_size(errors, 0.02, priors=priors, allocation="optimal").n_samples
    z = norm.ppf(0.975)
    for share in np.linspace(0.02, 0.98, 49):
        needed = (z / 0.02) ** 2 * np.sum(
            priors**2 * errors * (1 - errors) / np.array([share, 1 - share])
        )
        assert best <= needed + 2


def test_a_class_without_errors_still_gets_a_sample():
    sizes = holdout_size([0.0, 0.3], 0.03, priors=[0.5, 0.5], allocation="optimal").per_class
    assert sizes[0] == 1


@pytest.mark.parametrize("priors", [None, [0.5, 0.5]])
def test_a_size_that_no_integer_holds_is_refused(priors):
    with pytest.raises(ValueError, match="half_width must be larger"):
        holdout_size(0.1, 1e-12, priors=priors)
