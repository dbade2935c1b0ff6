"""Sequential tests of the number of clusters by the silhouette.

The hypothesis of one unimodal cluster is tested first. After its rejection, the
partition with the largest silhouette becomes the next hypothesis: each of its clusters is
unimodal. After later rejections, it is the partition with the largest excess of the silhouette
over the reference. The tests end when there is no evidence of more clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence
from scipy.stats import sem

from skeval.cluster import _stability
from skeval.cluster._cautions import caution_about_columns, caution_about_items, caution_about_shape
from skeval.cluster._n_clusters_choice import (
    LEVEL,
    LEVEL_MORE,
    SEQUENTIAL,
    NClustersChoice,
    Trial,
    with_n_clusters,
)
from skeval.cluster._references import Draws, refer_to_clusters
from skeval.cluster._stability import NOISE, Draw
from skeval.metrics.cluster import silhouette_score
from skeval.utils._checks import repetition_rng
from skeval.utils._compat import safe_indexing

MIN_REFERENCES = 39
"""Smallest number of draws whose P-value can be as small as the levels."""

BLOCK = 13
"""Number of draws after which a test may stop."""

MAX_ROWS = 2000
"""Number of samples above which the silhouette is computed on a random sample of them."""

ROUNDING = 1e-12
RULE = (
    f"largest silhouette if P <= {LEVEL}, else 1; while more clusters have P <= {LEVEL_MORE}, "
    "largest share of the way from the reference to 1"
)


class Step(NamedTuple):
    """Test of k clusters against a larger number.

    `values` of shape (K,) are the silhouettes of the candidates, `draws` of shape (K, B) those of
    the reference, and `limits` of shape (K,) the smallest silhouettes that reject.
    """

    candidates: np.ndarray
    values: np.ndarray
    draws: np.ndarray
    limits: np.ndarray
    pvalue: float

    @property
    def excess(self) -> np.ndarray:
        """The (K,) excesses ``(value - reference) / (1 - reference)``."""
        mean = self.draws.mean(axis=1)
        return standardize(self.values - mean, 1 - mean)


def choose_sequentially(trial: Trial, candidates: np.ndarray, n_references: int) -> NClustersChoice:
    """Return the number of clusters of the last rejected test, or 1."""
    root, clusterers = (
        trial.copy_root(),
        with_n_clusters(trial.clusterer, trial.parameter, candidates),
    )
    partitions, silhouettes = cluster_with_each(clusterers, trial.X, repetition_rng(root, 0))
    n_clusters, labels, steps = 1, np.zeros(trial.X.shape[0]), list[Step]()
    while np.any(left := candidates > n_clusters):
        tried = {k: clusterers[k] for k in candidates[left].tolist()}
        measure = partial(measure_draw, refer_to_clusters(trial.X, labels), tried)
        level = LEVEL_MORE if steps else LEVEL
        draw = partial(_stability.run_draws, measure, **trial.options)
        step = run_test(candidates[left], silhouettes[left], draw, root, n_references, level)
        steps.append(step)
        if step.pvalue > level:
            break
        # against one cluster the excess favors too many: the reference is nearly bimodal too
        n_clusters = int(step.candidates[np.argmax(step.excess if steps[1:] else step.values)])
        labels = partitions[n_clusters]
    first, last = steps[0], steps[-1]
    cautions = [caution_about_items(trial.X)]
    if n_clusters > 1:
        cautions = [caution_about_columns(trial.X), caution_about_shape(trial.X, labels)]
    tests_more = last is not first and last.candidates[0] > n_clusters
    return NClustersChoice(
        n_clusters=n_clusters,
        candidates=candidates,
        values=silhouettes,
        standard_errors=np.full(len(candidates), np.nan),
        replicates=silhouettes[:, None],
        reference_values=first.draws.mean(axis=1),
        reference_standard_errors=sem(first.draws, axis=1),
        reference_replicates=first.draws,
        limits=first.limits,
        method=SEQUENTIAL,
        reference=trial.kind,
        threshold=trial.threshold,
        rule=RULE,
        pvalue=first.pvalue,
        pvalue_more=last.pvalue if tests_more else np.nan,
        cautions=tuple(filter(None, cautions)),
    )


def run_test(
    candidates: np.ndarray,
    values: np.ndarray,
    draw: Callable[[list[tuple[SeedSequence, int]]], list[Any]],
    root: SeedSequence,
    n_references: int,
    level: float,
) -> Step:
    """Test against more clusters; stop early if enough draws are better to prevent a rejection.

    After an early stop, the P-value is computed from the draws so far (Besag and Clifford, 1991).
    """
    draws, allowed = np.empty((len(values), 0)), int(level * (n_references + 1)) - 1
    while draws.shape[1] < n_references:
        size = min(BLOCK, n_references - draws.shape[1])
        block = np.array(draw([(root.spawn(1)[0], size)])).T
        draws = np.concatenate([draws, block], axis=1)
        step = make_step(candidates, values, draws, level)
        n_better = step.pvalue * (1 + draws.shape[1]) - 1
        if n_better > allowed + 1.5:  # one more, because later draws change the standardization
            break
    return step


def measure_draw(reference: Draws, clusterers: dict[int, Any], draw: Draw) -> np.ndarray:
    """Return the silhouettes of the clusters in a draw of the reference."""
    return cluster_with_each(clusterers, reference(draw.rng), draw.rng)[1]


def cluster_with_each(
    clusterers: dict[int, Any], X: Any, rng: Generator
) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """Return the labels of each clusterer, and the (K,) silhouettes."""
    partitions = {
        k: _stability.fit_labels(clusterer, X)
        for k, clusterer in _stability.seed_alike(clusterers, rng).items()
    }
    n = X.shape[0]
    rows = np.arange(n) if n <= MAX_ROWS else np.sort(rng.choice(n, MAX_ROWS, replace=False))
    data = X if n <= MAX_ROWS else safe_indexing(X, rows)
    silhouettes = [measure_silhouette(data, own[rows], k) for k, own in partitions.items()]
    return partitions, np.array(silhouettes)


def measure_silhouette(X: Any, labels: np.ndarray, n_clusters: int) -> float:
    """Return the mean silhouette; 0 unless all requested clusters have 3 samples or more.

    A few extreme samples that heavy tails of one population produce are not a cluster.
    """
    sizes = np.unique(labels[labels != NOISE], return_counts=True)[1]
    if len(sizes) < n_clusters or sizes.min() < _stability.SMALLEST:
        return 0.0
    return float(silhouette_score(X, labels, noise="singletons"))


def make_step(candidates: np.ndarray, values: np.ndarray, draws: np.ndarray, level: float) -> Step:
    """Test by the largest standardized silhouette of all candidates.

    The data are standardized by the mean and standard deviation of the draws, and each draw by the
    moments of the other draws.
    """
    n = draws.shape[1]
    mean, deviations = draws.mean(axis=1), draws - draws.mean(axis=1, keepdims=True)
    variance = draws.var(axis=1, ddof=1)
    # mean and variance without the draw b, from the deviation of b
    others = np.maximum(((n - 1) * variance[:, None] - deviations**2 * n / (n - 1)) / (n - 2), 0.0)
    null = standardize(deviations * n / (n - 1), np.sqrt(others)).max(axis=0)
    spread = np.sqrt(variance)
    largest = standardize(values - mean, spread).max()
    critical = np.sort(null)[::-1][max(int(level * (n + 1)), 1) - 1]
    return Step(
        candidates,
        values,
        draws,
        mean + np.multiply(critical, spread, out=np.zeros(len(spread)), where=spread > 0),
        float((1 + np.sum(null >= largest)) / (1 + n)),
    )


def standardize(differences: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Divide by scales; for a scale of 0, equal values are 0 and others infinite."""
    unequal = np.where(np.abs(differences) > ROUNDING, np.copysign(np.inf, differences), 0.0)
    return np.divide(differences, scales, out=unequal, where=scales > ROUNDING)
