"""Parallel jobs through joblib, with a progress bar and a cache of finished jobs.

A run of jobs is one call of joblib, which sends the shared data to each worker once. joblib's own
processes map large arrays from files, and on a Dask cluster joblib sends a large function, with
its data, to one worker, from which the others fetch it.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, Protocol

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend

from skeval._resampling.memory import StoredResults
from skeval._resampling.progress import follow_jobs, tell
from skeval.utils._checks import check_jobs, ignored_warnings, warn_user

FITS_OF_RESULT = 256
"""Number of fits stored as one result if the calling process runs many fits together."""


class JobList(Protocol):
    """Jobs by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Any: ...


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

    With `blocks` a job is a block of many fits, sent and stored separately. `total` is the number
    of fits.
    """
    check_jobs(n_jobs, verbose)
    results = None if memory is None else StoredResults(memory, function)
    with follow_jobs(total, verbose if total > 1 else 0) as (listeners, lines):
        options = {"n_jobs": n_jobs, "verbose": lines, "batch_size": 1 if blocks else "auto"}
        jobs = Jobs(function, options, results, listeners, blocks)
        yield jobs
    if verbose and jobs.n_reused:
        tell(f"skeval reused {jobs.n_reused} of {total} fits that were kept by memory=")


class Batch:
    """Some jobs, their results, and the numbers of the jobs that are left."""

    def __init__(self, given: JobList, blocks: bool, results: StoredResults | None) -> None:
        self.given = given
        self.jobs: Any = [given] if blocks else given
        self.found: list[Any] = [None] * len(self.jobs)
        self.left = set(range(len(self.jobs)))
        self.keys = [] if results is None else [results.key(self.jobs[at]) for at in self.left]


@dataclass(eq=False, repr=False)
class Jobs:
    """Runs jobs, and stores finished ones in `results` unless it is None.

    `options` are those of `joblib.Parallel`. `listeners` are called with the number of newly
    completed fits. `n_reused` is the number of fits that `results` already contained.
    """

    function: Callable[[Any], Any]
    options: dict[str, Any]
    results: StoredResults | None
    listeners: Sequence[Callable[[int], object]]
    blocks: bool
    n_reused: int = 0

    def __call__(self, jobs: Iterable[Any]) -> list[Any]:
        """Return ``function(job)`` of each job, in the same order."""
        ((_, results),) = self.stream([list(jobs)])
        return results

    @property
    def max_fits(self) -> int | None:
        """Maximum number of fits for `do_here`; None if fits are neither shown nor stored."""
        return FITS_OF_RESULT if self.listeners or self.results is not None else None

    def do_here(self, function: Callable[[Any], Any], fits: Any) -> Any:
        """Return ``function(fits)``, which does many fits at once in this process."""
        if self.results is None:
            return function(fits)
        key = self.results.key(("here", fits))
        self.n_reused += len(fits) if key in self.results else 0
        return self.results.get(key, partial(function, fits))

    def advance(self, n_fits: int) -> None:
        """Report that more fits are done."""
        for advance in self.listeners:
            advance(n_fits)

    def stream(self, batches: Iterable[JobList]) -> Iterator[tuple[Any, list[Any]]]:
        """Yield each batch with the results of its jobs, in the same order.

        With `blocks`, a batch is one block. The jobs of all batches are sent in one call. Batches
        that are complete in the cache are yielded before the next batch is made, so that memory
        does not grow with their number.
        """
        source = map(self._open, batches)
        for first in source:
            waiting, n_closed = deque([first]), 0

            def list_jobs(batch: Batch, waiting: deque[Batch]) -> Iterator[tuple[Any, Any]]:
                number = 0
                while batch.left:  # joblib pulls jobs, and thereby opens the next batches
                    for at in sorted(batch.left):
                        yield (number, at), batch.jobs[at]
                    following = next(source, None)
                    if following is None:
                        return
                    number, batch = number + 1, following
                    waiting.append(batch)

            # results arrive in any order; batches are yielded in their own order
            finished = run_jobs(self.function, list_jobs(first, waiting), self.options)
            for (number, at), value in finished if first.left else ():
                batch = waiting[number - n_closed]
                batch.found[at] = value
                batch.left.remove(at)
                if self.results is not None:
                    batch.found[at] = self.results.keep(batch.keys[at], value)
                self.advance(len(batch.jobs[at]) if self.blocks else 1)
                while waiting and not waiting[0].left:
                    n_closed += 1
                    done = waiting.popleft()
                    yield done.given, done.found
            for batch in waiting:
                yield batch.given, batch.found

    def _open(self, given: JobList) -> Batch:
        """Return a batch with its stored results; an unreadable result is computed again."""
        batch = Batch(given, self.blocks, self.results)
        for at, key in enumerate(batch.keys):
            assert self.results is not None
            if key in self.results:
                job = batch.jobs[at]
                batch.found[at] = self.results.get(key, partial(self.function, job))
                batch.left.remove(at)
                n_fits = len(job) if self.blocks else 1
                self.n_reused += n_fits
                self.advance(n_fits)
        return batch


PACKAGE = Path(__file__).parents[1]

CaughtWarning = tuple[type[Warning], str, str, int]
"""Category, text, file and line of a warning."""


def run_job(
    function: Callable[[Any], Any], name: Any, job: Any
) -> tuple[Any, Any, list[CaughtWarning]]:
    """Return the name of a job, its result and its warnings.

    Warning filters belong to the process, so a thread does not change them.
    """
    if current_thread() is not main_thread():
        return name, function(job), []
    with warnings.catch_warnings(record=True) as caught:
        value = function(job)
    caught_warnings = [
        (warning.category, str(warning.message), warning.filename, warning.lineno)
        for warning in caught
    ]
    return name, value, caught_warnings


class Tally:
    """Counts the warnings of jobs; warnings that differ only in numbers are counted together."""

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

        A warning that points to the code that called the model, here this package, is attributed to
        the caller of the package.
        """
        for kind, count in self.counts.items():
            category, text, file, line = self.first[kind]
            text = text if count == 1 else f"{count} times in fits: {text}"
            if file.startswith(str(PACKAGE)):
                warn_user(text, category)
            else:
                warnings.warn_explicit(text, category, file, line)


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


