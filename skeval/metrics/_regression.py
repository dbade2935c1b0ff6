"""Norms of regression errors, losses by name, and the expected loss under a known density."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.integrate import IntegrationWarning, quad, quad_vec
from scipy.special import expit

from skeval._inference.estimate import Estimate
from skeval._inference.intervals import normal_interval
from skeval.utils import _checks
from skeval.utils._checks import CONSTRAINTS, RandomStateLike, ignored_warnings, validate_params
from skeval.utils._compat import HasMethods, Interval, StrOptions

Floats = NDArray[np.float64]


@validate_params(CONSTRAINTS | {"ord": [Interval(Real, 0, None, closed="both")]})
def error_norm(
    y_true: ArrayLike, y_pred: ArrayLike, *, ord: float = 2, sample_weight: ArrayLike | None = None
) -> float:
    r"""Return the norm of the error vector, of any order from 0 to infinity.

    .. math:: \|e\|_q = \Bigl(\sum_i |y_i - \hat y_i|^q\Bigr)^{1/q}

    There are two special cases. ``ord=0`` gives the number of nonzero errors, and ``ord=inf``
    gives the largest error. The result lies in :math:`[0, \infty)`. The best value is 0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_outputs)
        True values.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Predicted values.
    ord : float in [0, inf], default=2
        The order `q`. Below 1 the result is not a norm, because the triangle inequality does not
        hold.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    norm : float
        Norm in the unit of `y`. For ``ord=0``, it is the (weighted) number of errors. It is
        infinite if it exceeds the largest float. A small `ord` makes this likely, because `n`
        errors of 1 have the norm ``n ** (1 / q)``.

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
    true = _checks.check_data("y_true", y_true, ensure_2d=False, dtype=np.float64)
    pred = _checks.check_data("y_pred", y_pred, ensure_2d=False, dtype=np.float64)
    # a column is the same as a vector
    _checks.check_same_length(y_true=true, y_pred=pred)
    true, pred = true.reshape(len(true), -1), pred.reshape(len(pred), -1)
    if true.shape != pred.shape:
        raise ValueError(
            f"y_true and y_pred must have one shape, got {true.shape} and {pred.shape}."
        )
    with np.errstate(over="ignore"):
        error = np.abs(true - pred).ravel()
    # one weight for each output of a sample
    weight = None
    if sample_weight is not None:
        weight = _checks.check_weights("sample_weight", sample_weight, len(true))
        weight = np.repeat(weight, true.shape[1])
    if ord == 0:
        return float(np.count_nonzero(error) if weight is None else weight @ (error != 0))
    if weight is not None:
        error, weight = error[weight > 0], weight[weight > 0]
    # the largest error is the limit of the norm
    largest = float(error.max())
    if np.isinf(ord) or largest == 0 or np.isinf(largest):
        return largest
    # sum of powers relative to the largest error, which neither overflows nor underflows
    scale = np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)
    powers = (error / scale) ** ord
    total = powers.sum() if weight is None else weight @ powers
    with np.errstate(over="ignore"):
        if ord < 1:  # the root of the sum may overflow before it is scaled back
            return float(np.exp(np.log(scale) + np.log(total) / ord))
        return float(scale * total ** (1 / ord))


def _read_forecasts(y_true: Any, y_pred: Any, n_columns: int = 0) -> tuple[Floats, Floats]:
    """Return true values and forecasts, or the columns of limits or quantiles."""
    true = _checks.read_column("y_true", y_true)
    if not n_columns:
        pred = _checks.read_column("y_pred", y_pred)
    else:
        pred = _checks.check_data("y_pred", y_pred, ensure_2d=False, dtype=np.float64)
    _checks.check_same_length(y_true=true, y_pred=pred)
    if n_columns and pred.shape != (len(true), n_columns):
        raise ValueError(
            f"y_pred must have the shape (n_samples, {n_columns}), one column for each limit or "
            f"quantile, got {pred.shape}. np.column_stack joins columns."
        )
    return true, pred


def _average(losses: Floats, sample_weight: ArrayLike | None) -> float:
    return float(np.average(losses, weights=_checks.scale_weights(sample_weight, len(losses))[0]))


def find_winklers(y_true: Any, y_pred: Any, confidence_level: float = 0.95) -> Floats:
    """Return the interval score of each sample."""
    tail = (1 - confidence_level) / 2
    return 2 / tail * find_quantile_losses(y_true, y_pred, [tail, 1 - tail])


