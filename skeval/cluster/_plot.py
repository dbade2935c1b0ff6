"""Displays of cluster stability and of clustering comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skeval.cluster._choose import NClustersChoice
from skeval.cluster._pareto import ClusteringComparison, pareto_dominance
from skeval.cluster._stability import DISSOLVED, VERDICTS, ClusterStability
from skeval.utils._plotting import Display, draw_result, place_names, put_legend_above, shorten_name


@dataclass(eq=False, repr=False, kw_only=True)
class StabilityDisplay(Display):
    """Stability, silhouette or gap against the number of clusters, with reference and choice.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    candidates : ndarray of shape (n_candidates,)
        Numbers of clusters.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean of each candidate and its standard error; s_k for the gap.
    n_clusters : int
        The chosen number of clusters.
    reference_values, reference_standard_errors : ndarray of shape (n_candidates,)
        The same for reference data without structure.
    limits : ndarray of shape (n_candidates,)
        Required value of each candidate.
    method : str
        Measure of the choice.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes used by `plot`.
    errorbar_, reference_ : matplotlib ErrorbarContainer
        The curves of the data and of the reference with their error bars.
    limits_ : matplotlib Line2D
        The limits.

    See Also
    --------
    choose_n_clusters, gap_statistic : Compute the displayed result.

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

    def _draw(self, ax: Any) -> None:
        """Draw both curves with their error bars, the limits and the choice."""
        # curve of the data, then of the reference
        k, style = self.candidates, {"marker": "o", "capsize": 3}
        errors = {"yerr": self.standard_errors, "label": "data"}
        self.errorbar_: Any = ax.errorbar(k, self.values, **errors, **style)
        errors = {"yerr": self.reference_standard_errors, "label": "data without structure"}
        self.reference_: Any = ax.errorbar(
            k, self.reference_values, color="gray", **errors, **style
        )
        dashed = {"color": "gray", "linestyle": "--", "label": "limit of the rule"}
        self.limits_: Any
        (self.limits_,) = ax.plot(k, self.limits, **dashed)
        # the choice
        label = f"chosen by this rule: {self.n_clusters}"
        ax.axvline(self.n_clusters, color="C1", linestyle=":", label=label)
        ax.set_xticks(self.candidates)
        ax.set_xlabel("number of clusters")
        ax.set_ylabel(f"{self.method.replace('_', ' ')}\n(mean and standard error)")
        put_legend_above(ax, 0.22, ncols=2)


