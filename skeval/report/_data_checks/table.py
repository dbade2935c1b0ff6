"""Description of a table that the checks read, and the result of a check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata

from skeval._resampling.sampling_units import Target
from skeval.report._page import CheckResult
from skeval.utils._compat import safe_indexing
from skeval.utils._text import read_times

TIME = re.compile(
    r"(year|month|week|day|hour|epoch|period|date|time|date ?time|time ?stamp)s?", re.IGNORECASE
)
"""Full names of columns of numbers that are times if they rise along the rows."""
MAX_CELLS, MIN_SAMPLED_ROWS = 5 * 10**6, 100
"""Columns of a larger table are checked on a random sample of its rows."""
BLOCK_CELLS = 2**15
"""Number of cells whose distinct values are counted at a time, which bounds the memory."""
MAX_LISTED = 3
MIN_TIMES = 10
"""Minimum number of distinct values of a column that orders the rows."""
MIN_VALUES = 8
"""Minimum number of values of an identifier: a "site" with 3 values is not one."""
MAX_DIGITS, MIN_SIZE = 6, 1e-290
"""Most decimals of a rounded column, and the smallest number whose decimals can be counted."""
TOLERANCE, SINGLE_TOLERANCE = 1e-9, 2e-7
"""Relative difference of equal values, in double and in single precision."""
MISSING = ("", "nan", "none", "nat", "<na>", "missing")
"""Texts of missing values, in lower case."""


@dataclass(frozen=True)
class Values:
    """Distinct values of some columns, counted from 0 over all of them.

    Attributes
    ----------
    of_cell : array of shape (n_columns, n_rows)
        Number of the value in each cell, ascending within a column. Missing values have the last
        number.
    number, size, column : arrays of shape (n_values,)
        The value itself, its number of occurrences, and its column.
    n_values : array of shape (n_columns,)
        Number of distinct values of each column.
    """

    of_cell: np.ndarray
    number: np.ndarray
    size: np.ndarray
    column: np.ndarray
    n_values: np.ndarray

    def of_column(self, position: int) -> slice:
        """Return the range of the values of a column."""
        first, end = np.searchsorted(self.column, (position, position + 1))
        return slice(int(first), int(end))

    def sum_rows(self, outcome: np.ndarray) -> np.ndarray:
        """Return the sum of a number of each row, by value."""
        weights = np.broadcast_to(outcome, self.of_cell.shape).reshape(-1)
        return np.bincount(self.of_cell.reshape(-1), weights, len(self.size) + 1)[:-1]


def number_cells(columns: np.ndarray) -> Values:
    """Sort the columns of a table, and number their distinct values."""
    # the first cell of each value, in the order of each column
    order = np.argsort(columns.T, axis=1)
    in_order = np.take_along_axis(columns.T, order, axis=1)
    known = ~np.isnan(in_order)
    is_first = known.copy()
    is_first[:, 1:] &= in_order[:, 1:] != in_order[:, :-1]
    n_values = is_first.sum(axis=1)
    # numbers in the order of the rows
    numbers = np.where(known, np.cumsum(is_first).reshape(is_first.shape) - 1, n_values.sum())
    of_cell = np.empty_like(numbers)
    np.put_along_axis(of_cell, order, numbers, axis=1)
    size = np.bincount(of_cell.reshape(-1), minlength=n_values.sum() + 1)[:-1]
    column = np.repeat(np.arange(len(n_values)), n_values)
    return Values(of_cell, in_order[is_first], size, column, n_values)


@dataclass(frozen=True)
class TableDescription:
    """Description of the samples, the input of all checks.

    Attributes
    ----------
    columns : array of shape (n_rows, n_columns)
        Features as floats. Categories are integers, dates are seconds, and missing and infinite
        values are nan. There are no columns if the samples are not a table.
    names : sequence of str
        Names of the columns.
    kinds : array of str of shape (n_columns,)
        "number", "date" or "category" for each column.
    target, groups, left_out
        Target, groups and columns outside X of the same rows.
    first_equal : array of int or None
        The first sample that equals each sample of the full table.
    key_size : array or None
        Number of characters of a text, or of stored entries of a sparse row. None for a dense
        table.
    all_target, all_groups
        Target and groups of the full table, to which `first_equal` refers.
    unchecked : list of str
        Parts that are not checked, with reasons.
    """

    columns: np.ndarray
    names: Sequence[str]
    kinds: np.ndarray
    target: Target
    groups: Any
    left_out: Mapping[str, Any]
    first_equal: np.ndarray | None
    key_size: np.ndarray | None
    all_target: Target
    all_groups: Any
    unchecked: list[str]

    @property
    def is_number(self) -> np.ndarray:
        """Whether a column has numbers or dates, and not categories."""
        return np.asarray(self.kinds != "category")

    @cached_property
    def n_values(self) -> np.ndarray:
        """Number of distinct values of each column."""
        counts = [np.empty(0, dtype=np.intp)]
        for block in self.list_blocks(np.arange(self.columns.shape[1])):
            in_order = np.sort(self.columns[:, block].T, axis=1)
            rises = in_order[:, 1:] > in_order[:, :-1]  # missing values are last
            counts.append(rises.sum(axis=1) + ~np.isnan(in_order[:, 0]))
        return np.concatenate(counts)

    @cached_property
    def n_known(self) -> np.ndarray:
        """Number of finite numbers in each column."""
        return np.array([np.isfinite(column).sum() for column in self.columns.T], dtype=np.intp)

    @cached_property
    def correlations(self) -> np.ndarray:
        """Correlations between the ranks of each column and of the target, for known values.

        They are relative to the largest that ties of the target allow.
        """
        y = self.target.y.astype(float)
        outcome = rankdata(y) - (len(y) + 1) / 2
        largest = np.sqrt(12 * (outcome @ outcome) / (len(y) * (len(y) ** 2 - 1.0)))
        found = np.zeros(self.columns.shape[1])
        for block, values in self.number_cells(np.arange(len(found))):
            # missing values are in the middle
            known = np.isfinite(self.columns[:, block]).T
            ranks = np.where(known, values.of_cell, np.nan)
            ranks = np.nan_to_num(ranks - np.nanmean(ranks, axis=1, keepdims=True))
            scale = largest * np.sqrt(np.sum(ranks**2, axis=1) * (known @ outcome**2))
            found[block] = ranks @ outcome / scale
        return found

    def list_blocks(self, positions: np.ndarray, n_rows: int | None = None) -> list[np.ndarray]:
        """Return columns in blocks, with one block in memory at a time."""
        width = max(1, BLOCK_CELLS // (n_rows or len(self.columns)))
        return [positions[k : k + width] for k in range(0, len(positions), width)]

    def number_cells(self, positions: np.ndarray) -> Iterator[tuple[np.ndarray, Values]]:
        """Yield blocks of columns, and their values."""
        for block in self.list_blocks(positions):
            yield block, number_cells(self.columns[:, block])

    def name(self, positions: Sequence[int]) -> str:
        """Return the names of a few features."""
        listed = ", ".join(repr(str(self.names[position])) for position in positions[:MAX_LISTED])
        more = f" (and {len(positions) - MAX_LISTED} more)" if len(positions) > MAX_LISTED else ""
        return (
            f"feature {listed}" if len(positions) == 1 else f"each of the features {listed}{more}"
        )


def describe_table(
    X: Any,
    target: Target,
    groups: Any,
    feature_names: Sequence[str] | None,
    left_out: Mapping[str, Any],
) -> TableDescription:
    """Describe tables and lists of texts. Only the target is described for other samples."""
    X, n = convert_rows(X), len(target)
    rows: Any = slice(None)
    unchecked: list[str] = []
    keys: list[int] | None = None
    key_size = None
    columns, kinds = np.empty((n, 0)), np.empty(0, dtype=str)
    if issparse(X) or is_dense_table(X):
        # a large table is checked in random rows
        n_kept = max(MIN_SAMPLED_ROWS, MAX_CELLS // X.shape[1])
        if n_kept < n:
            rows = np.sort(np.random.default_rng(0).choice(n, n_kept, replace=False))
            unchecked.append(
                f"{n - n_kept} of {n} rows were only searched for exact copies, because the "
                "table is large"
            )
        if issparse(X):
            # copies are searched in all rows, and only the checked rows become dense
            X = X.tocsr().copy()
            if n_kept < n:
                # the entries of all rows, sorted by column
                X.sum_duplicates()
                X.eliminate_zeros()
                ends, key_size = zip(X.indptr[:-1], X.indptr[1:], strict=True), np.diff(X.indptr)
                keys = [hash(X.indices[a:b].tobytes() + X.data[a:b].tobytes()) for a, b in ends]
            X = X[rows].toarray()
        # encoded values of all rows, and then of those that are checked
        columns, kinds = _encode_columns(X)
        keys = hash_rows(columns) if keys is None else keys
        columns = columns[rows] if len(columns) == n else columns
    elif (texts := _read_texts(X)) is not None:
        # texts are compared as a whole
        keys = [hash(text) for text in texts]
        key_size = np.array([len(text) for text in texts])
        unchecked.append("features, because the samples are texts (exact copies were checked)")
    else:
        unchecked.append("copies and features, because the samples are not rows of a table")
    return TableDescription(
        columns,
        feature_names or [f"x{position}" for position in range(columns.shape[1])],
        kinds,
        Target(target.y[rows], target.classes, target.codes[rows]),
        None if groups is None else np.asarray(groups)[rows],
        {name: np.asarray(column)[rows] for name, column in left_out.items()},
        None if keys is None else find_first_equal(keys),
        key_size,
        target,
        groups,
        unchecked,
    )


def check_constants(table: TableDescription) -> Iterator[CheckResult]:
    """Report features that are empty, or have the same value in all samples.

    A value that is missing elsewhere is an indicator.
    """
    n = len(table.columns)
    is_single = (table.n_values == 1) & (table.n_known == n)
    constant = np.flatnonzero(is_single | (table.n_values == 0)).tolist()
    if constant:
        them = "it" if len(constant) == 1 else "them"
        yield CheckResult(
            "note",
            f"{table.name(constant)} has the same value in all samples",
            f"Remove {them}; a column that should vary was not written correctly.",
        )


def hash_rows(rows: np.ndarray) -> list[int]:
    """Return a number of 64 bits for each row of numbers, the same for equal rows.

    It is the hash of the bytes, which differs for -1 and -2, unlike that of a tuple of numbers.
    """
    step = max(1, BLOCK_CELLS // max(1, rows.shape[1]))
    blocks = (rows[k : k + step] + 0.0 for k in range(0, len(rows), step))  # -0.0 equals 0.0
    blocks = (np.where(np.isnan(block), np.nan, block) for block in blocks)  # one kind of nan
    return [hash(row.tobytes()) for block in blocks for row in block]


def find_first_equal(keys: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return, for each key, the index of its first occurrence."""
    first, place = np.unique(keys, return_index=True, return_inverse=True)[1:]
    return first[place.reshape(-1)]


