"""What the pictures of a clustering draw."""

import numpy as np
import pytest

from skeval.report._plot import MOST_POINTS, draw_map, draw_silhouettes
from skeval.report._shown_clusters import ShownClusters

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def show(n):
    rng = np.random.default_rng(0)
    labels = np.sort(np.arange(n) % 3)
    return ShownClusters(
        3, labels, rng.normal(size=(n, 2)), np.array([0.5, np.nan]), rng.uniform(-1, 1, n)
    )


def test_every_sample_is_on_the_map(ax):
    shown = show(30)
    draw_map(shown, ax)
    drawn = np.concatenate([points.get_offsets() for points in ax.collections])
    np.testing.assert_array_equal(drawn, shown.components)
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]
    centres = [shown.components[shown.labels == label].mean(axis=0) for label in range(3)]
    np.testing.assert_allclose([text.get_position() for text in ax.texts], centres)
    assert ax.get_xlabel() == "first component, 50 % of the variance"
    assert ax.get_ylabel() == "second component"


def test_of_many_samples_some_are_drawn(ax):
    draw_map(show(MOST_POINTS * 3 + 1), ax)
    drawn = sum(len(points.get_offsets()) for points in ax.collections)
    assert MOST_POINTS / 2 < drawn <= MOST_POINTS


def test_silhouettes_stand_cluster_on_cluster(ax):
    shown = show(30)
    draw_silhouettes(shown, ax)
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert labels == ["0 (10)", "1 (10)", "2 (10)"]
    for label, drawn in enumerate(ax.collections):
        found = shown.silhouettes[shown.labels == label]
        corners = drawn.get_paths()[0].vertices[:, 0]
        assert {*corners.tolist()} == {*found.tolist(), 0.0}
    (text,) = ax.get_legend().get_texts()
    assert text.get_text() == f"mean {shown.silhouettes.mean():.3f}"
