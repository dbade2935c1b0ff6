"""Sections of a report, and the page that shows them.

A section is data: sentences, tables of values, and figures that are drawn for a page. The text has
the sentences and the first rows of the tables, a page has everything. Figures are inline SVG that
uses the colors of the page and unique ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from io import StringIO
from typing import Any
from xml.etree import ElementTree

from skeval._inference.estimate import ConfidenceInterval
from skeval.utils import _text
from skeval.utils._checks import ignored_warnings

MAX_LISTED = 5
"""Maximum number of items in a list before "and N more"."""


def list_few(texts: Sequence[str], n_shown: int = MAX_LISTED) -> str:
    """Return the first few texts, and the number of the remaining ones."""
    more = [f"and {len(texts) - n_shown} more"] if len(texts) > n_shown else []
    return ", ".join([*texts[:n_shown], *more])


class Caution(str):
    """Warning of a report, with the code of the check that raised it.

    It is a string: a title, a colon, evidence and advice. The page "Warnings" of the user guide has
    a section for each code.

    Attributes
    ----------
    code : str
        Code of the check, such as "copies".
    headline : str
        If the error must not be reported: the reason, as a short clause for the first sentence of
        a report. Otherwise empty.
    """

    code: str
    headline: str

    def __new__(cls, code: str, text: str, headline: str = "") -> Caution:
        """Return the sentence."""
        self = super().__new__(cls, text)
        self.code, self.headline = code, headline
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Support copies and pickles."""
        return self.code, str(self), self.headline


def list_grave(warnings: Iterable[Caution]) -> list[str]:
    """Return the headlines of the serious warnings, without duplicates."""
    headlines = (getattr(one, "headline", "") for one in warnings)  # others are plain strings
    return list(dict.fromkeys(filter(None, headlines)))


Cell = str | float | ConfidenceInterval
"""Cell of a table."""


@dataclass(frozen=True)
class Figure:
    """Figure of a page: drawing function, caption, and a description for screen readers.

    ``draw(ax=...)`` draws on one axes, or on `n_panels` of them, of this height in inches.
    """

    draw: Callable[..., Any]
    caption: str
    label: str
    height: float = 3.6
    n_panels: int | None = None

    @cached_property
    def drawn(self) -> tuple[str, str]:
        """Return the drawing as SVG, and its caption.

        A drawing that fails does not discard the results: its caption has the error.
        """
        try:
            svg = draw_svg(self.draw, self.label, self.height, self.n_panels)
        except Exception as error:
            return "", f"{self.caption} (This figure could not be drawn: {error})"
        return svg, self.caption


@dataclass(frozen=True)
class Table:
    """Rows of cells below the names of the columns; the first cell of each row is its header.

    A page shows the note of a header, prints the `quoted` rows in bold and the `muted` rows in
    gray, places tables that are `beside` next to the verdict if there is room, folds rows after
    the first `n_on_page`, leaves out the `omitted` rows, which headings state, and colors the cells
    of each row by `shades` from 0 to 1. Text shows the first `n_in_text` rows, and aligns the
    columns numbered in `left` to the left.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Mapping[str, str] = field(default_factory=dict)
    quoted: Collection[str] = ()
    muted: Collection[str] = ()
    beside: bool = False
    n_on_page: int | None = None
    omitted: Collection[str] = ()
    shades: Sequence[Sequence[float]] = ()
    n_in_text: int | None = None
    left: Collection[int] = (0,)

    @property
    def cells(self) -> list[list[str]]:
        """The rows as shown on a page."""
        rows = [row for row in self.rows if row[0] not in self.omitted]
        return [[_write_cell(cell, _text.write_range) for cell in row] for row in rows]

    @property
    def lines(self) -> list[str]:
        """Return the table as aligned lines of text; only the last line of a long header is
        used."""
        rows = [[_write_cell(cell, _text.write_ends) for cell in row] for row in self.rows]
        # headers of several lines are aligned at their last line
        names = [name.split("\n") for name in self.head]
        height = max(map(len, names))
        head = zip(*([""] * (height - len(name)) + name for name in names), strict=True)
        return _text.align_rows([*map(list, head), *rows[: self.n_in_text]], left=self.left)

    @property
    def all_lines(self) -> list[str]:
        """Return the rows that a page does not fold as lines of text, under the caption.

        Tables without a selection for text have all their rows.
        """
        rows = [
            [" ".join(cell.split("\n")) if isinstance(cell, str) else cell for cell in row]
            for row in self.rows[: self.n_on_page]
        ]
        names = [name.replace("\n", " ") for name in self.head]
        caption = [self.caption] if self.n_in_text == 0 else []
        return [*caption, *replace(self, head=names, rows=rows, n_in_text=None).lines]


def _write_cell(cell: Cell, write: Callable[[float, float], str]) -> str:
    """Return a cell as text; `write` formats the limits of an interval."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, ConfidenceInterval):
        return write(cell.low, cell.high)
    return _text.write_number(cell)


