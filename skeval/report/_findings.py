"""Findings about predictions: confusion matrix, hard samples, baseline, tests against chance.

`judge` decides by a single metric whether a model is better than chance. It uses two tests, both
at a level of 5 %, independent of the level of the intervals. One is the interval of the difference
from the baseline on the same samples (for a rare class, of the metric that replaces the error).
The other is the permutation test, which cannot decide with too few permutations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from skeval._inference.areas import rank_scores
from skeval._inference.errors import difference_limits
from skeval._inference.estimate import Estimate, Results, Test
from skeval._inference.intervals import (
    ROUNDING,
    Limits,
    clip_limits,
    normal_quantile,
    simultaneous_level,
    size_from_weights,
    wilson_limits,
)
from skeval._inference.paired import MAX_LEVEL
from skeval._resampling.inputs import Loss
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import Target
from skeval.metrics import calibration_measures, net_benefit
from skeval.metrics._regression import LOSSES, PROBABILITY_LOSSES
from skeval.metrics._table import BETWEEN, REPORTED
from skeval.model_selection._score_interval import read_sample
from skeval.report._report import Report
from skeval.utils._checks import ignored_warnings
from skeval.utils._text import (
    DataFrame,
    ShownAsText,
    make_frame,
    name_label,
    quote_label,
    write_figures,
)

ALPHA = 0.05
"""Level of the tests against chance."""
MAX_PERFECT, MIN_PERFECT = 0.0005, 0.999
"""Error rate that is written as 0.0 %, and fraction of the variance, of perfect predictions."""
RARE, UNEQUAL = 0.2, 0.5
"""A class is rare if it has less than a fifth of the samples and less than half of the largest
class."""


# --- predictions: confusion matrix and hard samples


@dataclass(frozen=True, eq=False)
class ConfusionRates(ShownAsText):
    """Confusion matrix with intervals of the row fractions.

    Attributes
    ----------
    labels : tuple of str
        The classes.
    counts : ndarray of shape (n_classes, n_classes)
        Samples of each class (rows) predicted as each (columns), averaged over the repeats.
    rates : ndarray of shape (n_classes, n_classes)
        Fraction of the row.
    low, high : ndarray of shape (n_classes, n_classes)
        Limits of Wilson's intervals of the rates, for the samples (or groups) of the row. With
        unequal weights, the effective number is used. The number is divided by the inflation
        factor of `error_interval` (1 for existing predictions).
    """

    labels: tuple[str, ...]
    counts: np.ndarray
    rates: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def to_frame(self) -> DataFrame:
        """Return a row for each pair of classes, which requires pandas."""
        k, matrices = len(self.labels), (self.counts, self.rates, self.low, self.high)
        pairs = {"truth": np.repeat(self.labels, k), "prediction": np.tile(self.labels, k)}
        names = "count", "rate", "low", "high"
        return make_frame(pairs | dict(zip(names, map(np.ravel, matrices), strict=True)))

    def write_cell(self, row: int, column: int) -> str:
        """Return a count, its row fraction and the interval of the fraction, on three lines."""
        low, high = 100 * self.low[row, column], 100 * self.high[row, column]
        share = f"{100 * self.rates[row, column]:.1f} %\n({low:.0f} to {high:.0f})"
        decimals = 0 if np.all(self.counts % 1 == 0) else 1  # means over repeats
        return f"{self.counts[row, column]:.{decimals}f}\n{share}"


def count_classes(target: Target, weight: np.ndarray | None = None) -> dict[Any, Any] | None:
    """Return the number or total weight of samples of each class, or None for regression."""
    if target.classes is None:
        return None
    sizes = np.bincount(target.codes, weight, minlength=len(target.classes))
    return dict(zip(target.classes.tolist(), sizes.tolist(), strict=True))


def find_positive_class(target: Target) -> Any:
    """Return the positive one of two classes."""
    names = [] if target.classes is None else target.classes.tolist()
    return names[target.positive_code] if len(names) == 2 else None


def measure_confusion(predictions: Predictions, confidence_level: float) -> ConfusionRates | None:
    """Return the confusion matrix, or None for regression or without predicted labels."""
    classes = predictions.target.classes
    if classes is None or not predictions.has_values:
        return None
    # weighted counts, averaged over the repeats, and rates in each repeat
    k, codes = len(classes), predictions.target.codes
    cell = predictions.look_up(codes) * k + predictions.predicted.astype(np.intp, copy=False)
    weight, tables = predictions.look_up(predictions.weight), []
    for part in predictions.repeats:
        tables.append(np.bincount(cell[part], weight[part], minlength=k * k).reshape(k, k))
    counts = np.mean(tables, axis=0)
    with np.errstate(invalid="ignore"):
        rates = counts / counts.sum(axis=1, keepdims=True)
        between = np.var([each / each.sum(axis=1, keepdims=True) for each in tables], axis=0)
    if (n_repeats := len(tables)) > 1:
        between *= BETWEEN * n_repeats / (n_repeats - 1)
    # effective number of samples, or groups, of each row
    n = np.full((k, 1), np.nan)
    for code in np.unique(codes):
        own = codes == code
        size: Any = own.sum()
        if predictions.cases.clustered:
            size = np.count_nonzero(np.bincount(predictions.cases.unit[own]))
        n[code] = size * size_from_weights(predictions.weight[own]) / own.sum()
    # Wilson's intervals, inflated for the training sets as the metrics of the classes are
    with np.errstate(invalid="ignore", divide="ignore"):
        inflation = 1 + between * n / (rates * (1 - rates))
    n = n / np.fmax(inflation, predictions.inflation)
    low, high = wilson_limits(rates, n, normal_quantile(confidence_level))
    return ConfusionRates(tuple(map(str, classes.tolist())), counts, rates, low, high)


Words = Sequence[str] | np.ndarray
"""One value per sample."""


@dataclass(frozen=True, eq=False)
class HardSamples(ShownAsText):
    """Samples with the worst out-of-fold predictions, the worst first.

    Attributes
    ----------
    sample : int ndarray of shape (n_hard,)
        Row number of the sample.
    name : sequence of str
        Name of the sample in the index of the data frame, or its row number.
    truth : sequence of str
        True label or value of the sample.
    prediction : sequence of str
        Most frequent prediction, or for regression the mean prediction.
    wrong : ndarray of shape (n_hard,)
        Fraction of the predictions of the sample that are wrong. With a rare class, it is the
        fraction of misranked pairs with the other class. For regression, it is the root mean
        squared residual relative to all samples. For existing probabilities, it is 1 minus the
        probability of the true class.
    always : int
        Number of samples that every model misclassified. For regression, it is the number of
        samples with residuals over three times the root mean square.
    suspect : bool ndarray of shape (n_hard,)
        Whether the label may be wrong. The sample must be misclassified in every one of at least
        two repeats. At most 5 % of all samples and half of the class may be such samples, and the
        error must be at most half of the error of the majority class. False for regression.
    """

    sample: np.ndarray
    name: Words
    truth: Words
    prediction: Words
    wrong: np.ndarray
    always: int
    suspect: np.ndarray

    def to_records(self) -> list[dict[str, Any]]:
        """Return the samples as rows of a table."""
        texts = (np.asarray(column).tolist() for column in (self.name, self.truth, self.prediction))
        columns = self.sample.tolist(), *texts, self.wrong.tolist()
        head = "sample", "name", "truth", "prediction", "wrong"
        return [dict(zip(head, row, strict=True)) for row in zip(*columns, strict=True)]

    def to_frame(self) -> DataFrame:
        """Return a data frame of the samples that are ever misclassified. Requires pandas."""
        return make_frame(self.to_records())


MAX_SUSPECT = 0.05
"""Labels are suspected if at most this fraction of the samples is always misclassified."""
FAR = 3.0
"""Smallest residual, relative to the root mean square, of a sample that counts as always wrong."""


def find_hard_samples(
    predictions: Predictions, index: Any, rare: RareClass | None, threshold: float | None
) -> HardSamples:
    """Return the samples that are ever predicted wrongly, the worst first.

    Existing predictions with scores are sorted by the distance from the threshold, or by that of
    the score of the true class from the highest one. For data with a rare class, if the area under
    the ROC curve decides, out-of-fold samples are included if they are ranked on the wrong side of
    most samples of the other class.
    """
    n, target, row = len(predictions.target), predictions.target, predictions.row
    counts = np.bincount(row, minlength=n)
    times = np.maximum(counts, 1)
    # numbers: the largest residuals
    if target.classes is None:
        residual = predictions.look_up(target.y).astype(float) - predictions.predicted
        squares = np.bincount(row, residual**2, minlength=n) / times
        wrong = np.sqrt(squares / (np.mean(squares[counts > 0]) or 1.0))
        hard = np.flatnonzero(wrong > FAR)
        hard = hard[np.argsort(-wrong[hard], kind="stable")]
        means = np.bincount(row, predictions.predicted, minlength=n) / times
        names, suspect = name_samples(hard, index, n), np.zeros(len(hard), dtype=bool)
        pairs = zip(target.y[hard].astype(float).tolist(), means[hard].tolist(), strict=True)
        truth, taken = np.array([_write_apart(*pair) for pair in pairs], str).reshape(-1, 2).T
        return HardSamples(hard, names, truth, taken, wrong[hard], len(hard), suspect)
    # classes: the fraction of wrong predictions
    missed = np.zeros(len(row), dtype=bool)
    if predictions.has_values:
        missed = predictions.predicted != predictions.look_up(target.codes)
    wrong = np.bincount(row, missed, minlength=n) / times
    always, hard = wrong == 1, np.flatnonzero(wrong)
    hard = hard[np.argsort(-wrong[hard], kind="stable")]
    suspect, scores = _suspect_labels(predictions, always, missed), predictions.class_scores
    # existing scores are sorted by how far they are on the wrong side
    if predictions.n_fits == 0 and scores is not None:
        own = scores[hard, target.codes[hard]]
        if predictions.probabilities is not None:
            wrong[hard] = 1 - own
        beyond = scores[hard].max(axis=1) - own
        if threshold is not None:
            beyond = np.abs(scores[hard, target.positive_code] - threshold)
        hard = hard[np.argsort(-beyond, kind="stable")]
    # the most frequent wrong prediction
    place, votes = np.zeros(n, dtype=np.intp), np.zeros((len(hard), len(target.classes)))
    place[hard] = np.arange(len(hard))
    np.add.at(votes, (place[row[missed]], predictions.predicted[missed].astype(np.intp)), 1)
    labels, taken = np.array([*map(str, target.classes.tolist())]), votes.argmax(axis=1)
    # with a rare class, samples on the wrong side of most samples of the other class
    if is_ranked(predictions, rare):
        wrong, suspect = find_misranked(predictions), np.zeros(n, dtype=bool)
        hard = np.flatnonzero(wrong > 0.5)
        hard = hard[np.argsort(-wrong[hard], kind="stable")]
        always, taken = wrong > 0.5, 1 - target.codes[hard]
    return HardSamples(
        sample=hard,
        name=name_samples(hard, index, n),
        truth=labels[target.codes[hard]],
        prediction=labels[taken],
        wrong=wrong[hard],
        always=int(always.sum()),
        suspect=suspect[hard],
    )


def is_ranked(predictions: Predictions, rare: RareClass | None) -> bool:
    """Whether the worst samples are the misranked ones, as a rare class requires."""
    two = predictions.n_fits > 0 and predictions.target.n_classes == 2
    return two and rare is not None and rare.metric == "roc_auc"


def find_misranked(predictions: Predictions) -> np.ndarray:
    """Return the fraction of pairs with the other class in which each sample is misranked."""
    n, target, row = len(predictions.target), predictions.target, predictions.row
    positive = predictions.look_up(target.codes) == target.positive_code
    score = np.asarray(predictions.class_scores)[:, target.positive_code]
    wins, pairs = np.zeros(n), np.zeros(n)
    # scores of different fits are not comparable, so pairs are within a test set
    for fit in range(predictions.n_fits):
        part = predictions.fit == fit
        ranked = rank_scores(positive[part], score[part])
        wins[row[part]] += ranked.find_wins(positive[part])
        pairs[row[part]] += np.where(positive[part], *ranked.totals[::-1])
    return np.asarray(np.where(pairs > 0, 1 - wins / np.maximum(pairs, 1), 0))


def name_samples(rows: np.ndarray, index: Any, n_samples: int) -> Words:
    """Return the names of samples in an index, or their row numbers."""
    if index is None:
        return rows.astype(f"U{len(str(n_samples))}")
    return [str(index[row]) for row in rows.tolist()]


def _write_apart(value: float, other: float) -> tuple[str, str]:
    """Return two numbers with four digits, or with more if these would be equal."""
    short = (write_figures(value), write_figures(other))
    return short if short[0] != short[1] else (f"{value:.9g}", f"{other:.9g}")


def _suspect_labels(predictions: Predictions, always: np.ndarray, missed: np.ndarray) -> np.ndarray:
    """Return the samples that may be mislabeled, in classes that are mostly right."""
    codes = predictions.target.codes
    # samples that are wrong in each of several repeats, by class
    tested = np.bincount(predictions.row, minlength=len(codes))
    always = always & (tested > 1)
    sizes = np.bincount(codes[tested > 0], minlength=predictions.target.n_classes)
    wrong = np.bincount(codes[always], minlength=len(sizes))
    suspect = always & (2 * wrong <= sizes)[codes]
    # suspects must be few, and the error at most half of that of the majority class
    baseline = 1 - sizes.max() / sizes.sum()
    few = suspect.sum() <= MAX_SUSPECT * sizes.sum() and 2 * missed.mean() <= baseline
    return np.asarray(suspect & few)


# --- baseline and rare class


@dataclass(frozen=True)
class Baseline:
    """Best prediction that needs no features, and its difference from the estimator.

    Attributes
    ----------
    prediction : str
        Majority class, "the mean" or "the median", or "the class frequencies" for losses of
        probabilities. For samples in time order, it may be "the naive forecast", if that is better.
    error : float
        Mean loss of the baseline.
    difference : float
        Error of the estimator minus the error of the baseline, on the same samples.
    low, high : float
        Limits of the 95 % interval of the difference on new samples, or nan if undefined.
    verb : str
        "always predicting", or "predicting with" for a naive forecast.
    """

    prediction: str
    error: float
    difference: float
    low: float
    high: float
    verb: str = "always predicting"

    def __str__(self) -> str:
        is_class = not self.prediction.startswith("the ")  # not "the mean"
        return f"{self.verb} {quote_label(self.prediction) if is_class else self.prediction}"

    @property
    def relation(self) -> str:
        """Result of the comparison with the baseline, as in `Judgment`."""
        if self.low == self.high == 0:
            return "same"
        return _relate(-self.high, -self.low, 0.0)

    @property
    def better(self) -> bool:
        """Whether the estimator is significantly better than the baseline."""
        return self.relation == "better"


@dataclass(frozen=True)
class RareClass:
    """Rare class, with the metric that is used instead of the error.

    Attributes
    ----------
    label : str
        Name of the class.
    share : float
        Fraction of samples in the class.
    metric : {"roc_auc", "balanced_accuracy"}
        The area under the ROC curve if the estimator scores two classes. It does not depend on the
        threshold, which no score may reach if a class is rare.
    chance : float
        Value of the metric if features and classes are unrelated.
    """

    label: str
    share: float
    metric: str
    chance: float


def find_baseline(
    predictions: Predictions,
    loss: Loss | str,
    answer: Estimate,
    earlier: Iterable[tuple[str, np.ndarray]] = (),
) -> Baseline | None:
    """Return the best baseline for the tested samples, and the difference from `answer`.

    The constant is optimal for the tested samples themselves, weighted by how often each was
    tested, so it has a slight advantage over predictions made without seeing them. The mean of a
    numeric target has no such advantage, because it is the mean of the samples that a fit does not
    test. For samples in time order, `earlier` contains naive forecasts. Each has a name and, for
    each prediction, the row whose target is predicted. The best of them is used if it is better
    than the constant. Custom losses, and scores without predicted labels, have no baseline.
    """
    if not predictions.has_values:
        return None
    target, name = predictions.target, loss if isinstance(loss, str) else loss.name
    weight, codes = predictions.look_up(predictions.weight), predictions.look_up(target.codes)
    # the best constant of each output
    if target.outputs and not isinstance(loss, str) and name in CONSTANTS:
        find = find_median if name == "absolute" else np.average
        center = [find(column, weights=weight) for column in codes.T]
        if name in ("hamming", "zero_one"):
            center = [np.argmax(np.bincount(column, weight)) for column in codes.T]
        always = np.broadcast_to(np.asarray(center), codes.shape)
        return make_baseline(predictions, CONSTANTS[name], loss(codes, always), "predicting")
    # the best constant for this loss
    if name == "zero_one" and target.classes is not None:
        largest = int(np.bincount(codes, weight).argmax())
        constant, targets = name_label(target.classes[largest]), target.codes
        losses = LOSSES[name](codes, largest)
    elif name in ("squared", "absolute") and target.y.ndim == 1:
        targets, sample = np.asarray(target.y, dtype=float), read_sample(predictions)
        tested = predictions.look_up(targets)
        constant, middle = "the mean", sample.find_means()
        if name == "absolute":
            constant, middle = "the median", np.full(len(tested), find_median(tested, weight))
        losses = LOSSES[name](tested, middle)
    elif name in PROBABILITY_LOSSES and target.classes is not None:
        shares = np.bincount(codes, weight, minlength=len(target.classes))
        constant, earlier = "the class frequencies", ()
        always = np.tile(shares / shares.sum(), (len(shares), 1))
        losses = PROBABILITY_LOSSES[name](np.arange(len(shares)), always)[codes]
    else:
        return None
    # an earlier value, if it is better
    baselines = [(constant, losses, Baseline.verb)]
    for before_name, before in earlier:
        before_losses = LOSSES[name](predictions.look_up(targets), targets[before])
        baselines.append((before_name, before_losses, "predicting with"))
    # the difference from the best of them
    best = min(baselines, key=lambda row: float(weight @ row[1]))
    spread = sample.measure_spread(middle) if best[0] == "the mean" else (np.inf, 0.0)
    # error rates differ by at most 1
    limit = 1.0 if name == "zero_one" else np.inf
    # the constant was chosen on these samples, so the level is adjusted
    chosen = target.classes is not None and best is baselines[0]
    level = simultaneous_level(1 - ALPHA, target.n_classes if chosen else 1)
    baseline = make_baseline(predictions, *best, limit=limit, spread=spread, level=level)
    return compare_within_classes(predictions, baseline, answer) if chosen else baseline


CONSTANTS = {
    "hamming": "the most frequent value of each label",
    "zero_one": "the most frequent value of each label",
    "squared": "the mean of each output",
    "absolute": "the median of each output",
}
"""Best constant predictions of several outputs, by loss."""


def compare_within_classes(
    predictions: Predictions, baseline: Baseline, answer: Estimate
) -> Baseline:
    """Return a constant baseline with the interval of the difference from it.

    The class frequencies of these samples determine the error of a constant, so only the losses
    within the classes vary. It is the interval for the error, shortened by the fraction of the
    standard error that is within classes. Therefore, if the interval of the error lies below the
    baseline, the interval of the difference lies below 0. Error rates within classes have Agresti
    and Caffo's variance, with one error and one success added, because a small class may have no
    errors.

    These samples also chose the constant, so its error is larger on new samples. Therefore, if its
    error is smaller, the lower limit is not above the limit from the paired losses. Their level is
    adjusted for as many constants as classes (Bonferroni), so that a model trained on noise is
    rarely called worse.
    """
    losses, n_classes = predictions.loss, predictions.target.n_classes
    codes = predictions.look_up(predictions.target.codes)
    weight = predictions.look_up(predictions.weight)
    # standard errors of the losses, and of their deviations from the means of the classes
    sizes = np.bincount(codes, weight, n_classes)
    means = np.bincount(codes, weight * losses, n_classes) / np.where(sizes > 0, sizes, 1)
    sample = read_sample(predictions)
    _, whole, _ = sample.average(losses, ())
    _, within, _ = sample.average(losses - means[codes], ())
    # no loss varies within its class, as for a constant prediction
    if baseline.difference == 0 and within == 0:
        return replace(baseline, low=0.0, high=0.0)
    # Agresti and Caffo's variance of an error rate in each class
    if answer.loss == "zero_one" or answer.name == "error rate":
        n = sizes * size_from_weights(predictions.weight) / sizes.sum()
        rates = (n * means + 1) / (n + 2)
        variance = np.sum((sizes / sizes.sum()) ** 2 * rates * (1 - rates) / (n + 2))
        within = max(within, float(np.sqrt(predictions.inflation * variance)))
    # the interval of the error, as seen from the baseline
    ratio = min(1.0, within / whole) if whole > 0 else 1.0
    low, high = answer.confidence_interval(1 - ALPHA)
    below, above = ratio * (answer.value - low), ratio * (high - answer.value)
    low, high = baseline.difference - below, baseline.difference + above
    # a larger error than that of a constant chosen on these samples
    low = min(low, baseline.low) if baseline.difference > 0 else low
    return replace(baseline, low=low, high=high)


def make_baseline(
    predictions: Predictions,
    answer: str,
    losses: np.ndarray,
    verb: str = Baseline.verb,
    *,
    limit: float = np.inf,
    spread: tuple[float, float] = (np.inf, 0.0),
    level: float = 1 - ALPHA,
) -> Baseline:
    """Return a baseline with these losses, compared with the predictions.

    The interval of the difference is clipped to the range from ``-limit`` to `limit`. `spread` is
    the mean squared distance of the predictions from a baseline that is the mean, and the noise of
    this distance.
    """
    # interval of the difference on the same samples, Student's t unless the spread is given
    error = float(np.average(losses, weights=predictions.look_up(predictions.weight)))
    differences = predictions.loss - losses
    # rounding errors are no differences
    differences[np.abs(differences) <= ROUNDING * error] = 0.0
    difference, deviation, degrees = read_sample(predictions).average(differences, ())
    ends = difference_limits(difference, deviation, degrees, spread[0], level, spread[1])
    low, high = clip_limits(ends, (-limit, limit))
    return Baseline(answer, error, difference, low, high, verb)


def find_median(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted median."""
    order = np.argsort(values)
    passed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(passed, passed[-1] / 2)])


