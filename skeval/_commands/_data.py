"""Tables of the command line: readers of files, and the role of each column.

Files are read by pandas. Bundled data sets and NPZ files do not need it. Columns are arrays of
numbers, or of texts, where an empty text is a missing value.
"""

from __future__ import annotations

import argparse
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np
import sklearn.datasets

from skeval._commands import BUNDLED, check_source
from skeval.utils._text import read_times

TEXT_FILES, EXCEL_FILES = (".csv", ".tsv", ".txt"), (".xlsx", ".xls")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
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
"""Largest integer up to which different whole numbers are different floats."""
WRITTEN_NUMBER = re.compile(
    r"(?:=?[\"'])?(?:[<>≤≥~]=?)?\s?(?P<before>[$€£¥₹]|(?:AUD|CAD|CHF|CNY|EUR|GBP|INR|JPY|USD))?\s?"
    r"[+\-\u2212]?\d{1,20}(?:[.,'’\s]\d{3}){0,6}(?:[.,]\d{1,20})?(?:[eE][+-]?\d{1,3})?"
    r"(?P<after>\s?[^\d\s.,][^\d\s]{0,11})?"
)
"""A number with a limit, a currency, separators of thousands, an exponent, or a unit."""
DOTTED_NUMBER = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})*|0")
"""A whole number, in which dots may separate thousands."""
MAX_WRITTEN, MIN_NUMBERS, N_SHOWN = 60, 3, 3
"""Maximum length of such a text, the minimum number of distinct numbers in a column to be noticed,
and number of values shown."""
NO_BREAK = dict.fromkeys(map(ord, "\u00a0\u202f\u2009"))
"""Non-breaking spaces, which separate thousands in spreadsheets."""
NOT_PLAIN = re.compile(r"\([\d.,]+\)|\d[\u00a0\u202f\u2009]\d")
NA = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NULL", "null", "None"]
"""Texts of missing values in CSV and Excel files."""
SENTINELS = (-8, -9, -77, -88, -99, -999, -9999, 77, 88, 99, 999, 9999)
"""Numbers that often mark missing values."""
MIN_ROWS = 5
"""Minimum number of rows to look for totals in the last one."""
TOTALS = {"total", "totals", "grand total", "sum", "subtotal", "mean", "average", "gesamt", "summe"}


class Rows(NamedTuple):
    """Features, labels and groups of the rows of a table.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Floats, or objects if `texts` is not empty. Missing numbers are nan.
    y : ndarray of shape (n_samples,), or None
        Labels, or None if a file has no labels.
    feature_names : list of str
    texts, missing : list of int
        Columns of X that contain text, and numeric columns with missing values.
    groups, time : ndarray of shape (n_samples,), or None
    notes : list of str
        The role of each column, and notes on columns and rows.
    hints : list of str
        Notes that may explain an error.
    left_out : dict of str to ndarray of shape (n_samples,)
        Columns that are not features, as numbers or texts.
    rows : ndarray of shape (n_samples,)
        Numbers of the rows in the file, from 1 below the names.
    """

    X: np.ndarray
    y: Any
    feature_names: list[str]
    texts: list[int]
    missing: list[int]
    groups: np.ndarray | None
    time: np.ndarray | None
    notes: list[str]
    hints: list[str]
    left_out: dict[str, np.ndarray]
    rows: np.ndarray


ROLES = ("drop", "text", "groups", "time", "id", "predictions", "by")
"""Options that name columns, beside the target."""


