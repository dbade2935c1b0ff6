"""Is one classifier better than another?

Which estimators a test can compare, by which score and over which splits; and the tests: what each
needs of the estimators, and how it judges two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral, Real
from typing import Any, NamedTuple, TypedDict, Unpack, overload

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from skeval._inference.areas import delong
from skeval._inference.paired import (
    ALTERNATIVES,
    PairedTest,
    corrected_t,
    correlated_t_probabilities,
    differences_of,
    mcnemar,
    paired_bootstrap,
    paired_delong,
)
from skeval._resampling.fits import fit_plan, score_plan
from skeval._resampling.folds import fold_plan, resolve_folds
from skeval._resampling.outputs import RESPONSES, ReplayedEstimator, join_outputs
from skeval._resampling.questions import Questions
from skeval._resampling.target import Target
from skeval._resampling.task import Task, read_task
from skeval._resampling.units import drawing_units, values_or_nan, warn_of_undefined
from skeval._resampling.weights import Params, check_takes_weights
from skeval.metrics import get_scorer
from skeval.metrics._scorers import range_of
from skeval.model_selection._comparison_result import ClassifierComparison, ClassifierComparisons
from skeval.model_selection._estimates import repeat_folds
from skeval.utils._checks import (
    check_confidence_level,
    check_methods,
    check_option,
    naming,
    warn_undefined,
)
from skeval.utils._compat import Interval, validate_params
from skeval.utils._seeds import RandomStateLike, root_seed
from skeval.utils._text import name_estimators, name_scoring

__all__ = [
    "check_estimators",
    "check_named",
    "check_rope",
    "choose_scoring",
    "compare_classifiers",
    "default_rope",
    "judge_splits",
    "resolve_scorer",
]


class Options(TypedDict, total=False):
    """The keywords of `compare_classifiers`, for the types of its two forms."""

    cv: Any
    method: str
    scoring: Any
    groups: ArrayLike | None
    params: Params
    sample_weight: Any
    alternative: str
    rope: float
    confidence_level: float
    n_resamples: int
    random_state: RandomStateLike
    n_jobs: int | None
    verbose: int
    memory: Any
    error_score: float | str


@overload
def compare_classifiers(
    estimator_a: Mapping[str, Any],
    estimator_b: Any = None,
    X: Any = None,
    y: ArrayLike | None = None,
    **options: Unpack[Options],
) -> ClassifierComparisons: ...
@overload
def compare_classifiers(
    estimator_a: Any,
    estimator_b: Any = None,
    X: Any = None,
    y: ArrayLike | None = None,
    **options: Unpack[Options],
) -> ClassifierComparison: ...
@validate_params(
    {
        "X": ["array-like", "sparse matrix", None],
        "y": ["array-like", None],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state", Generator],
        "n_jobs": [Integral, None],
    },
    prefer_skip_nested_validation=True,
)
def compare_classifiers(
    estimator_a: Any,
    estimator_b: Any = None,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    cv: Any = None,
    method: str = "corrected_t",
    scoring: Any = None,
    groups: ArrayLike | None = None,
    params: Params = None,
    sample_weight: Any = None,
    alternative: str = "two-sided",
    rope: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: float | str = "raise",
) -> ClassifierComparison | ClassifierComparisons:
    r"""Test and interval for the difference of classifiers, on the same splits.

    ``compare_classifiers(a, b, X, y)`` compares two, ``compare_classifiers(estimators, X, y)`` all
    pairs of a dict.

    Parameters
    ----------
    estimator_a : classifier, or dict of str to classifier
        Has `fit` and `predict`; it is cloned. A pipeline keeps selection and scaling inside the
        splits. Of a dict all pairs are compared, with Holm's correction of the P-values and
        simultaneous intervals.
    estimator_b : classifier, default=None
        The other one; left out after a dict, where `X` and `y` follow.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or what else the estimators take: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Classes.
    cv : int, splitter or iterable, default=None
        Folds, as in `cross_val_error`; both estimators see the same. None means 10 folds, for
        "corrected_t" drawn ten times over (10 x 10, [4]_).
    method : {"corrected_t", "mcnemar", "bootstrap", "delong"}, default="corrected_t"
        "corrected_t": the corrected resampled t-test of Nadeau and Bengio on the scores of the
        splits, with the mean `n_test / n_train` of these very splits; over repeated K-fold it has
        the most power, see Notes. The others pool the held-out predictions, one per sample, and
        so take the fitted classifiers as they are: "mcnemar" for accuracy (exact where fewer than
        25 samples are discordant), "bootstrap" for any score, "delong" for the area under the ROC
        curve. "delong" is conditional on the trained rules: with 40 to 60 samples without any
        signal it rejects at 5 % in 12 to 15 % of data sets, as the result says.
    scoring : str or callable, default=None
        A name of `get_scorer` or a scorer; None is the accuracy, for "delong" the area. A callable
        under "bootstrap" must use its samples only through the methods of the estimator.
    groups : array-like of shape (n_samples,), default=None
        No group is split by a number of folds, and the bootstrap draws whole groups. "mcnemar" and
        "delong" take samples for independent, and so no groups.
    params : dict, default=None
        Arguments of `fit` by name, the same for all estimators, as ``cross_validate`` of
        scikit-learn takes them.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples in every fit; scores are not weighted.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        What the test is to show of the score of `a` minus that of `b`: that it is not 0, above 0 or
        below it. The interval is two-sided in any case. A dict is compared "two-sided".
    rope : float, default=None
        Half the width of the region of practical equivalence, in units of the score: a smaller
        difference does not matter to you. None is 0.01 for scores that lie between -1 and 1
        whatever the data, and 0 for others, whose unit it does not know. The result of
        "corrected_t" has the posterior probabilities that one is better by more, and that neither
        is, by the Bayesian correlated t test [5]_.
    confidence_level : float, default=0.95
        Nominal coverage of the interval; of a dict, that all intervals hold together.
    n_resamples : int, default=2000
        Resamples of "bootstrap". Simultaneous intervals are far out in the tails: they need as
        many thousand as there are tens of pairs.
    random_state : int, RandomState, Generator or None, default=None
        Draws the folds and the resamples.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar for the fits of each estimator; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept; see :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        What to do when a fit raises: raise too, or leave that split out for all estimators and
        warn, which "corrected_t" alone can.

    Returns
    -------
    comparison : ClassifierComparison or ClassifierComparisons
        With `difference` (a minus b), its `interval`, `pvalue` and the scores; of a dict, the
        tables of all differences, their simultaneous intervals and corrected P-values.

    Raises
    ------
    TypeError
        If an estimator lacks a method `fit`, `predict` or `get_params`, one is a classifier and
        the other is not, `method` is "mcnemar" or "delong" and they are regressors, or a dict does
        not name two estimators at least.
    ValueError
        If `method` and `scoring` do not fit, a dict is to be compared one-sided, or held-out
        predictions are pooled and `cv` does not test every sample exactly once.

    Notes
    -----
    For `J` splits with differences :math:`d_j` of variance :math:`s^2`, the statistic is
    :math:`\bar d / \sqrt{(1/J + n_{test}/n_{train})\, s^2}`, on `J - 1` degrees of freedom. The
    plain t-test leaves the ratio out and rejects far too often, for training sets overlap.

    The corrected test of *one* set of 10 folds is very conservative and has little power. Fraction
    of tests that reject at a nominal 5 % (two rules on one normal feature each, of the same worth
    in 1,500 data sets, of means 1.6 and 0.6 apart in 500):

    ===============  ============  =============  ============  =============
    folds            same, n = 60  same, n = 200  apart, 60     apart, 200
    ===============  ============  =============  ============  =============
    10, once         .009          .009           .18           .68
    10, three times  .033          .025           .40           .92
    10, ten times    .047          .036           .50           .94
    5, once          .016          .012           .18           .49
    5, four times    .034          .025           .41           .89
    ===============  ============  =============  ============  =============

    So the default repeats the folds; ``cv=10`` is the single set, at a tenth of the fits.

    Of a dict the intervals are those of the pairs at the level ``1 - (1 - confidence_level) / m``
    for `m` pairs (Bonferroni). Holm's P-values reject whatever such an interval excludes, and may
    reject a little more.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. https://doi.org/10.1023/A:1024068626366
    .. [2] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised
       classification learning algorithms. Neural Computation 10, 1895-1923.
       https://doi.org/10.1162/089976698300017197
    .. [3] Agresti, A. and Min, Y. (2005). Simple improved confidence intervals for comparing
       matched proportions. Statistics in Medicine 24, 729-740. https://doi.org/10.1002/sim.1781
    .. [4] Bouckaert, R. R. and Frank, E. (2004). Evaluating the replicability of significance tests
       for comparing learning algorithms. PAKDD 2004, LNCS 3056, 3-12.
       https://doi.org/10.1007/978-3-540-24775-3_3
    .. [5] Corani, G. and Benavoli, A. (2015). A Bayesian approach for comparing cross-validated
       algorithms on multiple data sets. Machine Learning 100, 285-304.
       https://doi.org/10.1007/s10994-015-5486-z

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import compare_classifiers
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = compare_classifiers(
    ...     GaussianNB(), KNeighborsClassifier(), X, y, method="mcnemar", random_state=0
    ... )
    >>> print(result)
    accuracy, mcnemar (chi-squared)
      a: GaussianNB            0.9367
      b: KNeighborsClassifier  0.9297
      difference               0.0070
      95 % interval            [-0.0170, 0.0310]
      P-value                  0.665
      only a, only b right     26, 22
      No difference is shown at 5 % (P = 0.67). That is no proof of equality. The difference
      may lie anywhere from -0.017 to 0.031 (95 % interval). This holds for these
      predictions; that training anew would change them is left out.

    All pairs of three:

    >>> from sklearn.neighbors import NearestCentroid
    >>> estimators = {
    ...     "bayes": GaussianNB(),
    ...     "neighbours": KNeighborsClassifier(),
    ...     "centroid": NearestCentroid(),
    ... }
    >>> print(compare_classifiers(estimators, X, y, cv=10, random_state=0))
    accuracy, corrected_t
      bayes       0.9367
      neighbours  0.9296
      centroid    0.8858
    95 % intervals and P-values for all together
      bayes - neighbours      0.0071 [-0.0646, 0.0789]  P = 0.777
      bayes - centroid        0.0510 [-0.0074, 0.1094]  P = 0.065
      neighbours - centroid   0.0438 [-0.0026, 0.0902]  P = 0.065
      bayes has the highest score (all P-values corrected for 3 pairs, level 5 %). It is not
      shown to differ from neighbours, centroid; that is no proof of equality, see the
      intervals.
    """
    check_confidence_level(confidence_level)
    check_option("method", method, METHODS)
    check_option("alternative", alternative, ALTERNATIVES)
    rope = None if rope is None else check_rope(rope)
    named, estimators, X, y = order_arguments(estimator_a, estimator_b, X, y)
    words = ["estimator_a", "estimator_b"]
    if named is not None:
        words = [f"estimator_a[{name!r}]" for name in named]
        if alternative != "two-sided":
            raise ValueError(f"alternative must be 'two-sided' for a dict, got {alternative!r}.")
    check_estimators(dict(zip(words, estimators, strict=True)), method, groups)
    task = read_task(
        estimators[0],
        X,
        y,
        groups=groups,
        with_loss=False,
        sample_weight=sample_weight,
        params=params,
        n_jobs=n_jobs,
        verbose=verbose,
        memory=memory,
        error_score=error_score,
    )
    check_shared(words, estimators, task, method)
    scoring = choose_scoring(method, scoring, estimators[0])
    problem = Problem(
        tasks=tuple(task.of(estimator) for estimator in estimators),
        folds=choose_splits(cv, method, task.X, task.target, task.groups, random_state),
        scoring=scoring,
        scorer=resolve_scorer(scoring),
        rope=default_rope(name_scoring(scoring)) if rope is None else rope,
        alternative=alternative,
        n_resamples=n_resamples,
        root=root_seed(random_state),
    )
    found = METHODS[method](problem)
    if named is None:
        return compare_pair(problem, found, method, name_estimators(*estimators), confidence_level)
    return compare_pairs(problem, found, method, list(named), confidence_level)


def compare_pair(
    problem: Problem,
    found: Findings,
    method: str,
    names: list[str],
    confidence_level: float,
    places: tuple[int, int] = (0, 1),
) -> ClassifierComparison:
    """Return the comparison of two of the estimators."""
    a, b = places
    test, details = found.judge(a, b)
    used = details.pop("method", method)
    return ClassifierComparison(
        method=used,
        scoring=name_scoring(problem.scoring),
        name_a=names[a],
        name_b=names[b],
        score_a=float(found.scores[a]),
        score_b=float(found.scores[b]),
        difference=float(found.scores[a] - found.scores[b]),
        standard_error=test.standard_error,
        statistic=test.statistic,
        pvalue=test.pvalue,
        alternative=problem.alternative,
        limits={used: test.limits},
        n_samples=len(problem.tasks[0].target),
        confidence_level=confidence_level,
        **details,
    )


def compare_pairs(
    problem: Problem, found: Findings, method: str, names: list[str], confidence_level: float
) -> ClassifierComparisons:
    """Return the comparisons of all pairs of the estimators."""
    pairs = combinations(range(len(names)), 2)
    comparisons = {
        (names[a], names[b]): compare_pair(problem, found, method, names, confidence_level, (a, b))
        for a, b in pairs
    }
    return ClassifierComparisons(
        names=tuple(names),
        method=method,
        scoring=name_scoring(problem.scoring),
        scores=np.asarray(found.scores, dtype=float),
        comparisons=comparisons,
        confidence_level=confidence_level,
        rope=problem.rope if method == "corrected_t" else None,
    )


N_REPEATS = 10
"""Of the default folds under "corrected_t"."""


ROPE = 0.01
"""Half the width of the region of practical equivalence of rates."""


def order_arguments(
    estimator_a: Any, estimator_b: Any, X: Any, y: Any
) -> tuple[dict[str, Any] | None, tuple[Any, ...], Any, Any]:
    """Return the names (None for a pair) and the estimators, X and y, as the two forms give them.

    They are ``a, b, X, y`` and ``estimators, X, y``.
    """
    given = [value for value in (estimator_b, X, y) if value is not None]
    if isinstance(estimator_a, Mapping):
        if len(given) != 2:
            raise TypeError(
                "estimator_b must be left out where estimator_a is a dict of estimators, and X and "
                f"y given; got {len(given)} arguments beside the dict."
            )
        check_named("estimator_a", estimator_a, 2)
        return dict(estimator_a), tuple(estimator_a.values()), *given
    if len(given) != 3:
        raise TypeError(
            "estimator_a, estimator_b, X and y must be given, or a dict of estimators, X and y; "
            f"got {1 + len(given)} arguments."
        )
    return None, (estimator_a, estimator_b), X, y


def check_named(name: str, things: Any, minimum: int) -> None:
    """Raise unless something is a dict with as many names at least."""
    named = isinstance(things, Mapping) and all(isinstance(key, str) for key in things)
    if not named or len(things) < minimum:
        got = f"the keys {list(things)!r}" if isinstance(things, Mapping) else repr(things)
        raise TypeError(f"{name} must be a dict of {minimum} names (str) at least, got {got}.")


def default_rope(scoring: str) -> float:
    """Return 0.01 where a score lies between -1 and 1 whatever the data, else 0."""
    return ROPE if max(map(abs, range_of(scoring))) <= 1 else 0.0


def check_rope(rope: Any) -> float:
    """Return half the width of a region of practical equivalence, or raise unless it is >= 0."""
    if not isinstance(rope, Real) or isinstance(rope, bool) or not 0 <= float(rope) < np.inf:
        raise ValueError(f"rope must be a number >= 0, got {rope!r}.")
    return float(rope)


def check_estimators(estimators: Mapping[str, Any], method: str, groups: Any) -> None:
    """Raise unless all can be compared, and by this method where there are groups.

    The estimators come by the words that an error has for them.
    """
    for name, estimator in estimators.items():
        check_methods(name, estimator, "fit", "predict", "get_params")
    kinds = {is_classifier(estimator) for estimator in estimators.values()}
    classes = [type(estimator).__name__ for estimator in estimators.values()]
    if len(kinds) > 1:
        every = "both" if len(estimators) == 2 else "all"
        raise TypeError(
            f"{' and '.join(estimators)} must {every} be classifiers or {every} be regressors, got "
            f"{' and '.join(classes)}."
        )
    if method in ("mcnemar", "delong") and kinds == {False}:
        raise TypeError(
            f"method={method!r} must be given classifiers, got {classes[0]}; "
            "'corrected_t' and 'bootstrap' take regressors."
        )
    if groups is not None and method in ("mcnemar", "delong"):
        raise ValueError(
            f"groups must be None for method={method!r}, which takes samples for independent; "
            "method='bootstrap' draws whole groups, 'corrected_t' holds whole groups out."
        )


def check_shared(words: Sequence[str], estimators: Sequence[Any], task: Task, method: str) -> None:
    """Raise unless all estimators take the weights, and the method does without fits that fail."""
    if task.weight is not None:
        for word, estimator in zip(words, estimators, strict=True):
            try:
                check_takes_weights(estimator)
            except TypeError as error:
                raise TypeError(f"{word}: {error}") from error
    if method != "corrected_t" and task.error_score != "raise":
        raise ValueError(
            f"error_score must be 'raise' for method={method!r}, which pools the predictions of "
            f"all samples, got {task.error_score!r}."
        )


def choose_scoring(method: str, scoring: Any, estimator: Any) -> Any:
    """Return the score that a method tests, or raise where it tests another."""
    fixed = {"mcnemar": "accuracy", "delong": "roc_auc"}.get(method)
    if fixed is not None and scoring not in (None, fixed):
        raise ValueError(f"method={method!r} tests scoring={fixed!r}, got {scoring!r}.")
    if scoring is None and fixed is None:
        return "accuracy" if is_classifier(estimator) else "r2"
    return fixed or scoring


def resolve_scorer(scoring: Any) -> Any:
    """Return the scorer of a name, any other as it is."""
    with naming("scoring"):
        return get_scorer(scoring) if isinstance(scoring, str) else scoring


def choose_splits(
    cv: Any, method: str, X: Any, target: Target, groups: Any, random_state: RandomStateLike
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the splits that all estimators see: for the t-test by default repeated folds."""
    if cv is None and method == "corrected_t":
        return repeat_folds(N_REPEATS, X, target, groups, random_state)
    return list(resolve_folds(cv, X, target, groups, random_state))


