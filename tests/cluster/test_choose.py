"""The number of clusters: right on clear data, its rules, candidates, parameter names, cautions."""

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from helpers.references import Recorder
from reference import stability as reference
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

from skeval.cluster import (
    NClustersChoice,
    StabilityDisplay,
    choose_n_clusters,
    gap_statistic,
    predictive_power,
    structure_test,
)
from skeval.cluster._choose import find_limits

KMEANS, WARD = KMeans(n_init=3), AgglomerativeClustering()


def three(seed=0):
    return make_blobs(150, centers=[[0, 0], [8, 0], [0, 8]], random_state=seed)[0]


@pytest.mark.parametrize("n_features", [60, 200])
def test_clusters_among_more_features_than_samples(n_features):
    """Two groups of noise lie apart along the line through their centers, however they are made."""
    chosen = []
    for seed in range(4):
        noise = np.random.default_rng(seed).normal(size=(62, n_features))
        apart = noise + 6 / np.sqrt(n_features) * np.repeat([0, 1], 31)[:, None]
        options = {"n_clusters": range(1, 4), "random_state": seed}
        chosen.append([choose_n_clusters(KMEANS, X, **options).n_clusters for X in (noise, apart)])
    of_noise, of_two = np.transpose(chosen)
    assert np.sum(of_noise > 1) <= 1
    assert np.all(of_two == 2)


@pytest.mark.parametrize("clusterer", [KMEANS, AgglomerativeClustering(), GaussianMixture()])
def test_three_clear_gaussians(clusterer):
    methods = ["sequential", "prediction_strength"]
    options = {"n_clusters": range(1, 6), "n_repeats": 3, "random_state": 0}
    choices = choose_n_clusters(clusterer, three(), method=methods, **options)
    assert [choices[name].n_clusters for name in methods] == [3, 3]
    assert choices["prediction_strength"].values[2] == 1.0


@pytest.mark.parametrize("first", [1, 2])  # leaving k = 1 out does not make one cluster two
def test_one_gaussian(first):
    X = np.random.default_rng(0).normal(size=(150, 2))
    methods = ["sequential", "prediction_strength", "silhouette", "gap"]
    options = {"n_clusters": range(first, 5), "n_repeats": 6, "random_state": 0}
    choices = choose_n_clusters(KMEANS, X, method=methods, **options)
    assert {name: choice.n_clusters for name, choice in choices.items()} == dict.fromkeys(
        methods, 1
    )


def test_values_are_those_of_the_single_functions():
    X = three()
    options = {"n_repeats": 3, "random_state": 4}
    choice = choose_n_clusters(
        KMEANS, X, n_clusters=(4, 2, 4), method="prediction_strength", **options
    )
    assert choice.candidates.tolist() == [2, 4]
    for row, k in enumerate((2, 4)):
        one = predictive_power(
            KMeans(k, n_init=3), X, agreement="prediction_strength", n_repeats=3, random_state=4
        )
        np.testing.assert_array_equal(choice.replicates[row], one.replicates)
        assert choice.values[row] == one.value
        assert choice.standard_errors[row] == pytest.approx(one.standard_error)
    choice = choose_n_clusters(
        KMEANS, X, n_clusters=[4], method="adjusted_rand", n_repeats=3, random_state=4
    )
    one = predictive_power(KMeans(4, n_init=3), X, n_repeats=3, random_state=4)
    np.testing.assert_array_equal(choice.replicates[0], one.replicates)


K = np.array([1, 2, 3, 4, 5])


NOTHING = np.zeros(5)


def largest(values, errors, reference, method, threshold):
    """The candidates that reach their limits, by the same comparison as the choice."""
    limits = find_limits(method, values, errors, reference[:, None], threshold)
    return limits, K[(values >= limits) & (values > reference)].max(initial=1)


