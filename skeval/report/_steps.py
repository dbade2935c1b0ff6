"""Parts of an evaluation: how each is computed, and which are run.

`Steps` computes the main estimate, each other estimate of the error, and the tests. `Run` decides
which parts are run within their share of the fits and the time limit, and keeps results after
Ctrl-C.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Integral
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import make_scorer
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from skeval._adapters.fits import fit_each, fit_plan
from skeval._adapters.trials import is_served
from skeval._inference.estimate import ErrorEstimate, PerturbationEstimate, Test
from skeval._inference.ordered import find_season
from skeval._resampling.fit_loop import NoFitLeftError, Outputs
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_params import params_of_part, weight_parameters
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import ResamplingPlan, bootstrap_plan
from skeval._resampling.predictions import Predictions
from skeval._resampling.progress import show_estimate
from skeval._resampling.sampling_units import drawing_units
from skeval._resampling.splitters import (
    KeptFolds,
    fold_plan,
    keeps_order,
    make_permutation_plan,
    split_samples,
)
from skeval._resampling.target import Target, TooFewMembersError
from skeval.feature_selection import selection_stability
from skeval.feature_selection._cv2 import compare_selections, split_at_selector
from skeval.model_selection._bootstrap import estimate_bootstraps
from skeval.model_selection._estimates import (
    cross_validation,
    leave_one_out,
    make_weighted_plan,
    perturb_error,
    plan_leave_one_out,
    resubstitution,
)
from skeval.model_selection._interval_methods import (
    RepeatedFolds,
    average_repeats,
    collect_repeats,
    holdout,
    plan_repeats,
)
from skeval.model_selection._permutation import draw_orders, evaluate_scores, score_permutations
from skeval.report._budget import MIN_SAMPLES, describe_skipped
from skeval.report._findings import ALPHA
from skeval.report._sections import Caution
from skeval.utils._checks import root_seed
from skeval.utils._text import count, mean_loss_name, write_ends, write_number

SCORINGS = {
    "zero_one": "accuracy",
    "squared": "neg_mean_squared_error",
    "absolute": "neg_mean_absolute_error",
    "log_loss": "neg_log_loss",
    "brier": "neg_brier_score",
}


def score_ranking(y_true: np.ndarray, y_score: np.ndarray) -> float:
    """Return the area under the ROC curve, 1/2 for a test set with a single class."""
    classes = np.unique(y_true)
    if len(classes) < 2:
        return 0.5
    positive = y_true == classes[-1]
    m, n = positive.sum(), (~positive).sum()
    return float((rankdata(y_score)[positive].sum() - m * (m + 1) / 2) / (m * n))


def score_recalls(y_true: np.ndarray, y_pred: np.ndarray) -> float:
    """Return the mean recall of the classes in a test set."""
    right = y_true == y_pred
    return float(np.mean([right[y_true == label].mean() for label in np.unique(y_true)]))


RARE_SCORERS = {
    "roc_auc": make_scorer(score_ranking, response_method=("decision_function", "predict_proba")),
    "balanced_accuracy": make_scorer(score_recalls),
}
"""Metrics for rare classes, defined in every test set."""


class Clock:
    """Elapsed and remaining time of an evaluation, and time per fit.

    Parameters
    ----------
    budget : float or None
        Time limit in seconds; None means no limit.

    Attributes
    ----------
    stopped : str
        The step interrupted by Ctrl-C, or "". After an interrupt, no time is left.
    """

    def __init__(self, budget: float | None) -> None:
        self.budget, self.start, self.seconds_per_fit = budget, monotonic(), 0.0
        self._n_fits = 0
        self.stopped = ""

    @property
    def left(self) -> float:
        """Remaining seconds."""
        if self.stopped:
            return -np.inf
        return np.inf if self.budget is None else self.budget - (monotonic() - self.start)

    def count(self, n_fits: int) -> None:
        """Count the first fits, to estimate the time per fit."""
        self._n_fits += n_fits
        self.seconds_per_fit = (monotonic() - self.start) / self._n_fits

    def stop(self, where: str) -> None:
        """Record an interrupt; no further steps are started."""
        self.stopped = self.stopped or where

    def seconds_of(self, n_fits: int) -> float:
        """Return the expected seconds of a number of fits."""
        return n_fits * self.seconds_per_fit


@dataclass(frozen=True, eq=False)
class Steps:
    """Estimator, data and settings that all steps share."""

    inputs: Inputs
    cv: Any
    splitter: Any
    seed: int
    confidence_level: float
    sizes: dict[str, int]
    _answers: list[FitOutput | None] = field(default_factory=list, repr=False)

    @property
    def target(self) -> Target:
        """Labels or numeric targets."""
        return self.inputs.target

    @property
    def groups(self) -> np.ndarray | None:
        """Groups of the samples, None if they are independent."""
        return self.inputs.groups

    @cached_property
    def folds(self) -> KeptFolds:
        """Folds of cross-validation, perturbation and selection."""
        splits = split_samples(self.splitter, self.inputs.X, self.target, self.groups)
        return KeptFolds(len(self.target), splits)

    @cached_property
    def design(self) -> RepeatedFolds:
        """Folds of the main estimate: repeated draws, or the folds that were passed."""
        cv = self.cv if self.cv is None or isinstance(self.cv, Integral) else self.splitter
        return plan_repeats(self.inputs, root_seed(self.seed), cv=cv)

    @property
    def ordered(self) -> bool:
        """Whether the folds keep the order of the samples, which then cannot be exchanged."""
        return keeps_order(self.splitter, self.folds)

    def find_earlier(self, predictions: Predictions) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the baselines that predict an earlier target: a name, and the row of each target.

        "The value before" is the target at the lag between the last training sample and the first
        test sample. It may be in the same test set, because features may contain it. The season is
        estimated for each model from the targets up to its last training sample, and the baseline
        is taken from the last season up to that sample. Without a season, it is the last training
        target.
        """
        splits = self.design.splits
        if not self.ordered or splits is None or len(splits) < self.design.plan.n_fits:
            return
        last = np.array([train.max() for train, _ in splits])
        last_row, codes, classes = last[predictions.fit], self.target.codes, self.target.classes
        lag = int(np.min(predictions.row - last_row))
        yield (
            "the value before" if lag == 1 else f"the value {lag} samples before",
            predictions.row - lag,
        )
        y = self.target.y if classes is None else np.eye(len(classes))[codes]
        values = np.asarray(y, dtype=float)
        seasons = np.array([find_season(values[: end + 1]) for end in last])
        if seasons[-1] > 1:
            season = seasons[predictions.fit]
            named = f"the value one season ({seasons[-1]} samples) before"
            yield named, predictions.row - season * -((last_row - predictions.row) // season)

    def answer(self, request: FitRequest, clock: Clock) -> tuple[ErrorEstimate, Predictions]:
        """Return the error with its interval, and the out-of-fold predictions.

        With a time limit, the folds are repeated as often as time permits, at least once; after an
        interrupt the completed repeats are used, if there are any.
        """
        inputs, whole, answers = self.design.inputs, self.design.plan, self._answers
        try:
            for part in [whole] if clock.budget is None else whole.repeats():
                for answer in fit_each(inputs, part, request):
                    answers.append(answer)
                    if len(answers) % whole.n_folds == 0:
                        show_estimate(self._write_estimate)
                clock.count(part.n_fits)
                if clock.seconds_of(part.n_folds + self.n_needed) > clock.left:
                    break
        except KeyboardInterrupt:
            if len(answers) < whole.n_folds:
                raise
            n_done = len(answers) // whole.n_folds
            clock.stop(f"after {n_done} of {count(whole.n_repeats, 'repeat')} of the folds")
        del answers[len(answers) // whole.n_folds * whole.n_folds :]
        return collect_repeats(self._design_so_far, answers)

    @property
    def _design_so_far(self) -> RepeatedFolds:
        """The folds of the main estimate, with the completed repeats only."""
        n_repeats = len(self._answers) // self.design.plan.n_folds
        return self.design._replace(plan=self.design.plan.take(0, n_repeats))

    def _write_estimate(self) -> str:
        """Return the current estimate as text, after a whole number of repeats."""
        design = self._design_so_far
        estimate = average_repeats(design, self._answers)
        ends = write_ends(estimate.interval.low, estimate.interval.high)
        n_repeats = self.design.plan.n_repeats
        after = f" after {design.plan.n_repeats} of {n_repeats} repeats" if n_repeats > 1 else ""
        return f"{estimate.name} {write_number(estimate.value)} {ends}{after}"

    @cached_property
    def repeats_folds(self) -> bool:
        """Whether the first fits of the main estimate use the folds of this report, for
        example if folds were passed."""
        if len(self.folds) > self.design.plan.n_fits:
            return False
        plan = fold_plan(len(self.target), self.folds)
        pairs = ((plan.draw(k), self.design.plan.draw(k)) for k in range(len(self.folds)))
        return all(
            np.array_equal(a.test, b.test) and np.array_equal(a.train, b.train) for a, b in pairs
        )

    def _read_folds(self) -> Outputs:
        """Yield the folds with the first fits of the main estimate."""
        for k, answer in enumerate(self._answers[: len(self.folds)]):
            block = self.design.plan.draw(k)
            if answer is None:
                answer = FitOutput(block.test, np.ones(1, dtype=bool))
            yield block, answer

    @property
    def n_needed(self) -> int:
        """Number of fits that every report needs besides the main estimate: one for the training
        error, and one set of folds."""
        return 1 + self.n_fits_of("cross_validation")

    def n_fits_of(self, part: str) -> int:
        """Return the number of fits of a part without a plan."""
        n_folds = len(self.folds) if part in ("cross_validation", "selection") else 0
        if part == "cross_validation":
            return 0 if self.repeats_folds else n_folds
        return 1 + 3 * n_folds

    def applies(self, part: str) -> bool:
        """Whether an optional part is requested (its size is not 0) and defined for the samples."""
        if self.sizes.get(part) == 0:
            return False
        if part == "selection":
            split = split_at_selector(self.inputs.estimator, self.inputs.X)
            return split is not None and self.target.classes is not None
        if part == "perturbation":
            linear = ends_in_linear_svc(self.inputs.estimator, self.target)
            return linear and self.groups is None and not self.ordered
        return not self.ordered

    def plan(self, part: str) -> ResamplingPlan | None:
        """Return the plan of a part that needs its own fits; None if there is none."""
        root, n = root_seed(self.seed), len(self.target)
        if part == "leave_one_out":
            return plan_leave_one_out(self.inputs)
        if part == "bootstrap":
            classes = self.target.classes
            codes = None if classes is None else self.target.codes
            units = drawing_units(n, None, self.groups)
            return bootstrap_plan(units, self.sizes[part], root, classes, codes)
        if part == "permutation":
            with warnings.catch_warnings():  # the test itself warns
                warnings.simplefilter("ignore", UserWarning)
                orders = draw_orders(self.target.y, self.groups, root).orders
            return make_permutation_plan(self.splitter, self.inputs, orders, self.sizes[part], root)
        if part == "perturbation":
            plain = np.ones(n)
            plan = fold_plan(n, self.folds)
            return make_weighted_plan(plan, self.sizes[part], lambda _: plain, plain)
        return None

    def is_fast(self, part: str, plan: ResamplingPlan, metric: str | None, times: float) -> bool:
        """Whether a fast solver does the fits of a part, with a minimum gain over the loop."""
        scoring = None if part != "permutation" else self._find_scoring(metric)
        return is_served(self.inputs, plan, scoring, max(1.0, times))

    def estimate(self, part: str) -> Sequence[ErrorEstimate]:
        """Return the estimates of a part, all from the same fits.

        Cross-validation uses the folds and sampling units of the main estimate, and its fits if
        they are the same.
        """
        root, inputs = root_seed(self.seed), self.inputs.with_options(method=part)
        if part == "resubstitution":
            return [resubstitution(inputs)]
        if part == "holdout":
            return [holdout(inputs, root)]
        if part == "leave_one_out":
            return [leave_one_out(inputs)]
        if part == "bootstrap":
            return list(estimate_bootstraps(inputs, root, n_resamples=self.sizes[part]).values())
        finished = list(self._read_folds()) if self.repeats_folds else None
        inputs = self.design.inputs.with_options(method=part, finished=finished)
        return [cross_validation(inputs, root, cv=self.folds)]

    def perturb(self) -> tuple[PerturbationEstimate, ...]:
        """Return the intervals around the cross-validated error, by both statistics."""
        _, root = root_seed(self.seed).spawn(2)
        inputs = self._strict.with_options(method="perturbation")
        with warnings.catch_warnings():  # the report has its own sentence for this
            warnings.filterwarnings("ignore", "the resubstitution error", UserWarning)
            n_resamples = self.sizes["perturbation"]
            return tuple(
                perturb_error(inputs, self.folds, root, n_resamples=n_resamples, statistic=name)
                for name in ("cross_validation", "resubstitution")
            )

    def _find_scoring(self, metric: str | None) -> Any:
        """Return the scorer of a metric in `RARE_SCORERS`, or of the cross-validated loss."""
        if metric is not None:
            return RARE_SCORERS[metric]
        loss, classes = self.inputs.loss, self.target.classes
        if loss.response == "predict_proba":  # scikit-learn's Brier score supports 0 and 1 only
            mean = partial(_mean_share_loss, loss=loss, classes=classes)
            return make_scorer(mean, greater_is_better=False, response_method="predict_proba")
        scorer = make_scorer(partial(_mean_loss, loss=loss), greater_is_better=False)
        return SCORINGS.get(loss.name, scorer)

    def permute(self, metric: str | None, *, stop_early: bool) -> Test:
        """Return the permutation test of the cross-validated loss, or of a metric in
        `RARE_SCORERS`.

        With `stop_early` it stops as soon as P cannot be `ALPHA` or less.
        """
        inputs, scoring, n = self._strict, self._find_scoring(metric), self.sizes["permutation"]
        limit = max(1, int(ALPHA * (1 + n))) if stop_early else None
        root = root_seed(self.seed)
        exchange = draw_orders(self.target.y, self.groups, root)
        plan = make_permutation_plan(self.splitter, inputs, exchange.orders, n, root)
        scores = score_permutations(inputs, plan, scoring, limit)
        result: Any = evaluate_scores(  # one metric, so one result
            scores, scoring, exchange, limit, self.confidence_level
        )
        loss = self.inputs.loss.name
        named = SCORINGS.get(loss, f"minus the {mean_loss_name(loss)}")
        return replace(result, name=named if metric is None else metric)

    @property
    def weighs_by_params(self) -> bool:
        """Whether `params` already contains weights of the fits."""
        weights = weight_parameters(self.inputs.estimator, np.ones(len(self.target)))
        return bool(weights.keys() & (self.inputs.params or {}).keys())

    def select(self, feature_names: tuple[str, ...] | None) -> dict[str, Any]:
        """Return the bias of selection outside the folds and the stability of the selection."""
        parts: Any = split_at_selector(self.inputs.estimator, self.inputs.X)
        head, _ = parts
        plan = fold_plan(len(self.target), self.folds)
        repeat_of = np.zeros(len(self.folds), dtype=int)
        with warnings.catch_warnings():  # the report shows that the interval is nan
            warnings.filterwarnings("ignore", "The interval is undefined", UndefinedMetricWarning)
            bias = compare_selections(self._strict, parts, plan, repeat_of, self.confidence_level)
        request = FitRequest((), note=partial(read_selected, feature_names=feature_names))
        selecting = self._strict.with_estimator(head).with_options(
            params=params_of_part(head, self.inputs.params)
        )
        fits = fit_plan(selecting, plan, request)
        aligned = align_selections([note for _, output in fits for note in output.notes or ()])
        if aligned is None:
            return {"selection_bias": bias, "selection_stability": None, "candidate_names": None}
        supports, names = aligned
        stability = selection_stability(supports, confidence_level=self.confidence_level)
        return {"selection_bias": bias, "selection_stability": stability, "candidate_names": names}

    @property
    def _strict(self) -> Inputs:
        """Inputs for results that require every fit."""
        return self.inputs.with_options(error_score="raise")


INTERRUPTED = "interrupted"
"""Reason for parts that were not run because of Ctrl-C."""
ALWAYS = ("resubstitution", "cross_validation")
ESTIMATES = ("resubstitution", "holdout", "cross_validation", "leave_one_out", "bootstrap")
"""Parts that are estimates of the error, from the most optimistic to the most conservative."""
OPTIONAL = ("holdout", "permutation", "selection", "leave_one_out", "bootstrap", "perturbation")
"""Optional parts; earlier ones are the first to use the fits that are left."""
SHARE = 0.5
"""Share of the fits of the main estimate that all parts without a fast solver may cost together."""
MAX_PLANNED = 2**26
"""Maximum number of fits times samples of a plan that is drawn to see whether a solver is fast."""
LOST = {"selection": "account of the selected features", "permutation": "permutation test"}
"""Results that a report can do without if a fit fails."""
NOT_PERTURBED = (
    "No perturbation intervals: they need weights of their own, but params already contains "
    "weights. Pass these as sample_weight."
)


@dataclass(eq=False)
class Run:
    """Parts of an evaluation that are run, and the reasons why others are not."""

    steps: Steps
    include: frozenset[str] | str
    clock: Clock
    say: Callable[[str], None]
    notes: list[Caution]
    omitted: dict[str, str] = field(default_factory=dict)
    parts: set[str] = field(default_factory=lambda: {*ALWAYS})

    def choose_parts(self, n_answer: int, better: bool, metric: str | None) -> None:
        """Add the optional parts to run, and note why other applicable ones are not run.

        `n_answer` is the number of fits of the main estimate. If it is `better` than chance, no
        permutation test is needed. It would test `metric`, or the error.
        """
        steps, clock, auto = self.steps, self.clock, self.include == "auto"
        n_units, n_samples = steps.inputs.units.n_units, len(steps.target)
        n_begun, n_left = steps.n_needed, SHARE * n_answer - steps.n_needed
        for part in OPTIONAL:
            requested = self.include in ("auto", "all") or part in self.include
            if not requested or not steps.applies(part):
                continue
            if auto and part == "permutation" and better:
                self.omitted[part] = "run only if the interval leaves doubt"
                continue
            if part == "perturbation" and steps.weighs_by_params:
                self.notes.append(Caution("failed", NOT_PERTURBED))
                continue
            if clock.stopped:
                self.omitted[part] = INTERRUPTED
                continue
            if auto and part == "leave_one_out" and n_units * n_samples > MAX_PLANNED:
                self.omitted[part] = count(n_units, "fit")
                continue
            plan = steps.plan(part)
            n_fits = steps.n_fits_of(part) if plan is None else plan.n_fits
            if clock.seconds_of(n_begun + n_fits) > clock.left:
                self.omitted[part] = describe_skipped(n_fits)
                continue
            # a permutation test may stop early, so it need only be faster than a loop of all fits
            times = 1.0 if part == "permutation" else n_fits / (SHARE * n_answer)
            fast = plan is not None and steps.is_fast(part, plan, metric, times)
            if auto and n_fits > n_left and not fast:
                self.omitted[part] = count(n_fits, "fit")
                continue
            self.parts.add(part)
            n_begun += n_fits
            n_left -= 0 if fast else n_fits

    def attempt(self, part: str, compute: Callable[[], Any]) -> Any:
        """Return the result of a part; None if it is not run, is interrupted or fails."""
        if part not in self.parts:
            return None
        steps, clock = self.steps, self.clock
        n_fits = steps.n_fits_of(part)
        if clock.stopped and n_fits:  # finished fits can still be read
            self.omitted[part] = INTERRUPTED
            return None
        large = part in ALWAYS and len(steps.target) >= MIN_SAMPLES
        if large and clock.seconds_of(n_fits) > clock.left:
            self.omitted[part] = describe_skipped(n_fits)
            return None
        self.say(part)
        try:
            return compute()
        except KeyboardInterrupt:
            clock.stop(f"in {part}")
            self.omitted[part] = INTERRUPTED
        except Exception as error:
            lost = self._name_lost(part, error)
            if not lost:
                raise
            self.notes.append(Caution("failed", f"Part not computed: there is no {lost}: {error}"))
        return None

    def _name_lost(self, part: str, error: Exception) -> str:
        """Return the name of the missing result if a part fails, or "" to raise the error."""
        if part in ESTIMATES:
            few = isinstance(error, NoFitLeftError | TooFewMembersError)
            return f"{part} estimate" if few and part not in ALWAYS else ""
        if part not in LOST or self.steps.inputs.error_score == "raise":
            return ""
        return f"{LOST[part]}, because one of its fits failed"

    def finish(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the result of a function of finished fits; run it again after an interrupt."""
        try:
            return function(*args)
        except KeyboardInterrupt:
            self.clock.stop("after the answer")
            return function(*args)


def _mean_loss(y_true: np.ndarray, y_pred: np.ndarray, *, loss: Any) -> float:
    """Return the mean of a per-sample loss."""
    return float(np.mean(loss(y_true, y_pred)))


def _mean_share_loss(y_true: np.ndarray, shares: np.ndarray, *, loss: Any, classes: Any) -> float:
    """Return the mean loss of the probabilities of all classes, or of the second of two."""
    shares = shares if shares.ndim == 2 else np.column_stack([1 - shares, shares])
    return float(np.mean(loss(np.searchsorted(classes, y_true), shares)))


def ends_in_linear_svc(estimator: Any, target: Target) -> bool:
    """Whether the last step is a linear `SVC` for two classes."""
    final = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    two_classes = target.classes is not None and len(target.classes) == 2
    return isinstance(final, SVC) and final.kernel == "linear" and two_classes


class Selected(NamedTuple):
    """Features selected by one fitted selector, with their names if known."""

    names: tuple[str, ...] | None
    support: np.ndarray


def read_selected(
    model: Pipeline, X: Any, y: Any, *, feature_names: tuple[str, ...] | None
) -> Selected:
    """Return the features selected by the last step of a fitted pipeline."""
    support = np.asarray(model[-1].get_support())
    names = feature_names if len(model) == 1 else _name_outputs(model[:-1], feature_names)
    valid = names is not None and len(names) == len(support)
    return Selected(names if valid else None, support)


def _name_outputs(steps: Pipeline, feature_names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the output names of fitted steps, or None if unknown."""
    for names in (feature_names, None):
        try:
            return tuple(map(str, steps.get_feature_names_out(names)))
        except (AttributeError, TypeError, ValueError):  # no names, or names of other inputs
            continue
    return None


def align_selections(notes: Sequence[Selected]) -> tuple[np.ndarray, tuple[str, ...] | None] | None:
    """Return the selections as rows of a mask over common features, and the feature names.

    Folds may select from different features, such as words of their own texts. These are matched by
    name, and features missing in a fold count as not selected. Return None if there are no names.
    """
    first = notes[0]
    if all(one.names == first.names for one in notes) and (
        len({len(one.support) for one in notes}) == 1
    ):
        return np.array([one.support for one in notes]), first.names
    if any(one.names is None for one in notes):
        return None
    names = list(dict.fromkeys(name for one in notes for name in one.names or ()))
    place = {name: position for position, name in enumerate(names)}
    supports = np.zeros((len(notes), len(names)), dtype=bool)
    for row, one in zip(supports, notes, strict=True):
        row[[place[name] for name in one.names or ()]] = one.support
    return supports, tuple(names)
