"""Net benefit: its definition, published numbers, and how often its intervals cover."""

import numpy as np
import pytest
from helpers.published_scores import DCURVES, FAMILY_HISTORY, TREAT_ALL, decision_patients
from helpers.strategies import scored
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from reference import curves as reference
from scipy.stats import binom, norm

from skeval.metrics import net_benefit


def test_numbers_of_dcurves():
    y, proba = decision_patients()
    curve = net_benefit(y, proba, thresholds=list(DCURVES))
    assert_allclose(curve.y, [row[2] for row in DCURVES.values()], rtol=1e-12)
    curve = net_benefit(y, proba, thresholds=list(TREAT_ALL))
    assert_allclose(curve.columns["treat_all"], list(TREAT_ALL.values()), rtol=1e-12)
    assert_allclose(
        net_benefit(y, np.ones(750), thresholds=list(TREAT_ALL)).y, curve.columns["treat_all"]
    )
    history = np.zeros(750)
    history[:24], history[105 : 105 + 91] = 1, 1  # of 0.032 and 0.1213 of the patients
    found = net_benefit(y, history, thresholds=list(FAMILY_HISTORY)).y
    assert_allclose(found, list(FAMILY_HISTORY.values()), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:y_proba looks reversed")
@given(scored())
@settings(max_examples=15)
def test_it_is_its_definition(data):
    y, score, weight = data
    proba, thresholds = score / 6, [0.0, 0.1, 1 / 3, 0.5, 0.9]
    found = net_benefit(y, proba, sample_weight=weight, thresholds=thresholds)
    expected = [reference.net_benefit(y == 1, proba, t, weight) for t in thresholds]
    assert_allclose(found.y, expected, atol=1e-12)
    assert_allclose(found.columns["treat_all"][0], found.extra.prevalence)
    repeats = weight.astype(int)
    repeated = net_benefit(np.repeat(y, repeats), np.repeat(proba, repeats), thresholds=thresholds)
    assert_allclose(found.y, repeated.y, atol=1e-12)


def models(seed=0, n=90):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    scores = rng.normal(size=(2, n)) + np.array([[1.5], [0.7]]) * y
    return y, *(1 / (1 + np.exp(1 - score)) for score in scores)


def test_a_difference_is_that_of_two_curves_and_turns_round():
    y, proba, other = models()
    difference = net_benefit(y, proba, baseline=other)
    one, two = net_benefit(y, proba), net_benefit(y, other)
    assert difference.extra.is_difference
    assert_allclose(difference.y, one.y - two.y, atol=1e-12)
    turned = net_benefit(y, other, baseline=proba)
    assert_allclose(turned.y, -difference.y, atol=1e-12)
    assert_allclose(turned.low, -difference.high, atol=2e-5)
    middle = np.arange(20, 50)
    paired = difference.high - difference.low
    apart = np.hypot(one.high - one.low, two.high - two.low)
    assert np.mean(paired[middle]) < np.mean(apart[middle])  # for the same samples judge both


def test_a_threshold_does_not_ask_about_the_others():
    """In any order, twice, or at a probability that occurs."""
    y, proba, other = models()
    thresholds = [0.5, 0.2, float(proba[0]), 0.5, 0.0]
    groups = np.arange(len(y)) // 3
    for given_groups, baseline in ((None, None), (None, other), (groups, other)):
        options = {"groups": given_groups, "baseline": baseline}
        found = net_benefit(y, proba, thresholds=thresholds, **options)
        alone = [net_benefit(y, proba, thresholds=[each], **options) for each in thresholds]
        for name in ("y", "low", "high"):
            expected = [getattr(each, name)[0] for each in alone]
            assert_allclose(getattr(found, name), expected, rtol=0, atol=1e-9)


def test_it_reads_and_refuses():
    y, proba, _ = models()
    curve = net_benefit(y, proba)
    assert str(curve).splitlines()[0] == "net benefit"
    columns = ["threshold", "net_benefit", "low", "high", "treat_all"]
    assert list(curve.to_frame().columns) == columns
    assert_array_equal(curve.thresholds, np.arange(1, 100) / 100)
    with pytest.raises(ValueError, match="y_proba must lie between 0 and 1, got -"):
        net_benefit(y, proba - 1 - proba.min())
    with pytest.raises(ValueError, match="baseline must lie between 0 and 1"):
        net_benefit(y, proba, baseline=2 * proba + 1)
    for wrong in ([1.0], [-0.1, 0.5]):
        with pytest.raises(ValueError, match=r"thresholds must lie in \[0, 1\)"):
            net_benefit(y, proba, thresholds=wrong)
    with pytest.raises(ValueError, match="thresholds must have one column"):
        net_benefit(y, proba, thresholds=[[0.1, 0.2]])
    with pytest.raises(ValueError, match="at least two groups"):
        net_benefit(y, proba, groups=np.zeros(90))
    with pytest.raises(ValueError, match="pos_label"):
        net_benefit(y + 3, proba)


def covered(n, rate, area, n_sets, seed=0):
    """Return how many intervals hold the net benefit of one model, and of a difference."""
    rng, thresholds = np.random.default_rng(seed), rate * np.array([0.5, 1, 1.5])
    odds = thresholds / (1 - thresholds)
    shifts = [np.sqrt(2) * norm.ppf(a) for a in (area, (area + 0.5) / 2)]
    cuts = [(np.log(odds * (1 - rate) / rate) + s**2 / 2) / s for s in shifts]
    truths = [
        rate * norm.sf(cut - shift) - (1 - rate) * odds * norm.sf(cut)
        for cut, shift in zip(cuts, shifts, strict=True)
    ]
    hits = np.zeros((2, 3), dtype=int)
    for _ in range(n_sets):
        y = (rng.random(n) < rate).astype(int)
        odds_of = [
            rate / (1 - rate) * np.exp(s * (rng.normal(size=n) + s * y) - s**2 / 2) for s in shifts
        ]
        proba, other = (o / (1 + o) for o in odds_of)
        one = net_benefit(y, proba, thresholds=thresholds)
        two = net_benefit(y, proba, baseline=other, thresholds=thresholds)
        hits[0] += (one.low <= truths[0]) & (truths[0] <= one.high)
        hits[1] += (two.low <= truths[0] - truths[1]) & (truths[0] - truths[1] <= two.high)
    return hits


@pytest.mark.simulated
def test_it_covers_in_93_of_100_data_sets_at_least():
    assert binom.cdf(covered(50, 0.1, 0.9, 60), 60, 0.93).min() > 0.005
