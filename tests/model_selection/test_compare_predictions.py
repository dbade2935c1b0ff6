"""Many systems on the same samples: covariance, ranks, and the size of the comparison."""

import tracemalloc
import warnings
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from helpers.coverage import consistent_with
from helpers.crossed import each_value
from joblib import parallel_config
from reference.metric_intervals import clustered_variance
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    mean_absolute_error,
    median_absolute_error,
    roc_auc_score,
    zero_one_loss,
)

from skeval._inference.paired import accumulate_largest, step_down
from skeval.metrics import error_rate
from skeval.model_selection import compare_predictions, metric_interval
from skeval.report import evaluate_predictions

N, K = 120, 4
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
RIGHT = (RNG.random((K, N)) < np.array([0.6, 0.7, 0.75, 0.9])[:, None]).astype(float)
SYSTEMS = {f"s{k}": np.where(right, Y, 1 - Y) for k, right in enumerate(RIGHT)}
compare = partial(compare_predictions, random_state=0)


def test_two_systems_have_the_interval_of_agresti_and_min():
    two = {name: SYSTEMS[name] for name in ("s0", "s2")}
    found, known = (compare(Y, two, method=name).difference for name in ("max_t", "mcnemar"))
    assert found.interval.low == pytest.approx(known.interval.low)
    assert found.interval.high == pytest.approx(known.interval.high)
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(abs(found.statistic)))
    less = compare(Y, two, method="max_t", alternative="less").difference
    assert less.pvalue == pytest.approx(found.pvalue / 2)
    same = compare(Y, {"a": Y, "b": Y}, method="max_t").difference
    assert same.interval.low == pytest.approx(-same.interval.high) != 0
    assert same.pvalue == 1


