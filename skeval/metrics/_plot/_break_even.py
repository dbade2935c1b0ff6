"""Drawing of a precision-recall curve with its break-even point."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, precision_recall_curve

from skeval.metrics._checks import check_binary_scores
from skeval.metrics._plot._scores import ScoreDisplay
from skeval.metrics._ranking import break_even_point
from skeval.utils._plotting import axes_and_figure

__all__ = ["BreakEvenDisplay"]


@dataclass(eq=False, repr=False)
class BreakEvenDisplay(ScoreDisplay):
    """Precision-recall curve with the point where the two are equal.

    Parameters
    ----------
    precision, recall : ndarray of shape (n_cuts,)
        As `precision_recall_curve` returns them.
    break_even : float
        The value of `break_even_point`.
    average_precision : float
        The area under the steps.
    prevalence : float
        Fraction of positive samples, the precision of a score without information.
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
    point_ : matplotlib Line2D
        The break-even point.

    See Also
    --------
    break_even_point : The number.

    Examples
    --------
    >>> from skeval.metrics import BreakEvenDisplay
    >>> display = BreakEvenDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.break_even
    0.5
    """

    precision: np.ndarray
    recall: np.ndarray
    _: KW_ONLY
    break_even: float
    average_precision: float
    prevalence: float
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: object = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> BreakEvenDisplay:
        """Draw the curve of a score.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes, two.
        y_score : array-like of shape (n_samples,)
            Larger says more surely positive.
        pos_label : int, float, bool or str, default=None
            The positive class; None is 1 where `y_true` takes values in {0, 1} or {-1, 1}.
        sample_weight : array-like of shape (n_samples,), default=None
            Each sample counts as often as its weight says.
        name : str, default=None
            What the legend calls the curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        display : BreakEvenDisplay
        """
        positive, score, weight = check_binary_scores(y_true, y_score, pos_label, sample_weight)
        if not positive[weight > 0].any():
            raise ValueError("y_true must hold a positive sample, got none.")
        precision, recall, _ = precision_recall_curve(positive, score, sample_weight=weight)
        display = cls(
            precision,
            recall,
            break_even=break_even_point(positive, score, sample_weight=weight),
            average_precision=average_precision_score(positive, score, sample_weight=weight),
            prevalence=float(np.average(positive, weights=weight)),
            name=name,
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> BreakEvenDisplay:
        """Draw the curve, its break-even point on the diagonal, and the prevalence.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot` for the curve.

        Returns
        -------
        self : BreakEvenDisplay
        """
        self.ax_, self.figure_ = axes_and_figure(ax)
        faint: dict[str, Any] = {"color": "0.6", "linewidth": 1}
        self.ax_.plot([0, 1], [0, 1], linestyle=":", label="precision = recall", **faint)
        self.ax_.axhline(
            self.prevalence, linestyle="--", label=f"prevalence {self.prevalence:.3f}", **faint
        )
        label = f"{self.name or 'score'} (AP {self.average_precision:.3f})"
        (self.line_,) = self.ax_.plot(self.recall, self.precision, **{"label": label, **kwargs})
        (self.point_,) = self.ax_.plot(
            self.break_even,
            self.break_even,
            "o",
            color=self.line_.get_color(),
            label=f"break-even {self.break_even:.3f}",
        )
        self.ax_.set(
            xlabel="Recall", ylabel="Precision", xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal"
        )
        self.ax_.legend(loc="best")
        return self
