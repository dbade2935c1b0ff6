"""Neighbors from the pass against the definition; ties and crowds."""

import numpy as np
import pytest
from reference import internal as reference
from scipy.spatial.distance import cdist

from skeval.metrics.cluster._kernels import distance_pass
from skeval.metrics.cluster._kernels import distance_pass as passes
from skeval.metrics.cluster._kernels.distance_pass import Nearest
from skeval.metrics.cluster._kernels.distances import euclidean, euclidean_tiles, point_tiles

rng = np.random.default_rng(8)


@pytest.fixture(params=[(3, 4), (7, 1000), (256, 1024), (1, 1), (6, 3)], ids=str)
def tile_size(request, monkeypatch):
    monkeypatch.setattr(passes, "TILE_ROWS", request.param[0])
    monkeypatch.setattr(passes, "TILE_COLUMNS", request.param[1])
    monkeypatch.setattr(distance_pass, "MAX_WAITING", 5)


def by_pass(tiles, cluster, L, zero=0.0, n_jobs=None):
    n, starts = len(cluster), np.flatnonzero(np.diff(cluster, prepend=-1))
    nearest = Nearest(cluster, L, zero)
    passes.distance_pass(
        tiles, starts, n, sums=False, extremes=False, nearest=nearest, n_jobs=n_jobs
    )
    return nearest


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


@pytest.mark.parametrize("L", [3, 20])
def test_ties_within_rounding(L):
    """Distances within a relative 1e-10 of each other are equal, in whatever order they come."""
    points = rng.integers(0, 3, size=(80, 2)) * (1 + 1e-13 * rng.random((80, 1)))
    cluster = np.repeat([0, 1], 40)
    exact = np.rint(points)
    D = cdist(exact, exact)
    zero = 1e-12  # places differ by rounding too
    tiles = point_tiles(euclidean, points)
    expected = reference.connectivity(D, list(cluster), L)
    assert by_pass(tiles, cluster, L, zero).foreign_weights().sum() == pytest.approx(
        expected, rel=1e-12
    )
