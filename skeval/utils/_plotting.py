"""Base classes of displays, and helpers for axes, legends and labels.

matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import singledispatch
from typing import Any, ClassVar, Self

import numpy as np

from skeval.utils._text import count, say_pvalue, write_number, write_range

MAX_NAME_LENGTH = 32


NO_DISPLAY = "There is no plot for a result of type {}. Print it, or use to_dict()."


@singledispatch
def draw_result(result: Any, *, ax: Any = None) -> Any:
    """Draw a result with the display that is registered for its type."""
    raise TypeError(NO_DISPLAY.format(type(result).__name__))


class Display:
    """Base class of displays, which are dataclasses that subclasses draw."""

    _share_x: ClassVar[bool] = False
    """Whether all panels of a new figure share the horizontal axis."""
    _draw: ClassVar[Callable[..., None]]
    """Method that draws the fields on the first axes, with the options of `plot`."""

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> Self:
        """Draw a result.

        Parameters
        ----------
        result : object
            Result of the function listed under See Also.
        ax : matplotlib Axes, or array-like of one for each panel, default=None
            Axes to draw on. None creates a new figure.

        Returns
        -------
        display : object of this class
        """
        return cls(result).plot(ax)  # type: ignore[call-arg]

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw on axes, or on a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, or array-like of one for each panel, default=None
            Axes to draw on. None creates a new figure.
        **kwargs : dict
            Options of the display and of the main matplotlib function it calls.

        Returns
        -------
        self : object of this class
        """
        panels = self._panels
        if ax is None:
            # matplotlib is an optional dependency
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError("a display needs matplotlib: pip install matplotlib") from error
            options = {"sharex": self._share_x, "squeeze": False, "layout": "constrained"}
            _, ax = plt.subplots(len(panels), figsize=self._find_size(**kwargs), **options)
        axes = np.ravel(np.asarray(ax, dtype=object))
        if len(axes) != len(panels):
            raise ValueError(
                f"ax must have one axes for each of {', '.join(panels)}; got {len(axes)}."
            )
        if not all(hasattr(panel, "figure") for panel in axes):
            raise TypeError(
                f"ax must be None or axes of matplotlib, got {ax!r}. Draw other curves with their "
                "own displays, such as RocCurveDisplay.from_predictions(y_true, y_score)."
            )
        self.axes_: Any = axes
        self.ax_: Any = axes[0]
        self.figure_: Any = axes[0].figure
        self._draw(self.ax_, **kwargs)
        separate_thousands(axes)
        return self

    @property
    def _panels(self) -> Sequence[str]:
        """Name of each panel. Most displays have one."""
        return [type(self).__name__]

    def _find_size(self, **options: Any) -> tuple[float, float] | None:
        """Return the size of a new figure in inches, or None for matplotlib's default."""
        return None


@dataclass(eq=False, repr=False)
class ResultDisplay(Display):
    """Display that keeps the result it draws."""

    result: Any


@dataclass(eq=False, repr=False)
class CurveDisplay(Display):
    """Display of a curve with its pointwise interval and simultaneous band, if available."""

    curve: Any
    _: KW_ONLY
    name: str | None = None

    _area: ClassVar[str] = "area"
    """Name of the area under the curve in the legend."""
    _style: ClassVar[dict[str, Any]] = {}
    _corner: ClassVar[str] = "best"
    _axes: ClassVar[dict[str, Any]] = {}
    """Settings of the axes except names of the curve. Limits do not apply to differences."""

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        curve = self.curve
        # line of no difference, or of a score without information
        style = {"color": "0.5", "linewidth": 1}
        if getattr(curve.extra, "is_difference", False):
            ax.axhline(0, linestyle="--", **style)
        else:
            self._draw_reference(ax, **style)
        options = {"label": self._write_label(), **self._style, **kwargs}
        self.line_: Any = ax.plot(*self._find_points(), **options)[0]
        # interval at each point, and band of the whole curve
        level, color = f"{100 * curve.confidence_level:g} %", self.line_.get_color()
        for ends, name, alpha in (
            ((curve.low, curve.high), "interval at each point", 0.25),
            (curve.band, "band of the whole curve", 0.12),
        ):
            if ends is not None and ends[0] is not None:
                shade = {"color": color, "linewidth": 0, "alpha": alpha}
                ax.fill_between(curve.x, *ends, label=f"{level} {name}", **shade)
        ax.set(**self._describe_axes())
        # one entry for each line of reference and each kind of interval, even of several curves
        shown: set[str] = set()
        for artist, text in zip(*ax.get_legend_handles_labels(), strict=True):
            if text in shown and text != self.line_.get_label():
                artist.set_label(f"_{text}")
            shown.add(text)
        ax.legend(loc=self._corner, fontsize="small")

    def _draw_reference(self, ax: Any, **style: Any) -> None:
        """Draw the reference curve of an uninformative score."""

    def _find_points(self) -> Any:
        """Return x and y of the line."""
        return self.curve.x, self.curve.y

    def _write_label(self) -> str:
        name, area = self.name or self.curve.name, self.curve.area
        if area is None:
            return name
        ends = f", {area.interval.low:.3f} to {area.interval.high:.3f}"
        has_interval = np.isfinite(area.interval.low)
        return f"{name} ({self._area} {area.value:.3f}{ends if has_interval else ''})"

    def _describe_axes(self) -> dict[str, Any]:
        """Return the settings of the axes."""
        across, up = (axis.replace("_", " ").capitalize() for axis in self.curve.axes)
        axes = {"xlabel": across, "ylabel": up, **self._axes}
        if getattr(self.curve.extra, "is_difference", False):
            axes["ylabel"] = f"Difference of {axes['ylabel'].lower()}"
            axes.pop("ylim", None)
        return axes


