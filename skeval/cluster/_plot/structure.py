"""An index of clusters among those of data without structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.cluster._structure_test import StructureTest
from skeval.utils._plotting import axes_and_figure, mark_integers, read_fields

__all__ = ["StructureTestDisplay"]

N_BINS = 30


@dataclass(eq=False, repr=False, kw_only=True)
class StructureTestDisplay:
    """The index of the data and the distribution of that of data without structure.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    index : str
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

    index: str
    statistic: float
    null_distribution: np.ndarray
    pvalue: float

    @classmethod
    def from_result(cls, result: StructureTest, *, ax: Any = None) -> StructureTestDisplay:
        """Draw the result of `structure_test`.

        Parameters
        ----------
        result : StructureTest
            The result.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        StructureTestDisplay
        """
        return cls(**read_fields(cls, result)).plot(ax=ax)

    def plot(self, ax: Any = None) -> StructureTestDisplay:
        """Draw the histogram and the value of the data.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        StructureTestDisplay
            The display itself.
        """
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax)
        null = self.null_distribution
        defined = null[~np.isnan(null)]
        label = f"{len(null)} draws without structure"
        if len(defined) < len(null):
            label += f", {len(null) - len(defined)} undefined"
        bins = np.histogram_bin_edges([*defined, self.statistic], bins=N_BINS)
        self.histogram_ = ax.hist(defined, bins=bins, color="grey", alpha=0.6, label=label)[2]
        text = f"data {self.statistic:.3f}, P = {self.pvalue:.2g}"
        self.line_ = ax.axvline(self.statistic, color="C1", label=text)
        ax.set(xlabel=self.index.replace("_", " "), ylabel="draws")
        mark_integers(ax)
        ax.legend()
        return self
