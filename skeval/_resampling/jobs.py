"""Parallel jobs through joblib, with a progress bar and a cache of finished jobs.

A run of jobs is one call of joblib, which sends the shared data to each worker once. joblib's own
processes map large arrays from files. On a Dask cluster, joblib sends a large function and its
data to one worker, from which the others fetch it. A job looks for its result in a
`joblib.Memory` before it begins.
"""

from __future__ import annotations

import os
import pickle
import re
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

import joblib
import sklearn
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from sklearn.utils.validation import check_memory

from skeval._resampling.progress import displayed, show_bar, task_opener, tell
from skeval._version import __version__
from skeval.utils._checks import check_jobs, ignored_warnings, warn_user


@contextmanager
def open_jobs(
    function: Callable[[Any], Any],
    *,
    total: int,
    blocks: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> Iterator[Jobs]:
    """Open the workers, the bar and the memory for jobs ``function(job)``.

    With `blocks`, a job is a block of many fits, sent and stored separately. `total` is the number
    of fits.
    """
    check_jobs(n_jobs, verbose)
    results = None if memory is None else StoredResults(memory, function)
    # joblib has messages of several workers only
    lines = max(0, verbose - 1) if verbose > 1 and effective_n_jobs(n_jobs) > 1 else 0
    options = {"n_jobs": n_jobs, "verbose": lines, "batch_size": 1 if blocks else "auto"}
    jobs = Jobs(function, options, results, [], blocks)
    progress, open_task = displayed.get(), task_opener.get()
    with ExitStack() as stack:
        # the line of a command, or else a bar
        if progress is not None:
            progress.begin(total)
            jobs.listeners.append(progress.update)
        elif verbose and total > 1:
            jobs.listeners.append(stack.enter_context(show_bar(total)))
        # the callbacks of the current fit; a fit within a job is not divided further
        if open_task is not None:
            task_opener.set(None)
            stack.callback(task_opener.set, open_task)
            jobs.listeners.append(stack.enter_context(open_task(total)))
        yield jobs
    if verbose and jobs.n_reused:
        tell(f"skeval reused {jobs.n_reused} of {total} fits that memory= had stored")


@dataclass(eq=False, repr=False)
class Jobs:
    """Runs jobs, which store their results in `results` unless it is None.

    `options` contains the options of `joblib.Parallel`. `listeners` are called with the number of
    newly completed fits. `n_reused` is the number of fits that `results` already contained.
    """

    function: Callable[[Any], Any]
    options: dict[str, Any]
    results: StoredResults | None
    listeners: list[Callable[[int], object]]
    blocks: bool
    n_reused: int = 0

    def __call__(self, jobs: Iterable[Any]) -> list[Any]:
        """Return ``function(job)`` of each job, in the same order."""
        return [value for _, values in self.stream([list(jobs)]) for value in values]

    def stream(self, batches: Iterable[Any]) -> Iterator[tuple[Any, list[Any]]]:
        """Yield each batch with the results of its jobs, in the same order.

        With `blocks`, a batch is one block. The jobs of all batches are sent in one call, which
        makes a batch when its first job is sent, so that memory does not grow with their number.
        Each warning of the jobs is shown once, with its count.

        An error while batches are made is raised after the jobs that were sent before it are done.
        """
        # an enclosing call may count the warnings of several runs together
        shared_tally = tally_of_all.get()
        tally = Tally() if shared_tally is None else shared_tally
        sent: deque[tuple[Any, int]] = deque()

        def list_jobs() -> Iterator[Any]:
            """Yield the jobs of all batches. Joblib pulls them, and thereby opens the batches."""
            for batch in batches:
                jobs = [batch] if self.blocks else batch
                sent.append((batch, len(jobs)))
                yield from (jobs[at] for at in range(len(jobs)))

        calls, values = Calls(self.function, list_jobs(), self.results), list[Any]()
        results = self._send(calls)
        try:
            # results arrive in the order of the jobs
            for value, caught_warnings, was_stored in results:
                tally.add(caught_warnings)
                values.append(value)
                batch, n_jobs = sent[0]
                # report the fits of a block, or one fit
                n_fits = len(batch) if self.blocks else 1
                self.n_reused += n_fits * was_stored
                for advance in self.listeners:
                    advance(n_fits)
                if len(values) == n_jobs:
                    yield batch, values
                    sent.popleft()
                    values = []
            # an error in making a batch is raised after the results before it
            if calls.error is not None:
                raise calls.error
        except GeneratorExit:  # the caller needs no more results
            if shared_tally is None:
                tally.warn()
            raise
        finally:
            if isinstance(results, Generator):
                with ignored_warnings():  # joblib warns if results are left over
                    results.close()
        if shared_tally is None:
            tally.warn()

    def _send(self, calls: Calls) -> Iterator[Any]:
        """Return the results of calls as they arrive."""
        if hasattr(get_active_backend()[0], "client"):  # of Dask
            calls.function = SharedFunction(self.function)
        try:
            parallel = Parallel(return_as="generator", **self.options)
        except ValueError:  # the backend returns nothing before everything is done
            parallel = Parallel(**self.options)
        return iter(parallel(calls))


PACKAGE = Path(__file__).parents[1]

CaughtWarning = tuple[type[Warning], str, str, int]
"""Category, text, file and line of a warning."""


def run_job(
    function: Callable[[Any], Any], job: Any, stored: StoredResults | None
) -> tuple[Any, list[CaughtWarning], bool]:
    """Return the result of a job, its warnings, and whether it was stored before.

    Warning filters belong to the process, so a thread does not change them.
    """
    in_thread = current_thread() is not main_thread()
    with nullcontext([]) if in_thread else warnings.catch_warnings(record=True) as caught:
        value, was_stored = (function(job), False) if stored is None else stored.get(function, job)
    return value, [(w.category, str(w.message), w.filename, w.lineno) for w in caught], was_stored


class Tally:
    """Counts the warnings of jobs. Warnings that differ only in numbers are counted together."""

    def __init__(self) -> None:
        self.first: dict[tuple[type[Warning], str], CaughtWarning] = {}
        self.counts: Counter[tuple[type[Warning], str]] = Counter()

    def add(self, warned: Iterable[CaughtWarning]) -> None:
        """Count some warnings."""
        for warning in warned:
            kind = warning[0], re.sub(r"\d[\d.e+-]*", "#", warning[1])
            self.first.setdefault(kind, warning)
            self.counts[kind] += 1

    def warn(self) -> None:
        """Issue each kind of warning once, with its count.

        A warning that points to the calling code, which is this package, is attributed to the
        caller of the package.
        """
        for kind, count in self.counts.items():
            category, text, file, line = self.first[kind]
            text = text if count == 1 else f"{count} times in fits: {text}"
            if file.startswith(str(PACKAGE)):
                warn_user(text, category)
            else:
                warnings.warn_explicit(text, category, file, line)


tally_of_all: ContextVar[Tally | None] = ContextVar("tally", default=None)


@contextmanager
def tallied_warnings() -> Iterator[None]:
    """Count the warnings of all fits within this context together, and report them at its end."""
    if tally_of_all.get() is not None:
        yield
        return
    tally = Tally()
    token = tally_of_all.set(tally)
    try:
        yield
    finally:
        tally_of_all.reset(token)
    tally.warn()


class Calls:
    """Iterator over the calls for joblib. An error ends it and is stored.

    Some backends consume it in other threads, where the error would be lost.
    """

    def __init__(
        self, function: Callable[[Any], Any], jobs: Iterator[Any], stored: StoredResults | None
    ) -> None:
        self.error: Exception | None = None
        self.function, self._jobs, self._stored = function, jobs, stored

    def __iter__(self) -> Calls:
        return self

    def __next__(self) -> Any:
        try:
            return delayed(run_job)(self.function, next(self._jobs), self._stored)
        except StopIteration:
            raise
        except Exception as error:
            self.error = error
            raise StopIteration from error


class SharedFunction:
    """A function whose stated size is large, so that joblib sends it only once to a Dask cluster.

    Parallel work of an estimator within a job runs in threads, as in joblib's own processes.
    Otherwise, joblib would send this work and its data over the cluster for every fit.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __sizeof__(self) -> int:
        return 2**20

    def __call__(self, job: Any) -> Any:
        with parallel_config(backend="threading", n_jobs=1):
            return self.function(job)


class StoredResults:
    """Stored results of one function's jobs, by joblib's hashes of the function and the job.

    The function contains the estimator and the data, and is hashed once. joblib identifies
    functions and classes by their names. After a change of their source, the folder must be
    deleted.
    """

    def __init__(self, memory: Any, function: Callable[[Any], Any]) -> None:
        memory = os.fspath(memory) if isinstance(memory, os.PathLike) else memory
        self._memory = check_memory(memory).cache(compute_result, ignore=["compute"])
        versions = __version__, sklearn.__version__
        try:
            self._function = joblib.hash((versions, function), coerce_mmap=True)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(
                "memory needs an estimator, scoring and data that can be pickled, so replace "
                f"lambda functions by named functions: {error}"
            ) from error
        # joblib notes the code of a function once, before several workers store results
        self._memory(str, self._function, "")

    def get(self, function: Callable[[Any], Any], job: Any) -> tuple[Any, bool]:
        """Return the result of a job, and whether it was stored. Compute and store it otherwise.

        A result that cannot be read is computed again.
        """
        # the key of a job that is still to do, because a job may change its generator
        key = joblib.hash(job, coerce_mmap=True)
        was_stored = bool(self._memory.check_call_in_cache(None, self._function, key))
        return self._memory(partial(function, job), self._function, key), was_stored


def compute_result(compute: Callable[[], Any], function: str, key: str) -> Any:
    """Return what `joblib.Memory` stores for the hashes of a function and a job."""
    return compute()
