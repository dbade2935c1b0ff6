"""Kinds of predictions, and the classes that numbers stand for."""

import numpy as np
import pytest

from skeval.report._parsed_predictions import read_predictions, translate_labels

Y = np.arange(30) % 2
P = np.linspace(0.01, 0.99, 30)


@pytest.mark.parametrize(
    ("y", "predictions", "kind"),
    [
        (Y, Y[::-1], "labels"),
        (Y, P, "probabilities"),
        (Y, 10 * P, "scores"),
        (Y + 0.5, P, "numbers"),
        (np.arange(30), np.arange(30)[::-1], "numbers"),
        (np.array(["a", "b"])[Y], P, "probabilities"),
        (np.arange(30) % 3, np.tile([0.5, 0.25, 0.25], (30, 1)), "probabilities"),
        (np.arange(30) % 3, np.tile([0.5, 0.5, 0.5], (30, 1)) * P[:, None], "scores"),
    ],
)
def test_the_kind_follows_from_the_values(y, predictions, kind):
    assert read_predictions(y, predictions, "auto", None, None, None).kind == kind


@pytest.mark.parametrize(
    ("classes", "positive"),
    [(["no", "yes"], "yes"), (["absent", "present"], "present"), (["+", "-"], "+")],
)
def test_numbers_stand_for_classes_with_usual_names(classes, positive):
    y = np.array(classes)[Y]
    labels = translate_labels(y, Y, None)
    assert set(labels[Y == 1]) == {positive}
    other = classes[0] if positive == classes[1] else classes[1]
    assert set(translate_labels(y, Y, other)[Y == 1]) == {other}


def read(y, predictions, kind="auto"):
    return read_predictions(np.array(y), np.array(predictions), kind, None, None, None)


def test_two_whole_numbers_that_are_no_classes_are_refused():
    names = np.array(["ill", "well"])[Y]
    for y in (names, Y):
        with pytest.raises(ValueError, match=r"classes of y_true, .* got only the numbers 1 and 2"):
            read(y, Y + 1)
    assert read(names, Y + 1, "scores").kind == "scores"
    assert read(Y + 1, Y + 1).kind == "labels"
    assert read(names, Y + P).kind == "scores"


def test_labels_under_other_names_are_refused():
    names = np.array(["ill", "well"])[Y]
    with pytest.raises(ValueError, match="got 'Ill', 'well ', which differ only by case or spaces"):
        read(names, np.array(["Ill", "well "])[Y])
    with pytest.raises(ValueError, match="got 'Ill', which differ only"):
        read(names, np.array(["Ill", "well"])[Y])
    with pytest.raises(ValueError, match="'ill', 'well', got 'north', 'south'; give both the same"):
        read(names, np.array(["north", "south"])[Y])
    assert read(names, np.array(["unclear", "well"])[Y]).kind == "labels"  # a third answer


@pytest.mark.parametrize("threshold", [50, -0.1, np.inf])
def test_a_threshold_outside_the_probabilities_is_refused(threshold):
    with pytest.raises(
        ValueError, match=r"threshold must lie in \[0, 1\] where predictions are pr"
    ):
        read_predictions(Y, P, "auto", None, None, threshold)
    assert read_predictions(Y, 100 * P, "auto", None, None, threshold).kind == "scores"
