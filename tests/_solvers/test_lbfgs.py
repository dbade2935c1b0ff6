"""The batched L-BFGS follows SciPy's L-BFGS-B without bounds, iterate by iterate."""

import numpy as np
import pytest
from helpers.crossed import each_value
from scipy.optimize import minimize

from skeval._solvers.lbfgs import (
    CONVERGED,
    MAX_ITER,
    UNFINISHED,
    LineSearches,
    minimize_each,
    next_step,
)


class Functions:
    """Functions of P numbers, (B, P) at once; each is also a function for SciPy."""

    def __init__(self, seeds, P):
        rngs = [np.random.default_rng(seed) for seed in seeds]
        self.seeds, self.P = seeds, P
        self.a = np.array([rng.normal(size=P) for rng in rngs])
        self.b = np.array([10.0 ** rng.uniform(-2, 2, size=P) for rng in rngs])

    def take(self, problems):
        return type(self)(np.array(self.seeds)[problems], self.P)

    def is_flat(self, g, tol):
        return np.abs(g).max(axis=1) <= tol


class Quartics(Functions):
    """Convex, with curvatures of very different sizes."""

    def __call__(self, x):
        d = x - self.a
        value = np.sum(self.b * d**2 + d**4, axis=1)
        return value, 2 * self.b * d + 4 * d**3


class Valleys(Functions):
    """Rosenbrock's bent valleys."""

    def __call__(self, x):
        z = x + self.a
        bend = z[:, 1:] - z[:, :-1] ** 2
        value = np.sum(10 * bend**2 + (1 - z[:, :-1]) ** 2, axis=1)
        g = np.zeros_like(x)
        g[:, 1:] += 20 * bend
        g[:, :-1] += -40 * bend * z[:, :-1] - 2 * (1 - z[:, :-1])
        return value, g


class Waves(Functions):
    """Many local minima and negative curvature, which searches cross."""

    def __call__(self, x):
        d = x - self.a
        value = np.sum(0.1 * d**2 + self.b * np.cos(3 * d), axis=1)
        return value, 0.2 * d - 3 * self.b * np.sin(3 * d)


def scipy_minimum(make, seed, P, tol, max_iter):
    one = make([seed], P)

    def function(x):
        value, g = one(x[None])
        return value[0], g[0]

    options = {"maxiter": max_iter, "maxls": 50, "gtol": tol, "ftol": 64 * np.finfo(float).eps}
    return minimize(function, np.zeros(P), jac=True, method="L-BFGS-B", options=options)


