"""Report as a list of sections, the source of its text and page, and as a dict of results.

A section is data: sentences, tables of values, and figures that are drawn for a page. The text has
the sentences and the first rows of the tables, a page has everything. `to_dict` and `to_frame`
return the results by name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from skeval._inference.estimate import ConfidenceInterval
from skeval.report._exports import write_methods
from skeval.report._page import check_extra, draw_svg, load_template
from skeval.utils import _text
from skeval.utils._checks import check_option
from skeval.utils._text import DataFrame

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


def forbid_quoting(warnings: Iterable[Caution]) -> str:
    """Return the serious warnings as one sentence; empty if there are none."""
    grave = list_grave(warnings)
    return f"Do not report this error: {'; '.join(grave)}." if grave else ""


def list_grave(warnings: Iterable[Caution]) -> list[str]:
    """Return the headlines of the serious warnings, without duplicates."""
    headlines = (getattr(one, "headline", "") for one in warnings)  # others are plain strings
    return list(dict.fromkeys(filter(None, headlines)))


def write_gravest(grave: list[str]) -> str:
    """Return the first grave warning, and the number of the others."""
    more = f", and {_text.count(len(grave) - 1, 'more serious problem')}" if len(grave) > 1 else ""
    return f"{grave[0]}{more}"


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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report:
    """Base class of reports; subclasses define their sections.

    Attributes
    ----------
    warnings : tuple of str
        Warnings to read before reporting a number; each warning of an evaluation has a `code`.
    seed : int
        Seed of all random steps: ``random_state=seed`` repeats the evaluation.
    settings : dict of str to str
        Other arguments of the call, as source text.
    versions : dict of str to str
        Versions of the packages that affect the results.
    call : str
        Program that creates the report, as source text with its imports.
    date : str
        Date of the report.
    """

    warnings: tuple[Any, ...]
    seed: int
    settings: dict[str, str]
    versions: dict[str, str]
    call: str
    date: str

    _title = "Report"
    """Default heading of the page."""
    _before = "Before you report a number"
    """Heading of the warnings."""
    _listed: ClassVar[Sequence[str]] = ()
    """Attributes that `to_dict` returns before the results of the sections."""

    @property
    def verdict(self) -> str:
        """The result in a few sentences."""
        raise NotImplementedError

    @property
    def _headline(self) -> str:
        """The result in one sentence with the gravest warning; a page begins with it."""
        return self.verdict

    @property
    def _figure(self) -> Figure | None:
        """Drawing of the main estimate below the headline."""
        return None

    @property
    def _evaluated(self) -> tuple[str, str] | None:
        """The evaluated object, as a short text and as source text; None if nothing is fitted."""
        return None

    @property
    def _basis(self) -> list[str]:
        """Evidence for the verdict, in sentences."""
        return []

    @property
    def _facts(self) -> list[str]:
        """Sections on the estimator and the data."""
        raise NotImplementedError

    @property
    def _about(self) -> dict[str, Any]:
        """The first entries of `to_dict`, before the results of the sections."""
        return {name: getattr(self, name) for name in self._listed}

    @property
    def _results(self) -> dict[str, Any]:
        """The results by their names in `to_dict` and `to_frame`, after the warnings."""
        raise NotImplementedError

    def _make_sections(self) -> Iterator[Section]:
        """Yield the sections between the warnings and the section on reproducing the report."""
        raise NotImplementedError

    @property
    def _sections(self) -> list[Section]:
        """The sections in the order of text and page."""
        none = ["No problems were detected."]
        return [
            Section(
                self._before,
                explains=() if self.warnings else none,
                items=sorted(self.warnings, key=lambda one: not getattr(one, "headline", "")),
            ),
            *self._make_sections(),
        ]

    def _show_reproduction(self, command: str | None) -> Section:
        """Return the program or command line to reproduce the report, the date and the versions."""
        sentence = f"Created on {self.date}. The same data and versions give the same numbers"
        if self.settings.get("budget", "None") != "None":
            sentence += ", unless the time limit (--quick, --budget) skips other parts"
        return Section(
            "How to reproduce",
            sentences=[f"{sentence}:"],
            code=command or self.call,
            tables=[Table("Versions", ["package", "version"], list(self.versions.items()))],
        )

    def __str__(self) -> str:
        return self._write_text()

    def _write_text(self, *, full: bool = False) -> str:
        """Return the report as text; the `full` text has all tables of the page."""
        lines = [self.verdict, *self._basis]
        for section in self._sections:
            for line in section.write_lines(full=full):
                if line or lines[-1]:
                    lines.append(line)
        return "\n".join(lines).rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain Python objects, without arrays and replicates.

        Returns
        -------
        dict
        """
        entries = {"verdict": self.verdict, **self._about, "seed": self.seed}
        entries |= {"settings": self.settings, "versions": self.versions}
        entries |= {"warnings": self.warnings, **self._results}
        return {name: _make_plain(value) for name, value in entries.items()}

    def to_frame(self, part: str | None = None) -> DataFrame:
        """Return the results with this name as a data frame; requires pandas.

        Parameters
        ----------
        part : str, default=None
            Name in `to_dict` of rows or a result; None selects the main table.

        Returns
        -------
        pandas.DataFrame
            One row per estimate, sample, class or other item.
        """
        results = {"warnings": self.warnings, **self._results}
        part = check_option("part", self._main_part if part is None else part, tuple(results))
        result = results[part]
        if result is None:
            raise ValueError(f"part must be one that the report has; there is no {part!r}.")
        if hasattr(result, "to_frame"):
            frame: DataFrame = result.to_frame()
            return frame
        rows = _make_plain(result)
        frame = _text.make_frame(rows if isinstance(rows, list) else [rows])
        return frame.set_index(self._row_name) if part == self._main_part else frame

    def to_latex(self, part: str | None = None, **options: Any) -> str:
        """Return names, estimates and intervals as a LaTeX table; requires pandas and jinja2.

        Parameters
        ----------
        part : str, default=None
            Name in `to_dict` of rows or a result; None selects the main table.
        **options : dict
            Options of `pandas.DataFrame.to_latex`, such as `caption` or `float_format`;
            `columns` selects columns of `to_frame` instead.

        Returns
        -------
        str
        """
        return _text.write_latex(self.to_frame(part), **options)

    @property
    def _scored_reports(self) -> Mapping[str, Any]:
        """Reports of scored predictions by name, "" for this one."""
        if not hasattr(self, "_main_metrics"):
            raise TypeError(f"a {self._title.lower()} has no predictions that were scored.")
        return {"": self}

    def to_methods(self) -> str:
        """Return a paragraph for the methods section, with references.

        Each sentence describes a step of this evaluation.

        Returns
        -------
        str

        Raises
        ------
        TypeError
            If no predictions were scored, as in reports of clusterings.
        """
        return write_methods(self._scored_reports)

    _main_part, _row_name = "", ""
    """Default part of `to_frame`, and the name of its index."""

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return `to_dict` as JSON, and write it to a file if a path is passed.

        JSON does not support infinity and nan. Infinity, such as Dunn's index of clusters of equal
        points, is written as the string "Infinity" or "-Infinity", which `float` reads; nan is
        written as null.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write.

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
        path: str | PathLike[str] | None = None,
        *,
        title: str | None = None,
        command: str | None = None,
        notes: Sequence[str] = (),
    ) -> str:
        """Return the report as a standalone HTML page, and write it to a file if a path is passed.

        The page has the main result in one sentence, the warnings, figures and tables, and how to
        reproduce them. It loads nothing and runs no script. Requires matplotlib, Jinja2 and
        pandas: ``pip install matplotlib jinja2 pandas``.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write.
        title : str, default=None
            Heading of the page, for example the name of the data.
        command : str, default=None
            Command line that reproduces the report; shown instead of the program in `call`.
        notes : sequence of str, default=()
            Further notes, such as columns of a file that were left out; shown after the
            warnings.

        Returns
        -------
        str
            HTML.
        """
        text = self._render("page.html", title, command, notes)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def _render(
        self,
        template: str,
        title: str | None = None,
        command: str | None = None,
        notes: Sequence[str] = (),
    ) -> str:
        """Return the page, or the fragment for a notebook."""
        check_extra()
        first, *others = self._sections
        noted = [Section("Notes on the data and on the run", items=notes)] if notes else []
        sections = [*noted, *others, self._show_reproduction(command)]
        beside = [table for section in sections for table in section.tables if table.beside]
        sections = [section for section in sections if not section.is_empty]
        html: str = load_template(template).render(
            title=title or self._title,
            headline=self._headline,
            figure=self._figure,
            facts=self._facts,
            evaluated=self._evaluated,
            basis=self._basis,
            before=first,
            sections=sections,
            beside=beside,
        )
        return html

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.verdict!r})"

    def _repr_html_(self) -> str:
        """Return the page for a notebook, or the text if dependencies are missing."""
        try:
            return self._render("fragment.html")
        except Exception:  # a missing extra, or any error, must not hide the results
            return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReportsByName(Report, Mapping):
    """Reports of several objects by name, and their comparison."""

    reports: dict[str, Any]

    _row_name = "name"
    _listed = ("reports",)

    def __getitem__(self, name: str) -> Any:
        """Return the report with this name."""
        if name not in self.reports:
            raise KeyError(f"no report {name!r}; there are {', '.join(map(repr, self.reports))}")
        return self.reports[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self.reports)

    def __len__(self) -> int:
        """Return the number of reports."""
        return len(self.reports)

    @property
    def _first(self) -> Any:
        return next(iter(self.values()))


def _make_plain(value: Any) -> Any:
    """Return a result, or nested results, as plain Python objects."""
    if isinstance(value, Caution):
        severity = "serious" if value.headline else "note"
        return {"code": value.code, "severity": severity, "text": str(value)}
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {str(name): _make_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _convert_to_json(value: Any) -> Any:
    """Return nested lists and dicts with infinity and nan replaced for JSON."""
    if isinstance(value, dict):
        return {name: _convert_to_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_convert_to_json(item) for item in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    if math.isnan(value):
        return None
    return "Infinity" if value > 0 else "-Infinity"
