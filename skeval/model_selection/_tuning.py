"""Optimism of the best score of a search, by nested cross-validation or from its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from skeval._adapters.fits import fit_plan
from skeval._inference.estimate import Estimate
from skeval._inference.intervals import normal_interval
from skeval._inference.paired import corrected_error
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
from skeval.utils._options import ErrorScore

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
    error_score: ErrorScore = "raise",
) -> Estimate:
    r"""Estimate the optimism of the best score of a search, by nested cross-validation.

    The best score of a search is optimistic, because it is the maximum over many settings. In each
    fold `j` of the outer cross-validation the whole search runs on the training part, with the best
    mean score :math:`s_j`; its tuned model has the score :math:`t_j` on the held-out samples:

    .. math:: optimism = \frac1J \sum_j (s_j - t_j) .

    Parameters
    ----------
    search : estimator
        `GridSearchCV`, `RandomizedSearchCV`, a halving search, or any other with the same
        `cv_results_`, `best_index_` and `best_params_`; or a pipeline that ends in one.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    cv : int, splitter or iterable of (train, test), default=5
        Folds. A number of folds is shuffled with `random_state`, stratified by class, and keeps
        groups together.
    n_repeats : int, default=1
        Number of repeats with newly shuffled folds; `cv` must be a number if it exceeds 1.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split. For the inner folds, see
        `params`.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``. The
        estimator is the search: ``{"groups": groups}`` if it splits by groups.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They are used in every fit; scores are not weighted.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers; results do not depend on it.
    verbose : int, default=0
        1 shows progress; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits: an interrupted run that is repeated with an int as `random_state`
        does only the remaining ones; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        If the fit of a search raises: raise the error, or skip its fold, count it and warn. If the
        search on all samples fails, its entries are nan or None.

    Returns
    -------
    Estimate
        An `Estimate` whose `value` is the optimism. In its `extra`, `inner_score` and
        `nested_score` are the means of its two parts, and `inner_scores` and `nested_scores` have
        one value for each fold of all repeats, nan if undefined. `settings` has the chosen
        settings, the most frequent first, and `counts` the number of searches that chose each. For
        the search on all samples there are `best_score`, `best_params`, `tuning_bias` (the result
        of `tuning_bias`; nan for a search with one split) and `corrected_score`, the best score
        minus this bias. `n_failed` is the number of searches that failed.

    Raises
    ------
    TypeError
        If `search` is not a search, or a pipeline that ends in one.
    ValueError
        If the search does not refit, `cv` has only one fold, or `n_repeats` exceeds 1 and `cv` is
        not a number.

    Warns
    -----
    UserWarning
        If the optimism exceeds two standard errors.
    UndefinedMetricWarning
        If a score is undefined in a fold, which is left out, or is the same in all folds.

    See Also
    --------
    tuning_bias : An estimate without nesting.
    refit_one_se : Choose the simplest model within one standard error of the best.

    Notes
    -----
    The search runs once on each training part and once on all samples. Inner models train on fewer
    samples than the model that is tested in the outer fold, so the optimism is smaller than the
    effect of selection alone.

    The interval is the corrected resampled t [1]_ over the folds of all repeats, as in
    `selection_bias`. Its target is the mean optimism for samples of this size; several repeats make
    it shorter. Simulated coverage at a nominal 0.95 (five outer folds, not repeated; 1, 3, 7 or 17
    nearest neighbors chosen by three inner folds; two Gaussian classes in 3 features; 80 data sets
    each; the rate is the Bayes error):

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

    The coverage of 0.75 is due to data sets without any variation over the folds, whose interval is
    nan, with a warning; all other intervals covered the optimism.

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
    >>> round(result.extra.inner_score, 3), round(result.extra.nested_score, 3)
    (0.65, 0.6)
    """
    check_confidence_level(confidence_level)
    repeats = check_repeats(cv, n_repeats)
    if getattr(find_search(search), "refit", True) is False:
        raise ValueError("search must have refit=True, a metric or a function, got refit=False.")
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    options = {"groups": groups, "sample_weight": sample_weight, "params": params}
    inputs = validate_inputs(search, X, y, with_loss=False, **options, **run)
    plan, _ = make_repeated_plan(cv, repeats, inputs.X, inputs.target, inputs.groups, random_state)
    plan = add_all_samples(plan)
    searches: list[Searched] = []
    sizes: list[np.ndarray] = []
    request = FitRequest((), note=read_search)
    for block, output in fit_plan(inputs, plan, request):
        searches += [note or NO_SEARCH for note in output.notes or [None] * len(output)]
        sizes += [block.test.sum(axis=1) / np.count_nonzero(block.train, axis=1)]
    ratio = float(np.mean(np.concatenate(sizes)[1:]))
    result = summarize_searches(searches, ratio, confidence_level)
    if result.value > 2 * result.standard_error:
        warn_user(
            f"the best score of the search, {result.extra.inner_score:.3f} on average, is that of "
            "the best of many settings; on samples left out the tuned models have "
            f"{result.extra.nested_score:.3f}. Report the latter."
        )
    if np.isnan(result.extra.tuning_bias):
        warn_undefined(
            "tuning_bias is undefined, nan: the search on all samples has no score, or it has the "
            "score of one split, and the bias takes two."
        )
    return result


def find_search(model: Any) -> Any:
    """Return the search: the model itself, or the final step of a pipeline."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model


