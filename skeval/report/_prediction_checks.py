"""Warnings about existing predictions: copies, constant or reversed scores, rare classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skeval._inference.estimate import Results
from skeval._resampling.predictions import Predictions
from skeval.report import _findings, _predictions
from skeval.report._data_checks.duplicates import has_continuous_column
from skeval.report._parsed_predictions import ParsedPredictions
from skeval.report._sections import Caution, list_few

MIN_OF_CLASS = 10
MIN_Z = 3.3
"""Minimum correlation, in standard errors, between the errors of repeated predictions."""


def warn_of_predictions(
    parsed: ParsedPredictions,
    predictions: Predictions,
    metrics: Results,
    y_true: Any,
    at_threshold: Results | None,
) -> Iterator[Caution]:
    """Yield the warnings about predictions."""
    yield from _warn_of_units(parsed, predictions, y_true)
    yield from _warn_of_scores(parsed, predictions, metrics)
    yield from _warn_of_certainty(parsed)
    if at_threshold is not None and at_threshold["threshold"].method == "bootstrap":
        yield Caution(
            "chosen-threshold",
            "Threshold chosen on the test set: label metrics and the confusion matrix are "
            "optimistic. The table of the threshold gives corrected values.",
        )
    yield from _predictions.warn_of_metrics(metrics)
    yield from _warn_of_classes(parsed, predictions)


def _warn_of_units(
    parsed: ParsedPredictions, predictions: Predictions, y_true: Any
) -> Iterator[Caution]:
    """Warn about samples that may not be independent, and about few groups."""
    n = len(parsed.target)
    index = getattr(y_true, "index", None)
    if index is not None and not callable(index) and not index.is_unique:
        n_same = int(index.duplicated(keep=False).sum())
        yield Caution(
            "copies",
            f"Repeated index: {n_same} of {n} rows share an index value with another row. If such "
            "rows belong together, for example to one patient, the intervals are too short: pass "
            "groups=.",
        )
    elif predictions.cases.n_groups is None:
        copies = list(_warn_of_copies(parsed, predictions))
        yield from copies or _warn_of_rounds(parsed)
    yield from _predictions.warn_of_few_groups(predictions)


def _warn_of_rounds(parsed: ParsedPredictions) -> Iterator[Caution]:
    """Warn about several rounds of predictions of the same samples, one below the other."""
    n, n_samples = len(parsed.target), _find_period(parsed)
    if n_samples < n:
        yield Caution(
            "repeated",
            f"Repeated predictions: the {n} rows seem to be {n // n_samples} predictions for each "
            f"of {n_samples} samples, because the true values repeat in this order and the errors "
            "of a sample are correlated; the intervals are then too short. Pass the number of the "
            "sample as groups=, or average its predictions.",
        )


def _find_period(parsed: ParsedPredictions) -> int:
    """Return the period, in rows, of the true values and errors; `n_samples` if they do not repeat.

    The true values must repeat exactly. The errors, minus their class means, of the first period
    must be correlated with the mean of the other periods: by more than `MIN_Z` standard errors of
    the correlation of independent errors, which is possible with at least `MIN_Z ** 2` samples.
    """
    target, n = parsed.target, len(parsed.target)
    errors = _measure_errors(parsed)
    for n_samples in range(int(MIN_Z**2) + 1, n // 2 + 1):
        if n % n_samples or not np.array_equal(target.y[:-n_samples], target.y[n_samples:]):
            continue
        first, *others = errors.reshape(-1, n_samples)
        mean = np.mean(others, axis=0)
        if first.std() > 0 < mean.std():
            correlation = np.corrcoef(first, mean)[0, 1]
            if correlation * np.sqrt(n_samples) > MIN_Z:
                return n_samples
    return n


def _measure_errors(parsed: ParsedPredictions) -> np.ndarray:
    """Return the error of each sample, for classes minus the mean of its class."""
    target = parsed.target
    if target.classes is None:
        return parsed.predicted - target.y
    if parsed.response is None:
        errors = (parsed.predicted != target.codes).astype(float)
    elif parsed.response.ndim == 1:
        errors = parsed.response.astype(float)
    else:
        errors = parsed.response[np.arange(len(target)), target.codes]
    sizes = np.bincount(target.codes, minlength=1)
    means = np.bincount(target.codes, errors) / np.maximum(sizes, 1)
    return errors - means[target.codes]


def _warn_of_certainty(parsed: ParsedPredictions) -> Iterator[Caution]:
    """Warn about true classes with probability 0."""
    if parsed.kind != "probabilities" or parsed.response is None:
        return
    own = parsed.response[np.arange(len(parsed.target)), parsed.target.codes]
    n_wrong = int(np.sum(own == 0))
    if n_wrong:
        yield Caution(
            "impossible",
            f"Impossible outcomes: {n_wrong} of {len(own)} samples have a predicted probability of "
            "0 for their true class. Their log loss is infinite and was replaced by that of the "
            "smallest positive number; do not report the log loss.",
        )


def _warn_of_scores(
    parsed: ParsedPredictions, predictions: Predictions, metrics: Results
) -> Iterator[Caution]:
    """Warn about scores that are not probabilities, are constant, or are reversed."""
    if parsed.kind == "scores":
        yield from _warn_of_no_probabilities(parsed.original.astype(float), parsed.score.ndim == 1)
    if predictions.class_scores is not None and predictions.ranks_nothing.all():
        yield Caution(
            "constant-scores",
            (
                "Constant scores: all samples have the same score, so AUC and average precision "
                "are not informative."
            ),
        )
    elif parsed.kind == "numbers" and np.ptp(parsed.predicted) == 0:
        yield Caution(
            "constant-scores", "Constant predictions: all predictions are the same number."
        )
    if "roc_auc" in metrics and metrics["roc_auc"].interval.high < 0.5:
        yield Caution(
            "reversed",
            "Reversed scores: the AUC is below 0.5, so high scores indicate the other class, "
            f"not {parsed.positive}. Pass pos_label= if they are meant for that class, or "
            "reverse them.",
        )


def _warn_of_no_probabilities(scores: np.ndarray, two_classes: bool) -> Iterator[Caution]:
    """Warn about scores outside [0, 1], or rows that do not add up to 1."""
    rows = scores.reshape(len(scores), -1)
    outside = int(np.sum(((rows < 0) | (rows > 1)).any(axis=1)))
    ending = "They are used as scores; calibration, Brier score and log loss are not computed."
    if outside and two_classes:
        percent = scores.min() >= 0 and 1 < scores.max() <= 100
        remedy = " If they are percentages, divide them by 100." if percent else ""
        yield Caution(
            "no-probabilities",
            f"Not probabilities: {outside} of {len(scores)} predictions lie outside [0, 1] "
            f"({scores.min():.4g} to {scores.max():.4g}). {ending}{remedy}",
        )
    elif not outside and rows.shape[1] > 1:
        sums = rows.sum(axis=1)
        yield Caution(
            "no-probabilities",
            f"Not probabilities: predictions of a sample add up to {sums.min():.4g} to "
            f"{sums.max():.4g}, not to 1. {ending}",
        )


def _warn_of_classes(parsed: ParsedPredictions, predictions: Predictions) -> Iterator[Caution]:
    """Warn about classes never predicted, rare classes, and perfect predictions."""
    target = parsed.target
    perfect = Caution(
        "perfect",
        "Perfect predictions: every prediction is correct. Check whether the system has seen "
        "the true values, here or in its training data.",
    )
    if predictions.has_values and np.all(predictions.predicted == target.codes):
        yield perfect
    if target.classes is None:
        return
    never = _findings.list_never_predicted(predictions)
    if never:
        yield Caution(
            "never-predicted",
            f"Classes never predicted: {list_few(never, 5)}. Their precision is undefined and "
            "counts as 0 in macro averages.",
        )
    sizes = np.bincount(target.codes, minlength=len(target.classes))
    if absent := list(map(str, target.classes[sizes == 0])):
        yield Caution(
            "undefined",
            f"Classes without samples: {list_few(absent, 5)} are predicted but never true. "
            "Their recall is undefined and left out of macro averages; their F1 counts as 0.",
        )
    few = [
        f"{label} ({size})"
        for label, size in zip(target.classes, sizes, strict=True)
        if 0 < size < MIN_OF_CLASS
    ]
    if few:
        yield Caution(
            "few-samples",
            f"Rare classes: {list_few(few, 5)} have fewer than {MIN_OF_CLASS} samples. "
            "Metrics of these classes are imprecise: report them with their intervals.",
        )


SHARE_OF_COPIES = 0.05


def _warn_of_copies(parsed: ParsedPredictions, predictions: Predictions) -> Iterator[Caution]:
    """Warn about equal predictions with equal true values, unless rounding explains them."""
    if parsed.kind == "labels":
        return
    n = len(parsed.target)
    if parsed.target.n_classes == 2 and predictions.ranked is not None:
        ranked = predictions.ranked.ranked
        sizes, alike = ranked.counts, (ranked.positives == 0) | (ranked.negatives == 0)
    else:
        columns = parsed.predicted if parsed.response is None else parsed.response
        _, place, sizes = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
        place = place.reshape(-1)
        one = np.empty(len(sizes), dtype=np.intp)
        one[place] = np.arange(n)  # any sample with the same prediction
        differs = parsed.target.codes != parsed.target.codes[one[place]]
        alike = np.bincount(place, differs) == 0
    n_copies = int(sizes[(sizes > 1) & alike].sum())
    # few distinct scores, as of a small tree, and rounded scores repeat by chance
    if n_copies <= SHARE_OF_COPIES * n or 2 * len(sizes) < n:
        return
    columns = parsed.predicted if parsed.response is None else parsed.response
    if has_continuous_column(np.asarray(columns, dtype=float).reshape(n, -1)):
        yield Caution(
            "copies",
            f"Possible copies: {n_copies} of {n} samples have exactly the same prediction and "
            "true value as another one, and copies make the intervals too short. Remove copies, or "
            "pass a common group for them (groups=).",
        )
