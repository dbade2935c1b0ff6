"""The norm of the errors."""

import itertools

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import classification as reference
from scipy.special import logsumexp
from sklearn.metrics import mean_absolute_error, mean_squared_error

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


@pytest.mark.parametrize("ord", [1, 2, 3, np.inf])
def test_numpy_agrees(ord):
    rng = np.random.default_rng(1)
    e = rng.normal(size=30)
    assert_allclose(error_norm(e, np.zeros(30), ord=ord), np.linalg.norm(e, ord), rtol=1e-13)


def test_rmse_and_mae_are_norms_per_sample():
    rng = np.random.default_rng(2)
    y, p = rng.normal(size=50), rng.normal(size=50)
    assert_allclose(error_norm(y, p) ** 2 / 50, mean_squared_error(y, p), rtol=1e-13)
    assert_allclose(error_norm(y, p, ord=1) / 50, mean_absolute_error(y, p), rtol=1e-13)


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


def test_large_errors_do_not_overflow():
    assert_allclose(error_norm([3e200, 0.0], [0.0, 4e200]), 5e200)
    assert error_norm([1.0, 2.0], [1.0, 2.0], ord=7) == 0.0


@given(
    st.lists(st.floats(0, 1e3), min_size=1, max_size=6),
    st.sampled_from([0.004, 0.005, 0.05, 0.5, 1, 2, 3.7, 40, 1e3, 1e300, np.inf]),
    st.sampled_from([1e-300, 1e-160, 1, 1e160, 1e300]),
)
@example([2.0, 5e-324], 0.004, 1e160)
def test_every_order_scales_with_the_errors(errors, ord, scale):
    """No order and no unit overflows before the norm itself does."""
    errors = scale * np.array(errors)
    got = error_norm(errors, np.zeros(len(errors)), ord=ord)
    assert got >= errors.max() * (1 - 1e-12)
    moved = np.log(errors[errors > 1e-307])  # subnormal numbers have lost their digits
    if len(moved) < np.count_nonzero(errors) or len(moved) == 0:
        return
    logarithm = logsumexp(ord * moved) / ord if ord < np.inf else moved.max()
    if logarithm < np.log(np.finfo(float).max) - 1e-9:
        assert_allclose(np.log(got), logarithm, rtol=1e-12, atol=1e-10)
    else:
        assert got == np.inf or logarithm < np.log(np.finfo(float).max) + 1e-9


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_pred": [1.0, 2.0], "ord": -1}, "'ord' parameter .* Got -1"),
        ({"y_pred": [1.0, 2.0], "ord": "2"}, "'ord' parameter .* Got '2'"),
        ({"y_pred": [1.0]}, "inconsistent numbers of samples"),
        ({"y_pred": [[1.0, 1.0], [1.0, 1.0]]}, r"agree in shape: \(2, 1\), \(2, 2\)"),
        ({"y_pred": [1.0, np.nan]}, "y_pred contains NaN"),
        (
            {"y_pred": [1.0, 2.0], "sample_weight": [1.0, -1.0]},
            "sample_weight must be >= 0, got -1",
        ),
        ({"y_pred": [1.0, 2.0], "sample_weight": [0.0, 0.0]}, "only zeros"),
        ({"y_pred": [1.0, 2.0], "sample_weight": [[1.0], [1.0]]}, r"shape \(2,\), got \(2, 1\)"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        error_norm([1.0, 2.0], **arguments)