@dataclass(frozen=True)
class Problem:
    """Tasks of some estimators on the same data, the splits they share, and how to judge them."""

    tasks: tuple[Task, ...]
    folds: list[tuple[np.ndarray, np.ndarray]]
    scoring: Any
    scorer: Any
    rope: float
    alternative: str
    n_resamples: int
    root: SeedSequence

    @property
    def target(self) -> Target:
        """What all estimators are to predict."""
        return self.tasks[0].target

    def replay(self, *methods: str) -> list[ReplayedEstimator]:
        """Return all with their out-of-fold responses: those of some methods, or of all."""
        return [replay_out_of_fold(task, self.folds, methods or RESPONSES) for task in self.tasks]


def replay_out_of_fold(
    task: Task, folds: list[tuple[np.ndarray, np.ndarray]], methods: tuple[str, ...]
) -> ReplayedEstimator:
    """Fit on each training part and replay the responses to its test part."""
    target, tested = task.target, np.concatenate([test for _, test in folds])
    if not np.array_equal(np.sort(tested), np.arange(len(target))):
        raise ValueError(
            "cv must test every sample exactly once where out-of-fold predictions are pooled; "
            "method='corrected_t' takes any splits."
        )
    asked = Questions(methods, note=read_classes)
    fits = fit_plan(task, fold_plan(len(target), folds), asked)
    output = join_outputs([output for _, output in fits])
    classes = output.notes or [None]
    if any(not np.array_equal(seen, classes[0]) for seen in classes):
        raise ValueError(
            "cv must leave every class in every training part, got parts with the classes "
            f"{sorted({str(seen.tolist()) for seen in classes})}."
        )
    order = np.argsort(output.rows)
    answers = {name: values[order] for name, values in output.responses.items()}
    if "predict" in answers:
        answers["predict"] = target.decode(answers["predict"])
    return ReplayedEstimator(answers, get_tags(task.estimator), classes[0])


