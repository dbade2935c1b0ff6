"""Findings about the predictions: baseline, rare class, missing classes, tests against chance.

`judge` decides by one metric whether a system is better than chance. Two tests decide that: the
interval of the difference from the baseline on the same samples (for a rare class, of the metric
that replaces the error), and the permutation test. Both use a level of 5 %, whatever the level of
the intervals; a permutation test with too few permutations cannot decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from skeval._inference.estimate import Estimate, Test
from skeval._inference.paired import MAX_LEVEL
from skeval._resampling.predictions import Predictions
from skeval.metrics._regression import LOSSES, PROBABILITY_LOSSES
from skeval.metrics._table import REPORTED
from skeval.model_selection._fold_metrics import summarize_losses
from skeval.utils._text import name_label

ALPHA = 0.05
"""Level of the tests against chance."""
MAX_PERFECT, MIN_PERFECT = 0.0005, 0.999
"""Error rate that is written as 0.0 %, and share of the variance, of perfect predictions."""
RARE, UNEQUAL = 0.2, 0.5
"""A class is rare if it has less than a fifth of the samples and less than half of the largest
class."""


@dataclass(frozen=True)
class Baseline:
    """Best prediction that needs no features, and its difference from the estimator.

    Attributes
    ----------
    prediction : str
        Majority class; "the mean" or "the median"; "the class frequencies" for losses of
        probabilities; for samples in time order also "the value before" or the value one season
        before, if that is better.
    error : float
        Its mean loss.
    difference : float
        Error of the estimator minus that of the baseline, on the same samples.
    low, high : float
        Limits of the 95 % interval of the difference on new samples; nan if undefined.
    verb : str
        "always predicting", or "predicting" for an earlier value.
    """

    prediction: str
    error: float
    difference: float
    low: float
    high: float
    verb: str = "always predicting"

    def __str__(self) -> str:
        return f"{self.verb} {self.prediction}"

    @property
    def better(self) -> bool:
        """Whether the estimator is significantly better."""
        return self.high < 0

    @property
    def worse(self) -> bool:
        """Whether the estimator is significantly worse."""
        return self.low > 0


@dataclass(frozen=True)
class RareClass:
    """Rare class, with the metric that is used instead of the error.

    Attributes
    ----------
    label : str
        The class.
    share : float
        Its share of the samples.
    metric : {"roc_auc", "balanced_accuracy"}
        The area under the ROC curve if the estimator scores two classes: it does not depend on
        the threshold, which no score may reach if a class is rare.
    estimate, low, high : float
        Value of the metric and its 95 % interval.
    chance : float
        Its value if features and classes are unrelated.
    recall, precision : float
        Those of the class, nan if there are no predicted classes.
    """

    label: str
    share: float
    metric: str
    estimate: float
    low: float
    high: float
    chance: float
    recall: float = np.nan
    precision: float = np.nan

    @property
    def better(self) -> bool:
        """Whether the metric is significantly better than chance."""
        return self.low > self.chance


def find_baseline(
    predictions: Predictions,
    loss: str,
    metrics: Mapping[str, Any],
    earlier: Iterable[tuple[str, np.ndarray]] = (),
) -> Baseline | None:
    """Return the best baseline prediction for the tested samples.

    The constant is optimal for the tested samples themselves, weighted by how often each was
    tested, so it has a slight advantage over predictions made without seeing them. For samples in
    time order, each `earlier` baseline has a name and, for each prediction, the row of the target
    to predict; it is used if it is better. Custom losses, and scores without predicted labels, have
    no baseline. The squared error is below the variance if the explained share of the variance
    is above 0, so both have the interval of this share.
    """
    if not predictions.has_values:
        return None
    weight, codes = (
        predictions.look_up(predictions.weight),
        predictions.look_up(predictions.target.codes),
    )
    if loss == "zero_one" and predictions.target.classes is not None:
        largest = int(np.bincount(codes, weight).argmax())
        answer, targets = name_label(predictions.target.classes[largest]), predictions.target.codes
        losses = LOSSES[loss](codes, largest)
    elif loss in ("squared", "absolute") and np.ndim(predictions.target.y) == 1:
        targets = np.asarray(predictions.target.y, dtype=float)
        tested = predictions.look_up(targets)
        answer, center = "the mean", float(np.average(tested, weights=weight))
        if loss == "absolute":
            answer, center = "the median", find_median(tested, weight)
        losses = LOSSES[loss](tested, center)
    elif loss in PROBABILITY_LOSSES and predictions.target.classes is not None:
        shares = np.bincount(codes, weight, minlength=len(predictions.target.classes))
        answer, earlier = "the class frequencies", ()
        always = np.tile(shares / shares.sum(), (len(shares), 1))
        losses = PROBABILITY_LOSSES[loss](np.arange(len(shares)), always)[codes]
    else:
        return None
    baselines = [(answer, losses, Baseline.verb)]
    for name, before in earlier:
        baselines.append(
            (name, LOSSES[loss](predictions.look_up(targets), targets[before]), "predicting")
        )
    best = min(baselines, key=lambda row: float(weight @ row[1]))
    baseline = make_baseline(predictions, *best, limit=1.0 if loss == "zero_one" else np.inf)
    is_mean = baseline.prediction == "the mean" and "r2" in metrics
    if is_mean and np.isfinite(metrics["r2"].interval.low):
        explained = metrics["r2"].confidence_interval(1 - ALPHA)
        low, high = -baseline.error * explained.high, -baseline.error * explained.low
        return replace(baseline, low=low, high=high)
    return baseline


def make_baseline(
    predictions: Predictions,
    answer: str,
    losses: np.ndarray,
    verb: str = Baseline.verb,
    *,
    limit: float = np.inf,
) -> Baseline:
    """Return a baseline, given its losses, compared with the predictions.

    The interval of the difference is clipped to the range from ``-limit`` to `limit`.
    """
    error = float(np.average(losses, weights=predictions.look_up(predictions.weight)))
    difference, spread, degrees = summarize_losses(predictions, predictions.loss - losses)
    reach = float(stats.t.isf(ALPHA / 2, degrees)) * spread
    low, high = np.clip([difference - reach, difference + reach], -limit, limit).tolist()
    return Baseline(answer, error, difference, low, high, verb)


def find_median(values: np.ndarray, weight: np.ndarray) -> float:
    """Return the weighted median."""
    order = np.argsort(values)
    passed = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(passed, passed[-1] / 2)])


def find_rare_class(
    sizes: Mapping[Any, float] | None, metrics: Mapping[str, Any], loss: str
) -> RareClass | None:
    """Return the rarest class if it is rare, with the metric that is used instead of the error.

    `metrics` are those of out-of-fold predictions. A class without samples is not rare: a system
    may predict it, but it has no metrics.
    """
    sizes = {label: size for label, size in (sizes or {}).items() if size > 0}
    if len(sizes) < 2 or loss != "zero_one":
        return None
    label, smallest = min(sizes.items(), key=lambda item: item[1])
    share = smallest / sum(sizes.values())
    if share >= RARE or smallest >= UNEQUAL * max(sizes.values()):
        return None
    name, chance = choose_chance_metric(metrics, len(sizes))
    if not name:
        return None
    value, interval = metrics[name].value, metrics[name].confidence_interval(1 - ALPHA)
    recall, precision = (
        metrics[key].value if (key := f"{part}, {label}") in metrics else np.nan
        for part in ("recall", "precision")
    )
    return RareClass(
        name_label(label),
        share,
        name,
        value,
        interval.low,
        interval.high,
        chance,
        recall,
        precision,
    )


def choose_chance_metric(metrics: Mapping[str, Any], n_classes: int) -> tuple[str, float]:
    """Return the metric that detects a relation where the error rate may not, and its chance value.

    It is the area under the ROC curve or, if it is undefined or has no interval because the scores
    are constant, the balanced accuracy; "" if both are undefined.
    """
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


def judge_permutation(test: Test | None) -> tuple[str, str]:
    """Return the result of a permutation test at 5 %, and its P-value as text.

    It is "shown" or "denied" if the Monte Carlo interval of P lies on one side of 5 %, "powerless"
    if even the smallest possible P is above it.
    """
    if test is None:
        return "", ""
    n = test.n_resamples
    smallest = 1 / (1 + n)
    if smallest > ALPHA and not test.stopped:
        return "powerless", f"with {n} permutations the smallest possible P is {smallest:.2g}"
    interval = test.confidence_interval(1 - ALPHA)
    counted = f"P = {test.pvalue:.2g} from {n} permutations"
    if test.pvalue <= ALPHA and interval.high <= ALPHA:
        return "shown", counted
    return "denied" if test.pvalue > ALPHA and interval.low > ALPHA else "undecided", counted


def is_above_zero(estimate: Estimate) -> bool:
    """Whether a value is significantly above 0, at 95 % or more."""
    level = max(estimate.confidence_level, 1 - MAX_LEVEL)
    if np.isnan(estimate.interval.low):
        return False
    return estimate.confidence_interval(level).low > 0


class Judgment(NamedTuple):
    """Whether a system is better than the baseline, by the one metric that decides.

    Attributes
    ----------
    relation : {"better", "worse", "same", "open", "untested"}
        "open" means no evidence: the interval includes the baseline.
    metric : str
        Name of the metric that decides; "" for the main estimate.
    reference : str
        What the system is compared with: "always predicting 1", "chance"; "" if nothing is.
    at : float
        The value of the metric for this reference, nan without one.
    permutation : {"", "shown", "denied", "undecided", "powerless"}
        Result of the permutation test.
    counted : str
        P-value and number of permutations as text.
    """

    relation: str
    metric: str
    reference: str
    at: float
    permutation: str = ""
    counted: str = ""

    @property
    def better(self) -> bool:
        """Whether the system is better, and not contradicted by the permutation test."""
        return self.relation == "better" and self.permutation != "denied"


def judge(report: Any) -> Judgment:
    """Return whether the predictions of a report are better than the baseline."""
    test = judge_permutation(report.results.get("permutation"))
    rare, baseline, answer = report.rare_class, report.baseline, report.answer
    if rare is not None:
        relation = _relate(rare.low, rare.high, rare.chance)
        return Judgment(relation, rare.metric, "chance", rare.chance, *test)
    if answer.name == REPORTED["roc_auc"].label:
        low, high = answer.confidence_interval(1 - ALPHA)
        return Judgment(_relate(low, high, 0.5), "", "chance", 0.5, *test)
    relation, reference, at = "untested", "", np.nan
    if baseline is not None:
        reference, at = str(baseline), baseline.error
        relation = _relate(-baseline.high, -baseline.low, 0.0)
        if baseline.low == baseline.high == 0:
            relation = "same"
    elif test[0]:
        relation = {"shown": "better", "denied": "open"}.get(test[0], "untested")
        return Judgment(relation, "", "chance", np.nan, *test)
    if relation not in ("better", "untested"):
        n_classes = sum(size > 0 for size in (report.class_sizes or {}).values())
        other, chance = find_better_metric(report.metrics, n_classes)
        if other:  # the permutation test is of the error, which does not decide
            return Judgment("better", other, "chance", chance)
    return Judgment(relation, "", reference, at, *test)


def _relate(low: float, high: float, chance: float) -> str:
    """Return the relation of an interval, in which larger is better, to the value of chance."""
    if not np.isfinite(low):
        return "untested"
    return "better" if low > chance else "worse" if high < chance else "open"
