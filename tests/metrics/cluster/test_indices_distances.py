"""Extent and separation of clusters as scorers and in comparisons."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances

from skeval.cluster import compare_clusterings
from skeval.metrics.cluster import compactness_score, dbcv_score

X = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]
MODEL = KMeans(3, n_init=2, random_state=0)


def by_hand(labels):
    distance = pairwise_distances(X)
    together = labels[:, None] == labels
    pairs = [(a, b) for a in range(3) for b in range(a)]
    centers = pairwise_distances([X[labels == k].mean(axis=0) for k in range(3)])[
        (1, 2, 2), (0, 0, 1)
    ]
    within = [distance[np.ix_(labels == k, labels == k)] for k in range(3)]
    trees = [minimum_spanning_tree(distance[np.ix_(labels == k, labels == k)]) for k in range(3)]
    return {
        "mean_separation": np.mean(
            [distance[np.ix_(labels == a, labels == b)].mean() for a, b in pairs]
        ),
        "min_separation": distance[~together].min(),
        "max_separation": distance[~together].max(),
        "centroid_separation": centers.mean(),
        "min_centroid_separation": centers.min(),
        "max_centroid_separation": centers.max(),
        "mean_within": np.mean([part[np.triu_indices(len(part), 1)].mean() for part in within]),
        "min_within": distance[together & ~np.eye(len(labels), dtype=bool)].min(),
        "diameter": distance[together].max(),
        "mst_compactness": np.concatenate([tree.data for tree in trees]).mean(),
        "dbcv": dbcv_score(X, labels),
        "within_cluster_variance": compactness_score(X, labels) ** 2,
    }


LARGER_IS_BETTER = {
    "mean_separation",
    "min_separation",
    "max_separation",
    "centroid_separation",
    "min_centroid_separation",
    "max_centroid_separation",
    "dbcv",
}


def test_numbers_equal_the_definitions():
    labels = clone(MODEL).fit_predict(X)
    expected = by_hand(labels)
    comparison = compare_clusterings(X, {"three": labels}, indices=["dunn", *expected])
    np.testing.assert_allclose(comparison.values[0, 1:], list(expected.values()), rtol=1e-9)
    ratio = expected["min_separation"] / expected["diameter"]
    assert comparison.values[0, 0] == pytest.approx(ratio)
    directions = dict(zip(comparison.indices, comparison.greater_is_better, strict=True))
    assert {name for name in expected if directions[name]} == LARGER_IS_BETTER


def test_distances_need_no_features():
    labels = clone(MODEL).fit_predict(X)
    names = ["mean_separation", "min_separation", "max_separation", "min_within", "diameter"]
    values = compare_clusterings(X, {"three": labels}, indices=names).values
    options = {"indices": names, "metric": "precomputed"}
    by_distance = compare_clusterings(pairwise_distances(X), {"three": labels}, **options).values
    np.testing.assert_allclose(by_distance, values, rtol=1e-9)
    with pytest.raises(ValueError, match="precomputed"):
        compare_clusterings(
            pairwise_distances(X),
            {"three": labels},
            indices=["within_cluster_variance"],
            metric="precomputed",
        )