def read_table(options: argparse.Namespace, *, needs_target: bool) -> Rows:
    """Return the table that the options name. Raise an error if the role of a column is in doubt.

    If there are existing predictions, only they and the column of subgroups are features.
    """
    # columns with their roles, without empty rows
    columns, roles, rows, notes = _read_roles(options, needs_target)
    excluded, source = {*roles["drop"], *roles["id"]}, Path(options.data).name
    hints = [] if options.data in BUNDLED else _note_values(options, columns, excluded, notes)
    # rows and labels of the target
    y = None
    for target in roles["target"]:
        with explain_errors(hints):
            _check_numbers(target, columns[target], options, notes)
            missing = find_blanks(columns[target])
            if missing.any() and options.drop_missing_target:
                dropped = _describe_rows(missing, rows)
                notes.append(f"rows without a value of {target!r} are left out ({dropped}).")
                if missing[-1]:
                    hints.clear()  # the row of totals is left out
                rows = rows[~missing]
                columns = {
                    name: _read_numbers(name, column[~missing], options)
                    for name, column in columns.items()
                }
            y = _read_labels(source, target, columns[target], rows, options)
            _refuse_identifier("target", target, columns, options)
    # the features, and the reasons for columns that are none
    used = {*excluded, *roles["target"], *roles["groups"], *roles["time"]}
    others = {name: column for name, column in columns.items() if name not in used}
    for name in roles["predictions"]:
        _refuse_identifier("predictions", name, columns, options)
    features, left_out = _read_features(source, others, rows, options, notes)
    if not features:
        raise ValueError(f"{source} has no column left as a feature. {' '.join(notes)}".rstrip())
    if options.data not in BUNDLED:
        # a note on the role of each column
        for name, values in features.items():
            if name not in roles["predictions"]:
                roles["categories" if values.dtype == object else "numbers"].append(name)
        roles["left out"] = [*roles["drop"], *left_out]
        shown = {role: roles[role] for role in roles if role not in ("drop", "text")}
        listed = [f"{role}: {_shorten(names)}" for role, names in shown.items() if names]
        notes.insert(0, f"columns: {'; '.join(listed)}")
    for role, reason in (("groups", "form one group"), ("time", "have no place in the time order")):
        for name in roles[role]:
            missing = find_blanks(columns[name])
            if missing.any():
                raise ValueError(
                    f"{source}: the column {name!r} of --{role} has no value in "
                    f"{_describe_rows(missing, rows)}. Complete them, or they would {reason}."
                )
    groups = [[str(value).strip() for value in columns[name]] for name in roles["groups"]]
    # one array, of objects if there are texts
    X, names = np.column_stack(list(features.values())), list(features)
    texts = [k for k, name in enumerate(names) if features[name].dtype == object]
    numbers = [k for k in range(len(names)) if k not in texts]
    return Rows(
        X=X,
        y=y,
        feature_names=names,
        texts=texts,
        missing=[k for k in numbers if np.isnan(features[names[k]]).any()],
        groups=np.array(groups[0]) if groups else None,
        time=columns[roles["time"][0]] if roles["time"] else None,
        notes=notes,
        hints=hints,
        left_out={name: columns[name] for name in columns if name in {*excluded, *left_out}},
        rows=rows,
    )


def _read_roles(
    options: argparse.Namespace, needs_target: bool
) -> tuple[dict[str, np.ndarray], dict[str, list[str]], np.ndarray, list[str]]:
    """Return the columns, their names by role, the numbers of the rows, and notes.

    The names of all options are checked at once. Empty rows are dropped, and so are nameless
    columns that are empty or, if first, count the rows.
    """
    # the columns that options name
    source, notes = Path(options.data).name, list[str]()
    roles: dict[str, list[str]] = {"target": []}
    for role in ROLES:
        value = getattr(options, role, None)
        roles[role] = value if isinstance(value, list) else [] if value is None else [value]
    columns = read_source(options, roles["groups"] + roles["id"])
    named = {name: f"--{role}" for role, names in roles.items() for name in names}
    default = "y" if source.lower().endswith(".npz") else "target"
    target = default if options.target is None else options.target
    if needs_target or options.target is not None or target in columns:
        roles["target"] = [target]
        named[target] = "--target (the default)" if options.target is None else "--target"
    _check_names(named, columns, source)
    for role, other in product(("target", "predictions"), roles):
        for name in {*roles[role]} & {*roles[other]} if other not in (role, "text") else ():
            others = _shorten([one for one in columns if one not in named])
            raise ValueError(
                f"{source}: --{role} and --{other} both name {name!r}. Pass different columns. "
                f"The other columns are {others}."
            )
    if roles["predictions"]:
        columns = {name: columns[name] for name in columns if name in named}
    roles |= {"numbers": [], "categories": []}
    # empty rows, and nameless columns without data
    missing = np.array([find_blanks(column) for column in columns.values()])
    empty = np.atleast_1d(missing.all(axis=0))
    rows = 1 + np.arange(len(empty))
    if empty.any():
        notes.append(f"rows without any value are left out ({_describe_rows(empty, rows)}).")
    for place, (name, column) in enumerate([*columns.items()]):
        columns[name] = column[~empty] if empty.any() else column
        if name in named or not UNNAMED.fullmatch(name):
            continue
        numbers = np.arange(len(column))
        counts = any(np.array_equal(column, numbers + start) for start in (0, 1))
        if not missing[place].all() and (place or not counts):
            raise ValueError(
                f"{source}: column {place + 1} has no name. Name it, or pass "
                f"{_write_option('--drop', name)} to leave it out (--id if it names the rows). "
                "Skip lines above the names with --skiprows N."
            )
        del columns[name]
        if counts:
            notes.append("the first column has no name and contains row numbers. It is left out.")
    n_rows = int((~empty).sum())
    if n_rows < 2:
        raise ValueError(f"{source} must contain at least two rows of data, got {n_rows}.")
    return columns, roles, rows[~empty], notes


