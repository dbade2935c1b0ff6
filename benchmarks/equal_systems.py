"""How often is the rank of any system outside of its interval, of equal systems and of others?

Each scores 0 or 1 on the same items; of groups (10 items each) every system has a share of its own.
Equal systems, right in two of three, have all ranks, so that one is wrong where any two are told
apart. Others are right in one half to three quarters, in equal steps of what decides (`spread`).
Nominal is 5 %, over all pairs together. Rows are appended to the table; cells that stand there are
not made again.

    python benchmarks/equal_systems.py --seconds 300
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

from skeval.model_selection import compare_predictions

RESULTS = Path(__file__).parent / "results" / "equal_systems.csv"
FIELDS = "systems", "spread", "items", "of_group", "sets", "wrong", "share"
CELLS = [
    (k, spread, n, size, sets)
    for k, spread, sets in (
        (2, 0.0, 600),
        (10, 0.0, 200),
        (30, 0.0, 400),
        (10, 0.6, 400),
        (30, 0.6, 400),
    )
    for n, size in ((50, 1), (300, 10), (100, 10), (200, 1))
]


def draw(rng, k, spread, n, size):
    """Return which items each system has right, the worst first."""
    n_groups = n // size
    common = np.repeat(rng.normal(size=n_groups), size) + rng.normal(size=n)
    own = np.repeat(rng.normal(0, 0.7, (k, n_groups)), size, axis=1) if size > 1 else 0.0
    limit = 0.7 + spread * np.linspace(-1, 1, k)[:, None]
    return (rng.normal(size=(k, n)) + own + common < limit).astype(float)


def count(k, spread, n, size, n_sets):
    """Return in how many sets a system is kept from a rank that it has."""
    found, groups = 0, np.arange(n) // size if size > 1 else None
    best = np.arange(k, 0, -1) if spread else np.ones(k)
    worst = best if spread else np.full(k, k)
    for number in range(n_sets):
        right = draw(np.random.default_rng([7, number, k, n]), k, spread, n, size)
        systems = {str(place): each for place, each in enumerate(right)}
        options = {"groups": groups, "random_state": 0, "method": "max_t"}
        ranks = compare_predictions(None, systems, **options).ranks
        spans = [ranks[name].interval for name in systems]
        low, high = np.array([(each.low, each.high) for each in spans]).T
        found += np.any((low > best) | (high < worst))
    return found


def main():
    """Make the cells that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    known, is_new, start = set(), not options.output.exists(), time.process_time()
    if not is_new:
        with options.output.open() as file:
            known = {tuple(row[key] for key in FIELDS[:4]) for row in csv.DictReader(file)}
    with options.output.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(FIELDS)
        for k, spread, n, size, n_sets in CELLS:
            if (str(k), str(spread), str(n), str(size)) in known:
                continue
            if time.process_time() - start > options.seconds:
                break
            found = count(k, spread, n, size, n_sets)
            writer.writerow((k, spread, n, size, n_sets, found, f"{found / n_sets:.4g}"))
            file.flush()


if __name__ == "__main__":
    main()
