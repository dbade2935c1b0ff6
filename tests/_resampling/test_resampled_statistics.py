"""Statistics of fixed predictions on bootstrap resamples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from skeval._resampling.sampling_units import (
    drawing_units,
    leave_one_out_values,
    mean_held,
    values_of_draws,
    values_or_nan,
    warn_of_undefined,
)
from skeval.utils._checks import repetition_rng, root_seed

VALUES = np.random.default_rng(0).normal(size=12)
UNITS = drawing_units(12, None, None)


def test_statistics_of_the_same_resamples():
    root = root_seed(0)
    values = values_or_nan([lambda rows: VALUES[rows].mean(), len], UNITS, 150, root, None)
    means = [VALUES @ UNITS.draw(repetition_rng(root, r)) / 12 for r in range(150)]
    assert_allclose(values[0], means)
    assert_array_equal(values[1], 12)
    again = values_of_draws(lambda counts: VALUES @ counts[:, None] / 12, UNITS, 150, root, 2)
    assert_allclose(again[0], means)


def test_undefined_values_are_nan_and_counted():
    def undefined_without_the_first(rows):
        if 0 not in rows:
            raise ValueError
        return 1.0

    values = values_or_nan([undefined_without_the_first], UNITS, 50, root_seed(0), None)[0]
    n_undefined = int(np.isnan(values).sum())
    assert 0 < n_undefined < 50
    with pytest.warns(UndefinedMetricWarning, match=f"on {n_undefined} of 50 resamples"):
        warn_of_undefined(values)
    with pytest.warns(UndefinedMetricWarning, match="for 1 of 12"):
        (defined,) = leave_one_out_values(undefined_without_the_first, UNITS)
    assert len(defined) == 11


def test_weighted_means_of_resamples():
    counts, weight = np.array([2, 0, 1]), np.array([1.0, 5.0, 2.0])
    assert_allclose(mean_held(np.array([[1.0, 9.0, 3.0]]), weight, counts), [8 / 4])
    assert np.isnan(mean_held(np.array([[1.0, 9.0, 3.0]]), None, np.zeros(3, int)))
