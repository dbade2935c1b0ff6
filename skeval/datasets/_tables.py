"""Features and labels from a bundled set or a file."""

import csv
import re
import warnings
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import numpy as np
import sklearn.datasets

from skeval.utils._checks import check_flag

__all__ = ["BUNDLED", "Table", "load_table"]

BUNDLED = ("breast_cancer", "iris", "wine", "digits")
DEFAULT_TARGET = "target"
FEW = 8
UNNAMED = re.compile(r"\s*|Unnamed: \d+(\.\d+)*")  # the latter is what pandas calls the former
LARGEST_CODE = 2**53  # up to here every whole number is a float of its own


class Table(NamedTuple):
    """Features and labels.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), or None where a file has no labels
    feature_names : list of str
    """

    X: np.ndarray
    y: Any
    feature_names: list[str]


def load_table(
    source: str | PathLike, *, target: str | None = None, needs_target: bool = True
) -> Table:
    """Load numeric features and labels.

    Parameters
    ----------
    source : str or path-like
        The name of a bundled scikit-learn set (breast_cancer, iris, wine, digits), or a file:
        CSV with a header (separated by comma, semicolon or tab), NPZ with the arrays `X` and `y`,
        or Parquet (which needs pandas). A first column that has no name and counts the rows (from
        0 or 1), such as pandas and R write unless told otherwise, is no feature: it is left out,
        with a warning. "Unnamed: 0", as pandas reads such a column, is no name either.
    target : str, default=None
        The column that holds the labels, in a CSV or Parquet file; None means "target".
    needs_target : bool, default=True
        If False, a file may do without labels, unless `target` names their column: `y` is None
        where there is no column "target" or no array `y`. Clusterings need none.

    Returns
    -------
    Table
        Named tuple of `X` (n_samples, n_features), `y` (n_samples,) or None, and `feature_names`.

    Raises
    ------
    FileNotFoundError
        If there is no such set or file.
    ValueError
        If the file is empty, has fewer than two rows, lacks the target column, or holds a feature
        that is not a number or (other than one that counts the rows) has no name; the message
        names row or column.

    Warns
    -----
    UserWarning
        If a column that counts the rows is left out.

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
    if str(source) in BUNDLED:
        return bundled(str(source), target)
    path = Path(source)
    if not path.is_file():
        raise FileNotFoundError(
            f"no file {str(source)!r}, and no bundled set of that name: {', '.join(BUNDLED)}."
        )
    if path.suffix == ".npz":
        return from_npz(path, target, needs_target)
    if path.suffix in (".parquet", ".pq"):
        header, columns = parquet_columns(path)
    elif path.suffix in (".csv", ".tsv", ".txt"):
        header, columns = csv_columns(path)
    else:
        raise ValueError(f"{path.name} must end in .csv, .tsv, .npz or .parquet.")
    if not header:
        raise ValueError(f"{path.name} is empty.")
    header, columns = named_columns(header, columns, target, path.name)
    if target is None and not needs_target and DEFAULT_TARGET not in header:
        check_rows(len(columns[0]), path.name)
        return Table(numeric_matrix(header, columns, path.name), None, header)
    return from_columns(header, columns, target, path.name)


def bundled(name: str, target: str | None) -> Table:
    """Return a set that comes with scikit-learn."""
    refuse_target(target, f"the bundled set {name} has its own labels")
    data = getattr(sklearn.datasets, f"load_{name}")()
    return Table(data.data, data.target, [str(feature) for feature in data.feature_names])


def refuse_target(target: str | None, reason: str) -> None:
    """Raise when a target column is asked of a source that has none."""
    if target is not None:
        raise ValueError(f"target={target!r} names a column, but {reason}.")


def from_npz(path: Path, target: str | None, needs_target: bool) -> Table:
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
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"X must be a matrix of numbers, got {X.dtype} of shape {X.shape}.")
    if y is not None and (y.ndim != 1 or y.dtype.kind not in "biufUS"):
        raise ValueError(f"y must be a vector of labels, got {y.dtype} of shape {y.shape}.")
    return Table(X, y, [f"x{column}" for column in range(X.shape[1])])


def parquet_columns(path: Path) -> tuple[list[str], list[Any]]:
    """Return the names and the columns of a Parquet file."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ValueError(
            'a Parquet file needs pandas: pip install "skeval[pandas]", or save it as CSV.'
        ) from error
    try:
        frame = pd.read_parquet(path)
    except Exception as error:  # every engine raises its own kind
        raise ValueError(f"{path.name} is not a Parquet file: {error}.") from error
    columns = [frame[name].astype(object).to_numpy() for name in frame.columns]
    header = [str(name) for name in frame.columns]
    for name, column in zip(header, columns, strict=True):
        if any(isinstance(value, np.ndarray | list | dict) for value in column):
            raise ValueError(f"{path.name}: column {name!r} must hold numbers, it holds lists.")
    return header, columns


