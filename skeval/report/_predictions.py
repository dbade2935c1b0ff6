"""What out-of-fold predictions tell: metrics, the confusion matrix, hard samples, subgroups."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.pipeline import Pipeline

from skeval._resampling.fits import fit_plan
from skeval._resampling.plan import whole_plan
from skeval._resampling.procedure import OutOfFold, Procedure
from skeval._resampling.questions import (
    EachScorer,
    Questions,
    decides_by_pairs,
    find_response_method,
)
from skeval.metrics import get_scorer
from skeval.model_selection import ErrorInterval, TuningOptimism
from skeval.model_selection._error_interval import error_of_some
from skeval.model_selection._fold_metrics import METRICS, measure_metrics
from skeval.model_selection._metric_estimate import MetricEstimate
from skeval.model_selection._subgroups import Subgroups, compare_subgroups, read_subgroups
from skeval.model_selection._tuning import read_search, summarize_searches
from skeval.report._cautions import Caution
from skeval.report._confusion import ConfusionRates, measure_confusion
from skeval.report._hard_samples import HardSamples, find_hard_samples
from skeval.utils._checks import naming
from skeval.utils._text import mean_loss_name

__all__ = [
    "PredictionSummary",
    "add_search_question",
    "find_subgroups",
    "name_rows",
    "resolve_scorers",
    "summarize_predictions",
    "take_column",
    "warn_of_scores",
]


def add_search_question(questions: Questions, estimator: Any) -> Questions:
    """Return what is asked, and of an estimator that ends in a search what it found."""
    final = estimator
    while isinstance(final, Pipeline):
        final = final.steps[-1][1]
    # what every search of scikit-learn overrides, and that it refits
    if not hasattr(final, "_run_search") or final.refit is False:
        return questions
    return replace(questions, note=note_search)


def note_search(model: Any, X: Any, y: Any) -> Any:
    """Return what a search found; None where its table does not say by what it chose."""
    try:
        return read_search(model, X, y)
    except (TypeError, ValueError):
        return None


def summarize_found_searches(
    p: Procedure, found: OutOfFold, confidence_level: float
) -> TuningOptimism | None:
    """Return what the searches found in the training parts, and on all samples."""
    asked = Questions((), note=note_search)
    _, output = next(fit_plan(p.task, whole_plan(len(p.task.target)), asked))
    (whole,) = output.notes or [None]
    if whole is None or any(each is None for each in found.noted):
        return None
    ratio = found.test_train_ratio
    with warnings.catch_warnings():  # the report shows what is undefined
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            return summarize_searches([whole, *found.noted], ratio, confidence_level)
        except ValueError:  # fewer than two folds have a score
            return None


class PredictionSummary(NamedTuple):
    """What a report has from predictions; see `EvaluationReport`."""

    out_of_fold: OutOfFold
    metrics: tuple[MetricEstimate, ...]
    confusion: ConfusionRates | None
    hard_samples: HardSamples
    subgroups: Subgroups | None
    tuning: TuningOptimism | None


def resolve_scorers(scoring: Any) -> Questions:
    """Return the scorers that an argument `scoring` names."""
    if scoring is None:
        return Questions()
    if not (isinstance(scoring, str | list | tuple | set | dict) or callable(scoring)):
        raise ValueError(
            f"scoring must be None, a name, a callable, or a list or dict of them, got {scoring!r}."
        )
    parts = [scoring] if isinstance(scoring, str) or callable(scoring) else scoring
    if not isinstance(parts, dict):
        parts = {_name_part(part, place): part for place, part in enumerate(parts)}
    scorers = {}
    for name, part in parts.items():
        if name in RESERVED and not isinstance(part, str):
            raise ValueError(f"scoring must not name a scorer {name!r}, which the report has.")
        if not (isinstance(part, str) or callable(part)):
            raise ValueError(f"scoring must hold names and callables, got {part!r}.")
        with naming("scoring"):
            scorers[str(name)] = get_scorer(part) if isinstance(part, str) else part
    return Questions(scorer=EachScorer(scorers), scoring=scorers)


def _name_part(part: Any, place: int) -> str:
    """Return the name of a scorer: its own, or that of its function and its place."""
    if isinstance(part, str):
        return part
    function = getattr(part, "_score_func", part)
    return f"{getattr(function, '__name__', 'scorer')} [{place}]"


RESERVED = {"error", "low", "high", *METRICS}
"""Names that a row of metrics has for something else."""


def take_column(X: Any, name: str) -> tuple[Any, Any]:
    """Return a data frame without the column that holds the groups, and the column."""
    if not hasattr(X, "columns") or name not in X.columns:
        raise ValueError(
            f"groups must be a column of X or hold a group for each sample, got {name!r}."
        )
    return X[[column for column in X.columns if column != name]], X[name]


def find_subgroups(X: Any, by: Any, n_samples: int) -> Any:
    """Return the subgroup of each sample: the values given, or a column of the data frame."""
    if isinstance(by, str):
        if not hasattr(X, "columns") or by not in X.columns:
            raise ValueError(
                f"by must be a column of X or hold a subgroup for each sample, got {by!r}."
            )
        by = X[by]
    if by is not None:
        read_subgroups(by, n_samples)  # refuse before the work
    return by


def name_rows(X: Any) -> Sequence[Any] | None:
    """Return the names of the samples: the index of a data frame, where it is more than a count."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return list(index)


