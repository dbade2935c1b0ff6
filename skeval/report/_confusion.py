"""The confusion matrix of out-of-fold predictions, with intervals of its rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._inference.proportions import wilson_interval
from skeval._resampling.procedure import OutOfFold
from skeval.report._text_table import align_rows
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import ShownAsText

__all__ = ["ConfusionRates", "measure_confusion", "name_columns"]


@dataclass(frozen=True, eq=False)
class ConfusionRates(ShownAsText):
    """Of each class, the shares that are taken for each class.

    Attributes
    ----------
    labels : tuple of str
        The classes.
    counts : ndarray of shape (n_classes, n_classes)
        Samples of each class (rows) taken for each (columns), on average over the repeats.
    rates : ndarray of shape (n_classes, n_classes)
        Share of the row.
    low, high : ndarray of shape (n_classes, n_classes)
        Ends of Wilson's intervals of the rates, for as many samples (or groups) as the row has
        over 1.55 (2 where folds are not repeated), as `error_interval` counts them.
    """

    labels: tuple[str, ...]
    counts: np.ndarray
    rates: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as nested lists."""
        numbers = {"counts": self.counts, "rates": self.rates, "low": self.low, "high": self.high}
        return {"labels": list(self.labels)} | {k: v.tolist() for k, v in numbers.items()}

    def to_frame(self) -> DataFrame:
        """Return a row for each pair of classes; needs pandas."""
        k = len(self.labels)
        return make_frame(
            {
                "truth": np.repeat(self.labels, k),
                "prediction": np.tile(self.labels, k),
                "count": self.counts.ravel(),
                "rate": self.rates.ravel(),
                "low": self.low.ravel(),
                "high": self.high.ravel(),
            }
        )

    def __str__(self) -> str:
        rows = zip(self.labels, self.counts, strict=True)
        counts = [[label, *(f"{count:.4g}" for count in row)] for label, row in rows]
        return "\n".join(align_rows([name_columns(self.labels), *counts]))


def name_columns(labels: Sequence[str]) -> list[str]:
    """Return what stands above the confusion matrix: what the samples are, and are taken for."""
    return ["class", *(f"taken for {label}" for label in labels)]


def measure_confusion(found: OutOfFold, confidence_level: float) -> ConfusionRates | None:
    """Return the confusion matrix; None of numbers."""
    classes = found.target.classes
    if classes is None:
        return None
    k, codes = len(classes), found.target.codes
    cell = codes[found.row] * k + found.predicted.astype(np.intp)
    sums = np.bincount(cell, found.weight[found.row], minlength=k * k).reshape(k, k)
    counts = sums / len(found.repeats)
    with np.errstate(invalid="ignore"):
        rates = counts / counts.sum(axis=1, keepdims=True)
    low, high = np.full((k, k), np.nan), np.full((k, k), np.nan)
    for row in range(k):
        n = len(np.unique(found.cases.unit[codes == row])) / found.inflation
        for column in np.flatnonzero(np.isfinite(rates[row])):
            rate = rates[row, column]
            ends = wilson_interval(rate * n, n, confidence_level)
            low[row, column], high[row, column] = ends
    labels = tuple(str(name) for name in classes.tolist())
    return ConfusionRates(labels, counts, rates, low, high)
