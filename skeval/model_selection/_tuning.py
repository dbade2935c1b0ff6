"""The optimism of the best score of a search for hyperparameters, read from the search's table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from skeval._inference.estimate import Estimate
from skeval._inference.intervals import normal_interval
from skeval._inference.paired import corrected_error
from skeval._resampling.fit_loop import run_plan
from skeval._resampling.fit_params import Params
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import validate_inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan, whole_plan
from skeval._resampling.splitters import check_repeats, make_repeated_plan
from skeval.utils._checks import (
    RandomStateLike,
    check_confidence_level,
    check_count,
    check_data,
    warn_undefined,
    warn_user,
)

Setting = dict[str, Any]


def tuning_optimism(
    search: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    n_repeats: int = 1,
    groups: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
) -> TuningOptimism:
    r"""Measure by how much the best score of a search is better than that of its tuned model.

    The score of the best of many settings is too good, for it is the best of many. In each fold
    `j` of the outer cross-validation the whole search runs on the training part, where its best
    mean score is :math:`s_j`; its tuned model scores :math:`t_j` on the samples left out:

    .. math:: optimism = \frac1J \sum_j (s_j - t_j) .

    Parameters
    ----------
    search : estimator
        `GridSearchCV`, `RandomizedSearchCV`, one by halving, or any other that has `cv_results_`,
        `best_index_` and `best_params_` as these have; or a pipeline that ends in one.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    cv : int, splitter or iterable of (train, test), default=5
        The outer folds. A number of folds is shuffled with `random_state`, stratified by class, and
        never splits a group when `groups` is given.
    n_repeats : int, default=1
        Number of repeats with newly shuffled folds; `cv` must be a number if it exceeds 1.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, for the outer folds; for those of the search, see `params`.
    params : dict, default=None
        Arguments of the `fit` of the search by name, as ``cross_validate`` of scikit-learn takes
        them: ``{"groups": groups}`` where it splits by groups.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples in every fit; scores are not weighted.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the shuffling when `cv` is a number.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when the fit of a search raises: raise too, or leave its fold out, count and
        warn. If that fit is the search on all samples, its entries are nan or None.

    Returns
    -------
    TuningOptimism
        An `Estimate` whose `value` is the optimism. `inner_score` and `nested_score` are the means
        of its two parts, and `inner_scores` and `nested_scores` hold each fold of all repeats, nan
        if one is undefined; `settings` are those that were chosen, most often chosen first, and
        `counts` how many searches chose each. Of the search on all samples it has `best_score`,
        `best_params`, `tuning_bias` (that of `tuning_bias`, without nesting; nan for a search with
        one split) and `corrected_score`, the best score minus this bias.

    Raises
    ------
    TypeError
        If `search` is none.
    ValueError
        If it does not refit, `cv` makes one fold only, or `n_repeats` exceeds 1 with a `cv` that
        is no number.

    Warns
    -----
    UserWarning
        If the optimism exceeds two standard errors.
    UndefinedMetricWarning
        If a score is undefined in a fold, which is left out, or nothing varies over the folds.

    See Also
    --------
    tuning_bias : An estimate that needs no nesting.
    refit_one_se : Choose the simplest model of those that are as good as the best.

    Notes
    -----
    The search runs once on each training part and once on all samples. Inner models train on fewer
    samples than the one that is tested outside, which makes the optimism look smaller than the
    effect of choosing alone.

    The interval is the corrected resampled t [1]_ over the folds of all repeats, as that of
    `selection_bias`. It is meant to hold the mean optimism of samples of this size; several
    repeats make it shorter. Measured at a nominal 0.95 (five outer folds once, nearest neighbours
    with 1, 3, 7 or 17 of them chosen by three folds, two Gaussian classes in 3 features, 80 data
    sets each; the rate is the lowest error that any rule has):

    =====  ====  ========  ===========  ========  =====
    rate   n     optimism  tuning bias  coverage  width
    =====  ====  ========  ===========  ========  =====
    0.5    50    0.074     0.042        0.99      0.64
    0.5    200   0.044     0.022        0.99      0.30
    0.1    50    0.032     0.015        1.00      0.43
    0.1    200   0.010     0.006        0.99      0.21
    0.02   50    0.012     0.002        0.75      0.23
    0.02   200   0.007     0.002        0.98      0.10
    =====  ====  ========  ===========  ========  =====

    Where it covers 0.75, nothing varied over the folds of the other data sets: the interval is nan,
    with a warning; those that were made covered all.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. https://doi.org/10.1023/A:1024068626366
    .. [2] Cawley, G. C. and Talbot, N. L. C. (2010). On over-fitting in model selection and
       subsequent selection bias in performance evaluation. Journal of Machine Learning Research 11,
       2079-2107.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import tuning_optimism
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 5)), np.repeat([0, 1], 30)  # nothing to find
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": list(range(1, 21, 2))}, cv=3)
    >>> result = tuning_optimism(search, X, y, random_state=0)
    >>> round(result.inner_score, 3), round(result.nested_score, 3)
    (0.65, 0.6)
    """
    check_confidence_level(confidence_level)
    repeats = check_repeats(cv, n_repeats)
    if getattr(find_search(search), "refit", True) is False:
        raise ValueError("search must have refit=True, a metric or a function, got refit=False.")
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    given = {"groups": groups, "sample_weight": sample_weight, "params": params}
    inputs = validate_inputs(search, X, y, with_loss=False, **given, **run)
    plan, _ = make_repeated_plan(cv, repeats, inputs.X, inputs.target, inputs.groups, random_state)
    plan = add_all_samples(plan)
    found: list[Searched] = []
    sizes: list[np.ndarray] = []
    request = FitRequest((), note=read_search)
    for block, output in run_plan(inputs, plan, request):
        found += [note or NO_SEARCH for note in output.notes or [None] * len(output)]
        sizes += [block.test.sum(axis=1) / np.count_nonzero(block.train, axis=1)]
    ratio = float(np.mean(np.concatenate(sizes)[1:]))
    result = summarize_searches(found, ratio, confidence_level)
    if result.value > 2 * result.standard_error:
        warn_user(
            f"the best score of the search, {result.inner_score:.3f} on average, is that of the "
            "best of many settings; on samples left out the tuned models have "
            f"{result.nested_score:.3f}. Report the latter."
        )
    if np.isnan(result.tuning_bias):
        warn_undefined(
            "tuning_bias is undefined, nan: the search on all samples has no score, or it has the "
            "score of one split, and the bias takes two."
        )
    return result


def find_search(model: Any) -> Any:
    """Return the search that a model is, or that a pipeline ends in."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model