@each_value
@pytest.mark.parametrize("n_systems", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_copies_of_a_system_do_not_differ_by_rounding(n_systems, weighted):
    copies = dict.fromkeys([f"s{k}" for k in range(n_systems)], SYSTEMS["s1"])
    weight = np.linspace(0.5, 1.5, N) if weighted else None
    for others in ({}, {"other": SYSTEMS["s3"]}):
        found = compare(Y, copies | others, method="max_t", sample_weight=weight)
        alike = [each for pair, each in found.differences.items() if "other" not in pair]
        assert {(each.value, each.pvalue) for each in alike} == {(0.0, 1.0)}


def test_two_groups_prove_nothing():
    """A resample of two groups is one of three, between which no difference ends."""
    groups = np.repeat([0, 1], N // 2)
    two = {name: SYSTEMS[name] for name in ("s0", "s3")}
    found, drawn = (
        compare(Y, two, groups=groups, method=method, n_resamples=99).difference
        for method in ("auto", "bootstrap")
    )
    assert found.interval.low < drawn.interval.low
    assert found.interval.high > drawn.interval.high
    assert found.method == "max_t"


@pytest.mark.parametrize("n", [4, 40])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_what_does_not_vary_is_judged_by_exchanges_alone(n):
    """One is always right and one never: no resample tells more, but an exchange does."""
    y = np.tile([0, 1], n // 2)
    two, pvalues = {"a": y, "b": 1 - y}, {}
    for method in ("permutation", "bootstrap", "delong"):
        found = compare(y, two, method=method, n_resamples=500).difference
        pvalues[method] = found.pvalue
        shown = found.pvalue <= found.level
        unknown = np.isnan(found.interval.low)
        assert found.conclusion.startswith(
            "a scores higher" if shown else "No conclusion" if unknown else "No significant"
        )
    assert pvalues["permutation"] == pytest.approx(2 * 0.5**n, abs=0.03)
    assert np.isnan([pvalues["bootstrap"], pvalues["delong"]]).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_standard_errors_are_those_between_groups(weighted):
    losses = {f"s{k}": each for k, each in enumerate(RNG.normal(size=(3, N)))}
    groups, weight = RNG.integers(0, 15, N), RNG.random(N) + 0.5 if weighted else None
    found = compare(None, losses, groups=groups, sample_weight=weight)
    w = np.ones(N) if weight is None else weight
    for (a, b), each in found.differences.items():
        gap = losses[a] - losses[b]
        mean = np.average(gap, weights=w)
        influence = w * (gap - mean) / w.sum()
        variance = clustered_variance(influence, groups, w, w)
        assert each.value == pytest.approx(mean)
        assert each.standard_error == pytest.approx(np.sqrt(variance))
        pvalue = each.extra.pvalue_alone
        statistic = abs(mean) / np.sqrt(variance)
        # Student's degrees of freedom are 14 of groups of one size.
        assert 2 * stats.t.sf(statistic, 14) < pvalue < 2 * stats.t.sf(statistic, 10)


def test_areas_and_other_metrics_have_their_covariance():
    scores = {f"s{k}": RNG.normal(Y * (1 + k / 2)) for k in range(3)}
    found, known = compare(Y, scores, metric=roc_auc_score), compare(Y, scores, method="delong")
    for pair, each in known.differences.items():
        assert found[pair].standard_error == pytest.approx(each.standard_error)
    options = {"metric": lambda y, p: float(np.corrcoef(y, p)[0, 1]), "n_resamples": 100}
    found = compare(Y, SYSTEMS, **options)
    known = compare(Y, SYSTEMS, method="bootstrap", **options)
    for pair, each in known.differences.items():
        assert found[pair].value == each.value
        assert found[pair].standard_error == pytest.approx(each.standard_error)
    assert found.extra.lows.shape == (4,)


@pytest.mark.parametrize("method", ["bootstrap", "permutation"])
@pytest.mark.parametrize("kind", ["plain", "ties", "weights", "groups", "rare"])
def test_areas_are_resampled_as_any_metric(method, kind):
    """A function that calls `roc_auc_score` is computed sample by sample."""

    def area(y_true, y_score, sample_weight=None):
        return roc_auc_score(y_true, y_score, sample_weight=sample_weight)

    rng = np.random.default_rng(3)
    y = np.where(rng.random(60) < (0.05 if kind == "rare" else 0.4), "ill", "healthy")
    y[:2] = "ill", "healthy"
    scores = {
        name: rng.normal(y == "ill", scale) for name, scale in zip("abc", (1, 1.5, 2), strict=True)
    }
    if kind == "ties":
        scores = {name: np.round(values) for name, values in scores.items()}
    options = {"method": method, "n_resamples": 60, "random_state": 0, "confidence_level": 0.8}
    if kind == "weights":
        options["sample_weight"] = rng.integers(0, 3, 60)
    if kind == "groups":
        options["groups"] = np.arange(60) // 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        known, found = (
            compare_predictions(y == "ill", scores, metric=m, **options) for m in (area, "roc_auc")
        )
    for pair, each in known.differences.items():
        assert found[pair].value == pytest.approx(each.value)
        assert found[pair].pvalue == pytest.approx(each.pvalue)
        assert (found[pair].interval.low, found[pair].interval.high) == pytest.approx(
            (each.interval.low, each.interval.high)
        )


def test_p_values_step_down():
    """The largest of those left, one after the other, by a loop."""
    values, statistics = RNG.normal(size=(4, 500)), np.array([0.4, 3.0, 1.9, 2.2, 0.0, 2.2])
    pairs, errors = np.array(list(combinations(range(4), 2))), np.linspace(1, 2, 6)
    drawn = (np.abs(values[pairs[:, 0]] - values[pairs[:, 1]]) / errors[:, None]).T
    expected, largest = np.empty(6), 0.0
    left = list(np.argsort(-statistics, kind="stable"))
    while left:
        exceeding = np.sum(drawn[:, left].max(axis=1) >= statistics[left[0]])
        largest = max(largest, (1 + exceeding) / 501)
        expected[left.pop(0)] = largest
    pvalues, largest = step_down(statistics, values, errors, pairs)
    np.testing.assert_allclose(pvalues, expected)
    np.testing.assert_allclose(largest, drawn.max(axis=1))
    *_, in_order = accumulate_largest(values, errors, pairs)
    np.testing.assert_allclose(in_order, largest)


def test_intervals_hold_together_and_say_what_ranks_may_be():
    found = compare(Y, SYSTEMS)
    assert (found.method, found.correction) == ("max_t", "none")
    bonferroni = compare(Y, SYSTEMS, method="mcnemar")
    for pair, each in found.differences.items():
        assert each.interval.low >= bonferroni[pair].interval.low
        better, worse = each.interval.low > 0, each.interval.high < 0
        assert (each.pvalue <= 0.05) or not (better or worse)
    for name, rank in found.ranks.items():
        better = sum(found.to_matrix("high")[found.names.index(name)] < 0)
        worse = sum(found.to_matrix("low")[found.names.index(name)] > 0)
        assert tuple(rank.interval) == (1 + better, K - worse)
    assert r"s0 & s1" in found.to_latex(columns=["a", "b", "value"])


@pytest.mark.parametrize("method", ["max_t", "bootstrap"])
def test_of_losses_the_smallest_is_best(method):
    y, noise = RNG.normal(size=50), RNG.normal(size=50)
    given = {"far": y + 2 * noise, "near": y + noise / 9, "middle": y + noise}
    options = {"metric": mean_absolute_error, "n_resamples": 50}
    found = compare(y, given, method=method, **options)
    assert found.best == ("near",)
    assert [found.names[place] for place in found.order] == ["near", "middle", "far"]
    assert found.ranks["near"].interval.high < found.ranks["far"].interval.low
    assert "near has the lowest score" in found.conclusion


def test_columns_of_a_polars_frame_are_systems():
    frame = pytest.importorskip("polars").DataFrame(SYSTEMS)
    assert str(compare(Y, frame)) == str(compare(Y, SYSTEMS))
    assert evaluate_predictions(Y, frame).comparison.names == tuple(SYSTEMS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_true": None, "method": "bootstrap"}, "y_true must not be None"),
        ({"y_true": None, "metric": f1_score}, "metric must be None if y_true is None"),
        ({"method": "max_t", "horizon": 2}, "horizon must be None"),
        ({"alternative": "less"}, "alternative must be 'two-sided'"),
    ],
)
def test_a_broken_rule_is_named(change, message):
    options = {"y_true": Y, "predictions": SYSTEMS} | change
    with pytest.raises(ValueError, match=message):
        compare(**options)


def draw_equal(rng, k, n, size):
    """Return right answers of equal systems; groups of `size` samples are alike, in a way each."""
    n_groups = n // size
    common = np.repeat(rng.normal(size=n_groups), size) + rng.normal(size=n)
    own = np.repeat(rng.normal(0, 0.7, (k, n_groups)), size, axis=1) if size > 1 else 0.0
    return (rng.normal(size=(k, n)) + own + common < 0.7).astype(float)


def count_errors(n_sets, k, n, size):
    """Count sets in which a difference is found, and in which bootstrap ranks miss one."""
    found = missed = 0
    for seed in range(n_sets):
        rng = np.random.default_rng([seed, k, n])
        right = draw_equal(rng, k, n, size)
        groups = np.arange(n) // size if size > 1 else None
        made = compare(None, dict(zip(map(str, range(k)), right, strict=True)), groups=groups)
        wrong = min(each.pvalue for each in made.differences.values()) <= 0.05
        assert wrong or max(rank.interval.low for rank in made.ranks.values()) == 1
        found += wrong
        if size == 1:
            resampled = right @ (rng.multinomial(n, np.full(n, 1 / n), 200).T / n)
            ranks = 1 + (resampled[None] > resampled[:, None]).sum(axis=1)
            missed += np.any(np.quantile(ranks, 0.025, axis=1) > 1)
    return found, missed


def test_equal_systems_share_the_first_rank_where_bootstrap_ranks_fail():
    found, missed = count_errors(40, 6, 100, 1)
    assert consistent_with(40 - found, 40)
    assert missed > 25


def test_two_equal_systems_have_their_size_exactly():
    """All tables of 50 items, each by its chance: where only `apart` of the items differ."""
    n, sizes = 50, []
    rejected = [np.zeros(m + 1) for m in range(n + 1)]
    for m in range(n + 1):
        for more in range(m // 2 + 1):
            right = np.ones((2, n))
            right[0, :more], right[1, more:m] = 0, 0
            found = compare(None, {"a": right[0], "b": right[1]}, method="max_t").difference
            rejected[m][[more, m - more]] = found.pvalue <= 0.05
    for apart in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7):
        chances = stats.binom.pmf(np.arange(n + 1), n, apart)
        held = [stats.binom.pmf(np.arange(m + 1), m, 0.5) @ rejected[m] for m in range(n + 1)]
        sizes.append(float(chances @ held))
    assert max(sizes) < 0.054
    assert sizes[-1] > 0.045


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 10, 30])
@pytest.mark.parametrize(("n", "size"), [(100, 1), (500, 1), (300, 10)])
def test_equal_systems_are_told_apart_in_one_of_twenty(k, n, size):
    found, missed = count_errors(300, k, n, size)
    assert consistent_with(300 - found, 300)
    assert missed > 0.9 * 300 or k == 2 or size > 1


