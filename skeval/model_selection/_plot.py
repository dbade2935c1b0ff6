"""Displays of comparisons and of perturbed errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._inference.estimate import Estimate, PerturbationExtra
from skeval.model_selection._comparison import Comparison
from skeval.utils import _plotting
from skeval.utils._plotting import Display
from skeval.utils._text import write_range

BAR, ROW = 0.35, 0.6
"""Distances of two bars and of two names, in units of the vertical axis."""
UNIT_INCHES = 0.42
"""Length of a unit of the vertical axis."""
AXIS, LETTER = 5.5, 0.09
"""Lengths of the axis of ranks and of a letter of a name, in inches."""


@dataclass(eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
    """Critical-difference diagram, an axis of mean ranks with the best on the left.

    A bar joins classifiers with adjacent ranks that do not differ significantly. Use `from_result`
    to create a display.

    Parameters
    ----------
    comparison : Comparison
        Result of a function listed under See Also.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure used by `plot`.
    bars_ : list of matplotlib Line2D
        The bars.
    texts_ : list of matplotlib Text
        The names with their ranks.

    See Also
    --------
    compare_scores : Comparison over data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import CriticalDifferenceDisplay, compare_scores
    >>> scores = np.random.default_rng(0).normal(size=(15, 4)) + [0, 0, 1, 2]
    >>> comparison = compare_scores(scores, over="datasets")
    >>> display = CriticalDifferenceDisplay.from_result(comparison)
    >>> len(display.texts_)
    4
    """

    comparison: Comparison

    def __post_init__(self) -> None:
        is_comparison = isinstance(self.comparison, Comparison)
        if not is_comparison or self.comparison.extra.mean_ranks is None:
            raise ValueError("result must be a comparison over data sets, which has mean ranks.")

    @property
    def names(self) -> list[str]:
        """Names from the best to the worst."""
        return [self.comparison.names[place] for place in self.comparison.order]

    @property
    def groups(self) -> list[tuple[int, int]]:
        """First and last index of each bar. It joins models without significant differences."""
        return [
            (self.names.index(group[0]), self.names.index(group[-1]))
            for group in self.comparison.tied
        ]

    @property
    def mean_ranks(self) -> list[float]:
        """Mean ranks in the order of the names."""
        ranks = np.asarray(self.comparison.extra.mean_ranks)
        return [float(ranks[place]) for place in self.comparison.order]

    @property
    def critical_difference(self) -> float | None:
        """Length of the ruler above the axis, or None if the test has none."""
        ruler = self.comparison.extra.critical_difference
        return ruler if self.comparison.method == "nemenyi" else None

    def _measure(self) -> tuple[float, float, float, float]:
        """Return the space below, above and beside the axis.

        The distances to the first name, to the last name and to the top are in units of the
        vertical axis. The space beside it, for the longest name and its rank, is in inches.
        """
        below = 0.5 + BAR * len(self.groups)
        depth = below + ROW * ((len(self.names) + 1) // 2)
        top = 0.9 if self.critical_difference is None else 1.9
        beside = LETTER * (8 + max(len(_plotting.shorten_name(name)) for name in self.names))
        return below, depth, top, beside

    def _find_size(self, **_: Any) -> tuple[float, float]:
        depth, top, beside = self._measure()[1:]
        return AXIS + 2 * beside, UNIT_INCHES * (depth + top + 0.8)

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw the axis, the ruler, the bars of tied models and the names."""
        k, ranks, line = len(self.names), self.mean_ranks, {"color": "black", "lw": 1}
        below, depth, top, beside = self._measure()
        # axis of ranks, with a number at every second one if there are many
        ax.plot([1, k], [0, 0], **line)
        for rank in range(1, k + 1):
            ax.plot([rank, rank], [0, 0.18], **line)
            if k <= 12 or rank % 2:
                ax.text(rank, 0.28, str(rank), ha="center", va="bottom")
        if (ruler := self.critical_difference) is not None:
            ax.plot([1, 1 + ruler], [1.25, 1.25], marker="|", **line)
            text = f"critical difference {ruler:.2f}"
            ax.text(1 + ruler + 0.02 * k, 1.25, text, ha="left", va="center")
        # a bar joins models that do not differ significantly
        self.bars_: Any = []
        for number, (first, last) in enumerate(self.groups):
            ends, height = [ranks[first] - 0.006 * k, ranks[last] + 0.006 * k], -0.35 - BAR * number
            drawn = {"color": "C3", "lw": 4, "solid_capstyle": "butt", "zorder": 3} | kwargs
            self.bars_ += ax.plot(ends, [height, height], **drawn)
        # names of the better half on the left, the best and the worst on top
        self.texts_: Any = []
        for place, (name, mean) in enumerate(zip(self.names, ranks, strict=True)):
            left = place < (k + 1) // 2
            height = -below - ROW * (place if left else k - 1 - place)
            end, side = (1, "right") if left else (k, "left")
            out = (k - 1) * (-1 if left else 1)
            ax.plot([mean, mean, end + 0.03 * out], [0, height, height], color="gray", lw=0.8)
            parts = [_plotting.shorten_name(name), f"{mean:.2f}"]
            text = "  ".join(parts if left else parts[::-1])
            self.texts_.append(ax.text(end + 0.04 * out, height, text, ha=side, va="center"))
        margin, level = beside / AXIS * (k - 1), f"{100 * self.comparison.level:.3g} %"
        title = f"bars: no significant difference ({self.comparison.method}, {level})"
        ax.set(xlim=(1 - margin, k + margin), ylim=(-depth, top), title=title)
        ax.axis("off")


