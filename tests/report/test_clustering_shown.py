"""What a page shows of a clustering: the choice on its principal components."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

from skeval.report._evaluate_clusterer import find_clustering

X = np.random.default_rng(0).normal(size=(40, 3)) * [3, 2, 0.1]
PARTITIONS = {2: (X[:, 0] > 0).astype(int), 3: np.arange(40) % 3}


@pytest.fixture
def choice(clustering_report):
    return replace(
        clustering_report.choice,
        n_clusters=3,
        candidates=np.array([2, 3]),
        values=np.array([0.9, 0.5]),
    )


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_components(choice, make):
    shown = find_clustering(make(X), PARTITIONS, choice, 0)
    assert shown.n_clusters == 3
    np.testing.assert_array_equal(shown.labels, PARTITIONS[3])
    analysis = PCA(2).fit(X)
    np.testing.assert_allclose(np.abs(shown.components), np.abs(analysis.transform(X)), rtol=1e-6)
    np.testing.assert_allclose(shown.shares, analysis.explained_variance_ratio_)


def test_without_a_choice_the_largest_silhouette_is_shown(choice):
    assert find_clustering(X, PARTITIONS, replace(choice, n_clusters=1), 0).n_clusters == 2


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_one_feature_has_one_component(choice, make):
    shown = find_clustering(make(X[:, :1]), PARTITIONS, choice, 0)
    np.testing.assert_allclose(np.abs(shown.components[:, 0]), np.abs(X[:, 0] - X[:, 0].mean()))
    assert shown.shares.tolist() == [1, 0]
    assert not shown.components[:, 1].any()


def test_nothing_varies_and_one_cluster(choice):
    shown = find_clustering(np.ones((40, 2)), PARTITIONS, choice, 0)
    assert np.isnan(shown.shares).all()
    one = {2: np.zeros(40, int), 3: np.zeros(40, int)}
    assert find_clustering(X, one, choice, 0) is None
