"""The methods of `error_interval`: which fits each asks for, and what it makes of their losses.

First what they share, then those that hold samples out (folds, subsamples, halves, replacements),
then repeated cross-validation, then those that draw the data again (bootstraps, perturbation).

The folds that a user gives decide. A splitter that shuffles is drawn anew for each repeat; what
draws at random and repeats by itself (``RepeatedStratifiedKFold``, ``ShuffleSplit``) is taken as it
is; in both cases samples are the units, or the groups where there are any. All other folds are
taken as they are, too, but samples that they never part may belong together: without groups they
are one unit. So a list of five folds has five units, and the interval is that of five.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence

from skeval._inference.errors import (
    Dealt,
    NestedFold,
    TestLosses,
    concatenate_tested,
    conservative_z,
    corrected_t,
    degrees_of_mean,
    explain_no_interval,
    five_by_two,
    fixed_inflation,
    inflation_of,
    is_too_wide,
    mean_loss,
    nested_errors,
    nested_interval,
    replace_one,
    shared_variance,
    spread_of_mean,
    within_fold_error,
)
from skeval._inference.estimate import CAUTION
from skeval._inference.intervals import Finding
from skeval._resampling.fit_loop import fit_each
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_params import check_takes_weights
from skeval._resampling.fold_plans import (
    deal_folds,
    given_folds,
    list_left_out,
    repeated_folds,
    replacements,
    subsamples,
    subsamples_of_halves,
)
from skeval._resampling.inputs import Inputs
from skeval._resampling.losses import Loss
from skeval._resampling.plans import ResamplingPlan
from skeval._resampling.sampling_units import SamplingUnits, UnitKind, number_by_appearance
from skeval._resampling.splitters import (
    KeptFolds,
    deals_at_random,
    default_folds,
    draws_anew,
    keeps_order,
    number_kept_together,
    part_repeats,
    resolve_splitter,
    seed_splitter,
    split_samples,
)
from skeval._resampling.target import TooFewMembersError
from skeval.model_selection import _bootstrap
from skeval.model_selection._estimates import (
    INFLATED,
    Outcome,
    Settings,
    check_enough,
    completed,
    find,
    find_perturbed,
    plan_leave_one_out,
    run_cross_validation,
    run_leave_one_out,
    run_resubstitution,
    untested_losses,
)
from skeval.utils._checks import check_count, check_option, child_seed

VARIANCES = ("all_pairs", "within_folds")
UNBOUNDED = ("squared", "absolute")
"""Losses whose interval may be too wide to be of use."""


Run = Callable[[Inputs, SeedSequence, Settings], Outcome]


@dataclass(frozen=True)
class ErrorMethod:
    """A way to estimate an error with its interval: a row of `ERROR_METHODS`.

    Attributes
    ----------
    run : callable
        Makes the fits, and finds the error of each loss; the guide shows its docstring.
    defaults : dict
        The parameters that it takes.
    takes_weights : bool
        Whether samples may have weights.
    form : str
        The form of the interval by default; empty for that which suits the loss best.
    holds_out : bool
        Whether it needs no more than losses of samples held out, which some scores have, too.
    means : callable or None
        Returns its `MeansRule` where a number for each fit is enough: it serves any score.
    meaning : str
        What reports say of it.
    part : str
        The name by which `evaluate` includes it, which methods of the same fits share; empty where
        `evaluate` does not list it.
    plan : callable or None
        Returns the fits of its part, for what they cost; None where it is one.
    listed : callable or None
        Returns what all methods of its part find, by method, for `evaluate`; None where that is
        what `run` finds.
    """

    run: Run
    defaults: Settings
    takes_weights: bool = True
    form: str = ""
    holds_out: bool = True
    means: Callable[[Inputs, SeedSequence, Settings], MeansRule] | None = None
    meaning: str = ""
    part: str = ""
    plan: Callable[[Inputs, SeedSequence, Settings], ResamplingPlan] | None = None
    listed: Callable[[Inputs, SeedSequence, Settings], dict[str, Outcome]] | None = None


def units_to_test(inputs: Inputs, test_size: Any, least: int = 1) -> int:
    """Return how many units a test set holds.

    A training set of at least 2 is left.
    """
    n = inputs.units.n_units
    if isinstance(test_size, bool) or not isinstance(test_size, Real):
        raise ValueError(f"test_size must be a share or a number of samples, got {test_size!r}.")
    if isinstance(test_size, Integral):
        n_test = int(test_size)
    elif 0 < float(test_size) < 1:
        n_test = max(least, math.ceil(float(test_size) * n - 1e-9))
    else:
        raise ValueError(f"test_size must be a share between 0 and 1, got {test_size!r}.")
    if not least <= n_test <= n - 2:
        raise TooFewMembersError(
            f"test_size must leave at least 2 of {n} {inputs.units.kind.label} for training and "
            f"{least} for testing in method={inputs.method!r}, got {test_size!r}."
        )
    return n_test


def resolve_settings(inputs: Inputs, method: ErrorMethod, given: Settings) -> Settings:
    """Return the parameters of a method: those given, and defaults that suit the data."""
    foreign = [name for name in given if name not in method.defaults]
    if foreign:
        takes = " and ".join(method.defaults) or "no parameters"
        raise ValueError(
            f"{foreign[0]} is no parameter of method={inputs.method!r}, which takes {takes}; "
            f"got {given[foreign[0]]!r}."
        )
    settings = method.defaults | given
    if "variance" in settings:
        check_option("variance", settings["variance"], VARIANCES)
    if "n_folds" in settings:
        settings["n_folds"] = check_folds(inputs, settings, "n_folds" in given)
    return settings


def check_folds(inputs: Inputs, settings: Settings, given: bool) -> int:
    """Return the number of folds; the default is lowered to what the units and classes allow.

    Nested folds are three at least, and of two units at least; so are those within which a
    variance is taken, and those of a half.
    """
    nested = inputs.method == "nested_cv"
    paired = (
        nested or inputs.method == "replace_one_cv" or settings.get("variance") == "within_folds"
    )
    n, n_folds, least = inputs.units.n_units, settings["n_folds"], 3 if nested else 2
    most = n // 2 if paired else n
    where = f"method={inputs.method!r} with {n} {inputs.units.kind.label}"
    if most < least:
        raise ValueError(f"X must hold at least {2 * least} samples or groups for {where}.")
    if not given:
        of_classes = default_folds(inputs.target, inputs.units.unit)
        return min(n_folds, most, max(least, of_classes))
    if isinstance(n_folds, bool) or not isinstance(n_folds, Integral):
        raise ValueError(f"n_folds must be an integer, got {n_folds!r}.")
    if not least <= int(n_folds) <= most:
        raise ValueError(f"n_folds must be from {least} to {most} for {where}, got {n_folds}.")
    return int(n_folds)


def loss_moments(inputs: Inputs, plan: ResamplingPlan) -> np.ndarray:
    """Return mean and mean square of the losses of each fit, shape (n_losses, n_fits, 2).

    They are nan where the fit failed.
    """
    moments = np.full((len(inputs.losses), plan.n_fits, 2), np.nan)
    for fit, answer in enumerate(fit_each(inputs, plan)):
        if answer is None:
            continue
        for number, loss in enumerate(inputs.losses):
            losses, weight, _ = inputs.tested(loss, answer)
            powers = np.stack([losses, losses**2])
            moments[number, fit] = np.average(powers, axis=1, weights=weight)
    return moments


def run_holdout(inputs: Inputs, root: SeedSequence, settings: Settings) -> Outcome:
    """Hold a part out once: 1 fit."""
    n_test = units_to_test(inputs, settings["test_size"], least=2)
    (answer,) = completed(list(fit_each(inputs, subsamples(inputs.units, n_test, 1, root))))
    findings = []
    for loss in inputs.losses:
        tested = inputs.tested(loss, answer)
        spread = spread_of_mean(tested)
        found = find(
            loss,
            mean_loss(tested),
            spread.error,
            tested.losses,
            tested,
            degrees_of_freedom=spread.degrees_of_freedom,
            variance=float(np.var(tested.losses, ddof=1)),
            binomial=False,
        )
        findings.append(found)
    n_groups = None if inputs.units.n_groups is None else n_test
    return Outcome(findings, 1, n_tested=len(answer.rows), n_groups=n_groups)


def run_cv_wald(inputs: Inputs, root: SeedSequence, settings: Settings) -> Outcome:
    """Cross-validate once, and take the losses for independent: K fits."""
    n_folds, within = settings["n_folds"], settings["variance"] == "within_folds"
    answers = list(fit_each(inputs, repeated_folds(inputs.units, n_folds, 1, root)))
    findings = []
    for loss in inputs.losses:
        folds = [inputs.tested(loss, answer) for answer in completed(answers)]
        pooled = concatenate_tested(folds)
        spread, n = float(np.var(pooled.losses)), len(pooled.losses)
        whole = spread_of_mean(pooled)
        error = within_fold_error(folds) if within else whole.error
        if not within and pooled.unit is None:
            error *= np.sqrt(1 - 1 / n)  # the definition divides by n
        means = np.array([mean_loss(fold) for fold in folds])
        estimate, df = (mean_loss(pooled), float(error)), whole.degrees_of_freedom
        found = find(loss, *estimate, means, pooled, variance=spread, degrees_of_freedom=df)
        findings.append(found)
    return Outcome(findings, n_folds, answers.count(None))


class MeansRule(NamedTuple):
    """A method that needs no more than a number for each fit: the mean loss, or any score.

    Attributes
    ----------
    plan : ResamplingPlan
    estimate : callable
        Makes an estimate, its standard error and the replicates of numbers of shape (n_fits,).
    degrees_of_freedom : float
    tested_share : float
        Share of the samples that the estimate is a mean over.
    """

    plan: ResamplingPlan
    estimate: Callable[[np.ndarray], tuple[float, float, np.ndarray]]
    degrees_of_freedom: float
    tested_share: float = 1.0


def corrected_t_rule(inputs: Inputs, root: SeedSequence, settings: Settings) -> MeansRule:
    """Subsample, with the variance corrected for the overlap of training sets: J fits."""
    n_repeats = check_count("n_repeats", settings["n_repeats"], 2)
    n_test = units_to_test(inputs, settings["test_size"])
    plan = subsamples(inputs.units, n_test, n_repeats, root)
    return corrected_rule(inputs, plan, n_test / (inputs.units.n_units - n_test))


def repeated_rule(inputs: Inputs, root: SeedSequence, settings: Settings) -> MeansRule:
    """Take the test sets of repeated cross-validation for random subsamples: R K fits."""
    plan = plan_repeats(inputs, root, settings)
    return corrected_rule(inputs, plan, 1 / (settings["n_folds"] - 1))


def corrected_rule(inputs: Inputs, plan: ResamplingPlan, ratio: float) -> MeansRule:
    """Return the rule of the corrected t for test sets of this size over the training sets'."""

    def estimate(values: np.ndarray) -> tuple[float, float, np.ndarray]:
        check_enough(inputs, values, 2)
        return *corrected_t(values[np.isfinite(values)], ratio), values

    return MeansRule(plan, estimate, plan.n_fits - 1.0)


