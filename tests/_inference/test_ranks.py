"""Tests over data sets against their definitions, published numbers and other packages."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.published_scores import demsar_areas
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import over_datasets as reference
from scipy import stats

from skeval._inference.ranks import (
    critical_difference,
    exact_friedman_pvalue,
    find_groups,
    friedman,
    nemenyi_pvalues,
    rank_rows,
    signed_rank_pvalue,
    signed_rank_tests,
)

SOME = settings(max_examples=30, deadline=None, derandomize=True, database=None)


def test_friedman_equals_demsar():
    """Demsar (2006), pages 9 to 12: ranks, chi-squared 9.28, F 3.69, critical difference 1.25.

    Kendall's W and the statistic that is corrected for ties are not printed there; scipy 1.17 has
    ``friedmanchisquare(*frame.T.to_numpy())`` of 10.228346456692913.
    """
    ranks = rank_rows(demsar_areas().to_numpy())
    assert_allclose(ranks.mean(axis=0), [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    found = friedman(ranks).details
    assert round(found["chi_squared_without_ties"], 2) == 9.28
    assert round(found["f_without_ties"], 2) == 3.69
    assert round(critical_difference(14, 4, 0.95), 2) == 1.25
    expected = stats.friedmanchisquare(*demsar_areas().T.to_numpy())
    assert_allclose([found["chi_squared"], found["chi_squared_pvalue"]], expected, rtol=1e-10)
    assert_allclose(found["kendall_w"], found["chi_squared"] / 42)
    # the F is that of a two-way analysis of variance of the ranks
    rows, columns = ranks.mean(axis=1, keepdims=True), ranks.mean(axis=0)
    rest = np.sum((ranks - rows - columns + 2.5) ** 2) / 39
    assert_allclose(found["f_statistic"], 14 * np.sum((columns - 2.5) ** 2) / 3 / rest)


def test_no_ranks_differ_or_all_do():
    equal = friedman(rank_rows(np.ones((5, 3))))
    assert (equal.statistic, equal.pvalue, equal.details["f_statistic"]) == (0.0, 1.0, 0.0)
    surely = friedman(rank_rows(np.tile([1.0, 2.0, 3.0], (5, 1))))
    assert surely.details["f_statistic"] == np.inf
    assert_allclose([surely.details["f_pvalue"], surely.pvalue], 6.0**-4)
    assert_allclose(surely.details["kendall_w"], 1.0)


@pytest.mark.parametrize(("n", "k"), [(2, 3), (4, 3), (2, 4), (3, 4)])
def test_friedman_is_exact_for_small_tables(n, k):
    rng = np.random.default_rng(0)
    for n_values in (3, 1000):  # with and without ties
        ranks = rank_rows(rng.integers(0, n_values, (n, k)).astype(float))
        expected = reference.friedman_pvalue(ranks.tolist())
        assert_allclose(friedman(ranks).pvalue, expected)


def test_friedman_keeps_its_level_for_two_and_three_rows():
    """Of 600 random tables each, the F rejects at 5 % in 120 of 3 x 3, the exact test in 19."""
    rng = np.random.default_rng(0)
    for n, k in [(3, 3), (2, 4), (3, 4)]:
        tables = [rank_rows(rng.random((n, k))) for _ in range(200)]
        rejected = sum(friedman(ranks).pvalue <= 0.05 for ranks in tables)
        assert stats.binom.sf(rejected - 1, 200, 0.05) > 0.001


def test_tables_too_large_for_the_exact_distribution():
    large = rank_rows(np.random.default_rng(0).random((11, 3)))
    assert friedman(large).name == "F"
    surely = friedman(rank_rows(np.tile(np.arange(12.0), (3, 1))))
    assert 0 < surely.pvalue < 1e-16


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


def test_interval_leaves_out_as_many_averages_as_the_level_allows():
    """Of 2^7 signs 1, 1 and 1 make the sums 0, 1 and 2, and 3 / 128 < 0.025; two make the sum 3."""
    d = np.array([1.1, 2.2, 0.3, -0.4, 1.5, 2.6, 0.7])
    averages = np.sort([(a + b) / 2 for i, a in enumerate(d) for b in d[: i + 1]])
    whole, few = compare_one(d), compare_one(d[:5])
    assert_allclose([whole.low, whole.high], [averages[2], averages[-3]])
    assert (few.low, few.high) == (-np.inf, np.inf)


def test_groups_are_runs_without_a_difference():
    pvalues = np.ones((5, 5))
    pvalues[0, 3] = pvalues[3, 0] = pvalues[0, 4] = pvalues[4, 0] = 0.01
    pvalues[2, 4] = pvalues[4, 2] = 0.01
    assert find_groups(np.arange(5), pvalues, 0.05) == [(0, 1, 2), (1, 2, 3), (3, 4)]
    assert find_groups(np.arange(5), np.eye(5), 0.05) == []
    assert find_groups(np.arange(5), np.ones((5, 5)), 0.05) == [(0, 1, 2, 3, 4)]


@each_value
@pytest.mark.parametrize("n", [4, 9, 60])
@pytest.mark.parametrize("digits", [0, 12])
def test_many_signed_rank_tests_are_those_of_a_loop(n, digits):
    differences = np.random.default_rng(n).normal(0.3, 1, size=(20, n)).round(digits)
    differences[0] = 0
    found = np.array(signed_rank_tests(differences, 0.99))
    for row, column in zip(differences, found.T, strict=True):
        assert_allclose(column, compare_one(row, 0.99), rtol=1e-12, atol=1e-15)
        assert_allclose(column[3:5], signed_rank_pvalue(row), rtol=1e-12)


def test_a_table_with_too_many_states_has_no_exact_pvalue(monkeypatch):
    ranks = np.array([[1.0, 2, 3], [2, 1, 3], [3, 2, 1]])
    assert exact_friedman_pvalue(ranks) > 0
    monkeypatch.setattr("skeval._inference.ranks.MAX_EXACT_STATES", 5)
    assert np.isnan(exact_friedman_pvalue(ranks))
