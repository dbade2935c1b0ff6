"""Every estimate of one classifier, or every view of one clusterer, side by side."""

from skeval.report import _clustering_page, _evaluation_page  # noqa: F401 (they register)
from skeval.report._clustering_report import ClusteringReport
from skeval.report._evaluate import evaluate
from skeval.report._evaluate_clusterer import evaluate_clusterer
from skeval.report._plot.estimates import ErrorEstimatesDisplay
from skeval.report._report import EvaluationReport

__all__ = [
    "ClusteringReport",
    "ErrorEstimatesDisplay",
    "EvaluationReport",
    "evaluate",
    "evaluate_clusterer",
]
