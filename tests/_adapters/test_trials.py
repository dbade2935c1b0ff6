"""Fits of a solver give the labels that the estimator itself would give."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from helpers.solvers import everything, make_plan, solver_for
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval._adapters.runner import BlockSolver, Runner, Solver
from skeval._adapters.svc import SVCSolver
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import FitOutput, Inputs, join_outputs, validate_inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.sampling_units import validate_data
from skeval.model_selection import (
    bootstrap_error,
    error_interval,
    permutation_test,
    perturbation_interval,
    score_interval,
)

N = 48
HOSTILE = {
    "plain": lambda X: X,
    "offset": lambda X: X + 1e9,
    "scales": lambda X: X * 10.0 ** np.linspace(-6, 6, X.shape[1]),
    "denormal": lambda X: X * 1e-200,
    "huge column": lambda X: X * np.r_[np.ones(X.shape[1] - 1), 1e11],
    "repeated rows": lambda X: X[np.arange(N) // 3],
    "copied columns": lambda X: np.hstack([X, X]),
    "constant column": lambda X: np.column_stack([X, np.full(N, 0.3)]),
    "integers": np.rint,
    "binary": lambda X: (X > 0).astype(float),
    "outlier": lambda X: X * np.where(np.arange(N) == 5, 1e6, 1.0)[:, None],
    "wide": lambda X: np.hstack([X, np.random.default_rng(1).normal(size=(N, 60))]),
}
"""Samples that are hard for a solver or for the estimator."""

MODELS = [
    LogisticRegression(C=0.02, tol=0.013),
    LogisticRegression(C=100.0, max_iter=20, class_weight="balanced"),
    make_pipeline(MinMaxScaler(feature_range=(-2, 5)), LogisticRegression(tol=1e-3)),
    SVC(C=0.3, tol=1e-2, shrinking=False),
    make_pipeline(StandardScaler(), SVC(kernel="linear", C=3.0, class_weight="balanced")),
    make_pipeline(StandardScaler(), SelectKBest(k=1), SVC(kernel="linear", C=1e-4)),
    RidgeClassifier(alpha=1e-6, solver="svd"),
    make_pipeline(RobustScaler(), RidgeClassifier(fit_intercept=False)),
    KNeighborsClassifier(4, weights="distance", p=1),
    GaussianNB(var_smoothing=0.0),
    LinearDiscriminantAnalysis(tol=0.1),
]
"""Estimators with parameters off their defaults."""


def draw_plan(rng, n):
    """Return ten folds, ten folds under shuffled labels, and ten resamples."""
    test = rng.permutation(np.arange(n) % 10) == np.arange(10)[:, None]
    folds = PlanBlock((~test).astype(np.intp), test)
    shuffled = replace(folds, order=np.repeat(rng.permutation(n)[None], 10, axis=0))
    train = rng.multinomial(n, np.full(n, 1 / n), size=10)
    blocks = [folds, PlanBlock(train, train == 0), shuffled]
    blocks[0] = replace(folds, order=np.repeat(np.arange(n)[None], 10, axis=0))
    blocks[1] = replace(blocks[1], order=blocks[0].order)
    return ResamplingPlan(n, 3, blocks.__getitem__, 10)


def compare_with_loop(model, X, y, monkeypatch):
    """Return how many fits a solver did, and the largest differences from the loop's.

    They are those of probabilities, and of decision values whose labels differ.
    """
    X, target, _ = validate_data(model, X, y)
    plan, request = (
        draw_plan(np.random.default_rng(0), N),
        FitRequest(("predict", "decision_function", "predict_proba")),
    )
    outputs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for choose in (Runner.choose_solver, lambda *_: None):
            monkeypatch.setattr(Runner, "choose_solver", choose)
            inputs = Inputs(model, X, target, error_score=np.nan)
            outputs.append([output for _, output in Runner(inputs).fits(plan, request)])
    n_solved = sum(output.n_solved for output in outputs[0])
    ours, loop = map(join_outputs, outputs)
    assert ours.failed.tolist() == loop.failed.tolist()
    differ = ours.predicted != loop.predicted
    if loop.probability is None:
        return n_solved, 0.0, np.abs(loop.decision[differ]).max(initial=0.0)
    gap = np.abs(loop.probability[:, 0] - 0.5)[differ].max(initial=0.0)
    ours, loop = (np.nan_to_num(output.probability) for output in (ours, loop))
    return n_solved, np.abs(ours - loop).max(), gap


@pytest.mark.parametrize("kind", HOSTILE)
def test_fits_to_hostile_samples_are_those_of_the_loop(kind, monkeypatch):
    rng, y = np.random.default_rng(0), np.arange(N) % 2
    X = rng.normal(size=(N, 3))
    X[:, 0] += y
    models, n_served = MODELS[list(HOSTILE).index(kind) % 3 :: 3], 0
    for model in models:
        final = model[-1] if hasattr(model, "steps") else model
        with monkeypatch.context() as patch:
            n_solved, off, gap = compare_with_loop(model, HOSTILE[kind](X), y, patch)
        logistic, svm = isinstance(final, LogisticRegression), isinstance(final, SVC)
        assert off <= (1e-2 if logistic else 1e-6), model
        assert gap <= (10 * final.tol if svm else 1e-2 if logistic else 0.0), model
        n_served += n_solved > 0
    assert n_served > len(models) // 2 or kind != "plain"


def draw_with_time(rng, n=300):
    """Return two classes that the first column separates somewhat, beside a Unix time."""
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 1.5 * y
    return np.column_stack([X, 1.7e9 + 1e7 * rng.random(n)]), y


def test_a_model_that_stops_early_is_judged_as_it_is():
    """With a Unix time among the columns lbfgs stops after a few steps, without a warning."""
    X, y = draw_with_time(np.random.default_rng(0))
    with pytest.warns(ConvergenceWarning, match="does not reach its optimum .* Scale the features"):
        raw = error_interval(LogisticRegression(), X, y, random_state=0)
    scaled = error_interval(
        make_pipeline(StandardScaler(), LogisticRegression()), X, y, random_state=0
    )
    assert raw.value > 0.4 > 0.3 > scaled.value


@pytest.mark.parametrize(
    "options",
    [{"max_iter": 2}, {"tol": 1.0}, {"solver": "newton-cholesky", "max_iter": 1}],
    ids=str,
)
def test_the_steps_of_the_estimator_are_its_own(options, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    model = LogisticRegression(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = error_interval(model, X, y, loss="log_loss", random_state=0)
        monkeypatch.setattr(Runner, "choose_solver", lambda *_: None)
        loop = error_interval(model, X, y, loss="log_loss", random_state=0)
    assert ours.value == pytest.approx(loop.value, rel=1e-12)


@pytest.mark.usefixtures("always_solve")
def test_svc_on_shifted_samples():
    """libsvm keeps kernel values in single precision: its model of such samples is useless."""
    X, y = draw_with_time(np.random.default_rng(0), 100)
    X, options = X[:, :4] + 1e8, {"n_repeats": 2, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="SVC does not reach its optimum"):
        found = error_interval(SVC(), X, y, **options)
    assert found.value == error_interval(Own(), X, y, **options).value


def test_trial_fits_are_fits_of_the_loop(monkeypatch):
    """Where trial fits show that a loop is as fast, no fit is done twice."""
    X, y = draw_with_time(np.random.default_rng(0), 60)
    X, target, _ = validate_data(LogisticRegression(), X, y)
    plan = draw_plan(np.random.default_rng(3), len(y))
    fitted, fit = [], LogisticRegression.fit
    monkeypatch.setattr(
        LogisticRegression, "fit", lambda *args, **kw: fitted.append(0) or fit(*args, **kw)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runner = Runner(Inputs(LogisticRegression(), X, target))
        outputs = [output for _, output in runner.fits(plan)]
    assert sum(output.n_solved for output in outputs) == 0
    assert len(fitted) == plan.n_fits


def test_trial_fits_of_deletions_end_with_the_last_one():
    """The first fits of a permutation test have the true labels."""
    X, y = two_classes()
    plan = make_plan("other folds", len(y))
    first, last = solver_for(RidgeClassifier(), X, y).draw_trials(plan)
    assert np.array_equal(last.test[0], plan.draw(plan.n_draws - 1).test[-1])
    assert not np.array_equal(first.test, last.test)


def test_a_process_without_the_solver_says_so():
    inputs = validate_inputs(DecisionTreeClassifier(), *draw_with_time(np.random.default_rng(0)))
    plan = ResamplingPlan(300, 1, lambda _: everything(300))
    solver = BlockSolver(Runner(inputs).make_worker(plan, FitRequest()))
    with pytest.raises(RuntimeError, match="not available in this worker process"):
        solver.solve(everything(300))


def test_a_block_that_a_solver_leaves_is_done_by_the_estimator():
    inputs = validate_inputs(LogisticRegression(), *draw_with_time(np.random.default_rng(0)))
    request, block = FitRequest.for_scores(GaussianNB(), "accuracy"), everything(300)
    worker = Runner(inputs).make_worker(ResamplingPlan(300, 1, lambda _: block), request)
    solver = BlockSolver(worker, solver=Refusing())
    assert solver.solve(block).scores == [None]
    assert solver(block).scores[0][""] >= 0.5


def count_svc_fits(monkeypatch):
    """Record the numbers of samples of the fits of an SVC."""
    sizes, fit = [], SVC.fit

    def counted(self, X, y, sample_weight=None):
        sizes.append(len(X))
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(SVC, "fit", counted)
    return sizes


def two_classes(n=120, p=4):
    y = np.arange(n) % 2
    X = np.random.default_rng(0).normal(size=(n, p))
    X[:, 0] += y
    return X, y


@pytest.mark.parametrize("steps", [[], [StandardScaler()], [SelectKBest(k=2)]], ids=str)
def test_no_fit_of_a_trusted_solver_is_left_to_the_estimator(steps, monkeypatch):
    """Whatever the distance of a sample from the boundary."""
    X, y = two_classes()
    sizes = count_svc_fits(monkeypatch)
    model = make_pipeline(*steps, SVC(kernel="linear"))
    permutation_test(model, X, y, n_permutations=60, random_state=0)
    assert 1 <= len(sizes) <= 3  # trial fits


def test_plans_of_a_call_share_the_trial_fits(monkeypatch):
    X, y = two_classes()
    sizes = count_svc_fits(monkeypatch)
    perturbation_interval(SVC(kernel="linear"), X, y, n_resamples=40, random_state=0)
    assert sorted(sizes) == [108, 120]  # a trial, and the single fit to all samples


class Own(SVC):
    """A subclass, which has no solver."""


class Decides:
    """A fitted model with some decision values."""

    def __init__(self, values):
        self.values = values

    def decision_function(self, X):
        return self.values


@pytest.mark.parametrize(
    ("n_flipped", "value", "agrees"), [(1, 9e-3, True), (1, 2e-2, False), (12, 9e-3, False)]
)
def test_labels_that_differ_within_the_tolerance_are_few(n_flipped, value, agrees):
    """Ten times `tol`, and at most one sample in a hundred."""
    X, y = two_classes()
    solver = solver_for(SVC(kernel="linear"), X, y)
    block = everything(len(y))
    values = solver.solve(block).decision.copy()
    values[:n_flipped] = np.where(values[:n_flipped] > 0, -value, value)
    agreement = solver.compare(block, Decides(values), X)
    assert agreement.agrees == agrees
    assert agreement.share == n_flipped / len(y)


class Refusing(Solver):
    """A solver that completes no fit."""

    def solve(self, block):
        return FitOutput(block.test, np.ones(len(block), dtype=bool))

    def compare(self, block, model, samples):
        return None


@pytest.mark.parametrize(
    "call",
    [
        lambda *a: score_interval(*a, scoring="roc_auc", n_repeats=2, random_state=0).value,
        lambda *a: (
            permutation_test(*a, cv=3, scoring="roc_auc", n_permutations=9, random_state=0).pvalue
        ),
        lambda *a: bootstrap_error(*a, n_resamples=20, random_state=0).value,
    ],
    ids=["score_interval", "permutation_test", "bootstrap_error"],
)
def test_a_solver_that_completes_no_fit(call, monkeypatch):
    values = []
    for solver in ("the loop", Refusing()):
        monkeypatch.setattr(Runner, "find_solver", lambda _, solver=solver: solver)
        values.append(call(SVC(), *two_classes(60)))
    assert values[0] == values[1]


def test_fits_that_a_solver_leaves_are_done_by_the_estimator(monkeypatch):
    """Half of the fits of a block."""
    X, y = two_classes(40)
    expected = bootstrap_error(Own(kernel="linear", tol=1e-6), X, y, n_resamples=20, random_state=0)
    solve = SVCSolver.solve

    def solve_half(self, block):
        found, odd = solve(self, block), np.arange(len(block)) % 2 == 1
        kept = np.repeat(~odd, found.sizes)
        return FitOutput(block.test, odd, found.predicted[kept], found.decision[kept])

    monkeypatch.setattr(SVCSolver, "solve", solve_half)
    model = SVC(kernel="linear", tol=1e-6)
    found = bootstrap_error(model, X, y, n_resamples=20, random_state=0)
    np.testing.assert_array_equal(found.replicates, expected.replicates)


@pytest.mark.usefixtures("always_solve")
def test_trial_fits_that_a_solver_leaves_do_not_refuse_the_call(monkeypatch):
    X, y = two_classes(60)
    runner = Runner(validate_inputs(SVC(kernel="linear", tol=1e-6), X, y))
    compare, left = SVCSolver.compare, iter([True, True])
    monkeypatch.setattr(
        SVCSolver, "compare", lambda *args: None if next(left, False) else compare(*args)
    )
    plan = draw_plan(np.random.default_rng(3), len(y))
    solved = sum(output.n_solved for _, output in runner.fits(plan))
    assert next(left, None) is None
    assert solved > 0
