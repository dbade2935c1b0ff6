"""A report of predictions that somebody else made: what was predicted, how well, and how sure.

Read from top to bottom: the public function and its report; the verdict; the warnings.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import brier_score_loss, mean_squared_error, roc_auc_score

from skeval._inference.errors import Tested, spread_of_mean
from skeval._inference.estimate import Curve, Results
from skeval._inference.intervals import describe_groups
from skeval._resampling.fits import OutOfFold
from skeval._resampling.task import Target
from skeval.metrics import CalibrationDisplay, NetBenefitDisplay
from skeval.model_selection import Comparison, compare_predictions
from skeval.model_selection._fold_metrics import measure_metrics
from skeval.model_selection._threshold import measure_at, read_rule
from skeval.report import _given, _predictions, _sentences
from skeval.report._comparison import EvaluationComparison, collect_cautions
from skeval.report._given import KINDS, Given, GivenReport
from skeval.report._multilabel import MultilabelReport, evaluate_labels
from skeval.report._predictions import HardSamples
from skeval.report._sections import Caution, Figure, Section, Table, list_few
from skeval.report._sentences import RareClass
from skeval.report._source import describe_run
from skeval.utils._checks import RandomStateLike, check_confidence_level, check_option, small_seed
from skeval.utils._plotting import shorten_name
from skeval.utils._text import count, write_ends, write_number

__all__ = ["PredictionsReport", "evaluate_predictions"]

FEW_OF_CLASS = 10
MEANINGS = {
    "Brier score": "The Brier score is the mean squared distance of the probabilities from what "
    "happened; 0 is best.",
    "area under the ROC curve": "The area under the ROC curve is the share of pairs, one sample of "
    "each class, of which the right one has the higher score; 1 is best.",
}


def evaluate_predictions(
    y_true: Any,
    predictions: Any,
    *,
    kind: str = "auto",
    threshold: float | str | Mapping[str, float] | None = None,
    scoring: Any = None,
    groups: Any = None,
    by: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    confidence_level: float = 0.95,
    random_state: RandomStateLike = None,
) -> Evaluated:
    """Return every metric of predictions with its interval, and what else they tell.

    For systems that are no estimators, or that were trained elsewhere: the predictions are taken as
    they are, and the intervals are for the same system on new samples. `report.answer` is the
    metric that fits: of labels the error rate, of probabilities the Brier score, of scores the area
    under the ROC curve, of numbers the root mean squared error. It stands beside what the best
    answer that is always the same has on the same samples.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        True classes or numbers; of several labels a sample 0 or 1 for each.
    predictions : array-like of shape (n_samples,) or (n_samples, n_classes), or dict of them
        Labels; probabilities or scores of the second of two classes, or of each class; or numbers.
        Of several labels a sample 0 or 1, or a probability, for each of them.
        A dict, or a data frame whose columns are no classes of `y_true`, holds those of several
        systems, which are compared by `compare_predictions`.
    kind : {"auto", "labels", "probabilities", "scores", "numbers"}, default="auto"
        What they are. "auto": labels where all are classes of `y_true`, or text; numbers where
        `y_true` has fractions or more than 20 distinct whole numbers; else probabilities where they
        lie in [0, 1] and those of a sample add up to 1; else scores.
    threshold : float, "youden" or dict, default=None
        From which probability or score on a sample of two classes is predicted to be of the
        second. None is 0.5 for probabilities; scores then have no labels, and only what ranks them
        is measured. A number must not have been chosen with a look at these samples: "youden",
        ``{"sensitivity": 0.9}``, ``{"specificity": 0.9}`` and ``{"cost_ratio": 5}`` choose one on
        them, and ``report.at_threshold`` says what is to be expected of it on others, as
        `threshold_measures` has it.
    scoring : str, callable, list or dict, default=None
        Metrics beside the usual ones: names of scorers, or ``metric(y_true, predictions)``, which
        gets the predictions as they are given.
    groups : array-like of shape (n_samples,), default=None
        Samples that belong together, as those of one patient: every interval is then made of the
        variance between groups.
    by : array-like of shape (n_samples,), or dict or data frame of them, default=None
        Subgroup of each sample, or several such columns: the answer in each subgroup, and what of
        the differences from the rest is left where chance is reckoned with.
    sample_weight : array-like of shape (n_samples,), default=None
        Positive weights of the samples.
    pos_label : int, float, bool or str, default=None
        Of two classes the one that probabilities or scores are of; None is the second in sorted
        order.
    labels : array-like of shape (n_classes,), default=None
        The class of each column of `predictions`, or the label of each column of `y_true`; None
        takes the names of the columns of a data frame, else the sorted classes of `y_true`.
    confidence_level : float, default=0.95
        Nominal coverage of the intervals.
    random_state : int, RandomState, Generator or None, default=None
        Draws the bootstrap resamples of those metrics of `scoring` that have no formula.

    Returns
    -------
    PredictionsReport
        Of several labels a sample a `MultilabelReport`; of several systems an
        `EvaluationComparison`, which holds one for each.

    Raises
    ------
    ValueError
        If an argument breaks a rule; the message names argument, rule and value. Of several
        labels a sample `scoring`, `pos_label` and the choice of a threshold are refused.

    See Also
    --------
    evaluate : The same for an estimator, whose training is part of the question.
    skeval.model_selection.metric_interval : One metric.
    skeval.model_selection.compare_predictions : Several systems.

    Notes
    -----
    In 27 cells of 100 or 200 sets (``benchmarks/results/coverage_predictions.csv``) 95 % intervals
    of metrics at a given threshold, losses and areas held the truth in .88 to 1.00, on average in
    .95 to .96; average precision in .77 with one event and .90 with four, in .89 to .91 in three of
    nine cells of groups. `calibration_measures` says it of its own.

    Examples
    --------
    >>> import numpy as np
    >>> import skeval
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> p = 1 / (1 + np.exp(-rng.normal(2 * y - 1, 1.0)))
    >>> report = skeval.evaluate_predictions(y, p)
    >>> print(report.verdict)
    Brier score 0.130, 95 % interval 0.110 to 0.154; always answering with the shares of the
    classes has 0.247; area under the ROC curve 0.91. Better than chance: it beats that guess on
    the same samples.
    """
    arguments = dict(locals())  # first, while the only local variables are the arguments
    check_confidence_level(confidence_level)
    check_option("kind", kind, KINDS)
    systems = _given.list_systems(y_true, predictions)
    if systems is not None:
        return _evaluate_each(systems, arguments)
    if _given.is_wide(y_true):
        return evaluate_labels(arguments)
    given = _given.read_predictions(y_true, predictions, kind, labels, pos_label, threshold)
    n = len(given.target)
    groups, weight = _given.read_units(groups, sample_weight, n)
    seed = small_seed(random_state)
    options = {"groups": groups, "sample_weight": sample_weight, "random_state": seed}
    with warnings.catch_warnings():  # the report says what is undefined
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        at_threshold, found = None, given.collect(slice(None), groups, weight)
        sample = given.positive is not None and found.ranked
        sample = sample.with_level(confidence_level) if sample else None
        cut = given.threshold if threshold is None else threshold
        if sample is not None and cut is not None:
            with warnings.catch_warnings():  # of few groups
                warnings.simplefilter("ignore", UserWarning)
                at_threshold = measure_at(sample, read_rule(cut), seed)
            if given.threshold is None or isinstance(cut, str | Mapping):
                given = given.cut(at_threshold["threshold"].value)
                found = given.collect(slice(None), groups, weight)
        metrics = measure_metrics(found, confidence_level)
        metrics |= given.measure_scoring(scoring, confidence_level, **options)
        calibration = given.validate(sample, seed)
        subgroups = _given.measure_slices(given, by, groups, weight, confidence_level)
        answer = given.find_answer(metrics)
    chosen = at_threshold is not None and at_threshold["threshold"].method == "bootstrap"
    weighed = _predictions.count_classes(given.target, weight) if found.answers else None
    return PredictionsReport(
        answer=answer,
        kind=given.kind,
        threshold=given.threshold,
        positive=given.positive,
        metrics=metrics,
        calibration=calibration,
        at_threshold=at_threshold,
        confusion=_predictions.measure_confusion(found, confidence_level)
        if found.answers
        else None,
        hard_samples=find_worst(found, _predictions.name_rows(y_true)),
        subgroups=subgroups,
        out_of_fold=found,
        guess=_sentences.find_guess(found, given.loss) if found.answers else None,
        rare=_sentences.find_rare_class(weighed, metrics, "zero_one"),
        unanswered=_sentences.find_unanswered(found) if found.answers else (),
        confidence_level=float(confidence_level),
        n_samples=n,
        class_sizes=_predictions.count_classes(given.target),
        warnings=tuple(warn_of_predictions(given, found, metrics, y_true, chosen=chosen)),
        **describe_run("skeval.evaluate_predictions", arguments, seed),
    )


def find_worst(found: OutOfFold, index: Any) -> HardSamples:
    """Return the samples that are wrong, those first to whose class least was given."""
    if not found.answers:
        none = np.empty(0, dtype=np.intp)
        return HardSamples(none, (), (), (), np.empty(0), 0, none.astype(bool), {})
    hard = _predictions.find_hard_samples(found, index)
    scores = found.class_scores
    if scores is None:
        return hard
    own = scores[hard.sample, found.target.codes[hard.sample]]
    order = np.argsort(own - scores[hard.sample].max(axis=1), kind="stable")
    columns: dict[str, Any] = {
        name: getattr(hard, name) for name in ("sample", "suspect", *IN_WORDS)
    }
    columns["wrong"] = 1 - own if found.probabilities is not None else hard.wrong
    columns = {name: np.asarray(each)[order] for name, each in columns.items()}
    return replace(hard, **columns)


IN_WORDS = ("name", "truth", "prediction")


COMPARED = {"probabilities": brier_score_loss, "scores": roc_auc_score}


def _evaluate_each(systems: Mapping[str, Any], arguments: dict[str, Any]) -> EvaluationComparison:
    """Return the reports of several systems, and their comparison on the same samples."""
    arguments = arguments | {"random_state": small_seed(arguments["random_state"])}
    y_true, seed = arguments["y_true"], arguments["random_state"]
    options = {k: v for k, v in arguments.items() if k not in ("y_true", "predictions")}
    reports = {
        name: evaluate_predictions(y_true, each, **options) for name, each in systems.items()
    }
    return EvaluationComparison(
        reports=reports,
        comparison=_compare_systems(reports, options),
        warnings=tuple(collect_cautions(reports)),
        **describe_run("skeval.evaluate_predictions", arguments, seed),
    )


def _compare_systems(reports: Mapping[str, Any], options: Mapping[str, Any]) -> Comparison:
    """Return the comparison of all pairs by the metric that answers."""
    kinds = {report.kind for report in reports.values()}
    if len(kinds) > 1:
        raise ValueError(f"predictions must all be of one kind, got {sorted(kinds)}; see kind=.")
    (kind,), first = kinds, next(iter(reports.values()))
    found = {name: report.out_of_fold for name, report in reports.items()}
    many = first.class_sizes is not None and len(first.class_sizes) > 2
    truth, metric, scoring = None, None, "accuracy"
    if kind == "numbers":
        truth, metric = first.out_of_fold.target.y, mean_squared_error
        given = {name: each.predicted for name, each in found.items()}
    elif getattr(first, "labels", None):
        given = {name: -each.loss for name, each in found.items()}
        scoring = f"minus the {first.answer.name}"
    elif kind != "labels" and not many:
        truth, metric = first.out_of_fold.target.codes, COMPARED[kind]
        given = {name: each.class_scores[:, 1] for name, each in found.items()}
    elif kind == "probabilities":
        given, scoring = {name: -each.loss for name, each in found.items()}, "minus the Brier score"
    else:
        given = {name: 1 - each.loss for name, each in found.items()}
    shared = ("groups", "sample_weight", "confidence_level", "random_state")
    with warnings.catch_warnings():  # the table shows what is undefined
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        made = compare_predictions(
            truth, given, metric=metric, method="max_t", **{name: options[name] for name in shared}
        )
    return made if metric else replace(made, scoring=scoring)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PredictionsReport(GivenReport):
    """What predictions are worth, metric by metric.

    It has the `warnings`, the `seed`, the `settings`, the `versions`, the `call` and the `date` of
    every report.

    Attributes
    ----------
    answer : Estimate
        The number to quote; see `evaluate_predictions`.
    kind : {"labels", "probabilities", "scores", "numbers"}
        What was predicted.
    threshold : float or None
        From which probability or score on a sample is predicted to be positive.
    positive : object
        The class that probabilities or scores of two classes are of; None where there is none.
    calibration : dict of Estimate, or None
        What `calibration_measures` finds of the probabilities of two classes; else None.
    at_threshold : dict of Estimate, or None
        What `threshold_measures` finds of the threshold; None where there is none.
    metrics : dict of str to Estimate
        The usual metrics, of all samples and of each class, and what `scoring` named.
    confusion : ConfusionRates or None
        The confusion matrix with intervals of its rates; None for numbers and for scores without a
        threshold.
    hard_samples : HardSamples
        The samples that are predicted worst. ``wrong`` is 1 less the probability of the true class,
        where there are probabilities.
    subgroups : dict of Estimate, or None
        The answer in each subgroup. Its attribute `less_the_rest` holds the difference of each to
        all other samples, with a P-value corrected for the number of subgroups.
    out_of_fold : OutOfFold
        The predictions, as classes by number.
    guess : Guess or None
        The best answer that is always the same, and the difference to it on the same samples; None
        for scores.
    rare : RareClass or None
        The rarest class, where it is rare, and the statistic that counts there.
    unanswered : tuple of str
        The classes that are predicted for no sample.
    confidence_level : float
        Nominal coverage of the intervals.
    n_samples : int
        Number of samples.
    class_sizes : dict or None
        Number of samples of each class; None for numbers.
    """

    positive: Any
    calibration: Results | None
    at_threshold: Results | None

    scored = "predictions"
    told = (*GivenReport.told, "positive", "rare", "unanswered")
    residuals = "the prediction of each sample and how far the truth lies above it."

    @property
    def verdict(self) -> str:
        """The answer with its interval, the guess, and whether it is better than that."""
        interval, text = self.answer.interval, self._say_beside_guess()
        name = {"numbers": "r2", "probabilities": "roc_auc"}.get(self.kind, "")
        if name in self.metrics and np.isfinite(self.metrics[name].value):
            text += f"; {_sentences.name_metric(name).split(',')[0]} {self.metrics[name].value:.2f}"
        if self.unanswered:
            text += f"; never predicted: {list_few(self.unanswered, 3)}"
        if self.answer.name == _sentences.name_metric("roc_auc"):
            chance = "it may say nothing: the interval includes 0.5"
            if interval.low > 0.5:
                chance = "better than chance, which has 0.5"
            elif interval.high < 0.5:
                chance = "worse than chance, which has 0.5"
            return f"{text}: {chance}."
        return f"{text}. {_sentences.write_chance(self.guess, self._rare, None)}".rstrip()

    @property
    def _rare(self) -> RareClass | None:
        """The rare class, where the answer is not of probabilities."""
        return self.rare if self.kind != "probabilities" else None

    @property
    def headline(self) -> str:
        """The answer with its interval beside the guess."""
        if self.answer.name == _sentences.name_metric("roc_auc"):
            return self.verdict
        return _sentences.write_headline(
            self._say_answer(),
            self.loss,
            guess=self.guess,
            rare=self._rare,
            unanswered=self.unanswered,
        )

    @property
    def basis(self) -> list[str]:
        """What the answer is, where few know it, and what the intervals are for."""
        more = ", each with its weight" if np.ptp(self.out_of_fold.weight) else ""
        meaning = [text for name, text in MEANINGS.items() if name == self.answer.name]
        return [*meaning, self._tell_target(more), *self._describe_groups()]

    def _describe_groups(self) -> Iterator[str]:
        """Yield how alike the samples of a group are, by the loss of each."""
        found = self.out_of_fold
        if found.group is None or np.isnan(found.loss).any():
            return
        weight = found.look_up(found.weight)
        spread = spread_of_mean(Tested(found.loss, weight, found.group))
        alone = spread_of_mean(Tested(found.loss, weight)).variance
        if spread.variance > 0:
            effective = self.n_samples * min(1.0, alone / spread.variance)
            known = {**spread.details, "effective_n_samples": effective}
            yield describe_groups(self.n_samples, known)

    @property
    def facts(self) -> list[str]:
        """What was predicted, and the classes."""
        what = self.kind
        if self.positive is not None:
            what += f" of class {self.positive}"
        facts = [f"{self._describe_classes()} with {what}"]
        if self.threshold is not None:
            facts.append(f"predicted as {self.positive} from {self.threshold:g} on")
        return facts if self.n_groups is None else [*facts, f"{self.n_groups} groups"]

    def _make_sections(self) -> Iterator[Section]:
        """Yield the metrics with the curves, then subgroups and samples."""
        yield self._show_metrics()
        yield self._show_curves()
        yield self._show_threshold()
        yield self._show_calibration()
        yield self._show_subgroups()
        yield self._show_hard_samples()

    def _explain_metrics(self) -> str:
        """Say what the metrics are of."""
        text = "Of the predictions as they are."
        if self.kind == "scores" and self.threshold is None:
            text += " Scores without a threshold have no labels: give threshold= for the rest."
        return text

    def _describe_curve(self, name: str) -> str:
        """Say what the band is."""
        return f"{name} curve with its interval at each point and the band of the whole curve."

    def _draw_curves(self) -> Iterator[Figure]:
        """Yield the scores and the curves, and of probabilities of two classes the net benefit."""
        yield from self._draw_scores()
        yield from super()._draw_curves()
        found, classes = self.out_of_fold, self.out_of_fold.target.classes
        if classes is None or found.probabilities is None or len(classes) > 2:
            return
        options: dict[str, Any] = {"sample_weight": found.weight, "groups": found.group}
        options |= {"pos_label": classes[1], "confidence_level": self.confidence_level}
        made = NetBenefitDisplay.from_predictions
        yield Figure(
            partial(made, found.target.y, found.probabilities[:, 1], **options),
            f"Net benefit: what it is worth to treat those whose probability of {classes[1]} "
            "reaches the threshold, in true positives per sample, where the threshold says how "
            "many false ones one of them outweighs. Of use where it lies above both lines.",
            label="Net benefit by threshold, beside treating all and none.",
            height=3.6,
        )

    def _draw_scores(self) -> Iterator[Figure]:
        """Yield how the scores of each class are spread."""
        found, classes = self.out_of_fold, self.out_of_fold.target.classes
        scores = found.class_scores
        if classes is None or scores is None:
            return
        what = "probability" if found.probabilities is not None else "score"
        if len(classes) > 2:
            own = scores[np.arange(len(scores)), found.target.codes]
            yield Figure(
                partial(draw_spreads, own, found.target, f"{what} of the truth"),
                f"The {what} of the class that is true, by class: median, middle half and nine "
                "tenths of its samples. Best is far to the right.",
                label=f"Spread of the {what} of the truth by class.",
                height=1.2 + 0.25 * min(len(classes), 30),
            )
            return
        label = f"{what} of {classes[1]}"
        draw = partial(draw_scores, scores[:, 1], found.target, found.weight, self.threshold)
        yield Figure(
            partial(draw, label),
            f"The {label}, by the class that is true. The classes are told apart where they do not "
            "overlap.",
            label=f"Histograms of the {what} by class.",
            height=3.6,
        )

    def _draw_curves_of_many(self, classes: np.ndarray) -> Iterator[Figure]:
        """Yield how often the class of the largest probability is the true one."""
        found = self.out_of_fold
        if found.probabilities is None:
            return
        options: dict[str, Any] = {"labels": classes, "confidence_level": self.confidence_level}
        if np.ptp(found.weight):
            options["sample_weight"] = found.weight
        made = CalibrationDisplay.from_predictions
        yield Figure(
            partial(made, found.target.y, found.probabilities, **options),
            "Calibration: how often the likeliest class is the true one, by its probability.",
            label="Calibration curve with the intervals of its bins.",
            height=3.6,
        )

    def _show_threshold(self) -> Section:
        """Show what is right at the threshold, and what choosing it has cost."""
        found = self.at_threshold
        if found is None:
            return Section("The threshold", results={"at_threshold": None})
        cut, *shares = found.values()
        told = [f"{WORDS[each.name]} is {each.value:.2f}" for each in shares[:2]]
        heading = f"From {write_number(cut.value)} on, {' and '.join(told)}"
        rows: list[Any] = [(WORDS[each.name], each.value, each.interval) for each in shares]
        head, caption = ["", "estimate", self.level], f"From {write_number(cut.value)} on."
        if cut.method == "bootstrap":
            rows = [
                (*row, each.details["apparent"]) for row, each in zip(rows, shares, strict=True)
            ]
            head.append("on these samples")
            ends = write_ends(cut.interval.low, cut.interval.high)
            caption = (
                f"The threshold {write_number(cut.value)} was chosen on these samples "
                f"({self.level} {ends}): estimates are "
                "for new ones, less what choosing it here adds."
            )
        table = Table(caption, head, rows, left=(0, 2))
        return Section(heading, tables=[table], results={"at_threshold": found})

    def _show_calibration(self) -> Section:
        """Show how far the probabilities are off."""
        found = self.calibration
        if found is None:
            return Section("Calibration", results={"calibration": None})
        rows = [(each.name, each.value, each.interval) for each in found.values()]
        table = Table(
            "As an external validation reports it.",
            ["measure", "estimate", self.level],
            rows,
            notes={found[name].name: note for name, note in BEST.items()},
            left=(0, 2),
        )
        told, known = write_calibration(found, self.n_samples)
        figures, curve = [], found["ici"].details.get("curve")
        if curve is not None:
            figure = Figure(
                partial(draw_smooth, curve),
                "How often the event happens by the probability that was said: a restricted cubic "
                "spline of its log-odds, from which the distances of the table are taken.",
                label="Smooth calibration curve with its interval at each probability.",
                height=3.6,
            )
            figures.append(figure)
        sentences, results = [f"{told}.{known}"], {"calibration": found}
        return Section(told, sentences, figures=figures, tables=[table], results=results)

    def _show_hard_samples(self) -> Section:
        """Show the samples that are predicted worst."""
        hard, numbers = self.hard_samples, self.class_sizes is None
        found = self.out_of_fold
        results = {"hard_samples": hard.to_records()}
        n_hard = len(hard.sample)
        if not n_hard or not found.answers:
            return Section("Samples", results=results)
        n_wrong = int(np.sum(found.predicted != found.target.codes)) if not numbers else 0
        heading = f"{count(n_wrong, 'sample')} {'is' if n_wrong == 1 else 'are'} predicted wrongly"
        told, table = [], self._tabulate_samples()
        if numbers:
            verb = "is" if n_hard == 1 else "are"
            heading = f"{count(n_hard, 'sample')} {verb} more than three times as far off as usual"
            told.append(f"{heading}.")
        elif found.probabilities is not None:
            last = "probability of the truth"
            table = self._tabulate_samples(last, lambda wrong: f"{1 - wrong:.3f}")
        elif found.class_scores is None:
            table = self._tabulate_samples(caption="Predicted wrongly, the first of them.")
        told += [
            f"{n_wrong} of {size} samples of class {name} are predicted wrongly."
            for name, (n_wrong, size) in hard.unknown.items()
        ]
        return Section(heading, sentences=told, tables=[table], results=results)


Evaluated = PredictionsReport | MultilabelReport | EvaluationComparison
"""What predictions of classes or numbers, of several labels, and of several systems give."""


WORDS = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
}
BEST = {
    "observed_expected": "1 is best; above 1 the event happens more often than is said",
    "in_the_large": "0 is best; the shift of the log-odds that makes it happen as often",
    "intercept": "0 is best, beside a slope of 1",
    "slope": "1 is best; below 1 probabilities are too extreme",
    "ici": "0 is best",
    "e50": "0 is best",
    "e90": "0 is best",
    "scaled_brier": "1 is best; 0 is that of answering the share of the class always",
}
"""What the measures of calibration are where all is right."""


WANTED = 0.1
"""To how much either way a slope should be known: the width of Riley et al. (2021) is 0.2."""
KNOWN = 1.0
"""A slope that is known worse does not tell how many samples it takes to know it."""


def write_calibration(found: Results, n_samples: int) -> tuple[str, str]:
    """Say whether the slope and the number of events are those of right probabilities, and more."""
    told = []
    for name, best, below, above in (
        ("slope", 1, "too extreme", "not extreme enough"),
        ("observed_expected", 1, "too high on average", "too low on average"),
    ):
        interval = found[name].interval
        if name == "slope" and interval.high < 0:
            told.append("the wrong way round")
        elif interval.high < best:
            told.append(below)
        elif interval.low > best:
            told.append(above)
    if found["scaled_brier"].interval.high < 0:
        told.append("worse than the share of the class as the answer to all")
    if not told and np.isnan(found["slope"].interval.low):
        return "Whether the probabilities are right cannot be told: their slope is undefined", ""
    slope = found["slope"].interval
    known = f" The slope is known from {slope.low:.2f} to {slope.high:.2f}."
    reach = (slope.high - slope.low) / 2
    if WANTED < reach <= KNOWN:
        n_wanted = float(f"{n_samples * (reach / WANTED) ** 2:.2g}")
        known += f" To know it to +- {WANTED} takes about {n_wanted:.0f} samples like these."
    if not np.isfinite([slope.low, slope.high]).all():
        known = ""
    return f"Probabilities are {' and '.join(told) or 'not shown to be off'}", known


def warn_of_predictions(
    given: Given, found: OutOfFold, metrics: Results, y_true: Any, *, chosen: bool
) -> Iterator[Caution]:
    """Yield what a reader should know before quoting a number."""
    yield from _warn_of_units(given, found, y_true)
    yield from _warn_of_scores(given, found, metrics)
    yield from _warn_of_certainty(given)
    if chosen:
        yield Caution(
            "chosen-threshold",
            "The threshold was chosen on these samples: the metrics of labels and the confusion "
            "matrix are better than is to be expected on others, which the table of the threshold "
            "has.",
        )
    yield from _predictions.warn_of_metrics(metrics)
    yield from _warn_of_classes(given, found)


def _warn_of_units(given: Given, found: OutOfFold, y_true: Any) -> Iterator[Caution]:
    """Say which samples may not be independent, and whether groups are too few."""
    n = len(given.target)
    index = getattr(y_true, "index", None)
    if index is not None and not callable(index) and not index.is_unique:
        n_same = int(index.duplicated(keep=False).sum())
        yield Caution(
            "copies",
            f"{n_same} of {n} rows share their name in the index with another one: if rows of one "
            "name belong together, as those of one patient do, give groups=, else intervals are "
            "too short.",
        )
    elif found.cases.n_groups is None:
        yield from _warn_of_copies(given, found)
    yield from _given.warn_of_few_groups(found)


def _warn_of_certainty(given: Given) -> Iterator[Caution]:
    """Say how often a probability is 0 or 1, and how often it then is wrong."""
    if given.kind != "probabilities" or given.response is None:
        return
    own = given.response[np.arange(len(given.target)), given.target.codes]
    n_wrong = int(np.sum(own == 0))
    if n_wrong:
        yield Caution(
            "impossible",
            f"{n_wrong} of {len(own)} samples have a probability of 0 for what is true: their log "
            "loss is infinite, and taken for that of the smallest number there is.",
        )


def _warn_of_scores(given: Given, found: OutOfFold, metrics: Results) -> Iterator[Caution]:
    """Say which scores are no probabilities, are all the same, or rank the wrong way round."""
    n = len(given.target)
    if given.kind == "scores" and given.response is not None and given.response.ndim == 1:
        scores = given.response
        outside = int(np.sum((scores < 0) | (scores > 1)))
        if outside:
            yield Caution(
                "no-probabilities",
                f"{outside} of {n} predictions lie outside [0, 1], from {scores.min():.4g} to "
                f"{scores.max():.4g}: they are no probabilities. They are taken for scores; "
                "calibration, Brier score and log loss are left out.",
            )
    if found.class_scores is not None and found.ranks_nothing.all():
        yield Caution(
            "constant-scores",
            "All samples have the same score: it says nothing, and areas are those of ties.",
        )
    elif given.kind == "numbers" and np.ptp(given.predicted) == 0:
        yield Caution("constant-scores", "All predictions are the same number.")
    if "roc_auc" in metrics and metrics["roc_auc"].interval.high < 0.5:
        yield Caution(
            "reversed",
            f"The area under the ROC curve is below 0.5: high scores go with the other class than "
            f"{given.positive}. If they are meant for that one, give pos_label=, or turn "
            "them round.",
        )


def _warn_of_classes(given: Given, found: OutOfFold) -> Iterator[Caution]:
    """Say which classes are never predicted or rare, and whether all is right."""
    target = given.target
    perfect = Caution(
        "perfect",
        "Every prediction is right. Look whether the system has seen the truth, in these samples "
        "or in what it was trained on.",
    )
    if found.answers and np.all(found.predicted == target.codes):
        yield perfect
    if target.classes is None:
        return
    never = _sentences.find_unanswered(found) if found.answers else ()
    if never:
        yield Caution(
            "never-predicted",
            f"Never predicted: {list_few(never, 5)}. Precision is not defined there, and means "
            "over classes count it as 0.",
        )
    sizes = np.bincount(target.codes, minlength=len(target.classes))
    if absent := list(map(str, target.classes[sizes == 0])):
        yield Caution(
            "undefined",
            f"Predicted but never true: {list_few(absent, 5)}. Recall is not defined there: means "
            "over classes leave it out, but count the F1 of the class as 0.",
        )
    few = [
        f"{label} ({size})"
        for label, size in zip(target.classes, sizes, strict=True)
        if 0 < size < FEW_OF_CLASS
    ]
    if few:
        yield Caution(
            "few-samples",
            f"Classes with fewer than {FEW_OF_CLASS} samples: {list_few(few, 5)}. What is "
            "measured of them is known badly, as their intervals say.",
        )


SHARE_OF_COPIES = 0.05


def _warn_of_copies(given: Given, found: OutOfFold) -> Iterator[Caution]:
    """Say where predictions of many digits come twice, with the same truth."""
    if given.kind == "labels":
        return
    n = len(given.target)
    if given.target.n_classes == 2 and found.ranked is not None:
        ranked = found.ranked.ranked
        sizes, alike = ranked.counts, (ranked.positives == 0) | (ranked.negatives == 0)
    else:
        columns = given.predicted if given.response is None else given.response
        _, place, sizes = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
        place = place.reshape(-1)
        one = np.empty(len(sizes), dtype=np.intp)
        one[place] = np.arange(n)  # any sample of the same prediction stands for it
        differs = given.target.codes != given.target.codes[one[place]]
        alike = np.bincount(place, differs) == 0
    if 2 * len(sizes) < n:  # a score of few values, as that of a small tree
        return
    n_copies = int(sizes[(sizes > 1) & alike].sum())
    if n_copies > SHARE_OF_COPIES * n:
        yield Caution(
            "copies",
            f"{n_copies} of {n} samples have exactly the prediction and the truth of another one. "
            "If they are copies, leave them out, or give groups=: intervals are too short.",
        )


MOST_CLASSES_DRAWN, N_BARS = 30, 24
"""Of more classes the largest are drawn; bars of a histogram of scores."""


def draw_scores(
    score: np.ndarray, target: Target, weight: np.ndarray, cut: float | None, label: str, ax: Any
) -> None:
    """Draw how the scores of the samples of each of two classes are spread, as shares of it."""
    assert target.classes is not None
    low, high = float(score.min()), float(score.max())
    cells = np.linspace(low, high if high > low else low + 1, N_BARS + 1)
    for code, name in enumerate(target.classes):
        own = target.codes == code
        share = weight[own] / weight[own].sum()
        shown: dict[str, Any] = {"weights": share, "color": f"C{code}"}
        ax.hist(score[own], cells, histtype="step", linewidth=1.5, label=str(name), **shown)
        ax.hist(score[own], cells, alpha=0.15, **shown)
    if cut is not None and low <= cut <= high:
        ax.axvline(cut, color="0.4", linestyle="--", linewidth=1, label="threshold")
    ax.set(xlabel=label, ylabel="share of the class")
    ax.legend(fontsize="small")


def draw_spreads(score: np.ndarray, target: Target, label: str, ax: Any) -> None:
    """Draw the median, the middle half and nine tenths of the scores of each of many classes."""
    assert target.classes is not None
    sizes = np.bincount(target.codes, minlength=len(target.classes))
    drawn = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES_DRAWN])
    drawn = drawn[sizes[drawn] > 0]
    for row, code in enumerate(drawn):
        ends = np.quantile(score[target.codes == code], [0.05, 0.25, 0.5, 0.75, 0.95])
        ax.plot(ends[[0, 4]], [row, row], color="C0", linewidth=1)
        ax.plot(ends[[1, 3]], [row, row], color="C0", linewidth=5, alpha=0.5)
        ax.plot(ends[2], row, "o", color="C0", markersize=5)
    ax.set(xlabel=label, yticks=range(len(drawn)), ylim=(len(drawn) - 0.5, -0.5))
    ax.set_yticklabels([shorten_name(str(target.classes[code])) for code in drawn])


def draw_smooth(curve: Curve, ax: Any) -> None:
    """Draw a smooth calibration curve with the interval at each probability."""
    ax.plot([0, 1], [0, 1], linestyle=":", color="0.4", linewidth=1, label="calibrated")
    level = f"{100 * curve.confidence_level:g} % interval at each"
    ax.fill_between(curve.x, curve.low, curve.high, alpha=0.2, linewidth=0, label=level)
    ax.plot(curve.x, curve.y, label="smooth curve")
    ax.set(xlabel="predicted probability", ylabel="observed share", box_aspect=1)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(loc="best", fontsize="small")
