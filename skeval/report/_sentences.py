"""Sentences of a report: the verdict first, then its parts.

A verdict has up to four parts. It begins with "Do not quote" if a check found a grave problem. Next
come the error with its interval and, because the error means little by itself, the error of the
baseline. The last part states whether the model is better than chance.

Two tests decide that: the interval of the difference from the baseline on the same samples (for a
rare class, of the metric that replaces the error), and the permutation test. Both are read at 5 %,
whatever the level of the intervals; a permutation test with too few permutations cannot decide. The
model is "better than chance" if the interval shows it and the permutation test does not contradict
it; if they disagree, the sentence states both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from skeval._inference.estimate import (
    ErrorEstimate,
    Estimate,
    PermutationTest,
    PerturbationEstimate,
)
from skeval._inference.intervals import normal_quantile
from skeval._inference.paired import MAX_LEVEL
from skeval._resampling.predictions import Predictions
from skeval.feature_selection import SelectionBias, SelectionStability
from skeval.metrics._regression import LOSSES, PROBABILITY_LOSSES
from skeval.metrics._table import REPORTED
from skeval.model_selection._fold_metrics import summarize_losses
from skeval.model_selection._tuning import TuningOptimism
from skeval.report._exports import describe_exchange
from skeval.report._predictions import HardSamples
from skeval.report._sections import Caution, forbid_quoting, list_few, list_grave, write_gravest
from skeval.utils._text import count, mean_loss_name, name_label, write_estimate, write_number

ALPHA = 0.05
"""Level of the tests against chance."""
RARE, UNEQUAL = 0.2, 0.5
"""A class is rare if it has less than a fifth of the samples and less than half of the largest
class."""
MAX_LISTED, MAX_SAMPLES_LISTED = 3, 5
"""Maximum number of classes, and of samples, in a sentence."""


def name_metric(metric: str) -> str:
    """Return the display name of a metric."""
    return REPORTED[metric].label if metric in REPORTED else metric


@dataclass(frozen=True)
class Guess:
    """Best prediction that needs no features, and its difference from the estimator.

    Attributes
    ----------
    answer : str
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

    answer: str
    error: float
    difference: float
    low: float
    high: float
    verb: str = "always predicting"

    def __str__(self) -> str:
        return f"{self.verb} {self.answer}"

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
    """

    label: str
    share: float
    metric: str
    estimate: float
    low: float
    high: float
    chance: float

    @property
    def better(self) -> bool:
        """Whether the metric is significantly better than chance."""
        return self.low > self.chance


def find_guess(
    predictions: Predictions, loss: str, earlier: Iterable[tuple[str, np.ndarray]] = ()
) -> Guess | None:
    """Return the best baseline prediction for the tested samples.

    A constant prediction is optimal for all tested samples, weighted by how often each was tested,
    so it is slightly better than any rule that does not see them. For samples in time order, each
    `earlier` baseline has a name and, for each prediction, the row of the target to predict; it is
    used if it is better. Custom losses have no baseline.
    """
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
        answer, centre = "the mean", float(np.average(tested, weights=weight))
        if loss == "absolute":
            answer, centre = "the median", _find_median(tested, weight)
        losses = LOSSES[loss](tested, centre)
    elif loss in PROBABILITY_LOSSES and predictions.target.classes is not None:
        shares = np.bincount(codes, weight, minlength=len(predictions.target.classes))
        answer, earlier = "the class frequencies", ()
        always = np.tile(shares / shares.sum(), (len(shares), 1))
        losses = PROBABILITY_LOSSES[loss](np.arange(len(shares)), always)[codes]
    else:
        return None
    guesses = [(answer, losses, Guess.verb)]
    for name, before in earlier:
        guesses.append(
            (name, LOSSES[loss](predictions.look_up(targets), targets[before]), "predicting")
        )
    return make_guess(predictions, *min(guesses, key=lambda guess: float(weight @ guess[1])))


def make_guess(
    predictions: Predictions, answer: str, losses: np.ndarray, verb: str = Guess.verb
) -> Guess:
    """Return the baseline with these losses, compared with the predictions."""
    error = float(np.average(losses, weights=predictions.look_up(predictions.weight)))
    difference, spread, degrees = summarize_losses(predictions, predictions.loss - losses)
    reach = float(stats.t.isf(ALPHA / 2, degrees)) * spread
    return Guess(answer, error, difference, difference - reach, difference + reach, verb)


def _find_median(values: np.ndarray, weight: np.ndarray) -> float:
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
    for name, chance in (("roc_auc", 0.5), ("balanced_accuracy", 1 / len(sizes))):
        if name in metrics and np.isfinite(metrics[name].value):
            one = metrics[name]
            interval = one.confidence_interval(1 - ALPHA)
            low, high = interval.low, interval.high
            return RareClass(name_label(label), share, name, one.value, low, high, chance)
    return None


def find_unanswered(predictions: Predictions) -> tuple[str, ...]:
    """Return the classes that are never predicted in any repeat."""
    classes = predictions.target.classes
    if classes is None:
        return ()
    times = np.bincount(predictions.predicted.astype(np.intp, copy=False), minlength=len(classes))
    return tuple(name_label(classes[code]) for code in np.flatnonzero(times == 0))


def write_verdict(report: Any) -> str:
    """Return the verdict: grave warnings, the error with its interval, baseline and chance."""
    grave = forbid_quoting(report.warnings)
    chance = write_chance(report.guess, report.rare, report.permutation)
    if grave and chance:
        chance = "With this problem we cannot say whether the model beats chance."
    explained = report.main_metrics["r2"].value if "r2" in report.main_metrics else None
    beside = report.guess, report.unanswered, explained, report.selection_bias
    return " ".join(filter(None, [grave, write_error(report.answer, *beside), chance]))


def write_headline(
    amount: str,
    loss: str,
    *,
    warnings: Iterable[Caution] = (),
    guess: Guess | None = None,
    rare: RareClass | None = None,
    unanswered: tuple[str, ...] = (),
    permutation: PermutationTest | None = None,
) -> str:
    """Return the error and the most important finding in one sentence.

    The `amount` is the error with its interval. Disagreement of the tests is left to the verdict.
    """
    if grave := list_grave(warnings):
        quoted = amount.removeprefix("Estimated ").replace(" on new samples:", " of")
        return f"Do not quote the {quoted}: {write_gravest(grave)}."
    never = f", and it never predicts {list_few(unanswered, MAX_LISTED)}" if unanswered else ""
    read, counted = _read_permutation(permutation)
    if rare is not None:
        ends = f" (95 % CI {rare.low:.2f} to {rare.high:.2f})" * bool(np.isfinite(rare.low))
        text = f"{name_metric(rare.metric)} {rare.estimate:.2f}{ends} with the rare class"
        shown = "better than chance" if rare.better else "no evidence that it beats chance"
        if rare.better and read == "denied":
            shown = "no evidence that it beats shuffled labels"
        text = f"{text[0].upper()}{text[1:]} {rare.label}: {shown} ({rare.chance:.2g})"
        return f"{text}{never}."
    if guess is None or not np.isfinite(guess.low):
        shown = {
            "shown": ": better than chance",
            "denied": ": no evidence that it beats chance",
            "undecided": ": whether it beats chance is undecided",
        }.get(read, "")
        return f"{amount}{shown}{never}."
    shown = "better than" if guess.better else "no evidence that it beats"
    shown = "worse than" if guess.worse else shown
    if guess.better and read == "denied":
        shown = f"no evidence that it beats shuffled labels ({counted}), only that it beats"
    return f"{amount}: {shown} {guess} ({write_amount(guess.error, loss)}){never}."


def write_error(
    quoted: ErrorEstimate,
    guess: Guess | None,
    unanswered: tuple[str, ...] = (),
    explained: float | None = None,
    selection_bias: SelectionBias | None = None,
) -> str:
    """Return the error with its baseline, as sentences; squared errors by their root."""
    loss = quoted.loss
    sentences = [write_answer(quoted) + (f"; R2 {explained:.2f}" if explained is not None else "")]
    if guess is not None:
        start = str(guess)
        amount = write_amount(guess.error, loss)
        sentences.append(f"{start[0].upper()}{start[1:]} gives {amount}")
    if unanswered:
        sentences.append(f"The model never predicts {list_few(unanswered, MAX_LISTED)}")
    if selection_bias and _is_above_zero(selection_bias):
        claimed = write_amount(selection_bias.cv1_error, "zero_one")
        sentences.append(f"Selecting features on all samples would have given {claimed}")
    return ". ".join(sentences) + "."


NO_INTERVAL: dict[str, str] = {
    "few_large_losses": "few samples carry most of it",
    "few_groups": "there are too few groups",
    "unstable_models": "models trained on other samples differ too much",
}


def write_answer(quoted: ErrorEstimate) -> str:
    """Return the error with its interval, as the start of a sentence."""
    interval, loss = quoted.interval, quoted.loss
    amount = write_amount(quoted.value, loss)
    text = f"Estimated {name_error(loss)} on new samples: {amount}"
    if quoted.n_groups == 1:
        return f"{text} (no confidence interval: errors of neighboring samples are too correlated)"
    if not np.isfinite(interval.low):
        why = NO_INTERVAL.get(quoted.no_interval, "the losses do not vary")
        return f"{text} (no confidence interval: {why})"
    low = write_amount(interval.low, loss).removesuffix(" %")
    level = f"{100 * interval.confidence_level:g} % CI"
    return f"{text} ({level} {low} to {write_amount(interval.high, loss)})"


def name_error(loss: str) -> str:
    """Return the name of the error to quote."""
    names = {"zero_one": "error", "squared": "root mean squared error"}
    return names.get(loss) or mean_loss_name(loss)


def write_amount(value: float, loss: str) -> str:
    """Return a mean loss as text: a rate in percent, a squared error by its root."""
    if loss == "squared":
        value = float(np.sqrt(value))
    if loss != "zero_one":
        return f"{value:.4g}"
    return f"{100 * value:.2g} %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"


def write_with_ends(estimate: Estimate, *values: float) -> list[str]:
    """Return values and the ends of an interval as text, with the digits that its width
    supports."""
    low, high = estimate.interval.low, estimate.interval.high
    return [write_estimate(value, (high - low) / 4) for value in (*values, low, high)]


def write_chance(guess: Guess | None, rare: RareClass | None, test: PermutationTest | None) -> str:
    """Return whether the model is better than chance, by the interval and the permutation test."""
    if rare is not None:
        start = (
            f"Class {rare.label} is rare ({write_amount(rare.share, 'zero_one')}), so use the "
            f"{name_metric(rare.metric)}: {rare.estimate:.2f}"
        )
        if not np.isfinite(rare.low):
            return f"{start}, without a confidence interval to compare with chance."
        start += f" (95 % CI {rare.low:.2f} to {rare.high:.2f}). "
        where = "is below" if rare.high < rare.chance else "includes"
        doubt = f"the interval {where} {rare.chance:.2g}"
        above = f"the interval is above {rare.chance:.2g}"
        return start + _join_tests(rare.better, above, doubt, test)
    if guess is not None and np.isfinite(guess.low):
        doubt = "it is worse than this baseline" if guess.worse else "it may equal this baseline"
        return _join_tests(guess.better, "lower error on the same samples", doubt, test)
    read, counted = _read_permutation(test)
    return {
        "shown": f"Better than chance ({counted}).",
        "denied": f"No evidence that it beats chance ({counted}).",
        "undecided": f"Whether it beats chance is undecided ({counted}).",
        "powerless": f"Too few permutations to show that it beats chance: {counted}.",
    }.get(read, "" if guess is None else "The difference from this baseline was not tested.")


def _join_tests(better: bool, shown: str, doubt: str, test: PermutationTest | None) -> str:
    """Combine the interval and the permutation test in one sentence."""
    read, counted = _read_permutation(test)
    if better and read == "denied":
        return (
            f"No evidence that it beats chance: {shown}, but not better than shuffled labels "
            f"({counted})."
        )
    if better:
        more = {
            "shown": f"; {counted}",
            "undecided": f"; the permutation test is undecided ({counted})",
            "powerless": f"; too few permutations for a test ({counted})",
        }
        return f"Better than chance: {shown}{more.get(read, '')}."
    if read == "shown":
        return f"Better than shuffled labels ({counted}), but {doubt}."
    more = {
        "denied": f", and shuffled labels do as well ({counted})",
        "undecided": f", and the permutation test is undecided ({counted})",
        "powerless": f", and there are too few permutations for a test ({counted})",
    }
    return f"No evidence that it beats chance: {doubt}{more.get(read, '')}."


def _read_permutation(test: PermutationTest | None) -> tuple[str, str]:
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


def write_guess(guess: Guess, loss: str) -> str:
    """Compare the error with the baseline's error."""
    form = ".4f" if loss == "zero_one" else ".4g"
    name = str(guess)
    start = f"{name[0].upper()}{name[1:]} has {mean_loss_name(loss)} {guess.error:{form}}"
    if not (np.isfinite(guess.low) and guess.low < guess.high):
        too = ", the same as the model" if guess.low == guess.high == 0 else ""
        return f"{start} on the same samples{too}."
    ends = f"95 % CI {guess.low:{form}} to {guess.high:{form}}"
    paired = f"difference on the same samples {guess.difference:{form}}, {ends}"
    if guess.better:
        return f"{start}; the model is better ({paired})."
    if guess.worse:
        text = f"{start}; the model is worse ({paired})."
        if loss == "zero_one":
            text += " This makes sense only if errors on rare classes cost more than others."
        return text
    return f"{start}; no significant difference ({paired}). The model may be no better."


