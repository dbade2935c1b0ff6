"""The target of a supervised task: classes as codes, or numbers; and the loss of a prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets

from skeval._resampling.outputs import FitOutput
from skeval._resampling.plan import PlanBlock
from skeval.metrics._regression import LOSSES, PROBABILITY_LOSSES
from skeval.utils._checks import (
    check_data,
    check_groups,
    check_methods,
    check_same_length,
    check_y,
    naming,
)
from skeval.utils._compat import num_samples, safe_indexing

__all__ = ["Loss", "LossLike", "Target", "check_task", "permute_labels", "resolve_loss"]


@dataclass(frozen=True, eq=False)
class Target:
    """A target as the estimators see it (`given`) and as the reductions do (`y`, `codes`).

    Attributes
    ----------
    y : ndarray of shape (n_samples,)
        Labels or numbers.
    classes : ndarray of shape (n_classes,) or None
        The sorted labels; None for regression.
    codes : ndarray of shape (n_samples,)
        Positions in `classes`; `y` itself for regression.
    given : ndarray or Series of shape (n_samples,)
        The Series that the user gave, with its index and dtype; `y` where it was none.
    groups : ndarray of shape (n_samples,) or None
        What samples belong to, for an estimator that splits by it in its `fit`.
    """

    y: np.ndarray
    classes: np.ndarray | None
    codes: np.ndarray
    given: Any = None
    groups: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.given is None:
            object.__setattr__(self, "given", self.y)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    def encode(self, predicted: np.ndarray, n_tested: int) -> np.ndarray:
        """Return what is predicted for so many samples: labels as codes, numbers as they are."""
        predicted = np.asarray(predicted)
        if predicted.shape != (n_tested,):
            raise ValueError(
                f"estimator must predict one value for each sample, shape ({n_tested},), "
                f"got an array of shape {predicted.shape}."
            )
        if self.classes is None:
            what = "predictions of estimator"
            return check_data(what, predicted, ensure_2d=False, dtype=np.float64)
        codes = np.searchsorted(self.classes, predicted).clip(max=len(self.classes) - 1)
        unknown = self.classes[codes] != predicted
        if np.any(unknown):
            first = predicted[unknown].tolist()[0]
            raise ValueError(f"estimator must predict labels that are in y, got {first!r}.")
        return codes

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """Return codes as the labels they stand for."""
        return codes if self.classes is None else self.classes[codes]


def check_task(estimator: Any, X: Any, y: Any, groups: Any = None) -> tuple[Any, Target, Any]:
    """Check what every estimator of error is given; return indexable X, the target and groups."""
    try:
        check_methods("estimator", estimator, "fit", "predict", "get_params")
    except TypeError as error:
        if isinstance(estimator, type) or not (
            hasattr(estimator, "predict") or callable(estimator)
        ):
            raise
        raise TypeError(
            f"{error} What predicts only, and cannot be fitted again, is evaluated by its "
            "predictions: skeval.report.evaluate_predictions(y_true, predictions)."
        ) from None
    with naming("X"):
        num_samples(X)
    check_same_length(X=X, y=y)
    groups = check_groups(groups, num_samples(y))
    with naming("X"):
        (X,) = indexable(X)
    if get_tags(estimator).input_tags.pairwise:
        X = check_pairwise(X)
    y, given = check_y("y", y), y
    given = read_series(given, y)
    if not is_classifier(estimator):
        return X, Target(y, None, y, given, groups), groups
    with naming("y"):
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes, got one: {classes.tolist()[0]!r}.")
    return X, Target(y, classes, codes, given, groups), groups


def read_series(given: Any, y: np.ndarray) -> Any:
    """Return a Series as it was given, None for anything else.

    Numbers that it holds as objects, of which scikit-learn makes no classes, get a dtype.
    """
    if not hasattr(given, "iloc") or given.ndim != 1:
        return None
    dtype = getattr(given, "dtype", y.dtype)
    held_as_objects = dtype == np.dtype(object) and y.dtype != object
    return given.astype(y.dtype) if held_as_objects else given


def permute_labels(y: Any, order: np.ndarray | None) -> Any:
    """Return labels in another order; the index of a Series stays, for it names the samples."""
    if order is None:
        return y
    labels = safe_indexing(y, order)
    return labels.set_axis(y.index) if hasattr(y, "set_axis") else labels


def check_pairwise(X: Any) -> Any:
    """Return the kernels or distances between all samples as an array that splits can index."""
    X = check_data("X", X, accept_sparse="csr")
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            "X must be square, a kernel or distance between each two samples, for this estimator; "
            f"got shape {X.shape}."
        )
    return X


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
        raise ValueError(f"{asked} needs numbers in y, got dtype {target.y.dtype}.")
    return Loss(loss, NAMED[loss])
