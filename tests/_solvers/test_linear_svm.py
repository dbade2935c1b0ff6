"""The solver against SVC, a reference implementation, and the conditions of optimality."""

import os
from pathlib import Path

import numpy as np
import pytest
from helpers.cases import every_other
from helpers.crossed import each_value
from helpers.svm import solve_on_gram_matrix
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.svm import dual_objective, primal_objective, solve_dual
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval._solvers import linear_svm, optimum
from skeval._solvers.column_scales import ColumnScales
from skeval._solvers.linear_svm import LinearSVMBatch


def two_classes(X, labels, pair):
    rows = np.isin(labels, pair)
    return X[rows], np.where(labels[rows] == pair[0], -1.0, 1.0)


def iris(pair):
    return two_classes(*load_iris(return_X_y=True), pair)


def digits(pair):
    X, y = two_classes(*load_digits(return_X_y=True), pair)
    return X[:160], y[:160]


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X, 2.0 * y - 1.0


def breast_cancer_standard():
    X, y = breast_cancer()
    return StandardScaler().fit_transform(X), y


def colon():
    path = Path(os.environ.get("SKEVAL_DATA", "")) / "colon.npz"
    if "SKEVAL_DATA" not in os.environ or not path.exists():
        pytest.skip("SKEVAL_DATA names no folder with colon.npz")
    with np.load(path) as data:
        return np.log(data["X"]), np.where(data["y"] == data["y"][0], -1.0, 1.0)


def simulated(n, p, seed=0):
    X, y = make_classification(
        n, p, n_informative=3, n_redundant=2, flip_y=0.15, class_sep=0.7, random_state=seed
    )
    return X, 2.0 * y - 1.0


DATA = {
    "iris 0 1": lambda: iris((0, 1)),
    "iris 1 2": lambda: iris((1, 2)),
    "digits 3 8": lambda: digits((3, 8)),
    "digits 0 1": lambda: digits((0, 1)),
    "breast cancer": breast_cancer,
    "breast cancer, standardized": breast_cancer_standard,
    "colon": colon,
    "80 x 6": lambda: simulated(80, 6),
    "60 x 45": lambda: simulated(60, 45),
    "50 x 120": lambda: simulated(50, 120),
}


def exponential(rng, n_problems, n):
    weights = rng.exponential(size=(n_problems, n))
    return weights / weights.mean(axis=1, keepdims=True)


def counts(rng, n_problems, n):
    return rng.multinomial(n, np.full(n, 1 / n), size=n_problems).astype(float)


def folds(rng, n_problems, n):
    weights = np.ones((n_problems, n))
    for row, part in zip(weights, np.array_split(rng.permutation(n), n_problems), strict=True):
        row[part] = 0.0
    return weights


def tiny_and_huge(rng, n_problems, n):
    return 10.0 ** rng.uniform(-6, 2, size=(n_problems, n))


WEIGHTS = {
    "exponential": exponential,
    "counts": counts,
    "folds": folds,
    "folds x exponential": lambda *args: folds(*args) * exponential(*args),
    "tiny and huge": tiny_and_huge,
}


def check_optimal(X, y, box, alpha, decision, tol=1e-7):
    """Check feasibility and that the duality gap is nought: no solver is trusted here."""
    assert np.all((alpha >= 0) & (alpha <= box))
    assert abs(y @ alpha) <= 1e-7 * box.sum()
    hinge = box @ np.maximum(0.0, 1.0 - y * decision)
    w = (y * alpha) @ (X - X.mean(axis=0))
    primal, dual = 0.5 * w @ w + hinge, alpha.sum() - 0.5 * w @ w
    assert primal - dual <= tol * primal


def check_like_svc(X, y, box, decision, alpha, tol=1e-6):
    trained = box > 0
    X = X - X.mean(axis=0)  # libsvm keeps the kernel in single precision: no needless offsets
    svc = SVC(kernel="linear", C=1.0, tol=tol)
    svc.fit(X[trained], y[trained], sample_weight=box[trained])
    expected = svc.decision_function(X)
    clear = np.abs(expected) >= 1e-3
    assert np.array_equal(decision[clear] > 0, expected[clear] > 0)
    ours = 0.5 * np.sum(((y * alpha) @ X) ** 2) + box @ np.maximum(0, 1 - y * decision)
    theirs = 0.5 * np.sum(svc.coef_**2) + box @ np.maximum(0, 1 - y * expected)
    assert ours <= theirs * (1 + 1e-5)  # `check_optimal` says that it cannot be lower


