"""The estimates of a report by name: text, page and plot are made from them."""

from collections.abc import Iterable

from skeval.model_selection import ErrorEstimate, PerturbationInterval

__all__ = ["PERTURBED", "Estimate", "name_estimates"]

Estimate = ErrorEstimate | PerturbationInterval

PERTURBED = {
    "cross_validation": "SVM, perturbed cross-validation",
    "resubstitution": "SVM, perturbed training",
}
"""The name of a perturbation interval by the statistic that was perturbed."""


def name_estimates(
    estimates: Iterable[ErrorEstimate], perturbation: Iterable[PerturbationInterval] | None
) -> list[tuple[str, Estimate]]:
    """Return the estimates by name, those of perturbation last."""
    named: list[tuple[str, Estimate]] = [(estimate.method, estimate) for estimate in estimates]
    return [*named, *((PERTURBED[result.statistic], result) for result in perturbation or ())]
