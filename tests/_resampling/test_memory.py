"""Finished work outlives the run: interrupted, killed, corrupted, changed."""

import functools
import logging
import pathlib

import joblib
import numpy as np
import pytest
from helpers.long_runs import RUNS, Logged, X, fits, y
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.svm import SVC

from skeval._adapters import runner
from skeval._adapters.runner import BlockSolver
from skeval.model_selection import bootstrap_error, permutation_test
from skeval.svm import PerturbationResamplingSVC

# single fits on all samples
UNKEPT = {"CV2FeatureSelectionPipeline": 1, "choose_n_clusters": 2, "evaluate_clusterer": 4}
UNKEPT["evaluate"] = 2  # the check that a model depends on its labels keeps no fits
UNKEPT |= dict.fromkeys(["cluster_stability", "structure_test"], 1)
FOUND_AGAIN = {"evaluate": 1}  # the bootstrap has need of the fit of resubstitution
FITS_OF_A_JOB = dict.fromkeys(["predictive_power", "prediction_strength", "choose_n_clusters"], 2)
FITS_OF_A_JOB["evaluate_clusterer"] = 4  # two halves, each with two numbers of clusters


@pytest.fixture(autouse=True)
def log(tmp_path, monkeypatch):
    path = tmp_path / "fits"
    monkeypatch.setenv("FITS_LOG", str(path))
    return path


@pytest.fixture
def memory(tmp_path):
    return str(tmp_path / "memory")


@functools.cache
def run_alone(name):
    """Return what a run finds without a memory, and how many fits it does."""
    before = fits()
    return RUNS[name](), fits() - before


def fits_of(work):
    before = fits()
    work()
    return fits() - before


