"""Do intervals of grouped samples hold their level: few groups, alike or not, of many sizes?

Each set has normal group effects with a share `icc` of the variance (of crossed groups half of it
for either kind) behind what is judged: an error is a normal value above its quantile, a score is a
normal value that positives have more of, an event happens where a normal value lies below that of
its probability. Sizes are 22 each, or evenly from 4 to 40. The truth is known, but of the area of
groups of both classes, whose pairs within a group count in the limit of many groups as all others
do not: it is that of samples of different groups. The error of a rule that is fitted is that in new
groups.

Rows are appended to the table; cells that stand there are not made again.

    python benchmarks/coverage_groups.py --sets 200 --seconds 600
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtr, ndtri
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from skeval._inference.areas import rank_scores
from skeval._inference.calibration import Masses
from skeval.metrics import error_rate
from skeval.metrics._calibration import Validated, recalibrate
from skeval.model_selection import compare_predictions, error_interval, metric_interval

RESULTS = Path(__file__).parent / "results" / "coverage_groups.csv"
FIELDS = ("statistic", "groups", "icc", "sizes", "n_sets", "coverage", "median_width")
RATES = 0.2, 0.3
APART = np.sqrt(2) * ndtri(0.8)
STATISTICS = ("error_rate", "difference", "roc_auc", "roc_auc of pure groups", "slope",
              "error_interval", "error_interval of pure groups")  # fmt: skip
SIZES = {"equal": (22, 22), "1:10": (4, 40)}


class Sampler:
    """Normal values of one data set, which the groups share a part of."""

    def __init__(self, rng, groups, icc):
        self.rng, self.icc = rng, icc
        self.groups = groups.reshape(len(groups), -1)

    def draw(self):
        """Return values of variance 1."""
        n, kinds = self.groups.shape
        shared = np.zeros(n)
        for kind in self.groups.T:
            shared += self.rng.normal(size=kind.max() + 1)[kind] / kinds**0.5
        return self.icc**0.5 * shared + (1 - self.icc) ** 0.5 * self.rng.normal(size=n)


def make_groups(name, sizes):
    """Return the group of each sample; "10 x 10" are crossed."""
    if "x" in name:
        a, b = map(int, name.split("x"))
        return np.column_stack([np.repeat(np.arange(a), b), np.tile(np.arange(b), a)])
    n = np.round(np.linspace(*SIZES[sizes], int(name))).astype(int)
    return np.repeat(np.arange(len(n)), n)


def judge(statistic, draw, groups, rng):
    """Return the ends of the interval of one data set, and the truth."""
    kinds = groups.reshape(len(groups), -1)
    truth = np.zeros(len(groups), dtype=int)
    if statistic == "error_rate":
        wrong = (draw() < ndtri(RATES[0])).astype(int)
        return ends(metric_interval(error_rate, truth, wrong, groups=groups)), RATES[0]
    if statistic == "difference":
        both = draw()
        wrong = [(0.7 * both + 0.51**0.5 * draw() < ndtri(r)).astype(int) for r in RATES]
        found = compare_predictions(truth, wrong, method="max_t", groups=groups, random_state=0)
        return ends(next(iter(found.differences.values()))), RATES[1] - RATES[0]
    if statistic == "slope":
        odds = 1.5 * draw()
        happened = (draw() < ndtri(expit(odds))).astype(int)
        found = find_slope(happened, odds, groups)
        return found.limits(0.95), 1.0
    of_class = rng.random(len(groups)) < 0.5
    if statistic.endswith("pure groups"):
        of_class = rng.permutation(np.arange(kinds[:, 0].max() + 1) % 2)[kinds[:, 0]] == 1
    score = draw() + APART * of_class
    if statistic.startswith("error_interval"):
        return judge_rule(np.column_stack([score, draw()]), of_class.astype(int), groups)
    found = metric_interval(roc_auc_score, of_class.astype(int), score, groups=groups)
    return ends(found), float(ndtr(APART / 2**0.5))


def judge_rule(features, of_class, groups):
    """Return the interval of the error of a linear rule, and its error in new groups."""
    rule = LinearDiscriminantAnalysis()
    found = error_interval(rule, features, of_class, groups=groups, random_state=0)
    rule.fit(features, of_class)
    means = np.array([[0.0, 0.0], [APART, 0.0]])
    value = (means @ rule.coef_[0] + rule.intercept_) / np.linalg.norm(rule.coef_)
    return ends(found), float(ndtr(value * [1, -1]).mean())


def ends(found):
    """Return the ends of an interval."""
    return found.interval.low, found.interval.high


def find_slope(happened, odds, groups):
    """Return the calibration slope, as `calibration_measures` finds it, without the rest."""
    weight = np.ones(len(odds))
    ranked = rank_scores(happened.astype(bool), odds, weight)
    masses = Masses.weigh(ranked, ranked.score)
    data = Validated(happened.astype(bool), expit(odds), weight, groups, masses)
    return recalibrate(data)["slope"]


def cover(statistic, name, icc, sizes, n_sets):
    """Return the row of one cell."""
    held, widths = 0, []
    for number in range(n_sets):
        rng = np.random.default_rng([number, STATISTICS.index(statistic)])
        groups = make_groups(name, sizes)
        (low, high), truth = judge(statistic, Sampler(rng, groups, icc).draw, groups, rng)
        held += low <= truth <= high
        widths.append(high - low)
    coverage, width = held / n_sets, float(np.median(widths))
    return dict(
        zip(
            FIELDS,
            (statistic, name, icc, sizes, n_sets, round(coverage, 4), round(width, 4)),
            strict=True,
        )
    )


def list_cells():
    """Yield all cells, the fewest groups first."""
    for name in ("5", "10", "20", "50", "10x10", "20x50"):
        for icc in (0.0, 0.3, 0.8):
            for statistic in STATISTICS:
                crossed = "x" in name
                if crossed and statistic.endswith(("pure groups", "error_interval")):
                    continue
                for sizes in ("equal",) if crossed else SIZES:
                    yield statistic, name, icc, sizes


def main():
    """Make the cells that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    known = set()
    if options.output.exists():
        with options.output.open() as file:
            known = {tuple(row[key] for key in FIELDS[:4]) for row in csv.DictReader(file)}
    start = time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cell in list_cells():
            if tuple(map(str, cell)) in known:
                continue
            if time.process_time() - start > options.seconds:
                break
            row = cover(*cell, options.sets)
            is_new = not options.output.exists()
            with options.output.open("a", newline="") as file:
                writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
                if is_new:
                    writer.writeheader()
                writer.writerow(row)
            print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
