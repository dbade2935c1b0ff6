"""What is wrong with a table, or with the order of its rows, that makes an error estimate a lie.

Three families of checks: copies of samples and of the target; samples of one object that no group
names, near to each other or of one name; and rows that follow each other in time.

Samples that could as well stand in any other order have neighbours that are no more alike than any
two. Whether they are is tested by shuffling the rows, for the targets and for the out-of-fold
losses. That alone is no fault: a file may be sorted. It is one where the order is that of time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import Pipeline

from skeval._resampling.fits import OutOfFold
from skeval._resampling.task import Target
from skeval.datasets._files import read_times
from skeval.report._sections import Caution
from skeval.report._source import count_columns

__all__ = ["name_columns", "warn_of_least_squares", "warn_of_order", "write_data_warnings"]

LARGEST_TABLE = 5 * 10**6
"""Cells of a table that is looked through; the checks of a larger one would take seconds."""
SHARE_OF_COPIES = 0.05
TIMES_CHANCE = 10
CHANCE = 1e-3
ROUNDING = 1e-9
FEW = 3
FAR = 8.0
"""Standard deviations between classes that no measurement is expected to reach."""
LEAST_ALIKE = 10
"""Distinct values, or samples of one value, that no chance puts in order."""
LEAST_COUNTED = 8
"""Fewer numbers count the rows by chance, in one of a few thousand tables of a feature."""


def write_data_warnings(
    X: Any,
    target: Target,
    groups: Any,
    feature_names: Sequence[str] | None,
    left_out: Mapping[str, Any],
) -> list[Caution]:
    """Return the sentences that apply to a table and to the columns that were left out of it.

    Where the samples are no rows of a table there are only those.
    """
    if not _is_table(X):
        return list(warn_of_repeated_values({}, left_out, target, groups))
    columns, named = _encode_columns(X), name_columns(X, feature_names)
    names = feature_names or list(named)
    with np.errstate(all="ignore"):  # of infinite and of missing values
        copies = _warn_of_copies(columns, groups)
        named = {} if copies else named  # of copies every column is an identifier
        found = [
            copies,
            warn_of_groups(columns, target) if groups is None else None,
            _warn_of_answers(columns, target, names),
            *warn_of_repeated_values(named, left_out, target, groups),
            _warn_of_row_numbers(columns, target, names),
            _warn_of_constants(columns, names),
        ]
    return [sentence for sentence in found if sentence]


def name_columns(X: Any, feature_names: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Return the columns of a table as they are, by name; none where the samples are no rows."""
    if not _is_table(X):
        return {}
    columns = np.asarray(X).T
    names = feature_names or [f"x{position}" for position in range(len(columns))]
    return dict(zip(names, columns, strict=True))


def _is_table(X: Any) -> bool:
    """Whether the samples are rows of a dense table that is not too large to be looked through.

    A symmetric matrix is no table: it holds the kernel or the distances of the samples.
    """
    shape: Sequence[int] = np.shape(X) if hasattr(X, "shape") else ()
    if issparse(X) or len(shape) != 2 or not 0 < shape[0] * shape[1] <= LARGEST_TABLE:
        return False
    table = np.asarray(X)
    return not (shape[0] == shape[1] and np.array_equal(table, table.T))


def _encode_columns(X: Any) -> np.ndarray:
    """Return a table as floats, columns of texts as numbers that stand for them."""
    table = np.asarray(X)
    if table.dtype.kind in "biuf":
        return table.astype(float)
    return np.column_stack([_encode_column(column) for column in table.T])


def _encode_column(column: np.ndarray) -> np.ndarray:
    """Return the numbers of a column, or where it has others the codes of its values."""
    try:
        return column.astype(float)
    except (TypeError, ValueError):
        return np.unique(column.astype(str), return_inverse=True)[1].astype(float)


def _warn_of_constants(columns: np.ndarray, names: Sequence[str]) -> Caution | None:
    """Say which features have one value only."""
    constant = np.flatnonzero(np.all((columns == columns[:1]) | np.isnan(columns), axis=0)).tolist()
    if not constant:
        return None
    return Caution(
        "constant",
        f"{_list_features(constant, names)} has the same value in all samples: it tells nothing. "
        "Where it should not be constant, something was lost before the table was written.",
    )


