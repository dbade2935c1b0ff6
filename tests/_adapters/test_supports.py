"""What has a solver, and why a loop does the fits of everything else."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from helpers.solvers import (
    chosen_solver,
    fold_block,
    make_inputs,
    make_labels,
    make_plan,
    make_samples,
    solver_for,
)
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval._adapters import deletion
from skeval._adapters.column_steps import make_column_steps
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import bootstrap_error, cross_val_error, permutation_test

LDA = LinearDiscriminantAnalysis
LINEAR = SVC(kernel="linear")
NEW = inspect.signature(LogisticRegression).parameters["penalty"].default == "deprecated"


class Own(SVC):
    """A subclass, which may do anything."""


def pipe(*steps):
    return make_pipeline(*steps)


REASONS = [
    (DecisionTreeClassifier(), "no solver supports this estimator"),
    (Own(kernel="linear"), "no solver supports"),
    (SVC(max_iter=5), "max_iter may end"),
    (SVC(kernel="sigmoid", gamma=2.0), "only the kernels"),
    (SVC(kernel="poly"), "only the kernels"),
    (SVC(kernel=rbf_kernel), "only the kernels"),
    (SVC(class_weight={"a": 0.0}), "class_weight"),
    (SVC(class_weight={"z": 2.0}), "class_weight"),
    (pipe(SelectKBest(k=2), SVC()), "before the kernel"),
    (pipe(MinMaxScaler(clip=True), SVC()), "transformers: MinMaxScaler"),
    (pipe(StandardScaler(), MinMaxScaler(), SVC()), "StandardScaler, MinMaxScaler"),
    (pipe(PCA(2), LINEAR), "transformers"),
    (pipe(SelectKBest(f_regression), LINEAR), "feature selection"),
    (pipe(SelectKBest(k="all"), LINEAR), "feature selection"),
    (pipe(SelectKBest(k=99), LINEAR), "feature selection"),
    (pipe(StandardScaler(), SelectKBest(k=2), StandardScaler(), LINEAR), "feature selection"),
    (make_pipeline(SelectKBest(k=2), LINEAR, memory="nowhere"), "caches"),
    (CV2FeatureSelectionPipeline(final="consensus"), "no solver supports"),
    (CV2FeatureSelectionPipeline(classifier=SVC(kernel=rbf_kernel)), "only the kernels"),
    (LogisticRegression(solver="liblinear"), "parameter"),
    (LogisticRegression(solver="newton-cholesky"), "parameter"),
    (LogisticRegression(class_weight={"a": 0.0}), "class_weight"),
    (type("OwnLogistic", (LogisticRegression,), {})(), "no solver supports"),
    (pipe(SelectKBest(k=2), LogisticRegression()), "scale columns"),
    (pipe(PCA(2), LogisticRegression()), "scale columns"),
    (pipe(StandardScaler(), LogisticRegression(fit_intercept=False)), "without an intercept"),
    (pipe(StandardScaler(), MinMaxScaler(), LogisticRegression()), "scale columns"),
    (RidgeClassifier(class_weight="balanced"), "parameter"),
    (RidgeClassifier(solver="lsqr"), "parameter"),
    (type("OwnRidge", (RidgeClassifier,), {})(), "subclass"),
    (KNeighborsClassifier(weights=np.ones_like), "parameter"),
    (type("OwnNeighbors", (KNeighborsClassifier,), {})(), "subclass"),
    (type("OwnNaive", (GaussianNB,), {})(), "subclass"),
    (Ridge(positive=True), "parameter"),
    (Ridge(alpha=[1.0]), "parameter"),
    (LinearRegression(positive=True), "parameter"),
]


def name(value):
    """Return the same name in each process: without addresses."""
    return re.sub(r" at 0x\w+", "", str(value))


@pytest.mark.parametrize(("model", "reason"), REASONS, ids=name)
def test_reasons_for_a_loop(model, reason):
    classes = 0 if isinstance(model, Ridge | LinearRegression) else 2
    X, y = make_samples("plain"), make_labels(classes)
    found = solver_for(model, X, y)
    assert isinstance(found, str)
    assert any(part in found for part in reason.split("|")), found


NO_PENALTIES = ("l1_ratio", 1.0) if NEW else ("penalty", "l1")


def test_penalties_that_are_not_squares():
    name, value = NO_PENALTIES
    model = LogisticRegression(solver="saga", **{name: value})
    assert isinstance(solver_for(model, make_samples("plain"), make_labels(2)), str)
    if not NEW:
        model = LogisticRegression(multi_class="ovr")
        assert isinstance(solver_for(model, make_samples("plain"), make_labels(2)), str)


DATA = {
    "single precision": lambda X: X.astype(np.float32),
    "sparse": csr_array,
    "missing": lambda X: np.where(np.arange(48)[:, None] == 3, np.nan, X),
    "texts": lambda X: pd.DataFrame(X).astype(str).astype(object),
}
NOT_SERVED = {
    "single precision": [
        pipe(SelectKBest(k=2), LINEAR), LogisticRegression(), RidgeClassifier(), GaussianNB(),
        LDA(), KNeighborsClassifier(), pipe(StandardScaler(), SVC()),
    ],
    "sparse": [
        pipe(StandardScaler(with_mean=False), SVC()), LogisticRegression(), RidgeClassifier(),
        LDA(), pipe(StandardScaler(with_mean=False), KNeighborsClassifier()),
        pipe(SelectKBest(k=2), LINEAR),
    ],
    "missing": [LogisticRegression(), GaussianNB()],
    "texts": [LogisticRegression()],
}  # fmt: skip


@pytest.mark.parametrize("kind", DATA)
def test_data_of_a_loop(kind):
    X, y = DATA[kind](make_samples("plain")), make_labels(2)
    for model in NOT_SERVED[kind]:
        assert chosen_solver(model, X, y) is None, model


UNSUPPORTED = [
    (LDA(solver="lsqr", shrinkage="auto"), 2, "plain"),
    (LDA(solver="eigen"), 2, "plain"),
    (LDA(priors=[0.5, 0.5]), 2, "plain"),
    (LDA(tol=0.0), 2, "plain"),
    (LDA(), 2, "many columns"),
    (pipe(MinMaxScaler(), GaussianNB()), 2, "plain"),
    (pipe(StandardScaler(), GaussianNB()), 2, "plain"),
    (GaussianNB(priors=[0.2, 0.8]), 2, "plain"),
    (pipe(SelectKBest(k=2), RidgeClassifier()), 2, "plain"),
    (pipe(FunctionTransformer(lambda X: X), RidgeClassifier()), 2, "plain"),
    (pipe(StandardScaler(), KNeighborsClassifier(metric="manhattan")), 2, "plain"),
    (KNeighborsClassifier(metric="cosine"), 2, "plain"),
    (pipe(StandardScaler(), Ridge()), 0, "many columns"),
    (pipe(StandardScaler(), KernelRidge()), 0, "plain"),
    (KernelRidge(), 0, "offset"),
    (KernelRidge(kernel="sigmoid", gamma=2.0, coef0=-1.0), 0, "plain"),
    (pipe(StandardScaler(with_std=False), MinMaxScaler(), LinearRegression()), 0, "offset"),
]


@pytest.mark.parametrize(("model", "n_classes", "kind"), UNSUPPORTED, ids=name)
def test_what_a_deletion_does_not_support(model, n_classes, kind):
    X, y = make_samples(kind), make_labels(n_classes)
    last = model[-1] if hasattr(model, "steps") else model
    served = type(last) is LinearRegression and not hasattr(last, "tol")
    assert (chosen_solver(model, X, y) is None) != served


def test_constant_columns_of_a_discriminant_analysis():
    X, y = make_samples("plain"), make_labels(2)
    X[:, 1] = 0.3
    assert chosen_solver(LDA(), X, y) is None
    X[:, 1] = 3.0
    assert chosen_solver(LDA(), X, y) is not None
    assert chosen_solver(LDA(), np.ones((48, 2)), y) is None


def test_ties_and_few_fits_are_left_to_the_loop():
    X, y = make_samples("plain"), make_labels(2)
    assert chosen_solver(KNeighborsClassifier(), np.ones((48, 2)), y) is None
    block = fold_block(KFold(9), None, 48, shuffled=False)
    plan = ResamplingPlan(48, 9, lambda fold: block.take(np.array([fold])))
    assert chosen_solver(RidgeClassifier(), X, y, plan) is None


def test_a_parameter_that_is_not_known_must_have_its_default(monkeypatch):
    class Newer(Ridge):
        def __init__(self, alpha=1.0, sparing=False):
            super().__init__(alpha)
            self.sparing = sparing

    X, y = make_samples("plain"), make_labels(0)
    served = deletion.SERVED[Ridge]
    monkeypatch.setitem(deletion.SERVED, Newer, served)
    assert chosen_solver(Newer(2.0), X, y) is not None
    assert chosen_solver(Newer(np.array([1.0, 2.0])), X, y) is None
    assert chosen_solver(Newer(sparing=True), X, y) is None
    other = served._replace(parameters=served.parameters.replace("alpha", "sparing"))
    monkeypatch.setitem(deletion.SERVED, Newer, other)
    assert chosen_solver(Newer(sparing=True), X, y) is not None
    assert chosen_solver(Newer(2.0), X, y) is None
    known = served._replace(parameters=served.parameters.replace("max_iter", ""))
    monkeypatch.setitem(deletion.SERVED, Ridge, known)
    assert chosen_solver(Ridge(), X, y) is not None
    assert chosen_solver(Ridge(max_iter=7), X, y) is None


STEPS = [
    [StandardScaler()],
    [StandardScaler(with_mean=False)],
    [StandardScaler(with_std=False)],
    [MinMaxScaler(feature_range=(-1, 3))],
]


def test_a_logistic_regression_of_many_rows_has_no_solver():
    X = np.random.default_rng(0).normal(size=(10_000, 20))
    for rows, found in ((slice(5000), False), (slice(None), True)):
        solver = solver_for(LogisticRegression(), X[rows], X[rows, 0] > 0)
        assert isinstance(solver, str) == found


@pytest.mark.parametrize("steps", STEPS, ids=name)
def test_columns_are_those_of_the_transformers(steps):
    X = np.column_stack([make_samples("plain") * [1, 10, 0.1, 1, 1] + 5, np.full(48, 2.0)])
    X[4:, 2] = 0.5  # constant without the first samples
    counts = np.random.default_rng(0).multinomial(48, np.full(48, 1 / 48), size=3)
    counts[0, :4] = 0
    target = make_inputs(SVC(), X, make_labels(2)).target
    maps = make_column_steps(steps, X, target).maps(PlanBlock(counts, counts == 0))
    for fit, row in enumerate(counts):
        expected = make_pipeline(*steps).fit(X[np.repeat(np.arange(48), row)]).transform(X)
        assert_allclose(maps.transform(X, fit), expected, rtol=1e-9, atol=1e-9)


SIZES = [
    # model, samples, columns, classes, draws of 10 folds, whether the folds are the same, faster
    (LINEAR, 60, 5, 2, 1, True, True),
    (LINEAR, 60, 5, 3, 1, True, False),
    (LINEAR, 60, 5, 3, 3, True, True),
    (LINEAR, 600, 5, 6, 50, True, False),
    (LINEAR, 700, 500, 2, 5, True, False),
    (LINEAR, 2000, 20, 2, 5, True, True),
    (SVC(), 60, 5, 2, 1, True, False),
    (SVC(), 200, 5, 2, 5, False, False),
    (SVC(), 200, 5, 2, 5, True, True),
    (SVC(), 700, 5, 2, 5, True, False),
    (pipe(StandardScaler(), SVC()), 200, 5, 2, 5, True, True),
    (pipe(StandardScaler(), SVC()), 200, 5, 2, 5, False, False),
    (SVC(gamma=0.1), 300, 5, 2, 5, False, True),
    (LogisticRegression(), 60, 5, 2, 1, True, True),
    (LogisticRegression(), 2000, 20, 2, 1, True, False),
    (LogisticRegression(), 2000, 20, 2, 5, True, True),
    (RidgeClassifier(), 60, 5, 2, 1, True, False),
    (RidgeClassifier(), 60, 5, 2, 2, True, True),
    (RidgeClassifier(), 20_000, 2, 2, 2, True, False),
    (GaussianNB(), 60, 5, 2, 1, True, True),
    (GaussianNB(), 50_000, 5, 2, 1, True, True),
    (GaussianNB(), 50_000, 50, 2, 1, True, False),
    (GaussianNB(), 50_000, 50, 2, 2, True, True),
    (KNeighborsClassifier(), 60, 5, 2, 1, True, False),
]


@pytest.mark.parametrize(("model", "n", "p", "n_classes", "n_draws", "same", "faster"), SIZES)
def test_a_solver_is_chosen_by_size(model, n, p, n_classes, n_draws, same, faster):
    X, y = np.random.default_rng(0).normal(size=(n, p)), np.arange(n) % n_classes

    def draw(number):
        seed = np.random.default_rng(0 if same else number)
        test = seed.permutation(np.arange(n) % 10) == np.arange(10)[:, None]
        return PlanBlock((~test).astype(np.intp), test)

    plan = ResamplingPlan(n, n_draws, draw, 10)
    assert solver_for(model, X, y).is_faster(plan) == faster


INVALID = [{"tol": 0.0}, {"gamma": "foo"}, {"C": -1.0}, {"cache_size": -1}, {"shrinking": 3}]


@pytest.mark.parametrize("invalid", INVALID, ids=name)
def test_invalid_parameters_are_refused_by_the_estimator(invalid):
    X, y = make_samples("plain"), make_labels(2)
    for steps in ([], [StandardScaler()], [SelectKBest(k=2)]):
        model = make_pipeline(*steps, SVC(**{"kernel": "linear"} | invalid))
        for estimate in (cross_val_error, bootstrap_error):
            with pytest.raises(ValueError, match=f"The '{next(iter(invalid))}' parameter of SVC"):
                estimate(model, X, y, random_state=0)
    with pytest.raises(ValueError, match="The 'copy' parameter of StandardScaler must be"):
        cross_val_error(make_pipeline(StandardScaler(copy="no"), LINEAR), X, y)
    with pytest.raises(ValueError, match="prior"):
        permutation_test(GaussianNB(priors=[0.5, 0.3, 0.2]), X, y, n_permutations=20)


def test_weighted_fits_of_naive_bayes_are_left_to_the_estimator():
    """Smoothing depends on the variances without weights."""
    X, y = make_samples("plain"), make_labels(2)
    solver = solver_for(GaussianNB(), X, y)
    for plan, left in [("weights", True), ("resamples", False)]:
        (block,) = make_plan(plan).blocks()
        assert solver.solve(block).failed.all() == left


def test_plans_that_no_deletion_serves():
    X, y = np.random.default_rng(0).normal(size=(330, 2)), np.arange(330) % 33
    assert not solver_for(RidgeClassifier(), X, y).is_faster(make_plan("same folds", n=330))
    n = 3000
    wide = ResamplingPlan(n, 2, lambda r: make_plan("other folds", n).draw(r), 4 * 3)
    many = np.random.default_rng(0).normal(size=(n, 2))
    assert not solver_for(KNeighborsClassifier(), many, np.arange(n) % 2).is_faster(wide)
