"""Estimates of error, their intervals, and P-values."""

from skeval._inference.estimate import ConfidenceInterval, Estimate, Test
from skeval._resampling.series import GroupTimeSeriesSplit
from skeval.model_selection._bootstrap import bootstrap_error, bootstrap_score
from skeval.model_selection._compare import compare_classifiers
from skeval.model_selection._compare_predictions import compare_predictions
from skeval.model_selection._compare_scores import compare_scores
from skeval.model_selection._comparison import Comparison, Difference
from skeval.model_selection._estimates import (
    cross_val_error,
    holdout_error,
    holdout_size,
    perturbation_interval,
    resubstitution_error,
)
from skeval.model_selection._importance import feature_importance
from skeval.model_selection._interval_methods import error_interval
from skeval.model_selection._learning_curve import learning_curve_band
from skeval.model_selection._metric_interval import metric_interval
from skeval.model_selection._permutation import permutation_test
from skeval.model_selection._plot import (
    CriticalDifferenceDisplay,
    LearningCurveBandDisplay,
    PerturbationDisplay,
)
from skeval.model_selection._pooling import new_site_error
from skeval.model_selection._score_interval import score_interval
from skeval.model_selection._searches import (
    BootstrapSplit,
    WholeSample,
    make_bootstrap_scorer,
    make_interval_scorer,
    make_permutation_scorer,
    refit_one_se,
    score_632,
    tuning_bias,
    tuning_optimism,
)
from skeval.model_selection._threshold import threshold_measures
from skeval.utils._plotting import EstimatesDisplay, NullDistributionDisplay

__all__ = [
    "BootstrapSplit",
    "Comparison",
    "ConfidenceInterval",
    "CriticalDifferenceDisplay",
    "Difference",
    "Estimate",
    "EstimatesDisplay",
    "GroupTimeSeriesSplit",
    "LearningCurveBandDisplay",
    "NullDistributionDisplay",
    "PerturbationDisplay",
    "Test",
    "WholeSample",
    "bootstrap_error",
    "bootstrap_score",
    "compare_classifiers",
    "compare_predictions",
    "compare_scores",
    "cross_val_error",
    "error_interval",
    "feature_importance",
    "holdout_error",
    "holdout_size",
    "learning_curve_band",
    "make_bootstrap_scorer",
    "make_interval_scorer",
    "make_permutation_scorer",
    "metric_interval",
    "new_site_error",
    "permutation_test",
    "perturbation_interval",
    "refit_one_se",
    "resubstitution_error",
    "score_632",
    "score_interval",
    "threshold_measures",
    "tuning_bias",
    "tuning_optimism",
]
