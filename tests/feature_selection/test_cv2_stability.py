"""Stability of a selection: definitions, published code, edge cases, coverage."""

import re
import warnings

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import selection as reference
from scipy.stats import binomtest, t
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_selection import SelectKBest, SelectorMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestCentroid
from sklearn.svm import SVC

from skeval.feature_selection import (
    CV2FeatureSelectionPipeline,
    selection_bias,
    selection_stability,
)

supports_of_any_size = arrays(bool, st.tuples(st.integers(2, 6), st.integers(2, 8)))


@given(supports_of_any_size.filter(lambda z: 0 < z.sum() < z.size))
def test_nogueira_against_its_definition(supports):
    result = selection_stability(supports)
    assert result.value == pytest.approx(reference.nogueira(supports), abs=1e-12)
    assert result.extra.frequency.tolist() == supports.mean(axis=0).tolist()


@given(supports_of_any_size.filter(lambda z: (z.sum(axis=1) > 0).all()))
def test_jaccard_against_its_definition(supports):
    result = selection_stability(supports, method="jaccard", confidence_level=0.5)
    expected = reference.pairwise(supports, reference.jaccard_pair)
    assert result.value == pytest.approx(expected, abs=1e-12)
    # scipy.stats.norm.ppf(0.75) = 0.6744897501960817
    half = 0.6744897501960817 * np.sqrt(reference.jaccard_variance(supports))
    if half < 1e-12:
        assert np.isnan([*result.interval]).all()
        return
    assert result.interval.low == pytest.approx(expected - half, abs=1e-12)
    assert result.interval.high == pytest.approx(min(1, expected + half), abs=1e-12)


def test_published_code():
    """The authors' code, github.com/nogueirs/JMLR2018 python/stability at its last commit.

    ``confidenceIntervals(Z)`` of the three sets of the vignette of R's stabm and of
    ``np.random.default_rng(0).integers(0, 2, (6, 8))``.
    """
    three = np.zeros((3, 10), dtype=int)
    three[0, :3] = three[1, :4] = three[2, [0, 1, 2, 4, 5, 6]] = 1
    result = selection_stability(three)
    assert result.value == pytest.approx(0.4570135746606334, rel=1e-12)
    assert result.interval.low == pytest.approx(0.30704058907953913, rel=1e-12)
    assert result.interval.high == pytest.approx(0.6069865602417277, rel=1e-12)
    six = [
        [1, 1, 1, 0, 0, 0, 0, 0],
        [0, 1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1, 0],
        [0, 1, 1, 0, 1, 1, 1, 0],
        [0, 1, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 1, 1],
    ]
    result = selection_stability(six)
    assert result.value == pytest.approx(-0.04055944055944072, rel=1e-12)
    assert result.interval.low == pytest.approx(-0.1520101391547189, rel=1e-12)
    assert result.interval.high == pytest.approx(0.07089125803583747, rel=1e-12)


@each_value
@pytest.mark.parametrize("method", ["nogueira", "kuncheva", "jaccard"])
@pytest.mark.parametrize(
    "supports", [[[1, 0, 1]], [[0, 0, 0], [0, 0, 0]]], ids=["one round", "nothing"]
)
def test_undefined(method, supports):
    with pytest.warns(UndefinedMetricWarning, match="0/0"):
        result = selection_stability(supports, method=method)
    assert np.isnan([result.value, result.interval.low, result.interval.high]).all()
    assert result.extra.frequency.tolist() == np.mean(supports, axis=0).tolist()


def test_to_frame_and_text():
    result = selection_stability([[1, 0, 1, 0], [0, 0, 1, 1], [1, 0, 1, 0]])
    assert result.to_frame()[["selected_ever", "selected_always"]].to_numpy().tolist() == [[3, 1]]
    assert "selected always" in str(result)


@pytest.mark.simulated
@pytest.mark.parametrize("method", ["nogueira", "jaccard"])
def test_interval_covers_the_population_value(method):
    """Independent rounds, features selected with unequal probabilities."""
    rng = np.random.default_rng(1)
    probability = np.r_[np.full(5, 0.8), np.full(25, 0.1)]

    def draw(n_rounds):
        return rng.random((n_rounds, 30)) < probability

    truth = selection_stability(draw(3000), method=method).value
    covered = 0
    for _ in range(100):
        result = selection_stability(draw(60), method=method, confidence_level=0.9)
        covered += result.interval.low <= truth <= result.interval.high
    assert binomtest(covered, 100, 0.9).pvalue > 0.001


KEEPS_TALKING = r"the error is 0\.\d+ with features selected on all samples before"


