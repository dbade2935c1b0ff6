"""Checks of features that contain the target, or from which it can be computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.special import gammaln
from scipy.stats import rankdata
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skeval.report._data_checks.table import (
    MIN_VALUES,
    VALUE_TOLERANCE,
    Finding,
    TableDescription,
    get_rounding_error,
    list_features,
    standardize,
)

MAX_CHANCE = 1e-3
"""Maximum probability of a finding if a table has no such fault."""
MIN_KNOWN, MIN_EXACT, MIN_EXACT_OF_CLASS = 0.5, 0.95, 0.9
"""Minimum share of known values of a copy of the target; of these, minimum share that agrees with
the target, overall and in each class."""
MIN_CORRELATION, MIN_DISTINCT = 0.25, 10
"""Minimum rank correlation of a copy with a numeric target, and number of values of a feature that
orders the targets."""
MAX_INTERVALS, MAX_COMBINATIONS = 5, 20
"""Maximum number of intervals of values of a number, each with one class, that separate them, and
of combinations of values of coded features."""
MAX_SUFFICIENT, N_HELD_OUT, MIN_CORRECT, MIN_EXPLAINED = 3, 5, 0.98, 0.999
"""Maximum number of features that predict the target without error, number of folds, and minimum
share of held-out rows that they predict, or of the variance that they explain."""
N_TRIMS, SLACK, MAX_ERROR = 5, 1.5, 0.1
"""Number of least squares fits, factor of the rounding error for the error of their slope, and
maximum rounding error of a copy or combination, in standard deviations of the target."""
MIN_KNOWN_PART, MAX_COLUMNS, MAX_PARTS = 0.9, 500, 20
"""Minimum share of known values of a part of the target; maximum number of columns that are
searched for parts, and of parts."""
ROWS_PER_COLUMN, MIN_SPARE_ROWS = 2, 10
"""Number of rows required for an exact linear combination: per column, and in addition."""
MAX_FITTED, MAX_MULTIPLIED, PENALTY = 400, 6, 1e3
"""For a boundary between classes: maximum number of rows, and of columns with products; penalty of
a row on the wrong side, in units of the weights."""
ROWS_PER_TERM, ROWS_PER_FIRST, ROWS_PER_CHOSEN = 4, 10, 40
"""Minimum number of rows per column, per column with differences or products, and per chosen term:
three terms separate 60 rows of classes that overlap."""
MAX_PAIRS, MIN_OF_CLASS, MIN_EXACT_OF_SIDE = 10, 8, 0.99
"""Maximum number of pairs of classes that are searched for a boundary, minimum number of rows of
each class, and share of them on their side."""
MIN_VARIATION, VARIATION_OF_FEW = (0.55, 0.45), 2.0
"""Minimum coefficient of variation of the distances from a cut, mean of both sides and each side;
increase of the mean, divided by the number of rows. It is 0.58 for uniform distances and 0.76 for
the halves of a normal distribution, but below 0.5 for classes that lie apart."""
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


def check_target_copies(table: TableDescription) -> Iterator[Finding]:
    """Report features that are a function of the target, or that separate all classes.

    A copy of the target is serious, and so are codes and categories that determine the class. A
    number that separates the classes, or that rises with the target, may be a good measurement.
    """
    # features that contain the target, or are ordered as it is
    classes = table.target.classes is not None
    copies, separating, n_other = (_compare_with_classes if classes else _compare_with_numbers)(
        table
    )
    if copies:
        advice = "Remove it and evaluate again: the model can read the target from it."
        evidence = f"{list_features(copies, table.names)} is a copy of the target"
        if n_other:
            advice += " A test result that is known before the target may stay."
            evidence += f", except for {n_other} row{'s' * (n_other > 1)}"
        yield Finding("target-copy", "Copy of the target", evidence, advice, grave=True)
    elif separating:
        coded = [p for p in separating if are_codes(table, [p])]
        effect = "separates all classes" if classes else "gives the order of the targets"
        yield Finding(
            "telling-feature",
            "Perfect feature",
            f"{list_features(coded or separating, table.names)} alone {effect} without error",
            "Check that it is known before the target, and not derived from it.",
            grave=bool(coded),
        )


def _compare_with_numbers(table: TableDescription) -> tuple[list[int], list[int], int]:
    """Return the features that are simple functions of the target, monotone ones, and 0."""
    y, columns = table.target.y.astype(float), table.columns
    # correlation of ranks, where missing values are in the middle
    ranks = np.where(np.isnan(columns.T), np.nan, table.values.of_cell)
    ranks = np.nan_to_num(ranks - np.nanmean(ranks, axis=1, keepdims=True))
    outcome = rankdata(y) - (len(y) + 1) / 2
    correlation = np.abs(ranks @ outcome) / np.sqrt(np.sum(ranks**2, axis=1) * (outcome @ outcome))
    # features that are related to the target
    copies: list[int] = []
    monotone: list[int] = []
    for position in np.flatnonzero(correlation > MIN_CORRELATION).tolist():
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
    return copies, monotone, 0


def _is_linear(
    column: np.ndarray, y: np.ndarray, transform: Callable[[np.ndarray], np.ndarray]
) -> bool:
    """Whether a target is a linear function of a transformed feature, up to rounding.

    Nearly all rows must agree within half a unit of the last decimals of both, which must be
    small beside the spread of the target.
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
    exact = np.full(len(y), 10 * VALUE_TOLERANCE * y.std())
    rounded = SLACK * (unit + slope * np.abs(high - low) / 2)
    return any(_agrees_up_to(error, residual, y) for error in (exact, rounded))


