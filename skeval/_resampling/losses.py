"""Losses of single predictions, by name or as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import Target
from skeval.metrics._regression import LOSSES, PROBABILITY_LOSSES

NAMED = {**LOSSES, **PROBABILITY_LOSSES}
"""The losses that an argument `loss` names."""

LossLike = str | Callable[[np.ndarray, np.ndarray], np.ndarray] | None


@dataclass(frozen=True)
class Loss:
    """A per-sample loss, its name, and the method of a model whose answers it judges."""

    name: str
    function: Callable[[np.ndarray, np.ndarray], np.ndarray]
    response: str = "predict"

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
        pairs = self.pair(target, true, output)
        if self.name in NAMED:
            losses[output.answered] = self(*pairs)
            return losses
        stops = np.cumsum(output.sizes)[:-1]
        of_fits = zip(*(np.split(side, stops) for side in pairs), strict=True)
        losses[output.answered] = np.concatenate([self(t, p) if len(t) else t for t, p in of_fits])
        return losses

    def pair(
        self, target: Target, codes: np.ndarray, output: FitOutput
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what is true, given as codes, and what is answered, as the loss takes them."""
        if self.response == "predict_proba":
            if output.probability is None:
                raise ValueError(
                    f"loss={self.name!r} needs a probability of each class from predict_proba of "
                    "every fitted model; one gave none."
                )
            return codes, output.probability
        if self.name == "zero_one":
            return codes, output.predicted
        return target.decode(codes), target.decode(output.predicted)


def resolve_loss(
    loss: LossLike, target: Target, estimator: Any = None, asked: str | None = None
) -> Loss:
    """Return the loss that an argument `loss` names; the estimator must answer what it judges.

    `asked` is what errors say instead of ``loss='...'``.
    """
    if callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        # The name decides shortcuts and intervals, so a callable must not be named like ours.
        return Loss(f"{name}()" if name in NAMED else name, loss)
    if loss is None:
        loss = "squared" if target.classes is None else "zero_one"
    if not isinstance(loss, str) or loss not in NAMED:
        raise ValueError(
            f"loss must be None, a callable or one of {', '.join(map(repr, NAMED))}; got {loss!r}."
        )
    asked = f"loss={loss!r}" if asked is None else asked
    if loss in PROBABILITY_LOSSES:
        if target.classes is None:
            raise ValueError(f"{asked} needs a classifier; this estimator predicts numbers.")
        if estimator is not None and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{asked} needs an estimator with predict_proba, which "
                f"{type(estimator).__name__} lacks."
            )
        return Loss(loss, NAMED[loss], "predict_proba")
    if loss != "zero_one" and target.y.dtype.kind not in "fiu":
        raise ValueError(
            f"{asked} needs numbers in y, got dtype {target.y.dtype}; classes need a classifier."
        )
    return Loss(loss, NAMED[loss])


def mean_of_tested(losses: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the weighted mean loss of tested samples; raise where they weigh nothing."""
    if weights is None:
        return float(losses.mean())
    largest = weights.max()
    if largest == 0:
        raise ValueError(
            "sample_weight must be positive for a sample that cv tests, it is 0 for all of them."
        )
    return float(np.average(losses, weights=weights / largest))