def read_classes(model: Any, X: Any, y: Any) -> Any:
    """Return the classes that a model has seen, None where it has none."""
    return getattr(model, "classes_", None)


Details = dict[str, Any]


class Findings(NamedTuple):
    """What a method finds.

    Attributes
    ----------
    scores : ndarray of shape (n_estimators,)
    judge : callable
        The test of two estimators by their places, and what else the result says of the two.
    """

    scores: np.ndarray
    judge: Callable[[int, int], tuple[PairedTest, Details]]


def judge_splits(
    scores: np.ndarray, ratio: float, rope: float, alternative: str
) -> tuple[PairedTest, Details]:
    """Return the corrected t-test of two columns of scores of splits, and what else it says."""
    test = corrected_t(differences_of(scores), ratio, alternative)
    if test.standard_error == 0:
        warn_undefined(
            "The difference is the same on every split, which leaves no variance to test by: the "
            "interval is nan, and the P-value too unless the scores are equal."
        )
    difference = float(scores[:, 0].mean() - scores[:, 1].mean())
    probabilities = correlated_t_probabilities(difference, test.standard_error, len(scores), rope)
    return test, {"split_scores": scores, "rope": rope, "probabilities": probabilities}


def compare_by_splits(problem: Problem) -> Findings:
    """Score every split, and test the differences."""
    if len(problem.folds) < 2:
        raise ValueError(f"cv must make at least two splits, got {len(problem.folds)}.")
    plan = fold_plan(len(problem.target), problem.folds)
    asked = plan, problem.scorer, problem.scoring
    scores = np.column_stack(
        [np.concatenate(list(score_plan(task, *asked))) for task in problem.tasks]
    )
    if problem.tasks[0].error_score != "raise":
        scores = scores[np.isfinite(scores).all(axis=1)]
        if len(scores) < 2:
            raise ValueError("error_score=numpy.nan leaves fewer than two splits to compare on.")
    ratio = float(np.mean([len(test) / len(train) for train, test in problem.folds]))

    def judge(a: int, b: int) -> tuple[PairedTest, Details]:
        return judge_splits(scores[:, [a, b]], ratio, problem.rope, problem.alternative)

    return Findings(scores.mean(axis=0), judge)


