"""Coverage of the interval of a metric averaged over units (``within=``).

Each unit has 20 samples. Its areas under the ROC curve come from normal scores whose separation
varies between units, its accuracies from beta(8, 2) or, if high, from beta(19, 1).

    python benchmarks/coverage_units.py --sets 400
"""

from __future__ import annotations

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import norm
from sklearn.metrics import accuracy_score, roc_auc_score

from skeval.model_selection import metric_interval

RESULTS = Path(__file__).parent / "results" / "coverage_units.csv"
SEEDS, N_UNITS, SIZE = {"accuracy": 0, "auc": 1, "high accuracy": 3}, (5, 10, 30), 20
MEAN, SPREAD = 1.2, 0.4  # separation of the classes
TRUTHS = {"accuracy": 0.8, "high accuracy": 0.95, "auc": norm.cdf(MEAN / np.sqrt(2 + SPREAD**2))}


def draw_interval(metric: str, n_units: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the interval of a data set."""
    units = np.repeat(np.arange(n_units), SIZE)
    y = np.tile([0, 1], len(units) // 2)
    if metric.endswith("accuracy"):
        truths = rng.beta(*((8, 2) if metric == "accuracy" else (19, 1)), n_units)
        y_pred = np.where(rng.random(len(y)) < truths[units], y, 1 - y)
        function = accuracy_score
    else:
        distances = rng.normal(MEAN, SPREAD, n_units)
        y_pred, function = rng.normal(y * distances[units]), roc_auc_score
    interval = metric_interval(function, y, y_pred, within=units).interval
    return interval.low, interval.high


def main() -> None:
    """Run all cells and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = []
    for metric, n_units in product(SEEDS, N_UNITS):
        rng = np.random.default_rng([SEEDS[metric], n_units])
        sets = [draw_interval(metric, n_units, rng) for _ in range(arguments.sets)]
        low, high = np.array(sets).T
        covered = (low <= TRUTHS[metric]) & (TRUTHS[metric] <= high)
        row = {"metric": metric, "units": n_units, "sets": arguments.sets}
        row |= {"covered": int(covered.sum()), "width": round(float(np.nanmean(high - low)), 4)}
        rows.append(row)
        print(row, flush=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
