"""Every internal index against its double loop: metrics, noise, singletons, duplicates, K = n."""

import numpy as np
import pytest
import sklearn.metrics
from helpers.crossed import each_value
from numpy.random import RandomState, default_rng
from reference import internal as reference
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn import metrics
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import pairwise_distances

from skeval.cluster import compare_clusterings
from skeval.metrics import cluster as sk
from skeval.metrics import get_scorer
from skeval.metrics.cluster import (
    compactness_score,
    dbcv_score,
    internal_indices,
    silhouette_samples,
    silhouette_score,
)

rng = np.random.default_rng(0)
N = 40
BLOBS = rng.normal(size=(N, 6)) + 2.0 * rng.integers(0, 3, N)[:, None]
PLANE = rng.normal(size=(N, 2))
DUPLICATES = rng.integers(0, 3, size=(N, 3)).astype(float) + 1
SPARSE = np.where(rng.random((N, 30)) < 0.2, rng.normal(size=(N, 30)), 0.0)
SPARSE[:, 0] = 1.0  # cosine needs a length
SETS = {"blobs": BLOBS, "plane": PLANE, "duplicates": DUPLICATES, "sparse": SPARSE}
for data in SETS.values():
    data.setflags(write=False)

LABELS = {
    "random": rng.integers(0, 4, N),
    "two": np.repeat([0, 1], [1, N - 1]),
    "strings": np.array(["b", "a", "c"])[rng.integers(0, 3, N)],
    "singletons": np.arange(N)[::-1],
    "noise": rng.integers(-1, 3, N),
}


def as_input(X, D, kind):
    """Return X and the metric keyword of a way to hand over the same data."""
    if kind == "precomputed":
        return D, "precomputed"
    if kind.startswith("csr"):
        return {"csr_matrix": csr_matrix, "csr_array": csr_array}[kind](X), "euclidean"
    return X, kind


CASES = [
    *[("blobs", name, "euclidean") for name in LABELS if name != "noise"],
    *[("plane", name, "euclidean") for name in LABELS if name != "noise"],
    *[("duplicates", name, "euclidean") for name in LABELS if name != "noise"],
    *[(data, "random", "manhattan") for data in ("blobs", "duplicates")],
    ("blobs", "random", "cosine"),
    ("duplicates", "random", "cosine"),
    *[(data, "strings", "precomputed") for data in ("blobs", "duplicates")],
    ("sparse", "random", "csr_matrix"),
    ("sparse", "singletons", "csr_array"),
]


@pytest.fixture(params=CASES, ids="-".join, scope="module")
def case(request):
    data, labels, kind = request.param
    X, y = SETS[data], LABELS[labels]
    name = kind if kind in reference.METRICS else "euclidean"
    D = reference.distance_matrix(X, name)
    return X, y, D, reference.apply_noise(y, None)[1], kind, name


def test_silhouettes(case):
    X, y, D, keys, kind, _ = case
    data, metric = as_input(X, D, kind)
    expected = reference.silhouette_samples(D, keys)
    np.testing.assert_allclose(
        sk.silhouette_samples(data, y, metric=metric), expected, rtol=1e-10, atol=1e-12
    )
    assert sk.silhouette_score(data, y, metric=metric) == pytest.approx(expected.mean(), rel=1e-10)


def test_distances_within(case):
    X, y, D, keys, kind, _ = case
    data, metric = as_input(X, D, kind)
    found = sk.within_cluster_distances(data, y, metric=metric)
    mean, largest = reference.within(D, keys)
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-11)
    np.testing.assert_allclose(found["max"], largest, rtol=1e-11)
    assert found["label"].tolist() == sorted(set(y.tolist()))
    assert found["size"].tolist() == [len(g) for g in reference.clusters(keys)]


def test_distances_between(case):
    X, y, D, keys, kind, name = case
    data, metric = as_input(X, D, kind)
    if metric == "precomputed":
        with pytest.warns(UndefinedMetricWarning, match="centroids is nan"):
            found = sk.between_cluster_distances(data, y, metric=metric)
        assert np.isnan(found["centroid"]).all()
    else:
        found = sk.between_cluster_distances(data, y, metric=metric)
        expected = reference.centroid_between(X, keys, name)
        np.testing.assert_allclose(found["centroid"], expected, rtol=1e-10, atol=1e-13)
    mean, smallest = reference.between(D, keys)
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-11)
    np.testing.assert_allclose(found["min"], smallest, rtol=1e-11, atol=1e-15)  # cosine's rounding


@pytest.mark.filterwarnings("ignore:The Dunn index is 0/0")
def test_dunn(case):
    X, y, D, keys, kind, _ = case
    data, metric = as_input(X, D, kind)
    nearest, widest = np.nanmin(reference.between(D, keys)[1]), reference.within(D, keys)[1].max()
    if nearest == widest == 0:
        assert np.isnan(sk.dunn_score(data, y, metric=metric))
    else:
        expected = reference.dunn(D, keys)
        assert sk.dunn_score(data, y, metric=metric) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dispersion", ["pairwise", "centroid"])
