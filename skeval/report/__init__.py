"""Every estimate of one classifier, or every view of one clusterer, side by side."""

from __future__ import annotations

from skeval.report._clustering import ClusteringReport
from skeval.report._comparison import EvaluationComparison
from skeval.report._evaluate import evaluate
from skeval.report._evaluate_clusterer import evaluate_clusterer
from skeval.report._evaluate_predictions import PredictionsReport, evaluate_predictions
from skeval.report._multilabel import MultilabelReport
from skeval.report._outputs import OutputsReport
from skeval.report._report import EvaluationReport

__all__ = [
    "ClusteringReport",
    "EvaluationComparison",
    "EvaluationReport",
    "MultilabelReport",
    "OutputsReport",
    "PredictionsReport",
    "evaluate",
    "evaluate_clusterer",
    "evaluate_predictions",
]
