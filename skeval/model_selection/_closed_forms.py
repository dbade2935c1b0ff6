"""Closed-form intervals of the metrics that have one, looked up by function.

Metrics that are functions of the confusion table have score intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn import metrics as sk
from sklearn.utils.multiclass import type_of_target, unique_labels

from skeval import metrics
from skeval._inference.areas import area_error, class_size
from skeval._inference.estimate import Limits, LimitsByMethod
from skeval._inference.proportions import (
    PROPORTION_INTERVALS,
    area_interval,
    log_odds_interval,
    mean_interval,
    normal_interval,
    normal_quantile,
)
from skeval._inference.tables import (
    ConfusionTable,
    FScore,
    ValueAndGradient,
    delta_error,
    f_score_gradient,
    kappa,
    mean_cost,
    phi,
    score_form,
)
from skeval.metrics._checks import check_binary_scores
from skeval.metrics._classification import class_weights
from skeval.metrics._regression import LOSSES

__all__ = [
    "Sample",
    "count_confusion_table",
    "give_no_limits",
    "list_analytic_methods",
    "make_closed_forms",
    "unwrap",
]

Arguments = dict[str, Any]
Function = Callable[..., Any]
Array = NDArray[Any]
Floats = NDArray[np.float64]


def unwrap(metric: Callable[..., Any]) -> tuple[Callable[..., Any], Arguments]:
    """Return the function under a `functools.partial`, and the keywords it fixes."""
    if isinstance(metric, partial) and not metric.args:
        return metric.func, dict(metric.keywords)
    return metric, {}


class Sample(NamedTuple):
    """What is judged: targets, predictions or scores, and the metric of them."""

    y_true: Array
    y_pred: Array
    estimate: float
    weight: Floats | None = None
    groups: Any = None


def list_analytic_methods(
    metric: Callable[..., Any], sample: Sample, stratify: bool = False
) -> tuple[str, ...]:
    """Return the names of the closed forms that fit the metric and the data, the best first."""
    function, arguments = unwrap(metric)
    family = _FAMILIES.get(function)
    if family is None or not set(arguments) <= family.keywords:
        return ()
    if stratify or type_of_target(sample.y_true) not in family.targets:
        return ()
    methods = family.methods
    if function in _AVERAGED_OR_BINARY and arguments.get("average", "binary") != "binary":
        methods = _DELTA if arguments["average"] in ("macro", "micro", "weighted") else ()
    if "score" in methods and function not in _RANKINGS:
        table = count_confusion_table(function, arguments, *sample[:2], sample.weight)
        if not _agree(table.metric(table.share)[0], sample.estimate):
            methods = tuple(name for name in methods if name not in _DELTA)
    if sample.weight is None and sample.groups is None:
        return methods
    return ("score",) if "score" in methods else ()


Forms = dict[str, tuple[Callable[[float], Limits], float]]
"""By method the ends of the interval at any confidence level, and the standard error."""


def make_closed_forms(
    metric: Callable[..., Any], sample: Sample, methods: tuple[str, ...]
) -> tuple[LimitsByMethod, float]:
    """Return the limits by method, in the order given, and the standard error of the first."""
    function, arguments = unwrap(metric)
    builders = {"score": _use_table, "wilson": _use_proportion, "hall": _use_mean}
    if function in _RANKINGS:
        builders = {"score": _use_area}
    forms: Forms = dict.fromkeys(methods, (give_no_limits, np.nan))
    for name in methods if np.isfinite(sample.estimate) else ():
        if name in builders:
            forms |= builders[name](function, arguments, sample)
    return {name: forms[name][0] for name in methods}, forms[methods[0]][1]


def give_no_limits(confidence_level: float) -> Limits:
    """Return the ends of an interval that has none."""
    return np.nan, np.nan


def _agree(value: float, estimate: float) -> bool:
    return bool(abs(value - estimate) <= 1e-9 * max(1.0, abs(estimate)))


def _use_normal(estimate: float, error: float, name: str) -> Forms:
    """Return the normal interval, and by `name` that on the log-odds scale."""
    bounded = partial(normal_interval, estimate, error, bounds=(0.0, 1.0))
    return {"normal": (bounded, error), name: (partial(log_odds_interval, estimate, error), error)}


def _use_table(function: Function, arguments: Arguments, sample: Sample) -> Forms:
    table = count_confusion_table(function, arguments, *sample[:2], sample.weight)
    form = score_form(table, sample.estimate, sample.groups)
    return {"score": form} | _use_normal(sample.estimate, delta_error(table), "delta")


def _use_proportion(function: Function, arguments: Arguments, sample: Sample) -> Forms:
    """Return intervals of a proportion; of average precision as if it were one of positives."""
    estimate, n = sample.estimate, _count_trials(function, arguments, sample.y_true, sample.y_pred)
    if n == 0:
        return {}
    hits = estimate * n if function is sk.average_precision_score else round(estimate * n)
    error = float(np.sqrt(estimate * (1 - estimate) / n))
    return {name: (partial(of, hits, n), error) for name, of in PROPORTION_INTERVALS.items()}


def _count_trials(function: Function, arguments: Arguments, y_true: Array, y_pred: Array) -> int:
    """Return the number of samples that the proportion counts."""
    if function in (sk.precision_score, sk.recall_score, sk.average_precision_score):
        counted = y_pred if function is sk.precision_score else y_true
        return int(np.sum(counted == arguments.get("pos_label", 1)))
    return len(y_true)


def _read_losses(function: Function, arguments: Arguments, y_true: Array, y_pred: Array) -> Floats:
    if function is metrics.cost_sensitive_error:
        labels = arguments.get("labels")
        labels = unique_labels(y_true, y_pred) if labels is None else np.asarray(labels)
        true, pred = (np.argmax(y[:, None] == labels, axis=1) for y in (y_true, y_pred))
        return np.asarray(arguments["cost_matrix"], dtype=np.float64)[true, pred]
    name = "absolute" if function is sk.mean_absolute_error else "squared"
    losses: Floats = LOSSES[name](y_true, y_pred)
    return losses.reshape(len(losses), -1).mean(axis=1)


def _use_mean(function: Function, arguments: Arguments, sample: Sample) -> Forms:
    """Return intervals of a mean loss; of its root for the RMSE."""
    losses = _read_losses(function, arguments, *sample[:2])
    error, root = float(stats.sem(losses)), float(losses.mean()) ** 0.5
    interval: Callable[..., Limits] = mean_interval
    if function is sk.root_mean_squared_error:
        interval, error = _take_root_of_interval, error / (2 * root) if root else 0.0
    return {name: (partial(interval, losses, name), error) for name in _MEAN}


def _take_root_of_interval(losses: Floats, method: str, confidence_level: float) -> Limits:
    low, high = mean_interval(losses, method, confidence_level)
    return float(np.sqrt(low)), float(np.sqrt(high))


def _use_area(function: Function, arguments: Arguments, sample: Sample) -> Forms:
    """Return intervals of an area: of samples of one weight with the variance of DeLong."""
    pos_label = arguments.get("pos_label")
    if function is sk.roc_auc_score:
        pos_label = np.unique(sample.y_true)[-1].item()
    checked = check_binary_scores(sample.y_true, sample.y_pred, pos_label, sample.weight)
    positive, score, weight = checked
    seen = weight > 0
    positive, score, weight = positive[seen], score[seen], weight[seen]
    group, n_groups = None, None
    if sample.groups is not None:
        group = np.unique(np.asarray(sample.groups)[seen], return_inverse=True)[1].reshape(-1)
        n_groups = int(group.max()) + 1
        if n_groups == 1:
            return {}
    error = area_error(positive, score, weight, group)
    sizes = [
        class_size(score[own], weight[own], None if group is None else group[own])
        for own in (positive, ~positive)
    ]
    by_score = partial(_area_limits, sample.estimate, error, (sizes[0], sizes[1]), n_groups), error
    return {"score": by_score} | _use_normal(sample.estimate, error, "delong")


def _area_limits(
    area: float,
    error: float,
    sizes: tuple[float, float],
    n_groups: int | None,
    confidence_level: float,
) -> Limits:
    """Return the score interval of an area, by Student's quantile of the number of groups."""
    widening = normal_quantile(confidence_level, n_groups) / normal_quantile(confidence_level)
    return area_interval(area, error * widening, sizes, confidence_level)


