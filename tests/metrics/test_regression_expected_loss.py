"""Norms of errors; expected loss against closed forms, with an error that mostly holds."""

import itertools

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import classification as reference
from scipy import stats
from scipy.integrate import IntegrationWarning

from skeval.metrics import error_norm, expected_loss


def within_its_error(result, expected, slack=1.0):
    return abs(result.value - expected) <= slack * result.details["error"]


def gaussian_bump(x, at, width, height):
    return height * np.exp(-(((x - at) / width) ** 2) / 2)


HARD = {
    # a rare region, several jumps, and a spike in the tail
    "tail": (lambda x: x > 3.6, stats.norm(), "zero_one", stats.norm.sf(3.6)),
    "far tail": (lambda x: x > 8, stats.norm(), "zero_one", stats.norm.sf(8)),
    "stripes": (lambda x: np.floor(8 * x) % 2, stats.uniform(), "zero_one", 0.5),
    "spike in the tail": (
        lambda x: gaussian_bump(x, 9.0, 0.05, 1e3),
        stats.expon(),
        "squared",
        5e4 * np.sqrt(np.pi) * np.exp(-9 + 0.05**2 / 4),
    ),
    # quantiles that cannot be told from the end of the support, slow tails
    "beta(.15)": (lambda x: x - 0.5, stats.beta(0.15, 0.15), "squared", 0.25 / 1.3),
    "beta(.02)": (lambda x: x - 0.5, stats.beta(0.02, 0.02), "squared", 0.25 / 1.04),
    "beta at 1": (lambda x: x, stats.beta(0.15, 0.15), "squared", 0.15 * 1.15 / (0.3 * 1.3)),
    "t(2.1)": (lambda x: x, stats.t(2.1), "squared", 21.0),
    "pareto": (lambda x: x, stats.pareto(2.2), "squared", 11.0),
    "lognorm(4)": (lambda x: x, stats.lognorm(4), "squared", np.exp(32)),
    "pole": (lambda x: x**-0.4, stats.uniform(), "squared", 5.0),
    "logarithm": (lambda x: np.log(x - 1), stats.uniform(1, 1), "squared", 2.0),
    "cauchy": (lambda x: x > 1e5, stats.cauchy(), "zero_one", stats.cauchy.sf(1e5)),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_losses_and_densities(name):
    predict, distribution, loss, expected = HARD[name]
    result = expected_loss(predict, lambda x: 0.0, distribution, loss=loss)
    assert_allclose(result.value, expected, rtol=1e-8)
    assert result.details["error"] <= 1e-6 * expected


def test_what_varies_too_finely_is_said():
    with pytest.warns(IntegrationWarning, match="did not converge"):
        result = expected_loss(
            lambda x: np.sin(1e9 * x) > 0, lambda x: True, stats.norm(), loss="zero_one"
        )
    assert within_its_error(result, 0.5)
    assert 0.01 < result.details["error"] < 0.5


@pytest.mark.parametrize(
    "distribution", [stats.cauchy(), stats.t(2), stats.pareto(1.9), stats.cauchy(5, 1e-3)]
)
def test_a_second_moment_that_is_infinite(distribution):
    with pytest.warns(IntegrationWarning, match="did not converge"):
        assert np.isnan(expected_loss(lambda x: x, lambda x: 0, distribution).value)


def test_densities_that_jump_and_densities_of_ones_own():
    heights, edges = np.array([0.2, 0.3, 0.5]), np.array([0.0, 0.2, 0.5, 1.0])
    histogram = stats.rv_histogram((heights, edges), density=True)
    shares = np.diff(edges) * heights
    expected = np.diff(edges**3) / 3 * heights / shares.sum()
    result = expected_loss(lambda x: x, lambda x: 0.0, histogram)
    assert_allclose(result.value, expected.sum(), rtol=1e-8)

    class Rising(stats.rv_continuous):
        def _pdf(self, x):
            return 2 * x

        def _cdf(self, x):
            return x**2

    result = expected_loss(lambda x: x, lambda x: 0.0, Rising(a=0, b=1)())
    assert_allclose(result.value, 0.5, rtol=1e-9)


def test_a_distribution_without_width_is_refused():
    with pytest.raises(ValueError, match="must not have a single value"):
        expected_loss(lambda x: x, lambda x: 0.0, stats.norm(1e20, 1.0))


@pytest.mark.parametrize(
    ("distribution", "error", "message"),
    [
        (stats.poisson(3), TypeError, "must be continuous"),
        ([stats.norm()], ValueError, "distribution must be"),
        ("norm", ValueError, "distribution must be"),
    ],
)
def test_bad_distribution(distribution, error, message):
    with pytest.raises(error, match=message):
        expected_loss(lambda x: x, lambda x: 0, distribution)


def test_bad_functions():
    with pytest.raises(ValueError, match=r"predict must return \d+ values, got shape \(3,\)"):
        expected_loss(lambda x: [1, 2, 3], lambda x: 0, stats.norm())
    with pytest.raises(ValueError, match="must be finite"):
        expected_loss(lambda x: np.nan, lambda x: 0, stats.norm())
    with pytest.raises(ValueError, match="predict must be"):
        expected_loss(3, lambda x: 0, stats.norm())
    with pytest.raises(ValueError, match="loss must be"):
        expected_loss(lambda x: x, lambda x: 0, stats.norm(), loss="hinge")
    with pytest.raises(ValueError, match="n_points must be"):
        expected_loss(lambda x: x, lambda x: 0, stats.norm(), n_points=3)


# A loss and a density of one's own


def pinball(y_true, y_pred):
    return np.maximum(y_pred - y_true, 3 * (y_true - y_pred))


@each_value
@pytest.mark.parametrize(
    ("distribution", "support"),
    [
        (stats.norm(1, 2), (-np.inf, np.inf)),
        (stats.expon(), (0, np.inf)),
        (stats.triang(0.3), (0, 1)),
        (stats.uniform(2, 3), (2, 5)),
    ],
)
@pytest.mark.parametrize("loss", ["squared", "absolute", pinball])
def test_a_density_function_is_its_distribution(distribution, support, loss):
    arguments = (lambda x: 0.5 * x, lambda x: x > 0.4)
    expected = expected_loss(*arguments, distribution, loss=loss)
    result = expected_loss(*arguments, distribution.pdf, loss=loss, support=support)
    assert_allclose(result.value, expected.value, rtol=1e-7)
    assert result.method == "quadrature"
    assert within_its_error(result, expected.value, slack=2.0)


ORDERS = [0, 0.5, 1, 1.7, 2, 3, np.inf]


@each_value
@pytest.mark.parametrize("ord", ORDERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_reference_implementation(ord, weighted):
    rng = np.random.default_rng(0)
    y, p = rng.normal(size=20), rng.normal(size=20)
    p[:4] = y[:4]
    w = rng.integers(0, 3, size=20).astype(float) if weighted else np.ones(20)
    expected = reference.error_norm(y.tolist(), p.tolist(), ord, w.tolist())
    assert_allclose(error_norm(y, p, ord=ord, sample_weight=w), expected, rtol=1e-12)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8),
    st.lists(st.floats(-1e3, 1e3), min_size=8, max_size=8),
)
def test_is_a_norm_from_order_one_and_falls_with_the_order(a, b):
    a, b = np.array(a), np.array(b[: len(a)])
    zero = np.zeros(len(a))
    for ord in (1, 2, 4, np.inf):
        triangle = error_norm(a, zero, ord=ord) + error_norm(b, zero, ord=ord)
        assert error_norm(a, -b, ord=ord) <= triangle * (1 + 1e-12)
    norms = [error_norm(a, zero, ord=ord) for ord in (1, 2, 4, np.inf)]
    assert all(x >= y * (1 - 1e-12) for x, y in itertools.pairwise(norms))


def test_a_norm_beyond_the_largest_float_is_infinite():
    assert error_norm(np.ones(100), np.zeros(100), ord=0.005) == np.inf  # 100 ** 200
    expected = np.exp(1000 * np.log(3) - 200 * np.log(10))  # 3 ** 1000 is no float, this is one
    assert_allclose(error_norm([1e-200] * 3, [0.0] * 3, ord=0.001), expected, rtol=1e-10)
    assert error_norm([1e308], [-1e308]) == np.inf


def test_outputs_are_errors_of_their_sample():
    y, p = np.zeros((2, 2)), np.array([[3.0, 4.0], [0.0, 12.0]])
    assert error_norm(y, p) == 13.0
    assert_allclose(error_norm(y, p, sample_weight=[1, 0]), 5.0)
    assert error_norm(np.zeros((3, 1)), [0.0, -2.0, 1.0], ord=np.inf) == 2.0
