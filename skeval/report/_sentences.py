"""What an evaluation found, in sentences: the verdict first, then its parts.

A verdict has three sentences at most. The first says not to quote the error, where a check found a
grave reason. The next has the error with its interval and, so that it never stands alone, the
error of the best answer that is always the same. The last says whether the rule is better than
chance.

Two witnesses are heard on that. The first is the interval: of the difference to the guess on the
same samples, or where a class is rare of the statistic that counts there. The second is the
permutation test. Both are read at 5 %, whatever the level of the intervals, and a permutation test
only as far as its number of permutations goes. "Better than chance" is said where the first says
so and the second does not deny it; where they differ, the sentence says both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from skeval._inference.estimate import Estimate, Test
from skeval._inference.intervals import normal_quantile
from skeval._inference.paired import LARGEST_LEVEL
from skeval._resampling.fits import OutOfFold
from skeval.metrics._regression import LOSSES, PROBABILITY_LOSSES
from skeval.metrics._table import REPORTED
from skeval.model_selection._fold_metrics import summarize_losses
from skeval.report._exports import say_exchange
from skeval.report._predictions import HardSamples
from skeval.report._sections import Caution, forbid_quoting, list_few, list_grave, tell_gravest
from skeval.utils._text import count, mean_loss_name, name_label, write_estimate, write_number

__all__ = [
    "ALPHA",
    "Guess",
    "RareClass",
    "find_guess",
    "find_rare_class",
    "find_unanswered",
    "make_guess",
    "name_error",
    "name_metric",
    "say_error",
    "write_amount",
    "write_chance",
    "write_given_folds",
    "write_guess",
    "write_hard_samples",
    "write_headline",
    "write_interruption",
    "write_omitted",
    "write_permutation",
    "write_perturbation",
    "write_selection",
    "write_tuning",
    "write_verdict",
    "write_warnings",
    "write_with_ends",
]

ALPHA = 0.05
"""The level at which something is said to be better than chance."""
RARE, UNEQUAL = 0.2, 0.5
"""A class is rare with less than a fifth of the samples, and half as many as the largest."""
FEW, FEW_SAMPLES = 3, 5
"""Classes, and samples, that are named."""


def name_metric(metric: str) -> str:
    """Return what people call a metric."""
    return REPORTED[metric].label if metric in REPORTED else metric


@dataclass(frozen=True)
class Guess:
    """The best answer that needs no features, and how the estimator does beside it.

    Attributes
    ----------
    answer : str
        The largest class; "the mean" or "the median"; "with the shares of the classes" where
        probabilities are judged; of samples in order of time, "the value before" or that of a
        season before where that is better.
    error : float
        Its mean loss.
    difference : float
        The error of the estimator less that of the guess, on the same samples.
    low, high : float
        Ends of the 95 % interval of the difference, on new samples; nan where there is none.
    verb : str
        What is done with the answer: it is always the same, but where it is an earlier value.
    """

    answer: str
    error: float
    difference: float
    low: float
    high: float
    verb: str = "always answering"

    def __str__(self) -> str:
        return f"{self.verb} {self.answer}"

    @property
    def better(self) -> bool:
        """Whether the estimator is shown to be better."""
        return self.high < 0

    @property
    def worse(self) -> bool:
        """Whether the estimator is shown to be worse."""
        return self.low > 0


@dataclass(frozen=True)
class RareClass:
    """A class that is rare, and the statistic that counts there instead of the error.

    Attributes
    ----------
    label : str
        The class.
    share : float
        Its share of the samples.
    metric : {"roc_auc", "balanced_accuracy"}
        The area where the estimator scores two classes: it does not depend on where scores are
        cut, which with a rare class is often beyond all of them.
    estimate, low, high : float
        Its value and 95 % interval.
    chance : float
        Its value without any relation of features and classes.
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
        """Whether the statistic is shown to be better than chance."""
        return self.low > self.chance