def write_given_folds(n_units: int) -> str:
    """Describe the sampling units if the folds are used as they are."""
    return (
        "The folds given in cv= are used as they are. Samples that no test set separates may "
        f"belong together and count as one sampling unit: {n_units} units. The permutation test "
        "was not run, because it would shuffle single labels; hold-out, leave-one-out, bootstrap "
        "and perturbation treat samples as independent. If samples belong together, pass groups=; "
        "if not, pass a number or a splitter with shuffle=True, which gives a shorter interval."
    )


def write_omitted(omitted: Mapping[str, str]) -> str:
    """List the estimates that were not run, with reasons."""
    parts = "; ".join(f"{name} ({why})" for name, why in omitted.items())
    return f"Not run: {parts}. Use include='all' or their names to run them."


def write_interruption(where: str) -> str:
    """Return where the evaluation was interrupted, and what is missing."""
    return (
        f"Interrupted {where}: results use the fits completed so far, and later parts are missing."
    )


def write_permutation(test: PermutationTest) -> str:
    """Return the result of the permutation test, and what was permuted within groups."""
    result = (
        f"P = {test.pvalue:.4g}: {test.n_exceedances} of "
        f"{count(test.n_resamples, 'run')} of the whole procedure on shuffled labels scored at "
        "least as well as on the true labels."
    )
    if not test.exchanged:
        return result
    return f"{result} {describe_exchange(test)}"


