"""What a file, or a bundled set, holds: named columns of texts or numbers, before any is judged.

Text files are read by Python's `csv` module, which knows the line of every value; Parquet,
Feather and Excel files by pandas; NPZ files by NumPy, without executing anything in them. Behind
the readers stands how all of them write numbers, dates and what is missing.
"""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from zipfile import BadZipFile, ZipFile

import numpy as np
import sklearn.datasets

from skeval.utils._checks import check_same_length
from skeval.utils._sources import BUNDLED, check_source

__all__ = [
    "BOOLEANS",
    "DASHES",
    "DECIMAL_COMMA",
    "DEFAULT_TARGET",
    "LARGEST_EXACT",
    "MISSING",
    "Columns",
    "find_missing",
    "has_decimal_commas",
    "is_unnamed",
    "name_spellings",
    "parse_number",
    "parse_numbers",
    "parse_plain_numbers",
    "read_file",
    "read_times",
]

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
LARGEST_EXACT = 2**53  # up to here different whole numbers are different floats
UNNAMED = re.compile(r"\s*|Unnamed: \d+(\.\d+)*")  # pandas names empty columns "Unnamed: 0"
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
DATE = re.compile(
    r"(?:(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))"
    r"(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?(\.\d{1,9})?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
BOOLEANS = {"true", "false"}
MISSING = {"na", "n/a", "nan", "none", "null", "<na>", "?"}  # other ways to write a missing value
DASHES = {"-", "--", "\u2013", "\u2014"}  # in a column of numbers a missing value, too


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
    source: str | PathLike,
    target: str | None,
    needs_target: bool,
    header: bool | None,
    only: Sequence[str] | None = None,
) -> Columns:
    """Return the columns of a bundled set or a file; raise where it cannot be read as a table.

    `only` some of them are taken from a file that is stored by columns.
    """
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
        return _read_stored(path, STORED_FILES[ending], target, only)
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


def _read_stored(
    path: Path, reader: str, target: str | None, only: Sequence[str] | None
) -> Columns:
    """Return the columns of a file that pandas reads, without what it calls the index."""
    try:
        import pandas
    except ImportError as error:
        raise ValueError(
            f'{path.name} needs pandas: pip install "skeval[table]", or save it as CSV.'
        ) from error
    chosen: dict[str, Any] = {}
    if only is not None and reader != "read_excel":
        chosen["columns"] = list(only)
    try:
        frame = getattr(pandas, reader)(path, **chosen)
    except ImportError as error:
        raise ValueError(
            f'{path.name} needs more than pandas: pip install "skeval[table]", or save it as CSV.'
        ) from error
    except Exception as error:  # readers raise many kinds of errors for files of other formats
        if chosen:  # one of them may not be there, which is said where all are known
            return _read_stored(path, reader, target, None)
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


def parse_number(text: str) -> float:
    """Return the number that a text holds, nan where it holds none.

    Python reads "1_000" and the digits of any script as numbers; in a table they are text.
    """
    try:
        return float(text) if text.isascii() and "_" not in text else np.nan
    except ValueError:
        return np.nan


def parse_numbers(texts: Sequence[str]) -> np.ndarray:
    """Return texts as numbers, with nan for every text that is none."""
    plain = parse_plain_numbers(texts)
    return np.fromiter(map(parse_number, texts), float, len(texts)) if plain is None else plain


def parse_plain_numbers(texts: Sequence[str]) -> np.ndarray | None:
    """Return texts as numbers, None where one of them is none."""
    joined = "".join(texts)
    if joined.isascii() and "_" not in joined:
        with suppress(ValueError):
            return np.fromiter(map(float, texts), float, len(texts))
    return None


def has_decimal_commas(texts: Collection[str]) -> bool:
    """Whether the commas in a column stand before decimals, and not between thousands."""
    commas = [text.strip() for text in texts if "," in text]
    if not all(map(DECIMAL_COMMA.fullmatch, commas)):
        return False
    return any(len(text.partition(",")[2]) != 3 for text in commas)


def find_missing(values: Any, *, words: bool) -> np.ndarray:
    """Return which values of a column are missing; words that say so count as well, if asked."""
    if isinstance(values, np.ndarray):
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    known = {"", *(MISSING | DASHES if words else ())}
    absent = {text for text in set(values) if text.strip().lower() in known}
    return np.array([text in absent for text in values], dtype=bool)


def name_spellings(texts: Iterable[str]) -> dict[str, str]:
    """Return texts that differ from others by case or spaces alone, and the most frequent of them.

    That has no blanks around it.
    """
    alike: dict[str, list[str]] = {}
    for text, _ in Counter(texts).most_common():
        alike.setdefault(" ".join(text.split()).casefold(), []).append(text)
    several = [found for found in alike.values() if len(found) > 1]
    return {text: found[0].strip() for found in several for text in found}


def looks_like_value(text: str) -> bool:
    """Whether a text in the place of a column's name could be a value instead."""
    word = text.strip().lower()
    return word in BOOLEANS | MISSING or not np.isnan(parse_number(word.replace(",", ".", 1)))


def is_unnamed(name: str) -> bool:
    """Whether a column has no name of its own."""
    return UNNAMED.fullmatch(name) is not None


def read_times(column: Any) -> list[np.ndarray]:
    """Return a column of dates, with or without hours, as seconds; nan where one is missing.

    There are two readings of dates such as 3/4/2024 throughout, the day first in the first of
    them, one of others, and none of a column that holds anything else.
    """
    values = np.asarray(column)
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
        return [np.where(np.isnat(values), np.nan, seconds)]
    if values.dtype.kind not in "OUST":
        return []
    distinct, place = np.unique(values.astype(str), return_inverse=True)
    fields: list[re.Match[str] | None] = []
    for text in map(str.strip, distinct.tolist()):
        missing = not text or text.lower() in MISSING | DASHES | {"nat"}
        match = None if missing else DATE.fullmatch(text)
        if match is None and not missing:
            return []
        fields.append(match)
    readings = []
    for day_first in (True, False):
        with suppress(ValueError):  # no month has the number 13
            readings.append(np.array([_count_seconds(each, day_first) for each in fields])[place])
    same = len(readings) == 2 and np.array_equal(readings[0], readings[1], equal_nan=True)
    return [] if not any(fields) else readings[:1] if same else readings


def _count_seconds(match: re.Match[str] | None, day_first: bool) -> float:
    """Return the seconds since 1970 of a date, nan of none."""
    if match is None:
        return np.nan
    year, month, day, first, second, last, hour, minute, seconds, fraction, zone = match.groups()
    if year is None:
        year, month, day = (last, second, first) if day_first else (last, first, second)
    text = f"{year}-{month:0>2}-{day or '1':0>2}T{hour or '0':0>2}:{minute or '00'}"
    zone = "+00:00" if zone in (None, "Z", "UTC") else zone
    moment = datetime.fromisoformat(f"{text}:{seconds or '00'}{zone}")
    return moment.timestamp() + float(fraction or 0)
