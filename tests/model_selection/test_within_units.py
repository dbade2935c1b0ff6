"""Metrics averaged over units: values, intervals, units left out, and paired comparisons."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference.holdout import wilson_by_roots
from reference.within_units import mean_over_units
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, f1_score, mean_squared_error, ndcg_score, roc_auc_score

from skeval.metrics.cluster import mask_rand_score
from skeval.model_selection import compare_predictions, metric_interval

RNG = np.random.default_rng(0)
SUBJECT = np.repeat([f"s{k}" for k in range(8)], 12)
Y = np.tile([0, 1], 48)
SCORE = RNG.normal(Y * np.repeat(RNG.normal(1, 0.5, 8), 12))
OTHER = SCORE + RNG.normal(size=96)


def test_interval_is_that_of_the_reference():
    found = metric_interval(roc_auc_score, Y, SCORE, within=SUBJECT)
    mean, error, df = mean_over_units(roc_auc_score, Y, SCORE, SUBJECT)
    assert_allclose([found.value, found.standard_error], [mean, error])
    half = stats.t.ppf(0.975, df) * error
    student = found.confidence_interval(method="t")
    assert_allclose(list(student), [mean - half, min(mean + half, 1)], rtol=1e-6)
    # limits of Wilson: (mean - t)^2 = quantile^2 error^2 t (1 - t) / (mean (1 - mean))
    for limit in found.interval:
        scale = limit * (1 - limit) / (mean * (1 - mean))
        assert_allclose(abs(limit - mean), half * scale**0.5, rtol=1e-6)
    values = list(found.details["unit_values"].values())
    assert_allclose([error, df], [stats.sem(values), 7])


def test_units_may_come_in_any_order_and_by_any_name():
    found = metric_interval(roc_auc_score, Y, SCORE, within=SUBJECT)
    order = RNG.permutation(96)
    shuffled = metric_interval(roc_auc_score, Y[order], SCORE[order], within=SUBJECT[order])
    renamed = metric_interval(
        roc_auc_score, Y, SCORE, within=np.repeat([5, 3, 8, 1, 9, 2, 7, 0], 12)
    )
    for other in (shuffled, renamed):
        assert_allclose(list(other.interval), list(found.interval))
    assert found.details["unit_values"]["s2"] == roc_auc_score(Y[24:36], SCORE[24:36])


def test_one_sample_per_unit_is_the_mean_of_a_loss():
    alone = metric_interval(mean_squared_error, Y, SCORE, within=np.arange(96))
    plain = metric_interval(mean_squared_error, Y, SCORE, method="t")
    assert_allclose(list(alone.interval), list(plain.interval))


def test_sample_weights_count_within_units():
    weight = RNG.random(96) + 0.1
    found = metric_interval(roc_auc_score, Y, SCORE, within=SUBJECT, sample_weight=weight)
    expected = roc_auc_score(Y[:12], SCORE[:12], sample_weight=weight[:12])
    assert_allclose(found.details["unit_values"]["s0"], expected)


def test_result_names_the_mean():
    text = str(metric_interval("roc_auc", Y, SCORE, within=SUBJECT))
    assert "mean over 8 units" in text
    several = metric_interval(["roc_auc", "average_precision"], Y, SCORE, within=SUBJECT)
    assert list(several) == ["roc_auc", "average_precision"]


def test_undefined_units_are_named_and_left_out():
    y = Y.copy()
    y[12:24] = 1
    with pytest.warns(UndefinedMetricWarning, match="1 of 8 units, which are left out: s1"):
        found = metric_interval(roc_auc_score, y, SCORE, within=SUBJECT)
    rest = SUBJECT != "s1"
    expected = metric_interval(roc_auc_score, y[rest], SCORE[rest], within=SUBJECT[rest])
    assert_allclose(list(found.interval), list(expected.interval))
    with pytest.raises(ValueError, match="at least two units in which the metric is defined"):
        metric_interval(roc_auc_score, np.ones(96), SCORE, within=SUBJECT)


def test_comparison_is_that_of_the_differences_of_units():
    options = {"within": SUBJECT}
    two = {"a": SCORE, "b": OTHER}
    found = compare_predictions(Y, two, metric=roc_auc_score, **options)
    each = [metric_interval(roc_auc_score, Y, s, **options) for s in (SCORE, OTHER)]
    assert_allclose(found.values, [one.value for one in each])

    def difference(_, rows):
        a, b = np.array(rows).T
        y = Y[:12]
        return roc_auc_score(y, a) - roc_auc_score(y, b)

    pairs = np.column_stack([SCORE, OTHER])
    mean, error, df = mean_over_units(difference, Y, pairs, SUBJECT)
    half = stats.t.ppf(0.975, df) * error
    assert_allclose(list(found.difference.interval), [mean - half, mean + half], rtol=1e-6)
    assert "mean over 8 units" in str(found)


BAD = {
    "length": ({"within": SUBJECT[:5]}, "within must have a unit for each of 96"),
    "text": ({"within": "subject"}, "within must have a unit for each of 96"),
    "nan": ({"within": np.r_[np.nan, np.zeros(95)]}, "within must not contain missing values"),
    "one": ({"within": np.zeros(96)}, "within must contain at least two units"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_units_are_refused(case):
    options, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        metric_interval(roc_auc_score, Y, SCORE, **options)
    with pytest.raises(ValueError, match=message):
        compare_predictions(
            Y, {"a": SCORE, "b": OTHER}, metric=roc_auc_score, method="max_t", **options
        )


@pytest.mark.parametrize("options", [{"groups": SUBJECT}, {"by": SUBJECT}, {"method": "bca"}])
def test_options_that_do_not_apply_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        metric_interval(roc_auc_score, Y, SCORE, within=SUBJECT, **options)


@pytest.mark.parametrize(("n_units", "size", "a"), [(20, 5, 19), (5, 20, 19)])
def test_intervals_cover_means_near_one(n_units, size, a):
    """Student's interval covered 0.86 and 0.88, with limits above 1."""
    rng, covered = np.random.default_rng(n_units), 0
    units = np.repeat(np.arange(n_units), size)
    for _ in range(100):
        right = rng.random(len(units)) < rng.beta(a, 1, n_units)[units]
        found = metric_interval(accuracy_score, np.ones(len(units)), right * 1.0, within=units)
        assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1
        covered += a / (a + 1) in found.interval
    assert stats.binomtest(covered, 100, 0.95, "less").pvalue > 0.01


