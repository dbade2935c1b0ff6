"""A primal-dual interior-point method that approaches the optima of SVM duals from any start.

The variables are fractions ``a = alpha / C`` of the boxes, so tiny boxes are as easy as large ones.
Margins agree with the coefficients from the start; Newton steps bring beta into agreement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skeval._solvers.newton import Duals, ProblemRows

# Maximum length of a step, as a fraction of the distance to the nearest bound.
_TO_BOUNDARY = 0.9995


class Start(NamedTuple):
    """Starting coefficients (B, q), intercepts (B,) and mu, which is small for accurate ones."""

    coef: np.ndarray
    intercept: np.ndarray
    mu: float


@dataclass
class PathPoint(ProblemRows):
    """Iterates of B problems over n samples near the central path, eq. (1) of interior_point.

    fraction (B, n): a = alpha / C. rest (B, n): c = 1 - a. surplus, shortfall (B, n): s and x, with
    the margin s - x. coef (B, q), intercept (B,): v and b. residual (B,): remaining fraction of the
    initial residuals v - coef(beta) and sum(beta).
    """

    fraction: np.ndarray
    rest: np.ndarray
    surplus: np.ndarray
    shortfall: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    residual: np.ndarray


def start_point(duals: Duals, start: Start) -> PathPoint:
    """Return the points for starting coefficients and mu, eq. (2) of interior_point."""
    v, b, mu = start
    margin = duals.margins(v, b)
    # samples that are left out keep a = c = 1/2
    margin[duals.box == 0] = 0.0
    root = np.sqrt(margin * margin + 4.0 * mu * mu)
    s = 0.5 * (margin + 2.0 * mu + root)
    x = s - margin
    return PathPoint(mu / s, mu / x, s, x, v.copy(), b.copy(), np.ones(len(b)))


def interior_point(duals: Duals, point: PathPoint, *, tol: float, max_iter: int) -> int:
    """Advance `point` in place until its relative duality gap is at most `tol`.

    Return the number of steps. If a problem diverges, its point becomes nan.
    """
    total = duals.box.sum(axis=1)
    problems, at = np.arange(len(duals.box)), point
    for n_steps in range(max_iter):
        C = duals.box
        # duality gap, eq. (3) of interior_point, and dual objective
        gap = np.einsum("bi,bi->b", C, at.fraction * at.surplus + at.rest * at.shortfall)
        dual = np.einsum("bi,bi->b", C, at.fraction) - 0.5 * duals.system.squared_norm(at.coef)
        # remove converged problems from the block, eq. (4) of interior_point
        done = ~np.isfinite(gap) | ((gap <= tol * np.abs(dual)) & (at.residual <= tol))
        if done.any():
            point.put(problems[done], at.take(done))
            keep = ~done
            problems, at, duals = problems[keep], at.take(keep), duals.take(keep)
            gap, total = gap[keep], total[keep]
            if not len(problems):
                return n_steps
        at = _step(duals, at, gap, total)
    point.put(problems, at)
    return max_iter


def _step(duals: Duals, at: PathPoint, gap: np.ndarray, total: np.ndarray) -> PathPoint:
    """Take one predictor-corrector step, given the gaps (B,) and the sums of the boxes (B,)."""
    y, C = duals.signs, duals.box
    a, c, s, x = at.fraction, at.rest, at.surplus, at.shortfall
    beta = y * C * a
    # both steps share one factorization, eqs. (6) and (7) of interior_point
    H = a * c / (s * c + x * a)
    H[C == 0] = 0.0
    step_to = duals.system.factor(C * H)

    # predictor, eq. (8) of interior_point
    r = -(s - x)
    dm = y * step_to(y * r, beta, at.coef).df
    da = H * (r - dm)
    up, down = da / a, da / c
    tightest = np.maximum(1.0 + np.abs(up), 1.0 + np.abs(down)).max(axis=1)
    t = 1.0 / np.maximum(1.0, tightest)  # eq. (9) of interior_point
    # predicted gap and target mu, eqs. (10) and (11) of interior_point
    predicted = (1.0 - t) * gap + t * t * np.einsum("bi,bi->b", C, da * dm)
    mu = ((predicted / gap) ** 3 * gap / (2.0 * total))[:, None]

    # corrector, eq. (12) of interior_point
    r_s = mu / a + s * (up * (1.0 + up) - 1.0)
    r_x = mu / c - x * (down * (1.0 - down) + 1.0)
    r = r_s - r_x
    change = step_to(y * r, beta, at.coef)
    da = H * (r - y * change.df)
    up, down = da / a, da / c
    ds, dx = r_s - s * up, r_x + x * down  # eq. (5) of interior_point
    # longest step within the bounds, eq. (13) of interior_point
    blocking = np.minimum(np.minimum(up, -down), np.minimum(ds / s, dx / x)).min(axis=1)
    t = np.minimum(1.0, _TO_BOUNDARY / np.maximum(-blocking, 1e-300))
    step = t[:, None]
    return PathPoint(
        fraction=a + step * da,
        rest=c - step * da,
        surplus=s + step * ds,
        shortfall=x + step * dx,
        coef=at.coef + step * change.dv,
        intercept=at.intercept + t * change.db,
        residual=at.residual * (1.0 - t),  # eq. (14) of interior_point
    )
