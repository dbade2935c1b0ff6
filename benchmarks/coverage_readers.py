"""Size and coverage of `compare_readers` in binormal populations like those of Roe and Metz (1997).

The score of reader j for case k of truth t with system i is ``mu t`` plus independent normal terms
for R, SR (one for each reader, or system and reader, and truth), C, SC, RC and SRC (for the case).
The variances of C, SC, RC and SRC sum to 1. The populations differ in the accuracy, in the variance
of the readers (small: .0055; large: .011, .03 or .056 by accuracy) and in the share of C and SC
(.3 each, or .1 each). For half of the data sets both systems are equal (size); for the others the
second is more accurate. A third of the cases is positive.

    python benchmarks/coverage_readers.py --sets 1000
"""

from __future__ import annotations

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import norm

from skeval.model_selection import compare_readers

RESULTS = Path(__file__).parent / "results" / "coverage_readers.csv"
SEPARATIONS = {0.75: (0.0055, 0.011), 1.5: (0.0055, 0.03), 2.5: (0.0055, 0.056)}
CASES = {"high": (0.3, 0.3, 0.2, 0.2), "low": (0.1, 0.1, 0.2, 0.6)}  # C, SC, RC, SRC
STUDIES = (3, 50), (3, 200), (5, 100), (10, 50), (10, 200)  # readers, cases
GAIN = 0.3  # separation of the second system less that of the first


def draw_study(
    mean: np.ndarray,
    spread: float,
    shares: tuple[float, ...],
    sizes: tuple[int, int],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return truth, scores (system, reader, case) and the true areas (system, reader)."""
    n_readers, n_cases = sizes
    truth = (np.arange(n_cases) < n_cases // 3).astype(int)
    reader = np.sqrt(spread) * rng.normal(size=(1, n_readers, 2))
    reader = reader + np.sqrt(spread) * rng.normal(size=(2, n_readers, 2))
    shapes = (1, 1, n_cases), (2, 1, n_cases), (1, n_readers, n_cases), (2, n_readers, n_cases)
    scores = sum(
        np.sqrt(v) * rng.normal(size=shape) for v, shape in zip(shares, shapes, strict=True)
    )
    scores = scores + mean[:, None, None] * truth + reader[:, :, truth]
    areas = norm.cdf((mean[:, None] + reader[..., 1] - reader[..., 0]) / np.sqrt(2))
    return truth, scores, areas


def run_cell(
    separation: float,
    spread: float,
    shares: tuple[float, ...],
    sizes: tuple[int, int],
    n_sets: int,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return the rejections of equal systems, and the coverage of differences and systems."""
    found = np.zeros((n_sets, 5))
    for at in range(n_sets):
        mean = np.array([separation, separation + GAIN * (at % 2)])
        truth, scores, areas = draw_study(mean, spread, shares, sizes, rng)
        systems = dict(zip("ab", scores, strict=True))
        random = compare_readers(truth, systems)
        fixed = compare_readers(truth, systems, readers="fixed")
        of_all = norm.cdf(mean / np.sqrt(2 + 4 * spread))  # mean over readers
        of_these = areas.mean(axis=1)
        found[at] = (
            random.difference.pvalue <= 0.05,
            of_all[0] - of_all[1] in random.difference.interval,
            of_all[0] in random.estimates["a"].interval,
            of_these[0] - of_these[1] in fixed.difference.interval,
            of_these[0] in fixed.estimates["a"].interval,
        )
    size, power = found[::2, 0].mean(), found[1::2, 0].mean()
    names = "difference", "system", "fixed_difference", "fixed_system"
    coverage = dict(zip(names, found[:, 1:].mean(axis=0), strict=True))
    return {"size": size, "power": power, **coverage}


def main() -> None:
    """Run all cells and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = []
    for number, (separation, large, kind, sizes) in enumerate(
        product(SEPARATIONS, (0, 1), CASES, STUDIES)
    ):
        spread = SEPARATIONS[separation][large]
        rng = np.random.default_rng([number, arguments.sets])
        found = run_cell(separation, spread, CASES[kind], sizes, arguments.sets, rng)
        row = {"separation": separation, "spread": spread, "cases_correlation": kind}
        row |= {"readers": sizes[0], "cases": sizes[1], "sets": arguments.sets}
        row |= {name: round(float(value), 4) for name, value in found.items()}
        rows.append(row)
        print(row, flush=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for name in ("size", "difference", "system", "fixed_difference", "fixed_system"):
        values = np.array([row[name] for row in rows])
        print(f"{name}: {values.min():.3f} to {values.max():.3f}, mean {values.mean():.3f}")


if __name__ == "__main__":
    main()
