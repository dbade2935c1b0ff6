"""Checks of single features: copies of the target, row numbers, constants."""

from __future__ import annotations

from collections.abc import Iterator
from math import lgamma

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


def check_constants(table: TableDescription) -> Iterator[Finding]:
    """Report features with one value only."""
    columns = table.columns
    constant = np.flatnonzero(np.all((columns == columns[:1]) | np.isnan(columns), axis=0)).tolist()
    if constant:
        yield Finding(
            "constant",
            "Constant features",
            f"{list_features(constant, table.names)} has the same value in all samples",
            "Remove it; if it should vary, check how the table was written.",
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
            "Remove it and evaluate again, because a model that uses it reads the answer.",
            grave=True,
        )
    elif separating:
        effect = "gives the order of the targets" if target.classes is None else "separates all"
        yield Finding(
            "telling-feature",
            "Perfect feature",
            f"{list_features(separating, table.names)} alone {effect}"
            f"{' classes' * (target.classes is not None)} without error",
            "Make sure that it is known before the target is, and not derived from it.",
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
        "Remove it unless it is a measurement, because new samples have other numbers.",
        grave=bool(predictive),
    )
