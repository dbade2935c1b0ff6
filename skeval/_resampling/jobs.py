"""Jobs through joblib: side by side, with a progress bar, and kept when they are finished."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from skeval._resampling.cache import Results
from skeval._resampling.callbacks import jobs_task
from skeval._resampling.progress import progress_bar
from skeval._resampling.workers import Workers
from skeval.utils._checks import check_jobs

__all__ = ["Jobs", "open_jobs"]

JOBS_PER_RESULT = 4
"""Jobs that are kept as one result: writing takes 2 ms, so 0.5 ms a job."""

FITS_OF_RESULT = 256
"""Fits of one result where many are done at once in the calling process."""


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

    With `blocks` a job is a block of many fits, which is sent and kept by itself. `total` is the
    number of fits.
    """
    check_jobs(n_jobs, verbose)
    results = None if memory is None else Results(memory, function)
    verbose = verbose if total > 1 else 0
    with progress_bar(total, verbose) as bar, jobs_task(total) as tell:
        lines = verbose if bar is None else max(0, verbose - 1)  # that joblib prints
        listeners = [listen for listen in (bar and bar.update, tell) if listen is not None]
        workers = Workers(n_jobs, lines, 1 if blocks else "auto")
        yield Jobs(function, workers, results, listeners, blocks)


@dataclass(eq=False, repr=False)
class Jobs:
    """Runs jobs; `results` keeps what is finished, unless it is None.

    `listeners` are told how many more fits are done.
    """

    function: Callable[[Any], Any]
    workers: Workers
    results: Results | None
    listeners: Sequence[Callable[[int], object]]
    blocks: bool

    def __call__(self, jobs: Iterable[Any]) -> list[Any]:
        """Return ``function(job)`` of each job, in the order given."""
        ((_, found),) = self.stream([list(jobs)])
        return found

    @property
    def max_fits(self) -> int | None:
        """Most fits that `do_here` takes; None where none is shown or kept."""
        return FITS_OF_RESULT if self.listeners or self.results is not None else None

    def do_here(self, function: Callable[[Any], Any], fits: Any) -> Any:
        """Return ``function(fits)``, which does many fits at once in this process."""
        if self.results is None:
            return function(fits)
        return self.results.get(self.results.key(("here", fits)), partial(function, fits))

    def advance(self, n_fits: int) -> None:
        """Tell that more fits are done."""
        for tell in self.listeners:
            tell(n_fits)

    def stream(self, batches: Iterable[JobList]) -> Iterator[tuple[Any, list[Any]]]:
        """Yield each batch of jobs with its results, in the order given.

        The jobs of all batches are sent in one call, but for batches of which nothing is left to
        do: those are handed out before the next is made, so memory does not grow with them.
        """
        source = map(self._open, batches)
        for batch in source:
            if batch.n_left:
                yield from self._run(batch, source)
            else:
                yield self._close(batch)

    def _run(self, first: Batch, source: Iterator[Batch]) -> Iterator[tuple[Any, list[Any]]]:
        """Yield a batch and those after it, up to one of which nothing is left to do."""
        waiting, n_closed = deque([first]), 0

        def list_jobs() -> Iterator[tuple[Any, Any]]:
            number, batch = 0, first
            while batch.n_left:
                for at in batch.list_left():
                    yield (number, at), batch.jobs[at]
                following = next(source, None)
                if following is None:
                    return
                number, batch = number + 1, following
                waiting.append(batch)

        for (number, at), value in self.workers.run(self.function, list_jobs()):
            batch = waiting[number - n_closed]
            batch.put(at, value)
            self._advance(batch, [at])
            while waiting and not waiting[0].n_left:
                n_closed += 1
                yield self._close(waiting.popleft())
        while waiting:
            yield self._close(waiting.popleft())

    def _open(self, jobs: JobList) -> Batch:
        """Return a batch with the results that are kept."""
        batch = Batch(jobs, 1 if self.blocks else JOBS_PER_RESULT, self.results)
        batch.read_kept(self.function)
        return batch

    def _close(self, batch: Batch) -> tuple[Any, list[Any]]:
        self._advance(batch, batch.kept)
        return batch.jobs, batch.found

    def _advance(self, batch: Batch, numbers: list[int]) -> None:
        self.advance(sum(len(batch.jobs[at]) for at in numbers) if self.blocks else len(numbers))


@dataclass(eq=False, repr=False)
class Batch:
    """Some jobs and what is found of them; groups of them are kept as one result."""

    jobs: JobList
    group_size: int
    results: Results | None
    kept: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.found: list[Any] = [None] * len(self.jobs)
        starts = range(0, len(self.jobs), self.group_size)
        self.groups = [range(s, min(s + self.group_size, len(self.jobs))) for s in starts]
        self.left_of = [len(group) for group in self.groups]
        self.n_left = len(self.jobs)
        self.keys: list[str] = []

    def read_kept(self, function: Callable[[Any], Any]) -> None:
        """Read the results that are kept; one that cannot be read is computed again."""
        if self.results is None:
            return
        for number, group in enumerate(self.groups):
            jobs = [self.jobs[at] for at in group]
            self.keys.append(self.results.key(jobs))
            if self.keys[-1] in self.results:
                found = self.results.get(self.keys[-1], partial(call_each, function, jobs))
                self.found[group.start : group.stop] = found
                self.kept += group
                self.left_of[number] = 0
                self.n_left -= len(group)

    def list_left(self) -> Iterator[int]:
        """Yield the numbers of the jobs that are to be done."""
        for number, group in enumerate(self.groups):
            if self.left_of[number]:
                yield from group

    def put(self, at: int, value: Any) -> None:
        """Take the result of a job; keep those of its group when all are there."""
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
