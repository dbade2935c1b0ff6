"""Reports as JSON and as pages of text, tables and figures.

Drawings are SVG that stands in the page: its colours are the page's, its ids are its own.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from hashlib import sha256
from html import escape
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

__all__ = [
    "Figure",
    "Page",
    "Section",
    "Table",
    "WritableReport",
    "check_extra",
    "make_figure",
    "make_page",
    "make_reproduction_section",
    "make_warnings_section",
]


@dataclass(frozen=True)
class Figure:
    """A drawing as inline SVG, with the caption that a reader sees below it."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Table:
    """Rows of text; the first cell of each is its header, and may have a note.

    The rows that are `quoted` are set bold, those that are worth little alone are `muted`.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Mapping[str, str] = field(default_factory=dict)
    quoted: Collection[str] = ()
    muted: Collection[str] = ()


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    sentences: Sequence[str] = ()
    items: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    code: str | None = None


@dataclass(frozen=True)
class Page:
    """A title, the answer in one sentence, its basis, what was looked at, and sections.

    The tables of `beside` stand next to the answer, where there is room.
    """

    title: str
    verdict: str
    facts: Sequence[str]
    sections: Sequence[Section]
    basis: Sequence[str] = ()
    beside: Sequence[Table] = ()


@singledispatch
def make_page(report: Any, title: str | None = None, command: str | None = None) -> Page:
    """Return the page of a report.

    The module of each page registers itself here for the report that it shows: so a report can
    write its page without importing what draws it.
    """
    raise TypeError(f"there is no page for a {type(report).__name__}.")


def make_figure(draw: Callable[..., Any], caption: str, **options: Any) -> Figure:
    """Return what ``draw(ax=...)`` draws, with its caption; `options` are those of `draw_svg`.

    A drawing that fails never takes the finished numbers with it: its place says what went wrong.
    """
    check_extra()
    try:
        return Figure(draw_svg(draw, **options), caption)
    except Exception as error:
        return Figure("", f"{caption} (This figure could not be drawn: {error})")


def make_warnings_section(heading: str, warnings: Sequence[str]) -> Section:
    """Return what to know before quoting a number, or that there is nothing."""
    none = ["None of skeval's checks found a reason to doubt the numbers below."]
    return Section(heading, sentences=() if warnings else none, items=warnings)


def make_reproduction_section(
    call: str, versions: Mapping[str, str], date: str, command: str | None
) -> Section:
    """Return what to paste, a program or else the command line, the day and the versions."""
    sentence = f"Made on {date}. With the same data and versions this gives the same numbers"
    if command is not None:
        sentence += ", unless a limit of time (--quick, --budget) then leaves out other parts"
    return Section(
        "How to reproduce",
        sentences=[f"{sentence}:"],
        code=command or call,
        tables=[Table("Versions", ["package", "version"], list(versions.items()))],
    )


def load_template(name: str) -> Any:
    """Return "page.html", a document, or "fragment.html", the same for a notebook.

    ``render(page=...)`` fills it; every value is escaped, the SVG of figures excepted.
    """
    check_extra()
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("skeval.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["join_units"] = _join_units
    return environment.get_template(name)


def _join_units(text: str) -> str:
    """Return a sentence in which no line ends within "5 %" or "P = 0.1"."""
    return re.sub(r"(?<=\d) (?=%)|(?<=P) (?==)|(?<==) (?=\d)", "\u00a0", text)


WIDTH = 4.4  # inches: a phone shows the figure at 370 px and its letters at 9 px or more
INK, PAPER, MUTED = "#1f2328", "#ffffff", "#57606a"
SERIES = ("#1f6fb4", "#c2560c")
COLOURS = {  # what the displays draw with -> the page's variable, which has a dark value
    INK: "ink",
    PAPER: "paper",
    MUTED: "muted",
    "#808080": "muted",  # "grey" and "0.5" of the displays
    SERIES[0]: "series-1",
    SERIES[1]: "series-2",
}
STYLE = {
    "axes.edgecolor": MUTED,
    "axes.facecolor": PAPER,  # also the background of the legend
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9.5,
    "grid.color": MUTED,
    "legend.edgecolor": MUTED,
    "legend.framealpha": 0.85,
    "savefig.transparent": True,
    "svg.fonttype": "none",  # letters stay text, they do not become paths
    "svg.hashsalt": "skeval",
    "text.color": INK,
    "text.parse_math": False,  # a dollar in a name does not start a formula
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
}
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def draw_svg(
    draw: Callable[..., Any], *, label: str, height: float, n_panels: int | None = None
) -> str:
    """Return what `draw` draws on the axes that it is given as `ax`, as SVG to stand in a page.

    It is given one axes, or an array of `n_panels` of them, one below another.
    """
    check_extra()
    from matplotlib import style
    from matplotlib.figure import Figure
    from matplotlib.rcsetup import cycler

    with style.context(["default", STYLE | {"axes.prop_cycle": cycler(color=SERIES)}]):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(ax=figure.subplots() if n_panels is None else figure.subplots(n_panels, sharex=True))
        text = StringIO()
        with warnings.catch_warnings():  # the reader's browser draws the letters with its own fonts
            warnings.filterwarnings("ignore", "Glyph", UserWarning)
            warnings.filterwarnings("ignore", "Matplotlib currently does not support", UserWarning)
            figure.savefig(text, format="svg", metadata={"Date": None})
    return _adapt_svg(NOT_XML.sub("\ufffd", text.getvalue()), label)


def check_extra() -> None:
    """Raise where a package is missing that a page needs."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f'an HTML report needs {error.name}: pip install "skeval[report]"'
        ) from error


