"""What the bands of ROC and precision-recall curves take from the samples."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from skeval._inference.clustered_rates import area_error, class_size, independent_size
from skeval._inference.curve_region import Steps, curve_distances
from skeval._inference.means import normal_quantile
from skeval.metrics._checks import check_binary_scores
from skeval.metrics._ranking import SCORE_CONSTRAINTS, cumulative_counts
from skeval.utils._checks import check_groups
from skeval.utils._compat import Interval
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed

__all__ = [
    "BAND_CONSTRAINTS",
    "CurveSample",
    "check_curve_sample",
    "number_groups",
    "simulate_distances",
]

Floats = NDArray[np.float64]

BAND_CONSTRAINTS: dict[str, list[object]] = {
    **SCORE_CONSTRAINTS,
    "groups": ["array-like", None],
    "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    "n_resamples": [Interval(Integral, 1, None, closed="left")],
    "n_points": [Interval(Integral, 2, None, closed="left")],
    "random_state": ["random_state", Generator],
}


@dataclass(frozen=True, eq=False)
class CurveSample:
    """Samples of two classes with their scores, weights and the numbers of their groups."""

    positive: NDArray[np.bool_]
    score: Floats
    weight: Floats
    group: NDArray[np.intp] | None
    confidence_level: float

    @property
    def z(self) -> float:
        """The two-sided quantile: normal, or Student's of the number of groups."""
        n_groups = None if self.group is None else int(self.group.max()) + 1
        return normal_quantile(self.confidence_level, n_groups)

    @property
    def widening(self) -> float:
        """How much longer the quantile is for groups than for samples."""
        return self.z / normal_quantile(self.confidence_level)

    def steps(self) -> tuple[Steps, Floats]:
        """Return the ROC curve with the sizes of the classes, and its thresholds."""
        tp, fp, thresholds = cumulative_counts(self.positive, self.score, self.weight)
        sizes = [
            class_size(
                self.score[own], self.weight[own], None if self.group is None else self.group[own]
            )
            for own in (~self.positive, self.positive)
        ]
        return Steps(fp / fp[-1], tp / tp[-1], sizes[0], sizes[1]), thresholds

    def prevalence(self) -> tuple[float, float]:
        """Return the share of positives, and how many independent samples it is worth."""
        share = float(np.average(self.positive, weights=self.weight))
        size = class_size(self.positive.astype(np.float64), self.weight, self.group)
        return share, min(size, independent_size(self.weight))

    def area_error(self) -> float:
        """Return the standard error of the area under the ROC curve, widened for groups."""
        error = area_error(self.positive, self.score, self.weight, self.group)
        return error * self.widening


def check_curve_sample(
    y_true: ArrayLike,
    y_score: ArrayLike,
    pos_label: object,
    sample_weight: ArrayLike | None,
    groups: Any,
    confidence_level: float,
) -> CurveSample:
    """Return the samples that count; both classes must be there."""
    positive, score, weight = check_binary_scores(y_true, y_score, pos_label, sample_weight)
    seen = weight > 0
    group = number_groups(groups, len(seen), seen)
    positive = positive[seen]
    if positive.all() or not positive.any():
        raise ValueError("y_true must hold both classes with weight > 0, got one.")
    return CurveSample(positive, score[seen], weight[seen], group, confidence_level)


def number_groups(groups: Any, n_samples: int, seen: NDArray[np.bool_]) -> NDArray[np.intp] | None:
    """Return the number of the group of each sample that is seen, from 0."""
    groups = check_groups(groups, n_samples)
    if groups is None:
        return None
    names, codes = np.unique(groups[seen], return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"groups must hold at least two groups, got one: {names.tolist()[0]!r}.")
    return codes.reshape(-1)


def simulate_distances(
    steps: Steps, n_resamples: int, random_state: RandomStateLike, with_prevalence: bool
) -> Floats:
    """Return how far a simulated curve lies from the true one, for each resample.

    The deviation of the prevalence is independent of those of the rates, and the same at every
    threshold.
    """
    root = root_seed(random_state)
    rngs = [repetition_rng(root, b) for b in range(n_resamples)]
    distances = curve_distances(steps, rngs)
    if with_prevalence:
        distances = np.hypot(distances, [rng.standard_normal() for rng in rngs])
    return distances
