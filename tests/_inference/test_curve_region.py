"""Limits of curves from the counts of two classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import curves as reference
from scipy.stats import beta, norm

from skeval._inference.areas import (
    Steps,
    _draw_curve,
    _smooth_curve,
    curve_distances,
    curve_limits,
)
from skeval._inference.proportions import binomial_limits


def random_steps(seed, n=(9, 6), ties=False):
    rng = np.random.default_rng(seed)
    scores = [rng.normal(size=n[0]), rng.normal(size=n[1]) + 1]
    scores = [s.round(0) if ties else s for s in scores]
    cuts = np.concatenate([[np.inf], np.unique(np.concatenate(scores))[::-1]])
    x, y = (np.array([np.mean(s >= t) for t in cuts]) for s in scores)
    return Steps(x, y, float(n[0]), float(n[1]))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("size", [3.7, 30.0, 1e6])
def test_limits_of_rates_are_quantiles_of_beta_laws(exact, size):
    own, other = (0.0, 1.0) if exact else (0.5, 0.5)
    rates = np.array([0.0, 1e-5, 0.1, 0.5, 0.93, 1.0])
    low, high = binomial_limits(rates, size, norm.ppf(0.975), exact=exact)
    for rate, lower, upper in zip(rates, low, high, strict=True):
        hits, misses = rate * size, size - rate * size
        lowest = beta.ppf(0.025, hits + own, misses + other) if rate else 0
        highest = beta.isf(0.025, hits + other, misses + own) if rate < 1 else 1
        assert lower == pytest.approx(min(lowest, rate), rel=1e-9)
        assert upper == pytest.approx(max(highest, rate), rel=1e-9)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@given(seed=st.integers(0, 10**6), z=st.floats(0.1, 4))
@settings(max_examples=15)
def test_limits_of_curves_are_those_of_their_definition(exact, ties, seed, z):
    steps = random_steps(seed, ties=ties)
    at = np.array([0.0, 0.03, 0.25, 1 / 3, 0.8, 1.0])
    points = list(zip(steps.x, steps.y, strict=True))
    sizes = steps.n_x, steps.n_y
    expected = [reference.curve_limits(points, sizes, x, z, exact) for x in at]
    assert_allclose(np.transpose(curve_limits(steps, at, z, exact)), expected, atol=1e-9)


def test_the_distance_is_that_to_the_next_point():
    class Drawn:
        """A generator that draws the expected counts of the first class, all last of the other."""

        def multinomial(self, size, share):
            counts = np.floor(size * np.cumsum(share)).astype(int)
            return np.diff(counts, prepend=0)

    steps = random_steps(3)
    true = _smooth_curve(steps)
    sizes = np.array([9, 6])
    drawn = _draw_curve(true, sizes, Drawn())
    expected = reference.distance(true.T, drawn.T, sizes)
    assert_allclose(curve_distances(steps, [Drawn()]), [expected], rtol=1e-3)


def test_distances_do_not_depend_on_the_number_of_generators():
    steps = random_steps(1)
    rngs = [np.random.default_rng(i) for i in range(30)]
    first = curve_distances(steps, rngs[:11])
    again = curve_distances(steps, [np.random.default_rng(i) for i in range(30)])
    assert_allclose(again[:11], first, rtol=0)
    assert np.ptp(again) > 0.5


def test_curves_drawn_from_the_curve_lie_as_far_as_the_quantile_says():
    """The distances of one curve are those of curves drawn anew: they are a pivot."""
    of_few = np.quantile(
        curve_distances(random_steps(0), map(np.random.default_rng, range(300))), 0.95
    )
    of_many = np.quantile(
        curve_distances(random_steps(0, (90, 60)), map(np.random.default_rng, range(300))), 0.95
    )
    assert 1.8 < of_few < of_many < 3.2
