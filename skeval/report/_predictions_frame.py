"""Out-of-fold predictions as a data frame."""

from __future__ import annotations

from typing import Any

from skeval._resampling.procedure import OutOfFold
from skeval.utils._frames import DataFrame, make_frame

__all__ = ["make_predictions_frame"]


def make_predictions_frame(found: OutOfFold) -> DataFrame:
    """Return a row for each answer of a model to a sample that it was not trained on."""
    target = found.target
    columns: dict[str, Any] = {
        "sample": found.row,
        "repeat": found.repeat,
        "fold": found.fold,
        "truth": target.y[found.row],
        "prediction": target.decode(found.predicted),
    }
    scores = found.response
    if scores is not None and target.classes is not None:
        if scores.ndim == 1:
            columns["score"] = scores
        elif len(target.classes) == 2:
            columns["score"] = scores[:, 1]
        else:
            names = target.classes.tolist()
            columns |= {f"score_{name}": scores[:, k] for k, name in enumerate(names)}
    return make_frame(columns)
