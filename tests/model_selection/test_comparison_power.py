"""The number of data sets, or of samples, that a difference needs: against known power."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skeval.model_selection import (
    compare_classifiers,
    compare_predictions,
    compare_scores,
    comparison_power,
)

RNG = np.random.default_rng(0)
Y = np.tile([0, 1], 60)
A, B = (np.where(RNG.random(120) < rate, Y, 1 - Y) for rate in (0.85, 0.78))
RANKED = compare_predictions(
    Y, [RNG.normal(size=120) + Y, RNG.normal(size=120) + 2 * Y], method="delong"
)


def count_discordant(comparison):
    return comparison.difference.extra.only_a + comparison.difference.extra.only_b


@pytest.mark.simulated
def test_data_sets_are_as_many_as_the_t_test_needs_and_a_little_more():
    """Normal differences of mean 0.5 sd: 34 by the t-test, whose efficiency is 0.955."""
    normal = stats.norm.ppf((np.arange(60) + 0.5) / 60)
    scores = np.column_stack([normal + 0.5, np.zeros(60)])
    found = comparison_power(
        compare_scores(scores, over="datasets"), n_simulations=250, random_state=0
    )
    assert found.axes[0] == "n_datasets"
    assert_allclose(found.extra.difference, 0.5, atol=1e-9)
    assert 31 <= found.extra.value <= 41
    assert (np.diff(found.x) > 0).all()
    assert found.y[list(found.x).index(found.extra.value)] >= 0.8
    half = comparison_power(
        compare_scores(scores, over="datasets"), difference=0.25, n_simulations=100, random_state=0
    )
    assert 3 * found.extra.value < half.extra.value < 5 * found.extra.value


def test_pairs_of_several_take_the_level_of_all():
    scores = RNG.normal(size=(20, 4)) + [0.0, 0.2, 0.8, 1.0]
    comparison = compare_scores(scores, over="datasets")
    pair = ("classifier 4", "classifier 1")
    found = comparison_power(comparison, pair=pair, n_simulations=50, random_state=0)
    assert_allclose(found.extra.level, 0.05 / 6)
    assert_allclose(found.extra.difference, comparison.to_matrix()[3, 0])
    default = comparison_power(comparison, difference=1.0, n_simulations=50, random_state=0)
    assert default.extra.difference == 1.0


def test_samples_of_areas_are_as_many_as_the_normal_law_needs():
    found = comparison_power(RANKED, difference=0.1, n_simulations=2000, random_state=0)
    needed = (
        120
        * (RANKED.difference.standard_error * (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) / 0.1)
        ** 2
    )
    assert_allclose(found.extra.value, needed, rtol=0.12)
    assert found.axes[0] == "n_samples"


@pytest.mark.parametrize("method", ["mcnemar", "delong"])
def test_one_sided_power_of_a_pair_in_reverse_order(method):
    """A test that a scores less than b is the test that b scores more than a."""
    options = {"method": method, "alternative": "less"}
    scores = [RNG.normal(size=120) + Y, RNG.normal(size=120) + 2 * Y]
    named = dict(zip("ab", [B, A] if method == "mcnemar" else scores, strict=True))
    comparison = compare_predictions(Y, named, **options)
    simulation = {"n_simulations": 300, "random_state": 0}
    forward = comparison_power(comparison, pair=("a", "b"), difference=-0.1, **simulation)
    reverse = comparison_power(comparison, pair=("b", "a"), difference=0.1, **simulation)
    assert reverse.extra.value == pytest.approx(forward.extra.value, rel=0.15)


@pytest.mark.simulated
def test_samples_of_errors():
    """McNemar's test with a fraction p of discordant samples, by the formula of Connor (1987)."""
    comparison = compare_predictions(Y, [A, B], method="mcnemar")
    fraction = count_discordant(comparison) / 120
    found = comparison_power(comparison, difference=0.08, n_simulations=500, random_state=0)
    quantiles = stats.norm.ppf([0.975, 0.8])
    root = quantiles @ [np.sqrt(fraction), np.sqrt(fraction - 0.08**2)]
    needed = (root / 0.08) ** 2
    # the correction of the test costs about 1 / difference samples more
    assert needed * 0.9 < found.extra.value < needed * 1.12 + 1 / 0.08
    assert "About" in found.answer
    assert list(found.to_frame().columns) == ["n_samples", "power"]
    with pytest.raises(ValueError, match="difference must be <= "):
        comparison_power(comparison, difference=0.9)


