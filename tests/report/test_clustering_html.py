"""The HTML page of a clustering report: what it says, and that names do no harm in it."""

import re
import sys

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


def test_markup_comes_out_as_text(document):
    assert "script" not in {tag for tag, _ in document.elements}
    assert "<script>alert('clusterer')</script>(n_init=2)" in document.text


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
