"""Repeated cross-validation: its folds, and what their answers say of the error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import SeedSequence

from skeval._inference.finding import Finding
from skeval._inference.procedure_intervals import INFLATION
from skeval._inference.tested import (
    Tested,
    concatenate_tested,
    mean_loss,
    n_units,
    variance_of_mean,
)
from skeval._resampling.loss import Loss
from skeval._resampling.outputs import FitOutput
from skeval._resampling.procedure import Procedure
from skeval._resampling.schemes import FoldScheme, fold_scheme
from skeval.model_selection._interval_parts import Outcome, Settings, find, untested_losses
from skeval.utils._checks import check_count

__all__ = ["find_repeated", "outcome_of_repeats", "repeated_scheme"]


def repeated_scheme(p: Procedure, root: SeedSequence, settings: Settings) -> FoldScheme:
    """Return the folds of repeated cross-validation."""
    n_folds = settings["n_folds"]
    n_repeats = check_count("n_repeats", settings["n_repeats"])
    if n_folds == p.cases.n_units:
        n_repeats = 1  # one unit can be left out of all in one way: repeats would be the same
    return fold_scheme(p.cases, n_folds, n_repeats, root)


def outcome_of_repeats(
    p: Procedure, scheme: FoldScheme, answers: list[FitOutput | None]
) -> Outcome:
    """Return what the answers of repeated cross-validations say of each loss."""
    n_folds, findings = len(scheme.left_out), []
    for loss in p.losses:
        tested: list[list[Tested]] = [[] for _ in scheme.folds]
        for fit, answer in enumerate(answers):
            if answer is not None:
                tested[fit // n_folds].append(p.tested(loss, answer.rows, answer.predicted))
        repeats = [concatenate_tested(parts) for parts in tested if parts]
        findings.append(find_repeated(loss, repeats, untested_losses(p)))
    return Outcome(findings, scheme.plan.n_fits, answers.count(None))


def find_repeated(loss: Loss, repeats: Sequence[Tested], stand_in: Tested) -> Finding:
    """Return the mean of cross-validations, with the variance of one of them inflated.

    `repeats` are the losses of each of them; `stand_in` has the weights and units of all samples.
    """
    errors = np.array([mean_loss(tested) for tested in repeats])
    everything, n = concatenate_tested(repeats), len(stand_in.losses)
    error, spread = mean_loss(everything), float(np.var(everything.losses))
    student = np.inf if stand_in.unit is None else n_units(stand_in) - 1.0
    plain = stand_in.unit is None and stand_in.weight is None
    naive = float(np.mean([variance_of_mean(tested) for tested in repeats]))
    if plain and loss.name == "zero_one":
        naive = spread / n  # of the mean error rate itself: that of n / f samples
    elif plain:
        spread = naive * n
    if loss.name != "zero_one" and np.isinf(student):
        student = max(1.0, n / INFLATION - 1)
    estimate = error, float(np.sqrt(INFLATION * naive)), errors, stand_in
    return find(loss, *estimate, variance=spread, degrees_of_freedom=student, inflation=INFLATION)
