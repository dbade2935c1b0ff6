"""Losses by name or as a function, and the errors about them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skeval._resampling.fit_outputs import FitOutput, mean_of_tested, resolve_loss
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


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: 0.0, "one value for each sample"),
        (lambda a, b: np.full(len(a), np.inf), "loss must be finite, got inf"),
    ],
)
def test_values_of_a_loss_are_checked(function, message):
    with pytest.raises(ValueError, match=message):
        resolve_loss(function, NUMBERS)(NUMBERS.y, NUMBERS.y)


@pytest.mark.parametrize(
    ("loss", "target", "message"),
    [
        ("no such", CLASSES, "loss must be None, a callable or one of"),
        ("brier", NUMBERS, "needs a classifier"),
        ("squared", CLASSES, "needs numbers in y"),
    ],
)
def test_bad_losses(loss, target, message):
    with pytest.raises(ValueError, match=message):
        resolve_loss(loss, target)


def test_a_mean_needs_weight():
    assert mean_of_tested(np.array([1.0, 3.0]), np.array([3.0, 1.0])) == pytest.approx(1.5)
    assert mean_of_tested(np.array([1.0, 3.0]), np.full(2, 1e308)) == pytest.approx(2)
    with pytest.raises(ValueError, match="sample_weight must be positive"):
        mean_of_tested(np.ones(2), np.zeros(2))


def test_a_loss_of_probabilities_needs_them():
    y = np.array([0, 1])
    target = Target(y, y, y)
    output = FitOutput(np.ones((1, 2), bool), np.zeros(1, bool), y)
    loss = resolve_loss("log_loss", target)
    with pytest.raises(ValueError, match="needs a probability of each class"):
        loss.pair(target, y, output)
