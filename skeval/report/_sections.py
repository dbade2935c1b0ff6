"""Sections of a report, the source of its text and of its page.

A section is data: sentences, tables of values, and figures that are drawn for a page. The text has
the sentences and the first rows of the tables, a page has everything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from skeval._inference.estimate import ConfidenceInterval
from skeval.report._page import draw_svg
from skeval.utils import _text

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
        options: dict[str, Any] = {"label": self.label, "height": self.height}
        try:
            return draw_svg(self.draw, n_panels=self.n_panels, **options), self.caption
        except Exception as error:
            return "", f"{self.caption} (This figure could not be drawn: {error})"


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
        for text in self.items:
            yield f"! {text} [{text.code}]" if isinstance(text, Caution) else f"! {text}"
        for table in self.tables:
            if full and table.rows:
                yield from ("", *table.all_lines, "")
            elif table.n_in_text != 0:
                yield from ("", *table.lines, "")
        yield from self.sentences
