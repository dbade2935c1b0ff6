"""The contingency table as a picture."""

from itertools import permutations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics.cluster import contingency_matrix

from skeval.metrics.cluster import ContingencyDisplay
from skeval.metrics.cluster._plot import order_by_match

TRUE = np.array(["a", "a", "a", "b", "b", "c", "c", "c", "c"])
PRED = np.array([2, 2, 0, 0, 0, 1, 1, 1, 2])


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def drawn(display):
    return [[cell.get_text() for cell in row] for row in display.text_]


def test_matched_clusters_lie_on_the_diagonal_with_their_counts():
    display = ContingencyDisplay.from_predictions(TRUE, PRED)
    assert display.clusters.tolist() == [2, 0, 1]
    assert drawn(display) == [["2", "1", "0"], ["0", "2", "0"], ["1", "0", "3"]]
    np.testing.assert_array_equal(display.im_.get_array(), display.contingency)
    assert ticks(display.ax_.xaxis) == ["2", "0", "1"]
    assert ticks(display.ax_.yaxis) == ["a", "b", "c"]
    assert display.ax_.get_xlabel() == "cluster"
    assert display.ax_.get_ylabel() == "class"
    for (row, column), cell in np.ndenumerate(display.text_):
        assert cell.get_position() == (column, row)
    assert display.ax_.yaxis_inverted()  # the first class on top


def test_classes_and_clusters_left_over_come_last():
    more_clusters = ContingencyDisplay.from_predictions(["a", "a", "a", "b", "b"], [1, 0, 0, 2, 2])
    assert more_clusters.clusters.tolist() == [0, 2, 1]
    assert drawn(more_clusters) == [["2", "0", "1"], ["0", "2", "0"]]
    more_classes = ContingencyDisplay.from_predictions([1, 0, 0, 2, 2], [7, 7, 7, 3, 3])
    assert more_classes.classes.tolist() == [0, 2, 1]
    assert more_classes.clusters.tolist() == [7, 3]
    assert drawn(more_classes) == [["2", "0"], ["0", "2"], ["1", "0"]]


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_no_other_order_has_more_on_the_diagonal(n_classes, n_clusters, seed):
    table = np.random.default_rng(seed).integers(0, 9, size=(n_classes, n_clusters))
    rows, columns = order_by_match(table)
    assert sorted(rows) == list(range(n_classes))
    assert sorted(columns) == list(range(n_clusters))
    wide = table if n_classes <= n_clusters else table.T
    best = max(
        sum(wide[row, column] for row, column in enumerate(order))
        for order in permutations(range(wide.shape[1]), len(wide))
    )
    assert np.trace(table[np.ix_(rows, columns)]) == best
    matched = rows[: min(table.shape)]
    assert (np.diff(matched) > 0).all()  # in the order of the classes


def test_counts_are_those_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    labels = KMeans(5, n_init=2, random_state=0).fit_predict(X)
    display = ContingencyDisplay.from_predictions(y, labels)
    expected = contingency_matrix(y, labels)
    np.testing.assert_array_equal(
        display.contingency, expected[np.ix_(display.classes, display.clusters)]
    )
    assert display.contingency.dtype.kind == "i"


def test_weights():
    weight = np.arange(9) / 2
    display = ContingencyDisplay.from_predictions(TRUE, PRED, sample_weight=weight)
    for (row, column), value in np.ndenumerate(display.contingency):
        here = (display.classes[row] == TRUE) & (display.clusters[column] == PRED)
        assert value == weight[here].sum()
    assert drawn(display)[2] == ["4", "0", "9"]
    assert display.im_.colorbar.ax.get_ylabel() == "weight"


def test_values_stand_out_from_their_cells():
    display = ContingencyDisplay.from_predictions(TRUE, PRED)
    middle = sum(display.im_.get_clim()) / 2
    assert display.im_.get_clim() == (0, 3)
    light, dark = display.im_.cmap(0.0), display.im_.cmap(1.0)
    for value, cell in zip(display.contingency.ravel(), display.text_.ravel(), strict=True):
        assert cell.get_color() == (light if value > middle else dark)


def test_options_reach_the_drawing():
    _, ax = plt.subplots()
    display = ContingencyDisplay.from_predictions(
        TRUE, PRED, ax=ax, include_values=False, colorbar=False, cmap="Greens", vmax=10
    )
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.text_ is None
    assert display.im_.colorbar is None
    assert display.im_.get_cmap().name == "Greens"
    assert display.im_.get_clim() == (0, 10)
    assert len(ax.texts) == 0
    again = display.plot()
    assert again is display
    assert display.ax_ is not ax
    assert display.im_.colorbar.ax.get_ylabel() == "samples"


def test_input_is_not_changed():
    true, pred = TRUE.copy(), PRED.copy()
    true.flags.writeable = pred.flags.writeable = False
    display = ContingencyDisplay.from_predictions(true, pred)
    assert display.contingency.sum() == len(TRUE)
    np.testing.assert_array_equal(true, TRUE)
    np.testing.assert_array_equal(pred, PRED)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "labels_true must hold at least one label, got none"),
        (([0, 1], [0]), "inconsistent numbers of samples"),
        (([0.5, 1], [0, 1]), "labels_true must be discrete labels, got the fraction"),
        (([[0, 1]], [0, 1]), "labels_true must be 1-D"),
        (([0, np.nan], [0, 1]), "labels_true contains NaN"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ContingencyDisplay.from_predictions(*arguments)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([0, 0], "must hold a weight > 0, got only zeros"),  # ours, or that of scikit-learn
        ([1, -1], "sample_weight must be >= 0, got -1"),
        ([1], "inconsistent numbers of samples"),
    ],
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        ContingencyDisplay.from_predictions([0, 1], [0, 1], sample_weight=weight)
