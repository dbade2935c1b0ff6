"""What a file, or a bundled set, holds: named columns of texts or numbers, before any is judged.

Text files are read by Python's `csv` module, which knows the line of every value; Parquet,
Feather and Excel files by pandas; NPZ files by NumPy, without executing anything in them.
"""

from __future__ import annotations

import csv
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from zipfile import BadZipFile, ZipFile

import numpy as np
import sklearn.datasets

from skeval.datasets._values import looks_like_value
from skeval.utils._checks import check_same_length
from skeval.utils._sources import BUNDLED, check_source

__all__ = ["DEFAULT_TARGET", "Columns", "read_file"]

DEFAULT_TARGET = "target"
SEPARATORS = ",;\t"
TEXT_FILES = (".csv", ".tsv", ".txt")
STORED_FILES = {
    ".parquet": "read_parquet",
    ".pq": "read_parquet",
    ".feather": "read_feather",
    ".xlsx": "read_excel",
    ".xls": "read_excel",
}
"""What pandas reads, and by which of its functions."""


class Columns(NamedTuple):
    """The columns of a source by name.

    Attributes
    ----------
    source : str
        The name of the file, with which messages begin.
    names : list of str
    values : list of sequences of length n_rows
        Arrays of numbers or truth values as they were stored, or lists of texts; a text is empty
        where there is no value.
    target : str
        The column of labels, where the caller names none.
    lines : list of int, or None
        The line on which each row of a text file starts.
    decimal_comma : bool
        Whether a comma may stand in a number, since it separates nothing.
    notes : list of str
        What was left out, and why.
    """

    source: str
    names: list[str]
    values: list[Any]
    target: str = DEFAULT_TARGET
    lines: list[int] | None = None
    decimal_comma: bool = False
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.values[0]) if self.values else 0

    def name_record(self, row: int) -> str:
        """Return the place of a row in the file."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"


def read_file(
    source: str | PathLike, target: str | None, needs_target: bool, header: bool | None
) -> Columns:
    """Return the columns of a bundled set or a file; raise where it cannot be read as a table."""
    path = Path(source)
    ending = path.suffix.lower()
    bundled = str(source) in BUNDLED
    if header is not None and (bundled or ending not in TEXT_FILES):
        raise ValueError(f"header={header} is for a CSV file, got {str(source)!r}.")
    check_source(source)
    if bundled:
        _refuse_target(target, f"the bundled set {source} has its own labels")
        data = getattr(sklearn.datasets, f"load_{source}")()
        names = [*map(str, data.feature_names), DEFAULT_TARGET]
        return Columns(str(source), names, [*data.data.T, data.target])
    if ending in TEXT_FILES:
        return _read_text(path, target, header)
    if ending == ".npz":
        _refuse_target(target, f"the labels of {path.name} are its array y")
        return _read_arrays(path, needs_target)
    if ending in STORED_FILES:
        return _read_stored(path, STORED_FILES[ending], target)
    raise ValueError(
        f"{path.name} must end in .csv, .tsv, .npz, .parquet, .feather or .xlsx to be read."
    )


def _refuse_target(target: str | None, reason: str) -> None:
    """Raise when a target column is asked of a source that has none."""
    if target is not None:
        raise ValueError(f"target={target!r} names a column, but {reason}.")


def _read_text(path: Path, target: str | None, header: bool | None) -> Columns:
    """Return the columns of a text file; a blank line is no row."""
    named = DEFAULT_TARGET if target is None else target
    with path.open("rb") as start:
        wide = start.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE)
    with path.open(encoding="utf-16" if wide else "utf-8-sig", newline="") as file:
        delimiter = _find_separator(file, named, path.name)
        records = list(_read_records(file, delimiter, path.name))
    if not records:
        raise ValueError(f"{path.name} is empty.")
    line, names = records[0]
    if header is None:
        _check_header(names, target, f"{path.name}: line {line}")
    if header is False:
        names = [f"x{column}" for column in range(len(names))]
    else:
        records = records[1:]
    for line, fields in records:
        if len(fields) != len(names):
            raise ValueError(
                f"{path.name}: line {line} has {len(fields)} fields, the header has {len(names)}."
            )
    values: list[Any] = [list(column) for column in zip(*(row for _, row in records), strict=True)]
    lines = [line for line, _ in records]
    return Columns(path.name, names, values or [[] for _ in names], named, lines, delimiter != ",")


def _read_records(file: TextIO, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record starts, and its fields."""
    file.seek(0)
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    line = 1
    try:
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{source}: line {line} is not CSV: {error}.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{source}: {_explain_undecodable(Path(file.name))}.") from error


