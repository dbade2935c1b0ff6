"""Displays of stability, of the test of structure, and of the comparison of clusterings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.cluster._pareto import ClusteringComparison, pareto_dominance
from skeval.cluster._stability import DISSOLVED, VERDICTS
from skeval.utils._plotting import (
    Display,
    column_of_axes,
    mark_integers,
    place_names,
    put_legend_above,
    read_fields,
    shorten_name,
)
from skeval.utils._text import count, say_pvalue, write_number

__all__ = [
    "ClusterStabilityDisplay",
    "IndicesDisplay",
    "ParetoDisplay",
    "StabilityDisplay",
    "StructureTestDisplay",
]


@dataclass(eq=False, repr=False, kw_only=True)
class StabilityDisplay(Display):
    """Stability, silhouette or gap against the number of clusters, the reference and the choice.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    candidates : ndarray of shape (n_candidates,)
        Numbers of clusters.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean of each candidate and its standard error; of the gap s_k.
    n_clusters : int
        The choice.
    reference_values, reference_standard_errors : ndarray of shape (n_candidates,)
        The same of data without structure.
    limits : ndarray of shape (n_candidates,)
        The value that each candidate had to reach.
    method : str
        What was measured.

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
    choose_n_clusters, gap_statistic : Compute what is drawn.

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


