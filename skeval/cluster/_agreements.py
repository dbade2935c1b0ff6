"""Agreement of the clusters of one half with those transferred from the other half."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from skeval.metrics.cluster._pairs import adjusted_rand, contingency, count_pairs, margin

__all__ = ["AGREEMENTS", "PREDICTION_STRENGTH", "SMALLEST", "Agreement", "holds"]

PREDICTION_STRENGTH = "prediction_strength"

Agreement = Callable[[np.ndarray, np.ndarray], float]

NOISE = -1
SMALLEST = 3
"""Fewest samples of a cluster in a half: one sample has no pair, and the one pair of two
samples is together or apart by chance."""


def number_noise_apart(labels: np.ndarray) -> np.ndarray:
    """Return labels as integers; every sample of noise is alone."""
    noise = labels == NOISE
    values, numbers = np.unique(labels, return_inverse=True)
    numbers[noise] = len(values) + np.arange(noise.sum())
    return numbers


def adjusted_rand_agreement(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Return the adjusted Rand index of the samples that are not noise on both sides."""
    clustered = (labels != NOISE) | (predicted != NOISE)
    parts = labels[clustered], predicted[clustered]
    table = contingency(*map(number_noise_apart, parts))
    if np.max(table.row_sums, initial=0) < 2:
        return 0.0
    return adjusted_rand(count_pairs(table))


def matched_accuracy(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share of equal labels after the best one-to-one renaming of clusters.

    Noise is equal to nothing; samples that are noise on both sides do not count.
    """
    clustered, other = labels != NOISE, predicted != NOISE
    sizes = np.unique(labels[clustered], return_counts=True)[1]
    if np.max(sizes, initial=0) < 2 or not np.any(clustered & other):
        return 0.0
    table = contingency(labels[clustered & other], predicted[clustered & other])
    dense = np.zeros((len(table.row_sums), len(table.column_sums)))
    dense[table.rows, table.columns] = table.cells
    equal = dense[linear_sum_assignment(dense, maximize=True)].sum()
    return float(equal / np.sum(clustered | other))


def worst_cluster_strength(labels: np.ndarray, predicted: np.ndarray) -> float:
    """Return the smallest share, over clusters, of pairs that the prediction keeps together.

    A cluster of fewer than `SMALLEST` samples counts 0, and so does noise alone.
    """
    clustered = labels != NOISE
    table = contingency(labels[clustered], number_noise_apart(predicted[clustered]))
    there = table.row_sums > 0  # numbers between two labels need not belong to a cluster
    sizes = table.row_sums[there]
    if np.min(sizes, initial=SMALLEST) < SMALLEST or not clustered.any():
        return 0.0
    kept = margin(table.rows, table.cells * (table.cells - 1), len(table.row_sums))[there]
    return float(np.min(kept / (sizes * (sizes - 1))))


def holds(labels: np.ndarray, n_clusters: int) -> bool:
    """Whether there are as many clusters of at least `SMALLEST` samples."""
    sizes = np.unique(labels[labels != NOISE], return_counts=True)[1]
    return int(np.sum(sizes >= SMALLEST)) >= n_clusters


# Each compares the labels found in a half with those transferred from the other half.
AGREEMENTS: dict[str, Agreement] = {
    "adjusted_rand": adjusted_rand_agreement,
    "matched_accuracy": matched_accuracy,
    PREDICTION_STRENGTH: worst_cluster_strength,
}
