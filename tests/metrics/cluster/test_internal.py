"""Internal indices: what must not matter, undefined values, estimates from samples."""

import warnings

import numpy as np
import pytest
from helpers.cases import every_other
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import dbcv
from reference import internal as reference
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist, squareform
from scipy.stats import binomtest
from sklearn.datasets import make_blobs
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import calinski_harabasz_score, pairwise_distances

from skeval.metrics import cluster as sk
from skeval.metrics.cluster import _distance_pass as passes
from skeval.metrics.cluster import _samples, dbcv_score, internal_indices
from skeval.metrics.cluster._internal import allocate
from skeval.metrics.cluster._samples import make_partition
from skeval.model_selection import Estimate

rng = np.random.default_rng(3)
X = rng.normal(size=(700, 6)) + 2.0 * rng.integers(0, 4, 700)[:, None]
Y = rng.integers(0, 5, 700)

# small integers make duplicates and ties common
grids = arrays(np.float64, (12, 2), elements=st.integers(0, 3).map(float))
partitions = arrays(np.int64, 12, elements=st.integers(0, 3)).filter(lambda y: len(set(y)) > 1)


def assert_same(first, second, rtol=1e-12):
    for name in first.keys() - {"label", "size", "silhouette_samples"}:
        np.testing.assert_allclose(first[name], second[name], rtol=rtol, atol=1e-13, err_msg=name)


@pytest.mark.filterwarnings("ignore:The Dunn index is 0 / 0")
@settings(max_examples=40, deadline=None)
@given(grid=grids, y=partitions, seed=st.integers(0, 2**32 - 1))
def test_row_order_and_label_names_do_not_matter(grid, y, seed):
    shuffled = np.random.default_rng(seed).permutation(12)
    names = np.array(["a", "b", "c", "d"])
    first = sk.internal_indices(grid, y, n_neighbors=4)
    second = sk.internal_indices(grid[shuffled], names[y][shuffled], n_neighbors=4)
    assert_same(first, second)
    np.testing.assert_allclose(
        first["silhouette_samples"][shuffled], second["silhouette_samples"], atol=1e-13
    )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_threads_do_not_change_a_digit(metric):
    one = sk.internal_indices(X, Y, metric=metric)
    two = sk.internal_indices(X, Y, metric=metric, n_jobs=2)
    assert_same(one, two, rtol=0)
    np.testing.assert_array_equal(one["silhouette_samples"], two["silhouette_samples"])
    for function in (
        sk.dunn_score,
        sk.connectivity_score,
        sk.davies_bouldin_index,
        sk.silhouette_score,
    ):
        assert function(X, Y, metric=metric) == function(X, Y, metric=metric, n_jobs=2)
    for table in (sk.within_cluster_distances, sk.mst_compactness):
        one, two = table(X, Y, metric=metric), table(X, Y, metric=metric, n_jobs=2)
        np.testing.assert_array_equal(one["mean"], two["mean"])


def euclidean_case(kind, n=80, p=12):
    """Data on which the products of coordinates cancel, for many pairs or for few."""
    points = rng.normal(size=(n, p))
    if kind == "sentinels":
        points[:3] = 9999
    elif kind == "far blobs":
        points += 1e6 * rng.integers(0, 3, n)[:, None]
    elif kind == "scales":
        points *= 10.0 ** rng.integers(-8, 9, n)[:, None]
    elif kind == "few places":
        points = points[rng.integers(0, 5, n)]
    elif kind == "one place":
        points[:] = points[0]
    elif kind == "one of two places":
        points = np.where(rng.random(n)[:, None] < 0.5, points[0], points[1])
    return points


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("kind", "form", "exponent"),
    every_other(
        ["sentinels", "far blobs", "scales", "few places", "one place", "one of two places"],
        [(form, exponent) for form in (np.asarray, csr_matrix) for exponent in (0, -200, 200)],
    ),
)
def test_cancellation_costs_no_digit(kind, form, exponent, monkeypatch):
    """The sparse tiles too, and the data in any power of two."""
    monkeypatch.setattr("skeval.metrics.cluster._distances.MAX_NUMBERS", 0)
    points, y = euclidean_case(kind), rng.integers(0, 3, 80)
    scale = 2.0**exponent
    expected = sk.internal_indices(reference.distance_matrix(points), y, metric="precomputed")
    found = sk.internal_indices(form(points * scale), y)
    for name in ("silhouette_samples", "connectivity"):
        np.testing.assert_allclose(found[name], expected[name], atol=1e-11)
    for name in ("mean_within", "max_within", "mean_between", "min_between"):
        np.testing.assert_allclose(found[name] / scale, expected[name], rtol=1e-11, err_msg=name)


