"""Norms of regression errors, losses by name, and the expected loss under a known density.

The expected value of a function of one variable is an integral over tail probabilities, whose
quantiles are the points. It is computed by adaptive quadrature, with vectorized calls of the
function: QUADPACK calls it for one point at a time, and overlooks narrow regions. Panels use a
closed Clenshaw-Curtis rule of 9 points and the nested rule of 5 points. A panel whose two values
disagree is split, at a jump of the function or else in the middle. The part beyond the outermost
quantile is extrapolated from the preceding octaves of probability.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.integrate import IntegrationWarning, quad
from scipy.special import logsumexp
from sklearn.utils import check_consistent_length

from skeval._inference.estimate import Estimate
from skeval._inference.intervals import normal_interval
from skeval.metrics._constraints import CONSTRAINTS
from skeval.utils import _checks
from skeval.utils._checks import RandomStateLike, ignored_warnings
from skeval.utils._compat import HasMethods, Interval, StrOptions, validate_params

Floats = NDArray[np.float64]


@validate_params(CONSTRAINTS | {"ord": [Interval(Real, 0, None, closed="both")]})
def error_norm(
    y_true: ArrayLike, y_pred: ArrayLike, *, ord: float = 2, sample_weight: ArrayLike | None = None
) -> float:
    r"""Return the norm of the error vector, of any order from 0 to infinity.

    .. math:: \|e\|_q = \Bigl(\sum_i |y_i - \hat y_i|^q\Bigr)^{1/q}

    with two special cases: ``ord=0`` is the number of non-zero errors, ``ord=inf`` the largest
    error. The result lies in :math:`[0, \infty)`; 0 is best.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values.
    ord : float in [0, inf], default=2
        The order `q`. Below 1 it is not a norm (no triangle inequality).
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    norm : float
        Norm in the unit of `y`; for ``ord=0`` the (weighted) number of errors. It is infinite if it
        exceeds the largest float. A small `ord` makes this likely: `n` errors of 1 have the norm
        ``n ** (1 / q)``.

    Raises
    ------
    ValueError
        If shapes differ, `ord` is negative, or weights are negative or all zero.

    Notes
    -----
    The norm grows with the number of samples. For a single output, ``RMSE = error_norm(ord=2) /
    sqrt(n)`` and ``MAE = error_norm(ord=1) / n``.

    Examples
    --------
    >>> from skeval.metrics import error_norm
    >>> y_true, y_pred = [1.0, 2.0, 3.0, 4.0], [1.0, 5.0, 3.0, 0.0]
    >>> error_norm(y_true, y_pred)
    5.0
    >>> [error_norm(y_true, y_pred, ord=q) for q in (0, 1, float("inf"))]
    [2.0, 7.0, 4.0]
    """
    error, weight = _absolute_errors(y_true, y_pred, sample_weight)
    if ord == 0:
        return float(np.count_nonzero(error) if weight is None else weight @ (error != 0))
    if weight is not None:
        error, weight = error[weight > 0], weight[weight > 0]
    largest = float(error.max())
    if np.isinf(ord) or largest == 0 or np.isinf(largest):
        return largest
    with np.errstate(over="ignore", invalid="ignore"):
        powers = error if ord == 1 else error**ord
        total = powers.sum() if weight is None else weight @ powers
        if 1e-280 < total < np.inf:  # no relevant power underflowed or overflowed
            norm = float(total ** (1 / ord))
            if 0 < norm < np.inf:
                return norm
    with np.errstate(divide="ignore", over="ignore"):
        return float(np.exp(logsumexp(ord * np.log(error), b=weight) / ord))


def _absolute_errors(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Floats, Floats | None]:
    """Return the absolute errors, one per sample and output, and their weights."""
    true = _checks.check_data("y_true", y_true, ensure_2d=False, dtype=np.float64)
    pred = _checks.check_data("y_pred", y_pred, ensure_2d=False, dtype=np.float64)
    if true.shape != pred.shape or true.ndim != 1:
        with _checks.naming("y_true", "y_pred"):
            check_consistent_length(true, pred)
        true, pred = true.reshape(len(true), -1), pred.reshape(len(pred), -1)
    if true.shape != pred.shape:
        raise ValueError(f"y_true and y_pred must agree in shape: {true.shape}, {pred.shape}.")
    with np.errstate(over="ignore"):
        error = true - pred
    error = np.abs(error, out=error).ravel()
    if sample_weight is None:
        return error, None
    with _checks.naming("y_true", "y_pred"):
        check_consistent_length(true, pred, sample_weight)
    weight = _checks.check_weights("sample_weight", sample_weight, len(true))
    return error, weight if len(error) == len(weight) else np.repeat(weight, true.shape[1])


def find_log_losses(codes: NDArray[np.intp], shares: Floats) -> Floats:
    """Return the negative logarithms of the probabilities of the true classes."""
    own = shares[np.arange(len(codes)), codes]
    return -np.log(own.clip(np.finfo(shares.dtype).eps, 1.0))


def find_brier_losses(codes: NDArray[np.intp], shares: Floats) -> Floats:
    """Return the squared distances between probabilities and outcomes.

    With two classes, only the probability of the second class counts, as in Brier's definition.
    """
    if shares.shape[1] == 2:
        return (shares[:, 1] - codes) ** 2
    hit = np.zeros_like(shares)
    hit[np.arange(len(codes)), codes] = 1.0
    squares: Floats = np.sum((shares - hit) ** 2, axis=1)
    return squares


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "zero_one": lambda y_true, y_pred: (y_true != y_pred).astype(float),
    # subtract as floats, because differences of small unsigned integers wrap around
    "squared": lambda y_true, y_pred: np.subtract(y_true, y_pred, dtype=float) ** 2,
    "absolute": lambda y_true, y_pred: np.abs(np.subtract(y_true, y_pred, dtype=float)),
}
"""Losses of predictions, by name."""

PROBABILITY_LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "log_loss": find_log_losses,
    "brier": find_brier_losses,
}
"""Losses of class probabilities, by name; true classes are column numbers."""


_REPLICATES = 16  # number of scramblings; their spread gives the standard error


@validate_params(
    CONSTRAINTS
    | {
        "predict": [callable],
        "target": [callable],
        "distribution": [HasMethods(["rvs"]), callable, list, tuple],
        "loss": [StrOptions(set(LOSSES)), callable],
        "support": [tuple, list],
        "n_points": [Interval(Integral, 2 * _REPLICATES, None, closed="left")],
    }
)
def expected_loss(
    predict: Callable[[Floats], Any],
    target: Callable[[Floats], Any],
    distribution: Any,
    *,
    loss: str | Callable[..., Any] = "squared",
    support: tuple[float, float] = (-np.inf, np.inf),
    n_points: int = 2**16,
    random_state: RandomStateLike = None,
) -> Estimate:
    r"""Return the expected loss of a predictor under a known density of its input.

    .. math:: E = \int L\bigl(f(x), y(x)\bigr)\, p(x)\, dx

    The result lies in :math:`[0, \infty)`, for the 0-1 loss in [0, 1]; 0 is best.

    Parameters
    ----------
    predict : callable
        `f`, a function from an array of shape (n_points, n_dimensions) to an array of shape
        (n_points,) or (n_points, 1), or to a scalar. Examples are the `predict` of a fitted
        estimator and any elementwise function.
    target : callable
        `y`, with the same signature.
    distribution : frozen SciPy distribution, list of them, or density function
        `p`. A continuous univariate distribution is integrated by adaptive quadrature. A list is
        the product of its distributions. Products and `scipy.stats.multivariate_normal` are
        integrated over scrambled Sobol points, any other multivariate distribution over its own
        random draws. A function of one number `x` is the density at `x`; it must integrate to 1
        over `support`.
    loss : {"squared", "absolute", "zero_one"} or callable, default="squared"
        `L`. A function ``loss(y_true, y_pred)`` returns one number >= 0 for each point.
    support : tuple of two floats, default=(-inf, inf)
        Ends of the interval on which a density function is positive. Distributions do not use it.
    n_points : int, default=65536
        Number of points in more than one dimension, ideally a power of 2. Quadrature does not use
        it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws; an int gives the same result in each call. Quadrature does not use
        it.

    Returns
    -------
    result : Estimate
        Estimate with `value`, in the unit of the loss, and ``details["error"]``. In one dimension,
        the error is estimated from the disagreement of two rules; interval and standard error are
        nan, because the computation is deterministic. In more dimensions, it is the half-width of
        the 95 % Student's t interval over 16 `replicates`.

    Raises
    ------
    ValueError
        If a function does not return one finite value per point, `loss` is not one of the names
        above or is negative, all quantiles of the distribution are equal, or a density function
        does not integrate to 1.
    TypeError
        If `distribution` is not of one of these kinds.

    Warns
    -----
    IntegrationWarning
        If the estimated quadrature error stays above 1e-6 of the value. If the integral seems to
        diverge, `value` is nan and `error` infinite.

    Notes
    -----
    The error rate of a classifier `f` for classes `c` with priors and densities is the sum of
    ``prior[c] * expected_loss(f, lambda x: c, density[c], loss="zero_one").value``.

    In one dimension the functions are called with many points at once, 175,680 in the first call.
    The integral is over the tail probability of a point, from 2^-60 on either side. Panels of equal
    width, in the center and in each octave of a tail, use two nested Clenshaw-Curtis rules [2]_.
    Panels where these disagree are split, at a jump of the loss if there is one, until the
    estimated error is 1e-9 of the value or two million points are used. The tails beyond the panels
    are extrapolated as a power law.

    The estimated error was at least the true error in 797 of 800 random cases with smooth, kinked
    and stepwise losses under normal, exponential and uniform distributions. In the other cases the
    relative error of the value was at most 7e-11. Features between the points are missed: for 25 of
    100 classifiers with up to 400 class changes at random places, a region with probability below
    1e-5 was overlooked. The last 2^-60 of the probability is never evaluated. A density function,
    or a distribution that searches for its quantiles (a subclass of `scipy.stats.rv_continuous`
    without ``_ppf``), is integrated by QUADPACK one point at a time; narrow `support` if a density
    function misses the mass.

    References
    ----------
    .. [1] Owen, A. B. (1998). Scrambling Sobol' and Niederreiter-Xing points. Journal of Complexity
       14, 466-489. https://doi.org/10.1006/jcom.1998.0487
    .. [2] Trefethen, L. N. (2008). Is Gauss quadrature better than Clenshaw-Curtis? SIAM Review 50,
       67-87. https://doi.org/10.1137/060659831

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from skeval.metrics import expected_loss
    >>> result = expected_loss(lambda x: x, lambda x: 0.0, norm(loc=1, scale=2))
    >>> print(f"{result.value:.6f}")  # the second moment, 1 + 4
    5.000000

    A loss that charges twice as much for too small predictions, under a triangular density:

    >>> def loss(y_true, y_pred):
    ...     return np.maximum(y_pred - y_true, 2 * (y_true - y_pred))
    >>> result = expected_loss(
    ...     lambda x: 0.5, lambda x: x, lambda x: 2 * x, loss=loss, support=(0, 1)
    ... )
    >>> print(f"{result.value:.6f}")  # 1/24 + 2 * 5/24
    0.458333
    """
    integrand = _integrand(predict, target, loss if callable(loss) else LOSSES[loss])
    if callable(distribution) and not hasattr(distribution, "rvs"):
        ends = _checks.check_data("support", support, ensure_2d=False, ensure_all_finite=False)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise ValueError(
                f"support must be two numbers (low, high) with low < high, got {support!r}."
            )
        return _as_estimate(*_mean_under_function(integrand, distribution, ends))
    if hasattr(distribution, "pdf") and hasattr(distribution, "ppf"):
        # a subclass of rv_continuous without _ppf searches for each quantile
        kind = getattr(distribution, "dist", None)
        if getattr(type(kind), "_ppf", None) is not stats.rv_continuous._ppf:
            return _as_estimate(*mean_under_density(integrand, distribution))
        v = 0.5 ** np.arange(1, 41)
        points = np.unique([*distribution.ppf(v), *distribution.isf(v)])
        return _as_estimate(*_mean_under_function(integrand, distribution.pdf, points))
    sampler = _sampler(distribution)
    root = _checks.root_seed(random_state)
    means = [
        integrand(sampler(n_points // _REPLICATES, _checks.repetition_rng(root, r))).mean()
        for r in range(_REPLICATES)
    ]
    mean, spread = float(np.mean(means)), float(stats.sem(means))
    limits = partial(normal_interval, mean, spread, degrees_of_freedom=_REPLICATES - 1)
    return Estimate(
        name="expected loss",
        value=mean,
        standard_error=spread,
        method="quasi_monte_carlo",
        limits={"t": limits} if spread > _ROUNDING * abs(mean) else {},
        replicates=np.array(means),
        details={"error": float(stats.t.ppf(0.975, _REPLICATES - 1) * spread)},
    )


def _as_estimate(value: float, error: float) -> Estimate:
    """Return the result of a quadrature, nan with an infinite error if it diverged."""
    if not np.isfinite(value):
        value, error = np.nan, np.inf
    if not error <= _TOLERANCE * value:
        _checks.warn_user(
            f"expected_loss did not converge: {value:.6g} +/- {error:.1g}; the loss varies too "
            "finely, or its expectation may not exist.",
            IntegrationWarning,
        )
    return Estimate(
        name="expected loss",
        value=float(value),
        standard_error=np.nan,
        method="quadrature",
        details={"error": float(error)},
    )


def _mean_under_function(
    integrand: Callable[[Floats], Floats], density: Callable[[float], Any], points: Floats
) -> tuple[float, float]:
    """Return the mean under a density function of one number, by QUADPACK, and its error.

    The first and the last point are the ends of the integral, any others divide it.
    """
    options: dict[str, Any] = {"a": points[0], "b": points[-1], "limit": _MAX_INTERVALS}
    if len(points) > 2:
        options["points"] = points[1:-1]

    def weight(x: float) -> float:
        value = float(np.asarray(density(x), dtype=np.float64).item())
        if not 0 <= value < np.inf:
            raise ValueError(f"distribution must return a density >= 0, got {value} at {x}.")
        return value

    def weighted(x: float) -> float:
        p = weight(x)
        return p * float(integrand(np.array([[x]]))[0]) if p else 0.0

    with ignored_warnings(IntegrationWarning):  # the error is checked instead
        mass = quad(weight, **options)[0]
        if not abs(mass - 1) <= _TOLERANCE:
            ends = tuple(points[[0, -1]].tolist())
            raise ValueError(
                f"distribution must integrate to 1 over support={ends}, got {mass:.6g}; divide the "
                "density by its integral, or narrow support to where it is positive."
            )
        value, error = quad(weighted, **options, epsabs=0, epsrel=_GOAL)
    return value, error


def _integrand(
    predict: Callable[[Floats], Any],
    target: Callable[[Floats], Any],
    loss: Callable[[Any, Any], Any],
) -> Callable[[Floats], Floats]:
    def one_per_point(function: Callable[[Floats], Any], name: str, x: Floats) -> NDArray[Any]:
        value = np.asarray(function(x))
        if value.size not in (1, len(x)):
            raise ValueError(f"{name} must return {len(x)} values, got shape {value.shape}.")
        return value.ravel()

    def integrand(x: Floats) -> Floats:
        y_true, y_pred = one_per_point(target, "target", x), one_per_point(predict, "predict", x)
        value = np.asarray(loss(y_true, y_pred), dtype=np.float64).ravel()
        if value.size not in (1, len(x)):
            raise ValueError(f"loss must return {len(x)} values, got {value.size}.")
        if not np.isfinite(value).all():
            raise ValueError("the loss must be finite at every point, got nan or inf.")
        if value.min() < 0:
            raise ValueError(f"loss must return numbers >= 0, got {value.min():g}.")
        return np.broadcast_to(value, len(x))

    return integrand


def _sampler(distribution: Any) -> Callable[[int, Generator], Floats]:
    """Return a function (n, generator) -> points of shape (n, n_dimensions)."""
    if isinstance(distribution, list | tuple):
        if not distribution or not all(hasattr(d, "ppf") for d in distribution):
            raise TypeError("distribution must list frozen univariate distributions.")
        return lambda n, rng: np.column_stack(
            [d.ppf(u) for d, u in zip(distribution, _sobol(n, len(distribution), rng), strict=True)]
        )
    if hasattr(distribution, "cov_object"):
        return lambda n, rng: _draw_points(
            stats.qmc.MultivariateNormalQMC(distribution.mean, distribution.cov, seed=rng), n
        )
    if hasattr(distribution, "ppf") or hasattr(distribution, "pmf"):
        raise TypeError(f"distribution must be continuous, got {distribution!r}.")
    return lambda n, rng: np.reshape(distribution.rvs(n, random_state=rng), (n, -1))


def _sobol(n: int, dimensions: int, rng: Generator) -> Floats:
    """Return n scrambled Sobol points of the open unit cube, shape (dimensions, n)."""
    points = _draw_points(stats.qmc.Sobol(dimensions, seed=rng), n)
    return np.clip(points, 2.0**-32, 1 - 2.0**-32).T


def _draw_points(sampler: Any, n: int) -> Floats:
    """Draw n points, without SciPy's balance warning if n is not a power of 2."""
    with ignored_warnings(UserWarning, "The balance properties"):
        return sampler.random(n)