def _warn_of_copies(columns: np.ndarray, groups: Any) -> Caution | None:
    """Say how many samples have an equal among those that a split may take from them.

    Few columns of few values hold equal rows by chance. Were the columns independent, as many
    pairs would be equal as the product of the chances that two values of a column are.
    """
    n = len(columns)
    rows = np.ascontiguousarray(columns + 0.0)  # -0.0 and 0.0 are equal
    seen: dict[bytes, list[int]] = {}
    for sample, row in enumerate(rows):
        seen.setdefault(row.tobytes(), []).append(sample)
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    equal = [same for same in seen.values() if len(same) > 1 and len(set(units[same])) > 1]
    n_copies = sum(map(len, equal))
    if n_copies < SHARE_OF_COPIES * n:
        return None
    n_pairs = sum(len(same) * (len(same) - 1) / 2 for same in equal)
    if n_pairs <= TIMES_CHANCE * n * (n - 1) / 2 * _chance_of_equal_rows(columns):
        return None
    return Caution(
        "copies",
        f"{n_copies} of {n} samples have an exact copy under another number: splits put one into "
        "training and the other into the test. Where copies share what is to be predicted, errors "
        "here are too low and intervals too short. Remove the copies, or give those of one object "
        "a common group (groups=).",
        f"{n_copies} of {n} samples have an exact copy that is split from them",
    )


def _chance_of_equal_rows(columns: np.ndarray) -> float:
    """Return the chance that two rows are equal where the columns have nothing to do with it."""
    logarithm = 0.0
    for column in columns.T:
        shares = np.unique(column, return_counts=True)[1] / len(column)
        logarithm += np.log(np.sum(shares**2))
    return float(np.exp(logarithm))


def _warn_of_answers(columns: np.ndarray, target: Target, names: Sequence[str]) -> Caution | None:
    """Say which features are the target under another name, or tell all classes apart."""
    y = target.y if target.classes is None else target.codes
    if np.ndim(y) != 1:
        return None
    if target.classes is None:
        numbers = np.asarray(y, dtype=float)
        copies = list(_find_linear_copies(columns, numbers))
        if copies:
            return _name_copies(copies, names)
        ranks = np.unique(numbers, return_inverse=True)[1]
        if columns.shape[1] * np.exp(np.log(2) - _count_orders(ranks)) > CHANCE:
            return None
        return _name_telling(_find_functions(columns, numbers), [], names)
    telling = _find_telling(columns, y, len(target.classes))
    if not telling or _chance_of_telling(y, columns.shape[1]) > CHANCE:
        return None
    n_values = [len(np.unique(columns[:, column])) for column in telling]
    copies = [
        column for column, n in zip(telling, n_values, strict=True) if n == len(target.classes)
    ]
    if copies:
        return _name_copies(copies, names)
    return _name_telling([c for c in telling if _is_far(columns[:, c], y)], telling, names)


def _name_telling(grave: list[int], telling: list[int], names: Sequence[str]) -> Caution | None:
    """Say which features alone tell what is to be predicted, the grave ones first, if any do."""
    if not grave and not telling:
        return None
    others = [column for column in telling if column not in grave]
    what = "all classes apart" if telling else "the order of the targets"
    fault = f"{_list_features(grave, names)} alone tells {what}, as what is made from them does"
    return Caution(
        "telling-feature",
        f"{_list_features([*grave, *others], names)} alone tells {what}, without one error: make "
        "sure that it is known before the target is, and not made from it.",
        fault[0].lower() + fault[1:] if grave else "",
    )


def _is_far(column: np.ndarray, codes: np.ndarray) -> bool:
    """Whether a feature holds the classes farther apart than measurements would.

    All means lie `FAR` standard deviations within a class apart, or a class of some size has a
    value for itself.
    """
    sizes = np.bincount(codes)
    means = np.bincount(codes, column) / sizes
    squares = np.bincount(codes, (column - means[codes]) ** 2)
    spread = np.sqrt(squares.sum() / max(1, len(codes) - len(sizes)))
    alone = np.any((squares == 0) & (sizes >= LEAST_ALIKE))
    return bool(alone or np.diff(np.sort(means)).min() > FAR * spread)


