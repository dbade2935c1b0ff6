"""Variances and intervals of areas under ROC curves, and confidence bands of the curves.

`find_area` computes every area, and the influence of each sample on it. Covariances are sums of
products of influence values, as proposed by DeLong. The area from cross-validation counts the
pairs of samples that were scored by the same model. Weighted or grouped samples enter with their
effective sample size.

*Band of a curve.* At a threshold with true rates (x, y), the observed rates (x', y') of two
classes of n and m samples deviate from the true ones by about

    a = (x' - x) / sqrt(x (1 - x) / n),   b = (y' - y) / sqrt(y (1 - y) / m),

These deviations are independent and standard normal. The band at x consists of all y that some
pair with ``a^2 + b^2 <= z^2`` reaches. If z is the normal quantile, it covers the curve at one x,
because only the deviation perpendicular to the curve matters. If z is the quantile of the largest
distance between a true curve and the observed one (`curve_distances`), it covers the curve at all
x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from skeval._inference import intervals
from skeval._inference.intervals import Codes, Spread

Floats = NDArray[np.float64]


class Area(NamedTuple):
    """Area under the ROC curve and the influence of each sample on it.

    Attributes
    ----------
    value : float
        Fraction of correctly ordered pairs, or nan if no test set contains both classes.
    influence : ndarray of shape (n_samples,)
        Influence of each sample. The sum over each class is 0.
    """

    value: float
    influence: Floats


def find_area(
    positive: NDArray[np.bool_],
    score: Floats,
    weight: Floats,
    *,
    row: NDArray[np.intp] | None = None,
    fold: NDArray[np.intp] | None = None,
    ranked: Ranked | None = None,
) -> Area:
    r"""Return the fraction of (positive, negative) pairs that are correctly ordered.

    Let :math:`s_{ij}` be 1 for a correctly ordered pair, 1/2 for a tie, and 0 otherwise. Then

    .. math:: A = \sum_{ij} w_i w_j s_{ij} / \sum_{ij} w_i w_j .

    The influence of a sample is the sum of :math:`w_i w_j (s_{ij} - A)` over its pairs, divided by
    the sum of all weights (DeLong, DeLong and Clarke-Pearson 1988). Scores of different models have
    no common scale, so pooling them need not preserve the quality of the ranking (Parker, Gunter
    and Bedo 2007). With folds, only pairs scored by the same model count.

    Parameters
    ----------
    positive, score : ndarray of shape (n_predictions,)
    weight : ndarray of shape (n_samples,)
    row, fold : ndarray of shape (n_predictions,), default=None
        Index of the sample of each prediction, and of the fit that scored it. None means one score
        for each sample.
    ranked : Ranked, default=None
        The sorted scores, if they are already sorted.
    """
    own_weight = weight if row is None else weight[row]
    up, down = own_weight * positive, own_weight * ~positive
    wins, pairs = np.zeros(len(positive)), np.zeros(len(positive))
    for part in split_fits(fold):
        totals = float(up[part].sum()), float(down[part].sum())
        if not min(totals) > 0:  # a test set of one class has no pairs
            continue
        # weight of the correctly ordered pairs of each prediction, and of all its pairs
        data = positive[part], score[part], own_weight[part]
        wins[part] = data[2] * (ranked or rank_scores(*data)).find_wins(data[0])
        pairs[part] = up[part] * totals[1] + down[part] * totals[0]
    if row is not None:
        wins, pairs = (np.bincount(row, part, len(weight)).astype(float) for part in (wins, pairs))
    # each pair is counted once for its positive and once for its negative
    total = pairs.sum() / 2
    if not total > 0:
        return Area(np.nan, np.full(len(weight), np.nan))
    # value and influence
    value = float(wins.sum() / 2 / total)
    if min(value, 1 - value) < intervals.ROUNDING:
        return Area(float(round(value)), np.zeros(len(weight)))
    return Area(value, (wins - value * pairs) / total)


MOST_RARE = 24
"""Largest number of samples of a class that are compared with all others, without a sort."""


def average_precision(positive: NDArray[np.bool_], score: Floats, weight: Floats) -> float:
    """Return the average precision, the value of `precision_influence` without the influence."""
    if np.count_nonzero(positive) > MOST_RARE:
        return precision_influence(positive, score, weight)[0]
    # weights of the positives and of all samples down to each positive
    own = weight[positive]
    reached = score >= score[positive][:, None]
    hits, below = (reached[:, positive] @ own, reached @ weight)
    return float(own @ (hits / below) / own.sum())


def partial_area(
    positive: NDArray[np.bool_], score: Floats, weight: Floats, max_fpr: float
) -> Area:
    r"""Return the area up to a false-positive rate f, standardized as by McClish (1989).

    The area A is the mean over pairs of :math:`c_j s_{ij}`, where :math:`c_j` is the part of a
    negative that lies in the fraction f of the negatives with the highest scores. Its standardized
    value is :math:`\{1 + (A - f^2/2) / (f - f^2/2)\} / 2`. The influence of a negative is the
    influence of its pairs minus :math:`(c_j - f)` times the true-positive rate at f, because the
    threshold is a quantile of the negatives (He and Escobar 2008,
    https://doi.org/10.1002/sim.3355).
    """
    # shares of the classes at each distinct score, and above it
    _, place = np.unique(-score, return_inverse=True)
    up, down = (
        np.bincount(place, weight * own) / weight[own].sum() for own in (positive, ~positive)
    )
    tpr, fpr = np.cumsum(up) - up, np.cumsum(down) - down
    # part of each step that lies left of the largest rate, and the height there
    part = np.clip((max_fpr - fpr) / np.where(down > 0, down, 1.0), 0.0, 1.0)
    part = np.where(down > 0, part, fpr <= max_fpr)
    gained, middle, height = part * down, tpr + part * up / 2, float(part @ up)
    area = float(gained @ middle)
    # negatives below each positive, and positives above each negative
    below = gained.sum() - np.cumsum(gained) + part * gained / 2
    own = np.where(positive, below[place], part[place] * middle[place])
    own -= np.where(positive, 0.0, height * (part[place] - max_fpr))
    totals = np.where(positive, weight[positive].sum(), weight[~positive].sum())
    # standardized, so that an uninformative score has 1/2
    low = max_fpr**2 / 2
    scale = 0.5 / (max_fpr - low)
    value, influence = 0.5 + scale * (area - low), scale * weight / totals * (own - area)
    return Area(value, influence)


def count_effective(chosen: NDArray[np.bool_], weight: Floats, group: Codes | None) -> float:
    """Return the effective number of the chosen samples, at most the number of their groups."""
    size = intervals.size_from_weights(weight[chosen])
    return size if group is None else min(size, intervals.count_groups(group[chosen]))


def split_fits(fold: NDArray[np.intp] | None) -> Iterable[Any]:
    """Return the predictions of each model, which are compared with each other."""
    if fold is None:
        return [slice(None)]
    if (fold[1:] >= fold[:-1]).all():
        ends = [0, *(np.flatnonzero(np.diff(fold)) + 1).tolist(), len(fold)]
        return map(slice, ends, ends[1:])
    order = np.argsort(fold, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(fold[order])) + 1)


def unbiased(influence: Floats, positive: NDArray[np.bool_], weight: Floats) -> Floats:
    """Return influence values of independent samples whose squares sum to an unbiased variance.

    For a class of n samples, the values are multiplied by the square root of n / (n - 1).
    """
    corrected = influence.copy()
    for own in (positive, ~positive):
        n = intervals.size_from_weights(weight[own]) if weight[own].any() else 0.0
        if n >= 1.5:
            corrected[own] *= np.sqrt(n / (n - 1))
    return corrected


def spread_of_areas(
    influence: Floats, positive: NDArray[np.bool_], weight: Floats, group: Codes | None = None
) -> Spread:
    """Return the covariance of areas of the same samples from their influence, shape (n, k).

    With groups, influence values are first summed within each group (Obuchowski 1997). The result
    is nan if a class has one sample, or one sample of nonzero weight.
    """
    if group is not None:
        return intervals.spread_between(influence, group, weight, positive.astype(np.intp))
    if min(intervals.size_from_weights(weight[own]) for own in (positive, ~positive)) < 1.5:
        return Spread(np.full((influence.shape[1],) * 2, np.nan))
    scaled = np.column_stack([unbiased(own, positive, weight) for own in influence.T])
    return Spread(scaled.T @ scaled)


class Ranked(NamedTuple):
    """Samples sorted by score, shared by all rank statistics.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        Sample indices by increasing score.
    first : ndarray of shape (n_scores,)
        Positions of `order` where a distinct score starts.
    score : ndarray of shape (n_scores,)
        The distinct scores.
    own : bool ndarray of shape (n_samples,)
        Whether the sample at each position is positive.
    positives, negatives : ndarray of shape (n_scores,)
        Total weight of each class at each score.
    """

    order: NDArray[np.intp]
    first: NDArray[np.intp]
    score: Floats
    own: NDArray[np.bool_]
    positives: Floats
    negatives: Floats

    def weigh(self, weight: Floats) -> Ranked:
        """Return the same samples with other weights, such as their counts in a resample."""
        weight = weight[self.order]
        positives = weight * self.own
        sides = positives, weight - positives
        if len(self.first) < len(self.order):
            sides = np.add.reduceat(sides[0], self.first), np.add.reduceat(sides[1], self.first)
        return self._replace(positives=sides[0], negatives=sides[1])

    @property
    def totals(self) -> tuple[float, float]:
        """Total weights of the positives and the negatives."""
        return float(self.positives.sum()), float(self.negatives.sum())

    @property
    def area(self) -> float:
        """Area under the ROC curve, or nan if a class has no weight. Ties count one half."""
        pairs = float(np.prod(self.totals))
        return float(self.positives @ self.below) / pairs if pairs > 0 else np.nan

    @property
    def below(self) -> Floats:
        """Weight of the negatives below each score. Ties count one half."""
        return np.cumsum(self.negatives) - self.negatives / 2

    @property
    def above(self) -> Floats:
        """Weight of the positives above each score. Ties count one half."""
        return self.positives.sum() - np.cumsum(self.positives) + self.positives / 2

    @property
    def thresholds(self) -> Floats:
        """Thresholds from high to low.

        The first threshold, inf, predicts no sample as positive. Each further threshold adds the
        samples with the next lower score.
        """
        return np.concatenate(([np.inf], self.score[::-1]))

    def cumulate(self) -> tuple[Floats, Floats]:
        """Return the weights of true and false positives at each threshold."""
        sides = self.positives, self.negatives
        tp, fp = (np.concatenate(([0.0], np.cumsum(side[::-1]))) for side in sides)
        return tp, fp

    def find_wins(self, positive: NDArray[np.bool_]) -> Floats:
        """Return the weight of the other class that is ranked correctly against each sample."""
        below, above = self.below, self.above
        if len(below) < len(self.order):
            counts = np.diff(self.first, append=len(self.order))
            below, above = np.repeat(below, counts), np.repeat(above, counts)
        wins = np.empty(len(self.order))
        wins[self.order] = np.where(positive[self.order], below, above)
        return wins


def rank_scores(positive: NDArray[np.bool_], score: Floats, weight: Floats | None = None) -> Ranked:
    """Return the samples sorted by score. The default of the weights is 1."""
    order = np.argsort(score)
    values = score[order]
    # positions where a distinct score begins
    begins = np.ones(len(order), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    first, empty = np.flatnonzero(begins), np.empty(0)
    ranked = Ranked(order, first, values[first], positive[order], empty, empty)
    return ranked.weigh(np.ones(len(order)) if weight is None else weight)


def precision_influence(
    positive: NDArray[np.bool_], score: Floats, weight: Floats
) -> tuple[float, Floats]:
    r"""Return the average precision and the influence of each sample on it, shape (n_samples,).

    Let :math:`a_k` be the weight of the positives at the k-th highest score, :math:`B_k` the
    weight of all samples down to it, :math:`p_k` the precision there, and P the weight of all
    positives. The value is :math:`A = \sum_k a_k p_k / P`. Its derivative with respect to the
    weight of a sample i, at score k(i), is

    .. math:: \{y_i (p_{k(i)} - A) + \sum_{k \ge k(i)} a_k (y_i - p_k) / B_k\} / P .
    """
    # weights at each distinct score, from the highest
    _, place = np.unique(-score, return_inverse=True)
    own = np.bincount(place, weight * positive)
    below = np.cumsum(np.bincount(place, weight))
    precision, total = np.cumsum(own) / below, own.sum()
    value = float(own @ precision / total)
    # the two sums of the derivative
    gain, loss = (np.cumsum(part[::-1])[::-1] for part in (own / below, own * precision / below))
    slope = positive * (precision[place] - value + gain[place]) - loss[place]
    return value, weight * slope / total


def align_scores(
    positive: NDArray[np.bool_], score: Floats, weight: Floats, fold: NDArray[np.intp]
) -> Floats:
    r"""Return out-of-fold scores without the shift of each model.

    Scores of different models have no common scale. The shifts :math:`b_f` are the least-squares
    estimates in :math:`s_i = d c_i + b_f + e_i`, where :math:`c_i` is 1 for a positive. Only pairs
    of a positive and a negative in one test set determine d. Without such pairs, the result is
    nan.
    """
    # weights of all samples and of the positives, and sums of scores, of each test set
    parts = list(split_fits(fold))
    size, own, sums, gained = (
        np.array([values[part].sum() for part in parts])
        for values in (weight, weight * positive, weight * score, weight * score * positive)
    )
    # no test set has both classes, so d is unknown
    if not np.any((own > 0) & (own < size)):
        return np.full(len(score), np.nan)
    # d from differences within test sets, then the shift of each model
    size = size.clip(1e-300)
    share = own / size
    slope = (gained.sum() - share @ sums) / (own @ (1 - share))
    aligned = score.copy()
    for part, shift in zip(parts, (sums - slope * own) / size, strict=True):
        aligned[part] -= shift
    return aligned


class Term(NamedTuple):
    """Ranking of some samples by one score, which is a part of a mean of rankings.

    Attributes
    ----------
    rows : ndarray or slice
        The samples that are compared.
    positive, score : ndarray of shape (n_samples,)
    """

    rows: Any
    positive: NDArray[np.bool_]
    score: Floats


class Ranking(NamedTuple):
    """Weighted mean of areas or average precisions, or nan if a term has only one class.

    Attributes
    ----------
    value, error : float
    sizes : tuple of two floats
        Numbers of positives and negatives of a single ranking with the same standard error.
    degrees_of_freedom : float
    influence : ndarray of shape (n_samples,)
        Its squares sum to the variance if samples are independent.
    """

    value: float
    error: float
    sizes: tuple[float, float]
    degrees_of_freedom: float
    influence: Floats


def rank_terms(
    terms: Sequence[Term],
    weight: Floats,
    group: Codes | None,
    *,
    of_area: bool,
    shares: Floats | None = None,
    drift: Callable[[Floats], Floats] | None = None,
    areas: Sequence[Area] | None = None,
    in_pairs: bool = False,
) -> Ranking:
    """Return the mean area or average precision of several rankings of the same samples.

    The variance of the mean is computed from the influence of samples or groups. The variance of
    each term is at least the one used for the interval of this term alone. With groups, the
    numbers of samples are divided by the design effect. The degrees of freedom are Satterthwaite's
    for a sum of variances, each estimated from the samples of the smaller class of its term.

    `shares` contains the weights of the terms, which sum to 1. `drift` returns the influence of
    the samples on the mean through these weights, from the values of the terms. `areas` contains
    the values of the terms if they are not computed from one score of each sample. If `in_pairs`,
    each term compares two classes, and the smallest class determines the degrees of freedom.
    """
    # totals over the terms
    n, k, weight, smallest = len(weight), len(terms), weight / weight.max(), np.inf
    shares = np.full(k, 1 / k) if shares is None else shares
    values, moved, short, sizes, spread = np.empty(k), np.zeros(n), 0.0, np.zeros(2), np.zeros(2)
    plain = np.zeros(2)
    for at, (rows, positive, score) in enumerate(terms):
        # value and influence of a term
        own, column, w = positive[rows], score[rows], weight[rows]
        if own.all() or not own.any():
            return Ranking(np.nan, np.nan, (1.0, 1.0), n - 1.0, moved)
        find_value = find_area if of_area else precision_influence
        value, influence = areas[at] if areas else find_value(own, column, w)
        if min(value, 1 - value) < intervals.ROUNDING:  # also of given areas and precisions
            value, influence = float(round(value)), np.zeros(len(own))
        scaled = unbiased(influence, own, w) if of_area else influence * np.sqrt(n / (n - 1))
        variance = alone = float(np.sum(scaled**2))
        m = np.array([intervals.size_from_weights(w[own]), intervals.size_from_weights(w[~own])])
        if group is None:
            influence = scaled
        else:
            # fewer independent samples of each class, by the design effect
            code = group[rows]
            variance = intervals.spread_between(influence, code, w).variance
            n_groups = np.array([intervals.count_groups(code[side]) for side in (own, ~own)])
            m = m / max(1.0, variance / alone) if alone > 0 else np.minimum(m, n_groups)
        # at least the variance for the interval of this term alone
        least = value * (1 - value) / m[0]
        if of_area:
            least = intervals.shrink_area_variance(value, variance, (float(m[0]), float(m[1])))
        # add the term with its fraction
        values[at], larger, squared = value, max(variance, least), shares[at] ** 2
        moved[rows] += shares[at] * influence
        short += squared * (larger - variance)
        sizes, plain = sizes + squared / m, plain + shares[at] / m
        smallest = min(smallest, max(1.0, min(m) - 1))
        spread += squared * larger, (squared * larger) ** 2 / max(1.0, min(m) - 1)
    if drift is not None:
        moved += drift(values)
    # variance of the mean, between groups if there are any
    variance, degrees = float(np.sum(moved**2)), n - 1.0
    if group is not None:
        whole = intervals.spread_between(moved, group, weight)
        variance, degrees = whole.variance, whole.degrees_of_freedom
    error, value = float(np.sqrt(variance + short)), float(shares @ values)
    # rounding errors of a perfect ranking are no variance
    if min(value, 1 - value) < intervals.ROUNDING:
        value, error = float(round(value)), 0.0
    # without variation, repeated samples count once
    positives, negatives = (1 / (sizes if error > 0 else plain)).tolist()
    if spread[1] > 0:
        degrees = min(degrees, float(spread[0] ** 2 / spread[1]))
    if in_pairs:
        degrees = min(degrees, smallest)
    return Ranking(value, error, (positives, negatives), degrees, moved)


_DIRECTIONS = 13
"""Number of directions per quadrant over which the limits are searched."""
_PLACES = 24
"""Number of rates of each class at which the distance of two curves is evaluated."""
_BLOCK = 8
"""Number of simulated curves compared with the true one at a time."""


class Steps(NamedTuple):
    """Rates of two classes at every threshold, from none to all, and effective sample sizes.

    `x` and `y` have shape (n_cuts,), from 0 to 1. With weights or groups, the effective sizes need
    not be integers.
    """

    x: Floats
    y: Floats
    n_x: float
    n_y: float

    def below(self, x: Floats) -> Floats:
        """Return y just before x is reached, that is, the foot of a vertical step."""
        return np.interp(x - intervals.ROUNDING, self.x, self.y, left=0.0, right=1.0)

    def above(self, x: Floats) -> Floats:
        """Return y at the top of a vertical step at x."""
        return np.interp(x + intervals.ROUNDING, self.x, self.y, left=0.0, right=1.0)

    def swap(self) -> Steps:
        """Return the same thresholds with the two classes swapped."""
        return Steps(self.y, self.x, self.n_y, self.n_x)


def rates_on_sphere(steps: Steps, x: Floats, across: Floats, along: Floats, exact: bool) -> Floats:
    """Return the limits of y at each x, shape (2, n_directions, n_x).

    `across` is the deviation of the threshold, and `along` the deviation of the rate at this
    threshold. Both are in standard deviations and have shape (n_directions,).
    """
    # move the threshold, then the rate at it
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

    The true curve is the observed one with half a sample added on either side of every threshold,
    so that it does not start and end in the corners. The distance of a point is its distance to
    the nearest point of the drawn curve, in standard deviations.
    """
    # true curve, and its points away from the corners
    true = _smooth_curve(steps)
    inside = true[:, ((true > intervals.ROUNDING) & (true < 1 - intervals.ROUNDING)).all(axis=0)]
    sizes = np.array([max(1, round(steps.n_x)), max(1, round(steps.n_y))])
    scale = np.sqrt(inside * (1 - inside) / sizes[:, None])
    # distances of the drawn curves, a block at a time
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
        rising = rate + intervals.ROUNDING * np.arange(len(rate))
        places.append(np.interp(wanted, rising, length))
    at = np.unique(np.concatenate(places))
    return np.array([np.interp(at, length, rate) for rate in rates])


def _draw_curve(true: Floats, sizes: NDArray[np.intp], rng: Generator) -> Floats:
    """Return rates of both classes simulated from the true rates, shape (2, n_places)."""
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
    along = -(a * da + b * db) / np.maximum(da**2 + db**2, intervals.ROUNDING)
    np.clip(along, 0.0, 1.0, out=along)
    squared = (a + along * da) ** 2 + (b + along * db) ** 2
    return np.sqrt(squared.min(axis=-1).max(axis=-1))


_CUTS = 50
"""Number of cutoffs of a class at which the variance between groups is evaluated."""
_CUTS_OF_BLOCK = 8
"""Number of cutoffs that are evaluated together."""


def class_size(score: Floats, weight: Floats, group: Codes | None) -> float:
    """Return the number of independent samples with equally precise rates for a class.

    With groups, it is the mean of ``p (1 - p)`` over the thresholds, divided by the mean variance
    between groups. It is at most the effective size without groups, and at least 1.
    """
    largest = intervals.size_from_weights(weight)
    if group is None:
        return largest
    n_groups = intervals.count_groups(group)
    if n_groups == 1:
        return 1.0
    cuts = np.unique(np.quantile(score, np.linspace(0, 1, _CUTS), method="nearest"))[1:]
    if not len(cuts):
        return min(largest, float(n_groups))
    # mean variance of the rates above the cutoffs: between groups, and of independent samples
    weight, alone, between = weight / weight.sum(), 0.0, 0.0
    # the sizes of groups are added up once for several cutoffs, unless the groups are crossed
    size = _CUTS_OF_BLOCK if group.ndim == 1 else 1
    for start in range(0, len(cuts), size):
        above = score >= cuts[start : start + size, None]
        rate = above @ weight
        alone += float(rate @ (1 - rate))
        influence = weight * (above - rate[:, None])
        between += float(np.trace(intervals.spread_between(influence.T, group, weight).covariance))
    return float(np.clip(alone / between, 1.0, largest)) if between > 0 else largest
