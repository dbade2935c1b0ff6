"""Honest evaluation of pattern-recognition systems for scikit-learn users."""

from skeval import feature_selection, svm  # noqa: F401 (they register their batch engines)
from skeval.report import EvaluationReport, evaluate

__version__ = "0.1.0.dev0"

__all__ = ["EvaluationReport", "__version__", "evaluate"]
