"""Checks of how values were recorded: missing or rounded by class, or parts of the target."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import hypergeom

from skeval.report._data_checks.table import Finding, TableDescription, list_features

MAX_CHANCE = 1e-3
"""Maximum probability of a finding if a table has no such fault."""
MAX_DECIMALS = 8
MIN_DISTINCT = 10
"""Minimum number of distinct values of a class from which its decimals can be determined."""
MAX_COLUMNS = 500
ROWS_PER_COLUMN, MIN_SPARE_ROWS = 2, 10
"""Number of rows required for an exact linear combination: per column, and in addition."""
MIN_KNOWN, MIN_EXACT = 0.9, 0.95
"""Minimum share of known values of a part, and of rows that agree up to rounding."""
MAX_ERROR = 0.1
"""Maximum rounding error of a combination, in standard deviations of the target."""
N_TRIMS, MAX_PARTS = 5, 20
MAX_DIGITS, ROUNDING = 6, 1e-9


def check_missing_by_class(table: TableDescription) -> Iterator[Finding]:
    """Report features whose values are missing in one class only.

    The hypergeometric probability has a Bonferroni correction for
    features and classes. Serious if at least half of the class is missing.
    """
    target = table.target
    if target.classes is None or target.codes.ndim != 1:
        return
    codes, sizes = target.codes, np.bincount(target.codes, minlength=len(target.classes))
    features: list[tuple[int, int, float]] = []
    incomplete = np.flatnonzero(np.isnan(table.columns).any(axis=0)).tolist()
    for position in incomplete:
        missing = np.isnan(table.columns[:, position])
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
    # skip categories, whole numbers, and columns of which nearly all values have all decimals
    varied = table.is_number & (table.runs.n_values >= MIN_DISTINCT)
    varied &= np.any(columns != np.floor(columns), axis=0)
    candidates = np.flatnonzero(varied)
    part = columns[:, candidates]
    n_rounded = np.sum(part == np.round(part, MAX_DECIMALS - 1), axis=0)
    kept = n_rounded >= MIN_DISTINCT
    candidates, part = candidates[kept], part[:, kept]
    if not len(candidates):
        return []
    # keep columns with a class whose values of the usual power have fewer decimals
    decimals = np.where(find_usual_power(part), count_decimals(part), -1)
    of_class = [decimals[target.codes == code].max(axis=0) for code in np.unique(target.codes)]
    kept = np.any([(most >= 0) & (most < decimals.max(axis=0)) for most in of_class], axis=0)
    return [
        p
        for p in candidates[kept].tolist()
        if is_rounded_by_class(columns[:, p], target.codes, n_columns)
    ]


def find_usual_power(columns: np.ndarray) -> np.ndarray:
    """Return which values are between the two powers of ten that contain most of their column."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.floor(np.log10(np.abs(columns)))
    finite = np.isfinite(power)
    low = power[finite].min(initial=0)
    step = np.where(finite, power - low, power[finite].max(initial=0) - low + 1).astype(np.intp)
    p, n_steps = columns.shape[1], int(step.max()) + 1
    cells = (step * p + np.arange(p)).reshape(-1)
    counts = np.bincount(cells, finite.reshape(-1), n_steps * p).reshape(n_steps, p)
    return finite & (step == counts.argmax(axis=0))


def is_rounded_by_class(column: np.ndarray, codes: np.ndarray, n_columns: int) -> bool:
    """Whether all values of a class have fewer decimals than expected by chance."""
    used = find_usual_power(column[:, None])[:, 0]
    if not used.any():
        return False
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


def get_rounding_error(column: np.ndarray) -> float:
    """Return half a unit of the last decimal of numbers, or that of floating point."""
    for decimals in range(MAX_DIGITS + 1):
        if np.array_equal(column, np.round(column, decimals)):
            return 0.5 * 10.0**-decimals * (1 + ROUNDING)
    return ROUNDING * float(np.abs(column).max())


def count_decimals(values: np.ndarray) -> np.ndarray:
    """Return the decimals of each value, at most `MAX_DECIMALS`."""
    decimals = np.full(values.shape, MAX_DECIMALS)
    for n_decimals in range(MAX_DECIMALS):
        rounded = values == np.round(values, n_decimals)
        decimals[rounded & (decimals == MAX_DECIMALS)] = n_decimals
        if rounded.all():
            break
    return decimals


