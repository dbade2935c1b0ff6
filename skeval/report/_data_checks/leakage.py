"""Checks of features that contain the target, or traces of it, or from which it is computed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import comb, gammaln
from scipy.stats import rankdata
from sklearn.linear_model import OrthogonalMatchingPursuit
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skeval._resampling.sampling_units import Target
from skeval.report._data_checks.table import (
    MIN_VALUES,
    TOLERANCE,
    TableDescription,
    describe_table,
    get_rounding_error,
    get_tolerance,
    number_cells,
    standardize,
)
from skeval.report._page import CheckResult
from skeval.utils._text import name_label

MAX_CHANCE = 1e-3
"""Maximum probability of a finding if a table has no such fault."""
MIN_KNOWN, MIN_EXACT, MIN_EXACT_OF_CLASS = 0.5, 0.95, 0.9
"""Minimum fraction of known values of a copy of the target, and minimum fraction of these that
agrees with the target, overall, and in each class and each predicted class."""
MAX_WRONG_OF_100, MIN_OF_CLASS = 3, 8
"""Maximum number of wrong rows of 100 if a column decides a class, and minimum size of the class.
"""
MAX_FEW_CLASSES, MAX_CLASSES = 4, 100
"""Maximum number of classes of which two levels tell one without being a trait of it, and maximum
number of classes that columns may decide, which are the largest."""
MAX_SCREENED, MIN_SCREENED, MAX_SCREENED_OF_CLASS = 20_000, 200, 500
"""Number of rows in which features are screened, and its minimum and maximum for a class."""
MIN_RANGE = 0.15, 0.3
"""Minimum range of the difference of the distribution functions of a class and the rest, for
features with few and with many values. By chance it is a tenth."""
MAX_INTERVALS, MIN_AREA, MAX_SAME_ORDER = 5, 0.97, 0.95
"""Maximum number of intervals of values of a number, each with one class, area under the curve of
another column in which the classes are far apart, and the rank correlation within the classes above
which both are one measurement."""
MIN_CORRELATION, MIN_DISTINCT = 0.75, 10
"""Minimum rank correlation of a copy with a numeric target, and number of values of a feature that
orders the targets."""
MAX_SUFFICIENT, N_HELD_OUT, MIN_CORRECT, MIN_EXPLAINED = 3, 5, 0.98, 0.999
"""Maximum number of features that predict the target without error, number of folds, and minimum
share of held-out rows that they predict, or of the variance that they explain."""
MAX_COMBINATIONS, MAX_FITTED = 20, 5000
"""Maximum number of combinations of values of coded features, and of rows that are fitted."""
N_TRIMS, SLACK, MAX_ERROR = 5, 1.5, 0.1
"""Number of least squares fits, factor of the rounding error for the error of their slope, and
maximum rounding error of a copy or combination, in standard deviations of the target."""
MIN_KNOWN_PART, MAX_COLUMNS, MAX_PARTS, MIN_EXACT_FORMULA = 0.9, 500, 20, 0.99
"""Minimum fraction of known values of a part of the target, maximum number of columns that are
searched for parts, and of parts, minimum fraction of rows that fulfill a formula."""
ROWS_PER_COLUMN, MIN_SPARE_ROWS = 2, 10
"""Number of rows required for an exact linear combination, per column, and in addition."""
MAX_CHANCE_OF_MEANS = 0.01
"""Maximum probability that a feature is this close to the means of the target by chance."""
MAX_MERGED, N_CANDIDATES = 5, 10
"""Maximum number of categories of the same mean, and number of feature values from which the
smoothing constant is computed, by trial."""
MIN_SLOPE, MIN_FITTED = 0.25, 0.8
"""Minimum slope of the target on its smoothed means, which is 1 or more if all rows are means, and
Fraction of the samples whose values must be smoothed means of the target."""
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


# --- one feature


def check_target_copies(table: TableDescription) -> Iterator[CheckResult]:
    """Report features that are a function of a numeric target, or have one value per class."""
    advice = "Remove it and evaluate again: the model can predict the target from it."
    # a numeric target is a linear or another function of a feature
    if table.target.classes is None:
        related = [(p, x, y) for p, x, y in _list_related(table) if _is_function(x, y)]
        linear = [p for p, x, y in related if _is_linear(x, y, np.asarray)]
        others = [p for p, _, _ in related if p not in linear]
        if linear:
            yield CheckResult("serious", f"{table.name(linear)} is a copy of the target", advice)
        if others:
            evidence = f"the target is a simple function of {table.name(others)}"
            yield CheckResult("serious", evidence, advice, title="Function of a feature")
        return
    copies = _list_codings(table)
    if not copies:
        return
    # the exact ones; if there are none, those with the fewest rows that differ
    n_other = min(copies.values())
    best = [position for position, n_rows in copies.items() if n_rows == n_other]
    evidence = f"{table.name(best)} is {'nearly ' if n_other else ''}a copy of the target"
    if n_other:
        evidence += f" ({n_other} row{'s differ' if n_other > 1 else ' differs'})"
        advice += " It may stay if it is a measurement that is known before the target."
    yield CheckResult("serious", evidence, advice)


def _list_related(table: TableDescription) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield position, known values and targets of features related to a numeric target."""
    for position in np.flatnonzero(np.abs(table.correlations) > MIN_CORRELATION).tolist():
        column = table.columns[:, position]
        known = np.isfinite(column)
        own = table.target.y[known].astype(float)
        # enough rows, and more than chance orders
        codes = np.unique(own, return_inverse=True)[1].reshape(-1)
        n_orders = gammaln(len(codes) + 1) - gammaln(np.bincount(codes) + 1).sum()
        chance = table.columns.shape[1] * np.exp(np.log(2) - n_orders)
        if known.mean() >= MIN_KNOWN and chance <= MAX_CHANCE:
            yield position, column[known], own


