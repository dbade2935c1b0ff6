"""How often do the bands of ROC, precision-recall and decision curves hold the curve?

For each cell (samples, rate of positives, area under the ROC curve) many samples of two normal
scores are drawn, whose curves are known. A row of the CSV is a band in a cell: its coverage at the
worst place of a grid and on average over it, that of the whole curve at once, and
the widths. "percentile" is the bootstrap of samples, for comparison. Cells that the file has are
skipped, so a run that was stopped goes on.

    python benchmarks/coverage_curves.py --output benchmarks/results/coverage_curves.csv
    python benchmarks/coverage_curves.py --output benchmarks/results/coverage_curves.csv --summary
"""

import argparse
import csv
import itertools
from pathlib import Path

import numpy as np
from scipy.stats import norm

from skeval.metrics import net_benefit, precision_recall_curve_band, roc_curve_band

SIZES, RATES, AREAS = (50, 200), (0.5, 0.1, 0.02), (0.6, 0.9, 0.98)
FPR = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.95])
RECALL = np.array([0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95])
N_POINTS = {"roc": 101, "precision_recall": 21}
KEY = ["n", "rate", "area", "sets"]
FIELDS = [*KEY, "curve", "method", "lowest", "at", "mean", "whole", "width", "whole_width"]


class Population:
    """Normal scores of two classes, and of a second model that is worse."""

    def __init__(self, rate, area):
        self.rate, self.area = rate, area
        self.shifts = [np.sqrt(2) * norm.ppf(a) for a in (area, (area + 0.5) / 2)]

    def draw(self, n, rng, both_classes=True):
        while True:
            y = (rng.random(n) < self.rate).astype(int)
            if not both_classes or 0 < y.sum() < n:
                return y, [rng.normal(size=n) + shift * y for shift in self.shifts]

    def roc(self, fpr):
        return norm.sf(norm.isf(fpr) - self.shifts[0])

    def precision(self, recall):
        fpr = norm.sf(norm.isf(recall) + self.shifts[0])
        return self.rate * recall / (self.rate * recall + (1 - self.rate) * fpr)

    def average_precision(self):
        recall = (np.arange(20_000) + 0.5) / 20_000
        return self.precision(recall).mean()

    def probability(self, score, model):
        shift = self.shifts[model]
        odds = self.rate / (1 - self.rate) * np.exp(shift * score - shift**2 / 2)
        return odds / (1 + odds)

    def benefit(self, threshold, model):
        shift, cost = self.shifts[model], threshold / (1 - threshold)
        cut = (np.log(cost * (1 - self.rate) / self.rate) + shift**2 / 2) / shift
        return self.rate * norm.sf(cut - shift) - (1 - self.rate) * cost * norm.sf(cut)

    def thresholds(self):
        return self.rate * np.array([0.5, 1, 1.5])


class Tally:
    """Of one band: how often it held each point, and the whole."""

    def __init__(self, places):
        self.places, self.held, self.whole, self.widths = places, [], [], []

    def add(self, low, high, truth):
        self.held.append((low <= truth) & (truth <= high))
        self.widths.append([np.mean(high - low), np.nan])

    def add_whole(self, low, high, truth):
        self.whole.append(bool(np.all((low <= truth) & (truth <= high))))
        self.widths[-1][1] = np.mean(high - low)

    def row(self):
        coverage = np.mean(self.held, axis=0)
        width, whole_width = np.mean(self.widths, axis=0)
        return {
            "lowest": round(float(coverage.min()), 4),
            "at": round(float(self.places[coverage.argmin()]), 4),
            "mean": round(float(coverage.mean()), 4),
            "whole": round(float(np.mean(self.whole)), 4) if self.whole else "",
            "width": round(float(width), 4),
            "whole_width": round(float(whole_width), 4) if self.whole else "",
        }


