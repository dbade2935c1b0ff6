"""Predicted probabilities of an event, of two classes or of one among several, and their bins."""

from __future__ import annotations

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from skeval.metrics._checks import check_binary_scores, positive_label, scale_weights
from skeval.utils._checks import check_data, check_y, naming
from skeval.utils._compat import Interval, StrOptions

__all__ = [
    "BIN_CONSTRAINTS",
    "PROBABILITY_CONSTRAINTS",
    "Binned",
    "Events",
    "bin_events",
    "check_events",
]

Floats = NDArray[np.float64]
PROBABILITY_CONSTRAINTS: dict[str, list[object]] = {
    "y_true": ["array-like"],
    "y_prob": ["array-like"],
    "pos_label": [Real, str, "boolean", None],
    "labels": ["array-like", None],
    "sample_weight": ["array-like", None],
}
BIN_CONSTRAINTS: dict[str, list[object]] = {
    "n_bins": [Interval(Integral, 1, None, closed="left")],
    "strategy": [StrOptions({"quantile", "uniform"})],
}


class Events(NamedTuple):
    """What was predicted with which probability, and whether it happened.

    Attributes
    ----------
    happened : bool ndarray of shape (n_samples,)
    probability : ndarray of shape (n_samples,)
    weight : ndarray of shape (n_samples,)
        All > 0, relative to the largest.
    pos_label : object
        The class whose probabilities these are; None for the class that is predicted.
    """

    happened: NDArray[np.bool_]
    probability: Floats
    weight: Floats
    pos_label: object


def check_events(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    pos_label: object,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Events:
    """Return the event that the probabilities are of; samples of weight 0 are left out."""
    given = check_data("y_prob", y_prob, ensure_2d=False, dtype=np.float64)
    if given.ndim == 2 and given.shape[1] > 1:
        found = _check_columns(y_true, given, pos_label, labels, sample_weight)
    else:
        if labels is not None:
            raise ValueError("labels must be None where y_prob has one column, got some.")
        checked = check_binary_scores(y_true, given, pos_label, sample_weight, "y_prob")
        classes = np.unique(check_y("y_true", y_true)).tolist()
        found = Events(*checked, positive_label(classes, pos_label))
    probability = found.probability
    if probability.min() < 0 or probability.max() > 1:
        outside = probability[(probability < 0) | (probability > 1)][0]
        raise ValueError(f"y_prob must lie between 0 and 1, got {outside:g}.")
    seen = found.weight > 0
    return Events(found.happened[seen], probability[seen], found.weight[seen], found.pos_label)


def _check_columns(
    y_true: ArrayLike,
    columns: Floats,
    pos_label: object,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Events:
    """Return one class against the rest, or whether the likeliest class is the true one."""
    with naming("y_true", "y_prob"):
        check_consistent_length(y_true, columns, sample_weight)
    y = check_y("y_true", y_true)
    classes = np.unique(y) if labels is None else check_y("labels", labels)
    if len(classes) != columns.shape[1] or len(set(classes.tolist())) < len(classes):
        raise ValueError(
            f"labels must name the class of each of the {columns.shape[1]} columns of y_prob once, "
            f"got {classes.tolist()[:10]}{' from y_true' if labels is None else ''}."
        )
    if not set(y.tolist()) <= set(classes.tolist()):
        raise ValueError(f"y_true must hold labels alone, {classes.tolist()[:10]}, got others.")
    weight = scale_weights(sample_weight, len(y))[0]
    if pos_label is None:
        return Events(y == classes[columns.argmax(axis=1)], columns.max(axis=1), weight, None)
    if pos_label not in classes.tolist():
        raise ValueError(f"pos_label must be one of {classes.tolist()[:10]}, got {pos_label!r}.")
    return Events(y == pos_label, columns[:, classes.tolist().index(pos_label)], weight, pos_label)


class Binned(NamedTuple):
    """Events in bins of their probability, of which none is empty.

    Attributes
    ----------
    place : int ndarray of shape (n_samples,)
        Bin of each event.
    edges : ndarray of shape (n_bins, 2)
        A bin holds what lies above its first edge, up to its second; the first one both.
    counts : int ndarray of shape (n_bins,)
    share : ndarray of shape (n_bins,)
        Of the weight.
    effective : ndarray of shape (n_bins,)
        Number of samples of equal weight whose mean would have this variance.
    predicted, observed : ndarray of shape (n_bins,)
        Mean probability, and the fraction that happened.
    """

    place: NDArray[np.intp]
    edges: Floats
    counts: NDArray[np.intp]
    share: Floats
    effective: Floats
    predicted: Floats
    observed: Floats


def bin_events(events: Events, n_bins: int, strategy: str) -> Binned:
    """Return the events in bins of equal width or of equal weight."""
    p, weight = events.probability, events.weight
    edges = _find_edges(p, weight, n_bins, strategy)
    filled, place = np.unique(np.searchsorted(edges[1:-1], p), return_inverse=True)
    place = place.reshape(-1)
    total = np.bincount(place, weight)
    return Binned(
        place,
        np.column_stack([edges[filled], edges[filled + 1]]),
        np.bincount(place),
        total / total.sum(),
        total**2 / np.bincount(place, weight**2),
        np.clip(np.bincount(place, weight * p) / total, 0.0, 1.0),
        np.bincount(place, weight * events.happened) / total,
    )


def _find_edges(p: Floats, weight: Floats, n_bins: int, strategy: str) -> Floats:
    shares = np.linspace(0, 1, n_bins + 1)
    if strategy == "uniform":
        return shares
    if weight.min() == weight.max():
        return np.percentile(p, 100 * shares)
    order = np.argsort(p)
    cumulative = np.cumsum(weight[order])
    at = np.searchsorted(cumulative, shares * cumulative[-1] * (1 - 1e-12))
    return p[order][np.minimum(at, len(p) - 1)]
