"""Intervals of folds that balance the target, and of folds in time order that respect groups.

"numbers" compares `error_interval` with folds that balance the numbers, the default of a number of
folds, and with scikit-learn's shuffled KFold: n = 60, ten folds, five repeats. The truth is the
mean squared error of the model trained on all samples, on 4,000 new ones.

"subjects in time" compares TimeSeriesSplit with and without groups: 80 subjects enter one after the
other and are measured five times each. The truth is the mean error of the models of the folds on
new subjects. Without groups, models are tested on subjects of their training sets.

    python benchmarks/balanced_folds.py --sets 80
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from skeval.model_selection import error_interval

RESULTS = Path(__file__).parent / "results" / "balanced_folds.csv"
Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
LEARNERS: dict[str, Any] = {
    "ridge": Ridge(),
    "5 neighbors": KNeighborsRegressor(),
    "tree of 3": DecisionTreeRegressor(max_depth=3, random_state=0),
    "5 of 10, ridge": make_pipeline(SelectKBest(f_regression, k=5), Ridge()),
}
SUBJECTS, VISITS = 80, 5


def draw_linear(noise: Callable[[np.random.Generator, int], np.ndarray]) -> Draw:
    """Return a linear population with this noise."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.standard_normal((n, 10))
        return X, X[:, 0] + 0.5 * X[:, 1] + noise(rng, n)

    return draw


def draw_product(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a population with a product of two columns."""
    X = rng.standard_normal((n, 10))
    return X, X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n)


def draw_lognormal(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a population with a log-normal target."""
    X, y = POPULATIONS["normal"](rng, n)
    return X, np.exp(0.6 * y)


POPULATIONS: dict[str, Draw] = {
    "normal": draw_linear(lambda rng, n: rng.standard_normal(n)),
    "t4": draw_linear(lambda rng, n: rng.standard_t(4, n)),
    "skewed": draw_linear(lambda rng, n: rng.exponential(size=n)),
    "product": draw_product,
    "log-normal": draw_lognormal,
}


def draw_visits(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the visits of subjects in the order of time, with their subjects."""
    subject = np.repeat(np.arange(n), VISITS)
    time = np.repeat(np.sort(rng.random(n)), VISITS) + 0.15 * rng.random(n * VISITS)
    own = rng.standard_normal((n, 3))[subject]  # constant in a subject
    X = np.column_stack([own[:, :2], rng.standard_normal((len(subject), 2))])
    y = X[:, 2] + own[:, 2] + 0.5 * rng.standard_normal(len(subject))
    order = np.argsort(time)
    return X[order], y[order], subject[order]


def compare(cell: str, n_sets: int) -> dict[str, Any]:
    """Return the row of a population and learner."""
    population, learner = cell.split(": ")
    model, limits = LEARNERS[learner], []
    options: list[dict[str, Any]] = [{"cv": KFold(10, shuffle=True)}, {"cv": 10}]
    for seed in range(n_sets):
        rng = np.random.default_rng([7, seed])
        if population == "subjects in time":
            cv = TimeSeriesSplit(5)
            X, y, subject = draw_visits(rng, SUBJECTS)
            options = [{"cv": cv}, {"cv": cv, "groups": subject}]
            X_new, y_new, _ = draw_visits(rng, 1000)
            trains = [train[~np.isin(subject[train], subject[test])] for train, test in cv.split(X)]
        else:
            X, y = POPULATIONS[population](rng, 60)
            X_new, y_new = POPULATIONS[population](rng, 4000)
            trains = [np.arange(60)]
        models = [clone(model).fit(X[train], y[train]) for train in trains]
        truth = float(np.mean([np.mean((one.predict(X_new) - y_new) ** 2) for one in models]))
        estimates = [error_interval(model, X, y, random_state=seed, **one) for one in options]
        limits.append([(*one.interval, abs(one.value - truth), truth) for one in estimates])
    low, high, off, true = np.moveaxis(np.array(limits), -1, 0)
    covered, ratios = np.mean((low <= true) & (true <= high), axis=0), (high - low)[:, 1]
    return {
        "population": population,
        "learner": learner,
        "n_sets": n_sets,
        "coverage_before": f"{covered[0]:.3f}",
        "coverage": f"{covered[1]:.3f}",
        "width_ratio": f"{np.nanmedian(ratios / (high - low)[:, 0]):.3f}",
        "error_ratio": f"{off[:, 1].mean() / off[:, 0].mean():.3f}",
    }


def main() -> None:
    """Measure all cells, and store one row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=80)
    n_sets, rows = parser.parse_args().sets, []
    warnings.simplefilter("ignore")
    names = [": ".join(pair) for pair in product(POPULATIONS, LEARNERS)]
    names += [f"subjects in time: {name}" for name in ("ridge", "5 neighbors", "tree of 3")]
    for name in names:
        rows.append(compare(name, n_sets))
        print(*rows[-1].values(), sep="  ", flush=True)
    with RESULTS.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
