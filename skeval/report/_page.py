"""Sections of a report, and the page that shows them.

A section is data, that is, sentences, tables of values, and figures that are drawn for a page. The
text contains the sentences and the first rows of the tables. A page contains everything. Figures
are inline SVG that uses the colors of the page and unique ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from io import StringIO
from textwrap import wrap
from typing import Any
from xml.etree import ElementTree

import numpy as np

from skeval._inference.estimate import ConfidenceInterval
from skeval.utils import _text
from skeval.utils._checks import ignored_warnings
from skeval.utils._plotting import separate_thousands

MAX_LISTED = 5
"""Maximum number of items in a list before "and N more"."""


def list_few(texts: Sequence[str], n_shown: int = MAX_LISTED) -> str:
    """Return the first few texts, and the number of the remaining ones."""
    more = [f"and {len(texts) - n_shown} more"] if len(texts) > n_shown else []
    return ", ".join([*texts[:n_shown], *more])


def join_words(words: Sequence[str], last: str) -> str:
    """Return "a, b and c", with the `last` conjunction."""
    *others, end = words
    return f"{', '.join(others)} {last} {end}" if others else end


@dataclass(frozen=True)
class CheckResult:
    """Outcome of a check of the data, of the model or of its estimates.

    As text, a finding is its title, evidence and advice. The page "Warnings" of the user
    guide describes each code.

    Attributes
    ----------
    code, title : str
        Name of the check, as in `ignore` and in its warnings, and its title.
    outcome : {"passed", "note", "serious", "not applicable", "not run", "ignored"}
        Notes and serious outcomes are findings, which become warnings.
    evidence : str
        Finding, or reason why the check was not run, as a clause without a period.
    advice : str
        Full sentences.
    lead : str
        Beginning of the verdict, without its period. A serious finding has a short reason there if
        its evidence is long. Otherwise empty.
    """

    # the row of a check of the table fills these two, unless a finding has a title of its own
    code: str = field(default="", kw_only=True)
    title: str = field(default="", kw_only=True)
    outcome: str
    evidence: str = ""
    advice: str = ""
    lead: str = ""

    @staticmethod
    def from_text(code: str, text: str) -> CheckResult:
        """Return a note from a text such as "Title: evidence. Advice." or a single sentence."""
        title, _, rest = text.partition(": ") if ": " in text else (code, "", text)
        evidence, _, advice = rest.partition(". ")
        return note(code, title, evidence.removesuffix("."), advice)

    @property
    def headline(self) -> str:
        """The reason why the error must not be reported, "" if the finding is not serious."""
        return self.lead or self.evidence if self.outcome == "serious" else ""

    def __str__(self) -> str:
        if self.outcome not in ("note", "serious"):
            return f"{self.title}: {self.outcome}"
        return f"{self.title}: {self.evidence}. {self.advice}".rstrip()


def note(code: str, title: str, evidence: str, advice: str = "") -> CheckResult:
    """Return a finding that is not serious."""
    return CheckResult("note", evidence, advice, code=code, title=title)


def list_grave(warnings: Iterable[CheckResult]) -> list[str]:
    """Return the headlines of the serious warnings, without duplicates."""
    return list(dict.fromkeys(one.headline for one in warnings if one.headline))


Cell = str | float | ConfidenceInterval
"""Cell of a table."""


@dataclass(frozen=True)
class Figure:
    """Figure of a page, with drawing function, caption, and a description for screen readers.

    ``draw(ax=...)`` draws on axes of this height in inches.
    """

    draw: Callable[..., Any]
    caption: str
    label: str
    height: float = 3.6

    @cached_property
    def drawn(self) -> tuple[str, str]:
        """Return the drawing as SVG, and its caption.

        If a drawing fails, the results are kept, and the caption has the error.
        """
        try:
            svg = draw_svg(self.draw, self.label, self.height)
        except Exception as error:
            return "", f"{self.caption} (This figure could not be drawn: {error})"
        return svg, self.caption


@dataclass(frozen=True)
class Table:
    """Rows of cells below the names of the columns. The first cell of each row is its header.

    A page shows the note of a header and prints the `quoted` rows in bold. It places a table next
    to the verdict, if there is room, under the heading `beside`. It folds rows after the first
    `n_on_page`, and colors the cells of each row by `shades` from 0 to 1. Text shows the first
    `n_in_text` rows, and aligns the columns with numbers in `left` to the left.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Mapping[str, str] = field(default_factory=dict)
    quoted: Collection[str] = ()
    beside: str = ""
    n_on_page: int | None = None
    shades: Sequence[Sequence[float]] = ()
    n_in_text: int | None = None
    left: Collection[int] = (0,)

    @property
    def cells(self) -> list[list[str]]:
        """The rows as shown on a page."""
        return [_write_row(row, "{} to {}") for row in self.rows]

    @property
    def is_wide(self) -> bool:
        """Whether a phone shows each row as a block. Headers and row names may be divided."""
        columns = [re.split(r"\s", name) for name in self.head]
        for row in self.cells:
            for place, cell in enumerate(row):
                columns[place] += cell.split("\n") if place else cell.split()
        return sum(max(map(len, column)) for column in columns) > MAX_PHONE

    def write_markdown(self) -> list[str]:
        """Return the caption and all rows, as lines of Markdown."""
        rows = [self.head, ["---"] * len(self.head), *self.cells]
        lines = [f"| {' | '.join(map(escape_markdown, row))} |" for row in rows]
        return [escape_markdown(self.caption), "", *lines]

    def write_lines(self, *, full: bool = False, width: int | None = None) -> list[str]:
        """Return the table as aligned lines of text, up to a `width`.

        The `full` table has the rows that a page hides by default, and the caption if the other
        text omits it.
        """
        rows = [_write_row(row, "[{}, {}]") for row in self.rows]
        caption = fill_lines(self.caption, width) if full and self.n_in_text == 0 else []
        rows = [[" ".join(cell.split("\n")) for cell in row] for row in rows] if full else rows
        shown = rows if full else rows[: self.n_in_text]
        # headers of several lines are aligned at their last line
        names = [name.split("\n") for name in self.head]
        height = max(map(len, names))
        lines = zip(*([""] * (height - len(name)) + name for name in names), strict=True)
        return [*caption, *_text.align_rows([*map(list, lines), *shown], self.left, width)]


