"""Variances and intervals of areas under ROC curves, and confidence bands of the curves.

Covariances of full or partial areas follow DeLong. The area from cross-validation counts the pairs
of samples that were scored by the same model. Weighted or grouped samples enter with their
effective sample size.

The band of a curve: at a threshold with true rates (x, y), the observed rates (x', y') of two
classes of n and m samples deviate from the true ones by about

    a = (x' - x) / sqrt(x (1 - x) / n),   b = (y' - y) / sqrt(y (1 - y) / m),

which are independent and standard normal. The band at x consists of all y that some pair with
``a^2 + b^2 <= z^2`` reaches. With z the normal quantile it covers the curve at one x, because only
the deviation perpendicular to the curve matters. To cover the curve at all x, z is the quantile of
the largest distance between a true curve and the observed one (`curve_distances`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from skeval._inference import intervals
from skeval._inference.intervals import Codes, Spread, Totals

Floats = NDArray[np.float64]


def spread_of_areas(
    positive: NDArray[np.bool_],
    scores: Floats,
    weight: Floats,
    group: Codes | None = None,
    max_fpr: float = 1.0,
    ranked: Ranked | None = None,
) -> Spread:
    """Return the covariance of the areas under the ROC curves of scores, shape (k, n).

    The covariance follows DeLong, DeLong and Clarke-Pearson (1988): each sample contributes the
    fraction of the other class against which it is ranked correctly. With groups, the deviations
    of these contributions are first summed within each group (Obuchowski 1997). The result is nan
    for a class with one sample, or with one sample of nonzero weight. Areas up to a false-positive
    rate `max_fpr` are standardized as proposed by McClish. `ranked` are the sorted scores, for a
    single row of scores that has been sorted already.
    """
    deviation = np.empty((len(positive), len(scores)))
    for row, score in enumerate(scores):
        if max_fpr == 1:
            sorted_scores = ranked or rank_scores(positive, score, weight)
            correct, others = _rank_rightly(positive, sorted_scores)
            placed = correct / others
        else:
            placed = _place_below(positive, score, max_fpr)
        for own in (positive, ~positive):
            share = weight[own] / weight[own].sum()
            deviation[own, row] = share * (placed[own] - share @ placed[own])
    if group is not None:
        return intervals.spread_between(deviation, group, weight, positive.astype(np.intp))
    covariance = np.zeros((len(scores), len(scores)))
    for own in (positive, ~positive):
        n = independent_size(weight[own])
        factor = n / (n - 1) if n >= 1.5 else np.nan  # undefined for a single sample
        covariance += factor * deviation[own].T @ deviation[own]
    return Spread(covariance)


def spread_of_area(ranked: Ranked) -> Spread:
    """Return the variance of one area without groups, computed per distinct score.

    Samples of one class with the same score have the same deviation.
    """
    variance, pairs = 0.0, ranked.positives.sum() * ranked.negatives.sum()
    for side, n in enumerate(ranked.sizes):
        own, correct = ranked.positives, ranked.below
        if side:
            own, correct = ranked.negatives, ranked.above
        correct -= own @ correct / own.sum()
        factor = n / (n - 1) if n >= 1.5 else np.nan
        variance += factor * float(ranked.squares[side] @ (correct * correct)) / pairs**2
    return Spread(np.array([[variance]]))


def _rank_rightly(positive: NDArray[np.bool_], ranked: Ranked) -> tuple[Floats, Floats]:
    """Return the weight of the other class, correctly ranked against each sample and in total.

    Ties count one half.
    """
    below, above = map(ranked.spread_out, (ranked.below, ranked.above))
    correct = np.empty(len(positive))
    correct[ranked.order] = np.where(positive[ranked.order], below, above)
    return correct, np.where(positive, ranked.negatives.sum(), ranked.positives.sum())


def _place_below(positive: NDArray[np.bool_], score: Floats, max_fpr: float) -> Floats:
    """Return the contribution of each sample to a standardized partial area.

    The area over false positive rates up to u is the mean of ``w(x) S(x)`` over the negatives x.
    S(x) is the fraction of positives above x, and w(x) is 1 above the quantile c of the negatives
    that corresponds to u, or a fraction if u falls within a step. Because c is estimated, the
    influence of a negative is ``w(x) (S(x) - S(c))``. The influence of a positive is the mean of w
    over the negatives below it. At u = 1 this is the whole area.
    """
    above, below = score[positive], score[~positive]
    higher = rankdata(-below) - 0.5  # midrank among the negatives
    place = np.unique(below, return_inverse=True)[1].reshape(-1)
    step = np.bincount(place)[place]
    weight = np.clip((max_fpr * len(below) - (higher - step / 2)) / step, 0.0, 1.0)
    # fraction of positives above each negative, ties one half
    wins = (above[:, None] > below) + 0.5 * (above[:, None] == below)
    survival = wins.mean(axis=0)
    cut = survival[weight > 0].max()
    scale = 0.5 / (max_fpr - max_fpr**2 / 2)
    placed = np.empty(len(score))
    placed[positive], placed[~positive] = wins @ weight / len(below), weight * (survival - cut)
    return scale * placed


class FoldArea(NamedTuple):
    """Area under the ROC curve and the influence of each sample on it.

    Attributes
    ----------
    area : float
        nan if no test set contains both classes.
    influence : ndarray of shape (n_samples,)
    """

    area: float
    influence: Floats


def within_fold_area(
    positive: NDArray[np.bool_],
    score: Floats,
    row: NDArray[np.intp],
    fold: NDArray[np.intp],
    weight: Floats,
) -> FoldArea:
    r"""Return the fraction of correctly ordered pairs of a positive and a negative, within folds.

    Scores of different models have no common scale, so pooling them need not preserve the quality
    of the ranking (Parker, Gunter and Bedo 2007). Only pairs scored by the same model count. With
    :math:`s_{ij}` equal to 1, 1/2 (tie) or 0,

    .. math:: A = \sum_{ij} w_i w_j s_{ij} / \sum_{ij} w_i w_j .

    The influence of a sample is the sum of :math:`w_i w_j (s_{ij} - A)` over its pairs, divided by
    the sum of all weights, and multiplied by the square root of m / (m - 1), where m is the number
    of samples of its class, as in an unbiased variance.

    Parameters
    ----------
    positive, score, row, fold : ndarray of shape (n_predictions,)
        Whether the sample is positive, its score, its index, and the fit that scored it.
    weight : ndarray of shape (n_samples,)
    """
    wins, pairs = np.zeros(len(weight)), np.zeros(len(weight))
    order = np.argsort(fold, kind="stable")
    starts = np.flatnonzero(np.diff(fold[order], prepend=-1))
    for part in np.split(order, starts[1:]):
        at = row[part]
        ranked = rank_scores(positive[part], score[part], weight[at])
        correct, others = _rank_rightly(positive[part], ranked)
        wins[at] += weight[at] * correct
        pairs[at] += weight[at] * others
    is_positive = np.zeros(len(weight), dtype=bool)
    is_positive[row[positive]] = True
    total = pairs[is_positive].sum()
    if not total > 0:
        return FoldArea(np.nan, np.full(len(weight), np.nan))
    area = float(wins[is_positive].sum() / total)
    influence = (wins - area * pairs) / total
    for side in (is_positive, ~is_positive):
        m = np.count_nonzero(pairs[side])
        influence[side] *= np.sqrt(m / (m - 1)) if m > 1 else 1.0
    return FoldArea(area, influence)


class Ranked(NamedTuple):
    """Samples sorted by score, shared by all rank statistics.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        Sample indices by increasing score.
    begins : bool ndarray of shape (n_samples,)
        Whether a distinct score starts at this position of `order`.
    score : ndarray of shape (n_scores,)
        The distinct scores.
    positives, negatives : ndarray of shape (n_scores,)
        Total weight of each class at each score.
    squares : tuple of two ndarray of shape (n_scores,)
        Sums of the squared weights; the same arrays if all weights are 1.
    """

    order: NDArray[np.intp]
    begins: NDArray[np.bool_]
    score: Floats
    positives: Floats
    negatives: Floats
    squares: tuple[Floats, Floats]

    @property
    def below(self) -> Floats:
        """Weight of the negatives below each score; ties count one half."""
        return np.cumsum(self.negatives) - self.negatives / 2

    @property
    def above(self) -> Floats:
        """Weight of the positives above each score; ties count one half."""
        return self.positives.sum() - np.cumsum(self.positives) + self.positives / 2

    @property
    def sizes(self) -> tuple[float, float]:
        """Effective sample sizes of the positives and the negatives."""
        up, down = self.squares
        of_positives, of_negatives = self.positives.sum() ** 2, self.negatives.sum() ** 2
        return float(of_positives / up.sum()), float(of_negatives / down.sum())

    @property
    def counts(self) -> NDArray[np.intp]:
        """Number of samples with each score."""
        return np.diff(np.flatnonzero(self.begins), append=len(self.order))

    def spread_out(self, values: Floats) -> Floats:
        """Return the value of each sample's score, with the samples sorted by score."""
        return values if len(values) == len(self.order) else np.repeat(values, self.counts)


