"""Scorers by name: one table for every metric, and scorers of clusterings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.pipeline import Pipeline

from skeval.metrics._table import ANY_NUMBER, METRICS, Metric, find_row
from skeval.metrics.cluster._indices import INDICES, Index
from skeval.utils._checks import give_nan as undefined_metric
from skeval.utils._checks import naming
from skeval.utils._compat import RoutedScorer, StrOptions, metric_of_scorer, validate_params

__all__ = [
    "get_scorer",
    "get_scorer_names",
    "make_clustering_scorer",
    "range_of",
    "read_scoring",
    "row_of_scorer",
]

Scorer = Callable[..., float]
PARTITION = "partition"
NOISE = -1


def _name_scorer(row: Metric) -> str:
    """Return the name of a scorer as scikit-learn gives it: "neg_" where smaller is better."""
    return row.name if row.greater_is_better else f"neg_{row.name}"


def _read_index(row: Index) -> tuple[str, Metric]:
    """Return the scorer of an index, by the name of its function or of one of its forms."""
    name = row.name if isinstance(row.function, partial) else row.function_name
    name = name.removesuffix("_score")
    scorer = Metric(
        row.function,
        range=(row.low, row.high),
        greater_is_better=row.greater_is_better,
        response=PARTITION if row.is_internal else "predict",
    )
    return name if row.greater_is_better else f"neg_{name}", scorer


# scikit-learn has scorers of its own for its metrics and indices.
SCORERS: dict[str, Metric] = {
    _name_scorer(row): row for row in METRICS if row.function.__module__.startswith("skeval")
} | dict(
    _read_index(row)
    for row in INDICES
    if isinstance(row.function, partial) or row.function.__module__.startswith("skeval")
)


def row_of_scorer(name: str) -> Metric | None:
    """Return the row of what a scorer computes; None where there is none."""
    if name in SCORERS or name not in sklearn.metrics.get_scorer_names():
        return SCORERS.get(name)
    function = metric_of_scorer(sklearn.metrics.get_scorer(name))[0]
    indices = (_read_index(row)[1] for row in INDICES if row.function_name == function.__name__)
    return find_row(function) or next(indices, None)


def range_of(name: str, n_classes: int | None = None) -> tuple[float, float]:
    """Return the smallest and the largest value of what goes by this name: a scorer, or a metric
    that a report shows; infinite where they are not known.
    """
    shown = (row for row in METRICS if any(each.name == name for each in row.reported))
    row = SCORERS.get(name) or next(shown, None) or row_of_scorer(name)
    low, high = ANY_NUMBER if row is None else row.bounds(n_classes)
    return (0.0 - high, 0.0 - low) if name.startswith("neg_") else (low, high)


def get_scorer_names() -> list[str]:
    """Return the names of all scorers: those of skeval and those of scikit-learn.

    Returns
    -------
    names : list of str
        Sorted; each is a name that `get_scorer` takes by itself. It takes one more with an
        argument that has no default: "neg_cost_sensitive_error" with `cost_matrix`.

    Examples
    --------
    >>> from skeval.metrics import get_scorer_names
    >>> [name for name in get_scorer_names() if "error_rate" in name or name == "accuracy"]
    ['accuracy', 'neg_error_rate']
    """
    complete = (name for name, row in SCORERS.items() if not row.required)
    return sorted({*complete, *sklearn.metrics.get_scorer_names()})


def get_scorer(name: str, **metric_kwargs: Any) -> Scorer:
    """Scorer of a metric by its name, for `scoring=` of scikit-learn.

    A scorer is called as ``scorer(estimator, X, y)``; larger is better, so that a loss or error
    enters with a minus sign under a name that starts with "neg".

    Parameters
    ----------
    name : str
        One of `get_scorer_names`, or "neg_cost_sensitive_error".
    **metric_kwargs : dict
        Arguments of the metric, such as `pos_label` or `cost_matrix`; of an internal index of
        clusterings also `undefined` and `space`, see `make_clustering_scorer`. The scorers of
        scikit-learn take none: use `make_scorer` there.

    Returns
    -------
    scorer : callable
        It can be pickled.

    Raises
    ------
    ValueError
        If there is no such scorer, or its metric needs an argument that is not given.

    Notes
    -----
    Internal indices of clusterings, such as "dunn", need no y and work for clusterers without
    `predict`. External ones, such as "purity", compare `predict` with y; the adjusted Rand and
    the Rand index are there under scikit-learn's names, "adjusted_rand_score" and "rand_score".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from skeval.metrics import get_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = get_scorer("macro_fbeta", beta=2.0)
    >>> cross_val_score(RidgeClassifier(), X, y, scoring=scorer).round(3)
    array([0.769, 0.837, 0.837, 0.767, 0.9  ])
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}.")
    if name not in SCORERS:
        try:
            scorer = sklearn.metrics.get_scorer(name)  # It still takes names that it does not list.
        except ValueError as error:
            raise ValueError(
                f"name must be one of get_scorer_names(), got {name!r}{_suggest_name(name)}"
            ) from error
        if metric_kwargs:
            raise ValueError(
                f"name={name!r} is a scorer of scikit-learn, whose arguments are fixed "
                f"(make_scorer sets others), got {list(metric_kwargs)}."
            )
        return scorer
    row = SCORERS[name]
    missing = [argument for argument in row.required if argument not in metric_kwargs]
    if missing:
        raise ValueError(f"name={name!r} needs the arguments {missing}, got {list(metric_kwargs)}.")
    if row.response == PARTITION:
        return make_clustering_scorer(
            row.function, greater_is_better=row.greater_is_better, **metric_kwargs
        )
    return make_scorer(
        row.function,
        greater_is_better=row.greater_is_better,
        response_method=row.response,
        **metric_kwargs,
    )


