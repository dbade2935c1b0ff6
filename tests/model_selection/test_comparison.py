"""All pairs of several systems: P-values, intervals and ranks that hold together; margins."""

import pickle
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.stats import binomtest, norm, t
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from statsmodels.stats.multitest import multipletests

from skeval.model_selection import compare_classifiers, compare_predictions, compare_scores
from skeval.model_selection._pair_tests import bootstrap_pairs

X, Y = make_classification(n_samples=120, n_features=6, n_informative=3, flip_y=0.2, random_state=3)
THREE = {
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
    "bayes": GaussianNB(),
    "logistic": LogisticRegression(),
}
PAIRS = [("tree", "bayes"), ("tree", "logistic"), ("bayes", "logistic")]
RANDOM = np.random.default_rng(0).random(len(Y))
SPLITS = ShuffleSplit(12, test_size=0.3, random_state=0)


@pytest.mark.parametrize("method", ["corrected_t", "mcnemar", "bootstrap"])
def test_each_pair_is_what_the_pair_alone_is(method):
    options = {"method": method, "cv": SPLITS if method == "corrected_t" else 4}
    options |= {"n_resamples": 9, "random_state": 0}
    found = compare_classifiers(THREE, X, Y, **options)
    assert list(found.differences) == PAIRS
    for a, b in PAIRS:
        alone = compare_classifiers([THREE[a], THREE[b]], X, Y, **options)
        one = alone.difference
        assert found[a, b].extra.pvalue_alone == pytest.approx(one.pvalue, rel=1e-12)
        assert found[a, b].value == one.value
        assert_allclose(found[a, b].limits[method](0.7), one.limits[method](0.9))
        for name in ("only_a", "only_b"):
            assert getattr(found[a, b].extra, name) == getattr(one.extra, name)


