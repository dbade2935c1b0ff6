"""Intervals of one error or score, below each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skeval.model_selection._error_interval import ErrorInterval
from skeval.model_selection._score_interval import ScoreInterval
from skeval.utils._plotting import axes_and_figure, shorten_name
from skeval.utils._text import mean_loss_name

__all__ = ["ErrorIntervalDisplay"]

Result = ErrorInterval | ScoreInterval


@dataclass(kw_only=True, eq=False)
class ErrorIntervalDisplay:
    """Estimates of an error, or of scores, with their confidence intervals, a row for each.

    It is recommended to use `from_results` to create a display.

    Parameters
    ----------
    names : sequence of str
        Names of the rows, from top to bottom.
    estimates : sequence of float
        The estimates.
    lows, highs : sequence of float
        Ends of their intervals.
    xlabel : str
        What is estimated.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    errorbar_ : matplotlib ErrorbarContainer
        The points and bars.

    See Also
    --------
    error_interval : Computes what is drawn.
    score_interval : Computes what is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skeval.model_selection import ErrorIntervalDisplay, error_interval
    >>> X, y = load_iris(return_X_y=True)
    >>> results = [
    ...     error_interval(GaussianNB(), X, y, method=method, random_state=0)
    ...     for method in ("corrected_t", "nested_cv")
    ... ]
    >>> ErrorIntervalDisplay.from_results(results).ax_.get_xlabel()
    'error rate'
    """

    names: Sequence[str]
    estimates: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    xlabel: str

    @classmethod
    def from_results(
        cls, results: Result | Sequence[Result] | dict[str, Any], *, ax: Any = None
    ) -> ErrorIntervalDisplay:
        """Draw results of `error_interval` or `score_interval`.

        Parameters
        ----------
        results : ErrorInterval, ScoreInterval, or list or dict of them
            One result or several; errors of the same loss, or scores.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ErrorIntervalDisplay
        """
        if isinstance(results, Result):
            results = [results]
        listed = list(results.values()) if isinstance(results, dict) else list(results)
        measured = {quantity_of(result) for result in listed}
        if len(measured) != 1:
            found = ", ".join(sorted(map(repr, measured))) or "none"
            raise ValueError(f"results must be of one loss, or all of them scores; got {found}.")
        names = list(results) if isinstance(results, dict) else [name_of(each) for each in listed]
        return cls(
            names=names,
            estimates=[estimate_of(result) for result in listed],
            lows=[result.interval.low for result in listed],
            highs=[result.interval.high for result in listed],
            xlabel=measured.pop(),
        ).plot(ax=ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> ErrorIntervalDisplay:
        """Draw the points and bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.errorbar`.

        Returns
        -------
        ErrorIntervalDisplay
            The display itself.
        """
        size = (6.4, max(2.0, 0.8 + 0.35 * len(self.names)))
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax, figsize=size)
        rows = range(len(self.names))
        # a quantile interval need not hold the estimate, so the bar is drawn around its own middle
        middles = [(low + high) / 2 for low, high in zip(self.lows, self.highs, strict=True)]
        halves = [(high - low) / 2 for low, high in zip(self.lows, self.highs, strict=True)]
        drawn = {"fmt": "none", "ecolor": "C0", "capsize": 3}
        self.errorbar_ = ax.errorbar(middles, rows, xerr=halves, **(drawn | kwargs))
        ax.plot(self.estimates, rows, "o", color="C0")
        ax.set_yticks(list(rows), [shorten_name(name) for name in self.names])
        ax.set(xlabel=self.xlabel, ylim=(len(self.names) - 0.5, -0.5))
        return self


def name_of(result: Result) -> str:
    """Return what tells a result from others of its kind."""
    return result.scoring if isinstance(result, ScoreInterval) else result.method


def estimate_of(result: Result) -> float:
    """Return the error or the score."""
    return result.score if isinstance(result, ScoreInterval) else result.error


def quantity_of(result: Any) -> str:
    """Return what a result estimates."""
    if isinstance(result, ScoreInterval):
        return "score"
    if isinstance(result, ErrorInterval):
        return mean_loss_name(result.loss)
    raise TypeError(
        f"results must be of error_interval or score_interval, got {type(result).__name__}."
    )
