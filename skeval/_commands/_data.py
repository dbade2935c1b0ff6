"""Tables of the command line: readers of files, and the role of each column.

Files are read by pandas; bundled data sets and NPZ files do not need it. Columns are arrays of
numbers, or of texts, which are empty if a value is missing.
"""

from __future__ import annotations

import argparse
import csv
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np
import sklearn.datasets

from skeval._commands import BUNDLED
from skeval.utils._text import read_times

TEXT_FILES, EXCEL_FILES = (".csv", ".tsv", ".txt"), (".xlsx", ".xls")
PACKAGES = {
    ".parquet": "pyarrow",
    ".pq": "pyarrow",
    ".feather": "pyarrow",
    ".xlsx": "openpyxl",
    ".xls": "xlrd",
}
"""Packages beside pandas that read a type of file."""
EXCEL_OPTIONS = ("decimal", "thousands", "na", "skiprows")
TEXT_OPTIONS = (*EXCEL_OPTIONS, "sep", "encoding", "header")
SEPARATORS = ",;\t|"
MAX_LISTED, MAX_ROWS_LISTED = 8, 5
MAX_TEXTS = 20
"""Maximum number of distinct strings in a text feature, or half of the rows if that is more."""
UNNAMED = re.compile(r"Unnamed: \d{1,9}")
"""Name that pandas gives to a column without one."""
MAX_EXACT = 2**53
"""Up to here different whole numbers are different floats."""
WRITTEN_NUMBER = re.compile(
    r"(?:[<>≤≥~]=?)?\s?(?P<before>[$€£¥₹]|[A-Z]{3}(?=[\s\d]))?\s?[+\-\u2212]?"
    r"\d{1,15}(?:[.,'’\s]\d{3}){0,6}(?:[.,]\d{1,15})?"
    r"\s?(?P<after>[^\d\s.,][^\d\s]{0,11})?"
)
"""A number with a limit, a sign of a currency, separators of thousands, or a unit."""
MAX_WRITTEN, MIN_NUMBERS, N_SHOWN = 60, 3, 3
"""Maximum length of such a text; minimum number of distinct numbers in a nearly numeric column;
values shown."""
NA = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NULL", "null", "None"]
"""Texts of missing values in CSV and Excel files."""
SENTINELS = (-9, -99, -999, -9999, 999, 9999)
MIN_ROWS = 5
"""Minimum number of rows to look for totals in the last one."""
TOTALS = {"total", "totals", "grand total", "sum", "subtotal", "mean", "average"}


class Table(NamedTuple):
    """Features, labels and groups of the rows of a table.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Floats, or objects if `texts` is not empty; missing numbers are nan.
    y : ndarray of shape (n_samples,), or None
        Labels; None if a file has no labels.
    feature_names : list of str
    texts, missing : list of int
        Columns of X that contain text, and numeric columns with missing values.
    groups : ndarray of shape (n_samples,), or None
    notes : list of str
        The role of each column, and notes on columns and rows.
    left_out : dict of str to ndarray of shape (n_samples,)
        Columns that are not features, as numbers or texts.
    """

    X: np.ndarray
    y: Any
    feature_names: list[str]
    texts: list[int]
    missing: list[int]
    groups: np.ndarray | None
    notes: list[str]
    left_out: dict[str, np.ndarray]


