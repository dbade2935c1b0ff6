r"""Predictive values, accuracy and net benefit in a population with another prevalence.

Sensitivity s and specificity t are estimated within the classes. With prevalence :math:`\pi` and a
false positive that costs w times the benefit of a true positive,

.. math:: PPV = \frac{\pi s}{\pi s + (1 - \pi)(1 - t)}, \quad
          NPV = \frac{(1 - \pi) t}{(1 - \pi) t + \pi (1 - s)}, \quad
          A = \pi s + (1 - \pi) t, \quad B = \pi s - w (1 - \pi)(1 - t) .

All increase with both rates, so their limits are reached on the boundary of the score region.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skeval._inference import intervals
from skeval._inference.areas import independent_size
from skeval._inference.estimate import Estimate
from skeval.metrics._curves import CurveSample
from skeval.utils._checks import warn_undefined

Floats = NDArray[np.float64]
STEP = 1e-6
"""Step of the central differences in the delta method."""


class Population(NamedTuple):
    """Prevalence of the positive class, and the odds w of the net benefit, if known."""

    prevalence: float
    odds: float | None

    @property
    def measures(self) -> dict[str, Callable[[Any, Any], Any]]:
        """Functions of sensitivity and specificity by name."""
        measures: dict[str, Callable[[Any, Any], Any]]
        measures = {"ppv": self.ppv, "npv": self.npv, "accuracy": self.accuracy}
        if self.odds is not None:
            measures["net_benefit"] = self.net_benefit
        return measures

    def ppv(self, sensitivity: Any, specificity: Any) -> Any:
        true = self.prevalence * sensitivity
        with np.errstate(invalid="ignore"):
            return np.divide(true, true + (1 - self.prevalence) * (1 - specificity))

    def npv(self, sensitivity: Any, specificity: Any) -> Any:
        return self._replace(prevalence=1 - self.prevalence).ppv(specificity, sensitivity)

    def accuracy(self, sensitivity: Any, specificity: Any) -> Any:
        return self.prevalence * sensitivity + (1 - self.prevalence) * specificity

    def net_benefit(self, sensitivity: Any, specificity: Any) -> Any:
        cost = (self.odds or 0.0) * (1 - self.prevalence)
        return self.prevalence * sensitivity - cost * (1 - specificity)


def transfer(
    sample: CurveSample, shares: Mapping[str, Estimate], correlation: float, population: Population
) -> dict[str, Estimate]:
    """Return the measures of a population from sensitivity and specificity.

    `correlation` is the correlation of the two estimated rates.
    """
    rates = [shares["sensitivity"], shares["specificity"]]
    values = np.array([rate.value for rate in rates])
    errors = np.array([rate.standard_error for rate in rates])
    covariance = np.outer(errors, errors) * [[1, correlation], [correlation, 1]]
    degrees, n_groups = np.inf, None
    if sample.group is not None:
        degrees = sample.spread.degrees_of_freedom
        n_groups = intervals.count_groups(sample.group)
    sizes = [
        intervals.effective_size(value, error, independent_size(sample.weight[own]), n_groups)
        for value, error, own in zip(
            values, errors, (sample.positive, ~sample.positive), strict=True
        )
    ]
    apparent = [rate.details.get("apparent") for rate in rates]
    # the exact interval of a rate that a rule fixes is around its apparent value
    centers: list[Any] = [
        here if rate.interval.method == "exact" else rate.value
        for here, rate in zip(apparent, rates, strict=True)
    ]
    estimates = {}
    for name, measure in population.measures.items():
        value = float(measure(*values))
        # delta method; the measures are smooth beyond rates of 0 and 1
        steps = STEP * np.eye(2)
        slope = np.array([measure(*(values + step)) - measure(*(values - step)) for step in steps])
        error = float(np.sqrt(slope @ covariance @ slope)) / (2 * STEP)
        region = partial(
            intervals.score_region_limits,
            measure,
            centers,
            sizes,
            correlation,
            degrees_of_freedom=degrees,
        )
        details, size = {}, None
        if apparent[0] is not None:
            here = float(measure(*apparent))
            details = {"apparent": here, "optimism": here - value}
        if np.isnan(value):
            warn_undefined(f"{name} is undefined, nan: no sample has this prediction.")
        elif error > 0 and name != "net_benefit":
            size = value * (1 - value) / error**2
        estimates[name] = Estimate(
            name=f"{name} at a prevalence of {population.prevalence:g}",
            value=value,
            standard_error=error,
            method="score" if apparent[0] is None else "bootstrap",
            limits={"score": intervals.give_no_limits if np.isnan(value) else region},
            n_samples=len(sample.positive),
            n_groups=n_groups,
            effective_n_samples=size,
            details=details,
            bounds=(-np.inf if name == "net_benefit" else 0.0, 1.0),
            confidence_level=sample.confidence_level,
        )
    return estimates


def correlate_rates(sample: CurveSample, threshold: float) -> float:
    """Return the correlation between groups of sensitivity and specificity; 0 without groups."""
    if sample.group is None:
        return 0.0
    right = (sample.score >= threshold) == sample.positive
    influence = np.zeros((len(right), 2))
    for column, own in enumerate((sample.positive, ~sample.positive)):
        weight = sample.weight * own
        influence[:, column] = weight * (right - np.average(right, weights=weight))
    covariance = intervals.spread_between(influence, sample.group).covariance
    return correlation_of(covariance)


def correlation_of(covariance: Floats) -> float:
    """Return the correlation of two variables; 0 if one does not vary."""
    scale = float(np.sqrt(covariance[0, 0] * covariance[1, 1]))
    return float(np.clip(covariance[0, 1] / scale, -1, 1)) if scale > 0 else 0.0
