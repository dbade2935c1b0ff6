"""Sentences on the target and the simulated coverage of an interval.

The percentages are those in benchmarks/results; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from skeval._inference.estimate import Estimate
from skeval._resampling.sampling_units import SamplingUnits, UnitKind
from skeval.model_selection._interval_methods import GIVEN_FOLDS, N_REPEATS
from skeval.utils._text import count

TARGET = "The interval is for the error of the model trained on all samples"
TARGET_IN_TIME = (
    "The interval is for the mean error, over a period like this one, of models trained on the "
    "data before each test period"
)
MEASURED_IN_TIME = (
    "In simulations with 100 to 2,000 samples, nominal 95 % intervals covered this error in 93 to "
    "99 % of data sets if the errors had an autocorrelation of at most .5; with .9, in 88 to 97 % "
    "with at least 400 samples and in 69 to 95 % with 100."
)
"""Coverage with ordered folds, from benchmarks/results/coverage_in_time.csv."""
MIN_IN_TIME, MEASURED_LEVEL = 100, 0.95
COVERED = (
    "In simulations with {}, nominal 95 % intervals covered the true error in {} to {} % of data "
    "sets."
)
MEASURED = {50: (91, 100), 100: (91, 100), 200: (94, 99), 500: (93, 98)}
MEASURED |= {1000: (89, 100), 5000: (94, 97)}
"""Coverage for error rates by number of samples, from benchmarks/results/inflation.csv."""
MEASURED_NUMBERS = {"squared": (90, 100), "absolute": (87, 100)}
"""The same for numeric targets by loss, for 50 to 5,000 samples."""
MEASURED_SHARES = {"log_loss": (88, 100), "brier": (91, 99)}
"""The same for losses of probabilities; for the log loss all probabilities are above 0."""
MEASURED_CERTAIN = (76, 99)
"""The same for the log loss of nearest neighbors, with some probabilities of 0."""
MEASURED_RARE = [
    (0.1, "10 % of the samples", (94, 100)),
    (0.03, "3 % of 200 to 1,000 samples", (95, 99)),
]
"""The same for two classes: lower bound of the minority share, its wording, and the coverage."""
MEASURED_HEAVY = (92, 96)
"""The same for squared errors with heavy tails: Student's t with 3 degrees of freedom, and
log-normal."""
MEASURED_GROUPS = (95, 100)
"""The same for error rates in 5 to 50 groups, from benchmarks/results/coverage_groups.csv."""
MIN_SAMPLES, MIN_IF_RARE, RARE = 50, 200, 0.2
MAX_SAMPLES = {"zero_one": 10_000, **dict.fromkeys(MEASURED_NUMBERS, 5_000)}
MAX_SAMPLES |= dict.fromkeys(MEASURED_SHARES, 1_000)
MAX_IN_TIME = 2_000
HEAVY, HEAVIER = 8.0, 3.0
"""Degrees of freedom below which squared errors have heavy tails, and absolute errors heavier tails
than simulated. Nearly all data sets from Student's t with 3 degrees of freedom are below the first,
and a tenth below the second."""
MIN_GROUPS = 5
MIN_OF_HALF = 5
"""Minimum number of samples that make up half of the variance of a target. With fewer, for example
with a rare step, the errors of new samples of this kind are unknown."""
REPEATS = {"n_folds": 10, "n_repeats": N_REPEATS}


def write_coverage(
    answer: Estimate,
    sizes: Mapping[Any, int] | None,
    cases: SamplingUnits,
    weighted: bool,
    certain: bool = False,
    target: np.ndarray | None = None,
) -> list[str]:
    """Describe the target of the main interval, how it was computed, and its measured coverage.

    `certain` means that some probabilities are 0; `target` is a numeric target.
    """
    if not np.isfinite(answer.interval.low):
        return [answer.details["caution"]] if answer.extra.no_interval else []
    folds = answer.extra.parameters["n_folds"]
    repeats = (answer.extra.n_fits or 0) // folds  # 1 if one unit is left out at a time
    fixed_folds = answer.method == GIVEN_FOLDS
    design = f"{answer.method}: {folds}-fold cross-validation"
    if fixed_folds:
        design = count(folds, "fold") if folds > 1 else "a single test set"
    if repeats > 1:
        design += f", repeated {repeats} times"
    in_time, n = cases.kind is UnitKind.TIME_BLOCK, answer.n_samples or 0
    described = f"{TARGET} ({design})."
    if in_time:
        if cases.n_units == 1:
            return []
        n = len(cases.unit)
        described = f"{TARGET_IN_TIME} ({design}, {cases.n_units} blocks of time)."
    unmeasured = list(_list_unmeasured(answer, sizes, weighted, n, in_time=in_time))
    if target is not None and count_of_half(target) < MIN_OF_HALF:
        unmeasured.append("targets with only a few values far from the mean")
    if unmeasured:
        *first, last = unmeasured
        listed = f"{', '.join(first)} and {last}" if first else last
        return [described, f"Coverage has not been simulated for {listed}."]
    measured = MEASURED_IN_TIME if in_time else _write_measured(answer, sizes, certain)
    if answer.loss in MEASURED_NUMBERS:
        measured += f" The interval ignores large errors rarer than 1 in {n // 3} samples."
    if n > (MAX_IN_TIME if in_time else MAX_SAMPLES[answer.loss]):
        measured += " Coverage has not been simulated with more samples."
    return [described, measured]


def count_of_half(target: np.ndarray) -> int:
    """Return the number of samples that make up half of a target's sum of squares."""
    squares = np.sort((target - target.mean()) ** 2)[::-1]
    return 1 + int(np.searchsorted(np.cumsum(squares), squares.sum() / 2))


