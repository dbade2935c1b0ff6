"""Scorers of all metrics by name, and scorers of clusterings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from inspect import isfunction, signature
from numbers import Real
from typing import Any, Literal

import numpy as np
import sklearn.metrics
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier
from sklearn.metrics import make_scorer
from sklearn.pipeline import Pipeline

from skeval.metrics import _table
from skeval.metrics._table import SCORES
from skeval.metrics.cluster._internal import BY_NAME, EXTERNAL, INTERNAL
from skeval.utils import _compat
from skeval.utils._checks import give_nan as undefined_metric
from skeval.utils._checks import naming, refuse_class, suggest, validate_params, warn_user
from skeval.utils._compat import StrOptions

Space = Literal["transformed", "input"]

Scorer = Callable[..., float]
PARTITION = "partition"
NOISE = -1


OF_INDICES: dict[str, _table.Metric] = {
    # bound arguments make an index of its own, with the name of its row
    getattr(row.function, "__name__", row.name): _table.Metric(
        row.function,
        range=(row.low, row.high),
        greater_is_better=row.greater_is_better,
        response=response,
    )
    for rows, response in ((INTERNAL, PARTITION), (EXTERNAL, "predict"))
    for row in rows
}
"""Clustering indices by the names of their functions."""

# skip metrics and indices of scikit-learn, which has scorers for them
SCORERS: dict[str, _table.Metric] = {
    f"{'' if row.greater_is_better else 'neg_'}{name.removesuffix('_score')}": row
    for name, row in ({row.name: row for row in _table.METRICS} | OF_INDICES).items()
    if getattr(row.function, "func", row.function).__module__.startswith("skeval")
}


def row_of_scorer(name: str) -> _table.Metric | None:
    """Return the row of a scorer's metric, or None if it has none."""
    if name in SCORERS or name not in sklearn.metrics.get_scorer_names():
        return SCORERS.get(name)
    function = _compat.metric_of_scorer(sklearn.metrics.get_scorer(name))[0]
    return _table.find_row(function) or OF_INDICES.get(function.__name__)


def name_of_scorer(scoring: Any) -> Any:
    """Return the name of a scikit-learn scorer. Any other scoring is returned unchanged."""
    read = _compat.metric_of_scorer, _compat.responses_of_scorer
    if _compat.is_plain_scorer(scoring):
        for name in sklearn.metrics.get_scorer_names():
            known = sklearn.metrics.get_scorer(name)
            if all(part(known) == part(scoring) for part in read):
                return name
    return scoring


def range_of(name: Any, n_classes: int | None = None) -> tuple[float, float]:
    """Return the range of a reported metric, or of a scorer with a name or made by `make_scorer`.

    The range is infinite if it is unknown.
    """
    if _compat.is_plain_scorer(name):
        function, arguments, larger_is_better = _compat.metric_of_scorer(name)
        low, high = _table.range_of_metric(partial(function, **arguments), n_classes)
        return (low, high) if larger_is_better else (0.0 - high, 0.0 - low)
    if not isinstance(name, str):
        return _table.ANY_NUMBER
    row = SCORERS.get(name) or _table.REPORTED_ROWS.get(name) or row_of_scorer(name)
    low, high = _table.ANY_NUMBER if row is None else row.bounds(n_classes)
    return (0.0 - high, 0.0 - low) if name.startswith("neg_") else (low, high)


def get_scorer_names() -> list[str]:
    """Return the names of all scorers of skeval and scikit-learn.

    Returns
    -------
    names : list of str
        Sorted names that `get_scorer` accepts without further arguments. The list omits
        "neg_cost_sensitive_error", "neg_mase" and "neg_mean_quantile_loss", because they require
        `cost_matrix`, `y_train` and `quantiles`, respectively.

    Examples
    --------
    >>> from skeval.metrics import get_scorer_names
    >>> [name for name in get_scorer_names() if "error_rate" in name or name == "accuracy"]
    ['accuracy', 'neg_error_rate']
    """
    complete = (name for name, row in SCORERS.items() if not row.required)
    return sorted({*complete, *sklearn.metrics.get_scorer_names()})


