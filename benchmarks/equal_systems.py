"""How often are equal systems told apart: by any difference, so that one has no first rank?

Each scores 0 or 1 on the same items, right in two of three; of groups (10 items each) every system
has a share of its own. Nominal is 5 %, over all pairs together. Rows are appended to the table;
cells that stand there are not made again.

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
FIELDS = "systems", "items", "of_group", "sets", "told_apart", "share"
CELLS = [
    (k, n, size, sets)
    for k, sets in ((2, 600), (10, 200), (30, 400))
    for n, size in ((50, 1), (300, 10), (100, 10), (200, 1))
]


def draw_equal(rng, k, n, size):
    """Return which items each of equal systems has right."""
    n_groups = n // size
    common = np.repeat(rng.normal(size=n_groups), size) + rng.normal(size=n)
    own = np.repeat(rng.normal(0, 0.7, (k, n_groups)), size, axis=1) if size > 1 else 0.0
    return (rng.normal(size=(k, n)) + own + common < 0.7).astype(float)


def count(k, n, size, n_sets):
    """Return in how many sets a system is kept from the first rank."""
    found, groups = 0, np.arange(n) // size if size > 1 else None
    for number in range(n_sets):
        right = draw_equal(np.random.default_rng([7, number, k, n]), k, n, size)
        systems = {str(place): each for place, each in enumerate(right)}
        options = {"groups": groups, "random_state": 0, "method": "max_t"}
        ranks = compare_predictions(None, systems, **options).ranks
        found += max(rank.interval.low for rank in ranks.values()) > 1
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
            known = {tuple(row[key] for key in FIELDS[:3]) for row in csv.DictReader(file)}
    with options.output.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(FIELDS)
        for k, n, size, n_sets in CELLS:
            if (str(k), str(n), str(size)) in known:
                continue
            if time.process_time() - start > options.seconds:
                break
            found = count(k, n, size, n_sets)
            writer.writerow((k, n, size, n_sets, found, f"{found / n_sets:.4g}"))
            file.flush()


if __name__ == "__main__":
    main()
