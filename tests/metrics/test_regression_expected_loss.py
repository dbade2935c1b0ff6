"""Expected loss against closed forms, with an estimate of its error that mostly holds."""

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import IntegrationWarning

from skeval.metrics import expected_loss


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


def random_case(rng):
    """Return a loss whose mean is known: places, scales and heights at random."""
    scale, shift = 10 ** rng.uniform(-4, 4), 10 ** rng.uniform(-3, 3) * rng.choice([-1, 1])
    height, at = 10 ** rng.uniform(-3, 3), rng.normal()
    edges = np.sort(rng.random(int(rng.integers(1, 6))))
    values = height * rng.normal(size=len(edges) + 1)
    cells = np.diff(np.concatenate([[0], edges, [1]]))
    where, kind = shift + at * scale, int(rng.integers(4))
    if kind == 0:
        return (
            lambda x: height * (x - shift) / scale + at,
            stats.norm(shift, scale),
            (height**2 + at**2),
            "squared",
        )
    if kind == 1:
        above = stats.norm.sf((where - shift) / scale)
        return (
            lambda x: height * (x > where),
            stats.norm(shift, scale),
            height**2 * above,
            "squared",
        )
    if kind == 2:
        return (
            lambda x: x - (shift + scale * abs(at)),
            stats.expon(shift, scale),
            scale * (abs(at) - 1 + 2 * np.exp(-abs(at))),
            "absolute",
        )
    return (
        lambda x: values[np.searchsorted(edges, x[:, 0])],
        stats.uniform(),
        float(cells @ values**2),
        "squared",
    )


@pytest.mark.simulated
def test_the_estimated_error_holds_in_most_cases():
    """Losses of random scale and place, jumps at random places: 97 % within the estimate."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(8):
        predict, distribution, expected, loss = random_case(rng)
        result = expected_loss(predict, lambda x: 0.0, distribution, loss=loss)
        assert_allclose(result.value, expected, rtol=1e-8)
        held += within_its_error(result, expected)
    assert stats.binom.cdf(held, 8, 0.97) > 0.005


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
    with pytest.raises(ValueError, match="must not be a single point"):
        expected_loss(lambda x: x, lambda x: 0.0, stats.norm(1e20, 1.0))


KINDS = [
    stats.multivariate_normal(
        [1.0, 0.0], [[1.0, 0.5], [0.5, 2.0]]
    ),  # (1^2 + 1) + 4 * 2 + 2 * 2 * 0.5
    stats.multivariate_t([1.0, 0.0], [[0.75, 0.375], [0.375, 1.5]], df=8),  # the same covariance
]


@pytest.mark.simulated
@pytest.mark.parametrize("distribution", KINDS, ids=["normal", "t"])
def test_error_bar_is_honest_in_two_dimensions(distribution):
    """A 95 % half-width misses in 5 % of the runs."""
    misses = 0
    for seed in range(35):
        result = expected_loss(
            lambda X: X @ [1.0, 2.0], lambda X: 0.0, distribution, n_points=1024, random_state=seed
        )
        misses += not within_its_error(result, 12.0)
    assert stats.binom.sf(misses - 1, 35, 0.05) > 0.005


@pytest.mark.parametrize(
    ("distribution", "error", "message"),
    [
        (stats.poisson(3), TypeError, "must be continuous"),
        ([stats.norm()], ValueError, "'distribution' parameter"),
        ("norm", ValueError, "'distribution' parameter"),
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
    with pytest.raises(ValueError, match="'predict' parameter"):
        expected_loss(3, lambda x: 0, stats.norm())
    with pytest.raises(ValueError, match="'loss' parameter"):
        expected_loss(lambda x: x, lambda x: 0, stats.norm(), loss="hinge")
    with pytest.raises(ValueError, match="'n_points' parameter"):
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
