"""Checks of how values were recorded: missing or rounded by class, or parts of the target."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import hypergeom

from skeval.report._data_checks.table import Finding, TableDescription, list_features

MAX_CHANCE = 1e-3
"""Maximum probability of a finding if a table has no such fault."""
MISSING = ("", "nan", "None", "NaT", "<NA>")
MAX_DECIMALS = 8
MIN_DISTINCT = 10
"""Minimum number of distinct values of a class from which its decimals can be determined."""
MAX_COLUMNS = 500
ROWS_PER_COLUMN, MIN_SPARE_ROWS = 2, 10
"""Number of rows required for an exact linear combination: per column, and in addition."""
PRECISION = 1e-8


def check_missing_by_class(table: TableDescription) -> Iterator[Finding]:
    """Report features whose values are missing in one class only.

    The probability is that of the hypergeometric distribution, with a Bonferroni correction for
    features and classes. Grave if at least half of the class is missing.
    """
    target = table.target
    if target.classes is None or target.codes.ndim != 1:
        return
    codes, sizes = target.codes, np.bincount(target.codes, minlength=len(target.classes))
    features: list[tuple[int, int, float]] = []
    for position, name in enumerate(table.names[: table.columns.shape[1]]):
        values = table.values[name]
        missing = (
            values != values if values.dtype.kind == "f" else np.isin(values.astype(str), MISSING)
        )
        counts = np.bincount(codes[missing], minlength=len(sizes))
        code, n_missing = int(counts.argmax()), int(missing.sum())
        if not 0 < counts[code] == n_missing:
            continue
        chance = hypergeom.sf(n_missing - 1, len(codes), sizes[code], n_missing)
        if chance * len(sizes) * table.columns.shape[1] <= MAX_CHANCE:
            features.append((position, code, n_missing / sizes[code]))
    if features:
        _, code, share = max(features, key=lambda feature: feature[2])
        listed = list_features([position for position, *_ in features], table.names)
        several = len({code for _, code, _ in features}) > 1
        where = "in one class only" if several else f"only in class {target.classes[code]}"
        yield Finding(
            "missing-by-class",
            "Missing in one class only",
            f"{listed} has missing values {where} ({100 * share:.0f} % of its samples)",
            "A model can read the class from the missing values. Find out why they are missing; "
            "remove the feature if that is decided after the class is known.",
            grave=share >= 0.5,
        )


def check_decimals_by_class(table: TableDescription) -> Iterator[Finding]:
    """Report features that were rounded to fewer decimals in one class.

    Values are compared only between the same two powers of ten, because with a fixed number of
    significant digits large values have fewer decimals. The probability is as in
    `check_missing_by_class`.
    """
    if features := list_rounded_by_class(table):
        yield Finding(
            "rounded-by-class",
            "Rounded by class",
            f"{list_features(features, table.names)} has fewer decimals in one class than in the "
            "others, as if the classes came from different sources",
            "A model may learn the source instead of the class. Check how the classes were "
            "collected; rounding all values alike does not remove other differences.",
            grave=True,
        )


def list_rounded_by_class(table: TableDescription) -> list[int]:
    """Return the features whose values have fewer decimals in one class."""
    target, columns = table.target, table.columns
    if target.classes is None or target.codes.ndim != 1:
        return []
    n_columns = columns.shape[1]
    # skip columns in which nearly all values have the maximum number of decimals
    n_rounded = np.sum(columns == np.round(columns, MAX_DECIMALS - 1), axis=0)
    candidates = np.flatnonzero(n_rounded >= MIN_DISTINCT).tolist()
    return [p for p in candidates if is_rounded_by_class(columns[:, p], target.codes, n_columns)]


def is_rounded_by_class(column: np.ndarray, codes: np.ndarray, n_columns: int) -> bool:
    """Whether all values of a class have fewer decimals than expected by chance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.floor(np.log10(np.abs(column)))
    usual, counts = np.unique(power[np.isfinite(power)], return_counts=True)
    if not len(usual):
        return False
    used = power == usual[counts.argmax()]
    values, classes = column[used], codes[used]
    decimals = count_decimals(values)
    if np.all(decimals == decimals[0]):
        return False
    present, sizes = np.unique(classes, return_counts=True)
    for code, size in zip(present, sizes, strict=True):
        own = classes == code
        if size == len(values) or len(np.unique(values[own])) < MIN_DISTINCT:
            continue
        n_as_coarse = int(np.sum(decimals <= decimals[own].max()))
        chance = hypergeom.sf(size - 1, len(values), n_as_coarse, size)
        if chance * n_columns * len(present) <= MAX_CHANCE:
            return True
    return False


def count_decimals(values: np.ndarray) -> np.ndarray:
    """Return the decimals of each value, at most `MAX_DECIMALS`."""
    decimals = np.full(len(values), MAX_DECIMALS)
    for n_decimals in reversed(range(MAX_DECIMALS)):
        decimals[values == np.round(values, n_decimals)] = n_decimals
    return decimals


def check_target_formula(table: TableDescription) -> Iterator[Finding]:
    """Report a numeric target that is a sum or product of several features.

    The target, or its logarithm, is a linear combination of columns, or of their logarithms, up to
    rounding errors of floating point.
    """
    if table.target.classes is not None or table.target.y.ndim != 1:
        return
    y = table.target.y.astype(float)
    positive = y.min() > 0
    for operation in ("sum", "product") if positive else ("sum",):
        columns, outcome = table.columns, y
        usable = np.isfinite(columns).all(axis=0) & (np.ptp(columns, axis=0) > 0)
        if operation == "product":
            usable &= columns.min(axis=0) > 0
            columns, outcome = np.log(np.where(usable, columns, 1.0)), np.log(y)
        parts = find_parts(columns[:, usable], outcome)
        if len(parts) > 1:
            positions = np.flatnonzero(usable)[parts].tolist()
            yield Finding(
                "target-formula",
                "Target computed from features",
                f"the target is a {'weighted sum' if operation == 'sum' else 'product'} of "
                f"{list_features(positions, table.names).removeprefix('each of the ')}, without "
                "any error",
                "Remove these features, unless they are known before the target.",
                grave=True,
            )
            return


def find_parts(columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the columns with a weight in an exact linear combination; none if it is not exact."""
    n, p = columns.shape
    none = np.empty(0, dtype=int)
    if not 2 <= p <= MAX_COLUMNS or n < ROWS_PER_COLUMN * p + MIN_SPARE_ROWS or not y.std() > 0:
        return none
    spread = columns.std(axis=0)
    standardized = (columns - columns.mean(axis=0)) / spread
    outcome = (y - y.mean()) / y.std()
    # some of the rows decide whether the others need to be read
    rows = np.linspace(0, n - 1, ROWS_PER_COLUMN * p + MIN_SPARE_ROWS).astype(int)
    for part in (rows, slice(None)):
        design = np.column_stack([np.ones(len(outcome[part])), standardized[part]])
        weights = np.linalg.lstsq(design, outcome[part], rcond=None)[0]
        if np.abs(design @ weights - outcome[part]).max() > PRECISION:
            return none
    return np.flatnonzero(np.abs(weights[1:]) > PRECISION)
