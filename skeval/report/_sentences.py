"""What the parts of an evaluation found, in sentences; `_verdict` has the first ones."""

from __future__ import annotations

import numpy as np

from skeval.feature_selection import SelectionBias, SelectionStability
from skeval.model_selection import PermutationTest, PerturbationInterval, TuningOptimism

__all__ = ["write_permutation", "write_perturbation", "write_selection", "write_tuning"]


def write_permutation(test: PermutationTest) -> str:
    """Say what the permutation test found."""
    return (
        f"P = {test.pvalue:.4g}: of {test.n_permutations} runs of the whole procedure on shuffled "
        f"labels, {test.n_exceedances} did as well as on the true ones."
    )


def write_selection(bias: SelectionBias, stability: SelectionStability | None) -> list[str]:
    """Say what selection outside the loop would have claimed, and how stable the selection is."""
    claimed = (
        f"Selecting features outside the loop would have claimed {bias.cv1_error:.4f} instead of "
        f"{bias.cv2_error:.4f} (bias {bias.bias:.4f}, interval [{bias.low:.4f}, {bias.high:.4f}])."
    )
    if stability is None:
        return [
            claimed,
            "How stable the selection is cannot be told: the folds choose from different features, "
            "which the steps before the selector give no names (get_feature_names_out).",
        ]
    always = int(np.sum(stability.frequency == 1))
    return [
        claimed,
        f"Of the features selected in any of {stability.n_rounds} folds "
        f"({np.count_nonzero(stability.frequency)}), {always} were selected in all; stability "
        f"{stability.value:.2f}, 1 is best.",
    ]


def write_tuning(found: TuningOptimism) -> str:
    """Say by how much the best score of the searches is too good."""
    low, high = found.interval.low, found.interval.high
    shown = "it is not shown to be too good"
    if low > 0:
        shown = "it is too good, as the best of many is"
    return (
        f"The best score of a search for hyperparameters is {found.inner_score:.4f} on average, "
        f"that of its model on samples left out {found.nested_score:.4f}: {shown} (difference "
        f"{found.optimism:.4f}, {100 * found.confidence_level:g} % interval {low:.4f} to "
        f"{high:.4f}). The errors here are those of tuned models on samples left out."
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
