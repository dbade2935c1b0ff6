"""Sentences about data for which the unimodal reference is not valid."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from skeval.cluster._stability import NOISE
from skeval.utils._compat import safe_indexing

MAX_ROWS, MAX_COLUMNS = 2000, 500

DEPENDENT = 1e-4
"""Smallest eigenvalue of a correlation matrix of columns that count as independent."""

WINDOW = 0.2
"""Half the width of the windows whose samples are counted, as a share of the distance."""

NO_DIP = 0.5
"""Ratio of the densities midway and at the centers from which there is no dip."""

SMALL = 0.1
"""Share of the samples below which a cluster may consist of extreme samples."""


def caution_about_columns(X: Any) -> str:
    """Return a sentence if the columns of X are linearly dependent, else an empty string."""
    n, p = X.shape
    if n < 2 * p or p > MAX_COLUMNS:
        return ""
    rows = safe_indexing(X, np.arange(0, n, -(-n // MAX_ROWS)))
    points = np.asarray(rows.toarray() if issparse(X) else rows, dtype=np.float64)
    points = points[:, np.ptp(points, axis=0) > 0]
    if points.shape[1] < 2 or len(points) < 2 * points.shape[1]:
        return ""
    if np.linalg.eigvalsh(np.corrcoef(points.T))[0] > DEPENDENT:
        return ""
    return (
        "Dependent columns: some columns follow from others, as shares or indicator columns that "
        "add up to a constant do. The reference data lack this dependence, so the P-value may be "
        "too small. Leave out such columns."
    )


def caution_about_shape(X: Any, labels: np.ndarray) -> str:
    """Return a sentence if the density has no dip between neighboring clusters.

    The samples of two clusters are projected on the line through their centers, and the count
    around its middle is compared with the geometric mean of the counts around the centers.
    """
    names = np.unique(labels[labels != NOISE])
    points = X if issparse(X) else np.asarray(X, dtype=np.float64)
    parts = [points[labels == name] for name in names]
    centers = np.array([np.asarray(part.mean(axis=0)).ravel() for part in parts])
    distances = ((centers[:, None] - centers) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    pairs = sorted(
        {(min(pair), max(pair)) for pair in enumerate(distances.argmin(axis=1).tolist())}
    )
    merged = []
    for first, second in pairs:
        axis = (centers[second] - centers[first]) / distances[first, second]
        places = [(parts[one] @ axis) - centers[first] @ axis for one in (first, second)]
        places_of_all = np.concatenate(places)
        left, middle, right = (
            np.sum(np.abs(places_of_all - place) < WINDOW) for place in (0, 0.5, 1)
        )
        if middle >= max(NO_DIP * np.sqrt(left * right), 1):
            merged.append(f"{names[first]} and {names[second]}")
    if not merged:
        return ""
    return (
        f"No gap: between the centers of clusters {', '.join(merged)}, samples are about as dense "
        "as at the centers. They may be parts of one cluster of a curved or elongated shape, which "
        "the reference data do not have."
    )


def caution_about_sizes(labels: np.ndarray) -> str:
    """Return a sentence if a cluster has less than a tenth of the samples, else an empty string."""
    names, sizes = np.unique(labels[labels != NOISE], return_counts=True)
    if sizes.min() >= SMALL * len(labels):
        return ""
    return (
        f"Small cluster: {names[sizes.argmin()]} has {sizes.min()} of {len(labels)} samples. They "
        "may be the extreme samples of one population: heavy tails that many columns share are "
        "more extreme than in the reference data, so the P-value may be too small."
    )


def caution_about_items(X: Any) -> str:
    """Return a sentence if all columns of X are yes / no items, else an empty string."""
    points = X.toarray() if issparse(X) else np.asarray(X)
    n_values = [len(np.unique(column)) for column in points.T]
    if max(n_values) > 2 or n_values.count(2) < 2:
        return ""
    return (
        "Yes / no items: classes of samples may be missed, because one factor behind all items "
        "explains their correlations as well. Compare a latent class model with a factor model."
    )
