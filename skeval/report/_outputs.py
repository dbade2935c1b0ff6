"""Report of a procedure that predicts several labels, or several numbers, for each sample.

The error over all outputs, the error of each output and the scores use the same repeated folds.
Samples are the units of every interval, because the outputs of a sample are not independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import f1_score

from skeval._adapters.fits import fit_each
from skeval._inference.estimate import Estimate, Results
from skeval._inference.intervals import log_odds_interval
from skeval._resampling.fit_outputs import (
    FitOutput,
    Loss,
    join_outputs,
    losses_by_output,
    resolve_loss,
)
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs, validate_inputs
from skeval._resampling.jobs import tallied_warnings
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import Target
from skeval.model_selection import EstimatesDisplay, metric_interval
from skeval.model_selection._error_interval import (
    loss_of_score,
    read_positive_weight,
    score_of_error,
    take_score,
)
from skeval.model_selection._estimates import label_parts
from skeval.model_selection._interval_methods import (
    AUTO,
    RepeatedFolds,
    average_subsamples,
    collect_repeats,
    plan_repeats,
)
from skeval.report import _scored
from skeval.report._findings import Baseline, find_median, make_baseline
from skeval.report._multilabel import Labels, warn_of_labels
from skeval.report._predictions import take_groups, warn_of_few_groups
from skeval.report._report import Layout, Report
from skeval.report._run import RUN_OPTIONS, describe_run, name_steps, write_estimator
from skeval.report._sections import Caution, Figure, Section, Table
from skeval.report._sentences import write_verdict
from skeval.utils import _checks
from skeval.utils._checks import ignored_warnings
from skeval.utils._text import count, mean_loss_name

NOT_SUPPORTED = {
    "by": None,
    "budget": None,
    "feature_names": None,
    "left_out": None,
    "pos_label": None,
}
"""Arguments of `evaluate` that must have their default for several outputs."""
SHARES = ("hamming", "zero_one")
BASELINES = {
    "hamming": "the most frequent value of each label",
    "zero_one": "the most frequent value of each label",
    "squared": "the mean of each output",
    "absolute": "the median of each output",
}
LOSS_LABELS = {name: mean_loss_name(name) for name in BASELINES}
LOSS_LABELS["zero_one"] = "samples with a wrong label"
MAX_ROWS = 30


def evaluate_outputs(estimator: Any, X: Any, y: Any, options: Mapping[str, Any]) -> Report:
    """Return the report of `skeval.evaluate` for several columns in `y`."""
    for name, default in NOT_SUPPORTED.items():
        if options[name] is not default:
            raise ValueError(
                f"{name} must be {default} for several outputs, got {options[name]!r}; evaluate "
                "a single column of y with it."
            )
    if options["include"] != "auto":
        raise ValueError(
            f"include must be 'auto' for several outputs, got {options['include']!r}; "
            "error_interval and permutation_test compute other estimates."
        )
    arguments = {"estimator": estimator, "X": X, "y": y, **options}
    X, groups = take_groups(X, options["groups"])
    inputs = validate_inputs(
        estimator,
        X,
        y,
        groups,
        method=AUTO,
        several=True,
        **{name: options[name] for name in RUN_OPTIONS},
    )
    inputs = inputs.with_options(weight=read_positive_weight(inputs, options["sample_weight"]))
    seed = _checks.small_seed(options["random_state"])
    scoring = options["scoring"]
    if scoring is None:
        scoring = [] if inputs.target.output_classes else ["r2"]
    elif not isinstance(scoring, list | tuple | set | dict):
        scoring = [scoring]
    folds = plan_repeats(inputs, _checks.root_seed(seed), cv=options["cv"])
    request = FitRequest()
    if scoring:
        request = FitRequest.for_scores(inputs.estimator, scoring)
    with tallied_warnings():
        outputs = list(fit_each(folds.inputs, folds.plan, request))
    overall = judge(folds, outputs, inputs.loss)
    scores = score_outputs(folds, outputs, scoring)
    if has_indicators(inputs.target):
        with ignored_warnings(UserWarning):  # the report warns about labels without F1
            scores = pool_f1(overall.predictions, inputs.confidence_level) | scores
    own = losses_by_output(inputs.loss, inputs.target)
    other = "zero_one" if inputs.target.output_classes else "absolute"
    metrics = {
        loss.name: judge(folds, outputs, loss).answer
        for loss in (inputs.loss, resolve_loss(other, inputs.target))
    }
    single = {name: judge(folds, outputs, loss) for name, loss in own.items()}
    results: dict[str, Any] = {
        "answer": overall.answer,
        "loss": "zero_one" if overall.answer.loss in SHARES else "",
        "estimates": Results({"all": overall.answer, **{k: o.answer for k, o in single.items()}}),
        "metrics": Results(metrics | scores),
        "outputs": single,
        "baseline": overall.baseline,
        "rare_class": None,
        "never_predicted": (),
        "subgroups": None,
        "out_of_fold": overall.predictions,
        "confidence_level": float(inputs.confidence_level),
        "n_samples": len(inputs.target),
        "n_groups": overall.predictions.cases.n_groups,
        "class_sizes": None,
        "estimator": write_estimator(estimator),
        "estimator_name": name_steps(estimator),
    }
    warned = tuple(warn_of_outputs(folds.inputs, outputs, overall.predictions))
    return Report(OUTPUTS, results, warned, **describe_run("skeval.evaluate", arguments, seed))


class JudgedOutput(NamedTuple):
    """Estimated error of one output or of all outputs, with the best constant prediction.

    Attributes
    ----------
    answer : Estimate
    baseline : Baseline or None
        None for a loss that is a user-defined function.
    predictions : Predictions
    """

    answer: Estimate
    baseline: Baseline | None
    predictions: Predictions


def judge(folds: RepeatedFolds, outputs: Sequence[FitOutput | None], loss: Loss) -> JudgedOutput:
    """Return the error of a loss from the outputs of all fits."""
    inputs = folds.inputs.with_options(losses=(loss,))
    answer, predictions = collect_repeats(folds._replace(inputs=inputs), outputs)
    if loss.name not in BASELINES:
        return JudgedOutput(answer, None, predictions)
    target = inputs.target
    weight = np.ones(len(target)) if inputs.weight is None else inputs.weight
    constant = np.column_stack(
        [find_constant(column, weight, loss.name) for column in target.codes.T]
    )
    losses = loss(target.codes, np.broadcast_to(constant, target.codes.shape))
    baseline = make_baseline(
        predictions, BASELINES[loss.name], losses[predictions.row], "predicting"
    )
    return JudgedOutput(answer, baseline, predictions)


def find_constant(column: np.ndarray, weight: np.ndarray, loss: str) -> float:
    """Return the constant with the smallest mean loss: the mode, the mean or the median."""
    if loss in SHARES:
        return float(np.argmax(np.bincount(column, weight)))
    if loss == "squared":
        return float(np.average(column, weights=weight))
    return find_median(column, weight)


def has_indicators(target: Target) -> bool:
    """Return whether all columns contain only 0 and 1, as indicators of labels do."""
    classes = target.output_classes
    return bool(classes) and all(labels.tolist() == [0, 1] for labels in classes)


def score_outputs(
    folds: RepeatedFolds, outputs: Sequence[FitOutput | None], scoring: Any
) -> dict[str, Estimate]:
    """Return the mean of each score over the test sets, with the interval of "corrected_t"."""
    inputs, plan = folds.inputs, folds.plan
    shown = {"n_folds": plan.n_folds, "n_repeats": plan.n_repeats}
    scores = [np.nan if one is None or one.scores is None else one.scores[0] for one in outputs]
    results: dict[str, Estimate] = {}
    for name, label in label_parts(scoring).items() if scoring else ():
        of_score = inputs.with_options(losses=(loss_of_score(inputs, label),))
        means = take_score(scores, name, label)
        error = average_subsamples(of_score, means, 1 / max(1, plan.n_folds - 1), shown)
        results[name] = score_of_error(inputs, label, error)
    return results


def pool_f1(predictions: Predictions, confidence_level: float) -> dict[str, Estimate]:
    """Return F1, macro and micro, of all tested samples of a repeat, averaged over the repeats.

    The variance is computed for a test set, and inflated as for the error.
    """
    results: dict[str, Estimate] = {}
    true = predictions.look_up(predictions.target.codes)
    first, group = predictions.repeats[0], predictions.group
    for average in ("macro", "micro"):
        metric = partial(f1_score, average=average, zero_division=0.0)
        values = [metric(true[part], predictions.predicted[part]) for part in predictions.repeats]
        one = metric_interval(
            metric,
            true[first],
            predictions.predicted[first],
            groups=None if group is None else group[first],
            confidence_level=confidence_level,
            random_state=0,
        )
        value, error = float(np.mean(values)), one.standard_error * predictions.inflation**0.5
        results[f"f1_{average}"] = replace(
            one,
            name=f"f1_{average}",
            value=value,
            standard_error=error,
            method=AUTO,
            limits={"log_odds": partial(log_odds_interval, value, error)},
            replicates=np.array(values),
        )
    return results


def warn_of_outputs(
    inputs: Inputs, outputs: Sequence[FitOutput | None], predictions: Predictions
) -> Iterator[Caution]:
    """Yield the warnings about the groups, and about labels that are constant, rare or unused."""
    target = inputs.target
    if not has_indicators(target):
        yield from warn_of_few_groups(predictions)
        return
    joined = join_outputs([output for output in outputs if output is not None])
    called = np.zeros(target.codes.shape, dtype=bool)
    called[joined.rows] |= joined.predicted == 1
    true = target.codes == 1
    yield from warn_of_labels(
        Labels("labels", target.outputs, true, None, called, None), predictions
    )


# --- the report


def _describe_basis(report: Any) -> list[str]:
    """Return the target of the intervals, and the steps that were left out."""
    folds, units = report.answer.extra.parameters, report.out_of_fold.cases
    return [
        f"Intervals are for the model trained on all samples ({report.answer.method}: "
        f"{count(folds['n_folds'], 'fold')}, {count(folds['n_repeats'], 'repeat')}). The units "
        f"are {units.kind.value}; outputs of the same sample may be correlated.",
        "Not run: the checks of the data, which need a single column of y.",
    ]


def _write_facts(report: Any) -> list[str]:
    """Return the size of the data."""
    return [f"{report.n_samples} samples with {len(report.outputs)} outputs"]


def _describe_outputs(report: Any) -> list[dict[str, Any]] | None:
    """Return a row for each output: its error, the best constant, and which is better."""
    rows = []
    for name, (answer, baseline, _) in report.outputs.items():
        assert baseline is not None
        better = "yes" if baseline.better else "worse" if baseline.worse else "not shown"
        low, high = answer.interval
        row = {"output": name, "error": answer.value, "low": low, "high": high}
        rows.append(row | {"constant": baseline.error, "better": better})
    return rows or None


def show_metrics(report: Any) -> Section:
    """Return the section of all outputs together."""
    rows = [
        (LOSS_LABELS.get(name, name), one.value, one.interval)
        for name, one in report.metrics.items()
    ]
    head = ["over all outputs", "estimate", _scored.write_level(report)]
    return Section("All outputs together", tables=[Table("All outputs.", head, rows, left=(0, 2))])


def show_outputs(report: Any) -> Section | None:
    """Return the section of the error of each output."""
    records, level = _describe_outputs(report), _scored.write_level(report)
    if not records:
        return None
    rows = [
        (
            row["output"],
            row["error"],
            report.outputs[row["output"]].answer.interval,
            row["constant"],
            row["better"],
        )
        for row in records
    ]
    worst = max(records, key=lambda row: row["error"] / row["constant"] if row["constant"] else 0)
    figure = Figure(
        report.plot,
        f"{report.answer.name.capitalize()}: all outputs and each, with {level}s.",
        label=f"Forest plot of {len(records)} outputs.",
        height=1.2 + 0.3 * min(len(records), _scored.MAX_DRAWN),
    )
    head = ["output", "error", level, "best constant", "better"]
    return Section(
        f"Least gain over a constant: {worst['output']}",
        figures=[figure],
        tables=[Table("By output.", head, rows, n_in_text=MAX_ROWS, left=(0, 2, 4))],
    )


def _describe_estimator(report: Any) -> tuple[str, str]:
    """Return the estimator as a short text and as source text."""
    return report.estimator, report.estimator


def _plot(report: Any, ax: Any) -> EstimatesDisplay:
    """Draw the error of all outputs and of each output."""
    drawn = dict(list(report.estimates.items())[: _scored.MAX_DRAWN + 1])
    named = {key: replace(one, name=report.answer.name) for key, one in drawn.items()}
    return EstimatesDisplay.from_result(named, quoted=0, ax=ax)


OUTPUTS = Layout(
    title="Evaluation",
    verdict=write_verdict,
    facts=_write_facts,
    evaluated=_describe_estimator,
    basis=_describe_basis,
    sections=(show_metrics, show_outputs),
    about=("answer", "n_samples", "confidence_level", "estimator"),
    records=("metrics", "outputs"),
    computed={"outputs": _describe_outputs},
    main_part="outputs",
    row_name="output",
    plot=_plot,
    predictions=_scored.frame_predictions,
)
