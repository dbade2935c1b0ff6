"""Learning curves: the parts that train, the law, its answer, and how often intervals hold."""

from itertools import groupby, pairwise
from typing import ClassVar

import numpy as np
import pytest
from reference import intervals as reference
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
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

from skeval.model_selection import learning_curve_band

X, Y = load_iris(return_X_y=True)
FIVE = StratifiedKFold(5)


class Records(ClassifierMixin, BaseEstimator):
    """Predicts the first class, and records the rows of each fit and of its test set."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        self.classes_, self.rows_ = np.unique(y), X[:, 0].astype(int)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        self.seen.append((self.rows_, X[:, 0].astype(int)))
        return np.full(len(X), self.classes_[0])


def parts_of(cv, y=Y, **options):
    """Return the training rows of each fold, by size, and its test rows."""
    Records.seen.clear()
    rows = np.arange(len(y), dtype=float)[:, None]
    learning_curve_band(Records(), rows, y, cv=cv, random_state=0, **options)
    folds = [list(fold) for _, fold in groupby(Records.seen, key=lambda pair: tuple(pair[1]))]
    return [[train for train, _ in fold] for fold in folds], [fold[0][1] for fold in folds]


@pytest.mark.parametrize("options", [{}, {"scoring": "accuracy"}])
def test_points_are_those_of_scikit_learn_on_the_same_parts(options):
    cv = StratifiedKFold(5)
    curve = learning_curve_band(GaussianNB(), X, Y, cv=cv, random_state=0, **options)
    by_fold, tests = parts_of(cv)
    for at in (0, 3):
        folds = [(parts[at], test) for parts, test in zip(by_fold, tests, strict=True)]
        _, _, scores = learning_curve(GaussianNB(), X, Y, train_sizes=[1.0], cv=folds)
        expected = scores.mean() if options else 1 - scores.mean()
        assert curve.y[at] == pytest.approx(expected)
        assert curve.x[at] == np.mean([len(parts[at]) for parts in by_fold])


def test_the_largest_size_has_the_corrected_interval():
    cv = KFold(5, shuffle=True)
    curve = learning_curve_band(GaussianNB(), X, Y, cv=cv, n_repeats=3, random_state=0)
    shown = learning_curve_band(
        GaussianNB(), X, Y, cv=cv, n_repeats=3, train_sizes=[1.0, 0.5], random_state=0
    )
    assert (curve.y[5], curve.low[5], curve.high[5]) == (shown.y[1], shown.low[1], shown.high[1])
    # Wilson's interval, with Student's quantile, of as many samples as have this standard error
    by_fold, tests = parts_of(cv, n_repeats=3)
    splits = [(parts[-1], test) for parts, test in zip(by_fold, tests, strict=True)]
    error, deviation = reference.corrected_t(GaussianNB(), X, Y, splits, lambda a, b: a != b)
    assert shown.y[1] == pytest.approx(error)
    n = error * (1 - error) / deviation**2
    ends = reference.wilson(error, n, stats.t.isf(0.025, len(splits) - 1))
    assert (shown.low[1], shown.high[1]) == pytest.approx(ends, rel=1e-9)
    assert shown.band is None
    assert "4 sizes" in shown.answer


def test_parts_are_nested_and_hold_all_classes():
    by_fold, tests = parts_of(5, n_repeats=2)
    for parts, test in zip(by_fold, tests, strict=True):
        assert not set(parts[-1]) & set(test)
        for smaller, larger in pairwise(parts):
            assert set(smaller) < set(larger)
        for part in parts:
            sizes = np.bincount(Y[part])
            assert sizes.max() - sizes.min() <= 2
    rare = np.where(np.arange(150) < 146, 0, 1)
    for parts in parts_of(2, y=rare, n_repeats=2)[0]:
        assert all(set(rare[part]) == {0, 1} for part in parts)


def test_groups_train_whole():
    groups = np.arange(150) // 5
    for parts in parts_of(GroupKFold(5), groups=groups)[0]:
        for part in parts:
            assert set(np.bincount(groups[part])) <= {0, 5}


@pytest.mark.parametrize("groups", [None, np.arange(150) // 5])
def test_in_time_order_the_most_recent_train(groups):
    order = np.random.default_rng(0).permutation(150)
    cv = list(TimeSeriesSplit(4).split(X))
    by_fold, tests = parts_of(cv, groups=groups, y=Y[order])
    for parts, test in zip(by_fold, tests, strict=True):
        for part in parts:
            assert np.array_equal(part, np.arange(part[0], test[0]))


def test_counts_and_shares_are_sizes():
    for train_sizes in ([30, 60, 120], [0.25, 0.5, 1]):
        curve = learning_curve_band(GaussianNB(), X, Y, cv=FIVE, train_sizes=train_sizes)
        assert curve.x.tolist() == [30, 60, 120]


@pytest.mark.parametrize("options", [{}, {"scoring": "roc_auc_ovr"}])
@pytest.mark.parametrize(
    "train_sizes",
    [[0], [1.5], [-1], [200], ["a"], [[0.5, 1]], [0.5, 0.5], [0.999, 1.0], [], [80], [0.0, 0.5],
     [0.5, 1.5], [50, 200]],
)  # fmt: skip
def test_bad_sizes_are_refused(train_sizes, options):
    with pytest.raises(ValueError, match="train_sizes"):
        learning_curve_band(GaussianNB(), X, Y, cv=FIVE, train_sizes=train_sizes, **options)


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_the_law_of_a_noiseless_curve_is_found(exponent):
    class Falls(Records):
        """Has the error of a power law."""

        def predict(self, X):
            error = 0.1 + 0.04 * (len(self.rows_) / 800) ** -exponent + X[0, 0] % 7 / 200
            return np.where(np.arange(len(X)) < error * len(X), 1 - X[:, 1], X[:, 1])

    X, y = np.column_stack([np.arange(1000.0), np.arange(1000) % 2]), np.arange(1000) % 2
    sizes = [50, 100, 200, 400, 800]
    curve = learning_curve_band(Falls(), X, y, cv=5, train_sizes=sizes, random_state=0)
    expected = 0.1 + 0.04 * (curve.x / 800) ** -exponent
    differences = np.diff(curve.columns["law"])
    assert differences == pytest.approx(np.diff(expected), abs=0.015)  # rates are multiples of .005


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
    # the band is that of the law, and extrapolated errors are open
    assert "band of the law" in str(curve)
    display = curve.plot()
    assert display.ax_.get_legend_handles_labels()[1] == [
        "fitted power law",
        "95 % band of the power law",
        "measured, 95 % interval",
        "extrapolated, 95 % interval",
    ]
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.columns["law"][:6])
    dashed = display.ax_.lines[1]
    assert dashed.get_linestyle() == "--"
    np.testing.assert_array_equal(dashed.get_ydata(), curve.columns["law"][5:])
    measured, beyond = display.points_
    np.testing.assert_array_equal(measured.get_ydata(), curve.y[:6])
    np.testing.assert_array_equal(beyond.get_ydata(), curve.y[6:])
    assert measured.get_markerfacecolor() != beyond.get_markerfacecolor() == "white"
    ends = display.ax_.collections[1].get_segments()
    np.testing.assert_array_equal(
        [one[:, 1] for one in ends], np.array([curve.low, curve.high]).T[:6]
    )
    display = rising.plot()
    assert len(display.points_) == 1
    assert display.ax_.get_legend_handles_labels()[1] == ["measured, 95 % interval"]
    np.testing.assert_array_equal(display.line_.get_ydata(), rising.y)


class Fades(RegressorMixin, BaseEstimator):
    """Has the absolute error 1 + excess 400 / m with m training samples, besides the noise in X."""

    def __init__(self, excess=0.2):
        self.excess = excess

    def fit(self, X, y):
        self.n_features_in_, self.bias_ = X.shape[1], 1 + self.excess * 400 / len(y)
        return self

    def predict(self, X):
        return X[:, 0] + self.bias_


@pytest.mark.parametrize(("excess", "verdict"), [(0.25, "would bring little"), (0.3, "would help")])
def test_gains_below_a_tenth_of_the_distance_are_little(excess, verdict):
    y = np.random.default_rng(0).normal(size=500)
    X = y[:, None] + 0.01 * np.random.default_rng(1).normal(size=(500, 1))
    options = {"cv": 5, "n_repeats": 1, "loss": "absolute", "random_state": 0}
    curve = learning_curve_band(Fades(excess), X, y, **options)
    # the gain is certain, and on either side of a tenth of the error at all samples
    gain = curve.extra.gain.interval
    assert gain.low > 0
    assert (gain.high < 0.1 * curve.y[-2]) == (verdict == "would bring little")
    assert f"More samples {verdict}" in curve.answer


def test_an_uncertain_gain_may_help():
    rng = np.random.default_rng(2)
    noise, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    curve = learning_curve_band(GaussianNB(), noise, y, random_state=0)
    gain = curve.extra.gain.interval
    assert gain.low == 0
    assert gain.high > 0.1 * curve.y[-2]
    assert "More samples may or may not help" in curve.answer


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
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="Fits to 3 samples fail"):
        learning_curve_band(KNeighborsClassifier(5), X, Y, **options)


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
        assert found.band is None
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


def test_predictions_lie_in_their_intervals():
    curve = learning_curve_band(GaussianNB(), X, Y, random_state=0)
    gain = curve.extra.gain
    assert np.all((curve.low <= curve.y) & (curve.y <= curve.high))
    assert gain.interval.low <= gain.value <= gain.interval.high


def test_scores_must_be_defined_in_two_folds():
    def undefined(model, X, y):
        return np.nan

    with pytest.raises(ValueError, match="have no score, most often"):
        learning_curve_band(GaussianNB(), *load_iris(return_X_y=True), scoring=undefined)
