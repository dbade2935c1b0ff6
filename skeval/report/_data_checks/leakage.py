"""Checks of single features: functions of the target, row numbers, constants."""

from __future__ import annotations

from collections.abc import Iterator
from math import lgamma
from typing import Any

import numpy as np
from scipy.stats import rankdata

from skeval._resampling.target import Target
from skeval.report._data_checks.table import Finding, TableDescription, list_features
from skeval.report._data_checks.time_order import are_alike

MAX_CHANCE = 1e-3
ROUNDING = 1e-9
MIN_DISTINCT = 10
MIN_ROWS = 8
"""A column of fewer rows may count them by chance."""
MAX_CHANCE_OF_MEANS = 0.01
"""Maximum probability that a feature is this close to the means of the target by chance."""
MAX_DECIMALS = 6
MAX_MERGED = 5
N_CANDIDATES = 10
"""Number of feature values from which the smoothing constant is computed, by trial."""
MIN_FITTED = 0.8
"""Share of the samples whose values must be smoothed means of the target, or defaults."""
MIN_DISTINCT_SHARE = 0.9
MIN_SHARE_OF_DEFAULT, MAX_DEFAULTS = 0.1, 3
"""Share of all samples with a default value, and number of default values of a class."""
MIN_FILLED = 3
"""Samples with the same value, which may have been missing."""


def check_constants(table: TableDescription) -> Iterator[Finding]:
    """Report features with one value only."""
    columns = table.columns
    constant = np.flatnonzero(np.all((columns == columns[:1]) | np.isnan(columns), axis=0)).tolist()
    if constant:
        them = "it" if len(constant) == 1 else "them"
        yield Finding(
            "constant",
            "Constant features",
            f"{list_features(constant, table.names)} has the same value in all samples",
            f"Remove {them}; a column that should vary was not written correctly.",
        )


def check_target_copies(table: TableDescription) -> Iterator[Finding]:
    """Report features that are a function of the target, or that separate all classes.

    A copy of the target is grave. A feature that merely separates the classes, or that rises with
    the target, may be a good measurement.
    """
    target = table.target
    if np.ndim(target.y if target.classes is None else target.codes) != 1:
        return
    copies, separating = (
        _compare_with_numbers(table.columns, target.y.astype(float))
        if target.classes is None
        else _compare_with_classes(table.columns, target)
    )
    if copies:
        yield Finding(
            "target-copy",
            "Copy of the target",
            f"{list_features(copies, table.names)} is a copy of the target",
            "Remove it and evaluate again: the model can read the target from it.",
            grave=True,
        )
    elif separating:
        effect = "gives the order of the targets" if target.classes is None else "separates all"
        yield Finding(
            "telling-feature",
            "Perfect feature",
            f"{list_features(separating, table.names)} alone {effect}"
            f"{' classes' * (target.classes is not None)} without error",
            "Check that it is known before the target, and not derived from it.",
        )


def _compare_with_numbers(columns: np.ndarray, y: np.ndarray) -> tuple[list[int], list[int]]:
    """Return the features that are simple functions of the target, and monotone ones."""
    ranks = np.unique(y, return_inverse=True)[1].reshape(-1)
    if columns.shape[1] * np.exp(np.log(2) - _log_count_orders(ranks)) > MAX_CHANCE:
        return [], []
    copies: list[int] = []
    monotone: list[int] = []
    for position, column in enumerate(columns.T):
        if not np.isfinite(column).all():
            continue
        if _is_linear(column, y) or _is_rounded(column, y):
            copies.append(position)
            continue
        if len(np.unique(column)) < MIN_DISTINCT:
            continue
        if any(np.all(np.diff(x[np.lexsort((x, y))]) >= 0) for x in (column, -column)):
            transforms = np.exp, np.log, np.sqrt, np.square, np.cbrt, lambda x: x**3, np.reciprocal
            is_copy = any(_is_linear(transform(column), y) for transform in transforms)
            (copies if is_copy else monotone).append(position)
    return copies, monotone


def _is_linear(column: np.ndarray, y: np.ndarray) -> bool:
    """Whether numbers are a linear function of a feature, up to rounding errors."""
    if len(np.unique(y)) < 4 or not np.isfinite(column).all() or not column.std() > 0:
        return False
    return bool(abs(np.corrcoef(column, y)[0, 1]) > 1 - ROUNDING)


def _is_rounded(column: np.ndarray, y: np.ndarray) -> bool:
    """Whether a feature is the target, rounded to multiples of a step."""
    values = np.unique(column)
    if len(values) < MIN_DISTINCT:
        return False
    return bool(np.abs(column - y).max() <= (0.5 + ROUNDING) * np.diff(values).min())


