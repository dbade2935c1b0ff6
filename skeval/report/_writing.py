"""What reports have in common: they write themselves as JSON and as a page."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from skeval.report._page import Section, load_template, make_page

__all__ = ["WritableReport"]


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
