"""Resampling of every kind of SVC against the loops that a user would write.

``python benchmarks/svm_kinds.py --case ID`` prints the ratio last. The cases are perturb-rbf,
perturb-balanced and perturb-iris (cross-validated perturbations, against a loop over SVC),
boot-rbf (.632+, against mlxtend), permute-linear (against `permutation_test_score`) and nested-svm
(against the loops of the nested folds). ``--n --p --labels`` take simulated data of another shape,
``--repeats`` another number of perturbations, resamples or permutations.
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from _harness import colon, paired_ratio
from mlxtend.evaluate import bootstrap_point632_score
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold, permutation_test_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.datasets import make_gaussian_classes
from skeval.model_selection import (
    bootstrap_error,
    error_interval,
    permutation_test,
    perturbation_interval,
)


class Case(NamedTuple):
    """What a row of the table runs: estimator, data, repeats, and both sides."""

    model: object
    data: Callable[[], tuple[np.ndarray, np.ndarray]]
    repeats: int
    sides: Callable[..., tuple]


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """Return the set, standardised once."""
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def simulated(n: int, p: int, labels: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two classes, apart or not."""
    data = make_gaussian_classes(
        n, p, n_informative=min(5, p), separation=2 if labels == "signal" else 0, random_state=0
    )
    return data.X, data.y


def folds_of(X: np.ndarray, y: np.ndarray) -> list:
    """Return ten folds."""
    return list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))


def perturbation(model: SVC, X: np.ndarray, y: np.ndarray, repeats: int) -> tuple:
    """Return W* by skeval, and by a loop over SVC."""
    folds = folds_of(X, y)
    weights = np.random.default_rng(0).exponential(size=(repeats, len(y)))

    def ours() -> np.ndarray:
        return perturbation_interval(
            model, X, y, cv=folds, weights=weights, statistic="cross_validation"
        ).extra.statistics

    def errors(G: np.ndarray, tol: float) -> np.ndarray:
        wrong = np.empty(len(y))
        for train, test in folds:
            fitted = clone(model).set_params(tol=tol)
            fitted.fit(X[train], y[train], sample_weight=G[train] / G[train].mean())
            wrong[test] = fitted.predict(X[test]) != y[test]
        return wrong

    def loop(draws: np.ndarray = weights, tol: float = 1e-3) -> np.ndarray:
        plain = errors(np.ones(len(y)), tol).mean()
        return np.array([G @ (errors(G, tol) - plain) / np.sqrt(len(y)) for G in draws])

    def check(found: object, expected: object) -> None:
        mine, theirs = np.asarray(found), np.asarray(expected)
        differ = np.flatnonzero(~np.isclose(mine, theirs, atol=1e-9))
        print(f"W* equal in {1 - len(differ) / len(mine):.1%} of the draws")
        few = differ[:3]
        if len(few):
            np.testing.assert_allclose(mine[few], loop(weights[few], 1e-6), atol=1e-9)
            print(f"where they differ ({len(few)} tried) ours is that of SVC(tol=1e-6)")

    return ours, loop, check


def bootstrap(model: SVC, X: np.ndarray, y: np.ndarray, repeats: int) -> tuple:
    """Return the .632+ error by skeval and by mlxtend, whose definitions differ a little."""

    def ours() -> float:
        found = bootstrap_error(model, X, y, method=".632+", n_resamples=repeats, random_state=0)
        return found.value

    def theirs() -> float:
        scores = bootstrap_point632_score(
            model, X, y, n_splits=repeats, method=".632+", random_seed=0
        )
        return float(1 - np.mean(scores))

    def check(found: float, expected: float) -> None:
        print(f"error {found:.4f}, by mlxtend {expected:.4f}")
        np.testing.assert_allclose(found, expected, atol=0.03)

    return ours, theirs, check


