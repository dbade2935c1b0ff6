"""Several clusterings: indices against the number of clusters, one index against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.cluster._pareto import ClusteringComparison, pareto_dominance
from skeval.utils._plotting import (
    axes_and_figure,
    column_of_axes,
    place_names,
    put_legend_above,
    read_fields,
)

__all__ = ["IndicesDisplay", "ParetoDisplay"]


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
        return cls(**read_fields(cls, comparison)).plot(axes=axes)

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
class ParetoDisplay:
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

    def plot(self, ax: Any = None) -> ParetoDisplay:
        """Draw the clusterings by name, those of the front filled and joined.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ParetoDisplay
            The display itself.
        """
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax)
        (x, y), front = self.values.T, self.front
        order = np.flatnonzero(front)[np.argsort(x[front], kind="stable")]
        ax.plot(x[order], y[order], color="C1", linestyle="--", zorder=1)
        scatter(ax, x, y, front)
        ax.set_xlabel(label_axis(self.indices[0], self.greater_is_better[0]))
        ax.set_ylabel(label_axis(self.indices[1], self.greater_is_better[1]))
        ax.margins(0.15)  # room for the names
        put_legend_above(ax, 0.12, ncols=2)
        place_names(ax, self.names, self.values)
        return self