@contextmanager
def tallied_warnings() -> Iterator[None]:
    """Count the warnings of all fits within this context together, and report them at its end."""
    if _tally.get() is not None:
        yield
        return
    tally = Tally()
    token = _tally.set(tally)
    try:
        yield
    finally:
        _tally.reset(token)
    tally.warn()


class Source:
    """Iterator over the calls for joblib; an error ends it and is stored.

    Some backends consume it in other threads, where the error would be lost.
    """

    def __init__(self, function: Callable[[Any], Any], jobs: Iterable[tuple[Any, Any]]) -> None:
        self.error: Exception | None = None
        self._calls = (delayed(run_job)(function, name, job) for name, job in jobs)

    def __iter__(self) -> Source:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._calls)
        except StopIteration:
            raise
        except Exception as error:
            self.error = error
            raise StopIteration from error


class SharedFunction:
    """A function that joblib sends once to a Dask cluster, because its size is stated as large.

    Parallel work of an estimator within a job runs in threads, as in joblib's own processes.
    Otherwise joblib would send this work, with its data, over the cluster for every fit.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __sizeof__(self) -> int:
        return 2**20

    def __call__(self, job: Any) -> Any:
        with parallel_config(backend="threading", n_jobs=1):
            return self.function(job)


def run_jobs(
    function: Callable[[Any], Any], jobs: Iterable[tuple[Any, Any]], options: dict[str, Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield (name, ``function(job)``) for each (name, job), as it completes.

    An error raised by the iterable is raised here after the jobs sent before it are done. Each
    warning of the jobs is shown once, with its count.
    """
    shared_tally = _tally.get()
    tally = Tally() if shared_tally is None else shared_tally
    if hasattr(get_active_backend()[0], "client"):  # of Dask
        function = SharedFunction(function)
    source = Source(function, jobs)
    try:
        parallel = Parallel(return_as="generator_unordered", **options)
    except ValueError:  # the backend returns nothing before everything is done
        parallel = Parallel(**options)
    # joblib's messages need it, and it is not set if sequential jobs are interrupted
    vars(parallel).setdefault("_pre_dispatch_amount", 0)
    results = iter(parallel(source))
    try:
        for name, value, caught_warnings in results:
            tally.add(caught_warnings)
            yield name, value
    except GeneratorExit:  # the caller needs no more results
        if shared_tally is None:
            tally.warn()
        raise
    finally:
        if isinstance(results, Generator):
            with ignored_warnings():  # joblib warns if results are left over
                results.close()
    if source.error is not None:
        raise source.error
    if shared_tally is None:
        tally.warn()