def _refuse_identifier(
    role: str, name: str, columns: Mapping[str, np.ndarray], options: argparse.Namespace
) -> None:
    """Raise an error if a column of the target or of predictions identifies the rows."""
    column = columns[name]
    n_rows, n_values = len(column), len(set(column.tolist()))
    texts = column.dtype == object and n_values > max(MAX_TEXTS, n_rows / 2)
    if name not in options.text and (texts or (is_id(name) and n_values == n_rows)):
        raise ValueError(
            f"{Path(options.data).name}: --{role} names {name!r}, which identifies the rows, with "
            f"{n_values} different values in {n_rows} rows. Pass another column. The other columns "
            f"are {_shorten([other for other in columns if other != name])}."
        )


@contextmanager
def explain_errors(hints: Sequence[str]) -> Iterator[None]:
    """Append hints to an error of the data."""
    try:
        yield
    except ValueError as error:
        if not hints:
            raise
        texts = (f"{text[:1].upper()}{text[1:]}" for text in hints)
        raise ValueError(" ".join([f"{str(error).rstrip('.')}.", *texts])) from error


# --- readers of files


def find_ending(name: str | Path) -> str:
    """Return the ending of a file name, without the ending of a compression."""
    path = Path(name)
    path = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return path.suffix.lower()


