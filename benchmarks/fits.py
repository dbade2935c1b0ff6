"""Number of fits that `error_interval` chooses, by model and number of samples.

``n_repeats="auto"`` adds repeats until random splits hardly add to the standard error. A row gives
the mean number of fits over data sets of `make_classification`. `evaluate` makes the same fits, a
fit to all samples, and two fits to at most 500 samples. Rows are stored in
benchmarks/results/fits.csv. doc/user_guide/error.rst has the table.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from pathlib import Path
from typing import Any

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skeval.model_selection import error_interval

RESULTS = Path(__file__).parent / "results" / "fits.csv"
MODELS = {
    "logistic regression": LogisticRegression(),
    "SVC": SVC(),
    "5 neighbors": KNeighborsClassifier(),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(random_state=0),
}
SIZES = (100, 400, 2000)


def count_fits(model: Any, n: int, seed: int) -> int:
    """Return the number of fits for one data set."""
    X, y = make_classification(n, 10, n_informative=5, flip_y=0.1, random_state=seed)
    n_fits: int = error_interval(model, X, y, random_state=seed).extra.n_fits
    return n_fits


def main() -> None:
    """Print and store a row for each model and number of samples."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=5, help="number of data sets of a row")
    options = parser.parse_args()
    with RESULTS.open("w", newline="") as file, threadpool_limits(1):
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["model", "n", "sets", "fits"])
        for name, model in MODELS.items():
            for n in SIZES:
                fits = [count_fits(model, n, seed) for seed in range(options.sets)]
                row = name, n, options.sets, f"{statistics.mean(fits):.0f}"
                table.writerow(row)
                file.flush()
                print(*row, flush=True)


if __name__ == "__main__":
    main()
