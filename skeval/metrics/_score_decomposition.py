"""A proper score as miscalibration, discrimination and uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlog1py, xlogy
from sklearn.isotonic import isotonic_regression

from skeval.metrics._probabilities import (
    BIN_CONSTRAINTS,
    PROBABILITY_CONSTRAINTS,
    Events,
    bin_events,
    check_events,
)
from skeval.utils._compat import StrOptions, validate_params
from skeval.utils._text import ShownAsText, align_text, write_number

__all__ = ["ScoreDecomposition", "score_decomposition"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScoreDecomposition(ShownAsText):
    """The parts of a score.

    Attributes
    ----------
    score : float
        ``miscalibration - discrimination + uncertainty + within_bins``; smaller is better.
    miscalibration : float
        What recalibrated probabilities would gain (Murphy's reliability); 0 is best.
    discrimination : float
        What they gain over the frequency of the event (resolution); larger is better.
    uncertainty : float
        The score of that frequency.
    within_bins : float
        What bins hide; 0 without bins, and where a bin holds one probability.
    loss : str
        "brier" or "log_loss".
    method : str
        "corp" or "murphy".
    n_bins : int
        Number of groups of equal recalibrated probability.
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    within_bins: float
    loss: str
    method: str
    n_bins: int

    def to_dict(self) -> dict[str, Any]:
        """Return the parts by name.

        Returns
        -------
        dict
        """
        return dict(vars(self))

    def __str__(self) -> str:
        names = ("score", "miscalibration", "discrimination", "uncertainty")
        rows = [(name, write_number(getattr(self, name))) for name in names]
        if self.method == "murphy":
            rows.append(("within bins", write_number(self.within_bins)))
        return align_text(f"{self.loss} by {self.method}, {self.n_bins} groups", rows)


@validate_params(
    {
        **PROBABILITY_CONSTRAINTS,
        **BIN_CONSTRAINTS,
        "loss": [StrOptions({"brier", "log_loss"})],
        "method": [StrOptions({"corp", "murphy"})],
    }
)
def score_decomposition(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    loss: str = "brier",
    method: str = "corp",
    n_bins: int = 10,
    strategy: str = "quantile",
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ScoreDecomposition:
    r"""Split the Brier score or the log loss into miscalibration, discrimination, uncertainty.

    With :math:`\bar S(q)` the mean score of probabilities `q`, :math:`c` recalibrated ones,
    :math:`g` the given ones, averaged in each bin, and :math:`\bar y` the frequency of the event,

    .. math:: \bar S(p) = \underbrace{\bar S(g) - \bar S(c)}_{miscalibration}
              - \underbrace{\bar S(\bar y) - \bar S(c)}_{discrimination}
              + \underbrace{\bar S(\bar y)}_{uncertainty}
              + \underbrace{\bar S(p) - \bar S(g)}_{within\ bins} .

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probability of the positive class, or of each class.
    loss : {"brier", "log_loss"}, default="brier"
        The score: :math:`(p - y)^2`, or :math:`-\log` of the probability of what happened, of
        probabilities no nearer to 0 and 1 than 2.2e-16, as scikit-learn has it.
    method : {"corp", "murphy"}, default="corp"
        Recalibrate by isotonic regression [1]_, without bins (:math:`g = p`); or by the observed
        fraction of each bin [2]_.
    n_bins : int, default=10
        Number of bins of "murphy".
    strategy : {"quantile", "uniform"}, default="quantile"
        Its bins: of equally many samples, or of equal width.
    pos_label : int, float, bool or str, default=None
        The positive class. None is 1 where `y_prob` has one column and `y_true` takes values in
        {0, 1} or {-1, 1}; where it has several, the event is that the class of the largest
        probability is the true one (top label).
    labels : array-like of shape (n_classes,), default=None
        The class of each column of `y_prob`; None is the sorted classes of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Each sample counts as often as its weight says; only the ratios of weights matter.

    Returns
    -------
    ScoreDecomposition
        The parts, which add up to the score.

    Raises
    ------
    ValueError
        If a probability lies outside [0, 1], or classes and columns do not agree.

    See Also
    --------
    calibration_curve : Where the probabilities are off.

    Notes
    -----
    The parts of "corp" are never negative, and need no choice of bins. Both methods recalibrate
    on the samples that they judge, so that miscalibration and discrimination are too large by the
    same amount, the more so the smaller the sample: a calibrated model has no miscalibration of 0.

    For the Brier score `within_bins` is the variance less the covariance within bins of
    Stephenson, Coelho and Jolliffe [3]_, without which Murphy's three terms do not add up where a
    bin holds different probabilities.

    References
    ----------
    .. [1] Dimitriadis, T., Gneiting, T. and Jordan, A. I. (2021). Stable reliability diagrams for
       probabilistic classifiers. Proceedings of the National Academy of Sciences 118, e2016191118.
       https://doi.org/10.1073/pnas.2016191118
    .. [2] Murphy, A. H. (1973). A new vector partition of the probability score. Journal of Applied
       Meteorology 12, 595-600.
       https://doi.org/10.1175/1520-0450(1973)012<0595:ANVPOT>2.0.CO;2
    .. [3] Stephenson, D. B., Coelho, C. A. S. and Jolliffe, I. T. (2008). Two extra components in
       the Brier score decomposition. Weather and Forecasting 23, 752-757.
       https://doi.org/10.1175/2007WAF2006116.1

    Examples
    --------
    >>> from skeval.metrics import score_decomposition
    >>> y = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> p = [0.1, 0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.8]
    >>> print(score_decomposition(y, p))
    brier by corp, 3 groups
      score           0.1350
      miscalibration  0.0725
      discrimination  0.1875
      uncertainty     0.2500
    """
    events = check_events(y_true, y_prob, pos_label, labels, sample_weight)
    given = recalibrated = events.probability
    if method == "corp":
        recalibrated = _isotonic(events)
        n_groups = len(np.unique(recalibrated))
    else:
        bins = bin_events(events, n_bins, strategy)
        given, recalibrated = bins.predicted[bins.place], bins.observed[bins.place]
        n_groups = len(bins.counts)
    frequency = np.average(events.happened, weights=events.weight)
    scores = [
        _mean_score(events, probability, loss)
        for probability in (events.probability, given, recalibrated, np.full_like(given, frequency))
    ]
    score, of_given, of_recalibrated, uncertainty = scores
    return ScoreDecomposition(
        score,
        of_given - of_recalibrated,
        uncertainty - of_recalibrated,
        uncertainty,
        score - of_given,
        *(loss, method, n_groups),
    )


def _isotonic(events: Events) -> Floats:
    """Return the fraction that happened, made increasing in the probability."""
    place = np.unique(events.probability, return_inverse=True)[1].reshape(-1)
    total = np.bincount(place, events.weight)
    fraction = np.bincount(place, events.weight * events.happened) / total
    found: Floats = isotonic_regression(fraction, sample_weight=total, y_min=0.0, y_max=1.0)
    return found[place]


def _mean_score(events: Events, probability: Floats, loss: str) -> float:
    happened = events.happened.astype(float)
    if loss == "brier":
        scores = (probability - happened) ** 2
    else:
        smallest = np.finfo(float).eps
        p = np.clip(probability, smallest, 1 - smallest)
        scores = -xlogy(happened, p) - xlog1py(1 - happened, -p)
    return float(np.average(scores, weights=events.weight))
