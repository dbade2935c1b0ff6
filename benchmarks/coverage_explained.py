"""Coverage of the interval of R2 of out-of-fold predictions, and power of "better than the mean".

Ridge regression on normal data; only the first of `p` columns has an effect, which explains the
share `r2` of the variance. The truth is the R2 of the model trained on all samples, which follows
from its coefficients. "better" is the fraction of sets in which the interval is above 0, "false"
that in which the model is then worse than the mean of its training samples, and "f" the power of
the F test at 5 %, which asks whether any coefficient differs from 0. "ceiling" is the power of the
F test with the critical value above which a worse model occurs in at most 5 % of sets, whatever
the effect. No invariant test with this guarantee is more powerful for normal data. "two_sided" is
the same with 2.5 %, because the interval is two-sided.

    python benchmarks/coverage_explained.py --sets 400
    python benchmarks/coverage_explained.py --sets 0  # only the two ceilings of stored rows
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy import stats

from skeval._inference.errors import inflation_of, needs_repeat, shared_variance, split_share
from skeval.metrics._table import Folds, Sample, use_explained

RESULTS = Path(__file__).parent / "results"
CELLS = [(n, 3, r2) for n in (40, 60, 100) for r2 in (0.0, 0.05, 0.15, 0.3, 0.6)]
CELLS += [(60, 2, 0.3), (60, 5, 0.3), (100, 2, 0.2), (100, 3, 0.2), (100, 5, 0.2)]
CELLS += [(60, 5, 0.1), (100, 20, 0.3), (300, 10, 0.1)]
SEED = 77


def fit(X, y, penalty=1.0):
    """Return the coefficients and the intercept of ridge regression."""
    center, middle = X.mean(axis=0), y.mean()
    X = X - center
    coefficient = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ (y - middle))
    return coefficient, middle - center @ coefficient


def cross_validate(X, y, rng):
    """Return the out-of-fold predictions of as many repeats as `error_interval` takes."""
    n, rows, fits, predicted = len(y), [], [], []
    for repeat in range(10):
        for number, test in enumerate(np.array_split(rng.permutation(n), 10)):
            train = np.setdiff1d(np.arange(n), test)
            coefficient, intercept = fit(X[train], y[train])
            rows.append(test)
            fits.append(np.full(len(test), 10 * repeat + number))
            predicted.append(X[test] @ coefficient + intercept)
        row, model, prediction = map(np.concatenate, (rows, fits, predicted))
        losses, of_repeat = (y[row] - prediction) ** 2, model // 10
        share = split_share(losses, row, of_repeat, np.arange(n))
        if repeat and not needs_repeat(share, repeat + 1):
            break
    shared = shared_variance(losses, row, of_repeat, model % 10)
    repeats = [of_repeat == each for each in range(repeat + 1)]
    inflation = inflation_of(shared, share, zero_one=False)
    folds = Folds(row, model, np.unique(row, return_index=True)[1], repeats, inflation)
    return Sample(y[row], prediction, folds=folds)


def run_set(n, p, r2, rng):
    """Return the interval of R2, its truth, whether the model is worse than the mean, and F."""
    effect = np.zeros(p)
    effect[0] = np.sqrt(r2 / (1 - r2))
    X = rng.normal(size=(n, p))
    y = X @ effect + rng.normal(size=n)
    low, high = use_explained(None, {}, cross_validate(X, y, rng))[1]["log"][0](0.95)
    coefficient, intercept = fit(X, y)
    error = 1 + np.sum((coefficient - effect) ** 2) + intercept**2
    variance = 1 + effect[0] ** 2
    plain, constant = fit(X, y, 0.0)
    left = np.sum((y - X @ plain - constant) ** 2) / np.sum((y - y.mean()) ** 2)
    ratio = (1 - left) / p / (left / (n - p - 1))
    return low, high, 1 - error / variance, error > variance + y.mean() ** 2, ratio


def find_ceilings(n, p, r2, n_sets=40_000):
    """Return the power of the F tests that find a worse model in at most 5 % and 2.5 % of sets."""
    rng = np.random.default_rng(SEED)
    noise = rng.normal(size=(n_sets, p)) / np.sqrt(n)
    scale = rng.chisquare(n - p - 1, n_sets) / (n - p - 1) * p / n

    def draw(signal):
        estimate = noise + np.sqrt(signal / p) * np.ones(p)
        return np.sum(estimate**2, axis=1) / scale, np.sum(noise**2, axis=1) > signal

    # the largest critical value over all effects
    effects = (draw(share * p / n) for share in np.arange(0.25, 3.01, 0.25))
    allowed = [int(0.05 * n_sets), int(0.025 * n_sets)]
    null = [np.sort(np.where(worse, ratio, 0)) for ratio, worse in effects]
    found = draw(r2 / (1 - r2))[0]
    powers = [float(np.mean(found > max(each[-rank] for each in null))) for rank in allowed]
    return dict(zip(("ceiling", "two_sided"), powers, strict=True))


def run_cell(n, p, r2, n_sets):
    sets = [
        run_set(n, p, r2, np.random.default_rng([SEED, n, p, int(100 * r2), k]))
        for k in range(n_sets)
    ]
    low, high, truth, worse, ratio = np.array(sets).T
    return {
        "n": n,
        "p": p,
        "r2": r2,
        "sets": n_sets,
        "coverage": np.mean((low <= truth) & (truth <= high)),
        "width": np.median(high - low),
        "better": np.mean(low > 0),
        "false": np.mean((low > 0) & (worse > 0)),
        "truly_better": np.mean(worse == 0),
        "f": np.mean(ratio > stats.f.ppf(0.95, p, n - p - 1)),
    } | find_ceilings(n, p, r2)


def update_ceilings():
    """Compute the ceilings of the stored rows again."""
    with (RESULTS / "coverage_explained.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        ceilings = find_ceilings(int(row["n"]), int(row["p"]), float(row["r2"]))
        row |= {key: f"{power:.3f}" for key, power in ceilings.items()}
    with (RESULTS / "coverage_explained.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=400)
    options = parser.parse_args()
    if not options.sets:
        update_ceilings()
        return
    with (RESULTS / "coverage_explained.csv").open("w", newline="") as file:
        writer = None
        for cell in CELLS:
            row = run_cell(*cell, options.sets)
            writer = writer or csv.DictWriter(file, row, lineterminator="\n")
            if not file.tell():
                writer.writeheader()
            shares = {k: round(x, 3) for k, x in row.items() if isinstance(x, float)}
            writer.writerow(row | shares)
            file.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()
