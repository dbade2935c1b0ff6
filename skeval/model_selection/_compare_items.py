"""Comparison of systems by their scores on the items of a benchmark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from skeval.model_selection._compare_predictions import compare_predictions, read_rows
from skeval.model_selection._comparison import Comparison
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike
from skeval.utils._compat import validate_params

ID_WORDS = {"id", "item", "index", "idx", "question", "sample", "instance", "example", "doc"}
"""Parts of a column name that suggest an identifier."""
MIN_ID_ROWS = 3
SEPARATOR = " / "


class ItemTable(NamedTuple):
    """Scores of all runs on the same items, the system of each run, and the groups of the items."""

    scores: dict[str, np.ndarray]
    owners: Any
    groups: Any


@validate_params(
    {
        "items": [str, "array-like", None],
        "groups": [str, "array-like", None],
        "seeds": [str, "array-like", None],
        "random_state": ["random_state", Generator],
    }
)
def compare_items(
    scores: Any,
    *,
    items: str | ArrayLike | None = None,
    groups: str | ArrayLike | None = None,
    seeds: str | ArrayLike | None = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
) -> Comparison:
    r"""Rank systems by their scores on the same items, with simultaneous intervals.

    Use it for a leaderboard: each system has one score on each item of a benchmark, such as 0 or 1
    for each question. It is `compare_predictions` with ``y_true=None`` and ``method="max_t"``.

    Parameters
    ----------
    scores : data frame, dict or array-like
        Scores; larger is better. One of:

        - wide: a data frame with a row for each item and a column for each system, a dict of
          systems, or an array of shape (n_items, n_systems);
        - long: a data frame or a dict of columns with one row for each score and the columns
          "system" and "score", and the column of the items. `skeval.datasets.load_item_scores`
          returns this form.
    items : str or array-like of shape (n_items,), default=None
        Column of the item names, which is not a system. In the long form the default is "item". For
        a wide table it may be an array. Item names must be unique.
    groups : str, list of str or array-like of shape (n_items,) or (n_items, n_kinds), default=None
        Task or prompt of each item: items of one group are not independent, and standard errors are
        computed between groups. Names of columns, or values in the order of the items (wide form
        only). Several columns are nested or crossed groups. In the long form, an item is identified
        by its group and its name, so tasks may number their items alike.
    seeds : str or array-like of shape (n_columns,), default=None
        For systems that were run several times. Long form: the column of the runs, by default
        "seed" if it exists. Wide form: the system of each column of scores. The mean of the runs
        is compared, and the variance between runs is part of the standard error.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative hypothesis for the difference of two systems, first minus second.
    confidence_level : float, default=0.95
        Simultaneous coverage of all intervals of scores, differences and ranks.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the normal draws for the simultaneous intervals.

    Returns
    -------
    comparison : Comparison
        Prints the rank intervals first. Its `ranks` and `differences` have simultaneous intervals;
        the intervals of the scores are `lows` and `highs`.

    Raises
    ------
    ValueError
        If a column looks like an identifier, a score is missing or not a finite number, a column is
        missing, or an item has several scores of one run.
    TypeError
        If there are fewer than two systems.

    See Also
    --------
    compare_predictions : Other metrics and tests, from predictions and true values.
    compare_scores : One score for each data set or split, instead of each item.
    comparison_power : Number of items that distinguish two systems.

    Notes
    -----
    With :math:`s_{ij}` the score of system `j` on item `i` of `n`, the score of a system is
    :math:`\bar s_j = \sum_i s_{ij} / n`. The difference of each pair over its standard error is
    compared with the distribution of the largest over all pairs [1]_. The rank interval of a system
    runs from 1 + the number of significantly better systems to the number of systems that are not
    significantly worse [2]_. Error rates and the coverage of ranks are the same as for
    `compare_predictions`: with 30 equal systems, a difference was reported in .045 to .078 of 400
    data sets at a nominal 5 %.

    References
    ----------
    .. [1] Hothorn, T., Bretz, F. and Westfall, P. (2008). Simultaneous inference in general
       parametric models. Biometrical Journal 50, 346-363. https://doi.org/10.1002/bimj.200810425
    .. [2] Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024). Inference for ranks
       with applications to mobility across neighbourhoods and academic achievement across
       countries. Review of Economic Studies 91, 476-518. https://doi.org/10.1093/restud/rdad006

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import compare_items
    >>> rng = np.random.default_rng(0)
    >>> difficulty = rng.random(300)
    >>> scores = {
    ...     name: (rng.normal(scale=0.1, size=300) + difficulty < rate).astype(float)
    ...     for name, rate in {"small": 0.5, "medium": 0.62, "large": 0.65}.items()
    ... }
    >>> print(compare_items(scores, random_state=0))
    300 items: ranks, mean scores (95 % simultaneous intervals)
      large   rank 1 to 2    0.5933 [0.5268, 0.6566]
      medium  rank 1 to 2    0.5667 [0.5000, 0.6310]
      small   rank 3 to 3    0.4300 [0.3658, 0.4967]
    largest t of all pairs, 95 % simultaneous intervals
      medium - large  -0.0267 [-0.0722, 0.0192]  P = 0.17
      small - large   -0.1633 [-0.2171, -0.1074]  P < 0.0001
      small - medium  -0.1367 [-0.1862, -0.0853]  P < 0.0001
      large has the highest score; it differs significantly from small (largest t of all
      pairs, level 5 % for all of 3 pairs). 2 of 3 pairs differ significantly. No
      significant difference from medium; this is not evidence of equality, see the
      intervals. The best system was chosen after looking at the scores; the intervals of
      the scores are simultaneous, which accounts for this. This applies to these
      predictions; variation from retraining is not included.
    """
    table = _read_items(scores, items, groups, seeds)
    comparison = compare_predictions(
        None,
        table.scores,
        method="max_t",
        groups=table.groups,
        seeds=table.owners,
        alternative=alternative,
        confidence_level=confidence_level,
        random_state=random_state,
    )
    n_items = len(next(iter(table.scores.values())))
    return replace(comparison, n_items=n_items)


def _read_items(scores: Any, items: Any, groups: Any, seeds: Any) -> ItemTable:
    """Return a wide or long table as columns of scores, one for each run of a system."""
    columns = _read_columns(scores)
    if columns is None:
        if isinstance(scores, str):
            raise TypeError(
                f"scores must be a table, got {scores!r}; read a file with pandas.read_csv."
            )
        with _checks.naming("scores"):
            values = np.asarray(scores, dtype=float)
        if values.ndim != 2 or values.shape[1] < 2:
            raise ValueError(
                "scores must have the shape (n_items, n_systems) with two systems or more, got "
                f"{values.shape}."
            )
        columns = {f"system {number}": column for number, column in enumerate(values.T, 1)}
    _checks.check_same_length(**{f"scores[{name!r}]": column for name, column in columns.items()})
    for argument, value in {"items": items, "groups": groups, "seeds": seeds}.items():
        if isinstance(value, str) and value not in columns:
            raise ValueError(
                f"{argument} must name a column of scores, got {value!r}; the columns are "
                f"{list(columns)}."
            )
    if {"system", "score"} <= set(columns):
        return _read_long(columns, items, groups, seeds)
    return _read_wide(columns, items, groups, seeds)


def _read_columns(scores: Any) -> dict[str, np.ndarray] | None:
    """Return the columns of a frame or dict by name; None for an array."""
    if not hasattr(scores, "columns") and not isinstance(scores, Mapping):
        return None
    keys = list(scores if isinstance(scores, Mapping) else scores.columns)
    names = [str(key) for key in keys]
    if len(set(names)) < len(names):
        raise ValueError(f"scores must have columns of different names, got {names}.")
    return {name: np.asarray(scores[key]) for name, key in zip(names, keys, strict=True)}


def _are_columns(value: Any, columns: Mapping[str, np.ndarray]) -> bool:
    """Whether an argument contains names of columns of the table rather than values."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not names:
        return False
    return all(isinstance(name, str) and name in columns for name in names)