@validate_params(CONSTRAINTS)
def winkler_loss(
    y_true: Any, y_pred: Any, *, confidence_level: float = 0.95, sample_weight: Any = None
) -> float:
    r"""Return the mean interval score of prediction intervals, also called Winkler score.

    For the limits l and u of a central interval with nominal coverage :math:`1 - \alpha`,

    .. math:: S = u - l + \frac{2}{\alpha} \max(l - y, 0) + \frac{2}{\alpha} \max(y - u, 0) .

    The result lies in :math:`[0, \infty)`. The best value is 0. The expected score is smallest if
    the limits are the quantiles :math:`\alpha/2` and :math:`1 - \alpha/2`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True values.
    y_pred : array-like of shape (n_samples, 2)
        Lower and upper limits of the prediction intervals.
    confidence_level : float, default=0.95
        Nominal coverage of the prediction intervals, between 0 and 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights.

    Returns
    -------
    score : float
        Mean score, in the unit of `y_true`.

    Raises
    ------
    ValueError
        If `y_pred` does not have two columns, or a lower limit is above its upper limit.

    Notes
    -----
    The score is the sum of both pinball losses times :math:`2 / \alpha`. A related metric of
    `skeval.model_selection.metric_interval` is "interval_coverage", the fraction of samples within
    their limits.

    References
    ----------
    .. [1] Gneiting, T. and Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and
       estimation. JASA 102, 359-378. https://doi.org/10.1198/016214506000001437

    Examples
    --------
    >>> from skeval import metric_interval
    >>> from skeval.metrics import get_scorer
    >>> y, limits = [1.0, 2.0, 5.0] * 10, [[0, 2], [1, 3], [2, 4]] * 10
    >>> winkler = get_scorer("neg_winkler_loss", confidence_level=0.5)
    >>> round(metric_interval(winkler, y, limits).value, 4)
    3.3333
    """
    true, pred = _read_limits(y_true, y_pred)
    return _average(find_winklers(true, pred, confidence_level), sample_weight)


def _read_limits(y_true: Any, y_pred: Any) -> tuple[Floats, Floats]:
    """Return the true values and the limits of their intervals. Raise unless low <= high."""
    true, pred = _read_forecasts(y_true, y_pred, 2)
    if np.any(pred[:, 0] > pred[:, 1]):
        row = int(np.argmax(pred[:, 0] > pred[:, 1]))
        raise ValueError(
            f"y_pred must have the lower limit in the first column, got {pred[row].tolist()} at "
            f"position {row}."
        )
    return true, pred


def find_covered(y_true: Any, y_pred: Any) -> Floats:
    """Return whether each interval covers the true value, as 0 or 1."""
    low, high = np.asarray(y_pred, dtype=float).T
    return ((low <= y_true) & (y_true <= high)).astype(float)


