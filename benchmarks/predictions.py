"""Predictions alone, by size: processor seconds and peak memory of three calls, and their marks.

Each call runs in a process of its own, on one thread: ``python benchmarks/predictions.py`` runs
all, with ``--share 0.1`` on a tenth of the samples.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

from skeval.model_selection import compare_predictions
from skeval.report._evaluate_predictions import evaluate_predictions


def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two classes and their probabilities, which are right."""
    rng = np.random.default_rng(0)
    odds = rng.normal(-0.5, 1.2, n)
    p = 1 / (1 + np.exp(-odds))
    return (rng.random(n) < p).astype(int), p


def evaluate_binary(share: float) -> None:
    """Evaluate 10^7 rows: every metric with its interval."""
    evaluate_predictions(*draw(int(1e7 * share)), random_state=0)


def evaluate_groups(share: float) -> None:
    """Evaluate 10^6 rows in 10^5 groups."""
    y, p = draw(int(1e6 * share))
    groups = np.random.default_rng(1).integers(0, int(1e5 * share), len(y))
    evaluate_predictions(y, p, groups=groups, random_state=0)


def compare_many(share: float) -> None:
    """Compare 30 systems on 10^5 items, with the intervals of their ranks."""
    rng, n = np.random.default_rng(2), int(1e5 * share)
    right = {f"system {k}": (rng.random(n) < 0.7).astype(float) for k in range(30)}
    ranks = compare_predictions(None, right, random_state=0).ranks
    assert len(ranks) == 30


CALLS = {evaluate_binary: (20, 2.0), evaluate_groups: (20, 2.0), compare_many: (30, 2.0)}
"""The calls, and the marks: seconds, and gigabytes."""


def main() -> int:
    """Run all calls, each in a process of its own; return whether one misses its mark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--call", choices=[call.__name__ for call in CALLS])
    options = parser.parse_args()
    missed = False
    for call, (seconds, gigabytes) in CALLS.items():
        if options.call is None:
            one = [sys.executable, __file__, "--call", call.__name__]
            missed |= subprocess.run([*one, "--share", str(options.share)]).returncode != 0
        elif call.__name__ == options.call:
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call(options.share)
            took = time.process_time() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            missed = took > seconds or peak > gigabytes
            print(f"{call.__name__}: {took:.1f} s of {seconds}, {peak:.2f} GB of {gigabytes}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
