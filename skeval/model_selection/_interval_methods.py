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
from itertools import islice
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence

from skeval._inference.errors import (
    Dealt,
    NestedFold,
    Tested,
    concatenate_tested,
    conservative_z,
    corrected_t,
    degrees_of_mean,
    five_by_two,
    fixed_inflation,
    inflation_of,
    mean_loss,
    n_units,
    nested_errors,
    nested_interval,
    replace_one,
    resampled_plus,
    shared_variance,
    variance_of_mean,
    within_fold_error,
    worth,
)
from skeval._inference.proportions import Finding, bounds_of, effective_number
from skeval._resampling.folds import (
    deals_at_random,
    draws_anew,
    fold_indices,
    number_kept_together,
    part_repeats,
    resolve_splitter,
    seed_splitter,
)
from skeval._resampling.outputs import FitOutput
from skeval._resampling.procedure import Procedure
from skeval._resampling.schemes import (
    BootstrapScheme,
    Cases,
    FoldScheme,
    RepeatedScheme,
    Scheme,
    bootstrap_scheme,
    child_seed,
    fold_scheme,
    given_scheme,
    halves_scheme,
    number_by_appearance,
    replacement_scheme,
    subsample_scheme,
)
from skeval._resampling.target import Loss
from skeval._resampling.units import check_class_sizes
from skeval._resampling.weights import check_takes_weights
from skeval.model_selection._bootstrap import bootstrap_estimates
from skeval.model_selection._perturbation import perturb
from skeval.utils._checks import check_count, check_option

