"""Display of the contingency table of two partitions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from skeval.metrics.cluster._pairs import check_labels, make_contingency
from skeval.utils._plotting import Display


@dataclass(eq=False, repr=False)
class ContingencyDisplay(Display):
    """Heat map of the contingency table of two partitions, matched clusters on the diagonal.

    It is recommended to use `from_predictions` to create a display.

    Parameters
    ----------
    contingency : ndarray of shape (n_classes, n_clusters)
        Number, or total weight, of the samples of each class in each cluster.
    classes : ndarray of shape (n_classes,)
        Names of the rows.
    clusters : ndarray of shape (n_clusters,)
        Names of the columns.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes used by `plot`.
    im_ : matplotlib AxesImage
        The heat map.
    text_ : ndarray of shape (n_classes, n_clusters), dtype matplotlib Text, or None
        Values in the cells; None if they are not shown.

    See Also
    --------
    contingency_matrix : Computes the numbers, in the order of the labels.
    external_indices : Computes indices from the table.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> from sklearn.datasets import load_iris
    >>> from skeval.metrics.cluster import ContingencyDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = AgglomerativeClustering(3).fit_predict(X)
    >>> display = ContingencyDisplay.from_predictions(y, labels)
    >>> display.contingency
    array([[50,  0,  0],
           [ 0, 49,  1],
           [ 0, 15, 35]])
    """

    contingency: np.ndarray
    _: KW_ONLY
    classes: np.ndarray
    clusters: np.ndarray

    @classmethod
    def from_predictions(
        cls,
        labels_true: ArrayLike,
        labels_pred: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
        include_values: bool = True,
        colorbar: bool = True,
        **kwargs: Any,
    ) -> ContingencyDisplay:
        """Draw two partitions of the same samples.

        Classes and clusters are matched one to one so that most samples lie in matched pairs (the
        Hungarian algorithm). Rows and columns begin with the matched pairs, in the order of the
        classes; unmatched rows or columns come last.

        Parameters
        ----------
        labels_true, labels_pred : array-like of shape (n_samples,)
            The reference classes and the clusters, or any two partitions; integers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        ax : matplotlib Axes, default=None
            Axes to draw on. None creates a new figure.
        include_values : bool, default=True
            Whether to write the value into each cell.
        colorbar : bool, default=True
            Whether to draw the color bar.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.imshow`, such as `cmap`.

        Returns
        -------
        display : ContingencyDisplay

        Raises
        ------
        ValueError
            If the labels are empty, not 1-D, differ in length, or are fractions; if a weight is
            negative or all are zero.
        """
        true = check_labels(labels_true, "labels_true")
        pred = check_labels(labels_pred, "labels_pred")
        if not len(true):
            raise ValueError("labels_true must hold at least one label, got none.")
        classes, rows = np.unique(true, return_inverse=True)
        clusters, columns = np.unique(pred, return_inverse=True)
        cells = make_contingency(rows, columns, sample_weight)
        table = np.zeros((len(classes), len(clusters)), cells.cells.dtype)
        table[cells.rows, cells.columns] = cells.counts
        row_order, column_order = order_by_match(table)
        display = cls(
            table[np.ix_(row_order, column_order)],
            classes=classes[row_order],
            clusters=clusters[column_order],
        )
        return display.plot(ax, include_values=include_values, colorbar=colorbar, **kwargs)

    def _draw(
        self, ax: Any, *, include_values: bool = True, colorbar: bool = True, **kwargs: Any
    ) -> None:
        """Draw the table, classes downwards and clusters to the right."""
        options = {"cmap": "Blues", "vmin": 0, "interpolation": "nearest", **kwargs}
        self.im_ = ax.imshow(self.contingency, **options)
        self.text_ = self._write_values() if include_values else None
        if colorbar:
            weighted = self.contingency.dtype.kind == "f"
            label = "weight" if weighted else "samples"
            ax.figure.colorbar(self.im_, ax=ax, label=label)
        ax.set_xticks(np.arange(len(self.clusters)), labels=map(str, self.clusters))
        ax.set_yticks(np.arange(len(self.classes)), labels=map(str, self.classes))
        ax.set(xlabel="cluster", ylabel="class")

    def _write_values(self) -> np.ndarray:
        """Write each value in the darkest or lightest color, whichever contrasts with its cell."""
        low, high = self.im_.cmap(0.0), self.im_.cmap(1.0)
        middle = sum(self.im_.get_clim()) / 2
        text = np.empty(self.contingency.shape, dtype=object)
        for (row, column), value in np.ndenumerate(self.contingency):
            text[row, column] = self.ax_.text(
                column,
                row,
                f"{value:d}" if self.contingency.dtype.kind in "iu" else f"{value:.3g}",
                ha="center",
                va="center",
                color=low if value > middle else high,
            )
        return text


def order_by_match(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return orders of rows and columns that begin with the best one-to-one matching."""
    rows, columns = linear_sum_assignment(table, maximize=True)
    return put_in_front(rows, table.shape[0]), put_in_front(columns, table.shape[1])


def put_in_front(first: np.ndarray, size: int) -> np.ndarray:
    """Return ``0 .. size - 1`` with some of them moved to the front."""
    return np.concatenate([first, np.setdiff1d(np.arange(size), first)])
