"""What must not matter to an internal index: order, names, threads, offset, read-only input."""

import warnings

import numpy as np
import pytest
from helpers.cases import every_other
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import internal as reference
from scipy.sparse import csr_matrix
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import calinski_harabasz_score

from skeval.metrics import cluster as sk
from skeval.metrics.cluster._internal import ROWS

rng = np.random.default_rng(3)
X = rng.normal(size=(700, 6)) + 2.0 * rng.integers(0, 4, 700)[:, None]
Y = rng.integers(0, 5, 700)

# small integers make duplicates and ties common
grids = arrays(np.float64, (12, 2), elements=st.integers(0, 3).map(float))
partitions = arrays(np.int64, 12, elements=st.integers(0, 3)).filter(lambda y: len(set(y)) > 1)


def assert_same(first, second, rtol=1e-12):
    for name in (*ROWS, "mean_within", "max_within", "mean_between", "min_between"):
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


@pytest.mark.parametrize("n_features", [3, 10, 20])
def test_near_duplicates_far_from_the_origin(n_features):
    """Points 1e-9 apart at offset 1e6: products of coordinates would give 0 or noise."""
    centers = rng.normal(size=(60, n_features)) * 5 + 1e6
    near = centers.copy()
    near[:, 0] += 1e-9
    data, y = np.vstack([centers, near]), np.repeat([0, 1], 60)
    D = reference.distance_matrix(data)
    true = reference.between(D, y.tolist())[1][0, 1]
    assert 5e-10 < true < 2e-9
    assert sk.internal_indices(data, y)["min_between"][0, 1] == pytest.approx(
        true, rel=1e-12, abs=0
    )
    expected = reference.dunn(D, y.tolist())
    assert sk.dunn_score(data, y) == pytest.approx(expected, rel=1e-12, abs=0)
    assert sk.dunn_score(csr_matrix(data), y) == pytest.approx(expected, rel=1e-12, abs=0)


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
    monkeypatch.setattr("skeval.metrics.cluster._kernels.distances.MAX_NUMBERS", 0)
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
            monkeypatch.setattr("skeval.metrics.cluster._kernels.distance_pass.TABLE_NUMBERS", 0)
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
