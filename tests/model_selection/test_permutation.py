"""The permutation test against plain loops and scikit-learn, and what it refuses."""

from itertools import product

import numpy as np
import pytest
from helpers.echo import permutation_of, permutation_tests
from hypothesis import given
from hypothesis import strategies as st
from reference import permutation as reference
from scipy.signal import lfilter
from scipy.stats import binomtest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, f1_score, make_scorer, r2_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    TimeSeriesSplit,
    permutation_test_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from skeval.model_selection import cross_val_error, permutation_test
from skeval.model_selection._permutation import draw_orders


def some_data(n=30, p=6, shift=0.8, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.repeat(["a", "b"], n // 2)
    X[y == "b", 0] += shift
    return X, y


def some_orders(n, n_permutations, seed=1):
    rng = np.random.RandomState(seed)
    return np.array([rng.permutation(n) for _ in range(n_permutations)])


SPLITTERS = [
    StratifiedKFold(5),
    StratifiedKFold(4, shuffle=True, random_state=0),
    KFold(3, shuffle=True, random_state=0),
    LeaveOneOut(),
]


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
def test_against_scikit_learn_and_a_plain_loop(cv):
    """scikit-learn draws its orders from RandomState(1), so they are the given ones."""
    X, y = some_data(n=14 if isinstance(cv, LeaveOneOut) else 30)
    orders = some_orders(len(y), 4)
    procedure = make_pipeline(SelectKBest(k=2), GaussianNB())
    ours = permutation_test(procedure, X, y, cv=cv, permutations=orders)
    score, null, pvalue = permutation_test_score(
        procedure, X, y, cv=cv, n_permutations=4, random_state=1
    )
    assert ours.statistic == score
    assert ours.null_distribution.tolist() == null.tolist()
    assert ours.pvalue == pvalue
    loop = reference.null_distribution(procedure, X, y, cv, orders, accuracy_score)
    assert ours.null_distribution == pytest.approx(loop, abs=1e-15)
    assert ours.pvalue == reference.pvalue(score, loop)


@pytest.mark.parametrize(
    "scoring", ["roc_auc", "neg_log_loss", make_scorer(f1_score, pos_label="b")]
)
def test_any_scorer(scoring):
    X, y = some_data()
    options = {"cv": StratifiedKFold(3), "scoring": scoring}
    model = DecisionTreeClassifier(max_depth=3, random_state=0)  # no solver serves it
    ours = permutation_test(model, X, y, permutations=some_orders(30, 10), **options)
    score, null, pvalue = permutation_test_score(
        model, X, y, n_permutations=10, random_state=1, **options
    )
    assert ours.statistic == score
    assert ours.null_distribution.tolist() == null.tolist()
    assert ours.pvalue == pvalue


def test_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] + rng.normal(size=30)
    model, cv, orders = LinearRegression(), KFold(5), some_orders(30, 10)
    ours = permutation_test(model, X, y, cv=cv, permutations=orders)
    score, null, pvalue = permutation_test_score(
        model, X, y, cv=cv, n_permutations=10, random_state=1
    )
    assert ours.pvalue == pvalue
    # All labels are predicted at once, which adds in another order.
    assert ours.statistic == pytest.approx(score, rel=1e-12)
    assert ours.null_distribution == pytest.approx(null, rel=1e-12)
    loop = reference.null_distribution(model, X, y, cv, orders, r2_score)
    assert ours.null_distribution == pytest.approx(loop, rel=1e-12)


class CountingNB(GaussianNB):
    fits = 0

    def fit(self, X, y):
        CountingNB.fits += 1
        return super().fit(X, y)


def test_several_metrics_from_one_set_of_fits():
    X, y = some_data()
    options = {"cv": StratifiedKFold(3), "permutations": some_orders(30, 10)}
    CountingNB.fits = 0
    both = permutation_test(CountingNB(), X, y, scoring=["accuracy", "roc_auc"], **options)
    assert CountingNB.fits == 3 * 11
    for name in ("accuracy", "roc_auc"):
        one = permutation_test(CountingNB(), X, y, scoring=name, **options)
        assert both[name].name == one.name == name
        assert both[name].statistic == one.statistic
        assert both[name].null_distribution.tolist() == one.null_distribution.tolist()
        assert both[name].pvalue == one.pvalue
    assert list(both) == ["accuracy", "roc_auc"]
    assert len(both) == 2
    assert both.to_frame().loc["roc_auc", "pvalue"] == both["roc_auc"].pvalue
    assert "permutation test (roc_auc)" in str(both)


def test_a_callable_that_returns_a_dict():
    X, y = some_data()

    def both(estimator, X, y):
        predicted = estimator.predict(X)
        return {"hits": (predicted == y).mean(), "misses": -(predicted != y).mean()}

    tests = permutation_test(
        GaussianNB(), X, y, cv=StratifiedKFold(3), scoring=both, permutations=some_orders(30, 10)
    )
    assert tests["hits"].pvalue == tests["misses"].pvalue
    assert tests["hits"].statistic == pytest.approx(1 + tests["misses"].statistic)


class Witness(GaussianNB):
    """Writes down what it is fitted on; the last column of X numbers the samples."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        Witness.seen.append((X[:, -1].astype(int), y))
        return super().fit(X, y)


def test_groups_within():
    """Every permuted label stays in its group, as in scikit-learn."""
    X, _ = some_data(n=24)
    y = np.tile(["a", "b"], 12)
    groups = np.repeat([3, 1, 2], 8)
    X[:, -1] = np.arange(24)
    Witness.seen = []
    permutation_test(
        Witness(), X, y, cv=GroupKFold(3), groups=groups, n_permutations=20, random_state=0
    )
    moved = 0
    for rows, labels in Witness.seen:
        for group in np.unique(groups[rows]):
            inside = groups[rows] == group
            assert np.sum(labels[inside] == "a") == 4
            moved += np.any(labels[inside] != y[rows[inside]])
    assert moved > 60


def test_groups_whole():
    """Where every group has one label, the labels of groups are shuffled and none is split."""
    X, _ = some_data(n=24)
    groups = np.repeat(np.arange(6), [2, 4, 6, 2, 4, 6])
    y = np.array(list("abaabb"))[groups]
    X[:, -1] = np.arange(24)
    halves = [np.flatnonzero(groups < 3), np.flatnonzero(groups > 2)]
    labels_of_half = []

    def witness(estimator, X, y):
        rows = X[:, -1].astype(int)
        labels = [np.unique(y[groups[rows] == group]) for group in np.unique(groups[rows])]
        assert all(len(of_group) == 1 for of_group in labels)
        labels_of_half.append("".join(of_group[0] for of_group in labels))
        return 0.0

    permutation_test(
        GaussianNB(),
        X,
        y,
        cv=[(halves[1], halves[0]), (halves[0], halves[1])],
        groups=groups,
        scoring=witness,
        n_permutations=300,
        random_state=0,
    )
    seen = {a + b for a, b in zip(labels_of_half[::2], labels_of_half[1::2], strict=True)}
    assert len(seen) == 20  # 6 choose 3 arrangements of three a and three b
    assert all(arrangement.count("a") == 3 for arrangement in seen)


def test_groups_that_hold_one_label_among_others():
    """One impure group decides what is tested, so it must be said."""
    X, y = some_data(n=24, shift=4)
    groups = np.repeat(np.arange(6), 4)
    options = {"groups": groups, "n_permutations": 19, "cv": GroupKFold(3), "random_state": 0}
    assert permutation_test(NearestCentroid(), X, y, **options).pvalue < 0.3
    y[0] = "b"
    with pytest.warns(UserWarning, match="5 of 6 groups have a single label"):
        permutation_test(NearestCentroid(), X, y, **options)


@pytest.fixture(scope="module")
def sixty():
    """Arguments of a test of 60 permutations, and its result."""
    arguments = NearestCentroid(), *some_data(shift=0.2)
    options = {"cv": StratifiedKFold(3), "permutations": some_orders(30, 60)}
    return arguments, options, permutation_test(*arguments, **options)


@pytest.mark.parametrize("h", [1, 3, 8])
def test_sequential_stop_against_its_definition(h, sixty):
    arguments, options, whole = sixty
    early = permutation_test(*arguments, max_exceedances=h, **options)
    pvalue, used = reference.sequential_pvalue(whole.statistic, whole.null_distribution, h)
    assert used < 60
    assert (early.pvalue, early.n_resamples, early.n_exceedances) == (pvalue, used, h)
    assert early.stopped
    assert early.null_distribution.tolist() == whole.null_distribution[:used].tolist()
    assert "stopped                    True" in str(early)


def test_sequential_without_a_stop_is_the_plain_test():
    X, y = some_data(shift=3)
    options = {"cv": StratifiedKFold(3), "permutations": some_orders(30, 19)}
    whole = permutation_test(NearestCentroid(), X, y, **options)
    early = permutation_test(NearestCentroid(), X, y, max_exceedances=5, **options)
    assert not early.stopped
    assert early.pvalue == whole.pvalue == 1 / 20
    assert early.pvalue_interval == whole.pvalue_interval


def test_sequential_saves_fits_and_each_metric_stops_by_itself():
    X, y = some_data(shift=0)
    CountingNB.fits = 0
    tests = permutation_test(
        CountingNB(),
        X,
        y,
        cv=StratifiedKFold(2),
        scoring=["accuracy", "roc_auc"],
        n_permutations=2000,
        max_exceedances=4,
        random_state=0,
    )
    longest = max(test.n_resamples for test in tests.values())
    assert CountingNB.fits <= 2 * 2 * (2 + longest)  # the stages double
    for test in tests.values():
        assert test.stopped
        assert test.pvalue == 4 / test.n_resamples


def test_folds_are_those_of_cross_val_error():
    X, y = some_data()
    result = permutation_test(GaussianNB(), X, y, n_permutations=1, random_state=7)
    error = cross_val_error(GaussianNB(), X, y, random_state=7)
    assert result.statistic == pytest.approx(1 - error.extra.fold_mean, rel=1e-15)


def test_undefined_scores():
    """An undefined null score counts against a finding, an undefined observed one is an error."""
    X, y = some_data(shift=5)
    test = np.r_[0:8, 22:30]
    split = [(np.setdiff1d(np.arange(30), test), test)]
    calls = []

    def sometimes_nan(estimator, X, y):
        calls.append(0)
        return float("nan") if len(calls) in (3, 4) else estimator.score(X, y)

    options = {"cv": split, "scoring": sometimes_nan, "n_permutations": 19, "random_state": 0}
    with pytest.warns(UndefinedMetricWarning, match="of 2 of 19 permutations is undefined"):
        result = permutation_test(GaussianNB(), X, y, **options)
    assert result.n_exceedances == 2
    calls[:] = [0, 0]
    with pytest.raises(ValueError, match="sometimes_nan of the observed labels must be defined"):
        permutation_test(GaussianNB(), X, y, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": np.zeros(29)}, "groups must have a group for each of"),
        ({"permutations": np.zeros((2, 29), int)}, r"shape \(n_permutations, 30\), got \(2, 29\)"),
        ({"permutations": np.arange(30)}, r"shape \(n_permutations, 30\), got \(30,\)"),
        ({"permutations": np.empty((0, 30), int)}, r"shape \(n_permutations, 30\), got \(0, 30\)"),
        (
            {"permutations": np.vstack([np.arange(30), np.zeros(30, int)])},
            "each index from 0 to 29 once in each row",
        ),
        (
            {"permutations": np.arange(30.0)[None]},
            r"index from 0 to 29 once in each row, but row 0",
        ),
        ({"max_exceedances": 2.5}, r"max_exceedances must be an integer >= 1, got 2.5"),
        ({"alpha": 5}, r"alpha must satisfy 0 < alpha < 1, got 5"),
        ({"alpha": 0.1, "max_exceedances": 2}, r"alpha must be None if max_exceedances=2"),
        ({"cv": 20}, r"cv=20 folds need a class with at least 20 samples, but the largest has 15"),
        ({"scoring": "nothing"}, r"nothing"),
    ],
)
def test_bad_input(options, message):
    X, y = some_data()
    with pytest.raises(ValueError, match=message):
        permutation_test(GaussianNB(), X, y, **options)


near_ties = st.lists(st.sampled_from([0.1, 0.3, 0.3 * (1 + 1e-14), 0.5]), min_size=1, max_size=30)


@given(near_ties, st.integers(1, 6))
def test_pvalue_against_its_definition(null, h):
    scores = 0.3 * (1 + 3e-15), *null
    whole = permutation_of(*scores)
    assert whole.pvalue == reference.pvalue(0.3, null)
    assert 1 / (len(null) + 1) <= whole.pvalue <= 1
    early = permutation_of(*scores, max_exceedances=h)
    assert (early.pvalue, early.n_resamples) == reference.sequential_pvalue(0.3, null, h)


@pytest.mark.parametrize(("n", "level"), [(11, 0.3), (10, 0.5), (12, 0.09)])
def test_pvalue_of_a_test_that_stops_when_it_is_decided(n, level):
    exceeding = [*product((0.0, 1.0), repeat=n)]
    tests = permutation_tests([(1.0, *each) for each in exceeding], alpha=level)
    stops = [(test.n_exceedances, test.n_resamples) for test in tests]
    pvalues = reference.decided_pvalues(stops, exceeding)
    for stop, test in zip(stops, tests, strict=True):
        share = (1 + stop[0]) / (1 + stop[1])
        assert test.pvalue == pytest.approx(max(pvalues[stop], share), rel=1e-12)


def test_the_decision_is_that_of_all_permutations():
    """The exact size, and mean number of permutations and power by the chance of an exceedance."""
    last = np.arange(1, 1000) % 20 == 0  # as many exceedances as reject, never decided before
    longest = permutation_of(1.0, *last, 0.0, alpha=0.05)
    assert (longest.n_exceedances, longest.n_resamples) == (49, 1000)
    assert 0.0495 < longest.pvalue <= 0.05
    assert permutation_of(1.0, *last[:994], 1.0, *np.zeros(5), alpha=0.05).n_resamples == 995
    for chance, mean in ((0.5, 10), (0.1, 200), (0.02, 300), (1e-9, 110)):
        exceeding = np.random.default_rng(0).random((80, 1000)) < chance
        tests = permutation_tests(np.c_[np.ones(80), exceeding], alpha=0.05)
        assert all(test.stopped for test in tests)
        used, counts = np.array([(test.n_resamples, test.n_exceedances) for test in tests]).T
        assert used.mean() <= mean
        assert np.mean(((1 + counts) / (1 + used) <= 0.05) == (chance < 0.05)) > 0.99


@pytest.mark.parametrize(("shift", "few"), [(0, 40), (3, 120)])
def test_alpha_saves_fits(shift, few):
    X, y = some_data(shift=shift)
    options = {"cv": StratifiedKFold(3), "permutations": some_orders(30, 200)}
    model = LinearDiscriminantAnalysis()
    test = permutation_test(model, X, y, alpha=0.05, **options)
    whole = permutation_test(model, X, y, **options)
    assert test.stopped
    assert test.n_resamples < few
    assert (test.pvalue <= 0.05) == (whole.pvalue <= 0.05) == (shift > 0)


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1.0, 1e3, 1e20])
def test_ties_do_not_depend_on_the_unit(scale):
    null = scale * np.array([0.1, -0.2, 0.3, 1e-17, -1e-17, 0.0, -0.3])
    for statistic in (0.0, 1e-17, -1e-17):
        assert permutation_of(scale * statistic, *null).n_exceedances == 5
    assert permutation_of(scale * 1e-9, *null).n_exceedances == 2


def test_a_score_that_explodes_ties_with_nothing():
    assert permutation_of(-1.0, -1e20, -3.0, -2.0, -1.5, -np.inf).n_exceedances == 0
    assert permutation_of(np.inf, np.inf, 1.0).n_exceedances == 1


def test_interval_of_the_pvalue():
    result = permutation_of(1.0, *np.ones(7), *np.zeros(92))
    expected = binomtest(7, 99).proportion_ci(method="exact")
    interval = result.pvalue_interval
    assert tuple(interval) == pytest.approx((expected.low, expected.high))
    assert interval.confidence_level == 0.95
    wide = result.confidence_interval(0.99)
    assert wide.low < interval.low < interval.high < wide.high
    with pytest.raises(ValueError, match="confidence_level must satisfy"):
        result.confidence_interval(1)


@pytest.mark.parametrize(("h", "used"), [(5, 40), (1, 12), (3, 3)])
def test_interval_after_a_stop(h, used):
    null = np.r_[np.ones(h - 1), np.zeros(used - h), 1.0, np.zeros(5)]
    result = permutation_of(1.0, *null, max_exceedances=h)
    assert result.n_resamples == used
    interval = result.confidence_interval(0.9)
    expected = reference.negative_binomial_interval(h, used, 0.9)
    assert tuple(interval) == pytest.approx(expected, abs=1e-5)


@pytest.mark.simulated
@pytest.mark.parametrize("rule", [{}, {"max_exceedances": 5}, {"alpha": 0.1}])
def test_pvalue_is_valid(rule):
    """P(pvalue <= a) <= a when the observed score is one more draw of the null distribution."""
    draws = np.random.default_rng(1).integers(0, 30, size=(2000, 40)) / 30  # with ties
    pvalues = [test.pvalue for test in permutation_tests(draws, **rule)]
    for level in (0.025, 0.05, 0.1, 0.3):
        rejected = int(np.sum(np.array(pvalues) <= level))
        assert binomtest(rejected, 2000, level, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize("splits", [False, True])
def test_folds_that_keep_the_order_ask_for_permutations_that_do(splits):
    rng = np.random.default_rng(0)
    X, y = np.cumsum(rng.normal(size=(60, 2)), axis=0), np.tile([0, 0, 1, 1], 15)
    cv = TimeSeriesSplit(3)
    cv = list(cv.split(X)) if splits else cv
    with pytest.raises(
        ValueError, match=r"cv must shuffle .*exchange='blocks', exchange='rotations'"
    ):
        permutation_test(NearestCentroid(), X, y, cv=cv, n_permutations=19)
    turned = (np.arange(60) + rng.integers(60, size=(19, 1))) % 60
    found = permutation_test(NearestCentroid(), X, y, cv=cv, permutations=turned)
    assert found.n_resamples == 19


PURE = np.repeat([0, 1, 1, 0, 1], 4)
MIXED = np.tile([0, 0, 1, 1], 5)
OF_FOUR, OF_MANY = np.repeat(np.arange(5), 4), np.repeat(np.arange(5), [2, 3, 4, 5, 6])


def orders_of(y, groups, exchange, n=20):
    found = draw_orders(y, groups, np.random.SeedSequence(0), exchange)
    return found, np.array([found.orders(r) for r in range(n)])


def test_blocks_change_places():
    rng = np.random.default_rng(0)
    y = (np.cumsum(rng.normal(size=300)) % 4 > 2).astype(int)
    _, orders = orders_of(y, None, "blocks")
    for order in orders:
        assert sorted(order) == list(range(300))
        assert np.sum((np.diff(order) - 1) % 300 != 0) <= 20  # places where blocks meet
    _, orders = orders_of(y, None, "rotations")
    for order in orders:
        assert not ((np.diff(order) - 1) % 300).any()


def test_labels_of_groups_of_any_size_change_places():
    """Each group has the label of another one, and keeps its own size."""
    y = np.repeat([0, 1, 1, 0, 1], [2, 3, 4, 5, 6])
    _, orders = orders_of(y, OF_MANY, "whole_groups")
    for order in orders:
        of_group = [np.unique(y[order][group == OF_MANY]) for group in range(5)]
        assert [len(labels) for labels in of_group] == [1] * 5
        assert sorted(np.concatenate(of_group)) == [0, 0, 1, 1, 1]
    assert len(np.unique(y[orders], axis=0)) > 5


def test_each_rotation_is_used_once():
    """The P-value of n rotations, the observed order among them, is 1 / n at least."""
    rng = np.random.default_rng(0)
    y = np.random.default_rng(1).integers(0, 2, 24)
    X = y[:, None] + 0.01 * rng.normal(size=(24, 1))
    options = {"cv": 2, "exchange": "rotations", "random_state": 0}
    found = permutation_test(GaussianNB(), X, y, n_permutations=999, **options)
    assert len(found.null_distribution) == 23
    assert found.pvalue >= 1 / 24
    few = permutation_test(GaussianNB(), X, y, n_permutations=10, **options)
    assert (few.null_distribution == found.null_distribution[:10]).all()
    orders = orders_of(y, None, "rotations", 23)[1]
    assert sorted(order[0] for order in orders) == list(range(1, 24))


@pytest.mark.parametrize(
    ("y", "groups", "exchange", "message"),
    [
        (PURE, OF_FOUR, "within_groups", "changes no label, because each group has a single label"),
        (MIXED, OF_MANY, "whole_groups", "needs two groups of the same size"),
        (MIXED, None, "whole_groups", "groups must be passed for exchange='whole_groups'"),
        (np.arange(20) // 10, None, "blocks", "fewer than three independent blocks"),
    ],
)
def test_what_cannot_be_exchanged_is_refused(y, groups, exchange, message):
    with pytest.raises(ValueError, match=message):
        orders_of(y, groups, exchange)


def test_what_is_tested_is_said():
    X = np.random.default_rng(0).normal(size=(20, 1))
    options = {"cv": 2, "n_permutations": 3, "random_state": 0}
    found = permutation_test(GaussianNB(), X, PURE, groups=OF_FOUR, **options)
    assert found.exchanged == "whole groups"
    assert "the labels of a group and the features of a group are independent" in str(found)
    in_time = TimeSeriesSplit(2)
    y = np.random.default_rng(1).integers(0, 2, 40)
    X = np.random.default_rng(2).normal(size=(40, 1))
    for exchange, word in (("rotations", "stationary"), ("blocks", "only within blocks")):
        series = options | {"cv": in_time, "exchange": exchange}
        found = permutation_test(GaussianNB(), X, y, **series)
        assert found.exchanged == exchange
        assert word in found.null_hypothesis


@pytest.mark.simulated
@pytest.mark.filterwarnings("ignore:.*groups have a single label")
@pytest.mark.parametrize("exchange", ["within_groups", "whole_groups", "samples"])
def test_the_level_is_held_in_groups(exchange):
    """Of labels and features that the groups share a part of each; of samples it is not."""
    rejected, groups = 0, np.repeat(np.arange(20), 6)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        shared = rng.normal(size=(20, 2))[groups] + rng.normal(size=(120, 2))
        y = (shared[:, 0] > 0).astype(float)
        x = shared[:, 1]
        if exchange == "within_groups":  # what is common to a group is no chance there
            x = x + y[groups * 6]
        orders = orders_of(y, groups, exchange, 39)[1]
        x = x - x.mean()
        null = np.abs((y[orders] - y.mean()) @ x)
        rejected += 1 + np.sum(null >= abs((y - y.mean()) @ x)) <= 2
    held = binomtest(rejected, 100, 0.05).pvalue > 0.001
    assert held == (exchange != "samples"), rejected


@pytest.mark.simulated
@pytest.mark.parametrize("exchange", ["blocks", "rotations"])
def test_the_level_is_held_in_time(exchange):
    """Of a series of labels and one of features, both alike from one sample to the next (.8)."""
    rejected = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        x, z = lfilter([1], [1, -0.8], rng.normal(size=(2, 400)))[:, 100:]
        y = (z > 0).astype(float)
        orders = orders_of(y, None, exchange, 39)[1]
        x -= x.mean()
        null = np.abs((y[orders] - y.mean()) @ x)
        rejected += 1 + np.sum(null >= abs((y - y.mean()) @ x)) <= 2
    assert binomtest(rejected, 100, 0.05).pvalue > 0.001


def test_a_printed_test_says_how_many_resamples_it_had():
    X, y = some_data()
    shown = str(permutation_test(GaussianNB(), X, y, n_permutations=19, random_state=0))
    assert [line.split() for line in shown.splitlines() if "resamples" in line] == [
        ["resamples", "19"]
    ]
