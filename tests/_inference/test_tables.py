"""The delta method and influences of labels against numerical gradients."""

import itertools
from functools import partial

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from reference import metric_intervals as reference
from scipy.optimize import approx_fprime
from scipy.stats import norm
from sklearn import metrics as sk
from sklearn.metrics import fbeta_score

from skeval._inference.tables import best_table
from skeval.metrics import macro_fbeta_score, micro_fbeta_score, weighted_fbeta_score
from skeval.model_selection import metric_interval

WEIGHTS = np.array([0.2, 0.4, 0.3, 0.1])
RATES = {"precision": sk.precision_score, "recall": sk.recall_score, "f": fbeta_score}
OF_MEANS = {
    "macro": macro_fbeta_score,
    "micro": micro_fbeta_score,
    "log_inverse": weighted_fbeta_score,
    "array": partial(weighted_fbeta_score, class_weight=WEIGHTS),
}


def metrics_of_means():
    """Yield a rate, the kind of its mean over classes, and the metric."""
    for value, average in itertools.product(RATES, ("macro", "micro", "weighted")):
        yield value, average, partial(RATES[value], average=average)
    for average, metric in OF_MEANS.items():
        yield "f_of_means", average, metric


@each_value
@pytest.mark.parametrize(("value", "average", "metric"), metrics_of_means())
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_errors_are_those_of_a_numerical_gradient(value, average, metric, beta):
    table = np.array([[50, 4, 3, 1], [6, 20, 2, 2], [1, 2, 9, 0], [2, 1, 0, 7]])
    n, share = table.sum(), (table / table.sum()).tolist()
    if value.startswith("f"):
        metric = partial(metric, beta=beta)
    for labels in ([0, 1, 2, 3], [0, 2, 3]):
        weights = average
        if average == "array":
            weights = WEIGHTS[labels] / WEIGHTS[labels].sum()
            metric = partial(metric, class_weight=weights)

        def score_of(p, weights=weights, labels=labels):
            return reference.averaged_score(p, value, weights, beta, np.isin(range(4), labels), n)

        chosen = partial(metric, labels=labels)
        found = metric_interval(chosen, *reference.counted(table), method="delta")
        assert found.value == pytest.approx(chosen(*reference.counted(table)), rel=1e-12)
        assert found.value == pytest.approx(score_of(share), rel=1e-12)
        expected = reference.numerical_variance(share, score_of, n)
        assert found.standard_error**2 == pytest.approx(expected, rel=1e-6)


@pytest.mark.filterwarnings("ignore:.*ill-defined", "ignore:.*undefined")
def test_a_class_without_predictions_has_no_slope():
    y, p = reference.counted([[5, 0], [5, 0]])
    for metric in (sk.precision_score, sk.f1_score, macro_fbeta_score):
        found = metric_interval(partial(metric, labels=[1], **average_of(metric)), y, p)
        assert (found.value, found.standard_error) == (0.0, 0.0)


def average_of(metric):
    """Return the options of a mean over classes of a metric of scikit-learn."""
    return {} if metric is macro_fbeta_score else {"average": "macro", "zero_division": 0}


@each_value
@pytest.mark.parametrize("rare", [1e-3, 1e-12, 1e-60])
@pytest.mark.parametrize("radius", [0.01, 500.0])
def test_best_table_lies_at_the_edge_however_rarely_its_best_cell_was_seen(rare, radius):
    share = np.array([rare, 0.4, 0.6 - rare])
    best = best_table(share, np.array([1.0, 0.3, 0.0]), radius)
    assert_allclose([best.sum(), np.sum(share**2 / best)], [1, 1 + radius], rtol=1e-9)


def test_the_f_score_of_infinite_beta_is_the_recall():
    y, p = reference.counted([[20, 5], [10, 30]])
    found = metric_interval(partial(macro_fbeta_score, beta=np.inf), y, p)
    assert found.value == pytest.approx((20 / 25 + 30 / 40) / 2)


@pytest.mark.parametrize("seed", [6, 7, 11, 12, 16])
def test_the_influence_on_average_precision_is_its_derivative_by_the_weights(seed):
    rng = np.random.default_rng(seed)
    positive, score = rng.random(30) < 0.7, rng.normal(size=30).round(1)
    weight = rng.random(30) + 0.5

    def measure(weight):
        return sk.average_precision_score(positive, score, sample_weight=weight)

    found = metric_interval(sk.average_precision_score, positive, score, sample_weight=weight)
    assert found.value == pytest.approx(measure(weight))
    influence = weight * approx_fprime(weight, measure, 1e-7)
    assert found.standard_error**2 == pytest.approx(30 / 29 * influence @ influence, rel=1e-5)


@pytest.mark.parametrize("name", ["f1", "jaccard"])
@pytest.mark.parametrize("counts", [[[8, 3], [5, 24]], [[8, 0], [5, 27]], [[8, 3], [0, 9]]])
def test_limits_of_one_class_are_those_of_a_search(name, counts):
    y, p = reference.counted(counts)
    both = 2 if name == "f1" else 1  # of the samples that are of the class and called so

    def score(p):
        return both * p[..., 0, 0] / (both * p[..., 0, 0] + p[..., 0, 1] + p[..., 1, 0])

    metric = partial(getattr(sk, f"{name}_score"), pos_label=0)
    for z in (0.9, 2.0, 4.4):
        low, high = metric_interval(metric, y, p, confidence_level=2 * norm.cdf(z) - 1).interval
        share, radius = np.array(counts) / np.sum(counts), z**2 / np.sum(counts)
        for end, sign in ((low, 1), (high, -1)):
            signed = reference.with_gradient(lambda p, sign=sign: sign * score(p))
            found = reference.smallest_in_region(signed, share, radius)
            assert sign * end == pytest.approx(found, abs=2e-5)


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
