"""Intervals of any metric: which method, its numbers, its seeds, what it refuses."""

import pickle
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from reference import metric_intervals as reference
from scipy import stats
from scipy.stats import binomtest
from sklearn import metrics as sk
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    fbeta_score,
    hamming_loss,
    jaccard_score,
    log_loss,
    matthews_corrcoef,
    mean_absolute_error,
    mean_pinball_loss,
    mean_squared_error,
    median_absolute_error,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
    root_mean_squared_error,
)
from statsmodels.stats.weightstats import DescrStatsW

import skeval
from skeval.metrics import (
    bleu_score,
    cost_sensitive_error,
    error_norm,
    error_rate,
    log_bleu_score,
    macro_fbeta_score,
    micro_fbeta_score,
    ranking_loss,
    weighted_fbeta_score,
)
from skeval.metrics.cluster import mask_rand_score
from skeval.model_selection import ConfidenceInterval, compare_predictions, metric_interval


def classes(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return y, np.where(rng.random(n) < 0.25, rng.integers(0, 3, n), y)


def binary(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], [n - n // 4, n // 4]))
    return y, rng.normal(size=n) + 1.2 * y


METHODS = {
    error_rate: "wilson",
    accuracy_score: "wilson",
    hamming_loss: "wilson",
    macro_fbeta_score: "score",
    micro_fbeta_score: "score",
    weighted_fbeta_score: "score",
    partial(f1_score, average="macro"): "score",
    partial(fbeta_score, beta=2, average="weighted", labels=[0, 2]): "score",
    partial(precision_score, average="micro"): "score",
    partial(jaccard_score, average="macro"): "score",
    partial(weighted_fbeta_score, class_weight={0: 1, 1: 2, 2: 3}): "score",
    partial(cost_sensitive_error, cost_matrix=1 - np.eye(3)): "score",
    partial(cohen_kappa_score, weights="linear"): "score",
    matthews_corrcoef: "score",
    balanced_accuracy_score: "score",
    mean_squared_error: "log",
    mean_absolute_error: "log",
    root_mean_squared_error: "log",
    r2_score: "log",
    partial(accuracy_score, normalize=True): "wilson",
}


@pytest.mark.parametrize("metric", METHODS, ids=lambda metric: getattr(metric, "__name__", None))
def test_auto_says_which_method_it_used(metric):
    y, p = classes()
    p = p.astype(float) if metric is r2_score else p
    result = metric_interval(metric, y, p, n_resamples=50, random_state=0)
    assert result.method == METHODS[metric]
    assert result.value == pytest.approx(metric(y, p))
    assert result.interval.low < result.value < result.interval.high
    assert isinstance(result.interval, ConfidenceInterval)
    assert (len(result.replicates) == 0) == (result.method != "bca")


def test_proportions():
    y, p = classes()
    k, n = int((y != p).sum()), len(y)
    for method in ("wilson", "exact"):
        low, high = binomtest(k, n).proportion_ci(0.9, method=method)
        result = metric_interval(error_rate, y, p, confidence_level=0.9, method=method)
        assert_allclose([*result.interval], [low, high], rtol=1e-9)
    low, high = binomtest(n - k, n).proportion_ci(method="wilson")
    result = metric_interval(accuracy_score, y, p, method="analytic")
    assert_allclose([*result.interval], [low, high], rtol=1e-9)


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_binary_precision_and_recall_condition_on_their_denominator(pos_label):
    y, score = binary()
    names = np.array(["no", "yes"])
    y, p = names[y], names[(score > 0.8).astype(int)]
    hits = np.sum((y == pos_label) & (p == pos_label))
    for metric, n in (
        (precision_score, (p == pos_label).sum()),
        (recall_score, (y == pos_label).sum()),
    ):
        result = metric_interval(partial(metric, pos_label=pos_label), y, p)
        expected = binomtest(int(hits), int(n)).proportion_ci(method="wilson")
        assert_allclose([*result.interval], expected, rtol=1e-9)
    for method in ("score", "delta"):
        f = metric_interval(partial(f1_score, pos_label=pos_label), y, p, method=method)
        # F of one class is the macro F over that class alone.
        alone = partial(f1_score, average="macro", labels=[pos_label])
        found = metric_interval(alone, y, p, method=method)
        assert_allclose([*f.interval], [*found.interval])


def test_delong_of_area_and_ranking_loss():
    y, score = binary()
    _, covariance = reference.delong([score[y == 1].tolist()], [score[y == 0].tolist()])
    error, area = np.sqrt(covariance[0][0]), roc_auc_score(y, score)
    result = metric_interval(roc_auc_score, y, score, method="delong")
    assert_allclose(result.standard_error, error)
    half = stats.norm.ppf(0.975) * error / (area * (1 - area))
    odds = area / (1 - area) * np.exp([-half, half])
    assert_allclose([*result.interval], odds / (1 + odds))
    plain = metric_interval(roc_auc_score, y, score, method="normal", confidence_level=0.9)
    expected = np.clip(area + stats.norm.ppf([0.05, 0.95]) * error, 0, 1)
    assert_allclose([*plain.interval], expected)
    loss = metric_interval(ranking_loss, y, score, method="delong")
    assert_allclose([1 - loss.interval.high, 1 - loss.interval.low], [*result.interval])
    names = np.array(["b", "a"])[y]  # roc_auc_score takes the larger label, b, as positive
    turned = metric_interval(roc_auc_score, names, -score, method="delong")
    assert_allclose([*turned.interval], [*result.interval])


def test_mean_losses():
    rng = np.random.default_rng(0)
    y, p = rng.normal(size=40), rng.normal(size=40)
    low, high = DescrStatsW((y - p) ** 2).tconfint_mean()
    result = metric_interval(mean_squared_error, y, p, method="t")
    assert_allclose([*result.interval], [low, high], rtol=1e-10)
    root = metric_interval(root_mean_squared_error, y, p, method="t")
    assert_allclose([*root.interval], np.sqrt([low, high]), rtol=1e-10)
    assert_allclose(root.standard_error, result.standard_error / (2 * root.value))
    low, high = DescrStatsW(np.abs(y - p)).tconfint_mean(alpha=0.2)
    result = metric_interval(mean_absolute_error, y, p, confidence_level=0.8, method="t")
    assert_allclose([*result.interval], [low, high], rtol=1e-10)
    costs = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    y, p = classes()
    low, high = DescrStatsW(costs[y, p]).tconfint_mean()
    metric = partial(cost_sensitive_error, cost_matrix=costs, labels=[0, 1, 2])
    result = metric_interval(metric, y, p, method="t")
    assert_allclose([*result.interval], [low, high], rtol=1e-10)
    two = metric_interval(mean_squared_error, np.c_[y, y] * 1.0, np.c_[p, p] * 1.0)
    one = metric_interval(mean_squared_error, y * 1.0, p * 1.0)
    assert_allclose([*two.interval], [*one.interval])


def scipy_interval(data, statistic, replicates, level, *, paired=False, method="BCa"):
    """SciPy's interval on our replicates, at the level that our quantile stands for."""
    n = len(data[0]) if paired else sum(len(part) for part in data)
    wider = np.sqrt(n / (n - 1)) * stats.t.isf((1 - level) / 2, n - 1)
    level = 1 - 2 * stats.norm.sf(wider)
    given = stats.bootstrap(
        data, statistic, vectorized=False, n_resamples=2, method="percentile", paired=paired
    )
    given.bootstrap_distribution = replicates
    result = stats.bootstrap(
        data,
        statistic,
        vectorized=False,
        n_resamples=0,
        bootstrap_result=given,
        paired=paired,
        method=method,
        confidence_level=level,
    )
    return result.confidence_interval


@pytest.mark.parametrize("level", [0.8])
def test_bca_equals_scipy(level):
    y, score = binary(n=30)
    result = metric_interval(
        roc_auc_score,
        y,
        score,
        method="bca",
        n_resamples=150,
        confidence_level=level,
        random_state=0,
    )

    def statistic(index):
        return roc_auc_score(y[index], score[index])

    expected = scipy_interval((np.arange(30),), statistic, result.replicates, level)
    assert_allclose([*result.interval], expected, rtol=1e-10)
    percentile = metric_interval(
        roc_auc_score,
        y,
        score,
        method="percentile",
        n_resamples=150,
        confidence_level=level,
        random_state=0,
    )
    assert_allclose(percentile.replicates, result.replicates)
    tail = stats.norm.sf(np.sqrt(30 / 29) * stats.t.ppf((1 + level) / 2, 29))
    ends = np.quantile(percentile.replicates, [tail, 1 - tail])
    assert_allclose([*percentile.interval], ends)


def test_weights_and_groups_of_an_area_take_the_closed_form():
    y, score = binary(n=60)
    weight, groups = np.random.default_rng(1).exponential(size=60), np.arange(60) // 3

    def ends(result):
        return result.interval.low, result.interval.high

    plain = metric_interval(roc_auc_score, y, score)
    alike = metric_interval(roc_auc_score, y, score, sample_weight=np.full(60, 0.3))
    assert alike.method == plain.method == "score"
    assert_allclose(alike.standard_error, plain.standard_error)
    assert_allclose(ends(alike), ends(plain), rtol=1e-9)
    for options in ({"sample_weight": weight}, {"groups": groups}):
        found = metric_interval(roc_auc_score, y, score, **options)
        assert not len(found.replicates)
        loss = metric_interval(ranking_loss, y, score, **options)
        assert_allclose([1 - found.interval.high, 1 - found.interval.low], ends(loss), rtol=1e-8)
    given = np.concatenate([weight, np.zeros(5)])  # what weighs nothing is not there
    longer = np.r_[y, [0, 1, 0, 1, 1]], np.r_[score, score.max() + np.arange(-2, 3)]
    for metric in (roc_auc_score, average_precision_score):
        more = metric_interval(metric, *longer, sample_weight=given)
        found = metric_interval(metric, y, score, sample_weight=weight)
        assert_allclose(ends(more), ends(found), rtol=1e-8)
    counted = (groups == 0).astype(float)  # one group that weighs something has no spread
    with pytest.warns(UndefinedMetricWarning):
        found = metric_interval(roc_auc_score, y, score, groups=groups, sample_weight=counted)
    assert np.isnan(found.interval.low)


def test_replicates_are_the_metric_on_resamples():
    """Resamples of groups hold whole groups."""
    y, _ = binary(n=40)
    groups = np.repeat(np.arange(10), 4)
    seen = []

    def spy(y_true, y_pred):
        seen.append((y_true.copy(), y_pred.copy()))
        return float(np.mean(y_pred))

    index = np.arange(40)
    options = {"method": "percentile", "n_resamples": 20, "random_state": 0}
    result = metric_interval(spy, y, index, groups=groups, **options)
    assert_allclose(result.replicates, [p.mean() for _, p in seen[1:]])
    for _, drawn in seen[1:]:
        counts = np.bincount(drawn, minlength=40).reshape(10, 4)
        assert counts.sum() == 40
        assert (counts == counts[:, :1]).all()


def test_bleu_resamples_sentence_statistics():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{w}" for w in rng.integers(0, 3, rng.integers(6, 12))) for _ in range(60)]
    references, hypotheses = [[t] for t in texts[:30]], texts[30:]
    calls = []

    def split(text):
        calls.append(text)
        return text.split()

    metric = partial(bleu_score, smoothing="exp", tokenize=split, max_order=3)
    result = metric_interval(metric, references, hypotheses, n_resamples=40, random_state=3)
    assert len(calls) == 60  # each text once, whatever the number of resamples
    assert result.method == "bca"
    assert result.value == metric(references, hypotheses)

    def by_text(references, hypotheses):
        return metric(references, hypotheses)

    again = metric_interval(by_text, references, hypotheses, n_resamples=40, random_state=3)
    assert_allclose(again.replicates, result.replicates, rtol=1e-12)
    assert_allclose([*again.interval], [*result.interval], rtol=1e-12)
    logarithm = metric_interval(log_bleu_score, references, hypotheses, n_resamples=40)
    assert_allclose(logarithm.value, log_bleu_score(references, hypotheses))
    with pytest.raises(ValueError, match="sample_weight must be None for BLEU"):
        metric_interval(bleu_score, references, hypotheses, sample_weight=np.ones(30))


def test_samples_of_a_metric_of_masks_are_images():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, (12, 8, 8))
    pred = np.where(rng.random(true.shape) < 0.1, 1 - true, true)
    options = {"n_resamples": 30, "random_state": 0}
    found = metric_interval(mask_rand_score, true, pred, **options)
    assert found.value == np.mean(
        [mask_rand_score(a[None], b[None]) for a, b in zip(true, pred, strict=True)]
    )
    same = metric_interval(partial(mask_rand_score, per_image=True), true, pred, **options)
    assert found.interval == same.interval
    with pytest.raises(ValueError, match="of another image, use per_image=True"):
        metric_interval(partial(mask_rand_score, per_image=False), true, pred)


def test_undefined_resamples_are_counted_and_left_out():
    y, score = np.repeat([0, 1], [18, 2]), np.arange(20.0)[::-1] % 7
    with pytest.warns(UndefinedMetricWarning, match=r"undefined on \d+ of 200 resamples"):
        result = metric_interval(
            roc_auc_score, y, score, method="percentile", n_resamples=200, random_state=0
        )
    assert 5 < np.isnan(result.replicates).sum() < 60  # 0.9^20 = 0.12
    assert np.isfinite([*result.interval]).all()
    y, p = [0] * 8 + [1] * 2, [0] * 7 + [1, 1, 0]  # log_inverse raises when a class has one member
    with pytest.warns(UndefinedMetricWarning, match="resamples, which are left out"):
        metric_interval(
            weighted_fbeta_score, y, p, method="percentile", n_resamples=50, random_state=0
        )


def test_resamples_without_a_class_are_drawn_again_within_the_classes():
    y, n_positive = np.repeat([0, 1], [18, 2]), []

    def spy(y_true, y_pred):
        n_positive.append(y_true.sum())
        return float(np.mean(y_pred)) if y_true.any() else np.nan

    options = {"n_resamples": 50, "random_state": 0}
    with pytest.warns(UndefinedMetricWarning, match=r"undefined on \d+ of 50 resamples"):
        result = metric_interval(spy, y, np.arange(20.0), **options)
    assert np.isfinite(result.replicates).all()
    # all samples, the first resamples, those within the classes, and each sample left out
    assert 0 in n_positive[1:51]
    assert set(n_positive[51:101]) == {2}


def test_undefined_and_degenerate_intervals_warn():
    with pytest.warns(UndefinedMetricWarning, match="interval of the metric is undefined"):
        result = metric_interval(roc_auc_score, [0, 0, 1], [0.1, 0.2, 0.3], method="delong")
    assert np.isnan(result.interval.low)
    for method in ("wald", "bca", "percentile"):
        with pytest.warns(UndefinedMetricWarning, match="both of its limits are 0"):
            result = metric_interval(
                error_rate, [0, 1, 0], [0, 1, 0], method=method, n_resamples=20
            )
        assert np.isnan([*result.interval]).all()
    with pytest.warns(UndefinedMetricWarning, match="both of its limits are 0"):
        result = metric_interval(mean_squared_error, [0.5, 1.5], [0.5, 1.5])
    assert np.isnan([*result.interval]).all()
    with pytest.warns(UndefinedMetricWarning, match="no sample of class 1"):
        nan = metric_interval(partial(precision_score, zero_division=np.nan), [0, 1], [0, 0])
    assert np.isnan([nan.value, nan.interval.low, nan.interval.high]).all()

    def jump(y, p):  # below the value on the data for every proper resample
        return float(len(set(p.tolist())))

    with pytest.warns(UndefinedMetricWarning, match="is the percentile interval instead of BCa"):
        result = metric_interval(
            jump, np.zeros(20), np.arange(20), method="bca", n_resamples=30, random_state=0
        )
    assert result.method == "percentile"


def test_several_metrics_give_one_estimate_for_each():
    y, p = classes()
    alone = metric_interval("f1_macro", y, p)
    several = metric_interval(["f1_macro", error_rate], y, p)
    assert list(several) == ["f1_macro", "error_rate"]
    assert several["f1_macro"].interval == alone.interval
    assert metric_interval({"mine": "f1_macro"}, y, p)["mine"].value == alone.value
    with pytest.raises(KeyError, match=r"no 'f1' .*There are 'f1_macro', 'error_rate'"):
        several["f1"]
    by = np.arange(len(y)) % 2
    parts = metric_interval({"mine": "f1_macro"}, y, p, by=by)["mine"]
    assert parts[1].value == metric_interval("f1_macro", y, p, by=by)[1].value
    alone = np.where(np.arange(len(y)) == 7, "alone", "other")
    with pytest.raises(ValueError, match=r"by must have two samples in each subgroup.* position 7"):
        metric_interval("accuracy", y, p, by=alone)
    again = pickle.loads(pickle.dumps(parts))
    assert str(again) == str(parts)
    assert again.less_the_rest[0].value == parts[0].value - parts[1].value
    assert list(parts.to_frame()["value"]) == [each["value"] for each in parts.to_dict().values()]


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (error_rate, {"method": "delong"}, "does not support error_rate"),
        (
            r2_score,
            {},
            r"integers that all occur in y_true, as classes do. For classes, use accuracy_score",
        ),
        (error_rate, {"groups": [0, 1]}, "groups must have a group for each of"),
        (error_rate, {"groups": np.zeros(80)}, "at least two groups"),
        (error_rate, {"sample_weight": -np.ones(80)}, "sample_weight must be >= 0"),
        ("nonsense", {}, "one of skeval.metrics.get_scorer_names"),
        (partial(f1_score, average="samples"), {"method": "delta"}, "Samplewise metrics"),
    ],
)
def test_bad_input(metric, options, message):
    y, p = classes()
    with pytest.raises(ValueError, match=message):
        metric_interval(metric, y, p, **options)


