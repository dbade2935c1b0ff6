"""Stability of clusters: fpc's definition and resamples, verdicts, seeds, bad input."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.random import SeedSequence
from reference import cluster_stability as reference
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.datasets import make_blobs

from skeval.cluster import ClusterStability, ClusterStabilityDisplay, cluster_stability

WARD = AgglomerativeClustering(3)


def blobs(seed=0, n=60, spread=1.0):
    centers = [[0, 0], [9, 0], [0, 9]]
    return make_blobs(n, centers=centers, cluster_std=spread, random_state=seed)[0]


class Given(ClusterMixin, BaseEstimator):
    """Has labels for the data, and other labels for samples of each later fit."""

    def __init__(self, labels, fits):
        self.labels, self.fits = labels, fits

    def __sklearn_clone__(self):
        return self

    def fit_predict(self, X, y=None):
        self.fits.append(X[:, 0].astype(int))
        return self.labels[len(self.fits) > 1][self.fits[-1]]


@settings(deadline=None, derandomize=True, database=None)
@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=4, max_size=12))
def test_jaccards_equal_their_definitions(pairs):
    """Some clusters are in no sample of a resample."""
    labels, found = map(np.array, zip(*pairs, strict=True))
    assume(labels.max() >= 0)
    X, fits = np.column_stack([np.arange(len(labels)), np.zeros(len(labels))]), []
    result = cluster_stability(Given((labels, found), fits), X, n_resamples=4, random_state=0)
    names = np.unique(labels[labels >= 0]).tolist()
    assert result.labels.tolist() == names
    expected = [
        reference.cluster_jaccards(names, labels[rows].tolist(), found[rows].tolist())
        for rows in fits[1:]
    ]
    np.testing.assert_allclose(result.replicates.T, expected)


FITTED = []


class Ward(ClusterMixin, BaseEstimator):
    """Keeps the samples of its fits."""

    def fit(self, X):
        FITTED.append(X)
        self.labels_ = WARD.fit_predict(X)
        return self


@pytest.mark.parametrize("method", ["bootstrap", "subset", "jitter"])
def test_equals_the_definition(method):
    X = blobs(spread=3.0) * [1, 5]
    FITTED.clear()
    result = cluster_stability(Ward(), X, method=method, n_resamples=4, random_state=5)
    labels, children = WARD.fit_predict(X), SeedSequence(5).spawn(1)[0].spawn(20)
    np.testing.assert_array_equal(result.partition, labels)
    for b, data in enumerate(FITTED[1:]):
        if method == "jitter":
            noise = np.random.default_rng(children[b]).normal(size=X.shape)
            np.testing.assert_allclose(data, X + 0.1 * X.std(axis=0) * noise)
            rows = np.arange(len(X))
        else:
            rows = np.array([np.flatnonzero((row == X).all(axis=1))[0] for row in data])
        found = WARD.fit_predict(data)
        expected = reference.cluster_jaccards([0, 1, 2], labels[rows].tolist(), found.tolist())
        np.testing.assert_allclose(result.replicates[:, b], expected)
    np.testing.assert_allclose(result.values, result.replicates.mean(axis=1))


def test_more_noise_makes_clusters_less_stable():
    X = pd.DataFrame(1e-3 * blobs(spread=1.5), columns=["a", "b"])
    stabilities = [
        cluster_stability(WARD, X, method="jitter", noise=noise, random_state=0).values.min()
        for noise in (0.01, 0.3, 2.0)
    ]
    assert stabilities[0] > 0.98
    assert stabilities[0] > stabilities[1] > stabilities[2]
    pairs = AgglomerativeClustering(2, metric="precomputed", linkage="average")
    for clusterer, data in ((WARD, csr_array(X)), (pairs, squareform(pdist(X)))):
        with pytest.raises(ValueError, match="'jitter' adds noise to features"):
            cluster_stability(clusterer, data, method="jitter")


def test_resamples_are_those_of_fpc():
    X = np.arange(2000.0)[:, None]
    for method, least, most in (("bootstrap", 1200, 1320), ("subset", 1000, 1000)):
        FITTED.clear()
        cluster_stability(Ward(), X, method=method, n_resamples=2, random_state=0)
        rows = FITTED[-1].ravel().tolist()
        assert least <= len(set(rows)) == len(rows) <= most


@pytest.mark.parametrize("method", ["bootstrap", "subset"])
def test_clear_clusters_are_stable_and_cut_noise_is_not(method):
    clear = cluster_stability(WARD, blobs(), method=method, n_resamples=10, random_state=0)
    assert clear.values.min() == 1
    assert clear.verdicts == ("highly stable",) * 3
    X = np.random.default_rng(0).normal(size=(60, 2))
    options = {"method": method, "n_resamples": 20, "random_state": 0}
    cut = cluster_stability(AgglomerativeClustering(6), X, **options)
    assert cut.values.min() < 0.6


def test_verdicts():
    means = np.array([1.0, 0.85, 0.84, 0.75, 0.74, 0.6, 0.59, 0.51, 0.5, 0.0])
    names = ["highly stable"] * 2 + ["stable"] * 2 + ["pattern"] * 2 + ["doubtful"] * 2
    names += ["dissolved"] * 2
    replicates = np.repeat(means[:, None], 2, axis=1)
    arrays = np.arange(10), np.ones(10), means, np.zeros(10), replicates, np.zeros(10)
    result = ClusterStability(*arrays, "bootstrap")
    assert list(result.verdicts) == names
    assert result.n_dissolved.tolist() == [0] * 8 + [2] * 2
    assert result.n_recovered.tolist() == [2] * 3 + [0] * 7


def test_noise_is_no_cluster():
    X = np.vstack([blobs(), [[50.0, 50.0], [-50.0, 0.0]]])
    result = cluster_stability(DBSCAN(eps=3), X, n_resamples=5, random_state=0)
    assert result.labels.tolist() == [0, 1, 2]
    assert (result.values == 1).all()
    assert result.partition[-2:].tolist() == [-1, -1]
    with pytest.raises(ValueError, match=r"find a cluster in X, got only noise \(-1\)"):
        cluster_stability(DBSCAN(eps=1e-9), X, n_resamples=2)


def test_precomputed_distances():
    X, options = blobs(), {"n_resamples": 5, "random_state": 0}
    points = cluster_stability(DBSCAN(eps=2), X, **options)
    D = squareform(pdist(X))
    for distances in (D, pd.DataFrame(D)):
        result = cluster_stability(DBSCAN(eps=2, metric="precomputed"), distances, **options)
        np.testing.assert_array_equal(result.replicates, points.replicates)
    with pytest.raises(ValueError, match=r"X must be square .*, got shape \(60, 2\)"):
        cluster_stability(DBSCAN(metric="precomputed"), X)


def test_result_and_display():
    result = cluster_stability(WARD, blobs(spread=3.5), n_resamples=6, random_state=0)
    frame = result.to_frame()
    assert frame["verdict"].tolist() == list(result.verdicts)
    assert frame["size"].sum() == 60
    assert "resamples (bootstrap)" in str(result)
    display = ClusterStabilityDisplay.from_result(result)
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, result.values)
    limits, names = display.ax_.get_legend_handles_labels()
    assert [line.get_xdata()[0] for line in limits] == [0.5, 0.6, 0.75, 0.85]
    assert names[2] == "stable above 0.75"
    assert display.plot(ax=display.ax_) is display


# Protein in the diet of 25 European countries (Hand et al., 1994, A Handbook of Small Data Sets):
# red and white meat, eggs, milk, fish, cereals, starch, nuts, fruit and vegetables.
PROTEIN = np.loadtxt(
    """\
