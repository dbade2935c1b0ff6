"""Coverage of pooled error rates of sites: of the median site, and of the rate at another site.

Sites have unequal sizes, uniform on the logarithm from 5 to 500 samples, and normal log-odds. The
other column is the interval of Hartung and Knapp on the scale of the arc sine. The coverage of
another site is the mean probability content of the interval.

    python benchmarks/coverage_sites.py --sets 150 --output coverage_sites.csv
"""

from __future__ import annotations

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.special import logit

from skeval._inference.designs import PooledRate, SiteCounts
from skeval.model_selection._pooling import pool

SITES, RATES, SPREADS = (3, 7, 20, 50), (0.004, 0.03, 0.2, 0.5), (0.0, 0.5, 1.0)
SIZES = (5, 500)


def content(low: float, high: float, rate: float, spread: float) -> float:
    """Return the probability that the rate at another site lies in an interval."""
    if spread == 0:
        return float(low <= rate <= high)
    with np.errstate(divide="ignore"):
        ends = (logit([low, high]) - logit(rate)) / spread
    return float(np.diff(stats.norm.cdf(ends))[0])


def run_cell(n_sites: int, rate: float, spread: float, sets: int) -> dict[str, object]:
    """Return the coverage of both methods in a cell."""
    rng = np.random.default_rng([n_sites, int(1000 * rate), int(10 * spread)])
    least, most = SIZES
    covered, old, predicted, old_predicted = 0, 0, 0.0, 0.0
    for _ in range(sets):
        sizes = np.round(least * (most / least) ** rng.random(n_sites))
        odds = logit(rate) + spread * rng.normal(size=n_sites)
        errors = rng.binomial(sizes.astype(int), 1 / (1 + np.exp(-odds))).astype(float)
        pooled = PooledRate(SiteCounts(errors, sizes))
        low, high = pooled.limits(0.95)
        covered += low <= rate <= high
        predicted += content(*pooled.prediction_limits(0.95), rate, spread)
        angles = pool(np.arcsin(np.sqrt(errors / sizes)), 0.25 / sizes)
        ends = [
            np.sin(np.clip(each(0.95), 0, np.pi / 2)) ** 2
            for each in (angles.limits, angles.prediction_limits)
        ]
        old += ends[0][0] <= rate <= ends[0][1]
        old_predicted += content(*ends[1], rate, spread)
    return {
        "sites": n_sites,
        "rate": rate,
        "spread": spread,
        "sets": sets,
        "median_site": covered,
        "another_site": round(predicted / sets, 3),
        "arcsine_median_site": int(old),
        "arcsine_another_site": round(old_predicted / sets, 3),
    }


def main() -> None:
    """Run all cells and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=150)
    parser.add_argument("--output", type=Path, default=Path("coverage_sites.csv"))
    arguments = parser.parse_args()
    with arguments.output.open("w", newline="") as file:
        writer = None
        for cell in product(SITES, RATES, SPREADS):
            row = run_cell(*cell, arguments.sets)
            writer = writer or csv.DictWriter(file, list(row))
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()