@pytest.mark.parametrize(
    ("values", "reference", "threshold", "expected"),
    [
        ([1, 0.9, 0.85, 0.7, 0.2], NOTHING, 0.8, 3),
        ([1, 0.5, 0.85, 0.7, 0.2], NOTHING, 0.8, 3),  # a weak 2 does not hide a strong 3
        ([1, 0.9, 0.8, 0.7, 0.2], NOTHING, 0.8, 3),  # reaching the threshold is enough
        ([1, 0.9, 0.85, 0.7, 0.2], NOTHING, 0.95, 1),
        ([0.1, 0.1, 0.1, 0.1, 0.1], NOTHING, 0.8, 1),
        ([1, 0.95, 0.82, 0.7, 0.2], np.full(5, 0.5), 0.8, 2),  # 5/6 is needed
        ([1, 1, 0.95, 0.7, 0.2], np.array([1, 0.9, 0.9, 0, 0]), 0.8, 2),
        ([1, 1, 1, 1, 1], np.ones(5), 0.8, 1),  # noise does as well
        ([1, 0, 0, 0, 0], NOTHING, 0.0, 1),  # no evidence reaches no threshold
        ([1, 0.7, 0.6, 0, 0], NOTHING, 0.0, 2),  # nor does one below the share
    ],
)
def test_rule_of_prediction_strength(values, reference, threshold, expected):
    values = np.array(values)
    limits, found = largest(values, np.full(5, 0.1), reference, "prediction_strength", threshold)
    np.testing.assert_allclose(limits, np.maximum(threshold, (reference + 2) / 3))
    assert found == expected


@pytest.mark.parametrize(
    ("values", "errors", "reference", "expected"),
    [
        ([0.5, 0.9, 0.6, 0.5, 0.2], [0.1, 0.05, 0.1, 0.1, 0.1], NOTHING, 2),
        ([0.5, 0.9, 0.87, 0.5, 0.2], [0.1, 0.05, 0.1, 0.1, 0.1], NOTHING, 3),
        ([0.5, 0.9, 0.84, 0.5, 0.2], [0.1, 0.05, 0.1, 0.1, 0.1], NOTHING, 2),
        ([0.5, 1.0, 1.0, 0.5, 0.2], [0.1, 0.0, 0.0, 0.1, 0.1], NOTHING, 3),
        ([0.5, 0.9, 0.87, 0.5, 0.2], [0.1, 0.05, 0.1, 0.1, 0.1], np.full(5, 0.8), 1),
        # the best of all is that of noise: the best of the rest decides
        ([0.5, 0.99, 0.90, 0.5, 0.2], [0.01] * 5, np.array([0, 0.98, 0.2, 0.2, 0]), 3),
    ],
)
def test_rule_of_one_standard_error(values, errors, reference, expected):
    found = largest(np.array(values), np.array(errors), reference, "adjusted_rand", 0.8)[1]
    assert found == expected