def _adapt_svg(svg: str, label: str) -> str:
    """Return SVG without what would reach beyond it, in the colours of the page."""
    prefix = f"f{sha256(svg.encode()).hexdigest()[:8]}-"
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if _strip_namespace(child.tag) in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _strip_namespace(element.tag)
        attributes = {_strip_namespace(name): value for name, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update(
            {name: _adapt_value(name, value, prefix) for name, value in attributes.items()}
        )
    for size in ("width", "height"):
        root.attrib.pop(size)
    root.attrib.update({"role": "img", "aria-label": label})
    return ElementTree.tostring(root, encoding="unicode")


def _strip_namespace(name: str) -> str:
    """Return an XML name without its namespace, which HTML does not need."""
    return name.rpartition("}")[2]


def _adapt_value(name: str, value: str, prefix: str) -> str:
    """Return the value of an attribute with the figure's own ids and the page's colours."""
    if name == "id":
        return prefix + value
    if name == "href":
        return value.replace("#", f"#{prefix}")
    value = value.replace("url(#", f"url(#{prefix}")
    if name != "style":
        return value
    return re.sub("#[0-9a-f]{6}", lambda found: _find_page_colour(found[0]), value)


def _find_page_colour(colour: str) -> str:
    """Return the variable of the page that stands for a colour, or a colour that has none."""
    return f"var(--{COLOURS[colour]})" if colour in COLOURS else colour


class WritableReport:
    """A report: `to_dict` holds its numbers, `make_page` makes what people see."""

    @property
    def verdict(self) -> str:
        """What was found, in one sentence."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain Python objects."""
        raise NotImplementedError

    def to_json(self, path: str | PathLike | None = None) -> str:
        """Return `to_dict` as JSON, and write it to a file when a path is given.

        JSON has no number for infinity nor nan. Infinity, such as Dunn's index of clusters of
        equal points, is the string "Infinity" or "-Infinity", which `float` reads back; nan, which
        is no value, is null.

        Parameters
        ----------
        path : str or path-like, default=None
            Where to write it.

        Returns
        -------
        str
        """
        text = json.dumps(_convert_to_json(self.to_dict()), indent=2, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def to_html(
        self,
        path: str | PathLike | None = None,
        *,
        title: str | None = None,
        command: str | None = None,
        notes: Sequence[str] = (),
    ) -> str:
        """Return the report as one page that needs nothing else, and write it when a path is given.

        The answer in a sentence, what to know before quoting it, figures and tables, and how to
        reproduce it all. The page loads nothing and runs no script. Needs matplotlib and Jinja2:
        ``pip install "skeval[report]"``.

        Parameters
        ----------
        path : str or path-like, default=None
            Where to write it.
        title : str, default=None
            Heading of the page, such as the name of the data.
        command : str, default=None
            The command line that makes the report again, which the page shows instead of the
            program in `call`.
        notes : sequence of str, default=()
            What else a reader should know, such as which columns of a file were left out; it
            stands behind the warnings.

        Returns
        -------
        str
            HTML.
        """
        page = make_page(self, title, command)
        if notes:
            first, *others = page.sections
            noted = Section("Notes on the data and on the run", items=notes)
            page = replace(page, sections=[first, noted, *others])
        text: str = load_template("page.html").render(page=page)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.verdict!r})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the page, or the text where there can be none."""
        try:
            fragment: str = load_template("fragment.html").render(page=make_page(self))
        except Exception:  # the extra is missing; or else a display must not hide the numbers
            return f"<pre>{escape(str(self))}</pre>"
        return fragment


def _convert_to_json(value: Any) -> Any:
    """Return nested lists and dicts with what JSON has in the place of infinity and nan."""
    if isinstance(value, dict):
        return {name: _convert_to_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_convert_to_json(item) for item in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    if math.isnan(value):
        return None
    return "Infinity" if value > 0 else "-Infinity"
