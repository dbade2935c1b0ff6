"""The tiled pass and its tiles against whole matrices, at sizes that cut clusters and tiles."""

import numpy as np
import pytest
from helpers.crossed import each_value
from scipy.spatial.distance import cdist

from skeval.metrics.cluster._kernels import distance_pass as passes
from skeval.metrics.cluster._kernels.distance_pass import Nearest
from skeval.metrics.cluster._kernels.distances import Tile, euclidean, euclidean_tiles, point_tiles

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
    found = passes.distance_pass(euclidean_tiles(points, starts), starts, 40)
    own = cluster[:, None] == np.arange(len(sizes))
    np.testing.assert_allclose(found.sums, (D @ own).T, rtol=1e-12)
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


@each_value
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


def test_what_is_not_asked_for_is_not_computed():
    tiles = point_tiles(euclidean, rng.normal(size=(10, 2)))
    found = passes.distance_pass(tiles, np.array([0, 5]), 10, sums=False)
    assert found.sums.size == 0
    assert found.nearest is None
    found = passes.distance_pass(tiles, np.array([0, 5]), 10, extremes=False)
    assert np.isinf(found.smallest).all()
    assert found.smallest.size == 1
    assert not found.largest.any()


def test_each_pair_is_computed_once():
    seen = np.zeros((30, 30), dtype=int)

    def strip(rows):
        def block(columns):
            seen[rows, columns] += 1
            return Tile(np.ones((rows.stop - rows.start, columns.stop - columns.start)))

        return block

    nearest = Nearest(np.repeat([0, 1], [10, 20]), 3, np.zeros(30))
    passes.distance_pass(strip, np.array([0, 10]), 30, nearest=nearest)
    pairs = np.triu_indices(30, k=1)
    assert (seen[pairs] == 1).all()
