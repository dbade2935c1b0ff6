"""Thresholds: the rules against their words, the optimism against a loop, and the coverage."""

from functools import partial

import numpy as np
import pytest
from helpers.coverage import consistent_with
from numpy.random import SeedSequence
from scipy.stats import beta, norm
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import confusion_matrix

import skeval
from skeval import metrics
from skeval.metrics import get_scorer
from skeval.model_selection import metric_interval, threshold_measures

NAMES = ("sensitivity", "specificity", "ppv", "npv")
RULES = ["youden", {"sensitivity": 0.8}, {"specificity": 0.7}, {"cost_ratio": 3}]


def draw(rng, n=120, share=0.4, gap=1.5):
    y = (rng.random(n) < share).astype(int)
    return y, rng.normal(gap * y).round(1)


def find_shares(y, called, weight=None):
    (tn, fp), (fn, tp) = confusion_matrix(y, called, labels=[0, 1], sample_weight=weight)
    return np.array([tp / (tp + fn), tn / (tn + fp), tp / (tp + fp), tn / (tn + fn)])


def choose(rule, y, score):
    """Return the threshold, by its definition."""
    cuts = np.unique(score)[::-1]
    hit = np.array([np.mean(score[y == 1] >= cut) for cut in cuts])
    right = np.array([np.mean(score[y == 0] < cut) for cut in cuts])
    if rule == "youden":
        return cuts[np.argmax((hit + right).round(12))]
    ((name, wanted),) = rule.items()
    if name == "sensitivity":
        return cuts[hit >= wanted].max()
    if name == "specificity":
        return cuts[right >= wanted].min()
    cost = wanted * np.sum(y == 1) * (1 - hit) + np.sum(y == 0) * (1 - right)
    return cuts[np.argmin(cost.round(9))]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_choice_and_optimism_are_those_of_a_loop(rule):
    y, score = draw(np.random.default_rng(0))
    found = threshold_measures(y, score, threshold=rule, n_resamples=30, random_state=1)
    cut = choose(rule, y, score)
    assert found["threshold"].value == cut
    gaps, cuts = [], []
    for child in SeedSequence(1).spawn(30):
        drawn = np.random.default_rng(child).integers(0, len(y), len(y))
        cuts.append(choose(rule, y[drawn], score[drawn]))
        shares = [find_shares(y[rows], score[rows] >= cuts[-1]) for rows in (drawn, slice(None))]
        gaps.append(shares[0] - shares[1])
    np.testing.assert_allclose(found["threshold"].replicates, cuts)
    for name, apparent, gap in zip(
        NAMES, find_shares(y, score >= cut), np.array(gaps).T, strict=True
    ):
        assert found[name].details["apparent"] == pytest.approx(apparent)
        if rule != "youden" and name in rule:
            continue  # the rule fixes this share, see below
        assert found[name].value == pytest.approx(np.clip(apparent - np.nanmean(gap), 0, 1))
        assert found[name].standard_error == pytest.approx(np.nanstd(gap, ddof=1))


@pytest.mark.parametrize("name", ["sensitivity", "specificity"])
def test_a_fixed_share_has_the_distribution_of_order_statistics(name):
    rng = np.random.default_rng(6)
    gaps = []
    for seed in range(60):
        y = np.arange(40) % 2
        score = rng.normal(y)
        share = threshold_measures(
            y, score, threshold={name: 0.9}, n_resamples=20, random_state=seed
        )
        one, cut = share[name], share["threshold"].value
        assert one.details["apparent"] == pytest.approx(0.9)
        known = beta.ppf(0.025, 18, 3), beta.ppf(0.975, 19, 2)
        np.testing.assert_allclose([*one.interval], known)
        gaps.append(one.value - (norm.cdf(cut) if name == "specificity" else norm.sf(cut - 1)))
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / np.sqrt(60)


