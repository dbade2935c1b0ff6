"""Paired tests: ties up to rounding, corrections for multiple tests, step-down P-values."""

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.multitest import multipletests

from skeval._inference.paired import (
    Right,
    at_least,
    draw_contrasts,
    exceedances,
    grouped_cochran,
    holm,
    significance_level,
    simultaneous_level,
    step_down,
    tail_probability,
    variance_of_pairs,
)


def test_ties_up_to_rounding_count():
    assert at_least(0.8 - 0.7, np.array([0.6 - 0.5, 0.1, 0.2])).all()
    assert not at_least(0.1, np.array([0.1 - 1e-9])).any()
    assert exceedances(0.5, np.array([np.nan, 0.4, 0.5])).tolist() == [True, False, True]


def test_holms_correction_equals_statsmodels():
    pvalues = np.random.default_rng(0).random(8) ** 3
    expected = multipletests(pvalues, method="holm")[1]
    assert_allclose(holm(pvalues), expected)


def test_an_undefined_pvalue_counts_as_a_test():
    adjusted = holm(np.array([0.01, np.nan, 0.02]))
    assert_allclose(adjusted, [0.03, np.nan, 0.04])


def test_levels():
    assert simultaneous_level(0.95, 10) == pytest.approx(0.995)
    assert significance_level(0.9) == 0.05
    assert significance_level(0.99) == 0.01


@each_value
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("degrees", [4, np.inf])
def test_tails_equal_scipy(alternative, degrees):
    tails = {
        "two-sided": 2 * stats.t.sf(1.3, degrees),
        "greater": stats.t.sf(1.3, degrees),
        "less": stats.t.cdf(1.3, degrees),
    }
    assert tail_probability(1.3, alternative, degrees) == pytest.approx(tails[alternative])


def test_step_down_pvalues_equal_a_loop():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 5))
    covariance = root @ root.T
    pairs = np.array([(a, b) for a in range(5) for b in range(a)])
    assert_allclose(
        variance_of_pairs(covariance, pairs),
        [covariance[a, a] + covariance[b, b] - 2 * covariance[a, b] for a, b in pairs],
    )
    drawn = draw_contrasts(covariance, pairs, np.random.default_rng(1))
    statistics = np.abs(rng.normal(size=len(pairs))) * 2
    found, largest = step_down(statistics, drawn)
    draws = np.abs(drawn.values[pairs[:, 0]] - drawn.values[pairs[:, 1]]) / drawn.errors[:, None]
    assert_allclose(largest, draws.max(axis=0))
    expected, before = np.empty(len(pairs)), 0.0
    for at in np.argsort(-statistics):
        rest = draws[statistics <= statistics[at]].max(axis=0)
        before = max(before, (1 + np.sum(rest >= statistics[at])) / (1 + draws.shape[1]))
        expected[at] = before
    assert_allclose(found, expected)


def test_too_few_groups_for_cochrans_test():
    right = np.random.default_rng(0).random((4, 12)) < 0.6
    assert np.isnan(grouped_cochran(Right(right, np.arange(12) // 6))).all()
