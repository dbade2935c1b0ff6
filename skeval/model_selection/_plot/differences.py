"""Differences of all pairs with their intervals, as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.model_selection._comparison_result import ClassifierComparisons
from skeval.model_selection._datasets_result import DatasetComparison
from skeval.utils._plotting import axes_and_figure, shorten_name

__all__ = ["DifferencesDisplay"]

INCHES = 0.78  # of a cell
LARGEST, SMALLEST = 9.0, 5.0  # size of texts in points, and the least that can be read
FILLED = 0.94  # of the width or height of a cell, by the longest text
WEAK, STRONG = 0.35, 0.9  # opacity of a cell whose interval holds 0, and of one that does not


@dataclass(kw_only=True, eq=False)
class DifferencesDisplay:
    """A heat map of the differences of all pairs, the row minus the column.

    Each cell has the difference, and below it the ends of its interval; all intervals hold
    together. What could not be read in small cells is left out. A cell whose interval holds 0 is
    pale. It is recommended to use `from_comparison` to create a display.

    Parameters
    ----------
    names : sequence of str
        The classifiers, from the best to the worst.
    differences : ndarray of shape (n_classifiers, n_classifiers)
        Score of the row minus that of the column.
    lows, highs : ndarray of shape (n_classifiers, n_classifiers)
        Ends of the simultaneous intervals.
    title : str
        What is drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    image_ : matplotlib AxesImage
        The cells.
    texts_ : list of matplotlib Text
        What stands in them.

    See Also
    --------
    compare_classifiers : Computes what is drawn, on one data set.
    compare_over_datasets : Computes what is drawn, on several.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import DifferencesDisplay, compare_over_datasets
    >>> scores = np.random.default_rng(0).normal(size=(15, 4)) + [0, 0, 1, 2]
    >>> display = DifferencesDisplay.from_comparison(compare_over_datasets(scores))
    >>> len(display.texts_)
    12
    """

    names: Sequence[str]
    differences: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    title: str

    @classmethod
    def from_comparison(
        cls, comparison: ClassifierComparisons | DatasetComparison, *, ax: Any = None
    ) -> DifferencesDisplay:
        """Draw a result of `compare_classifiers` of a dict, or of `compare_over_datasets`.

        Parameters
        ----------
        comparison : ClassifierComparisons or DatasetComparison
            The result.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        DifferencesDisplay
        """
        if isinstance(comparison, DatasetComparison):
            order = comparison.order
        else:
            order = np.argsort(-comparison.scores, kind="stable")
        both = np.ix_(order, order)
        level = f"{100 * comparison.confidence_level:g} %"
        return cls(
            names=[comparison.names[place] for place in order],
            differences=comparison.differences[both],
            lows=comparison.lows[both],
            highs=comparison.highs[both],
            title=f"row minus column; {level} intervals for all together",
        ).plot(ax=ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> DifferencesDisplay:
        """Draw the cells.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.imshow`.

        Returns
        -------
        DifferencesDisplay
            The display itself.
        """
        k = len(self.names)
        size = (4.5 + INCHES * k, 3.0 + INCHES * k)
        self.ax_, self.figure_ = ax, figure = axes_and_figure(ax, figsize=size)
        with np.errstate(invalid="ignore"):
            found = (self.lows > 0) | (self.highs < 0)
        largest = float(np.abs(self.differences).max()) or 1.0
        drawn = {"cmap": "RdBu", "vmin": -largest, "vmax": largest} | kwargs
        opacity = np.where(found, STRONG, WEAK)
        self.image_ = ax.imshow(self.differences, alpha=opacity, **drawn)
        dark = found & (np.abs(self.differences) > 0.6 * largest)
        n_digits = max(0, 1 - int(np.floor(np.log10(largest))))
        options: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": LARGEST}
        self.texts_ = [
            ax.text(j, i, self._describe(i, j, n_digits), color="kw"[int(dark[i, j])], **options)
            for i in range(k)
            for j in range(k)
            if i != j
        ]
        labels = [shorten_name(name) for name in self.names]
        ax.set_xticks(range(k), labels, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(k), labels)
        ax.set_title(self.title, fontsize="medium")
        figure.colorbar(self.image_, ax=ax, shrink=0.6, label="difference")
        self._fit_texts()
        return self

    def _fit_texts(self) -> None:
        """Let the texts fit their cells; what could not be read goes, the intervals first."""
        self.figure_.canvas.figure.draw_without_rendering()  # the layout settles the cells
        for n_lines in (2, 1):
            self._keep_lines(n_lines)
            size = self._find_size()
            if size >= SMALLEST:
                break
        else:
            self._keep_lines(0)
        for text in self.texts_:
            text.set_fontsize(size)

    def _keep_lines(self, n_lines: int) -> None:
        for text in self.texts_:
            text.set_text("\n".join(text.get_text().split("\n")[:n_lines]))

    def _find_size(self) -> float:
        """Return the size in points at which the longest text fits a cell."""
        cell = np.abs(np.diff(self.ax_.transData.transform([(0, 0), (1, 1)]), axis=0))[0]
        boxes = [text.get_window_extent() for text in self.texts_]
        longest = np.max([(box.width, box.height) for box in boxes], axis=0)
        return float(LARGEST * min(1.0, FILLED * np.min(cell / longest)))

    def _describe(self, i: int, j: int, n_digits: int) -> str:
        """Return the difference and its interval, to so many digits behind the point."""
        low, high = self.lows[i, j], self.highs[i, j]
        ends = "no interval"
        if np.isfinite([low, high]).all():
            ends = f"[{low:.{n_digits}f}, {high:.{n_digits}f}]"
        return f"{self.differences[i, j]:.{n_digits}f}\n{ends}"
