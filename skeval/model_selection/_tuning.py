"""The optimism of the best score of a search for hyperparameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from skeval._inference.interval import LimitsResult, WithEnds
from skeval._inference.means import normal_interval
from skeval._inference.paired_tests import corrected_error
from skeval._resampling.fits import fit_plan
from skeval._resampling.folds import check_repeats, make_repeated_plan
from skeval._resampling.plan import PlanBlock, ResamplingPlan, whole_plan
from skeval._resampling.questions import Questions
from skeval._resampling.task import read_task
from skeval._resampling.weights import Params
from skeval.model_selection._searches import tuning_bias
from skeval.utils._checks import check_confidence_level, warn_undefined, warn_user
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._seeds import RandomStateLike
from skeval.utils._text import align_text, write_number, write_spread

__all__ = [
    "TuningOptimism",
    "read_search",
    "summarize_searches",
    "tuning_optimism",
]

Setting = dict[str, Any]


@dataclass(frozen=True, eq=False)
class TuningOptimism(WithEnds, LimitsResult):
    """The best scores of searches beside the scores of the tuned models on samples left out.

    Attributes
    ----------
    inner_score : float
        Mean best score of the searches in the training parts. Larger is better.
    nested_score : float
        Mean score of their tuned models on the samples left out.
    optimism : float
        ``inner_score - nested_score``: what tuning makes the best score too good by.
    standard_error : float
        Standard error of the optimism.
    inner_scores, nested_scores : ndarray of shape (n_folds,)
        The scores of each fold of all repeats, nan where one is undefined.
    settings : tuple of dict
        The settings that were chosen, most often chosen first.
    counts : int ndarray of shape (n_settings,)
        How many searches chose each.
    best_score : float
        The best score of the search on all samples.
    best_params : dict
        Its setting.
    tuning_bias : float
        What `tuning_bias` says of it, without nesting; nan of a search with one split.
    interval : ConfidenceInterval
        That of the optimism, by the corrected resampled t.
    low, high : float
        Its ends.
    confidence_level : float
        Its nominal coverage.
    """

    inner_score: float
    nested_score: float
    optimism: float
    standard_error: float
    inner_scores: np.ndarray = field(repr=False)
    nested_scores: np.ndarray = field(repr=False)
    settings: tuple[Setting, ...]
    counts: np.ndarray
    best_score: float
    best_params: Setting
    tuning_bias: float

    @property
    def corrected_score(self) -> float:
        """The best score of the search on all samples less its `tuning_bias`."""
        return self.best_score - self.tuning_bias

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers without the folds.

        Returns
        -------
        dict
        """
        names = ("inner_score", "nested_score", "optimism", "standard_error", "low", "high")
        of_all = ("confidence_level", "best_score", "tuning_bias", "corrected_score")
        return {name: getattr(self, name) for name in (*names, *of_all)}

    def to_frame(self) -> DataFrame:
        """Return one row per setting that was chosen: its parameters, count and share."""
        rows = zip(self.settings, self.counts.tolist(), strict=True)
        total = int(self.counts.sum())
        return make_frame([{**s, "count": n, "share": n / total} for s, n in rows])

    def __str__(self) -> str:
        n_folds = len(self.inner_scores)
        rows = [
            ("best inner score", write_number(self.inner_score)),
            ("nested score", write_number(self.nested_score)),
            ("optimism", write_number(self.optimism)),
            ("standard error", write_spread(self.standard_error)),
            self._interval_row(),
            ("best score on all samples", write_number(self.best_score)),
            ("less its tuning bias", write_number(self.corrected_score)),
            *(
                (f"chosen in {count} of {n_folds}", str(setting))
                for setting, count in zip(self.settings, self.counts, strict=True)
            ),
        ]
        return align_text("optimism of tuning (larger scores are better)", rows[:12])


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

    Returns
    -------
    TuningOptimism
        Both scores, their difference and its interval, and how often each setting was chosen.

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
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": list(range(1, 21))})
    >>> result = tuning_optimism(search, X, y, random_state=0)
    >>> round(result.inner_score, 3), round(result.nested_score, 3)
    (0.658, 0.583)
    """
    check_confidence_level(confidence_level)
    repeats = check_repeats(cv, n_repeats)
    check_refits(search)
    task = read_task(
        search,
        X,
        y,
        groups=groups,
        with_loss=False,
        sample_weight=sample_weight,
        params=params,
        n_jobs=n_jobs,
        verbose=verbose,
        memory=memory,
    )
    plan, _ = make_repeated_plan(cv, repeats, task.X, task.target, task.groups, random_state)
    plan = add_all_samples(plan)
    found: list[Searched] = []
    sizes: list[np.ndarray] = []
    questions = Questions((), note=read_search)
    for block, output in fit_plan(task, plan, questions):
        found += output.notes or []
        sizes += [block.test.sum(axis=1) / np.count_nonzero(block.train, axis=1)]
    ratio = float(np.mean(np.concatenate(sizes)[1:]))
    result = summarize_searches(found, ratio, confidence_level)
    warn_of_optimism(result)
    if np.isnan(result.tuning_bias):
        warn_undefined(
            "tuning_bias is undefined, nan: the search on all samples has no score, or it has the "
            "score of one split, and the bias takes two."
        )
    return result


def check_refits(search: Any) -> None:
    """Raise if a search, or the last step of a pipeline, does not fit the best setting again."""
    if isinstance(search, Pipeline):
        check_refits(search.steps[-1][1])
    elif getattr(search, "refit", True) is False:
        raise ValueError("search must have refit=True, a metric or a function, got refit=False.")


def add_all_samples(plan: ResamplingPlan) -> ResamplingPlan:
    """Return a plan whose first fit is to all samples and tested on none."""

    def draw(repetition: int) -> PlanBlock:
        if repetition:
            return plan.draw(repetition - 1)
        everything = whole_plan(plan.n_samples).draw(0)
        return PlanBlock(everything.train, ~everything.test)

    return ResamplingPlan(plan.n_samples, plan.n_repetitions + 1, draw)


class Searched(NamedTuple):
    """What a search found on a training part.

    Attributes
    ----------
    inner, nested : float
        Its best score, and that of its model on the test part; nan where there is none.
    setting : dict
    bias : float
        By `tuning_bias`.
    """

    inner: float
    nested: float
    setting: Setting
    bias: float


def read_search(model: Any, X: Any, y: Any) -> Searched:
    """Return what a fitted search, or a pipeline that ends in one, found."""
    search = model
    while isinstance(search, Pipeline):
        search = search.steps[-1][1]
    if not all(hasattr(search, name) for name in ("cv_results_", "best_params_", "best_index_")):
        raise TypeError(
            "search must have cv_results_, best_index_ and best_params_ when it is fitted, or be a "
            f"pipeline that ends in such a search; got {type(search).__name__}."
        )
    metric = _read_metric(search)
    inner = float(search.cv_results_[f"mean_test_{metric}"][search.best_index_])
    bias = np.nan  # of a fold without a score, or a score of one split
    if np.isfinite(inner) and f"split1_test_{metric}" in search.cv_results_:
        bias = tuning_bias(search.cv_results_, best_index=int(search.best_index_), metric=metric)
    nested = _score_model(model, search, metric, X, y) if len(y) else np.nan
    return Searched(inner, nested, dict(search.best_params_), bias)


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
    limits = partial(normal_interval, optimism, error, n_units=len(differences))
    settings, counts = count_settings([fold.setting for fold in folds])
    return TuningOptimism(
        float(inner[known].mean()),
        float(nested[known].mean()),
        *(optimism, error, inner, nested, settings, counts),
        *(whole.inner, whole.setting, whole.bias),
        limits={"corrected_t": limits},
        confidence_level=confidence_level,
    )


def count_settings(chosen: list[Setting]) -> tuple[tuple[Setting, ...], np.ndarray]:
    """Return the different settings, most frequent first, and how often each occurs."""
    by_text = {repr(sorted(setting.items())): setting for setting in chosen}
    counts = Counter(repr(sorted(setting.items())) for setting in chosen).most_common()
    return tuple(by_text[text] for text, _ in counts), np.array([n for _, n in counts])


def warn_of_optimism(result: TuningOptimism) -> None:
    """Say in plain words which score to report, if they differ by two standard errors."""
    if result.optimism > 2 * result.standard_error:
        warn_user(
            f"the best score of the search, {result.inner_score:.3f} on average, is that of the "
            f"best of many settings; on samples left out the tuned models have "
            f"{result.nested_score:.3f}. Report the latter."
        )
