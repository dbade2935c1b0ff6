"""Public functions give the numbers of the loop, whichever solver does their fits."""

import warnings
from functools import partial
from threading import Lock
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from helpers.jobs import FailsWithout
from helpers.solvers import make_labels, make_samples
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import hinge_loss, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    permutation_test_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import ExtraTreeClassifier

from skeval._adapters.runner import FitWorker, Runner
from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import (
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    error_interval,
    permutation_test,
    perturbation_interval,
    resubstitution_error,
)

X3, Y2, Y3 = make_samples("plain"), make_labels(2), make_labels(3)
Z = make_labels(0)
LINEAR = SVC(kernel="linear", tol=1e-6)
SELECTED = make_pipeline(SelectKBest(k=10), SVC(kernel="linear", tol=1e-8))


@pytest.fixture
def loop(monkeypatch):
    """Return a function that calls another one without solvers."""

    def call(function, *arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(Runner, "choose_solver", lambda *_: None)
            return function(*arguments, **options)

    return call


@pytest.fixture
def done(monkeypatch):
    """Return the list to which each fit of the loop adds an element."""
    done, fit_one = [], FitWorker.__call__
    monkeypatch.setattr(FitWorker, "__call__", lambda *a: done.append(0) or fit_one(*a))
    return done


GROUPS = np.arange(48) // 2
CALLS = {
    "resamples": lambda *data: bootstrap_error(*data, n_resamples=20, random_state=0).value,
    "leave one out": lambda *data: cross_val_error(*data, cv=LeaveOneOut()).value,
    "resubstitution": lambda *data: resubstitution_error(*data).value,
    "groups": lambda *data: cross_val_error(*data, groups=GROUPS, cv=GroupKFold(12)).value,
    "interval": lambda *data: error_interval(*data, n_folds=5, n_repeats=5, random_state=0).value,
    "nested": lambda *data: (
        error_interval(*data, method="nested_cv", n_folds=4, n_repeats=2, random_state=0).value
    ),
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
    "perturbation": lambda *data: (
        perturbation_interval(
            *data, n_resamples=15, statistic="cross_validation", cv=3, random_state=0
        ).extra.statistics
    ),
}
MODELS = [LINEAR, make_pipeline(StandardScaler(), SVC(tol=1e-6)), RidgeClassifier(), GaussianNB()]


@pytest.mark.parametrize("call", CALLS)
def test_calls_as_people_write_them(call, loop):
    """Each call meets two of the models, and each model three calls."""
    frame, first = pd.DataFrame(X3, columns=list("uvwxy")), list(CALLS).index(call) % 3
    models = list(enumerate([*MODELS, LinearDiscriminantAnalysis(), KNeighborsClassifier()]))
    for number, model in models[:3] if call == "perturbation" else models[first::3]:
        data = clone(model), frame if number == 1 else X3, Y3 if number % 2 else Y2
        assert_allclose(CALLS[call](*data), loop(CALLS[call], *data), rtol=1e-12)


@pytest.mark.parametrize("model", [LINEAR, RidgeClassifier(), Ridge()], ids=str)
def test_permutations_of_weighted_samples(model, done):
    """Each fit has the weights of its rows, as in a plain loop, and a solver does it."""
    rng, y = np.random.default_rng(3), Z if isinstance(model, Ridge) else Y2
    weights, orders = rng.uniform(0.2, 3.0, 48), [rng.permutation(48) for _ in range(8)]
    given = {"permutations": orders, "sample_weight": weights}
    found = permutation_test(model, X3, y, cv=KFold(4), **given)
    assert len(done) <= 5  # trial fits and those that rounding errors decide
    for order, score in zip(orders, found.null_distribution, strict=True):
        scores = [
            clone(model)
            .fit(X3[train], y[order][train], sample_weight=weights[train])
            .score(X3[test], y[order][test])
            for train, test in KFold(4).split(X3)
        ]
        assert_allclose(score, np.mean(scores), rtol=1e-9)


SCORERS = [
    (RidgeClassifier(), Y2, [None, "roc_auc", ["f1_macro", "balanced_accuracy"]]),
    (KNeighborsClassifier(10, weights="distance"), Y2, ["neg_log_loss", "matthews_corrcoef"]),
    (
        LinearDiscriminantAnalysis(),
        (Y2 == "b").astype(int),
        ["neg_brier_score", "average_precision"],
    ),
    (KNeighborsClassifier(), Y3, ["balanced_accuracy", "roc_auc_ovr", "neg_log_loss"]),
    (LogisticRegression(tol=1e-8), Y3, ["neg_log_loss"]),
    (RidgeClassifier(), np.resize([1, 5, 20], 48), ["neg_mean_absolute_error"]),
    (Ridge(), Z, [None, "neg_mean_squared_error", "neg_mean_absolute_error"]),
    (Ridge(), (Z > 2).astype(int), [None, "neg_mean_squared_error"]),
    (Ridge(), np.where(Z > 2, 0.3, 0.1), ["r2"]),
]


@pytest.mark.parametrize(("model", "y", "scorers"), SCORERS, ids=str)
def test_scorers_of_a_solver(model, y, scorers, loop, done):
    for scoring in scorers:
        options = {"cv": KFold(3, shuffle=True, random_state=1), "scoring": scoring}
        call = partial(permutation_test, model, X3, y, n_permutations=8, random_state=0, **options)
        expected = loop(call)
        del done[:]
        found = call()
        assert len(done) <= 12
        for name in scoring if isinstance(scoring, list) else [None]:
            one, two = (test[name] if name else test for test in (found, expected))
            assert_allclose(one.null_distribution, two.null_distribution, atol=1e-6)
            assert one.pvalue == two.pvalue


def test_scorers_that_need_the_model_get_it():
    def slope(model, X, y):
        return float(np.abs(model.coef_).sum())

    def half(model, X, y):
        return float(np.mean(model.predict(X[::2]) == y[::2]))

    hinge = make_scorer(hinge_loss, greater_is_better=False, response_method="decision_function")
    for scoring in (slope, half, hinge):
        options = {"cv": KFold(3), "scoring": scoring}
        test = permutation_test(LINEAR, X3, Y2, n_permutations=2, random_state=0, **options)
        expected = cross_val_score(LINEAR, X3, Y2, **options).mean()
        assert test.statistic == pytest.approx(expected, abs=1e-6)
    with pytest.raises(ValueError, match="continuous"):
        permutation_test(Ridge(), X3, Z, cv=KFold(3), scoring="accuracy", n_permutations=12)


SELECTIONS = {
    "continuous": lambda rng, X: X,
    "ties": lambda rng, X: X.round(),
    "repeated columns": lambda rng, X: np.tile(X[:, :30], (1, 3)),
    "Fortran": lambda rng, X: np.asfortranarray(X),
    "whole numbers": lambda rng, X: X.round().astype(np.int64),
}


@pytest.mark.parametrize("kind", SELECTIONS)
@pytest.mark.parametrize("C", [0.01, 100.0])
def test_null_distribution_of_scikit_learn(kind, C):
    """The same permutations and folds."""
    rng, y = np.random.default_rng(0), np.repeat(["a", "b"], 20)
    X = rng.normal(size=(40, 90))
    X[y == "b", :5] += 0.5
    X, model = SELECTIONS[kind](rng, X), clone(SELECTED).set_params(svc__C=C)
    shuffles, cv = np.random.RandomState(1), StratifiedKFold(3)
    orders = [shuffles.permutation(40) for _ in range(4)]
    options = {"cv": cv, "scoring": "roc_auc" if C > 1 else ["accuracy", "f1_macro"]}
    ours = permutation_test(model, X, y, permutations=orders, **options)
    ours, options["scoring"] = (ours, "roc_auc") if C > 1 else (ours["accuracy"], "accuracy")
    score, null, _ = permutation_test_score(
        model, X, y, n_permutations=4, random_state=1, **options
    )
    assert ours.statistic == pytest.approx(score, rel=1e-14)
    assert_allclose(ours.null_distribution, null, rtol=1e-14)


@pytest.mark.parametrize("estimate", [cross_val_error, bootstrap_error])
def test_selection_with_inner_rounds(estimate, loop, done):
    """The inner rounds of CV2 do not change the predictions, and are not done."""
    X, y = make_samples("many columns"), Y2
    model = CV2FeatureSelectionPipeline(SelectKBest(k=10), SELECTED[-1], cv=3, random_state=0)
    options = {"random_state": 0} | ({"n_resamples": 30} if estimate is bootstrap_error else {})
    found = estimate(model, X, y, **options)
    assert len(done) <= 10  # ties, and trial fits
    expected = loop(estimate, model, X, y, **options)
    assert found.replicates.tolist() == expected.replicates.tolist()


def test_fits_that_fail_are_left_out():
    folds = list(StratifiedKFold(5).split(X3, Y2))
    kept, model = [fold for fold in folds if 0 in fold[0]], FailsWithout(X3[0, 0])
    options = {"n_permutations": 5, "random_state": 0}
    with pytest.warns(FitFailedWarning, match="fits failed"):
        test = permutation_test(model, X3, Y2, cv=folds, error_score=np.nan, **options)
    expected = permutation_test(model, X3, Y2, cv=kept, **options)
    assert test.statistic == pytest.approx(expected.statistic)
    assert_allclose(test.null_distribution, expected.null_distribution)
    pair = model, KNeighborsClassifier(3)
    with pytest.warns(FitFailedWarning, match="1 of 5 fits failed"):
        comparison = compare_classifiers(pair, X3, Y2, cv=folds, error_score=np.nan)
    assert len(comparison.extra.split_scores) == 4
    with pytest.raises(ValueError, match="error_score must be 'raise' for method='mcnemar'"):
        compare_classifiers(pair, X3, Y2, cv=folds, method="mcnemar", error_score=np.nan)


# Numbers that are hard to compute


@pytest.mark.parametrize("offset", [1e6, 1e12])
@pytest.mark.parametrize("scale", [1e-9, 1.0])
def test_offsets_of_columns_and_scales_of_numbers(offset, scale):
    """Agreement is relative to the spread of y, which may be tiny."""
    for n, p, shifted in ((20, 40, 1), (30, 10, 10)):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(n, p)), scale * rng.normal(size=n)
        X[:, :shifted] = 3 * X[:, :shifted] + offset
        for model in (LinearRegression(), Ridge(1e-8), Ridge()):
            expected = np.mean((cross_val_predict(model, X, y, cv=LeaveOneOut()) - y) ** 2)
            found = cross_val_error(model, X, y, cv=LeaveOneOut()).value
            assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-6, 1e-8])
