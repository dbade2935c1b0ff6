"""The tiled pass and its tiles against whole matrices, at sizes that cut clusters and tiles."""

import numpy as np
import pytest
from reference import internal as reference
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from skeval.metrics.cluster._kernels import distance_pass as passes
from skeval.metrics.cluster._kernels import distances as _distances
from skeval.metrics.cluster._kernels import neighbours as _neighbours
from skeval.metrics.cluster._kernels.distances import (
    euclidean,
    euclidean_tiles,
    matrix_tiles,
    point_tiles,
    squared_euclidean,
)
from skeval.metrics.cluster._kernels.neighbours import (
    foreign_weight_by_tiles,
    foreign_weight_by_tree,
    neighbour_reach,
)

rng = np.random.default_rng(5)


@pytest.fixture(params=[(3, 4), (7, 1000), (256, 1024), (1, 1), (6, 3)], ids=str)
def tile_size(request, monkeypatch):
    monkeypatch.setattr(passes, "TILE_ROWS", request.param[0])
    monkeypatch.setattr(passes, "TILE_COLUMNS", request.param[1])


SIZES = [[20, 1, 15, 4], [40], [1] * 40, [39, 1], [1, 39], [7, 7, 7, 7, 7, 5], [2, 2, 1, 1, 34]]


@pytest.mark.usefixtures("tile_size")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_reductions(sizes):
    points = rng.normal(size=(40, 6))
    D = cdist(points, points)
    starts = np.cumsum(sizes) - sizes
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    reach = rng.uniform(1, 3, 40)
    found = passes.distance_pass(euclidean_tiles(points, starts), starts, 40, reach=reach)
    own = cluster[:, None] == np.arange(len(sizes))
    np.testing.assert_allclose(found.sums, (D @ own).T, rtol=1e-12)
    same = cluster[:, None] == cluster
    apart = np.where(same, np.inf, D)
    np.testing.assert_array_equal(found.border, apart.min(axis=1) <= reach)
    for k in range(len(sizes)):
        assert found.largest[k] == pytest.approx(D[own[:, k]][:, own[:, k]].max(), rel=1e-12)
        for m in range(len(sizes)):
            nearest = np.inf if k == m else D[own[:, k]][:, own[:, m]].min()
            assert found.smallest[k, m] == pytest.approx(nearest, rel=1e-12)


@pytest.mark.usefixtures("tile_size")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_within(sizes):
    points = rng.normal(size=(40, 6))
    D = cdist(points, points)
    ends = np.cumsum(sizes)
    members = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    totals, largest = passes.within_pass(point_tiles(euclidean, points), members)
    np.testing.assert_allclose(totals, [D[m, m].sum() / 2 for m in members], rtol=1e-12)
    np.testing.assert_allclose(largest, [D[m, m].max() for m in members], rtol=1e-12)


@pytest.mark.parametrize("sizes", [*SIZES, [9, 200, 3, 3, 1, 500, 10, 10]], ids=str)
@pytest.mark.parametrize("size", [1, 4, 10, 64])
def test_tiles_hold_whole_clusters_or_parts_of_one(sizes, size):
    ends = np.cumsum(sizes)
    cuts = passes.cut_points(ends - sizes, ends[-1], size)
    assert cuts[-1] == ends[-1]
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    begin = 0
    for cut in cuts:
        assert 0 < cut - begin <= size
        whole = begin in {0, *ends} and cut in ends
        assert whole or cluster[begin] == cluster[cut - 1]
        begin = cut


@pytest.mark.parametrize("L", [1, 10, 399])
def test_reach_holds_enough_neighbours(L):
    points = rng.integers(0, 9, size=(400, 3)).astype(float)
    reach = neighbour_reach(point_tiles(euclidean, points), 400, L)
    true = np.sort(cdist(points, points), axis=1)[:, L]
    assert np.isfinite(reach).all()
    assert (reach > true).all()


def test_what_is_not_asked_for_is_not_computed():
    tiles = point_tiles(euclidean, rng.normal(size=(10, 2)))
    found = passes.distance_pass(tiles, np.array([0, 5]), 10, sums=False)
    assert found.sums.size == 0
    assert not found.border.any()
    found = passes.distance_pass(tiles, np.array([0, 5]), 10, extremes=False)
    assert np.isinf(found.smallest).all()
    assert found.smallest.size == 1
    assert not found.largest.any()


