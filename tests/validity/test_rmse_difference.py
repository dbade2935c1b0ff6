"""Coverage of the difference of two root mean squared errors, by that of the squared errors."""

import numpy as np
import pytest
from helpers.crossed import each_value
from scipy.stats import binom, t


@each_value
@pytest.mark.simulated
@pytest.mark.parametrize("n", [60, 200, 1000])
@pytest.mark.parametrize(
    ("ratio", "correlation"), [(1, 0), (1.2, 0.5), (1.5, 0), (2, 0.8), (3, 0), (3, 0.9)]
)
def test_difference_over_the_sum_of_the_roots_covers(n, ratio, correlation):
    rng, n_sets = np.random.default_rng(0), 4000
    first, other = rng.normal(size=(2, n_sets, n))
    second = ratio * (correlation * first + np.sqrt(1 - correlation**2) * other)
    squares = first**2 - second**2
    roots = np.sqrt(np.mean(first**2, axis=1)) + np.sqrt(np.mean(second**2, axis=1))
    margin = t.ppf(0.975, n - 1) * squares.std(axis=1, ddof=1) / np.sqrt(n)
    apart = np.abs(squares.mean(axis=1) / roots - (1 - ratio))
    assert binom.cdf(np.sum(apart <= margin / roots), n_sets, 0.95) > 1e-3