def read_source(options: argparse.Namespace, as_text: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the named columns of a bundled data set or a file.

    Columns in `as_text` keep leading zeros in CSV and Excel files.
    """
    path, ending = Path(options.data), find_ending(options.data)
    bundled = options.data in BUNDLED
    if options.thousands is not None and options.thousands == (options.decimal or "."):
        raise ValueError(f"--thousands and --decimal must differ, got {options.thousands!r}.")
    for name in TEXT_OPTIONS:
        readable = TEXT_FILES + (EXCEL_FILES if name in EXCEL_OPTIONS else ())
        if getattr(options, name) not in (None, []) and (bundled or ending not in readable):
            kinds = "a CSV or Excel file" if name in EXCEL_OPTIONS else "a CSV file"
            raise ValueError(f"--{name} is only for {kinds}, got {options.data!r}.")
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
        frame = _read_frame(path, ending, options, as_text)
    except ImportError as error:
        raise ValueError(
            f"{path.name} needs {' and '.join(packages)}: pip install {' '.join(packages)}"
        ) from error
    columns = {name: _read_column(frame[name], path.name) for name in frame.columns}
    for name, column in columns.items():
        # numbers in parentheses, or with spaces that do not break
        if column.dtype == object and any(NOT_PLAIN.search(text) for text in column):
            columns[name] = _read_numbers(name, column, options)
    return columns


def is_id(name: str) -> bool:
    """Return whether a column has the name of an identifier."""
    return name.lower() == "id" or name.lower().endswith(("_id", " id"))


def find_id(files: Sequence[argparse.Namespace]) -> str | None:
    """Return the column with the name of an identifier that matches the rows of both files.

    A column in which both files repeat values, such as patients, must have the same order.
    """
    for file in files:
        check_source(file.data)
    first, second = (read_source(file, []) for file in files)
    taken = {files[0].target, *files[0].predictions}
    found = {}
    for name in first:
        if not is_id(name) or name not in second or name in taken:
            continue
        one, other = first[name].tolist(), second[name].tolist()
        if len(set(one)) == len(one) or len(set(other)) == len(other):
            found[name] = set(one) == set(other)
        elif one != other and Counter(one) == Counter(other):
            place = next(
                k for k, values in enumerate(zip(one, other, strict=True)) if len({*values}) > 1
            )
            raise ValueError(
                f"the files have the same values of {name!r} in another order: row {place + 1} of "
                f"{files[0].data} has {one[place]!r}, and of {files[1].data} {other[place]!r}. "
                "Sort both files alike, or pass --id COLUMN if another column names the rows."
            )
    # a column with the same values in both files, if there is one
    return max(found, key=found.__getitem__, default=None)


def _read_frame(
    path: Path, ending: str, options: argparse.Namespace, as_text: Sequence[str]
) -> Any:
    """Return a file, read by pandas, as a data frame with distinct names."""
    import pandas

    # stored tables have names and types
    if ending not in TEXT_FILES + EXCEL_FILES:
        read_stored = pandas.read_feather if ending == ".feather" else pandas.read_parquet
        with _name_file(path):
            frame = read_stored(path)
        frame = frame if frame.index.names == [None] else frame.reset_index()
        frame.columns = _check_header([str(name) for name in frame.columns], options)
        return frame
    # text files are separated by the mark that makes the most columns of the first line
    how: dict[str, Any] = {"skiprows": options.skiprows, "keep_default_na": False}
    read: Any = partial(pandas.read_excel, path)
    ways = [how]
    if ending in TEXT_FILES:
        read = partial(pandas.read_csv, path)
        how |= {"encoding": options.encoding or "utf-8-sig"}
        marks = SEPARATORS if options.sep is None else [options.sep]
        ways = [how | {"sep": mark} for mark in marks]
    with _name_file(path):
        heads = [read(**way, header=None, nrows=1, dtype=str) for way in ways]
    how, first = max(zip(ways, heads, strict=True), key=lambda pair: pair[1].shape[1])
    # the names of the columns are checked before the values are read
    names = ["" if name != name else str(name).strip() for name in first.to_numpy().ravel()]
    if options.header is False:
        names = [f"x{k}" for k in range(len(names))]
    names = _check_header(names, options)
    how |= {"header": None if options.header is False else 0, "names": names}
    how |= {"index_col": False, "low_memory": False} if ending in TEXT_FILES else {}
    # in a column of categories, "None" may be one
    na = {name: [""] if name in options.text else [*NA, *options.na] for name in names}
    texts = {name: str for name in (*as_text, *options.text) if name in names}
    marks_of_numbers = {"decimal": options.decimal or ".", "thousands": options.thousands}
    with _name_file(path):
        frame = read(**how, **marks_of_numbers, dtype=texts, na_values=na)
    if ending in EXCEL_FILES and options.na:  # pandas ignores marks among whole numbers of Excel
        numbers = frame.select_dtypes("number")
        frame[numbers.columns] = numbers.mask(numbers.isin([*map(_parse, options.na)]))
    if how.get("sep") in (";", "\t") and options.decimal is None and options.thousands is None:
        _check_dots(path.name, frame, partial(read, **how, dtype=str))
    return frame


def _check_dots(source: str, frame: Any, read_texts: Callable[..., Any]) -> None:
    """Raise if each dot in a column of numbers may separate thousands, as in 850 and 1.200."""
    suspects = []
    for name in frame.select_dtypes("float").columns:
        values = frame[name].dropna().to_numpy()
        # at most three decimals, and some
        thousandths = np.round(1000 * values)
        if (values % 1).any() and np.abs(thousandths - 1000 * values).max() < 1e-6:
            suspects.append(name)
    for name, column in read_texts(usecols=suspects).items() if suspects else ():
        texts = [text.strip() for text in column if text == text and text.strip() not in NA]
        if all(DOTTED_NUMBER.fullmatch(text) for text in texts):
            dotted = next(text for text in texts if "." in text)
            raise ValueError(
                f"{source}: column {name!r} has three digits after each dot, as in {dotted!r}. "
                "Pass --thousands . if dots separate thousands, or --decimal . if they are decimal."
            )


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
    except UnicodeError as error:
        raise ValueError(
            f"{path.name} cannot be read: {error}. Name its encoding, such as --encoding cp1252 or "
            "utf-16, or save it as UTF-8. An Excel file must end in .xlsx or .xls."
        ) from error
    except Exception as error:  # readers raise many kinds of errors for files of other formats
        text = " ".join(str(error).removeprefix("Error tokenizing data. C error: ").split())
        text = text.rstrip(" .")
        if isinstance(error, pandas.errors.ParserWarning):
            text = "the first row has more values than column names"
        if find_ending(path) not in TEXT_FILES:
            text += ". The ending of the file name must match the format of the file"
        elif isinstance(error, LookupError):
            text += ". Encodings are for example utf-8, cp1252 and utf-16"
        else:
            text += ". Check --sep. Skip lines above the column names with --skiprows N"
        raise ValueError(f"{path.name} cannot be read: {text}.") from error


def _check_header(names: Sequence[str], options: argparse.Namespace) -> list[str]:
    """Return the names of columns as pandas writes them. Raise if they are not distinct names."""
    source = Path(options.data).name
    if not names:
        remedy = ". Skip empty lines on top with --skiprows N" if "xls" in source.lower() else ""
        raise ValueError(f"{source} has no columns{remedy}.")
    # a first line of values, or names that occur twice
    numbers = [name for name in names if _parse(name) is not None]
    is_text = find_ending(source) in TEXT_FILES
    if numbers and is_text and options.header is None and options.target not in names:
        raise ValueError(
            f"{source}: the first line contains {numbers[0]!r}, so it may be data instead of "
            "column names. Pass --header if it has the names, otherwise --no-header."
        )
    twice = [name for name, n in Counter(names).items() if n > 1 and name.strip()]
    if twice:
        raise ValueError(f"{source} has several columns named {twice[0]!r}. Rename them.")
    return [name if name.strip() else f"Unnamed: {k}" for k, name in enumerate(names)]


def _read_column(column: Any, source: str) -> np.ndarray:
    """Return a column of a data frame as numbers, Booleans or strings."""
    # numbers, durations in seconds and Booleans
    if str(column.dtype) == "category":
        column = column.astype(column.cat.categories.dtype)
    missing, kind = column.isna().to_numpy(), getattr(column.dtype, "kind", "O")
    if kind == "m":
        return np.asarray(column.dt.total_seconds(), dtype=float)
    if kind in "biuf":
        exact = getattr(column.dtype, "numpy_dtype", None)
        return column.to_numpy(float, na_value=np.nan) if missing.any() else column.to_numpy(exact)
    # decimal numbers, and all other values as texts
    values = column.tolist()
    if not missing.all() and all(isinstance(value, Decimal) for value in column[~missing]):
        return column.astype(float).to_numpy()
    if any(isinstance(value, list | dict | tuple | set | np.ndarray) for value in values):
        raise ValueError(
            f"{source}: column {column.name!r} must contain numbers or strings, got lists. Delete "
            "the column in the file, or write each element to its own column."
        )
    texts = ["" if gone else str(value) for value, gone in zip(values, missing, strict=True)]
    return np.array(texts, dtype=object)


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of `X`, and `y`, of an NPZ file without executing its contents."""
    try:
        with ZipFile(path), np.load(path, allow_pickle=False) as arrays:
            if "X" not in arrays.files:
                raise ValueError(f"it must contain an array named X, got {arrays.files}")
            X = np.asarray(arrays["X"])
            y = np.asarray(arrays["y"]) if "y" in arrays.files else None
    except (OSError, EOFError, BadZipFile, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}.") from error
    # a matrix X and a vector y
    if X.ndim != 2 or X.dtype.kind not in "fiub" or not X.size:
        raise ValueError(
            f"{path.name}: X must be a matrix of numbers, got {X.dtype} of shape {X.shape}."
        )
    columns: dict[str, np.ndarray] = {f"x{k}": column for k, column in enumerate(X.T)}
    if y is None:
        return columns
    if y.shape != (len(X),) or y.dtype.kind not in "biufUS":
        raise ValueError(
            f"{path.name}: y must be a vector of {len(X)} labels, got {y.dtype} of shape {y.shape}."
        )
    y = np.char.decode(y, "utf-8") if y.dtype.kind == "S" else y
    return columns | {"y": y.astype(object) if y.dtype.kind == "U" else y}


def _check_names(named: Mapping[str, str], columns: Mapping[str, np.ndarray], source: str) -> None:
    """Raise an error if columns are missing, with their options and similar names."""
    missing = []
    for name, option in named.items():
        if name not in columns:
            folded = {other.strip().lower(): other for other in columns}
            word = name.strip().lower()
            close = get_close_matches(word, folded, n=2, cutoff=0.7)
            close = close or [other for other in folded if word in other][:2]
            hint = " or ".join(repr(folded[other]) for other in close if len(columns) > 1)
            parts = name.split(",")
            if {*parts} <= {*columns}:  # several names with commas
                single = [_write_option(option, parts[0]), *map(shlex.quote, parts[1:])]
                repeated = [_write_option(option, part) for part in parts]
                hint = " ".join(single if option == "--predictions" else repeated)
            hint = f" (did you mean {hint}?)" if hint else ""
            missing.append(f"no column {name!r} for {option}{hint}")
    if missing:
        is_excel = source.lower().endswith(EXCEL_FILES)
        columns_of = "The columns of its first sheet" if is_excel else "Its columns"
        text = f"{source} has {' and '.join(missing)}. {columns_of} are {_shorten(columns)}."
        mark = next((mark for mark in ";\t|, " if mark in next(iter(columns))), " ")
        if len(columns) == 1 and find_ending(source) in TEXT_FILES:
            mark = {"\t": "\\t"}.get(mark, mark)
            text += f" If the columns have another separator, pass it, as in --sep '{mark}'."
        raise ValueError(text)


# --- texts of messages


def _shorten(names: Sequence[str] | Mapping[str, Any]) -> str:
    """Return the first few names as one text."""
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(repr(name) for name in [*names][:MAX_LISTED]) + more


def _describe_rows(mask: np.ndarray, rows: np.ndarray) -> str:
    """Return how many rows a mask selects, and the first few of their numbers."""
    numbers = rows[mask].tolist()
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    more = f" and {len(numbers) - MAX_ROWS_LISTED} more" if len(numbers) > MAX_ROWS_LISTED else ""
    return f"{len(numbers)} rows: {', '.join(map(str, numbers[:MAX_ROWS_LISTED]))}{more}"


def _write_option(option: str, value: str) -> str:
    """Return an option and its value as they are typed in a shell."""
    return f"{option}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


# --- values that need a decision


def find_blanks(column: np.ndarray) -> np.ndarray:
    """Return which values of a column are missing."""
    if column.dtype == object:
        return np.array([not text.strip() for text in column.tolist()], dtype=bool)
    return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)


