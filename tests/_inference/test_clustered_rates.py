"""How many independent samples a class is worth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import metric_intervals as reference
from sklearn.metrics import roc_auc_score

from skeval._inference.areas import area_error, class_size, delong, independent_size

RNG = np.random.default_rng(0)
POSITIVE = np.arange(80) % 4 == 0
SCORE = RNG.normal(size=80).round(1) + POSITIVE
ONES = np.ones(80)


def test_the_error_of_an_area_is_delongs():
    expected = np.sqrt(delong(POSITIVE, SCORE[None])[1][0, 0])
    assert_allclose(area_error(POSITIVE, SCORE, ONES, None), expected)
    assert_allclose(area_error(POSITIVE, SCORE, 3 * ONES, None), expected)
    assert_allclose(area_error(~POSITIVE, -SCORE, ONES, None), expected)


def test_groups_of_one_are_samples():
    found = area_error(POSITIVE, SCORE, ONES, np.arange(80))
    assert_allclose(found, area_error(POSITIVE, SCORE, ONES, None), rtol=0.03)
    assert_allclose(class_size(SCORE, ONES, np.arange(80)), 79, rtol=1e-9)
    assert class_size(SCORE, ONES, None) == 80


@pytest.mark.parametrize("copies", [2, 5])
def test_copies_in_a_group_say_nothing_new(copies):
    positive, score, groups = (np.repeat(v, copies) for v in (POSITIVE, SCORE, np.arange(80)))
    ones = np.ones(80 * copies)
    expected = area_error(POSITIVE, SCORE, ONES, np.arange(80))
    assert_allclose(area_error(positive, score, ones, groups), expected)
    assert_allclose(class_size(score, ones, groups), 79, rtol=0.03)


def test_groups_that_hold_every_score_are_worth_their_samples():
    """Where each group holds the same scores nothing varies between groups."""
    score = np.tile(np.arange(4.0), 10)
    assert class_size(score, np.ones(40), np.repeat(np.arange(10), 4)) == 40
    assert class_size(score, np.ones(40), np.zeros(40, dtype=int)) == 1
    assert class_size(np.zeros(40), np.ones(40), np.repeat(np.arange(10), 4)) == 10


def test_weights_count_by_their_ratios():
    weight = RNG.random(80)
    assert_allclose(independent_size(weight), weight.sum() ** 2 / (weight**2).sum())
    assert_allclose(independent_size(weight), independent_size(7 * weight))
    half = np.r_[np.ones(40), np.zeros(40) + 1e-9]
    assert_allclose(independent_size(half), 40)


@pytest.mark.parametrize("seed", range(3))
def test_the_error_of_a_clustered_area_is_obuchowskis(seed):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.repeat([True, False], [9, 16]))
    score, weight = rng.integers(0, 6, 25).astype(float), rng.exponential(size=25)
    for group in (rng.integers(0, 7, 25), np.arange(25)):
        sample = positive.tolist(), score.tolist(), weight.tolist(), group.tolist()
        area, variance = reference.clustered_area_variance(*sample)
        assert_allclose(area_error(positive, score, weight, group) ** 2, variance, rtol=1e-10)
        assert_allclose(area, roc_auc_score(positive, score, sample_weight=weight))


def test_a_class_of_one_has_no_error():
    assert np.isnan(area_error(np.arange(80) == 3, SCORE, ONES, None))
