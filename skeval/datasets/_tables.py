"""Tables: which columns are features, which one holds the labels, and what is left out, by name."""

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
from skeval.utils._checks import check_flag, warn_user

__all__ = ["ColumnTable", "load_columns", "load_table"]

FEW, FEW_RECORDS = 8, 5
WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
NAN = re.compile(r"\s*[+-]?nan\s*", re.IGNORECASE)
USUAL_TARGETS = {"label", "labels", "class", "y", "outcome", "response", "diagnosis", "species"}
"""What people call the column that they want to predict."""
MANY = 20
"""Distinct texts of which a column may have any number; of more, half of the rows at most."""


class Table(NamedTuple):
    """Features and labels.

    Attributes
    ----------
    X : float ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), or None where a file has no labels
    feature_names : list of str
    """

    X: np.ndarray
    y: Any
    feature_names: list[str]


class ColumnTable(NamedTuple):
    """Features of two kinds, labels and groups.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Floats, or objects where `texts` is not empty; a number that is missing is nan.
    y : ndarray of shape (n_samples,), or None where a file has no labels
    feature_names : list of str
    texts : list of int
        The columns of X that hold texts.
    missing : list of int
        The columns of X that lack numbers.
    groups : ndarray of shape (n_samples,), or None
    notes : list of str
        What was left out, and why.
    left_out : dict of str to ndarray of shape (n_samples,)
        The columns that are no features, as numbers or texts.
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
) -> Table:
    """Load numeric features and labels.

    Parameters
    ----------
    source : str or path-like
        The name of a bundled scikit-learn set (breast_cancer, iris, wine, digits), or a file:
        CSV (UTF-8, separated by comma, semicolon or tab), NPZ with the arrays `X` and `y`, or
        Parquet, Feather or Excel (which need pandas: ``pip install "skeval[table]"``). A first
        column that has no name and counts the rows (from 0 or 1), such as pandas and R write
        unless told otherwise, is no feature: it is left out, with a warning, and so is the index
        that pandas stores in a Parquet file. "Unnamed: 0", as pandas reads such a column, is no
        name either.
    target : str, default=None
        The column that holds the labels, in any file but NPZ; None means "target".
    needs_target : bool, default=True
        If False, a file may do without labels, unless `target` names their column: `y` is None
        where there is no column "target" or no array `y`. Clusterings need none.
    header : bool, default=None
        Whether the first line of a CSV file holds the names of the columns. Without them they are
        x0, x1, ... None means that it does, and refuses a first line that has a value among its
        names, such as "5.1", unless it has the name of the target, too.

    Returns
    -------
    Table
        Named tuple of `X` (n_samples, n_features) of floats, `y` (n_samples,) or None, and
        `feature_names`.

    Raises
    ------
    FileNotFoundError
        If there is no such set or file.
    ValueError
        If the file is empty, has fewer than two rows, lacks the target column, or holds a feature
        that is not a finite number or (other than one that counts the rows) has no name; if a
        feature or label is missing. The message names file, column, value and place: the line
        of a CSV file, else the row, counted from 1.

    Warns
    -----
    UserWarning
        If a column is left out, a whole number beyond 2**53 is rounded, or a class is called as
        others call a missing value, such as "NA".

    Notes
    -----
    A number is what Python's `float` reads, in ASCII and without underscores: decimals have a
    point. Labels in a CSV file are numbers where one way of writing numbers gives all of their
    texts back (whole numbers up to 2**53, shortest decimals, a fixed number of decimals with or
    without an exponent); otherwise each text is a class, so that "01" and "1" are two. Other files
    say themselves what is text and what a number; whole numbers beyond 2**53 become text. Truth
    values are labels anywhere, and features 0 and 1 where they were stored as such; in CSV they
    are refused as features.

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
    found = _files.read_file(source, target, needs_target, header)
    notes = list(found.notes)
    label, features = _place_columns(found, target, needs_target, notes, strict=True)
    columns = [_read_exact_numbers(found, position) for position in features]
    for position, column in zip(features, columns, strict=True):
        notes += _note_rounding(found, position, column)
    y = None if label is None else _read_labels(found, label, notes, strict=True)
    for note in notes:
        warn_user(note)
    return Table(np.column_stack(columns), y, [found.names[position] for position in features])


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
) -> ColumnTable:
    """Load a table as people have it.

    Texts stay texts, missing numbers are nan, decimal commas are read where they separate nothing;
    `drop`, `groups` and `time` name columns that are no features. By the last the rows are sorted.
    Rows without a label may be dropped, labels that differ by case or spaces alone be one, and
    dates be split into numbers. Where `only` some columns are features the others need not be read.
    """
    dropped = list(drop)
    named = [*dropped, *(name for name in (groups, time) if name is not None)]
    wanted = None if only is None else [*dict.fromkeys([*only, *named])]
    found = _files.read_file(source, target, needs_target, header, wanted)
    _check_names(named, found, "--drop, --id, --groups and --time")
    if target is not None:
        _check_names([target], found, "--target")
    notes = list(found.notes)
    label, features = _place_columns(found, target, needs_target, notes, strict=False)
    if label is not None and drop_missing_target:
        found = _drop_unlabelled(found, label, notes)
    if label is not None:
        found = _merge_spellings(found, label, notes, merges=merge_labels)
    y = None if label is None else _read_labels(found, label, notes, strict=False)
    left_out = {name: np.array(found.values[found.names.index(name)]) for name in dropped}
    columns: dict[str, np.ndarray] = {}
    for position in features:
        name = found.names[position]
        if name in named:
            continue
        column, reason = _read_feature(found, position, notes)
        times = _files.read_times(found.values[position]) if reason and date_features else []
        if len(times) == 1:
            parts = _split_dates(name, times[0])
            notes.append(
                f"{found.source}: the dates in {name!r} make {', '.join(map(repr, parts))}."
            )
            columns |= parts
        elif reason:
            notes.append(f"{found.source}: column {name!r} {reason} and is left out.")
            left_out[name] = np.array(found.values[position])
        else:
            columns[name] = column
    if not columns:
        raise ValueError(f"{found.source} has no feature left.")
    group_of = None if groups is None else _read_groups(found, groups)
    table = _join_columns(columns, y, group_of, notes, left_out)
    return table if time is None else _sort_rows(table, _find_order(found, time))