def _find_functions(columns: np.ndarray, y: np.ndarray) -> list[int]:
    """Return the features that rise, or fall, with numbers to predict without one exception."""
    found = []
    for position, column in enumerate(columns.T):
        if len(np.unique(column)) < LEAST_ALIKE:
            continue
        if any(np.all(np.diff(x[np.lexsort((x, y))]) >= 0) for x in (column, -column)):
            found.append(position)
    return found


def _name_copies(copies: list[int], names: Sequence[str]) -> Caution:
    """Say which features hold what is to be predicted."""
    fault = f"{_list_features(copies, names)} is a copy of the target"
    return Caution(
        "target-copy",
        f"{fault}: a rule that uses it reads the answer. Remove it and evaluate again.",
        fault[0].lower() + fault[1:],
    )


def _list_features(found: list[int], names: Sequence[str]) -> str:
    """Return the names of a few features."""
    listed = ", ".join(repr(str(names[column])) for column in found[:FEW])
    more = f" (and {len(found) - FEW} more)" if len(found) > FEW else ""
    return f"Feature {listed}" if len(found) == 1 else f"Each of the features {listed}{more}"


def _find_linear_copies(columns: np.ndarray, y: np.ndarray) -> Iterator[int]:
    """Yield the features of which the numbers to predict are a linear function."""
    deviation = y - y.mean()
    size = np.sqrt(deviation @ deviation)
    if len(y) < 4 or not size > 0:
        return
    centred = columns - columns.mean(axis=0)
    correlation = deviation @ centred / (size * np.sqrt((centred**2).sum(axis=0)))
    yield from np.flatnonzero(np.abs(correlation) > 1 - ROUNDING).tolist()


def _find_telling(columns: np.ndarray, codes: np.ndarray, n_classes: int) -> list[int]:
    """Return the features that put the classes one after another, or give each its own value."""
    order = np.argsort(columns, axis=0, kind="stable")
    changes = np.diff(codes[order], axis=0) != 0
    steps = np.diff(np.take_along_axis(columns, order, axis=0), axis=0) != 0
    pure = ~np.any(changes & ~steps, axis=0)
    apart = changes.sum(axis=0) == n_classes - 1
    alike = steps.sum(axis=0) == n_classes - 1
    return np.flatnonzero(pure & (apart | alike)).tolist()


def _chance_of_telling(codes: np.ndarray, n_features: int) -> float:
    """Return how many features would put the classes one after another by chance."""
    return float(n_features * np.exp(lgamma(codes.max() + 2) - _count_orders(codes)))


def _count_orders(codes: np.ndarray) -> float:
    """Return the logarithm of the number of orders of the samples that codes tell apart."""
    return lgamma(len(codes) + 1) - sum(lgamma(size + 1) for size in np.bincount(codes))


def _warn_of_row_numbers(
    columns: np.ndarray, target: Target, names: Sequence[str]
) -> Caution | None:
    """Say which features count the rows, in their order or in another, as an index does.

    Where the targets of neighbouring numbers are alike, the rule learns the order of a file.
    """
    if len(columns) < LEAST_COUNTED:
        return None
    whole = np.all(columns == np.floor(columns), axis=0)
    rising = np.all(np.diff(columns, axis=0) > 0, axis=0)
    gapless = np.all(np.diff(np.sort(columns, axis=0), axis=0) == 1, axis=0)
    found = np.flatnonzero(whole & (rising | gapless)).tolist()
    if not found:
        return None
    y = rankdata(target.y) if target.classes is None else target.codes
    telling = [column for column in found if are_alike(y[np.argsort(columns[:, column])])]
    headline = f"{_list_features(telling, names)} counts the rows, whose order tells the target"
    return Caution(
        "row-number",
        f"{_list_features(found, names)} counts the samples in whole numbers: it looks like a row "
        "number or an identifier, which tells the order of the file and nothing of new samples. "
        "Leave it out unless it is a measurement.",
        headline[0].lower() + headline[1:] if telling else "",
    )


