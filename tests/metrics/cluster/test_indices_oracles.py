"""Internal indices against scikit-learn on real data, and SciPy where it has the number."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import metrics
from sklearn.datasets import load_digits, load_iris, load_wine

from skeval.metrics import cluster as sk

LOADERS = {"iris": load_iris, "wine": load_wine, "digits": load_digits}


@pytest.fixture(params=LOADERS, scope="module")
def data(request):
    return LOADERS[request.param](return_X_y=True)


@pytest.fixture(scope="module")
def found(data):
    return sk.internal_indices(*data)


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