def find_rare_class(
    sizes: Mapping[Any, float] | None, metrics: Mapping[str, Any], loss: str
) -> RareClass | None:
    """Return the rarest class if it is rare, with the metric that is used instead of the error.

    `metrics` contains the metrics of out-of-fold predictions. A class without samples is not rare.
    A model may predict it, but it has no metrics.
    """
    sizes = {label: size for label, size in (sizes or {}).items() if size > 0}
    if len(sizes) < 2 or loss != "zero_one":
        return None
    # the rarest class
    label, smallest = min(sizes.items(), key=lambda item: item[1])
    share = smallest / sum(sizes.values())
    if share >= RARE or smallest >= UNEQUAL * max(sizes.values()):
        return None
    # the metric that replaces the error
    name, chance = choose_chance_metric(metrics, len(sizes))
    return RareClass(name_label(label), share, name, chance) if name else None


def choose_chance_metric(metrics: Mapping[str, Any], n_classes: int) -> tuple[str, float]:
    """Return a metric for relations that the error rate may miss, and its value by chance.

    The metric is the area under the ROC curve. It is the balanced accuracy if the area is
    undefined or has no interval because the scores are constant. It is "" if both are undefined.
    """
    # metrics with an interval are preferred
    candidates = {"roc_auc": 0.5, "balanced_accuracy": 1 / n_classes}
    defined = [name for name in candidates if name in metrics and np.isfinite(metrics[name].value)]
    bounded = [name for name in defined if np.isfinite(metrics[name].interval.low)]
    name = next(iter(bounded or defined), "")
    return name, candidates.get(name, np.nan)


