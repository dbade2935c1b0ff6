"""Drawings of a page: residuals, scores by class, calibration, and samples in their clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import PredictionErrorDisplay

from skeval._inference.estimate import Curve
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import Target
from skeval.utils._plotting import shorten_name

MAX_POINTS = 2000
"""Maximum number of samples drawn in the plot of residuals, and of clusters."""
MAX_CLASSES_DRAWN, N_BARS = 30, 24
"""Maximum number of classes that are drawn; bars of a histogram of scores."""
MARKERS = "o^sDvP*X"
BACKGROUND = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}


def draw_residuals(predictions: Predictions, ax: Any) -> Any:
    """Draw the residual of samples against their mean prediction, of at most `MAX_POINTS`."""
    n = len(predictions.target)
    counts = np.bincount(predictions.row, minlength=n)
    tested = counts > 0
    means = (
        np.bincount(predictions.row, predictions.predicted, minlength=n)[tested] / counts[tested]
    )
    true = predictions.target.y[tested].astype(float)
    return PredictionErrorDisplay.from_predictions(
        true, means, kind="residual_vs_predicted", ax=ax, subsample=MAX_POINTS, random_state=0
    )


def draw_scores(
    score: np.ndarray, target: Target, weight: np.ndarray, cut: float | None, label: str, ax: Any
) -> None:
    """Draw the distribution of the scores of each of two classes, as shares of the class."""
    assert target.classes is not None
    low, high = float(score.min()), float(score.max())
    cells = np.linspace(low, high if high > low else low + 1, N_BARS + 1)
    for code, name in enumerate(target.classes):
        own = target.codes == code
        share = weight[own] / weight[own].sum()
        shown: dict[str, Any] = {"weights": share, "color": f"C{code}"}
        ax.hist(score[own], cells, histtype="step", linewidth=1.5, label=str(name), **shown)
        ax.hist(score[own], cells, alpha=0.15, **shown)
    if cut is not None and low <= cut <= high:
        ax.axvline(cut, color="0.4", linestyle="--", linewidth=1, label="threshold")
    ax.set(xlabel=label, ylabel="share of the class")
    ax.legend(fontsize="small")


def draw_spreads(score: np.ndarray, target: Target, label: str, ax: Any) -> None:
    """Draw the median, quartiles and central 90 % of the scores of each class, for many classes."""
    assert target.classes is not None
    sizes = np.bincount(target.codes, minlength=len(target.classes))
    drawn = np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLASSES_DRAWN])
    drawn = drawn[sizes[drawn] > 0]
    for row, code in enumerate(drawn):
        ends = np.quantile(score[target.codes == code], [0.05, 0.25, 0.5, 0.75, 0.95])
        ax.plot(ends[[0, 4]], [row, row], color="C0", linewidth=1)
        ax.plot(ends[[1, 3]], [row, row], color="C0", linewidth=5, alpha=0.5)
        ax.plot(ends[2], row, "o", color="C0", markersize=5)
    ax.set(xlabel=label, yticks=range(len(drawn)), ylim=(len(drawn) - 0.5, -0.5))
    ax.set_yticklabels([shorten_name(str(target.classes[code])) for code in drawn])


def draw_smooth(curve: Curve, ax: Any) -> None:
    """Draw a smooth calibration curve with pointwise intervals."""
    ax.plot([0, 1], [0, 1], linestyle=":", color="0.4", linewidth=1, label="calibrated")
    level = f"{100 * curve.confidence_level:g} % interval at each"
    ax.fill_between(curve.x, curve.low, curve.high, alpha=0.2, linewidth=0, label=level)
    ax.plot(curve.x, curve.y, label="smooth curve")
    ax.set(xlabel="predicted probability", ylabel="observed frequency", box_aspect=1)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(loc="best", fontsize="small")


def draw_map(shown: Any, ax: Any) -> None:
    """Draw the samples on two principal components, with a marker and number for each cluster.

    Large samples are thinned, because dense points cannot be distinguished.
    """
    step = -(-len(shown.labels) // MAX_POINTS)
    drawn, labels = shown.components[::step], shown.labels[::step]
    for place, label in enumerate(np.unique(shown.labels)):
        style = {"marker": MARKERS[place % len(MARKERS)], "color": f"C{place % 2}"}
        ax.scatter(*drawn[labels == label].T, s=14, alpha=0.6, linewidths=0, **style)
    for label in np.unique(shown.labels):
        center = shown.components[shown.labels == label].mean(axis=0)
        ax.text(*center, str(label), ha="center", va="center", weight="bold", bbox=BACKGROUND)
    for axis, name, share in zip("xy", ("first", "second"), shown.shares, strict=True):
        share_text = f", {100 * share:.0f} % of the variance" if np.isfinite(share) else ""
        ax.set(**{f"{axis}label": f"{name} component{share_text}"})


def draw_silhouettes(shown: Any, ax: Any) -> None:
    """Draw the silhouettes of each cluster from the lowest to the highest, stacked."""
    start, gap, ticks = 0.0, 0.02 * len(shown.labels), []
    for place, label in enumerate(np.unique(shown.labels)):
        silhouettes = np.sort(shown.silhouettes[shown.labels == label])
        rows = start + np.arange(len(silhouettes) + 1)
        ax.fill_betweenx(
            rows,
            np.append(silhouettes, silhouettes[-1]),
            step="post",
            color=f"C{place % 2}",
            alpha=0.7,
        )
        ticks.append((start + len(silhouettes) / 2, f"{label} ({len(silhouettes)})"))
        start += len(silhouettes) + gap
    ax.axvline(0, color="0.5", linewidth=0.8)
    mean = shown.silhouettes.mean()
    ax.axvline(mean, color="0.5", linestyle="--", label=f"mean {mean:.3f}")
    ax.set_yticks(*zip(*ticks, strict=True))
    ax.set_ylim(start, 0)
    ax.set(xlabel="silhouette (larger is better)", ylabel="cluster (samples)")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0)
