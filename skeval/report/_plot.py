"""What pages draw beside the public displays: estimates, residuals, and samples in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import PredictionErrorDisplay

from skeval._resampling.procedure import OutOfFold
from skeval.model_selection import Estimate
from skeval.report._sections import Report
from skeval.utils._plotting import Display
from skeval.utils._text import mean_loss_name, write_ends, write_number

__all__ = [
    "ErrorEstimatesDisplay",
    "ShownClusters",
    "draw_map",
    "draw_residuals",
    "draw_silhouettes",
]


@dataclass(eq=False, repr=False, kw_only=True)
class ErrorEstimatesDisplay(Display):
    """Forest plot: each estimate of the error with its confidence interval.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    methods : sequence of str
        Names of the estimates, from top to bottom.
    errors : ndarray of shape (n_estimates,)
        The estimates.
    low, high : ndarray of shape (n_estimates,)
        Ends of their intervals.
    confidence_level : float
        Nominal coverage of the intervals.
    loss : str
        Name of the loss.
    quoted : int, default=None
        Number of the row that holds the answer, which is drawn bold; None draws all alike.
    guess : float, default=None
        Error of the best answer that is always the same, a line and a last row; None draws none.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    intervals_ : matplotlib LineCollection
        The intervals.
    points_ : matplotlib Line2D
        The estimates.
    guess_ : matplotlib Line2D or None
        The error of that answer.

    See Also
    --------
    skeval.evaluate : Computes what is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skeval.model_selection import bootstrap_error, cross_val_error
    >>> from skeval.report import ErrorEstimatesDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> estimates = [
    ...     cross_val_error(GaussianNB(), X, y, random_state=0),
    ...     bootstrap_error(GaussianNB(), X, y, n_resamples=50, random_state=0),
    ... ]
    >>> ErrorEstimatesDisplay.from_result(estimates).ax_.get_xlabel()
    'error rate, 95 % intervals'
    """

    methods: Sequence[str]
    errors: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence_level: float
    loss: str
    quoted: int | None = None
    guess: float | None = None

    @classmethod
    def from_result(
        cls,
        result: Report | Sequence[Estimate],
        *,
        confidence_level: float | None = None,
        ax: Any = None,
    ) -> ErrorEstimatesDisplay:
        """Draw the estimates of a report, or any estimates.

        Parameters
        ----------
        result : EvaluationReport or sequence of Estimate
            What `evaluate` returns, with its perturbation intervals, or estimates of one loss.
        confidence_level : float, default=None
            Nominal coverage of the intervals; None takes that of the report, or of the
            first estimate.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ErrorEstimatesDisplay
        """
        quoted = guess = None
        if isinstance(result, Report):
            report: Any = result  # of an evaluation
            quoted = 0
            guess = None if report.guess is None else report.guess.error
            rows = report.named_estimates
        else:
            rows = [(estimate.method, estimate) for estimate in result]
        losses = sorted({estimate.details["loss"] for _, estimate in rows})
        if len(losses) != 1:
            raise ValueError(f"result must hold estimates of one loss, got {losses}.")
        if confidence_level is None:
            confidence_level = rows[0][1].confidence_level
        intervals = [estimate.confidence_interval(confidence_level) for _, estimate in rows]
        return cls(
            methods=[method for method, _ in rows],
            errors=np.array([estimate.value for _, estimate in rows]),
            low=np.array([interval.low for interval in intervals]),
            high=np.array([interval.high for interval in intervals]),
            confidence_level=confidence_level,
            loss=losses[0],
            quoted=quoted,
            guess=guess,
        ).plot(ax=ax)

    def _find_size(self, **_: Any) -> tuple[float, float]:
        return 6.4, 1.2 + 0.45 * len(self.methods)

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        """Draw one row for each estimate, the first on top."""
        rows = np.arange(len(self.methods))
        # Lines, since error bars would have to contain the estimate, and an interval need not.
        widths = np.where(rows == self.quoted, 3.5, 1.5)
        self.intervals_ = ax.hlines(rows, self.low, self.high, colors="C0", linewidths=widths)
        drawn = {"marker": "o", "linestyle": "", "color": "C0"}
        (self.points_,) = ax.plot(self.errors, rows, **(drawn | kwargs))
        labels = [self._row(int(row)) for row in rows]
        self.guess_ = None
        if self.guess is not None:
            form = ".3f" if self.loss == "zero_one" else ".4g"
            labels.append(f"always the same answer\n{self.guess:{form}}")
            self.guess_ = ax.axvline(
                self.guess, color="grey", linestyle="--", linewidth=1, zorder=0
            )
            ax.plot(self.guess, len(rows), marker="D", color="grey")
        ax.set_yticks(range(len(labels)), labels, parse_math=False)
        if self.quoted is not None:
            ax.get_yticklabels()[self.quoted].set_fontweight("bold")
        ax.set_ylim(len(labels) - 0.5, -0.5)
        ax.set_xlabel(f"{mean_loss_name(self.loss)}, {100 * self.confidence_level:g} % intervals")
        ax.grid(axis="x", alpha=0.3)

    def _row(self, row: int) -> str:
        ends = write_ends(self.low[row], self.high[row])
        if np.isnan(self.low[row]):
            ends = "no interval"
        return f"{self.methods[row]}\n{write_number(self.errors[row])} {ends}"


def draw_residuals(found: OutOfFold, ax: Any = None) -> Any:
    """Draw the residual of each sample beside its mean prediction."""
    n = len(found.target)
    counts = np.bincount(found.row, minlength=n)
    tested = counts > 0
    means = np.bincount(found.row, found.predicted, minlength=n)[tested] / counts[tested]
    true = found.target.y[tested].astype(float)
    return PredictionErrorDisplay.from_predictions(
        true, means, kind="residual_vs_predicted", ax=ax, subsample=None
    )


@dataclass(frozen=True, eq=False)
class ShownClusters:
    """A clustering of the data, seen along the directions in which they vary most.

    Attributes
    ----------
    n_clusters : int
        The number of clusters that was asked for: the choice, or the most stable one where no
        number was chosen.
    labels : ndarray of shape (n_samples,)
        The cluster of each sample.
    components : ndarray of shape (n_samples, 2)
        Coordinates on the first two principal components of X; of one feature the second is 0.
    shares : ndarray of shape (2,)
        Shares of the variance of X along them; nan where nothing varies.
    silhouettes : ndarray of shape (n_samples,)
        The silhouette of each sample.
    """

    n_clusters: int
    labels: np.ndarray
    components: np.ndarray
    shares: np.ndarray
    silhouettes: np.ndarray


MOST_POINTS = 2000
MARKERS = "o^sDvP*X"
BACKGROUND = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}


def draw_map(shown: ShownClusters, ax: Any) -> None:
    """Draw the samples on two principal components, each cluster with a marker and its number.

    Of many samples, every so many are drawn: more would not be told apart.
    """
    step = -(-len(shown.labels) // MOST_POINTS)
    drawn, labels = shown.components[::step], shown.labels[::step]
    for place, label in enumerate(np.unique(shown.labels)):
        style = {"marker": MARKERS[place % len(MARKERS)], "color": f"C{place % 2}"}
        ax.scatter(*drawn[labels == label].T, s=14, alpha=0.6, linewidths=0, **style)
    for label in np.unique(shown.labels):
        centre = shown.components[shown.labels == label].mean(axis=0)
        ax.text(*centre, str(label), ha="center", va="center", weight="bold", bbox=BACKGROUND)
    for axis, name, share in zip("xy", ("first", "second"), shown.shares, strict=True):
        told = f", {100 * share:.0f} % of the variance" if np.isfinite(share) else ""
        ax.set(**{f"{axis}label": f"{name} component{told}"})


def draw_silhouettes(shown: ShownClusters, ax: Any) -> None:
    """Draw the silhouettes of each cluster from the worst to the best, one cluster on another."""
    start, gap, ticks = 0.0, 0.02 * len(shown.labels), []
    for place, label in enumerate(np.unique(shown.labels)):
        found = np.sort(shown.silhouettes[shown.labels == label])
        rows = start + np.arange(len(found) + 1)
        ax.fill_betweenx(
            rows, np.append(found, found[-1]), step="post", color=f"C{place % 2}", alpha=0.7
        )
        ticks.append((start + len(found) / 2, f"{label} ({len(found)})"))
        start += len(found) + gap
    ax.axvline(0, color="0.5", linewidth=0.8)
    mean = shown.silhouettes.mean()
    ax.axvline(mean, color="0.5", linestyle="--", label=f"mean {mean:.3f}")
    ax.set_yticks(*zip(*ticks, strict=True))
    ax.set_ylim(start, 0)
    ax.set(xlabel="silhouette (larger is better)", ylabel="cluster (samples)")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0)