@pytest.mark.parametrize("n_features", [3, 20])
def test_many_clusters_need_no_table(n_features, monkeypatch):
    points, y = rng.normal(size=(150, n_features)), rng.integers(-1, 3, 150)
    data = {"euclidean": points, "precomputed": reference.distance_matrix(points)}
    for metric in data:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            options = {"metric": metric, "noise": "singletons"}
            whole = sk.internal_indices(data[metric], y, **options)
            monkeypatch.setattr("skeval.metrics.cluster._distance_pass.TABLE_NUMBERS", 0)
            strips = sk.internal_indices(data[metric], y, **options)
        value = sk.silhouette_score(data[metric], y, **options)
        monkeypatch.undo()
        assert_same(whole, strips)
        assert value == pytest.approx(whole["silhouette"], rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), exponent=st.sampled_from([-300, 0, 300]))
def test_calinski_harabasz_is_that_of_scikit_learn(seed, exponent):
    generator = np.random.default_rng(seed)
    points, y = generator.normal(size=(40, 3)), generator.permutation(np.arange(40) % 4)
    found = sk.internal_indices(points * 2.0**exponent, y)["calinski_harabasz"]
    assert found == pytest.approx(calinski_harabasz_score(points, y), rel=1e-10)


@each_value
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
@pytest.mark.parametrize(("lowest", "highest"), [(-60, 60), (-400, -300), (-5, -4), (300, 400)])
def test_the_length_of_rows_does_not_matter_to_cosine(form, lowest, highest):
    lengths = np.random.default_rng(0).integers(lowest, highest, 60)[:, None]
    pairs = {"metric": "cosine", "indices": ["silhouette", "dunn", "mean_between", "connectivity"]}
    first = sk.internal_indices(X[:60], Y[:60], **pairs)
    second = sk.internal_indices(form(np.ldexp(X[:60], lengths)), Y[:60], **pairs)
    assert second.to_dict() == pytest.approx(first.to_dict(), rel=1e-12)
    np.testing.assert_allclose(first["mean_between"], second["mean_between"], rtol=1e-12)
    D = reference.distance_matrix(X[:60], "cosine")
    np.testing.assert_allclose(
        second["mean_between"], reference.between(D, list(Y[:60]))[0], rtol=1e-12
    )


EVERYTHING = [name for name in sk.internal_indices(X, Y) if name not in ("label", "size")]
# In 2-D trees and bounds prune, in 30-D they do not.
DATA = {p: make_blobs(700, p, centers=4, cluster_std=3.0, random_state=0) for p in (2, 30)}


@pytest.fixture
def pairs(monkeypatch):
    """The number of distances in the tiles, the diagonal and below it not counted."""
    seen = []

    class Counted(_samples.Samples):
        @property
        def tiles(self):
            tiles = super().tiles

            def strip(rows):
                found = tiles(rows)

                def block(columns):
                    i = np.arange(rows.start, rows.stop)[:, None]
                    seen.append((np.arange(columns.start, columns.stop) > i).sum())
                    return found(columns)

                return block

            return strip

    monkeypatch.setattr(_samples, "Samples", Counted)
    return seen


@each_value
@pytest.mark.parametrize("p", DATA)
@pytest.mark.parametrize("name", EVERYTHING)
def test_one_alone_equals_that_of_all(name, p):
    X, y = DATA[p]
    found = internal_indices(X, y, indices=[name])
    expected = internal_indices(X, y)[name]
    np.testing.assert_allclose(found[name], expected, rtol=1e-11)
    assert list(found) == [name, "label", "size"]


def sum_of_steps(a, b):
    return float(np.abs(a - b).sum())


@pytest.mark.filterwarnings("ignore:Undefined for this metric")
@pytest.mark.parametrize("kind", ["manhattan", "cosine", "chebyshev", "callable", "sparse cosine"])
def test_other_metrics_over_many_tiles(kind, monkeypatch):
    """Each metric by tiles against its whole matrix, with threads."""
    monkeypatch.setattr(passes, "STRIP_NUMBERS", 3000)
    X, y = DATA[30][0][:300], DATA[30][1][:300]
    metric = {"callable": sum_of_steps, "sparse cosine": "cosine"}.get(kind, kind)
    D = pairwise_distances(X, metric="manhattan" if kind == "callable" else metric)
    np.fill_diagonal(D, 0.0)
    whole = internal_indices((D + D.T) / 2, y, metric="precomputed")
    data = csr_matrix(X) if kind == "sparse cosine" else X
    for n_jobs in (None, 2):
        found = internal_indices(data, y, metric=metric, n_jobs=n_jobs)
        for name in ("silhouette", "dunn", "connectivity"):
            assert found[name] == pytest.approx(whole[name], rel=1e-10)


def test_dunn_and_connectivity_need_no_pass_where_trees_prune(pairs):
    X, y = make_blobs(5000, 2, centers=4, cluster_std=3.0, random_state=0)
    internal_indices(X, y, indices=["dunn", "connectivity"])
    assert not pairs
    internal_indices(X, y, indices=["davies_bouldin_pairwise"])  # within clusters only
    assert 0 < sum(pairs) < 0.3 * 5000**2 / 2


