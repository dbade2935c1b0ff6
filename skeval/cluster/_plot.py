"""Displays of cluster stability and of clustering comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skeval.cluster._choose import SEQUENTIAL, NClustersChoice
from skeval.cluster._pareto import ClusteringComparison, pareto_dominance
from skeval.cluster._stability import LIMITS, VERDICTS, ClusterStability
from skeval.utils import _plotting
from skeval.utils._checks import check_option
from skeval.utils._plotting import shorten_name


class StabilityDisplay(_plotting.ResultDisplay):
    """Stability, silhouette or gap against the number of clusters, with reference and choice.

    Parameters
    ----------
    result : NClustersChoice
        The displayed result.

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

    result: NClustersChoice

    def _draw(self, ax: Any) -> None:
        """Draw both curves with their error bars, the limits and the choice."""
        # curve of the data, then of the reference
        choice, style = self.result, {"marker": "o", "capsize": 3}
        k, errors = choice.candidates, choice.reference_standard_errors
        self.errorbar_: Any = ax.errorbar(
            k, choice.values, choice.standard_errors, label="data", **style
        )
        style |= {"color": "gray", "label": "data without structure"}
        self.reference_: Any = ax.errorbar(k, choice.reference_values, errors, **style)
        dashed = {"color": "gray", "linestyle": "--", "label": "value required by the rule"}
        self.limits_: Any = ax.plot(k, choice.limits, **dashed)[0]
        # the chosen number of clusters; the sequential tests compare silhouettes
        rule = named = name_index(choice.method)
        if choice.method == SEQUENTIAL:
            rule, named = "sequential tests", "silhouette"
        label = f"{rule}: {choice.n_clusters} chosen"
        ax.axvline(choice.n_clusters, color="C1", linestyle=":", label=label)
        ax.set_xticks(k)
        ax.set_xlabel("number of clusters")
        # values without standard errors are no means over repeats
        single = np.isnan(choice.standard_errors).all()
        ax.set_ylabel(named if single else f"{named}\n(mean and standard error)")
        _plotting.put_legend_above(ax, 0.22, ncols=2, columnspacing=1, handlelength=1.5)


