"""The draws of a perturbation interval, and the interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._inference.interval import ConfidenceInterval
from skeval.model_selection._perturbation import PerturbationInterval
from skeval.utils._plotting import axes_and_figure, mark_integers, read_fields
from skeval.utils._text import mean_loss_name

__all__ = ["PerturbationDisplay"]


@dataclass(eq=False, repr=False, kw_only=True)
class PerturbationDisplay:
    """Perturbed errors and the confidence interval that they make.

    The histogram is of the cross-validated error plus ``W* / sqrt(n)``: the perturbed statistics
    on the scale of the error. It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    statistics : ndarray of shape (n_resamples,)
        The perturbed statistics `W*`.
    n_samples : int
        Number of samples.
    error : float
        The cross-validated error.
    interval : ConfidenceInterval
        Its interval.
    resubstitution : float
        Error on the training samples.
    statistic : str
        The statistic that was perturbed.
    loss : str
        Name of the loss.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    histogram_ : matplotlib BarContainer
        The perturbed errors.
    interval_ : matplotlib Polygon or Rectangle
        The shaded interval.
    line_ : matplotlib Line2D
        The cross-validated error.

    See Also
    --------
    perturbation_interval : Computes what is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from skeval.model_selection import PerturbationDisplay, perturbation_interval
    >>> X, y = load_iris(return_X_y=True)
    >>> result = perturbation_interval(
    ...     SVC(kernel="linear"), X[50:], y[50:], n_resamples=50, statistic="cross_validation",
    ...     random_state=0,
    ... )
    >>> PerturbationDisplay.from_result(result).ax_.get_ylabel()
    'perturbations'
    """

    statistics: np.ndarray
    n_samples: int
    error: float
    interval: ConfidenceInterval
    resubstitution: float
    statistic: str
    loss: str

    @classmethod
    def from_result(cls, result: PerturbationInterval, *, ax: Any = None) -> PerturbationDisplay:
        """Draw the result of `perturbation_interval`.

        Parameters
        ----------
        result : PerturbationInterval
            The result.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        PerturbationDisplay
        """
        return cls(**read_fields(cls, result)).plot(ax=ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> PerturbationDisplay:
        """Draw the histogram, the interval and both errors.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.hist`.

        Returns
        -------
        PerturbationDisplay
            The display itself.
        """
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax)
        perturbed = self.error + self.statistics / np.sqrt(self.n_samples)
        drawn = {"bins": "rice", "color": "C0", "alpha": 0.7, "label": "error under random weights"}
        counts, _, self.histogram_ = ax.hist(perturbed, **(drawn | kwargs))
        ax.set_ylim(0, 1.5 * np.max(counts))  # This leaves room for the legend.
        span = {"color": "C1", "alpha": 0.2, "linewidth": 0, "zorder": 0}
        ends = self.interval.low, self.interval.high
        self.interval_ = ax.axvspan(*ends, label=self._interval_label(), **span)
        self.line_ = ax.axvline(
            self.error, color="C1", label=f"cross-validated error {self.error:.3f}"
        )
        ax.axvline(
            self.resubstitution,
            color="0.5",
            linestyle="--",
            label=f"training error {self.resubstitution:.3f}",
        )
        ax.set_title(f"perturbed statistic: {self.statistic.replace('_', '-')}", fontsize="medium")
        ax.set(xlabel=mean_loss_name(self.loss), ylabel="perturbations")
        mark_integers(ax)
        ax.legend(fontsize="small")
        return self

    def _interval_label(self) -> str:
        found = self.interval
        ends = f"{found.low:.3f} to {found.high:.3f}"
        return f"{100 * found.confidence_level:g} % interval {ends} ({found.method})"
