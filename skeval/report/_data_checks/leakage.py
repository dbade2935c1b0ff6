"""Checks of features: functions of the target, parts of it, row numbers, and traces of its classes.

Traces are values that were filled, missing or rounded by class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.special import gammaln
from scipy.stats import hypergeom, rankdata
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skeval.report._data_checks.table import (
    MIN_VALUES,
    Finding,
    TableDescription,
    find_runs,
    list_features,
)
from skeval.report._data_checks.time_order import are_alike
from skeval.utils._text import count

MAX_CHANCE = 1e-3
"""Maximum probability of a finding if a table has no such fault."""
MIN_KNOWN, MIN_EXACT, MIN_EXACT_OF_CLASS = 0.5, 0.95, 0.9
"""Minimum share of known values of a copy of the target; of these, minimum share that agrees with
the target, overall and in each class."""
MIN_CORRELATION, MAX_SCREENED = 0.25, 500
"""Minimum rank correlation of a copy with a numeric target, and rows for which it is computed."""
MAX_INTERVALS, MAX_COMBINATIONS = 5, 20
"""Maximum number of intervals of values of a number, each with one class, that separate them, and
of combinations of values of coded features."""
MAX_SUFFICIENT, N_HELD_OUT, MIN_CORRECT, MIN_EXPLAINED = 3, 5, 0.98, 0.999
"""Maximum number of features that predict the target without error, number of folds, and minimum
share of held-out rows that they predict, or of the variance that they explain."""
N_TRIMS, SLACK = 5, 1.5
"""Number of least squares fits, and factor of the rounding error for the error of their slope."""
MIN_DISTINCT = 10
MIN_ROWS = 8
"""A column of fewer rows may count them by chance."""
MIN_GAPPED, MAX_SPAN, MAX_SPAN_IN_ORDER = 40, 1.25, 3.0
"""Minimum number of rows for row numbers with gaps, and their maximum range per row, in any order
and in file order. Other whole numbers usually have ties, or are not in order."""
MAX_CHANCE_OF_MEANS = 0.01
"""Maximum probability that a feature is this close to the means of the target by chance."""
MAX_MERGED = 5
MIN_SLOPE = 0.25
"""Minimum slope of the target on its smoothed means, which is 1 or more if all rows are means."""
N_CANDIDATES = 10
"""Number of feature values from which the smoothing constant is computed, by trial."""
MIN_FITTED = 0.8
"""Share of the samples whose values must be smoothed means of the target, or defaults."""
MIN_DISTINCT_SHARE = 0.9
MIN_SHARE_OF_DEFAULT, MAX_DEFAULTS = 0.1, 3
"""Share of all samples with a default value, and number of default values of a class."""
MIN_FILLED = 3
"""Samples with the same value, which may have been missing."""
NEAR = 1e-6
"""Difference of a filled value from the mean of its class, in units of the largest value, beyond
which it is not computed exactly."""


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

    A copy of the target is serious, and so are codes and categories that determine the class. A
    number that separates the classes, or that rises with the target, may be a good measurement.
    """
    target = table.target
    if np.ndim(target.y if target.classes is None else target.codes) != 1:
        return
    # features that contain the target, or are ordered as it is
    if target.classes is None:
        copies, separating = _compare_with_numbers(table.columns, target.y.astype(float))
        n_other = 0
    else:
        copies, separating, n_other = _compare_with_classes(table)
    if copies:
        advice = "Remove it and evaluate again: the model can read the target from it."
        if n_other:
            advice += " A test result that is known before the target may stay."
        yield Finding(
            "target-copy",
            "Copy of the target",
            f"{list_features(copies, table.names)} is a copy of the target"
            + f", except for {count(n_other, 'row')}" * bool(n_other),
            advice,
            grave=True,
        )
    elif separating:
        coded = [p for p in separating if are_codes(table, [p])]
        effect = "gives the order of the targets" if target.classes is None else "separates all"
        yield Finding(
            "telling-feature",
            "Perfect feature",
            f"{list_features(coded or separating, table.names)} alone {effect}"
            f"{' classes' * (target.classes is not None)} without error",
            "Check that it is known before the target, and not derived from it.",
            grave=bool(coded),
        )


