"""Scores of several classifiers on several data sets, read from what people have them in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from skeval.utils._checks import check_data, naming

__all__ = ["ScoreTable", "check_same_indices", "read_score_table", "read_splits_scores"]

LONG_COLUMNS = ("dataset", "classifier", "score")
MISSING = ("None", "nan", "NaT", "<NA>")  # as text, whatever library the frame is of
Cells = dict[tuple[str, str], np.ndarray]


class ScoreTable(NamedTuple):
    """Scores by data set and classifier.

    Attributes
    ----------
    datasets, names : tuple of str
    scores : ndarray of shape (n_datasets, n_classifiers)
        Means over the splits.
    splits : list of ndarray of shape (n_splits, n_classifiers), or None
        Scores of the splits, where they are given.
    dropped : tuple of str
        Data sets that were left out because a score is missing.
    test_fraction : float or None
        Mean size of a test set, relative to the data set, where the scores tell.
    """

    datasets: tuple[str, ...]
    names: tuple[str, ...]
    scores: np.ndarray
    splits: list[np.ndarray] | None
    dropped: tuple[str, ...]
    test_fraction: float | None


def read_score_table(scores: Any, missing: str) -> ScoreTable:
    """Return the scores of a frame, an array, or data sets by name or in a list."""
    if hasattr(scores, "columns"):
        columns = [str(name) for name in scores.columns]
        datasets, names, cells = (_read_long if set(LONG_COLUMNS) <= set(columns) else _read_wide)(
            scores, columns
        )
    elif isinstance(scores, Mapping):
        texts = _name("data sets", scores)
        datasets, names, cells = _read_nested({texts[each]: scores[each] for each in scores})
    elif isinstance(scores, list | tuple) and any(isinstance(each, Mapping) for each in scores):
        named = {f"data set {place}": each for place, each in enumerate(scores, 1)}
        datasets, names, cells = _read_nested(named)
    else:
        datasets, names, cells = _read_array(scores)
    return _fill_table(datasets, names, cells, missing, getattr(scores, "test_fraction", None))


def _read_wide(frame: Any, columns: list[str]) -> tuple[list[str], list[str], Cells]:
    datasets = [str(row) for row in getattr(frame, "index", range(len(frame)))]
    for what, names in (("data sets", datasets), ("classifiers", columns)):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"scores must name its {what} once each, got {twice!r} twice.")
    values = check_data("scores", frame, dtype=np.float64, ensure_all_finite="allow-nan")
    return datasets, columns, _cells_of(datasets, columns, values[:, :, None])


def _read_long(frame: Any, columns: list[str]) -> tuple[list[str], list[str], Cells]:
    """Read rows in any order: names are sorted, and splits paired by what they are called."""
    datasets, names = (_read_ids(frame, column) for column in LONG_COLUMNS[:2])
    with_splits = "split" in columns
    splits = _read_ids(frame, "split") if with_splits else [None] * len(datasets)
    values = check_data(
        "scores", list(frame["score"]), ensure_2d=False, dtype=float, ensure_all_finite="allow-nan"
    )
    of_dataset, of_name = _name("data sets", _sort(datasets)), _name("classifiers", _sort(names))
    found: dict[tuple[str, str], dict[Any, float]] = {}
    for dataset, name, split, value in zip(datasets, names, splits, values, strict=True):
        key = of_dataset[dataset], of_name[name]
        cell = found.setdefault(key, {})
        if split in cell:
            rule = (
                ", classifier and split" if with_splits else " and classifier, or a column 'split'"
            )
            at = f" at split {split!r}" if with_splits else ""
            raise ValueError(
                f"scores must have one row for each data set{rule}, got "
                f"several of {key[0]!r} and {key[1]!r}{at}."
            )
        cell[split] = float(value)
    _check_same_splits(found)
    cells = {key: np.array([cell[at] for at in _sort(cell)]) for key, cell in found.items()}
    return list(of_dataset.values()), list(of_name.values()), cells


def _read_ids(frame: Any, column: str) -> list[Any]:
    """Return the names in a column; raise where one is missing."""
    ids = list(frame[column])
    missing = [each for each in ids if not isinstance(each, str) and str(each) in MISSING]
    if missing:
        raise ValueError(f"scores must have a {column} in each row, got {missing[0]!r}.")
    return ids


def _sort(ids: Iterable[Any]) -> list[Any]:
    """Return what differs in order; what has none is ordered by type and text."""
    different = set(ids)
    try:
        return sorted(different)
    except TypeError:
        return sorted(different, key=lambda each: (type(each).__name__, str(each)))


def _name(what: str, ids: Iterable[Any]) -> dict[Any, str]:
    """Return names by what they name; raise where two that differ read the same."""
    named: dict[str, Any] = {}
    for each in ids:
        other = named.setdefault(str(each), each)
        if other != each:
            raise ValueError(f"scores must name its {what} apart, got {other!r} and {each!r}.")
    return {each: text for text, each in named.items()}


def _check_same_splits(found: dict[tuple[str, str], dict[Any, float]]) -> None:
    """Raise unless all classifiers have the same splits of a data set."""
    first: dict[str, tuple[str, set[Any]]] = {}
    for (dataset, name), cell in found.items():
        other, splits = first.setdefault(dataset, (name, set(cell)))
        apart = splits ^ set(cell)
        if apart:
            raise ValueError(
                f"scores must be of the same splits for all classifiers, got split "
                f"{_sort(apart)[0]!r} of {dataset!r} for one alone of {other!r} and {name!r}."
            )


def _read_nested(scores: dict[str, Any]) -> tuple[list[str], list[str], Cells]:
    cells: Cells = {}
    names: dict[Any, None] = {}
    for dataset, results in scores.items():
        if not isinstance(results, Mapping):
            raise TypeError(
                "scores must hold a dict of classifiers for each data set, got "
                f"{type(results).__name__} for {dataset!r}."
            )
        check_same_indices({f"scores[{dataset!r}][{key!r}]": results[key] for key in results})
        for name, result in results.items():
            names[name] = None
            cells[dataset, str(name)] = read_splits_scores("scores", result)
    return list(scores), list(_name("classifiers", names).values()), cells


def _read_array(scores: Any) -> tuple[list[str], list[str], Cells]:
    values = check_data(
        "scores", scores, dtype=np.float64, allow_nd=True, ensure_all_finite="allow-nan"
    )
    if values.ndim > 3:
        raise ValueError(
            "scores must have the shape (n_datasets, n_classifiers) or (n_datasets, n_classifiers, "
            f"n_splits), got {values.shape}."
        )
    datasets = [f"data set {row}" for row in range(1, 1 + values.shape[0])]
    names = [f"classifier {column}" for column in range(1, 1 + values.shape[1])]
    cells = values if values.ndim == 3 else values[:, :, None]
    return datasets, names, _cells_of(datasets, names, cells)


def read_splits_scores(name: str, result: Any) -> np.ndarray:
    """Return the scores of the splits of a `cross_validate` result, of a list, or of one number."""
    if isinstance(result, Mapping):
        if "test_score" not in result:
            raise ValueError(
                f"{name} must hold 'test_score' where it is a result of cross_validate, got the "
                f"keys {list(result)!r}; of several metrics give one, result['test_accuracy']."
            )
        result = result["test_score"]
    with naming(name):
        values = np.atleast_1d(np.asarray(result, dtype=np.float64))
    if values.ndim != 1 or not values.size or np.isinf(values).any():
        raise ValueError(f"{name} must hold finite scores of splits, got {result!r}.")
    return values


def check_same_indices(results: Mapping[str, Any]) -> None:
    """Raise where results of `cross_validate`, by name, have the indices of other splits."""
    known = [(name, _read_indices(each)) for name, each in results.items()]
    with_indices = [(name, parts) for name, parts in known if parts is not None]
    for name, parts in with_indices[1:]:
        other, first = with_indices[0]
        if len(parts) != len(first) or not all(map(np.array_equal, parts, first)):
            raise ValueError(
                f"{other} and {name} must be of the same splits in the same order, got results of "
                "cross_validate with other indices."
            )


def _read_indices(result: Any) -> list[Any] | None:
    """Return the training and then the test samples of all splits, None where they are unknown."""
    indices = result.get("indices") if isinstance(result, Mapping) else None
    return None if indices is None else [*indices["train"], *indices["test"]]


def _cells_of(datasets: list[str], names: list[str], values: np.ndarray) -> Cells:
    return {
        (dataset, name): values[row, column]
        for row, dataset in enumerate(datasets)
        for column, name in enumerate(names)
    }


def _fill_table(
    datasets: list[str], names: list[str], cells: Cells, missing: str, test_fraction: Any
) -> ScoreTable:
    """Return the table, without the data sets that lack a score or with an error that names it."""
    if len(names) < 2:
        raise ValueError(f"scores must be of two classifiers at least, got {len(names)}.")
    nothing = np.array([np.nan])
    lacking = {}
    for dataset in datasets:
        lacks = [name for name in names if np.isnan(cells.get((dataset, name), nothing)).any()]
        if lacks:
            lacking[dataset] = lacks
    if lacking and missing == "raise":
        dataset, lacks = next(iter(lacking.items()))
        raise ValueError(
            f"scores must have no missing values, got none of {lacks[0]!r} on {dataset!r} and "
            f"{sum(map(len, lacking.values())) - 1} more; missing='drop' leaves out "
            f"{len(lacking)} of {len(datasets)} data sets."
        )
    kept = [dataset for dataset in datasets if dataset not in lacking]
    if len(kept) < 2:
        raise ValueError(
            f"scores must hold two data sets at least that have all scores, got {len(kept)}."
        )
    rows = [[cells[dataset, name] for name in names] for dataset in kept]
    means = np.array([[float(cell.mean()) for cell in row] for row in rows])
    even = all(len({len(cell) for cell in row}) == 1 for row in rows)
    several = even and all(len(row[0]) > 1 for row in rows)
    return ScoreTable(
        tuple(kept),
        tuple(names),
        means,
        [np.column_stack(row) for row in rows] if several else None,
        tuple(lacking),
        test_fraction if isinstance(test_fraction, float) else None,
    )
