"""What the parts of an evaluation found, in sentences; `_verdict` has the first ones."""

from __future__ import annotations

import numpy as np

from skeval._inference.adjustment import LARGEST_LEVEL
from skeval.feature_selection import SelectionBias, SelectionStability
from skeval.model_selection import PermutationTest, PerturbationInterval, TuningOptimism
from skeval.utils._text import count, write_estimate, write_number

__all__ = [
    "is_above_zero",
    "write_permutation",
    "write_perturbation",
    "write_selection",
    "write_tuning",
]


def write_permutation(test: PermutationTest) -> str:
    """Say what the permutation test found."""
    return (
        f"P = {test.pvalue:.4g}: of {count(test.n_permutations, 'run')} of the whole procedure on "
        f"shuffled labels, {test.n_exceedances} did as well as on the true ones."
    )


def write_selection(bias: SelectionBias, stability: SelectionStability | None) -> list[str]:
    """Say what selection outside the loop would have claimed, and how stable the selection is."""
    claimed = _write_bias(bias)
    if stability is None:
        return [
            claimed,
            "How stable the selection is cannot be told: the folds choose from different features, "
            "which the steps before the selector give no names (get_feature_names_out).",
        ]
    always = int(np.sum(stability.frequency == 1))
    ever = int(np.count_nonzero(stability.frequency))
    value = f"{stability.value:.2f}, 1 is best"
    if np.isnan(stability.value):
        value = "undefined where all features are selected, or none"
    return [
        claimed,
        f"Of {count(ever, 'feature')} selected in any of {stability.n_rounds} folds, {always} "
        f"{'was' if always == 1 else 'were'} selected in all; stability {value}.",
    ]


def _write_bias(bias: SelectionBias) -> str:
    """Say what selection outside the loop would have claimed, and whether that is too low."""
    if np.isnan(bias.low):
        return (
            f"Selecting features outside the loop would have claimed an error of "
            f"{write_number(bias.cv1_error)}, that of selecting inside is "
            f"{write_number(bias.cv2_error)}; an interval of the difference is undefined, since "
            "it does not vary."
        )
    spread = (bias.high - bias.low) / 4
    outside, inside, difference, low, high = (
        write_estimate(value, spread)
        for value in (bias.cv1_error, bias.cv2_error, bias.bias, bias.low, bias.high)
    )
    shown = "that is too low" if is_above_zero(bias) else "that is not shown to be too low"
    return (
        f"Selecting features outside the loop would have claimed an error of {outside} instead "
        f"of {inside}: {shown} (bias {difference}, {100 * bias.confidence_level:g} % interval "
        f"{low} to {high})."
    )


def is_above_zero(found: SelectionBias | TuningOptimism) -> bool:
    """Whether what a result measures is above 0 by an interval of 95 % or more."""
    level = max(found.confidence_level, 1 - LARGEST_LEVEL)
    if np.isnan(found.interval.low):
        return False
    return found.confidence_interval(level).low > 0


def write_tuning(found: TuningOptimism) -> str:
    """Say by how much the best score of the searches is too good."""
    low, high = found.interval.low, found.interval.high
    spread = (high - low) / 4
    inner, nested, optimism = (
        write_estimate(value, spread)
        for value in (found.inner_score, found.nested_score, found.optimism)
    )
    if np.isnan(low):
        shown = "whether it is too good cannot be told, since the difference does not vary"
    else:
        shown = "it is not shown to be too good"
        if is_above_zero(found):
            shown = "it is too good, as the best of many is"
        ends = f"{write_estimate(low, spread)} to {write_estimate(high, spread)}"
        level = f"{100 * found.confidence_level:g} % interval"
        shown += f" (difference {optimism}, {level} {ends})"
    return (
        f"The best score of a search for hyperparameters is {inner} on average, that of its model "
        f"on samples left out {nested}: {shown}. The errors here are those of tuned models on "
        "samples left out."
    )


def write_perturbation(resubstitution: PerturbationInterval) -> str:
    """Say which of the two perturbation intervals to trust, and why."""
    if resubstitution.resubstitution < resubstitution.error / 2:
        return (
            "Of the SVM intervals trust that of perturbed cross-validation: the training error is "
            "less than half the cross-validated one, and there perturbed training is too short."
        )
    return (
        "Of the SVM intervals that of perturbed cross-validation is the safer; perturbed training "
        "is the published one and holds when samples are many and features few."
    )
