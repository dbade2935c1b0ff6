"""Stability and comparison of clusterings."""

from skeval.cluster._choice import NClustersChoice, NClustersComparison
from skeval.cluster._choose import choose_n_clusters
from skeval.cluster._cluster_stability import ClusterStability, cluster_stability
from skeval.cluster._gap import GapStatistic, gap_statistic
from skeval.cluster._index_interval import IndexInterval, index_interval
from skeval.cluster._pareto import ClusteringComparison, compare_clusterings, pareto_dominance
from skeval.cluster._plot.cluster_stability import ClusterStabilityDisplay
from skeval.cluster._plot.comparison import IndicesDisplay, ParetoDisplay
from skeval.cluster._plot.gap import GapDisplay
from skeval.cluster._plot.stability import StabilityDisplay
from skeval.cluster._plot.structure import StructureTestDisplay
from skeval.cluster._stability import PredictivePower, prediction_strength, predictive_power
from skeval.cluster._structure_test import StructureTest, structure_test

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
    "StructureTest",
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