def conservative_z_rule(inputs: Inputs, root: SeedSequence, settings: Settings) -> MeansRule:
    """Subsample, with the variance of what halves of the data find: (2 M + 1) J fits."""
    n_repeats = check_count("n_repeats", settings["n_repeats"])
    n_pairs = check_count("n_pairs", settings["n_pairs"])
    n_test = units_to_test(inputs, settings["test_size"])
    if inputs.units.n_units // 2 - n_test < 2:
        raise ValueError(
            f"test_size must leave at least 2 of a half of {inputs.units.n_units} "
            f"{inputs.units.kind.label} for training in method='conservative_z', got "
            f"{settings['test_size']!r}."
        )

    def estimate(values: np.ndarray) -> tuple[float, float, np.ndarray]:
        whole, halves = values[:n_repeats], values[n_repeats:].reshape(n_pairs, 2, n_repeats)
        check_enough(inputs, whole, 1)
        check_enough(inputs, np.where(np.isfinite(halves).any(axis=2).all(axis=1), 1, np.nan), 1)
        return *conservative_z(whole, halves), whole

    return MeansRule(
        subsamples_of_halves(inputs.units, n_test, n_repeats, n_pairs, root), estimate, np.inf
    )


def five_by_two_rule(inputs: Inputs, root: SeedSequence, settings: Settings) -> MeansRule:
    """Halve five times: 10 fits."""
    if inputs.units.n_units < 4:
        raise ValueError(
            "X must hold at least 4 samples or groups for method='five_by_two', got "
            f"{inputs.units.n_units}."
        )

    def estimate(values: np.ndarray) -> tuple[float, float, np.ndarray]:
        check_enough(inputs, values[:1], 1)
        check_enough(inputs, values.reshape(5, 2).sum(axis=1), 1)
        return *five_by_two(values.reshape(5, 2)), values

    return MeansRule(repeated_folds(inputs.units, 2, 5, root), estimate, 5.0, 0.5)


