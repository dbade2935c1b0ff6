"""Reports of estimators, of existing predictions, and of clusterers."""

from __future__ import annotations

from skeval.report._evaluate import evaluate
from skeval.report._evaluate_clusterer import evaluate_clusterer
from skeval.report._evaluate_predictions import evaluate_predictions
from skeval.report._report import Report

__all__ = ["Report", "evaluate", "evaluate_clusterer", "evaluate_predictions"]