def read_scoring(estimator: Any, scoring: Any) -> Any:
    """Return the scorer, or the scorers, of an argument `scoring`, as ``check_scoring`` does.

    Names may be those of skeval, too, and a name that is none is answered by what it may mean.
    """
    with naming("scoring"):
        if isinstance(scoring, str):
            return get_scorer(scoring)
        names = scoring if isinstance(scoring, list | tuple | set) else ()
        if names and all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
            scoring = {name: name for name in names}
        if isinstance(scoring, Mapping):
            scoring = {
                name: get_scorer(part) if isinstance(part, str) else part
                for name, part in scoring.items()
            }
        return sklearn.metrics.check_scoring(estimator, scoring)


ABBREVIATIONS = {
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "auprc": "average_precision",
    "acc": "accuracy",
    "mcc": "matthews_corrcoef",
    "mae": "neg_mean_absolute_error",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
}
"""What people call a metric, and its scorer."""


def _suggest_name(name: str) -> str:
    """Return the names that a wrong one may stand for, as the end of a sentence.

    The metric's own name ("dunn_score"), a direction left out ("davies_bouldin") and a misspelling
    have their scorer under a name that holds the same words.
    """
    known = [*SCORERS, *sklearn.metrics.get_scorer_names()]
    name = name.lower()
    if name in ABBREVIATIONS:
        return f"; did you mean {ABBREVIATIONS[name]!r}?"
    bare = name.removeprefix("neg_").removesuffix("_score")
    near = sorted(one for one in known if bare and bare in one)
    near += [one for one in get_close_matches(name, known, cutoff=0.75) if one not in near]
    return f"; did you mean {' or '.join(map(repr, near[:3]))}?" if near else "."