def of_means(
    rule_of: Callable[[Inputs, SeedSequence, Settings], MeansRule], defaults: Settings
) -> ErrorMethod:
    """Return a method that takes the mean losses of its fits."""

    def run(inputs: Inputs, root: SeedSequence, settings: Settings) -> Outcome:
        rule = rule_of(inputs, root, settings)
        findings, moments = [], loss_moments(inputs, rule.plan)
        for loss, (means, squares) in zip(inputs.losses, np.moveaxis(moments, 2, 1), strict=True):
            stand_in = untested_losses(inputs, rule.tested_share)
            spread = max(0.0, float(np.nanmean(squares) - np.nanmean(means) ** 2))
            df, estimate = rule.degrees_of_freedom, rule.estimate(means)
            found = find(loss, *estimate, stand_in, variance=spread, degrees_of_freedom=df)
            findings.append(found)
        n_failed = int(np.isnan(moments[0, :, 0]).sum())
        return Outcome(findings, rule.plan.n_fits, n_failed)

    run.__doc__ = rule_of.__doc__
    return ErrorMethod(run, defaults, means=rule_of)


def nested_losses(
    inputs: Inputs,
    folds_of_units: np.ndarray,
    left_out_by_fit: list[tuple[int, ...]],
    answers: list[FitOutput | None],
    loss: Loss,
) -> list[NestedFold]:
    """Return each fold with the losses within; without those of which a fit failed."""
    found, per_repeat = [], len(left_out_by_fit)
    for repeat, folds in enumerate(folds_of_units):
        outer: dict[int, TestLosses] = {}
        inner: dict[int, list[TestLosses]] = {}
        fits = answers[repeat * per_repeat : (repeat + 1) * per_repeat]
        for left_out, answer in zip(left_out_by_fit, fits, strict=True):
            if answer is None:
                continue
            tested = inputs.tested(loss, answer)
            if len(left_out) == 1:
                outer[left_out[0]] = tested
                continue
            fold = folds[inputs.units.unit[answer.rows]]
            for k, within in (left_out, left_out[::-1]):
                kept = fold == within
                part = inputs.count(answer.rows[kept], tested.losses[kept])
                inner.setdefault(k, []).append(part)
        pairs = [(outer[k], inner[k]) for k in outer if k in inner]
        found += [NestedFold(out, concatenate_tested(parts)) for out, parts in pairs]
    if not found:
        raise ValueError("error_score=numpy.nan leaves no fold with another within it.")
    return found