def test_the_basic_bootstrap_mirrors_the_percentiles():
    rng = np.random.default_rng(0)
    y = rng.normal(size=40)
    p = y + rng.normal(size=40)
    options = {"n_resamples": 200, "random_state": 0}
    basic = metric_interval(median_absolute_error, y, p, method="basic", **options)
    assert basic.method == basic.interval.method == "basic"
    expected = scipy_interval(
        (y, p), median_absolute_error, basic.replicates, 0.95, paired=True, method="basic"
    )
    assert_allclose([*basic.interval], expected, rtol=1e-12)


@pytest.mark.parametrize("metric", [mean_squared_error, median_absolute_error, r2_score])
def test_resamples_without_weight_are_undefined(metric):
    """With two weighted samples of five, some resamples draw only samples of weight 0."""
    y, predicted = np.arange(5.0), np.array([0.5, 0.0, 2.5, 4.0, 4.5])
    weight = np.array([1.0, 0, 0, 2.0, 0])
    with pytest.warns(UndefinedMetricWarning, match=r"undefined on \d+ of 200 resamples"):
        result = metric_interval(
            metric,
            y,
            predicted,
            method="percentile",
            sample_weight=weight,
            random_state=0,
            n_resamples=200,
        )
    assert result.value == metric(y, predicted, sample_weight=weight)
    assert 0 < result.extra.n_undefined < 100
    assert np.isnan(result.replicates).sum() == result.extra.n_undefined


