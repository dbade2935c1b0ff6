"""Intervals of metrics of a confusion matrix, by the delta method and by score intervals.

The cells of a confusion matrix are multinomial, with cov(p_ij, p_kl) = (1[ij = kl] p_ij - p_ij
p_kl)/n. Therefore, a smooth g(p) with gradient G has var g = (sum p G^2 - (sum p G)^2) / n.

The score interval generalizes Wilson's interval to any metric. It is the range of the metric over
the tables that Pearson's chi-square does not reject, ``{p : sum (n_i - n p_i)^2 / (n p_i) <=
z^2}``. For a proportion, it is Wilson's interval (1927). An empty cell contributes n p_i, so cells
without samples are not treated as impossible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, brentq, minimize
from sklearn.utils.multiclass import unique_labels

from skeval._inference import intervals
from skeval._inference.intervals import Codes, Limits, Spread
from skeval.utils._checks import ignored_warnings

Floats = NDArray[np.float64]
_SQUARE_TOLERANCE = 1e-24
"""Tolerance for squared influence values with relative errors of about 1e-16."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Cell of each sample, counted once for all metrics of a table.

    If several tables of the same samples are summed, `repeat` numbers them.
    """

    cell: NDArray[np.intp]
    weight: Floats | None
    n_cells: int
    repeat: NDArray[np.intp] | None = None

    def count(self, weight: Floats | None) -> Floats:
        """Return the weight in each cell of each repeat, shape (n_repeats, n_cells)."""
        if self.repeat is None:
            return np.bincount(self.cell, weight, self.n_cells).astype(np.float64)[None]
        n_repeats = int(self.repeat.max()) + 1
        at = self.repeat * self.n_cells + self.cell
        counts = np.bincount(at, weight, n_repeats * self.n_cells).reshape(n_repeats, -1)
        return counts[np.bincount(self.repeat) > 0].astype(np.float64)

    @cached_property
    def largest(self) -> float:
        """Largest weight. Squares are relative to it because they may overflow."""
        return 1.0 if self.weight is None else float(self.weight.max())

    @cached_property
    def counts(self) -> Floats:
        """Weight in each cell of each repeat."""
        return self.count(self.weight)

    @cached_property
    def squares(self) -> Floats:
        """Squared weights in each cell of each repeat, relative to the largest weight."""
        if self.weight is None:
            return self.counts
        return self.count((self.weight / self.largest) ** 2)

    @cached_property
    def table(self) -> ConfusionTable:
        """Square table of the cells in their order."""
        size = int(self.n_cells**0.5)
        counts: Floats = self.counts.sum(axis=0).reshape(size, size)
        return ConfusionTable(counts, self, np.arange(self.n_cells), phi)

    def spread(self, slope: Floats, groups: Codes | None) -> list[Spread]:
        """Return the spread of the mean slope over the cells, for each repeat."""
        if groups is None:
            totals = self.counts.sum(axis=1, keepdims=True)
            centered = slope - self.counts @ slope[:, None] / totals
            variances = np.sum(self.squares * (centered * (self.largest / totals)) ** 2, axis=1)
            return [Spread(np.array([[variance]])) for variance in variances.tolist()]
        spreads = intervals.spreads_of_cells(slope, self.cell, groups, self.weight, self.repeat)
        return [intervals.warn_of_one_group(spread) for spread in spreads]


class ConfusionTable(NamedTuple):
    """Table of counts (rows true), the cells of its samples, and a metric of such tables.

    `place` is the cell of the table for each of the `cells`, which other tables may share.
    `score` describes a metric that averages class rates, for the delta method, and for limits in
    closed form if there is only one class.
    """

    counts: Floats
    cells: Cells
    place: NDArray[np.intp]
    metric: ValueAndGradient
    score: FScore | None = None

    @property
    def share(self) -> Floats:
        """Fraction of samples in each cell."""
        return self.counts / self.counts.sum()

    def shares(self) -> Iterator[Floats]:
        """Yield the fraction of samples in each cell of each repeat."""
        for counts in self.cells.counts:
            table = np.bincount(self.place, counts, self.counts.size)
            yield (table / table.sum()).reshape(self.counts.shape)

    def merge(self, part: NDArray[np.intp], metric: ValueAndGradient) -> ConfusionTable:
        """Return the table of the sums of some cells, for a metric of these sums.

        `part` is the sum of each cell. The limits of `score_limits` are the same.
        """
        part = part.ravel()
        counts: Floats = np.bincount(part, self.counts.ravel()).astype(float)
        return self._replace(counts=counts, place=part[self.place], metric=metric)


class CountedClasses(NamedTuple):
    """Sorted classes of true and predicted labels, and the cell of each sample."""

    classes: NDArray[Any]
    cells: Cells

    def choose(self, label: Any) -> CountedClasses:
        """Return the counts of one class against all others."""
        return self._replace(classes=self.classes == label)

    def order_by(self, order: NDArray[Any]) -> ConfusionTable:
        """Return the table with the classes in this order, which must include all of them."""
        size = max(len(order), 2)  # a single observed class implies a second one
        at = np.argmax(self.classes[:, None] == order, axis=1)
        place = (at[:, None] * size + at).ravel()
        counts = np.bincount(place, self.cells.counts.sum(axis=0), size**2).astype(np.float64)
        return ConfusionTable(counts.reshape(size, size), self.cells, place, phi)


def count_cells(
    y_true: NDArray[Any],
    y_pred: NDArray[Any],
    weight: Floats | None,
    repeat: NDArray[np.intp] | None = None,
) -> CountedClasses:
    """Return the cells of the confusion matrix of all classes."""
    classes = np.asarray(unique_labels(y_true, y_pred))
    k = len(classes)
    true, pred = (np.searchsorted(classes, np.asarray(y)) for y in (y_true, y_pred))
    return CountedClasses(classes, Cells(true * k + pred, weight, k * k, repeat))


def score_form(
    table: ConfusionTable,
    groups: Codes | None = None,
    *,
    known: float | None = None,
    widen: Callable[[float], float] | None = None,
) -> tuple[float, tuple[Callable[[float], Limits], float]]:
    """Return the metric, and its score interval by confidence level and standard error.

    The effective sample size is the number of independent samples, each of weight 1, whose metric
    would have this variance (see `size_from_variance`). Groups use Student's t quantile, as in
    Korn and Graubard (1998). If the table is the sum of several tables of the same samples, the
    variance is the mean of their variances. The limits include the `known` value of the metric,
    which may differ by rounding. `widen` returns the ratio of the variance of the
    estimate to this variance.
    """
    # slope of the metric in each cell, and its spread over the samples
    share = table.share
    value, gradient = table.metric(share)
    slope = gradient - np.sum(share * gradient)
    cells = table.cells
    largest = (cells.counts.sum() / cells.largest) ** 2 / cells.squares.sum() / len(cells.counts)
    spreads = cells.spread(slope.ravel()[table.place], groups)
    error = float(np.sqrt(np.mean([spread.variance for spread in spreads])))
    # variance of a single independent sample, 0 up to rounding
    alone, largest_squared = float(np.sum(share * slope**2)), float(np.max(slope**2, initial=0.0))
    if alone <= _SQUARE_TOLERANCE * largest_squared or not error > 0:
        alone = 0.0
    # effective number of samples
    n_groups, rarity = spreads[0].n_groups, np.inf
    if n_groups is not None and alone:
        rarity = alone / float(np.max(slope[share > 0] ** 2))
    unvaried = largest if n_groups is None else float(n_groups)
    size = intervals.size_from_variance(alone, error, largest, unvaried, rarity)
    larger = 1.0 if widen is None else widen(error**2)
    degrees = min(spread.degrees_of_freedom for spread in spreads)
    find_limits = partial(score_limits, table.metric)
    if share.shape == (2, 2) and table.score is not None and table.score.has_closed_limits:
        find_limits = partial(limits_of_class, table.score)
    args = find_limits, share, value if known is None else known, size / larger, degrees
    return float(value), (partial(_score_interval, *args), error * float(np.sqrt(larger)))


def _score_interval(
    find_limits: Callable[[Floats, float], Limits],
    share: Floats,
    estimate: float,
    size: float,
    degrees_of_freedom: float,
    confidence_level: float,
) -> Limits:
    z = intervals.normal_quantile(confidence_level, degrees_of_freedom)
    low, high = find_limits(share, z**2 / size)
    return min(low, estimate), max(high, estimate)


@dataclass(frozen=True)
class FScore:
    """Average of class rates, that is, precision, recall, F, Jaccard, or F of averages, as `value`.

    `average` is "macro", "micro", "weighted" (by support), "log_inverse" or class weights.
    `chosen` marks the averaged classes.
    """

    value: str  # "precision" | "recall" | "f" (mean of the F of classes) | "jaccard" | "f_of_means"
    average: str | Floats
    beta: float
    chosen: NDArray[np.bool_]

    @property
    def has_closed_limits(self) -> bool:
        """Whether it is a rate of the first class, or its F1 or Jaccard index."""
        plain = self.value in ("precision", "recall", "jaccard") or self.beta == 1
        return plain and self.value != "f_of_means" and self.chosen.tolist() == [True, False]


def limits_of_class(score: FScore, share: Floats, radius: float) -> Limits:
    r"""Return the limits of `score_limits` for a rate of one class, in closed form.

    A rate :math:`\theta` refers to the total fraction s of some cells, of which :math:`\varphi s`
    are observed hits. The smallest ``sum share^2/p`` over the tables with this rate is :math:`(s
    \sqrt{\varphi^2 / \theta + (1 - \varphi)^2 / (1 - \theta)} + 1 - s)^2`. The limits are
    therefore Wilson's with another radius. F1 is a function of Jaccard's index.
    """
    hits, missed, false = share[0, 0], share[0, 1], share[1, 0]
    misses = {"precision": false, "recall": missed}.get(score.value, missed + false)
    whole = hits + misses
    if not whole > 0:
        return 0.0, 1.0
    own = ((np.sqrt(1 + radius) - 1 + whole) / whole) ** 2 - 1
    low, high = intervals.wilson_limits(hits / whole, 1.0, np.sqrt(own))
    ends = np.array([low, high])
    ends = 2 * ends / (1 + ends) if score.value == "f" else ends
    return float(ends[0]), float(ends[1])


def delta_variance(table: Floats, score: FScore) -> tuple[float, float]:
    """Return the score of a table of counts (rows true, columns predicted) and its variance."""
    n = table.sum()
    p = table / n
    value, gradient = f_score_gradient(p, score, n)
    return value, float(np.sum(p * (gradient - np.sum(p * gradient)) ** 2) / n)


def f_score_gradient(p: Floats, score: FScore, n: float) -> tuple[float, Floats]:
    """Return the score of cell probabilities p and its gradient with respect to each cell."""
    sums, parts = (np.diag(p), p.sum(axis=1), p.sum(axis=0)), []
    for rate in _list_rates(score):
        if isinstance(score.average, str) and score.average == "micro":
            # the rate of the pooled classes
            pooled = (v[score.chosen].sum(keepdims=True) for v in sums)
            (value,), *slopes = rate.find(*pooled)
            parts.append((float(value), add_slopes(*(score.chosen * by for by in slopes))))
            continue
        # sum_c w_c m_c, with slopes of the weights
        weight, slope = _weights(sums[1], score, n)
        values, by_part, by_row, by_column = rate.find(*sums)
        mean = float(weight @ values)
        of_row = weight * by_row + slope * (values - mean)
        parts.append((mean, add_slopes(weight * by_part, of_row, weight * by_column)))
    if len(parts) == 1:
        return parts[0]
    # F of the mean precision and the mean recall
    (precision, of_precision), (recall, of_recall) = parts
    if precision == recall == 0:
        return 0.0, np.zeros_like(of_precision)
    if np.isinf(score.beta):
        return recall, of_recall
    b2 = score.beta**2
    whole = b2 * precision + recall
    chain = recall**2 * of_precision + b2 * precision**2 * of_recall
    return (1 + b2) * precision * recall / whole, (1 + b2) * chain / whole**2


class _Rate(NamedTuple):
    """Rate ``top p_cc / (by_row row_c + by_column column_c - by_diagonal p_cc)`` of a class."""

    top: float
    by_row: float
    by_column: float
    by_diagonal: float = 0.0

    def find(self, part: Floats, row: Floats, column: Floats) -> tuple[Floats, ...]:
        """Return the rates (0 for 0/0) and their derivatives by cell, row and column."""
        whole = self.by_row * row + self.by_column * column - self.by_diagonal * part
        scale = np.divide(1.0, whole, out=np.zeros_like(whole), where=whole > 0)
        rate = self.top * part * scale
        by_part = scale * (self.top + self.by_diagonal * rate)
        return rate, by_part, -self.by_row * scale * rate, -self.by_column * scale * rate


_PRECISION, _RECALL = _Rate(1.0, 0.0, 1.0), _Rate(1.0, 1.0, 0.0)
_JACCARD = _Rate(1.0, 1.0, 1.0, 1.0)


def _list_rates(score: FScore) -> list[_Rate]:
    b2 = score.beta**2
    f = _RECALL if np.isinf(b2) else _Rate(1 + b2, b2, 1.0)
    return {
        "precision": [_PRECISION],
        "recall": [_RECALL],
        "jaccard": [_JACCARD],
        "f_of_means": [_PRECISION, _RECALL],
    }.get(score.value, [f])


def add_slopes(by_part: Floats, by_row: Floats, by_column: Floats) -> Floats:
    """Return the gradient by cell of a function of the diagonal, the row sums and column sums."""
    gradient: Floats = np.add.outer(by_row, by_column)
    gradient.flat[:: len(gradient) + 1] += by_part
    return gradient


def _weights(row: Floats, score: FScore, n: float) -> tuple[Floats, Floats]:
    """Return class weights that sum to 1, and their derivatives in the class frequencies."""
    # weights before they are divided by their sum
    weight, slope = np.zeros_like(row), np.zeros_like(row)
    support = row[score.chosen]
    if not isinstance(score.average, str):
        weight[score.chosen] = score.average
    elif score.average == "macro":
        weight[score.chosen] = 1.0
    elif score.average == "weighted":
        weight[score.chosen], slope[score.chosen] = support, 1.0
    else:  # weights 1 / log n_c
        weight[score.chosen] = 1 / np.log(n * support)
        slope[score.chosen] = -1 / (support * np.log(n * support) ** 2)
    total = weight.sum()
    return weight / total, slope / total


ValueAndGradient = Callable[[Floats], tuple[float, Floats]]
_TOLERANCE = 1e-6
"""Tolerance of the limits of the interval, in the unit of the metric."""
_MIN_SHARE = 1e-12
"""Minimum weight of the initial table, whose cells are all positive."""
_PAIRWISE, _MAX_STEPS = 15, 50
_TIE = 1e-12
"""Relative difference below which slopes are equal up to rounding."""


def score_limits(metric: ValueAndGradient, share: Floats, radius: float) -> tuple[float, float]:
    """Return the smallest and largest metric of the tables p with ``sum share^2/p <= 1 + radius``.

    `share` contains the observed fractions of the cells, and `radius` is z^2/n. `metric` returns
    its value and gradient for cell probabilities.
    """

    def negative(p: Floats) -> tuple[float, Floats]:
        value, gradient = metric(p)
        return -value, -gradient

    return -_largest(negative, share, radius), _largest(metric, share, radius)


def _largest(metric: ValueAndGradient, share: Floats, radius: float) -> float:
    """Maximize the metric by Frank-Wolfe steps, pairwise at first, then fully corrective.

    The point is a mean of tables of the convex region. Each step adds the table that maximizes the
    linearized metric. A pairwise step (Lacoste-Julien and Jaggi 2015) moves weight from the worst
    table to the new one and is cheap. Pairwise steps zigzag if several empty or nearly empty cells
    are equally good. After `_PAIRWISE` steps, the weights of all tables are therefore optimized
    instead (Jaggi 2013, algorithm 4). The start is in the interior, because the gradient may be
    infinite at an empty cell.
    """
    mixed = radius / (1 + radius) / 2
    # start in the interior of the region
    p = (1 - mixed) * share + mixed / share.size
    tables, weights, largest = p[None], np.ones(1), np.nan
    for n_steps in range(_MAX_STEPS):
        value, gradient = metric(p)
        largest = np.fmax(largest, value)
        best = best_table(share, gradient, radius)
        # stop when no table improves the linearized metric
        if np.sum(gradient * (best - p)) <= _TOLERANCE:
            break
        tables, weights = np.concatenate([tables, best[None]]), np.append(weights, 0.0)
        if n_steps < _PAIRWISE:
            worst = np.argmin(np.tensordot(tables, gradient, gradient.ndim))
            # pairwise step: move weight from the worst table to the best
            direction = best - tables[worst]
            step = _step(metric, p, direction, weights[worst])
            weights[worst], weights[-1] = weights[worst] - step, step
            p = p + step * direction
        else:
            # fully corrective step
            weights = _weigh(metric, tables, weights)
            p = np.tensordot(weights, tables, 1)
        tables, weights = tables[weights > 0], weights[weights > 0]
    return float(largest)


def _step(metric: ValueAndGradient, p: Floats, direction: Floats, longest: float) -> float:
    """Return the step in (0, longest] at which the metric stops increasing along a direction.

    The full step empties cells, where a rate may become 0/0 and the metric may jump. It is used
    only if the metric does not decrease.
    """

    def rise(step: float) -> float:
        return float(np.sum(metric(p + step * direction)[1] * direction))

    almost = longest * (1 - 1e-6)
    if rise(almost) < 0:
        return float(brentq(rise, 0.0, almost, xtol=1e-4 * longest, rtol=1e-4))
    loses = metric(p + longest * direction)[0] < metric(p + almost * direction)[0]
    return almost if loses else longest


def _weigh(metric: ValueAndGradient, tables: Floats, start: Floats) -> Floats:
    """Return the weights of the mean of tables with the largest metric.

    Without the first table, which has mass in every cell, a rate may become 0/0 and the metric may
    jump. It therefore keeps a tiny weight unless the metric is at least as large without it.
    """

    def negative(weights: Floats) -> tuple[float, Floats]:
        value, gradient = metric(np.tensordot(weights, tables, 1))
        return -value, -np.tensordot(tables, gradient, gradient.ndim)

    # older SciPy warns about clipping x
    with ignored_warnings(RuntimeWarning, "Values in x were outside bounds"):
        optimum = minimize(
            negative,
            0.9 * start + 0.1 * (np.arange(len(start)) == len(start) - 1),
            jac=True,
            method="SLSQP",
            bounds=[(_MIN_SHARE, 1.0)] + [(0.0, 1.0)] * (len(start) - 1),
            constraints=LinearConstraint(np.ones((1, len(start))), 1.0, 1.0),
            options={"ftol": 1e-12},
        ).x
    # without the first table, if the metric is as large
    optimum = np.maximum(optimum, 0.0) / np.maximum(optimum, 0.0).sum()
    if optimum[0] > 0.5:
        return optimum
    without = np.append(0.0, optimum[1:]) / optimum[1:].sum()
    with np.errstate(invalid="ignore"):  # the mean over no class is 0/0
        return without if negative(without)[0] <= negative(optimum)[0] else optimum


def best_table(share: Floats, slope: Floats, radius: float) -> Floats:
    """Return the table p of the region with the largest ``sum slope p``.

    With a Lagrange multiplier m, ``p_i = c share_i / sqrt(m - slope_i)`` in the nonempty cells. If
    m would be below the slope of an empty cell, m is set to that slope and the cell gets the
    remaining mass.
    """
    nonempty = share > 0
    spread = np.ptp(slope)
    if spread == 0:
        return share
    best, best_empty = slope[nonempty].max(), slope[~nonempty].max(initial=-np.inf)
    depth = (best - slope[nonempty]) / spread  # 0 at the best nonempty cell
    depth[depth < _TIE] = 0.0
    # gain of the best empty cell over the best nonempty one
    gain = (best_empty - best) / spread
    q = share[nonempty]

    def excess(log_margin: float) -> float:
        root = np.sqrt(np.exp(log_margin) + depth)
        return float(np.sum(q / root) * np.sum(q * root)) - 1 - radius

    margin = 0.0
    if depth.any():
        # lower bound of the root, which is near 0 if the best cells are nearly empty
        least = 2 * np.log(q[depth == 0].sum() * np.sum(q * np.sqrt(depth)) / (1 + radius))
        ends = min(-60.0, float(least)), np.log1p(1 / np.sqrt(radius))
        margin = float(np.exp(brentq(excess, *ends, xtol=1e-14)))
    elif gain <= 0:
        return share
    # mass of the nonempty cells, the rest to the best empty ones
    p = np.zeros_like(share)
    root = np.sqrt(max(margin, gain) + depth)
    p[nonempty] = q / root * (np.sum(q * root) / (1 + radius))
    if gain <= margin:
        p[nonempty] /= p[nonempty].sum()
    else:
        top = ~nonempty & (slope >= best_empty - _TIE * spread)
        p[top] = max(0.0, 1 - p[nonempty].sum()) / top.sum()
    return p


def mean_cost(p: Floats, costs: Floats) -> tuple[float, Floats]:
    """Return the expected cost ``sum c_ij p_ij``."""
    return float(np.sum(costs * p)), costs


def mean_ratio(p: Floats, costs: Floats, units: Floats) -> tuple[float, Floats]:
    """Return the mean cost divided by the fraction in some cells, and its gradient, or nan."""
    share, value = float(np.sum(p * units)), float(np.sum(p * costs))
    if share <= 0:
        return np.nan, np.zeros_like(p)
    return value / share, (costs - value / share * units) / share


def mean_of_labels(p: Floats, score: FScore) -> tuple[float, Floats]:
    """Return the mean of a rate over labels, and its gradient in the cells of their tables.

    `p` has shape (n_labels, 2, 2), with truth and prediction of each label. "weighted" uses the
    support as weight.
    """
    row, column = p[:, 1, :].sum(axis=1), p[:, :, 1].sum(axis=1)
    values, by_part, by_row, by_column = _list_rates(score)[0].find(p[:, 1, 1], row, column)
    weight, slope = np.full(len(p), 1 / len(p)), np.zeros(len(p))
    if score.average == "weighted":
        weight, slope = row / row.sum(), np.full(len(p), 1 / row.sum())
    mean, gradient = float(weight @ values), np.zeros_like(p)
    gradient[:, 1, 1] = weight * by_part
    gradient[:, 1, :] += (weight * by_row + slope * (values - mean))[:, None]
    gradient[:, :, 1] += (weight * by_column)[:, None]
    return mean, gradient


def kappa(p: Floats, disagreement: Floats) -> tuple[float, Floats]:
    """Return Cohen's kappa, ``1 - sum w_ij p_ij / sum w_ij row_i column_j``."""
    row, column = p.sum(axis=1), p.sum(axis=0)
    of_row, of_column = disagreement @ column, row @ disagreement
    observed, expected = np.vdot(disagreement, p), of_column @ column
    if expected <= 0:
        return np.nan, np.zeros_like(p)
    gradient = np.add.outer(of_row, of_column)
    gradient *= observed / expected**2
    gradient -= disagreement / expected
    return float(1 - observed / expected), gradient


