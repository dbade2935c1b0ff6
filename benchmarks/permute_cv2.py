"""Permutation test with the selection inside the loop against scikit-learn's own.

SelectKBest(50) and a linear SVM, 10 folds, the same permutations and folds on both sides; the
null distributions must be equal, value by value. ``--data noise`` takes SelectKBest(30) on 70 x
3000 numbers that hardly say anything about the labels.
"""

import argparse

import numpy as np
from _harness import colon, growth_slope, paired_ratio
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import StratifiedKFold, permutation_test_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from skeval.model_selection import permutation_test

PROCEDURE = make_pipeline(SelectKBest(k=50), SVC(kernel="linear"))
ON_NOISE = make_pipeline(SelectKBest(k=30), SVC(kernel="linear"))


def near_noise() -> tuple[np.ndarray, np.ndarray, str]:
    """Return two classes that 5 of 3000 features tell apart a little."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 35)
    X = rng.normal(size=(70, 3000))
    X[:, :5] += 0.5 * y[:, None]
    return X, y, "near noise 70 x 3000"


DATA = {"colon": (colon, PROCEDURE), "noise": (near_noise, ON_NOISE)}


def orders(n_samples: int, n_permutations: int) -> np.ndarray:
    """Return the permutations that scikit-learn draws from the seed 0."""
    rng = np.random.RandomState(0)
    return np.array([rng.permutation(n_samples) for _ in range(n_permutations)])


def folds_of(X: np.ndarray, y: np.ndarray) -> list:
    """Return the ten folds."""
    return list(StratifiedKFold(10).split(X, y))


def ours(
    X: np.ndarray, y: np.ndarray, permutations: np.ndarray, model: Pipeline = PROCEDURE
) -> np.ndarray:
    """Return the score and the null distribution."""
    test = permutation_test(model, X, y, cv=folds_of(X, y), permutations=permutations)
    return np.r_[test.statistic, test.null_distribution]


def peer(X: np.ndarray, y: np.ndarray, n_permutations: int, model: Pipeline) -> np.ndarray:
    """Return the same by scikit-learn."""
    score, null, _ = permutation_test_score(
        model, X, y, cv=folds_of(X, y), n_permutations=n_permutations, random_state=0
    )
    return np.r_[score, null]


def check_equal_but_for_tolerance(ours: np.ndarray, peers: np.ndarray) -> None:
    """Raise unless both agree, except for rounding in the steps of libsvm (tolerance 1e-3)."""
    different = np.mean(~np.isclose(ours, peers, rtol=0, atol=1e-12))
    print(f"scores that the tolerance of libsvm moves: {100 * different:.1f} %")
    np.testing.assert_allclose(ours, peers, rtol=0, atol=0.05)
    if different > 0.05:
        raise AssertionError(f"{100 * different:.1f} % of the scores differ.")


def main() -> None:
    """Print the ratio, or how the cost grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sweep", action="store_true", help="print how the cost grows instead")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--permutations", type=int, default=1000)
    parser.add_argument("--data", choices=DATA, default="colon")
    arguments = parser.parse_args()

    load, model = DATA[arguments.data]
    X, y, name = load()
    print(f"{name}, {arguments.permutations} permutations, 10 folds")
    if arguments.sweep:
        sizes = (25, 50, 100, 200)
        growth_slope("permutations", sizes, lambda n: ours(X, y, orders(len(y), n), model))
        return
    permutations = orders(len(y), arguments.permutations)
    paired_ratio(
        lambda: ours(X, y, permutations, model),
        lambda: peer(X, y, arguments.permutations, model),
        check=check_equal_but_for_tolerance,
        rounds=arguments.rounds,
    )


if __name__ == "__main__":
    main()
