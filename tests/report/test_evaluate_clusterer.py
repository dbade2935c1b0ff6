"""Several clusterers on the same halves of the data, and the comparison of their stabilities."""

import json
import re

import numpy as np
import pytest
from scipy import stats
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale

from skeval.cluster import predictive_power
from skeval.model_selection._comparison_methods import Systems, compare
from skeval.report import ClustererComparison, evaluate_clusterer
from skeval.report._evaluate_clusterer import write_stabler

IRIS, SPECIES = scale(load_iris().data), load_iris().target
KMEANS = KMeans(n_init=2)
SEVERAL = {"kmeans": KMEANS, "ward": AgglomerativeClustering(), "gmm": GaussianMixture()}


@pytest.fixture(scope="module")
def several():
    options = {"labels_true": SPECIES, "n_repeats": 3, "random_state": 5}
    return evaluate_clusterer(SEVERAL, IRIS, n_clusters=iter([2, 4, 30]), **options)


def test_each_of_several_is_evaluated_as_it_is_alone(several):
    alone = evaluate_clusterer(
        SEVERAL["ward"],
        IRIS,
        n_clusters=[2, 4, 30],
        labels_true=SPECIES,
        n_repeats=3,
        random_state=5,
    )
    assert isinstance(several, ClustererComparison)
    assert list(several) == list(SEVERAL)
    assert several["ward"].to_dict() == alone.to_dict()
    assert several.n_clusters == {name: each.n_clusters for name, each in several.items()}


def test_stabilities_are_compared_halving_by_halving(several):
    assert list(several.comparisons) == [2, 4]  # halves of 75 hold no 30 clusters of 3
    ward, gmm = (several[name].stability.replicates[1] for name in ("ward", "gmm"))
    found, by_hand = several.comparisons[4]["ward", "gmm"], stats.ttest_rel(ward, gmm)
    assert found.value == pytest.approx(np.mean(ward - gmm))
    assert found.pvalue_alone == pytest.approx(by_hand.pvalue)
    low, high = by_hand.confidence_interval(1 - 0.05 / 2 / 3)  # of two k and three pairs
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    agreed = adjusted_rand_score(several["ward"].partitions[4], several["gmm"].partitions[4])
    row = several._differences()[5]
    assert (row["n_clusters"], row["a"], row["b"]) == (4, "ward", "gmm")
    assert row["adjusted_rand"] == pytest.approx(agreed)


def test_one_front_of_all_clusterings(several):
    frame = several.to_frame()
    assert frame.index.tolist() == np.repeat(list(SEVERAL), 3).tolist()
    for kept, values in zip(several.indices.front, several.indices.values, strict=True):
        up = np.where(several.indices.greater_is_better, 1, -1)
        better = up * (several.indices.values - values)
        beaten = np.any((better >= -1e-9).all(axis=1) & (better > 1e-9).any(axis=1))
        assert kept != beaten
    np.testing.assert_array_equal(frame["front"], several.indices.front)


def test_several_are_written_in_every_form(several, tmp_path):
    assert str(several).startswith(several.verdict)
    assert "--" not in str(several)
    assert "does not show how results vary with new data" in several.verdict
    numbers = json.loads(several.to_json(tmp_path / "r.json"))
    assert numbers["clusterings"] == several.to_dict()["clusterings"]
    assert len(numbers["differences"]) == 6
    page = several.to_html()
    for part in ("Which is more stable?", "Side by side", "AgglomerativeClustering()"):
        assert part in page
    again = {}
    exec(several.call, {"X": IRIS, "labels_true": SPECIES}, again)
    assert again["report"].verdict == several.verdict


def compare_two(a, b):
    systems = Systems(("a", "b"), "prediction_strength", 60)
    return compare(systems, "halvings", np.column_stack([a, b]), 0.0)


@pytest.mark.filterwarnings("ignore:The difference is the same")
@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ([0.9, 0.8, 0.9], [0.9, 0.8, 0.9], "a is as stable as b on every split."),
        ([0.5, 0.6, 0.5], [0.9, 0.99, 0.91], r"b is more stable than a \(by 0.4000, \[0.3752, "),
        ([0.5, 0.9, 0.7], [0.6, 0.6, 0.8], r"a is not significantly more stable than b \(by 0.03"),
        (
            [0.5, 0.9, 0.7],
            [0.6, 1.0, 0.8],
            r"b is not significantly more stable than a \(by 0.1000",
        ),
    ],
)
def test_only_what_is_shown_is_said(a, b, said):
    assert re.search(said, write_stabler(3, compare_two(a, b)))


@pytest.mark.parametrize(
    ("clusterers", "rule"),
    [
        ({"a": KMEANS}, "at least two clusterers, got 1"),
        ({"a": KMEANS, "b": 3}, r"clusterer\['b'\] must have the methods"),
        ({"a": KMEANS, "b": DBSCAN()}, "DBSCAN has neither n_clusters nor n_components"),
    ],
)
def test_several_that_are_refused(clusterers, rule):
    with pytest.raises((TypeError, ValueError), match=rule):
        evaluate_clusterer(clusterers, IRIS)


class OtherSeed(KMeans):
    """K-means that draws other starts than K-means of the same seed."""

    def fit_predict(self, X, y=None, sample_weight=None):
        self.random_state += 1
        return super().fit_predict(X, y, sample_weight)


@pytest.mark.simulated
@pytest.mark.parametrize("n_sets", [8, pytest.param(400, marks=pytest.mark.slow)])
def test_equals_are_seldom_called_different(n_sets):
    """K-means of one start against itself with other seeds: of equal stability by any data."""
    rejected = 0
    for seed in range(n_sets):
        X = np.random.default_rng(seed).normal(size=(40, 2))
        a, b = (
            predictive_power(kind(4, n_init=1, init="random"), X, n_repeats=8, random_state=seed)
            for kind in (KMeans, OtherSeed)
        )
        rejected += compare_two(a.replicates, b.replicates).difference.pvalue <= 0.05
    assert stats.binomtest(rejected, n_sets, 0.05, alternative="greater").pvalue > 0.001
