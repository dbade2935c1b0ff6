"""Intervals from few human labels and many judgments of a model, and the number of labels."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from skeval._inference import judges
from skeval._inference.estimate import Estimate, Limits
from skeval._inference.intervals import count_groups, normal_quantile
from skeval.model_selection._holdout import HoldoutSize
from skeval.utils import _checks
from skeval.utils._compat import read_arrays

MIN_LABELS = 3


@read_arrays
def judge_assisted_interval(
    y_human: ArrayLike,
    judge: ArrayLike,
    judge_unlabeled: ArrayLike = (),
    *,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Estimate:
    r"""Return the mean of an outcome from few human labels and many judgments of a model.

    Use it if an automated judge, such as a language model, scores all outputs of a system, and
    people check some of them. The judge may be biased: it only makes the interval shorter, the more
    its judgments agree with the labels.

    Parameters
    ----------
    y_human : array-like of shape (n_labeled,)
        Outcome according to people: 0 or 1 (correct, preferred), the difference of two such
        outcomes (-1, 0 or 1), or any number (a grade, a loss). The labeled samples must be a
        random sample of all samples.
    judge : array-like of shape (n_labeled,)
        Judgments of the same samples: 0 or 1, a score, or a difference.
    judge_unlabeled : array-like of shape (n_unlabeled,), default=()
        Judgments of the samples without a label.
    groups : array-like of shape (n_labeled + n_unlabeled,), default=None
        Groups of the labeled samples, then of the others, such as prompts with several
        answers. Samples in a group need not be independent.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.

    Returns
    -------
    estimate : Estimate
        With `method` "strata", "regression" or "labels" (the judge is not used). Its `details` are
        the number of samples without a label, `n_unlabeled`, and `relative_width`, the width of the
        interval divided by the width from the labels alone (Wilson's for rates).

    Raises
    ------
    ValueError
        If there are fewer than three labels, lengths differ, or values are missing or not finite.

    See Also
    --------
    judge_sample_size : Number of human labels for a required width.
    metric_interval : All samples have labels.

    Notes
    -----
    Let n samples be labeled and N not. *If outcomes and judgments are binary and N is at least
    n*, let a and b be the rates of the outcome among the labeled samples that are judged 1 and 0,
    and w the share judged 1 among all n + N samples. Then :math:`\theta = w a + (1 - w) b`, and
    Jeffreys limits of a and b are combined by recovery of variance estimates [1]_:

    .. math:: \theta - \sqrt{w^2 (a - l_a)^2 + (1 - w)^2 (b - l_b)^2
              + z^2 (a - b)^2 w (1 - w) / (n + N)} ,

    and the upper limit likewise. *Otherwise*, the outcome is regressed on the rank j of the
    judgment among all judgments (mean ranks for ties),
    :math:`\theta = \bar y + \beta (\bar j_{all} - \bar j)`. The interval of a rate is then
    Wilson's with the number of labels that would be as precise. Differences of two binary outcomes
    have the interval of Agresti and Min with the same number, non-negative outcomes have Student's
    on the log scale, and others have Student's. With groups, the variance is cluster-robust.
    Without judgments of other samples, if all labeled samples have the same judgment, or if the
    interval of the labels alone is narrower, the judge is not used.

    In the 13 populations of the guide (4,000 data sets of 20 to 500 labels, rates of .5 to .98,
    judges right in .6 to .95), nominal 95 % intervals covered .931 to .986 at .53 to .98 of the
    width of Wilson's on the labels alone. In 42 more (biased judges, strata without labels, none to
    100 times as many judgments, graded and skewed judgments, groups, differences, losses) they
    covered .926 to .989 at .50 to 1.00 of the width without the judge; for log-normal outcomes .894
    and .922. Coverage above .985 occurred with 20 or 30 labels and a judge that is almost always
    right. Prediction-powered intervals [2]_, [3]_
    covered as little as .841 (PPI) and .627 (PPI++) in the first 13
    (``benchmarks/coverage_judge.py``).

    References
    ----------
    .. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
       measures: a general approach. Statistics in Medicine 27, 1693-1702.
       https://doi.org/10.1002/sim.3095
    .. [2] Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. and Zrnic, T. (2023).
       Prediction-powered inference. Science 382, 669-674. https://doi.org/10.1126/science.adi6000
    .. [3] Angelopoulos, A. N., Duchi, J. C. and Zrnic, T. (2023). PPI++: efficient
       prediction-powered inference. https://doi.org/10.48550/arXiv.2311.01453

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import judge_assisted_interval
    >>> rng = np.random.default_rng(0)
    >>> correct = rng.random(2200) < 0.8
    >>> judged = np.where(rng.random(2200) < 0.93, correct, ~correct)
    >>> print(judge_assisted_interval(correct[:200], judged[:200], judged[200:]))
    rate
      value           0.7619
      standard error  0.0182
      95 % interval   [0.7234, 0.7966] (strata)
      samples         200
      unlabeled      2000
      relative width  0.5954
    """
    _checks.check_confidence_level(confidence_level)
    arrays = {"y_human": y_human, "judge": judge, "judge_unlabeled": judge_unlabeled}
    y, labeled, unlabeled = (_read_numbers(name, array) for name, array in arrays.items())
    n, judged = len(y), np.concatenate([labeled, unlabeled])
    if len(labeled) != n or n < MIN_LABELS:
        raise ValueError(
            f"y_human and judge must have the same length, at least {MIN_LABELS}, got {n} and "
            f"{len(labeled)}; samples without a label belong in judge_unlabeled."
        )
    values, outcomes = np.unique(judged), set(np.unique(y).tolist())
    is_rate = outcomes <= {0.0, 1.0}
    # outcomes are differences, even if no label happens to be negative
    signed = is_rate and values.tolist() == [-1, 0, 1]
    signed = signed or (outcomes <= {-1.0, 0.0, 1.0} and min(outcomes) < 0)
    judged = rankdata(judged) / len(judged)
    group = _checks.number_groups(groups, len(judged))
    if group is not None and count_groups(group[:n]) < 2:
        raise ValueError("groups must hold at least two groups with a label, got one.")
    alone = judges.regress_on_judge(y, judged[:n], None if group is None else group[:n])
    result = judges.regress_on_judge(y, judged, group)
    limits = partial(judges.limits_of_mean, y, result, alone, signed)
    value, error, method = result.value, result.error, "regression" if result.used else "labels"
    if is_rate and not signed:
        value = min(max(value, 0.0), 1.0)
        two_answers = len(values) == 2 and result.used and group is None
        if two_answers and 2 * n <= len(judged):
            codes = (judged == judged.max()).astype(np.intp)
            labels, hits, total = (
                np.bincount(code, weights, 2).astype(float)
                for code, weights in ((codes[:n], None), (codes[:n], y), (codes, None))
            )
            limits, method = partial(_stratify, labels, hits, total), "strata"
    of_labels = partial(judges.limits_of_mean, y, alone, alone, signed)
    width, width_alone = (float(np.ptp(of(confidence_level))) for of in (limits, of_labels))
    caution = ""
    if len(unlabeled) and not result.used:
        same = "outcome" if np.ptp(judged[:n]) > 0 else "judgment"
        caution = f"The labeled samples all have the same {same}: the judge is not used."
    elif width > width_alone:
        result, limits, method, width = alone, of_labels, "labels", width_alone
        value, error = alone.value, alone.error
        caution = "The judge is not used, because it would make the interval wider."
    return Estimate(
        name="rate" if is_rate and not signed else "mean",
        value=value,
        standard_error=error,
        method=method,
        limits={method: limits},
        n_samples=n,
        n_groups=result.n_groups,
        confidence_level=confidence_level,
        details={
            "n_unlabeled": len(unlabeled),
            "relative_width": width / width_alone if width_alone > 0 else np.nan,
            "caution": caution,
        },
    )


def _read_numbers(name: str, array: Any) -> NDArray[np.float64]:
    """Return a vector of finite numbers."""
    if not np.size(array) and name == "judge_unlabeled":
        return np.empty(0)
    values = _checks.check_y(name, array)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, such as 0 and 1, got {values.tolist()[0]!r}.")
    return values.astype(float)


def _stratify(
    labels: NDArray[np.float64],
    hits: NDArray[np.float64],
    total: NDArray[np.float64],
    confidence_level: float,
) -> Limits:
    """Return the limits by strata of a binary judgment."""
    result = judges.stratified_mean(labels, hits, total, normal_quantile(confidence_level))
    return float(result.low), float(result.high)


def judge_sample_size(
    half_width: float,
    *,
    rate: float,
    sensitivity: float,
    specificity: float,
    n_judged: int,
    confidence_level: float = 0.95,
) -> HoldoutSize:
    r"""Return the number of human labels for a judge-assisted interval of a required width.

    It is the smallest number of labels that give `judge_assisted_interval`, at the expected counts,
    at most this half-width.

    Parameters
    ----------
    half_width : float
        Half the width of the interval, between 0 and 0.5.
    rate : float
        Rate of the outcome to plan for, between 0 and 1.
    sensitivity, specificity : float
        Probability that the judge answers 1 if people answer 1, and 0 if people answer 0, between
        0 and 1. Estimate them from a pilot sample.
    n_judged : int
        Number of samples with a judgment, including those that will have a label.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.

    Returns
    -------
    HoldoutSize
        `n_samples` is the total, and `half_width` half the width of the interval at the assumed
        error.

    Raises
    ------
    ValueError
        If an argument lies outside its range, or labels for half of the judged samples do not
        suffice.

    See Also
    --------
    judge_assisted_interval : The interval.
    holdout_size : Number of labels without a judge.

    Examples
    --------
    >>> from skeval.model_selection import holdout_size, judge_sample_size
    >>> judge = {"sensitivity": 0.95, "specificity": 0.95}
    >>> judge_sample_size(0.04, rate=0.8, n_judged=5000, **judge).n_samples
    125
    >>> holdout_size(0.2, 0.04).n_samples  # without the judge
    383
    """
    rates = {"rate": rate, "sensitivity": sensitivity, "specificity": specificity}
    for name, value in rates.items():
        if not isinstance(value, Real) or not 0 <= value <= 1:
            raise ValueError(f"{name} must lie in [0, 1], got {value!r}.")
    if not isinstance(half_width, Real) or not 0 < half_width < 0.5:
        raise ValueError(f"half_width must fulfill 0 < half_width < 0.5, got {half_width!r}.")
    _checks.check_confidence_level(confidence_level)
    _checks.check_count("n_judged", n_judged, 2 * MIN_LABELS)
    positive = np.array([rate * (1 - sensitivity), rate * sensitivity])  # judged 0, judged 1
    total = positive + np.array([(1 - rate) * specificity, (1 - rate) * (1 - specificity)])

    def half(n: int) -> float:
        low, high = _stratify(n * total, n * positive, n_judged * total, confidence_level)
        return (high - low) / 2

    sizes = range(MIN_LABELS, n_judged // 2 + 1)
    at = bisect_left(sizes, -half_width, key=lambda n: -half(n))
    if at == len(sizes):
        raise ValueError(
            f"half_width must be larger: labels of half of {n_judged} judged samples give "
            f"{half(sizes[-1]):.3g}."
        )
    return HoldoutSize(sizes[at], None, half(sizes[at]), confidence_level, "strata")
