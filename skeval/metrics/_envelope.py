"""The convex hull of a ROC curve, and the lower envelope of its lines of cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

__all__ = ["hull", "lower_envelope"]

Floats = NDArray[np.float64]


def hull(tp: Floats, fp: Floats) -> NDArray[np.intp]:
    """Return the cuts on the convex hull of the ROC curve.

    The hull of a cumulative diagram is its isotonic regression: cuts between samples of one
    fitted positive rate lie below the hull. A cut that moves neither count is none.
    """
    step = np.diff(tp) + np.diff(fp)
    moved = np.flatnonzero(step > 0)
    rate = isotonic_regression(
        np.diff(tp)[moved] / step[moved], sample_weight=step[moved], increasing=False
    )
    last = np.append(np.flatnonzero(np.diff(rate)), len(rate) - 1)  # of each run of equal rates
    return np.append(0, moved[last] + 1)


def lower_envelope(lines: Floats) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return vertices (x, y) of the envelope of the lines of a hull, and the line of each piece.

    Neighbouring lines are the pieces of the envelope, in order: they meet where
    FPR + (FNR - FPR) x agrees.
    """
    rise, fall = np.diff(lines[:, 0]), -np.diff(lines[:, 1])
    turn = rise + fall  # 0 where rounding makes one line of two
    meet = np.divide(rise, turn, out=np.zeros_like(turn), where=turn > 0)
    x = np.maximum.accumulate(np.concatenate(([0.0], meet, [1.0])))
    pieces = np.flatnonzero(np.diff(x) > 0)
    x = np.append(x[pieces], 1.0)
    fpr, fnr = lines[np.append(pieces, pieces[-1])].T
    return x, fpr * (1 - x) + fnr * x, pieces
