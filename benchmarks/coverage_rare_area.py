"""Coverage and width of the interval of an out-of-fold area of a rare class.

Normal features, of which the first separates the classes by a distance in standard deviations. Two
repeats of ten stratified folds are predicted by linear discriminant analysis ("LDA") or Gaussian
naive Bayes ("NB") for all data sets at once, or by scikit-learn's default SVC. The truth is the
area of the model trained on all samples. The widths are divided by that of Newcombe's interval for
one model with the same area. "above" is the fraction of intervals above 0.5, and "spread" is the
standard deviation of the error of the area, divided by that of one model.
The rule was chosen with `CHOSEN`, and the cells of `CONFIRMED` were not used.

    python benchmarks/coverage_rare_area.py --sets 400
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from skeval._inference.intervals import area_interval, area_variance
from skeval.metrics._table import Folds, Sample, close_area, rank_out_of_fold

RESULTS = Path(__file__).parent / "results" / "coverage_rare_area.csv"
N_FOLDS, N_REPEATS, N_TEST = 10, 2, 2000


class Cell(NamedTuple):
    """A model, the sizes of the classes, and the columns and distance of the populations.

    With several `rows` the sizes count patients, who share half of the variance of their rows.
    """

    model: str
    positives: int
    negatives: int
    columns: int
    distance: float
    rows: int = 1


CHOSEN = (
    Cell("LDA", 10, 90, 2, 0.0),
    Cell("LDA", 6, 94, 2, 1.38),
    Cell("SVC", 6, 94, 2, 1.38),
    Cell("LDA", 6, 54, 2, 3.0),
    Cell("SVC", 6, 54, 2, 2.0),
    Cell("LDA", 30, 30, 5, 1.0),
)
CONFIRMED = (
    Cell("NB", 8, 72, 3, 0.0),
    Cell("LDA", 5, 95, 5, 2.5),
    Cell("LDA", 8, 52, 5, 1.5),
    Cell("LDA", 6, 94, 10, 0.0),
    Cell("LDA", 12, 88, 2, 1.0),
    Cell("LDA", 10, 190, 10, 2.0),
    Cell("LDA", 12, 48, 3, 0.0, rows=5),
    Cell("LDA", 12, 48, 3, 1.5, rows=5),
)


def score_lda(X: np.ndarray, y: np.ndarray, train: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the scores of Z, for a training set of each data set, shape (n_sets, n)."""
    means, scatter = [], 0.0
    for own in (~y, y):
        weight = (train & own)[:, :, None]
        means.append((X * weight).sum(axis=1) / weight.sum(axis=1))
        centered = (X - means[-1][:, None]) * weight
        scatter = scatter + np.swapaxes(centered, 1, 2) @ centered
    covariance = scatter / (train.sum(axis=1) - 2)[:, None, None]
    coefficient = np.linalg.solve(covariance, (means[1] - means[0])[:, :, None])
    return ((Z - (means[0] + means[1])[:, None] / 2) @ coefficient)[:, :, 0]


def score_bayes(X: np.ndarray, y: np.ndarray, train: np.ndarray, Z: np.ndarray) -> np.ndarray:
    score = 0.0
    for own, sign in ((~y, -1), (y, 1)):
        weight = (train & own)[:, :, None]
        count = weight.sum(axis=1)
        mean = ((X * weight).sum(axis=1) / count)[:, None]
        variance = (((X - mean) ** 2 * weight).sum(axis=1) / count)[:, None]
        score = score - sign * ((Z - mean) ** 2 / variance + np.log(variance)).sum(axis=2) / 2
    return score


def score_svc(X: np.ndarray, y: np.ndarray, train: np.ndarray, Z: np.ndarray) -> np.ndarray:
    sets = zip(X, train, Z, strict=True)
    return np.array([SVC().fit(x[own], y[own]).decision_function(z) for x, own, z in sets])


SCORES = {"LDA": score_lda, "NB": score_bayes, "SVC": score_svc}


