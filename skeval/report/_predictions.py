"""Results of out-of-fold predictions: metrics, confusion matrix, hard samples, subgroups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d

from skeval._adapters.fits import fit_plan
from skeval._inference.estimate import Estimate, Results
from skeval._inference.intervals import independent_size, wilson_interval
from skeval._resampling.fit_request import (
    EachScorer,
    FitRequest,
    decides_by_pairs,
    find_response_method,
)
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import whole_plan
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import Target
from skeval.metrics import get_scorer
from skeval.metrics._table import REPORTED
from skeval.model_selection._fold_metrics import measure_metrics
from skeval.model_selection._interval_methods import error_of_some
from skeval.model_selection._searches import read_search, summarize_searches
from skeval.model_selection._subgroups import compare_subgroups, read_subgroups
from skeval.report._sections import Caution
from skeval.utils._checks import ignored_warnings, naming, refuse_shuffled_index
from skeval.utils._compat import is_search, score_function
from skeval.utils._text import (
    DataFrame,
    ShownAsText,
    align_rows,
    make_frame,
    name_label,
    write_figures,
)


def request_search_notes(request: FitRequest, estimator: Any) -> FitRequest:
    """Return the outputs requested from each fit, with the results of a final search."""
    final = estimator
    while isinstance(final, Pipeline):
        final = final.steps[-1][1]
    if not is_search(final) or final.refit is False:
        return request
    return replace(request, note=note_search)


def note_search(model: Any, X: Any, y: Any) -> Any:
    """Return the results of a search; None if its table lacks the scores used for selection."""
    try:
        return read_search(model, X, y)
    except (TypeError, ValueError):
        return None


def summarize_found_searches(
    inputs: Inputs, predictions: Predictions, confidence_level: float
) -> Estimate | None:
    """Return the results of the searches in the training parts and on all samples."""
    request = FitRequest((), note=note_search)
    _, output = next(fit_plan(inputs, whole_plan(len(inputs.target)), request))
    (whole,) = output.notes or [None]
    if whole is None or any(search is None for search in predictions.noted):
        return None
    ratio = predictions.test_train_ratio
    with ignored_warnings(UndefinedMetricWarning):  # the report shows undefined values
        try:
            return summarize_searches([whole, *predictions.noted], ratio, confidence_level)
        except ValueError:  # fewer than two folds have a score
            return None


def resolve_scorers(scoring: Any) -> FitRequest:
    """Return the scorers of the argument `scoring`."""
    if scoring is None:
        return FitRequest()
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
            raise ValueError(f"scoring must contain names and callables, got {part!r}.")
        with naming("scoring"):
            scorers[str(name)] = get_scorer(part) if isinstance(part, str) else part
    return FitRequest(scorer=EachScorer(scorers), scoring=scorers)


def _name_part(part: Any, place: int) -> str:
    """Return the name of a scorer: its own, or the name and position of its function."""
    if isinstance(part, str):
        return part
    return f"{getattr(score_function(part), '__name__', 'scorer')} [{place}]"


RESERVED = {"error", "low", "high", *REPORTED}
"""Names with another meaning in a row of metrics."""


def convert_arrow(X: Any) -> Any:
    """Return X; an Arrow table, whose rows cannot be selected, becomes a data frame."""
    is_arrow = hasattr(X, "column_names") and hasattr(X, "to_pandas")
    return X.to_pandas() if is_arrow else X


def take_groups(X: Any, groups: Any) -> tuple[Any, Any]:
    """Return X and the groups; if these are a column of X, X is without it."""
    if not isinstance(groups, str):
        return X, groups
    if not hasattr(X, "columns") or groups not in X.columns:
        raise ValueError(
            f"groups must be a column of X or contain a group for each sample, got {groups!r}."
        )
    return X[[column for column in X.columns if column != groups]], X[groups]


def check_feature_names(X: Any, feature_names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the feature names, or the column names of a data frame."""
    names = getattr(X, "columns", None) if feature_names is None else feature_names
    n = count_columns(X)
    with naming("feature_names"):
        names = None if names is None else column_or_1d(np.asarray(names, dtype=object))
    if names is not None and len(names) != n:
        raise ValueError(
            f"feature_names must have a name for each of {n or 'no'} features, got {len(names)}."
        )
    return None if names is None else tuple(str(name) for name in names)


