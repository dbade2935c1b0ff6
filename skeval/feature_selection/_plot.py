"""Displays of selection bias and of selection frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skeval._inference.estimate import Estimate
from skeval.feature_selection import _cv2
from skeval.feature_selection._cv2 import CV2FeatureSelectionPipeline
from skeval.utils._checks import check_count
from skeval.utils._plotting import ResultDisplay, draw_result, shorten_name

ROWS = ("selected outside\nthe loop (CV1)", "selected inside\nthe loop (CV2)", "bias\n(CV2 - CV1)")


class SelectionBiasDisplay(ResultDisplay):
    """Errors of CV1 and CV2, and the selection bias with its interval.

    Parameters
    ----------
    result : Estimate
        Result of `selection_bias`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the last call of `plot`.
    points_ : matplotlib Line2D
        The mean errors.
    errorbar_ : matplotlib ErrorbarContainer
        The bias with its interval.

    See Also
    --------
    selection_bias : Computes both errors and the bias.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skeval.feature_selection import SelectionBiasDisplay, selection_bias
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = selection_bias(SelectKBest(k=5), GaussianNB(), X, y, random_state=0)
    >>> SelectionBiasDisplay.from_result(result).ax_.get_xlabel()
    'error rate'
    """

    result: Estimate

    def _find_size(self, **_: Any) -> tuple[float, float]:
        return 6.4, 2.8

    def _draw(self, ax: Any) -> None:
        """Draw both errors, the errors of each repeat, and the bias with its interval."""
        bias, errors = self.result, (self.result.extra.cv1_errors, self.result.extra.cv2_errors)
        # each repeat, to show the variation
        if len(errors[0]) > 1:
            label = f"each of {len(errors[0])} repeats"
            style = {"color": "C0", "markersize": 12, "alpha": 0.6, "label": label}
            ax.plot(np.concatenate(errors), np.repeat([0, 1], len(errors[0])), "|", **style)
        # mean errors of both procedures, and their difference with its interval
        means = [float(np.mean(values)) for values in errors]
        label = "cross-validated error"
        self.points_: Any = ax.plot(means, [0, 1], "o", color="C0", label=label)[0]
        reach = [[bias.value - bias.interval.low], [bias.interval.high - bias.value]]
        label = f"difference, {100 * bias.confidence_level:g} % interval"
        style = {"fmt": "s", "color": "C1", "capsize": 4, "label": label}
        self.errorbar_: Any = ax.errorbar(bias.value, 2, xerr=reach, **style)
        # the number above each point
        style = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
        for row, value in enumerate([*means, bias.value]):
            ax.annotate(f"{value:.3f}", (value, row), xytext=(0, 9), **style)
        ax.axvline(0, color="0.5", linewidth=1, linestyle="--")
        ax.set_yticks(range(3), ROWS)
        ax.set(xlabel="error rate", ylim=(2.5, -0.6))
        ax.legend(fontsize="small")


class SelectionFrequencyDisplay(ResultDisplay):
    """Bar chart of the most often selected features with their selection frequencies.

    Parameters
    ----------
    result : Estimate
        Result of `selection_stability`, or `stability_` of a fitted pipeline.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the last call of `plot`.
    bars_ : matplotlib BarContainer
        The bars, with the most often selected feature first.
    top_ : ndarray of int
        Indices of the features that were drawn, in the order of the bars. Ties are in order of
        index.

    See Also
    --------
    selection_stability : Measures the stability over the same rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.feature_selection import SelectionFrequencyDisplay
    >>> supports = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0]], dtype=bool)
    >>> display = SelectionFrequencyDisplay.from_result(supports, feature_names=["a", "b", "c"])
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['a', 'b', 'c']
    """

    result: Estimate

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        feature_names: Sequence[str] | None = None,
        n_top: int = 20,
        ax: Any = None,
    ) -> SelectionFrequencyDisplay:
        """Plot how often each feature was selected over several rounds.

        Parameters
        ----------
        result : CV2FeatureSelectionPipeline, Estimate or bool array-like
            A fitted pipeline, the result of `selection_stability`, or the supports of shape
            (n_rounds, n_features).
        feature_names : sequence of str of length n_features, default=None
            Names of the features. None means the ``feature_names_in_`` of a fitted pipeline, or
            otherwise ``x0``, ``x1`` and so on.
        n_top : int, default=20
            Maximum number of features. Features that were never selected are not drawn.
        ax : matplotlib Axes, default=None
            Axes to draw on. None creates a new figure.

        Returns
        -------
        SelectionFrequencyDisplay
        """
        if isinstance(result, CV2FeatureSelectionPipeline):
            if feature_names is None:
                feature_names = getattr(result, "feature_names_in_", None)
            result = result.stability_
        elif not isinstance(result, Estimate):
            result = _cv2.measure_stability(_cv2.check_supports(result))
        return cls(result).plot(ax=ax, n_top=n_top, feature_names=feature_names)

    def _find_size(self, *, n_top: int = 20, **_: Any) -> tuple[float, float]:
        check_count("n_top", n_top)
        return 6.4, 1.2 + 0.24 * min(n_top, self.result.extra.selected_ever)

    def _draw(
        self, ax: Any, *, n_top: int = 20, feature_names: Sequence[str] | None = None
    ) -> None:
        """Draw a bar for each of the features selected most often."""
        frequency, ever = self.result.extra.frequency, self.result.extra.selected_ever
        names = [f"x{k}" for k in range(len(frequency))] if feature_names is None else feature_names
        if len(names) != len(frequency):
            raise ValueError(
                f"feature_names must have a name for each of {len(frequency)} features, got "
                f"{len(names)}."
            )
        # the features selected most often, without those that were never selected
        n_bars = min(check_count("n_top", n_top), ever)
        self.top_: np.ndarray = np.argsort(-frequency, kind="stable")[:n_bars]
        self.bars_: Any = ax.barh(range(n_bars), frequency[self.top_], color="C0")
        labels = [shorten_name(names[feature]) for feature in self.top_]
        ax.set_yticks(range(n_bars), labels, parse_math=False)
        ax.set(xlim=(0, 1), ylim=(n_bars - 0.4, -0.6))
        ax.set_xlabel(f"fraction of the {self.result.extra.n_rounds} rounds")
        shown = f"the {n_bars} most frequent of" if n_bars < ever else "all"
        ax.set_title(f"{shown} {ever} features ever selected", fontsize="medium")


draw_result.register(_cv2.BiasExtra, SelectionBiasDisplay.from_result)
draw_result.register(_cv2.StabilityExtra, SelectionFrequencyDisplay.from_result)
