"""Every kind of LogisticRegression that is supported: the optimum that it approaches."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.cases import every_other
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

from skeval._adapters.logistic import LogisticAdapter
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


def compare(model, X, y, train, *, order=None, atol=1e-5):
    """Compare each solved fit with the optimum of the estimator; return how many were solved."""
    labels, n_solved = y if order is None else y[order], 0
    final = model[-1] if hasattr(model, "steps") else model
    before = model[:-1] if hasattr(model, "steps") else []
    tight = clone(final).set_params(tol=1e-10, max_iter=100_000)
    for output, row in zip(solve(model, X, y, train, order), train, strict=True):
        if output.failed[0]:
            continue
        n_solved += 1
        alone = fit_alone(make_pipeline(*before, tight), X, labels, row)
        assert_allclose(output.probability, alone.predict_proba(X), rtol=0, atol=atol)
        expected = alone.decision_function(X)
        assert_allclose(output.decision, expected, rtol=0, atol=10 * atol * np.abs(expected).max())
        ranked = np.sort(alone.predict_proba(X), axis=1)
        clear = ranked[:, -1] - ranked[:, -2] > 2 * atol
        predicted = np.searchsorted(alone.classes_, alone.predict(X))
        assert_array_equal(output.predicted[clear], predicted[clear])
    return n_solved


BEFORE = {
    "alone": [],
    "standardized": [StandardScaler()],
    "centered": [StandardScaler(with_std=False)],
    "min-max": [MinMaxScaler(feature_range=(-1, 2))],
    "varying": [VarianceThreshold(), StandardScaler()],
}
ALONE = {"alone"}
"""Without an intercept, no transformer is supported."""
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
        n, p = int(rng.choice([25, 40, 70])), int(rng.choice([1, 4, 12]))
        X, y = classes(rng, n, p, n_classes)
        final = LogisticRegression(
            C=10.0 ** rng.uniform(-3, 1),
            class_weight=WEIGHTS[class_weight],
            fit_intercept=bool(rng.random() < 0.7) or before not in ALONE,
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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_penalty(n_classes):
    """Separable classes and copied columns have no optimum, and are left to the estimator."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = classes(rng, 150, 3, n_classes, shift=20.0 if seed == 4 else 0.7)
        model = make_pipeline(StandardScaler(), LogisticRegression(**NO_PENALTY))
        n_solved = compare(model, X, y, TRAIN[seed % 3](rng, 150))
        assert n_solved == (0 if seed == 4 else 3)


def test_more_columns_than_samples():
    rng = np.random.default_rng(0)
    X, y = classes(rng, 40, 200)
    X /= X.std(axis=0)
    assert compare(LogisticRegression(C=0.01), X, y, folds(rng, 40)) == 3


def test_columns_of_very_different_sizes_are_left_to_the_estimator():
    """The estimator stops early there, and the user is told."""
    rng = np.random.default_rng(0)
    X, y = classes(rng, 100, 3)
    X = np.column_stack([X, 1.7e9 + 1e7 * rng.random(100)])
    options = {"cv": StratifiedKFold(5, shuffle=True, random_state=0)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = cross_val_error(LogisticRegression(), X, y, **options)
        expected = cross_val_error(Looped(), X, y, **options)
    assert found.value == expected.value


@pytest.mark.parametrize("outlier", [1e2, 1e3, 1e4])
def test_training_sets_with_an_outlying_row_agree_with_the_estimator(outlier):
    """Without a penalty the estimator may stop far from the optimum only where the row is."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = classes(rng, 60, 3)
        X[3] *= outlier
        train = folds(rng, 60)
        for output, row in zip(
            solve(LogisticRegression(**NO_PENALTY), X, y, train), train, strict=True
        ):
            if not output.failed[0]:
                alone = fit_alone(LogisticRegression(**NO_PENALTY), X, y, row)
                assert_allclose(output.probability, alone.predict_proba(X), rtol=0, atol=1e-2)


NOT_SERVED = {
    "principal components": make_pipeline(PCA(2), LogisticRegression()),
    "selected columns": make_pipeline(SelectKBest(k=2), LogisticRegression()),
    "scaled without an intercept": make_pipeline(
        StandardScaler(), LogisticRegression(fit_intercept=False)
    ),
    "absolute values": LogisticRegression(solver="saga", l1_ratio=1.0, C=0.5)
    if NEW
    else LogisticRegression(solver="saga", penalty="l1"),
    "liblinear": LogisticRegression(solver="liblinear"),
    "Newton's method": LogisticRegression(solver="newton-cholesky"),
    "two scalers": make_pipeline(StandardScaler(), MinMaxScaler(), LogisticRegression()),
    "a class without weight": LogisticRegression(class_weight={"a": 0.0}),
}


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
        # probabilities agree within the tolerance of the estimator
        assert_allclose(one.null_distribution, two.null_distribution, atol=1e-4)
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