def write_selection(bias: SelectionBias, stability: SelectionStability | None) -> list[str]:
    """Return the bias of selection outside the folds, and the stability of the selection."""
    claimed = _write_bias(bias)
    if stability is None:
        return [
            claimed,
            "The stability of the selection is unknown: the folds select from different features, "
            "and the steps before the selector do not name them (get_feature_names_out).",
        ]
    always, ever = stability.selected_always, stability.selected_ever
    value = f"{stability.value:.2f} (1 is best)"
    if np.isnan(stability.value):
        value = "undefined, because all features or none are selected"
    return [
        claimed,
        f"{always} of {count(ever, 'feature')} selected in any of "
        f"{stability.n_rounds} folds {'was' if always == 1 else 'were'} selected in all "
        f"of them; stability {value}.",
    ]


def _write_bias(bias: SelectionBias) -> str:
    """Return the bias of selection outside the folds."""
    claimed, honest = bias.cv1_error, bias.cv2_error
    if np.isnan(bias.interval.low):
        return (
            f"Selecting features on all samples (CV1) would have given an error of "
            f"{write_number(claimed)}; selecting them within the folds (CV2) gives "
            f"{write_number(honest)}. The difference does not vary, so it has no interval."
        )
    outside, inside, difference, low, high = write_with_ends(bias, claimed, honest, bias.value)
    shown = "which is too low" if _is_above_zero(bias) else "which is not significantly lower"
    return (
        f"Selecting features on all samples (CV1) would have given an error of {outside} instead "
        f"of {inside} within the folds (CV2), {shown} (bias {difference}, "
        f"{100 * bias.confidence_level:g} % CI {low} to {high})."
    )


