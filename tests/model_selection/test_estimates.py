"""cross_val_error and perturbation intervals against plain loops."""

import warnings

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.folds import note_splits
from reference import cross_validation as reference
from reference.perturbation import statistics_cross_validation, statistics_resubstitution
from scipy.stats import norm
from sklearn.base import is_classifier
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.datasets import make_gaussian_classes
from skeval.model_selection import (
    compare_classifiers,
    compare_predictions,
    cross_val_error,
    error_interval,
    learning_curve_band,
    permutation_test,
    perturbation_interval,
)

SPLITTERS = {
    "unequal folds": KFold(7, shuffle=True, random_state=0),
    "stratified": StratifiedKFold(4),
    "leave-one-out": LeaveOneOut(),
    "repeated": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    "shuffle": ShuffleSplit(6, test_size=0.2, random_state=0),
    "predefined": PredefinedSplit(np.arange(60) % 5 - 1),
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_every_splitter(cancer, name):
    X, y = cancer
    folds = list(SPLITTERS[name].split(X, y))
    expected = reference.fold_losses(GaussianNB(), X, y, folds)
    result = cross_val_error(GaussianNB(), X, y, cv=SPLITTERS[name])
    assert result.value == pytest.approx(reference.pooled_error(expected))
    assert result.extra.fold_mean == pytest.approx(reference.fold_mean(expected))
    assert result.standard_error == pytest.approx(reference.pooled_standard_error(expected))
    np.testing.assert_allclose(
        result.replicates, [np.mean([value for _, value in fold]) for fold in expected]
    )
    assert result.n_samples == len({i for fold in expected for i, _ in fold})
    accuracy = cross_val_score(GaussianNB(), X, y, cv=SPLITTERS[name])
    assert result.extra.fold_mean == pytest.approx(1 - accuracy.mean())


def test_boolean_masks_and_lists_are_folds_too(cancer):
    X, y = cancer
    test = np.arange(60) % 3 == 0
    masks = cross_val_error(GaussianNB(), X, y, cv=[(~test, test)])
    indices = cross_val_error(
        GaussianNB(), X, y, cv=[(np.flatnonzero(~test), np.flatnonzero(test))]
    )
    lists = cross_val_error(
        GaussianNB(), X, y, cv=[(np.flatnonzero(~test).tolist(), np.flatnonzero(test).tolist())]
    )
    assert masks.value == indices.value == lists.value


@each_value
@pytest.mark.parametrize("estimator", [GaussianNB(), Ridge()], ids=str)
@pytest.mark.parametrize("cv", [None, 5, GroupKFold(4)], ids=str)
def test_no_group_is_ever_split(cancer, estimator, cv):
    X, y = cancer
    groups = np.arange(60) % 20
    tested = np.zeros(60, dtype=int)
    truth = y if is_classifier(estimator) else y + 0.0
    for train, test in note_splits(cross_val_error, truth, cv=cv, groups=groups, random_state=0):
        assert not set(groups[train]) & set(groups[test])
        tested[test] += 1
    assert (tested == 1).all()
    with_groups = cross_val_error(estimator, X, y, groups=groups, cv=cv, random_state=0)
    assert len(with_groups.replicates) == {None: 10, 5: 5}.get(cv if cv in (None, 5) else 0, 4)


def test_default_is_ten_shuffled_stratified_folds(iris):
    _, y = iris
    folds = note_splits(cross_val_error, y, random_state=0)
    assert len(folds) == 10
    for _, test in folds:
        assert np.bincount(y[test]).tolist() == [5, 5, 5]
        assert np.any(np.diff(test) > 1)


def test_one_rare_class_is_split_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(65, 2)), np.repeat([0, 1, 2], [30, 30, 5])
    with pytest.warns(UserWarning, match="least populated class in y has only 5 members"):
        ours = cross_val_error(GaussianNB(), X, y, random_state=0)
    assert len(ours.replicates) == 10
    assert ours.n_samples == 65


