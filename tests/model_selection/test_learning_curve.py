"""Learning curves: the parts that train, the law, its answer, and how often intervals hold."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    learning_curve,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skeval._resampling.inputs import validate_inputs
from skeval._resampling.sampling_units import units_of
from skeval.model_selection import error_interval, learning_curve_band
from skeval.model_selection._interval_methods import plan_repeats
from skeval.model_selection._learning_curve import (
    EXPONENTS,
    Thinned,
    fit_law,
    limits_around,
    predict,
    write_answer,
)
from skeval.utils._checks import root_seed

X, Y = load_iris(return_X_y=True)


def thinned(cv, groups=None, train_sizes=None, y=Y, **given):
    inputs = validate_inputs(GaussianNB(), X, y, groups=groups, method="repeated_cv")
    design = plan_repeats(inputs, root_seed(0), cv=cv, **given)
    return Thinned(design, units_of(inputs.target, inputs.groups), root_seed(0), train_sizes)


def parts_of(found):
    """Return the training rows of each fit, by fold and size, and the test rows."""
    plan = found.plan
    blocks = [plan.draw(fit) for fit in range(plan.n_fits)]
    train = [np.flatnonzero(block.train[0]) for block in blocks]
    test = [np.flatnonzero(block.test[0]) for block in blocks]
    k = found.n_sizes
    return [train[at : at + k] for at in range(0, len(train), k)], test[::k]


@pytest.mark.parametrize("options", [{}, {"scoring": "accuracy"}])
def test_points_are_those_of_scikit_learn_on_the_same_parts(options):
    cv = StratifiedKFold(5)
    found = thinned(cv)
    curve = learning_curve_band(GaussianNB(), X, Y, cv=cv, random_state=0, **options)
    by_fold, tests = parts_of(found)
    for at in (0, 3):
        folds = [(parts[at], test) for parts, test in zip(by_fold, tests, strict=True)]
        _, _, scores = learning_curve(GaussianNB(), X, Y, train_sizes=[1.0], cv=folds)
        expected = scores.mean() if options else 1 - scores.mean()
        assert curve.y[at] == pytest.approx(expected)
        assert curve.x[at] == np.mean([len(parts[at]) for parts in by_fold])


def test_the_largest_size_is_the_error_interval():
    cv = KFold(5, shuffle=True)
    curve = learning_curve_band(GaussianNB(), X, Y, cv=cv, n_repeats=3, random_state=0)
    shown = learning_curve_band(
        GaussianNB(), X, Y, cv=cv, n_repeats=3, train_sizes=[1.0, 0.5], random_state=0
    )
    assert (curve.y[5], curve.low[5], curve.high[5]) == (shown.y[1], shown.low[1], shown.high[1])
    whole = error_interval(GaussianNB(), X, Y, cv=cv, n_repeats=3, random_state=0)
    assert shown.high[1] - shown.low[1] == pytest.approx(
        whole.interval.high - whole.interval.low, rel=0.3
    )
    assert shown.band is None
    assert "4 sizes" in shown.answer


def test_parts_are_nested_and_hold_all_classes():
    by_fold, tests = parts_of(thinned(5, n_repeats=2))
    for parts, test in zip(by_fold, tests, strict=True):
        assert not set(parts[-1]) & set(test)
        for smaller, larger in pairwise(parts):
            assert set(smaller) < set(larger)
        for part in parts:
            sizes = np.bincount(Y[part])
            assert sizes.max() - sizes.min() <= 2
    rare = np.where(np.arange(150) < 146, 0, 1)
    for parts in parts_of(thinned(2, y=rare, n_repeats=2))[0]:
        assert all(set(rare[part]) == {0, 1} for part in parts)


def test_groups_train_whole():
    groups = np.arange(150) // 5
    for parts in parts_of(thinned(GroupKFold(5), groups))[0]:
        for part in parts:
            assert set(np.bincount(groups[part])) <= {0, 5}


@pytest.mark.parametrize("groups", [None, np.arange(150) // 5])
def test_in_time_order_the_most_recent_train(groups):
    order = np.random.default_rng(0).permutation(150)
    cv = list(TimeSeriesSplit(4).split(X))
    by_fold, tests = parts_of(thinned(cv, groups, y=Y[order]))
    for parts, test in zip(by_fold, tests, strict=True):
        for part in parts:
            assert np.array_equal(part, np.arange(part[0], test[0]))


def test_counts_and_shares_are_sizes():
    counts, shares = (
        thinned(StratifiedKFold(5), train_sizes=[30, 60, 120]),
        thinned(StratifiedKFold(5), train_sizes=[0.25, 0.5, 1]),
    )
    assert counts.sizes.tolist() == shares.sizes.tolist() == [30, 60, 120]


@pytest.mark.parametrize(
    "train_sizes", [[0], [1.5], [-1], [200], ["a"], [[0.5, 1]], [0.5, 0.5], [0.999, 1.0], []]
)
def test_bad_sizes_are_refused(train_sizes):
    with pytest.raises(ValueError, match="train_sizes"):
        thinned(5, train_sizes=train_sizes)


def test_the_law_is_that_of_least_squares():
    rng = np.random.default_rng(0)
    ratio, weight = np.geomspace(0.15, 1, 6), rng.uniform(1, 2, 6)
    values = rng.uniform(0, 0.4, (40, 6)) + 0.1 * ratio**-0.7 * rng.integers(0, 2, (40, 1))
    found = fit_law(ratio, values, weight, 0.0)
    root = np.sqrt(weight / weight.sum())
    for at, row in enumerate(values):
        fits = [
            nnls(root[:, None] * np.column_stack([np.ones(6), ratio**-c]), root * row)
            for c in EXPONENTS
        ]
        assert found.misfit[at] == pytest.approx(min(off for _, off in fits) ** 2)
    assert found.at(ratio).shape == values.shape
    exact = 0.1 + 0.05 * ratio ** -EXPONENTS[7]
    law = fit_law(ratio, exact[None], weight, 0.0)
    assert np.ravel(law[:3]) == pytest.approx([0.1, 0.05, EXPONENTS[7]])


class Forgets(ClassifierMixin, BaseEstimator):
    """Is wrong the more often the more samples it has seen."""

    def fit(self, X, y):
        self.classes_, self.wrong_ = np.unique(y), len(y) / 200
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        truth = (X[:, 0] > 0).astype(int)
        return np.where(np.arange(len(X)) < self.wrong_ * len(X), 1 - truth, truth)


def test_the_answer():
    data, target = load_diabetes(return_X_y=True)
    curve = learning_curve_band(Ridge(0.01), data[:150], target[:150], random_state=0)
    assert curve.answer in " ".join(str(curve).split())
    assert curve.columns["extrapolated"].tolist() == [False] * 6 + [True] * 2
    assert curve.x[-2:].tolist() == [150, 300]
    gain = curve.extra.gain
    assert gain.value == pytest.approx(curve.y[-2] - curve.y[-1])
    assert 0 <= gain.interval.low <= gain.value <= gain.interval.high
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(100, 3))
    rising = learning_curve_band(Forgets(), noise, (noise[:, 0] > 0).astype(int), random_state=0)
    assert "is unknown" in rising.answer
    assert rising.band is None
    assert len(rising.x) == 6
    flat = learning_curve_band(GaussianNB(), noise, rng.integers(0, 2, 100), random_state=0)
    assert "would help" not in flat.answer
    drawn = curve.plot().ax_
    sizes = [float(label.get_text()) for label in drawn.get_xticklabels()]
    assert set(sizes) <= set(np.round(curve.x))  # plain numbers that do not touch
    assert min(b / a for a, b in pairwise(sizes)) > 1.14
    assert "95 % interval" in drawn.get_legend_handles_labels()[1]
    endless = replace(rising, high=np.full(6, np.inf)).plot().ax_
    assert "95 % interval" not in endless.get_legend_handles_labels()[1]


def test_scores_are_drawn_upwards():
    curve = learning_curve_band(
        LinearDiscriminantAnalysis(), X[50:], Y[50:], scoring="roc_auc", random_state=0
    )
    assert curve.axes[1] == "roc_auc"
    assert curve.high.max() <= 1
    assert curve.extra.gain.value >= 0
    assert np.all(np.diff(curve.columns["law"]) >= 0)


# Mean error of LDA over 300 training sets of 20, 27, ... 200 samples, each tested on 20,000.
SIZES = [20, 27, 37, 49, 67, 90, 100, 200]
TRUTH = np.array([0.3560, 0.3245, 0.3032, 0.2820, 0.2674, 0.2576, 0.2529, 0.2402])


@pytest.mark.simulated
def test_intervals_hold_the_expected_error():
    n_sets, held = 15, []
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 100)
        data = rng.normal(size=(100, 10)) + np.outer(1.5 * y, np.eye(10)[0])
        curve = learning_curve_band(
            LinearDiscriminantAnalysis(), data, y, n_repeats=2, random_state=seed
        )
        truth = np.interp(curve.x, SIZES, TRUTH)
        gain = curve.extra.gain.interval
        held.append([*((curve.low <= truth) & (truth <= curve.high)), 0.0127 in gain])
    for share in np.sum(held, axis=0):
        assert stats.binomtest(int(share), n_sets, 0.95, alternative="less").pvalue > 0.001


def test_a_size_at_which_all_fits_fail_is_named():
    options = {"train_sizes": [3, 40, 80], "cv": StratifiedKFold(5), "error_score": np.nan}
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="all fits on 3 fail"):
        learning_curve_band(KNeighborsClassifier(5), X, Y, **options)


@pytest.mark.parametrize("spread", [0.01, 0.05, 1.0])
def test_how_badly_an_error_is_known_makes_no_gain_little(spread):
    rng = np.random.default_rng(0)
    noise, gains = spread * rng.normal(size=400), rng.uniform(-0.01, 0.09, 400)

    def answer(gain, best):
        parts = {"at_all": 0.5 + noise, "at_twice": 0.5 + noise - gain, "gain": gain}
        names = ("error", "error", "gain")
        return write_answer(
            {
                part: predict(name, draws.mean(), draws, 0.95)
                for name, (part, draws) in zip(names, parts.items(), strict=True)
            },
            100,
            "",
            best,
            90.0,
        )

    assert answer(gains, 0.0).startswith("More samples may help, or not: with 200")
    assert answer(gains / 2, 0.0).startswith("More samples would bring little, less than a tenth")
    assert answer(gains / 2, -np.inf).startswith("More samples may help, or not")
    assert answer(gains + 0.02, 0.0).startswith("More samples would help")


def draw_peak(seed, n, p):
    """Return a sample whose training parts pass the interpolation peak of least squares."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ rng.normal(size=p) / np.sqrt(p) + rng.normal(size=n)


