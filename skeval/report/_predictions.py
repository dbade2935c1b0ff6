"""What out-of-fold predictions tell: metrics, the confusion matrix, hard samples, subgroups."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import PredictionErrorDisplay
from sklearn.pipeline import Pipeline

from skeval._inference.areas import independent_size
from skeval._inference.estimate import Estimate, Results
from skeval._inference.intervals import wilson_interval
from skeval._resampling.fits import OutOfFold, fit_plan
from skeval._resampling.plan import whole_plan
from skeval._resampling.questions import (
    EachScorer,
    Questions,
    decides_by_pairs,
    find_response_method,
)
from skeval._resampling.task import Target, Task
from skeval.metrics import get_scorer
from skeval.metrics._table import REPORTED
from skeval.model_selection._error_interval import error_of_some
from skeval.model_selection._fold_metrics import measure_metrics
from skeval.model_selection._metric_interval import compare_subgroups, read_subgroups
from skeval.model_selection._tuning import read_search, summarize_searches
from skeval.report._sections import Caution
from skeval.utils._checks import naming
from skeval.utils._text import DataFrame, ShownAsText, align_rows, make_frame, name_label

__all__ = [
    "ConfusionRates",
    "HardSamples",
    "add_search_question",
    "count_classes",
    "draw_residuals",
    "find_hard_samples",
    "find_subgroups",
    "make_predictions_frame",
    "measure_confusion",
    "mirror",
    "name_columns",
    "name_rows",
    "resolve_scorers",
    "summarize_predictions",
    "take_column",
    "warn_of_metrics",
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
    task: Task, found: OutOfFold, confidence_level: float
) -> Estimate | None:
    """Return what the searches found in the training parts, and on all samples."""
    asked = Questions((), note=note_search)
    _, output = next(fit_plan(task, whole_plan(len(task.target)), asked))
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


RESERVED = {"error", "low", "high", *REPORTED}
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
    task: Task,
    answer: Estimate,
    found: OutOfFold,
    questions: Questions,
    names: Sequence[Any] | None,
    by: Any,
    confidence_level: float,
) -> dict[str, Any]:
    """Return what the predictions tell, as the fields of an `EvaluationReport`."""
    metrics = measure_metrics(found, confidence_level)
    if answer.details["loss"] == "zero_one":
        metrics["accuracy"] = mirror(metrics["accuracy"], answer)
    subgroups, tuning = None, None
    if by is not None:
        measure = partial(error_of_some, task, found, answer)
        subgroups = compare_subgroups(by, len(task.target), measure, answer.confidence_level)
    if questions.note:
        tuning = summarize_found_searches(task, found, confidence_level)
    return {
        "out_of_fold": found,
        "metrics": metrics,
        "confusion": measure_confusion(found, confidence_level),
        "hard_samples": find_hard_samples(found, names),
        "subgroups": subgroups,
        "tuning": tuning,
    }


def mirror(estimate: Estimate, answer: Estimate) -> Estimate:
    """Return one less an answer, as an accuracy is one less the error, with its interval."""
    return replace(
        estimate,
        value=1 - answer.value,
        standard_error=answer.standard_error,
        limits={answer.interval.method: partial(mirror_limits, answer)},
    )


def mirror_limits(answer: Estimate, confidence_level: float) -> tuple[float, float]:
    """Return the ends of the interval of one less a value."""
    interval = answer.confidence_interval(confidence_level)
    return 1 - interval.high, 1 - interval.low


def warn_of_metrics(metrics: Results) -> Iterator[Caution]:
    """Say which metrics are undefined, or have no interval."""
    names = {name: _name_metric(name, each) for name, each in metrics.items()}
    undefined = [names[name] for name, each in metrics.items() if np.isnan(each.value)]
    if undefined:
        text = (
            f"{', '.join(undefined)}: not defined for these predictions, for example since a class "
            "was never predicted, or no test set held both classes."
        )
        yield Caution("undefined", text)
    unvaried = [
        names[name]
        for name, each in metrics.items()
        if np.isfinite(each.value) and np.isnan(each.interval.low)
    ]
    if unvaried:
        text = f"{', '.join(unvaried)}: no interval, since nothing varies in what they are made of."
        yield Caution("undefined", text)


def _name_metric(name: str, found: Estimate) -> str:
    """Return what people call a metric, and the class that it is of."""
    metric, label = found.details.get("metric", name), found.details.get("label")
    told = REPORTED[metric].label if metric in REPORTED else metric
    return told if label is None else f"{told} of class {name_label(label)}"


def warn_of_scores(found: OutOfFold, metrics: Results, estimator: Any) -> list[Caution]:
    """Say which metrics are undefined, and what could not be told."""
    notes = [] if found.cases.n_units == 1 else list(warn_of_metrics(metrics))
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
    return notes


@dataclass(frozen=True, eq=False)
class ConfusionRates(ShownAsText):
    """Of each class, the shares that are taken for each class.

    Attributes
    ----------
    labels : tuple of str
        The classes.
    counts : ndarray of shape (n_classes, n_classes)
        Samples of each class (rows) taken for each (columns), on average over the repeats.
    rates : ndarray of shape (n_classes, n_classes)
        Share of the row.
    low, high : ndarray of shape (n_classes, n_classes)
        Ends of Wilson's intervals of the rates, for as many samples (or groups) as the row has,
        fewer where weights differ, over the inflation of the error, as `error_interval`
        counts them; over 1 of predictions that are given.
    """

    labels: tuple[str, ...]
    counts: np.ndarray
    rates: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as nested lists."""
        numbers = {"counts": self.counts, "rates": self.rates, "low": self.low, "high": self.high}
        return {"labels": list(self.labels)} | {k: v.tolist() for k, v in numbers.items()}

    def to_frame(self) -> DataFrame:
        """Return a row for each pair of classes; needs pandas."""
        k = len(self.labels)
        return make_frame(
            {
                "truth": np.repeat(self.labels, k),
                "prediction": np.tile(self.labels, k),
                "count": self.counts.ravel(),
                "rate": self.rates.ravel(),
                "low": self.low.ravel(),
                "high": self.high.ravel(),
            }
        )

    def write_cell(self, row: int, column: int) -> str:
        """Return a count, the share of its row and the interval of that, on three lines."""
        low, high = 100 * self.low[row, column], 100 * self.high[row, column]
        share = f"{100 * self.rates[row, column]:.1f} %\n({low:.0f}–{high:.0f})"
        return f"{self.counts[row, column]:.4g}\n{share}"

    def __str__(self) -> str:
        rows = zip(self.labels, self.counts, strict=True)
        counts = [[label, *(f"{count:.4g}" for count in row)] for label, row in rows]
        return "\n".join(align_rows([name_columns(self.labels), *counts]))