def add_all_samples(plan: ResamplingPlan) -> ResamplingPlan:
    """Return a plan with a first fit on all samples, without test samples."""

    def draw(repetition: int) -> PlanBlock:
        if repetition:
            return plan.draw(repetition - 1)
        everything = whole_plan(plan.n_samples).draw(0)
        return PlanBlock(everything.train, ~everything.test)

    return ResamplingPlan(plan.n_samples, plan.n_draws + 1, draw)


class Searched(NamedTuple):
    """Result of a search on a training part.

    Attributes
    ----------
    inner, nested : float
        Best score of the search, and score of its model on the test part; nan if undefined.
    setting : dict or None
        Chosen setting.
    bias : float
        Result of `tuning_bias`.
    """

    inner: float
    nested: float
    setting: Setting | None
    bias: float


NO_SEARCH = Searched(np.nan, np.nan, None, np.nan)
"""Result of a failed search."""


def read_search(model: Any, X: Any, y: Any) -> Searched:
    """Return the result of a fitted search, or of a pipeline that ends in one."""
    search = find_search(model)
    if not all(hasattr(search, name) for name in ("cv_results_", "best_params_", "best_index_")):
        raise TypeError(
            "search must have cv_results_, best_index_ and best_params_ when it is fitted, or be a "
            f"pipeline that ends in such a search; got {type(search).__name__}."
        )
    metric = _read_metric(search)
    inner = float(search.cv_results_[f"mean_test_{metric}"][search.best_index_])
    # the bias requires finite scores of at least two splits
    bias = np.nan
    if np.isfinite(inner) and f"split1_test_{metric}" in search.cv_results_:
        bias = tuning_bias(search.cv_results_, best_index=int(search.best_index_), metric=metric)
    nested = _score_model(model, search, metric, X, y) if len(y) else np.nan
    return Searched(inner, nested, dict(search.best_params_), bias)


def _read_metric(search: Any) -> str:
    """Return the refit metric of a search: its name, or the name bound to its function."""
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
    """Return the score of a tuned model.

    With several metrics and a function as ``refit``, the search has no `score` method.
    """
    if isinstance(getattr(search, "refit", True), str) or metric == "score":
        return float(model.score(X, y))
    scorer = search.scorer_
    if isinstance(scorer, Mapping):
        return float(scorer[metric](model, X, y))
    return float(scorer(model, X, y)[metric])


