"""The P-value and its interval, from scores."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import permutation as reference
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from skeval.model_selection._permutation_result import permutation_result

near_ties = st.lists(st.sampled_from([0.1, 0.3, 0.3 * (1 + 1e-14), 0.5]), min_size=1, max_size=30)


@given(near_ties, st.integers(1, 6))
def test_pvalue_against_its_definition(null, h):
    null, statistic = np.array(null), 0.3 * (1 + 3e-15)
    whole = permutation_result("score", statistic, null, None)
    assert whole.pvalue == reference.pvalue(0.3, null)
    assert 1 / (len(null) + 1) <= whole.pvalue <= 1
    early = permutation_result("score", statistic, null, h)
    assert (early.pvalue, early.n_permutations) == reference.sequential_pvalue(0.3, null, h)


def test_ties_that_rounding_breaks_are_ties():
    statistic = 0.1 + 0.2  # 0.30000000000000004
    assert permutation_result("score", statistic, np.array([0.3]), None).pvalue == 1
    assert permutation_result("score", -0.3, np.array([-statistic]), None).pvalue == 1
    assert permutation_result("score", 0.3, np.array([0.3 - 1e-9]), None).pvalue == 0.5


def scores_of(metric, rng, n=24, n_permutations=60):
    """The metric of a constant and of permuted predictions, one of them summed in another order."""
    y = rng.integers(0, 2, n)
    predicted = [rng.permutation(y[::-1]) for _ in range(n_permutations)]
    return np.array([metric(y, each) for each in predicted])


@pytest.mark.parametrize("metric", [cohen_kappa_score, matthews_corrcoef])
@pytest.mark.parametrize("seed", range(20))
def test_ties_near_zero(metric, seed):
    """Means of folds over the same scores, added in another order, are the same score."""
    rng = np.random.default_rng(seed)
    folds = scores_of(metric, rng)[: 12 * 5].reshape(12, 5)
    exact = np.array([[Fraction(float(v)).limit_denominator(10**6) for v in row] for row in folds])
    centred = folds - float(exact.mean())  # brings some means near 0
    mixed = np.array([rng.permutation(row) for row in centred])
    added = np.array([sum(row) / 5 for row in mixed])
    for b in range(12):
        statistic = float(centred[b].mean())
        others = np.delete(centred.mean(axis=1), b)
        plain = permutation_result("score", statistic, np.append(others, statistic), None)
        rounded = permutation_result("score", statistic, np.append(others, added[b]), None)
        assert rounded.pvalue == plain.pvalue


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1.0, 1e3, 1e20])
def test_ties_do_not_depend_on_the_unit(scale):
    null = scale * np.array([0.1, -0.2, 0.3, 1e-17, -1e-17, 0.0, -0.3])
    for statistic in (0.0, 1e-17, -1e-17):
        assert permutation_result("score", scale * statistic, null, None).n_exceedances == 5
    near = permutation_result("score", scale * 1e-9, null, None)
    assert near.n_exceedances == 2


def test_a_score_that_explodes_ties_with_nothing():
    null = np.array([-1e20, -3.0, -2.0, -1.5, -np.inf])
    assert permutation_result("score", -1.0, null, None).n_exceedances == 0
    assert permutation_result("score", np.inf, np.array([np.inf, 1.0]), None).n_exceedances == 1


def test_interval_of_the_pvalue():
    result = permutation_result("score", 1.0, np.r_[np.ones(7), np.zeros(92)], None)
    expected = binomtest(7, 99).proportion_ci(method="exact")
    interval = result.pvalue_interval
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert interval.level == 0.95
    wide = result.confidence_interval(0.99)
    assert wide.low < interval.low < interval.high < wide.high
    with pytest.raises(ValueError, match="level must fulfil 0 < level < 1, got 1"):
        result.confidence_interval(1)


@pytest.mark.parametrize(("h", "used"), [(5, 40), (1, 12), (3, 3)])
def test_interval_after_a_stop(h, used):
    null = np.r_[np.ones(h - 1), np.zeros(used - h), 1.0, np.zeros(5)]
    result = permutation_result("score", 1.0, null, h)
    assert result.n_permutations == used
    interval = result.confidence_interval(0.9)
    expected = reference.negative_binomial_interval(h, used, 0.9)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("truth", [0.02, 0.1, 0.4])
def test_interval_covers(truth):
    """The stop and the truncation at 60 permutations are part of the design."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(600):
        null = (rng.random(60) < truth).astype(float)
        covered += truth in permutation_result("score", 1.0, null, 5).confidence_interval(0.9)
    assert binomtest(covered, 600, 0.9, alternative="less").pvalue > 0.001


@pytest.mark.parametrize("h", [None, 5])
def test_pvalue_is_valid(h):
    """P(pvalue <= a) <= a when the observed score is one more draw of the null distribution."""
    rng = np.random.default_rng(1)
    pvalues = []
    for _ in range(2000):
        draws = rng.integers(0, 30, size=40) / 30  # with ties
        pvalues.append(permutation_result("score", draws[0], draws[1:], h).pvalue)
    for level in (0.025, 0.05, 0.1, 0.3):
        rejected = int(np.sum(np.array(pvalues) <= level))
        assert binomtest(rejected, 2000, level, alternative="greater").pvalue > 0.001


def test_text_and_dict():
    result = permutation_result("f1", 0.9, np.array([0.5, 0.95, 0.2]), None)
    assert "permutation test (f1)" in str(result)
    assert "P-value" in str(result)
    assert result.to_dict()["pvalue"] == 0.5
