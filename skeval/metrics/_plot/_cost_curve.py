"""Drawing of a cost curve."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skeval.metrics._cost import CostCurve, cost_curve
from skeval.metrics._cost_band import CostCurveBand, cost_curve_band
from skeval.metrics._plot._scores import ScoreDisplay
from skeval.utils._plotting import axes_and_figure

__all__ = ["CostCurveDisplay"]


@dataclass(eq=False, repr=False)
class CostCurveDisplay(ScoreDisplay):
    """Cost curve: normalised expected cost against P(+)cost.

    Parameters
    ----------
    curve : CostCurve or None
        The curve; None where only the band of a difference is drawn.
    band : CostCurveBand, default=None
        Its interval, or the difference of two curves with its interval.
    name : str, default=None
        What the legend calls it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    line_ : matplotlib Line2D
        The curve.

    See Also
    --------
    cost_curve : The numbers.

    Examples
    --------
    >>> from skeval.metrics import CostCurveDisplay
    >>> display = CostCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.ax_.get_xlabel()
    'P(+)cost'
    """

    curve: CostCurve | None
    _: KW_ONLY
    band: CostCurveBand | None = None
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        baseline: ArrayLike | None = None,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        confidence_level: float | None = None,
        n_resamples: int = 1000,
        random_state: Any = None,
        name: str | None = None,
        ax: Any = None,
        lines: bool = False,
        **kwargs: Any,
    ) -> CostCurveDisplay:
        """Draw the cost curve of a score.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes, two.
        y_score : array-like of shape (n_samples,)
            Larger says more surely positive.
        baseline : array-like of shape (n_samples,), default=None
            A second score: the difference of the two curves is drawn, at `confidence_level` 0.95 by
            default.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            The share of each sample in the rates.
        confidence_level : float, default=None
            Pointwise coverage of a band; None draws none.
        n_resamples : int, default=1000
            Resamples of the band.
        random_state : int, RandomState, Generator or None, default=None
            Draws the resamples.
        name : str, default=None
            What the legend calls the curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        lines : bool, default=False
            Draw the line of every threshold as well.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        display : CostCurveDisplay
        """
        curve = band = None
        if baseline is None:
            curve = cost_curve(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        if baseline is not None or confidence_level is not None:
            band = cost_curve_band(
                y_true,
                y_score,
                baseline=baseline,
                pos_label=pos_label,
                sample_weight=sample_weight,
                confidence_level=0.95 if confidence_level is None else confidence_level,
                n_resamples=n_resamples,
                random_state=random_state,
            )
        return cls(curve, band=band, name=name).plot(ax, lines=lines, **kwargs)

    def plot(self, ax: Any = None, *, lines: bool = False, **kwargs: Any) -> CostCurveDisplay:
        """Draw the curve, its band, and the two trivial classifiers.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        lines : bool, default=False
            Draw the line of every threshold as well.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        self : CostCurveDisplay
        """
        self.ax_, self.figure_ = axes_and_figure(ax)
        difference = self.band is not None and self.band.is_difference
        if difference:
            self.ax_.axhline(0, color="0.5", linewidth=1, linestyle="--")
        else:
            trivial: dict[str, Any] = {"color": "0.5", "linewidth": 1, "linestyle": "--"}
            self.ax_.plot([0, 0.5, 1], [0, 0.5, 0], label="better trivial classifier", **trivial)
        if lines and self.curve is not None:
            ends = self.curve.lines.T
            self.ax_.plot([0, 1], ends, color="0.85", linewidth=0.5, zorder=0)
        (self.line_,) = self.ax_.plot(*self._points(), **{"label": self._label(), **kwargs})
        if self.band is not None:
            self.ax_.fill_between(
                self.band.probability_cost,
                self.band.low,
                self.band.high,
                color=self.line_.get_color(),
                alpha=0.2,
                linewidth=0,
                label=f"{100 * self.band.confidence_level:g} % interval at each point",
            )
        what = "Difference of normalised expected cost" if difference else None
        self.ax_.set(xlabel="P(+)cost", ylabel=what or "Normalised expected cost", xlim=(0, 1))
        if not difference:
            self.ax_.set_ylim(0, 0.52)
        self.ax_.legend(loc="best")
        return self

    def _points(self) -> tuple[np.ndarray, np.ndarray]:
        if self.curve is not None:
            return self.curve.probability_cost, self.curve.normalized_expected_cost
        if self.band is None:
            raise ValueError("CostCurveDisplay needs a curve or a band, got neither.")
        return self.band.probability_cost, self.band.cost

    def _label(self) -> str:
        name = self.name or ("difference" if self.curve is None else "cost curve")
        return name if self.curve is None else f"{name} (area {self.curve.area:.3f})"
