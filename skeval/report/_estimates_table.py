"""The table of estimates as data: text, page and plot are made from its rows."""

from collections.abc import Iterable
from dataclasses import dataclass

from skeval.model_selection import ConfidenceInterval, ErrorEstimate, PerturbationInterval

__all__ = ["PERTURBED", "EstimateRow", "make_rows", "name_estimates"]

PERTURBED = {
    "cross_validation": "SVM, perturbed cross-validation",
    "resubstitution": "SVM, perturbed training",
}
"""The name of a perturbation interval by the statistic that was perturbed."""


@dataclass(frozen=True)
class EstimateRow:
    """One estimate of the error with its interval."""

    name: str
    error: float
    standard_error: float
    interval: ConfidenceInterval
    loss: str


def name_estimates(
    estimates: Iterable[ErrorEstimate], perturbation: Iterable[PerturbationInterval] | None
) -> list[tuple[str, ErrorEstimate | PerturbationInterval]]:
    """Return the estimates by name, those of perturbation last."""
    named: list[tuple[str, ErrorEstimate | PerturbationInterval]] = [
        (estimate.method, estimate) for estimate in estimates
    ]
    return [*named, *((PERTURBED[result.statistic], result) for result in perturbation or ())]


def make_rows(
    estimates: Iterable[ErrorEstimate], perturbation: Iterable[PerturbationInterval] | None
) -> list[EstimateRow]:
    """Return a row for each estimate, with its interval."""
    return [
        EstimateRow(
            name,
            estimate.error,
            estimate.standard_error,
            estimate.interval,
            estimate.loss,
        )
        for name, estimate in name_estimates(estimates, perturbation)
    ]
