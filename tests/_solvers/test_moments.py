"""Moments of the classes in training parts, against sums over their samples."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose

from skeval._solvers.moments import Columns, SplitMoments
from skeval._solvers.splits import Splits

N, P, K, N_FITS = 36, 4, 3, 5


def some_parts(kind, rng):
    tested = np.tile(np.arange(N), (N_FITS, 1))
    if kind == "weights":
        return Splits(rng.exponential(size=(N_FITS, N)), tested)
    if kind == "resamples":
        counts = [np.bincount(rng.integers(0, N, N), minlength=N) for _ in range(N_FITS)]
        return Splits(np.array(counts), tested)
    removed = np.array([np.sort(rng.permutation(N)[: int(kind)]) for _ in range(N_FITS)])
    weights = np.ones((N_FITS, N), dtype=int)
    np.put_along_axis(weights, removed, 0, axis=1)
    return Splits(weights, removed)


@each_value
@pytest.mark.parametrize("kind", ["1", "4", "20", "weights", "resamples"])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_moments_are_those_of_the_samples(kind, offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)) * [1e-3, 1.0, 7.0, 1e3] + offset * np.array([1e-3, 1, 7, 1e3])
    targets = np.array([rng.permutation(np.arange(N) % K) for _ in range(2)])
    parts, of_fit = some_parts(kind, rng), np.array([0, 0, 1, 1, 1])
    columns = Columns(X, K, scaled=False)
    moments = SplitMoments(columns, targets, of_fit, parts)
    scatter = moments.within() * columns.unit * columns.unit[:, None]
    for fit, (weights, labels) in enumerate(zip(parts.weights, targets[of_fit], strict=True)):
        within = np.zeros((P, P))
        for code in range(K):
            member = labels == code
            mean = np.average(X[member], axis=0, weights=weights[member])
            apart = (X[member] - mean) * np.sqrt(weights[member])[:, None]
            there = weights[member].sum()
            assert_allclose(moments.counts[fit, code], there, rtol=1e-13)
            found = columns.center + columns.unit * moments.means[fit, code]
            assert_allclose(found, mean, rtol=1e-12, atol=1e-12 * np.abs(X).max())
            variance = np.sum(apart**2, axis=0) / there
            # What an offset takes from the digits of the samples, it takes from their moments.
            rtol = 1e-11 if offset == 0 else 1e-8
            assert_allclose(moments.variances[fit, code] * columns.unit**2, variance, rtol=rtol)
            expected = apart.T @ apart
            within += expected
        size = np.sqrt(np.outer(np.diag(within), np.diag(within)))
        assert_allclose(scatter[fit] / size, within / size, atol=1e-11 if offset == 0 else 1e-8)


@pytest.mark.parametrize("kind", ["4", "20", "resamples"])
def test_whole_numbers_give_exact_variances(kind):
    rng = np.random.default_rng(1)
    labels = np.arange(N) % K
    X = rng.integers(-9, 9, size=(N, P)).astype(float)
    X[labels == 1, 2] = 5.0  # beside other numbers in other classes
    columns = Columns(X, K, scaled=False)
    moments = SplitMoments(columns, labels[None], np.zeros(N_FITS, int), some_parts(kind, rng))
    assert columns.exact.all()
    assert (moments.variances[:, 1, 2] == 0).all()
    assert (moments.variances[:, 0, 2] > 0).all()
