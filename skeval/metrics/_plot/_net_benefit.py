"""Drawing of a decision curve."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from skeval.metrics._net_benefit import NetBenefit, net_benefit
from skeval.metrics._plot._scores import ScoreDisplay
from skeval.utils._plotting import axes_and_figure

__all__ = ["NetBenefitDisplay"]


@dataclass(eq=False, repr=False)
class NetBenefitDisplay(ScoreDisplay):
    """Decision curve: net benefit against the threshold, with its interval.

    Parameters
    ----------
    curve : NetBenefit
        The net benefit of a model, or the difference of two.
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
    net_benefit : The numbers.

    Examples
    --------
    >>> from skeval.metrics import NetBenefitDisplay
    >>> display = NetBenefitDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.ax_.get_ylabel()
    'Net benefit'
    """

    curve: NetBenefit
    _: KW_ONLY
    name: str | None = None
    _responses: ClassVar[tuple[str, ...]] = ("predict_proba",)
    _responses_of_folds: ClassVar[tuple[str, ...]] = ("predict_proba",)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        baseline: ArrayLike | None = None,
        thresholds: ArrayLike | None = None,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> NetBenefitDisplay:
        """Draw the decision curve of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes, two at most.
        y_score : array-like of shape (n_samples,)
            Predicted probabilities of the positive class.
        baseline : array-like of shape (n_samples,), default=None
            Probabilities of a second model: the difference of the two curves is drawn.
        thresholds : array-like of shape (n_thresholds,), default=None
            Where to find it, in [0, 1); None is 0.01, 0.02, ..., 0.99.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            Each sample counts as often as its weight says.
        groups : array-like of shape (n_samples,), default=None
            For samples that belong together.
        confidence_level : float, default=0.95
            Coverage at each threshold.
        name : str, default=None
            What the legend calls the curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        display : NetBenefitDisplay
        """
        curve = net_benefit(
            y_true,
            y_score,
            baseline=baseline,
            thresholds=thresholds,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            confidence_level=confidence_level,
        )
        return cls(curve, name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> NetBenefitDisplay:
        """Draw the curve, its interval, and what treating all and none would gain.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        self : NetBenefitDisplay
        """
        self.ax_, self.figure_ = axes_and_figure(ax)
        curve, difference = self.curve, self.curve.is_difference
        faint: dict[str, Any] = {"color": "0.5", "linewidth": 1}
        name = self.name or ("difference" if difference else "model")
        (self.line_,) = self.ax_.plot(
            curve.thresholds, curve.net_benefit, **{"label": name, "zorder": 3, **kwargs}
        )
        self.ax_.fill_between(
            curve.thresholds,
            curve.low,
            curve.high,
            color=self.line_.get_color(),
            alpha=0.2,
            linewidth=0,
            label=f"{100 * curve.confidence_level:g} % interval at each threshold",
        )
        self.ax_.axhline(0, linestyle="--", label=None if difference else "treat none", **faint)
        if not difference:
            self.ax_.plot(curve.thresholds, curve.treat_all, label="treat all", **faint)
            top = max(curve.prevalence, float(curve.high[0])) * 1.05
            self.ax_.set_ylim(-top / 3, top)
        what = "Difference of net benefit" if difference else "Net benefit"
        self.ax_.set(xlabel="Threshold probability", ylabel=what)
        self.ax_.set_xlim(curve.thresholds.min(), curve.thresholds.max())
        self.ax_.legend(loc="best", fontsize="small")
        return self
