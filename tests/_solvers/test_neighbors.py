"""Votes of nearest neighbors: scikit-learn's predictions, one by one."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.splits import KINDS, N_FITS, N, some_splits
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import NearestNeighbors

from skeval._solvers import neighbors as solver
from skeval._solvers.least_squares import standardize_all
from skeval._solvers.neighbors import ScaledNeighbors, SortedNeighbors, nearest
from skeval._solvers.splits import Splits


@each_value
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "weights"])
@pytest.mark.parametrize("tied", ["not", "pairs", "many"])
def test_neighbors_are_the_first_who_are_trained_on(kind, tied):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 2))
    if tied == "pairs":
        X[2:10] = X[10:18]
    if tied == "many":
        X = rng.integers(0, 3, size=(N, 2)).astype(float)
    squared = ((X[:, None] - X) ** 2).sum(axis=-1)
    labels, splits, k = rng.integers(0, 3, size=(N_FITS, N)), some_splits(kind, rng), 4

    def find(size):
        distances, indices = NearestNeighbors(n_neighbors=size).fit(X).kneighbors(X)
        return distances**2, indices

    if tied == "pairs":  # each sample by itself: in no other does a tie hide another
        splits = Splits(
            np.repeat(splits.weights, N, axis=0), np.tile(np.arange(N), N_FITS)[:, None]
        )
        labels = np.repeat(labels, N, axis=0)
    votes = SortedNeighbors(find, N, k, 1e-12).vote(labels, splits, 3)
    for fit, weights in enumerate(splits.weights):
        rows = np.repeat(np.arange(N), weights)
        certain = True
        for tested, counts in zip(splits.tested[fit], 4 * votes.shares[fit], strict=True):
            order = rows[np.argsort(squared[tested, rows], kind="stable")]
            last = squared[tested, order[k - 1]]
            nearer = order[squared[tested, order] < last - 1e-9]
            there = order[np.abs(squared[tested, order] - last) <= 1e-9]
            agree = len(nearer) + len(there) == k or len(set(labels[fit, there])) == 1
            certain &= agree
            if agree:
                expected = np.bincount(labels[fit, order[:k]], minlength=3)
                assert_array_equal(counts, expected)
        assert votes.certain[fit] == certain


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

    monkeypatch.setattr(ScaledNeighbors, "room", 1)
    neighbors = ScaledNeighbors(columns, find, 3, 1e-13, by_distance)
    found = neighbors.vote(labels, splits, 3)
    assert sizes[0] < n
    monkeypatch.setattr(solver, "_MAX_KEPT", 0)  # so that no list is kept
    expected = neighbors.vote(labels, splits, 3)
    assert_array_equal(found.certain, expected.certain)
    assert found.certain.any() or kind == "resamples"
    sure = found.certain
    assert_allclose(found.shares[sure], expected.shares[sure], rtol=0, atol=1e-9)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_nearest_are_in_order_also_in_a_short_list(size):
    distances = np.array([[3.0, 1.0, 2.0], [1.0, 3.0, 2.0]])
    assert_array_equal(nearest(distances, size), np.array([[1, 2, 0], [0, 2, 1]])[:, :size])