# one of each loop: over fits, over permutations, over halvings
@pytest.mark.parametrize("name", ["bootstrap_error", "permutation_test", "predictive_power"])
def test_an_interrupted_run_does_only_the_rest(name, memory, monkeypatch):
    whole, n_fits = run_alone(name)
    before = fits()
    monkeypatch.setenv("FITS_LIMIT", str(before + n_fits // 2))
    with pytest.raises(KeyboardInterrupt):
        RUNS[name](memory=memory)
    monkeypatch.setenv("FITS_LIMIT", "-1")
    resumed = RUNS[name](memory=memory)
    np.testing.assert_array_equal(resumed, whole)
    done_again = fits() - before - n_fits + FOUND_AGAIN.get(name, 0)
    at_once = FITS_OF_A_JOB.get(name, 1)
    assert 0 <= done_again <= at_once + UNKEPT.get(name, 0)


@pytest.mark.parametrize("name", RUNS)
def test_all_is_kept_and_nothing_is_changed(name, memory):
    whole, n_fits = run_alone(name)
    before = fits()
    first = RUNS[name](memory=memory)
    done = fits()
    assert done - before == n_fits - FOUND_AGAIN.get(name, 0)
    with joblib.parallel_config(backend="threading"):
        again = RUNS[name](memory=memory, n_jobs=2 if name == "bootstrap_error" else 1)
    assert fits() - done == UNKEPT.get(name, 0)
    np.testing.assert_array_equal(first, whole)
    np.testing.assert_array_equal(again, whole)


def test_more_resamples_are_added_to_the_fewer(memory):
    options = {"random_state": 0, "memory": memory}
    few = bootstrap_error(Logged(), X, y, n_resamples=20, **options)
    added = fits_of(lambda: bootstrap_error(Logged(), X, y, n_resamples=50, **options))
    assert added == 30
    more = bootstrap_error(Logged(), X, y, n_resamples=50, **options)
    np.testing.assert_array_equal(more.replicates[:20], few.replicates)


def estimate(memory, *, shift=0.0, X=X, y=y, **options):
    options = {"n_resamples": 20, "random_state": 0} | options
    return bootstrap_error(Logged(shift), X, y, memory=memory, **options)


@pytest.mark.parametrize(
    "change",
    [{"shift": 0.1}, {"X": X + 1}, {"y": 1 - y}, {"random_state": 1}, {"error_score": np.nan}],
    ids=str,
)
def test_what_determines_the_numbers_is_in_the_key(memory, change):
    estimate(memory)
    of_all = not {"random_state", "error_score"} & set(change)  # the fit on all samples has neither
    assert fits_of(lambda: estimate(memory, **change)) == 20 + of_all


@pytest.mark.parametrize(
    "change",
    [{"n_jobs": 2}, {"loss": "absolute"}, {"average": "bootstraps"}, {"X": np.asfortranarray(X)}],
    ids=str,
)
def test_what_does_not_determine_the_fits_is_not(memory, change):
    estimate(memory)
    with joblib.parallel_config(backend="threading"):
        assert fits_of(lambda: estimate(memory, **change)) == (21 if "X" in change else 0)


def test_a_fitted_estimator_is_the_same_as_an_unfitted_one(memory):
    estimator = Logged()
    for n_fits in (21, 0):
        work = lambda: bootstrap_error(  # noqa: E731
            estimator, X, y, n_resamples=20, random_state=0, memory=memory
        )
        assert fits_of(work) == n_fits
        estimator.means_ = [0.0, 1.0]


def test_without_a_seed_nothing_is_found_again(memory):
    first, second = (estimate(memory, random_state=None).replicates for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(("pattern", "keep"), [("output.pkl", 0.5), ("*", 0)])
def test_what_is_corrupted_is_computed_again(memory, pattern, keep, caplog):
    whole = estimate(memory).replicates
    for path in pathlib.Path(memory).rglob(pattern):
        if path.is_file():
            path.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(estimate(memory).replicates, whole)
    if pattern == "output.pkl":
        assert "Exception while loading results" in caplog.text
        assert fits() == 42
    assert fits_of(lambda: estimate(memory)) == 0


def test_any_kind_of_memory(memory):
    mapped = joblib.Memory(memory, mmap_mode="r", verbose=0)
    whole = estimate(None).replicates
    for kind in (pathlib.Path(memory), mapped, mapped, memory):
        np.testing.assert_array_equal(estimate(kind).replicates, whole)
    assert fits() == 2 * 21


def counted(function, calls):
    def counting(*args):
        calls.append(len(args[-1]))
        return function(*args)

    return counting


def test_solvers_resume_too(memory, monkeypatch):
    """Many fits at once are one result, in parts of bounded size."""

    scale = X[:, :4].std(axis=0)

    def null(**options):
        options = {"n_permutations": 199, "cv": 3, "random_state": 0} | options
        estimator = SVC(kernel="linear")
        return permutation_test(estimator, X[:, :4] / scale, y, **options).null_distribution

    monkeypatch.setattr(runner, "SOLVED_ELEMENTS", 0)
    whole, calls = null(), []
    monkeypatch.setattr(BlockSolver, "solve", counted(BlockSolver.solve, calls))
    np.testing.assert_array_equal(null(memory=memory), whole)
    # Whole repetitions, at most 256 fits at once.
    assert calls == [255, 255, 90]
    null(memory=memory)
    assert len(calls) == 3


@pytest.mark.usefixtures("always_solve")
def test_a_solver_behind_an_estimator(memory, monkeypatch):
    calls = []
    monkeypatch.setattr(BlockSolver, "solve", counted(BlockSolver.solve, calls))
    for _ in range(2):
        svc = PerturbationResamplingSVC(n_resamples=100, cv=5, random_state=0, memory=memory)
        _ = svc.fit(X[:, :4] / X[:, :4].std(axis=0), y).cv_error_
    assert sum(calls) == 1 + 5 + 500


def test_a_task_that_cannot_be_pickled_is_refused(memory):
    scorer = make_scorer(lambda y_true, y_pred: accuracy_score(y_true, y_pred))
    with pytest.raises(TypeError, match=r"memory needs .* pickled"):
        permutation_test(Logged(), X, y, scoring=scorer, cv=3, n_permutations=3, memory=memory)
