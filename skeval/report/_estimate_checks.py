"""Warnings about the estimates of one error: overfitting, disagreement, wide intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skeval._inference.estimate import Estimate
from skeval._inference.intervals import normal_quantile
from skeval._resampling.sampling_units import UnitKind
from skeval.report._sections import Caution
from skeval.report._sentences import write_amount

WIDE_INTERVAL = 0.2
DISAGREEMENT = 2.0
"""Standard errors of the difference of two estimates; for false alarms see
doc/user_guide/warnings.rst."""
TWO_ANSWERS = 3.0
"""Standard errors of the headline between two estimates of the same error."""
NEAR_ZERO = 0.1
"""Share of the cross-validated error below which a training error is uninformative."""


def check_estimates(
    estimates: Iterable[Estimate], answer: Estimate | None = None, kind: UnitKind = UnitKind.GROUP
) -> list[Caution]:
    """Return the warnings about the estimates of one estimator, and about the headline.

    The `kind` names sampling units of several samples.
    """
    named = {estimate.method: estimate for estimate in estimates}
    if not {"cross_validation", "resubstitution"} <= named.keys():  # interrupted before these
        return []
    cross_validation = named["cross_validation"]
    results = [
        _warn_of_overfitting(named["resubstitution"], answer or cross_validation),
        _warn_of_632(named, cross_validation),
        _warn_of_disagreement(cross_validation, named.get("holdout")),
    ]
    if answer is not None:
        results.append(_warn_of_two_answers(answer, named))
    if cross_validation.loss == "zero_one":
        results.append(_warn_of_wide_interval(cross_validation, kind))
    return [sentence for sentence in results if sentence]


def _warn_of_two_answers(answer: Estimate, named: dict[str, Estimate]) -> Caution | None:
    """Return a warning if estimates of the same error from the same samples differ too much.

    Cross-validations of the same samples share most of their noise, so new folds explain much less
    than three standard errors of one of them. Training errors are usually lower, so only higher
    ones are reported. User-defined folds may test other samples and are not compared.
    """
    if answer.method != "repeated_cv":
        return None
    limit = TWO_ANSWERS * _spread(answer)
    folds, training = named["cross_validation"], named["resubstitution"]
    if abs(folds.value - answer.value) > limit:
        what, other = "one cross-validation", folds
    elif training.value - answer.value > limit:
        what, other = "the training error", training
    else:
        return None
    return Caution(
        "two-answers",
        f"Two estimates disagree: the main estimate ({_write_error(answer)}) and {what} "
        f"({_write_error(other)}) differ by more than three standard errors, although they share "
        "their samples. The fits may be unstable, or stop before they converge: scale the "
        "features, raise max_iter, and fit the model twice to see whether its predictions change.",
        "two estimates of the same error disagree",
    )


def _warn_of_overfitting(resubstitution: Estimate, tested: Estimate) -> Caution | None:
    """Warn if the training error is far below the error of samples that were not trained on."""
    gap = tested.value - resubstitution.value
    if not (resubstitution.value < tested.value / 2 and gap > 2 * _spread(tested)):
        return None
    return Caution(
        "overfitting",
        f"Training error too low: the training error ({_write_error(resubstitution)}) is far below "
        f"the cross-validated error ({_write_error(tested)}). Do not report the training error.",
    )


def _warn_of_632(named: dict[str, Any], cross_validation: Estimate) -> Caution | None:
    """Warn if .632+ is too low because of a training error near 0.

    Both the cross-validated and the out-of-bag error are then above it. If the cross-validated
    error is compatible with pure noise, .632+ gives the training error little weight and may be
    right.
    """
    bootstrap, resubstitution = named.get(".632+"), named["resubstitution"]
    error = cross_validation.value
    if bootstrap is None or resubstitution.value > NEAR_ZERO * error:
        return None
    if cross_validation.interval.high >= bootstrap.extra.no_information:
        return None
    if not min(error, named["oob"].value) - bootstrap.value > _spread(cross_validation):
        return None
    return Caution(
        "632",
        f".632+ too low: it is {_write_error(bootstrap)}, but cross-validation gives "
        f"{_write_error(cross_validation)}, because .632+ includes a training error near 0 "
        f"({_write_error(resubstitution)}), which this model reaches on any data. Report neither "
        ".632 nor .632+.",
    )


def _warn_of_disagreement(a: Estimate, b: Estimate | None) -> Caution | None:
    """Warn if hold-out and cross-validation differ by more than chance explains."""
    if b is None or not abs(a.value - b.value) > DISAGREEMENT * np.hypot(_spread(a), _spread(b)):
        return None
    return Caution(
        "disagreement",
        f"Estimates disagree: hold-out ({_write_error(b)}) and cross-validation "
        f"({_write_error(a)}) differ by more than two standard errors. The error depends on which "
        "samples are held out, or on how many: do not report a single split.",
    )


def _spread(estimate: Estimate) -> float:
    """Return a standard error that is positive even without errors, from the interval.

    It assumes independent losses, without inflation, as in the simulations of false alarms. If the
    interval is undefined it is nan, so that no comparison is true.
    """
    form = next(name for name in estimate.interval_methods if name != "inflated")
    interval = estimate.confidence_interval(method=form)
    return (interval.high - interval.low) / 2 / normal_quantile(interval.confidence_level)


def _write_error(estimate: Any) -> str:
    """Return an error in the unit of the verdict."""
    return write_amount(estimate.value, estimate.loss)


def _warn_of_wide_interval(cross_validation: Estimate, kind: UnitKind) -> Caution | None:
    """Warn if there are too few samples for a precise estimate."""
    interval = cross_validation.interval
    if interval.high - interval.low <= WIDE_INTERVAL:
        return None
    n_groups = cross_validation.n_groups
    units = f"{cross_validation.n_samples} samples"
    if n_groups is not None:
        units = f"{n_groups} {kind.value}"
    level = f"{100 * interval.confidence_level:g} % CI"
    width = 100 * (interval.high - interval.low)
    return Caution(
        "wide",
        f"Wide interval: the {level} of the cross-validated error spans {width:.0f} percentage "
        f"points. Collect more samples: {units} are too few for a precise estimate.",
    )
