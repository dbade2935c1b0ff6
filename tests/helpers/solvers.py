"""Estimators that solvers support, samples and plans on which they are compared with the loop."""

import warnings

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit
from sklearn.svm import SVC

from skeval._adapters.runner import Runner, find_solver, try_solver
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.sampling_units import validate_data

N = 48
TIGHT = {
    SVC: {"tol": 1e-8, "max_iter": 50_000},
    LogisticRegression: {"tol": 1e-10, "max_iter": 100_000},
}
"""Parameters with which an estimator comes near to its optimum, or gives up with a warning."""


def plain(rng, p=5):
    return rng.normal(size=(N, p))


def separated(rng):
    return rng.normal(size=(N, 5)) + 4.0 * (np.arange(N) % 2)[:, None]


def constant_columns(rng):
    """Return two columns that are constant, and one that is constant but for its first value."""
    X = plain(rng)
    X[:, 1], X[:, 3], X[1:, 4] = 0.0, 2.5, 2.0
    return X


SAMPLES = {
    "plain": plain,
    "tiny": lambda rng: 1e-6 * plain(rng),
    "huge": lambda rng: 1e6 * plain(rng),
    "all scales": lambda rng: plain(rng) * 10.0 ** np.array([-6, -3, 0, 3, 6]),
    "repeated rows": lambda rng: plain(rng)[np.arange(N) % (N // 2)],
    "repeated columns": lambda rng: plain(rng)[:, [0, 1, 2, 0, 1]],
    "constant columns": constant_columns,
    "integers": lambda rng: rng.integers(0, 3, size=(N, 5)),
    "offset": lambda rng: plain(rng) + 1e4,
    "separated": separated,
    "many columns": lambda rng: plain(rng, 90),
}


def make_samples(kind, seed=0):
    return SAMPLES[kind](np.random.default_rng(seed))


def make_labels(n_classes, n=N, seed=1):
    """Return labels, or numbers for no class; the first class is rarer."""
    rng = np.random.default_rng(seed)
    if not n_classes:
        return rng.normal(size=n) + 1
    return rng.permutation(np.array(list("abcdef"))[np.arange(1, n + 1) * n_classes // (n + 1)])


def fold_block(splitter, rng, n, *, shuffled=True):
    """Return the fits of one pass of a splitter, with labels in an order of their own."""
    train, test = np.zeros((2, splitter.get_n_splits(np.empty(n)), n), dtype=np.intp)
    for fold, (rows, tested) in enumerate(splitter.split(np.empty(n))):
        train[fold, rows] = test[fold, tested] = 1
    order = np.tile(rng.permutation(n), (len(train), 1)) if shuffled else None
    return PlanBlock(train, test.astype(bool), order)


def everything(n):
    """Return one fit that trains and tests on all samples."""
    return PlanBlock(np.ones((1, n), dtype=np.intp), np.ones((1, n), dtype=bool))


def resample_block(rng, n, *, weighted=False, everything=False):
    """Return fits to resamples or with weights, tested on the rest or on all samples."""
    train = rng.multinomial(n, np.full(n, 1 / n), size=3)
    if weighted:
        train = rng.exponential(size=(3, n)) * (rng.random((3, n)) < 0.8)
    return PlanBlock(train, np.ones((3, n), bool) if everything else train == 0)


PLANS = {
    "same folds": lambda rng, n: fold_block(KFold(3), rng, n),
    "other folds": lambda rng, n: fold_block(
        KFold(4, shuffle=True, random_state=int(rng.integers(99))), rng, n
    ),
    "leave one out": lambda rng, n: fold_block(LeaveOneOut(), rng, n, shuffled=False),
    "halves": lambda rng, n: fold_block(
        ShuffleSplit(3, test_size=0.4, train_size=0.5, random_state=int(rng.integers(99))), rng, n
    ),
    "resamples": lambda rng, n: resample_block(rng, n),
    "resamples on all": lambda rng, n: resample_block(rng, n, everything=True),
    "weights": lambda rng, n: resample_block(rng, n, weighted=True),
}


def make_plan(kind, n=N, seed=0):
    """Return a plan of at least 24 fits."""
    rng = np.random.default_rng(seed)
    blocks = [PLANS[kind](rng, n) for _ in range(1 if kind == "leave one out" else 8)]
    return ResamplingPlan(n, len(blocks), blocks.__getitem__, len(blocks[0]), kind == "weights")


def make_inputs(model, X, y):
    X, target, _ = validate_data(model, X, y)
    return Inputs(model, X, target)


def solver_for(model, X, y):
    """Return the solver of an estimator, or the reason why there is none."""
    inputs = make_inputs(model, X, y)
    return find_solver(model, inputs.X, inputs.target)


def chosen_solver(model, X, y, plan=None):
    """Return the solver that is chosen for a plan, None for the loop."""
    runner, plan = Runner(make_inputs(model, X, y)), plan or make_plan("same folds", len(y))
    chosen = runner.choose_solver(runner.make_worker(plan, FitRequest()), plan)
    return chosen and chosen.solver


def with_options(model, options):
    """Return a clone whose last step has some parameters, by its type."""
    model = clone(model)
    last = model[-1] if hasattr(model, "steps") else model
    last.set_params(**options.get(type(last), {}))
    return model


def compare_fits(model, X, y, plan, *, tried=True, near=0.0, rtol=1e-7):
    """Compare fits of a solver with those of the estimator; return the share that it solves.

    Labels are equal, except of samples whose decision value is at most `near` in units of the
    largest. The share is 0 if there is no solver, or if fits are `tried` and show that a loop must
    do them.
    """
    model = with_options(model, {SVC: {"decision_function_shape": "ovo"}})
    inputs = make_inputs(with_options(model, TIGHT), X, y)
    solver = find_solver(model, inputs.X, inputs.target)
    methods = ("predict", "decision_function", "predict_proba")
    worker = Runner(inputs).make_worker(plan, FitRequest(methods))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not isinstance(solver, str) and tried:
            solver = try_solver(solver, worker, plan)
        if isinstance(solver, str):
            return 0.0
        (block,) = plan.blocks()
        output = solver.solve(block)
        warnings.simplefilter("error", ConvergenceWarning)
        solved = [each for each in zip(block, output, strict=True) if not each[1].failed[0]]
        for fit, found in solved[:: max(1, len(solved) // 3)][:3]:
            try:
                assert_same_output(found, worker(fit), near, rtol)
            except ConvergenceWarning:
                continue
    return 1.0 - output.failed.mean()


def assert_same_output(found, expected, near, rtol):
    """Compare the outputs of a solved fit with those of the estimator."""
    clear = np.ones(len(expected.predicted), dtype=bool)
    for name in ("decision", "probability"):
        values, there = getattr(found, name), getattr(expected, name)
        assert (values is None) == (there is None)
        if values is not None:
            size = np.abs(there).max(initial=1.0)
            assert_allclose(values, there, rtol=0, atol=max(rtol, near) * size)
    if expected.decision is not None:
        far = np.abs(expected.decision) > near * size
        clear = far if far.ndim == 1 else far.all(axis=1)
    if expected.predicted.dtype.kind == "f":
        assert_allclose(found.predicted, expected.predicted, rtol=rtol, atol=rtol)
    else:
        assert_array_equal(found.predicted[clear], expected.predicted[clear])
