"""Description of a table that the checks read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skeval._resampling.sampling_units import Target
from skeval.report._page import Caution

TIME = re.compile(
    r"(year|month|week|day|hour|epoch|period|date|time|date ?time|time ?stamp)s?", re.IGNORECASE
)
"""Full names of columns of numbers that are times if they rise along the rows."""
UNCHECKED = "unchecked"
"""Code of the warning about checks that were not run; its evidence gives the reasons."""
MAX_CELLS = 5 * 10**6
"""Columns of a larger table are checked on a random sample of its rows."""
MIN_SAMPLED_ROWS = 100
MAX_LISTED = 3
MIN_VALUES = 8
"""Minimum number of values of an identifier: a "site" with 3 values is none."""
MISSING = ("", "nan", "none", "nat", "<na>", "missing")
"""Texts of missing values, in lower case."""


@dataclass(frozen=True)
class Finding:
    """Result of a check: evidence is a clause without a period, advice a full sentence."""

    code: str
    title: str
    evidence: str
    advice: str
    grave: bool = False

    def to_caution(self) -> Caution:
        """Return the finding as a warning; for a serious finding, the evidence is the headline."""
        evidence = self.evidence[0].upper() + self.evidence[1:]
        text = f"{self.title}: {evidence}. {self.advice}"
        return Caution(self.code, text, self.evidence if self.grave else "")


@dataclass(frozen=True)
class Runs:
    """Runs of equal values in the sorted columns of a table, one column after the other.

    Attributes
    ----------
    order : array of shape (n_columns, n_rows)
        Rows in the order of the values of each column, missing values last.
    start, size, column : arrays of shape (n_runs,)
        First position, length and column of each run; the runs of missing values are left out.
    n_values : array of shape (n_columns,)
        Number of distinct values of each column.
    """

    order: np.ndarray
    start: np.ndarray
    size: np.ndarray
    column: np.ndarray
    n_values: np.ndarray

    def of_column(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a complete column in the order of its values, and their counts."""
        first, end = np.searchsorted(self.column, (column, column + 1))
        return self.order[column], self.size[first:end]

    def are_pure(self, codes: np.ndarray) -> np.ndarray:
        """Return whether all rows of each run have the same code."""
        lowest, highest = (self._reduce(one, codes) for one in (np.minimum, np.maximum))
        return np.asarray(lowest == highest)

    def sum_values(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of the values of the rows of each run."""
        return self._reduce(np.add, values)

    def sum_by_column(self, numbers: np.ndarray) -> np.ndarray:
        """Return the sum of a number of each run, by column."""
        return np.bincount(self.column, numbers, minlength=len(self.n_values))

    def sum_squared_shares(self, codes: np.ndarray) -> np.ndarray:
        """Return by column the sum over runs of their squared counts of each code, over the size.

        A run whose rows all have the same code adds its size.
        """
        # the run of each position, -1 for missing values
        n_codes, run = int(codes.max()) + 1, np.full(self.order.size, -1)
        known = np.zeros(self.order.size + 1, dtype=np.intp)  # 1 where a run starts, -1 behind it
        np.add.at(known, self.start, 1)
        np.add.at(known, self.start + self.size, -1)
        run[np.cumsum(known)[:-1] > 0] = np.repeat(np.arange(len(self.size)), self.size)
        # equal pairs of run and code stand next to each other
        keys = (run * n_codes + codes[self.order].reshape(-1)).reshape(self.order.shape)
        keys = np.sort(keys, axis=1).reshape(-1)
        # counts of each code in each run
        first = np.flatnonzero(np.diff(keys, prepend=keys[:1] - 1))
        counts, run = np.diff(np.append(first, len(keys))), keys[first] // n_codes
        counts, run = counts[keys[first] >= 0], run[keys[first] >= 0]
        return np.bincount(self.column[run], counts**2 / self.size[run], len(self.n_values))

    def _reduce(self, operation: np.ufunc, values: np.ndarray) -> np.ndarray:
        """Return the reduction of the values of the rows of each run."""
        if not len(self.start):
            return np.empty(0, dtype=values.dtype)
        # runs of missing values between the others belong to none
        bounds = np.column_stack([self.start, self.start + self.size]).reshape(-1)
        in_order = np.append(values[self.order].reshape(-1), values[:1])
        return np.asarray(operation.reduceat(in_order, bounds)[::2])


def find_runs(columns: np.ndarray) -> Runs:
    """Sort the columns of a table and find the runs of equal values."""
    # sort all columns at once
    order = np.argsort(columns.T, axis=1, kind="stable")
    in_order = np.take_along_axis(columns.T, order, axis=1)
    is_first = np.ones(in_order.shape, dtype=bool)
    is_first[:, 1:] = in_order[:, 1:] != in_order[:, :-1]
    is_first[:, 1:] &= ~np.isnan(in_order[:, :-1])  # one run of missing values
    start = np.flatnonzero(is_first)
    size = np.diff(np.append(start, in_order.size))
    known = ~np.isnan(in_order.reshape(-1)[start])
    column = start[known] // max(1, in_order.shape[1])
    n_values = np.bincount(column, minlength=len(order))
    return Runs(order, start[known], size[known], column, n_values)


@dataclass(frozen=True)
class TableDescription:
    """Description of the samples, the input of all checks.

    Attributes
    ----------
    columns : array of shape (n_rows, n_columns)
        Features as floats; categories are integers, and missing values are nan. There are no
        columns if the samples are not a table.
    names : sequence of str
        Names of the columns.
    is_number : array of bool of shape (n_columns,)
        Whether a column has numbers, and not categories.
    target, groups, left_out
        Target, groups and columns outside X of the same rows.
    keys : sequence of bytes or None
        A key per sample of the full table; samples are equal if their keys are.
    key_size : array or None
        Characters of a text, or stored entries of a sparse row; None for a dense table.
    all_target, all_groups
        Target and groups of the full table, which `keys` refers to.
    n_samples : int
        Samples of the full table.
    unchecked : tuple of str
        Parts that are not checked, with reasons.
    """

    columns: np.ndarray
    names: Sequence[str]
    is_number: np.ndarray
    target: Target
    groups: Any
    left_out: Mapping[str, Any]
    keys: Sequence[bytes] | None
    key_size: np.ndarray | None
    all_target: Target
    all_groups: Any
    n_samples: int
    unchecked: tuple[str, ...]

    @cached_property
    def runs(self) -> Runs:
        """Runs of equal values in the sorted columns."""
        return find_runs(self.columns)

    @cached_property
    def pure(self) -> np.ndarray:
        """Whether all rows of each run have the same class."""
        return self.runs.are_pure(self.target.codes)

    @cached_property
    def is_complete(self) -> np.ndarray:
        """Whether all values of a column are finite numbers."""
        return np.asarray(np.isfinite(self.columns).all(axis=0))


def describe_table(
    X: Any,
    target: Target,
    groups: Any,
    feature_names: Sequence[str] | None,
    left_out: Mapping[str, Any],
) -> TableDescription:
    """Describe dense and sparse tables and lists of texts; of other samples only the target."""
    X = convert_rows(X)
    n = len(target)
    unchecked: list[str] = []
    rows = np.arange(n)
    keys: list[bytes] | None = None
    key_size = None
    columns, values, is_number = np.empty((n, 0)), np.empty((n, 0)), np.empty(0, dtype=bool)
    if issparse(X) or is_table(X):
        n_kept = max(MIN_SAMPLED_ROWS, MAX_CELLS // X.shape[1])
        if n_kept < n:
            rows = np.sort(np.random.default_rng(0).choice(n, n_kept, replace=False))
            unchecked.append(
                f"{n - len(rows)} of {n} rows were only searched for exact copies, because the "
                "table is large"
            )
        # encoded values of the rows that are checked
        values = X.tocsr()[rows].toarray() if issparse(X) else np.asarray(X)[rows]
        columns, is_number = _encode_columns(values)
        if len(rows) == n:
            keys = [row.tobytes() for row in np.ascontiguousarray(columns + 0.0)]  # -0.0 is 0.0
        elif issparse(X):
            keys, key_size = _key_sparse_rows(X)
        else:
            keys = _key_dense_rows(X)
    elif (texts := _read_texts(X)) is not None:
        keys = [text.encode() for text in texts]
        key_size = np.array([len(text) for text in texts])
        unchecked.append("features, because the samples are texts (exact copies were checked)")
    else:
        unchecked.append("copies and features, because the samples are not rows of a table")
    n_columns = columns.shape[1]
    names = feature_names or [f"x{position}" for position in range(n_columns)]
    part = slice(None) if len(rows) == n else rows
    return TableDescription(
        columns,
        names,
        is_number,
        target if len(rows) == n else Target(target.y[rows], target.classes, target.codes[rows]),
        None if groups is None else np.asarray(groups)[part],
        {name: np.asarray(column)[part] for name, column in left_out.items()},
        keys,
        key_size,
        target,
        groups,
        n,
        tuple(unchecked),
    )


def convert_rows(X: Any) -> Any:
    """Return a list of rows of equal length as an array, and other samples as they are."""
    if not isinstance(X, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in X):
        return X
    return np.array(X) if len({len(row) for row in X}) == 1 else X


def is_table(X: Any) -> bool:
    """Whether the samples are rows of a dense table.

    A symmetric matrix contains the kernel or the distances of the samples.
    """
    shape: Sequence[int] = np.shape(X) if hasattr(X, "shape") else ()
    if issparse(X) or len(shape) != 2 or 0 in shape:
        return False
    if shape[1] == 1 and _read_texts(X) is not None:
        return False
    if shape[0] != shape[1]:
        return True
    table = np.asarray(X)
    return not np.array_equal(table, table.T)


def list_features(positions: Sequence[int], names: Sequence[str]) -> str:
    """Return the names of a few features."""
    listed = ", ".join(repr(str(names[position])) for position in positions[:MAX_LISTED])
    more = f" (and {len(positions) - MAX_LISTED} more)" if len(positions) > MAX_LISTED else ""
    return f"feature {listed}" if len(positions) == 1 else f"each of the features {listed}{more}"


def _encode_columns(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a table as floats, with integers for categories, and which columns are numbers."""
    if values.dtype.kind in "biuf":
        return values.astype(float), np.ones(values.shape[1], dtype=bool)
    encoded = [encode_column(column) for column in values.T]
    columns = np.column_stack([column for column, _ in encoded])
    return columns, np.array([is_number for _, is_number in encoded])


def encode_column(column: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return a column as floats, nan for missing values, and whether it has numbers.

    Categories are integers in alphabetical order. Texts such as 1.1 and 1.10, which are different
    names but the same number, are categories.
    """
    if column.dtype.kind in "biuf":
        return column.astype(float), True
    # dates are numbers
    if column.dtype.kind in "mM":
        return np.where(np.isnat(column), np.nan, column.astype(np.int64).astype(float)), True
    # objects that are numbers
    has_texts = any(isinstance(value, str) for value in column.tolist())
    if not has_texts:
        with suppress(TypeError, ValueError):  # pandas.NA is not a float
            return column.astype(float), True
    # texts are numbers, unless different texts are the same number
    texts = np.array([str(value) for value in column.tolist()], dtype=str)
    missing = np.isin(np.char.lower(texts), MISSING)
    codes = np.unique(np.where(missing, "", texts), return_inverse=True)[1].astype(float)
    codes[missing] = np.nan
    try:
        numbers = np.where(missing, "nan", texts).astype(float)
    except ValueError:
        return codes, False
    if has_texts and len(np.unique(numbers[~missing])) < len(np.unique(codes[~missing])):
        return codes, False
    return numbers, True


def _key_dense_rows(X: Any) -> list[bytes]:
    table = np.asarray(X)
    if table.dtype.kind in "biuf":
        return [(row + 0).tobytes() for row in table]
    return ["\x1f".join(map(str, row)).encode() for row in table]


def _key_sparse_rows(X: Any) -> tuple[list[bytes], np.ndarray]:
    rows = X.tocsr().copy()
    rows.sum_duplicates()  # also sorts the column numbers
    rows.eliminate_zeros()
    bounds = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    keys = [rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in bounds]
    return keys, np.diff(rows.indptr)


def _read_texts(X: Any) -> list[str] | None:
    """Return texts in lower case with single spaces; None if the samples are not texts."""
    if issparse(X) or (hasattr(X, "shape") and len(X.shape) == 2 and X.shape[1] != 1):
        return None
    samples = np.asarray(X).ravel().tolist() if hasattr(X, "shape") else list(X)
    if not samples or not all(isinstance(sample, str) for sample in samples):
        return None
    lengthy = sum(" " in sample.strip() for sample in samples)
    if hasattr(X, "shape") and len(X.shape) == 2 and 2 * lengthy < len(samples):
        return None  # a column of categories
    return [" ".join(sample.lower().split()) for sample in samples]