def scales_of(X, weights):
    """What a StandardScaler divides by under these weights."""
    return None if weights is None else ColumnScales(X).deviations(weights)


def check_all(X, y, box, solution, scale_weights=None):
    assert solution.converged.all()
    labels = np.broadcast_to(y, box.shape)
    for b, (signs, C) in enumerate(zip(labels, box, strict=True)):
        Z = X
        if scale_weights is not None:
            Z = StandardScaler().fit(X, sample_weight=scale_weights[b]).transform(X)
        check_optimal(Z, signs, C, solution.alpha[b], solution.decision[b])
        check_like_svc(Z, signs, C, solution.decision[b], solution.alpha[b])


@each_value
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("data", DATA)
def test_like_svc(data, weights):
    X, y = DATA[data]()
    C = 1e-3 if data == "breast cancer" else 1.0
    box = C * WEIGHTS[weights](np.random.default_rng(0), 4, len(y))
    check_all(X, y, box, LinearSVMBatch(X).solve(y, box))


@each_value
@pytest.mark.parametrize("C", [1e-4, 1e-2, 1e2])
@pytest.mark.parametrize(("n", "p"), [(60, 5), (120, 20), (60, 31), (60, 59), (60, 60), (40, 200)])
def test_like_svc_over_n_p_c(n, p, C):
    X, y = simulated(n, p, seed=1)
    rng = np.random.default_rng(1)
    box = C * np.concatenate([exponential(rng, 1, n), counts(rng, 1, n), np.ones((1, n))])
    check_all(X, y, box, LinearSVMBatch(X).solve(y, box))


@pytest.mark.parametrize("data", ["iris 1 2", "colon", "80 x 6", "60 x 45", "50 x 120"])
def test_like_svc_with_labels_of_their_own(data):
    X, y = DATA[data]()
    rng = np.random.default_rng(2)
    signs = np.stack([rng.permutation(y) for _ in range(6)])
    box = 0.1 * folds(rng, 6, len(y))
    check_all(X, signs, box, LinearSVMBatch(X).solve(signs, box))


def test_raw_columns_at_the_default_penalty():
    """Raw columns differ in scale by 10^5: libsvm stops above the optimum, so the gap decides."""
    X, y = breast_cancer()
    box = exponential(np.random.default_rng(0), 6, len(y))
    solution = LinearSVMBatch(X).solve(y, box)
    for problem in range(6):
        alpha, decision = solution.alpha[problem], solution.decision[problem]
        check_optimal(X - X.mean(axis=0), y, box[problem], alpha, decision, tol=1e-9)


def test_labels_that_the_features_say_nothing_about():
    """Hundreds of samples within 1e-6 of their margin: which are free cannot be told."""
    X, y = breast_cancer_standard()
    rng = np.random.default_rng(0)
    signs = np.stack([rng.permutation(y) for _ in range(5)])
    box = np.full(signs.shape, 1e-3)
    check_all(X, signs, box, LinearSVMBatch(X).solve(signs, box))


def test_hard_margins_with_counts():
    """Separable classes and a huge C, where a warm start can stick to a bound."""
    X, y = iris((0, 1))
    box = 1e3 * counts(np.random.default_rng(0), 200, len(y))
    check_all(X, y, box, LinearSVMBatch(X).solve(y, box, scales=scales_of(X, box)), box)


@each_value
@pytest.mark.parametrize("weights", ["exponential", "counts", "folds"])
@pytest.mark.parametrize("data", ["breast cancer", "digits 3 8", "80 x 6"])
def test_like_svc_behind_a_standard_scaler(data, weights):
    X, y = DATA[data]()
    rng = np.random.default_rng(3)
    scale_weights = WEIGHTS[weights](rng, 4, len(y))
    box = scale_weights * np.where(y > 0, 0.5, 2.0)  # class weights are not the scaler's
    solution = LinearSVMBatch(X).solve(y, box, scales=scales_of(X, scale_weights))
    check_all(X, y, box, solution, scale_weights)