@pytest.mark.parametrize(("right", "n"), [(5, 100 / 2.2), (0, 100 / 2.2), (4, 100)])
def test_equal_units_have_the_interval_of_a_proportion(right, n):
    """20 units of 5 samples: if all are on a bound, the design effect is 1 + 4 x 0.3."""
    units = np.repeat(np.arange(20), 5)
    y_pred = (np.tile(np.arange(5), 20) < right) * 1.0
    found = metric_interval(accuracy_score, np.ones(100), y_pred, within=units)
    expected = wilson_by_roots(n * right / 5, n, stats.t.ppf(0.975, 19))
    assert_allclose(list(found.interval), expected, atol=1e-12)


@pytest.mark.parametrize(("n_units", "size"), [(8, 50), (5, 20), (12, 20), (30, 10)])
@pytest.mark.parametrize("spread", [True, False])
@pytest.mark.parametrize("wrong", [True, False])
def test_more_errors_never_raise_a_limit(n_units, size, spread, wrong):
    """One error in each of the first units, or all in the first one; and successes likewise."""
    ends = []
    for n_errors in range(min(n_units, size)):
        y_pred = np.full((n_units, size), 1 - wrong)
        y_pred.flat[np.arange(n_errors) * (size if spread else 1)] = wrong
        found = metric_interval(
            accuracy_score,
            np.zeros(n_units * size, int),
            y_pred.ravel(),
            within=np.repeat(np.arange(n_units), size),
        )
        ends.append(list(found.interval))
    steps = np.diff(ends, axis=0) * (1 if wrong else -1)
    assert np.all(steps <= 1e-12)


