"""One call of joblib for a whole run: the function and its data go to each worker once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from skeval._resampling.shared import shared_with_workers

__all__ = ["Workers"]

Named = tuple[Any, Any]
"""A name and a job, or a name and the result of a job."""

SECONDS_TO_LOSE = 1.0
"""Where results do not come one by one, rounds of jobs that take less time grow."""


def run_job(function: Callable[[Any], Any], name: Any, job: Any) -> Named:
    """Return the name of a job and its result."""
    return name, function(job)


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
        would be lost: it is raised when what was sent before is done.
        """
        with shared_with_workers(function) as shared:
            source = Source(shared, jobs)
            yield from self._run(source)
            if source.error is not None:
                raise source.error

    def _run(self, source: Source) -> Iterator[Named]:
        with closing_in_silence(self._start(source)) as results:
            for result in results:  # noqa: UP028 (`yield from` would close the results by itself)
                yield result

    def _start(self, source: Source) -> Generator[Named, None, None]:
        try:
            parallel = self._open("generator_unordered")
        except ValueError:  # the backend returns nothing before everything is done
            return self._run_in_rounds(source)
        results: Generator[Named, None, None] = parallel(source)
        return results

    def _open(self, return_as: str) -> Parallel:
        options = {"verbose": self.verbose, "batch_size": self.batch_size}
        parallel = Parallel(n_jobs=self.n_jobs, return_as=return_as, **options)
        # joblib's lines ask for it, and jobs that run one by one and are cut off never set it.
        vars(parallel).setdefault("_pre_dispatch_amount", 0)
        return parallel

    def _run_in_rounds(self, source: Source) -> Generator[Named, None, None]:
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
def closing_in_silence(results: Generator[Named, None, None]) -> Iterator[Iterable[Named]]:
    """Close results that are not wanted any more, of which joblib would warn."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()
