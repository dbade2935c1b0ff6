"""Fits of a solver give the labels that the estimator itself would give."""

import warnings

import numpy as np
import pytest
from helpers.solvers import solver_for
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval._adapters import fits
from skeval._adapters.fits import BlockSolver, Solver, fit_plan
from skeval._adapters.svc import SVCSolver
from skeval._resampling.fit_loop import NoFitLeftError, make_worker
from skeval._resampling.fit_outputs import FitOutput, join_outputs
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs, validate_inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan, whole_plan
from skeval._resampling.sampling_units import validate_data
from skeval.model_selection import (
    bootstrap_error,
    error_interval,
    permutation_test,
    perturbation_interval,
    score_interval,
)

KINDS = ("plain", "scales", "shifted", "huge column", "time", "integers", "copied columns")


def draw_samples(rng):
    """Return samples of one of the kinds, with two or three classes that overlap or do not."""
    n, p, n_classes = int(rng.integers(40, 160)), int(rng.integers(1, 8)), int(rng.choice([2, 3]))
    y = rng.permutation(np.resize(np.arange(n_classes), n))
    X = rng.normal(size=(n, p))
    X[:, 0] += rng.choice([0.0, 1.0, 3.0]) * y
    kind = rng.choice(KINDS)
    if kind == "scales":
        X *= 10.0 ** rng.uniform(-4, 6, p)
    elif kind == "shifted":
        X += 10.0 ** rng.uniform(1, 8)
    elif kind == "huge column":
        X = np.column_stack([X, 10.0 ** rng.uniform(3, 12) * rng.normal(size=n)])
    elif kind == "time":
        X = np.column_stack([X, 1.7e9 + 1e7 * rng.random(n)])
    elif kind == "integers":
        X = np.rint(X)
    elif kind == "copied columns":
        X = np.column_stack([X, X])
    return X, y, kind


def draw_model(rng, kind):
    """Return an estimator that solvers support, of any `tol` and `max_iter`."""
    tol, max_iter = 10.0 ** rng.uniform(-8, 0), int(rng.choice([2, 5, 20, 100, 1000]))
    C = 10.0 ** rng.uniform(-3, 1)
    newton = str(rng.choice(["newton-cholesky", "newton-cg"]))
    models = [
        LogisticRegression(C=C, tol=tol, max_iter=max_iter),
        LogisticRegression(C=C, tol=tol, max_iter=max_iter, solver=newton),
        LogisticRegression(),
        SVC(C=C, tol=tol),
        SVC(
            kernel=str(rng.choice(["linear", "poly", "sigmoid"])), C=min(C, 3.0), tol=max(tol, 1e-5)
        ),
        RidgeClassifier(alpha=C),
        KNeighborsClassifier(
            int(rng.integers(1, 8)), weights=str(rng.choice(["uniform", "distance"]))
        ),
        GaussianNB(),
        LinearDiscriminantAnalysis(tol=tol),
        QuadraticDiscriminantAnalysis(tol=tol),
        NearestCentroid(),
    ]
    model = models[rng.integers(len(models))]
    # On raw columns of such scales libsvm may take minutes for other kernels.
    slow = type(model) is SVC and model.kernel != "rbf" and kind not in ("plain", "integers")
    if slow or rng.random() < 0.3:
        return make_pipeline(StandardScaler(), model)
    return make_pipeline(SelectKBest(k=1), model) if rng.random() < 0.15 else model


def draw_plan(rng, n):
    """Return repeated folds or resamples, some under shuffled labels."""
    n_draws, shuffled = int(rng.choice([1, 4, 6])), rng.random() < 0.4
    blocks = []
    for _ in range(n_draws):
        order = np.repeat(rng.permutation(n)[None], 10, axis=0) if shuffled else None
        blocks.append(PlanBlock(*draw_fits(rng, n, resamples=rng.random() < 0.5), order))
    return ResamplingPlan(n, n_draws, blocks.__getitem__, 10)


def draw_fits(rng, n, resamples):
    """Return the training and test sets of ten resamples, or of ten folds."""
    if resamples:
        train = np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(10)])
        return train, train == 0
    test = rng.permutation(np.arange(n) % 10) == np.arange(10)[:, None]
    return (~test).astype(np.intp), test


def count_differences(seed, monkeypatch):
    """Return how many fits a solver did, and how many have other labels than the loop's."""
    rng = np.random.default_rng(seed)
    X, y, kind = draw_samples(rng)
    model, plan = draw_model(rng, kind), draw_plan(rng, len(y))
    X, target, _ = validate_data(model, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ours = [out for _, out in fit_plan(Inputs(model, X, target, error_score=np.nan), plan)]
        except NoFitLeftError:
            return 0, 0
        with monkeypatch.context() as patch:
            patch.setattr(fits, "choose_solver", lambda *_, **__: None)
            loop = [out for _, out in fit_plan(Inputs(model, X, target, error_score=np.nan), plan)]
    pairs = zip(join_outputs(ours), join_outputs(loop), strict=True)
    differ = [
        a.failed[0] != b.failed[0] or not (a.failed[0] or np.array_equal(a.predicted, b.predicted))
        for a, b in pairs
    ]
    return sum(output.n_solved for output in ours), sum(differ)


def assert_same_labels(seeds, monkeypatch):
    solved, differ = np.transpose([count_differences(seed, monkeypatch) for seed in seeds])
    assert np.mean(solved > 0) > 0.3  # or nothing would be compared
    assert not differ.any(), f"seeds {np.flatnonzero(differ)}"


def test_same_labels_as_the_loop(monkeypatch):
    assert_same_labels(range(2, 7), monkeypatch)


@pytest.mark.slow
def test_same_labels_as_the_loop_in_a_thousand_cases(monkeypatch):
    assert_same_labels(range(1000), monkeypatch)


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
        monkeypatch.setattr(fits, "choose_solver", lambda *_, **__: None)
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
        outputs = [out for _, out in fit_plan(Inputs(LogisticRegression(), X, target), plan)]
    assert sum(output.n_solved for output in outputs) == 0
    assert len(fitted) == plan.n_fits


def test_a_process_without_the_solver_says_so():
    inputs = validate_inputs(DecisionTreeClassifier(), *draw_with_time(np.random.default_rng(0)))
    worker = make_worker(inputs, whole_plan(300), FitRequest())
    with pytest.raises(RuntimeError, match="not available in this worker process"):
        _ = BlockSolver(worker).solver


def test_a_block_that_a_solver_leaves_is_done_by_the_estimator():
    inputs = validate_inputs(LogisticRegression(), *draw_with_time(np.random.default_rng(0)))
    worker = make_worker(inputs, whole_plan(300), FitRequest.for_scores(GaussianNB(), "accuracy"))
    solver = BlockSolver(worker)
    solver.solver = Refusing()
    (block,) = whole_plan(300).blocks()
    assert solver.solve(block).scores == [None]
    assert solver(block).scores[0] >= 0.5


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
    block = whole_plan(len(y)).draw(0)
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
        monkeypatch.setattr(fits, "solver_of", lambda _, solver=solver: solver)
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