def compare_by_errors(problem: Problem) -> Findings:
    """Count the samples that one of two gets right alone."""
    truth = problem.target.y
    right = np.array([each.predict(slice(None)) == truth for each in problem.replay("predict")])

    def judge(a: int, b: int) -> tuple[PairedTest, Details]:
        only_a, only_b = int(np.sum(right[a] & ~right[b])), int(np.sum(right[b] & ~right[a]))
        test, method = mcnemar(only_a, only_b, len(truth), problem.alternative)
        return test, {"method": method, "discordant": (only_a, only_b)}

    return Findings(right.mean(axis=1), judge)


def compare_by_areas(problem: Problem) -> Findings:
    """Compare areas under ROC curves by their covariance."""
    replayed = problem.replay("decision_function", "predict_proba")
    classes = replayed[0].classes_
    if len(classes) != 2:
        raise ValueError(f"method='delong' needs two classes in y, got {len(classes)}.")
    positive = problem.target.y == classes[1]
    if min(positive.sum(), (~positive).sum()) < 2:
        raise ValueError("method='delong' needs two samples of each class in y, got fewer.")
    areas, covariance = delong(positive, np.array([each.positive_score() for each in replayed]))

    def judge(a: int, b: int) -> tuple[PairedTest, Details]:
        two = [a, b]
        return paired_delong(areas[two], covariance[np.ix_(two, two)], problem.alternative), {}

    return Findings(areas, judge)


