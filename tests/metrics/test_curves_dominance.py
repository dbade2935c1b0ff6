"""Which curve lies above the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference.ranking import value_on_curve
from sklearn.metrics import precision_recall_curve, roc_curve

from skeval.metrics import curve_dominance


def reference_winner(a, b):
    """Compare just before and after every knot, where alone polylines can differ in sign first."""
    above = below = False
    for x in {*a[0], *b[0]}:
        for side in (-1, 1):
            if not (x == 0 and side < 0) and not (x == 1 and side > 0):
                difference = value_on_curve(*a, x, side) - value_on_curve(*b, x, side)
                above, below = above or difference > 1e-6, below or difference < -1e-6
    return {(0, 0): "equal", (1, 0): "a", (0, 1): "b", (1, 1): "cross"}[above, below]


SCORES = st.lists(st.integers(0, 3), min_size=10, max_size=10)
labels_and_scores = given(st.lists(st.integers(0, 1), min_size=2, max_size=8), SCORES, SCORES)


@labels_and_scores
def test_roc_winner_equals_the_reference_implementation(y, first, second):
    y = [0, 1, *y]
    a, b = (roc_curve(y, score[: len(y)])[:2] for score in (first, second))
    winner, crossings = curve_dominance(a, b)
    assert winner == reference_winner(a, b)
    mirrored_winner, mirrored = curve_dominance(b, a)
    assert mirrored_winner == {"a": "b", "b": "a"}.get(winner, winner)
    assert (winner == "cross") == (len(crossings) > 0)
    assert_allclose(mirrored, crossings, atol=1e-12)
    for x, height in crossings:  # on both curves, a vertical step included
        for curve in (a, b):
            ends = [value_on_curve(*curve, x, side) for side in (-1, 1) if 0 < x < 1]
            assert min(ends) - 1e-6 <= height <= max(ends) + 1e-6


@labels_and_scores
def test_pr_winner_equals_the_reference_implementation(y, first, second):
    y = [0, 1, *y]
    a, b = (precision_recall_curve(y, score[: len(y)]) for score in (first, second))
    flat_a, flat_b = ((recall[::-1], precision[::-1]) for precision, recall, _ in (a, b))
    assert curve_dominance(a, b, kind="pr")[0] == reference_winner(flat_a, flat_b)


def test_crossing_by_hand():
    # y = x / 4 up to 0.5 then to 1; against y = x: they meet at the ends only.
    low = ([0, 0.5, 1], [0, 0.125, 1])
    assert curve_dominance(([0, 1], [0, 1]), low)[0] == "a"
    # 0.2 + 0.8 x against 0 -> 0.9 at 0.5 -> 1: 0.2 + 0.8 x = 1.8 x at x = 0.2.
    winner, crossings = curve_dominance(([0, 1], [0.2, 1.0]), ([0, 0.5, 1], [0, 0.9, 1]))
    assert winner == "cross"
    assert_allclose(crossings, [[0.2, 0.36]])


@given(
    st.lists(st.integers(0, 1), min_size=2, max_size=8),
    st.lists(st.integers(0, 3), min_size=10, max_size=10),
    st.lists(st.integers(0, 3), min_size=10, max_size=10),
    st.integers(0, 2**32 - 1),
)
def test_rounding_of_x_changes_nothing(y, first, second, seed):
    """Sums of weights in another order put the steps of two curves one bit apart."""
    y = np.array([0, 1, *y])
    a, b = (roc_curve(y, s[: len(y)], drop_intermediate=False) for s in (first, second))
    rng = np.random.default_rng(seed)

    def moved(curve):
        x = curve[0] * (1 + rng.integers(-9, 10, size=len(curve[0])) * 1e-15)
        return np.sort(x + (curve[0] == 0) * rng.integers(0, 3, len(x)) * 5e-324), curve[1]

    plain, rounded = curve_dominance(a, b), curve_dominance(moved(a), moved(b))
    assert rounded[0] == plain[0]
    assert_allclose(rounded[1], plain[1], atol=1e-9)