TRUTH = np.arange(40) % 2
ANSWERS = np.where(np.arange(40) % 7 == 0, 1 - TRUTH, TRUTH)
SCORES = TRUTH + np.sin(np.arange(40.0))
WITH_INFINITY = np.where(np.arange(40) == 3, np.inf, SCORES)


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame])
def test_a_single_column_is_a_vector(form):
    expected = metric_interval(accuracy_score, TRUTH, ANSWERS)
    for pair in ((form(TRUTH[:, None]), ANSWERS), (TRUTH, form(ANSWERS[:, None]))):
        found = metric_interval(accuracy_score, *pair)
        assert (found.value, found.interval) == (expected.value, expected.interval)
    systems = {"a": ANSWERS, "b": TRUTH}
    columns = {name: form(one[:, None]) for name, one in systems.items()}
    one, other = (compare_predictions(TRUTH, each, random_state=0) for each in (systems, columns))
    assert one.difference.pvalue == other.difference.pvalue


@pytest.mark.parametrize(
    ("metric", "y_true", "y_pred", "message"),
    [
        (roc_auc_score, TRUTH, WITH_INFINITY, "contains infinity"),
        (roc_auc_score, TRUTH, np.c_[-SCORES, SCORES], r"the positive class, y_pred\[:, 1\]"),
        (roc_auc_score, SCORES, TRUTH, "y_true and y_pred look swapped"),
        (accuracy_score, TRUTH, None, "y_pred must have one entry per sample, got None"),
        (confusion_matrix, TRUTH, ANSWERS, r"return one number, got an array of shape \(2, 2\)"),
        (log_loss, np.ones(40), SCORES, "log_loss of y_true and y_pred: "),
    ],
)
def test_errors_name_the_cause(metric, y_true, y_pred, message):
    with pytest.raises((TypeError, ValueError), match=message):
        metric_interval(metric, y_true, y_pred)