def compare_by_resamples(problem: Problem) -> Findings:
    """Score all on the same resamples of their out-of-fold responses."""
    replayed, truth = problem.replay(), problem.target.y
    units = drawing_units(len(truth), None, problem.tasks[0].groups)
    scores, drawn = [], []
    for each in replayed:

        def score(rows: np.ndarray, each: ReplayedEstimator = each) -> float:
            return float(problem.scorer(each, rows, truth[rows]))

        scores.append(score(np.arange(len(truth))))
        drawn.append(
            values_or_nan(score, units, problem.n_resamples, problem.root, problem.tasks[0].n_jobs)
        )

    def judge(a: int, b: int) -> tuple[PairedTest, Details]:
        replicates = drawn[a] - drawn[b]
        warn_of_undefined(replicates)
        defined = replicates[~np.isnan(replicates)]
        if len(defined) < 2:
            raise ValueError("scoring must be defined on two resamples at least, it is on fewer.")
        test = paired_bootstrap(scores[a] - scores[b], defined, problem.alternative)
        return test, {"replicates": replicates}

    return Findings(np.array(scores), judge)


METHODS: dict[str, Callable[[Problem], Findings]] = {
    "corrected_t": compare_by_splits,
    "mcnemar": compare_by_errors,
    "bootstrap": compare_by_resamples,
    "delong": compare_by_areas,
}
