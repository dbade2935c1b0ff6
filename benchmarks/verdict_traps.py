"""How often the first three sentences of a report say the truth, on tables with a known fault.

Each trap is a table with one fault that makes an error estimate a lie, or that a reader must know
of; "clean" tables have none, and what is said of a fault there is a false alarm. A report is right
about a trap where its first three sentences name the fault, and right about a clean table where
they name none, and claim no signal where there is none.

    python benchmarks/verdict_traps.py --sets 50 --out benchmarks/results/verdict_traps.csv
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import skeval

ESTIMATORS = {
    "linear SVM": make_pipeline(StandardScaler(), SVC(kernel="linear")),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "forest": RandomForestClassifier(n_estimators=10, random_state=0),
    "1-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
}
N = 200
ALARM = r"do not quote"
BETTER = r"(?<!not shown to be )(?<!not )better than (chance|the guess|always)"

Table = tuple[pd.DataFrame, np.ndarray]


def _frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])


def draw_clean(rng: np.random.Generator, n: int = N, p: int = 5) -> Table:
    """Two Gaussian classes, of which two features tell something."""
    y = rng.permutation(np.arange(n) % 2)
    X = rng.standard_normal((n, p))
    X[:, :2] += y[:, None]
    return _frame(X), y


def draw_noise(rng: np.random.Generator) -> Table:
    """Labels that have nothing to do with the features."""
    X, y = draw_clean(rng)
    return X, rng.permutation(y)


def draw_skewed_noise(rng: np.random.Generator) -> Table:
    """Noise with heavy right tails, and one class in three."""
    return _frame(rng.standard_exponential((N, 5)) ** 2), (rng.random(N) < 1 / 3).astype(int)


def draw_patients(rng: np.random.Generator, named: bool) -> Table:
    """Five rows of each of forty patients, whose label is noise; with or without their number."""
    patient = np.repeat(rng.permutation(10_000)[:40], 5)
    centre = np.repeat(rng.normal(0, 2, (40, 5)), 5, axis=0)
    X = _frame(centre + rng.normal(0, 0.3, (N, 5)))
    y = np.repeat(rng.permutation(np.arange(40) % 2), 5)
    if named:
        X.insert(0, "patient_id", patient)
    order = rng.permutation(N)
    return X.iloc[order].reset_index(drop=True), y[order]


def draw_time(rng: np.random.Generator) -> Table:
    """Independent random walks, and whether another one stands above its median."""
    X = rng.standard_normal((N, 5)).cumsum(axis=0)
    walk = rng.standard_normal(N).cumsum()
    return _frame(X), (walk > np.median(walk)).astype(int)


def draw_rare(rng: np.random.Generator, rate: float) -> Table:
    """A rare class, of which two features tell something."""
    n = 600
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[: round(rate * n)]] = 1
    X = rng.standard_normal((n, 4))
    X[:, :2] += y[:, None]
    return _frame(X), y


def draw_target_copy(rng: np.random.Generator) -> Table:
    """A feature that is the target in another unit."""
    X, y = draw_clean(rng)
    return X.assign(code=3.0 * y + 1), y


def draw_telling(rng: np.random.Generator) -> Table:
    """A feature that is known after the class is: days until a relapse, 0 where there is none."""
    X, y = draw_clean(rng)
    return X.assign(days=y * rng.integers(1, 400, N)), y


def draw_row_number(rng: np.random.Generator) -> Table:
    """Noise in a file that lists most of one class first, with its row number as a feature."""
    y = (rng.random(N) < np.where(np.arange(N) < N / 2, 0.1, 0.9)).astype(int)
    return _frame(rng.standard_normal((N, 5))).assign(row=np.arange(N)), y


def draw_copies(rng: np.random.Generator) -> Table:
    """Noise of which a third of the rows stand there twice."""
    X, y = draw_noise(rng)
    twice = np.r_[np.arange(N - N // 3), rng.permutation(N - N // 3)[: N // 3]]
    order = rng.permutation(twice)
    return X.iloc[order].reset_index(drop=True), y[order]


TRAPS: dict[str, tuple[Callable[[np.random.Generator], Table], str]] = {
    "patients, numbered": (lambda rng: draw_patients(rng, True), "patient_id"),
    "patients, not numbered": (lambda rng: draw_patients(rng, False), r"group|one object|same"),
    "time order": (draw_time, r"in order|time order|in time|neighbour"),
    "rare class, 1 %": (lambda rng: draw_rare(rng, 0.01), r"always answering|never answers"),
    "rare class, 3 %": (lambda rng: draw_rare(rng, 0.03), r"always answering|never answers"),
    "rare class, 10 %": (lambda rng: draw_rare(rng, 0.1), r"always answering|never answers"),
    "target copy": (draw_target_copy, r"code.*copy of the target"),
    "telling feature": (draw_telling, r"days"),
    "row number": (draw_row_number, r"\brow\b|order"),
    "copies": (draw_copies, r"cop(y|ies)"),
}
CLEAN: dict[str, Callable[[np.random.Generator], Table]] = {
    "signal": draw_clean,
    "no signal": draw_noise,
    "skewed noise": draw_skewed_noise,
}


def read_first_sentences(report: Any) -> str:
    """Return the first three sentences of a report."""
    text = " ".join(str(report).split("\n\n")[0].split())
    return " ".join(re.split(r"(?<=[.!?]) (?=[A-Z])", text)[:3])


def judge(name: str, text: str) -> bool:
    """Say whether the first sentences tell the truth about a table."""
    if name in TRAPS:
        return re.search(TRAPS[name][1], text, re.IGNORECASE) is not None
    alarm = re.search(ALARM, text, re.IGNORECASE)
    claim = name != "signal" and re.search(BETTER, text, re.IGNORECASE)
    return not alarm and not claim


def main() -> None:
    """Run all cells, print a line for each, and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--permutations", type=int, default=39)
    parser.add_argument("--only", nargs="*", help="tables, of all")
    parser.add_argument("--estimators", nargs="*", default=list(ESTIMATORS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", action="store_true", help="print the first sentences of a set")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = {name: draw for name, (draw, _) in TRAPS.items()} | CLEAN
    rows = []
    for place, (name, draw) in enumerate(tables.items()):
        if options.only and name not in options.only:
            continue
        for estimator in options.estimators:
            start, right = time.process_time(), 0
            settled = name in TRAPS and not name.startswith("rare")  # whatever chance would do
            for seed in range(options.sets):
                X, y = draw(np.random.default_rng([place, seed]))
                report = skeval.evaluate(
                    ESTIMATORS[estimator],
                    X,
                    y,
                    include=["holdout", "bootstrap", "permutation", "selection"],
                    n_bootstraps=10,
                    n_permutations=0 if settled else options.permutations,
                    random_state=seed,
                )
                text = read_first_sentences(report)
                right += judge(name, text)
                if options.show and seed == 0:
                    print(f"    {text}")
            rows.append([name, estimator, options.sets, right])
            spent = time.process_time() - start
            told = f"{name:24} {estimator:12} {right:3} of {options.sets}, {spent:.0f} s"
            print(told, flush=True)
    if options.out:
        with options.out.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["table", "estimator", "sets", "right"], *rows])


if __name__ == "__main__":
    sys.exit(main())
