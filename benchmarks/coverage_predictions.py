"""Do the intervals of `evaluate_predictions` hold the truth, for probabilities of two classes?

The log-odds that are said are normal with a standard deviation of 1.2. Where probabilities are
"right" they are the true ones; where they are "bent" the true log-odds are a wave about a line of
slope 0.8, so that no slope and no shift mends them. Where they are "shifted", those said are too
high by 1. Of grouped samples (20 each) the log-odds and the events have a correlation of 0.3 within
a group. The truth is that of unlimited data, by sums over a fine grid. Labels are made at a
threshold of the share of events, which is given. `curve` is the smooth calibration curve, at the
worst of five places (quantiles .1 to .9 of the probabilities).

A set without both classes is drawn again. Coverage is among the intervals that are defined. Rows
are appended to the table; cells that stand there are not made again.

    python benchmarks/coverage_predictions.py --sets 200 --seconds 1200
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtri
from sklearn import metrics
from threadpoolctl import threadpool_limits

from skeval.metrics import net_benefit
from skeval.report._evaluate_predictions import evaluate_predictions

RESULTS = Path(__file__).parent / "results" / "coverage_predictions.csv"
KEYS = "truth", "n", "share", "groups"
FIELDS = *KEYS, "statistic", "true_value", "sets", "defined", "coverage", "median_width"
SPREAD, ALIKE, OF_GROUP = 1.2, 0.3, 20
PLACES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
OF_TABLE = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1_macro": lambda y, p, **w: metrics.f1_score(y, p, average="macro", **w),
    "matthews_corrcoef": metrics.matthews_corrcoef,
    "cohen_kappa": metrics.cohen_kappa_score,
    "precision, 0": lambda y, p, **w: metrics.precision_score(y, p, pos_label=0, **w),
    "recall, 0": lambda y, p, **w: metrics.recall_score(y, p, pos_label=0, **w),
    "f1, 0": lambda y, p, **w: metrics.f1_score(y, p, pos_label=0, **w),
    "precision, 1": metrics.precision_score,
    "recall, 1": metrics.recall_score,
    "f1, 1": metrics.f1_score,
}


def bend(away, truth):
    """Return the true log-odds, less their centre, where it is `away` that is said."""
    lines = {"right": away, "shifted": away - 1.0}
    return lines[truth] if truth in lines else 0.8 * away + 0.5 * np.sin(1.5 * away)


def find_truth(truth, share):
    """Return the centre of the log-odds that gives the share, and every true value."""
    away = SPREAD * np.linspace(-8, 8, 100_001)
    weight = np.exp(-((away / SPREAD) ** 2) / 2)
    weight /= weight.sum()
    centre = brentq(lambda c: weight @ expit(c + bend(away, truth)) - share, -20, 20)
    odds, chance = centre + away, expit(centre + bend(away, truth))
    p, event, other = expit(odds), weight * chance, weight * (1 - chance)
    called = p >= share
    cells = [part[side].sum() for part in (other, event) for side in (~called, called)]
    tn, fp, fn, tp = cells
    tables = {"sample_weight": cells}
    found = {name: of([0, 0, 1, 1], [0, 1, 0, 1], **tables) for name, of in OF_TABLE.items()}
    found |= {"sensitivity": tp / share, "specificity": tn / (1 - share)}
    found |= {"ppv": tp / (tp + fp), "npv": tn / (tn + fn)}
    found["net_benefit"] = tp - fp * share / (1 - share)
    found["log_loss"] = -float(event @ np.log(p) + other @ np.log1p(-p))
    found["brier_score"] = brier = float(event @ (1 - p) ** 2 + other @ p**2)
    found["roc_auc"] = float(event @ (np.cumsum(other) - other / 2)) / share / (1 - share)
    above = np.cumsum(event[::-1])[::-1], np.cumsum(other[::-1])[::-1]
    found["average_precision"] = float(event @ (above[0] / (above[0] + above[1]))) / share
    found["observed_expected"] = share / float(weight @ p)
    found["in_the_large"] = brentq(lambda a: weight @ expit(a + odds) - share, -9, 9)
    found["intercept"], found["slope"] = fit_line(odds, weight, chance)
    distance, order = np.abs(p - chance), np.argsort(np.abs(p - chance))
    passed = np.cumsum(weight[order])
    found["ici"] = float(weight @ distance)
    for name, place in (("e50", 0.5), ("e90", 0.9)):
        found[name] = float(distance[order][np.searchsorted(passed, place)])
    found["scaled_brier"] = 1 - brier / (share * (1 - share))
    at = centre + SPREAD * ndtri(PLACES)
    return centre, found, (expit(at), expit(centre + bend(at - centre, truth)))


def fit_line(odds, weight, chance):
    """Return intercept and slope of the best logistic regression on the log-odds."""
    design, beta = np.column_stack([np.ones(len(odds)), odds]), np.array([0.0, 1.0])
    for _ in range(50):
        mean = expit(design @ beta)
        information = design.T @ (design * (weight * mean * (1 - mean))[:, None])
        beta = beta + np.linalg.solve(information, design.T @ (weight * (chance - mean)))
    return beta


def draw(rng, truth, n, centre, n_groups):
    """Return events, probabilities and groups, with both classes."""
    group = np.arange(n) // OF_GROUP if n_groups else None
    while True:
        normal = rng.normal(size=(2, n))
        if n_groups:
            shared = rng.normal(size=(2, n_groups))[:, group]
            normal = ALIKE**0.5 * shared + (1 - ALIKE) ** 0.5 * normal
        away = SPREAD * normal[0]
        event = normal[1] < ndtri(expit(centre + bend(away, truth)))
        if event.any() and not event.all():
            return event.astype(int), expit(centre + away), group


def judge(y, p, group, share, of_curve):
    """Return the ends of every interval of a data set."""
    report = evaluate_predictions(y, p, threshold=share, groups=group, random_state=0)
    found = {**report.metrics, **(report.calibration or {}), **(report.at_threshold or {})}
    ends = {name: (each.interval.low, each.interval.high) for name, each in found.items()}
    benefit = net_benefit(y, p, thresholds=[share], groups=group)
    ends["net_benefit"] = float(benefit.low[0]), float(benefit.high[0])
    curve = report.calibration["ici"].details.get("curve")
    for place, (at, _) in enumerate(zip(*of_curve, strict=True)):
        name, limits = f"curve {PLACES[place]}", (np.nan, np.nan)
        if curve is not None and curve.x[0] <= at <= curve.x[-1]:
            limits = tuple(
                expit(np.interp(logit(at), logit(curve.x), logit(side)))
                for side in (curve.low, curve.high)
            )
        ends[name] = limits
    return ends


def cover(truth, n, share, n_groups, n_sets):
    """Yield the rows of one cell."""
    centre, values, of_curve = find_truth(truth, share)
    values |= {f"curve {at}": value for at, value in zip(PLACES, of_curve[1], strict=True)}
    ends = {name: [] for name in values}
    for number in range(n_sets):
        rng = np.random.default_rng([number, n, n_groups, int(1000 * share)])
        found = judge(*draw(rng, truth, n, centre, n_groups), share, of_curve)
        for name, limits in ends.items():
            limits.append(found.get(name, (np.nan, np.nan)))
    for name, limits in ends.items():
        low, high = np.array(limits).T
        known = np.isfinite(low) & np.isfinite(high)
        held = (low <= values[name] + 1e-12) & (values[name] - 1e-12 <= high) & known
        width = float(np.median((high - low)[known])) if known.any() else np.nan
        share_held = held.sum() / known.sum() if known.any() else np.nan
        numbers = f"{values[name]:.5g}", n_sets, int(known.sum()), f"{share_held:.4g}"
        yield dict(
            zip(FIELDS, (truth, n, share, n_groups, name, *numbers, f"{width:.4g}"), strict=True)
        )


CELLS = [
    *[("right", n, share, 0) for n in (200, 50, 1000, 5000) for share in (0.5, 0.1, 0.02)],
    *[("bent", n, share, 0) for n in (1000, 200, 5000) for share in (0.5, 0.1)],
    *[("shifted", n, share, 0) for n, share in ((200, 0.1), (1000, 0.02), (200, 0.5), (1000, 0.1))],
    ("shifted", 600, 0.1, 30),
    *[("right", OF_GROUP * g, share, g) for g in (30, 10, 100) for share in (0.5, 0.1, 0.02)],
]
CELLS = [cell for cell in CELLS if cell[1] * cell[2] >= 2 or cell == ("right", 50, 0.02, 0)]


def main():
    """Make the cells that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    known = set()
    if options.output.exists():
        with options.output.open() as file:
            known = {tuple(row[key] for key in KEYS) for row in csv.DictReader(file)}
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in CELLS:
            if tuple(map(str, cell)) in known:
                continue
            if time.process_time() - start > options.seconds:
                break
            rows = list(cover(*cell, options.sets))
            is_new = not options.output.exists()
            with options.output.open("a", newline="") as file:
                writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
                if is_new:
                    writer.writeheader()
                writer.writerows(rows)
            print(*cell, min(rows, key=lambda row: float(row["coverage"])), flush=True)


if __name__ == "__main__":
    main()