def run_nested_cv(inputs: Inputs, root: SeedSequence, settings: Settings) -> Outcome:
    """Cross-validate within folds, to see how far that is from its target: R K (K+1) / 2 fits."""
    n_folds = settings["n_folds"]
    n_repeats = check_count("n_repeats", settings["n_repeats"])
    plan = repeated_folds(inputs.units, n_folds, n_repeats, root, nested=True)
    answers = list(fit_each(inputs, plan))
    folds_of_units = deal_folds(inputs.units, n_folds, n_repeats, root)
    left_out = list_left_out(n_folds, nested=True)
    findings = []
    for loss in inputs.losses:
        folds = nested_losses(inputs, folds_of_units, left_out, answers, loss)
        found = nested_errors(folds, n_folds, len(inputs.target))
        spread = float(np.var(np.concatenate([fold.outer.losses for fold in folds])))
        means = np.array([mean_loss(fold.outer) for fold in folds])
        estimate, n_groups = (*nested_interval(found, n_folds), means), inputs.units.n_groups
        df = np.inf if n_groups is None else n_groups - 1.0
        stand_in = untested_losses(inputs)
        findings.append(find(loss, *estimate, stand_in, variance=spread, degrees_of_freedom=df))
    return Outcome(findings, plan.n_fits, answers.count(None))


