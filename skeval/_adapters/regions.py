"""Sizes of the data and of a plan for which each solver is faster than the loop.

The adapters ask these rules, and doc/derivations/regions.rst shows their docstrings. Each ratio is
the time of the loop divided by the time of the solver, in processor time of one thread
(scikit-learn 1.9). benchmarks/solvers.py measures the rules again. Limits of memory and of rounding
are not here but beside each solver.
"""

from __future__ import annotations

from typing import NamedTuple


class Sizes(NamedTuple):
    """Numbers of fits, samples, columns, classes, and samples that all fits test."""

    n_fits: float
    n_samples: int
    n_features: int = 1
    n_classes: int = 2
    n_tested: int = 0


MAX_CLASSES, MAX_CLASSES_SVC = 32, 5
"""Maximum number of classes of the solvers, and of SVCs, which solve a problem for each pair."""


def linear(sizes: Sizes) -> bool:
    """Ridge, RidgeClassifier, LinearRegression and KernelRidge: at least 20 fits, and one more
    for each 2,000 samples, at most 32 classes.
    """
    # Ridge regression with 10, 50 and 200 fits: 1.4, 4.3, 11 at 500 x 20, 0.7, 2.5, 4.8 at 2,000
    # x 100, 0.6, 2.9, 6.9 at 2,000 x 500, 0.9, 2.6, 2.7 at 10,000 x 100, 0.7, 1.4, 1.3 at 50,000
    # x 5, and 0.4, 1.5, 1.3 at 50,000 x 100. A factorization costs more fits of large data.
    return sizes.n_fits >= 20 + sizes.n_samples // 2000 and sizes.n_classes <= MAX_CLASSES


def discriminant(sizes: Sizes) -> bool:
    """LinearDiscriminantAnalysis: at least 10 fits, at most 32 classes."""
    # 10 and 50 fits: 1.7, 4.7 at 500 x 5, 3.0, 7.9 at 2,000 x 100, 1.2, 1.9 at 50,000 x 5, and
    # 3.3, 9.6 at 50,000 x 100.
    return sizes.n_fits >= 10 and sizes.n_classes <= MAX_CLASSES


def naive(sizes: Sizes) -> bool:
    """GaussianNB: at least 10 fits, and one more for each 2,000,000 numbers in X, at most 32
    classes.
    """
    # 10 and 50 fits: 1.2, 4.4 at 500 x 100, 1.4, 2.9 at 2,000 x 500, 1.3, 1.5 at 50,000 x 5, and
    # 0.9, 2.2 at 100,000 x 50. A fit costs no more than the squares of its columns.
    least = 10 + sizes.n_samples * sizes.n_features // 2_000_000
    return sizes.n_fits >= least and sizes.n_classes <= MAX_CLASSES


def neighbors(sizes: Sizes) -> bool:
    """KNeighborsClassifier and KNeighborsRegressor: at least 20 fits, and 5 n² at most 300,000 for
    each fit plus n for each tested sample, at most 32 classes.
    """
    # 20, 30 and 40 permuted fits of the largest data: 2.5 at 1,400 x 5, 1.9 at 1,400 x 50, 3.0 at
    # 2,100 x 5, 2.5 at 2,100 x 50 and 3.4 at 3,400 x 5; 50 fits: 3.6 at 5,000 x 5 and 3.2 at
    # 10,000 x 5. Sorted lists of all samples cost five times their distances.
    n_fits, n, _, n_classes, n_tested = sizes
    is_short = 5 * n**2 <= 300_000 * n_fits + n * n_tested
    return n_fits >= 20 and is_short and n_classes <= MAX_CLASSES


def logistic(sizes: Sizes) -> bool:
    """LogisticRegression: at least 5 fits, n q² at most 3,000,000, and 80,000 for each fit."""
    # Two classes, 50 fits and n x q: 4.2 at 500 x 21, 2.6 at 500 x 51, 3.2 at 2,000 x 21, 1.0 at
    # 2,000 x 51 and at 10,000 x 21, 1.1 at 50,000 x 6, and 0.5 at 50,000 x 21 and at 10,000 x 51;
    # 10 fits: 2.1 at 500 x 21, 0.9 at 2,000 x 21, 1.2 at 10,000 x 6, and 0.8 at 50,000 x 6.
    n_fits, n, p, n_classes, _ = sizes
    q = (p + 1) * (n_classes if n_classes > 2 else 1)
    return n_fits >= 5 and n * q**2 <= min(3e6, 8e4 * n_fits)


def linear_svc(sizes: Sizes) -> bool:
    """SVC with a linear kernel and 3 p < 2 n: at least 10 fits for each pair of classes, or any
    number for two classes and at least 1,000 samples, at most 5 classes.
    """
    # 10 fits: 2.0 at 500 x 5, 6.1 at 2,000 x 50, and 9.3 at 10,000 x 5.
    n_fits, n, _, k, _ = sizes
    return k <= MAX_CLASSES_SVC and (n_fits >= 5 * k * (k - 1) or (k == 2 and n >= 1000))


def kernel_svc(sizes: Sizes) -> bool:
    """SVC with a kernel that fits share, and with a linear kernel otherwise: at least 10 fits for
    each pair of classes, at most 600 samples, at most 5 classes.
    """
    # gamma="auto" with 20 and 50 fits: 1.5, 2.3 at 600 x 5, and 2.0, 3.0 at 600 x 50; 10 fits: 2.3
    # at 100 x 5, 1.1 at 600 x 10 (gamma=0.1), and 1.7 at 300 x 500 with a linear kernel.
    n_fits, n, _, k, _ = sizes
    return k <= MAX_CLASSES_SVC and n <= 600 and n_fits >= 5 * k * (k - 1)


REGIONS = (linear, discriminant, naive, neighbors, logistic, linear_svc, kernel_svc)
"""The rules, for the table of the documentation."""
