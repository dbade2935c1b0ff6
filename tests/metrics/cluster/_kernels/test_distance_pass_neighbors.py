"""Neighbors from the pass, row by row and by trees, against the definition; ties and crowds."""

import numpy as np
import pytest
from reference import internal as reference
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from skeval.metrics.cluster._kernels import distance_pass
from skeval.metrics.cluster._kernels import distance_pass as passes
from skeval.metrics.cluster._kernels.distance_pass import (
    VISIT_COST,
    Nearest,
    PlaceTree,
    foreign_weight_by_rows,
    order_by_place,
    points_visited,
)
from skeval.metrics.cluster._kernels.distances import euclidean, euclidean_tiles, point_tiles

rng = np.random.default_rng(8)


@pytest.fixture(params=[(3, 4), (7, 1000), (256, 1024), (1, 1), (6, 3)], ids=str)
def tile_size(request, monkeypatch):
    monkeypatch.setattr(passes, "TILE_ROWS", request.param[0])
    monkeypatch.setattr(passes, "TILE_COLUMNS", request.param[1])
    monkeypatch.setattr(distance_pass, "MAX_WAITING", 5)


def by_pass(tiles, cluster, L, zero=None, n_jobs=None):
    n, starts = len(cluster), np.flatnonzero(np.diff(cluster, prepend=-1))
    nearest = Nearest(cluster, L, np.zeros(n) if zero is None else zero)
    passes.distance_pass(
        tiles, starts, n, sums=False, extremes=False, nearest=nearest, n_jobs=n_jobs
    )
    return nearest


def three_ways(points, cluster, L):
    tiles, zero = point_tiles(euclidean, points), np.zeros(len(points))
    return [
        by_pass(tiles, cluster, L).foreign_weights().sum(),
        foreign_weight_by_rows(tiles, cluster, zero, L),
        PlaceTree(points, cluster, n_jobs=1).foreign_weight(L),
    ]


@pytest.mark.usefixtures("tile_size")
@pytest.mark.parametrize("L", [1, 4, 59])
def test_the_nearest_are_the_nearest(L):
    points, cluster = rng.normal(size=(60, 5)), np.sort(rng.integers(0, 3, 60))
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    found = by_pass(euclidean_tiles(points, starts), cluster, L)
    distance, foreign = distance_pass.unmark(found.marked)
    D = cdist(points, points)
    order = np.argsort(D, axis=1)[:, 1 : L + 1]
    at = np.argsort(distance, axis=1)
    expected = np.take_along_axis(D, order, axis=1)
    np.testing.assert_allclose(np.take_along_axis(distance, at, axis=1), expected, rtol=1e-12)
    expected = cluster[order] != cluster[:, None]
    np.testing.assert_array_equal(np.take_along_axis(foreign, at, axis=1), expected)
    assert not found.tied.any()
    np.testing.assert_allclose(found.last, expected_last(D, L), rtol=1e-12)


def expected_last(D, L):
    return np.sort(D, axis=1)[:, L]


@pytest.mark.usefixtures("tile_size")
@pytest.mark.parametrize(("n_places", "L"), [(1, 59), (5, 1), (5, 4), (60, 4), (60, 59)])
def test_crowds_of_duplicates_and_ties(n_places, L):
    """In tiles of any size, so that ties meet in every order."""
    points = rng.integers(0, 3, size=(n_places, 2))[rng.integers(0, n_places, 60)].astype(float)
    cluster = np.unique(rng.integers(0, 3, 60), return_inverse=True)[1]
    cluster.sort()
    expected = reference.connectivity(cdist(points, points), list(cluster), L)
    assert three_ways(points, cluster, L) == pytest.approx([expected] * 3, rel=1e-12)


