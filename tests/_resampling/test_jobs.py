"""The same numbers wherever the fits run; what happens when a process dies or is interrupted."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
from helpers import jobs
from helpers.jobs import Complaining, FailsWithout, square, two_workers
from helpers.long_runs import RUNS, Slow, X, y
from joblib.externals.loky.process_executor import TerminatedWorkerError
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import skeval
from skeval._adapters import runner
from skeval._resampling.jobs import open_jobs
from skeval.model_selection import (
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    error_interval,
    metric_interval,
    permutation_test,
    perturbation_interval,
)
from skeval.svm import PerturbationResamplingSVC


def perturbed(kernel, **options):
    svc = make_pipeline(
        StandardScaler(),
        PerturbationResamplingSVC(kernel=kernel, n_resamples=10, cv=3, random_state=0, **options),
    )
    return svc.fit(X, y)[-1].statistics_


def compared(method, **options):
    models = make_pipeline(StandardScaler(), LogisticRegression()), GaussianNB()
    result = compare_classifiers(
        models, X, y, method=method, n_resamples=100, random_state=0, **options
    ).difference
    return [result.value, result.interval.low, result.interval.high]


ALL_RUNS = RUNS | {
    "batches": lambda **options: perturbed("linear", **options),
    "PerturbationResamplingSVC": lambda **options: perturbed("rbf", **options),
    "compare_classifiers": lambda **options: compared("corrected_t", **options),
    "compare_classifiers, pooled": lambda **options: compared("bootstrap", **options),
    "metric_interval": lambda **options: (
        metric_interval(
            f1_score, y, X[:, 0] < 15, n_resamples=300, random_state=0, **options
        ).replicates
    ),
}


@pytest.fixture(scope="module")
def answers():
    return {name: run() for name, run in ALL_RUNS.items()}


@contextmanager
def start_cluster(**options):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    options |= {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        yield


@pytest.fixture(scope="module")
def cluster():
    """Two workers that get and send bytes, as those of other machines; in this process, for speed.

    That nothing else reaches a worker than what is sent to it is tried with processes of loky.
    """
    with start_cluster(processes=False, protocol="tcp://"):
        yield


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        *(("threading", name) for name in ("bootstrap_error", "batches", "metric_interval")),
        *(("loky", name) for name in ALL_RUNS),
    ],
)
def test_same_numbers_on_every_backend(name, backend, answers):
    with two_workers(backend):
        np.testing.assert_array_equal(ALL_RUNS[name](), answers[name])


# what pickles for loky pickles for a cluster
@pytest.mark.parametrize("name", ["evaluate", "batches", "predictive_power"])
def test_same_numbers_on_a_cluster(name, answers, cluster):
    with joblib.parallel_config(backend="dask"):
        np.testing.assert_array_equal(ALL_RUNS[name](), answers[name])


def test_a_cluster_resumes(cluster, tmp_path, answers):
    run = ALL_RUNS["permutation_test"]
    for _ in range(2):
        with joblib.parallel_config(backend="dask"):
            found = run(memory=tmp_path)
        np.testing.assert_array_equal(found, answers["permutation_test"])


def permute(**options):
    model = make_pipeline(StandardScaler(), SelectKBest(k=4), SVC(kernel="linear", tol=1e-6))
    return permutation_test(
        model, X, y, cv=3, n_permutations=15, random_state=0, **options
    ).null_distribution


SCALED = X[:, :4] / X[:, :4].std(axis=0)

# Of each way that blocks come back: as classes, as scores, by metrics that need decisions.
BLOCKS = {
    "bootstrap_error": lambda **options: (
        bootstrap_error(
            make_pipeline(StandardScaler(), SVC(kernel="linear", tol=1e-6)),
            X,
            y,
            n_resamples=40,
            **options,
        ).replicates
    ),
    "perturbation_interval": lambda **options: (
        perturbation_interval(
            SVC(kernel="linear", tol=1e-6), SCALED, y, n_resamples=20, cv=3, **options
        ).extra.statistics
    ),
    "permutation_test, AUC": partial(permute, scoring="roc_auc"),
}


@pytest.fixture
def small_blocks(always_solve, monkeypatch):
    """Let all but the smallest runs have several blocks."""
    monkeypatch.setattr(runner, "FITS_OF_BLOCK", 10)
    monkeypatch.setattr(runner, "SOLVED_ELEMENTS", 0)


@pytest.mark.parametrize("name", BLOCKS)
def test_solvers_give_the_same_numbers_on_every_backend(name, small_blocks, monkeypatch, tmp_path):
    sizes, solve = [], runner.BlockSolver.solve
    monkeypatch.setattr(
        runner.BlockSolver,
        "solve",
        lambda solver, block: sizes.append(len(block)) or solve(solver, block),
    )
    options = {} if name.startswith("permutation") else {"random_state": 0}
    alone = BLOCKS[name](**options)
    assert len(sizes) > 3
    assert max(sizes) <= 10
    np.testing.assert_array_equal(BLOCKS[name](memory=tmp_path, **options), alone)
    for backend in ("threading", "loky"):
        with two_workers(backend):
            np.testing.assert_array_equal(BLOCKS[name](**options), alone)


def test_data_travel_once_to_a_cluster(cluster, small_blocks, monkeypatch):
    """To one worker, and from there to the other, however many jobs there are."""
    sent, state = [], runner.FitWorker.__reduce_ex__

    def reduce(fitter, protocol):
        sent.append(1)
        return state(fitter, protocol)

    monkeypatch.setattr(runner.FitWorker, "__reduce_ex__", reduce)
    with joblib.parallel_config(backend="dask"):
        permute()
        ALL_RUNS["bootstrap_error"]()
    assert len(sent) <= 2 * (2 + 1)  # the fit to all samples is a run by itself


def test_warnings_and_counts_of_processes_meet_in_one_place(capsys):
    pytest.importorskip("tqdm")
    with warnings.catch_warnings(record=True) as caught, two_workers("loky"):
        warnings.simplefilter("default")
        cross_val_error(Complaining(), X, y, cv=10, random_state=0, verbose=1)
    (told,) = caught
    assert told.category is ConvergenceWarning
    assert str(told.message).startswith("10 times in fits: tolerance ")
    assert told.filename == jobs.__file__
    assert "10/10 [" in capsys.readouterr().err


def pids(log):
    """Return the processes that have fitted."""
    return {int(line) for line in log.read_text().split()} if log.exists() else set()


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


INTERRUPTED = """
import os, sys
from pathlib import Path
from helpers.long_runs import Slow, X, y
from skeval.model_selection import bootstrap_error
try:
    estimator = Slow(Path(sys.argv[1]), os.getpid())
    bootstrap_error(estimator, X, y, n_resamples=1000, n_jobs=2, random_state=0)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.stdin.read()
