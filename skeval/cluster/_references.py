"""Reference data without structure, for comparison with clusterings.

The points are uniform in a box, have separately permuted columns, or follow the unimodal
distribution that is closest to the data. The end of the module has sentences about data for which
the unimodal reference is not valid.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import Bounds, isotonic_regression, minimize
from scipy.sparse import issparse, vstack
from scipy.special import betaincinv, betaln, logsumexp, softmax, xlogy
from scipy.stats import chi2, norm, rankdata, t

from skeval.utils._compat import safe_indexing

NOISE = -1
Draws = Callable[[Generator], Any]
REFERENCES = ("auto", "uniform", "box", "permuted", "unimodal")
REFERENCE_WORDS = {
    "uniform": "points drawn uniformly in a box along the principal components",
    "box": "points drawn uniformly within the range of each feature",
    "permuted": "the data with each column permuted independently",
    "unimodal": "points drawn from the closest unimodal distribution",
}
N_MODES = 17
"""Number of quantiles of a column that are tried as its mode."""

N_KNOTS = 801
"""Number of quantiles of a smooth distribution."""

SHAPES = np.array([
    [0, 0, 0, 0], [0, 0.5, 0, 0.5], [0, -0.5, 0, -0.5], [0, -1.25, 0, -1.25], [-0.5, 0, 0.5, 0],
    [0.5, 0, -0.5, 0],
])  # fmt: skip
MAX_SHAPE = np.array([8, 3, 3, 1.5])
"""Location, log scale, skewness and log tail weight of trial shapes, and their largest sizes."""

MIN_DISTINCT, N_ITERATIONS = 0.9, 30
"""Fraction of distinct values required by `compare_shapes`, and its number of EM steps."""

N_TERMS = 100
"""Number of terms of the Hermite series of the correlation of tied scores."""

TAILS = np.array([0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5])
"""Reciprocals of the degrees of freedom of the t copula that are tried."""

MIN_LEVELS = 10
"""Number of distinct values of a column below which it is not used to estimate the tails."""

N_SIMULATED = 4000
"""Smallest number of samples simulated for each of `TAILS`."""


def name_reference(X: Any, reference: str, default: str = "uniform") -> str:
    """Return the kind of reference. "auto" means `default`, but permuted columns of sparse X."""
    return reference if reference != "auto" else "permuted" if issparse(X) else default


def resolve_reference(X: Any, reference: str, default: str = "uniform") -> tuple[str, Draws]:
    """Return the kind of reference and a function that draws data of the shape and type of X."""
    reference = name_reference(X, reference, default)
    if reference == "permuted":
        return reference, partial(permute_columns, X)
    if issparse(X):
        raise ValueError(f"reference={reference!r} needs dense X, got sparse X. Use 'permuted'.")
    points = np.asarray(X, dtype=np.float64)
    if reference == "unimodal":
        return reference, partial(draw_unimodal, X, fit_unimodal(points))
    # a box around the points along the features, or along the principal axes as rows
    center, axes, scores = np.zeros(X.shape[1]), np.eye(X.shape[1]), points
    if reference == "uniform":
        center = points.mean(axis=0)
        # the scores on the principal axes are the left vectors times the singular values
        left, sizes, axes = np.linalg.svd(points - center, full_matrices=False)
        scores = left * sizes
    return reference, partial(draw_uniform, X, center, axes, scores.min(axis=0), scores.max(axis=0))


def refer_to_clusters(X: Any, labels: np.ndarray) -> Draws:
    """Return a function that draws data with one unimodal population for each cluster.

    The columns of sparse X are permuted within each cluster instead.
    """
    clusters = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    # within a cluster of sparse X columns are permuted, otherwise one mode is fitted
    parts = [resolve_reference(safe_indexing(X, rows), "auto", "unimodal")[1] for rows in clusters]
    order = np.argsort(np.concatenate(clusters))
    return partial(draw_unimodal_clusters, X, parts, order)


def draw_unimodal_clusters(X: Any, parts: list[Draws], order: np.ndarray, rng: Generator) -> Any:
    """Draw each cluster separately, and return the rows in the order of the data."""
    draws = [draw(rng) for draw in parts]
    if len(draws) == 1:
        return draws[0]
    if issparse(X):
        return type(X)(vstack(draws))[order]
    return rebuild(X, np.concatenate([np.asarray(draw) for draw in draws])[order])


def draw_uniform(
    X: Any, center: np.ndarray, axes: np.ndarray, low: np.ndarray, high: np.ndarray, rng: Generator
) -> Any:
    """Draw points uniformly in a box of these axes and ranges."""
    return rebuild(X, center + rng.uniform(low, high, size=(X.shape[0], len(low))) @ axes)


def permute_columns(X: Any, rng: Generator) -> Any:
    """Permute each column of X separately."""
    orders = np.stack([rng.permutation(X.shape[0]) for _ in range(X.shape[1])], axis=1)
    if issparse(X):
        # move the nonzero entries alone, each by the permutation of its column
        cells = X.tocoo()
        rows = orders[cells.row, cells.col].astype(cells.row.dtype)
        return type(X)((cells.data, (rows, cells.col)), shape=X.shape)
    if hasattr(X, "iloc"):
        permuted = X.copy()
        for column, order in enumerate(orders.T):
            permuted.isetitem(column, X.iloc[:, column].array[order])
        return permuted
    return np.take_along_axis(X, orders, axis=0)


class Unimodal(NamedTuple):
    """Unimodal distributions of the columns, joined by a t copula.

    `root` of shape (r, p) is a root of the latent correlation matrix. `columns` contains the
    distributions. `tail` is the reciprocal of the degrees of freedom, 0 for a Gaussian copula.
    """

    root: np.ndarray
    columns: list[UnimodalColumn]
    tail: float


class UnimodalColumn(NamedTuple):
    """Distribution function of a column at its knots, and the spacing of its lattice or 0."""

    probabilities: np.ndarray
    knots: np.ndarray
    step: float


def fit_unimodal(X: np.ndarray) -> Unimodal:
    """Fit a distribution with unimodal columns and the rank correlations of the data."""
    n = len(X)
    # van der Waerden scores, centered and of unit length: products are rank correlations
    scores = norm.ppf((rankdata(X, axis=0) - 0.5) / n)
    scores -= scores.mean(axis=0)
    lengths = np.linalg.norm(scores, axis=0)
    scores /= np.where(lengths > 0, lengths, 1)
    tied = np.flatnonzero([len(np.unique(column)) < n for column in X.T])
    if tied.size:
        root = correct_for_ties(scores, tied)
    else:
        _, sizes, axes = np.linalg.svd(scores, full_matrices=False)
        root = sizes[:, None] * axes
    return Unimodal(root, fit_columns(X), fit_tail(scores, root))


def correct_for_ties(scores: np.ndarray, tied: np.ndarray) -> np.ndarray:
    r"""Return a root of the latent correlations that reproduce the correlations of tied scores.

    If the scores of two columns are functions of normal variables with correlation :math:`\rho`,
    and have the Hermite coefficients :math:`a_k` and :math:`b_k`, their correlation is
    :math:`\sum_k a_k b_k \rho^k`. It increases with :math:`\rho`.
    """
    n, p = scores.shape
    # coefficients of the step function of each tied column; an untied column is linear
    coefficients = np.zeros((p, N_TERMS))
    coefficients[:, 0] = 1
    for column in tied:
        # normal quantiles at which the column steps from one level to the next
        levels, counts = np.unique(scores[:, column], return_counts=True)
        cuts = norm.ppf(np.cumsum(counts)[:-1] / n)
        weights = np.sqrt(n) * np.diff(levels) * norm.pdf(cuts)  # scores have length 1
        # Hermite polynomials, normalized, by their three-term recurrence
        before, polynomial = np.zeros(len(cuts)), np.ones(len(cuts))
        for k in range(1, N_TERMS + 1):
            coefficients[column, k - 1] = weights @ polynomial / np.sqrt(k)
            following = (cuts * polynomial - np.sqrt(k - 1) * before) / np.sqrt(k)
            before, polynomial = polynomial, following
    # inverse of the series, interpolated on a grid
    observed, orders = scores.T @ scores, np.arange(1, N_TERMS + 1)
    grid = np.sin(np.linspace(-np.pi / 2, np.pi / 2, 61))
    lower = coefficients * grid[0] ** orders @ coefficients.T
    latent = np.where(observed < lower, -1.0, 1.0)
    # all pairs of columns whose correlation lies between two points of the grid
    for left, right in pairwise(grid):
        upper = coefficients * right**orders @ coefficients.T
        inside = (lower <= observed) & (observed < upper)
        share = (observed - lower)[inside] / (upper - lower)[inside]
        latent[inside] = left + share * (right - left)
        lower = upper
    np.fill_diagonal(latent, 1.0)
    # closest root with unit columns
    sizes, axes = np.linalg.eigh(latent)
    root = np.sqrt(np.maximum(sizes, 0))[:, None] * axes.T
    return root / np.linalg.norm(root, axis=0)


def fit_tail(scores: np.ndarray, root: np.ndarray) -> float:
    """Return the reciprocal of the degrees of freedom of the t copula, 0 for a Gaussian one.

    In simulated samples, the squared norm of the scores has the same variance as in the data.
    """
    used = [len(np.unique(column)) >= MIN_LEVELS for column in scores.T]
    if sum(used) < 2:
        return 0.0
    scores, root, n = scores[:, used], root[:, used], len(scores)
    # a fixed seed: the fit must depend on the data alone
    rng, levels = np.random.default_rng(0), np.sort(scores, axis=0)
    shape = -(-N_SIMULATED // n), n
    normal, uniform = rng.normal(size=(*shape, len(root))) @ root, rng.random((*shape, 1))
    observed, variances = (scores**2).sum(axis=1).var(), list[float]()
    squares = np.empty(normal.shape)
    for tail in TAILS:
        # samples of a t copula with the sorted values of the data as margins
        order = (normal / draw_scale(tail, uniform)).argsort(axis=1)
        np.put_along_axis(squares, order, levels[None] ** 2, axis=1)
        variances.append(squares.sum(axis=2).var(axis=1).mean())
        # the variance increases with the tail, up to noise of the simulation
        if variances[-1] >= observed:
            break
    rising = np.maximum.accumulate(variances)
    return float(np.interp(observed, rising, TAILS[: len(rising)]))


def draw_scale(tail: float, uniform: np.ndarray) -> np.ndarray:
    """Return the common divisors of normal variables that make them t variables."""
    return np.sqrt(chi2.ppf(uniform, 1 / tail) * tail) if tail else np.ones_like(uniform)


def fit_columns(X: np.ndarray) -> list[UnimodalColumn]:
    """Return a unimodal distribution near the empirical one of each column.

    The distribution of continuous values is smooth (see `fit_shape`).
    """
    # quantiles, and from the outermost on a straight line to the extremes of the data
    inside = np.linspace(1 / len(X), 1 - 1 / len(X), N_KNOTS)
    probabilities, columns = np.concatenate([[0.0], inside, [1.0]]), []
    for column in X.T:
        edges, mass, step = divide_range(column)
        if step or not mass.size:
            columns.append(fit_lattice(edges, mass, step))
            continue
        low, high = edges[[0, -1]]
        knots = np.concatenate([[low], fit_shape(column)[1](inside).clip(low, high), [high]])
        columns.append(UnimodalColumn(probabilities, knots, 0.0))
    return columns


def fit_lattice(edges: np.ndarray, mass: np.ndarray, step: float) -> UnimodalColumn:
    """Return the unimodal distribution on a lattice that is nearest in Kolmogorov's distance.

    For a fixed mode, the density is the monotone regression of the empirical density on either
    side. Its integral is the convex minorant or concave majorant of the distribution function.
    """
    if not mass.size:
        return UnimodalColumn(np.array([0.0, 1.0]), edges[[0, 0]], 0.0)
    widths = np.diff(edges)
    density, empirical = mass / widths, np.cumsum(mass)
    best = (np.inf, empirical)
    # try quantiles as the mode: the density rises up to it and falls behind it
    for mode in np.unique(np.searchsorted(empirical, np.linspace(0, 1 - 1e-9, N_MODES))):
        sides = slice(None, mode), slice(mode, None)
        fits = [
            isotonic_regression(density[side], weights=widths[side], increasing=rises).x
            for side, rises in zip(sides, (True, False), strict=True)
            if len(density[side])
        ]
        fitted = np.cumsum(np.concatenate(fits) * widths)
        # Kolmogorov's distance of the fitted distribution function
        best = min(best, (np.abs(fitted - empirical).max(), fitted), key=lambda pair: pair[0])
    return UnimodalColumn(np.append(0.0, best[1] / best[1][-1]), edges, step)


def fit_shape(values: np.ndarray) -> tuple[float, Callable[[np.ndarray], np.ndarray]]:
    r"""Fit a smooth unimodal distribution to values of shape (n,).

    Return the log-likelihood, and a function from probabilities to quantiles. The distribution is a
    sinh-arcsinh distribution, or a beta distribution between the extremes if that is more likely.
    With a standard normal Z, the former is :math:`X = \xi + \eta
    \sinh((\operatorname{arsinh} Z + \epsilon) / \delta)`, with any skewness and with heavy or
    light tails (Jones and Pewsey, 2009). The latter has bounds. Neither has a tail that resembles
    a cluster beside a larger one.
    """
    n = len(values)
    # median and half the interquartile range, robust against heavy tails
    center, half = np.median(values), np.subtract(*np.quantile(values, [0.75, 0.25])) / 2
    scale = half if half > 0 else values.std()
    (location, log_scale, skewness, log_tail), loss = fit_sinh_arcsinh((values - center) / scale)
    likelihood = -n * (loss + np.log(scale))
    # a beta distribution with one mode, and the mean and, if possible, variance of the values
    spacing = np.ptp(values) / (n - 1)
    low, width = values.min() - spacing / 2, np.ptp(values) + spacing
    inside = (values - low) / width
    mean = inside.mean()
    total = max(mean * (1 - mean) / inside.var() - 1, 1 / mean, 1 / (1 - mean))
    a, b = mean * total, (1 - mean) * total
    log_density = xlogy(a - 1, inside) + xlogy(b - 1, 1 - inside) - betaln(a, b)
    likelihood_between = log_density.sum() - n * np.log(width)

    def quantile(probabilities: np.ndarray) -> np.ndarray:
        # the more likely of the two shapes
        if likelihood_between > likelihood:
            return low + width * betaincinv(a, b, probabilities)
        z = np.arcsinh(norm.ppf(probabilities)) + skewness
        return center + scale * (location + np.exp(log_scale) * np.sinh(z / np.exp(log_tail)))

    return max(likelihood, likelihood_between), quantile


def fit_sinh_arcsinh(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the (4,) parameters of values, and their mean negative log-likelihood.

    The search starts at the best of six shapes. Bounds exclude a peak on a single value.
    """
    start = min(SHAPES, key=lambda shape: measure_shape(shape, values)[0])
    options: Any = {"method": "SLSQP", "tol": 1e-9, "bounds": Bounds(-MAX_SHAPE, MAX_SHAPE)}
    fit = minimize(measure_shape, start, (values,), jac=True, **options)
    return fit.x, fit.fun


