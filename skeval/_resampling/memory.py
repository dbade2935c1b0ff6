"""Cache of finished work in a `joblib.Memory`, with the code of the task as part of the key."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import joblib
import numpy as np
from joblib.hashing import NumpyHasher
from sklearn.utils.validation import check_memory

OF_CODE = (
    "co_code",
    "co_consts",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
    "co_exceptiontable",
)
"""Attributes of compiled code that determine its results, unlike file and line numbers."""

DATA = (bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, slice)


class StoredResults:
    """StoredResults of the parts of one task.

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
            return [getattr(value, name) for name in OF_CODE]
        if not isinstance(value, type | FunctionType):
            return value
        name, version = f"{value.__module__}.{value.__qualname__}", find_version(value)
        if version is not None or id(value) in self._expanded:
            return [name, version]
        self._expanded.add(id(value))
        if isinstance(value, type):
            return [name, value.__bases__, list_members(value)]
        captured = [cell_value(cell) for cell in value.__closure__ or ()]
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
    match member:
        case type() | FunctionType() | np.ndarray() | np.generic():
            return member
        case staticmethod() | classmethod():
            return member.__func__
        case property():
            return [member.fget, member.fset, member.fdel]
        case partial():
            return [member.func, member.args, member.keywords]
    if isinstance(member, DATA):
        return member
    # cached properties, functions with a cache
    held = getattr(member, "__dict__", {}).values()
    return [part for part in held if isinstance(part, FunctionType)]


def cell_value(cell: CellType) -> Any:
    """Return the value in a cell of a closure, None if the cell is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
