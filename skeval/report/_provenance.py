"""Where a report comes from: what was called, with which versions."""

import platform
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d

from skeval._version import __version__
from skeval.utils._checks import naming

__all__ = [
    "check_feature_names",
    "count_columns",
    "describe_run",
    "write_call",
    "write_estimator",
    "write_settings",
]

LONGEST_ESTIMATOR = 20_000
LONGEST_LIST = 20
NO_SETTING = {"estimator", "clusterer", "X", "y", "n_jobs", "verbose", "memory"}


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
    """Return the estimator as it prints itself, without scikit-learn's shortening."""
    if type(estimator).__repr__ is BaseEstimator.__repr__:
        return estimator.__repr__(N_CHAR_MAX=LONGEST_ESTIMATOR)
    return repr(estimator)


def _write_value(value: Any) -> str:
    """Return what stands for an argument in a call; data are only named by their kind."""
    plain = value is None or isinstance(value, (Number, str, range))
    if isinstance(value, (list, tuple)) and len(value) <= LONGEST_LIST:
        plain = all(isinstance(item, (Number, str)) for item in value)
    if plain or hasattr(value, "get_n_splits"):
        return repr(value)
    return getattr(value, "__name__", f"<{type(value).__name__}>")


def write_settings(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments of a call, data and what changes no number left out, as source text."""
    return {
        name: _write_value(value) for name, value in arguments.items() if name not in NO_SETTING
    }


def describe_run(settings: Mapping[str, str], seed: int) -> dict[str, Any]:
    """Return the fields of a report that say how it was made."""
    return {
        "seed": seed,
        "settings": {**settings, "random_state": str(seed)},
        "versions": _read_versions(),
    }


def write_call(function: str, data: str, estimator: str, settings: Mapping[str, str]) -> str:
    """Return the call that made a report, as source text; `data` names the estimator first."""
    lines = [f"    {name}={value}," for name, value in settings.items()]
    name = data.partition(",")[0]
    return "\n".join([f"{name} = {estimator}", f"{function}(", f"    {data},", *lines, ")"])