@each_value
@pytest.mark.parametrize("method", ["prediction_strength", "adjusted_rand", "matched_accuracy"])
@pytest.mark.parametrize("clusterer", [KMEANS, AgglomerativeClustering(linkage="single")])
@pytest.mark.parametrize("n", [4, 5, 6, 8, 11])
def test_candidates_that_halves_cannot_hold_carry_no_evidence(method, clusterer, n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    choice = choose_n_clusters(
        clusterer, X, n_clusters=range(2, n + 2), method=method, n_repeats=4, random_state=0
    )
    assert choice.n_clusters == 1
    impossible = choice.candidates * 3 > n // 2
    assert impossible.all()
    assert not choice.values[impossible].any()
    assert not choice.reference_values[impossible].any()


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize(
    ("method", "n_distinct"),
    [("prediction_strength", 2), ("adjusted_rand", 3), ("matched_accuracy", 4)],
)
def test_no_more_clusters_are_chosen_than_exist(method, n_distinct):
    X = np.repeat(10.0 * np.eye(4)[:n_distinct], 60 // n_distinct, axis=0)
    choice = choose_n_clusters(
        KMEANS, X, n_clusters=range(2, 9), method=method, n_repeats=3, random_state=0
    )
    assert choice.n_clusters == n_distinct
    assert not choice.values[choice.candidates > n_distinct].any()


def test_reference_goes_by_the_kind_of_data():
    X = three()
    options = {"n_clusters": [2, 3], "n_repeats": 3, "random_state": 0}
    options["method"] = "prediction_strength"
    uniform = choose_n_clusters(KMEANS, X, **options)
    permuted = choose_n_clusters(KMEANS, X, reference="permuted", **options)
    assert choose_n_clusters(KMEANS, csr_array(X), **options).reference == "permuted"
    assert (uniform.reference, permuted.reference) == ("uniform", "permuted")
    np.testing.assert_array_equal(uniform.replicates, permuted.replicates)
    assert not np.array_equal(uniform.reference_replicates, permuted.reference_replicates)


def test_reference_is_the_strength_of_its_draws():
    X, seen = three(), []
    options = {"n_repeats": 4, "random_state": 3, "method": "prediction_strength"}
    choice = choose_n_clusters(Recorder(seen=seen), X, n_clusters=[3, 4], **options)
    rows = {row.tobytes() for row in X}
    strength = reference.prediction_strength
    for row, k in enumerate([3, 4]):
        drawn = [part for n, part in seen if n == k and part[0].tobytes() not in rows]
        for repeat, halves in enumerate(zip(drawn[::2], drawn[1::2], strict=True)):
            data, cluster = np.vstack(halves), AgglomerativeClustering(k).fit_predict
            first, second = np.split(np.arange(len(X)), 2)
            expected = reference.halving(cluster, data, first, second, strength)
            assert choice.reference_replicates[row, repeat] == pytest.approx(expected)
    assert len(drawn) == 8
    np.testing.assert_allclose(choice.reference_values, choice.reference_replicates.mean(axis=1))
    more = choose_n_clusters(WARD, X, n_clusters=[4], **options | {"n_repeats": 6})
    np.testing.assert_array_equal(more.reference_replicates[0, :4], choice.reference_replicates[1])


def test_result_and_display():
    options = {"n_clusters": range(1, 5), "n_repeats": 2, "random_state": 0}
    choice = choose_n_clusters(KMEANS, three(), method="prediction_strength", **options)
    frame = choice.to_frame()
    assert frame.index.tolist() == [1, 2, 3, 4]
    assert frame.index[frame["chosen"]].tolist() == [3]
    np.testing.assert_array_equal(frame["reference"], choice.reference_values)
    np.testing.assert_array_equal(frame["limit"], choice.limits)
    assert f"reference {choice.reference_values[2]:.4f}" in str(choice)
    assert "3 clusters by prediction_strength" in str(choice)
    assert str(choice).count("<- chosen") == 1
    display = StabilityDisplay.from_result(choice)
    line = display.errorbar_.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), choice.candidates)
    np.testing.assert_array_equal(line.get_ydata(), choice.values)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "prediction strength: 3 chosen" in labels
    assert display.plot(ax=display.ax_) is display


def test_side_by_side():
    X = three()
    methods = ["prediction_strength", "silhouette", "gap", "adjusted_rand", "sequential"]
    options = {"n_repeats": 6, "random_state": 0}
    both = choose_n_clusters(KMEANS, X, n_clusters=range(1, 6), method=methods, **options)
    assert {name: each.n_clusters for name, each in both.items()} == dict.fromkeys(methods, 3)
    assert list(both) == methods
    for method in methods:
        first = 2 if method in ("silhouette", "adjusted_rand") else 1
        alone = choose_n_clusters(KMEANS, X, n_clusters=range(first, 6), method=method, **options)
        np.testing.assert_array_equal(both[method].replicates, alone.replicates)
        np.testing.assert_array_equal(both[method].limits, alone.limits)
    frame = both.to_frame()
    assert frame.index.tolist() == methods
    assert frame["n_clusters"].tolist() == [3] * 5
    assert "3 clusters by gap" in str(both)
    gap = gap_statistic(KMEANS, X, n_clusters=range(1, 6), n_references=6, random_state=0)
    np.testing.assert_array_equal(both["gap"].values, gap.values)


BLOBS = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]
ANGLES = np.linspace(0, 2 * np.pi, 120, endpoint=False)
CIRCLE = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
FEW_BETWEEN = np.vstack([BLOBS, [[4.5, 0.0], [4.4, 0.1], [4.6, -0.1]]])
INDICATORS = np.eye(4)[np.random.default_rng(0).integers(4, size=120)]


@pytest.mark.parametrize(
    ("X", "title"),
    [
        (BLOBS, ""),
        (FEW_BETWEEN, ""),
        (CIRCLE, "No gap"),
        (INDICATORS, "Dependent columns"),
        (pd.DataFrame(INDICATORS), "Dependent columns"),
        (csr_array(INDICATORS), "Dependent columns"),
        (np.column_stack([BLOBS, BLOBS.sum(axis=1).round(1)]), "Dependent columns"),
    ],
)
def test_cautions_name_what_is_not_covered(X, title):
    test = structure_test(KMeans(5 if title == "No gap" else 3, n_init=2), X, n_references=39)
    assert test.pvalue <= 0.05
    assert test.caution.startswith(title)
    assert bool(test.caution) == bool(title)