def _explain_undecodable(path: Path) -> str:
    """Say which line of a file is not UTF-8, or that one which begins as UTF-16 is not that."""
    if path.read_bytes()[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
        return "the file begins as UTF-16 text and holds something else; save it as UTF-8"
    for line, content in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            byte = content[error.start]
            return f"line {line} must be UTF-8 text, it has the byte 0x{byte:02x}; save it as UTF-8"
    raise AssertionError


def _find_separator(file: TextIO, target: str, source: str) -> str:
    """Return what separates the fields of a file.

    That is what finds the target in the first record, splits the first two records into equally
    many fields, and into the most: names and labels may have other separators within.
    """

    def rank(delimiter: str) -> tuple[bool, bool, int]:
        try:
            names, *others = [
                fields for _, fields in islice(_read_records(file, delimiter, source), 2)
            ]
        except ValueError:  # the file is empty, or this separator does not split it
            return False, False, 0
        alike = len(names) > 1 and all(len(fields) == len(names) for fields in others)
        return target in names, alike, len(names)

    return max(SEPARATORS, key=rank)


def _check_header(names: Sequence[str], target: str | None, record: str) -> None:
    """Raise when the first line of a file could be its first sample."""
    named = DEFAULT_TARGET if target is None else target
    values = [name for name in names if looks_like_value(name)]
    if values and (named not in names or looks_like_value(named)):
        raise ValueError(
            f"{record} may be data rather than a header, since it has {values[0]!r}; say which: "
            "header=True or header=False (--header or --no-header)."
        )


def _read_arrays(path: Path, needs_target: bool) -> Columns:
    """Return the arrays `X`, by columns, and `y` of an NPZ file; nothing in it is executed."""
    try:
        with ZipFile(path), np.load(path, allow_pickle=False) as arrays:
            if not {"X", *(["y"] if needs_target else [])} <= set(arrays.files):
                needed = "arrays X and y" if needs_target else "array X"
                raise ValueError(f"it must hold the {needed}, it holds {arrays.files}")
            X, y = arrays["X"], arrays["y"] if "y" in arrays.files else None
    except (OSError, EOFError, BadZipFile, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}.") from error
    for array in (X, y):
        if not isinstance(array, np.ndarray | None):
            raise ValueError(f"{path.name} must hold arrays, got {type(array).__name__}.")
    if X.ndim != 2 or X.dtype.kind not in "fiub" or not X.shape[1]:
        raise ValueError(
            f"{path.name}: X must be a matrix of numbers, got {X.dtype} of shape {X.shape}."
        )
    names = [f"x{column}" for column in range(X.shape[1])]
    if y is None:
        return Columns(path.name, names, list(X.T), "y")
    if y.ndim != 1 or y.dtype.kind not in "biufUS":
        raise ValueError(
            f"{path.name}: y must be a vector of labels, got {y.dtype} of shape {y.shape}."
        )
    check_same_length(X=X, y=y)
    if y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8")
    labels = y.tolist() if y.dtype.kind == "U" else y
    return Columns(path.name, [*names, "y"], [*X.T, labels], "y")


def _read_stored(path: Path, reader: str, target: str | None) -> Columns:
    """Return the columns of a file that pandas reads, without what it calls the index."""
    try:
        import pandas
    except ImportError as error:
        raise ValueError(
            f'{path.name} needs pandas: pip install "skeval[table]", or save it as CSV.'
        ) from error
    try:
        frame = getattr(pandas, reader)(path)
    except ImportError as error:
        raise ValueError(
            f'{path.name} needs more than pandas: pip install "skeval[table]", or save it as CSV.'
        ) from error
    except Exception as error:  # readers raise many kinds of errors for files of other formats
        kind = reader.removeprefix("read_").capitalize()
        raise ValueError(f"{path.name} is not a {kind} file: {error}.") from error
    index = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(drop=not index)
    dropped = [str(name) for name in index if name != target]
    frame = frame.drop(columns=[name for name in index if name != target])
    notes = [f"{path.name}: {name!r}, an index of pandas, is left out." for name in dropped]
    names = [str(name) for name in frame.columns]
    values = [
        _read_column(frame.iloc[:, position], name, path.name)
        for position, name in enumerate(names)
    ]
    named = DEFAULT_TARGET if target is None else target
    return Columns(path.name, names, values, named, notes=tuple(notes))


def _read_column(column: Any, name: str, source: str) -> Any:
    """Return a column of a data frame as numbers or truth values, or as texts."""
    if str(column.dtype) == "category":
        column = column.astype(column.cat.categories.dtype)
    missing = column.isna().to_numpy()
    if getattr(column.dtype, "kind", "O") in "biuf":
        exact = getattr(column.dtype, "numpy_dtype", None)
        return column.to_numpy(float, na_value=np.nan) if missing.any() else column.to_numpy(exact)
    values = column.tolist()
    if any(isinstance(value, list | dict | tuple | set | np.ndarray) for value in values):
        raise ValueError(
            f"{source}: column {name!r} must hold numbers or texts, it holds {column.dtype}."
        )
    return ["" if gone else str(value) for value, gone in zip(values, missing, strict=True)]