def test_davies_bouldin(case, dispersion):
    X, y, D, keys, kind, name = case
    data, metric = as_input(X, D, kind)
    if metric == "precomputed":
        with pytest.raises(ValueError, match="metric must be defined for means of rows"):
            sk.davies_bouldin_index(data, y, metric=metric, dispersion=dispersion)
        return
    expected = reference.davies_bouldin(X, D, keys, dispersion, name)
    found = sk.davies_bouldin_index(data, y, metric=metric, dispersion=dispersion)
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n_neighbors", [1, 5, N - 1])
def test_connectivity(case, n_neighbors):
    X, y, D, keys, kind, _ = case
    data, metric = as_input(X, D, kind)
    expected = reference.connectivity(D, keys, n_neighbors)
    found = sk.connectivity_score(data, y, metric=metric, n_neighbors=n_neighbors)
    assert found == pytest.approx(expected, rel=1e-10)


def test_spanning_trees(case):
    X, y, D, keys, kind, _ = case
    data, metric = as_input(X, D, kind)
    found = sk.mst_compactness(data, y, metric=metric)
    trees = reference.mst_edges(D, keys)
    np.testing.assert_allclose(found["mean"], [np.mean(t or [0]) for t in trees], rtol=1e-11)
    np.testing.assert_allclose(found["max"], [max(t, default=0) for t in trees], rtol=1e-11)


def test_compactness(case):
    X, y, D, keys, kind, name = case
    data, metric = as_input(X, D, kind)
    if metric == "precomputed":
        with pytest.raises(ValueError, match="got 'precomputed'"):
            sk.centroid_distances(data, y, metric=metric)
        return
    expected = reference.sse(X, keys)
    assert sk.compactness_score(data, y, unit="sum") == pytest.approx(expected, rel=1e-11)
    assert sk.compactness_score(data, y, unit="mean") == pytest.approx(expected / N, rel=1e-11)
    assert sk.compactness_score(data, y) == pytest.approx(reference.compactness(X, keys), rel=1e-11)
    to_centroid = reference.to_centroid(X, keys, name)
    found = sk.centroid_distances(data, y, metric=metric)
    np.testing.assert_allclose(found["mean"], [np.mean(d) for d in to_centroid], rtol=1e-10)
    np.testing.assert_allclose(found["max"], [max(d) for d in to_centroid], rtol=1e-10)
    every = [d for cluster in to_centroid for d in cluster]
    assert sk.compactness_score(data, y, metric=metric) == pytest.approx(np.sqrt(np.mean(every)))


NOISE_FUNCTIONS = {
    "silhouette": lambda X, D, keys: reference.silhouette_samples(D, keys).mean(),
    "dunn": lambda X, D, keys: reference.dunn(D, keys),
    "davies_bouldin_pairwise": lambda X, D, keys: reference.davies_bouldin(X, D, keys),
    "davies_bouldin_centroid": lambda X, D, keys: reference.davies_bouldin(X, D, keys, "centroid"),
    "connectivity": lambda X, D, keys: reference.connectivity(D, keys, 4),
    "compactness": lambda X, D, keys: reference.compactness(X, keys),
    "sse": lambda X, D, keys: reference.sse(X, keys),
    "mean_within": lambda X, D, keys: reference.within(D, keys)[0],
    "min_between": lambda X, D, keys: reference.between(D, keys)[1],
    "centroid_between": lambda X, D, keys: reference.centroid_between(X, keys),
}


@each_value
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("noise", ["cluster", "drop", "singletons"])
def test_noise(noise, metric):
    rows, keys = reference.apply_noise(LABELS["noise"], noise)
    D = reference.distance_matrix(BLOBS)
    kept, kept_D = BLOBS[rows], D[np.ix_(rows, rows)]
    if metric == "precomputed":
        with pytest.warns(UndefinedMetricWarning):
            found = sk.internal_indices(
                D, LABELS["noise"], metric=metric, noise=noise, n_neighbors=4
            )
    else:
        found = sk.internal_indices(BLOBS, LABELS["noise"], noise=noise, n_neighbors=4)
    for name, definition in NOISE_FUNCTIONS.items():
        value = found[name]
        if not np.isnan(value).all():
            np.testing.assert_allclose(
                value, definition(kept, kept_D, keys), rtol=1e-10, err_msg=name
            )
    n_noise = int((LABELS["noise"] == -1).sum())
    expected = {
        "cluster": [-1, 0, 1, 2],
        "drop": [0, 1, 2],
        "singletons": [0, 1, 2, *[-1] * n_noise],
    }
    assert found["label"].tolist() == expected[noise]
    dropped = np.isnan(found["silhouette_samples"])
    np.testing.assert_array_equal(dropped, (LABELS["noise"] == -1) & (noise == "drop"))


