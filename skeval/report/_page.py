"""A page of text, tables and figures, and its HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

from skeval.report._svg import check_extra, draw_svg

__all__ = [
    "Figure",
    "Page",
    "Section",
    "Table",
    "load_template",
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
