"""Losses of single predictions, by name or as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import Target
from skeval.metrics._regression import LOSSES, PROBABILITY_LOSSES
from skeval.utils._checks import check_rows

NAMED = {**LOSSES, **PROBABILITY_LOSSES}
"""Losses by the name in an argument `loss`."""

LossLike = str | Callable[[np.ndarray, np.ndarray], np.ndarray] | None


@dataclass(frozen=True)
class Loss:
    """A per-sample loss, its name, and the prediction method that it applies to."""

    name: str
    function: Callable[[np.ndarray, np.ndarray], np.ndarray]
    response: str = "predict"

    def __call__(self, y_true: np.ndarray, y_pred: np.ndarray) -> np.ndarray:
        """Return the loss of each prediction, shape (n,)."""
        values = np.asarray(self.function(y_true, y_pred), dtype=float)
        if values.shape != y_true.shape[:1]:
            raise ValueError(
                f"loss must return one value for each sample, shape {y_true.shape[:1]}; "
                f"got shape {values.shape}."
            )
        if not np.isfinite(values).all():
            raise ValueError(f"loss must be finite, got {values[~np.isfinite(values)][0]}.")
        return values

    def of_output(self, target: Target, block: PlanBlock, output: FitOutput) -> np.ndarray:
        """Return all losses, shape (n_fits, n_samples), nan without a prediction."""
        losses = np.full(block.test.shape, np.nan)
        if output.predicted is None:
            return losses
        true = block.tested_labels(target.codes, ~output.failed)
        pairs = self.pair(target, true, output)
        if self.name in NAMED:
            losses[output.mask] = self(*pairs)
            return losses
        # a loss of the user may depend on the other samples, so call it for each fit
        stops = np.cumsum(output.sizes)[:-1]
        of_fits = zip(*(np.split(side, stops) for side in pairs), strict=True)
        losses[output.mask] = np.concatenate([self(t, p) if len(t) else t for t, p in of_fits])
        return losses

    def pair(
        self, target: Target, codes: np.ndarray, output: FitOutput
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return true values (from `codes`) and predictions as arguments of the loss."""
        if self.response == "predict_proba":
            if output.probability is None:
                raise ValueError(
                    f"loss={self.name!r} needs a probability of each class from predict_proba of "
                    "every fitted model; one gave none."
                )
            return codes, check_rows("predict_proba of the estimator", output.probability)
        if self.name == "zero_one":
            return codes, output.predicted
        return target.decode(codes), target.decode(output.predicted)


def resolve_loss(
    loss: LossLike, target: Target, estimator: Any = None, argument: str | None = None
) -> Loss:
    """Return the `Loss` for an argument `loss`, after checking that the estimator supports it.

    Error messages name `argument` instead of ``loss='...'``.
    """
    if callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        # The name selects shortcuts and intervals, so a callable must not have one of our names.
        return Loss(f"{name}()" if name in {*NAMED, "hamming"} else name, loss)
    if target.outputs:
        return resolve_output_loss(loss, target)
    if loss is None:
        loss = "squared" if target.classes is None else "zero_one"
    if not isinstance(loss, str) or loss not in NAMED:
        raise ValueError(
            f"loss must be None, a callable or one of {', '.join(map(repr, NAMED))}; got {loss!r}."
        )
    argument = f"loss={loss!r}" if argument is None else argument
    if loss in PROBABILITY_LOSSES:
        if target.classes is None:
            raise ValueError(f"{argument} needs a classifier; this estimator predicts numbers.")
        if estimator is not None and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{argument} needs an estimator with predict_proba, which "
                f"{type(estimator).__name__} lacks."
            )
        return Loss(loss, NAMED[loss], "predict_proba")
    if loss != "zero_one" and target.y.dtype.kind not in "fiu":
        raise ValueError(
            f"{argument} needs numbers in y, got dtype {target.y.dtype}; classes need a classifier."
        )
    return Loss(loss, NAMED[loss])


LOSSES_OF_LABELS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "hamming": lambda true, predicted: np.mean(true != predicted, axis=1),
    "zero_one": lambda true, predicted: np.any(true != predicted, axis=1),
}
"""Share of wrong labels, and whether any label is wrong."""
LOSSES_OF_OUTPUTS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "squared": lambda true, predicted: np.mean((true - predicted) ** 2, axis=1),
    "absolute": lambda true, predicted: np.mean(np.abs(true - predicted), axis=1),
}
"""Means over the outputs."""


def resolve_output_loss(loss: str | None, target: Target) -> Loss:
    """Return the loss of several outputs, or labels, of a sample."""
    losses = LOSSES_OF_LABELS if target.output_classes else LOSSES_OF_OUTPUTS
    loss = next(iter(losses)) if loss is None else loss
    if not isinstance(loss, str) or loss not in losses:
        what = "labels" if target.output_classes else "outputs"
        raise ValueError(
            f"loss must be None, a callable or one of {', '.join(map(repr, losses))} for several "
            f"{what} of a sample; got {loss!r}."
        )
    return Loss(loss, losses[loss])


def losses_by_output(loss: Loss, target: Target) -> dict[str, Loss]:
    """Return the loss of each output by name; empty for a user's function of all outputs."""
    if loss.name not in {**LOSSES_OF_LABELS, **LOSSES_OF_OUTPUTS}:
        return {}
    name = "zero_one" if target.output_classes else loss.name
    return {
        output: Loss(name, partial(judge_output, LOSSES[name], k))
        for k, output in enumerate(target.outputs)
    }


def judge_output(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    position: int,
    y_true: np.ndarray,
    y_pred: np.ndarray,
) -> np.ndarray:
    """Return the loss of one column of labels and predictions."""
    return function(y_true[:, position], y_pred[:, position])


def mean_of_tested(losses: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the weighted mean loss of test samples; raise if all weights are 0."""
    if weights is None:
        return float(losses.mean())
    largest = weights.max()
    if largest == 0:
        raise ValueError(
            "sample_weight must be positive for a sample that cv tests, it is 0 for all of them."
        )
    return float(np.average(losses, weights=weights / largest))