def add_all_samples(plan: ResamplingPlan) -> ResamplingPlan:
    """Return a plan whose first fit is to all samples and tested on none."""

    def draw(repetition: int) -> PlanBlock:
        if repetition:
            return plan.draw(repetition - 1)
        everything = whole_plan(plan.n_samples).draw(0)
        return PlanBlock(everything.train, ~everything.test)

    return ResamplingPlan(plan.n_samples, plan.n_draws + 1, draw)


class Searched(NamedTuple):
    """What a search found on a training part.

    Attributes
    ----------
    inner, nested : float
        Its best score, and that of its model on the test part; nan where there is none.
    setting : dict or None
    bias : float
        By `tuning_bias`.
    """

    inner: float
    nested: float
    setting: Setting | None
    bias: float


NO_SEARCH = Searched(np.nan, np.nan, None, np.nan)
"""What stands for a search whose fit failed."""


def read_search(model: Any, X: Any, y: Any) -> Searched:
    """Return what a fitted search, or a pipeline that ends in one, found."""
    search = find_search(model)
    if not all(hasattr(search, name) for name in ("cv_results_", "best_params_", "best_index_")):
        raise TypeError(
            "search must have cv_results_, best_index_ and best_params_ when it is fitted, or be a "
            f"pipeline that ends in such a search; got {type(search).__name__}."
        )
    metric = _read_metric(search)
    inner = float(_read_selection_scores(search, metric)[search.best_index_])
    # A search without a score, or with the score of one split, says nothing of its bias.
    bias = np.nan
    if np.isfinite(inner) and f"split1_test_{metric}" in search.cv_results_:
        bias = tuning_bias(search.cv_results_, best_index=int(search.best_index_), metric=metric)
    nested = _score_model(model, search, metric, X, y) if len(y) else np.nan
    return Searched(inner, nested, dict(search.best_params_), bias)


