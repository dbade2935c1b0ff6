"""Closed-form intervals of the metrics that have one, looked up by function."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit, logit
from sklearn import metrics as sk
from sklearn.utils.multiclass import type_of_target, unique_labels

from skeval import metrics
from skeval.metrics._averaging import class_weights
from skeval.metrics._checks import check_binary_scores
from skeval.model_selection._delong import delong
from skeval.model_selection._delta import FScore, delta_variance
from skeval.model_selection._intervals import PROPORTION_INTERVALS, normal_interval

__all__ = ["analytic_interval", "analytic_methods", "unwrapped"]

Limits = tuple[float, float]
Arguments = dict[str, Any]
Array = NDArray[Any]


def unwrapped(metric: Callable[..., Any]) -> tuple[Callable[..., Any], Arguments]:
    """Return the function under a `functools.partial`, and the keywords it fixes."""
    if isinstance(metric, partial) and not metric.args:
        return metric.func, dict(metric.keywords)
    return metric, {}


def analytic_methods(metric: Callable[..., Any], y_true: Any) -> tuple[str, ...]:
    """Return the names of the closed forms that fit the metric and the data, the best first."""
    function, arguments = unwrapped(metric)
    family = _FAMILIES.get(function)
    if family is None or not set(arguments) <= family.keywords:
        return ()
    if type_of_target(y_true) not in family.targets:
        return ()
    if function in _AVERAGED_OR_BINARY and arguments.get("average", "binary") != "binary":
        return _DELTA if arguments["average"] in ("macro", "micro", "weighted") else ()
    return family.methods


def analytic_interval(
    metric: Callable[..., Any],
    y_true: Array,
    y_pred: Array,
    estimate: float,
    level: float,
    how: str,
) -> tuple[Limits, float]:
    """Return the interval and the standard error (of the estimate; nan where none is used)."""
    function, arguments = unwrapped(metric)
    if how in PROPORTION_INTERVALS:
        n = _trials(function, arguments, y_true, y_pred)
        if n == 0:
            return (np.nan, np.nan), np.nan
        limits = PROPORTION_INTERVALS[how](round(estimate * n), n, level)
        return limits, float(np.sqrt(estimate * (1 - estimate) / n))
    if how == "t":
        return _t_interval(_losses(function, arguments, y_true, y_pred), level, function)
    by_ranks = "delong" in _FAMILIES[function].methods
    variance = (_auc_variance if by_ranks else _delta)(function, arguments, y_true, y_pred)
    error = float(np.sqrt(variance))
    if how == "normal":
        return normal_interval(estimate, error, level, (0.0, 1.0)), error
    return _logit_interval(estimate, error, level), error


def _logit_interval(estimate: float, error: float, level: float) -> Limits:
    """Return the normal interval on the log-odds scale, where it covers better near 0 and 1."""
    if not error > 0:
        return estimate + 0 * error, estimate + 0 * error
    centre, error = logit(estimate), error / (estimate * (1 - estimate))
    low, high = expit(normal_interval(centre, error, level))
    return float(low), float(high)


def _trials(
    function: Callable[..., Any], arguments: Arguments, y_true: Array, y_pred: Array
) -> int:
    """Return the number of samples that the proportion counts."""
    if function in (sk.precision_score, sk.recall_score):
        counted = y_pred if function is sk.precision_score else y_true
        return int(np.sum(counted == arguments.get("pos_label", 1)))
    return len(y_true)


def _losses(
    function: Callable[..., Any], arguments: Arguments, y_true: Array, y_pred: Array
) -> NDArray[np.float64]:
    if function is metrics.cost_sensitive_error:
        labels = arguments.get("labels")
        labels = unique_labels(y_true, y_pred) if labels is None else np.asarray(labels)
        true, pred = (np.argmax(y[:, None] == labels, axis=1) for y in (y_true, y_pred))
        return np.asarray(arguments["cost_matrix"], dtype=np.float64)[true, pred]
    # as floats: the difference of small integers would wrap around
    error = np.abs(np.subtract(y_true, y_pred, dtype=np.float64))
    losses = error if function is sk.mean_absolute_error else error**2
    return losses.reshape(len(losses), -1).mean(axis=1)


def _t_interval(
    losses: NDArray[np.float64], level: float, function: Callable[..., Any]
) -> tuple[Limits, float]:
    """Return the t interval of a mean loss; of its root for the RMSE."""
    mean, error = float(losses.mean()), float(stats.sem(losses))
    half = stats.t.ppf((1 + level) / 2, len(losses) - 1) * error
    low, high = max(mean - half, 0.0), mean + half
    if function is sk.root_mean_squared_error:
        error = error / (2 * mean**0.5) if mean else 0.0
        low, high = np.sqrt(low), np.sqrt(high)
    return (float(low), float(high)), error


def _auc_variance(
    function: Callable[..., Any], arguments: Arguments, y_true: Array, y_score: Array
) -> float:
    pos_label = arguments.get("pos_label")
    if function is sk.roc_auc_score:
        pos_label = np.unique(y_true)[-1].item()
    positive, score, _ = check_binary_scores(y_true, y_score, pos_label, None)
    if min(positive.sum(), (~positive).sum()) < 2:
        return np.nan
    return float(delong(positive, score[None, :])[1][0, 0])


def _delta(
    function: Callable[..., Any], arguments: Arguments, y_true: Array, y_pred: Array
) -> float:
    classes = unique_labels(y_true, y_pred)
    labels = arguments.get("labels")
    order = classes if labels is None else np.asarray(labels)
    average = _average_of(function, arguments)
    if isinstance(average, str) and average == "binary":
        average, order = "macro", np.asarray([arguments.get("pos_label", 1)])
    everything = np.concatenate([order, np.setdiff1d(classes, order)])
    table = sk.confusion_matrix(y_true, y_pred, labels=everything).astype(np.float64)
    if not isinstance(average, str):
        average = class_weights(average, order, table.sum(axis=1)[: len(order)])
    chosen = np.arange(len(everything)) < len(order)
    score = FScore(_VALUES[function], average, float(arguments.get("beta", 1.0)), chosen)
    return delta_variance(table, score)[1]


def _average_of(function: Callable[..., Any], arguments: Arguments) -> Any:
    if function is metrics.weighted_fbeta_score:
        return arguments.get("class_weight", "log_inverse")
    if function in _AVERAGED_OR_BINARY:
        return arguments.get("average", "binary")
    return "macro" if function is metrics.macro_fbeta_score else "micro"


_VALUES: dict[Callable[..., Any], str] = {
    sk.precision_score: "precision",
    sk.recall_score: "recall",
    sk.f1_score: "f",
    sk.fbeta_score: "f",
    metrics.macro_fbeta_score: "f_of_means",
    metrics.micro_fbeta_score: "f_of_means",
    metrics.weighted_fbeta_score: "f_of_means",
}
_AVERAGED_OR_BINARY = (sk.precision_score, sk.recall_score, sk.f1_score, sk.fbeta_score)
_SKLEARN_F = frozenset({"average", "labels", "pos_label", "zero_division"})
_OUR_F = frozenset({"beta", "labels", "zero_division"})
_CLASSES = frozenset({"binary", "multiclass"})
_NUMBERS = _CLASSES | {"continuous", "continuous-multioutput", "multiclass-multioutput"}


class _Family(NamedTuple):
    """Closed forms of a metric, and the keywords and kinds of target that they cover."""

    methods: tuple[str, ...]
    keywords: frozenset[str] = frozenset()
    targets: frozenset[str] = _CLASSES


_PROPORTION = tuple(PROPORTION_INTERVALS)
_DELTA = ("delta", "normal")
_DELONG = ("delong", "normal")
_FAMILIES: dict[Callable[..., Any], _Family] = {
    metrics.error_rate: _Family(_PROPORTION),
    sk.zero_one_loss: _Family(_PROPORTION),
    sk.accuracy_score: _Family(_PROPORTION),
    sk.precision_score: _Family(_PROPORTION, _SKLEARN_F),
    sk.recall_score: _Family(_PROPORTION, _SKLEARN_F),
    sk.f1_score: _Family(_DELTA, _SKLEARN_F),
    sk.fbeta_score: _Family(_DELTA, _SKLEARN_F | {"beta"}),
    metrics.macro_fbeta_score: _Family(_DELTA, _OUR_F),
    metrics.micro_fbeta_score: _Family(_DELTA, _OUR_F),
    metrics.weighted_fbeta_score: _Family(_DELTA, _OUR_F | {"class_weight"}),
    sk.roc_auc_score: _Family(_DELONG, targets=frozenset({"binary"})),
    metrics.ranking_loss: _Family(_DELONG, frozenset({"pos_label"}), frozenset({"binary"})),
    sk.mean_squared_error: _Family(("t",), targets=_NUMBERS),
    sk.mean_absolute_error: _Family(("t",), targets=_NUMBERS),
    sk.root_mean_squared_error: _Family(("t",), targets=_CLASSES | {"continuous"}),
    metrics.cost_sensitive_error: _Family(("t",), frozenset({"cost_matrix", "labels"})),
}
