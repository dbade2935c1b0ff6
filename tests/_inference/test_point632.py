"""How AE, BI and gamma combine, against Efron & Tibshirani (1997) in twelve lines of NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.bootstrap import point632, point632plus

from skeval._inference.errors import METHODS, combine

unit = st.floats(0, 1)


@given(unit, unit, unit)
def test_values(apparent, oob, gamma):
    assert combine("oob", apparent, oob, gamma).error == oob
    assert combine(".632", apparent, oob, gamma).error == pytest.approx(point632(apparent, oob))
    plus = combine(".632+", apparent, oob, gamma)
    assert plus.error == pytest.approx(point632plus(apparent, oob, gamma))
    assert 0 <= plus.relative_overfitting <= 1
    assert 0.632 <= plus.weight <= 1 + 1e-15


@pytest.mark.parametrize(
    ("apparent", "oob", "gamma", "overfitting", "error"),
    [
        (0.0, 0.3, 0.5, 0.6, 0.3 * 0.632 / (1 - 0.368 * 0.6)),  # by hand
        (0.2, 0.1, 0.5, 0.0, 0.368 * 0.2 + 0.632 * 0.1),  # BI < AE: R = 0
        (0.1, 0.6, 0.5, 1.0, 0.5),  # BI > gamma: R = 1, nothing but gamma
        (0.4, 0.5, 0.3, 0.0, 0.368 * 0.4 + 0.632 * 0.3),  # gamma < AE: R = 0, BI' = gamma
        (0.3, 0.3, 0.3, 0.0, 0.3),
    ],
)
def test_relative_overfitting(apparent, oob, gamma, overfitting, error):
    plus = combine(".632+", apparent, oob, gamma)
    assert plus.relative_overfitting == pytest.approx(overfitting)
    assert plus.error == pytest.approx(error)


def test_a_tiny_gap():
    plus = combine(".632+", 0.0, 1e-200, 2e-200)
    assert plus.relative_overfitting == 0.5
    assert np.isfinite(plus.gradient).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "point", [(0.1, 0.3, 0.5), (0.3, 0.1, 0.5), (0.1, 0.6, 0.5), (0.4, 0.5, 0.3), (0.4, 0.2, 0.3)]
)
def test_gradient_is_the_derivative(method, point):
    def value(shifted):
        return combine(method, *shifted).error

    step = 1e-6
    numeric = [
        (value(np.add(point, step * axis)) - value(np.subtract(point, step * axis))) / (2 * step)
        for axis in np.eye(3)
    ]
    np.testing.assert_allclose(combine(method, *point).gradient, numeric, atol=1e-8)