def _read_selection_scores(search: Any, metric: str) -> np.ndarray:
    """Return the score of each candidate that the search maximized.

    It is the mean over splits, unless ``refit=`` is a function with `selection_scores` of its own,
    such as `refit_632`.
    """
    refit = getattr(search, "refit", True)
    function, options = (refit.func, refit.keywords) if isinstance(refit, partial) else (refit, {})
    if hasattr(function, "selection_scores"):
        scores: np.ndarray = function.selection_scores(search.cv_results_, **options)
        return scores
    return np.asarray(search.cv_results_[f"mean_test_{metric}"])


def _read_metric(search: Any) -> str:
    """Return the metric by which a search refits: its name, or that bound to its function."""
    refit = getattr(search, "refit", True)
    metric: Any = "score"
    if getattr(search, "multimetric_", False):
        metric = refit.keywords.get("metric") if isinstance(refit, partial) else refit
    if not isinstance(metric, str) or f"mean_test_{metric}" not in search.cv_results_:
        raise ValueError(
            "search must name the metric by which it refits, if it has several, or bind it to "
            f"`metric` with functools.partial; got refit={refit!r}."
        )
    return metric


def _score_model(model: Any, search: Any, metric: str, X: Any, y: Any) -> float:
    """Return the score of a tuned model; a search that refits by a function has none of several."""
    if isinstance(getattr(search, "refit", True), str) or metric == "score":
        return float(model.score(X, y))
    scorer = search.scorer_
    if isinstance(scorer, Mapping):
        return float(scorer[metric](model, X, y))
    return float(scorer(model, X, y)[metric])


