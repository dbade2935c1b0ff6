"""Is one classifier better than another?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from numbers import Integral
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from skeval._inference.paired_tests import ALTERNATIVES
from skeval._resampling.task import read_task
from skeval._resampling.weights import Params
from skeval.model_selection._comparison_checks import (
    check_estimators,
    check_rope,
    check_shared,
    choose_scoring,
    choose_splits,
    default_rope,
    order_arguments,
    resolve_scorer,
)
from skeval.model_selection._comparison_methods import METHODS, Findings, Problem
from skeval.model_selection._comparison_result import ClassifierComparison, ClassifierComparisons
from skeval.utils._checks import check_confidence_level, check_option
from skeval.utils._compat import Interval, validate_params
from skeval.utils._seeds import RandomStateLike, root_seed
from skeval.utils._text import name_estimators, name_scoring

__all__ = ["compare_classifiers"]


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
