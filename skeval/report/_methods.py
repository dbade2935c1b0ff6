"""The methods text of a report; every sentence is taken from the report, nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from skeval._inference.estimate import Test
from skeval._resampling.sampling_units import UnitKind

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
REPEATS = "Y. Bengio, Y. Grandvalet (2004), Journal of Machine Learning Research 5, 1089-1105"
UNITS = (UnitKind.GROUP, UnitKind.TIME_BLOCK)
"""Sampling units other than single samples and folds."""


def write_methods(reports: Mapping[str, Any]) -> str:
    """Return a paragraph on the methods, with references.

    For several systems, the first report describes the methods of all.
    """
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
    if predictions.cases.n_groups is not None:
        yield f"Variances were estimated between {units.value}."
    if report.settings.get("sample_weight", "None") != "None":
        yield "Samples were weighted."


def _write_parts(report: Any, *, several: bool) -> Iterator[tuple[str, str | None]]:
    """Yield sentences on intervals and other parts, each with its reference, if any."""
    answer, predictions = report.answer, report.out_of_fold
    method = answer.interval.method
    if predictions.inflation > 1 and math.isfinite(answer.interval.low):
        factor = "a factor for each system" if several else f"{predictions.inflation:.3g}"
        widened = f"Variances of means were multiplied by {factor}"
        if len(predictions.repeats) > 1 and predictions.cases.n_groups is None:
            yield f"{widened} to account for correlated losses, estimated from the repeats", REPEATS
        else:
            yield f"{widened}, because models share training samples.", None
    if method != "none":
        sentence = (
            f'The confidence interval of the {answer.name} was computed with the method "{method}"'
        )
        work = INTERVALS.get(method)
        yield (sentence if work else f"{sentence}."), work
    area = report.metrics.get("roc_auc") or report.metrics.get("roc_auc_macro")
    if area is not None and area.interval.method == "score":
        grouped = predictions.cases.n_groups is not None
        yield (
            "AUCs have score intervals",
            GROUPED_AREA if grouped and predictions.n_fits == 0 else AREA,
        )
    if getattr(report, "calibration", None) is not None:
        yield "Calibration was assessed as in external validation studies", VALIDATION
        yield "The smooth calibration curve is a restricted cubic spline of the log-odds", SMOOTH
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
