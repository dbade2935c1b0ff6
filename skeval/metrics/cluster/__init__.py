"""Indices of clusterings: external, internal, and of segmentation masks."""

from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from skeval.metrics.cluster._coassociation import coassociation_matrix
from skeval.metrics.cluster._external import (
    ExternalIndices,
    class_f_measure,
    external_indices,
    inverse_purity_score,
    purity_score,
)
from skeval.metrics.cluster._masks import mask_adjusted_rand_score, mask_rand_score
from skeval.metrics.cluster._pair_scores import (
    fowlkes_mallows_score,
    minkowski_score,
    pair_counts,
    pair_fbeta_score,
    pair_jaccard_score,
    pair_precision_recall_fscore,
)
from skeval.metrics.cluster._pairs import PairCounts

__all__ = [
    "ExternalIndices",
    "PairCounts",
    "adjusted_rand_score",
    "class_f_measure",
    "coassociation_matrix",
    "contingency_matrix",
    "external_indices",
    "fowlkes_mallows_score",
    "inverse_purity_score",
    "mask_adjusted_rand_score",
    "mask_rand_score",
    "minkowski_score",
    "pair_confusion_matrix",
    "pair_counts",
    "pair_fbeta_score",
    "pair_jaccard_score",
    "pair_precision_recall_fscore",
    "purity_score",
    "rand_score",
]