def get_scorer(scoring: str | Scorer, **metric_kwargs: Any) -> Scorer:
    """Return the scorer of a metric by name, for the argument `scoring` of scikit-learn.

    A scorer is called as ``scorer(estimator, X, y)``, and larger is better. Scorers of losses and
    errors are negated, and their names start with ``neg_``.

    Parameters
    ----------
    scoring : str or callable
        One of `get_scorer_names`, or a name with a required argument, such as
        "neg_cost_sensitive_error" or "neg_mase". A scorer is returned unchanged. "jaccard" is the
        index of scikit-learn, which compares the sets of true and predicted positives of a
        classifier. "pair_jaccard" compares the pairs of samples of two partitions.
    **metric_kwargs : dict
        Arguments of the metric, such as `pos_label` or `cost_matrix`. Internal clustering indices
        also accept `undefined` and `space` (see `make_clustering_scorer`). Scorers of scikit-learn
        accept no arguments. Use `make_scorer` for them instead.

    Returns
    -------
    scorer : callable
        Scorer that can be pickled.

    Raises
    ------
    ValueError
        If there is no such scorer, or a required argument of the metric is missing.

    Notes
    -----
    Internal indices of clusterings, such as "dunn", require no y and support clusterers without
    `predict`. The same applies to distances within and between clusters, such as "neg_diameter" and
    "min_separation". "neg_mean_within" averages the mean distances of the clusters, and
    "mean_separation" the mean distances of pairs of clusters. With ``within="pairs"``, the former
    is the mean over all pairs of samples in the same cluster. External indices, such as "purity",
    compare `predict` with y. The Rand index and the adjusted Rand index have scikit-learn's names,
    "rand_score" and "adjusted_rand_score".

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
    refuse_class("scoring", scoring)
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(f"scoring must be a string or a scorer, got {scoring!r}.")
    # the metrics of skeval, or else a scorer of scikit-learn
    row = SCORERS.get(scoring) if isinstance(scoring, str) else None
    if row is None:
        try:
            scorer = sklearn.metrics.get_scorer(scoring)  # also accepts unlisted names
        except ValueError as error:
            raise ValueError(
                f"scoring must be one of skeval.metrics.get_scorer_names(), got {scoring!r}"
                f"{_suggest_name(str(scoring))}"
            ) from error
        if metric_kwargs:
            raise ValueError(
                f"scoring={scoring!r} must be passed without arguments, got "
                f"{list(metric_kwargs)}. Use make_scorer."
            )
        return scorer
    if row.required and metric_kwargs.keys().isdisjoint(row.required):
        needed = " or ".join(row.required)
        call = f"get_scorer({scoring!r}, {row.required[0]}=...)"
        raise ValueError(f"scoring={scoring!r} must have the argument {needed}. Use {call}.")
    # an index of a partition needs the samples and their clusters
    if row.response == PARTITION:
        return make_clustering_scorer(
            row.function, greater_is_better=row.greater_is_better, **metric_kwargs
        )
    # a misspelled argument would otherwise fail only in the first score
    known = signature(row.function).parameters
    for name in metric_kwargs.keys() - known:
        raise TypeError(f"{name} is not an argument of scoring={scoring!r}{suggest(name, known)}.")
    return make_scorer(
        row.function,
        greater_is_better=row.greater_is_better,
        response_method=row.response,
        **metric_kwargs,
    )


def read_scoring(estimator: Any, scoring: Any) -> Any:
    """Return the scorer or scorers of an argument `scoring`, like ``check_scoring``.

    Names of skeval are accepted too. An unknown name raises an error with suggestions. Scorers
    that resample the procedure are refused, because here the scored samples did not train the
    model.
    """
    for part in filter(callable, scoring.values() if isinstance(scoring, Mapping) else [scoring]):
        refuse_class("scoring", part)
        if getattr(part, "resamples", False):
            raise ValueError(
                "scoring must not be a scorer that fits models to the samples it scores, got "
                f"{part!r}. Pass it to cross_validate or a search with cv=WholeSample()."
            )
        function, _, larger_is_better = _compat.metric_of_scorer(part)
        row = _table.find_row(function)
        # a metric, or a function of two arrays
        of_arrays = isfunction(part) and len(signature(part).parameters) == 2
        if function is part and (row is not None or of_arrays):
            larger = True if row is None else row.greater_is_better
            raise TypeError(
                f"scoring must be a name or a scorer, got the metric {function.__name__}. Pass "
                f"make_scorer({function.__name__}, greater_is_better={larger})."
            )
        # larger must be better, so a loss needs a negative sign
        if larger_is_better and row is not None and not row.greater_is_better:
            raise ValueError(
                f"scoring must be larger for better models, but {function.__name__} is a loss. "
                f"Pass make_scorer({function.__name__}, greater_is_better=False)."
            )
        # classifiers predict labels, of which all of a class are tied
        ranks = row is not None and row.response == SCORES and is_classifier(estimator)
        if ranks and np.array_equal(_compat.responses_of_scorer(part), "predict"):
            warn_user(
                f"scoring should rank samples by scores, but make_scorer({function.__name__}) "
                f"ranks the labels of `predict`. Pass response_method={SCORES!r} to make_scorer."
            )
    if not (scoring is None or callable(scoring) or hasattr(scoring, "__len__")):
        raise ValueError(
            f"scoring must be None, a name, a callable, or a list or dict of them, got {scoring!r}."
        )
    with naming("scoring"):
        # names become scorers, alone or in a list or dict
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


ANY_CLASS = ("pos_label", None)
"""Argument of scorers of averages over classes, which has no effect."""


def name_scoring(scoring: Any) -> str:
    """Return the name of a score, or of its function, without options. Losses begin with "neg_"."""
    function, _, greater_is_better = _compat.metric_of_scorer(scoring)
    function = function.func if isinstance(function, partial) else function
    name = function if isinstance(function, str) else getattr(function, "__name__", str(function))
    return name if greater_is_better else f"neg_{name}"


def find_batch(scoring: Any, classes: np.ndarray | None) -> _table.BatchScore | None:
    """Return the metric of a scorer for many fits at once, or None if it is not supported.

    The metric is looked up by the function that the scorer calls. `scoring=None` is the method
    `score` of the estimator, that is, accuracy or R^2. For regression, `classes` is None.
    """
    if scoring is None:
        scoring = "r2" if classes is None else "accuracy"
    if isinstance(scoring, str):
        try:
            scoring = sklearn.metrics.get_scorer(scoring)
        except ValueError:
            return None
    # other callables do not state their metric
    if not _compat.is_plain_scorer(scoring):
        return None
    function, fixed, greater_is_better = _compat.metric_of_scorer(scoring)
    options = {name: value for name, value in fixed.items() if (name, value) != ANY_CLASS}
    row, average = _table.find_row(function), options.get("average", "")
    score = None if row is None or options.keys() - {"average"} else row.find_batch(average)
    if row is None or score is None or (classes is None) != row.of_numbers:
        return None
    if classes is not None:
        if not np.array_equal(_compat.responses_of_scorer(scoring), row.response):
            return None
        # the positive class is 1, for scikit-learn, and the second of two
        named = average in ("", "binary") and "pos_label" in signature(function).parameters
        second_is_1 = classes.dtype.kind in "iuf" and classes.tolist()[1:] == [1]
        if (named and not second_is_1) or (row.targets == _table.BINARY and len(classes) != 2):
            return None
    return score if greater_is_better else lambda predictions: -score(predictions)


def refuse_metric_of_numbers(estimator: Any, name: str, scorer: Any) -> None:
    """Raise an error if a classifier is scored by the explained variance of its class labels."""
    if _compat.metric_of_scorer(scorer)[0] in _table.EXPLAINED_VARIANCES and is_classifier(
        estimator
    ):
        raise ValueError(
            f"scoring={name!r} needs a regressor, got the classifier {type(estimator).__name__}. "
            "For classes, use 'accuracy' or 'balanced_accuracy'."
        )


ABBREVIATIONS = {
    "auc": "roc_auc", "auroc": "roc_auc", "auprc": "average_precision", "acc": "accuracy",
    "mcc": "matthews_corrcoef", "mae": "neg_mean_absolute_error", "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error", "l1": "neg_error_norm neg_mean_absolute_error",
    "l2": "neg_error_norm neg_root_mean_squared_error", "linf": "neg_error_norm neg_max_error",
    "tpr": "recall", "fnr": "sensitivity", "tnr": "specificity", "fpr": "specificity",
    "f_beta": "macro_fbeta micro_fbeta", "fbeta": "macro_fbeta micro_fbeta",
    "fscore": "f1 macro_fbeta", "f_score": "f1 macro_fbeta", "f1score": "f1",
    "logloss": "neg_log_loss", "cross_entropy": "neg_log_loss", "pr_auc": "average_precision",
    "error": "neg_error_rate neg_root_mean_squared_error",
    "f_measure": "f1 macro_fbeta class_f_measure",
    "macro_f1": "macro_fbeta f1_macro", "micro_f1": "micro_fbeta f1_micro",
    "g_mean": "geometric_mean", "gmean": "geometric_mean", "winkler": "neg_winkler_loss",
    "coverage": "interval_coverage set_coverage", "picp": "interval_coverage",
    "interval_score": "neg_winkler_loss", "set": "set_coverage neg_mean_set_size",
    "lift": "lift_at_k", "ks": "ks_statistic", "kolmogorov": "ks_statistic",
    "youden": "ks_statistic", "top_k_precision": "precision_at_k",
    "mape": "neg_mean_absolute_percentage_error", "symmetric": "neg_smape", "scaled": "neg_mase",
    "pinball": "neg_mean_quantile_loss", "crps": "neg_mean_quantile_loss",
    "rank_loss": "neg_ranking_loss", "bep": "break_even_point", "fmi": "fowlkes_mallows_score",
    "ari": "adjusted_rand_score", "ri": "rand_score", "jc": "pair_jaccard",
    "nmi": "normalized_mutual_info_score", "ami": "adjusted_mutual_info_score",
    "cluster_accuracy": "purity", "clustering_accuracy": "purity",
    "rand_index": "rand_score adjusted_rand_score", "adjusted_rand_index": "adjusted_rand_score",
    "dbi": "neg_davies_bouldin_pairwise", "di": "dunn", "dunn_index": "dunn",
    "smallest_within": "neg_min_within", "largest_within": "neg_diameter",
    "max_within": "neg_diameter", "mean_between": "mean_separation",
    "min_between": "min_separation", "smallest_between": "min_separation",
    "max_between": "max_separation", "largest_between": "max_separation",
}  # fmt: skip
"""Common abbreviations of metrics, with their scorers. The definition of textbooks is first."""


DISPARITY = "For the disparity of subgroups, use metric_interval(..., by=groups).largest_difference"
PARTIAL_AREA = "For a partial area, use functools.partial(roc_auc_score, max_fpr=0.1) as a metric"
BENEFIT = "For the net benefit, use skeval.metrics.net_benefit"
NO_SCORERS = {
    "kappa": "Use make_scorer(sklearn.metrics.cohen_kappa_score)",
    "predictive_power": "Use skeval.cluster.predictive_power(clusterer, X)",
    "parity": DISPARITY, "odds": DISPARITY, "fair": DISPARITY, "disparit": DISPARITY,
    "partial": PARTIAL_AREA, "pauc": PARTIAL_AREA, "max_fpr": PARTIAL_AREA,
    "net_benefit": BENEFIT, "decision_curve": BENEFIT,
    "gain": "Use 'recall_at_k', or RocCurveDisplay.from_predictions(..., kind='gains')",
}  # fmt: skip
"""Parts of names that are not scorers, with the function to use instead."""


def _suggest_name(name: str) -> str:
    """Return suggestions for an unknown name, as the end of a sentence.

    Suggestions cover names of metrics ("dunn_score"), a missing "neg_" ("davies_bouldin"), words
    of a name ("lift_curve") and misspellings.
    """
    names = [*SCORERS, *sklearn.metrics.get_scorer_names()]
    name = re.sub(r"\W", "_", name.lower())
    # usual abbreviations, and metrics that are no scorers
    if name in ABBREVIATIONS:
        return f". Did you mean {' or '.join(map(repr, ABBREVIATIONS[name].split()))}?"
    for part, text in NO_SCORERS.items():
        if part in name:
            return f". {text}."
    # names that contain the word, and names with a similar spelling
    bare = name.removeprefix("neg_").removesuffix("_score")
    near = sorted(candidate for candidate in names if len(bare) > 1 and bare in candidate)
    words = (ABBREVIATIONS.get(key, "") for key in (bare, *bare.split("_")))
    near = near or " ".join(words).split()
    near += [match for match in get_close_matches(name, names, cutoff=0.75) if match not in near]
    if not near and bare in BY_NAME:
        return f". Use skeval.metrics.make_clustering_scorer({bare!r})."
    return f". Did you mean {' or '.join(map(repr, near[:3]))}?" if near else "."


@validate_params(
    {
        "index": [callable, StrOptions(set(BY_NAME))],
        "greater_is_better": ["boolean", None],
        "undefined": [Real, StrOptions({"nan", "raise"})],
        "space": [StrOptions({"transformed", "input"})],
    }
)
def make_clustering_scorer(
    index: Callable[..., float] | str,
    *,
    greater_is_better: bool | None = None,
    undefined: float | str = "nan",
    space: Space = "transformed",
    **kwargs: Any,
) -> ClusteringScorer:
    """Make a scorer of clusterers from an internal index.

    The scorer is called as ``scorer(estimator, X, y=None)``. With it, `GridSearchCV` can select a
    clusterer or its parameters by an index such as the silhouette, without labels.

    Parameters
    ----------
    index : callable or str
        ``index(X, labels, **kwargs) -> float``, or a name of `compare_clusterings`, such as
        "silhouette", "dbcv", "diameter" or "mean_separation".
    greater_is_better : bool, default=None
        Whether larger is better. If False, the scorer returns the negated index. None means the
        direction of a named index, and True for a callable.
    undefined : {"nan", "raise"} or float, default="nan"
        Score of a partition whose index is undefined. An index is undefined if there are fewer
        than two clusters (noise, label -1, is not a cluster) or if the index is nan. It is also
        undefined if all clusters are singletons and the index raises `ValueError`. "nan" warns
        with `UndefinedMetricWarning`, and `GridSearchCV` then ranks the candidate last. "raise"
        raises an error. A number is used as the score without a change of its sign.
    space : {"transformed", "input"}, default="transformed"
        Data on which a `Pipeline` is evaluated. "transformed" uses X after all transformers, and
        "input" uses X as passed. Other estimators are evaluated on X. Use "input" to compare
        pipelines with different transformers, because their distances have different scales.
    **kwargs : dict
        Further arguments of `index`.

    Returns
    -------
    scorer : ClusteringScorer
        Scorer that can be pickled if `index` can. Metadata requested with `set_score_request` is
        passed to the index.

    Raises
    ------
    ValueError
        If `index` is not callable, or `undefined` or `space` is invalid. The scorer itself raises
        an error if the index does for a partition with at least two clusters, for example on text
        data.

    Notes
    -----
    If the fitted estimator has `predict`, its predictions define the partition of `X`. Clusters
    that were found on training samples are then evaluated on held-out samples. Methods such as
    DBSCAN cannot predict new samples, so a clone is fitted on `X` itself. To search on all
    samples, pass ``cv=[(range(n), range(n))]``.

    An error that affects every candidate, for example because the index does not support the data,
    is raised by the scorer. Unless ``error_score="raise"``, `GridSearchCV` replaces it by nan and
    warns with the traceback. If all scores are nan, it ranks the first candidate best.

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
    up = True
    if isinstance(index, str):
        row = BY_NAME[index]
        index, up = row.function, row.greater_is_better
    if greater_is_better is not None:
        up = greater_is_better
    return ClusteringScorer(index, up, undefined, space, kwargs)


