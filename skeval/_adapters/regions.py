"""Sizes of the data and of a plan for which each solver is faster than the loop.

The adapters read `REGIONS`, and doc/derivations/regions.rst is a table of it. Each ratio is the
time of the loop divided by the time of the solver, in processor time of one thread (scikit-learn
1.9). benchmarks/solvers.py measures the regions again. Limits of memory and of rounding are not
here but beside each solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

FEWEST = 5
"""Minimum number of fits of a plan, because at least one fit is repeated for comparison."""


class Sizes(NamedTuple):
    """Numbers of fits, samples, columns, classes, and samples that all fits test."""

    n_fits: float
    n_samples: int
    n_features: int = 1
    n_classes: int = 2
    n_tested: int = 0


@dataclass(frozen=True)
class Region:
    """Region in which a solver runs.

    Attributes
    ----------
    solves : str
        The estimators, and the case of the solver.
    min_fits : int
        Minimum number of fits, for each pair of classes if `per_pair` is True.
    samples_per_fit, numbers_per_fit : float
        Samples, and numbers in X, for each further fit.
    max_samples, max_classes : float
    max_products, products_per_fit : float
        Maximum of n q^2, and the same for each fit, where q is the number of coefficients.
    large : float
        Number of samples from which a single fit of two classes is faster.
    lists : float
        Cost of sorted lists of all samples, in units of n^2 distances. It is at most
        `distances_per_fit` for each fit, plus the distances between tested and all samples.
    """

    solves: str
    min_fits: int = FEWEST
    per_pair: bool = False
    samples_per_fit: float = inf
    numbers_per_fit: float = inf
    max_samples: float = inf
    max_classes: float = inf
    max_products: float = inf
    products_per_fit: float = inf
    large: float = inf
    lists: float = 0.0
    distances_per_fit: float = 0.0

    def contains(self, sizes: Sizes) -> bool:
        """Return whether the solver is faster than the loop."""
        n_fits, n, p, k, n_tested = sizes
        if n > self.max_samples or k > self.max_classes:
            return False
        # fits
        least = self.min_fits * (k * (k - 1) // 2 if self.per_pair else 1)
        least = 1 if n >= self.large and k == 2 else least
        if n_fits < least + n // self.samples_per_fit + n * p // self.numbers_per_fit:
            return False
        # work of the solver
        q = (p + 1) * (k if k > 2 else 1)
        if n * q**2 > min(self.max_products, self.products_per_fit * n_fits):
            return False
        rest = self.lists * n**2 - n_tested * n
        return not self.lists or rest <= self.distances_per_fit * n_fits


REGIONS = {
    # Ridge regression with 10, 50 and 200 fits: 1.4, 4.3, 11 at 500 x 20, 0.7, 2.5, 4.8 at 2,000
    # x 100, 0.6, 2.9, 6.9 at 2,000 x 500, 0.9, 2.6, 2.7 at 10,000 x 100, 0.7, 1.4, 1.3 at 50,000
    # x 5, and 0.4, 1.5, 1.3 at 50,000 x 100.
    "linear": Region(
        "Ridge, RidgeClassifier, LinearRegression and KernelRidge",
        min_fits=20,
        samples_per_fit=2000,  # a factorization of columns costs more fits of large data
        max_classes=32,
    ),
    # 10 and 50 fits: 1.7, 4.7 at 500 x 5, 3.0, 7.9 at 2,000 x 100, 1.2, 1.9 at 50,000 x 5, and
    # 3.3, 9.6 at 50,000 x 100.
    "lda": Region("LinearDiscriminantAnalysis", min_fits=10, max_classes=32),
    # 10 and 50 fits: 1.2, 4.4 at 500 x 100, 1.4, 2.9 at 2,000 x 500, 1.3, 1.5 at 50,000 x 5, and
    # 0.9, 2.2 at 100,000 x 50.
    "naive": Region(
        "GaussianNB",
        min_fits=10,
        numbers_per_fit=2_000_000,  # a fit costs no more than the squares of its columns
        max_classes=32,
    ),
    # 20, 30 and 40 permuted fits of the largest data: 2.5 at 1,400 x 5, 1.9 at 1,400 x 50, 3.0 at
    # 2,100 x 5, 2.5 at 2,100 x 50 and 3.4 at 3,400 x 5; 50 fits: 3.6 at 5,000 x 5 and 3.2 at
    # 10,000 x 5.
    "neighbors": Region(
        "KNeighborsClassifier and KNeighborsRegressor",
        min_fits=20,
        max_classes=32,
        lists=5.0,
        distances_per_fit=300_000,
    ),
    # Two classes, 50 fits and n x q: 4.2 at 500 x 21, 2.6 at 500 x 51, 3.2 at 2,000 x 21, 1.0 at
    # 2,000 x 51 and at 10,000 x 21, 1.1 at 50,000 x 6, and 0.5 at 50,000 x 21 and at 10,000 x 51;
    # 10 fits: 2.1 at 500 x 21, 0.9 at 2,000 x 21, 1.2 at 10,000 x 6, and 0.8 at 50,000 x 6.
    "logistic": Region("LogisticRegression", max_products=3e6, products_per_fit=8e4),
    # 10 fits: 2.0 at 500 x 5, 6.1 at 2,000 x 50, and 9.3 at 10,000 x 5.
    "svc_features": Region(
        "SVC with a linear kernel and 3 p < 2 n",
        min_fits=10,
        per_pair=True,
        max_classes=5,
        large=1000,
    ),
    # gamma="auto" with 20 and 50 fits: 1.5, 2.3 at 600 x 5, and 2.0, 3.0 at 600 x 50; 10 fits: 2.3
    # at 100 x 5, 1.1 at 600 x 10 (gamma=0.1), and 1.7 at 300 x 500 with a linear kernel.
    "svc_shared": Region(
        "SVC with a kernel that fits share, and with a linear kernel otherwise",
        min_fits=10,
        per_pair=True,
        max_classes=5,
        max_samples=600,
    ),
    # Permuted labels: 2.6 at 200 x 10 and 2.0 at 300 x 10; labels of the data, which libsvm fits
    # faster: 2.2 at 200 x 10 and 1.0 at 500 x 10.
    "svc_own": Region(
        "SVC with a kernel of each fit, two classes and permuted labels",
        min_fits=10,
        max_classes=2,
        max_samples=300,
    ),
}
"""Regions of the solvers, by name."""