@pytest.mark.parametrize(("n", "n_missed"), [(49, 3), (187, 7)])
def test_all_discordant_samples_on_one_side(n, n_missed):
    """Only one is ever wrong alone, and the exact test rejects by six such samples."""
    y, wrong = np.arange(n) % 2, np.arange(n) % 11 == 0
    missed = wrong | (np.arange(n) % 13 == 1) & (np.cumsum(np.arange(n) % 13 == 1) <= n_missed)
    a, b = np.where(wrong, 1 - y, y), np.where(missed, 1 - y, y)
    for first, second in ((a, b), (b, a)):
        comparison = compare_predictions(y, [first, second], method="mcnemar")
        assert 0 in (comparison.difference.extra.only_a, comparison.difference.extra.only_b)
        found = comparison_power(comparison, n_simulations=100, random_state=0)
        rates = stats.binom.sf(5, found.x, count_discordant(comparison) / n)
        assert_allclose(found.y, rates, atol=0.2)


def draw_systems(n_groups, size, seed, icc=0.3):
    """Two systems of which the second errs .08 more often, on samples of groups that are alike."""
    rng, groups = np.random.default_rng(seed), np.repeat(np.arange(n_groups), size)

    def draw():
        shared, own = rng.normal(size=n_groups)[groups], rng.normal(size=len(groups))
        return icc**0.5 * shared + (1 - icc) ** 0.5 * own

    both = draw()
    wrong = [(0.7 * both + 0.51**0.5 * draw() < stats.norm.ppf(r)).astype(int) for r in (0.2, 0.28)]
    return np.zeros(len(groups), dtype=int), wrong, groups


@pytest.mark.simulated
@pytest.mark.parametrize("method", ["mcnemar", "max_t"])
def test_studies_of_groups_have_the_power_that_was_found(method):
    y, two, groups = draw_systems(2000, 10, 0)
    pilot = compare_predictions(y, two, groups=groups, method=method, random_state=0)
    options = {"difference": 0.08, "n_simulations": 400, "random_state": 0}
    found = comparison_power(pilot, **options)
    n_groups, n_found = round(found.extra.value / 10), 0
    for seed in range(1, 81):
        y, two, groups = draw_systems(n_groups, 10, seed)
        study = compare_predictions(y, two, groups=groups, method=method, random_state=0)
        n_found += study.difference.pvalue <= 0.05
    assert stats.binomtest(n_found, 80, 0.8).pvalue > 0.001


def test_groups_that_cannot_be_planned_are_refused():
    y, two, groups = draw_systems(12, 12, 0)
    crossed = np.column_stack([groups, np.tile(np.arange(12), 12)])
    result = compare_predictions(y, two, groups=crossed, method="max_t", random_state=0)
    with pytest.raises(ValueError, match="must not be of crossed groups"):
        comparison_power(result)


def test_samples_of_scores_of_splits():
    X, y = make_classification(n_samples=150, n_informative=3, flip_y=0.2, random_state=0)
    two = GaussianNB(), DecisionTreeClassifier(max_depth=1)
    comparison = compare_classifiers(two, X, y, cv=10, random_state=0, alternative="greater")
    far = 3 * comparison.difference.standard_error
    found = comparison_power(comparison, difference=far, n_simulations=400, random_state=0)
    assert found.x.min() == 150  # rules trained on fewer samples are other rules
    sure = comparison_power(comparison, difference=9.0, n_simulations=20, random_state=0)
    assert (sure.extra.value, list(sure.x)) == (150, [150])
    assert sure.answer.startswith("The available 150 samples detect a difference of 9")
    # noncentral t on 9 degrees of freedom
    cut = stats.t.ppf(0.95, 9)
    for size, power in zip(found.x, found.y, strict=True):
        expected = stats.nct.sf(cut, 9, 3 * np.sqrt(size / 150))
        assert abs(power - expected) < 4 * np.sqrt(expected * (1 - expected) / 400) + 0.003


@each_value
@pytest.mark.parametrize("times", [1, 4, 40])
@pytest.mark.parametrize("difference", [0.05, 0.3, 2.0])
def test_the_number_needed_depends_on_no_size_at_hand(times, difference):
    """A result of more samples has a smaller error, and the same number is needed."""
    error = RANKED.difference.standard_error / np.sqrt(times)
    tests = replace(RANKED.tests, standard_error=np.array([error]))
    comparison = replace(RANKED, tests=tests, n_samples=120 * times)
    options = {"difference": difference, "n_simulations": 400, "random_state": 0}
    found = comparison_power(comparison, **options)
    shifts = difference * np.sqrt(np.arange(1, 10**5) / 120) / RANKED.difference.standard_error
    needed = 1 + int(np.argmax(stats.norm.sf(stats.norm.ppf(0.975) - shifts) >= 0.8))
    assert_allclose(found.extra.value, max(needed, 5), rtol=0.15)
    below = found.y[found.x < found.extra.value]
    assert (below < 0.8).all()
    assert len(below) or found.extra.value == 5


def test_no_difference_is_never_found():
    found = comparison_power(RANKED, difference=0.0, n_simulations=20, random_state=0)
    assert found.extra.value is None
    assert "No study with up to 120000 samples" in found.answer