def permutation(model: object, X: np.ndarray, y: np.ndarray, repeats: int) -> tuple:
    """Return the null distribution by skeval and by scikit-learn, on the same permutations."""
    folds, rng = folds_of(X, y), np.random.RandomState(0)
    orders = np.array([rng.permutation(len(y)) for _ in range(repeats)])

    def ours() -> np.ndarray:
        test = permutation_test(model, X, y, cv=folds, permutations=orders)
        return np.r_[test.statistic, test.null_distribution]

    def theirs() -> np.ndarray:
        score, null, _ = permutation_test_score(
            model, X, y, cv=folds, n_permutations=repeats, random_state=0
        )
        return np.r_[score, null]

    def check(found: np.ndarray, expected: np.ndarray) -> None:
        moved = np.mean(~np.isclose(found, expected, atol=1e-12))
        print(f"scores that the tolerance of libsvm moves: {moved:.1%}")
        np.testing.assert_allclose(found, expected, atol=0.02)
        np.testing.assert_allclose(found.mean(), expected.mean(), atol=1e-3)

    return ours, theirs, check


def nested(model: SVC, X: np.ndarray, y: np.ndarray, repeats: int) -> tuple:
    """Return the error by nested folds, K=5, and by loops over as many fits of the same sizes."""

    def ours() -> float:
        found = error_interval(
            model, X, y, method="nested_cv", n_folds=5, n_repeats=repeats, random_state=0
        )
        return found.value

    def loop() -> float:
        errors = []
        for repeat in range(repeats):
            outer = StratifiedKFold(5, shuffle=True, random_state=repeat)
            for train, test in outer.split(X, y):
                inner = StratifiedKFold(4, shuffle=True, random_state=repeat)
                for kept, left in inner.split(X[train], y[train]):
                    fitted = clone(model).fit(X[train[kept]], y[train[kept]])
                    errors.append(np.mean(fitted.predict(X[train[left]]) != y[train[left]]))
                fitted = clone(model).fit(X[train], y[train])
                errors.append(np.mean(fitted.predict(X[test]) != y[test]))
        return float(np.mean(errors))

    def check(found: float, expected: float) -> None:
        print(f"error {found:.4f}, by the loop on other folds {expected:.4f}")
        np.testing.assert_allclose(found, expected, atol=0.05)

    return ours, loop, check


CASES = {
    "perturb-rbf": Case(SVC(), breast_cancer, 200, perturbation),
    "perturb-balanced": Case(
        SVC(kernel="linear", class_weight="balanced"), breast_cancer, 200, perturbation
    ),
    "perturb-iris": Case(
        SVC(kernel="linear"), partial(load_iris, return_X_y=True), 200, perturbation
    ),
    "perturb-iris-rbf": Case(SVC(), partial(load_iris, return_X_y=True), 200, perturbation),
    "boot-rbf": Case(SVC(), breast_cancer, 200, bootstrap),
    "permute-linear": Case(
        make_pipeline(StandardScaler(), SVC(kernel="linear")),
        partial(load_breast_cancer, return_X_y=True),
        1000,
        permutation,
    ),
    "nested-svm": Case(SVC(kernel="linear"), lambda: simulated(100, 20, "signal"), 10, nested),
    "nested-svm-colon": Case(SVC(kernel="linear"), lambda: colon()[:2], 10, nested),
}


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=CASES, default="perturb-rbf")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--n", type=int, help="samples of simulated data")
    parser.add_argument("--p", type=int, default=20, help="their features")
    parser.add_argument("--labels", choices=["signal", "noise"], default="signal")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    case = CASES[options.case]
    X, y = simulated(options.n, options.p, options.labels) if options.n else case.data()
    print(f"{options.case}: {X.shape[0]} x {X.shape[1]}")
    codes, repeats = np.unique(y, return_inverse=True)[1], options.repeats or case.repeats
    ours, theirs, check = case.sides(case.model, X, codes, repeats)
    paired_ratio(ours, theirs, check=check, rounds=options.rounds)


if __name__ == "__main__":
    main()