@each_value
@pytest.mark.parametrize("noise", ["drop", "singletons"])
@pytest.mark.parametrize("form", [str, object, "S8", float], ids=str)
def test_noise_as_text(noise, form):
    y = LABELS["noise"].astype(float).astype(str) if form is float else LABELS["noise"].astype(form)
    expected = sk.within_cluster_distances(BLOBS, LABELS["noise"], noise=noise)
    found = sk.within_cluster_distances(BLOBS, y, noise=noise)
    np.testing.assert_array_equal(np.sort(found["size"]), np.sort(expected["size"]))
    value = sk.silhouette_score(BLOBS, LABELS["noise"], noise=noise)
    assert sk.silhouette_score(BLOBS, y, noise=noise) == pytest.approx(value, rel=1e-12)
    with pytest.warns(UserWarning, match="labeled -1"):
        sk.silhouette_score(BLOBS, y)


@pytest.mark.parametrize("far", [1e6, 1e10, 1e15, 1e17])
def test_one_far_cluster_makes_no_others_coincide(far):
    """Its distances are infinite in effect: the other two clusters decide, as at any distance."""
    rng = np.random.default_rng(0)
    near = np.concatenate([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + [20, 0]])
    labels = np.repeat([0, 1, 2], 20)
    for order in (slice(None), slice(None, None, -1)):  # the far cluster is the last or the first
        X = np.concatenate([near, rng.normal(size=(20, 2)) + far])[order]
        index = internal_indices(X, labels[order])
        pair = internal_indices(near, labels[:40])
        expected = 2 / 3 * pair["davies_bouldin_centroid"]  # the far cluster adds 0 to the mean
        assert index["davies_bouldin_centroid"] == pytest.approx(expected, rel=1e-4)


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


def test_mean_within_of_pairs_weights_clusters_by_their_pairs():
    labels, distance = clone(MODEL).fit_predict(X), pairwise_distances(X)
    upper = np.triu(labels[:, None] == labels, 1)
    score = get_scorer("neg_mean_within", within="pairs")(clone(MODEL).fit(X), X)
    assert score == pytest.approx(-distance[upper].mean())
    with pytest.raises(ValueError, match="within"):
        get_scorer("neg_mean_within", within="pair")(clone(MODEL).fit(X), X)


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


CLOUDS = default_rng(0).normal(size=(60, 3)) + np.repeat([0, 2, 5], 20)[:, None]
THREE = np.repeat(["a", "b", "c"], 20)


@pytest.mark.parametrize(
    ("metric", "arguments"),
    [
        ("minkowski", {"p": 3}),
        ("mahalanobis", {"VI": np.diag([1.0, 2.0, 3.0])}),
        ("seuclidean", {"V": np.array([1.0, 2.0, 3.0])}),
        (lambda a, b, power: np.abs(a - b).max() ** power, {"power": 0.5}),
    ],
)
def test_arguments_of_the_metric(metric, arguments):
    found = silhouette_samples(CLOUDS, THREE, metric=metric, **arguments)
    distances = cdist(CLOUDS, CLOUDS, metric=metric, **arguments)
    np.testing.assert_allclose(
        found, sklearn.metrics.silhouette_samples(distances, THREE, metric="precomputed")
    )
    assert silhouette_score(CLOUDS, THREE, metric=metric, **arguments) == pytest.approx(
        found.mean()
    )


@pytest.mark.parametrize("seed", [0, 7])
def test_the_sample_is_that_of_scikit_learn(seed):
    options = {"sample_size": 25, "metric": "cityblock", "random_state": seed}
    expected = sklearn.metrics.silhouette_score(CLOUDS, THREE, **options)
    assert silhouette_score(CLOUDS, THREE, **options) == pytest.approx(expected)


@pytest.mark.parametrize("make", [RandomState, default_rng])
def test_a_generator_is_advanced(make):
    generator = make(0)
    first, second = (
        silhouette_score(CLOUDS, THREE, sample_size=25, random_state=generator) for _ in range(2)
    )
    assert first != second


def test_a_sample_of_given_distances():
    distances = pairwise_distances(CLOUDS)
    options = {"sample_size": 30, "random_state": 0}
    found = silhouette_score(distances, THREE, metric="precomputed", **options)
    assert found == pytest.approx(silhouette_score(CLOUDS, THREE, **options))
    assert found == pytest.approx(
        sklearn.metrics.silhouette_score(distances, THREE, metric="precomputed", **options)
    )


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"takes no arguments, got \['p'\]"):
        silhouette_score(pairwise_distances(CLOUDS), THREE, metric="precomputed", p=3)
    with pytest.raises(ValueError, match="sample_size must be"):
        silhouette_score(CLOUDS, THREE, sample_size=0)
    with pytest.raises(TypeError, match="nonsense"):
        silhouette_score(CLOUDS, THREE, metric="minkowski", nonsense=3)
