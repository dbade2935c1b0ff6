"""Mean ranks of classifiers over data sets, and who is not found different."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.model_selection._datasets_result import DatasetComparison
from skeval.utils._plotting import axes_and_figure, shorten_name

__all__ = ["CriticalDifferenceDisplay"]

BAR, ROW = 0.35, 0.6  # heights, in units of the vertical axis
INCHES = 0.42  # of a unit
AXIS, LETTER = 5.5, 0.09  # inches: the axis of ranks, and a letter of a name


@dataclass(kw_only=True, eq=False)
class CriticalDifferenceDisplay:
    """The critical-difference diagram: an axis of mean ranks, the best on the left.

    A bar joins classifiers that are neighbours by rank and of which no two are found different. It
    is recommended to use `from_comparison` to create a display.

    Parameters
    ----------
    names : sequence of str
        The classifiers, from the best mean rank to the worst.
    mean_ranks : sequence of float
        Their mean ranks.
    groups : sequence of (int, int)
        First and last place of each bar.
    critical_difference : float or None
        Length of the ruler above the axis; None for tests that have none.
    title : str
        Which test it is.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    bars_ : list of matplotlib Line2D
        The bars.
    texts_ : list of matplotlib Text
        The names with their ranks.

    See Also
    --------
    compare_over_datasets : Computes what is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import CriticalDifferenceDisplay, compare_over_datasets
    >>> scores = np.random.default_rng(0).normal(size=(15, 4)) + [0, 0, 1, 2]
    >>> display = CriticalDifferenceDisplay.from_comparison(compare_over_datasets(scores))
    >>> len(display.texts_)
    4
    """

    names: Sequence[str]
    mean_ranks: Sequence[float]
    groups: Sequence[tuple[int, int]]
    critical_difference: float | None
    title: str

    @classmethod
    def from_comparison(
        cls, comparison: DatasetComparison, *, ax: Any = None
    ) -> CriticalDifferenceDisplay:
        """Draw a result of `compare_over_datasets`.

        Parameters
        ----------
        comparison : DatasetComparison
            The result.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        names = [comparison.names[place] for place in comparison.order]
        level = f"{100 * (1 - comparison.confidence_level):.3g} %"
        return cls(
            names=names,
            mean_ranks=comparison.mean_ranks[comparison.order].tolist(),
            groups=[(names.index(g[0]), names.index(g[-1])) for g in comparison.groups],
            critical_difference=(
                comparison.critical_difference if comparison.test == "nemenyi" else None
            ),
            title=f"bars: not found different ({comparison.test}, {level})",
        ).plot(ax=ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> CriticalDifferenceDisplay:
        """Draw the axis, the names and the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            Passed to the bars, `matplotlib.lines.Line2D`.

        Returns
        -------
        CriticalDifferenceDisplay
            The display itself.
        """
        k = len(self.names)
        below = 0.5 + BAR * len(self.groups)
        depth = below + ROW * ((k + 1) // 2)
        top = 0.9 if self.critical_difference is None else 1.9
        # room beside the axis for the longest name and its rank
        beside = LETTER * (8 + max(len(shorten_name(name)) for name in self.names))
        size = (AXIS + 2 * beside, INCHES * (depth + top + 0.8))
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax, figsize=size)
        self._draw_axis(ax, k)
        self.bars_ = []
        for number, (first, last) in enumerate(self.groups):
            ends = [self.mean_ranks[first] - 0.006 * k, self.mean_ranks[last] + 0.006 * k]
            height = -0.35 - BAR * number
            drawn = {"color": "C3", "lw": 4, "solid_capstyle": "butt", "zorder": 3} | kwargs
            self.bars_ += ax.plot(ends, [height, height], **drawn)
        self.texts_ = [self._draw_name(ax, place, below) for place in range(k)]
        margin = beside / AXIS * (k - 1)
        ax.set(xlim=(1 - margin, k + margin), ylim=(-depth, top), title=self.title)
        ax.axis("off")
        return self

    def _draw_axis(self, ax: Any, k: int) -> None:
        ax.plot([1, k], [0, 0], color="black", lw=1)
        step = 1 if k <= 12 else 2
        for rank in range(1, k + 1):
            ax.plot([rank, rank], [0, 0.18], color="black", lw=1)
            if (rank - 1) % step == 0:
                ax.text(rank, 0.28, str(rank), ha="center", va="bottom")
        if self.critical_difference is not None:
            ends = [1, 1 + self.critical_difference]
            ax.plot(ends, [1.25, 1.25], color="black", lw=1, marker="|")
            text = f"critical difference {self.critical_difference:.2f}"
            ax.text(ends[1] + 0.02 * k, 1.25, text, ha="left", va="center")

    def _draw_name(self, ax: Any, place: int, below: float) -> Any:
        """Draw the line from the axis to a name: the better half on the left, the best on top."""
        k, rank = len(self.names), self.mean_ranks[place]
        left = place < (k + 1) // 2
        row = place if left else k - 1 - place
        height = -below - ROW * row
        end = 1 - 0.03 * (k - 1) if left else k + 0.03 * (k - 1)
        ax.plot([rank, rank, end], [0, height, height], color="grey", lw=0.8)
        name, value = shorten_name(self.names[place]), f"{rank:.2f}"
        text = f"{name}  {value}" if left else f"{value}  {name}"
        side = np.array([-0.01, 0.01])[int(not left)] * (k - 1)
        return ax.text(end + side, height, text, ha="right" if left else "left", va="center")