def count_columns(X: Any) -> int | None:
    """Return the number of columns of X, or None if samples are not rows, such as texts."""
    try:
        shape = np.shape(X)
    except ValueError:  # rows of different length
        return None
    return shape[1] if len(shape) > 1 else None


def find_subgroups(X: Any, by: Any, n_samples: int) -> Any:
    """Return the subgroup of each sample: the values, or a column of the data frame."""
    if isinstance(by, str):
        if not hasattr(X, "columns") or by not in X.columns:
            raise ValueError(
                f"by must be a column of X or contain a subgroup for each sample, got {by!r}."
            )
        by = X[by]
    if by is not None:
        refuse_shuffled_index(X, {"by": by})
        read_subgroups(by, n_samples)  # raise before the work
    return by


def name_rows(X: Any) -> Sequence[Any] | None:
    """Return the names of the samples from the index of a data frame, unless it only counts
    rows."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return list(index)


def summarize_predictions(
    inputs: Inputs,
    answer: Estimate,
    predictions: Predictions,
    request: FitRequest,
    names: Sequence[Any] | None,
    by: Any,
    confidence_level: float,
) -> dict[str, Any]:
    """Return the results of a report that are computed from predictions."""
    metrics = measure_metrics(predictions, confidence_level)
    if answer.loss == "zero_one":
        metrics["accuracy"] = mirror(metrics["accuracy"], answer)
    subgroups, tuning = None, None
    if by is not None:
        measure = partial(error_of_some, inputs, predictions, answer)
        subgroups = compare_subgroups(by, len(inputs.target), measure, answer.confidence_level)
    if request.note:
        tuning = summarize_found_searches(inputs, predictions, confidence_level)
    return {
        "out_of_fold": predictions,
        "metrics": metrics,
        "confusion": measure_confusion(predictions, confidence_level),
        "hard_samples": find_hard_samples(predictions, names),
        "subgroups": subgroups,
        "tuning": tuning,
    }


def mirror(estimate: Estimate, answer: Estimate) -> Estimate:
    """Return one minus an estimate with its interval, for example accuracy from the error."""
    return replace(
        estimate,
        value=1 - answer.value,
        standard_error=answer.standard_error,
        limits={answer.interval.method: partial(mirror_limits, answer)},
    )


def mirror_limits(answer: Estimate, confidence_level: float) -> tuple[float, float]:
    """Return the limits of the interval of one minus a value."""
    interval = answer.confidence_interval(confidence_level)
    return 1 - interval.high, 1 - interval.low


MIN_GROUPS = 10


def warn_of_few_groups(predictions: Predictions) -> Iterator[Caution]:
    """Warn about intervals from few groups."""
    n_groups = predictions.cases.n_groups
    if n_groups is not None and n_groups < MIN_GROUPS:
        yield Caution(
            "few-groups",
            f"Few groups: with {n_groups} groups, coverage may be below the nominal level. Collect "
            "more groups, or report the interval with this reservation.",
        )


def warn_of_metrics(metrics: Results) -> Iterator[Caution]:
    """Warn about metrics that are undefined, or have no interval."""
    names = {name: _name_metric(name, estimate) for name, estimate in metrics.items()}
    undefined = [names[name] for name, estimate in metrics.items() if np.isnan(estimate.value)]
    if undefined:
        text = (
            f"Undefined metrics: {', '.join(undefined)}. This happens if a class is never "
            "predicted, or if no test set contains both classes."
        )
        yield Caution("undefined", text)
    unknown = [
        (names[name], estimate.standard_error > 0)
        for name, estimate in metrics.items()
        if np.isfinite(estimate.value) and np.isnan(estimate.interval.low)
    ]
    for varies, why in (
        (False, "the values that they are computed from do not vary"),
        (True, "the intervals would be too wide to be useful"),
    ):
        listed = [name for name, spread in unknown if spread == varies]
        if listed:
            yield Caution("undefined", f"Metrics without intervals: {', '.join(listed)}; {why}.")


def _name_metric(name: str, predictions: Estimate) -> str:
    """Return the display name of a metric, with its class."""
    metric = getattr(predictions.extra, "metric", "") or name
    label = getattr(predictions.extra, "label", None)
    text = REPORTED[metric].label if metric in REPORTED else metric
    return text if label is None else f"{text} of class {name_label(label)}"


def warn_of_scores(predictions: Predictions, metrics: Results, estimator: Any) -> list[Caution]:
    """Warn about undefined metrics and constant scores."""
    notes = [] if predictions.cases.n_units == 1 else list(warn_of_metrics(metrics))
    method = find_response_method(estimator, predictions.target)
    if method is not None and predictions.class_scores is None:
        text = (
            f"No usable scores: {method} did not return a finite score for every class in "
            "some fit, so curves, AUC and losses of probabilities are missing. Check the scores "
            "of the model for missing and infinite values."
        )
        notes.append(Caution("undefined", text))
    flat, n_answered = int(predictions.ranks_nothing.sum()), len(predictions.ranks_nothing)
    if 2 * flat > n_answered:
        where = "every fit" if flat == n_answered else f"{flat} of {n_answered} fits"
        text = (
            f"Constant scores: apart from rounding, the scores are constant in {where}, so AUC and "
            "average precision are not informative. This is common for models that predict a "
            "single class; try class weights."
        )
        notes.append(Caution("constant-scores", text))
    if decides_by_pairs(estimator, predictions.target):
        text = (
            "No scores per class: decision_function_shape='ovo' returns decision values for "
            "pairs of classes, so curves and AUC are missing. Use 'ovr' to get them."
        )
        notes.append(Caution("undefined", text))
    return notes


@dataclass(frozen=True, eq=False)
class ConfusionRates(ShownAsText):
    """Confusion matrix with intervals of the row shares.

    Attributes
    ----------
    labels : tuple of str
        The classes.
    counts : ndarray of shape (n_classes, n_classes)
        Samples of each class (rows) predicted as each (columns), averaged over the repeats.
    rates : ndarray of shape (n_classes, n_classes)
        Share of the row.
    low, high : ndarray of shape (n_classes, n_classes)
        Limits of Wilson's intervals of the rates, for the samples (or groups) of the row, or the
        effective number if weights differ, divided by the inflation factor of `error_interval`
        (1 for existing predictions).
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
        """Return a row for each pair of classes; requires pandas."""
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
        """Return a count, its row share and the interval of the share, on three lines."""
        low, high = 100 * self.low[row, column], 100 * self.high[row, column]
        share = f"{100 * self.rates[row, column]:.1f} %\n({low:.0f}–{high:.0f})"
        return f"{self.counts[row, column]:.4g}\n{share}"

    def __str__(self) -> str:
        rows = zip(self.labels, self.counts, strict=True)
        counts = [[label, *(f"{count:.4g}" for count in row)] for label, row in rows]
        return "\n".join(align_rows([name_columns(self.labels), *counts]))