def percentile_curves(y, score, rng, n_resamples=200):
    """Return the percentile bands of both curves on the coarse grids, and of the area."""
    order = np.argsort(-score)
    y = y[order]
    draws = rng.multinomial(len(y), np.full(len(y), 1 / len(y)), size=n_resamples)
    tp, fp = np.cumsum(draws * y, axis=1), np.cumsum(draws * (1 - y), axis=1)
    keep = (tp[:, -1] > 0) & (fp[:, -1] > 0)
    found = []
    for t, f in zip(tp[keep], fp[keep], strict=True):
        t, f = np.append(0, t), np.append(0, f)
        tpr, fpr = t / t[-1], f / f[-1]
        at = np.searchsorted(tpr, RECALL - 1e-12)
        precision = t[at] / (t[at] + f[at])
        area = np.sum(np.diff(fpr) * tpr[1:])
        found.append([*np.interp(FPR + 1e-12, fpr, tpr), *precision, area])
    low, high = np.quantile(found, [0.025, 0.975], axis=0)
    return np.split(np.array([low, high]), [len(FPR), len(FPR) + len(RECALL)], axis=1)


def one_cell(n, rate, area, sets, seed, n_resamples):
    population, rng = Population(rate, area), np.random.default_rng([seed, n, round(1e4 * rate)])
    places = population.thresholds()
    tallies = {
        ("roc", "band"): Tally(FPR),
        ("roc", "percentile"): Tally(FPR),
        ("precision_recall", "band"): Tally(RECALL),
        ("precision_recall", "percentile"): Tally(RECALL),
        ("auc", "percentile"): Tally(np.zeros(1)),
        ("net_benefit", "band"): Tally(places),
        ("difference", "band"): Tally(places),
    }
    options = {"n_resamples": n_resamples, "random_state": rng}
    for _ in range(sets):
        y, scores = population.draw(n, rng)
        of_roc = roc_curve_band(y, scores[0], n_points=N_POINTS["roc"], **options)
        x, near = of_roc.x[1:-1], np.round(100 * FPR).astype(int)
        tally = tallies["roc", "band"]
        tally.add(of_roc.low[near], of_roc.high[near], population.roc(FPR))
        whole = of_roc.band.low[1:-1], of_roc.band.high[1:-1]
        tally.add_whole(*whole, population.roc(x))

        n_points = N_POINTS["precision_recall"]
        of_pr = precision_recall_curve_band(y, scores[0], n_points=n_points, **options)
        near = np.round((n_points - 1) * RECALL).astype(int) - 1
        tally = tallies["precision_recall", "band"]
        tally.add(of_pr.low[near], of_pr.high[near], population.precision(RECALL))
        whole = of_pr.band.low[:-1], of_pr.band.high[:-1]
        tally.add_whole(*whole, population.precision(of_pr.x[:-1]))

        curves = percentile_curves(y, scores[0], rng)
        truths = population.roc(FPR), population.precision(RECALL), area
        for name, band, truth in zip(
            ("roc", "precision_recall", "auc"), curves, truths, strict=True
        ):
            tallies[name, "percentile"].add(*band, truth)

        y, scores = population.draw(n, rng, both_classes=False)
        proba, other = (population.probability(score, i) for i, score in enumerate(scores))
        one_model = net_benefit(y, proba, thresholds=places)
        truth = population.benefit(places, 0)
        tallies["net_benefit", "band"].add(one_model.low, one_model.high, truth)
        both = net_benefit(y, proba, baseline=other, thresholds=places)
        truth = truth - population.benefit(places, 1)
        tallies["difference", "band"].add(both.low, both.high, truth)
    return rows_of({"n": n, "rate": rate, "area": area, "sets": sets}, tallies)


def area_cell(n, rate, area, sets, seed, n_resamples):
    """The two areas alone, which take little time."""
    population, rng = Population(rate, area), np.random.default_rng([seed, n, round(1e4 * area)])
    truths = {"auc": area, "average_precision": population.average_precision()}
    tallies = {(curve, "band"): Tally(np.zeros(1)) for curve in truths}
    options = {"n_points": 2, "n_resamples": 1, "random_state": rng}
    for _ in range(sets):
        y, scores = population.draw(n, rng)
        intervals = {
            "auc": roc_curve_band(y, scores[0], **options).area.interval,
            "average_precision": precision_recall_curve_band(y, scores[0], **options).area.interval,
        }
        for curve, interval in intervals.items():
            ends = np.array([[interval.low], [interval.high]])
            tallies[curve, "band"].add(*ends, truths[curve])
    return rows_of({"n": n, "rate": rate, "area": area, "sets": sets}, tallies)