CURVE_DISPLAYS: dict[str, type[CurveDisplay]] = {}
"""Displays by the name of a curve. `CurveDisplay` draws all others."""


def draw_curve(result: Any, *, ax: Any = None, name: str | None = None) -> CurveDisplay:
    """Draw a curve with the display for its name, under its own name in the legend."""
    return CURVE_DISPLAYS.get(result.name, CurveDisplay)(result, name=name).plot(ax)


@dataclass(kw_only=True, eq=False, repr=False)
class EstimatesDisplay(Display):
    """Forest plot of estimates with confidence intervals, with one row for each.

    Use `from_result` to create a display, or `plot` of a result.

    Parameters
    ----------
    names : sequence of str
        Names of the rows, from top to bottom.
    values : sequence of float
        The estimates.
    lows, highs : sequence of float
        Limits of the intervals.
    xlabel : str
        Name of the estimated quantity.
    quoted : int, default=None
        Index of the main row, which is drawn bold. None draws all rows alike.
    guess : float, default=None
        Error of the best constant prediction, drawn as a line and a last row. None omits it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the last call of `plot`.
    intervals_ : matplotlib LineCollection
        The intervals.
    points_ : matplotlib Line2D
        The estimates.
    guess_ : matplotlib Line2D or None
        The error of the constant prediction.

    See Also
    --------
    error_interval : Returns the interval of an error rate or mean loss.
    score_interval : Returns the interval of a score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skeval.model_selection import EstimatesDisplay, error_interval
    >>> X, y = load_iris(return_X_y=True)
    >>> results = [
    ...     error_interval(GaussianNB(), X, y, method=method, random_state=0)
    ...     for method in ("corrected_t", "nested_cv")
    ... ]
    >>> EstimatesDisplay.from_result(results).ax_.get_xlabel()
    'error rate, 95 % intervals'
    """

    names: Sequence[str]
    values: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    xlabel: str
    quoted: int | None = None
    guess: float | None = None

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        confidence_level: float | None = None,
        quoted: int | None = None,
        guess: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw one estimate or several.

        Parameters
        ----------
        result : Estimate, or sequence or mapping of them
            Result to draw. Several results must estimate the same quantity, or quantities between
            -1 and 1.
        confidence_level : float, default=None
            Nominal coverage, between 0 and 1. None means the level of the first estimate.
        quoted : int, default=None
            Index of the main row, as in the class.
        guess : float, default=None
            Error of the best constant prediction, as in the class.
        ax : matplotlib Axes, default=None
            Axes to draw on. None creates a new figure.

        Returns
        -------
        EstimatesDisplay
        """
        if is_estimate(result):  # one row per site
            sites = getattr(result, "details", {}).get("sites")
            result = [result] if sites is None else {**sites, "mean of sites": result}
        listed = list(result.values() if isinstance(result, Mapping) else result)
        if not listed or not all(map(is_estimate, listed)):
            raise TypeError(f"result must be an Estimate, or contain only Estimates; got {result}.")
        # estimates on one axis must be comparable
        quantities = list(dict.fromkeys(estimate.name for estimate in listed))
        low, high = zip(*(estimate.bounds for estimate in listed), strict=True)
        if len(quantities) > 1 and not -1 <= min(low) <= max(high) <= 1:
            raise ValueError(
                "result must contain estimates of one quantity, or only quantities that lie "
                f"between -1 and 1, got {', '.join(map(repr, quantities))}. Draw each with its "
                "own plot(), such as metrics['log_loss'].plot()."
            )
        # rows and their labels
        level = listed[0].confidence_level if confidence_level is None else confidence_level
        intervals = [estimate.confidence_interval(level) for estimate in listed]
        interval_label = f"{100 * level:g} % intervals"
        names = [estimate.method if len(quantities) == 1 else estimate.name for estimate in listed]
        return cls(
            names=list(map(str, result)) if isinstance(result, Mapping) else names,
            values=[estimate.value for estimate in listed],
            lows=[interval.low for interval in intervals],
            highs=[interval.high for interval in intervals],
            xlabel=f"{quantities[0]}, {interval_label}" if len(quantities) == 1 else interval_label,
            quoted=quoted,
            guess=guess,
        ).plot(ax)

    def _find_size(self, **_: Any) -> tuple[float, float]:
        return 6.4, 1.2 + 0.45 * len(self.names)

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw one row for each estimate, the first on top."""
        rows = np.arange(len(self.names))
        # Lines, since error bars must contain the estimate, and intervals need not.
        widths = np.where(rows == self.quoted, 3.5, 1.5)
        self.intervals_: Any = ax.hlines(
            rows, self.lows, self.highs, colors="C0", linewidths=widths
        )
        # estimates, and their labels beside the axis
        drawn = {"marker": "o", "linestyle": "", "color": "C0"}
        self.points_: Any = ax.plot(self.values, rows, **(drawn | kwargs))[0]
        ends = zip(self.lows, self.highs, strict=True)
        texts = ["no interval" if np.isnan(low) else write_range(low, high) for low, high in ends]
        labels = [
            f"{shorten_name(name)}\n{write_number(value, high)} ({text})"
            for name, value, high, text in zip(
                self.names, self.values, self.highs, texts, strict=True
            )
        ]
        # baseline in a row of its own
        self.guess_: Any = None
        if self.guess is not None:
            labels.append(f"baseline\n{write_number(self.guess)}")
            style = {"color": "gray", "linestyle": "--", "linewidth": 1, "zorder": 0}
            self.guess_ = ax.axvline(self.guess, **style)
            ax.plot(self.guess, len(rows), marker="D", color="gray")
        ax.set_yticks(range(len(labels)), labels, parse_math=False)
        if self.quoted is not None:
            ax.get_yticklabels()[self.quoted].set_fontweight("bold")
        ax.set(xlabel=self.xlabel, ylim=(len(labels) - 0.5, -0.5))
        ax.locator_params(axis="x", nbins=5)  # long numbers would touch
        ax.grid(axis="x", alpha=0.3)


