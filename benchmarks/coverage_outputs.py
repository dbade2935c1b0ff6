"""Coverage of the intervals of `error_interval` for several labels or outputs of a sample.

Labels share a latent variable, so that they are correlated within a sample. The risk is that of the
model fitted to all samples, on 5,000 new ones.

    python benchmarks/coverage_outputs.py --sets 200
"""

from __future__ import annotations

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skeval._adapters.runner import Runner
from skeval._resampling.inputs import resolve_loss, validate_inputs
from skeval.model_selection._interval_methods import collect_repeats, plan_repeats
from skeval.utils._checks import root_seed

RESULTS = Path(__file__).parent / "results" / "coverage_outputs.csv"
LEARNERS = {
    "ridge": RidgeClassifier(),
    "5-NN": KNeighborsClassifier(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "least squares": LinearRegression(),
}
N_SAMPLES, N_FEATURES, N_OUTPUTS = (50, 200), 5, 6
THRESHOLDS = np.array([0, 0, 0.5, 0.5, 1, 1.5])  # prevalences .5 to .2


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return features, and outputs with a common latent error."""
    X = rng.standard_normal((n, N_FEATURES))
    effects = np.eye(N_OUTPUTS, N_FEATURES) + 0.5
    shared = rng.standard_normal((n, 1))
    return X, X @ effects.T + shared + rng.standard_normal((n, N_OUTPUTS))


def estimate(learner, X, y, losses, seed):
    """Return what `error_interval` does for each loss, from one set of fits."""
    inputs = validate_inputs(learner, X, y, method="repeated_cv", several=True)
    folds = plan_repeats(inputs, root_seed(seed))
    outputs = list(Runner(inputs).each(folds.plan))
    of_loss = {
        loss: inputs.with_options(losses=(resolve_loss(loss, inputs.target),)) for loss in losses
    }
    return {
        loss: collect_repeats(folds._replace(inputs=own), outputs)[0]
        for loss, own in of_loss.items()
    }


def main() -> None:
    """Run all cells and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = []
    for (name, learner), n in product(LEARNERS.items(), N_SAMPLES):
        numbers = name == "least squares"
        losses = ("squared",) if numbers else ("hamming", "zero_one")
        covered = {loss: [] for loss in losses}
        for number in range(arguments.sets):
            rng = np.random.default_rng([n, number])
            (X, y), (new_X, new_y) = draw(n, rng), draw(5_000, rng)
            if not numbers:
                y, new_y = ((side > THRESHOLDS).astype(int) for side in (y, new_y))
            wrong = (new_y - learner.fit(X, y).predict(new_X)) ** 2
            risks = {"hamming": wrong.mean(), "squared": wrong.mean()}
            risks["zero_one"] = wrong.any(axis=1).mean()
            for loss, result in estimate(learner, X, y, losses, number).items():
                (low, high), risk = result.interval, risks[loss]
                covered[loss].append([low <= risk <= high, risk, result.value, high - low])
        for loss, table in covered.items():
            share, risk, value, width = np.mean(table, axis=0)
            row = {"learner": name, "samples": n, "loss": loss, "sets": arguments.sets}
            row |= {"coverage": share, "risk": risk, "estimate": value, "width": width}
            rows.append(
                {k: round(float(x), 4) if isinstance(x, float) else x for k, x in row.items()}
            )
            print(rows[-1], flush=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
