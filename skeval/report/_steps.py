"""The steps of an evaluation: each estimates the error of one estimator in one way."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import (
    BaseShuffleSplit,
    GroupShuffleSplit,
    LeaveOneGroupOut,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedShuffleSplit,
)
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from skeval.model_selection import (
    ErrorEstimate,
    PerturbationInterval,
    cross_val_error,
    perturbation_interval,
    resubstitution_error,
)
from skeval.model_selection._bootstrap import bootstrap_estimates
from skeval.model_selection._loss import LossLike
from skeval.model_selection._target import Target

__all__ = ["Steps", "ends_in_linear_svc"]


@dataclass(frozen=True, eq=False)
class Steps:
    """An estimator, its data and the settings that all steps share."""

    estimator: Any
    X: Any
    target: Target
    groups: Any
    folds: list[tuple[np.ndarray, np.ndarray]]
    loss: LossLike
    seed: int
    n_jobs: int | None
    error_score: float | str

    def resubstitution(self) -> Iterator[ErrorEstimate]:
        """Yield the error on the training samples."""
        yield resubstitution_error(self.estimator, self.X, self.target.y, loss=self.loss)

    def hold_out(self) -> Iterator[ErrorEstimate]:
        """Yield the error on a third of the samples, or of the groups."""
        yield self._cross_validated(self._third(), "hold-out (1/3)")

    def cross_validation(self) -> Iterator[ErrorEstimate]:
        """Yield the error over the folds."""
        yield self._cross_validated(self.folds, "cross-validation")

    def leave_one_out(self) -> Iterator[ErrorEstimate]:
        """Yield the error with each sample, or each group, held out in turn."""
        splitter = LeaveOneOut() if self.groups is None else LeaveOneGroupOut()
        yield self._cross_validated(splitter, "leave-one-out")

    def bootstrap(self, n_resamples: int) -> Iterator[ErrorEstimate]:
        """Yield the out-of-bag, .632 and .632+ errors."""
        yield from bootstrap_estimates(
            self.estimator, self.X, self.target.y, n_resamples=n_resamples, **self._options()
        ).values()

    def perturbation(self, n_resamples: int, level: float) -> Iterator[PerturbationInterval]:
        """Yield the intervals around the cross-validated error, by both statistics."""
        for statistic in ("cross_validation", "resubstitution"):
            with warnings.catch_warnings():  # the report says it in words of its own
                warnings.filterwarnings("ignore", "the resubstitution error", UserWarning)
                yield perturbation_interval(
                    self.estimator,
                    self.X,
                    self.target.y,
                    n_resamples=n_resamples,
                    statistic=statistic,
                    level=level,
                    cv=self.folds,
                    loss=self.loss,
                    random_state=self.seed,
                    n_jobs=self.n_jobs,
                )

    def _options(self) -> dict[str, Any]:
        return {
            "loss": self.loss,
            "groups": self.groups,
            "random_state": self.seed,
            "n_jobs": self.n_jobs,
            "error_score": self.error_score,
        }

    def _cross_validated(self, cv: Any, method: str) -> ErrorEstimate:
        found = cross_val_error(self.estimator, self.X, self.target.y, cv=cv, **self._options())
        return replace(found, method=method)

    def _third(self) -> BaseShuffleSplit:
        if self.groups is not None:
            splitter = GroupShuffleSplit
        elif self.target.classes is None:
            splitter = ShuffleSplit
        else:
            splitter = StratifiedShuffleSplit
        return splitter(n_splits=1, test_size=1 / 3, random_state=self.seed)


def ends_in_linear_svc(estimator: Any, target: Target) -> bool:
    """Whether the last step is a linear `SVC` of two classes."""
    final = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    two_classes = target.classes is not None and len(target.classes) == 2
    return isinstance(final, SVC) and final.kernel == "linear" and two_classes