def test_many_problems_on_a_strip():
    """With 200 problems and equal labels the samples far from the margin are screened."""
    X, y = breast_cancer_standard()
    rng = np.random.default_rng(4)
    box = np.concatenate([exponential(rng, 100, len(y)), counts(rng, 100, len(y))])
    solution = LinearSVMBatch(X).solve(y, box)
    assert solution.converged.all()
    for b in range(200):
        check_optimal(X, y, box[b], solution.alpha[b], solution.decision[b])
    alone = LinearSVMBatch(X).solve(y, box[150:153])
    np.testing.assert_allclose(solution.decision[150:153], alone.decision, atol=1e-6)


@pytest.mark.parametrize("n_pilots", [0, 1])
def test_one_pilot_suggests_no_strip(n_pilots):
    assert linear_svm.screen(np.ones((n_pilots, 5))) is None


def test_a_wrong_strip_is_noticed(monkeypatch):
    """Screening that leaves out support vectors costs time, not correctness."""
    X, y = simulated(200, 5)
    box = exponential(np.random.default_rng(5), 150, 200)
    monkeypatch.setattr(linear_svm, "_DEVIATIONS", 0.5)
    narrow = LinearSVMBatch(X).solve(y, box)
    assert narrow.converged.all()
    for b in range(150):
        check_optimal(X, y, box[b], narrow.alpha[b], narrow.decision[b])


@each_value
@pytest.mark.parametrize("p", [2, 30])
@pytest.mark.parametrize("seed", range(3))
def test_like_the_reference_implementation(p, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(16, p)), np.repeat([-1.0, 1.0], 8)
    X[:, 0] += y
    box = np.stack([exponential(rng, 1, 16)[0], counts(rng, 1, 16)[0], np.full(16, 1e-3)])
    solution = LinearSVMBatch(X).solve(y, box)
    for b in range(3):
        alpha, intercept = solve_dual(X, y, box[b])
        w = (y * alpha) @ X
        np.testing.assert_allclose(solution.decision[b], X @ w + intercept, atol=1e-6)
        primal = primal_objective(X, y, box[b], w, intercept)
        assert dual_objective(X, y, solution.alpha[b]) == pytest.approx(primal, rel=1e-8)


