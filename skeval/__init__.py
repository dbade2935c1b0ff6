"""Honest evaluation of pattern-recognition systems for scikit-learn users."""

from skeval import _smoothers, feature_selection, svm  # noqa: F401 (they register their adapters)
from skeval._version import __version__
from skeval.report import EvaluationReport, evaluate

__all__ = ["EvaluationReport", "__version__", "evaluate"]