@pytest.mark.parametrize(
    ("metric", "arguments"),
    [
        (sk.mean_absolute_percentage_error, {}),
        (sk.mean_squared_log_error, {}),
        (sk.mean_pinball_loss, {"alpha": 0.9}),
    ],
)
def test_means_of_losses_have_halls_interval(metric, arguments):
    rng = np.random.default_rng(0)
    y, predicted = np.exp(rng.normal(size=(2, 35)))
    function = partial(metric, **arguments)
    estimate = metric_interval(function, y, predicted, method="hall")
    assert estimate.value == pytest.approx(function(y, predicted))
    losses = np.array([function(y[i : i + 1], predicted[i : i + 1]) for i in range(35)])
    expected = metric_interval(mean_absolute_error, np.zeros(35), losses, method="hall")
    assert [*estimate.interval] == pytest.approx([*expected.interval])
    both = metric_interval(function, np.c_[y, y], np.c_[predicted, y], n_resamples=50)
    assert both.value == pytest.approx(estimate.value / 2)


@pytest.mark.parametrize(
    "metric",
    [
        mean_squared_error,
        root_mean_squared_error,
        r2_score,
        partial(sk.mean_pinball_loss, alpha=0.3),
    ],
)
def test_few_large_losses_are_named(metric):
    y, options = np.random.default_rng(0).normal(size=60), {"n_resamples": 50, "random_state": 0}
    assert metric_interval(metric, y, np.zeros(60), **options).details == {}
    y[:2] = 90
    assert (
        "2 of 60 samples" in metric_interval(metric, y, np.zeros(60), **options).details["caution"]
    )


