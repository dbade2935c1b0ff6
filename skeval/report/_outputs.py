"""Report of a procedure that predicts several labels, or several numbers, for each sample.

The error over all outputs, the error of each output and the scores use the same repeated folds.
Samples are the units of every interval, because the outputs of a sample are not independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import f1_score

from skeval._adapters.fits import fit_each
from skeval._inference.estimate import Estimate, Results
from skeval._inference.intervals import log_odds_interval
from skeval._resampling.fit_outputs import FitOutput, join_outputs
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import Inputs, validate_inputs
from skeval._resampling.jobs import tallied_warnings
from skeval._resampling.losses import Loss, losses_by_output, resolve_loss
from skeval._resampling.predictions import Predictions
from skeval._resampling.target import Target
from skeval.model_selection import EstimatesDisplay, metric_interval
from skeval.model_selection._error_interval import read_positive_weight
from skeval.model_selection._interval_methods import (
    AUTO,
    RepeatedFolds,
    average_subsamples,
    collect_repeats,
    plan_repeats,
)
from skeval.model_selection._score_interval import (
    label_parts,
    loss_of_score,
    score_of_error,
    take_score,
)
from skeval.report._findings import Baseline, find_median, make_baseline
from skeval.report._multilabel import Labels, warn_of_labels
from skeval.report._predictions import take_groups, warn_of_few_groups
from skeval.report._run import RUN_OPTIONS, describe_run, write_estimator
from skeval.report._sections import Caution, Figure, Report, Section, Table
from skeval.report._sentences import find_width, write_amount, write_chance, write_interval
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
MAX_ROWS, MAX_DRAWN = 30, 30


def evaluate_outputs(estimator: Any, X: Any, y: Any, options: Mapping[str, Any]) -> OutputsReport:
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
    return OutputsReport(
        answer=overall.answer,
        metrics=Results(metrics | scores),
        outputs={name: judge(folds, outputs, loss) for name, loss in own.items()},
        baseline=overall.baseline,
        out_of_fold=overall.predictions,
        warnings=tuple(warn_of_outputs(folds.inputs, outputs, overall.predictions)),
        confidence_level=float(inputs.confidence_level),
        n_samples=len(inputs.target),
        estimator=write_estimator(estimator),
        **describe_run("skeval.evaluate", arguments, seed),
    )


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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OutputsReport(Report):
    """Report of a procedure that predicts several labels or numbers for each sample.

    It has the `warnings`, `seed`, `settings`, `versions`, `call` and `date` of every report.

    Attributes
    ----------
    answer : Estimate
        The main estimate: the share of wrong labels, or the squared error averaged over outputs.
    metrics : dict of Estimate
        Losses of all outputs together and scores, by name; "zero_one" is the share of samples with
        a wrong label.
    outputs : dict of JudgedOutput
        For each column of `y` its error (`answer`) and the best constant prediction (`baseline`).
    baseline : Baseline or None
        Best constant prediction of all outputs.
    out_of_fold : Predictions
        Out-of-fold predictions of all outputs.
    n_samples : int
    confidence_level : float
    estimator : str
        The estimator as source text.
    """

    answer: Estimate
    metrics: Results
    outputs: dict[str, JudgedOutput]
    baseline: Baseline | None
    out_of_fold: Predictions
    n_samples: int
    confidence_level: float
    estimator: str

    _title = "Evaluation"
    _main_part, _row_name = "outputs", "output"
    _listed = ("answer", "n_samples", "confidence_level", "estimator")

    @property
    def _level(self) -> str:
        """Name of the intervals."""
        return f"{100 * self.confidence_level:g} % CI"

    @property
    def verdict(self) -> str:
        """The error with its interval, compared with the baseline."""
        answer = self.answer
        loss, width = "zero_one" if answer.loss in SHARES else "", find_width(answer, "")
        value = write_interval(answer, loss)
        if not np.isfinite(answer.interval.low):
            value = write_amount(answer.value, loss)
        text = f"Estimated {answer.name} on new samples: {value}."
        if self.baseline is not None:
            amount = write_amount(self.baseline.error, loss, width)
            text += f" Predicting {self.baseline.prediction} gives {amount}."
        return f"{text} {write_chance(self.baseline, None, None)}".rstrip()

    @property
    def _evaluated(self) -> tuple[str, str]:
        """The estimator."""
        return self.estimator, self.estimator

    @property
    def _basis(self) -> list[str]:
        """The target of the intervals, and the steps that were left out."""
        folds, units = self.answer.extra.parameters, self.out_of_fold.cases
        return [
            f"Intervals are for the model trained on all samples ({self.answer.method}: "
            f"{count(folds['n_folds'], 'fold')}, {count(folds['n_repeats'], 'repeat')}). The units "
            f"are {units.kind.label}; outputs of the same sample may be correlated.",
            "Not run: the checks of the data, which need a single column of y.",
        ]

    @property
    def _facts(self) -> list[str]:
        """The size of the data."""
        return [f"{self.n_samples} samples with {len(self.outputs)} outputs"]

    def plot(self, ax: Any = None) -> EstimatesDisplay:
        """Draw the error of all outputs and of each output; requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.

        Returns
        -------
        EstimatesDisplay
        """
        first = list(self.outputs.items())[:MAX_DRAWN]
        drawn = {"all": self.answer, **{name: one.answer for name, one in first}}
        named = {key: replace(one, name=self.answer.name) for key, one in drawn.items()}
        return EstimatesDisplay.from_result(named, quoted=0, ax=ax)

    @property
    def _results(self) -> dict[str, Any]:
        """The results by their names in `to_dict` and `to_frame`, after the warnings."""
        records = [self._describe_output(name, one) for name, one in self.outputs.items()]
        return {"metrics": self.metrics} | ({"outputs": records} if records else {})

    def _make_sections(self) -> Iterator[Section]:
        """Yield the metrics of all outputs, and the error of each output."""
        rows = [
            (LOSS_LABELS.get(name, name), one.value, one.interval)
            for name, one in self.metrics.items()
        ]
        head = ["over all outputs", "estimate", self._level]
        yield Section(
            "All outputs together", tables=[Table("All outputs.", head, rows, left=(0, 2))]
        )
        if self.outputs:
            yield self._show_outputs()

    def _show_outputs(self) -> Section:
        """Return the section of the error of each output."""
        records = self._results["outputs"]
        head = ["output", "error", self._level, "best constant", "better"]
        rows = [
            (
                row["output"],
                row["error"],
                self.outputs[row["output"]].answer.interval,
                row["constant"],
                row["better"],
            )
            for row in records
        ]
        worst = max(
            records, key=lambda row: row["error"] / row["constant"] if row["constant"] else 0
        )
        figure = Figure(
            self.plot,
            f"{self.answer.name.capitalize()}: all outputs and each, with {self._level}s.",
            label=f"Forest plot of {len(records)} outputs.",
            height=1.2 + 0.3 * min(len(records), MAX_DRAWN),
        )
        return Section(
            f"Least gain over a constant: {worst['output']}",
            figures=[figure],
            tables=[Table("By output.", head, rows, n_in_text=MAX_ROWS, left=(0, 2, 4))],
        )

    def _describe_output(self, name: str, one: JudgedOutput) -> dict[str, Any]:
        """Return the table row of an output."""
        assert one.baseline is not None
        better = "yes" if one.baseline.better else "worse" if one.baseline.worse else "not shown"
        low, high = one.answer.interval
        return {
            "output": name,
            "error": one.answer.value,
            "low": low,
            "high": high,
            "constant": one.baseline.error,
            "better": better,
        }