MAX_PHONE = 40
"""Maximum number of characters of a row that a phone shows in columns."""


def _write_row(row: Sequence[Cell], form: str) -> list[str]:
    """Return the cells of a row as text. `form` has places for the limits of an interval.

    The number before an interval has as many decimals as its limits.
    """
    cells = [_write_number(cell) if isinstance(cell, float) else str(cell) for cell in row]
    numbers = {place: cell for place, cell in enumerate(row) if isinstance(cell, float)}
    for place, cell in enumerate(row):
        if not isinstance(cell, ConfidenceInterval):
            continue
        if not np.isfinite([cell.low, cell.high]).any():
            cells[place] = _text.write_ends(cell.low, cell.high)  # undefined, or unbounded
            continue
        # the number that stands before its interval
        number = max(other for other in numbers if other < place)
        cells[number], *ends = write_aligned(numbers[number], cell.low, cell.high)
        cells[place] = form.format(*ends)
    return cells


def _write_number(value: float) -> str:
    """Return a number as text, with four digits in every row."""
    if 10 <= abs(value) < 1e4 and value % 1:
        return f"{value:#.4g}".rstrip(".")
    return _text.write_number(value)


MAX_ADDED = 2
"""Maximum number of decimals that the two significant digits of a small limit add."""


def write_aligned(value: float, low: float, high: float) -> list[str]:
    """Return a value and the limits of its interval as text, with the same number of decimals.

    The largest number has four decimals, or four significant digits from 10 and below 0.001. If the
    interval excludes 0, a small limit has two significant digits, if two more decimals suffice.
    """
    numbers = value, low, high
    largest = max(abs(number) for number in numbers if np.isfinite(number))
    if not 1e-6 <= largest < 1e4:
        return [_text.write_number(number, largest) for number in numbers]
    decimals = 4 if 0.001 <= largest < 10 else 3 - int(np.floor(np.log10(largest)))
    if low * high > 0 and largest < 10:  # limits of one sign
        needed = 1 - int(np.floor(np.log10(min(abs(low), abs(high)))))
        decimals = needed if 0 < needed - decimals <= MAX_ADDED else decimals
    tiny = 0.5 * 10.0**-decimals  # has one digit instead of zeros
    return [f"{x:.1g}" if 0 < abs(x) < tiny else f"{x + 0.0:.{decimals}f}" for x in numbers]


@dataclass(frozen=True)
class Section:
    """Heading and its contents.

    `sentences` are shown in text and page, `explains` only on the page. The summary of the command
    line includes sections that are `in_summary`.
    """

    heading: str
    sentences: Sequence[str] = ()
    explains: Sequence[str] = ()
    items: Sequence[str | CheckResult] = ()
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

    def write_markdown(self) -> Iterator[str]:
        """Yield the section as lines of Markdown, without figures."""
        if self.is_empty:
            return
        yield from ("", f"## {escape_markdown(self.heading)}", "")
        yield from (f"- {escape_markdown(str(item))}" for item in self.items)
        for text in (*self.sentences, *self.explains):
            yield from (escape_markdown(text), "")
        for table in self.tables:
            yield from (*table.write_markdown(), "")

    def write_lines(self, *, full: bool = False, width: int | None = None) -> Iterator[str]:
        """Yield the section as lines of text, with a blank line before and after each table.

        The `full` text contains all tables, and not only a selection of their rows.
        """
        # warnings
        for item in self.items:
            code = f" [{item.code}]" if isinstance(item, CheckResult) else ""
            yield from fill_lines(f"! {item}{code}", width)
        # tables, then the sentences on them
        for table in self.tables:
            if (full and table.rows) or table.n_in_text != 0:
                lines = table.write_lines(full=full and bool(table.rows), width=width)
                yield from ("", *lines, "")
        for text in self.sentences:
            yield from fill_lines(text, width)


