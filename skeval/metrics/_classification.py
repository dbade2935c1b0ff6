"""Error rate, predictive values, F of class-averaged precision and recall, and costs of errors.

All metrics are computed from the confusion matrix, or from the true positives, false positives and
false negatives of each class. Predictions are labels or an indicator matrix. The constraints on
arguments, shared by all metrics, come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.metrics import confusion_matrix, multilabel_confusion_matrix

from skeval._inference.tables import geometric_mean
from skeval.utils import _checks
from skeval.utils._checks import CONSTRAINTS, check_column_names, validate_params
from skeval.utils._compat import Interval, StrOptions, num_samples

MatrixAverage = Literal["macro", "micro"]

Floats = NDArray[np.float64]
ZeroDivision = float | str
ClassWeight = str | ArrayLike | Mapping[Any, float]
Counts = tuple[Floats, Floats, Floats]
"""True positives, false positives and false negatives of each class."""
Counted = tuple[list[object], Counts, Floats]
"""Classes with their counts and class weights."""

_CONSTRAINTS = CONSTRAINTS | {
    "y_true": ["array-like", "sparse matrix"],
    "y_pred": ["array-like", "sparse matrix"],
}
"""Constraints of classification metrics, which accept sparse indicator matrices."""

COST = Interval(Real, 0, None, closed="left")


@validate_params(_CONSTRAINTS)
def error_rate(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Return the fraction of misclassified samples.

    .. math:: \frac{1}{n} \sum_i 1[y_i \ne \hat y_i]

    The result lies in [0, 1]. The best value is 0, the worst 1. It equals ``1 - accuracy_score``,
    but errors are counted rather than subtracted, so one error in ten is exactly 0.1.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or indicator matrix
        True classes. For an indicator matrix, a prediction is correct if its whole row agrees.
    y_pred : array-like of shape (n_samples,) or indicator matrix
        Predicted classes.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    error : float
        Fraction of misclassified samples.

    Raises
    ------
    ValueError
        If lengths or label types differ, or weights are negative or all zero.

    Notes
    -----
    In a random test set, the number of errors is binomial. With `k` errors among `n` samples, ``k
    / n`` is the maximum-likelihood estimate of the error rate and is unbiased.
    `skeval.model_selection.holdout_error` also returns a confidence interval.

    Examples
    --------
    >>> from skeval.metrics import error_rate
    >>> error_rate(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.25
    """
    # wrong samples
    y_true, y_pred = _checks.check_predictions(y_true, y_pred)
    if np.ndim(y_true) == 1:
        wrong = np.not_equal(y_true, y_pred)
    else:  # a row of an indicator matrix is wrong if any of its labels is
        n_wrong = (csr_matrix(y_true) != csr_matrix(y_pred)).sum(axis=1)
        wrong = np.asarray(n_wrong).ravel() > 0
    if sample_weight is None:
        return float(np.count_nonzero(wrong) / len(wrong))
    # their share of the weight
    weight = _checks.scale_weights(sample_weight, len(wrong))[0]
    error, rest = weight[wrong].sum(), weight[~wrong].sum()
    return float(error / (error + rest))


@validate_params(_CONSTRAINTS)
def sensitivity_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the fraction of positive samples that are predicted as positive.

    .. math:: TP / (TP + FN)

    The result lies in [0, 1]. The best value is 1. The metric is also known as the recall of the
    positive class or the true-positive rate.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes. If there are more than two, all classes but `pos_label` are negative.
    y_pred : array-like of shape (n_samples,)
        Predicted classes.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if the classes are in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    sensitivity : float
        Fraction of the positive samples. It is nan, with a warning, if no sample is positive.

    Raises
    ------
    ValueError
        If lengths or label types differ, or the positive class is ambiguous.

    Examples
    --------
    >>> from skeval.metrics import sensitivity_score
    >>> sensitivity_score([1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0])
    0.75
    """
    return _measure_side(y_true, y_pred, pos_label, sample_weight, positive=True)


@validate_params(_CONSTRAINTS)
def specificity_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the fraction of negative samples that are predicted as negative.

    .. math:: TN / (TN + FP)

    The result lies in [0, 1]. The best value is 1. The metric is the recall of the negative class,
    that is, 1 minus the false-positive rate.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes. If there are more than two, all classes but `pos_label` are negative.
    y_pred : array-like of shape (n_samples,)
        Predicted classes.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if the classes are in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    specificity : float
        Fraction of the negative samples. It is nan, with a warning, if no sample is negative.

    Raises
    ------
    ValueError
        If lengths or label types differ, or the positive class is ambiguous.

    Examples
    --------
    >>> from skeval.metrics import specificity_score
    >>> specificity_score([1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0])
    0.3333333333333333
    """
    return _measure_side(y_true, y_pred, pos_label, sample_weight, positive=False)


