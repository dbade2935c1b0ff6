"""Checks for identifiers: columns whose values repeat and are associated with the target."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from skeval._resampling.target import Target
from skeval.report._data_checks.table import Finding, TableDescription
from skeval.report._data_checks.traces import list_rounded_by_class

MISSING = ("", "nan", "none", "nat", "<na>", "missing")
MIN_VALUES, MAX_ROWS = 8, 20
"""Values of an identifier, and mean rows per value: a "site" with 3 values is no identifier."""
MAX_SHARE_OF_VALUE = 0.2
"""Maximum share of the most frequent value in a feature that identifies objects."""
MIN_SHARE_REPEATED, MIN_REPEATED = 0.1, 5
"""Minimum share of rows with a repeated value, and minimum number of repeated values."""
NEARLY_CONSTANT, MOSTLY_CONSTANT = 0.8, 0.5
"""Share of the variance of the target that values explain beyond chance: minimum for a feature,
and for a column outside X. Negative where samples of a value have different targets."""
N_SHUFFLES, MAX_P = 199, 0.005
N_SHUFFLES_OPPOSITE, MAX_P_OPPOSITE = 1999, 0.0005
"""Stricter test of features whose equal values have different targets. Balanced classes within a
few common values are enough for that, so chance produces it in any table of many columns."""
MAX_NEIGHBOR_CORRELATION = 0.5


class Repeats(NamedTuple):
    """How often the values of a column repeat, and how far samples of a value agree in the target.

    The agreement is 1 if each value has one target, 0 by chance, and `minimum` if targets differ
    within values as much as they can.
    """

    n_samples: int
    n_repeated: int
    n_values: int
    agreement: float
    minimum: float


def check_identifiers(table: TableDescription) -> Iterator[Finding]:
    """Report columns whose values repeat and are associated with the target.

    A feature is reported only if its values nearly determine the target, a column outside X if its
    values are related to the target at all. Only one sample of each group is used and, for
    features, only one of several equal rows, because copies repeat the values of every feature.
    """
    rows = np.arange(len(table.target))
    if table.groups is not None:
        rows = np.sort(np.unique(table.groups, return_index=True)[1])
    distinct = rows
    if table.keys is not None and len(table.keys) == len(rows):
        distinct = np.array(list({table.keys[row]: row for row in reversed(rows)}.values()))[::-1]
    targets = spread_target(table.target)
    if not np.any(targets[rows] != targets[rows[:1]]):
        return
    # if one class is rounded, its values repeat more often, but do not identify objects
    rounded = {table.names[position] for position in list_rounded_by_class(table)}
    partitions = set[bytes]()  # two columns may identify the same objects
    for name, column in {**table.left_out, **table.values}.items():
        outside = name in table.left_out
        if not outside and name in rounded:
            continue
        codes, ordered = _encode_values(column)
        used = rows if outside else distinct
        used = used[codes[used] >= 0]
        minimum = 0.0 if outside else NEARLY_CONSTANT
        repeats = _find_repeats(codes[used], targets[used], minimum, ordered, outside)
        first, place = np.unique(codes, return_index=True, return_inverse=True)[1:]
        partition = first[place.reshape(-1)].tobytes()
        if repeats is not None and partition not in partitions:
            partitions.add(partition)
            yield _describe_repeats(name, repeats, outside, table.target.classes is not None)


def spread_target(target: Target) -> np.ndarray:
    """Return the target as columns: an indicator of each class, or the ranks of numbers."""
    if target.classes is not None:
        return np.eye(len(target.classes))[target.codes]
    return rankdata(target.y.astype(float), axis=0).reshape(len(target), -1)


def _encode_values(column: Any) -> tuple[np.ndarray, bool]:
    """Return the values as codes, -1 for missing ones, and whether they are numbers."""
    values = np.asarray(column)
    if values.dtype.kind not in "biufM":
        texts = [str(value) for value in values]
        values = np.array(["nan" if text.lower() in MISSING else text for text in texts])
        with suppress(ValueError):
            values = values.astype(float)
    missing = values == "nan" if values.dtype.kind == "U" else values != values  # nan and NaT
    codes = np.unique(values, return_inverse=True)[1].reshape(-1)
    return np.where(missing, -1, codes), values.dtype.kind != "U"


def _find_repeats(
    codes: np.ndarray, targets: np.ndarray, minimum: float, ordered: bool, outside: bool
) -> Repeats | None:
    """Return how values repeat in a column that looks like an identifier, else None.

    An ordered feature whose neighboring values have similar targets is a measurement.
    """
    codes, sizes = np.unique(codes, return_inverse=True, return_counts=True)[1:]
    n, m = len(codes), len(sizes)
    n_repeated = int(sizes[sizes > 1].sum())
    few = n_repeated < MIN_SHARE_REPEATED * n or np.sum(sizes > 1) < MIN_REPEATED
    if few or not max(MIN_VALUES, n / MAX_ROWS) <= m < n or m <= targets.shape[1]:
        return None
    if not outside and sizes.max() > MAX_SHARE_OF_VALUE * n:
        return None
    agreement = _measure_agreement(codes, sizes, targets)
    lowest = -(n - m) / max(1, int(np.sum(sizes * (sizes - 1.0))) - (n - m))
    # negative agreement is divided by its lowest possible value
    strength = agreement if agreement > 0 else agreement / lowest
    measured = ordered and not outside
    if strength <= minimum or (
        measured and agreement > 0 and _are_neighbors_similar(codes, sizes, targets)
    ):
        return None
    opposite = agreement < 0 and not outside
    n_shuffles = N_SHUFFLES_OPPOSITE if opposite else N_SHUFFLES
    max_p = MAX_P_OPPOSITE if opposite else MAX_P
    rng, sign, n_as_extreme = np.random.default_rng(0), np.sign(agreement), 0
    for _ in range(n_shuffles):
        by_chance = _measure_agreement(codes, sizes, rng.permutation(targets))
        n_as_extreme += sign * by_chance >= sign * agreement - 1e-9
        if (1 + n_as_extreme) / (1 + n_shuffles) > max_p:
            return None
    return Repeats(n, n_repeated, m, agreement, lowest)


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
    label = "class" if classes else "target"
    shared = f"{repeats.n_repeated} of {repeats.n_samples} samples share a value of {name!r}"
    pass_groups = f"Pass it as groups (--groups {name}, or groups= in Python)"
    opposite = repeats.agreement < 0
    strength = repeats.agreement / repeats.minimum if opposite else repeats.agreement
    if strength < (MOSTLY_CONSTANT if outside else NEARLY_CONSTANT):
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
    how = "nearly always" if strength >= NEARLY_CONSTANT else "mostly"
    how = "always" if strength > 1 - 1e-9 else how
    relation = f"{how} have {'different' if opposite else 'the same'} {label}"
    relation += ("es" if classes else "s") if opposite else ""
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
