"""What the verdicts of `evaluate` say of small data sets whose truth is known.

Each kind is drawn 12 times. "better" and "worse" are the numbers of verdicts that say so. A verdict
is false if the model trained on all samples is not better (or worse) than the reference, by the
metric that decides, on 20,000 further samples. Without signal, both are equal. "contradictions" are
verdicts whose words and interval (of the difference, or of the metric) disagree. A verdict that
begins with a warning says neither.

    python benchmarks/verdicts.py --sets 12
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import lfilter
from sklearn.base import clone, is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skeval import evaluate
from skeval.report._findings import judge

RESULTS = Path(__file__).parent / "results" / "verdicts.csv"
N_TEST = 20_000
Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


class Kind(NamedTuple):
    """A model, a function that draws n samples, their number, and the gain if it is known."""

    model: Any
    draw: Draw
    n: int
    gain: float | None = None
    options: Callable[[int], dict[str, Any]] = lambda n: {}


def classes(shares: list[float], shift: float, n_columns: int = 3, decimals: int = 9) -> Draw:
    """Classes with these shares in normal columns; each but the first moves a column of its own."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.choice(len(shares), size=n, p=shares)
        X = rng.normal(size=(n, n_columns))
        return (X + shift * np.eye(len(shares), n_columns, k=-1)[y]).round(decimals), y

    return draw


def patients(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Four rows of each patient, whose features do not tell the classes of patients apart."""
    X = np.repeat(rng.normal(size=(n // 4, 3)), 4, axis=0) + 0.2 * rng.normal(size=(n, 3))
    return X, np.repeat(rng.integers(0, 2, n // 4), 4)


def series(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Independent autoregressive features and target; the last value is the best forecast."""
    walks = lfilter([1], [1, -0.8], rng.normal(size=(n + 50, 3)), axis=0)[50:]
    return walks[:, 1:], walks[:, 0]


def outliers(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n) * np.where(rng.random(n) < 0.02, 15, 1)


LDA = LinearDiscriminantAnalysis()
KINDS = {
    "noise": Kind(KNeighborsClassifier(), classes([0.5, 0.5], 0), 60, 0.0),
    "rare noise": Kind(LDA, classes([0.9, 0.1], 0), 80, 0.0),
    "weak signal": Kind(LDA, classes([0.5, 0.5], 0.7), 60),
    "strong signal": Kind(GaussianNB(), classes([0.5, 0.5], 2), 40),
    "rare class": Kind(LDA, classes([0.88, 0.12], 2), 80),
    "four classes": Kind(GaussianNB(), classes([0.25] * 4, 2), 60),
    "groups": Kind(
        KNeighborsClassifier(1), patients, 80, 0.0, lambda n: {"groups": np.arange(n) // 4}
    ),
    "time": Kind(Ridge(), series, 80, -1.0, lambda n: {"time": np.arange(n)}),
    "outliers": Kind(Ridge(), outliers, 60),
    "ties": Kind(
        DecisionTreeClassifier(max_depth=3, random_state=0), classes([0.5, 0.5], 0, 3, 0), 60, 0.0
    ),
}


def find_gain(kind: Kind, data: tuple, rng: np.random.Generator, metric: str) -> float:
    """Return by how much the trained model is better than the reference on new samples."""
    if kind.gain is not None:
        return kind.gain
    model, (X, y) = clone(kind.model).fit(*data), kind.draw(rng, N_TEST)
    if metric == "roc_auc":
        score = model.predict_proba(X)
        return (
            float(roc_auc_score(y, score if score.shape[1] > 2 else score[:, 1], multi_class="ovr"))
            - 0.5
        )
    if is_classifier(model):
        return float(np.mean(model.predict(X) == y) - np.bincount(y).max() / len(y))
    return float(np.var(y) - np.mean((model.predict(X) - y) ** 2))


def count(name: str, n_sets: int) -> dict[str, Any]:
    """Return the row of a kind."""
    kind, row = KINDS[name], dict.fromkeys(("better", "worse", "false", "contradictions"), 0)
    for number in range(n_sets):
        rng = np.random.default_rng([list(KINDS).index(name), number])
        data = kind.draw(rng, kind.n)
        report = evaluate(clone(kind.model), *data, random_state=number, **kind.options(kind.n))
        said = {word: f"{word} than" in report.verdict for word in ("better", "worse")}
        finding, refused = judge(report), any(one.lead for one in report.warnings)
        # the interval that the words refer to; a larger difference of errors is worse
        if finding.reference == "chance":
            low, high = (x - finding.at for x in report.metrics[finding.metric].interval)
        else:
            low, high = -report.baseline.high, -report.baseline.low
        beyond = {"better": low > 0, "worse": high < 0}
        # a test on shuffled labels may still deny, and an area of noise is never worse
        denied = {"better": finding.permutation == "denied", "worse": finding.reference == "chance"}
        row["contradictions"] += any(
            said[word] > beyond[word]
            or (beyond[word] > said[word] and not (denied[word] or refused))
            for word in said
        )
        gain = find_gain(kind, data, rng, finding.metric)
        row["false"] += (said["better"] and gain <= 0) or (said["worse"] and gain >= 0)
        for word, spoken in said.items():
            row[word] += spoken
    return {"kind": name, "sets": n_sets} | row


def main() -> None:
    """Count the verdicts of all kinds, and store one row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=12)
    n_sets = parser.parse_args().sets
    warnings.simplefilter("ignore")
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(
            file,
            ["kind", "sets", "better", "worse", "false", "contradictions"],
            lineterminator="\n",
        )
        writer.writeheader()
        for name in KINDS:
            writer.writerow(row := count(name, n_sets))
            file.flush()
            print(*row.values(), sep="  ", flush=True)


if __name__ == "__main__":
    main()
