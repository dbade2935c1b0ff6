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


def some_supports(n_rounds, p, k, seed=0):
    rng = np.random.default_rng(seed)
    supports = np.zeros((n_rounds, p), dtype=bool)
    for row in supports:
        row[rng.choice(p, size=k, replace=False)] = True
    return supports


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


@given(st.integers(2, 6), st.integers(1, 7), st.integers(0, 1000))
def test_kuncheva_equals_its_definition_and_nogueira(n_rounds, k, seed):
    """For k features in every round the two measures are the same number, not only on average."""
    supports = some_supports(n_rounds, 8, k, seed)
    kuncheva = selection_stability(supports, method="kuncheva")
    assert kuncheva.value == pytest.approx(
        reference.pairwise(supports, reference.kuncheva_pair), abs=1e-12
    )
    nogueira = selection_stability(supports)
    both = [
        [found.value, found.interval.low, found.interval.high] for found in (kuncheva, nogueira)
    ]
    np.testing.assert_array_equal(*both)


@pytest.mark.simulated
def test_both_are_zero_in_expectation_for_random_features():
    values = [selection_stability(some_supports(5, 20, 4, seed)).value for seed in range(1200)]
    standard_error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values)) < 4 * standard_error < 0.01


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


@pytest.mark.parametrize("method", ["nogueira", "kuncheva", "jaccard"])
def test_the_same_features_in_every_round_are_perfect(method):
    result = selection_stability(np.tile([1, 0, 1, 0], (4, 1)), method=method)
    assert result.value == pytest.approx(1)
    assert np.isnan(
        [result.interval.low, result.interval.high]
    ).all()  # that they never vary is all that is known


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


def test_everything_selected():
    everything = np.ones((3, 4), dtype=bool)
    assert selection_stability(everything, method="jaccard").value == 1
    for method in ("nogueira", "kuncheva"):
        with pytest.warns(UndefinedMetricWarning, match="0/0"):
            assert np.isnan(selection_stability(everything, method=method).value)


def test_a_single_empty_round():
    supports = [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    assert selection_stability(supports, method="jaccard").value == pytest.approx((0 + 0 + 0.5) / 3)
    assert np.isfinite(selection_stability(supports).value)


def test_order_of_rounds_and_features_does_not_matter():
    rng = np.random.default_rng(0)
    supports = rng.integers(0, 2, (6, 9))
    supports.flags.writeable = False
    shuffled = supports[rng.permutation(6)][:, rng.permutation(9)]
    for method in ("nogueira", "jaccard"):
        first = selection_stability(supports, method=method)
        second = selection_stability(shuffled, method=method)
        assert first.value == pytest.approx(second.value, rel=1e-12)
        assert first.interval.low == pytest.approx(second.interval.low, rel=1e-12)


def test_bad_input():
    with pytest.raises(ValueError, match="same number of features in every round, got 1 to 2"):
        selection_stability([[1, 0, 0], [1, 1, 0]], method="kuncheva")
    with pytest.raises(ValueError, match=r"supports must hold truth values.*got 2"):
        selection_stability([[1, 0], [2, 1]])
    with pytest.raises(ValueError, match=r"method must be one of 'nogueira'.*got 'dice'"):
        selection_stability([[1, 0], [0, 1]], method="dice")
    with pytest.raises(
        ValueError, match="confidence_level must fulfill 0 < confidence_level < 1, got 95"
    ):
        selection_stability([[1, 0], [0, 1]], confidence_level=95)
    with pytest.raises(ValueError, match="Expected 2D array"):
        selection_stability([1, 0, 1])


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