Function = Callable[[Floats], Floats]

_OCTAVES = 60  # of probability in each tail
_CENTRAL, _TAIL = 2**14, 32  # panels over the central part, and in an octave beyond 1/128
_GOAL, _TOLERANCE = 1e-9, 1e-6  # relative error of the result: aimed at, and required
_ROUNDING = 1e-13  # relative error of quantiles
_MAX_POINTS = 2**21
_MAX_INTERVALS = 500  # of QUADPACK
_BISECTIONS = 48  # halvings of a cell to locate a jump
_CAUTION = 30.0  # safety factor: for a jump, the two rules differ by at least 0.73 of the bound


def _clenshaw_curtis(n: int) -> tuple[Floats, Floats]:
    """Return the n + 1 nodes in [0, 1], and the weights that integrate every T_k, k <= n."""
    nodes = np.cos(np.pi * np.arange(n, -1, -1) / n)
    even = np.arange(n + 1) % 2 == 0
    moments = np.where(even, 2 / (1 - np.arange(n + 1.0) ** 2 + ~even), 0.0)
    weights = np.linalg.solve(np.polynomial.chebyshev.chebvander(nodes, n).T, moments)
    return (nodes + 1) / 2, weights / 2


_NODES, _FINE = _clenshaw_curtis(8)
_COARSE = _clenshaw_curtis(4)[1]
_CUMULATED = np.cumsum(_FINE)[:-1]
# largest error of the rule for a unit jump between two nodes
_JUMP = np.maximum(np.abs(_CUMULATED - _NODES[:-1]), np.abs(_NODES[1:] - _CUMULATED))


