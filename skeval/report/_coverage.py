"""What is said of how often the interval of an answer holds: what was measured, and no more.

The shares are those of benchmarks/results, to which a test holds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from skeval._inference.estimate import Estimate
from skeval._resampling.task import Cases
from skeval.model_selection._interval_methods import GIVEN_FOLDS
from skeval.report._sentences import ALPHA
from skeval.utils._text import count

__all__ = ["write_coverage"]

TARGET = "The interval is for the error, on new samples, of the rule fitted to all of these"
TARGET_IN_TIME = (
    "The interval is for the mean error, at times like these, of rules each fitted to what came "
    "before"
)
MEASURED_IN_TIME = (
    "In simulations of 100 to 2,000 samples it held that error in 93 to 99 % of the cases where "
    "95 % were promised, if the errors of neighbours had an autocorrelation of .5 at most; with "
    "one of .9 in 88 to 97 % of the cases with 400 samples or more, and in 69 to 95 % with 100."
)
"""What benchmarks/results/coverage_in_time.csv says of ordered folds."""
FEWEST_IN_TIME = 100
HELD = (
    "In simulations of {} it held that error in {} to {} % of the cases, by population and "
    "learner, where 95 % were promised."
)
MEASURED = {50: (90, 99), 100: (92, 99), 200: (94, 99), 500: (94, 98)}
MEASURED |= {1000: (93, 99), 5000: (94, 97)}
"""By number of samples, what benchmarks/results/inflation.csv says of error rates."""
MEASURED_NUMBERS = {"squared": (93, 99), "absolute": (90, 99)}
"""The same by loss of numbers, of 50 to 5,000 samples."""
MEASURED_SHARES = {"log_loss": (89, 100), "brier": (90, 98)}
"""The same by loss of probabilities, none of which is 0 for the first."""
MEASURED_CERTAIN = (80, 99)
"""The same of the log loss of nearest neighbours, some of whose probabilities are 0."""
MEASURED_RARE = [
    (0.1, "a tenth of the samples,", (94, 99)),
    (0.03, "a thirtieth of 200 to 1,000 samples,", (95, 98)),
]
"""The same, of two classes by the share of one of them: the least that it stands for, and words."""
MEASURED_HEAVY = (92, 96)
"""The same of squared errors with heavy tails, of Student's distribution with 3 degrees."""
MEASURED_GROUPS = (93, 100)
"""The same of error rates in 5 to 50 groups, by benchmarks/results/coverage_groups.csv."""
FEWEST, FEWEST_IF_RARE, RARE = 50, 200, 0.2
MOST = {"zero_one": 10_000, **dict.fromkeys(MEASURED_NUMBERS, 5_000)}
MOST |= dict.fromkeys(MEASURED_SHARES, 1_000)
MOST_IN_TIME = 2_000
HEAVY, HEAVIER = 8.0, 3.0
"""Degrees of freedom below which squared errors have heavy tails, and absolute ones heavier tails
than were simulated: nearly all, and a tenth, of samples of Student's t with 3 have fewer."""
FEWEST_GROUPS = 5
REPEATS = {"n_folds": 10, "n_repeats": 10}


def write_coverage(
    answer: Estimate,
    sizes: Mapping[Any, int] | None,
    cases: Cases,
    weighted: bool,
    certain: bool = False,
) -> list[str]:
    """Say what the interval of the answer is for, how it was made, and how that is known.

    Probabilities that are `certain` are those of which some are 0.
    """
    if not np.isfinite(answer.interval.low):
        return []
    folds = answer.details["parameters"]["n_folds"]
    repeats = answer.details["n_fits"] // folds  # 1 where a unit is left out at a time
    given = answer.method == GIVEN_FOLDS
    made = count(folds, "fold") if given else f"{folds}-fold cross-validation"
    if repeats > 1:
        made += f", repeated {repeats} times"
    in_time, n = cases.name == "blocks of time", answer.n_samples or 0
    told = f"{TARGET} ({answer.method}: {made})."
    if in_time:
        if cases.n_units == 1:
            return []
        n = len(cases.unit)
        told = f"{TARGET_IN_TIME} ({made}, {cases.n_units} blocks of time)."
    unmeasured = list(_list_unmeasured(answer, sizes, weighted, n, in_time=in_time))
    if unmeasured:
        *first, last = unmeasured
        listed = f"{', '.join(first)} and {last}" if first else last
        return [told, f"How often it holds that error has not been measured for {listed}."]
    measured = MEASURED_IN_TIME if in_time else _write_measured(answer, sizes, certain)
    if n > (MOST_IN_TIME if in_time else MOST[answer.details["loss"]]):
        measured += " With more samples it has not been measured."
    return [told, measured]