def find_better_metric(
    metrics: Mapping[str, Any], n_classes: int, level: float = 1 - ALPHA / 2
) -> tuple[str, float]:
    """Return the metric of `choose_chance_metric` if it is significantly above chance, or "".

    It is the second metric that is tested, after the error, so its level is stricter.
    """
    if n_classes < 2:
        return "", np.nan
    name, chance = choose_chance_metric(metrics, n_classes)
    if name and metrics[name].confidence_interval(level).low > chance:
        return name, chance
    return "", np.nan


def list_never_predicted(predictions: Predictions) -> tuple[str, ...]:
    """Return the classes that are never predicted in any repeat."""
    classes = predictions.target.classes
    if classes is None or not predictions.has_values:
        return ()
    times = np.bincount(predictions.predicted.astype(np.intp, copy=False), minlength=len(classes))
    return tuple(name_label(classes[code]) for code in np.flatnonzero(times == 0))


def is_perfect(predictions: Predictions, metrics: Mapping[str, Any]) -> bool:
    """Whether the error is 0.0 %, or nearly all of the variance is explained."""
    if not predictions.has_values or np.ndim(predictions.target.codes) > 1:
        return False
    if predictions.target.classes is None:
        return "r2" in metrics and metrics["r2"].value > MIN_PERFECT
    wrong = predictions.predicted != predictions.look_up(predictions.target.codes)
    return bool(wrong.mean() < MAX_PERFECT)