def phi(p: Floats) -> tuple[float, Floats]:
    """Return Matthews' correlation, or 0 if all true or all predicted labels are of one class."""
    row, column = p.sum(axis=1), p.sum(axis=0)
    of_true, of_predicted = 1 - row @ row, 1 - column @ column
    scale = np.sqrt(max(of_true, 0.0) * max(of_predicted, 0.0))
    if scale <= 1e-12:
        return 0.0, np.zeros_like(p)
    covariance = np.trace(p) - row @ column
    of_row = covariance * row / of_true - column
    of_column = covariance * column / of_predicted - row
    gradient = add_slopes(np.ones(len(p)), of_row, of_column)
    gradient /= scale
    return float(covariance / scale), gradient


def geometric_mean(p: Floats) -> tuple[float, Floats]:
    """Return the geometric mean of the recalls of the classes that occur."""
    row, right = p.sum(axis=1), np.diag(p)
    occurs = row > 0
    if np.any(right[occurs] <= 0):
        return 0.0, np.zeros_like(p)
    size = int(occurs.sum())
    value = float(np.exp(np.mean(np.log(right[occurs] / row[occurs]))))
    slope = np.zeros_like(p)
    slope[occurs] = -1 / row[occurs, None]
    slope[occurs, occurs] += 1 / right[occurs]
    return value, value / size * slope
