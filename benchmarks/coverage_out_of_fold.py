"""Coverage of the intervals of metrics of out-of-fold predictions, as `evaluate` shows them.

Beside them, those of the corrected t of `score_interval`, on the same samples.

Two Gaussian classes in p dimensions, of which the first tells them apart, or numbers that the
first feature moves; the truth is the metric of the rule fitted to the whole sample, on a large
test sample. Where it or the interval is undefined (a class is never predicted) a sample is not
counted. An area of .5, or an effect of 0, is a cell without signal.

    python benchmarks/coverage_out_of_fold.py --sets 200 --out results/coverage_out_of_fold.csv
    python benchmarks/coverage_out_of_fold.py --sets 150 --n 80 --rates 0.5 0.1 --areas 0 0.5 \\
        --estimators lda nb knn tree dummy lasso ridge ols --out results/coverage_without_signal.csv
    python benchmarks/coverage_out_of_fold.py --update roc_auc r2 \\
        --out results/coverage_out_of_fold.csv

The last command measures the rows of these metrics again, with the number of sets that they have.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import norm
from sklearn.base import is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval._adapters.runner import Runner
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.inputs import validate_inputs
from skeval._resampling.predictions import Predictions
from skeval._resampling.sampling_units import units_of, validate_data
from skeval.model_selection import score_interval
from skeval.model_selection._interval_methods import plan_repeats, predict_repeats
from skeval.model_selection._score_interval import measure_metrics
from skeval.utils._checks import root_seed

ESTIMATORS = {
    "lda": LinearDiscriminantAnalysis(),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "svm": SVC(kernel="linear"),
    "nb": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "knn": KNeighborsClassifier(),
    "ridge": Ridge(),
    "ols": LinearRegression(),
    "lasso": Lasso(alpha=0.1),
    "dummy": DummyRegressor(),
}
SCORES = ("accuracy", "balanced_accuracy", "f1_macro", "roc_auc", "average_precision")
"""Metrics that the corrected t is measured on too; of numbers it is R2."""
KINDS = "out_of_fold", "corrected_t"


def draw(rng, n, rate, shift, p):
    """Draw features and labels, with 4 members of each class at least."""
    while True:
        y = (rng.random(n) < rate).astype(int)
        if 4 <= y.sum() <= n - 4:
            X = rng.standard_normal((n, p))
            X[:, 0] += shift * y
            return X, y


def draw_numbers(rng, n, signal, p):
    X = rng.standard_normal((n, p))
    return X, signal * X[:, 0] + rng.standard_normal(n)


def measure(estimator, X, y, seed, kind, only=None):
    """Return the metrics of repeated cross-validation, or those of subsamplings."""
    if kind == "corrected_t":
        scores = ["r2"] if is_regressor(estimator) else list(SCORES)
        return score_interval(estimator, X, y, scoring=scores, method=kind, random_state=seed)
    task = validate_inputs(estimator, X, y, method="repeated_cv")
    plan = plan_repeats(task, root_seed(seed), n_folds=10, n_repeats=10).plan
    answers = list(Runner(task).each(plan, FitRequest()))
    return measure_metrics(predict_repeats(task, plan, answers), 0.95, only)


def truth(estimator, X, y, test, only=None):
    """Return the metrics of the rule fitted to all samples, on a large test sample, by name."""
    model = estimator.fit(X, y)
    answered = None
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            answered = getattr(model, method)(test[0])
            break
    _, target, _ = validate_data(estimator, *test)
    n = len(target)
    zeros = np.zeros(n, dtype=int)
    predicted = target.encode(model.predict(test[0]), n)
    data = target, units_of(target), np.ones(n), np.arange(n), zeros, zeros
    found = Predictions(*data, predicted, np.zeros(n), answered, {}, [], 2, 1.0, 1.0, 2)
    return {each.name: each.value for each in measure_metrics(found, 0.95, only).values()}


def run_cell(name, n, rate, area, p, n_sets, n_test, seed, kinds, only=None):
    rng = np.random.default_rng([seed, n, int(1000 * rate), int(1000 * area), p])
    numbers = is_regressor(ESTIMATORS[name])
    shift = np.sqrt(2) * norm.ppf(area)
    make = (draw_numbers, (area, p)) if numbers else (draw, (rate, shift, p))
    test = make[0](rng, n_test, *make[1])
    held, widths, errors = defaultdict(list), defaultdict(list), defaultdict(list)
    for repetition in range(n_sets):
        X, y = make[0](rng, n, *make[1])
        true = truth(ESTIMATORS[name], X, y, test, only)
        for kind in kinds:
            for each in measure(ESTIMATORS[name], X, y, repetition, kind, only).values():
                interval, key = each.interval, (each.name, kind)
                if np.isnan([true[each.name], interval.low]).any():
                    continue
                held[key].append(interval.low <= true[each.name] <= interval.high)
                widths[key].append(interval.high - interval.low)
                errors[key].append(each.value - true[each.name])
    for (metric, kind), hits in held.items():
        yield {
            "estimator": name,
            "n": n,
            "rate": rate,
            "area": area,
            "p": p,
            "metric": metric,
            "method": kind,
            "sets": len(hits),
            "coverage": round(float(np.mean(hits)), 3),
            "width": round(float(np.nanmean(widths[metric, kind])), 4),
            "bias": round(float(np.nanmean(errors[metric, kind])), 4),
        }


def update(path, metrics, n_test, seed):
    """Measure the rows of some metrics of a file again, and store each when it is done."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for at, row in enumerate(rows):
        if row["metric"] not in metrics or row["method"] != KINDS[0]:
            continue
        cell = row["estimator"], int(row["n"]), float(row["rate"]), float(row["area"])
        sizes = int(row["p"]), int(row["sets"]), n_test, seed
        (rows[at],) = run_cell(*cell, *sizes, KINDS[:1], {row["metric"]})
        print(*row.values(), "->", *list(rows[at].values())[7:], flush=True)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--estimators", nargs="+", default=["lda", "svm"], choices=ESTIMATORS)
    parser.add_argument("--n", nargs="+", type=int, default=[50, 200])
    parser.add_argument("--rates", nargs="+", type=float, default=[0.5, 0.1, 0.02])
    parser.add_argument("--areas", nargs="+", type=float, default=[0.6, 0.9, 0.98])
    parser.add_argument("--p", type=int, default=5)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--test", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--methods", nargs="+", default=KINDS[:1], choices=KINDS)
    parser.add_argument("--out")
    parser.add_argument("--update", nargs="+", metavar="METRIC")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.update:
        update(Path(options.out), options.update, options.test, options.seed)
        return
    file = Path(options.out).open("w", newline="") if options.out else sys.stdout  # noqa: SIM115
    writer = None
    for name in options.estimators:
        for n in options.n:
            for rate in options.rates:
                if n * rate < 4:
                    continue  # 10 folds would leave training sets of one class
                for area in options.areas:
                    cell = name, n, rate, area, options.p, options.sets, options.test
                    for row in run_cell(*cell, options.seed, options.methods):
                        if writer is None:
                            writer = csv.DictWriter(file, row)
                            writer.writeheader()
                        writer.writerow(row)
                    file.flush()


if __name__ == "__main__":
    main()
