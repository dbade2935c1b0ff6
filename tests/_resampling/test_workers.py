"""One call of joblib for a whole run, whatever the backend."""

import threading
import time

import joblib
import numpy as np
import pytest
from helpers.jobs import square

from skeval._resampling.jobs import open_jobs

BACKENDS = ["sequential", "threading", "loky", "multiprocessing"]


OTHERS_ARE_KEPT = threading.Event()


def wait_if_first(number):
    return OTHERS_ARE_KEPT.wait(60) if number == 0 else True


@pytest.mark.parametrize("backend", BACKENDS)
def test_batches_in_the_order_given(backend):
    batches = [list(range(30)), [], list(range(30, 37))]
    with joblib.parallel_config(backend=backend, n_jobs=2), open_jobs(square, total=37) as run:
        found = list(run.stream(batches))
    assert found == [(batch, [number**2 for number in batch]) for batch in batches]


def test_one_call_for_all_batches(monkeypatch):
    calls, call = [], joblib.Parallel.__call__
    monkeypatch.setattr(
        joblib.Parallel, "__call__", lambda self, jobs: calls.append(1) or call(self, jobs)
    )
    with open_jobs(square, total=90) as run:
        assert len(list(run.stream([range(30)] * 3))) == 3
    assert len(calls) == 1


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


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_error_while_jobs_are_made_is_raised(backend):
    def make_batches():
        yield list(range(100))
        raise ValueError("no more draws")

    done = []
    with (
        joblib.parallel_config(backend=backend, n_jobs=2),
        pytest.raises(ValueError, match="no more draws"),
        open_jobs(square, total=200) as run,
    ):
        done += run.stream(make_batches())


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_who_stops_early_leaves_nothing_behind(backend):
    """No warning of joblib's, and the next run is as good as the first."""
    n_threads = threading.active_count()
    with joblib.parallel_config(backend=backend, n_jobs=2):
        for _ in range(2):
            with open_jobs(square, total=2000) as run:
                stream = run.stream([range(20)] * 100)
                assert next(stream)[1] == [number**2 for number in range(20)]
                stream.close()
    if backend == "sequential":
        assert threading.active_count() == n_threads


def test_results_are_kept_as_they_arrive(tmp_path):
    """A job that takes long does not hold up those behind it."""

    def release():
        while not [*tmp_path.rglob("output.pkl")] and time.monotonic() < deadline:
            time.sleep(0.01)
        OTHERS_ARE_KEPT.set()

    deadline = time.monotonic() + 30
    releasing = threading.Thread(target=release)
    releasing.start()
    with (
        joblib.parallel_config(backend="threading", n_jobs=2),
        open_jobs(wait_if_first, total=80, memory=tmp_path) as run,
    ):
        assert all(run(range(80)))
    releasing.join()
    assert time.monotonic() < deadline


def test_counts_of_a_bar_are_fits(capsys):
    pytest.importorskip("tqdm")
    with open_jobs(len, total=50, blocks=True, verbose=1) as run:
        found = list(run.stream([[np.ones(20)], [np.ones(30)]]))
    assert [results for _, results in found] == [[20], [30]]
    assert "50/50" in capsys.readouterr().err