def _note_values(
    options: argparse.Namespace,
    columns: Mapping[str, np.ndarray],
    excluded: set[str],
    notes: list[str],
) -> list[str]:
    """Add notes on numbers that may mark missing values. Return one on a final row of totals.

    Such a row contains the word, or the sum of all other rows.
    """
    sums, words = [], []
    n_rows = len(next(iter(columns.values())))
    is_file = find_ending(options.data) in TEXT_FILES + EXCEL_FILES
    for name, column in columns.items():
        if column.dtype == object:
            words += [column[-1]] if column[-1].strip(" :.").casefold() in TOTALS else []
        if name in excluded or column.dtype.kind not in "iuf":
            continue
        # numbers that may mark missing values
        numbers = column.astype(float)
        low, high = np.nanmin(numbers, initial=np.inf), np.nanmax(numbers, initial=-np.inf)
        marks = [mark for mark in SENTINELS if low <= mark <= high and (numbers == mark).any()]
        others = numbers[~np.isnan(numbers) & ~np.isin(numbers, marks)] if marks else numbers[:0]
        for mark in marks if others.size else ():
            n_marked = int(np.sum(numbers == mark))
            # far from all other values, or negative beside none
            gap = np.abs(others - mark).min()
            if gap > np.ptp(others) or mark < 0 <= others.min():
                remedy = f"{_write_option('--na', str(mark))} treats {mark} as missing"
                remedy = remedy if is_file else "store missing values as nan"
                notes.append(
                    f"column {name!r} has {mark} in {n_marked} of {n_rows} rows, far from all "
                    f"other values. It may mark missing values. If so, {remedy}."
                )
        # a sum up to the rounding of its last digit
        last, rest, digits = numbers[-1], numbers[:-1], f"{numbers[-1]:.15g}".partition(".")[2]
        rounding = max(0.5 * 10.0 ** -max(1, len(digits)), 1e-9 * abs(last))
        largest = last == high and last > np.nanmax(rest, initial=0)
        if largest and abs(last - np.nansum(rest)) <= rounding:
            sums.append(name)
    if n_rows < MIN_ROWS or not (words or sums):
        return []
    reason = f"it contains {words[0]!r}" if words else f"{sums[0]!r} is the sum of all other rows"
    return [f"the last row may contain totals ({reason}). If so, delete it in the file."]


