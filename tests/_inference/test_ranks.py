"""Tests over data sets, and of pairs, against definitions, published numbers and other packages."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.published_scores import demsar_areas
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import over_datasets as reference
from scipy import stats
from statsmodels.stats.multitest import multipletests

from skeval._inference.paired import (
    at_least,
    critical_difference,
    exceedances,
    find_groups,
    friedman,
    grouped_cochran,
    holm,
    nemenyi_pvalues,
    rank_rows,
    signed_rank_tests,
    significance_level,
    simultaneous_level,
    tail_probability,
)

SOME = settings(max_examples=30, deadline=None, derandomize=True, database=None)


def test_friedman_equals_demsar():
    """Demsar (2006), pages 9 to 12: ranks, chi-squared 9.28, F 3.69, critical difference 1.25.

    Kendall's W and the statistic that is corrected for ties are not printed there; scipy 1.17 has
    ``friedmanchisquare(*frame.T.to_numpy())`` of 10.228346456692913.
    """
    ranks = rank_rows(demsar_areas().to_numpy())
    assert_allclose(ranks.mean(axis=0), [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    test = friedman(ranks)
    found = test.details
    assert round(found["chi_squared_without_ties"], 2) == 9.28
    assert round(found["f_without_ties"], 2) == 3.69
    assert round(critical_difference(14, 4, 0.95), 2) == 1.25
    expected = stats.friedmanchisquare(*demsar_areas().T.to_numpy())
    assert_allclose([found["chi_squared"], found["chi_squared_pvalue"]], expected, rtol=1e-10)
    assert_allclose(found["kendall_w"], found["chi_squared"] / 42)
    # the F is that of a two-way analysis of variance of the ranks
    rows, columns = ranks.mean(axis=1, keepdims=True), ranks.mean(axis=0)
    rest = np.sum((ranks - rows - columns + 2.5) ** 2) / 39
    assert_allclose(test.statistic, 14 * np.sum((columns - 2.5) ** 2) / 3 / rest)


def test_no_ranks_differ_or_all_do():
    equal = friedman(rank_rows(np.ones((5, 3))))
    assert (equal.statistic, equal.pvalue) == (0.0, 1.0)
    surely = friedman(rank_rows(np.tile([1.0, 2.0, 3.0], (5, 1))))
    assert surely.statistic == np.inf
    assert_allclose(surely.pvalue, 6.0**-4)
    assert_allclose(surely.details["kendall_w"], 1.0)


def test_nemenyi_equals_scikit_posthocs_and_autorank():
    """The code of the numbers, with scikit-posthocs 0.17.1 and autorank 1.3.0:

    posthoc_nemenyi_friedman(frame.to_numpy())
    autorank(frame, alpha=0.05, force_mode="nonparametric", verbose=False).cd
    """
    expected = [0.08867270928888271, 0.9561771752218107, 0.07418479506874454]
    expected += [0.2592280701547286, 0.999859449385133, 0.22669688602641525]
    means = rank_rows(demsar_areas().to_numpy()).mean(axis=0)
    rows, columns = np.triu_indices(4, 1)
    found = nemenyi_pvalues(np.abs(means[rows] - means[columns]), 14, 4)
    assert_allclose(found, expected, rtol=1e-6)
    assert_allclose(critical_difference(14, 4, 0.95), 1.2535512603486423, rtol=1e-4)
    assert_allclose(nemenyi_pvalues(np.array([critical_difference(14, 4, 0.9)]), 14, 4), 0.1)


@SOME
@given(
    st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=8),
    st.sampled_from([1e-9, 0.1, 1.0, 1e6]),
)
def test_ranks(scores, unit):
    ranks = rank_rows(np.array(scores) * unit)
    assert_allclose(ranks.mean(axis=0), reference.mean_ranks(scores))


def compare_one(differences, confidence_level=0.95):
    """Return the numbers of a single row of differences."""
    tests = signed_rank_tests(np.array([differences], dtype=float), confidence_level)
    return tests._make(float(column[0]) for column in tests)


@SOME
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_signed_rank_pvalue_is_that_of_all_signs(differences):
    found = compare_one(np.array(differences) / 10)
    assert_allclose(found.pvalue, reference.signed_rank_pvalue(differences))
    averages = [(a + b) / 20 for i, a in enumerate(differences) for b in differences[: i + 1]]
    assert_allclose(found.estimate, np.median(averages), atol=1e-12)


@pytest.mark.parametrize("n", [6, 20, 50, 70])
def test_signed_rank_equals_scipy(n):
    d = np.random.default_rng(n).normal(0.2, 1, n)
    options = {"method": "exact"} if n <= 50 else {}
    found = compare_one(d)
    expected = stats.wilcoxon(d, correction=False, **options)
    assert_allclose(found.pvalue, expected.pvalue, rtol=1e-9)
    ranks = stats.rankdata(np.abs(d))
    assert_allclose(found.effect_size, ranks @ np.sign(d) / ranks.sum())


@pytest.mark.parametrize("n", [6, 11, 60])
def test_interval_holds_what_the_test_does_not_reject(n):
    d = np.random.default_rng(n).normal(0.2, 1, n)
    whole = compare_one(d, 0.9)
    for end, outwards in ((whole.low, -1), (whole.high, 1)):
        outside = compare_one(d - (end + 1e-6 * outwards)).pvalue
        inside = compare_one(d - (end - 1e-6 * outwards)).pvalue
        assert outside <= 0.1 < inside


def test_groups_are_runs_without_a_difference():
    pvalues = np.ones((5, 5))
    pvalues[0, 3] = pvalues[3, 0] = pvalues[0, 4] = pvalues[4, 0] = 0.01
    pvalues[2, 4] = pvalues[4, 2] = 0.01
    assert find_groups(np.arange(5), pvalues, 0.05) == [(0, 1, 2), (1, 2, 3), (3, 4)]
    assert find_groups(np.arange(5), np.eye(5), 0.05) == []
    assert find_groups(np.arange(5), np.ones((5, 5)), 0.05) == [(0, 1, 2, 3, 4)]


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


def test_too_few_groups_for_cochrans_test():
    right = np.random.default_rng(0).random((4, 12)) < 0.6
    assert np.isnan(grouped_cochran(right, np.arange(12) // 6)).all()
