"""Checks for rows that belong together: copies, near-duplicates, synthetic samples, identifiers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import rankdata
from sklearn.neighbors import NearestNeighbors

from skeval._resampling.sampling_units import Target
from skeval.report._data_checks.table import (
    MIN_VALUES,
    TIME,
    TableDescription,
    Values,
    encode_column,
    find_direction,
    find_first_equal,
    get_rounding_error,
    hash_rows,
    list_run_ends,
    number_cells,
    standardize,
)
from skeval.report._page import CheckResult

MIN_SHARE_OF_COPIES, MIN_PAIRS = 0.05, 5
"""Minimum fraction of samples that equal another one, and minimum number of copies, or of sets of
near-duplicates."""
MIN_KEY_SIZE = 20, 10
"""Minimum number of characters of a text, and of entries of a sparse row, to count as copies."""
MIN_TOGETHER = 0.5
"""Minimum fraction of equal rows that are consecutive, if they are measurements of one object."""
MIN_AGREEING = 0.9
"""Minimum fraction of equal rows with the same target, if they are copies."""
MIN_RATIO = 3.5
"""Minimum number of pairs of equal rows, per pair that independent columns are expected to give."""
MIN_UNIQUE = 0.9
"""Minimum number of distinct values of a continuous column, as a fraction of the distinct rows."""
MAX_PATTERNS, MAX_COLUMNS, MAX_MULTIPLICITY = 1000, 500, 3
REACH = 4
"""Maximum distance of neighboring rows, in ranks, unless the nearest rows are farther apart."""
WIDE_GAP = 0.4
"""Share of the median distance above which there is a wide gap to the nearest rows."""
MIN_EXCESS, MIN_EXCESS_GAP = 1.5, 0.25
"""Minimum number of equal pairs per neighboring pair, without and with a wide gap."""


def check_copies(table: TableDescription) -> Iterator[CheckResult]:
    """Report samples that equal a sample of another group.

    Copies are serious if they have the same targets and are not due to chance. They are not due to
    chance if a column is continuous, or if equal pairs are more frequent than pairs at the next
    smallest distances. Consecutive equal rows in an unsorted file are also serious. Short texts
    and sparse rows with few entries are often equal by chance.
    """
    if table.first_equal is None:
        return
    n, first = len(table.all_target), table.first_equal
    # samples of the same group are one object
    units = np.arange(n)
    if table.all_groups is not None:
        units = np.unique(np.asarray(table.all_groups), return_inverse=True)[1].reshape(-1)
    # equal samples of several objects
    repeated = np.bincount(first, units != units[first], minlength=n) > 0
    if table.key_size is not None:
        repeated &= table.key_size >= MIN_KEY_SIZE[1 if table.columns.shape[1] else 0]
    copies = np.flatnonzero(repeated[first])
    # enough of them
    n_copies = len(copies)
    if n_copies < MIN_SHARE_OF_COPIES * n or n_copies - repeated.sum() < MIN_PAIRS:
        return
    if table.key_size is None:
        sizes = np.bincount(find_first_equal(hash_rows(table.columns)))
        rows, sizes = table.columns[: len(sizes)][sizes > 0], sizes[sizes > 0]
        # few values, such as those of a design, make rows equal
        if np.sum(sizes * (sizes - 1.0)) < MIN_RATIO * _expect_pairs(table.columns, len(rows)):
            return
        # pairs of consecutive equal rows, observed and expected in random order
        together = np.sum((first[1:] == first[:-1]) & (units[1:] != units[:-1]))
        sizes_in_file = np.bincount(first)[np.flatnonzero(repeated)]
        by_chance = np.sum(sizes_in_file * (sizes_in_file - 1)) / n
        least = max(MIN_TOGETHER * np.sum(sizes_in_file - 1), by_chance + 5 * (1 + by_chance**0.5))
        # the targets of equal rows, which are more similar than those of other rows
        values = number_cells(first[copies, None].astype(float))
        similar = _measure_agreement(values, _spread_target(table.all_target)[copies])[0] > 0
        if together > least and similar and not _is_sorted(table, len(rows)):
            yield CheckResult(
                "serious",
                f"{n_copies} of {n} samples equal another sample, most of them next in the file",
                "If the rows are repeated measurements, the error is too low. Pass the measured "
                "object of each row, such as the patient, as groups=.",
                title="Repeated rows",
            )
            return
        # chance may produce equal rows in a dense table
        excess = _exceed_neighbors(rows, sizes) or _has_continuous_column(table.columns, len(rows))
        if not excess or not _agree(first[copies], table.all_target, copies):
            return
    yield CheckResult(
        "serious",
        f"{n_copies} of {n} samples are exact copies of another sample",
        "Copies in both training and test set make errors too low and intervals too narrow. Remove "
        "the copies, or pass a common group for the samples of one object (groups=).",
    )


def _agree(first: np.ndarray, target: Target, copies: np.ndarray) -> bool:
    """Whether equal rows have the same target, as copies have."""
    # the most frequent target of each set of equal rows
    codes = np.unique(target.codes[copies], axis=0, return_inverse=True)[1].reshape(-1)
    pairs, counts = np.unique([first, codes], axis=1, return_counts=True)
    most = np.zeros(len(target), dtype=np.intp)
    np.maximum.at(most, pairs[0], counts)
    return bool(most.sum() >= MIN_AGREEING * len(copies))


def _expect_pairs(columns: np.ndarray, n_distinct: int) -> float:
    """Return the expected number of ordered pairs of equal rows of independent columns.

    The number is 0 if a column is continuous, because only copies repeat its values.
    """
    n, counts = len(columns), [np.unique(c, return_counts=True)[1] for c in columns.T]
    if max(map(len, counts)) >= MIN_UNIQUE * n_distinct:
        return 0.0
    return n * (n - 1) * float(np.prod([np.sum((sizes / n) ** 2) for sizes in counts]))


def _is_sorted(table: TableDescription, n_distinct: int) -> bool:
    """Whether a column or the target is sorted, or has equal values in consecutive rows.

    Categories may be in any order. A column that is different in nearly all distinct rows is not
    considered, because its equal values are consecutive in any file.
    """
    columns = [*table.columns.T, _spread_target(table.target).argmax(axis=1)]
    in_blocks = any(True for _ in list_run_ends(columns, n_distinct / 2))
    return in_blocks or any(find_direction(column) for column in columns)


def _has_continuous_column(columns: np.ndarray, n_distinct: int) -> bool:
    """Whether some column has more equal values than expected by chance, as copies do.

    Values on a grid have more pairs one or two steps apart than equal pairs, by chance. The step
    is the smallest difference, or the unit of rounding. Other values have few such pairs.
    """
    for column in columns.T:
        values, counts = np.unique(column[np.isfinite(column)], return_counts=True)
        if len(values) < max(3, MIN_UNIQUE * n_distinct):
            continue
        gaps, unit = np.diff(values), 2 * get_rounding_error(values)
        near = gaps <= 2 * gaps.min() + unit
        if np.sum(counts * (counts - 1)) / 2 > np.sum((counts[1:] * counts[:-1])[near]) + 2:
            return True
    return False


def _exceed_neighbors(rows: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether pairs of equal rows are more frequent than pairs at the next smallest distances.

    The rows are distinct and occur `sizes` times. Distances are sums of rank differences, so that
    the dependence between columns is kept. Sizes are capped, because a single row may be common.
    """
    rng = np.random.default_rng(0)
    # distances of ranks between some distinct rows, in some columns
    kept = rng.permutation(len(rows))[:MAX_PATTERNS]
    columns = rng.permutation(rows.shape[1])[:MAX_COLUMNS]
    ranks = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in rows.T[columns]]
    size = np.minimum(sizes[kept], MAX_MULTIPLICITY).astype(float)
    distance = cdist(*2 * [np.column_stack(ranks)[kept].astype(float)], "cityblock")
    distance[distance == 0] = np.inf
    nearest = distance.min()
    if not np.isfinite(nearest):
        return False
    # pairs of equal rows, and pairs at the next smallest distances
    median = np.median(distance)
    reach = max(1.1 * nearest, REACH)
    n_equal = np.sum(size * (size - 1)) / 2
    n_next = size @ (distance <= reach) @ size / 2 * len(rows) / len(kept)
    # rows that are equal by chance have near neighbors, except for a few categories
    minimum = MIN_EXCESS_GAP if nearest > WIDE_GAP * median else MIN_EXCESS
    return bool(n_equal > minimum * (n_next + 1))


