"""Distances of blocks of samples, to the last digits."""

import numpy as np
import pytest
from helpers.crossed import each_value
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist

from skeval.metrics.cluster._kernels.distances import squared_euclidean

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
