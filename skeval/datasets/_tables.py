"""Features and labels from a bundled set or a file."""

from __future__ import annotations

from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np
import sklearn.datasets

from skeval.datasets._csv import Labels, find_separator, read_carefully, read_fast, read_records
from skeval.datasets._values import (
    check_matrix,
    check_stored_labels,
    is_unnamed,
    looks_like_value,
    make_missing_label_error,
    make_name_error,
    make_value_error,
    read_class_labels,
)
from skeval.utils._checks import check_flag, check_same_length, warn_user
from skeval.utils._sources import BUNDLED, check_source

__all__ = [
    "DEFAULT_TARGET",
    "Table",
    "check_header",
    "check_rows",
    "load_table",
    "place_columns",
    "read_parquet_columns",
    "read_table",
    "shorten_list",
]

DEFAULT_TARGET = "target"
FEW = 8


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


class Place(NamedTuple):
    """What the columns of a table are."""

    names: list[str]
    label: int | None
    features: list[str]
    nameless: int


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
        Parquet (which needs pyarrow; with it, CSV is read faster, too). A first column that has no
        name and counts the rows (from 0 or 1), such as pandas and R write unless told otherwise,
        is no feature: it is left out, with a warning, and so is the index that pandas stores in a
        Parquet file. "Unnamed: 0", as pandas reads such a column, is no name either.
    target : str, default=None
        The column that holds the labels, in a CSV or Parquet file; None means "target".
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
    without an exponent); otherwise each text is a class, so that "01" and "1" are two. NPZ and
    Parquet files say themselves what is text and what a number; whole numbers beyond 2**53
    become text. Truth values are labels anywhere, features 0 and 1 in NPZ and Parquet files, and
    refused as features in CSV.

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
    table, notes = read_table(source, target, needs_target, header)
    for note in notes:
        warn_user(note)
    return table


def read_table(
    source: str | PathLike, target: str | None, needs_target: bool, header: bool | None
) -> tuple[Table, list[str]]:
    """Return a table and what to note of it."""
    path = Path(source)
    ending = path.suffix.lower()
    text = str(source) not in BUNDLED and ending in (".csv", ".tsv", ".txt")
    if header is not None and not text:
        raise ValueError(f"header={header} is for a CSV file, got {str(source)!r}.")
    if str(source) in BUNDLED:
        return load_bundled(str(source), target), []
    check_source(source)
    if text:
        return read_csv(path, target, needs_target, header)
    if ending == ".npz":
        return read_npz(path, target, needs_target)
    if ending in (".parquet", ".pq"):
        return read_parquet(path, target, needs_target)
    raise ValueError(f"{path.name} must end in .csv, .tsv, .npz or .parquet.")


def load_bundled(name: str, target: str | None) -> Table:
    """Return a set that comes with scikit-learn."""
    refuse_target(target, f"the bundled set {name} has its own labels")
    data = getattr(sklearn.datasets, f"load_{name}")()
    return Table(data.data, data.target, [str(feature) for feature in data.feature_names])


def refuse_target(target: str | None, reason: str) -> None:
    """Raise when a target column is asked of a source that has none."""
    if target is not None:
        raise ValueError(f"target={target!r} names a column, but {reason}.")


def read_npz(path: Path, target: str | None, needs_target: bool) -> tuple[Table, list[str]]:
    """Return the arrays `X` and `y` of an NPZ file; nothing in it is executed."""
    refuse_target(target, f"the labels of {path.name} are its array y")
    needed = ["X", "y"] if needs_target else ["X"]
    try:
        with ZipFile(path), np.load(path, allow_pickle=False) as arrays:
            if not set(needed) <= set(arrays.files):
                names = "arrays X and y" if needs_target else "array X"
                raise ValueError(f"it must hold the {names}, it holds {arrays.files}")
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
    check_rows(len(X), path.name)
    if y is not None and (y.ndim != 1 or y.dtype.kind not in "biufUS"):
        raise ValueError(
            f"{path.name}: y must be a vector of labels, got {y.dtype} of shape {y.shape}."
        )
    check_same_length(X=X, y=y)
    notes: list[str] = []
    features = [f"x{column}" for column in range(X.shape[1])]
    X = check_matrix(X.T, features, path.name, notes)
    return Table(
        X, y if y is None else check_stored_labels(y, "y", path.name, notes), features
    ), notes


def read_parquet(path: Path, target: str | None, needs_target: bool) -> tuple[Table, list[str]]:
    """Return the features and labels of a Parquet file."""
    stored, index = read_parquet_columns(path)
    dropped = [name for name in stored.column_names if name in index and name != target]
    stored = stored.drop_columns(dropped)
    notes = [f"{path.name}: {name!r}, an index of pandas, is left out." for name in dropped]
    names = stored.column_names
    place = place_columns(names, target, needs_target, path.name)
    check_rows(len(stored), path.name)
    columns = [
        read_column(stored.column(position), position, place, path.name)
        for position in range(len(names))
    ]
    y = None
    if place.label is not None:
        y = check_stored_labels(columns.pop(place.label), names[place.label], path.name, notes)
    X = check_matrix(columns, place.features, path.name, notes)
    X, names = drop_row_numbers(X, place, path.name, notes)
    return Table(X, y, names), notes


