"""One call of joblib for a whole run: the function and its data go to each worker once."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from threading import current_thread, main_thread
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from skeval._resampling.shared import shared_with_workers
from skeval.utils._checks import warn_user

__all__ = ["Workers", "tallied_warnings"]

Named = tuple[Any, Any]
"""A name and a job, or a name and the result of a job."""

Told = tuple[type[Warning], str]
"""A warning: its category and its text."""

Results = Generator[tuple[Any, Any, list[Told]], None, None]
"""The names and results of jobs, and what they warned of."""

SECONDS_TO_LOSE = 1.0
"""Where results do not come one by one, rounds of jobs that take less time grow."""


def run_job(function: Callable[[Any], Any], name: Any, job: Any) -> tuple[Any, Any, list[Told]]:
    """Return the name of a job, its result, and what it warned of.

    The filters of warnings belong to the process, so a thread leaves them as they are.
    """
    if current_thread() is not main_thread():
        return name, function(job), []
    with warnings.catch_warnings(record=True) as caught:
        value = function(job)
    return name, value, [(each.category, str(each.message)) for each in caught]


class Tally:
    """Counts the warnings of jobs: those that differ in numbers alone are one."""

    def __init__(self) -> None:
        self.first: dict[Told, str] = {}
        self.counts: Counter[Told] = Counter()

    def add(self, told: Iterable[Told]) -> None:
        """Count some warnings."""
        for category, text in told:
            alike = category, re.sub(r"\d[\d.e+-]*", "#", text)
            self.first.setdefault(alike, text)
            self.counts[alike] += 1

    def warn(self) -> None:
        """Warn once of each kind, with the number of times."""
        for (category, alike), count in self.counts.items():
            text = self.first[category, alike]
            warn_user(text if count == 1 else f"{count} times in fits: {text}", category)


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


@contextmanager
def tallied_warnings() -> Iterator[None]:
    """Count the warnings of all fits within this context together, and tell them at its end."""
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
    """Runs jobs through joblib, no backend forced.

    Attributes
    ----------
    n_jobs, verbose, batch_size
        As in `joblib.Parallel`.
    """

    n_jobs: int | None
    verbose: int
    batch_size: int | str

    def run(self, function: Callable[[Any], Any], jobs: Iterable[Named]) -> Iterator[Named]:
        """Yield (name, ``function(job)``) of each (name, job), as soon as it is there.

        Some backends take jobs from the iterable in other threads, and an error of its own there
        would be lost: it is raised when what was sent before is done. What the jobs warned of is
        told once, with the number of times.
        """
        shared_tally = _tally.get()
        tally = Tally() if shared_tally is None else shared_tally
        with shared_with_workers(function) as shared:
            source = Source(shared, jobs)
            try:
                yield from self._run(source, tally)
            except GeneratorExit:  # whoever asked needs no more
                if shared_tally is None:
                    tally.warn()
                raise
            if source.error is not None:
                raise source.error
        if shared_tally is None:
            tally.warn()

    def _run(self, source: Source, tally: Tally) -> Iterator[Named]:
        with closing_in_silence(self._start(source)) as results:
            for name, value, told in results:
                tally.add(told)
                yield name, value

    def _start(self, source: Source) -> Results:
        try:
            parallel = self._open("generator_unordered")
        except ValueError:  # the backend returns nothing before everything is done
            return self._run_in_rounds(source)
        results: Results = parallel(source)
        return results

    def _open(self, return_as: str) -> Parallel:
        options = {"verbose": self.verbose, "batch_size": self.batch_size}
        parallel = Parallel(n_jobs=self.n_jobs, return_as=return_as, **options)
        # joblib's lines ask for it, and jobs that run one by one and are cut off never set it.
        vars(parallel).setdefault("_pre_dispatch_amount", 0)
        return parallel

    def _run_in_rounds(self, source: Source) -> Results:
        size = effective_n_jobs(self.n_jobs)
        with self._open("list") as parallel:
            while jobs := list(islice(source, size)):
                start = time.monotonic()
                yield from parallel(jobs)
                if time.monotonic() - start < SECONDS_TO_LOSE:
                    size *= 2


class Source:
    """What joblib takes jobs from; an error ends it, and is kept."""

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


@contextmanager
def closing_in_silence(results: Results) -> Iterator[Results]:
    """Close results that are not wanted any more, of which joblib would warn."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()
