"""Estimates of error, their intervals, and P-values."""

from skeval.model_selection._results import (
    ConfidenceInterval,
    CrossValErrorEstimate,
    ErrorEstimate,
)

__all__ = ["ConfidenceInterval", "CrossValErrorEstimate", "ErrorEstimate"]
