"""Source text that reproduces a report."""

from __future__ import annotations

import ast
import inspect
import math
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from importlib import import_module
from keyword import iskeyword
from textwrap import indent, shorten
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
from sklearn.utils import column_or_1d

from skeval._version import __version__
from skeval.utils._checks import naming

PLAIN = (type(None), bool, int, float, complex, str, bytes, range)
WIDTH, MAX_NAME = 80, 60
MAX_LIST, MAX_ARRAY = 50, 10
BRACKETS = {list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}")}


def describe_kind(value: Any) -> str:
    """Describe a value that cannot be written: its type and, if it has one, its size."""
    name = type(value).__name__
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{name} of shape {shape}"
    return f"{name} of length {len(value)}" if hasattr(value, "__len__") else name


class SourceWriter:
    """Writer of values as source text, with the imports they need.

    The text has no addresses of objects. Values that cannot be written, such as large arrays and
    functions outside modules, are replaced by the name of the argument and listed in `needed`.

    Parameters
    ----------
    width : float, default=80
        Maximum line length; longer lists and calls are written on several lines.

    Attributes
    ----------
    needed : dict of str to str
        Names that the reader must define, with descriptions.
    """

    def __init__(self, width: float = WIDTH) -> None:
        self.needed: dict[str, str] = {}
        self._width = width
        self._modules: dict[str, str] = {}
        self._meant: dict[str, Any] = {}

    @property
    def imports(self) -> list[str]:
        """Import statements for the names in the text."""
        statements = [f"from {module} import {name}" for name, module in self._modules.items()]
        return sorted(statements, key=lambda line: line.split()[1:])

    def write(self, value: Any, name: str) -> str:
        """Return the source text of the value of an argument."""
        if isinstance(value, np.generic):
            value = value.item()
        if type(value) in PLAIN:
            return _write_plain(value)
        if type(value) in BRACKETS and len(value) <= MAX_LIST and value != set():
            return self._write_items(value, name)
        if type(value) is dict and len(value) <= MAX_LIST:
            items = [f"{key!r}: {self.write(item, str(key))}" for key, item in value.items()]
            return self._join("{", items, "}")
        if _is_short_array(value):
            return f"{self._import('array', 'numpy')}({self.write(value.tolist(), name)})"
        if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
            return self._write_reference(value, name)
        return self._write_object(value, name)

    def need(self, value: Any, name: str) -> str:
        """Return a name for a value that the reader must define."""
        valid = name.isidentifier() and not iskeyword(name)
        name = self._find_name(value, name if valid else "value")
        self.needed[name] = describe_kind(value)
        return name

    def write_call(self, function: str, arguments: Mapping[str, str]) -> str:
        """Return a call with keyword arguments as source text."""
        return self._join(f"{function}(", [f"{k}={v}" for k, v in arguments.items()], ")")

    def _write_items(self, values: Iterable[Any], name: str) -> str:
        opening, closing = BRACKETS[type(values)]
        items = [self.write(value, name) for value in values]
        items = sorted(items) if isinstance(values, set) else items
        if isinstance(values, tuple) and len(items) == 1:
            return f"({items[0]},)"
        return self._join(opening, items, closing)

    def _write_reference(self, value: Any, name: str) -> str:
        """Return the name of a class or function, which is imported or listed as needed."""
        called = value.__name__
        if not called.isidentifier() and not isinstance(value, type):  # a lambda
            return self.need(value, name)
        module = _find_module(value)
        if module is not None and self._meant.setdefault(called, value) is value:
            return self._import(called, module)
        name = self._find_name(value, called)
        self.needed[name] = f"{called} of {getattr(value, '__module__', 'your program')}"
        return name

    def _write_object(self, value: Any, name: str) -> str:
        """Return the call that creates an object from its arguments."""
        arguments = _read_arguments(value)
        if arguments is None:
            return self.need(value, name)
        function = self._write_reference(type(value), name)
        return self.write_call(
            function, {key: self.write(argument, key) for key, argument in arguments.items()}
        )

    def _find_name(self, value: Any, stem: str) -> str:
        """Return a name that is unique to this value."""
        name, number = stem, 2
        while self._meant.setdefault(name, value) is not value:
            name, number = f"{stem}_{number}", number + 1
        return name

    def _import(self, name: str, module: str) -> str:
        if module != "builtins":
            self._modules[name] = module
        return name

    def _join(self, opening: str, items: list[str], closing: str) -> str:
        """Return items in brackets, on one line if they fit."""
        line = f"{opening}{', '.join(items)}{closing}"
        if len(line) <= self._width and "\n" not in line:
            return line
        rows = "".join(f"{item},\n" for item in items)
        return f"{opening}\n{indent(rows, '    ')}{closing}"


