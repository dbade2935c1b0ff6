"""Fits of a plan: outputs that are shared, scores, and fits that failed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skeval import model_selection as ms

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
FIRST = X[0, 0]


class FailsWithoutTheFirst(GaussianNB):
    """Refuses to be fitted where a certain sample is missing."""

    def fit(self, X, y, sample_weight=None):
        if not (X[:, 0] == FIRST).any():
            raise RuntimeError("the first sample is missing")
        return super().fit(X, y, sample_weight)


def test_fits_that_fail_are_left_out():
    cv, model = StratifiedKFold(5), FailsWithoutTheFirst()
    folds = list(cv.split(X, Y))
    kept = [fold for fold in folds if 0 in fold[0]]
    assert len(kept) == 4
    with pytest.warns(FitFailedWarning, match="fits failed"):
        test = ms.permutation_test(
            model, X, Y, cv=folds, n_permutations=5, random_state=0, error_score=np.nan
        )
    expected = ms.permutation_test(model, X, Y, cv=kept, n_permutations=5, random_state=0)
    assert test.statistic == pytest.approx(expected.statistic)
    assert_allclose(test.null_distribution, expected.null_distribution)
    pair = model, DecisionTreeClassifier(max_depth=2, random_state=0)
    with pytest.warns(FitFailedWarning, match="1 of 5 fits failed"):
        comparison = ms.compare_classifiers(pair, X, Y, cv=folds, error_score=np.nan)
    assert len(comparison.split_scores) == 4
    with pytest.raises(ValueError, match="error_score must be 'raise' for method='mcnemar'"):
        ms.compare_classifiers(pair, X, Y, cv=folds, method="mcnemar", error_score=np.nan)
