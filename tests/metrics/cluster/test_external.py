"""External indices: definitions, degenerate partitions, large counts, chance, bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import external as reference
from sklearn.exceptions import UndefinedMetricWarning

from skeval.metrics.cluster import (
    class_f_measure,
    coassociation_matrix,
    external_indices,
    fowlkes_mallows_score,
    inverse_purity_score,
    minkowski_score,
    pair_counts,
    pair_fbeta_score,
    pair_jaccard_score,
    pair_precision_recall_fscore,
    purity_score,
)

SINGLE = {
    "purity": purity_score,
    "inverse_purity": inverse_purity_score,
    "class_f_measure": class_f_measure,
    "pair_precision": lambda *a, **k: pair_precision_recall_fscore(*a, **k)[0],
    "pair_recall": lambda *a, **k: pair_precision_recall_fscore(*a, **k)[1],
    "pair_f1": pair_fbeta_score,
    "pair_jaccard": pair_jaccard_score,
    "fowlkes_mallows": fowlkes_mallows_score,
    "minkowski": minkowski_score,
}
# The worked example of the definitions: n = 17, three classes, three clusters.
PRED = [1] * 6 + [0] * 6 + [2] * 5
TRUE = [0] * 5 + [1] + [1] * 4 + [0] + [2] + [2] * 3 + [0] * 2


@st.composite
def partitions(draw, min_size=0, max_size=14, max_label=4):
    n = draw(st.integers(min_size, max_size))
    labels = st.lists(st.integers(0, max_label), min_size=n, max_size=n)
    return draw(labels), draw(labels)


@st.composite
def weighted_partitions(draw, weights):
    true, pred = draw(partitions(min_size=1))
    weight = draw(st.lists(weights, min_size=len(true), max_size=len(true)))
    if not sum(weight):
        weight[0] = 1
    return true, pred, weight


def quiet(function, *args, **kwargs):
    """Undefined precision or recall warns, which has a test of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return function(*args, **kwargs)


@pytest.mark.parametrize("kind", [float, object, pd.Series])
def test_a_missing_label_is_located(kind):
    labels = np.array([0.0, 1.0, np.nan, 1.0], dtype=object if kind is object else float)
    labels = pd.Series(labels) if kind is pd.Series else labels
    with pytest.raises(ValueError, match=r"labels_pred .* 1 of 4, the first at position 2"):
        external_indices([0, 0, 1, 1], labels)
    with pytest.raises(ValueError, match="infinity"):
        external_indices([0, 0, 1, 1], [0, 1, np.inf, 1])


@pytest.mark.parametrize("labels", [[0, 1, 1.5], ["a", None, "b"], [0, 1, np.nan], [[0], [1]] * 2])
@pytest.mark.parametrize("side", ["labels_true", "labels_pred"])
def test_what_are_no_labels_is_refused_by_name(side, labels):
    both = {"labels_true": [0] * len(labels), "labels_pred": [1] * len(labels), side: labels}
    if labels[0] == [0]:  # a column, as some clusterers return
        assert external_indices(**both)["purity"] > 0
        return
    with pytest.raises(ValueError, match=side):
        external_indices(**both)
    with pytest.raises(TypeError, match=side):  # a label that cannot be hashed
        external_indices(**both | {side: np.array([{}, {}, {}], dtype=object)})


def test_worked_example_digit_for_digit():
    result = external_indices(TRUE, PRED)
    assert result["purity"] == 12 / 17
    pairs = pair_counts(TRUE, PRED)
    assert (pairs["both"], pairs["pred_only"]) == (20, 20)
    assert (pairs["true_only"], pairs["neither"]) == (24, 72)
    assert result["rand"] == 92 / 136
    assert f"{result['adjusted_rand']:.6f}" == "0.242915"
    assert f"{result['pair_f1']:.6f}" == "0.476190"


@settings(deadline=None)
@given(partitions())
def test_every_index_equals_its_definition(pair):
    expected = reference.all_indices(*pair)
    assert quiet(external_indices, *pair).to_dict() == pytest.approx(expected, abs=1e-12)
    assert {n: quiet(f, *pair) for n, f in SINGLE.items()} == pytest.approx(
        {name: expected[name] for name in SINGLE}, abs=1e-12
    )