@pytest.mark.parametrize("p", [3, 40])
def test_intercept_where_it_is_not_unique(p):
    """All alpha at their bound: libsvm takes the middle of the interval, and so do we."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(30, p)), np.repeat([-1.0, 1.0], 15)
    box = np.full((1, 30), 1e-5)
    solution = LinearSVMBatch(X).solve(y, box)
    svc = SVC(kernel="linear", C=1e-5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(solution.alpha, box)
    np.testing.assert_allclose(solution.decision[0], svc.decision_function(X), atol=1e-8)


@pytest.mark.parametrize(("p", "scaled"), [(4, False), (4, True), (40, False)])
def test_constant_and_duplicate_columns(p, scaled):
    X, y = simulated(50, p + 2)
    rng = np.random.default_rng(7)
    X = np.column_stack([X, X[:, 0], np.full(50, 3.0), X[:, 1] * 1e-9, X[:, 2] + 1e3])
    box = counts(rng, 5, 50)
    scale_weights = box if scaled else None
    solution = LinearSVMBatch(X).solve(y, box, scales=scales_of(X, scale_weights))
    check_all(X, y, box, solution, scale_weights)


def test_no_column_varies():
    box = np.array([[1.0, 1.0, 1.0, 1.0, 1.0]])
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    solution = LinearSVMBatch(np.full((5, 2), 7.0)).solve(y, box)
    assert solution.converged.all()
    np.testing.assert_allclose(solution.decision, 1.0)


@pytest.mark.parametrize("p", [3, 30])
def test_one_class_is_flagged(p):
    X, y = simulated(24, p + 5)
    box = np.ones((3, 24))
    box[1, y > 0] = 0.0
    box[2] = 0.0
    solution = LinearSVMBatch(X).solve(y, box)
    assert solution.converged.tolist() == [True, False, False]
    assert np.isnan(solution.decision[1:]).all()
    assert np.isnan(solution.alpha[1:]).all()
    assert np.isfinite(solution.decision[0]).all()
    alone = LinearSVMBatch(X).solve(y, box[1:])
    assert not alone.converged.any()


@pytest.mark.parametrize("p", [5, 60])
def test_too_few_iterations_are_flagged(p, monkeypatch):
    for name in ("_MAX_ITER", "_ROUNDS_OF_POINT", "_ROUNDS_OF_SETS"):
        monkeypatch.setattr(optimum, name, 1)
    X, y = simulated(100, p)
    box = 50.0 * exponential(np.random.default_rng(8), 8, 100)
    solution = LinearSVMBatch(X).solve(y, box)
    assert not solution.converged.all()
    assert np.array_equal(np.isnan(solution.decision).all(axis=1), ~solution.converged)
    for b in np.flatnonzero(solution.converged):
        check_optimal(X, y, box[b], solution.alpha[b], solution.decision[b])


@pytest.mark.parametrize("p", [6, 80])
def test_labels_of_each_problem(p):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(40, p))
    signs = np.where(rng.random((12, 40)) < 0.5, -1.0, 1.0)
    box = exponential(rng, 12, 40)
    solution = solve_on_gram_matrix(X, signs, box)
    assert solution.converged.all()
    for b in range(12):
        check_optimal(X, signs[b], box[b], solution.alpha[b], solution.decision[b])
        check_like_svc(X, signs[b], box[b], solution.decision[b], solution.alpha[b])
    features = LinearSVMBatch(X).solve(signs, box)
    np.testing.assert_allclose(solution.decision, features.decision, atol=1e-6)


@pytest.mark.parametrize("p", [4, 40])
def test_read_only_inputs_are_left_alone(p):
    X, y = simulated(40, p + 1)
    box = counts(np.random.default_rng(11), 3, 40)
    for array in (X, y, box):
        array.setflags(write=False)
    batch = LinearSVMBatch(X)
    scales = scales_of(X, box) if batch.uses_features else None
    assert batch.solve(y, box, scales=scales).converged.all()


sizes = st.sampled_from([(20, 3), (20, 14), (20, 30)])
seeds = st.integers(0, 2**31)


@settings(deadline=None, max_examples=30)
@given(sizes, seeds, st.floats(1e-3, 1e3))
def test_scaling_x_is_scaling_the_box(size, seed, factor):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=size), np.resize([-1.0, 1.0], size[0])
    box = exponential(rng, 3, size[0])
    one = LinearSVMBatch(X).solve(y, box)
    other = LinearSVMBatch(X * factor).solve(y, box / factor**2)
    assert one.converged.all()
    assert other.converged.all()
    np.testing.assert_allclose(one.decision, other.decision, atol=1e-6)


@settings(deadline=None, max_examples=30)
@given(sizes, seeds)
def test_order_signs_shift_and_repeats(size, seed):
    """Row order, swapped classes and shifted columns do not matter; a count is that many rows."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=size), np.resize([-1.0, 1.0], size[0])
    box = counts(rng, 2, size[0])
    box[:, :2] += 1.0
    plain = LinearSVMBatch(X).solve(y, box).decision
    order = rng.permutation(size[0])
    moved = LinearSVMBatch(X[order] + 5.0).solve(-y[order], box[:, order]).decision
    np.testing.assert_allclose(plain[:, order], -moved, atol=1e-6)
    rows = np.repeat(np.arange(size[0]), box[0].astype(int))
    repeated = LinearSVMBatch(X[rows]).solve(y[rows], np.ones((1, len(rows)))).decision
    np.testing.assert_allclose(plain[0][rows], repeated[0], atol=1e-6)