@dataclass(eq=False, repr=False, kw_only=True)
class ClusterStabilityDisplay(Display):
    """The stability of each cluster as a bar, with every resample as a point.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    labels, sizes : ndarray of shape (n_clusters,)
        The clusters and their numbers of samples.
    values : ndarray of shape (n_clusters,)
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
    values: np.ndarray
    replicates: np.ndarray
    verdicts: tuple[str, ...]

    def _draw(self, ax: Any) -> None:
        """Draw the bars, the points and the limits of the verdicts."""
        place, n_resamples = np.arange(len(self.labels)), self.replicates.shape[1]
        self.bars_ = ax.barh(place, self.values, color="C0", alpha=0.4)
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


N_BINS = 30


@dataclass(eq=False, repr=False, kw_only=True)
class StructureTestDisplay(Display):
    """The index of the data and the distribution of that of data without structure.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    name : str
        Name of the index.
    statistic : float
        Its value for the data.
    null_distribution : ndarray of shape (n_references,)
        Its values for draws without structure; nan where undefined.
    pvalue : float
        The P-value.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    histogram_ : matplotlib BarContainer
        The values without structure.
    line_ : matplotlib Line2D
        The value of the data.

    See Also
    --------
    structure_test : Computes what is drawn.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from skeval.cluster import StructureTestDisplay, structure_test
    >>> X = load_iris().data
    >>> result = structure_test(KMeans(3, n_init=2), X, n_references=19, random_state=0)
    >>> StructureTestDisplay.from_result(result)
    <...StructureTestDisplay ...>
    """

    name: str
    statistic: float
    null_distribution: np.ndarray
    pvalue: float

    def _draw(self, ax: Any) -> None:
        """Draw the histogram and the value of the data."""
        null = self.null_distribution
        defined = null[~np.isnan(null)]
        label = f"{count(len(null), 'draw')} without structure"
        if len(defined) < len(null):
            label += f", {len(null) - len(defined)} undefined"
        bins = np.histogram_bin_edges([*defined, self.statistic], bins=N_BINS)
        self.histogram_ = ax.hist(defined, bins=bins, color="grey", alpha=0.6, label=label)[2]
        text = f"data {write_number(self.statistic)}, {say_pvalue(self.pvalue)}"
        self.line_ = ax.axvline(self.statistic, color="C1", label=text)
        ax.set(xlabel=self.name.replace("_", " "), ylabel="draws")
        mark_integers(ax)
        ax.legend()


def label_axis(index: str, greater_is_better: bool) -> str:
    """Return an axis label that says which way is better."""
    return f"{index.replace('_', ' ')} ({'larger' if greater_is_better else 'smaller'} is better)"


def scatter(ax: Any, x: np.ndarray, y: np.ndarray, front: np.ndarray) -> None:
    """Draw points, filled where they are on the front."""
    if not front.all():
        ax.scatter(x[~front], y[~front], facecolors="white", edgecolors="C0", label="beaten")
    ax.scatter(x[front], y[front], color="C1", label="Pareto front")


@dataclass(eq=False, repr=False, kw_only=True)
class IndicesDisplay:
    """Indices of several clusterings against their number of clusters.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    names : sequence of str
        The clusterings; those that no more than their number of clusters tells apart are named by
        the ticks of the axis, any others at their points.
    n_clusters : ndarray of shape (n_clusterings,)
        Number of clusters of each clustering.
    values : ndarray of shape (n_clusterings, n_indices)
        Value of each index.
    indices : sequence of str
        Names of the indices.
    greater_is_better : sequence of bool
        Their directions.
    front : ndarray of shape (n_clusterings,), dtype bool
        The clusterings to mark: the Pareto front.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes of shape (n_indices,), and Figure
        What `plot` drew on, one panel for each index.

    See Also
    --------
    compare_clusterings : Computes what is drawn.

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

    @classmethod
    def from_result(cls, comparison: ClusteringComparison, *, axes: Any = None) -> IndicesDisplay:
        """Draw the result of `compare_clusterings`.

        Parameters
        ----------
        comparison : ClusteringComparison
            The result.
        axes : array-like of matplotlib Axes, default=None
            Where to draw, one for each index; None makes a figure.

        Returns
        -------
        IndicesDisplay
        """
        return cls(**read_fields(cls, comparison)).plot(axes)

    def plot(self, axes: Any = None) -> IndicesDisplay:
        """Draw one panel for each index; the clusterings of the front are filled.

        Parameters
        ----------
        axes : array-like of matplotlib Axes, default=None
            Where to draw, one for each index; None makes a figure.

        Returns
        -------
        IndicesDisplay
            The display itself.
        """
        size = (6, 2.2 * len(self.indices))
        self.axes_ = column_of_axes(axes, self.indices, "indices", sharex=True, figsize=size)
        for panel, (ax, name) in enumerate(zip(self.axes_, self.indices, strict=True)):
            self._draw(ax, self.values[:, panel])
            ax.set_title(label_axis(name, self.greater_is_better[panel]), fontsize="medium")
        self.axes_[-1].set_xlabel("number of clusters")
        self.figure_ = self.axes_[0].figure
        told = zip(self.names, self.n_clusters, strict=True)
        if not all(name.replace(" ", "") in (f"k={k}", f"{k}") for name, k in told):
            for ax, values in zip(self.axes_, self.values.T, strict=True):
                ax.margins(0.15)  # room for the names
                place_names(ax, self.names, np.column_stack([self.n_clusters, values]))
        self.axes_[0].legend()
        return self

    def _draw(self, ax: Any, values: np.ndarray) -> None:
        k, front = self.n_clusters, self.front
        if len(np.unique(k)) == len(k):  # else a line would join clusterings of one k
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
        Their directions.

    Attributes
    ----------
    front : ndarray of shape (n_clusterings,), dtype bool
        The clusterings that no other beats on these two indices.
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.

    See Also
    --------
    compare_clusterings : Computes what is drawn.

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
        _, self.front = pareto_dominance(self.values, greater_is_better=up)

    @classmethod
    def from_result(
        cls,
        comparison: ClusteringComparison,
        *,
        x: str | None = None,
        y: str | None = None,
        ax: Any = None,
    ) -> ParetoDisplay:
        """Draw two indices of the result of `compare_clusterings`.

        Parameters
        ----------
        comparison : ClusteringComparison
            The result.
        x, y : str, default=None
            The indices on the two axes; None takes the first and the second.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ParetoDisplay

        Raises
        ------
        ValueError
            If the comparison has no such index.
        """
        if len(comparison.indices) < 2:
            raise ValueError("comparison must hold at least two indices, got 1.")
        chosen = [name or comparison.indices[i] for i, name in enumerate((x, y))]
        for axis, name in zip("xy", chosen, strict=True):
            if name not in comparison.indices:
                known = ", ".join(comparison.indices)
                raise ValueError(f"{axis} must be one of {known}; got {name!r}.")
        columns = [comparison.indices.index(name) for name in chosen]
        return cls(
            names=comparison.names,
            values=comparison.values[:, columns],
            indices=chosen,
            greater_is_better=[comparison.greater_is_better[column] for column in columns],
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        """Draw the clusterings by name, those of the front filled and joined."""
        (x, y), front = self.values.T, self.front
        order = np.flatnonzero(front)[np.argsort(x[front], kind="stable")]
        ax.plot(x[order], y[order], color="C1", linestyle="--", zorder=1)
        scatter(ax, x, y, front)
        ax.set_xlabel(label_axis(self.indices[0], self.greater_is_better[0]))
        ax.set_ylabel(label_axis(self.indices[1], self.greater_is_better[1]))
        ax.margins(0.15)  # room for the names
        put_legend_above(ax, 0.12, ncols=2)
        place_names(ax, self.names, self.values)