@validate_params(CONSTRAINTS)
def interval_coverage(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Return the fraction of prediction intervals, of shape (n_samples, 2), that cover the value.

    Values equal to a limit are covered. The result lies in [0, 1] and should equal the nominal
    coverage.
    """
    true, pred = _read_limits(y_true, y_pred)
    return _average(find_covered(true, pred), sample_weight)


def read_columns(name: str, columns: NDArray[Any], true: NDArray[Any], labels: Any) -> NDArray[Any]:
    """Return the class of each column, which must include all classes of `true`."""
    classes = np.unique(true) if labels is None else _checks.check_y("labels", labels)
    if len(classes) != columns.shape[1] or len(np.unique(classes)) < len(classes):
        raise ValueError(
            f"labels must name the class of each of the {columns.shape[1]} columns of {name} "
            f"once, got {classes.tolist()[:10]}{' from y_true' if labels is None else ''}."
        )
    if not set(true.tolist()) <= set(classes.tolist()):
        raise ValueError(
            f"y_true must contain only the labels {classes.tolist()[:10]}, got other labels."
        )
    return classes


def measure_sets(of: str, y_true: Any, y_pred: Any, labels: Any = None) -> Floats:
    """Return whether each prediction set covers the true class, as 0 or 1, or its "size"."""
    true = _checks.check_y("y_true", y_true)
    sets = np.asarray(y_pred, dtype=object if isinstance(y_pred, list | tuple) else None)
    _checks.check_same_length(y_true=true, y_pred=sets)
    # a set of labels for each sample
    if sets.ndim == 1 and all(isinstance(each, Set) for each in sets):
        _checks.check_comparable(true, "y_pred", np.array([*set().union(*sets)]), of_part=True)
        rows = zip(true, sets, strict=True)
        return np.array([len(each) if of == "size" else own in each for own, each in rows], float)
    # a column for each class
    if sets.ndim != 2 or sets.dtype != bool:
        raise ValueError(
            "y_pred must be a list of sets of classes, such as [{'a'}, {'a', 'b'}], or a boolean "
            f"array with a column for each class, got {type(y_pred).__name__} of the shape "
            f"{sets.shape} and type {sets.dtype}."
        )
    covers = sets & (true[:, None] == read_columns("y_pred", sets, true, labels))
    return (sets.sum if of == "size" else covers.any)(axis=1).astype(float)


@validate_params(CONSTRAINTS)
def set_coverage(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the fraction of prediction sets that contain the true class, in [0, 1].

    `y_pred` is a list of sets of classes, or a boolean matrix with one column for each class in
    `labels`, by default the sorted classes of `y_true`. The result should equal the nominal
    coverage.
    """
    return _average(measure_sets("coverage", y_true, y_pred, labels), sample_weight)


@validate_params(CONSTRAINTS)
def mean_set_size(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the mean number of classes in a prediction set. At equal coverage, smaller is better.

    The arguments are the same as in `set_coverage`.
    """
    return _average(measure_sets("size", y_true, y_pred, labels), sample_weight)


def find_quantile_losses(y_true: Any, y_pred: Any, quantiles: Any) -> Floats:
    """Return the mean pinball loss of the quantiles of each sample."""
    residual, level = np.asarray(y_true)[:, None] - y_pred, np.asarray(quantiles, dtype=float)
    return np.asarray(np.maximum(level * residual, (level - 1) * residual).mean(axis=1))


@validate_params(CONSTRAINTS)
def mean_quantile_loss(
    y_true: Any, y_pred: Any, *, quantiles: Any, sample_weight: Any = None
) -> float:
    """Return the mean pinball loss over several quantiles, the columns of `y_pred`. 0 is best.

    For many evenly spaced quantiles, twice the loss approaches the continuous ranked probability
    score (Gneiting and Raftery 2007, https://doi.org/10.1198/016214506000001437).
    """
    levels = _checks.read_column("quantiles", quantiles)
    if levels.min() <= 0 or levels.max() >= 1:
        raise ValueError(f"quantiles must lie between 0 and 1, got {levels.tolist()}.")
    true, pred = _read_forecasts(y_true, y_pred, len(levels))
    return _average(find_quantile_losses(true, pred, levels), sample_weight)


def find_symmetric_percentages(y_true: Any, y_pred: Any) -> Floats:
    """Return the absolute error of each sample relative to the mean size of both values."""
    size = (np.abs(y_true) + np.abs(y_pred)) / 2
    return np.asarray(np.abs(y_true - y_pred) / np.where(size > 0, size, 1.0))


@validate_params(CONSTRAINTS)
def smape(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Return the symmetric mean absolute percentage error, a fraction in [0, 2]. 0 is best.

    .. math:: \frac1n \sum_i \frac{|y_i - \hat y_i|}{(|y_i| + |\hat y_i|) / 2}

    The term of a sample is 0 if both values are 0, and 2 if only one value is 0 (Hyndman and
    Koehler 2006, https://doi.org/10.1016/j.ijforecast.2006.03.001).
    """
    true, pred = _read_forecasts(y_true, y_pred)
    return _average(find_symmetric_percentages(true, pred), sample_weight)


def find_scaled_errors(y_true: Any, y_pred: Any, y_train: Any, season: int = 1) -> Floats:
    """Return the absolute error of each sample, relative to the error of the naive forecast."""
    past = np.asarray(y_train, dtype=float)
    naive = float(np.mean(np.abs(past[season:] - past[:-season]))) if len(past) > season else 0.0
    if not naive > 0:
        raise ValueError(
            f"y_train must have more than season={season} values and must not repeat with this "
            "period, because the result is divided by the error of the naive forecast, which must "
            "be above 0. mean_absolute_error is not divided."
        )
    return np.asarray(np.abs(y_true - y_pred) / naive)


@validate_params(CONSTRAINTS | {"season": [Interval(Integral, 1, None, closed="left")]})
def mase(
    y_true: Any, y_pred: Any, *, y_train: Any, season: int = 1, sample_weight: Any = None
) -> float:
    r"""Return the mean absolute scaled error. 0 is best, and the naive forecast has about 1.

    .. math:: \frac{\frac1n \sum_i |y_i - \hat y_i|}
              {\frac1{T - m} \sum_{t > m} |z_t - z_{t - m}|}

    `y_train` contains the T values z of the training period in time order, and `season` is m. The
    naive forecast is the value one season earlier (Hyndman and Koehler 2006,
    https://doi.org/10.1016/j.ijforecast.2006.03.001). True values may be 0.
    """
    true, pred = _read_forecasts(y_true, y_pred)
    past = _checks.read_column("y_train", y_train)
    return _average(find_scaled_errors(true, pred, past, season), sample_weight)


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
    own = shares[np.arange(len(codes)), codes]
    others = np.einsum("ij,ij->i", shares, shares) - own**2
    return np.maximum(others, 0.0) + (1 - own) ** 2  # rounding may give -1e-17


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "zero_one": lambda y_true, y_pred: (y_true != y_pred).astype(float),
    # subtract as floats, because differences of small unsigned integers wrap around
    "squared": lambda y_true, y_pred: np.subtract(y_true, y_pred, dtype=float) ** 2,
    "absolute": lambda y_true, y_pred: np.abs(np.subtract(y_true, y_pred, dtype=float)),
}
"""Losses of predictions with their names."""

PROBABILITY_LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "log_loss": find_log_losses,
    "brier": find_brier_losses,
}
"""Losses of class probabilities with their names. True classes are column numbers."""


_REPLICATES = 16  # number of scramblings; their spread gives the standard error
_GOAL, _TOLERANCE = 1e-9, 1e-6  # relative error of an integral: aimed at, and required
_MAX_INTERVALS = 300
_BREAKS = np.concatenate([np.arange(0, 8, 1 / 8), np.arange(8.0, 42), np.geomspace(42, 340, 30)])
"""Log-odds of the quantiles at which the integral over a distribution is divided."""
_QUANTILE_ERROR = 1e-13  # relative error of quantiles


@validate_params(
    CONSTRAINTS
    | {
        "predict": [callable],
        "target": [callable],
        "distribution": [HasMethods(["rvs"]), callable],
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

    The result lies in :math:`[0, \infty)`, or in [0, 1] for the 0-1 loss. The best value is 0.

    Parameters
    ----------
    predict : callable
        The function `f`. It maps an array of shape (n_points, n_dimensions) to an array of shape
        (n_points,) or (n_points, 1), or to a scalar. Examples are the `predict` of a fitted
        estimator and any elementwise function.
    target : callable
        The function `y`, with the same signature.
    distribution : frozen SciPy distribution or density function
        The density `p`. A continuous univariate distribution is integrated by adaptive quadrature.
        `scipy.stats.multivariate_normal` is integrated over scrambled Sobol points, and any other
        multivariate distribution over its own random draws. A function of one number `x` is the
        density at `x`. It must integrate to 1 over `support`.
    loss : {"squared", "absolute", "zero_one"} or callable, default="squared"
        The loss `L`. A function ``loss(y_true, y_pred)`` returns one number >= 0 for each point.
    support : tuple of two floats, default=(-inf, inf)
        Ends of the interval where a density function is positive. Distributions ignore it.
    n_points : int, default=65536
        Number of points in more than one dimension, ideally a power of 2. Quadrature ignores it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call. Quadrature ignores it.

    Returns
    -------
    result : Estimate
        Estimate with `value`, in the unit of the loss, and its error ``details["error"]``. In one
        dimension, the error is SciPy's estimate. The interval and the standard error are then nan,
        because the computation is deterministic. In more dimensions, the error is the half-width
        of the 95 % Student's t interval over 16 `replicates`.

    Raises
    ------
    ValueError
        If a function does not return one finite value per point, `loss` is an unknown name or is
        negative, all quantiles of the distribution are equal, or a density function does not
        integrate to 1.
    TypeError
        If `distribution` is of another kind.

    Warns
    -----
    IntegrationWarning
        If the estimated quadrature error stays above 1e-6 of the value. If the integral seems to
        diverge, `value` is nan and `error` is infinite.

    Notes
    -----
    With the prior and the density of each class `c`, the error rate of a classifier `f` is the sum
    over the classes of ``prior[c] * expected_loss(f, lambda x: c, density[c],
    loss="zero_one").value``.

    For a distribution, :func:`scipy.integrate.quad_vec` integrates over the log-odds of the
    cumulative probability, which resolves both tails. The part beyond a tail probability of 1e-147
    is extrapolated as a power law. The functions are called with 254 points at once, one for each
    piece of the line. Features narrower than the spacing of the 5,334 points of the first pass are
    missed. Losses with more than about ten jumps do not converge, which raises the warning. A
    density function is integrated by :func:`scipy.integrate.quad`, one point at a time. Narrow
    `support` if the quadrature misses the region of high density.

    References
    ----------
    .. [1] Owen, A. B. (1998). Scrambling Sobol' and Niederreiter-Xing points. Journal of Complexity
       14, 466-489. https://doi.org/10.1006/jcom.1998.0487

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
    method, fields = "quadrature", dict[str, Any](standard_error=np.nan)
    # QUADPACK for a density function of one number
    if callable(distribution) and not hasattr(distribution, "rvs"):
        ends = _checks.check_data("support", support, ensure_2d=False, ensure_all_finite=False)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise ValueError(f"support must be two numbers, low < high, got {support!r}.")
        value, error = _mean_under_function(integrand, distribution, ends)
    elif hasattr(distribution, "pdf") and hasattr(distribution, "ppf"):
        value, error = _mean_under_distribution(integrand, distribution)
    elif hasattr(distribution, "pmf") and hasattr(distribution, "ppf"):
        raise TypeError(f"distribution must be continuous, got {distribution!r}.")
    else:
        # in more dimensions: means over scramblings of a sequence of points
        root, n = _checks.root_seed(random_state), n_points // _REPLICATES
        rngs = [_checks.repetition_rng(root, r) for r in range(_REPLICATES)]
        means = [integrand(_draw_points(distribution, n, rng)).mean() for rng in rngs]
        # their spread is the error
        value, spread = float(np.mean(means)), float(stats.sem(means))
        limits = partial(normal_interval, value, spread, degrees_of_freedom=_REPLICATES - 1)
        method, error = "quasi_monte_carlo", float(stats.t.ppf(0.975, _REPLICATES - 1) * spread)
        fields = {"standard_error": spread, "replicates": np.array(means)}
        fields["limits"] = {"t": limits} if spread > _QUANTILE_ERROR * abs(value) else {}
    if not np.isfinite(value):
        value, error = np.nan, np.inf
    if method == "quadrature" and not error <= _TOLERANCE * value:
        _checks.warn_user(
            f"expected_loss did not converge: {value:.6g} +/- {error:.1g}. The loss varies too "
            "rapidly, or has no finite expectation.",
            IntegrationWarning,
        )
    fields["details"] = {"error": float(error)}
    return Estimate(name="expected loss", value=float(value), method=method, **fields)


def _mean_under_distribution(
    integrand: Callable[[Floats], Floats], distribution: Any
) -> tuple[float, float]:
    """Return the mean under a distribution with quantiles, and its error.

    With a tail probability v = 1 / (1 + exp(s)) the mean is the integral, for either tail, of the
    loss at the quantile of v times v (1 - v), from s = 0 to infinity. The integrand decreases
    exponentially at the end, or the mean does not exist. All pieces of the line are integrated in
    one call of a vector-valued quadrature, so that the functions get many points at once.
    """
    if distribution.ppf(0.25) == distribution.isf(0.25):
        raise ValueError(f"distribution must not have a single value, got {distribution!r}.")
    # quantiles in an infinite tail lose their digits in some versions of SciPy
    (low, high), v = distribution.support(), expit(-_BREAKS)
    exact = np.ones(len(_BREAKS), dtype=bool)
    for end, quantile, beyond in (
        (low, distribution.ppf, distribution.cdf),
        (high, distribution.isf, distribution.sf),
    ):
        if np.isinf(end):
            with np.errstate(all="ignore"), ignored_warnings(RuntimeWarning):
                exact &= np.abs(beyond(quantile(v)) / v - 1) <= _TOLERANCE
    breaks = _BREAKS[: np.logical_and.accumulate(exact).sum()]
    # the pieces of the line
    start, width = breaks[:-1], np.diff(breaks)
    # a loss may be infinite at the ends of the support
    low, high = np.nextafter(low, high), np.nextafter(high, low)

    def weigh(s: Floats) -> Floats:
        """Return the weighted losses in both tails, shape (2, len(s))."""
        v = expit(-s)
        with np.errstate(all="ignore"), ignored_warnings(RuntimeWarning):  # quantiles underflow
            x = np.concatenate([distribution.ppf(v), distribution.isf(v)]).clip(low, high)
        return integrand(x[:, None]).reshape(2, -1) * v * (1 - v)

    options = {"epsrel": _GOAL, "limit": _MAX_INTERVALS}
    parts, error = quad_vec(lambda t: weigh(start + t * width) * width, 0, 1, **options)
    value = float(parts.sum())
    # beyond the last piece a power law continues
    for before, end in weigh(breaks[-2:]):
        rate = np.log(before / end) / width[-1] if min(before, end) > 0 else np.inf
        rest = end / rate if rate > _TOLERANCE else np.inf
        value, error = value + rest, error + _GOAL * rest
    # points far from 0 compared with their spread have few digits left
    quartiles = distribution.ppf(0.25), distribution.isf(0.25)
    digits = np.spacing(np.max(np.abs(quartiles))) / (quartiles[1] - quartiles[0])
    return value, error + (_QUANTILE_ERROR + digits) * value


def _mean_under_function(
    integrand: Callable[[Floats], Floats], density: Callable[[float], Any], support: Floats
) -> tuple[float, float]:
    """Return the mean under a density function of one number, by QUADPACK, and its error."""
    options: dict[str, Any] = {"a": support[0], "b": support[1], "limit": _MAX_INTERVALS}

    def weight(x: float) -> float:
        value = float(np.asarray(density(x), dtype=np.float64).item())
        if not 0 <= value < np.inf:
            raise ValueError(f"distribution must return a density >= 0, got {value} at {x}.")
        return value

    def weighted(x: float) -> float:
        p = weight(x)
        # the loss does not matter where the density is 0
        return p * float(integrand(np.array([[x]]))[0]) if p else 0.0

    with ignored_warnings(IntegrationWarning):  # the error is checked instead
        # a density has the integral 1
        mass = quad(weight, **options)[0]
        if not abs(mass - 1) <= _TOLERANCE:
            raise ValueError(
                f"distribution must integrate to 1 over support={tuple(support.tolist())}, got "
                f"{mass:.6g}. Divide the density by its integral, or narrow support."
            )
        value, error = quad(weighted, **options, epsabs=0, epsrel=_GOAL)
    return value, error


def _integrand(
    predict: Callable[[Floats], Any],
    target: Callable[[Floats], Any],
    loss: Callable[[Any, Any], Any],
) -> Callable[[Floats], Floats]:
    """Return the loss at each point, as a function of the points."""

    def integrand(x: Floats) -> Floats:
        labels: list[NDArray[Any]] = []
        for name, function in (
            ("target", lambda: target(x)),
            ("predict", lambda: predict(x)),
            ("loss", lambda: np.asarray(loss(*labels), dtype=np.float64)),
        ):
            values = np.asarray(function())
            if values.size not in (1, len(x)):
                raise ValueError(f"{name} must return {len(x)} values, got shape {values.shape}.")
            labels.append(values.ravel())
        value = labels[-1]
        if not np.isfinite(value).all():
            raise ValueError("the loss must be finite at every point, got nan or inf.")
        if value.min() < 0:
            raise ValueError(f"loss must return numbers >= 0, got {value.min():g}.")
        # a scalar loss holds at every point
        return np.broadcast_to(value, len(x))

    return integrand


def _draw_points(distribution: Any, n: int, rng: Generator) -> Floats:
    """Return points of shape (n, n_dimensions), scrambled Sobol points of a normal distribution."""
    if not hasattr(distribution, "cov_object"):
        return np.reshape(distribution.rvs(n, random_state=rng), (n, -1))
    sampler = stats.qmc.MultivariateNormalQMC(distribution.mean, distribution.cov, seed=rng)
    # SciPy warns if n is not a power of 2
    with ignored_warnings(UserWarning, "The balance properties"):
        return np.asarray(sampler.random(n))
