"""Stability and comparison of clusterings."""

from skeval.cluster._choose import NClustersChoice, choose_n_clusters
from skeval.cluster._pareto import ClusteringComparison, compare_clusterings, pareto_dominance
from skeval.cluster._plot.comparison import IndicesDisplay, ParetoDisplay
from skeval.cluster._plot.stability import StabilityDisplay
from skeval.cluster._stability import PredictivePower, prediction_strength, predictive_power

__all__ = [
    "ClusteringComparison",
    "IndicesDisplay",
    "NClustersChoice",
    "ParetoDisplay",
    "PredictivePower",
    "StabilityDisplay",
    "choose_n_clusters",
    "compare_clusterings",
    "pareto_dominance",
    "prediction_strength",
    "predictive_power",
]
