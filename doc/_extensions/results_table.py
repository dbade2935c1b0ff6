"""Tables of files in ``benchmarks/results``: ``.. results:: methods.csv``."""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import mean

from docutils.parsers.rst.directives import flag, unchanged, unchanged_required
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parents[2] / "benchmarks" / "results"


class Values(tuple):
    """Values of a column in the rows of one cell.

    ``{coverage:.2f}`` writes the only value, and ``{coverage.min:.2f}`` the smallest of several.
    """

    min = property(lambda self: min(map(float, self)))
    max = property(lambda self: max(map(float, self)))
    mean = property(lambda self: mean(map(float, self)))

    def __format__(self, spec):
        (value,) = self
        return format(float(value), spec) if spec else value


class Results(SphinxDirective):
    """A table whose rows, and optionally columns, are named by values of the file.

    ``:where:`` selects rows of the file (``method=band, n=50|200``), ``:rows:`` and ``:columns:``
    name columns of the file. ``:cells:`` is the template of a cell, or without ``:columns:`` the
    head and the template of each column (``lowest: {x.min:.2f}; highest: {x.max:.2f}``). With
    ``:code:`` the names of the rows are set as code.
    """

    required_arguments = 1
    option_spec = {  # noqa: RUF012
        "where": unchanged_required,
        "rows": unchanged_required,
        "columns": unchanged,
        "cells": unchanged_required,
        "code": flag,
    }

    def run(self):
        """Return the table."""
        path = FOLDER / self.arguments[0]
        self.env.note_dependency(path)
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        # the selected rows
        for condition in filter(None, self.options.get("where", "").split(", ")):
            name, _, values = condition.partition("=")
            rows = [row for row in rows if row[name] in values.split("|")]
        if not rows:
            raise self.error(f"{path.name} has no rows where {self.options['where']}")
        # the cells of each row of the table, by their heads
        names, across = self.options["rows"].split(", "), self.options.get("columns")
        groups = defaultdict(lambda: defaultdict(list))
        for row in rows:
            head = ", ".join(row[name] for name in across.split(", ")) if across else ""
            groups[tuple(row[name] for name in names)][head].append(row)
        if across:
            templates = {head: self.options["cells"] for cells in groups.values() for head in cells}
        else:
            templates = dict(part.split(": ", 1) for part in self.options["cells"].split("; "))
        lines = [".. list-table::", "   :header-rows: 1", ""]
        for name, cells in {tuple(names): None, **groups}.items():
            texts = (
                [f"``{part}``" for part in name] if "code" in self.options and cells else [*name]
            )
            for head, template in templates.items():
                texts.append(
                    head if cells is None else write_cell(template, cells[head * bool(across)])
                )
            for at, text in enumerate(texts):
                if not text.startswith("``"):
                    text = text.replace("_", " ").replace("neighbour", "neighbor")
                lines.append(f"   {'  ' if at else '* '}- {text}".rstrip())
        return self.parse_text_to_nodes(StringList([*lines, ""], source=path.name))


def write_cell(template, rows):
    """Return the text of a cell; empty if the file has no row for it."""
    columns = {name: Values(row[name] for row in rows) for name in rows[0]} if rows else {}
    return template.format_map(columns) if rows else ""


def setup(app):
    """Add the directive."""
    app.add_directive("results", Results)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
