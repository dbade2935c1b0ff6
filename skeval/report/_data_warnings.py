"""What is wrong with a table before anything is fitted: copies of samples, copies of the target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lgamma
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata

from skeval._resampling.target import Target
from skeval.report._cautions import Caution
from skeval.report._row_order import are_alike
from skeval.report._suspected_groups import warn_of_groups, warn_of_repeated_values

__all__ = ["name_columns", "write_data_warnings"]

LARGEST_TABLE = 5 * 10**6
"""Cells of a table that is looked through; the checks of a larger one would take seconds."""
SHARE_OF_COPIES = 0.05
TIMES_CHANCE = 10
CHANCE = 1e-3
ROUNDING = 1e-9
FEW = 3
FAR = 8.0
"""Standard deviations between classes that no measurement is expected to reach."""
LEAST_ALIKE = 10
"""Distinct values, or samples of one value, that no chance puts in order."""
LEAST_COUNTED = 8
"""Fewer numbers count the rows by chance, in one of a few thousand tables of a feature."""


def write_data_warnings(
    X: Any,
    target: Target,
    groups: Any,
    feature_names: Sequence[str] | None,
    left_out: Mapping[str, Any],
) -> list[Caution]:
    """Return the sentences that apply to a table and to the columns that were left out of it.

    Where the samples are no rows of a table there are only those.
    """
    if not _is_table(X):
        return list(warn_of_repeated_values({}, left_out, target, groups))
    columns, named = _encode_columns(X), name_columns(X, feature_names)
    names = feature_names or list(named)
    with np.errstate(all="ignore"):  # of infinite and of missing values
        copies = _warn_of_copies(columns, groups)
        named = {} if copies else named  # of copies every column is an identifier
        found = [
            copies,
            warn_of_groups(columns, target) if groups is None else None,
            _warn_of_answers(columns, target, names),
            *warn_of_repeated_values(named, left_out, target, groups),
            _warn_of_row_numbers(columns, target, names),
            _warn_of_constants(columns, names),
        ]
    return [sentence for sentence in found if sentence]


def name_columns(X: Any, feature_names: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Return the columns of a table as they are, by name; none where the samples are no rows."""
    if not _is_table(X):
        return {}
    columns = np.asarray(X).T
    names = feature_names or [f"x{position}" for position in range(len(columns))]
    return dict(zip(names, columns, strict=True))


def _is_table(X: Any) -> bool:
    """Whether the samples are rows of a dense table that is not too large to be looked through.

    A symmetric matrix is no table: it holds the kernel or the distances of the samples.
    """
    shape: Sequence[int] = np.shape(X) if hasattr(X, "shape") else ()
    if issparse(X) or len(shape) != 2 or not 0 < shape[0] * shape[1] <= LARGEST_TABLE:
        return False
    table = np.asarray(X)
    return not (shape[0] == shape[1] and np.array_equal(table, table.T))


def _encode_columns(X: Any) -> np.ndarray:
    """Return a table as floats, columns of texts as numbers that stand for them."""
    table = np.asarray(X)
    if table.dtype.kind in "biuf":
        return table.astype(float)
    return np.column_stack([_encode_column(column) for column in table.T])


def _encode_column(column: np.ndarray) -> np.ndarray:
    """Return the numbers of a column, or where it has others the codes of its values."""
    try:
        return column.astype(float)
    except (TypeError, ValueError):
        return np.unique(column.astype(str), return_inverse=True)[1].astype(float)


def _warn_of_constants(columns: np.ndarray, names: Sequence[str]) -> Caution | None:
    """Say which features have one value only."""
    constant = np.flatnonzero(np.all((columns == columns[:1]) | np.isnan(columns), axis=0)).tolist()
    if not constant:
        return None
    return Caution(
        "constant",
        f"{_list_features(constant, names)} has the same value in all samples: it tells nothing. "
        "Where it should not be constant, something was lost before the table was written.",
    )