LEAST_SAMPLES, MOST_SAMPLES = 100, 5000
"""Fewer say too little of how far neighbours are; the neighbours of more would take seconds."""
SIZES = range(1, 6)
"""Numbers of companions of a sample that are looked for."""
LEAST_COLUMNS = 2
"""Columns of few values are left out: within one of their cells neighbours are near by chance."""
NEXT = 10
"""The neighbours number `NEXT` and ``2 NEXT``, which no such companions are, tell the dimension."""
RARE_RATIO = 0.005
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
    distances, neighbours = NearestNeighbors(n_neighbors=2 * NEXT).fit(table).kneighbors()
    ratios = distances[:, :-1] / distances[:, 1:]
    middle = float(np.median(distances[:, NEXT - 1] / distances[:, 2 * NEXT - 1]))
    if not 0 < middle < 1 or np.mean(ratios == 1) > TIES:
        return None
    dimension = np.log(0.5) / np.log(middle)
    close = [ratios[:, k - 1] < RARE_RATIO ** (1 / (k * dimension)) for k in SIZES]
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
        "groups=, or errors here may be too low.",
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


def warn_of_least_squares(estimator: Any, X: Any, y: Any) -> list[Caution]:
    """Return a caution when least squares have about as many features as samples.

    A tenth more samples change the error of such a rule many times over, and folds train on a tenth
    less than all. Features are counted as the steps of a pipeline make them; where a step fails,
    that is told elsewhere.
    """
    *steps, rule = estimator if isinstance(estimator, Pipeline) else [estimator]
    if not isinstance(rule, LinearRegression) or rule.positive:
        return []
    if steps:
        with suppress(Exception):
            X = clone(estimator[:-1]).fit_transform(X, y)
    n_samples, n_features = len(y), count_columns(X) or 0
    least, most = UNDETERMINED
    if not least * n_samples <= n_features <= most * n_samples:
        return []
    found = Caution(
        "undetermined",
        f"Least squares of {n_features} features are undetermined with about as many samples "
        f"({n_samples}): the error of the rule fitted to all of them may be many times that of the "
        "rules of the folds, which see fewer. In simulations of as many features as samples the "
        f"interval held it in {HELD_UNDETERMINED[1]} % of the cases, that of absolute errors in "
        f"{HELD_UNDETERMINED[0]} %. Fewer features or a penalty (Ridge) help.",
        "least squares of about as many features as samples are undetermined",
    )
    return [found]


UNDETERMINED = 0.95, 1.15
"""From how many to how many features a sample `warn_of_least_squares` warns."""
HELD_UNDETERMINED = 1, 24
"""By loss, absolute and squared, what benchmarks/results/inflation.csv says of one for one."""


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


LEAST_ROWS = 30

"""P-value, by shuffled rows, from which neighbours count as alike."""
LEAST_SHUFFLES, MOST_SHUFFLES, MOST_WORK = 199, 999, 2 * 10**6
"""How often rows are shuffled, and how many values are moved in all."""
LEAST_TIMES = 10
"""Distinct values of a column that tells an order."""
SLOW = 0.8
"""Lag-1 autocorrelation of the ranks of a column that changes slowly from row to row."""
TIME = re.compile(
    r"(^|[^a-z])(year|month|week|day|hour|epoch|period)s?($|[^a-z])|date|time", re.IGNORECASE
)
"""Names of columns whose numbers, where they rise along the rows, are times."""
SAY = {
    "runs": "the targets of neighbouring rows are more alike than chance explains",
    "autocorrelation": "the predictions of neighbouring rows err together",
}
"""What each check finds, by its code."""


