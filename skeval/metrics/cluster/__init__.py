"""Indices of clusterings: external, internal, and of segmentation masks."""

from skeval.metrics.cluster._cluster_distances import BetweenClusterDistances, ClusterDistances
from skeval.metrics.cluster._compactness import (
    centroid_distances,
    compactness_score,
    within_cluster_sse,
    within_cluster_variance,
)
from skeval.metrics.cluster._connectivity import connectivity_score
from skeval.metrics.cluster._davies_bouldin import davies_bouldin_score
from skeval.metrics.cluster._dunn import dunn_score
from skeval.metrics.cluster._internal_indices import InternalIndices, internal_indices
from skeval.metrics.cluster._separation import between_cluster_distances, within_cluster_distances
from skeval.metrics.cluster._silhouette import silhouette_samples, silhouette_score
from skeval.metrics.cluster._spanning_tree import mst_compactness

__all__ = [
    "BetweenClusterDistances",
    "ClusterDistances",
    "InternalIndices",
    "between_cluster_distances",
    "centroid_distances",
    "compactness_score",
    "connectivity_score",
    "davies_bouldin_score",
    "dunn_score",
    "internal_indices",
    "mst_compactness",
    "silhouette_samples",
    "silhouette_score",
    "within_cluster_distances",
    "within_cluster_sse",
    "within_cluster_variance",
]
