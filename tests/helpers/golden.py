"""Twelve golden reports. ``PYTHONPATH=tests python -m helpers.golden`` writes them anew.

Each file in tests/golden has the text of a report, the outline of its page, the paragraph for the
methods section and the names in its JSON. Numbers are rounded to three figures.
"""

import json
import re
import warnings
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import skeval

FOLDER = Path(__file__).parents[1] / "golden"
FEW_RESAMPLES = mock.patch.multiple("skeval.report._parts", N_BOOTSTRAPS=5, N_PERTURBATIONS=9)
FEW = {"cv": 3, "n_permutations": 19, "random_state": 0}


def draw_classes(n=90, shift=1.5, share=3):
    """Return features, and labels of which one in `share` is "ill"."""
    y = np.where(np.arange(n) % share == 0, "ill", "well")
    X = np.random.default_rng(0).normal(size=(n, 3))
    X[:, 0] += shift * (y == "ill")
    return X, y


def draw_probabilities(n=120):
    """Return labels of 0 and 1, and their probabilities."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    return y, 1 / (1 + np.exp(0.7 - rng.normal(1.5 * y, 1.0)))


def evaluate_two_classes():
    X, y = draw_classes(shift=3)
    return skeval.evaluate(SVC(kernel="linear"), X, y, include="all", **FEW)


def evaluate_noise():
    X, y = np.random.default_rng(1).normal(size=(40, 30)), np.arange(40) % 2
    return skeval.evaluate(make_pipeline(SelectKBest(k=3), GaussianNB()), X, y, **FEW)


def evaluate_rare_class():
    X, y = draw_classes(n=240, share=12)
    return skeval.evaluate(GaussianNB(), X, y, by=np.arange(240) // 120, include=[], **FEW)


def evaluate_copies():
    X, y = (np.repeat(part, 3, axis=0) for part in draw_classes(n=30))
    return skeval.evaluate(GaussianNB(), X, y, include=[], **FEW)


def evaluate_numbers():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["dose", "age"])
    y = pd.Series(100 * X["dose"] + 80 * X["age"] ** 2, name="response").round(2)
    site = np.where(np.arange(80) % 4, "north", "south")
    return skeval.evaluate(LinearRegression(), X, y, by=site, include=[], **FEW)


def evaluate_time_series():
    X = np.random.default_rng(0).normal(size=(120, 2))
    y = X[:, 0] + np.random.default_rng(1).normal(size=120)
    return skeval.evaluate(
        LinearRegression(), X, y, cv=TimeSeriesSplit(5), include=[], random_state=0
    )


def evaluate_several_outputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = pd.DataFrame(X[:, :2] + rng.normal(size=(60, 2)) > 0, columns=["rain", "wind"]).astype(int)
    return skeval.evaluate(KNeighborsClassifier(), X, y, random_state=0)


def compare_estimators():
    X, y = draw_classes(n=120, share=8)
    models = {
        "bayes": GaussianNB(),
        "nearest": KNeighborsClassifier(1),
        "constant": DummyClassifier(),
    }
    return skeval.evaluate(models, X, y, include=[], **FEW)


def evaluate_probabilities():
    y, p = draw_probabilities()
    groups = np.arange(120) // 4
    return skeval.evaluate_predictions(
        y, p, groups=groups, by=np.arange(120) % 2, threshold="youden", random_state=0
    )


def compare_predictions():
    y, p = draw_probabilities()
    systems = {"first": p, "second": np.clip(p**2, 0.01, 0.99)}
    return skeval.evaluate_predictions(y, systems, random_state=0)


def evaluate_labels():
    rng = np.random.default_rng(1)
    y = (rng.random((90, 3)) < [0.5, 0.4, 0.3]).astype(int)
    p = 1 / (1 + np.exp(-(1.5 * y - 1.2 + rng.normal(size=(90, 3)))))
    return skeval.evaluate_predictions(y, p, labels=["rain", "wind", "fog"], random_state=0)


def evaluate_clusters():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1.0, size=(20, 2)) for c in ((0, 0), (9, 0), (0, 9))])
    kinds = np.repeat(["a", "b", "c"], 20)
    return skeval.evaluate_clusterer(
        KMeans(n_init=2), X, n_clusters=(2, 3, 4), labels_true=kinds, n_repeats=3, random_state=0
    )


GOLDEN = {
    function.__name__: function
    for function in (
        evaluate_two_classes, evaluate_noise, evaluate_rare_class, evaluate_copies,
        evaluate_numbers, evaluate_time_series, evaluate_several_outputs, compare_estimators,
        evaluate_probabilities, compare_predictions, evaluate_labels, evaluate_clusters,
    )
}  # fmt: skip


class Outline(HTMLParser):
    """The page as lines: an element on each, a row of a table on each, figures by their label."""

    BLOCKS = ("h1", "h2", "p", "li", "summary", "caption", "figcaption", "tr", "pre", "figure")

    def __init__(self, html):
        super().__init__()
        self.lines, self.hidden = [], 0
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        if tag in ("style", "svg", "title"):
            self.hidden += 1
        if tag in self.BLOCKS:
            kind = known.get("class", "")
            self.lines.append(f"{tag}{'.' + kind if kind else ''}:")
        if tag == "svg":
            self.lines.append(f"svg: {known['aria-label']}")
        if tag in ("td", "th") and self.lines:
            self.lines[-1] += " |"

    def handle_endtag(self, tag):
        if tag in ("style", "svg", "title"):
            self.hidden -= 1

    def handle_data(self, data):
        text = " ".join(data.split())
        if text and not self.hidden:
            self.lines[-1] += f" {text}"


def write_golden(report):
    """Return what is kept of a report."""
    with mock.patch("skeval.report._page.draw_svg", draw_only):
        page = "\n".join(Outline(report.to_html()).lines)
    try:
        methods = report.to_methods()
    except TypeError as error:
        methods = str(error)
    names = "\n".join(json.loads(report.to_json()))
    parts = {"Text": report.to_text(full=True), "Page": page, "Methods": methods, "JSON": names}
    text = "\n\n".join(f"=== {name}\n{part}" for name, part in parts.items()) + "\n"
    for name, version in report.versions.items():
        text = text.replace(f"{name} {version}", f"{name} ...").replace(
            f"| {name} | {version}", f"| {name} | ..."
        )
    text = re.sub(r"\d{4}-\d\d-\d\d", "DATE", text)
    return re.sub(r"(?<![\w./])\d[\d,]*\.\d+(?![\d/])", round_number, text)


def round_number(match):
    """Return a number with at most three figures."""
    text = match[0]
    n_figures = len(text.replace(",", "").replace(".", "").lstrip("0"))
    n_decimals = len(text.partition(".")[2]) - max(0, n_figures - 3)
    return text if n_figures <= 3 else f"{float(text.replace(',', '')):.{max(0, n_decimals)}f}"


def draw_only(draw, label, height):
    """Draw a figure, and return its label: layout and SVG take most of the time."""
    figure = Figure(figsize=(4.4, height))
    draw(ax=figure.subplots())
    return f'<svg aria-label="{escape(label)}"></svg>'


def make(name):
    """Return a golden report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GOLDEN[name]()


if __name__ == "__main__":
    with FEW_RESAMPLES:
        for name in GOLDEN:
            FOLDER.joinpath(f"{name}.txt").write_text(write_golden(make(name)), encoding="utf-8")
