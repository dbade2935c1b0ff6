"""Estimate and compare the errors of classifiers, regressors and clusterings.

The names and subpackages are imported when they are first used, so that ``skeval --help`` does not
wait for scikit-learn.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from skeval._version import __version__

if TYPE_CHECKING:
    from skeval import cluster as cluster
    from skeval import datasets as datasets
    from skeval import feature_selection as feature_selection
    from skeval import metrics as metrics
    from skeval import model_selection as model_selection
    from skeval import report as report
    from skeval import svm as svm
    from skeval.metrics.cluster import internal_indices
    from skeval.model_selection import (
        compare_classifiers,
        error_interval,
        metric_interval,
        permutation_test,
    )
    from skeval.report import Report, evaluate, evaluate_clusterer, evaluate_predictions

__all__ = [
    "Report",
    "__version__",
    "compare_classifiers",
    "error_interval",
    "evaluate",
    "evaluate_clusterer",
    "evaluate_predictions",
    "internal_indices",
    "metric_interval",
    "permutation_test",
]

_SOURCES = {
    "Report": "report",
    "compare_classifiers": "model_selection",
    "error_interval": "model_selection",
    "evaluate": "report",
    "evaluate_clusterer": "report",
    "evaluate_predictions": "report",
    "internal_indices": "metrics.cluster",
    "metric_interval": "model_selection",
    "permutation_test": "model_selection",
}
"""Subpackage of each public function and class."""

_SUBPACKAGES = (
    "cluster",
    "datasets",
    "feature_selection",
    "metrics",
    "model_selection",
    "report",
    "svm",
)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a name when it is first accessed."""
        if name in _SOURCES:
            globals()[name] = getattr(import_module(f"skeval.{_SOURCES[name]}"), name)
            return globals()[name]
        if name in _SUBPACKAGES:
            return import_module(f"skeval.{name}")
        # a public name of a subpackage; Python suggests similar names of the object
        text, public = f"module 'skeval' has no attribute {name!r}", not name.startswith("_")
        for home in (*_SUBPACKAGES, "metrics.cluster") if public else ():
            if name in import_module(f"skeval.{home}").__all__:
                text += f". It is in skeval.{home}"
        raise AttributeError(text, name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*__all__, *_SUBPACKAGES})
