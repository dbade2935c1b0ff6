"""Parallel jobs through joblib, with a progress bar and a cache of finished jobs.

A run of jobs is one call of joblib, which sends the shared data to each worker once. joblib's own
processes map large arrays from files. On a Dask cluster, joblib sends an object again with every
call, to one worker, and the other workers fetch it from there; the scheduler soon drops one of two
copies. A plugin therefore sends the data to every worker when the run begins, or when the worker
joins, and the scheduler keeps a copy.
"""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, Protocol
from uuid import uuid4

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

from skeval._resampling.memory import StoredResults
from skeval._resampling.progress import follow_jobs, tell
from skeval.utils._checks import check_jobs, ignored_warnings, warn_user

JOBS_PER_RESULT = 4
"""Number of jobs stored as one result: writing takes 2 ms, so 0.5 ms per job."""

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
        workers = Workers(n_jobs, lines, 1 if blocks else "auto")
        jobs = Jobs(function, workers, results, listeners, blocks)
        yield jobs
    if verbose and jobs.n_reused:
        tell(f"skeval reused {jobs.n_reused} of {total} fits that were kept by memory=")


@dataclass(eq=False, repr=False)
class Jobs:
    """Runs jobs, and stores finished ones in `results` unless it is None.

    `listeners` are called with the number of newly completed fits. `n_reused` is the number of fits
    that `results` already contained.
    """

    function: Callable[[Any], Any]
    workers: Workers
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
        # batches that are complete in the cache interrupt the stream of jobs
        for batch in source:
            if batch.n_left:
                yield from self._run(batch, source)
            else:
                yield self._close(batch)

    def _run(self, first: Batch, source: Iterator[Batch]) -> Iterator[tuple[Any, list[Any]]]:
        """Yield a batch and the following ones, up to a batch that is complete already."""
        waiting, n_closed = deque([first]), 0

        def list_jobs() -> Iterator[tuple[Any, Any]]:
            number, batch = 0, first
            while batch.n_left:  # joblib pulls jobs, and thereby opens the next batches
                for at in batch.list_left():
                    yield (number, at), batch.jobs[at]
                following = next(source, None)
                if following is None:
                    return
                number, batch = number + 1, following
                waiting.append(batch)

        # results arrive in any order; batches are yielded in their own order
        for (number, at), value in self.workers.run(self.function, list_jobs()):
            batch = waiting[number - n_closed]
            batch.put(at, value)
            self.advance(self._count_fits(batch, [at]))
            while waiting and not waiting[0].n_left:
                n_closed += 1
                yield self._close(waiting.popleft())
        while waiting:
            yield self._close(waiting.popleft())

    def _open(self, given: JobList) -> Batch:
        """Return a batch with its stored results."""
        jobs, group_size = ([given], 1) if self.blocks else (given, JOBS_PER_RESULT)
        batch = Batch(given, jobs, group_size, self.results)
        batch.read_kept(self.function)
        return batch

    def _close(self, batch: Batch) -> tuple[Any, list[Any]]:
        self.n_reused += self._count_fits(batch, batch.kept)
        self.advance(self._count_fits(batch, batch.kept))
        return batch.given, batch.found

    def _count_fits(self, batch: Batch, numbers: list[int]) -> int:
        return sum(len(batch.jobs[at]) for at in numbers) if self.blocks else len(numbers)