def run_repeated_cv(inputs: Inputs, root: SeedSequence, settings: Settings) -> Outcome:
    """Average repeated cross-validations, on the variance of one inflated: R K fits."""
    plan = plan_repeats(inputs, root, settings)
    return outcome_of_repeats(inputs, plan, list(fit_each(inputs, plan)))


def run_replace_one_cv(inputs: Inputs, root: SeedSequence, settings: Settings) -> Outcome:
    """Cross-validate half of the data, with each of its cases replaced: (n/2 + 2) K fits."""
    n_folds = settings["n_folds"]
    plan = replacements(inputs.units, n_folds, root)
    sums = np.full((len(inputs.losses), inputs.units.n_units // 2 + 2, n_folds, 3), np.nan)
    for fit, answer in enumerate(fit_each(inputs, plan)):
        if answer is None:
            continue
        for number, loss in enumerate(inputs.losses):
            losses, weight, _ = inputs.tested(loss, answer)
            weight = np.ones(len(losses)) if weight is None else weight
            at = number, *divmod(fit, n_folds)
            sums[at] = weight.sum(), weight @ losses, weight @ losses**2
    findings = []
    for loss, sums_of_loss in zip(inputs.losses, sums, strict=True):
        weights, totals, squares = np.moveaxis(sums_of_loss.sum(axis=1), 1, 0)
        means = totals / weights
        check_enough(inputs, means[:2], 2)
        check_enough(inputs, means[2:], 1)
        found = replace_one(means[0], means[1], means[2:], inputs.units.n_units)
        spread = max(0.0, squares[0] / weights[0] - means[0] ** 2)
        findings.append(find(loss, *found, means[2:], untested_losses(inputs), variance=spread))
    return Outcome(findings, plan.n_fits, int(np.isnan(sums[0, ..., 0]).sum()))


GIVEN_FOLDS = "given_folds"
"""The method where folds are given that are taken as they are."""


class Design(NamedTuple):
    """Folds, and what is counted under them.

    Attributes
    ----------
    inputs : Inputs
        With the units that are counted, and with the method by its name.
    plan : ResamplingPlan
    settings : dict
        The parameters of the method.
    splits : list of (train, test) or None
        The folds of the first repeat, where they were given.
    ordered : bool
        Whether the folds keep the order of the samples, which are then counted by blocks of time.
    """

    inputs: Inputs
    plan: ResamplingPlan
    settings: Settings
    splits: KeptFolds | None
    ordered: bool = False


def plan_repeats(inputs: Inputs, root: SeedSequence, settings: Settings) -> ResamplingPlan:
    """Return the folds of repeated cross-validation."""
    n_folds = settings["n_folds"]
    n_repeats = check_count("n_repeats", settings["n_repeats"])
    if n_folds == inputs.units.n_units:
        n_repeats = 1  # one unit can be left out of all in one way: repeats would be the same
    return repeated_folds(inputs.units, n_folds, n_repeats, root)


def read_design(inputs: Inputs, cv: Any, root: SeedSequence, settings: Settings) -> Design:
    """Return the design that a splitter or an iterable of (train, test) means."""
    n, groups = len(inputs.target), inputs.groups
    splitter = resolve_splitter(cv, inputs.target, groups, root)
    draws: dict[frozenset[bytes], KeptFolds] = {}
    for draw in range(settings["n_repeats"] if draws_anew(splitter) else 1):
        seeded = seed_splitter(splitter, root, draw)
        drawn = KeptFolds(n, split_samples(seeded, inputs.X, inputs.target, groups))
        # a fold for each group can be made in one way: repeats would look like evidence
        draws.setdefault(frozenset(np.sort(test).tobytes() for test in drawn.tests), drawn)
    splits = KeptFolds.join(draws.values())
    tests = splits.tests
    repeats = part_repeats(tests, n)
    n_repeats = 1 if repeats is None else len(repeats)
    plan, first = given_folds(n, splits, n_repeats), next(iter(draws.values()))
    ordered = inputs.units.n_groups is None and keeps_order(splitter, first)
    at_random = ordered or deals_at_random(splitter)
    return Design(
        replace(
            inputs,
            method=inputs.method if draws_anew(splitter) else GIVEN_FOLDS,
            counted=count_units(inputs, tests, repeats, at_random),
        ),
        plan,
        {"n_folds": plan.n_folds, "n_repeats": n_repeats},
        first,
        ordered,
    )


def count_units(
    inputs: Inputs,
    tests: Sequence[np.ndarray],
    repeats: Sequence[Sequence[np.ndarray]] | None,
    at_random: bool,
) -> SamplingUnits:
    """Return the units that are counted under given folds.

    Test sets that overlap (no `repeats`) test a sample more than once: its losses are one unit.
    """
    n, alone = len(inputs.target), np.arange(len(inputs.target))
    if inputs.units.n_groups is not None:
        return inputs.units
    tested = np.unique(np.concatenate(tests))
    unit = alone
    if not at_random:
        unit = number_kept_together([[test] for test in tests] if repeats is None else repeats, n)
    n_units = len(np.unique(unit[tested]))
    if n_units in (1, len(tested)):  # one test set tells nothing of what belongs together
        unit, n_units = alone, n
        if repeats is not None:
            return inputs.units
    else:
        unit[np.setdiff1d(alone, tested)] = unit[tested[0]]  # no unit of its own
    kind = UnitKind.SAMPLE if unit is alone else UnitKind.FOLD
    return SamplingUnits(
        number_by_appearance(unit), np.zeros(n_units, dtype=np.intp), n_units, kind
    )


def outcome_of_repeats(
    inputs: Inputs, plan: ResamplingPlan, answers: list[FitOutput | None]
) -> Outcome:
    """Return what the answers of repeated cross-validations say of each loss."""
    findings = []
    rows = np.flatnonzero(np.bincount(np.concatenate([one.rows for one in completed(answers)])))
    stand_in = inputs.count(rows, np.zeros(len(rows)))
    for loss in inputs.losses:
        tested: list[list[TestLosses]] = [[] for _ in range(plan.n_repeats)]
        for fit, answer in enumerate(answers):
            if answer is not None:
                losses = inputs.tested(loss, answer)
                tested[fit // plan.n_folds].append(losses)
        repeats = [concatenate_tested(parts) for parts in tested if parts]
        inflation = find_inflation(inputs, plan, answers, loss)
        findings.append(find_repeated(loss, repeats, stand_in, inflation))
    return Outcome(findings, plan.n_fits, answers.count(None), len(rows))


def find_inflation(
    inputs: Inputs, plan: ResamplingPlan, answers: Sequence[FitOutput | None], loss: Loss
) -> float:
    """Return how much larger the mean squared deviation from the risk is than the naive variance.

    A single test set has independent losses, as far as one can know. Where samples are the units,
    and are dealt again in each repeat, the losses tell it; elsewhere it is fixed. In order of time
    the error is that of the very models that were fitted, each to what came before.
    """
    if plan.n_fits == 1 or inputs.units.kind is UnitKind.TIME_BLOCK:
        return 1.0
    if inputs.units.n_groups is not None:
        return fixed_inflation(plan.n_repeats)
    done = [(fit, answer) for fit, answer in enumerate(answers) if answer is not None]
    fit = np.concatenate([np.full(len(answer.rows), fit) for fit, answer in done])
    row = np.concatenate([answer.rows for _, answer in done])
    losses = np.concatenate([inputs.loss_values(loss, each) for _, each in done])
    weight = None if inputs.weight is None else inputs.weight[row]
    dealt = Dealt(losses, row, fit // plan.n_folds, fit % plan.n_folds, weight)
    return inflation_of(shared_variance(dealt), plan.n_repeats)


def find_repeated(
    loss: Loss, repeats: Sequence[TestLosses], stand_in: TestLosses, inflation: float
) -> Finding:
    """Return the mean of cross-validations, with the variance of one of them inflated.

    `repeats` are the losses of each of them; `stand_in` has the weights and units of all samples.
    """
    errors = np.array([mean_loss(tested) for tested in repeats])
    everything, n = concatenate_tested(repeats), len(stand_in.losses)
    error = mean_loss(everything)
    spread = float(np.average((everything.losses - error) ** 2, weights=everything.weight))
    spreads = [spread_of_mean(tested) for tested in repeats]
    whole = spread_of_mean(everything)
    student = whole.degrees_of_freedom
    details: dict[str, Any] = {}
    if whole.n_groups is not None:  # of each repeat, since a sample is like itself in another
        together = float(np.mean([one.correlation for one in spreads]))
        details = {"intraclass_correlation": together}
    alike = stand_in.weight is None or not np.ptp(stand_in.weight)
    plain = stand_in.unit is None and alike
    naive = float(np.mean([one.variance for one in spreads]))
    if plain and loss.name == "zero_one":
        naive = spread / n  # of the mean error rate itself: that of n / f samples
    elif plain:
        spread = naive * n
    if loss.name != "zero_one" and np.isinf(student):
        bounded = loss.response == "predict_proba"
        student = degrees_of_mean(everything, n, inflation, bounded=bounded)
    estimate = error, float(np.sqrt(inflation * naive)), errors, stand_in
    found = find(loss, *estimate, variance=spread, degrees_of_freedom=student, inflation=inflation)
    if loss.name in UNBOUNDED and is_too_wide(found.value, found.standard_error, student):
        reason, sentence = explain_no_interval(everything, n, inflation)
        details |= {"no_interval": reason, CAUTION: sentence}
    return found._replace(details=details)


def run_perturbation(inputs: Inputs, root: SeedSequence, settings: Settings) -> Outcome:
    """Cross-validate again under random weights of samples or groups: (B + 1) K + 1 fits."""
    n_resamples = check_count("n_resamples", settings["n_resamples"], 2)
    n_folds = settings["n_folds"]
    if inputs.error_score != "raise":
        raise ValueError(
            f"error_score must be 'raise' for method='perturbation', got {inputs.error_score!r}."
        )
    plan = repeated_folds(inputs.units, n_folds, 1, child_seed(root, 0))
    blocks = [plan.draw(fold) for fold in range(n_folds)]
    folds = [(np.flatnonzero(b.train[0]), np.flatnonzero(b.test[0])) for b in blocks]
    weights = None
    if inputs.units.n_groups is not None:
        rng = np.random.default_rng(child_seed(root, 1))
        weights = rng.exponential(size=(n_resamples, inputs.units.n_units))[:, inputs.units.unit]
    check_takes_weights(inputs.estimator)
    _, draws_root = child_seed(root, 2).spawn(2)
    drawn = {"n_resamples": n_resamples, "weights": weights}
    outcome = find_perturbed(inputs, folds, draws_root, drawn)
    (drawn_error,) = outcome.findings
    found = find(inputs.loss, *drawn_error[:3], untested_losses(inputs))  # which counts groups
    found = found._replace(forms=drawn_error.forms, details=drawn_error.details)
    return outcome._replace(findings=[found])


RESAMPLES: Settings = {"n_resamples": 200}
DRAWN: dict[str, Any] = {"takes_weights": False, "holds_out": False}
BOOTSTRAP: dict[str, Any] = {
    "run": _bootstrap.run_bootstrap,
    "defaults": RESAMPLES,
    "part": "bootstrap",
    "plan": _bootstrap.plan_bootstrap,
    "listed": _bootstrap.find_bootstraps,
    **DRAWN,
}
ERROR_METHODS = {
    "resubstitution": ErrorMethod(
        run_resubstitution,
        {},
        holds_out=False,
        part="resubstitution",
        meaning="on the training samples; optimistic, worth nothing alone",
    ),
    "holdout": ErrorMethod(
        run_holdout,
        {"test_size": 1 / 3},
        part="holdout",
        meaning="on a third that was not trained on; depends on which third",
    ),
    "cross_validation": ErrorMethod(
        run_cross_validation,
        {"cv": None},
        form=INFLATED,
        part="cross_validation",
        meaning="every sample predicted by a model trained without it",
    ),
    "leave_one_out": ErrorMethod(
        run_leave_one_out,
        {},
        form=INFLATED,
        part="leave_one_out",
        plan=plan_leave_one_out,
        meaning="the same, with as many folds as samples",
    ),
    "oob": ErrorMethod(**BOOTSTRAP, meaning="on what each resample left out; pessimistic"),
    ".632": ErrorMethod(**BOOTSTRAP, meaning="0.632 of out-of-bag, 0.368 of resubstitution"),
    ".632+": ErrorMethod(
        **BOOTSTRAP, meaning="the same, with a weight that grows with the overfitting"
    ),
    "repeated_cv": ErrorMethod(
        run_repeated_cv,
        {"n_folds": 10, "n_repeats": 10},
        form="jeffreys",
        meaning="the number to quote: the mean of repeated cross-validations",
        means=repeated_rule,
    ),
    "cv_wald": ErrorMethod(run_cv_wald, {"n_folds": 10, "variance": "all_pairs"}),
    "corrected_t": of_means(corrected_t_rule, {"n_repeats": 50, "test_size": 0.1}),
    "conservative_z": of_means(
        conservative_z_rule, {"n_repeats": 15, "n_pairs": 10, "test_size": 0.1}
    ),
    "nested_cv": ErrorMethod(run_nested_cv, {"n_folds": 5, "n_repeats": 10}),
    "five_by_two": of_means(five_by_two_rule, {}),
    "replace_one_cv": ErrorMethod(run_replace_one_cv, {"n_folds": 5}),
    "location_shifted_bootstrap": ErrorMethod(
        _bootstrap.run_location_shifted, RESAMPLES, form="quantile", **DRAWN
    ),
    "two_stage_bootstrap": ErrorMethod(
        _bootstrap.run_two_stage, {**RESAMPLES, "n_inner_resamples": 10}, form="quantile", **DRAWN
    ),
    "perturbation": ErrorMethod(
        run_perturbation,
        {**RESAMPLES, "n_folds": 10},
        holds_out=False,
        meaning="interval by refitting under random weights",
    ),
}
"""Every method of `error_interval`, those that `evaluate` lists in its order; a new one takes a row
here, and a line in its docstring."""
LISTED = {
    part: next(rows)[0]
    for part, rows in groupby(ERROR_METHODS.items(), lambda item: item[1].part)
    if part
}
"""The parts of the list of `evaluate`, each with the first of its methods."""
AUTO = "repeated_cv"
"""The method that "auto" stands for, and by which folds that are given are counted."""


def find_method(name: str) -> ErrorMethod:
    """Return the row of a method; that of folds that are given is that of `AUTO`."""
    return ERROR_METHODS[AUTO if name == GIVEN_FOLDS else name]
