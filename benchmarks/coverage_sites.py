"""Coverage of pooled error rates of sites: of the median site, and of the rate at another site.

Sites have unequal sizes, uniform on the logarithm from 5 to 500 samples or from 40 to 160, and
normal log-odds. The coverage of another site is the mean probability content of the interval. The
width is that of the interval of the median site, relative to Wilson's of all samples (median).

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

from skeval._inference.estimate import Estimate
from skeval._inference.intervals import wilson_interval
from skeval.model_selection._pooling import pool_sites

SITES, RATES, SPREADS = (3, 4, 5, 7, 20, 50), (0.004, 0.03, 0.2, 0.5), (0.0, 0.5, 1.0)
SIZES = ((5, 500), (40, 160))


def content(low: float, high: float, rate: float, spread: float) -> float:
    """Return the probability that the rate at another site lies in an interval."""
    if spread == 0:
        return float(low <= rate <= high)
    with np.errstate(divide="ignore"):
        ends = (logit([low, high]) - logit(rate)) / spread
    return float(np.diff(stats.norm.cdf(ends))[0])


def run_cell(
    n_sites: int, rate: float, spread: float, ends: tuple[int, int], sets: int
) -> dict[str, object]:
    """Return the coverage of both intervals in a cell, and the relative width."""
    rng = np.random.default_rng([n_sites, int(1000 * rate), int(10 * spread), ends[0]])
    least, most = ends
    covered, predicted, widths = 0, 0.0, []
    for _ in range(sets):
        sizes = np.round(least * (most / least) ** rng.random(n_sites)).astype(int)
        odds = logit(rate) + spread * rng.normal(size=n_sites)
        errors = rng.binomial(sizes, 1 / (1 + np.exp(-odds)))
        sites = {
            at: Estimate(
                name="error rate", value=x / n, standard_error=0.0, method="given", limits={}
            )
            for at, (x, n) in enumerate(zip(errors.tolist(), sizes.tolist(), strict=True))
        }
        pooled = pool_sites(sites, sizes, 0.95, (0.0, 1.0))
        low, high = pooled.interval
        covered += low <= rate <= high
        predicted += content(*pooled.confidence_interval(method="prediction"), rate, spread)
        together = wilson_interval(float(errors.sum()), float(sizes.sum()), 0.95)
        widths.append((high - low) / (together[1] - together[0]))
    return {
        "sites": n_sites,
        "sizes": f"{least} to {most}",
        "rate": rate,
        "spread": spread,
        "sets": sets,
        "median_site": round(covered / sets, 3),
        "another_site": round(predicted / sets, 3),
        "width": round(float(np.median(widths)), 2),
    }


def main() -> None:
    """Run all cells and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=150)
    parser.add_argument("--output", type=Path, default=Path("coverage_sites.csv"))
    arguments = parser.parse_args()
    with arguments.output.open("w", newline="") as file:
        writer = None
        for cell in product(SITES, RATES, SPREADS, SIZES):
            row = run_cell(*cell, arguments.sets)
            writer = writer or csv.DictWriter(file, list(row))
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()