def name_columns(labels: Sequence[str]) -> list[str]:
    """Return what stands above the confusion matrix: what the samples are, and are taken for."""
    return ["class", *(f"taken for {label}" for label in labels)]


def count_classes(target: Target, weight: np.ndarray | None = None) -> dict[Any, Any] | None:
    """Return the number of samples of each class, or what they weigh; None of numbers."""
    if target.classes is None:
        return None
    sizes = np.bincount(target.codes, weight, minlength=len(target.classes))
    return dict(zip(target.classes.tolist(), sizes.tolist(), strict=True))


def measure_confusion(found: OutOfFold, confidence_level: float) -> ConfusionRates | None:
    """Return the confusion matrix; None of numbers."""
    classes = found.target.classes
    if classes is None:
        return None
    k, codes = len(classes), found.target.codes
    cell = found.look_up(codes) * k + found.predicted.astype(np.intp, copy=False)
    sums = np.bincount(cell, found.look_up(found.weight), minlength=k * k).reshape(k, k)
    counts = sums / len(found.repeats)
    with np.errstate(invalid="ignore"):
        rates = counts / counts.sum(axis=1, keepdims=True)
    low, high = np.full((k, k), np.nan), np.full((k, k), np.nan)
    for row in range(k):
        own = codes == row
        n = np.count_nonzero(own) / found.inflation
        if found.cases.n_groups is not None:
            n = np.count_nonzero(np.bincount(found.cases.unit[own])) / found.inflation
        if own.any():  # samples of unequal weight are worth fewer
            n *= independent_size(found.weight[own]) / own.sum()
        for column in np.flatnonzero(np.isfinite(rates[row])):
            rate = rates[row, column]
            ends = wilson_interval(rate * n, n, confidence_level)
            low[row, column], high[row, column] = ends
    labels = tuple(str(name) for name in classes.tolist())
    return ConfusionRates(labels, counts, rates, low, high)