MIN_SAMPLES, MAX_SAMPLES = 40, 50_000
MAX_QUERIES, MAX_TREE_COLUMNS = 500, 6
"""Maximum number of samples whose neighbors among all samples are searched, and maximum number of
columns in which a tree finds them sooner than all distances do."""
SIZES = range(1, 6)
"""Numbers of near-duplicates per sample."""
MIN_COLUMNS, MIN_KNOWN = 2, 0.9
"""Minimum number of columns, and fraction of known values of each."""
NEXT = 10
"""Neighbor ranks used to estimate the intrinsic dimension, `NEXT` and ``2 * NEXT``."""
RARE_RATIO = 0.005
"""Share of uniformly distributed samples with such a large gap after their k nearest neighbors."""
MIN_SHARE = 0.07
"""Minimum fraction of samples with near-duplicates, because a few have them by chance."""
MAX_TIES = 0.01
"""Fraction of equal distances above which samples lie on a grid, where ratios are meaningless."""


def check_near_duplicates(table: TableDescription) -> Iterator[CheckResult]:
    r"""Report samples with a few close neighbors and a gap to the next ones.

    For samples spread evenly in :math:`d` dimensions, the distances :math:`r_k` to the k-th
    neighbor satisfy :math:`P(r_k / r_{k+1} < q) = q^{kd}`. The median of :math:`(r_k / r_{2k})^d`
    is 1/2, from which `d` is estimated. A finding is serious if the targets of close neighbors
    agree (or disagree) far more often than the targets of the next neighbors. Classes that are the
    clusters themselves are not reported.
    """
    if table.groups is not None:
        return
    # columns with enough values that distances between neighbors are meaningful
    n, most = len(table.columns), table.n_known >= MIN_KNOWN * len(table.columns)
    kept = np.flatnonzero(table.is_number & most & (table.n_values > n / 2))
    if len(kept) < MIN_COLUMNS:
        return
    # the distinct complete rows, standardized
    rows = np.flatnonzero(np.isfinite(table.columns[:, kept[table.n_known[kept] < n]]).all(axis=1))
    n_incomplete = n - len(rows)
    if table.n_values[kept].max() - n_incomplete <= MAX_SAMPLES:  # or there are too many rows
        rows = rows[np.unique(find_first_equal(hash_rows(table.columns[np.ix_(rows, kept)])))]
    if not MIN_SAMPLES <= len(rows) <= MAX_SAMPLES:
        few = len(rows) < MIN_SAMPLES
        limit = f"fewer than {MIN_SAMPLES}" if few else f"more than {MAX_SAMPLES}"
        reason = f"near-duplicates ({limit} distinct rows)"
        yield CheckResult("not run", reason)
        return
    points = standardize(table.columns[np.ix_(rows, kept)])
    # distances to the nearest neighbors
    queries = np.arange(len(points))
    if len(points) > MAX_QUERIES:
        queries = np.random.default_rng(0).choice(queries, MAX_QUERIES, replace=False)
    rank = NEXT if len(points) >= 10 * NEXT else NEXT // 2
    algorithm = "brute" if len(kept) > MAX_TREE_COLUMNS else "kd_tree"
    search = NearestNeighbors(n_neighbors=2 * rank + 1, algorithm=algorithm).fit(points)
    distances, neighbors = (array[:, 1:] for array in search.kneighbors(points[queries]))
    ratios = distances[:, :-1] / distances[:, 1:]
    # the intrinsic dimension, from the ratio of two distances
    middle = float(np.median(distances[:, rank - 1] / distances[:, 2 * rank - 1]))
    if not 0 < middle < 1 or np.mean(ratios == 1) > MAX_TIES:
        return
    dimension = np.log(0.5) / np.log(middle)
    # samples with an improbable gap behind their k nearest neighbors
    close = [ratios[:, k - 1] < RARE_RATIO ** (1 / (k * dimension)) for k in SIZES]
    near, k = max(zip(close, SIZES, strict=True), key=lambda one: one[0].sum())
    # one dense part of a small table is one set of near-duplicates
    if near.mean() < MIN_SHARE or near.sum() < MIN_PAIRS * (k + 1):
        return
    if _are_classes(table, rows, queries[near], neighbors[near, :k]):
        return
    # compare the targets of the close neighbors and of the next ones
    targets = _spread_target(table.target)[rows]
    unlike = (targets[queries[near], None] - targets[neighbors[near, : 2 * k]]) ** 2
    within, beyond = unlike[:, :k].sum(), unlike[:, k:].sum()
    by_chance = 2 * targets.var(axis=0).sum() * near.sum() * k
    agree = within < (1 - NEARLY_CONSTANT) * by_chance and within < beyond / 2
    opposite = k == 1 and within > (1 + NEARLY_CONSTANT) * by_chance and within > 1.5 * beyond
    share = f"{100 * near.mean():.0f} % of the samples have {k} near-duplicate{'s' * (k > 1)}"
    relation = " with the same target" if agree else " of another class" if opposite else ""
    yield CheckResult(
        "serious" if agree or opposite else "note",
        share + relation,
        "If the samples are repeated measurements, the error is too "
        f"{'high' if opposite else 'low'}. Pass the measured object of each row, such as "
        "the patient, as groups=.",
    )


