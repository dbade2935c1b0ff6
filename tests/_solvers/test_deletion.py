"""Solvers by deletion: what the comparison with single fits does not show."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.splits import KINDS, N_FITS, some_splits
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import NearestNeighbors

from skeval._solvers import neighbors as solver
from skeval._solvers.least_squares import factor_columns, factor_kernel, standardize_all
from skeval._solvers.moments import Columns, SplitMoments
from skeval._solvers.neighbors import SortedNeighbors
from skeval._solvers.splits import Splits

N, P, K = 36, 4, 3


def test_singular_equations_are_noise():
    X = np.zeros((N, 2))
    X[:3, 0], X[:, 1] = [1.0, 2.0, 4.0], np.arange(N)
    weights = np.ones((2, N), dtype=int)
    weights[0, :3] = weights[1, 3:6] = 0
    splits = Splits(weights, np.array([[0, 1, 2], [3, 4, 5]]))
    found = factor_columns(X, 0.0).solve(X[:, 1][None, None], np.zeros(2, dtype=int), splits)
    assert not found.noise[0] < 1e-9
    assert found.noise[1] < 1e-12
    assert factor_kernel(-np.eye(3), 1.0) is None


@pytest.mark.parametrize("kind", ["3", "20", "resamples"])
def test_whole_numbers_give_exact_variances(kind):
    rng = np.random.default_rng(1)
    labels = np.arange(N) % K
    X = rng.integers(-9, 9, size=(N, P)).astype(float)
    X[labels == 1, 2] = 5.0  # beside other numbers in other classes
    columns = Columns(X, K, scaled=False)
    moments = SplitMoments(columns, labels[None], np.zeros(N_FITS, int), some_splits(kind, rng, N))
    assert columns.exact.all()
    assert (moments.variances[:, 1, 2] == 0).all()
    assert (moments.variances[:, 0, 2] > 0).all()


@each_value
@pytest.mark.parametrize("n_neighbors", [1, 5, 25])
@pytest.mark.parametrize("share", [0.9, 0.632])
def test_lists_are_found_once(share, n_neighbors):
    """In the first block and the next ones: as long as those who are left out make them."""
    rng, n, asked = np.random.default_rng(0), 600, []
    X = rng.normal(size=(n, 5))
    model = NearestNeighbors().fit(X)

    def find(size):
        asked.append(size)
        distances, indices = model.kneighbors(X, size)
        return distances**2, indices

    neighbors = SortedNeighbors(find, n, n_neighbors, 1e-12)
    for _ in range(5):
        removed = rng.permutation(n)[None, round(share * n) :]
        weights = np.ones((1, n), dtype=int)
        weights[0, removed] = 0
        assert neighbors.vote(np.zeros((1, n)), Splits(weights, removed), 1).certain.all()
    assert len(asked) == 1


@each_value
@pytest.mark.parametrize("by_distance", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "weights"])
def test_lists_in_the_scales_of_all_samples_miss_no_neighbor(kind, by_distance, monkeypatch):
    rng, n = np.random.default_rng(3), 60
    columns = standardize_all(rng.standard_t(2, size=(n, 3)))  # of very different variances
    labels, splits = rng.integers(0, 3, size=(N_FITS, n)), some_splits(kind, rng, n)
    sizes = []

    def find(size):
        sizes.append(size)
        distances, indices = NearestNeighbors(n_neighbors=size).fit(columns).kneighbors(columns)
        return distances**2, indices

    monkeypatch.setattr(solver, "_ROOM", 1)
    neighbors = SortedNeighbors(find, len(columns), 3, 1e-13, by_distance, columns)
    found = neighbors.vote(labels, splits, 3)
    assert sizes[0] < n
    monkeypatch.setattr(solver, "_MAX_KEPT", 0)  # so that no list is kept
    expected = neighbors.vote(labels, splits, 3)
    assert_array_equal(found.certain, expected.certain)
    assert found.certain.any() or kind == "resamples"
    sure = found.certain
    assert_allclose(found.shares[sure], expected.shares[sure], rtol=0, atol=1e-9)