MOST = 20
"""Samples that are printed."""


Words = Sequence[str] | np.ndarray
"""One for each of some samples."""


@dataclass(frozen=True, eq=False)
class HardSamples(ShownAsText):
    """Samples by how badly models that did not see them predict them, the worst first.

    Attributes
    ----------
    sample : int ndarray of shape (n_hard,)
        Row of the sample.
    name : sequence of str
        Its name in the index of the data frame, or its row.
    truth : sequence of str
        Its label, or its number.
    prediction : sequence of str
        What it is most often taken for; of numbers the mean prediction.
    wrong : ndarray of shape (n_hard,)
        Share of its predictions that are wrong; of numbers, the root of its mean squared
        residual over that of all samples; of probabilities that were given, 1 less that of its
        class.
    always : int
        Number of samples that every model predicted wrongly; of numbers, those more than three
        times as far off as samples are.
    suspect : bool ndarray of shape (n_hard,)
        Whether the label may be what is wrong. Few samples are (at most 5 %), in every one of at
        least two repeats, each in a class of which at most half are, and the error is at most half
        of that of answering always the largest class. Of numbers, all that are so far off, if few.
    unknown : dict of str to (int, int)
        Classes of which more than half of the samples are wrong in every repeat: how many, of how
        many. There the models mostly miss the class, and its labels are no worse than others.
    """

    sample: np.ndarray
    name: Words
    truth: Words
    prediction: Words
    wrong: np.ndarray
    always: int
    suspect: np.ndarray
    unknown: dict[str, tuple[int, int]]

    def to_records(self) -> list[dict[str, Any]]:
        """Return the samples as rows of a table."""
        told = (np.asarray(each).tolist() for each in (self.name, self.truth, self.prediction))
        columns = self.sample.tolist(), *told, self.wrong.tolist()
        head = "sample", "name", "truth", "prediction", "wrong"
        return [dict(zip(head, row, strict=True)) for row in zip(*columns, strict=True)]

    def to_frame(self) -> DataFrame:
        """Return a row for each sample that is ever wrong; needs pandas."""
        return make_frame(self.to_records())

    def __str__(self) -> str:
        columns = self.name, self.truth, self.prediction, [f"{share:.2f}" for share in self.wrong]
        rows = [("sample", "is", "taken for", "wrong"), *zip(*columns, strict=True)]
        more = [f"and {len(rows) - 1 - MOST} more"] if len(rows) - 1 > MOST else []
        return "\n".join([*align_rows(rows[: MOST + 1]), *more])


MOST_SUSPECT = 0.05
"""Share of samples up to which those that are always wrong are taken for mistakes of their own."""
FAR = 3.0
"""Residuals of a sample, in units of those of all, from which it counts as always wrong."""


def find_hard_samples(found: OutOfFold, index: Any) -> HardSamples:
    """Return the samples that are ever predicted wrongly, the worst first."""
    n, target = len(found.target), found.target
    counts = np.bincount(found.row, minlength=n)
    if target.classes is None:
        residual = found.look_up(target.y).astype(float) - found.predicted
        squares = np.bincount(found.row, residual**2, minlength=n) / np.maximum(counts, 1)
        whole = float(np.mean(squares[counts > 0]))
        wrong = np.sqrt(squares / whole) if whole > 0 else np.zeros(n)
        means = np.bincount(found.row, found.predicted, minlength=n) / np.maximum(counts, 1)
        hard = _sort_worst(wrong, FAR)
        pairs = zip(target.y[hard].astype(float).tolist(), means[hard].tolist(), strict=True)
        truth, taken = np.array([_write_apart(*pair) for pair in pairs], str).reshape(-1, 2).T
        always = len(hard)
        suspect, unknown = np.full(n, always <= MOST_SUSPECT * n), dict[str, tuple[int, int]]()
    else:
        classes = target.classes
        missed = found.predicted != found.look_up(target.codes)
        wrong = np.bincount(found.row, missed, minlength=n) / np.maximum(counts, 1)
        hard = _sort_worst(wrong, 0.0)
        place = np.zeros(n, dtype=np.intp)
        place[hard] = np.arange(len(hard)) * len(classes)
        cell = place[found.row[missed]] + found.predicted[missed].astype(np.intp)
        votes = np.bincount(cell, minlength=len(hard) * len(classes)).reshape(-1, len(classes))
        names = np.array([str(each) for each in classes.tolist()])
        taken, truth = names[votes.argmax(axis=1)], names[target.codes[hard]]
        always = int(np.sum((wrong == 1) & (counts > 0)))
        suspect, unknown = _judge_labels(found, classes, (wrong == 1) & (counts > 0), missed)
    return HardSamples(
        sample=hard,
        name=name_samples(hard, index, n),
        truth=truth,
        prediction=taken,
        wrong=wrong[hard],
        always=always,
        suspect=suspect[hard],
        unknown=unknown,
    )