def _compare_with_classes(table: TableDescription) -> tuple[list[int], list[int], int]:
    """Return the features with one value per class, those that separate the classes, and the
    number of rows in which the former differ at most.

    A number separates the classes by a few intervals of values. Any column of fewer values than an
    identifier may separate them by its values.

    Missing values are left out, and a few rows of a copy may differ.
    """
    codes, values, n_columns = table.target.codes, table.values, table.columns.shape[1]
    n_classes, n = int(codes.max()) + 1, len(codes)
    # features with as many values as classes
    known = values.sum_by_column(values.size)
    candidates = np.flatnonzero((known >= MIN_KNOWN * n) & (values.n_values == n_classes))
    copies, n_other = [], 0
    for position in candidates.tolist():
        # each class has a value of its own
        counts = table.counts[values.of_column(position)].toarray().T
        agreeing, sizes = counts.max(axis=1), counts.sum(axis=1)
        is_copy = agreeing.sum() >= MIN_EXACT * sizes.sum()
        is_copy &= np.all(agreeing >= MIN_EXACT_OF_CLASS * sizes)
        is_copy &= len(set(counts.argmax(axis=1).tolist())) == n_classes
        # number of codes, and of ways in which the other rows may differ
        n_ways = gammaln(n_classes + 1) + _log_choose(sizes.sum(), agreeing.sum())
        n_orders = gammaln(sizes.sum() + 1) - gammaln(sizes + 1).sum()
        if is_copy and n_columns * np.exp(n_ways - n_orders) <= MAX_CHANCE:
            copies.append(position)
            n_other = max(n_other, int(sizes.sum() - agreeing.sum()))
    # a separating feature has only pure values, in few intervals of each class
    intervals, pure = _count_intervals(table), np.diff(table.counts.indptr) == 1
    separating = table.is_complete & (values.sum_by_column(~pure) == 0)
    n_intervals, whole = intervals.sum(axis=1), table.columns == np.floor(table.columns)
    few = (n_intervals <= MAX_INTERVALS) & ~((values.n_values == n) & whole.all(axis=0))
    few = table.is_number & (few | (n_intervals == n_classes))
    separating &= few | (values.n_values < MIN_VALUES)
    # number of orders of the rows in which every class has so many intervals
    kept, sizes = np.flatnonzero(separating), np.bincount(codes)
    n_ways = gammaln(1 + n_intervals[kept]) - gammaln(1 + intervals[kept]).sum(axis=1)
    n_ways += (_log_choose(sizes - 1, intervals[kept] - 1)).sum(axis=1)
    chance = n_columns * np.exp(n_ways - _log_count_orders(codes))
    return copies, kept[chance <= MAX_CHANCE].tolist(), n_other


