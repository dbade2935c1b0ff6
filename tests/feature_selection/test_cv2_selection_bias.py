"""CV1 against CV2 on the same folds."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import NearestCentroid
from sklearn.svm import SVC

from skeval.feature_selection import selection_bias

KEEPS_TALKING = "selecting features on all samples before cross-validating"


def noise(n=50, p=500, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)), np.repeat(["a", "b"], n // 2)


def test_noise_of_the_specification():
    """n=50, p=5000, k=20, 10-fold, 10 data sets: CV1 near 0.05, CV2 near 0.5."""
    results = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed in range(10):
            data = noise(p=5000, seed=seed)
            results.append(selection_bias(SelectKBest(k=20), SVC(kernel="linear"), *data, cv=10))
    assert np.mean([r.extra.cv1_error for r in results]) < 0.08
    assert 0.4 < np.mean([r.extra.cv2_error for r in results]) < 0.6
    # the warning comes where the bias exceeds two standard errors, and nowhere else
    flagged = [r for r in results if r.value > 2 * r.standard_error]
    assert len(caught) == len(flagged) >= 8
    assert all(str(warning.message).startswith(KEEPS_TALKING) for warning in caught)


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
        with pytest.raises(ValueError, match="must not both be given"):
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


@pytest.mark.filterwarnings(f"ignore:{KEEPS_TALKING}")
@pytest.mark.parametrize("cv", [LeaveOneOut(), ShuffleSplit(6, test_size=0.2, random_state=0)])
def test_other_splitters_and_pandas(cv):
    X, y = noise(n=20, p=60)
    result = selection_bias(
        SelectKBest(k=3), LogisticRegression(), pd.DataFrame(X), pd.Series(y), cv=cv
    )
    assert -1 <= result.interval.low <= result.value <= result.interval.high <= 1


def test_samples_must_have_columns_and_a_fold_must_be_fitted():
    y = np.repeat([0, 1], 10)
    with pytest.raises(ValueError, match=r"X must have the shape \(n_samples, n_features\)"):
        selection_bias(SelectKBest(k=1), SVC(), np.zeros((20, 2, 2)), y)
