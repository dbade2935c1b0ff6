"""DBCV: its definition, any shape, noise, ties, duplicates, many dimensions, bad input."""

import numpy as np
import pytest
from helpers.crossed import each_value
from reference import dbcv as reference
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import make_blobs
from sklearn.exceptions import UndefinedMetricWarning

from skeval.metrics.cluster import _internal, dbcv_score


def matrix(X, metric="euclidean"):
    return squareform(pdist(X, metric))


def data(seed, n=30, p=2):
    """Samples with labels -1 to 2, where the first cluster has a duplicate."""
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(n, p)), np.resize([0, 0, 0, 1, 1, 1, 2, 2, 2, -1], n)
    X[labels == 1] += 3
    X[1] = X[0]
    return X, labels


@each_value
@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock"])
def test_equals_the_definition(metric, p):
    for seed in range(5):
        X, labels = data(seed, p=p)
        D = matrix(X, metric)
        expected = reference.dbcv(D, labels, p)
        assert dbcv_score(X, labels, metric=metric) == pytest.approx(expected, abs=1e-9)
        found = dbcv_score(D, labels, metric="precomputed", n_features=p)
        assert found == pytest.approx(expected, abs=1e-9)


def test_noise():
    X, labels = data(2)
    with_noise, without = dbcv_score(X, labels), dbcv_score(X, labels, noise="drop")
    assert with_noise == pytest.approx(without * np.mean(labels != -1))
    as_cluster = dbcv_score(X, labels, noise="cluster")
    assert as_cluster == pytest.approx(dbcv_score(X, np.where(labels == -1, 9, labels)))
    with pytest.warns(UserWarning, match="are labeled -1"):
        assert dbcv_score(X, labels, noise=None) == as_cluster
    alone = np.where(labels == -1, np.arange(len(labels)) + 5, labels)
    assert dbcv_score(X, alone) == pytest.approx(with_noise)


def test_duplicates_are_dense():
    """A core distance of 0, and a cluster of one place has the best index."""
    X = np.repeat([[0.0], [5.0]], 4, axis=0)
    assert dbcv_score(X, np.repeat([0, 1], 4)) == 1.0
    with pytest.warns(UndefinedMetricWarning, match="0 / 0"):
        assert np.isnan(dbcv_score(np.zeros((8, 1)), np.repeat([0, 1], 4)))


def test_many_dimensions_do_not_overflow():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(40, 3000)), np.repeat([0, 1], 20)
    X[labels == 1] += 1
    assert 0 < dbcv_score(X, labels) < 1


def test_strips_and_threads_change_nothing(monkeypatch):
    X, labels = make_blobs(150, centers=4, random_state=0)
    expected = dbcv_score(X, labels)
    assert dbcv_score(X, labels, n_jobs=2) == expected
    assert dbcv_score(csr_matrix(X), labels) == pytest.approx(expected, abs=1e-9)
    monkeypatch.setattr(_internal, "NUMBERS_AT_ONCE", 500)
    assert dbcv_score(X, labels) == pytest.approx(expected, abs=1e-12)


def test_fewer_than_two_clusters():
    X = data(0)[0]
    with pytest.raises(ValueError, match="labels must contain at least 2 clusters, got 1"):
        dbcv_score(X, np.zeros(30))
    with pytest.warns(UndefinedMetricWarning, match="two clusters of two samples or more"):
        assert np.isnan(dbcv_score(X, np.r_[1, np.zeros(29)]))