def _take_columns(value: Any, columns: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Return the columns named by an argument."""
    return [columns[name] for name in ([value] if isinstance(value, str) else value)]


def _read_long(columns: dict[str, np.ndarray], items: Any, groups: Any, seeds: Any) -> ItemTable:
    """Read a table with one row per score; items are identified by their group and name."""
    items = "item" if items is None else items
    seeds = "seed" if seeds is None and "seed" in columns else seeds
    for argument, value in {"items": items, "seeds": seeds}.items():
        if value is not None and not (isinstance(value, str) and value in columns):
            raise ValueError(
                f"{argument} must name a column if scores have one row for each score, got "
                f"{value!r}; the columns are {list(columns)}."
            )
    kinds = []
    if groups is not None:
        if not _are_columns(groups, columns):
            raise ValueError(
                "groups must name columns if scores have one row for each score; the columns are "
                f"{list(columns)}."
            )
        kinds = [_as_text(column) for column in _take_columns(groups, columns)]
    labels = _as_text(columns[items])
    for kind in kinds:
        labels = np.char.add(np.char.add(kind, SEPARATOR), labels)
    rows = {"item": labels, "system": columns["system"], "score": columns["score"]}
    if seeds is not None:
        rows["seed"] = columns[seeds]
    try:
        names, owners, values = read_rows(rows, seeds is not None, "scores")
    except ValueError as error:
        if groups is None and "one score of each item" in str(error):
            hint = "If items of different tasks share a name, name the column of tasks in groups="
            raise ValueError(f"{error} {hint}.") from error
        raise
    for name, column in zip(names, values, strict=True):
        _check_scores(name, column)
    _, first = np.unique(labels, return_index=True)
    codes = np.column_stack([kind[first] for kind in kinds]) if kinds else None
    return ItemTable(dict(zip(names, values, strict=True)), owners, codes)


def _read_wide(columns: dict[str, np.ndarray], items: Any, groups: Any, seeds: Any) -> ItemTable:
    """Read a table with one row per item and one column per run of a system."""
    named = [
        name
        for value in (items, groups)
        if _are_columns(value, columns)
        for name in ([value] if isinstance(value, str) else value)
    ]
    if _are_columns(groups, columns):
        groups = np.column_stack([_as_text(column) for column in _take_columns(groups, columns)])
    if items is not None:
        ids = columns[items] if isinstance(items, str) else np.asarray(items)
        _checks.check_same_length(scores=next(iter(columns.values())), items=ids)
        distinct, counts = np.unique(_as_text(ids), return_counts=True)
        if groups is None and (counts > 1).any():
            raise ValueError(
                f"items must be unique, got {distinct[counts > 1][0]!r} {counts.max()} times; pass "
                "the task of each item as groups=, or one row for each score."
            )
    systems = {name: column for name, column in columns.items() if name not in named}
    _refuse_identifiers(systems)
    read = {}
    for name, column in systems.items():
        with _checks.naming(f"scores[{name!r}]"):
            read[name] = np.asarray(column, dtype=float)
        _check_scores(name, read[name])
    return ItemTable(read, seeds, groups)


def _check_scores(name: str, column: np.ndarray) -> None:
    """Raise unless a system has one finite number for each item."""
    if column.ndim != 1:
        raise ValueError(f"scores[{name!r}] must have one dimension, got shape {column.shape}.")
    if not np.isfinite(column).all():
        row = int(np.argmin(np.isfinite(column)))
        raise ValueError(
            f"scores[{name!r}] must be finite, got {column[row]} in row {row}. Leave out the item "
            "for all systems, or score a missing answer as wrong."
        )


def _refuse_identifiers(systems: Mapping[str, np.ndarray]) -> None:
    """Raise if a column contains names or numbers of items rather than scores."""
    for name, column in systems.items():
        text = column.dtype.kind in "OUS" and any(
            isinstance(value, str) for value in column.tolist()
        )
        if not (text or _numbers_rows(name, column)):
            continue
        what = "text" if text else "different whole numbers"
        raise ValueError(
            f"scores must hold numbers only, but the column {name!r} looks like an identifier or a "
            f"group ({what}). Pass items={name!r} or groups={name!r}, or drop it."
        )


def _numbers_rows(name: str, column: np.ndarray) -> bool:
    """Whether a column has consecutive whole numbers, or distinct ones and the name of an id."""
    if column.ndim != 1 or column.dtype.kind not in "iuf" or len(column) < MIN_ID_ROWS:
        return False
    if not np.isfinite(column).all() or (column != np.round(column)).any():
        return False
    if len(np.unique(column)) < len(column):
        return False
    is_id = not ID_WORDS.isdisjoint(re.split(r"[^a-z]+", name.lower()))
    return bool(is_id or np.ptp(column) == len(column) - 1)


def _as_text(values: Any) -> np.ndarray:
    """Return names as text of one width."""
    return np.array([str(value) for value in np.asarray(values).tolist()])