def _join_columns(
    columns: dict[str, np.ndarray],
    y: Any,
    groups: np.ndarray | None,
    notes: list[str],
    left_out: dict[str, np.ndarray],
) -> ColumnTable:
    """Return columns side by side, and which of them hold texts or lack numbers."""
    names = list(columns)
    texts = [place for place, name in enumerate(names) if columns[name].dtype == object]
    numbers = [place for place in range(len(names)) if place not in texts]
    missing = [place for place in numbers if np.isnan(columns[names[place]]).any()]
    X = np.empty((len(columns[names[0]]), len(names)), dtype=object if texts else float)
    for place, name in enumerate(names):
        X[:, place] = columns[name]
    return ColumnTable(X, y, names, texts, missing, groups, notes, left_out)


def _find_order(found: Columns, time: str) -> np.ndarray:
    """Return the rows in the order of a column of numbers or of dates; each must have one."""
    position = found.names.index(time)
    numbers = _read_numbers(found, position)
    readings = _files.read_times(found.values[position]) if numbers is None else [numbers]
    orders = [np.argsort(reading, kind="stable") for reading in readings]
    start = f"{found.source}: the column of times {time!r}"
    if not orders:
        raise ValueError(f"{start} must hold numbers, or dates such as 2024-01-31 10:30.")
    if np.isnan(readings[0]).any():
        record = found.name_record(int(np.argmax(np.isnan(readings[0]))))
        raise ValueError(f"{start} has no value in {record}.")
    if any(not np.array_equal(order, orders[0]) for order in orders):
        raise ValueError(
            f"{start} can be read with the day or with the month first; write 2024-01-31."
        )
    return orders[0]


def _sort_rows(table: ColumnTable, order: np.ndarray) -> ColumnTable:
    """Return a table with its rows in another order."""
    return table._replace(
        X=table.X[order],
        y=None if table.y is None else table.y[order],
        groups=None if table.groups is None else table.groups[order],
        left_out={name: column[order] for name, column in table.left_out.items()},
    )


