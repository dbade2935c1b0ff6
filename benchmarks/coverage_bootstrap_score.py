"""Coverage of the intervals of `bootstrap_score` for the score of the fitted model.

One set of resamples serves all methods and scores. Prints, for each population, learner and score,
the mean of the score on new samples, and for each method the bias, the coverage of nominal 95 %
intervals, and the root mean squared deviation over the mean standard error.

    python benchmarks/coverage_bootstrap_score.py [n_sets]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skeval._inference.errors import combine
from skeval._resampling.inputs import validate_inputs
from skeval.model_selection import bootstrap_score
from skeval.model_selection._bootstrap import limit_score, read_scorer
from skeval.model_selection._estimates import NamedScore

METHODS = ("oob", ".632", ".632+", "optimism")
CLASSES = ("roc_auc", "f1", "calibration_slope")
# no-information scores: exact for areas and slopes, typical for F1 and R2
UNRELATED = {"roc_auc": 0.5, "f1": 0.5, "calibration_slope": 0.0, "r2": -1.0}


def draw_logistic(rng, n, p, effect, share):
    """Draw classes with a logistic effect of five features; about a share of `share` are events."""
    X = rng.standard_normal((n, p))
    odds = effect * X[:, :5].sum(axis=1) + np.log(share / (1 - share))
    return X, (rng.random(n) < expit(odds)).astype(int)


def draw_linear(rng, n, p, effect, share):
    """Draw numbers: five features with an effect."""
    X = rng.standard_normal((n, p))
    return X, effect * X[:, :5].sum(axis=1) + rng.standard_normal(n)


LOGISTIC = LogisticRegression(C=1e4, max_iter=500)
CELLS = {
    "logistic, n=60, p=4": (LOGISTIC, draw_logistic, 60, 4, 0.5, 0.5),
    "logistic, n=100, p=5": (LOGISTIC, draw_logistic, 100, 5, 0.5, 0.5),
    "logistic, n=100, p=15": (LOGISTIC, draw_logistic, 100, 15, 0.5, 0.5),
    "logistic, n=200, p=10": (LOGISTIC, draw_logistic, 200, 10, 0.5, 0.5),
    "logistic, n=200, p=10, 1:4": (LOGISTIC, draw_logistic, 200, 10, 0.5, 0.2),
    "logistic, n=400, p=10": (LOGISTIC, draw_logistic, 400, 10, 0.5, 0.5),
    "logistic, n=200, p=10, strong": (LOGISTIC, draw_logistic, 200, 10, 1.0, 0.5),
    "penalized, n=100, p=15": (LogisticRegression(C=0.05), draw_logistic, 100, 15, 0.5, 0.5),
    "LDA, n=100, p=5": (LinearDiscriminantAnalysis(), draw_logistic, 100, 5, 0.5, 0.5),
    "GaussianNB, n=100, p=15": (GaussianNB(), draw_logistic, 100, 15, 0.5, 0.5),
    "tree of depth 3, n=200, p=10": (
        DecisionTreeClassifier(max_depth=3, random_state=0),
        draw_logistic,
        200,
        10,
        0.5,
        0.5,
    ),
    "forest, n=100, p=5": (
        RandomForestClassifier(25, random_state=0),
        draw_logistic,
        100,
        5,
        0.5,
        0.5,
    ),
    "least squares, n=100, p=5": (LinearRegression(), draw_linear, 100, 5, 0.5, 0.5),
    "least squares, n=100, p=30": (LinearRegression(), draw_linear, 100, 30, 0.5, 0.5),
}


def run_cell(cell, n_sets, n_resamples=80, n_new=20_000, seed=0):
    """Return, for each score, the true scores and for each method values, errors and coverage."""
    estimator, draw, n, p, effect, share = cell
    names = CLASSES if draw is draw_logistic else ("r2",)
    rows = {name: [] for name in names}
    for number in range(n_sets):
        rng = np.random.default_rng([seed, number])
        X, y = draw(rng, n, p, effect, share)
        new_X, new_y = draw(rng, n_new, p, effect, share)
        model = estimator.fit(X, y)
        inputs = validate_inputs(estimator, X, y, with_loss=False)
        results = bootstrap_score(
            estimator,
            X,
            y,
            scoring=list(names),
            method="optimism",
            n_resamples=n_resamples,
            random_state=number,
        )
        for name, result in results.items():
            true = read_scorer(inputs, NamedScore(name, name))(model, new_X, new_y)
            gamma = UNRELATED[name]
            values = {"optimism": result.value}
            for method in METHODS[:3]:
                combined = combine(method, -result.extra.resubstitution, -result.extra.oob, -gamma)
                values[method] = result.extra.oob if method == "oob" else -combined.error
            for method in METHODS:
                limits = limit_score(values[method], result.standard_error, n - 1.0, result.bounds)
                low, high = next(iter(limits.values()))(0.95)
                row = (true, values[method], result.standard_error, low <= true <= high, high - low)
                rows[name].append(row)
    return {name: np.array(of, dtype=float).reshape(n_sets, 4, 5) for name, of in rows.items()}


def main():
    n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    warnings.simplefilter("ignore")
    print(f"{n_sets} data sets; for each method: bias, coverage, deviation / standard error, width")
    for title, cell in CELLS.items():
        print(title)
        for name, table in run_cell(cell, n_sets // (4 if "forest" in title else 1)).items():
            true = table[:, :, 0]
            line = f"  {name:22s} {np.nanmean(true):6.3f} "
            for at, method in enumerate(METHODS):
                deviation = table[:, at, 1] - true[:, at]
                ratio = np.sqrt(np.nanmean(deviation**2)) / np.nanmean(table[:, at, 2])
                line += (
                    f" | {method:8s} {np.nanmean(deviation):+.3f} {np.nanmean(table[:, at, 3]):.3f}"
                    f" {ratio:.2f} {np.nanmedian(table[:, at, 4]):.3f}"
                )
            print(line, flush=True)


if __name__ == "__main__":
    main()
