"""The calls that skeval is known for, against the loop that a user would write.

``python benchmarks/flagship.py`` prints a line for each call and exits with status 1 if a ratio is
below its mark, which is two thirds of a measured ratio: run it before every release. Both sides run
in one process on one thread, in turn; a ratio is the median of the ratios of processor times of
``--rounds`` pairs after a warm-up. A peer that would take minutes does a part of the fits, and its
time is multiplied. ``--only TEXT ...`` runs the calls whose names contain a text; without it, the
ratios are stored in benchmarks/results/flagship.csv, which the README quotes. ``SKEVAL_DATA`` names
the folder with the colon set.
"""

import argparse
import csv
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _harness import colon
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import silhouette_score
from sklearn.model_selection import StratifiedKFold, permutation_test_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from skeval.metrics.cluster import internal_indices
from skeval.model_selection import (
    bootstrap_error,
    error_interval,
    permutation_test,
    perturbation_interval,
)

RESULTS = Path(__file__).parent / "results" / "flagship.csv"

Data = tuple[np.ndarray, np.ndarray]


class Call(NamedTuple):
    """Both sides of a call, and how many times as much ours does."""

    ours: Callable[[], object]
    peer: Callable[[], object]
    factor: float


def gauss(n: int, p: int, shift: float, k: int = 2) -> Data:
    """Return k classes that differ in three of p features."""
    y = np.arange(n) % k
    X = np.random.default_rng(8).standard_normal((n, p))
    X[:, :3] += shift * y[:, None]
    return X, y


def cancer() -> Data:
    """Return the breast cancer set, standardized once."""
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


FOLDS = StratifiedKFold(10, shuffle=True, random_state=1)
LINEAR = SVC(kernel="linear")


def permute(model: object, data: Data, many: int, few: int) -> Call:
    """Permutations of 10-fold cross-validation."""
    X, y = data
    return Call(
        lambda: permutation_test(model, X, y, cv=FOLDS, n_permutations=many, random_state=0),
        lambda: permutation_test_score(model, X, y, cv=FOLDS, n_permutations=few, random_state=0),
        (many + 1) / (few + 1),
    )


def perturb(model: object, data: Data, many: int, few: int, *, folds: bool = False) -> Call:
    """Fits with random weights to all samples, or to the training sets of ten folds."""
    X, y = data
    splits = list(FOLDS.split(X, y)) if folds else [(slice(None), slice(None))]
    rng = np.random.default_rng(0)

    def peer() -> None:
        for _ in range(few):
            weights = rng.exponential(size=len(y))
            for train, test in splits:
                fitted = clone(model).fit(X[train], y[train], sample_weight=weights[train])
                fitted.predict(X[test])

    statistic = "cross_validation" if folds else "resubstitution"
    return Call(
        lambda: perturbation_interval(
            model, X, y, n_resamples=many, statistic=statistic, random_state=0
        ),
        peer,
        many / few,
    )


def bootstrap(model: object, data: Data, many: int, few: int) -> Call:
    """The .632+ bootstrap, against the out-of-bag loop."""
    X, y = data
    rng = np.random.default_rng(0)

    def peer() -> None:
        for _ in range(few):
            rows = rng.integers(0, len(y), len(y))
            out = np.setdiff1d(np.arange(len(y)), rows)
            clone(model).fit(X[rows], y[rows]).predict(X[out])

    return Call(
        lambda: bootstrap_error(model, X, y, n_resamples=many, random_state=0), peer, many / few
    )


def nested(model: object, data: Data) -> Call:
    """Nested folds, 5 in 4, repeated 10 times: 250 fits, against a loop of 25."""
    X, y = data
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def peer() -> None:
        for _ in range(5):
            for train, test in folds.split(X, y):
                clone(model).fit(X[train], y[train]).predict(X[test])

    return Call(
        lambda: error_interval(
            model, X, y, method="nested_cv", n_folds=5, n_repeats=10, random_state=0
        ),
        peer,
        10.0,
    )


def internal(n: int, d: int) -> Call:
    """All internal indices of six clusters, against the silhouette alone."""
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 6, n)
    X = rng.standard_normal((n, d)) + 2 * labels[:, None]
    return Call(lambda: internal_indices(X, labels), lambda: silhouette_score(X, labels), 1.0)


def scaled(model: object) -> object:
    return make_pipeline(StandardScaler(), model)