def test_tables_of_all_pairs():
    found = compare_classifiers(THREE, X=X, y=Y, cv=SPLITS)
    single = [found[pair] for pair in PAIRS]
    above = np.triu_indices(3, 1)
    assert_allclose(found.to_matrix(), found.values[:, None] - found.values, atol=1e-15)
    expected = multipletests([each.extra.pvalue_alone for each in single], method="holm")[1]
    pvalues, lows = found.to_matrix("pvalue"), found.to_matrix("low")
    assert_allclose(pvalues[above], expected)
    assert_allclose(pvalues, pvalues.T)
    for (a, b), each in found.differences.items():
        two = {name: THREE[name] for name in (a, b)}
        alone = compare_classifiers(two, X=X, y=Y, cv=SPLITS).difference
        expected = alone.confidence_interval(1 - 0.05 / 3)
        assert_allclose([*each.interval], [expected.low, expected.high])
        assert each.confidence_interval(0.99).low < each.interval.low
    assert_allclose(lows, -found.to_matrix("high").T)
    frame = found.to_frame()
    assert frame[["a", "b"]].to_numpy().tolist() == [list(pair) for pair in PAIRS]
    assert_allclose(frame["low"], lows[above])
    assert str(pickle.loads(pickle.dumps(found))) == str(found)
    assert found.conclusion.split()[0] == found.names[int(found.values.argmax())]


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("wrong", [(9, 45), (45, 9), (40, 45), (40, 40)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_conclusions_follow_from_the_test_and_the_interval(level, wrong, alternative):
    """One-sided tests say what they looked at, and no P-value above 5 % is more than chance."""
    rng, y = np.random.default_rng(0), np.arange(100) % 2
    systems = [np.where(rng.permutation(100) < n, 1 - y, y) for n in wrong]
    options = {"method": "mcnemar", "alternative": alternative, "confidence_level": level}
    pair = compare_predictions(y, systems, **options).difference
    better = "higher" if pair.value > 0 else "lower"
    wanted = {"two-sided": better, "greater": "higher", "less": "lower"}[alternative]
    significant = pair.pvalue <= min(0.05, round(1 - level, 12))
    assert ("the difference is significant" in pair.conclusion) == significant
    if significant:
        assert wanted == better
    else:
        assert ("without 0" in pair.conclusion) != (pair.interval.low <= 0 <= pair.interval.high)
    assert (f" scores {wanted} than " in pair.conclusion) == (
        significant or alternative != "two-sided"
    )


def test_what_does_not_vary_cannot_be_judged():
    X = np.r_[np.zeros(20), np.full(20, 9.0)][:, None] + np.linspace(0, 1, 40)[:, None]
    with pytest.warns(UndefinedMetricWarning):
        found = compare_classifiers(
            [GaussianNB(), DummyClassifier()], X, np.repeat([0, 1], 20), cv=5, random_state=0
        )
    assert "the difference is 0.5000, without variation" in found.conclusion
    assert "nan" not in str(found)
    with pytest.warns(UndefinedMetricWarning):
        pairs = compare_scores(
            {"a": [0.9, 0.8], "b": [0.7, 0.6], "c": [0.9, 0.7]}, test_train_ratio=0.1
        )
    assert "The difference from b was not tested" in pairs.conclusion
    assert "No significant difference from c;" in pairs.conclusion
    assert pairs.tied == [("a", "c", "b")]
    assert [*pairs.ranks] == ["a", "b", "c"]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_equal_scores_share_the_first_place(order):
    """Whoever is named first: with the same scores nobody is the best."""
    y = Y.astype(float)
    scores = {"one": y, "two": y, "chance": RANDOM, "near": np.where(RANDOM > 0.02, y, 1 - y)}
    names = [list(scores)[place] for place in order]
    found = compare_predictions(y, {name: scores[name].round() for name in names}, method="mcnemar")
    best = tuple(name for name in names if name in ("one", "two"))
    assert found.best == best
    assert found.ranks["one"].value == found.ranks["two"].value == 1.5
    assert "they differ significantly from chance" in found.conclusion

    noise = np.random.default_rng(0).normal(size=(12, 1))
    shifted = pd.DataFrame(noise + [[1.0, 1.0, 0.0, 0.999][at] for at in order], columns=names)
    assert compare_scores(shifted, over="datasets").best == best


def mcnemar(only_a, only_b, alternative="two-sided"):
    """Return the test of two systems of which so many samples have only one right answer."""
    a = np.repeat([1, 0], [only_a, only_b])
    systems = {"a": np.append(a, 1), "b": np.append(1 - a, 1)}
    options = {"method": "mcnemar", "alternative": alternative}
    return compare_predictions(np.ones(len(a) + 1), systems, **options).difference


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_one_sided_pvalues(alternative):
    sign = 1 if alternative == "greater" else -1
    rng = np.random.default_rng(1)
    d = rng.normal(0.2, 1, 12)
    # with a ratio of almost 0 the corrected test is that of Student
    splits, options = {"a": d, "b": np.zeros(12)}, {"test_train_ratio": 1e-12}
    student = compare_scores(splits, alternative=alternative, **options).difference
    assert_allclose(student.pvalue, stats.ttest_1samp(d, 0, alternative=alternative).pvalue)
    assert_allclose(
        mcnemar(9, 4, alternative).pvalue, stats.binomtest(9, 13, alternative=alternative).pvalue
    )
    many = mcnemar(60, 45, alternative).pvalue
    assert_allclose(many, stats.binomtest(60, 105, alternative=alternative).pvalue)
    replicates = rng.normal(0.2, 1, 99)
    exceeding = (sign * (replicates - 0.2) >= sign * 0.2).sum()
    resampled = np.array([replicates, np.zeros(99)])
    assert (
        bootstrap_pairs(np.array([0.2, 0.0]), resampled, alternative).pvalue
        == (1 + exceeding) / 100
    )
    scores = [rng.normal(size=len(Y)) + shift * Y for shift in (1, 2)]
    one = compare_predictions(Y, scores, method="delong", alternative=alternative)
    assert_allclose(one.difference.pvalue, stats.norm.sf(sign * one.difference.statistic))
    assert f"P-value ({alternative})" in str(one.difference)


def test_estimators_come_in_a_dict_or_a_list():
    by_name = compare_classifiers(estimators=THREE, X=X, y=Y, method="mcnemar", random_state=0)
    listed = compare_classifiers(list(THREE.values()), X, Y, method="mcnemar", random_state=0)
    assert_allclose(by_name.to_matrix("pvalue"), listed.to_matrix("pvalue"))
    assert listed.names == ("DecisionTreeClassifier", "GaussianNB", "LogisticRegression")
    with pytest.raises(AttributeError, match="`difference` is defined for two models"):
        _ = listed.difference
    with pytest.raises(TypeError, match="estimators must be a dict or a list with at least two"):
        compare_classifiers(GaussianNB(), X, Y)
    with pytest.raises(TypeError, match="estimators must contain at least two models, got 1"):
        compare_classifiers([GaussianNB()], X, Y)
    with pytest.raises(TypeError, match="estimators must be a dict with at least two names"):
        compare_classifiers({"one": GaussianNB()}, X, Y)
    with pytest.raises(TypeError, match="estimators must be a dict with at least two names"):
        compare_classifiers({1: GaussianNB(), 2: GaussianNB()}, X, Y)
    with pytest.raises(TypeError, match=r"estimators\['none'\] must have the methods fit"):
        compare_classifiers(THREE | {"none": None}, X, Y)
    with pytest.raises(TypeError, match="must be all classifiers or all regressors"):
        compare_classifiers(THREE | {"ridge": Ridge()}, X, Y)
    with pytest.raises(ValueError, match="alternative must be 'two-sided' for more than two"):
        compare_classifiers(THREE, X, Y, alternative="less")


TRUE = np.array([0.0, 0.0, 1.2, 2.4])


def cover_ranks(n_data_sets):
    """Count the data sets in which the intervals of all ranks hold the true ones.

    Where two are truly equal, either may come first: both places have to be held.
    """
    least = 1 + (TRUE[:, None] < TRUE).sum(axis=1)
    most = len(TRUE) - (TRUE[:, None] > TRUE).sum(axis=1)
    rng, covered, sure = np.random.default_rng(0), 0, 0
    for _ in range(n_data_sets):
        scores = dict(zip("abcd", TRUE[:, None] + rng.normal(size=(4, 15)), strict=True))
        ranks = compare_scores(scores, test_train_ratio=1e-9).ranks
        ends = np.array([[*each.interval] for each in ranks.values()])
        covered += bool((ends[:, 0] <= least).all() and (most <= ends[:, 1]).all())
        sure += bool(ends[3, 0] == 4 or ends[3, 1] == 1)
    return covered, sure


@pytest.mark.simulated
def test_intervals_of_ranks_hold_the_true_ranks_together():
    covered, sure = cover_ranks(80)
    assert stats.binom.cdf(covered, 80, 0.95) > 0.001
    assert sure > 20


def test_ranks_do_not_depend_on_the_order_of_systems():
    rng = np.random.default_rng(1)
    scores = {name: rng.normal(at / 2, 1, 12) for at, name in enumerate("abcde")}
    found = compare_scores(scores, test_train_ratio=0.01)
    turned = compare_scores({name: scores[name] for name in "edcba"}, test_train_ratio=0.01)
    for name, rank in found.ranks.items():
        assert turned.ranks[name].value == rank.value
        assert turned.ranks[name].interval == rank.interval


def test_what_is_tied_is_found_different_nowhere():
    rng = np.random.default_rng(2)
    scores = {name: rng.normal(at, 1, 12) for at, name in enumerate("abcdef")}
    found = compare_scores(scores, test_train_ratio=0.01)
    assert found.best == (found.names[int(found.values.argmax())],)
    assert found.tied
    order = [found.names[place] for place in found.order]
    for group in found.tied:
        start = order.index(group[0])
        assert tuple(order[start : start + len(group)]) == group
        pairs = [pair for pair in found.differences if set(pair) <= set(group)]
        assert min(found[pair].pvalue for pair in pairs) > found.level
    assert str(pickle.loads(pickle.dumps(found)).ranks["a"]) == str(found.ranks["a"])
    words = found.to_dict()
    assert words["ranks"]["f"]["low"] == found.ranks["f"].interval.low
    assert words["differences"][0]["pvalue"] == found["a", "b"].pvalue


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(
    "method",
    ["max_t", "permutation", "bootstrap", "mcnemar", "delong", "time_blocks", "diebold_mariano"],
)
def test_a_pair_reads_in_either_order(method, alternative):
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 60)
    scores = {"a": y + rng.normal(0, 0.6, 120), "b": y + rng.normal(0, 1.2, 120)}
    if method != "delong":
        scores = {name: (each > 0.5).astype(int) for name, each in scores.items()}
    opposite = {"two-sided": "two-sided", "greater": "less", "less": "greater"}[alternative]
    options = {"method": method, "n_resamples": 99, "random_state": 0}
    pair = compare_predictions(y, scores, alternative=alternative, **options)["b", "a"]
    swapped = {name: scores[name] for name in "ba"}
    known = compare_predictions(y, swapped, alternative=opposite, **options).difference
    assert (pair.a, pair.b, pair.name) == ("b", "a", known.name)
    assert pair.alternative == opposite
    assert (pair.extra.only_a, pair.extra.only_b) == (known.extra.only_a, known.extra.only_b)
    for name in ("value", "statistic", "standard_error", "pvalue"):
        assert_allclose(getattr(pair, name), getattr(known, name), rtol=1e-12, atol=1e-15)
    assert_allclose(list(pair.interval), list(known.interval), atol=1e-12)
    assert_allclose(
        list(pair.confidence_interval(0.7)), list(known.confidence_interval(0.7)), atol=1e-12
    )
    assert pair.conclusion == known.conclusion


def test_a_pair_of_data_sets_reads_in_either_order():
    scores = np.random.default_rng(0).normal(size=(12, 11)) + np.arange(11) / 5
    for some in (scores, scores[:, :3]):
        found = compare_scores(some, over="datasets")
        pair, known = found["classifier 2", "classifier 1"], found["classifier 1", "classifier 2"]
        assert (pair.value, pair.pvalue) == (-known.value, known.pvalue)
        low, high = known.interval.low, known.interval.high
        assert tuple(pair.interval) == (-high, -low)
        assert pair.extra.effect_size == -known.extra.effect_size
    for wrong in (("classifier 1", "classifier 1"), ("classifier 1", "another")):
        with pytest.raises(KeyError, match="two different names of"):
            found[wrong]


def test_a_pair_of_grouped_samples_reads_in_either_order():
    y, guesses = draw(60, {"a": 0.9, "b": 0.6})
    options = {"method": "mcnemar", "groups": np.arange(60) // 5}
    found = compare_predictions(y, guesses, **options)
    assert found["a", "b"].statistic > 0
    assert found["b", "a"].statistic == -found["a", "b"].statistic


def draw(n, shares, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    right = {name: rng.random(n) < share for name, share in shares.items()}
    return y, {name: np.where(mask, y, 1 - y) for name, mask in right.items()}


def near_half(pvalue):
    """What the inversion of an interval returns: 0.5 stands for 0.45 to 0.55."""
    return 0.5 if 0.45 < pvalue < 0.55 else pvalue


@pytest.mark.parametrize("share", [0.9, 0.83, 0.6])
@pytest.mark.parametrize("margin", [0.01, 0.1])
def test_pvalues_are_those_of_two_one_sided_tests(margin, share):
    """Also of a system that is clearly worse, whose P-value is near 1."""
    y, systems = draw(1000, {"a": share, "b": 0.88})
    options = {"metric": "accuracy", "method": "max_t", "random_state": 0}
    pair = compare_predictions(y, systems, margin=margin, **options)["a", "b"]
    center = pair.value * 1000 / 1002  # half a sample in each cell (Agresti and Min 2005)
    above, below = (norm.sf((s * center + margin) / pair.standard_error) for s in (1, -1))
    expected = [near_half(p) for p in (above, max(above, below))]
    assert [pair.pvalue_noninferior, pair.pvalue_equivalent] == pytest.approx(expected, 1e-6, 2e-9)
    scores = {"a": [0.80, 0.82, 0.79, 0.81], "b": [0.81, 0.80, 0.80, 0.80]}
    options = {"over": "splits", "test_train_ratio": 0.25}
    pair = compare_scores(scores, margin=margin, **options)["a", "b"]
    above = t.sf((pair.value + margin) / pair.standard_error, 3)
    assert pair.pvalue_noninferior == pytest.approx(near_half(above), rel=1e-6)


def test_a_reversed_pair_and_losses():
    y, systems = draw(400, {"a": 0.95, "b": 0.85})
    comparison = compare_predictions(y, systems, margin=0.02)
    assert comparison["a", "b"].pvalue_noninferior < 0.01 < comparison["b", "a"].pvalue_noninferior
    assert "a is not worse than b by 0.02 or more" in comparison["a", "b"].conclusion
    assert "b may be worse than a" in comparison["b", "a"].conclusion
    rng = np.random.default_rng(0)
    truth = rng.normal(size=300)
    noisy = {"a": truth + 0.1 * rng.normal(size=300), "b": truth + rng.normal(size=300)}
    options = {"metric": mean_squared_error, "random_state": 0}
    losses = compare_predictions(truth, noisy, margin=0.1, **options)
    assert losses["a", "b"].pvalue_noninferior < 0.01 < losses["b", "a"].pvalue_noninferior


def test_fits_and_equivalence():
    models = {"a": GaussianNB(), "c": DecisionTreeClassifier(random_state=0)}
    X, y = load_iris(return_X_y=True)
    comparison = compare_classifiers(models, X, y, cv=5, margin=0.2, random_state=0)
    entry = comparison["a", "c"].to_dict()
    assert entry["margin"] == 0.2
    assert 0 < entry["pvalue_noninferior"] <= entry["pvalue_equivalent"] < 0.05


@pytest.mark.parametrize("margin", [0, -0.1, np.nan, "1", np.inf])
def test_bad_margins(margin):
    y, systems = draw(50, {"a": 0.9, "b": 0.8})
    with pytest.raises(ValueError, match="margin must be None or a finite number above 0, got"):
        compare_predictions(y, systems, margin=margin)


@pytest.mark.simulated
def test_size_at_the_margin():
    """The first system is worse by exactly the margin; the test has its level of 5 %."""
    rejected = 0
    for seed in range(400):
        y, systems = draw(300, {"a": 0.80, "b": 0.85}, seed)
        pair = compare_predictions(y, systems, method="mcnemar", margin=0.05)["a", "b"]
        rejected += pair.pvalue_noninferior <= 0.05
    assert binomtest(rejected, 400, 0.05, alternative="greater").pvalue > 0.001
    assert rejected > 4


RNG = np.random.default_rng(0)
EFFECT = np.linspace(0, 1.5, 12)
SCORES = RNG.normal(size=(30, 1)) + EFFECT + RNG.normal(size=(30, 12))
RIGHT = (SCORES > 1).astype(float)


def compare_items(scores, **options):
    return compare_scores(scores, over="items", **options)


def over_datasets(method):
    return lambda: compare_scores(SCORES.round(1), over="datasets", method=method, random_state=0)


COMPARISONS = {
    "items": lambda: compare_items(SCORES, random_state=0),
    "right or wrong": lambda: compare_items(RIGHT, random_state=0),
    "wilcoxon": over_datasets("wilcoxon"),
    "nemenyi": over_datasets("nemenyi"),
}


@pytest.mark.parametrize("kind", COMPARISONS)
def test_arrays_have_the_numbers_of_the_differences(kind):
    found = COMPARISONS[kind]()
    matrices = {name: found.to_matrix(name) for name in ("value", "low", "high", "pvalue")}
    assert list(found.differences) == list(combinations(found.names, 2))
    better, worse = np.zeros(12), np.zeros(12)
    for (a, b), difference in found.differences.items():
        at = found.names.index(a), found.names.index(b)
        interval = difference.interval
        numbers = difference.value, interval.low, interval.high, difference.pvalue
        assert_allclose([matrix[at] for matrix in matrices.values()], numbers, rtol=1e-12)
        low, high = (
            difference.confidence_interval(0.5).low,
            difference.confidence_interval(0.5).high,
        )
        better[list(at)] += high < 0, low > 0
        worse[list(at)] += low > 0, high < 0
    for place, rank in enumerate(found.ranks.values()):
        half = rank.confidence_interval(0.5)
        assert (half.low, half.high) == (1 + better[place], 12 - worse[place])


@pytest.mark.parametrize(
    "method", ["max_t", "mcnemar", "permutation", "bootstrap", "time_blocks", "diebold_mariano"]
)
def test_no_limit_exceeds_the_range_of_the_score(method):
    y, systems = draw(24, {"a": 0.99, "b": 0.5, "c": 0.01})
    found = compare_predictions(y, systems, method=method, confidence_level=0.999, random_state=0)
    assert np.nanmax(np.abs([found.to_matrix("low"), found.to_matrix("high")])) <= 1
    interval = found["a", "c"].confidence_interval(0.999999)
    assert -1 <= interval.low <= interval.high <= 1


def test_differences_that_do_not_vary_are_reported():
    scores = SCORES.copy()
    scores[:, 1] = scores[:, 0] + 1
    with pytest.warns(match="the values of 1 difference do not vary"):
        found = compare_items(scores, random_state=0)
    assert np.isnan(found.to_matrix("low")[0, 1])


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda y: compare_predictions(y, y, 1 - y), r"compare_predictions\(y_true, predictions\)"),
        (lambda y: compare_scores(y, 1 - y), r"compare_scores\(scores\)"),
        (
            lambda y: compare_classifiers(GaussianNB(), GaussianNB(), y[:, None], y),
            r"compare_classifiers\(estimators, X, y\)",
        ),
    ],
)
def test_systems_one_by_one_are_answered_by_the_right_call(call, right):
    with pytest.raises(TypeError, match=f"must be {right}, with several models as one list"):
        call(np.arange(20) % 2)
