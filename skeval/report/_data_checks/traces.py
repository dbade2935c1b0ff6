"""Checks for traces of the target in the values of features.

Traces are categories replaced by their mean target, and values that were filled, missing or rounded
by class.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import hypergeom

from skeval.report._data_checks.table import (
    VALUE_TOLERANCE,
    Finding,
    TableDescription,
    find_values,
    get_rounding_error,
    list_features,
)

MAX_CHANCE = 1e-3
"""Maximum probability of a finding if a table has no such fault."""
MIN_DISTINCT = 10
"""Minimum number of values of a measurement, overall or in a class."""
MAX_CHANCE_OF_MEANS = 0.01
"""Maximum probability that a feature is this close to the means of the target by chance."""
MAX_MERGED, N_CANDIDATES = 5, 10
"""Maximum number of categories of the same mean, and number of feature values from which the
smoothing constant is computed, by trial."""
MIN_SLOPE = 0.25
"""Minimum slope of the target on its smoothed means, which is 1 or more if all rows are means."""
MIN_FITTED = 0.8
"""Share of the samples whose values must be smoothed means of the target, or defaults."""
MIN_DISTINCT_SHARE, MIN_OF_CLASS, MIN_FILLED = 0.9, 8, 3
"""Share of distinct values of a class that hardly repeat; minimum number of its other samples, and
of samples with the same value, which may have been missing."""
MIN_SHARE_OF_DEFAULT, MAX_DEFAULTS = 0.1, 3
"""Share of all samples with a default value, and number of default values of a class."""
NEAR = 1e-6
"""Difference of a filled value from the mean of its class, in units of the largest value, beyond
which it is not computed exactly."""
MAX_DECIMALS = 8


def check_constants(table: TableDescription) -> Iterator[Finding]:
    """Report features with one value only."""
    constant = np.flatnonzero(table.values.n_values <= 1).tolist()
    if constant:
        them = "it" if len(constant) == 1 else "them"
        yield Finding(
            "constant",
            "Constant features",
            f"{list_features(constant, table.names)} has the same value in all samples",
            f"Remove {them}; a column that should vary was not written correctly.",
        )


def check_target_encodings(table: TableDescription) -> Iterator[Finding]:
    """Report features that contain the mean target of a category of this table."""
    target, values = table.target, table.values
    if target.classes is None:
        outcomes = [target.y.astype(float)]
    else:
        outcomes = [(target.codes == code).astype(float) for code in range(len(target.classes))]
    # the target rises by at least one unit per unit of its smoothed means
    few = (values.n_values >= 3) & (values.n_values <= len(table.columns) / 2)
    repeated = np.flatnonzero(table.is_complete & few)
    centered = table.columns[:, repeated] - table.columns[:, repeated].mean(axis=0)
    covariances = np.array([y - y.mean() for y in outcomes]) @ centered
    rises = covariances > MIN_SLOPE * np.sum(centered**2, axis=0)
    # values that are means of the target
    encoded = set[int]()
    for row, place in np.argwhere(rises).tolist():
        part = values.of_column(repeated[place])
        in_order = outcomes[row][np.argsort(values.of_cell[repeated[place]], kind="stable")]
        if _is_encoding(values.number[part], values.size[part], in_order):
            encoded.add(int(repeated[place]))
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
    spread = np.sqrt(2 * np.pi * sizes * variances)
    chances = np.where(spread > 0, np.minimum(1, (step + 2 * sizes * error) / spread), 1.0)
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
    # one sample of each group
    columns, codes, values, counts = table.columns, table.target.codes, table.values, table.counts
    if table.groups is not None:
        rows = np.unique(table.groups, return_index=True)[1]
        columns, codes, values = columns[rows], codes[rows], find_values(columns[rows])
        counts = values.count_classes(codes)
    # values of several samples of one class only
    pure, of_value = np.diff(counts.indptr) == 1, counts.indices[counts.indptr[:-1]]
    candidates = table.is_complete & table.is_number & (values.n_values >= 3)
    several = np.flatnonzero(pure & (values.size >= MIN_FILLED) & candidates[values.column])
    candidates &= np.isin(np.arange(len(candidates)), values.column[several])
    # the value is near the mean of the others of its class, or most values are distinct
    column, size, value, code = (
        part[several] for part in (values.column, values.size, values.number, of_value)
    )
    indicators = (np.arange(codes.max() + 1)[:, None] == codes).astype(float)
    n_others = indicators.sum(axis=1)[code] - size
    sums = (indicators @ np.where(candidates, columns, 0.0))[code, column] - size * value
    near = np.abs(sums / n_others - value) <= NEAR * np.abs(columns).max(axis=0)[column]
    near |= values.n_values[column] > MIN_DISTINCT_SHARE * n_others
    # the value is exactly the mean or median of the others
    filled = []
    for p, center, own in zip(column[near].tolist(), value[near], code[near], strict=True):
        others = columns[(codes == own) & (columns[:, p] != center), p]
        if p not in filled and len(others) >= MIN_OF_CLASS and _is_center(center, others):
            filled.append(p)
    # values that occur in one class only
    separate = candidates & (values.sum_by_column(~pure) == 0)
    defaults = [
        p
        for p in np.flatnonzero(separate).tolist()
        if p not in filled
        and _has_default_of_class(*(part[values.of_column(p)] for part in (of_value, values.size)))
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


def _has_default_of_class(class_of_value: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether a few values make up most of a class, and lie between the many values of the others.

    The values are ascending, and each occurs in one class only.
    """
    if len(sizes) < MIN_DISTINCT:
        return False
    for code in np.unique(class_of_value):
        own, others = class_of_value == code, np.flatnonzero(class_of_value != code)
        defaults = np.flatnonzero(own & (sizes >= MIN_SHARE_OF_DEFAULT * sizes.sum()))
        if not 1 <= len(defaults) <= MAX_DEFAULTS or len(others) < MIN_OF_CLASS:
            continue
        most = sizes[defaults].sum() >= MIN_FITTED * sizes[own].sum()
        if most and others[0] < defaults[0] and defaults[-1] < others[-1]:
            return True
    return False


