"""Mean Jaccard coefficients of clusters, with the limits of the verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.cluster._cluster_stability import DISSOLVED, VERDICTS, ClusterStability
from skeval.utils._plotting import axes_and_figure, read_fields, shorten_name

__all__ = ["ClusterStabilityDisplay"]


@dataclass(eq=False, repr=False, kw_only=True)
class ClusterStabilityDisplay:
    """The stability of each cluster as a bar, with every resample as a point.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    labels, sizes : ndarray of shape (n_clusters,)
        The clusters and their numbers of samples.
    mean_jaccard : ndarray of shape (n_clusters,)
        Mean Jaccard coefficient of each cluster.
    replicates : ndarray of shape (n_clusters, n_resamples)
        The coefficient in each resample.
    verdicts : tuple of str
        What the mean says of each cluster.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    bars_ : matplotlib BarContainer
        The mean coefficients.
    points_ : matplotlib Line2D
        The coefficients of the resamples.

    See Also
    --------
    cluster_stability : Computes what is drawn.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from skeval.cluster import ClusterStabilityDisplay, cluster_stability
    >>> X = load_iris().data
    >>> result = cluster_stability(KMeans(3, n_init=2), X, n_resamples=10, random_state=0)
    >>> ClusterStabilityDisplay.from_result(result)
    <...ClusterStabilityDisplay ...>
    """

    labels: np.ndarray
    sizes: np.ndarray
    mean_jaccard: np.ndarray
    replicates: np.ndarray
    verdicts: tuple[str, ...]

    @classmethod
    def from_result(cls, result: ClusterStability, *, ax: Any = None) -> ClusterStabilityDisplay:
        """Draw the result of `cluster_stability`.

        Parameters
        ----------
        result : ClusterStability
            The result.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ClusterStabilityDisplay
        """
        return cls(**read_fields(cls, result)).plot(ax=ax)

    def plot(self, ax: Any = None) -> ClusterStabilityDisplay:
        """Draw the bars, the points and the limits of the verdicts.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ClusterStabilityDisplay
            The display itself.
        """
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax)
        place, n_resamples = np.arange(len(self.labels)), self.replicates.shape[1]
        self.bars_ = ax.barh(place, self.mean_jaccard, color="C0", alpha=0.4)
        spread = np.tile(np.linspace(-0.3, 0.3, n_resamples), len(place))
        (self.points_,) = ax.plot(
            self.replicates.ravel(),
            np.repeat(place, n_resamples) + spread,
            ".",
            color="C0",
            markersize=3,
        )
        for least in VERDICTS:
            ax.axvline(least, color="grey", linestyle="--" if least > DISSOLVED else "-", lw=0.8)
        rows = zip(self.labels, self.sizes, self.verdicts, strict=True)
        names = [f"{shorten_name(label)} ({n})\n{verdict}" for label, n, verdict in rows]
        ax.set_yticks(place, names)
        ax.invert_yaxis()
        ax.set_xlim(0, 1.02)
        ax.set_xlabel("Jaccard coefficient (mean and resamples)")
        ax.set_ylabel("cluster (samples)")
        return self
