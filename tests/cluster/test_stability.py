"""Stability: definitions, seeds, standard errors, every kind of clusterer, bad input."""

from functools import partial

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import SeedSequence
from reference import stability as reference
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.cluster import predictive_power

WARD = AgglomerativeClustering(3)
prediction_strength = partial(predictive_power, agreement="prediction_strength")
REFERENCES = {
    "adjusted_rand": reference.adjusted_rand_agreement,
    "matched_accuracy": reference.matched_accuracy,
    "prediction_strength": reference.prediction_strength,
}


class RandomLabels(ClusterMixin, BaseEstimator):
    """Labels without any relation to the data."""

    def __init__(self, n_clusters=3, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X, y=None):
        rng = np.random.default_rng(self.random_state)
        self.labels_ = rng.integers(0, self.n_clusters, X.shape[0])
        return self


def blobs(n=40, seed=0):
    return make_blobs(n, centers=3, cluster_std=3.0, random_state=seed)[0]


@pytest.mark.parametrize("agreement", REFERENCES)
def test_equals_the_definition(agreement):
    X = blobs(31)
    result = predictive_power(WARD, X, n_repeats=3, agreement=agreement, random_state=5)
    for repeat, value in enumerate(result.replicates):
        order = np.random.default_rng(SeedSequence(5).spawn(repeat + 1)[repeat]).permutation(31)
        first, second = order[:16], order[16:]
        expected = reference.halving(WARD.fit_predict, X, first, second, REFERENCES[agreement])
        assert value == pytest.approx(expected, abs=1e-12)
    assert result.value == pytest.approx(result.replicates.mean())
    assert result.standard_error == pytest.approx(result.replicates.std(ddof=1) / np.sqrt(3))


class Given(ClusterMixin, BaseEstimator):
    """Has a given label for each value of the only feature."""

    def __init__(self, labels):
        self.labels = labels

    def fit_predict(self, X, y=None):
        return np.array([self.labels[value] for value in X[:, 0]])


@settings(deadline=None)
@given(st.lists(st.integers(-1, 3), min_size=6, max_size=16), st.integers(0, 9))
def test_agreements_equal_their_definitions(labels, seed):
    """Any labels of one half beside those of its nearest neighbors in the other one."""
    X = np.random.default_rng(seed).normal(size=(len(labels), 1))
    given = Given(dict(zip(X[:, 0].tolist(), labels, strict=True)))
    orders = [
        np.random.default_rng(child).permutation(len(X)) for child in SeedSequence(seed).spawn(2)
    ]
    for name, agreement in REFERENCES.items():
        options = {"agreement": name, "n_repeats": 2, "random_state": seed}
        found = predictive_power(given, X, **options).replicates
        for value, order in zip(found, orders, strict=True):
            halves = np.array_split(order, 2)
            expected = reference.halving(given.fit_predict, X, *halves, agreement)
            assert value == pytest.approx(expected, abs=1e-12), (name, halves)


@each_value
@pytest.mark.parametrize("agreement", REFERENCES)
@pytest.mark.parametrize(
    "clusterer", [DBSCAN(eps=1e-9), DBSCAN(eps=1e-9, min_samples=1), AgglomerativeClustering(15)]
)
def test_noise_and_singletons_are_no_evidence(agreement, clusterer):
    X = np.random.default_rng(0).normal(size=(30, 2))
    result = predictive_power(clusterer, X, n_repeats=3, agreement=agreement, random_state=0)
    assert result.replicates.tolist() == [0.0] * 3


def test_noise_beside_clusters_is_left_out():
    X = make_blobs(80, centers=[[0, 0], [20, 0]], random_state=0)[0]
    far = np.vstack([X, [[1e3, 0], [-1e3, 0], [0, 1e3]]])
    for agreement in REFERENCES:
        options = {"n_repeats": 4, "agreement": agreement, "random_state": 0}
        assert predictive_power(DBSCAN(eps=5), X, **options).value == 1.0
        assert 0.9 < predictive_power(DBSCAN(eps=5), far, **options).value <= 1.0


def test_clear_clusters_are_predicted_and_random_labels_are_not():
    X = make_blobs(60, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)[0]
    for agreement in REFERENCES:
        result = predictive_power(WARD, X, n_repeats=5, agreement=agreement, random_state=0)
        assert (result.value, result.standard_error) == (1.0, 0.0)
    chance = predictive_power(RandomLabels(), X, n_repeats=40, random_state=0)
    assert abs(chance.value) < 4 * chance.standard_error
    assert chance.value < 0.05


def test_given_seed_of_the_clusterer_is_kept():
    seeds = []

    class Seeded(RandomLabels):
        def fit(self, X, y=None):
            seeds.append(self.random_state)
            return super().fit(X)

    for clusterer in (Seeded(), Seeded(random_state=11)):
        for model in (clusterer, make_pipeline(StandardScaler(), clusterer)):
            seeds.clear()
            predictive_power(model, blobs(), n_repeats=2, random_state=0)
            if clusterer.random_state is None:
                assert all(isinstance(seed, int) for seed in seeds)
                assert len(set(seeds)) > 1
            else:
                assert set(seeds) == {11}


def test_sparse_data():
    X = np.where(np.abs(blobs()) < 2, 0, blobs())
    kmeans = KMeans(3, n_init=3, random_state=0)
    sparse = predictive_power(kmeans, csr_matrix(X), n_repeats=2, random_state=0)
    dense = predictive_power(kmeans, X, n_repeats=2, random_state=0)
    np.testing.assert_allclose(sparse.replicates, dense.replicates)


def test_result_prints_and_frames():
    result = predictive_power(WARD, blobs(), n_repeats=3, random_state=0)
    assert result.method == "adjusted_rand"
    assert result.to_frame()["value"].tolist() == [result.value]
    assert f"standard error  {result.standard_error:.4f}" in str(result)
    assert np.isnan(result.interval.low)
    assert "interval" not in str(result)
