"""How often do intervals of multi-class areas cover, and do paired tests reject equal systems?

Each cell has a number of samples, frequencies of the classes, and a signal: the shift of the log
score of the true class. The scores of two equally good systems share half of their noise. The true
area is that of 200,000 samples, or 1/2 without signal.

    python benchmarks/coverage_multiclass_area.py --sets 400
"""

import argparse
import csv
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from skeval.model_selection import compare_predictions, metric_interval

CELLS = [
    (60, (1 / 3, 1 / 3, 1 / 3), 0.0),
    (60, (1 / 3, 1 / 3, 1 / 3), 2.0),
    (150, (0.6, 0.3, 0.1), 1.0),
    (150, (0.4, 0.2, 0.2, 0.2), 3.0),
]
FIELDS = ["samples", "classes", "signal", "area", "truth", "sets", "coverage", "width", "size"]
RESULTS = Path(__file__).parent / "results" / "coverage_multiclass_area.csv"


def draw(rng, n, shares, signal):
    """Return the classes and the probabilities of both systems."""
    k = len(shares)
    y = rng.choice(k, n, p=shares)
    while np.bincount(y, minlength=k).min() < 2:
        y = rng.choice(k, n, p=shares)
    shared = rng.normal(size=(n, k))
    systems = [np.exp(shared + rng.normal(size=(n, k)) + signal * np.eye(k)[y]) for _ in range(2)]
    return y, *(system / system.sum(axis=1, keepdims=True) for system in systems)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    n_sets = parser.parse_args().sets
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for seed, (n, shares, signal) in enumerate(CELLS):
            y, p, _ = draw(np.random.default_rng(99), 200_000, shares, signal)
            for kind in ("ovr", "ovo"):
                metric = partial(roc_auc_score, multi_class=kind)
                truth = metric(y, p) if signal else 0.5
                rng, hits, rejected, width = np.random.default_rng(seed), 0, 0, 0.0
                for _ in range(n_sets):
                    true, one, other = draw(rng, n, shares, signal)
                    interval = metric_interval(metric, true, one).interval
                    hits += truth in interval
                    width += interval.high - interval.low
                    comparison = compare_predictions(true, [one, other], metric=metric)
                    rejected += comparison.difference.pvalue <= 0.05
                writer.writerow(
                    {
                        "samples": n,
                        "classes": " ".join(f"{share:.2g}" for share in shares),
                        "signal": signal,
                        "area": kind,
                        "truth": f"{truth:.3f}",
                        "sets": n_sets,
                        "coverage": f"{hits / n_sets:.3f}",
                        "width": f"{width / n_sets:.3f}",
                        "size": f"{rejected / n_sets:.3f}",
                    }
                )
                file.flush()


if __name__ == "__main__":
    main()