@validate_params(_CONSTRAINTS)
def ppv_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the fraction of samples predicted as positive that are positive.

    .. math:: TP / (TP + FP)

    The positive predictive value lies in [0, 1]. The best value is 1. It is the precision of the
    positive class. It depends on the prevalence of that class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes. If there are more than two, all classes but `pos_label` are negative.
    y_pred : array-like of shape (n_samples,)
        Predicted classes.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if the classes are in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    ppv : float
        Fraction of positives among the samples predicted as positive. It is nan, with a warning, if
        no sample is.

    Raises
    ------
    ValueError
        If lengths or label types differ, or the positive class is ambiguous.

    Examples
    --------
    >>> from skeval.metrics import ppv_score
    >>> ppv_score([1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0])
    0.6
    """
    return _measure_side(y_true, y_pred, pos_label, sample_weight, positive=True, predicted=True)


@validate_params(_CONSTRAINTS)
def npv_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the fraction of samples predicted as negative that are negative.

    .. math:: TN / (TN + FN)

    The negative predictive value lies in [0, 1]. The best value is 1. It is the precision of the
    negative class. It depends on the prevalence of that class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes. If there are more than two, all classes but `pos_label` are negative.
    y_pred : array-like of shape (n_samples,)
        Predicted classes.
    pos_label : int, float, bool or str, default=None
        The positive class. None means 1 if the classes are in {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    npv : float
        Fraction of negatives among the samples predicted as negative. It is nan, with a warning, if
        no sample is.

    Raises
    ------
    ValueError
        If lengths or label types differ, or the positive class is ambiguous.

    Examples
    --------
    >>> from skeval.metrics import npv_score
    >>> npv_score([1, 1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 1, 1, 0])
    0.5
    """
    return _measure_side(y_true, y_pred, pos_label, sample_weight, positive=False, predicted=True)


def _measure_side(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    pos_label: object,
    sample_weight: ArrayLike | None,
    *,
    positive: bool,
    predicted: bool = False,
) -> float:
    """Return the recall of the positive or negative class, or its precision if `predicted`."""
    pair = [np.asarray(labels) for labels in _checks.check_predictions(y_true, y_pred)]
    if pair[0].ndim > 1:
        raise ValueError(f"y_true must have shape (n_samples,), got {pair[0].shape}.")
    label = _checks.positive_label(_checks.classes_of(*pair).tolist(), pos_label)
    is_member, is_predicted = ((labels == label) == positive for labels in pair)
    # share of the samples on this side that are on it in truth and prediction
    weight = _checks.scale_weights(sample_weight, len(is_member))[0]
    total = float(weight[is_predicted if predicted else is_member].sum())
    if not total:
        side = f"{'predicted ' * predicted}{'positive' if positive else 'negative'}"
        return _checks.give_nan(f"The metric is 0/0 (nan), because no sample is {side}.")
    return float(weight[is_member & is_predicted].sum() / total)