def _are_classes(
    table: TableDescription, rows: np.ndarray, samples: np.ndarray, neighbors: np.ndarray
) -> bool:
    """Whether near-duplicates make up most of their class, so that classes are the clusters."""
    if table.target.classes is None:
        return False
    codes = table.target.codes[rows]
    others = np.bincount(codes)[codes[samples]] - 1
    shared = np.sum(codes[neighbors] == codes[samples, None], axis=1)
    return bool(shared.sum() > others.sum() / 2)


MIN_NUMBERED = 10
"""Minimum number of objects that are numbered, or that their rows alone show."""
MAX_SHARE_OF_VALUE = 0.2
"""Maximum fraction of the most frequent value in a feature that identifies objects."""
MIN_SHARE_REPEATED, MIN_REPEATED = 0.1, 5
"""Minimum fraction of rows with a repeated value, and minimum number of repeated values."""
MIN_MEASURED_AGAIN, MIN_ALIKE, MAX_OTHERS = 0.5, 0.5, 50
"""For objects without a name, minimum fraction of rows with a repeated value, and of the
variance of another column that the objects explain, and maximum number of such columns."""
NEARLY_CONSTANT, MOSTLY_CONSTANT = 0.8, 0.5
"""Share of the variance of the target that values explain beyond chance, minimum for a feature,
and for a column outside X. Of pairs of samples with the same value, minimum fraction of pairs with
different classes."""
N_SHUFFLES, MAX_P = 199, 0.005
N_SHUFFLES_OPPOSITE, MAX_P_OPPOSITE = 1999, 0.0005
"""Stricter test of features whose equal values have different classes. A few pairs are enough for
that, so chance produces it in any table of many columns."""
MAX_NEIGHBOR_CORRELATION = 0.5
MIN_OBJECTS, MAX_ROWS_OF_OBJECT = 30, 20
"""Minimum number of values, and maximum mean number of rows of each, of a column that names objects
without another sign. Categories have fewer values in more rows."""
MAX_OF_ONE_VALUE = 0.02
"""Maximum fraction of rows in classes with a single object, if objects may be groups."""
MIN_ONCE = 0.9
"""Minimum fraction of rows that a time within an object identifies."""
OBJECT = re.compile(
    r"(.*[ _.\-])?(id|pid|uid|sid|pat[ _.\-]?id|patient|subject|subj|person|participant|proband|"
    r"respondent|individual|animal|rat|mouse|child|infant|student|pupil|family|household|donor|specimen|user|"
    r"customer|speaker|case|plot|tree|plant|owner|client|member|employee|player|pet)s?"
    r"([ _.\-]?(id|no|nr|num|number|code|name))?|((full|first|last|sur)[ _.\-]?)?name",
    re.IGNORECASE,
)
"""Full names of columns that name objects, even if the objects are sorted by target."""