def find_guess(
    found: OutOfFold, loss: str, earlier: Iterable[tuple[str, np.ndarray]] = ()
) -> Guess | None:
    """Return the best answer to the tested samples that needs no features.

    It is always the same, and chosen with a look at all of them, each as often as it was tested,
    and so a little better than any rule that is not. Where samples are in order of time it is the
    target of an `earlier` one, if that is better: each of them has a name, and the sample for each
    of the answers. There is none for a loss of one's own.
    """
    weight, codes = found.look_up(found.weight), found.look_up(found.target.codes)
    if loss == "zero_one" and found.target.classes is not None:
        largest = int(np.bincount(codes, weight).argmax())
        answer, targets = name_label(found.target.classes[largest]), found.target.codes
        losses = LOSSES[loss](codes, largest)
    elif loss in ("squared", "absolute") and np.ndim(found.target.y) == 1:
        targets = np.asarray(found.target.y, dtype=float)
        tested = found.look_up(targets)
        answer, centre = "the mean", float(np.average(tested, weights=weight))
        if loss == "absolute":
            answer, centre = "the median", _find_median(tested, weight)
        losses = LOSSES[loss](tested, centre)
    elif loss in PROBABILITY_LOSSES and found.target.classes is not None:
        shares = np.bincount(codes, weight, minlength=len(found.target.classes))
        answer, earlier = "with the shares of the classes", ()
        always = np.tile(shares / shares.sum(), (len(shares), 1))
        losses = PROBABILITY_LOSSES[loss](np.arange(len(shares)), always)[codes]
    else:
        return None
    guesses = [(answer, losses, Guess.verb)]
    for said, before in earlier:
        guesses.append((said, LOSSES[loss](found.look_up(targets), targets[before]), "answering"))
    return make_guess(found, *min(guesses, key=lambda each: float(weight @ each[1])))


def make_guess(found: OutOfFold, answer: str, losses: np.ndarray, verb: str = Guess.verb) -> Guess:
    """Return the answer with these losses, and how the predictions do beside it."""
    error = float(np.average(losses, weights=found.look_up(found.weight)))
    difference, spread, degrees = summarize_losses(found, found.loss - losses)
    reach = float(stats.t.isf(ALPHA / 2, degrees)) * spread
    return Guess(answer, error, difference, difference - reach, difference + reach, verb)


def _find_median(values: np.ndarray, weight: np.ndarray) -> float:
    """Return a value with half of the weight at most on either side."""
    order = np.argsort(values)
    passed = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(passed, passed[-1] / 2)])