def _write_measured(answer: Estimate, sizes: Mapping[Any, int] | None, certain: bool) -> str:
    """Say how often such intervals held the error in the simulations that are nearest."""
    loss, degrees = answer.details["loss"], answer.details["degrees_of_freedom"]
    if loss == "squared" and degrees is not None and degrees < HEAVY:
        of = "errors of which, as here, few carry the mean (Student's t with 3 degrees of freedom),"
        return f"{HELD.format(of, *MEASURED_HEAVY)} With heavier tails it did so less often."
    if loss in MEASURED_SHARES:
        if loss == "log_loss" and certain:
            of = "rules that, as here, give some probabilities of 0, which cost most where wrong,"
            return HELD.format(of, *MEASURED_CERTAIN)
        return HELD.format("two classes and 50 to 1,000 samples", *MEASURED_SHARES[loss])
    if loss in MEASURED_NUMBERS:
        return HELD.format("50 to 5,000 samples", *MEASURED_NUMBERS[loss])
    if answer.details["n_groups"] is not None:
        return HELD.format("two classes, a linear rule and 5 to 50 groups", *MEASURED_GROUPS)
    share = 1.0 if sizes is None else min(sizes.values()) / sum(sizes.values())
    if share < RARE:
        of, told = next((of, told) for least, of, told in MEASURED_RARE if share >= least)
        return HELD.format(f"two classes, one of them {of}", *told)
    nearest = min(MEASURED, key=lambda n: abs(np.log(n / (answer.n_samples or n))))
    return HELD.format(f"two classes and {nearest} samples", *MEASURED[nearest])


def _list_unmeasured(
    answer: Estimate, sizes: Mapping[Any, int] | None, weighted: bool, n: int, *, in_time: bool
) -> Iterator[str]:
    """Yield what the intervals of `n` samples were not measured for."""
    loss, degrees = answer.details["loss"], answer.details["degrees_of_freedom"]
    if loss not in {"zero_one", *MEASURED_NUMBERS, *([] if in_time else MEASURED_SHARES)}:
        yield f"the {loss.replace('_', ' ')}{'' if loss.endswith('loss') else ' loss'}"
    if loss == "absolute" and degrees is not None and degrees < HEAVIER and not in_time:
        yield "tails as heavy as those of these errors seem to be"
    if answer.confidence_level != 1 - ALPHA:
        yield f"intervals of {100 * answer.confidence_level:g} %"
    fewest = FEWEST_IN_TIME if in_time else FEWEST
    if n < fewest:
        yield f"fewer than {fewest} samples"
    if sizes is not None and len(sizes) > 2:
        yield f"{len(sizes)} classes"
    elif sizes is not None:
        alone = loss != "zero_one" or in_time or n < FEWEST_IF_RARE
        least, told = (0.1, "a tenth") if alone else (MEASURED_RARE[-1][0], "3 %")
        if min(sizes.values()) < least * sum(sizes.values()):
            yield f"a class of less than {told} of the samples"
    if in_time:  # folds and blocks are those that were simulated
        pass
    elif answer.method == GIVEN_FOLDS:
        yield "folds that are given"
    elif answer.details["n_groups"] is not None:
        if not _is_measured_in_groups(answer, sizes):
            yield "groups"
    elif answer.details["parameters"] != REPEATS:
        yield "anything but ten folds, repeated ten times"
    if weighted:
        yield "sample weights"


def _is_measured_in_groups(answer: Estimate, sizes: Mapping[Any, int] | None) -> bool:
    """Whether groups like these were simulated: of two classes, neither of them rare."""
    if sizes is None or len(sizes) > 2 or min(sizes.values()) < RARE * sum(sizes.values()):
        return False
    repeated = answer.details["parameters"]["n_repeats"] == REPEATS["n_repeats"]
    enough = answer.details["n_groups"] >= FEWEST_GROUPS
    return repeated and enough and answer.details["loss"] == "zero_one"
