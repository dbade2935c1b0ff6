"""The number of clusters: right on clear data, its rules, candidates and parameter names."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

from skeval.cluster import (
    StabilityDisplay,
    choose_n_clusters,
    prediction_strength,
    predictive_power,
)
from skeval.cluster._choose import apply_rule, find_parameter

KMEANS = KMeans(n_init=3)


def three(seed=0):
    return make_blobs(150, centers=[[0, 0], [8, 0], [0, 8]], random_state=seed)[0]


@pytest.mark.parametrize("clusterer", [KMEANS, AgglomerativeClustering(), GaussianMixture()])
def test_three_clear_gaussians(clusterer):
    choice = choose_n_clusters(
        clusterer, three(), n_clusters=range(1, 6), n_repeats=3, random_state=0
    )
    assert choice.n_clusters == 3
    assert choice.values[2] == 1.0


@pytest.mark.parametrize("first", [1, 2])  # leaving k = 1 out does not make one cluster two
def test_one_gaussian(first):
    X = np.random.default_rng(0).normal(size=(150, 2))
    candidates = range(first, 5)
    choice = choose_n_clusters(KMEANS, X, n_clusters=candidates, n_repeats=6, random_state=0)
    assert choice.n_clusters == 1


@pytest.mark.slow
def test_choice_over_many_data_sets():
    right = 0
    for seed in range(20):
        right += choose_n_clusters(KMEANS, three(seed), random_state=seed).n_clusters == 3
        X = np.random.default_rng(seed).normal(size=(150, 2))
        right += choose_n_clusters(KMEANS, X, random_state=seed).n_clusters == 1
    assert right == 40


@pytest.mark.parametrize("method", ["adjusted_rand", "matched_accuracy"])
def test_predictive_power_finds_three(method):
    choice = choose_n_clusters(
        KMEANS, three(), n_clusters=range(2, 6), method=method, n_repeats=4, random_state=0
    )
    assert choice.n_clusters == 3


def test_values_are_those_of_the_single_functions():
    X = three()
    choice = choose_n_clusters(KMEANS, X, n_clusters=(5, 2, 5), n_repeats=3, random_state=4)
    assert choice.candidates.tolist() == [2, 5]
    for row, k in enumerate((2, 5)):
        one = prediction_strength(KMeans(k, n_init=3), X, n_repeats=3, random_state=4)
        np.testing.assert_array_equal(choice.replicates[row], one.values)
        assert choice.values[row] == one.value
        assert choice.standard_errors[row] == pytest.approx(one.standard_error)
    choice = choose_n_clusters(
        KMEANS, X, n_clusters=[4], method="adjusted_rand", n_repeats=3, random_state=4
    )
    one = predictive_power(KMeans(4, n_init=3), X, n_repeats=3, random_state=4)
    np.testing.assert_array_equal(choice.replicates[0], one.values)


def test_numbers_do_not_depend_on_n_jobs():
    X, options = three(), {"n_clusters": [1, 4], "n_repeats": 3, "random_state": 0}
    one = choose_n_clusters(KMEANS, X, **options)
    with parallel_config(backend="threading"):
        two = choose_n_clusters(KMEANS, X, n_jobs=2, **options)
    np.testing.assert_array_equal(one.replicates, two.replicates)


K = np.array([1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("values", "threshold", "expected"),
    [
        ([1, 0.9, 0.85, 0.7, 0.2], 0.8, 3),
        ([1, 0.5, 0.85, 0.7, 0.2], 0.8, 3),  # a weak 2 does not hide a strong 3
        ([1, 0.9, 0.8, 0.7, 0.2], 0.8, 3),  # reaching the threshold is enough
        ([1, 0.9, 0.85, 0.7, 0.2], 0.95, 1),
        ([0.1, 0.1, 0.1, 0.1, 0.1], 0.8, 1),
    ],
)
def test_rule_of_prediction_strength(values, threshold, expected):
    errors = np.full(5, 0.1)
    chosen = apply_rule(K, np.array(values), errors, "prediction_strength", threshold)
    assert chosen[:2] == (expected, threshold)


@pytest.mark.parametrize(
    ("values", "errors", "expected"),
    [
        ([0.5, 0.9, 0.6, 0.5, 0.2], [0.1, 0.05, 0.1, 0.1, 0.1], 2),
        ([0.5, 0.9, 0.87, 0.5, 0.2], [0.1, 0.05, 0.1, 0.1, 0.1], 3),
        ([0.5, 0.9, 0.84, 0.5, 0.2], [0.1, 0.05, 0.1, 0.1, 0.1], 2),
        ([0.5, 1.0, 1.0, 0.5, 0.2], [0.1, 0.0, 0.0, 0.1, 0.1], 3),
    ],
)
def test_rule_of_one_standard_error(values, errors, expected):
    chosen = apply_rule(K, np.array(values), np.array(errors), "adjusted_rand", 0.8)
    assert chosen[0] == expected


def test_parameter_names():
    assert find_parameter(KMEANS) == "n_clusters"
    assert find_parameter(GaussianMixture()) == "n_components"
    assert find_parameter(make_pipeline(PCA(2), KMEANS)) == "kmeans__n_clusters"
    pipeline = make_pipeline(PCA(2), GaussianMixture())
    with pytest.raises(ValueError, match="param_name must say which of gaussianmixture__n_comp"):
        choose_n_clusters(pipeline, three())
    choice = choose_n_clusters(
        pipeline,
        three(),
        n_clusters=[1, 3],
        param_name="gaussianmixture__n_components",
        n_repeats=2,
        random_state=0,
    )
    assert choice.n_clusters == 3
    with pytest.raises(ValueError, match="DBSCAN has neither n_clusters nor n_components"):
        choose_n_clusters(DBSCAN(), three())


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n_clusters": 3}, TypeError, "n_clusters must be an iterable of integers, got 3"),
        ({"n_clusters": []}, ValueError, "n_clusters must hold integers .* got no candidate"),
        ({"n_clusters": [0]}, ValueError, "n_clusters must hold integers >= 1 .* got 0"),
        ({"n_clusters": [2.5]}, ValueError, "n_clusters must hold integers >= 1 .* got 2.5"),
        (
            {"n_clusters": [1, 2], "method": "adjusted_rand"},
            ValueError,
            "n_clusters must hold integers >= 2 for method='adjusted_rand', got 1",
        ),
        ({"method": "gap"}, ValueError, "'method' parameter"),
        ({"threshold": 1.2}, ValueError, "'threshold' parameter"),
        ({"param_name": "k"}, ValueError, "param_name must be a parameter of KMeans, got 'k'"),
    ],
)
def test_bad_input(change, error, message):
    with pytest.raises(error, match=message):
        choose_n_clusters(KMEANS, three(), **change)


def test_result_and_display():
    choice = choose_n_clusters(KMEANS, three(), n_clusters=range(1, 5), n_repeats=2, random_state=0)
    frame = choice.to_frame()
    assert frame.index.tolist() == [1, 2, 3, 4]
    assert frame.index[frame["chosen"]].tolist() == [3]
    assert "3 clusters by prediction_strength" in str(choice)
    assert str(choice).count("<- chosen") == 1
    display = StabilityDisplay.from_result(choice)
    line = display.errorbar_.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), choice.candidates)
    np.testing.assert_array_equal(line.get_ydata(), choice.values)
    assert "chosen: 3" in [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert display.plot(ax=display.ax_) is display
    plt.close(display.figure_)
