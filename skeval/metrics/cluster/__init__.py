"""Indices of clusterings: external, internal, and of segmentation masks."""

from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    calinski_harabasz_score,
    completeness_score,
    davies_bouldin_score,
    homogeneity_score,
    normalized_mutual_info_score,
    rand_score,
    v_measure_score,
)
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from skeval.metrics.cluster._dbcv import dbcv_score
from skeval.metrics.cluster._external import (
    class_f_measure,
    coassociation_matrix,
    external_indices,
    fowlkes_mallows_score,
    inverse_purity_score,
    minkowski_score,
    pair_counts,
    pair_fbeta_score,
    pair_jaccard_score,
    pair_precision_recall_fscore,
    purity_score,
)
from skeval.metrics.cluster._indices import (
    between_cluster_distances,
    centroid_distances,
    compactness_score,
    connectivity_score,
    davies_bouldin_index,
    dunn_score,
    mst_compactness,
    silhouette_samples,
    silhouette_score,
    within_cluster_distances,
)
from skeval.metrics.cluster._internal import internal_indices
from skeval.metrics.cluster._masks import mask_adjusted_rand_score, mask_rand_score
from skeval.metrics.cluster._random_models import model_adjusted_rand_score

__all__ = [
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "between_cluster_distances",
    "calinski_harabasz_score",
    "centroid_distances",
    "class_f_measure",
    "coassociation_matrix",
    "compactness_score",
    "completeness_score",
    "connectivity_score",
    "contingency_matrix",
    "davies_bouldin_index",
    "davies_bouldin_score",
    "dbcv_score",
    "dunn_score",
    "external_indices",
    "fowlkes_mallows_score",
    "homogeneity_score",
    "internal_indices",
    "inverse_purity_score",
    "mask_adjusted_rand_score",
    "mask_rand_score",
    "minkowski_score",
    "model_adjusted_rand_score",
    "mst_compactness",
    "normalized_mutual_info_score",
    "pair_confusion_matrix",
    "pair_counts",
    "pair_fbeta_score",
    "pair_jaccard_score",
    "pair_precision_recall_fscore",
    "purity_score",
    "rand_score",
    "silhouette_samples",
    "silhouette_score",
    "v_measure_score",
    "within_cluster_distances",
]