def test_few_positives_are_named():
    for n_positive, is_cautious in ((5, True), (10, False)):
        y = (np.arange(60) < n_positive).astype(int)
        scores = np.random.default_rng(0).normal(size=60)
        caution = metric_interval(average_precision_score, y, scores).details.get("caution", "")
        assert ("positive samples" in caution) == is_cautious


def test_texts_may_have_different_numbers_of_references():
    references = [[["a", "b", "c", "d"]], [["b", "c", "d", "e"], ["b", "c", "d"]]] * 6
    hypotheses = [["a", "b", "c", "d"], ["b", "c", "d", "f"]] * 6
    result = metric_interval(bleu_score, references, hypotheses, n_resamples=50, random_state=0)
    assert result.value == bleu_score(references, hypotheses)


@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
@pytest.mark.parametrize("design", ["plain", "groups", "weights"])
def test_a_metric_has_one_interval(kind, design):
    """`metric_interval` and the report of the same predictions agree."""
    rng = np.random.default_rng(0)
    y, pred = rng.normal(size=(2, 90))
    shown = {
        "r2": sk.r2_score,
        "mean_absolute_error": sk.mean_absolute_error,
        "root_mean_squared_error": sk.root_mean_squared_error,
    }
    if kind != "numbers":
        k = 2 if kind == "two classes" else 3
        y = rng.integers(0, k, 90)
        pred = rng.dirichlet(np.ones(k), 90) + np.eye(k)[y]
        pred = pred / pred.sum(axis=1, keepdims=True)
        pred = pred[:, 1] if k == 2 else pred
        shown = {"log_loss": sk.log_loss, "brier_score": sk.brier_score_loss}
        shown |= {"roc_auc": roc_auc_score} if k == 2 else {}
    options = {"groups": np.arange(90) // 3} if design == "groups" else {}
    if design == "weights":
        options = {"sample_weight": rng.uniform(1, 2, 90)}
    report = skeval.evaluate_predictions(y, pred, **options)
    for name, metric in shown.items():
        one, two = metric_interval(metric, y, pred, **options), report.metrics[name]
        assert one.value == pytest.approx(two.value)
        assert [*one.interval] == pytest.approx([*two.interval]), name


@pytest.mark.parametrize("metric", [sk.max_error, partial(error_norm, ord=np.inf)])
def test_a_maximum_has_no_interval(metric):
    y, pred = np.random.default_rng(0).normal(size=(2, 40))
    with pytest.raises(
        ValueError, match=r"metric=(max_error|error_norm\(ord=inf\)) has no interval"
    ):
        metric_interval(metric, y, pred)


@pytest.mark.parametrize(("n", "k"), [(30, 3), (28, 4), (50, 5), (33, 3)])
def test_a_perfect_ranking_of_several_classes_is_perfect_however_it_is_averaged(n, k):
    """Rounding errors choose no other formula: shares of equal classes do not change limits."""
    y = np.arange(n - n % k) % k
    share = np.where(np.eye(k, dtype=bool)[y], 0.9, 0.1 / (k - 1))
    for kind in ("ovr", "ovo"):
        limits = []
        for average in ("macro", "weighted"):
            metric = partial(roc_auc_score, multi_class=kind, average=average)
            found = metric_interval(metric, y, share)
            assert found.standard_error == 0
            limits.append([*found.interval])
        assert limits[0] == pytest.approx(limits[1], abs=1e-9)
        assert limits[0][1] == 1


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_every_backend_of_joblib_gives_the_same_interval(backend):
    y, pred = np.random.default_rng(0).normal(size=(2, 40))
    options = {"n_resamples": 40, "random_state": 0}
    with joblib.parallel_config(backend=backend):
        found = metric_interval(sk.median_absolute_error, y, pred, n_jobs=2, **options)
    assert found.interval == metric_interval(sk.median_absolute_error, y, pred, **options).interval


@pytest.mark.parametrize("metric", [sk.ndcg_score, sk.dcg_score, sk.coverage_error])
def test_a_mean_over_rows_has_the_interval_of_a_mean(metric):
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, (80, 6))
    score = true + 2 * rng.normal(size=(80, 6))
    found = metric_interval(metric, true, score)
    values = np.array([metric(true[[row]], score[[row]]) for row in range(80)])
    assert found.value == pytest.approx(values.mean())
    reach = 1.99 * values.std(ddof=1) / 80**0.5
    ends = [values.mean() - reach, values.mean() + reach]
    assert [*found.interval] == pytest.approx(ends, abs=0.3 * reach)


