"""Methods of `error_interval` that hold samples out: folds, subsamples, halves, replacements."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import SeedSequence

from skeval._inference.procedure_intervals import (
    NestedFold,
    conservative_z,
    corrected_t,
    five_by_two,
    nested_errors,
    nested_interval,
    replace_one,
    within_fold_error,
)
from skeval._inference.tested import (
    Tested,
    concatenate_tested,
    mean_loss,
    variance_of_mean,
)
from skeval._resampling.outputs import FitOutput
from skeval._resampling.procedure import Procedure
from skeval._resampling.schemes import (
    FoldScheme,
    Scheme,
    fold_scheme,
    halves_scheme,
    replacement_scheme,
    subsample_scheme,
)
from skeval._resampling.target import Loss
from skeval.model_selection._interval_parts import (
    Method,
    Outcome,
    Run,
    Settings,
    check_enough,
    completed,
    find,
    loss_moments,
    student_of_groups,
    units_to_test,
    untested_losses,
)
from skeval.model_selection._interval_repeats import outcome_of_repeats, repeated_scheme
from skeval.utils._checks import check_count

__all__ = [
    "BY_MEANS",
    "FOLD_METHODS",
    "MeansRule",
]


def run_holdout(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
    """Hold a part out once."""
    n_test = units_to_test(p, settings["test_size"], least=2)
    (answer,) = completed(list(p.answers(subsample_scheme(p.cases, n_test, 1, root))))
    findings = []
    for loss in p.losses:
        tested = p.tested(loss, answer.rows, answer.predicted)
        found = find(
            loss,
            mean_loss(tested),
            np.sqrt(variance_of_mean(tested)),
            tested.losses,
            tested,
            degrees_of_freedom=student_of_groups(p, n_test),
            variance=float(np.var(tested.losses, ddof=1)),
            binomial=False,
        )
        findings.append(found)
    return Outcome(findings, 1)


def run_cv_wald(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
    """Cross-validate once, and take the losses for independent."""
    n_folds, within = settings["n_folds"], settings["variance"] == "within_folds"
    answers = list(p.answers(fold_scheme(p.cases, n_folds, 1, root)))
    findings = []
    for loss in p.losses:
        folds = [p.tested(loss, answer.rows, answer.predicted) for answer in completed(answers)]
        pooled = concatenate_tested(folds)
        spread, n = float(np.var(pooled.losses)), len(pooled.losses)
        error = within_fold_error(folds) if within else np.sqrt(variance_of_mean(pooled))
        if not within and pooled.unit is None:
            error *= np.sqrt(1 - 1 / n)  # the definition divides by n
        means = np.array([mean_loss(fold) for fold in folds])
        estimate, df = (mean_loss(pooled), float(error)), student_of_groups(p)
        found = find(loss, *estimate, means, pooled, variance=spread, degrees_of_freedom=df)
        findings.append(found)
    return Outcome(findings, n_folds, answers.count(None))


class MeansRule(NamedTuple):
    """A method that needs no more than a number for each fit: the mean loss, or any score.

    Attributes
    ----------
    scheme : Scheme
    estimate : callable
        Makes an estimate, its standard error and the replicates of numbers of shape (n_fits,).
    degrees_of_freedom : float
    tested_share : float
        Share of the samples that the estimate is a mean over.
    """

    scheme: Scheme
    estimate: Callable[[np.ndarray], tuple[float, float, np.ndarray]]
    degrees_of_freedom: float
    tested_share: float = 1.0


def corrected_t_rule(p: Procedure, root: SeedSequence, settings: Settings) -> MeansRule:
    """Subsample, with the variance corrected for the overlap of training sets."""
    n_repeats = check_count("n_repeats", settings["n_repeats"], 2)
    n_test = units_to_test(p, settings["test_size"])
    ratio = n_test / (p.cases.n_units - n_test)

    def estimate(values: np.ndarray) -> tuple[float, float, np.ndarray]:
        check_enough(p, values, 2)
        return *corrected_t(values[np.isfinite(values)], ratio), values

    scheme = subsample_scheme(p.cases, n_test, n_repeats, root)
    return MeansRule(scheme, estimate, n_repeats - 1.0)


def conservative_z_rule(p: Procedure, root: SeedSequence, settings: Settings) -> MeansRule:
    """Subsample, with the variance of what halves of the data find."""
    n_repeats = check_count("n_repeats", settings["n_repeats"])
    n_pairs = check_count("n_pairs", settings["n_pairs"])
    n_test = units_to_test(p, settings["test_size"])
    if p.cases.n_units // 2 - n_test < 2:
        raise ValueError(
            f"test_size must leave at least 2 of a half of {p.cases.n_units} {p.cases.name} for "
            f"training in method='conservative_z', got {settings['test_size']!r}."
        )

    def estimate(values: np.ndarray) -> tuple[float, float, np.ndarray]:
        whole, halves = values[:n_repeats], values[n_repeats:].reshape(n_pairs, 2, n_repeats)
        check_enough(p, whole, 1)
        check_enough(p, np.where(np.isfinite(halves).any(axis=2).all(axis=1), 1, np.nan), 1)
        return *conservative_z(whole, halves), whole

    return MeansRule(halves_scheme(p.cases, n_test, n_repeats, n_pairs, root), estimate, np.inf)


def five_by_two_rule(p: Procedure, root: SeedSequence, settings: Settings) -> MeansRule:
    """Halve five times."""
    if p.cases.n_units < 4:
        raise ValueError(
            "X must hold at least 4 samples or groups for method='five_by_two', got "
            f"{p.cases.n_units}."
        )

    def estimate(values: np.ndarray) -> tuple[float, float, np.ndarray]:
        check_enough(p, values[:1], 1)
        check_enough(p, values.reshape(5, 2).sum(axis=1), 1)
        return *five_by_two(values.reshape(5, 2)), values

    return MeansRule(fold_scheme(p.cases, 2, 5, root), estimate, 5.0, 0.5)


def run_means(rule_of: Callable[[Procedure, SeedSequence, Settings], MeansRule]) -> Run:
    """Return what runs a method on the mean losses of its fits."""

    def run(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
        rule = rule_of(p, root, settings)
        findings, moments = [], loss_moments(p, rule.scheme)
        for loss, (means, squares) in zip(p.losses, np.moveaxis(moments, 2, 1), strict=True):
            stand_in = untested_losses(p, rule.tested_share)
            spread = max(0.0, float(np.nanmean(squares) - np.nanmean(means) ** 2))
            df, estimate = rule.degrees_of_freedom, rule.estimate(means)
            found = find(loss, *estimate, stand_in, variance=spread, degrees_of_freedom=df)
            findings.append(found)
        n_failed = int(np.isnan(moments[0, :, 0]).sum())
        return Outcome(findings, rule.scheme.plan.n_fits, n_failed)

    return run


def nested_folds(
    p: Procedure, scheme: FoldScheme, answers: list[FitOutput | None], loss: Loss
) -> list[NestedFold]:
    """Return each fold with the losses within; without those of which a fit failed."""
    found, per_repeat = [], len(scheme.left_out)
    for repeat, folds in enumerate(scheme.folds):
        outer: dict[int, Tested] = {}
        inner: dict[int, list[Tested]] = {}
        fits = answers[repeat * per_repeat : (repeat + 1) * per_repeat]
        for left_out, answer in zip(scheme.left_out, fits, strict=True):
            if answer is None:
                continue
            if len(left_out) == 1:
                outer[left_out[0]] = p.tested(loss, answer.rows, answer.predicted)
                continue
            fold = folds[p.cases.unit[answer.rows]]
            for k, within in (left_out, left_out[::-1]):
                kept = answer.rows[fold == within], answer.predicted[fold == within]
                inner.setdefault(k, []).append(p.tested(loss, *kept))
        pairs = [(outer[k], inner[k]) for k in outer if k in inner]
        found += [NestedFold(out, concatenate_tested(parts)) for out, parts in pairs]
    if not found:
        raise ValueError("error_score=numpy.nan leaves no fold with another within it.")
    return found


def run_nested_cv(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
    """Cross-validate within folds, to see how far a cross-validation is from its target."""
    n_folds = settings["n_folds"]
    n_repeats = check_count("n_repeats", settings["n_repeats"])
    scheme = fold_scheme(p.cases, n_folds, n_repeats, root, nested=True)
    answers = list(p.answers(scheme))
    findings = []
    for loss in p.losses:
        folds = nested_folds(p, scheme, answers, loss)
        found = nested_errors(folds, n_folds, len(p.target))
        spread = float(np.var(np.concatenate([fold.outer.losses for fold in folds])))
        means = np.array([mean_loss(fold.outer) for fold in folds])
        estimate, df = (*nested_interval(found, n_folds), means), student_of_groups(p)
        stand_in = untested_losses(p)
        findings.append(find(loss, *estimate, stand_in, variance=spread, degrees_of_freedom=df))
    return Outcome(findings, scheme.plan.n_fits, answers.count(None))


def run_repeated_cv(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
    """Average repeated cross-validations, on the variance of one inflated."""
    scheme = repeated_scheme(p, root, settings)
    return outcome_of_repeats(p, scheme, list(p.answers(scheme)))


def run_replace_one_cv(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
    """Cross-validate half of the data, and again with each of its cases replaced."""
    n_folds = settings["n_folds"]
    scheme = replacement_scheme(p.cases, n_folds, root)
    sums = np.full((len(p.losses), scheme.n_half + 2, n_folds, 3), np.nan)
    for fit, answer in enumerate(p.answers(scheme)):
        if answer is None:
            continue
        for number, loss in enumerate(p.losses):
            losses, weight, _ = p.tested(loss, answer.rows, answer.predicted)
            weight = np.ones(len(losses)) if weight is None else weight
            at = number, *divmod(fit, n_folds)
            sums[at] = weight.sum(), weight @ losses, weight @ losses**2
    findings = []
    for loss, sums_of_loss in zip(p.losses, sums, strict=True):
        weights, totals, squares = np.moveaxis(sums_of_loss.sum(axis=1), 1, 0)
        means = totals / weights
        check_enough(p, means[:2], 2)
        check_enough(p, means[2:], 1)
        found = replace_one(means[0], means[1], means[2:], p.cases.n_units)
        spread = max(0.0, squares[0] / weights[0] - means[0] ** 2)
        findings.append(find(loss, *found, means[2:], untested_losses(p), variance=spread))
    return Outcome(findings, scheme.plan.n_fits, int(np.isnan(sums[0, ..., 0]).sum()))


BY_MEANS = {
    "corrected_t": corrected_t_rule,
    "conservative_z": conservative_z_rule,
    "five_by_two": five_by_two_rule,
}
FOLD_METHODS: dict[str, Method] = {
    "holdout": Method(run_holdout, {"test_size": 1 / 3}),
    "cv_wald": Method(run_cv_wald, {"n_folds": 10, "variance": "all_pairs"}),
    "corrected_t": Method(run_means(corrected_t_rule), {"n_repeats": 50, "test_size": 0.1}),
    "conservative_z": Method(
        run_means(conservative_z_rule), {"n_repeats": 15, "n_pairs": 10, "test_size": 0.1}
    ),
    "nested_cv": Method(run_nested_cv, {"n_folds": 5, "n_repeats": 10}),
    "five_by_two": Method(run_means(five_by_two_rule), {}),
    "replace_one_cv": Method(run_replace_one_cv, {"n_folds": 5}),
    "repeated_cv": Method(run_repeated_cv, {"n_folds": 10, "n_repeats": 10}),
}
