"""Coverage and width of perturbation intervals of a linear SVM, over a grid of simulated classes.

Prints a table and writes a CSV file. Nominal level 95 %. The intervals are those of the two
statistics in five forms and Wilson's on the pooled errors, around one 10-fold cross-validation and
around the mean of twenty. Each is held against the exact error of the rule fitted on all samples
("rule") and against the mean of that error over training sets ("mean").
"""

import argparse
import csv
import itertools
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from skeval._inference.intervals import (
    DRAWN,
    limits_of_draws,
    mean_loss_limits,
    size_of_proportion,
    wilson_interval,
)
from skeval.datasets import make_gaussian_classes
from skeval.model_selection import cross_val_error, perturbation_interval

LEVEL = 0.95
N_INFORMATIVE = 5
FORMS = ("wilson", "normal", "pivotal", "symmetric", "quantile")
STATISTICS = ("resubstitution", "cross_validation")
SEPARATIONS = {"weak": 1.0, "strong": 3.0}
Interval = tuple[str, float, float]


def intervals_of(X: np.ndarray, y: np.ndarray, seed: int, n_resamples: int) -> Iterator[Interval]:
    """Yield (name, low, high) of every interval on one data set."""
    svm = SVC(kernel="linear")
    n = len(y)
    folds = list(StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y))
    repeated = RepeatedStratifiedKFold(n_splits=10, n_repeats=20, random_state=seed)
    centres = {
        "one": cross_val_error(svm, X, y, cv=folds).value,
        "repeated": cross_val_error(svm, X, y, cv=repeated).value,
    }
    for around, centre in centres.items():
        yield f"wilson, {around}", *wilson_interval(centre * n, n, LEVEL)
    for statistic in STATISTICS:
        result = perturbation_interval(
            svm, X, y, n_resamples=n_resamples, statistic=statistic, cv=folds, random_state=seed
        )
        deviations = result.extra.statistics / np.sqrt(n)
        for form, (around, centre) in itertools.product(FORMS, centres.items()):
            if form in DRAWN:
                low, high = limits_of_draws(centre, deviations, LEVEL, form)
            else:
                error = float(np.std(deviations, ddof=1))
                size = size_of_proportion(centre, error, n)
                limits = mean_loss_limits(centre, error, "zero_one", n_effective=size)
                low, high = limits[form](LEVEL)
            yield f"{statistic} {form}, {around}", max(low, 0.0), min(high, 1.0)


def one_data_set(
    n: int, p: int, separation: float, seed: int, n_resamples: int
) -> tuple[float, float, list[Interval]]:
    """Return the true error of the rule, its resubstitution error and all intervals."""
    data = make_gaussian_classes(
        n, p, n_informative=min(N_INFORMATIVE, p), separation=separation, random_state=seed
    )
    rule = SVC(kernel="linear").fit(data.X, data.y)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", UserWarning)
        found = list(intervals_of(data.X, data.y, seed, n_resamples))
    apparent = float(np.mean(rule.predict(data.X) != data.y))
    return data.true_error(rule.coef_, rule.intercept_), apparent, found


def cell(n: int, p: int, strength: str, options: argparse.Namespace) -> list[dict[str, object]]:
    """Return one row for each interval in a cell of the grid."""
    start = time.perf_counter()
    sets = Parallel(n_jobs=options.jobs)(
        delayed(one_data_set)(n, p, SEPARATIONS[strength], seed, options.resamples)
        for seed in range(options.sets)
    )
    truths = np.array([truth for truth, _, _ in sets])
    apparent = np.mean([value for _, value, _ in sets])
    rows = []
    for position, (name, _, _) in enumerate(sets[0][2]):
        low, high = np.array([found[position][1:] for _, _, found in sets]).T
        rule = float(np.mean((low <= truths) & (truths <= high)))
        mean = float(np.mean((low <= truths.mean()) & (truths.mean() <= high)))
        rows.append(
            {
                "n": n,
                "p": p,
                "separation": strength,
                "true_error": round(float(truths.mean()), 4),
                "resubstitution": round(float(apparent), 4),
                "interval": name,
                "covers_rule": round(rule, 4),
                "covers_mean": round(mean, 4),
                "standard_error": round(float(np.sqrt(rule * (1 - rule) / len(sets))), 4),
                "width": round(float(np.mean(high - low)), 4),
                "sets": len(sets),
            }
        )
    print(
        f"n={n} p={p} {strength}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True
    )
    return rows


def write_csv(path: str, rows: list[dict[str, object]]) -> None:
    """Write what there is so far."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def print_table(rows: list[dict[str, object]]) -> None:
    """Print the coverage of the rule, in per cent, and the width: cells down, intervals across."""
    cells = dict.fromkeys((r["n"], r["p"], r["separation"]) for r in rows)
    for name in dict.fromkeys(r["interval"] for r in rows):
        print(f"\n{name}\n  n    p    classes  covers rule   covers mean   width")
        for key in cells:
            (r,) = (
                r
                for r in rows
                if (r["n"], r["p"], r["separation"]) == key and r["interval"] == name
            )
            print(
                f"  {r['n']:<4} {r['p']:<4} {r['separation']:<8} {r['covers_rule']:.3f}+-"
                f"{r['standard_error']:.3f}  {r['covers_mean']:.3f}         {r['width']:.3f}"
            )


def main() -> None:
    """Run the grid."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="50 data sets, 8 cells")
    parser.add_argument("--sets", type=int, default=400, help="data sets a cell")
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--csv", default="coverage_perturbation.csv")
    options = parser.parse_args()
    if options.quick:
        options.sets = min(options.sets, 50)
    sizes = [50, 100] if options.quick else [50, 100, 200]
    features = [5, 50] if options.quick else [5, 20, 50, 200]
    rows = []
    for n, p, strength in itertools.product(sizes, features, SEPARATIONS):
        rows += cell(n, p, strength, options)
        write_csv(options.csv, rows)
    print_table(rows)


if __name__ == "__main__":
    main()
