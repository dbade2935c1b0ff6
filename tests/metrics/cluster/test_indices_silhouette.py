"""Options that scikit-learn's silhouette has: a sample of the samples, the metric's arguments."""

import numpy as np
import pytest
import sklearn.metrics as sk
from numpy.random import RandomState, default_rng
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from skeval.metrics.cluster import silhouette_samples, silhouette_score

X = default_rng(0).normal(size=(60, 3)) + np.repeat([0, 2, 5], 20)[:, None]
LABELS = np.repeat(["a", "b", "c"], 20)


@pytest.mark.parametrize(
    ("metric", "arguments"),
    [
        ("minkowski", {"p": 3}),
        ("mahalanobis", {"VI": np.diag([1.0, 2.0, 3.0])}),
        ("seuclidean", {"V": np.array([1.0, 2.0, 3.0])}),
        (lambda a, b, power: np.abs(a - b).max() ** power, {"power": 0.5}),
    ],
)
def test_arguments_of_the_metric(metric, arguments):
    found = silhouette_samples(X, LABELS, metric=metric, **arguments)
    distances = cdist(X, X, metric=metric, **arguments)
    np.testing.assert_allclose(
        found, sk.silhouette_samples(distances, LABELS, metric="precomputed")
    )
    assert silhouette_score(X, LABELS, metric=metric, **arguments) == pytest.approx(found.mean())


@pytest.mark.parametrize("seed", [0, 7])
def test_the_sample_is_that_of_scikit_learn(seed):
    options = {"sample_size": 25, "metric": "cityblock", "random_state": seed}
    expected = sk.silhouette_score(X, LABELS, **options)
    assert silhouette_score(X, LABELS, **options) == pytest.approx(expected)


@pytest.mark.parametrize("make", [RandomState, default_rng])
def test_a_generator_is_advanced(make):
    generator = make(0)
    first, second = (
        silhouette_score(X, LABELS, sample_size=25, random_state=generator) for _ in range(2)
    )
    assert first != second


def test_a_sample_of_given_distances():
    distances = pairwise_distances(X)
    options = {"sample_size": 30, "random_state": 0}
    found = silhouette_score(distances, LABELS, metric="precomputed", **options)
    assert found == pytest.approx(silhouette_score(X, LABELS, **options))
    assert found == pytest.approx(
        sk.silhouette_score(distances, LABELS, metric="precomputed", **options)
    )


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"takes no arguments, got \['p'\]"):
        silhouette_score(pairwise_distances(X), LABELS, metric="precomputed", p=3)
    with pytest.raises(ValueError, match="'sample_size' parameter"):
        silhouette_score(X, LABELS, sample_size=0)
    with pytest.raises(TypeError, match="nonsense"):
        silhouette_score(X, LABELS, metric="minkowski", nonsense=3)
