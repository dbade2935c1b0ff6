"""The metrics of out-of-fold predictions as rows of text."""

from __future__ import annotations

import numpy as np

from skeval._inference.estimate import Estimate, Results
from skeval.report._predictions import HardSamples
from skeval.utils._text import align_rows, write_ends, write_number

__all__ = [
    "NAMES",
    "group_by_class",
    "list_main_metrics",
    "name_metric",
    "write_hard_samples",
    "write_metrics",
]

NAMES = {
    "balanced_accuracy": "balanced accuracy",
    "f1_macro": "F1, mean of the classes",
    "matthews_corrcoef": "Matthews correlation",
    "cohen_kappa": "Cohen kappa",
    "log_loss": "log loss",
    "brier_score": "Brier score",
    "roc_auc": "area under the ROC curve",
    "average_precision": "average precision",
    "r2": "R2, explained share of the variance",
    "root_mean_squared_error": "root mean squared error",
    "mean_absolute_error": "mean absolute error",
    "f1": "F1",
}
"""What people call a metric that scikit-learn calls otherwise."""
MOST = 12
"""Rows of text; a page has all."""
FEW = 5


def name_metric(metric: str) -> str:
    """Return what people call a metric."""
    return NAMES.get(metric, metric)


def list_main_metrics(metrics: Results) -> list[Estimate]:
    """Return the metrics of all samples, and what was asked for."""
    return [each for each in metrics.values() if each.details["label"] is None]


def group_by_class(metrics: Results) -> dict[str, list[Estimate]]:
    """Return the metrics of each class."""
    found: dict[str, list[Estimate]] = {}
    for each in metrics.values():
        if each.details["label"] is not None:
            found.setdefault(each.details["label"], []).append(each)
    return found


def write_metrics(metrics: Results) -> list[str]:
    """Return the metrics of all samples as lines of text."""
    shown = list_main_metrics(metrics)
    if not shown:
        return []
    level = f"{100 * shown[0].confidence_level:g} % interval"
    rows = [("metric of new samples", "estimate", level)]
    for each in shown[:MOST]:
        ends = write_ends(each.interval.low, each.interval.high)
        rows.append((name_metric(each.name), write_number(each.value), ends))
    return align_rows(rows, left=(0, 2))


def write_hard_samples(hard: HardSamples, numbers: bool) -> list[str]:
    """Say which samples may have a wrong label, and which classes the models do not know."""
    sentences = [
        f"{n_wrong} of {size} samples of class {name} are wrong in every repeat: the models do not "
        "know that class."
        for name, (n_wrong, size) in hard.unknown.items()
    ]
    suspects = np.flatnonzero(hard.suspect)
    if not len(suspects):
        return sentences
    listed = ", ".join(
        f"{hard.name[k]} ({hard.truth[k]}, taken for {hard.prediction[k]})" for k in suspects[:FEW]
    )
    more = f" and {len(suspects) - FEW} more" if len(suspects) > FEW else ""
    what = "more than three times as far off as usual" if numbers else "wrong in every repeat"
    subject = "1 sample is" if len(suspects) == 1 else f"{len(suspects)} samples are"
    looks = "number looks" if numbers else "label looks, and a sample where classes overlap"
    return [*sentences, f"{subject} {what}: {listed}{more}. That is how a wrong {looks}."]