__all__ = [
    "AUTO",
    "ERROR_METHODS",
    "GIVEN_FOLDS",
    "Design",
    "MeansRule",
    "Outcome",
    "Settings",
    "completed",
    "find",
    "find_inflation",
    "find_method",
    "find_repeated",
    "outcome_of_repeats",
    "read_design",
    "repeated_scheme",
    "resolve_settings",
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
class ErrorMethod:
    """A way to estimate an error with its interval: a row of `ERROR_METHODS`.

    Attributes
    ----------
    run : callable
        Makes the fits, and finds the error of each loss.
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
    """

    run: Run
    defaults: Settings
    takes_weights: bool = True
    form: str = ""
    holds_out: bool = True
    means: Callable[[Procedure, SeedSequence, Settings], MeansRule] | None = None


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


def resolve_settings(p: Procedure, method: ErrorMethod, given: Settings) -> Settings:
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


def of_means(
    rule_of: Callable[[Procedure, SeedSequence, Settings], MeansRule], defaults: Settings
) -> ErrorMethod:
    """Return a method that takes the mean losses of its fits."""

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

    return ErrorMethod(run, defaults, means=rule_of)


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


GIVEN_FOLDS = "given_folds"
"""The method where folds are given that are taken as they are."""


class Design(NamedTuple):
    """Folds, and what is counted under them.

    Attributes
    ----------
    procedure : Procedure
        With the units that are counted, and with the method by its name.
    scheme : RepeatedScheme
    settings : dict
        The parameters of the method.
    splits : list of (train, test) or None
        The folds of the first repeat, where they were given.
    """

    procedure: Procedure
    scheme: RepeatedScheme
    settings: Settings
    splits: list[tuple[np.ndarray, np.ndarray]] | None


def repeated_scheme(p: Procedure, root: SeedSequence, settings: Settings) -> FoldScheme:
    """Return the folds of repeated cross-validation."""
    n_folds = settings["n_folds"]
    n_repeats = check_count("n_repeats", settings["n_repeats"])
    if n_folds == p.cases.n_units:
        n_repeats = 1  # one unit can be left out of all in one way: repeats would be the same
    return fold_scheme(p.cases, n_folds, n_repeats, root)


def read_design(p: Procedure, cv: Any, root: SeedSequence, settings: Settings) -> Design:
    """Return the design that a splitter or an iterable of (train, test) means."""
    n, groups = len(p.target), p.task.groups
    splitter = resolve_splitter(cv, p.target, groups, root)
    draws: dict[frozenset[bytes], list[tuple[np.ndarray, np.ndarray]]] = {}
    for draw in range(settings["n_repeats"] if draws_anew(splitter) else 1):
        drawn = [
            (fold_indices(n, "train", train), fold_indices(n, "test", test))
            for train, test in seed_splitter(splitter, root, draw).split(
                p.task.X, p.target.y, groups
            )
        ]
        # a fold for each group can be made in one way: repeats would look like evidence
        draws.setdefault(frozenset(np.sort(test).tobytes() for _, test in drawn), drawn)
    splits = [split for drawn in draws.values() for split in drawn]
    tests = [test for _, test in splits]
    repeats = part_repeats(tests, n)
    n_repeats = 1 if repeats is None else len(repeats)
    scheme = given_scheme(n, splits, n_repeats)
    return Design(
        replace(
            p,
            method=p.method if draws_anew(splitter) else GIVEN_FOLDS,
            cases=count_units(p, tests, repeats, deals_at_random(splitter)),
        ),
        scheme,
        {"n_folds": scheme.n_folds, "n_repeats": n_repeats},
        next(iter(draws.values())),
    )


def count_units(
    p: Procedure,
    tests: Sequence[np.ndarray],
    repeats: Sequence[Sequence[np.ndarray]] | None,
    at_random: bool,
) -> Cases:
    """Return the units that are counted under given folds.

    Test sets that overlap (no `repeats`) test a sample more than once: its losses are one unit.
    """
    n, alone = len(p.target), np.arange(len(p.target))
    if p.cases.n_groups is not None:
        return p.cases
    tested = np.unique(np.concatenate(tests))
    unit = alone
    if not at_random:
        unit = number_kept_together([[test] for test in tests] if repeats is None else repeats, n)
    n_units = len(np.unique(unit[tested]))
    if n_units in (1, len(tested)):  # one test set tells nothing of what belongs together
        unit, n_units = alone, n
        if repeats is not None:
            return p.cases
    else:
        unit[np.setdiff1d(alone, tested)] = unit[tested[0]]  # no unit of its own
    kept_by = "samples" if unit is alone else "folds"
    return Cases(number_by_appearance(unit), np.zeros(n_units, dtype=np.intp), n_units, kept_by)


def outcome_of_repeats(
    p: Procedure, scheme: RepeatedScheme, answers: list[FitOutput | None]
) -> Outcome:
    """Return what the answers of repeated cross-validations say of each loss."""
    findings = []
    rows = np.unique(np.concatenate([answer.rows for answer in completed(answers)]))
    weight = None if p.weight is None else p.weight[rows]
    unit = None if p.cases.n_groups is None else p.cases.unit[rows]
    stand_in = Tested(np.zeros(len(rows)), weight, unit)
    for loss in p.losses:
        tested: list[list[Tested]] = [[] for _ in range(scheme.n_repeats)]
        for fit, answer in enumerate(answers):
            if answer is not None:
                tested[fit // scheme.n_folds].append(p.tested(loss, answer.rows, answer.predicted))
        repeats = [concatenate_tested(parts) for parts in tested if parts]
        inflation = find_inflation(p, scheme, answers, loss)
        findings.append(find_repeated(loss, repeats, stand_in, inflation))
    return Outcome(findings, scheme.plan.n_fits, answers.count(None))


def find_inflation(
    p: Procedure, scheme: RepeatedScheme, answers: Sequence[FitOutput | None], loss: Loss
) -> float:
    """Return how much larger the mean squared deviation from the risk is than the naive variance.

    A single test set has independent losses, as far as one can know. Where samples are the units,
    and are dealt again in each repeat, the losses tell it; elsewhere it is fixed.
    """
    if scheme.plan.n_fits == 1:
        return 1.0
    if p.cases.n_groups is not None:
        return fixed_inflation(scheme.n_repeats)
    done = [(fit, answer) for fit, answer in enumerate(answers) if answer is not None]
    fit = np.concatenate([np.full(len(answer.rows), fit) for fit, answer in done])
    row = np.concatenate([answer.rows for _, answer in done])
    losses = np.concatenate([p.loss_values(loss, each.rows, each.predicted) for _, each in done])
    weight = None if p.weight is None else p.weight[row]
    dealt = Dealt(losses, row, fit // scheme.n_folds, fit % scheme.n_folds, weight)
    return inflation_of(shared_variance(dealt), scheme.n_repeats)


def find_repeated(
    loss: Loss, repeats: Sequence[Tested], stand_in: Tested, inflation: float
) -> Finding:
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
        student = degrees_of_mean(everything.losses, n, inflation)
    estimate = error, float(np.sqrt(inflation * naive)), errors, stand_in
    return find(loss, *estimate, variance=spread, degrees_of_freedom=student, inflation=inflation)


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
        estimate = found.value, found.standard_error, found.replicates, untested_losses(p)
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
    ((plus, apparent, in_bag),), n_fits, n_failed = read_samples(p, [n_resamples], root)
    draws = in_bag + (plus - apparent)
    (loss,) = p.losses
    found = find(loss, plus, spread_of(draws), draws, untested_losses(p))
    return Outcome([found], n_fits, n_failed)


def run_two_stage(p: Procedure, root: SeedSequence, settings: Settings) -> Outcome:
    """Estimate again in resamples of the data, by resamples of them."""
    n_resamples = check_count("n_resamples", settings["n_resamples"], 2)
    n_inner = check_count("n_inner_resamples", settings["n_inner_resamples"])
    sizes = [n_resamples] + [n_inner] * n_resamples
    (whole, *again), n_fits, n_failed = read_samples(p, sizes, root)
    draws = np.array([each.plus for each in again])
    check_enough(p, draws, 2)
    (loss,) = p.losses
    found = find(loss, whole.plus, spread_of(draws), draws, untested_losses(p))
    return Outcome([found], n_fits, n_failed)


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
    estimate = found.value, found.standard_error, found.replicates
    finding = find(loss, *estimate, untested_losses(p))
    return Outcome([finding], 1 + n_folds + n_resamples * n_folds)


RESAMPLES: Settings = {"n_resamples": 200}
BOOTSTRAP: dict[str, Any] = {"takes_weights": False, "holds_out": False}
ERROR_METHODS = {
    "holdout": ErrorMethod(run_holdout, {"test_size": 1 / 3}),
    "cv_wald": ErrorMethod(run_cv_wald, {"n_folds": 10, "variance": "all_pairs"}),
    "corrected_t": of_means(corrected_t_rule, {"n_repeats": 50, "test_size": 0.1}),
    "conservative_z": of_means(
        conservative_z_rule, {"n_repeats": 15, "n_pairs": 10, "test_size": 0.1}
    ),
    "nested_cv": ErrorMethod(run_nested_cv, {"n_folds": 5, "n_repeats": 10}),
    "five_by_two": of_means(five_by_two_rule, {}),
    "replace_one_cv": ErrorMethod(run_replace_one_cv, {"n_folds": 5}),
    "repeated_cv": ErrorMethod(run_repeated_cv, {"n_folds": 10, "n_repeats": 10}, form="jeffreys"),
    "oob": ErrorMethod(run_bootstrap("oob"), RESAMPLES, **BOOTSTRAP),
    ".632": ErrorMethod(run_bootstrap(".632"), RESAMPLES, **BOOTSTRAP),
    ".632+": ErrorMethod(run_bootstrap(".632+"), RESAMPLES, **BOOTSTRAP),
    "location_shifted_bootstrap": ErrorMethod(
        run_location_shifted, RESAMPLES, form="quantile", **BOOTSTRAP
    ),
    "two_stage_bootstrap": ErrorMethod(
        run_two_stage, {**RESAMPLES, "n_inner_resamples": 10}, form="quantile", **BOOTSTRAP
    ),
    "perturbation": ErrorMethod(run_perturbation, {**RESAMPLES, "n_folds": 10}, holds_out=False),
}
"""Every method of `error_interval`; a new one takes a row here, and a line in its docstring."""
AUTO = "repeated_cv"
"""The method that "auto" stands for, and by which folds that are given are counted."""


def find_method(name: str) -> ErrorMethod:
    """Return the row of a method; that of folds that are given is that of `AUTO`."""
    return ERROR_METHODS[AUTO if name == GIVEN_FOLDS else name]