class Candidate(NamedTuple):
    """A column that may name objects, and its values in the rows that are compared."""

    name: str
    cells: np.ndarray
    is_number: bool
    outside: bool
    """Whether the column is not in X."""
    named: bool
    """Whether it has the name of an identifier."""
    rows: np.ndarray
    values: Values
    targets: np.ndarray

    @property
    def is_listed(self) -> bool:
        """Whether the rows of a feature mostly share their value with another row."""
        minimum = MIN_MEASURED_AGAIN * len(self.rows)
        return not self.outside and _sum_repeated(self.values) >= minimum

    @property
    def rows_by_class(self) -> np.ndarray:
        """Number of rows of each value in each class."""
        return np.array([self.values.sum_rows(target) for target in self.targets.T]).T

    @property
    def makes_class(self) -> bool:
        """Whether one value makes up a class, so that no groups can be made of the values.

        A training set without this value does not have the class. Rare classes do not matter if
        there are two others.
        """
        rows = self.rows_by_class
        n_values = np.count_nonzero(rows, axis=0)
        is_rare = rows[:, n_values == 1].sum() <= MAX_OF_ONE_VALUE * len(self.rows)
        return bool(np.any(n_values == 1) and not (is_rare and np.sum(n_values > 1) >= 2))


def check_identifiers(table: TableDescription) -> Iterator[CheckResult]:
    """Report columns whose values name objects, by their name, their design, or the target.

    A feature is serious if its values nearly determine the target and another sign shows that they
    name objects. Without another sign there is a note, because a numeric target is similar within
    the categories of many features. A column outside X is serious if its values are related to the
    target.
    """
    partitions = set[bytes]()
    for column in _list_candidates(table):
        finding = _judge_candidate(table, column)
        if finding is not None:
            partition = find_first_equal(column.cells).tobytes()  # two columns may name the same
            if partition not in partitions:
                yield finding
            partitions.add(partition)


