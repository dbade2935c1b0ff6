"""How often each feature was selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.feature_selection._cv2 import CV2FeatureSelectionPipeline
from skeval.feature_selection._stability import SelectionStability, check_supports
from skeval.utils._checks import check_count
from skeval.utils._plotting import axes_and_figure, shorten_name

__all__ = ["SelectionFrequencyDisplay", "check_feature_names"]


@dataclass(eq=False, repr=False, kw_only=True)
class SelectionFrequencyDisplay:
    """The features selected most often, and the fraction of the rounds that selected them.

    It is recommended to use `from_result` to create a display.

    Parameters
    ----------
    frequency : ndarray of shape (n_features,)
        Fraction of the rounds that selected each feature.
    n_rounds : int
        Number of rounds.
    feature_names : sequence of str
        Name of each feature.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What `plot` drew on.
    bars_ : matplotlib BarContainer
        The bars, most often selected first.
    top_ : ndarray of int
        Positions of the features that were drawn, in that order; ties by position.

    See Also
    --------
    selection_stability : One number for the same rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.feature_selection import SelectionFrequencyDisplay
    >>> supports = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0]], dtype=bool)
    >>> display = SelectionFrequencyDisplay.from_result(supports, feature_names=["a", "b", "c"])
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['a', 'b', 'c']
    """

    frequency: np.ndarray
    n_rounds: int
    feature_names: Sequence[str]

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        feature_names: Sequence[str] | None = None,
        n_top: int = 20,
        ax: Any = None,
    ) -> SelectionFrequencyDisplay:
        """Draw the selections of several rounds.

        Parameters
        ----------
        result : CV2FeatureSelectionPipeline, SelectionStability or bool array-like
            A fitted pipeline, the result of `selection_stability`, or the supports themselves,
            of shape (n_rounds, n_features).
        feature_names : sequence of str of length n_features, default=None
            Names of the features; None takes those that a fitted pipeline has seen, or else
            ``x0``, ``x1`` and so on.
        n_top : int, default=20
            How many features to draw at most; those never selected are not drawn.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        SelectionFrequencyDisplay
        """
        if isinstance(result, SelectionStability):
            frequency, n_rounds = result.frequency, result.n_rounds
        else:
            supports = result
            if isinstance(result, CV2FeatureSelectionPipeline):
                supports = read_supports(result)
                if feature_names is None:
                    feature_names = getattr(result, "feature_names_in_", None)
            supports = check_supports(supports)
            frequency, n_rounds = supports.mean(axis=0), len(supports)
        names = check_feature_names(feature_names, len(frequency))
        return cls(frequency=frequency, n_rounds=n_rounds, feature_names=names).plot(
            ax=ax, n_top=n_top
        )

    def plot(self, ax: Any = None, *, n_top: int = 20) -> SelectionFrequencyDisplay:
        """Draw a bar for each of the features selected most often.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        n_top : int, default=20
            How many features to draw at most; those never selected are not drawn.

        Returns
        -------
        SelectionFrequencyDisplay
            The display itself.
        """
        check_count("n_top", n_top)
        ever = np.count_nonzero(self.frequency)
        self.top_ = np.argsort(-self.frequency, kind="stable")[: min(n_top, ever)]
        rows = np.arange(len(self.top_))
        self.ax_, self.figure_ = ax, _ = axes_and_figure(ax, figsize=(6.4, 1.2 + 0.24 * len(rows)))
        self.bars_ = ax.barh(rows, self.frequency[self.top_], color="C0")
        names = [shorten_name(self.feature_names[feature]) for feature in self.top_]
        ax.set_yticks(rows, names, parse_math=False)
        ax.set(xlim=(0, 1), ylim=(len(rows) - 0.4, -0.6))
        ax.set_xlabel(f"share of the {self.n_rounds} rounds")
        shown = f"the {len(rows)} most frequent of" if len(rows) < ever else "all"
        ax.set_title(f"{shown} {ever} features ever selected", fontsize="medium")
        return self


def read_supports(pipeline: CV2FeatureSelectionPipeline) -> np.ndarray:
    """Return the supports of the inner rounds."""
    if not hasattr(pipeline, "fold_supports_"):
        raise ValueError(
            "result must be fitted with its inner rounds (cv is not None) to have selection "
            f"frequencies, got {pipeline!r}."
        )
    return pipeline.fold_supports_


def check_feature_names(feature_names: Sequence[str] | None, n_features: int) -> list[str]:
    """Return the names, or numbered ones."""
    if feature_names is None:
        return [f"x{position}" for position in range(n_features)]
    if len(feature_names) != n_features:
        raise ValueError(
            f"feature_names must hold a name for each of {n_features} features, got "
            f"{len(feature_names)}."
        )
    return [str(name) for name in feature_names]
