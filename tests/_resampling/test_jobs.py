"""The same numbers wherever the fits run; what happens when a process dies or is interrupted."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError

import joblib
import numpy as np
import pytest
from helpers.long_runs import RUNS, Slow, X, y
from joblib.externals.loky.process_executor import TerminatedWorkerError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.model_selection import (
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    metric_interval,
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
        *models, X, y, method=method, n_resamples=100, random_state=0, **options
    )
    return [result.difference, result.interval.low, result.interval.high]


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


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes, each of one thread."""
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(**options, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


@pytest.mark.parametrize("name", ALL_RUNS)
@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_same_numbers_on_every_backend(name, backend, answers):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        np.testing.assert_array_equal(ALL_RUNS[name](), answers[name])


@pytest.mark.parametrize("name", ALL_RUNS)
def test_same_numbers_on_a_cluster(name, answers, cluster):
    with joblib.parallel_config(backend="dask"):
        np.testing.assert_array_equal(ALL_RUNS[name](), answers[name])


def test_a_cluster_resumes(cluster, tmp_path, answers):
    run = ALL_RUNS["permutation_test"]
    for _ in range(2):
        with joblib.parallel_config(backend="dask"):
            found = run(memory=tmp_path)
        np.testing.assert_array_equal(found, answers["permutation_test"])


def pids(log):
    """Return the processes that have fitted."""
    return {int(line) for line in log.read_text().split()} if log.exists() else set()


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker(cluster, tmp_path):
    """The other does its fits, or, where the data went with it, the run ends in an error."""
    log = tmp_path / "log"
    wide = np.tile(X, 200)  # what joblib sends to the workers beforehand

    def kill_one():
        wait_for(lambda: pids(log))
        os.kill(min(pids(log)), signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    estimator, options = Slow(log, os.getpid()), {"n_resamples": 40, "random_state": 0}
    with joblib.parallel_config(backend="dask"):
        try:
            found = bootstrap_error(estimator, wide, y, memory=tmp_path, **options)
        except (CancelledError, sys.modules["distributed"].KilledWorker):
            found = bootstrap_error(estimator, wide, y, memory=tmp_path, **options)
    killer.join()
    alone = bootstrap_error(GaussianNB(), wide, y, **options)
    np.testing.assert_array_equal(found.replicates, alone.replicates)


def test_a_worker_that_dies_is_an_error(tmp_path):
    """Never a result made of the fits that were done."""
    rows = np.arange(10)[:, None] + 10.0
    fatal = rows[1:].sum()  # the training part of one fold
    estimator = Slow(tmp_path / "log", os.getpid(), fatal)
    folds = [(np.delete(np.arange(10), i), [i]) for i in range(10)]
    with joblib.parallel_config(backend="loky", n_jobs=2), pytest.raises(TerminatedWorkerError):
        cross_val_error(estimator, rows, np.arange(10) % 2, cv=folds)


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
