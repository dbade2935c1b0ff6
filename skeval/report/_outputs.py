"""Reports of several outputs, or several labels, for each sample.

`evaluate_outputs` is `evaluate` for several columns in y: the error over all outputs, the error of
each output and the scores use the same repeated folds. `evaluate_labels` is `evaluate_predictions`
for several labels per sample. Samples are the units of every interval, because the outputs of a
sample are not independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn import metrics as sk

from skeval._inference.estimate import Estimate, MetricExtra, Results
from skeval._inference.intervals import log_odds_interval
from skeval._resampling.inputs import Inputs, Loss, losses_by_output, resolve_loss
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import Target
from skeval.metrics._regression import find_log_losses
from skeval.model_selection import _interval_methods, metric_interval
from skeval.model_selection._metrics_of_predictions import measure_loss, settle
from skeval.report import _arguments, _sections
from skeval.report._findings import MIN_PERFECT, Baseline, HardSamples, find_median, make_baseline
from skeval.report._page import Caution, Figure, Section, Table
from skeval.report._parts import Evaluation, measure_scores
from skeval.report._report import Layout
from skeval.report._sentences import name_metric, write_verdict
from skeval.report._warnings import warn_of_few_groups
from skeval.utils._checks import check_data, ignored_warnings
from skeval.utils._text import count, mean_loss_name

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


def summarize_outputs(evaluation: Evaluation) -> dict[str, Any]:
    """Return the results that are computed from the predictions of all outputs."""
    inputs, predictions, answer = evaluation.inputs, evaluation.predictions, evaluation.estimate
    target = inputs.target
    other = "zero_one" if target.output_classes else "absolute"
    # errors over all outputs, F1 of labels, and requested scores
    metrics = {inputs.loss.name: answer}
    if other != inputs.loss.name:
        metrics[other] = judge_output(evaluation, resolve_loss(other, target)).answer
    if has_indicators(target):
        with ignored_warnings(UserWarning):  # the report warns about labels without F1
            metrics |= pool_f1(predictions, inputs.confidence_level)
    metrics |= {one.name: one for one in measure_scores(evaluation)}
    # the error of each output
    subgroups, own = evaluation.compare_subgroups(), losses_by_output(inputs.loss, target)
    return {
        "loss": "zero_one" if answer.loss in SHARES else answer.loss,
        "metrics": Results(metrics),
        "outputs": {name: judge_output(evaluation, loss) for name, loss in own.items()},
        "subgroups": subgroups,
        "less_the_rest": subgroups and subgroups.less_the_rest,
        "baseline": find_constants(inputs, predictions),
        "rare_class": None,
        "never_predicted": (),
    }


class JudgedOutput(NamedTuple):
    """Estimated error of one output, with the best constant prediction.

    Attributes
    ----------
    answer : Estimate
    baseline : Baseline or None
        None for a loss that is a user-defined function.
    """

    answer: Estimate
    baseline: Baseline | None


def judge_output(evaluation: Evaluation, loss: Loss) -> JudgedOutput:
    """Return the error of another loss from the outputs of the same fits."""
    inputs = evaluation.design.inputs.with_options(losses=(loss,))
    design = evaluation.design._replace(inputs=inputs)
    answer, predictions = _interval_methods.collect_repeats(design, evaluation.outputs)
    return JudgedOutput(answer, find_constants(inputs, predictions))


def find_constants(inputs: Inputs, predictions: Predictions) -> Baseline | None:
    """Return the best constant of each output, compared on the same samples."""
    loss, target = inputs.loss, inputs.target
    if loss.name not in BASELINES:
        return None
    weight = np.ones(len(target)) if inputs.weight is None else inputs.weight
    constant = np.column_stack(
        [find_constant(column, weight, loss.name) for column in target.codes.T]
    )
    losses = loss(target.codes, np.broadcast_to(constant, target.codes.shape))
    return make_baseline(predictions, BASELINES[loss.name], losses[predictions.row], "predicting")


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


def pool_f1(predictions: Predictions, confidence_level: float) -> dict[str, Estimate]:
    """Return F1, macro and micro, of all tested samples of a repeat, averaged over the repeats.

    The variance is computed for a test set, and inflated as for the error.
    """
    results: dict[str, Estimate] = {}
    true = predictions.look_up(predictions.target.codes)
    first, group = predictions.repeats[0], predictions.group
    for average in ("macro", "micro"):
        metric = partial(sk.f1_score, average=average, zero_division=0.0)
        # F1 of each repeat
        values = [metric(true[part], predictions.predicted[part]) for part in predictions.repeats]
        # the variance of one repeat
        one = metric_interval(
            metric,
            true[first],
            predictions.predicted[first],
            groups=None if group is None else group[first],
            confidence_level=confidence_level,
            random_state=0,
        )
        # the mean over the repeats, whose models share training samples
        value, error = float(np.mean(values)), one.standard_error * predictions.inflation**0.5
        results[f"f1_{average}"] = replace(
            one,
            name=f"f1_{average}",
            value=value,
            standard_error=error,
            method=_interval_methods.AUTO,
            limits={"log_odds": partial(log_odds_interval, value, error)},
            replicates=np.array(values),
        )
    return results


def warn_of_outputs(evaluation: Evaluation) -> Iterator[Caution]:
    """Yield the warnings about perfect predictions, groups, and constant, rare or unused labels."""
    target, predictions = evaluation.target, evaluation.predictions
    baseline = find_constants(evaluation.design.inputs, predictions)
    if baseline and evaluation.estimate.value < (1 - MIN_PERFECT) * baseline.error:
        text = (
            "Perfect predictions: nearly every output is correct. Check that no feature is derived "
            "from the targets, or known only after them."
        )
        yield Caution("perfect", text)
    if not has_indicators(target):
        yield from warn_of_few_groups(predictions)
        return
    # labels that some model predicts
    called = np.zeros_like(target.codes)
    np.maximum.at(called, predictions.row, predictions.predicted)
    read = Labels("labels", target.outputs, target.codes, called, called, None)
    yield from warn_of_labels(read, predictions)


def describe_basis(report: Any) -> list[str]:
    """Return the target of the intervals, and the steps that were left out."""
    folds, units = report.answer.extra.parameters, report.out_of_fold.cases
    return [
        f"Intervals are for the model trained on all samples ({report.answer.method}: "
        f"{count(folds['n_folds'], 'fold')}, {count(folds['n_repeats'], 'repeat')}). The units "
        f"are {units.kind.value}; outputs of the same sample may be correlated.",
        "Not run: the checks of the data, which need a single column of y.",
    ]


def list_outputs(report: Any) -> list[dict[str, Any]]:
    """Return a row for each output: its error, the best constant, and which is better.

    A loss that is a user's function of all outputs has a single row.
    """
    rows: list[dict[str, Any]] = []
    judged = report.outputs or {"all": JudgedOutput(report.answer, report.baseline)}
    for name, (answer, baseline) in judged.items():
        low, high = answer.interval
        row = {"output": name, "error": answer.value, "low": low, "high": high}
        if baseline is not None:
            better = {"better": "yes", "worse": "worse"}.get(baseline.relation, "not shown")
            row |= {"constant": baseline.error, "better": better}
        rows.append(row)
    return rows


def show_all_outputs(report: Any) -> Section:
    """Return the section of all outputs together."""
    labels = LOSS_LABELS | {f"f1_{average}": f"F1, {average}" for average in ("macro", "micro")}
    rows = [(labels.get(name, name), one) for name, one in report.metrics.items()]
    table = _sections.tabulate(report, "All outputs.", "over all outputs", rows)
    return Section("All outputs together", tables=[table])


def show_outputs(report: Any) -> Section | None:
    """Return the section of the error of each output."""
    records, level = list_outputs(report), _sections.write_level(report)
    if not report.outputs:
        return None
    intervals = [one.answer.interval for one in report.outputs.values()]
    rows = [
        (row["output"], row["error"], interval, row["constant"], row["better"])
        for row, interval in zip(records, intervals, strict=True)
    ]
    worst = max(records, key=lambda row: row["error"] / row["constant"] if row["constant"] else 0)
    drawn = {"all": report.answer} | {name: one.answer for name, one in report.outputs.items()}
    figure = Figure(
        partial(_sections.plot_estimates, report, estimates=drawn),
        f"{report.answer.name.capitalize()} of all outputs and of each output, with {level}s.",
        label=f"Forest plot of {len(records)} outputs.",
        height=1.2 + 0.3 * min(len(records), _sections.MAX_DRAWN),
    )
    head = ["output", "error", level, "best constant", "better"]
    return Section(
        f"Least gain over a constant: {worst['output']}",
        figures=[figure],
        tables=[Table("By output.", head, rows, n_in_text=MAX_ROWS, left=(0, 2, 4))],
    )


def write_outputs(report: Any) -> list[str]:
    """Return the size of the data."""
    return [f"{report.n_samples} samples with {len(report.out_of_fold.target.outputs)} outputs"]


# --- predictions of several labels per sample


MIN_POSITIVES = 10
AVERAGED = {
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "f1": sk.f1_score,
    "roc_auc": sk.roc_auc_score,
    "average_precision": sk.average_precision_score,
}
"""Metrics of each label, which are averaged over the labels."""
SHORT = {"area under the ROC curve": "ROC area", "average precision": "av. precision"}
"""Headers of narrow columns."""
RANKED = ("roc_auc", "average_precision")
WHOLE = {
    "exact_match": "exact match (all labels of a sample)",
    "hamming_loss": "wrong labels",
    "brier_score": "Brier score, mean of the labels",
    "log_loss": "log loss, mean of the labels",
}
"""Metrics of all labels together."""
ANSWERS = {"labels": "hamming_loss", "probabilities": "brier_score"}
NAMES = {"hamming_loss": "share of wrong labels", "brier_score": "Brier score"}


class Labels(NamedTuple):
    """Several labels of each sample.

    Attributes
    ----------
    kind : {"labels", "probabilities"}
    names : tuple of str
        Of the labels.
    true : int ndarray of shape (n_samples, n_labels)
    response : ndarray of shape (n_samples, n_labels)
        Probabilities, or the predicted labels.
    predicted : int ndarray of shape (n_samples, n_labels)
        Predicted labels.
    threshold : float or None
    """

    kind: str
    names: tuple[str, ...]
    true: np.ndarray
    response: np.ndarray
    predicted: np.ndarray
    threshold: float | None

    @property
    def target(self) -> Target:
        """Number of labels of each sample."""
        n_true = self.true.sum(axis=1).astype(float)
        return Target(n_true, None, n_true)

    @property
    def loss(self) -> str:
        """Loss that is compared with the baseline."""
        return "brier" if self.kind == "probabilities" else "zero_one"

    @property
    def varied(self) -> np.ndarray:
        """Labels that some samples have and others do not."""
        varied: np.ndarray = np.ptp(self.true, axis=0) > 0
        return varied

    def losses(self, response: np.ndarray) -> np.ndarray:
        """Return the Brier score of each sample, which for labels is the share of wrong ones."""
        losses: np.ndarray = np.mean((self.true - response) ** 2, axis=1, dtype=float)
        return losses

    def measure_answer(self, predictions: Predictions, confidence_level: float) -> Estimate:
        """Return the main metric."""
        name = ANSWERS[self.kind]
        return self.find_answer({name: _measure_loss(name, predictions, confidence_level)})

    def find_answer(self, metrics: Mapping[str, Estimate]) -> Estimate:
        """Return the main metric among all metrics."""
        name = ANSWERS[self.kind]
        return replace(metrics[name], name=NAMES[name])

    def collect(self, rows: Any, groups: Any, weight: np.ndarray) -> Predictions:
        """Return some rows as predictions, with the numbers of true and predicted labels."""
        n_true = self.target.y[rows]
        n_predicted = self.predicted.sum(axis=1).astype(float)[rows]
        losses = self.losses(self.response)[rows]
        target = Target(n_true, None, n_true)
        return _arguments.collect_predictions(target, groups, weight, n_predicted, losses, None)


def read_labels(y_true: Any, predictions: Any, kind: str, threshold: Any, labels: Any) -> Labels:
    """Return the parsed predictions of a kind."""
    # columns in the order of those of y_true
    names, columns = (getattr(table, "columns", None) for table in (y_true, predictions))
    if names is not None and columns is not None and [*columns] != [*names]:
        raise ValueError(
            "predictions must have the columns of y_true, in the same order, got "
            f"{[*columns][:10]}: predictions[y_true.columns] has it."
        )
    # true and predicted values of the same shape
    y, values = _read_columns("y_true", y_true), _read_columns("predictions", predictions)
    if not np.isin(y, (0, 1)).all():
        raise ValueError(
            "y_true with several columns must contain 0 and 1, which indicate the labels of a "
            "sample; if samples have several numbers or classes, evaluate each column separately."
        )
    if values.shape != y.shape:
        raise ValueError(
            f"predictions must have the shape of y_true, {y.shape}, got {values.shape}."
        )
    # distinct names
    names = names if labels is None else labels
    names = tuple(f"label {k}" for k in range(y.shape[1])) if names is None else names
    names = tuple(map(str, names))
    if len(set(names)) != y.shape[1]:
        raise ValueError(f"labels must name each of {y.shape[1]} columns once, got {names[:10]}.")
    # the kind, and its threshold
    whole, true = bool(np.isin(values, (0, 1)).all()), y.astype(int)
    kind = ("labels" if whole else "probabilities") if kind == "auto" else kind
    if kind not in ANSWERS or (kind == "labels" and not whole):
        raise ValueError(
            "kind must be 'labels' (only 0 and 1) or 'probabilities' for several labels, got "
            f"{kind!r}."
        )
    if kind == "labels":
        if threshold is not None:
            raise ValueError(
                f"threshold must be None if predictions are labels, got {threshold!r}."
            )
        return Labels(kind, names, true, values.astype(int), values.astype(int), None)
    # probabilities and their threshold
    if values.min() < 0 or values.max() > 1:
        outside = values[(values < 0) | (values > 1)][0]
        raise ValueError(
            f"predictions must lie in [0, 1] to be probabilities of several labels, got "
            f"{outside:g}; if they are scores, pass the labels 0 and 1 instead."
        )
    cut = 0.5 if threshold is None else threshold
    if isinstance(cut, bool) or not isinstance(cut, Real):
        raise ValueError(f"threshold must be a number for several labels per sample, got {cut!r}.")
    return Labels(kind, names, true, values, (values >= cut).astype(int), float(cut))


def _read_columns(name: str, values: Any) -> np.ndarray:
    """Return one column of numbers per label.

    Forests of scikit-learn return for each label the probabilities of both classes.
    """
    if issparse(values):
        values = values.toarray()
    if isinstance(values, list) and np.ndim(values) == 3 and np.shape(values)[-1] == 2:
        values = np.asarray(values)[:, :, 1].T
    columns: np.ndarray = check_data(name, values, ensure_2d=False, dtype=np.float64)
    return columns


def summarize_labels(
    parsed: Labels, scored: Predictions, groups: Any, weight: Any, level: float, index: Any
) -> dict[str, Any]:
    """Return the results of predictions of several labels per sample; `weight` may be None."""
    with ignored_warnings(UserWarning):  # the report warns about undefined metrics and few groups
        metrics = measure_labels(parsed, scored, groups, weight, level)
    # the best constant of each label
    constant, value = np.average(parsed.true, axis=0, weights=scored.weight), "prevalence"
    if parsed.kind == "labels":
        constant, value = constant > 0.5, "majority value"
    always = parsed.losses(np.asarray(constant, dtype=float))
    return {
        "labels": parsed.names,
        "metrics": metrics,
        "confusion": None,
        "hard_samples": find_worst_samples(parsed, index),
        "baseline": make_baseline(scored, f"the {value} of each label", always),
        "rare_class": None,
        "never_predicted": tuple(np.array(parsed.names)[~parsed.predicted.any(axis=0)].tolist()),
        "class_sizes": dict(zip(parsed.names, parsed.true.sum(axis=0).tolist(), strict=True)),
    }


def measure_labels(
    parsed: Labels, predictions: Predictions, groups: Any, weight: Any, confidence_level: float
) -> Results:
    """Return the metrics of all labels, averaged and together, and of each label."""
    metrics: dict[str, Estimate] = {}
    true, predicted, varied = parsed.true, parsed.predicted, parsed.varied

    def measure(
        name: str, metric: Any, y: np.ndarray, judged: np.ndarray, label: str | None = None
    ) -> None:
        one = metric_interval(
            metric,
            y,
            judged,
            confidence_level=confidence_level,
            groups=groups,
            sample_weight=weight,
        )
        key = name if label is None else f"{name}, {label}"
        extra = MetricExtra(metric=name, label=label, greater_is_better=name != "hamming_loss")
        metrics[key] = replace(one, name=key, extra=extra)

    # averages over the labels that vary
    shown = {
        name: (function, parsed.response if name in RANKED else predicted)
        for name, function in AVERAGED.items()
        if name not in RANKED or parsed.kind == "probabilities"
    }
    for name, (function, judged) in shown.items():
        chosen = varied if name in RANKED else varied | True
        for average in ("macro", "micro") if chosen.sum() > 1 else ():  # one has no average
            metric = partial(function, average=average)
            measure(f"{name}_{average}", metric, true[:, chosen], judged[:, chosen])
    # all labels of a sample together
    exact = np.all(true == predicted, axis=1)
    measure("exact_match", sk.accuracy_score, np.ones(len(exact), dtype=bool), exact)
    measure("hamming_loss", sk.hamming_loss, true, predicted)
    if parsed.kind == "probabilities":
        # each label has the probabilities of two classes
        p = parsed.response.ravel()
        logs = find_log_losses(true.ravel(), np.column_stack([1 - p, p])).reshape(true.shape)
        for name, losses in (("brier_score", predictions.loss), ("log_loss", logs.mean(axis=1))):
            part = replace(predictions, loss=losses)
            metrics[name] = _measure_loss(name, part, confidence_level)
    # each label
    for k in np.flatnonzero(varied):
        for name, (function, judged) in shown.items():
            measure(name, function, true[:, k], judged[:, k], parsed.names[k])
    return Results(metrics)


def _measure_loss(name: str, predictions: Predictions, confidence_level: float) -> Estimate:
    """Return the mean loss of the samples, with limits of at most 1."""
    one = measure_loss(predictions, name, predictions.loss, bounded=True)
    return settle(one, 2, predictions.cases.n_units, confidence_level)


def find_worst_samples(parsed: Labels, index: Any) -> HardSamples:
    """Return the samples with a wrong label, the largest loss first."""
    # samples with a wrong label, by their loss
    losses, wrong = parsed.losses(parsed.response), np.any(parsed.true != parsed.predicted, axis=1)
    hard = np.flatnonzero(wrong)
    hard = hard[np.argsort(-losses[hard], kind="stable")]
    names = [str(row if index is None else index[row]) for row in hard]
    truth, taken = (
        tuple(", ".join(np.array(parsed.names)[has[row] == 1]) or "none" for row in hard)
        for has in (parsed.true, parsed.predicted)
    )
    n_all = int(np.all(parsed.true[hard] != parsed.predicted[hard], axis=1).sum())
    suspect = np.zeros(len(hard), dtype=bool)
    return HardSamples(hard, tuple(names), truth, taken, losses[hard], n_all, suspect)


def warn_of_labels(parsed: Labels, predictions: Predictions) -> Iterator[Caution]:
    """Yield the warnings about predictions of several labels."""
    yield from warn_of_few_groups(predictions)
    names = np.array(parsed.names)
    # labels without variation, without predictions, and with few samples
    alike = names[~parsed.varied]
    if len(alike):
        yield Caution(
            "undefined",
            f"Constant labels: either all samples or none have {', '.join(alike[:5])}. They have "
            "no metrics; averages of precision, recall and F1 count them as scikit-learn does, "
            "and averages of AUC and average precision leave them out.",
        )
    never = names[~parsed.predicted.any(axis=0) & parsed.varied]
    if len(never):
        yield Caution(
            "never-predicted",
            f"Labels never predicted: {', '.join(never[:5])}. Their precision is undefined "
            "and counts as 0 in averages over labels: lower the threshold for these labels.",
        )
    sizes = parsed.true.sum(axis=0)
    few = [
        f"{name} ({size})"
        for name, size in zip(names[parsed.varied], sizes[parsed.varied], strict=True)
        if min(size, len(parsed.true) - size) < MIN_POSITIVES
    ]
    if few:
        yield Caution(
            "few-samples",
            f"Rare labels: fewer than {MIN_POSITIVES} samples have, or lack, "
            f"{', '.join(few[:5])}. Metrics of these labels, and averages over labels, are "
            "imprecise: report them with their intervals.",
        )


def _describe_labels(report: Any) -> list[str]:
    """Return the target of the intervals."""
    return [_sections.describe_target(report, "; labels of the same sample may be correlated")]


def _write_facts(report: Any) -> list[str]:
    """Return the predictions, and the labels."""
    n_labels = count(len(report.labels), "label")
    facts = [f"{report.n_samples} samples with {report.kind} of {n_labels}"]
    if report.threshold is not None:
        facts.append(f"predicted at a threshold of {report.threshold:g}")
    per_sample = sum(report.class_sizes.values()) / report.n_samples
    facts.append(f"{per_sample:.3g} labels a sample")
    return facts if report.n_groups is None else [*facts, f"{report.n_groups} groups"]


def show_metrics(report: Any) -> Section:
    """Return the section of averages over labels, metrics of all labels, and each label."""
    metrics = _sections.find_main_metrics(report)
    named = {
        f"{name}_{average}": f"{name_metric(name)}, {average}"
        for name in AVERAGED
        for average in ("macro", "micro")
    } | WHOLE
    rows = [(label, metrics[name]) for name, label in named.items() if name in metrics]
    tables = [_sections.tabulate(report, "All labels.", "metric over all labels", rows)]
    for table in _sections.tabulate_classes(report):
        head = ["label", "samples", *(SHORT.get(name, name) for name in table.head[1:])]
        by_label = [(row[0], f"{report.class_sizes[row[0]]}", *row[1:]) for row in table.rows]
        tables.append(replace(table, caption="By label.", head=head, rows=by_label))
    explained = (
        '"Macro" averages give all labels equal weight; "micro" averages give all decisions equal '
        "weight, so frequent labels count more."
    )
    return Section("By other measures", explains=[explained], tables=tables)


LABELS = Layout(
    **_sections.OF_PREDICTIONS,
    verdict=write_verdict,
    facts=_write_facts,
    basis=_describe_labels,
    sections=(show_metrics, _sections.show_subgroups, _sections.show_hard_samples),
    about=(
        "answer", "n_samples", "class_sizes", "confidence_level", "kind", "threshold", "n_groups",
        "baseline", "labels", "rare_class", "never_predicted",
    ),
    records=("metrics", "confusion", "subgroups", "less_the_rest", "hard_samples"),
    plot=_sections.plot_estimates,
)  # fmt: skip
