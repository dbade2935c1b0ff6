"""The HTML page of a clustering report: what it says, and that names do no harm in it."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from helpers.html import Document
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from skeval.report import evaluate_clusterer

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def html(clustering_page):
    return clustering_page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def document(html):
    return Document(html)


def test_answer_warnings_and_title(clustering_report, document):
    assert clustering_report.verdict.startswith("3 clusters (P = 0.025 for structure); ")
    assert clustering_report.verdict in document.text
    assert clustering_report.to_dict()["verdict"] == clustering_report.verdict
    assert "Largest k chosen: 3 is the largest number of clusters tried" in document.text
    assert document.text.count("blobs & more") == 2  # of the window and of the page


def test_table_holds_the_numbers(clustering_report, document):
    heads = [cell for cell in document.all("th") if cell["scope"] == "col"]
    # sizes; rules; k, indices, stability, silhouette, front, Rand, choice; versions
    assert len(heads) == 2 + 3 + 12 + 2
    for row in clustering_report._rows():
        assert f"{row['silhouette']:.4f}" in document.text
        assert f"{row['reference']:.3f}" in document.text
    assert "Agreement between halves alone is not evidence of clusters" in document.text
    for name in ("silhouette larger", "davies bouldin pairwise smaller", "Pareto front", "choice"):
        assert name in document.text
    assert "for orientation only" in document.text


def test_figures(document):
    labels = [svg["aria-label"] for svg in document.all("svg")]
    assert len(labels) == 5
    for label in (
        "The samples of 3 clusters",
        "Silhouettes of the samples",
        "Stability by number of clusters",
        "5 internal indices against",
        "by silhouette and dunn.",
    ):
        assert any(label in text for text in labels)
    for panel in ("silhouette (larger is better)", "connectivity (smaller is better)"):
        assert panel in document.text
    assert "chosen by this rule: 3" in document.text


def test_sizes_and_what_is_shown(clustering_report, document):
    assert "20, 20, 20" in document.text
    assert "40, 20" in document.text
    assert "Shown: k = 3, the chosen number." in document.text


def test_one_cluster_has_no_picture_of_the_samples(clustering_report):
    document = Document(replace(clustering_report, shown=None).to_html())
    assert "What the clusters look like" not in document.text
    assert len(document.all("svg")) == 3
    assert "Clustering report" in document.text  # the title, where none is given


def test_markup_comes_out_as_text(document):
    assert "script" not in {tag for tag, _ in document.elements}
    assert "<script>alert('clusterer')</script>(n_init=2)" in document.text


def test_one_index_has_no_pareto_plot_and_what_is_no_choice_is_said(clustering_report):
    comparison = clustering_report.comparison
    alone = replace(
        comparison,
        indices=comparison.indices[:1],
        greater_is_better=comparison.greater_is_better[:1],
        values=comparison.values[:, :1],
    )
    choices = dict(clustering_report.choices)
    choices["sequential"] = replace(clustering_report.choice, n_clusters=1)
    changes = {"comparison": alone, "external": None, "choices": choices}
    document = Document(replace(clustering_report, **changes).to_html())
    assert "Shown: k = 3, the largest silhouette; no number was chosen." in document.text
    assert len(document.all("svg")) == 4
    assert "for orientation only" not in document.text


def test_its_call_repeats_it():
    X, _ = make_blobs(40, centers=[[0, 0], [9, 0]], random_state=0)
    options = {"n_clusters": [2, 3], "n_repeats": 2, "random_state": np.random.RandomState(3)}
    first = evaluate_clusterer(KMeans(n_init=2), X, **options)
    namespace = {"X": X}
    exec(first.call, namespace)
    assert namespace["report"].to_dict() == first.to_dict()


def test_a_notebook_gets_a_part_of_a_page(clustering_report, html, monkeypatch):
    fragment = clustering_report._repr_html_()
    body = re.search('<p class="verdict">.*</main>', html, re.S)[0]  # below the title
    assert body in fragment
    assert "<html" not in fragment
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert clustering_report._repr_html_().startswith("<pre>")