def is_estimate(result: Any) -> bool:
    """Return whether a result is an `Estimate`."""
    return hasattr(result, "standard_error") and hasattr(result, "confidence_interval")


NULLS = {
    "permutation test": ("shuffled labels", "true labels", " (larger is better)"),
    "structure test": ("data without structure", "data", ""),
}
"""Labels of the null distribution, the statistic and its direction, by test."""
N_BINS = 40
"""Maximum number of bins of a histogram. Scores with fewer values have a bin for each."""


@dataclass(kw_only=True, eq=False, repr=False)
class NullDistributionDisplay(Display):
    """Histogram of the null distribution of a test with the observed statistic.

    Use `from_result` to create a display, or `plot` of a result.

    Parameters
    ----------
    tests : sequence of Test
        The tests, with one panel for each. They must have a `null_distribution`.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes of shape (n_tests,), and Figure
        Axes of the last call of `plot`, one for each test.
    ax_ : matplotlib Axes
        The first of `axes_`.
    histograms_ : list of matplotlib BarContainer
        The null distributions.
    lines_ : list of matplotlib Line2D
        The statistics of the data.

    See Also
    --------
    permutation_test : Permutation test of a score.
    skeval.cluster.structure_test : Test for cluster structure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skeval.model_selection import NullDistributionDisplay, permutation_test
    >>> X, y = load_iris(return_X_y=True)
    >>> result = permutation_test(
    ...     GaussianNB(), X, y, scoring="accuracy", n_permutations=20, random_state=0
    ... )
    >>> NullDistributionDisplay.from_result(result).ax_.get_xlabel()
    'accuracy (larger is better)'
    """

    tests: Sequence[Any]

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> Self:
        """Draw one test or several.

        Parameters
        ----------
        result : Test or mapping of them
            Result of `permutation_test` or `structure_test`.
        ax : matplotlib Axes, or array-like of one for each test, default=None
            Axes to draw on. None creates a new figure.

        Returns
        -------
        NullDistributionDisplay
        """
        tests = list(result.values()) if isinstance(result, Mapping) else [result]
        if not tests or not all(len(getattr(test, "null_distribution", ())) for test in tests):
            raise TypeError(NO_DISPLAY.format(type(result).__name__))
        return cls(tests=tests).plot(ax)

    @property
    def _panels(self) -> Sequence[str]:
        return [test.name for test in self.tests]

    def _find_size(self, **_: Any) -> tuple[float, float]:
        return 6.4, max(4.0, 2.8 * len(self.tests))

    def _draw(self, _: Any, **kwargs: Any) -> None:
        """Draw a histogram and a line for each test."""
        from matplotlib.ticker import MaxNLocator

        self.histograms_: list[Any] = []
        self.lines_: list[Any] = []
        for ax, test in zip(self.axes_, self.tests, strict=True):
            resampled, observed, direction = NULLS.get(test.method, ("the hypothesis", "data", ""))
            # histogram of the defined values
            null = test.null_distribution
            defined = null[~np.isnan(null)]
            label = f"{resampled}, {count(len(null), 'time')}"
            if len(defined) < len(null):
                label += f", {len(null) - len(defined)} undefined"
            # The range includes the statistic, so nearly equal null values stay visible.
            values = np.append(defined, test.statistic)
            bins = np.histogram_bin_edges(values, min(N_BINS, len(np.unique(values))))
            drawn = {"bins": bins, "color": "C0", "alpha": 0.6, "label": label}
            self.histograms_.append(ax.hist(defined, **(drawn | kwargs))[2])
            # line of the statistic
            label = f"{observed} {write_number(test.statistic)}, {say_pvalue(test.pvalue)}"
            self.lines_.append(ax.axvline(test.statistic, color="C1", label=label))
            ax.set(xlabel=test.name.replace("_", " ") + direction, ylabel="times")
            mark_integers(ax)
            ax.xaxis.set_major_locator(MaxNLocator(6))  # more ticks would overlap
            put_legend_above(ax, 0.3)


