"""Internal indices against scikit-learn on real data, and SciPy where it has the number."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn import metrics
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.neighbors import NearestNeighbors

from skeval.metrics import cluster as sk

LOADERS = {"iris": load_iris, "wine": load_wine, "digits": load_digits}


@pytest.fixture(params=LOADERS, scope="module")
def data(request):
    return LOADERS[request.param](return_X_y=True)


@pytest.fixture(scope="module")
def found(data):
    return sk.internal_indices(*data)


def test_silhouette(data, found):
    expected = metrics.silhouette_samples(*data)
    np.testing.assert_allclose(found["silhouette_samples"], expected, rtol=0, atol=1e-10)
    assert found["silhouette"] == pytest.approx(metrics.silhouette_score(*data), abs=1e-10)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine", "seuclidean"])
def test_silhouette_of_other_metrics(metric):
    X, y = load_iris(return_X_y=True)
    expected = metrics.silhouette_samples(X, y, metric=metric)
    np.testing.assert_allclose(sk.silhouette_samples(X, y, metric=metric), expected, atol=1e-10)


def test_mahalanobis_takes_its_covariance_from_all_samples():
    X, y = load_iris(return_X_y=True)
    D = cdist(X, X, "mahalanobis", VI=np.linalg.inv(np.cov(X.T)))
    D = (D + D.T) / 2
    expected = sk.silhouette_score(D, y, metric="precomputed")
    assert sk.silhouette_score(X, y, metric="mahalanobis") == pytest.approx(expected, rel=1e-10)


def test_scaled_euclidean_takes_its_variances_from_all_samples():
    X, y = load_iris(return_X_y=True)
    D = cdist(X, X, "seuclidean", V=X.var(axis=0, ddof=1))
    found = sk.within_cluster_distances(X, y, metric="seuclidean")
    expected = sk.within_cluster_distances(D, y, metric="precomputed")
    np.testing.assert_allclose(found["mean"], expected["mean"], rtol=1e-12)


def test_boolean_metric():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] > 8, y[:300]
    expected = metrics.silhouette_score(X, y, metric="jaccard")
    assert sk.silhouette_score(X, y, metric="jaccard") == pytest.approx(expected, abs=1e-10)


def test_callable_metric():
    X, y = load_iris(return_X_y=True)
    X, y = X[::4], y[::4]
    found = sk.silhouette_score(X, y, metric=lambda a, b: np.abs(a - b).max())
    expected = metrics.silhouette_score(X, y, metric="chebyshev")
    assert found == pytest.approx(expected, abs=1e-10)


def test_calinski_harabasz(data, found):
    expected = metrics.calinski_harabasz_score(*data)
    assert found["calinski_harabasz"] == pytest.approx(expected, rel=1e-10)


def test_davies_bouldin(data, found):
    expected = metrics.davies_bouldin_score(*data)
    assert found["davies_bouldin_centroid"] == pytest.approx(expected, rel=1e-10)


def test_sse_is_the_inertia_of_k_means(data):
    X, _ = data
    model = KMeans(3, n_init=1, random_state=0, tol=0).fit(X)
    assert sk.compactness_score(X, model.labels_, unit="sum") == pytest.approx(
        model.inertia_, rel=1e-10
    )


def test_tables(data, found):
    X, y = data
    for k in range(len(found["label"])):
        own = X[y == k]
        assert found["mean_within"][k] == pytest.approx(pdist(own).mean(), rel=1e-10)
        assert found["max_within"][k] == pytest.approx(pdist(own).max(), rel=1e-12)
        for m in range(k):
            pairs = cdist(own, X[y == m])
            assert found["mean_between"][k, m] == pytest.approx(pairs.mean(), rel=1e-10)
            assert found["min_between"][k, m] == found["min_between"][m, k]
            assert found["min_between"][k, m] == pytest.approx(pairs.min(), rel=1e-12)


def test_spanning_trees():
    X, y = load_wine(return_X_y=True)  # no duplicates: SciPy takes 0 for "no edge"
    found = sk.mst_compactness(X, y)
    for k in range(3):
        edges = minimum_spanning_tree(squareform(pdist(X[y == k]))).data
        assert found["max"][k] == pytest.approx(edges.max(), rel=1e-12)
        assert found["mean"][k] == pytest.approx(edges.mean(), rel=1e-12)


@pytest.mark.parametrize("n_features", [3, 20])
def test_connectivity_of_data_without_ties(n_features):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(400, n_features)), rng.integers(0, 3, 400)
    _, neighbors = NearestNeighbors(n_neighbors=8).fit(X).kneighbors()
    plain = sum(
        1 / (j + 1) for i in range(400) for j, other in enumerate(neighbors[i]) if y[other] != y[i]
    )
    assert sk.connectivity_score(X, y, n_neighbors=8) == pytest.approx(plain, rel=1e-12)
    found = sk.internal_indices(X, y, n_neighbors=8)
    assert found["connectivity"] == pytest.approx(plain, rel=1e-12)
