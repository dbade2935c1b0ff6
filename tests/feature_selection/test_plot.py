"""Displays of what selecting features does."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB

from skeval.feature_selection import (
    CV2FeatureSelectionPipeline,
    SelectionBiasDisplay,
    SelectionFrequencyDisplay,
    selection_bias,
    selection_stability,
)

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def bias():
    """A bias of round numbers."""
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.tile([0, 1], 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on versions where the two errors do not differ
        found = selection_bias(SelectKBest(k=1), GaussianNB(), X, y, cv=2)
    errors = {"cv1_error": 0.1, "cv2_error": 0.4}
    errors |= {"cv1_errors": np.array([0.05, 0.15]), "cv2_errors": np.array([0.35, 0.45])}
    return replace(
        found,
        value=0.3,
        standard_error=0.05,
        extra=replace(found.extra, **errors),
        limits={"corrected_t": lambda confidence_level: (0.2, 0.45)},
        confidence_level=0.9,
    )


def test_bias_draws_both_errors_and_their_difference(bias):
    display = SelectionBiasDisplay.from_result(bias)
    np.testing.assert_allclose(display.points_.get_xydata(), [[0.1, 0], [0.4, 1]])
    (segment,) = display.errorbar_.lines[2][0].get_segments()
    np.testing.assert_allclose(segment, [[0.2, 2], [0.45, 2]])
    assert display.errorbar_.lines[0].get_xdata()[0] == 0.3
    np.testing.assert_allclose(display.ax_.lines[0].get_xdata(), [0.05, 0.15, 0.35, 0.45])
    assert [text.get_text() for text in display.ax_.texts] == ["0.100", "0.400", "0.300"]


SUPPORTS = np.array([[1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [1, 1, 0, 1, 0], [1, 0, 0, 1, 0]])


def widths_and_names(display):
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    return [bar.get_width() for bar in display.bars_], names


def test_frequency_draws_the_features_in_order():
    display = SelectionFrequencyDisplay.from_result(SUPPORTS, feature_names=list("abcde"))
    assert widths_and_names(display) == ([1, 0.75, 0.25, 0.25], ["a", "d", "b", "c"])
    np.testing.assert_array_equal(display.top_, [0, 3, 1, 2])
    assert display.ax_.get_xlabel() == "fraction of the 4 rounds"
    assert display.ax_.get_title() == "all 4 features ever selected"
    top = SelectionFrequencyDisplay.from_result(selection_stability(SUPPORTS), n_top=2)
    assert widths_and_names(top) == ([1, 0.75], ["x0", "x3"])
    assert top.figure_.get_figheight() < display.figure_.get_figheight()
    assert top.ax_.get_title() == "the 2 most frequent of 4 features ever selected"
    assert SelectionFrequencyDisplay.from_result(SUPPORTS, ax=top.ax_).ax_ is top.ax_


def test_frequency_takes_the_names_of_a_fitted_pipeline():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), np.tile([0, 1], 20)
    X[:, 4] += 9 * y
    frame = pd.DataFrame(X, columns=["a", "b", "$c$", "d", "a $long$ name " * 9, "f"])
    rule = CV2FeatureSelectionPipeline(SelectKBest(k=1), GaussianNB(), cv=5).fit(frame, y)
    display = SelectionFrequencyDisplay.from_result(rule)
    widths, names = widths_and_names(display)
    assert widths == [1.0]
    assert names == ["a $long$ name a …e a $long$ name"]
    display.figure_.canvas.draw()  # the dollars are no formula
    skipped = CV2FeatureSelectionPipeline(SelectKBest(k=1), GaussianNB(), cv=None).fit(frame, y)
    with pytest.raises(AttributeError, match="stability_ needs inner rounds"):
        SelectionFrequencyDisplay.from_result(skipped)


def test_frequency_refuses_wrong_names_and_numbers():
    with pytest.raises(ValueError, match=r"a name for each of 5 features, got 1"):
        SelectionFrequencyDisplay.from_result(SUPPORTS, feature_names=["a"])
    with pytest.raises(ValueError, match="n_top must be an integer >= 1, got 0"):
        SelectionFrequencyDisplay.from_result(SUPPORTS, n_top=0)
