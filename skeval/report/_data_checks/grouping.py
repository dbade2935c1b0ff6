"""Checks for identifiers: columns whose values repeat and are associated with the target."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from skeval._resampling.sampling_units import Target
from skeval.report._data_checks.leakage import list_rounded_by_class
from skeval.report._data_checks.table import (
    MIN_VALUES,
    Finding,
    Runs,
    TableDescription,
    encode_column,
    find_runs,
)
from skeval.report._data_checks.time_order import TIME

MIN_NUMBERED = 10
"""Minimum number of objects that are numbered without a name."""
MAX_SHARE_OF_VALUE = 0.2
"""Maximum share of the most frequent value in a feature that identifies objects."""
MIN_SHARE_REPEATED, MIN_REPEATED = 0.1, 5
"""Minimum share of rows with a repeated value, and minimum number of repeated values."""
NEARLY_CONSTANT, MOSTLY_CONSTANT = 0.8, 0.5
"""Share of the variance of the target that values explain beyond chance: minimum for a feature,
and for a column outside X. Of pairs of samples with the same value: minimum share of pairs with
different classes."""
N_SHUFFLES, MAX_P = 199, 0.005
N_SHUFFLES_OPPOSITE, MAX_P_OPPOSITE = 1999, 0.0005
"""Stricter test of features whose equal values have different classes: a few pairs are enough for
that, so chance produces it in any table of many columns."""
MAX_NEIGHBOR_CORRELATION = 0.5
OBJECT = re.compile(
    r"(.* )?(id|pid|uid|patient|subject|subj|person|participant|proband|respondent|individual|"
    r"animal|rat|mouse|child|infant|student|pupil|family|household|donor|specimen|user|customer|"
    r"speaker|case|plot|tree|plant)s?( ?(id|no|nr|num|number|code))?",
    re.IGNORECASE,
)
"""Full names of columns of numbers that name objects, even if the objects are sorted by target."""


class Repeats(NamedTuple):
    """How often the values of a column repeat, and how samples of a value agree in the target.

    The agreement is 1 if each value has one target, and 0 by chance; `differing` is the share of
    pairs of samples of a value with different targets.
    """

    n_samples: int
    n_repeated: int
    agreement: float
    differing: float
    grave: bool


def check_identifiers(table: TableDescription) -> Iterator[Finding]:
    """Report columns whose values repeat and are associated with the target.

    A feature is reported only if its values nearly determine the target, a column outside X if its
    values are related to the target at all. Only one sample of each group is used and, for
    features, only one of several equal rows, because copies repeat the values of every feature.
    """
    # one sample of each group, and one of several equal rows
    rows = np.arange(len(table.target))
    if table.groups is not None:
        rows = np.sort(np.unique(table.groups, return_index=True)[1])
    distinct = rows
    if table.keys is not None and len(table.keys) == len(table.target):
        distinct = np.array(list({table.keys[row]: row for row in reversed(rows)}.values()))[::-1]
    targets = spread_target(table.target)
    if not np.any(targets[rows] != targets[rows[:1]]):
        return
    classes = table.target.classes is not None
    # columns outside X, and features that nearly determine the target
    features = _list_candidates(table, distinct, targets)
    columns = [(name, *encode_column(np.asarray(c)), True) for name, c in table.left_out.items()]
    columns += [
        (str(table.names[p]), table.columns[:, p], bool(table.is_number[p]), False)
        for p in features
    ]
    partitions = set[bytes]()  # two columns may identify the same objects
    for name, column, is_number, outside in columns:
        used = rows if outside else distinct
        used = used[~np.isnan(column[used])]
        repeats = _find_repeats(name, column[used], targets[used], classes, is_number, outside)
        first, place = np.unique(column, return_index=True, return_inverse=True)[1:]
        partition = first[place.reshape(-1)].tobytes()
        if repeats is not None and partition not in partitions:
            partitions.add(partition)
            yield _describe_repeats(name, repeats, outside, classes)


def spread_target(target: Target) -> np.ndarray:
    """Return the target as columns: an indicator of each class, or the ranks of numbers."""
    if target.classes is not None:
        return np.eye(len(target.classes))[target.codes]
    return rankdata(target.y.astype(float), axis=0).reshape(len(target), -1)


def _list_candidates(table: TableDescription, rows: np.ndarray, targets: np.ndarray) -> list[int]:
    """Return the features with repeated values that nearly determine the target, or text.

    If one class is rounded, its values repeat more often, but do not identify objects.
    """
    every = len(rows) == len(table.columns)
    # values that repeat, none of them too frequent
    runs = table.runs if every else find_runs(table.columns[rows])
    largest = np.zeros(table.columns.shape[1], dtype=np.intp)
    np.maximum.at(largest, runs.column, runs.size)
    several = np.bincount(runs.column[runs.size > 1], minlength=len(largest))
    kept = (runs.n_values >= MIN_VALUES) & (several >= MIN_REPEATED)
    kept &= largest <= MAX_SHARE_OF_VALUE * len(rows)
    kept[list_rounded_by_class(table)] = False
    # values that nearly determine the target
    candidates = np.flatnonzero(kept)
    if not every or len(candidates) < len(kept):
        runs = find_runs(table.columns[rows][:, candidates])
    codes = None if table.target.classes is None else table.target.codes[rows]
    agreement = _measure_agreements(runs, targets[rows], codes)
    return candidates[(agreement > NEARLY_CONSTANT) | ~table.is_number[candidates]].tolist()


def _measure_agreements(runs: Runs, targets: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
    """Return for each column one minus the variance within values over the total variance.

    The targets of classes are indicators of the `codes`.
    """
    # sums of squares within values and in total
    n = runs.sum_by_column(runs.size)
    within, total = np.zeros(len(n)), np.zeros(len(n))
    if codes is not None and (n == len(codes)).all():
        within, total = n - runs.sum_squared_shares(codes), n - np.sum(np.bincount(codes) ** 2) / n
        targets = targets[:, :0]
    for target in (targets - targets.mean(axis=0)).T:
        sums, squares = runs.sum_values(target), runs.sum_by_column(runs.sum_values(target**2))
        within += squares - runs.sum_by_column(sums**2 / runs.size)
        total += squares - runs.sum_by_column(sums) ** 2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        agreement = 1 - within / (n - runs.n_values) / (total / (n - 1))
    return np.where(np.isfinite(agreement), agreement, 0.0)


def _find_repeats(
    name: str,
    column: np.ndarray,
    targets: np.ndarray,
    classes: bool,
    is_number: bool,
    outside: bool,
) -> Repeats | None:
    """Return how values repeat in a column that looks like an identifier, else None."""
    # enough repeated values
    values, codes, sizes = np.unique(column, return_inverse=True, return_counts=True)
    codes = codes.reshape(-1)
    n, m = len(codes), len(sizes)
    n_repeated = int(sizes[sizes > 1].sum())
    few = n_repeated < MIN_SHARE_REPEATED * n or np.sum(sizes > 1) < MIN_REPEATED
    if few or not max(MIN_VALUES, targets.shape[1] + 1) <= m < n:
        return None
    if not outside and sizes.max() > MAX_SHARE_OF_VALUE * n:
        return None
    # how targets agree within values
    agreement = _measure_agreement(codes, sizes, targets)
    differing = np.nan
    if classes:  # pairs of samples with the same value
        same = np.sum(_sum_by_value(codes, sizes, targets) ** 2) - n
        differing = 1 - float(same / np.sum(sizes * (sizes - 1.0)))
    if agreement > 0:
        # a number is a measurement if neighboring values have similar targets
        measured = is_number and not _numbers_objects(name, values, sizes, classes)
        measured = measured and _are_neighbors_similar(codes, sizes, targets)
        grave = not measured and agreement >= (MOSTLY_CONSTANT if outside else NEARLY_CONSTANT)
        n_shuffles, max_p = N_SHUFFLES, MAX_P
    else:
        # time points, doses and arms of a balanced design have every class several times
        paired = classes and sizes.max() <= targets.shape[1]
        grave = paired and not is_number and differing >= NEARLY_CONSTANT
        n_shuffles, max_p = (
            (N_SHUFFLES, MAX_P) if outside else (N_SHUFFLES_OPPOSITE, MAX_P_OPPOSITE)
        )
    if not outside and not grave:
        return None
    # the same measure for shuffled targets
    rng, sign, n_as_extreme = np.random.default_rng(0), np.sign(agreement), 0
    for _ in range(n_shuffles):
        by_chance = _measure_agreement(codes, sizes, rng.permutation(targets))
        n_as_extreme += sign * by_chance >= sign * agreement - 1e-9
        if (1 + n_as_extreme) / (1 + n_shuffles) > max_p:
            return None
    return Repeats(n, n_repeated, agreement, differing, bool(grave))


def _numbers_objects(name: str, values: np.ndarray, sizes: np.ndarray, classes: bool) -> bool:
    """Whether numbers seem to name objects: by their name, or as 1 to m with equally many rows."""
    name = re.sub(r"[_.\-]+", " ", name)
    if OBJECT.fullmatch(name):
        return bool(np.all(values == np.floor(values)))
    consecutive = len(values) >= MIN_NUMBERED and bool(np.all(np.diff(values) == 1))
    equal = consecutive and sizes.min() == sizes.max()
    return bool(equal and classes and not TIME.fullmatch(name))


def _measure_agreement(codes: np.ndarray, sizes: np.ndarray, targets: np.ndarray) -> float:
    """Return one minus the variance within values over the total variance."""
    sums = _sum_by_value(codes, sizes, targets)
    within = np.sum(targets**2) - np.sum(sums**2 / sizes[:, None])
    total = np.sum((targets - targets.mean(axis=0)) ** 2)
    if not total > 0:
        return 0.0
    return float(1 - within / (len(codes) - len(sizes)) / (total / (len(codes) - 1)))


def _sum_by_value(codes: np.ndarray, sizes: np.ndarray, targets: np.ndarray) -> np.ndarray:
    return np.column_stack([np.bincount(codes, column, len(sizes)) for column in targets.T])


def _are_neighbors_similar(codes: np.ndarray, sizes: np.ndarray, targets: np.ndarray) -> bool:
    """Whether mean targets of neighboring values are similar, by lag-1 autocorrelation."""
    means = _sum_by_value(codes, sizes, targets) / sizes[:, None]
    means -= means.mean(axis=0)
    minimum = min(MAX_NEIGHBOR_CORRELATION, 3 / np.sqrt(len(means)))
    return bool(np.sum(means[1:] * means[:-1]) > minimum * np.sum(means**2))


def _describe_repeats(name: str, repeats: Repeats, outside: bool, classes: bool) -> Finding:
    """Describe how targets agree, or differ, within the values of a column."""
    # shared values, of objects perhaps
    label = "class" if classes else "target"
    shared = f"{repeats.n_repeated} of {repeats.n_samples} samples share a value of {name!r}"
    pass_groups = f"Pass it as groups (--groups {name}, or groups= in Python)"
    opposite = repeats.agreement < 0
    if not repeats.grave:
        relation = "different classes" if classes else "different targets"
        relation = relation if opposite else f"the same {label}" if classes else "similar targets"
        return Finding(
            "identifier",
            "Shared values",
            f"{shared}, and samples with the same value have {relation} more often than chance "
            "explains",
            "The samples are not independent. If the column identifies objects that were measured "
            f"more than once, {pass_groups[0].lower()}{pass_groups[1:]}.",
        )
    # identifiers
    strength = repeats.differing if opposite else repeats.agreement
    how = "nearly always" if strength >= NEARLY_CONSTANT else "mostly"
    how = "always" if strength > 1 - 1e-9 else how
    relation = f"{how} have {'different classes' if opposite else f'the same {label}'}"
    effect = (
        "If they are repeated measurements of an object, a model that recognizes the object "
        f"predicts the other {label}, and errors are too high. "
        if opposite
        else "If they are repeated measurements of an object, a model can recognize the object "
        f"instead of the {label}, and errors are too low. "
    )
    feature = "" if outside else " and remove it from the features"
    return Finding(
        "identifier",
        "Identifier",
        f"{shared}, and samples with the same value {relation}",
        f"{effect}{pass_groups}{feature}.",
        grave=True,
    )