def _place_columns(
    found: Columns, target: str | None, needs_target: bool, notes: list[str], *, strict: bool
) -> tuple[int | None, list[int]]:
    """Return the column of labels and those of features.

    Raise when a column has no name or the target is not one of them. First columns without a name
    may count the rows; then they are no features.
    """
    names, source = found.names, found.source
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
    name = found.target if target is None else target
    if target is not None or needs_target or name in names:
        if names.count(name) != 1:
            many = "no column" if name not in names else "two columns"
            meant = "." if name in names else _guess_target(found)
            raise ValueError(
                f"{source} has {many} {name!r} for the target; its columns are "
                f"{_shorten_list(names[nameless:])}. Name one with --target (target=){meant}"
            )
        if len(features) < 2:
            raise ValueError(f"{source} has no column beside the target {name!r}.")
        label = names.index(name)
        features.remove(label)
    if found.n_rows < 2:
        raise ValueError(f"{source} must hold at least two rows of data, it holds {found.n_rows}.")
    for position in range(nameless):
        if not _counts_rows(found.values[position]):
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


def _counts_rows(values: Any) -> bool:
    """Whether a column counts the rows from 0 or from 1."""
    numbers = values if isinstance(values, np.ndarray) else _files.parse_numbers(values)
    return any(np.array_equal(numbers, np.arange(len(values)) + start) for start in (0, 1))


def _check_names(wanted: Sequence[str], found: Columns, option: str) -> None:
    """Raise where a table lacks a column, with the names that may be meant."""
    for name in wanted:
        if name in found.names:
            continue
        folded = {one.strip().lower(): one for one in found.names}
        close = get_close_matches(name.strip().lower(), folded, n=3, cutoff=0.6)
        near = [folded[one] for one in close]
        if option == "--target":
            near = [one for one in near if _is_plausible(found, one)][:1] or near
        meant = " or ".join(map(repr, near))
        hint = f"; did you mean {meant}?" if near else "."
        raise ValueError(
            f"{found.source} has no column {name!r} for {option}; its columns are "
            f"{_shorten_list(found.names)}{hint}"
        )


def _is_plausible(found: Columns, name: str) -> bool:
    """Whether a column may hold what is to be predicted: it is not constant, and names no rows."""
    values = found.values[found.names.index(name)]
    n_distinct = len(set(values.tolist() if isinstance(values, np.ndarray) else values))
    is_text = _read_numbers(found, found.names.index(name)) is None
    return n_distinct > 1 and (n_distinct <= MANY or not is_text)


def _guess_target(found: Columns) -> str:
    """Propose a column for the target, by its name or since it is the last and holds few values."""
    by_name = [
        name
        for name in found.names
        if name.strip().lower() in USUAL_TARGETS
        or get_close_matches(name.strip().lower(), [DEFAULT_TARGET], cutoff=0.75)
    ]
    plausible = [name for name in by_name if _is_plausible(found, name)]
    last = found.values[-1]
    few = len(set(last.tolist() if isinstance(last, np.ndarray) else last)) <= MANY
    if not plausible and few and _is_plausible(found, found.names[-1]):
        plausible = found.names[-1:]
    return f"; did you mean --target {shlex.quote(plausible[0])}?" if plausible else "."


def _drop_unlabelled(found: Columns, label: int, notes: list[str]) -> Columns:
    """Return a table without the rows that have no label."""
    missing = _files.find_missing(found.values[label], words=True)
    if not missing.any():
        return found
    records = [found.name_record(row) for row in np.flatnonzero(missing).tolist()]
    notes.append(
        f"{found.source}: {list_records(records)} without a value of {found.names[label]!r} are "
        "left out."
    )
    kept = np.flatnonzero(~missing).tolist()
    values = [
        column[kept] if isinstance(column, np.ndarray) else [column[row] for row in kept]
        for column in found.values
    ]
    lines = None if found.lines is None else [found.lines[row] for row in kept]
    return found._replace(values=values, lines=lines)


