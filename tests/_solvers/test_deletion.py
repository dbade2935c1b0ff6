"""Fits to parts of the samples by deletion: the estimator's, one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval._solvers import deletion
from skeval._solvers.deletion import (
    Parts,
    ScaledNeighbours,
    SortedNeighbours,
    factor_columns,
    factor_kernel,
    standardise_all,
    standardise_columns,
)

N, P, N_FITS = 30, 4, 6


def some_parts(kind, rng, n=N):
    if kind == "weights":
        return Parts(rng.exponential(size=(N_FITS, n)), np.tile(np.arange(n), (N_FITS, 1)))
    if kind == "resamples":
        counts = [np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(N_FITS)]
        return Parts(np.array(counts), np.tile(np.arange(n), (N_FITS, 1)))
    weights = np.ones((N_FITS, n), dtype=int)
    removed = np.array([np.sort(rng.permutation(n)[: int(kind)]) for _ in range(N_FITS)])
    np.put_along_axis(weights, removed, 0, axis=1)
    return Parts(weights, removed)


KINDS = ["1", "3", "12", "20", "weights", "resamples"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1, P, 50])
@pytest.mark.parametrize("model", [Ridge(), Ridge(alpha=3.0, fit_intercept=False), KernelRidge()])
def test_penalised_squares_are_fits_of_the_estimator(kind, p, model):
    rng = np.random.default_rng(p)
    X, targets, of_fit = rng.normal(size=(N, p)), rng.normal(size=(2, 3, N)), np.arange(N_FITS) // 3
    parts = some_parts(kind, rng)
    if isinstance(model, KernelRidge):
        squares = factor_kernel(X @ X.T, 1.0)
    else:
        squares = factor_columns(X, model.alpha, with_intercept=model.fit_intercept)
    found = squares.solve(targets, of_fit, parts)
    assert np.all(found.noise < 1e-11)
    for fit in range(N_FITS):
        weights = parts.weights[fit].astype(float)
        trained = weights > 0
        model.fit(X[trained], targets[of_fit[fit]].T[trained], sample_weight=weights[trained])
        expected = model.predict(X[parts.tested[fit]]).T
        assert_allclose(found.values[fit], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "weights"])
def test_columns_are_brought_to_one_variance_in_each_training_part(kind):
    rng = np.random.default_rng(0)
    X, targets = rng.normal(size=(N, P)) * [1, 5, 0.1, 1] + 3, rng.normal(size=(1, 1, N))
    parts = some_parts(kind, rng)
    found = standardise_columns(X, 2.0).solve(targets, np.zeros(N_FITS, dtype=int), parts)
    for fit in range(N_FITS):
        rows = np.repeat(np.arange(N), parts.weights[fit])
        model = make_pipeline(StandardScaler(), Ridge(2.0)).fit(X[rows], targets[0, 0, rows])
        expected = model.predict(X[parts.tested[fit]])
        assert_allclose(found.values[fit, 0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_residuals_are_those_of_least_squares(kind):
    rng = np.random.default_rng(0)
    X, targets = rng.normal(size=(N, 2)), rng.normal(size=(1, 1, N))
    parts = some_parts(kind, rng)
    found = factor_columns(X, 0.0).solve(targets, np.zeros(N_FITS, dtype=int), parts)
    for fit, weights in enumerate(parts.weights):
        root = np.sqrt(weights)
        columns = np.column_stack([np.ones(N), X]) * root[:, None]
        expected = np.linalg.lstsq(columns, root * targets[0, 0], rcond=None)[1]
        assert_allclose(found.residual[fit], expected, rtol=1e-9)


def test_singular_equations_are_noise():
    X = np.zeros((N, 2))
    X[:3, 0], X[:, 1] = [1.0, 2.0, 4.0], np.arange(N)
    weights = np.ones((2, N), dtype=int)
    weights[0, :3] = weights[1, 3:6] = 0
    parts = Parts(weights, np.array([[0, 1, 2], [3, 4, 5]]))
    found = factor_columns(X, 0.0).solve(X[:, 1][None, None], np.zeros(2, dtype=int), parts)
    assert not found.noise[0] < 1e-9
    assert found.noise[1] < 1e-12
    assert factor_kernel(-np.eye(3), 1.0) is None


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "weights"])
@pytest.mark.parametrize("tied", ["not", "pairs", "many"])
def test_neighbours_are_the_first_who_are_trained_on(kind, tied):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 2))
    if tied == "pairs":
        X[2:10] = X[10:18]
    if tied == "many":
        X = rng.integers(0, 3, size=(N, 2)).astype(float)
    squared = ((X[:, None] - X) ** 2).sum(axis=-1)
    labels, parts, k = rng.integers(0, 3, size=(N_FITS, N)), some_parts(kind, rng), 4

    def find(size):
        distances, indices = NearestNeighbors(n_neighbors=size).fit(X).kneighbors(X)
        return distances**2, indices

    if tied == "pairs":  # each sample by itself: in no other does a tie hide another
        parts = Parts(np.repeat(parts.weights, N, axis=0), np.tile(np.arange(N), N_FITS)[:, None])
        labels = np.repeat(labels, N, axis=0)
    votes = SortedNeighbours(find, N, k, 1e-12).vote(labels, parts, 3)
    for fit, weights in enumerate(parts.weights):
        rows = np.repeat(np.arange(N), weights)
        certain = True
        for tested, counts in zip(parts.tested[fit], 4 * votes.shares[fit], strict=True):
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

    neighbours = SortedNeighbours(find, n, n_neighbors, 1e-12)
    for _ in range(5):
        removed = rng.permutation(n)[None, round(share * n) :]
        weights = np.ones((1, n), dtype=int)
        weights[0, removed] = 0
        assert neighbours.vote(np.zeros((1, n)), Parts(weights, removed), 1).certain.all()
    assert len(asked) == 1


@pytest.mark.parametrize("by_distance", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "weights"])
def test_lists_in_the_scales_of_all_samples_miss_no_neighbour(kind, by_distance, monkeypatch):
    rng, n = np.random.default_rng(3), 60
    columns = standardise_all(rng.standard_t(2, size=(n, 3)))  # of very different variances
    labels, parts = rng.integers(0, 3, size=(N_FITS, n)), some_parts(kind, rng, n)
    sizes = []

    def find(size):
        sizes.append(size)
        distances, indices = NearestNeighbors(n_neighbors=size).fit(columns).kneighbors(columns)
        return distances**2, indices

    monkeypatch.setattr(ScaledNeighbours, "room", 1)
    neighbours = ScaledNeighbours(columns, find, 3, 1e-13, by_distance)
    found = neighbours.vote(labels, parts, 3)
    assert sizes[0] < n
    monkeypatch.setattr(deletion, "_MOST_KEPT", 0)  # so that no list is kept
    expected = neighbours.vote(labels, parts, 3)
    assert_array_equal(found.certain, expected.certain)
    assert found.certain.any() or kind == "resamples"
    sure = found.certain
    assert_allclose(found.shares[sure], expected.shares[sure], rtol=0, atol=1e-9)
