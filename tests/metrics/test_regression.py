"""The norm of the errors."""

import itertools

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import classification as reference

from skeval.metrics import error_norm

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