class _Panels(NamedTuple):
    """Nodes and values, shape (n_panels, 9); integral and error per panel."""

    v: Floats
    values: Floats
    integral: Floats
    error: Floats


def mean_under_density(function: Function, distribution: Any) -> tuple[float, float]:
    """Return the mean of a non-negative function of points of shape (n, 1), and its error.

    The mean is an integral over the tail probability v of a point, from -1/2 to 0 below the median
    and from 0 to 1/2 above it. It is not finite if it seems not to exist.
    """

    def at(v: Floats) -> Floats:
        # SciPy's quantiles may underflow
        with np.errstate(all="ignore"), ignored_warnings(RuntimeWarning):
            x = np.where(v < 0, distribution.ppf(np.abs(v)), distribution.isf(np.abs(v)))
        return np.reshape(function(x.reshape(-1, 1)), v.shape)

    octaves = _find_octaves(distribution)
    pairs = [_base_panels(side, ends) for side, (ends, _) in octaves.items() if len(ends)]
    starts, stops = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    panels = _refine(at, _evaluate(at, starts, stops))
    value, error = panels.integral.sum(), panels.error.sum()
    for side, (ends, lost) in octaves.items():
        beyond, uncertain = _extrapolate(panels, function, distribution, side, ends, lost, value)
        value, error = value + beyond, error + uncertain
    # points far from 0 compared with their spread have few digits left
    quartiles = distribution.ppf(0.25), distribution.isf(0.25)
    digits = np.spacing(np.max(np.abs(quartiles))) / (quartiles[1] - quartiles[0])
    return value, error + (_ROUNDING + digits) * value


