"""Checks for traces of the target in the values of features: encoding and rounding by class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import comb
from scipy.stats import hypergeom

from skeval.report._data_checks.table import (
    TOLERANCE,
    Finding,
    TableDescription,
    get_rounding_error,
    number_cells,
)

MAX_CHANCE = 1e-3
"""Maximum probability of a finding if a table has no such fault."""
MIN_DISTINCT, MIN_KNOWN = 10, 0.9
"""Minimum number of values of a measurement, overall or by class, and fraction of known ones."""
MAX_CHANCE_OF_MEANS = 0.01
"""Maximum probability that a feature is this close to the means of the target by chance."""
MAX_MERGED, N_CANDIDATES = 5, 10
"""Maximum number of categories of the same mean, and number of feature values from which the
smoothing constant is computed, by trial."""
MIN_SLOPE, MIN_FITTED = 0.25, 0.8
"""Minimum slope of the target on its smoothed means, which is 1 or more if all rows are means, and
Fraction of the samples whose values must be smoothed means of the target."""
MAX_DECIMALS = 8


def check_constants(table: TableDescription) -> Iterator[Finding]:
    """Report features that are empty, or have the same value in all samples.

    A value that is missing elsewhere is an indicator.
    """
    n = len(table.columns)
    is_single = (table.n_values == 1) & (table.n_known == n)
    constant = np.flatnonzero(is_single | (table.n_values == 0)).tolist()
    if constant:
        them = "it" if len(constant) == 1 else "them"
        yield Finding(
            "note",
            f"{table.name(constant)} has the same value in all samples",
            f"Remove {them}; a column that should vary was not written correctly.",
        )


def check_target_encodings(table: TableDescription) -> Iterator[Finding]:
    """Report features that contain the mean target of a category of this table."""
    target, encoded = table.target, set[int]()
    outcomes = [
        target.y.astype(float) if target.classes is None else (target.codes == code).astype(float)
        for code in range(max(1, target.n_classes))
    ]
    # features whose values repeat
    few = (table.n_values >= 3) & (table.n_values <= table.n_known / 2)
    repeated = np.flatnonzero(few & (table.n_known >= MIN_KNOWN * len(table.columns)))
    for block in table.list_blocks(repeated):
        # the target rises by at least one unit per unit of its smoothed means
        centered = table.columns[:, block]
        centered = np.nan_to_num(centered - np.nanmean(centered, axis=0))
        covariances = np.array([y - y.mean() for y in outcomes]) @ centered
        rises = covariances > MIN_SLOPE * np.sum(centered**2, axis=0)
        # values that are means of the target
        for row, place in np.argwhere(rises).tolist():
            values = number_cells(table.columns[:, block[place], None])
            in_order = outcomes[row][np.argsort(values.of_cell[0], kind="stable")]
            if _is_encoding(values.number, values.size, in_order[: values.size.sum()]):
                encoded.add(int(block[place]))
    if encoded:
        yield Finding(
            "serious",
            f"{table.name(sorted(encoded))} is the mean target of the samples with the same value, "
            "including each sample's own target",
            "Pass the categories and encode them inside a pipeline (`TargetEncoder`).",
        )


def _is_encoding(values: np.ndarray, sizes: np.ndarray, y: np.ndarray) -> bool:
    r"""Whether the values of a feature are means :math:`m_l` of a target, smoothed or not.

    The values are distinct and ascending, and each has `sizes` of the targets, in this order.

    Smoothed means are :math:`(n_l m_l + a_l \bar y) / (n_l + a_l)`, with one constant for all
    values, or with the ratio of the variances of the target at the value and overall, which
    scikit-learn's `TargetEncoder` uses. Nearly all values must match, and this must be improbable
    even for a feature that equals the expected target, where the mean of :math:`n_l` targets lies
    within the rounding error of its expectation with a probability of about :math:`(\delta + 2 n_l
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
    variances[variances < TOLERANCE * y.var()] = 0
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
        # nearly all samples fit, and not by chance, with any choice of the values that fit
        if sizes[fits].sum() >= MIN_FITTED * len(y):
            evidence = np.sort(chances[fits])[n_fitted:]
            if comb(len(fits), fits.sum()) * np.prod(evidence) <= MAX_CHANCE_OF_MEANS:
                return True
    return False


def check_decimals_by_class(table: TableDescription) -> Iterator[Finding]:
    """Report features that were rounded to fewer decimals in one class.

    Values are compared only between the same two powers of ten, because large values with a fixed
    number of significant digits have fewer decimals. The hypergeometric probability has a
    Bonferroni correction for features and classes.
    """
    codes, rounded = table.target.codes, list[int]()
    # numbers, of which some are rounded and some are not
    for position in np.flatnonzero(table.is_number & (table.n_values >= MIN_DISTINCT)).tolist():
        column = table.columns[:, position]
        some = column == np.round(column, MAX_DECIMALS - 1)
        if np.all(column == np.floor(column)) or some.sum() < MIN_DISTINCT:
            continue
        # decimals of the values between the two powers of ten that contain most of them
        power = np.floor(np.log10(np.abs(column)))  # 0 has none
        powers, counts = np.unique(power[np.isfinite(power)], return_counts=True)
        usual = power == powers[counts.argmax()]
        # each value once in a class: rows of one object share their values
        values, place = np.unique(column[usual], return_inverse=True)
        occurs = np.zeros((table.target.n_classes, len(values)), dtype=bool)
        occurs[codes[usual], place] = True
        decimals = _count_decimals(values)
        all_decimals = np.broadcast_to(decimals, occurs.shape)[occurs]
        n_classes = np.count_nonzero(occurs.any(axis=1))
        for own in occurs:
            size = int(own.sum())
            most = decimals[own].max(initial=0)
            if size < MIN_DISTINCT or most == decimals.max():
                continue
            # all values of the class have fewer decimals than some of the others
            n_fewer = np.sum(all_decimals <= most)
            chance = hypergeom.sf(size - 1, len(all_decimals), n_fewer, size)
            if chance * len(table.names) * n_classes <= MAX_CHANCE:
                rounded.append(position)
                break
    if rounded:
        yield Finding(
            "serious",
            f"{table.name(rounded)} has fewer decimals in one class than in the others, as if the "
            "classes came from different sources",
            "A model may learn the source instead of the class. Check how the classes were "
            "collected; rounding all values alike does not remove other differences.",
        )


def _count_decimals(values: np.ndarray) -> np.ndarray:
    """Return the decimals of each value, at most `MAX_DECIMALS`."""
    is_rounded = [values == np.round(values, n_decimals) for n_decimals in range(MAX_DECIMALS)]
    return np.argmax([*is_rounded, np.ones(len(values), dtype=bool)], axis=0)
