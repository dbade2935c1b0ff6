"""Bad input is refused by name, rule and value."""

import numpy as np
import pytest
from helpers.crossed import each_value
from scipy.sparse import coo_matrix, csr_matrix
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
]
TWO_NEEDED = [
    sk.between_cluster_distances,
    sk.davies_bouldin_index,
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
WITH_CENTROIDS = [sk.centroid_distances, sk.compactness_score, sk.davies_bouldin_index]


def arguments(function):
    few = {sk.connectivity_score, sk.internal_indices}
    return {"n_neighbors": 2} if function in few else {}


def by_name(functions):
    return pytest.mark.parametrize("function", functions, ids=lambda f: f.__name__)


@by_name(ALL)
def test_nothing_but_noise(function):
    with pytest.raises(ValueError, match="must leave at least one sample"):
        function(X, -np.ones(6), noise="drop", **arguments(function))


@by_name(ALL)
def test_arguments_the_other_way_round(function):
    with pytest.raises(TypeError, match=r"The order of arguments is \(X, labels\)"):
        function(Y, X, **arguments(function))


MATRICES = {
    "non-square": (D[:, :5], r"got shape \(6, 5\)"),
    "negative": (D - 3 * (1 - np.eye(6)) * (D < 4), "got a distance of -"),
    "asymmetric": (D + np.triu(np.ones((6, 6)), 1), "two distances for one pair that differ by 1"),
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


@by_name(BY_MATRIX)
def test_a_graph_of_neighbors_is_no_distance_matrix(function):
    near, connected = np.where(D < 6, D, 0.0), (D < 3) & (D > 0)
    assert np.mean(connected) < 0.5
    for graph in (csr_matrix(near), coo_matrix(near), connected.astype(float)):
        with pytest.raises(ValueError, match="A graph of neighbors"):
            function(graph, Y, metric="precomputed", **arguments(function))


# Distances that are not numbers, negative or infinite, by metric or by rows.
NO_DISTANCES = {
    "constant feature": ("seuclidean", np.column_stack([np.arange(6.0), np.ones(6)])),
    "constant row": ("correlation", np.vstack([np.eye(5), np.ones((1, 5))])),
    "constant row, rounded": ("correlation", np.vstack([np.eye(5, 7), np.full((1, 7), 0.1)])),
    "zero rows": ("braycurtis", np.vstack([np.eye(4), np.zeros((2, 4))])),
    "nothing true": ("dice", np.vstack([np.eye(4), np.zeros((2, 4))])),
    "nothing true either": ("sokalsneath", np.vstack([np.eye(4), np.zeros((2, 4))])),
    "callable nan": (lambda a, b: np.nan, X),
    "callable inf": (lambda a, b: np.inf, X),
    "callable negative": (lambda a, b: -float(a @ b), X),
    "one pair": (lambda a, b: np.nan if {a[0], b[0]} == {X[1, 0], X[4, 0]} else 1.0, X),
}


@each_value
@by_name(ALL)
@pytest.mark.parametrize("kind", NO_DISTANCES)
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 0, 4, 1, 3, 2]])
def test_what_is_no_distance_is_never_best(function, kind, order):
    metric, data = NO_DISTANCES[kind]
    labels = [0, 0, 0, 1, 1, 1]
    plain = [sk.centroid_distances, sk.compactness_score]
    if kind == "one pair" and function in [*plain, sk.davies_bouldin_index]:
        return  # neither compares these rows
    if kind == "one pair" and function in (sk.within_cluster_distances, sk.mst_compactness):
        labels = [0, 0, 1, 1, 0, 1]
    if isinstance(metric, str) and metric in ("dice", "sokalsneath") and function in WITH_CENTROIDS:
        return
    if kind.startswith(("constant row", "zero rows")) and function in (
        *plain,
        sk.davies_bouldin_index,
    ):
        labels = [0, 0, 0, 0, 1, 1]  # the mean of the last two is as they are
    labels = np.array(labels)[order]
    with pytest.raises(ValueError, match="metric must return finite distances"):
        function(data[order], labels, metric=metric, **arguments(function))


@by_name(ALL)
def test_features_that_mahalanobis_cannot_scale(function):
    for data in (np.column_stack([X, X[:, 0]]), np.column_stack([X, np.ones(6)])):
        with pytest.raises(ValueError, match="metric='mahalanobis' needs"):
            function(data, Y, metric="mahalanobis", **arguments(function))
    scaled = np.column_stack([X[:, 0], X[:, 1] + [0, 1, 0, 0, 2, 0]])
    tiny = function(scaled * [1.0, 2.0**-60], Y, metric="mahalanobis", **arguments(function))
    plain = function(scaled, Y, metric="mahalanobis", **arguments(function))
    if isinstance(plain, float):
        assert tiny == pytest.approx(plain, rel=1e-6)


@each_value
@by_name(BY_MATRIX)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("scale", [1.0, 2.0**-10, 2.0**10])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_single_and_half_precision_are_as_exact_as_they_can_be(function, dtype, scale):
    rounding = float(np.finfo(dtype).eps)
    rough = (scale * D).astype(dtype)
    rough += (10 * rounding * D.max() * scale * np.eye(6)).astype(dtype)
    rough[0, 5] += 10 * rounding * rough.max()
    found = function(rough, Y, metric="precomputed", **arguments(function))
    with pytest.raises(ValueError, match="on the diagonal"):  # too much for the double precision
        function(rough.astype(float), Y, metric="precomputed", **arguments(function))
    exact = function(scale * D, Y, metric="precomputed", **arguments(function))
    if isinstance(exact, float):
        assert found == pytest.approx(exact, rel=100 * rounding)


@by_name(WITH_CENTROIDS)
@pytest.mark.parametrize("metric", ["precomputed", "jaccard"])
def test_metric_without_centroids(function, metric):
    with pytest.raises(ValueError, match=f"means of rows, got '{metric}'"):
        function(D, Y, metric=metric)


@pytest.mark.parametrize("n_neighbors", [6, 7])
def test_too_many_neighbors(n_neighbors):
    for function in (sk.connectivity_score, sk.internal_indices):
        with pytest.raises(ValueError, match=f"below the 6 samples, got {n_neighbors}"):
            function(X, Y, n_neighbors=n_neighbors)


def test_undefined_indices_are_named():
    with pytest.warns(UndefinedMetricWarning, match="compactness, sse"):
        sk.internal_indices(D, Y, metric="precomputed", n_neighbors=2)