def read_parquet_columns(path: Path) -> tuple[Any, list[str]]:
    """Return the table in a Parquet file, and which columns pandas calls its index."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError(
            'a Parquet file needs pyarrow: pip install "skeval[pandas]", or save it as CSV.'
        ) from error
    try:
        table = pyarrow.parquet.ParquetFile(path).read()
        index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    except Exception as error:  # pyarrow raises many kinds of errors for files of other formats
        raise ValueError(f"{path.name} is not a Parquet file: {error}.") from error
    return table, [name for name in index if isinstance(name, str)]


def read_column(column: Any, position: int, place: Place, source: str) -> np.ndarray:
    """Return a column of a Parquet file as an array of numbers, truth values or texts."""
    from pyarrow import types

    name = place.names[position]
    if column.null_count:
        record = f"row {np.argmax(column.is_null().to_numpy()) + 1}"
        if position == place.label:
            raise make_missing_label_error(source, name, record)
        raise make_value_error(source, position, name, record, None)
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return column.to_numpy()
    try:
        return column.cast("string").to_numpy()
    except (NotImplementedError, ValueError) as error:
        raise ValueError(
            f"{source}: column {name!r} must hold numbers, it holds {kind}."
        ) from error


def read_csv(
    path: Path, target: str | None, needs_target: bool, header: bool | None
) -> tuple[Table, list[str]]:
    """Return the features and labels of a text file."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        delimiter = find_separator(file, DEFAULT_TARGET if target is None else target, path.name)
        rows = read_records(file, delimiter, path.name)
        line, names = next(rows, (0, []))
        if not names:
            raise ValueError(f"{path.name} is empty.")
        if header is None:
            check_header(names, target, f"{path.name}: line {line}")
        elif not header:
            rows = read_records(file, delimiter, path.name)
            names = [f"x{column}" for column in range(len(names))]
        place = place_columns(names, target, needs_target, path.name)
        if line == 1 and not any("\n" in name or "\r" in name for name in names):
            with suppress(Exception):  # the careful reader below takes what the fast one does not
                skipped = int(header is not False)
                content = read_fast(path, delimiter, skipped, len(names), place.label)
                return make_table(place, path.name, *content)
        return make_table(place, path.name, *read_carefully(rows, names, place.label, path.name))


def check_header(names: list[str], target: str | None, record: str) -> None:
    """Raise when the first line of a file could be its first sample."""
    named = DEFAULT_TARGET if target is None else target
    values = [name for name in names if looks_like_value(name)]
    if values and (named not in names or looks_like_value(named)):
        raise ValueError(
            f"{record} may be data rather than a header, since it has {values[0]!r}; say which: "
            "header=True or header=False (--header or --no-header)."
        )


def make_table(
    place: Place, source: str, X: np.ndarray, labels: Labels, notes: list[str]
) -> tuple[Table, list[str]]:
    """Return the table that a text file holds."""
    check_rows(len(X), source)
    y = None
    if place.label is not None:
        texts, lines, codes = labels
        y = read_class_labels(texts, lines, place.names[place.label], source, notes)[codes]
    X, names = drop_row_numbers(X, place, source, notes)
    return Table(X, y, names), notes


def place_columns(names: list[str], target: str | None, needs_target: bool, source: str) -> Place:
    """Return what the columns are; raise when one has no name or the target is not one of them.

    First columns without a name may turn out to count the rows; then they are no features.
    """
    has_name = [name == target or not is_unnamed(name) for name in names]
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
    name = DEFAULT_TARGET if target is None else target
    if target is None and not needs_target and name not in names:
        return Place(names, None, names, nameless)
    if names.count(name) != 1:
        found = "no column" if name not in names else "two columns"
        raise ValueError(
            f"{source} has {found} {name!r} for the target; its columns are "
            f"{shorten_list(names[nameless:])}. Name one with --target (target=)."
        )
    if len(names) - nameless < 2:
        raise ValueError(f"{source} has no column beside the target {name!r}.")
    label = names.index(name)
    return Place(names, label, names[:label] + names[label + 1 :], nameless)


def drop_row_numbers(
    X: np.ndarray, place: Place, source: str, notes: list[str]
) -> tuple[np.ndarray, list[str]]:
    """Return features and their names without first columns that count the rows."""
    for position, name in enumerate(place.names[: place.nameless]):
        if not any(np.array_equal(X[:, position], np.arange(len(X)) + start) for start in (0, 1)):
            raise make_name_error(source, position, name)
        notes.append(
            f"{source}: the first column, {name!r}, counts the rows and is left out. Name it "
            "to keep it as a feature; pandas writes none with to_csv(index=False)."
        )
    return X[:, place.nameless :], place.features[place.nameless :]


def check_rows(n_rows: int, source: str) -> None:
    """Raise when there are fewer than two rows."""
    if n_rows < 2:
        raise ValueError(f"{source} must hold at least two rows of data, it holds {n_rows}.")


def shorten_list(names: list[str]) -> str:
    """Return the first few names as one text."""
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(repr(name) for name in names[:FEW]) + more