def _compare_with_numbers(columns: np.ndarray, y: np.ndarray) -> tuple[list[int], list[int]]:
    """Return the features that are simple functions of the target, and monotone ones."""
    # features that are related to the target
    copies: list[int] = []
    monotone: list[int] = []
    ranks = rankdata(y)
    for position in np.flatnonzero(_correlate(columns, ranks) > MIN_CORRELATION).tolist():
        known = np.isfinite(columns[:, position])
        column, outcome = columns[known, position], y[known]
        # the probability of this order by chance
        codes = np.unique(outcome, return_inverse=True)[1].reshape(-1)
        chance = columns.shape[1] * np.exp(np.log(2) - _log_count_orders(codes))
        if known.mean() < MIN_KNOWN or chance > MAX_CHANCE:
            continue
        if any(_is_linear(column, outcome, transform) for transform in TRANSFORMS):
            copies.append(position)
        elif len(np.unique(column)) >= MIN_DISTINCT and known.all():
            orders = (x[np.lexsort((x, outcome))] for x in (column, -column))
            if any(np.all(np.diff(ordered) >= 0) for ordered in orders):
                monotone.append(position)
    return copies, monotone


TRANSFORMS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    np.asarray,
    np.exp,
    np.log,
    np.sqrt,
    np.square,
    np.cbrt,
    lambda x: x**3,
    np.reciprocal,
)


