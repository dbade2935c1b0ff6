"""Fits by deletion: behind which steps, for which plans, by which scorers."""

import numpy as np
import pandas as pd
import pytest
from helpers.deletion import (
    CLASSIFIERS,
    REGRESSORS,
    TWO_CLASSES,
    adapter_of,
    check_against_single_fits,
    other_parts_plan,
    permutation_plan,
    some_labels,
    some_orders,
    some_samples,
    whole_block,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skeval._adapters import fits
from skeval._resampling.fit_worker import FitWorker
from skeval._resampling.plans import PlanBlock
from skeval._resampling.splitters import fold_plan
from skeval.model_selection import (
    bootstrap_error,
    cross_val_error,
    error_interval,
    permutation_test,
)

LDA = LinearDiscriminantAnalysis


@pytest.mark.parametrize("model", [RidgeClassifier(), KNeighborsClassifier(), LDA()], ids=str)
def test_data_frames(model):
    X = pd.DataFrame(some_samples("plain"), columns=list("uvwxy"))
    for steps in ([], [StandardScaler().set_output(transform="pandas")]):
        check_against_single_fits(make_pipeline(*steps, model), X, some_labels(), most_left=0.1)


@pytest.mark.parametrize("model", [KNeighborsClassifier(), KernelRidge(kernel="rbf")], ids=str)
def test_sparse_samples(model):
    X = csr_array(some_samples("plain"))
    y = some_labels() if hasattr(model, "predict_proba") else np.arange(48) ** 0.5
    check_against_single_fits(model, X, y)


@pytest.mark.parametrize("model", [*CLASSIFIERS.values(), *TWO_CLASSES.values()], ids=str)
def test_labels_of_samples_left_out_do_not_matter(model):
    X, y = some_samples("plain"), some_labels()
    plan = permutation_plan(48)
    block = whole_block(plan)
    rng = np.random.default_rng(0)
    order = block.order.copy()
    for r, test in enumerate(block.test):
        order[r, test] = rng.permutation(order[r, test])
    assert not np.array_equal(order, block.order)
    adapter = adapter_of(model, X, y, plan)
    one, other = adapter(block), adapter(PlanBlock(block.train, block.test, order))
    assert_array_equal(one.failed, other.failed)
    for name in ("predicted", "decision", "probability"):
        assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers_of_samples_left_out_do_not_matter(name):
    X, y = some_samples("plain"), np.arange(48.0)
    plan = permutation_plan(48)
    block = whole_block(plan)
    order = np.where(block.test, 7, block.order)
    adapter = adapter_of(REGRESSORS[name], X, y, plan)
    one, other = adapter(block), adapter(PlanBlock(block.train, block.test, order))
    assert not one.failed.any()
    assert_allclose(one.predicted, other.predicted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        Ridge(positive=True),
        Ridge(solver="lsqr"),
        Ridge(solver="sag"),
        Ridge(alpha=[1.0]),
        LinearRegression(positive=True),
        RidgeClassifier(class_weight="balanced"),
        RidgeClassifier(class_weight={"a": 2.0}),
        KNeighborsClassifier(weights=np.ones_like),
        LDA(solver="lsqr", shrinkage="auto"),
        LDA(solver="lsqr", priors=[0.5, 0.5]),
        make_pipeline(SelectKBest(k=2), RidgeClassifier()),
        make_pipeline(PCA(2, random_state=0), RidgeClassifier()),
        make_pipeline(SelectKBest(k=2), LDA()),
        make_pipeline(FunctionTransformer(lambda X: X), RidgeClassifier()),
        make_pipeline(StandardScaler(), RidgeClassifier(), memory="nowhere"),
        type("Own", (RidgeClassifier,), {})(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_is_not_served(model):
    y = some_labels() if hasattr(model, "classes_") or "Class" in str(model) else np.arange(48.0)
    y = some_labels() if "LinearDisc" in str(model) or "Own" in str(model) else y
    assert adapter_of(model, some_samples("plain"), y) is None


PLANS = {
    "resamples": lambda *data: bootstrap_error(*data, n_resamples=20, random_state=0).value,
    "leave one out": lambda *data: cross_val_error(*data, cv=LeaveOneOut()).value,
    "interval": lambda *data: error_interval(*data, n_folds=5, n_repeats=5, random_state=0).value,
    "permutations": lambda *data: (
        permutation_test(*data, cv=3, n_permutations=12, random_state=0).null_distribution
    ),
    "repeats": lambda *data: (
        permutation_test(
            *data,
            cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1),
            n_permutations=9,
        ).statistic
    ),
}


@pytest.mark.parametrize("model", [RidgeClassifier(), KNeighborsClassifier(), LDA()], ids=str)
@pytest.mark.parametrize("plan", PLANS)
def test_calls_as_people_write_them(plan, model, monkeypatch):
    """The answer is that of the loop, which does few of the fits."""
    X, y = some_samples("plain"), some_labels()
    with monkeypatch.context() as patch:
        patch.setattr(fits, "choose_solver", lambda *_, **__: None)
        expected = PLANS[plan](model, X, y)
    done = count_loop_fits(monkeypatch)
    assert_allclose(PLANS[plan](model, X, y), expected, rtol=1e-12)
    assert len(done) <= 3


def test_few_fits_are_left_to_the_loop():
    plan = fold_plan(48, list(KFold(9).split(np.empty(48))))
    assert adapter_of(RidgeClassifier(), some_samples("plain"), some_labels(), plan) is None


def test_what_most_fits_cannot_settle_is_left_to_the_loop():
    """Neighbors at the same distance who disagree are chosen by the estimator."""
    plan = other_parts_plan("redrawn folds")
    assert adapter_of(KNeighborsClassifier(), np.ones((48, 2)), some_labels(), plan) is None


def loop(monkeypatch, *arguments, **options):
    with monkeypatch.context() as patch:
        patch.setattr(fits, "choose_solver", lambda *_, **__: None)
        return permutation_test(*arguments, **options)


def count_loop_fits(monkeypatch):
    done = []
    original = FitWorker.__call__
    monkeypatch.setattr(FitWorker, "__call__", lambda *a: done.append(0) or original(*a))
    return done


SCORERS = {
    "ridge": [None, "accuracy", "roc_auc", "balanced_accuracy", ["f1_macro", "roc_auc"]],
    "near neighbors": [None, "neg_log_loss", "roc_auc", "matthews_corrcoef"],
    "svd": [None, "neg_brier_score", "average_precision"],
}


@pytest.mark.parametrize(
    ("name", "scoring"), [(name, scoring) for name in SCORERS for scoring in SCORERS[name]]
)
def test_scorers_of_two_classes(name, scoring, monkeypatch):
    model = {**CLASSIFIERS, **TWO_CLASSES}[name]
    X, y = some_samples("plain"), (some_labels() == "b").astype(int)
    options = {"cv": list(StratifiedKFold(3).split(X, y)), "permutations": some_orders(48, 8)}
    expected = loop(monkeypatch, model, X, y, scoring=scoring, **options)
    done = count_loop_fits(monkeypatch)
    found = permutation_test(model, X, y, scoring=scoring, **options)
    assert len(done) <= 2
    tests = found.items() if isinstance(scoring, list) else [(None, found)]
    for metric, test in tests:
        other = expected[metric] if metric else expected
        assert test.statistic == pytest.approx(other.statistic, abs=1e-9)
        assert_allclose(test.null_distribution, other.null_distribution, atol=1e-9)
        assert test.pvalue == other.pvalue


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "roc_auc_ovr", "neg_log_loss"])
def test_scorers_of_three_classes(scoring, monkeypatch):
    X, y = some_samples("plain"), some_labels(n_classes=3)
    model = KNeighborsClassifier()
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    options = {"cv": folds, "permutations": some_orders(48, 8), "scoring": scoring}
    expected = loop(monkeypatch, model, X, y, **options)
    done = count_loop_fits(monkeypatch)
    found = permutation_test(model, X, y, **options)
    assert not done
    assert_allclose(found.null_distribution, expected.null_distribution, rtol=1e-12)


