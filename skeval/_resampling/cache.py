"""Results that outlive the run: finished work, kept through `joblib.Memory`.

A result is found again under the hash of its task, and of the code that the task refers to, as
texts that are the same in every process that runs it.
"""

from __future__ import annotations

import inspect
import io
import os
import pickle
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from types import CellType, CodeType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any

import joblib
import numpy as np
from sklearn.utils.validation import check_memory

__all__ = ["Results", "describe_code", "find_version", "read_source"]


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


CONSTANTS = (NoneType, EllipsisType, bool, int, float, complex, str, bytes)
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
DATA = (*CONSTANTS, list, tuple, dict, set, frozenset, slice, np.ndarray, np.generic)


def find_version(code: Any) -> tuple[str, str] | None:
    """Return package and version of a function or class, None where its code may be edited.

    skeval goes by its version wherever it lies: processes may import it from different places.
    """
    package = (code.__module__ or "").partition(".")[0]
    module = sys.modules.get(package)
    version = getattr(module, "__version__", None)
    folders = Path(getattr(module, "__file__", None) or "").parts
    installed = package == "skeval" or bool({"site-packages", "dist-packages"} & set(folders))
    return (package, str(version)) if version and installed else None


def read_source(code: Any) -> str:
    """Return the source of a function or class, where Python knows it."""
    try:
        return inspect.getsource(code)
    except (OSError, TypeError):
        return ""


def describe_code(value: Any, *, above: frozenset[int] = frozenset()) -> str:
    """Return the compiled code of a function, or of all functions of a class.

    Its defaults, closures and class attributes, which may change while a program runs, are in it;
    no address, file, line or order of a set is.
    """
    if type(value) in CONSTANTS:
        return repr(value)
    if id(value) in above:
        return "recursion"
    inner = partial(describe_code, above=above | {id(value)})
    if isinstance(value, type):
        parts = [] if above else describe_members(value)
    elif isinstance(value, set | frozenset):
        parts = sorted(map(inner, value))
    elif isinstance(value, np.ndarray | np.generic) and value.dtype != object:
        parts = [str(joblib.hash(value, coerce_mmap=True))]
    else:
        parts = [inner(part) for part in list_contents(value)]
    return f"{name_value(value)}({', '.join(parts)})"


def name_value(value: Any) -> str:
    """Return the name of a class or module, of anything else that of its type."""
    if isinstance(value, ModuleType):
        return value.__name__
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def describe_members(value: type) -> list[str]:
    """Return the code of each member of a class."""
    texts = []
    for name, member in sorted(vars(value).items()):
        inside = f"{value.__qualname__}."
        nested = isinstance(member, type) and member.__qualname__.startswith(inside)
        above = frozenset() if nested else frozenset([id(value)])
        special = name.startswith("__") and name.endswith("__")
        if not (special and isinstance(member, DATA)):
            texts.append(f"{name}={describe_code(member, above=above)}")
    return texts


def list_contents(value: Any) -> list[Any]:
    """Return what a function, code object, collection or wrapper consists of."""
    match value:
        case ModuleType():
            return []
        case CodeType():
            return [getattr(value, name) for name in OF_CODE]
        case FunctionType():
            captured = [cell_value(cell) for cell in value.__closure__ or ()]
            return [value.__code__, value.__defaults__, value.__kwdefaults__, *captured]
        case list() | tuple():
            return list(value)
        case dict():
            return list(value.items())
        case slice():
            return [value.start, value.stop, value.step]
        case staticmethod() | classmethod():
            return [value.__func__]
        case property():
            return [value.fget, value.fset, value.fdel]
        case partial():
            return [value.func, value.args, value.keywords]
    held = getattr(value, "__dict__", {}).values()
    return [part for part in held if isinstance(part, FunctionType)]


def cell_value(cell: CellType) -> Any:
    """Return the value in a cell of a closure, None where the cell is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