def _correlate(columns: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return the absolute rank correlation of features with the target.

    Ranks are compared on at most `MAX_SCREENED` rows with all features, and missing values are
    replaced by the middle.
    """
    # ranks of some rows, missing values in the middle
    rows = np.linspace(0, len(ranks) - 1, min(len(ranks), MAX_SCREENED)).astype(int)
    part = np.argsort(np.argsort(columns[rows], axis=0), axis=0).astype(float)
    part[~np.isfinite(columns[rows])] = (len(rows) - 1) / 2
    part -= part.mean(axis=0)
    outcome = rankdata(ranks[rows])
    outcome -= outcome.mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.abs(outcome @ part) / np.sqrt((outcome @ outcome) * np.sum(part**2, axis=0))
    return np.where(np.isfinite(r), r, 0.0)


def _is_linear(
    column: np.ndarray, y: np.ndarray, transform: Callable[[np.ndarray], np.ndarray]
) -> bool:
    """Whether a target is a linear function of a transformed feature, up to rounding.

    Nearly all rows must agree within half a unit of the last decimals of both, which must be
    small beside the spread of the target.
    """
    if len(np.unique(y)) < 4 or len(np.unique(column)) < 4:
        return False
    with np.errstate(all="ignore"):
        # the transformed feature, and its limits by rounding
        half = get_rounding_error(column)
        x, low, high = (transform(column + step) for step in (0.0, -half, half))
    if not np.isfinite([x, low, high]).all() or not x.std() > 0:
        return False
    # the coarser of the two has the errors
    rough = get_rounding_error(column) / column.std() > get_rounding_error(y) / y.std()
    slope, intercept = _fit_line(x, y, errors_in_x=rough)
    residual = intercept + slope * x - y
    exact = np.full(len(y), 10 * VALUE_TOLERANCE * y.std())
    rounded = get_rounding_error(y) + np.abs(slope) * np.abs(high - low) / 2
    return any(agrees_up_to(error, residual, y) for error in (exact, SLACK * rounded))


def _fit_line(x: np.ndarray, y: np.ndarray, *, errors_in_x: bool) -> tuple[float, float]:
    """Return slope and intercept by least squares, of x on y if x is rounded, without outliers."""
    kept = np.ones(len(x), dtype=bool)
    for _ in range(N_TRIMS):
        x_centered, y_centered = x[kept] - x[kept].mean(), y[kept] - y[kept].mean()
        product = x_centered @ y_centered
        if not x_centered.any() or product == 0:
            return 0.0, float(y[kept].mean())
        slope = product / (x_centered @ x_centered)
        if errors_in_x:
            slope = (y_centered @ y_centered) / product
        intercept = y[kept].mean() - slope * x[kept].mean()
        residual = np.abs(intercept + slope * x - y)
        kept = residual <= np.quantile(residual, MIN_EXACT)
    return float(slope), float(intercept)


def _compare_with_classes(table: TableDescription) -> tuple[list[int], list[int], int]:
    """Return the features with one value per class, those that separate the classes, and the
    number of rows in which the former differ at most.

    A number separates the classes by a few intervals of values. Any column of fewer values than an
    identifier may separate them by its values.

    Missing values are left out, and a few rows of a copy may differ.
    """
    # features with as many values as classes
    codes, runs, n_columns = table.target.codes, table.runs, table.columns.shape[1]
    n_classes, n = int(codes.max()) + 1, len(codes)
    known = runs.sum_by_column(runs.size)
    candidates = np.flatnonzero((known >= MIN_KNOWN * n) & (runs.n_values == n_classes))
    copies, n_other = [], 0
    for position in candidates.tolist():
        rows = ~np.isnan(table.columns[:, position])
        value = np.unique(table.columns[rows, position], return_inverse=True)[1].reshape(-1)
        # each class has a value of its own
        counts = np.zeros((n_classes, n_classes))
        np.add.at(counts, (codes[rows], value), 1)
        agreeing, sizes = counts.max(axis=1), counts.sum(axis=1)
        is_copy = agreeing.sum() >= MIN_EXACT * len(value)
        is_copy &= np.all(agreeing >= MIN_EXACT_OF_CLASS * sizes)
        is_copy &= len(set(counts.argmax(axis=1).tolist())) == n_classes
        # number of codes, and of ways in which the other rows may differ
        n_ways = lgamma(n_classes + 1) + _log_choose(len(value), int(agreeing.sum()))
        chance = n_columns * np.exp(n_ways - _log_count_orders(codes[rows]))
        if is_copy and chance <= MAX_CHANCE:
            copies.append(position)
            n_other = max(n_other, len(value) - int(agreeing.sum()))
    # a separating feature has only pure values, in few intervals of each class
    intervals = count_intervals(table)
    separating = table.is_complete & (runs.sum_by_column(~table.pure) == 0)
    n_intervals, whole = intervals.sum(axis=1), table.columns == np.floor(table.columns)
    row_numbers = (runs.n_values == len(codes)) & whole.all(axis=0)
    few = (n_intervals <= MAX_INTERVALS) & ~row_numbers
    few = table.is_number & (few | (n_intervals == n_classes))
    separating &= few | (runs.n_values < MIN_VALUES)
    # number of orders of the rows in which every class has so many intervals
    kept, sizes = np.flatnonzero(separating), np.bincount(codes)
    n_ways = gammaln(1 + n_intervals[kept]) - gammaln(1 + intervals[kept]).sum(axis=1)
    n_ways += (_log_choose(sizes - 1, intervals[kept] - 1)).sum(axis=1)
    chance = n_columns * np.exp(n_ways - _log_count_orders(codes))
    return copies, kept[chance <= MAX_CHANCE].tolist(), n_other


def count_intervals(table: TableDescription) -> np.ndarray:
    """Return the number of intervals of pure values of each column and class."""
    runs, codes = table.runs, table.target.codes
    of_value = codes[runs.order.reshape(-1)[runs.start]]
    begins = np.ones(len(of_value), dtype=bool)
    begins[1:] = (of_value[1:] != of_value[:-1]) | (runs.column[1:] != runs.column[:-1])
    intervals = np.zeros((table.columns.shape[1], int(codes.max()) + 1))
    np.add.at(intervals, (runs.column[begins], of_value[begins]), 1)
    return intervals


def are_codes(table: TableDescription, features: Sequence[int]) -> bool:
    """Whether features that determine the target have few values, as categories have.

    A single number that rises or falls with the target may be a rounded measurement.
    """
    n_combinations = len(np.unique(table.columns[:, features], axis=0))
    if table.runs.n_values[features].max() >= MIN_VALUES or n_combinations > MAX_COMBINATIONS:
        return False
    if len(features) > 1 or not table.is_number[features[0]]:
        return True
    n_intervals = 0 if table.target.classes is None else count_intervals(table)[features[0]].sum()
    return bool(n_intervals > len(np.unique(table.target.codes)))


def _log_choose(n: Any, k: Any) -> Any:
    """Return the logarithm of the number of subsets of `k` of `n`."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _standardize(columns: np.ndarray) -> np.ndarray:
    """Return columns with mean 0 and standard deviation 1; trees ignore steps below 1e-7."""
    spread = columns.std(axis=0)
    standardized: np.ndarray = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return standardized


def list_sufficient_features(table: TableDescription) -> list[int]:
    """Return up to three features that predict the target without error, or none.

    A tree of the few most important features must predict held-out rows. For a numeric target, they
    may also be added to a linear combination by their correlation with its residual.
    """
    # missing values are replaced by the median
    n, kept = len(table.columns), np.flatnonzero(table.runs.n_values > 1)
    columns, target = table.columns[:, kept], table.target
    with np.errstate(invalid="ignore"):
        middle = np.nanmedian(np.where(np.isfinite(columns), columns, np.nan), axis=0)
    columns = _standardize(np.where(np.isfinite(columns), columns, middle))
    if n < 2 * N_HELD_OUT or not len(kept):
        return []
    # linear combinations of a few columns, for a numeric target
    tree: Any = DecisionTreeClassifier(random_state=0)
    y, score, enough = target.codes, accuracy_score, MIN_CORRECT
    if target.classes is None:
        y, score, enough = target.y.astype(float), r2_score, MIN_EXPLAINED
        tree = DecisionTreeRegressor(random_state=0)
        deviation = residual = y - y.mean()
        chosen: list[int] = []
        for _ in range(min(MAX_SUFFICIENT, len(kept))):
            chosen.append(int(np.abs(residual @ columns).argmax()))
            part = columns[:, chosen]
            residual = deviation - part @ np.linalg.lstsq(part, deviation, rcond=None)[0]
            if residual @ residual < (1 - MIN_EXPLAINED) * (deviation @ deviation):
                return kept[chosen].tolist()
    # a tree of the most important features
    order = np.argsort(-tree.fit(columns, y).feature_importances_)
    folds = KFold(N_HELD_OUT, shuffle=True, random_state=0)
    for n_features in range(1, min(MAX_SUFFICIENT, len(kept)) + 1):
        chosen = order[:n_features].tolist()
        predicted = cross_val_predict(tree, columns[:, chosen], y, cv=folds)
        if score(y, predicted) >= enough:
            return kept[chosen].tolist()
    return []


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
    n_values = table.runs.n_values
    repeated = table.is_complete & (n_values >= 3) & (n_values <= len(table.columns) / 2)
    columns = table.columns[:, repeated]
    # the target rises by at least one unit per unit of its smoothed means
    centered = columns - columns.mean(axis=0)
    covariances = np.array([y - y.mean() for y in outcomes]) @ centered
    rises = covariances > MIN_SLOPE * np.sum(centered**2, axis=0)
    # values that are means of the target
    encoded = set[int]()
    for place in np.flatnonzero(rises.any(axis=0)):
        position = int(np.flatnonzero(repeated)[place])
        rows, sizes = table.runs.of_column(position)
        values = table.columns[rows[np.cumsum(sizes) - sizes], position]
        if any(
            _is_encoding(values, sizes, outcomes[row][rows])
            for row in np.flatnonzero(rises[:, place])
        ):
            encoded.add(position)
    if encoded:
        yield Finding(
            "target-encoded",
            "Category replaced by its mean target",
            f"{list_features(sorted(encoded), table.names)} is the mean target of the samples with "
            "the same value, including each sample's own target",
            "Pass the categories and encode them inside a pipeline (`TargetEncoder`).",
            grave=True,
        )


def _is_encoding(values: np.ndarray, sizes: np.ndarray, y: np.ndarray) -> bool:
    r"""Whether the values of a feature are means :math:`m_l` of a target, smoothed or not.

    The values are distinct and ascending, and each has `sizes` of the targets, in this order.

    Smoothed means are :math:`(n_l m_l + a_l \bar y) / (n_l + a_l)`, with one constant for all
    values, or with the ratio of the variances of the target at the value and overall, which
    scikit-learn's `TargetEncoder` uses. Nearly all values must match, and this must be improbable
    even for a feature that equals the expected target: the mean of :math:`n_l` targets lies within
    the rounding error of its expectation with a probability of about :math:`(\delta + 2 n_l
    \epsilon) / \sqrt{2 \pi n_l s_l^2}`, with the step :math:`\delta` of the targets.
    """
    # means of the target, up to rounding
    start = np.cumsum(sizes) - sizes
    means = np.add.reduceat(y, start) / sizes
    error = get_rounding_error(values)
    if values[0] < y.min() - error or values[-1] > y.max() + error:
        return False
    largest = sizes.argmax()  # it must match if the others are too few
    low, high = sorted((means[largest], y.mean()))
    is_mean = low - error <= values[largest] <= high + error
    if sizes[largest] > (1 - MIN_FITTED) * len(y) and not is_mean:
        return False
    # the probability that a mean is so near its expectation by chance
    variances = np.maximum(np.add.reduceat(y**2, start) / sizes - means**2, 0)
    variances[variances < VALUE_TOLERANCE * y.var()] = 0
    step = np.diff(np.unique(y)).min(initial=np.ptp(y))
    chances = np.full(len(values), 1.0)
    varies = variances > 0
    spread = np.sqrt(2 * np.pi * sizes[varies] * variances[varies])
    chances[varies] = np.minimum(1, (step + 2 * sizes[varies] * error) / spread)
    # smoothing constants to try
    smoothing = sizes * (means - values) / (values - y.mean())
    constants = smoothing[np.argsort(-sizes)[:N_CANDIDATES]]
    for a, n_fitted in [(0.0, 0), (variances / y.var(), 0), *((a, 1) for a in constants)]:
        if not np.all((a >= 0) & np.isfinite(a)):
            continue
        # categories of the same size and mean share a value
        part = sizes / np.arange(1, MAX_MERGED + 1)[:, None]
        encoded = (part * means + a * y.mean()) / (part + a)
        fits = np.any(np.abs(encoded - values) <= error, axis=0)
        # nearly all samples fit, and not by chance
        if sizes[fits].sum() >= MIN_FITTED * len(y):
            evidence = np.sort(chances[fits])[n_fitted:]
            if np.prod(evidence) <= MAX_CHANCE_OF_MEANS:
                return True
    return False


def check_class_imputation(table: TableDescription) -> Iterator[Finding]:
    """Report features with missing values filled by class: a mean, a median or a default value.

    One sample of each group is used.
    """
    target = table.target
    if target.classes is None or target.codes.ndim != 1:
        return
    # one sample of each group
    rows: Any = slice(None)
    if table.groups is not None:
        rows = np.unique(table.groups, return_index=True)[1]
    columns, codes = table.columns[rows], target.codes[rows]
    whole = len(columns) == len(table.columns)
    runs = table.runs if whole else find_runs(columns)
    pure = table.pure if whole else runs.are_pure(codes)
    # values of several samples of one class only
    candidates = table.is_complete & table.is_number & (runs.n_values >= 3)
    several = np.flatnonzero(pure & (runs.size >= MIN_FILLED) & candidates[runs.column])
    candidates &= runs.sum_by_column(np.isin(np.arange(len(pure)), several)) > 0
    # the value is near the mean of the others of its class, or most values are distinct
    column, size = runs.column[several], runs.size[several]
    row = runs.order.reshape(-1)[runs.start[several]]
    value, code = columns[row, column], codes[row]
    indicators = (np.arange(codes.max() + 1)[:, None] == codes).astype(float)
    n_others = indicators.sum(axis=1)[code] - size
    mean = (
        (indicators @ np.where(candidates, columns, 0.0))[code, column] - size * value
    ) / n_others
    near = np.abs(mean - value) <= NEAR * np.abs(columns).max(axis=0)[column]
    near |= runs.n_values[column] > MIN_DISTINCT_SHARE * n_others
    finite = np.unique(column[near]).tolist()
    filled = [p for p in finite if _is_filled_by_class(columns[:, p], codes)]
    # values of each class only
    separate = runs.sum_by_column(~pure) == 0
    defaults = [
        p
        for p in np.flatnonzero(candidates & separate).tolist()
        if p not in filled and _has_default_of_class(columns[:, p], codes)
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

    Each value of the column occurs in one class only.
    """
    values, level, sizes = np.unique(column, return_inverse=True, return_counts=True)
    level = level.reshape(-1)
    if len(values) < MIN_DISTINCT:
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
        # the other samples of the class
        others = column[(codes == members[0]) & (level != position)]
        if len(others) < MIN_ROWS:
            continue
        # a value with no more decimals may be equal by coincidence
        value, error = values[position], get_rounding_error(others)
        is_coarse = error > VALUE_TOLERANCE * float(np.abs(others).max())
        if is_coarse and get_rounding_error(np.array([value])) >= error:
            continue
        # the mean, or the median
        centers = [others.mean()]
        if len(np.unique(others)) > MIN_DISTINCT_SHARE * len(others):
            # of an odd number of samples, the median is a value that one of them had
            centers += [np.median(others), np.median(np.append(others, value))]
        tolerance = VALUE_TOLERANCE * max(abs(value), others.std())
        if np.any(np.abs(np.array(centers) - value) <= tolerance):
            return True
    return False


def check_row_numbers(table: TableDescription) -> Iterator[Finding]:
    """Report features that number the rows: whole numbers without ties and with few gaps.

    Gaps remain where rows were removed; more of them are allowed in file order, which may also have
    constant steps. Several columns of numbers in different orders are ranks. Serious if neighboring
    numbers have similar targets, so that the model learns the order of the file.
    """
    columns, n = table.columns, len(table.columns)
    if n < MIN_ROWS:
        return
    # whole numbers without ties
    candidates = np.flatnonzero(table.is_number & table.is_complete & (table.runs.n_values == n))
    columns = columns[:, candidates]
    whole = np.all(columns == np.floor(columns), axis=0)
    candidates, columns = candidates[whole], columns[:, whole]
    # with few gaps, in file order or in any order
    steps = np.diff(columns, axis=0)
    span = (np.ptp(columns, axis=0) + 1) / n
    in_order = np.all(steps > 0, axis=0) & (span <= (MAX_SPAN_IN_ORDER if n >= MIN_GAPPED else 1))
    in_order |= np.all((steps == steps[:1]) & (steps > 0), axis=0)
    dense = span <= (MAX_SPAN if n >= MIN_GAPPED else 1)
    kept = in_order | dense
    if len({columns[:, position].argsort().tobytes() for position in np.flatnonzero(kept)}) > 1:
        kept = in_order
    numbers = candidates[kept].tolist()
    if not numbers:
        return
    # whether neighboring numbers have similar targets
    y = rankdata(table.target.y) if table.target.classes is None else table.target.codes
    predictive = [p for p in numbers if are_alike(y[np.argsort(table.columns[:, p])])]
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


# --- parts of the target, and values missing or rounded by class

MAX_DECIMALS = 8
MAX_COLUMNS = 500
MIN_EXACT_OF_SIDE = 0.99
"""Minimum share of the rows of each side of a boundary that are on their side."""
ROWS_PER_COLUMN, MIN_SPARE_ROWS = 2, 10
"""Number of rows required for an exact linear combination: per column, and in addition."""
MIN_KNOWN_PART = 0.9
"""Minimum share of known values of a part of the target."""
MAX_ERROR = 0.1
"""Maximum rounding error of a combination, in standard deviations of the target."""
MAX_PARTS = 20
MAX_FITTED, MAX_MULTIPLIED, ROWS_PER_TERM, PENALTY = 400, 6, 4, 1e3
"""For a boundary between classes: maximum number of rows, and of columns with products; minimum
number of rows per column; penalty of a row on the wrong side, in units of the weights."""
MIN_VARIATION, VARIATION_OF_FEW = (0.5, 0.55, 0.45), 5.0
"""Minimum coefficient of variation of the distances from a boundary: mean of both sides for a note
and for a cut, and each side of a cut; increase for a cut, divided by the number of rows. It is 0.58
for uniform distances and 0.76 for the halves of a normal distribution, but below 0.5 for classes
that lie apart."""
MAX_DIGITS, VALUE_TOLERANCE = 6, 1e-9
"""Most decimals of a rounded column, and the relative difference of equal values in a table."""


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
    # features whose missing values are all in one class
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
        # the feature with the largest share
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
    # counts of each power by column, in one pass
    finite = np.isfinite(power)
    low = power[finite].min(initial=0)
    step = np.where(finite, power - low, power[finite].max(initial=0) - low + 1).astype(np.intp)
    p, n_steps = columns.shape[1], int(step.max()) + 1
    cells = (step * p + np.arange(p)).reshape(-1)
    counts = np.bincount(cells, finite.reshape(-1), n_steps * p).reshape(n_steps, p)
    return finite & (step == counts.argmax(axis=0))


def is_rounded_by_class(column: np.ndarray, codes: np.ndarray, n_columns: int) -> bool:
    """Whether all values of a class have fewer decimals than expected by chance."""
    # decimals of the values of usual size
    used = find_usual_power(column[:, None])[:, 0]
    if not used.any():
        return False
    values, classes = column[used], codes[used]
    decimals = count_decimals(values)
    if np.all(decimals == decimals[0]):
        return False
    present, sizes = np.unique(classes, return_counts=True)
    for code, size in zip(present, sizes, strict=True):
        # no value of the class has as many decimals as the others
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
            return 0.5 * 10.0**-decimals * (1 + VALUE_TOLERANCE)
    return VALUE_TOLERANCE * float(np.abs(column).max())


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
    the rounding of the target and of the columns, in nearly all rows. For classes, see
    `find_boundary`.
    """
    if np.ndim(table.target.y if table.target.classes is None else table.target.codes) != 1:
        return
    if table.target.classes is not None:
        yield from _report_boundary(table)
        return
    # columns with enough values
    y = table.target.y.astype(float)
    known = np.isfinite(table.columns)
    usable = (known.mean(axis=0) >= MIN_KNOWN_PART) & (table.runs.n_values > 1)
    usable &= table.is_number | (table.runs.n_values == 2)  # an indicator
    for operation in ("sum", "product"):
        # sums, or sums of logarithms
        positions = np.flatnonzero(usable)
        if operation == "product":
            if not y.min() > 0:
                return
            positive = np.all((table.columns > 0) | ~known, axis=0)
            positions = np.flatnonzero(usable & positive)
        # the fewest columns that give the target
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


def _report_boundary(table: TableDescription) -> Iterator[Finding]:
    """Report features that decide the class by a comparison; serious if no gap is between them."""
    boundary = find_boundary(table)
    if boundary is None:
        return
    listed = list_features(boundary.features, table.names).removeprefix("each of the ")
    if boundary.is_cut:
        yield Finding(
            "target-formula",
            "Target computed from features",
            f"the class is decided by a comparison of {listed}",
            "Remove these features, unless they are known before the target.",
            grave=True,
        )
    elif table.target.n_classes == 2:
        yield Finding(
            "telling-feature",
            "Perfect features",
            f"{listed} together separate the classes without error",
            "Check that they are known before the target, and not derived from it.",
        )


class Boundary(NamedTuple):
    """Features that separate a class, and whether samples are as dense there as elsewhere."""

    features: list[int]
    is_cut: bool


def find_boundary(table: TableDescription) -> Boundary | None:
    """Return a few features whose weighted sum, with products of pairs, separates a class.

    The fewest terms are chosen in the order of their weights, which a linear program makes sparse.
    Classes that lie apart have few samples near the boundary. A threshold of a formula cuts through
    the samples of both sides, whose distances from it then vary as much as their mean.
    """
    # complete rows of numbers
    known = np.isfinite(table.columns)
    usable = (known.mean(axis=0) >= MIN_KNOWN_PART) & table.is_number & (table.runs.n_values > 2)
    positions = np.flatnonzero(usable)
    rows = np.flatnonzero(known[:, positions].all(axis=1))
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_FITTED)).astype(int)]
    columns, codes = table.columns[np.ix_(rows, positions)], table.target.codes[rows]
    n, p = columns.shape
    sizes = np.bincount(codes, minlength=table.target.n_classes)
    if not (2 <= p <= MAX_COLUMNS and n >= 2 * MIN_SPARE_ROWS and len(sizes) <= MAX_INTERVALS):
        return None
    for code in range(len(sizes) if len(sizes) > 2 else 1):
        if not MIN_ROWS <= sizes[code] <= n - MIN_ROWS:
            continue
        sign = np.where(codes == code, 1.0, -1.0)
        # columns by their importance, then products of pairs of the first ones
        tree = DecisionTreeClassifier(random_state=0).fit(_standardize(columns), sign)
        order = np.argsort(-tree.feature_importances_, kind="stable")
        for n_first, products in ((n // ROWS_PER_TERM, False), (MAX_MULTIPLIED, True)):
            first = order[:n_first]
            parts = [[a] for a in first]
            if products:
                parts += [[a, b] for k, a in enumerate(first) for b in first[k:]]
            terms = np.column_stack([columns[:, part].prod(axis=1) for part in parts])
            boundary = None if 2 * len(parts) > n else _find_terms(terms, sign)
            if boundary is None:
                continue
            chosen, is_cut = boundary
            features = sorted({int(positions[a]) for term in chosen for a in parts[term]})
            return Boundary(features, is_cut) if len(features) > 1 else None
    return None


def _find_terms(terms: np.ndarray, sign: np.ndarray) -> tuple[list[int], bool] | None:
    """Return the fewest terms that separate two classes, and whether the boundary is a cut."""
    n, terms = len(terms), _standardize(terms)
    order = np.argsort(-np.abs(_separate(terms, sign)[0]))
    few = [order[:size] for size in range(1, 1 + min(MAX_SUFFICIENT, len(order)))]
    distances = [sign * _separate(terms[:, chosen], sign)[1] for chosen in few]
    # the fewest terms without a wrong row, or with a few in each class
    for minimum in (1.0, MIN_EXACT_OF_SIDE):
        for chosen, distance in zip(few, distances, strict=True):
            correct = distance > 0
            if min(correct[sign == side].mean() for side in (-1, 1)) < minimum:
                continue
            # dichotomies by hyperplanes (Cover, 1965), choices of terms, and of wrong rows
            n_ways = np.log(2) + np.logaddexp.reduce(_log_choose(n - 1, np.arange(len(chosen) + 1)))
            n_ways += _log_choose(len(order), len(chosen)) + _log_choose(n, np.sum(~correct))
            if n_ways - _log_choose(n, np.sum(sign > 0)) > np.log(MAX_CHANCE):
                return None
            # coefficients of variation of the distances from the boundary
            sides = [distance[correct & (sign == side)] for side in (-1, 1)]
            sides = [np.minimum(side, np.quantile(side, 0.9)) for side in sides]
            variation = np.array([side.std() / side.mean() for side in sides])
            is_cut = variation.mean() >= MIN_VARIATION[1] + VARIATION_OF_FEW / n
            is_cut &= variation.min() >= MIN_VARIATION[2]
            if is_cut or (correct.all() and variation.mean() >= MIN_VARIATION[0]):
                return chosen.tolist(), bool(is_cut)
            return None
    return None


def _separate(terms: np.ndarray, sign: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return weights with a small sum of absolute values, and the signed distances of the rows.

    A linear program minimizes the sum plus a penalty for rows with a margin below 1.
    """
    n, p = terms.shape
    rows = sign[:, None] * np.column_stack([terms, np.ones(n)])
    # positive and negative parts of the weights, intercept, and missing margins
    margins = np.column_stack([rows[:, :p], -rows[:, :p], rows[:, p], np.eye(n)])
    cost = np.concatenate([np.ones(2 * p), [0.0], np.full(n, PENALTY)])
    bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
    solution = linprog(cost, A_ub=-margins, b_ub=-np.ones(n), bounds=bounds).x
    if solution is None:
        return np.zeros(p), np.zeros(n)
    weights = solution[:p] - solution[p : 2 * p]
    return weights, terms @ weights + solution[2 * p]


def find_parts(columns: np.ndarray, y: np.ndarray, *, logarithms: bool) -> list[int]:
    """Return the columns with a part in a linear combination that gives the target up to rounding.

    They are the fewest columns, in the order of their weights, that give the target in nearly all
    rows; none if not even all columns do.
    """
    n, p = columns.shape
    if not 2 <= p <= MAX_COLUMNS or n < ROWS_PER_COLUMN * p + MIN_SPARE_ROWS or not y.std() > 0:
        return []
    # rounding errors, relative ones for logarithms
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
        exact = np.full(n, 10 * VALUE_TOLERANCE * y.std())
        agree = any(agrees_up_to(error, residual, y) for error in (exact, unit, unit + of_columns))
        return agree, weights

    agree, weights = fits(np.arange(p))
    if not agree:
        return []
    # add the columns by their weights
    order = np.argsort(-np.abs(weights))
    enough = next((k for k in range(1, min(p, MAX_PARTS)) if fits(order[:k])[0]), p)
    return np.sort(order[:enough]).tolist()


def agrees_up_to(error: np.ndarray, residual: np.ndarray, y: np.ndarray) -> bool:
    """Whether nearly all residuals are within errors that are small beside the spread of `y`."""
    small = np.quantile(error, MIN_EXACT) <= MAX_ERROR * y.std()
    return bool(small and np.mean(np.abs(residual) <= error) >= MIN_EXACT)


def _fit_most_rows(columns: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights by least squares without the worst rows, and the residuals of all."""
    # least squares, each time without the worst rows
    design = np.column_stack([columns, np.ones(len(y))])
    kept = np.ones(len(y), dtype=bool)
    for _ in range(N_TRIMS):
        weights = np.linalg.lstsq(design[kept], y[kept], rcond=None)[0]
        residual = y - design @ weights
        kept = np.abs(residual) <= np.quantile(np.abs(residual), MIN_EXACT)
    return weights[:-1], residual