def escape_markdown(text: str) -> str:
    """Return a text on one line that Markdown shows unchanged."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", _text.escape_controls(" ".join(text.split())))


def render(template: str, **values: Any) -> str:
    """Return the page of a report. "fragment.html" gives the page for a notebook.

    Every value is escaped except the SVG of figures.
    """
    check_extra()
    import jinja2

    # a missing value is an error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("skeval.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["join_units"] = join_units
    return environment.get_template(template).render(values)


def fill_lines(text: str, width: int | None) -> list[str]:
    """Return a text as lines of this width, or as one line."""
    if width is None:
        return [text]
    lines = wrap(join_units(text), width, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in lines]


def join_units(text: str) -> str:
    """Return a sentence without line breaks within "5 %", "P = 0.1" or "CI 1.5 to 2"."""
    units = r"(?<=\d) (?=%)|(?<=%) (?=CI)|(?<=CI) (?=[-\d])|(?<=\b[Pk]) (?=[=<>])|(?<=[=<>]) (?=\d)"
    return re.sub(rf"{units}|(?<=\d) (?=to [-\d])|(?<=\d to) (?=[-\d])", "\u00a0", text)


WIDTH = 4.4  # inches: a phone shows the figure at 370 px and its text at 9 px or more
INK, PAPER, MUTED = "#1f2328", "#ffffff", "#57606a"
SERIES = ("#1f6fb4", "#c2560c", "#22a06b", "#933070", "#4a4214", "#3a1f9e")
MARKERS = "osD^vP*X"
"""Colors and markers of curves and clusters. The colors differ also for the color-blind."""
COLORS = {  # colors of the displays -> CSS variables of the page, which have dark values
    INK: "ink",
    PAPER: "paper",
    MUTED: "muted",
    "#808080": "muted",  # "gray" and "0.5" of the displays
    **{color: f"series-{place}" for place, color in enumerate(SERIES, 1)},
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


def draw_svg(draw: Callable[..., Any], label: str, height: float) -> str:
    """Return the drawing of `draw(ax=...)` as inline SVG for a page."""
    check_extra()
    from matplotlib import style
    from matplotlib.figure import Figure
    from matplotlib.rcsetup import cycler

    # a style of its own, whatever the user has set
    with style.context(["default", STYLE | {"axes.prop_cycle": cycler(color=SERIES)}]):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(ax=figure.subplots())
        separate_thousands(figure.axes)
        text = StringIO()
        # the browser renders the text with its own fonts
        with ignored_warnings(UserWarning, "Glyph|Matplotlib currently does not support"):
            figure.savefig(text, format="svg", metadata={"Date": None})
    return _adapt_svg(NOT_XML.sub("\ufffd", text.getvalue()), label)


def check_extra() -> None:
    """Raise an error if a package required for a page is missing."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"an HTML report needs {error.name}: pip install matplotlib jinja2 pandas"
        ) from error


def _adapt_svg(svg: str, label: str) -> str:
    """Return SVG with the size and the colors of the page, and with unique ids."""
    prefix = f"f{sha256(svg.encode()).hexdigest()[:8]}-"
    root = ElementTree.fromstring(svg)
    # styles of the drawing would apply to the whole page
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    for element in root.iter():
        # HTML does not use namespaces
        element.tag = element.tag.rpartition("}")[2]
        attributes = {name.rpartition("}")[2]: text for name, text in element.attrib.items()}
        # ids and references to them
        for name, text in attributes.items():
            text = text.replace("url(#", f"url(#{prefix}")
            text = f"{prefix}{text}" if name == "id" else text
            attributes[name] = text.replace("#", f"#{prefix}") if name == "href" else text
        # colors of the page
        for color, name in COLORS.items():
            if "style" in attributes:
                attributes["style"] = attributes["style"].replace(color, f"var(--{name})")
        element.attrib.clear()
        element.attrib.update(attributes)
    # the page sets the size
    for size in ("width", "height"):
        root.attrib.pop(size)
    root.attrib.update({"role": "img", "aria-label": label})
    return ElementTree.tostring(root, encoding="unicode")