def _merge_spellings(found: Columns, label: int, notes: list[str], *, merges: bool) -> Columns:
    """Return a table whose labels do not differ by case or spaces alone, or note that some do."""
    texts, name = found.values[label], found.names[label]
    if isinstance(texts, np.ndarray):
        return found
    spelled = _files.name_spellings(texts)
    if not spelled:
        return found
    pairs = [f"{text!r}" for text in spelled][: 2 * FEW]
    listed = f"{found.source}: in the target column {name!r} {', '.join(pairs)} differ by case or"
    if not merges:
        notes.append(
            f"{listed} spaces alone and are classes of their own; --merge-labels joins them."
        )
        return found
    into = ", ".join(repr(text) for text in dict.fromkeys(spelled.values()))
    notes.append(f"{listed} spaces alone and are read as {into}.")
    values = list(found.values)
    values[label] = [spelled.get(text, text) for text in texts]
    return found._replace(values=values)


def _split_dates(name: str, seconds: np.ndarray) -> dict[str, np.ndarray]:
    """Return the parts of dates that vary as numbers, by name, nan where a date is missing."""
    known = ~np.isnan(seconds)
    moments = np.where(known, seconds, 0).astype(np.int64).astype("datetime64[s]")
    days, months = moments.astype("datetime64[D]"), moments.astype("datetime64[M]")
    parts = {
        "days since 1970": seconds / 86400,
        "year": moments.astype("datetime64[Y]").astype(int) + 1970,
        "month": months.astype(int) % 12 + 1,
        "day": (days - months).astype(int) + 1,
        "weekday": (days.astype(int) + 3) % 7,
        "hour": (moments - days).astype(int) // 3600,
    }
    parts = {f"{name}: {part}": np.where(known, values, np.nan) for part, values in parts.items()}
    first, *others = parts
    varying = [part for part in others if len(np.unique(parts[part][known])) > 1]
    return {part: parts[part] for part in (first, *varying)}


def _shorten_list(names: Sequence[str]) -> str:
    """Return the first few names as one text."""
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(repr(name) for name in names[:FEW]) + more


def _read_exact_numbers(found: Columns, position: int) -> np.ndarray:
    """Return a column as finite numbers; raise at the first value that is none."""
    values = found.values[position]
    stored = isinstance(values, np.ndarray)
    numbers = values.astype(float) if stored else _files.parse_numbers(values)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        raise make_value_error(found, position, int(bad[0]))
    return numbers


def _note_rounding(found: Columns, position: int, numbers: np.ndarray) -> list[str]:
    """Say of the first whole number that no float equals that it was rounded."""
    values, name = found.values[position], found.names[position]
    with np.errstate(invalid="ignore"):
        large = np.flatnonzero(np.abs(numbers) >= LARGEST_EXACT)
    for row in large.tolist():
        text = str(values[row])
        if WHOLE.fullmatch(text) and Decimal(text) != Decimal(float(text)):
            return [
                f"{found.source}: column {name!r} holds whole numbers beyond 2**53, which are "
                f"rounded: {found.name_record(row)} has {text.strip()}, read as {int(float(text))}."
            ]
    return []


def _read_numbers(found: Columns, position: int) -> np.ndarray | None:
    """Return a column as numbers, nan where one is missing; None if it holds anything else."""
    values = found.values[position]
    if isinstance(values, np.ndarray):
        return values.astype(float)
    plain = _files.parse_plain_numbers(values)
    if plain is not None:
        return plain
    distinct = set(values)
    commas = found.decimal_comma or _files.has_decimal_commas(distinct)
    known: dict[str, float] = {}
    for text in distinct:
        word = text.strip()
        if not word or word.lower() in MISSING | DASHES:
            known[text] = np.nan
            continue
        comma = commas and DECIMAL_COMMA.fullmatch(word)
        known[text] = _files.parse_number(word.replace(",", ".") if comma else word)
        if np.isnan(known[text]):
            return None
    return np.array([known[text] for text in values])