def summarize_searches(searches: list[Searched], ratio: float, confidence_level: float) -> Estimate:
    """Return the optimism from a search on all samples and the searches on training parts."""
    whole, *folds = searches
    inner, nested = np.array([(fold.inner, fold.nested) for fold in folds]).T
    defined = np.isfinite(inner) & np.isfinite(nested)
    if defined.sum() < 2:
        raise ValueError(
            f"search must have a score in two folds of cv at least, got {defined.sum()} of "
            f"{len(folds)}."
        )
    if not defined.all():
        warn_undefined(f"{np.sum(~defined)} of {len(folds)} folds have no score and are left out.")
    differences = inner[defined] - nested[defined]
    optimism, error = float(differences.mean()), corrected_error(differences, ratio)
    limits = partial(normal_interval, optimism, error, degrees_of_freedom=len(differences) - 1)
    chosen = [fold.setting for fold in folds if fold.setting is not None]
    settings, counts = count_settings(chosen)
    return Estimate(
        name="optimism of tuning",
        value=optimism,
        standard_error=error,
        method="cross_validation",
        limits={"corrected_t": limits},
        replicates=differences,
        extra=TuningExtra(
            inner_score=float(inner[defined].mean()),
            nested_score=float(nested[defined].mean()),
            inner_scores=inner,
            nested_scores=nested,
            settings=settings,
            counts=counts,
            best_score=whole.inner,
            best_params=whole.setting,
            tuning_bias=whole.bias,
            corrected_score=whole.inner - whole.bias,
            n_failed=sum(search is NO_SEARCH for search in searches),
        ),
        confidence_level=confidence_level,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class TuningExtra:
    """Scores of a search; `tuning_optimism` describes the attributes."""

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
    n_failed: int


def count_settings(chosen: list[Setting]) -> tuple[tuple[Setting, ...], np.ndarray]:
    """Return the different settings, most frequent first, and how often each occurs."""
    by_text = {repr(sorted(setting.items())): setting for setting in chosen}
    counts = Counter(repr(sorted(setting.items())) for setting in chosen).most_common()
    return tuple(by_text[text] for text, _ in counts), np.array([n for _, n in counts])


def read_split_scores(cv_results: Mapping[str, Any], metric: str) -> np.ndarray:
    """Return the scores of a search, shape (n_splits, n_candidates); nan if a fit failed."""
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
    """Return the scores of the candidates of the last round, nan for all others.

    A halving search keeps earlier rounds, on fewer samples, in the same table.
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
    r"""Estimate the optimism of the best score of a search from its results, without new fits.

    With :math:`s_k(\lambda)` the score of candidate :math:`\lambda` in fold `k` of `K`, and
    :math:`\hat\lambda` the chosen candidate,

    .. math:: bias = \frac1K \sum_k \big( \max_\lambda s_k(\lambda) - s_k(\hat\lambda) \big) ,

    the estimate of Tibshirani and Tibshirani [1]_. It compares the best candidate of each fold with
    the candidate chosen over all folds. It is >= 0; the best score minus the bias estimates the
    score of the tuned model.

    Parameters
    ----------
    cv_results : dict
        The `cv_results_` of a search with split scores; larger is better.
    best_index : int, default=None
        Index of the chosen candidate; None means the one with the best mean score.
    metric : str, default="score"
        Metric, if the search has several.

    Returns
    -------
    bias : float
        In the unit of the score.

    Raises
    ------
    TypeError
        If `cv_results` is not a dict, for example the search itself.
    ValueError
        If `cv_results` lacks the metric or the scores of the candidate, or has fewer than two
        splits.

    See Also
    --------
    tuning_optimism : Nested estimate of the same quantity, with an interval.

    Notes
    -----
    Candidates that failed in a fold are left out, as are all but the last round of a halving
    search. With few settings the estimate is about half of the nested one: see the table of
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

    Use it as ``refit=`` of a search: the one-standard-error rule of Breiman et al. [1]_. The
    standard error belongs to the mean split score of the best candidate: the standard deviation of
    its split scores over the square root of their number.

    Parameters
    ----------
    cv_results : dict
        The `cv_results_` of a search.
    complexity : callable, default=None
        ``complexity(params)`` returns a number or a tuple, smaller for simpler candidates. None
        assumes that the grid is written from the simplest to the most complex candidate. Bind it
        with `functools.partial`.
    metric : str, default="score"
        Metric, if the search has several; bind it with `functools.partial`, too.

    Returns
    -------
    int
        Index in ``cv_results["params"]``. Ties in complexity are broken by the score.

    Raises
    ------
    ValueError
        If `cv_results` lacks the metric, or has fewer than two splits.

    Notes
    -----
    The example of scikit-learn uses `std_test_score`, the standard deviation of single splits, as
    the standard error, and therefore chooses even simpler models.

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