def read_table(
    options: argparse.Namespace, *, needs_target: bool, only: Mapping[str, str] | None = None
) -> Table:
    """Return the table that the options name; raise if the role of a column is in doubt.

    If there are existing predictions, `only` has their columns and those of their labels, with
    the options that name them; other columns are not features.
    """
    # the columns with a role of their own
    source, bundled = Path(options.data).name, options.data in BUNDLED
    roles_of = ((role, getattr(options, role, None)) for role in ("groups", "time", "id"))
    special: dict[str, str] = {role: name for role, name in roles_of if name is not None}
    excluded = {*options.drop, *({options.id} - {None})}
    columns, target, notes = _read_named(options, special, only, needs_target=needs_target)
    n_rows = len(next(iter(columns.values())))
    if n_rows < 2:
        raise ValueError(f"{source} must contain at least two rows of data, got {n_rows}.")
    notes += [] if bundled else _note_values(columns, excluded)
    # rows and labels of the target
    y = None
    if target is not None:
        if target in excluded:
            raise ValueError(f"the target {target!r} must not be dropped.")
        _check_numbers(target, columns[target], options, is_target=True)
        if options.drop_missing_target:
            columns = _drop_unlabeled(columns, target, notes)
        y = _read_labels(source, target, columns[target], notes)
    # the features, and the reasons for columns that are none
    used = {*special.values(), *excluded, target}
    others = {name: column for name, column in columns.items() if name not in used}
    features, reasons = _read_features(source, others, options, notes)
    if not features:
        raise ValueError(f"{source} has no feature left. {' '.join(notes)}".rstrip())
    if not bundled:
        roles = {} if target is None else {"target": [target]}
        roles |= {role: [name] for role, name in special.items()}
        notes.insert(0, _list_roles(roles, features, [*options.drop, *reasons], only))
    groups = None
    if "groups" in special:
        groups = _read_groups(source, special["groups"], columns[special["groups"]])
    # one array, of objects if there are texts
    X, names = np.column_stack(list(features.values())), list(features)
    texts = [k for k, name in enumerate(names) if features[name].dtype == object]
    numbers = [k for k in range(len(names)) if k not in texts]
    missing = [k for k in numbers if np.isnan(features[names[k]]).any()]
    # the rows in the order of the file, or of time
    rows: Any = slice(None)
    if "time" in special:
        rows = _find_order(source, special["time"], columns[special["time"]])
    return Table(
        X=X[rows],
        y=None if y is None else y[rows],
        feature_names=names,
        texts=texts,
        missing=missing,
        groups=None if groups is None else groups[rows],
        notes=notes,
        left_out={name: columns[name][rows] for name in columns if name in {*excluded, *reasons}},
    )


def _read_named(
    options: argparse.Namespace,
    special: Mapping[str, str],
    only: Mapping[str, str] | None,
    *,
    needs_target: bool,
) -> tuple[dict[str, np.ndarray], str | None, list[str]]:
    """Return the columns, the name of the target if there is one, and notes.

    The names of all options are checked at once.
    """
    source = Path(options.data).name
    target = "y" if source.lower().endswith(".npz") else "target"
    target = target if options.target is None else options.target
    named = dict.fromkeys(options.drop, "--drop") | dict.fromkeys(options.text, "--text")
    named |= {name: f"--{role}" for role, name in special.items()} | dict(only or {})
    as_text = [special[role] for role in ("groups", "id") if role in special]
    columns = read_columns(options, None if only is None else [*{target: 0, **named}], as_text)
    has_target = needs_target or options.target is not None or target in columns
    if has_target:
        named[target] = "--target (the default)" if options.target is None else "--target"
    _check_names(named, columns, source)
    # columns of predictions, and no first column that counts the rows
    if only is not None:
        columns = {name: columns[name] for name in columns if name in named}
    notes: list[str] = []
    _leave_out_row_numbers(columns, source, named, notes)
    return columns, target if has_target else None, notes


def _list_roles(
    roles: dict[str, list[str]],
    features: Mapping[str, np.ndarray],
    left_out: list[str],
    only: Mapping[str, str] | None,
) -> str:
    """Return a note on the role of each column; of predictions `only` has the roles."""
    for name, option in (only or {}).items():
        roles.setdefault(option.removeprefix("--"), []).append(name)
    if only is None:
        roles["numbers"] = [name for name in features if features[name].dtype != object]
        roles["categories"] = [name for name in features if features[name].dtype == object]
    roles["left out"] = left_out
    listed = [f"{role}: {_shorten(names)}" for role, names in roles.items() if names]
    return f"columns: {'; '.join(listed)}"


def _read_groups(source: str, name: str, column: np.ndarray) -> np.ndarray:
    """Return the group of each row as stripped text; raise if one is missing."""
    missing = find_missing(column)
    if missing.any():
        raise ValueError(
            f"{source}: the column of groups {name!r} has no value in {_describe_rows(missing)}; "
            "rows without a group would be one group."
        )
    return np.array([str(value).strip() for value in column.tolist()])