def rows_of(cell, tallies):
    return [
        {**cell, "curve": curve, "method": method, **tally.row()}
        for (curve, method), tally in tallies.items()
    ]


def grouped_cell(n_groups, sets, seed, n_resamples, size=5, correlation=0.7):
    """Groups of samples of one class whose scores are correlated, told to the bands or not."""
    population, rng = Population(0.4, 0.856), np.random.default_rng([seed, n_groups])
    group = np.repeat(np.arange(n_groups), size)
    methods = {"groups": group, "groups ignored": None}
    tallies = {
        (curve, method): Tally(places)
        for method in methods
        for curve, places in (("roc", RECALL), ("precision_recall", RECALL), ("auc", np.zeros(1)))
    }
    near = np.round(20 * RECALL).astype(int)
    for _ in range(sets):
        y = (rng.random(n_groups) < population.rate).astype(int)[group]
        if y.min() == y.max():
            continue
        noise = rng.normal(size=n_groups)[group], rng.normal(size=len(y))
        score = population.shifts[0] * y + np.sqrt([correlation, 1 - correlation]) @ noise
        for method, groups in methods.items():
            options = {"n_points": 21, "n_resamples": n_resamples, "random_state": rng}
            of_roc = roc_curve_band(y, score, groups=groups, **options)
            of_pr = precision_recall_curve_band(y, score, groups=groups, **options)
            tally = tallies["roc", method]
            tally.add(of_roc.low[near], of_roc.high[near], population.roc(RECALL))
            x = of_roc.x[1:-1]
            whole = of_roc.band.low[1:-1], of_roc.band.high[1:-1]
            tally.add_whole(*whole, population.roc(x))
            tally = tallies["precision_recall", method]
            truth = population.precision(RECALL)
            tally.add(of_pr.low[near - 1], of_pr.high[near - 1], truth)
            whole = of_pr.band.low[:-1], of_pr.band.high[:-1]
            tally.add_whole(*whole, population.precision(of_pr.x[:-1]))
            ends = np.array([[of_roc.area.interval.low], [of_roc.area.interval.high]])
            tallies["auc", method].add(*ends, population.area)
    cell = {"n": n_groups * size, "rate": population.rate, "area": population.area, "sets": sets}
    return rows_of(cell, tallies)


def read(path):
    return list(csv.DictReader(path.open())) if path.exists() else []


def write(path, rows):
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(rows)


def summarise(rows):
    """Print, for each band, coverage at its worst place, and of the whole, cell by cell."""
    for curve, method in dict.fromkeys((row["curve"], row["method"]) for row in rows):
        print(f"\n{curve}, {method}: lowest at a point / whole curve")
        for n, rate in sorted({(int(row["n"]), float(row["rate"])) for row in rows}):
            shown = [
                f"{float(row['lowest']):.3f} / {row['whole'] or '':5}"
                for row in rows
                if (row["curve"], row["method"]) == (curve, method)
                and (int(row["n"]), float(row["rate"])) == (n, rate)
            ]
            if shown:
                print(f"  n={n:3} rate={rate:4}  " + "  ".join(shown))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--summary", action="store_true")
    arguments = parser.parse_args()
    if arguments.summary:
        summarise(read(arguments.output))
        return
    done = {tuple(row[key] for key in KEY) for row in read(arguments.output)}
    shared = arguments.sets, arguments.seed, arguments.resamples
    for n, rate, area in itertools.product(SIZES, RATES, AREAS):
        for make, sets in ((one_cell, arguments.sets), (area_cell, 5 * arguments.sets)):
            if tuple(map(str, (n, rate, area, sets))) not in done:
                write(arguments.output, make(n, rate, area, sets, *shared[1:]))
    for n_groups in (10, 40):
        if (str(5 * n_groups), "0.4", "0.856", str(arguments.sets)) not in done:
            write(arguments.output, grouped_cell(n_groups, *shared))


if __name__ == "__main__":
    main()
