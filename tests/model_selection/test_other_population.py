"""Another prevalence: measures and limits against a grid, units of the text, and the coverage."""

import pickle

import numpy as np
import pytest
from reference import other_population
from scipy.special import expit
from scipy.stats import t

from skeval.model_selection import threshold_measures

MEASURES = ("ppv", "npv", "accuracy", "net_benefit")


def draw(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    return y.astype(int), 1 / (1 + np.exp(-rng.normal(2 * y - 1.0)))


@pytest.mark.parametrize("prevalence", [0.01, 0.5])
def test_limits_are_those_of_a_grid(prevalence):
    y, score = draw()
    found = threshold_measures(y, score, threshold=0.4, prevalence=prevalence)
    rates = [found[name].value for name in ("sensitivity", "specificity")]
    odds = 0.4 / 0.6
    for name, value in other_population.measures(prevalence, odds, *rates).items():
        assert found[name].value == pytest.approx(value)
        ends = other_population.limits(prevalence, odds, rates, (40, 80))[name]
        np.testing.assert_allclose(list(found[name].interval), ends, atol=2e-3)
    assert pickle.loads(pickle.dumps(found))["ppv"].interval == found["ppv"].interval


def test_correlated_rates_have_the_limits_of_a_grid():
    """Each group holds one positive and two negatives, and a shift of their scores."""
    groups, y, rng = np.arange(120) // 3, np.tile([1, 0, 0], 40), np.random.default_rng(0)
    score = expit(1.2 * rng.normal(size=40)[groups] + 0.6 * rng.normal(2 * y - 1.0))
    found = threshold_measures(y, score, threshold=0.4, prevalence=0.2, groups=groups)
    own = [found["sensitivity"], found["specificity"]]
    rates = [each.value for each in own]
    sizes = [each.value * (1 - each.value) / each.standard_error**2 for each in own]
    right = (score >= 0.4) - np.where(y == 1, rates[0], 1 - rates[1])
    sums = [np.bincount(groups, weights=right * (y == label)) for label in (1, 0)]
    correlation = -np.corrcoef(sums)[0, 1]
    assert correlation < -0.3
    options = {"z": t.isf(0.025, 39), "correlation": correlation}
    for name, ends in other_population.limits(0.2, 0.4 / 0.6, rates, sizes, **options).items():
        np.testing.assert_allclose(list(found[name].interval), ends, atol=5e-4)


def test_one_rate_has_wilsons_interval():
    y, score = draw()
    found = threshold_measures(y, score, threshold=0.4, prevalence=1 - 1e-6)
    np.testing.assert_allclose(
        list(found["accuracy"].interval), list(found["sensitivity"].interval), rtol=1e-4
    )


@pytest.mark.parametrize("extra", ["groups", "sample_weight", None])
def test_the_prevalence_of_the_samples_gives_their_measures(extra):
    y, score = draw()
    options = {"groups": np.arange(120) // 4, "sample_weight": np.linspace(0.5, 2, 120)}
    options = {extra: options[extra]} if extra else {}
    prevalence = np.average(y, weights=options.get("sample_weight"))
    here = threshold_measures(y, score, threshold=0.4, **options)
    moved = threshold_measures(y, score, threshold=0.4, prevalence=prevalence, **options)
    for name in ("ppv", "npv"):
        assert moved[name].value == pytest.approx(here[name].value)
    assert moved["ppv"].standard_error > 0
    variance = moved["accuracy"].value * (1 - moved["accuracy"].value)
    expected = variance / moved["accuracy"].standard_error ** 2
    assert moved["accuracy"].effective_n_samples == pytest.approx(expected)


def test_a_chosen_threshold_keeps_its_optimism():
    y, score = draw()
    options = {"n_resamples": 40, "random_state": 0, "prevalence": 0.05}
    found = threshold_measures(y, score, threshold={"cost_ratio": 4}, **options)
    shares = [found[name].details["apparent"] for name in ("sensitivity", "specificity")]
    for name in MEASURES:
        apparent = other_population.measures(0.05, 0.25, *shares)[name]
        assert found[name].details["apparent"] == pytest.approx(apparent)
        assert found[name].method == "bootstrap"
    ranked = threshold_measures(y, 3 * score, threshold="youden", **options)
    assert "net_benefit" not in ranked  # scores above 1 set no odds


def test_an_undefined_value_is_nan():
    y, score = draw()
    with pytest.warns(match="ppv is"):
        found = threshold_measures(y, score, threshold=2.0, prevalence=0.1)
    assert np.isnan([found["ppv"].value, found["ppv"].interval.low]).all()
    assert found["npv"].value == pytest.approx(0.9)


@pytest.mark.parametrize("prevalence", [0, 1, 1.5, "rare", True])
def test_a_wrong_prevalence_is_named(prevalence):
    y, score = draw()
    with pytest.raises(ValueError, match="prevalence"):
        threshold_measures(y, score, threshold=0.5, prevalence=prevalence)
