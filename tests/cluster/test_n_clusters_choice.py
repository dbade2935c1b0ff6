"""A choice of the number of clusters: parameter names, narrow decisions, notes."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

from skeval.cluster import NClustersChoice, choose_n_clusters
from skeval.cluster._choose import resolve_parameter

KMEANS = KMeans(n_init=3)


def three(spread=1.0):
    centers = [[0, 0], [8, 0], [0, 8]]
    return make_blobs(90, centers=centers, cluster_std=spread, random_state=0)[0]


def choice_of(values, limits, chosen, method="prediction_strength", errors=0.01):
    values, limits = np.array(values), np.array(limits)
    zeros = np.zeros(len(values))
    # margins of the gap have a standard error of 0.01
    gaps = np.cumsum(np.ones((len(values), 2)) * [0.0, 0.02], axis=0)
    return NClustersChoice(
        n_clusters=chosen,
        candidates=np.arange(1, len(values) + 1),
        values=values,
        standard_errors=np.full(len(values), errors),
        replicates=gaps,
        reference_values=zeros,
        reference_replicates=np.zeros((len(values), 2)),
        limits=limits,
        method=method,
        reference="uniform",
        threshold=0.8,
        rule="",
    )


@pytest.mark.parametrize(
    ("values", "limits", "chosen", "method", "edge"),
    [
        ([1, 0.945, 0.5], [1, 0.947, 0.9], 1, "prediction_strength", "k = 2 misses .* by 0.002"),
        ([1, 0.945, 0.5], [1, 0.943, 0.9], 2, "prediction_strength", "k = 2 reaches .* by 0.002"),
        ([1, 0.98, 0.885], [1, 0.92, 0.89], 2, "prediction_strength", "k = 3 misses .* by 0.005"),
        # A smaller k has no say where the largest sufficient one is chosen, and the reverse.
        ([1, 0.915, 0.98], [1, 0.92, 0.9], 3, "prediction_strength", ""),
        ([1, 0.915, 0.98], [1, 0.92, 0.9], 3, "silhouette", "k = 2 misses .* by 0.005"),
        ([0.5, 0.98, 0.885], [0.9, 0.9, -np.inf], 2, "gap", ""),
        ([0.895, 0.98, 0.885], [0.9, 0.9, -np.inf], 2, "gap", "k = 1 misses .* by 0.005"),
        ([0.905, 0.98, 0.885], [0.9, 0.9, -np.inf], 1, "gap", "k = 1 reaches .* by 0.005"),
        ([1, 0.98, 0.5], [1, 0.92, 0.89], 2, "prediction_strength", ""),
        ([1, 0.5, 0.5], [1, 0.92, 0.89], 1, "prediction_strength", ""),
    ],
)
def test_a_choice_near_the_edge_says_so(values, limits, chosen, method, edge):
    choice = choice_of(values, limits, chosen, method)
    assert re.search(edge, choice.edge) if edge else choice.edge == ""
    assert (f"! {choice.edge}" in str(choice)) == bool(edge)
    np.testing.assert_array_equal(choice.margins, choice.values - choice.limits)


def test_parameter_names():
    assert resolve_parameter(KMEANS, None) == "n_clusters"
    assert resolve_parameter(GaussianMixture(), None) == "n_components"
    assert resolve_parameter(make_pipeline(PCA(2), KMEANS), None) == "kmeans__n_clusters"
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
    with pytest.raises(ValueError, match="DBSCAN has neither n_clusters"):
        choose_n_clusters(DBSCAN(), three())


@pytest.mark.parametrize(
    ("chosen", "pvalue", "more", "edge"),
    [
        (1, 0.3, np.nan, ""),
        (1, 0.075, np.nan, "P = 0.075 for more than 1 cluster, with a limit of 0.05"),
        (3, 0.025, 0.4, ""),
        (3, 0.05, 0.4, "P = 0.05 for more than 1 cluster, "),
        (3, 0.025, 0.05, "P = 0.05 for more than 3 clusters, with a limit of 0.025"),
    ],
)
def test_a_pvalue_near_the_level_is_narrow(chosen, pvalue, more, edge):
    choice = choice_of([0, 0.5, 0.6], [0, 0.4, 0.4], chosen, "sequential", errors=np.nan)
    choice = replace(choice, pvalue=pvalue, pvalue_more=more)
    assert (edge in choice.edge) if edge else choice.edge == ""
    assert f"P = {pvalue}" in str(choice)


def test_clear_clusters_are_no_narrow_decision():
    methods = ["sequential", "prediction_strength", "adjusted_rand", "silhouette", "gap"]
    choices = choose_n_clusters(
        KMEANS, three(0.3), n_clusters=range(1, 6), method=methods, n_repeats=6, random_state=0
    )
    assert {choice.n_clusters for choice in choices.values()} == {3}
    assert not any(choice.notes for choice in choices.values())


def test_a_choice_that_was_not_tried_is_reported():
    X = np.random.default_rng(0).uniform(size=(80, 2))
    options = {"n_clusters": range(2, 5), "n_repeats": 4, "random_state": 0}
    for method in ("prediction_strength", "adjusted_rand", "silhouette"):
        choice = choose_n_clusters(KMEANS, X, method=method, **options)
        assert choice.n_clusters == 1
        assert "! No candidate meets the rule: one cluster is chosen" in str(choice)
    assert not choose_n_clusters(KMEANS, X, **options).notes  # whose first test is of one cluster
