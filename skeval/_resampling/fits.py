"""The one loop over fits: a plan in, what every fit answers out, block by block.

A scheme is a plan whose fits have names: its errors say which fit they are of. Out of fold every
sample is predicted by models that were trained without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import get_tags

from skeval._resampling.folds import RepeatedScheme, Scheme
from skeval._resampling.jobs import Jobs, open_jobs
from skeval._resampling.plan import (
    Fit,
    FitOutput,
    PlanBlock,
    ResamplingPlan,
    concatenate_blocks,
    join_outputs,
)
from skeval._resampling.progress import tell
from skeval._resampling.questions import Questions
from skeval._resampling.task import (
    Adapter,
    Cases,
    CostedAdapter,
    Params,
    PlannedAdapter,
    Target,
    Task,
    TooFewMembersError,
    Unserved,
    adapter_of_steps,
    fit_arguments,
    permute_labels,
)
from skeval.metrics._curves import CurveSample
from skeval.metrics._scorers import read_scoring
from skeval.utils._checks import scale_weights, warn_user
from skeval.utils._compat import limit_threads, safe_split, threadpool_controller

__all__ = [
    "NoFitLeftError",
    "OutOfFold",
    "Outputs",
    "Scores",
    "check_error_score",
    "collect_answers",
    "fit_plan",
    "fit_scheme",
    "is_served",
    "score_plan",
    "score_scheme",
]


NO_TEXTS = "could not convert string|arrays of bytes/strings|Expected 2D array, got 1D array"
"""What scikit-learn's estimators say of texts."""

Outputs = Iterator[tuple[PlanBlock, FitOutput]]
"""The blocks of a plan, each with what its fits answer."""

Scores = float | dict[str, float]


def fit_plan(
    task: Task,
    plan: ResamplingPlan,
    questions: Questions | None = None,
    *,
    first_block: int | None = None,
    one_by_one: bool = False,
) -> Outputs:
    """Yield the blocks of a plan with what each fit answers: what it predicts, if nothing else.

    The generic path clones, fits and reads through `joblib.Parallel` with no backend forced.
    Where an adapter serves the estimator, and the questions need no model, a solver does each
    block at once and agrees with it. A caller that may stop early gives the number of repetitions
    of the `first_block`; the number then doubles. Under `one_by_one` a block is one repetition,
    handed out as soon as it is there; where a solver does many at once it takes a second or so.
    """
    questions = Questions(task.asked) if questions is None else questions
    check_error_score(task.error_score)
    fitter = Fitter(
        clone(task.estimator),
        task.X,
        task.target,
        task.params_under(plan),
        questions,
        task.error_score,
    )
    options = {"n_jobs": task.n_jobs, "verbose": task.verbose, "memory": task.memory}
    try:
        adapter = find_adapter(task, plan, questions)
    except ValueError as error:
        raise explain_texts(error, task.X) from error
    if isinstance(adapter, PlannedAdapter):
        found = solve_here(adapter, fitter, plan, first_block, options)
    else:
        found = send_fits(adapter, fitter, plan, first_block, options, one_by_one)
    n_failed = n_done = n_solved = 0
    for block, output in found:
        n_failed += int(output.failed.sum())
        n_done += len(output)
        n_solved += output.n_solved
        yield block, output
    if adapter is not None and tells(task, plan):
        rest = "" if n_solved == n_done else f", {n_done - n_solved} one by one"
        tell(f"skeval did {n_solved} fits by a solver, many at once{rest}")
    report_failures(n_failed, n_done)


def find_adapter(
    task: Task, plan: ResamplingPlan, questions: Questions, times: float = 1.0
) -> Adapter | None:
    """Return what does a plan faster than a loop, None if nothing does; say so if asked.

    It must be faster by `times` at least.
    """
    found: Adapter | Unserved = Unserved("each model, or more than X and y, is asked for")
    if not task.params_under(plan) and questions.need_no_model(task):
        found = task.adapter
        if not isinstance(found, Unserved):
            found = suit_plan(found, task.target, plan, times)
    if not isinstance(found, Unserved):
        return found
    if tells(task, plan):
        tell(f"skeval does {plan.n_fits} fits one by one: {found.why}")
    return None


