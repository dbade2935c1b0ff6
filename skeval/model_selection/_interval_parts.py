"""What the methods of `error_interval` share: sizes of parts, means of losses, findings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence

from skeval._inference.finding import Finding
from skeval._inference.proportions import effective_number
from skeval._inference.tested import Tested, worth
from skeval._resampling.outputs import FitOutput
from skeval._resampling.procedure import Procedure
from skeval._resampling.schemes import Scheme
from skeval._resampling.target import Loss
from skeval.model_selection._results import bounds_of
from skeval.utils._checks import check_option

__all__ = [
    "Method",
    "Outcome",
    "Run",
    "Settings",
    "check_enough",
    "completed",
    "find",
    "loss_moments",
    "resolve_settings",
    "student_of_groups",
    "units_to_test",
    "untested_losses",
]

Settings = dict[str, Any]
VARIANCES = ("all_pairs", "within_folds")


class Outcome(NamedTuple):
    """What a method finds for each loss, and how many of its fits failed."""

    findings: list[Finding]
    n_fits: int
    n_failed: int = 0


Run = Callable[[Procedure, SeedSequence, Settings], Outcome]


@dataclass(frozen=True)
class Method:
    """A method, and the parameters that it takes with their defaults."""

    run: Run
    defaults: Settings
    takes_weights: bool = True


def units_to_test(p: Procedure, test_size: Any, least: int = 1) -> int:
    """Return how many units a test set holds.

    A training set of at least 2 is left.
    """
    n = p.cases.n_units
    if isinstance(test_size, bool) or not isinstance(test_size, Real):
        raise ValueError(f"test_size must be a share or a number of samples, got {test_size!r}.")
    if isinstance(test_size, Integral):
        n_test = int(test_size)
    elif 0 < float(test_size) < 1:
        n_test = max(least, math.ceil(float(test_size) * n - 1e-9))
    else:
        raise ValueError(f"test_size must be a share between 0 and 1, got {test_size!r}.")
    if not least <= n_test <= n - 2:
        raise ValueError(
            f"test_size must leave at least 2 of {n} {p.cases.name} for training and {least} for "
            f"testing in method={p.method!r}, got {test_size!r}."
        )
    return n_test


def resolve_settings(p: Procedure, method: Method, given: Settings) -> Settings:
    """Return the parameters of a method: those given, and defaults that suit the data."""
    foreign = [name for name in given if name not in method.defaults]
    if foreign:
        takes = " and ".join(method.defaults) or "no parameters"
        raise ValueError(
            f"{foreign[0]} is no parameter of method={p.method!r}, which takes {takes}; "
            f"got {given[foreign[0]]!r}."
        )
    settings = method.defaults | given
    if "variance" in settings:
        check_option("variance", settings["variance"], VARIANCES)
    if "n_folds" in settings:
        settings["n_folds"] = check_folds(p, settings, "n_folds" in given)
    return settings


def check_folds(p: Procedure, settings: Settings, given: bool) -> int:
    """Return the number of folds; the default is lowered to what the units allow.

    Nested folds are three at least, and of two units at least; so are those within which a
    variance is taken, and those of a half.
    """
    nested = p.method == "nested_cv"
    paired = nested or p.method == "replace_one_cv" or settings.get("variance") == "within_folds"
    n, n_folds, least = p.cases.n_units, settings["n_folds"], 3 if nested else 2
    most = n // 2 if paired else n
    where = f"method={p.method!r} with {n} {p.cases.name}"
    if most < least:
        raise ValueError(f"X must hold at least {2 * least} samples or groups for {where}.")
    if not given:
        return min(n_folds, most)
    if isinstance(n_folds, bool) or not isinstance(n_folds, Integral):
        raise ValueError(f"n_folds must be an integer, got {n_folds!r}.")
    if not least <= int(n_folds) <= most:
        raise ValueError(f"n_folds must be from {least} to {most} for {where}, got {n_folds}.")
    return int(n_folds)


def check_enough(p: Procedure, values: np.ndarray, least: int) -> None:
    """Raise unless so many values are defined: fits may have failed, scores be undefined."""
    n = int(np.isfinite(values).sum())
    if n < least:
        raise ValueError(
            f"estimator must succeed more often for method={p.method!r}: of {len(values)} numbers "
            f"that it needs, {n} are defined, and {least} must be."
        )


def completed(answers: list[FitOutput | None]) -> list[FitOutput]:
    """Return the answers of the fits that did not fail."""
    return [answer for answer in answers if answer is not None]


def untested_losses(p: Procedure, share: float = 1.0) -> Tested:
    """Return a stand-in for losses of a share of the units: weights and units alone count."""
    counted = p.cases.unit < int(share * p.cases.n_units)
    unit = None if p.cases.n_groups is None else p.cases.unit[counted]
    weight = None if p.weight is None else p.weight[counted]
    return Tested(np.zeros(counted.sum()), weight, unit)


def student_of_groups(p: Procedure, n_groups: int | None = None) -> float:
    """Return the degrees of freedom of a standard error of groups; infinity without them."""
    if p.cases.n_groups is None:
        return np.inf
    return float((n_groups or p.cases.n_groups) - 1)


def loss_moments(p: Procedure, scheme: Scheme) -> np.ndarray:
    """Return mean and mean square of the losses of each fit, shape (n_losses, n_fits, 2).

    They are nan where the fit failed.
    """
    moments = np.full((len(p.losses), scheme.plan.n_fits, 2), np.nan)
    for fit, answer in enumerate(p.answers(scheme)):
        if answer is None:
            continue
        for number, loss in enumerate(p.losses):
            losses, weight, _ = p.tested(loss, answer.rows, answer.predicted)
            powers = np.stack([losses, losses**2])
            moments[number, fit] = np.average(powers, axis=1, weights=weight)
    return moments


def find(
    loss: Loss,
    error: float,
    standard_error: float,
    replicates: np.ndarray,
    tested: Tested,
    *,
    degrees_of_freedom: float = np.inf,
    variance: float = np.nan,
    binomial: bool = True,
    inflation: float = 1.0,
) -> Finding:
    """Return what was found, with the number of independent samples that it is worth.

    `tested` are the losses (or what stands for them) that the error is a mean of, `variance` that
    of a single loss; that of 0-1 loss is ``error (1 - error)`` but for a `binomial` of False. Where
    no loss varies, it is worth the number of units over `inflation`.
    """
    low, high = bounds_of(loss.name)
    error = float(np.clip(error, low, high))
    if loss.name == "zero_one" and binomial:
        variance = error * (1 - error)
    n_effective = None
    if np.isfinite(variance) and np.isfinite(standard_error):
        unvaried = worth(tested) if tested.unit is None else float(len(np.unique(tested.unit)))
        most = worth(tested)
        n_effective = effective_number(variance, standard_error, most, unvaried / inflation)
    return Finding(error, float(standard_error), replicates, degrees_of_freedom, n_effective)
