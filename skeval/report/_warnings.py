"""What a reader should know before quoting a number, in plain words."""

import numpy as np

from skeval._resampling.target import Target
from skeval.model_selection import ErrorEstimate
from skeval.model_selection._methods import (
    BOOTSTRAP_632_PLUS,
    CROSS_VALIDATION,
    RESUBSTITUTION,
    THIRD_HELD_OUT,
)

__all__ = ["write_warnings"]

WIDE_INTERVAL = 0.2


def write_warnings(target: Target, estimates: list[ErrorEstimate]) -> list[str]:
    """Return the sentences that apply to the estimates of one estimator."""
    named = {estimate.method: estimate for estimate in estimates}
    cross_validation = named[CROSS_VALIDATION]
    found = [_warn_of_overfitting(named[RESUBSTITUTION], cross_validation)]
    for other in (THIRD_HELD_OUT, BOOTSTRAP_632_PLUS):
        if other in named:  # a hold-out fit may have failed
            found.append(_warn_of_disagreement(cross_validation, named[other]))
    if cross_validation.loss == "zero_one" and target.classes is not None:
        found.append(_warn_of_guessing(target, target.classes, cross_validation))
        found.append(_warn_of_wide_interval(cross_validation))
    return [sentence for sentence in found if sentence]


def _warn_of_overfitting(
    resubstitution: ErrorEstimate, cross_validation: ErrorEstimate
) -> str | None:
    """Say when the training error is far below the cross-validated one."""
    gap = cross_validation.error - resubstitution.error
    far = resubstitution.error < cross_validation.error / 2
    if not (far and gap > 2 * cross_validation.standard_error):
        return None
    return (
        f"The training error ({resubstitution.error:.4f}) is far below the cross-validated error "
        f"({cross_validation.error:.4f}): the estimator overfits, do not quote the former."
    )


def _warn_of_disagreement(a: ErrorEstimate, b: ErrorEstimate) -> str | None:
    """Say when two estimates on samples not trained on differ by more than two standard errors."""
    if abs(a.error - b.error) <= 2 * max(a.standard_error, b.standard_error):
        return None
    return (
        f"{b.method} ({b.error:.4f}) and {a.method} ({a.error:.4f}) differ by more than two "
        "standard errors: the error depends on which samples are held out."
    )


def _warn_of_guessing(
    target: Target, classes: np.ndarray, cross_validation: ErrorEstimate
) -> str | None:
    """Say when the interval reaches the error of always naming the largest class."""
    sizes = np.bincount(target.codes)
    guess = 1 - sizes.max() / sizes.sum()
    interval = cross_validation.interval
    if interval.high < guess:
        return None
    name = classes[sizes.argmax()]
    return (
        f"Always answering the largest class, {name}, has error {guess:.4f}, which the interval "
        f"{interval} does not exclude: the estimator may have learnt nothing."
    )


def _warn_of_wide_interval(cross_validation: ErrorEstimate) -> str | None:
    """Say when there are too few samples to know the error."""
    interval = cross_validation.interval
    if interval.high - interval.low <= WIDE_INTERVAL:
        return None
    units = f"{cross_validation.n_samples} samples"
    if cross_validation.n_groups is not None:
        units = f"{cross_validation.n_groups} groups of samples"
    return (
        f"The interval of the cross-validated error is {interval.high - interval.low:.2f} wide: "
        f"{units} are too few to know the error well."
    )
