"""Estimates of error, their intervals, and P-values."""

from skeval._inference.interval import ConfidenceInterval
from skeval.model_selection._bootstrap import BootstrapErrorEstimate, bootstrap_error
from skeval.model_selection._cochran import CochranQ, cochran_q
from skeval.model_selection._compare_bleu import compare_bleu
from skeval.model_selection._compare_predictions import compare_predictions
from skeval.model_selection._compare_scores import compare_scores
from skeval.model_selection._comparison import compare_classifiers
from skeval.model_selection._comparison_power import ComparisonPower, comparison_power
from skeval.model_selection._comparison_result import ClassifierComparison, ClassifierComparisons
from skeval.model_selection._cross_validation import cross_val_error
from skeval.model_selection._datasets_comparison import compare_over_datasets
from skeval.model_selection._datasets_result import DatasetComparison
from skeval.model_selection._error_interval import ErrorInterval, error_interval
from skeval.model_selection._holdout import HoldoutErrorEstimate, holdout_error
from skeval.model_selection._holdout_size import HoldoutSize, holdout_size
from skeval.model_selection._metric_estimate import MetricEstimate
from skeval.model_selection._metric_interval import metric_interval
from skeval.model_selection._metric_result import MetricInterval
from skeval.model_selection._permutation import (
    PermutationTest,
    PermutationTests,
    permutation_test,
)
from skeval.model_selection._permutation_scorer import make_permutation_scorer
from skeval.model_selection._perturbation import PerturbationInterval, perturbation_interval
from skeval.model_selection._plot import (
    CriticalDifferenceDisplay,
    DifferencesDisplay,
    ErrorIntervalDisplay,
    PermutationDisplay,
    PerturbationDisplay,
    SimplexDisplay,
)
from skeval.model_selection._region_posterior import RegionPosterior
from skeval.model_selection._resubstitution import resubstitution_error
from skeval.model_selection._results import CrossValErrorEstimate, ErrorEstimate
from skeval.model_selection._run_over_datasets import DatasetScores, run_over_datasets
from skeval.model_selection._score_interval import ScoreInterval, score_interval
from skeval.model_selection._searches import refit_one_se, tuning_bias
from skeval.model_selection._split import BootstrapSplit, refit_632, score_632
from skeval.model_selection._subgroups import Subgroups
from skeval.model_selection._tuning import TuningOptimism, tuning_optimism

__all__ = [
    "BootstrapErrorEstimate",
    "BootstrapSplit",
    "ClassifierComparison",
    "ClassifierComparisons",
    "CochranQ",
    "ComparisonPower",
    "ConfidenceInterval",
    "CriticalDifferenceDisplay",
    "CrossValErrorEstimate",
    "DatasetComparison",
    "DatasetScores",
    "DifferencesDisplay",
    "ErrorEstimate",
    "ErrorInterval",
    "ErrorIntervalDisplay",
    "HoldoutErrorEstimate",
    "HoldoutSize",
    "MetricEstimate",
    "MetricInterval",
    "PermutationDisplay",
    "PermutationTest",
    "PermutationTests",
    "PerturbationDisplay",
    "PerturbationInterval",
    "RegionPosterior",
    "ScoreInterval",
    "SimplexDisplay",
    "Subgroups",
    "TuningOptimism",
    "bootstrap_error",
    "cochran_q",
    "compare_bleu",
    "compare_classifiers",
    "compare_over_datasets",
    "compare_predictions",
    "compare_scores",
    "comparison_power",
    "cross_val_error",
    "error_interval",
    "holdout_error",
    "holdout_size",
    "make_permutation_scorer",
    "metric_interval",
    "permutation_test",
    "perturbation_interval",
    "refit_632",
    "refit_one_se",
    "resubstitution_error",
    "run_over_datasets",
    "score_632",
    "score_interval",
    "tuning_bias",
    "tuning_optimism",
]
