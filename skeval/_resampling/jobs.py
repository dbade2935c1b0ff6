"""Parallel jobs through joblib, with a progress bar and a cache of finished jobs.

A run of jobs is one call of joblib, which sends the shared data to each worker once. joblib's own
processes map large arrays from files, and on a Dask cluster joblib sends a large function, with
its data, to one worker, from which the others fetch it. The cache is a `joblib.Memory`, with the
code of the task as part of the key.
"""

from __future__ import annotations

import os
import pickle
import re
import sys
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock, current_thread, main_thread
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, Protocol

import joblib
import numpy as np
from joblib import Parallel, delayed, parallel_config
from joblib.hashing import NumpyHasher
from joblib.parallel import get_active_backend
from sklearn.utils.validation import check_memory

from skeval._resampling.progress import follow_jobs, tell
from skeval.utils._checks import check_jobs, ignored_warnings, warn_user


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
    # cache, displays and workers
    check_jobs(n_jobs, verbose)
    results = None if memory is None else StoredResults(memory, function)
    with follow_jobs(total, verbose if total > 1 else 0) as (listeners, lines):
        options = {"n_jobs": n_jobs, "verbose": lines, "batch_size": 1 if blocks else "auto"}
        jobs = Jobs(function, options, results, listeners, blocks)
        yield jobs
    if verbose and jobs.n_reused:
        tell(f"skeval reused {jobs.n_reused} of {total} fits that were kept by memory=")


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
            waiting = deque([first])

            def list_jobs(batch: Batch, waiting: deque[Batch]) -> Iterator[Any]:
                while batch.left:  # joblib pulls jobs, and thereby opens the next batches
                    yield from [batch.jobs[at] for at in batch.left]
                    following = next(source, None)
                    if following is None:
                        return
                    batch = following
                    waiting.append(batch)

            # results arrive in the order of the jobs
            calls = list_jobs(first, waiting)
            for value in run_jobs(self.function, calls, self.options) if first.left else ():
                batch = waiting[0]
                at = batch.left.popleft()
                batch.values[at] = value
                if self.results is not None:
                    batch.values[at] = self.results.keep(batch.keys[at], value)
                self.advance(len(batch.jobs[at]) if self.blocks else 1)
                if not batch.left:
                    yield batch.given, batch.values
                    waiting.popleft()
            for batch in waiting:
                yield batch.given, batch.values

    def _open(self, given: JobList) -> Batch:
        """Return a batch with its stored results; an unreadable result is computed again."""
        jobs: Any = [given] if self.blocks else given
        batch = Batch(given, jobs, [None] * len(jobs), [], deque(range(len(jobs))))
        if self.results is None:
            return batch
        batch.left.clear()
        for at in range(len(jobs)):
            key = self.results.key(jobs[at])
            batch.keys.append(key)
            if key not in self.results:
                batch.left.append(at)
                continue
            batch.values[at] = self.results.get(key, partial(self.function, jobs[at]))
            n_fits = len(jobs[at]) if self.blocks else 1
            self.n_reused += n_fits
            self.advance(n_fits)
        return batch


class Batch(NamedTuple):
    """Some jobs, their results, their keys in the cache, and the numbers of those left to do."""

    given: JobList
    jobs: Any
    values: list[Any]
    keys: list[str]
    left: deque[int]


PACKAGE = Path(__file__).parents[1]

CaughtWarning = tuple[type[Warning], str, str, int]
"""Category, text, file and line of a warning."""


def run_job(function: Callable[[Any], Any], job: Any) -> tuple[Any, list[CaughtWarning]]:
    """Return the result of a job and its warnings.

    Warning filters belong to the process, so a thread does not change them.
    """
    if current_thread() is not main_thread():
        return function(job), []
    with warnings.catch_warnings(record=True) as caught:
        value = function(job)
    return value, [(w.category, str(w.message), w.filename, w.lineno) for w in caught]


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

    def __init__(self, function: Callable[[Any], Any], jobs: Iterable[Any]) -> None:
        self.error: Exception | None = None
        call = delayed(run_job)
        self._calls = (call(function, job) for job in jobs)

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
    function: Callable[[Any], Any], jobs: Iterable[Any], options: dict[str, Any]
) -> Iterator[Any]:
    """Yield ``function(job)`` for each job, in order.

    An error raised by the iterable is raised here after the jobs sent before it are done. Each
    warning of the jobs is shown once, with its count.
    """
    shared_tally = _tally.get()
    tally = Tally() if shared_tally is None else shared_tally
    if hasattr(get_active_backend()[0], "client"):  # of Dask
        function = SharedFunction(function)
    # send the jobs, and read results as they arrive
    source = Source(function, jobs)
    try:
        parallel = Parallel(return_as="generator", **options)
    except ValueError:  # the backend returns nothing before everything is done
        parallel = Parallel(**options)
    # joblib's messages need it, and it is not set if sequential jobs are interrupted
    vars(parallel).setdefault("_pre_dispatch_amount", 0)
    results = iter(parallel(source))
    try:
        for value, caught_warnings in results:
            tally.add(caught_warnings)
            yield value
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


