"""Description of a run: its settings, the versions, and a program that repeats it.

Values are written by their `repr`, estimators by that of scikit-learn. Arrays, functions and other
values that have no source text are named after their argument, and listed for the reader to define.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Iterator
from datetime import date
from importlib import import_module
from textwrap import indent, shorten
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from skeval._version import __version__

PLAIN = (type(None), bool, int, float, complex, str, bytes, range)
MAX_ITEMS, MAX_NAME, MAX_TEXT = 50, 60, 10**6
DATA = ("estimator", "clusterer", "X", "y", "y_true", "predictions")
RUN_OPTIONS = ("n_jobs", "verbose", "memory", "error_score", "confidence_level", "loss", "params")
"""Options of `evaluate` that `validate_inputs` has too."""
NO_SETTING = {*DATA, "n_jobs", "verbose", "memory"}


def describe_run(function: str, arguments: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the fields of a report that reproduce it, from a function and its arguments.

    An estimator is the first argument, then come the data. Arguments that do not change the results
    are omitted.
    """
    needed: dict[str, str] = {}
    imports = set[str]()
    settings = {
        name: _write_value(value, name, needed, imports)
        for name, value in (arguments | {"random_state": seed}).items()
        if name not in NO_SETTING
    }
    lines, before = [], []
    for name in [name for name in arguments if name in DATA and arguments[name] is not None]:
        if name in ("estimator", "clusterer"):
            text = _write_value(arguments[name], name, needed, imports)
            before += [f"{name} = {text}"] if text != name else []
        else:
            needed[name] = describe_kind(arguments[name])
        lines.append(f"    {name},")
    lines += [f"    {name}={value}," for name, value in settings.items()]
    call = [
        "# Define these first:",
        *sorted(f"# {name}: {kind}" for name, kind in needed.items()),
        "",
        "import skeval",
        *sorted(imports, key=lambda line: line.split()[1:]),
        "",
        *before,
        f"report = {function}(",
        *lines,
        ")",
        "print(report)",
    ]
    return {
        "seed": seed,
        "settings": settings,
        "versions": _read_versions(),
        "call": "\n".join(call),
        "date": date.today().isoformat(),
    }


def _write_value(value: Any, name: str, needed: dict[str, str], imports: set[str]) -> str:
    """Return the source text of an argument, or its name if the reader must define it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if _is_plain(value):
        return repr(value)
    if type(value) is dict and 0 < len(value) <= MAX_ITEMS:
        items = value.items()
        parts = [f"{key!r}: {_write_value(part, str(key), needed, imports)}" for key, part in items]
        return "{\n" + indent(",\n".join(parts), "    ") + ",\n}"
    called = getattr(value, "__name__", name)  # of a function
    name = next((text for text in (called, name) if text.isidentifier()), "value")
    if not _has_parts(value):
        needed[name] = describe_kind(value)
        return name
    text = _write_object(value)
    if "<" in text:  # a function or another object without source text
        needed[name] = write_estimator(value)
        return name
    imports |= {"from numpy import array"} if "array(" in text else set()
    for cls in {type(part) for part in _list_parts(value)}:
        module = _find_module(cls)
        if module is None:
            needed[cls.__name__] = f"class of {cls.__module__}"
        else:
            imports.add(f"from {module} import {cls.__name__}")
    return text


def _has_parts(value: Any) -> bool:
    """Whether a value is an estimator or a splitter."""
    has_arguments = hasattr(value, "get_params") or hasattr(value, "get_n_splits")
    return has_arguments and not isinstance(value, type)


def _is_plain(value: Any) -> bool:
    """Whether the `repr` of a value is its source text."""
    if type(value) in (list, tuple, set, dict) and len(value) <= MAX_ITEMS:
        items = value.items() if isinstance(value, dict) else value
        return all(map(_is_plain, items))
    return type(value) in PLAIN and not (isinstance(value, float) and not math.isfinite(value))


def describe_kind(value: Any) -> str:
    """Describe a value without source text: its type and, if it has one, its size."""
    name = type(value).__name__
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{name} of shape {shape}"
    return f"{name} of length {len(value)}" if hasattr(value, "__len__") else name


def _write_object(value: Any) -> str:
    """Return the `repr` of an estimator or splitter, with changed arguments and no address."""
    with sklearn.config_context(print_changed_only=True):
        text = value.__repr__(MAX_TEXT) if isinstance(value, BaseEstimator) else repr(value)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def write_estimator(estimator: Any) -> str:
    """Return the source text of an estimator, on one line."""
    return re.sub(r"\n\s*", " ", _write_object(estimator))


def name_steps(estimator: Any) -> str:
    """Return the steps of an estimator as a short text, such as StandardScaler → SVC."""
    text = type(estimator).__name__
    if isinstance(estimator, Pipeline):
        text = " → ".join(name_steps(step) for _, step in estimator.steps if hasattr(step, "fit"))
    elif hasattr(inner := getattr(estimator, "estimator", None), "fit"):
        text = f"{text} of {name_steps(inner)}"
    return shorten(text, MAX_NAME, placeholder=" …")


def _list_parts(value: Any) -> Iterator[Any]:
    """Yield an estimator or splitter and all in its parameters."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _list_parts(item)
    elif isinstance(value, dict):
        yield from _list_parts(list(value.values()))
    elif _has_parts(value):
        yield value
        if hasattr(value, "get_params"):
            yield from _list_parts(list(value.get_params(deep=False).values()))


def _find_module(cls: type) -> str | None:
    """Return the module that a class is imported from, a public one if possible."""
    parts = cls.__module__.split(".")
    private = [place for place, part in enumerate(parts) if part.startswith("_")]
    for module in [*(".".join(parts[:place]) for place in private if place), cls.__module__]:
        if getattr(import_module(module), cls.__name__, None) is cls and module != "__main__":
            return module
    return None


def _read_versions() -> dict[str, str]:
    """Return the versions of packages that affect the results."""
    modules = {"scikit-learn": sklearn, "numpy": np, "scipy": scipy, "joblib": joblib}
    return {
        "skeval": __version__,
        **{name: module.__version__ for name, module in modules.items()},
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
