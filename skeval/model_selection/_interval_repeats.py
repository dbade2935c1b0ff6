"""Repeated cross-validation: its folds, and what their answers say of the error.

The folds that a user gives decide. A splitter that shuffles is drawn anew for each repeat; what
draws at random and repeats by itself (``RepeatedStratifiedKFold``, ``ShuffleSplit``) is taken as it
is; in both cases samples are the units, or the groups where there are any. All other folds are
taken as they are, too, but samples that they never part may belong together: without groups they
are one unit. So a list of five folds has five units, and the interval is that of five.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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
    Cases,
    FoldScheme,
    RepeatedScheme,
    fold_scheme,
    given_scheme,
    number_by_appearance,
)
from skeval._resampling.target import Loss
from skeval.model_selection._interval_parts import Outcome, Settings, completed, find
from skeval.utils._checks import check_count

__all__ = [
    "GIVEN_FOLDS",
    "Design",
    "find_inflation",
    "find_repeated",
    "outcome_of_repeats",
    "read_design",
    "repeated_scheme",
]

GIVEN_FOLDS = "given_folds"
"""The method where folds are given that are taken as they are."""
SINGLE = 2.0
"""`INFLATION` of cross-validations that are not repeated."""


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
    inflation = find_inflation(p.method, scheme)
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
        findings.append(find_repeated(loss, repeats, stand_in, inflation))
    return Outcome(findings, scheme.plan.n_fits, answers.count(None))


def find_inflation(method: str, scheme: RepeatedScheme) -> float:
    """Return how much larger the mean squared deviation from the risk is than the naive variance.

    A single test set has independent losses, as far as one can know.
    """
    if method != GIVEN_FOLDS:
        return INFLATION
    if scheme.plan.n_fits == 1:
        return 1.0
    return INFLATION + (SINGLE - INFLATION) / scheme.n_repeats


def find_repeated(
    loss: Loss, repeats: Sequence[Tested], stand_in: Tested, inflation: float = INFLATION
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
        student = max(1.0, n / inflation - 1)
    estimate = error, float(np.sqrt(inflation * naive)), errors, stand_in
    return find(loss, *estimate, variance=spread, degrees_of_freedom=student, inflation=inflation)
