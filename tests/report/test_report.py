"""What pages draw: estimates of errors, and samples in clusters."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

import skeval
from skeval.model_selection import EstimatesDisplay
from skeval.report import evaluate_clusterer

plt = pytest.importorskip("matplotlib.pyplot")


def drawn(display):
    segments = display.intervals_.get_segments()
    lines = [np.reshape(segment, (-1, 2))[:, 0].tolist() for segment in segments]
    return display.points_.get_xdata(), lines


def test_report_is_drawn_row_by_row():
    X, y = load_iris(return_X_y=True)
    report = skeval.evaluate(
        SVC(kernel="linear"),
        X[50:],
        y[50:],
        n_permutations=0,
        include=["holdout", "bootstrap", "perturbation"],
        confidence_level=0.8,
        random_state=0,
    )
    display = report.plot()
    results = [report.answer, *report.estimates.values(), *report.perturbation]
    points, lines = drawn(display)
    np.testing.assert_array_equal(points, [result.value for result in results])
    np.testing.assert_array_equal(display.points_.get_ydata(), np.arange(9))
    intervals = [result.confidence_interval(0.8) for result in results]
    # the training error and a single cross-validation are numbers only
    named = [None, *report.estimates, None, None]
    assert lines == [
        [] if name in ("resubstitution", "cross_validation") else [interval.low, interval.high]
        for name, interval in zip(named, intervals, strict=True)
    ]
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[0].startswith("main estimate (repeated_cv)\n0.0")
    assert labels[1].startswith("resubstitution\n0.0")
    assert labels[-2].startswith("SVM, perturbed training\n")
    assert f"({intervals[2].low:.4f} to {intervals[2].high:.4f})" in labels[2]
    assert display.ax_.get_xlabel() == "error rate,\n80 % intervals"
    assert display.guess_.get_xdata() == [0.5, 0.5]
    assert labels[-1] == "baseline\n0.5000"
    wider = EstimatesDisplay.from_result(report.answer, confidence_level=0.99)
    assert wider.highs[0] > display.highs[0]
    low, high = display.ax_.get_ylim()
    assert low > high  # the first row is on top


def test_squared_errors_are_drawn_in_the_unit_of_the_target():
    X, y = load_diabetes(return_X_y=True)
    report = skeval.evaluate(Ridge(), X, y, include=[], random_state=0)
    display = report.plot()
    assert display.ax_.get_xlabel() == "root mean squared error,\n95 % intervals"
    np.testing.assert_allclose(
        display.values, np.sqrt([e.value for e in [report.answer, *report.estimates.values()]])
    )
    assert display.highs[0] == np.sqrt(report.answer.interval.high)
    assert display.guess == np.sqrt(report.baseline.error)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


@pytest.fixture(scope="module")
def clustering():
    X = np.repeat([[0, 0], [9, 0], [0, 9]], 10, axis=0) + np.random.default_rng(0).random((30, 2))
    return evaluate_clusterer(DBSCAN(eps=2), X, n_repeats=2, random_state=0)


def draw_first(report, ax):
    """Draw the first figure of the page, and return what it shows."""
    figure = next(figure for section in report.sections for figure in section.figures)
    figure.draw(ax=ax)
    return report.shown


def test_every_sample_is_on_the_map(clustering, ax):
    shown = draw_first(clustering, ax)
    drawn = np.concatenate([points.get_offsets() for points in ax.collections])
    np.testing.assert_array_equal(drawn, shown.components)
    centers = [shown.components[shown.labels == label].mean(axis=0) for label in range(3)]
    np.testing.assert_allclose([text.get_position() for text in ax.texts], centers)


def test_of_many_samples_some_are_drawn(clustering, ax):
    rng, labels = np.random.default_rng(0), np.sort(np.arange(6001) % 3)
    many = {"labels": labels, "components": rng.normal(size=(6001, 2))}
    shown = replace(clustering.shown, **many, shares=np.array([0.5, np.nan]))
    draw_first(replace(clustering, shown=shown), ax)
    drawn = sum(len(points.get_offsets()) for points in ax.collections)
    assert 1000 < drawn <= 2000


def test_full_text_and_markdown_list_as_many_samples_as_their_caption_states():
    y, score = np.arange(80) % 2, np.random.default_rng(0).random(80)
    report = skeval.evaluate_predictions(y, score, random_state=0)
    for text in (report.to_text(full=True), report.to_markdown()):
        lines = text.split("worst predictions.")[1].strip().split("\n")
        first = [line.strip("| ").split()[0] for line in lines if line]
        start = first.index(report.hard_samples.name[0])
        assert first[start : start + 20] == list(report.hard_samples.name[:20])


def test_lines_have_at_most_the_width_that_is_passed():
    y = np.random.default_rng(0).integers(0, 2, 80)
    systems = {name: np.random.default_rng(k).random(80) for k, name in enumerate(("old", "new"))}
    report = skeval.evaluate_predictions(y, systems, random_state=0)
    for width in (60, 100):
        text = report.to_text(full=True, width=width)
        assert max(map(len, text.split("\n"))) <= width
    with pytest.raises(ValueError, match="width must be an integer >= 20"):
        report.to_text(width=0)
    assert "- hello" in report.to_markdown(notes="hello")