@pytest.mark.filterwarnings("ignore:Undefined for this metric")
def test_nothing_is_undefined_that_was_not_asked_for(recwarn):
    X, y = DATA[30]
    internal_indices(csr_matrix(X), y, indices=["silhouette", "sse"])
    assert not recwarn


def test_sums_of_squares_of_sparse_samples_are_those_of_dense_ones():
    X, y = DATA[30]
    names = ["sse", "compactness", "calinski_harabasz"]
    dense = internal_indices(X, y, indices=names)
    sparse = internal_indices(csr_matrix(X), y, indices=names)
    for name in names:
        assert sparse[name] == pytest.approx(dense[name], rel=1e-8)


SIZES = [400, 200, 100, 30, 1]
N = sum(SIZES)
CLOUD, CLOUDS = make_blobs(SIZES, 8, cluster_std=6.0, random_state=0)
NAMES = ("silhouette", "connectivity")
BY_DISTANCES = {"metric": "manhattan"}


def estimate(n_rows, random_state=0, **options):
    options = BY_DISTANCES | {"indices": NAMES} | options
    return internal_indices(
        CLOUD, CLOUDS, max_pairs=n_rows * N, random_state=random_state, **options
    )


def list_estimates(found):
    return {name for name, value in found.items() if isinstance(value, Estimate)}


@pytest.fixture(scope="module")
def truth():
    return internal_indices(CLOUD, CLOUDS, **BY_DISTANCES)


@pytest.fixture(scope="module")
def estimates():
    return [estimate(100, random_state=seed) for seed in range(120)]


@pytest.mark.simulated
def test_coverage_bias_and_standard_error(truth, estimates):
    for name in NAMES:
        true = truth[name]
        found = [result[name] for result in estimates]
        values = np.array([each.value for each in found])
        covered = sum(true in each.interval for each in found)
        assert binomtest(covered, len(found), 0.95).pvalue > 1e-3, name
        spread = values.std(ddof=1)
        assert abs(values.mean() - true) < 4 * spread / np.sqrt(len(values))
        assert np.mean([e.standard_error for e in found]) == pytest.approx(spread, rel=0.2)


def test_dunn_is_exact_where_trees_prune():
    data, y = make_blobs(5000, 2, centers=3, cluster_std=2.0, random_state=0)
    found = internal_indices(data, y, max_pairs=10**6, random_state=0, confidence_level=0.999)
    assert list_estimates(found) == set(NAMES)
    assert found["dunn"] == pytest.approx(sk.dunn_score(data, y), rel=1e-12)
    assert sk.connectivity_score(data, y) in found["connectivity"].interval


def test_repeatable_and_independent_of_threads():
    first, again, threads = estimate(90, 3), estimate(90, 3), estimate(90, 3, n_jobs=2)
    assert first.to_dict() == again.to_dict() == threads.to_dict()
    assert first.to_dict() != estimate(90, 4).to_dict()
    assert estimate(90, None).to_dict() != estimate(90, None).to_dict()


def test_where_no_sampled_row_varies_there_is_no_interval():
    y = np.repeat([0, 1], 150)
    data = np.arange(600.0).reshape(300, 2) + 1e6 * y[:, None]
    found = internal_indices(data, y, indices=["connectivity"], max_pairs=9000, **BY_DISTANCES)
    assert found["connectivity"].value == found["connectivity"].standard_error == 0
    assert np.isnan(found["connectivity"].interval.low)


def test_allocation_is_proportional_and_leaves_no_cluster_out():
    partition = make_partition(CLOUDS, n_rows=N, noise=None)
    counts = allocate(partition, 100 * N)
    assert counts.sum() in range(95, 101)
    fewest = np.minimum(SIZES, 2)
    spare = np.array(SIZES) - fewest
    share = (100 - fewest.sum()) * spare / spare.sum()
    assert ((counts - fewest - share <= 0) & (counts - fewest - share > -1)).all()


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
        expected = dbcv.dbcv(D, labels, p)
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
    with pytest.warns(UndefinedMetricWarning, match="0/0"):
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
    monkeypatch.setattr(passes, "NUMBERS_AT_ONCE", 500)
    assert dbcv_score(X, labels) == pytest.approx(expected, abs=1e-12)


def test_fewer_than_two_clusters():
    X = data(0)[0]
    with pytest.raises(ValueError, match="labels must contain at least 2 clusters, got 1"):
        dbcv_score(X, np.zeros(30))
    with pytest.warns(UndefinedMetricWarning, match="two clusters with at least two samples"):
        assert np.isnan(dbcv_score(X, np.r_[1, np.zeros(29)]))