def _compare_with_classes(columns: np.ndarray, target: Target) -> tuple[list[int], list[int]]:
    """Return the features with one value per class, and those that order the classes."""
    codes = target.codes
    assert target.classes is not None
    if columns.shape[1] * np.exp(lgamma(codes.max() + 2) - _log_count_orders(codes)) > MAX_CHANCE:
        return [], []
    n_classes = len(target.classes)
    order = np.argsort(columns, axis=0, kind="stable")
    changes = np.diff(codes[order], axis=0) != 0
    steps = np.diff(np.take_along_axis(columns, order, axis=0), axis=0) != 0
    pure = ~np.any(changes & ~steps, axis=0)
    n_steps = steps.sum(axis=0)
    copies = np.flatnonzero(pure & (n_steps == n_classes - 1)).tolist()
    separating = np.flatnonzero(pure & (changes.sum(axis=0) == n_classes - 1)).tolist()
    return copies, separating


def _log_count_orders(codes: np.ndarray) -> float:
    """Return the logarithm of the number of distinct orders of the codes."""
    return lgamma(len(codes) + 1) - sum(lgamma(size + 1) for size in np.bincount(codes))


def check_target_encodings(table: TableDescription) -> Iterator[Finding]:
    """Report features that contain the mean target of a category of this table."""
    target = table.target
    if np.ndim(target.y if target.classes is None else target.codes) != 1:
        return
    if target.classes is None:
        outcomes = [target.y.astype(float)]
    else:
        outcomes = [(target.codes == code).astype(float) for code in range(len(target.classes))]
    encoded = [
        position
        for position, column in enumerate(table.columns.T)
        if _has_repeated_values(column) and any(_is_encoding(column, y) for y in outcomes)
    ]
    if encoded:
        yield Finding(
            "target-encoded",
            "Category replaced by its mean target",
            f"{list_features(encoded, table.names)} is the mean target of the samples with the "
            "same value, including each sample's own target",
            "Pass the categories and encode them inside a pipeline (`TargetEncoder`).",
            grave=True,
        )


def _has_repeated_values(column: np.ndarray) -> bool:
    """Whether a feature has three values at least, each in two samples on average."""
    return bool(np.isfinite(column).all() and 3 <= len(np.unique(column)) <= len(column) / 2)


def _is_encoding(column: np.ndarray, y: np.ndarray) -> bool:
    r"""Whether the values of a feature are means :math:`m_l` of a target, smoothed or not.

    Smoothed means are :math:`(n_l m_l + a_l \bar y) / (n_l + a_l)`, with one constant for all
    values, or with the ratio of the variances of the target at the value and overall, which
    scikit-learn's `TargetEncoder` uses. Nearly all values must match, and this must be improbable
    even for a feature that equals the expected target: the mean of :math:`n_l` targets lies within
    the rounding error of its expectation with a probability of about :math:`(\delta + 2 n_l
    \epsilon) / \sqrt{2 \pi n_l s_l^2}`, with the step :math:`\delta` of the targets.
    """
    values, level, sizes = np.unique(column, return_inverse=True, return_counts=True)
    level = level.reshape(-1)
    means = np.bincount(level, y) / sizes
    variances = np.maximum(np.bincount(level, y**2) / sizes - means**2, 0)
    variances[variances < ROUNDING * y.var()] = 0
    error = _get_rounding_error(column)
    if values[0] < y.min() - error or values[-1] > y.max() + error:
        return False
    step = np.diff(np.unique(y)).min(initial=np.ptp(y))
    chances = np.full(len(values), 1.0)
    varies = variances > 0
    spread = np.sqrt(2 * np.pi * sizes[varies] * variances[varies])
    chances[varies] = np.minimum(1, (step + 2 * sizes[varies] * error) / spread)
    smoothing = sizes * (means - values) / (values - y.mean())
    constants = smoothing[np.argsort(-sizes)[:N_CANDIDATES]]
    for a, n_fitted in [(0.0, 0), (variances / y.var(), 0), *((a, 1) for a in constants)]:
        if not np.all((a >= 0) & np.isfinite(a)):
            continue
        # categories of the same size and mean share a value
        part = sizes / np.arange(1, MAX_MERGED + 1)[:, None]
        encoded = (part * means + a * y.mean()) / (part + a)
        fits = np.any(np.abs(encoded - values) <= error, axis=0)
        if sizes[fits].sum() >= MIN_FITTED * len(column):
            evidence = np.sort(chances[fits])[n_fitted:]
            if np.prod(evidence) <= MAX_CHANCE_OF_MEANS:
                return True
    return False


def _get_rounding_error(column: np.ndarray) -> float:
    """Return half a unit of the last decimal of a feature, or that of floating point."""
    for decimals in range(MAX_DECIMALS + 1):
        if np.array_equal(column, np.round(column, decimals)):
            return 0.5 * 10.0**-decimals * (1 + ROUNDING)
    return ROUNDING * max(1.0, float(np.abs(column).max()))