def _parse(text: str, decimal: str | None = None, thousands: str | None = None) -> float | None:
    """Return the number in a text, or None if it is not a number, for example "1_000".

    "(3.0)" is a negative number, and non-breaking spaces separate thousands.
    """
    text, decimal = text.translate(NO_BREAK).replace(thousands or "\0", ""), decimal or "."
    text = text.translate({ord("."): decimal, ord(decimal): "."})
    if text[:1] == "(" and text[-1:] == ")" and text[1:2].isdigit():
        text = f"-{text[1:-1]}"
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def _read_numbers(name: str, column: np.ndarray, options: argparse.Namespace) -> np.ndarray:
    """Return a column of a CSV or Excel file as numbers, if each of its texts is one."""
    if (
        column.dtype != object
        or name in (*options.text, getattr(options, "groups", None), options.id)
        or find_ending(options.data) not in TEXT_FILES + EXCEL_FILES
    ):
        return column
    marks = options.decimal, options.thousands
    numbers = list[float]()
    for text in map(str.strip, column.tolist()):
        number = _parse(text, *marks) if text else np.nan
        if number is None:
            return column
        numbers.append(number)
    return column if np.isnan(numbers).all() else np.array(numbers, dtype=float)


def _check_numbers(
    name: str, column: np.ndarray, options: argparse.Namespace, notes: list[str]
) -> None:
    """Raise an error if most strings of a column are nearly numbers, and add a note if some are."""
    if column.dtype != object or name in options.text or read_times(column):
        return
    # texts that are not numbers
    counts = Counter(text.strip() for text in column.tolist() if text.strip())
    marks = options.decimal, options.thousands
    odd = [text for text, _ in counts.most_common() if _parse(text, *marks) is None]
    # numbers with a limit, separators of thousands, or the most common unit
    matches = {
        text: match
        for text in odd
        if len(text) <= MAX_WRITTEN and (match := WRITTEN_NUMBER.fullmatch(text))
    }
    unit_of = {text: match["after"] or match["before"] or "" for text, match in matches.items()}
    units = Counter(filter(None, map(str.strip, unit_of.values()))).most_common()
    written = [text for text, unit in unit_of.items() if unit.strip() in ("", *dict(units[:1]))]
    numeric = [text for text in counts if text not in odd] + written
    n_numeric = sum(counts[text] for text in numeric)
    mostly = 2 * n_numeric > counts.total()
    # codes have several units (12a, 7b), or letters in a few of the values (2, 3, 4, 5more)
    lettered = sum(counts[text] for text in odd if unit_of.get(text, "")[:1].isalpha())
    few = len(counts) <= MAX_TEXTS and 0 < 2 * lettered < counts.total()
    are_codes = len(units) > 1 or few
    if len(numeric) < MIN_NUMBERS or (are_codes and not mostly):
        return
    # what to do
    source, remedies = Path(options.data).name, []
    words = [text for text in odd if text not in matches]
    if find_ending(source) not in TEXT_FILES + EXCEL_FILES:
        remedies.append("store numbers as numbers")
    else:
        if column[0].strip() in words and sum(counts[word] for word in words) == 1:
            remedies.append("delete row 1 if it contains units")
        if written:
            plain = "write plain numbers, without units, in the file"
            # a decimal sign that was passed is right if there is a way with it
            ways = _list_marks(numeric, written, ",") if options.decimal == "," else []
            remedies.append(" or ".join(ways or _list_marks(numeric, written, ".,")) or plain)
        if 0 < len(words) <= N_SHOWN:
            missing = " ".join(_write_option("--na", word) for word in words)
            remedies.append(f"pass {missing} if it means a missing value")
    remedies.append(f"{_write_option('--text', name)} treats all values as categories")
    remedy, shown = "; or ".join(remedies), ", ".join(map(repr, (odd or numeric)[:N_SHOWN]))
    if mostly and not are_codes:
        n_odd = sum(counts[text] for text in odd)
        what = f"{n_odd} of {counts.total()} values are not numbers" if odd else "stored as text"
        raise ValueError(
            f"{source}: column {name!r} is nearly numeric: {shown} ({what}). Remedies: {remedy}."
        )
    notes.append(
        f"column {name!r} has numbers in {n_numeric} of {len(column)} rows, beside values such as "
        f"{shown}, and is treated as text. Remedies: {remedy}."
    )


