"""Metrics for classifiers, regressors, rankings and translations.

The API page has a table of what each function returns and whether `make_scorer` accepts it. Metrics
that scikit-learn defines in the same way are re-exported, so that one import gives the whole set.
`tests/properties/test_metric_returns.py` lists the re-exported names.
"""

from sklearn.metrics import (
    accuracy_score,
    auc,
    average_precision_score,
    confusion_matrix,
    f1_score,
    fbeta_score,
    mean_absolute_error,
    mean_squared_error,
    precision_recall_curve,
    precision_recall_fscore_support,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
    root_mean_squared_error,
)

from skeval._inference.estimate import Curve
from skeval.metrics._calibration import (
    calibration_measures,
    expected_calibration_error,
    reliability_curve,
    score_decomposition,
)
from skeval.metrics._classification import (
    averaged_precision_recall_fscore,
    cost_sensitive_error,
    error_rate,
    macro_fbeta_score,
    matrices_precision_recall_fscore,
    micro_fbeta_score,
    npv_score,
    ppv_score,
    probability_cost,
    sensitivity_score,
    specificity_score,
    weighted_fbeta_score,
)
from skeval.metrics._curves import (
    break_even_point,
    cost_curve,
    cost_curve_band,
    curve_dominance,
    expected_cost,
    net_benefit,
    precision_recall_curve_band,
    ranking_loss,
    roc_curve_band,
)
from skeval.metrics._gains import precision_at_k
from skeval.metrics._plot import (
    CostCurveDisplay,
    NetBenefitDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocCurveDisplay,
)
from skeval.metrics._regression import error_norm, expected_loss
from skeval.metrics._scorers import get_scorer, get_scorer_names, make_clustering_scorer
from skeval.metrics._text import bleu_score, log_bleu_score, sentence_bleu_score

__all__ = [
    "CostCurveDisplay",
    "Curve",
    "NetBenefitDisplay",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "RocCurveDisplay",
    "accuracy_score",
    "auc",
    "average_precision_score",
    "averaged_precision_recall_fscore",
    "bleu_score",
    "break_even_point",
    "calibration_measures",
    "confusion_matrix",
    "cost_curve",
    "cost_curve_band",
    "cost_sensitive_error",
    "curve_dominance",
    "error_norm",
    "error_rate",
    "expected_calibration_error",
    "expected_cost",
    "expected_loss",
    "f1_score",
    "fbeta_score",
    "get_scorer",
    "get_scorer_names",
    "log_bleu_score",
    "macro_fbeta_score",
    "make_clustering_scorer",
    "matrices_precision_recall_fscore",
    "mean_absolute_error",
    "mean_squared_error",
    "micro_fbeta_score",
    "net_benefit",
    "npv_score",
    "ppv_score",
    "precision_at_k",
    "precision_recall_curve",
    "precision_recall_curve_band",
    "precision_recall_fscore_support",
    "precision_score",
    "probability_cost",
    "ranking_loss",
    "recall_score",
    "reliability_curve",
    "roc_auc_score",
    "roc_curve",
    "roc_curve_band",
    "root_mean_squared_error",
    "score_decomposition",
    "sensitivity_score",
    "sentence_bleu_score",
    "specificity_score",
    "weighted_fbeta_score",
]