"""


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_an_interrupt_leaves_no_workers(tmp_path):
    log = tmp_path / "log"
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, log],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        wait_for(lambda: pids(log))
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        wait_for(lambda: not any(map(is_running, pids(log))), seconds=10)
        process.communicate()
        assert process.returncode == 0


BACKENDS = ["sequential", "threading", "multiprocessing"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_batches_in_the_order_given(backend):
    batches = [list(range(30)), [30], list(range(31, 37))]
    with two_workers(backend), open_jobs(square, total=37) as run:
        found = list(run.stream(batches))
    assert found == [(batch, [number**2 for number in batch]) for batch in batches]


def test_batches_that_are_kept_are_handed_out_one_by_one(tmp_path):
    made = []

    def make_batches():
        for number in range(5):
            made.append(number)
            yield [number]

    for n_made in ([0, 1, 2, 3, 4], [0]):
        made.clear()
        with open_jobs(square, total=5, memory=tmp_path) as run:
            stream = run.stream(make_batches())
            assert next(stream) == ([0], [0])
            assert made[: len(n_made)] == made[:1] + n_made[1 : len(made)]
            rest = list(stream)
        assert [jobs for jobs, _ in rest] == [[1], [2], [3], [4]]


# Processes of loky would be lost by it; those of multiprocessing are forks.
@pytest.mark.parametrize("backend", ["sequential", "threading", "multiprocessing"])
def test_an_error_while_jobs_are_made_is_raised(backend):
    def make_batches():
        yield list(range(100))
        raise ValueError("no more draws")

    done = []
    with (
        two_workers(backend),
        pytest.raises(ValueError, match="no more draws"),
        open_jobs(square, total=200) as run,
    ):
        done += run.stream(make_batches())


# not "multiprocessing": its pool may wait for ever when it is ended after an error
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_the_error_of_a_worker_describes_its_training_set(backend):
    with (
        two_workers(backend),
        pytest.raises(
            ValueError, match=r"estimator failed on \d+ training samples, of which \d+ have"
        ),
    ):
        error_interval(FailsWithout(X[0, 0]), X, y, random_state=0, n_repeats=2)


# What follows comes last, for processes are lost by it, and the next run starts others.
@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_who_stops_early_leaves_nothing_behind(backend):
    """No warning of joblib's, and the next run is as good as the first."""
    threads = {*threading.enumerate()}
    squares = [number**2 for number in range(20)]
    with two_workers(backend):
        with open_jobs(square, total=2000) as run:
            stream = run.stream([range(20)] * 100)
            assert next(stream)[1] == squares
            stream.close()
        with open_jobs(square, total=20) as run:
            assert run(range(20)) == squares
    if backend == "sequential":
        assert not {*threading.enumerate()} - threads  # others may end


def test_a_worker_that_dies_is_an_error(tmp_path):
    """Never a result made of the fits that were done."""
    rows = np.arange(10)[:, None] + 10.0
    fatal = rows[1:].sum()  # the training part of one fold
    estimator = Slow(tmp_path / "log", os.getpid(), fatal)
    folds = [(np.delete(np.arange(10), i), [i]) for i in range(10)]
    with two_workers("loky"), pytest.raises(TerminatedWorkerError):
        cross_val_error(estimator, rows, np.arange(10) % 2, cv=folds)


class OfPackage(Complaining):
    """A classifier whose warning comes from a file of the package."""

    def fit(self, X, y):
        with pytest.warns(ConvergenceWarning) as caught:
            super().fit(X, y)
        file = str(Path(skeval.__file__).parent / "a.py")
        warnings.warn_explicit(caught[0].message, ConvergenceWarning, file, 1)
        return self


def test_warnings_of_the_package_are_attributed_to_its_caller():
    with pytest.warns(ConvergenceWarning, match="10 times in fits: tolerance") as caught:
        cross_val_error(OfPackage(), X, y, cv=10, random_state=0)
    assert [each.filename for each in caught] == [__file__]