def summarize_predictions(
    p: Procedure,
    answer: ErrorInterval | None,
    found: OutOfFold,
    questions: Questions,
    names: Sequence[Any] | None,
    by: Any,
    confidence_level: float,
) -> PredictionSummary:
    """Return what the predictions tell."""
    metrics = measure_metrics(found, confidence_level, ordered=answer is None)
    if answer is not None and answer.loss == "zero_one":
        metrics = tuple(_mirror(each, answer) for each in metrics)
    return PredictionSummary(
        found,
        metrics,
        None if answer is None else measure_confusion(found, confidence_level),
        find_hard_samples(found, names),
        None if answer is None or by is None else _compare(p, answer, found, by),
        summarize_found_searches(p, found, confidence_level) if questions.note else None,
    )


def _mirror(estimate: MetricEstimate, answer: ErrorInterval) -> MetricEstimate:
    """Return an accuracy with the interval of the error; any other metric as it is."""
    if estimate.metric != "accuracy":
        return estimate
    return replace(
        estimate,
        estimate=1 - answer.error,
        standard_error=answer.standard_error,
        limits={answer.interval.method: partial(_mirror_limits, answer)},
    )


def _mirror_limits(answer: ErrorInterval, confidence_level: float) -> tuple[float, float]:
    """Return the ends of the interval of the accuracy."""
    interval = answer.confidence_interval(confidence_level)
    return 1 - interval.high, 1 - interval.low


def _compare(p: Procedure, answer: ErrorInterval, found: OutOfFold, by: Any) -> Subgroups:
    """Return the error in each subgroup."""

    def measure(chosen: np.ndarray) -> tuple[float, ErrorInterval]:
        result = error_of_some(p, found, chosen, answer)
        return result.error, result

    name, n = mean_loss_name(answer.loss), len(p.task.target)
    return compare_subgroups(name, by, n, measure, answer.confidence_level)


def warn_of_scores(
    summary: PredictionSummary, estimator: Any, by: Any, ordered: bool
) -> list[Caution]:
    """Say which metrics are undefined, and what could not be told."""
    notes, found = [], summary.out_of_fold
    undefined = [each.name for each in summary.metrics if np.isnan(each.estimate)]
    if undefined:
        text = (
            f"{', '.join(undefined)}: not defined for these predictions, for example since a class "
            "was never predicted, or no test set held both classes."
        )
        notes.append(Caution("undefined", text))
    unvaried = [
        each.name
        for each in summary.metrics
        if np.isfinite(each.estimate) and np.isnan(each.interval.low)
    ]
    if unvaried and ordered:
        text = "Metrics have no intervals: samples in order are not independent."
        notes.append(Caution("ordered", text))
    elif unvaried:
        text = f"{', '.join(unvaried)}: no interval, since nothing varies in these predictions."
        notes.append(Caution("undefined", text))
    method = find_response_method(estimator, found.target)
    if method is not None and found.class_scores is None:
        text = (
            f"{method} gave no finite score of every class in some fit: curves, areas and losses "
            "of probabilities are left out."
        )
        notes.append(Caution("undefined", text))
    flat, n_answered = int(found.ranks_nothing.sum()), len(found.ranks_nothing)
    if 2 * flat > n_answered:
        where = "every fit" if flat == n_answered else f"{flat} of {n_answered} fits"
        text = (
            f"The scores are constant in {where}, but for rounding: all samples are tied there, "
            "and their order, from which areas and precisions are made, says nothing. A rule that "
            "predicts one class only often has such scores; weights of the classes may help."
        )
        notes.append(Caution("constant-scores", text))
    if decides_by_pairs(estimator, found.target):
        text = (
            "The decision values are those of pairs of classes (decision_function_shape='ovo'), "
            "which are no scores of classes: curves and areas are left out. With 'ovr' they are "
            "there."
        )
        notes.append(Caution("undefined", text))
    if by is not None and summary.subgroups is None:
        text = "There are no errors by subgroup: the folds keep the order of the samples."
        notes.append(Caution("ordered", text))
    return notes
