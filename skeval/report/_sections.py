"""A report as a list of sections, from which its text, its page, its dict and its frames are made.

A section is made once, as data: sentences, tables of values, figures that are drawn when a page
asks for them, and the results that it shows by name. Text has the sentences and the first rows of
the tables; a page has all of it; `to_dict` and `to_frame` have the results.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from skeval._inference.estimate import ConfidenceInterval
from skeval.report._exports import list_tripod, tell_methods, write_card
from skeval.report._page import check_extra, draw_line, draw_svg, load_template
from skeval.utils import _text
from skeval.utils._checks import check_option
from skeval.utils._text import DataFrame

__all__ = [
    "Caution",
    "Figure",
    "Line",
    "Report",
    "ReportsByName",
    "Section",
    "Table",
    "forbid_quoting",
    "list_few",
    "list_grave",
    "tell_gravest",
]

FEW = 5
"""Of a list a reader sees so many at first, and how many more there are."""


def list_few(texts: Sequence[str], n_shown: int = FEW) -> str:
    """Return some of many texts, and how many more there are."""
    more = [f"and {len(texts) - n_shown} more"] if len(texts) > n_shown else []
    return ", ".join([*texts[:n_shown], *more])


class Caution(str):
    """A sentence with the code of the check that found it.

    It is a string. The page "What can make an error estimate a lie" of the documentation has a
    section for each code.

    Attributes
    ----------
    code : str
        Name of the check, such as "copies".
    headline : str
        Where the fault is so grave that the error must not be quoted: what it is, as a short
        clause for the first sentence of a report. Else empty.
    """

    code: str
    headline: str

    def __new__(cls, code: str, text: str, headline: str = "") -> Caution:
        """Return the sentence."""
        self = super().__new__(cls, text)
        self.code, self.headline = code, headline
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return what makes a copy of it."""
        return self.code, str(self), self.headline


def forbid_quoting(warnings: Iterable[Caution]) -> str:
    """Return the grave warnings as one sentence, nothing where there are none."""
    grave = list_grave(warnings)
    return f"Do not quote this error: {'; '.join(grave)}." if grave else ""


def list_grave(warnings: Iterable[Caution]) -> list[str]:
    """Return what the grave warnings say, each once."""
    return list(dict.fromkeys(one.headline for one in warnings if one.headline))


def tell_gravest(grave: list[str]) -> str:
    """Say the first of the grave warnings, and how many more there are."""
    more = f", and {_text.count(len(grave) - 1, 'more grave fault')}" if len(grave) > 1 else ""
    return f"{grave[0]}{more}"


Cell = str | float | ConfidenceInterval
"""Of a table."""


@dataclass(frozen=True)
class Figure:
    """What ``draw(ax=...)`` draws, the caption below it, and what a reader hears who sees neither.

    It is drawn on one axes, or on `n_panels` of them, of this height in inches.
    """

    draw: Callable[..., Any]
    caption: str
    label: str
    height: float
    n_panels: int | None = None

    @cached_property
    def drawn(self) -> tuple[str, str]:
        """The drawing as SVG, and its caption.

        A drawing that fails never takes the finished numbers with it: its caption says what went
        wrong.
        """
        options: dict[str, Any] = {"label": self.label, "height": self.height}
        try:
            return draw_svg(self.draw, n_panels=self.n_panels, **options), self.caption
        except Exception as error:
            return "", f"{self.caption} (This figure could not be drawn: {error})"


@dataclass(frozen=True)
class Line:
    """The answer as a point with its interval, on a line from the best value to that of a guess.

    Of several systems each has its point. Points of other estimates of the same stand below it.
    """

    quantity: str
    answers: Mapping[str, tuple[float, float, float]]
    others: Mapping[str, float]
    guess: tuple[str, float] | None
    best: float
    write: Callable[[float], str]

    @property
    def drawn(self) -> str:
        """The drawing as SVG; "" where there is no number to draw."""
        return draw_line(**vars(self))