@pytest.mark.parametrize("extra", [{}, {"groups"}, {"sample_weight"}])
def test_a_given_threshold_has_the_intervals_of_metric_interval(extra):
    rng = np.random.default_rng(2)
    y, score = draw(rng)
    options = {"groups": np.arange(120) // 4, "sample_weight": rng.random(120) + 0.5}
    options = {name: options[name] for name in extra}
    names = np.array(["healthy", "ill"])
    found = threshold_measures(names[y], score, threshold=0.5, pos_label="ill", **options)
    called = names[(score >= 0.5).astype(int)]
    for name, value in zip(
        NAMES, find_shares(y, score >= 0.5, options.get("sample_weight")), strict=True
    ):
        metric = partial(getattr(metrics, f"{name}_score"), pos_label="ill")
        one = metric_interval(metric, names[y], called, **options)
        assert found[name].value == pytest.approx(value)
        assert found[name].value == pytest.approx(one.value, rel=1e-13)
        for side in ("low", "high"):
            end, known = (getattr(each.interval, side) for each in (found[name], one))
            assert end == pytest.approx(known, rel=1e-10)
    assert found["threshold"].interval.low == found["threshold"].value == 0.5


def test_they_are_scorers_and_have_closed_forms():
    y, score = draw(np.random.default_rng(3))
    called = (score > 0.7).astype(int)
    for name, sample in zip(NAMES, (y, 1 - y, called, 1 - called), strict=True):
        found = metric_interval(name, y, called)
        assert (found.method, found.n_samples) == ("wilson", 120)
        p, n, z = found.value, sample.sum(), norm.isf(0.025)
        end = (p + z**2 / 2 / n + z * np.sqrt(p * (1 - p) / n + z**2 / 4 / n**2)) / (1 + z**2 / n)
        assert found.interval.high == pytest.approx(end)
        assert get_scorer(name) is not None
    three = np.where(np.arange(120) % 5 == 0, 2, y)
    rest = metric_interval(partial(metrics.specificity_score, pos_label=1), three, called)
    assert rest.value == pytest.approx(np.mean(called[three != 1] != 1))
    assert rest.method == "wilson"
    with pytest.raises(ValueError, match="pos_label must be passed"):
        metrics.npv_score(three, called)
    with pytest.warns(UserWarning, match="no sample is predicted positive"):
        assert np.isnan(metrics.ppv_score([0, 1], [0, 0]))


def test_a_report_shows_what_choosing_has_cost():
    y, score = draw(np.random.default_rng(4))
    asked = {"random_state": 0, "kind": "scores"}
    report = skeval.evaluate_predictions(y, score, threshold={"sensitivity": 0.9}, **asked)
    alone = threshold_measures(y, score, threshold={"sensitivity": 0.9}, random_state=0)
    assert report.threshold == alone["threshold"].value
    assert report.at_threshold["ppv"].interval == alone["ppv"].interval
    assert "chosen-threshold" in [one.code for one in report.warnings]
    assert "on these samples" in str(report)
    given = skeval.evaluate_predictions(y, score, threshold=report.threshold, **asked)
    assert "chosen-threshold" not in [one.code for one in given.warnings]
    assert given.metrics["accuracy"].value == report.metrics["accuracy"].value
    assert skeval.evaluate_predictions(y, score, **asked).at_threshold is None


@pytest.mark.parametrize(
    ("kind", "columns"), [("probabilities", 1), ("probabilities", 2), ("scores", 1)]
)
def test_the_written_threshold_repeats_the_decisions(kind, columns):
    for seed in range(5):
        y, score = draw(np.random.default_rng(seed))
        p = 1 / (1 + np.exp(-score)) if kind == "probabilities" else score - score.mean()
        given = np.column_stack([1 - p, p]) if columns == 2 else p
        report = skeval.evaluate_predictions(
            y, given, kind=kind, threshold="youden" if columns == 1 else None, random_state=0
        )
        again = p >= float(report.written_threshold)
        assert again.tolist() == (p >= report.threshold).tolist()
        assert again.sum() == report.out_of_fold.predicted.sum()
        if columns == 1:  # also without the table
            (warning,) = (one for one in report.warnings if one.code == "chosen-threshold")
            assert f" {report.written_threshold}, " in warning.advice
            for name in ("sensitivity", "specificity"):
                assert f"{name} {report.at_threshold[name].value:.2f}" in warning.advice


def test_the_net_benefit_at_a_threshold_that_was_passed_is_listed():
    y, score = draw(np.random.default_rng(4))
    p = 1 / (1 + np.exp(-score))
    found = skeval.evaluate_predictions(y, p, threshold=0.1, random_state=0)
    assert len(found.net_benefit) == 3
    called = p >= 0.1
    expected = np.mean(called & (y == 1)) - np.mean(called & (y == 0)) / 9
    assert found.net_benefit["net benefit at 0.1"].value == pytest.approx(expected)
    for threshold in (None, 0.5, 0, 1, "youden"):  # others are optimistic or undefined
        found = skeval.evaluate_predictions(y, p, threshold=threshold, random_state=0)
        assert len(found.net_benefit) == 2


@pytest.mark.parametrize(
    "threshold", ["best", {"sensitivity": 0}, {"cost_ratio": -1}, {"ppv": 0.5}, {}, np.nan, True]
)
def test_a_broken_rule_is_named(threshold):
    y, score = draw(np.random.default_rng(5))
    with pytest.raises(ValueError, match="threshold must be"):
        threshold_measures(y, score, threshold=threshold)
    with pytest.raises(ValueError, match="threshold must be"):
        skeval.evaluate_predictions(y, score, kind="scores", threshold=threshold)


def count_hits(n_sets, n, share, rule, n_resamples):
    hits = np.zeros(4, dtype=int)
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        y = (rng.random(n) < share).astype(int)
        score = rng.normal(1.5 * y)
        found = threshold_measures(
            y, score, threshold=rule, n_resamples=n_resamples, random_state=seed
        )
        cut = found["threshold"].value
        tp, fp = share * norm.sf(cut - 1.5), (1 - share) * norm.sf(cut)
        truth = tp / share, 1 - fp / (1 - share), tp / (tp + fp), (1 - share - fp) / (1 - tp - fp)
        ends = [tuple(found[name].interval) for name in NAMES]
        hits += [low <= value <= high for (low, high), value in zip(ends, truth, strict=True)]
    return hits


@pytest.mark.simulated
def test_intervals_at_a_chosen_threshold_hold_the_truth():
    assert all(consistent_with(hits, 60) for hits in count_hits(60, 100, 0.4, "youden", 60))


def test_the_effective_sample_size_of_groups_widens_the_interval_of_a_fixed_sensitivity():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(20), 10)
    y = (rng.random(200) < 0.5).astype(int)
    score = 1.5 * y + rng.normal(size=20)[group] + 0.3 * rng.normal(size=200)
    options = {"threshold": {"sensitivity": 0.8}, "n_resamples": 100, "random_state": 0}
    single = threshold_measures(y, score, **options)["sensitivity"].interval
    grouped = threshold_measures(y, score, groups=group, **options)["sensitivity"].interval
    assert grouped.high - grouped.low > 1.2 * (single.high - single.low)