def warn_of_order(
    columns: Mapping[str, Any],
    left_out: Mapping[str, Any],
    index: Any,
    found: OutOfFold,
    groups: Any,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
) -> list[Caution]:
    """Say where neighbouring rows are alike, and whether their order is that of time.

    With groups, which folds keep together, the first sample of each counts, and its mean loss.
    Rows that are sorted by class are compared within classes; sorted numbers are left alone.
    """
    rows, unit = _find_units(len(found.target), groups)
    counts = np.bincount(unit[found.row], minlength=len(rows))
    loss = np.bincount(unit[found.row], found.loss, len(rows)) / np.maximum(counts, 1)
    known = counts > 0  # what no fold tests has no loss
    if known.sum() < LEAST_ROWS:
        return []
    classes = found.target.classes is not None
    y = (found.target.codes if classes else found.target.y)[rows]
    if not classes and (y.ndim > 1 or _rises(y)):
        return []
    told = {name: np.asarray(column)[rows] for name, column in {**columns, **left_out}.items()}
    times = {} if index is None else _read_all_times({"the index": np.asarray(index)[rows]})
    times |= _read_all_times(told)
    shown = {"runs": y if classes else rankdata(y), "autocorrelation": rankdata(loss)}
    shown = {code: values[known] for code, values in shown.items()}
    reason, slow = _find_rising_time(told, times), ""
    by_class = classes and not reason and np.sum(np.diff(y) != 0) < len(np.unique(y))
    if by_class:
        alike = ["autocorrelation"] if are_alike(shown["autocorrelation"], y[known]) else []
    else:
        alike = [code for code, values in shown.items() if are_alike(values)]
    if alike and not reason and _change_slowly(told, set(columns), y, classes):
        slow = "most columns change slowly from row to row"
    if alike and (reason or slow) and not _are_blocks(folds, len(found.target)):
        return [_name_time(reason, slow, alike)]
    return [*map(_name_rows, alike), *_find_scattered_times(times, shown, known)]


