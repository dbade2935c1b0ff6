"""Readers of files and bundled data sets: named columns of texts or numbers.

Text files are read by Python's `csv` module, which reports the line of each record; Parquet,
Feather and Excel files by pandas; NPZ files by NumPy, without executing their contents. The second
half of the module parses numbers, dates and missing values.
"""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, lookup
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
"""File types read by pandas, with its functions."""
UTF_8, WINDOWS = "utf-8-sig", "cp1252"
MAX_TITLES = 20
"""Number of first records searched for the column names."""
LARGEST_EXACT = 2**53  # up to here different whole numbers are different floats
UNNAMED = re.compile(r"\s*|Unnamed: \d+(\.\d+)*")  # pandas names empty columns "Unnamed: 0"
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
DATE = re.compile(
    r"(?:(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))"
    r"(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?(\.\d{1,9})?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
BOOLEANS = {"true", "false"}
ABBREVIATED = ("yes", "no", "true", "false", "positive", "negative", "male", "female")
MISSING = {"na", "n/a", "nan", "none", "null", "<na>", "?"}  # words for a missing value
DASHES = {"-", "--", "\u2013", "\u2014"}  # also missing values in a column of numbers


class Columns(NamedTuple):
    """Named columns of a source.

    Attributes
    ----------
    source : str
        Name of the file, with which messages begin.
    names : list of str
    values : list of sequences of length n_rows
        Arrays of numbers or truth values as they were stored, or lists of texts; a text is empty
        if there is no value.
    target : str
        Default name of the column of labels.
    lines : list of int, or None
        The line on which each row of a text file starts.
    decimal_comma : bool
        Whether numbers may have a decimal comma, because commas do not separate fields.
    notes : list of str
        Omitted parts, with the reasons.
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
        """Number of rows."""
        return len(self.values[0]) if self.values else 0

    def name_record(self, row: int) -> str:
        """Return the position of a row in the file."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"


def read_file(
    source: str | PathLike,
    target: str | None,
    needs_target: bool,
    header: bool | None,
    only: Sequence[str] | None = None,
    encoding: str | None = None,
) -> Columns:
    """Return the columns of a bundled data set or a file; raise if it is not a table.

    If a file is stored by columns, only those named in `only` are read.
    """
    path = Path(source)
    ending = path.suffix.lower()
    bundled = str(source) in BUNDLED
    if header is not None and (bundled or ending not in TEXT_FILES):
        raise ValueError(f"header={header} is for a CSV file, got {str(source)!r}.")
    if encoding is not None:
        _check_encoding(encoding, ending, source)
    check_source(source)
    if bundled:
        _refuse_target(target, f"the bundled set {source} has its own labels")
        data = getattr(sklearn.datasets, f"load_{source}")()
        names = [*map(str, data.feature_names), DEFAULT_TARGET]
        return Columns(str(source), names, [*data.data.T, data.target])
    if ending in TEXT_FILES:
        return _read_text(path, target, header, encoding)
    if ending == ".npz":
        _refuse_target(target, f"the labels of {path.name} are its array y")
        return _read_arrays(path, needs_target)
    if ending in STORED_FILES:
        return _read_stored(path, STORED_FILES[ending], target, only)
    raise ValueError(
        f"{path.name} must end in .csv, .tsv, .npz, .parquet, .feather or .xlsx to be read."
    )


def _refuse_target(target: str | None, reason: str) -> None:
    """Raise if a target column is requested from a source without named columns."""
    if target is not None:
        raise ValueError(f"target={target!r} names a column, but {reason}.")


def _check_encoding(encoding: str, ending: str, source: str | PathLike) -> None:
    """Raise if an encoding is unknown, or the file is not a text file."""
    if ending not in TEXT_FILES:
        raise ValueError(f"encoding={encoding!r} is for a CSV file, got {str(source)!r}.")
    try:
        lookup(encoding)
    except LookupError as error:
        raise ValueError(
            f"encoding must be one that Python knows, such as cp1252, got {encoding!r}."
        ) from error


def _read_text(
    path: Path, target: str | None, header: bool | None, encoding: str | None
) -> Columns:
    """Return the columns of a text file; blank lines are skipped.

    A file that is not UTF-8 is read in the Windows encoding of Western Europe and America.
    """
    named = DEFAULT_TARGET if target is None else target
    notes = []
    first = encoding or _guess_encoding(path)
    choices = [first, WINDOWS] if first == UTF_8 and encoding is None else [first]
    for choice in choices:
        try:
            with path.open(encoding=choice, newline="") as file:
                delimiter = _find_separator(file, named, path.name)
                records = list(_read_records(file, delimiter, path.name))
            break
        except UnicodeDecodeError as error:
            if choice == choices[-1]:
                raise ValueError(f"{path.name}: {_explain_undecodable(path, choice)}.") from error
    if choice != first:
        notes.append(_note_encoding(path.name, records))
    if not records:
        raise ValueError(f"{path.name} is empty.")
    if header is not False:
        n_titles = _find_header([fields for _, fields in records[:MAX_TITLES]], named)
        records = records[n_titles:]
        if n_titles:
            notes.append(_note_titles(path.name, f"line {records[0][0]}"))
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
    columns = values or [[] for _ in names]
    return Columns(path.name, names, columns, named, lines, delimiter != ",", tuple(notes))


def _guess_encoding(path: Path) -> str:
    """Return UTF-16 if a file has its byte-order mark, else UTF-8."""
    with path.open("rb") as start:
        return "utf-16" if start.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE) else UTF_8


