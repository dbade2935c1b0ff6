"""Plots of compared clusterings show the results, and name the partitions."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris

from skeval.cluster import IndicesDisplay, ParetoDisplay, compare_clusterings, pareto_dominance

X, Y = load_iris(return_X_y=True)


PARTITIONS = {
    **{f"kmeans {k}": KMeans(k, n_init=2, random_state=0).fit_predict(X) for k in (2, 3, 4)},
    "ward 3": AgglomerativeClustering(3).fit_predict(X),
    "species": load_iris().target_names[Y],
}


def test_indices_display():
    result = compare_clusterings(X, PARTITIONS)
    display = IndicesDisplay.from_result(result)
    assert len(display.axes_) == 3
    assert display.axes_[2].get_title() == "connectivity (smaller is better)"
    drawn = np.concatenate([points.get_offsets() for points in display.axes_[0].collections])
    assert sorted(drawn[:, 1]) == sorted(result.values[:, 0])
    with pytest.raises(ValueError, match="axes for each of silhouette, dunn, connectivity; got 1"):
        display.plot([display.axes_[0]])
    assert display.plot(display.axes_) is display
    plt.close(display.figure_)


def test_pareto_display_marks_the_front_of_the_two_indices():
    result = compare_clusterings(X, PARTITIONS)
    display = ParetoDisplay.from_result(result, x="connectivity", y="silhouette")
    _, front = pareto_dominance(result.values[:, [2, 0]], greater_is_better=[False, True])
    np.testing.assert_array_equal(display.front_, front)
    filled = display.ax_.collections[-1].get_offsets()
    np.testing.assert_array_equal(filled, result.values[:, [2, 0]][front])
    assert display.ax_.get_xlabel() == "connectivity (smaller is better)"
    assert {text.get_text() for text in display.ax_.texts} == set(PARTITIONS)
    assert ParetoDisplay.from_result(result, ax=display.ax_).x == "silhouette"
    plt.close(display.figure_)
