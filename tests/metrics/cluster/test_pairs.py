"""Counts of pairs of samples, in large and in unusual partitions."""

import numpy as np
import pytest
import sklearn.metrics

from skeval.metrics.cluster import external_indices, inverse_purity_score, pair_counts, purity_score


@pytest.mark.parametrize("weight", [None, np.ones(10**6)])
def test_counts_of_a_million_samples_do_not_overflow(weight):
    labels = np.zeros(10**6, dtype=np.int8)
    other = np.arange(10**6, dtype=np.int32) % 2
    result = external_indices(labels, other, sample_weight=weight)
    pairs = pair_counts(labels, other, sample_weight=weight)
    assert sum(pairs.values()) == 10**6 * (10**6 - 1) // 2
    assert pairs["both"] == 2 * (500_000 * 499_999 // 2)
    assert result["pair_recall"] == pairs["both"] / sum(pairs.values())


def test_counts_are_exact_beyond_int64():
    from skeval.metrics.cluster._external import Contingency, count_pairs

    cells = np.array([3 * 10**9, 2 * 10**9 + 1])  # their squares do not fit in int64
    table = Contingency(
        np.array([0, 0]), np.array([0, 1]), cells, None, np.array([cells.sum()]), cells
    )
    pairs = count_pairs(table)
    first, second = map(int, cells)
    assert pairs.both == (first * (first - 1) + second * (second - 1)) // 2
    assert (pairs.true_only, pairs.pred_only, pairs.neither) == (first * second, 0, 0)


def test_bool_labels():
    pairs = pair_counts([True, True, False], [False, False, True])
    assert pairs["true_only"] == pairs["pred_only"] == 0


def test_many_clusters_on_both_sides():
    rng = np.random.default_rng(0)
    true, pred = rng.integers(0, 700, 2000), rng.integers(0, 900, 2000)
    matrix = sklearn.metrics.cluster.pair_confusion_matrix(true, pred)
    pairs = pair_counts(true, pred)
    assert [pairs["neither"], pairs["both"]] == (matrix.diagonal() // 2).tolist()
    table = sklearn.metrics.cluster.contingency_matrix(true, pred)
    assert purity_score(true, pred) == table.max(axis=0).sum() / 2000
    assert inverse_purity_score(true, pred) == table.max(axis=1).sum() / 2000
