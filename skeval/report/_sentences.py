"""Sentences of reports: the verdict first, then the parts.

The first sentence of a verdict is the headline: the main estimate with its interval, and its
relation to the baseline by the metric that decides, as `judge` found it; or "Do not report" if a
check found a serious problem. No other function writes whether a system is better than chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from skeval._inference.estimate import Estimate, Test
from skeval._resampling.plans import DEFAULT_FOLDS
from skeval._resampling.sampling_units import UnitKind
from skeval.metrics._table import REPORTED
from skeval.model_selection._interval_methods import AUTO, GIVEN_FOLDS
from skeval.report._findings import (
    ALPHA,
    Baseline,
    HardSamples,
    Judgment,
    RareClass,
    find_better_metric,
    is_above_zero,
    judge,
)
from skeval.report._page import list_few, list_grave
from skeval.utils._text import (
    count,
    mean_loss_name,
    name_label,
    say_pvalue,
    write_estimate,
    write_figures,
)

MAX_LISTED, MAX_SAMPLES_LISTED = 3, 5
"""Maximum number of classes, and of samples, in a sentence."""


PREFERRED = (
    "Prefer the interval from perturbed cross-validation: the one from perturbed training, which "
    "is the published one, requires many samples and few features."
)
PERTURBED = {
    "cross_validation": "SVM, perturbed cross-validation",
    "resubstitution": "SVM, perturbed training",
}
"""Name of each perturbation interval, by statistic."""
MEANINGS = {
    f"main estimate ({AUTO})": "the number to report: mean of repeated cross-validations",
    f"main estimate ({GIVEN_FOLDS})": "the number to report: mean error on the given folds",
    "resubstitution": "training error; optimistic, do not report it alone",
    "holdout": "error on a third that was held out; depends on the split",
    "cross_validation": "each sample predicted by a model trained without it",
    "leave_one_out": "cross-validation with as many folds as samples",
    "oob": "out-of-bag error of bootstrap samples; pessimistic",
    ".632": "0.632 of the out-of-bag error plus 0.368 of resubstitution",
    ".632+": ".632 with a weight that grows with overfitting",
    PERTURBED["cross_validation"]: "interval from refits with random weights",
    PERTURBED["resubstitution"]: "the same for the training error; requires many samples",
}
FAULTY = "Because of this problem the interval may miss the true error."


def name_metric(metric: str) -> str:
    """Return the display name of a metric."""
    return REPORTED[metric].label if metric in REPORTED else metric


def write_metric(name: str, estimate: Estimate) -> str:
    """Return a metric with its interval as a heading: The Brier score is 0.13 [0.11, 0.15]."""
    # "The" where the name of the metric needs it
    value, low, high = write_with_ends(estimate, estimate.value)
    label = name_metric(name).split(",")[0]
    article = "" if label.startswith(("R2", "F1")) else "The "
    ends = f" [{low}, {high}]" if np.isfinite(estimate.interval.low) else ", no confidence interval"
    return f"{article}{label} is {value}{ends}"


def write_verdict(report: Any) -> list[str]:
    """Return the sentences of the verdict of scored predictions.

    After a serious problem, nothing is said about chance.
    """
    # the main estimate, and the baseline in its unit
    amount, finding, baseline = write_main(report), judge(report), report.baseline
    never = list_few(report.never_predicted, MAX_LISTED)
    error, against = f"{amount}.", finding.reference
    if baseline is not None:
        given = write_amount(
            baseline.error, report.loss, find_width(report.answer, find_unit(report))
        )
        error, against = f"{amount}; {baseline} gives {given}.", f"{baseline} ({given})"
    # a serious problem comes first
    if grave := list_grave(report.warnings):
        sentences = [f"Do not report this error: {'; '.join(grave)}.", error]
        sentences += [f"The model never predicts {never}."] if never else []
        return [*sentences, "With this problem we cannot say whether the model beats chance."]
    # the metric that decides: of a rare class, another one, or the main estimate
    details = _write_test(finding)
    bias = report.results.get("selection_bias")
    if bias is not None and is_above_zero(bias):
        claimed = write_amount(bias.extra.cv1_error, "zero_one")
        details.append(f"Selecting features on all samples would have given {claimed}.")
    if report.rare_class is not None:
        chance = f"chance ({finding.at:.2g})"
        rare = report.rare_class
        start = f"{_write_rare(rare)}: {_write_relation(finding, chance)}"
        explained = (
            f"The class {rare.label} is rare ({write_rate(rare.share)} of the samples), so the "
            f"{name_metric(rare.metric)} decides, and not the error."
        )
        details = [explained, error, *details]
    elif finding.metric:
        shown = _write_with_interval(report, finding.metric)
        start = f"{amount}: better than chance by the {shown}, but not better than {against}"
    else:
        if finding.reference == "chance" and np.isfinite(finding.at):
            against = f"chance ({finding.at:.2g})"
        start = f"{amount}: {_write_relation(finding, against)}" if against else amount
        details = [*_write_second_metric(report, finding), *details]
    return [f"{start}{f', and it never predicts {never}' * bool(never)}.", *details]


def _write_relation(finding: Judgment, reference: str) -> str:
    """Return how a system compares with the reference, for the end of a sentence."""
    if finding.relation == "better" and not finding.better:
        return (
            f"no evidence that it beats shuffled labels ({finding.counted}), only that it beats "
            f"{reference}"
        )
    if finding.relation == "open" and finding.permutation == "shown":
        return (
            f"it beats shuffled labels ({finding.counted}), but does not clearly beat {reference}"
        )
    if finding.relation == "untested" and finding.permutation == "undecided":
        return f"whether it beats {reference} is undecided"
    return f"{RELATIONS[finding.relation]} {reference}"


RELATIONS = {
    "better": "better than",
    "worse": "worse than",
    "same": "the same as",
    "open": "no evidence that it beats",
    "untested": "not compared with",
}


def _write_test(finding: Judgment) -> list[str]:
    """Return what the permutation test adds, in a sentence."""
    counted, better = finding.counted, finding.relation == "better"
    worse = [f"It is better than shuffled labels ({counted})."]
    return {
        "shown": {"better": [f"{counted}."], "open": []}.get(finding.relation, worse),
        "denied": [] if better else [f"Shuffled labels do as well ({counted})."],
        "undecided": [f"The permutation test is undecided ({counted})."],
        "powerless": [f"There are too few permutations for a test: {counted}."],
    }.get(finding.permutation, [])


def _write_second_metric(report: Any, finding: Judgment) -> list[str]:
    """Return R2 or the area beside the main estimate, and which of the two decides."""
    second = SECOND.get(report.loss, "")
    if second not in report.metrics or finding.reference == "chance":
        return []
    text = _write_with_interval(report, second)
    text = f"{text[0].upper()}{text[1:]}."
    n_classes = len(report.class_sizes or {})
    excludes = find_better_metric(report.metrics, n_classes, 1 - ALPHA)[0]
    if excludes and finding.relation not in ("better", "untested"):
        level = f"{100 * (1 - ALPHA / 2):g} %"
        text += f" The {mean_loss_name(report.loss)} decides, because the {level} interval of this "
        return [f"{text}second metric includes chance."]
    return [text] if second == "r2" or report.out_of_fold.n_fits == 0 else []


SECOND = {"squared": "r2", "absolute": "r2", "brier": "roc_auc", "zero_one": "roc_auc"}
"""Metric beside the main estimate, by loss."""


def _write_with_interval(report: Any, name: str) -> str:
    """Return a metric with its 95 % interval: area under the ROC curve 0.91 (95 % CI ...)."""
    estimate = report.metrics[name]
    label, value = name_metric(name).split(",")[0], f"{estimate.value:.2f}"
    if not np.isfinite(estimate.interval.low):
        return f"{label} {value}"
    low, high = estimate.confidence_interval(1 - ALPHA)
    return f"{label} {value} (95 % CI {low:.2f} to {high:.2f})"


def _write_rare(rare: RareClass) -> str:
    """Return the metric of a rare class with its interval, and recall and precision."""
    ends = f" (95 % CI {rare.low:.2f} to {rare.high:.2f})" * bool(np.isfinite(rare.low))
    rates = {"recall": rare.recall, "precision": rare.precision}
    listed = [f"{name} {write_rate(rate)}" for name, rate in rates.items() if np.isfinite(rate)]
    name = name_metric(rare.metric)
    text = f"{name[0].upper()}{name[1:]} {rare.estimate:.2f}{ends} with the rare class {rare.label}"
    return f"{text} ({', '.join(listed)})" if listed else text


NO_INTERVAL: dict[str, str] = {
    "few_large_losses": "few samples carry most of it",
    "few_groups": "there are too few groups",
    "unstable_models": "models trained on other samples differ too much",
}


def write_main(report: Any) -> str:
    """Return the main estimate with its interval, as the start of a sentence."""
    # what is estimated, and why there may be no interval
    answer, unit = report.answer, find_unit(report)
    if report.out_of_fold.n_fits:
        name = name_error(answer.loss)
        if report.results.get("outputs") and answer.loss != "squared":
            name = answer.name
        start, why = f"Estimated {name} on new samples:", NO_INTERVAL.get(answer.extra.no_interval)
        if answer.n_groups == 1:
            why = "errors of neighboring samples are too correlated"
        why = why or "the losses do not vary"
    else:
        start = f"{answer.name[0].upper()}{answer.name[1:]}"
        why = "the losses do not vary"
    if np.isfinite(answer.interval.low) and answer.n_groups != 1:
        return f"{start} {write_interval(answer, unit)}"
    return f"{start} {write_amount(answer.value, unit)} (no confidence interval: {why})"


def find_unit(report: Any) -> str:
    """Return the loss in whose unit the main estimate is written: "zero_one" for a share."""
    if report.answer.name in SHARES:
        return "zero_one"
    return "squared" if report.answer.loss == "squared" and report.loss == "squared" else ""


SHARES = ("error rate", "share of wrong labels")
"""Quantities that are written in percent."""


def name_error(loss: str) -> str:
    """Return the name of the error to report."""
    names = {"zero_one": "error", "squared": "root mean squared error"}
    return names.get(loss) or mean_loss_name(loss)


def write_amount(value: float, loss: str, width: float = np.nan) -> str:
    """Return a mean loss as text: a rate in percent, the root of a squared error.

    The `width` of its interval sets the number of decimals.
    """
    if loss == "squared":
        value = float(np.sqrt(value))
    if loss != "zero_one":
        return write_estimate(value, width / 4) if width > 0 else write_figures(value)
    # one decimal, or those that the width supports
    if not width > 0:
        return f"{100 * value:.2g} %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"
    decimals = max(1, int(np.ceil(-np.log10(25 * width))))
    return f"{100 * value:.{decimals}f} %"


def find_width(estimate: Estimate, loss: str) -> float:
    """Return the width of an interval, of a mean squared error in the unit of its root."""
    low, high = estimate.interval.low, estimate.interval.high
    return float(np.sqrt(high) - np.sqrt(low)) if loss == "squared" else high - low


def write_interval(estimate: Estimate, loss: str) -> str:
    """Return a mean loss with its interval: 2.8 % (95 % CI 1.6 to 4.5 %)."""
    interval = estimate.interval
    value, low, high = (
        write_amount(number, loss, find_width(estimate, loss))
        for number in (estimate.value, interval.low, interval.high)
    )
    level = f"{100 * interval.confidence_level:g} % CI"
    return f"{value} ({level} {low.removesuffix(' %')} to {high})"


def write_rate(value: float) -> str:
    """Return a rate in percent."""
    return write_amount(value, "zero_one")


def write_with_ends(estimate: Estimate, *values: float) -> list[str]:
    """Return values and limits as text, with the digits that the width of the interval supports."""
    low, high = estimate.interval.low, estimate.interval.high
    return [write_estimate(value, (high - low) / 4) for value in (*values, low, high)]


def write_baseline(baseline: Baseline, loss: str, metric: str = "") -> str:
    """Compare the error with the baseline; unless it is better, begin with a warning title.

    `metric` is the name of the error, if it does not follow from the loss.

    Differences of mean squared errors are divided by the sum of both roots, which makes them
    differences of the roots.
    """
    name, rates = f"{baseline.verb} {baseline.prediction}", loss == "zero_one"
    roots = [float(np.sqrt(max(0, baseline.error + x))) for x in (0, baseline.difference)]
    scale = (sum(roots) or 1.0) if loss == "squared" else 1.0
    difference, low, high = (
        end / scale for end in (baseline.difference, baseline.low, baseline.high)
    )
    # the baseline
    error = write_amount(baseline.error, loss, np.nan if rates else high - low)
    metric = metric or (name_error(loss) if loss == "squared" else mean_loss_name(loss))
    article = "an" if metric[0] in "aeiou" else "a"
    start = f"{name} has {article} {metric} of {error}"
    # without an interval
    if not (np.isfinite(low) and low < high):
        if low == high == 0:
            remedy = "class weights, other features" if rates else "other features"
            return (
                f"Same as the baseline: {start} on the same samples, and so does the model. "
                f"Try {remedy} or another model."
            )
        return f"Not compared with the baseline: {start}; the difference does not vary."
    # the difference with its interval, positive if it is significant
    ends = [difference, low, high]
    if baseline.better or baseline.worse:
        ends = [abs(difference), *sorted((abs(low), abs(high)))]
    value, low_text, high_text = (
        f"{100 * end:.1f}" if rates else write_estimate(end, (high - low) / 4) for end in ends
    )
    unit = " percentage points" if rates else ""
    interval = f"on the same samples (95 % CI {low_text} to {high_text})"
    if baseline.better:
        text = f"{start}; the error of the model is {value}{unit} lower {interval}."
        return f"{text[0].upper()}{text[1:]}"
    text = f"{start}; the model differs by {value}{unit} {interval}, which is not significant."
    if baseline.worse:
        text = f"{start}; the error of the model is {value}{unit} higher {interval}."
    # advice
    if baseline.worse:
        advice = "Use the model only if errors on rare classes cost more than others."
        return f"Worse than the baseline: {text} {advice if rates else 'Do not use the model.'}"
    return (
        f"Not better than the baseline: {text} Do not rely on the model before more samples or "
        "better features show a difference."
    )


def write_few_folds(reason: str, n_folds: int) -> str:
    """Return the number of folds, and why some do not test a class or there are few."""
    text = f"Few folds: {reason}, too few for {DEFAULT_FOLDS} folds"
    if n_folds < DEFAULT_FOLDS:
        return f"{text}; there are {n_folds} folds. Collect more for stable folds."
    return f"{text} that all test it. Collect more samples of it."


def write_single_group(label: Any) -> str:
    """State that no model was trained on the class that it is tested on."""
    return (
        f"Class in a single group: class {name_label(label)} occurs in one group only, so each "
        "model that is tested on it was trained without it, and its recall is 0. Leave the class "
        "out, merge it with another one, or collect more groups."
    )


def write_given_folds(n_units: int) -> str:
    """Describe the sampling units if the folds are used as they are."""
    return (
        "Given folds: the folds in cv= are used as they are, and samples that no test set "
        f"separates count as one sampling unit ({n_units} units). The permutation test was not "
        "run. If samples belong together, pass groups=; if not, pass a number or a splitter with "
        "shuffle=True, which gives a shorter interval."
    )


def write_omitted(omitted: Mapping[str, str]) -> str:
    """List the parts that were not run, by reason."""
    # parts with the same reason are listed together
    by_reason: dict[str, list[str]] = {}
    for name, reason in omitted.items():
        by_reason.setdefault(reason, []).append(name)
    parts = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in by_reason.items())
    return f"Not run: {parts}. To run them, pass include='all' or their names (--include)."


def write_interruption(where: str) -> str:
    """Return where the evaluation was interrupted, and what is missing."""
    return (
        f"Run interrupted: stopped {where}. Results use the fits completed so far, and later parts "
        "are missing; run it again for the full report."
    )


def write_permutation(test: Test) -> str:
    """Return the result of the permutation test; with groups, also which labels were permuted."""
    result = (
        f"{say_pvalue(test.pvalue)}: {test.n_exceedances} of "
        f"{count(test.n_resamples, 'run')} of the whole procedure on shuffled labels scored at "
        "least as well as on the true labels."
    )
    if not test.exchanged:
        return result
    return f"{result} {describe_exchange(test)}"


def write_selection(bias: Estimate, stability: Estimate | None) -> list[str]:
    """Return the bias of selection outside the folds, and the stability of the selection."""
    claimed = _write_bias(bias)
    if stability is None:
        return [
            claimed,
            "The stability of the selection is unknown: the folds select from different features, "
            "and the steps before the selector do not name them (get_feature_names_out).",
        ]
    # how many features were selected, and how often
    rounds = stability.extra
    always, ever = rounds.selected_always, rounds.selected_ever
    value = f"{stability.value:.2f} (1 is best)"
    if np.isnan(stability.value):
        value = "undefined, because all features or none are selected"
    return [
        claimed,
        f"{count(ever, 'feature')} {'was' if ever == 1 else 'were'} selected in at least one of "
        f"{rounds.n_rounds} folds, {always} of them in all folds; stability {value}.",
    ]


def _write_bias(bias: Estimate) -> str:
    """Return the bias of selection outside the folds."""
    claimed, honest = bias.extra.cv1_error, bias.extra.cv2_error
    text = (
        f"Selecting features on all samples (CV1) would have given an error of "
        f"{write_rate(claimed)} instead of {write_rate(honest)} within the folds (CV2)"
    )
    if np.isnan(bias.interval.low):
        return f"{text}. The difference does not vary, so it has no interval."
    # the bias with its interval
    interval = bias.interval
    bias_text, low, high = (f"{100 * x:.1f}" for x in (bias.value, interval.low, interval.high))
    shown = "which is too low" if is_above_zero(bias) else "which is not significantly lower"
    return (
        f"{text}, {shown}: the bias is {bias_text} percentage points "
        f"({100 * bias.confidence_level:g} % CI {low} to {high})."
    )


def write_tuning(bias: Estimate) -> str:
    """Return the optimism of the best scores of the searches."""
    scores = bias.extra.inner_score, bias.extra.nested_score
    inner, nested, optimism, low, high = write_with_ends(bias, *scores, bias.value)
    if np.isnan(bias.interval.low):
        shown = "the difference does not vary, so its significance is unknown"
    else:
        shown = "the optimism of the best score is not significant"
        if is_above_zero(bias):
            shown = "the best score is optimistic, because it is the best of many"
        level = f"{100 * bias.confidence_level:g} % CI"
        shown += f" (difference {optimism}, {level} {low} to {high})"
    return (
        f"The best score of the hyperparameter search is {inner} on average; the selected models "
        f"score {nested} on held-out samples: {shown}. All errors in this report are from held-out "
        "samples (nested cross-validation)."
    )


def write_large_residuals(n_samples: int) -> str:
    """Return how many samples have large residuals."""
    verb = "has a residual" if n_samples == 1 else "have residuals"
    return f"{count(n_samples, 'sample')} {verb} over three times the root mean square"


def write_hard_samples(hard: HardSamples, numbers: bool) -> list[str]:
    """List the samples that may have a wrong label or value."""
    suspects = np.flatnonzero(hard.suspect).tolist()
    if not len(suspects):
        return []
    texts = [
        f"{hard.name[k]} ({hard.truth[k]}, predicted as {hard.prediction[k]})" for k in suspects
    ]
    listed = list_few(texts, MAX_SAMPLES_LISTED)
    verb, them = ("is", "it") if len(suspects) == 1 else ("are", "them")
    if numbers:
        text = f"{write_large_residuals(len(suspects))}: {listed}."
        return [f"{text} Check {them} for wrong values."]
    text = f"{count(len(suspects), 'sample')} {verb} misclassified in every repeat: {listed}."
    return [f"{text} Check {them} for label errors; class overlap looks the same."]


# --- the main interval

TARGET = "The interval is for the error of the model trained on all samples"
TARGET_IN_TIME = (
    "The interval is for the mean error, over a period like this one, of models trained on the "
    "data before each test period"
)
MIN_IN_TIME = 400
SHORT_SERIES = (
    f"The interval may be too short: with strongly autocorrelated errors it needs at least "
    f"{MIN_IN_TIME} samples."
)
CERTAIN = (
    "The interval may be too short: some predicted probabilities are 0, and the log loss of such "
    "a sample is very large if it belongs to that class."
)


def describe_interval(report: Any) -> list[str]:
    """Describe the target of the main interval, the folds, and where the interval may fail."""
    answer, predictions = report.answer, report.out_of_fold
    in_time, n_units = predictions.cases.kind is UnitKind.TIME_BLOCK, predictions.cases.n_units
    if not np.isfinite(answer.interval.low):
        return [answer.details["caution"]] if answer.extra.no_interval else []
    if in_time and n_units == 1:
        return []
    # the folds, and for samples in time order the blocks of time
    folds = answer.extra.parameters["n_folds"]
    repeats = (answer.extra.n_fits or 0) // folds  # 1 if one unit is left out at a time
    design = f"{answer.method}: {folds}-fold cross-validation"
    if answer.method == GIVEN_FOLDS:
        design = count(folds, "fold") if folds > 1 else "a single test set"
    if repeats > 1:
        design += f", repeated {repeats} times"
    described = f"{TARGET} ({design})."
    if in_time:
        described = f"{TARGET_IN_TIME} ({design}, {n_units} blocks of time)."
    # where the interval may fail
    if list_grave(report.warnings):
        return [described, FAULTY]
    probabilities = predictions.probabilities
    if answer.loss == "log_loss" and probabilities is not None and not np.all(probabilities):
        return [described, CERTAIN]
    if in_time and len(predictions.target) < MIN_IN_TIME:
        return [described, SHORT_SERIES]
    if answer.loss in ("squared", "absolute"):
        n = len(predictions.target) // 3
        return [described, f"The interval ignores large errors rarer than 1 in {n} samples."]
    return [described]


# --- the paragraph for the methods section; every sentence is taken from the report


INTERVALS = {
    "wilson": "E. B. Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953",
    "jeffreys": "L. D. Brown, T. T. Cai, A. DasGupta (2001), https://doi.org/10.1214/ss/1009213286",
    "hall": "P. Hall (1992), https://doi.org/10.1111/j.2517-6161.1992.tb01876.x",
    "bca": "B. Efron (1987), https://doi.org/10.1080/01621459.1987.10478410",
    "corrected_t": "C. Nadeau, Y. Bengio (2003), https://doi.org/10.1023/A:1024068626366",
}
AREA = "R. G. Newcombe (2006), https://doi.org/10.1002/sim.2324"
GROUPED_AREA = "N. A. Obuchowski (1997), https://doi.org/10.2307/2533958"
DISCOVERY = "Y. Benjamini, Y. Hochberg (1995), https://doi.org/10.1111/j.2517-6161.1995.tb02031.x"
VALIDATION = "B. Van Calster et al. (2019), https://doi.org/10.1186/s12916-019-1466-7"
SMOOTH = "P. C. Austin, E. W. Steyerberg (2019), https://doi.org/10.1002/sim.8281"
OPTIMISM = "B. Efron (1983), https://doi.org/10.1080/01621459.1983.10477973"
CORRELATED = "Y. Bengio, Y. Grandvalet (2004), Journal of Machine Learning Research 5, 1089-1105"
UNITS = (UnitKind.GROUP, UnitKind.TIME_BLOCK)
"""Sampling units other than single samples and folds."""


def write_methods(reports: Mapping[str, Any]) -> str:
    """Return a paragraph on the methods, with references.

    For several systems, the first report describes the methods of all.
    """
    # predictions, then methods with numbered references
    report = next(iter(reports.values()))
    sentences, cited = list(_write_source(report, list(reports))), []
    level = f"{100 * report.confidence_level:g} %"
    sentences.append(f"All intervals are {level} confidence intervals.")
    for sentence, work in _write_parts(report, several=len(reports) > 1):
        if work is not None and work not in cited:
            cited.append(work)
        sentences.append(sentence if work is None else f"{sentence} [{cited.index(work) + 1}].")
    sentences.append(f"Computed with {', '.join(map(' '.join, report.versions.items()))}.")
    works = [f"[{at}] {work}" for at, work in enumerate(cited, 1)]
    return "\n".join([" ".join(sentences), *([""] if works else []), *works])


def _write_source(report: Any, names: list[str]) -> Iterator[str]:
    """Describe the predictions behind the metrics."""
    predictions, several = report.out_of_fold, len(names) > 1
    units = predictions.cases.kind
    # the data
    samples = f"{report.n_samples} samples"
    if units in UNITS:
        samples += f" in {predictions.cases.n_groups} {units.value}"
    if predictions.target.classes is not None and len(predictions.target.classes) == 2:
        sizes = (f"{name}: {size}" for name, size in report.class_sizes.items())
        samples += f" ({', '.join(sizes)})"
    listed = f" of {len(names)} systems ({', '.join(names)})" if several else ""
    if predictions.n_fits == 0:
        yield (
            f"Existing predictions{listed} for {samples} were evaluated; the "
            f"system{'s were' if several else ' was'} not retrained."
        )
    else:
        # the folds
        repeats = len(predictions.repeats)
        design = f"cross-validation with {predictions.n_folds} folds"
        if repeats > 1:
            design += f", repeated {repeats} times"
        elif predictions.n_folds == 1:
            share = len(predictions.row) / report.n_samples
            design = f"a single hold-out of {100 * share:.3g} % of the samples"
        if units is UnitKind.GROUP:
            design += ", in which no group was split"
        rule = listed if several else f" of {report.estimator_name}"
        ones = (
            "that came after all of its training samples"
            if units is UnitKind.TIME_BLOCK
            else "on which it was not trained"
        )
        yield (
            f"The {report.answer.name}{rule} was estimated from {samples} by {design}: each model "
            f"predicted samples {ones}."
        )
    if predictions.cases.clustered:
        yield f"Variances were estimated between {units.value}."
    if report.settings.get("sample_weight", "None") != "None":
        yield "Samples were weighted."


def _write_parts(report: Any, *, several: bool) -> Iterator[tuple[str, str | None]]:
    """Yield sentences on intervals and other parts, each with its reference, if any."""
    answer, predictions = report.answer, report.out_of_fold
    # the interval of the main estimate
    method = answer.interval.method
    if predictions.inflation > 1 and math.isfinite(answer.interval.low):
        factor = "a factor for each system" if several else f"{predictions.inflation:.3g}"
        widened = f"Variances of means were multiplied by {factor}"
        if len(predictions.repeats) > 1 and not predictions.cases.clustered:
            text = f"{widened} to account for correlated losses, estimated from the repeats"
            yield text, CORRELATED
        else:
            yield f"{widened}, because models share training samples.", None
    if method != "none":
        sentence = (
            f'The confidence interval of the {answer.name} was computed with the method "{method}"'
        )
        work = INTERVALS.get(method)
        yield (sentence if work else f"{sentence}."), work
    # intervals of other metrics
    area = report.metrics.get("roc_auc") or report.metrics.get("roc_auc_macro")
    if area is not None and area.interval.method == "score":
        grouped = predictions.cases.clustered
        yield (
            "AUCs have score intervals",
            GROUPED_AREA if grouped and predictions.n_fits == 0 else AREA,
        )
    if getattr(report, "calibration", None) is not None:
        yield "Calibration was assessed as in external validation studies", VALIDATION
        yield "The smooth calibration curve is a restricted cubic spline of the log-odds", SMOOTH
    # the threshold
    cut = getattr(report, "at_threshold", None)
    if cut is not None and cut["threshold"].method == "bootstrap":
        yield (
            (
                "The threshold was chosen on these samples; the resulting optimism was "
                "estimated by repeating the choice on bootstrap resamples, and subtracted"
            ),
            OPTIMISM,
        )
    elif cut is not None:
        yield f"Classes were predicted with a threshold of {cut['threshold'].value:.4g}.", None
    # several tests
    if report.subgroups is not None and report.subgroups.less_the_rest:
        yield "The false discovery rate was controlled across subgroups", DISCOVERY
    if getattr(report, "permutation", None) is not None:
        test = report.permutation
        n = test.n_resamples
        yield f"The whole procedure was tested with {n} permutations of the labels.", None
        if test.exchanged:
            yield describe_exchange(test), None


def describe_exchange(test: Test) -> str:
    """Describe the labels that a permutation test exchanges, and the hypothesis it tests."""
    moved = {"within groups": "within groups", "whole groups": "between groups as a whole"}
    exchanged = test.exchanged
    return (
        f"Labels were exchanged {moved.get(exchanged, f'as {exchanged}')}, which tests whether "
        f"{test.null_hypothesis}."
    )