def test_directions_that_least_squares_drops(size, scaled):
    """From scikit-learn 1.9 on, `tol` is the smallest relative singular value that is kept."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    X[:, 3] = X[:, 0] + size * X[:, 3] if scaled else size * X[:, 3]
    y = X[:, :3].sum(axis=1) + X[:, 3] / size + 0.3 * rng.normal(size=30)
    model = LinearRegression()
    model = make_pipeline(StandardScaler(), model) if scaled else model
    cv = KFold(15, shuffle=True, random_state=0)
    expected = np.mean((cross_val_predict(model, X, y, cv=cv) - y) ** 2)
    assert cross_val_error(model, X, y, cv=cv).value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("outlier", [1e4, 1e10])
@pytest.mark.filterwarnings("ignore:Only one class", "ignore:the roc_auc of")
def test_an_outlying_row_makes_no_other_samples_tied(outlier, loop):
    X = X3.copy()
    X[7, 0] = outlier
    options = {"cv": KFold(5), "scoring": "roc_auc", "n_permutations": 7, "random_state": 0}
    call = partial(permutation_test, LinearDiscriminantAnalysis(), X, Y2, **options)
    assert call().pvalue == loop(call).pvalue


def test_an_unpenalized_logistic_regression_with_an_outlying_row(loop):
    """The estimator may stop far from the optimum only where the row is."""
    penalty = "C" if "deprecated" in str(LogisticRegression().penalty) else "penalty"
    model = LogisticRegression(**{penalty: np.inf if penalty == "C" else None})
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(48, 3))
        X[3] *= 10.0 ** (1 + seed)
        call = partial(cross_val_error, model, X, Y2, loss="log_loss", cv=KFold(12))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert call().value == pytest.approx(loop(call).value, abs=1e-2)


@pytest.mark.filterwarnings("ignore:lbfgs failed", "ignore:LogisticRegression does not reach")
def test_logistic_regressions_of_which_some_end_at_max_iter():
    """Far from the origin lbfgs takes nearly as many iterations as it may."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X, cv = rng.normal(size=(90, 4)), KFold(30)
        y = (1.5 * X[:, 0] + rng.normal(size=90) > 0).astype(int)
        X, model = X + 400, LogisticRegression()
        p = cross_val_predict(model, X, y, cv=cv, method="predict_proba")
        found = cross_val_error(model, X, y, cv=cv, loss="log_loss").value
        assert found == pytest.approx(-np.log(p[np.arange(90), y]).mean(), abs=1e-4)