def _read_features(
    source: str, columns: Mapping[str, np.ndarray], options: argparse.Namespace, notes: list[str]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the features, and the names of other columns; the notes have the reasons."""
    features: dict[str, np.ndarray] = {}
    left_out = []
    for name, column in columns.items():
        values, reason = _read_feature(source, name, column, options)
        # dates become numbers on demand
        dates = read_times(column) if reason and options.date_features else []
        if len(dates) == 1:
            parts = _split_dates(name, dates[0])
            if taken := [part for part in parts if part in columns]:
                raise ValueError(
                    f"--date-features makes a column {taken[0]!r} of {name!r}, but {source} has "
                    "a column of this name; rename or drop it."
                )
            features |= parts
        elif reason:
            left_out.append(name)
            notes.append(f"column {name!r} {reason}.")
        else:
            features[name] = values
    return features, left_out


def read_columns(
    options: argparse.Namespace, only: Sequence[str] | None, as_text: Sequence[str]
) -> dict[str, np.ndarray]:
    """Return the named columns of a bundled data set or a file.

    Columns in `as_text` keep leading zeros in CSV and Excel files. Of Parquet and Feather files,
    columns that are not in `only` are not read.
    """
    path, ending = Path(options.data), Path(options.data).suffix.lower()
    bundled = options.data in BUNDLED
    for name in TEXT_OPTIONS:
        readable = TEXT_FILES + (EXCEL_FILES if name in EXCEL_OPTIONS else ())
        if getattr(options, name) not in (None, []) and (bundled or ending not in readable):
            kinds = "a CSV or Excel file" if name in EXCEL_OPTIONS else "a CSV file"
            raise ValueError(f"--{name} is for {kinds}, got {options.data!r}.")
    if bundled:
        # bundled data sets and arrays are read without pandas
        data = getattr(sklearn.datasets, f"load_{options.data}")()
        names = map(str, data.feature_names)
        return dict(zip(names, data.data.T, strict=True)) | {"target": data.target}
    if ending == ".npz":
        return _read_arrays(path)
    if ending not in (*TEXT_FILES, *PACKAGES):
        raise ValueError(
            f"{path.name} must end in .csv, .tsv, .npz, .parquet, .feather or .xlsx to be read."
        )
    # all other files are read by pandas
    packages = ["pandas", *([PACKAGES[ending]] if ending in PACKAGES else [])]
    try:
        frame = _read_frame(path, ending, options, only, as_text)
    except ImportError as error:
        raise ValueError(
            f"{path.name} needs {' and '.join(packages)}: pip install {' '.join(packages)}"
        ) from error
    if not len(frame.columns):
        raise ValueError(f"{path.name} has no columns.")
    return {name: _read_column(frame[name], path.name) for name in frame.columns}


def _leave_out_row_numbers(
    columns: dict[str, np.ndarray], source: str, named: Mapping[str, str], notes: list[str]
) -> None:
    """Delete a first column without a name that counts the rows; others need a name.

    Columns that an option names (`named`) are kept.
    """
    for place, name in enumerate([*columns]):
        if name in named or not UNNAMED.fullmatch(name):
            continue
        numbers = np.arange(len(columns[name]))
        if place or not any(np.array_equal(columns[name], numbers + start) for start in (0, 1)):
            raise ValueError(
                f"{source}: column {place + 1} has no name; name it, or delete it if it is a row "
                "number or a label. Skip lines above the names with --skiprows N."
            )
        notes.append("the first column has no name, counts the rows and is left out.")
        del columns[name]


def _read_frame(
    path: Path,
    ending: str,
    options: argparse.Namespace,
    only: Sequence[str] | None,
    as_text: Sequence[str],
) -> Any:
    """Return a file, read by pandas, as a data frame with distinct names."""
    import pandas

    # stored tables have names and types
    if ending not in TEXT_FILES + EXCEL_FILES:
        read_stored = pandas.read_feather if ending == ".feather" else pandas.read_parquet
        with _name_file(path):
            try:
                frame = read_stored(path, columns=only)
            except (KeyError, ValueError):  # an error on a missing column lists all columns
                frame = read_stored(path)
        frame = frame if frame.index.names == [None] else frame.reset_index()
        frame.columns = _check_header([str(name) for name in frame.columns], options)
        return frame
    read: Any = pandas.read_excel
    how = {"skiprows": options.skiprows, "thousands": options.thousands}
    how |= {"decimal": "." if options.decimal is None else options.decimal}
    with _name_file(path):
        if ending in TEXT_FILES:
            read, encoding = pandas.read_csv, options.encoding or "utf-8-sig"
            sep = options.sep
            if sep is None:  # the one that makes the most fields of the first line
                with path.open(encoding=encoding, newline="") as file:
                    rows = islice(file, options.skiprows or 0, None)
                    line = next((line for line in rows if line.strip()), "")
                sizes = {
                    mark: len(next(csv.reader([line], delimiter=mark), [])) for mark in SEPARATORS
                }
                sep = max(SEPARATORS, key=lambda mark: sizes[mark])
            how |= {"sep": sep.replace("\\t", "\t"), "encoding": encoding}
        # the names of the columns are checked before the values are read
        first = read(path, **how, header=None, nrows=1, dtype=str, keep_default_na=False)
    names = ["" if name != name else str(name) for name in first.to_numpy().ravel().tolist()]
    if options.header is False:
        names = [f"x{k}" for k in range(len(names))]
    names = _check_header(names, options)
    with _name_file(path):
        if ending in TEXT_FILES:
            how |= {"index_col": False, "low_memory": False}
        how["dtype"] = {name: str for name in (*as_text, *options.text) if name in names}
        how["header"] = None if options.header is False else 0
        # in a column of categories, "None" may be one
        marks = {name: [""] if name in options.text else [*NA, *options.na] for name in names}
        return read(path, **how, names=names, keep_default_na=False, na_values=marks)


@contextmanager
def _name_file(path: Path) -> Iterator[None]:
    """Name the file in an error of pandas, with a remedy."""
    import pandas

    try:
        with warnings.catch_warnings():
            # a row longer than the header would lose its end
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            yield
    except (ImportError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise ValueError(f"there is no file {str(path)!r}.") from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} is not {error.encoding} text (byte 0x{error.object[error.start]:02x}); "
            "name its encoding, such as --encoding cp1252 or utf-16, or save it as UTF-8."
        ) from error
    except Exception as error:  # readers raise many kinds of errors for files of other formats
        text = str(error).rstrip(".")
        if path.suffix.lower() in TEXT_FILES:
            text += ". Check --sep; skip lines above the names with --skiprows N"
        raise ValueError(f"{path.name} cannot be read: {text}.") from error


def _check_header(names: Sequence[str], options: argparse.Namespace) -> list[str]:
    """Return the names of columns as pandas writes them; raise if they are not distinct names."""
    source = Path(options.data).name
    # a first line of values, or names that occur twice
    numbers = [name for name in names if _parse(name) is not None]
    is_text = source.lower().endswith(TEXT_FILES)
    if numbers and is_text and options.header is None and options.target not in names:
        raise ValueError(
            f"{source}: the first line may be data rather than names of columns, since it has "
            f"{numbers[0]!r}; pass --header or --no-header."
        )
    twice = [name for name, n in Counter(names).items() if n > 1 and name.strip()]
    if twice:
        raise ValueError(f"{source} has several columns {twice[0]!r}; give each its own name.")
    return [name if name.strip() else f"Unnamed: {k}" for k, name in enumerate(names)]


def _read_column(column: Any, source: str) -> np.ndarray:
    """Return a column of a data frame as numbers, Booleans or strings."""
    # numbers and Booleans keep their type
    if str(column.dtype) == "category":
        column = column.astype(column.cat.categories.dtype)
    missing = column.isna().to_numpy()
    if getattr(column.dtype, "kind", "O") in "biuf":
        exact = getattr(column.dtype, "numpy_dtype", None)
        return column.to_numpy(float, na_value=np.nan) if missing.any() else column.to_numpy(exact)
    # all other values become texts
    values = column.tolist()
    if any(isinstance(value, list | dict | tuple | set | np.ndarray) for value in values):
        raise ValueError(
            f"{source}: column {column.name!r} must contain numbers or strings, got {column.dtype}."
        )
    texts = ["" if gone else str(value) for value, gone in zip(values, missing, strict=True)]
    return np.array(texts, dtype=object)


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of `X`, and `y`, of an NPZ file without executing its contents."""
    try:
        with ZipFile(path), np.load(path, allow_pickle=False) as arrays:
            if "X" not in arrays.files:
                raise ValueError(f"it must contain the array X, got {arrays.files}")
            X, y = arrays["X"], arrays["y"] if "y" in arrays.files else None
    except (OSError, EOFError, BadZipFile, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}.") from error
    # a matrix X and a vector y
    for name, array, ndim, kinds in (("X", X, 2, "fiub"), ("y", y, 1, "biufUS")):
        if array is None:
            continue
        if getattr(array, "ndim", None) != ndim or array.dtype.kind not in kinds or not array.size:
            what = f"{getattr(array, 'dtype', type(array))} of shape {np.shape(array)}"
            needs = "a matrix of numbers" if name == "X" else "a vector of labels"
            raise ValueError(f"{path.name}: {name} must be {needs}, got {what}.")
    columns: dict[str, np.ndarray] = {f"x{k}": column for k, column in enumerate(X.T)}
    if y is None:
        return columns
    if len(X) != len(y):
        raise ValueError(
            f"{path.name}: X and y must have the same length, got {len(X)} and {len(y)}."
        )
    y = np.char.decode(y, "utf-8") if y.dtype.kind == "S" else y
    return columns | {"y": y.astype(object) if y.dtype.kind == "U" else y}


def _check_names(named: Mapping[str, str], columns: Mapping[str, np.ndarray], source: str) -> None:
    """Raise if columns are missing, with their options and similar names."""
    missing = []
    for name, option in named.items():
        if name not in columns:
            folded = {other.strip().lower(): other for other in columns}
            word = name.strip().lower()
            close = get_close_matches(word, folded, n=2, cutoff=0.7)
            close = close or [other for other in folded if word in other][:2]
            hint = " or ".join(repr(folded[other]) for other in close)
            hint = f" (did you mean {hint}?)" if hint else ""
            missing.append(f"no column {name!r} for {option}{hint}")
    if missing:
        listed = _shorten(columns)
        raise ValueError(f"{source} has {' and '.join(missing)}; its columns are {listed}.")


def _shorten(names: Sequence[str] | Mapping[str, Any], limit: int = MAX_LISTED) -> str:
    """Return the first few names as one text."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(repr(name) for name in [*names][:limit]) + more


def _describe_rows(rows: np.ndarray) -> str:
    """Return the number and the first few of the rows where a mask is true, counted from 1."""
    numbers = (np.flatnonzero(rows) + 1).tolist()
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    more = f" and {len(numbers) - MAX_ROWS_LISTED} more" if len(numbers) > MAX_ROWS_LISTED else ""
    return f"{len(numbers)} rows: {', '.join(map(str, numbers[:MAX_ROWS_LISTED]))}{more}"


def _parse(text: str, options: argparse.Namespace | None = None) -> float | None:
    """Return the number in a text, None if there is none; "1_000" is none."""
    if options is not None:
        decimal = options.decimal or "."
        text = text.replace(options.thousands or "\0", "")
        text = text.translate({ord("."): decimal, ord(decimal): "."})
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def _check_numbers(
    name: str, column: np.ndarray, options: argparse.Namespace, *, is_target: bool = False
) -> None:
    """Raise if a column of strings is nearly numeric, with three values and the remedies."""
    if column.dtype != object or name in options.text or read_times(column):
        return
    # texts that are not numbers
    counts = Counter(text for text in column.tolist() if text.strip())
    odd = [text for text, _ in counts.most_common() if _parse(text, options) is None]
    # numbers with a limit, separators of thousands, or the most common unit
    matches = {
        text: match
        for text in odd
        if len(text) <= MAX_WRITTEN and (match := WRITTEN_NUMBER.fullmatch(text.strip()))
    }
    unit_of = {text: match["after"] or match["before"] or "" for text, match in matches.items()}
    (unit, _), *_ = [*Counter(filter(None, unit_of.values())).most_common(1), ("", 0)]
    written = [text for text, mark in unit_of.items() if mark in ("", unit)]
    numeric = [text for text in counts if text not in odd] + written
    n_numeric = sum(counts[text] for text in numeric)
    if len(numeric) < MIN_NUMBERS or 2 * n_numeric <= counts.total() or (is_target and not odd):
        return
    # three values, and what to do
    path, what, remedy = Path(options.data), "numbers stored as text", "store them as numbers"
    if odd:
        n_odd = sum(counts[text] for text in odd)
        what = f"{n_odd} of {counts.total()} values are not numbers"
        remedy = "write plain numbers, without units, in the file"
        if path.suffix.lower() in TEXT_FILES + EXCEL_FILES:
            missing = _write_option("--na", odd[0])
            remedy += f"; pass --decimal or --thousands, or {missing} if it marks a missing value"
    shown = ", ".join(map(repr, (odd or numeric)[:N_SHOWN]))
    raise ValueError(
        f"{path.name}: column {name!r} is nearly numeric: {shown} ({what}). Remedies: {remedy}; or "
        f"pass {_write_option('--text', name)} for categories."
    )


def _write_option(option: str, value: str) -> str:
    """Return an option and its value as they are typed in a shell."""
    return f"{option}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


def _note_values(columns: Mapping[str, np.ndarray], excluded: set[str]) -> list[str]:
    """Return notes on a row of totals at the end, and on numbers that may mark missing values."""
    notes = []
    numbers = {
        name: column.astype(float)
        for name, column in columns.items()
        if name not in excluded and column.dtype.kind in "iuf"
    }
    n_rows = len(next(iter(columns.values())))
    words = [str(column[-1]) for column in columns.values() if column.dtype == object]
    word = next((word for word in words if word.strip(" :.").casefold() in TOTALS), "")
    # a last row of totals, by its name or its sums
    if n_rows >= MIN_ROWS:
        sums = [
            name
            for name, column in numbers.items()
            if column[-1] > np.nanmax(column[:-1], initial=0)
            and np.isclose(column[-1], np.nansum(column[:-1]), rtol=1e-9)
        ]
        if word or sums:
            reason = f"it has {word!r}" if word else f"{sums[0]!r} is the sum of all other rows"
            notes.append(f"the last row may be a total ({reason}); if so, delete it in the file.")
    # numbers that may mark missing values
    for name, column in numbers.items():
        for mark in SENTINELS:
            others = column[~np.isnan(column) & (column != mark)]
            n_marked = int(np.sum(column == mark))
            # far from all other values, and on the side where they have none
            far = others.size and (others.min() >= 0 if mark < 0 else 2 * others.max() < mark)
            if n_marked and far:
                notes.append(
                    f"column {name!r} has {mark} in {n_marked} of {n_rows} rows, far from all "
                    f"other values; {_write_option('--na', str(mark))} treats it as missing."
                )
    return notes


def _drop_unlabeled(
    columns: dict[str, np.ndarray], target: str, notes: list[str]
) -> dict[str, np.ndarray]:
    """Return the columns without the rows that have no label."""
    missing = find_missing(columns[target])
    if not missing.any():
        return columns
    notes.append(f"{_describe_rows(missing)} without a value of {target!r} are left out.")
    kept = {name: column[~missing] for name, column in columns.items()}
    y = kept[target]
    if y.dtype.kind == "f" and (y % 1 == 0).all():  # whole numbers are floats beside nan
        kept[target] = y.astype(int)
    return kept


def find_missing(column: np.ndarray) -> np.ndarray:
    """Return which values of a column are missing."""
    if column.dtype == object:
        return np.array([not text.strip() for text in column.tolist()], dtype=bool)
    return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)


def _read_labels(source: str, target: str, y: np.ndarray, notes: list[str]) -> np.ndarray:
    """Return the labels, with a note on spellings that differ by case or spaces."""
    start, advice = f"{source}: the target column {target!r}", ""
    if y.dtype == object:
        # spellings of a label, the most common first
        folded: dict[str, list[str]] = {}
        for text, _ in Counter(y.tolist()).most_common():
            folded.setdefault(" ".join(text.split()).casefold(), []).append(text)
        several = [
            text
            for word, spellings in folded.items()
            if word and len(spellings) > 1
            for text in spellings
        ]
        if several:
            advice = f"{_shorten(several)} of the target differ by case or spaces."
            notes.append(advice)
    # missing labels
    missing = find_missing(y)
    if missing.any():
        keep = f", {_write_option('--text', target)} keeps strings such as None as classes"
        keep = keep if y.dtype == object and source.lower().endswith(TEXT_FILES) else ""
        keep += "; delete row 1 if it has units" if missing[0] else ""
        raise ValueError(
            f"{start} has no value in {_describe_rows(missing)}; --drop-missing-target leaves such "
            f"rows out{keep}. {advice}".rstrip()
        )
    if y.dtype == object:
        if any("\0" in text for text in y):  # arrays drop NUL characters at the end
            raise ValueError(f"{start} has a label with a NUL character.")
        return y.astype(str)
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError(f"{start} must be finite, {_describe_rows(np.isinf(y))} is not.")
    if y.dtype.kind in "iu" and ((y > MAX_EXACT) | (y < -MAX_EXACT)).any():
        return y.astype(str)  # as floats, labels that differ in the last digits would be equal
    return y


def _read_feature(
    source: str, name: str, column: np.ndarray, options: argparse.Namespace
) -> tuple[np.ndarray, str]:
    """Return a column of numbers or text objects, and the reason if it is not a feature."""
    # numbers
    if find_missing(column).all():
        return column, "has no value and is left out"
    if column.dtype != object and name not in options.text:
        numbers = column.astype(float)
        if np.isinf(numbers).any():
            raise ValueError(
                f"{source}: column {name!r} must be finite, {_describe_rows(np.isinf(numbers))} "
                "is not; correct the value or leave it empty."
            )
        return numbers, ""
    # texts
    texts = np.array([str(value).strip() or "missing" for value in column.tolist()], dtype=object)
    different = {*texts.tolist()} - {"missing"}
    many = f"different strings in {len(texts)} rows"
    if read_times(column):
        return texts, (
            f"contains dates or times ({len(different)} {many}) and is left out; "
            f"{_write_option('--time', name)} predicts later rows from earlier ones, "
            "--date-features converts dates to numbers"
        )
    _check_numbers(name, column, options)
    if len(different) <= max(MAX_TEXTS, len(texts) / 2):
        return texts, ""
    ways = f"{_write_option('--id', name)} names the rows by it"
    return texts, f"contains {len(different)} {many} and is left out; {ways}"


def _split_dates(name: str, seconds: np.ndarray) -> dict[str, np.ndarray]:
    """Return the varying parts of dates as numbers by name, nan for missing dates."""
    # the parts of each date, whatever its time zone
    is_date = ~np.isnan(seconds)
    moments = np.where(is_date, seconds, 0).astype(np.int64).astype("datetime64[s]")
    days, months = moments.astype("datetime64[D]"), moments.astype("datetime64[M]")
    parts = {
        "days since 1970": seconds / 86400,
        "year": moments.astype("datetime64[Y]").astype(int) + 1970,
        "month": months.astype(int) % 12 + 1,
        "day": (days - months).astype(int) + 1,
        "weekday": (days.astype(int) + 3) % 7,
        "hour": (moments - days).astype(int) // 3600,
    }
    parts = {f"{name}: {part}": np.where(is_date, values, np.nan) for part, values in parts.items()}
    # parts that are the same for all rows are left out
    first, *others = parts
    varying = [part for part in others if len(np.unique(parts[part][is_date])) > 1]
    return {part: parts[part] for part in (first, *varying)}


def _find_order(source: str, name: str, column: np.ndarray) -> np.ndarray:
    """Return the row order by a column of numbers or dates without missing values."""
    readings = read_times(column) if column.dtype == object else [column.astype(float)]
    start = f"{source}: the column of times {name!r}"
    if not readings:
        raise ValueError(f"{start} must contain numbers, or dates such as 2024-01-31 10:30.")
    # each time must be known, and its order must not depend on the reading
    missing = np.isnan(readings[0])
    if missing.any():
        raise ValueError(f"{start} has no value in {_describe_rows(missing)}.")
    orders = [np.argsort(reading, kind="stable") for reading in readings]
    if any(not np.array_equal(order, orders[0]) for order in orders):
        raise ValueError(
            f"{start} can be read with the day or with the month first; write 2024-01-31."
        )
    return orders[0]
