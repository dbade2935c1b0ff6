"""cross_val_error against plain loops, for every kind of splitter."""

import numpy as np
import pytest
from helpers.crossed import each_value
from reference import cross_validation as reference
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
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

from skeval._resampling.plans import fold_plan, resolve_folds
from skeval._resampling.sampling_units import validate_data
from skeval.model_selection import (
    compare_classifiers,
    compare_predictions,
    cross_val_error,
    error_interval,
    learning_curve_band,
    permutation_test,
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


def test_pooled_and_fold_mean_differ_with_unequal_folds():
    X, y = np.array([[0.0], [1], [2], [10], [11]]), np.array([0, 0, 1, 1, 0])
    folds = [([0, 1, 2, 3], [4]), ([0, 3, 4], [1, 2])]
    # 1 nearest neighbor: 4 is called like 3 (wrong), 1 and 2 like 0 (right, wrong)
    result = cross_val_error(KNeighborsClassifier(1), X, y, cv=folds)
    assert result.replicates.tolist() == [1, 0.5]
    assert result.extra.fold_mean == 0.75
    assert result.value == pytest.approx(2 / 3)


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
    X, target, groups = validate_data(estimator, X, y, groups)
    tested = np.zeros(60, dtype=int)
    for train, test in resolve_folds(cv, X, target, groups, 0):
        assert not set(groups[train]) & set(groups[test])
        tested[test] += 1
    assert (tested == 1).all()
    with_groups = cross_val_error(estimator, X, y, groups=groups, cv=cv, random_state=0)
    assert len(with_groups.replicates) == {None: 10, 5: 5}.get(cv if cv in (None, 5) else 0, 4)


def test_default_is_ten_shuffled_stratified_folds(iris):
    X, y = iris
    _, target, _ = validate_data(GaussianNB(), X, y)
    folds = list(resolve_folds(None, X, target, None, 0))
    assert len(folds) == 10
    for _, test in folds:
        assert np.bincount(y[test]).tolist() == [5, 5, 5]
        assert np.any(np.diff(test) > 1)


def test_plan_keeps_leave_one_out_small_and_repeats_training_indices():
    plan = fold_plan(4, [([0, 0, 2], [1, 3]), ([0, 1, 2], [3])])
    (block,) = plan.blocks()
    assert block.train.tolist() == [[2, 0, 1, 0], [1, 1, 1, 0]]
    assert block.test.tolist() == [[False, True, False, True], [False, False, False, True]]


def test_interval_of_repeated_folds_counts_samples_not_predictions(cancer):
    repeated = cross_val_error(GaussianNB(), *cancer, cv=SPLITTERS["repeated"])
    assert repeated.n_samples == 60
    interval = repeated.confidence_interval()
    once = cross_val_error(GaussianNB(), *cancer, cv=3).confidence_interval()
    assert interval.high - interval.low > 0.8 * (once.high - once.low)


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
    with pytest.raises(ValueError, match="scoring must be a mean over samples in time"):
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
    with pytest.raises(ValueError, match="cv keeps the order of the samples, whose labels"):
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
    ends = np.array([[each.interval.low, each.interval.high] for each in (found, whole)])
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
    assert (found.interval.low, found.interval.high) == (0, np.inf)
