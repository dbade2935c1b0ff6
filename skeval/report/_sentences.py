"""What an evaluation found, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from skeval._inference.adjustment import LARGEST_LEVEL
from skeval._inference.proportions import wilson_interval
from skeval.feature_selection import SelectionBias, SelectionStability
from skeval.model_selection import (
    ErrorEstimate,
    ErrorInterval,
    PermutationTest,
    PerturbationInterval,
    TuningOptimism,
)
from skeval.model_selection._methods import CROSS_VALIDATION
from skeval.utils._text import count, mean_loss_name, write_estimate, write_number

__all__ = [
    "compare_with_guess",
    "find_guess",
    "find_quoted",
    "write_coverage",
    "write_permutation",
    "write_perturbation",
    "write_selection",
    "write_tuning",
    "write_verdict",
]

TARGET = "The interval is for the error, on new samples, of the rule fitted to all of these"
EVIDENCE = (
    "In simulations it held that error in 94 to 99 % of samples from populations that it was not "
    "chosen on, where 95 % were promised."
)
NO_EVIDENCE = "How often it holds that error has not been measured with groups."


def find_quoted(
    answer: ErrorInterval | None, estimates: Iterable[ErrorEstimate]
) -> ErrorInterval | ErrorEstimate:
    """Return the number to quote: the answer, or the cross-validated error where there is none."""
    if answer is not None:
        return answer
    (estimate,) = (one for one in estimates if one.method == CROSS_VALIDATION)
    return estimate


def write_verdict(
    answer: ErrorInterval | ErrorEstimate,
    permutation: PermutationTest | None,
    selection_bias: SelectionBias | None,
) -> str:
    """Say what the error is, how sure that is, and what else a reader must know."""
    interval = answer.interval
    fraction = answer.loss == "zero_one"
    name = "error" if fraction else mean_loss_name(answer.loss)
    low, high = (
        _write_amount(interval.low, fraction).removesuffix(" %"),
        _write_amount(interval.high, fraction),
    )
    sentence = (
        f"Estimated {name} {_write_amount(answer.error, fraction)}, "
        f"{100 * interval.confidence_level:g} % interval {low} to {high} ({answer.method})"
    )
    if permutation:
        sentence += f", {_write_chance(permutation)}"
    if selection_bias:
        claimed = _write_amount(selection_bias.cv1_error, fraction=True)
        sentence += f"; selection outside the loop would have claimed {claimed}"
    return sentence + "."


def write_coverage(answer: ErrorInterval | None) -> list[str]:
    """Say what the interval of the answer is for, how it was made, and how that is known."""
    if answer is None:
        return []
    folds = answer.parameters["n_folds"]
    repeats = answer.n_fits // folds  # 1 where a unit is left out at a time
    method = f"{answer.method}: {folds}-fold cross-validation"
    if repeats > 1:
        method += f", repeated {repeats} times"
    return [f"{TARGET} ({method}).", EVIDENCE if answer.n_groups is None else NO_EVIDENCE]


def _write_amount(value: float, fraction: bool) -> str:
    """Return a mean loss as text: a fraction in percent, any other as it is."""
    if not fraction:
        return f"{value:.4g}"
    return f"{100 * value:.2g} %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"


def _write_chance(test: PermutationTest) -> str:
    """Say whether the P-value is below one minus the level."""
    if test.pvalue <= 1 - test.confidence_level:
        return f"better than chance with P = {test.pvalue:.2g}"
    return f"not shown to be better than chance (P = {test.pvalue:.2g})"


def find_guess(sizes: Mapping[Any, int] | None, loss: str) -> float | None:
    """Return the error of always answering the largest class, None where there is none."""
    if sizes is None or loss != "zero_one":
        return None
    return 1 - max(sizes.values()) / sum(sizes.values())


def compare_with_guess(
    sizes: Mapping[Any, int] | None,
    estimate: ErrorInterval | ErrorEstimate,
    permutation: PermutationTest | None = None,
) -> tuple[bool, str | None]:
    """Compare the error to quote with that of always answering the largest class.

    Return whether it is lower, and a sentence: it is, it may be either, it is higher. No sentence
    where there are no classes, or another loss than the share of wrong answers.
    """
    guess = find_guess(sizes, estimate.loss)
    if sizes is None or guess is None:
        return False, None
    largest = max(sizes, key=lambda name: sizes[name])
    interval = estimate.interval
    start = f"Always answering the largest class, {largest}, has error {guess:.4f}"
    if interval.high < guess:
        return True, f"{start}: the estimator is better, its interval {interval} lies below that."
    n = estimate.n_samples if estimate.n_groups is None else estimate.n_groups
    most = wilson_interval(guess * n, n, interval.confidence_level)[1]  # of the guess, another mean
    if estimate.error - guess > np.hypot(estimate.error - interval.low, most - guess):
        return False, (
            f"{start}: the estimator is worse, its interval {interval} lies above that. "
            "That can be meant only where errors on rare classes cost more than others."
        )
    where = f"which its interval {interval} does not exclude"
    if interval.low > guess:
        where = (
            f"although its interval {interval} lies above, for the share of the class is in doubt"
        )
    learnt = "It may have learnt nothing."
    if permutation and permutation.pvalue <= 1 - permutation.confidence_level:
        learnt = "It is better than chance, and yet may serve no better than that answer."
    return False, f"{start}: the estimator is not distinguishable from that, {where}. {learnt}"


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
    shown = "that is too low" if _is_above_zero(bias) else "that is not shown to be too low"
    return (
        f"Selecting features outside the loop would have claimed an error of {outside} instead "
        f"of {inside}: {shown} (bias {difference}, {100 * bias.confidence_level:g} % interval "
        f"{low} to {high})."
    )


def _is_above_zero(found: SelectionBias | TuningOptimism) -> bool:
    """Whether what a result measures is above 0 by an interval of 95 % or more."""
    level = max(found.confidence_level, 1 - LARGEST_LEVEL)
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
        if _is_above_zero(found):
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