def count_mixed_groups(predictions: Predictions) -> int:
    """Return the number of groups with several labels."""
    labels = np.unique(predictions.target.codes, axis=0, return_inverse=True)[1].reshape(-1)
    pairs = np.unique(np.column_stack([predictions.cases.unit, labels]), axis=0)
    return int(np.sum(np.bincount(pairs[:, 0]) > 1))


def judge_permutation(test: Test | None) -> tuple[str, str]:
    """Return the result of a permutation test at 5 %, and its P-value as text.

    The result is "shown" or "denied" if the test stopped, because more permutations would not
    change the decision, or if the Monte Carlo interval of P lies on one side of 5 %. It is
    "powerless" if even the smallest possible P is above 5 %.
    """
    if test is None:
        return "", ""
    n, interval = test.n_resamples, test.confidence_interval(1 - ALPHA)
    counted = f"P = {test.pvalue:.2g} from {n} permutations"
    if test.stopped and test.pvalue > ALPHA:  # its value is imprecise
        counted = f"P > {ALPHA:g}, stopped early"
    if test.stopped or not interval.low <= ALPHA < interval.high:
        return "shown" if test.pvalue <= ALPHA else "denied", counted
    # the smallest P that this many permutations can give
    smallest = 1 / (1 + n)
    if smallest > ALPHA:
        return "powerless", f"with {n} permutations the smallest possible P is {smallest:.2g}"
    return "undecided", counted


