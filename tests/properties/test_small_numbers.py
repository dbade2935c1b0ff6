"""Numbers of few bits give what their float64 copies do: no difference or sum of them wraps."""

import numpy as np
import pytest
from helpers.crossed import each_value
from sklearn import metrics as sk

from skeval.metrics import error_norm, error_rate, macro_fbeta_score
from skeval.model_selection import metric_interval

RNG = np.random.default_rng(0)
FEW_BITS = {
    "uint8": RNG.integers(0, 256, (24, 4)).astype(np.uint8),
    "int8": RNG.choice([-128, 127, 100, 3], (24, 4)).astype(np.int8),
    "bool": RNG.random((24, 4)) > 0.5,
    "float16": (3000 * RNG.normal(size=(24, 4))).astype(np.float16),
}
MEANS = [sk.mean_absolute_error, sk.mean_squared_error, sk.root_mean_squared_error]
kinds = pytest.mark.parametrize("kind", FEW_BITS)


@each_value
@kinds
@pytest.mark.parametrize("metric", [*MEANS, error_norm])
@pytest.mark.parametrize("method", ["auto", "percentile"])
def test_intervals_of_errors(metric, method, kind):
    a, b = FEW_BITS[kind].T[:2]
    options = {"method": method, "n_resamples": 100, "random_state": 0}
    found = metric_interval(metric, a, b, **options)
    expected = metric_interval(metric, a.astype(float), b.astype(float), **options)
    np.testing.assert_allclose(
        [found.interval.low, found.interval.high, found.value, found.standard_error],
        [expected.interval.low, expected.interval.high, expected.value, expected.standard_error],
    )


@each_value
@pytest.mark.parametrize("kind", ["uint8", "int8", "bool", "float16"])
@pytest.mark.parametrize("metric", [error_rate, macro_fbeta_score])
def test_weights(metric, kind):
    y, predicted = np.arange(24) % 2, np.arange(24) // 2 % 2
    weight = np.maximum(FEW_BITS[kind][:, 0], 0)
    found = metric(y, predicted, sample_weight=weight)
    assert found == pytest.approx(metric(y, predicted, sample_weight=weight.astype(float)))