def _list_candidates(table: TableDescription) -> Iterator[Candidate]:
    """Yield the columns outside X, and the features, whose values repeat as names of objects do.

    Measured numbers, times, and columns whose single value makes up a class do not name objects.
    """
    # a sample of each group, and the first of several equal ones; copies repeat every value
    rows = np.arange(len(table.target))
    if table.groups is not None:
        rows = np.sort(np.unique(table.groups, return_index=True)[1])
    distinct = rows
    if table.first_equal is not None and len(table.first_equal) == len(table.target):
        distinct = rows[np.sort(np.unique(table.first_equal[rows], return_index=True)[1])]
    targets = _spread_target(table.target)
    if not np.any(targets[rows] != targets[rows[:1]]):
        return
    # columns outside X, and features whose values repeat
    columns = [(name, *encode_column(np.asarray(c)), True) for name, c in table.left_out.items()]
    repeats = (table.n_values >= MIN_VALUES) & (table.n_values < table.n_known)
    columns += [
        (str(table.names[p]), table.columns[:, p], str(table.kinds[p]), False)
        for p in np.flatnonzero(repeats).tolist()
    ]
    for name, cells, kind, outside in columns:
        # measured numbers and dates name nothing
        is_number, known = kind != "category", ~np.isnan(cells)
        measured = is_number and np.any(cells[rows] % 1 > 0)
        if measured or kind == "date" or _is_time(name):
            continue
        named = bool(OBJECT.fullmatch(name)) and not (is_number and name.endswith("s"))
        used = rows if outside or named else distinct
        used = used[known[used]]
        values = number_cells(cells[used, None])
        # enough values repeat to name objects, and none of them in too many rows
        repeated = values.size > 1
        enough = _sum_repeated(values) >= MIN_SHARE_REPEATED * len(used)
        enough &= repeated.sum() >= MIN_REPEATED and MIN_VALUES <= len(repeated) < len(used)
        if not enough or not (outside or values.size.max() <= MAX_SHARE_OF_VALUE * len(used)):
            continue
        one = Candidate(name, cells, is_number, outside, named, used, values, targets[used])
        if not (is_number or outside or named) or not one.makes_class:
            yield one


