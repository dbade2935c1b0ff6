"""The stability of clusterings against their number of clusters."""

from typing import Any

import numpy as np

from skeval.cluster._choose import NClustersChoice
from skeval.utils._plotting import axes_and_figure

__all__ = ["StabilityDisplay"]


class StabilityDisplay:
    """Stability against the number of clusters, with the choice.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    candidates : ndarray of shape (n_candidates,)
        Numbers of clusters.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean stability and its standard error.
    n_clusters : int
        The choice.
    method : str
        Name of the measure of stability.
    threshold : float
        The value that the choice had to reach.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    errorbar_ : matplotlib ErrorbarContainer
        The curve with its error bars.

    See Also
    --------
    choose_n_clusters : Computes what is drawn.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from skeval.cluster import StabilityDisplay, choose_n_clusters
    >>> X = load_iris().data
    >>> choice = choose_n_clusters(
    ...     KMeans(n_init=2), X, n_clusters=range(1, 5), n_repeats=3, random_state=0
    ... )
    >>> StabilityDisplay.from_result(choice)
    <...StabilityDisplay ...>
    """

    def __init__(
        self,
        *,
        candidates: np.ndarray,
        values: np.ndarray,
        standard_errors: np.ndarray,
        n_clusters: int,
        method: str,
        threshold: float,
    ) -> None:
        self.candidates = candidates
        self.values = values
        self.standard_errors = standard_errors
        self.n_clusters = n_clusters
        self.method = method
        self.threshold = threshold

    @classmethod
    def from_result(cls, choice: NClustersChoice, *, ax: Any = None) -> "StabilityDisplay":
        """Draw the result of `choose_n_clusters`.

        Parameters
        ----------
        choice : NClustersChoice
            The result.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        StabilityDisplay
        """
        return cls(
            candidates=choice.candidates,
            values=choice.values,
            standard_errors=choice.standard_errors,
            n_clusters=choice.n_clusters,
            method=choice.method,
            threshold=choice.threshold,
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> "StabilityDisplay":
        """Draw the curve, its error bars, the threshold and the choice.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        StabilityDisplay
            The display itself.
        """
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax)
        self.errorbar_ = ax.errorbar(
            self.candidates, self.values, yerr=self.standard_errors, marker="o", capsize=3
        )
        limit = f"limit of the rule: {self.threshold:.3g}"
        ax.axhline(self.threshold, color="grey", linestyle="--", label=limit)
        ax.axvline(self.n_clusters, color="C1", linestyle=":", label=f"chosen: {self.n_clusters}")
        ax.set_xticks(self.candidates)
        ax.set_xlabel("number of clusters")
        ax.set_ylabel(f"{self.method.replace('_', ' ')} (mean and standard error)")
        ax.legend()
        return self
