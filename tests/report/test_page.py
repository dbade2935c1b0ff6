"""The HTML page: what it says, that it needs nothing, and that names do no harm in it."""

import json
import re
import sys
import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers.html import Document
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

import skeval
from skeval.report._report import Quoted, draw_quoted
from skeval.report._sections import Caution, list_few
from skeval.report._sentences import Baseline, RareClass, write_headline

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def html(nasty_page):
    return nasty_page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def document(html):
    return Document(html)


def test_names_with_markup_come_out_as_text(document):
    tags = {tag for tag, _ in document.elements}
    assert "script" not in tags
    for what in ("class", "estimator"):
        assert f"<script>alert('{what}')</script>" in document.text
    assert "<script>alert('feature')</s" in document.text  # shortened beside the axis
    assert "$\\frac{$" in document.text  # no formula
    assert document.text.count("a&b </svg>") == 1
    assert not [
        name for _, attributes in document.elements for name in attributes if name[:2] == "on"
    ]


def test_page_needs_nothing_else(html, document):
    assert not document.all("img")
    (icon,) = document.all("link")
    assert icon["href"] == "data:,"
    for _, attributes in document.elements:
        assert "src" not in attributes
        for name in ("href", "style"):
            assert "//" not in attributes.get(name, "")
            assert "@import" not in attributes.get(name, "")
    policy = [meta.get("content") for meta in document.all("meta") if "http-equiv" in meta]
    assert policy == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]
    assert "url(" not in html.split("</style>")[0]
    assert "http:" not in html
    assert "https:" not in html


def test_answer_stands_first(nasty_report, document):
    before = document.text.index(nasty_report._headline)
    assert before < document.text.index(nasty_report.warnings[0])
    assert before < document.text.index("estimates of one error, from")
    for warning in nasty_report.warnings:
        assert warning in document.text


def test_every_section_has_its_figures(nasty_report, document):
    drawn = document.all("svg")
    assert len(drawn) == 9
    assert all(svg["role"] == "img" and svg["aria-label"].endswith(".") for svg in drawn)
    assert len(document.all("figcaption")) == 8
    rows = [cell for cell in document.all("th") if cell["scope"] == "row"]
    metrics = [m for m in nasty_report.metrics.values() if m.extra.label is None][1:]  # area
    hard = min(20, len(nasty_report.hard_samples.sample))
    tables = 9 + 2 + len(metrics) + 2 + hard  # estimates, matrix, metrics, classes, samples
    assert len(rows) == tables + len(nasty_report.versions)
    for estimate in nasty_report.estimates.values():
        assert f"{estimate.value:.4f}" in document.text
    assert "(W*/√n in the paper)" in document.text
    assert "baseline" in document.text
    assert f"Created on {nasty_report.date}." in document.text
    for part in nasty_report.perturbation:
        ends = part.interval
        told = f"95 % interval {ends.low:.4f} to {ends.high:.4f} ({ends.method})"
        assert told in document.text


def test_ids_are_unique_and_found(html, document):
    ids = [attributes["id"] for _, attributes in document.elements if "id" in attributes]
    assert len(set(ids)) == len(ids) > 100
    used = re.findall(r"url\(#([^)]+)\)", html)
    used += [use["href"].removeprefix("#") for use in document.all("use")]
    assert used
    assert set(used) <= set(ids)


def test_colors_are_those_of_the_page(document):
    styles = " ".join(
        attributes.get("style", "")
        for tag, attributes in document.elements
        if tag in ("path", "text", "use", "g", "rect")
    )
    assert set(re.findall(r"var\(--([\w-]+)\)", styles)) == {
        "ink",
        "paper",
        "muted",
        "series-1",
        "series-2",
    }
    assert not re.findall("#[0-9a-f]{6}|black|white", styles)
    # an element without a fill would be black, in the dark as well
    assert all("fill" in text["style"] for text in document.all("text"))