def is_above_zero(estimate: Estimate) -> bool:
    """Whether a value is significantly above 0, at 95 % or more."""
    level = max(estimate.confidence_level, 1 - MAX_LEVEL)
    if np.isnan(estimate.interval.low):
        return False
    return estimate.confidence_interval(level).low > 0


def read_once(
    predictions: Predictions, level: float
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return a mask of one prediction of each sample, its labels, and the options of curves."""
    target, group = predictions.target, predictions.group
    # repeats predict the same samples again, which curves would count as new ones
    once = predictions.repeat == 0
    weight = predictions.weight[predictions.row[once]]
    options = {
        "confidence_level": level,
        "groups": None if group is None else group[once],
        "sample_weight": weight if np.ptp(weight) else None,
    }
    if target.classes is not None and len(target.classes) == 2:
        options["pos_label"] = target.classes[target.positive_code]
    return once, target.y[predictions.row[once]], options


def measure_probabilities(
    predictions: Predictions, level: float, seed: int, threshold: float | None
) -> dict[str, Results | None]:
    """Return the calibration measures and the net benefit of probabilities of two classes.

    The net benefit is that at the prevalence, at 0.5, and at a threshold that was passed.

    Each sample counts once, with its prediction in the first repeat. Variation from retraining is
    not included.
    """
    target, shares = predictions.target, predictions.probabilities
    undefined = predictions.ranked is None or predictions.cases.n_units < 2
    if shares is None or target.n_classes != 2 or target.outputs or undefined:
        return {"calibration": None, "net_benefit": None}
    # one probability of the positive class for each sample
    once, true, options = read_once(predictions, level)
    chance, positive = shares[once, target.positive_code], true == options["pos_label"]
    prevalence = float(np.average(positive, weights=options["sample_weight"]))
    cuts = {f"{prevalence:.3g}": prevalence, "0.5": 0.5}
    if threshold is not None and 0 < threshold < 1:
        cuts[f"{threshold:g}"] = threshold
    find_curve = partial(net_benefit, true, chance, thresholds=[*cuts.values()], **options)
    with ignored_warnings(UserWarning):  # of probabilities of 0 and 1, and of few groups
        measures = calibration_measures(true, chance, random_state=seed, **options)
        curve, benefits = find_curve(), {}
        # each net benefit has the interval of its point of the curve
        for place, (text, value) in enumerate(zip(cuts, curve.y, strict=True)):
            name = f"net benefit at {text}"
            benefits[name] = Estimate(
                name=name,
                value=_round_off(value),
                standard_error=np.nan,
                method=curve.method,
                limits={curve.method: partial(find_limits, find_curve, place)},
                n_samples=len(true),
                confidence_level=level,
                allow_point=True,
            )
    # a value such as 1e-17 is the rounding error of 0
    rounded = {name: replace(one, value=_round_off(one.value)) for name, one in measures.items()}
    return {"calibration": Results(rounded), "net_benefit": Results(benefits)}


def find_limits(find_curve: Callable[..., Any], place: int, confidence_level: float) -> Limits:
    """Return the limits of a point of a curve."""
    curve = find_curve(confidence_level=confidence_level)
    return _round_off(curve.low[place]), _round_off(curve.high[place])


def _round_off(value: float) -> float:
    """Return a difference of rates, 0 if it is due to rounding alone."""
    return round(float(value), 12) + 0.0


MISCALIBRATED = 0.98
"""Level of the intervals of two measures. Together, they exclude the best values of calibrated
probabilities in at most 5 % of the data sets."""
BEST_MEASURES = {
    "slope": (1.0, "too extreme", "not extreme enough"),
    "in_the_large": (0.0, "too high on average", "too low on average"),
}
"""Value of calibrated probabilities, and the meaning of smaller and of larger values."""


def find_miscalibration(measures: Results, level: float = MISCALIBRATED) -> dict[str, str]:
    """Return what is wrong with probabilities, by the intervals of two measures at this level."""
    problems = {}
    for name, (best, below, above) in BEST_MEASURES.items():
        if np.isnan(measures[name].interval.low):
            continue
        low, high = measures[name].confidence_interval(level)
        # events are rarer where they are predicted to be more frequent
        if name == "slope" and high < 0:
            problems[name] = "reversed"
        elif high < best or low > best:
            problems[name] = below if high < best else above
    return problems


def summarize(
    predictions: Predictions,
    answer: Estimate,
    metrics: Results,
    loss: Loss | str,
    names: Any,
    seed: int,
    earlier: Iterable[tuple[str, np.ndarray]] = (),
    threshold: float | None = None,
    *,
    is_chosen: bool = False,
) -> dict[str, Any]:
    """Return the results that every report computes from its predictions.

    `names` is the index of the samples, and `earlier` contains naive forecasts.
    `is_chosen` means that the threshold was chosen on these samples.
    """
    target, level = predictions.target, answer.confidence_level
    sizes = count_classes(target, predictions.weight) if predictions.has_values else None
    # a rare class changes the order of the worst samples
    rare = find_rare_class(sizes, metrics, loss if isinstance(loss, str) else loss.name)
    return {
        "answer": answer,
        "out_of_fold": predictions,
        "metrics": metrics,
        # a threshold chosen on these samples would have an optimistic net benefit
        **measure_probabilities(predictions, level, seed, None if is_chosen else threshold),
        "confusion": measure_confusion(predictions, level),
        "hard_samples": None
        if target.outputs
        else find_hard_samples(predictions, names, rare, threshold),
        "baseline": find_baseline(predictions, loss, answer, earlier),
        "rare_class": rare,
        "never_predicted": list_never_predicted(predictions),
        "class_sizes": count_classes(target),
        "n_samples": len(target),
        "n_groups": predictions.cases.n_groups,
        "confidence_level": float(level),
        "seed": seed,
    }


class Judgment(NamedTuple):
    """Whether a model is better than a reference, by the one metric that decides.

    Attributes
    ----------
    relation : {"better", "worse", "same", "open", "untested"}
        "open" means no evidence, because the interval includes the reference.
    metric : str
        Name of the metric that decides, or "" for the main estimate.
    reference : str
        Reference of the comparison, such as "always predicting 1", "chance" or "shuffled labels".
        It is "" without a comparison.
    at : float
        Value of the metric for the reference, or nan without one.
    permutation : {"", "shown", "denied", "undecided", "powerless"}
        Result of the permutation test.
    counted : str
        P-value and number of permutations as text.
    against : str
        Relation of the main estimate to the baseline, if another metric decides.
    """

    relation: str
    metric: str
    reference: str
    at: float
    permutation: str = ""
    counted: str = ""
    against: str = ""

    @property
    def better(self) -> bool:
        """Whether the model is better."""
        return self.relation == "better"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ScoredReport(Report):
    """Report of scored predictions, out of fold or existing ones."""

    answer: Estimate
    n_groups: int | None
    class_sizes: dict[Any, Any] | None
    confidence_level: float
    loss: str = field(repr=False)
    positive: Any
    baseline: Baseline | None
    rare_class: RareClass | None = None
    never_predicted: tuple[str, ...]
    metrics: Results
    calibration: Results | None = None
    net_benefit: Results | None = None
    confusion: ConfusionRates | None = None
    subgroups: Results | None
    less_the_rest: Mapping[Any, Estimate] | None
    hard_samples: HardSamples | None = None
    out_of_fold: Predictions = field(repr=False)
    permutation: Test | None = field(default=None, repr=False)
    selection_bias: Estimate | None = field(default=None, repr=False)


def judge(report: ScoredReport, deciding: str | None = None) -> Judgment:
    """Return whether the predictions of a report are better than the baseline.

    `deciding` is the metric that orders several models, or "" for the main estimate. No second
    metric replaces it. Only areas under ROC curves and balanced accuracies have a value by chance.
    """
    test = judge_permutation(report.permutation)
    rare, baseline, answer = report.rare_class, report.baseline, report.answer
    n_classes = sum(size > 0 for size in (report.class_sizes or {}).values())
    # the metric that ranks the models, or that of a rare class; an AUC of 1/2 is chance
    metric = deciding if deciding is not None else "" if rare is None else rare.metric
    if metric:
        at = {"roc_auc": 0.5, "balanced_accuracy": 1 / max(1, n_classes)}.get(metric)
        if at is None:
            return Judgment("untested", metric, "", np.nan)
        relation = _relate_metric(report, report.metrics[metric], at)
        finding = Judgment(relation, metric, "chance", at, *test)
    elif answer.name == REPORTED["roc_auc"].label:
        relation = _relate_metric(report, answer, 0.5)
        finding = Judgment(relation, "", "chance", 0.5, *test)
    # losses are compared with the baseline or, without one, by the permutation test
    elif baseline is not None:
        finding = Judgment(baseline.relation, "", str(baseline), baseline.error, *test)
    else:
        relation = {"": "untested", "shown": "better"}.get(test[0], "open")
        return Judgment(relation, "", "shuffled labels" if test[0] else "", np.nan, *test)
    # another metric may show a relation that the loss, which the test is of, does not
    if deciding is None and rare is None and finding.relation not in ("better", "untested"):
        other, chance = find_better_metric(report.metrics, n_classes)
        if other:
            return Judgment("better", other, "chance", chance, against=finding.relation)
    # both tests must show that the model is better
    if finding.relation == "better" and finding.permutation == "denied":
        return finding._replace(relation="open", reference="shuffled labels", at=np.nan)
    return finding


def find_deciding(report: ScoredReport, deciding: str = "") -> tuple[str, Estimate]:
    """Return the name of the metric that decides, and its estimate.

    It is the metric `deciding` of several models, the metric for a rare class, or the main
    estimate, whose name is the root of a mean squared error.
    """
    rare, answer = report.rare_class, report.answer
    name = deciding or (rare.metric if rare is not None else "")
    if name and name in report.metrics:
        metric = name.removeprefix("neg_")
        return REPORTED[metric].label if metric in REPORTED else metric, report.metrics[name]
    return "root mean squared error" if answer.loss == "squared" else answer.name, answer


def _relate_metric(report: ScoredReport, metric: Estimate, chance: float) -> str:
    """Return the relation of a metric to its value by chance. Larger is better.

    A model trained on noise is below chance on average, because a held-out sample is missing in
    its training set. Out-of-fold predictions are therefore never called worse.
    """
    low, high = metric.confidence_interval(1 - ALPHA)
    relation = _relate(low, high, chance)
    return "open" if relation == "worse" and report.out_of_fold.n_fits else relation


def _relate(low: float, high: float, chance: float) -> str:
    """Return the relation of an interval to the value by chance. Larger is better."""
    if not np.isfinite(low):
        return "untested"
    return "better" if low > chance else "worse" if high < chance else "open"
