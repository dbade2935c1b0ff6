"""How many test samples an interval of a wanted width takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from skeval._inference.means import normal_quantile
from skeval._inference.proportions import PROPORTION_INTERVALS
from skeval.model_selection._holdout import check_priors
from skeval.utils._checks import check_confidence_level, check_data, check_option
from skeval.utils._text import ShownAsText, align_text, write_number

__all__ = ["HoldoutSize", "holdout_size"]

LARGEST_SIZE = 2**62


@dataclass(frozen=True)
class HoldoutSize(ShownAsText):
    """How many test samples an interval of a wanted width takes.

    Attributes
    ----------
    n_samples : int
        The total.
    per_class : tuple of int or None
        The number from each class under selective sampling, in the order of `priors`.
    half_width : float
        Half the width that the interval will have at the error assumed.
    confidence_level : float
        Nominal coverage.
    method : str
        The interval.
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


def holdout_size(
    error: Any,
    half_width: float,
    *,
    confidence_level: float = 0.95,
    method: str = "wilson",
    priors: Sequence[float] | np.ndarray | None = None,
    allocation: str = "proportional",
) -> HoldoutSize:
    r"""Return the number of test samples for a confidence interval of a wanted width.

    Under random sampling it is the smallest `N` whose interval at `error` has at most the half
    width `h`. Under selective sampling with priors :math:`P_c` and errors :math:`\epsilon_c`,
    allocating the fraction :math:`a_c` of the samples to class `c`,

    .. math:: N = (z/h)^2 \sum_c P_c^2 \epsilon_c (1-\epsilon_c) / a_c ,

    with each :math:`a_c N` rounded up.

    Parameters
    ----------
    error : float or array-like of shape (n_classes,)
        The error to plan for, between 0 and 1; with `priors` that of each class (or one for all).
    half_width : float
        Half the width of the interval, between 0 and 0.5.
    confidence_level : float, default=0.95
        Nominal coverage.
    method : {"wilson", "agresti_coull", "jeffreys", "exact", "wald"}, default="wilson"
        The interval under random sampling; with `priors` it is the normal one.
    priors : array-like of shape (n_classes,), default=None
        Prior of each class.
    allocation : {"proportional", "optimal"}, default="proportional"
        With `priors`: :math:`a_c = P_c`, or :math:`a_c \propto P_c\sqrt{\epsilon_c(1-\epsilon_c)}`
        (Neyman), which makes `N` smallest.

    Returns
    -------
    HoldoutSize

    Raises
    ------
    ValueError
        If an argument lies outside its range, or the interval has no width at `error`: that of
        Wald, and the normal one with `priors`, where no error lies strictly between 0 and 1.

    Examples
    --------
    >>> from skeval.model_selection import holdout_size
    >>> holdout_size(0.1, 0.03).n_samples
    388
    >>> holdout_size([0.05, 0.3], 0.03, priors=[0.9, 0.1], allocation="optimal").per_class
    (203, 48)
    """
    errors = np.atleast_1d(np.asarray(error, dtype=float))
    if not (errors.ndim == 1 and np.all((errors >= 0) & (errors <= 1))):
        raise ValueError(f"error must lie in [0, 1], got {error!r}.")
    if not isinstance(half_width, Real) or not 0 < half_width < 0.5:
        raise ValueError(f"half_width must fulfil 0 < half_width < 0.5, got {half_width!r}.")
    check_confidence_level(confidence_level)
    check_option("method", method, PROPORTION_INTERVALS)
    check_option("allocation", allocation, ("proportional", "optimal"))
    if priors is None:
        if errors.size != 1:
            raise ValueError(f"error must be one number when priors is None, got {error!r}.")
        return _size_random_sample(float(errors[0]), half_width, confidence_level, method)
    prior = check_data("priors", priors, ensure_2d=False, dtype=np.float64)
    prior = check_priors(prior, np.arange(len(prior)))
    if errors.size not in (1, len(prior)):
        raise ValueError(f"error must hold {len(prior)} values, one a prior; got {errors.size}.")
    errors, z = np.broadcast_to(errors, prior.shape), normal_quantile(confidence_level)
    planned = _size_selective_sample(errors, half_width, z, prior, allocation)
    return HoldoutSize(*planned, confidence_level, "normal")


def _size_random_sample(
    error: float, half_width: float, confidence_level: float, method: str
) -> HoldoutSize:
    if method == "wald" and error in (0, 1):
        raise ValueError(
            "error must fulfil 0 < error < 1 for method='wald', whose interval has no width at "
            f"{error:g}."
        )

    def half(n: int) -> float:
        low, high = PROPORTION_INTERVALS[method](error * n, n, confidence_level)
        return (high - low) / 2

    enough = 1
    while half(enough) > half_width and enough < LARGEST_SIZE:
        enough *= 2
    if half(enough) > half_width:
        raise ValueError(f"half_width must be larger: no {LARGEST_SIZE} samples give {half_width}.")
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if half(middle) > half_width:
            too_few = middle
        else:
            enough = middle
    return HoldoutSize(enough, None, half(enough), confidence_level, method)


def _size_selective_sample(
    errors: np.ndarray, half_width: float, z: float, priors: np.ndarray, allocation: str
) -> tuple[int, tuple[int, ...], float]:
    deviations = priors * np.sqrt(errors * (1 - errors))
    if not deviations.any():
        raise ValueError(
            "error must fulfil 0 < error < 1 for a class with a prior: the normal interval has "
            f"no width at {errors.tolist()}."
        )
    shares = priors if allocation == "proportional" else deviations / deviations.sum()
    used = shares > 0
    total = (z / half_width) ** 2 * np.sum(deviations[used] ** 2 / shares[used])
    if total > LARGEST_SIZE:
        raise ValueError(f"half_width must be larger: no {LARGEST_SIZE} samples give {half_width}.")
    # Every class with a prior needs a sample, or its error could not be estimated.
    wanted = np.ceil(total * shares - 1e-9).astype(int)
    per_class = np.maximum(wanted, priors > 0)
    reached = z * float(np.sqrt(np.sum(deviations**2 / np.maximum(per_class, 1))))
    return int(per_class.sum()), tuple(per_class.tolist()), reached