def _judge_candidate(table: TableDescription, column: Candidate) -> CheckResult | None:
    """Return a finding about a column that names objects or is related to the target, if it is."""
    values, classes = column.values, table.target.classes is not None
    # signs that the values name objects: a design with repeats, or consecutive numbers
    design = column.is_listed and _is_design(table, column)
    # numbers from 1 to m, with equally many rows
    numbered = (
        classes
        and len(values.size) >= MIN_NUMBERED
        and bool(values.size.min() == values.size.max() and np.all(np.diff(values.number) == 1))
    )
    unsigned = column.is_number and not (column.named or design or numbered)
    if unsigned and _are_neighbors_similar(values, column.targets):
        return None  # a measurement
    finding = _relate_to_target(column, table.target)
    if finding is None:
        grouped = column.is_listed and (design or column.named) and not column.makes_class
        return _describe_groups(column) if grouped else None
    if finding.outcome != "serious" or column.outside or column.named:
        return finding
    # a feature without a name needs another sign: many objects, numbers or times within objects
    many = classes and len(values.size) >= MIN_OBJECTS
    many = many and len(column.rows) <= MAX_ROWS_OF_OBJECT * len(values.size)
    sign = many or (numbered and column.is_number) or _has_time_within(table, column)
    if column.is_listed and sign and not column.makes_class:
        return finding
    decides = classes and np.all(np.count_nonzero(column.rows_by_class, axis=1) == 1)
    lead = f"Check {column.name!r} first: alone it predicts the class without error"
    may_name = f" If its values name objects, pass {column.name!r} as groups."
    return replace(
        finding,
        lead=lead if decides else "",
        title="Category that determines the target",
        outcome="note",
        advice="Check that it is known before the target, and not derived from it."
        f"{'' if column.makes_class else may_name}",
    )


def _describe_groups(column: Candidate) -> CheckResult:
    """Return the finding of a feature that names objects, whatever their targets are."""
    return CheckResult(
        "note",
        f"the values of {column.name!r} look like names of objects that were measured repeatedly "
        f"({len(column.values.size)} values in {len(column.rows)} rows)",
        "Rows of an object are in training and test sets, so errors may be too low for new "
        f"objects. {_advise_groups(column.name)} and remove it from the features.",
        title="Probable groups",
    )


def _is_time(name: str) -> bool:
    """Whether a column has the name of a time."""
    return TIME.fullmatch(re.sub(r"[_.\-]+", " ", name)) is not None


def _has_time_within(table: TableDescription, column: Candidate) -> bool:
    """Whether a date or time column differs between rows with the same value of the column."""
    rows, cells = column.rows, column.cells[column.rows]
    for position in np.flatnonzero(table.n_known > 1).tolist():
        if table.kinds[position] == "date" or _is_time(str(table.names[position])):
            pairs = np.column_stack([cells, table.columns[rows, position]])
            if len(np.unique(pairs, axis=0)) >= MIN_ONCE * len(rows):
                return True
    return False


def _sum_repeated(values: Values) -> int:
    """Return the number of rows whose value occurs more than once."""
    return int(values.size[values.size > 1].sum())


def _is_design(table: TableDescription, column: Candidate) -> bool:
    """Whether values occur equally often, or in blocks of rows with similar other columns.

    Numbers that order another column are times or doses, and not objects.
    """
    rows, values, in_file = column.rows, column.values, column.values.of_cell[0]
    # each value occurs in consecutive rows only
    in_blocks = np.count_nonzero(np.diff(in_file)) + 1 == len(values.size)
    regular = in_blocks or values.size.min() == values.size.max()
    if len(values.size) < MIN_NUMBERED or not regular:
        return False
    # other numbers, and the target
    others = table.is_number & (table.n_values > 2) & (table.n_known == len(table.columns))
    others &= np.array([str(other) != column.name for other in table.names])
    columns = table.columns[np.ix_(rows, np.flatnonzero(others)[:MAX_OTHERS])]
    columns = np.column_stack([standardize(columns), column.targets])
    minimum = max(MIN_ALIKE, 4 / np.sqrt(max(1, len(rows) - len(values.size))))
    return any(
        _measure_agreement(values, other[:, None])[0] >= minimum
        and not (column.is_number and _are_neighbors_similar(values, other[:, None]))
        for other in columns.T
    )


