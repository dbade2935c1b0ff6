"""Score intervals of the metrics that are functions of the confusion table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics as sk
from sklearn.utils.multiclass import unique_labels

from skeval import metrics
from skeval._inference.agreement import kappa, mean_cost, phi
from skeval._inference.confusion import ConfusionTable
from skeval._inference.delta import FScore, f_score_gradient
from skeval._inference.score_region import ValueAndGradient
from skeval.metrics._averaging import class_weights

__all__ = ["count_confusion_table"]

Floats = NDArray[np.float64]
Arguments = dict[str, Any]


def count_confusion_table(
    function: Callable[..., Any],
    arguments: Arguments,
    y_true: NDArray[Any],
    y_pred: NDArray[Any],
    weight: Floats | None,
) -> ConfusionTable:
    """Return the table of the samples and the metric of it."""
    classes = unique_labels(y_true, y_pred)
    labels = arguments.get("labels")
    order = classes if labels is None else np.asarray(labels)
    if arguments.get("average", "binary" if function in _BINARY else None) == "binary":
        order = np.asarray([arguments.get("pos_label", 1)])
    order = np.concatenate([order, np.setdiff1d(classes, order)])
    size = max(len(order), 2)  # Beside a single class there may be another one, not yet seen.
    true, pred = (np.argmax(np.asarray(y)[:, None] == order, axis=1) for y in (y_true, y_pred))
    cell = true * size + pred
    weight = np.ones(len(cell)) if weight is None else weight
    counts = np.bincount(cell, weight, minlength=size**2).reshape(size, size)
    table = ConfusionTable(counts.astype(np.float64), cell, weight, phi)
    return _BUILDERS[function](function, arguments, order, table)


def _average(
    function: Callable[..., Any], arguments: Arguments, order: NDArray[Any], table: ConfusionTable
) -> ConfusionTable:
    """Averages of precision, recall, F and Jaccard's index."""
    chosen = np.zeros(len(table.counts), dtype=bool)
    average: Any = arguments.get("average", "binary")
    if function not in _BINARY:
        average = _AVERAGES.get(function, arguments.get("class_weight", "log_inverse"))
    n_chosen = 1 if isinstance(average, str) and average == "binary" else len(order)
    if n_chosen > 1 and arguments.get("labels") is not None:
        n_chosen = len(arguments["labels"])
    chosen[:n_chosen] = True
    if function is sk.balanced_accuracy_score:
        chosen &= table.counts.sum(axis=1) > 0
    beta = float(arguments.get("beta", 1.0))
    support = table.counts.sum(axis=1)[:n_chosen]
    fixed = average = "macro" if isinstance(average, str) and average == "binary" else average
    if not isinstance(average, str) or average == "log_inverse":
        # 1 / log n_c is singular at one sample, so it is held at the sizes of the classes here.
        fixed = class_weights(average, order[:n_chosen], support)
        average = average if isinstance(average, str) else fixed
    value = _VALUES[function]
    n = table.counts.sum()
    metric = partial(f_score_gradient, score=FScore(value, fixed, beta, chosen), n=n)
    if arguments.get("adjusted"):
        metric = partial(_adjust_for_chance, metric=metric, chance=1 / chosen.sum())
    return table._replace(metric=metric, score=FScore(value, average, beta, chosen))


def _adjust_for_chance(p: Floats, metric: ValueAndGradient, chance: float) -> tuple[float, Floats]:
    """Return ``(value - chance) / (1 - chance)``."""
    value, gradient = metric(p)
    if chance == 1:
        return np.nan, gradient
    return (value - chance) / (1 - chance), gradient / (1 - chance)


def _use_kappa(
    function: Callable[..., Any], arguments: Arguments, order: NDArray[Any], table: ConfusionTable
) -> ConfusionTable:
    ranks = np.arange(len(table.counts))
    power = {None: 0, "linear": 1, "quadratic": 2}[arguments.get("weights")]
    distance = np.abs(ranks[:, None] - ranks[None, :]).astype(np.float64)
    disagreement = distance**power if power else np.sign(distance)
    return table._replace(metric=partial(kappa, disagreement=disagreement))


def _use_cost(
    function: Callable[..., Any], arguments: Arguments, order: NDArray[Any], table: ConfusionTable
) -> ConfusionTable:
    size = len(table.counts)
    costs = 1 - np.eye(size)
    if function is metrics.cost_sensitive_error:
        given = np.asarray(arguments["cost_matrix"], dtype=np.float64)
        costs = given if given.shape == costs.shape else np.full((size, size), np.nan)
    elif function is sk.accuracy_score:
        costs = np.eye(size)
    return table._replace(metric=partial(mean_cost, costs=costs))


_BINARY = (sk.precision_score, sk.recall_score, sk.f1_score, sk.fbeta_score, sk.jaccard_score)
_AVERAGES = {
    metrics.macro_fbeta_score: "macro",
    metrics.micro_fbeta_score: "micro",
    sk.balanced_accuracy_score: "macro",
}
_VALUES: dict[Callable[..., Any], str] = {
    sk.precision_score: "precision",
    sk.recall_score: "recall",
    sk.balanced_accuracy_score: "recall",
    sk.f1_score: "f",
    sk.fbeta_score: "f",
    sk.jaccard_score: "jaccard",
    metrics.macro_fbeta_score: "f_of_means",
    metrics.micro_fbeta_score: "f_of_means",
    metrics.weighted_fbeta_score: "f_of_means",
}
_COSTS = (
    metrics.error_rate,
    metrics.cost_sensitive_error,
    sk.zero_one_loss,
    sk.accuracy_score,
    sk.hamming_loss,
)
_Builder = Callable[[Callable[..., Any], Arguments, NDArray[Any], ConfusionTable], ConfusionTable]
_BUILDERS: dict[Callable[..., Any], _Builder] = {
    **dict.fromkeys(_VALUES, _average),
    **dict.fromkeys(_COSTS, _use_cost),
    sk.cohen_kappa_score: _use_kappa,
    sk.matthews_corrcoef: lambda *given: given[-1],  # The table comes with phi.
}