def draw(rng: np.random.Generator, cell: Cell, n_sets: int, y: np.ndarray) -> np.ndarray:
    X = rng.normal(size=(n_sets, len(y), cell.columns))
    if cell.rows > 1:
        of_patient = rng.normal(size=(n_sets, len(y) // cell.rows, cell.columns))
        X = (X + np.repeat(of_patient, cell.rows, axis=1)) / np.sqrt(2)
    X[:, :, 0] += cell.distance * y
    return X


def draw_folds(rng: np.random.Generator, cell: Cell, n_sets: int) -> np.ndarray:
    """Return the stratified fold of each sample or patient, shape (n_sets, n)."""
    k = min(N_FOLDS, cell.positives)
    sides = [(np.arange(m) + at) % k for m, at in zip(cell[1:3], (0, cell[1]), strict=True)]
    return np.concatenate([rng.permuted(np.tile(s, (n_sets, 1)), axis=1) for s in sides], axis=1)


def run_cell(seed: int, cell: Cell, n_sets: int) -> dict[str, Any]:
    """Return the row of a cell."""
    rng, n_units = np.random.default_rng(seed), cell.positives + cell.negatives
    unit = np.repeat(np.arange(n_units), cell.rows)
    n, y, score = len(unit), unit < cell.positives, SCORES[cell.model]
    X = draw(rng, cell, n_sets, y)
    # out-of-fold scores
    fold, scores = np.empty((2, n_sets, N_REPEATS, n))
    for repeat in range(N_REPEATS):
        fold[:, repeat] = draw_folds(rng, cell, n_sets)[:, unit]
        for k in range(N_FOLDS):
            test = fold[:, repeat] == k
            if test.any():
                scores[:, repeat] = np.where(test, score(X, y, ~test, X), scores[:, repeat])
    fold += N_FOLDS * np.arange(N_REPEATS)[:, None]
    # area of the model trained on all samples
    truth, true = np.full(n_sets, 0.5), np.arange(2 * N_TEST) < N_TEST
    if cell.distance:
        test = draw(rng, cell, n_sets, true)
        of_test = score(X, y, np.ones((n_sets, n), dtype=bool), test)
        truth = np.array([roc_auc_score(true, each) for each in of_test])
    # intervals; the inflation of patients is at least that of random splits
    groups = np.tile(unit, N_REPEATS) if cell.rows > 1 else None
    inflation = 1.0 if cell.rows > 1 else 1.15 + 8 / n
    row, every, found = np.tile(np.arange(n), N_REPEATS), np.arange(n), []
    repeats = [slice(n * repeat, n * (repeat + 1)) for repeat in range(N_REPEATS)]
    sizes = float(cell.positives), float(cell.negatives)
    for models, predicted in zip(fold.astype(int), scores, strict=True):
        folds = Folds(row, models.ravel(), every, repeats, inflation)
        sample = Sample(y[row], predicted.ravel(), groups=groups, folds=folds)
        ranking, noise = rank_out_of_fold(sample, sample.y_true)
        limits = close_area(ranking, sample, noise)["score"][0](0.95)
        one = area_interval(ranking.value, area_variance(ranking.value, sizes) ** 0.5, sizes, 0.95)
        found.append((*limits, ranking.value, one[1] - one[0]))
    low, high, area, alone = np.array(found).T
    width, expected = (high - low) / alone, area_variance(float(truth.mean()), sizes) ** 0.5
    shares = {
        "coverage": np.mean((low <= truth) & (truth <= high)),
        "width": np.median(width),
        "width_90": np.quantile(width, 0.9),
        "above": np.mean(low > 0.5),
        "spread": np.std(area - truth) / expected,
    }
    use = {"use": "chosen" if cell in CHOSEN else "confirmed"}
    return use | cell._asdict() | {"sets": n_sets} | {k: f"{x:.3f}" for k, x in shares.items()}


def main() -> None:
    """Measure all cells, and store one row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=400)
    n_sets = parser.parse_args().sets
    with RESULTS.open("w", newline="") as file:
        writer = None
        for seed, cell in enumerate(CHOSEN + CONFIRMED):
            row = run_cell(seed, cell, n_sets)
            if writer is None:
                writer = csv.DictWriter(file, row, lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            print(*row.values(), sep="  ", flush=True)


if __name__ == "__main__":
    main()
