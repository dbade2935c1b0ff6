"""Out-of-fold predictions of repeated folds, or predictions from the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from skeval._resampling.inputs import FitOutput, Inputs, join_outputs
from skeval._resampling.plans import ResamplingPlan
from skeval._resampling.sampling_units import SamplingUnits, Target
from skeval.metrics._curves import CurveSample
from skeval.utils._checks import normalize_rows, scale_weights


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for samples outside the training set, over repeated folds.

    Predictions are ordered by fit.

    Attributes
    ----------
    target : Target
    cases : SamplingUnits
        Units that were held out together.
    weight : ndarray of shape (n_samples,)
        Weights of the samples.
    row, repeat, fold : int ndarray of shape (n_predictions,)
        Sample, repeat, and fold within the repeat, all counted from 0.
    predicted : ndarray of shape (n_predictions,)
        Class codes or numeric predictions, or nan if there are only scores.
    loss : ndarray of shape (n_predictions,)
        Loss of each prediction.
    response : ndarray of shape (n_predictions, n_classes) or (n_predictions,), or None
        Probabilities of the classes, or decision values.
    scores : dict of str to ndarray of shape (n_fits,)
        Scores of each successful fit, by the requested scorers.
    noted : list
        Further output of the models, as requested.
    n_folds : int
        Number of folds of a repeat.
    test_train_ratio : float
        Mean ratio of the size of a test set to the size of its training set.
    inflation : float
        Mean squared deviation of the mean loss from the risk, relative to the variance for
        independent losses.
    n_fits : int
        Number of fits, including failed ones, or 0 for predictions from the user.
    decision : ndarray of shape (n_predictions,), or None
        Decision values of two classes, which rank them as in scikit-learn.
    seconds : ndarray of shape (n_fits, 2), or None
        Time of each successful fit, and of its predictions and scores.
    """

    target: Target
    cases: SamplingUnits
    weight: np.ndarray
    row: np.ndarray
    repeat: np.ndarray
    fold: np.ndarray
    predicted: np.ndarray
    loss: np.ndarray
    response: np.ndarray | None
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    noted: list[Any] = field(default_factory=list)
    n_folds: int = 1
    test_train_ratio: float = np.inf
    inflation: float = 1.0
    n_fits: int = 0
    decision: np.ndarray | None = None
    seconds: np.ndarray | None = None

    @property
    def fit(self) -> np.ndarray:
        """Number of the fit of each prediction."""
        return self.repeat * self.n_folds + self.fold

    @cached_property
    def repeats(self) -> list[Any]:
        """One selection of predictions for each repeat."""
        if self.n_fits == 0:
            return [slice(None)]
        # predictions are ordered by fit
        ends = np.cumsum(np.bincount(self.repeat)).tolist()
        parts = map(slice, [0, *ends], ends)
        return [part for part in parts if part.stop > part.start]

    def look_up(self, values: np.ndarray) -> np.ndarray:
        """Return the sample's value for each prediction."""
        return values[self.row] if self.n_fits else values

    @cached_property
    def n_tested(self) -> int:
        """Number of samples with a prediction."""
        return int(np.count_nonzero(np.bincount(self.row)))

    @cached_property
    def has_values(self) -> bool:
        """Whether there are predicted classes or numbers, and not only scores."""
        return self.predicted.dtype.kind != "f" or not bool(np.isnan(self.predicted).any())

    @cached_property
    def group(self) -> np.ndarray | None:
        """Group of the sample of each prediction, or None if samples are independent."""
        cases = self.cases
        if not cases.clustered:
            return None
        return self.look_up(cases.unit if cases.crossed is None else cases.crossed)

    @cached_property
    def probabilities(self) -> np.ndarray | None:
        """Probabilities of the classes, shape (n_predictions, n_classes), or None."""
        response, classes = self.response, self.target.classes
        if response is None or classes is None or response.shape[1:] != classes.shape:
            return None
        return normalize_rows(response)

    @cached_property
    def class_scores(self) -> np.ndarray | None:
        """Scores of the classes, larger if more likely, shape (n_predictions, n_classes)."""
        response, classes = self.response, self.target.classes
        if self.decision is not None:
            response = self.decision
        if response is None or classes is None or not np.all(np.isfinite(response)):
            return None
        if response.ndim == 1:
            return np.column_stack([-response, response]) if len(classes) == 2 else None
        return response if response.shape[1] == len(classes) else None

    @cached_property
    def ranks_nothing(self) -> np.ndarray:
        """Whether all scores of each fit are equal, for fits that predict several samples."""
        scores, fit = self.class_scores, self.fit
        # without fits, the predictions are one set
        if self.n_fits == 0 and scores is not None:
            return np.array([len(scores) > 1 and bool(np.all(scores == scores[0]))])
        sizes = np.bincount(fit)
        has_rows = sizes > 0
        if scores is None:
            return np.zeros(np.count_nonzero(has_rows), dtype=bool)
        # compare the scores of each fit with one of its scores
        one = np.zeros(len(sizes), dtype=np.intp)
        one[fit] = np.arange(len(fit))
        same, at = sizes > 1, one[fit]
        for column in scores.T:
            same &= np.bincount(fit, column != column[at]) == 0
            if not same.any():
                break
        return same[has_rows]

    def rank(self, code: int) -> CurveSample | None:
        """Return the scores of a class against all others, or None if either is empty."""
        scores, positive = self.class_scores, self.look_up(self.target.codes) == code
        if scores is None or positive.all() or not positive.any():
            return None
        score = np.ascontiguousarray(scores[:, code], dtype=np.float64)
        weight, _ = scale_weights(self.look_up(self.weight), len(score))
        return CurveSample(positive, score, weight, self.group, 0.95)

    @cached_property
    def ranked(self) -> CurveSample | None:
        """Scores of the positive one of two classes, sorted once for all metrics."""
        return self.rank(self.target.positive_code)


def collect_predictions(
    inputs: Inputs, outputs: Sequence[FitOutput | None], plan: ResamplingPlan
) -> Predictions:
    """Return the predictions of repeated folds, without failed fits."""
    # sizes of the sets of the first repeat
    blocks, n_folds = map(plan.draw, range(plan.n_folds)), plan.n_folds
    sizes = np.array([[block.test.sum(), np.sum(block.train)] for block in blocks])
    # columns of the fits that did not fail, fit after fit
    done = [(fit, output) for fit, output in enumerate(outputs) if output is not None]
    joined = join_outputs([output for _, output in done])
    fit = np.repeat([fit for fit, _ in done], joined.sizes)
    # probabilities if there are any, otherwise decision values
    response = joined.decision if joined.probability is None else joined.probability
    scores = [(output.scores or [{}])[0] for _, output in done]
    names = list(scores[0])
    return Predictions(
        target=inputs.target,
        cases=inputs.units,
        weight=scale_weights(inputs.weight, len(inputs.target))[0],
        row=joined.rows,
        repeat=fit // n_folds,
        fold=fit % n_folds,
        predicted=joined.predicted,
        loss=inputs.loss_values(joined),
        response=None if response is None else np.asarray(response, dtype=float),
        scores={
            name: np.array([by_name.get(name, np.nan) for by_name in scores]) for name in names
        },
        noted=joined.notes or [],
        n_folds=n_folds,
        test_train_ratio=float(np.mean(sizes[:, 0] / sizes[:, 1])),
        n_fits=len(outputs),
        decision=joined.decision if inputs.target.n_classes == 2 else None,
        seconds=joined.seconds,
    )