_AVERAGED_OR_BINARY = (sk.precision_score, sk.recall_score, sk.f1_score, sk.fbeta_score)
_RANKINGS = (sk.roc_auc_score, metrics.ranking_loss)
_SKLEARN_F = frozenset({"average", "labels", "pos_label", "zero_division"})
_OUR_F = frozenset({"beta", "labels", "zero_division"})
_BINARY = frozenset({"binary"})
_CLASSES = frozenset({"binary", "multiclass"})
_NUMBERS = _CLASSES | {"continuous", "continuous-multioutput", "multiclass-multioutput"}


class _Family(NamedTuple):
    """Closed forms of a metric, and the keywords and kinds of target that they cover."""

    methods: tuple[str, ...]
    keywords: frozenset[str] = frozenset()
    targets: frozenset[str] = _CLASSES


_DELTA = ("score", "delta", "normal")
_PROPORTION = (*PROPORTION_INTERVALS, "score")
_AREA = ("score", "delong", "normal")
_MEAN = ("hall", "t")
_FAMILIES: dict[Callable[..., Any], _Family] = {
    metrics.error_rate: _Family(_PROPORTION),
    sk.zero_one_loss: _Family(_PROPORTION),
    sk.accuracy_score: _Family(_PROPORTION),
    sk.precision_score: _Family(_PROPORTION, _SKLEARN_F),
    sk.recall_score: _Family(_PROPORTION, _SKLEARN_F),
    sk.hamming_loss: _Family(_PROPORTION),
    sk.top_k_accuracy_score: _Family(tuple(PROPORTION_INTERVALS), frozenset({"k", "labels"})),
    sk.average_precision_score: _Family(("wilson",), frozenset({"pos_label"}), _BINARY),
    sk.balanced_accuracy_score: _Family(("score",), frozenset({"adjusted"})),
    sk.cohen_kappa_score: _Family(("score",), frozenset({"weights"})),
    sk.matthews_corrcoef: _Family(("score",)),
    sk.jaccard_score: _Family(("score",), _SKLEARN_F),
    sk.f1_score: _Family(_DELTA, _SKLEARN_F),
    sk.fbeta_score: _Family(_DELTA, _SKLEARN_F | {"beta"}),
    metrics.macro_fbeta_score: _Family(_DELTA, _OUR_F),
    metrics.micro_fbeta_score: _Family(_DELTA, _OUR_F),
    metrics.weighted_fbeta_score: _Family(_DELTA, _OUR_F | {"class_weight"}),
    sk.roc_auc_score: _Family(_AREA, targets=_BINARY),
    metrics.ranking_loss: _Family(_AREA, frozenset({"pos_label"}), _BINARY),
    sk.mean_squared_error: _Family(_MEAN, targets=_NUMBERS),
    sk.mean_absolute_error: _Family(_MEAN, targets=_NUMBERS),
    sk.root_mean_squared_error: _Family(_MEAN, targets=_CLASSES | {"continuous"}),
    metrics.cost_sensitive_error: _Family(("score", *_MEAN), frozenset({"cost_matrix", "labels"})),
}


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
    if arguments.get("average", "binary" if function in _BINARY_BY_DEFAULT else None) == "binary":
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
    if function not in _BINARY_BY_DEFAULT:
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


_BINARY_BY_DEFAULT = (
    sk.precision_score,
    sk.recall_score,
    sk.f1_score,
    sk.fbeta_score,
    sk.jaccard_score,
)
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
