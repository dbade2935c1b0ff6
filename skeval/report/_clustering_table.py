"""The table of numbers of clusters as data: text and page are made from its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.cluster import ClusteringComparison, NClustersChoice
from skeval.metrics.cluster import ExternalIndices
from skeval.utils._text import write_with_spread

__all__ = ["MEASURES", "Column", "make_columns"]

MEASURES = {
    "prediction_strength": ("prediction", "strength"),
    "adjusted_rand": ("adjusted Rand", "of halves"),
    "matched_accuracy": ("matched accuracy", "of halves"),
}
"""What is measured between halves, in words on two lines."""


@dataclass(frozen=True)
class Column:
    """One value for each number of clusters.

    `heading` holds up to three lines: the name, and which way is better where there is one.
    `write` turns a value into text.
    """

    heading: tuple[str, ...]
    values: Sequence[Any] | np.ndarray
    write: Callable[[Any], str]

    @property
    def cells(self) -> list[str]:
        """The values as text."""
        return [self.write(value) for value in self.values]


def make_columns(
    comparison: ClusteringComparison,
    stability: NClustersChoice,
    external: Iterable[ExternalIndices] | None,
) -> list[Column]:
    """Return the columns, the numbers of clusters first."""
    columns = [Column(("k",), stability.candidates, str)]
    directions = zip(comparison.indices, comparison.greater_is_better, strict=True)
    for (name, up), values in zip(directions, comparison.values.T, strict=True):
        heading = (*_split_name(name), "larger" if up else "smaller")
        columns.append(Column(heading, values, _choose_format(values)))
    means_and_errors = list(zip(stability.values, stability.standard_errors, strict=True))
    columns += [
        Column((*MEASURES[stability.method], "larger"), means_and_errors, _write_mean),
        Column(("the same", "without", "structure"), stability.reference_values, "{:.3f}".format),
        Column(("Pareto", "front"), comparison.front, _write_flag),
    ]
    if external is not None:
        values = np.array([indices.adjusted_rand for indices in external])
        heading = ("adjusted", "Rand with", "classes")
        columns.append(Column(heading, values, _choose_format(values)))
    return columns


def _split_name(name: str) -> tuple[str, ...]:
    """Return the name of an index as one or two lines."""
    first, _, last = name.partition("_")
    return (first, last.replace("_", " ")) if last else (first,)


def _choose_format(values: np.ndarray) -> Callable[[Any], str]:
    """Return what writes numbers with as many decimals as show four figures of the largest."""
    sizes = np.abs(values[np.isfinite(values)])
    figures = int(np.floor(np.log10(sizes.max()))) if sizes.any() else 0
    if figures > 6:
        return "{:.3e}".format
    return f"{{:.{min(max(3 - figures, 0), 4)}f}}".format


def _write_mean(mean_and_error: tuple[float, float]) -> str:
    return write_with_spread(*mean_and_error)


def _write_flag(flag: bool) -> str:
    return "yes" if flag else "no"
