"""The tiled pass and its tiles against whole matrices, at sizes that cut clusters and tiles."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from skeval.metrics.cluster._kernels import distance_pass as passes
from skeval.metrics.cluster._kernels.distances import euclidean_tiles

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