@dataclass(frozen=True)
class Table:
    """Rows of cells below the names of the columns; the first cell of each row is its header.

    A header may have a note, which a page shows. The rows that are `quoted` are set bold there,
    those that are worth little alone are `muted`, and what is `beside` stands next to the verdict,
    where there is room. A page shows `n_on_page` rows and folds the rest away, and leaves out what
    its headings have `said`. Text shows the first `n_in_text` rows, and aligns the columns numbered
    in `left` to the left.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Mapping[str, str] = field(default_factory=dict)
    quoted: Collection[str] = ()
    muted: Collection[str] = ()
    beside: bool = False
    n_on_page: int | None = None
    said: Collection[str] = ()
    n_in_text: int | None = None
    left: Collection[int] = (0,)

    @property
    def cells(self) -> list[list[str]]:
        """The rows as a page writes them."""
        rows = [row for row in self.rows if row[0] not in self.said]
        return [[_write_cell(cell, _text.write_range) for cell in row] for row in rows]

    @property
    def lines(self) -> list[str]:
        """The table as aligned lines of text; a name of several lines ends in the last of them."""
        rows = [[_write_cell(cell, _text.write_ends) for cell in row] for row in self.rows]
        names = [name.split("\n") for name in self.head]
        height = max(map(len, names))
        head = zip(*([""] * (height - len(name)) + name for name in names), strict=True)
        return _text.align_rows([*map(list, head), *rows[: self.n_in_text]], left=self.left)


def _write_cell(cell: Cell, write: Callable[[float, float], str]) -> str:
    """Return a cell as text, the ends of an interval as `write` has them."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, ConfidenceInterval):
        return write(cell.low, cell.high)
    return _text.write_number(cell)


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it.

    `sentences` stand in text and page, what `explains` them on the page alone. `results` are what
    it shows, by the names that they have in `to_dict` and `to_frame`.
    """

    heading: str
    sentences: Sequence[str] = ()
    explains: Sequence[str] = ()
    items: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    code: str | None = None
    results: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show, only results that are none."""
        texts = self.sentences or self.explains or self.items or self.code
        return not (texts or self.figures or self.tables_below)

    @property
    def tables_below(self) -> list[Table]:
        """The tables that a page shows here, and not next to the verdict."""
        return [table for table in self.tables if not table.beside]

    @property
    def lines(self) -> Iterator[str]:
        """The section as lines of text, a blank one before and behind each table."""
        for text in self.items:
            yield f"! {text} [{text.code}]" if isinstance(text, Caution) else f"! {text}"
        for table in self.tables:
            if table.n_in_text != 0:
                yield from ("", *table.lines, "")
        yield from self.sentences


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report:
    """What was found, and how to find it again; a subclass says which sections show it.

    Attributes
    ----------
    warnings : tuple of str
        What a reader should know before quoting a number, in plain words; each of an evaluation has
        a `code`.
    seed : int
        The seed of everything random: ``random_state=seed`` repeats the evaluation.
    settings : dict of str to str
        The other arguments of the call, as source text.
    versions : dict of str to str
        Versions of the packages that the numbers depend on.
    call : str
        The program that made the report, as source text; it begins with what it needs.
    date : str
        The day on which it was made.
    """

    warnings: tuple[Any, ...]
    seed: int
    settings: dict[str, str]
    versions: dict[str, str]
    call: str
    date: str

    title = "Report"
    """The heading of the page where it is given none."""
    before = "Before you quote a number"
    """The heading of the warnings."""
    told: ClassVar[Sequence[str]] = ()
    """The attributes that `to_dict` has before the results of the sections."""

    @property
    def verdict(self) -> str:
        """What was found, in a few sentences."""
        raise NotImplementedError

    @property
    def headline(self) -> str:
        """What was found in one sentence, with the gravest warning in it; a page begins with it."""
        return self.verdict

    @property
    def line(self) -> Line | None:
        """The answer, to be drawn below the headline."""
        return None

    @property
    def evaluated(self) -> tuple[str, str] | None:
        """What was evaluated: in a few words, and as source text; None where nothing is fitted."""
        return None

    @property
    def basis(self) -> list[str]:
        """What the verdict rests on, in sentences."""
        return []

    @property
    def facts(self) -> list[str]:
        """What was looked at: the estimator, the data."""
        raise NotImplementedError

    @property
    def about(self) -> dict[str, Any]:
        """What `to_dict` has before the results of the sections."""
        return {name: getattr(self, name) for name in self.told}

    def _make_sections(self) -> Iterator[Section]:
        """Yield what was found, between the warnings and how to repeat it."""
        raise NotImplementedError

    @property
    def sections(self) -> list[Section]:
        """The sections in the order in which text and page show them."""
        none = ["None of skeval's checks found a reason to doubt the numbers below."]
        return [
            Section(
                self.before,
                explains=() if self.warnings else none,
                items=sorted(self.warnings, key=lambda one: not getattr(one, "headline", "")),
                results={"warnings": self.warnings},
            ),
            *self._make_sections(),
        ]

    def _tell_how_to_repeat(self, command: str | None) -> Section:
        """Return what to paste, a program or else the command line, the day and the versions."""
        sentence = f"Made on {self.date}. With the same data and versions this gives the same"
        sentence += " numbers"
        if self.settings.get("budget", "None") != "None":
            sentence += ", unless the limit of time (--quick, --budget) then leaves out other parts"
        return Section(
            "How to reproduce",
            sentences=[f"{sentence}:"],
            code=command or self.call,
            tables=[Table("Versions", ["package", "version"], list(self.versions.items()))],
        )

    def __str__(self) -> str:
        lines = [self.verdict, *self.basis]
        for section in self.sections:
            for line in section.lines:
                if line or lines[-1]:
                    lines.append(line)
        return "\n".join(lines).rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain Python objects, without arrays and replicates.

        Returns
        -------
        dict
        """
        found = {"verdict": self.verdict, **self.about, "seed": self.seed}
        found |= {"settings": self.settings, "versions": self.versions}
        for section in self.sections:
            found |= section.results
        return {name: _make_plain(value) for name, value in found.items()}

    def to_frame(self, part: str | None = None) -> DataFrame:
        """Return the results of one name as a data frame; needs pandas.

        Parameters
        ----------
        part : str, default=None
            A name of `to_dict` that holds rows or a result; None takes the main table. "tripod", of
            scored predictions: the topics of the results section of the reporting guideline
            TRIPOD+AI [1]_ that the report answers, with the part of it that holds each, and the
            value.

        Returns
        -------
        pandas.DataFrame
            A row for each estimate, sample, class or whatever there are several of.

        References
        ----------
        .. [1] Collins, G. S., Moons, K. G. M., Dhiman, P. et al. (2024). TRIPOD+AI statement. BMJ
           385, e078378. https://doi.org/10.1136/bmj-2023-078378
        """
        if part == "tripod" and hasattr(self, "main_metrics"):
            return list_tripod(self)
        known = {name: value for one in self.sections for name, value in one.results.items()}
        part = check_option("part", self.main_part if part is None else part, tuple(known))
        found = known[part]
        if found is None:
            raise ValueError(f"part must be one that the report has; there is no {part!r}.")
        if hasattr(found, "to_frame"):
            frame: DataFrame = found.to_frame()
            return frame
        rows = _make_plain(found)
        frame = _text.make_frame(rows if isinstance(rows, list) else [rows])
        return frame.set_index(self.row_name) if part == self.main_part else frame

    def to_latex(self, part: str | None = None, **options: Any) -> str:
        """Return `to_frame` as a LaTeX table; requires pandas and jinja2.

        Parameters
        ----------
        part : str, default=None
            A name of `to_dict` that holds rows or a result; None takes the main table.
        **options : dict
            Those of `pandas.DataFrame.to_latex`, as `columns`, `caption` or `float_format`.

        Returns
        -------
        str
        """
        options = {"escape": True, "float_format": "%.4g"} | options
        text: str = self.to_frame(part).to_latex(**options)
        return text

    @property
    def scored_reports(self) -> Mapping[str, Any]:
        """The reports of scored predictions by name, "" where it is this one."""
        if not hasattr(self, "main_metrics"):
            raise TypeError(f"a {self.title.lower()} has no predictions that were scored.")
        return {"": self}

    def to_model_card(self, *, model: str = "model", dataset: str = "data") -> str:
        """Return the metrics with their intervals as the ``model-index`` of a model card, in YAML.

        It goes between the lines ``---`` at the head of a model card of the Hugging Face Hub [1]_;
        the ends of each interval stand among the ``args`` of its metric.

        Parameters
        ----------
        model : str, default="model"
            Name of the model; several systems have their own.
        dataset : str, default="data"
            Name of the data.

        Returns
        -------
        str

        Raises
        ------
        TypeError
            If no predictions were scored, as of clusterings.

        References
        ----------
        .. [1] https://huggingface.co/docs/hub/model-cards
        """
        return write_card(self.scored_reports, model, dataset)

    def to_methods(self) -> str:
        """Return a paragraph for the methods section, with the works that it cites.

        Each sentence is read off what was done.

        Returns
        -------
        str

        Raises
        ------
        TypeError
            If no predictions were scored, as of clusterings.
        """
        return tell_methods(self.scored_reports)

    main_part, row_name = "", ""
    """What `to_frame` returns where it is asked for nothing else, and what names its rows."""

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
        """Return the page, or the part of one that a notebook shows."""
        check_extra()
        first, *others = self.sections
        noted = [Section("Notes on the data and on the run", items=notes)] if notes else []
        sections = [*noted, *others, self._tell_how_to_repeat(command)]
        beside = [table for section in sections for table in section.tables if table.beside]
        sections = [section for section in sections if not section.is_empty]
        shown = {"title": title or self.title, "report": self, "before": first}
        shown |= {"sections": sections, "beside": beside}
        html: str = load_template(template).render(shown)
        return html

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.verdict!r})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the page, or the text where there can be none."""
        try:
            return self._render("fragment.html")
        except Exception:  # the extra is missing; or else a display must not hide the numbers
            return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReportsByName(Report, Mapping):
    """Reports of several things, by name, and how these compare; a subclass says of what."""

    reports: dict[str, Any]

    row_name = "name"
    told = ("reports",)

    def __getitem__(self, name: str) -> Any:
        """Return the report of one of them."""
        if name not in self.reports:
            raise KeyError(f"no report {name!r}; there are {', '.join(map(repr, self.reports))}")
        return self.reports[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self.reports)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.reports)

    @property
    def _first(self) -> Any:
        return next(iter(self.values()))


def _make_plain(value: Any) -> Any:
    """Return a result, or a nest of results, as plain Python objects."""
    if isinstance(value, Caution):
        return {"code": value.code, "text": str(value)}
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {str(name): _make_plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


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
