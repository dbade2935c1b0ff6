"""Published intervals of the error that skeval does not offer, for the table of coverage.

Each function takes an estimator, samples and a generator of random numbers. "location_shifted" and
"two_stage" (Noma et al., 2021) cover far too little, "five_by_two" (Dietterich, 1998) and
"replace_one" (Austern and Zhou, 2020) are too wide.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold

from skeval._inference.errors import combine
from skeval._inference.estimate import ConfidenceInterval
from skeval._inference.intervals import wilson_interval


class Competitor(NamedTuple):
    """An estimated error with its interval, and the attributes of `Estimate` it needs."""

    value: float
    standard_error: float
    interval: ConfidenceInterval
    n_fits: int
    effective_n_samples: float = np.nan


def losses_of(estimator, X, y, train, test):
    """Return the losses of the tested rows, 0-1 or squared, of a clone fitted to other rows."""
    predicted = clone(estimator).fit(X[train], y[train]).predict(X[test])
    return (predicted != y[test]) * 1.0 if is_classifier(estimator) else (predicted - y[test]) ** 2


def folds_of(estimator, X, y, n_folds, rng):
    """Return shuffled folds, stratified by class."""
    splitter = StratifiedKFold if is_classifier(estimator) else KFold
    cv = splitter(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
    return list(cv.split(X, y))


def add_interval(estimator, value, error, n, n_fits, degrees=np.inf):
    """Return the estimate with Wilson's interval, for squared loss with that of the logarithm."""
    quantile, size = stats.t.ppf(0.975, degrees), np.nan
    if is_classifier(estimator):
        size = float(n) if error == 0 else min(n, value * (1 - value) / error**2)
        ends = wilson_interval(value * size, size, 0.95, degrees_of_freedom=degrees)
    else:
        ends = value * np.exp(np.array([-1, 1]) * quantile * error / value)
    return Competitor(value, error, ConfidenceInterval(*ends, 0.95, "wilson"), n_fits, size)


def five_by_two(estimator, X, y, rng):
    """Train on one half and test on the other, five times."""
    repeats = [folds_of(estimator, X, y, 2, rng) for _ in range(5)]
    p = np.array([[losses_of(estimator, X, y, *s).mean() for s in folds] for folds in repeats])
    error = np.sqrt(np.sum((p - p.mean(axis=1, keepdims=True)) ** 2) / 5)
    return add_interval(estimator, p[0, 0], error, len(y), 10, degrees=5)


def replace_one(estimator, X, y, rng, n_folds=5):
    """Cross-validate one half of the data, with each of its samples replaced in turn."""
    n, (half, others) = len(y), folds_of(estimator, X, y, 2, rng)[0]
    others = rng.permutation(others)
    folds = folds_of(estimator, X[half], y[half], n_folds, rng)

    def error_of(rows):
        parts = [losses_of(estimator, X, y, rows[train], rows[test]) for train, test in folds]
        return np.concatenate(parts).mean()

    base, total = error_of(half), 0.0
    for i in range(min(len(half), len(others))):
        rows = half.copy()
        rows[i] = others[i]
        total += (base - error_of(rows)) ** 2
    whole = [losses_of(estimator, X, y, *s) for s in folds_of(estimator, X, y, n_folds, rng)]
    n_fits = (len(half) + 2) * n_folds
    return add_interval(estimator, np.concatenate(whole).mean(), np.sqrt(total / 4), n, n_fits)


def plus(estimator, X, y, n_resamples, rng):
    """Return .632+, the training error, and the in-bag errors of the models of resamples."""
    n, in_bag, out_of_bag = len(y), [], []
    everything = np.arange(n)
    for _ in range(n_resamples):
        drawn = rng.integers(n, size=n)
        while is_classifier(estimator) and len(np.unique(y[drawn])) < 2:
            drawn = rng.integers(n, size=n)
        losses = losses_of(estimator, X, y, drawn, everything)
        in_bag.append(losses[drawn].mean())
        out_of_bag.append(np.where(np.isin(everything, drawn), np.nan, losses))
    predicted = clone(estimator).fit(X, y).predict(X)
    pairs = predicted[:, None] != y if is_classifier(estimator) else (predicted[:, None] - y) ** 2
    tested = np.isfinite(out_of_bag).any(axis=0)
    oob = np.nanmean(np.array(out_of_bag)[:, tested], axis=0).mean()
    apparent = float(np.diag(pairs).mean())
    return combine(".632+", apparent, float(oob), float(pairs.mean())).error, apparent, in_bag


def from_draws(value, draws, n_fits):
    """Return the estimate with the quantiles of draws."""
    ends = np.nanquantile(draws, [0.025, 0.975])
    interval = ConfidenceInterval(*ends, 0.95, "quantile")
    return Competitor(value, float(np.nanstd(draws, ddof=1)), interval, n_fits)


def location_shifted(estimator, X, y, rng, n_resamples=200):
    """Shift the in-bag errors by .632+ minus the training error."""
    value, apparent, in_bag = plus(estimator, X, y, n_resamples, rng)
    return from_draws(value, np.array(in_bag) + value - apparent, 1 + n_resamples)


def two_stage(estimator, X, y, rng, n_resamples=200, n_inner=10):
    """Repeat .632+ in resamples of the data, in which repeated samples are different ones."""
    value, draws = plus(estimator, X, y, n_resamples, rng)[0], []
    while len(draws) < n_resamples:
        rows = rng.integers(len(y), size=len(y))
        if not is_classifier(estimator) or np.unique(y[rows], return_counts=True)[1].min() > 1:
            draws.append(plus(estimator, X[rows], y[rows], n_inner, rng)[0])
    return from_draws(value, draws, n_resamples * (n_inner + 2) + 1)


COMPETITORS = {
    "five_by_two": five_by_two,
    "location_shifted": location_shifted,
    "two_stage": two_stage,
    "replace_one_cv": replace_one,
}
