"""Methods of `error_interval` that draw the data again: bootstraps and perturbation."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.random import SeedSequence

from skeval._inference.procedure_intervals import resampled_plus
from skeval._resampling.outputs import FitOutput
from skeval._resampling.procedure import Procedure
from skeval._resampling.schemes import BootstrapScheme, bootstrap_scheme, child_seed, fold_scheme
from skeval._resampling.units import check_class_sizes
from skeval._resampling.weights import check_takes_weights
from skeval.model_selection._bootstrap import bootstrap_estimates
from skeval.model_selection._interval_parts import (
    Method,
    Outcome,
    Run,
    Settings,
    check_enough,
    find,
    student_of_groups,
    untested_losses,
)
from skeval.model_selection._perturbation import perturb
from skeval.utils._checks import check_count

__all__ = ["BOOTSTRAP_METHODS"]


def groups_of(p: Procedure) -> np.ndarray | None:
    """Return the groups by their numbers; None where samples are independent."""
    return None if p.cases.n_groups is None else p.cases.unit


def run_bootstrap(method: str) -> Run:
    """Return what runs one of the estimates of `bootstrap_error`."""

    def run(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
        n_resamples = check_count("n_resamples", settings["n_resamples"], 2)
        (loss,) = p.losses
        task = p.task.under(loss=loss, target=replace(p.target, groups=groups_of(p)))
        estimates = bootstrap_estimates(task, n_resamples=n_resamples, random_state=root)
        found = estimates[method]
        estimate = found.error, found.standard_error, found.replicates, untested_losses(p)
        finding = find(loss, *estimate, degrees_of_freedom=student_of_groups(p))
        return Outcome([finding], n_resamples + 1, found.n_failed)

    return run


class Resampled(NamedTuple):
    """What the resamples of a sample say.

    Attributes
    ----------
    plus, apparent : float
        The .632+ estimate, and the resubstitution error.
    in_bag : ndarray of shape (n_resamples,)
        Error of the rule of each resample on that resample; nan where the fit failed.
    """

    plus: float
    apparent: float
    in_bag: np.ndarray


def read_sample(
    p: Procedure, scheme: BootstrapScheme, number: int, answers: list[FitOutput | None]
) -> Resampled:
    """Return what the fits of a sample and of its resamples say, nan where they failed."""
    (loss,), resampler = p.losses, scheme.resampler
    if answers[0] is None or answers[1:].count(None) == len(answers) - 1:
        return Resampled(np.nan, np.nan, np.full(len(answers) - 1, np.nan))
    sample = resampler.sample(number)
    losses = np.full((len(answers), len(sample.rows)), np.nan)
    for fit, answer in enumerate(answers):
        if answer is not None:
            of_row = np.zeros(len(p.target))
            of_row[answer.rows] = p.loss_values(loss, answer.rows, answer.predicted)
            losses[fit] = of_row[sample.rows]
    (predicted,) = answers[0].expand(0)
    counts = np.stack([resampler.counts(number, b, sample) for b in range(len(answers) - 1)])
    truth, answered = p.target.y[sample.rows], p.target.decode(predicted[sample.rows])
    pairs = None if loss.name == "zero_one" else loss
    plus, apparent = resampled_plus(truth, answered, losses, counts == 0, pairs)
    in_bag = np.sum(counts * losses[1:], axis=1) / counts.sum(axis=1)
    return Resampled(plus, apparent, in_bag)


def read_samples(
    p: Procedure, n_resamples: list[int], root: SeedSequence
) -> tuple[list[Resampled], int, int]:
    """Fit samples and their resamples; return what each says, and the fits done and failed."""
    codes = None if p.target.classes is None else p.target.codes
    check_class_sizes(p.target.classes, codes)
    scheme = bootstrap_scheme(p.cases, p.target, n_resamples, root)
    answers, found, n_failed = p.answers(scheme), [], 0
    for number, n in enumerate(n_resamples):
        part = list(islice(answers, 1 + n))
        n_failed += part.count(None)
        found.append(read_sample(p, scheme, number, part))
    for _ in answers:  # nothing is left, but at its end the generator warns of failed fits
        pass
    check_enough(p, np.array([found[0].plus]), 1)
    return found, scheme.plan.n_fits, n_failed


def run_location_shifted(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
    """Shift the in-bag errors by what the resubstitution error lacks."""
    n_resamples = check_count("n_resamples", settings["n_resamples"], 2)
    ((plus, apparent, in_bag),), *fits = read_samples(p, [n_resamples], root)
    draws = in_bag + (plus - apparent)
    (loss,) = p.losses
    return Outcome([find(loss, plus, spread_of(draws), draws, untested_losses(p))], *fits)


def run_two_stage(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
    """Estimate again in resamples of the data, by resamples of them."""
    n_resamples = check_count("n_resamples", settings["n_resamples"], 2)
    n_inner = check_count("n_inner_resamples", settings["n_inner_resamples"])
    found, *fits = read_samples(p, [n_resamples] + [n_inner] * n_resamples, root)
    draws = np.array([each.plus for each in found[1:]])
    check_enough(p, draws, 2)
    (loss,) = p.losses
    return Outcome([find(loss, found[0].plus, spread_of(draws), draws, untested_losses(p))], *fits)


def spread_of(draws: np.ndarray) -> float:
    """Return the standard deviation of the draws that are defined, 0 for a single one."""
    defined = draws[np.isfinite(draws)]
    return float(np.std(defined, ddof=1)) if len(defined) > 1 else 0.0


def run_perturbation(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
    """Cross-validate again under random weights of the samples, or of whole groups."""
    n_resamples = check_count("n_resamples", settings["n_resamples"], 2)
    n_folds = settings["n_folds"]
    if p.task.error_score != "raise":
        raise ValueError(
            f"error_score must be 'raise' for method='perturbation', got {p.task.error_score!r}."
        )
    scheme = fold_scheme(p.cases, n_folds, 1, child_seed(root, 0))
    blocks = [scheme.plan.draw(fold) for fold in range(n_folds)]
    folds = [(np.flatnonzero(b.train[0]), np.flatnonzero(b.test[0])) for b in blocks]
    weights = None
    if p.cases.n_groups is not None:
        rng = np.random.default_rng(child_seed(root, 1))
        weights = rng.exponential(size=(n_resamples, p.cases.n_units))[:, p.cases.unit]
    (loss,) = p.losses
    check_takes_weights(p.estimator)
    _, draws_root = child_seed(root, 2).spawn(2)
    task = p.task.under(loss=loss)
    found = perturb(task, folds, draws_root, n_resamples=n_resamples, weights=weights)
    draws = found.error + found.statistics / np.sqrt(found.n_samples)
    finding = find(loss, found.error, found.standard_error, draws, untested_losses(p))
    return Outcome([finding], 1 + n_folds + n_resamples * n_folds)


RESAMPLES: Settings = {"n_resamples": 200}
BOOTSTRAP_METHODS: dict[str, Method] = {
    **{
        method: Method(run_bootstrap(method), RESAMPLES, takes_weights=False)
        for method in ("oob", ".632", ".632+")
    },
    "location_shifted_bootstrap": Method(run_location_shifted, RESAMPLES, takes_weights=False),
    "two_stage_bootstrap": Method(
        run_two_stage, {**RESAMPLES, "n_inner_resamples": 10}, takes_weights=False
    ),
    "perturbation": Method(run_perturbation, {**RESAMPLES, "n_folds": 10}),
}