class ClusterStabilityDisplay(_plotting.ResultDisplay):
    """Stability of each cluster as a bar, with a point for each resample.

    Parameters
    ----------
    result : ClusterStability
        The displayed result.

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

    result: ClusterStability

    def _draw(self, ax: Any) -> None:
        """Draw the bars, the points and the limits of the verdicts."""
        # a bar for each cluster, with its resamples spread over it
        stability, replicates = self.result, self.result.replicates
        place, n_resamples = np.arange(len(replicates)), replicates.shape[1]
        self.bars_: Any = ax.barh(place, stability.values, color="C0", alpha=0.4)
        spread = np.tile(np.linspace(-0.3, 0.3, n_resamples), len(place))
        heights = np.repeat(place, n_resamples) + spread
        self.points_: Any = ax.plot(replicates.ravel(), heights, ".", color="C0", markersize=3)[0]
        # limits and verdicts
        for least, verdict, style in zip(LIMITS, VERDICTS, (":", "-.", "--", "-"), strict=True):
            label = f"{verdict} above {least:g}"
            ax.axvline(least, color="gray", linestyle=style, lw=1.2, label=label)
        above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "frameon": False}
        ax.legend(ncols=2, fontsize="small", **above)
        rows = zip(stability.labels, stability.sizes, stability.verdicts, strict=True)
        names = [f"{shorten_name(label)} ({n})\n{verdict}" for label, n, verdict in rows]
        ax.set_yticks(place, names)
        ax.invert_yaxis()
        ax.set_xlim(0, 1.02)
        ax.set_xlabel("Jaccard coefficient (mean and resamples)")
        ax.set_ylabel("cluster (samples)")


NAMES = {"dunn": "Dunn", "davies": "Davies-", "bouldin": "Bouldin", "calinski": "Calinski-"}
NAMES |= {"harabasz": "Harabasz", "rand": "Rand"}
"""Words in the names of indices that are names of persons."""


def name_index(index: str) -> str:
    """Return the display name of an index, such as Davies-Bouldin pairwise."""
    return " ".join(NAMES.get(word, word) for word in index.split("_")).replace("- ", "-")


def label_axis(index: str, greater_is_better: bool) -> str:
    """Return an axis label with the direction of the index."""
    return f"{name_index(index)} ({'larger' if greater_is_better else 'smaller'} is better)"


def scatter(ax: Any, x: np.ndarray, y: np.ndarray, front: np.ndarray) -> None:
    """Draw points. Points on the front are filled."""
    if not front.all():
        ax.scatter(x[~front], y[~front], facecolors="white", edgecolors="C0", label="dominated")
    ax.scatter(x[front], y[front], color="C1", label="Pareto front")


class IndicesDisplay(_plotting.ResultDisplay):
    """Indices of clusterings against their number of clusters, with the Pareto front marked.

    Names that only state the number of clusters are shown as axis ticks. Other names are shown
    next to the points.

    Parameters
    ----------
    result : ClusteringComparison
        The displayed result.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes of shape (n_indices,), and Figure
        Axes used by `plot`, one panel for each index.

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

    result: ClusteringComparison

    _share_x: ClassVar = True

    @property
    def _panels(self) -> Sequence[str]:
        return self.result.indices

    def _find_size(self, **_: Any) -> tuple[float, float]:
        return 6, 2.2 * len(self.result.indices)

    def _draw(self, _: Any) -> None:
        """Draw one panel per index. Clusterings on the front are filled."""
        compared, k = self.result, self.result.n_clusters
        # names such as k=3 would repeat the axis
        pairs = zip(compared.names, k, strict=True)
        plain = all(name.replace(" ", "") in (f"k={k}", f"{k}") for name, k in pairs)
        order, directions = np.argsort(k), compared.greater_is_better
        panels = zip(self.axes_, compared.indices, directions, compared.values.T, strict=True)
        for ax, name, up, values in panels:
            if len(np.unique(k)) == len(k):  # no line between clusterings with equal k
                ax.plot(k[order], values[order], color="C0", linewidth=1, zorder=1)
            scatter(ax, k, values, compared.front)
            ax.margins(y=0.15)  # whole markers
            ax.set_xticks(np.unique(k))
            ax.set_title(label_axis(name, up), fontsize="medium")
            # names that do not only state the number of clusters
            if not plain:
                ax.margins(0.15)  # room for the names
                _plotting.place_names(ax, compared.names, np.column_stack([k, values]))
        self.axes_[-1].set_xlabel("number of clusters")
        self.axes_[0].legend()


@dataclass(eq=False, repr=False)
class ParetoDisplay(_plotting.ResultDisplay):
    """Scatter plot of several clusterings by two indices, with the Pareto front.

    Parameters
    ----------
    result : ClusteringComparison
        The displayed result.
    x, y : str
        Indices on the two axes.

    Attributes
    ----------
    front_ : ndarray of shape (n_clusterings,), dtype bool
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

    result: ClusteringComparison
    x: str
    y: str

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
            Indices on the two axes. If None, the first two indices are used.
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
        names = result.indices
        if len(names) < 2:
            raise ValueError("result must contain at least two indices, got 1.")
        x, y = check_option("x", x or names[0], names), check_option("y", y or names[1], names)
        return cls(result, x, y).plot(ax)

    def _draw(self, ax: Any) -> None:
        """Draw the named clusterings. Points on the front are filled and joined."""
        compared, names = self.result, [self.x, self.y]
        columns = [compared.indices.index(name) for name in names]
        up = [compared.greater_is_better[column] for column in columns]
        values = compared.values[:, columns]
        self.front_: np.ndarray = pareto_dominance(values, greater_is_better=up)[1]
        # points of the front, joined from left to right
        x, y = values.T
        order = np.flatnonzero(self.front_)[np.argsort(x[self.front_], kind="stable")]
        ax.plot(x[order], y[order], color="C1", linestyle="--", zorder=1)
        scatter(ax, x, y, self.front_)
        ax.set_xlabel(label_axis(self.x, up[0]))
        ax.set_ylabel(label_axis(self.y, up[1]))
        ax.margins(0.15)  # room for the names
        _plotting.put_legend_above(ax, 0.12, ncols=2)
        _plotting.place_names(ax, compared.names, values)


_plotting.draw_result.register(NClustersChoice, StabilityDisplay.from_result)
_plotting.draw_result.register(ClusterStability, ClusterStabilityDisplay.from_result)
_plotting.draw_result.register(ClusteringComparison, IndicesDisplay.from_result)
