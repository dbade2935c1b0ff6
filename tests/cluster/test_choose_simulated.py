"""Data without structure are one cluster, clear Gaussian clusters are found: by simulation."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import binomtest
from sklearn.cluster import AgglomerativeClustering, KMeans

from skeval.cluster import choose_n_clusters

KMEANS = KMeans(n_init=1)
WARD = AgglomerativeClustering(linkage="ward")
SINGLE = AgglomerativeClustering(linkage="single")


def gaussian(n, n_features=2):
    return lambda rng: rng.normal(size=(n, n_features))


def uniform(n):
    return lambda rng: rng.uniform(size=(n, 2))


def with_outliers(rng):
    X = rng.normal(size=(200, 2))
    X[:8] *= 8
    return X


def elongated(n):
    return lambda rng: rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=n)


def clusters(k, n, n_features=2, separation=8.0):
    """Draw as many round clusters, no two centres closer than the separation."""

    def draw(rng):
        centres = np.zeros((k, n_features))
        while pdist(centres).min() < separation:
            centres = rng.uniform(-10, 10, size=(k, n_features))
        return centres[np.arange(n) % k] + rng.normal(size=(n, n_features))

    return draw


STRUCTURE = {
    "gaussian 8, kmeans": (gaussian(8), KMEANS, 1),
    "gaussian 8, single": (gaussian(8), SINGLE, 1),
    "gaussian 12, ward": (gaussian(12), WARD, 1),
    "gaussian 20, kmeans": (gaussian(20), KMEANS, 1),
    "gaussian 20, single": (gaussian(20), SINGLE, 1),
    "gaussian 50, ward": (gaussian(50), WARD, 1),
    "gaussian 50 x 10, kmeans": (gaussian(50, 10), KMEANS, 1),
    "gaussian 200, kmeans": (gaussian(200), KMEANS, 1),
    "gaussian 200, single": (gaussian(200), SINGLE, 1),
    "gaussian 200, ward": (gaussian(200), WARD, 1),
    "uniform 60, kmeans": (uniform(60), KMEANS, 1),
    "uniform 200, single": (uniform(200), SINGLE, 1),
    "outliers, kmeans": (with_outliers, KMEANS, 1),
    "outliers, ward": (with_outliers, WARD, 1),
    "elongated 40, kmeans": (elongated(40), KMEANS, 1),
    "elongated 200, kmeans": (elongated(200), KMEANS, 1),
    "elongated 100, ward": (elongated(100), WARD, 1),
    "2 clusters of 25, kmeans": (clusters(2, 50), KMeans(n_init=3), 2),
    "2 clusters of 12, ward": (clusters(2, 24), WARD, 2),
    "3 clusters of 20, ward": (clusters(3, 60), WARD, 3),
    "3 clusters of 30 x 10, kmeans": (clusters(3, 90, 10), KMeans(n_init=3), 3),
    "4 clusters of 25, kmeans": (clusters(4, 100), KMeans(n_init=5), 4),
    "5 clusters of 20, ward": (clusters(5, 100), WARD, 5),
}


def agreement_with_truth(name, n_sets, n_repeats, first=0):
    """Return the P-value of at least 95 % right choices."""
    draw, clusterer, truth = STRUCTURE[name]
    right = 0
    for seed in range(first, first + n_sets):
        X = draw(np.random.default_rng(seed))
        choice = choose_n_clusters(
            clusterer, X, n_clusters=range(1, 8), n_repeats=n_repeats, random_state=seed
        )
        right += choice.n_clusters == truth
    return binomtest(right, n_sets, 0.95, alternative="less").pvalue


SHORT = [name for name in STRUCTURE if "kmeans" not in name or " 8," in name or " 20," in name]
SHORT = [name for name in SHORT if " 200," not in name and " 100," not in name]


@pytest.mark.parametrize("name", SHORT)
def test_choice_in_few_data_sets(name):
    assert agreement_with_truth(name, 4, 4) > 0.01  # three of four


@pytest.mark.slow
@pytest.mark.parametrize("name", STRUCTURE)
def test_choice_in_many_data_sets(name):
    assert agreement_with_truth(name, 60, 10, first=100) > 0.01