def csv_columns(path: Path) -> tuple[list[str], list[Any]]:
    """Return the header and the columns, as text, of a CSV file."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            file.seek(0)
            delimiter = max(",;\t", key=first.count)
            rows = list(csv.reader(file, delimiter=delimiter, strict=True))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} must be UTF-8 text: {error.reason}.") from error
    except csv.Error as error:
        raise ValueError(f"{path.name} is not a CSV file: {error}.") from error
    rows = [row for row in rows if row]
    if not rows:
        raise ValueError(f"{path.name} is empty.")
    header, *body = rows
    for number, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise ValueError(
                f"{path.name}: row {number} has {len(row)} fields, the header has {len(header)}."
            )
    return header, list(zip(*body, strict=True)) if body else [() for _ in header]


def named_columns(
    header: list[str], columns: list[Any], target: str | None, source: str
) -> tuple[list[str], list[Any]]:
    """Leave out first columns that count the rows; raise when another one has no name."""
    while len(header) > 1 and unnamed(header[0], target) and counts_rows(columns[0]):
        warnings.warn(
            f"{source}: the first column, {header[0]!r}, counts the rows and is left out. Name it "
            "to keep it as a feature; pandas writes none with to_csv(index=False).",
            UserWarning,
            stacklevel=3,
        )
        header, columns = header[1:], columns[1:]
    for position, name in enumerate(header, start=1):
        if unnamed(name, target):
            raise ValueError(
                f"{source}: column {position} of {len(header)} has no name in the header, but "
                f"{name!r}; name it if it is a feature, delete it if it is a row number or label."
            )
    return header, columns


def unnamed(name: str, target: str | None) -> bool:
    """Whether a column has no name of its own and is not the one asked for."""
    return name != target and UNNAMED.fullmatch(name) is not None


def counts_rows(values: Any) -> bool:
    """Whether a column goes up by one from 0 or 1."""
    texts = [str(value).strip() for value in values]
    return any(texts == [str(start + row) for row in range(len(texts))] for start in (0, 1))


def from_columns(header: list[str], columns: list[Any], target: str | None, source: str) -> Table:
    """Split columns into numeric features and labels."""
    name = DEFAULT_TARGET if target is None else target
    if header.count(name) != 1:
        found = "no column" if name not in header else "two columns"
        raise ValueError(
            f"{source} has {found} {name!r} for the target; its columns are {shortened(header)}. "
            "Name one with --target (target=)."
        )
    if len(header) < 2:
        raise ValueError(f"{source} has no column beside the target {name!r}.")
    position = header.index(name)
    labels = columns[position]
    check_rows(len(labels), source)
    names = header[:position] + header[position + 1 :]
    features = columns[:position] + columns[position + 1 :]
    X = numeric_matrix(names, features, source)
    return Table(X, label_values(labels, name, source), names)


def check_rows(n_rows: int, source: str) -> None:
    """Raise when there are too few rows for anything."""
    if n_rows < 2:
        raise ValueError(f"{source} must hold at least two rows of data, it holds {n_rows}.")


def numeric_matrix(names: list[str], columns: list[Any], source: str) -> np.ndarray:
    """Return columns of features side by side."""
    pairs = zip(names, columns, strict=True)
    return np.column_stack([numeric(values, name, source) for name, values in pairs])


def shortened(names: list[str]) -> str:
    """Return the first few names as one text."""
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(repr(name) for name in names[:FEW]) + more


def numeric(values: Any, name: str, source: str) -> np.ndarray:
    """Return a column as numbers, or say which value is none."""
    try:
        return np.array(values, dtype=float)
    except (TypeError, ValueError):
        for row, value in enumerate(values, start=2):
            text = "" if value is None else str(value).strip()
            if not text:
                raise ValueError(
                    f"{source}: column {name!r} has no value in row {row}; impute or drop it."
                ) from None
            if not is_number(text):
                raise ValueError(
                    f"{source}: column {name!r} must hold numbers, row {row} has {text!r}; "
                    "encode it (one-hot, for example), drop it, or name it as the target."
                ) from None
        raise


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def label_values(values: Any, name: str, source: str) -> np.ndarray:
    """Return labels as integers where all of them are, as text otherwise."""
    texts = ["" if value is None else str(value).strip() for value in values]
    for row, text in enumerate(texts, start=2):
        if text in ("", "nan", "None", "<NA>"):
            raise ValueError(f"{source}: the target column {name!r} has no value in row {row}.")
    numbers = [float(text) for text in texts if is_number(text)]
    if len(numbers) < len(texts):
        return np.array(texts)
    array = np.array(numbers)
    if not np.isfinite(array).all():
        raise ValueError(f"{source}: the target column {name!r} must be finite.")
    if np.abs(array).max() > LARGEST_CODE:
        return np.array(texts)  # names made of digits: as numbers, neighbours would be one class
    return array.astype(int) if np.all(array == np.round(array)) else array
