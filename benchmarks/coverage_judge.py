"""Coverage and width of `judge_assisted_interval`, Wilson's interval and prediction-powered ones.

Outcomes of all n + N samples are drawn with a known mean. "binary" judges answer 1 with the
probability of their sensitivity if the outcome is 1, and 0 with that of their specificity if it is
0. "graded" judges
give a score that has a correlation with the latent quality of the outcome. "difference" compares
two systems that are right on the same items except for a share of them. "groups" are binary
outcomes in groups of 5 with an intraclass correlation. "loss" is normal or exponential, with a
correlated judgment. The width is relative to that of the labels alone, Wilson's for rates.

    python benchmarks/coverage_judge.py --sets 4000
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from skeval._inference.designs import stratified_mean
from skeval._inference.intervals import wilson_limits
from skeval.model_selection import judge_assisted_interval

RESULTS = Path(__file__).parent / "results" / "coverage_judge.csv"
Z = norm.ppf(0.975)


class Cell(NamedTuple):
    """A population: `judge` is (sensitivity, specificity), or one number for other kinds."""

    kind: str
    n: int
    n_unlabeled: int
    truth: float
    judge: tuple[float, ...]


def symmetric(n: int, truth: float, accuracy: float) -> Cell:
    """Return a cell of the first table."""
    return Cell("binary", n, 20 * n, truth, (accuracy, accuracy))


GRADES = (0.5, 0.9), (0.9, 0.3), (0.95, 0.9)  # truth, correlation
GROUPS = (50, 0.7, 0.2), (100, 0.9, 0.2), (200, 0.5, 0.05), (400, 0.95, 0.3)
FIRST = [
    *(symmetric(20, 0.5, 0.95), symmetric(20, 0.9, 0.9), symmetric(30, 0.7, 0.6)),
    *(symmetric(30, 0.95, 0.9), symmetric(50, 0.9, 0.95), symmetric(50, 0.98, 0.8)),
    *(symmetric(100, 0.5, 0.9), symmetric(100, 0.95, 0.9), symmetric(100, 0.8, 0.6)),
    *(symmetric(200, 0.7, 0.95), symmetric(200, 0.98, 0.9), symmetric(500, 0.9, 0.8)),
    symmetric(500, 0.98, 0.95),
]
MORE = [
    # biased and asymmetric judges
    *(Cell("binary", n, 20 * n, 0.8, (0.99, 0.5)) for n in (30, 200)),
    *(Cell("binary", n, 20 * n, 0.8, (0.6, 0.95)) for n in (30, 200)),
    *(Cell("binary", n, 20 * n, 0.9, (0.98, 0.2)) for n in (50, 500)),
    *(Cell("binary", n, 20 * n, 0.3, (0.2, 0.3)) for n in (50, 200)),  # usually wrong
    Cell("binary", 100, 2000, 0.7, (0.5, 0.5)),  # guesses
    # strata without labels
    Cell("binary", 20, 400, 0.98, (0.99, 0.9)),
    Cell("binary", 30, 3000, 0.98, (0.999, 0.5)),
    # the gain with 200 labels
    *(symmetric(200, truth, 0.95) for truth in (0.5, 0.9, 0.95, 0.98)),
    # few and many judgments without labels
    *(Cell("binary", 50, m, 0.8, (0.9, 0.9)) for m in (0, 5, 50, 5000)),
    *(Cell("binary", 200, m, 0.95, (0.95, 0.95)) for m in (20, 200, 20_000)),
    *(Cell("graded", n, 10 * n, truth, (r,)) for n in (30, 200) for truth, r in GRADES),
    *(Cell("groups", n, 10 * n, truth, (icc,)) for n, truth, icc in GROUPS),
    *(Cell("difference", n, 10 * n, 0.1, (accuracy,)) for n, accuracy in ((50, 0.8), (200, 0.95))),
    *(Cell("normal", n, 10 * n, 0.0, (0.8,)) for n in (20, 100)),
    *(Cell("exponential", n, 10 * n, 1.0, (0.8,)) for n in (20, 100)),
    # likelihoods and lengths: log-normal judgments, and log-normal outcomes
    *(Cell("skewed", n, 10 * n, truth, (0.8,)) for n in (30, 200) for truth in (0.7, 0.9)),
    *(Cell("log-normal", n, 10 * n, 1.648721, (0.8,)) for n in (30, 200)),
]
MAX_SETS = 1000
"""Data sets of cells without counts."""


def run_binary(cell: Cell, n_sets: int, rng: np.random.Generator) -> dict[str, float]:
    """Return coverage and width of all methods from counts."""
    n, m, truth = cell.n, cell.n_unlabeled, cell.truth
    right, specificity = cell.judge
    shares = truth * np.array([1 - right, right])  # outcome 1, judged 0 and 1
    shares = np.concatenate([shares, (1 - truth) * np.array([specificity, 1 - specificity])])
    counts = rng.multinomial(n, shares, n_sets).astype(float)
    others = rng.multinomial(m, [shares[0] + shares[2], shares[1] + shares[3]], n_sets)
    positive, labeled = counts[:, :2], counts[:, :2] + counts[:, 2:]
    mean, judged, all_judged = (positive.sum(1) / n, labeled[:, 1] / n, others[:, 1] / m)
    _, *ends = stratified_mean(labeled, positive, labeled + others, Z)
    lengths = wilson_limits(mean, n, Z)
    narrower = np.ptp(lengths, axis=0) < np.ptp(ends, axis=0)
    found = {"ours": np.where(narrower, lengths, ends), "wilson": lengths}
    pooled = (labeled[:, 1] + others[:, 1]) / (n + m)
    spread = pooled * (1 - pooled)
    covariance = (positive[:, 1] / n - mean * judged) * n / (n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        tuned = np.where(spread > 0, covariance / ((1 + n / m) * spread), 0.0)
    for name, weight in {"ppi": np.ones(n_sets), "ppi++": tuned}.items():
        value = weight * all_judged + mean - weight * judged
        # second moment of y - weight * judgment in the labels
        square = positive[:, 0] + positive[:, 1] * (1 - weight) ** 2 + counts[:, 3] * weight**2
        variance = weight**2 * all_judged * (1 - all_judged) / m
        variance += (square / n - (mean - weight * judged) ** 2) / n
        half = Z * np.sqrt(np.maximum(variance, 0))
        found[name] = value - half, value + half
    base = np.mean(lengths[1] - lengths[0])
    row = {}
    for name, (low, high) in found.items():
        row[name] = np.mean((low <= truth) & (truth <= high))
        row[f"{name}_width"] = np.mean(high - low) / base
    return row


def draw_samples(
    cell: Cell, n_sets: int, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
    """Yield outcomes, judgments and groups of data sets."""
    size, truth = cell.n + cell.n_unlabeled, cell.truth
    for _ in range(n_sets):
        groups = None
        quality = rng.normal(size=size)
        other = cell.judge[0] * quality + np.sqrt(1 - cell.judge[0] ** 2) * rng.normal(size=size)
        if cell.kind == "binary":
            y = (rng.random(size) < truth).astype(float)
            judge = np.where(rng.random(size) < np.where(y == 1, *cell.judge), y, 1 - y)
        elif cell.kind == "skewed":
            y, judge = (quality > norm.ppf(1 - truth)).astype(float), np.exp(2 * other)
        elif cell.kind == "log-normal":
            y, judge = np.exp(quality), np.exp(2 * other)
        elif cell.kind == "graded":
            y, judge = (quality > norm.ppf(1 - truth)).astype(float), expit(2 * other + 1)
        elif cell.kind == "groups":
            groups = np.arange(size) // 5
            total = 1 / cell.judge[0] - 1
            rates = rng.beta(total * truth, total * (1 - truth), groups.max() + 1)
            y = (rng.random(size) < rates[groups]).astype(float)
            judge = np.where(rng.random(size) < 0.9, y, 1 - y)
        elif cell.kind == "difference":  # 0.2 of the items are right for one system only
            y = rng.choice([1.0, -1.0, 0.0], size, p=[0.1 + truth / 2, 0.1 - truth / 2, 0.8])
            both = (rng.random(size) < 0.8).astype(float)
            a, b = np.where(y == 0, both, y > 0), np.where(y == 0, both, y < 0)
            a, b = (np.where(rng.random(size) < cell.judge[0], s, 1 - s) for s in (a, b))
            judge = a - b
        elif cell.kind == "normal":
            y, judge = quality, other
        else:
            y, judge = -norm.logsf(quality), -norm.logsf(other)
        yield y, judge, groups


def run_samples(cell: Cell, n_sets: int, rng: np.random.Generator) -> dict[str, float]:
    """Return coverage and width by the public function."""
    ends = []
    for y, judge, groups in draw_samples(cell, n_sets, rng):
        n = cell.n
        alone = None if groups is None else groups[:n]
        ours = judge_assisted_interval(y[:n], judge[:n], judge[n:], groups=groups)
        labels = judge_assisted_interval(y[:n], judge[:n], groups=alone)
        ends.append([*ours.interval, *labels.interval])
    low, high, labels_low, labels_high = np.array(ends).T
    return {
        "ours": np.mean((low <= cell.truth) & (cell.truth <= high)),
        "wilson": np.mean((labels_low <= cell.truth) & (cell.truth <= labels_high)),
        "ours_width": np.mean(high - low) / np.mean(labels_high - labels_low),
    }


def main() -> None:
    """Run all cells and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=4000)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    names = ["ours", "wilson", "ppi", "ppi++"]
    names = [*names, *(f"{name}_width" for name in names)]
    rows = []
    for number, cell in enumerate([*FIRST, *MORE]):
        rng = np.random.default_rng([number, arguments.sets])
        counted = cell.kind == "binary" and cell.n_unlabeled >= cell.n
        n_sets = arguments.sets if counted else min(arguments.sets, MAX_SETS)
        found = (run_binary if counted else run_samples)(cell, n_sets, rng)
        row = {**cell._asdict(), "judge": " ".join(map(str, cell.judge)), "sets": n_sets}
        row |= {name: f"{found[name]:.4f}" if name in found else "" for name in names}
        rows.append(row)
        print(*row.values(), flush=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for part, text in ((rows[:13], "first"), (rows[13:], "more")):
        covered = [float(row["ours"]) for row in part]
        width = [float(row["ours_width"]) for row in part]
        print(f"{text} {len(part)}: {min(covered):.3f} to {max(covered):.3f}", end=", ")
        print(f"width {min(width):.2f} to {max(width):.2f}")


if __name__ == "__main__":
    main()
