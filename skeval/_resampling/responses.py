"""What the models of many fits answer to their tested samples, for any number of classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skeval._resampling.plan import PlanBlock

__all__ = ["Responses", "SolvedFit", "SolvedFits"]

DECIMALS = 9
"""Decision values are known to so many decimals of their spread: what agrees in them is tied."""

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
    """

    predicted: np.ndarray
    solved: np.ndarray
    decision: np.ndarray | None = None
    probability: np.ndarray | None = None

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
                found["decision_function"] = round_spread(self.decision[start:stop])
            if self.probability is not None:
                found["predict_proba"] = self.probability[start:stop]
            yield int(r), rows, found


def round_spread(values: np.ndarray) -> np.ndarray:
    """Return decision values of which those that differ by rounding errors only are equal."""
    if not values.size:
        return values
    middle = float(np.median(values))
    # That of the inner half, since a single outlier must not make all others equal.
    spread = 2 * float(np.median(np.abs(values - middle))) or float(np.ptp(values))
    if spread == 0.0 or not np.isfinite(spread):
        return values
    # A power of two as the unit: nothing but the rounding itself changes a value.
    unit = 2.0 ** np.floor(np.log2(spread * 10.0**-DECIMALS))
    rounded: np.ndarray = middle + np.round((values - middle) / unit) * unit
    return rounded
