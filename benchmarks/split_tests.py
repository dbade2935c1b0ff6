"""Size and power of the tests of two rules on one data set, by simulation.

Two nearest-mean rules see one normal feature each. Their class means are
at -0.8 and 0.8 ("same"), or those of the second at -0.3 and 0.3 ("apart").

    python benchmarks/split_tests.py [N_SIMULATIONS] > benchmarks/results/split_tests.csv
"""

import csv
import sys

import numpy as np
from scipy import stats

from skeval._inference.paired import mcnemar_pvalues

LEVEL = 0.05


def draw(rng, n_simulations, n, worth):
    """Return features (2, simulations, n) and classes (n,)."""
    y = np.arange(n) % 2 == 0
    x = rng.normal(size=(2, n_simulations, n))
    return x + np.where(y, 1, -1) * np.reshape(worth, (2, 1, 1)), y


def predict_right(x, y, tested):
    """Return which tested samples the rules trained on the others get right, nowhere else."""
    train = ~tested
    means = []
    for label in (True, False):
        kept = train & (y == label)
        means.append((x * kept).sum(axis=2) / kept.sum(axis=1))
    middle, sign = (means[0] + means[1]) / 2, np.sign(means[0] - means[1])
    said = (x - middle[:, :, None]) * sign[:, :, None] > 0
    return (said == y) & tested


def draw_folds(rng, n_simulations, y, n_folds):
    """Return the fold of each sample, stratified, (simulations, n)."""
    fold = np.empty((n_simulations, len(y)), dtype=int)
    for label in (True, False):
        places = np.flatnonzero(y == label)
        order = np.argsort(rng.random((n_simulations, len(places))), axis=1)
        fold[:, places] = np.argsort(order, axis=1) % n_folds
    return fold


def score(rng, x, y, n_folds, n_repeats):
    """Return differences (simulations, repeats, folds), and the pooled answers of the first."""
    differences, pooled = [], np.zeros(x.shape, dtype=bool)
    for repeat in range(n_repeats):
        fold = draw_folds(rng, x.shape[1], y, n_folds)
        row = []
        for number in range(n_folds):
            tested = fold == number
            right = predict_right(x, y, tested)
            share = right.sum(axis=2) / tested.sum(axis=1)
            row.append(share[0] - share[1])
            if repeat == 0:
                pooled |= right
        differences.append(np.stack(row, axis=1))
    return np.stack(differences, axis=1), pooled


def reject_t(d, ratio):
    """Return which simulations the t-test with this ratio rejects."""
    flat = d.reshape(len(d), -1)
    n = flat.shape[1]
    error = np.sqrt((1 / n + ratio) * flat.var(axis=1, ddof=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return 2 * stats.t.sf(np.abs(flat.mean(axis=1) / error), n - 1) <= LEVEL


def decide(rng, x, y):
    """Return the fraction of simulations in which each test rejects."""
    tens, pooled = score(rng, x, y, 10, 10)
    halves, _ = score(rng, x, y, 2, 5)
    variance = (halves[:, :, 0] - halves[:, :, 1]) ** 2 / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        t = halves[:, 0, 0] / np.sqrt(variance.mean(axis=1))
        f = (halves**2).sum(axis=(1, 2)) / (2 * variance.sum(axis=1))
    only = (pooled[0] & ~pooled[1]).sum(axis=1), (pooled[1] & ~pooled[0]).sum(axis=1)
    return {
        "corrected t, 10 x 10": reject_t(tens, 1 / 9).mean(),
        "corrected t, 10": reject_t(tens[:, :1], 1 / 9).mean(),
        "plain t, 10": reject_t(tens[:, :1], 0.0).mean(),
        "plain t, 10 x 10": reject_t(tens, 0.0).mean(),
        "5x2cv t": (2 * stats.t.sf(np.abs(t), 5) <= LEVEL).mean(),
        "5x2cv F": (stats.f.sf(f, 10, 5) <= LEVEL).mean(),
        "McNemar": np.mean(mcnemar_pvalues(*only)[1] <= LEVEL),
    }


def main(n_simulations=4000):
    """Print the table."""
    rng, columns = np.random.default_rng(0), []
    cells = [(worth, n) for worth in ((0.8, 0.8), (0.8, 0.3)) for n in (60, 200)]
    for worth, n in cells:
        parts = [decide(rng, *draw(rng, n_simulations // 8, n, worth)) for _ in range(8)]
        columns.append({name: np.mean([part[name] for part in parts]) for name in parts[0]})
    titles = [f"{'same' if worth[0] == worth[1] else 'apart'}, n = {n}" for worth, n in cells]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["test", *titles])
    for name in columns[0]:
        writer.writerow([name, *(f"{column[name]:.3f}" for column in columns)])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