def _warn_of_copies(columns: np.ndarray, groups: Any) -> Caution | None:
    """Say how many samples have an equal among those that a split may take from them.

    Few columns of few values hold equal rows by chance. Were the columns independent, as many
    pairs would be equal as the product of the chances that two values of a column are.
    """
    n = len(columns)
    rows = np.ascontiguousarray(columns + 0.0)  # -0.0 and 0.0 are equal
    seen: dict[bytes, list[int]] = {}
    for sample, row in enumerate(rows):
        seen.setdefault(row.tobytes(), []).append(sample)
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    equal = [same for same in seen.values() if len(same) > 1 and len(set(units[same])) > 1]
    n_copies = sum(map(len, equal))
    if n_copies < SHARE_OF_COPIES * n:
        return None
    n_pairs = sum(len(same) * (len(same) - 1) / 2 for same in equal)
    if n_pairs <= TIMES_CHANCE * n * (n - 1) / 2 * _chance_of_equal_rows(columns):
        return None
    return Caution(
        "copies",
        f"{n_copies} of {n} samples have an exact copy under another number: splits put one into "
        "training and the other into the test, so every error here is too low and every interval "
        "too short. Remove the copies, or give those of one object a common group (groups=).",
        f"{n_copies} of {n} samples have an exact copy that is split from them",
    )


def _chance_of_equal_rows(columns: np.ndarray) -> float:
    """Return the chance that two rows are equal where the columns have nothing to do with it."""
    logarithm = 0.0
    for column in columns.T:
        shares = np.unique(column, return_counts=True)[1] / len(column)
        logarithm += np.log(np.sum(shares**2))
    return float(np.exp(logarithm))


def _warn_of_answers(columns: np.ndarray, target: Target, names: Sequence[str]) -> Caution | None:
    """Say which features are the target under another name, or tell all classes apart."""
    y = target.y if target.classes is None else target.codes
    if np.ndim(y) != 1:
        return None
    if target.classes is None:
        numbers = np.asarray(y, dtype=float)
        copies = list(_find_linear_copies(columns, numbers))
        if copies:
            return _name_copies(copies, names)
        ranks = np.unique(numbers, return_inverse=True)[1]
        if columns.shape[1] * np.exp(np.log(2) - _count_orders(ranks)) > CHANCE:
            return None
        return _name_telling(_find_functions(columns, numbers), [], names)
    telling = _find_telling(columns, y, len(target.classes))
    if not telling or _chance_of_telling(y, columns.shape[1]) > CHANCE:
        return None
    n_values = [len(np.unique(columns[:, column])) for column in telling]
    copies = [
        column for column, n in zip(telling, n_values, strict=True) if n == len(target.classes)
    ]
    if copies:
        return _name_copies(copies, names)
    return _name_telling([c for c in telling if _is_far(columns[:, c], y)], telling, names)


def _name_telling(grave: list[int], telling: list[int], names: Sequence[str]) -> Caution | None:
    """Say which features alone tell what is to be predicted, the grave ones first, if any do."""
    if not grave and not telling:
        return None
    others = [column for column in telling if column not in grave]
    what = "all classes apart" if telling else "the order of the targets"
    fault = f"{_list_features(grave, names)} alone tells {what}, as what is made from them does"
    return Caution(
        "telling-feature",
        f"{_list_features([*grave, *others], names)} alone tells {what}, without one error: make "
        "sure that it is known before the target is, and not made from it.",
        fault[0].lower() + fault[1:] if grave else "",
    )


def _is_far(column: np.ndarray, codes: np.ndarray) -> bool:
    """Whether a feature holds the classes farther apart than measurements would.

    All means lie `FAR` standard deviations within a class apart, or a class of some size has a
    value for itself.
    """
    sizes = np.bincount(codes)
    means = np.bincount(codes, column) / sizes
    squares = np.bincount(codes, (column - means[codes]) ** 2)
    spread = np.sqrt(squares.sum() / max(1, len(codes) - len(sizes)))
    alone = np.any((squares == 0) & (sizes >= LEAST_ALIKE))
    return bool(alone or np.diff(np.sort(means)).min() > FAR * spread)