def test_draws_of_many_pairs_take_little_memory():
    """Draws of all 1,770 pairs of 60 systems at once would take 142 MB."""
    scores = RNG.normal(size=(60, 41)) + np.linspace(0, 3, 60)[:, None]
    tracemalloc.start()
    compare_predictions(None, list(scores), random_state=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


@pytest.mark.parametrize("metric", [None, mean_absolute_error])
def test_pvalue_alone_is_that_of_the_alternative(metric):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    a, b = (np.where(rng.random(60) < share, y, 1 - y) for share in (0.8, 0.6))
    options = {"method": "max_t", "metric": metric, "random_state": 0}
    both = compare_predictions(y, [a, b], **options).difference
    pvalues = []
    for alternative in ("greater", "less"):
        one = compare_predictions(y, [a, b], alternative=alternative, **options).difference
        assert one.extra.pvalue_alone == one.pvalue
        pvalues.append(one.pvalue)
    assert both.extra.pvalue_alone == both.pvalue
    assert 2 * min(pvalues) == pytest.approx(both.pvalue, rel=0.05)


def test_areas_of_two_systems_are_compared_by_delong():
    y, rng = np.tile(["ill", "well"], 50), np.random.default_rng(0)
    spreads = {"a": 0.8, "b": 1.2}
    scores = {name: (y == "well") + rng.normal(0, spread, 100) for name, spread in spreads.items()}
    known = compare_predictions(y, scores, method="delong").difference
    for options in (
        {"metric": "roc_auc", "method": "delong"},
        {"metric": "roc_auc"},
        {"metric": roc_auc_score},
    ):
        found = compare_predictions(y, scores, **options).difference
        assert found.method == "delong"
        assert (found.value, found.pvalue, found.interval) == (
            known.value,
            known.pvalue,
            known.interval,
        )
    weighted = compare_predictions(
        y, scores, metric="roc_auc", sample_weight=np.ones(100), n_resamples=9, random_state=0
    )
    one = np.where(np.arange(100) == 1, "well", "ill")  # DeLong requires two samples of a class
    rare = compare_predictions(one, scores, metric="roc_auc", n_resamples=9, random_state=0)
    assert weighted.method == rare.method == "permutation"
    for metric in ("average_precision", "accuracy"):
        with pytest.raises(ValueError, match="metric must be None for method='delong'"):
            compare_predictions(y, scores, metric=metric, method="delong")


def test_resamples_and_exchanges_of_two_systems_have_the_distributions_of_counts():
    """The exact binomial test is the limit of exchanges, and the binomial variance of resamples."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    pair = {
        name: np.where(rng.random(200) < share, y, 1 - y)
        for name, share in (("a", 0.9), ("b", 0.8))
    }
    options = {"n_resamples": 20_000, "random_state": 0}
    found = compare(y, pair, method="permutation", **options).difference
    right = np.array([each == y for each in pair.values()])
    only_a, only_b = (int(np.sum(one & ~other)) for one, other in (right, right[::-1]))
    exact = stats.binomtest(only_a, only_a + only_b).pvalue
    noise = np.sqrt(exact * (1 - exact) / 20_000)
    assert abs(found.pvalue - exact) < 4 * noise + 1e-4
    variance = np.var(right[0].astype(float) - right[1]) / 200
    assert found.standard_error**2 == pytest.approx(variance, rel=0.05)
    grouped = compare(y, pair, method="permutation", groups=np.arange(200), **options).difference
    assert grouped.standard_error == pytest.approx(found.standard_error, rel=0.05)
    assert grouped.pvalue == pytest.approx(found.pvalue, abs=6 * noise)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.parametrize("method", ["permutation", "bootstrap"])
@pytest.mark.filterwarnings("ignore")
def test_every_backend_gives_the_same_numbers(backend, method):
    y = np.arange(30.0)
    pair = {"a": y + np.sin(y), "b": y + np.cos(3 * y)}
    options = {"metric": median_absolute_error, "method": method, "random_state": 0}
    alone = compare(y, pair, n_resamples=50, **options).difference
    with parallel_config(backend=backend):
        found = compare(y, pair, n_resamples=50, n_jobs=2, **options).difference
    assert (found.pvalue, str(found.interval)) == (alone.pvalue, str(alone.interval))


def test_the_result_names_what_was_compared():
    two = {name: SYSTEMS[name] for name in ("s0", "s3")}
    assert compare(Y, two).scoring == "accuracy"
    assert compare(Y, two, metric=f1_score, n_resamples=19).scoring == "f1_score"
    assert compare(None, two).scoring == "score"
    # without a metric, it is the accuracy
    plain, named = compare(Y, two), compare(Y, two, metric="accuracy")
    assert plain.values.tolist() == named.values.tolist()


@pytest.mark.parametrize("method", ["auto", "permutation", "bootstrap", "max_t"])
def test_correctness_has_one_interval_whatever_its_name(method):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    systems = {name: np.where(rng.random(90) < 0.6, y, (y + 1) % 3) for name in "ab"}
    options = {"method": method, "random_state": 0}
    default = compare_predictions(y, systems, **options)["a", "b"]
    for metric in ("accuracy", accuracy_score):
        found = compare_predictions(y, systems, metric=metric, **options)["a", "b"]
        assert tuple(found.interval) == pytest.approx(tuple(default.interval))
        assert found.pvalue == pytest.approx(default.pvalue)
    for metric in (error_rate, zero_one_loss):
        found = compare_predictions(y, systems, metric=metric, **options)["a", "b"]
        assert sorted(-np.array([*found.interval])) == pytest.approx([*default.interval])
        assert found.pvalue == pytest.approx(default.pvalue)


def test_an_area_of_labels_is_told():
    y = np.arange(60) % 2
    p = np.random.default_rng(0).random(60)
    labels = (p > 0.5).astype(int)
    for metric in ("roc_auc", "average_precision"):
        with pytest.warns(UserWarning, match="labels 0 and 1 of y_pred"):
            metric_interval(metric, y, labels)
        with pytest.warns(UserWarning, match=r"labels 0 and 1 of predictions\['b'\]"):
            compare_predictions(y, {"a": p, "b": labels}, metric=metric, n_resamples=20)
        metric_interval(metric, y, np.where(p > 0.5, 0.7, 0.2))  # two scores


@pytest.mark.parametrize(
    "option", [{"metric": 3}, {"n_resamples": 1}, {"n_jobs": "two"}, {"random_state": "one"}]
)
def test_an_option_of_a_wrong_kind_is_named(option):
    y = np.arange(20) % 2
    with pytest.raises((TypeError, ValueError), match=f"{next(iter(option))} must"):
        compare_predictions(y, [y, 1 - y], **option)
