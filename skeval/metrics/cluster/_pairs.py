"""Contingency table and pair counts of two partitions, used by all external indices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from skeval.utils._checks import (
    check_data,
    check_no_clusterer,
    check_weights,
    naming,
    shift_integers,
)


@dataclass(frozen=True, eq=False)
class Contingency:
    """Non-zero cells and margins of a contingency table.

    Attributes
    ----------
    rows, columns : ndarray of shape (n_cells,)
        Class and cluster of each cell.
    cells : ndarray of shape (n_cells,)
        Number, or total weight, of the samples in each cell.
    within : float or None
        Weighted number of pairs of samples in the same cell, in units of ``4**exponent``; None
        without weights, because the cells then determine it exactly.
    row_sums, column_sums : ndarray
        Sizes of the classes and of the clusters.
    exponent : int, default=0
        Weights are stored in units of ``2**exponent``, so that their products neither overflow nor
        vanish.
    """

    rows: np.ndarray
    columns: np.ndarray
    cells: np.ndarray
    within: float | None
    row_sums: np.ndarray
    column_sums: np.ndarray
    exponent: int = 0

    @property
    def total(self) -> Any:
        """Number of samples, or their total weight in units of ``2**exponent``."""
        return exact_sum(self.cells)

    @property
    def counts(self) -> np.ndarray:
        """Cells in the unit of the caller's weights."""
        return self.cells if self.within is None else np.ldexp(self.cells, self.exponent)


class PairCounts(NamedTuple):
    """Numbers of pairs that are together or apart in two partitions.

    Pairs are together in both (`both`, SS), in `labels_true` only (`true_only`, SD: the false
    negatives), in `labels_pred` only (`pred_only`, DS: the false positives), or apart in both
    (`neither`, DD). Numbers are floats only if samples have weights.
    """

    both: float
    true_only: float
    pred_only: float
    neither: float

    @property
    def total(self) -> float:
        """Number of pairs."""
        return sum(self)

    @property
    def identical(self) -> bool:
        """Whether the two partitions are the same."""
        return self.true_only == 0 and self.pred_only == 0


