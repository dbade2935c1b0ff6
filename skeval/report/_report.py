"""What `evaluate` returns: estimates side by side, and what to make of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import starmap
from typing import Any

import numpy as np

from skeval._inference.estimate import Results, Test
from skeval._resampling.procedure import OutOfFold
from skeval.feature_selection import SelectionBias, SelectionStability
from skeval.model_selection import (
    ErrorEstimate,
    ErrorInterval,
    PerturbationInterval,
    TuningOptimism,
)
from skeval.model_selection._subgroups import write_subgroups
from skeval.report._metrics_table import write_hard_samples, write_metrics
from skeval.report._page import WritableReport
from skeval.report._predictions import ConfusionRates, HardSamples, make_predictions_frame
from skeval.report._sentences import (
    Guess,
    RareClass,
    find_quoted,
    write_coverage,
    write_guess,
    write_permutation,
    write_perturbation,
    write_selection,
    write_tuning,
    write_verdict,
)
from skeval.report._warnings import Caution
from skeval.utils._checks import check_option
from skeval.utils._text import (
    DataFrame,
    align_rows,
    make_frame,
    write_ends,
    write_number,
    write_spread,
)

__all__ = ["PERTURBED", "Estimate", "EvaluationReport", "name_estimates"]

PARTS = ("estimates", "metrics", "confusion", "hard_samples", "subgroups", "predictions")


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationReport(WritableReport):
    """The error of one estimator with an interval, and every other estimate of it.

    Attributes
    ----------
    answer : ErrorInterval or None
        The number to quote: what `error_interval` finds; None where the folds keep the order of
        the samples, which it would mix.
    metrics : dict of str to Estimate
        The usual metrics of out-of-fold predictions, of all samples and of each class, and what
        `scoring` named. Their intervals, too, are for the rule fitted to all samples.
    confusion : ConfusionRates or None
        The confusion matrix with intervals of its rates; None for regression.
    hard_samples : HardSamples
        The samples that models which did not see them predict wrongly again and again.
    subgroups : dict of Estimate, or None
        The error in each subgroup that `by` names, and the largest difference.
    tuning : TuningOptimism or None
        What the best scores of the searches for hyperparameters claimed beside what their models
        score, and what they chose; None where the estimator ends in no search.
    out_of_fold : OutOfFold
        The predictions of every sample by models that did not see it; see `predictions`.
    estimates : tuple of ErrorEstimate
        From the most optimistic to the most careful.
    perturbation : tuple of PerturbationInterval or None
        For a linear two-class `SVC` the intervals by the cross-validation statistic and by the
        resubstitution statistic.
    permutation : Test or None
        The P-value of the whole procedure.
    selection_bias : SelectionBias or None
        What selecting the features outside the loop would have claimed; None without a selector.
    selection_stability : SelectionStability or None
        Agreement of the features selected in the folds (Nogueira); None without a selector, or
        where the folds choose from different features that have no names.
    candidate_names : tuple of str or None
        Names of the features that the selector chooses from, which the steps before it made.
    guess : Guess or None
        The best answer that is always the same, the largest class or the mean, and the difference
        to its error on the same samples; None for a loss of one's own.
    rare : RareClass or None
        The rarest class, where it is rare, and the statistic that counts there.
    unanswered : tuple of str
        The classes that are the answer to no sample in most of the repeats.
    warnings : tuple of Caution
        What a reader should know before quoting a number, in plain words; each has a `code`.
    confidence_level : float
        Nominal coverage of the intervals.
    n_samples : int
        Number of samples.
    n_features : int or None
        Number of columns of the data; None where samples are no rows of a table, as texts are.
    class_sizes : dict or None
        Number of samples of each class; None for regression.
    estimator : str
        The estimator, as source text.
    seed : int
        The seed of all splits and resamples: ``random_state=seed`` repeats the evaluation.
    feature_names : tuple of str or None
        Names of the features, where they are known.
    settings : dict of str to str
        The other arguments of the call, as source text.
    versions : dict of str to str
        Versions of the packages that the numbers depend on.
    call : str
        The program that made the report, as source text; it begins with what it needs.
    date : str
        The day on which it was made.
    """

    answer: ErrorInterval | None
    metrics: Results
    confusion: ConfusionRates | None
    hard_samples: HardSamples
    subgroups: Results | None
    tuning: TuningOptimism | None
    out_of_fold: OutOfFold
    estimates: tuple[ErrorEstimate, ...]
    perturbation: tuple[PerturbationInterval, ...] | None
    permutation: Test | None
    selection_bias: SelectionBias | None
    selection_stability: SelectionStability | None
    candidate_names: tuple[str, ...] | None
    guess: Guess | None
    rare: RareClass | None
    unanswered: tuple[str, ...]
    warnings: tuple[Caution, ...]
    confidence_level: float
    n_samples: int
    n_features: int | None
    class_sizes: dict[Any, int] | None
    estimator: str
    seed: int
    feature_names: tuple[str, ...] | None
    settings: dict[str, str]
    versions: dict[str, str]
    call: str
    date: str

    def __getitem__(self, method: str) -> ErrorEstimate:
        """Return the estimate of a name."""
        for estimate in self.estimates:
            if estimate.method == method:
                return estimate
        names = ", ".join(repr(estimate.method) for estimate in self.estimates)
        raise KeyError(f"no estimate {method!r}; there are {names}")

    @property
    def verdict(self) -> str:
        """In three sentences at most: error, interval, the guess, chance, and what is grave."""
        explained = [self.metrics["r2"].value] if "r2" in self.metrics else []
        return write_verdict(
            find_quoted(self.answer, self.estimates),
            warnings=self.warnings,
            guess=self.guess,
            rare=self.rare,
            unanswered=self.unanswered,
            explained=explained[0] if explained else None,
            permutation=self.permutation,
            selection_bias=self.selection_bias,
        )

    @property
    def basis(self) -> list[str]:
        """What the interval of the answer is for, how it was made, and how that is known."""
        weighted = bool(np.ptp(self.out_of_fold.weight))
        return write_coverage(self.answer, self.class_sizes, weighted=weighted)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain Python objects, without the replicates."""
        classes = self.class_sizes
        return {
            "verdict": self.verdict,
            "answer": self.answer and self.answer.to_dict() | {"covers": " ".join(self.basis)},
            "estimator": self.estimator,
            "n_samples": self.n_samples,
            "n_features": self.n_features,
            "class_sizes": classes and {str(name): size for name, size in classes.items()},
            "seed": self.seed,
            "confidence_level": self.confidence_level,
            "metrics": self.metrics.to_dict(),
            "confusion": self.confusion and self.confusion.to_dict(),
            "hard_samples": self.hard_samples.to_records(),
            "subgroups": self.subgroups and self.subgroups.to_dict(),
            "tuning": self.tuning and self.tuning.to_dict(),
            "estimates": [e.to_dict() for e in self.estimates],
            "perturbation": [result.to_dict() for result in self.perturbation or ()],
            "permutation": self.permutation and self.permutation.to_dict(),
            "selection_bias": self.selection_bias and self.selection_bias.to_dict(),
            "selection_stability": self.selection_stability and self.selection_stability.to_dict(),
            "candidate_names": self.candidate_names and list(self.candidate_names),
            "guess": self.guess and asdict(self.guess),
            "rare": self.rare and asdict(self.rare),
            "unanswered": list(self.unanswered),
            "warnings": [{"code": w.code, "text": str(w)} for w in self.warnings],
            "feature_names": self.feature_names and list(self.feature_names),
            "settings": dict(self.settings),
            "versions": dict(self.versions),
        }

    @property
    def predictions(self) -> DataFrame:
        """A row for each prediction of a sample by a model that did not see it; needs pandas.

        Columns: sample (row of X), repeat, fold, truth, prediction; and for classifiers that score
        classes "score" (decision value, or probability of the second class), of more than two
        classes one score for each, "score_<class>".
        """
        return make_predictions_frame(self.out_of_fold)

    def to_frame(self, part: str = "estimates") -> DataFrame:
        """Return a part of the report as a data frame; needs pandas.

        Parameters
        ----------
        part : str, default="estimates"
            "estimates": one row for each estimate of the error, indexed by method, the answer
            first; "metrics", "confusion", "hard_samples", "subgroups": what the attribute of that
            name holds; "predictions": every prediction.

        Returns
        -------
        pandas.DataFrame
        """
        check_option("part", part, PARTS)
        if part == "predictions":
            return self.predictions
        if part != "estimates":
            found = getattr(self, part)
            if found is None:
                raise ValueError(f"part must be one that the report has; there is no {part!r}.")
            frame: DataFrame = found.to_frame()
            return frame
        rows = [estimate.to_dict() for estimate in self.estimates]
        if self.answer is not None:
            rows.insert(0, self.answer.to_dict())
        return make_frame(rows).set_index("method")

    def __str__(self) -> str:
        head = ("estimate", "error", "std. error", f"{100 * self.confidence_level:g} % interval")
        named = name_estimates(self.answer, self.estimates, self.perturbation)
        table = align_rows([head, *starmap(_write_row, named)], left=(0, 3))
        lines = [self.verdict, *self.basis, "", *table, ""]
        lines += [*write_metrics(self.metrics), ""]
        if self.subgroups:
            lines += [*write_subgroups(self.subgroups), ""]
        if self.guess and self.guess.better:
            lines.append(write_guess(self.guess, self.estimates[0].loss))
        if self.perturbation:
            lines.append(write_perturbation(self.perturbation[1]))
        if self.selection_bias:
            lines += write_selection(self.selection_bias, self.selection_stability)
        if self.tuning:
            lines.append(write_tuning(self.tuning))
        if self.permutation:
            lines.append(write_permutation(self.permutation))
        lines += write_hard_samples(self.hard_samples, self.class_sizes is None)
        return "\n".join([*lines, *(f"! {text} [{text.code}]" for text in self.warnings)])


def _write_row(name: str, estimate: Estimate) -> tuple[str, str, str, str]:
    """Return the cells of an estimate in the table of text."""
    found = estimate.interval
    ends = f"{write_ends(found.low, found.high)}  {found.method}"
    return name, write_number(estimate.error), write_spread(estimate.standard_error), ends


Estimate = ErrorEstimate | ErrorInterval | PerturbationInterval

PERTURBED = {
    "cross_validation": "SVM, perturbed cross-validation",
    "resubstitution": "SVM, perturbed training",
}
"""The name of a perturbation interval by the statistic that was perturbed."""


def name_estimates(
    answer: ErrorInterval | None,
    estimates: Iterable[ErrorEstimate],
    perturbation: Iterable[PerturbationInterval] | None,
) -> list[tuple[str, Estimate]]:
    """Return the estimates by name, the answer first, those of perturbation last."""
    named: list[tuple[str, Estimate]] = []
    if answer is not None:
        named.append((f"answer, {answer.method}", answer))
    named += [(estimate.method, estimate) for estimate in estimates]
    return [*named, *((PERTURBED[result.statistic], result) for result in perturbation or ())]