@validate_params(
    _CONSTRAINTS | {"average": [StrOptions({"macro", "micro", "log_inverse"}), "array-like", dict]}
)
def averaged_precision_recall_fscore(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    average: ClassWeight = "macro",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
) -> tuple[float, float, float]:
    r"""Return class-averaged precision and recall, and the F-score of these two averages.

    With :math:`P_c` and :math:`R_c` the precision and recall of class `c`, and :math:`w_c` class
    weights that sum to 1,

    .. math:: P = \sum_c w_c P_c, \quad R = \sum_c w_c R_c, \quad
              F_\beta = \frac{(1 + \beta^2) P R}{\beta^2 P + R}.

    All values lie in [0, 1]. The best value is 1, the worst 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or indicator matrix
        True classes.
    y_pred : array-like of shape (n_samples,) or indicator matrix
        Predicted classes.
    beta : float in [0, inf], default=1.0
        Weight of recall relative to precision. F is P if `beta` is 0, and R if `beta` is infinite.
    average : {"macro", "micro", "log_inverse"}, array-like or dict, default="macro"
        "macro" weights classes equally. "micro" first pools the true positives, false positives and
        false negatives over classes. "log_inverse" weights a class of `n_c` samples by `1 /
        log2(n_c)`, which gives rare classes more weight. An array contains a weight for each class
        in the order of `labels`. A dict maps each class to its weight. Weights are divided by their
        sum.
    labels : array-like, default=None
        Classes to average over. None means all classes that occur, sorted.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.
    zero_division : "warn", 0.0, 1.0 or nan, default="warn"
        Value of a precision or recall that is 0/0, as in scikit-learn. This is the precision of a
        class that is never predicted, or the recall of a class that never occurs. "warn" uses 0
        with a warning. A value of nan omits the class from that mean.

    Returns
    -------
    precision, recall, fscore : float
        The averages and their F-score. F is 0 if either average is 0.

    Raises
    ------
    ValueError
        If `beta` is negative, `zero_division` is another number, `labels` has duplicates, or the
        class weights do not match the classes. If "log_inverse" is used with a class of `n_c <= 1`
        samples, because its weight would not be finite.

    Notes
    -----
    With ``average="macro"``, scikit-learn returns a different number, the mean of the :math:`F_c`
    over classes. That number is never larger than the macro F returned here (Opitz and Burst
    [1]_). The micro averages of the two packages are equal.

    References
    ----------
    .. [1] Opitz, J. and Burst, S. (2019). Macro F1 and Macro F1. https://arxiv.org/abs/1911.03347
    .. [2] Sokolova, M. and Lapalme, G. (2009). A systematic analysis of performance measures for
       classification tasks. Information Processing & Management 45, 427-437.
       https://doi.org/10.1016/j.ipm.2009.03.002

    Examples
    --------
    >>> from skeval.metrics import averaged_precision_recall_fscore
    >>> y_true, y_pred = [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]
    >>> p, r, f = averaged_precision_recall_fscore(y_true, y_pred)
    >>> print(f"{p:.4f} {r:.4f} {f:.4f}")
    0.8333 0.8750 0.8537
    """
    counted = count_and_weigh(y_true, y_pred, average, labels, sample_weight)
    return _score_averages(counted, beta, zero_division)