def encode(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Return codes ``0 .. n_codes - 1`` of the labels; codes may go unused.

    Integers in a narrow range are shifted and strings are hashed, which is faster than sorting.
    """
    shifted = shift_integers(labels)
    if shifted is not None:
        return shifted
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
    exponent, within = 0, None
    if sample_weight is None:
        table = np.bincount(key, minlength=size)
    else:
        exponent = int(np.frexp(sample_weight.max())[1])
        weight = np.ldexp(sample_weight, -exponent)  # at most 1; dividing by a power of 2 is exact
        table = np.bincount(key, weight, size)
        copies = weight * np.maximum(weight - np.ldexp(1.0, -exponent), 0)
        within = pair_products(weight, key, size) + exact_sum(copies) / 2
    filled = np.flatnonzero(table)
    rows, columns = np.divmod(filled if used is None else used[filled], max(n_columns, 1))
    cells = table[filled]
    return Contingency(
        rows,
        columns,
        cells,
        within,
        margin(rows, cells, n_rows),
        margin(columns, cells, n_columns),
        exponent,
    )


def margin(codes: np.ndarray, cells: np.ndarray, size: int) -> np.ndarray:
    """Return the sums of the cells by code, in the dtype of the cells."""
    sums = np.zeros(size, cells.dtype)
    np.add.at(sums, codes, cells)
    return sums


def count_pairs(table: Contingency) -> PairCounts:
    """Return the pair counts of a table; exact Python integers for unweighted samples.

    Pairs of weighted samples are in units of ``4**table.exponent``, which cancel in ratios.

    The pair of samples i and j has the weight ``w_i w_j``. A sample with ``w_i > 1`` represents
    repeated samples, and adds ``w_i (w_i - 1)/2`` pairs that are together in both.
    """
    cells, total = table.cells, table.total
    if table.within is not None:
        true_only = pair_products(cells, table.rows, len(table.row_sums))
        pred_only = pair_products(cells, table.columns, len(table.column_sums))
        apart = pair_products(table.row_sums, np.zeros(len(table.row_sums), np.intp), 1)
        neither = max(apart - pred_only, 0.0)  # only rounding can make it negative
        return PairCounts(table.within, true_only, pred_only, neither)
    squares = sum_of_squares(cells)
    in_rows, in_columns = sum_of_squares(table.row_sums), sum_of_squares(table.column_sums)
    both, true_only, pred_only = squares - total, in_rows - squares, in_columns - squares
    neither = total * total - total - both - true_only - pred_only
    return PairCounts(both // 2, true_only // 2, pred_only // 2, neither // 2)


def pair_products(values: np.ndarray, groups: np.ndarray, n_groups: int) -> float:
    """Return the sum of ``v_i v_j`` over the pairs of each group.

    It is computed as ``m S + (S^2 - sum v^2) / 2``, where m is the largest value of a group and S
    and ``sum v^2`` are over the others. This is accurate even if m is much larger than the others.
    """
    largest = np.zeros(n_groups)
    np.maximum.at(largest, groups, values)
    others = values.copy()
    position = np.zeros(n_groups, np.intp)
    is_largest = np.flatnonzero(values == largest[groups])
    position[groups[is_largest]] = is_largest  # a single one if several are equal
    others[position[largest > 0]] = 0.0
    rest = np.bincount(groups, others, n_groups)
    squares = np.bincount(groups, others**2, n_groups)
    return exact_sum(largest * rest + np.maximum(rest**2 - squares, 0.0) / 2)


def sum_of_squares(values: np.ndarray) -> int:
    """Return the sum of squares of counts as an int that never overflows."""
    if int(values.sum()) >= 1 << 31:
        values = values.astype(object)
    return int((values * values).sum())


def exact_sum(values: np.ndarray) -> Any:
    """Return the sum as an int or a correctly rounded float, independent of the order."""
    return math.fsum(values) if values.dtype.kind == "f" else int(values.sum())


def rand(pairs: PairCounts) -> float:
    """Return ``(SS + DD) / M``."""
    return 1.0 if pairs.identical else float((pairs.both + pairs.neither) / pairs.total)


def adjusted_rand(pairs: PairCounts) -> float:
    """Return Hubert and Arabie's index in the form of Steinley (2004)."""
    if pairs.identical:
        return 1.0
    ss, sd, ds, dd = pairs
    if isinstance(ss, float):  # shares, whose products cannot underflow to 0
        ss, sd, ds, dd = (count / pairs.total for count in (ss, sd, ds, dd))
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


def check_labels(labels: ArrayLike, name: str) -> np.ndarray:
    """Return labels as a 1-D array of integers, strings or other hashable objects."""
    check_no_clusterer(name, labels)
    array: np.ndarray = check_data(name, labels, ensure_2d=False, ensure_min_samples=0, dtype=None)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got an array of shape {array.shape}.")
    if array.dtype.kind == "f":
        return _check_whole_numbers(array, name)
    if array.dtype.kind == "O":
        with naming(name):
            present = set(array.tolist())  # raises a TypeError if a label cannot be hashed
        if None in present:
            raise ValueError(f"{name} must not hold missing values, got None.")
    return array


def _check_whole_numbers(labels: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # values that do not fit into int64 raise an error below
        whole = labels.astype(np.int64)
    wrong = labels[whole != labels]
    if wrong.size:
        raise ValueError(f"{name} must be discrete labels, got the fraction {wrong[0]!r}.")
    return whole


def make_contingency(
    labels_true: ArrayLike, labels_pred: ArrayLike, sample_weight: ArrayLike | None
) -> Contingency:
    """Validate the input of an external index and return the contingency table."""
    true, pred = check_labels(labels_true, "labels_true"), check_labels(labels_pred, "labels_pred")
    check_consistent_length(true, pred, sample_weight)
    if sample_weight is None or not len(true):
        return contingency(true, pred)
    return contingency(true, pred, check_weights("sample_weight", sample_weight, len(true)))


def make_pairs(
    labels_true: ArrayLike, labels_pred: ArrayLike, sample_weight: ArrayLike | None
) -> PairCounts:
    """Validate the input of a pair index and return its pair counts, up to a common factor."""
    return count_pairs(make_contingency(labels_true, labels_pred, sample_weight))


def scale_counts(table: Contingency) -> PairCounts:
    """Return the pair counts; raise if a float cannot represent them."""
    pairs = count_pairs(table)
    if not table.exponent:
        return pairs
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.array(pairs)
        counts = np.ldexp(scaled, 2 * table.exponent)
    if not np.all((scaled == 0) | ((counts >= np.finfo(float).tiny) & np.isfinite(counts))):
        raise ValueError(
            "sample_weight must be such that products of two weights are neither infinite nor next "
            f"to 0, got weights of about 2**{table.exponent}; scale sample_weight."
        )
    both, only_true, only_pred, neither = counts.tolist()
    return PairCounts(both, only_true, only_pred, neither)
