"""What pages draw beside the public displays: residuals, and samples in clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import PredictionErrorDisplay

from skeval._resampling.procedure import OutOfFold

__all__ = [
    "ShownClusters",
    "draw_map",
    "draw_residuals",
    "draw_silhouettes",
]


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