def name_columns(labels: Sequence[str]) -> list[str]:
    """Return the caption of the confusion matrix."""
    return ["class", *(f"predicted as {label}" for label in labels)]


def count_classes(target: Target, weight: np.ndarray | None = None) -> dict[Any, Any] | None:
    """Return the number or total weight of samples of each class; None for regression."""
    if target.classes is None:
        return None
    sizes = np.bincount(target.codes, weight, minlength=len(target.classes))
    return dict(zip(target.classes.tolist(), sizes.tolist(), strict=True))


def measure_confusion(predictions: Predictions, confidence_level: float) -> ConfusionRates | None:
    """Return the confusion matrix; None for regression, or without predicted labels."""
    classes = predictions.target.classes
    if classes is None or not predictions.has_values:
        return None
    k, codes = len(classes), predictions.target.codes
    cell = predictions.look_up(codes) * k + predictions.predicted.astype(np.intp, copy=False)
    sums = np.bincount(cell, predictions.look_up(predictions.weight), minlength=k * k).reshape(k, k)
    counts = sums / len(predictions.repeats)
    with np.errstate(invalid="ignore"):
        rates = counts / counts.sum(axis=1, keepdims=True)
    low, high = np.full((k, k), np.nan), np.full((k, k), np.nan)
    for row in range(k):
        own = codes == row
        n = np.count_nonzero(own) / predictions.inflation
        if predictions.cases.n_groups is not None:
            n = np.count_nonzero(np.bincount(predictions.cases.unit[own])) / predictions.inflation
        if own.any():  # effective number of samples with unequal weights
            n *= independent_size(predictions.weight[own]) / own.sum()
        for column in np.flatnonzero(np.isfinite(rates[row])):
            rate = rates[row, column]
            ends = wilson_interval(rate * n, n, confidence_level)
            low[row, column], high[row, column] = ends
    labels = tuple(str(name) for name in classes.tolist())
    return ConfusionRates(labels, counts, rates, low, high)


