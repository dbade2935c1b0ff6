"""A procedure whose error is asked for: what is fitted, on what, and how its losses count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._inference.tested import Tested
from skeval._resampling.cases import Cases
from skeval._resampling.fits import fit_plan, score_plan
from skeval._resampling.loss import Loss
from skeval._resampling.outputs import FitOutput
from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval._resampling.questions import Questions
from skeval._resampling.schemes import Scheme
from skeval._resampling.target import Target
from skeval._resampling.task import Task

__all__ = ["Procedure"]


@dataclass(frozen=True, eq=False)
class Procedure:
    """An estimator on data, and how its losses are counted.

    Attributes
    ----------
    method : str
        Name of the method that repeats the fits, for errors.
    task : Task
        What is fitted, on what. Its weights are those of training and of means of losses.
    cases : Cases
        The units that are held out together and counted.
    losses : tuple of Loss
    """

    method: str
    task: Task
    cases: Cases
    losses: tuple[Loss, ...]

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self.task.estimator

    @property
    def target(self) -> Target:
        """Their labels or numbers."""
        return self.task.target

    @property
    def weight(self) -> np.ndarray | None:
        """Their weights."""
        return self.task.weight

    def answers(
        self, scheme: Scheme, questions: Questions | None = None
    ) -> Iterator[FitOutput | None]:
        """Yield what each fit predicts, and what else it is asked for; None where it failed."""
        plan = self.checked(scheme)
        if questions is not None:
            questions = questions.and_scores_of_classes(self.estimator, self.target)
        with self.naming_the_fit(scheme):
            for _, outputs in fit_plan(self.task, plan, questions):
                for output in outputs:
                    yield None if output.failed[0] else output

    def scores(self, scheme: Scheme, scorer: Any, scoring: Any) -> list[Any]:
        """Return the score of each fit, nan where it failed."""
        plan = self.checked(scheme)
        with self.naming_the_fit(scheme):
            several = not callable(scoring)
            parts = list(score_plan(self.task, plan, scorer, scoring, several=several))
        return [score for part in parts for score in part]

    def loss_values(self, loss: Loss, rows: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Return the losses of predictions for some rows."""
        true = self.target.codes[rows]
        if loss.name == "zero_one":
            return (true != predicted).astype(float)
        return loss(self.target.decode(true), self.target.decode(predicted))

    def tested(self, loss: Loss, rows: np.ndarray, predicted: np.ndarray) -> Tested:
        """Return the losses of predictions for some rows, with the weights and units of these."""
        unit = None if self.cases.n_groups is None else self.cases.unit[rows]
        weight = None if self.weight is None else self.weight[rows]
        return Tested(self.loss_values(loss, rows, predicted), weight, unit)

    def checked(self, scheme: Scheme) -> ResamplingPlan:
        """Return the plan under the weights, which refuses a training set of one class."""
        plan, target = scheme.plan, self.target

        def draw(fit: int) -> PlanBlock:
            block = plan.draw(fit)
            (train,) = block.train
            if target.classes is not None:
                codes = target.codes[train > 0]
                if np.all(codes == codes[:1]):
                    raise ValueError(self.explain_one_class(scheme.describe(fit), codes))
            if self.weight is None:
                return block
            return PlanBlock(block.train * self.weight, block.test)

        weighted = self.weight is not None
        return ResamplingPlan(plan.n_samples, plan.n_repetitions, draw, weighted=weighted)

    def explain_one_class(self, which: str, codes: np.ndarray) -> str:
        """Say which training set has lost a class."""
        names, sizes = np.unique(self.target.y, return_counts=True)
        rarest, left = names.tolist()[int(sizes.argmin())], np.unique(codes)
        what = f"class {names.tolist()[left[0]]!r} only" if len(left) else "no sample"
        return (
            f"y has too few samples of class {rarest!r}, {sizes.min()}, for "
            f"method={self.method!r}: the training set {which} holds {what}."
        )

    @contextmanager
    def naming_the_fit(self, scheme: Scheme) -> Iterator[None]:
        """Let the error of a fit say which fit it was, and which class was rare there."""
        try:
            yield
        except Exception as error:
            rows = getattr(error, "training_rows", None)
            if rows is None:
                raise
            told = self.explain_failure(scheme, np.asarray(rows))
            if type(error) is not ValueError or self.target.classes is None:
                error.add_note(f"skeval: {told}.")
                raise
            raise ValueError(f"{told}: {error}") from error

    def explain_failure(self, scheme: Scheme, rows: np.ndarray) -> str:
        """Say which fit has this training set, and how many members its smallest class has."""
        counts = np.bincount(rows, minlength=len(self.target))
        fits = range(scheme.plan.n_fits)
        fit = next(f for f in fits if np.array_equal(scheme.plan.draw(f).train[0], counts))
        told = f"method={self.method!r}: estimator failed {scheme.describe(fit)}"
        if self.target.classes is None:
            return told
        sizes = np.bincount(self.target.codes[rows], minlength=len(self.target.classes))
        rarest = self.target.classes.tolist()[int(sizes.argmin())]
        return f"{told}, where class {rarest!r} has {sizes.min()} of {len(rows)} samples"
