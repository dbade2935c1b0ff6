"""The loss of a single prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skeval._resampling.outputs import FitOutput
from skeval._resampling.plan import PlanBlock
from skeval._resampling.target import Target
from skeval.metrics._losses import LOSSES

__all__ = ["Loss", "LossLike", "resolve_loss"]

LossLike = str | Callable[[np.ndarray, np.ndarray], np.ndarray] | None


@dataclass(frozen=True)
class Loss:
    """A per-sample loss and its name."""

    name: str
    function: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def __call__(self, y_true: np.ndarray, y_pred: np.ndarray) -> np.ndarray:
        """Return the loss of each prediction, shape (n,)."""
        values = np.asarray(self.function(y_true, y_pred), dtype=float)
        if values.shape != y_true.shape:
            raise ValueError(
                f"loss must return one value for each sample, shape {y_true.shape}; "
                f"got shape {values.shape}."
            )
        if not np.isfinite(values).all():
            raise ValueError(f"loss must be finite, got {values[~np.isfinite(values)][0]}.")
        return values

    def of_output(self, target: Target, block: PlanBlock, output: FitOutput) -> np.ndarray:
        """Return the losses of all answers, shape (n_fits, n_samples), nan where there is none."""
        losses = np.full(block.test.shape, np.nan)
        if output.predicted is None:
            return losses
        true = block.tested_labels(target.codes, ~output.failed)
        if self.name == "zero_one":
            losses[output.answered] = true != output.predicted
            return losses
        stops = np.cumsum(output.sizes)[:-1]
        pairs = zip(np.split(true, stops), np.split(output.predicted, stops), strict=True)
        values = [self(target.decode(t), target.decode(p)) if len(t) else t for t, p in pairs]
        losses[output.answered] = np.concatenate(values)
        return losses


def resolve_loss(loss: LossLike, target: Target) -> Loss:
    """Return the loss that an argument `loss` names."""
    if callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        # The name decides shortcuts and intervals, so a callable must not be named like ours.
        return Loss(f"{name}()" if name in LOSSES else name, loss)
    if loss is None:
        loss = "squared" if target.classes is None else "zero_one"
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ValueError(
            f"loss must be None, a callable or one of {', '.join(map(repr, LOSSES))}; got {loss!r}."
        )
    if loss != "zero_one" and target.y.dtype.kind not in "fiu":
        raise ValueError(f"loss={loss!r} needs numbers in y, got dtype {target.y.dtype}.")
    return Loss(loss, LOSSES[loss])
