"""Where a report comes from: what was called, with which versions."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from datetime import date
from textwrap import indent
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
from sklearn.utils import column_or_1d

from skeval._version import __version__
from skeval.report._source import SourceWriter
from skeval.utils._checks import naming

__all__ = [
    "check_feature_names",
    "count_columns",
    "describe_run",
    "write_estimator",
]

DATA = ("estimator", "clusterer", "X", "y")
NO_SETTING = {*DATA, "n_jobs", "verbose", "memory"}


def check_feature_names(X: Any, feature_names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the names of the columns of X as given, or else those of a data frame."""
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
    """Return the number of columns of X, or None where its samples are no rows but, say, texts."""
    try:
        shape = np.shape(X)
    except ValueError:  # rows that differ in length
        return None
    return shape[1] if len(shape) > 1 else None


def _read_versions() -> dict[str, str]:
    """Return the versions of all that the numbers depend on."""
    modules = {"scikit-learn": sklearn, "numpy": np, "scipy": scipy, "joblib": joblib}
    return {
        "skeval": __version__,
        **{name: module.__version__ for name, module in modules.items()},
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def write_estimator(estimator: Any) -> str:
    """Return the call that makes an estimator, in one line."""
    return SourceWriter(math.inf).write(estimator, "estimator")


def describe_run(function: str, arguments: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the fields of a report that say how it was made: by a function with its arguments.

    The estimator stands first among the arguments, then the data. What changes no number is left
    out.
    """
    writer = SourceWriter()
    settings = {
        name: writer.write(value, name)
        for name, value in (arguments | {"random_state": seed}).items()
        if name not in NO_SETTING
    }
    first, *data = [name for name in arguments if name in DATA and arguments[name] is not None]
    estimator = writer.write(arguments[first], first)
    data = [writer.need(arguments[name], name) for name in data]
    lines = [f"    {each}," for each in (first, *data)]
    lines += [f"{indent(f'{name}={value}', '    ')}," for name, value in settings.items()]
    needed = [f"# {name}: {what}" for name, what in writer.needed.items()]
    call = [
        "# These must be there:",
        *sorted(needed),
        "",
        "import skeval",
        *writer.imports,
        "",
        f"{first} = {estimator}",
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
