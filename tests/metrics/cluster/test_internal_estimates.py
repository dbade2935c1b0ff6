"""Indices estimated from sampled rows: unbiased, covered, marked, and exact when rows are all."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from scipy.stats import binomtest
from sklearn.datasets import make_blobs

from skeval._inference.estimate import Estimate
from skeval.metrics.cluster import internal_indices
from skeval.metrics.cluster._internal import allocate, stratified_mean
from skeval.metrics.cluster._samples import make_partition

SIZES = [400, 200, 100, 30, 1]
N = sum(SIZES)
X, Y = make_blobs(SIZES, 8, cluster_std=6.0, random_state=0)
PAIRS = N * (N - 1) // 2
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


@pytest.mark.parametrize("confidence_level", [0.5, 0.8])
def test_coverage_at_other_levels(truth, estimates, confidence_level):
    of_level = estimate(100, random_state=0, confidence_level=confidence_level)
    for name in NAMES:
        assert of_level[name].confidence_level == confidence_level
        assert of_level[name].interval == estimates[0][name].confidence_interval(confidence_level)
        found = [result[name].confidence_interval(confidence_level) for result in estimates]
        covered = sum(truth[name] in interval for interval in found)
        assert binomtest(covered, len(found), confidence_level).pvalue > 1e-3


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "precomputed", "sparse"])
def test_a_sample_of_all_rows_but_few_is_nearly_exact(metric):
    data = {"precomputed": cdist(X, X), "sparse": csr_matrix(X)}.get(metric, X)
    options = {"indices": NAMES, "metric": "euclidean" if metric == "sparse" else metric}
    true = internal_indices(data, Y, **options)
    found = internal_indices(data, Y, max_pairs=PAIRS - 1, random_state=0, **options)
    for name in NAMES:
        estimated = found[name]
        assert estimated.details["n_rows"] in range(N // 2 - len(SIZES), N // 2 + 1)
        distance = estimated.value - true[name]
        assert abs(distance) < 4 * estimated.standard_error


def test_each_row_counts_with_its_exact_value(monkeypatch, truth):
    """With every row sampled the estimate is the index, and has no interval."""
    monkeypatch.setattr(
        "skeval.metrics.cluster._internal.allocate", lambda partition, _: partition.sizes
    )
    found = estimate(100)
    for name in NAMES:
        assert found[name].value == pytest.approx(truth[name], rel=1e-12)
        assert found[name].standard_error == 0


def test_the_rest_is_exact_or_absent(truth):
    found = internal_indices(X, Y, max_pairs=100 * N, random_state=0)
    assert list_estimates(found) == {"silhouette", "connectivity"}
    for name in ("compactness", "sse", "calinski_harabasz"):
        assert found[name] == pytest.approx(truth[name], rel=1e-13)
    assert "davies_bouldin_pairwise" not in found
    assert "sampled rows" in str(found)
    assert "sampled" not in str(internal_indices(X, Y))


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


def test_no_estimate_where_all_pairs_are_allowed(truth):
    found = internal_indices(X, Y, max_pairs=PAIRS, **BY_DISTANCES)
    assert list_estimates(found) == set()
    assert found.to_dict() == truth.to_dict()


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


def test_refused():
    with pytest.raises(ValueError, match="max_pairs must allow 2 rows of each cluster, 6579 pairs"):
        estimate(5)
    with pytest.raises(ValueError, match="which davies_bouldin_pairwise, mean_within need"):
        estimate(100, indices=["silhouette", "davies_bouldin_pairwise", "mean_within"])


def test_allocation_is_proportional_and_leaves_no_cluster_out():
    partition = make_partition(Y, n_rows=N, noise=None)
    counts = allocate(partition, 100 * N)
    assert counts.sum() in range(95, 101)
    fewest = np.minimum(SIZES, 2)
    spare = np.array(SIZES) - fewest
    share = (100 - fewest.sum()) * spare / spare.sum()
    assert ((counts - fewest - share <= 0) & (counts - fewest - share > -1)).all()


def test_stratified_mean_by_hand():
    """Two strata of 4 and 6 rows: values 1, 3 of the first and 2, 2, 8 of the second."""
    estimate, error, dof = stratified_mean(
        np.array([1.0, 3.0, 2.0, 2.0, 8.0]), np.array([2, 3]), np.array([4, 6])
    )
    parts = np.array([0.16 * 0.5 * 2 / 2, 0.36 * 0.5 * 12 / 3])
    assert estimate == pytest.approx(0.4 * 2 + 0.6 * 4)
    assert error == pytest.approx(np.sqrt(parts.sum()))
    assert dof == pytest.approx(parts.sum() ** 2 / (parts[0] ** 2 / 1 + parts[1] ** 2 / 2))


@pytest.mark.parametrize(
    "asked", [None, ["dunn", "silhouette"], ["dunn", "connectivity", "mean_within"]]
)
def test_too_few_pairs_are_refused_before_the_work(asked, monkeypatch):
    def work(*args, **kwargs):
        raise AssertionError("the work had begun")

    monkeypatch.setattr("skeval.metrics.cluster._internal.measure_without_pass", work)
    with pytest.raises(ValueError, match="max_pairs must"):
        internal_indices(X, Y, indices=asked, max_pairs=5 * N)
