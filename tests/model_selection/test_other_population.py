"""Another prevalence: measures and limits against a grid, units of the text, and the coverage."""

import pickle

import numpy as np
import pytest
from reference import other_population

from skeval._inference.intervals import score_region_limits
from skeval.model_selection import threshold_measures
from skeval.model_selection._threshold import Population

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
    population = Population(0.2, 0.5)
    expected = other_population.limits(0.2, 0.5, (0.8, 0.7), (40, 80), correlation=-0.5)
    for name, measure in population.measures.items():
        ends = score_region_limits(measure, (0.8, 0.7), (40, 80), -0.5, 0.95)
        np.testing.assert_allclose(ends, expected[name], atol=2e-3)


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
