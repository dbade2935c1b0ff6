"""The gap statistic against the number of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.cluster._gap import GapStatistic
from skeval.utils._plotting import axes_and_figure, read_fields

__all__ = ["GapDisplay"]


@dataclass(eq=False, repr=False, kw_only=True)
class GapDisplay:
    """The gap statistic against the number of clusters, with the choice.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    candidates : ndarray of shape (n_candidates,)
        Numbers of clusters.
    gap, standard_errors : ndarray of shape (n_candidates,)
        The gap and its standard error.
    limits : ndarray of shape (n_candidates,)
        The gap that each candidate had to reach.
    n_clusters : int
        The choice.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    errorbar_ : matplotlib ErrorbarContainer
        The curve with its error bars.
    limits_ : matplotlib Line2D
        The limits.

    See Also
    --------
    gap_statistic : Computes what is drawn.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from skeval.cluster import GapDisplay, gap_statistic
    >>> X = load_iris().data
    >>> result = gap_statistic(
    ...     KMeans(n_init=2), X, n_clusters=range(1, 6), n_references=20, random_state=0
    ... )
    >>> GapDisplay.from_result(result)
    <...GapDisplay ...>
    """

    candidates: np.ndarray
    gap: np.ndarray
    standard_errors: np.ndarray
    limits: np.ndarray
    n_clusters: int

    @classmethod
    def from_result(cls, result: GapStatistic, *, ax: Any = None) -> GapDisplay:
        """Draw the result of `gap_statistic`.

        Parameters
        ----------
        result : GapStatistic
            The result.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        GapDisplay
        """
        return cls(**read_fields(cls, result)).plot(ax=ax)

    def plot(self, ax: Any = None) -> GapDisplay:
        """Draw the gap with its error bars, the limits and the choice.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        GapDisplay
            The display itself.
        """
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax)
        self.errorbar_ = ax.errorbar(
            self.candidates, self.gap, yerr=self.standard_errors, marker="o", capsize=3, label="gap"
        )
        (self.limits_,) = ax.plot(
            self.candidates,
            self.limits,
            color="grey",
            linestyle="--",
            marker="_",
            label="next gap less its standard error",
        )
        ax.axvline(self.n_clusters, color="C1", linestyle=":", label=f"chosen: {self.n_clusters}")
        ax.set_xticks(self.candidates)
        ax.set_xlabel("number of clusters")
        ax.set_ylabel("gap statistic")
        ax.legend()
        return self