def summarize_searches(
    found: list[Searched], ratio: float, confidence_level: float
) -> TuningOptimism:
    """Return the result of a search on all samples and of those on the training parts."""
    whole, *folds = found
    inner, nested = np.array([(fold.inner, fold.nested) for fold in folds]).T
    known = np.isfinite(inner) & np.isfinite(nested)
    if known.sum() < 2:
        raise ValueError(
            f"search must have a score in two folds of cv at least, got {known.sum()} of "
            f"{len(folds)}."
        )
    if not known.all():
        warn_undefined(f"{np.sum(~known)} of {len(folds)} folds have no score and are left out.")
    differences = inner[known] - nested[known]
    optimism, error = float(differences.mean()), corrected_error(differences, ratio)
    limits = partial(normal_interval, optimism, error, degrees_of_freedom=len(differences) - 1)
    chosen = [fold.setting for fold in folds if fold.setting is not None]
    settings, counts = count_settings(chosen)
    return TuningOptimism(
        name="optimism of tuning",
        value=optimism,
        standard_error=error,
        method="cross_validation",
        limits={"corrected_t": limits},
        n_failed=sum(each is NO_SEARCH for each in found),
        replicates=differences,
        inner_score=float(inner[known].mean()),
        nested_score=float(nested[known].mean()),
        inner_scores=inner,
        nested_scores=nested,
        settings=settings,
        counts=counts,
        best_score=whole.inner,
        best_params=whole.setting,
        tuning_bias=whole.bias,
        corrected_score=whole.inner - whole.bias,
        confidence_level=confidence_level,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class TuningOptimism(Estimate):
    """Optimism of the best score of a search; `tuning_optimism` describes the attributes."""

    inner_score: float
    nested_score: float
    inner_scores: np.ndarray = field(repr=False)
    nested_scores: np.ndarray = field(repr=False)
    settings: tuple[Setting, ...]
    counts: np.ndarray = field(repr=False)
    best_score: float
    best_params: Setting | None
    tuning_bias: float
    corrected_score: float


def count_settings(chosen: list[Setting]) -> tuple[tuple[Setting, ...], np.ndarray]:
    """Return the different settings, most frequent first, and how often each occurs."""
    by_text = {repr(sorted(setting.items())): setting for setting in chosen}
    counts = Counter(repr(sorted(setting.items())) for setting in chosen).most_common()
    return tuple(by_text[text] for text, _ in counts), np.array([n for _, n in counts])


def read_split_scores(cv_results: Mapping[str, Any], metric: str) -> np.ndarray:
    """Return the scores of a search, shape (n_splits, n_candidates), nan where a fit failed."""
    if not isinstance(cv_results, Mapping):
        raise TypeError(
            "cv_results must be the table of a fitted search, its cv_results_, got "
            f"{type(cv_results).__name__}."
        )
    columns: list[np.ndarray] = []
    while f"split{len(columns)}_test_{metric}" in cv_results:
        columns.append(cv_results[f"split{len(columns)}_test_{metric}"])
    if not columns:
        raise ValueError(f"cv_results must hold split scores of the metric {metric!r}.")
    scores: np.ndarray = check_data("cv_results", columns, dtype=float, ensure_all_finite=False)
    return scores


def _compared_scores(cv_results: Mapping[str, Any], metric: str) -> np.ndarray:
    """Return the scores of the candidates that were compared last, nan for all others.

    A search by halving keeps the rounds before, on fewer samples, in the same table.
    """
    scores = read_split_scores(cv_results, metric)
    if len(scores) < 2:
        raise ValueError("cv_results must hold the scores of two splits at least, got one.")
    scores = keep_last_round(cv_results, scores)
    if np.isnan(scores).all():
        raise ValueError(f"cv_results holds no candidate whose {metric!r} is a number throughout.")
    return scores


def keep_last_round(cv_results: Mapping[str, Any], scores: np.ndarray) -> np.ndarray:
    """Return the scores, nan for a candidate of an early round of halving or with a failed fit."""
    scores = np.where(np.isfinite(scores).all(axis=0), scores, np.nan)
    if "iter" not in cv_results:
        return scores
    rounds = np.asarray(cv_results["iter"])
    return np.where(rounds == rounds.max(), scores, np.nan)


def tuning_bias(
    cv_results: Mapping[str, Any], *, best_index: int | None = None, metric: str = "score"
) -> float:
    r"""Return by how much the best score of a search is too good, without another fit.

    With :math:`s_k(\lambda)` the score of candidate :math:`\lambda` in fold `k` of `K`, and
    :math:`\hat\lambda` the candidate that was chosen,

    .. math:: bias = \frac1K \sum_k \big( \max_\lambda s_k(\lambda) - s_k(\hat\lambda) \big) ,

    the estimate of Tibshirani and Tibshirani [1]_: the fold takes the part of new samples, and its
    own best candidate that of the tuned one. It is >= 0; the best score less the bias estimates
    the score of the tuned model.

    Parameters
    ----------
    cv_results : dict
        The `cv_results_` of a search with split scores, of which larger are better.
    best_index : int, default=None
        Position of the chosen candidate; None is that with the best mean score.
    metric : str, default="score"
        The metric of a search with several.

    Returns
    -------
    bias : float
        In the unit of the score.

    Raises
    ------
    TypeError
        If `cv_results` is no dict, such as the search itself.
    ValueError
        If `cv_results` has no such metric, fewer than two splits, or no score of the candidate.

    See Also
    --------
    tuning_optimism : The same by nesting, with an interval.

    Notes
    -----
    Candidates that failed in a fold are left out; of a search by halving, all rounds but the last.
    With few settings it finds about half of the optimism that nesting does: see the table of
    `tuning_optimism`.

    References
    ----------
    .. [1] Tibshirani, R. J. and Tibshirani, R. (2009). A bias correction for the minimum error rate
       in cross-validation. The Annals of Applied Statistics 3, 822-829.
       https://doi.org/10.1214/08-AOAS224

    Examples
    --------
    >>> from skeval.model_selection import tuning_bias
    >>> results = {"split0_test_score": [0.9, 0.8, 0.7], "split1_test_score": [0.6, 0.8, 0.9]}
    >>> round(tuning_bias(results), 6)  # the last is best on average: 0.9 - 0.7 and 0.9 - 0.9
    0.1
    """
    scores = _compared_scores(cv_results, metric)
    means = scores.mean(axis=0)
    best = int(np.nanargmax(means))
    if best_index is not None:
        best = check_count("best_index", best_index, 0)
        if best >= len(means) or np.isnan(means[best]):
            raise ValueError(
                "best_index must be the position of a candidate in cv_results whose scores are "
                f"numbers, got {best} of {len(means)}."
            )
    return float(np.mean(np.nanmax(scores, axis=1) - scores[:, best]))


def refit_one_se(
    cv_results: Mapping[str, Any],
    *,
    complexity: Callable[[dict[str, Any]], Any] | None = None,
    metric: str = "score",
) -> int:
    """Return the index of the simplest candidate within one standard error of the best.

    For ``refit=`` of a search: the one-standard-error rule of Breiman et al. [1]_. The standard
    error is that of the mean of the split scores of the best candidate, their standard deviation
    over the root of their number.

    Parameters
    ----------
    cv_results : dict
        The `cv_results_` of a search.
    complexity : callable, default=None
        ``complexity(params)`` of a candidate is smaller the simpler it is: a number, or a tuple.
        None takes the candidates of the grid for written from the simplest to the most complex.
        Bind it with `functools.partial`.
    metric : str, default="score"
        The metric of a search with several; bind it, too.

    Returns
    -------
    int
        Position in ``cv_results["params"]``. Of equally simple candidates it is the best.

    Raises
    ------
    ValueError
        If `cv_results` has no such metric, or fewer than two splits.

    Notes
    -----
    The example of scikit-learn takes `std_test_score`, the spread of single splits, for the
    standard error, and so simpler models still.

    References
    ----------
    .. [1] Breiman, L., Friedman, J. H., Olshen, R. A. and Stone, C. J. (1984). Classification and
       Regression Trees. Wadsworth, section 3.4.3.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import refit_one_se
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid, rule = {"n_neighbors": [1, 3, 5, 9, 15, 25]}, KNeighborsClassifier()
    >>> GridSearchCV(rule, grid).fit(X, y).best_params_
    {'n_neighbors': 9}
    >>> smoothest = partial(refit_one_se, complexity=lambda params: -params["n_neighbors"])
    >>> GridSearchCV(rule, grid, refit=smoothest).fit(X, y).best_params_
    {'n_neighbors': 25}
    """
    if complexity is not None and not callable(complexity):
        raise ValueError(f"complexity must be None or a function of params, got {complexity!r}.")
    scores = _compared_scores(cv_results, metric)
    means = scores.mean(axis=0)
    best = int(np.nanargmax(means))
    error = np.std(scores[:, best], ddof=1) / np.sqrt(len(scores))
    rounding = 1e-12 * abs(means[best])
    close = np.flatnonzero(means >= means[best] - error - rounding).tolist()
    if complexity is None:
        return close[0]
    params = cv_results["params"]
    return min(close, key=lambda at: (complexity(params[at]), -means[at], at))
