"""Tables of the methods page on the default interval, and the simulations behind them.

python benchmarks/default_interval.py                      # tables from the stored results
python benchmarks/default_interval.py --simulate FOLDER    # repeat all simulations (days)
python benchmarks/default_interval.py --simulate FOLDER --seconds 600 --sets 20  # fewer data sets
"""

import argparse
import csv
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
LOSSES = {"zero_one": "0-1", "brier": "Brier", "log_loss": "log"}
METHODS = {
    "repeated_cv": "default",
    "nested_cv": "Bates et al. (2024)",
    "corrected_t, 25": "Nadeau and Bengio (2003)",
    "corrected_t, 100": "the same, 100 splits",
    ".632+": "Efron and Tibshirani (1997)",
    "cv_wald": "Bayle et al. (2020)",
}


def read_rows(path):
    """Return the rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def tabulate_losses(folder):
    """Return coverage and width by loss, in the cells not used to choose the rule."""
    rows = read_rows(folder / "inflation.csv")
    key = {"half": "1", "folds": "10", "repeats": "5", "rule": "chosen"}
    rows = [row for row in rows if key.items() <= row.items()]
    lines = [["loss", "cells", "lowest", "mean", "median width"]]
    for loss, name in LOSSES.items():
        cells = [row for row in rows if row["loss"] == loss]
        if not cells:
            continue
        coverage = np.array([float(row["coverage"]) for row in cells])
        width = np.median([float(row["width"]) for row in cells])
        numbers = f"{coverage.min():.2f}", f"{coverage.mean():.3f}", f"{width:.2f}"
        lines.append([name, str(len(cells)), *numbers])
    return lines


def tabulate_methods(folder):
    """Return coverage, width and fits by method, over the cells that are hard for some of them."""
    rows = read_rows(folder / "methods.csv")
    lines = [["method", "source", "lowest", "mean", "relative width", "fits"]]
    for method, source in METHODS.items():
        cells = [row for row in rows if row["method"] == method]
        coverage = np.array([float(row["covers_risk"]) for row in cells])
        width = np.median([float(row["relative_width"]) for row in cells])
        numbers = f"{coverage.min():.2f}", f"{coverage.mean():.3f}", f"{width:.2f}"
        lines.append([method, source, *numbers, cells[0]["fits"]])
    return lines


def write_table(lines):
    """Return a table in reStructuredText."""
    sizes = [max(map(len, column)) for column in zip(*lines, strict=True)]
    bar = "  ".join("=" * size for size in sizes)
    texts = ["  ".join(map(str.ljust, line, sizes)).rstrip() for line in lines]
    return "\n".join([bar, texts[0], bar, *texts[1:], bar])


def simulate(folder, seconds, sets):
    """Repeat the simulations, with the same seeds, and write the results to a folder."""
    folder.mkdir(parents=True, exist_ok=True)

    def run(script, *arguments):
        subprocess.run([sys.executable, HERE / script, *map(str, arguments)], check=True)

    losses = folder / "losses"
    for options in ([], ["--probabilities"]):
        run("inflation.py", "simulate", "--losses", losses, "--seconds", seconds, *options)
    run("inflation.py", "summarise", "--losses", losses, "--output", folder / "inflation.csv")
    stored = read_rows(HERE / "results" / "methods.csv")
    for population, learner, n in {(r["population"], r["learner"], r["n"]): None for r in stored}:
        run(
            "coverage_intervals.py", "--output", folder / "methods.csv", "--sets", sets,
            "--seed", stored[0]["seed"], "--populations", population, "--learners", learner,
            "--sizes", n, "--methods", *METHODS,
        )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulate", type=Path, metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=1e6, help="time for the losses")
    parser.add_argument("--sets", type=int, default=100, help="data sets per cell of the methods")
    options = parser.parse_args()
    if options.simulate:
        simulate(options.simulate, options.seconds, options.sets)
    folder = options.simulate or HERE / "results"
    print(write_table(tabulate_losses(folder)), write_table(tabulate_methods(folder)), sep="\n\n")
