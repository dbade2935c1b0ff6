"""Sentences of reports. The verdict comes first, then the parts.

The first sentence of a verdict is the headline. It has the main estimate with its interval, and
its relation to the baseline by the metric that `judge` uses. It is "Do not report" if a check
found a serious problem. No other function writes whether a model is better than chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from skeval._inference.errors import mean_loss_name
from skeval._inference.estimate import Estimate, Results, Test
from skeval._resampling.plans import DEFAULT_FOLDS
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import SamplingUnits, UnitKind
from skeval.metrics._table import REPORTED
from skeval.model_selection._interval_methods import GIVEN_FOLDS
from skeval.report._findings import (
    ALPHA,
    Baseline,
    Judgment,
    RareClass,
    ScoredReport,
    count_mixed_groups,
    find_better_metric,
    find_deciding,
    find_miscalibration,
    is_above_zero,
    judge,
)
from skeval.report._page import CheckResult, join_words, list_few, list_grave, note
from skeval.utils._text import (
    count,
    name_label,
    name_of,
    quote_label,
    say_pvalue,
    write_estimate,
    write_figures,
)

MAX_LISTED = 3
"""Maximum number of classes in a sentence."""


PERTURBED = {
    "cross_validation": "SVM, perturbed cross-validation",
    "resubstitution": "SVM, perturbed training",
}
"""Name of each perturbation interval, by statistic."""


def count_units(cases: SamplingUnits) -> str:
    """Return the number of groups, blocks of time or folds."""
    units = cases.kind.value
    return f"{cases.n_groups} {units.replace('s', '', 1) if cases.n_groups == 1 else units}"


def describe_classes(report: ScoredReport) -> str:
    """Return the number of samples and sampling units, and of samples per class."""
    facts, outputs = count(report.n_samples, "sample"), report.out_of_fold.target.outputs
    if outputs:
        facts += f" with {count(len(outputs), 'output')}"
    sizes = [f"{name_label(name)}: {size}" for name, size in (report.class_sizes or {}).items()]
    if sizes:
        kinds = "" if outputs else f" of {count(len(sizes), 'class')}"
        facts += f"{kinds} ({list_few(sizes)})"
    if report.n_groups is not None:
        facts += f" in {count_units(report.out_of_fold.cases)}"
    return facts


def name_metric(metric: str, *, short: bool = False) -> str:
    """Return the display name of a metric. If the name is short, its explanation is omitted."""
    name = REPORTED[metric].label if metric in REPORTED else metric
    return name.split(" (")[0] if short else name


def write_verdict(report: ScoredReport) -> list[str]:
    """Return the sentences of the verdict of scored predictions.

    After a serious problem, the verdict does not compare the model with chance.
    """
    # the main estimate, and the baseline in its unit
    amount, finding, baseline = write_main(report), judge(report), report.baseline
    never = list_few([*map(quote_label, report.never_predicted)], MAX_LISTED)
    error, against, rare = f"{amount}.", finding.reference, report.rare_class
    if against == "chance":
        against = f"chance ({finding.at:.2g})"
    if baseline is not None:
        width = find_width(report.answer, find_unit(report))
        given = write_amount(baseline.error, report.loss, width)
        error = f"{amount}; {baseline} gives {given}."
        against = against.replace(str(baseline), f"{baseline} ({given})")
    # a serious problem comes first
    if grave := list_grave(report.warnings):
        sentences = [f"Do not report this error: {'; '.join(grave)}.", error]
        sentences += [f"The model never predicts {never}."] if never else []
        return [*sentences, "It is therefore unknown whether the model beats chance."]
    # so does a feature that may give the target away
    if lead := next((one.lead for one in report.warnings if one.lead), ""):
        return [f"{lead}.", error]
    # what else bears on the relation
    details, (tested, _) = list[str](), find_deciding(report)
    if finding.counted:
        details = [TESTED[finding.permutation].format(finding.counted, tested)]
    if finding.reference == "shuffled labels":
        against, details = f"shuffled labels ({finding.counted})", []
    relation = f"{RELATIONS[finding.relation]} {against}"
    if baseline is not None and finding.reference == str(baseline):
        relation += _write_difference(report, baseline, finding.relation)
        if finding.relation == "untested":
            worse = "worse" if baseline.difference > 0 else "no worse"
            relation = f"{worse} than {against}, without a test of the difference"
    if finding.relation == "open" and finding.permutation == "shown":
        relation = f"it beats shuffled labels ({finding.counted}), but does not clearly beat "
        relation, details = relation + against, []
    bias = report.selection_bias
    if bias is not None and is_above_zero(bias):
        claimed = write_amount(bias.extra.cv1_error, "zero_one")
        details.append(f"Selecting features on all samples would have given {claimed}.")
    # the metric that decides: of a rare class, another one, or the main estimate
    start = f"{amount}: {relation}" if against else amount
    if rare is not None:
        start = f"{_write_rare(report, rare)}: {relation}"
        explained = (
            f"The class {quote_label(rare.label)} is rare ({write_rate(rare.share)} of the "
            f"samples), so the model is judged by the {name_metric(rare.metric)}."
        )
        # an error says nothing new if the same metric is the main estimate
        same = report.answer.name == name_metric(rare.metric)
        details = [explained, *details] if same else [explained, error, *details]
    elif finding.metric:
        shown = _write_with_interval(report, finding.metric)
        start = f"{amount}: better than chance according to the {shown}, but "
        start += "not significantly " if finding.against == "open" else "not "
        start += f"better than {baseline} ({given})"
    else:
        details = [*_write_second_metric(report, finding), *details]
    return [f"{start}{f', and it never predicts {never}' * bool(never)}.", *details]


def _write_difference(report: ScoredReport, baseline: Baseline, relation: str) -> str:
    """Return the difference from the baseline if it decides otherwise than the interval, or ""."""
    if np.isnan(report.answer.interval.low):
        return ""
    low, high = report.answer.confidence_interval(1 - ALPHA)
    apart = high < baseline.error or low > baseline.error
    if relation not in ("better", "worse", "open") or apart == (relation != "open"):
        return ""
    amount, ends = write_difference(baseline, report.loss)
    joined = "; the difference is" if relation == "open" else " by"
    return f"{joined} {amount} ({ends})"


RELATIONS = {
    "better": "better than",
    "worse": "worse than",
    "same": "the same as",
    "open": "no evidence that it beats",
    "untested": "not compared with",
}
TESTED = {
    "shown": "The {1} on shuffled labels is significantly worse ({0}).",
    "denied": "The {1} on shuffled labels is not significantly worse ({0}).",
    "undecided": f"There are too few permutations to decide whether P exceeds {ALPHA:g} ({{}}).",
    "powerless": "There are too few permutations for a test: {}.",
}
"""Sentence on a permutation test, for each of its results, with its P-value and metric."""


def _write_second_metric(report: ScoredReport, finding: Judgment) -> list[str]:
    """Return R2 or the area beside the main estimate, and which of the two decides."""
    second = SECOND.get(report.loss, "")
    if second not in report.metrics or finding.reference == "chance":
        return []
    text = _write_with_interval(report, second)
    text = f"{text[0].upper()}{text[1:]}."
    # a 95 % interval may exclude chance, although a second metric needs a stricter level
    excludes = find_better_metric(report.metrics, len(report.class_sizes or {}), 1 - ALPHA)[0]
    if excludes and finding.relation not in ("better", "untested"):
        level = f"{100 * (1 - ALPHA / 2):g} %"
        text += f" The model is judged by the {mean_loss_name(report.loss)}, because the {level} "
        return [f"{text}interval of this second metric includes chance."]
    return [text] if second == "r2" or report.out_of_fold.n_fits == 0 else []


SECOND = {"squared": "r2", "absolute": "r2", "brier": "roc_auc", "zero_one": "roc_auc"}
"""Metric beside the main estimate, by loss."""


def _write_with_interval(report: ScoredReport, name: str) -> str:
    """Return a text such as "area under the ROC curve 0.91 (95 % CI ...)"."""
    estimate = report.metrics[name]
    low, high = estimate.confidence_interval(1 - ALPHA)
    ends = f" (95 % CI {low:.2f} to {high:.2f})" * bool(np.isfinite(low))
    return f"{name_metric(name, short=True)} {estimate.value:.2f}{ends}"


def _write_rare(report: ScoredReport, rare: RareClass) -> str:
    """Return the metric of a rare class with its interval, and recall and precision."""
    label = quote_label(rare.label)
    text = f"{_write_with_interval(report, rare.metric)} for the rare class {label}"
    names = {name: name_of(name, rare.label) for name in ("recall", "precision")}
    metrics = report.metrics
    rates = {name: metrics[key].value for name, key in names.items() if key in metrics}
    listed = [f"{name} {write_rate(rate)}" for name, rate in rates.items() if np.isfinite(rate)]
    text += f" ({', '.join(listed)})" * bool(listed)
    return f"{text[0].upper()}{text[1:]}"


NO_INTERVAL: dict[str, str] = {
    "few_large_losses": "a few samples account for most of the error",
    "few_groups": "there are too few groups",
    "unstable_models": "models trained on other samples differ too much",
}


def write_main(report: ScoredReport) -> str:
    """Return the main estimate with its interval, as the start of a sentence."""
    answer, unit, predictions = report.answer, find_unit(report), report.out_of_fold
    start, why = f"{answer.name[0].upper()}{answer.name[1:]}", "the losses do not vary"
    if predictions.n_fits:
        name = name_error(answer.loss)
        if predictions.target.outputs and answer.loss != "squared":
            name = answer.name
        start = f"Estimated {name} on new samples:"
        why = NO_INTERVAL.get(answer.extra.no_interval, why)
    # a single block of time has no variance, and so no interval
    if np.isfinite(answer.interval.low) and answer.n_groups != 1:
        interval, width = answer.interval, find_width(answer, unit)
        value, low, high = (write_amount(x, unit, width) for x in (answer.value, *interval))
        level = f"{100 * interval.confidence_level:g} % CI"
        return f"{start} {value} ({level} {low.removesuffix(' %')} to {high})"
    if answer.n_groups == 1:
        why = "errors of neighboring samples are too correlated"
    return f"{start} {write_amount(answer.value, unit)} (no confidence interval: {why})"


def find_unit(report: ScoredReport) -> str:
    """Return the loss in whose unit the main estimate is written, or "zero_one" for a fraction."""
    if report.answer.name in SHARES:
        return "zero_one"
    return "squared" if report.answer.loss == "squared" and report.loss == "squared" else ""


SHARES = ("error rate", "Hamming loss")
"""Quantities that are written in percent."""


def name_error(loss: str) -> str:
    """Return the name of the error to report."""
    names = {"zero_one": "error", "squared": "root mean squared error"}
    return names.get(loss) or mean_loss_name(loss)


def write_amount(value: float, loss: str, width: float = np.nan) -> str:
    """Return a mean loss as text, as a percentage for a rate, or the root of a squared error.

    The `width` of the interval determines the number of decimals.
    """
    if loss == "squared":
        value = float(np.sqrt(value))
    if loss != "zero_one":
        spread = max(width / 4, 1e-4 * abs(value))  # of a baseline that is much worse
        return write_estimate(value, spread) if width > 0 else write_figures(value)
    # one decimal, or those that the width supports
    if not width > 0:
        return f"{100 * value:.2g} %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"
    decimals = max(1, int(np.ceil(-np.log10(25 * width))))
    return f"{100 * value:.{decimals}f} %"


def find_width(estimate: Estimate, loss: str) -> float:
    """Return the width of an interval, in the unit of the root for a mean squared error."""
    low, high = estimate.interval.low, estimate.interval.high
    return float(np.sqrt(high) - np.sqrt(low)) if loss == "squared" else high - low


def write_rate(value: float) -> str:
    """Return a rate in percent."""
    return write_amount(value, "zero_one")


def write_with_ends(estimate: Estimate, *values: float) -> list[str]:
    """Return values and limits as text, with the digits that the width of the interval supports."""
    low, high = estimate.interval.low, estimate.interval.high
    return [write_estimate(value, (high - low) / 4) for value in (*values, low, high)]


def write_baseline(baseline: Baseline, loss: str) -> str:
    """Compare the error with that of the baseline on the same samples, as a clause."""
    (value, ends), relation = write_difference(baseline, loss), baseline.relation
    if relation == "same":
        return f"the error of the model is that of {baseline}"
    if relation in ("better", "worse"):
        order = "lower" if relation == "better" else "higher"
        return f"the error of the model is {value} {order} than that of {baseline} ({ends})"
    ends = "without an interval" if relation == "untested" else ends
    return f"the error of the model minus that of {baseline} is {value} ({ends})"


def note_baseline(baseline: Baseline, loss: str) -> CheckResult:
    """Return the warning that the model is not better than the baseline, with advice."""
    rates, relation = loss == "zero_one", baseline.relation
    advice = f"Try {'class weights, ' * rates}more samples, other features or another model."
    if relation == "worse" and rates:
        advice = "Use the model only if errors on rare classes cost more than others."
    elif relation == "worse":
        advice = "Do not use the model."
    return note("baseline", BASELINE_TITLES[relation], write_baseline(baseline, loss), advice)


BASELINE_TITLES = {
    "same": "Same as the baseline",
    "open": "Not significantly better than the baseline",
    "worse": "Worse than the baseline",
    "untested": "Not compared with the baseline",
}


def write_difference(baseline: Baseline, loss: str) -> tuple[str, str]:
    """Return the difference from the baseline and its interval as text, in the unit of the error.

    It is positive whether the model is better or worse. Differences of error rates are in
    percentage points. Differences of mean squared errors are divided by the sum of both roots, so
    they become differences of the roots.
    """
    roots = [float(np.sqrt(max(0, baseline.error + x))) for x in (0, baseline.difference)]
    scale = {"squared": sum(roots) or 1.0, "zero_one": 0.01}.get(loss, 1.0)
    scale = -scale if baseline.better else scale
    value, ends = baseline.difference / scale, (baseline.low / scale, baseline.high / scale)
    low, high = sorted(ends)
    if loss == "zero_one":
        return f"{value:.1f} percentage points", f"95 % CI {low:.1f} to {high:.1f}"
    texts = [write_estimate(x, (high - low) / 4) for x in (value, low, high)]
    return texts[0], f"95 % CI {texts[1]} to {texts[2]}"


def note_few_folds(reason: str, n_folds: int, n_wanted: int = DEFAULT_FOLDS) -> CheckResult:
    """Return the number of folds, and why some do not test a class or there are few."""
    if n_folds >= n_wanted:
        evidence = f"{reason}, so some of the {n_folds} folds do not test this class"
        return note("few-folds", "Few folds", evidence, "Collect more samples of this class.")
    evidence = f"{reason}, so {n_folds} folds were used instead of {n_wanted}"
    advice = "With fewer folds, models are trained on fewer samples, and their errors may be "
    return note("few-folds", "Few folds", evidence, f"{advice}higher. Collect more data.")


def note_single_group(label: str) -> CheckResult:
    """State that no model was trained on the class that it is tested on."""
    return note(
        "few-folds",
        "Class in a single group",
        f"class {label} occurs in one group only",
        "Each model that is tested on it was trained without it, so its recall is 0. Leave the "
        "class out, merge it with another one, or collect more groups.",
    )


def note_given_folds(n_units: int) -> CheckResult:
    """Describe the sampling units if the folds are used as they are."""
    return note(
        "given-folds",
        "Given folds",
        "the folds in cv= are used as they are",
        f"Samples that are always in the same test sets count as one sampling unit ({n_units} "
        "units). The permutation test was not run. If samples belong together, pass groups=. If "
        "not, pass a number or a splitter with shuffle=True, which gives a shorter interval.",
    )


def write_relations(
    judgments: Mapping[str, Judgment], baseline: Baseline | None, loss: str
) -> list[str]:
    """Return which of several models are better or worse than the baseline."""
    # models with the same relation to the same reference are named together
    order, metric = {"better": 0, "worse": 1}, next(iter(judgments.values())).metric
    systems: dict[tuple[int, str], list[str]] = {}
    for name, one in judgments.items():
        if one.reference:
            key = order.get(one.relation, 2), one.reference
            systems.setdefault(key, []).append(f'"{name}"')
    texts = list[str]()
    for (place, reference), names in sorted(systems.items()):
        everyone = "both" if len(judgments) == 2 else f"all {len(judgments)}"
        who = everyone if len(names) == len(judgments) else join_words(names, "and")
        if baseline is not None and reference == str(baseline):
            reference += f" ({write_amount(baseline.error, loss)})"
        verb = (("beat", "are worse than"), ("beats", "is worse than"))[len(names) == 1]
        claim = f"{who} {verb[place]}" if place < 2 else ""
        claim = claim or f"no evidence that {join_words(names, 'or')} beats"
        texts.append(f"{claim} {reference}")
    # one metric decides for all models
    text = f"by the {name_metric(metric)}, " * bool(metric) + "; ".join(texts)
    return [f"{text[0].upper()}{text[1:]}."] if texts else []


def write_omitted(omitted: Mapping[str, str]) -> str:
    """List the parts that were not run, by reason."""
    # parts with the same reason are listed together
    by_reason: dict[str, list[str]] = {}
    for name, reason in omitted.items():
        by_reason.setdefault(reason, []).append(name)
    parts = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in by_reason.items())
    budget = ", and a larger budget" * ("time limit" in parts)
    return f"Not run: {parts}. To run them, pass include='all' or their names (--include){budget}."


def note_interruption(where: str) -> CheckResult:
    """Return where the evaluation was interrupted, and what is missing."""
    return note(
        "interrupted",
        "Run interrupted",
        f"stopped {where}",
        "Results use the fits completed so far, and later parts are missing. Run it again for the "
        "full report.",
    )


def write_permutation(test: Test, report: ScoredReport) -> str:
    """Return the result of the permutation test, and with groups which labels were permuted."""
    early = test.stopped and test.pvalue > ALPHA  # its value is imprecise
    chance = f"P > {ALPHA:g} (stopped early)" if early else say_pvalue(test.pvalue)
    result = (
        f"{chance}: in {test.n_exceedances} of {count(test.n_resamples, 'run')} of the whole "
        f"procedure on shuffled labels, the {find_deciding(report)[0]} was at least as good as on "
        "the true labels."
    )
    if not test.exchanged:
        return result
    return f"{result} {describe_exchange(test, report.out_of_fold)}."


def write_selection(bias: Estimate, stability: Estimate | None) -> list[str]:
    """Return the bias of selection outside the folds, and the stability of the selection."""
    claimed, honest = write_rate(bias.extra.cv1_error), write_rate(bias.extra.cv2_error)
    # without any choice, the stability is undefined
    if stability is not None and np.isnan(stability.value):
        return [f"The selection keeps all {stability.extra.selected_always} features."]
    text = f"With the selection within the folds (CV2), the error is {honest}. With the selection "
    text += f"on all samples (CV1), it would have been {claimed}{' as well' * (claimed == honest)}"
    if claimed != honest and np.isfinite(bias.interval.low):
        interval = bias.interval
        value, low, high = (f"{100 * x:.1f}" for x in (bias.value, interval.low, interval.high))
        text += f" (CV2 minus CV1 is {value} percentage points, "
        text += f"{100 * bias.confidence_level:g} % CI {low} to {high})"
    # how many features were selected, and how often
    if stability is None:
        selected = "The stability of the selection is unknown, because the folds select from "
        return [f"{text}.", f"{selected}features without names (get_feature_names_out)."]
    rounds = stability.extra
    selected = f"Of {rounds.n_rounds} folds, at least one selected "
    selected += f"{count(rounds.selected_ever, 'feature')}, and all selected "
    selected += f"{rounds.selected_always}. The stability is {stability.value:.2f} (1 is best)."
    return [f"{text}.", selected]


def write_tuning(bias: Estimate) -> str:
    """Return the best scores of the searches, and the scores of the selected models."""
    scores = bias.extra.inner_score, bias.extra.nested_score
    inner, nested, optimism, low, high = write_with_ends(bias, *scores, bias.value)
    level = f"{100 * bias.confidence_level:g} % CI"
    ends = "" if np.isnan(bias.interval.low) else f", {level} {low} to {high}"
    return (
        f"The best score of the hyperparameter search is {inner} on average. The selected models "
        f"score {nested} on held-out samples (difference {optimism}{ends}). All errors in this "
        "report are from held-out samples (nested cross-validation)."
    )


MIN_SLOPE = 0.8
"""Slopes from here to the reciprocal count as calibrated, if the interval lies within."""


def write_calibration(measures: Results) -> str:
    """Return what the intervals of the calibration measures show."""
    low, high = measures["slope"].interval
    if problems := find_miscalibration(measures):
        return f"Probabilities are {' and '.join(problems.values())}"
    if np.isnan(low):
        return "Calibration is unknown, because the slope is undefined"
    # one of the two intervals may exclude the best value by chance
    if find_miscalibration(measures, 1 - ALPHA):
        return "Miscalibration is not significant"
    # wide intervals show nothing
    if not (low >= MIN_SLOPE and high <= 1 / MIN_SLOPE):
        return "There are too few samples to determine whether the probabilities are calibrated"
    return "No miscalibration was detected"


def describe_calibration(report: ScoredReport) -> Iterator[tuple[str, str]]:
    """Yield the sentences on the calibration measures, with their references."""
    if report.calibration is not None:
        yield "Calibration was assessed as in external validation studies", VALIDATION
        text = "The smooth calibration curve is a restricted cubic spline of the log-odds"
        yield text, SMOOTH


VALIDATION = "B. Van Calster et al. (2019), https://doi.org/10.1186/s12916-019-1466-7"
SMOOTH = "P. C. Austin, E. W. Steyerberg (2019), https://doi.org/10.1002/sim.8281"


# --- the main interval

MIN_IN_TIME = 400


def describe_interval(report: ScoredReport) -> list[str]:
    """Describe the target of the main interval, the folds, and when the interval may fail."""
    answer, predictions = report.answer, report.out_of_fold
    in_time, n_units = predictions.cases.kind is UnitKind.TIME_BLOCK, predictions.cases.n_units
    if not np.isfinite(answer.interval.low):
        return [answer.details["caution"]] if answer.extra.no_interval else []
    if in_time and n_units == 1:
        return []
    # the folds, and for samples in time order the blocks of time
    design = describe_folds(report)
    described = f"The intervals are for the model trained on all samples ({design})."
    if in_time:
        described = (
            "Each model was trained on the data before its test period. The interval is for the "
            f"mean error over a similar period ({design}, {n_units} blocks of time)."
        )
    # where the interval may fail
    probabilities, limit = predictions.probabilities, answer.details.get("caution", "")
    if answer.loss == "log_loss" and probabilities is not None and not np.all(probabilities):
        limit = "The interval may be too narrow, because some predicted probabilities are 0."
    elif in_time and len(predictions.target) < MIN_IN_TIME:
        limit = "The interval may be too narrow, because strongly autocorrelated errors require at "
        limit += f"least {MIN_IN_TIME} samples."
    return [described, limit] if limit else [described]


def describe_folds(report: ScoredReport) -> str:
    """Return the number of folds and repeats, or the size of a hold-out, as text."""
    predictions = report.out_of_fold
    n_repeats, design = len(predictions.repeats), f"{predictions.n_folds}-fold cross-validation"
    if predictions.n_folds == 1:
        share = len(predictions.row) / n_repeats / len(predictions.target)
        design = f"a hold-out of {100 * share:.3g} % of the samples"
    elif report.answer.method == GIVEN_FOLDS:  # their test sets may overlap or miss samples
        design = f"cross-validation with {predictions.n_folds} folds"
    return f"{n_repeats} repeats of {design}" if n_repeats > 1 else design


# --- the paragraph for the methods section; every sentence is taken from the report


INTERVALS = {
    "wilson": "E. B. Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953",
    "jeffreys": "L. D. Brown, T. T. Cai, A. DasGupta (2001), https://doi.org/10.1214/ss/1009213286",
    "hall": "P. Hall (1992), https://doi.org/10.1111/j.2517-6161.1992.tb01876.x",
    "bca": "B. Efron (1987), https://doi.org/10.1080/01621459.1987.10478410",
    "corrected_t": "C. Nadeau, Y. Bengio (2003), https://doi.org/10.1023/A:1024068626366",
}
KINDS = {
    "wilson": "Wilson's interval",
    "jeffreys": "Jeffreys' interval",
    "exact": "the exact interval of Clopper and Pearson",
    "score": "a score interval",
    "log": "Student's t interval of the logarithm",
    "t": "Student's t interval",
    "corrected_t": "Student's t interval with the corrected variance",
    "hall": "Hall's interval of a skewed mean",
    "bca": "the bias-corrected and accelerated (BCa) interval of the bootstrap",
    "percentile": "the percentile interval of the bootstrap",
}
"""Names of the intervals in words, by method."""
AREA = "R. G. Newcombe (2006), https://doi.org/10.1002/sim.2324"
GROUPED_AREA = "N. A. Obuchowski (1997), https://doi.org/10.2307/2533958"
DISCOVERY = "Y. Benjamini, Y. Hochberg (1995), https://doi.org/10.1111/j.2517-6161.1995.tb02031.x"
SEQUENTIAL = "M. P. Fay et al. (2007), https://doi.org/10.1198/106186007X257025"
CORRELATED = "Y. Bengio, Y. Grandvalet (2004), Journal of Machine Learning Research 5, 1089-1105"


def write_methods(reports: Mapping[str, Any], deciding: str = "") -> str:
    """Return a paragraph on the methods, with references.

    For several models, the first report describes the methods of all, and `deciding` is the metric
    that is compared.
    """
    report, texts, cited = next(iter(reports.values())), list[str](), list[str]()
    for sentence, work in _list_methods(report, reports, deciding):
        if work and work not in cited:
            cited.append(work)
        texts.append(f"{sentence} [{cited.index(work) + 1}]." if work else f"{sentence}.")
    texts.append(f"Computed with {', '.join(map(' '.join, report.versions.items()))}.")
    works = [f"[{at}] {work}" for at, work in enumerate(cited, 1)]
    return "\n".join([" ".join(texts), *([""] if works else []), *works])


def _list_methods(
    report: Any, reports: Mapping[str, Any], deciding: str
) -> Iterator[tuple[str, str]]:
    """Yield a sentence on each step, with its reference, or "" without one."""
    quantity, estimate = find_deciding(report, deciding)
    yield _describe_predictions(report, list(reports), quantity), ""
    # the parameters, which the name of a model does not contain
    for name, one in reports.items() if report.out_of_fold.n_fits else ():
        if len(reports) > 1 or one.estimator_steps != one.estimator_name:
            yield f"{name or 'The model'} was {one.estimator_steps}", ""
    units = report.out_of_fold.cases
    if units.clustered:
        yield f"Variances were estimated between {units.kind.value}", ""
    if report.settings.get("sample_weight", "None") != "None":
        yield "Samples were weighted", ""
    yield f"All intervals are {100 * report.confidence_level:g} % confidence intervals", ""
    yield from _describe_main_interval(report, quantity, estimate, several=len(reports) > 1)
    yield from report.list_methods()
    # several tests
    if report.subgroups is not None and report.subgroups.less_the_rest:
        yield "The false discovery rate was controlled across subgroups", DISCOVERY


def _describe_predictions(report: Any, names: list[str], quantity: str) -> str:
    """Return the sentence on the data, the models and the folds that predicted it."""
    predictions, several = report.out_of_fold, len(names) > 1
    # the data, and the models if there are several
    samples, units = describe_classes(report), predictions.cases.kind
    of = f" of {len(names)} models ({', '.join(names)})" if several else ""
    if predictions.n_fits == 0:
        verb = "models were" if several else "model was"
        return f"Existing predictions{of} for {samples} were evaluated. The {verb} not retrained"
    # the folds
    design = describe_folds(report)
    design += ", in which no group was split" * (units is UnitKind.GROUP)
    tested = "on which it was not trained"
    if units is UnitKind.TIME_BLOCK:
        tested = "that came after all of its training samples"
    text = f"The {quantity}{of or f' of {report.estimator_name}'} was estimated from {samples}"
    return f"{text} by {design}: each model predicted samples {tested}"


def _describe_main_interval(
    report: Any, quantity: str, estimate: Estimate, *, several: bool
) -> Iterator[tuple[str, str]]:
    """Yield the sentences on the interval of the main estimate, and on those of areas."""
    predictions, method = report.out_of_fold, estimate.interval.method
    grouped = predictions.cases.clustered
    if predictions.inflation > 1 and np.isfinite(estimate.interval.low):
        factor = "a factor for each model" if several else f"{predictions.inflation:.3g}"
        text = f"Variances of means were multiplied by {factor}, because models share training "
        is_estimated = len(predictions.repeats) > 1 and not grouped
        yield f"{text}samples", CORRELATED if is_estimated else ""
    # areas have score intervals
    area = report.metrics.get("roc_auc") or report.metrics.get("roc_auc_macro")
    if method != "none" and not (estimate is area and method == "score"):
        kind = KINDS.get(method, f'the interval "{method}"')
        yield f"The confidence interval of the {quantity} is {kind}", INTERVALS.get(method, "")
    if area is not None and area.interval.method == "score":
        work = GROUPED_AREA if grouped and predictions.n_fits == 0 else AREA
        yield "Score intervals were computed for areas under the ROC curve (AUC)", work


def describe_permutation(
    test: Test, predictions: Predictions, n_most: int | str
) -> Iterator[tuple[str, str]]:
    """Yield the sentences on a permutation test, which may have stopped before `n_most`."""
    text, work = f"with {test.n_resamples} permutations of the labels", ""
    if test.stopped:
        text = f"by a sequential permutation test (at most {n_most} permutations of the labels, "
        text, work = f"{text}stopped after {test.n_resamples})", SEQUENTIAL
    yield f"The whole procedure was tested {text}", work
    if test.exchanged:
        yield describe_exchange(test, predictions), ""


def describe_exchange(test: Test, predictions: Predictions) -> str:
    """Describe the labels that a permutation test permutes, and the hypothesis that it tests."""
    n_groups, moved = predictions.cases.n_groups, f"as {test.exchanged}"
    if test.exchanged == "whole groups":
        moved = "between groups as a whole"
    elif test.exchanged == "within groups" and n_groups is not None:
        mixed = count_mixed_groups(predictions)
        moved = f"within groups ({mixed} of {n_groups} groups have several labels and contribute)"
    return f"Labels were permuted {moved}, which tests whether {test.null_hypothesis}"
