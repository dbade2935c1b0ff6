"""Tests over data sets, and of pairs, against definitions, published numbers and other packages."""

import itertools

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.published_scores import demsar_areas
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import over_datasets as reference
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from skeval.model_selection import compare_predictions, compare_scores

SOME = settings(max_examples=30, deadline=None, derandomize=True, database=None)


def test_friedman_equals_demsar():
    """Demsar (2006), pages 9 to 12: ranks, chi-squared 9.28, F 3.69, critical difference 1.25.

    Kendall's W and the statistic that is corrected for ties are not printed there; scipy 1.17 has
    ``friedmanchisquare(*frame.T.to_numpy())`` of 10.228346456692913.
    """
    compared = compare_scores(demsar_areas(), over="datasets")
    assert_allclose(compared.extra.mean_ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    test = compared.omnibus
    found = test.details
    assert round(found["chi_squared_without_ties"], 2) == 9.28
    assert round(found["f_without_ties"], 2) == 3.69
    assert round(compared.extra.critical_difference, 2) == 1.25
    expected = stats.friedmanchisquare(*demsar_areas().T.to_numpy())
    assert_allclose([found["chi_squared"], found["chi_squared_pvalue"]], expected, rtol=1e-10)
    assert_allclose(found["kendall_w"], found["chi_squared"] / 42)
    # the F is that of a two-way analysis of variance of the ranks
    ranks = stats.rankdata(-demsar_areas(), axis=1)
    columns = ranks.mean(axis=0)
    rest = np.sum((ranks - columns) ** 2) / 39
    assert_allclose(test.statistic, 14 * np.sum((columns - 2.5) ** 2) / 3 / rest)


def test_no_ranks_differ_or_all_do():
    equal = compare_scores(np.ones((5, 3)), over="datasets").omnibus
    assert (equal.statistic, equal.pvalue) == (0.0, 1.0)
    surely = compare_scores(np.tile([1.0, 2.0, 3.0], (5, 1)), over="datasets").omnibus
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
    found = compare_scores(demsar_areas(), method="nemenyi", over="datasets")
    assert_allclose(found.to_matrix("pvalue")[np.triu_indices(4, 1)], expected, rtol=1e-6)
    assert_allclose(found.extra.critical_difference, 1.2535512603486423, rtol=1e-4)
    # at the level of a pair's own P-value its distance is the critical one
    level = {"over": "datasets", "confidence_level": 1 - expected[0]}
    means, limit = found.extra.mean_ranks, compare_scores(demsar_areas(), **level).extra
    assert_allclose(limit.critical_difference, abs(means[0] - means[1]), rtol=1e-6)


@SOME
@given(
    st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=8),
    st.sampled_from([1e-9, 0.1, 1.0, 1e6]),
)
def test_ranks(scores, unit):
    found = compare_scores(np.array(scores) * unit, over="datasets")
    assert_allclose(found.extra.mean_ranks, reference.mean_ranks(scores))


def compare_one(differences, confidence_level=0.95):
    """Return the test of two systems with these differences."""
    scores = np.column_stack([differences, np.zeros(len(differences))])
    options = {"method": "wilcoxon", "confidence_level": confidence_level}
    return compare_scores(scores, over="datasets", **options).difference


@SOME
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9))
def test_signed_rank_pvalue_is_that_of_all_signs(differences):
    found = compare_one(np.array(differences) / 10)
    assert_allclose(found.pvalue, reference.signed_rank_pvalue(differences))
    averages = [(a + b) / 20 for i, a in enumerate(differences) for b in differences[: i + 1]]
    assert_allclose(found.value, np.median(averages), atol=1e-12)


@pytest.mark.parametrize("n", [6, 20, 50, 70])
def test_signed_rank_equals_scipy(n):
    d = np.random.default_rng(n).normal(0.2, 1, n)
    options = {"method": "exact"} if n <= 50 else {}
    found = compare_one(d)
    expected = stats.wilcoxon(d, correction=False, **options)
    assert_allclose(found.pvalue, expected.pvalue, rtol=1e-9)
    ranks = stats.rankdata(np.abs(d))
    assert_allclose(found.extra.effect_size, ranks @ np.sign(d) / ranks.sum())


@pytest.mark.parametrize("n", [6, 11, 60])
def test_interval_holds_what_the_test_does_not_reject(n):
    d = np.random.default_rng(n).normal(0.2, 1, n)
    whole = compare_one(d, 0.9).interval
    for end, outwards in ((whole.low, -1), (whole.high, 1)):
        outside = compare_one(d - (end + 1e-6 * outwards)).pvalue
        inside = compare_one(d - (end - 1e-6 * outwards)).pvalue
        assert outside <= 0.1 < inside


