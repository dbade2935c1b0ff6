"""Every kind of SVC that is served: fit by fit what ``SVC(tol=1e-8)`` predicts, or left to it.

Where libsvm comes as near to the optimum, every resampling of it has the numbers of the loop.
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers.adapters import adapter_of_steps
from helpers.cases import every_other
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import (
    LeaveOneOut,
    StratifiedKFold,
    cross_val_score,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags

from skeval._adapters import fits
from skeval._adapters.registry import ask_steps
from skeval._adapters.svc import count_pair_votes
from skeval._adapters.trials import BlockSolver
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_params import fit_arguments
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import validate_data
from skeval.datasets import make_gaussian_classes
from skeval.model_selection import (
    bootstrap_error,
    cross_val_error,
    permutation_test,
    perturbation_interval,
    resubstitution_error,
)
from skeval.utils._compat import safe_split

pytestmark = pytest.mark.usefixtures("always_solve")


def overlapping(rng, n, p):
    X = rng.normal(size=(n, p))
    X[:, 0] += np.resize([-0.5, 0.5], n)
    return X


def separated(rng, n, p):
    X = rng.normal(size=(n, p))
    X[:, 0] += 4.0 * np.resize([-1.0, 1.0], n)
    return X


def repeated_rows(rng, n, p):
    return overlapping(rng, n, p)[rng.integers(0, n, n)]


def constant_columns(rng, n, p):
    """One for all samples, one but for the first of them."""
    X = overlapping(rng, n, p + 2)
    X[:, -1] = 5.0
    X[1:, -2] = 2.0
    return X


DATA = [overlapping, separated, repeated_rows, constant_columns]


def counts(rng, n):
    return rng.multinomial(n, np.full(n, 1 / n), size=3)


def real_weights(rng, n):
    return rng.exponential(size=(3, n)) * (np.arange(n) % 3 != np.arange(3)[:, None])


def folds(rng, n):
    return (np.arange(n) % 3 != np.arange(3)[:, None]).astype(int)


TRAIN = [counts, real_weights, folds]


def manhattan(X, Z):
    return laplacian_kernel(X, Z, gamma=0.3)


SVCS = {
    "linear": {"kernel": "linear"},
    "rbf": {},
    "rbf auto": {"gamma": "auto"},
    "rbf number": {"gamma": 0.2},
    "poly": {"kernel": "poly", "coef0": 1.0},
    "quadratic": {"kernel": "poly", "degree": 2, "gamma": 0.5},
    "callable": {"kernel": manhattan},
    "balanced": {"class_weight": "balanced"},
    "linear balanced": {"kernel": "linear", "class_weight": "balanced"},
    "weighted classes": {"class_weight": {"a": 3.0, "b": 0.5}},
    "one class weighted": {"kernel": "linear", "class_weight": {"b": 2.0}},
}
BEFORE = {
    "alone": [],
    "standardized": [StandardScaler()],
    "centered": [StandardScaler(with_std=False)],
    "scaled": [StandardScaler(with_mean=False)],
    "min-max": [MinMaxScaler(feature_range=(-1, 2))],
    "varying": [VarianceThreshold()],
    "imputed": [SimpleImputer(), VarianceThreshold(), StandardScaler()],
}


def compare(model, X, y, train, *, order=None, atol=1e-4):
    """Compare each solved fit with the estimator; return how many were compared and solved.

    Of samples nearer to the boundary than `atol`, in which libsvm is not exact, nothing is asked.
    """
    given, target, _ = validate_data(model, X, y)
    adapter = adapter_of_steps(model, given, target)
    assert adapter is not None
    tested = np.ones(train.shape, dtype=bool)
    orders = None if order is None else np.tile(order, (len(train), 1))
    decisions = adapter(PlanBlock(train, tested, orders))
    labels = target.y if order is None else target.y[order]
    n_compared = 0
    for r, output in enumerate(decisions):
        if output.failed[0]:
            continue
        tight = fit_tightly(model, given, labels, train[r], np.arange(len(y)))
        if tight is not None:
            expected = tight[0].decision_function(tight[1])
            clear = np.abs(expected) > atol
            values = output.decision
            assert np.array_equal((values >= 0)[clear], (expected >= 0)[clear])
            n_compared += int(np.allclose(values, expected, rtol=1e-3, atol=1e-2) or clear.all())
    return n_compared, int(np.sum(~decisions.failed))


def fit_tightly(model, X, labels, train, tested):
    """The fitted estimator and the tested samples, None where libsvm does not come to an end."""
    rows = np.flatnonzero(train)
    weights = train[rows] if train.dtype.kind == "f" else None
    rows = rows if weights is not None else np.repeat(rows, train[rows])
    model = clone(model)
    (model[-1] if hasattr(model, "steps") else model).set_params(tol=1e-8, max_iter=50_000)
    inputs, y = safe_split(model, X, labels, rows)
    others, _ = safe_split(model, X, labels, tested, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.fit(inputs, y, **fit_arguments(model, X, None, weights, None, rows))
        except ConvergenceWarning:
            return None
    return model, others


@each_value
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("svc", SVCS)
def test_each_kind(svc, data):
    n_compared = n_solved = 0
    for seed in range(3):  # one of each kind of weights
        rng = np.random.default_rng(seed)
        n, p = int(rng.choice([20, 40, 70])), int(rng.choice([1, 4, 60]))
        X, y = data(rng, n, p), np.resize(["a", "b"], n)
        model = SVC(**SVCS[svc], C=10.0 ** rng.uniform(-4, 5))
        found = compare(model, X, y, TRAIN[seed % 3](rng, n))
        n_compared, n_solved = n_compared + found[0], n_solved + found[1]
    assert n_solved >= 4
    assert n_compared >= 2


@each_value
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("svc", ["linear", "rbf", "rbf number", "poly", "balanced"])
def test_behind_transformers(svc, before):
    n_compared = n_solved = 0
    for seed in range(3):  # one of each kind of weights
        rng = np.random.default_rng(seed)
        n, p = int(rng.choice([20, 40, 70])), int(rng.choice([1, 4, 60]))
        X, y = DATA[seed % 4](rng, n, p), np.resize(["a", "b"], n)
        model = make_pipeline(*BEFORE[before], SVC(**SVCS[svc], C=10.0 ** rng.uniform(-2, 3)))
        found = compare(model, X, y, TRAIN[seed % 3](rng, n))
        n_compared, n_solved = n_compared + found[0], n_solved + found[1]
    assert n_solved >= 4
    assert n_compared >= 2


SELECTING = {
    "alone": [SelectKBest(k=3)],
    "standardized before": [StandardScaler(), SelectKBest(k=3)],
    "standardized after": [SelectKBest(k=3), StandardScaler()],
    "min-max before": [MinMaxScaler(), SelectKBest(k=30)],
    "min-max after": [SelectKBest(k=30), MinMaxScaler()],
    "scaled before": [StandardScaler(with_mean=False), SelectKBest(k=3)],
}


@pytest.mark.parametrize(
    ("before", "form", "class_weight"),
    every_other(
        SELECTING,
        [("real", None), ("real", "balanced"), ("whole", None), ("copied columns", "balanced")],
    ),
)
def test_selection_and_a_scaler(before, form, class_weight):
    n_compared = n_solved = 0
    # Of whole numbers more fits have a sample on the boundary and are left to SVC.
    for seed in range(6 if form == "whole" else 3):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([20, 40, 70]))
        X, y = overlapping(rng, n, 40), np.resize(["a", "b"], n)
        X = X.round() if form == "whole" else X
        X = np.tile(X[:, :20], 2) if form == "copied columns" else X
        C = 10.0 ** rng.uniform(-2, 3)
        svc = SVC(kernel="linear", C=C, class_weight=class_weight)
        model = make_pipeline(*SELECTING[before], svc)
        order = rng.permutation(n) if seed % 2 else None
        found = compare(model, X, y, TRAIN[seed % 3](rng, n), order=order)
        n_compared, n_solved = n_compared + found[0], n_solved + found[1]
    assert n_solved >= 4
    assert n_compared >= 2


@each_value
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("before", ["alone", "standardized", "min-max"])
@pytest.mark.parametrize("svc", ["linear", "rbf", "balanced", "poly"])
def test_scales_of_the_samples(svc, before, scale):
    rng = np.random.default_rng(0)
    X, y = scale * overlapping(rng, 40, 4), np.resize(["a", "b"], 40)
    C = 1.0 / scale**2 if svc == "linear" and before == "alone" else 1.0
    model = make_pipeline(*BEFORE[before], SVC(**SVCS[svc], C=C))
    n_compared, n_solved = compare(model, X, y, folds(rng, 40))
    assert n_solved >= 2
    assert n_compared >= 1


@pytest.mark.parametrize("svc", SVCS)
def test_other_labels_in_each_fit(svc):
    rng = np.random.default_rng(0)
    X, y = overlapping(rng, 50, 4), np.resize(["a", "a", "b"], 50)
    n_compared, n_solved = compare(
        SVC(**SVCS[svc]), X, y, folds(rng, 50), order=rng.permutation(50)
    )
    assert n_solved == 3
    assert n_compared >= 1


@pytest.mark.parametrize("kernel", [{"kernel": "precomputed"}, {"kernel": "precomputed", "C": 50}])
def test_precomputed(kernel):
    rng = np.random.default_rng(0)
    X, y = overlapping(rng, 50, 4), np.resize(["a", "b"], 50)
    for train in TRAIN:
        assert compare(SVC(**kernel), rbf_kernel(X), y, train(rng, 50)) == (3, 3)


THREE = {
    "linear": SVC(kernel="linear"),
    "rbf": SVC(),
    "one against one": SVC(decision_function_shape="ovo"),
    "ties broken": SVC(C=0.1, break_ties=True),
    "balanced": SVC(class_weight="balanced"),
    "weighted": SVC(kernel="linear", class_weight={"a": 2.0, "b": 1.0, "c": 0.3, "d": 1.0}),
    "poly": SVC(kernel="poly", coef0=1.0),
    "scaled": make_pipeline(StandardScaler(), SVC()),
    "scaled linear": make_pipeline(MinMaxScaler(), SVC(kernel="linear")),
    "precomputed": SVC(kernel="precomputed"),
}


def compare_votes(model, X, y, train, order=None):
    """Compare predictions and decision values of solved fits; return how many were solved."""
    given, target, _ = validate_data(model, X, y)
    tested = np.arange(len(y)) % 2 == np.arange(len(train))[:, None] % 2
    orders = None if order is None else np.tile(order, (len(train), 1))
    labels = target.y if order is None else target.y[order]
    block = PlanBlock(train, tested, orders)
    n_compared = 0
    model = clone(model)  # kernels that differ from fit to fit are those of libsvm
    (model[-1] if hasattr(model, "steps") else model).set_params(tol=1e-6)
    for r, found in enumerate(adapter_of_steps(model, given, target)(block)):
        tight = fit_tightly(model, given, labels, train[r], found.rows)
        if tight is None or found.failed[0]:
            continue
        tight, others = tight
        assert target.classes[found.predicted].tolist() == tight.predict(others).tolist()
        expected = tight.decision_function(others)
        np.testing.assert_allclose(found.decision, expected, atol=1e-4)
        n_compared += 1
    return n_compared


@each_value
@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("name", THREE)
def test_more_classes(name, n_classes):
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(60) % n_classes)
    y = np.array(list("abcd"))[codes]
    X = rng.normal(size=(60, 3)) + rng.normal(size=(n_classes, 3))[codes]
    model = clone(THREE[name])
    if name == "weighted" and n_classes == 3:
        model.set_params(class_weight={"a": 2.0, "b": 1.0, "c": 0.3})
    X = rbf_kernel(X) if name == "precomputed" else X
    trains = [(train(rng, 60), None) for train in TRAIN] + [(folds(rng, 60), rng.permutation(60))]
    n_compared = [compare_votes(model, X, y, *train) for train in trains]
    # Where no sample is free, weighted classes are left to libsvm; it does not always end.
    assert sum(n_compared) >= 6


@pytest.mark.parametrize("break_ties", [False, True])
def test_a_pair_without_a_decision_is_counted_as_by_scikit_learn(break_ties):
    """It is a vote for the second class in `predict`, for the first one in decision values."""
    X, y = np.repeat(1e3 * np.eye(6), 2, axis=0), np.repeat([0, 1, 2], 4)
    model = SVC(gamma=1.0, break_ties=break_ties).fit(X, y)
    far = np.full((1, 6), 1e4)
    values = SVC(gamma=1.0, decision_function_shape="ovo").fit(X, y).decision_function(far)
    predicted, decision = count_pair_votes(values, model)
    assert not values.any()
    assert predicted.tolist() == model.predict(far).tolist()
    assert_allclose(decision, model.decision_function(far))


def test_a_training_part_that_lacks_a_class_is_left_to_svc():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.resize(["a", "b", "c"], 30)
    train = np.stack([y != "c", np.ones(30, bool)]).astype(int)
    given, target, _ = validate_data(SVC(), X, y)
    found = adapter_of_steps(SVC(), given, target)(PlanBlock(train, train >= 0))
    assert found.failed.tolist() == [True, False]


@each_value
@pytest.mark.parametrize("scaler", [None, StandardScaler(), MinMaxScaler()], ids=str)
@pytest.mark.parametrize("svc", ["linear", "rbf", "rbf auto", "poly"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_training_part_of_constant_columns_is_left_to_its_transformers(n_classes, svc, scaler):
    X, y = np.zeros((30, 2)), np.resize([0, 0, 0, 1, 1, n_classes - 1], 30)
    X[:12] = np.random.default_rng(0).normal(size=(12, 2))
    train = np.stack([np.arange(30) >= 12, np.arange(30) < 24, np.arange(30) >= 0]).astype(int)
    steps = [VarianceThreshold()] if scaler is None else [VarianceThreshold(), scaler]
    model = make_pipeline(*steps, SVC(**SVCS[svc], C=10.0))
    given, target, _ = validate_data(model, X, y)
    found = adapter_of_steps(model, given, target)(PlanBlock(train, train >= 0))
    assert found.failed[[0, 2]].tolist() == [True, False]
    folds = [(np.flatnonzero(row), np.flatnonzero(row == 0)) for row in train[:2]]
    with pytest.raises(ValueError, match="No feature in X meets the variance threshold"):
        cross_val_error(model, X, y, cv=folds)
    with pytest.warns(FitFailedWarning, match="1 of 2 fits failed"):
        cross_val_error(model, X, y, cv=folds, error_score=np.nan)


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: X.round(1),
    "frame": lambda X: pd.DataFrame(X).add_prefix("c"),
    "Fortran": np.asfortranarray,
    "csr": csr_matrix,
    "csr array": csr_array,
    "list": lambda X: X.tolist(),
}


@each_value
@pytest.mark.parametrize("svc", ["linear", "rbf", "poly", "balanced"])
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_the_data(form, svc):
    rng = np.random.default_rng(0)
    X, y = overlapping(rng, 50, 4), np.resize(["a", "b"], 50)
    assert compare(SVC(**SVCS[svc]), FORMS[form](X), y, counts(rng, 50)) == (3, 3)


def data_dependent(X, Z):
    return rbf_kernel(X, Z, gamma=1 / np.var(X))


def indefinite(X, Z):
    return -rbf_kernel(X, Z)


NOT_SERVED = {
    "a kernel that depends on the other samples": SVC(kernel=data_dependent),
    "a kernel that is not positive": SVC(kernel=indefinite),
    "a class without weight": SVC(class_weight={"a": 0.0}),
    "a class that is not there": SVC(class_weight={"c": 2.0}),
    "an end before the optimum": SVC(max_iter=5),
    "clipping": make_pipeline(MinMaxScaler(clip=True), SVC()),
    "a threshold above 0": make_pipeline(VarianceThreshold(0.1), SVC()),
    "another order": make_pipeline(StandardScaler(), VarianceThreshold(), SVC()),
    "selection before a kernel": make_pipeline(SelectKBest(k=2), SVC()),
    "principal components": make_pipeline(PCA(2), SVC(kernel="linear")),
    "two scalers": make_pipeline(StandardScaler(), MinMaxScaler(), SVC()),
}


@pytest.mark.parametrize("name", NOT_SERVED)
def test_what_is_not_served(name):
    rng = np.random.default_rng(0)
    X, y = overlapping(rng, 30, 3), np.resize(["a", "b"], 30)
    given, target, _ = validate_data(NOT_SERVED[name], X, y)
    assert adapter_of_steps(NOT_SERVED[name], given, target) is None


def test_an_imputer_that_imputes_is_not_served():
    X, y = overlapping(np.random.default_rng(0), 30, 3), np.resize(["a", "b"], 30)
    X[3, 1] = np.nan
    model = make_pipeline(SimpleImputer(), SVC())
    given, target, _ = validate_data(model, X, y)
    assert adapter_of_steps(model, given, target) is None


def test_indefinite_kernels_are_left_to_libsvm():
    """Where it ends depends on its steps."""
    rng = np.random.default_rng(0)
    X, y = overlapping(rng, 40, 3), np.resize(["a", "b"], 40)
    model = SVC(kernel="sigmoid", gamma=2.0, coef0=-1.0)
    given, target, _ = validate_data(model, X, y)
    assert ask_steps(model, given, target).why == "the kernel is not positive semi-definite"


@pytest.mark.parametrize("name", THREE)
def test_labels_left_out_do_not_matter_to_votes(name):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.resize(list("abcd"), 60))
    X = rng.normal(size=(60, 3)) + 2.0 * (y == "b")[:, None]
    X = rbf_kernel(X) if name == "precomputed" else X
    train = folds(rng, 60)
    for row in train:
        found = []
        for labels in (y, np.where(row == 0, rng.permutation(y), y)):
            given, target, _ = validate_data(THREE[name], X, labels)
            block = PlanBlock(row[None], row[None] == 0)
            found.append(adapter_of_steps(THREE[name], given, target)(block))
        assert not found[0].failed.any()
        assert not found[1].failed.any()
        np.testing.assert_array_equal(found[0].predicted, found[1].predicted)
        np.testing.assert_allclose(found[0].decision, found[1].decision, atol=1e-7)


@pytest.mark.parametrize(
    ("svc", "before"),
    every_other([*SVCS, "precomputed"], [*BEFORE, *(f"selecting {name}" for name in SELECTING)]),
)
def test_labels_of_samples_left_out_do_not_matter(svc, before):
    """Nor do they for what the transformers do."""
    parameters = SVCS.get(svc, {"kernel": "precomputed"})
    selects = before.startswith("selecting ")
    own = svc == "precomputed" or callable(parameters.get("kernel"))
    if (before != "alone" and own) or (selects and parameters.get("kernel") != "linear"):
        return
    steps = SELECTING[before.removeprefix("selecting ")] if selects else BEFORE[before]
    rng = np.random.default_rng(0)
    X, y = overlapping(rng, 40, 40), rng.permutation(np.resize(["a", "b"], 40))
    model = make_pipeline(*steps, SVC(**parameters))
    X = rbf_kernel(X) if get_tags(model).input_tags.pairwise else X
    train = folds(rng, 40)
    values = []
    for change in (False, True):
        found = []
        for row in train:
            labels = np.where((row == 0) & change, np.where(y == "a", "b", "a"), y)
            given, target, _ = validate_data(model, X, labels)
            block = PlanBlock(row[None], row[None] == 0)
            output = adapter_of_steps(model, given, target)(block)
            failed = np.full(int(block.test.sum()), np.nan)
            found.append(failed if output.failed[0] else output.decision)
        values.append(np.concatenate(found))
    np.testing.assert_allclose(values[0], values[1], atol=1e-8)
    assert np.isfinite(values).any()


@pytest.mark.filterwarnings("ignore:Solver terminated early")
def test_verbose_says_which_path_and_why(capsys):
    rng = np.random.default_rng(0)
    X, y = overlapping(rng, 30, 3), np.resize(["a", "b"], 30)
    said, told = {}, {"served": SVC(tol=1e-6)} | NOT_SERVED
    del told["a class without weight"], told["a class that is not there"]
    for name, model in told.items():
        cross_val_error(model, X, y, cv=5, verbose=1)
        (said[name],) = [line for line in capsys.readouterr().err.splitlines() if "skeval" in line]
    assert said["served"] == "skeval used a solver for 5 fits"
    assert "one by one: max_iter may end" in said["an end before the optimum"]
    assert "depends on the other samples" in said["a kernel that depends on the other samples"]
    assert "not positive semi-definite" in said["a kernel that is not positive"]
    assert "StandardScaler, MinMaxScaler" in said["two scalers"]


def test_an_indefinite_kernel_on_which_the_splitting_diverges_goes_by_the_loop():
    class Own(SVC):
        """No adapter knows it."""

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    options = {"kernel": "sigmoid", "gamma": 3.0, "tol": 1e-8}
    found, expected = (
        cross_val_error(model(**options), X, y, random_state=0) for model in (SVC, Own)
    )
    np.testing.assert_array_equal(found.replicates, expected.replicates)


# Every resampling has the numbers of the loop.
SVM = SVC(kernel="linear", tol=1e-6)


class Unserved(SVC):
    """A subclass, which may do anything and so is never served by an adapter."""


UNSERVED = Unserved(kernel="linear", tol=1e-6)


def gaussian(n, p, seed=0):
    data = make_gaussian_classes(n, p, n_informative=2, separation=2, random_state=seed)
    return data.X, np.array(["a", "b"])[data.y]


def adapter_of(estimator, X, y):
    X, target, _ = validate_data(estimator, X, y)
    return adapter_of_steps(estimator, X, target)


@each_value
@pytest.mark.parametrize("shape", [(60, 4), (40, 90)], ids=["few features", "many features"])
@pytest.mark.parametrize("scaled", [False, True], ids=["alone", "standardized"])
@pytest.mark.parametrize(
    "estimate",
    [
        lambda model, X, y: bootstrap_error(model, X, y, n_resamples=40, random_state=0),
        lambda model, X, y: cross_val_error(model, X, y, cv=5, random_state=0),
        lambda model, X, y: cross_val_error(model, X, y, cv=LeaveOneOut()),
        lambda model, X, y: resubstitution_error(model, X, y),
    ],
    ids=["bootstrap", "folds", "leave-one-out", "resubstitution"],
)
def test_batch_is_the_loop(shape, scaled, estimate):
    X, y = gaussian(*shape)
    served, looped = (
        make_pipeline(StandardScaler(), svc) if scaled else svc for svc in (SVM, UNSERVED)
    )
    assert adapter_of(served, X, y) is not None
    assert adapter_of(looped, X, y) is None
    batch, loop = estimate(served, X, y), estimate(looped, X, y)
    np.testing.assert_array_equal(batch.replicates, loop.replicates)
    assert batch.value == loop.value


@each_value
@pytest.mark.parametrize("statistic", ["resubstitution", "cross_validation"])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.filterwarnings("ignore:the resubstitution error:UserWarning")
def test_perturbation_is_the_loop(statistic, scaled):
    X, y = gaussian(60, 4)
    batch, loop = (
        perturbation_interval(
            make_pipeline(StandardScaler(), svc) if scaled else svc,
            X,
            y,
            n_resamples=20,
            statistic=statistic,
            cv=3,
            random_state=0,
        )
        for svc in (SVM, UNSERVED)
    )
    np.testing.assert_allclose(batch.extra.statistics, loop.extra.statistics, atol=1e-12)


def test_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    batch, loop = (
        cross_val_error(make_pipeline(StandardScaler(), svc), X, y, random_state=1)
        for svc in (SVM, UNSERVED)
    )
    np.testing.assert_array_equal(batch.replicates, loop.replicates)


def test_pandas_is_served():
    X, y = gaussian(40, 3)
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    assert adapter_of(SVM, frame, y) is not None
    assert cross_val_error(SVM, frame, y, random_state=0).value == (
        cross_val_error(SVM, X, y, random_state=0).value
    )


@pytest.mark.parametrize(
    "model",
    [
        SVC(kernel="linear", max_iter=5),
        UNSERVED,
        make_pipeline(StandardScaler(), StandardScaler(), SVM),
    ],
    ids=str,
)
def test_linear_models_that_are_not_served(model):
    X, y = gaussian(30, 3)
    assert adapter_of(model, X, y) is None


def test_what_did_not_converge_is_fitted_by_svc(monkeypatch):
    X, y = gaussian(40, 3)
    expected = bootstrap_error(UNSERVED, X, y, n_resamples=20, random_state=0)

    def half_solved(inputs, worker, plan):
        adapter = adapter_of_steps(inputs.estimator, inputs.X, inputs.target)

        def unsolved(block):
            found = adapter(block)
            odd = np.arange(len(block)) % 2 == 1
            kept = np.repeat(~odd, found.sizes)
            return FitOutput(block.test, odd, found.predicted[kept], found.decision[kept])

        return adapter and BlockSolver.of_adapter(unsolved, worker)

    monkeypatch.setattr(fits, "choose_solver", half_solved)
    found = bootstrap_error(SVM, X, y, n_resamples=20, random_state=0)
    np.testing.assert_array_equal(found.replicates, expected.replicates)


def test_nan_is_refused_as_svc_refuses_it():
    X, y = gaussian(30, 3)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="X must not hold missing values"):
        cross_val_error(SVM, X, y, random_state=0)


def area_of_rules_with_a_slope(model, X, y):
    """Where the optimum is w = 0 all samples are tied; libsvm leaves them in some order."""
    values = model.decision_function(X)
    return 0.5 if np.ptp(values) < 1e-4 else roc_auc_score(y, values)


@each_value
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
@pytest.mark.parametrize("shape", [(60, 4), (40, 90)], ids=["few features", "many features"])
@pytest.mark.parametrize("scaled", [False, True], ids=["alone", "standardized"])
def test_permutation_scores_are_those_of_scikit_learn(shape, scaled, scoring):
    """Value by value where libsvm comes as near to the optimum as the solver does."""
    X, y = gaussian(*shape)
    svc = SVC(kernel="linear", tol=1e-6)
    model = make_pipeline(StandardScaler(), svc) if scaled else svc
    cv = list(StratifiedKFold(3).split(X, y))
    shuffles = np.random.RandomState(0)
    ours = permutation_test(
        model,
        X,
        y,
        cv=cv,
        scoring=scoring,
        permutations=[shuffles.permutation(len(y)) for _ in range(15)],
    )
    peer = area_of_rules_with_a_slope if scoring == "roc_auc" else scoring
    _, null, _ = permutation_test_score(
        model, X, y, cv=cv, scoring=peer, n_permutations=15, random_state=0
    )
    np.testing.assert_allclose(ours.null_distribution, null, rtol=1e-12)


@pytest.mark.parametrize(
    ("scale", "steps", "C"),
    [
        (1e-6, [], 1.0),
        (1e-3, [], 1.0),
        (1.0, [StandardScaler()], 1e-6),
        (1e-5, [SelectKBest(k=3)], 1.0),
    ],
    ids=["micro", "milli", "small C", "selected"],
)
def test_labels_without_a_relation_are_not_predicted(scale, steps, C):
    """Where C |x|^2 is small hardly anything but the intercept is learned."""
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(60, 5))
    y = rng.permutation(np.repeat(["no", "yes"], [29, 31]))
    model = make_pipeline(*steps, SVC(kernel="linear", C=C))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = cross_val_score(model, X, y, cv=folds)
    assert_allclose(cross_val_error(model, X, y, cv=folds).replicates, 1 - expected, atol=1e-12)
    test = permutation_test(model, X, y, cv=folds, n_permutations=9, random_state=0)
    assert_allclose(test.statistic, expected.mean())
    assert bootstrap_error(model, X, y, n_resamples=50, random_state=0).value > 0.35


@each_value
@pytest.mark.parametrize(
    "invalid",
    [{"tol": 0.0}, {"gamma": "foo"}, {"C": -1.0}, {"cache_size": -1}, {"shrinking": 3}],
    ids=str,
)
@pytest.mark.parametrize("steps", [[], [StandardScaler()], [SelectKBest(k=2)]], ids=str)
@pytest.mark.parametrize(
    "estimate", [cross_val_error, partial(permutation_test, n_permutations=9), bootstrap_error]
)
def test_parameters_are_refused_as_svc_refuses_them(invalid, steps, estimate):
    X, y = gaussian(30, 3)
    model = make_pipeline(*steps, SVC(**{"kernel": "linear"} | invalid))
    with pytest.raises(ValueError, match=f"The '{next(iter(invalid))}' parameter of SVC must be"):
        model.fit(X, y)
    with pytest.raises(ValueError, match=f"The '{next(iter(invalid))}' parameter of SVC must be"):
        estimate(model, X, y, random_state=0)


def test_parameters_of_other_steps_are_refused_too():
    X, y = gaussian(30, 3)
    with pytest.raises(ValueError, match="The 'copy' parameter of StandardScaler must be"):
        cross_val_error(make_pipeline(StandardScaler(copy="no"), SVM), X, y, random_state=0)


# Only C |x|^2 matters, whatever the scale.
MODELS = {
    "alone": lambda svc: svc,
    "standardized": lambda svc: make_pipeline(StandardScaler(), svc),
    "selected": lambda svc: make_pipeline(SelectKBest(k=70), svc),
}


@each_value
@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0, 1e4, 1e8])
@pytest.mark.parametrize("model", MODELS)
def test_a_box_of_any_size_gives_the_error_of_the_loop(model, scale):
    """Where features abound the classes are separated, and a large C no longer matters."""
    folds = StratifiedKFold(5)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = scale * rng.normal(size=(60, 100)), np.resize([0, 1], 60)
        options = {"kernel": "linear", "C": 1e8 / scale**2, "tol": 1e-8}
        if model == "standardized":
            options["C"] = 1e8
        ours, loop = (
            cross_val_error(MODELS[model](svc(**options)), X, y, cv=folds).replicates
            for svc in (SVC, Unserved)
        )
        np.testing.assert_array_equal(ours, loop)


def test_a_tiny_box_is_solved_where_libsvm_stops_before():
    """Gradients differ by C |x|^2: at the usual tolerance libsvm takes any weights of equal sum.

    It matters in training parts of unequal classes; asked for more, libsvm has our areas.
    """
    X, y = np.random.default_rng(1).normal(size=(60, 4)), np.resize([0, 1], 60)
    X[:, 0] += 0.5 * y
    cv = list(StratifiedKFold(4).split(X, y))
    orders = np.tile(np.arange(60)[::-1], (9, 1))
    coarse, fine = (SVC(kernel="linear", C=1e-7, tol=tol) for tol in (1e-3, 1e-10))
    areas = [cross_val_score(svc, X, y, cv=cv, scoring="roc_auc") for svc in (coarse, fine)]
    assert np.abs(areas[0] - areas[1]).max() > 0.005
    for svc in (coarse, fine):
        found = permutation_test(svc, X, y, cv=cv, scoring="roc_auc", permutations=orders)
        assert_allclose(found.statistic, areas[1].mean())