@pytest.mark.filterwarnings("ignore:The interval is undefined")  # of two equal losses
@pytest.mark.parametrize("n", [2, 5, 9, 10, 30])
def test_nobody_asked_for_ten_folds(n):
    X = np.arange(n, dtype=float)[:, None]
    assert len(cross_val_error(Ridge(), X, X[:, 0], random_state=0).replicates) == min(n, 10)
    groups = np.arange(n) // 2 if n > 2 else np.arange(n)
    grouped = cross_val_error(Ridge(), X, X[:, 0], groups=groups, random_state=0)
    assert len(grouped.replicates) == min(len(np.unique(groups)), 10)
    if n % 2 == 0 and n > 2:
        y = np.arange(n) % 2
        found = cross_val_error(GaussianNB(), X, y, cv=None, random_state=0)
        assert len(found.replicates) == min((n + 1) // 2, 10)
    with pytest.raises(ValueError, match=f"cv={n + 1} folds need {n + 1} samples, got {n}"):
        cross_val_error(Ridge(), X, X[:, 0], cv=n + 1)


def test_sliding_windows_with_a_gap_are_the_folds_of_a_plain_loop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    cv = TimeSeriesSplit(4, max_train_size=20, gap=3)
    rules = {"bayes": GaussianNB(), "neighbors": KNeighborsClassifier(3)}
    wrong = {
        name: [
            rule.fit(X[train], y[train]).predict(X[test]) != y[test] for train, test in cv.split(X)
        ]
        for name, rule in rules.items()
    }
    for name, rule in rules.items():
        error = np.mean(np.concatenate(wrong[name]))
        found = cross_val_error(rule, X, y, cv=cv)
        assert found.value == pytest.approx(error)
        assert found.replicates == pytest.approx([each.mean() for each in wrong[name]])
        assert error_interval(rule, X, y, cv=cv).value == pytest.approx(error)
    compared = compare_classifiers(rules, X, y, cv=cv)
    answers = {name: np.concatenate(each) for name, each in wrong.items()}
    in_time = compare_predictions(np.zeros(64, bool), answers, method="time_blocks")
    assert compared.method == "time_blocks"
    assert compared.difference.interval == in_time.difference.interval
    assert compared.difference.pvalue == in_time.difference.pvalue
    areas = compare_classifiers(rules, X, y, cv=cv, scoring="roc_auc")
    assert areas.method == "corrected_t"  # no mean of losses
    with pytest.raises(ValueError, match="scoring must be a mean over samples"):
        compare_classifiers(rules, X, y, cv=cv, scoring="roc_auc", method="time_blocks")
    means = {name: 1 - np.mean([each.mean() for each in wrong[name]]) for name in rules}
    assert compared.to_dict()["values"] == pytest.approx(means)

    curve = learning_curve_band(GaussianNB(), X, y, cv=cv, train_sizes=[0.5, 1.0])
    halves, sizes = [], []
    for train, test in cv.split(X):
        part = train[-round(len(train) / 2) :]
        sizes.append(len(part))
        halves.append(GaussianNB().fit(X[part], y[part]).predict(X[test]) != y[test])
    expected = [np.mean(halves), np.mean(wrong["bayes"])]
    assert np.array(curve.y) == pytest.approx(expected)
    assert curve.x[0] == pytest.approx(np.mean(sizes))
    with pytest.raises(ValueError, match="cv must shuffle the samples, because labels"):
        permutation_test(GaussianNB(), X, y, cv=cv, n_permutations=9)


@each_value
@pytest.mark.parametrize("loss", ["zero_one", "squared", "brier"])
@pytest.mark.parametrize("weighted", [False, True])
def test_in_time_order_the_interval_is_that_of_blocks_of_time(loss, weighted):
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(160, 2)), axis=0)
    y = X[:, 0] + rng.normal(size=160)
    rule, y = (Ridge(), y) if loss == "squared" else (GaussianNB(), y > np.median(y))
    options = {"loss": loss, "cv": TimeSeriesSplit(5, max_train_size=60, gap=2)}
    if weighted:
        options["sample_weight"] = rng.uniform(0.5, 2, 160)
    found, whole = cross_val_error(rule, X, y, **options), error_interval(rule, X, y, **options)
    assert found.n_groups == whole.n_groups
    assert found.extra.degrees_of_freedom == pytest.approx(whole.extra.degrees_of_freedom)
    assert found.standard_error == pytest.approx(whole.standard_error)
    ends = np.array([[*each.interval] for each in (found, whole)])
    if loss == "zero_one":  # groups are worth fewer samples where few errors tell how they vary
        assert ends[0, 0] <= ends[1, 0] + 1e-12 < ends[1, 1] <= ends[0, 1] + 1e-12
        assert np.ptp(ends, axis=0).max() < 0.02
        assert found.interval.method == whole.interval.method == "jeffreys"
    else:
        assert ends[0] == pytest.approx(ends[1])


