"""What `score_interval` returns, and what is known of the scores by name."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skeval._inference.finding import Finding, finding_forms, finding_limits
from skeval._inference.interval import ConfidenceInterval, require_width
from skeval.model_selection._results import bounds_of
from skeval.utils._checks import check_level, check_option
from skeval.utils._text import aligned

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PER_SAMPLE", "MeanLoss", "ScoreInterval", "read_score", "score_forms"]


class MeanLoss(NamedTuple):
    """A score that is `best` less the mean of a loss."""

    loss: str
    best: float


PER_SAMPLE = {
    "accuracy": MeanLoss("zero_one", 1.0),
    "neg_mean_squared_error": MeanLoss("squared", 0.0),
    "neg_mean_absolute_error": MeanLoss("absolute", 0.0),
}
SHARES = (
    "balanced_accuracy",
    "top_k_accuracy",
    "average_precision",
    "roc_auc",
    "f1",
    "precision",
    "recall",
    "jaccard",
)
"""How the names of scores between 0 and 1 begin."""


def range_of(scoring: str) -> tuple[float, float]:
    """Return the smallest and the largest value of a score that scikit-learn names."""
    if scoring.endswith("()"):
        return -np.inf, np.inf
    if scoring.startswith(SHARES):
        return 0.0, 1.0
    if scoring.startswith("neg_"):
        return -np.inf, 0.0
    if scoring == "matthews_corrcoef":
        return -1.0, 1.0
    best_is_one = scoring in ("r2", "explained_variance") or scoring.startswith("d2_")
    return -np.inf, 1.0 if best_is_one else np.inf


@dataclass(frozen=True, eq=False)
class ScoreInterval:
    """The score of a procedure, and a confidence interval of it.

    Attributes
    ----------
    scoring : str
        Name of the score: one of scikit-learn's, or that of a function with brackets behind it.
    method : str
        The method that found it.
    score : float
        The estimate. Larger is better.
    standard_error : float
        What the method takes for its standard error.
    interval : ConfidenceInterval
        The interval at the level asked for.
    n_fits : int
        Number of models that were fitted.
    effective_n_samples : float or None
        Number of independent samples that would have this standard error; None where the method
        does not tell it, or the score is no mean of losses.
    replicates : ndarray
        What was averaged: scores of folds, subsamples or repeats.
    n_samples : int
        Number of samples.
    n_groups : int or None
        Number of groups, the units that were counted; None where samples are independent.
    n_undefined : int
        Number of fits that failed, or whose score is undefined, which were left out.
    degrees_of_freedom : float
        Of Student's quantile; infinity where it is the normal one.
    parameters : dict
        The parameters of the method.
    """

    scoring: str
    method: str
    score: float
    standard_error: float
    interval: ConfidenceInterval
    n_fits: int
    effective_n_samples: float | None
    replicates: np.ndarray = field(repr=False)
    n_samples: int
    n_groups: int | None
    n_undefined: int
    degrees_of_freedom: float
    parameters: dict[str, Any]

    @property
    def interval_methods(self) -> tuple[str, ...]:
        """The forms that `confidence_interval` takes, the default first."""
        return score_forms(self.scoring, self.degrees_of_freedom)

    def confidence_interval(
        self, confidence_level: float | None = None, method: str | None = None
    ) -> ConfidenceInterval:
        """Read another interval off the same numbers, without fitting.

        Parameters
        ----------
        confidence_level : float, default=None
            Nominal coverage, between 0 and 1; None keeps that of `interval`.
        method : str, default=None
            One of `interval_methods`; None takes the first.

        Returns
        -------
        ConfidenceInterval
        """
        level = self.interval.level if confidence_level is None else confidence_level
        finding = Finding(
            self.score,
            self.standard_error,
            self.replicates,
            self.degrees_of_freedom,
            self.effective_n_samples,
        )
        return read_score(finding, self.scoring, level, method)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers without the replicates, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "scoring": self.scoring,
            "method": self.method,
            "score": self.score,
            "standard_error": self.standard_error,
            "low": self.interval.low,
            "high": self.interval.high,
            "confidence_level": self.interval.level,
            "interval": self.interval.method,
            "n_fits": self.n_fits,
            "n_undefined": self.n_undefined,
            "n_samples": self.n_samples,
            "n_groups": self.n_groups,
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return one row with the numbers, to be put below those of other scores."""
        import pandas as pd

        return pd.DataFrame([self.to_dict()])

    def __str__(self) -> str:
        interval = self.interval
        rows = [
            ("score", f"{self.score:.4f}"),
            (
                f"{100 * interval.level:g} % interval",
                f"[{interval.low:.4f}, {interval.high:.4f}] ({interval.method})",
            ),
            ("standard error", f"{self.standard_error:.4f}"),
            ("fits", f"{self.n_fits}"),
        ]
        if self.n_groups is not None:
            rows.append(("groups", f"{self.n_groups}"))
        if self.n_undefined:
            rows.append(("undefined or failed", f"{self.n_undefined}"))
        return aligned(f"score interval, {self.method} ({self.scoring})", rows)


def score_forms(scoring: str, degrees_of_freedom: float) -> tuple[str, ...]:
    """Return the forms of interval that suit a score, the default first."""
    loss = PER_SAMPLE[scoring].loss if scoring in PER_SAMPLE else ""
    return finding_forms(loss, False, degrees_of_freedom)


def read_score(
    finding: Finding, scoring: str, level: float, form: str | None = None
) -> ConfidenceInterval:
    """Return the interval of a score: of a mean loss where it is one, else of the score."""
    check_level(level, "confidence_level")
    forms = score_forms(scoring, finding.degrees_of_freedom)
    form = check_option("method", form or forms[0], forms)
    if scoring in PER_SAMPLE:
        loss, best = PER_SAMPLE[scoring]
        finding = finding._replace(error=best - finding.error)
        low, high, form = finding_limits(finding, form, level, bounds_of(loss))
        return ConfidenceInterval(best - high, best - low, float(level), form)
    low, high, form = finding_limits(finding, form, level, range_of(scoring))
    return ConfidenceInterval(*require_width((low, high)), float(level), form)