@pytest.mark.parametrize(
    "scoring", [None, "r2", "neg_mean_squared_error", "neg_mean_absolute_error"]
)
@pytest.mark.parametrize("kind", ["numbers", "0 and 1", "nearly constant"])
def test_scorers_of_numbers(scoring, kind, monkeypatch):
    X = some_samples("plain")
    y = np.random.default_rng(0).normal(size=48)
    if kind == "0 and 1":  # with folds of one value, in which R^2 has no denominator
        y = (y > 1).astype(int)
    if kind == "nearly constant":
        y = np.where(y > 1, 0.3, 0.1)
    options = {"cv": KFold(12), "permutations": some_orders(48, 8), "scoring": scoring}
    expected = loop(monkeypatch, Ridge(), X, y, **options)
    done = count_loop_fits(monkeypatch)
    found = permutation_test(Ridge(), X, y, **options)
    assert not done
    assert_allclose(found.null_distribution, expected.null_distribution, rtol=1e-9)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", "neg_mean_squared_error"])
def test_scorers_of_numbers_that_are_classes(scoring, monkeypatch):
    """They score the labels, not their codes."""
    X, y = some_samples("plain"), np.random.default_rng(0).choice([1, 5, 20], size=48)
    options = {"cv": KFold(3), "permutations": some_orders(48, 7), "scoring": scoring}
    expected = loop(monkeypatch, RidgeClassifier(), X, y, **options)
    found = permutation_test(RidgeClassifier(), X, y, **options)
    assert_allclose(found.null_distribution, expected.null_distribution, rtol=1e-12)