def _is_above_zero(estimate: Estimate) -> bool:
    """Whether a value is significantly above 0, at 95 % or more."""
    level = max(estimate.confidence_level, 1 - MAX_LEVEL)
    if np.isnan(estimate.interval.low):
        return False
    return estimate.confidence_interval(level).low > 0


def write_tuning(bias: TuningOptimism) -> str:
    """Return the optimism of the best scores of the searches."""
    scores = bias.inner_score, bias.nested_score
    inner, nested, optimism, low, high = write_with_ends(bias, *scores, bias.value)
    if np.isnan(bias.interval.low):
        shown = "the difference does not vary, so its significance is unknown"
    else:
        shown = "the optimism is not significant"
        if _is_above_zero(bias):
            shown = "the best score is optimistic, as the best of many is"
        level = f"{100 * bias.confidence_level:g} % CI"
        shown += f" (difference {optimism}, {level} {low} to {high})"
    return (
        f"The best score of the hyperparameter search is {inner} on average, and the score of its "
        f"model on held-out samples {nested}: {shown}. The errors reported here are those of tuned "
        "models on held-out samples (nested cross-validation)."
    )


def write_perturbation(resubstitution: PerturbationEstimate) -> str:
    """Recommend one of the two perturbation intervals."""
    if resubstitution.resubstitution < resubstitution.value / 2:
        return (
            "Use the SVM interval from perturbed cross-validation: the training error is less than "
            "half of the cross-validated error, and then the interval from perturbed training is "
            "too short."
        )
    return (
        "The SVM interval from perturbed cross-validation is the safer one; that from perturbed "
        "training, as published, requires many samples and few features."
    )


