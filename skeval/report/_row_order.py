"""Rows that follow each other, as records in time do, so that shuffled folds tell too much.

Samples that could as well stand in any other order have neighbours that are no more alike than any
two. Whether they are is tested by shuffling the rows, for the targets and for the out-of-fold
losses. That alone is no fault: a file may be sorted. It is one where the order is that of time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from skeval._resampling.procedure import OutOfFold
from skeval.datasets._values import read_times
from skeval.report._cautions import Caution

__all__ = ["are_alike", "warn_of_order"]

LEAST_ROWS = 30
RARE = 0.005
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
    return (1 + as_high) / (1 + n_shuffles) <= RARE


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
        "future predict the past: every error here is too low, every interval too short, and P "
        "too small. Test what comes later (--time on the command line, cv=TimeSeriesSplit() in "
        "Python), or name in groups what was measured again and again.",
        headline,
    )


def _name_rows(code: str) -> Caution:
    """Say that neighbours are alike where nothing says that their order is that of time."""
    said = SAY[code][0].upper() + SAY[code][1:]
    return Caution(
        code,
        f"{said}: the rows are not in random order. That is no fault where the file was sorted. "
        "Where rows follow each other in time, or neighbours are of one object, every error here "
        "is too low: use cv=TimeSeriesSplit() (--time), or groups.",
    )
