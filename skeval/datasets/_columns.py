"""Tables as people have them: texts, missing values, columns that are no features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skeval.datasets._csv import find_separator, read_records
from skeval.datasets._tables import (
    DEFAULT_TARGET,
    check_header,
    check_rows,
    place_columns,
    read_parquet_columns,
    read_table,
    shorten_list,
)
from skeval.datasets._values import (
    DASHES,
    DATE,
    DECIMAL_COMMA,
    MISSING,
    make_missing_label_error,
    make_name_error,
    parse_number,
    read_class_labels,
)
from skeval.utils._sources import BUNDLED, check_source

__all__ = ["ColumnTable", "load_columns"]

MANY = 20
"""Distinct texts of which a column may have any number; of more, half of the rows at most."""


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


class Columns(NamedTuple):
    """The columns of a file by name, as texts; `records` says where each row stands."""

    names: list[str]
    values: list[list[str]]
    records: list[str]
    decimal_comma: bool


def load_columns(
    source: str | PathLike,
    *,
    target: str | None,
    needs_target: bool,
    header: bool | None,
    drop: Iterable[str] = (),
    groups: str | None = None,
) -> ColumnTable:
    """Load a table; texts stay texts, missing numbers nan, and `drop` and `groups` no features."""
    check_source(source)
    path, left_out = Path(source), list(drop)
    text = path.suffix.lower() in (".csv", ".tsv", ".txt")
    stored = path.suffix.lower() in (".parquet", ".pq")
    if str(source) in BUNDLED or not (text or stored):
        if groups is not None:
            raise ValueError(f"--groups must name a column of a table, {path.name} has none.")
        table, notes = read_table(source, target, needs_target, header)
        return _drop_features(ColumnTable(*table, [], [], None, notes, {}), left_out, path.name)
    if not left_out and groups is None:
        try:
            table, notes = read_table(source, target, needs_target, header)
            return ColumnTable(*table, [], [], None, notes, {})
        except ValueError:  # what it refuses, the careful way below reads or says
            pass
    if stored and header is not None:
        raise ValueError(f"header={header} is for a CSV file, got {str(source)!r}.")
    found = _read_text(path, target, header) if text else _read_stored(path)
    return _sort_out(found, target, needs_target, left_out, groups, path.name)


def _drop_features(table: ColumnTable, left_out: list[str], source: str) -> ColumnTable:
    """Return a table of numbers without some of its features."""
    _check_names(left_out, table.feature_names, source, "--drop")
    kept = [i for i, name in enumerate(table.feature_names) if name not in left_out]
    _check_any_left(kept, source)
    names = [table.feature_names[i] for i in kept]
    dropped = {name: table.X[:, table.feature_names.index(name)] for name in left_out}
    return table._replace(X=table.X[:, kept], feature_names=names, left_out=dropped)


def _read_text(path: Path, target: str | None, header: bool | None) -> Columns:
    """Return the columns of a text file."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        named = DEFAULT_TARGET if target is None else target
        delimiter = find_separator(file, named, path.name)
        rows = list(read_records(file, delimiter, path.name))
    if not rows:
        raise ValueError(f"{path.name} is empty.")
    names = rows[0][1]
    if header is None:
        check_header(names, target, f"{path.name}: line {rows[0][0]}")
    if header is False:
        names = [f"x{column}" for column in range(len(names))]
    else:
        rows = rows[1:]
    for line, fields in rows:
        if len(fields) != len(names):
            raise ValueError(
                f"{path.name}: line {line} has {len(fields)} fields, the header has {len(names)}."
            )
    values = [list(column) for column in zip(*(fields for _, fields in rows), strict=True)]
    records = [f"line {line}" for line, _ in rows]
    return Columns(names, values or [[] for _ in names], records, delimiter != ",")


def _read_stored(path: Path) -> Columns:
    """Return the columns of a Parquet file."""
    stored, index = read_parquet_columns(path)
    names = [name for name in stored.column_names if name not in index]
    values = [_read_stored_column(stored.column(name), name, path.name) for name in names]
    return Columns(names, values, [f"row {row + 1}" for row in range(len(stored))], False)


def _read_stored_column(column: Any, name: str, source: str) -> list[str]:
    """Return a column of a Parquet file as texts, empty where there is no value."""
    try:
        return ["" if value is None else value for value in column.cast("string").to_pylist()]
    except (NotImplementedError, ValueError) as error:
        raise ValueError(
            f"{source}: column {name!r} must hold numbers or texts, it holds {column.type}."
        ) from error


def _sort_out(
    found: Columns,
    target: str | None,
    needs_target: bool,
    left_out: list[str],
    groups: str | None,
    source: str,
) -> ColumnTable:
    """Return what each column is for."""
    named = [*left_out, *([groups] if groups is not None else [])]
    _check_names(named, found.names, source, "--drop, --id and --groups")
    if target is not None or needs_target:
        _check_names([target or DEFAULT_TARGET], found.names, source, "--target")
    place = place_columns(found.names, target, needs_target, source)
    check_rows(len(found.records), source)
    notes: list[str] = []
    y = None
    if place.label is not None:
        y = _read_labels(found, place.label, source, notes)
    features = []
    for position, name in enumerate(found.names):
        if position == place.label or name in named:
            continue
        if position < place.nameless:
            if not _counts_rows(found.values[position]):
                raise make_name_error(source, position, name)
            notes.append(f"{source}: the first column, {name!r}, counts the rows and is left out.")
            continue
        features.append(position)
    group_of = None if groups is None else _read_groups(found, groups, source)
    dropped = {name: np.array(found.values[found.names.index(name)]) for name in left_out}
    return _make_table(found, features, y, group_of, source, notes, dropped)


