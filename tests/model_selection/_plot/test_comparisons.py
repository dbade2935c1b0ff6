"""What the displays of comparisons draw: the numbers of the result, and legibly."""

from itertools import combinations

import numpy as np
import pytest
from helpers.published_scores import demsar_areas
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skeval.model_selection import (
    CriticalDifferenceDisplay,
    DifferencesDisplay,
    SimplexDisplay,
    compare_classifiers,
    compare_over_datasets,
)

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=0.02, size=(40, 20)) + np.linspace(0, 0.06, 20)
    return compare_over_datasets(scores, random_state=0)


def overlaps(display):
    """Return the pairs of texts that lie over each other."""
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.texts_]
    return [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)]


def test_diagram_draws_ranks_and_groups(many):
    comparison = compare_over_datasets(demsar_areas(), test="nemenyi", confidence_level=0.9)
    display = CriticalDifferenceDisplay.from_comparison(comparison)
    assert [text.get_text() for text in display.texts_] == [
        "C4.5+m+cf  1.96",
        "C4.5+m  2.00",
        "2.89  C4.5+cf",
        "3.14  C4.5",
    ]
    assert display.groups == [(0, 2), (2, 3)]
    for bar, (first, last) in zip(display.bars_, display.groups, strict=True):
        low, high = bar.get_xdata()
        assert low < display.mean_ranks[first] < display.mean_ranks[last] < high
    texts = [text.get_text() for text in display.ax_.texts]
    assert "critical difference 1.12" in texts
    assert "nemenyi, 10 %" in display.ax_.get_title()
    other = CriticalDifferenceDisplay.from_comparison(many)
    assert other.critical_difference is None
    assert not any("critical" in text.get_text() for text in other.ax_.texts)


def test_names_of_twenty_are_apart_and_within_the_figure(many):
    names = [f"a classifier of a long name {place:02d}" for place in range(20)]
    display = CriticalDifferenceDisplay(
        names=names,
        mean_ranks=np.linspace(2, 18, 20).tolist(),
        groups=[(0, 5), (3, 9), (10, 19)],
        critical_difference=3.0,
        title="twenty",
    ).plot()
    assert overlaps(display) == []
    frame = display.figure_.bbox
    for text in display.texts_:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
        assert frame.y0 <= box.y0
    nine = compare_over_datasets(many.scores[:, :9], random_state=0)
    assert overlaps(DifferencesDisplay.from_comparison(nine)) == []


def test_heat_map_draws_differences_of_either_result(many):
    display = DifferencesDisplay.from_comparison(many)
    order = many.order
    np.testing.assert_array_equal(
        display.image_.get_array(), many.differences[np.ix_(order, order)]
    )
    i, j = order[0], order[1]
    low, high = many.lows[i, j], many.highs[i, j]
    expected = f"{many.differences[i, j]:.3f}\n[{low:.3f}, {high:.3f}]"
    assert display.texts_[0].get_text() == expected
    opacity = display.image_.get_alpha()
    assert opacity[0, -1] > opacity[0, 1]
    three = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(), "stump": shallow()}
    found = compare_classifiers(three, *load_iris(return_X_y=True), cv=5, random_state=0)
    display = DifferencesDisplay.from_comparison(found)
    assert display.names[-1] == "stump"
    few = DifferencesDisplay.from_comparison(compare_over_datasets(demsar_areas()[:4]))
    assert "no interval" in few.texts_[0].get_text()


def interval_lines(display):
    return ["\n" in text.get_text() for text in display.texts_]


@pytest.mark.parametrize("k", [3, 12])
@pytest.mark.parametrize("width", [3.2, 4.8, 9.0])
@pytest.mark.parametrize("n_axes", [1, 2])
def test_texts_lie_in_their_cells_whatever_the_size_of_the_axes(many, k, width, n_axes):
    comparison = compare_over_datasets(many.scores[:, :k], random_state=0)
    _, axes = plt.subplots(1, n_axes, figsize=(width, 3.6), layout="constrained")
    display = DifferencesDisplay.from_comparison(comparison, ax=np.ravel(axes)[0])
    assert overlaps(display) == []
    (left, bottom), (right, top) = display.ax_.transData.transform([(0, 0), (1, 1)])
    for text in display.texts_:
        box = text.get_window_extent()
        assert box.width <= abs(right - left)
        assert box.height <= abs(top - bottom)
    assert len(set(interval_lines(display))) == 1
    assert display.texts_[0].get_text() == "" or display.texts_[0].get_fontsize() >= 5


def test_a_figure_of_its_own_has_the_intervals(many):
    for k in (2, 3, 9, 20):
        comparison = compare_over_datasets(many.scores[:, :k], random_state=0)
        assert all(interval_lines(DifferencesDisplay.from_comparison(comparison)))


def shallow():
    return DecisionTreeClassifier(max_depth=1)


def test_simplex_draws_every_draw(many):
    posterior = many.posterior("classifier 1", "classifier 20")
    display = SimplexDisplay.from_posterior(posterior, ax=plt.figure().add_subplot())
    plain = SimplexDisplay.from_posterior(posterior)
    plain.plot(bins=None)
    assert plain.points_.get_array().sum() == len(posterior.draws)
    texts = [text.get_text() for text in display.ax_.texts]
    assert f"classifier 20\nbetter: {posterior.probabilities.b_better:.3f}" in texts