@dataclass(eq=False, repr=False)
class ClusteringScorer(_compat.RoutedScorer):
    """Scorer of a clusterer, made by `make_clustering_scorer`."""

    index: Callable[..., float]
    greater_is_better: bool
    undefined: float | str
    space: str
    kwargs: dict[str, Any]

    @property
    def _scored_by(self) -> Callable[..., float]:
        return self.index

    def __call__(self, estimator: Any, X: ArrayLike, y: object = None, **metadata: Any) -> float:
        """Return the score of the estimator's partition of `X`."""
        # methods that cannot predict new samples are fitted to X
        if hasattr(estimator, "predict"):
            labels = np.asarray(estimator.predict(X))
        else:
            estimator = clone(estimator)
            fits = hasattr(estimator, "fit_predict")
            labels = np.asarray(estimator.fit_predict(X) if fits else estimator.fit(X).labels_)
        sizes = np.unique(labels[labels != NOISE], return_counts=True)[1]
        if len(sizes) < 2:
            text = "the estimator must find at least two clusters, not counting noise"
            return self._no_value(f"{text}, got {len(sizes)}.")
        # X as transformed for the last step of a pipeline
        points: Any = X
        while self.space == "transformed" and isinstance(estimator, Pipeline):
            if len(estimator) > 1:
                points = estimator[:-1].transform(points)
            estimator = estimator[-1]
        try:
            value = float(self.index(points, labels, **self.kwargs | metadata))
        except ValueError as error:
            # a partition into singletons may have no index, other errors are raised
            if sizes.max() > 1:
                raise
            return self._no_value(str(error), error)
        if np.isnan(value):
            return self._no_value("its value is nan.")
        return value if self.greater_is_better else -value

    def _no_value(self, reason: str, cause: Exception | None = None) -> float:
        if self.undefined == "raise":
            raise ValueError(f"The clustering index is undefined: {reason}") from cause
        if self.undefined == "nan":
            return undefined_metric(f"The clustering index is undefined: {reason}")
        return float(self.undefined)

    def __repr__(self) -> str:
        name = getattr(self.index, "__name__", repr(self.index))
        options = {"greater_is_better": self.greater_is_better, "undefined": self.undefined}
        options |= {"space": self.space} | self.kwargs
        return (
            f"make_clustering_scorer({name}, {', '.join(f'{k}={v!r}' for k, v in options.items())})"
        )
