"""Paired timing: both sides in one process, interleaved, the median of the paired ratios."""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

__all__ = ["colon", "growth_slope", "paired_ratio", "parse_arguments", "seconds"]


def seconds(work: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def paired_ratio(
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    check: Callable[[object, object], None],
    rounds: int = 5,
    blas_threads: int = 1,
) -> float:
    """Check that both sides agree, time them in turn, and print the median ratio last."""
    with threadpool_limits(blas_threads):
        check(ours(), peer())  # also the warm-up
        pairs = [(seconds(ours), seconds(peer)) for _ in range(rounds)]
    ratio = statistics.median(theirs / mine for mine, theirs in pairs)
    print(f"skeval {statistics.median(mine for mine, _ in pairs):.4g} s")
    print(f"peer   {statistics.median(theirs for _, theirs in pairs):.4g} s")
    print(f"ratio: {ratio:.1f}")
    return ratio


def growth_slope(name: str, sizes: Sequence[int], work: Callable[[int], object]) -> float:
    """Time `work` at each size and print the slope of time on a log-log plot."""
    with threadpool_limits(1):
        times = [min(seconds(lambda s=size: work(s)) for _ in range(3)) for size in sizes]
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    cells = "  ".join(f"{size}: {spent:.3g} s" for size, spent in zip(sizes, times, strict=True))
    print(f"{name}: {cells}  slope {slope:.2f}")
    return slope


def parse_arguments(description: str) -> argparse.Namespace:
    """Parse the options that every benchmark shares."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--sweep", action="store_true", help="print how the cost grows instead")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def colon() -> tuple[np.ndarray, np.ndarray, str]:
    """Return log intensities and labels of the colon set, or simulated data of its shape.

    The set is read from the folder that the environment variable SKEVAL_DATA names; the third
    value says which of the two it is.
    """
    path = Path(os.environ.get("SKEVAL_DATA", "")) / "colon.npz"
    if "SKEVAL_DATA" in os.environ and path.exists():
        with np.load(path) as data:
            return np.log(data["X"]), data["y"], "colon"
    rng = np.random.default_rng(0)
    y = np.repeat(["n", "t"], [22, 40])
    X = rng.normal(size=(62, 2000))
    X[:, :50] += 1.5 * (y == "t")[:, None]
    return X, y, "simulated 62 x 2000"
