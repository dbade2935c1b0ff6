"""Sequential tests: their definition, level and power, seeds, large and sparse data."""

import numpy as np
import pytest
from helpers.references import Recorder, draw_references
from reference import sequential as reference
from scipy.sparse import csr_array
from scipy.stats import binomtest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score

from skeval.cluster import _choose, choose_n_clusters

KMEANS, WARD = KMeans(n_init=2), AgglomerativeClustering()


def three(n=60):
    return make_blobs(n, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]


@pytest.mark.parametrize("shapes", [0, 1])
@pytest.mark.parametrize("seed", range(9))
def test_step_equals_the_definition(seed, shapes):
    rng = np.random.default_rng(seed)
    values, draws = rng.normal(size=3) + [seed / 2, seed / 2, 0], rng.normal(size=(3, 39))
    draws[-1] *= shapes
    values[-1] *= shapes
    step = _choose.make_step(np.arange(2, 4), values, draws, 0.05)
    assert step.pvalue == reference.pvalue(values.tolist(), draws.tolist())
    assert (step.pvalue <= 0.05) == np.any(values > step.limits)


def test_steps_without_variation():
    draws = np.full((3, 39), 0.5)
    equal = _choose.make_step(np.array([2, 3]), np.array([0.5, 0.5, 0.5]), draws, 0.05)
    assert equal.pvalue == 1
    better = _choose.make_step(np.array([2, 3]), np.array([0.5, 0.6, 0.5]), draws, 0.05)
    assert better.pvalue == 1 / 40
    np.testing.assert_array_equal(better.excess > 0, [False, True])


def test_a_single_draw_with_clusters_has_a_finite_limit():
    draws = np.stack([np.zeros(39), np.linspace(0.2, 0.3, 39), np.zeros(39)])
    draws[0, 3] = 0.4
    step = _choose.make_step(np.array([2, 3]), np.array([0.0, 0.25, 0.0]), draws, 0.05)
    assert np.isfinite(step.limits[0])
    assert step.pvalue > 0.05


def test_equals_the_definition():
    X, candidates, seen = three(), [2, 3, 4], []
    choice = choose_n_clusters(Recorder(seen=seen), X, n_clusters=candidates, random_state=3)
    for row, k in enumerate(candidates):
        data, *draws = (each for n_clusters, each in seen if n_clusters == k)
        assert data is X
        values = [
            silhouette_score(each, AgglomerativeClustering(k).fit_predict(each))
            for each in (X, *draws[:39])
        ]
        assert choice.values[row] == pytest.approx(values[0])
        np.testing.assert_allclose(choice.reference_replicates[row], values[1:])
    # one population of the shape of all samples
    (first,) = draw_references(X, "unimodal", random_state=3)
    np.testing.assert_array_equal(seen[3][1], first)
    assert choice.pvalue == 1 / 40  # no draw is as good
    assert choice.n_clusters == 3
    assert choice.pvalue_more > 0.025


def draw_factor(rng, n, p):
    return 0.8 * rng.normal(size=(n, 1)) + 0.6 * rng.normal(size=(n, p))


NULLS = {
    "uniform": lambda rng: rng.uniform(size=(60, 2)),
    "Gaussian": lambda rng: rng.normal(size=(60, 2)),
    "exponential": lambda rng: rng.exponential(size=(60, 2)),
    "correlated t": lambda rng: rng.standard_t(4, size=(60, 2)) @ [[1, 1], [0, 1]],
    "counts": lambda rng: rng.poisson(2, size=(60, 2)).astype(float),
    "yes / no items": lambda rng: (draw_factor(rng, 100, 8) > 0).astype(float),
    "skewed items": lambda rng: np.digitize(draw_factor(rng, 100, 8), [0.8, 1.2, 1.6]) + 0.0,
    "multivariate t": lambda rng: rng.normal(size=(100, 8)) / np.sqrt(rng.chisquare(3, (100, 1))),
}


def count_false(name, n_sets, first=0):
    """Count the data sets without structure where more than one cluster is chosen."""
    return sum(
        choose_n_clusters(
            KMeans(n_init=1),
            NULLS[name](np.random.default_rng(seed)),
            n_clusters=range(2, 6),
            random_state=seed,
        ).n_clusters
        > 1
        for seed in range(first, first + n_sets)
    )


