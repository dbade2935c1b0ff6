"""Indices estimated from sampled rows: unbiased, covered, marked, and exact when rows are all."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import make_blobs

from skeval._inference.estimate import Estimate
from skeval.metrics.cluster import internal_indices
from skeval.metrics.cluster._internal import allocate
from skeval.metrics.cluster._samples import make_partition

SIZES = [400, 200, 100, 30, 1]
N = sum(SIZES)
X, Y = make_blobs(SIZES, 8, cluster_std=6.0, random_state=0)
NAMES = ("silhouette", "connectivity")
BY_DISTANCES = {"metric": "manhattan"}  # no tree, so that connectivity is estimated too


def estimate(n_rows, random_state=0, **options):
    options = BY_DISTANCES | {"indices": NAMES} | options
    return internal_indices(X, Y, max_pairs=n_rows * N, random_state=random_state, **options)


def list_estimates(found):
    return {name for name, value in found.items() if isinstance(value, Estimate)}


@pytest.fixture(scope="module")
def truth():
    return internal_indices(X, Y, **BY_DISTANCES)


@pytest.fixture(scope="module")
def estimates():
    return [estimate(100, random_state=seed) for seed in range(120)]


@pytest.mark.simulated
def test_coverage_bias_and_standard_error(truth, estimates):
    for name in NAMES:
        true = truth[name]
        found = [result[name] for result in estimates]
        values = np.array([each.value for each in found])
        covered = sum(true in each.interval for each in found)
        assert binomtest(covered, len(found), 0.95).pvalue > 1e-3, name
        spread = values.std(ddof=1)
        assert abs(values.mean() - true) < 4 * spread / np.sqrt(len(values))
        assert np.mean([e.standard_error for e in found]) == pytest.approx(spread, rel=0.2)


def test_dunn_and_connectivity_are_exact_where_trees_prune():
    data, y = make_blobs(5000, 2, centers=3, cluster_std=2.0, random_state=0)
    true = internal_indices(data, y)
    found = internal_indices(data, y, max_pairs=10**6, random_state=0)
    assert list_estimates(found) == {"silhouette"}
    assert found["dunn"] == pytest.approx(true["dunn"], rel=1e-12)
    assert found["connectivity"] == pytest.approx(true["connectivity"], rel=1e-12)
    # 50,000 pairs are 10 rows: a tree visits more than 100 points per row
    few = internal_indices(
        data, y, indices=["connectivity"], max_pairs=50_000, random_state=0, confidence_level=0.999
    )
    assert true["connectivity"] in few["connectivity"].interval


def test_repeatable_and_independent_of_threads():
    first, again, threads = estimate(90, 3), estimate(90, 3), estimate(90, 3, n_jobs=2)
    assert first.to_dict() == again.to_dict() == threads.to_dict()
    assert first.to_dict() != estimate(90, 4).to_dict()
    assert estimate(90, None).to_dict() != estimate(90, None).to_dict()


def test_where_no_sampled_row_varies_there_is_no_interval():
    y = np.repeat([0, 1], 150)
    data = np.arange(600.0).reshape(300, 2) + 1e6 * y[:, None]
    found = internal_indices(data, y, indices=["connectivity"], max_pairs=9000, **BY_DISTANCES)
    assert found["connectivity"].value == found["connectivity"].standard_error == 0
    assert np.isnan(found["connectivity"].interval.low)


def test_allocation_is_proportional_and_leaves_no_cluster_out():
    partition = make_partition(Y, n_rows=N, noise=None)
    counts = allocate(partition, 100 * N)
    assert counts.sum() in range(95, 101)
    fewest = np.minimum(SIZES, 2)
    spare = np.array(SIZES) - fewest
    share = (100 - fewest.sum()) * spare / spare.sum()
    assert ((counts - fewest - share <= 0) & (counts - fewest - share > -1)).all()