@validate_params(
    CONSTRAINTS | {"matrices": ["array-like"], "average": [StrOptions({"macro", "micro"})]}
)
def matrices_precision_recall_fscore(
    matrices: Sequence[ArrayLike] | NDArray[Any],
    *,
    beta: float = 1.0,
    average: MatrixAverage = "macro",
    zero_division: ZeroDivision = "warn",
) -> tuple[float, float, float]:
    r"""Return precision and recall averaged over confusion matrices, and their F-score.

    The matrices may come from folds, data sets or one-against-rest problems. With :math:`TP_m`,
    :math:`FP_m`, :math:`FN_m` the counts of matrix `m` of `M`, the macro average is

    .. math:: P = \frac1M \sum_m \frac{TP_m}{TP_m + FP_m}, \quad
              R = \frac1M \sum_m \frac{TP_m}{TP_m + FN_m}, \quad
              F_\beta = \frac{(1 + \beta^2) P R}{\beta^2 P + R},

    and the micro average computes P and R from the mean (or total) counts
    :math:`\sum_m TP_m`, :math:`\sum_m FP_m` and :math:`\sum_m FN_m`. All values lie in [0, 1]. The
    best value is 1, the worst 0.

    Parameters
    ----------
    matrices : list of array-like of shape (n_classes, n_classes)
        Confusion matrices, with true classes in rows and predicted classes in columns, as returned
        by `sklearn.metrics.confusion_matrix`. Matrices may differ in size. In a matrix of two
        classes, the second class is positive, and only its precision and recall enter the
        averages. Each class of a larger matrix counts as one matrix of this class against the
        others.
    beta : float in [0, inf], default=1.0
        Weight of recall relative to precision. F is P if `beta` is 0, and R if `beta` is infinite.
    average : {"macro", "micro"}, default="macro"
        "macro" averages the ratios. "micro" averages the counts.
    zero_division : "warn", 0.0, 1.0 or nan, default="warn"
        Value of a precision or recall that is 0/0, as in scikit-learn. This is the precision of a
        class that is never predicted, or the recall of a class that never occurs. "warn" uses 0
        with a warning. A value of nan omits the ratio from the mean.

    Returns
    -------
    precision, recall, fscore : float
        The averages and their F-score. F is 0 if either average is 0.

    Raises
    ------
    ValueError
        If there is no matrix, a matrix is not square with at least two classes, or a count is
        negative or not finite.

    See Also
    --------
    averaged_precision_recall_fscore : The averages over the classes of one set of predictions.

    Notes
    -----
    Textbooks print the positive class first. Reverse both axes of such a matrix
    (``m[::-1, ::-1]``), and do not transpose it.

    For the folds of one cross-validation, the micro average equals the value for all out-of-fold
    predictions together. Forman and Scholz [1]_ recommend it for folds, because macro averages are
    biased if some folds contain few positive samples. For data sets of different sizes, the macro
    average weights data sets equally, and the micro average weights samples equally.

    References
    ----------
    .. [1] Forman, G. and Scholz, M. (2010). Apples-to-apples in cross-validation studies. ACM
       SIGKDD Explorations 12, 49-57. https://doi.org/10.1145/1882471.1882479

    Examples
    --------
    >>> from skeval.metrics import matrices_precision_recall_fscore
    >>> folds = [[[8, 2], [1, 9]], [[9, 1], [6, 4]]]
    >>> for average in ("macro", "micro"):
    ...     p, r, f = matrices_precision_recall_fscore(folds, average=average)
    ...     print(f"{average}: {p:.4f} {r:.4f} {f:.4f}")
    macro: 0.8091 0.6500 0.7209
    micro: 0.8125 0.6500 0.7222
    """
    names: list[object] = []
    counts = []
    for m, matrix in enumerate(matrices):
        name = f"matrices[{m}]"
        table: Floats = _checks.check_data(name, matrix, ensure_2d=False, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
            raise ValueError(
                f"{name} must have shape (n_classes, n_classes) with two or more classes, "
                f"got {table.shape}."
            )
        if table.min() < 0:
            raise ValueError(f"{name} must contain counts >= 0, got {table.min():g}.")
        # counts of each class against the others; of two classes only the second is positive
        hits = np.diag(table)
        per_class = np.array([hits, table.sum(axis=0) - hits, table.sum(axis=1) - hits])
        positive = [1] if len(table) == 2 else list(range(len(table)))
        counts.append(per_class[:, positive])
        names += [f"class {c} of matrix {m}" for c in positive]
    if not counts:
        raise ValueError("matrices must contain at least one confusion matrix, got none.")
    tp, fp, fn = np.concatenate(counts, axis=1)
    # pooled counts are those of one class
    if average == "micro":
        tp, fp, fn = (count.sum(keepdims=True) for count in (tp, fp, fn))
        names = ["all matrices"]
    return _score_averages((names, (tp, fp, fn), np.ones(len(tp))), beta, zero_division)


def _score_averages(
    counted: Counted, beta: float, zero_division: ZeroDivision, *, f_alone: bool = False
) -> tuple[float, float, float]:
    """Return mean precision and recall, and their F. "warn" replaces 0/0 by 0 with a warning.

    If only F is used, there is no warning unless F depends on the value in place of 0/0.
    """
    classes, (tp, fp, fn), weight = counted
    wholes = {"Precision (never predicted)": tp + fp, "Recall (never true)": tp + fn}

    def score(filling: float) -> tuple[float, float, float]:
        """Return the averages and their F-score, with 0/0 replaced by `filling`."""
        ratios = (
            np.divide(tp, whole, out=np.full(tp.shape, filling), where=whole > 0)
            for whole in wholes.values()
        )
        precision, recall = (_average_defined(ratio, weight) for ratio in ratios)
        return precision, recall, f_beta(precision, recall, beta)

    # a number of the user replaces 0/0 without a warning
    if zero_division != "warn":
        return score(float(zero_division))
    # the F-score alone may not depend on the ratio that is undefined
    if not f_alone or score(0.0)[2] != score(1.0)[2]:
        for metric, whole in wholes.items():
            affected = [classes[i] for i in np.flatnonzero(whole == 0)[:10]]
            if affected:
                _checks.warn_undefined(
                    f"{metric} is 0/0 for {affected} and set to 0. zero_division= sets another "
                    "value."
                )
    return score(0.0)


@validate_params(_CONSTRAINTS)
def macro_fbeta_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    r"""Return the F-score of macro-averaged precision and recall.

    .. math:: F_\beta\Bigl(\tfrac1K \sum_c P_c,\ \tfrac1K \sum_c R_c\Bigr), \quad
              F_\beta(P, R) = \frac{(1 + \beta^2) P R}{\beta^2 P + R}

    The result lies in [0, 1]. The best value is 1, the worst 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or indicator matrix
        True classes.
    y_pred : array-like of shape (n_samples,) or indicator matrix
        Predicted classes.
    beta : float in [0, inf], default=1.0
        Weight of recall relative to precision. F is P if `beta` is 0, and R if `beta` is infinite.
    labels : array-like, default=None
        Classes to average over. None means all classes that occur.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.
    zero_division : "warn", 0.0, 1.0 or nan, default="warn"
        Value of a precision or recall that is 0/0, as in scikit-learn. "warn" uses 0, with a
        warning if F depends on it. A value of nan omits the class.

    Returns
    -------
    fscore : float
        F-score between 0 and 1.

    Raises
    ------
    ValueError
        If `beta` is negative, `zero_division` is another number, or `labels` has duplicates.

    Notes
    -----
    ``sklearn.metrics.fbeta_score(average="macro")`` returns a different number, the mean of the
    F-scores of the classes. In the example the classes have P = (1, 2/3) and R = (3/4, 1). The
    mean of F = (6/7, 4/5) is 0.8286, whereas the F of the means (5/6, 7/8) is 0.8537.

    References
    ----------
    .. [1] Opitz, J. and Burst, S. (2019). Macro F1 and Macro F1. https://arxiv.org/abs/1911.03347

    Examples
    --------
    >>> from sklearn.metrics import f1_score
    >>> from skeval.metrics import macro_fbeta_score
    >>> y_true, y_pred = [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]
    >>> print(f"{macro_fbeta_score(y_true, y_pred):.4f}")
    0.8537
    >>> print(f"{f1_score(y_true, y_pred, average='macro'):.4f}")
    0.8286
    """
    counted = count_and_weigh(y_true, y_pred, "macro", labels, sample_weight)
    return _score_averages(counted, beta, zero_division, f_alone=True)[2]


@validate_params(_CONSTRAINTS)
def micro_fbeta_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    r"""Return the F-score of counts pooled over classes.

    .. math:: F_\beta\Bigl(\frac{\sum_c TP_c}{\sum_c TP_c + FP_c},\
              \frac{\sum_c TP_c}{\sum_c TP_c + FN_c}\Bigr)

    The result lies in [0, 1]. The best value is 1, the worst 0. For a single-label problem and all
    classes, it equals the accuracy.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or indicator matrix
        True classes.
    y_pred : array-like of shape (n_samples,) or indicator matrix
        Predicted classes.
    beta : float in [0, inf], default=1.0
        Weight of recall relative to precision. F is P if `beta` is 0, and R if `beta` is infinite.
    labels : array-like, default=None
        Classes to pool. None means all classes that occur.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.
    zero_division : "warn", 0.0, 1.0 or nan, default="warn"
        Value of a precision or recall that is 0/0, as in scikit-learn. "warn" uses 0, with a
        warning if F depends on it. A value of nan omits the class.

    Returns
    -------
    fscore : float
        F-score between 0 and 1.

    Raises
    ------
    ValueError
        If `beta` is negative, `zero_division` is another number, or `labels` has duplicates.

    Notes
    -----
    The result equals ``sklearn.metrics.fbeta_score(average="micro")``, because averaged and pooled
    counts give the same ratios.

    Examples
    --------
    >>> from skeval.metrics import micro_fbeta_score
    >>> print(f"{micro_fbeta_score([0, 0, 1, 1, 2], [0, 0, 1, 2, 1], labels=[1, 2]):.4f}")
    0.3333
    """
    counted = count_and_weigh(y_true, y_pred, "micro", labels, sample_weight)
    return _score_averages(counted, beta, zero_division, f_alone=True)[2]


@validate_params(_CONSTRAINTS | {"class_weight": [StrOptions({"log_inverse"}), "array-like", dict]})
def weighted_fbeta_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    class_weight: ClassWeight = "log_inverse",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    r"""Return the F-score of precision and recall averaged with class weights.

    .. math:: F_\beta\Bigl(\sum_c w_c P_c,\ \sum_c w_c R_c\Bigr), \quad \sum_c w_c = 1

    The result lies in [0, 1]. The best value is 1, the worst 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or indicator matrix
        True classes.
    y_pred : array-like of shape (n_samples,) or indicator matrix
        Predicted classes.
    beta : float in [0, inf], default=1.0
        Weight of recall relative to precision. F is P if `beta` is 0, and R if `beta` is infinite.
    class_weight : "log_inverse", array-like or dict, default="log_inverse"
        "log_inverse" weights a class of `n_c` samples by `1 / log2(n_c)`, which gives rare
        classes more weight. An array contains a weight for each class in the order of `labels`.
        A dict maps each class to its weight. Weights are divided by their sum.
    labels : array-like, default=None
        Classes to average over. None means all classes that occur, sorted.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.
    zero_division : "warn", 0.0, 1.0 or nan, default="warn"
        Value of a precision or recall that is 0/0, as in scikit-learn. "warn" uses 0, with a
        warning if F depends on it. A value of nan omits the class.

    Returns
    -------
    fscore : float
        F-score between 0 and 1.

    Raises
    ------
    ValueError
        If weights do not match the classes, or "log_inverse" is used with a class of at most one
        sample.

    Notes
    -----
    ``sklearn.metrics.fbeta_score(average="weighted")`` instead weights the F of each class by the
    class size, which favors frequent classes.

    Examples
    --------
    >>> from skeval.metrics import weighted_fbeta_score
    >>> y_true, y_pred = [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]
    >>> print(f"{weighted_fbeta_score(y_true, y_pred):.4f}")  # weights 1/3 and 2/3
    0.8415
    """
    counted = count_and_weigh(y_true, y_pred, class_weight, labels, sample_weight)
    return _score_averages(counted, beta, zero_division, f_alone=True)[2]


_WEIGHTS = "class weights (average= or class_weight=)"


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Return 1 / ((1 - a) / P + a / R) with a = b^2 / (1 + b^2), which lies between P and R.

    The result is P for b = 0 and R for infinite b. Otherwise it is 0 if P or R is 0, even if the
    other is nan.
    """
    if beta in (0, np.inf):
        return precision if beta == 0 else recall
    if precision == 0 or recall == 0:
        return 0.0
    if np.isnan(precision) or np.isnan(recall):
        return float("nan")
    precision_weight, recall_weight = f_weights(beta)
    score = 1 / (precision_weight / precision + recall_weight / recall)
    return min(max(score, min(precision, recall)), max(precision, recall))


def f_weights(beta: float) -> tuple[float, float]:
    """Return ``1 / (1 + b^2)`` and ``b^2 / (1 + b^2)``, the weights of precision and recall.

    With v the weight of recall, ``F_b = TP / (TP + (1 - v) FP + v FN)``. For a `beta` of 0 or
    infinity, the limits are returned.
    """
    if beta > 1:  # the square could overflow
        recall_weight, precision_weight = f_weights(1 / beta)
        return precision_weight, recall_weight
    square = float(beta) ** 2
    return 1 / (1 + square), square / (1 + square)


def _average_defined(values: Floats, weight: Floats) -> float:
    """Return the weighted mean of the values that are not nan, or nan if all are."""
    defined = ~np.isnan(values)
    if not weight[defined].any():
        return float("nan")
    return float(np.average(values[defined], weights=weight[defined]))


def class_weights(
    average: str | ArrayLike | Mapping[Any, float], classes: NDArray[np.generic], support: Floats
) -> Floats:
    """Return a weight for each class, summing to 1."""
    # weights by name, of each class, or in the order of the classes
    if isinstance(average, str) and average == "macro":
        weight = np.ones(len(classes))
    elif isinstance(average, str):  # 1 / log2(n_c)
        small = support <= 1
        if small.any():
            raise ValueError(
                "average='log_inverse' requires at least two samples of each class in y_true, got "
                f"fewer of {classes[small].tolist()}."
            )
        weight = 1 / np.log2(support)
    else:
        weights = average
        if isinstance(weights, Mapping):
            if set(weights) != set(classes.tolist()):
                names = classes.tolist()
                raise ValueError(f"{_WEIGHTS} must name the classes {names}, got {list(weights)}.")
            weights = [weights[label] for label in classes.tolist()]
        weight = _checks.check_data(_WEIGHTS, weights, ensure_2d=False, dtype=np.float64)
    # valid weights that sum to 1
    if weight.shape != (len(classes),):
        raise ValueError(f"{_WEIGHTS} must have shape {(len(classes),)}, got {weight.shape}.")
    if weight.min() < 0 or not weight.any():
        raise ValueError(f"{_WEIGHTS} must be >= 0 and not all 0, got {weight.tolist()}.")
    weight = weight / weight.max()  # the sum of large weights may overflow
    return weight / weight.sum()


def count_and_weigh(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    average: str | ArrayLike | Mapping[Any, float],
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Counted:
    """Return the classes, their counts and their weights. "micro" merges all classes into one.

    Counts are true positives, false positives and false negatives, up to a common factor.
    """
    # counts with weights of at most 1
    y_true, y_pred, classes = _checks.check_labels(y_true, y_pred, labels)
    weight, scale = _checks.scale_weights(sample_weight, num_samples(y_true))
    used = None if labels is None and np.ndim(y_true) > 1 else classes
    with _checks.naming("y_true", "y_pred"):
        tables: NDArray[Any] = multilabel_confusion_matrix(
            y_true, y_pred, labels=used, sample_weight=None if sample_weight is None else weight
        )
    counts = tables[:, 1, 1], tables[:, 0, 1], tables[:, 1, 0]
    if isinstance(average, str) and average == "micro":
        tp, fp, fn = (count.sum(keepdims=True) for count in counts)
        return [classes.tolist()], (tp, fp, fn), np.ones(1)
    # weights of the classes, from sizes in the unit of the caller
    of_class = class_weights(average, classes, (counts[0] + counts[2]) * scale)
    return classes.tolist(), counts, of_class


@validate_params(
    CONSTRAINTS
    | {
        "cost_matrix": ["array-like", None],
        "false_positive_cost": [COST, None],
        "false_negative_cost": [COST, None],
    }
)
def cost_sensitive_error(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: ArrayLike | None = None,
    false_positive_cost: float | None = None,
    false_negative_cost: float | None = None,
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the mean cost of the decisions.

    .. math:: \frac{1}{n} \sum_i cost[y_i, \hat y_i]

    The result lies in [0, largest cost]. The best value is 0. If every error costs 1, the result
    is the error rate.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_pred : array-like of shape (n_samples,)
        Predicted classes.
    cost_matrix : array-like of shape (n_classes, n_classes), default=None
        ``cost_matrix[i, j]`` is the cost of predicting class `i` as class `j`. Rows are true
        classes and columns are predicted classes, as in `sklearn.metrics.confusion_matrix`, in the
        order of `labels`. Costs must be >= 0, and 0 on the diagonal.
    false_positive_cost, false_negative_cost : float, default=None
        Costs for two classes, instead of `cost_matrix`. The first is the cost of predicting a
        negative sample as positive, the second of predicting a positive sample as negative.
    pos_label : int, float, bool or str, default=None
        The positive class for these two costs. None means 1 if the classes are in {0, 1} or
        {-1, 1}.
    labels : array-like of shape (n_classes,), default=None
        Classes in the order of `cost_matrix`. None means all classes that occur, sorted. Pass
        `labels` if a class may be absent, as in the folds of a cross-validation.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    error : float
        Mean cost, in the unit of the costs.

    Raises
    ------
    ValueError
        If both `cost_matrix` and the two named costs are passed, or neither. If `cost_matrix` is
        not square with one row per class, has a negative or infinite cost, or has a nonzero
        diagonal. If the named costs are used with more than two classes. If a class that occurs is
        not in `labels`.

    See Also
    --------
    probability_cost : The x value of a cost curve for two costs and a prior.

    Notes
    -----
    Elkan [1]_ prints *predicted* classes in rows and true classes in columns. Transpose such a
    matrix, because no check can detect it. Textbooks in which class 0 is positive print true
    classes in rows, as here. The two named costs avoid the ambiguity.

    References
    ----------
    .. [1] Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI 2001, 973-978.

    Examples
    --------
    >>> from skeval.metrics import cost_sensitive_error
    >>> y_true, y_pred = [0, 0, 1, 1], [0, 1, 1, 0]
    >>> cost_sensitive_error(y_true, y_pred, false_positive_cost=1, false_negative_cost=5)
    1.5
    >>> cost_sensitive_error(y_true, y_pred, cost_matrix=[[0, 1], [5, 0]])
    1.5
    """
    # all classes must have a cost
    y_true, y_pred, classes = _checks.check_labels(y_true, y_pred, labels)
    unknown = set(_checks.classes_of(y_true, y_pred).tolist()) - set(classes.tolist())
    if unknown:
        raise ValueError(f"labels must name every class that occurs, but {unknown} are missing.")
    costs = costs_of_cells(
        classes, cost_matrix, false_positive_cost, false_negative_cost, pos_label
    )
    weight = _checks.scale_weights(sample_weight, num_samples(y_true))[0]
    return float(np.average(costs_of_samples(y_true, y_pred, classes, costs), weights=weight))


def costs_of_samples(
    y_true: ArrayLike, y_pred: ArrayLike, classes: NDArray[np.generic], costs: Floats
) -> Floats:
    """Return the cost of each decision. `costs` has the true and predicted `classes`."""
    order = np.argsort(classes)
    true, pred = (order[np.searchsorted(classes, y, sorter=order)] for y in (y_true, y_pred))
    return np.asarray(costs[true, pred])


def costs_of_cells(
    classes: NDArray[np.generic],
    cost_matrix: ArrayLike | None = None,
    false_positive_cost: float | None = None,
    false_negative_cost: float | None = None,
    pos_label: object = None,
) -> Floats:
    """Return the costs of the cells of a confusion matrix, by true and predicted class."""
    # one of the two forms
    named = (false_positive_cost, false_negative_cost)
    if (cost_matrix is None) == (named == (None, None)) or (named.count(None) == 1):
        raise ValueError(
            "cost_matrix, or both false_positive_cost and false_negative_cost, must be passed, "
            f"got cost_matrix={cost_matrix!r} and costs {named}."
        )
    if cost_matrix is not None:
        frame: Any = cost_matrix
        # rows and columns with names must have the order of the classes
        if hasattr(frame, "iloc"):
            check_column_names(classes.tolist(), "cost_matrix", frame)
            check_column_names(classes.tolist(), "cost_matrix.T", frame.T)
        costs: Floats = _checks.check_data("cost_matrix", cost_matrix, dtype=np.float64)
        n = len(classes)
        if costs.shape != (n, n):
            raise ValueError(
                f"cost_matrix must have shape ({n}, {n}), got {costs.shape}. labels= can name "
                "classes that are absent."
            )
        if costs.min() < 0:
            raise ValueError(f"cost_matrix must be >= 0, got {costs.min()}.")
        if np.diag(costs).any():
            raise ValueError(f"cost_matrix must have a zero diagonal, got {np.diag(costs)}.")
        return costs
    if len(classes) > 2:
        raise ValueError(
            "false_positive_cost and false_negative_cost need at most two classes, got "
            f"{classes[:10].tolist()}. Use cost_matrix."
        )
    # two costs of two classes
    positive = classes == _checks.positive_label(classes.tolist(), pos_label)
    costs = np.zeros((len(classes), len(classes)))
    costs[np.ix_(~positive, positive)] = false_positive_cost
    costs[np.ix_(positive, ~positive)] = false_negative_cost
    return costs


@validate_params(
    {
        "prior": [Interval(Real, 0, 1, closed="both")],
        "false_negative_cost": [COST],
        "false_positive_cost": [COST],
    }
)
def probability_cost(
    prior: float, *, false_negative_cost: float = 1.0, false_positive_cost: float = 1.0
) -> float:
    r"""Return the x value of a cost curve for a prior and two costs.

    .. math:: P(+)cost = \frac{p\, c_{FN}}{p\, c_{FN} + (1 - p)\, c_{FP}}

    The result lies in [0, 1]. If the costs are equal, it is the prior.

    Parameters
    ----------
    prior : float in [0, 1]
        Probability `p` of the positive class in deployment.
    false_negative_cost : float, default=1.0
        Cost :math:`c_{FN}` of predicting a positive sample as negative.
    false_positive_cost : float, default=1.0
        Cost :math:`c_{FP}` of predicting a negative sample as positive.

    Returns
    -------
    x : float
        Position on the x-axis, in [0, 1].

    Raises
    ------
    ValueError
        If `prior` is outside [0, 1], a cost is negative, or each kind of error has either cost 0
        or probability 0.

    Notes
    -----
    Some publications print a product instead of the sum in the denominator. That formula can leave
    [0, 1].

    References
    ----------
    .. [1] Drummond, C. and Holte, R. C. (2006). Cost curves: an improved method for visualizing
       classifier performance. Machine Learning 65, 95-130.
       https://doi.org/10.1007/s10994-006-8199-5

    Examples
    --------
    >>> from skeval.metrics import probability_cost
    >>> probability_cost(0.2, false_negative_cost=4.0)
    0.5
    """
    # products of huge costs would overflow
    largest = max(false_negative_cost, false_positive_cost) or 1.0
    positive = prior * (false_negative_cost / largest)
    negative = (1 - prior) * (false_positive_cost / largest)
    if positive + negative == 0:
        costs = false_negative_cost, false_positive_cost
        raise ValueError(
            f"at least one possible error must cost more than 0, got prior={prior} and costs "
            f"{costs}."
        )
    return float(positive / (positive + negative))


@validate_params(CONSTRAINTS)
def geometric_mean_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    r"""Return the geometric mean of the recalls of the classes in `y_true`, in [0, 1].

    .. math:: G = \Bigl(\prod_{c=1}^K R_c\Bigr)^{1/K}

    For two classes, this is the square root of sensitivity times specificity (Kubat and Matwin
    1997). The best value is 1. The result is 0 if any class has recall 0.
    """
    matrix = confusion_matrix(y_true, y_pred, sample_weight=sample_weight).astype(float)
    return geometric_mean(matrix / matrix.sum())[0]