def test_errors_too_much_alike_in_time_have_no_interval():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), np.cumsum(np.cumsum(rng.normal(size=100)))
    found = cross_val_error(Ridge(), X, y, cv=TimeSeriesSplit(4))
    assert np.isnan(found.standard_error)
    assert tuple(found.interval) == (0, np.inf)


SVM = SVC(kernel="linear", tol=1e-6)


@pytest.fixture(scope="module")
def data():
    sample = make_gaussian_classes(40, 3, separation=1.5, random_state=0)
    weights = np.random.default_rng(1).exponential(size=(12, 40))
    return sample.X, np.array(["no", "yes"])[sample.y], weights


def interval(*arguments, statistic="resubstitution", **options):
    with warnings.catch_warnings():  # the warning of overfitting has a test of its own
        warnings.filterwarnings("ignore", "the resubstitution error", UserWarning)
        return perturbation_interval(*arguments, statistic=statistic, **options)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 700.0])
def test_resubstitution_statistic_is_the_loop(data, scale):
    X, y, weights = data
    result = interval(SVM, X, y, weights=weights * scale, cv=5, random_state=0, interval="normal")
    apparent, statistics = statistics_resubstitution(SVM, X, y, weights)
    assert result.extra.resubstitution == pytest.approx(apparent, abs=1e-12)
    np.testing.assert_allclose(result.extra.statistics, scale * statistics, rtol=1e-10)


def test_cross_validation_statistic_is_the_loop(data):
    X, y, weights = data
    folds = list(RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0).split(X, y))
    result = interval(SVM, X, y, weights=weights, cv=folds, statistic="cross_validation")
    error, statistics = statistics_cross_validation(SVM, X, y, weights, folds)
    assert result.value == pytest.approx(error, abs=1e-12)
    np.testing.assert_allclose(result.extra.statistics, statistics, atol=1e-10)


@each_value
@pytest.mark.parametrize("n_tested", [40, 20, 5])
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_samples_never_tested_say_nothing(data, n_tested, size):
    X, y, weights = data
    own = size * np.linspace(0.5, 2, 40)
    tested = np.random.default_rng(2).permutation(40)[:n_tested]
    model = DummyClassifier(strategy="constant", constant="yes")
    tests = [tested] if n_tested < 40 else [tested[:20], tested[20:]]
    folds = [(np.setdiff1d(np.arange(40), test), test) for test in tests]
    options = {"weights": weights, "cv": folds, "sample_weight": own}
    result = interval(model, X, y, statistic="cross_validation", **options)
    share = own[tested] / own[tested].max()
    wrong = y[tested] != "yes"
    error = np.average(wrong, weights=share)
    deviations = weights[:, tested] * (wrong - error) @ share / share.sum()
    np.testing.assert_allclose(result.extra.statistics / np.sqrt(40), deviations, rtol=1e-10)
    most = share.sum() ** 2 / np.sum(share**2)
    spread = result.standard_error
    worth = min(most, max(1, error * (1 - error) / spread**2)) if spread and 0 < error < 1 else most
    assert result.effective_n_samples == pytest.approx(worth)