def _list_marks(numeric: Sequence[str], written: Sequence[str], decimals: str) -> list[str]:
    """Return the options of each way to read all texts as numbers, for these decimal signs.

    Three digits follow each separator of thousands.
    """
    ways, joined = [], "".join(written)
    signs = {".", *joined} if len(decimals) > 1 else decimals
    for decimal, thousands in product(decimals, ("", ",", ".", "'", " ")):
        if decimal == thousands or thousands not in joined or decimal not in signs:
            continue
        grouped = rf"[1-9]\d{{0,2}}({re.escape(thousands)}\d{{3}})+"
        number = re.compile(rf"[+-]?(\d+|{grouped})({re.escape(decimal)}\d+)?([eE][+-]?\d+)?")
        if not all(number.fullmatch(text) for text in written):
            continue
        if all(_parse(text, decimal, thousands) is not None for text in numeric):
            marks = {"--decimal": "," * (decimal == ","), "--thousands": thousands}
            options = " ".join(_write_option(*item) for item in marks.items() if item[1])
            ways.append(f"pass {options}" if options else "leave out --decimal and --thousands")
    return ways


def _read_labels(
    source: str, target: str, y: np.ndarray, rows: np.ndarray, options: argparse.Namespace
) -> np.ndarray:
    """Return the labels. Raise if one is missing, or has spellings that differ by case or spaces.

    With --text, each spelling is a class.
    """
    start = f"{source}: the target column {target!r}"
    if not len(y):
        raise ValueError(f"{start} must have a value, but all rows are empty.")
    keep = f"{_write_option('--text', target)} keeps "
    # missing labels
    missing = find_blanks(y)
    if missing.any():
        more = f", {keep}strings such as None as classes"
        more = more if y.dtype == object and find_ending(source) in TEXT_FILES else ""
        more += ". Delete row 1 if it contains units" if missing[0] else ""
        raise ValueError(
            f"{start} has no value in {_describe_rows(missing, rows)}. --drop-missing-target "
            f"leaves such rows out{more}."
        )
    if y.dtype == object:
        if target in options.text:
            return y.astype(str)
        if read_times(y):
            raise ValueError(f"{start} must contain classes or numbers, got dates ({y[0]!r}).")
        # spellings of a label
        folded: dict[str, set[str]] = {}
        for text in dict.fromkeys(map(str.strip, y.tolist())):
            folded.setdefault(" ".join(text.split()).casefold(), set()).add(text)
        several = [sorted(spellings) for spellings in folded.values() if len(spellings) > 1]
        if several:
            raise ValueError(
                f"{start} has classes that differ only in case or spaces, {_shorten(several[0])}. "
                f"Write each in one way. If they are different classes, {keep}them."
            )
        return np.array([text.strip() for text in y.tolist()])
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError(f"{start} must be finite, got inf in {_describe_rows(np.isinf(y), rows)}.")
    if y.dtype.kind in "iu" and ((y > MAX_EXACT) | (y < -MAX_EXACT)).any():
        return y.astype(str)  # as floats, labels that differ in the last digits would be equal
    whole = y.dtype.kind == "f" and (y % 1 == 0).all() and np.abs(y).max() < MAX_EXACT
    return y.astype(np.int64) if whole else y


