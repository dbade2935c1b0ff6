"""How often intervals of ordered folds hold the mean loss, where neighbours err together.

The target is a sum of features and of an error that is autoregressive of the first order; of it
either the number is predicted, or whether it is above 0. The truth of a cell is the mean of its
sets, each with folds of ``TimeSeriesSplit(5)``: what rules that are fitted to what came before lose
at times like these. Where an interval was refused, since the samples are worth too few blocks of
time, that is counted apart.

`error_interval` and `cross_val_error` count blocks of time. Beside them stand what else is known of
the mean of a series, on the same losses and with the same form of interval: the weighted sum of
autocovariances of Newey and West (1987) with the critical values of Kiefer and Vogelsang (2005), at
the bandwidth of Lazarus, Lewis, Stock and Watson (2018; "fixed_b") or of Andrews (1991;
"andrews"); cosines with Student's quantile (Lazarus et al.; "cosines"), as many as lose no more
than .015 of the variance by Andrews' rule; and the quantiles of 500 stationary bootstraps (Politis
and Romano 1994) with the block length of Politis and White (2004, corrected 2009).

    python benchmarks/coverage_in_time.py --sets 400 --output coverage_in_time.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.signal import lfilter
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import TimeSeriesSplit

from skeval._inference.intervals import mean_loss_limits, size_from_variance
from skeval._inference.paired import autocorrelation
from skeval.model_selection import cross_val_error, error_interval

LEARNERS = {
    "squared": LinearRegression(),
    "absolute": LinearRegression(),
    "zero_one": LogisticRegression(),
}
LOSSES = {
    "squared": lambda true, said: (true - said) ** 2,
    "absolute": lambda true, said: np.abs(true - said),
    "zero_one": lambda true, said: (true != said).astype(float),
}
Data = tuple[np.ndarray, np.ndarray]
Ends = tuple[float, float]
REFUSED: Ends = (np.nan, np.nan)
Z = float(stats.norm.isf(0.025))


def draw(rng: np.random.Generator, n: int, rho: float, loss: str) -> Data:
    """Return two features and the target, whose error at a time is `rho` times that before.

    Of two classes the first training set must contain both.
    """
    while True:
        X = rng.standard_normal((n, 2))
        error = lfilter([np.sqrt(1 - rho**2)], [1, -rho], rng.standard_normal(n + 200))[200:]
        y = X.sum(axis=1) + error
        if loss != "zero_one":
            return X, y
        if 0 < np.sum(y[: n // 6] > 0) < n // 6:
            return X, (y > 0).astype(int)


def find_losses(loss: str, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the loss of each tested sample, in order."""
    found = []
    for train, test in TimeSeriesSplit(5).split(X):
        model = clone(LEARNERS[loss]).fit(X[train], y[train])
        found.append(LOSSES[loss](y[test], model.predict(X[test])))
    return np.concatenate(found)


def by_public(function: Callable, loss: str, data: Data, losses: np.ndarray) -> Ends:
    """Return the interval of a function of skeval, if there is one."""
    found = function(LEARNERS[loss], *data, cv=TimeSeriesSplit(5), loss=loss)
    ends = found.interval.low, found.interval.high
    return ends if found.n_groups > 1 else REFUSED


def in_form(loss: str, losses: np.ndarray, error: float, quantile: float, units: float) -> Ends:
    """Return the interval of a mean with its standard error, in the form of skeval."""
    mean, size = float(losses.mean()), None
    if loss == "zero_one":
        size = size_from_variance(mean * (1 - mean), error, len(losses), units)
    size = None if size is None else size / (quantile / Z) ** 2
    first = "jeffreys" if loss == "zero_one" else "log"
    limits = mean_loss_limits(mean, quantile / Z * error, loss, n_effective=size, first=first)
    return next(iter(limits.values()))(0.95)


def covariances(losses: np.ndarray, n_lags: int) -> np.ndarray:
    """Return the autocovariances at 0 to `n_lags` steps."""
    deviations, n = losses - losses.mean(), len(losses)
    return np.array([deviations[k:] @ deviations[: n - k] / n for k in range(n_lags + 1)])


def by_bandwidth(choose: Callable, loss: str, data: Data, losses: np.ndarray) -> Ends:
    """Return the interval by Bartlett's weights and Kiefer and Vogelsang's critical value."""
    n = len(losses)
    width = float(np.clip(choose(losses), 1, n))
    known = covariances(losses, int(np.ceil(width)) - 1)
    weights = 1 - np.arange(len(known)) / width
    variance = (known[0] + 2 * weights[1:] @ known[1:]) / n
    b = width / n
    quantile = 1.9600 + 2.9694 * b + 0.4160 * b**2 - 0.5324 * b**3
    return in_form(loss, losses, float(np.sqrt(variance)), quantile, n / width)


def andrews_bandwidth(losses: np.ndarray) -> float:
    """Return the bandwidth of Andrews (1991) for Bartlett's weights and a memory of one step."""
    rho = autocorrelation(losses)
    alpha = 4 * rho**2 / ((1 - rho) ** 2 * (1 + rho) ** 2)
    return 1.1447 * (alpha * len(losses)) ** (1 / 3)