def test_choice_has_cautions_among_its_notes():
    choice = choose_n_clusters(KMeans(n_init=2), INDICATORS, n_clusters=[2, 3, 4], random_state=0)
    assert choice.n_clusters == 4
    assert choice.cautions[0].startswith("Dependent columns")
    assert choice.cautions[0] in choice.notes


def test_no_caution_without_structure():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X = np.column_stack([X, X.sum(axis=1)])
    assert choose_n_clusters(KMeans(n_init=2), X, n_clusters=[2, 3], random_state=0).cautions == ()
    test = structure_test(KMeans(2, n_init=2), X, n_references=19, random_state=0)
    assert test.caution == ""


def three_wide(spread=1.0):
    centers = [[0, 0], [8, 0], [0, 8]]
    return make_blobs(90, centers=centers, cluster_std=spread, random_state=0)[0]


def choice_of(n_clusters, pvalue, pvalue_more):
    values, zeros = np.array([0, 0.5, 0.6]), np.zeros(3)
    return NClustersChoice(
        n_clusters=n_clusters,
        candidates=np.arange(1, 4),
        values=values,
        standard_errors=np.full(3, np.nan),
        replicates=values[:, None],
        reference_values=zeros,
        reference_replicates=np.zeros((3, 2)),
        limits=np.array([0, 0.4, 0.4]),
        method="sequential",
        reference="uniform",
        rule="",
        pvalue=pvalue,
        pvalue_more=pvalue_more,
    )


def test_parameter_names():
    options = {"n_clusters": [1, 3], "n_repeats": 2, "random_state": 0}
    for clusterer, name in (
        (KMEANS, "n_clusters"),
        (GaussianMixture(), "n_components"),
        (make_pipeline(PCA(2), KMEANS), "kmeans__n_clusters"),
    ):
        found = choose_n_clusters(clusterer, three_wide(), **options)
        named = choose_n_clusters(clusterer, three_wide(), param_name=name, **options)
        np.testing.assert_array_equal(found.replicates, named.replicates)
    pipeline = make_pipeline(PCA(2), GaussianMixture())
    with pytest.raises(
        ValueError, match="must name the parameter to vary, gaussianmixture__n_comp"
    ):
        choose_n_clusters(pipeline, three_wide())
    name = "gaussianmixture__n_components"
    assert choose_n_clusters(pipeline, three_wide(), param_name=name, **options).n_clusters == 3
    with pytest.raises(ValueError, match="DBSCAN has neither n_clusters"):
        choose_n_clusters(DBSCAN(), three_wide())


@pytest.mark.parametrize(
    ("chosen", "pvalue", "more", "edge"),
    [
        (1, 0.3, np.nan, ""),
        (1, 0.075, np.nan, "P = 0.075 for more than 1 cluster, close to the limit of 0.05"),
        (3, 0.025, 0.4, ""),
        (3, 0.05, 0.4, "P = 0.050 for more than 1 cluster, "),
        (3, 0.025, 0.05, "P = 0.050 for more than 3 clusters, close to the limit of 0.025"),
    ],
)
def test_a_pvalue_near_the_level_is_narrow(chosen, pvalue, more, edge):
    choice = choice_of(chosen, pvalue, more)
    assert (edge in choice.edge) if edge else choice.edge == ""
    assert f"P = {pvalue}" in str(choice)


def test_clear_clusters_are_no_narrow_decision():
    methods = ["sequential", "prediction_strength", "adjusted_rand", "silhouette", "gap"]
    choices = choose_n_clusters(
        KMEANS, three_wide(0.3), n_clusters=range(1, 6), method=methods, n_repeats=6, random_state=0
    )
    assert {choice.n_clusters for choice in choices.values()} == {3}
    assert not any(choice.notes for choice in choices.values())


def test_a_choice_that_was_not_tried_is_reported():
    X = np.random.default_rng(0).uniform(size=(80, 2))
    options = {"n_clusters": range(2, 5), "n_repeats": 4, "random_state": 0}
    for method in ("prediction_strength", "adjusted_rand", "silhouette"):
        choice = choose_n_clusters(KMEANS, X, method=method, **options)
        assert choice.n_clusters == 1
        assert "! No candidate meets the rule, so one cluster is chosen" in str(choice)
    assert not choose_n_clusters(KMEANS, X, **options).notes  # whose first test is of one cluster
