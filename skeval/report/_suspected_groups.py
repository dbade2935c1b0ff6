"""Samples of one object, without a group that says so: near to each other, or of one name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.neighbors import NearestNeighbors

from skeval._resampling.target import Target
from skeval.report._cautions import Caution

__all__ = ["warn_of_groups", "warn_of_repeated_values"]

LEAST_SAMPLES, MOST_SAMPLES = 100, 5000
"""Fewer say too little of how far neighbours are; the neighbours of more would take seconds."""
SIZES = range(1, 6)
"""Numbers of companions of a sample that are looked for."""
LEAST_COLUMNS = 2
"""Columns of few values are left out: within one of their cells neighbours are near by chance."""
FAR = 10
"""The neighbours number `FAR` and ``2 FAR``, which no such companions are, tell the dimension."""
CHANCE = 0.005
"""Share of samples, evenly spread, whose k nearest lie so far from the next."""
SHARE = 0.1
"""Share of samples from which groups are suspected."""
TIES = 0.01
"""Share of equal distances above which the samples lie on a grid, where ratios say nothing."""


def _varies(column: np.ndarray) -> bool:
    """Whether a column has so many values that the distance to a neighbour means something."""
    return bool(np.isfinite(column).all()) and len(np.unique(column)) > len(column) / 2


def warn_of_groups(columns: np.ndarray, target: Target) -> Caution | None:
    r"""Say how many samples have close companions, and then nothing for a long way.

    Where samples are spread evenly in `d` dimensions, the distances :math:`r_k` to the k-th
    neighbour fulfil :math:`P(r_k / r_{k+1} < q) = q^{kd}`, whatever the density, and
    :math:`(r_k / r_{2k})^d` has median 1/2, which tells `d`. It is grave where companions nearly
    share their target, and the neighbours after them do not: then classes do not explain it.
    """
    table = columns[:, [_varies(column) for column in columns.T]]
    table, rows = np.unique(table, axis=0, return_index=True)  # copies have a check of their own
    if not LEAST_SAMPLES <= len(table) <= MOST_SAMPLES or table.shape[1] < LEAST_COLUMNS:
        return None
    table = table / np.abs(table).max(axis=0)  # squares of tiny numbers are 0
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    distances, neighbours = NearestNeighbors(n_neighbors=2 * FAR).fit(table).kneighbors()
    ratios = distances[:, :-1] / distances[:, 1:]
    middle = float(np.median(distances[:, FAR - 1] / distances[:, 2 * FAR - 1]))
    if not 0 < middle < 1 or np.mean(ratios == 1) > TIES:
        return None
    dimension = np.log(0.5) / np.log(middle)
    close = [ratios[:, k - 1] < CHANCE ** (1 / (k * dimension)) for k in SIZES]
    k = SIZES[int(np.argmax([near.mean() for near in close]))]
    near = close[SIZES.index(k)]
    if near.mean() < SHARE:
        return None
    targets = _spread_target(target)[rows]
    unlike = np.sum((targets[near, None] - targets[neighbours[near, : 2 * k]]) ** 2, axis=(0, 2))
    within, beyond = unlike[:k].sum(), unlike[k:].sum()
    by_chance = 2 * targets.var(axis=0).sum() * near.sum() * k
    grave = within < (1 - NEARLY_CONSTANT) * by_chance and within < beyond / 2
    share = f"{100 * near.mean():.0f} % of the samples"
    return Caution(
        "groups",
        f"{share} have {k} close neighbours and then none for a long way, which chance explains "
        "for one in 200: they may be measurements of one object. If they are, name the object in "
        "groups=, or every error here is too low.",
        f"{share} lie together with {k} others that share their target, as measurements of one "
        "object do (name it in groups)"
        if grave
        else "",
    )


MISSING = ("", "nan", "none", "nat", "<na>", "missing")
LEAST_VALUES, MOST_ROWS = 8, 20
"""Values of an identifier, and rows that share one in the mean: "site" with 3 values names none."""
SHARE_OF_REPEATED, LEAST_REPEATED = 0.1, 5
"""Share of the rows whose value is not theirs alone, and how many values repeat: 0 alone may."""
NEARLY_CONSTANT, MOSTLY_CONSTANT = 0.8, 0.5
"""Share of the variance of the target that values explain, beyond what they would by chance: from
which a feature, or a column that is none anyway, is an identifier."""
N_SHUFFLES = 199
RARE = 0.005
"""P-value, by shuffled targets, from which values and targets have to do with each other."""


class Repeats(NamedTuple):
    """How often the values of a column repeat, and how far those who share one share the target."""

    n_samples: int
    n_repeated: int
    n_values: int
    agreement: float


def warn_of_repeated_values(
    columns: Mapping[str, Any], left_out: Mapping[str, Any], target: Target, groups: Any
) -> Iterator[Caution]:
    """Name the columns whose values repeat as those of an identifier do.

    Rows of one object that share their label, or nearly, go to both sides of shuffled folds: a rule
    can learn the object by heart. Of the features only those are named; a column that is left out
    is named wherever its values and the targets have to do with each other, since then the samples
    are not independent. With groups, which folds keep together, one sample of each counts.
    """
    rows = np.arange(len(target))
    if groups is not None:
        rows = np.sort(np.unique(np.asarray(groups), return_index=True)[1])
    targets = _spread_target(target)[rows]
    if not np.any(targets != targets[:1]):
        return
    named = set[bytes]()  # two columns may tell the same objects apart
    for name, column in {**left_out, **columns}.items():
        codes, ordered = _encode_values(column)
        kept = codes[rows] >= 0
        outside = name in left_out
        least = 0.0 if outside else NEARLY_CONSTANT
        found = _find_repeats(codes[rows][kept], targets[kept], least, ordered and not outside)
        partition = np.unique(codes, return_index=True, return_inverse=True)[1:]
        same = partition[0][partition[1]].tobytes()
        if found is not None and same not in named:
            named.add(same)
            yield _name_identifier(name, found, outside, target.classes is not None)


def _encode_values(column: Any) -> tuple[np.ndarray, bool]:
    """Return the values as codes, -1 where there is none, and whether they are numbers."""
    values = np.asarray(column)
    if values.dtype.kind not in "biufM":
        texts = [str(value).strip() for value in values.tolist()]
        values = np.array(["nan" if text.lower() in MISSING else text for text in texts])
        with suppress(ValueError):
            values = values.astype(float)
    missing = values == "nan" if values.dtype.kind == "U" else values != values  # nan and NaT
    codes = np.unique(values, return_inverse=True)[1].reshape(-1)
    return np.where(missing, -1, codes), values.dtype.kind != "U"


def _spread_target(target: Target) -> np.ndarray:
    """Return the target as columns: of each class whether it is this, of numbers their ranks."""
    if target.classes is not None:
        return np.eye(len(target.classes))[target.codes]
    return rankdata(target.y.astype(float), axis=0).reshape(len(target), -1)


def _find_repeats(
    codes: np.ndarray, targets: np.ndarray, least: float, ordered: bool
) -> Repeats | None:
    """Return what there is to say of a column that looks like an identifier, else None.

    Neighbouring values of an ordered column that have neighbouring targets are measurements.
    """
    codes, sizes = np.unique(codes, return_inverse=True, return_counts=True)[1:]
    n, m = len(codes), len(sizes)
    n_repeated = int(sizes[sizes > 1].sum())
    few = n_repeated < SHARE_OF_REPEATED * n or np.sum(sizes > 1) < LEAST_REPEATED
    if few or not max(LEAST_VALUES, n / MOST_ROWS) <= m < n:
        return None
    agreement = _measure_agreement(codes, sizes, targets)
    if m <= targets.shape[1] or agreement < least or not agreement > 0:
        return None
    if ordered and _follow_each_other(codes, sizes, targets):
        return None
    rng = np.random.default_rng(0)
    by_chance = [
        _measure_agreement(codes, sizes, rng.permutation(targets)) for _ in range(N_SHUFFLES)
    ]
    n_as_high = np.sum(np.array(by_chance) >= agreement - 1e-9)
    if (1 + n_as_high) / (1 + N_SHUFFLES) > RARE:
        return None
    return Repeats(n, n_repeated, m, agreement)


def _measure_agreement(codes: np.ndarray, sizes: np.ndarray, targets: np.ndarray) -> float:
    """Return one minus the variance within values over that of all: 1 where each has one target."""
    sums = _sum_by_value(codes, sizes, targets)
    within = np.sum(targets**2) - np.sum(sums**2 / sizes[:, None])
    whole = np.sum((targets - targets.mean(axis=0)) ** 2)
    if not whole > 0:
        return 0.0
    return float(1 - within / (len(codes) - len(sizes)) / (whole / (len(codes) - 1)))


def _sum_by_value(codes: np.ndarray, sizes: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the sum of the targets of each value."""
    return np.column_stack([np.bincount(codes, column, len(sizes)) for column in targets.T])


