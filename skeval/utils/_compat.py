"""The only importer of private scikit-learn names; a test checks that they are still there."""

from sklearn.metrics.pairwise import _VALID_METRICS as PAIRWISE_METRICS
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_params,
)
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "PAIRWISE_METRICS",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "num_samples",
    "safe_indexing",
    "validate_params",
]
