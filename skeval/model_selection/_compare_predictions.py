"""Which of two prediction vectors is better? Without an estimator.

Of several classifiers that judged the same samples Cochran's Q asks whether any differs; systems
that translate are compared by BLEU, two at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.metrics import roc_auc_score

from skeval._inference.areas import delong, partial_delong
from skeval._inference.estimate import LimitsByMethod
from skeval._inference.paired import (
    ALTERNATIVES,
    PairedTest,
    cochran_q_statistic,
    exchange_pvalue,
    mcnemar,
    paired_bootstrap,
    paired_delong,
    percentile_limits,
)
from skeval._resampling.units import DrawingUnits, drawing_units, values_or_nan, warn_of_undefined
from skeval.metrics._text import (
    BLEU_CONSTRAINTS,
    Smoothing,
    Tokenizer,
    bleu_options,
    bleu_statistics,
    log_bleu,
)
from skeval.model_selection._comparison import check_named
from skeval.model_selection._comparison_result import ClassifierComparison
from skeval.utils._checks import (
    check_comparable,
    check_confidence_level,
    check_option,
    check_same_length,
    check_y,
    naming,
    share_dtype,
)
from skeval.utils._compat import Interval, validate_params
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed
from skeval.utils._text import (
    ShownAsText,
    align_text,
    fill_text,
    name_scoring,
    say_pvalue,
    write_number,
    write_pvalue,
)

__all__ = [
    "CochranQ",
    "cochran_q",
    "compare_bleu",
    "compare_predictions",
    "exchanged_differences",
    "resampled_differences",
]


@validate_params(
    {
        "metric": [callable, None],
        "max_fpr": [Interval(Real, 0, 1, closed="right"), None],
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state", Generator],
        "n_jobs": [Integral, None],
    }
)
def compare_predictions(
    y_true: ArrayLike,
    pred_a: ArrayLike,
    pred_b: ArrayLike,
    *,
    method: str = "permutation",
    metric: Callable[..., float] | None = None,
    y_true_b: ArrayLike | None = None,
    max_fpr: float | None = None,
    groups: ArrayLike | None = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
) -> ClassifierComparison:
    r"""Test and interval for the difference of two vectors of predictions or scores.

    It is `compare_classifiers` for what has been predicted before, by whatever it was: the rules
    are taken as they are, and the samples as independent.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        What is to be predicted.
    pred_a, pred_b : array-like of shape (n_samples,) or (n_samples, n_classes)
        Two predictions of the same samples, as `metric` takes them.
    method : {"permutation", "bootstrap", "mcnemar", "delong"}, default="permutation"
        "permutation": the predictions of each sample are exchanged or not, at random; the P-value
        is exact for the hypothesis that it does not matter which is which, and the interval is that
        of the bootstrap. "bootstrap": the samples are resampled. "mcnemar" counts the samples that
        one alone predicts right. "delong" compares areas under ROC curves, of two classes, the
        second in sorted order the positive one.
    metric : callable, default=None
        ``metric(y_true, pred)`` of "permutation" and "bootstrap"; None is the accuracy.
    y_true_b : array-like of shape (n_samples_b,), default=None
        What `pred_b` is to predict where its samples are others than those of `pred_a`: unpaired
        ("delong").
    max_fpr : float, default=None
        Compare the areas over false positive rates up to this one, standardised by McClish as in
        `sklearn.metrics.roc_auc_score` ("delong").
    groups : array-like of shape (n_samples,), default=None
        Whole groups are exchanged, or drawn ("permutation", "bootstrap").
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        What the test is to show of the score of `a` minus that of `b`.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, which is two-sided.
    n_resamples : int, default=2000
        Exchanges, and resamples.
    random_state : int, RandomState, Generator or None, default=None
        Draws them.
    n_jobs : int, default=None
        Number of joblib workers; the result does not depend on it.

    Returns
    -------
    comparison : ClassifierComparison
        With `difference` (a minus b), its `interval`, and `pvalue`.

    Raises
    ------
    ValueError
        If lengths differ, a prediction is missing, text is compared with numbers, or an option is
        given to a method that has no use for it.

    Notes
    -----
    The P-value of "permutation" is :math:`(1 + \#\{|d^*| \ge |d|\}) / (1 + B)`.

    The variance of a partial area counts that the cut between negatives is estimated, too.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves. Biometrics 44, 837-845.
       https://doi.org/10.2307/2531595
    .. [2] McClish, D. K. (1989). Analyzing a portion of the ROC curve. Medical Decision Making 9,
       190-195. https://doi.org/10.1177/0272989X8900900307

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import compare_predictions
    >>> y = np.tile([0, 1], 40)
    >>> a, b = y.copy(), y.copy()
    >>> a[:6] = 1 - a[:6]
    >>> b[4:24] = 1 - b[4:24]
    >>> print(compare_predictions(y, a, b, method="mcnemar"))
    accuracy, mcnemar (exact)
      a: a                  0.9250
      b: b                  0.7500
      difference            0.1750
      95 % interval         [0.0622, 0.2792]
      P-value               0.00434
      only a, only b right  18, 4
      a scores more than b: more than chance at 5 % (P = 0.0043). This holds for these
      predictions; that training anew would change them is left out.
    """
    check_confidence_level(confidence_level)
    check_option("method", method, _METHODS)
    check_option("alternative", alternative, ALTERNATIVES)
    _refuse_unused(method, metric=metric, y_true_b=y_true_b, max_fpr=max_fpr, groups=groups)
    y_true = check_y("y_true", y_true)
    pred_a, pred_b = _read_predictions("pred_a", pred_a), _read_predictions("pred_b", pred_b)
    check_same_length(y_true=y_true, pred_a=pred_a)
    if y_true_b is None:
        check_same_length(y_true=y_true, pred_b=pred_b)
    else:
        y_true_b = check_y("y_true_b", y_true_b)
        check_same_length(y_true_b=y_true_b, pred_b=pred_b)
    vectors = _Vectors(
        y_true, pred_a, pred_b, metric, y_true_b, max_fpr, groups, alternative,
        n_resamples, root_seed(random_state), n_jobs,
    )  # fmt: skip
    scores, test, details = _METHODS[method](vectors)
    used = details.pop("method", method)
    limits: LimitsByMethod = details.pop("limits", {used: test.limits})
    return ClassifierComparison(
        method=used,
        scoring=details.pop("scoring"),
        name_a="a",
        name_b="b",
        score_a=scores[0],
        score_b=scores[1],
        difference=scores[0] - scores[1],
        standard_error=test.standard_error,
        statistic=test.statistic,
        pvalue=test.pvalue,
        alternative=alternative,
        limits=limits,
        n_samples=len(y_true) + (0 if y_true_b is None else len(y_true_b)),
        confidence_level=confidence_level,
        **details,
    )


def fraction_right(y_true: np.ndarray, predicted: np.ndarray) -> float:
    """Return the accuracy; its checks are left out, which take longer than the rest."""
    return float(np.mean(y_true == predicted))


_UNUSED = {
    "permutation": ("y_true_b", "max_fpr"),
    "bootstrap": ("y_true_b", "max_fpr"),
    "mcnemar": ("metric", "y_true_b", "max_fpr", "groups"),
    "delong": ("metric", "groups"),
}


def _refuse_unused(method: str, **options: Any) -> None:
    for name in _UNUSED[method]:
        if options[name] is not None:
            raise ValueError(f"{name} must be None for method={method!r}, got {options[name]!r}.")


def _read_predictions(name: str, predicted: Any) -> np.ndarray:
    """Return predictions as an array of one or two dimensions, the samples first."""
    with naming(name):
        array = np.asarray(predicted)
    if array.ndim not in (1, 2) or not array.size:
        raise ValueError(f"{name} must have one entry or row a sample, got shape {array.shape}.")
    if np.any(array != array):  # as nan alone is
        raise ValueError(f"{name} must have no missing values, got nan.")
    return array


def _read_labels(vectors: _Vectors, case: str) -> _Vectors:
    """Return the same with predictions that can be compared with the labels, or raise."""
    read = []
    for name, predicted in (("pred_a", vectors.pred_a), ("pred_b", vectors.pred_b)):
        if predicted.ndim > 1:
            raise ValueError(f"{name} must hold one label a sample {case}.")
        labels = check_y(name, predicted)
        check_comparable(vectors.y_true, name, labels)
        read.append(labels)
    return replace(vectors, pred_a=read[0], pred_b=read[1])


@dataclass(frozen=True)
class _Vectors:
    """What is compared, and how."""

    y_true: np.ndarray
    pred_a: np.ndarray
    pred_b: np.ndarray
    metric: Callable[..., float] | None
    y_true_b: np.ndarray | None
    max_fpr: float | None
    groups: Any
    alternative: str
    n_resamples: int
    root: np.random.SeedSequence
    n_jobs: int | None

    def score_rows(self, rows: Any) -> tuple[float, float]:
        """Return the two scores on some samples."""
        metric, y = self.metric or fraction_right, self.y_true[rows]
        return float(metric(y, self.pred_a[rows])), float(metric(y, self.pred_b[rows]))

    def score_difference(self, rows: np.ndarray) -> float:
        """Return the difference of the scores on some samples."""
        score_a, score_b = self.score_rows(rows)
        return score_a - score_b

    def score_exchanged(self, rows: np.ndarray) -> float:
        """Return the difference of the scores where some samples are exchanged."""
        a, b = self.pred_a.copy(), self.pred_b.copy()
        a[rows], b[rows] = self.pred_b[rows], self.pred_a[rows]
        metric = self.metric or fraction_right
        return float(metric(self.y_true, a)) - float(metric(self.y_true, b))

    def draw(self, statistic: Callable[[np.ndarray], float], units: DrawingUnits) -> np.ndarray:
        """Return a statistic of the rows of each draw."""
        return values_or_nan(statistic, units, self.n_resamples, self.root, self.n_jobs)


class _ExchangedUnits(DrawingUnits):
    """Draws each unit once or not at all: whether its predictions are exchanged."""

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return whether each sample is exchanged."""
        exchanged: np.ndarray = rng.integers(0, 2, self.n_units)[self.unit]
        return exchanged