def write_hard_samples(hard: HardSamples, numbers: bool) -> list[str]:
    """List the samples that may have a wrong label, and the classes that are mostly missed."""
    sentences = [
        f"{n_wrong} of {count(size, 'sample')} of class {name} {'is' if size == 1 else 'are'} "
        "misclassified in every repeat: the models do not learn this class."
        for name, (n_wrong, size) in hard.unknown.items()
    ]
    suspects = np.flatnonzero(hard.suspect)
    if not len(suspects):
        return sentences
    listed = ", ".join(
        f"{hard.name[k]} ({hard.truth[k]}, predicted as {hard.prediction[k]})"
        for k in suspects[:MAX_SAMPLES_LISTED]
    )
    more = (
        f" and {len(suspects) - MAX_SAMPLES_LISTED} more"
        if len(suspects) > MAX_SAMPLES_LISTED
        else ""
    )
    subject = "1 sample" if len(suspects) == 1 else f"{len(suspects)} samples"
    verb, them = ("is", "it") if len(suspects) == 1 else ("are", "them")
    if numbers:
        verb = "has" if len(suspects) == 1 else "have"
        text = f"{subject} {verb} residuals over three times the root mean square: {listed}{more}."
        return [*sentences, f"{text} Check {them} for wrong values."]
    text = f"{subject} {verb} misclassified in every repeat: {listed}{more}."
    return [*sentences, f"{text} Check {them} for label errors; class overlap looks the same."]


WIDE_INTERVAL = 0.2
DISAGREEMENT = 2.0
"""Standard errors of the difference of two estimates; for false alarms see
doc/user_guide/warnings.rst."""
TWO_ANSWERS = 3.0
"""Standard errors of the headline between two estimates of the same error."""
NEAR_ZERO = 0.1
"""Share of the cross-validated error below which a training error is uninformative."""


def write_warnings(estimates: Iterable[Estimate], answer: Estimate | None = None) -> list[Caution]:
    """Return the warnings about the estimates of one estimator, and about the headline."""
    named = {estimate.method: estimate for estimate in estimates}
    if not {"cross_validation", "resubstitution"} <= named.keys():  # an interrupt came before them
        return []
    cross_validation = named["cross_validation"]
    results = [
        _warn_of_overfitting(named["resubstitution"], cross_validation),
        _warn_of_632(named, cross_validation),
        _warn_of_disagreement(cross_validation, named.get("holdout")),
    ]
    if answer is not None:
        results.append(_warn_of_two_answers(answer, named))
    if cross_validation.loss == "zero_one":
        results.append(_warn_of_wide_interval(cross_validation))
    return [sentence for sentence in results if sentence]


