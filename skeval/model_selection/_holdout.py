"""Error on a test set, sampled at random or by class, and the required size of a test set."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, Literal

import numpy as np

from skeval._inference import intervals
from skeval._inference.errors import mean_loss_estimate
from skeval._inference.estimate import Estimate, HoldoutExtra, Result
from skeval.utils import _checks
from skeval.utils._text import align_text, write_number

Allocation = Literal["proportional", "optimal"]

STRATIFIED = "stratified_wilson"
"""Form of the interval with priors of the classes."""
LARGEST_SIZE = 2**62
Priors = Mapping[Any, float] | Sequence[float] | np.ndarray


@_checks.in_order(y_true=_checks.is_table, y_pred=_checks.is_table)
@_checks.read_arrays
def holdout_error(
    y_true: Any,
    y_pred: Any,
    *,
    priors: Priors | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    confidence_level: float = 0.95,
) -> Estimate:
    r"""Estimate the error rate from predictions for a separate test set.

    *Random sampling* (``priors=None``). If `k` of `N` samples are misclassified,

    .. math:: \hat\epsilon = k / N, \qquad \mathrm{var}(\hat\epsilon) = \epsilon(1-\epsilon)/N .

    *Selective sampling.* If :math:`N_c` samples were drawn from each class `c`, whose prior
    :math:`P_c` is known, and :math:`k_c` of them are misclassified,

    .. math::

        \hat\epsilon' = \sum_c P_c k_c / N_c, \qquad
        \mathrm{var}(\hat\epsilon') = \sum_c P_c^2 \epsilon_c (1-\epsilon_c) / N_c .

    Both are unbiased fractions in [0, 1]. Smaller is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    priors : dict or array-like of shape (n_classes,), default=None
        Prior of each class. Keys of a dict are labels, and an array has the order of the sorted
        labels of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. The variance uses the effective number of samples, :math:`(\sum w)^2 / \sum
        w^2`.
    groups : array-like of shape (n_samples,) or (n_samples, n_kinds), default=None
        Group of each sample, such as the patient. Several columns are nested or crossed groups. See
        :doc:`/user_guide/dependence`. The deviations of the losses from the error are summed within
        groups.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.

    Returns
    -------
    Estimate
        `replicates` is 1 for each misclassified sample and 0 for all others. In `extra`,
        `n_errors` is the number of errors (a sum of weights if samples have weights).
        `class_errors` and `class_sizes` contain the error rate and the effective number of samples
        of each of the `classes`. If `priors` is passed, `variance_reduction` is the reduction of
        the variance compared with random sampling of the same size.

        Under random sampling, ``confidence_interval(method=)`` accepts "wilson" (default),
        "agresti_coull", "jeffreys", "exact", "wald" or "normal". With priors, it accepts
        "stratified_wilson" [1]_ (default) or "normal". The normal interval is too narrow for few
        errors, and nan for none. If groups are passed, the methods are the same as for random
        sampling, even if priors are passed. They use the effective number of independent samples
        and Student's t quantile. "t" replaces "normal".

    Raises
    ------
    ValueError
        If lengths differ, weights are negative or zero for a whole class, or `priors` are negative,
        do not sum to 1 or do not name exactly the classes of `y_true`.

    Notes
    -----
    Some texts print the binomial probability with :math:`(1-\epsilon)^k`. The correct exponent is
    `N - k`. If the allocation is proportional to the priors, selective sampling reduces the
    variance by :math:`\frac1N \sum_c P_c (\epsilon_c - \epsilon)^2`. `variance_reduction` is the
    plug-in difference for the actual allocation. It may be negative.

    References
    ----------
    .. [1] Yan, X. and Su, X. G. (2010). Stratified Wilson and Newcombe confidence intervals for
       multiple binomial proportions. Statistics in Biopharmaceutical Research 2, 329-335.
       https://doi.org/10.1198/sbr.2009.0049

    Examples
    --------
    >>> from skeval.model_selection import holdout_error
    >>> y_true = ["a"] * 50 + ["b"] * 50
    >>> y_pred = ["a"] * 45 + ["b"] * 55
    >>> print(holdout_error(y_true, y_pred))
    error rate (holdout)
      value              0.0500
      standard error     0.0218
      95 % interval      [0.0215, 0.1118] (wilson)
      samples            100
      loss               zero_one
      effective samples  100
      errors             5.0000
    >>> holdout_error(y_true, y_pred, priors={"a": 0.9, "b": 0.1}).value
    0.09...
    """
    _checks.check_confidence_level(confidence_level)
    _checks.check_same_length(y_true=y_true, y_pred=y_pred)
    y_true, y_pred = _checks.check_y("y_true", y_true), _checks.check_y("y_pred", y_pred)
    _checks.check_comparable(y_true, "y_pred", y_pred)
    weight = _checks.check_weights("sample_weight", sample_weight, len(y_true))
    group = _checks.number_groups(groups, len(y_true))
    # errors of the classes, and their effective sizes
    wrong = (y_true != y_pred).astype(float)
    classes, codes = np.unique(y_true, return_inverse=True)
    class_errors, sizes = _compute_class_errors(wrong, weight, codes)
    if np.isnan(sizes).any():
        raise ValueError(
            "sample_weight must be positive for at least one sample of each class, but is 0 for "
            f"all of class {classes.tolist()[int(np.isnan(sizes).argmax())]!r}."
        )
    # a random sample is a single stratum, and a selective one has the classes and their priors
    stratum, prior, share = np.zeros_like(codes), np.ones(1), weight / weight.sum()
    rates, n_of = _compute_class_errors(wrong, weight, stratum)
    n_effective = float(n_of[0])
    if priors is not None:
        stratum, prior, rates, n_of = codes, check_priors(priors, classes), class_errors, sizes
        share = prior[codes] * share / np.bincount(codes, weights=share)[codes]
    error, variance = float(prior @ rates), float(np.sum(prior**2 * rates * (1 - rates) / n_of))
    fields: dict[str, Any] = {"effective_n_samples": n_effective}
    if priors is not None:
        reduction = error * (1 - error) / n_effective - variance
        fields |= {"priors": prior, "variance_reduction": reduction}
    standard_error = float(np.sqrt(variance))
    if group is not None:
        # groups: the variance of sums of influences
        within = None if priors is None else codes
        spread = intervals.spread_between(share * (wrong - rates[stratum]), group, share, within)
        intervals.warn_of_one_group(spread)
        standard_error, n = spread.error, 1 / np.sum(share**2)
        n_effective = intervals.size_of_proportion(error, spread.error, n, spread.n_groups)
        fields |= {"degrees_of_freedom": spread.degrees_of_freedom, **spread.groups}
        fields["effective_n_samples"] = n_effective
    elif priors is not None:
        # Wilson's limits of the classes, combined
        strata = partial(intervals.stratified_wilson_interval, class_errors * sizes, sizes, prior)
        fields |= {"effective_n_samples": None, "forms": {STRATIFIED: strata}}
    return mean_loss_estimate(
        error,
        standard_error,
        extra=HoldoutExtra,
        method="holdout",
        loss="zero_one",
        first=STRATIFIED,
        replicates=wrong,
        n_samples=len(wrong),
        confidence_level=confidence_level,
        n_errors=float(np.sum(weight * wrong)),
        classes=classes,
        class_errors=class_errors,
        class_sizes=sizes,
        **fields,
    )


def _compute_class_errors(
    wrong: np.ndarray, weight: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each code, the weighted error and `(sum w)^2 / sum w^2`, or nan without weight.

    Weights are divided by the largest weight of their code, so that their squares do not underflow.
    """
    largest = np.zeros(int(codes.max()) + 1)
    np.maximum.at(largest, codes, weight)
    with np.errstate(invalid="ignore"):  # A class without samples makes 0/0.
        relative = weight / largest[codes]
    totals = np.bincount(codes, weights=relative)
    errors = np.bincount(codes, weights=relative * wrong) / totals
    return errors, totals**2 / np.bincount(codes, weights=relative**2)


def check_priors(priors: Priors, classes: np.ndarray) -> np.ndarray:
    """Return the priors in the order of the classes."""
    labels = classes.tolist()
    if hasattr(priors, "to_dict"):  # A pandas Series is read by its labels, never by its order.
        priors = priors.to_dict()
    if isinstance(priors, Mapping):
        if set(priors) != set(labels):
            raise ValueError(
                f"priors must name exactly the classes of y_true, {labels}, got {list(priors)}."
            )
        priors = [priors[label] for label in labels]
    values = _checks.check_data("priors", priors, ensure_2d=False, dtype=np.float64)
    if values.shape != (len(labels),):
        raise ValueError(
            f"priors must have one value for each of the {len(labels)} classes {labels}, "
            f"got shape {values.shape}."
        )
    if not values.min() >= 0:
        raise ValueError(f"priors must be >= 0, got {values.min():g}.")
    if not np.isclose(values.sum(), 1, rtol=0, atol=1e-8):
        raise ValueError(f"priors must sum to 1, got {values.sum():g}.")
    return values


@dataclass(frozen=True)
class HoldoutSize(Result):
    """Number of test samples for a confidence interval of a given width.

    Attributes
    ----------
    n_samples : int
        Required number of test samples.
    per_class : tuple of int or None
        Number of samples from each class under selective sampling, in the order of `priors`.
    half_width : float
        Half the width of the interval at the assumed error.
    confidence_level : float
        Nominal coverage of the interval.
    method : str
        Name of the interval.
    """

    n_samples: int
    per_class: tuple[int, ...] | None
    half_width: float
    confidence_level: float
    method: str

    def __str__(self) -> str:
        rows = [
            ("samples", f"{self.n_samples}"),
            ("half width", write_number(self.half_width)),
            ("interval", f"{100 * self.confidence_level:g} %, {self.method}"),
        ]
        if self.per_class is not None:
            rows.insert(1, ("from each class", ", ".join(map(str, self.per_class))))
        return align_text("hold-out size", rows)


@_checks.in_order()
def holdout_size(
    error: Any,
    half_width: float,
    *,
    confidence_level: float = 0.95,
    priors: Sequence[float] | np.ndarray | None = None,
    allocation: Allocation = "proportional",
) -> HoldoutSize:
    r"""Return the number of test samples for a confidence interval of a given width.

    Under random sampling, it is the smallest `N` for which half the width of Wilson's interval at
    `error` is at most `h`. Under selective sampling with priors :math:`P_c` and errors
    :math:`\epsilon_c`, let :math:`a_c` be the fraction of the samples from class `c`. Then

    .. math:: N = (z/h)^2 \sum_c P_c^2 \epsilon_c (1-\epsilon_c) / a_c .

    Each :math:`a_c N` is rounded up.

    Parameters
    ----------
    error : float or array-like of shape (n_classes,)
        Expected error, between 0 and 1. With `priors`, pass the error of each class, or one error
        for all classes.
    half_width : float
        Half the width of the interval, between 0 and 0.5.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    priors : array-like of shape (n_classes,), default=None
        Prior of each class.
    allocation : {"proportional", "optimal"}, default="proportional"
        Fraction of the samples from each class, with `priors`. "proportional" is :math:`a_c =
        P_c`. "optimal" is :math:`a_c \propto P_c\sqrt{\epsilon_c(1-\epsilon_c)}` (Neyman), which
        minimizes `N`.

    Returns
    -------
    HoldoutSize
        `n_samples` is the total, and `half_width` is half the width of the interval at the assumed
        error. Under selective sampling, `per_class` contains the number of samples from each
        class, in the order of `priors`.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the normal interval with `priors` has no width
        because no class has an error strictly between 0 and 1.

    Examples
    --------
    >>> from skeval.model_selection import holdout_size
    >>> holdout_size(0.1, 0.03).n_samples
    388
    >>> holdout_size([0.05, 0.3], 0.03, priors=[0.9, 0.1], allocation="optimal").per_class
    (203, 48)
    """
    with _checks.naming("error"):
        errors = np.atleast_1d(np.asarray(error, dtype=float))
    if not (errors.ndim == 1 and np.all((errors >= 0) & (errors <= 1))):
        raise ValueError(
            f"error must lie in [0, 1], got {error!r}{_checks.suggest_fraction(error)}."
        )
    if not isinstance(half_width, Real) or not 0 < half_width < 0.5:
        raise ValueError(f"half_width must satisfy 0 < half_width < 0.5, got {half_width!r}.")
    _checks.check_confidence_level(confidence_level)
    _checks.check_option("allocation", allocation, ("proportional", "optimal"))
    too_small = f"half_width must be larger: {LARGEST_SIZE} samples are too few for {half_width}."
    if priors is None:
        # random sampling: the smallest number whose interval is short enough
        if errors.size != 1:
            raise ValueError(f"error must be one number when priors is None, got {error!r}.")

        def half(n: int) -> float:
            return float(np.ptp(intervals.wilson_interval(errors[0] * n, n, confidence_level))) / 2

        if half(LARGEST_SIZE) > half_width:
            raise ValueError(too_small)
        n = bisect_left(range(1, LARGEST_SIZE), -half_width, key=lambda n: -half(n)) + 1
        return HoldoutSize(n, None, half(n), confidence_level, "wilson")
    # selective sampling: the normal interval, with an allocation to the classes
    prior = _checks.check_data("priors", priors, ensure_2d=False, dtype=np.float64)
    prior = check_priors(prior, np.arange(len(prior)))
    if errors.size not in (1, len(prior)):
        raise ValueError(
            f"error must have {len(prior)} values, one for each prior, got {errors.size}."
        )
    deviations = prior * np.sqrt(errors * (1 - errors))
    if not deviations.any():
        raise ValueError(
            "error must satisfy 0 < error < 1 for a class with a prior, because the normal "
            f"interval has no width at {errors.tolist()}."
        )
    shares = prior if allocation == "proportional" else deviations / deviations.sum()
    used, z = shares > 0, intervals.normal_quantile(confidence_level)
    total = (z / half_width) ** 2 * np.sum(deviations[used] ** 2 / shares[used])
    if total > LARGEST_SIZE:
        raise ValueError(too_small)
    # each class with a prior needs a sample, or its error cannot be estimated
    sizes = np.maximum(np.ceil(total * shares - 1e-9).astype(int), prior > 0)
    reached = z * float(np.sqrt(np.sum(deviations**2 / np.maximum(sizes, 1))))
    per_class = tuple(sizes.tolist())
    return HoldoutSize(sum(per_class), per_class, reached, confidence_level, "normal")