def convert_rows(X: Any) -> Any:
    """Return a list of rows of equal length as an array, and other samples unchanged."""
    if not isinstance(X, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in X):
        return X
    return np.array(X) if len({len(row) for row in X}) == 1 else X


def is_dense_table(X: Any) -> bool:
    """Whether the samples are rows of a dense table.

    A symmetric matrix contains the kernel or the distances of the samples.
    """
    shape: Sequence[int] = np.shape(X) if hasattr(X, "shape") else ()
    if issparse(X) or len(shape) != 2 or 0 in shape:
        return False
    if shape[1] == 1 and _read_texts(X) is not None:
        return False
    return shape[0] != shape[1] or not np.array_equal(table := np.asarray(X), table.T)


def list_columns(X: Any) -> Iterator[np.ndarray]:
    """Yield the columns of a table, those of a data frame one by one, each with its own type."""
    if not hasattr(X, "columns"):
        yield from np.asarray(X).T
        return
    for position in range(X.shape[1]):
        yield np.asarray(safe_indexing(X, position, axis=1))


def _encode_columns(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of a table as floats, and the kind of each."""
    if isinstance(X, np.ndarray) and X.dtype == float:
        return drop_infinite(X), np.full(X.shape[1], "number")
    encoded, kinds = np.empty(X.shape), []
    for position, column in enumerate(list_columns(X)):
        encoded[:, position], kind = encode_column(column)
        kinds.append(kind)
    return encoded, np.array(kinds)


def encode_column(column: np.ndarray) -> tuple[np.ndarray, str]:
    """Return a column as floats, with nan for missing and infinite values, and its kind.

    Categories are integers in alphabetical order. Texts such as 1.1 and 1.10, which are different
    names but the same number, are categories.
    """
    if column.dtype.kind in "biuf":
        return drop_infinite(column.astype(float)), "number"
    if readings := read_times(column):
        return readings[0], "date"
    if column.dtype.kind in "mM":
        return np.where(np.isnat(column), np.nan, column.astype(np.int64).astype(float)), "date"
    # objects that are numbers
    values = column.tolist()
    has_texts = any(isinstance(value, str) for value in values)
    if not has_texts:
        with suppress(TypeError, ValueError):  # pandas.NA is not a float
            return drop_infinite(column.astype(float)), "number"
    # distinct texts in alphabetical order, the missing ones last
    texts = list(map(str, values))
    distinct = sorted(set(texts), key=lambda text: (text.lower() in MISSING, text))
    place = {text: position for position, text in enumerate(distinct)}
    cells = np.fromiter(map(place.__getitem__, texts), dtype=np.intp, count=len(texts))
    known = [text for text in distinct if text.lower() not in MISSING]
    missing = [np.nan] * (len(distinct) - len(known))
    # they are numbers, unless different texts are the same number
    with suppress(ValueError):
        numbers = np.array([*map(float, known), *missing])
        if not has_texts or len(set(numbers[: len(known)])) == len(known):
            return drop_infinite(numbers[cells]), "number"
    return np.array([*range(len(known)), *missing], dtype=float)[cells], "category"


def drop_infinite(numbers: np.ndarray) -> np.ndarray:
    """Return numbers with nan in place of infinite values, which have no size and no decimals."""
    infinite = np.isinf(numbers)
    return np.where(infinite, np.nan, numbers) if infinite.any() else numbers


def standardize(columns: np.ndarray) -> np.ndarray:
    """Return columns with mean 0 and standard deviation 1. Constant ones become 0."""
    largest = np.abs(columns).max(axis=0)  # squares of tiny numbers are 0
    standardized: np.ndarray = columns / np.where(largest > 0, largest, 1.0)
    spread = standardized.std(axis=0)
    standardized -= standardized.mean(axis=0)
    standardized /= np.where(spread > 0, spread, 1.0)
    return standardized


def find_direction(values: np.ndarray, ends: Sequence[int] | np.ndarray = ()) -> str:
    """Return "rises" or "falls" for numbers in order, with ties but enough distinct values.

    The order may begin anew after the `ends` of blocks of rows.
    """
    steps = np.delete(np.diff(values), np.asarray(ends, dtype=np.intp))
    if np.sum(steps != 0) < MIN_TIMES - 1:
        return ""
    return "rises" if np.all(steps >= 0) else "falls" if np.all(steps <= 0) else ""


def list_run_ends(columns: Iterable[np.ndarray], most: float) -> Iterator[np.ndarray]:
    """Yield the ends of the blocks of each column whose equal values are in consecutive rows.

    Such a column has at least two values and at most `most`.
    """
    for column in columns:
        known = column if column.dtype.kind in "biuf" else column.astype(str)
        codes = np.unique(known, return_inverse=True)[1].reshape(-1)
        ends = np.flatnonzero(np.diff(codes))
        if 0 < len(ends) == codes.max() < most:
            yield ends


def get_tolerance(column: np.ndarray) -> float:
    """Return the relative difference up to which numbers are equal, for their precision."""
    with np.errstate(over="ignore"):
        is_single = np.array_equal(column.astype(np.float32), column, equal_nan=True)
    return SINGLE_TOLERANCE if is_single else TOLERANCE


def get_rounding_error(column: np.ndarray) -> float:
    """Return half a unit of the last decimal of numbers, or of floating point."""
    largest, tolerance = float(np.abs(column).max()), get_tolerance(column)
    # decimals after the first digit of small numbers
    first = max(0, -int(np.floor(np.log10(largest)))) if largest > MIN_SIZE else 0
    for decimals in range(first, first + MAX_DIGITS + 1):
        if np.abs(column - np.round(column, decimals)).max() <= tolerance * largest:
            return 0.5 * 10.0**-decimals * (1 + tolerance)
    return tolerance * largest


def _read_texts(X: Any) -> list[str] | None:
    """Return texts in lower case with single spaces, or None if the samples are not texts."""
    if issparse(X) or (hasattr(X, "shape") and len(X.shape) == 2 and X.shape[1] != 1):
        return None
    samples = np.asarray(X).ravel().tolist() if hasattr(X, "shape") else list(X)
    if not samples or not all(isinstance(sample, str) for sample in samples):
        return None
    lengthy = sum(" " in sample.strip() for sample in samples)
    if hasattr(X, "shape") and len(X.shape) == 2 and 2 * lengthy < len(samples):
        return None  # a column of categories
    return [" ".join(sample.lower().split()) for sample in samples]