def _is_function(column: np.ndarray, y: np.ndarray) -> bool:
    """Whether a target is a simple function of a feature."""
    return any(_is_linear(column, y, transform) for transform in TRANSFORMS)


def _list_exact(table: TableDescription) -> list[int]:
    """Return the features whose neighboring values have nearly equal ranks of numeric targets."""
    found = np.flatnonzero(table.is_number & (2 * table.n_values >= len(table.columns)))
    # in some of the rows, and then in all
    rows = np.random.default_rng(0).permutation(len(table.columns))
    for some, explained in ((rows[:MAX_SCREENED_OF_CLASS], 0.9), (rows, MIN_EXPLAINED)):
        ranks = rankdata(table.target.y[some])
        steps = (np.diff(ranks[np.argsort(table.columns[some, p])]) for p in found.tolist())
        # the squared differences of ranks that are explained by the feature
        least = 2 * (1 - explained) * len(rows[some]) * ranks.var()
        found = found[[bool(each @ each < least) for each in steps]]
    return found.tolist()


def _is_linear(
    column: np.ndarray, y: np.ndarray, transform: Callable[[np.ndarray], np.ndarray]
) -> bool:
    """Whether a target is a linear function of a transformed feature, up to rounding.

    Nearly all rows must agree within half a unit of the last decimals of both. This unit must be
    small compared with the spread of the target.
    """
    if len(np.unique(y)) < 4 or len(np.unique(column)) < 4:
        return False
    # the transformed feature, and its rounding error
    half = get_rounding_error(column)
    x, low, high = (transform(column + step) for step in (0.0, -half, half))
    if not np.isfinite([x, low, high]).all() or not x.std() > 0:
        return False
    # regression of the coarser on the other, as residuals of the target
    unit = get_rounding_error(y)
    if half / column.std() > unit / y.std():
        weights, residual = _fit_most_rows(y[:, None], x)
        slope = 1 / np.abs(weights[0])
        residual = slope * residual
    else:
        weights, residual = _fit_most_rows(x[:, None], y)
        slope = np.abs(weights[0])
    exact = np.full(len(y), 10 * max(get_tolerance(column), get_tolerance(y)) * y.std())
    rounded = SLACK * (unit + slope * np.abs(high - low) / 2)
    return any(_agrees_up_to(error, residual, y) for error in (exact, rounded))