def test_a_loss_has_its_own_name():
    data = [0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6]
    by_name, by_function = (metric_interval(metric, *data) for metric in ("log_loss", log_loss))
    assert (by_name.value, *by_name.interval) == (by_function.value, *by_function.interval)
    with pytest.raises(ValueError, match="Pass the function log_loss"):
        metric_interval("neg_log_loss", *data)


def covers(y_true, limits):
    return np.mean((limits[:, 0] <= y_true) & (y_true <= limits[:, 1]))


@pytest.mark.parametrize("n", [30, 200])
def test_coverage_of_prediction_intervals_is_a_proportion(n):
    """Also where all intervals cover, as of 30 samples often."""
    rng = np.random.default_rng(n)
    for _ in range(5):
        y = rng.normal(size=n)
        limits = np.column_stack([np.full(n, -2.0), np.full(n, 2.1)])
        found = metric_interval(covers, y, limits)
        hits = int(np.sum((y >= -2) & (y <= 2.1)))
        expected = stats.binomtest(hits, n).proportion_ci(0.95, "wilson")
        assert_allclose(list(found.interval), [expected.low, expected.high])
        assert found.interval.method == "wilson"


def test_functions_that_are_no_share_have_the_bootstrap():
    y = np.tile([0, 1], 20)
    score = np.where(np.arange(40) < 20, 1 - y, y)  # its value is 10 of 40

    def squared(y_true, y_pred):
        return float(np.mean(y_true == y_pred) ** 2)

    found = metric_interval(squared, y, score, n_resamples=60, random_state=0)
    assert found.interval.method == "bca"


