"""The errors of selecting features outside and inside the loop, and their difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._inference.interval import ConfidenceInterval
from skeval.feature_selection._selection_bias import SelectionBias
from skeval.utils._plotting import axes_and_figure, read_fields

__all__ = ["SelectionBiasDisplay"]

ROWS = ("selected outside\nthe loop (CV1)", "selected inside\nthe loop (CV2)", "bias\n(CV2 - CV1)")


@dataclass(eq=False, repr=False, kw_only=True)
class SelectionBiasDisplay:
    """CV1 against CV2, and the selection bias with its interval.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    cv1_errors, cv2_errors : ndarray of shape (n_repeats,)
        Error rates with the features selected outside and inside the loop.
    bias : float
        Mean difference.
    interval : ConfidenceInterval
        Its interval.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    points_ : matplotlib Line2D
        The mean errors.
    errorbar_ : matplotlib ErrorbarContainer
        The bias with its interval.

    See Also
    --------
    selection_bias : Computes what is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skeval.feature_selection import SelectionBiasDisplay, selection_bias
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = selection_bias(SelectKBest(k=5), GaussianNB(), X, y, random_state=0)
    >>> SelectionBiasDisplay.from_result(result).ax_.get_xlabel()
    'error rate'
    """

    cv1_errors: np.ndarray
    cv2_errors: np.ndarray
    bias: float
    interval: ConfidenceInterval

    @classmethod
    def from_result(cls, result: SelectionBias, *, ax: Any = None) -> SelectionBiasDisplay:
        """Draw the result of `selection_bias`.

        Parameters
        ----------
        result : SelectionBias
            The result.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        SelectionBiasDisplay
        """
        return cls(**read_fields(cls, result)).plot(ax=ax)

    def plot(self, ax: Any = None) -> SelectionBiasDisplay:
        """Draw both errors, each repeat faintly, and the bias with its interval.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        SelectionBiasDisplay
            The display itself.
        """
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax, figsize=(6.4, 2.8))
        errors = (self.cv1_errors, self.cv2_errors)
        if len(self.cv1_errors) > 1:
            repeats = np.concatenate(errors)
            rows = np.repeat([0, 1], len(self.cv1_errors))
            label = f"each of {len(self.cv1_errors)} repeats"
            ax.plot(repeats, rows, "|", color="C0", markersize=12, alpha=0.6, label=label)
        means = [float(np.mean(values)) for values in errors]
        (self.points_,) = ax.plot(means, [0, 1], "o", color="C0", label="cross-validated error")
        reach = [[self.bias - self.interval.low], [self.interval.high - self.bias]]
        label = f"difference, {100 * self.interval.confidence_level:g} % interval"
        self.errorbar_ = ax.errorbar(
            self.bias, 2, xerr=reach, fmt="s", color="C1", capsize=4, label=label
        )
        for row, value in enumerate([*means, self.bias]):
            ax.annotate(f"{value:.3f}", (value, row), xytext=(0, 9), **BESIDE)
        ax.axvline(0, color="0.5", linewidth=1, linestyle="--")
        ax.set_yticks(range(3), ROWS)
        ax.set(xlabel="error rate", ylim=(2.5, -0.6))
        ax.legend(fontsize="small")
        return self


BESIDE: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
