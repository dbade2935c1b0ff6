"""Intervals and paired tests of multi-class areas: value, influence, coverage and size."""

from functools import partial

import numpy as np
import pytest
from helpers.coverage import consistent_with
from numpy.testing import assert_allclose
from sklearn.metrics import get_scorer, roc_auc_score

from skeval.metrics._table import Sample, rank_classes
from skeval.model_selection import compare_predictions, metric_interval

SCORERS = ("roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted")


def draw(rng, n, signal, shares=(0.5, 0.3, 0.2)):
    """Return classes and the probabilities of two equally good systems with a shared part."""
    k = len(shares)
    y = np.r_[np.repeat(np.arange(k), 2), rng.choice(k, n - 2 * k, p=shares)]
    shared = rng.normal(size=(n, k)) + signal * np.eye(k)[y]
    systems = [np.exp(shared + rng.normal(size=(n, k))) for _ in range(2)]
    return y, *(system / system.sum(axis=1, keepdims=True) for system in systems)


@pytest.mark.parametrize("name", SCORERS)
def test_the_value_is_scikit_learns_and_no_resample_is_drawn(name):
    y, p, other = draw(np.random.default_rng(0), 80, 1.0)
    names, scorer = np.array(["b", "c", "a"])[y], get_scorer(name)
    order = [2, 0, 1]  # columns in the order of the sorted names
    result = metric_interval(name, names, p[:, order])
    assert_allclose(result.value, scorer._score_func(names, p[:, order], **scorer._kwargs))
    assert result.method == "score"
    assert len(result.replicates) == 0
    comparison = compare_predictions(y, {"a": p, "b": other}, metric=name)
    assert comparison.method == "delong"
    assert_allclose(comparison.values[0], result.value)
    joint = compare_predictions(y, {"a": p, "b": other}, metric=name, method="max_t")
    expected = list(comparison.difference.interval)
    assert_allclose(list(joint.difference.interval), expected)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_influence_is_the_derivative_in_the_weights(average):
    y, p, _ = draw(np.random.default_rng(1), 40, 1.0)
    area = partial(roc_auc_score, multi_class="ovr", average=average)
    arguments = {"multi_class": "ovr", "average": average}
    # the correction for unbiased variances is 1 for groups
    ranking = rank_classes(arguments, Sample(y, p, 0.0, None, np.arange(40)))
    step = 1e-6
    for i in (0, 7, 39):
        weight = np.ones(40)
        weight[i] += step
        slope = (area(y, p, sample_weight=weight) - area(y, p)) / step
        assert_allclose(ranking.influence[i], slope, atol=1e-6)


def test_one_versus_one_of_two_classes_is_the_area_of_both():
    y, p, _ = draw(np.random.default_rng(2), 50, 1.0, shares=(0.6, 0.4))
    ovo = rank_classes({"multi_class": "ovo"}, Sample(y, p, 0.0))
    assert_allclose(ovo.value, roc_auc_score(y, p[:, 1]))
    assert_allclose(ovo.error, metric_interval(roc_auc_score, y, p[:, 1]).standard_error)


def test_what_has_no_influence_is_resampled_or_refused():
    y, p, other = draw(np.random.default_rng(4), 40, 1.0)
    micro = partial(roc_auc_score, multi_class="ovr", average="micro")
    assert compare_predictions(y, [p, other], metric=micro, n_resamples=20).method == "permutation"
    with pytest.raises(ValueError, match="must contain two classes for method='delong'"):
        compare_predictions(y, [p, other], method="delong")


@pytest.mark.simulated
@pytest.mark.parametrize(("signal", "truth"), [(0.0, 0.5), (2.0, None)])
def test_coverage_and_size(signal, truth):
    rng, n_sets, hits, rejected = np.random.default_rng(3), 120, 0, 0
    metric = partial(roc_auc_score, multi_class="ovr")
    if truth is None:
        truth = metric(*draw(rng, 30_000, signal)[:2])
    for _ in range(n_sets):
        y, p, other = draw(rng, 70, signal)
        hits += truth in metric_interval(metric, y, p).interval
        comparison = compare_predictions(y, [p, other], metric=metric)
        rejected += comparison.difference.pvalue <= 0.05
    assert consistent_with(hits, n_sets)
    assert consistent_with(n_sets - rejected, n_sets)