@pytest.mark.parametrize(("n", "p"), [(100, 60), (80, 30)])
def test_a_curve_with_a_peak_has_no_law(n, p):
    """Of 8 sets each, 7 and 2 had a law before, and 6 were told that more would bring little."""
    for seed in range(2):
        found = learning_curve_band(LinearRegression(), *draw_peak(seed, n, p), random_state=seed)
        assert "the curve does not follow a power law" in found.answer
        assert found.extra.at_twice is None
        assert found.extra.gain is None


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [GaussianNB(), Ridge()])
def test_a_falling_or_flat_curve_rarely_rises(estimator):
    rises = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 5))
        y = rng.integers(0, 2, 100) if isinstance(estimator, GaussianNB) else X[:, 0]
        y = y if isinstance(estimator, GaussianNB) else y + rng.normal(size=100)
        answer = learning_curve_band(estimator, X, y, random_state=seed).answer
        rises += "error rises" in answer
    assert rises <= 4


def test_a_value_lies_in_its_own_interval():
    draws = np.linspace(0.003, 0.01, 100)
    assert limits_around(0.002, draws, 0.9)[0] == 0.002
    assert limits_around(0.005, draws, 0.9)[0] > 0.003


def test_scores_must_be_defined_in_two_folds():
    def undefined(model, X, y):
        return np.nan

    with pytest.raises(ValueError, match="in at least two folds, got 0 such folds"):
        learning_curve_band(GaussianNB(), *load_iris(return_X_y=True), scoring=undefined)