def _find_units(n_samples: int, groups: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each group, in order, and the group of each row."""
    if groups is None:
        return np.arange(n_samples), np.arange(n_samples)
    first, unit = np.unique(np.asarray(groups), return_index=True, return_inverse=True)[1:]
    return np.sort(first), np.argsort(np.argsort(first))[unit.reshape(-1)]


def are_alike(values: np.ndarray, strata: np.ndarray | None = None) -> bool:
    """Whether neighbours are more alike than they would be in nearly any other order.

    Of codes (integers) the neighbours that are equal are counted, which are the runs of Wald and
    Wolfowitz; of numbers the products of neighbours are summed. Each of the strata keeps its rows.
    """
    n = len(values)
    number = values.dtype.kind == "f"
    values = values - values.mean() if number else values

    def measure(these: np.ndarray) -> float:
        if number:
            return float(these[1:] @ these[:-1])
        return float(np.sum(these[1:] == these[:-1]))

    rng, seen = np.random.default_rng(0), measure(values)
    n_shuffles = int(np.clip(MOST_WORK // n, LEAST_SHUFFLES, MOST_SHUFFLES))
    as_high = 0
    for _ in range(n_shuffles):
        order = rng.permutation(n)
        if strata is not None:
            place = np.argsort(strata, kind="stable")
            order[place] = order[np.argsort(strata[order], kind="stable")]
        as_high += measure(values[order]) >= seen - 1e-9 * abs(seen)
        if (1 + as_high) / (1 + n_shuffles) > RARE:
            return False
    return True


def _rises(values: np.ndarray) -> bool:
    """Whether numbers rise from row to row, or fall, but for ties; few distinct ones do not."""
    steps = np.diff(values)
    ordered = bool(np.all(steps >= 0) or np.all(steps <= 0))
    return ordered and np.sum(steps != 0) >= LEAST_TIMES - 1


def _read_all_times(columns: Mapping[str, np.ndarray]) -> dict[str, list[np.ndarray]]:
    """Return the columns of dates as numbers, in each way in which they can be read."""
    read = {name: read_times(column) for name, column in columns.items()}
    return {name: readings for name, readings in read.items() if readings}


def _find_rising_time(told: Mapping[str, np.ndarray], times: Mapping[str, list[np.ndarray]]) -> str:
    """Return which date rises along the rows, or which number that is called a time; "" if none."""
    for name, readings in times.items():
        if any(_rises(reading) for reading in readings):
            return f"{name if name == 'the index' else repr(name)} rises"
    for name, column in _find_numbers(told):
        if TIME.search(name) and _rises(column):
            return f"{name!r} rises"
    return ""


def _change_slowly(
    told: Mapping[str, np.ndarray], features: set[str], y: np.ndarray, classes: bool
) -> bool:
    """Whether most columns change slowly along the rows, though none says that it sorted them.

    What follows from the class is taken off the features; numbers to predict are a column, too.
    """
    numbers = dict(_find_numbers(told))
    if any(map(_rises, numbers.values())):
        return False
    ranks = [rankdata(column) for name, column in numbers.items() if name in features]
    if classes:
        ranks = [column - _mean_of_class(column, y) for column in ranks]
    else:
        ranks.append(rankdata(y))
    slow = [_autocorrelate(column) > SLOW for column in ranks if column.std() > 0]
    return 2 * sum(slow) > max(len(slow), 3)


def _find_numbers(columns: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the columns of numbers, each with enough of them."""
    for name, column in columns.items():
        try:
            numbers = column.astype(float)
        except (TypeError, ValueError):
            continue
        if column.dtype.kind != "M" and len(np.unique(numbers)) >= LEAST_TIMES:
            yield str(name), numbers


def _mean_of_class(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return for each row the mean of its class."""
    counts = np.maximum(np.bincount(codes), 1)
    mean: np.ndarray = (np.bincount(codes, values) / counts)[codes]
    return mean


def _autocorrelate(values: np.ndarray) -> float:
    """Return the correlation of numbers with their neighbours."""
    centred = values - values.mean()
    return float(centred[1:] @ centred[:-1] / (centred @ centred))


def _are_blocks(folds: Sequence[tuple[np.ndarray, np.ndarray]], n_samples: int) -> bool:
    """Whether neighbours are tested together, as they are in folds that are not shuffled."""
    fold = np.full(n_samples, -1)
    for number, (_, test) in enumerate(folds):
        fold[test] = number
    sizes = np.unique(fold, return_counts=True)[1] / n_samples
    return bool(np.mean(fold[1:] != fold[:-1]) < (1 - np.sum(sizes**2)) / 2)


def _find_scattered_times(
    times: Mapping[str, list[np.ndarray]], shown: Mapping[str, np.ndarray], known: np.ndarray
) -> Iterator[Caution]:
    """Yield the dates along which, though the rows are not in their order, neighbours are alike."""
    for name, readings in times.items():
        order = np.argsort(readings[0][known], kind="stable")
        codes = [code for code, values in shown.items() if are_alike(values[order])]
        if len(np.unique(readings[0])) >= LEAST_TIMES and codes:
            yield Caution(
                codes[0],
                f"Sorted by {name!r}, {_join_findings(codes)}. Where the rule is to predict later "
                f"rows from earlier ones, sort by it (--time {name} on the command line, "
                "cv=TimeSeriesSplit() in Python): shuffled folds let the future predict the past.",
            )


def _join_findings(codes: Iterable[str]) -> str:
    """Return what checks found, in one clause."""
    return " and ".join(SAY[code] for code in codes)


def _name_time(reason: str, slow: str, codes: Sequence[str]) -> Caution:
    """Say that the rows are in the order of time, what that does, and what to do.

    Where no column tells a time (`slow` instead of a reason), they may as well be in blocks of
    samples of one object.
    """
    like = "err together" if "autocorrelation" in codes else "have like targets"
    headline = (
        f"rows are in time order ({reason}) and neighbours {like}; shuffled folds let the future "
        "predict the past"
    )
    if slow:
        headline = (
            f"neighbouring rows are alike, as in time order or of one object ({slow}), and {like}; "
            "shuffled folds test next to what they trained on"
        )
    return Caution(
        "time-order",
        f"The rows follow each other as records in time{' or of one object' if slow else ''} do "
        f"({reason or slow}): {_join_findings(codes)}. "
        "Shuffled folds put a row into the test and its neighbours into training, and let the "
        "future predict the past: errors here may be too low, intervals too short, and P too "
        "small. Test what comes later (--time on the command line, cv=TimeSeriesSplit() in "
        "Python), or name in groups what was measured again and again.",
        headline,
    )


def _name_rows(code: str) -> Caution:
    """Say that neighbours are alike where nothing says that their order is that of time."""
    said = SAY[code][0].upper() + SAY[code][1:]
    return Caution(
        code,
        f"{said}: the rows are not in random order. That is no fault where the file was sorted. "
        "Where rows follow each other in time, or neighbours are of one object, errors here "
        "may be too low: use cv=TimeSeriesSplit() (--time), or groups.",
    )
