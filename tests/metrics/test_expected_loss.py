"""Expected loss against closed forms, with an error bar that holds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import IntegrationWarning

from skeval.metrics import expected_loss


def within_its_error(result, expected, slack=1.0):
    return abs(result.value - expected) <= slack * result.error


@pytest.mark.parametrize(
    ("distribution", "expected"),
    [
        (stats.norm(1, 2), 5.0),  # mean^2 + variance
        (stats.uniform(), 1 / 3),
        (stats.expon(), 2.0),
        (stats.t(df=3), 3.0),
        (stats.beta(0.5, 0.5), 0.375),  # density infinite at both ends
    ],
)
def test_second_moment(distribution, expected):
    result = expected_loss(lambda x: x, lambda x: 0.0, distribution)
    assert within_its_error(result, expected, slack=2.0)
    assert result.error < 1e-8


def test_gaussian_squared_loss_of_a_line():
    # f - y = (a - b) x + c under N(m, s^2): ((a - b) m + c)^2 + (a - b)^2 s^2.
    result = expected_loss(lambda x: 2 * x + 1, lambda x: 0.5 * x, stats.norm(1, 0.7))
    assert_allclose(result.value, (1.5 + 1) ** 2 + 1.5**2 * 0.49, rtol=1e-10)


def test_absolute_loss_has_a_kink():
    result = expected_loss(lambda x: x, lambda x: 0.3, stats.norm(), loss="absolute")
    expected = 2 * stats.norm.pdf(0.3) + 0.3 * (1 - 2 * stats.norm.sf(0.3))
    assert_allclose(result.value, expected, rtol=1e-9)


@pytest.mark.parametrize("threshold", [0.0, 0.1, -1.234, 2.7])
def test_zero_one_loss_has_a_jump(threshold):
    result = expected_loss(lambda x: x > threshold, lambda x: x > 0, stats.norm(), loss="zero_one")
    expected = abs(stats.norm.cdf(threshold) - 0.5)
    assert within_its_error(result, expected)
    assert result.error < 1e-13


@pytest.mark.parametrize("seed", range(5))
def test_a_jump_under_squared_loss_is_within_its_error(seed):
    threshold = np.random.default_rng(seed).normal()
    result = expected_loss(lambda x: 7.0 * (x > threshold), lambda x: 0, stats.norm())
    assert within_its_error(result, 49 * stats.norm.sf(threshold))
    assert result.error < 1e-2


def test_a_set_of_several_pieces():
    result = expected_loss(
        lambda x: np.sin(5 * x) > 0, lambda x: True, stats.expon(), loss="zero_one"
    )
    # sin(5 x) < 0 on (pi/5, 2 pi/5) and every 2 pi/5 further: a geometric sum.
    q = np.exp(-np.pi / 5)
    # The tail beyond the last 1/4096 is taken to be in one piece.
    assert abs(result.value - (q - q**2) / (1 - q**2)) < 1 / 4096


def test_bayes_error_of_two_gaussians():
    def rule(x):
        return np.where(x > 0, "b", "a")

    errors = [
        expected_loss(rule, lambda x, c=c: c, stats.norm(mean, 1), loss="zero_one").value
        for c, mean in (("a", -1), ("b", 1))
    ]
    assert_allclose(np.mean(errors), stats.norm.cdf(-1), atol=1e-9)


def test_bayes_error_of_two_gaussians_in_the_plane():
    covariance = np.array([[1.0, 0.4], [0.4, 2.0]])
    mean = np.array([1.0, -0.5])
    direction = np.linalg.solve(covariance, mean)
    result = expected_loss(
        lambda X: X @ direction > 0,
        lambda X: True,
        stats.multivariate_normal(mean, covariance),
        loss="zero_one",
        random_state=0,
    )
    expected = stats.norm.cdf(-np.sqrt(mean @ direction))
    assert within_its_error(result, expected, slack=2.0)
    assert result.error < 2e-3


KINDS = [
    stats.multivariate_normal(
        [1.0, 0.0], [[1.0, 0.5], [0.5, 2.0]]
    ),  # (1^2 + 1) + 4 * 2 + 2 * 2 * 0.5
    [stats.norm(1, 1), stats.norm(0, np.sqrt(2.5))],  # 2 + 4 * 2.5
    stats.multivariate_t([1.0, 0.0], [[0.75, 0.375], [0.375, 1.5]], df=8),  # the same covariance
]


@pytest.mark.parametrize("distribution", KINDS, ids=["normal", "product", "t"])
def test_error_bar_is_honest_in_two_dimensions(distribution):
    """A 95 % half-width misses in 5 % of 60 runs: 8 or more misses has probability 0.01."""
    misses = 0
    for seed in range(60):
        result = expected_loss(
            lambda X: X @ [1.0, 2.0],
            lambda X: 0.0,
            distribution,
            n_points=1024,
            random_state=seed,
        )
        misses += not within_its_error(result, 12.0)
    assert stats.binom.sf(misses - 1, 60, 0.05) > 0.005


def test_singular_covariance_and_many_dimensions():
    line = stats.multivariate_normal([0, 0], [[1, 1], [1, 1]], allow_singular=True)
    result = expected_loss(lambda X: X[:, 0] - X[:, 1], lambda X: 0, line, random_state=0)
    assert_allclose(result.value, 0, atol=1e-9)
    ten = stats.multivariate_normal(np.zeros(10))
    result = expected_loss(lambda X: X.sum(axis=1), lambda X: 0, ten, random_state=0)
    assert within_its_error(result, 10.0, slack=3.0)


def test_a_dirichlet_is_drawn():
    simplex = stats.dirichlet([2.0, 3.0, 5.0])
    result = expected_loss(lambda X: X[:, 0], lambda X: 0.0, simplex, random_state=1)
    assert within_its_error(result, 2 * 3 / (10 * 11), slack=2.0)  # E x^2 = a (a+1) / (s (s+1))


def test_functions_may_return_scalars_columns_or_rows():
    for predict in (lambda x: 2.0, lambda x: x * 0 + 2, lambda x: np.full(len(x), 2.0)):
        assert_allclose(expected_loss(predict, lambda x: 0, stats.norm()).value, 4, rtol=1e-9)


def test_seeds():
    def run(seed):
        return expected_loss(
            lambda X: X[:, 0], lambda X: 0, [stats.norm()] * 2, n_points=64, random_state=seed
        ).value

    assert run(3) == run(3)
    assert run(3) != run(4)
    assert run(None) != run(None)


def test_no_expectation_is_said():
    with pytest.warns(IntegrationWarning, match="did not converge"):
        result = expected_loss(lambda x: x, lambda x: 0, stats.cauchy())
    assert np.isnan(result.value)
    assert result.error == np.inf


def test_readable():
    assert str(expected_loss(lambda x: 1, lambda x: 0, stats.norm())).startswith(
        "expected loss  1 +/- "
    )


@pytest.mark.parametrize(
    ("distribution", "error", "message"),
    [
        (stats.poisson(3), TypeError, "must be continuous"),
        ([], TypeError, "must list frozen univariate"),
        ([stats.multivariate_normal([0, 0])], TypeError, "must list frozen univariate"),
        ("norm", ValueError, "'distribution' parameter"),
    ],
)
def test_bad_distribution(distribution, error, message):
    with pytest.raises(error, match=message):
        expected_loss(lambda x: x, lambda x: 0, distribution)


def test_bad_functions():
    with pytest.raises(ValueError, match=r"predict must return 1 values, got shape \(3,\)"):
        expected_loss(lambda x: [1, 2, 3], lambda x: 0, stats.norm())
    with pytest.raises(ValueError, match="must be finite"):
        expected_loss(lambda x: np.nan, lambda x: 0, stats.norm())
    with pytest.raises(ValueError, match="'predict' parameter"):
        expected_loss(3, lambda x: 0, stats.norm())
    with pytest.raises(ValueError, match="'loss' parameter"):
        expected_loss(lambda x: x, lambda x: 0, stats.norm(), loss="hinge")
    with pytest.raises(ValueError, match="'n_points' parameter"):
        expected_loss(lambda x: x, lambda x: 0, stats.norm(), n_points=3)
