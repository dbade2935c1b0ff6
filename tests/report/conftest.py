"""Reports that several files of tests look at, made once."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import skeval

SCRIPT = "<script>alert('{}')</script>"
FEATURES = [
    SCRIPT.format("feature"),
    "$\\frac{$",
    "a&b </svg> \x07 \u7d30\u80de",
    "\u05e9 " * 60,
    "plain",
]
NASTY_SVC = type(SCRIPT.format("estimator"), (SVC,), {"__module__": __name__})


@pytest.fixture(scope="session")
def nasty_report():
    """Every section, and markup wherever a user can put a name."""
    rng = np.random.default_rng(0)
    y = np.tile([SCRIPT.format("class"), "b"], 30)
    X = rng.normal(size=(60, 5))
    X[:, 0] += 1.2 * (y == "b")
    model = make_pipeline(SelectKBest(k=4), NASTY_SVC(kernel="linear"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return skeval.evaluate(
            model,
            pd.DataFrame(X, columns=FEATURES),
            y,
            cv=3,
            n_permutations=19,
            include=["holdout", "bootstrap", "perturbation", "permutation", "selection"],
            random_state=0,
        )


@pytest.fixture(scope="session")
def nasty_page(nasty_report, tmp_path_factory):
    """The page of the report, which takes a second, in a file."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    html = nasty_report.to_html(path)
    assert path.read_text(encoding="utf-8") == html
    return path


@pytest.fixture(scope="session")
def clustering_report():
    """A choice with something to warn of, and a clusterer named after markup."""
    X, y = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    clusterer = type(SCRIPT.format("clusterer"), (KMeans,), {"__module__": __name__})
    return skeval.report.evaluate_clusterer(
        clusterer(n_init=2), X, n_clusters=(2, 3), labels_true=y, n_repeats=2, random_state=0
    )


@pytest.fixture(scope="session")
def clustering_page(clustering_report, tmp_path_factory):
    """The page of the report, in a file."""
    path = tmp_path_factory.mktemp("page") / "clusters.html"
    html = clustering_report.to_html(path, title="blobs & more")
    assert path.read_text(encoding="utf-8") == html
    return path