def test_a_notebook_gets_the_same_part_each_time_and_drawing_leaves_no_trace(nasty_report, html):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before, figures = dict(mpl.rcParams), plt.get_fignums()
    with plt.style.context("dark_background"):
        fragment = nasty_report._repr_html_()
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == figures
    assert re.search(r"<main>.*</main>", html, re.S)[0] in fragment
    assert fragment.startswith('<div class="skeval">')
    document = Document(fragment)
    assert not document.all("html")
    assert len(document.all("svg")) == 9
    css = re.search("<style>(.*?)</style>", fragment, re.S)[1]
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]+\{", "", css))
    assert all(one.strip().startswith(".skeval") for many in selectors for one in many.split(","))


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_without_the_extra(nasty_report, missing, monkeypatch):
    for name in [missing, *(name for name in sys.modules if name.startswith(f"{missing}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install matplotlib jinja2 pandas"):
        nasty_report.to_html()
    assert nasty_report._repr_html_().startswith("<pre>Estimated error")
    assert "<script" not in nasty_report._repr_html_()


@pytest.fixture(scope="module")
def short_report():
    X, y = load_diabetes(return_X_y=True)
    return skeval.evaluate(Ridge(), X[:80], y[:80], n_bootstraps=5, n_permutations=0)


def test_report_without_the_optional_parts(short_report):
    report, y = short_report, load_diabetes().target
    document = Document(report.to_html())
    assert len(document.all("svg")) == 3
    assert "mean squared error, 95 % intervals" in document.text
    low, high = report.answer.interval.low**0.5, report.answer.interval.high**0.5
    explained = report.metrics["r2"].value
    assert report.verdict.startswith(
        f"Estimated root mean squared error on new samples: {report.answer.value**0.5:.1f} "
        f"(95 % CI {low:.1f} to {high:.1f}); R2 {explained:.2f}. Always predicting the mean gives "
        f"{y[:80].std():.1f}. Better than chance: significantly lower error on the same samples."
    )


def test_verdict(nasty_report):
    error = nasty_report.answer
    interval = error.interval
    test = nasty_report.permutation
    start = (
        f"Estimated error on new samples: {100 * error.value:.1f} % (95 % CI "
        f"{100 * interval.low:.1f} to {100 * interval.high:.1f} %)"
    )
    baseline = f". Always predicting {nasty_report.baseline.prediction} gives 50.0 %"
    assert not nasty_report.selection_bias.interval.low > 0  # so that nothing is said of it
    told = " Better than chance: significantly lower error on the same samples"
    assert test.pvalue == 0.05
    assert nasty_report.verdict == (
        f"{start}{baseline}.{told}; the permutation test is undecided "
        "(P = 0.05 from 19 permutations)."
    )
    bare = replace(nasty_report, permutation=None, selection_bias=None)
    assert bare.verdict == f"{start}{baseline}.{told}."
    bare = replace(bare, baseline=None)
    assert bare.verdict == f"{start}."
    assert json.loads(nasty_report.to_json())["verdict"] == nasty_report.verdict


def test_small_errors_are_not_rounded_away(nasty_report):
    limits = {"jeffreys": lambda level: (0.00012, 0.00045)}
    tiny = replace(nasty_report.answer, value=1 / 4000, limits=limits)
    report = replace(nasty_report, answer=tiny, permutation=None, selection_bias=None)
    assert report.verdict.startswith("Estimated error on new samples: 0.025 % (95 % CI 0.01")


def test_a_command_line_stands_for_the_program(short_report):
    line = "skeval evaluate 'my data.csv' --html <out>"
    text = Document(short_report.to_html(command=line)).text
    assert line in text
    assert "import skeval" not in text


def distance(y_true, y_pred):
    return 1.0 * (y_true != y_pred)


def test_names_of_features_and_of_a_loss():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), np.tile([0, 1], 20)
    folds = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    report = skeval.evaluate(
        GaussianNB(),
        X,
        y,
        cv=folds,
        loss=distance,
        groups=np.arange(40),
        feature_names=["a", "b", "c"],
        n_bootstraps=2,
        n_permutations=0,
    )
    assert report.settings["loss"] == "distance"
    assert report.feature_names == ("a", "b", "c")
    assert report.to_dict()["feature_names"] == ["a", "b", "c"]
    assert set(report.versions) >= {"skeval", "scikit-learn", "numpy", "scipy", "python"}
    assert report.verdict.startswith("Estimated mean distance on new samples: 0.")
    with pytest.raises(ValueError, match="feature_names must hold a name for each of 3 features"):
        skeval.evaluate(GaussianNB(), X, y, feature_names=["a"])


def test_a_page_names_what_is_undefined_and_has_one_area():
    """Neither tables nor figures say nan, and the curve has no area beside that of the table."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    few = {"cv": 3, "n_bootstraps": 2, "n_permutations": 2, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        nothing_varies = skeval.evaluate(DummyRegressor(), X, np.full(40, 3.0), **few)
        written = nothing_varies.to_html()
    page = " ".join(Document(written).text.split())
    page = page.replace(nothing_varies.verdict, "")
    assert "no confidence interval" in page
    assert "undefined" in page
    assert "unknown" in page
    assert not re.search(r"\bnan\b", page)
    two = skeval.evaluate(GaussianNB(), X, X[:, 0] + rng.normal(size=40) > 0, **few)
    page = Document(two.to_html()).text
    assert "area under the ROC curve" in page
    assert not re.search(r"\b(AUC|AP) [01]", page)
    assert "\\" not in page


GUESSED = Baseline("a", 0.5, -0.2, -0.3, -0.1)
RARE = RareClass("b", 0.1, "roc_auc", 0.7, 0.6, 0.8, 0.5)
GRAVE = Caution("copies", "Long.", "half of the samples are copies")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"baseline": GUESSED}, "Error 30 %: better than always predicting a (50.0 %)."),
        (
            {"baseline": replace(GUESSED, high=0.1)},
            "Error 30 %: no evidence that it beats always predicting a (50.0 %).",
        ),
        (
            {"baseline": replace(GUESSED, low=0.05, high=0.1), "never_predicted": ("b", "c")},
            "Error 30 %: worse than always predicting a (50.0 %), and it never predicts b, c.",
        ),
        (
            {"baseline": GUESSED, "rare_class": RARE},
            "Area under the ROC curve 0.70 (95 % CI 0.60 to 0.80) with the rare class b: better "
            "than chance (0.5).",
        ),
        (
            {"rare_class": replace(RARE, recall=0.2, precision=0.85, low=0.45)},
            "Area under the ROC curve 0.70 (95 % CI 0.45 to 0.80) with the rare class b (recall "
            "20.0 %, precision 85.0 %): no evidence that it beats chance (0.5).",
        ),
        (
            {"baseline": GUESSED, "warnings": [GRAVE, GRAVE, Caution("wide", "Wide.")]},
            "Do not report the Error 30 %: half of the samples are copies.",
        ),
        ({}, "Error 30 %."),
    ],
)
def test_the_headline_is_one_sentence_with_the_gravest_in_it(known, expected):
    assert write_headline("Error 30 %", "zero_one", **known) == expected


def test_every_report_begins_with_one_sentence(nasty_report, short_report):
    for report in (nasty_report, short_report):
        assert not re.search(r"\. [A-Z]", report._headline)
        assert report._headline.endswith(".")


def test_the_answer_is_drawn_from_the_best_value_on():
    answer = Quoted("<error>", 0.2, 0.1, 0.4, 0.5, best=0.0)
    figure = draw_quoted({"answer": answer})
    svg, caption = figure.drawn
    read = "<error>: answer 0.200, interval 0.100 to 0.400; baseline 0.500."
    assert Document(svg).all("svg")[0]["aria-label"] == read
    assert caption == ""
    ax = plt.figure().subplots()
    figure.draw(ax=ax)
    assert ax.get_xlim()[0] <= 0 < 0.5 < ax.get_xlim()[1]
    plt.close(ax.figure)
    assert draw_quoted({"answer": answer._replace(value=np.nan)}) is None


def test_long_lists_are_folded(nasty_report, short_report, html):
    assert list_few(list("abcdef")) == "a, b, c, d, e, and 1 more"
    assert list_few(list("abcde")) == "a, b, c, d, e"
    n_hard = len(nasty_report.hard_samples.to_records())
    assert n_hard > 5
    assert f"<summary>and {min(20, n_hard) - 5} more</summary>" in html
    caution = Caution("wide", "Wide.")
    few, many = (replace(short_report, warnings=(caution,) * n).to_html() for n in (3, 5))
    assert "<summary>and 2 more</summary>" in many
    assert "<summary>and 2 more</summary>" not in few


def test_a_fault_that_forbids_quoting_is_not_followed_by_praise(short_report):
    """With a grave problem, no sentence states coverage or that a baseline is beaten."""
    faulty = replace(short_report, warnings=(GRAVE,))
    for text in (str(faulty), Document(faulty.to_html()).text):
        assert "the model has" not in text
        assert "covered the true error" not in text
        assert "Because of this problem the interval may miss the true error." in text
    assert "covered the true error" in str(short_report)
    assert "the model has" in str(short_report)


def test_labels_whose_ends_cannot_be_seen_stand_in_quotes():
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes", "Yes "], [40, 30, 3])
    X = rng.normal(size=(73, 2)) + (y == "no")[:, None]
    report = skeval.evaluate(Dull(), X, y, cv=3, include=[], random_state=0)
    assert report._headline.endswith("and it never predicts 'Yes ', yes.")
    assert "'Yes ': 3" in report._facts[0]
    assert "precision of class 'Yes '" in " ".join(report.warnings)


def test_no_sentence_calls_wrong_probabilities_right_nor_equal_numbers_wrong():
    y = np.arange(30) % 2
    report = skeval.evaluate_predictions(y, np.where(y, 0.01, 0.99))
    assert "No miscalibration was detected" not in str(report)
    assert "worse than predicting the prevalence" in str(report)
    few = {"cv": 3, "include": [], "random_state": 0}
    X = np.random.default_rng(0).normal(size=(30, 1))
    constant = skeval.evaluate(DummyClassifier(), X, np.repeat([0, 1], [20, 10]), **few)
    assert "on the same samples, as the model has." in str(constant)
    numbers = skeval.evaluate(DummyRegressor(), X, np.r_[np.full(29, 3.0), 3.0001], **few)
    (row,) = numbers.hard_samples.to_records()
    assert row["truth"] != row["prediction"]


class Dull(GaussianNB):
    """Always answers no."""

    def predict(self, X):
        return np.full(len(X), "no")


def test_wide_tables_take_the_whole_width():
    """The tables of a class have six columns; others stand side by side with a figure."""
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    options = {"include": (), "cv": 2, "n_permutations": 0, "random_state": 0}
    page = skeval.evaluate(GaussianNB(), rng.normal(size=(60, 2)), y, **options).to_html()
    (wide,) = page.split('<div class="scroll full"')[1:]
    assert "<caption>By class.</caption>" in wide[:200]


def test_residuals_of_many_samples_are_drawn_from_some():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    y = X[:, 0] + rng.normal(size=5000)
    page = skeval.evaluate(Ridge(), X, y, cv=3, include=[], random_state=0).to_html()
    assert "2,000 of the samples are drawn, chosen at random." in page
    assert len(page) < 500_000  # 15 MB if all of 100,000 were drawn
