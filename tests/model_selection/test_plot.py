"""Displays of intervals, comparisons and permutation tests."""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from helpers.echo import permutation_of
from helpers.published_scores import demsar_areas
from sklearn.datasets import load_iris
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval.model_selection import (
    CriticalDifferenceDisplay,
    EstimatesDisplay,
    NullDistributionDisplay,
    PerturbationDisplay,
    compare_classifiers,
    compare_scores,
    error_interval,
    permutation_test,
    perturbation_interval,
    score_interval,
)

plt = pytest.importorskip("matplotlib.pyplot")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.fixture(scope="module")
def interval():
    X, y = load_iris(return_X_y=True)
    return perturbation_interval(
        SVC(kernel="linear"),
        X[50:],
        y[50:],
        n_resamples=30,
        statistic="cross_validation",
        random_state=0,
    )


def test_perturbation_draws_the_draws_on_the_scale_of_the_error(interval):
    display = PerturbationDisplay.from_result(interval)
    perturbed = interval.value + interval.extra.statistics / np.sqrt(interval.n_samples)
    counts = [bar.get_height() for bar in display.histogram_]
    assert sum(counts) == 30
    edges = [bar.get_x() for bar in display.histogram_] + [
        display.histogram_[-1].get_x() + display.histogram_[-1].get_width()
    ]
    assert edges[0] == pytest.approx(perturbed.min())
    assert edges[-1] == pytest.approx(perturbed.max())
    np.testing.assert_array_equal(counts, np.histogram(perturbed, len(counts))[0])
    span = display.interval_.get_path().get_extents(display.interval_.get_patch_transform())
    assert (span.x0, span.x1) == pytest.approx(tuple(interval.interval))
    assert display.line_.get_xdata()[0] == interval.value
    assert display.ax_.lines[1].get_xdata()[0] == interval.extra.resubstitution


def test_displays_draw_where_they_are_told_and_pass_options_on(interval):
    figure, ax = plt.subplots()
    display = PerturbationDisplay.from_result(interval, ax=ax)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert display.plot(bins=3) is display
    assert len(display.histogram_) == 3
    assert display.ax_ is not ax


@pytest.fixture(scope="module")
def permuted():
    X, y = load_iris(return_X_y=True)
    scoring = ["accuracy", "balanced_accuracy"]
    return permutation_test(
        GaussianNB(), X, y, cv=3, scoring=scoring, n_permutations=20, random_state=0
    )


def test_permutation_draws_a_panel_for_each_metric(permuted):
    display = NullDistributionDisplay.from_result(permuted)
    assert display.axes_.shape == (2,)
    assert display.ax_ is display.axes_[0]
    for ax, bars, line, test in zip(
        display.axes_, display.histograms_, display.lines_, permuted.values(), strict=True
    ):
        heights = [bar.get_height() for bar in bars]
        left = np.array([bar.get_x() for bar in bars])
        width = bars[0].get_width()
        assert sum(heights) == 20
        middle = np.average(left + width / 2, weights=heights)
        assert middle == pytest.approx(test.null_distribution.mean(), abs=width / 2)
        assert line.get_xdata()[0] == test.statistic
        name = test.name.replace("_", " ")
        assert ax.get_xlabel() == f"{name} (larger is better)"
        assert legend(ax) == [
            "shuffled labels, 20 times",
            f"true labels {test.statistic:.4f}, P = {test.pvalue:#.2g}",
        ]


def test_permutation_counts_undefined_scores_and_shows_equal_ones():
    null = [0.5] * 8
    with pytest.warns(UndefinedMetricWarning, match="2 of 10 permutations"):
        found = permutation_of(0.9, *null, np.nan, np.nan)
    display = NullDistributionDisplay.from_result(found)
    assert legend(display.ax_)[0] == "shuffled labels, 10 times, 2 undefined"
    drawn = [bar for bar in display.histograms_[0] if bar.get_height()]
    assert [bar.get_height() for bar in drawn] == [8]
    same = permutation_of(0.5, *null)
    (drawn,) = NullDistributionDisplay.from_result(same).histograms_
    assert sum(bar.get_height() for bar in drawn) == 8


