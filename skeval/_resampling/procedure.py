"""The fits of a scheme, whose errors say which fit they are of; and out-of-fold predictions.

Out of fold every sample is predicted by models that were trained without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skeval._resampling.fits import fit_plan, score_plan
from skeval._resampling.outputs import FitOutput, join_outputs
from skeval._resampling.plan import PlanBlock, ResamplingPlan
from skeval._resampling.questions import Questions
from skeval._resampling.schemes import Cases, RepeatedScheme, Scheme
from skeval._resampling.target import Target
from skeval._resampling.task import Task
from skeval._resampling.units import TooFewMembersError

__all__ = ["OutOfFold", "collect_answers", "fit_scheme", "score_scheme"]


def fit_scheme(
    task: Task, scheme: Scheme, questions: Questions | None = None
) -> Iterator[FitOutput | None]:
    """Yield what each fit predicts, and what else it is asked for; None where it failed."""
    plan = check_plan(task, scheme)
    if questions is not None:
        questions = questions.and_scores_of_classes(task.estimator, task.target)
    with naming_the_fit(task, scheme):
        for _, outputs in fit_plan(task, plan, questions, one_by_one=True):
            for output in outputs:
                yield None if output.failed[0] else output


def score_scheme(task: Task, scheme: Scheme, scorer: Any, scoring: Any) -> list[Any]:
    """Return the score of each fit, nan where it failed."""
    plan = check_plan(task, scheme)
    with naming_the_fit(task, scheme):
        several = not callable(scoring)
        parts = list(score_plan(task, plan, scorer, scoring, several=several))
    return [score for part in parts for score in part]


def check_plan(task: Task, scheme: Scheme) -> ResamplingPlan:
    """Return the plan under the weights, which refuses a training set of one class."""
    plan, target = scheme.plan, task.target

    def draw(fit: int) -> PlanBlock:
        block = plan.draw(fit)
        (train,) = block.train
        if target.classes is not None:
            codes = target.codes[train > 0]
            if np.all(codes == codes[:1]):
                raise TooFewMembersError(explain_one_class(task, scheme.describe(fit), codes))
        if task.weight is None:
            return block
        return PlanBlock(block.train * task.weight, block.test)

    weighted = task.weight is not None
    return ResamplingPlan(plan.n_samples, plan.n_repetitions, draw, weighted=weighted)


def explain_one_class(task: Task, which: str, codes: np.ndarray) -> str:
    """Say which training set has lost a class."""
    names, sizes = np.unique(task.target.y, return_counts=True)
    rarest, left = names.tolist()[int(sizes.argmin())], np.unique(codes)
    what = f"class {names.tolist()[left[0]]!r} only" if len(left) else "no sample"
    return (
        f"y has too few samples of class {rarest!r}, {sizes.min()}, for "
        f"method={task.method!r}: the training set {which} holds {what}."
    )


@contextmanager
def naming_the_fit(task: Task, scheme: Scheme) -> Iterator[None]:
    """Let the error of a fit say which fit it was, and which class was rare there."""
    try:
        yield
    except Exception as error:
        rows = getattr(error, "training_rows", None)
        if rows is None:
            raise
        told = explain_failure(task, scheme, np.asarray(rows))
        if type(error) is not ValueError or task.target.classes is None:
            error.add_note(f"skeval: {told}.")
            raise
        raise ValueError(f"{told}: {error}") from error


def explain_failure(task: Task, scheme: Scheme, rows: np.ndarray) -> str:
    """Say which fit has this training set, and how many members its smallest class has."""
    counts = np.bincount(rows, minlength=len(task.target))
    fits = range(scheme.plan.n_fits)
    fit = next(f for f in fits if np.array_equal(scheme.plan.draw(f).train[0], counts))
    told = f"method={task.method!r}: estimator failed {scheme.describe(fit)}"
    if task.target.classes is None:
        return told
    sizes = np.bincount(task.target.codes[rows], minlength=len(task.target.classes))
    rarest = task.target.classes.tolist()[int(sizes.argmin())]
    return f"{told}, where class {rarest!r} has {sizes.min()} of {len(rows)} samples"


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """What models answered to the samples that they were not trained on, over repeated folds.

    An answer is that of one model to one sample; answers stand fit after fit.

    Attributes
    ----------
    target : Target
    cases : Cases
        The units that were held out together.
    weight : ndarray of shape (n_samples,)
        Weights of the samples.
    row, repeat, fold : int ndarray of shape (n_answers,)
        Sample, repeat, and fold of the repeat; all count from 0.
    predicted : ndarray of shape (n_answers,)
        Class codes, or numbers; nan where there are scores alone.
    loss : ndarray of shape (n_answers,)
        Loss of each answer.
    response : ndarray of shape (n_answers, n_classes) or (n_answers,), or None
        Probabilities of the classes, or decision values; None where there are none.
    scores : dict of str to ndarray of shape (n_fits,)
        What the scorers that were asked for found of each fit.
    noted : list
        What was read off the models.
    n_folds : int
        Number of folds of a repeat.
    test_train_ratio : float
        Size of the test sets over that of the training sets, on average.
    inflation : float
        Mean squared deviation of the mean of such folds from the risk, over the variance that it
        would have if losses were independent.
    n_fits : int
        Number of fits, those that failed included; 0 where predictions are given, and the rule that
        made them is taken as it is.
    """

    target: Target
    cases: Cases
    weight: np.ndarray
    row: np.ndarray
    repeat: np.ndarray
    fold: np.ndarray
    predicted: np.ndarray
    loss: np.ndarray
    response: np.ndarray | None
    scores: dict[str, np.ndarray]
    noted: list[Any]
    n_folds: int
    test_train_ratio: float
    inflation: float
    n_fits: int

    @property
    def fit(self) -> np.ndarray:
        """The fit that gave each answer."""
        fit: np.ndarray = self.repeat * self.n_folds + self.fold
        return fit

    @property
    def repeats(self) -> list[np.ndarray]:
        """For each repeat, which answers are of it."""
        return [self.repeat == one for one in np.unique(self.repeat)]

    @property
    def n_tested(self) -> int:
        """Number of samples that were tested at all."""
        return len(np.unique(self.row))

    @property
    def answers(self) -> bool:
        """Whether there are predictions, and not scores alone."""
        return not bool(np.isnan(self.predicted).any())

    @property
    def group(self) -> np.ndarray | None:
        """The group of the sample of each answer; None where samples are independent."""
        cases = self.cases
        if cases.n_groups is None:
            return None
        return (cases.unit if cases.crossed is None else cases.crossed)[self.row]

    @cached_property
    def probabilities(self) -> np.ndarray | None:
        """Probabilities of the classes, shape (n_answers, n_classes); None where there are none."""
        found, classes = self.response, self.target.classes
        if found is None or classes is None or found.ndim != 2 or found.shape[1] != len(classes):
            return None
        in_range = np.all((found >= 0) & (found <= 1))
        return found if in_range and np.allclose(found.sum(axis=1), 1, atol=1e-6) else None

    @cached_property
    def class_scores(self) -> np.ndarray | None:
        """A score for each class, shape (n_answers, n_classes), larger where it is more likely."""
        found, classes = self.response, self.target.classes
        if found is None or classes is None or not np.all(np.isfinite(found)):
            return None
        if found.ndim == 1:
            return np.column_stack([-found, found]) if len(classes) == 2 else None
        return found if found.shape[1] == len(classes) else None

    @cached_property
    def ranks_nothing(self) -> np.ndarray:
        """Whether each fit, of those that answered, gave all of several samples the same scores."""
        scores = self.class_scores
        _, first, fit = np.unique(self.fit, return_index=True, return_inverse=True)
        if scores is None:
            return np.zeros(len(first), dtype=bool)
        varied = np.any(scores != scores[first][fit], axis=1)
        return (np.bincount(fit, varied) == 0) & (np.bincount(fit) > 1)


def collect_answers(
    task: Task, answers: Sequence[FitOutput | None], scheme: RepeatedScheme, inflation: float
) -> OutOfFold:
    """Return the answers of repeated folds as columns; fits that failed have none."""
    blocks, n_folds = map(scheme.plan.draw, range(scheme.n_folds)), scheme.n_folds
    sizes = np.array([[block.test.sum(), np.sum(block.train)] for block in blocks])
    done = [(fit, answer) for fit, answer in enumerate(answers) if answer is not None]
    joined = join_outputs([answer for _, answer in done])
    fit = np.repeat([fit for fit, _ in done], joined.sizes)
    response = joined.decision if joined.probability is None else joined.probability
    scores = [{} if answer is None else (answer.scores or [{}])[0] for answer in answers]
    names = list(scores[done[0][0]])
    return OutOfFold(
        target=task.target,
        cases=task.units,
        weight=np.ones(len(task.target)) if task.weight is None else task.weight,
        row=joined.rows,
        repeat=fit // n_folds,
        fold=fit % n_folds,
        predicted=joined.predicted,
        loss=task.loss_values(task.loss, joined),
        response=None if response is None else np.asarray(response, dtype=float),
        scores={name: np.array([each.get(name, np.nan) for each in scores]) for name in names},
        noted=joined.notes or [],
        n_folds=n_folds,
        test_train_ratio=float(np.mean(sizes[:, 0] / sizes[:, 1])),
        inflation=inflation,
        n_fits=len(answers),
    )