def check_target_formula(table: TableDescription) -> Iterator[Finding]:
    """Report a numeric target that is a sum or product of several features.

    The target, or its logarithm, is a linear combination of columns, or of their logarithms, up to
    the rounding of the target and of the columns, in nearly all rows.
    """
    if table.target.classes is not None or table.target.y.ndim != 1:
        return
    y = table.target.y.astype(float)
    known = np.isfinite(table.columns)
    usable = (known.mean(axis=0) >= MIN_KNOWN) & (table.runs.n_values > 1)
    usable &= table.is_number | (table.runs.n_values == 2)  # an indicator
    for operation in ("sum", "product"):
        positions = np.flatnonzero(usable)
        if operation == "product":
            if not y.min() > 0:
                return
            positive = np.all((table.columns > 0) | ~known, axis=0)
            positions = np.flatnonzero(usable & positive)
        rows = known[:, positions].all(axis=1)
        columns, outcome = table.columns[np.ix_(rows, positions)], y[rows]
        parts = find_parts(columns, outcome, logarithms=operation == "product")
        if len(parts) > 1:
            listed = list_features(positions[parts].tolist(), table.names)
            yield Finding(
                "target-formula",
                "Target computed from features",
                f"the target is a {'weighted sum' if operation == 'sum' else 'product'} of "
                f"{listed.removeprefix('each of the ')}, up to rounding",
                "Remove these features, unless they are known before the target.",
                grave=True,
            )
            return


def find_parts(columns: np.ndarray, y: np.ndarray, *, logarithms: bool) -> list[int]:
    """Return the columns with a part in a linear combination that gives the target up to rounding.

    They are the fewest columns, in the order of their weights, that give the target in nearly all
    rows; none if not even all columns do.
    """
    n, p = columns.shape
    if not 2 <= p <= MAX_COLUMNS or n < ROWS_PER_COLUMN * p + MIN_SPARE_ROWS or not y.std() > 0:
        return []
    unit = np.full(n, get_rounding_error(y))
    errors = np.array([get_rounding_error(column) for column in columns.T])[None]
    if logarithms:
        errors, unit = errors / columns, unit / y
        columns, y = np.log(columns), np.log(y)
    spread = columns.std(axis=0)
    if not np.all(spread > 0):
        return []
    columns, errors = (columns - columns.mean(axis=0)) / spread, errors / spread

    def fits(parts: np.ndarray) -> tuple[bool, np.ndarray]:
        """Return whether nearly all rows agree up to rounding, and the weights."""
        weights, residual = _fit_most_rows(columns[:, parts], y)
        of_columns = np.broadcast_to(errors, columns.shape)[:, parts] @ np.abs(weights)
        exact = np.full(n, 10 * ROUNDING * y.std())
        agree = any(agrees_up_to(error, residual, y) for error in (exact, unit, unit + of_columns))
        return agree, weights

    agree, weights = fits(np.arange(p))
    if not agree:
        return []
    order = np.argsort(-np.abs(weights))
    enough = next((k for k in range(1, min(p, MAX_PARTS)) if fits(order[:k])[0]), p)
    return np.sort(order[:enough]).tolist()


def agrees_up_to(error: np.ndarray, residual: np.ndarray, y: np.ndarray) -> bool:
    """Whether nearly all residuals are within errors that are small beside the spread of `y`."""
    small = np.quantile(error, MIN_EXACT) <= MAX_ERROR * y.std()
    return bool(small and np.mean(np.abs(residual) <= error) >= MIN_EXACT)


def _fit_most_rows(columns: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights by least squares without the worst rows, and the residuals of all."""
    design = np.column_stack([columns, np.ones(len(y))])
    kept = np.ones(len(y), dtype=bool)
    for _ in range(N_TRIMS):
        weights = np.linalg.lstsq(design[kept], y[kept], rcond=None)[0]
        residual = y - design @ weights
        kept = np.abs(residual) <= np.quantile(np.abs(residual), MIN_EXACT)
    return weights[:-1], residual
