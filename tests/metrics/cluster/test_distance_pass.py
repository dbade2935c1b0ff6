"""The tiled pass and its tiles against whole matrices, at sizes that cut clusters and tiles."""

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import internal as reference
from scipy.spatial.distance import cdist, pdist

from skeval.metrics.cluster import _distance_pass as passes
from skeval.metrics.cluster._distance_pass import Nearest, largest_diameter, nearest_between
from skeval.metrics.cluster._distances import euclidean, euclidean_tiles, point_tiles

rng = np.random.default_rng(5)


@pytest.fixture(params=[1, 100, 300, 2**18])
def strip_size(request, monkeypatch):
    monkeypatch.setattr(passes, "STRIP_NUMBERS", request.param)


SIZES = [[20, 1, 15, 4], [40], [1] * 40, [39, 1], [1, 39], [7, 7, 7, 7, 7, 5], [2, 2, 1, 1, 34]]


@pytest.mark.usefixtures("strip_size")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_reductions(sizes):
    points = rng.normal(size=(40, 6))
    D = cdist(points, points)
    starts = np.cumsum(sizes) - sizes
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    sums, largest, smallest = passes.distance_pass(euclidean_tiles(points, starts), starts, 40)
    own = cluster[:, None] == np.arange(len(sizes))
    np.testing.assert_allclose(sums, (D @ own).T, rtol=1e-12)
    for k in range(len(sizes)):
        assert largest[k] == pytest.approx(D[own[:, k]][:, own[:, k]].max(), rel=1e-12)
        for m in range(len(sizes)):
            nearest = np.inf if k == m else D[own[:, k]][:, own[:, m]].min()
            assert smallest[k, m] == pytest.approx(nearest, rel=1e-12)


@pytest.mark.parametrize("outward", [True, False])
def test_a_close_pair_across_strips_costs_no_digit(outward, monkeypatch):
    """The strip of a row is compared with a column that is a little farther from the center."""
    monkeypatch.setattr(passes, "STRIP_NUMBERS", 1)
    points = np.vstack([rng.normal(size=(8, 6)), np.full((2, 6), 100.0)])
    points[8 + outward] *= 1 + 1e-9
    tiles, starts = euclidean_tiles(points, np.array([0, 9])), np.array([0, 9])
    smallest = passes.distance_pass(tiles, starts, 10)[2]
    expected = np.linalg.norm(points[8] - points[9])
    assert smallest[0, 1] == pytest.approx(expected, rel=1e-12)


ANGLE = rng.uniform(0, 2 * np.pi, 900)


def on_sphere(n, p):
    points = rng.normal(size=(n, p))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


SHAPES = {
    "gaussian": rng.normal(size=(900, 3)),
    "gaussian in 10-D": rng.normal(size=(900, 10)),
    "sphere": on_sphere(900, 3),
    "sphere in 8-D": on_sphere(900, 8),
    "circle": np.column_stack([np.cos(ANGLE), np.sin(ANGLE)]),
    "line": np.outer(rng.normal(size=900), [1.0, 2.0, 3.0]),
    "one feature": rng.normal(size=(900, 1)),
    "grid": rng.integers(0, 4, size=(900, 2)).astype(float),
    "far": rng.normal(size=(900, 2)) + 1e6,
    "outlier": np.vstack([rng.normal(size=(899, 2)), [[1e5, 1e5]]]),
    "one point": np.ones((900, 2)),
}


@each_value
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_clusters", [2, 3, 8, 900])
def test_nearest_and_largest_of_many_clusters(shape, n_clusters, monkeypatch):
    monkeypatch.setattr(passes, "FIRST_BATCH", 50)
    points = SHAPES[shape]
    cluster = np.sort(np.arange(900) % n_clusters)
    D = cdist(points, points)
    nearest = D[cluster[:, None] != cluster].min()
    assert nearest_between(points, cluster) == pytest.approx(nearest, rel=1e-13)
    sizes = np.bincount(cluster)
    ends = np.cumsum(sizes)
    members = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    widest = max(D[m, m].max() for m in members)
    assert largest_diameter(points, members) == pytest.approx(widest, rel=1e-13)


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 70), st.integers(1, 3)),
              elements=st.integers(-3, 3).map(float)))  # fmt: skip
def test_diameter_of_any_grid_points(points):
    expected = pdist(points).max(initial=0.0)
    found = largest_diameter(points, [slice(0, len(points))])
    assert found == pytest.approx(expected, rel=1e-13)


@pytest.fixture(params=[(1, 1), (200, 7), (2**18, 384)], ids=str)
def few_waiting(request, monkeypatch):
    monkeypatch.setattr(passes, "STRIP_NUMBERS", request.param[0])
    monkeypatch.setattr(passes, "BOUND_ROWS", request.param[1])
    monkeypatch.setattr(passes, "MAX_WAITING", 5)


def by_pass(tiles, cluster, L, n_jobs=None):
    n, starts = len(cluster), np.flatnonzero(np.diff(cluster, prepend=-1))
    nearest = Nearest(cluster, L)
    passes.distance_pass(
        tiles, starts, n, sums=False, extremes=False, nearest=nearest, n_jobs=n_jobs
    )
    return nearest


@pytest.mark.usefixtures("few_waiting")
@pytest.mark.parametrize("L", [1, 4, 59])
def test_the_nearest_are_the_nearest(L):
    points, cluster = rng.normal(size=(60, 5)), np.sort(rng.integers(0, 3, 60))
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    nearest = by_pass(euclidean_tiles(points, starts), cluster, L)
    nearest.settle()
    row, distance, copies, foreign = nearest.found
    D = cdist(points, points)
    order = np.argsort(D, axis=1)[:, 1 : L + 1]
    np.testing.assert_array_equal(row, np.repeat(np.arange(60), L))
    expected = np.take_along_axis(D, order, axis=1)
    np.testing.assert_allclose(distance, expected.ravel(), rtol=1e-12)
    np.testing.assert_array_equal(foreign, (cluster[order] != cluster[:, None]).ravel())
    assert (copies == 1).all()


@pytest.mark.parametrize("L", [1, 5, 79])
def test_rows_one_by_one_have_the_sums_and_ties_of_all(L):
    points = rng.integers(0, 3, size=(80, 2)) / 3
    starts, sizes, labels = np.array([0, 30]), np.array([30, 50]), np.repeat([0, 1], [30, 50])
    partition = passes._distances.Partition(np.arange(80), starts, sizes, np.arange(2), 80)
    samples = passes.Samples(points, partition, "euclidean")
    sums, weights = passes.measure_rows(samples, np.arange(80)[::-1], L)
    D = cdist(points, points)
    np.testing.assert_allclose(sums[:, ::-1], np.add.reduceat(D, starts, axis=0), rtol=1e-12)
    assert weights.sum() == pytest.approx(reference.connectivity(D, list(labels), L), rel=1e-12)


@pytest.mark.parametrize("L", [3, 20])
def test_ties_within_rounding(L):
    """Distances within a relative 1e-10 of each other are equal, in whatever order they come."""
    points = rng.integers(0, 3, size=(80, 2)) * (1 + 1e-13 * rng.random((80, 1)))
    cluster = np.repeat([0, 1], 40)
    exact = np.rint(points)
    D = cdist(exact, exact)

    def rounded(a, b):  # places differ by rounding too
        distance = euclidean(a, b)
        return np.where(distance <= 1e-12, 0.0, distance)

    expected = reference.connectivity(D, list(cluster), L)
    found = by_pass(point_tiles(rounded, points), cluster, L)
    assert found.foreign_weights().sum() == pytest.approx(expected, rel=1e-12)
