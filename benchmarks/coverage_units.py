"""Coverage of the interval of a metric averaged over random or fixed units (``within=``).

Each unit has 20 samples. Its areas under the ROC curve come from normal scores whose separation
varies between units, its accuracies from beta(8, 2) or, if high, from beta(19, 1). Weights
are log-normal and independent of the values.

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
METRICS, N_UNITS, SIZE = ("accuracy", "auc", "weighted auc", "high accuracy"), (5, 10, 30), 20
MEAN, SPREAD = 1.2, 0.4  # separation of the classes
TRUTHS = {"accuracy": 0.8, "high accuracy": 0.95, "auc": norm.cdf(MEAN / np.sqrt(2 + SPREAD**2))}
TRUTHS["weighted auc"] = TRUTHS["auc"]


def draw_interval(
    metric: str, n_units: int, kind: str, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the interval of a data set, and the true value."""
    units = np.repeat(np.arange(n_units), SIZE)
    y, options = np.tile([0, 1], len(units) // 2), {"within": units, "units": kind}
    if metric.endswith("accuracy"):
        truths = rng.beta(*((8, 2) if metric == "accuracy" else (19, 1)), n_units)
        y_pred = np.where(rng.random(len(y)) < truths[units], y, 1 - y)
        function = accuracy_score
    else:
        distances = rng.normal(MEAN, SPREAD, n_units)
        y_pred, function = rng.normal(y * distances[units]), roc_auc_score
        truths = norm.cdf(distances / np.sqrt(2))
    weights = np.ones(n_units)
    if metric == "weighted auc":
        weights = rng.lognormal(size=n_units)
        options["unit_weights"] = dict(enumerate(weights))
    interval = metric_interval(function, y, y_pred, **options).interval
    truth = TRUTHS[metric] if kind == "random" else np.average(truths, weights=weights)
    return interval.low, interval.high, truth


def main() -> None:
    """Run all cells and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = []
    for kind, metric, n_units in product(("random", "fixed"), METRICS, N_UNITS):
        rng = np.random.default_rng([METRICS.index(metric), n_units])
        sets = [draw_interval(metric, n_units, kind, rng) for _ in range(arguments.sets)]
        low, high, truth = np.array(sets).T
        covered = (low <= truth) & (truth <= high)
        row = {"kind": kind, "metric": metric, "units": n_units, "sets": arguments.sets}
        row |= {"covered": int(covered.sum()), "width": round(float(np.nanmean(high - low)), 4)}
        rows.append(row)
        print(row, flush=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
