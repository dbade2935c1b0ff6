"""Intervals of `bootstrap_score` cover the score of the fitted model; long: benchmarks/."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import get_scorer

from skeval.model_selection import bootstrap_score

NAMES = ["roc_auc", "f1", "accuracy"]


def draw(rng, n):
    X = rng.standard_normal((n, 5))
    return X, (rng.random(n) < expit(X @ [1, 0.5, 0.5, 0, 0])).astype(int)


@pytest.mark.parametrize("n_sets", [25, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method", [".632+", "optimism"])
def test_coverage(n_sets, method):
    names = NAMES if n_sets > 25 or method == "optimism" else NAMES[1:]  # areas take most time
    model, covered = LinearDiscriminantAnalysis(), dict.fromkeys(names, 0)
    for number in range(n_sets):
        rng = np.random.default_rng([1, number])
        (X, y), (new_X, new_y) = draw(rng, 60), draw(rng, 4000)
        results = bootstrap_score(
            model, X, y, scoring=names, method=method, n_resamples=20, random_state=number
        )
        model.fit(X, y)
        for name, result in results.items():
            covered[name] += get_scorer(name)(model, new_X, new_y) in result.interval
    least = binom.ppf(1e-4, n_sets, 0.93)
    assert min(covered.values()) >= least, covered
