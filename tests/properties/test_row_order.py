"""Fits receive the training rows in the order of the splitter, as in scikit-learn's functions."""

import numpy as np
import pandas as pd
import pytest
from helpers.splits import FirstRows
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedShuffleSplit,
    cross_val_score,
    permutation_test_score,
)

from skeval.model_selection import (
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    error_interval,
    permutation_test,
)
from skeval.report import evaluate

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
SHUFFLED = [(RNG.permutation(train), test) for train, test in KFold(5).split(X)]
REPEATED_ROWS = [(RNG.choice(train, 40), test) for train, test in SHUFFLED]


SPLITTERS = {
    "shuffle": ShuffleSplit(8, test_size=0.3, random_state=0),
    "part": ShuffleSplit(8, train_size=0.3, test_size=0.3, random_state=0),
    "stratified": StratifiedShuffleSplit(8, test_size=0.3, random_state=0),
    "list": SHUFFLED,
    "copies": REPEATED_ROWS,
}


@pytest.mark.parametrize("cv", SPLITTERS.values(), ids=SPLITTERS)
@pytest.mark.parametrize("convert", [np.asarray, pd.DataFrame, csr_array])
def test_errors_equal_those_of_the_loop(cv, convert):
    samples, model = convert(X), FirstRows()
    scores = cross_val_score(model, samples, Y, cv=cv)
    assert np.ptp(scores) > 0.1
    error = pytest.approx(1 - scores.mean())
    assert cross_val_error(model, samples, Y, cv=cv).value == error
    comparison = compare_classifiers({"a": model, "b": LogisticRegression()}, samples, Y, cv=cv)
    np.testing.assert_allclose(comparison.extra.split_scores[:, 0], scores)


def test_other_functions_equal_the_loop():
    cv, model = SPLITTERS["list"], FirstRows()
    scores = cross_val_score(model, X, Y, cv=cv)
    options = {"cv": cv}
    score = permutation_test(model, X, Y, n_permutations=5, random_state=0, **options).statistic
    assert score == pytest.approx(permutation_test_score(model, X, Y, cv=cv, n_permutations=1)[0])
    assert error_interval(model, X, Y, **options).value == pytest.approx(1 - scores.mean())
    report = evaluate(model, X, Y, include=["cross_validation"], random_state=0, **options)
    assert report.estimates["cross_validation"].value == pytest.approx(1 - scores.mean())


def test_bootstrap_trains_on_the_rows_of_a_resample():
    indices = RNG.integers(0, N, (12, N))
    errors = np.full((12, N), np.nan)
    for row, drawn in zip(errors, indices, strict=True):
        out = np.setdiff1d(np.arange(N), drawn)
        row[out] = FirstRows().fit(X[drawn], Y[drawn]).predict(X[out]) != Y[out]
    result = bootstrap_error(
        FirstRows(), X, Y, indices=indices, method="oob", average="bootstraps", random_state=0
    )
    assert result.value == pytest.approx(np.nanmean(errors, axis=1).mean())