@pytest.mark.parametrize("L", [3, 20])
def test_ties_within_rounding(L):
    """Distances within a relative 1e-10 of each other are equal, in whatever order they come."""
    points = rng.integers(0, 3, size=(80, 2)) * (1 + 1e-13 * rng.random((80, 1)))
    cluster = np.repeat([0, 1], 40)
    exact = np.rint(points)
    D = cdist(exact, exact)
    zero = np.full(80, 1e-12)  # places differ by rounding too
    tiles = point_tiles(euclidean, points)
    expected = reference.connectivity(D, list(cluster), L)
    assert by_pass(tiles, cluster, L, zero).foreign_weights().sum() == pytest.approx(
        expected, rel=1e-12
    )
    assert foreign_weight_by_rows(tiles, cluster, zero, L) == pytest.approx(expected, rel=1e-12)


def test_threads_find_the_same(tile_size):
    n = 300 if passes.TILE_ROWS > 6 else 60  # each of several tiles
    points, cluster = rng.normal(size=(n, 6)), np.sort(rng.integers(0, 4, n))
    tiles = point_tiles(euclidean, points)
    one, two = by_pass(tiles, cluster, 7), by_pass(tiles, cluster, 7, n_jobs=2)
    np.testing.assert_array_equal(np.sort(one.marked), np.sort(two.marked))


def test_few_distances_are_taken_in(monkeypatch):
    """After the first tiles few entries survive the comparison with the bounds."""
    taken = []
    merge = Nearest._merge

    def counted(self, rows, table, tied, at):
        taken.append(np.isfinite(table).sum())
        merge(self, rows, table, tied, at)

    monkeypatch.setattr(Nearest, "_merge", counted)
    n, L = 3000, 10
    points, cluster = rng.normal(size=(n, 12)), np.repeat([0, 1, 2], n // 3)
    starts = np.arange(0, n, n // 3)
    by_pass(euclidean_tiles(points, starts), cluster, L)
    assert sum(taken) < 12 * n * L < 0.05 * n**2


def test_an_order_by_place_keeps_clusters_and_brings_near_rows_together():
    points, members = rng.normal(size=(1000, 2)), [slice(0, 10), slice(10, 700), slice(700, 1000)]
    order = order_by_place(points, members)
    for rows in members:
        assert sorted(order[rows]) == list(range(rows.start, rows.stop))
    step = np.linalg.norm(np.diff(points[order[10:700]], axis=0), axis=1).mean()
    assert step < 0.5 * np.linalg.norm(np.diff(points[10:700], axis=0), axis=1).mean()


def test_duplicates_are_asked_for_once(monkeypatch):
    asked = []

    class Tree(cKDTree):
        def query(self, x, k=1, **options):
            asked.append(len(x) * np.size(k))
            return super().query(x, k, **options)

    monkeypatch.setattr(distance_pass, "cKDTree", Tree)
    points = np.repeat(rng.normal(size=(5, 2)), 400, axis=0)
    PlaceTree(points, np.arange(2000) % 2, n_jobs=1).foreign_weight(10)
    assert sum(asked) <= 5 * 2 * 12


@pytest.mark.parametrize("n_features", [1, 2, 6])
def test_points_visited_are_those_of_the_leaves_that_balls_meet(n_features):
    """No leaf is left out that holds a point of the ball."""
    points = rng.normal(size=(500, n_features))
    tree, queries = cKDTree(points, leafsize=10), rng.normal(size=(20, n_features))
    assert points_visited(tree, queries, np.inf) == 500
    assert points_visited(tree, queries, 0.0) <= 40
    radius = rng.uniform(0, 2, 20)
    inside = [len(found) for found in tree.query_ball_point(queries, radius)]
    assert np.mean(inside) <= points_visited(tree, queries, radius) < 500


def test_the_pilot_goes_by_the_data_and_not_by_the_number_of_features():
    plane = np.zeros((4000, 30))
    plane[:, :2] = rng.normal(size=(4000, 2))
    cluster = np.zeros(4000, dtype=int)
    rotated = plane @ np.linalg.qr(rng.normal(size=(30, 30)))[0]
    trees = [
        PlaceTree(points, cluster, n_jobs=1) for points in (rotated, rng.normal(size=(4000, 9)))
    ]
    few, many = (VISIT_COST * tree.count_visits(5) for tree in trees)
    assert few < 4000 < many
