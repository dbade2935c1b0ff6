"""Jobs through joblib: side by side, with a progress bar, and kept when they are finished."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from joblib import delayed, effective_n_jobs

from skeval._resampling.cache import Results
from skeval._resampling.callbacks import jobs_task
from skeval._resampling.progress import CountingParallel, progress_bar
from skeval.utils._checks import check_jobs

__all__ = ["Jobs", "open_jobs"]

JOBS_PER_RESULT = 4
"""Jobs that are kept as one result: writing takes 2 ms, so 0.5 ms a job."""

JOBS_PER_BATCH = 256
"""Jobs of one result where a solver does many at once; it gains little from more."""

SECONDS_TO_LOSE = 1.0
"""Jobs are sent out in rounds, and kept after each; rounds that take less time grow."""


@contextmanager
def open_jobs(
    function: Callable[..., Any],
    *shared: Any,
    total: int,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> Iterator["Jobs"]:
    """Open the workers, the bar and the memory for jobs ``function(*shared, job)``."""
    check_jobs(n_jobs, verbose)
    results = None if memory is None else Results(memory, function, *shared)
    verbose = verbose if total > 1 else 0
    with progress_bar(total, verbose) as bar, jobs_task(total) as tell:
        lines = verbose if bar is None else max(0, verbose - 1)  # that joblib prints
        listeners = [listen for listen in (bar and bar.update, tell) if listen is not None]
        with CountingParallel(listeners, n_jobs=n_jobs, verbose=lines) as parallel:
            yield Jobs(function, shared, parallel, results)


@dataclass(eq=False, repr=False)
class Jobs:
    """Runs jobs in the order given; `results` keeps what is finished, unless it is None."""

    function: Callable[..., Any]
    shared: tuple
    parallel: CountingParallel
    results: Results | None

    def __call__(self, jobs: Iterable[Any]) -> list[Any]:
        """Return ``function(*shared, job)`` of each job."""
        if self.results is None:
            return self._compute(jobs)
        jobs = list(jobs)
        starts = range(0, len(jobs), JOBS_PER_RESULT)
        groups = [jobs[start : start + JOBS_PER_RESULT] for start in starts]
        return self._resume(groups, self.results)

    @property
    def max_batch(self) -> int | None:
        """Most jobs that `batch` takes; None without a progress bar and without `memory`."""
        return None if self.results is None and not self.parallel.listeners else JOBS_PER_BATCH

    def batch(self, compute: Callable[[Any], Any], jobs: Any) -> Any:
        """Return ``compute(jobs)``, which does many jobs at once in this process."""
        if self.results is None:
            return compute(jobs)
        return self.results.get(self.results.key(("batch", jobs)), lambda: compute(jobs))

    def _compute(self, jobs: Iterable[Any]) -> list[Any]:
        return self.parallel(delayed(self.function)(*self.shared, job) for job in jobs)

    def _compute_here(self, jobs: list[Any]) -> list[Any]:
        return [self.function(*self.shared, job) for job in jobs]

    def _resume(self, groups: list[list[Any]], results: Results) -> list[Any]:
        """Return the kept results of some groups of jobs; compute and keep those of the rest."""
        keys = [results.key(group) for group in groups]
        found: list[Any] = [
            # A kept result that cannot be read is computed again.
            results.get(key, partial(self._compute_here, group)) if key in results else None
            for key, group in zip(keys, groups, strict=True)
        ]
        self.parallel.advance(sum(len(values) for values in found if values is not None))
        left = [g for g, values in enumerate(found) if values is None]
        size = effective_n_jobs(self.parallel.n_jobs)
        while left:
            start = time.monotonic()
            now, left = left[:size], left[size:]
            values = iter(self._compute(job for g in now for job in groups[g]))
            for g in now:
                done = [next(values) for _ in groups[g]]
                found[g] = results.get(keys[g], partial(list, done))
            if time.monotonic() - start < SECONDS_TO_LOSE:
                size *= 2
        return [value for values in found for value in values]
