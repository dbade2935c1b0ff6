"""Clusterers without a number of clusters: every number is that of the function it comes from."""

import json

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from skeval.cluster import cluster_stability, structure_test
from skeval.metrics.cluster import dbcv_score, silhouette_score
from skeval.report import evaluate_clusterer

MOONS, MOON = make_moons(120, noise=0.04, random_state=0)
MOONS = np.vstack([MOONS, [[3.0, 3.0], [-3.0, 2.0]]])
MOON = np.append(MOON, [0, 1])
OPTIONS = {"n_repeats": 2, "random_state": 3}
SCAN = DBSCAN(eps=0.3)


@pytest.fixture(scope="module")
def report():
    return evaluate_clusterer(SCAN, MOONS, labels_true=MOON, **OPTIONS)


def test_numbers_are_those_of_the_functions(report):
    labels = SCAN.fit_predict(MOONS)
    np.testing.assert_array_equal(report.labels, labels)
    assert report.n_clusters == 2
    assert report.noise_share == np.mean(labels == -1) > 0
    assert report.dbcv == dbcv_score(MOONS, labels)
    assert report.indices["silhouette"] == silhouette_score(MOONS, labels, noise="drop")
    seed = report.seed
    stability = cluster_stability(SCAN, MOONS, n_resamples=20, random_state=seed)
    np.testing.assert_array_equal(report.stability.replicates, stability.replicates)

    def measure_density(X, labels):
        """Return DBCV, or its lowest value where there are no two clusters."""
        return dbcv_score(X, labels) if len(set(labels) - {-1}) > 1 else -1.0

    test = structure_test(SCAN, MOONS, index=measure_density, n_references=99, random_state=seed)
    assert report.pvalue == test.pvalue < 0.05
    expected = adjusted_rand_score(MOON, labels)
    assert report.external["adjusted_rand"] == pytest.approx(expected, abs=1e-12)


def test_every_view(report, tmp_path):
    assert report.verdict.startswith("2 clusters and 1.6 % noise (P = 0.030 for structure)")
    numbers = report.to_dict()
    read = json.loads(report.to_json(tmp_path / "r.json"))
    assert (read["rows"], read["dbcv"]) == (numbers["rows"], report.dbcv)
    assert [row["cluster"] for row in numbers["rows"]] == [0, 1]
    assert report.to_frame()["size"].tolist() == report.stability.sizes.tolist()
    assert report.predictions["cluster"].tolist() == report.labels.tolist()
    text, page = str(report), report.to_html()
    for word in ("noise", "DBCV", "silhouette", "verdict"):
        assert word in text
        assert word in page
    assert "could not be drawn" not in page
    assert report.plot() is not None


@pytest.mark.parametrize(
    "clusterer",
    [
        HDBSCAN(copy=True),
        AgglomerativeClustering(None, distance_threshold=2.0),
        make_pipeline(PCA(2), DBSCAN(eps=0.3)),
    ],
    ids=lambda clusterer: type(clusterer).__name__,
)
def test_clusterers_without_a_number(clusterer):
    report = evaluate_clusterer(clusterer, MOONS[::2], **OPTIONS)
    assert report.n_clusters == len(set(report.labels) - {-1})


def test_precomputed_distances_have_no_test():
    D = squareform(pdist(MOONS))
    report = evaluate_clusterer(DBSCAN(eps=0.3, metric="precomputed"), D, **OPTIONS)
    points = evaluate_clusterer(SCAN, MOONS, **OPTIONS)
    np.testing.assert_array_equal(report.labels, points.labels)
    np.testing.assert_array_equal(report.stability.replicates, points.stability.replicates)
    for name in ("silhouette", "dunn", "connectivity"):
        assert report.indices[name] == pytest.approx(points.indices[name])
    assert report.structure is None
    assert np.isnan([report.dbcv, report.pvalue]).all()
    assert "distances" in report.to_html()
    number = AgglomerativeClustering(2, metric="precomputed", linkage="average")
    assert evaluate_clusterer(number, D, **OPTIONS).n_clusters == 2


def test_one_cluster_and_noise_alone():
    one = evaluate_clusterer(DBSCAN(eps=50), MOONS, **OPTIONS)
    assert one.verdict.startswith("1 cluster and 0.0 % noise; 1 of 1 is stable. Structure was not")
    assert "1 cluster" in one.to_html()
    none = evaluate_clusterer(DBSCAN(eps=1e-9), MOONS, **OPTIONS)
    assert none.verdict.startswith("No clusters: all samples are noise. Increase ")
    assert none.to_dict()["rows"] == []
    assert "noise" in none.to_html()


def test_a_cloud_has_no_structure():
    X = np.random.default_rng(0).normal(size=(80, 2))
    report = evaluate_clusterer(DBSCAN(eps=0.35, min_samples=4), X, **OPTIONS)
    assert report.pvalue > 0.05
    assert report.verdict.startswith("No evidence of clusters: ")


def test_bad_input():
    with pytest.raises(ValueError, match="n_clusters must be None for a clusterer without"):
        evaluate_clusterer(SCAN, MOONS, n_clusters=(2, 3))
    with pytest.raises(ValueError, match="n_clusters must"):
        evaluate_clusterer(AgglomerativeClustering(), MOONS, n_clusters=(1, 2))
    with pytest.raises(ValueError, match="X must be square"):
        evaluate_clusterer(DBSCAN(metric="precomputed"), MOONS)
