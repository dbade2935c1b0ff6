"""A solver that trial fits have found to agree differs from libsvm within its tolerance only."""

import warnings

import numpy as np
import pytest
from helpers.solvers import everything
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from skeval._adapters.runner import Runner, find_solver, try_solver
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.sampling_units import validate_data

KINDS = ("plain", "plain", "wide", "scales", "shifted", "huge column", "integers", "copies")
TIGHT = 1e-6


def draw_samples(rng):
    """Return samples of one of the kinds, with two or three classes that overlap or do not."""
    kind = str(rng.choice(KINDS))
    n, p = int(rng.integers(30, 200)), int(rng.integers(2, 12))
    n, p = (n // 2, 30 * p) if kind == "wide" else (n, p)
    y = rng.permutation(np.resize(np.arange(rng.choice([2, 2, 3])), n))
    X = rng.normal(size=(n, p))
    X[:, 0] += rng.choice([0.0, 0.5, 1.0, 3.0]) * y
    if kind == "scales":
        X *= 10.0 ** rng.uniform(-2, 2, p)
    elif kind == "shifted":
        X += 10.0 ** rng.uniform(0, 5)
    elif kind == "huge column":
        X = np.column_stack([X, 10.0 ** rng.uniform(1, 4) * rng.normal(size=n)])
    elif kind == "integers":
        X = np.rint(X)
    elif kind == "copies":
        X = np.column_stack([X, X])
    return X, y, kind


def draw_model(rng, kind, two_classes):
    """Return an SVC, often after a transformer; libsvm may not end on columns of any scale."""
    kernel = str(rng.choice(["linear", "linear", "rbf"]))
    class_weight = [None, None, "balanced"][rng.integers(3)]
    svc = SVC(kernel=kernel, C=10.0 ** rng.uniform(-2, 1.5), class_weight=class_weight)
    draw, raw = rng.random(), kind in ("scales", "shifted", "huge column")
    if draw < (0.85 if raw and kernel != "rbf" else 0.35):
        return make_pipeline(StandardScaler(), svc)
    if draw < 0.9 and kernel == "linear" and two_classes:
        return make_pipeline(SelectKBest(k=2), svc)
    return make_pipeline(MinMaxScaler(), svc) if draw > 0.9 else svc


def draw_fits(rng, n, n_fits=10):
    """Return resamples, or folds with shuffled labels or random weights."""
    kind = rng.integers(4)
    if kind == 0:
        train = rng.multinomial(n, np.full(n, 1 / n), size=n_fits)
        return PlanBlock(train, train == 0)
    test = rng.permutation(np.arange(n) % n_fits) == np.arange(n_fits)[:, None]
    order = np.tile(rng.permutation(n), (n_fits, 1)) if kind == 1 else None
    train = (~test).astype(np.intp)
    return PlanBlock(train * rng.exponential(size=test.shape) if kind == 2 else train, test, order)


def fit_pairs(model, tol, X, labels, fit):
    """Return decision values of pairs of classes by libsvm, and labels; None if it does not end.

    The third value bounds the rounding errors of decision values: libsvm keeps kernel values in
    single precision.
    """
    model, rows = clone(model), fit.training_rows
    last = model[-1] if hasattr(model, "steps") else model
    last.set_params(tol=tol, max_iter=10**6, decision_function_shape="ovo")
    name = f"{model.steps[-1][0]}__sample_weight" if hasattr(model, "steps") else "sample_weight"
    weights = {} if fit.weights is None else {name: fit.weights}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.fit(X[rows], labels[rows], **weights)
        except ConvergenceWarning:
            return None
    largest = max(1.0, np.max(np.sum(last.support_vectors_**2, axis=1)))
    rounding = np.finfo(np.float32).eps * np.abs(last.dual_coef_).sum() * largest
    return model.decision_function(X[fit.test]), model.predict(X[fit.test]), rounding


def count_differences(seed):
    """Return the numbers of labels, of differing ones, and of those beyond the tolerance."""
    rng = np.random.default_rng(seed)
    X, y, kind = draw_samples(rng)
    model, block = draw_model(rng, kind, y.max() == 1), draw_fits(rng, len(y))
    counts = np.zeros(3, dtype=int)
    if fit_pairs(model, 1e-3, X, y, everything(len(y))[0]) is None:
        return counts
    _, target, _ = validate_data(model, X, y)
    plan = ResamplingPlan(len(y), 1, lambda _: block, len(block))
    worker = Runner(Inputs(model, X, target)).make_worker(plan, FitRequest())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = find_solver(model, X, target)
        solver = solver if isinstance(solver, str) else try_solver(solver, worker, plan)
    if isinstance(solver, str):
        return counts
    solver.classifier = clone(solver.classifier).set_params(decision_function_shape="ovo")
    for fit, output in zip(block, solver.solve(block), strict=True):
        if output.failed[0]:
            continue
        labels = y if fit.order is None else y[fit.order]
        usual, tight = (fit_pairs(model, tol, X, labels, fit) for tol in (1e-3, TIGHT))
        if usual is None or tight is None:
            continue
        beyond = np.abs(tight[0]) > 10 * TIGHT + tight[2]
        counts += (
            len(usual[1]),
            np.count_nonzero(usual[1] != output.predicted),
            np.count_nonzero(beyond & ((tight[0] > 0) != (output.decision > 0))),
        )
    return counts


def assert_few_differences(seeds):
    n_labels, n_different, n_beyond = np.sum([count_differences(seed) for seed in seeds], axis=0)
    assert n_labels > 50 * len(seeds)
    assert n_beyond == 0
    assert n_different < 2e-3 * n_labels


def test_labels_differ_within_the_tolerance():
    assert_few_differences(range(8))


@pytest.mark.slow
def test_labels_differ_within_the_tolerance_in_500_cases():
    assert_few_differences(range(500))
