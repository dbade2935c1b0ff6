"""Intervals of folds in time order, with and without groups.

80 subjects enter one after the other and are measured five times each. The truth is the mean
squared error of the models of the folds on new subjects. Without groups, models are tested on
subjects of their training sets.

    python benchmarks/series_with_groups.py --sets 80
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from skeval.model_selection import error_interval

RESULTS = Path(__file__).parent / "results" / "series_with_groups.csv"
LEARNERS: dict[str, Any] = {
    "ridge": Ridge(),
    "5 neighbors": KNeighborsRegressor(),
    "tree of 3": DecisionTreeRegressor(max_depth=3, random_state=0),
}
SUBJECTS, VISITS = 80, 5


def draw_visits(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the visits of subjects in the order of time, with their subjects."""
    subject = np.repeat(np.arange(n), VISITS)
    time = np.repeat(np.sort(rng.random(n)), VISITS) + 0.15 * rng.random(n * VISITS)
    own = rng.standard_normal((n, 3))[subject]  # constant in a subject
    X = np.column_stack([own[:, :2], rng.standard_normal((len(subject), 2))])
    y = X[:, 2] + own[:, 2] + 0.5 * rng.standard_normal(len(subject))
    order = np.argsort(time)
    return X[order], y[order], subject[order]


def compare(learner: str, n_sets: int) -> dict[str, Any]:
    """Return the row of a learner."""
    model, limits = LEARNERS[learner], []
    for seed in range(n_sets):
        rng, cv = np.random.default_rng([7, seed]), TimeSeriesSplit(5)
        X, y, subject = draw_visits(rng, SUBJECTS)
        X_new, y_new, _ = draw_visits(rng, 1000)
        trains = [train[~np.isin(subject[train], subject[test])] for train, test in cv.split(X)]
        models = [clone(model).fit(X[train], y[train]) for train in trains]
        truth = float(np.mean([np.mean((one.predict(X_new) - y_new) ** 2) for one in models]))
        estimates = [
            error_interval(model, X, y, cv=cv, groups=groups, random_state=seed)
            for groups in (None, subject)
        ]
        limits.append([(*one.interval, abs(one.value - truth), truth) for one in estimates])
    low, high, off, true = np.moveaxis(np.array(limits), -1, 0)
    covered, widths = np.mean((low <= true) & (true <= high), axis=0), high - low
    return {
        "population": "subjects in time",
        "learner": learner,
        "n_sets": n_sets,
        "coverage_before": f"{covered[0]:.3f}",
        "coverage": f"{covered[1]:.3f}",
        "width_ratio": f"{np.nanmedian(widths[:, 1] / widths[:, 0]):.3f}",
        "error_ratio": f"{off[:, 1].mean() / off[:, 0].mean():.3f}",
    }


def main() -> None:
    """Measure all learners, and store one row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=80)
    n_sets, rows = parser.parse_args().sets, []
    warnings.simplefilter("ignore")
    for name in LEARNERS:
        rows.append(compare(name, n_sets))
        print(*rows[-1].values(), sep="  ", flush=True)
    with RESULTS.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
