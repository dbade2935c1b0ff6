"""Every kind of LogisticRegression that is supported: its own probabilities, fit by fit."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.cases import every_other
from helpers.crossed import each_value
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skeval._adapters.logistic import LogisticAdapter, rounding_error
from skeval._adapters.registry import NoSolver, ask_steps
from skeval._resampling.fit_params import fit_arguments
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import validate_data
from skeval.model_selection import bootstrap_error, cross_val_error, permutation_test

NEW = "l1_ratio" in inspect.signature(LogisticRegression).parameters and (
    inspect.signature(LogisticRegression).parameters["penalty"].default == "deprecated"
)
NO_PENALTY = {"C": np.inf} if NEW else {"penalty": None}


def classes(rng, n, p, n_classes=2, shift=0.7):
    y = rng.permutation(np.resize(np.arange(n_classes), n))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-1, 1, size=p)
    X[:, 0] += shift * y * X[:, 0].std()
    return X, np.array(list("abcdef"))[y]


def counts(rng, n):
    return rng.multinomial(n, np.full(n, 1 / n), size=3)


def real_weights(rng, n):
    return rng.exponential(size=(3, n)) * (np.arange(n) % 3 != np.arange(3)[:, None])


def folds(rng, n):
    return (np.arange(n) % 3 != np.arange(3)[:, None]).astype(int)


TRAIN = [counts, real_weights, folds]


def solve(model, X, y, train, order=None):
    """The output of the adapter for all samples, fit by fit."""
    given, target, _ = validate_data(model, X, y)
    adapter = ask_steps(model, given, target)
    assert isinstance(adapter, LogisticAdapter), adapter
    orders = None if order is None else np.tile(order, (len(train), 1))
    return list(adapter(PlanBlock(train, np.ones(train.shape, dtype=bool), orders)))


def fit_alone(model, X, y, train):
    """Return the estimator fitted to the samples of one fit."""
    rows = np.flatnonzero(train)
    weights = train[rows] if train.dtype.kind == "f" else None
    rows = rows if weights is not None else np.repeat(rows, train[rows])
    model = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Features", UserWarning)
        warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)
        return model.fit(X[rows], y[rows], **fit_arguments(model, X, None, weights, None, rows))


def compare(model, X, y, train, *, order=None, rtol=1e-6):
    """Compare each solved fit with the estimator; return how many were solved."""
    labels = y if order is None else y[order]
    n_solved = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        outputs = solve(model, X, y, train, order)
    for output, row in zip(outputs, train, strict=True):
        if output.failed[0]:
            continue
        n_solved += 1
        alone = fit_alone(model, X, labels, row)
        expected = alone.decision_function(X)
        size = np.abs(expected).max()
        assert_allclose(output.decision, expected, rtol=0, atol=rtol * size)
        assert_allclose(output.probability, alone.predict_proba(X), rtol=0, atol=rtol)
        predicted = np.searchsorted(alone.classes_, alone.predict(X))
        assert_array_equal(output.predicted, predicted)
    return n_solved


BEFORE = {
    "alone": [],
    "standardized": [StandardScaler()],
    "centered": [StandardScaler(with_std=False)],
    "min-max": [MinMaxScaler(feature_range=(-1, 2))],
    "varying": [VarianceThreshold(), StandardScaler()],
}
WEIGHTS = {"none": None, "balanced": "balanced", "given": {"a": 2.0, "b": 0.5}}


@pytest.mark.parametrize(
    ("before", "n_classes", "class_weight"),
    every_other(BEFORE, [(n, weight) for n in (2, 3) for weight in WEIGHTS]),
)
def test_each_kind(before, class_weight, n_classes):
    """Counts, real weights and folds; few features and many; three of nine problems in turn."""
    n_solved = 0
    first = 3 * ((list(BEFORE).index(before) + list(WEIGHTS).index(class_weight)) % 3)
    for seed in range(first, first + 3):
        rng = np.random.default_rng(seed)
        n, p = int(rng.choice([25, 40, 70])), int(rng.choice([1, 4, 60]))
        X, y = classes(rng, n, p, n_classes)
        final = LogisticRegression(
            C=10.0 ** rng.uniform(-3, 1),
            class_weight=WEIGHTS[class_weight],
            fit_intercept=bool(rng.random() < 0.7),
            max_iter=int(rng.choice([4, 100])),
        )
        order = rng.permutation(n) if seed % 2 else None
        train = TRAIN[seed % 3](rng, n)
        n_solved += compare(make_pipeline(*BEFORE[before], final), X, y, train, order=order)
    # Balanced classes of weighted samples differ from version to version, and are not supported.
    assert n_solved >= (5 if class_weight == "balanced" else 8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_classes_and_constant_columns(n_classes):
    n_solved = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = classes(rng, 50, 4, n_classes, shift=8.0)
        X[:, -1], X[1:, -2] = 5.0, 2.0  # constant for all samples, for all but the first
        model = make_pipeline(*BEFORE["standardized"] * (seed % 2), LogisticRegression(tol=1e-3))
        n_solved += compare(model, X, y, TRAIN[seed % 3](rng, 50))
    assert n_solved >= 14


@pytest.mark.parametrize("n_classes", [2, 4])
def test_no_penalty(n_classes):
    """Separable classes and copied columns have no optimum; lbfgs stops at some point."""
    n_solved = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = classes(rng, 150, 3, n_classes, shift=20.0 if seed == 4 else 0.7)
        if seed == 3:
            X[:, 2] = X[:, 1] + 1
        model = make_pipeline(StandardScaler(), LogisticRegression(**NO_PENALTY))
        n_solved += compare(model, X, y, TRAIN[seed % 3](rng, 150))
    assert n_solved >= 12


@each_value
@pytest.mark.parametrize("steps", [[], [StandardScaler()]], ids=["alone", "standardized"])
@pytest.mark.parametrize("before", [True, False])
def test_selected_columns(steps, before):
    n_solved = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = classes(rng, 50, 40)
        chain = [*steps, SelectKBest(k=5)] if before else [SelectKBest(k=5), *steps]
        model = make_pipeline(*chain, LogisticRegression(C=10.0 ** rng.uniform(-2, 1)))
        order = rng.permutation(50) if seed % 2 else None
        n_solved += compare(model, X, y, TRAIN[seed % 3](rng, 50), order=order)
    assert n_solved >= 16


def test_columns_of_very_different_sizes_are_left_to_the_estimator():
    """The trial fits report how many labels differ from those at the optimum."""
    rng = np.random.default_rng(0)
    X, y = classes(rng, 100, 3)
    X = np.column_stack([X, 1.7e9 + 1e7 * rng.random(100)])
    given, target, _ = validate_data(LogisticRegression(), X, y)
    adapter = ask_steps(LogisticRegression(), given, target)
    assert adapter.tol == np.inf
    everything = PlanBlock(np.ones((1, 100), dtype=int), np.ones((1, 100), dtype=bool))
    model = LogisticRegression().fit(X, y)
    difference = adapter.compare(everything, model, X)
    # the optimum is that of a tight fit to standardized columns: the penalty hardly matters
    scaled = StandardScaler().fit_transform(X)
    tight = LogisticRegression(C=1e4, tol=1e-8, max_iter=1000).fit(scaled, y)
    assert difference.share == pytest.approx(np.mean(tight.predict(scaled) != model.predict(X)))
    assert difference.share > 0.1


def test_answers_belong_together():
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        X, y = classes(rng, 60, 3, n_classes)
        for output in solve(LogisticRegression(), X, y, folds(rng, 60)):
            f = output.decision
            proba = np.column_stack([1 - expit(f), expit(f)]) if f.ndim == 1 else softmax(f, axis=1)
            assert_allclose(output.probability, proba, atol=1e-12)
            assert_array_equal(output.predicted, proba.argmax(axis=1))


def test_a_fit_without_a_class_is_left_to_the_estimator():
    rng = np.random.default_rng(0)
    X, y = classes(rng, 30, 3, 3)
    train = np.ones((2, 30), dtype=int)
    train[0, y == "b"] = 0
    assert [output.failed[0] for output in solve(LogisticRegression(), X, y, train)] == [
        True,
        False,
    ]


def test_a_sample_on_the_boundary_is_left_to_the_estimator():
    X, y = np.array([[-1.0], [1.0], [-2.0], [2.0], [0.0], [0.0]]), np.array(list("ababab"))
    (output,) = solve(LogisticRegression(), X, y, np.ones((1, 6), dtype=int))
    assert output.failed[0]


def test_warnings_of_fits_that_stop_early():
    rng = np.random.default_rng(0)
    X, y = classes(rng, 60, 4)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2))
    with pytest.warns(ConvergenceWarning, match="lbfgs failed to converge in 3 of 3 fits"):
        outputs = solve(model, X, y, folds(rng, 60))
    assert not any(output.failed[0] for output in outputs)


def test_rounding_errors_grow_with_the_number_of_iterations():
    errors = rounding_error(np.array([1, 50, 70, 100]))
    assert_allclose(errors, [5e-7, 5e-7, 5e-5, 5e-2])


NOT_SERVED = {
    "absolute values": LogisticRegression(solver="saga", l1_ratio=1.0, C=0.5)
    if NEW
    else LogisticRegression(solver="saga", penalty="l1"),
    "liblinear": LogisticRegression(solver="liblinear"),
    "Newton's method": LogisticRegression(solver="newton-cholesky"),
    "two scalers": make_pipeline(StandardScaler(), MinMaxScaler(), LogisticRegression()),
    "a class without weight": LogisticRegression(class_weight={"a": 0.0}),
}


@each_value
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("pca", [PCA(2), PCA(4, whiten=True)], ids=str)
def test_principal_components(pca, n_classes):
    n_solved = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = classes(rng, 60, 5, n_classes)
        before = [StandardScaler()] if seed % 2 else [VarianceThreshold(), MinMaxScaler()]
        order = rng.permutation(60) if seed > 1 else None
        model = make_pipeline(*before, pca, LogisticRegression())
        n_solved += compare(model, X, y, TRAIN[2 * (seed % 2)](rng, 60), order=order)
    assert n_solved == 12
    assert compare(model, X, y, real_weights(rng, 60)) == 0


def test_components_of_very_different_sizes_go_by_the_loop():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)) * [1e6, 1.0, 1.0], rng.permutation(np.arange(60) % 2)
    model = make_pipeline(PCA(3), LogisticRegression())
    given, target, _ = validate_data(model, X, y)
    train = np.ones((1, 60), dtype=int)
    block = PlanBlock(train, train > 0)
    assert ask_steps(model, given, target).compare(block, model.fit(X, y), X) is None


@pytest.mark.parametrize("name", NOT_SERVED)
def test_not_served(name):
    X, y = classes(np.random.default_rng(0), 40, 3)
    given, target, _ = validate_data(NOT_SERVED[name], X, y)
    assert isinstance(ask_steps(NOT_SERVED[name], given, target), NoSolver)


@pytest.mark.parametrize("X", ["float32", "missing", "texts"])
def test_data_that_are_not_served(X):
    numbers, y = classes(np.random.default_rng(0), 40, 3)
    given = {
        "float32": numbers.astype(np.float32),
        "missing": np.where(np.arange(3) == 1, np.nan, numbers),
        "texts": numbers.astype(str),
    }[X]
    target = validate_data(LogisticRegression(), numbers, y)[1]
    assert isinstance(ask_steps(LogisticRegression(), given, target), NoSolver)


def value_of(estimate):
    return estimate.value if hasattr(estimate, "value") else estimate.error


class Looped(LogisticRegression):
    """No adapter knows it."""


@pytest.mark.parametrize("n_classes", [2, 3])
def test_public_functions_agree_with_the_loop(n_classes):
    rng = np.random.default_rng(0)
    X, y = classes(rng, 90, 4, n_classes)
    X = pd.DataFrame(StandardScaler().fit_transform(X))
    served, looped = LogisticRegression(), Looped()
    for function, settings in (
        (cross_val_error, {"cv": StratifiedKFold(3, shuffle=True, random_state=0)}),
        (bootstrap_error, {"n_resamples": 5}),
    ):
        one, two = (function(model, X, y, random_state=0, **settings) for model in (served, looped))
        assert_allclose(value_of(one), value_of(two), atol=1e-12)
    for scoring in (None, "neg_log_loss"):
        one, two = (
            permutation_test(model, X, y, n_permutations=3, cv=2, scoring=scoring, random_state=0)
            for model in (served, looped)
        )
        assert_allclose(one.null_distribution, two.null_distribution, atol=1e-9)
    options = {"cv": 3, "n_permutations": 9, "random_state": 0}
    test = permutation_test(served, X, y, scoring="roc_auc_ovr", **options)
    assert np.isfinite(test.null_distribution).all()


def test_fits_that_max_iter_ends_are_left_to_scikit_learn(capsys):
    """Raw columns: lbfgs stops after 100 steps, and warns; so does the loop here."""
    X, y = load_breast_cancer(return_X_y=True)
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = cross_val_error(LogisticRegression(), X, y, cv=splits, verbose=1)
        expected = cross_val_score(LogisticRegression(), X, y, cv=splits)
    assert "one by one" in capsys.readouterr().err
    sizes = np.array([len(test) for _, test in splits])
    assert_allclose(value_of(found), 1 - expected @ sizes / sizes.sum(), atol=1e-12)


def test_the_numbers_do_not_depend_on_workers():
    rng = np.random.default_rng(0)
    X, y = classes(rng, 300, 10)
    one, two = (
        bootstrap_error(
            LogisticRegression(max_iter=1000), X, y, n_resamples=60, random_state=0, n_jobs=n_jobs
        ).replicates
        for n_jobs in (1, 2)
    )
    assert_array_equal(one, two)
