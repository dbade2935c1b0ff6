"""Stability and comparison of clusterings."""

from skeval.cluster._choice import NClustersChoice, NClustersComparison
from skeval.cluster._choose import choose_n_clusters
from skeval.cluster._gap import GapStatistic, gap_statistic
from skeval.cluster._pareto import ClusteringComparison, compare_clusterings, pareto_dominance
from skeval.cluster._plot.comparison import IndicesDisplay, ParetoDisplay
from skeval.cluster._plot.gap import GapDisplay
from skeval.cluster._plot.stability import StabilityDisplay
from skeval.cluster._stability import PredictivePower, prediction_strength, predictive_power

__all__ = [
    "ClusteringComparison",
    "GapDisplay",
    "GapStatistic",
    "IndicesDisplay",
    "NClustersChoice",
    "NClustersComparison",
    "ParetoDisplay",
    "PredictivePower",
    "StabilityDisplay",
    "choose_n_clusters",
    "compare_clusterings",
    "gap_statistic",
    "pareto_dominance",
    "prediction_strength",
    "predictive_power",
]