def _warn_of_two_answers(answer: Estimate, named: dict[str, Estimate]) -> Caution | None:
    """Return a warning if estimates of the same error from the same samples differ too much.

    Cross-validations of the same samples share most of their noise, so new folds explain much less
    than three standard errors of one of them. Training errors are usually lower. Given folds may
    test other samples and are not compared.
    """
    if answer.method != "repeated_cv":
        return None
    limit = TWO_ANSWERS * _spread(answer)
    folds, training = named["cross_validation"], named["resubstitution"]
    if abs(folds.value - answer.value) > limit:
        what, other = "one cross-validation", folds
    elif training.value - answer.value > limit:
        what, other = "the training error", training
    else:
        return None
    return Caution(
        "two-answers",
        f"The headline error ({_write_error(answer)}) and {what} ({_write_error(other)}) differ by "
        "more than three standard errors, although they share their samples. The fits may stop "
        "before they converge, or be unstable. Scale the features, raise max_iter, and fit the "
        "model twice to see whether its predictions change.",
        "two estimates of the same error disagree",
    )


def _warn_of_overfitting(resubstitution: Estimate, cross_validation: Estimate) -> Caution | None:
    """Warn if the training error is far below the cross-validated error."""
    gap = cross_validation.value - resubstitution.value
    far = resubstitution.value < cross_validation.value / 2
    if not (far and gap > 2 * _spread(cross_validation)):
        return None
    return Caution(
        "overfitting",
        f"Overfitting: the training error ({write_number(resubstitution.value)}) is far below the "
        f"cross-validated error ({_write_error(cross_validation)}). Do not quote the training "
        "error.",
    )


def _warn_of_632(named: dict[str, Any], cross_validation: Estimate) -> Caution | None:
    """Warn if .632+ is too low because of a training error near 0.

    Both the cross-validated and the out-of-bag error are then above it. If the cross-validated
    error is compatible with pure noise, .632+ gives the training error little weight and may be
    right.
    """
    bootstrap, resubstitution = named.get(".632+"), named["resubstitution"]
    error = cross_validation.value
    if bootstrap is None or resubstitution.value > NEAR_ZERO * error:
        return None
    if cross_validation.interval.high >= bootstrap.no_information:
        return None
    if not min(error, named["oob"].value) - bootstrap.value > _spread(cross_validation):
        return None
    return Caution(
        "632",
        f".632+ too low: it is {_write_error(bootstrap)}, cross-validation gives "
        f"{_write_error(cross_validation)}. It includes a training error near 0 "
        f"({write_number(resubstitution.value)}), which this model reaches on any data. Quote "
        "neither .632 nor .632+.",
    )


def _warn_of_disagreement(a: Estimate, b: Estimate | None) -> Caution | None:
    """Warn if hold-out and cross-validation differ by more than chance explains."""
    if b is None or not abs(a.value - b.value) > DISAGREEMENT * np.hypot(_spread(a), _spread(b)):
        return None
    return Caution(
        "disagreement",
        f"Estimates disagree: hold-out ({_write_error(b)}) and cross-validation "
        f"({_write_error(a)}) differ by more than two standard errors. The error depends on which "
        "samples are held out, or on how many.",
    )


def _spread(estimate: Estimate) -> float:
    """Return a standard error that is positive even without errors, from the interval.

    It assumes independent losses, without inflation, as in the simulations of false alarms. If the
    interval is undefined it is nan, so that no comparison is true.
    """
    form = next(name for name in estimate.interval_methods if name != "inflated")
    interval = estimate.confidence_interval(method=form)
    return (interval.high - interval.low) / 2 / normal_quantile(interval.confidence_level)


def _write_error(estimate: Estimate) -> str:
    """Return an error with the digits that its interval supports."""
    return write_estimate(estimate.value, _spread(estimate))


def _warn_of_wide_interval(cross_validation: Estimate) -> Caution | None:
    """Warn if there are too few samples for a precise estimate."""
    interval = cross_validation.interval
    if interval.high - interval.low <= WIDE_INTERVAL:
        return None
    units, n_groups = f"{cross_validation.n_samples} samples", cross_validation.n_groups
    if n_groups is not None:
        units = f"{count(n_groups, 'group')} of samples"
    level = f"{100 * interval.confidence_level:g} %"
    return Caution(
        "wide",
        f"Wide interval: the {level} interval of the cross-validated error has a width of "
        f"{interval.high - interval.low:.2f}. {units[0].upper()}{units[1:]} are too few for a "
        "precise estimate.",
    )
