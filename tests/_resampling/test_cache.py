"""Finished work outlives the run: interrupted, killed, corrupted, changed."""

import importlib
import logging
import os
import pathlib
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import pytest
from helpers.long_runs import RUNS, Logged, X, fits, y
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.svm import SVC

from skeval._resampling import adapters as _adapters
from skeval._resampling import fits as _predict
from skeval._resampling import jobs as _jobs
from skeval.model_selection import bootstrap_error, permutation_test
from skeval.svm import PerturbationResamplingSVC

# single fits on all samples
UNKEPT = {"CV2FeatureSelectionPipeline": 1, "evaluate_clusterer": 2}
UNKEPT |= dict.fromkeys(["cluster_stability", "structure_test", "index_interval"], 1)
FOUND_AGAIN = {"evaluate": 1}  # the bootstrap has need of the fit of resubstitution
FITS_OF_A_JOB = dict.fromkeys(
    ["predictive_power", "prediction_strength", "choose_n_clusters", "evaluate_clusterer"], 2
)


@pytest.fixture(autouse=True)
def log(tmp_path, monkeypatch):
    path = tmp_path / "fits"
    monkeypatch.setenv("FITS_LOG", str(path))
    return path


@pytest.fixture
def memory(tmp_path):
    return str(tmp_path / "memory")


def fits_of(work):
    before = fits()
    work()
    return fits() - before


@pytest.mark.parametrize("name", RUNS)
def test_an_interrupted_run_does_only_the_rest(name, memory, monkeypatch):
    whole = RUNS[name]()
    n_fits = fits()
    monkeypatch.setenv("FITS_LIMIT", str(n_fits + n_fits // 2))
    with pytest.raises(KeyboardInterrupt):
        RUNS[name](memory=memory)
    monkeypatch.setenv("FITS_LIMIT", "-1")
    resumed = RUNS[name](memory=memory)
    np.testing.assert_array_equal(resumed, whole)
    done_again = fits() - 2 * n_fits + FOUND_AGAIN.get(name, 0)
    at_once = _jobs.JOBS_PER_RESULT * FITS_OF_A_JOB.get(name, 1)
    assert 0 <= done_again <= at_once + UNKEPT.get(name, 0)


@pytest.mark.parametrize("name", RUNS)
def test_all_is_kept_and_nothing_is_changed(name, memory):
    whole = RUNS[name]()
    n_fits = fits()
    first = RUNS[name](memory=memory)
    done = fits()
    assert done == 2 * n_fits - FOUND_AGAIN.get(name, 0)
    again = RUNS[name](memory=memory, n_jobs=2 if name == "bootstrap_error" else 1)
    assert fits() - done == UNKEPT.get(name, 0)
    np.testing.assert_array_equal(first, whole)
    np.testing.assert_array_equal(again, whole)


# One of each loop: over fits, over permutations, over halvings.
@pytest.mark.parametrize(
    ("name", "backend"),
    [
        ("bootstrap_error", "sequential"),
        ("permutation_test", "threading"),
        ("predictive_power", "threading"),
    ],
)
def test_a_killed_run_does_only_the_rest(name, backend, memory, log, tmp_path):
    whole = RUNS[name]()
    n_fits = fits()
    log.unlink()
    killed = subprocess.Popen(
        [sys.executable, "-c", "from helpers.long_runs import main; main()", name, memory, backend],
        env=os.environ | {"FITS_SECONDS": "0.02", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    deadline = time.monotonic() + 60
    while fits() < 2 * n_fits // 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    kept = len([*pathlib.Path(memory).rglob("output.pkl")])
    assert kept > 0
    log.unlink()
    np.testing.assert_array_equal(RUNS[name](memory=memory), whole)
    assert fits() == n_fits - kept * _jobs.JOBS_PER_RESULT * FITS_OF_A_JOB.get(name, 1)


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


SCORER = """
def score(y_true, y_pred):
    return {}

def unrelated():
    return {}
"""


def test_the_source_of_a_function_of_the_user_is_in_the_key(memory, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "own_scores.py"
    module.write_text(SCORER.format("float((y_true == y_pred).mean())", 1))
    own = importlib.import_module("own_scores")

    def statistic():
        scorer = make_scorer(own.score)
        options = {"n_permutations": 4, "cv": 2, "random_state": 0, "memory": memory}
        return permutation_test(Logged(), X, y, scoring=scorer, **options).statistic

    first = statistic()
    module.write_text(SCORER.format("float((y_true == y_pred).mean()) + 1", 1))
    importlib.reload(own)
    assert statistic() == pytest.approx(first + 1)
    module.write_text(SCORER.format("float((y_true == y_pred).mean()) + 1", 2))
    importlib.reload(own)
    assert fits_of(statistic) == 0


@pytest.mark.parametrize("pattern", ["output.pkl", "metadata.json", "func_code.py", "*"])
@pytest.mark.parametrize("keep", [0, 0.5], ids=["empty", "half"])
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


@pytest.mark.parametrize("open_memory", [pathlib.Path, joblib.Memory], ids=["path", "Memory"])
def test_any_kind_of_memory(memory, open_memory):
    whole = estimate(open_memory(memory)).replicates
    np.testing.assert_array_equal(estimate(memory).replicates, whole)
    assert fits() == 21


@pytest.mark.parametrize("estimator", [Logged(), SVC(kernel="linear")], ids=str)
def test_a_memory_that_maps_files(memory, estimator):
    options = {"n_resamples": 20, "random_state": 0}
    plain = bootstrap_error(estimator, X, y, **options)
    mapped = joblib.Memory(memory, mmap_mode="r", verbose=0)
    for _ in range(2):
        found = bootstrap_error(estimator, X, y, memory=mapped, **options)
        np.testing.assert_array_equal(found.replicates, plain.replicates)


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

    monkeypatch.setattr(_adapters, "BLOCK_ELEMENTS", 0)
    whole, calls = null(), []
    monkeypatch.setattr(_predict, "solve_block", counted(_predict.solve_block, calls))
    np.testing.assert_array_equal(null(memory=memory), whole)
    assert calls == [255, 255, 90]  # fits: whole repetitions, at most 256 at once
    null(memory=memory)
    assert len(calls) == 3


def test_a_solver_behind_an_estimator(memory, monkeypatch):
    calls = []
    monkeypatch.setattr(_predict, "solve_block", counted(_predict.solve_block, calls))
    for _ in range(2):
        svc = PerturbationResamplingSVC(n_resamples=100, cv=5, random_state=0, memory=memory)
        svc.fit(X[:, :4] / X[:, :4].std(axis=0), y)
    assert sum(calls) == 5 + 500  # the one fit to all samples is left to SVC


def test_scoring_that_cannot_be_pickled_is_refused(memory):
    scorer = make_scorer(lambda y_true, y_pred: accuracy_score(y_true, y_pred))
    with pytest.raises(TypeError, match=r"memory needs .* pickled"):
        permutation_test(Logged(), X, y, scoring=scorer, cv=3, n_permutations=3, memory=memory)


@pytest.mark.parametrize("wrong", [3, Logged()], ids=str)
def test_memory_must_be_one(wrong):
    with pytest.raises(ValueError, match="memory"):
        estimate(wrong)
