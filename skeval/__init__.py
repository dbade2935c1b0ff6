"""Honest evaluation of pattern-recognition systems for scikit-learn users."""

from skeval import _smoothers, feature_selection, svm  # noqa: F401 (they register their adapters)
from skeval._version import __version__
from skeval.metrics.cluster import internal_indices
from skeval.model_selection import (
    compare_classifiers,
    error_interval,
    metric_interval,
    permutation_test,
)
from skeval.report import EvaluationReport, evaluate, evaluate_clusterer

__all__ = [
    "EvaluationReport",
    "__version__",
    "compare_classifiers",
    "error_interval",
    "evaluate",
    "evaluate_clusterer",
    "internal_indices",
    "metric_interval",
    "permutation_test",
]
