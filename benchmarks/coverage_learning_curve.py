"""How often the intervals of a learning curve hold the expected error, and what it foretells.

The truth of a size is the mean error of many rules, each trained on that many new samples and
tested on many others. That of the prediction is the error at twice the samples, that of the gain
the difference to the error at all of them.

    python benchmarks/coverage_learning_curve.py --sets 100 --output coverage_learning_curve.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsClassifier

from skeval.model_selection import learning_curve_band

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def classes(n_features: int, distance: float) -> Draw:
    """Two Gaussian classes that differ in the first feature."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.permutation(np.arange(n) % 2)
        X = rng.standard_normal((n, n_features))
        X[:, 0] += distance * y
        return X, y

    return draw


def numbers(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The sum of three of ten features, and as much noise as one of them."""
    X = rng.standard_normal((n, 10))
    return X, X[:, :3].sum(axis=1) + rng.standard_normal(n)


class Cell(NamedTuple):
    """A rule, a population, and the scorer that judges: a loss is its negative."""

    estimator: Any
    draw: Draw
    n: int
    scorer: str = "accuracy"
    options: tuple[tuple[str, str], ...] = ()

    def score(self, rng: np.random.Generator, n: int, test: tuple[np.ndarray, np.ndarray]) -> float:
        """Return the score of a rule that is trained on new samples."""
        model = clone(self.estimator).fit(*self.draw(rng, n))
        return float(get_scorer(self.scorer)(model, *test))


LDA, KNN, LOGISTIC = LinearDiscriminantAnalysis(), KNeighborsClassifier(), LogisticRegression()
CELLS = {
    "lda": Cell(LDA, classes(10, 1.5), 100),
    "lda, 400": Cell(LDA, classes(10, 1.5), 400),
    "lda, easy": Cell(LDA, classes(5, 4.0), 100),
    "lda, noise": Cell(LDA, classes(5, 0.0), 100),
    "lda, area": Cell(LDA, classes(10, 1.5), 100, "roc_auc", (("scoring", "roc_auc"),)),
    "ridge": Cell(Ridge(), numbers, 100, "neg_mean_squared_error"),
    "neighbours": Cell(KNN, classes(5, 1.5), 100),
    "logistic": Cell(LOGISTIC, classes(10, 1.5), 100),
    "logistic, log loss": Cell(
        LOGISTIC, classes(10, 1.5), 100, "neg_log_loss", (("loss", "log_loss"),)
    ),
}


def find_truth(cell: Cell, sizes: np.ndarray) -> np.ndarray:
    """Return the expected error, or score, at each size."""
    rng = np.random.default_rng(999)
    test = cell.draw(rng, 4000 if cell.estimator is KNN else 20000)
    means = [np.mean([cell.score(rng, round(m), test) for _ in range(200)]) for m in sizes]
    if cell.scorer == "accuracy":
        return 1 - np.array(means)
    return np.array(means) * (-1 if cell.scorer.startswith("neg") else 1)


def run_cell(name: str, n_sets: int) -> dict[str, object]:
    """Return the coverage of a cell, over the sets that have a law."""
    cell, rows, truth = CELLS[name], [], np.empty(0)
    start = time.process_time()
    for number in range(n_sets):
        X, y = cell.draw(np.random.default_rng(number), cell.n)
        curve = learning_curve_band(cell.estimator, X, y, random_state=number, **dict(cell.options))
        if curve.band is None:
            continue
        truth = truth if len(truth) else find_truth(cell, curve.x)
        gain, least = curve.extra.gain.interval, abs(truth[-2] - truth[-1])
        rows.append(
            [
                *((curve.low <= truth) & (truth <= curve.high)),
                np.all((curve.band.low <= truth) & (truth <= curve.band.high)),
                gain.low <= least <= gain.high,
                gain.low > 0,
                *(curve.high - curve.low),
            ]
        )
    means, n = np.mean(rows, axis=0), len(truth)
    return {
        "cell": name,
        "n": cell.n,
        "sets": n_sets,
        "no_law": n_sets - len(rows),
        "lowest_at_a_size": f"{means[: n - 2].min():.3f}",
        "highest_at_a_size": f"{means[: n - 2].max():.3f}",
        "at_all": f"{means[n - 2]:.3f}",
        "at_twice": f"{means[n - 1]:.3f}",
        "band": f"{means[n]:.3f}",
        "gain": f"{means[n + 1]:.3f}",
        "would_help": f"{means[n + 2]:.3f}",
        "truth_at_all": f"{truth[-2]:.4f}",
        "truth_at_twice": f"{truth[-1]:.4f}",
        "width_at_largest": f"{means[n + 3 + n - 3]:.4f}",
        "width_at_twice": f"{means[-1]:.4f}",
        "seconds": f"{time.process_time() - start:.0f}",
    }


def main() -> None:
    """Run the cells that the file does not have."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    done = set()
    if arguments.output.exists():
        with arguments.output.open() as file:
            done = {row["cell"] for row in csv.DictReader(file)}
    for name in CELLS.keys() - done:
        row = run_cell(name, arguments.sets)
        print(*row.values(), flush=True)
        fresh = not arguments.output.exists()
        with arguments.output.open("a", newline="") as file:
            writer = csv.DictWriter(file, row)
            if fresh:
                writer.writeheader()
            writer.writerow(row)


if __name__ == "__main__":
    main()
