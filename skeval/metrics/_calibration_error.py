"""How far predicted probabilities are from what happens, on average."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skeval._inference.calibration_gap import (
    Bins,
    corrected_gap,
    gap_limits,
    gap_moments,
    shrink_distances,
)
from skeval._inference.interval import LimitsResult, WithEnds
from skeval.metrics._probabilities import (
    BIN_CONSTRAINTS,
    PROBABILITY_CONSTRAINTS,
    bin_events,
    check_events,
)
from skeval.utils._compat import Interval, validate_params
from skeval.utils._text import align_text, write_number

__all__ = ["CalibrationError", "expected_calibration_error"]


@dataclass(frozen=True, eq=False)
class CalibrationError(WithEnds, LimitsResult):
    """Expected calibration error, with its bias and an interval.

    Attributes
    ----------
    error : float
        The mean distance between observed fraction and mean probability of a bin; too large.
    corrected : float
        The distance that has this one as its expected value; 0 where chance makes a larger one.
    by_chance : float
        What `error` would be, on average, if the model were calibrated.
    n_bins : int
        Number of bins that hold samples.
    n_samples : int
        Number of samples of weight above 0.
    strategy : str
        How the bins were made.
    pos_label : object
        The class whose probability was predicted; None where the event is that the class of the
        largest probability is the true one.
    interval : ConfidenceInterval
        That of the true distance.
    low, high : float
        Its ends.
    confidence_level : float
        Its nominal coverage.
    """

    error: float
    corrected: float
    by_chance: float
    n_bins: int
    n_samples: int
    strategy: str
    pos_label: object

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, ready for JSON.

        Returns
        -------
        dict
        """
        names = ("error", "corrected", "by_chance", "n_bins", "n_samples", "strategy")
        return {name: getattr(self, name) for name in names} | self._interval_items()

    def __str__(self) -> str:
        rows = [
            ("error", write_number(self.error)),
            ("corrected", write_number(self.corrected)),
            self._interval_row(),
            ("if calibrated", write_number(self.by_chance)),
            ("bins", f"{self.n_bins} ({self.strategy})"),
            ("samples", f"{self.n_samples}"),
        ]
        return align_text("expected calibration error", rows)


@validate_params(
    {
        **PROBABILITY_CONSTRAINTS,
        **BIN_CONSTRAINTS,
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    }
)
def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    confidence_level: float = 0.95,
    pos_label: object = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CalibrationError:
    r"""Mean distance between predicted probability and observed fraction, over bins.

    With the bins of `calibration_curve`, of which `b` holds a share :math:`s_b` of the weight,

    .. math:: ECE = \sum_b s_b\, |\bar y_b - \bar p_b| .

    In [0, 1]; 0 is best. It estimates the same of the true probabilities, :math:`\theta =
    \sum_b s_b |\bar\pi_b - \bar p_b|`, and is too large, for chance makes a distance where there
    is none: `by_chance` says how large a one.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probability of the positive class, or of each class.
    n_bins : int, default=10
        Number of bins.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equally many samples, or of equal width.
    confidence_level : float, default=0.95
        Nominal coverage of the interval.
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
    CalibrationError
        With `error`, `corrected`, `by_chance` and the `interval`.

    Raises
    ------
    ValueError
        If a probability lies outside [0, 1], or classes and columns do not agree.

    See Also
    --------
    score_decomposition : Miscalibration without bins.

    Notes
    -----
    *Bias.* In a bin of :math:`n_b` samples the fraction is :math:`X_b / n_b` with a binomial
    :math:`X_b`, so that the expected error, given the true distances, is known. `corrected` is the
    mean of true distances whose expected error is the one observed. It, too, may be off: where
    chance makes most of the error it falls short of the truth, and it is not 0 in every data set
    that a calibrated model makes.

    *Interval.* Its ends are the largest and the smallest mean of true distances under which the
    error lies no further from its expected value than the normal quantile of standard deviations.
    The upper end shares the distance among the bins so that chance adds least, and takes no error
    for smaller than `by_chance`; the lower end shares it as it was observed. It is meant to hold
    :math:`\theta` of the samples that were drawn. Measured at a nominal 0.95 on 250 data sets a
    cell, with five models (calibrated; overconfident, twice the log-odds; half the probability; one
    and a half times it; nearly constant) and three kinds of bins (10 and 5 of equal size, 10 of
    equal width): the lowest and the mean coverage, the error and the corrected one of the
    calibrated model in 10 bins of equal size, and what the overconfident one has there:

    ====  ===  ======  =====  =====  =========  =====  =====  =========  =====
    rate  n    lowest  mean   error  corrected  truth  error  corrected  width
    ====  ===  ======  =====  =====  =========  =====  =====  =========  =====
    0.5   50   0.940   0.968  0.159  0.038      0.101  0.176  0.091      0.25
    0.5   200  0.932   0.965  0.078  0.019      0.102  0.121  0.090      0.14
    0.1   50   0.940   0.977  0.079  0.025      0.071  0.102  0.066      0.18
    0.1   200  0.956   0.977  0.039  0.011      0.071  0.081  0.069      0.09
    0.02  50   0.936   0.980  0.020  0.009      0.039  0.045  0.036      0.12
    0.02  200  0.944   0.975  0.011  0.004      0.038  0.039  0.037      0.06
    ====  ===  ======  =====  =====  =========  =====  =====  =========  =====

    Of unlimited scores in the same bins it held the distance in 0.920 of the data sets at least.
    Where weights differ a bin counts as :math:`(\sum w)^2 / \sum w^2` samples.

    References
    ----------
    .. [1] Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern
       neural networks. ICML 2017. https://proceedings.mlr.press/v70/guo17a.html
    .. [2] Kumar, A., Liang, P. and Ma, T. (2019). Verified uncertainty calibration. NeurIPS 2019.
       https://arxiv.org/abs/1909.10155

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.metrics import expected_calibration_error
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(200)
    >>> y = rng.random(200) < p  # calibrated
    >>> print(expected_calibration_error(y, p))
    expected calibration error
      error          0.0532
      corrected      0.0000
      95 % interval  [0.0000, 0.1085]
      if calibrated  0.0682
      bins           10 (quantile)
      samples        200
    """
    events = check_events(y_true, y_prob, pos_label, labels, sample_weight)
    found = bin_events(events, n_bins, strategy)
    bins = Bins(found.share, found.effective, found.predicted, found.observed)
    distances = shrink_distances(bins)
    return CalibrationError(
        error=float(bins.share @ np.abs(bins.observed - bins.predicted)),
        corrected=corrected_gap(bins, distances),
        by_chance=float(gap_moments(bins, bins.predicted)[0]),
        n_bins=len(found.counts),
        n_samples=len(events.happened),
        strategy=strategy,
        pos_label=events.pos_label,
        limits={"test_inversion": partial(gap_limits, bins, distances)},
        confidence_level=confidence_level,
    )
