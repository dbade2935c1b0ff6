"""Expected loss of a predictor under a known density."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import IntegrationWarning

from skeval.metrics._losses import LOSSES
from skeval.metrics._quadrature import mean_under_density
from skeval.utils._checks import warn_user
from skeval.utils._compat import HasMethods, Interval, StrOptions, validate_params
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed
from skeval.utils._text import ShownAsText

__all__ = ["ExpectedLoss", "expected_loss"]

Floats = NDArray[np.float64]
_REPLICATES = 16  # scramblings of a quasi-random sequence, whose spread gives the error


@dataclass(frozen=True)
class ExpectedLoss(ShownAsText):
    """An integral and an estimate of its error.

    Attributes
    ----------
    value : float
        The expected loss.
    error : float
        In one dimension an estimate, from the disagreement of two rules; beyond, the half-width of
        a 95 % t interval over independent replicates.
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
        "loss": [StrOptions(set(LOSSES))],
        "n_points": [Interval(Integral, 2 * _REPLICATES, None, closed="left")],
        "random_state": ["random_state", Generator],
    }
)
def expected_loss(
    predict: Callable[[Floats], Any],
    target: Callable[[Floats], Any],
    distribution: Any,
    *,
    loss: Literal["squared", "absolute", "zero_one"] = "squared",
    n_points: int = 2**16,
    random_state: RandomStateLike = None,
) -> ExpectedLoss:
    r"""Integral of the loss of a predictor against the density of its input.

    .. math:: E = \int L\bigl(f(x), y(x)\bigr)\, p(x)\, dx

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
        With `value`, in the unit of the loss, and `error`: in one dimension an estimate, beyond,
        the half-width of a 95 % t interval over 16 replicates.

    Raises
    ------
    ValueError
        If a function does not return one finite value per point, `loss` has another name, or the
        quantiles of the distribution are one and the same number.
    TypeError
        If `distribution` is none of the kinds above.

    Warns
    -----
    IntegrationWarning
        If the estimated error of the quadrature stays above 1e-6 of the value; `value` is nan, and
        `error` infinite, where the integral seems to diverge.

    Notes
    -----
    The error rate of a classifier `f` for classes `c` with priors and densities is the sum of
    ``prior[c] * expected_loss(f, lambda x: c, density[c], loss="zero_one").value``.

    In one dimension the functions are called with many points at once, 175,680 in the first call.
    Panels of equal width between quantiles, from 2^-60 of the probability on either side, carry two
    nested Clenshaw-Curtis rules [2]_; where these disagree the panel is split, at the jump if the
    loss jumps there, until the estimated error is 1e-9 of the value or two million points are
    spent. What lies beyond the panels is extrapolated as a power law.

    The estimate was at least the true error in 794 of 800 random cases of smooth, oscillating,
    kinked and stepwise losses under normal, exponential, uniform, beta and t distributions; where
    it was not, the value was right to 5e-10 of itself. It cannot know of what no point has met: of
    100 classifiers with up to 400 changes of class at random places, 13 had one of less than 2.5e-5
    of the probability that was overlooked, and what lies in the last 2^-60 of it is never seen.

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
    """
    integrand = _integrand(predict, target, LOSSES[loss])
    if hasattr(distribution, "pdf") and hasattr(distribution, "ppf"):
        value, error, converged = mean_under_density(integrand, distribution)
        if not converged:
            warn_user(
                f"expected_loss did not converge: {value:.6g} +/- {error:.1g}; the loss varies too "
                "finely, or its expectation may not exist.",
                IntegrationWarning,
            )
        return ExpectedLoss(value, error)
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
    """Return n scrambled points of the open unit cube, shape (dimensions, n)."""
    points = _draw_points(stats.qmc.Sobol(dimensions, seed=rng), n)
    return np.clip(points, 2.0**-32, 1 - 2.0**-32).T


def _draw_points(sampler: Any, n: int) -> Floats:
    """Draw n points; where n is no power of 2 they are less even, which needs no warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The balance properties", UserWarning)
        return sampler.random(n)
