"""Reference data without structure, as a clusterer gets them."""

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering

from skeval.cluster import structure_test


class Recorder(ClusterMixin, BaseEstimator):
    """Ward's method, which notes the number of clusters and the samples of each fit."""

    def __init__(self, n_clusters=2, seen=None):
        self.n_clusters = n_clusters
        self.seen = seen

    def __sklearn_clone__(self):
        return type(self)(self.n_clusters, self.seen)

    def fit_predict(self, X, y=None):
        self.seen.append((self.n_clusters, X))
        return self.divide(X)

    def divide(self, X):
        """Return the labels."""
        dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        return AgglomerativeClustering(self.n_clusters).fit_predict(dense)


class QuickRecorder(Recorder):
    """Notes the samples of each fit, and labels them in turn."""

    def divide(self, X):
        return np.arange(X.shape[0]) % self.n_clusters


def draw_references(X, reference, n=1, random_state=0):
    """Return the samples without structure that a test of structure draws."""
    seen = []
    structure_test(
        QuickRecorder(seen=seen),
        X,
        reference=reference,
        index=lambda *_: 0.0,
        n_references=n,
        random_state=random_state,
    )
    return [data for _, data in seen[1:]]
