"""The adapter serves every resampling of a linear SVC, with the numbers of the loop."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    LeaveOneOut,
    StratifiedKFold,
    cross_val_score,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval._resampling import fits
from skeval._resampling.adapters import adapter_of_steps
from skeval._resampling.outputs import FitOutput
from skeval._resampling.target import check_task
from skeval.datasets import make_gaussian_classes
from skeval.model_selection import (
    bootstrap_error,
    cross_val_error,
    permutation_test,
    perturbation_interval,
    resubstitution_error,
)

SVM = SVC(kernel="linear", tol=1e-6)


pytestmark = pytest.mark.usefixtures("always_solve")


class Unserved(SVC):
    """A subclass, which may do anything and so is never served by an adapter."""


UNSERVED = Unserved(kernel="linear", tol=1e-6)


def gaussian(n, p, seed=0):
    data = make_gaussian_classes(n, p, n_informative=2, separation=2, random_state=seed)
    return data.X, np.array(["a", "b"])[data.y]


def adapter_of(estimator, X, y):
    X, target, _ = check_task(estimator, X, y)
    return adapter_of_steps(estimator, X, target)


@pytest.mark.parametrize("shape", [(60, 4), (40, 90)], ids=["few features", "many features"])
@pytest.mark.parametrize("scaled", [False, True], ids=["alone", "standardised"])
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
    assert batch.error == loop.error


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
            n_resamples=40,
            statistic=statistic,
            cv=5,
            random_state=0,
        )
        for svc in (SVM, UNSERVED)
    )
    np.testing.assert_allclose(batch.statistics, loop.statistics, atol=1e-12)


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
    assert cross_val_error(SVM, frame, y, random_state=0).error == (
        cross_val_error(SVM, X, y, random_state=0).error
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
def test_what_is_not_served(model):
    X, y = gaussian(30, 3)
    assert adapter_of(model, X, y) is None


def test_what_did_not_converge_is_fitted_by_svc(monkeypatch):
    X, y = gaussian(40, 3)
    expected = bootstrap_error(UNSERVED, X, y, n_resamples=20, random_state=0)

    def half_solved(estimator, X, target, *_):
        adapter = adapter_of_steps(estimator, X, target)

        def unsolved(block):
            found = adapter(block)
            odd = np.arange(len(block)) % 2 == 1
            kept = np.repeat(~odd, found.sizes)
            return FitOutput(block.test, odd, found.predicted[kept], found.decision[kept])

        return adapter and unsolved

    monkeypatch.setattr(fits, "find_adapter", half_solved)
    found = bootstrap_error(SVM, X, y, n_resamples=20, random_state=0)
    np.testing.assert_array_equal(found.replicates, expected.replicates)


def test_nan_is_refused_as_svc_refuses_it():
    X, y = gaussian(30, 3)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="X contains NaN"):
        cross_val_error(SVM, X, y, random_state=0)


def area_of_rules_with_a_slope(model, X, y):
    """Where the optimum is w = 0 all samples are tied; libsvm leaves them in some order."""
    values = model.decision_function(X)
    return 0.5 if np.ptp(values) < 1e-4 else roc_auc_score(y, values)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
@pytest.mark.parametrize("shape", [(60, 4), (40, 90)], ids=["few features", "many features"])
@pytest.mark.parametrize("scaled", [False, True], ids=["alone", "standardised"])
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
    """Where C |x|^2 is small hardly anything but the intercept is learnt."""
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(60, 5))
    y = rng.permutation(np.repeat(["no", "yes"], [29, 31]))
    model = make_pipeline(*steps, SVC(kernel="linear", C=C))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = cross_val_score(model, X, y, cv=folds)
    assert_allclose(cross_val_error(model, X, y, cv=folds).fold_errors, 1 - expected, atol=1e-12)
    test = permutation_test(model, X, y, cv=folds, n_permutations=9, random_state=0)
    assert_allclose(test.statistic, expected.mean())
    assert bootstrap_error(model, X, y, n_resamples=50, random_state=0).error > 0.35


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
