"""Tables: assignment of columns to features, labels and other roles."""

from __future__ import annotations

import re
import reprlib
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from skeval.datasets import _files
from skeval.datasets._files import (
    BOOLEANS,
    DASHES,
    DECIMAL_COMMA,
    DEFAULT_TARGET,
    LARGEST_EXACT,
    MISSING,
    Columns,
)
from skeval.datasets._numbers import WrittenNumbers, have_decimal_commas, read_written_numbers
from skeval.utils._checks import check_flag, warn_user

MAX_LISTED, N_RECORDS_SHOWN = 8, 5
WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
NAN = re.compile(r"\s*[+-]?nan\s*", re.IGNORECASE)
USUAL_TARGETS = {"label", "labels", "class", "y", "outcome", "response", "diagnosis", "species"}
"""Common names of a target column."""
SOME_NUMBERS = 0.2
"""Minimum share of numbers for a note that a text column contains numbers."""
MIN_WORDS = 3
"""Mean number of words from which texts are free texts rather than names."""
FREE_TEXT = (
    "to use free text, evaluate a pipeline that begins with TfidfVectorizer in Python: "
    "skeval.evaluate(make_pipeline(TfidfVectorizer(), LogisticRegression()), texts, y)"
)
MAX_TEXTS = 20
"""Maximum number of distinct texts in a text feature, or half of the rows if that is more."""


class Table(NamedTuple):
    """Features and labels.

    Attributes
    ----------
    X : float ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), or None
        Labels; None if a file has no labels.
    feature_names : list of str
    """

    X: np.ndarray
    y: Any
    feature_names: list[str]