@pytest.mark.parametrize("scale", [1e-6, 1e-3])
@pytest.mark.parametrize("steps", [[], [StandardScaler()], [SelectKBest(k=3)]], ids=str)
@pytest.mark.usefixtures("always_solve")
def test_labels_without_a_relation_are_not_predicted(scale, steps):
    """Where C |x|^2 is small, hardly anything but the intercept is learned; only it matters."""
    rng = np.random.default_rng(0)
    X, y = scale * rng.normal(size=(60, 5)), rng.permutation(np.repeat(["no", "yes"], [29, 31]))
    C = 1e-6 if "Standard" in str(steps) else 1.0
    model = make_pipeline(*steps, SVC(kernel="linear", C=C, tol=1e-5))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = cross_val_score(model, X, y, cv=folds)
    assert_allclose(cross_val_error(model, X, y, cv=folds).replicates, 1 - expected, atol=1e-12)
    assert bootstrap_error(model, X, y, n_resamples=20, random_state=0).value > 0.35


class OwnClone(GaussianNB):
    """An estimator that makes its own clones, and counts them."""

    made: ClassVar = []

    def __sklearn_clone__(self):
        self.made.append(1)
        return OwnClone()

    def __deepcopy__(self, memo):
        raise AssertionError("not a clone")


class WithoutCopy(GaussianNB):
    """An estimator with a part that cannot be copied."""

    def __init__(self, *, priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.lock = Lock()


class Unlike(GaussianNB):
    """A classifier that is unlike a fitted one: its fit fails if it was fitted before."""

    def fit(self, X, y):
        assert not hasattr(self, "theta_")
        return super().fit(X, y)


@pytest.mark.parametrize("model", [OwnClone(), WithoutCopy(), Unlike()], ids=repr)
def test_each_fit_gets_a_clone(model):
    X, y = make_samples("plain"), make_labels(2)
    known = cross_val_error(GaussianNB(), X, y, cv=KFold(5)).value
    OwnClone.made.clear()
    assert cross_val_error(model, X, y, cv=KFold(5)).value == known
    assert len(OwnClone.made) >= 5 * isinstance(model, OwnClone)


def test_each_fit_gets_a_copy_of_the_random_state():
    X, y = make_samples("plain"), make_labels(2)
    state = np.random.RandomState(0)
    model, folds = ExtraTreeClassifier(random_state=state), KFold(5)
    wrong = [
        np.mean(clone(model).fit(X[train], y[train]).predict(X[test]) != y[test])
        for train, test in folds.split(X)
    ]
    assert_allclose(cross_val_error(model, X, y, cv=folds).extra.fold_mean, np.mean(wrong))
    assert state.randint(1000) == np.random.RandomState(0).randint(1000)
