"""Coverage of intervals that no other script of this folder simulates.

    python benchmarks/coverage_short.py --sets 200

The cells are perturbation with groups, areas of several labels with groups, the calibration
intercept corrected for optimism, and the difference of two accuracies that equals the margin.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from skeval.model_selection import (
    bootstrap_score,
    compare_predictions,
    metric_interval,
    perturbation_interval,
)

RESULTS = Path(__file__).parent / "results" / "coverage_short.csv"
N_NEW = 20_000


def draw_patients(rng: np.random.Generator, n_groups: int, size: int, n_features: int = 5):
    """Return features, classes and groups. The samples of a group share half of the variance."""
    groups = np.repeat(np.arange(n_groups), size)
    y = np.repeat(rng.permutation(np.arange(n_groups) % 2), size)
    shared = rng.standard_normal((n_groups, n_features))[groups]
    X = np.sqrt(0.5) * (shared + rng.standard_normal((len(groups), n_features)))
    X[:, 0] += 1.5 * y
    return X, y, groups


def cover_perturbation(rng: np.random.Generator, n_groups: int, size: int) -> np.ndarray:
    """Return whether the error of the SVM lies in the interval, and the width."""
    X, y, groups = draw_patients(rng, n_groups, size)
    new_X, new_y, _ = draw_patients(rng, N_NEW, 1)
    svm = SVC(kernel="linear")
    result = perturbation_interval(svm, X, y, groups=groups, n_resamples=100, random_state=0)
    truth = np.mean(svm.fit(X, y).predict(new_X) != new_y)
    low, high = result.interval
    return np.array([low <= truth <= high, high - low])


def draw_labels(rng: np.random.Generator, n_groups: int, size: int, n_labels: int = 4):
    """Return labels, scores and groups. Errors are correlated within samples and groups."""
    groups = np.repeat(np.arange(n_groups), size)
    of_group, of_sample = (rng.standard_normal((k, 1)) for k in (n_groups, len(groups)))
    noise = rng.standard_normal((len(groups), n_labels))
    latent = (of_group[groups] + of_sample + noise) / np.sqrt(3)
    labels = (latent > np.linspace(0, 0.8, n_labels)).astype(int)
    errors = rng.standard_normal((n_groups, 1))[groups] + rng.standard_normal(labels.shape)
    return labels, labels + errors / np.sqrt(2), groups


def cover_labels(rng: np.random.Generator, n_groups: int, size: int, *, truth: float) -> np.ndarray:
    """Return whether the macro area of all samples lies in the interval, and the width."""
    labels, scores, groups = draw_labels(rng, n_groups, size)
    low, high = metric_interval("roc_auc", labels, scores, groups=groups).interval
    return np.array([low <= truth <= high, high - low])


def cover_intercept(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return whether the interval of the intercept covers that on new samples, and the width."""

    def draw(size: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.standard_normal((size, 5))
        return X, (rng.random(size) < expit(X.sum(axis=1) * 0.5 - 1)).astype(int)

    (X, y), (new_X, new_y), model = draw(n), draw(N_NEW), LogisticRegression(C=100)
    result = bootstrap_score(
        model, X, y, scoring="calibration_intercept", method="optimism", random_state=0
    )
    # the intercept of the logistic regression of new classes on the log-odds of the model
    odds = logit(model.fit(X, y).predict_proba(new_X)[:, 1])
    truth = LogisticRegression(C=np.inf).fit(odds[:, None], new_y).intercept_[0]
    low, high = result.interval
    return np.array([low <= truth <= high, high - low])


def cover_margin(rng: np.random.Generator, n: int, *, margin: float = 0.05) -> np.ndarray:
    """Return whether the interval covers the margin, its width, and the non-inferiority."""
    labels = rng.integers(0, 2, n)
    right = rng.random((2, n)) < np.array([[0.8], [0.8 - margin]])
    models = {name: np.where(of, labels, 1 - labels) for name, of in zip("ab", right, strict=True)}
    pair = compare_predictions(labels, models, method="mcnemar", margin=margin)["b", "a"]
    low, high = pair.interval
    return np.array([low <= -margin <= high, high - low, pair.pvalue_noninferior <= 0.05])


def list_cells() -> dict[tuple[str, str], Callable[[np.random.Generator], np.ndarray]]:
    """Return the function of each cell, by the name of the interval and the setting."""
    cells: dict[tuple[str, str], Callable[[np.random.Generator], np.ndarray]] = {}
    for n_groups, size in ((20, 5), (40, 3)):
        setting = f"{n_groups} groups of {size}"
        cells["perturbation_interval", setting] = partial(
            cover_perturbation, n_groups=n_groups, size=size
        )
    labels, scores, _ = draw_labels(np.random.default_rng(0), 200_000, 1)
    truth = float(roc_auc_score(labels, scores, average="macro"))
    for n_groups, size in ((20, 5), (40, 4), (15, 8)):
        cells["multilabel area (macro)", f"{n_groups} groups of {size}"] = partial(
            cover_labels, n_groups=n_groups, size=size, truth=truth
        )
    for n in (100, 200):
        cells["calibration intercept, optimism", f"{n} samples"] = partial(cover_intercept, n=n)
    for n in (100, 300):
        cells["McNemar difference equal to margin", f"{n} samples"] = partial(cover_margin, n=n)
    return cells


def main() -> None:
    """Run all cells and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for (interval, setting), cover in list_cells().items():
        sets = arguments.sets * (5 if interval.startswith("McNemar") else 1)
        table = np.array([cover(np.random.default_rng([0, number])) for number in range(sets)])
        covered, width, *passed = np.nanmean(table, axis=0)
        row = {
            "interval": interval,
            "setting": setting,
            "sets": sets,
            "coverage": round(float(covered), 3),
        }
        row |= {
            "width": round(float(width), 3),
            "non-inferior": round(float(passed[0]), 3) if passed else "",
        }
        rows.append(row)
        print(row, flush=True)
    with arguments.output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
