"""Only C |x|^2 matters to an SVM: scales from 1e-8 to 1e8, boxes that hold any solution, ties."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval._solvers.svm import LinearSVMBatch, solve_gram_svms
from skeval.model_selection import cross_val_error

pytestmark = pytest.mark.usefixtures("always_solve")


class Unserved(SVC):
    """A subclass, which the adapters leave to the loop."""


def noise(rng, n, p):
    return rng.normal(size=(n, p))


def separated(rng, n, p):
    X = rng.normal(size=(n, p))
    X[:, 0] += 3.0 * np.resize([-1.0, 1.0], n)
    return X


def repeated_rows(rng, n, p):
    return rng.normal(size=(n, p))[rng.integers(0, n, n)]


def constant_column(rng, n, p):
    X = rng.normal(size=(n, p))
    X[:, -1] = 5.0
    return X


def unequal_columns(rng, n, p):
    return rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-2, 2, p)


def integers(rng, n, p):
    return rng.normal(size=(n, p)).round()


KINDS = [noise, separated, repeated_rows, constant_column, unequal_columns, integers]


def problem(kind, seed):
    """Return X, signs, C and four weightings of the samples: folds or counts."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.choice([20, 40, 60])), int(rng.choice([1, 3, 10, 30, 60, 100]))
    X, C = kind(rng, n, p) * 10.0 ** rng.uniform(-6, 6), 10.0 ** rng.uniform(-4, 8)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=4).astype(float)
    if rng.random() < 0.5:
        weights = (np.arange(n) % 5 != np.arange(4)[:, None]).astype(float)
    return X - X.mean(axis=0), np.resize([-1.0, 1.0], n), C, weights


def batch(X, signs, box, gram):
    return solve_gram_svms(X @ X.T, signs, box) if gram else LinearSVMBatch(X).solve(signs, box)


def relative_gap(X, signs, box, alpha, decision):
    """Return primal minus dual over dual, in a box of which twice the largest alpha is enough."""
    box = np.minimum(box, 2.0 * alpha.max())
    w = (signs * alpha) @ X
    dual = alpha.sum() - 0.5 * w @ w
    return (w @ w - alpha.sum() + box @ np.maximum(0.0, 1.0 - signs * decision)) / dual


@pytest.mark.parametrize("gram", [False, True], ids=["features", "gram"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_optimal_and_that_of_libsvm_or_it_is_none(kind, gram):
    """Whatever the scale; libsvm where it comes to an end itself."""
    n_solved = n_compared = 0
    for seed in range(8):
        X, signs, C, weights = problem(kind, seed)
        box = C * weights
        found = batch(X, signs, box, gram)
        n_solved += int(found.converged.sum())
        for r in np.flatnonzero(found.converged):
            alpha, decision = found.alpha[r], found.decision[r]
            assert np.all((alpha >= 0) & (alpha <= box[r]))
            assert abs(signs @ alpha) <= 1e-8 * alpha.sum()
            assert relative_gap(X, signs, box[r], alpha, decision) <= 2e-6
        for r in np.flatnonzero(found.converged)[:1]:
            alpha, unit = found.alpha[r], np.minimum(box[r], found.alpha[r].max())
            if not np.any((alpha > 1e-7 * unit) & (alpha < (1 - 1e-7) * box[r])):
                continue  # the intercept is a matter of convention
            kept, svc = weights[r] > 0, SVC(kernel="linear", C=C, tol=1e-8, max_iter=20_000)
            try:
                svc.fit(X[kept], signs[kept], sample_weight=weights[r][kept])
            except ConvergenceWarning:
                continue
            expected = svc.decision_function(X)
            clear = np.abs(expected) > 1e-4
            assert np.array_equal((expected > 0)[clear], (found.decision[r] > 0)[clear])
            n_compared += 1
    assert n_solved >= 8
    assert n_compared >= 1


@pytest.mark.parametrize("gram", [False, True], ids=["features", "gram"])
@pytest.mark.parametrize("kind", KINDS)
def test_scaling_x_and_the_box_changes_nothing(kind, gram):
    """No prediction but of samples on the boundary; not a number but for rounding."""
    n_both = 0
    for seed in range(3):
        X, signs, C, weights = problem(kind, seed)
        one = batch(X, signs, C * weights, gram)
        for scale in (1e-8, 1e8):
            other = batch(scale * X, signs, C / scale**2 * weights, gram)
            both = one.converged & other.converged
            n_both += int(both.sum())
            np.testing.assert_allclose(one.decision[both], other.decision[both], atol=1e-5)
    assert n_both >= 8


MODELS = {
    "alone": lambda svc: svc,
    "standardised": lambda svc: make_pipeline(StandardScaler(), svc),
    "selected": lambda svc: make_pipeline(SelectKBest(k=70), svc),
}


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("model", MODELS)
def test_a_box_of_any_size_gives_the_error_of_the_loop(model, scale):
    """Where features abound the classes are separated, and a large C no longer matters."""
    folds = StratifiedKFold(5)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = scale * rng.normal(size=(60, 100)), np.resize([0, 1], 60)
        options = {"kernel": "linear", "C": 1e8 / scale**2, "tol": 1e-8}
        if model == "standardised":
            options["C"] = 1e8
        ours, loop = (
            cross_val_error(MODELS[model](svc(**options)), X, y, cv=folds).fold_errors
            for svc in (SVC, Unserved)
        )
        np.testing.assert_array_equal(ours, loop)


def test_singular_systems_are_nobodys_business():
    """Copied rows and columns of sizes from 1 to 1e10: an answer or none, but no error."""
    rng = np.random.default_rng(0)
    for seed in range(6):
        X = rng.normal(size=(30, 8)) * 10.0 ** rng.uniform(0, 10, 8)
        X = np.tile(np.repeat(X, 2, axis=0), 1 + seed % 8)
        signs = np.where(rng.random(60) < 0.5, -1.0, 1.0)
        for gram in (False, True):
            found = batch(X, signs, np.ones((2, 60)), gram)
            assert np.array_equal(np.isnan(found.decision).all(axis=1), ~found.converged)