def _find_functions(columns: np.ndarray, y: np.ndarray) -> list[int]:
    """Return the features that rise, or fall, with numbers to predict without one exception."""
    found = []
    for position, column in enumerate(columns.T):
        if len(np.unique(column)) < LEAST_ALIKE:
            continue
        if any(np.all(np.diff(x[np.lexsort((x, y))]) >= 0) for x in (column, -column)):
            found.append(position)
    return found


def _name_copies(copies: list[int], names: Sequence[str]) -> Caution:
    """Say which features hold what is to be predicted."""
    fault = f"{_list_features(copies, names)} is a copy of the target"
    return Caution(
        "target-copy",
        f"{fault}: the errors here are those of reading the answer. Remove it and evaluate again.",
        fault[0].lower() + fault[1:],
    )


def _list_features(found: list[int], names: Sequence[str]) -> str:
    """Return the names of a few features."""
    listed = ", ".join(repr(str(names[column])) for column in found[:FEW])
    more = f" (and {len(found) - FEW} more)" if len(found) > FEW else ""
    return f"Feature {listed}" if len(found) == 1 else f"Each of the features {listed}{more}"


def _find_linear_copies(columns: np.ndarray, y: np.ndarray) -> Iterator[int]:
    """Yield the features of which the numbers to predict are a linear function."""
    deviation = y - y.mean()
    size = np.sqrt(deviation @ deviation)
    if len(y) < 4 or not size > 0:
        return
    centred = columns - columns.mean(axis=0)
    correlation = deviation @ centred / (size * np.sqrt((centred**2).sum(axis=0)))
    yield from np.flatnonzero(np.abs(correlation) > 1 - ROUNDING).tolist()


def _find_telling(columns: np.ndarray, codes: np.ndarray, n_classes: int) -> list[int]:
    """Return the features that put the classes one after another, or give each its own value."""
    order = np.argsort(columns, axis=0, kind="stable")
    changes = np.diff(codes[order], axis=0) != 0
    steps = np.diff(np.take_along_axis(columns, order, axis=0), axis=0) != 0
    pure = ~np.any(changes & ~steps, axis=0)
    apart = changes.sum(axis=0) == n_classes - 1
    alike = steps.sum(axis=0) == n_classes - 1
    return np.flatnonzero(pure & (apart | alike)).tolist()


def _chance_of_telling(codes: np.ndarray, n_features: int) -> float:
    """Return how many features would put the classes one after another by chance."""
    return float(n_features * np.exp(lgamma(codes.max() + 2) - _count_orders(codes)))


def _count_orders(codes: np.ndarray) -> float:
    """Return the logarithm of the number of orders of the samples that codes tell apart."""
    return lgamma(len(codes) + 1) - sum(lgamma(size + 1) for size in np.bincount(codes))


def _warn_of_row_numbers(
    columns: np.ndarray, target: Target, names: Sequence[str]
) -> Caution | None:
    """Say which features count the rows, in their order or in another, as an index does.

    Where the targets of neighbouring numbers are alike, the rule learns the order of a file.
    """
    if len(columns) < LEAST_COUNTED:
        return None
    whole = np.all(columns == np.floor(columns), axis=0)
    rising = np.all(np.diff(columns, axis=0) > 0, axis=0)
    gapless = np.all(np.diff(np.sort(columns, axis=0), axis=0) == 1, axis=0)
    found = np.flatnonzero(whole & (rising | gapless)).tolist()
    if not found:
        return None
    y = rankdata(target.y) if target.classes is None else target.codes
    telling = [column for column in found if are_alike(y[np.argsort(columns[:, column])])]
    headline = f"{_list_features(telling, names)} counts the rows, whose order tells the target"
    return Caution(
        "row-number",
        f"{_list_features(found, names)} counts the samples in whole numbers: it looks like a row "
        "number or an identifier, which tells the order of the file and nothing of new samples. "
        "Leave it out unless it is a measurement.",
        headline[0].lower() + headline[1:] if telling else "",
    )