def _find_octaves(distribution: Any) -> dict[int, tuple[Floats, Floats]]:
    """Return the tail probabilities 1/2, 1/4, ... below (-1) and above (1) the median.

    They stop before the quantile equals the end of the support, where a function may be infinite,
    and in an infinite tail where the quantiles lose their digits, as in some versions of SciPy.
    With them come the relative errors of the probabilities of their quantiles.
    """
    low, high = distribution.support()
    ends = np.asarray(0.5 ** np.arange(1, _OCTAVES + 1), dtype=np.float64)
    octaves = {}
    for side, end, quantile, beyond in (
        (-1, low, distribution.ppf, distribution.cdf),
        (1, high, distribution.isf, distribution.sf),
    ):
        with np.errstate(all="ignore"), ignored_warnings(RuntimeWarning):
            x = np.asarray(quantile(ends), dtype=np.float64)
            inside = np.isfinite(x) & (low < x) & (x < high)
            lost = np.zeros(len(ends))
            if not np.isfinite(end):
                lost = np.abs(np.asarray(beyond(x), dtype=np.float64) / ends - 1)
            inside &= lost <= _TOLERANCE
        n = np.logical_and.accumulate(inside).sum()
        octaves[side] = ends[:n], lost[:n]
    if distribution.ppf(0.25) == distribution.isf(0.25):
        raise ValueError(
            f"distribution must spread over more than one number, got {distribution!r}."
        )
    return octaves


