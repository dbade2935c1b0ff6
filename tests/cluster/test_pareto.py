"""Pareto dominance, the comparison of clusterings, and its plots."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.stability import dominates as beats
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from skeval.cluster import IndicesDisplay, ParetoDisplay, compare_clusterings, pareto_dominance
from skeval.metrics.cluster import (
    compactness_score,
    connectivity_score,
    dbcv_score,
    dunn_score,
    internal_indices,
)
from skeval.metrics.cluster import silhouette_score as silhouette

X, Y = load_iris(return_X_y=True)
PARTITIONS = {
    **{f"kmeans {k}": KMeans(k, n_init=2, random_state=0).fit_predict(X) for k in (2, 3, 4)},
    "ward 3": AgglomerativeClustering(3).fit_predict(X),
    "species": load_iris().target_names[Y],
}


@st.composite
def criteria(draw):
    m, q = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    number = st.sampled_from([-np.inf, -1.5, 0.0, 1.0, 2.0, np.inf])
    row = st.lists(number, min_size=q, max_size=q)
    directions = draw(st.lists(st.booleans(), min_size=q, max_size=q))
    return draw(st.lists(row, min_size=m, max_size=m)), directions


@settings(deadline=None)
@given(criteria())
def test_dominance_equals_the_definition(data):
    values, directions = data
    dominates, front = pareto_dominance(values, greater_is_better=directions)
    expected = [[beats(a, b, directions) for b in values] for a in values]
    np.testing.assert_array_equal(dominates, expected)
    np.testing.assert_array_equal(front, ~np.array(expected).any(axis=0))
    assert front.any()
    assert not (dominates & dominates.T).any()
    # every beaten candidate is beaten by one of the front
    assert (dominates[front].any(axis=0) == ~front).all()


def test_one_direction_for_all_and_reversal():
    values = np.random.default_rng(0).normal(size=(20, 3))
    values.setflags(write=False)
    up, _ = pareto_dominance(values, greater_is_better=True)
    down, _ = pareto_dominance(values, greater_is_better=[False] * 3)
    np.testing.assert_array_equal(up, down.T)


def test_rounding_is_a_tie():
    third = 0.1 + 0.2
    dominates, front = pareto_dominance([[third, 1.0], [0.3, 1.0]], greater_is_better=True)
    assert third > 0.3
    assert front.all()
    assert not dominates.any()
    assert pareto_dominance([[1.0], [1.0 + 1e-9]], greater_is_better=True)[1].tolist() == [
        False,
        True,
    ]


def test_values_are_those_of_the_single_functions():
    result = compare_clusterings(X, PARTITIONS)
    assert result.names == tuple(PARTITIONS)
    assert result.indices == ("silhouette", "dunn", "connectivity")
    assert result.greater_is_better == (True, True, False)
    assert result.n_clusters.tolist() == [2, 3, 4, 3, 3]
    expected = [
        [silhouette(X, p), dunn_score(X, p), connectivity_score(X, p)] for p in PARTITIONS.values()
    ]
    np.testing.assert_allclose(result.values, expected, rtol=1e-9)
    dominates, front = pareto_dominance(expected, greater_is_better=[True, True, False])
    np.testing.assert_array_equal(result.dominates, dominates)
    np.testing.assert_array_equal(result.front, front)
    assert result.front_names == tuple(np.array(result.names)[front])


@pytest.mark.filterwarnings("ignore:17 samples are labeled -1")
def test_an_index_has_the_defaults_of_its_function():
    noisy, names = np.where(np.arange(150) % 9, Y, -1), ["within_cluster_variance", "dbcv"]
    for n_jobs in (None, 2):
        result = compare_clusterings(X, {"one": noisy}, indices=names, n_jobs=n_jobs)
        variance = compactness_score(X, noisy, unit="mean", noise="cluster")
        np.testing.assert_allclose(result.values[0], [variance, dbcv_score(X, noisy)])
    result = compare_clusterings(X, {"one": Y}, indices=names[:1], metric="manhattan")
    assert result.values[0, 0] == compactness_score(X, Y, unit="mean", metric="manhattan")


def test_every_internal_index_has_its_direction():
    # A good partition against one of the same sizes without relation to the data.
    partitions = {"good": Y, "bad": np.random.default_rng(0).permutation(Y)}
    with pytest.raises(ValueError, match="indices must be one of") as refused:
        compare_clusterings(X, partitions, indices=["all"])
    names = re.findall(r"'(\w+)'", str(refused.value).partition(";")[0])
    compared = compare_clusterings(X, partitions, indices=names)
    better = compared.values[0] > compared.values[1]
    assert compared.greater_is_better == tuple(better), compared
    shared = set(internal_indices(X, Y).to_dict())
    assert shared <= set(names)
    for name in shared:
        assert name in internal_indices.__doc__
    for name in names:  # docstrings are written, not made
        assert f'"{name}"' in compare_clusterings.__doc__


def test_renamed_and_reordered_clusters_are_a_tie():
    labels = PARTITIONS["kmeans 3"]
    twice = {"a": labels, "b": (labels + 1) % 3, "c": np.array(list("xyz"))[labels]}
    result = compare_clusterings(X, twice, indices=["silhouette", "davies_bouldin_pairwise", "sse"])
    assert result.front.all()
    assert not result.dominates.any()


def test_precomputed_distances_and_metric():
    D = pairwise_distances(X, metric="manhattan")
    a = compare_clusterings(D, PARTITIONS, metric="precomputed", n_neighbors=5)
    b = compare_clusterings(X, PARTITIONS, metric="manhattan", n_neighbors=5)
    np.testing.assert_allclose(a.values, b.values, rtol=1e-9)


def test_indices_of_ones_own():
    result = compare_clusterings(
        X,
        PARTITIONS,
        indices={
            "ari": (lambda X, labels: adjusted_rand_score(Y, labels), True),
            "clusters": (lambda X, labels: len(set(labels)), False),
        },
    )
    assert result.indices == ("ari", "clusters")
    assert result.front_names == ("kmeans 2", "species")
    assert result.values[-1].tolist() == [1.0, 3.0]


def test_noise_policy_is_passed_on():
    labels = DBSCAN(eps=0.5).fit_predict(X)
    partitions = {"dbscan": labels, "species": Y}
    dropped = compare_clusterings(X, partitions, noise="drop")
    kept = compare_clusterings(X, partitions, noise="cluster")
    assert dropped.values[0, 0] > kept.values[0, 0]
    with pytest.warns(UserWarning, match="-1"):
        compare_clusterings(X, partitions)


def test_frame_and_text():
    result = compare_clusterings(X, PARTITIONS)
    frame = result.to_frame()
    assert frame.columns.tolist() == ["n_clusters", *result.indices, "front"]
    assert frame.loc["ward 3", "dunn"] == result.values[3, 1]
    lines = str(result).splitlines()
    assert len(lines) == 2 + len(PARTITIONS)
    assert sum(line.endswith("front") for line in lines) == result.front.sum()


@pytest.mark.parametrize("given", [{}, [Y]])
def test_partitions_are_a_dict(given):
    with pytest.raises(ValueError, match="partitions must be a dict"):
        compare_clusterings(X, given)


def test_one_index_is_its_name():
    alone, listed = (compare_clusterings(X, PARTITIONS, indices=one) for one in ("dunn", ["dunn"]))
    assert alone.indices == listed.indices == ("dunn",)
    np.testing.assert_array_equal(alone.values, listed.values)


def test_indices_display():
    result = compare_clusterings(X, PARTITIONS)
    display = IndicesDisplay.from_result(result)
    assert len(display.axes_) == 3
    assert display.axes_[2].get_title() == "connectivity (smaller is better)"
    drawn = np.concatenate([points.get_offsets() for points in display.axes_[0].collections])
    assert sorted(drawn[:, 1]) == sorted(result.values[:, 0])
    with pytest.raises(ValueError, match="axes for each of silhouette, dunn, connectivity; got 1"):
        display.plot([display.axes_[0]])
    assert display.plot(display.axes_) is display


def test_pareto_display_marks_the_front_of_the_two_indices():
    result = compare_clusterings(X, PARTITIONS)
    display = ParetoDisplay.from_result(result, x="connectivity", y="silhouette")
    _, front = pareto_dominance(result.values[:, [2, 0]], greater_is_better=[False, True])
    np.testing.assert_array_equal(display.front_, front)
    filled = display.ax_.collections[-1].get_offsets()
    np.testing.assert_array_equal(filled, result.values[:, [2, 0]][front])
    assert display.ax_.get_xlabel() == "connectivity (smaller is better)"
    assert {text.get_text() for text in display.ax_.texts} == set(PARTITIONS)
    assert ParetoDisplay.from_result(result, ax=display.ax_).x == "silhouette"
