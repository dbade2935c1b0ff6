"""A primal-dual interior-point method for many box-constrained SVM duals at once.

Every problem keeps, for each sample, the fraction ``a = alpha / C`` of its box and the rest
``c = 1 - a``, the surplus ``s`` and shortfall ``x`` of its margin. The central path is
``a s = c x = mu`` together with ``s - x = y f - 1``, which holds exactly from the start, and
``v = coef(beta)``, ``sum(beta) = 0``, which the Newton steps reach. Fractions make a tiny box no
harder than a large one. Predictor and corrector follow Mehrotra (1992, doi:10.1137/0802028).
"""

from typing import NamedTuple

import numpy as np

__all__ = ["Point", "interior_point", "start_point"]


class Point(NamedTuple):
    """Where B problems stand; `residual` is the share left of the first dual residual."""

    a: np.ndarray
    c: np.ndarray
    s: np.ndarray
    x: np.ndarray
    v: np.ndarray
    b: np.ndarray
    residual: np.ndarray

    def take(self, problems):
        return Point(*(part[problems] for part in self))

    def put(self, problems, other):
        for mine, theirs in zip(self, other, strict=True):
            mine[problems] = theirs


def start_point(system, signs, box, v, b, mu):
    """Return the point of the path ``a s = c x = mu`` that has the decision values of (v, b)."""
    margin = signs * (system.scores(v) + b[:, None]) - 1.0
    margin[box == 0] = 0.0  # such samples rest in the middle of their empty box
    root = np.sqrt(margin * margin + 4.0 * mu * mu)
    s = 0.5 * (margin + 2.0 * mu + root)
    x = s - margin
    return Point(mu / s, mu / x, s, x, v, b, np.ones(len(b)))


def interior_point(system, signs, box, point, *, tol, max_iter):
    """Move `point` along the central path, in place, until its relative gap is below `tol`.

    Return the number of steps. A problem that diverges is left where it is, as nan.
    """
    total = box.sum(axis=1)
    left = np.arange(len(box))
    at, here, y, C, size = point, system, signs, box, total
    for n_steps in range(max_iter):
        gap = np.einsum("bi,bi->b", C, at.a * at.s + at.c * at.x)
        dual = np.einsum("bi,bi->b", C, at.a) - 0.5 * here.squared_norm(at.v)
        done = ~np.isfinite(gap) | ((gap <= tol * np.abs(dual)) & (at.residual <= tol))
        if done.any():
            point.put(left[done], at.take(done))
            keep = ~done
            left, at, here = left[keep], at.take(keep), here.take(keep)
            y, C, size, gap = y[keep], C[keep], size[keep], gap[keep]
            if not len(left):
                return n_steps
        at = _step(here, y, C, at, gap, size)
    point.put(left, at)
    return max_iter


def _step(system, y, C, at, gap, total):
    """Take one predictor-corrector step; y e = r and da = H (r - dm) eliminate s and x."""
    a, c, s, x, v, b, residual = at
    beta = y * C * a
    H = a * c / (s * c + x * a)
    H[C == 0] = 0.0
    D = C * H
    system.factor(D)
    margin = s - x
    _, _, df, _ = system.step(D, -y * margin, beta, v)
    dm = y * df
    da = H * (-margin - dm)
    up, down = da / a, da / c
    # The predictor has ds / s = -1 - up and dx / x = -1 + down.
    tightest = np.maximum(1.0 + np.abs(up), 1.0 + np.abs(down)).max(axis=1)
    t = 1.0 / np.maximum(1.0, tightest)
    predicted = (1.0 - t) * gap + t * t * np.einsum("bi,bi->b", C, da * dm)
    mu = ((predicted / gap) ** 3 * gap / (2.0 * total))[:, None]

    r_s = mu / a + s * (up * (1.0 + up) - 1.0)
    r_x = mu / c - x * (down * (1.0 - down) + 1.0)
    target = r_s - r_x
    dv, db, df, _ = system.step(D, y * target, beta, v)
    da = H * (target - y * df)
    up, down = da / a, da / c
    ds, dx = r_s - s * up, r_x + x * down
    blocking = np.minimum(np.minimum(up, -down), np.minimum(ds / s, dx / x)).min(axis=1)
    t = np.minimum(1.0, 0.9995 / np.maximum(-blocking, 1e-300))
    step = t[:, None]
    return Point(
        a + step * da,
        c - step * da,
        s + step * ds,
        x + step * dx,
        v + step * dv,
        b + t * db,
        residual * (1.0 - t),
    )
