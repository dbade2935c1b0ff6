"""Solvers by deletion, and F statistics of many problems at once."""

import warnings

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.splits import KINDS, N_FITS, some_splits
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import selection as reference
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import NearestNeighbors

from skeval._solvers import neighbors as solver
from skeval._solvers.f_statistics import TwoClassF
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
    columns = Columns(X, K)
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
        assert neighbors.vote(np.zeros((1, n)), Splits(weights, removed), 1)[1].all()
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
    shares, certain = neighbors.vote(labels, splits, 3)
    assert sizes[0] < n
    monkeypatch.setattr(solver, "_ROOM", n)  # so that lists are complete
    expected = neighbors.vote(labels, splits, 3)
    assert_array_equal(certain, expected[1])
    assert certain.any() or kind == "resamples"
    assert_allclose(shares[certain], expected[0][certain], rtol=0, atol=1e-9)
    monkeypatch.setattr(solver, "_MAX_KEPT", n * columns.size - 1)  # the estimator does the fits
    assert not neighbors.vote(labels, splits, 3)[1].any()


TABLES = {
    "continuous": lambda rng, n, p: rng.normal(size=(n, p)),
    "integers": lambda rng, n, p: rng.integers(0, 3, (n, p)).astype(float),
    "duplicates": lambda rng, n, p: rng.normal(size=(n, p))[:, rng.integers(0, p, p)],
    "far from 0": lambda rng, n, p: 1e6 + rng.normal(size=(n, p)),
    "constant": lambda rng, n, p: np.c_[np.full(n, 0.3), np.zeros(n), rng.normal(size=(n, p))],
    "mostly 0": lambda rng, n, p: np.where(rng.random((n, p)) < 0.8, 0, rng.normal(size=(n, p))),
    "decimals": lambda rng, n, p: rng.normal(size=(n, p)).round(1),
    "separating": lambda rng, n, p: np.repeat(rng.integers(0, 2, n)[:, None], p, axis=1) * 1.0,
}


def some_problems(rng, n, n_problems):
    counts = rng.integers(0, 3, (n_problems, n))
    positive = rng.random((n_problems, n)) < 0.5
    both = ((counts > 0) & positive).any(axis=1) & ((counts > 0) & ~positive).any(axis=1)
    return counts[both], positive[both]


@pytest.mark.parametrize("kind", TABLES)
@given(st.integers(0, 10**6), st.integers(3, 20), st.integers(2, 12), st.data())
def test_certain_selections_are_those_of_select_k_best(kind, seed, n, p, data):
    rng = np.random.default_rng(seed)
    X = TABLES[kind](rng, n, p)
    X.flags.writeable = False
    k = data.draw(st.integers(1, X.shape[1]))
    counts, positive = some_problems(rng, n, 6)
    features, certain, _ = TwoClassF(X).select(counts, positive, k)
    for b in np.flatnonzero(certain):
        rows = np.repeat(np.arange(n), counts[b])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector = SelectKBest(k=k).fit(X[rows], positive[b, rows])
        assert features[b].tolist() == selector.get_support(indices=True).tolist()


def test_against_the_definition():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 7))
    counts, positive = some_problems(rng, 12, 20)
    features, certain, constant = TwoClassF(X).select(counts, positive, 3)
    assert certain.all()
    assert not constant.any()
    for b in range(len(counts)):
        rows = np.repeat(np.arange(12), counts[b])
        scores = [
            reference.f_statistic(X[rows, j].tolist(), positive[b, rows].tolist()) for j in range(7)
        ]
        assert features[b].tolist() == sorted(np.argsort(scores)[-3:])


@pytest.mark.parametrize("kind", ["continuous", "integers", "mostly 0"])
def test_few_selections_are_uncertain(kind):
    """Only rounding may leave one open: never between integers, hardly ever between reals."""
    rng = np.random.default_rng(1)
    X = TABLES[kind](rng, 40, 300)
    counts, positive = some_problems(rng, 40, 200)
    _, certain, _ = TwoClassF(X).select(counts, positive, 20)
    assert certain.all()


def test_rounding_leaves_ties_of_reals_open():
    rng = np.random.default_rng(2)
    column = rng.normal(size=(20, 1))
    counts, positive = some_problems(rng, 20, 10)
    _, certain, _ = TwoClassF(np.hstack([column, column])).select(counts, positive, 1)
    assert not certain.any()
    whole = np.rint(3 * column)
    features, certain, _ = TwoClassF(np.hstack([whole, whole])).select(counts, positive, 1)
    assert certain.all()
    assert (features == 1).all()  # of equal scores the later


def test_constant_columns_are_reported():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 4))
    X[:, 1] = 0
    counts, positive = some_problems(rng, 20, 10)
    features, _, constant = TwoClassF(X).select(counts, positive, 3)
    assert constant.tolist() == [False, True, False, False]
    assert (features == [0, 2, 3]).all()


def test_many_problems_are_the_same_as_one_by_one():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(15, 3000))  # several blocks
    counts, positive = some_problems(rng, 15, 60)
    statistics = TwoClassF(X)
    together = statistics.select(counts, positive, 5).features
    alone = [
        statistics.select(c[None], z[None], 5).features[0]
        for c, z in zip(counts, positive, strict=True)
    ]
    assert together.tolist() == np.array(alone).tolist()
