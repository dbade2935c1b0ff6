"""How long an evaluation will take, and what it does without to keep within a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Any

__all__ = ["Workload", "fit_to_budget", "time_fits"]

FEWEST_RESAMPLES = 20
SMALLEST_TEST = 19
"""Permutations with which P can be .05."""


WISHES: list[tuple[str, Any, str]] = [
    ("leave_one_out", False, "leave-one-out"),
    ("n_permutations", SMALLEST_TEST, "permutations"),
    ("n_resamples", FEWEST_RESAMPLES, "perturbations"),
    ("n_bootstraps", FEWEST_RESAMPLES, "bootstrap resamples"),
    ("n_resamples", 0, "perturbations"),
    ("n_permutations", 0, "permutations"),
]
"""What is lowered, how far, and what it is called; what says least comes first."""


@dataclass(frozen=True)
class Workload:
    """The sizes of an evaluation, and what a fit to true and to shuffled labels takes.

    `seconds` is what the fits take on one core; a solver that does many at once takes less.
    """

    n_samples: int
    n_folds: int
    n_bootstraps: int
    n_permutations: int
    n_resamples: int
    leave_one_out: bool
    perturbed: bool
    n_others: int
    fit: float
    shuffled: float

    @property
    def n_fits(self) -> int:
        """The number of fits to true labels."""
        loo = self.n_samples if self.leave_one_out else 0
        perturbations = self.n_resamples * (1 + self.n_folds) if self.perturbed else 0
        return 2 + self.n_others + self.n_folds + loo + self.n_bootstraps + perturbations

    @property
    def seconds(self) -> float:
        """What all fits take, one after another."""
        return self.n_fits * self.fit + self.n_permutations * self.n_folds * self.shuffled


def time_fits(estimator: Any, X: Any, y: Any, seed: int) -> tuple[float, float]:
    """Return the seconds of a fit and prediction, with true and with shuffled labels.

    What other programs take of the machine meanwhile does not count.
    """
    import numpy as np
    from sklearn.base import clone

    seconds = []
    for labels in (y, np.random.default_rng(seed).permutation(y)):
        start = perf_counter(), process_time()
        model = clone(estimator).fit(X, labels)
        model.predict(X)
        if hasattr(model, "predict_proba"):  # which an evaluation asks for, too
            model.predict_proba(X)
        seconds.append(min(perf_counter() - start[0], process_time() - start[1]))
    return seconds[0], seconds[1]


def fit_to_budget(
    work: Workload, budget: float, fixed: frozenset[str]
) -> tuple[Workload, list[str]]:
    """Return a workload within so many seconds, and what was left out for it.

    It goes by `WISHES`; what is `fixed` stays.
    """
    asked, names = work, dict[str, str]()
    for field, least, words in WISHES:
        if work.seconds <= budget or field in fixed or getattr(work, field) <= least:
            continue
        share = _find_share(work, field, least, budget)
        if _resize(work, field, share).seconds < work.seconds:
            work, names[field] = _resize(work, field, share), words
    told = []
    for field, words in names.items():
        now = getattr(work, field)
        told.append(f"{now} {words} instead of {getattr(asked, field)}" if now else f"no {words}")
    return work, told


def _find_share(work: Workload, field: str, least: int, budget: float) -> int:
    """Return how much of something fits in, at least `least`; nothing where that is 0.

    What is left at last would be too little to tell anything, as a single permutation is.
    """
    now, without = getattr(work, field), _resize(work, field, 0)
    if isinstance(now, bool) or least == 0:
        return 0
    each = (work.seconds - without.seconds) / now
    room = int((budget - without.seconds) / each) if each > 0 else now
    return min(now, max(least, room))


def _resize(work: Workload, field: str, size: Any) -> Workload:
    """Return a workload with another size of one of its fields."""
    changes: dict[str, Any] = {field: size}
    return replace(work, **changes)