def draw_mapping(result: Mapping[Any, Any], *, ax: Any = None) -> Display:
    """Draw a mapping of estimates, or of tests with a null distribution."""
    if result and all(map(is_estimate, result.values())):
        return EstimatesDisplay.from_result(result, ax=ax)
    return NullDistributionDisplay.from_result(result, ax=ax)


def separate_thousands(axes: Iterable[Any]) -> None:
    """Write large numbers of linear axes as 20,000, with few ticks, so that they do not touch."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    for axis in (axis for ax in axes for axis in (ax.xaxis, ax.yaxis)):
        largest = np.abs(axis.get_view_interval()).max()
        if type(axis.get_major_formatter()) is ScalarFormatter and 1e4 <= largest < 1e7:
            axis.set_major_formatter("{x:,.0f}")
            if axis.axis_name == "x":
                axis.set_major_locator(MaxNLocator(3))


def mark_integers(ax: Any) -> None:
    """Put ticks of the vertical axis at integers."""
    from matplotlib.ticker import MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True))


def put_legend_above(ax: Any, share: float, **options: Any) -> None:
    """Draw the legend within the axes, in a fraction of their height reserved for it.

    A legend above the axes could cover a title.
    """
    # room above the highest tick
    low, high = ax.get_ylim()
    ticks = [tick for tick in ax.get_yticks() if low <= tick <= high]
    ax.set_ylim(low, high + share / (1 - share) * (high - low))
    ax.set_yticks(ticks)
    ax.legend(loc="upper center", fontsize="small", **options)


def place_names(ax: Any, names: Sequence[str], points: np.ndarray) -> None:
    """Write the name of each point above it."""
    style = {"textcoords": "offset points", "fontsize": "small"}
    for name, point in zip(names, points, strict=True):
        ax.annotate(name, point, (5, 5), **style)


def shorten_name(name: object) -> str:
    """Return a name shortened to fit beside an axis, without its middle."""
    text, half = " ".join(str(name).split()), MAX_NAME_LENGTH // 2
    return text if len(text) <= MAX_NAME_LENGTH else f"{text[:half]}…{text[1 - half :]}"
