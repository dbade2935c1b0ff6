"""Stability and comparison of clusterings."""

from skeval.cluster._choose import (
    GapStatistic,
    NClustersChoice,
    NClustersComparison,
    choose_n_clusters,
    gap_statistic,
)
from skeval.cluster._pareto import ClusteringComparison, compare_clusterings, pareto_dominance
from skeval.cluster._plot import (
    ClusterStabilityDisplay,
    GapDisplay,
    IndicesDisplay,
    ParetoDisplay,
    StabilityDisplay,
    StructureTestDisplay,
)
from skeval.cluster._stability import (
    ClusterStability,
    PredictivePower,
    cluster_stability,
    prediction_strength,
    predictive_power,
)
from skeval.cluster._structure import IndexInterval, index_interval, structure_test

__all__ = [
    "ClusterStability",
    "ClusterStabilityDisplay",
    "ClusteringComparison",
    "GapDisplay",
    "GapStatistic",
    "IndexInterval",
    "IndicesDisplay",
    "NClustersChoice",
    "NClustersComparison",
    "ParetoDisplay",
    "PredictivePower",
    "StabilityDisplay",
    "StructureTestDisplay",
    "choose_n_clusters",
    "cluster_stability",
    "compare_clusterings",
    "gap_statistic",
    "index_interval",
    "pareto_dominance",
    "prediction_strength",
    "predictive_power",
    "structure_test",
]
