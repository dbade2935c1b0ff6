"""Every view of one clusterer: each number is that of the function it comes from."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from skeval.cluster import choose_n_clusters
from skeval.metrics.cluster import internal_indices
from skeval.report import evaluate_clusterer

IRIS, SPECIES = scale(load_iris().data), load_iris().target
BLOBS, _ = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
KMEANS = KMeans(n_init=2)


@pytest.fixture(scope="module")
def report():
    return evaluate_clusterer(
        KMEANS, IRIS, n_clusters=range(2, 5), labels_true=SPECIES, n_repeats=3, random_state=5
    )


def test_numbers_are_those_of_the_functions(report):
    for row, (k, labels) in enumerate(report.partitions.items()):
        assert len(np.unique(labels)) == k
        one = internal_indices(IRIS, labels)
        expected = [one[name] for name in report.comparison.indices]
        np.testing.assert_array_equal(report.comparison.values[row], expected)
        assert report.external[row]["adjusted_rand"] == pytest.approx(
            adjusted_rand_score(SPECIES, labels), abs=1e-12
        )
    options = {"n_clusters": range(2, 5), "n_repeats": 3, "random_state": report.seed}
    for method, choice in report.choices.items():
        alone = choose_n_clusters(KMEANS, IRIS, method=method, **options)
        np.testing.assert_array_equal(choice.replicates, alone.replicates)
        assert choice.n_clusters == alone.n_clusters
    assert report.n_clusters == report.choice.n_clusters == 2


def test_dict_json_and_frame_agree(report, tmp_path):
    numbers = report.to_dict()
    assert numbers["n_clusters"] == 2
    assert [row["n_clusters"] for row in numbers["rows"]] == [2, 3, 4]
    assert [row["chosen"] for row in numbers["rows"]] == [True, False, False]
    written = json.loads(report.to_json(tmp_path / "r.json"))
    assert written["rows"] == numbers["rows"]
    assert written["choices"].keys() == numbers["choices"].keys()
    assert json.loads((tmp_path / "r.json").read_text()) == written
    frame = report.to_frame()
    assert frame.index.tolist() == [2, 3, 4]
    assert frame.loc[3, "silhouette"] == numbers["rows"][1]["silhouette"]
    assert frame.loc[3, "purity"] == numbers["rows"][1]["external"]["purity"]
    assert frame["front"].tolist() == report.comparison.front.tolist()


def test_sparse_data_by_the_indices_that_it_has():
    options = {"n_clusters": [2, 3], "n_repeats": 2, "random_state": 0}
    indices = ["silhouette", "dunn", "calinski_harabasz"]
    sparse = evaluate_clusterer(KMEANS, csr_array(BLOBS), indices=indices, **options)
    dense = evaluate_clusterer(KMEANS, BLOBS, indices=indices, **options)
    np.testing.assert_allclose(sparse.comparison.values, dense.comparison.values, rtol=1e-10)


def test_no_structure_is_one_cluster():
    X = np.random.default_rng(0).normal(size=(80, 2))
    report = evaluate_clusterer(KMEANS, X, n_clusters=[2, 4], n_repeats=4, random_state=0)
    assert report.n_clusters == 1
    assert report.verdict == (
        f"No evidence of clusters (P = {report.choice.pvalue:#.2g} for structure); "
        "4 of 4 other rules agree."
    )
    assert report.warnings == ()
    assert not any(row["chosen"] for row in report.to_dict()["rows"])


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_choice_is_no_number_that_was_not_found():
    X = np.repeat(np.eye(3), 20, axis=0)
    options = {"n_clusters": range(2, 5), "n_repeats": 3, "random_state": 0}
    report = evaluate_clusterer(KMEANS, X, **options)
    assert report.n_clusters == 3
    assert [row["n_found"] for row in report.to_dict()["rows"]] == [2, 3, 3]
    assert [row["n_found"] for row in report.to_dict()["rows"] if row["chosen"]] == [3]
    (text,) = (one for one in report.warnings if one.title == "Fewer clusters")
    assert "3 clusters instead of 4" in text.evidence
    assert "k = 4" in text.advice


@pytest.mark.parametrize(("largest", "is_last"), [(3, True), (4, False)])
def test_a_choice_at_the_end_of_the_range_is_a_warning(largest, is_last):
    options = {"n_clusters": range(2, largest + 1), "n_repeats": 2, "random_state": 0}
    report = evaluate_clusterer(KMEANS, BLOBS, **options)
    assert report.n_clusters == 3
    assert ("Largest k chosen" in [one.title for one in report.warnings]) == is_last


def test_a_narrow_decision_is_a_warning():
    X, _ = make_blobs(200, centers=4, cluster_std=2.2, random_state=3)
    report = evaluate_clusterer(KMEANS, X, n_repeats=3, random_state=0)
    notes = report.choice.notes
    assert any("narrow" in note.lower() for note in notes)
    assert [str(one) for one in report.warnings[: len(notes)]] == [*notes]
    # those of other rules are listed with the rules
    listed = [text for section in report.sections for text in section.sentences]
    assert not [text for text in listed for note in notes if note in text]
    others = [one for one in report.choices.values() if one is not report.choice]
    assert all(any(note in text for text in listed) for one in others for note in one.notes)


def test_infinite_indices_can_be_read_back_from_json():
    X = np.repeat(np.eye(3), 8, axis=0)
    report = evaluate_clusterer(
        AgglomerativeClustering(), X, n_clusters=[3], n_repeats=2, indices=["dunn"]
    )
    assert report.to_dict()["rows"][0]["dunn"] == np.inf
    assert float(json.loads(report.to_json())["rows"][0]["dunn"]) == np.inf
    assert "inf" in str(report)


@pytest.mark.parametrize("kind", ["year", "slow", "copies", "row number", "constant", None])
def test_the_table_is_checked_without_a_target(kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)).round(3), columns=list("abcd"))
    if kind == "year":
        X["year"] = np.repeat(np.arange(1950, 1980), 2)
    elif kind == "slow":
        X = X.cumsum()
    elif kind == "copies":
        X.iloc[40:] = X.iloc[:20].to_numpy()
    elif kind == "row number":
        X["nr"] = rng.permutation(60)
    elif kind == "constant":
        X["b"] = 1.0
    report = evaluate_clusterer(KMeans(n_init=1), X, n_clusters=(2, 3), n_repeats=2, random_state=0)
    codes = {one.code: one for one in report.warnings if one.code != "clusters"}
    expected = {"year": "time-order", "slow": "time-order", "row number": "row-number"}.get(
        kind, kind
    )
    assert {*codes} == ({expected} if kind else set())
    grave = kind in ("year", "slow", "copies")
    assert report.verdict.startswith("Do not rely on these clusters") == grave


@pytest.mark.parametrize(
    ("chosen", "others", "start", "end"),
    [
        (3, [1, 3, 3, 3], "3 clusters", "3 of 4 other rules agree, the rest choose 1."),
        (3, [3, 1, 2, 2], "3 clusters", "1 of 4 other rules agrees, the rest choose 1 or"),
        (3, [1, 2, 5, 6], "Undecided: 3 clusters by", "all 4 other rules choose 1 to 6."),
        (1, [2, 2, 2, 2], "Undecided: no evidence of clusters by", "all 4 other rules choose 2."),
        (1, [2, 4, 1, 1], "No evidence of clusters", "2 of 4 other rules agree, the rest choose"),
    ],
)
def test_the_verdict_weighs_all_rules(report, chosen, others, start, end):
    names = [name for name in report.choices if name != "sequential"]
    first = replace(report.choice, n_clusters=chosen, pvalue=0.025, pvalue_more=np.nan)
    choices = {"sequential": first} | {
        name: replace(report.choices[name], n_clusters=k)
        for name, k in zip(names, others, strict=True)
    }
    verdict = replace(report, choices=choices).verdict
    assert verdict.startswith(start)
    assert f"; {end}" in verdict


@pytest.mark.parametrize("known", [True, False])
def test_the_known_classes_are_said_not_to_decide(report, known):
    changed = report if known else replace(report, external=None)
    (numbers,) = (one for one in changed.sections if one.heading == "All numbers")
    assert any("Rand with" in head for head in numbers.tables[0].head) == known
    assert any("known classes were not used" in text for text in numbers.sentences) == known


@pytest.mark.parametrize("largest", [False, True])
def test_the_sentence_and_the_table_count_the_same_rules(report, largest):
    """A gap that still increases at the largest candidate chooses no number of clusters."""
    gap = replace(report.choices["gap"], n_clusters=4 if largest else 3)
    changed = replace(report, choices={**report.choices, "gap": gap})
    n_counted = len(report.choices) - 1 - largest
    assert f"of {n_counted} other rules" in changed.verdict
    assert ("gap statistic does not count" in changed.verdict) == largest
    sections = {section.heading: section.tables for section in changed.sections}
    chosen = {row[0]: row[1] for row in sections["How many clusters?"][0].rows}
    others = [number for rule, number in chosen.items() if rule != "sequential tests"]
    assert f"{others.count(str(report.n_clusters))} of" in changed.verdict
    assert (chosen["gap statistic"] == "none") == largest


def test_a_limit_is_named_after_its_rule(report):
    row = report.to_frame().loc[2]
    assert row["prediction_strength_limit"] == report.stability.limits[0]
    assert row["silhouette_limit"] == report.choice.limits[0]


X = np.random.default_rng(0).normal(size=(40, 3)) * [3, 2, 0.1]
THREE = np.arange(40) % 3


class Turns(ClusterMixin, BaseEstimator):
    """Puts samples into clusters in turn."""

    def __init__(self, n=3):
        self.n = n

    def fit_predict(self, X, y=None):
        return np.arange(X.shape[0]) % self.n


def show(X, n=3):
    """Return what a page shows of the clusters of samples in turn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluate_clusterer(Turns(n), X, n_repeats=2, random_state=0).shown


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_clusters_are_shown_on_principal_components(make):
    shown = show(make(X))
    np.testing.assert_array_equal(shown.labels, THREE)
    analysis = PCA(2).fit(X)
    np.testing.assert_allclose(np.abs(shown.components), np.abs(analysis.transform(X)), rtol=1e-6)
    np.testing.assert_allclose(shown.shares, analysis.explained_variance_ratio_)
    # one feature has one component
    one = show(make(X[:, :1]))
    np.testing.assert_allclose(np.abs(one.components[:, 0]), np.abs(X[:, 0] - X[:, 0].mean()))
    assert one.shares.tolist() == [1, 0]
    assert not one.components[:, 1].any()
    assert show(make(X), n=1) is None


def test_samples_that_do_not_vary_have_no_shares():
    assert np.isnan(show(np.ones((40, 2))).shares).all()