def _is_center(value: float, others: np.ndarray) -> bool:
    """Whether a value is exactly the mean or median of other values, and not by coincidence.

    It may be coincidence if the value has no more decimals than the others, and for the median of
    repeated values, which often equals one of them.
    """
    error = get_rounding_error(others)
    is_coarse = error > VALUE_TOLERANCE * float(np.abs(others).max())
    if is_coarse and get_rounding_error(np.array([value])) >= error:
        return False
    centers = [others.mean()]
    if len(np.unique(others)) > MIN_DISTINCT_SHARE * len(others):
        # of an odd number of samples, the median is a value that one of them had
        centers += [np.median(others), np.median(np.append(others, value))]
    tolerance = VALUE_TOLERANCE * max(abs(value), np.ptp(others))
    return bool(np.any(np.abs(np.array(centers) - value) <= tolerance))


def check_missing_by_class(table: TableDescription) -> Iterator[Finding]:
    """Report features whose values are missing in one class only.

    The hypergeometric probability has a Bonferroni correction for
    features and classes. Serious if at least half of the class is missing.
    """
    # missing values of each column in each class
    codes, missing = table.target.codes, np.isnan(table.columns)
    sizes = np.bincount(codes)
    counts = (np.arange(len(sizes))[:, None] == codes).astype(float) @ missing
    # columns whose missing values are all in one class
    code, n_missing = counts.argmax(axis=0), counts.sum(axis=0)
    chance = hypergeom.sf(n_missing - 1, len(codes), sizes[code], n_missing)
    kept = (n_missing > 0) & (counts.max(axis=0) == n_missing)
    kept &= chance * counts.size <= MAX_CHANCE
    features = np.flatnonzero(kept)
    if len(features):
        # the feature with the largest share
        shares = (n_missing / sizes[code])[features]
        several = len(set(code[features])) > 1
        only = np.asarray(table.target.classes)[code[features[0]]]
        where = "in one class only" if several else f"only in class {only}"
        yield Finding(
            "missing-by-class",
            "Missing in one class only",
            f"{list_features(features.tolist(), table.names)} has missing values {where} "
            f"({100 * shares.max():.0f} % of its samples)",
            "A model can read the class from the missing values. Find out why they are missing; "
            "remove the feature if that is decided after the class is known.",
            grave=bool(shares.max() >= 0.5),
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
    """Return the features whose values have fewer decimals in one class than by chance."""
    columns, codes, n_columns = table.columns, table.target.codes, table.columns.shape[1]
    if table.target.classes is None:
        return []
    # numbers, of which some are rounded and some are not
    kept = table.is_number & (table.values.n_values >= MIN_DISTINCT)
    kept &= np.any(columns != np.floor(columns), axis=0)
    kept &= np.sum(columns == np.round(columns, MAX_DECIMALS - 1), axis=0) >= MIN_DISTINCT
    rounded = []
    for position in np.flatnonzero(kept).tolist():
        # decimals of the values between the two powers of ten that contain most of them
        with np.errstate(divide="ignore"):  # zeros
            power = np.floor(np.log10(np.abs(columns[:, position])))
        powers, counts = np.unique(power[np.isfinite(power)], return_counts=True)
        usual = power == powers[counts.argmax()]
        values, classes = columns[usual, position], codes[usual]
        decimals = _count_decimals(values)
        for code in np.unique(classes):
            own = classes == code
            most, size = decimals[own].max(), int(own.sum())
            if most == decimals.max() or len(np.unique(values[own])) < MIN_DISTINCT:
                continue
            # all values of the class have fewer decimals than some of the others
            chance = hypergeom.sf(size - 1, len(values), np.sum(decimals <= most), size)
            if chance * n_columns * len(np.unique(classes)) <= MAX_CHANCE:
                rounded.append(position)
                break
    return rounded


def _count_decimals(values: np.ndarray) -> np.ndarray:
    """Return the decimals of each value, at most `MAX_DECIMALS`."""
    is_rounded = [values == np.round(values, n_decimals) for n_decimals in range(MAX_DECIMALS)]
    return np.argmax([*is_rounded, np.ones(len(values), dtype=bool)], axis=0)
