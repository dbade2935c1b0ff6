"""The generic path on cheap estimators against the loop that a user would write, with `clone`.

The same 1,000 bootstrap resamples on both sides, drawn beforehand for the loop; the errors of all
must be equal. The last ratio is the worst of the four: it says what our loop costs by itself.
"""

import argparse
from typing import Any

import numpy as np
from _harness import paired_ratio
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from skeval.model_selection import BootstrapSplit, bootstrap_error

ESTIMATORS = (
    NearestCentroid(),
    GaussianNB(),
    KNeighborsClassifier(1),
    LinearDiscriminantAnalysis(),
)


def ours(estimator: Any, X: np.ndarray, y: np.ndarray, n_resamples: int) -> np.ndarray:
    """Return the out-of-bag error of each resample."""
    result = bootstrap_error(estimator, X, y, n_resamples=n_resamples, random_state=0)
    return result.replicates


def loop(estimator: Any, X: np.ndarray, y: np.ndarray, splits: list) -> np.ndarray:
    """Return the same by a bare loop, which keeps the predictions too."""
    predictions = np.full((len(splits), len(y)), -1)
    for row, (train, test) in zip(predictions, splits, strict=True):
        row[test] = clone(estimator).fit(X[train], y[train]).predict(X[test])
    tested = predictions >= 0
    return ((predictions != y) & tested).sum(axis=1) / tested.sum(axis=1)


def main() -> None:
    """Print the ratio of each estimator, and the worst last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    X, y = load_breast_cancer(return_X_y=True)
    splits = list(BootstrapSplit(options.resamples, random_state=0).split(X, y))
    ratios = []
    for estimator in ESTIMATORS:
        print(estimator)
        ratio = paired_ratio(
            lambda model=estimator: ours(model, X, y, options.resamples),
            lambda model=estimator: loop(model, X, y, splits),
            check=np.testing.assert_allclose,
            rounds=options.rounds,
        )
        ratios.append(ratio)
    print(f"ratio: {min(ratios):.2f}")


if __name__ == "__main__":
    main()