def _note_encoding(source: str, records: Sequence[tuple[int, list[str]]]) -> str:
    """Return a note that a file is not UTF-8, with its first decoded non-ASCII text."""
    line, text = next(
        (line, field) for line, fields in records for field in fields if not field.isascii()
    )
    return (
        f"{source} is not UTF-8 and is read as {WINDOWS}, so line {line} has {text!r}; --encoding "
        "(encoding=) names another one."
    )


def _note_titles(source: str, header: str) -> str:
    return f"{source}: the column names are in {header}; everything above is ignored."


def _find_header(rows: Sequence[Sequence[str]], target: str) -> int:
    """Return the position of the first row that is not a title (a single cell) or a comment."""
    for place, row in enumerate(rows[:-1]):
        n_filled = sum(bool(cell.strip()) for cell in row)
        is_title = n_filled <= 1 and len(row) != 2
        is_comment = bool(row) and row[0].startswith("#") and len(row) != len(rows[place + 1])
        if target in row or not (is_title or is_comment):
            return place
    return 0


def _read_records(file: TextIO, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line number and the fields of each record."""
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


def _explain_undecodable(path: Path, encoding: str) -> str:
    """Return an error message with the first line that is not in the encoding."""
    remedy = "name the encoding (--encoding, encoding=) or save it as UTF-8"
    if encoding.startswith("utf-16"):
        return f"the file begins as UTF-16 text and holds something else; {remedy}"
    for line, content in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            content.decode(encoding)
        except UnicodeDecodeError as error:
            byte = content[error.start]
            return f"line {line} must be {encoding} text, it has the byte 0x{byte:02x}; {remedy}"
    return f"the file is not {encoding} text; {remedy}"


def _find_separator(file: TextIO, target: str, source: str) -> str:
    """Return the field separator of a file.

    A separator is preferred if, in this order, the first record contains the target, the first two
    records have equal numbers of fields, and this number is large. Names and labels may contain
    other separators.
    """

    def rank(delimiter: str) -> tuple[bool, bool, int]:
        try:
            start = islice(_read_records(file, delimiter, source), MAX_TITLES)
            rows = [fields for _, fields in start]
            names, *others = rows[_find_header(rows, target) :][:2]
        except ValueError:  # the file is empty or invalid with this separator
            return False, False, 0
        alike = len(names) > 1 and all(len(fields) == len(names) for fields in others)
        return target in names, alike, len(names)

    return max(SEPARATORS, key=rank)


def _check_header(names: Sequence[str], target: str | None, record: str) -> None:
    """Raise if the first line of a file could be its first sample."""
    named = DEFAULT_TARGET if target is None else target
    values = [name for name in names if looks_like_value(name)]
    if values and (named not in names or looks_like_value(named)):
        raise ValueError(
            f"{record} may be data rather than a header, since it has {values[0]!r}; say which: "
            "header=True or header=False (--header or --no-header)."
        )


def _read_arrays(path: Path, needs_target: bool) -> Columns:
    """Return the columns of `X`, and `y`, of an NPZ file without executing its contents."""
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
    """Return the columns of a file read by pandas, without its index."""
    try:
        import pandas
    except ImportError as error:
        raise ValueError(
            f'{path.name} needs pandas: pip install "skeval[table]", or save it as CSV.'
        ) from error
    chosen: dict[str, Any] = {}
    n_titles, wanted = 0, DEFAULT_TARGET if target is None else target
    if only is not None and reader != "read_excel":
        chosen["columns"] = list(only)
    try:
        frame = getattr(pandas, reader)(path, **chosen)
        if reader == "read_excel":
            start = pandas.read_excel(path, header=None, nrows=MAX_TITLES, dtype=str)
            n_titles = _find_header(start.fillna("").to_numpy().tolist(), wanted)
            frame = pandas.read_excel(path, skiprows=n_titles) if n_titles else frame
    except ImportError as error:
        raise ValueError(
            f'{path.name} needs more than pandas: pip install "skeval[table]", or save it as CSV.'
        ) from error
    except Exception as error:  # readers raise many kinds of errors for files of other formats
        if chosen:  # if a column is missing, the caller's message lists all columns
            return _read_stored(path, reader, target, None)
        kind = reader.removeprefix("read_").capitalize()
        raise ValueError(f"{path.name} is not a {kind} file: {error}.") from error
    index = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(drop=not index)
    dropped = [str(name) for name in index if name != target]
    frame = frame.drop(columns=[name for name in index if name != target])
    notes = [_note_titles(path.name, f"row {n_titles + 1}")] if n_titles else []
    notes += [f"{path.name}: {name!r}, an index of pandas, is left out." for name in dropped]
    names = [str(name) for name in frame.columns]
    values = [
        _read_column(frame.iloc[:, position], name, path.name)
        for position, name in enumerate(names)
    ]
    return Columns(path.name, names, values, wanted, notes=tuple(notes))


def _read_column(column: Any, name: str, source: str) -> Any:
    """Return a column of a data frame as numbers, Booleans or texts."""
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
    """Return the number in a text, nan if there is none.

    Unlike in Python, "1_000" and digits of other scripts are not numbers.
    """
    try:
        return float(text) if text.isascii() and "_" not in text else np.nan
    except ValueError:
        return np.nan


def parse_numbers(texts: Sequence[str]) -> np.ndarray:
    """Return texts as numbers, nan for other texts."""
    plain = parse_plain_numbers(texts)
    return np.fromiter(map(parse_number, texts), float, len(texts)) if plain is None else plain


def parse_plain_numbers(texts: Sequence[str]) -> np.ndarray | None:
    """Return texts as numbers, or None if one of them is not a number."""
    joined = "".join(texts)
    if joined.isascii() and "_" not in joined:
        with suppress(ValueError):
            return np.fromiter(map(float, texts), float, len(texts))
    return None


def find_missing(values: Any, *, words: bool) -> np.ndarray:
    """Return which values of a column are missing; optionally, also words such as "NA"."""
    if isinstance(values, np.ndarray):
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    absent = {text for text in set(values) if (marks_missing(text) if words else not text.strip())}
    return np.array([text in absent for text in values], dtype=bool)


def marks_missing(text: str) -> bool:
    """Return whether a text is a missing number: empty, a dash, or a word such as "NA"."""
    word = text.strip().lower()
    return not word or word in MISSING or word in DASHES


def name_spellings(texts: Iterable[str]) -> dict[str, str]:
    """Map texts that differ only in case or spaces to their most frequent spelling.

    The spelling is returned without surrounding blanks. An abbreviation such as "y" is mapped to
    the full word "yes" if both occur and it does not abbreviate another word as well.
    """
    counts = Counter(texts)
    folded = {text: " ".join(text.split()).casefold() for text in counts}
    full = [word for word in ABBREVIATED if word in folded.values()]
    short = Counter(part for word in full for part in {word[0], word[:3]} - {word})
    longer = {part: word for word in full for part in {word[0], word[:3]} if short[part] == 1}
    alike: dict[str, list[str]] = {}
    for text, _ in counts.most_common():
        alike.setdefault(longer.get(folded[text], folded[text]), []).append(text)
    several = [group for group in alike.values() if len(group) > 1]
    names = [next((one for one in group if folded[one] in full), group[0]) for group in several]
    return {
        text: name.strip() for group, name in zip(several, names, strict=True) for text in group
    }


def looks_like_value(text: str) -> bool:
    """Return whether a column name could be a value instead."""
    word = text.strip().lower()
    return word in BOOLEANS | MISSING or not np.isnan(parse_number(word.replace(",", ".", 1)))


def is_unnamed(name: str) -> bool:
    """Return whether a column has no name."""
    return UNNAMED.fullmatch(name) is not None


def read_times(column: Any) -> list[np.ndarray]:
    """Return the possible readings of a column of dates or times, in seconds; nan if missing.

    Ambiguous dates such as 3/4/2024 have two readings, first with the day first, then with the
    month first; other dates have one, and columns with other texts have none.
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
        missing = marks_missing(text) or text.lower() == "nat"
        match = None if missing else DATE.fullmatch(text)
        if match is None and not missing:
            return []
        fields.append(match)
    readings = []
    for day_first in (True, False):
        with suppress(ValueError):  # no month has the number 13
            times = [_count_seconds(match, day_first) for match in fields]
            readings.append(np.array(times)[place])
    same = len(readings) == 2 and np.array_equal(readings[0], readings[1], equal_nan=True)
    return [] if not any(fields) else readings[:1] if same else readings


def _count_seconds(match: re.Match[str] | None, day_first: bool) -> float:
    """Return the seconds since 1970 of a date; nan if it is not a date."""
    if match is None:
        return np.nan
    year, month, day, first, second, last, hour, minute, seconds, fraction, zone = match.groups()
    if year is None:
        year, month, day = (last, second, first) if day_first else (last, first, second)
    text = f"{year}-{month:0>2}-{day or '1':0>2}T{hour or '0':0>2}:{minute or '00'}"
    zone = "+00:00" if zone in (None, "Z", "UTC") else zone
    moment = datetime.fromisoformat(f"{text}:{seconds or '00'}{zone}")
    return moment.timestamp() + float(fraction or 0)
