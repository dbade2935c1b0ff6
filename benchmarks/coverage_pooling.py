"""How often pooled estimates hold the mean of all sites, and the true value at another one.

Either the sites are normal, with variances of their estimates of .1 to 1; or a site has 20 to 200
samples, each wrong with the probability of the site, whose log-odds are normal. How much sites
differ is told by the share of the variance that is between them (I2), or by the standard deviation
of the log-odds. Rates are pooled on the scale of the arc sine, and
beside it as log-odds of counts with a half added; the truth of rates is the median site.

    python benchmarks/coverage_pooling.py --sets 400 --output coverage_pooling.csv
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from skeval.model_selection._pooling import pool

Pair = tuple[bool, bool]
SITES, DIFFER = (5, 10, 20), {"normal": (0.0, 0.5, 0.9)}
RATES = {"rate .2": 0.2, "rate .05": 0.05}
DIFFER |= dict.fromkeys(RATES, (0.0, 0.4, 1.0))


def is_held(
    values: np.ndarray,
    variances: np.ndarray,
    truth: float,
    another: float,
    back: Callable[[np.ndarray], np.ndarray] = np.asarray,
) -> Pair:
    """Return whether the intervals hold the mean and another site."""
    found = pool(values, variances)
    ends = [back(np.array(each(0.95))) for each in (found.limits, found.prediction_limits)]
    held = [low <= true <= high for (low, high), true in zip(ends, (truth, another), strict=True)]
    return bool(held[0]), bool(held[1])


def of_normal(rng: np.random.Generator, n_sites: int, i_squared: float) -> dict[str, Pair]:
    """Return what is held of normal sites."""
    variances = rng.uniform(0.1, 1, n_sites)
    weights = 1 / variances
    typical = (n_sites - 1) * weights.sum() / (weights.sum() ** 2 - np.sum(weights**2))
    true = rng.normal(0, np.sqrt(typical * i_squared / (1 - i_squared)), n_sites + 1)
    values = rng.normal(true[:-1], np.sqrt(variances))
    return {"identity": is_held(values, variances, 0.0, true[-1])}


def of_rates(
    rng: np.random.Generator, n_sites: int, between: float, rate: float
) -> dict[str, Pair]:
    """Return what is held of sites in each of which some samples are wrong."""
    sizes = rng.integers(20, 200, n_sites)
    true = expit(rng.normal(logit(rate), between, n_sites + 1))
    wrong = rng.binomial(sizes, true[:-1])

    def back(angles: np.ndarray) -> np.ndarray:
        return np.sin(np.clip(angles, 0, np.pi / 2)) ** 2

    angles = np.arcsin(np.sqrt(wrong / sizes))
    more, rest = wrong + 0.5, sizes - wrong + 0.5
    return {
        "arcsine": is_held(angles, 0.25 / sizes, rate, true[-1], back),
        "log-odds": is_held(np.log(more / rest), 1 / more + 1 / rest, rate, true[-1], expit),
    }


def run_cell(kind: str, n_sites: int, between: float, sets: int) -> list[dict[str, object]]:
    """Return the coverage of a cell, by scale."""
    found = []
    for number in range(sets):
        rng = np.random.default_rng([number, n_sites, int(10 * between)])
        if kind in RATES:
            found.append(of_rates(rng, n_sites, between, RATES[kind]))
        else:
            found.append(of_normal(rng, n_sites, between))
    rows = []
    for scale in found[0]:
        mean, another = np.mean([each[scale] for each in found], axis=0)
        row = {"sites are": kind, "n_sites": n_sites, "between": between, "scale": scale}
        rows.append(row | {"sets": sets, "mean": f"{mean:.3f}", "another_site": f"{another:.3f}"})
    return rows


def main() -> None:
    """Run the cells that the file does not have."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    done = []
    if arguments.output.exists():
        with arguments.output.open() as file:
            done = [
                (row["sites are"], row["n_sites"], row["between"]) for row in csv.DictReader(file)
            ]
    for kind, n_sites in product(DIFFER, SITES):
        for between in DIFFER[kind]:
            if (kind, str(n_sites), str(between)) in done:
                continue
            for row in run_cell(kind, n_sites, between, arguments.sets):
                print(*row.values(), flush=True)
                fresh = not arguments.output.exists()
                with arguments.output.open("a", newline="") as file:
                    writer = csv.DictWriter(file, row)
                    if fresh:
                        writer.writeheader()
                    writer.writerow(row)


if __name__ == "__main__":
    main()
