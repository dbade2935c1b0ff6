"""Hypothesis strategies shared by the tests."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def scored(draw):
    """Labels with both classes, scores with ties, whole-number weights."""
    n = draw(st.integers(2, 12))
    y = [0, 1] + draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))
    score = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return np.array(y), np.array(score, dtype=float), np.array(weight, dtype=float)