@settings(deadline=None)
@given(weighted_partitions(st.floats(0.01, 5)))
def test_weighted_indices_equal_their_definition(data):
    true, pred, weight = data
    expected = reference.all_indices(true, pred, weight)
    result = quiet(external_indices, true, pred, sample_weight=weight)
    assert result.to_dict() == pytest.approx(expected, rel=1e-9, abs=1e-9)


@each_value
@pytest.mark.parametrize(
    "labels", [[], [0], [0, 0, 0], [0, 1, 2], [0, 0, 1, 1], ["a"] * 3 + ["b"], [0] * 1000]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_identical_partitions_are_perfect(labels, weighted):
    renamed = [f"cluster {label}" for label in labels]
    weight = np.linspace(0.1, 2.3, len(labels)) if weighted else None
    result = external_indices(labels, renamed, sample_weight=weight).to_dict()
    assert result.pop("minkowski") == 0.0
    assert result == pytest.approx(dict.fromkeys(result, 1.0), abs=1e-15)
    pairwise = {n: v for n, v in result.items() if n.startswith(("pair", "rand", "adj", "fow"))}
    assert pairwise == dict.fromkeys(pairwise, 1.0)


@settings(deadline=None)
@given(partitions())
def test_coassociation_matrix(pair):
    labels = pair[0]
    expected = reference.coassociation(labels).reshape(len(labels), len(labels))
    sparse = coassociation_matrix(labels)
    assert sparse.has_sorted_indices
    np.testing.assert_array_equal(sparse.toarray(), expected)
    np.testing.assert_array_equal(coassociation_matrix(labels, sparse_output=False), expected)
    assert sparse.dtype == coassociation_matrix(labels, sparse_output=False).dtype == np.int64


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e160, 1e200])
@pytest.mark.parametrize("function", [pair_counts, external_indices])
def test_weights_whose_squares_no_float_holds_are_refused(function, scale):
    with pytest.raises(ValueError, match=r"sample_weight must lie in .* Scale sample_weight"):
        function(TRUE, PRED, sample_weight=np.full(17, scale))


def test_tiny_weights_give_the_indices_of_equal_weights():
    expected = external_indices(TRUE, PRED, sample_weight=np.full(17, 0.5)).to_dict()
    found = external_indices(TRUE, PRED, sample_weight=np.full(17, 1e-130)).to_dict()
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [2, 5, 1000])
def test_one_cluster_against_singletons(n):
    one, each = [0] * n, list(range(n))
    with pytest.warns(UndefinedMetricWarning, match="Pair precision is 0/0"):
        result = external_indices(one, each)
    assert list(pair_counts(one, each).values()) == [0, n * (n - 1) // 2, 0, 0]
    assert (result["pair_precision"], result["pair_recall"], result["pair_f1"]) == (0.0, 0.0, 0.0)
    assert (result["rand"], result["adjusted_rand"], result["fowlkes_mallows"]) == (0.0, 0.0, 0.0)
    assert result["minkowski"] == 1.0
    assert np.isinf(minkowski_score(each, one))
    with pytest.warns(UndefinedMetricWarning, match="Pair recall is 0/0 .* labels_true"):
        pair_precision_recall_fscore(each, one)


@pytest.mark.parametrize("weight", [None, np.ones(10**6)])
def test_counts_of_a_million_samples_do_not_overflow(weight):
    labels = np.zeros(10**6, dtype=np.int8)
    other = np.arange(10**6, dtype=np.int32) % 2
    result = external_indices(labels, other, sample_weight=weight)
    pairs = pair_counts(labels, other, sample_weight=weight)
    assert sum(pairs.values()) == 10**6 * (10**6 - 1) // 2
    assert pairs["both"] == 2 * (500_000 * 499_999 // 2)
    assert result["pair_recall"] == pairs["both"] / sum(pairs.values())


def test_counts_are_exact_beyond_int64():
    from skeval.metrics.cluster._external import Contingency, count_pairs

    cells = np.array([3 * 10**9, 2 * 10**9 + 1])  # their squares do not fit in int64
    table = Contingency(
        np.array([0, 0]), np.array([0, 1]), cells, None, np.array([cells.sum()]), cells
    )
    pairs = count_pairs(table)
    first, second = map(int, cells)
    assert pairs.both == (first * (first - 1) + second * (second - 1)) // 2
    assert (pairs.true_only, pairs.pred_only, pairs.neither) == (first * second, 0, 0)
