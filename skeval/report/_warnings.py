"""What a reader should know before quoting a number: a sentence, and a code to look it up by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skeval._inference.proportions import normal_quantile
from skeval.model_selection import Estimate
from skeval.utils._text import count, write_estimate, write_number

__all__ = ["Caution", "write_warnings"]


class Caution(str):
    """A sentence with the code of the check that found it.

    It is a string. The page "What can make an error estimate a lie" of the documentation has a
    section for each code.

    Attributes
    ----------
    code : str
        Name of the check, such as "copies".
    headline : str
        Where the fault is so grave that the error must not be quoted: what it is, as a short
        clause for the first sentence of a report. Else empty.
    """

    code: str
    headline: str

    def __new__(cls, code: str, text: str, headline: str = "") -> Caution:
        """Return the sentence."""
        self = super().__new__(cls, text)
        self.code, self.headline = code, headline
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return what makes a copy of it."""
        return self.code, str(self), self.headline


WIDE_INTERVAL = 0.2
DISAGREEMENT = 2.0
"""Standard errors of the difference of two estimates; doc/user_guide/warnings.rst has what it does
to data without a fault."""
NEAR_ZERO = 0.1
"""Share of the cross-validated error below which a training error says nothing."""


def write_warnings(estimates: Iterable[Estimate]) -> list[Caution]:
    """Return the sentences that apply to the estimates of one estimator."""
    named = {estimate.method: estimate for estimate in estimates}
    if not {"cross_validation", "resubstitution"} <= named.keys():  # Ctrl-C came before them
        return []
    cross_validation = named["cross_validation"]
    found = [
        _warn_of_overfitting(named["resubstitution"], cross_validation),
        _warn_of_632(named, cross_validation),
        _warn_of_disagreement(cross_validation, named.get("holdout")),
    ]
    if cross_validation.details["loss"] == "zero_one":
        found.append(_warn_of_wide_interval(cross_validation))
    return [sentence for sentence in found if sentence]


def _warn_of_overfitting(resubstitution: Estimate, cross_validation: Estimate) -> Caution | None:
    """Say when the training error is far below the cross-validated one."""
    gap = cross_validation.value - resubstitution.value
    far = resubstitution.value < cross_validation.value / 2
    if not (far and gap > 2 * _spread(cross_validation)):
        return None
    return Caution(
        "overfitting",
        f"The training error ({write_number(resubstitution.value)}) is far below the "
        f"cross-validated error ({_write_error(cross_validation)}): it says how well the estimator "
        "remembers its samples, and not how well it predicts others. Do not quote it.",
    )


def _warn_of_632(named: dict[str, Any], cross_validation: Estimate) -> Caution | None:
    """Say when the .632+ estimate counts in a training error that says nothing.

    Both errors of samples not trained on lie above it then. Where labels may be noise, for all the
    cross-validated error says, .632+ gives the training error little weight, and may be right.
    """
    bootstrap, resubstitution = named.get(".632+"), named["resubstitution"]
    error = cross_validation.value
    if bootstrap is None or resubstitution.value > NEAR_ZERO * error:
        return None
    if cross_validation.interval.high >= bootstrap.details["no_information"]:
        return None
    if not min(error, named["oob"].value) - bootstrap.value > _spread(cross_validation):
        return None
    return Caution(
        "632",
        f".632+ ({_write_error(bootstrap)}) lies below cross-validation "
        f"({_write_error(cross_validation)}), since it counts in a training error near 0 "
        f"({write_number(resubstitution.value)}), to which this estimator is trained whatever the "
        "data: quote neither .632 nor .632+.",
    )


def _warn_of_disagreement(a: Estimate, b: Estimate | None) -> Caution | None:
    """Say when two estimates on samples not trained on differ by more than chance explains."""
    if b is None or not abs(a.value - b.value) > DISAGREEMENT * np.hypot(_spread(a), _spread(b)):
        return None
    return Caution(
        "disagreement",
        f"hold-out ({_write_error(b)}) and cross-validation ({_write_error(a)}) differ by more "
        "than two standard errors of their difference: the error depends on which samples are held "
        "out.",
    )


def _spread(estimate: Estimate) -> float:
    """Return a standard error that is not 0 where no error was seen: that which the interval has.

    That of independent losses, on which the alarms were measured, and not the inflated one.
    nan where the interval is undefined, so that no comparison with it is true.
    """
    form = next(name for name in estimate.interval_methods if name != "inflated")
    found = estimate.confidence_interval(method=form)
    return (found.high - found.low) / 2 / normal_quantile(found.confidence_level)


def _write_error(estimate: Estimate) -> str:
    """Return an error with the decimals that its interval leaves."""
    return write_estimate(estimate.value, _spread(estimate))


def _warn_of_wide_interval(cross_validation: Estimate) -> Caution | None:
    """Say when there are too few samples to know the error."""
    interval = cross_validation.interval
    if interval.high - interval.low <= WIDE_INTERVAL:
        return None
    units, n_groups = f"{cross_validation.n_samples} samples", cross_validation.details["n_groups"]
    if n_groups is not None:
        units = f"{count(n_groups, 'group')} of samples"
    level = f"{100 * interval.confidence_level:g} %"
    return Caution(
        "wide",
        f"The {level} interval of the cross-validated error is "
        f"{interval.high - interval.low:.2f} wide: {units} are too few to know the error well.",
    )