CALLS: dict[str, tuple[float, Callable[[], Call]]] = {
    "perturbation, linear SVC, 1000 x 10": (
        13, lambda: perturb(LINEAR, gauss(1000, 10, 0.6), 150, 4),
    ),
    "perturbation, linear SVC, 60 x 4000": (
        36, lambda: perturb(LINEAR, gauss(60, 4000, 1.0), 400, 8),
    ),
    "perturbation, linear SVC, 5000 x 20": (
        48, lambda: perturb(LINEAR, gauss(5000, 20, 0.6), 100, 1),
    ),
    "perturbation, linear SVC, colon": (23, lambda: perturb(LINEAR, colon()[:2], 1000, 20)),
    "perturbation, linear SVC, breast cancer": (3.4, lambda: perturb(LINEAR, cancer(), 300, 15)),
    "perturbed folds, linear SVC, 200 x 10": (
        5, lambda: perturb(LINEAR, gauss(200, 10, 0.6), 60, 2, folds=True),
    ),
    "perturbed folds, RBF SVC, 200 x 10": (
        5, lambda: perturb(SVC(), gauss(200, 10, 0.6), 60, 2, folds=True),
    ),
    "perturbed folds, RBF SVC, breast cancer": (
        2.8, lambda: perturb(SVC(), cancer(), 100, 2, folds=True),
    ),
    "perturbed folds, balanced linear SVC, breast cancer": (
        4.6, lambda: perturb(SVC(kernel="linear", class_weight="balanced"), cancer(), 100, 2,
                           folds=True),
    ),
    "perturbed folds, linear SVC of three classes, iris": (
        3.1, lambda: perturb(LINEAR, load_iris(return_X_y=True), 100, 4, folds=True),
    ),
    "permutation, scaled linear SVC, 300 x 15": (
        12, lambda: permute(scaled(LINEAR), gauss(300, 15, 0.4), 100, 2),
    ),
    "permutation, scaled linear SVC, breast cancer": (
        9, lambda: permute(scaled(LINEAR), cancer(), 40, 1),
    ),
    "permutation, SelectKBest + linear SVC, 60 x 1500": (
        13, lambda: permute(make_pipeline(SelectKBest(k=20), LINEAR), gauss(60, 1500, 0.8), 100, 3),
    ),
    "permutation, SelectKBest + linear SVC, colon": (
        7, lambda: permute(make_pipeline(SelectKBest(k=50), LINEAR), colon()[:2], 200, 4),
    ),
    "permutation, scaled RBF SVC, 200 x 10": (
        2.5, lambda: permute(scaled(SVC()), gauss(200, 10, 0.6), 100, 3),
    ),
    ".632+ bootstrap, linear SVC, 70 x 2000": (
        11, lambda: bootstrap(LINEAR, gauss(70, 2000, 1.0), 300, 12),
    ),
    ".632+ bootstrap, linear SVC, colon": (11, lambda: bootstrap(LINEAR, colon()[:2], 1000, 20)),
    "nested folds, linear SVC, 100 x 20": (5, lambda: nested(LINEAR, gauss(100, 20, 0.6))),
    "permutation, ridge, 300 x 15": (
        77, lambda: permute(RidgeClassifier(), gauss(300, 15, 0.3), 200, 3),
    ),
    "permutation, 5 neighbors, breast cancer": (
        21, lambda: permute(KNeighborsClassifier(), cancer(), 200, 3),
    ),
    "permutation, LDA, 300 x 15": (
        32, lambda: permute(LinearDiscriminantAnalysis(), gauss(300, 15, 0.3), 200, 3),
    ),
    "permutation, scaled logistic regression, 300 x 15": (
        31, lambda: permute(scaled(LogisticRegression()), gauss(300, 15, 0.3), 100, 3),
    ),
    "all internal indices against silhouette_score, 6000 x 8": (1.4, lambda: internal(6000, 8)),
}  # fmt: skip
"""The mark of each call, and both sides."""


def measure(call: Call, rounds: int) -> float:
    """Return the median ratio of processor times of a few pairs, after a warm-up."""
    call.ours()
    ratios = []
    for _ in range(rounds):
        start = time.process_time()
        call.ours()
        middle = time.process_time()
        call.peer()
        ratios.append((time.process_time() - middle) * call.factor / (middle - start))
    return statistics.median(ratios)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[""])
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    rows, short = [], 0
    for name, (mark, make) in CALLS.items():
        if not any(text in name for text in options.only):
            continue
        with threadpool_limits(1):
            ratio = measure(make(), options.rounds)
        short += ratio < mark
        rows.append((name, mark, f"{ratio:.1f}"))
        word = "SHORT" if ratio < mark else "ok   "
        print(f"{word} {ratio:7.1f} (mark {mark:g})  {name}", flush=True)
    if options.only == [""]:
        with RESULTS.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("call", "mark", "ratio"), *rows])
    print(f"flagship: {short} ratios below their marks")
    return int(short > 0)


if __name__ == "__main__":
    raise SystemExit(main())
