"""Names beside points: each is there, and none covers another or a point."""

from itertools import combinations

import numpy as np
import pytest

from skeval.utils._plotting import place_names

plt = pytest.importorskip("matplotlib.pyplot")

POINTS = {
    "close": np.array([[0, 0], [0.01, 0.005], [0.02, -0.005], [1, 1], [1, 0.99], [0.5, 0.5]]),
    "equal": np.array([[1.0, 1.0]] * 4 + [[2.0, 3.0]]),
    "line": np.column_stack([np.linspace(0, 1, 7), np.linspace(1, 0, 7)]),
}


@pytest.fixture
def ax():
    figure, ax = plt.subplots(figsize=(4.4, 3.4), layout="constrained")
    yield ax
    plt.close(figure)


@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
def test_names_overlap_nothing(points, ax):
    ax.scatter(*points.T)
    ax.margins(0.15)
    names = [f"k = {k}" for k in range(2, 2 + len(points))]
    texts = place_names(ax, names, points)
    assert [text.get_text() for text in texts] == names
    boxes = [text.get_window_extent() for text in texts]
    ax.figure.draw_without_rendering()
    for one, other in combinations([text.get_window_extent() for text in texts], 2):
        assert not one.overlaps(other)
    centers = ax.transData.transform(points)
    assert not any(box.contains(*center) for box in boxes for center in centers)


def test_a_lone_point_has_its_name_close_by(ax):
    ax.scatter([0, 1], [0, 1])
    texts = place_names(ax, ["a", "b"], np.array([[0, 0], [1, 1]]))
    assert [text.arrow_patch for text in texts] == [None, None]
    assert all(np.hypot(*text.xyann) < 10 for text in texts)