Found = tuple[tuple[float, float], PairedTest, dict[str, Any]]


def _resample(vectors: _Vectors) -> Found:
    scoring = "accuracy" if vectors.metric is None else name_scoring(vectors.metric)
    if vectors.metric is None:
        vectors = _read_labels(vectors, "where metric is None")
    with naming("metric"):
        scores = vectors.score_rows(slice(None))
    if not np.isfinite(scores).all():
        raise ValueError(f"metric must be finite on all samples, got {scores[0]}, {scores[1]}.")
    units = drawing_units(len(vectors.y_true), None, vectors.groups)
    replicates = vectors.draw(vectors.score_difference, units)
    warn_of_undefined(replicates)
    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2:
        raise ValueError("metric must be defined on two resamples at least, it is on fewer.")
    test = paired_bootstrap(scores[0] - scores[1], defined, vectors.alternative)
    return scores, test, {"replicates": replicates, "scoring": scoring}


def _exchange(vectors: _Vectors) -> Found:
    if vectors.pred_a.shape != vectors.pred_b.shape:
        raise ValueError(
            f"pred_a and pred_b must have the same shape for method='permutation', got "
            f"{vectors.pred_a.shape} and {vectors.pred_b.shape}."
        )
    pred_a, pred_b = share_dtype(vectors.pred_a, vectors.pred_b)
    vectors = replace(vectors, pred_a=pred_a, pred_b=pred_b)
    scores, test, details = _resample(vectors)
    drawn = drawing_units(len(vectors.y_true), None, vectors.groups)
    units = _ExchangedUnits(drawn.unit, drawn.strata, drawn.n_groups)
    replicates = vectors.draw(vectors.score_exchanged, units)
    difference = scores[0] - scores[1]
    pvalue = exchange_pvalue(difference, replicates, vectors.alternative)
    bootstrap = details["replicates"]
    limits = {"bootstrap": partial(percentile_limits, bootstrap[~np.isnan(bootstrap)])}
    details |= {"replicates": replicates, "limits": limits}
    return scores, test._replace(statistic=difference, pvalue=pvalue), details


