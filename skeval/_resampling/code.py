"""The code of functions and classes as texts, the same in every process that runs it."""

from __future__ import annotations

import inspect
import sys
from functools import partial
from pathlib import Path
from types import CellType, CodeType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any

import joblib
import numpy as np

__all__ = ["describe_code", "find_version", "read_source"]

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
