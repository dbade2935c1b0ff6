"""F statistics of many problems at once: the selections of SelectKBest, ties included."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import selection as reference
from sklearn.feature_selection import SelectKBest

from skeval._solvers.f_statistics import TwoClassF

KINDS = {
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


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 10**6), st.integers(3, 20), st.integers(2, 12), st.data())
def test_certain_selections_are_those_of_select_k_best(kind, seed, n, p, data):
    rng = np.random.default_rng(seed)
    X = KINDS[kind](rng, n, p)
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
    X = KINDS[kind](rng, 40, 300)
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
