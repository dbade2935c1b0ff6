"""Intervals of means against their formula."""

import pytest
from scipy.stats import norm

from skeval._inference.proportions import normal_interval


def test_normal_interval_is_clipped_to_the_range_of_the_quantity():
    z = norm.ppf(0.975)
    assert normal_interval(0.5, 0.1, 0.95) == pytest.approx((0.5 - z / 10, 0.5 + z / 10))
    assert normal_interval(0.1, 0.1, 0.95, (0, 1)) == pytest.approx((0, 0.1 + z / 10))
    assert normal_interval(0.9, 0.1, 0.95, (0, 1)) == pytest.approx((0.9 - z / 10, 1))