def _read_features(
    source: str,
    columns: Mapping[str, np.ndarray],
    rows: np.ndarray,
    options: argparse.Namespace,
    notes: list[str],
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the features, and the names of other columns. The notes contain the reasons."""
    features: dict[str, np.ndarray] = {}
    left_out = []
    predictions = getattr(options, "predictions", None) or ()
    for name, column in columns.items():
        start, missing = f"{source}: column {name!r}", find_blanks(column)
        if missing.any() and name in predictions:
            raise ValueError(
                f"{start} of predictions has no value in {_describe_rows(missing, rows)}. "
                f"Complete or delete them ({_write_option('--text', name)} keeps texts like None)."
            )
        if missing.all():
            left_out.append(name)
            notes.append(f"column {name!r} has no value and is left out.")
            continue
        # numbers
        if column.dtype != object and name not in options.text:
            features[name] = numbers = column.astype(float)
            if np.isinf(numbers).any():
                raise ValueError(
                    f"{start} must be finite, got inf in "
                    f"{_describe_rows(np.isinf(numbers), rows)}. Correct or empty the cell."
                )
            continue
        # dates
        different = {str(value).strip() for value in column[~missing].tolist()}
        many = f"{len(different)} different strings in {len(column)} rows"
        readings = read_times(column)
        if len(readings) == 1 and options.date_features:
            parts = _split_dates(name, readings[0])
            if taken := [part for part in parts if part in columns]:
                raise ValueError(
                    f"--date-features would make a column named {taken[0]!r} from {name!r}, but "
                    f"{source} has a column of this name. Rename or drop that column."
                )
            features |= parts
        elif readings:
            left_out.append(name)
            ways = "write dates as 2024-01-31, because the day or the month may come first"
            if len(readings) == 1:
                ways = "pass --date-features to convert dates to numbers"
                if hasattr(options, "time"):
                    later = f"pass {_write_option('--time', name)} to predict the later rows"
                    ways = f"{later}, or {ways}"
            notes.append(
                f"column {name!r} contains dates ({many}) and is left out. To use it, {ways}."
            )
            continue
        else:
            # other texts
            _check_numbers(name, column, options, notes)
            if name not in predictions and len(different) > max(MAX_TEXTS, len(column) / 2):
                left_out.append(name)
                ways = f"{_write_option('--id', name)} uses it as row names"
                notes.append(f"column {name!r} contains {many} and is left out. {ways}.")
                continue
            texts = [str(value).strip() or "missing" for value in column.tolist()]
            features[name] = np.array(texts, dtype=object)
    return features, left_out


def _split_dates(name: str, seconds: np.ndarray) -> dict[str, np.ndarray]:
    """Return a dict of the varying parts of dates as numbers, nan for missing dates."""
    import pandas

    moments = pandas.to_datetime(seconds, unit="s")
    parts = {f"{name}: days since 1970": seconds / 86400}
    for part in ("year", "month", "day", "weekday", "hour"):
        values = np.asarray(getattr(moments, part.replace("weekday", "day_of_week")), dtype=float)
        if len(np.unique(values[~np.isnan(values)])) > 1:
            parts[f"{name}: {part}"] = values
    return parts