def _write_plain(value: Any) -> str:
    """Return a number or text; infinity and nan have no literals."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


def _is_short_array(value: Any) -> bool:
    """Whether a list of the elements of an array reproduces it."""
    if not isinstance(value, np.ndarray) or value.size > MAX_ARRAY or value.dtype == object:
        return False
    return bool(np.array(value.tolist()).dtype == value.dtype)


def _find_module(value: Any) -> str | None:
    """Return the module that a class or function is imported from, a public one if possible."""
    own = getattr(value, "__module__", None) or "numpy"  # a ufunc has no module
    if own == "__main__":
        return None
    parts = own.split(".")
    private = [place for place, part in enumerate(parts) if part.startswith("_")]
    for module in [".".join(parts[:place]) for place in private if place] + [own]:
        if getattr(_load(module), value.__name__, None) is value:
            return module
    return None


def _load(module: str) -> Any:
    """Return a module, or None if there is none of that name."""
    try:
        return sys.modules.get(module) or import_module(module)
    except Exception:  # a module that cannot be imported is skipped
        return None


def _read_arguments(value: Any) -> dict[str, Any] | None:
    """Return the arguments of an object, if available, without defaults."""
    try:
        parameters = inspect.signature(type(value)).parameters
    except (TypeError, ValueError):
        return None
    if hasattr(value, "get_params"):
        try:
            arguments = value.get_params(deep=False)
        except Exception:  # a third-party get_params must not fail the report
            return None
    elif hasattr(value, "get_n_splits"):  # splitters keep their arguments as scikit-learn's do
        names = [name for name in parameters if hasattr(value, name)]
        arguments = getattr(value, "cvargs", {}) | {name: getattr(value, name) for name in names}
        if not set(parameters) - {"cvargs", "kwargs"} <= set(arguments):
            return None
    else:
        return None
    return {
        name: argument
        for name, argument in arguments.items()
        if name not in parameters or not _is_same(argument, parameters[name].default)
    }


def _is_same(argument: Any, default: Any) -> bool:
    """Whether an argument has its default value; nan equals nan."""
    return argument is default or (
        type(argument) is type(default) and repr(argument) == repr(default)
    )


DATA = ("estimator", "clusterer", "X", "y", "y_true", "predictions")
NO_SETTING = {*DATA, "n_jobs", "verbose", "memory"}


def check_feature_names(X: Any, feature_names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the feature names, or the column names of a data frame."""
    names = getattr(X, "columns", None) if feature_names is None else feature_names
    n = count_columns(X)
    with naming("feature_names"):
        names = None if names is None else column_or_1d(names)
    if names is not None and len(names) != n:
        raise ValueError(
            f"feature_names must hold a name for each of {n or 'no'} features, got {len(names)}."
        )
    return None if names is None else tuple(str(name) for name in names)


def count_columns(X: Any) -> int | None:
    """Return the number of columns of X, or None if samples are not rows, such as texts."""
    try:
        shape = np.shape(X)
    except ValueError:  # rows of different length
        return None
    return shape[1] if len(shape) > 1 else None


def _read_versions() -> dict[str, str]:
    """Return the versions of packages that affect the results."""
    modules = {"scikit-learn": sklearn, "numpy": np, "scipy": scipy, "joblib": joblib}
    return {
        "skeval": __version__,
        **{name: module.__version__ for name, module in modules.items()},
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def write_estimator(estimator: Any) -> str:
    """Return the call that creates an estimator, on one line."""
    return SourceWriter(math.inf).write(estimator, "estimator")


def describe_run(function: str, arguments: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the fields of a report that reproduce it, from a function and its arguments.

    The estimator is the first argument, then the data. Arguments that do not change the results are
    omitted.
    """
    writer = SourceWriter()
    settings = {
        name: writer.write(value, name)
        for name, value in (arguments | {"random_state": seed}).items()
        if name not in NO_SETTING
    }
    first, *data = [name for name in arguments if name in DATA and arguments[name] is not None]
    no_estimator = first == "y_true"  # no estimator
    estimator = "" if no_estimator else writer.write(arguments[first], first)
    data = [writer.need(arguments[name], name) for name in ([first] if no_estimator else []) + data]
    lines = [f"    {line}," for line in data if no_estimator] or [
        f"    {line}," for line in (first, *data)
    ]
    lines += [f"{indent(f'{name}={value}', '    ')}," for name, value in settings.items()]
    needed = [f"# {name}: {what}" for name, what in writer.needed.items()]
    call = [
        "# These must be there:",
        *sorted(needed),
        "",
        "import skeval",
        *writer.imports,
        "",
        *([] if no_estimator else [f"{first} = {estimator}"]),
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


def name_steps(source: str) -> str:
    """Return the steps of an estimator as a short text, from its source text."""
    try:
        text = _name_call(ast.parse(source, mode="eval").body)
    except (SyntaxError, ValueError):  # a local class has no source text
        text = ""
    return shorten(text or source, MAX_NAME, placeholder=" …")


def _name_call(node: ast.AST) -> str:
    """Return the name of the called class, and those inside a pipeline or search."""
    if not isinstance(node, ast.Call):
        return ast.unparse(node)
    name = ast.unparse(node.func).rpartition(".")[2]
    held = {word.arg: word.value for word in node.keywords}
    held |= dict(zip(("steps" if name == "Pipeline" else "estimator",), node.args, strict=False))
    steps = held.get("steps")
    if isinstance(steps, ast.List):
        pairs = [pair.elts for pair in steps.elts if isinstance(pair, ast.Tuple)]
        return " → ".join(_name_call(step) for _, step in pairs)
    inner = held.get("estimator")
    return f"{name} of {_name_call(inner)}" if isinstance(inner, ast.Call) else name
