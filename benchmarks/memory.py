"""Peak memory of large runs, each in a process of its own, above what the data and libraries take.

``python benchmarks/memory.py`` prints one line a case and ends with status 1 if a limit is broken;
``--case NAME`` runs one of them in this process.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.svm import SVC

from skeval.datasets import make_gaussian_classes
from skeval.metrics import break_even_point, cost_curve, error_rate, macro_fbeta_score, ranking_loss
from skeval.metrics.cluster import dunn_score, external_indices, internal_indices
from skeval.model_selection import (
    bootstrap_error,
    metric_interval,
    permutation_test,
    perturbation_interval,
)

SVM = SVC(kernel="linear", C=0.01)
BLOCK = 600.0  # a block of fits is 2**22 numbers, of which the solvers hold about a dozen arrays


class NearestMean(ClassifierMixin, BaseEstimator):
    """The cheapest classifier that no solver takes."""

    def fit(self, X, y):
        """Keep the class means."""
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        """Return the class of the nearer mean."""
        distances = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


class Case(NamedTuple):
    """A run: what makes its data, what is measured on them, and the limit in megabytes."""

    data: Callable[[], tuple]
    work: Callable[..., object]
    limit: float


def classes(n: int, p: int = 2) -> Callable[[], tuple]:
    """Return what draws two overlapping classes."""

    def draw() -> tuple:
        data = make_gaussian_classes(n, p, separation=2, random_state=0)
        return data.X, data.y

    return draw


def answers(n: int, n_classes: int = 2) -> Callable[[], tuple]:
    """Return what draws labels and answers, four in five of them right."""

    def draw() -> tuple:
        rng = np.random.default_rng(0)
        y = rng.integers(n_classes, size=n)
        return y, np.where(rng.random(n) < 0.8, y, rng.integers(n_classes, size=n))

    return draw


def scores(n: int) -> Callable[[], tuple]:
    """Return what draws labels and scores."""

    def draw() -> tuple:
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=n)
        return y, y + rng.normal(size=n)

    return draw


def blobs(n: int, d: int) -> Callable[[], tuple]:
    """Return what draws overlapping clusters."""
    return lambda: make_blobs(n, d, centers=8, cluster_std=3.0, random_state=0)


CASES = {
    "bootstrap, B=100000 n=1000, SVM": Case(
        classes(1000), lambda X, y: bootstrap_error(SVM, X, y, n_resamples=10**5), BLOCK
    ),
    "bootstrap, B=100000 n=1000, generic": Case(
        classes(1000), lambda X, y: bootstrap_error(NearestMean(), X, y, n_resamples=10**5), BLOCK
    ),
    "perturbation, R=100000 n=1000, SVM": Case(
        classes(1000),
        lambda X, y: perturbation_interval(
            SVM, X, y, n_resamples=10**5, statistic="resubstitution"
        ),
        BLOCK,
    ),
    "permutation, P=20000 n=1000, generic": Case(
        classes(1000),
        lambda X, y: permutation_test(NearestMean(), X, y, cv=2, n_permutations=20_000),
        BLOCK,
    ),
    "permutation, P=5000 n=1000, SVM": Case(
        classes(1000), lambda X, y: permutation_test(SVM, X, y, cv=2, n_permutations=5000), BLOCK
    ),
    "metrics of 1000000 answers": Case(
        answers(10**6, 10), lambda y, z: (error_rate(y, z), macro_fbeta_score(y, z)), 150
    ),
    "curves of 1000000 scores": Case(
        scores(10**6),
        lambda y, s: (break_even_point(y, s), ranking_loss(y, s), cost_curve(y, s)),
        500,
    ),
    "interval of AUC, 1000000 scores": Case(
        scores(10**6), lambda y, s: metric_interval(roc_auc_score, y, s), 200
    ),
    "bootstrap of F1, B=200, 1000000 answers": Case(
        answers(10**6),
        lambda y, z: metric_interval(f1_score, y, z, method="percentile", n_resamples=200),
        300,
    ),
    "external indices, n=10000000": Case(
        answers(10**7, 100), lambda y, z: external_indices(y, z), 600
    ),
    "internal indices, n=100000 d=10": Case(
        blobs(10**5, 10), lambda X, y: internal_indices(X, y), 300
    ),
    "Dunn, n=1000000 d=3": Case(blobs(10**6, 3), lambda X, y: dunn_score(X, y), 600),
}


def peak_megabytes() -> float:
    """Return the peak of this process so far."""
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes / (1024**2 if sys.platform == "darwin" else 1024)


def run_one(name: str) -> int:
    """Measure a case in this process; 1 if it breaks its limit."""
    case = CASES[name]
    data = case.data()
    before, start = peak_megabytes(), time.perf_counter()
    case.work(*data)
    spent, used = time.perf_counter() - start, peak_megabytes() - before
    broken = "" if used <= case.limit else "  BROKEN"
    print(f"{name:<42}{used:>6.0f} MB, limit {case.limit:.0f} MB, {spent:>6.1f} s{broken}")
    return int(used > case.limit)


def main() -> int:
    """Run one case, or each in a fresh process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=CASES)
    options = parser.parse_args()
    if options.case:
        return run_one(options.case)
    statuses = [
        subprocess.run([sys.executable, __file__, "--case", name], check=False).returncode
        for name in CASES
    ]
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main())
