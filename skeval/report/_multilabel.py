"""Report of predictions of several labels per sample: each label, and all together.

Samples are the units of every interval, because the labels of a sample are not independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn import metrics as sk

from skeval._inference.estimate import Estimate, MetricExtra, Results
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import Target
from skeval.metrics._regression import find_brier_losses, find_log_losses
from skeval.model_selection import EstimatesDisplay, metric_interval
from skeval.model_selection._fold_metrics import measure_loss, settle
from skeval.report import _scored, _systems
from skeval.report._findings import make_baseline
from skeval.report._parsed_predictions import collect_predictions, measure_slices, read_units
from skeval.report._predictions import HardSamples, name_rows, warn_of_few_groups
from skeval.report._report import Layout, Report
from skeval.report._run import describe_run
from skeval.report._sections import Caution, Figure, Section, Table
from skeval.report._sentences import write_rate, write_verdict
from skeval.utils._checks import check_data, ignored_warnings, small_seed
from skeval.utils._text import count, write_number

MIN_POSITIVES, MAX_DRAWN = 10, 30
AVERAGED = {
    "precision": ("precision", sk.precision_score),
    "recall": ("recall", sk.recall_score),
    "f1": ("F1", sk.f1_score),
    "roc_auc": ("area under the ROC curve", sk.roc_auc_score),
    "average_precision": ("average precision", sk.average_precision_score),
}
"""Metrics of each label and their averages: display names."""
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
LOSSES = {"brier_score": find_brier_losses, "log_loss": find_log_losses}


class Labels(NamedTuple):
    """Several labels of each sample.

    Attributes
    ----------
    kind : {"labels", "probabilities"}
    names : tuple of str
        Of the labels.
    true : bool ndarray of shape (n_samples, n_labels)
    proba : ndarray of shape (n_samples, n_labels), or None
    predicted : bool ndarray of shape (n_samples, n_labels)
        Predicted labels.
    threshold : float or None
    """

    kind: str
    names: tuple[str, ...]
    true: np.ndarray
    proba: np.ndarray | None
    predicted: np.ndarray
    threshold: float | None

    @property
    def answer(self) -> str:
        """Main metric."""
        return ANSWERS[self.kind]

    @property
    def losses(self) -> np.ndarray:
        """Losses of the main metric, shape (n_samples,)."""
        return self.find_losses(self.predicted if self.proba is None else self.proba, self.answer)

    @property
    def varied(self) -> np.ndarray:
        """Labels that some samples have and others do not."""
        share = self.true.mean(axis=0)
        varied: np.ndarray = (share > 0) & (share < 1)
        return varied

    def find_losses(self, predicted: np.ndarray, name: str) -> np.ndarray:
        """Return the mean loss over the labels of each sample, for labels or probabilities."""
        if name == "hamming_loss":
            wrong: np.ndarray = np.mean(self.true != predicted, axis=1)
            return wrong
        p = predicted.ravel()
        losses = LOSSES[name](self.true.ravel().astype(int), np.column_stack([1 - p, p]))
        return np.asarray(losses).reshape(self.true.shape).mean(axis=1)

    def find_constant(self, weight: np.ndarray) -> np.ndarray:
        """Return the baseline, the best constant prediction, shape (n_samples, n_labels)."""
        share = np.average(self.true, axis=0, weights=weight)
        best = share if self.kind == "probabilities" else share > 0.5
        return np.broadcast_to(best, self.true.shape)

    def measure_answer(self, predictions: Predictions, confidence_level: float) -> Estimate:
        """Return the main metric."""
        one = _measure_loss(self.answer, predictions, confidence_level)
        return replace(one, name=NAMES[self.answer])

    def collect(self, rows: np.ndarray, groups: Any, weight: np.ndarray) -> Predictions:
        """Return some rows as predictions, with the numbers of true and predicted labels."""
        n_true = self.true.sum(axis=1).astype(float)[rows]
        n_predicted = self.predicted.sum(axis=1).astype(float)[rows]
        target = Target(n_true, None, n_true)
        return collect_predictions(target, groups, weight, n_predicted, self.losses[rows], None)


def read_labels(
    y_true: Any, predictions: Any, kind: str, threshold: Any, labels: Any, pos_label: Any
) -> Labels:
    """Return the parsed predictions of a kind."""
    names = labels
    if names is None:
        names = getattr(y_true, "columns", None)
    columns = getattr(predictions, "columns", None)
    if columns is not None and hasattr(y_true, "columns") and [*columns] != [*y_true.columns]:
        raise ValueError(
            "predictions must have the columns of y_true, in the same order, got "
            f"{[*columns][:10]}: predictions[y_true.columns] has it."
        )
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
    if names is None:
        names = [f"label {k}" for k in range(y.shape[1])]
    names = tuple(map(str, names))
    if len(set(names)) != y.shape[1]:
        raise ValueError(f"labels must name each of {y.shape[1]} columns once, got {names[:10]}.")
    if pos_label is not None:
        raise ValueError(
            f"pos_label must be None for several labels per sample, got {pos_label!r}."
        )
    whole = bool(np.isin(values, (0, 1)).all())
    kind = ("labels" if whole else "probabilities") if kind == "auto" else kind
    if kind not in ANSWERS:
        raise ValueError(
            f"kind must be 'labels' or 'probabilities' for several labels, got {kind!r}."
        )
    if kind == "labels" and not whole:
        raise ValueError("predictions must contain 0 or 1 if kind='labels'.")
    if kind == "labels":
        if threshold is not None:
            raise ValueError(
                f"threshold must be None if predictions are labels, got {threshold!r}."
            )
        return Labels(kind, names, y == 1, None, values == 1, None)
    if values.min() < 0 or values.max() > 1:
        outside = values[(values < 0) | (values > 1)][0]
        raise ValueError(
            f"predictions must lie in [0, 1] to be probabilities of several labels, got "
            f"{outside:g}; if they are scores, pass the labels 0 and 1 instead."
        )
    cut = 0.5 if threshold is None else threshold
    if isinstance(cut, str | Mapping | bool) or not np.isreal(cut):
        raise ValueError(f"threshold must be a number for several labels per sample, got {cut!r}.")
    return Labels(kind, names, y == 1, values, values >= cut, float(cut))


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


def evaluate_labels(y_true: Any, predictions: Any, options: Mapping[str, Any]) -> Report:
    """Return the report of `evaluate_predictions` for several labels per sample."""
    if options["scoring"] is not None:
        raise ValueError(
            "scoring must be None for several labels per sample; "
            "skeval.model_selection.metric_interval takes any metric of them."
        )
    for name in ("prevalence", "within", "unit_weights"):
        if options[name] is not None:
            raise ValueError(f"{name} must be None for several labels.")
    parsing = ("kind", "threshold", "labels", "pos_label")
    parsed = read_labels(y_true, predictions, *(options[name] for name in parsing))
    level, arguments = options["confidence_level"], {"y_true": y_true, "predictions": predictions}
    n = len(parsed.true)
    groups, weight = read_units(options["groups"], options["sample_weight"], n)
    seed = small_seed(options["random_state"])
    with ignored_warnings(UserWarning):  # the report warns about undefined metrics and few groups
        scored = parsed.collect(np.arange(n), groups, weight)
        weights = None if options["sample_weight"] is None else weight
        metrics = measure_labels(parsed, scored, groups, weights, level)
        answer = replace(metrics[parsed.answer], name=NAMES[parsed.answer])
        subgroups = measure_slices(parsed, options["by"], groups, weight, level)
    constant = parsed.find_losses(parsed.find_constant(weight), parsed.answer)
    baseline = (
        "the prevalence of each label"
        if parsed.proba is not None
        else "the majority value of each label"
    )
    results: dict[str, Any] = {
        "answer": answer,
        "loss": "brier" if parsed.kind == "probabilities" else "zero_one",
        "estimates": Results({"all samples": answer, **(subgroups or {})}),
        "n_groups": scored.cases.n_groups,
        "kind": parsed.kind,
        "threshold": parsed.threshold,
        "labels": parsed.names,
        "metrics": metrics,
        "confusion": None,
        "hard_samples": find_worst_samples(parsed, name_rows(y_true)),
        "subgroups": subgroups,
        "out_of_fold": scored,
        "baseline": make_baseline(scored, baseline, constant),
        "rare_class": None,
        "never_predicted": tuple(np.array(parsed.names)[~parsed.predicted.any(axis=0)].tolist()),
        "confidence_level": float(level),
        "n_samples": n,
        "class_sizes": dict(zip(parsed.names, parsed.true.sum(axis=0).tolist(), strict=True)),
    }
    run = describe_run("skeval.evaluate_predictions", arguments | dict(options), seed)
    return Report(LABELS, results, tuple(warn_of_labels(parsed, scored)), **run)


def measure_labels(
    parsed: Labels, predictions: Predictions, groups: Any, weight: Any, confidence_level: float
) -> Results:
    """Return the metrics of all labels, averaged and together, and of each label."""
    measure = partial(
        metric_interval, confidence_level=confidence_level, groups=groups, sample_weight=weight
    )
    metrics: dict[str, Estimate] = {}

    def add(name: str, one: Estimate, label: str | None = None, *, better: bool = True) -> None:
        key = name if label is None else f"{name}, {label}"
        metrics[key] = replace(
            one, name=key, extra=MetricExtra(metric=name, label=label, greater_is_better=better)
        )

    true, predicted = parsed.true.astype(int), parsed.predicted.astype(int)
    varied = parsed.varied
    shown = [name for name in AVERAGED if name not in RANKED or parsed.proba is not None]
    for name in shown:
        judged, chosen = (parsed.proba, varied) if name in RANKED else (predicted, varied | True)
        if judged is None or chosen.sum() < 2:  # a single label has no average
            continue
        for average in ("macro", "micro"):
            metric = partial(AVERAGED[name][1], average=average)
            add(f"{name}_{average}", measure(metric, true[:, chosen], judged[:, chosen]))
    exact = np.all(true == predicted, axis=1)
    add("exact_match", measure(sk.accuracy_score, np.ones(len(exact), dtype=bool), exact))
    add("hamming_loss", measure(sk.hamming_loss, true, predicted), better=False)
    if parsed.proba is not None:
        for name in LOSSES:
            part = replace(predictions, loss=parsed.find_losses(parsed.proba, name))
            add(name, _measure_loss(name, part, confidence_level), better=False)
    for k in np.flatnonzero(varied):
        for name in shown:
            judged = parsed.proba if name in RANKED and parsed.proba is not None else predicted
            add(name, measure(AVERAGED[name][1], true[:, k], judged[:, k]), parsed.names[k])
    return Results(metrics)


def _measure_loss(name: str, predictions: Predictions, confidence_level: float) -> Estimate:
    """Return the mean loss of the samples, with limits of at most 1."""
    one = measure_loss(predictions, name, predictions.loss, bounded=True)
    return settle(one, 2, predictions.cases.n_units, confidence_level)


def find_worst_samples(parsed: Labels, index: Any) -> HardSamples:
    """Return the samples with a wrong label, the largest loss first."""
    losses, wrong = parsed.losses, np.any(parsed.true != parsed.predicted, axis=1)
    hard = np.flatnonzero(wrong)
    hard = hard[np.argsort(-losses[hard], kind="stable")]
    names = [str(row if index is None else index[row]) for row in hard]
    truth, taken = (
        tuple(", ".join(np.array(parsed.names)[has[row]]) or "none" for row in hard)
        for has in (parsed.true, parsed.predicted)
    )
    n_all = int(np.all(parsed.true[hard] != parsed.predicted[hard], axis=1).sum())
    suspect = np.zeros(len(hard), dtype=bool)
    return HardSamples(hard, tuple(names), truth, taken, losses[hard], n_all, suspect, {})


def warn_of_labels(parsed: Labels, predictions: Predictions) -> Iterator[Caution]:
    """Yield the warnings about predictions of several labels."""
    yield from warn_of_few_groups(predictions)
    names = np.array(parsed.names)
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


# --- the report


def _write_verdict(report: Any) -> list[str]:
    """Return the sentences of the verdict: the main metric, and two averages."""
    labels = {"f1_macro": "Macro F1", "f1_micro": "micro F1"}
    averages = [
        f"{label} {report.metrics[name].value:.2f}"
        for name, label in labels.items()
        if name in report.metrics
    ]
    exact = f"all labels are correct for {write_rate(report.metrics['exact_match'].value)}"
    headline, *others = write_verdict(report)
    return [headline, f"{', '.join([*averages, exact])} of the samples.", *others]


def _describe_basis(report: Any) -> list[str]:
    """Return the target of the intervals."""
    return [_systems.describe_target(report, "; labels of the same sample may be correlated")]


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
    metrics, level = _scored.find_main_metrics(report), _scored.write_level(report)
    named = {
        f"{name}_{average}": f"{label}, {average}"
        for name, (label, _) in AVERAGED.items()
        for average in ("macro", "micro")
    } | WHOLE
    rows = [
        (label, metrics[name].value, metrics[name].interval)
        for name, label in named.items()
        if name in metrics
    ]
    explained = (
        '"Macro" averages give all labels equal weight; "micro" averages give all decisions equal '
        "weight, so frequent labels count more."
    )
    tables = [
        Table("All labels.", ["metric over all labels", "estimate", level], rows, left=(0, 2))
    ]
    for table in _scored.tabulate_classes(report):
        head = ["label", "samples", *(SHORT.get(name, name) for name in table.head[1:])]
        by_label = [(row[0], f"{report.class_sizes[row[0]]}", *row[1:]) for row in table.rows]
        tables.append(replace(table, caption="By label.", head=head, rows=by_label))
    return Section("By other measures", explains=[explained], tables=tables)


def find_drawn(report: Any) -> dict[str, Estimate]:
    """Return the mean F1, and the F1 of the most frequent labels."""
    defined = [name for name in report.labels if f"f1, {name}" in report.metrics]
    commonest = sorted(defined, key=lambda name: -report.class_sizes[name])[:MAX_DRAWN]
    drawn = {name: report.metrics[f"f1, {name}"] for name in defined if name in commonest}
    if "f1_macro" in report.metrics:
        drawn = {"mean of the labels": report.metrics["f1_macro"], **drawn}
    return {name: replace(estimate, name="F1") for name, estimate in drawn.items()}


def _plot(report: Any, ax: Any) -> EstimatesDisplay:
    """Draw the F1 of each label and their mean."""
    return EstimatesDisplay.from_result(find_drawn(report), quoted=0, ax=ax)


def show_labels(report: Any) -> Section | None:
    """Return the section of the F1 of each label."""
    shown = find_drawn(report)
    f1 = {name: estimate.value for name, estimate in shown.items() if name in report.labels}
    if not f1:
        return None
    lowest = min(f1, key=lambda name: f1[name])
    of = "the commonest labels" if len(shown) < len(report.labels) else "each label"
    figure = Figure(
        report.plot,
        f"F1 of {of} and their mean, with {_scored.write_level(report)}s.",
        label=f"Forest plot of the F1 of {len(shown)} labels.",
        height=1.2 + 0.3 * len(shown),
    )
    return Section(f"F1 is lowest for {lowest}: {f1[lowest]:.2f}", figures=[figure])


def show_hard_samples(report: Any) -> Section | None:
    """Return the section of the worst predictions."""
    if not len(report.hard_samples.sample):
        return None
    head, last = ["sample", "has", "predicted"], (report.answer.name, write_number)
    table = _scored.tabulate_samples(report, "Samples with most errors.", head, last)
    return Section("Samples to look at", tables=[table])


LABELS = Layout(
    title="Evaluation of predictions",
    verdict=_write_verdict,
    figure=_scored.draw_main,
    facts=_write_facts,
    basis=_describe_basis,
    sections=(show_metrics, show_labels, _scored.show_subgroups, show_hard_samples),
    about=_systems.ABOUT,
    records=_systems.RECORDS,
    computed=_systems.COMPUTED,
    main_part="metrics",
    row_name="name",
    plot=_plot,
    predictions=_scored.frame_predictions,
)