@pytest.mark.filterwarnings("ignore:npv is undefined")
def test_a_threshold_that_calls_everything_positive_may_do_so_again():
    """Scores of five values: the sensitivity of the lowest of them is 1."""
    lowest = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 40)
        score = rng.integers(1, 6, 40) + (rng.random(40) < 0.3 * y)
        measures = threshold_measures(
            y, score, threshold={"cost_ratio": 4.0}, random_state=0, n_resamples=50
        )
        if measures["threshold"].value <= score.min():
            lowest += 1
            assert measures["sensitivity"].interval.high == 1
            assert np.isnan(measures["specificity"].value) or (
                measures["specificity"].interval.low == 0
            )
    assert lowest > 3


@pytest.mark.filterwarnings("ignore:.* groups are too few for a reliable interval")
@pytest.mark.parametrize("threshold", [0.5, "youden", {"sensitivity": 0.9}])
def test_intervals_that_one_group_of_a_class_leaves_undefined_are_named(threshold):
    y, score = np.tile([0, 1], 40), np.random.default_rng(0).normal(size=80)
    groups = np.where(y == 0, 0, np.arange(80) % 16)
    with pytest.warns(UndefinedMetricWarning, match="intervals of .*npv.* must contain samples of"):
        found = threshold_measures(
            y, score, threshold=threshold, groups=groups, prevalence=0.2, n_resamples=20
        )
    assert np.isfinite(found["npv"].value)


@pytest.mark.parametrize(("wanted", "reached"), [(0.7, True), (0.99, False)])
def test_a_specificity_that_no_threshold_has_is_named(wanted, reached):
    y = np.tile([0, 0, 1, 0, 0, 1], 20)
    score = (y + 2 * (np.arange(120) % 6 == 4)) / 4  # a quarter of the negatives rank first
    rule = {"specificity": wanted}
    cut = threshold_measures(y, score, threshold=rule, n_resamples=20, random_state=0)["threshold"]
    assert ("caution" in cut.details) != reached
    report = skeval.evaluate_predictions(y, score, threshold=rule, random_state=0)
    page = str(report.to_html())
    assert ("No threshold reaches a specificity of 0.99" in page) != reached


def test_the_expected_specificity_depends_on_the_place_of_the_threshold_in_its_gap():
    """Three positives lie between the negatives 8 and 9; the threshold is the lowest of them."""
    y, score = np.repeat([0, 1], [10, 4]), np.r_[np.arange(10.0), 8.2, 8.4, 8.6, 9.5]
    options = {"threshold": {"specificity": 0.9}, "n_resamples": 50, "random_state": 0}
    found = threshold_measures(y, score, **options)
    assert found["threshold"].value == 8.2
    assert found["specificity"].value == pytest.approx((9 + 1 / 4) / 11)