MAX_PRINTED = 20
"""Maximum number of printed samples."""


Words = Sequence[str] | np.ndarray
"""One value per sample."""


@dataclass(frozen=True, eq=False)
class HardSamples(ShownAsText):
    """Samples with the worst out-of-fold predictions, the worst first.

    Attributes
    ----------
    sample : int ndarray of shape (n_hard,)
        Row of the sample.
    name : sequence of str
        Its name in the index of the data frame, or its row.
    truth : sequence of str
        Its label, or its number.
    prediction : sequence of str
        Most frequent prediction; for regression the mean prediction.
    wrong : ndarray of shape (n_hard,)
        Share of its predictions that are wrong; for regression the root mean squared residual
        relative to that of all samples; for existing probabilities 1 minus that of its class.
    always : int
        Number of samples that every model misclassified; for regression, those with residuals
        over three times the root mean square.
    suspect : bool ndarray of shape (n_hard,)
        Whether the label may be wrong: misclassified in every one of at least two repeats, with
        at most 5 % such samples in total and at most half of the class, and an error of at most
        half of that of the majority class. For regression, the large residuals if they are few.
    unknown : dict of str to (int, int)
        Classes with more than half of the samples misclassified in every repeat: their number, and
        the size of the class. The models mostly miss such a class; its labels are not suspected.
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
        texts = (np.asarray(column).tolist() for column in (self.name, self.truth, self.prediction))
        columns = self.sample.tolist(), *texts, self.wrong.tolist()
        head = "sample", "name", "truth", "prediction", "wrong"
        return [dict(zip(head, row, strict=True)) for row in zip(*columns, strict=True)]

    def to_frame(self) -> DataFrame:
        """Return a row for each sample that is ever misclassified; requires pandas."""
        return make_frame(self.to_records())

    def __str__(self) -> str:
        columns = self.name, self.truth, self.prediction, [f"{share:.2f}" for share in self.wrong]
        rows = [("sample", "is", "predicted as", "wrong"), *zip(*columns, strict=True)]
        more = [f"and {len(rows) - 1 - MAX_PRINTED} more"] if len(rows) - 1 > MAX_PRINTED else []
        return "\n".join([*align_rows(rows[: MAX_PRINTED + 1]), *more])


MAX_SUSPECT = 0.05
"""Labels are suspected if at most this share of the samples is always misclassified."""
FAR = 3.0
"""Smallest residual, relative to the root mean square, of a sample that counts as always wrong."""


def find_hard_samples(predictions: Predictions, index: Any) -> HardSamples:
    """Return the samples that are ever predicted wrongly, the worst first."""
    n, target = len(predictions.target), predictions.target
    counts = np.bincount(predictions.row, minlength=n)
    if target.classes is None:
        residual = predictions.look_up(target.y).astype(float) - predictions.predicted
        squares = np.bincount(predictions.row, residual**2, minlength=n) / np.maximum(counts, 1)
        whole = float(np.mean(squares[counts > 0]))
        wrong = np.sqrt(squares / whole) if whole > 0 else np.zeros(n)
        means = np.bincount(predictions.row, predictions.predicted, minlength=n) / np.maximum(
            counts, 1
        )
        hard = _sort_worst(wrong, FAR)
        pairs = zip(target.y[hard].astype(float).tolist(), means[hard].tolist(), strict=True)
        truth, taken = np.array([_write_apart(*pair) for pair in pairs], str).reshape(-1, 2).T
        always = len(hard)
        suspect, unknown = np.full(n, always <= MAX_SUSPECT * n), dict[str, tuple[int, int]]()
    else:
        classes = target.classes
        missed = predictions.predicted != predictions.look_up(target.codes)
        wrong = np.bincount(predictions.row, missed, minlength=n) / np.maximum(counts, 1)
        hard = _sort_worst(wrong, 0.0)
        place = np.zeros(n, dtype=np.intp)
        place[hard] = np.arange(len(hard)) * len(classes)
        cell = place[predictions.row[missed]] + predictions.predicted[missed].astype(np.intp)
        votes = np.bincount(cell, minlength=len(hard) * len(classes)).reshape(-1, len(classes))
        names = np.array([str(label) for label in classes.tolist()])
        taken, truth = names[votes.argmax(axis=1)], names[target.codes[hard]]
        always = int(np.sum((wrong == 1) & (counts > 0)))
        suspect, unknown = _judge_labels(predictions, classes, (wrong == 1) & (counts > 0), missed)
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
    """Return the samples above an amount of error, the worst first."""
    hard = np.flatnonzero(wrong > above)
    return hard[np.argsort(-wrong[hard], kind="stable")]


def name_samples(rows: np.ndarray, index: Any, n_samples: int) -> Words:
    """Return the names of samples in an index, or their numbers."""
    if index is None:
        return rows.astype(f"U{len(str(n_samples))}")
    return [str(index[row]) for row in rows.tolist()]


def _write_apart(value: float, other: float) -> tuple[str, str]:
    """Return two numbers with four digits, or with more if these would be equal."""
    short = (write_figures(value), write_figures(other))
    return short if short[0] != short[1] else (f"{value:.9g}", f"{other:.9g}")


def _judge_labels(
    predictions: Predictions, classes: np.ndarray, always: np.ndarray, missed: np.ndarray
) -> tuple[np.ndarray, dict[str, tuple[int, int]]]:
    """Return the samples that may be mislabeled, and the classes that are mostly missed."""
    codes = predictions.target.codes
    tested = np.bincount(predictions.row, minlength=len(codes))
    always = always & (tested > 1)
    sizes = np.bincount(codes[tested > 0], minlength=len(classes))
    wrong = np.bincount(codes[always], minlength=len(classes))
    names = [name_label(name) for name in classes.tolist()]
    rows = zip(names, wrong.tolist(), sizes.tolist(), strict=True)
    unknown = {name: (n_wrong, size) for name, n_wrong, size in rows if 2 * n_wrong > size}
    suspect = always & (2 * wrong <= sizes)[codes]
    baseline = 1 - sizes.max() / sizes.sum()
    few = suspect.sum() <= MAX_SUSPECT * sizes.sum() and 2 * missed.mean() <= baseline
    return suspect & few, unknown


def make_predictions_frame(predictions: Predictions) -> DataFrame:
    """Return a row for each out-of-fold prediction."""
    target = predictions.target
    columns: dict[str, Any] = {
        "sample": predictions.row,
        "repeat": predictions.repeat,
        "fold": predictions.fold,
        "truth": target.y[predictions.row],
        "prediction": target.decode(predictions.predicted),
    }
    scores = predictions.response
    if scores is not None and target.classes is not None:
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        shown = [target.positive_code] if len(target.classes) == 2 else range(len(target.classes))
        columns |= {f"score_{target.classes.tolist()[k]}": scores[:, k] for k in shown}
    return make_frame(columns)