def tells(task: Task, plan: ResamplingPlan) -> bool:
    """Whether the user is told how the fits of a plan are done."""
    return bool(task.verbose) and plan.n_fits > 1


def is_served(task: Task, plan: ResamplingPlan, scoring: Any = None, times: float = 1.0) -> bool:
    """Whether a solver does a plan, of which predictions are asked for, or scores.

    It must be faster than the loop by `times` at least.
    """
    questions = Questions() if scoring is None else ask_scores(task, scoring)
    return find_adapter(task.under(verbose=0), plan, questions, times) is not None


def send_fits(
    adapter: Adapter | None,
    fitter: Fitter,
    plan: ResamplingPlan,
    first_block: int | None,
    options: dict[str, Any],
    one_by_one: bool,
) -> Outputs:
    """Yield the fits of a plan: each is a job, or with an adapter each block is one.

    Blocks depend on the data alone: a solution may depend, in its last digits, on what is solved
    with it.
    """
    if adapter is None:
        job: Any = fitter
        blocks, limit = plan.blocks(1 if one_by_one else None, first_block), nullcontext()
    else:
        size = count_fits_of_block(plan, shown=one_by_one)
        job, blocks = Solver(fitter), plan.blocks(size, first_block)
        job.adapter = adapter
        # Jobs that are threads of this process would undo each other's limit but for this one.
        limit = threadpool_controller().limit(limits=1, user_api="blas")
        if plan.n_fits <= size:
            options = options | {"n_jobs": 1}
    with limit, open_jobs(job, total=plan.n_fits, blocks=adapter is not None, **options) as run:
        for block, found in run.stream(blocks):
            yield block, join_outputs(found)


def solve_here(
    adapter: Any,
    fitter: Fitter,
    plan: ResamplingPlan,
    first_block: int | None,
    options: dict[str, Any],
) -> Outputs:
    """Yield the fits of a plan, of which a solver does in this process all that it can.

    Each of the others is a job.
    """
    with open_jobs(fitter, total=plan.n_fits, **options) as run:
        limits = [size for size in (run.max_fits, adapter.max_fits) if size]
        solver = Solver(fitter)
        solver.adapter = adapter
        for block in plan.blocks(min(limits, default=None), first_block):
            output = run.do_here(solver.solve, block)
            run.advance(int(np.sum(~output.failed)))
            yield block, complete(fitter, output, block, run)


@dataclass(eq=False, repr=False)
class Fitter:
    """Fits clones of an estimator and asks them; under ``error_score=numpy.nan`` fits may fail."""

    estimator: Any
    X: Any
    target: Target
    params: Params
    questions: Questions
    error_score: float | str

    def __call__(self, fit: Fit) -> FitOutput:
        rows, tested = fit.training_rows, np.flatnonzero(fit.test)
        labels = permute_labels(self.target.given, fit.order)
        model = clone(self.estimator)
        train, train_labels = self._split(labels, rows)
        test, test_labels = self._split(labels, tested, rows)
        arguments = fit_arguments(model, self.X, self.params, fit.weights, self.target.groups, rows)
        try:
            model.fit(train, train_labels, **arguments)
            found = self.questions.read(model, test, test_labels, self.target)
        except Exception as error:
            if self.error_score == "raise":
                error = explain_texts(error, train)
                # for whoever knows the plan to say which fit it was
                vars(error)["training_rows"] = rows
                raise error
            return FitOutput(fit.test[None], np.ones(1, dtype=bool))
        if "predicted" in found:
            found["predicted"] = self.target.encode(found["predicted"], len(tested))
        return FitOutput(fit.test[None], np.zeros(1, dtype=bool), **found)

    @cached_property
    def _plain(self) -> bool:
        """Whether rows of samples are rows of an array, of which nothing need be asked."""
        arrays = type(self.X) in (np.ndarray, np.memmap) and type(self.target.given) is np.ndarray
        return arrays and not get_tags(self.estimator).input_tags.pairwise

    def _split(
        self, labels: Any, rows: np.ndarray, columns: np.ndarray | None = None
    ) -> tuple[Any, Any]:
        """Return some samples and their labels; of kernels, the columns of the training rows."""
        if self._plain:
            return take_rows(self.X, rows), labels[rows]
        parts: tuple[Any, Any] = safe_split(self.estimator, self.X, labels, rows, columns)
        return parts


