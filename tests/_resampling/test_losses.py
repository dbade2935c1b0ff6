"""Losses by name or as a function, and the errors about them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skeval._resampling.fit_outputs import mean_of_tested, resolve_loss
from skeval._resampling.sampling_units import Target

CLASSES = Target(np.array(["a", "b", "b"]), np.array(["a", "b"]), np.array([0, 1, 1]))
NUMBERS = Target(np.array([1.0, 2.0, 4.0]), None, np.array([1.0, 2.0, 4.0]))


def test_defaults_depend_on_the_target():
    assert resolve_loss(None, CLASSES).name == "zero_one"
    assert resolve_loss(None, NUMBERS).name == "squared"


def test_a_function_that_is_named_like_ours_is_not_ours():
    def squared(y_true, y_pred):
        return 2.0 * (y_true - y_pred) ** 2

    loss = resolve_loss(squared, NUMBERS)
    assert loss.name == "squared()"
    assert_allclose(loss(NUMBERS.y, NUMBERS.y + 1), [2, 2, 2])


def test_a_mean_needs_weight():
    assert mean_of_tested(np.array([1.0, 3.0]), np.array([3.0, 1.0])) == pytest.approx(1.5)
    assert mean_of_tested(np.array([1.0, 3.0]), np.full(2, 1e308)) == pytest.approx(2)
    with pytest.raises(ValueError, match="sample_weight must be positive"):
        mean_of_tested(np.ones(2), np.zeros(2))