def _read_feature(found: Columns, position: int, notes: list[str]) -> tuple[np.ndarray, str | None]:
    """Return a column of numbers, or of texts as objects, and why it is no feature, or None."""
    name, values = found.names[position], found.values[position]
    numbers = _read_numbers(found, position)
    if numbers is None:
        different = {text.strip() for text in values if text.strip().lower() not in {"", *MISSING}}
        n_distinct = len(different)
        texts = np.array([text.strip() or "missing" for text in values], dtype=object)
        if _files.read_times(values):
            many = f"holds dates or times, {n_distinct} different ones in {found.n_rows} rows"
            ways = f"--time {name} goes by them, --date-features makes numbers of them"
            return texts, f"{many} ({ways}),"
        if n_distinct <= MANY or n_distinct <= found.n_rows / 2:
            return texts, None
        many = f"holds {n_distinct} different texts in {found.n_rows} rows"
        return texts, f"{many}, as names and free texts do,"
    if np.isinf(numbers).any():
        record = found.name_record(int(np.argmax(np.isinf(numbers))))
        raise ValueError(f"{found.source}: column {name!r} must be finite, {record} is not.")
    if np.isnan(numbers).all():
        return numbers, "has no value"
    if not isinstance(values, np.ndarray) and np.isnan(numbers).any():
        dashes = sorted({text.strip() for text in values} & DASHES)
        notes += [
            f"{found.source}: {dash!r} in column {name!r} is read as a missing number."
            for dash in dashes
        ]
    if not isinstance(values, np.ndarray) and not found.decimal_comma:
        example = next((text.strip() for text in values if "," in text), "")
        if example:
            number = example.replace(",", ".")
            notes.append(f"{found.source}: column {name!r}: {example!r} is read as {number}.")
    notes += _note_rounding(found, position, numbers)
    return numbers, None


def _read_labels(found: Columns, label: int, notes: list[str], *, strict: bool) -> np.ndarray:
    """Return the labels: as they were stored, or one for each text."""
    values, name = found.values[label], found.names[label]
    start = f"{found.source}: the target column {name!r}"
    remedy = "" if strict else "; --drop-missing-target leaves such rows out"
    _check_labelled(found, start, _files.find_missing(values, words=False), remedy)
    if isinstance(values, np.ndarray):
        return check_stored_labels(values, start)
    numbers = None if strict else _read_numbers(found, label)
    if numbers is not None and not np.isinf(numbers).any():
        missing = np.isnan(numbers)
        if (numbers[~missing] % 1 != 0).any():  # no names of classes, so what is no number is none
            _check_labelled(found, start, missing, remedy)
            return numbers
        if any("," in text for text in values):
            values = [text.replace(",", ".") for text in values]
    first: dict[str, int] = {}
    for row, text in enumerate(values):
        first.setdefault(text, row)
    records = {text: found.name_record(row) for text, row in first.items()}
    stored = found.lines is None  # there a text is a text, even one of digits
    labels = read_class_labels(records, start, as_text=stored)
    if labels.dtype.kind == "U":
        notes += [
            f"{found.source}: {text!r} in the target column {name!r} is read as the name of a "
            "class; delete its rows (--drop-missing-target) if it marks missing labels."
            for text in first
            if text.strip().lower() in MISSING
        ]
    code = {text: position for position, text in enumerate(first)}
    return labels[[code[text] for text in values]]


def _check_labelled(found: Columns, start: str, missing: np.ndarray, remedy: str) -> None:
    """Raise where labels are missing; count them, and name the first few rows."""
    records = [found.name_record(row) for row in np.flatnonzero(missing).tolist()]
    if records:
        raise ValueError(f"{start} has no value in {list_records(records)}{remedy}.")


def _read_groups(found: Columns, name: str) -> np.ndarray:
    """Return the group of each row, as text without blanks around it; each must have one."""
    texts = [str(value).strip() for value in found.values[found.names.index(name)]]
    for row, text in enumerate(texts):
        if not text or text.lower() in MISSING:
            raise ValueError(
                f"{found.source}: the column of groups {name!r} has no value in "
                f"{found.name_record(row)}; rows without a group would be one group."
            )
    return np.array(texts)


def make_name_error(source: str, position: int, name: str) -> ValueError:
    """Return the error of a column that has no name."""
    return ValueError(
        f"{source}: column {position + 1} has no name in the header, but {name!r}; name it if it "
        "is a feature, delete it if it is a row number or label."
    )


