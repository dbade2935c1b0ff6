"""Training sets of many fits, and their sums of products."""

import numpy as np
import pytest
from helpers.splits import N, some_splits
from numpy.testing import assert_allclose, assert_array_equal

from skeval._solvers import splits as solver
from skeval._solvers.splits import Products, take_samples


@pytest.mark.parametrize("kind", ["3", "weights", "resamples"])
def test_samples_left_out(kind):
    splits = some_splits(kind, np.random.default_rng(0))
    assert splits.plain == (kind == "3")
    if splits.plain:
        for row, removed in zip(splits.weights, splits.removed(), strict=True):
            assert_array_equal(np.flatnonzero(row == 0), removed)


@pytest.mark.parametrize("max_kept", [0, 2**22])
def test_products_under_weights(max_kept, monkeypatch):
    monkeypatch.setattr(solver, "_MAX_KEPT", max_kept)
    rng = np.random.default_rng(0)
    columns, weights = rng.normal(size=(N, 4)), rng.exponential(size=(3, N))
    sums = Products(columns).weighted_sums(weights)
    for row, found in zip(weights, sums, strict=True):
        assert_allclose(found, columns.T @ np.diag(row) @ columns)


def test_samples_of_the_targets_of_each_fit():
    targets = np.arange(2 * 3 * 5).reshape(2, 3, 5)
    of_fit, rows = np.array([1, 0]), np.array([[0, 4], [2, 3]])
    taken = take_samples(targets, of_fit, rows)
    for fit in range(2):
        assert_array_equal(taken[fit], targets[of_fit[fit]][:, rows[fit]])
