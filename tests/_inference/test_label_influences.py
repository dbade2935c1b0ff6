"""Influences of metrics over several labels are their derivatives."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn import metrics as sk

from skeval._inference.areas import precision_influence
from skeval._inference.tables import FScore, mean_of_labels


def test_gradients_are_those_of_differences():
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.full(12, 5.0))  # no cell is nearly empty
    for value in ("precision", "recall", "f", "jaccard"):
        for average in ("macro", "weighted"):
            score = FScore(value, average, 1.0, np.ones(2, dtype=bool))

            def measure(flat, score=score):
                return mean_of_labels(flat.reshape(3, 2, 2), score)[0]

            gradient = mean_of_labels(share.reshape(3, 2, 2), score)[1].ravel()
            np.testing.assert_allclose(gradient, approx_fprime(share, measure, 1e-7), atol=1e-5)


def test_the_influence_on_average_precision_is_its_derivative_by_the_weights():
    rng = np.random.default_rng(0)
    positive, score = rng.random(30) < 0.4, rng.normal(size=30).round(1)
    weight = rng.random(30) + 0.5

    def measure(weight):
        return sk.average_precision_score(positive, score, sample_weight=weight)

    value, influence = precision_influence(positive, score, weight)
    assert value == pytest.approx(measure(weight))
    np.testing.assert_allclose(influence, weight * approx_fprime(weight, measure, 1e-7), atol=1e-6)
    assert influence.sum() == pytest.approx(0, abs=1e-12)
