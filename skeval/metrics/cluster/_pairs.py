"""The contingency table of two partitions and its pair counts: the one source of every index."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.utils._text import aligned

__all__ = ["Contingency", "PairCounts", "contingency", "count_pairs", "encode"]


@dataclass(frozen=True, eq=False)
class Contingency:
    """The cells of a contingency table that are not zero, and its margins.

    Attributes
    ----------
    rows, columns : ndarray of shape (n_cells,)
        Class and cluster of each cell.
    cells : ndarray of shape (n_cells,)
        Number, or total weight, of the samples in each cell.
    own : ndarray of shape (n_cells,)
        ``sum min(w_i, w_i^2)`` over the samples of each cell: what its square holds beyond
        twice its pairs. Without weights this is the number of samples.
    row_sums, column_sums : ndarray
        Sizes of the classes and of the clusters.
    """

    rows: np.ndarray
    columns: np.ndarray
    cells: np.ndarray
    own: np.ndarray
    row_sums: np.ndarray
    column_sums: np.ndarray

    @property
    def total(self) -> Any:
        """Number of samples, or their total weight."""
        return exact_sum(self.cells)


@dataclass(frozen=True)
class PairCounts:
    """Pairs of samples by whether two partitions put them together.

    Attributes
    ----------
    both : int or float
        Pairs together in both partitions (SS); a float only where samples have weights.
    true_only : int or float
        Pairs together in `labels_true` only (SD): the false negatives.
    pred_only : int or float
        Pairs together in `labels_pred` only (DS): the false positives.
    neither : int or float
        Pairs apart in both (DD).
    """

    both: float
    true_only: float
    pred_only: float
    neither: float

    @property
    def total(self) -> float:
        """Number of pairs."""
        return self.both + self.true_only + self.pred_only + self.neither

    @property
    def identical(self) -> bool:
        """Whether the two partitions are the same."""
        return self.true_only == 0 and self.pred_only == 0

    def __str__(self) -> str:
        rows = [
            ("together in both", self.both),
            ("together in true only", self.true_only),
            ("together in pred only", self.pred_only),
            ("apart in both", self.neither),
        ]
        return aligned("pairs of samples", [(name, f"{count:g}") for name, count in rows])


def encode(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Return codes ``0 .. n_codes - 1`` of the labels; codes may go unused.

    Integers in a narrow range are only shifted and strings are hashed, which spares the sort.
    """
    if labels.dtype.kind in "iub" and labels.size:
        low, high = int(labels.min()), int(labels.max())
        if high - low < max(1024, labels.size):
            wide = labels if labels.dtype.kind == "u" else labels.astype(np.int64, copy=False)
            codes = wide - low if low else wide
            return codes.astype(np.intp, copy=False), high - low + 1
    if labels.dtype.kind in "OUS":
        names = labels.tolist()
        code = {name: position for position, name in enumerate(dict.fromkeys(names))}
        return np.fromiter(map(code.__getitem__, names), np.intp, len(names)), len(code)
    values, codes = np.unique(labels, return_inverse=True)
    return codes.reshape(-1), len(values)


def contingency(
    labels_true: np.ndarray, labels_pred: np.ndarray, sample_weight: np.ndarray | None = None
) -> Contingency:
    """Count the samples, or add their weights, by pairs of labels."""
    (true, n_rows), (pred, n_columns) = encode(labels_true), encode(labels_pred)
    key = true * n_columns + pred
    size = n_rows * n_columns
    if size > max(1 << 16, 4 * len(key)):  # too many possible cells for a dense table
        used, key = np.unique(key, return_inverse=True)
        key, size = key.reshape(-1), len(used)
    else:
        used = None
    if sample_weight is None:
        table = own = np.bincount(key, minlength=size)
    else:
        table = np.bincount(key, sample_weight, size)
        own = np.bincount(key, np.minimum(sample_weight, sample_weight**2), size)
    filled = np.flatnonzero(table)
    rows, columns = np.divmod(filled if used is None else used[filled], max(n_columns, 1))
    cells = table[filled]
    return Contingency(
        rows,
        columns,
        cells,
        own[filled],
        margin(rows, cells, n_rows),
        margin(columns, cells, n_columns),
    )


def margin(codes: np.ndarray, cells: np.ndarray, size: int) -> np.ndarray:
    """Add the cells by code, in their own dtype."""
    sums = np.zeros(size, cells.dtype)
    np.add.at(sums, codes, cells)
    return sums


def count_pairs(table: Contingency) -> PairCounts:
    """Return the pairs of a table; Python integers, exact at any size, where it holds counts.

    With weights a pair weighs ``w_i w_j``, and a sample with ``w_i > 1`` also makes
    ``w_i (w_i - 1)/2`` pairs with itself, together in both: whole weights repeat the sample.
    """
    cells, own = table.cells, table.own
    squares = sum_of_squares(cells)
    in_rows, in_columns = sum_of_squares(table.row_sums), sum_of_squares(table.column_sums)
    both = half(squares - exact_sum(own))
    true_only, pred_only = half(in_rows - squares), half(in_columns - squares)
    pairs = half(table.total**2 - exact_sum(own))
    neither = max(pairs - both - true_only - pred_only, 0)  # rounding of weights only
    return PairCounts(both, true_only, pred_only, neither)


def sum_of_squares(values: np.ndarray) -> Any:
    """Return the sum of squares; of counts an int that never overflows."""
    if values.dtype.kind == "i" and int(values.sum()) >= 1 << 31:
        values = values.astype(object)
    return exact_sum(values * values)


def exact_sum(values: np.ndarray) -> Any:
    """Return an int, or the correctly rounded float, so that the order never matters."""
    return math.fsum(values) if values.dtype.kind == "f" else int(values.sum())


def half(difference: Any) -> Any:
    """Return half of a difference that is even, or a float, and never negative."""
    return difference // 2 if isinstance(difference, int) else max(difference / 2, 0.0)


def rand(pairs: PairCounts) -> float:
    """Return ``(SS + DD) / M``."""
    return 1.0 if pairs.identical else float((pairs.both + pairs.neither) / pairs.total)


def adjusted_rand(pairs: PairCounts) -> float:
    """Return Hubert and Arabie's index in the form of Steinley (2004)."""
    if pairs.identical:
        return 1.0
    ss, sd, ds, dd = pairs.both, pairs.true_only, pairs.pred_only, pairs.neither
    return float(2 * (ss * dd - sd * ds) / ((ss + sd) * (sd + dd) + (ss + ds) * (ds + dd)))


def jaccard(pairs: PairCounts) -> float:
    """Return ``SS / (SS + SD + DS)``."""
    together = pairs.both + pairs.true_only + pairs.pred_only
    return 1.0 if pairs.identical else float(pairs.both / together)


def fowlkes_mallows(pairs: PairCounts) -> float:
    """Return ``SS / sqrt((SS + SD)(SS + DS))``; no pair in common is 0, as in scikit-learn."""
    if pairs.identical:
        return 1.0
    if pairs.both == 0:  # recall or precision is 0, so is their geometric mean
        return 0.0
    recall = pairs.both / (pairs.both + pairs.true_only)
    return math.sqrt(recall * (pairs.both / (pairs.both + pairs.pred_only)))


def minkowski(pairs: PairCounts) -> float:
    """Return ``sqrt((SD + DS) / (SS + SD))``."""
    if pairs.identical:
        return 0.0
    reference = pairs.both + pairs.true_only
    return math.sqrt((pairs.true_only + pairs.pred_only) / reference) if reference else math.inf