@dataclass(eq=False, repr=False)
class Batch:
    """Some jobs and their results; groups of jobs are stored as one result."""

    given: JobList
    jobs: JobList
    group_size: int
    results: StoredResults | None
    kept: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.found: list[Any] = [None] * len(self.jobs)
        starts = range(0, len(self.jobs), self.group_size)
        self.groups = [range(s, min(s + self.group_size, len(self.jobs))) for s in starts]
        self.left_of = [len(group) for group in self.groups]
        self.n_left = len(self.jobs)
        self.keys: list[str] = []

    def read_kept(self, function: Callable[[Any], Any]) -> None:
        """Read the stored results; a result that cannot be read is computed again."""
        if self.results is None:
            return
        for number, group in enumerate(self.groups):
            jobs = [self.jobs[at] for at in group]
            self.keys.append(self.results.key(jobs))
            if self.keys[-1] in self.results:
                kept = self.results.get(self.keys[-1], partial(call_each, function, jobs))
                self.found[group.start : group.stop] = kept
                self.kept += group
                self.left_of[number] = 0
                self.n_left -= len(group)

    def list_left(self) -> Iterator[int]:
        """Yield the numbers of the remaining jobs."""
        for number, group in enumerate(self.groups):
            if self.left_of[number]:
                yield from group

    def put(self, at: int, value: Any) -> None:
        """Add the result of a job; store the results of its group when it is complete."""
        group = self.groups[at // self.group_size]
        self.found[at] = value
        self.n_left -= 1
        self.left_of[at // self.group_size] -= 1
        if self.results is not None and not self.left_of[at // self.group_size]:
            done = self.found[group.start : group.stop]
            key = self.keys[at // self.group_size]
            self.found[group.start : group.stop] = self.results.get(key, partial(list, done))


def call_each(function: Callable[[Any], Any], jobs: list[Any]) -> list[Any]:
    """Return ``function(job)`` of each job."""
    return [function(job) for job in jobs]


PACKAGE = Path(__file__).parents[1]

Named = tuple[Any, Any]
"""Name and job, or name and result of a job."""

CaughtWarning = tuple[type[Warning], str, str, int]
"""Category, text, file and line of a warning."""

Finished = Generator[tuple[Any, Any, list[CaughtWarning]], None, None]
"""Names, results and warnings of jobs."""

SECONDS_TO_LOSE = 1.0
"""If a backend returns only whole rounds of jobs, rounds are doubled until they take this time."""


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


@dataclass(eq=False, repr=False)
class Workers:
    """Runs jobs through joblib, with any backend.

    Attributes
    ----------
    n_jobs, verbose, batch_size
        As in `joblib.Parallel`.
    """

    n_jobs: int | None
    verbose: int
    batch_size: int | str

    def run(self, function: Callable[[Any], Any], jobs: Iterable[Named]) -> Iterator[Named]:
        """Yield (name, ``function(job)``) for each (name, job), as it completes.

        Some backends consume the iterable in other threads, where an error raised by it would be
        lost. Such an error is raised here after the jobs sent before it are done. Each warning of
        the jobs is shown once, with its count.
        """
        shared_tally = _tally.get()
        tally = Tally() if shared_tally is None else shared_tally
        with shared_with_workers(function) as shared:
            source = Source(shared, jobs)
            results = self._start(source)
            try:
                for name, value, caught_warnings in results:
                    tally.add(caught_warnings)
                    yield name, value
            except GeneratorExit:  # the caller needs no more results
                if shared_tally is None:
                    tally.warn()
                raise
            finally:
                with ignored_warnings():  # joblib warns if results are left over
                    results.close()
            if source.error is not None:
                raise source.error
        if shared_tally is None:
            tally.warn()

    def _start(self, source: Source) -> Finished:
        try:
            parallel = self._open("generator_unordered")
        except ValueError:  # the backend returns nothing before everything is done
            return self._run_in_rounds(source)
        results: Finished = parallel(source)
        return results

    def _open(self, return_as: str) -> Parallel:
        options = {"verbose": self.verbose, "batch_size": self.batch_size}
        parallel = Parallel(n_jobs=self.n_jobs, return_as=return_as, **options)
        # joblib's messages need it, and it is not set if sequential jobs are interrupted
        vars(parallel).setdefault("_pre_dispatch_amount", 0)
        return parallel

    def _run_in_rounds(self, source: Source) -> Finished:
        size = effective_n_jobs(self.n_jobs)
        with self._open("list") as parallel:
            while jobs := list(islice(source, size)):
                start = time.monotonic()
                yield from parallel(jobs)
                if time.monotonic() - start < SECONDS_TO_LOSE:
                    size *= 2


class Source:
    """Iterator over the jobs for joblib; an error ends it and is stored."""

    def __init__(self, function: Callable[[Any], Any], jobs: Iterable[Named]) -> None:
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


_held: dict[str, Callable[[Any], Any]] = {}
"""Functions sent to this process, by name."""


@dataclass(frozen=True)
class HeldFunction:
    """Placeholder for a function that each worker already has.

    Parallel work of an estimator within a job runs in threads, as in joblib's own processes.
    Otherwise joblib would send this work, with its data, over the cluster for every fit.
    """

    name: str

    def __call__(self, job: Any) -> Any:
        with parallel_config(backend="threading", n_jobs=1):
            return _held[self.name](job)


@contextmanager
def shared_with_workers(function: Callable[[Any], Any]) -> Iterator[Callable[[Any], Any]]:
    """Yield the function to send with every job, on a cluster its placeholder."""
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)  # of Dask
    if client is None or effective_n_jobs() == 1:
        yield function
        return
    from distributed import WorkerPlugin

    name = f"skeval-{uuid4().hex}"
    plugin: Any = WorkerPlugin()
    plugin.setup = lambda worker: hold(name, function)
    plugin.teardown = lambda worker: release(name)
    hold(name, function)  # joblib runs jobs here if the cluster shrinks to one worker
    client.register_plugin(plugin, name=name)
    try:
        yield HeldFunction(name)
    finally:
        release(name)
        client.unregister_worker_plugin(name)


def hold(name: str, function: Callable[[Any], Any]) -> None:
    """Store a function for the jobs of a run."""
    _held[name] = function


def release(name: str) -> None:
    """Remove the function of a run that is over."""
    _held.pop(name, None)
