"""Is one classifier better than another?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike

from skeval._inference.delong import delong
from skeval._inference.interval import LimitsResult
from skeval._inference.paired_tests import (
    PairedTest,
    corrected_t,
    differences_of,
    mcnemar,
    paired_bootstrap,
    paired_delong,
)
from skeval._resampling.folds import fold_plan
from skeval._resampling.replay import RESPONSES, ReplayedEstimator, out_of_fold_responses
from skeval._resampling.scores import resampled_scores
from skeval._resampling.target import Target, check_task
from skeval._resampling.units import drawing_units
from skeval._resampling.values import values_or_nan, warn_of_undefined
from skeval.model_selection._comparison_checks import (
    check_pair,
    choose_scoring,
    choose_splits,
    resolve_scorer,
)
from skeval.utils._checks import check_confidence_level, check_option, warn_undefined
from skeval.utils._compat import Interval, validate_params
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._seeds import RandomStateLike, root_seed
from skeval.utils._text import align_text, name_estimators

__all__ = ["ClassifierComparison", "compare_classifiers"]


@dataclass(frozen=True, eq=False)
class ClassifierComparison(LimitsResult):
    """Two classifiers, the difference of their scores, and whether it is more than chance.

    Attributes
    ----------
    method : str
        The test that was used.
    scoring : str
        Name of the score.
    name_a, name_b : str
        Names of the estimators: their classes, of a pipeline that of its last step; of two that
        would be called alike, those of all steps.
    score_a, score_b : float
        Mean score over the splits ("corrected_t"), or score of the pooled held-out predictions.
    difference : float
        ``score_a - score_b``.
    standard_error : float
        Of the difference.
    statistic : float
        Of the test: t, smaller number of discordant pairs or chi-squared, difference / error, z.
    pvalue : float
        Two-sided.
    n_samples : int
        Number of samples.
    split_scores : ndarray of shape (n_splits, 2) or None
        Scores of both on each split ("corrected_t").
    discordant : tuple of int or None
        Samples that only `a`, and that only `b` gets right ("mcnemar").
    replicates : ndarray of shape (n_resamples,) or None
        Differences on the resamples ("bootstrap").
    limits : dict of str to callable
        The ends of the interval by confidence level.
    interval : ConfidenceInterval
        That of the difference.
    confidence_level : float
        Its nominal coverage.
    """

    method: str
    scoring: str
    name_a: str
    name_b: str
    score_a: float
    score_b: float
    difference: float
    standard_error: float
    statistic: float
    pvalue: float
    n_samples: int
    split_scores: np.ndarray | None = field(default=None, repr=False)
    discordant: tuple[int, int] | None = None
    replicates: np.ndarray | None = field(default=None, repr=False)

    def to_frame(self) -> DataFrame:
        """Return one row per estimator, and one for the difference with its interval."""
        rows = [
            {"estimator": self.name_a, "score": self.score_a},
            {"estimator": self.name_b, "score": self.score_b},
            {
                "estimator": "difference",
                "score": self.difference,
                "low": self.interval.low,
                "high": self.interval.high,
                "pvalue": self.pvalue,
            },
        ]
        return make_frame(rows)

    def __str__(self) -> str:
        rows = [
            (f"a: {self.name_a}", f"{self.score_a:.4f}"),
            (f"b: {self.name_b}", f"{self.score_b:.4f}"),
            ("difference", f"{self.difference:.4f}"),
            self._interval_row(),
            ("P-value", f"{self.pvalue:.3g}"),
        ]
        if self.discordant is not None:
            rows.append(("only a, only b right", "{}, {}".format(*self.discordant)))
        if self.method == "delong":
            rows.append(("holds for", "these trained rules; the variance of training is left out"))
        return align_text(f"{self.scoring}, {self.method}", rows)


@validate_params(
    {
        "X": ["array-like", "sparse matrix"],
        "y": ["array-like"],
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
    estimator_b: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = None,
    method: str = "corrected_t",
    scoring: Any = None,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> ClassifierComparison:
    r"""Test and interval for the difference of two classifiers, on the same splits.

    Parameters
    ----------
    estimator_a : classifier
        Has `fit` and `predict`; it is cloned. A pipeline keeps selection and scaling inside the
        splits.
    estimator_b : classifier
        The other one.
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
    confidence_level : float, default=0.95
        Nominal coverage of the interval.
    n_resamples : int, default=2000
        Resamples of "bootstrap".
    random_state : int, RandomState, Generator or None, default=None
        Draws the folds and the resamples.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar for the fits of each estimator; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept; see :doc:`/user_guide/scale`.

    Returns
    -------
    comparison : ClassifierComparison
        With `difference` (a minus b), its `interval`, `pvalue` (two-sided) and the scores.

    Raises
    ------
    TypeError
        If an estimator lacks a method `fit`, `predict` or `get_params`, one is a classifier and
        the other is not, or `method` is "mcnemar" or "delong" and they are regressors.
    ValueError
        If `method` and `scoring` do not fit, or held-out predictions are pooled and `cv` does not
        test every sample exactly once.

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
    """
    check_confidence_level(confidence_level)
    check_option("method", method, _METHODS)
    check_pair(estimator_a, estimator_b, method, groups)
    X, target, groups = check_task(estimator_a, X, y, groups)
    scoring = choose_scoring(method, scoring, estimator_a)
    problem = _Problem(
        estimators=(estimator_a, estimator_b),
        X=X,
        target=target,
        groups=groups,
        folds=choose_splits(cv, method, X, target, groups, random_state),
        scoring=scoring,
        scorer=resolve_scorer(scoring),
        n_resamples=n_resamples,
        root=root_seed(random_state),
        options={"n_jobs": n_jobs, "verbose": verbose, "memory": memory},
    )
    (score_a, score_b), test, details = _METHODS[method](problem)
    used = details.pop("method", method)
    name_a, name_b = name_estimators(estimator_a, estimator_b)
    return ClassifierComparison(
        method=used,
        scoring=scoring if isinstance(scoring, str) else getattr(scoring, "__name__", str(scoring)),
        name_a=name_a,
        name_b=name_b,
        score_a=float(score_a),
        score_b=float(score_b),
        difference=float(score_a - score_b),
        standard_error=test.standard_error,
        statistic=test.statistic,
        pvalue=test.pvalue,
        limits={used: test.limits},
        n_samples=len(target),
        confidence_level=confidence_level,
        **details,
    )


@dataclass(frozen=True)
class _Problem:
    """Two estimators, the data and splits they share, and how to judge them."""

    estimators: tuple[Any, Any]
    X: Any
    target: Target
    groups: Any
    folds: list[tuple[np.ndarray, np.ndarray]]
    scoring: Any
    scorer: Any
    n_resamples: int
    root: SeedSequence
    options: dict[str, Any]

    def replay(self, *methods: str) -> list[ReplayedEstimator]:
        """Return both with their out-of-fold responses: those of some methods, or of all."""
        data = self.X, self.target, self.folds
        return [
            out_of_fold_responses(estimator, *data, methods or RESPONSES, **self.options)
            for estimator in self.estimators
        ]


Findings = tuple[tuple[float, float] | np.ndarray, PairedTest, dict[str, Any]]


def _compare_by_splits(problem: _Problem) -> Findings:
    if len(problem.folds) < 2:
        raise ValueError(f"cv must make at least two splits, got {len(problem.folds)}.")
    plan = fold_plan(len(problem.target), problem.folds)
    data, scoring = (problem.X, problem.target, plan, problem.scorer), problem.scoring
    scores = np.column_stack(
        [
            np.concatenate(
                list(resampled_scores(estimator, *data, scoring=scoring, **problem.options))
            )
            for estimator in problem.estimators
        ]
    )
    ratio = float(np.mean([len(test) / len(train) for train, test in problem.folds]))
    test = corrected_t(differences_of(scores), ratio)
    if test.standard_error == 0:
        warn_undefined(
            "The difference is the same on every split, which leaves no variance to test by: the "
            "interval is nan, and the P-value too unless the scores are equal."
        )
    return scores.mean(axis=0), test, {"split_scores": scores}


def _compare_by_errors(problem: _Problem) -> Findings:
    truth = problem.target.y
    right_a, right_b = (each.predict(slice(None)) == truth for each in problem.replay("predict"))
    only_a, only_b = int(np.sum(right_a & ~right_b)), int(np.sum(right_b & ~right_a))
    test, method = mcnemar(only_a, only_b, len(truth))
    details = {"method": method, "discordant": (only_a, only_b)}
    return (right_a.mean(), right_b.mean()), test, details


def _compare_by_areas(problem: _Problem) -> Findings:
    replayed = problem.replay("decision_function", "predict_proba")
    classes = replayed[0].classes_
    if len(classes) != 2:
        raise ValueError(f"method='delong' needs two classes in y, got {len(classes)}.")
    positive = problem.target.y == classes[1]
    if min(positive.sum(), (~positive).sum()) < 2:
        raise ValueError("method='delong' needs two samples of each class in y, got fewer.")
    areas, covariance = delong(positive, np.array([each.positive_score() for each in replayed]))
    return areas, paired_delong(areas, covariance), {}


def _compare_by_resamples(problem: _Problem) -> Findings:
    replayed, truth = problem.replay(), problem.target.y

    def scores(rows: np.ndarray) -> tuple[float, float]:
        a, b = (problem.scorer(each, rows, truth[rows]) for each in replayed)
        return a, b

    score_a, score_b = scores(np.arange(len(truth)))
    replicates = values_or_nan(
        lambda rows: float(np.subtract(*scores(rows))),
        drawing_units(len(truth), None, problem.groups),
        problem.n_resamples,
        problem.root,
        problem.options["n_jobs"],
    )
    warn_of_undefined(replicates)
    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2:
        raise ValueError("scoring must be defined on two resamples at least, it is on fewer.")
    test = paired_bootstrap(score_a - score_b, defined)
    return (score_a, score_b), test, {"replicates": replicates}


_METHODS: dict[str, Callable[[_Problem], Findings]] = {
    "corrected_t": _compare_by_splits,
    "mcnemar": _compare_by_errors,
    "bootstrap": _compare_by_resamples,
    "delong": _compare_by_areas,
}
