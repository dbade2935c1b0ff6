"""The estimates of a report by name: text, page and plot are made from them."""

from __future__ import annotations

from collections.abc import Iterable

from skeval.model_selection import ErrorEstimate, ErrorInterval, PerturbationInterval

__all__ = ["PERTURBED", "Estimate", "name_estimates"]

Estimate = ErrorEstimate | ErrorInterval | PerturbationInterval

PERTURBED = {
    "cross_validation": "SVM, perturbed cross-validation",
    "resubstitution": "SVM, perturbed training",
}
"""The name of a perturbation interval by the statistic that was perturbed."""


def name_estimates(
    answer: ErrorInterval | None,
    estimates: Iterable[ErrorEstimate],
    perturbation: Iterable[PerturbationInterval] | None,
) -> list[tuple[str, Estimate]]:
    """Return the estimates by name, the answer first, those of perturbation last."""
    named: list[tuple[str, Estimate]] = []
    if answer is not None:
        named.append((f"answer, {answer.method}", answer))
    named += [(estimate.method, estimate) for estimate in estimates]
    return [*named, *((PERTURBED[result.statistic], result) for result in perturbation or ())]
