"""Scores of several classifiers on several data sets, computed or read from a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from skeval._adapters.fits import score_plan
from skeval._resampling.fit_params import Params, check_takes_weights
from skeval._resampling.inputs import validate_inputs
from skeval._resampling.splitters import fold_plan, resolve_folds
from skeval.model_selection._comparison_methods import (
    check_estimators,
    check_named,
    choose_scoring,
    resolve_scorer,
)
from skeval.utils._checks import RandomStateLike, check_data, check_option, naming, root_seed
from skeval.utils._compat import validate_params
from skeval.utils._options import ErrorScore


@validate_params(
    {
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "random_state": ["random_state", Generator],
        "n_jobs": [Integral, None],
    }
)
def run_over_datasets(
    estimators: Mapping[str, Any],
    datasets: Mapping[str, Any],
    *,
    cv: Any = None,
    scoring: Any = None,
    groups: Mapping[str, ArrayLike] | None = None,
    sample_weight: Mapping[str, ArrayLike] | None = None,
    params: Mapping[str, Params] | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> dict[str, dict[str, dict[str, Any]]]:
    """Score several classifiers on several data sets, on the same splits of each.

    With `memory`, an interrupted run resumes: finished fits are loaded, not repeated.

    Parameters
    ----------
    estimators : dict of str to classifier
        The classifiers, or regressors.
    datasets : dict of str to (X, y), (X, y, groups) or callable
        Data sets. A callable without arguments that returns a data set is called when needed, so
        that only one data set is in memory at a time.
    cv : int, splitter or iterable, default=None
        Folds. A number of folds is shuffled with `random_state`, stratified by class, and keeps
        groups together. None means 10.
    scoring : str or callable, default=None
        Name from `get_scorer_names`, or a scorer; larger is better. None is "accuracy" for
        classifiers and "r2" for regressors.
    groups : dict of str to array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split. One array for each data
        set, by its name. Groups may also be part of `datasets`.
    sample_weight : dict of str to array-like of shape (n_samples,), default=None
        Sample weights. One array for each data set, by its name; they are used in every fit, and
        scores are not weighted.
    params : dict of str to dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. One
        dict for each data set, by its name.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call. Must be an int if
        `memory` is used and `cv` is a number, because new folds would not match the cache.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it. The fits of one classifier on one
        data set run in parallel with the active joblib backend, which may be a cluster.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        If a fit raises: raise the error, or give its split the score nan and warn. For
        `compare_scores`, such a score is missing.

    Returns
    -------
    scores : dict of str to dict of str to dict
        For each data set and classifier ``test_score``, the scores of the splits, and ``indices``,
        their ``train`` and ``test`` samples, as in `sklearn.model_selection.cross_validate`:
        input of ``compare_scores(scores, over="datasets")``.

    Raises
    ------
    TypeError
        If `estimators` or `datasets` is not a dict of names, or an estimator lacks a method.
    ValueError
        If a data set has another form, groups, weights or parameters name an unknown data set,
        groups are passed twice, or `memory` is used and the folds would be random.

    Notes
    -----
    The error of a failed fit has a note that names the classifier and the data set; with `memory`,
    finished fits are kept.

    Examples
    --------
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skeval.model_selection import run_over_datasets
    >>> scores = run_over_datasets(
    ...     {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=0)},
    ...     {"iris": load_iris(return_X_y=True), "wine": lambda: load_wine(return_X_y=True)},
    ...     cv=5,
    ...     random_state=0,
    ... )
    >>> scores["wine"]["bayes"]["test_score"].round(3).tolist()
    [0.972, 1.0, 1.0, 0.971, 0.971]
    """
    check_named("estimators", estimators, 1)
    check_named("datasets", datasets, 1)
    check_estimators("estimators", estimators, "corrected_t", None)
    by_dataset: dict[str, Any] = {
        "groups": {} if groups is None else groups,
        "sample_weight": {} if sample_weight is None else sample_weight,
        "params": {} if params is None else params,
    }
    for name, values in by_dataset.items():
        if not isinstance(values, Mapping):
            raise TypeError(f"{name} must be a dict of data sets, got {values!r}.")
        for dataset in values:
            check_option(name, dataset, datasets)
    if memory is not None and random_state is None and (cv is None or isinstance(cv, Integral)):
        raise ValueError(
            "random_state must be an int if memory is given and cv is a number of folds, got None: "
            "new folds would not be found in the cache."
        )
    first = next(iter(estimators.values()))
    scoring = choose_scoring("corrected_t", scoring, first)
    scorer, root = resolve_scorer(scoring), root_seed(random_state)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for name, dataset in datasets.items():
        X, y, own_groups = _read_dataset(name, dataset)
        options = {option: values.get(name) for option, values in by_dataset.items()}
        if own_groups is not None:
            if options["groups"] is not None:
                raise ValueError(f"groups[{name!r}] and those of datasets must not both be given.")
            options["groups"] = own_groups
        results[name], at = {}, f"on the data set {name!r}"
        try:
            inputs = validate_inputs(first, X, y, with_loss=False, **options, **run)
            folds = list(resolve_folds(cv, inputs.X, inputs.target, inputs.groups, root))
            plan = fold_plan(len(inputs.target), folds)
            train, test = (list(part) for part in zip(*folds, strict=True))
            for label, estimator in estimators.items():
                at = f"{label!r} on the data set {name!r}"
                if inputs.weight is not None:
                    check_takes_weights(estimator)
                blocks = score_plan(inputs.with_estimator(estimator), plan, scorer)
                results[name][label] = {
                    "test_score": np.array([score for block in blocks for score in block]),
                    "indices": {"train": train, "test": test},
                }
        except Exception as error:
            error.add_note(f"run_over_datasets was at work {at}.")
            raise
    return results


def _read_dataset(name: str, dataset: Any) -> tuple[Any, Any, Any]:
    """Return X, y and groups of a data set, which a callable may return."""
    if callable(dataset):
        dataset = dataset()
    if not isinstance(dataset, tuple | list) or len(dataset) not in (2, 3):
        raise ValueError(
            f"datasets[{name!r}] must be (X, y), (X, y, groups) or a function that returns one, "
            f"got {type(dataset).__name__}."
        )
    X, y, *groups = dataset
    return X, y, groups[0] if groups else None


FORMS = (
    "accepted are a table or array with a row for each data set and a column for each classifier, "
    "a table with the columns dataset, classifier and score (and split), and a dict of data sets, "
    "each a dict of classifiers"
)
"""Forms of scores on data sets."""
LONG_COLUMNS = ("dataset", "classifier", "score")
MISSING = ("None", "nan", "NaT", "<NA>")
"""Printed forms of missing values in any data frame library."""
Cells = dict[tuple[str, str], np.ndarray]


@dataclass(frozen=True)
class ScoreTable:
    """Mean scores over the splits by data set and classifier.

    `dropped` are the data sets with missing scores.
    """

    names: tuple[str, ...]
    scores: np.ndarray
    datasets: tuple[str, ...]
    dropped: tuple[str, ...]


def read_score_table(scores: Any, missing: str) -> ScoreTable:
    """Return the scores of a frame, an array, or data sets by name or in a list."""
    if hasattr(scores, "columns"):
        columns = [str(name) for name in scores.columns]
        datasets, names, cells = (_read_long if set(LONG_COLUMNS) <= set(columns) else _read_wide)(
            scores, columns
        )
    elif isinstance(scores, Mapping):
        texts = _name("data sets", scores)
        datasets, names, cells = _read_nested({texts[item]: scores[item] for item in scores})
    elif isinstance(scores, list | tuple) and any(isinstance(item, Mapping) for item in scores):
        named = {f"data set {place}": item for place, item in enumerate(scores, 1)}
        datasets, names, cells = _read_nested(named)
    else:
        datasets, names, cells = _read_array(scores)
    return _fill_table(datasets, names, cells, missing)


def _read_wide(frame: Any, columns: list[str]) -> tuple[list[str], list[str], Cells]:
    datasets = [str(row) for row in getattr(frame, "index", range(len(frame)))]
    for what, names in (("data sets", datasets), ("classifiers", columns)):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"scores must name its {what} once each, got {twice!r} twice.")
    try:
        values = check_data("scores", frame, dtype=np.float64, ensure_all_finite="allow-nan")
    except ValueError as error:
        raise ValueError(f"{str(error).rstrip('.')}; {FORMS}.") from error
    return datasets, columns, _cells_of(datasets, columns, values[:, :, None])


def _read_long(frame: Any, columns: list[str]) -> tuple[list[str], list[str], Cells]:
    """Read rows in arbitrary order: names are sorted, and splits are paired by name."""
    datasets, names = (_read_ids(frame, column) for column in LONG_COLUMNS[:2])
    with_splits = "split" in columns
    splits = _read_ids(frame, "split") if with_splits else [None] * len(datasets)
    values = check_data(
        "scores", list(frame["score"]), ensure_2d=False, dtype=float, ensure_all_finite="allow-nan"
    )
    of_dataset, of_name = _name("data sets", _sort(datasets)), _name("classifiers", _sort(names))
    by_cell: dict[tuple[str, str], dict[Any, float]] = {}
    for dataset, name, split, value in zip(datasets, names, splits, values, strict=True):
        key = of_dataset[dataset], of_name[name]
        cell = by_cell.setdefault(key, {})
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
    _check_same_splits(by_cell)
    cells = {key: np.array([cell[at] for at in _sort(cell)]) for key, cell in by_cell.items()}
    return list(of_dataset.values()), list(of_name.values()), cells


def _read_ids(frame: Any, column: str) -> list[Any]:
    """Return the names in a column; raise if one is missing."""
    ids = list(frame[column])
    missing = [value for value in ids if not isinstance(value, str) and str(value) in MISSING]
    if missing:
        raise ValueError(f"scores must have a {column} in each row, got {missing[0]!r}.")
    return ids


def _sort(ids: Iterable[Any]) -> list[Any]:
    """Return the distinct values in order; values that cannot be compared by type and text."""
    different = set(ids)
    try:
        return sorted(different)
    except TypeError:
        return sorted(different, key=lambda value: (type(value).__name__, str(value)))


def _name(what: str, ids: Iterable[Any]) -> dict[Any, str]:
    """Return the text of each name; raise if different names have the same text."""
    named: dict[str, Any] = {}
    for identifier in ids:
        other = named.setdefault(str(identifier), identifier)
        if other != identifier:
            raise ValueError(
                f"scores must have distinct names, got the {what} {other!r} and {identifier!r}."
            )
    return {identifier: text for text, identifier in named.items()}


def _check_same_splits(by_cell: dict[tuple[str, str], dict[Any, float]]) -> None:
    """Raise unless all classifiers have the same splits of a data set."""
    first: dict[str, tuple[str, set[Any]]] = {}
    for (dataset, name), cell in by_cell.items():
        other, splits = first.setdefault(dataset, (name, set(cell)))
        apart = splits ^ set(cell)
        if apart:
            raise ValueError(
                f"scores must be of the same splits for all classifiers, got split "
                f"{_sort(apart)[0]!r} of {dataset!r} for only one of {other!r} and {name!r}."
            )


def _read_nested(scores: dict[str, Any]) -> tuple[list[str], list[str], Cells]:
    cells: Cells = {}
    names: dict[Any, None] = {}
    for dataset, results in scores.items():
        if not isinstance(results, Mapping):
            raise TypeError(
                "scores must hold a dict of classifiers for each data set, got "
                f"{type(results).__name__} for {dataset!r}; {FORMS}."
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
    """Return scores of splits from a `cross_validate` result, a list, or a single number."""
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
    """Raise if results of `cross_validate` have different splits."""
    indices = [(name, _read_indices(result)) for name, result in results.items()]
    with_indices = [(name, parts) for name, parts in indices if parts is not None]
    for name, parts in with_indices[1:]:
        other, first = with_indices[0]
        if len(parts) != len(first) or not all(map(np.array_equal, parts, first)):
            raise ValueError(
                f"{other} and {name} must be of the same splits in the same order, got results of "
                "cross_validate with other indices."
            )


def _read_indices(result: Any) -> list[Any] | None:
    """Return the training samples and the test samples of all splits; None if unknown."""
    indices = result.get("indices") if isinstance(result, Mapping) else None
    return None if indices is None else [*indices["train"], *indices["test"]]


def _cells_of(datasets: list[str], names: list[str], values: np.ndarray) -> Cells:
    return {
        (dataset, name): values[row, column]
        for row, dataset in enumerate(datasets)
        for column, name in enumerate(names)
    }


def _fill_table(datasets: list[str], names: list[str], cells: Cells, missing: str) -> ScoreTable:
    """Return the table; data sets with missing scores are dropped, or raise an error."""
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
    means = np.array([[float(cells[dataset, name].mean()) for name in names] for dataset in kept])
    return ScoreTable(tuple(names), means, tuple(kept), tuple(lacking))
