"""Description of a table that the checks read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skeval._resampling.target import Target
from skeval.report._sections import Caution

UNCHECKED = "unchecked"
"""Code of the warning about checks that were not run; its evidence gives the reasons."""
MAX_CELLS = 5 * 10**6
"""Columns of a larger table are checked on a random sample of its rows."""
MIN_SAMPLED_ROWS = 100
MAX_LISTED = 3


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
class TableDescription:
    """Description of the samples, the input of all checks.

    Attributes
    ----------
    columns : array of shape (n_rows, n_columns)
        Features as floats; categories are integers. There are no columns if the samples are not a
        table.
    names : sequence of str
        Names of the columns.
    values : dict of str to array
        The same columns as the user passed them.
    target, groups, left_out
        Target, groups and columns outside X of the same rows.
    keys : sequence of bytes or None
        A key per sample of the full table; samples are equal if their keys are.
    key_size : array or None
        Characters of a text, or stored entries of a sparse row; None for a dense table.
    all_groups : array or None
        Groups of the full table, which `keys` refers to.
    n_samples : int
        Samples of the full table.
    unchecked : tuple of str
        Parts that are not checked, with reasons.
    """

    columns: np.ndarray
    names: Sequence[str]
    values: Mapping[str, np.ndarray]
    target: Target
    groups: Any
    left_out: Mapping[str, Any]
    keys: Sequence[bytes] | None
    key_size: np.ndarray | None
    all_groups: Any
    n_samples: int
    unchecked: tuple[str, ...]


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
    columns, values = np.empty((n, 0)), np.empty((n, 0))
    if issparse(X) or is_table(X):
        rows = _sample_rows(X)
        if len(rows) < n:
            unchecked.append(
                f"{n - len(rows)} of {n} rows were only searched for exact copies, because the "
                "table is large"
            )
        values = X.tocsr()[rows].toarray() if issparse(X) else np.asarray(X)[rows]
        columns = _encode_columns(values)
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
        dict(zip(names, values.T, strict=True)) if n_columns else {},
        target if len(rows) == n else Target(target.y[rows], target.classes, target.codes[rows]),
        None if groups is None else np.asarray(groups)[part],
        {name: np.asarray(column)[part] for name, column in left_out.items()},
        keys,
        key_size,
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

    A symmetric matrix holds the kernel or the distances of the samples.
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


def _sample_rows(X: Any) -> np.ndarray:
    n, p = X.shape
    n_kept = max(MIN_SAMPLED_ROWS, MAX_CELLS // p)
    if n <= n_kept:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, n_kept, replace=False))


def _encode_columns(values: np.ndarray) -> np.ndarray:
    """Return a table as floats, with integers for categories."""
    if values.dtype.kind in "biuf":
        return values.astype(float)
    return np.column_stack([_encode_column(column) for column in values.T])


def _encode_column(column: np.ndarray) -> np.ndarray:
    try:
        return column.astype(float)
    except (TypeError, ValueError):
        return np.unique(column.astype(str), return_inverse=True)[1].astype(float)


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
