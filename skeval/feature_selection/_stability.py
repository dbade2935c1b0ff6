"""How much the selected features change from one training set to another."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from skeval._inference.estimate import Estimate
from skeval._inference.proportions import normal_interval
from skeval.utils._checks import check_confidence_level, check_data, check_option, warn_undefined

__all__ = ["check_supports", "selection_stability"]

_ROUNDING = 1e-12


def selection_stability(
    supports: Any, *, method: str = "nogueira", confidence_level: float = 0.95
) -> Estimate:
    r"""Measure the stability of a feature selection over resampled training sets.

    With :math:`h_j` the fraction of the `R` rounds that selected feature `j` of `p`,
    :math:`S_r` the features of round `r`, and :math:`\bar k` the mean number selected,

    .. math::

        \Phi_{Nogueira} &= 1 - \frac{\frac1p \sum_j \frac{R}{R-1} h_j (1 - h_j)}
            {\frac{\bar k}{p} \left(1 - \frac{\bar k}{p}\right)}, \\
        \Phi_{Kuncheva} &= \operatorname*{mean}_{r<s}
            \frac{|S_r \cap S_s| - k^2/p}{k - k^2/p}, \\
        \Phi_{Jaccard} &= \operatorname*{mean}_{r<s} \frac{|S_r \cap S_s|}{|S_r \cup S_s|} .

    All are at most 1, which means the same features in every round. The first two are 0 in
    expectation for features drawn at random, and at least :math:`-1/(R-1)`; Jaccard lies in
    [0, 1] and is *not* corrected for chance: it grows with :math:`\bar k / p`.

    Parameters
    ----------
    supports : bool array-like of shape (n_rounds, n_features)
        Row `r` marks the features of round `r`, as `get_support` gives them.
    method : {"nogueira", "kuncheva", "jaccard"}, default="nogueira"
        The measure. Kuncheva's needs the same number of features in every round.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, between 0 and 1.

    Returns
    -------
    Estimate
        `details` has the "frequency" of each feature, the fraction of the rounds that selected it,
        "n_rounds", "n_features", and how many were "selected_ever" and "selected_always". The value
        and its interval are nan, and an `UndefinedMetricWarning` is emitted, where the measure is
        0/0: a single round; nothing or everything selected (Nogueira, Kuncheva); a pair of empty
        rounds (Jaccard).

    Raises
    ------
    ValueError
        If `supports` is not a matrix of truth values, or `method` is "kuncheva" and the rounds
        select different numbers of features.

    Notes
    -----
    For equal numbers of features the first two are the same number, since
    :math:`\sum_j R h_j^2 = k + (R-1)\, \mathrm{mean}_{r<s} |S_r \cap S_s|`; they share their
    interval.

    The interval is normal: Theorem 7 and Corollary 9 of [1]_ for Nogueira's measure, Hoeffding's
    projection of a U-statistic of order two for Jaccard. It is asymptotic in the rounds (of two
    rounds of equal size, or of equal rounds, it is nan) and takes them as independent, which the
    folds of one cross-validation are not; bootstrap rounds come closer.

    References
    ----------
    .. [1] Nogueira, S., Sechidis, K. and Brown, G. (2018). On the stability of feature selection
       algorithms. Journal of Machine Learning Research 18 (174), 1-54.
    .. [2] Kuncheva, L. I. (2007). A stability index for feature selection. Proceedings of the
       IASTED International Conference on Artificial Intelligence and Applications, 390-395.

    Examples
    --------
    >>> from skeval.feature_selection import selection_stability
    >>> supports = [[1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0], [1, 1, 1, 0, 0, 0]]
    >>> result = selection_stability(supports)
    >>> round(result.value, 4)
    0.5556
    >>> result.details["frequency"].round(2).tolist()
    [1.0, 1.0, 0.67, 0.33, 0.0, 0.0]
    """
    check_option("method", method, MEASURES)
    check_confidence_level(confidence_level)
    chosen = check_supports(supports)
    if method == "kuncheva":
        check_equal_sizes(chosen)
    value, variance = (np.nan, np.nan) if len(chosen) < 2 else MEASURES[method](chosen)
    if np.isnan(value):
        warn_undefined(UNDEFINED[method].format(len(chosen)))
    # Equal rounds do not say how the measure would vary.
    error = float(np.sqrt(variance)) if variance > _ROUNDING**2 else np.nan
    frequency = chosen.mean(axis=0)
    limits = {"normal": partial(normal_interval, float(value), error, bounds=(-1.0, 1.0))}
    return Estimate(
        name="stability of the selection",
        value=float(value),
        standard_error=error,
        method=method,
        limits=limits,
        details={
            "n_rounds": len(chosen),
            "n_features": len(frequency),
            "selected_ever": int(np.count_nonzero(frequency)),
            "selected_always": int(np.sum(frequency == 1)),
            "frequency": frequency,
        },
        confidence_level=confidence_level,
    )


def check_supports(supports: Any) -> np.ndarray:
    """Return the rounds as a bool matrix."""
    chosen = check_data("supports", supports, dtype=None, estimator="skeval")
    if not np.isin(chosen, (0, 1)).all():
        raise ValueError(
            "supports must hold truth values, one for each round and feature; got "
            f"{chosen[~np.isin(chosen, (0, 1))].tolist()[0]!r}."
        )
    return chosen.astype(bool)


def check_equal_sizes(chosen: np.ndarray) -> None:
    """Raise unless every round selects the same number of features."""
    sizes = chosen.sum(axis=1)
    if sizes.min() != sizes.max():
        raise ValueError(
            "method='kuncheva' must be given the same number of features in every round, got "
            f"{sizes.min()} to {sizes.max()}; method='nogueira' takes any numbers."
        )


def nogueira(chosen: np.ndarray) -> tuple[float, float]:
    """Return the measure of Nogueira et al. (2018) and its variance (their Theorem 7)."""
    n_rounds, p = chosen.shape
    h = chosen.mean(axis=0)
    share = h.mean()  # kbar / p
    chance = share * (1 - share)
    if not 0 < np.count_nonzero(chosen) < chosen.size:
        return np.nan, np.nan
    value = 1 - n_rounds / (n_rounds - 1) * np.mean(h * (1 - h)) / chance
    shares = chosen.mean(axis=1)  # k_i / p
    bracket = 2 * shares * share - shares - share + 1
    influence = (chosen @ h / p - shares * share + value / 2 * bracket) / chance
    return value, 4 / n_rounds * float(np.var(influence))


def jaccard(chosen: np.ndarray) -> tuple[float, float]:
    """Return the mean pairwise Jaccard index and its variance by projection."""
    n_rounds = len(chosen)
    both = chosen.astype(float) @ chosen.T
    sizes = chosen.sum(axis=1)
    either = sizes[:, None] + sizes - both
    pairs = ~np.eye(n_rounds, dtype=bool)
    if not either[pairs].all():
        return np.nan, np.nan
    of_round = np.divide(both, either, where=pairs, out=np.zeros_like(both)).sum(axis=1)
    of_round /= n_rounds - 1
    return float(of_round.mean()), 4 / n_rounds * float(np.var(of_round))


MEASURES = {"nogueira": nogueira, "kuncheva": nogueira, "jaccard": jaccard}

CHANCE_FREE = (
    "the stability is undefined, 0/0, for {} round(s) of which all select nothing, or all select "
    "everything, or there is only one; it is set to nan."
)
UNDEFINED = {
    "nogueira": CHANCE_FREE,
    "kuncheva": CHANCE_FREE,
    "jaccard": (
        "the Jaccard stability is undefined, 0/0, for {} round(s) of which two select nothing or "
        "there is only one; it is set to nan."
    ),
}
