"""Outputs of the fits of a block, and the losses of their predictions.

Outputs are predictions, scores and decision values of the tested samples. A loss is chosen by name
or given as a function of labels and predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from skeval._resampling.plans import PlanBlock
from skeval._resampling.sampling_units import Target
from skeval.metrics._regression import LOSSES, PROBABILITY_LOSSES
from skeval.metrics._table import group_by_size
from skeval.utils._checks import check_rows

RESPONSES = ("predict", "decision_function", "predict_proba")
"""Prediction methods of the columns of a `FitOutput`, in the same order."""

COLUMNS = ("predicted", "decision", "probability")

SHARE = 1e-9
"""Accuracy of decision values of solvers, relative to their spread; closer values are tied."""

LAST_PLACES = 2.0**-48
"""Rounding errors of a sum relative to its largest term: sixteen machine epsilons."""


@dataclass(frozen=True, eq=False)
class FitOutput:
    """Predictions of several fits for their test samples.

    Predictions are ordered by fit, and within a fit by sample. Failed fits have no predictions.
    Outputs that were not requested are None.

    Attributes
    ----------
    test : bool ndarray of shape (n_fits, n_samples)
        Test samples of each fit.
    failed : bool ndarray of shape (n_fits,)
        Fits without predictions: a solver leaves them to the estimator, or the estimator raised
        an error and ``error_score=numpy.nan``.
    predicted : ndarray of shape (n_predictions,) or None
        Class codes, or numbers.
    decision : ndarray of shape (n_predictions,) or (n_predictions, n_classes), or None
        Decision values; for two classes, those of the second class.
    probability : ndarray of shape (n_predictions, n_classes) or None
    scores : list of length n_fits, or None
        Score of each fit, a number or a dict of numbers; None if the fit failed.
    notes : list of length n_fits, or None
        Further output of each model, as requested.
    noise : ndarray of shape (n_fits,) or None
        Size of the rounding errors of decision values; None if unknown.
    n_solved : int
        Number of fits by a solver.
    """

    test: np.ndarray
    failed: np.ndarray
    predicted: Any = None
    decision: Any = None
    probability: Any = None
    scores: list[Any] | None = None
    notes: list[Any] | None = None
    noise: Any = None
    n_solved: int = 0

    @classmethod
    def of_decisions(cls, block: PlanBlock, values: np.ndarray, solved: np.ndarray) -> FitOutput:
        """Return the outputs of fits to two classes from their decision values.

        `values` has the shape (n_fits, n_samples), `solved` the shape (n_fits,). A decision value
        of 0 means the second class, as in libsvm.
        """
        decision = values[block.test & solved[:, None]]
        return cls(block.test, ~solved, (decision >= 0).astype(np.intp), decision)

    def __len__(self) -> int:
        return len(self.test)

    def __iter__(self) -> Iterator[FitOutput]:
        """Yield the output of each fit."""
        if len(self) == 1:
            yield self
            return
        start = 0
        for fit, size in enumerate(self.sizes.tolist()):
            yield self._take(slice(fit, fit + 1), slice(start, start + size))
            start += size

    @cached_property
    def mask(self) -> np.ndarray:
        """Mask of the samples that each fit predicts, shape (n_fits, n_samples)."""
        return self.test & ~self.failed[:, None] if self.failed.any() else self.test

    @cached_property
    def rows(self) -> np.ndarray:
        """Sample of each prediction, shape (n_predictions,)."""
        return np.nonzero(self.mask)[1]

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of predictions of each fit, shape (n_fits,)."""
        sizes: np.ndarray = self.mask.sum(axis=1)
        return sizes

    @property
    def responses(self) -> dict[str, np.ndarray]:
        """Predictions by the name of the prediction method; classes are codes."""
        named = zip(RESPONSES, (self.predicted, self.decision, self.probability), strict=True)
        return {name: values for name, values in named if values is not None}

    def tie_decision(self) -> np.ndarray:
        """Return decision values; values of a fit that differ by rounding only are made equal."""
        noise = np.zeros(len(self)) if self.noise is None else self.noise
        n_columns = int(np.prod(self.decision.shape[1:]))  # also where there is no prediction
        columns = self.decision.reshape(len(self.decision), n_columns)
        tied = np.empty_like(columns)
        for fits, at in group_by_size(self.sizes):
            values = columns[at].swapaxes(1, 2)  # (n_fits_of_size, n_columns, size)
            rows = values.reshape(-1, at.shape[1])
            off = np.repeat(noise[fits], columns.shape[1])
            tied[at] = tie_rows(rows, off).reshape(values.shape).swapaxes(1, 2)
        ties: np.ndarray = tied.reshape(self.decision.shape)
        return ties

    def _take(self, fits: slice, rows: slice) -> FitOutput:
        selections = dict.fromkeys(COLUMNS, rows) | dict.fromkeys(
            ("scores", "notes", "noise"), fits
        )
        known = {name: at for name, at in selections.items() if getattr(self, name) is not None}
        parts = {name: getattr(self, name)[at] for name, at in known.items()}
        return FitOutput(self.test[fits], self.failed[fits], **parts)


