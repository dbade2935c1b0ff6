"""Ranking loss and break-even point."""

import numpy as np
import pytest
from helpers.strategies import scored
from hypothesis import given
from numpy.testing import assert_allclose
from reference import ranking as reference
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from skeval.metrics import break_even_point, ranking_loss


@given(scored())
def test_equal_the_reference_implementations(problem):
    y, score, weight = problem
    for metric, expected in [
        (ranking_loss, reference.ranking_loss),
        (break_even_point, reference.break_even_point),
    ]:
        got = metric(y, score, sample_weight=weight)
        assert_allclose(got, expected(y == 1, score, weight), rtol=1e-12, atol=1e-15)
        assert type(got) is float
    auc = roc_auc_score(y, score, sample_weight=weight)
    assert_allclose(1 - ranking_loss(y, score, sample_weight=weight), auc, atol=1e-12)


def test_a_cut_without_true_positives_is_no_break_even_point():
    weight = np.array([0.2, 0.1, 0.4, 0.3])
    for unit in (1, 10, 0.1):
        value = break_even_point([0, 0, 1, 1], [2, 1, 1, 0], sample_weight=unit * weight)
        assert_allclose(value, 4 / 7)
    # A negative alone at the top says nothing of where three positives and three negatives lie.
    assert break_even_point([0, 1, 1, 1, 0, 0, 0], [2, 1, 1, 1, 1, 1, 1]) == 3 / 7


def test_break_even_point_is_precision_and_recall_where_no_tie_hides_it():
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, score = rng.integers(0, 2, 50), rng.normal(size=50)
        chosen = np.argsort(-score)[: y.sum()]
        assert break_even_point(y, score) == y[chosen].mean()


@pytest.mark.parametrize("n_positive", [1, 3, 9])
def test_constant_score_has_the_prevalence(n_positive):
    y = np.repeat([1, 0], [n_positive, 10 - n_positive])
    assert break_even_point(y, np.ones(10)) == n_positive / 10
    assert ranking_loss(y, np.ones(10)) == 0.5


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_one_class_has_no_ranking_loss(y):
    with pytest.warns(UndefinedMetricWarning, match="needs both classes in y_true"):
        assert np.isnan(ranking_loss(y, [1, 2, 3]))


def test_break_even_point_of_one_class():
    with pytest.warns(UndefinedMetricWarning, match="needs a positive sample"):
        assert np.isnan(break_even_point([0, 0], [1, 2]))
    assert break_even_point([1, 1], [1, 2]) == 1.0  # P = 1 everywhere, R = 1 at the end
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(break_even_point([0, 1], [1, 2], sample_weight=[1, 0]))
