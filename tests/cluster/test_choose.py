"""The number of clusters: right on clear data, its rules, candidates and parameter names."""

import re
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import check_array

from skeval.cluster import NClustersChoice, StabilityDisplay, choose_n_clusters, predictive_power
from skeval.cluster._choose import METHODS, Measured, find_parameter
from skeval.cluster._stability import AGREEMENTS, agree_both_ways, compare_halves, resolve_reference
from skeval.utils._checks import repetition_rng, root_seed

KMEANS = KMeans(n_init=3)
STRENGTH = partial(agree_both_ways, AGREEMENTS["prediction_strength"])


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
    choice = choose_n_clusters(KMEANS, X, n_clusters=(4, 2, 4), n_repeats=3, random_state=4)
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


def test_numbers_do_not_depend_on_n_jobs():
    X, options = three(), {"n_clusters": [1, 4], "n_repeats": 3, "random_state": 0}
    one = choose_n_clusters(KMEANS, X, **options)
    with parallel_config(backend="threading"):
        two = choose_n_clusters(KMEANS, X, n_jobs=2, **options)
    np.testing.assert_array_equal(one.replicates, two.replicates)


K = np.array([1, 2, 3, 4, 5])


NOTHING = np.zeros(5)


def largest(values, errors, reference, method, threshold):
    """The candidates that reach their limits, by the same comparison as the choice."""
    limits = METHODS[method].limits(Measured(values, errors, reference[:, None], threshold))
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


@pytest.mark.parametrize("reference", ["uniform", "box", "permuted"])
@pytest.mark.parametrize("kind", ["array", "float32", "frame", "sparse"])
def test_reference_has_the_form_of_the_data(reference, kind):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 3)) * [1, 5, 0]
    X = {
        "array": values,
        "float32": values.astype(np.float32),
        "frame": pd.DataFrame(values, columns=["a", "b", "a"]),
        "sparse": csr_array(values),
    }[kind]
    if reference != "permuted" and kind == "sparse":
        with pytest.raises(
            ValueError, match=f"reference='{reference}' needs dense X, got sparse X"
        ):
            resolve_reference(X, reference)
        return
    name, draws = resolve_reference(X, reference)
    found = draws(np.random.default_rng(1))
    assert name == reference
    assert type(found) is type(X)
    assert found.shape == X.shape
    dense = found.toarray() if kind == "sparse" else np.asarray(found)
    original = X.toarray() if kind == "sparse" else np.asarray(X)
    assert dense.dtype == original.dtype
    if kind == "frame":
        assert found.columns.tolist() == ["a", "b", "a"]
    np.testing.assert_allclose(dense[:, 2], original[:, 2], atol=1e-12)
    if reference == "permuted":
        np.testing.assert_array_equal(np.sort(dense, axis=0), np.sort(original, axis=0))
        assert not np.array_equal(dense, original)
    elif reference == "box":
        assert (dense >= original.min(axis=0)).all()
        assert (dense <= original.max(axis=0)).all()
    else:
        centre, axes = original.mean(axis=0), np.linalg.svd(original - original.mean(axis=0))[2]
        inside, scores = (dense - centre) @ axes.T, (original - centre) @ axes.T
        assert (inside.max(axis=0) <= scores.max(axis=0) + 1e-5).all()
        assert (inside.min(axis=0) >= scores.min(axis=0) - 1e-5).all()


def test_reference_goes_by_the_kind_of_data():
    X = three()
    assert resolve_reference(X, "auto")[0] == "uniform"
    assert resolve_reference(csr_array(X), "auto")[0] == "permuted"
    options = {"n_clusters": [2, 3], "n_repeats": 3, "random_state": 0}
    uniform = choose_n_clusters(KMEANS, X, **options)
    permuted = choose_n_clusters(KMEANS, X, reference="permuted", **options)
    assert (uniform.reference, permuted.reference) == ("uniform", "permuted")
    np.testing.assert_array_equal(uniform.replicates, permuted.replicates)
    assert not np.array_equal(uniform.reference_replicates, permuted.reference_replicates)


def test_reference_is_the_strength_of_its_draws():
    X = three()
    options = {"n_repeats": 4, "random_state": 3}
    choice = choose_n_clusters(KMEANS, X, n_clusters=[3, 4], **options)
    root = root_seed(3).spawn(1)[0]
    draws = resolve_reference(X, "uniform")[1]
    for row, k in enumerate([3, 4]):
        for repeat in range(4):
            rng = repetition_rng(root, repeat)
            clusterers = {k: KMEANS.__class__(k, n_init=3)}
            ((expected,),) = compare_halves(draws(rng), [STRENGTH], clusterers, rng)
            assert choice.reference_replicates[row, repeat] == expected
    np.testing.assert_allclose(choice.reference_values, choice.reference_replicates.mean(axis=1))
    more = choose_n_clusters(KMEANS, X, n_clusters=[4], n_repeats=6, random_state=3)
    np.testing.assert_array_equal(more.reference_replicates[0, :4], choice.reference_replicates[1])