def explain_texts(error: Exception, X: Any) -> Exception:
    """Return the error of a fit; where it cannot read texts, one that says where they are."""
    if not isinstance(error, ValueError) or re.search(NO_TEXTS, str(error)) is None:
        return error
    if hasattr(X, "columns"):
        held = [str(name) for name in X.columns if holds_texts(X[name])]
        what = f"in the column{'s' * (len(held) > 1)} {', '.join(map(repr, held))}"
        remedy = "OneHotEncoder in a ColumnTransformer"
    else:
        held, what = [""] * holds_texts(X), "instead of numbers"
        remedy = "OneHotEncoder" if np.ndim(X) == 2 else "CountVectorizer"
    if not held:
        return error
    told = ValueError(
        f"X must hold numbers for this estimator, got texts {what}; put what turns them into "
        f"numbers, such as {remedy}, before it in a pipeline. It said: {error}"
    )
    told.__cause__ = error
    return told


def holds_texts(values: Any) -> bool:
    """Whether there is a text among some values."""
    array = np.asarray(values)
    return array.dtype.kind in "US" or any(isinstance(each, str) for each in array.flat)


def take_rows(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return rows in the layout of memory that indexing gives them, which `take` does sooner."""
    X = np.asarray(X)  # not a memmap, what joblib makes of it for other processes
    return X.take(rows, axis=0) if X.flags.c_contiguous else X[rows]


@dataclass(eq=False, repr=False)
class Solver:
    """Does the fits of a block by an adapter; those that it leaves, one by one.

    The adapter does not travel: a worker makes its own of the same data.
    """

    fitter: Fitter

    @cached_property
    def adapter(self) -> Adapter:
        """What solves blocks."""
        adapter = adapter_of_steps(self.fitter.estimator, self.fitter.X, self.fitter.target)
        if adapter is None:
            raise RuntimeError("no adapter serves in this process what is served in the main one.")
        return adapter

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "adapter"}

    def __call__(self, block: PlanBlock) -> FitOutput:
        return complete(self.fitter, self.solve(block), block)

    def solve(self, block: PlanBlock) -> FitOutput:
        """Return what the adapter answers of what is asked for."""
        fitter = self.fitter
        output = solve_block(self.adapter, block)
        if output.failed.all():
            return FitOutput(block.test, output.failed)
        return fitter.questions.keep(output, block, fitter.estimator, fitter.target)


def complete(
    fitter: Fitter, output: FitOutput, block: PlanBlock, run: Jobs | None = None
) -> FitOutput:
    """Return the output of a block with the fits that a solver left, done one by one."""
    left = np.flatnonzero(output.failed).tolist()
    if not left:
        return replace(output, n_solved=len(output))
    fits = [block[r] for r in left]
    fitted = dict(zip(left, map(fitter, fits) if run is None else run(fits), strict=True))
    joined = join_outputs([fitted.get(r, part) for r, part in enumerate(output)])
    return replace(joined, n_solved=len(output) - len(left))


def score_plan(
    task: Task,
    plan: ResamplingPlan,
    scoring: Any,
    *,
    first_block: int | None = None,
    several: bool = False,
) -> Iterator[list[Scores]]:
    """Yield, block by block, the mean score over the fits of each repetition, by metric.

    Unless there may be several scores, `scoring` must give one number.
    """
    for _, output in fit_plan(task, plan, ask_scores(task, scoring), first_block=first_block):
        several_found = next((each for each in output.scores or () if isinstance(each, dict)), {})
        if several_found and not several:
            raise TypeError(
                "scoring must give one number here, got a dict with "
                f"{', '.join(map(repr, several_found))}."
            )
        yield mean_scores(output, plan.fits_per_repetition)


def ask_scores(task: Task, scoring: Any) -> Questions:
    """Return what asks for nothing but the scores that an argument `scoring` names."""
    return Questions((), read_scoring(task.estimator, scoring), scoring)


def mean_scores(output: FitOutput, fits_per_repetition: int) -> list[Scores]:
    """Return the mean over the fits of each repetition, of each metric if there are several.

    It is over the fits that did not fail, and nan where all did.
    """
    scores = output.scores or [None] * len(output)
    starts = range(0, len(scores), fits_per_repetition)
    return [mean_score(scores[start : start + fits_per_repetition]) for start in starts]


def mean_score(scores: list[Any]) -> Scores:
    """Return the mean of the scores that there are, of each metric if there are several."""
    scores = [score for score in scores if score is not None]
    if not scores:
        return np.nan
    if isinstance(scores[0], dict):
        return {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
    return float(np.mean(scores))


def check_error_score(error_score: float | str) -> None:
    """Raise unless `error_score` is "raise" or nan."""
    raises = isinstance(error_score, str) and error_score == "raise"
    if not raises and not (isinstance(error_score, Real) and np.isnan(error_score)):
        raise ValueError(f"error_score must be 'raise' or numpy.nan, got {error_score!r}.")


class NoFitLeftError(ValueError):
    """All fits of a plan failed under ``error_score=numpy.nan``."""


def report_failures(n_failed: int, n_fits: int) -> None:
    """Warn of fits that failed; raise when none is left."""
    if n_failed == n_fits:
        raise NoFitLeftError(
            f"all {n_fits} fits failed; error_score='raise' shows the first error."
        )
    if n_failed:
        warn_user(
            f"{n_failed} of {n_fits} fits failed and are left out of the estimate; "
            "error_score='raise' shows the first error.",
            FitFailedWarning,
        )


FITS_OF_BLOCK = 256
"""Fits that a solver is given at once at least: it gains little from more, where samples are many.

Fewer would not do: the pilots that tell which samples matter are the same for any number.
"""

SOLVED_ELEMENTS = 2**16
"""Elements of a (fits, n_samples) array, up to which a block costs little and is not divided."""

SHOWN_FITS, SHOWN_ELEMENTS = 10, 2**18
"""Where each fit is handed out as it is done, a block has so many at least, from which an interval
stands, and at most so many elements: it takes a second or so, and is what Ctrl-C loses."""

N_PILOTS, FEWEST_TRIED, MOST_LEFT = 8, 4, 0.3
"""So many fits are tried of a plan that has so many times as many, and the solver is given the
plan unless it leaves more than this share of them to the estimator."""


def suit_plan(
    adapter: Adapter | Unserved, target: Target, plan: ResamplingPlan, times: float = 1.0
) -> Adapter | Unserved:
    """Return the adapter for a plan, or why a loop does it as well.

    Where an adapter has a price it must be faster by `times`, and a few fits are the evidence.
    """
    slower = Unserved("a loop is as fast as a solver for these data and so many fits")
    if isinstance(adapter, PlannedAdapter):
        return adapter.prepare(plan) or slower
    if not isinstance(adapter, CostedAdapter):
        return adapter
    # The last repetition, since the first one of a permutation test has the true labels.
    order = plan.draw(plan.n_repetitions - 1).order
    codes = target.codes if order is None else target.codes[order[0]]
    if not adapter.pays(plan.n_fits, codes, times):
        return slower
    return adapter if settles(adapter, plan) else Unserved("a solver settles few of these fits")


def settles(adapter: Adapter, plan: ResamplingPlan) -> bool:
    """Whether an adapter settles most of some fits of a plan, all of which it would try first."""
    if plan.n_fits < FEWEST_TRIED * N_PILOTS:
        return True
    some = np.linspace(0, plan.n_repetitions - 1, min(N_PILOTS, plan.n_repetitions)).astype(int)
    block = concatenate_blocks([plan.draw(repetition) for repetition in some.tolist()])
    pilots = np.linspace(0, len(block) - 1, N_PILOTS).astype(int)
    failed = solve_block(adapter, block.take(pilots)).failed
    return bool(np.mean(failed) <= MOST_LEFT)


# The many matrix products of a block are too small to gain from several threads.
@limit_threads(limits=1, user_api="blas")
def solve_block(adapter: Adapter, block: PlanBlock) -> FitOutput:
    """Return what an adapter answers."""
    return adapter(block)


def count_fits_of_block(plan: ResamplingPlan, *, shown: bool = False) -> int:
    """Return how many fits of a plan a solver is given at once, fewer where each is `shown`.

    Neither the workers nor the number of repetitions are asked: a solution may depend, in its
    last digits, on what is solved with it.
    """
    fits = max(FITS_OF_BLOCK, SOLVED_ELEMENTS // plan.n_samples)
    if shown:
        fits = min(fits, max(SHOWN_FITS, SHOWN_ELEMENTS // plan.n_samples))
    return max(fits, plan.fits_per_repetition)


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


def score_scheme(task: Task, scheme: Scheme, scoring: Any) -> list[Any]:
    """Return the score of each fit, nan where it failed."""
    plan = check_plan(task, scheme)
    with naming_the_fit(task, scheme):
        several = not callable(scoring)
        parts = list(score_plan(task, plan, scoring, several=several))
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

    @cached_property
    def repeats(self) -> list[Any]:
        """For each repeat, which answers are of it."""
        if self.n_fits == 0:
            return [slice(None)]
        return [self.repeat == one for one in np.flatnonzero(np.bincount(self.repeat))]

    def look_up(self, values: np.ndarray) -> np.ndarray:
        """Return for each answer the value of its sample; given predictions are one a sample."""
        return values[self.row] if self.n_fits else values

    @cached_property
    def n_tested(self) -> int:
        """Number of samples that were tested at all."""
        return int(np.count_nonzero(np.bincount(self.row)))

    @cached_property
    def answers(self) -> bool:
        """Whether there are predictions, and not scores alone."""
        return self.predicted.dtype.kind != "f" or not bool(np.isnan(self.predicted).any())

    @cached_property
    def group(self) -> np.ndarray | None:
        """The group of the sample of each answer; None where samples are independent."""
        cases = self.cases
        if cases.n_groups is None:
            return None
        return self.look_up(cases.unit if cases.crossed is None else cases.crossed)

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
        scores, fit = self.class_scores, self.fit
        if self.n_fits == 0 and scores is not None:
            return np.array([len(scores) > 1 and bool(np.all(scores == scores[0]))])
        sizes = np.bincount(fit)
        answered = sizes > 0
        if scores is None:
            return np.zeros(np.count_nonzero(answered), dtype=bool)
        one = np.zeros(len(sizes), dtype=np.intp)
        one[fit] = np.arange(len(fit))  # any answer of the fit stands for it
        varied = np.any(scores != scores[one[fit]], axis=1)
        return ((np.bincount(fit, varied) == 0) & (sizes > 1))[answered]

    def rank(self, code: int) -> CurveSample | None:
        """Return the scores of a class against all others; None where one of these is empty."""
        scores, positive = self.class_scores, self.look_up(self.target.codes) == code
        if scores is None or positive.all() or not positive.any():
            return None
        score = np.ascontiguousarray(scores[:, code], dtype=np.float64)
        weight, _ = scale_weights(self.look_up(self.weight), len(score))
        return CurveSample(positive, score, weight, self.group, 0.95)

    @cached_property
    def ranked(self) -> CurveSample | None:
        """The same of the second of two classes, sorted once for all that is made of it."""
        return self.rank(1)


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
