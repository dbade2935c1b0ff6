"""A primal-dual interior-point method for many box-constrained SVM duals at once.

Fractions of the boxes make a tiny box no harder than a large one. The margins agree with the
decision values from the start; Newton steps bring beta in line with the coefficients.
Numbers in parentheses are the equations of doc/derivations/interior_point.rst.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skeval._solvers.newton import Duals, ProblemRows

__all__ = ["PathPoint", "Start", "interior_point", "start_point"]

# A step goes at most this share of the way to the nearest bound.
_TO_BOUNDARY = 0.9995


class Start(NamedTuple):
    """Coefficients (B, q) and intercepts (B,) to start from; a smaller mu trusts them more."""

    coef: np.ndarray
    intercept: np.ndarray
    mu: float


@dataclass
class PathPoint(ProblemRows):
    """Where B problems over n samples stand on their way along the central path (1).

    fraction (B, n): a = alpha / C. rest (B, n): c = 1 - a. surplus, shortfall (B, n): s and x, the
    margin is s - x. coef (B, q), intercept (B,): v and b. residual (B,): the share that is left of
    what v and coef(beta), and sum(beta) and 0, first differed by.
    """

    fraction: np.ndarray
    rest: np.ndarray
    surplus: np.ndarray
    shortfall: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    residual: np.ndarray


def start_point(duals: Duals, start: Start) -> PathPoint:
    """Return the point of the path at mu that has the decision values of the start (2)."""
    v, b, mu = start
    margin = duals.margins(v, b)
    margin[duals.box == 0] = 0.0  # No step moves a sample that is left out: a = c = 1/2 for good.
    root = np.sqrt(margin * margin + 4.0 * mu * mu)
    s = 0.5 * (margin + 2.0 * mu + root)  # (2), left
    x = s - margin
    return PathPoint(mu / s, mu / x, s, x, v.copy(), b.copy(), np.ones(len(b)))


def interior_point(duals: Duals, point: PathPoint, *, tol: float, max_iter: int) -> int:
    """Move `point` along the central path, in place, until its relative gap is below `tol`.

    Return the number of steps. A problem that diverges is left where it is, as nan.
    """
    total = duals.box.sum(axis=1)
    left, at = np.arange(len(duals.box)), point
    for n_steps in range(max_iter):
        C = duals.box
        gap = np.einsum("bi,bi->b", C, at.fraction * at.surplus + at.rest * at.shortfall)  # (3)
        dual = np.einsum("bi,bi->b", C, at.fraction) - 0.5 * duals.system.squared_norm(at.coef)
        done = ~np.isfinite(gap) | ((gap <= tol * np.abs(dual)) & (at.residual <= tol))  # (4)
        if done.any():
            point.put(left[done], at.take(done))
            keep = ~done
            left, at, duals = left[keep], at.take(keep), duals.take(keep)
            gap, total = gap[keep], total[keep]
            if not len(left):
                return n_steps
        at = _step(duals, at, gap, total)
    point.put(left, at)
    return max_iter


def _step(duals: Duals, at: PathPoint, gap: np.ndarray, total: np.ndarray) -> PathPoint:
    """Take one predictor-corrector step, given the gaps (B,) and the sums of the boxes (B,)."""
    y, C = duals.signs, duals.box
    a, c, s, x = at.fraction, at.rest, at.surplus, at.shortfall
    beta = y * C * a
    H = a * c / (s * c + x * a)  # (6)
    H[C == 0] = 0.0
    step_to = duals.system.factor(C * H)  # (7)

    r = -(s - x)  # (8), the predictor
    dm = y * step_to(y * r, beta, at.coef).df
    da = H * (r - dm)  # (6)
    up, down = da / a, da / c
    tightest = np.maximum(1.0 + np.abs(up), 1.0 + np.abs(down)).max(axis=1)
    t = 1.0 / np.maximum(1.0, tightest)  # (9), (B,)
    predicted = (1.0 - t) * gap + t * t * np.einsum("bi,bi->b", C, da * dm)  # (10)
    mu = ((predicted / gap) ** 3 * gap / (2.0 * total))[:, None]  # (11)

    r_s = mu / a + s * (up * (1.0 + up) - 1.0)  # (12), the corrector
    r_x = mu / c - x * (down * (1.0 - down) + 1.0)
    r = r_s - r_x
    change = step_to(y * r, beta, at.coef)
    da = H * (r - y * change.df)  # (6)
    up, down = da / a, da / c
    ds, dx = r_s - s * up, r_x + x * down  # (5)
    blocking = np.minimum(np.minimum(up, -down), np.minimum(ds / s, dx / x)).min(axis=1)
    t = np.minimum(1.0, _TO_BOUNDARY / np.maximum(-blocking, 1e-300))  # (13)
    step = t[:, None]
    return PathPoint(
        fraction=a + step * da,
        rest=c - step * da,
        surplus=s + step * ds,
        shortfall=x + step * dx,
        coef=at.coef + step * change.dv,
        intercept=at.intercept + t * change.db,
        residual=at.residual * (1.0 - t),  # (14)
    )