def test_each_pair_is_computed_once():
    seen = np.zeros((30, 30), dtype=int)

    def strip(rows):
        def block(columns):
            seen[rows, columns] += 1
            return np.ones((rows.stop - rows.start, columns.stop - columns.start))

        return block

    passes.distance_pass(strip, np.array([0, 10]), 30)
    pairs = np.triu_indices(30, k=1)
    assert (seen[pairs] == 1).all()


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
@pytest.mark.parametrize("p", [1, 4, 5, 30])
@pytest.mark.parametrize("step", [1.0, 1e-3, 1e-6, 1e-9])
def test_squared_distances_keep_their_digits(form, p, step):
    a = rng.normal(size=(20, p))
    b = np.vstack([a + step * rng.normal(size=a.shape), a])
    found = squared_euclidean(form(a), form(b))
    np.testing.assert_allclose(found, cdist(a, b, "sqeuclidean"), rtol=1e-12)
    assert (np.diagonal(found[:, 20:]) == 0).all()


def test_few_pairs_are_gathered_at_a_time(monkeypatch):
    monkeypatch.setattr(_distances, "NUMBERS_AT_ONCE", 1)
    a = 1e-9 * rng.normal(size=(9, 6)) + np.repeat(rng.normal(size=(3, 6)), 3, axis=0)
    np.testing.assert_allclose(squared_euclidean(a, a), cdist(a, a, "sqeuclidean"), rtol=1e-12)


def test_a_matrix_is_read_in_order():
    D = cdist(*[rng.normal(size=(8, 2))] * 2)
    order = np.array([3, 1, 7, 0])
    block = matrix_tiles(D, order)(slice(1, 3))(slice(0, 4))
    np.testing.assert_array_equal(block, D[np.ix_([1, 7], order)])


@pytest.mark.usefixtures("tile_size")
@pytest.mark.parametrize("L", [1, 4, 59])
def test_neighbours_by_tree_and_by_tiles_agree(L, monkeypatch):
    points = rng.integers(0, 4, size=(60, 2)).astype(float)  # ties and duplicates abound
    cluster = np.sort(rng.integers(0, 3, 60))
    everyone = np.ones(60, dtype=bool)
    by_tree = foreign_weight_by_tree(points, cluster, np.arange(60), L, n_jobs=1)
    tiles = point_tiles(euclidean, points)
    assert by_tree == pytest.approx(foreign_weight_by_tiles(tiles, cluster, everyone, L), rel=1e-12)
    monkeypatch.setattr("skeval.metrics.cluster._kernels.neighbours.BOUND_SAMPLE", 1)
    monkeypatch.setattr("skeval.metrics.cluster._kernels.neighbours.NUMBERS_AT_ONCE", 1)
    assert by_tree == pytest.approx(foreign_weight_by_tiles(tiles, cluster, everyone, L), rel=1e-12)


@pytest.mark.parametrize("L", [1, 4, 30, 119])
@pytest.mark.parametrize("n_places", [1, 2, 5, 60, 120])
def test_crowds_of_duplicates_and_ties(n_places, L, monkeypatch):
    """The tree and the tiles, with and without counting ties at once, and the definition."""
    points = rng.integers(0, 3, size=(n_places, 2))[rng.integers(0, n_places, 120)].astype(float)
    cluster = np.sort(rng.integers(0, 3, 120))
    everyone, tiles = np.ones(120, dtype=bool), point_tiles(euclidean, points)
    expected = reference.connectivity(cdist(points, points), list(cluster), L)
    by_tree = foreign_weight_by_tree(points, cluster, np.arange(120), L, n_jobs=1)
    assert by_tree == pytest.approx(expected, rel=1e-12)
    plain = foreign_weight_by_tiles(tiles, cluster, everyone, L)
    assert plain == pytest.approx(expected, rel=1e-12)
    monkeypatch.setattr(_neighbours, "BOUND_SAMPLE", 1)
    monkeypatch.setattr(_neighbours, "MANY_TIES", 0)
    assert foreign_weight_by_tiles(tiles, cluster, everyone, L) == pytest.approx(expected)


def test_duplicates_are_asked_for_once(monkeypatch):
    asked = []

    class Tree(cKDTree):
        def query(self, x, k=1, **options):
            asked.append(len(x) * k)
            return super().query(x, k, **options)

    monkeypatch.setattr(_neighbours, "cKDTree", Tree)
    points = np.repeat(rng.normal(size=(5, 2)), 400, axis=0)
    foreign_weight_by_tree(points, np.arange(2000) % 2, np.arange(2000), 10, n_jobs=1)
    assert sum(asked) <= 5 * 2 * 12