def rank_scores(positive: NDArray[np.bool_], score: Floats, weight: Floats) -> Ranked:
    order = np.argsort(score)
    values, own, weight = score[order], positive[order], weight[order]
    begins = np.ones(len(order), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    first = None if begins.all() else np.flatnonzero(begins)

    def add_up(weight: Floats) -> tuple[Floats, Floats]:
        up, down = weight * own, weight * ~own
        if first is None:
            return up, down
        return np.add.reduceat(up, first), np.add.reduceat(down, first)

    up, down = add_up(weight)
    squares = (up, down) if np.all(weight == 1) else add_up(weight**2)
    return Ranked(order, begins, values if first is None else values[first], up, down, squares)


def precision_influence(
    positive: NDArray[np.bool_], score: Floats, weight: Floats
) -> tuple[float, Floats]:
    r"""Return the average precision and the influence of each sample on it, shape (n_samples,).

    With :math:`a_k` the weight of the positives at the k-th highest score, :math:`B_k` the weight
    of all samples down to it, :math:`p_k` the precision there and P the weight of all positives,
    the value is :math:`A = \sum_k a_k p_k / P`. Its derivative with respect to the weight of a
    sample i, at score k(i), is

    .. math:: \{y_i (p_{k(i)} - A) + \sum_{k \ge k(i)} a_k (y_i - p_k) / B_k\} / P .
    """
    _, place = np.unique(-score, return_inverse=True)
    own = np.bincount(place, weight * positive)
    below = np.cumsum(np.bincount(place, weight))
    precision, total = np.cumsum(own) / below, own.sum()
    value = float(own @ precision / total)
    gain, loss = (np.cumsum(part[::-1])[::-1] for part in (own / below, own * precision / below))
    slope = positive * (precision[place] - value + gain[place]) - loss[place]
    return value, weight * slope / total


class Ranking(NamedTuple):
    """Mean area or mean average precision of several columns; nan if a column has only one class.

    Attributes
    ----------
    value, error : float
    sizes : tuple of two floats
        Numbers of positives and negatives of a single column with the same standard error.
    degrees_of_freedom : float
    """

    value: float
    error: float
    sizes: tuple[float, float]
    degrees_of_freedom: float


def rank_columns(
    positive: NDArray[np.bool_],
    score: Floats,
    weight: Floats,
    group: Codes | None,
    *,
    of_area: bool,
) -> Ranking:
    """Return the mean area or average precision of the columns, shape (n_rows, n_columns).

    The variance of the mean comes from the influence of rows or groups. The variance of each
    column is at least the one used for the interval of this column alone. With groups, the design
    effect divides the numbers of samples. The degrees of freedom are Satterthwaite's for a sum of
    variances, each estimated from the samples of the smaller class of its column.
    """
    n, k = positive.shape
    factor = 1.0 if of_area else n / (n - 1)  # already in the influence on an area

    def measure(influence: Floats, group: Codes | None) -> Spread:
        if group is None:
            return Spread(np.array([[factor * np.sum(influence**2)]]), n - 1.0)
        return intervals.spread_between(influence, group, weight)

    values, moved, short, sizes, spread = np.empty(k), np.zeros(n), 0.0, np.zeros(2), np.zeros(2)
    for at, (own, column) in enumerate(zip(positive.T, score.T, strict=True)):
        if own.all() or not own.any():
            return Ranking(np.nan, np.nan, (1.0, 1.0), n - 1.0)
        if of_area:
            fold = np.zeros(n, dtype=np.intp)
            value, influence = within_fold_area(own, column, np.arange(n), fold, weight)
        else:
            value, influence = precision_influence(own, column, weight)
        if min(value, 1 - value) < _ROUNDING:
            value, influence = float(round(value)), np.zeros(n)
        variance = measure(influence, group).variance
        m = np.array([independent_size(weight[own]), independent_size(weight[~own])])
        if group is not None:
            # fewer independent samples of each class, by the design effect
            alone = measure(influence, None).variance
            n_groups = np.array([intervals.count_groups(group[side]) for side in (own, ~own)])
            m = m / max(1.0, variance / alone) if alone > 0 else np.minimum(m, n_groups)
        # at least the variance for the interval of this column alone
        least = value * (1 - value) / m[0]
        if of_area:
            least = intervals.shrink_area_variance(value, variance, (float(m[0]), float(m[1])))
        larger = max(variance, least)
        values[at], moved, short = value, moved + influence, short + larger - variance
        sizes += 1 / m
        spread += larger, larger**2 / max(1.0, min(m) - 1)
    whole = measure(moved, group)
    error = float(np.sqrt(whole.variance + short)) / k
    # without variation the columns may all be equal, and then count once
    positives, negatives = ((k**2 if error > 0 else k) / sizes).tolist()
    degrees = whole.degrees_of_freedom
    if spread[1] > 0:
        degrees = min(degrees, float(spread[0] ** 2 / spread[1]))
    return Ranking(float(values.mean()), error, (positives, negatives), degrees)


_DIRECTIONS = 13
"""Number of directions per quadrant that the limits are searched over."""
_PLACES = 24
"""Number of rates of each class at which the distance of two curves is evaluated."""
_BLOCK = 8
"""Number of simulated curves compared with the true one at a time."""
_ROUNDING = 1e-12


class Steps(NamedTuple):
    """Rates of two classes at every cutoff, from none to all, and effective sample sizes.

    `x` and `y` have shape (n_cuts,), from 0 to 1. With weights or groups, the effective sizes need
    not be integers.
    """

    x: Floats
    y: Floats
    n_x: float
    n_y: float

    def below(self, x: Floats) -> Floats:
        """Return y just before x is reached: the foot of a vertical step."""
        return np.interp(x - _ROUNDING, self.x, self.y, left=0.0, right=1.0)

    def above(self, x: Floats) -> Floats:
        """Return y at the top of a vertical step at x."""
        return np.interp(x + _ROUNDING, self.x, self.y, left=0.0, right=1.0)

    def swap(self) -> Steps:
        """Return the same cutoffs with the two classes exchanged."""
        return Steps(self.y, self.x, self.n_y, self.n_x)


def rates_on_sphere(steps: Steps, x: Floats, across: Floats, along: Floats, exact: bool) -> Floats:
    """Return the limits of y at each x, shape (2, n_directions, n_x).

    `across` is the deviation of the threshold and `along` the deviation of the rate at it, in
    standard deviations; both have shape (n_directions,).
    """
    off = across[:, None] * np.sqrt(x * (1 - x) / steps.n_x)
    z = along[:, None]
    low, _ = intervals.binomial_limits(steps.below(x - off), steps.n_y, z, exact=exact)
    _, high = intervals.binomial_limits(steps.above(x + off), steps.n_y, z, exact=exact)
    return np.stack([low, high])


def curve_limits(steps: Steps, x: Floats, z: float, exact: bool) -> tuple[Floats, Floats]:
    """Return the smallest and largest y at each x over all pairs of deviations of length z."""
    angle = np.linspace(0, np.pi / 2, _DIRECTIONS)
    low, high = rates_on_sphere(steps, x, z * np.sin(angle), z * np.cos(angle), exact)
    return low.min(axis=0), high.max(axis=0)


def curve_distances(steps: Steps, rngs: Iterable[Generator]) -> Floats:
    """Return the largest distance between the true curve and a drawn curve, for each generator.

    As the true curve, use the observed one with half a sample added on either side of every cutoff,
    so that it does not start and end in the corners. The distance of a point is its distance to the
    nearest point of the drawn curve, in standard deviations.
    """
    true = _smooth_curve(steps)
    inside = true[:, ((true > _ROUNDING) & (true < 1 - _ROUNDING)).all(axis=0)]
    sizes = np.array([max(1, round(steps.n_x)), max(1, round(steps.n_y))])
    scale = np.sqrt(inside * (1 - inside) / sizes[:, None])
    drawn = np.array([_draw_curve(true, sizes, rng) for rng in rngs])  # (draw, class, place)
    blocks = range(0, len(drawn), _BLOCK)
    return np.concatenate([_largest_distance(drawn[b : b + _BLOCK], inside, scale) for b in blocks])


def _smooth_curve(steps: Steps) -> Floats:
    """Return points on the smoothed curve, shape (2, n_places), evenly spaced in quantiles."""
    rates = [
        np.concatenate([[0.0], (rate * n + 0.5) / (n + 1), [1.0]])
        for rate, n in ((steps.x, steps.n_x), (steps.y, steps.n_y))
    ]
    length = rates[0] + rates[1]  # increases along the curve
    # points at equal steps of the normal quantile of each rate
    places = [np.array([0.0, 2.0])]
    for rate, n in zip(rates, (steps.n_x, steps.n_y), strict=True):
        ends = ndtri(0.25 / max(n, 1.0))
        wanted = ndtr(np.linspace(ends, -ends, _PLACES))
        rising = rate + _ROUNDING * np.arange(len(rate))
        places.append(np.interp(wanted, rising, length))
    at = np.unique(np.concatenate(places))
    return np.array([np.interp(at, length, rate) for rate in rates])


def _draw_curve(true: Floats, sizes: NDArray[np.intp], rng: Generator) -> Floats:
    """Return simulated rates of both classes at the true ones, shape (2, n_places)."""
    drawn = np.zeros_like(true)
    for row, (rates, size) in enumerate(zip(true, sizes, strict=True)):
        share = np.maximum(np.diff(rates), 0.0)
        # multinomial counts between the points of the curve
        drawn[row, 1:] = np.cumsum(rng.multinomial(size, share / share.sum())) / size
    return drawn


def _largest_distance(drawn: Floats, inside: Floats, scale: Floats) -> Floats:
    """Return the distance of the farthest true point from each drawn curve."""
    # Shapes: (draw, true point, point of the drawn curve).
    a, b = ((drawn[:, row, None, :] - inside[row][:, None]) / scale[row][:, None] for row in (0, 1))
    da, db = np.diff(a, axis=-1), np.diff(b, axis=-1)
    a, b = a[..., :-1], b[..., :-1]
    # position of the foot of the perpendicular on each segment
    along = -(a * da + b * db) / np.maximum(da**2 + db**2, _ROUNDING)
    np.clip(along, 0.0, 1.0, out=along)
    squared = (a + along * da) ** 2 + (b + along * db) ** 2
    return np.sqrt(squared.min(axis=-1).max(axis=-1))


_CUTS = 50
"""Number of cutoffs of a class at which the variance between groups is evaluated."""


def independent_size(weight: Floats) -> float:
    """Return the effective sample size ``(sum w)^2 / sum w^2``."""
    return float(weight.sum() ** 2 / np.sum(weight**2))


def class_size(score: Floats, weight: Floats, group: Codes | None) -> float:
    """Return the number of independent samples with equally precise rates for a class.

    With groups it is the mean of ``p (1 - p)`` over the cutoffs, divided by the mean variance
    between groups. It is at most the effective size without groups, and at least 1.
    """
    largest = independent_size(weight)
    if group is None:
        return largest
    n_groups = intervals.count_groups(group)
    if n_groups == 1:
        return 1.0
    cuts = np.unique(np.quantile(score, np.linspace(0, 1, _CUTS), method="nearest"))[1:]
    if not len(cuts):
        return min(largest, float(n_groups))
    place, n_places = np.searchsorted(cuts, score, side="right"), len(cuts) + 1
    weight = weight / weight.sum()

    def admit(counts: Floats) -> Floats:
        """Return totals above each cutoff from totals between cutoffs, along the last axis."""
        above: Floats = counts[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]
        return above

    rate, above = (
        admit(intervals.add_up(place, values, n_places)) for values in (weight, weight**2)
    )
    variances = rate * (1 - rate)
    whole = float(np.sum(weight**2))
    squares = (1 - 2 * rate) * above + rate**2 * whole
    totals = Totals(np.array([squares.sum()]), np.array([variances.sum()]))

    def measure(code: Codes) -> Spread:
        n = int(code.max()) + 1
        counts = intervals.add_up(code * n_places + place, weight, n * n_places)
        counts = counts.reshape(n, n_places)
        own = counts.sum(axis=1, keepdims=True)
        sums = (admit(counts) - rate * own).T[:, :, None]
        squared = intervals.add_up(code, weight**2, n)[:, None]
        return intervals.measure_sums(sums, own, squared, totals, own)

    # mean variance between groups, and of independent samples
    between = float(np.trace(intervals.combine_ways(group, measure).covariance)) / len(cuts)
    alone = float(np.mean(variances))
    return float(np.clip(alone / between, 1.0, largest)) if between > 0 else largest
