"""The stability of clusterings against their number of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.cluster._choice import NClustersChoice
from skeval.utils._plotting import axes_and_figure, put_legend_above, read_fields

__all__ = ["StabilityDisplay"]


@dataclass(eq=False, repr=False, kw_only=True)
class StabilityDisplay:
    """Stability against the number of clusters, with that of the reference and the choice.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    candidates : ndarray of shape (n_candidates,)
        Numbers of clusters.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean stability and its standard error.
    n_clusters : int
        The choice.
    reference_values, reference_standard_errors : ndarray of shape (n_candidates,)
        The same of data without structure.
    limits : ndarray of shape (n_candidates,)
        The value that each candidate had to reach.
    method : str
        Name of the measure of stability.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    errorbar_, reference_ : matplotlib ErrorbarContainer
        The curves of the data and of the reference with their error bars.
    limits_ : matplotlib Line2D
        The limits.

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

    candidates: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    n_clusters: int
    reference_values: np.ndarray
    reference_standard_errors: np.ndarray
    limits: np.ndarray
    method: str

    @classmethod
    def from_result(cls, choice: NClustersChoice, *, ax: Any = None) -> StabilityDisplay:
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
        return cls(**read_fields(cls, choice)).plot(ax=ax)

    def plot(self, ax: Any = None) -> StabilityDisplay:
        """Draw both curves with their error bars, the limits and the choice.

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
        style = {"marker": "o", "capsize": 3}
        self.errorbar_ = ax.errorbar(
            self.candidates, self.values, yerr=self.standard_errors, label="data", **style
        )
        self.reference_ = ax.errorbar(
            self.candidates,
            self.reference_values,
            yerr=self.reference_standard_errors,
            color="grey",
            label="data without structure",
            **style,
        )
        (self.limits_,) = ax.plot(
            self.candidates, self.limits, color="grey", linestyle="--", label="limit of the rule"
        )
        ax.axvline(self.n_clusters, color="C1", linestyle=":", label=f"chosen: {self.n_clusters}")
        ax.set_xticks(self.candidates)
        ax.set_xlabel("number of clusters")
        ax.set_ylabel(f"{self.method.replace('_', ' ')}\n(mean and standard error)")
        put_legend_above(ax, 0.22, ncols=2)
        return self
