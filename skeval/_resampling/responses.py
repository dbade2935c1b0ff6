"""What the models of many fits answer to their tested samples, for any number of classes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skeval._resampling.plan import PlanBlock

__all__ = ["Responses", "SolvedFit", "SolvedFits", "tie_values"]

SHARE = 1e-9
"""Solvers know decision values to this share of their spread: what agrees so far is tied."""

LAST_PLACES = 16 * float(np.finfo(float).eps)
"""A sum of some terms may be so far off, as a share of the largest of them."""

SolvedFit = tuple[int, np.ndarray, dict[str, np.ndarray]]
"""A fit, the rows that it is tested on, and its responses to them; classes are codes."""

SolvedFits = Iterator[SolvedFit]


@dataclass(frozen=True, eq=False)
class Responses:
    """The responses of the fits of a block to the samples that they are tested on.

    An answer is that of one fit to one of its tested samples; answers stand fit after fit, those
    of a fit in the order of the samples, and those of unsolved fits are left out.

    Attributes
    ----------
    predicted : ndarray of shape (n_answers,)
        Class codes or numbers.
    solved : bool ndarray of shape (n_fits,)
        The fits that they hold for; the estimator itself does the others.
    decision : ndarray of shape (n_answers,) or (n_answers, n_classes), or None
        Decision values, where the estimator has them.
    probability : ndarray of shape (n_answers, n_classes) or None
        Probabilities of the classes, where the estimator has them.
    noise : ndarray of shape (n_fits,) or None
        How large the rounding errors of decision values are, where that is known.
    """

    predicted: np.ndarray
    solved: np.ndarray
    decision: np.ndarray | None = None
    probability: np.ndarray | None = None
    noise: np.ndarray | None = None

    def answers(self, block: PlanBlock) -> np.ndarray:
        """Return what is predicted for the tested samples of the solved fits, fit after fit."""
        return self.predicted

    def each_fit(self, block: PlanBlock) -> SolvedFits:
        """Yield the responses of each solved fit."""
        stop = 0
        for r in np.flatnonzero(self.solved):
            rows = np.flatnonzero(block.test[r])
            start, stop = stop, stop + len(rows)
            found = {"predict": self.predicted[start:stop]}
            if self.decision is not None:
                noise = 0.0 if self.noise is None else float(self.noise[r])
                found["decision_function"] = tie_values(self.decision[start:stop], noise)
            if self.probability is not None:
                found["predict_proba"] = self.probability[start:stop]
            yield int(r), rows, found


def tie_values(values: np.ndarray, noise: float = 0.0) -> np.ndarray:
    """Return decision values of which those that differ by rounding errors only are equal.

    Values are tied that lie no farther apart than the largest of: a share of 1e-9 of the spread of
    all, which is how well a solver knows them; some units in the last place of the largest of
    them, which a value has from its intercept; and `noise`, what is known of the rounding errors
    of the sums that made them. So a rule that is constant but for rounding ranks nothing, and one
    whose values differ little beside its intercept ranks all.

    values has shape (n_samples,) or (n_samples, n_classes), whose columns are tied by themselves.
    """
    if values.ndim == 2:
        return np.column_stack([tie_values(column, noise) for column in values.T])
    if not values.size or not np.all(np.isfinite(values)):
        return values
    # The spread of the inner half, since a single outlier must not make all others equal.
    spread = 2 * float(np.median(np.abs(values - np.median(values)))) or float(np.ptp(values))
    unit = max(spread * SHARE, np.abs(values).max() * LAST_PLACES, noise)
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    first = np.concatenate([[True], np.diff(ranked) > unit])
    tied = np.empty_like(values)
    tied[order] = ranked[first][np.cumsum(first) - 1]
    return tied
