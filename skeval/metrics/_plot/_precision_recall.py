"""Drawing of a precision-recall curve with its bands."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from numpy.typing import ArrayLike

from skeval.metrics._plot._scores import ScoreDisplay, draw_bands
from skeval.metrics._precision_recall_band import (
    PrecisionRecallCurveBand,
    precision_recall_curve_band,
)
from skeval.utils._plotting import axes_and_figure

__all__ = ["PrecisionRecallDisplay"]


@dataclass(eq=False, repr=False)
class PrecisionRecallDisplay(ScoreDisplay):
    """Precision-recall curve with its interval at each recall and the band of the whole curve.

    Parameters
    ----------
    band : PrecisionRecallCurveBand
        The curve and its bands.
    name : str, default=None
        What the legend calls the curve.

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
    precision_recall_curve_band : The numbers.
    BreakEvenDisplay : The curve with its break-even point.

    Examples
    --------
    >>> from skeval.metrics import PrecisionRecallDisplay
    >>> display = PrecisionRecallDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(display.band.average_precision, 4)
    0.8333
    """

    band: PrecisionRecallCurveBand
    _: KW_ONLY
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        n_resamples: int = 1000,
        random_state: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> PrecisionRecallDisplay:
        """Draw the precision-recall curve of a score.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes, two.
        y_score : array-like of shape (n_samples,)
            Larger says more surely positive.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            The share of each sample in the rates.
        groups : array-like of shape (n_samples,), default=None
            For samples that belong together.
        confidence_level : float, default=0.95
            Coverage of the interval at each recall, of the band and of the interval of the area.
        n_resamples : int, default=1000
            Curves that are simulated for the band of the whole.
        random_state : int, RandomState, Generator or None, default=None
            Draws the simulated curves.
        name : str, default=None
            What the legend calls the curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        display : PrecisionRecallDisplay
        """
        band = precision_recall_curve_band(
            y_true,
            y_score,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
        return cls(band, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> PrecisionRecallDisplay:
        """Draw the curve, its bands, and the prevalence.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        self : PrecisionRecallDisplay
        """
        self.ax_, self.figure_ = axes_and_figure(ax)
        band, ends = self.band, self.band.average_precision_interval
        chance = f"prevalence {band.prevalence:.3f}"
        self.ax_.axhline(band.prevalence, color="0.5", linewidth=1, linestyle="--", label=chance)
        label = (
            f"{self.name or 'score'} (AP {band.average_precision:.3f}, "
            f"{ends.low:.3f} to {ends.high:.3f})"
        )
        (self.line_,) = self.ax_.plot(
            *band.points.T, **{"label": label, "drawstyle": "steps-pre", **kwargs}
        )
        draw_bands(self.ax_, band.recall, band, self.line_.get_color())
        self.ax_.set(xlabel="Recall", ylabel="Precision", aspect="equal")
        self.ax_.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        self.ax_.legend(loc="best", fontsize="small")
        return self