def _count_intervals(table: TableDescription) -> np.ndarray:
    """Return the number of intervals of pure values of each column and class."""
    # values whose predecessor has another class or column
    of_value, column = table.counts.indices[table.counts.indptr[:-1]], table.values.column
    begins = np.ones(len(of_value), dtype=bool)
    begins[1:] = (of_value[1:] != of_value[:-1]) | (column[1:] != column[:-1])
    intervals = np.zeros((table.columns.shape[1], table.counts.shape[1]))
    np.add.at(intervals, (column[begins], of_value[begins]), 1)
    return intervals


def are_codes(table: TableDescription, features: Sequence[int]) -> bool:
    """Whether features that determine the target have few values, as categories have.

    A single number that rises or falls with the target may be a rounded measurement.
    """
    n_combinations = len(np.unique(table.columns[:, features], axis=0))
    if table.values.n_values[features].max() >= MIN_VALUES or n_combinations > MAX_COMBINATIONS:
        return False
    if len(features) > 1 or not table.is_number[features[0]]:
        return True
    if table.target.classes is None:
        return False
    return bool(_count_intervals(table)[features[0]].sum() > table.counts.shape[1])


def _log_choose(n: Any, k: Any) -> Any:
    """Return the logarithm of the number of subsets of `k` of `n`."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _log_count_orders(codes: np.ndarray) -> float:
    """Return the logarithm of the number of distinct orders of the codes."""
    return float(gammaln(len(codes) + 1) - gammaln(np.bincount(codes) + 1).sum())


# --- several features


def list_sufficient_features(table: TableDescription) -> list[int]:
    """Return up to three features, or indicators, that predict the target without error, or none.

    A tree of the few most important features must predict held-out rows. For a numeric target, they
    may also be added to a linear combination by their correlation with its residual.
    """
    # missing values are replaced by the median
    kept, target = np.flatnonzero(table.values.n_values > 1), table.target
    if len(table.columns) < 2 * N_HELD_OUT or not len(kept):
        return []
    columns = table.columns[:, kept]
    middle = np.nanmedian(np.where(np.isfinite(columns), columns, np.nan), axis=0)
    columns = standardize(np.where(np.isfinite(columns), columns, middle))
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
    # a tree of the most important features, or of the indicators of categories
    importance = tree.fit(columns, y).feature_importances_
    order = np.argsort(-importance)
    candidates = [order[:n_features] for n_features in range(1, 1 + MAX_SUFFICIENT)]
    indicators = np.flatnonzero((importance > 0) & (table.values.n_values[kept] == 2))
    candidates += [indicators] if len(indicators) else []
    folds = KFold(N_HELD_OUT, shuffle=True, random_state=0)
    for features in candidates:
        predicted = cross_val_predict(tree, columns[:, features], y, cv=folds)
        if score(y, predicted) >= enough:
            return kept[features].tolist()
    return []


def check_target_formula(table: TableDescription) -> Iterator[Finding]:
    """Report a numeric target that is a sum or product of several features.

    The target, or its logarithm, is a linear combination of columns, or of their logarithms, up to
    the rounding of the target and of the columns, in nearly all rows.
    """
    # columns with enough values, and indicators
    y, known = table.target.y.astype(float), np.isfinite(table.columns)
    usable = (known.mean(axis=0) >= MIN_KNOWN_PART) & (table.values.n_values > 1)
    usable &= table.is_number | (table.values.n_values == 2)
    positive = np.all((table.columns > 0) | ~known, axis=0) & (y.min() > 0)
    for formula, allowed in ("weighted sum", usable), ("product", usable & positive):
        # the fewest columns that give the target, or their logarithms
        positions = np.flatnonzero(allowed)
        rows = known[:, positions].all(axis=1)
        columns, outcome = table.columns[np.ix_(rows, positions)], y[rows]
        parts = _find_parts(columns, outcome, logarithms=formula == "product")
        if len(parts) > 1:
            yield Finding(
                "target-formula",
                "Target computed from features",
                f"the target is a {formula} of {_list_parts(positions[parts], table)}, up to "
                "rounding",
                "Remove these features, unless they are known before the target.",
                grave=True,
            )
            return


def _list_parts(positions: np.ndarray, table: TableDescription) -> str:
    return list_features(positions.tolist(), table.names).removeprefix("each of the ")


def _find_parts(columns: np.ndarray, y: np.ndarray, *, logarithms: bool) -> list[int]:
    """Return the columns with a part in a linear combination that gives the target up to rounding.

    They are the fewest columns, in the order of their weights, that give the target in nearly all
    rows; none if not even all columns do.
    """
    n, p = columns.shape
    if not 2 <= p <= MAX_COLUMNS or n < ROWS_PER_COLUMN * p + MIN_SPARE_ROWS or not y.std() > 0:
        return []
    # rounding errors, relative ones for logarithms
    unit = np.full(n, get_rounding_error(y))
    errors = np.tile([get_rounding_error(column) for column in columns.T], (n, 1))
    if logarithms:
        errors, unit = errors / columns, unit / y
        columns, y = np.log(columns), np.log(y)
    spread = columns.std(axis=0)
    if not np.all(spread > 0):
        return []
    columns, errors = (columns - columns.mean(axis=0)) / spread, errors / spread
    exact = np.full(n, 10 * VALUE_TOLERANCE * y.std())

    def fit(parts: np.ndarray) -> tuple[bool, np.ndarray]:
        """Return whether nearly all rows agree up to rounding, and the weights."""
        weights, residual = _fit_most_rows(columns[:, parts], y)
        rounded = SLACK * unit + errors[:, parts] @ np.abs(weights)
        return any(_agrees_up_to(error, residual, y) for error in (exact, rounded)), weights

    agree, weights = fit(np.arange(p))
    if not agree:
        return []
    # add the columns by their weights
    order = np.argsort(-np.abs(weights))
    enough = next((k for k in range(1, min(p, MAX_PARTS)) if fit(order[:k])[0]), p)
    return np.sort(order[:enough]).tolist()


def _agrees_up_to(error: np.ndarray, residual: np.ndarray, y: np.ndarray) -> bool:
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


# --- boundaries between classes


def check_boundaries(table: TableDescription) -> Iterator[Finding]:
    """Report features that decide between two classes by a comparison.

    Each pair of classes is separated by a weighted sum of a few terms. Classes that lie apart have
    few samples near the boundary. A threshold of a formula cuts through the samples of both sides,
    whose distances from it then vary as much as their mean.
    """
    # complete rows of numbers
    known, codes = np.isfinite(table.columns), table.target.codes
    usable = (known.mean(axis=0) >= MIN_KNOWN_PART) & table.is_number & (table.values.n_values > 2)
    positions = np.flatnonzero(usable)
    complete = np.flatnonzero(known[:, positions].all(axis=1))
    pairs = list(combinations(range(table.target.n_classes), 2))
    if not 2 <= len(positions) <= MAX_COLUMNS or len(pairs) > MAX_PAIRS:
        return
    features = set[int]()
    for pair in pairs:
        rows = complete[np.isin(codes[complete], pair)]
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_FITTED)).astype(int)]
        sign = np.where(codes[rows] == pair[0], 1.0, -1.0)
        if len(rows) >= ROWS_PER_CHOSEN and min(sum(sign > 0), sum(sign < 0)) >= MIN_OF_CLASS:
            features |= _separate_pair(table.columns[np.ix_(rows, positions)], sign, len(pairs))
    if features:
        listed = _list_parts(positions[sorted(features)], table)
        yield Finding(
            "target-formula",
            "Target computed from features",
            f"the class is decided by a comparison of {listed}",
            "Remove these features, unless they are known before the target.",
            grave=True,
        )


def _separate_pair(columns: np.ndarray, sign: np.ndarray, n_pairs: int) -> set[int]:
    """Return at least two columns whose boundary cuts through the samples of two classes, or none.

    The terms are columns and differences of two columns, or columns and products.
    """
    # columns by their importance; for products, the pair with the largest interaction first
    n, p = columns.shape
    ranks = rankdata(columns, axis=0) - (n + 1) / 2
    tree = DecisionTreeClassifier(random_state=0).fit(ranks, sign)
    order = np.argsort(-tree.feature_importances_, kind="stable").tolist()
    interactions = np.triu(np.abs((ranks.T * (sign - sign.mean())) @ ranks), 1)
    strongest = [int(a) for a in np.unravel_index(interactions.argmax(), interactions.shape)]
    # terms, of at most half as many as rows, by the columns that they contain
    x, n_first = columns.T / np.abs(columns).max(), min(MAX_MULTIPLIED, n // ROWS_PER_FIRST)
    linear = {(a,): x[a] for a in order[: n // ROWS_PER_TERM]}
    linear |= {(a, b): x[a] - x[b] for a, b in combinations(order[:n_first], 2)}
    first = list(dict.fromkeys(strongest + order))[:n_first]
    products = {(a,): x[a] for a in first}
    products |= {(a, b): x[a] * x[b] for a, b in combinations_with_replacement(first, 2)}
    for terms in (linear, products):
        chosen, distance = _find_terms(
            np.array(list(terms.values())).T, sign, p * (p + 3) // 2 * n_pairs
        )
        if len(chosen):
            features = {a for term in chosen for a in list(terms)[term]}
            is_cut = _is_cut(distance, sign, VARIATION_OF_FEW / n)
            is_cut &= not _lie_apart(columns[:, order[:n_first]], sign)
            return features if is_cut and len(features) > 1 else set()
    return set()


def _find_terms(terms: np.ndarray, sign: np.ndarray, n_terms: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the fewest terms that separate two classes, and the distances from the boundary."""
    # terms in the order of their weights, which a linear program makes sparse
    n, terms = len(terms), standardize(terms)
    order = np.argsort(-np.abs(_separate(terms, sign)[0]))
    few = [order[:size] for size in range(1, 1 + min(MAX_SUFFICIENT, n // ROWS_PER_CHOSEN))]
    distances = [sign * _separate(terms[:, chosen], sign)[1] for chosen in few]
    # the fewest terms without a wrong row, or with a few in each class
    for minimum in (1.0, MIN_EXACT_OF_SIDE):
        for chosen, distance in zip(few, distances, strict=True):
            correct = distance > 0
            if min(correct[sign == side].mean() for side in (-1, 1)) < minimum:
                continue
            # dichotomies by hyperplanes (Cover, 1965), choices of terms, and of wrong rows
            n_ways = np.log(2) + np.logaddexp.reduce(_log_choose(n - 1, np.arange(len(chosen) + 1)))
            n_ways += _log_choose(n_terms, len(chosen)) + _log_choose(n, np.sum(~correct))
            by_chance = n_ways - _log_choose(n, np.sum(sign > 0)) > np.log(MAX_CHANCE)
            return chosen[: 0 if by_chance else None], distance
    return order[:0], order


def _is_cut(distance: np.ndarray, sign: np.ndarray, tolerance: float) -> bool:
    """Whether samples are as dense near a boundary as elsewhere, by the variation of distances."""
    sides = [distance[(distance > 0) & (sign == side)] for side in (-1, 1)]
    sides = [np.minimum(side, np.quantile(side, 0.9)) for side in sides]
    variation = np.array([side.std() / side.mean() for side in sides])
    enough = variation.mean() >= MIN_VARIATION[0] + tolerance
    return bool(enough and variation.min() >= MIN_VARIATION[1])


def _lie_apart(columns: np.ndarray, sign: np.ndarray) -> bool:
    """Whether the logarithms of columns are separated by a gap, as populations of unequal size."""
    if not np.all(columns > 0):
        return False
    distance = sign * _separate(standardize(np.log(columns)), sign)[1]
    exact = min(np.mean(distance[sign == side] > 0) for side in (-1, 1)) >= MIN_EXACT_OF_SIDE
    return bool(exact and not _is_cut(distance, sign, 0.0))


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
