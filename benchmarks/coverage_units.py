"""Coverage of the interval of a metric averaged over random units (``within=``).

Each unit has 20 samples. Its areas under the ROC curve come from normal scores whose separation
varies between units, its accuracies from beta(8, 2). Weights are log-normal and independent of
the values.

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
METRICS, N_UNITS, SIZE = ("accuracy", "auc", "weighted auc"), (5, 10, 30), 20
MEAN, SPREAD = 1.2, 0.4  # separation of the classes
TRUTHS = {"accuracy": 0.8, "auc": norm.cdf(MEAN / np.sqrt(2 + SPREAD**2))}
TRUTHS["weighted auc"] = TRUTHS["auc"]


def draw_interval(metric: str, n_units: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the interval of a data set."""
    units = np.repeat(np.arange(n_units), SIZE)
    y = np.tile([0, 1], len(units) // 2)
    if metric == "accuracy":
        right = rng.random(len(y)) < rng.beta(8, 2, n_units)[units]
        return tuple(
            metric_interval(accuracy_score, y, np.where(right, y, 1 - y), within=units).interval
        )
    scores = rng.normal(y * rng.normal(MEAN, SPREAD, n_units)[units])
    weights = None
    if metric == "weighted auc":
        weights = dict(enumerate(rng.lognormal(size=n_units)))
    found = metric_interval(roc_auc_score, y, scores, within=units, unit_weights=weights)
    return tuple(found.interval)


def main() -> None:
    """Run all cells and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = []
    for metric, n_units in product(METRICS, N_UNITS):
        rng = np.random.default_rng([METRICS.index(metric), n_units])
        ends = np.array([draw_interval(metric, n_units, rng) for _ in range(arguments.sets)])
        covered = (ends[:, 0] <= TRUTHS[metric]) & (TRUTHS[metric] <= ends[:, 1])
        row = {"metric": metric, "units": n_units, "sets": arguments.sets}
        row |= {
            "covered": int(covered.sum()),
            "width": round(float(np.nanmean(np.ptp(ends, 1))), 4),
        }
        rows.append(row)
        print(row, flush=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