@pytest.mark.parametrize(("n", "above"), [(60, 3), (60, 57), (200, 9), (200, 10), (30, 15)])
def test_pinball_loss_needs_ten_samples_on_each_side(n, above):
    y = np.random.default_rng(0).uniform(0.5, 1, n) * np.where(np.arange(n) < above, 1, -1)
    found = metric_interval(partial(mean_pinball_loss, alpha=0.9), y, np.zeros(n))
    few = min(above, n - above) < 10
    assert np.isnan(found.interval.low) == few
    assert bool(found.details.get("caution")) == few
    assert found.value == pytest.approx(mean_pinball_loss(y, np.zeros(n), alpha=0.9))


@pytest.mark.parametrize(("n_classes", "largest"), [(2, 1.0), (3, 2.0)])
def test_the_range_of_a_metric_depends_on_the_number_of_columns(n_classes, largest):
    y = np.arange(60) % n_classes
    proba = np.random.default_rng(0).dirichlet(np.ones(n_classes), 60)
    result = metric_interval(sk.brier_score_loss, y, proba[:, 1] if n_classes == 2 else proba)
    assert result.bounds == (0.0, largest)


@pytest.mark.parametrize("name", ["brier_score", "brier_score_loss", "roc_auc", "r2", "r2_score"])
def test_the_name_of_an_estimate_is_accepted_as_a_metric(name):
    y, p = np.arange(60) % 2, np.random.default_rng(0).random(60)
    first = metric_interval(name, y, p)
    again = metric_interval(first.name, y, p)
    assert (again.name, again.value) == (first.name, first.value)
    with pytest.raises(ValueError, match="metric must be one of"):
        metric_interval("r3_score", y, p)


def test_the_positive_class_of_an_area_is_named():
    rng = np.random.default_rng(0)
    y, score = np.where(rng.random(60) < 0.4, "ja", "nein"), rng.random(60)
    found = metric_interval("roc_auc", y, score)
    assert found.details["pos_label"] == "nein"
    assert "nein" in str(found)
    chosen = metric_interval("roc_auc", y == "ja", score)
    assert "pos_label" not in chosen.details  # it is 1
    assert chosen.value == pytest.approx(1 - found.value)
    precision = partial(sk.average_precision_score, pos_label="ja")
    assert metric_interval(precision, y, score).details["pos_label"] == "ja"
    assert "pos_label" not in metric_interval("accuracy", y, y).details
    three = np.arange(60) % 3
    area = partial(sk.roc_auc_score, multi_class="ovr")
    assert "pos_label" not in metric_interval(area, three, rng.dirichlet([1, 1, 1], 60)).details
