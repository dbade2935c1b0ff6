"""Stability of a selection: definitions, published code, edge cases, coverage."""

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import selection as reference
from scipy.stats import binomtest
from sklearn.exceptions import UndefinedMetricWarning

from skeval.feature_selection import selection_stability

supports_of_any_size = arrays(bool, st.tuples(st.integers(2, 6), st.integers(2, 8)))


@given(supports_of_any_size.filter(lambda z: 0 < z.sum() < z.size))
def test_nogueira_against_its_definition(supports):
    result = selection_stability(supports)
    assert result.value == pytest.approx(reference.nogueira(supports), abs=1e-12)
    assert result.extra.frequency.tolist() == supports.mean(axis=0).tolist()


@given(supports_of_any_size.filter(lambda z: (z.sum(axis=1) > 0).all()))
def test_jaccard_against_its_definition(supports):
    result = selection_stability(supports, method="jaccard", confidence_level=0.5)
    expected = reference.pairwise(supports, reference.jaccard_pair)
    assert result.value == pytest.approx(expected, abs=1e-12)
    # scipy.stats.norm.ppf(0.75) = 0.6744897501960817
    half = 0.6744897501960817 * np.sqrt(reference.jaccard_variance(supports))
    if half < 1e-12:
        assert np.isnan([result.interval.low, result.interval.high]).all()
        return
    assert result.interval.low == pytest.approx(expected - half, abs=1e-12)
    assert result.interval.high == pytest.approx(min(1, expected + half), abs=1e-12)


def test_published_code():
    """The authors' code, github.com/nogueirs/JMLR2018 python/stability at its last commit.

    ``confidenceIntervals(Z)`` of the three sets of the vignette of R's stabm and of
    ``np.random.default_rng(0).integers(0, 2, (6, 8))``.
    """
    three = np.zeros((3, 10), dtype=int)
    three[0, :3] = three[1, :4] = three[2, [0, 1, 2, 4, 5, 6]] = 1
    result = selection_stability(three)
    assert result.value == pytest.approx(0.4570135746606334, rel=1e-12)
    assert result.interval.low == pytest.approx(0.30704058907953913, rel=1e-12)
    assert result.interval.high == pytest.approx(0.6069865602417277, rel=1e-12)
    six = [
        [1, 1, 1, 0, 0, 0, 0, 0],
        [0, 1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1, 0],
        [0, 1, 1, 0, 1, 1, 1, 0],
        [0, 1, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 1, 1],
    ]
    result = selection_stability(six)
    assert result.value == pytest.approx(-0.04055944055944072, rel=1e-12)
    assert result.interval.low == pytest.approx(-0.1520101391547189, rel=1e-12)
    assert result.interval.high == pytest.approx(0.07089125803583747, rel=1e-12)


@each_value
@pytest.mark.parametrize("method", ["nogueira", "kuncheva", "jaccard"])
@pytest.mark.parametrize(
    "supports", [[[1, 0, 1]], [[0, 0, 0], [0, 0, 0]]], ids=["one round", "nothing"]
)
def test_undefined(method, supports):
    with pytest.warns(UndefinedMetricWarning, match="0/0"):
        result = selection_stability(supports, method=method)
    assert np.isnan([result.value, result.interval.low, result.interval.high]).all()
    assert result.extra.frequency.tolist() == np.mean(supports, axis=0).tolist()


def test_to_frame_and_text():
    result = selection_stability([[1, 0, 1, 0], [0, 0, 1, 1], [1, 0, 1, 0]])
    assert result.to_frame()[["selected_ever", "selected_always"]].to_numpy().tolist() == [[3, 1]]
    assert "selected always" in str(result)


@pytest.mark.simulated
@pytest.mark.parametrize("method", ["nogueira", "jaccard"])
def test_interval_covers_the_population_value(method):
    """Independent rounds, features selected with unequal probabilities."""
    rng = np.random.default_rng(1)
    probability = np.r_[np.full(5, 0.8), np.full(25, 0.1)]

    def draw(n_rounds):
        return rng.random((n_rounds, 30)) < probability

    truth = selection_stability(draw(3000), method=method).value
    covered = 0
    for _ in range(100):
        result = selection_stability(draw(60), method=method, confidence_level=0.9)
        covered += result.interval.low <= truth <= result.interval.high
    assert binomtest(covered, 100, 0.9).pvalue > 0.001


def test_two_rounds_without_features_have_no_jaccard_index():
    with pytest.warns(UndefinedMetricWarning, match="jaccard stability of .* is undefined"):
        result = selection_stability([[0, 0], [0, 0], [1, 0]], method="jaccard")
    assert np.isnan(result.value)
