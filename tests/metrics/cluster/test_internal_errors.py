"""Bad input is refused by name, rule and value."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import UndefinedMetricWarning

from skeval.metrics import cluster as sk

X = np.arange(12.0).reshape(6, 2) ** 1.5
Y = np.array([0, 0, 0, 1, 1, 1])
D = np.abs(X[:, :1] - X[:, 0])

ONE_CLUSTER_WILL_DO = [
    sk.centroid_distances,
    sk.compactness_score,
    sk.connectivity_score,
    sk.mst_compactness,
    sk.within_cluster_distances,
    sk.within_cluster_sse,
    sk.within_cluster_variance,
]
TWO_NEEDED = [
    sk.between_cluster_distances,
    sk.davies_bouldin_score,
    sk.dunn_score,
    sk.internal_indices,
    sk.silhouette_samples,
    sk.silhouette_score,
]
ALL = ONE_CLUSTER_WILL_DO + TWO_NEEDED
BY_MATRIX = [
    sk.between_cluster_distances,
    sk.connectivity_score,
    sk.dunn_score,
    sk.internal_indices,
    sk.mst_compactness,
    sk.silhouette_samples,
    sk.silhouette_score,
    sk.within_cluster_distances,
]
WITH_CENTROIDS = [sk.centroid_distances, sk.compactness_score, sk.davies_bouldin_score]


def arguments(function):
    few = {sk.connectivity_score, sk.internal_indices}
    return {"n_neighbors": 2} if function in few else {}


def by_name(functions):
    return pytest.mark.parametrize("function", functions, ids=lambda f: f.__name__)


def test_every_function_is_in_a_list():
    assert {f.__name__ for f in ALL} == {
        name for name in sk.__all__ if name.split("_")[0] in INTERNAL_WORDS
    }


INTERNAL_WORDS = {
    "between", "centroid", "compactness", "connectivity", "davies", "dunn", "internal", "mst",
    "silhouette", "within",
}  # fmt: skip


@by_name(ALL)
def test_labels_of_another_length(function):
    with pytest.raises(ValueError, match="one label for each of the 6 rows of X, got 5"):
        function(X, Y[:5], **arguments(function))


@by_name(TWO_NEEDED)
def test_one_cluster(function):
    with pytest.raises(ValueError, match="labels must hold at least 2 clusters, got 1"):
        function(X, np.zeros(6), **arguments(function))
    with pytest.raises(ValueError, match="at least 2 clusters, got 1"):
        function(X, [0, 0, 0, -1, -1, -1], noise="drop", **arguments(function))


@by_name(ONE_CLUSTER_WILL_DO)
def test_one_cluster_will_do(function):
    assert function(X, np.zeros(6), **arguments(function)) is not None


@by_name(ALL)
def test_nothing_but_noise(function):
    with pytest.raises(ValueError, match="must leave at least one sample"):
        function(X, -np.ones(6), noise="drop", **arguments(function))


@by_name(ALL)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_not_finite(function, bad):
    data = X.copy()
    data[2, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        function(data, Y, **arguments(function))


@by_name(ALL)
def test_labels_not_a_number(function):
    with pytest.raises(ValueError, match="labels contains NaN"):
        function(X, [0, 0, 0, 1, 1, np.nan], **arguments(function))


@by_name(ALL)
def test_labels_in_a_table(function):
    with pytest.raises(ValueError, match="1d array"):
        function(X, np.column_stack([Y, Y]), **arguments(function))


@by_name(ALL)
def test_unknown_noise_policy(function):
    with pytest.raises(ValueError, match=r"'noise' parameter .*Got 'ignore'"):
        function(X, Y, noise="ignore", **arguments(function))


@by_name([f for f in ALL if f not in (sk.within_cluster_sse, sk.within_cluster_variance)])
def test_unknown_metric(function):
    with pytest.raises(ValueError, match=r"'metric' parameter .*Got 'euclid'"):
        function(X, Y, metric="euclid", **arguments(function))


MATRICES = {
    "non-square": (D[:, :5], r"got shape \(6, 5\)"),
    "negative": (D - 3 * (1 - np.eye(6)) * (D < 4), "got a distance of -"),
    "asymmetric": (D + np.triu(np.ones((6, 6)), 1), "two distances of one pair that differ by 1"),
    "diagonal": (D + 0.5 * np.eye(6), "got 0.5 on the diagonal"),
}


@by_name(BY_MATRIX)
@pytest.mark.parametrize("kind", MATRICES)
def test_no_distance_matrix(function, kind):
    matrix, message = MATRICES[kind]
    with pytest.raises(ValueError, match=message):
        function(matrix, Y, metric="precomputed", **arguments(function))


def test_asymmetry_beyond_the_first_block_of_rows():
    matrix = np.ones((1100, 1100)) - np.eye(1100)
    matrix[1050, 900] = 2.0
    with pytest.raises(ValueError, match="differ by 1"):
        sk.dunn_score(matrix, np.arange(1100) % 2, metric="precomputed")


def test_rounding_on_the_diagonal_is_forgiven():
    noisy = D + 1e-15 * np.eye(6)
    plain = sk.silhouette_score(D, Y, metric="precomputed")
    assert sk.silhouette_score(noisy, Y, metric="precomputed") == plain


@by_name(BY_MATRIX)
def test_sparse_distance_matrix(function):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        function(csr_matrix(D), Y, metric="precomputed", **arguments(function))


@by_name(WITH_CENTROIDS)
@pytest.mark.parametrize("metric", ["precomputed", "jaccard"])
def test_metric_without_centroids(function, metric):
    with pytest.raises(ValueError, match=f"measure centroids.*got '{metric}'"):
        function(D, Y, metric=metric)


@pytest.mark.parametrize("n_neighbors", [6, 7])
def test_too_many_neighbours(n_neighbors):
    for function in (sk.connectivity_score, sk.internal_indices):
        with pytest.raises(ValueError, match=f"number of samples, 6, got {n_neighbors}"):
            function(X, Y, n_neighbors=n_neighbors)


def test_dropped_noise_is_no_neighbour():
    with pytest.raises(ValueError, match="number of samples, 4, got 4"):
        sk.connectivity_score(X, [0, 0, 1, 1, -1, -1], noise="drop", n_neighbors=4)


def test_no_neighbours():
    for function in (sk.connectivity_score, sk.internal_indices):
        with pytest.raises(ValueError, match=r"'n_neighbors' parameter .*Got 0"):
            function(X, Y, n_neighbors=0)


def test_unknown_dispersion():
    with pytest.raises(ValueError, match=r"'dispersion' parameter .*Got 'diameter'"):
        sk.davies_bouldin_score(X, Y, dispersion="diameter")


def test_sparse_data_with_a_metric_for_dense_data():
    with pytest.raises(TypeError, match="sparse"):
        sk.dunn_score(csr_matrix(X), Y, metric="chebyshev")


def test_undefined_indices_are_named():
    with pytest.warns(UndefinedMetricWarning, match="compactness, sse, davies_bouldin, davies"):
        sk.internal_indices(D, Y, metric="precomputed", n_neighbors=2)
    with pytest.warns(UndefinedMetricWarning, match=r"nan: calinski_harabasz\."):
        sk.internal_indices(csr_matrix(X), Y, n_neighbors=2)
