"""Whether one ROC or precision-recall curve lies above another, and where they cross."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from skeval.utils._checks import naming
from skeval.utils._compat import StrOptions, validate_params
from skeval.utils._text import ShownAsText

__all__ = ["CurveDominance", "curve_dominance"]

Floats = NDArray[np.float64]
_TOLERANCE = 1e-12


@dataclass(frozen=True)
class CurveDominance(ShownAsText):
    """Which of two curves lies above the other.

    Attributes
    ----------
    winner : {"a", "b", "equal", "cross"}
        The curve on or above the other everywhere and above it somewhere, if there is one.
    crossings : ndarray of shape (n_crossings, 2)
        The points (x, y) where the curve that lies above changes, by increasing x.
    """

    winner: Literal["a", "b", "equal", "cross"]
    crossings: Floats = field(repr=False)

    def __str__(self) -> str:
        points = ", ".join(f"({x:.3f}, {y:.3f})" for x, y in self.crossings)
        return f"winner     {self.winner}\ncrossings  {points or 'none'}"


@validate_params(
    {"curve_a": [tuple, list], "curve_b": [tuple, list], "kind": [StrOptions({"roc", "pr"})]}
)
def curve_dominance(
    curve_a: Sequence[ArrayLike],
    curve_b: Sequence[ArrayLike],
    *,
    kind: Literal["roc", "pr"] = "roc",
) -> CurveDominance:
    """Tell whether one curve lies on or above another everywhere, or where they cross.

    Curve A dominates B if it is on or above B at every x in [0, 1] and above B at some x. A
    classifier whose ROC curve dominates has the lower expected cost whatever the costs and priors;
    where curves cross, no single number orders them.

    Parameters
    ----------
    curve_a : tuple of arrays
        What `roc_curve` or `precision_recall_curve` returns: (FPR, TPR, ...) or
        (precision, recall, ...). What follows the first two arrays is not used.
    curve_b : tuple of arrays
        The other curve.
    kind : {"roc", "pr"}, default="roc"
        "roc": TPR against FPR. "pr": precision against recall.

    Returns
    -------
    result : CurveDominance
        With `winner`, "a", "b", "equal" or "cross", and `crossings`, shape (n_crossings, 2).

    Raises
    ------
    ValueError
        If a curve has fewer than two points, leaves [0, 1], does not reach from x = 0 to x = 1, or
        is not ordered by x.

    Notes
    -----
    Points are joined by straight lines and differences below 1e-12, in x or y, are none. At a
    vertical step the curves are compared just before and just after it. Where the two run together
    before they change sides, the crossing is where they meet. In precision-recall space the
    straight line is optimistic between distant points; with the right interpolation, one
    classifier dominates there exactly if it dominates in ROC space on the same samples (Davis &
    Goadrich, theorem 3.2).

    References
    ----------
    .. [1] Davis, J. and Goadrich, M. (2006). The relationship between precision-recall and ROC
       curves. ICML 2006. https://doi.org/10.1145/1143844.1143874

    Examples
    --------
    >>> from skeval.metrics import curve_dominance, roc_curve
    >>> y = [0, 0, 1, 1]
    >>> good, bad = roc_curve(y, [0.1, 0.2, 0.8, 0.9]), roc_curve(y, [0.1, 0.8, 0.2, 0.9])
    >>> print(curve_dominance(good, bad))
    winner     a
    crossings  none
    """
    (x_a, y_a), (x_b, y_b) = _curve(curve_a, "curve_a", kind), _curve(curve_b, "curve_b", kind)
    knots = _merge_close(np.concatenate([x_a, x_b]))
    x_a, x_b = (knots[np.searchsorted(knots, x, side="right") - 1] for x in (x_a, x_b))
    x = np.repeat(knots, 2)[1:-1]
    a, b = _one_sided_limits(x_a, y_a, x), _one_sided_limits(x_b, y_b, x)
    difference = np.where(np.abs(a - b) <= _TOLERANCE, 0.0, a - b)
    crossings = _sign_changes(x, a, difference)
    if len(crossings):
        return CurveDominance("cross", crossings)
    if (difference > 0).any():
        return CurveDominance("a", crossings)
    return CurveDominance("b" if (difference < 0).any() else "equal", crossings)


def _curve(curve: Sequence[ArrayLike], name: str, kind: str) -> tuple[Floats, Floats]:
    """Return x and y of a curve, by increasing x."""
    if len(curve) < 2:
        raise ValueError(f"{name} must hold two arrays at least, got {len(curve)}.")
    with naming(name):
        pair = [np.asarray(values) for values in curve[:2]]
        points = check_array(pair, dtype=np.float64, input_name=name)
    x, y = points if kind == "roc" else points[::-1]
    if x[0] > x[-1]:
        x, y = x[::-1], y[::-1]
    if points.min() < -_TOLERANCE or points.max() > 1 + _TOLERANCE:
        raise ValueError(f"{name} must lie in [0, 1], got {points.min()} to {points.max()}.")
    if (np.diff(x) < 0).any():
        raise ValueError(f"{name} must be ordered by its x values.")
    if len(x) < 2 or x[0] > _TOLERANCE or x[-1] < 1 - _TOLERANCE:
        raise ValueError(f"{name} must reach from x = 0 to x = 1, got {x[0]} to {x[-1]}.")
    return np.clip(x, 0, 1), y


def _merge_close(x: Floats) -> Floats:
    """Return the sorted values, of those that differ in rounding only the smallest.

    Both curves step at the same x then, where one has it as 0.1 + 0.2 and the other as 0.3.
    """
    x = np.unique(x)
    return x[np.diff(x, prepend=-np.inf) > 2 * _TOLERANCE]


def _one_sided_limits(x: Floats, y: Floats, at: Floats) -> Floats:
    """Return y just after and just before each knot: `at` is x0 x1 x1 x2 x2 ... xm.

    Only the first and the last of the points that share an x are limits of the curve.
    """
    knots, first = np.unique(x, return_index=True)
    before, after = y[first], y[np.append(first[1:], len(x)) - 1]
    left = np.searchsorted(knots, at[0::2], side="right") - 1
    right = left + 1
    slope = (before[right] - after[left]) / (knots[right] - knots[left])
    limits = np.empty(len(at))
    limits[0::2] = after[left] + slope * (at[0::2] - knots[left])
    limits[1::2] = before[right] - slope * (knots[right] - at[1::2])
    return limits


def _sign_changes(x: Floats, a: Floats, difference: Floats) -> Floats:
    """Return the points where the piecewise linear difference changes its sign."""
    away = np.flatnonzero(difference)
    change = np.flatnonzero(np.diff(np.sign(difference[away])))
    i = away[change]
    step = difference[i] / (difference[i] - difference[i + 1])  # 1 where they meet at i + 1
    return np.column_stack([p[i] + step * (p[i + 1] - p[i]) for p in (x, a)])