def _count_errors(vectors: _Vectors) -> Found:
    vectors = _read_labels(vectors, "for method='mcnemar'")
    truth = vectors.y_true
    right_a, right_b = (np.asarray(p == truth) for p in (vectors.pred_a, vectors.pred_b))
    only_a, only_b = int(np.sum(right_a & ~right_b)), int(np.sum(right_b & ~right_a))
    test, method = mcnemar(only_a, only_b, len(truth), vectors.alternative)
    details = {"method": method, "discordant": (only_a, only_b), "scoring": "accuracy"}
    return (float(right_a.mean()), float(right_b.mean())), test, details


def _compare_areas(vectors: _Vectors) -> Found:
    u = 1.0 if vectors.max_fpr is None else vectors.max_fpr
    scoring = "roc_auc" if u == 1 else f"roc_auc up to a false positive rate of {u:g}"
    if vectors.y_true_b is None:
        positive = _find_positive("y_true", vectors.y_true)
        both = np.array(
            [_as_scores("pred_a", vectors.pred_a), _as_scores("pred_b", vectors.pred_b)]
        )
        areas, covariance = _find_areas(positive, both, u)
        method = "delong"
    else:
        areas, covariance, method = np.empty(2), np.zeros((2, 2)), "delong (unpaired)"
        parts = [
            ("y_true", vectors.y_true, "pred_a", vectors.pred_a),
            ("y_true_b", vectors.y_true_b, "pred_b", vectors.pred_b),
        ]
        for place, (name, y, pred, scores) in enumerate(parts):
            one = _as_scores(pred, scores)[None]
            area, variance = _find_areas(_find_positive(name, y), one, u)
            areas[place], covariance[place, place] = area[0], variance[0, 0]
    test = paired_delong(areas, covariance, vectors.alternative)
    return (float(areas[0]), float(areas[1])), test, {"method": method, "scoring": scoring}


