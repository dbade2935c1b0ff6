"""What the commands share: their data, their common options, the frame of what they print.

A table with gaps and texts is prepared by steps before the estimator, within every fold.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.utils._sources import BUNDLED, check_source

if TYPE_CHECKING:
    from skeval.datasets._tables import ColumnTable

__all__ = [
    "add_common",
    "collect_notes",
    "count_columns",
    "deliver",
    "describe_data",
    "describe_preparation",
    "make_preparation",
    "parse_whole_number_from",
    "read_columns",
]

MOST_WORKERS = 10**6
LARGE_FILE = 5e6
"""Bytes of a file that takes so long to read that it is said."""


def add_common(parser: argparse.ArgumentParser, *, target: str) -> None:
    """Add the data and the options that every command has."""
    add = parser.add_argument
    kinds = "CSV, NPZ, Parquet, Feather or Excel file"
    add("data", metavar="DATA", help=f"{', '.join(BUNDLED)}, or a {kinds}")
    add("--target", metavar="COLUMN", help=target)
    add(
        "--drop",
        metavar="COLUMN",
        action="append",
        default=[],
        help="a column that is no feature; more than once for more",
    )
    add("--drop-missing-target", action="store_true", help="leave out rows without a target")
    add(
        "--merge-labels",
        action="store_true",
        help="values of the target that differ by case or spaces alone are one class",
    )
    add(
        "--date-features",
        action="store_true",
        help="make numbers of dates: days since 1970, and year, month, day, weekday, hour",
    )
    add("--id", metavar="COLUMN", help="the column that names the rows; no feature")
    add(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="the first line of a CSV file holds the names of the columns; without names they are "
        "x0, x1, ... (default: names, unless a value is among them, which is an error)",
    )
    add(
        "--seed",
        type=parse_whole_number_from(0),
        default=0,
        help="seed of everything random (default: 0)",
    )
    add("--jobs", type=_parse_workers, help="number of joblib workers")
    add("--memory", metavar="FOLDER", help="keep finished fits there, to go on after a stop")
    add("--json", metavar="FILE", help="write all numbers to a file, too")
    add("--html", metavar="FILE", help="write a page with figures to a file, too")


def read_columns(
    options: argparse.Namespace, *, needs_target: bool, only: Sequence[str] | None = None
) -> ColumnTable:
    """Load the table that the options name, or `only` some of its columns and those they name.

    What is wrong with the options is said before anything that takes time is imported.
    """
    check_source(options.data)
    check_outputs(options)
    path = Path(options.data)
    if path.is_file() and path.stat().st_size > LARGE_FILE:
        size = path.stat().st_size / 1e6
        options.progress.say(f"reading {_printable_name(options.data)}, {size:.0f} MB")
    from skeval.datasets._tables import load_columns

    return load_columns(
        options.data,
        target=options.target,
        needs_target=needs_target,
        header=options.header,
        drop=[*options.drop, *([options.id] if options.id is not None else [])],
        groups=getattr(options, "groups", None),
        time=getattr(options, "time", None),
        drop_missing_target=options.drop_missing_target,
        merge_labels=options.merge_labels,
        date_features=options.date_features,
        only=only,
    )


def parse_whole_number(text: str, least: int | None = None) -> int:
    """Return a whole number that is written in digits alone; `int` would also take "1_0"."""
    if re.fullmatch("[+-]?[0-9]+", text) is None:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}")
    if least is not None and int(text) < least:
        raise argparse.ArgumentTypeError(f"must be {least} or more, got {text}")
    return int(text)


def parse_whole_number_from(least: int) -> Callable[[str], int]:
    """Return what parses whole numbers that are not lower."""
    return partial(parse_whole_number, least=least)


def _parse_workers(text: str) -> int:
    """Return a number of workers that a machine could have."""
    if not -MOST_WORKERS <= parse_whole_number(text) <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"must be at most {MOST_WORKERS}, got {text}")
    if int(text) == 0:
        raise argparse.ArgumentTypeError("must not be 0")
    return int(text)


def check_outputs(options: argparse.Namespace) -> None:
    """Raise before the work when a result could not be written after it."""
    taken = {Path(options.data).resolve(): "the data"} if Path(options.data).is_file() else {}
    for name in ("json", "html"):
        if getattr(options, name) is None:
            continue
        path = Path(getattr(options, name))
        if not path.absolute().parent.is_dir():
            raise ValueError(f"--{name}: there is no folder {str(path.parent)!r}.")
        _check_writable(name, path)
        if path.resolve() in taken:
            raise ValueError(f"--{name}: {str(path)!r} is {taken[path.resolve()]}, too.")
        taken[path.resolve()] = f"--{name}"
    if options.html is not None:
        from skeval.report._page import check_extra

        check_extra()


def _check_writable(name: str, path: Path) -> None:
    """Raise when a file cannot be written; one that is there stays as it is."""
    try:
        exists = path.exists()
        if exists and not path.is_file() and not path.is_dir():
            return  # a pipe would end if it were opened and closed
        with path.open("a"):
            pass
    except OSError as error:
        raise ValueError(f"--{name}: {str(path)!r} cannot be written: {error.strerror}.") from error
    if not exists:
        path.unlink()


def deliver(
    report: Any,
    options: argparse.Namespace,
    table: ColumnTable,
    procedure: str,
    notes: Sequence[str],
    *,
    numbers: bool = False,
    column: str = "feature",
) -> None:
    """Write a report on a procedure to the files that were asked for, and print it in any case.

    The target holds classes, or `numbers` even where they are whole.
    """
    options.progress.close()
    headline = _write_headline(options.data, table, numbers, column)
    lines = [headline, procedure, "", str(report), *notes]
    try:
        if options.json is not None:
            report.to_json(options.json)
            lines.append(f"written to {options.json}")
        if options.html is not None:
            title = f"{_printable_name(options.data)}: {procedure}"
            told = [_show_bytes(note.removeprefix("note: ")) for note in notes]
            command = _show_bytes(options.line)
            report.to_html(options.html, title=title, command=command, notes=told)
            lines.append(f"written to {options.html}")
    finally:
        encoding = sys.stdout.encoding or "utf-8"
        print("\n".join(lines).encode(encoding, "backslashreplace").decode(encoding))


def _printable_name(source: str) -> str:
    """Return the name of a file without the bytes that are no text."""
    return _show_bytes(Path(source).name)


def _show_bytes(text: str) -> str:
    """Return a text of which the bytes that are no text are written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def describe_data(source: str, table: ColumnTable, column: str = "feature") -> str:
    """Name the data and their size."""
    from skeval.utils._text import count

    n_samples, n_columns = table.X.shape
    return f"{_printable_name(source)}: {count(n_samples, 'sample')}, {count(n_columns, column)}"


