"""What a report says of its main interval."""

from __future__ import annotations

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import skeval


def test_log_loss_of_certain_probabilities_is_not_trusted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.where(np.arange(60) < 30, "case", "none")
    X[y == "case", 0] += 1.5
    certain, smooth = (
        str(skeval.evaluate(model, X, y, loss="log_loss", n_permutations=0, random_state=0))
        for model in (KNeighborsClassifier(3), LinearDiscriminantAnalysis())
    )
    assert "some predicted probabilities are 0" in certain
    assert "probabilities are 0" not in smooth


def draw_steps(n, n_high, slope=0.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    high = X[:, 0] > np.sort(X[:, 0])[-n_high - 1]
    return X, 30.0 * high + slope * X[:, 1] + rng.normal(size=n)


def test_rare_large_errors_are_named():
    rare = skeval.evaluate(KNeighborsRegressor(3), *draw_steps(80, 3), random_state=0)
    if not np.isfinite(rare.answer.interval.low):
        assert rare.answer.details["caution"] in str(rare)
        assert "few samples carry most of it" in rare.verdict
    plain = skeval.evaluate(KNeighborsRegressor(5), *draw_steps(80, 0, slope=3.0), random_state=0)
    assert "large errors rarer than 1 in 26 samples" in str(plain)
