"""How often intervals of `feature_importance` contain the importance on new samples.

The truth is the mean importance, on 2,000 new samples, in the models of ten folds of the same data
set. An interval that is undefined counts as a miss. A row gives the coverage of a kind of column:
"strong", "weak", "pair" (two correlated columns that are shuffled together) and "noise".

    python benchmarks/coverage_importance.py --sets 100
    python benchmarks/coverage_importance.py --sets 400 --cells "ridge, n = 60"
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skeval.model_selection import feature_importance
from skeval.model_selection._importance import ScoreDrop

RESULTS = Path(__file__).parent / "results" / "coverage_importance.csv"
COLUMNS = {"strong": [0], "weak": [1], "pair": [2, 3], "noise": [4]}
CELLS: dict[str, tuple[Any, int]] = {
    "LDA, n = 60": (LinearDiscriminantAnalysis(), 60),
    "LDA, n = 200": (LinearDiscriminantAnalysis(), 200),
    "5 neighbors, n = 100": (KNeighborsClassifier(), 100),
    "tree, n = 100": (DecisionTreeClassifier(max_depth=3, random_state=0), 100),
    "ridge, n = 60": (Ridge(), 60),
    "ridge, n = 200": (Ridge(), 200),
}


def draw(rng: np.random.Generator, n: int, numbers: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return samples with a strong, a weak and two correlated columns, and noise."""
    X = rng.standard_normal((n, 8))
    X[:, 3] = X[:, 2] + 0.2 * X[:, 3]
    signal = X[:, 0] + 0.3 * X[:, 1] + 0.5 * X[:, 2]
    y = signal + rng.standard_normal(n)
    return X, y if numbers else (y > 0).astype(int)


def measure(name: str, n_sets: int) -> list[dict[str, Any]]:
    """Return the rows of a cell."""
    estimator, n = CELLS[name]
    numbers, scorer = isinstance(estimator, Ridge), check_scoring(estimator)
    drops = {kind: ScoreDrop(scorer, columns, 2, 0) for kind, columns in COLUMNS.items()}
    limits: dict[str, list[tuple[float, float, float]]] = {kind: [] for kind in COLUMNS}
    for seed in range(n_sets):
        X, y = draw(np.random.default_rng([2, seed]), n, numbers)
        importance = feature_importance(estimator, X, y, random_state=seed)
        # the same samples train models of ten other folds, which are tested on new samples
        rng = np.random.default_rng([3, seed])
        folds = KFold(10, shuffle=True, random_state=seed).split(X)
        models = [clone(estimator).fit(X[train], y[train]) for train, _ in folds]
        tests = draw(rng, 2000, numbers)
        for kind, columns in COLUMNS.items():
            interval = importance[" + ".join(map(str, columns))].interval
            truth = float(np.mean([drops[kind](model, *tests) for model in models]))
            limits[kind].append((interval.low, truth, interval.high))
    rows = []
    for kind, rows_of_kind in limits.items():
        low, truth, high = np.array(rows_of_kind).T
        rows.append(
            {
                "cell": name,
                "column": kind,
                "n_sets": n_sets,
                "importance": f"{truth.mean():.4f}",
                "coverage": f"{np.mean((low <= truth) & (truth <= high)):.3f}",
                "median_width": f"{np.nanmedian(high - low):.4f}",
            }
        )
    return rows


def main() -> None:
    """Measure the cells, and store one row for each kind of column beside those of other cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--cells", nargs="+", default=list(CELLS), choices=CELLS)
    options = parser.parse_args()
    with RESULTS.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["cell"] not in options.cells]
    warnings.simplefilter("ignore")
    for name in options.cells:
        rows += measure(name, options.sets)
        for row in rows[-len(COLUMNS) :]:
            print(*row.values(), sep="  ", flush=True)
    rows.sort(key=lambda row: list(CELLS).index(row["cell"]))
    with RESULTS.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
