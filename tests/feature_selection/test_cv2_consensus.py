"""The consensus of the rounds against the definition, ties above all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import selection as reference
from sklearn.feature_selection import RFE, SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression

from skeval.feature_selection._cv2 import consensus_support, feature_ranks

shapes = st.tuples(st.integers(1, 5), st.integers(1, 7))


@given(shapes, st.data())
def test_against_the_definition(shape, data):
    supports = data.draw(arrays(bool, shape))
    ranks = data.draw(arrays(float, shape, elements=st.integers(1, 3).map(float)))
    size = int(np.rint(supports.sum(axis=1).mean()))
    mask = consensus_support(supports, ranks)
    assert np.flatnonzero(mask).tolist() == reference.consensus(supports, ranks, size)


def test_ties_go_to_the_mean_rank_then_to_the_index():
    supports = np.array([[1, 0, 1, 0], [0, 1, 1, 0]], dtype=bool)
    ranks = np.array([[2.0, 4.0, 1.0, 3.0], [4.0, 1.0, 2.0, 3.0]])
    assert consensus_support(supports, ranks).tolist() == [False, True, True, False]
    equal = np.ones((2, 4))
    assert consensus_support(supports, equal).tolist() == [True, False, True, False]


@given(arrays(float, 6, elements=st.sampled_from([0.0, 1.0, 2.5, np.inf, np.nan])))
def test_ranks_of_scores(scores):
    selector = SelectKBest()
    selector.scores_ = scores
    assert feature_ranks(selector).tolist() == reference.descending_ranks(scores)


def test_ranks_of_other_selectors():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.tile([0, 1], 15)
    elimination = RFE(LogisticRegression(), n_features_to_select=2).fit(X, y)
    assert feature_ranks(elimination) == pytest.approx(elimination.ranking_)
    assert feature_ranks(VarianceThreshold().fit(X)) is None