def test_a_clusterer_that_refuses_the_reference_is_told_of_the_other():
    X = np.exp(three())
    logarithm = FunctionTransformer(np.log, validate=True)
    pipeline = make_pipeline(logarithm, FunctionTransformer(check_array), KMEANS)
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(ValueError, match=r"reference: .* 'permuted' keeps .* contains NaN"),
    ):
        choose_n_clusters(pipeline, X, n_clusters=[2], n_repeats=2, random_state=0)
    choice = choose_n_clusters(
        pipeline, X, n_clusters=[2, 3], n_repeats=2, random_state=0, reference="permuted"
    )
    assert choice.values.shape == (2,)


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
        ({"n_clusters": [True, 2]}, ValueError, "n_clusters must hold integers .* got True"),
        ({"n_clusters": [2.5]}, ValueError, "n_clusters must hold integers >= 1 .* got 2.5"),
        (
            {"n_clusters": [1, 2], "method": "adjusted_rand"},
            ValueError,
            "n_clusters must hold integers >= 2 for method='adjusted_rand', got 1",
        ),
        ({"method": "ward"}, ValueError, "'method' parameter"),
        ({"method": []}, ValueError, "method must hold at least one name, got none"),
        ({"method": ["gap", "ward"]}, ValueError, "method must be one of .* got 'ward'"),
        ({"method": "gap", "n_clusters": [200]}, ValueError, "must be less than the 150 samples"),
        ({"threshold": 1.2}, ValueError, "'threshold' parameter"),
        ({"reference": "gap"}, ValueError, "'reference' parameter"),
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
    np.testing.assert_array_equal(frame["reference"], choice.reference_values)
    np.testing.assert_array_equal(frame["limit"], choice.limits)
    assert f"reference {choice.reference_values[2]:.4f}" in str(choice)
    assert "3 clusters by prediction_strength" in str(choice)
    assert str(choice).count("<- chosen") == 1
    display = StabilityDisplay.from_result(choice)
    line = display.errorbar_.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), choice.candidates)
    np.testing.assert_array_equal(line.get_ydata(), choice.values)
    assert "chosen: 3" in [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert display.plot(ax=display.ax_) is display
    plt.close(display.figure_)


def choice_of(values, limits, chosen, method="prediction_strength", errors=0.01):
    values, limits = np.array(values), np.array(limits)
    zeros = np.zeros(len(values))
    return NClustersChoice(
        n_clusters=chosen,
        candidates=np.arange(1, len(values) + 1),
        values=values,
        standard_errors=np.full(len(values), errors),
        replicates=zeros[:, None],
        reference_values=zeros,
        reference_standard_errors=zeros,
        reference_replicates=zeros[:, None],
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
        ([1, 0.98, 0.885], [1, 0.9, 0.89], 2, "gap", ""),
        ([1, 0.98, 0.5], [1, 0.92, 0.89], 2, "prediction_strength", ""),
        ([1, 0.5, 0.5], [1, 0.92, 0.89], 1, "prediction_strength", ""),
    ],
)
def test_a_choice_near_the_edge_says_so(values, limits, chosen, method, edge):
    choice = choice_of(values, limits, chosen, method)
    assert re.search(edge, choice.edge) if edge else choice.edge == ""
    assert (f"! {choice.edge}" in str(choice)) == bool(edge)
    np.testing.assert_array_equal(choice.margins, choice.values - choice.limits)


def test_a_choice_that_columns_explain_says_so():
    """Groups along two columns by themselves are there in the columns shuffled, too."""
    rng = np.random.default_rng(0)
    grid = np.array(np.meshgrid([0, 9], [0, 9])).reshape(2, 4).T.repeat(15, axis=0)
    grid = grid + rng.normal(size=(60, 2))
    options = {"method": ["prediction_strength", "gap"], "n_repeats": 4, "random_state": 0}
    found = choose_n_clusters(KMEANS, grid, n_clusters=range(1, 6), **options)
    assert found["prediction_strength"].n_clusters == 4
    assert "k = 4 as well" in found["prediction_strength"].caution
    assert not choose_n_clusters(KMEANS, three(), n_clusters=[3], n_repeats=4).caution
    shuffled = choose_n_clusters(KMEANS, grid, n_clusters=[4], reference="permuted", n_repeats=4)
    assert not shuffled.caution
