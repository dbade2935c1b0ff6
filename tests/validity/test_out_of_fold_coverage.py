"""Do the intervals of the metrics of `evaluate` hold the metrics of the rule fitted to all?

Two Gaussian classes, linear discriminant analysis; the truth is on 20,000 new samples.
"""

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn import metrics as sk
from sklearn.base import clone, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

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
    options = {"n_permutations": 0, "n_bootstraps": 2}
    for seed in range(n_sets):
        X, y = draw(rng, n, rate, area)
        model = LinearDiscriminantAnalysis()
        report = skeval.evaluate(model, X, y, random_state=seed, **options)
        model.fit(X, y)
        predicted, score = model.predict(X_new), model.predict_proba(X_new)[:, 1]
        true = {name: function(y_new, predicted) for name, function in METRICS.items()}
        true["roc_auc"] = sk.roc_auc_score(y_new, score)
        true["brier_score"] = sk.brier_score_loss(y_new, score)
        for each in report.metrics.values():
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


def count_covered_without_signal(estimator, n_sets, names):
    """Return in how many sets intervals held the truth, and in how many that of R2 was above 0.

    Nothing tells the target: the metric of a rule varies with its training set alone.
    """
    rng = np.random.default_rng(3)
    numbers = is_regressor(estimator)
    held, above = dict.fromkeys(names, 0), 0
    X_new = rng.normal(size=(5000, 10))
    y_new = rng.normal(size=5000) if numbers else np.arange(5000) % 2
    for seed in range(n_sets):
        X = rng.normal(size=(80, 10))
        y = rng.normal(size=80) if numbers else np.arange(80) % 2
        options = {"n_permutations": 0, "n_bootstraps": 2}
        report = skeval.evaluate(estimator, X, y, random_state=seed, **options)
        predicted = clone(estimator).fit(X, y).predict(X_new)
        # About the true mean and variance, which no test sample moves.
        true = {"r2": 1 - np.mean((y_new - predicted) ** 2) / np.mean(y_new**2)} if numbers else {}
        if not numbers:
            true = {f"recall, {label}": np.mean(predicted == label) for label in (0, 1)}
        for each in report.metrics.values():
            if each.name in names:
                held[each.name] += each.interval.low <= true[each.name] <= each.interval.high
                above += each.name == "r2" and each.interval.low > 0
    return held, above


def test_the_mean_explains_nothing_and_its_interval_says_so():
    held, above = count_covered_without_signal(DummyRegressor(), 14, ["r2"])
    assert binom.cdf(held["r2"], 14, 0.93) > 1e-3
    assert binom.sf(above - 1, 14, 0.05) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [DummyRegressor(), Lasso(alpha=0.1), Ridge(), LinearRegression()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_r2_without_signal_in_more_sets(estimator):
    held, above = count_covered_without_signal(estimator, 150, ["r2"])
    assert binom.cdf(held["r2"], 150, 0.93) > 1e-3
    assert binom.sf(above - 1, 150, 0.05) > 1e-3


@pytest.mark.slow
def test_the_recall_of_a_rule_that_guesses_in_more_sets():
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    held, _ = count_covered_without_signal(tree, 150, ["recall, 0", "recall, 1"])
    assert min(binom.cdf(count, 150, 0.93) for count in held.values()) > 1e-3
