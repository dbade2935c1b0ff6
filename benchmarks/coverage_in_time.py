"""How often the interval of ordered folds holds the mean loss, where neighbours err together.

The target is a sum of features and of an error that is autoregressive of the first order; of it
either the number is predicted, or whether it is above 0. The truth of a cell is the mean of its
sets, each with folds of ``TimeSeriesSplit(5)``: what rules that are fitted to what came before lose
at times like these. Where an interval was refused, since the samples are worth too few blocks of
time, that is counted apart.

    python benchmarks/coverage_in_time.py --sets 400 --output coverage_in_time.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from scipy.signal import lfilter
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import TimeSeriesSplit

from skeval.model_selection import error_interval

LEARNERS = {
    "squared": LinearRegression(),
    "absolute": LinearRegression(),
    "zero_one": LogisticRegression(),
}


def draw(rng: np.random.Generator, n: int, rho: float, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two features and the target, whose error at a time is `rho` times that before.

    Of two classes the first training set must hold both.
    """
    while True:
        X = rng.standard_normal((n, 2))
        error = lfilter([np.sqrt(1 - rho**2)], [1, -rho], rng.standard_normal(n + 200))[200:]
        y = X.sum(axis=1) + error
        if loss != "zero_one":
            return X, y
        if 0 < np.sum(y[: n // 6] > 0) < n // 6:
            return X, (y > 0).astype(int)


def run_cell(n: int, rho: float, loss: str, sets: int) -> dict[str, object]:
    """Return the coverage of a cell."""
    start, found = time.perf_counter(), []
    for number in range(sets):
        X, y = draw(np.random.default_rng([number, n, int(10 * rho)]), n, rho, loss)
        found.append(error_interval(LEARNERS[loss], X, y, cv=TimeSeriesSplit(5), loss=loss))
    blocks = np.array([each.details["n_groups"] for each in found])
    given = blocks > 1
    values = np.array([each.value for each in found])
    ends = np.array([[each.interval.low, each.interval.high] for each in found])
    truth = values.mean()
    holds = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    some = bool(given.any())
    return {
        "loss": loss,
        "n": n,
        "autocorrelation": rho,
        "sets": sets,
        "refused": f"{1 - given.mean():.3f}",
        "coverage": f"{holds[given].mean():.3f}" if some else "",
        "blocks": int(np.median(blocks[given])) if some else "",
        "width_over_spread": f"{np.median(np.ptp(ends[given], axis=1)) / values.std() / 3.92:.2f}"
        if some
        else "",
        "truth": f"{truth:.4f}",
        "seconds": f"{time.perf_counter() - start:.0f}",
    }


def main() -> None:
    """Run the cells that the file does not have."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 400, 2000])
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    done = []
    if arguments.output.exists():
        with arguments.output.open() as file:
            done = [(row["loss"], row["n"], row["autocorrelation"]) for row in csv.DictReader(file)]
    for n in arguments.sizes:
        for loss in LEARNERS:
            for rho in (0.0, 0.5, 0.9):
                if (loss, str(n), str(rho)) in done:
                    continue
                row = run_cell(n, rho, loss, arguments.sets)
                print(*row.values(), flush=True)
                fresh = not arguments.output.exists()
                with arguments.output.open("a", newline="") as file:
                    writer = csv.DictWriter(file, row)
                    if fresh:
                        writer.writeheader()
                    writer.writerow(row)


if __name__ == "__main__":
    main()