def _spread_target(target: Target) -> np.ndarray:
    """Return the target as columns, an indicator of each class, or the ranks of numbers."""
    if target.classes is not None:
        return np.eye(len(target.classes))[target.codes]
    return rankdata(target.y.astype(float), axis=0).reshape(len(target), -1)


def _measure_agreement(values: Values, targets: np.ndarray) -> tuple[float, float]:
    """Return the fraction of the variance of the targets that the values explain, and the sum over
    values of the squared sum of their targets."""
    n, squares, within, total = len(targets), 0.0, 0.0, 0.0
    for target in targets.T:
        sums, square = values.sum_rows(target), float(target @ target)
        squares += float(sums @ sums)
        within += square - float(np.sum(sums**2 / values.size))
        total += square - float(sums.sum()) ** 2 / n
    # both variances have their degrees of freedom, as in the adjusted R2
    within /= n - len(values.size)
    return (1 - within / (total / (n - 1)) if total > 0 else 0.0), squares


def _relate_to_target(column: Candidate, target: Target) -> CheckResult | None:
    """Describe a column whose repeated values have similar or different targets.

    A feature is described only if they are nearly always equal, or different.
    """
    values, targets, outside = column.values, column.targets, column.outside
    sizes, n, classes = values.size, len(targets), target.classes is not None
    if len(sizes) <= targets.shape[1]:
        return None
    # agreement within values, 0 by chance; of classes, share of pairs of a value that differ
    agreement, squares = _measure_agreement(values, targets)
    differing = 1 - (squares - n) / float(np.sum(sizes * (sizes - 1.0))) if classes else np.nan
    opposite, n_shuffles, max_p = agreement <= 0, N_SHUFFLES, MAX_P
    serious = agreement >= (MOSTLY_CONSTANT if outside else NEARLY_CONSTANT)
    if opposite:
        # time points, doses and arms of a balanced design have every class several times
        serious = classes and sizes.max() <= targets.shape[1] and differing >= NEARLY_CONSTANT
        if not outside:
            n_shuffles, max_p = N_SHUFFLES_OPPOSITE, MAX_P_OPPOSITE
    # a feature with a weak relation to the target is an ordinary predictor
    if not outside and not serious:
        return None
    # the same measure for shuffled targets
    rng, sign, n_as_extreme = np.random.default_rng(0), np.sign(agreement), 0
    for _ in range(n_shuffles):
        by_chance = _measure_agreement(values, rng.permutation(targets))[0]
        n_as_extreme += sign * by_chance >= sign * agreement - 1e-9
        if (1 + n_as_extreme) / (1 + n_shuffles) > max_p:
            return None
    # how often the targets of a value are alike, or different
    label = "class" if classes else "target"
    strength = differing if opposite else agreement
    how = "nearly always" if strength >= NEARLY_CONSTANT else "mostly"
    how = (
        "always"
        if strength > 1 - 1e-9
        else how
        if serious
        else "more often than expected by chance"
    )
    relation = f"the same {label}" if classes or serious else "similar targets"
    relation = f"different {label}{'es' if classes else 's'}" if opposite else relation
    relation = f"{how} have {relation}" if serious else f"have {relation} {how}"
    side = "high" if opposite else "low"
    direction = f"errors are too {side}" if serious else "the samples are not independent"
    return CheckResult(
        "serious" if serious else "note",
        f"{_sum_repeated(values)} of {n} samples share a value of {column.name!r}, and samples "
        f"with the same value {relation}",
        f"If they are repeated measurements of an object, {direction}. "
        f"{_advise_groups(column.name)}{'' if outside else ' and remove it from the features'}.",
        title="" if serious else "Shared values",
    )


def _are_neighbors_similar(values: Values, targets: np.ndarray) -> bool:
    """Whether mean targets of neighboring values are similar, by lag-1 autocorrelation."""
    means = np.array([values.sum_rows(target) / values.size for target in targets.T])
    means -= means.mean(axis=1, keepdims=True)
    minimum = min(MAX_NEIGHBOR_CORRELATION, 3 / np.sqrt(len(values.size)))
    return bool(np.sum(means[:, 1:] * means[:, :-1]) > minimum * np.sum(means**2))


def _advise_groups(name: str) -> str:
    return f"Pass {name!r} as groups (--groups {shlex.quote(str(name))}, or groups= in Python)"