def noise(n=50, p=500, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)), np.repeat(["a", "b"], n // 2)


def test_noise_of_the_specification():
    """n=50, p=5000, k=20, 10-fold, 10 data sets: CV1 near 0.05, CV2 near 0.5."""
    results = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(10):
            call = SelectKBest(k=20), SVC(kernel="linear"), *noise(p=5000, seed=seed)
            results.append(selection_bias(*call, cv=10, random_state=seed))
    assert np.mean([r.extra.cv1_error for r in results]) < 0.08
    assert 0.4 < np.mean([r.extra.cv2_error for r in results]) < 0.6
    # the warning comes where the bias exceeds two standard errors, and nowhere else
    flagged = [r for r in results if r.value > 2 * r.standard_error]
    assert len(caught) == len(flagged) >= 8
    assert all(re.match(KEEPS_TALKING, str(warning.message)) for warning in caught)


@pytest.mark.filterwarnings(f"ignore:{KEEPS_TALKING}")
def test_against_a_plain_loop():
    X, y = noise()
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    result = selection_bias(SelectKBest(k=9), NearestCentroid(), X, y, cv=cv, confidence_level=0.9)
    outside = SelectKBest(k=9).fit(X, y).get_support()
    wrong, differences = np.zeros(2), []
    for train, test in cv.split(X, y):
        inside = SelectKBest(k=9).fit(X[train], y[train]).get_support()
        errors = []
        for support in (outside, inside):
            model = NearestCentroid().fit(X[train][:, support], y[train])
            errors.append(np.sum(model.predict(X[test][:, support]) != y[test]))
        wrong += errors
        differences.append((errors[1] - errors[0]) / len(test))
    assert (result.extra.cv1_error, result.extra.cv2_error) == pytest.approx(tuple(wrong / 50))
    assert result.value == pytest.approx((wrong[1] - wrong[0]) / 50)
    # Nadeau and Bengio (2003): 10 of 50 tested in each of 5 folds
    expected = np.sqrt((1 / 5 + 10 / 40) * np.var(differences, ddof=1))
    assert result.standard_error == pytest.approx(expected)
    assert result.interval.low == pytest.approx(max(-1, result.value - t.ppf(0.95, 4) * expected))
    assert result.interval.high == pytest.approx(min(1, result.value + t.ppf(0.95, 4) * expected))


class Picky(SVC):
    """Fits no training part without the first sample."""

    def fit(self, X, y, sample_weight=None):
        if len(y) == 40:
            raise RuntimeError("too few")
        return super().fit(X, y, sample_weight)


def test_arguments_of_the_parts_and_failures():
    X, y = noise(p=30)
    weights = np.random.default_rng(0).uniform(0.5, 2, 50)
    parts = SelectKBest(k=5), SVC(kernel="linear")
    options = {"cv": StratifiedKFold(5, shuffle=True, random_state=0)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weighed = selection_bias(*parts, X, y, sample_weight=weights, **options)
        named = {"classifier__sample_weight": weights}
        by_name = selection_bias(*parts, X, y, params=named, **options)
        assert by_name.to_dict() == weighed.to_dict()
        with pytest.raises(ValueError, match="must not both be passed"):
            selection_bias(*parts, X, y, params=named, sample_weight=weights, **options)
        test = [np.arange(0, 50, 5), np.arange(1, 50, 4), np.arange(2, 50, 4)]
        folds = [(np.setdiff1d(np.arange(50), each), each) for each in test]
        plain = selection_bias(*parts, X, y, cv=folds[1:])
        picky = parts[0], Picky(kernel="linear")
        found = selection_bias(*picky, X, y, cv=folds, error_score=np.nan)
    assert found.extra.n_failed == 1
    assert found.value == pytest.approx(plain.value)
    with pytest.raises(RuntimeError, match="too few"):
        selection_bias(*picky, X, y, cv=folds)


def test_samples_must_have_columns_and_a_fold_must_be_fitted():
    y = np.repeat([0, 1], 10)
    with pytest.raises(ValueError, match=r"X must have the shape \(n_samples, n_features\)"):
        selection_bias(SelectKBest(k=1), SVC(), np.zeros((20, 2, 2)), y)


class Told(SelectorMixin, BaseEstimator):
    """Keeps the columns of the round whose row, the number in column 0, it is not trained on."""

    def __init__(self, supports, kind, scores):
        self.supports, self.kind, self.scores = supports, kind, scores

    def fit(self, X, y):
        (left_out,) = {*range(len(self.supports))} - {*X[:, 0]}
        self.support_ = self.supports[left_out]
        if self.kind:
            setattr(self, self.kind, self.scores[left_out])
        return self

    def _get_support_mask(self):
        return self.support_


@each_value
@pytest.mark.parametrize("kind", ["", "ranking_", "scores_"])
@given(shape=st.tuples(st.integers(2, 5), st.integers(2, 7)), data=st.data())
def test_a_consensus_is_its_definition(kind, shape, data):
    """Of ranks, of scores that may be undefined, and of selectors that have neither."""
    supports = data.draw(arrays(bool, shape).filter(lambda z: z.any(axis=1).all()))
    values = [1.0, 2.0, 3.0] if kind == "ranking_" else [0.0, 1.0, 2.5, np.inf, np.nan]
    scores = data.draw(arrays(float, shape, elements=st.sampled_from(values)))
    rows = np.arange(shape[0] + 4)
    X, y = np.zeros((len(rows), shape[1])), rows % 2
    X[:, 0] = rows
    folds = [(np.delete(rows, row), [row]) for row in range(shape[0])]
    found = CV2FeatureSelectionPipeline(
        Told(supports, kind, scores), DummyClassifier(), cv=folds, final="consensus"
    ).fit(X, y)
    ranks = {"": np.ones(shape), "ranking_": scores}.get(kind)
    if ranks is None:
        ranks = [reference.descending_ranks(row) for row in scores]
    size = int(np.rint(supports.sum(axis=1).mean()))
    assert np.flatnonzero(found.support_).tolist() == reference.consensus(supports, ranks, size)
