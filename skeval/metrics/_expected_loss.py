"""Expected loss of a predictor under a known density."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.random import Generator, RandomState
from numpy.typing import NDArray
from scipy import integrate, stats

from skeval.utils._compat import HasMethods, Interval, StrOptions, validate_params
from skeval.utils._random import repetition_rng, root_seed

__all__ = ["ExpectedLoss", "expected_loss"]

Floats = NDArray[np.float64]
_LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "squared": lambda f, y: np.square(f - y),
    "absolute": lambda f, y: np.abs(f - y),
    "zero_one": lambda f, y: (f != y).astype(np.float64),
}
_PANELS = 64  # by equal probability: a step of the integrand is found if it has 1/64 of the mass
_REPLICATES = 16  # scramblings of a quasi-random sequence, whose spread gives the error


@dataclass(frozen=True)
class ExpectedLoss:
    """An integral and how far it may be off.

    Attributes
    ----------
    value : float
        The expected loss.
    error : float
        In one dimension the error estimate of the quadrature; beyond, the half-width of a 95 %
        t interval over independent replicates.
    """

    value: float
    error: float

    def __str__(self) -> str:
        return f"expected loss  {self.value:.6g} +/- {self.error:.1g}"


@validate_params(
    {
        "predict": [callable],
        "target": [callable],
        "distribution": [HasMethods(["rvs"]), list, tuple],
        "loss": [StrOptions(set(_LOSSES))],
        "n_points": [Interval(Integral, 2 * _REPLICATES, None, closed="left")],
        "random_state": ["random_state", Generator],
    },
    prefer_skip_nested_validation=True,
)
def expected_loss(
    predict: Callable[[Floats], Any],
    target: Callable[[Floats], Any],
    distribution: Any,
    *,
    loss: Literal["squared", "absolute", "zero_one"] = "squared",
    n_points: int = 2**16,
    random_state: int | RandomState | Generator | None = None,
) -> ExpectedLoss:
    r"""Integral of the loss of a predictor against the density of its input.

    .. math:: E = \int L\big(f(x), y(x)\big)\, p(x)\, dx

    In :math:`[0, \infty)`, for the 0-1 loss in [0, 1]; 0 is best.

    Parameters
    ----------
    predict : callable
        `f`, from an array of shape (n_points, n_dimensions) to (n_points,), or to (n_points, 1) or
        a scalar, as the `predict` of a fitted estimator or any function that acts on elements.
    target : callable
        `y`, likewise.
    distribution : frozen SciPy distribution, or list of them
        `p`. A continuous distribution of one variable is integrated by adaptive quadrature. A list
        of them is their product. That and `scipy.stats.multivariate_normal` are integrated over
        scrambled Sobol points, any other multivariate distribution over its own random draws.
    loss : {"squared", "absolute", "zero_one"}, default="squared"
        `L`.
    n_points : int, default=65536
        Points in more than one dimension; best a power of 2. Quadrature does not use it.
    random_state : int, RandomState, Generator or None, default=None
        Draws the scrambling. Quadrature does not use it.

    Returns
    -------
    result : ExpectedLoss
        With `value`, in the unit of the loss, and `error`: the error estimate of the quadrature,
        or the half-width of a 95 % t interval over 16 replicates.

    Raises
    ------
    ValueError
        If a function does not return one finite value per point, or `loss` has another name.
    TypeError
        If `distribution` is none of the kinds above.

    Warns
    -----
    IntegrationWarning
        If the quadrature does not converge, as where the expectation does not exist.

    Notes
    -----
    The error rate of a classifier `f` for classes `c` with priors and densities is the sum of
    ``prior[c] * expected_loss(f, lambda x: c, density[c], loss="zero_one").value``. Quadrature
    cannot see a region with less than about 1/1000 of the probability in which the integrand jumps.

    References
    ----------
    .. [1] A. B. Owen (1998), Scrambling Sobol' and Niederreiter-Xing points, Journal of Complexity
       14:466-489, https://doi.org/10.1006/jcom.1998.0487

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from skeval.metrics import expected_loss
    >>> result = expected_loss(lambda x: x, lambda x: 0.0, norm(loc=1, scale=2))
    >>> print(f"{result.value:.6f}")  # the second moment, 1 + 4
    5.000000
    """
    integrand = _integrand(predict, target, _LOSSES[loss])
    if hasattr(distribution, "pdf") and hasattr(distribution, "ppf"):
        return _quadrature(integrand, distribution)
    sampler = _sampler(distribution)
    root = root_seed(random_state)
    means = [
        integrand(sampler(n_points // _REPLICATES, repetition_rng(root, r))).mean()
        for r in range(_REPLICATES)
    ]
    half_width = stats.t.ppf(0.975, _REPLICATES - 1) * stats.sem(means)
    return ExpectedLoss(float(np.mean(means)), float(half_width))


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
        value = loss(one_per_point(predict, "predict", x), one_per_point(target, "target", x))
        if not np.isfinite(value).all():
            raise ValueError("the loss must be finite at every point, got nan or inf.")
        return np.broadcast_to(value, len(x))

    return integrand


def _quadrature(integrand: Callable[[Floats], Floats], distribution: Any) -> ExpectedLoss:
    """Adaptive quadrature between the quantiles j / 64, so that no mass is overlooked."""
    edges = distribution.ppf(np.linspace(0, 1, _PANELS + 1))
    panels = [
        integrate.quad(
            lambda x: integrand(np.array([[x]]))[0] * distribution.pdf(x),
            low,
            high,
            epsabs=1e-11,
            epsrel=1e-10,
            limit=200,
            full_output=1,
        )
        for low, high in zip(edges[:-1], edges[1:], strict=True)
        if low < high
    ]
    value, error = (float(sum(panel[i] for panel in panels)) for i in (0, 1))
    if error > 1e-6 * max(1.0, abs(value)):
        warnings.warn(
            f"expected_loss did not converge: {value:.6g} +/- {error:.1g}.",
            integrate.IntegrationWarning,
            stacklevel=3,
        )
    return ExpectedLoss(value, error)


def _sampler(distribution: Any) -> Callable[[int, Generator], Floats]:
    """Return a function (n, generator) -> points of shape (n, n_dimensions)."""
    if isinstance(distribution, list | tuple):
        if not distribution or not all(hasattr(d, "ppf") for d in distribution):
            raise TypeError("distribution must list frozen univariate distributions.")
        return lambda n, rng: np.column_stack(
            [d.ppf(u) for d, u in zip(distribution, _sobol(n, len(distribution), rng), strict=True)]
        )
    if hasattr(distribution, "cov_object"):
        root = distribution.cov_object.colorize
        return lambda n, rng: (
            distribution.mean
            + root(stats.norm.ppf(np.transpose(_sobol(n, len(distribution.mean), rng))))
        )
    if hasattr(distribution, "ppf") or hasattr(distribution, "pmf"):
        raise TypeError(f"distribution must be continuous, got {distribution!r}.")
    return lambda n, rng: np.reshape(distribution.rvs(n, random_state=rng), (n, -1))


def _sobol(n: int, dimensions: int, rng: Generator) -> Floats:
    """Return n scrambled points of (0, 1), shape (dimensions, n)."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The balance properties", UserWarning)
        points = stats.qmc.Sobol(dimensions, seed=rng).random(n)
    return np.clip(points, 2.0**-32, 1 - 2.0**-32).T
