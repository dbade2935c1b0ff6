"""Samples that are predicted wrongly again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._resampling.procedure import OutOfFold
from skeval.report._text_table import align_rows
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import ShownAsText

__all__ = ["HardSamples", "find_hard_samples"]

MOST = 20
"""Samples that are printed."""


@dataclass(frozen=True, eq=False)
class HardSamples(ShownAsText):
    """Samples by how badly models that did not see them predict them, the worst first.

    Attributes
    ----------
    sample : int ndarray of shape (n_hard,)
        Row of the sample.
    name : tuple of str
        Its name in the index of the data frame, or its row.
    truth : tuple of str
        Its label, or its number.
    prediction : tuple of str
        What it is most often taken for; of numbers the mean prediction.
    wrong : ndarray of shape (n_hard,)
        Share of its predictions that are wrong; of numbers, the root of its mean squared
        residual over that of all samples.
    always : int
        Number of samples that every model predicted wrongly; of numbers, those more than three
        times as far off as samples are.
    suspect : bool ndarray of shape (n_hard,)
        Whether the label may be what is wrong. Few samples are (at most 5 %), in every one of at
        least two repeats, each in a class of which at most half are, and the error is at most half
        of that of answering always the largest class. Of numbers, all that are so far off, if few.
    unknown : dict of str to (int, int)
        Classes of which more than half of the samples are wrong in every repeat: how many, of how
        many. There the models do not know the class, and its labels are no worse than others.
    """

    sample: np.ndarray
    name: tuple[str, ...]
    truth: tuple[str, ...]
    prediction: tuple[str, ...]
    wrong: np.ndarray
    always: int
    suspect: np.ndarray
    unknown: dict[str, tuple[int, int]]

    def to_records(self) -> list[dict[str, Any]]:
        """Return the samples as rows of a table."""
        columns = self.sample.tolist(), self.name, self.truth, self.prediction, self.wrong.tolist()
        head = "sample", "name", "truth", "prediction", "wrong"
        return [dict(zip(head, row, strict=True)) for row in zip(*columns, strict=True)]

    def to_frame(self) -> DataFrame:
        """Return a row for each sample that is ever wrong; needs pandas."""
        return make_frame(self.to_records())

    def __str__(self) -> str:
        columns = self.name, self.truth, self.prediction, [f"{share:.2f}" for share in self.wrong]
        rows = [("sample", "is", "taken for", "wrong"), *zip(*columns, strict=True)]
        more = [f"and {len(rows) - 1 - MOST} more"] if len(rows) - 1 > MOST else []
        return "\n".join([*align_rows(rows[: MOST + 1]), *more])


MOST_SUSPECT = 0.05
"""Share of samples up to which those that are always wrong are taken for mistakes of their own."""
FAR = 3.0
"""Residuals of a sample, in units of those of all, from which it counts as always wrong."""


def find_hard_samples(found: OutOfFold, index: Any) -> HardSamples:
    """Return the samples that are ever predicted wrongly, the worst first."""
    n, target = len(found.target), found.target
    counts = np.bincount(found.row, minlength=n)
    if target.classes is None:
        residual = target.y[found.row].astype(float) - found.predicted
        squares = np.bincount(found.row, residual**2, minlength=n) / np.maximum(counts, 1)
        whole = float(np.mean(squares[counts > 0]))
        wrong = np.sqrt(squares / whole) if whole > 0 else np.zeros(n)
        means = np.bincount(found.row, found.predicted, minlength=n) / np.maximum(counts, 1)
        taken: list[str] = [f"{mean:.4g}" for mean in means]
        truth = [f"{value:.4g}" for value in target.y.astype(float)]
        hard = np.flatnonzero(wrong > FAR)
        always = len(hard)
        suspect, unknown = np.full(n, always <= MOST_SUSPECT * n), dict[str, tuple[int, int]]()
    else:
        classes = target.classes
        missed = found.predicted != target.codes[found.row]
        wrong = np.bincount(found.row, missed, minlength=n) / np.maximum(counts, 1)
        votes = np.zeros((n, len(classes)))
        np.add.at(votes, (found.row[missed], found.predicted[missed].astype(int)), 1)
        taken = [str(name) for name in classes[votes.argmax(axis=1)].tolist()]
        truth = [str(name) for name in target.y.tolist()]
        hard = np.flatnonzero(wrong > 0)
        always = int(np.sum((wrong == 1) & (counts > 0)))
        suspect, unknown = _judge_labels(found, classes, (wrong == 1) & (counts > 0), missed)
    hard = hard[np.lexsort([hard, -wrong[hard]])]
    names = [str(k) for k in range(n)] if index is None else [str(name) for name in index]
    return HardSamples(
        sample=hard,
        name=tuple(names[k] for k in hard),
        truth=tuple(truth[k] for k in hard),
        prediction=tuple(taken[k] for k in hard),
        wrong=wrong[hard],
        always=always,
        suspect=suspect[hard],
        unknown=unknown,
    )


def _judge_labels(
    found: OutOfFold, classes: np.ndarray, always: np.ndarray, missed: np.ndarray
) -> tuple[np.ndarray, dict[str, tuple[int, int]]]:
    """Return which samples may have a wrong label, and the classes that models do not know."""
    codes = found.target.codes
    tested = np.bincount(found.row, minlength=len(codes))
    always = always & (tested > 1)
    sizes = np.bincount(codes[tested > 0], minlength=len(classes))
    wrong = np.bincount(codes[always], minlength=len(classes))
    names = [str(name) for name in classes.tolist()]
    rows = zip(names, wrong.tolist(), sizes.tolist(), strict=True)
    unknown = {name: (n_wrong, size) for name, n_wrong, size in rows if 2 * n_wrong > size}
    suspect = always & (2 * wrong <= sizes)[codes]
    guess = 1 - sizes.max() / sizes.sum()
    few = suspect.sum() <= MOST_SUSPECT * sizes.sum() and 2 * missed.mean() <= guess
    return suspect & few, unknown