@each_value
@pytest.mark.parametrize("make", [Quartics, Valleys, Waves])
@pytest.mark.parametrize("max_iter", [1, 2, 5, 12])
def test_iterates_of_scipy(make, max_iter):
    """Of problems that converge fast the later iterations test the stopping rules."""
    seeds, P = list(range(40)), 5
    minima = minimize_each(make(seeds, P), len(seeds), P, tol=1e-4, max_iter=max_iter)
    for seed, x, n_iter, status in zip(
        seeds, minima.coef, minima.n_iter, minima.status, strict=True
    ):
        expected = scipy_minimum(make, seed, P, 1e-4, max_iter)
        assert (n_iter, status) == (expected.nit, expected.status)
        np.testing.assert_allclose(x, expected.x, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("make", [Quartics, Valleys])
def test_minima_of_scipy(make):
    """After more iterations than corrections are kept; the last ones depend on rounding errors."""
    seeds, P = list(range(20)), 12
    minima = minimize_each(make(seeds, P), len(seeds), P, tol=1e-6, max_iter=1000)
    n_iter = []
    for seed, x in zip(seeds, minima.coef, strict=True):
        expected = scipy_minimum(make, seed, P, 1e-6, 1000)
        n_iter.append(expected.nit)
        np.testing.assert_allclose(x, expected.x, atol=1e-4)
    assert np.max(n_iter) > 15
    assert (minima.status == CONVERGED).all()
    assert np.mean(minima.n_iter == n_iter) > 0.5


def test_a_problem_does_not_depend_on_the_others():
    seeds = list(range(30))
    together = minimize_each(Valleys(seeds, 4), 30, 4, tol=1e-5, max_iter=40)
    for part in ([3], [5, 17, 29]):
        alone = minimize_each(Valleys(part, 4), len(part), 4, tol=1e-5, max_iter=40)
        np.testing.assert_allclose(alone.coef, together.coef[part], rtol=1e-6)
        np.testing.assert_array_equal(alone.n_iter, together.n_iter[part])


def test_a_start_that_satisfies_the_tolerance():
    minima = minimize_each(Quartics([0, 1], 3), 2, 3, tol=1e9, max_iter=10)
    np.testing.assert_array_equal(minima.coef, 0.0)
    assert minima.n_iter.tolist() == [0, 0]
    assert minima.status.tolist() == [CONVERGED] * 2


def test_the_limit_of_iterations_comes_before_convergence():
    expected = scipy_minimum(Quartics, 0, 2, 1e-4, 1000)
    minima = minimize_each(Quartics([0], 2), 1, 2, tol=1e-4, max_iter=expected.nit)
    assert minima.status.tolist() == [MAX_ITER]
    assert scipy_minimum(Quartics, 0, 2, 1e-4, expected.nit).status == 1


class WrongGradients(Quartics):
    """No step decreases the function."""

    def __call__(self, x):
        value, g = super().__call__(x)
        return value, -g


def test_a_search_without_a_decrease():
    minima = minimize_each(WrongGradients([0, 1], 3), 2, 3, tol=1e-6, max_iter=20)
    for seed in (0, 1):
        expected = scipy_minimum(WrongGradients, seed, 3, 1e-6, 20)
        assert (minima.n_iter[seed], minima.status[seed]) == (expected.nit, expected.status)
        np.testing.assert_allclose(minima.coef[seed], expected.x, atol=1e-12)


class Undefined(Quartics):
    def __call__(self, x):
        value, g = super().__call__(x)
        return np.where(np.array(self.seeds) == 1, np.nan, value), g


def test_a_value_that_is_not_finite_spoils_no_other_problem():
    minima = minimize_each(Undefined([0, 1, 2], 3), 3, 3, tol=1e-6, max_iter=50)
    assert minima.status.tolist() == [CONVERGED, UNFINISHED, CONVERGED]


def cubic(coefficients):
    p = np.polynomial.Polynomial(coefficients)
    return lambda t: (t, p(t), p.deriv()(t))


@pytest.mark.parametrize(
    ("coefficients", "trial", "minimum"),
    [
        ([0.0, -3.0, 0.0, 1.0], 1.9, 1.0),  # a higher value
        ([0.0, -3.0, 0.0, 1.0], 1.2, 1.0),  # a slope of the other sign
        ([0.0, -3.0, 0.0, 1.0], 0.8, 1.0),  # a slope that shrinks
    ],
)
def test_the_cubic_is_exact_for_cubics(coefficients, trial, minimum):
    """Only where the rule takes the cubic: in each case here it is the nearer or farther one."""
    at = cubic(coefficients)
    best, point = ([np.array([v]) for v in at(t)] for t in (0.0, trial))
    no, low, high = np.array([False]), np.array([0.0]), np.array([9.0])
    with np.errstate(all="ignore"):
        step = next_step(best, best, point, no, low, high)
    secant = trial + point[2][0] / (point[2][0] - best[2][0]) * (0.0 - trial)
    quadratic = -3.0 / ((0.0 - point[1][0]) / trial - 3.0) / 2.0 * trial
    if point[1][0] > 0.0:
        expected = minimum if minimum <= quadratic else (minimum + quadratic) / 2.0
    else:
        expected = max((minimum, secant), key=lambda t: abs(t - trial))
    np.testing.assert_allclose(step, expected, rtol=1e-12)


def test_a_step_in_the_wolfe_conditions_ends_a_search():
    search = LineSearches.begin(np.zeros(3), np.full(3, -1.0), np.ones(3))
    done = search.advance(np.array([-0.4, -1e-4, -0.4]), np.array([0.1, 0.1, -0.95]))
    assert done.tolist() == [True, False, False]
    assert search.step[1] < 1.0 < search.step[2]
