"""Permutation tests of procedures whose fit does not see the labels, against scikit-learn's own.

Ridge classification, nearest neighbours and linear discriminant analysis; the same permutations
and folds on both sides. scikit-learn may be run on the first permutations only
(``--peer-permutations``): its time is then scaled up to all of them, which the output says; the
null distributions must be equal on those that it ran.
"""

import argparse
import statistics

import numpy as np
from _harness import colon, seconds
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import KFold, StratifiedKFold, permutation_test_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from skeval.model_selection import permutation_test

MODELS = {
    "ridge": RidgeClassifier(),
    "ridge-numbers": Ridge(),
    "knn": KNeighborsClassifier(),
    "lda": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5),
    "lda-svd": LinearDiscriminantAnalysis(),
}


def make_data(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray, str]:
    """Return samples, labels and a name: real data, or random numbers of any shape."""
    if options.data == "bc":
        return *load_breast_cancer(return_X_y=True), "breast_cancer 569 x 30"
    if options.data == "colon":
        X, y, name = colon()
        return X, np.unique(y, return_inverse=True)[1], name
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(options.n, options.p)), rng.integers(0, 2, options.n)
    return X, y, f"noise {options.n} x {options.p}"


def orders(n_samples: int, n_permutations: int) -> np.ndarray:
    """Return the permutations that scikit-learn draws from the seed 0."""
    rng = np.random.RandomState(0)
    return np.array([rng.permutation(n_samples) for _ in range(n_permutations)])


def ours(model: BaseEstimator, X: np.ndarray, y: np.ndarray, folds: list, P: int) -> np.ndarray:
    """Return the score and the null distribution."""
    test = permutation_test(model, X, y, cv=folds, permutations=orders(len(y), P))
    return np.r_[test.statistic, test.null_distribution]


def peer(model: BaseEstimator, X: np.ndarray, y: np.ndarray, folds: list, P: int) -> np.ndarray:
    """Return the same by scikit-learn."""
    score, null, _ = permutation_test_score(model, X, y, cv=folds, n_permutations=P, random_state=0)
    return np.r_[score, null]


def parse() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=MODELS, default="ridge")
    parser.add_argument("--data", choices=["bc", "colon", "noise"], default="bc")
    parser.add_argument("--n", type=int, default=200, help="samples of --data noise")
    parser.add_argument("--p", type=int, default=50, help="columns of --data noise")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--scaled", action="store_true", help="put a StandardScaler before it")
    parser.add_argument("--permutations", type=int, default=1000)
    parser.add_argument("--peer-permutations", type=int, help="default: all")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main() -> None:
    """Print the ratio."""
    options = parse()
    X, y, name = make_data(options)
    model = MODELS[options.model]
    if options.scaled:
        model = make_pipeline(StandardScaler(), model)
    splitter = (KFold if options.model == "ridge-numbers" else StratifiedKFold)(options.folds)
    folds = list(splitter.split(X, y))
    P = options.permutations
    few = min(P, options.peer_permutations or P)
    print(f"{name}, {P} permutations, {options.folds} folds, {options.model}")
    if few < P:
        print(f"scikit-learn runs {few} permutations; its time is scaled by {(1 + P) / (1 + few)}")
    work = model, X, y, folds
    with threadpool_limits(1):
        found, expected = ours(*work, P), peer(*work, few)  # also the warm-up
        np.testing.assert_allclose(found[: 1 + few], expected, rtol=0, atol=1e-9)
        pairs = []
        for _ in range(options.rounds):
            mine, theirs = seconds(lambda: ours(*work, P)), seconds(lambda: peer(*work, few))
            pairs.append((mine, theirs * (1 + P) / (1 + few)))
    print(f"skeval {statistics.median(mine for mine, _ in pairs):.4g} s")
    print(f"peer   {statistics.median(theirs for _, theirs in pairs):.4g} s")
    print(f"ratio: {statistics.median(theirs / mine for mine, theirs in pairs):.1f}")


if __name__ == "__main__":
    main()
