"""The posterior of better, equivalent and worse, in a triangle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._inference.equivalence import RegionProbabilities
from skeval.model_selection._region_posterior import RegionPosterior
from skeval.utils._plotting import axes_and_figure, shorten_name

__all__ = ["SimplexDisplay"]

CORNERS = np.array([[0.0, 0.0], [0.5, np.sqrt(3) / 2], [1.0, 0.0]])
"""Of "a better", "equivalent" and "b better"."""


@dataclass(kw_only=True, eq=False)
class SimplexDisplay:
    """Draws from the posterior of a Bayesian test, each a point of a triangle.

    The nearer a corner, the more probable is its answer on a next data set; in the part of a corner
    it is the most probable of the three. It is recommended to use `from_posterior` to create a
    display.

    Parameters
    ----------
    draws : ndarray of shape (n_draws, 3)
        Probabilities of "a better", "equivalent" and "b better".
    probabilities : RegionProbabilities
        Fraction of the draws in each part.
    name_a, name_b : str
        The classifiers.
    rope : float
        Half the width of the region of practical equivalence.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    points_ : matplotlib PolyCollection
        The draws, counted in hexagons.

    See Also
    --------
    compare_over_datasets : Its result has a `posterior`.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection import SimplexDisplay, compare_over_datasets
    >>> scores = np.random.default_rng(0).normal(size=(15, 2)) + [0, 1]
    >>> comparison = compare_over_datasets(scores, rope=0.5, random_state=0)
    >>> posterior = comparison.posterior("classifier 1", "classifier 2")
    >>> SimplexDisplay.from_posterior(posterior).draws.shape
    (10000, 3)
    """

    draws: np.ndarray
    probabilities: RegionProbabilities
    name_a: str
    name_b: str
    rope: float

    @classmethod
    def from_posterior(cls, posterior: RegionPosterior, *, ax: Any = None) -> SimplexDisplay:
        """Draw a posterior.

        Parameters
        ----------
        posterior : RegionPosterior
            Of two classifiers, from `DatasetComparison.posterior`.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        SimplexDisplay
        """
        return cls(
            draws=posterior.draws,
            probabilities=posterior.probabilities,
            name_a=posterior.name_a,
            name_b=posterior.name_b,
            rope=posterior.rope,
        ).plot(ax=ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> SimplexDisplay:
        """Draw the triangle and the points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.hexbin`.

        Returns
        -------
        SimplexDisplay
            The display itself.
        """
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax, figsize=(6.0, 5.4))
        places = self.draws @ CORNERS
        drawn = {"gridsize": 60, "extent": (0, 1, 0, 1), "mincnt": 1, "cmap": "Blues"} | kwargs
        # logarithmic, so that the few hexagons that hold most do not hide the rest
        self.points_ = ax.hexbin(*places.T, **({"bins": "log"} | drawn))
        ax.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color="black", lw=1)
        centre = CORNERS.mean(axis=0)
        for middle in (CORNERS + np.roll(CORNERS, 1, axis=0)) / 2:
            ax.plot(*np.array([centre, middle]).T, color="C1", lw=1)
        a, equivalent, b = self.probabilities
        options = {"ha": "center", "fontsize": "medium"}
        text = f"{shorten_name(self.name_a)}\nbetter: {a:.3f}"
        ax.text(0.0, -0.04, text, va="top", **options)
        text = f"{shorten_name(self.name_b)}\nbetter: {b:.3f}"
        ax.text(1.0, -0.04, text, va="top", **options)
        text = f"equivalent within {self.rope:g}: {equivalent:.3f}"
        ax.text(0.5, CORNERS[1, 1] + 0.03, text, va="bottom", **options)
        ax.set(xlim=(-0.25, 1.25), ylim=(-0.18, 1.0), aspect="equal")
        ax.axis("off")
        return self
