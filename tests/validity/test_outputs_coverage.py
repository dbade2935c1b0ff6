"""Intervals of the errors of several labels cover the risk; long: benchmarks/."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import RidgeClassifier

from skeval.model_selection import error_interval


def draw(rng, n):
    X = rng.standard_normal((n, 4))
    shared = rng.standard_normal((n, 1))
    latent = X @ (np.eye(4) + 0.5) + shared + rng.standard_normal((n, 4))
    return X, (latent > [0, 0.5, 1, 1.5]).astype(int)


@pytest.mark.parametrize("n_sets", [20, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("loss", ["hamming", "zero_one"])
def test_coverage(n_sets, loss):
    model, n_covered, widths = RidgeClassifier(), 0, []
    for number in range(n_sets):
        rng = np.random.default_rng([2, number])
        (X, y), (new_X, new_y) = draw(rng, 80), draw(rng, 4000)
        result = error_interval(model, X, y, loss=loss, n_repeats=3, random_state=number)
        wrong = new_y != model.fit(X, y).predict(new_X)
        risk = wrong.mean() if loss == "hamming" else wrong.any(axis=1).mean()
        n_covered += risk in result.interval
        widths.append(result.interval.high - result.interval.low)
    assert n_covered >= binom.ppf(1e-4, n_sets, 0.93)
    assert np.mean(widths) < 0.3
