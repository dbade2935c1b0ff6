"""Stability and comparison of clusterings."""

from skeval.cluster._choose import NClustersChoice, choose_n_clusters, gap_statistic, structure_test
from skeval.cluster._pareto import ClusteringComparison, compare_clusterings, pareto_dominance
from skeval.cluster._plot import (
    ClusterStabilityDisplay,
    IndicesDisplay,
    ParetoDisplay,
    StabilityDisplay,
)
from skeval.cluster._stability import ClusterStability, cluster_stability, predictive_power

__all__ = [
    "ClusterStability",
    "ClusterStabilityDisplay",
    "ClusteringComparison",
    "IndicesDisplay",
    "NClustersChoice",
    "ParetoDisplay",
    "StabilityDisplay",
    "choose_n_clusters",
    "cluster_stability",
    "compare_clusterings",
    "gap_statistic",
    "pareto_dominance",
    "predictive_power",
    "structure_test",
]