def measure_shape(parameters: np.ndarray, values: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the mean negative log-likelihood of values of shape (n,), and its (4,) gradient."""
    location, log_scale, skewness, log_tail = parameters
    place = (values - location) * np.exp(-log_scale)
    bent = np.exp(log_tail) * np.arcsinh(place)
    # the density of Z, and the logarithm of its derivative by the place
    z, squared = np.sinh(bent - skewness), 1 + place**2
    slope = np.sqrt(1 + z**2)
    log_density = np.log(slope) - (z**2 + np.log(2 * np.pi * squared)) / 2
    # derivatives by the bent place, and by the place
    by_bent = z / slope - z * slope
    by_place = by_bent * np.exp(log_tail) / np.sqrt(squared) - place / squared
    parts = [-by_place * np.exp(-log_scale), -by_place * place - 1, -by_bent, by_bent * bent + 1]
    return float(log_scale - log_tail - log_density.mean()), -np.mean(parts, axis=1)


def compare_shapes(values: np.ndarray, labels: np.ndarray) -> float:
    """Return by how much two normal populations have a larger log-likelihood than a unimodal one.

    The fit of the two populations starts at the clusters, and their variances are equal. This is
    Cox's test of separate families, whose null distribution is simulated. The result is 0 for
    values with many ties.
    """
    if len(np.unique(values)) < MIN_DISTINCT * len(values):
        return 0.0
    # expectation and maximization, with one row for each population
    share = np.array([labels == label for label in np.unique(labels)], dtype=float)
    for _ in range(N_ITERATIONS):
        weight = share.sum(axis=1, keepdims=True)
        mean = share @ values[:, None] / weight
        spread = np.sqrt(np.sum(share * (values - mean) ** 2) / len(values))
        log_density = np.log(weight / spread / len(values)) - ((values - mean) / spread) ** 2 / 2
        share = softmax(log_density, axis=0)
    normal = logsumexp(log_density, axis=0).sum() - len(values) * np.log(2 * np.pi) / 2
    return float(normal - fit_shape(values)[0])


def divide_range(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the edges of cells, the fractions of values in them, and the spacing of a lattice.

    A cell extends from a point halfway to its neighbors, so that the extremes are as far out as in
    the data. Cells do not cross 0. Continuous values have a spacing of 0. Cells of a lattice, such
    as counts or rounded measurements, also surround lattice points that do not occur.
    """
    # distinct values, and their smallest step
    points, counts = np.unique(values, return_counts=True)
    if len(points) < 2:
        return points, np.empty(0), 0.0
    step = np.diff(points).min()
    n_steps = (points[-1] - points[0]) / step
    places = (points - points[0]) / step
    # values on no lattice, or on one so fine that most cells are empty
    if n_steps >= len(values) or np.abs(places - np.round(places)).max() > 0.01:
        middle = (points[1:] + points[:-1]) / 2
        first, last = 2 * points[[0, -1]] - middle[[0, -1]]
        first = max(first, 0.0) if points[0] >= 0 else first
        last = min(last, 0.0) if points[-1] <= 0 else last
        return np.concatenate([[first], middle, [last]]), counts / len(values), 0.0
    shares = np.bincount(np.round(places).astype(int), counts) / len(values)
    return points[0] + step * (np.arange(len(shares) + 1) - 0.5), shares, float(step)


def draw_unimodal(X: Any, fitted: Unimodal, rng: Generator) -> Any:
    """Draw points from the fitted distribution."""
    latent = rng.normal(size=(X.shape[0], len(fitted.root))) @ fitted.root
    if fitted.tail:
        latent /= draw_scale(fitted.tail, rng.random((len(latent), 1)))
    # through the distribution of each column by its inverse
    uniform = t.cdf(latent, 1 / fitted.tail) if fitted.tail else norm.cdf(latent)
    points = np.empty(X.shape)
    for place, (probabilities, knots, step) in enumerate(fitted.columns):
        drawn = np.interp(uniform[:, place], probabilities, knots)
        if step:  # back to the middle of the cell
            cells = np.minimum((drawn - knots[0]) // step, len(knots) - 2)
            drawn = knots[0] + step * (cells + 0.5)
        points[:, place] = drawn
    return rebuild(X, points)


def rebuild(X: Any, points: np.ndarray) -> Any:
    """Return points with the type and precision of X."""
    if hasattr(X, "iloc"):
        return type(X)(points, columns=X.columns)
    return points.astype(X.dtype) if X.dtype.kind == "f" else points


MAX_ROWS, MAX_COLUMNS = 2000, 500

DEPENDENT = 1e-4
"""Smallest eigenvalue of a correlation matrix of columns that count as independent."""

WINDOW = 0.2
"""Half the width of the windows in which samples are counted, as a fraction of the distance."""

NO_DIP = 0.5
"""Ratio of the density midway to that at the centers, above which there is no dip."""


def list_cautions(X: Any, labels: np.ndarray) -> tuple[str, ...]:
    """Return sentences about columns or shapes for which the reference is not valid."""
    return tuple(filter(None, (caution_about_columns(X), caution_about_shape(X, labels))))


def caution_about_columns(X: Any) -> str:
    """Return a sentence if the columns of X are linearly dependent, or an empty string."""
    # enough rows to judge the columns
    n, p = X.shape
    if n < 2 * p or p > MAX_COLUMNS:
        return ""
    rows = safe_indexing(X, np.arange(0, n, -(-n // MAX_ROWS)))
    points = np.asarray(rows.toarray() if issparse(X) else rows, dtype=np.float64)
    # a correlation matrix that is nearly singular
    points = points[:, np.ptp(points, axis=0) > 0]
    if points.shape[1] < 2 or len(points) < 2 * points.shape[1]:
        return ""
    if np.linalg.eigvalsh(np.corrcoef(points.T))[0] > DEPENDENT:
        return ""
    return (
        "Dependent columns: some columns are determined by others, for example fractions or "
        "indicators that add up to a constant. The reference data lack this dependence, so the "
        "P-value may be too small. Leave out the redundant columns."
    )


def caution_about_shape(X: Any, labels: np.ndarray) -> str:
    """Return a sentence if the density has no dip between neighboring clusters.

    The samples of two clusters are projected on the line through their centers. The count around
    its middle is compared with the geometric mean of the counts around the centers.
    """
    # each cluster and its nearest one
    names = np.unique(labels[labels != NOISE])
    points = X if issparse(X) else np.asarray(X, dtype=np.float64)
    parts = [points[labels == name] for name in names]
    centers = np.array([np.asarray(part.mean(axis=0)).ravel() for part in parts])
    # pairs of neighboring centers
    distances = ((centers[:, None] - centers) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    pairs = sorted(
        {(min(pair), max(pair)) for pair in enumerate(distances.argmin(axis=1).tolist())}
    )
    # density at both centers and between them, along the line that joins them
    merged = []
    for first, second in pairs:
        axis = (centers[second] - centers[first]) / distances[first, second]
        places = [(parts[one] @ axis) - centers[first] @ axis for one in (first, second)]
        places_of_all = np.concatenate(places)
        left, middle, right = (
            np.sum(np.abs(places_of_all - place) < WINDOW) for place in (0, 0.5, 1)
        )
        if middle >= max(NO_DIP * np.sqrt(left * right), 1):
            merged.append(f"{names[first]} and {names[second]}")
    if not merged:
        return ""
    return (
        f"No gap: between the centers of clusters {', '.join(merged)}, samples are about as dense "
        "as at the centers. The clusters may be parts of one curved or elongated cluster. The "
        "reference data contain no such clusters."
    )
