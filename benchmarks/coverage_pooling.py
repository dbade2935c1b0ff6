"""Coverage of pooled estimates of normal sites, for the mean and for the value at another site.

The variances of the estimates are uniform from .1 to 1. ``between`` is the share of the variance of
an estimate that is between sites (I2).

    python benchmarks/coverage_pooling.py --sets 200
"""

from __future__ import annotations

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np

from skeval.model_selection._pooling import Pooled

RESULTS = Path(__file__).parent / "results" / "coverage_pooling.csv"
SITES, BETWEEN = (5, 10, 20), (0.0, 0.5, 0.9)


def run_cell(n_sites: int, between: float, sets: int) -> dict[str, object]:
    """Return the coverage of the mean and of another site."""
    covered = np.zeros(2)
    for number in range(sets):
        rng = np.random.default_rng([number, n_sites, int(10 * between)])
        # sites whose true values have the variance that gives the share `between`
        variances = rng.uniform(0.1, 1, n_sites)
        weights = 1 / variances
        typical = (n_sites - 1) * weights.sum() / (weights.sum() ** 2 - np.sum(weights**2))
        true = rng.normal(0, np.sqrt(typical * between / (1 - between)), n_sites + 1)
        pooled = Pooled(rng.normal(true[:-1], np.sqrt(variances)), variances)
        for at, (limits, truth) in enumerate(
            ((pooled.limits, 0.0), (pooled.prediction_limits, true[-1]))
        ):
            low, high = limits(0.95)
            covered[at] += low <= truth <= high
    mean, another = covered / sets
    row = {"sites are": "normal", "n_sites": n_sites, "between": between, "scale": "identity"}
    return row | {"sets": sets, "mean": f"{mean:.3f}", "another_site": f"{another:.3f}"}


def main() -> None:
    """Run all cells and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = [run_cell(*cell, arguments.sets) for cell in product(SITES, BETWEEN)]
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