def _write_headline(source: str, table: ColumnTable, numbers: bool, column: str) -> str:
    """Name the data, their size and, where they have labels, the classes or the range."""
    import numpy as np

    from skeval.utils._text import count, name_label

    size = describe_data(source, table, column)
    if table.groups is not None:
        size += f", {count(len(set(table.groups)), 'group')}"
    if table.y is None:
        return f"{size}, no labels"
    classes, sizes = np.unique(table.y, return_counts=True)
    if numbers:
        return f"{size}, numbers to predict from {classes[0]:.4g} to {classes[-1]:.4g}"
    names = [name_label(name) for name in classes]
    counts = ", ".join(f"{name}: {of_class}" for name, of_class in zip(names, sizes, strict=True))
    return f"{size}, {count(len(classes), 'class')} ({counts})"


def collect_notes(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
    """Call a function; return what it returns, and its warnings as one line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        result = function(*args, **kwargs)
    return result, sorted({f"note: {' '.join(str(item.message).split())}" for item in caught})


FEW = 4


def make_preparation(table: ColumnTable, *, scale: bool) -> list[Any]:
    """Return the transformers that a table needs: medians for what is missing, columns for texts.

    They are steps of the pipeline that is evaluated, so that each fold learns them by itself.
    """
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    imputers = [SimpleImputer(strategy="median", keep_empty_features=True)]
    numeric = [*(imputers if table.missing else []), *([StandardScaler()] if scale else [])]
    if not table.texts:
        return numeric
    numbers = [column for column in range(table.X.shape[1]) if column not in table.texts]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [(encoder, table.texts)]
    if numbers:
        parts.insert(0, (make_pipeline(*numeric) if numeric else "passthrough", numbers))
    return [make_column_transformer(*parts, verbose_feature_names_out=False)]


def describe_preparation(table: ColumnTable) -> str:
    """Say what is done to missing values and texts, "" where there are neither."""
    said = []
    if table.missing:
        said.append(f"medians for missing numbers ({_list_names(table, table.missing)})")
    if table.texts:
        said.append(f"a column for each text ({_list_names(table, table.texts)})")
    return f", {' and '.join(said)} within every fold" if said else ""


def _list_names(table: ColumnTable, columns: Sequence[int]) -> str:
    """Return the names of a few columns."""
    names = ", ".join(table.feature_names[column] for column in columns[:FEW])
    return names + (f" and {len(columns) - FEW} more" if len(columns) > FEW else "")


def count_columns(table: ColumnTable) -> int:
    """Return how many columns reach the estimator: a text column makes one for each text."""
    n_texts = sum(len(set(table.X[:, column])) for column in table.texts)
    return table.X.shape[1] - len(table.texts) + n_texts
