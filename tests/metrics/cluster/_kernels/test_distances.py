"""Distances of blocks of samples, to the last digits."""

import numpy as np
import pytest
from helpers.crossed import each_value
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist

from skeval.metrics.cluster._kernels import distances as _euclidean
from skeval.metrics.cluster._kernels.distances import matrix_tiles, squared_euclidean

rng = np.random.default_rng(5)


@each_value
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
    monkeypatch.setattr(_euclidean, "NUMBERS_AT_ONCE", 1)
    a = 1e-9 * rng.normal(size=(9, 6)) + np.repeat(rng.normal(size=(3, 6)), 3, axis=0)
    np.testing.assert_allclose(squared_euclidean(a, a), cdist(a, a, "sqeuclidean"), rtol=1e-12)


def test_a_matrix_is_read_in_order():
    D = cdist(*[rng.normal(size=(8, 2))] * 2)
    order = np.array([3, 1, 7, 0])
    block = matrix_tiles(D, order)(slice(1, 3))(slice(0, 4)).distances
    np.testing.assert_array_equal(block, D[np.ix_([1, 7], order)])
