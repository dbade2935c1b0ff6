"""A table without any fault, which tests spoil."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 3)), np.tile([0, 1], 25)