def _write_measured(answer: Estimate, sizes: Mapping[Any, int] | None, certain: bool) -> str:
    """State the coverage in the most similar simulations."""
    loss, degrees = answer.loss, answer.extra.degrees_of_freedom
    if loss == "squared" and degrees is not None and degrees < HEAVY:
        of = "heavy-tailed errors, as here (Student's t with 3 degrees of freedom, log-normal)"
        return f"{COVERED.format(of, *MEASURED_HEAVY)} Coverage was lower with heavier tails."
    if loss in MEASURED_SHARES:
        if loss == "log_loss" and certain:
            of = "models that, as here, predict some probabilities of 0"
            return COVERED.format(of, *MEASURED_CERTAIN)
        return COVERED.format("two classes and 50 to 1,000 samples", *MEASURED_SHARES[loss])
    if loss in MEASURED_NUMBERS:
        return COVERED.format("50 to 5,000 samples", *MEASURED_NUMBERS[loss])
    if answer.n_groups is not None:
        return COVERED.format("two classes, a linear model and 5 to 50 groups", *MEASURED_GROUPS)
    share = 1.0 if sizes is None else min(sizes.values()) / sum(sizes.values())
    if share < RARE:
        rarity, percents = next(row[1:] for row in MEASURED_RARE if share >= row[0])
        return COVERED.format(f"two classes, one with {rarity}", *percents)
    nearest = min(MEASURED, key=lambda n: abs(np.log(n / (answer.n_samples or n))))
    return COVERED.format(f"two classes and {nearest} samples", *MEASURED[nearest])


def _list_unmeasured(
    answer: Estimate, sizes: Mapping[Any, int] | None, weighted: bool, n: int, *, in_time: bool
) -> Iterator[str]:
    """Yield the conditions that were not simulated for intervals of `n` samples."""
    loss, degrees = answer.loss, answer.extra.degrees_of_freedom
    if loss not in {"zero_one", *MEASURED_NUMBERS, *([] if in_time else MEASURED_SHARES)}:
        yield f"the {loss.replace('_', ' ')}{'' if loss.endswith('loss') else ' loss'}"
    if loss == "absolute" and degrees is not None and degrees < HEAVIER and not in_time:
        yield "errors with such heavy tails"
    if answer.confidence_level != MEASURED_LEVEL:
        yield f"{100 * answer.confidence_level:g} % intervals"
    fewest = MIN_IN_TIME if in_time else MIN_SAMPLES
    if n < fewest:
        yield f"fewer than {fewest} samples"
    if sizes is not None and len(sizes) > 2:
        yield f"{len(sizes)} classes"
    elif sizes is not None:
        alone = loss != "zero_one" or in_time or n < MIN_IF_RARE
        least, percent = (0.1, "10 %") if alone else (MEASURED_RARE[-1][0], "3 %")
        if min(sizes.values()) < least * sum(sizes.values()):
            yield f"a class with less than {percent} of the samples"
    if in_time:  # folds and blocks as in the simulations
        pass
    elif answer.method == GIVEN_FOLDS:
        yield "user-defined folds"
    elif answer.n_groups is not None:
        if not _is_measured_in_groups(answer, sizes):
            yield "groups"
    elif answer.extra.parameters != REPEATS:
        yield f"designs other than 10-fold cross-validation repeated {N_REPEATS} times"
    if weighted:
        yield "sample weights"


def _is_measured_in_groups(answer: Estimate, sizes: Mapping[Any, int] | None) -> bool:
    """Whether groups like these were simulated: two classes, neither of them rare."""
    if sizes is None or len(sizes) > 2 or min(sizes.values()) < RARE * sum(sizes.values()):
        return False
    repeated = answer.extra.parameters["n_repeats"] == N_REPEATS
    enough = (answer.n_groups or 0) >= MIN_GROUPS
    return repeated and enough and answer.loss == "zero_one"