class LearningCurveBandDisplay(_plotting.CurveDisplay):
    """Learning curve, the measured and extrapolated error by number of training samples.

    Use `from_result`, or `plot` of a result, to create a display.

    Parameters
    ----------
    curve : Curve
        Result of `learning_curve_band`.
    name : str, default=None
        Name in the legend. None means the name of the curve.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure used by `plot`.
    line_ : matplotlib Line2D
        The fitted power law, or a line through the errors if none could be fitted.
    points_ : list of matplotlib Line2D
        The measured errors, and the extrapolated ones.

    See Also
    --------
    learning_curve_band : Computes the curve.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skeval.model_selection import LearningCurveBandDisplay, learning_curve_band
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = learning_curve_band(GaussianNB(), X, y, random_state=0)
    >>> LearningCurveBandDisplay.from_result(curve).ax_.get_xlabel()
    'Training samples'
    """

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw the errors with their intervals, and the power law with its band."""
        curve, level = self.curve, f"{100 * self.curve.confidence_level:g} %"
        x, law = curve.x, curve.columns.get("law", curve.y)
        beyond = curve.columns.get("extrapolated", np.zeros(len(x), dtype=bool))
        # the law, dashed from the last measured size on
        label = None if law is curve.y else "fitted power law"
        options = {"color": "C0", "label": self.name or label, **kwargs}
        self.line_: Any = ax.plot(x[~beyond], law[~beyond], **options)[0]
        color, start = self.line_.get_color(), np.flatnonzero(~beyond)[-1]
        ax.plot(x[start:], law[start:], color=color, linestyle="--")
        if curve.band is not None:
            shade = {"color": color, "alpha": 0.15, "linewidth": 0}
            ax.fill_between(x, *curve.band, label=f"{level} band of the power law", **shade)
        # errors, open where they are extrapolated
        self.points_: Any = []
        for rows, face, name in ((~beyond, color, "measured"), (beyond, "white", "extrapolated")):
            ax.vlines(x[rows], curve.low[rows], curve.high[rows], color=color, linewidth=1)
            drawn = {"color": color, "markerfacecolor": face, "label": f"{name}, {level} interval"}
            self.points_ += ax.plot(x[rows], curve.y[rows], "o", **drawn) if rows.any() else []
        ax.set(**self._describe_axes())
        ax.legend(fontsize="small")


class PerturbationDisplay(_plotting.ResultDisplay):
    """Perturbed errors and the resulting confidence interval.

    The histogram shows the cross-validated error plus ``W* / sqrt(n)``, that is, the perturbed
    statistics on the scale of the error. Use `from_result` to create a display.

    Parameters
    ----------
    result : Estimate
        Result of `perturbation_interval`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes and figure used by `plot`.
    histogram_ : matplotlib BarContainer
        The perturbed errors.
    interval_ : matplotlib Polygon or Rectangle
        The shaded interval.
    line_ : matplotlib Line2D
        The cross-validated error.

    See Also
    --------
    perturbation_interval : Computes the interval.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from skeval.model_selection import PerturbationDisplay, perturbation_interval
    >>> X, y = load_iris(return_X_y=True)
    >>> result = perturbation_interval(
    ...     SVC(kernel="linear"), X[50:], y[50:], n_resamples=50, statistic="cross_validation",
    ...     random_state=0,
    ... )
    >>> PerturbationDisplay.from_result(result).ax_.get_ylabel()
    'perturbations'
    """

    result: Estimate

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw the histogram, the interval and both errors."""
        # perturbed errors
        result, extra = self.result, self.result.extra
        drawn = {"bins": "rice", "color": "C0", "alpha": 0.7, "label": "error under random weights"}
        self.histogram_: Any
        counts, _, self.histogram_ = ax.hist(result.replicates, **(drawn | kwargs))
        ax.set_ylim(0, 1.5 * np.max(counts))  # room for the legend
        # interval, cross-validated error and training error
        span = {"color": "C1", "alpha": 0.2, "linewidth": 0, "zorder": 0}
        ends, method = tuple(result.interval), result.interval.method
        label = f"{100 * result.confidence_level:g} % interval {write_range(*ends)} ({method})"
        self.interval_: Any = ax.axvspan(*ends, label=label, **span)
        label = f"cross-validated error {result.value:.3f}"
        self.line_: Any = ax.axvline(result.value, color="C1", label=label)
        label = f"training error {extra.resubstitution:.3f}"
        ax.axvline(extra.resubstitution, color="0.5", linestyle="--", label=label)
        ax.set_title(f"perturbed statistic: {extra.statistic.replace('_', '-')}", fontsize="medium")
        ax.set(xlabel=result.name, ylabel="perturbations")
        _plotting.mark_integers(ax)
        ax.legend(fontsize="small")


@_plotting.draw_result.register(Comparison)
def draw_comparison(
    result: Comparison, *, ax: Any = None
) -> CriticalDifferenceDisplay | _plotting.EstimatesDisplay:
    """Draw mean ranks over data sets, or the differences of all pairs for another comparison."""
    if result.extra.scores is not None:
        return CriticalDifferenceDisplay.from_result(result, ax=ax)
    level = f"{100 * result.confidence_level:g} %"
    display = _plotting.EstimatesDisplay(
        names=[f"{a} - {b}" for a, b in result.differences],
        values=result.tests.difference.tolist(),
        lows=result.tests.low.tolist(),
        highs=result.tests.high.tolist(),
        xlabel=f"difference in {result.scoring}, {level} simultaneous intervals",
    ).plot(ax=ax)
    display.ax_.axvline(0, color="gray", linestyle="--", linewidth=1, zorder=0)
    return display


_plotting.draw_result.register(PerturbationExtra, PerturbationDisplay.from_result)
_plotting.CURVE_DISPLAYS["learning curve"] = LearningCurveBandDisplay