def test_groups_are_runs_without_a_difference():
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.5, 1.0, 3.0):
        found = compare_scores(rng.normal(size=(20, 5)) + shift * np.arange(5), over="datasets")
        names, pvalues = [found.names[place] for place in found.order], found.to_matrix("pvalue")
        alike = pvalues[np.ix_(found.order, found.order)] > 0.05
        runs = [
            (start, end)
            for start, end in itertools.combinations(range(6), 2)
            if end - start > 1
            and alike[start:end, start:end][~np.eye(end - start, dtype=bool)].all()
        ]
        longest = [
            tuple(names[start:end])
            for start, end in runs
            if not any(a <= start and end <= b and (a, b) != (start, end) for a, b in runs)
        ]
        assert found.tied == longest
        assert len(longest) == {0.0: 1, 0.5: 3, 1.0: 2, 3.0: 0}[shift]


def test_an_undefined_pvalue_counts_as_a_test():
    """Two forecasts whose errors differ by a constant have no test, and the third has two."""
    rng = np.random.default_rng(0)
    errors = {"a": np.full(40, 4.0), "b": np.full(40, 4.5), "c": 4.4 + rng.uniform(-0.5, 0.5, 40)}
    options = {"metric": "mean_absolute_error", "method": "diebold_mariano"}
    with pytest.warns(UndefinedMetricWarning):
        found = compare_predictions(np.zeros(40), errors, **options).differences
    undefined, *tested = found.values()
    assert np.isnan(undefined.pvalue)
    first, second = np.sort([each.extra.pvalue_alone for each in tested])
    assert 0 < first < second < 0.2
    expected = sorted([min(1, 3 * first), min(1, max(3 * first, 2 * second))])
    assert_allclose(np.sort([each.pvalue for each in tested]), expected)


def test_a_lower_confidence_level_does_not_raise_the_significance_level():
    rng = np.random.default_rng(0)
    scores = {"a": rng.normal(size=6), "b": rng.normal(size=6)}
    for confidence_level, level in ((0.9, 0.05), (0.95, 0.05), (0.99, 0.01)):
        options = {"test_train_ratio": 0.2, "confidence_level": confidence_level}
        assert compare_scores(scores, **options).level == level


def test_the_intervals_of_ten_pairs_have_a_level_of_one_tenth():
    rng = np.random.default_rng(0)
    systems = {name: (rng.random(60) < 0.6).astype(int) for name in "abcde"}
    found = compare_predictions(np.ones(60, int), systems, method="mcnemar")
    for pair, difference in found.differences.items():
        two = {name: systems[name] for name in pair}
        options = {"method": "mcnemar", "confidence_level": 0.995}
        alone = compare_predictions(np.ones(60, int), two, **options).difference
        assert [*difference.interval] == pytest.approx([*alone.interval])
        assert difference.interval.confidence_level == 0.95


@each_value
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("degrees", [4, np.inf])
def test_tails_equal_scipy(alternative, degrees):
    rng, options = np.random.default_rng(0), {"alternative": alternative}
    if np.isfinite(degrees):  # one less than the number of splits
        scores = {name: rng.normal(shift, 1, 5) for name, shift in (("a", 1), ("b", 0))}
        tested = compare_scores(scores, test_train_ratio=0.25, **options).difference
        gaps = scores["a"] - scores["b"]
        expected = gaps.mean() / np.sqrt((1 / 5 + 0.25) * gaps.var(ddof=1))
        assert tested.statistic == pytest.approx(expected)
    else:
        y = np.repeat([0, 1], 30)
        scores = [rng.normal(size=60) + shift * y for shift in (2, 1)]
        tested = compare_predictions(y, scores, method="delong", **options).difference
    above, both = stats.t.sf([tested.statistic, abs(tested.statistic)], degrees)
    tails = {"two-sided": 2 * both, "greater": above, "less": 1 - above}
    assert tested.pvalue == pytest.approx(tails[alternative])


def test_too_few_groups_for_cochrans_test():
    right = (np.random.default_rng(0).random((4, 12)) < 0.6).astype(int)
    options = {"groups": np.arange(12) // 6, "method": "cochran_q"}
    test = compare_predictions(np.ones(12, int), list(right), **options).omnibus
    assert np.isnan([test.statistic, test.pvalue]).all()