def test_scorers_of_classes_refuse_numbers():
    X, y = some_samples("plain"), np.random.default_rng(0).normal(size=48)
    with pytest.raises(ValueError, match="continuous"):
        permutation_test(Ridge(), X, y, cv=KFold(3), scoring="accuracy", n_permutations=12)


def test_scorers_that_look_at_the_model_get_it():
    def slope(model, X, y):
        return float(np.abs(model.coef_).sum())

    X, y = some_samples("plain"), some_labels()
    options = {"cv": KFold(3), "n_permutations": 12, "random_state": 0}
    test = permutation_test(RidgeClassifier(), X, y, scoring=slope, **options)
    assert test.statistic > 0


@pytest.mark.parametrize("model", [Ridge(), KNeighborsRegressor(), LinearRegression()], ids=str)
def test_errors_are_those_of_the_estimator(model):
    X = some_samples("plain")
    X[5, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN|missing values"):
        permutation_test(model, X, np.arange(48.0), cv=KFold(4), n_permutations=19)


def test_kept_answers_are_the_same(tmp_path):
    X, y = some_samples("plain"), some_labels(n_classes=3)
    options = {"cv": KFold(3), "n_permutations": 19, "random_state": 0}
    plain = permutation_test(RidgeClassifier(), X, y, **options)
    for _ in range(2):
        kept = permutation_test(RidgeClassifier(), X, y, memory=tmp_path, **options)
        assert_array_equal(kept.null_distribution, plain.null_distribution)


def test_groups_of_blocks_do_not_matter():
    """The first block of a sequential test is small, the others double."""
    X, y = some_samples("plain"), some_labels()
    options = {"cv": KFold(3), "n_permutations": 60, "random_state": 0}
    whole = permutation_test(RidgeClassifier(), X, y, **options)
    parts = permutation_test(RidgeClassifier(), X, y, max_exceedances=50, **options)
    n = parts.n_resamples
    assert_array_equal(parts.null_distribution, whole.null_distribution[:n])
