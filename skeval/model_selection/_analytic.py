"""Closed-form intervals of the metrics that have one, looked up by function."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics as sk
from sklearn.utils.multiclass import type_of_target, unique_labels

from skeval import metrics
from skeval._inference.confusion import delta_error, score_interval
from skeval._inference.delong import delong
from skeval._inference.means import mean_interval, normal_interval
from skeval._inference.proportions import (
    PROPORTION_INTERVALS,
    area_interval,
    log_odds_interval,
)
from skeval.metrics._checks import check_binary_scores
from skeval.model_selection._table_interval import confusion_table

__all__ = ["Sample", "analytic_interval", "analytic_methods", "unwrap"]

Limits = tuple[float, float]
Arguments = dict[str, Any]
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


def analytic_methods(
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
        table = confusion_table(function, arguments, *sample[:2], sample.weight)
        if not _same(table.metric(table.share)[0], sample.estimate):
            methods = tuple(name for name in methods if name not in _DELTA)
    if sample.weight is None and sample.groups is None:
        return methods
    return ("score",) if "score" in methods and function not in _RANKINGS else ()


def analytic_interval(
    metric: Callable[..., Any], sample: Sample, level: float, how: str
) -> tuple[Limits, float]:
    """Return the interval and the standard error (of the estimate; nan where none is used)."""
    function, arguments = unwrap(metric)
    if how in PROPORTION_INTERVALS:
        return _proportion_interval(function, arguments, sample, level, how)
    if how in ("hall", "t"):
        losses = _losses(function, arguments, *sample[:2])
        return _mean_interval(losses, level, how, function)
    if function in _RANKINGS:
        return _area_interval(function, arguments, sample, level, how)
    table = confusion_table(function, arguments, *sample[:2], sample.weight)
    if how == "score":
        return score_interval(table, sample.estimate, level, sample.groups)
    error = delta_error(table)
    return _normal_limits(sample.estimate, error, level, how), error


def _same(value: float, estimate: float) -> bool:
    return bool(abs(value - estimate) <= 1e-9 * max(1.0, abs(estimate)))


def _normal_limits(estimate: float, error: float, level: float, how: str) -> Limits:
    """Return the normal interval, on the log-odds scale unless `how` is "normal"."""
    if how == "normal":
        return normal_interval(estimate, error, level, (0.0, 1.0))
    return log_odds_interval(estimate, error, level)


def _proportion_interval(
    function: Callable[..., Any], arguments: Arguments, sample: Sample, level: float, how: str
) -> tuple[Limits, float]:
    """Return the interval of a proportion; of average precision as if it were one of positives."""
    estimate, n = sample.estimate, _trials(function, arguments, sample.y_true, sample.y_pred)
    if n == 0:
        return (np.nan, np.nan), np.nan
    hits = estimate * n if function is sk.average_precision_score else round(estimate * n)
    return PROPORTION_INTERVALS[how](hits, n, level), float(np.sqrt(estimate * (1 - estimate) / n))


def _trials(
    function: Callable[..., Any], arguments: Arguments, y_true: Array, y_pred: Array
) -> int:
    """Return the number of samples that the proportion counts."""
    if function in (sk.precision_score, sk.recall_score, sk.average_precision_score):
        counted = y_pred if function is sk.precision_score else y_true
        return int(np.sum(counted == arguments.get("pos_label", 1)))
    return len(y_true)


def _losses(
    function: Callable[..., Any], arguments: Arguments, y_true: Array, y_pred: Array
) -> Floats:
    if function is metrics.cost_sensitive_error:
        labels = arguments.get("labels")
        labels = unique_labels(y_true, y_pred) if labels is None else np.asarray(labels)
        true, pred = (np.argmax(y[:, None] == labels, axis=1) for y in (y_true, y_pred))
        return np.asarray(arguments["cost_matrix"], dtype=np.float64)[true, pred]
    # as floats: the difference of small integers would wrap around
    error = np.abs(np.subtract(y_true, y_pred, dtype=np.float64))
    losses = error if function is sk.mean_absolute_error else error**2
    return losses.reshape(len(losses), -1).mean(axis=1)


def _mean_interval(
    losses: Floats, level: float, how: str, function: Callable[..., Any]
) -> tuple[Limits, float]:
    """Return the interval of a mean loss; of its root for the RMSE."""
    (low, high), error = mean_interval(losses, level, how)
    if function is not sk.root_mean_squared_error:
        return (low, high), error
    root = float(losses.mean()) ** 0.5
    return (float(np.sqrt(low)), float(np.sqrt(high))), error / (2 * root) if root else 0.0


def _area_interval(
    function: Callable[..., Any], arguments: Arguments, sample: Sample, level: float, how: str
) -> tuple[Limits, float]:
    pos_label = arguments.get("pos_label")
    if function is sk.roc_auc_score:
        pos_label = np.unique(sample.y_true)[-1].item()
    positive, score, _ = check_binary_scores(sample.y_true, sample.y_pred, pos_label, None)
    sizes = int(positive.sum()), int((~positive).sum())
    enough = min(sizes) >= 2
    error = float(np.sqrt(delong(positive, score[None, :])[1][0, 0])) if enough else np.nan
    if how == "score":
        return area_interval(sample.estimate, error, sizes, level), error
    return _normal_limits(sample.estimate, error, level, how), error


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
