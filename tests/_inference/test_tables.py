"""The delta method and influences of labels against numerical gradients."""

from functools import partial

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from reference import metric_intervals as reference
from scipy.optimize import approx_fprime
from sklearn import metrics as sk
from sklearn.metrics import confusion_matrix, fbeta_score

from skeval._inference.areas import precision_influence
from skeval._inference.tables import (
    FScore,
    best_table,
    delta_variance,
    f_score_gradient,
    limits_of_class,
    mean_of_labels,
    score_limits,
)
from skeval.metrics import macro_fbeta_score, weighted_fbeta_score
from skeval.model_selection import metric_interval

AVERAGES = ["macro", "micro", "weighted", "log_inverse", np.array([0.2, 0.5, 0.3])]


@each_value
@pytest.mark.parametrize("value", ["precision", "recall", "f", "f_of_means"])
@pytest.mark.parametrize("average", AVERAGES, ids=[*AVERAGES[:4], "array"])
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_delta_equals_a_numerical_gradient(value, average, beta):
    table = np.array([[50, 4, 3, 1], [6, 20, 2, 2], [1, 2, 9, 0], [2, 1, 0, 7]], dtype=float)
    n = table.sum()
    for chosen in (np.ones(4, dtype=bool), np.array([True, False, True, True])):
        weights = average
        if not isinstance(average, str):
            weights = np.resize(average, chosen.sum())
            weights = weights / weights.sum()
        score = FScore(value, weights, beta, chosen)
        got, variance = delta_variance(table, score)

        def score_of(p, weights=weights, chosen=chosen):
            return reference.averaged_score(p, value, weights, beta, chosen, n)

        assert_allclose(got, score_of((table / n).tolist()), rtol=1e-12)
        expected = reference.numerical_variance((table / n).tolist(), score_of, n)
        assert_allclose(variance, expected, rtol=1e-6)


def test_scores_of_the_delta_method_are_those_of_the_metrics():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 80)
    p = np.where(rng.random(80) < 0.3, rng.integers(0, 3, 80), y)
    table = confusion_matrix(y, p).astype(float)
    everything = np.ones(3, dtype=bool)
    for average in ("macro", "micro", "weighted"):
        score = FScore("f", average, 2.0, everything)
        expected = fbeta_score(y, p, beta=2.0, average=average)
        assert_allclose(delta_variance(table, score)[0], expected)
    for average, metric in (("macro", macro_fbeta_score), ("log_inverse", weighted_fbeta_score)):
        score = FScore("f_of_means", average, 1.0, everything)
        assert_allclose(delta_variance(table, score)[0], metric(y, p))


def test_a_class_without_predictions_has_no_slope():
    table = np.array([[5.0, 0.0], [5.0, 0.0]])
    for value in ("precision", "f", "f_of_means"):
        for average in ("macro", "micro"):
            score = FScore(value, average, 1.0, np.array([False, True]))
            assert delta_variance(table, score) == (0.0, 0.0)


@each_value
@pytest.mark.parametrize("rare", [1e-3, 1e-12, 1e-60])
@pytest.mark.parametrize("radius", [0.01, 500.0])
def test_best_table_lies_at_the_edge_however_rarely_its_best_cell_was_seen(rare, radius):
    share = np.array([rare, 0.4, 0.6 - rare])
    best = best_table(share, np.array([1.0, 0.3, 0.0]), radius)
    assert_allclose([best.sum(), np.sum(share**2 / best)], [1, 1 + radius], rtol=1e-9)


def test_the_f_score_of_infinite_beta_is_the_recall():
    table = np.array([[20.0, 5], [10, 30]])
    score = FScore("f_of_means", "macro", np.inf, np.ones(2, dtype=bool))
    assert delta_variance(table, score)[0] == pytest.approx((20 / 25 + 30 / 40) / 2)


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


@pytest.mark.parametrize("value", ["precision", "recall", "f", "jaccard"])
@pytest.mark.parametrize("counts", [[[8, 3], [5, 24]], [[8, 0], [5, 27]], [[8, 3], [0, 9]]])
def test_limits_of_one_class_are_those_of_the_search(value, counts):
    score = FScore(value, "macro", 1.0, np.array([True, False]))
    share = np.array(counts) / np.sum(counts)
    assert score.has_closed_limits
    metric = partial(f_score_gradient, score=score, n=np.sum(counts))
    for radius in (0.02, 0.1, 0.5):
        found, expected = limits_of_class(score, share, radius), score_limits(metric, share, radius)
        assert found == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize(
    ("metric", "n_classes"),
    [
        (sk.cohen_kappa_score, 3),
        (partial(sk.cohen_kappa_score, weights="quadratic"), 3),
        (sk.matthews_corrcoef, 3),
        (partial(sk.f1_score, average="macro"), 3),
        (sk.f1_score, 2),
        (sk.jaccard_score, 2),
    ],
)
def test_standard_errors_are_those_of_the_jackknife(metric, n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 300)
    p = np.where(rng.random(300) < 0.7, y, rng.integers(0, n_classes, 300))
    # each sample left out once
    values = [metric(np.delete(y, i), np.delete(p, i)) for i in range(300)]
    expected = np.sqrt(299 / 300 * np.sum((values - np.mean(values)) ** 2))
    assert metric_interval(metric, y, p).standard_error == pytest.approx(expected, rel=0.03)