class ColumnTable(NamedTuple):
    """Numeric and text features, labels and groups.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Floats, or objects if `texts` is not empty; missing numbers are nan.
    y : ndarray of shape (n_samples,), or None
        Labels; None if a file has no labels.
    feature_names : list of str
    texts : list of int
        Columns of X that contain text.
    missing : list of int
        Columns of X with missing numbers.
    groups : ndarray of shape (n_samples,), or None
    notes : list of str
        Notes on omitted columns and rows, with reasons.
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


def load_table(
    source: str | PathLike,
    *,
    target: str | None = None,
    needs_target: bool = True,
    header: bool | None = None,
    encoding: str | None = None,
) -> Table:
    """Load numeric features and labels.

    Parameters
    ----------
    source : str or path-like
        Name of a bundled scikit-learn data set (breast_cancer, iris, wine, digits), or a file: CSV
        (separated by comma, semicolon or tab), NPZ with the arrays `X` and `y`, or Parquet, Feather
        or Excel (which need pandas: ``pip install "skeval[table]"``). A first column without a name
        that counts the rows (from 0 or 1), as written by pandas and R by default, is omitted with a
        warning, and so is the index that pandas stores in a Parquet file. "Unnamed: 0", the name
        that pandas assigns when reading such a column, counts as no name.
    target : str, default=None
        Column of the labels, for all files but NPZ. None means "target".
    needs_target : bool, default=True
        If False, labels are optional unless `target` is passed: `y` is None if there is no column
        "target" or no array `y`. Clustering does not need labels.
    header : bool, default=None
        Whether the first line of a CSV file contains the column names. If False, columns are named
        x0, x1, ... None assumes names and raises an error if the first line contains a value, such
        as "5.1", and not the name of the target. Titles above the names that fill one cell of a
        line are skipped with a warning, also in Excel files.
    encoding : str, default=None
        Encoding of a CSV file, such as "cp1252". None means UTF-8 or UTF-16, or else cp1252, with a
        warning.

    Returns
    -------
    Table
        Named tuple of `X` (n_samples, n_features) of floats, `y` (n_samples,) or None, and
        `feature_names`.

    Raises
    ------
    FileNotFoundError
        If there is no such data set or file.
    ValueError
        If the file is empty, has fewer than two rows, lacks the target column, or has a feature
        that is not a finite number or has no name (other than one that counts the rows); if a
        feature or label is missing. The message names file, column, value and position: the line of
        a CSV file, otherwise the row, counted from 1.

    Warns
    -----
    UserWarning
        If a column is omitted, an integer above 2**53 is rounded, or a class has a name that often
        marks missing values, such as "NA".

    Notes
    -----
    Numbers follow the syntax of Python's `float`, in ASCII and without underscores, with a decimal
    point. Labels in a CSV file are numbers if one number format reproduces all of their texts
    (integers up to 2**53, shortest decimals, a fixed number of decimals with or without an
    exponent); otherwise each distinct text is a class, so "01" and "1" are different. Other files
    store the types; integers above 2**53 become text. Boolean values are always valid labels. As
    features they become 0 and 1 if stored as Booleans, and raise an error in CSV files.

    Examples
    --------
    >>> from skeval.datasets import load_table
    >>> X, y, names = load_table("iris")
    >>> X.shape, names[0]
    ((150, 4), 'sepal length (cm)')
    """
    if not isinstance(source, str | PathLike):
        raise TypeError(f"source must be a name or a path, got {source!r}.")
    if target is not None and not isinstance(target, str):
        raise TypeError(f"target must be the name of a column, got {target!r}.")
    check_flag("needs_target", needs_target)
    if header is not None:
        check_flag("header", header)
    if encoding is not None and not isinstance(encoding, str):
        raise TypeError(f"encoding must be the name of an encoding, got {encoding!r}.")
    sheet = _files.read_file(source, target, needs_target, header, encoding=encoding)
    notes = list(sheet.notes)
    label, features = _place_columns(sheet, target, needs_target, notes, strict=True)
    columns = [_read_exact_numbers(sheet, position) for position in features]
    for position, column in zip(features, columns, strict=True):
        notes += _note_rounding(sheet, position, column)
    y = None if label is None else _read_labels(sheet, label, notes, strict=True)
    for note in notes:
        warn_user(note)
    return Table(np.column_stack(columns), y, [sheet.names[position] for position in features])


def load_columns(
    source: str | PathLike,
    *,
    target: str | None,
    needs_target: bool,
    header: bool | None,
    drop: Iterable[str] = (),
    groups: str | None = None,
    time: str | None = None,
    drop_missing_target: bool = False,
    merge_labels: bool = False,
    date_features: bool = False,
    only: Iterable[str] | None = None,
    encoding: str | None = None,
    numeric: Iterable[str] = (),
    texts: Iterable[str] = (),
) -> ColumnTable:
    """Load a table with text features, missing numbers and other columns.

    Texts stay texts, missing numbers are nan, and decimal commas are recognized if they do not
    separate thousands. `drop`, `groups` and `time` name columns that are not features; rows are
    sorted by `time`. Optionally, rows without a label are dropped, labels that differ only in case
    or spaces are merged, and dates are split into numbers. With `only`, other columns are not read.
    Columns in `numeric` are converted to numbers, with other texts as missing values; columns in
    `texts` stay text; the type of all others follows from their values.
    """
    kinds = dict.fromkeys(numeric, "numeric") | dict.fromkeys(texts, "texts")
    dropped = list(drop)
    named = [*dropped, *(name for name in (groups, time) if name is not None)]
    wanted = None if only is None else [*dict.fromkeys([*only, *named])]
    sheet = _files.read_file(source, target, needs_target, header, wanted, encoding)
    roles = dict.fromkeys(dropped, "--drop and --id")
    roles |= {name: f"--{role}" for role, name in (("groups", groups), ("time", time)) if name}
    roles |= dict.fromkeys(kinds, "--numeric and --text")
    _check_names(roles | ({} if target is None else {target: "--target"}), sheet)
    notes = list(sheet.notes)
    label, features = _place_columns(sheet, target, needs_target, notes, strict=False)
    y, spellings = None, ""
    if label is not None:
        if sheet.names[label] in dropped:
            raise ValueError(f"the target {sheet.names[label]!r} must not be dropped.")
        sheet = _read_numeric_target(sheet, label, notes, kinds.get(sheet.names[label]))
        if drop_missing_target:
            sheet = _drop_unlabeled(sheet, label, notes)
        sheet, spellings = _merge_spellings(sheet, label, merges=merge_labels)
        y = _read_labels(sheet, label, notes, strict=False, more=spellings)
    notes += [spellings] if spellings else []
    left_out = {name: np.array(sheet.values[sheet.names.index(name)]) for name in dropped}
    columns: dict[str, np.ndarray] = {}
    for position in features:
        name = sheet.names[position]
        if name in named:
            continue
        column, reason = _read_feature(sheet, position, notes, kinds.get(name))
        times = _files.read_times(sheet.values[position]) if reason and date_features else []
        if len(times) == 1:
            parts = _split_dates(name, times[0])
            notes.append(
                f"{sheet.source}: the dates in {name!r} make {', '.join(map(repr, parts))}."
            )
            columns |= parts
        elif reason:
            notes.append(f"{sheet.source}: column {name!r} {reason}.")
            left_out[name] = np.array(sheet.values[position])
        else:
            columns[name] = column
    if not columns:
        raise ValueError(f"{sheet.source} has no feature left. {' '.join(notes)}".rstrip())
    group_of = None if groups is None else _read_groups(sheet, groups)
    table = _join_columns(columns, y, group_of, notes, left_out)
    return table if time is None else _sort_rows(table, _find_order(sheet, time))


def _join_columns(
    columns: dict[str, np.ndarray],
    y: Any,
    groups: np.ndarray | None,
    notes: list[str],
    left_out: dict[str, np.ndarray],
) -> ColumnTable:
    """Return the columns as one table, with the positions of text and missing values."""
    names = list(columns)
    texts = [place for place, name in enumerate(names) if columns[name].dtype == object]
    numbers = [place for place in range(len(names)) if place not in texts]
    missing = [place for place in numbers if np.isnan(columns[names[place]]).any()]
    X = np.empty((len(columns[names[0]]), len(names)), dtype=object if texts else float)
    for place, name in enumerate(names):
        X[:, place] = columns[name]
    return ColumnTable(X, y, names, texts, missing, groups, notes, left_out)


def _find_order(sheet: Columns, time: str) -> np.ndarray:
    """Return the row order by a column of numbers or dates without missing values."""
    position = sheet.names.index(time)
    numbers = _read_numbers(sheet, position)
    readings = _files.read_times(sheet.values[position]) if numbers is None else [numbers]
    orders = [np.argsort(reading, kind="stable") for reading in readings]
    start = f"{sheet.source}: the column of times {time!r}"
    if not orders:
        raise ValueError(f"{start} must hold numbers, or dates such as 2024-01-31 10:30.")
    if np.isnan(readings[0]).any():
        record = sheet.name_record(int(np.argmax(np.isnan(readings[0]))))
        raise ValueError(f"{start} has no value in {record}.")
    if any(not np.array_equal(order, orders[0]) for order in orders):
        raise ValueError(
            f"{start} can be read with the day or with the month first; write 2024-01-31."
        )
    return orders[0]


def _sort_rows(table: ColumnTable, order: np.ndarray) -> ColumnTable:
    """Return a table with reordered rows."""
    return table._replace(
        X=table.X[order],
        y=None if table.y is None else table.y[order],
        groups=None if table.groups is None else table.groups[order],
        left_out={name: column[order] for name, column in table.left_out.items()},
    )


def _place_columns(
    sheet: Columns, target: str | None, needs_target: bool, notes: list[str], *, strict: bool
) -> tuple[int | None, list[int]]:
    """Return the positions of the label column and of the feature columns.

    Raise if a column has no name or the target is missing. First columns without a name that count
    the rows are not features.
    """
    names, source = sheet.names, sheet.source
    has_name = [name == target or not _files.is_unnamed(name) for name in names]
    nameless = (has_name + [True]).index(True)
    for position in range(nameless, len(names)):
        if not has_name[position]:
            raise make_name_error(source, position, names[position])
    if nameless == len(names):
        raise (
            make_name_error(source, nameless - 1, names[-1])
            if names
            else ValueError(f"{source} is empty.")
        )
    label, features = None, list(range(nameless, len(names)))
    name = sheet.target if target is None else target
    if target is not None or needs_target or name in names:
        if names.count(name) != 1:
            many = "no column" if name not in names else "two columns"
            meant = "." if name in names else _guess_target(sheet)
            raise ValueError(
                f"{source} has {many} {name!r} for the target; its columns are "
                f"{_shorten_list(names[nameless:])}. Name one with --target (target=){meant}"
            )
        if len(features) < 2:
            raise ValueError(f"{source} has no column beside the target {name!r}.")
        label = names.index(name)
        features.remove(label)
    if sheet.n_rows < 2:
        raise ValueError(f"{source} must hold at least two rows of data, it holds {sheet.n_rows}.")
    for position in range(nameless):
        if not counts_rows(sheet.values[position]):
            raise make_name_error(source, position, names[position])
        kept = (
            " Name it to keep it as a feature; pandas writes none with to_csv(index=False)."
            if strict
            else ""
        )
        notes.append(
            f"{source}: the first column, {names[position]!r}, counts the rows and is left out."
            + kept
        )
    return label, features


def counts_rows(values: Any) -> bool:
    """Return whether a column counts the rows from 0 or from 1."""
    numbers = values if isinstance(values, np.ndarray) else _files.parse_numbers(values)
    return any(np.array_equal(numbers, np.arange(len(values)) + start) for start in (0, 1))


def _check_names(wanted: Mapping[str, str], sheet: Columns) -> None:
    """Raise if columns are missing, with their options and similar names."""
    missing = []
    for name, option in wanted.items():
        if name in sheet.names:
            continue
        folded = {one.strip().lower(): one for one in sheet.names}
        close = get_close_matches(name.strip().lower(), folded, n=3, cutoff=0.6)
        near = [folded[one] for one in close]
        if option == "--target":
            near = [one for one in near if _is_plausible(sheet, one)][:1] or near
        meant = " or ".join(map(repr, near))
        hint = f" (did you mean {meant}?)" if near else ""
        missing.append(f"no column {name!r} for {option}{hint}")
    if missing:
        raise ValueError(
            f"{sheet.source} has {' and '.join(missing)}; its columns are "
            f"{_shorten_list(sheet.names)}."
        )


def _is_plausible(sheet: Columns, name: str) -> bool:
    """Return whether a column may be a target: not constant and not a row identifier."""
    values = sheet.values[sheet.names.index(name)]
    n_distinct = len(set(values.tolist() if isinstance(values, np.ndarray) else values))
    is_text = _read_numbers(sheet, sheet.names.index(name)) is None
    return n_distinct > 1 and (n_distinct <= MAX_TEXTS or not is_text)


def _guess_target(sheet: Columns) -> str:
    """Suggest a target column, by name or because the last column has few values."""
    by_name = [
        name
        for name in sheet.names
        if name.strip().lower() in USUAL_TARGETS
        or get_close_matches(name.strip().lower(), [DEFAULT_TARGET], cutoff=0.75)
    ]
    plausible = [name for name in by_name if _is_plausible(sheet, name)]
    last = sheet.values[-1]
    few = len(set(last.tolist() if isinstance(last, np.ndarray) else last)) <= MAX_TEXTS
    if not plausible and few and _is_plausible(sheet, sheet.names[-1]):
        plausible = sheet.names[-1:]
    return f"; did you mean --target {shlex.quote(plausible[0])}?" if plausible else "."


def _drop_unlabeled(sheet: Columns, label: int, notes: list[str]) -> Columns:
    """Return a table without the rows that have no label."""
    missing = _files.find_missing(sheet.values[label], words=True)
    if not missing.any():
        return sheet
    records = [sheet.name_record(row) for row in np.flatnonzero(missing).tolist()]
    notes.append(
        f"{sheet.source}: {list_records(records)} without a value of {sheet.names[label]!r} are "
        "left out."
    )
    kept = np.flatnonzero(~missing).tolist()
    values = [
        column[kept] if isinstance(column, np.ndarray) else [column[row] for row in kept]
        for column in sheet.values
    ]
    lines = None if sheet.lines is None else [sheet.lines[row] for row in kept]
    return sheet._replace(values=values, lines=lines)


def _read_numeric_target(sheet: Columns, label: int, notes: list[str], kind: str | None) -> Columns:
    """Return a table with a numeric target if its texts are numbers.

    Raise if most of the texts are numbers but some are detection limits or other text.
    """
    values, name = sheet.values[label], sheet.names[label]
    if kind == "texts" or isinstance(values, np.ndarray):
        return sheet
    if kind is None and _read_numbers(sheet, label) is not None:
        return sheet
    written = read_written_numbers(values, decimal_comma=sheet.decimal_comma)
    if kind is None:
        if not written.holds_numbers or len(set(values)) <= MAX_TEXTS:
            return sheet
        if written.others or written.limits:
            limits = f"limits: {written.describe_limits()}"
            values_listed = written.describe_others() if written.others else limits
            raise ValueError(
                f"{sheet.source}: the target column {name!r} must hold numbers or names of "
                f"classes; {values_listed}. --numeric {shlex.quote(name)} counts a limit as its "
                "number and other texts as missing."
            )
    notes += _note_written(sheet, name, written)
    columns = list(sheet.values)
    columns[label] = written.values
    return sheet._replace(values=columns)


def _note_written(sheet: Columns, name: str, written: WrittenNumbers) -> list[str]:
    """Return notes on texts read as numbers or as missing values."""
    start = f"{sheet.source}: column {name!r}"
    notes = []
    if written.example is not None:
        text, number = written.example
        notes.append(f"{start}: {text!r} is read as {number:.15g}.")
    if written.limits:
        limits = written.describe_limits()
        keep = f"--text {shlex.quote(name)} keeps them as categories"
        notes.append(f"{start}: limits are read as their numbers: {limits}; {keep}.")
    if written.others:
        keep = f"--text {shlex.quote(name)} keeps all values as categories"
        notes.append(f"{start}: {written.describe_others()}, read as missing; {keep}.")
    return notes


def _merge_spellings(sheet: Columns, label: int, *, merges: bool) -> tuple[Columns, str]:
    """Return a table, with spellings of labels merged if requested, and a note on them."""
    texts, name = sheet.values[label], sheet.names[label]
    if isinstance(texts, np.ndarray):
        return sheet, ""
    spelled = _files.name_spellings(texts)
    if not spelled:
        return sheet, ""
    pairs = [f"{text!r}" for text in spelled][: 2 * MAX_LISTED]
    listed = f"{sheet.source}: in the target column {name!r} {', '.join(pairs)} differ by spelling"
    if not merges:
        return (sheet, f"{listed} alone and are separate classes; --merge-labels merges them.")
    into = ", ".join(repr(text) for text in dict.fromkeys(spelled.values()))
    values = list(sheet.values)
    values[label] = [spelled.get(text, text) for text in texts]
    return sheet._replace(values=values), f"{listed} alone and are read as {into}."


def _split_dates(name: str, seconds: np.ndarray) -> dict[str, np.ndarray]:
    """Return the varying parts of dates as numbers by name, nan for missing dates."""
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
    first, *others = parts
    varying = [part for part in others if len(np.unique(parts[part][is_date])) > 1]
    return {part: parts[part] for part in (first, *varying)}


def _shorten_list(names: Sequence[str]) -> str:
    """Return the first few names as one text."""
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(repr(name) for name in names[:MAX_LISTED]) + more


def _read_exact_numbers(sheet: Columns, position: int) -> np.ndarray:
    """Return a column as finite numbers; raise at the first invalid value."""
    values = sheet.values[position]
    stored = isinstance(values, np.ndarray)
    numbers = values.astype(float) if stored else _files.parse_numbers(values)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise make_value_error(sheet, position, int(bad[0]))
    return numbers


def _note_rounding(sheet: Columns, position: int, numbers: np.ndarray) -> list[str]:
    """Return a note on the first integer that is rounded to a float."""
    values, name = sheet.values[position], sheet.names[position]
    with np.errstate(invalid="ignore"):
        large = np.flatnonzero(np.abs(numbers) >= LARGEST_EXACT)
    for row in large.tolist():
        text = str(values[row])
        if WHOLE.fullmatch(text) and Decimal(text) != Decimal(float(text)):
            return [
                f"{sheet.source}: column {name!r} holds whole numbers beyond 2**53, which are "
                f"rounded: {sheet.name_record(row)} has {text.strip()}, read as {int(float(text))}."
            ]
    return []


def _read_numbers(sheet: Columns, position: int) -> np.ndarray | None:
    """Return a column as numbers, nan if missing; None if it has other values."""
    values = sheet.values[position]
    if isinstance(values, np.ndarray):
        return values.astype(float)
    plain = _files.parse_plain_numbers(values)
    if plain is not None:
        return plain
    distinct = set(values)
    digits = [text.strip().lstrip("+-") for text in distinct]
    commas = have_decimal_commas(digits, default=sheet.decimal_comma)
    numbers: dict[str, float] = {}
    for text in distinct:
        word = text.strip()
        if _files.marks_missing(word):
            numbers[text] = np.nan
            continue
        comma = commas and DECIMAL_COMMA.fullmatch(word)
        numbers[text] = _files.parse_number(word.replace(",", ".") if comma else word)
        if np.isnan(numbers[text]):
            return None
    return np.array([numbers[text] for text in values])


def _read_feature(
    sheet: Columns, position: int, notes: list[str], kind: str | None
) -> tuple[np.ndarray, str | None]:
    """Return a column of numbers or text objects, and the reason if it is not a feature."""
    name, values = sheet.names[position], sheet.values[position]
    if kind == "texts" and isinstance(values, np.ndarray):
        values = [str(value) for value in values.tolist()]
    numbers = None if kind == "texts" else _read_numbers(sheet, position)
    some_numbers = ""
    if numbers is None and kind != "texts":
        written = read_written_numbers(values, decimal_comma=sheet.decimal_comma)
        clear = not written.others or len(set(values)) > MAX_TEXTS
        if kind == "numeric" or (written.holds_numbers and clear):
            notes += _note_written(sheet, name, written)
            values = numbers = written.values
        elif written.others and written.share >= SOME_NUMBERS:
            some_numbers = f"{written.describe_others()}; --numeric {shlex.quote(name)}"
            some_numbers += " reads the others as missing"
    if numbers is None:
        different = {text.strip() for text in values if text.strip().lower() not in {"", *MISSING}}
        n_distinct = len(different)
        texts = np.array([text.strip() or "missing" for text in values], dtype=object)
        if _files.read_times(values):
            many = f"holds dates or times ({n_distinct} different ones in {sheet.n_rows} rows)"
            ways = f"--time {shlex.quote(name)} predicts later rows from earlier ones"
            ways += ", --date-features converts dates to numbers"
            return texts, f"{many} and is left out; {ways}"
        if n_distinct <= MAX_TEXTS or n_distinct <= sheet.n_rows / 2:
            if some_numbers:
                notes.append(f"{sheet.source}: column {name!r} is read as texts: {some_numbers}.")
            return texts, None
        many = f"holds {n_distinct} different texts in {sheet.n_rows} rows"
        ways = FREE_TEXT
        if some_numbers:
            ways = some_numbers
        elif np.mean([len(text.split()) for text in different]) < MIN_WORDS:
            ways = f"--id {shlex.quote(name)} names the rows by it"
        return texts, f"{many} and is left out; {ways}"
    if np.isinf(numbers).any():
        record = sheet.name_record(int(np.argmax(np.isinf(numbers))))
        raise ValueError(
            f"{sheet.source}: column {name!r} must be finite, {record} is not; correct "
            "the value or leave it empty."
        )
    if np.isnan(numbers).all():
        return numbers, "has no value and is left out"
    if not isinstance(values, np.ndarray) and np.isnan(numbers).any():
        dashes = sorted({text.strip() for text in values} & DASHES)
        notes += [
            f"{sheet.source}: {dash!r} in column {name!r} is read as a missing number."
            for dash in dashes
        ]
    if not isinstance(values, np.ndarray) and not sheet.decimal_comma:
        example = next((text.strip() for text in values if "," in text), "")
        if example:
            number = example.replace(",", ".")
            notes.append(f"{sheet.source}: column {name!r}: {example!r} is read as {number}.")
    notes += _note_rounding(sheet, position, numbers)
    return numbers, None


def _read_labels(
    sheet: Columns, label: int, notes: list[str], *, strict: bool, more: str = ""
) -> np.ndarray:
    """Return the labels as stored, or parsed from text."""
    values, name = sheet.values[label], sheet.names[label]
    start = f"{sheet.source}: the target column {name!r}"
    remedy = "." if strict else "; --drop-missing-target leaves such rows out."
    remedy += f" In{more.partition(': in')[2]}" if more else ""
    _check_labeled(sheet, start, _files.find_missing(values, words=False), remedy)
    if isinstance(values, np.ndarray):
        return check_stored_labels(values, start)
    numbers = None if strict else _read_numbers(sheet, label)
    if numbers is not None and not np.isinf(numbers).any():
        missing = np.isnan(numbers)
        if (numbers[~missing] % 1 != 0).any():  # a regression target: other texts are missing
            _check_labeled(sheet, start, missing, remedy)
            return numbers
        if any("," in text for text in values):
            values = [text.replace(",", ".") for text in values]
    first: dict[str, int] = {}
    for row, text in enumerate(values):
        first.setdefault(text, row)
    records = {text: sheet.name_record(row) for text, row in first.items()}
    stored = sheet.lines is None  # files that store types: text remains text
    labels = read_class_labels(records, start, as_text=stored)
    if labels.dtype.kind == "U":
        notes += [
            f"{sheet.source}: {text!r} in the target column {name!r} is read as the name of a "
            "class; delete its rows (--drop-missing-target) if it marks missing labels."
            for text in first
            if text.strip().lower() in MISSING
        ]
    code = {text: position for position, text in enumerate(first)}
    return labels[[code[text] for text in values]]


def _check_labeled(sheet: Columns, start: str, missing: np.ndarray, remedy: str) -> None:
    """Raise if labels are missing, with their number and the first rows."""
    records = [sheet.name_record(row) for row in np.flatnonzero(missing).tolist()]
    if records:
        raise ValueError(f"{start} has no value in {list_records(records)}{remedy}")


def _read_groups(sheet: Columns, name: str) -> np.ndarray:
    """Return the group of each row as stripped text; raise if one is missing."""
    texts = [str(value).strip() for value in sheet.values[sheet.names.index(name)]]
    for row, text in enumerate(texts):
        if not text or text.lower() in MISSING:
            raise ValueError(
                f"{sheet.source}: the column of groups {name!r} has no value in "
                f"{sheet.name_record(row)}; rows without a group would be one group."
            )
    return np.array(texts)


def make_name_error(source: str, position: int, name: str) -> ValueError:
    """Return the error for a column without a name."""
    return ValueError(
        f"{source}: column {position + 1} has no name in the header, but {name!r}; name it if it "
        "is a feature, delete it if it is a row number or label."
    )


def make_value_error(sheet: Columns, position: int, row: int) -> ValueError:
    """Return the error for a feature value that is not a finite number."""
    source, name, record = (sheet.source, sheet.names[position], sheet.name_record(row))
    value = sheet.values[position][row]
    text = str(value)
    word = text.strip().lower()
    if not word or value is None or value != value:
        return ValueError(f"{source}: column {name!r} has no value in {record}; impute or drop it.")
    if word in MISSING:
        advice = "impute what is missing or drop it"
    elif word in BOOLEANS:
        advice = "write 1 and 0"
    elif DECIMAL_COMMA.fullmatch(text):
        advice = "write decimals with a point, and thousands without a separator"
    elif np.isinf(_files.parse_number(text)):
        advice = "they must be finite"
    else:
        advice = "encode it (one-hot, for example), drop it, or name it as the target"
    shown = reprlib.repr(text) if isinstance(value, str) else text
    return ValueError(
        f"{source}: column {name!r} must hold numbers, {record} has {shown}; {advice}."
    )


def read_class_labels(records: Mapping[str, str], start: str, *, as_text: bool) -> np.ndarray:
    """Return the label of each distinct text; `records` has a row for each text.

    Labels are numbers if one number format reproduces all texts, unless `as_text`.
    """
    texts = list(records)
    if any("\0" in text for text in texts):  # arrays drop NUL characters at the end
        raise ValueError(f"{start} has a label with a NUL character.")
    if not as_text:
        check_finite_labels(records, start)
        labels = parse_labels(texts)
        if labels is not None:
            return labels
    check_measurements(records, start)
    return np.array(texts)


def check_finite_labels(records: Mapping[str, str], start: str) -> None:
    """Raise if all labels are numbers and one of them is infinite or nan."""
    values = {text: _files.parse_number(text) for text in records}
    if all(value == value or NAN.fullmatch(text) for text, value in values.items()):
        for text, value in values.items():
            if not np.isfinite(value):
                raise ValueError(f"{start} must be finite, {records[text]} has {text!r}.")


def check_measurements(records: Mapping[str, str], start: str) -> None:
    """Raise if fractional numbers would be treated as class names.

    This happens if one is missing, or if they have a decimal comma.
    """
    absent = [text for text in records if _files.marks_missing(text)]
    present = [text for text in records if text not in absent]
    commas = [text for text in present if DECIMAL_COMMA.fullmatch(text)]
    texts = [text.replace(",", ".") if text in commas else text for text in present]
    values = list(map(_files.parse_number, texts))
    if not present or not np.isfinite(values).all():
        return
    if commas:
        place = f"{commas[0]!r} in {records[commas[0]]}"
        raise ValueError(
            f"{start} has {place}; write decimals with a point, and thousands without a separator."
        )
    if absent and any(value % 1 for value in values):
        raise ValueError(f"{start} has no value in {records[absent[0]]}.")


def parse_labels(texts: list[str]) -> np.ndarray | None:
    """Return the numbers if one number format reproduces all texts, or None.

    The formats are whole numbers, shortest decimals, and a fixed number of decimals with or without
    an exponent. So "01" and "1" are two classes, and "1.50" and "2.00" are numbers.
    """
    decimals = len(re.split("[eE]", texts[0])[0].partition(".")[2])
    ways: list[tuple[Callable[[str], Any], Callable[[Any], str]]] = [
        (int, str),
        (float, repr),
        (float, f"{{:.{decimals}f}}".format),
        (float, f"{{:.{decimals}e}}".format),
    ]
    for read, write in ways:
        try:
            values = [read(text) for text in texts]
        except ValueError:
            continue
        distinct = len(set(values)) == len(texts) and max(map(abs, values)) <= LARGEST_EXACT
        if distinct and list(map(write, values)) == texts:
            return np.array(values)
    return None


def check_stored_labels(y: np.ndarray, start: str) -> np.ndarray:
    """Return labels stored with a type; raise if one is not finite."""
    if y.dtype.kind == "f" and np.isinf(y).any():
        row = int(np.argmax(np.isinf(y)))
        raise ValueError(f"{start} must be finite, row {row + 1} has {str(y[row])!r}.")
    if y.dtype.kind in "iu" and ((y > LARGEST_EXACT) | (y < -LARGEST_EXACT)).any():
        return y.astype(str)  # as floats, labels that differ in the last digits would be equal
    return y


def list_records(records: Sequence[str]) -> str:
    """Return the names of a few rows and the number of the others."""
    if len(records) == 1:
        return records[0]
    more = f" and {len(records) - N_RECORDS_SHOWN} more" if len(records) > N_RECORDS_SHOWN else ""
    return f"{len(records)} rows: {', '.join(records[:N_RECORDS_SHOWN])}{more}"