def _base_panels(side: int, ends: Floats) -> tuple[Floats, Floats]:
    """Return the ends of panels on one side: of equal width in the center and in each octave."""
    central = np.linspace(1 / 128, 0.5, 63 * _CENTRAL // 128 + 1)
    octaves = ends[ends < 1 / 64, None] * (1 + np.arange(_TAIL) / _TAIL)
    edges = np.union1d(octaves, central)
    edges = edges[edges >= ends[-1]]
    return (edges[:-1], edges[1:]) if side > 0 else (-edges[1:], -edges[:-1])


def _evaluate(at: Function, low: Floats, high: Floats) -> _Panels:
    v = low[:, None] + (high - low)[:, None] * _NODES
    v[:, -1] = high
    values = at(v)
    integral = (high - low) * (values @ _FINE)
    difference = np.abs(integral - (high - low) * (values[:, ::2] @ _COARSE))
    bound = (high - low) * (np.abs(np.diff(values)) @ _JUMP)
    # QUADPACK's scaling, with the error bound of a jump in place of the mean deviation
    ratio = np.divide(difference, bound, out=np.zeros_like(bound), where=bound > 0)
    return _Panels(v, values, integral, bound * np.minimum(1.0, (_CAUTION * ratio) ** 1.5))


def _refine(at: Function, panels: _Panels) -> _Panels:
    """Split the panels with the largest errors until the goal or the point limit is reached."""
    points = panels.v.size
    while True:
        worst = np.argsort(panels.error)[::-1]
        rest = np.cumsum(panels.error[worst][::-1])[::-1]  # total error of this and later panels
        worst = worst[rest > _GOAL / 2 * panels.integral.sum()]
        low, high = panels.v[worst, 0], panels.v[worst, -1]
        middle = low + (high - low) / 2
        worst = worst[(low < middle) & (middle < high)]
        worst = worst[: (_MAX_POINTS - points) // (_BISECTIONS + 3 * len(_NODES))]
        if not len(worst):
            return panels
        parts = _evaluate(at, *_split(at, *(field[worst] for field in panels[:2])))
        points += len(worst) * _BISECTIONS + parts.v.size
        kept = np.delete(np.arange(len(panels.v)), worst)
        panels = _Panels._make(
            np.concatenate([field[kept], new]) for field, new in zip(panels, parts, strict=True)
        )


def _split(at: Function, v: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the parts of each panel: two halves, or three parts around a jump."""
    change = np.abs(np.diff(values))
    jumps = change.max(axis=1) > change.sum(axis=1) / 3
    before, after = (v[:, 0] + (v[:, -1] - v[:, 0]) / 2 for _ in range(2))
    # halve the cell of the jump until its ends enclose it closely
    row, cell = np.flatnonzero(jumps), change[jumps].argmax(axis=1)
    left, right = v[row, cell], v[row, cell + 1]
    for _ in range(_BISECTIONS if len(row) else 0):
        middle = left + (right - left) / 2
        value = at(middle)
        is_left = np.abs(value - values[row, cell]) < np.abs(value - values[row, cell + 1])
        left, right = np.where(is_left, middle, left), np.where(is_left, right, middle)
    before[row], after[row] = left, right
    starts = np.concatenate([v[:, 0], before, after])
    ends = np.concatenate([before, after, v[:, -1]])
    return starts[starts < ends], ends[starts < ends]


def _extrapolate(
    panels: _Panels,
    function: Function,
    distribution: Any,
    side: int,
    ends: Floats,
    lost: Floats,
    value: float,
) -> tuple[float, float]:
    """Return the integral beyond the last octave, and its error with that of the quantiles.

    It is (nan, inf) if the integral diverges. For a power-law tail, the means of the octaves grow
    by a constant factor.
    """
    rest, end = ends[-1] if len(ends) else 0.5, distribution.support()[side > 0]
    if len(ends) < _OCTAVES and np.isfinite(end):  # all that remains is next to the end
        inner = np.nextafter(end, -side * np.inf)
        start = (distribution.isf if side > 0 else distribution.ppf)(rest)
        start = inner if start == end else start
        before, last = function(np.array([[start], [inner]]))
        return rest * last, 8 * rest * abs(last - before)
    if len(ends) < 2:
        return np.nan, np.inf
    middle = side * (panels.v[:, 0] + panels.v[:, -1]) / 2
    octave = np.floor(-np.log2(middle[middle > 0])).astype(int) - 1
    sums = np.bincount(octave, panels.integral[middle > 0], minlength=len(ends) - 1)
    means, inexact = sums / ends[1:], 2 * float(lost[1:] @ sums)
    plain = rest * float(means[-1])
    if plain <= 1e-3 * _GOAL * value or len(means) < 2:
        return plain, plain + inexact
    earlier = max(-11, 1 - len(means))
    with np.errstate(all="ignore"):
        growth = [float(means[k] / means[k - 1]) if means[k] else 1.0 for k in (earlier, -1)]
    if not min(growth) < 2 * (1 - 1e-6):  # each octave contributes as much as the previous one
        return np.nan, np.inf
    growth = [min(growth), min(max(growth), max(1.9, min(growth)))]
    smaller, larger = (plain * g / (2 - g) for g in growth)
    return smaller, 8 * (larger - smaller) + inexact
