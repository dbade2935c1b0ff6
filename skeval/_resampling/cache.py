"""Results that outlive the run: finished work, kept through `joblib.Memory`."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable
from threading import Lock
from types import FunctionType
from typing import Any

import joblib
import numpy as np
from sklearn.utils.validation import check_memory

from skeval._resampling.code import describe_code, find_version, read_source

__all__ = ["Results"]


def compute_result(compute: Callable[[], Any], key: str) -> Any:
    """Return what `joblib.Memory` is to keep under a key."""
    return compute()


class Results:
    """The results of the parts of one task.

    The key of a result is the hash of the task (functions, estimator, data), which is taken once,
    and of the part. What the code of the task was is in the key, too: see `CodeOf`.
    """

    def __init__(self, memory: Any, *task: Any) -> None:
        memory = os.fspath(memory) if isinstance(memory, os.PathLike) else memory
        self._memory = check_memory(memory).cache(compute_result, ignore=["compute"])
        self._task = hash_parts((CodeOf(task).found, task))
        self._lock = Lock()  # workers' threads read what the main thread writes

    def key(self, part: Any) -> str:
        """Return the key of a part of the task."""
        return hash_parts((self._task, part))

    def __contains__(self, key: str) -> bool:
        with self._lock:
            return bool(self._memory.check_call_in_cache(None, key))

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return a result; compute and keep it if there is none that can be read."""
        with self._lock:
            return self._memory(compute, key)


def hash_parts(parts: Any) -> str:
    """Return a hash of all values."""
    digest: str = joblib.hash(parts, coerce_mmap=True)
    return digest


class CodeOf(pickle.Pickler):
    """Finds the code that a task refers to, for a pickle holds no more than its names.

    Of what belongs to an installed package with a version, the version; of all other functions
    and classes, and of the bases of classes, the source, where Python knows it, and what it was
    compiled to, for the source may have been changed since; so may defaults of functions and
    attributes of classes.
    """

    def __init__(self, task: Any) -> None:
        super().__init__(io.BytesIO())
        self._found: set[tuple[str, ...]] = set()
        try:
            self.dump(task)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(
                "memory needs an estimator, scoring and data that can be pickled, which a lambda "
                f"or a local function cannot: {error}"
            ) from error
        self.found = sorted(self._found)

    def persistent_id(self, value: Any) -> str | None:
        """Leave out arrays, which hold no code."""
        return "array" if type(value) is np.ndarray and value.dtype != object else None

    def reducer_override(self, value: Any) -> Any:
        """Collect the code of a function or class, and pickle it as usual."""
        if isinstance(value, type | FunctionType):
            for code in value.__mro__ if isinstance(value, type) else [value]:
                found: tuple[str, ...] | None = find_version(code)
                if found is None:
                    found = code.__qualname__, read_source(code), describe_code(code)
                self._found.add(found)
        return NotImplemented