def find_rare_class(
    sizes: Mapping[Any, float] | None, metrics: Mapping[str, Any], loss: str
) -> RareClass | None:
    """Return the rarest class where it is rare, with the statistic that counts there.

    `metrics` are those of out-of-fold predictions. A class that no sample is of is not rare: of
    given predictions it may be what a system answers, and nothing is measured of it.
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


def find_unanswered(found: OutOfFold) -> tuple[str, ...]:
    """Return the classes that are the answer to no sample in any of the repeats."""
    classes = found.target.classes
    if classes is None:
        return ()
    times = np.bincount(found.predicted.astype(np.intp, copy=False), minlength=len(classes))
    return tuple(name_label(classes[code]) for code in np.flatnonzero(times == 0))


def write_verdict(report: Any) -> str:
    """Say what the error is, how sure that is, and what else a reader must know."""
    grave = forbid_quoting(report.warnings)
    chance = write_chance(report.guess, report.rare, report.permutation)
    if grave and chance:
        chance = "Whether it is better than chance cannot be told under that fault."
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
    permutation: Test | None = None,
) -> str:
    """Say in one sentence what the error is and the gravest thing that is known of it.

    The `amount` names it with its interval. What the verdict says of witnesses stands elsewhere.
    """
    if grave := list_grave(warnings):
        return f"Do not quote the {amount.removeprefix('Estimated ')}: {tell_gravest(grave)}."
    never = f", and it never answers {list_few(unanswered, FEW)}" if unanswered else ""
    read, counted = _read_permutation(permutation)
    if rare is not None:
        ends = f", 95 % interval {rare.low:.2f} to {rare.high:.2f}" * bool(np.isfinite(rare.low))
        text = f"{name_metric(rare.metric)} {rare.estimate:.2f}{ends}, of the rare class"
        shown = "better than chance" if rare.better else "not shown to be better than chance"
        if rare.better and read == "denied":
            shown = "not shown to be better than shuffled labels"
        text = f"{text[0].upper()}{text[1:]} {rare.label}: {shown}, which has {rare.chance:.2g}"
        return f"{text}{never}."
    if guess is None or not np.isfinite(guess.low):
        shown = {
            "shown": ": better than chance",
            "denied": ": not shown to be better than chance",
            "undecided": ": whether it is better than chance is undecided",
        }.get(read, "")
        return f"{amount}{shown}{never}."
    shown = "better than" if guess.better else "not shown to be better than"
    shown = "worse than" if guess.worse else shown
    if guess.better and read == "denied":
        shown = f"not shown to be better than shuffled labels ({counted}), only than"
    return f"{amount}: {shown} {guess}, which has {write_amount(guess.error, loss)}{never}."


def write_error(
    quoted: Estimate,
    guess: Guess | None,
    unanswered: tuple[str, ...] = (),
    explained: float | None = None,
    selection_bias: Estimate | None = None,
) -> str:
    """Say the error beside what it must not be read without; squared errors by their root."""
    loss = quoted.details["loss"]
    text = f"{say_error(quoted)} ({quoted.method})"
    if explained is not None:
        text += f", R2 {explained:.2f}"
    if guess is not None:
        text += f"; {guess} has {write_amount(guess.error, loss)}"
    if unanswered:
        text += f"{',' if guess else ';'} and it never answers {list_few(unanswered, FEW)}"
    if selection_bias and _is_above_zero(selection_bias):
        claimed = write_amount(selection_bias.details["cv1_error"], "zero_one")
        text += f"; selection outside the loop would have claimed {claimed}"
    return text + "."


def say_error(quoted: Estimate) -> str:
    """Return the error with its interval, as the beginning of a sentence."""
    interval, loss = quoted.interval, quoted.details["loss"]
    text = f"Estimated {name_error(loss)} {write_amount(quoted.value, loss)}, "
    if quoted.details["n_groups"] == 1:
        return f"{text}without an interval, since neighbours err too much alike"
    if not np.isfinite(interval.low):
        return f"{text}without an interval, since nothing varies"
    low = write_amount(interval.low, loss).removesuffix(" %")
    level = f"{100 * interval.confidence_level:g} % interval"
    return f"{text}{level} {low} to {write_amount(interval.high, loss)}"


def name_error(loss: str) -> str:
    """Return what the number to quote is called."""
    names = {"zero_one": "error", "squared": "root mean squared error"}
    return names.get(loss) or mean_loss_name(loss)


def write_amount(value: float, loss: str) -> str:
    """Return a mean loss as text: a rate in percent, a squared error as its root."""
    if loss == "squared":
        value = float(np.sqrt(value))
    if loss != "zero_one":
        return f"{value:.4g}"
    return f"{100 * value:.2g} %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"


def write_with_ends(found: Estimate, *values: float) -> list[str]:
    """Return numbers, then the ends of an interval, with as many digits as that leaves."""
    low, high = found.interval.low, found.interval.high
    return [write_estimate(value, (high - low) / 4) for value in (*values, low, high)]


def write_chance(guess: Guess | None, rare: RareClass | None, test: Test | None) -> str:
    """Say whether the rule is better than chance, by what the two witnesses say."""
    if rare is not None:
        start = (
            f"Class {rare.label} is rare ({write_amount(rare.share, 'zero_one')}), so what counts "
            f"is the {name_metric(rare.metric)}: {rare.estimate:.2f}, "
        )
        if not np.isfinite(rare.low):
            return f"{start}without an interval, so that it cannot be told from chance."
        start += f"95 % interval {rare.low:.2f} to {rare.high:.2f}, "
        where = "lies below" if rare.high < rare.chance else "includes"
        doubt = f"the interval {where} {rare.chance:.2g}"
        above = f"the interval lies above {rare.chance:.2g}"
        return start + _join_witnesses(rare.better, above, doubt, test)
    if guess is not None and np.isfinite(guess.low):
        doubt = "it may do no better than that guess"
        if guess.worse:
            doubt = "it does worse than that guess"
        text = _join_witnesses(guess.better, "it beats that guess on the same samples", doubt, test)
        return text[0].upper() + text[1:]
    read, counted = _read_permutation(test)
    return {
        "shown": f"Better than chance: {counted}.",
        "denied": f"Not shown to be better than chance: {counted}.",
        "undecided": f"Whether it is better than chance is undecided: {counted}.",
        "powerless": f"Whether it is better than chance cannot be shown by {counted}.",
    }.get(read, "" if guess is None else "Whether it is better than that guess is not tested.")


def _join_witnesses(better: bool, shown: str, doubt: str, test: Test | None) -> str:
    """Return one sentence of what the interval and the permutation test say."""
    read, counted = _read_permutation(test)
    if better and read == "denied":
        return (
            f"not shown to be better than chance: {shown}, but shuffled labels do as well "
            f"({counted})."
        )
    if better:
        more = {
            "shown": f", and {counted}",
            "undecided": f"; {counted} alone would leave it undecided",
            "powerless": f"; {counted} alone could not show it",
        }
        return f"better than chance: {shown}{more.get(read, '')}."
    if read == "shown":
        return f"better than with shuffled labels ({counted}), but {doubt}."
    more = {
        "denied": f", and shuffled labels do as well ({counted})",
        "undecided": f", and {counted} leaves it undecided",
        "powerless": f", and {counted} can show nothing",
    }
    return f"not shown to be better than chance: {doubt}{more.get(read, '')}."


def _read_permutation(test: Test | None) -> tuple[str, str]:
    """Return what a permutation test says at 5 %, and its P-value in words.

    It is "shown" or "denied" where endlessly many permutations would say so, too, as far as the
    interval of P tells; "powerless" where not even the smallest possible P would show it.
    """
    if test is None:
        return "", ""
    n = test.n_resamples
    smallest = 1 / (1 + n)
    if smallest > ALPHA and not test.details["stopped"]:
        return "powerless", f"{n} permutations (the smallest possible P is {smallest:.2g})"
    interval = test.confidence_interval(1 - ALPHA)
    counted = f"P = {test.pvalue:.2g} from {n} permutations"
    if test.pvalue <= ALPHA and interval.high <= ALPHA:
        return "shown", counted
    return "denied" if test.pvalue > ALPHA and interval.low > ALPHA else "undecided", counted


def write_guess(guess: Guess, loss: str) -> str:
    """Say how the error compares with that of the guess: lower, perhaps the same, or higher."""
    form = ".4f" if loss == "zero_one" else ".4g"
    said = str(guess)
    start = f"{said[0].upper()}{said[1:]} has the {mean_loss_name(loss)} {guess.error:{form}}"
    if not (np.isfinite(guess.low) and guess.low < guess.high):
        too = ", and so has the estimator" if guess.low == guess.high == 0 else ""
        return f"{start} on the same samples{too}."
    ends = f"[{guess.low:{form}}, {guess.high:{form}}]"
    told = f"the difference on the same samples, {guess.difference:{form}} {ends} (95 %),"
    if guess.better:
        return f"{start}: the estimator is better, {told} lies below 0."
    if guess.worse:
        text = f"{start}: the estimator is worse, {told} lies above 0."
        if loss == "zero_one":
            text += " That can be meant only where errors on rare classes cost more than others."
        return text
    return (
        f"{start}: the estimator is not distinguishable from that, {told} includes 0. Counted so, "
        "it may serve no better than that answer."
    )


def write_given_folds(n_units: int) -> str:
    """Say what is counted where the folds are taken as they are."""
    return (
        "The error is that of the folds given with cv=, as they are, and samples that no test set "
        f"takes apart count as one unit, since they may belong together: {n_units} units. The "
        "permutation test is left out, since it would shuffle the labels of single samples; "
        "hold-out, leave-one-out, bootstrap and perturbation take samples for independent. Give "
        "groups= where samples belong together; where they do not, cv= as a number or a splitter "
        "with shuffle=True counts samples, and has a shorter interval."
    )


def write_omitted(omitted: Mapping[str, str]) -> str:
    """Say what was left out, why, and how to ask for it."""
    told = "; ".join(f"{name} ({why})" for name, why in omitted.items())
    return f"Left out: {told}. include='all', or names of these, runs them, too."


def write_interruption(where: str) -> str:
    """Say where an evaluation was interrupted, and what that means."""
    return (
        f"Interrupted {where}: this rests on the fits that were done by then, and what would have "
        "come next is left out."
    )


def write_permutation(test: Test) -> str:
    """Say what the permutation test found, and what it tested where samples belong together."""
    found = (
        f"P = {test.pvalue:.4g}: of {count(test.n_resamples, 'run')} of the whole procedure on "
        f"shuffled labels, {test.details['n_exceedances']} did as well as on the true ones."
    )
    if "exchanged" not in test.details:
        return found
    return f"{found} {say_exchange(test)}"


def write_selection(bias: Estimate, stability: Estimate | None) -> list[str]:
    """Say what selection outside the loop would have claimed, and how stable the selection is."""
    claimed = _write_bias(bias)
    if stability is None:
        return [
            claimed,
            "How stable the selection is cannot be told: the folds choose from different features, "
            "which the steps before the selector give no names (get_feature_names_out).",
        ]
    always, ever = stability.details["selected_always"], stability.details["selected_ever"]
    value = f"{stability.value:.2f}, 1 is best"
    if np.isnan(stability.value):
        value = "undefined where all features are selected, or none"
    return [
        claimed,
        f"Of {count(ever, 'feature')} selected in any of {stability.details['n_rounds']} folds, "
        f"{always} {'was' if always == 1 else 'were'} selected in all; stability {value}.",
    ]


def _write_bias(bias: Estimate) -> str:
    """Say what selection outside the loop would have claimed, and whether that is too low."""
    claimed, honest = bias.details["cv1_error"], bias.details["cv2_error"]
    if np.isnan(bias.interval.low):
        return (
            f"Selecting features outside the loop would have claimed an error of "
            f"{write_number(claimed)}, that of selecting inside is "
            f"{write_number(honest)}; an interval of the difference is undefined, since "
            "it does not vary."
        )
    outside, inside, difference, low, high = write_with_ends(bias, claimed, honest, bias.value)
    shown = "that is too low" if _is_above_zero(bias) else "that is not shown to be too low"
    return (
        f"Selecting features outside the loop would have claimed an error of {outside} instead "
        f"of {inside}: {shown} (bias {difference}, {100 * bias.confidence_level:g} % interval "
        f"{low} to {high})."
    )


def _is_above_zero(found: Estimate) -> bool:
    """Whether what a result measures is above 0 by an interval of 95 % or more."""
    level = max(found.confidence_level, 1 - LARGEST_LEVEL)
    if np.isnan(found.interval.low):
        return False
    return found.confidence_interval(level).low > 0


def write_tuning(found: Estimate) -> str:
    """Say by how much the best score of the searches is too good."""
    scores = found.details["inner_score"], found.details["nested_score"]
    inner, nested, optimism, low, high = write_with_ends(found, *scores, found.value)
    if np.isnan(found.interval.low):
        shown = "whether it is too good cannot be told, since the difference does not vary"
    else:
        shown = "it is not shown to be too good"
        if _is_above_zero(found):
            shown = "it is too good, as the best of many is"
        level = f"{100 * found.confidence_level:g} % interval"
        shown += f" (difference {optimism}, {level} {low} to {high})"
    return (
        f"The best score of a search for hyperparameters is {inner} on average, that of its model "
        f"on samples left out {nested}: {shown}. The errors here are those of tuned models on "
        "samples left out."
    )


def write_perturbation(resubstitution: Estimate) -> str:
    """Say which of the two perturbation intervals to trust, and why."""
    if resubstitution.details["resubstitution"] < resubstitution.value / 2:
        return (
            "Of the SVM intervals trust that of perturbed cross-validation: the training error is "
            "less than half the cross-validated one, and there perturbed training is too short."
        )
    return (
        "Of the SVM intervals that of perturbed cross-validation is the safer; perturbed training "
        "is the published one and holds when samples are many and features few."
    )


def write_hard_samples(hard: HardSamples, numbers: bool) -> list[str]:
    """Say which samples may have a wrong label, and which classes the models mostly miss."""
    sentences = [
        f"{n_wrong} of {count(size, 'sample')} of class {name} {'is' if size == 1 else 'are'} "
        "wrong in every repeat: the models mostly miss that class."
        for name, (n_wrong, size) in hard.unknown.items()
    ]
    suspects = np.flatnonzero(hard.suspect)
    if not len(suspects):
        return sentences
    listed = ", ".join(
        f"{hard.name[k]} ({hard.truth[k]}, taken for {hard.prediction[k]})"
        for k in suspects[:FEW_SAMPLES]
    )
    more = f" and {len(suspects) - FEW_SAMPLES} more" if len(suspects) > FEW_SAMPLES else ""
    what = "more than three times as far off as usual" if numbers else "wrong in every repeat"
    subject = "1 sample is" if len(suspects) == 1 else f"{len(suspects)} samples are"
    looks = "number looks" if numbers else "label looks, and a sample where classes overlap"
    return [*sentences, f"{subject} {what}: {listed}{more}. That is how a wrong {looks}."]


WIDE_INTERVAL = 0.2
DISAGREEMENT = 2.0
"""Standard errors of the difference of two estimates; doc/user_guide/warnings.rst has what it does
to data without a fault."""
NEAR_ZERO = 0.1
"""Share of the cross-validated error below which a training error says nothing."""


def write_warnings(estimates: Iterable[Estimate]) -> list[Caution]:
    """Return the sentences that apply to the estimates of one estimator."""
    named = {estimate.method: estimate for estimate in estimates}
    if not {"cross_validation", "resubstitution"} <= named.keys():  # Ctrl-C came before them
        return []
    cross_validation = named["cross_validation"]
    found = [
        _warn_of_overfitting(named["resubstitution"], cross_validation),
        _warn_of_632(named, cross_validation),
        _warn_of_disagreement(cross_validation, named.get("holdout")),
    ]
    if cross_validation.details["loss"] == "zero_one":
        found.append(_warn_of_wide_interval(cross_validation))
    return [sentence for sentence in found if sentence]


def _warn_of_overfitting(resubstitution: Estimate, cross_validation: Estimate) -> Caution | None:
    """Say when the training error is far below the cross-validated one."""
    gap = cross_validation.value - resubstitution.value
    far = resubstitution.value < cross_validation.value / 2
    if not (far and gap > 2 * _spread(cross_validation)):
        return None
    return Caution(
        "overfitting",
        f"The training error ({write_number(resubstitution.value)}) is far below the "
        f"cross-validated error ({_write_error(cross_validation)}): it says how well the estimator "
        "remembers its samples, and not how well it predicts others. Do not quote it.",
    )


def _warn_of_632(named: dict[str, Any], cross_validation: Estimate) -> Caution | None:
    """Say when the .632+ estimate counts in a training error that says nothing.

    Both errors of samples not trained on lie above it then. Where labels may be noise, for all the
    cross-validated error says, .632+ gives the training error little weight, and may be right.
    """
    bootstrap, resubstitution = named.get(".632+"), named["resubstitution"]
    error = cross_validation.value
    if bootstrap is None or resubstitution.value > NEAR_ZERO * error:
        return None
    if cross_validation.interval.high >= bootstrap.details["no_information"]:
        return None
    if not min(error, named["oob"].value) - bootstrap.value > _spread(cross_validation):
        return None
    return Caution(
        "632",
        f".632+ ({_write_error(bootstrap)}) lies below cross-validation "
        f"({_write_error(cross_validation)}), since it counts in a training error near 0 "
        f"({write_number(resubstitution.value)}), to which this estimator is trained whatever the "
        "data: quote neither .632 nor .632+.",
    )


def _warn_of_disagreement(a: Estimate, b: Estimate | None) -> Caution | None:
    """Say when two estimates on samples not trained on differ by more than chance explains."""
    if b is None or not abs(a.value - b.value) > DISAGREEMENT * np.hypot(_spread(a), _spread(b)):
        return None
    return Caution(
        "disagreement",
        f"Hold-out ({_write_error(b)}) and cross-validation ({_write_error(a)}) differ by more "
        "than two standard errors of their difference: the error depends on which samples are held "
        "out, or on how many.",
    )


def _spread(estimate: Estimate) -> float:
    """Return a standard error that is not 0 where no error was seen: that which the interval has.

    That of independent losses, on which the alarms were measured, and not the inflated one.
    nan where the interval is undefined, so that no comparison with it is true.
    """
    form = next(name for name in estimate.interval_methods if name != "inflated")
    found = estimate.confidence_interval(method=form)
    return (found.high - found.low) / 2 / normal_quantile(found.confidence_level)


def _write_error(estimate: Estimate) -> str:
    """Return an error with the decimals that its interval leaves."""
    return write_estimate(estimate.value, _spread(estimate))


def _warn_of_wide_interval(cross_validation: Estimate) -> Caution | None:
    """Say when there are too few samples to know the error."""
    interval = cross_validation.interval
    if interval.high - interval.low <= WIDE_INTERVAL:
        return None
    units, n_groups = f"{cross_validation.n_samples} samples", cross_validation.details["n_groups"]
    if n_groups is not None:
        units = f"{count(n_groups, 'group')} of samples"
    level = f"{100 * interval.confidence_level:g} %"
    return Caution(
        "wide",
        f"The {level} interval of the cross-validated error is "
        f"{interval.high - interval.low:.2f} wide: {units} are too few to know the error well.",
    )
