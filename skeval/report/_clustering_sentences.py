"""What an evaluation of a clusterer found, in sentences."""

from __future__ import annotations

import numpy as np

from skeval.cluster import NClustersChoice
from skeval.cluster._stability import PREDICTION_STRENGTH
from skeval.report._clustering_table import MEASURES
from skeval.utils._text import write_with_spread

__all__ = ["FRONT", "ORIENTATION", "PRESUMES", "write_choice"]

ORIENTATION = (
    "Adjusted Rand with the known classes: for orientation only, nothing else here has seen them."
)
FRONT = "Pareto front: no other k is at least as good on every index to its left and better on one."
PRESUMES = (
    "The choice presumes clusters of the kind that the algorithm looks for (k-means and Ward: "
    "round ones); others are cut. To be cut alike in both halves is no evidence of groups, so "
    "each k is held against the same algorithm on data without structure."
)
REFERENCES = {
    "uniform": "data without structure (uniform in the principal box)",
    "box": "data without structure (uniform in the ranges of the features)",
    "permuted": "data without structure (every column shuffled by itself)",
}


def write_choice(stability: NClustersChoice) -> str:
    """Say which number of clusters the rule chose, why, and what is to be said against it."""
    parts = (_write_rule_and_value(stability), stability.caution, stability.edge)
    return " ".join(filter(None, parts))


def _write_rule_and_value(stability: NClustersChoice) -> str:
    """Say which number of clusters the rule chose, and why."""
    measure = " ".join(MEASURES[stability.method])
    repeats = stability.replicates.shape[1]
    hedge = ", but only just" if stability.edge else ""
    if stability.caution:
        hedge += ", which the shapes of single columns explain"
    chosen = np.flatnonzero(stability.candidates == stability.n_clusters)
    if not len(chosen):
        return (
            f"Choice: one cluster{hedge}, since no k tried has a mean {measure} "
            f"{_write_limit(stability)}, over {repeats} random halvings."
        )
    value, error = stability.values[chosen[0]], stability.standard_errors[chosen[0]]
    return (
        f"Choice: {stability.n_clusters} clusters{hedge}, the {_write_rule(stability)}: "
        f"{write_with_spread(value, error)} over {repeats} random halvings, where "
        f"{stability.limits[chosen[0]]:.3f} is needed."
    )


def _write_limit(stability: NClustersChoice) -> str:
    """Say how far a stability must lie above the reference."""
    above = f"at least 2/3 of the way from that of {REFERENCES[stability.reference]} to 1"
    if stability.method != PREDICTION_STRENGTH:
        return above
    return f"of {stability.threshold:g} or more and {above}"


def _write_rule(stability: NClustersChoice) -> str:
    """Return the rule of a choice above one cluster."""
    measure = " ".join(MEASURES[stability.method])
    best = "within one standard error of the best and "
    if stability.method == PREDICTION_STRENGTH:
        best = ""
    return f"largest k with a {measure} {best}{_write_limit(stability)}"