def check_class_imputation(table: TableDescription) -> Iterator[Finding]:
    """Report features with missing values filled by class: a mean, a median or a default value.

    One sample of each group is used.
    """
    target = table.target
    if target.classes is None or target.codes.ndim != 1:
        return
    rows: Any = slice(None)
    if table.groups is not None:
        rows = np.unique(table.groups, return_index=True)[1]
    columns, codes = table.columns[rows], target.codes[rows]
    finite = np.flatnonzero(np.isfinite(columns).all(axis=0)).tolist()
    filled = [p for p in finite if _is_filled_by_class(columns[:, p], codes)]
    defaults = [
        p for p in finite if p not in filled and _has_default_of_class(columns[:, p], codes)
    ]
    if filled:
        yield Finding(
            "target-imputed",
            "Missing values filled by class",
            f"{list_features(filled, table.names)} repeats a value of one class only, the mean or "
            "median of the other samples of this class, as if missing values had been filled with "
            "knowledge of the target",
            "Fill missing values inside a pipeline (`SimpleImputer`), without the target.",
            grave=True,
        )
    if defaults:
        yield Finding(
            "target-imputed",
            "Default value of a class",
            f"{list_features(defaults, table.names)} has few values in one class, which no other "
            "class has although its values lie on both sides, like a default set by class",
            "Remove it unless its values are known before the target is.",
            grave=True,
        )


def _has_default_of_class(column: np.ndarray, codes: np.ndarray) -> bool:
    """Whether a few values make up most of a class, and lie between the many values of the others.

    Each value occurs in one class only.
    """
    values, level, sizes = np.unique(column, return_inverse=True, return_counts=True)
    level = level.reshape(-1)
    order = np.lexsort((codes, level))
    mixed = (np.diff(level[order]) == 0) & (np.diff(codes[order]) != 0)
    if len(values) < MIN_DISTINCT or mixed.any():
        return False
    class_of_value = np.zeros(len(values), dtype=int)
    class_of_value[level] = codes
    for code in np.unique(codes):
        own, others = class_of_value == code, np.flatnonzero(class_of_value != code)
        defaults = np.flatnonzero(own & (sizes >= MIN_SHARE_OF_DEFAULT * len(column)))
        if not 1 <= len(defaults) <= MAX_DEFAULTS or len(others) < MIN_ROWS:
            continue
        most = sizes[defaults].sum() >= MIN_FITTED * sizes[own].sum()
        if most and others[0] < defaults[0] and defaults[-1] < others[-1]:
            return True
    return False


def _is_filled_by_class(column: np.ndarray, codes: np.ndarray) -> bool:
    """Whether some value of one class only is exactly the mean or median of the class's others.

    If the value has no more decimals than the others, equality may be a coincidence. So it may be
    for a median of repeated values, which often equals one of them.
    """
    values, level, sizes = np.unique(column, return_inverse=True, return_counts=True)
    level = level.reshape(-1)
    for position in np.flatnonzero(sizes >= MIN_FILLED):
        members = codes[level == position]
        if np.any(members != members[0]):
            continue
        others = column[(codes == members[0]) & (level != position)]
        if len(others) < MIN_ROWS:
            continue
        value, error = values[position], _get_rounding_error(others)
        is_coarse = error > ROUNDING * max(1.0, float(np.abs(others).max()))
        if is_coarse and _get_rounding_error(np.array([value])) >= error:
            continue
        centers = [others.mean()]
        if len(np.unique(others)) > MIN_DISTINCT_SHARE * len(others):
            # of an odd number of samples, the median is a value that one of them had
            centers += [np.median(others), np.median(np.append(others, value))]
        if np.any(np.abs(np.array(centers) - value) <= ROUNDING * max(abs(value), others.std())):
            return True
    return False


def check_row_numbers(table: TableDescription) -> Iterator[Finding]:
    """Report features that number the rows: consecutive integers, or constant steps in file order.

    Several columns of consecutive integers in different orders are ranks. Grave if neighboring
    numbers have similar targets, so that the model learns the order of the file.
    """
    columns = table.columns
    if len(columns) < MIN_ROWS:
        return
    whole = np.all(columns == np.floor(columns), axis=0)
    steps = np.diff(columns, axis=0)
    in_order = np.all((steps == steps[:1]) & (steps > 0), axis=0)
    consecutive = np.all(np.diff(np.sort(columns, axis=0), axis=0) == 1, axis=0)
    numbers = np.flatnonzero(whole & (in_order | consecutive)).tolist()
    orders = {columns[:, position].argsort().tobytes() for position in numbers}
    if len(orders) > 1:
        numbers = np.flatnonzero(whole & in_order).tolist()
    if not numbers:
        return
    y = rankdata(table.target.y) if table.target.classes is None else table.target.codes
    predictive = [p for p in numbers if are_alike(y[np.argsort(columns[:, p])])]
    evidence = f"{list_features(predictive or numbers, table.names)} counts the samples"
    if predictive:
        evidence += ", and samples with neighboring numbers have similar targets"
    yield Finding(
        "row-number",
        "Row number",
        evidence,
        "Remove it, unless it is a measurement: new samples have other numbers.",
        grave=bool(predictive),
    )
