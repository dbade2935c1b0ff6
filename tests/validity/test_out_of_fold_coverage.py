"""Do the intervals of the metrics of `evaluate` hold the metrics of the rule fitted to all?

Two Gaussian classes, linear discriminant analysis; the truth is on 20,000 new samples.
"""

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn import metrics as sk
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import skeval

METRICS = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "matthews_corrcoef": sk.matthews_corrcoef,
}


def draw(rng, n, rate, area):
    while True:
        y = (rng.random(n) < rate).astype(int)
        if 5 <= y.sum() <= n - 5:
            X = rng.normal(size=(n, 5))
            X[:, 0] += np.sqrt(2) * norm.ppf(area) * y
            return X, y


def count_covered(n, rate, area, n_sets):
    """Return in how many sets each interval held the truth."""
    rng = np.random.default_rng([n, int(100 * rate), int(100 * area)])
    X_new, y_new = draw(rng, 20000, rate, area)
    held = dict.fromkeys([*METRICS, "roc_auc", "brier_score"], 0)
    options = {"n_permutations": 0, "n_bootstraps": 2, "leave_one_out": False}
    for seed in range(n_sets):
        X, y = draw(rng, n, rate, area)
        model = LinearDiscriminantAnalysis()
        report = skeval.evaluate(model, X, y, random_state=seed, **options)
        model.fit(X, y)
        predicted, score = model.predict(X_new), model.predict_proba(X_new)[:, 1]
        true = {name: function(y_new, predicted) for name, function in METRICS.items()}
        true["roc_auc"] = sk.roc_auc_score(y_new, score)
        true["brier_score"] = sk.brier_score_loss(y_new, score)
        for each in report.metrics:
            if each.name in held:
                held[each.name] += each.interval.low <= true[each.name] <= each.interval.high
    return held


def test_they_hold_them():
    for name, held in count_covered(50, 0.5, 0.9, 8).items():
        assert binom.cdf(held, 8, 0.93) > 1e-3, (name, held)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rate", "area"), [(50, 0.5, 0.9), (200, 0.1, 0.9), (50, 0.1, 0.9)])
def test_they_hold_them_in_more_sets(n, rate, area):
    for name, held in count_covered(n, rate, area, 150).items():
        assert binom.cdf(held, 150, 0.93) > 1e-3, (name, held)