def by_cosines(loss: str, data: Data, losses: np.ndarray) -> Ends:
    """Return the interval by sums of the losses under cosines, with Student's quantile."""
    n, rho = len(losses), autocorrelation(losses)
    few = n * np.sqrt(6 * 0.015 / np.pi**2 / max(2 * rho / (1 - rho) ** 2, 1e-9))
    n_cosines = int(min(0.4 * n ** (2 / 3), few))
    if n_cosines < 2:
        return REFUSED
    waves = np.cos(np.pi * np.outer(np.arange(1, n_cosines + 1), (np.arange(n) + 0.5) / n))
    sums = np.sqrt(2 / n) * waves @ losses
    error = float(np.sqrt(np.mean(sums**2) / n))
    return in_form(loss, losses, error, float(stats.t.isf(0.025, n_cosines)), n_cosines + 1)


def block_length(losses: np.ndarray) -> float:
    """Return the mean block length of Politis and White (2004), corrected by Patton (2009)."""
    n = len(losses)
    in_a_row = max(5, int(np.ceil(np.sqrt(np.log10(n)))))
    most = int(np.ceil(np.sqrt(n))) + in_a_row
    known = covariances(losses, min(2 * most, n - 1))
    large = np.abs(known / known[0]) >= 2 * np.sqrt(np.log10(n) / n)
    starts = range(most - in_a_row + 1)
    quiet = [k for k in starts if not large[k + 1 : k + 1 + in_a_row].any()]
    last = quiet[0] if quiet else int(np.flatnonzero(large[: most + 1]).max())
    reach = min(2 * max(last, 1), most, len(known) - 1)
    lags = np.abs(np.arange(-reach, reach + 1))
    weights = np.clip(2 * (1 - lags / reach), 0, 1)
    slope, whole = weights * lags @ known[lags], weights @ known[lags]
    length = (slope**2 / whole**2 * n) ** (1 / 3) if whole else 1.0
    return float(np.clip(length, 1, min(3 * np.sqrt(n), n / 3)))


def by_bootstrap(loss: str, data: Data, losses: np.ndarray, n_resamples: int = 500) -> Ends:
    """Return the quantiles of means of stretches of random length, one after the other."""
    n, rng = len(losses), np.random.default_rng(len(losses))
    starts = rng.integers(n, size=(n, n_resamples))
    anew = rng.random((n, n_resamples)) < 1 / block_length(losses)
    rows = starts.copy()
    for at in range(1, n):
        rows[at] = np.where(anew[at], starts[at], (rows[at - 1] + 1) % n)
    low, high = np.quantile(losses[rows].mean(axis=0), [0.025, 0.975])
    return float(low), float(high)


METHODS: dict[str, Callable[[str, Data, np.ndarray], Ends]] = {
    "error_interval": partial(by_public, error_interval),
    "cross_val_error": partial(by_public, cross_val_error),
    "fixed_b": partial(by_bandwidth, lambda losses: 1.3 * np.sqrt(len(losses))),
    "andrews": partial(by_bandwidth, andrews_bandwidth),
    "cosines": by_cosines,
    "stationary_bootstrap": by_bootstrap,
}


def run_cell(
    methods: list[str], loss: str, n: int, rho: float, sets: int
) -> list[dict[str, object]]:
    """Return the coverage of methods in a cell, on the same sets."""
    ends, values = np.empty((len(methods), sets, 2)), np.empty(sets)
    seconds = np.zeros(len(methods))
    for number in range(sets):
        data = draw(np.random.default_rng([number, n, int(10 * rho)]), n, rho, loss)
        losses = find_losses(loss, *data)
        values[number] = losses.mean()
        for at, method in enumerate(methods):
            start = time.process_time()
            ends[at, number] = METHODS[method](loss, data, losses)
            seconds[at] += time.process_time() - start
    truth, rows = values.mean(), []
    for method, each, spent in zip(methods, ends, seconds, strict=True):
        given = ~np.isnan(each[:, 0])
        holds = (each[given, 0] <= truth) & (truth <= each[given, 1])
        width = np.median(np.ptp(each[given], axis=1)) / values.std() / 2 / Z if any(given) else 0
        row = {"method": method, "loss": loss, "n": n, "autocorrelation": rho, "sets": sets}
        row |= {
            "refused": f"{1 - given.mean():.3f}",
            "coverage": f"{holds.mean():.3f}" if any(given) else "",
            "width_over_spread": f"{width:.2f}" if any(given) else "",
            "truth": f"{truth:.4f}",
            "seconds": f"{spent:.1f}",
        }
        rows.append(row)
    return rows


def main() -> None:
    """Run the cells that the file does not have."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 400, 2000])
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    done, key = [], ("method", "loss", "n", "autocorrelation")
    if arguments.output.exists():
        with arguments.output.open() as file:
            done = [tuple(row[name] for name in key) for row in csv.DictReader(file)]
    for n, loss, rho in product(arguments.sizes, LEARNERS, (0.0, 0.5, 0.9)):
        left = [each for each in arguments.methods if (each, loss, str(n), str(rho)) not in done]
        for row in run_cell(left, loss, n, rho, arguments.sets) if left else []:
            print(*row.values(), flush=True)
            fresh = not arguments.output.exists()
            with arguments.output.open("a", newline="") as file:
                writer = csv.DictWriter(file, row)
                if fresh:
                    writer.writeheader()
                writer.writerow(row)


if __name__ == "__main__":
    main()
