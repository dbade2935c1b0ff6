"""Columns that each training set selects or projects: scikit-learn's, one by one."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.splits import KINDS, N_FITS, some_splits
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.preprocessing import StandardScaler

from skeval._solvers.reduction import (
    Projection,
    ReducedColumns,
    ReducedMoments,
    ReducedNeighbors,
    Selection,
)

N, P, K = 40, 6, 2


def draw(kind, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, P)) * np.arange(1, P + 1) + 3
    splits = some_splits(kind, rng, N)
    codes = rng.permuted(np.tile(np.arange(N) % n_classes, (N_FITS, 1)), axis=1)
    return X, splits, codes


@each_value
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "weights"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_are_those_of_scikit_learn(kind, n_classes, scaled):
    X, splits, codes = draw(kind, n_classes)
    for reduction, step in ((Selection(K), SelectKBest(k=K)), (Projection(K, bool), PCA(K))):
        columns = ReducedColumns(X, n_classes, reduction, scaled=scaled)
        reduced = columns.reduce(codes, np.arange(N_FITS), splits)
        assert reduced.solved.all()
        for fit, counts in enumerate(splits.weights):
            rows = np.repeat(np.arange(N), counts)
            scaler = StandardScaler(with_std=scaled).fit(X[rows])
            step.fit(scaler.transform(X[rows]), codes[fit, rows])
            expected = step.transform(scaler.transform(X))
            # up to a shift, and to the signs of components
            found = reduced.values[fit] - reduced.values[fit].mean(axis=0)
            expected = expected - expected.mean(axis=0)
            signs = (
                1 if isinstance(step, SelectKBest) else np.sign(np.sum(found * expected, axis=0))
            )
            assert_allclose(found * signs, expected, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_moments_of_the_columns(n_classes):
    X, splits, codes = draw("resamples", n_classes)
    columns = ReducedColumns(X, n_classes, Projection(K, bool), scaled=False)
    reduced = columns.reduce(codes, np.arange(N_FITS), splits)
    moments = ReducedMoments(columns, reduced, codes, np.arange(N_FITS), splits)
    covariances, within = moments.covariances(), moments.within()
    for fit, counts in enumerate(splits.weights):
        rows = np.repeat(np.arange(N), counts)
        scatter = 0
        for code in range(n_classes):
            some = reduced.values[fit, rows[codes[fit, rows] == code]]
            assert_allclose(moments.means[fit, code], some.mean(axis=0))
            assert_allclose(moments.variances[fit, code], some.var(axis=0))
            assert_allclose(covariances[fit, code], np.cov(some.T, bias=True))
            scatter = scatter + np.cov(some.T, bias=True) * len(some)
        assert_allclose(within[fit], scatter)


def test_ties_and_equal_eigenvalues_are_not_certain():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(N, 1)), 3, axis=1)
    _, splits, codes = draw("3", 2)
    fits = np.arange(N_FITS)
    tied = ReducedColumns(X, 2, Selection(1), scaled=False).reduce(codes, fits, splits)
    assert not tied.solved.any()
    circle = np.linspace(0, 2 * np.pi, N, endpoint=False)
    round_ = np.column_stack([np.cos(circle), np.sin(circle), 0.1 * np.cos(3 * circle)])
    everything = splits.__class__(np.ones((1, N), int), splits.tested[:1])
    columns = ReducedColumns(round_ - round_.mean(axis=0), 2, Projection(1, bool), scaled=False)
    assert_array_equal(columns.reduce(codes[:1], fits[:1], everything).solved, [False])
    refused = ReducedColumns(X, 2, Projection(1, lambda size: False), scaled=False)
    assert not refused.reduce(codes, fits, splits).solved.any()


def test_neighbors_are_those_in_the_columns_of_the_fit():
    X, splits, codes = draw("12", 3)
    columns = ReducedColumns(X, 3, Selection(K), scaled=True)
    votes = ReducedNeighbors(columns, 4, 1e-13, False).vote(codes, splits, 3)
    values = columns.reduce(codes, np.arange(N_FITS), splits).values
    assert votes.certain.all()
    for fit, weights in enumerate(splits.weights):
        rows = np.flatnonzero(weights)
        for at, tested in enumerate(splits.tested[fit]):
            distances = np.sum((values[fit, rows] - values[fit, tested]) ** 2, axis=1)
            nearest = rows[np.argsort(distances)[:4]]
            shares = np.bincount(codes[fit, nearest], minlength=3) / 4
            assert_allclose(votes.shares[fit, at], shares)