@pytest.mark.simulated
@pytest.mark.parametrize("name", ["exponential", "counts", "yes / no items"])
def test_level(name):
    assert binomtest(count_false(name, 5), 5, 0.05, alternative="greater").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_level_long(name):
    small = count_false(name, 200, first=1000)
    assert binomtest(small, 200, 0.05, alternative="greater").pvalue > 0.005


UNEQUAL = {"50 + 10 at 5": (50, 10, 5), "100 + 20 at 5": (100, 20, 5), "30 + 30 at 4": (30, 30, 4)}


def count_found(name, n_sets, first=0):
    """Count the data sets with two normal clusters where two are chosen."""
    n_large, n_small, distance = UNEQUAL[name]
    n_found = 0
    for seed in range(first, first + n_sets):
        X = np.random.default_rng(seed).normal(size=(n_large + n_small, 2))
        X[n_large:, 0] += distance
        candidates = range(1, 4)
        n_found += (
            choose_n_clusters(KMEANS, X, n_clusters=candidates, random_state=0).n_clusters == 2
        )
    return n_found


@pytest.mark.simulated
def test_a_small_cluster_beside_a_large_one_is_found():
    assert count_found("50 + 10 at 5", 6) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", UNEQUAL)
def test_power_long(name):
    assert count_found(name, 60, first=1000) >= 45


def test_nested_clusters_are_found_in_two_steps():
    rng = np.random.default_rng(0)
    X = np.repeat([[0, 0], [7, 0], [40, 0], [47, 0]], 40, axis=0) + rng.normal(size=(160, 2))
    choice = choose_n_clusters(KMEANS, X, n_clusters=range(1, 6), random_state=0)
    assert np.argmax(choice.values) == 0  # the silhouette alone stops at two
    assert choice.n_clusters == 4


@pytest.mark.parametrize("seed", range(2))
def test_a_tight_and_a_wide_cluster_are_two(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([0.6 * rng.normal(size=(60, 2)), 2.4 * rng.normal(size=(60, 2)) + [9, 0]])
    assert choose_n_clusters(KMEANS, X, n_clusters=range(1, 7), random_state=0).n_clusters == 2


def test_silhouette_of_many_samples_is_that_of_some(monkeypatch):
    monkeypatch.setattr(_choose, "MAX_ROWS", 50)
    choice = choose_n_clusters(KMEANS, three(300), n_clusters=[2, 3, 4], random_state=0)
    assert choice.n_clusters == 3


def test_sparse_columns_are_permuted_within_clusters():
    X = np.where(np.eye(3)[np.arange(90) % 3] > 0, 5.0, 0.0)
    X = X + (np.random.default_rng(0).random((90, 3)) < 0.2)
    choice = choose_n_clusters(KMEANS, csr_array(X), n_clusters=range(2, 5), random_state=0)
    assert (choice.n_clusters, choice.reference) == (3, "permuted")


def test_a_test_without_evidence_stops_early():
    X = np.random.default_rng(0).normal(size=(60, 2))
    early = choose_n_clusters(KMEANS, X, n_clusters=[2, 3], random_state=0)
    assert early.n_clusters == 1
    assert early.reference_replicates.shape == (2, 13)
    assert choose_n_clusters(KMEANS, three(), n_clusters=[2, 3]).reference_replicates.shape[1] == 39


def test_missing_clusters_are_no_evidence():
    X, labels = three(), np.arange(60) % 2
    assert _choose.measure_silhouette(X, labels, 3, 3) == 0
    assert _choose.measure_silhouette(X, np.full(60, -1), 2, 3) == 0
    assert _choose.measure_silhouette(X, np.arange(60), 2, 3) == 0
    assert _choose.measure_silhouette(X, np.arange(60) < 2, 2, 3) == 0
    assert _choose.measure_silhouette(X, np.arange(60) < 2, 2, 1) != 0  # in a draw
    assert DBSCAN(eps=3).fit_predict(X).max() == 2