def _sort_worst(wrong: np.ndarray, above: float) -> np.ndarray:
    """Return the samples that are more wrong than some amount, the worst first."""
    hard = np.flatnonzero(wrong > above)
    return hard[np.argsort(-wrong[hard], kind="stable")]


def name_samples(rows: np.ndarray, index: Any, n_samples: int) -> Words:
    """Return the names of samples in an index, or their numbers."""
    if index is None:
        return rows.astype(f"U{len(str(n_samples))}")
    return [str(index[row]) for row in rows.tolist()]


def _write_apart(value: float, other: float) -> tuple[str, str]:
    """Return two numbers with four figures, and with more where these would be the same."""
    known = (f"{value:.4g}", f"{other:.4g}")
    return known if known[0] != known[1] else (f"{value:.9g}", f"{other:.9g}")


def _judge_labels(
    found: OutOfFold, classes: np.ndarray, always: np.ndarray, missed: np.ndarray
) -> tuple[np.ndarray, dict[str, tuple[int, int]]]:
    """Return which samples may have a wrong label, and the classes that models mostly miss."""
    codes = found.target.codes
    tested = np.bincount(found.row, minlength=len(codes))
    always = always & (tested > 1)
    sizes = np.bincount(codes[tested > 0], minlength=len(classes))
    wrong = np.bincount(codes[always], minlength=len(classes))
    names = [name_label(name) for name in classes.tolist()]
    rows = zip(names, wrong.tolist(), sizes.tolist(), strict=True)
    unknown = {name: (n_wrong, size) for name, n_wrong, size in rows if 2 * n_wrong > size}
    suspect = always & (2 * wrong <= sizes)[codes]
    guess = 1 - sizes.max() / sizes.sum()
    few = suspect.sum() <= MOST_SUSPECT * sizes.sum() and 2 * missed.mean() <= guess
    return suspect & few, unknown


def make_predictions_frame(found: OutOfFold) -> DataFrame:
    """Return a row for each answer of a model to a sample that it was not trained on."""
    target = found.target
    columns: dict[str, Any] = {
        "sample": found.row,
        "repeat": found.repeat,
        "fold": found.fold,
        "truth": target.y[found.row],
        "prediction": target.decode(found.predicted),
    }
    scores = found.response
    if scores is not None and target.classes is not None:
        if scores.ndim == 1:
            columns["score"] = scores
        elif len(target.classes) == 2:
            columns["score"] = scores[:, 1]
        else:
            names = target.classes.tolist()
            columns |= {f"score_{name}": scores[:, k] for k, name in enumerate(names)}
    return make_frame(columns)


def draw_residuals(found: OutOfFold, ax: Any = None) -> Any:
    """Draw the residual of each sample beside its mean prediction."""
    n = len(found.target)
    counts = np.bincount(found.row, minlength=n)
    tested = counts > 0
    means = np.bincount(found.row, found.predicted, minlength=n)[tested] / counts[tested]
    true = found.target.y[tested].astype(float)
    return PredictionErrorDisplay.from_predictions(
        true, means, kind="residual_vs_predicted", ax=ax, subsample=None
    )