10.1 1.4 0.5 8.9 0.2 42.3 0.6 5.5 1.7
8.9 14.0 4.3 19.9 2.1 28.0 3.6 1.3 4.3
13.5 9.3 4.1 17.5 4.5 26.6 5.7 2.1 4.0
7.8 6.0 1.6 8.3 1.2 56.7 1.1 3.7 4.2
9.7 11.4 2.8 12.5 2.0 34.3 5.0 1.1 4.0
10.6 10.8 3.7 25.0 9.9 21.9 4.8 0.7 2.4
8.4 11.6 3.7 11.1 5.4 24.6 6.5 0.8 3.6
9.5 4.9 2.7 33.7 5.8 26.3 5.1 1.0 1.4
18.0 9.9 3.3 19.5 5.7 28.1 4.8 2.4 6.5
10.2 3.0 2.8 17.6 5.9 41.7 2.2 7.8 6.5
5.3 12.4 2.9 9.7 0.3 40.1 4.0 5.4 4.2
13.9 10.0 4.7 25.8 2.2 24.0 6.2 1.6 2.9
9.0 5.1 2.9 13.7 3.4 36.8 2.1 4.3 6.7
9.5 13.6 3.6 23.4 2.5 22.4 4.2 1.8 3.7
9.4 4.7 2.7 23.3 9.7 23.0 4.6 1.6 2.7
6.9 10.2 2.7 19.3 3.0 36.1 5.9 2.0 6.6
6.2 3.7 1.1 4.9 14.2 27.0 5.9 4.7 7.9
6.2 6.3 1.5 11.1 1.0 49.6 3.1 5.3 2.8
7.1 3.4 3.1 8.6 7.0 29.2 5.7 5.9 7.2
9.9 7.8 3.5 24.7 7.5 19.5 3.7 1.4 2.0
13.1 10.1 3.1 23.8 2.3 25.6 2.8 2.4 4.9
17.4 5.7 4.7 20.6 4.3 24.3 4.7 3.4 3.3
9.3 4.6 2.1 16.6 3.0 43.6 6.4 3.4 2.9
11.4 12.5 4.1 18.8 3.4 18.6 5.2 1.5 3.8
4.4 5.0 1.2 9.5 0.6 55.9 3.0 5.7 3.2
""".splitlines()
)

# Zumel and Mount, Practical Data Science with R, section on clusterboot, and a rerun of a reader:
#   clusterboot(scale(protein[, -1]), clustermethod=hclustCBI, method="ward.D", k=5)
# $bootmean and $bootbrd of two runs with B=100. hclustCBI scales each resample again.
MEANS = np.array(
    [
        [0.7905000, 0.7990913, 0.6173056, 0.9312857, 0.7560000],
        [0.7958333, 0.7882421, 0.6631746, 0.9151190, 0.7596667],
    ]
)
N_DISSOLVED = np.array([[25, 11, 47, 8, 35], [23, 15, 41, 11, 36]])
# Their clusters, in the order in which their first rows occur, are these rows, counted from 1.
MEMBERS = [
    {1, 4, 18, 25},
    {2, 3, 9, 12, 14, 21, 22, 24},
    {5, 7, 11, 16, 23},
    {6, 8, 15, 20},
    {10, 13, 17, 19},
]


class WardD(ClusterMixin, BaseEstimator):
    """R's "ward.D" on scaled columns: Ward's method on the roots of the distances."""

    def fit_predict(self, X, y=None):
        distances = pdist((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))
        return fcluster(linkage(np.sqrt(distances), "ward"), 5, "maxclust")


def test_the_published_output_of_fpc():
    found = cluster_stability(WardD(), PROTEIN, n_resamples=400, random_state=0)
    members = [set(np.flatnonzero(found.partition == name) + 1) for name in found.labels]
    order = [members.index(each) for each in MEMBERS]
    spread = found.replicates.std(axis=1, ddof=1)[order]
    error = spread * np.sqrt(1 / 200 + 1 / 400)  # of the mean of 200 resamples, and of ours
    assert (np.abs(found.values[order] - MEANS.mean(axis=0)) < 3.5 * error).all()
    share, theirs = found.n_dissolved[order] / 400, N_DISSOLVED.sum(axis=0) / 200
    error = np.sqrt(theirs * (1 - theirs) * (1 / 200 + 1 / 400))
    assert (np.abs(share - theirs) < 3.5 * error).all()