@dataclass(frozen=True)
class Section:
    """Heading and its contents.

    `sentences` are shown in text and page, `explains` on the page only. The summary of the command
    line includes sections that are `in_summary`.
    """

    heading: str
    sentences: Sequence[str] = ()
    explains: Sequence[str] = ()
    items: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    code: str | None = None
    in_summary: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        texts = self.sentences or self.explains or self.items or self.code
        return not (texts or self.figures or self.tables_below)

    @property
    def tables_below(self) -> list[Table]:
        """The tables that a page shows here, and not beside the verdict."""
        return [table for table in self.tables if not table.beside]

    def write_lines(self, *, full: bool = False) -> Iterator[str]:
        """Yield the section as lines of text, with a blank line before and after each table.

        The `full` text has all tables, and not only a selection of their rows.
        """
        # warnings
        for text in self.items:
            yield f"! {text} [{text.code}]" if isinstance(text, Caution) else f"! {text}"
        # tables, then the sentences on them
        for table in self.tables:
            if full and table.rows:
                yield from ("", *table.all_lines, "")
            elif table.n_in_text != 0:
                yield from ("", *table.lines, "")
        yield from self.sentences


def render(
    report: Any, template: str, title: str | None, before: Any, sections: Sequence[Any]
) -> str:
    """Return the page of a report, or with "fragment.html" the page for a notebook.

    The section `before` the others stands beside the verdict. Every value is escaped except the
    SVG of figures.
    """
    check_extra()
    import jinja2

    # every value is escaped, and a missing one is an error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("skeval.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["join_units"] = join_units
    layout, heading = report.layout, report.layout.title
    headline, *verdict = layout.verdict(report)
    html: str = environment.get_template(template).render(
        title=title or (heading if isinstance(heading, str) else heading(report)),
        headline=headline,
        verdict=verdict,
        figure=layout.figure(report),
        facts=layout.facts(report),
        evaluated=report.results.get("estimator"),
        evaluated_name=report.results.get("estimator_name"),
        basis=layout.basis(report),
        before=before,
        sections=[section for section in sections if not section.is_empty],
        beside=[table for section in sections for table in section.tables if table.beside],
    )
    return html


def join_units(text: str) -> str:
    """Return a sentence without line breaks within "5 %" or "P = 0.1"."""
    return re.sub(r"(?<=\d) (?=%)|(?<=P) (?==)|(?<==) (?=\d)", "\u00a0", text)


WIDTH = 4.4  # inches: a phone shows the figure at 370 px and its text at 9 px or more
INK, PAPER, MUTED = "#1f2328", "#ffffff", "#57606a"
SERIES = ("#1f6fb4", "#c2560c")
COLORS = {  # colors of the displays -> CSS variables of the page, which have dark values
    INK: "ink",
    PAPER: "paper",
    MUTED: "muted",
    "#808080": "muted",  # "gray" and "0.5" of the displays
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
    "svg.fonttype": "none",  # keep text as text, not as paths
    "svg.hashsalt": "skeval",
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a name does not start a formula
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
}
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def draw_svg(draw: Callable[..., Any], label: str, height: float, n_panels: int | None) -> str:
    """Return the drawing of `draw(ax=...)` as inline SVG for a page.

    It receives one axes, or an array of `n_panels` axes, one below another.
    """
    check_extra()
    from matplotlib import style
    from matplotlib.figure import Figure
    from matplotlib.rcsetup import cycler

    # a style of its own, whatever the user has set
    with style.context(["default", STYLE | {"axes.prop_cycle": cycler(color=SERIES)}]):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(ax=figure.subplots() if n_panels is None else figure.subplots(n_panels, sharex=True))
        text = StringIO()
        # the browser renders the text with its own fonts
        with ignored_warnings(UserWarning, "Glyph|Matplotlib currently does not support"):
            figure.savefig(text, format="svg", metadata={"Date": None})
    return _adapt_svg(NOT_XML.sub("\ufffd", text.getvalue()), label)


def check_extra() -> None:
    """Raise if a package required for a page is missing."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"an HTML report needs {error.name}: pip install matplotlib jinja2 pandas"
        ) from error


def _adapt_svg(svg: str, label: str) -> str:
    """Return SVG clipped to its size, in the colors of the page."""
    # ids are unique on a page with several figures
    prefix = f"f{sha256(svg.encode()).hexdigest()[:8]}-"
    root = ElementTree.fromstring(svg)
    # styles of the drawing would apply to the whole page
    for parent in list(root.iter()):
        for child in list(parent):
            if _strip_namespace(child.tag) in ("metadata", "style"):
                parent.remove(child)
    # names without their namespace, and values with the colors of the page
    for element in root.iter():
        element.tag = _strip_namespace(element.tag)
        attributes = {_strip_namespace(name): value for name, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update(
            {name: _adapt_value(name, value, prefix) for name, value in attributes.items()}
        )
    # the page sets the size
    for size in ("width", "height"):
        root.attrib.pop(size)
    root.attrib.update({"role": "img", "aria-label": label})
    return ElementTree.tostring(root, encoding="unicode")


def _strip_namespace(name: str) -> str:
    """Return an XML name without its namespace, which HTML does not use."""
    return name.rpartition("}")[2]


def _adapt_value(name: str, value: str, prefix: str) -> str:
    """Return the value of an attribute with unique ids and the colors of the page."""
    # ids and references to them
    if name == "id":
        return prefix + value
    if name == "href":
        return value.replace("#", f"#{prefix}")
    value = value.replace("url(#", f"url(#{prefix}")
    if name != "style":
        return value
    return re.sub("#[0-9a-f]{6}", _use_page_color, value)


def _use_page_color(match: re.Match[str]) -> str:
    """Return the CSS variable for a color, or the color if there is none."""
    return f"var(--{COLORS[match[0]]})" if match[0] in COLORS else match[0]