@validate_params(
    {
        "index": [callable],
        "greater_is_better": ["boolean"],
        "undefined": [Real, StrOptions({"nan", "raise"})],
        "space": [StrOptions({"transformed", "input"})],
    }
)
def make_clustering_scorer(
    index: Callable[..., float],
    *,
    greater_is_better: bool = True,
    undefined: float | str = "nan",
    space: str = "transformed",
    **kwargs: Any,
) -> ClusteringScorer:
    """Make a scorer of clusterers from an internal index.

    The scorer, ``scorer(estimator, X, y=None)``, lets `GridSearchCV` choose a clusterer or its
    parameters by an index such as the silhouette, without labels.

    Parameters
    ----------
    index : callable
        ``index(X, labels, **kwargs) -> float``.
    greater_is_better : bool, default=True
        If False, the scorer gives the index with a minus sign.
    undefined : {"nan", "raise"} or float, default="nan"
        The score where the partition has no index: fewer than two clusters (the label -1, noise,
        is none), or no two samples in one and the index raises `ValueError`, or it is nan. "nan"
        warns with `UndefinedMetricWarning`, and `GridSearchCV` then ranks that candidate last;
        "raise" is an error; a number is the score itself, whatever the sign of the index.
    space : {"transformed", "input"}, default="transformed"
        Where a `Pipeline` is judged: in the space that its last step clusters, X as transformed by
        the steps before, or in X as given. Other estimators are judged in X. Choose "input" to
        compare pipelines with different transformers, whose distances have different scales.
    **kwargs : dict
        Further arguments of `index`.

    Returns
    -------
    scorer : ClusteringScorer
        It can be pickled if `index` can; its `set_score_request` asks for metadata, which the
        index then gets.

    Raises
    ------
    ValueError
        If `index` is not callable or `undefined` or `space` is something else; when called, if the
        index raises for data that have two clusters or more, such as texts.

    Notes
    -----
    The partition of `X` is `predict` of the fitted estimator where it has one: held-out samples
    judge how well clusters found elsewhere describe them. A method such as DBSCAN has no rule for
    samples it has not seen, and the labels of its fit belong to other samples: a clone is fitted
    on `X` itself. ``cv=[(range(n), range(n))]`` searches on all samples.

    What fails for every candidate, an index that cannot take the data, raises. `GridSearchCV`
    makes nan of it unless ``error_score="raise"``: it warns, with the traceback, and ranks the
    first candidate best where all are nan.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.metrics import silhouette_score
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skeval.metrics import make_clustering_scorer
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> scorer = make_clustering_scorer(silhouette_score)
    >>> grid = {"n_clusters": [2, 3, 4]}
    >>> search = GridSearchCV(KMeans(n_init=1, random_state=0), grid, scoring=scorer)
    >>> search.fit(X).best_params_
    {'n_clusters': 3}
    """
    return ClusteringScorer(index, greater_is_better, undefined, space, kwargs)


@dataclass(eq=False, repr=False)
class ClusteringScorer(RoutedScorer):
    """Scorer of a clusterer; made by `make_clustering_scorer`."""

    index: Callable[..., float]
    greater_is_better: bool
    undefined: float | str
    space: str
    kwargs: dict[str, Any]

    @property
    def _scored_by(self) -> Callable[..., float]:
        return self.index

    def __call__(self, estimator: Any, X: ArrayLike, y: object = None, **metadata: Any) -> float:
        """Return the score of the partition that the estimator gives to `X`."""
        fitted, labels = _partition(estimator, X)
        sizes = np.unique(labels[labels != NOISE], return_counts=True)[1]
        if len(sizes) < 2:
            return self._no_value(f"the partition must have two clusters, got {len(sizes)}.")
        points = _clustered_space(fitted, X) if self.space == "transformed" else X
        try:
            value = float(self.index(points, labels, **self.kwargs | metadata))
        except ValueError as error:
            if sizes.max() > 1:
                raise
            return self._no_value(str(error), error)
        if np.isnan(value):
            return self._no_value("it is nan.")
        return value if self.greater_is_better else -value

    def _no_value(self, reason: str, cause: Exception | None = None) -> float:
        if self.undefined == "raise":
            raise ValueError(f"The clustering index is undefined: {reason}") from cause
        if self.undefined == "nan":
            return undefined_metric(f"The clustering index is undefined: {reason}")
        return float(self.undefined)

    def __repr__(self) -> str:
        name = getattr(self.index, "__name__", repr(self.index))
        options = "".join(f", {key}={value!r}" for key, value in self.kwargs.items())
        return (
            f"make_clustering_scorer({name}, greater_is_better={self.greater_is_better}, "
            f"undefined={self.undefined!r}, space={self.space!r}{options})"
        )


def _partition(estimator: Any, X: ArrayLike) -> tuple[Any, np.ndarray]:
    """Return a fitted clusterer and the labels that it gives to the rows of X."""
    if hasattr(estimator, "predict"):
        return estimator, np.asarray(estimator.predict(X))
    fresh = clone(estimator)
    if hasattr(fresh, "fit_predict"):
        return fresh, np.asarray(fresh.fit_predict(X))
    return fresh, np.asarray(fresh.fit(X).labels_)


def _clustered_space(estimator: Any, X: Any) -> Any:
    """Return X as the last step of a fitted pipeline gets it."""
    while isinstance(estimator, Pipeline):
        if len(estimator) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator[-1]
    return X