def join_outputs(parts: Sequence[FitOutput]) -> FitOutput:
    """Return the outputs of consecutive fits as one.

    A column is None if any fit lacks it or its shapes differ.
    """
    if len(parts) == 1:
        return parts[0]
    # fits that failed have no columns
    with_answers = [part for part in parts if not part.failed.all()]

    def join(name: str) -> Any:
        columns = [getattr(part, name) for part in with_answers]
        if not columns or any(column is None for column in columns):
            return None
        same_shape = len({column.shape[1:] for column in columns}) == 1
        return np.concatenate(columns) if same_shape else None

    def chain(name: str) -> list[Any] | None:
        lists = [getattr(part, name) for part in parts]
        if all(values is None for values in lists):
            return None
        sized = zip(parts, lists, strict=True)
        return [value for part, values in sized for value in values or [None] * len(part)]

    return FitOutput(
        np.concatenate([part.test for part in parts]),
        np.concatenate([part.failed for part in parts]),
        join("predicted"),
        join("decision"),
        join("probability"),
        scores=chain("scores"),
        notes=chain("notes"),
        noise=None
        if any(part.noise is None for part in parts)
        else np.concatenate([part.noise for part in parts]),
    )


def tie_values(values: np.ndarray) -> np.ndarray:
    """Return decision values, made equal if they differ by rounding errors only.

    Values are tied if their distance is at most the largest of: 1e-9 of the spread of all values,
    the relative accuracy of a solver; sixteen machine epsilons of the largest value, which may come
    from the intercept; and, in `tie_rows`, the rounding errors of the sums behind the values. A
    classifier that is constant except for rounding therefore ranks no pair of samples, and one
    whose differences are small relative to its intercept ranks all pairs.

    `values` has shape (n_samples,) or (n_samples, n_classes); each column is tied separately.
    """
    if not values.size:
        return values
    rows = values.T if values.ndim == 2 else values[None]
    tied = tie_rows(rows, np.zeros(len(rows)))
    return tied.T if values.ndim == 2 else tied[0]


def tie_rows(values: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return values (n_rows, size), tied within each row up to rounding errors `noise` of the row.

    A row that is not finite stays unchanged.
    """
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        tied = values.copy()
        tied[finite] = tie_rows(values[finite], noise[finite])
        return tied
    # spread of the inner half, so that a single outlier does not make all other values equal
    deviations = np.abs(values - np.median(values, axis=1, keepdims=True))
    spread = 2 * np.median(deviations, axis=1)
    spread = np.where(spread > 0, spread, np.ptp(values, axis=1))
    # distance up to which neighboring values are tied
    unit = np.maximum(spread * SHARE, np.abs(values).max(axis=1) * LAST_PLACES)
    unit = np.maximum(unit, noise)
    # sort each row, and compare neighbors
    order = np.argsort(values, axis=1, kind="stable")
    ranked = np.take_along_axis(values, order, axis=1)
    # each value becomes the first of its run of ties
    first = np.zeros(values.shape, dtype=np.intp)
    new = np.diff(ranked, axis=1) > unit[:, None]
    first[:, 1:] = np.where(new, np.arange(1, values.shape[1]), 0)
    first = np.maximum.accumulate(first, axis=1)
    tied = np.empty_like(values)
    np.put_along_axis(tied, order, np.take_along_axis(ranked, first, axis=1), axis=1)
    return tied


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
        # all fits at once
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
    # the loss by name
    if loss is None:
        loss = "squared" if target.classes is None else "zero_one"
    if not isinstance(loss, str) or loss not in NAMED:
        raise ValueError(
            f"loss must be None, a callable or one of {', '.join(map(repr, NAMED))}; got {loss!r}."
        )
    argument = f"loss={loss!r}" if argument is None else argument
    # requirements of the loss on the estimator and the target
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
            "sample_weight must be positive for a sample that cv tests; it is 0 for all of them."
        )
    return float(np.average(losses, weights=weights / largest))