def make_value_error(found: Columns, position: int, row: int) -> ValueError:
    """Return the error of a feature's value that is no finite number."""
    source, name, record = found.source, found.names[position], found.name_record(row)
    value = found.values[position][row]
    if _files.is_unnamed(name):  # such a column most likely holds row names
        return make_name_error(source, position, name)
    text = str(value)
    word = text.strip().lower()
    if not word or value is None or value != value:
        return ValueError(f"{source}: column {name!r} has no value in {record}; impute or drop it.")
    if word in MISSING:
        advice = "impute what is missing or drop it"
    elif word in BOOLEANS:
        advice = "write 1 and 0"
    elif DECIMAL_COMMA.fullmatch(text):
        advice = "write decimals with a point"
    elif np.isinf(_files.parse_number(text)):
        advice = "they must be finite"
    else:
        advice = "encode it (one-hot, for example), drop it, or name it as the target"
    shown = reprlib.repr(text) if isinstance(value, str) else text
    return ValueError(
        f"{source}: column {name!r} must hold numbers, {record} has {shown}; {advice}."
    )


def read_class_labels(records: Mapping[str, str], start: str, *, as_text: bool) -> np.ndarray:
    """Return the labels that distinct texts stand for, one for each, by the records they are in.

    They are numbers where one way of writing numbers gives all texts back, unless `as_text`.
    """
    texts = list(records)
    if any("\0" in text for text in texts):  # an array would lose the end of it
        raise ValueError(f"{start} has a label with a NUL character.")
    if not as_text:
        check_finite_labels(records, start)
        labels = parse_labels(texts)
        if labels is not None:
            return labels
    check_measurements(records, start)
    return np.array(texts)


def check_finite_labels(records: Mapping[str, str], start: str) -> None:
    """Raise where all labels are numbers and one of them is infinite or nan."""
    values = {text: _files.parse_number(text) for text in records}
    if all(value == value or NAN.fullmatch(text) for text, value in values.items()):
        for text, value in values.items():
            if not np.isfinite(value):
                raise ValueError(f"{start} must be finite, {records[text]} has {text!r}.")


def check_measurements(records: Mapping[str, str], start: str) -> None:
    """Raise where numbers with fractions are mistaken for the names of classes.

    They are if one is missing, or if they have a decimal comma.
    """
    absent = [text for text in records if text.strip().lower() in MISSING | DASHES]
    known = [text for text in records if text not in absent]
    commas = [text for text in known if DECIMAL_COMMA.fullmatch(text)]
    texts = [text.replace(",", ".") if text in commas else text for text in known]
    values = list(map(_files.parse_number, texts))
    if not known or not np.isfinite(values).all():
        return
    if commas:
        place = f"{commas[0]!r} in {records[commas[0]]}"
        raise ValueError(f"{start} has {place}; write decimals with a point.")
    if absent and any(value % 1 for value in values):
        raise ValueError(f"{start} has no value in {records[absent[0]]}.")


def parse_labels(texts: list[str]) -> np.ndarray | None:
    """Return the numbers from which one way of writing makes all the texts, or None.

    The ways are whole numbers, shortest decimals, and a fixed number of decimals with or without
    an exponent. So "01" and "1" stay two classes, and "1.50" and "2.00" are numbers.
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
    """Return labels that are stored with a type; raise where one is not finite."""
    if y.dtype.kind == "f" and np.isinf(y).any():
        row = int(np.argmax(np.isinf(y)))
        raise ValueError(f"{start} must be finite, row {row + 1} has {str(y[row])!r}.")
    if y.dtype.kind in "iu" and ((y > LARGEST_EXACT) | (y < -LARGEST_EXACT)).any():
        return y.astype(str)  # as floats, labels that differ in the last digits would be one class
    return y


def list_records(records: Sequence[str]) -> str:
    """Name a few rows of a table, and count the others."""
    if len(records) == 1:
        return records[0]
    more = f" and {len(records) - FEW_RECORDS} more" if len(records) > FEW_RECORDS else ""
    return f"{len(records)} rows: {', '.join(records[:FEW_RECORDS])}{more}"
