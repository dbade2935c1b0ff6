"""Errors of fits that locate what the estimator refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from skeval.model_selection import cross_val_error, error_interval

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = np.arange(30) % 2


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, csr_array])
def test_missing_values_are_counted(container):
    holes = X.copy()
    holes[[3, 4], 1] = np.nan
    with pytest.raises(ValueError, match=r"X must not have missing values .* got 2"):
        cross_val_error(RidgeClassifier(), container(holes), Y, cv=3, random_state=0)


class FailsWithoutTheFirst(RidgeClassifier):
    """Refuses training sets without the first sample."""

    def fit(self, X, y, sample_weight=None):
        if X[0, 0] != FIRST:
            raise ArithmeticError("no")
        return super().fit(X, y, sample_weight)


FIRST = X[0, 0]


@pytest.mark.parametrize("weight", [None, np.arange(1.0, 31)])
def test_the_fit_is_named_with_weights_too(weight):
    with pytest.raises(ArithmeticError, match="no") as caught:
        error_interval(FailsWithoutTheFirst(), X, Y, random_state=0, sample_weight=weight)
    (note,) = caught.value.__notes__
    assert "estimator failed without fold" in note


def test_numbers_stored_as_texts_are_converted_rather_than_encoded():
    X, y = np.arange(40.0).reshape(20, 2).astype(str), np.arange(20) % 2
    table = pd.DataFrame(np.char.replace(X, ".", ","), columns=["a", "b"])
    for values, where in ((X, "instead of numbers"), (table, "in the columns 'a', 'b'")):
        with pytest.raises(ValueError, match=rf"got strings {where}; convert them by X.astype\("):
            cross_val_error(LogisticRegression(), values, y)
    with pytest.raises(ValueError, match="in the columns 'a', 'b'; put an encoder, such as OneHot"):
        cross_val_error(LogisticRegression(), table.assign(b="x"), y)