OF_CODE = (
    "co_code co_consts co_names co_varnames co_freevars co_argcount co_posonlyargcount "
    "co_kwonlyargcount co_flags co_exceptiontable"
)
"""Attributes of compiled code that determine its results, unlike file and line numbers."""

OF_MEMBER = "__func__ __wrapped__ fget fset fdel func args keywords"
"""Attributes of methods, properties, partial functions and cached ones that contain functions."""

DATA = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, slice)


class StoredResults:
    """Stored results of the parts of one task.

    The key of a result is the hash of the task (functions, estimator, data), computed once, and
    of the part.
    """

    def __init__(self, memory: Any, task: Any) -> None:
        memory = os.fspath(memory) if isinstance(memory, os.PathLike) else memory
        self._memory = check_memory(memory).cache(compute_result, ignore=["compute"])
        try:
            self._task = TaskHasher().hash(task)
        except (pickle.PicklingError, AttributeError) as error:
            raise TypeError(
                f"memory needs an estimator, scoring and data that can be pickled: {error}"
            ) from error
        self._lock = Lock()  # threads of workers read results that the main thread writes

    def key(self, part: Any) -> str:
        """Return the key of a part of the task."""
        digest: str = joblib.hash((self._task, part), coerce_mmap=True)
        return digest

    def __contains__(self, key: str) -> bool:
        with self._lock:
            return bool(self._memory.check_call_in_cache(None, key))

    def keep(self, key: str, value: Any) -> Any:
        """Store a result and return it."""
        return self.get(key, lambda: value)

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return a result; compute and store it if there is no readable one."""
        with self._lock:
            entry = self._memory(compute, key)
            # a readable entry of something else is replaced
            if not (type(entry) is tuple and len(entry) == 2 and entry[0] == key):
                self._memory.call_and_shelve(compute, key).clear()
                entry = self._memory(compute, key)
            return entry[1]  # of (key, result)


def compute_result(compute: Callable[[], Any], key: str) -> tuple[str, Any]:
    """Return what `joblib.Memory` stores under a key: the key and the result."""
    return key, compute()


class TaskHasher(NumpyHasher):
    """The hash of `joblib.hash`, with the code of functions and classes instead of their names.

    An installed package contributes its version. Any other function contributes its compiled code,
    defaults and closure, and a class its bases and members: the source may have changed since it
    was compiled, and a program may change defaults and attributes.
    """

    def __init__(self) -> None:
        super().__init__(coerce_mmap=True)
        self._expanded: set[int] = set()

    def save(self, obj: Any) -> None:
        """Add a value to the hash."""
        try:
            super().save(self._expand(obj))
        except TypeError as error:  # joblib would leave the value out of the hash of a dict
            raise pickle.PicklingError(str(error)) from error

    def _expand(self, value: Any) -> Any:
        """Return the parts of functions, classes and code to hash; other values unchanged."""
        if isinstance(value, frozenset):
            return set(value)  # joblib sorts the members of sets
        if isinstance(value, ModuleType):
            return value.__name__
        if isinstance(value, CodeType):
            return [getattr(value, name) for name in OF_CODE.split()]
        if not isinstance(value, type | FunctionType):
            return value
        # code of a package is known by its version
        name, version = f"{value.__module__}.{value.__qualname__}", find_version(value)
        if version is not None or id(value) in self._expanded:
            return [name, version]
        self._expanded.add(id(value))
        if isinstance(value, type):
            return [name, value.__bases__, list_members(value)]
        captured = [cell.cell_contents for cell in value.__closure__ or ()]
        return [name, value.__code__, value.__defaults__, value.__kwdefaults__, captured]


def find_version(code: Any) -> str | None:
    """Return the package version of a function or class, or None if its code may be edited.

    For skeval the version is always returned, because processes may import it from different
    places.
    """
    package = (code.__module__ or "").partition(".")[0]
    if package in sys.stdlib_module_names:
        return sys.version
    module = sys.modules.get(package)
    version = getattr(module, "__version__", None)
    folders = Path(getattr(module, "__file__", None) or "").parts
    installed = package == "skeval" or bool({"site-packages", "dist-packages"} & set(folders))
    return str(version) if version and installed else None


def list_members(value: type) -> list[tuple[str, Any]]:
    """Return the functions, classes and data among the members of a class, by name."""
    members = []
    for name, member in sorted(vars(value).items()):
        special = name.startswith("__") and name.endswith("__")
        if not (special and isinstance(member, DATA)):
            members.append((name, unwrap(member)))
    return members


def unwrap(member: Any) -> Any:
    """Return a member of a class if it can be hashed, or the functions inside it."""
    if isinstance(member, (type, FunctionType, np.ndarray, np.generic, *DATA)):
        return member
    return [getattr(member, name, None) for name in OF_MEMBER.split()]
