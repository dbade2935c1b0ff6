"""Samples and plans on which adapters of fits by deletion are held against single fits."""

import warnings

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from skeval._adapters.trials import choose_solver
from skeval._resampling.fit_params import weight_parameters
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.fit_worker import make_worker
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan, concatenate_blocks
from skeval._resampling.splitters import fold_plan
from skeval._resampling.target import validate_data

CLASSIFIERS = {
    "ridge": RidgeClassifier(),
    "ridge svd": RidgeClassifier(alpha=0.01, solver="svd"),
    "ridge no intercept": RidgeClassifier(fit_intercept=False),
    "neighbors": KNeighborsClassifier(),
    "even neighbors": KNeighborsClassifier(4),
    "near neighbors": KNeighborsClassifier(10, weights="distance"),
    "brute neighbors": KNeighborsClassifier(4, algorithm="brute"),
    "city neighbors": KNeighborsClassifier(3, metric="manhattan"),
}
TWO_CLASSES = {
    "shrunk": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3),
    "shrunk to the end": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=1.0),
    "least squares": LinearDiscriminantAnalysis(solver="lsqr"),
    "svd": LinearDiscriminantAnalysis(),
    "svd with priors": LinearDiscriminantAnalysis(priors=[0.3, 0.7]),
}
REGRESSORS = {
    "ridge": Ridge(),
    "ridge no intercept": Ridge(alpha=10, fit_intercept=False, solver="cholesky"),
    "ridge svd": Ridge(alpha=1e-3, solver="svd"),
    "least squares": LinearRegression(),
    "kernel ridge": KernelRidge(),
    "rbf": KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5),
    "polynomial": KernelRidge(alpha=1.0, kernel="poly", degree=2, gamma=0.1),
    "neighbors": KNeighborsRegressor(),
    "near neighbors": KNeighborsRegressor(9, weights="distance"),
}
OF_NEIGHBORS = [name for name in [*CLASSIFIERS, *REGRESSORS] if "neighbors" in name]


def some_samples(kind, n=48, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 90 if kind == "many columns" else 5))
    if kind.startswith("scale"):
        X *= float(kind.split()[1])
    if kind == "all scales":
        X *= 10.0 ** np.array([-6, -3, 0, 3, 6])
    if kind == "duplicated rows":
        X[n // 2 :] = X[: n // 2]
    if kind == "constant columns":
        X[:, 1], X[:, 3] = 0.0, 2.5
    if kind == "duplicated columns":
        X[:, 3] = X[:, 0]
    if kind == "integers":
        X = rng.integers(0, 3, size=X.shape)
    if kind == "offset":
        X += 1e4
    return X


KINDS = [
    "plain",
    "scale 1e-6",
    "scale 1e-3",
    "scale 1e3",
    "scale 1e6",
    "all scales",
    "duplicated rows",
    "constant columns",
    "duplicated columns",
    "integers",
    "offset",
    "many columns",
]


def some_labels(n=48, n_classes=2, seed=1):
    labels = np.array(["a", "b", "c", "d"])[np.arange(n) * n_classes // n]
    return np.random.default_rng(seed).permutation(labels)


def some_orders(n, n_orders, seed=2):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(n) for _ in range(n_orders)])


def permutation_plan(n, n_orders=10, n_folds=3):
    """Folds that are the same for all label vectors."""
    plan = fold_plan(n, list(KFold(n_folds, shuffle=True, random_state=0).split(np.empty(n))))
    folds = concatenate_blocks([plan.draw(f) for f in range(n_folds)])
    orders = some_orders(n, n_orders)

    def draw(r):
        return PlanBlock(folds.train, folds.test, np.tile(orders[r], (n_folds, 1)))

    return ResamplingPlan(n, n_orders, draw, n_folds)


def other_parts_plan(kind, n=48, seed=0):
    """Fits whose training sets differ, each under labels of its own."""
    rng = np.random.default_rng(seed)
    folds = {
        "redrawn folds": lambda: KFold(4, shuffle=True, random_state=int(rng.integers(99))),
        "leave one out": LeaveOneOut,
        "halves": lambda: ShuffleSplit(2, test_size=0.4, train_size=0.5, random_state=seed),
    }

    def draw_resample(everything):
        train = np.bincount(rng.integers(0, n, n), minlength=n)[None]
        return PlanBlock(train, np.ones((1, n), bool) if everything else train == 0)

    def draw_folds():
        pairs = list(folds[kind]().split(np.empty(n)))
        train, test = np.zeros((2, len(pairs), n), dtype=np.intp)
        for fold, (rows, tested) in enumerate(pairs):
            train[fold, rows] = test[fold, tested] = 1
        return PlanBlock(train, test.astype(bool), np.tile(rng.permutation(n), (len(pairs), 1)))

    if "resamples" in kind:
        blocks = [draw_resample(kind == "resamples on all") for _ in range(24)]
    elif kind == "weights":
        blocks = [PlanBlock(rng.exponential(size=(1, n)), np.ones((1, n), bool)) for _ in range(24)]
    else:
        blocks = [draw_folds() for _ in range(1 if kind == "leave one out" else 12)]
    size = len(blocks[0])
    return ResamplingPlan(n, len(blocks), blocks.__getitem__, size, kind == "weights")


OTHER_PARTS = ["redrawn folds", "leave one out", "halves", "resamples", "resamples on all"]


def takes_its_turn(number, parts, kind):
    """Whether the model of this number is tried here: on each kind of samples, every third plan.

    On plain samples all are tried.
    """
    turn = [*OTHER_PARTS, "weights"].index(parts) + KINDS.index(kind)
    return kind == "plain" or (number + turn) % 3 == 0


def adapter_of(model, X, y, plan=None):
    X, target, _ = validate_data(model, X, y)
    inputs = Inputs(model, X, target)
    plan = plan or permutation_plan(len(target))
    solver = choose_solver(inputs, make_worker(inputs, plan, FitRequest()), plan)
    return solver and solver.adapter


def whole_block(plan):
    (block,) = plan.blocks()
    return block


def take(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def check_against_single_fits(model, X, y, *, most_left=0.0, rtol=1e-9, plan=None):
    """Hold answers against fits of scikit-learn; return the part left to the estimator.

    A solver is not asked for fewer fits; every seventh is compared, of each fold in turn.
    """
    plan = permutation_plan(len(y)) if plan is None else plan
    block = whole_block(plan)
    adapter = adapter_of(model, X, y, plan)
    if adapter is None:
        assert most_left == 1.0
        return 1.0
    found = adapter(block)
    classes = np.unique(y)
    for r, output in enumerate(found):
        if r % 7 or output.failed[0]:
            continue
        rows, answers = output.rows, output.responses
        train, weights = block[r].training_rows, block[r].weights
        labels = y if block.order is None else y[block.order[r]]
        options = {} if weights is None else weight_parameters(model, weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            single = clone(model).fit(take(X, train), labels[train], **options)
        predicted = single.predict(take(X, rows))
        if y.dtype.kind == "f":
            assert_allclose(answers["predict"], predicted, rtol=rtol, atol=rtol)
            continue
        assert_array_equal(classes[answers["predict"]], predicted)
        for method in ("decision_function", "predict_proba"):
            assert (method in answers) == hasattr(single, method)
            if method in answers:
                expected = getattr(single, method)(take(X, rows))
                atol = rtol * max(1.0, np.abs(expected).max())
                assert_allclose(answers[method], expected, rtol=0, atol=atol)
    left = found.failed.mean()
    assert left <= most_left
    return left
