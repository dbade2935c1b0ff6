"""The null distribution of a score, with the score of the true labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.model_selection._permutation import PermutationTest, PermutationTests
from skeval.utils._plotting import column_of_axes, mark_integers, put_legend_above

__all__ = ["PermutationDisplay"]

N_BINS = 40
ROUNDING = 1e-9  # relative to the range


def choose_edges(values: np.ndarray) -> np.ndarray:
    """Return the edges of bins that hold equally many of the values that a score can have.

    The accuracy of n samples is a multiple of 1/n: bins of another width would hold now one of
    these values, now two, and the histogram would have teeth.
    """
    low, high = values.min(), values.max()
    steps = np.diff(np.unique(values))
    steps = steps[steps > ROUNDING * (high - low)]
    if len(steps) < 2:  # two values tell no step
        return np.histogram_bin_edges(values, bins=N_BINS)
    step = steps.min()
    counts = (values - low) / step
    if np.abs(counts - np.round(counts)).max() > 0.01:
        return np.histogram_bin_edges(values, bins=N_BINS)
    per_bin = int(np.ceil(round(counts.max() + 1) / N_BINS))
    edges: np.ndarray = low + step * (per_bin * np.arange(counts.max() // per_bin + 2) - 0.5)
    return edges


@dataclass(eq=False, repr=False, kw_only=True)
class PermutationDisplay:
    """Scores of permuted labels, and the score of the true ones with its P-value.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    metrics : sequence of str
        Names of the scores; each has a panel.
    statistics : sequence of float
        The scores of the true labels; larger is better.
    null_distributions : sequence of ndarray
        The scores of permuted labels, for each metric.
    pvalues : sequence of float
        The P-values.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes of shape (n_metrics,), and Figure
        What `plot` drew on, one panel for each metric.
    ax_ : matplotlib Axes
        The first of `axes_`.
    histograms_ : list of matplotlib BarContainer
        The null distributions.
    lines_ : list of matplotlib Line2D
        The scores of the true labels.

    See Also
    --------
    permutation_test : Computes what is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skeval.model_selection import PermutationDisplay, permutation_test
    >>> X, y = load_iris(return_X_y=True)
    >>> result = permutation_test(
    ...     GaussianNB(), X, y, scoring="accuracy", n_permutations=20, random_state=0
    ... )
    >>> PermutationDisplay.from_result(result).ax_.get_xlabel()
    'accuracy (larger is better)'
    """

    metrics: Sequence[str]
    statistics: Sequence[float]
    null_distributions: Sequence[np.ndarray]
    pvalues: Sequence[float]

    @classmethod
    def from_result(
        cls, result: PermutationTest | PermutationTests, *, ax: Any = None
    ) -> PermutationDisplay:
        """Draw the result of `permutation_test`.

        Parameters
        ----------
        result : PermutationTest or PermutationTests
            The result, of one metric or of several.
        ax : matplotlib Axes or array-like of them, default=None
            Where to draw, one for each metric; None makes a figure.

        Returns
        -------
        PermutationDisplay
        """
        tests = [result] if isinstance(result, PermutationTest) else list(result.values())
        return cls(
            metrics=[test.metric for test in tests],
            statistics=[test.statistic for test in tests],
            null_distributions=[test.null_distribution for test in tests],
            pvalues=[test.pvalue for test in tests],
        ).plot(ax=ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> PermutationDisplay:
        """Draw one panel for each metric.

        Parameters
        ----------
        ax : matplotlib Axes or array-like of them, default=None
            Where to draw, one for each metric; None makes a figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.hist`.

        Returns
        -------
        PermutationDisplay
            The display itself.
        """
        size = (6.4, max(4.0, 2.8 * len(self.metrics)))
        self.axes_ = column_of_axes(ax, self.metrics, "metrics", figsize=size)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        self.histograms_: list[Any] = []
        self.lines_: list[Any] = []
        for panel in range(len(self.metrics)):
            self._draw(panel, kwargs)
        return self

    def _draw(self, panel: int, kwargs: dict[str, Any]) -> None:
        from matplotlib.ticker import MaxNLocator

        ax, null = self.axes_[panel], self.null_distributions[panel]
        defined = null[~np.isnan(null)]
        label = f"labels shuffled {len(null)} times"
        if len(defined) < len(null):
            label += f", {len(null) - len(defined)} undefined"
        # The range takes in the true labels, so that null scores that are all but equal are seen.
        observed = self.statistics[panel]
        bins = choose_edges(np.append(defined, observed))
        drawn = {"bins": bins, "color": "C0", "alpha": 0.6, "label": label}
        self.histograms_.append(ax.hist(defined, **(drawn | kwargs))[2])
        label = f"true labels {observed:.3f}, P = {self.pvalues[panel]:.2g}"
        self.lines_.append(ax.axvline(observed, color="C1", label=label))
        metric = self.metrics[panel].replace("_", " ")
        ax.set(xlabel=f"{metric} (larger is better)", ylabel="permutations")
        mark_integers(ax)
        ax.xaxis.set_major_locator(MaxNLocator(6))  # more of large numbers would run together
        put_legend_above(ax, 0.3)