def bars(display):
    return [(path[:, 0].tolist(), path[0, 1]) for path in display.intervals_.get_segments()]


def test_intervals_of_scores_and_of_one_result():
    X, y = load_iris(return_X_y=True)
    results = score_interval(GaussianNB(), X, y, scoring=["f1_macro", "accuracy"], random_state=0)
    _, ax = plt.subplots()
    display = EstimatesDisplay.from_result(results, ax=ax)
    assert display.ax_ is ax
    labels = [label.get_text().split("\n")[0] for label in ax.get_yticklabels()]
    assert labels == ["f1_macro", "accuracy"]
    assert ax.get_xlabel() == "95 % intervals"
    alone = EstimatesDisplay.from_result(results["accuracy"])
    interval = results["accuracy"].interval
    assert bars(alone)[0][0] == pytest.approx([interval.low, interval.high])
    error = error_interval(GaussianNB(), X, y, method="holdout", loss="squared", random_state=0)
    with pytest.raises(
        ValueError, match=r"got 'mean squared error', 'accuracy'[.] Draw each with its own"
    ):
        EstimatesDisplay.from_result([error, results["accuracy"]])
    with pytest.raises(TypeError, match=r"result must be an Estimate, .*; got \[3\]"):
        EstimatesDisplay.from_result([3])


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=0.02, size=(40, 20)) + np.linspace(0, 0.06, 20)
    return compare_scores(scores, random_state=0, over="datasets")


def overlaps(display):
    """Return the pairs of texts that lie over each other."""
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.texts_]
    return [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)]


def test_diagram_draws_ranks_and_groups(many):
    comparison = compare_scores(
        demsar_areas(), over="datasets", method="nemenyi", confidence_level=0.9
    )
    display = CriticalDifferenceDisplay.from_result(comparison)
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
    other = CriticalDifferenceDisplay.from_result(many)
    assert other.critical_difference is None
    assert not any("critical" in text.get_text() for text in other.ax_.texts)


def test_names_of_twenty_are_apart_and_within_the_figure(many):
    names = [f"a classifier of a long name {place:02d}" for place in range(20)]
    frame = pd.DataFrame(many.extra.scores, columns=names)
    comparison = compare_scores(frame, over="datasets", method="nemenyi", random_state=0)
    display = CriticalDifferenceDisplay.from_result(comparison)
    assert overlaps(display) == []
    frame = display.figure_.bbox
    for text in display.texts_:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
        assert frame.y0 <= box.y0


def test_a_comparison_is_drawn_as_the_differences_of_its_pairs():
    three = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(), "stump": shallow()}
    found = compare_classifiers(three, *load_iris(return_X_y=True), cv=5, random_state=0)
    display = found.plot()
    assert list(display.names) == ["bayes - tree", "bayes - stump", "tree - stump"]
    for place, difference in enumerate(found.differences.values()):
        drawn = display.values[place], display.lows[place], display.highs[place]
        assert drawn == (difference.value, *difference.interval)
    assert list(display.ax_.lines[-1].get_xdata()) == [0, 0]  # no difference


def shallow():
    return DecisionTreeClassifier(max_depth=1)


def test_large_numbers_of_an_axis_do_not_touch():
    values = {"values": [2e4, 3e5], "lows": [1e4, 2e5], "highs": [3e4, 4e5]}
    display = EstimatesDisplay(names=["a", "b"], xlabel="price", **values).plot()
    display.figure_.canvas.draw()
    labels = [label for label in display.ax_.get_xticklabels() if label.get_text()]
    boxes = [label.get_window_extent() for label in labels]
    assert all("," in label.get_text() for label in labels if len(label.get_text()) > 4)
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_long_names_that_differ_at_their_ends_stay_different():
    names = [f"{start} of all the genes of the study - svm{end}" for start in "ab" for end in "12"]
    values = {key: [0.1, 0.2, 0.3, 0.4] for key in ("values", "lows", "highs")}
    display = EstimatesDisplay(names=names, xlabel="difference", **values).plot()
    shown = {label.get_text().split("\n")[0] for label in display.ax_.get_yticklabels()}
    assert len(shown) == 4
    assert max(map(len, shown)) < min(map(len, names))