def test_any_loss_and_given_weights_are_the_loop(data):
    X, y, weights = data
    codes = (y == "yes").astype(int)
    own = np.linspace(0.5, 2, 40)
    model = LogisticRegression()
    result = interval(
        model, X, codes, weights=weights, loss="squared", sample_weight=own, cv=4, random_state=0
    )
    apparent, statistics = statistics_resubstitution(
        model, X, codes, weights, loss=lambda a, b: (a - b) ** 2, own=own
    )
    assert result.extra.resubstitution == pytest.approx(apparent, abs=1e-12)
    np.testing.assert_allclose(result.extra.statistics, statistics, atol=1e-8)
    assert result.loss == "squared"


def test_a_scaler_in_front_is_weighted_too(data):
    X, y, weights = data
    model = make_pipeline(StandardScaler(), GaussianNB())
    result = interval(model, X, y, weights=weights, cv=4, random_state=0)
    losses = []
    for G in weights:
        w = G / G.mean()
        fitted = make_pipeline(StandardScaler(), GaussianNB()).fit(
            X, y, standardscaler__sample_weight=w, gaussiannb__sample_weight=w
        )
        losses.append(G @ ((fitted.predict(X) != y) - result.extra.resubstitution) / np.sqrt(40))
    np.testing.assert_allclose(result.extra.statistics, losses, atol=1e-12)


def test_the_samples_of_a_group_are_perturbed_together(data):
    """Ten copies of each sample, as a group, are as precise as the sample."""
    X, y, _ = data
    options = {"n_resamples": 300, "random_state": 0}
    alone = perturbation_interval(GaussianNB(), X, y, **options, cv=LeaveOneOut())
    copies, groups = np.tile(X, (10, 1)), np.tile(np.arange(40), 10)
    options |= {"groups": groups, "cv": LeaveOneGroupOut()}
    found = perturbation_interval(GaussianNB(), copies, np.tile(y, 10), **options)
    assert found.n_groups == 40
    assert found.value == alone.value
    assert found.standard_error == pytest.approx(alone.standard_error, rel=0.2)


def test_forms_are_their_formulas(data):
    X, y, _ = data
    result = interval(SVM, X, y, n_resamples=200, cv=5, random_state=0)
    draws, center, root = result.extra.statistics, result.value, np.sqrt(40)
    q05, q95 = np.quantile(draws, [0.05, 0.95])
    expected = {
        "normal": (
            center - norm.ppf(0.95) * draws.std(ddof=1) / root,
            center + norm.ppf(0.95) * draws.std(ddof=1) / root,
        ),
        "pivotal": (center - q95 / root, center - q05 / root),
        "symmetric": (
            center - np.quantile(np.abs(draws), 0.9) / root,
            center + np.quantile(np.abs(draws), 0.9) / root,
        ),
        "quantile": (center - q95 / root, center + q95 / root),
    }
    for form, (low, high) in expected.items():
        found = result.confidence_interval(0.9, form)
        assert tuple(found) == pytest.approx((np.clip(low, 0, 1), np.clip(high, 0, 1)), abs=1e-12)
        assert (found.confidence_level, found.method) == (0.9, form)
    first = result.confidence_interval()
    assert (first.low, first.high) == tuple(result.interval)


def test_warning_when_the_fit_separates_the_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 60)), np.tile([0, 1], 15)
    with pytest.warns(UserWarning, match=r"statistic='cross_validation'"):
        result = perturbation_interval(
            SVM, X, y, n_resamples=20, statistic="resubstitution", random_state=0
        )
    assert result.extra.resubstitution == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default = perturbation_interval(SVM, X, y, n_resamples=20, random_state=0)
    assert default.extra.statistic == "cross_validation"


def test_other_losses_need_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="for more than two classes, got 'absolute'"):
        perturbation_interval(GaussianNB(), X, y, loss="absolute")
