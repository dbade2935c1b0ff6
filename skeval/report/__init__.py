"""Every estimate of one classifier side by side."""

from skeval.report._evaluate import evaluate
from skeval.report._plot.estimates import ErrorEstimatesDisplay
from skeval.report._report import EvaluationReport

__all__ = ["ErrorEstimatesDisplay", "EvaluationReport", "evaluate"]
