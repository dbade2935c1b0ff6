"""Transformers whose effect on the columns is known."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler

from skeval._adapters.transformers import are_affine, maps_each_sample, uses_only


def test_affine_steps():
    assert are_affine((StandardScaler(), MinMaxScaler()))
    assert not are_affine((StandardScaler(), MinMaxScaler(clip=True)))
    assert not are_affine((type("Own", (StandardScaler,), {})(),))


def test_steps_that_map_each_sample():
    for step in ("passthrough", None, Normalizer(), FunctionTransformer(np.cbrt)):
        assert maps_each_sample(step)
    for step in (StandardScaler(), FunctionTransformer(lambda X: X - X.mean())):
        assert not maps_each_sample(step)


@pytest.mark.parametrize("alpha", [1.0, np.array([1.0, 2.0])])
def test_a_parameter_that_is_not_known_must_have_its_default(alpha):
    class Newer(Ridge):
        def __init__(self, alpha=1.0, sparing=False):
            super().__init__(alpha)
            self.sparing = sparing

    assert uses_only(Newer(alpha), "alpha")
    assert uses_only(Newer(alpha, sparing=False), "alpha")
    assert not uses_only(Newer(alpha, sparing=True), "alpha")
    assert not uses_only(Newer(2.0), "sparing")
