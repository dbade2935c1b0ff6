"""The HTML page: what it says, that it needs nothing, and that names do no harm in it."""

import re
import sys
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers.html import Document
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import skeval
from skeval.model_selection import ConfidenceInterval

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
    assert document.text.count("<script>alert(") > 2  # shortened beside the axis
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
    # references in the methods paragraph are text
    assert "http:" not in html
    assert "https:" not in html.split("<h2>Methods</h2>")[0]


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

    before, figures = dict(mpl.rcParams), plt.get_fignums()
    with plt.style.context("dark_background"):
        fragment = nasty_report._repr_html_()
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == figures
    assert re.search(r"<main>.*</main>", html, re.S)[0] in fragment
    assert fragment.startswith('<div class="skeval">')
    document = Document(fragment)
    assert not document.all("html")
    assert len(document.all("svg")) == 8  # no histogram of a few permutations
    css = re.sub(r"/\*.*?\*/", "", re.search("<style>(.*?)</style>", fragment, re.S)[1])
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]+\{", "", css))
    selectors = [one.strip() for many in selectors for one in many.split(",")]
    assert all(one.startswith(".skeval") for one in selectors)


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
    return skeval.evaluate(Ridge(), X[:80], y[:80], n_permutations=0)


def test_a_command_line_stands_for_the_program(short_report):
    line = "skeval evaluate 'my data.csv' --html <out>"
    text = Document(short_report.to_html(command=line)).text
    assert line in text
    assert "import skeval" not in text


def test_long_lists_are_folded(nasty_report, short_report, html):
    for classes, listed in (
        ("abcdef", '"a", "b", "c", "d", "e", and 1 more'),
        ("abcde", '"a", "b", "c", "d", "e"'),
    ):
        report = skeval.evaluate_predictions([*classes, "z"], ["z"] * (len(classes) + 1))
        (never,) = [text for text in report.warnings if text.code == "never-predicted"]
        assert f": {listed}. " in str(never)
    n_hard = len(nasty_report.hard_samples.to_records())
    assert n_hard > 5
    assert f"<summary>and {min(20, n_hard) - 5} more</summary>" in html
    caution = replace(short_report.checks[0], outcome="note", evidence="something")
    few, many = (replace(short_report, warnings=(caution,) * n).to_html() for n in (3, 5))
    assert "<summary>and 2 more</summary>" in many
    assert "<summary>and 2 more</summary>" not in few


def test_a_page_says_a_thing_once_and_divides_no_interval(html):
    rng = np.random.default_rng(0)
    chance = rng.random(40)
    report = skeval.evaluate_predictions((rng.random(40) < chance) + 0, chance, random_state=0)
    page = report.to_html()
    starts = [(one.heading + ".", text) for one in report.sections for text in one.sentences]
    assert any(text.startswith(start) for start, text in starts)
    for start, _ in starts:
        assert f"<p>{start}" not in page
    assert "95\u00a0%\u00a0CI" in page
    assert "% CI" not in page
    # the matrix beside the verdict has a heading of its own
    assert html.count("<h2>Confusion matrix</h2>") == 1
    assert html.index("<h2>Confusion matrix</h2>") < html.index("<h2>All metrics</h2>")


@pytest.mark.parametrize(
    ("row", "wide"),
    [
        (["x" * 20, "y" * 20], False),
        (["x" * 20, "y" * 21], True),
        (["x " * 60, "y\n" * 60], False),
        (["x", "y " * 25], True),
    ],
)
def test_rows_that_do_not_fit_on_a_phone_are_blocks(row, wide, table):
    assert replace(table, head=["a " * 60, "b"], rows=[row]).is_wide == wide


def test_residuals_of_many_samples_are_drawn_from_some():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    y = X[:, 0] + rng.normal(size=5000)
    page = skeval.evaluate(Ridge(), X, y, cv=3, include=[], random_state=0).to_html()
    assert "The figure shows 2,000 random samples." in page
    assert len(page) < 500_000  # 15 MB if all of 100,000 were drawn


def test_a_page_of_many_classes_is_short():
    rng, y = np.random.default_rng(0), np.arange(400) % 80
    predicted = np.where((y < 40) & (rng.random(400) < 0.5), (y + 1) % 80, y)
    report = skeval.evaluate_predictions(y.astype(str), predicted.astype(str))
    page = report.to_html()
    assert len(page) < 10**5
    by_class = re.search("The table lists the 15 of 80 classes with the lowest F1", page)
    assert by_class
    assert "the 15 most frequent confusions of 80 classes" in page
    assert len(report.to_frame("confusion")) == 80**2
    # the worst class is shown, and the best is not
    (table,) = [
        table
        for section in report.sections
        for table in section.tables
        if "lowest F1" in table.caption
    ]
    values = {
        estimate.extra.label: estimate.value
        for estimate in report.metrics.values()
        if getattr(estimate.extra, "metric", "") == "f1" and estimate.extra.label is not None
    }
    shown = [row[0] for row in table.rows]
    worst = max(values[name] for name in shown)
    assert all(values[name] >= worst for name in set(values) - set(shown))


def test_markdown_shows_names_as_they_are():
    y = np.array(["a|b", "<b>_x_"] * 20)
    report = skeval.evaluate_predictions(y, np.roll(y, 1))
    text = report.to_markdown()
    assert "predicted as a\\|b" in text
    assert "<b>" not in re.sub(r"\\<", "", text)
    # every row of a table has the cells of its head
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1
    assert report.verdict.split(":")[0] in text.replace("\\", "")


@pytest.fixture
def table(short_report):
    """A table of a report, to be filled with other rows."""
    return next(table for section in short_report.sections for table in section.tables)


def write_aligned(table, value, low, high):
    """Return a value and the limits of its interval as a table has them."""
    row = "name", value, ConfidenceInterval(low, high, 0.95, "own")
    _, number, interval = replace(table, rows=[row]).cells[0]
    return [number, *interval.split(" to ")]


@pytest.mark.parametrize("scale", [1e-4, 0.02, 0.4, 30.0, 2e6])
def test_a_number_has_the_decimals_of_its_interval(scale, table):
    rng = np.random.default_rng(0)
    for share in rng.uniform(0.005, 0.9, 50):
        numbers = np.array([0.95, share, 1.1]) * scale
        texts = write_aligned(table, *numbers.tolist())
        assert len({len(text.partition(".")[2]) for text in texts}) == 1
        written = [float(text.replace(",", "")) for text in texts]
        # the largest has three correct digits, and a small limit two
        assert written[2] == pytest.approx(numbers[2], rel=1e-3)
        if scale < 10:
            assert written[1] == pytest.approx(numbers[1], rel=0.06)
    for numbers, texts in {
        (0.0023, 0.0002123, 0.0244): ["0.00230", "0.00021", "0.02440"],
        (0.28571, -0.00083, 0.57226): ["0.2857", "-0.0008", "0.5723"],
        (0.5, 1e-9, 0.9): ["0.5000", "1e-09", "0.9000"],
    }.items():
        assert write_aligned(table, *numbers) == texts


@pytest.mark.parametrize("width", [12, 30, 79])
def test_columns_beyond_a_width_follow_below_beside_the_first(width, table):
    head = ["name", *(f"column {k}" for k in range(7))]
    shown = replace(
        table, head=head, rows=[["a", *map(str, range(7))]], left=(0, 3), n_in_text=None, notes={}
    )
    lines = shown.write_lines(width=width)
    assert all(len(line) <= max(width, len("name  column 0")) for line in lines)
    for name in head[1:]:
        assert sum(name in line for line in lines) == 1
    assert " ".join(lines).count("name") == lines.count("") + 1
    assert lines == shown.write_lines() or "" in lines


def test_a_warning_is_written_from_its_parts(short_report):
    texts = dict.fromkeys(("title", "evidence", "advice", "lead"), "")
    check = replace(short_report.checks[0], code="copies", outcome="serious", **texts)
    serious = replace(check, title="Copies", evidence="all are copies", advice="Drop them.")
    assert str(serious) == "Copies: all are copies. Drop them."
    assert serious.headline == "all are copies"
    assert replace(serious, lead="copies").headline == "copies"
    assert replace(serious, outcome="note").headline == ""
    texts = {"Wide: it is. Go. On.": ("Wide", "note", "it is", "Go. On.")}
    texts["It is wide."] = "own", "note", "It is wide", ""
    for text, parts in texts.items():
        found = serious.from_text("own", text)
        assert (found.title, found.outcome, found.evidence, found.advice) == parts