@dataclass(eq=False, repr=False, kw_only=True)
class ClusterStabilityDisplay(Display):
    """Stability of each cluster as a bar, with a point for each resample.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    labels, sizes : ndarray of shape (n_clusters,)
        Clusters and their numbers of samples.
    values : ndarray of shape (n_clusters,)
        Mean Jaccard coefficient of each cluster.
    replicates : ndarray of shape (n_clusters, n_resamples)
        Coefficient in each resample.
    verdicts : tuple of str
        Verdict on each cluster.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes used by `plot`.
    bars_ : matplotlib BarContainer
        The mean coefficients.
    points_ : matplotlib Line2D
        The coefficients of the resamples.

    See Also
    --------
    cluster_stability : Computes the displayed result.

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
    values: np.ndarray
    replicates: np.ndarray
    verdicts: tuple[str, ...]

    def _draw(self, ax: Any) -> None:
        """Draw the bars, the points and the limits of the verdicts."""
        # a bar for each cluster, with its resamples spread over it
        place, n_resamples = np.arange(len(self.labels)), self.replicates.shape[1]
        self.bars_: Any = ax.barh(place, self.values, color="C0", alpha=0.4)
        spread = np.tile(np.linspace(-0.3, 0.3, n_resamples), len(place))
        heights = np.repeat(place, n_resamples) + spread
        self.points_: Any
        (self.points_,) = ax.plot(self.replicates.ravel(), heights, ".", color="C0", markersize=3)
        # limits and verdicts
        for least in VERDICTS:
            ax.axvline(least, color="gray", linestyle="--" if least > DISSOLVED else "-", lw=0.8)
        rows = zip(self.labels, self.sizes, self.verdicts, strict=True)
        names = [f"{shorten_name(label)} ({n})\n{verdict}" for label, n, verdict in rows]
        ax.set_yticks(place, names)
        ax.invert_yaxis()
        ax.set_xlim(0, 1.02)
        ax.set_xlabel("Jaccard coefficient (mean and resamples)")
        ax.set_ylabel("cluster (samples)")


def label_axis(index: str, greater_is_better: bool) -> str:
    """Return an axis label with the direction of the index."""
    return f"{index.replace('_', ' ')} ({'larger' if greater_is_better else 'smaller'} is better)"


def scatter(ax: Any, x: np.ndarray, y: np.ndarray, front: np.ndarray) -> None:
    """Draw points; points on the front are filled."""
    if not front.all():
        ax.scatter(x[~front], y[~front], facecolors="white", edgecolors="C0", label="dominated")
    ax.scatter(x[front], y[front], color="C1", label="Pareto front")


@dataclass(eq=False, repr=False, kw_only=True)
class IndicesDisplay(Display):
    """Indices of several clusterings against their number of clusters.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    names : sequence of str
        Names of the clusterings. Names that only state the number of clusters are shown as axis
        ticks, others next to the points.
    n_clusters : ndarray of shape (n_clusterings,)
        Number of clusters of each clustering.
    values : ndarray of shape (n_clusterings, n_indices)
        Value of each index.
    indices : sequence of str
        Names of the indices.
    greater_is_better : sequence of bool
        Whether larger values of each index are better.
    front : ndarray of shape (n_clusterings,), dtype bool
        Clusterings on the Pareto front, which are marked.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes of shape (n_indices,), and Figure
        Axes used by `plot`, one panel per index.

    See Also
    --------
    compare_clusterings : Computes the displayed result.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from skeval.cluster import IndicesDisplay, compare_clusterings
    >>> X = load_iris().data
    >>> partitions = {f"k={k}": KMeans(k, n_init=2, random_state=0).fit_predict(X) for k in (2, 3)}
    >>> IndicesDisplay.from_result(compare_clusterings(X, partitions))
    <...IndicesDisplay ...>
    """

    names: Sequence[str]
    n_clusters: np.ndarray
    values: np.ndarray
    indices: Sequence[str]
    greater_is_better: Sequence[bool]
    front: np.ndarray

    _share_x: ClassVar = True

    @property
    def _panels(self) -> Sequence[str]:
        return self.indices

    def _find_size(self, **_: Any) -> tuple[float, float]:
        return 6, 2.2 * len(self.indices)

    def _draw(self, _: Any) -> None:
        """Draw one panel per index; clusterings on the front are filled."""
        for panel, (ax, name) in enumerate(zip(self.axes_, self.indices, strict=True)):
            self._draw_index(ax, self.values[:, panel])
            ax.set_title(label_axis(name, self.greater_is_better[panel]), fontsize="medium")
        self.axes_[-1].set_xlabel("number of clusters")
        # names that do not only state the number of clusters
        pairs = zip(self.names, self.n_clusters, strict=True)
        if not all(name.replace(" ", "") in (f"k={k}", f"{k}") for name, k in pairs):
            for ax, values in zip(self.axes_, self.values.T, strict=True):
                ax.margins(0.15)  # room for the names
                place_names(ax, self.names, np.column_stack([self.n_clusters, values]))
        self.axes_[0].legend()

    def _draw_index(self, ax: Any, values: np.ndarray) -> None:
        k, front = self.n_clusters, self.front
        if len(np.unique(k)) == len(k):  # no line between clusterings with equal k
            order = np.argsort(k)
            ax.plot(k[order], values[order], color="C0", linewidth=1, zorder=1)
        scatter(ax, k, values, front)
        ax.set_xticks(np.unique(k))


@dataclass(eq=False, repr=False, kw_only=True)
class ParetoDisplay(Display):
    """Two indices of several clusterings, with the Pareto front of these two.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    names : sequence of str
        The clusterings.
    values : ndarray of shape (n_clusterings, 2)
        The two indices.
    indices : sequence of two str
        Their names.
    greater_is_better : sequence of two bool
        Whether larger values of each index are better.

    Attributes
    ----------
    front : ndarray of shape (n_clusterings,), dtype bool
        Clusterings on the Pareto front of these two indices.
    ax_, figure_ : matplotlib Axes and Figure
        Axes used by `plot`.

    See Also
    --------
    compare_clusterings : Computes the displayed result.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from skeval.cluster import ParetoDisplay, compare_clusterings
    >>> X = load_iris().data
    >>> partitions = {f"k={k}": KMeans(k, n_init=2, random_state=0).fit_predict(X) for k in (2, 3)}
    >>> comparison = compare_clusterings(X, partitions)
    >>> ParetoDisplay.from_result(comparison, x="silhouette", y="connectivity")
    <...ParetoDisplay ...>
    """

    names: Sequence[str]
    values: np.ndarray
    indices: Sequence[str]
    greater_is_better: Sequence[bool]

    def __post_init__(self) -> None:
        up = list(self.greater_is_better)
        self.front: np.ndarray
        _, self.front = pareto_dominance(self.values, greater_is_better=up)

    @classmethod
    def from_result(
        cls,
        result: ClusteringComparison,
        *,
        x: str | None = None,
        y: str | None = None,
        ax: Any = None,
    ) -> ParetoDisplay:
        """Draw two indices of the result of `compare_clusterings`.

        Parameters
        ----------
        result : ClusteringComparison
            The result.
        x, y : str, default=None
            Indices on the two axes. None uses the first and the second.
        ax : matplotlib Axes, default=None
            Axes to draw on. None creates a new figure.

        Returns
        -------
        ParetoDisplay

        Raises
        ------
        ValueError
            If the result has no such index.
        """
        if len(result.indices) < 2:
            raise ValueError("result must contain at least two indices, got 1.")
        chosen = [name or result.indices[i] for i, name in enumerate((x, y))]
        for axis, name in zip("xy", chosen, strict=True):
            if name not in result.indices:
                names = ", ".join(result.indices)
                raise ValueError(f"{axis} must be one of {names}; got {name!r}.")
        columns = [result.indices.index(name) for name in chosen]
        return cls(
            names=result.names,
            values=result.values[:, columns],
            indices=chosen,
            greater_is_better=[result.greater_is_better[column] for column in columns],
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        """Draw the named clusterings; points on the front are filled and joined."""
        (x, y), front = self.values.T, self.front
        # points of the front, joined from left to right
        order = np.flatnonzero(front)[np.argsort(x[front], kind="stable")]
        ax.plot(x[order], y[order], color="C1", linestyle="--", zorder=1)
        scatter(ax, x, y, front)
        ax.set_xlabel(label_axis(self.indices[0], self.greater_is_better[0]))
        ax.set_ylabel(label_axis(self.indices[1], self.greater_is_better[1]))
        ax.margins(0.15)  # room for the names
        put_legend_above(ax, 0.12, ncols=2)
        place_names(ax, self.names, self.values)


draw_result.register(NClustersChoice, StabilityDisplay.from_result)
draw_result.register(ClusterStability, ClusterStabilityDisplay.from_result)
draw_result.register(ClusteringComparison, IndicesDisplay.from_result)