def _count_by_class(
    table: TableDescription, positions: np.ndarray, codes: np.ndarray, n_classes: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield columns, and how often each value of the column occurs in each class."""
    for block, values in table.number_cells(positions):
        cells = (values.of_cell * n_classes + codes).reshape(-1)
        counts = np.bincount(cells, minlength=n_classes * (len(values.size) + 1)).astype(float)
        for place, position in enumerate(block.tolist()):
            yield position, counts.reshape(-1, n_classes)[values.of_column(place)]


def _list_codings(table: TableDescription) -> dict[int, int]:
    """Return the features with one value per class, and the number of rows in which each differs.

    Missing values are ignored, and a few rows may differ.
    """
    codes, n_classes = table.target.codes, table.target.n_classes
    copies: dict[int, int] = {}
    known = table.n_known >= MIN_KNOWN * len(table.columns)
    same = np.flatnonzero(known & (table.n_values == n_classes))
    for position, counts in _count_by_class(table, same, codes, n_classes):
        # each class has a value of its own
        agreeing, sizes, n = counts.max(axis=0), counts.sum(axis=0), counts.sum()
        is_copy = agreeing.sum() >= MIN_EXACT * n
        is_copy &= np.all(agreeing >= MIN_EXACT_OF_CLASS * sizes)
        is_copy &= len(set(counts.argmax(axis=0).tolist())) == n_classes
        # number of codes, and of ways in which the other rows may differ
        n_ways = gammaln(n_classes + 1) + _log_choose(n, agreeing.sum())
        n_orders = gammaln(n + 1) - gammaln(sizes + 1).sum()
        if is_copy and len(table.names) * np.exp(n_ways - n_orders) <= MAX_CHANCE:
            copies[position] = int(n - agreeing.sum())
    return copies


RULES = {
    "missing": ("serious", "missing values of {} predict"),
    "frequent": ("serious", "the most frequent value of {} predicts"),
    "levels": ("serious", "{} alone predicts"),
    "order": ("note", "{} alone predicts"),
}
"""Ways in which a column decides the class, with their severity and the start of a sentence."""


def check_telling_features(table: TableDescription) -> Iterator[CheckResult]:
    """Report features that alone determine the class, or the order of a numeric target.

    A finding is serious if missing values, the most frequent value or the levels determine a
    class. If a threshold or a few intervals determine it, the feature may be a good measurement.
    It then leads the verdict, unless the classes are also far apart in another column. With
    several classes, it must determine two to lead. Two levels that tell one of many classes may be
    a trait of this class, and lead the verdict.
    """
    advice = "Check that it is known before the target, and not derived from it."
    if table.target.classes is None:
        related = {p: xy for p, *xy in _list_related(table)}
        equal = {p for p, xy in related.items() if _is_function(*xy)}
        monotone = []
        for position, (column, y) in related.items():
            # the values in the order of the targets, or in the opposite one
            ordered = (x[np.lexsort((x, y))] for x in (column, -column))
            if position not in equal and len(np.unique(column)) >= MIN_DISTINCT:
                monotone += [position] * any(np.all(np.diff(values) >= 0) for values in ordered)
        exact = [p for p in _list_exact(table) if p not in equal.union(monotone)]
        hows = "gives the order of the targets", "predicts the target nearly exactly"
        for places, how in zip((monotone, exact), hows, strict=True):
            if places:
                lead = f"Check {str(table.names[places[0]])!r} first: alone it {how}"
                yield CheckResult("note", f"{table.name(places)} alone {how}", advice, lead)
        return
    # the fraction of wrong rows of each class that a feature decides
    copies, n_classes = _list_codings(table), table.target.n_classes
    decided: dict[tuple[str, int], dict[int, float]] = {}
    for position, rule, code, wrong in _list_deciding(table):
        if position not in copies:
            decided.setdefault((rule, position), {})[code] = wrong
    # features with the same rule for the same classes, the best one first
    found: dict[tuple[str, tuple[int, ...]], list[tuple[float, int]]] = {}
    for (rule, position), shares in decided.items():
        found.setdefault((rule, tuple(shares)), []).append((sum(shares.values()), position))
    for (rule, codes), features in sorted(found.items(), key=lambda one: [*RULES].index(one[0][0])):
        outcome, start = RULES[rule]
        features.sort()
        positions, what = [position for _, position in features], "the class"
        if n_classes > 2 and len(codes) < n_classes:
            labels = ", ".join(name_label(table.target.classes[code]) for code in codes)
            what = f"class{'es' if len(codes) > 1 else ''} {labels} against the rest"
        (least, best), most = features[0], features[-1][0]
        share = _write_share(most)
        share = share if least == most else f"in at least {share.removeprefix('in ')}"
        evidence = f"{start.format(table.name(positions))} {what} {share}"
        # a threshold that no other column confirms; a measurement may separate one of many classes
        lead, one_of_many = "", len(codes) == 1 < n_classes - 1
        apart = rule == "order" and all(
            _lie_apart(table, best, code) for code in _list_ends(table, best, codes)
        )
        if apart and one_of_many:
            continue
        # two levels may be a trait of one of many classes
        trait = rule == "levels" and len(codes) == 1 and n_classes > MAX_FEW_CLASSES
        if trait and table.n_values[positions].max() == 2:
            outcome, rule, one_of_many = "note", "order", False
        if rule == "order" and not (apart or one_of_many):
            lead = f"Check {str(table.names[best])!r} first: alone it predicts {what} "
            lead += _write_share(least)
        title = "Nearly perfect feature" if most else ""
        yield CheckResult(outcome, evidence, advice, lead, title=title)


def _write_share(wrong: float) -> str:
    return f"in {np.floor(1000 * (1 - wrong)) / 10:.1f} % of the rows" if wrong else "without error"


def _list_deciding(table: TableDescription) -> Iterator[tuple[int, str, int, float]]:
    """Yield position, rule, class and fraction of wrong rows of features that decide a class."""
    target, (n, n_columns) = table.target, table.columns.shape
    sizes = np.bincount(target.codes, minlength=target.n_classes)
    classes = np.flatnonzero(np.minimum(sizes, n - sizes) >= MIN_OF_CLASS).tolist()
    classes = classes[1:] if target.n_classes == 2 else classes  # a class or the other
    classes = sorted(classes, key=lambda code: -sizes[code])[:MAX_CLASSES]
    # the number of rules that are tried, as in Bonferroni's correction
    log_tests = np.log(2 * n_columns * target.n_classes)
    # the position of each class among these, and one position for all others
    places = np.full(target.n_classes, len(classes))
    places[classes] = np.arange(len(classes))
    codes = places[target.codes]
    sizes = np.bincount(codes, minlength=len(classes) + 1)
    for position, counts in _count_by_class(table, _screen(table, classes), codes, len(sizes)):
        missing, total = sizes - counts.sum(axis=0), counts.sum(axis=1)
        is_number = bool(table.is_number[position])
        for column, code in enumerate(classes if len(counts) else ()):
            own, lost = counts[:, column], (missing[column], missing.sum() - missing[column])
            rule, wrong = _find_rule(own, total - own, lost, is_number, log_tests)
            if rule:
                yield position, rule, code, wrong


def _screen(table: TableDescription, classes: Sequence[int]) -> np.ndarray:
    """Return the features that may decide one of the classes, by some rows of each class.

    A rule selects at least nine tenths of the known values of the class, and at most one tenth of
    the others. Its values, or all others, are in at most three intervals of a few values, and in
    two of many. So the difference of the two distribution functions has a range (the statistic of
    Kuiper) of at least a third, or half, of .8. Missing values decide a class by their fractions.
    Rare classes have more weight in these rows than in the table. If they hide one class, they do
    not hide another.
    """
    # random rows of each class
    target = table.target
    n_rows = int(np.clip(MAX_SCREENED // target.n_classes, MIN_SCREENED, MAX_SCREENED_OF_CLASS))
    shuffled = np.random.default_rng(0).permutation(len(target))
    shuffled = shuffled[np.argsort(target.codes[shuffled], kind="stable")]
    sizes = np.bincount(target.codes, minlength=target.n_classes)
    within = np.arange(len(target)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = shuffled[within < n_rows]
    drawn = np.minimum(sizes, n_rows)
    least = np.where(table.n_values < MIN_VALUES, *MIN_RANGE)
    passed = np.zeros(len(least), dtype=bool)
    for block in table.list_blocks(np.arange(len(least)), len(rows)):
        columns = table.columns[np.ix_(rows, block)].T
        # the known values in ascending order, and missing ones last
        order = np.argsort(columns, axis=1)
        columns = np.take_along_axis(columns, order, axis=1)
        # distribution functions are compared after the last of several equal values
        is_last = np.diff(columns, axis=1, append=np.inf) != 0
        codes = target.codes[rows][order]
        known = ~np.isnan(columns)
        total = np.cumsum(known, axis=1)
        for code in classes:
            # the numbers of known values of the class and of the rest, up to each value
            own = np.cumsum(known & (codes == code), axis=1)
            rest = total - own
            difference = np.where(is_last, own / own[:, -1:] - rest / rest[:, -1:], 0.0)
            # statistic of Kuiper, and the difference of the fractions of known values
            reach = difference.max(axis=1) - difference.min(axis=1)
            lost = own[:, -1] / drawn[code] - rest[:, -1] / (len(rows) - drawn[code])
            passed[block] |= np.fmax(reach, np.abs(lost)) >= least[block]
    return np.flatnonzero(passed)


def _find_rule(
    own: np.ndarray, rest: np.ndarray, lost: tuple[int, int], is_number: bool, log_tests: float
) -> tuple[str, float]:
    """Return the first rule by which a column decides a class, and the fraction of wrong rows.

    The values, in ascending order, occur `own` times in the class and `rest` times in the rest.
    `lost` contains the numbers of missing values of both. A few rows may be wrong. The rule must
    not be explained by chance, given the number of possible rules, of choices of the wrong rows,
    and of all orders of the rows.
    """
    n_values, most, frequent = len(own), own > rest, int((own + rest).argmax())
    below, below_rest = np.cumsum(own), np.cumsum(rest)
    known = int(below[-1]), int(below_rest[-1])
    # the best threshold, and the intervals of pure values
    wrong_by_cut = np.minimum(known[0] - below + below_rest, below + known[1] - below_rest)
    cut, n_intervals = wrong_by_cut.argmin(), 1 + np.sum(np.diff(most))
    by_levels = own[most].sum(), rest[most].sum()
    level_wrong = known[0] - by_levels[0] + by_levels[1]
    has_levels = n_values < MIN_VALUES
    if is_number and n_values > 2:
        has_levels &= bool(level_wrong < wrong_by_cut[cut])
    few_intervals = bool(level_wrong == 0 and n_intervals <= MAX_INTERVALS)
    # rows of the class and of the rest that each rule selects, and the number of its choices
    rules = [
        ("missing", lost, 0.0, True),
        ("frequent", (own[frequent], rest[frequent]), 0.0, n_values > 2),
        ("levels", by_levels, n_values * np.log(2), has_levels),
        ("order", (below[cut], below_rest[cut]), np.log(n_values), is_number),
        ("order", by_levels, n_intervals * np.log(n_values), is_number and few_intervals),
    ]
    for rule, (inside, outside), log_ways, applies in rules:
        sizes = known if rule != "missing" else (known[0] + lost[0], known[1] + lost[1])
        wrong = min((sizes[0] - inside, outside), (inside, sizes[1] - outside), key=sum)
        n, n_wrong = sum(sizes), int(sum(wrong))
        # a column that is known in one class only may have missing values there
        one_sided = rule == "missing" and 0 in known
        if not applies or min(sizes) < MIN_OF_CLASS:
            continue
        # 3 of 100 rows, rounded up, so 1 of up to 33 rows, and 2 of 60
        if n_wrong > -(-MAX_WRONG_OF_100 * n // 100) and not one_sided:
            continue
        if rule != "missing" and n < MIN_KNOWN * (n + sum(lost)):
            continue
        # few rows are wrong in each class, and in each predicted class
        (missed, extra), allowed = wrong, 1 - MIN_EXACT_OF_CLASS
        predicted = [(extra, sizes[0] - missed + extra), (missed, sizes[1] - extra + missed)]
        if any(w > allowed * size for w, size in predicted) and not one_sided:
            continue
        allowed = allowed if rule != "missing" else 1 - MIN_KNOWN
        if missed > allowed * sizes[0] or extra > allowed * sizes[1]:
            continue
        chance = log_tests + log_ways + _log_choose(n, n_wrong) - _log_choose(n, sizes[0])
        if chance <= np.log(MAX_CHANCE):
            return rule, n_wrong / n
    return "", 1.0


def _list_ends(table: TableDescription, position: int, codes: Sequence[int]) -> Collection[int]:
    """Return the classes with the lowest and highest median of a column, if it decides them."""
    known = np.isfinite(table.columns[:, position])
    column, own = table.columns[known, position], table.target.codes[known]
    classes = np.unique(own)  # a class may have missing values only
    medians = [np.median(column[own == code]) for code in classes]
    return {int(classes[np.argmin(medians)]), int(classes[np.argmax(medians)])} & set(
        codes
    ) or codes


def _lie_apart(table: TableDescription, position: int, code: int) -> bool:
    """Whether a column of another order within the classes separates a class nearly as well."""
    own, column = table.target.codes == code, table.columns[:, position]
    for other in np.flatnonzero(table.is_number).tolist():
        rows = np.isfinite(column) & np.isfinite(table.columns[:, other])
        if other == position or min(rows[own].sum(), rows[~own].sum()) < MIN_OF_CLASS:
            continue
        # area under the curve, and correlation of ranks without the means of class and rest
        ranks = rankdata(table.columns[rows][:, [position, other]], axis=0)
        difference = ranks[own[rows]].mean(axis=0) - ranks[~own[rows]].mean(axis=0)
        if abs(difference[1]) > (2 * MIN_AREA - 1) * len(ranks) / 2:
            ranks -= np.where(own[rows][:, None], difference, 0.0)
            if abs(np.corrcoef(ranks.T)[0, 1]) < MAX_SAME_ORDER:
                return True
    return False


def is_coded(table: TableDescription, features: Sequence[int]) -> bool:
    """Whether features that determine the target have few values, as categories do.

    A numeric feature that rises or falls with the target may be a rounded measurement.
    """
    n_combinations = len(np.unique(table.columns[:, features], axis=0))
    if table.n_values[features].max() >= MIN_VALUES or n_combinations > MAX_COMBINATIONS:
        return False
    if len(features) > 1 or not table.is_number[features[0]]:
        return True
    # along a measurement, each class is usually one interval of values
    in_order = table.target.codes[np.argsort(table.columns[:, features[0]], kind="stable")]
    return bool(np.count_nonzero(np.diff(in_order)) >= table.target.n_classes > 0)


def _log_choose(n: Any, k: Any) -> Any:
    """Return the logarithm of the number of subsets of `k` of `n`."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


# --- several features


def check_perfection(
    X: Any, target: Target, feature_names: Sequence[str] | None
) -> Iterator[CheckResult]:
    """Report predictions without errors, with the features responsible for them.

    The finding is serious if these features are categories or codes, because a measurement may
    separate the classes.
    """
    table = describe_table(X, target, None, feature_names, {})
    features = _list_sufficient_features(table) if table.columns.shape[1] else []
    classes, cause, outcome = target.classes is not None, "", "note"
    if features:
        verb = "predicts" if len(features) == 1 else "together predict"
        how = "without error" if classes else "nearly exactly"
        cause = f"{table.name(features).removeprefix('each of the ')} {verb} the target {how}"
        # a measurement may separate the classes without leakage
        outcome = "serious" if is_coded(table, features) else "note"
    yield CheckResult(
        outcome,
        cause or f"{'every prediction' if classes else 'nearly every number'} is correct",
        "Check that no feature is derived from the target, or known only after it.",
        code="perfect",
        title="Perfect predictions",
    )


def _list_sufficient_features(table: TableDescription) -> list[int]:
    """Return up to three features, or indicators, that predict the target without error, or none.

    A tree of the few most important features must predict held-out rows. A single sufficient
    feature is preferred. For a numeric target, features may also be added to a linear combination
    by their correlation with its residual.
    """
    # some of the rows, and the median in place of missing values
    kept, n = np.flatnonzero(table.n_values > 1), len(table.columns)
    if n < 2 * N_HELD_OUT or not len(kept):
        return []
    rows = np.sort(np.random.default_rng(0).permutation(n)[:MAX_FITTED])
    columns = table.columns[np.ix_(rows, kept)]
    middle = np.nan_to_num(np.nanmedian(columns, axis=0))
    columns = standardize(np.where(np.isnan(columns), middle, columns))
    # linear combinations of a few columns, for a numeric target
    tree: Any = DecisionTreeClassifier(random_state=0)
    y, score, enough = table.target.codes[rows], accuracy_score, MIN_CORRECT
    if table.target.classes is None:
        y, score, enough = table.target.y[rows].astype(float), r2_score, MIN_EXPLAINED
        tree = DecisionTreeRegressor(random_state=0)
        for n_features in range(1, 1 + min(MAX_SUFFICIENT, len(kept))):
            greedy = OrthogonalMatchingPursuit(n_nonzero_coefs=n_features).fit(columns, y)
            if greedy.score(columns, y) > MIN_EXPLAINED:
                return kept[np.flatnonzero(greedy.coef_)].tolist()
    # a tree of the most important features, or of the indicators of categories
    importance = tree.fit(columns, y).feature_importances_
    order = np.argsort(-importance)
    candidates = [order[k : k + 1] for k in range(MAX_SUFFICIENT)]
    candidates += [order[:n_features] for n_features in range(2, 1 + MAX_SUFFICIENT)]
    candidates += [np.flatnonzero((importance > 0) & (table.n_values[kept] == 2))]
    folds = KFold(N_HELD_OUT, shuffle=True, random_state=0)
    for features in filter(len, candidates):
        predicted = cross_val_predict(tree, columns[:, features], y, cv=folds)
        if score(y, predicted) >= enough:
            return kept[features].tolist()
    return []


def check_target_formula(table: TableDescription) -> Iterator[CheckResult]:
    """Report a numeric target that is a sum or product of several features.

    In nearly all rows, the target or its logarithm is a linear combination of columns or of their
    logarithms, up to the rounding of the target and of the columns.
    """
    # some of the rows, and columns that vary
    n, fewest = len(table.columns), ROWS_PER_COLUMN * min(len(table.names), MAX_COLUMNS)
    rows = np.sort(np.random.default_rng(0).permutation(n)[: max(MAX_FITTED // 5, 2 * fewest)])
    usable = table.n_known >= MIN_KNOWN_PART * n
    usable &= (table.n_values > 1) & (table.is_number | (table.n_values == 2))
    if not 2 <= usable.sum() <= MAX_COLUMNS:
        return
    positions = np.flatnonzero(usable)
    columns, y = table.columns[np.ix_(rows, positions)], table.target.y[rows].astype(float)
    known = np.isfinite(columns)
    for formula in ("weighted sum", "product"):
        # the fewest columns that give the target, or their logarithms
        allowed = np.fmax.reduce(columns) > np.fmin.reduce(columns)
        if formula == "product":
            allowed &= np.all((columns > 0) | ~known, axis=0) & (y.min() > 0)
        # a formula can be evaluated only in rows without missing values
        complete = known[:, allowed].all(axis=1)
        parts = _find_parts(columns[complete][:, allowed], y[complete], formula == "product")
        if len(parts) > 1:
            named = table.name(positions[allowed][parts].tolist()).removeprefix("each of the ")
            yield CheckResult(
                "serious",
                f"the target is a {formula} of {named}, up to rounding",
                "Remove these features, unless they are known before the target.",
            )
            return


def _find_parts(columns: np.ndarray, y: np.ndarray, logarithms: bool) -> list[int]:
    """Return the columns with a part in a linear combination that gives the target up to rounding.

    Columns are added in the order of their weights until they give the target in nearly all rows.
    The list is empty if even all columns do not suffice.
    """
    n, p = columns.shape
    if p < 2 or n < ROWS_PER_COLUMN * p + MIN_SPARE_ROWS or not y.std() > 0:
        return []
    # rounding errors, relative ones for logarithms
    tolerance = max(get_tolerance(column) for column in (y, *columns.T))
    unit = np.full(n, get_rounding_error(y))
    errors = np.array([[get_rounding_error(column) for column in columns.T]])
    if logarithms:
        errors, unit = errors / columns, unit / y
        columns, y = np.log(columns), np.log(y)
    spread = columns.std(axis=0)
    if not np.all(spread > 0):
        return []
    # weights of standardized columns can be compared
    columns, errors = (columns - columns.mean(axis=0)) / spread, errors / spread
    exact = np.full(n, 10 * tolerance * y.std())

    def fit(parts: np.ndarray) -> tuple[bool, np.ndarray]:
        """Return whether nearly all rows agree up to rounding, and the weights."""
        weights, residual = _fit_most_rows(columns[:, parts], y)
        rounded = SLACK * unit + errors[:, parts] @ np.abs(weights)
        agree = [_agrees_up_to(e, residual, y, MIN_EXACT_FORMULA) for e in (exact, rounded)]
        return any(agree), weights

    # if all columns do not give the target, no part of them does
    agree, weights = fit(np.arange(p))
    if not agree:
        return []
    # add the columns by their weights
    order = np.argsort(-np.abs(weights))
    enough = next((k for k in range(1, min(p, MAX_PARTS)) if fit(order[:k])[0]), p)
    return np.sort(order[:enough]).tolist()


def _agrees_up_to(
    error: np.ndarray, residual: np.ndarray, y: np.ndarray, share: float = MIN_EXACT
) -> bool:
    """Whether nearly all residuals are within errors that are small beside the spread of `y`."""
    small = np.quantile(error, MIN_EXACT) <= MAX_ERROR * y.std()
    return bool(small and np.mean(np.abs(residual) <= error) >= share)


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


# --- traces of the target in the values of features


def check_target_encodings(table: TableDescription) -> Iterator[CheckResult]:
    """Report features that contain the mean target of a category of this table."""
    target, encoded = table.target, set[int]()
    outcomes = [
        target.y.astype(float) if target.classes is None else (target.codes == code).astype(float)
        for code in range(max(1, target.n_classes))
    ]
    # features whose values repeat
    few = (table.n_values >= 3) & (table.n_values <= table.n_known / 2)
    repeated = np.flatnonzero(few & (table.n_known >= MIN_KNOWN_PART * len(table.columns)))
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
        yield CheckResult(
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