def test_no_sample_free_beside_every_sample_free():
    """In one batch: the intercept is the middle of an interval here, of a linear system there."""
    X = np.array([[0.0, 1.0], [2.0, 1.0], [1.0, 3.0], [3.0, 0.5]])
    signs = np.tile([-1.0, 1.0, -1.0, 1.0], (2, 1))
    box = np.array([[1e3, 1e3, 0.0, 0.0], [1e-3, 1e-3, 1e-3, 1e-3]])
    for solution in (LinearSVMBatch(X).solve(signs, box), solve_on_gram_matrix(X, signs, box)):
        assert solution.converged.all()
        for r in range(2):
            kept = box[r] > 0
            svc = SVC(kernel="linear", C=box[r].max(), tol=1e-8).fit(X[kept], signs[r][kept])
            expected = svc.decision_function(X)
            np.testing.assert_allclose(solution.decision[r], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("scale", "gram", "C"),
    every_other(
        [1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 1.0, 1e2],
        [(gram, C) for gram in (False, True) for C in (1e-6, 1e-2, 1.0)],
    ),
)
def test_labels_of_samples_left_out_are_not_known(scale, C, gram):
    """The decisions stay as they are when these labels change, and are those of libsvm.

    Labels that the features say nothing about, at the scales where that is hard to see. Beyond
    C |x|^2 of about 1, libsvm itself is not at the optimum.
    """
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(40, 5))
    labels = rng.permutation(np.repeat([-1.0, 1.0], [19, 21]))
    folds = np.arange(40) % 5 == np.arange(5)[:, None]
    box = np.where(folds, 0.0, C)
    found = []
    for signs in (np.tile(labels, (5, 1)), np.where(folds, -labels, labels)):
        if gram:
            found.append(solve_on_gram_matrix(X, signs, box))
        else:
            found.append(LinearSVMBatch(X).solve(signs, box))
    np.testing.assert_array_equal(found[0].converged, found[1].converged)
    np.testing.assert_allclose(found[0].decision, found[1].decision, atol=1e-9)
    assert found[0].converged.any()
    for r in np.flatnonzero(found[0].converged) if C * scale**2 <= 1 else ():
        svc = SVC(kernel="linear", C=C, tol=1e-6).fit(X[~folds[r]], labels[~folds[r]])
        expected = svc.decision_function(X)
        np.testing.assert_allclose(found[0].decision[r], expected, atol=2e-5)


# Only C |x|^2 matters: scales from 1e-8 to 1e8, boxes that hold any solution, ties.
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
    return solve_on_gram_matrix(X, signs, box) if gram else LinearSVMBatch(X).solve(signs, box)


def relative_gap(X, signs, box, alpha, decision):
    """Return primal minus dual over dual, in a box of which twice the largest alpha is enough."""
    box = np.minimum(box, 2.0 * alpha.max())
    w = (signs * alpha) @ X
    dual = alpha.sum() - 0.5 * w @ w
    return (w @ w - alpha.sum() + box @ np.maximum(0.0, 1.0 - signs * decision)) / dual


@each_value
@pytest.mark.parametrize("gram", [False, True], ids=["features", "gram"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_optimal_and_that_of_libsvm_or_it_is_none(kind, gram):
    """Whatever the scale; libsvm where it comes to an end itself."""
    n_solved = n_compared = 0
    # Many a Gram matrix is singular and takes all steps; libsvm hardly ends on unequal columns.
    n_seeds = 3 if gram and kind is not unequal_columns else 5
    for seed in range(n_seeds):
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
    assert n_solved >= n_seeds
    assert n_compared >= 1


@each_value
@pytest.mark.parametrize("gram", [False, True], ids=["features", "gram"])
@pytest.mark.parametrize("kind", KINDS)
def test_scaling_x_and_the_box_changes_nothing(kind, gram):
    """No prediction but of samples on the boundary; not a number but for rounding."""
    n_both = 0
    for seed in range(1 if gram else 3):
        X, signs, C, weights = problem(kind, seed)
        one = batch(X, signs, C * weights, gram)
        for scale in (1e-8, 1e8):
            other = batch(scale * X, signs, C / scale**2 * weights, gram)
            both = one.converged & other.converged
            n_both += int(both.sum())
            np.testing.assert_allclose(one.decision[both], other.decision[both], atol=1e-5)
    assert n_both >= (4 if gram else 8)


def test_singular_systems_are_nobodys_business():
    """Copied rows and columns of sizes from 1 to 1e10: an answer or none, but no error."""
    rng = np.random.default_rng(0)
    for seed in (0, 2, 5):
        X = rng.normal(size=(30, 8)) * 10.0 ** rng.uniform(0, 10, 8)
        X = np.tile(np.repeat(X, 2, axis=0), 1 + seed % 8)
        signs = np.where(rng.random(60) < 0.5, -1.0, 1.0)
        for gram in (False, True):
            found = batch(X, signs, np.ones((2, 60)), gram)
            assert np.array_equal(np.isnan(found.decision).all(axis=1), ~found.converged)