@pytest.mark.simulated
@pytest.mark.parametrize(("n_units", "size", "widest"), [(8, 50, 0.3), (30, 10, 0.13)])
@pytest.mark.parametrize("share", [0.02, 0.05])
def test_intervals_cover_where_a_unit_fails_now_and_then(n_units, size, widest, share):
    rng, covered, width = np.random.default_rng(n_units), 0, []
    units = np.repeat(np.arange(n_units), size)
    for _ in range(200):
        rate = np.where(rng.random(n_units) < share, 0.5, 0.99)
        right = rng.random(len(units)) < rate[units]
        found = metric_interval(accuracy_score, np.ones(len(units)), right * 1.0, within=units)
        covered += 0.5 * share + 0.99 * (1 - share) in found.interval
        width.append(found.interval.high - found.interval.low)
    assert stats.binomtest(covered, 200, 0.95, "less").pvalue > 0.01
    assert np.median(width) < widest


@pytest.mark.parametrize("options", [{"method": "bootstrap"}, {"groups": SUBJECT}])
def test_comparisons_that_do_not_average_are_refused(options):
    two = {"a": SCORE, "b": OTHER}
    with pytest.raises(ValueError, match="within must be None unless method='max_t'"):
        compare_predictions(Y, two, metric=roc_auc_score, within=SUBJECT, **options)


def test_scores_of_samples_are_averaged_within_units():
    right = {name: (s > 0.5) == Y for name, s in {"a": SCORE, "b": OTHER}.items()}
    scores = compare_predictions(None, right, within=SUBJECT)
    labels = {name: np.where(one, Y, 1 - Y) for name, one in right.items()}
    known = compare_predictions(Y, labels, within=SUBJECT)
    assert_allclose(list(scores.difference.interval), list(known.difference.interval))


def test_metrics_of_queries_masks_and_tasks():
    relevance = RNG.integers(0, 4, 96)

    def ndcg(y_true, y_score):
        return ndcg_score([y_true], [y_score])

    found = metric_interval(ndcg, relevance, SCORE, within=SUBJECT)
    values = [ndcg_score([relevance[k : k + 12]], [SCORE[k : k + 12]]) for k in range(0, 96, 12)]
    assert_allclose(found.value, np.mean(values))
    assert_allclose(found.standard_error, stats.sem(values))

    # masks of 12 images of 4 patients
    true = RNG.integers(0, 2, (12, 6, 6))
    pred = np.where(RNG.random(true.shape) < 0.2, 1 - true, true)
    patient = np.arange(12) // 3
    found = metric_interval(mask_rand_score, true, pred, within=patient)
    values = [
        mask_rand_score(true[k : k + 3], pred[k : k + 3], per_image=True) for k in (0, 3, 6, 9)
    ]
    assert_allclose(list(found.details["unit_values"].values()), values)

    def dice(y_true, y_pred):
        return f1_score(np.ravel(y_true), np.ravel(y_pred))

    found = metric_interval(dice, true, pred, within=np.arange(12))
    assert_allclose(found.value, np.mean([dice(*pair) for pair in zip(true, pred, strict=True)]))

    # tasks with different classes: the macro average over tasks
    tasks = np.where(np.arange(96) < 40, "sentiment", "topic")
    labels = np.where(tasks == "topic", relevance + 10, Y)
    predicted = np.where(RNG.random(96) < 0.3, labels[RNG.permutation(96)], labels)
    found = metric_interval(accuracy_score, labels, predicted, within=tasks)
    values = [np.mean((labels == predicted)[tasks == name]) for name in ("sentiment", "topic")]
    assert_allclose(found.value, np.mean(values))