def _find_areas(
    positive: np.ndarray, scores: np.ndarray, max_fpr: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return areas and their covariance; a partial area is that of scikit-learn."""
    if max_fpr == 1:
        return delong(positive, scores)
    _, covariance = partial_delong(positive, scores, max_fpr)
    areas = [roc_auc_score(positive, each, max_fpr=max_fpr) for each in scores]
    return np.array(areas), covariance


def _find_positive(name: str, y: np.ndarray) -> np.ndarray:
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) != 2 or counts.min() < 2:
        raise ValueError(
            f"{name} must hold two classes of two samples each at least for method='delong', got "
            f"{len(classes)} classes of {counts.min()} or more."
        )
    positive: np.ndarray = y == classes[1]
    return positive


def _as_scores(name: str, scores: np.ndarray) -> np.ndarray:
    with naming(name):
        values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(f"{name} must hold one finite score a sample for method='delong'.")
    return values


_METHODS: dict[str, Callable[[_Vectors], Found]] = {
    "permutation": _exchange,
    "bootstrap": _resample,
    "mcnemar": _count_errors,
    "delong": _compare_areas,
}


@dataclass(frozen=True, eq=False)
class CochranQ(ShownAsText):
    """Whether the accuracies of several classifiers on the same samples differ.

    Attributes
    ----------
    names : tuple of str
        The classifiers.
    accuracies : ndarray of shape (n_classifiers,)
        Fraction of the samples that each predicts right.
    statistic, pvalue : float
        Cochran's Q, and its P-value by the chi-squared distribution.
    n_samples : int
        Number of samples.
    n_discordant : int
        Samples that some predict right and some do not; the others do not count.
    """

    names: tuple[str, ...]
    accuracies: np.ndarray = field(repr=False)
    statistic: float
    pvalue: float
    n_samples: int
    n_discordant: int

    @property
    def conclusion(self) -> str:
        """What may be concluded, and what not, in words."""
        if self.pvalue <= 0.05:
            return (
                f"The accuracies differ by more than chance ({say_pvalue(self.pvalue)}); which of "
                "them do, it does not say: compare pairs, with Holm's correction."
            )
        return (
            f"No difference is shown at 5 % ({say_pvalue(self.pvalue)}), which is no proof that "
            "the classifiers are equal."
        )

    def __str__(self) -> str:
        rows = [(n, write_number(a)) for n, a in zip(self.names, self.accuracies, strict=True)]
        rows += [("Q", f"{self.statistic:.4g}"), ("P-value", write_pvalue(self.pvalue))]
        rows.append(("samples that count", f"{self.n_discordant} of {self.n_samples}"))
        return align_text("Cochran's Q", rows) + "\n" + fill_text(self.conclusion)


def cochran_q(y_true: ArrayLike, predictions: Mapping[str, Any]) -> CochranQ:
    r"""Test whether several classifiers are right equally often on the same samples.

    McNemar's test for more than two: with :math:`G_j` the number of samples that classifier `j` of
    `k` predicts right, and :math:`L_i` the number of classifiers that predict sample `i` right,

    .. math:: Q = \frac{k (k - 1) \sum_j (G_j - \bar G)^2}{\sum_i L_i (k - L_i)} ,

    chi-squared on `k - 1` degrees of freedom.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes.
    predictions : dict of str to array-like of shape (n_samples,)
        What each of two classifiers or more predicts.

    Returns
    -------
    result : CochranQ
        With `statistic` and `pvalue`.

    Raises
    ------
    TypeError
        If `predictions` is no dict of two names at least.
    ValueError
        If the lengths differ, or text is compared with numbers.

    Notes
    -----
    The distribution holds for many discordant samples, 24 or more say.

    References
    ----------
    .. [1] Cochran, W. G. (1950). The comparison of percentages in matched samples. Biometrika 37,
       256-266. https://doi.org/10.1093/biomet/37.3-4.256

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import cochran_q
    >>> y = np.tile([0, 1], 40)
    >>> errors = {"a": 8, "b": 9, "c": 16}
    >>> flipped = {name: np.where(np.arange(80) < n, 1 - y, y) for name, n in errors.items()}
    >>> print(cochran_q(y, flipped))
    Cochran's Q
      a                   0.9000
      b                   0.8875
      c                   0.8000
      Q                   14.25
      P-value             0.000805
      samples that count  8 of 80
      The accuracies differ by more than chance (P = 0.0008); which of them do, it does not
      say: compare pairs, with Holm's correction.
    """
    check_named("predictions", predictions, 2)
    truth = check_y("y_true", y_true)
    right = []
    for name, predicted in predictions.items():
        labels = check_y(f"predictions[{name!r}]", predicted)
        check_same_length(**{"y_true": truth, f"predictions[{name!r}]": labels})
        check_comparable(truth, f"predictions[{name!r}]", labels)
        right.append(np.asarray(labels == truth))
    found = np.array(right)
    statistic = cochran_q_statistic(found)
    of_sample = found.sum(axis=0)
    return CochranQ(
        names=tuple(predictions),
        accuracies=found.mean(axis=1),
        statistic=statistic,
        pvalue=float(stats.chi2.sf(statistic, len(found) - 1)),
        n_samples=len(truth),
        n_discordant=int(np.sum((of_sample > 0) & (of_sample < len(found)))),
    )


Sums = NDArray[np.int64]
ScoreOfSums = Callable[[Sums], float]
METHODS = ("bootstrap", "randomization")


@validate_params(
    {
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state", Generator],
        **BLEU_CONSTRAINTS,
    }
)
def compare_bleu(
    references: Sequence[Any],
    hypotheses_a: Sequence[Any],
    hypotheses_b: Sequence[Any],
    *,
    method: str = "bootstrap",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    random_state: RandomStateLike = None,
    max_order: int = 4,
    weights: Any = None,
    smoothing: Smoothing = None,
    smoothing_value: float | None = None,
    effective_order: bool = False,
    tokenize: Tokenizer | None = None,
) -> ClassifierComparison:
    r"""Test and interval for the difference of two BLEU scores of the same sentences.

    Parameters
    ----------
    references : sequence of length n_sentences
        The references of each sentence, as in `bleu_score`.
    hypotheses_a, hypotheses_b : sequence of length n_sentences
        The translations of two systems.
    method : {"bootstrap", "randomization"}, default="bootstrap"
        Where the P-value comes from. "bootstrap": sentences are drawn with replacement, the same
        for both [1]_. "randomization": the two translations of each sentence are exchanged or not,
        at random [2]_. The interval is that of the bootstrap in both.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        What the test is to show of the score of `a` minus that of `b`.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, which is two-sided.
    n_resamples : int, default=2000
        Resamples, and exchanges.
    random_state : int, RandomState, Generator or None, default=None
        Draws them.
    max_order, weights, smoothing, smoothing_value, effective_order, tokenize : optional
        As in `bleu_score`.

    Returns
    -------
    comparison : ClassifierComparison
        With `difference` (a minus b, fractions), its `interval`, and `pvalue`.

    Raises
    ------
    ValueError
        If the lengths differ, or as `bleu_score`.
    TypeError
        As `bleu_score`.

    Notes
    -----
    The two BLEU scores of a resample, and of an exchange, are those of sacrebleu of the same
    sentences. Of the P-values, that of the randomisation counts exchanges that differ *at least* as
    much, sacrebleu those that differ more. That of the bootstrap takes the distance of a replicate
    from the observed difference; sacrebleu takes the size of each difference less their mean, which
    is not the same unless all have one sign.

    References
    ----------
    .. [1] Koehn, P. (2004). Statistical significance tests for machine translation evaluation.
       EMNLP 2004, 388-395.
    .. [2] Riezler, S. and Maxwell, J. T. (2005). On some pitfalls in automatic evaluation and
       significance testing for MT. ACL Workshop on Intrinsic and Extrinsic Evaluation Measures,
       57-64.

    Examples
    --------
    >>> from skeval.model_selection import compare_bleu
    >>> references = ["the cat sat on the mat", "it is raining again", "we go home now"] * 9
    >>> a = ["the cat sat on a mat", "it is raining again", "we go home soon"] * 9
    >>> b = ["a cat sat on the mat", "it rains again", "we go home now"] * 9
    >>> print(compare_bleu(references, a, b, random_state=0))
    bleu, bootstrap
      a: a           0.6283
      b: b           0.6950
      difference     -0.0667
      95 % interval  [-0.2267, 0.1160]
      P-value        0.436
      No difference is shown at 5 % (P = 0.44). That is no proof of equality. The difference
      may lie anywhere from -0.227 to 0.116 (95 % interval). This holds for these
      predictions; that training anew would change them is left out.
    """
    check_confidence_level(confidence_level)
    check_option("method", method, METHODS)
    check_option("alternative", alternative, ALTERNATIVES)
    checked = bleu_options(max_order, weights, smoothing, smoothing_value, effective_order)
    a = _read_statistics("hypotheses_a", references, hypotheses_a, max_order, tokenize)
    b = _read_statistics("hypotheses_b", references, hypotheses_b, max_order, tokenize)

    def score(sums: Sums) -> float:
        return float(np.exp(log_bleu(sums, *checked)))

    score_a, score_b = score(a.sum(axis=0)), score(b.sum(axis=0))
    root = root_seed(random_state)
    rngs = [repetition_rng(root, number) for number in range(n_resamples)]
    counts = (np.bincount(rng.integers(0, len(a), len(a)), minlength=len(a)) for rng in rngs)
    resampled = replicates = resampled_differences(score, a, b, counts)
    test = paired_bootstrap(score_a - score_b, resampled, alternative)
    if method == "randomization":
        # the resamples took the stream of each repetition as far as this
        swaps = (rng.integers(0, 2, len(a)).astype(bool) for rng in rngs)
        replicates = exchanged_differences(score, a, b, swaps)
        pvalue = exchange_pvalue(score_a - score_b, replicates, alternative)
        test = test._replace(statistic=score_a - score_b, pvalue=pvalue)
    return ClassifierComparison(
        method=method,
        scoring="bleu",
        name_a="a",
        name_b="b",
        score_a=score_a,
        score_b=score_b,
        difference=score_a - score_b,
        standard_error=test.standard_error,
        statistic=test.statistic,
        pvalue=test.pvalue,
        alternative=alternative,
        limits={"bootstrap": partial(percentile_limits, resampled)},
        n_samples=len(a),
        confidence_level=confidence_level,
        replicates=replicates,
    )


def _read_statistics(
    name: str, references: Any, hypotheses: Any, max_order: int, tokenize: Tokenizer | None
) -> Sums:
    """Return what BLEU needs of each sentence; every error says of which system."""
    with naming("references", name):
        statistics = bleu_statistics(references, hypotheses, max_order=max_order, tokenize=tokenize)
    if len(statistics) < 2:
        raise ValueError(f"references must hold two sentences at least, got {len(statistics)}.")
    return statistics


def resampled_differences(score: ScoreOfSums, a: Sums, b: Sums, counts: Any) -> np.ndarray:
    """Return the difference of scores for how often each resample holds each sentence."""
    return np.array([score(count @ a) - score(count @ b) for count in counts])


def exchanged_differences(score: ScoreOfSums, a: Sums, b: Sums, swaps: Any) -> np.ndarray:
    """Return the difference of scores for the sentences that are exchanged, as masks."""
    total, differences = a.sum(axis=0) + b.sum(axis=0), []
    for swap in swaps:
        first = a[~swap].sum(axis=0) + b[swap].sum(axis=0)
        differences.append(score(first) - score(total - first))
    return np.array(differences)