def _read_groups(found: Columns, name: str, source: str) -> np.ndarray:
    """Return the group of each row, as text without blanks around it; each must have one."""
    texts = [text.strip() for text in found.values[found.names.index(name)]]
    for text, record in zip(texts, found.records, strict=True):
        if not text or text.lower() in MISSING:
            raise ValueError(
                f"{source}: the column of groups {name!r} has no value in {record}; rows without a "
                "group would be one group."
            )
    return np.array(texts)


def _check_names(wanted: Sequence[str], names: Sequence[str], source: str, option: str) -> None:
    """Raise where a table lacks a column, with the names that may be meant."""
    for name in wanted:
        if name in names:
            continue
        folded = {one.strip().lower(): one for one in names}
        near = get_close_matches(name.strip().lower(), folded, n=3, cutoff=0.6)
        meant = " or ".join(repr(folded[one]) for one in near)
        hint = f"; did you mean {meant}?" if near else "."
        raise ValueError(
            f"{source} has no column {name!r} for {option}; its columns are "
            f"{shorten_list(list(names))}{hint}"
        )


def _check_any_left(kept: Sequence[Any], source: str) -> None:
    if not len(kept):
        raise ValueError(f"{source} has no feature left.")


def _counts_rows(values: list[str]) -> bool:
    """Whether a column counts the rows from 0 or from 1."""
    return any(values == [str(start + row) for row in range(len(values))] for start in (0, 1))


def _read_labels(found: Columns, label: int, source: str, notes: list[str]) -> np.ndarray:
    """Return the labels; numbers with a decimal comma are numbers, too."""
    values, name = found.values[label], found.names[label]
    numbers = _read_numbers(values, found.decimal_comma)
    if numbers is not None and not np.isinf(numbers).any():
        missing = np.isnan(numbers)
        if (numbers[~missing] % 1 != 0).any():  # no names of classes, so what is no number is none
            if missing.any():
                raise make_missing_label_error(source, name, found.records[missing.argmax()])
            return numbers
        if found.decimal_comma:
            values = [text.replace(",", ".") for text in values]
    first: dict[str, int] = {}
    for row, text in enumerate(values):
        first.setdefault(text, row)
    records = [found.records[row] for row in first.values()]
    labels = read_class_labels(list(first), records, name, source, notes)
    code = {text: position for position, text in enumerate(first)}
    return labels[[code[text] for text in values]]


def _read_numbers(values: list[str], decimal_comma: bool) -> np.ndarray | None:
    """Return a column as numbers, nan where one is missing; None if it holds anything else."""
    known: dict[str, float] = {}
    for text in set(values):
        word = text.strip()
        if not word or word.lower() in MISSING | DASHES:
            known[text] = np.nan
            continue
        comma = decimal_comma and DECIMAL_COMMA.fullmatch(word)
        known[text] = parse_number(word.replace(",", ".") if comma else word)
        if np.isnan(known[text]):
            return None
    return np.array([known[text] for text in values])


def _make_table(
    found: Columns,
    features: list[int],
    y: Any,
    groups: np.ndarray | None,
    source: str,
    notes: list[str],
    left_out: dict[str, np.ndarray],
) -> ColumnTable:
    """Return the features side by side, without those that cannot be any."""
    n, columns = len(found.records), list[np.ndarray]()
    names, texts, missing = list[str](), list[int](), list[int]()
    for position in features:
        name, values = found.names[position], found.values[position]
        numbers = _read_numbers(values, found.decimal_comma)
        if numbers is not None and np.isinf(numbers).any():
            record = found.records[int(np.argmax(np.isinf(numbers)))]
            raise ValueError(f"{source}: column {name!r} must be finite, {record} is not.")
        reason = _refuse(values, numbers, n)
        if reason is not None:
            notes.append(f"{source}: column {name!r} {reason} and is left out.")
            left_out[name] = np.array(values)
            continue
        if numbers is None:
            texts.append(len(columns))
        elif np.isnan(numbers).any():
            missing.append(len(columns))
            notes += _note_dashes(name, values, source)
        columns.append(_clean(values) if numbers is None else numbers)
        names.append(name)
    _check_any_left(names, source)
    X = np.empty((n, len(columns)), dtype=object if texts else float)
    for position, column in enumerate(columns):
        X[:, position] = column
    return ColumnTable(X, y, names, texts, missing, groups, notes, left_out)


def _note_dashes(name: str, values: list[str], source: str) -> list[str]:
    """Say which dashes of a column of numbers are read as missing values."""
    found = sorted({text.strip() for text in values} & DASHES)
    return [f"{source}: {dash!r} in column {name!r} is read as a missing number." for dash in found]


def _clean(values: list[str]) -> np.ndarray:
    """Return texts without blanks around them; none is the category "missing"."""
    return np.array([text.strip() or "missing" for text in values], dtype=object)


def _refuse(values: list[str], numbers: np.ndarray | None, n: int) -> str | None:
    """Return why a column is no feature, or None."""
    if numbers is not None:
        return "has no value" if np.isnan(numbers).all() else None
    texts = {text.strip() for text in values if text.strip().lower() not in {"", *MISSING}}
    if len(texts) <= MANY or len(texts) <= n / 2:
        return None
    if all(map(DATE.fullmatch, texts)):
        return f"holds dates or times, {len(texts)} different ones in {n} rows,"
    return f"holds {len(texts)} different texts in {n} rows, as names and free texts do,"