def _follow_each_other(codes: np.ndarray, sizes: np.ndarray, targets: np.ndarray) -> bool:
    """Whether the mean targets of neighbouring values are alike: by lag-1 autocorrelation."""
    means = _sum_by_value(codes, sizes, targets) / sizes[:, None]
    means -= means.mean(axis=0)
    least = min(0.5, 3 / np.sqrt(len(means)))
    return bool(np.sum(means[1:] * means[:-1]) > least * np.sum(means**2))


def _name_identifier(name: str, found: Repeats, left_out: bool, classes: bool) -> Caution:
    """Say that the values of a column repeat, how targets agree within them, and what to do."""
    label = "class" if classes else "target"
    shared = f"{found.n_repeated} of {found.n_samples} samples share their value of {name!r}"
    values = f"{shared} with others ({found.n_values} values)"
    cure = f"pass it as groups (--groups {name} on the command line, groups= in Python)"
    if found.agreement < (MOSTLY_CONSTANT if left_out else NEARLY_CONSTANT):
        return Caution(
            "identifier",
            f"{values}, and those that share it have more alike a {label} than chance explains: "
            f"they are not independent. Where it names what is measured more than once, {cure}.",
        )
    how = "nearly always" if found.agreement >= NEARLY_CONSTANT else "mostly"
    how = "always" if found.agreement > 1 - 1e-9 else how
    feature = "" if left_out else "; as a feature it tells nothing of new ones, either"
    return Caution(
        "identifier",
        f"{values}, and {how} their {label} with it, as samples of one patient or object "
        "do. Folds put one into training and the next into the test, so that knowing the object "
        f"again is counted as success: {cure}{feature}.",
        f"{shared} and {how} their {label} with others (use --groups {name})",
    )
