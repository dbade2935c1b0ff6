"""Checks of the order of rows: similar neighbors, and rows in time order.

In random order, neighboring rows are no more similar than any other two rows. This is tested by
shuffling the rows, for the targets and for the out-of-fold losses. Similar neighbors are harmless
in a sorted file, but not if the rows are in time order.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm, rankdata

from skeval._resampling.predictions import Predictions
from skeval.report._data_checks.table import (
    MIN_TIMES,
    SINGLE_TOLERANCE,
    TIME,
    TableDescription,
    drop_infinite,
    find_direction,
    list_run_ends,
)
from skeval.report._page import CheckResult, note
from skeval.utils._text import read_times

MAX_P = 0.005
"""Maximum P-value, from shuffled rows, at which neighbors count as similar."""
MIN_ROWS = 30
MIN_SHUFFLES, MAX_SHUFFLES, MAX_MOVES = 199, 399, 2 * 10**6
"""Minimum and maximum number of shuffles, and maximum number of values moved in all of them."""
MAX_SHUFFLED = 10_000
"""Maximum number of rows that are shuffled."""
MIN_LAGGED = 0.9
"""Minimum fraction of rows whose value is the target of the row before or after."""
SLOW = 0.8
"""Lag-1 autocorrelation of the ranks of a column that changes slowly from row to row."""
MAX_NEAR = 0.75
"""Maximum ratio of the median differences of neighbors and of rows five apart in a series."""
REVEALING = 0.3
"""Minimum similarity of neighboring values for a feature that reveals neighbors."""
CALENDAR_TIME = re.compile(r"year|epoch|date|time|date ?time|time ?stamp", re.IGNORECASE)
"""Full names of columns of numbers that are times in any order. Months and days repeat."""
BIRTH = re.compile(r"birth|born|dob", re.IGNORECASE)
"""Names of dates other than the date of the record."""
MIN_NUMBERED, MIN_KNOWN = 8, 0.9
"""Minimum number of row numbers, and fraction of rows that have one."""
MIN_GAPPED, MAX_SPAN, MAX_SPAN_IN_ORDER = 40, 1.25, 3.0
"""Minimum number of rows for row numbers with gaps, and their maximum range per row, in any order
and in file order. Other whole numbers usually have ties, or are not in order."""
AXIS = re.compile(r"ages?|x|scores?|doses?|points?|grades?|levels?|depth|distance|(.*_)?age")
"""Full names, in lower case, of the axis of a table, such as the age of a life table."""
MIN_DRIFT = 0.2
"""Minimum correlation of the targets of neighboring row numbers that is serious."""
EVIDENCE = {
    "runs": "neighboring rows have similar targets more often than expected by chance",
    "autocorrelation": "the losses of neighboring rows are correlated",
}
"""Evidence of each check, by its code."""


def check_split_order(
    columns: Mapping[str, Any],
    left_out: Mapping[str, Any],
    index: Any,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
) -> Iterator[CheckResult]:
    """Report whether folds for rows in time order train on later rows than they test.

    The dates of all columns and of the index are compared within each fold. If the rows are in
    order by one of them, the other dates are ignored.
    """
    # all columns that may be times
    named = {str(name): np.asarray(column) for name, column in {**columns, **left_out}.items()}
    times = {} if index is None else _read_all_times({"the index": np.asarray(index)})
    times |= {n: t for n, t in _read_all_times(named).items() if not BIRTH.search(n)}
    times |= {
        n: [t] for n, t in _find_numbers(named) if CALENDAR_TIME.fullmatch(n.replace("_", " "))
    }
    # number of folds that train on later rows than they test; a missing time is neither
    late = {
        name: min(
            sum(
                np.fmax.reduce(time[train], initial=-np.inf)
                > np.fmin.reduce(time[test], initial=np.inf)
                for train, test in folds
            )
            for time in read
        )
        for name, read in times.items()
    }
    # the other dates do not matter if the folds are in order by one of them
    if not late or min(late.values()) == 0:
        return
    name = min(late, key=lambda name: late[name])
    label = name if name == "the index" else repr(name)
    yield CheckResult(
        "serious",
        f"the folds rely on the order of the rows, but {late[name]} of {len(folds)} folds "
        f"train on later rows than they test, by {label}",
        f"Errors may be too low. Sort the rows by {label} and evaluate again.",
        code="time-order",
        title="Rows not in time order",
    )


def check_order(
    columns: Mapping[str, Any],
    left_out: Mapping[str, Any],
    index: Any,
    result: Predictions,
    groups: Any,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
) -> Iterator[CheckResult]:
    """Report whether neighboring rows are similar, which is serious in time order.

    Groups, which folds keep together, are represented by their first sample and their mean loss.
    Rows sorted by class are compared within classes. Rows sorted by a numeric target are not
    checked. Similar targets alone are not reported if no feature reveals which rows are neighbors,
    because a model then cannot use the order. Similar neighbors are expected if a column sorts the
    rows, alone or within a few blocks, or if the rows are in blocks of a category.
    """
    # one row and one loss for each group
    rows = unit = np.arange(len(result.target))
    if groups is not None:
        first, unit = np.unique(np.asarray(groups), return_index=True, return_inverse=True)[1:]
        rows, unit = np.sort(first), np.argsort(np.argsort(first))[unit.reshape(-1)]
    counts = np.bincount(unit[result.row], minlength=len(rows))
    loss = np.bincount(unit[result.row], result.loss, len(rows)) / np.maximum(counts, 1)
    tested = counts > 0
    if tested.sum() < MIN_ROWS:
        return
    # targets that are not sorted
    classes = result.target.classes is not None
    y = (result.target.codes if classes else result.target.y)[rows]
    if not classes and (y.ndim > 1 or find_direction(y)):
        return
    # the target and the losses in file order
    named = {name: np.asarray(column)[rows] for name, column in {**columns, **left_out}.items()}
    times = {} if index is None else _read_all_times({"the index": np.asarray(index)[rows]})
    times |= _read_all_times(named)
    series = {"runs": y if classes else rankdata(y), "autocorrelation": rankdata(loss)}
    series = {code: values[tested] for code, values in series.items()}
    # neighbors that are more similar than by chance
    numbers = dict(_find_numbers(named))
    reason, slow = _find_rising_time(numbers, times) or _find_lag(numbers, y), ""
    if classes and not reason and np.sum(np.diff(y) != 0) < len(np.unique(y)):  # sorted by class
        alike = ["autocorrelation"] if are_alike(series["autocorrelation"], y[tested]) else []
    else:
        alike = [code for code, values in series.items() if are_alike(values)]
    if alike and not reason:
        similar, equal = _compare_neighbors(named, numbers, set(columns), y, classes)
        if alike == ["runs"] and max([*similar, *equal], default=1) <= REVEALING:
            alike = []  # no feature reveals which rows are neighbors
        # a numeric target counts as a column, and classes as a category
        similar += [] if classes else [_autocorrelate(rankdata(y))]
        blocks = list(list_run_ends([*named.values(), *([y] if classes else ())], len(y) / 2))
        in_file_order = _is_sorted(numbers, [ends for ends in blocks if len(ends) < MIN_NUMBERED])
        slow = "" if in_file_order else _describe_slow_columns(similar)
        if not slow and (in_file_order or blocks):
            alike = []  # the order of the file explains them
    if alike and (reason or slow) and not _are_blocks(folds, len(result.target)):
        # without a column of times, rows may be in blocks of the same object instead
        objects = " or in blocks of one object" if slow else ""
        yield CheckResult(
            "serious",
            f"the rows seem to be in time order{objects} ({reason or slow}), "
            f"{'' if len(alike) > 1 else 'and '}{_join_evidence(alike)}",
            "Shuffled folds train on neighbors of the tested rows, so errors may be too low, "
            "intervals too narrow and P-values too small. Test on later rows (--time, or "
            "cv=TimeSeriesSplit()), or pass repeated measurements as groups=.",
            code="time-order",
            title="Time order",
        )
        return
    if alike:
        advice = (
            "This is harmless if the file was sorted. If rows are in time order, or neighbors "
            "belong to one object, errors may be too low: use cv=TimeSeriesSplit() (--time), or "
            "groups=."
        )
        evidence = _join_evidence(alike)
        yield note(alike[0], "Similar neighboring rows", evidence, advice)
    yield from _find_scattered_times(times, series, tested)


def _find_scattered_times(
    times: Mapping[str, list[np.ndarray]], series: Mapping[str, np.ndarray], tested: np.ndarray
) -> Iterator[CheckResult]:
    """Yield a finding for each date column whose order makes neighbors similar in unsorted rows."""
    for name, readings in times.items():
        order = np.argsort(readings[0][tested], kind="stable")
        codes = [code for code, values in series.items() if are_alike(values[order])]
        if len(np.unique(readings[0])) >= MIN_TIMES and codes:
            yield note(
                codes[0],
                "Related in time",
                f"sorted by {name!r}, {_join_evidence(codes)}",
                "If the model is to predict later rows from earlier ones, test it in this way "
                f"(--time {shlex.quote(str(name))}, or cv=TimeSeriesSplit() on sorted rows).",
            )


def check_series(columns: Mapping[str, np.ndarray]) -> Iterator[CheckResult]:
    """Report rows in time order by the columns of a table without a target."""
    n = len(next(iter(columns.values())))
    if n < MIN_ROWS:
        return
    numbers = dict(_find_numbers(columns))
    reason = _find_rising_time(numbers, _read_all_times(columns))
    if not reason:
        # a constant stands for the missing target
        y = np.zeros(n, dtype=np.intp)
        similar, _ = _compare_neighbors(columns, numbers, set(columns), y, True)
        # neighbors are closer than rows five apart, as in a series, not in sorted clusters
        values = [*numbers.values()]
        steps = [[np.nanmedian(np.abs(x[k:] - x[:-k])) for x in values] for k in (1, 5)]
        fading = 2 * np.sum(steps[0] < MAX_NEAR * np.array(steps[1])) > len(values)
        reason = _describe_slow_columns(similar) if fading and not _is_sorted(numbers, ()) else ""
    if reason:
        yield CheckResult(
            "serious",
            f"the rows seem to be a series ({reason})",
            "Clusters of a series may be periods of time. Remove the trend and the "
            "time column, or use change-point detection.",
            code="time-order",
            title="Time order",
        )


def check_row_numbers(table: TableDescription) -> Iterator[CheckResult]:
    """Report features that number the rows: integers without ties and with few gaps.

    Gaps remain if rows were removed. More gaps are allowed in file order, where constant steps and
    a few empty cells are allowed, too. Several columns of numbers in different orders are ranks. A
    finding is serious if neighboring numbers have similar targets, because the model can then
    learn the order of the file. A time, or the axis of a table, is a note.
    """
    columns, target, n_known = table.columns, table.target, table.n_known
    # numbers without ties and with few missing values
    candidates = table.is_number & (table.n_values == n_known) & (n_known >= MIN_NUMBERED)
    candidates &= n_known >= MIN_KNOWN * len(columns)
    y = rankdata(target.y) if target.classes is None else target.codes
    # columns in file order or in any order, and the rows in the order of each
    in_order, dense = [], []
    for position in np.flatnonzero(candidates).tolist():
        rows = np.flatnonzero(np.isfinite(columns[:, position]))
        numbers, n = columns[rows, position], len(rows)
        if np.any(numbers != np.floor(numbers)):
            continue
        # few gaps, or constant steps
        order, steps = rows[np.argsort(numbers)], np.diff(numbers) / np.diff(rows)
        span = (np.ptp(numbers) + 1) / n
        few_gaps = span <= (MAX_SPAN_IN_ORDER if n >= MIN_GAPPED else len(columns) / n)
        if np.all(steps > 0) and (few_gaps or np.all(steps == steps[0])):
            in_order.append((position, order))
        elif span <= (MAX_SPAN if n >= MIN_GAPPED else len(columns) / n):
            dense.append((position, order))
    found = sorted(in_order + dense)
    # columns in different orders are ranks instead of row numbers
    if len({order.tobytes() for _, order in found}) > 1:
        found = in_order
    if not found:
        return
    # whether neighboring numbers have similar targets
    outcomes = y[:, None].astype(float)
    if target.classes is not None:
        outcomes = np.eye(target.n_classes)[target.codes]
    predictive = [
        position
        for position, order in found
        if _autocorrelate(outcomes[order]) >= MIN_DRIFT and are_alike(y[order])
    ]
    numbers = [position for position, _ in found]
    evidence = f"{table.name(predictive or numbers)} counts the samples"
    if predictive:
        evidence += ", and samples with neighboring numbers have similar targets"
    names = [str(table.names[p]).lower().replace("_", " ") for p in predictive or numbers]
    # a time or the axis of a table is in order by its nature
    in_time = any(TIME.fullmatch(name) for name in names)
    axis = columns.shape[1] == 1 or in_time or any(map(AXIS.fullmatch, names))
    yield CheckResult(
        "serious" if predictive and not axis else "note",
        evidence,
        "If the model is to predict later rows, test it on later rows (--time)."
        if in_time
        else "Remove it, unless it is a measurement: new samples have other numbers.",
    )


def are_alike(values: np.ndarray, strata: np.ndarray | None = None) -> bool:
    """Whether neighboring values are more similar than in nearly all random orders.

    The statistic counts equal neighbors of integer codes (the runs of Wald and Wolfowitz) and sums
    the products of neighboring floats. Rows are shuffled within strata. Without strata, many
    rows are not shuffled, because the distribution is approximately normal.
    """
    n = len(values)
    number = values.dtype.kind == "f"
    values = values - values.mean() if number else values

    def measure(these: np.ndarray) -> float:
        return float(these[1:] @ these[:-1] if number else np.sum(these[1:] == these[:-1]))

    # the normal approximation for many rows
    rng, seen = np.random.default_rng(0), measure(values)
    if n > MAX_SHUFFLED and strata is None:
        # approximate mean and variance of the statistic in random order
        if number:
            mean, variance = -float(values @ values) / n, float(values @ values) ** 2 / n
        else:
            share = np.unique(values, return_counts=True)[1] / n
            square, cube = float(np.sum(share**2)), float(np.sum(share**3))
            mean, variance = n * square, n * (square + square**2 - 2 * cube)
        return bool(seen > mean + norm.isf(MAX_P) * variance**0.5)
    # shuffles, until the result is clear
    n_shuffles = int(np.clip(MAX_MOVES // n, MIN_SHUFFLES, MAX_SHUFFLES))
    as_high = 0
    for _ in range(n_shuffles):
        order = rng.permutation(n)
        if strata is not None:
            # rows are shuffled within their strata
            place = np.argsort(strata, kind="stable")
            order[place] = order[np.argsort(strata[order], kind="stable")]
        as_high += measure(values[order]) >= seen - 1e-9 * abs(seen)
        # P can only increase from here
        if (1 + as_high) / (1 + n_shuffles) > MAX_P:
            return False
    return True


def _read_all_times(columns: Mapping[str, np.ndarray]) -> dict[str, list[np.ndarray]]:
    """Return each column of dates as numbers, with two readings where day and month may swap."""
    read = {name: read_times(column) for name, column in columns.items()}
    return {name: readings for name, readings in read.items() if readings}


def _find_rising_time(
    numbers: Mapping[str, np.ndarray], times: Mapping[str, list[np.ndarray]]
) -> str:
    """Describe the date, or the number named as a time, that orders the rows, or "" if none."""
    named = [(name, column) for name, readings in times.items() for column in readings]
    named += [(n, column) for n, column in numbers.items() if TIME.fullmatch(n.replace("_", " "))]
    for name, column in named:
        if direction := find_direction(column):
            return f"{name if name == 'the index' else repr(name)} {direction}"
    return ""


def _find_lag(numbers: Mapping[str, np.ndarray], y: np.ndarray) -> str:
    """Describe the column that has the target of the previous row, or of the next one."""
    if len(np.unique(y)) < MIN_TIMES:
        return ""
    for name, column in numbers.items():
        for which, x, other in (("previous", column[1:], y[:-1]), ("next", column[:-1], y[1:])):
            if np.mean(np.isclose(x, other, rtol=SINGLE_TOLERANCE, atol=0)) >= MIN_LAGGED:
                return f"{name!r} is the target of the {which} row"
    return ""


def _is_sorted(numbers: Mapping[str, np.ndarray], blocks: Iterable[np.ndarray]) -> bool:
    """Whether a column other than a time sorts the rows, or the rows within each block."""
    columns = [column for name, column in numbers.items() if not TIME.fullmatch(name)]
    parts = [np.array([], dtype=np.intp), *blocks]
    return any(find_direction(column, ends) for column in columns for ends in parts)


def _describe_slow_columns(similar: Sequence[float]) -> str:
    """Describe columns if most of them change slowly from row to row."""
    n_slow = sum(value > SLOW for value in similar)
    most = 2 * n_slow > max(len(similar), 3)
    return "most columns change slowly from row to row" if most else ""


def _compare_neighbors(
    columns: Mapping[str, np.ndarray],
    numbers: Mapping[str, np.ndarray],
    features: set[str],
    y: np.ndarray,
    classes: bool,
) -> tuple[list[float], list[float]]:
    """Return how similar neighboring values of numbers and of categories are, 0 by chance.

    They are the autocorrelations of ranks without what the target explains, and the fractions of
    equal neighbors.
    """
    outcome = rankdata(y) - (len(y) + 1) / 2
    similar, equal = [], []
    for name in features & columns.keys():
        if name in numbers:
            # the mean of the class, or the regression on the target
            own = rankdata(numbers[name]) - (len(y) + 1) / 2
            if classes:
                own -= (np.bincount(y, own) / np.maximum(np.bincount(y), 1))[y]
            elif outcome.any():
                own -= outcome * (own @ outcome) / (outcome @ outcome)
            if own.std() > 0:
                similar.append(_autocorrelate(own))
        else:  # texts, or few distinct values
            codes = np.unique(columns[name].astype(str), return_inverse=True)[1].reshape(-1)
            # excess of equal neighbors over chance, 1 if all of them are equal
            by_chance = float(np.sum((np.bincount(codes) / len(codes)) ** 2))
            share = float(np.mean(codes[1:] == codes[:-1]))
            equal.append((share - by_chance) / max(1 - by_chance, 1e-9))
    return similar, equal


def _autocorrelate(values: np.ndarray) -> float:
    """Return the correlation of numbers, or of indicators of classes, with their neighbors."""
    centered = values - values.mean(axis=0)
    return float(np.sum(centered[1:] * centered[:-1]) / np.sum(centered**2))


def _find_numbers(columns: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the numeric columns with enough distinct values."""
    for name, column in columns.items():
        try:
            numbers = drop_infinite(column.astype(float))
        except (TypeError, ValueError):
            continue
        # the first rows nearly always have enough values
        parts = (numbers[: 10 * MIN_TIMES], numbers) if column.dtype.kind != "M" else ()
        if any(len(np.unique(part)) >= MIN_TIMES for part in parts):
            yield str(name), numbers


def _are_blocks(folds: Sequence[tuple[np.ndarray, np.ndarray]], n_samples: int) -> bool:
    """Whether neighbors are mostly in the same test set, as in folds without shuffling."""
    fold = np.full(n_samples, -1)
    for number, (_, test) in enumerate(folds):
        fold[test] = number
    # neighbors are separated less than half as often as two random rows
    sizes = np.unique(fold, return_counts=True)[1] / n_samples
    return bool(np.mean(fold[1:] != fold[:-1]) < (1 - np.sum(sizes**2)) / 2)


def _join_evidence(codes: Iterable[str]) -> str:
    return ", and ".join(EVIDENCE[code] for code in codes)
