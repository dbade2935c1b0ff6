"""External indices: definitions, degenerate partitions, sizes, kinds of labels, bad input."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import external as reference
from sklearn.cluster import KMeans
from sklearn.exceptions import UndefinedMetricWarning

from skeval.metrics import cluster
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
SYMMETRIC = {"pair_f1", "pair_jaccard", "rand", "adjusted_rand", "fowlkes_mallows"}
NOT_SYMMETRIC = {
    "purity",
    "inverse_purity",
    "class_f_measure",
    "pair_precision",
    "pair_recall",
    "minkowski",
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


def test_worked_example_digit_for_digit():
    result = external_indices(TRUE, PRED)
    assert f"{result['purity']:.6f}" == "0.705882"
    assert result["purity"] == 12 / 17
    pairs = pair_counts(TRUE, PRED)
    assert (pairs["both"], pairs["pred_only"]) == (20, 20)
    assert (pairs["true_only"], pairs["neither"]) == (24, 72)
    assert result["rand"] == 92 / 136
    assert f"{result['rand']:.6f}" == "0.676471"
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


@settings(deadline=None)
@given(weighted_partitions(st.integers(0, 4)))
def test_whole_weights_repeat_samples(data):
    true, pred, weight = data
    repeated = np.repeat(true, weight), np.repeat(pred, weight)
    result = quiet(external_indices, true, pred, sample_weight=weight)
    expected = quiet(external_indices, *repeated)
    assert result.to_dict() == pytest.approx(expected.to_dict(), abs=1e-12)
    for name, function in SINGLE.items():
        value = quiet(function, true, pred, sample_weight=weight)
        assert value == pytest.approx(quiet(function, *repeated), abs=1e-12), name


@settings(deadline=None)
@given(weighted_partitions(st.floats(0.1, 1)), st.floats(0.1, 1))
def test_scale_of_weights_up_to_one_does_not_matter(data, scale):
    true, pred, weight = data
    small = quiet(external_indices, true, pred, sample_weight=np.multiply(weight, scale))
    large = quiet(external_indices, true, pred, sample_weight=weight)
    assert small.to_dict() == pytest.approx(large.to_dict(), rel=1e-9, abs=1e-9)


def test_symmetry_table_is_complete():
    assert set(external_indices([0], [0]).to_dict()) == SYMMETRIC | NOT_SYMMETRIC


@settings(deadline=None)
@given(partitions())
def test_symmetry(pair):
    result = quiet(external_indices, *pair).to_dict()
    swapped = quiet(external_indices, *reversed(pair)).to_dict()
    assert {n: result[n] for n in SYMMETRIC} == pytest.approx({n: swapped[n] for n in SYMMETRIC})
    assert result["purity"] == swapped["inverse_purity"]
    assert result["pair_precision"] == swapped["pair_recall"]


@settings(deadline=None)
@given(partitions(), st.randoms(use_true_random=False))
def test_names_and_order_of_samples_do_not_matter(pair, random):
    order = list(range(len(pair[0])))
    random.shuffle(order)
    true = np.array([f"class {pair[0][i]}" for i in order], dtype=object)
    pred = np.array([1e5 * pair[1][i] - 7 for i in order])
    assert quiet(external_indices, true, pred).to_dict() == pytest.approx(
        quiet(external_indices, *pair).to_dict(), abs=1e-12
    )


@settings(deadline=None)
@given(partitions(min_size=2, max_size=30))
def test_scikit_learn_agrees(pair):
    result = quiet(external_indices, *pair)
    matrix = sklearn.metrics.cluster.pair_confusion_matrix(*pair)
    ss, sd, ds, dd = pair_counts(*pair).values()
    assert [[2 * dd, 2 * ds], [2 * sd, 2 * ss]] == matrix.tolist()
    assert result["rand"] == pytest.approx(sklearn.metrics.rand_score(*pair), abs=1e-12)
    assert result["adjusted_rand"] == pytest.approx(
        sklearn.metrics.adjusted_rand_score(*pair), abs=1e-12
    )
    if sd or ds:
        assert result["fowlkes_mallows"] == pytest.approx(
            sklearn.metrics.fowlkes_mallows_score(*pair), abs=1e-12
        )


def test_scikit_learn_has_these_right():
    for name in ("adjusted_rand_score", "rand_score"):
        assert getattr(cluster, name) is getattr(sklearn.metrics, name)
    for name in ("contingency_matrix", "pair_confusion_matrix"):
        assert getattr(cluster, name) is getattr(sklearn.metrics.cluster, name)


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


@pytest.mark.parametrize("n", [2, 5, 1000])
def test_one_cluster_against_singletons(n):
    one, each = [0] * n, list(range(n))
    with pytest.warns(UndefinedMetricWarning, match="Pair precision is undefined"):
        result = external_indices(one, each)
    assert list(pair_counts(one, each).values()) == [0, n * (n - 1) // 2, 0, 0]
    assert (result["pair_precision"], result["pair_recall"], result["pair_f1"]) == (0.0, 0.0, 0.0)
    assert (result["rand"], result["adjusted_rand"], result["fowlkes_mallows"]) == (0.0, 0.0, 0.0)
    assert result["minkowski"] == 1.0
    assert minkowski_score(each, one) == math.inf
    with pytest.warns(UndefinedMetricWarning, match="Pair recall is undefined .* labels_true"):
        pair_precision_recall_fscore(each, one)


def test_adjusted_rand_is_negative_below_chance():
    assert external_indices([0, 0, 1, 1], [0, 1, 0, 1])["adjusted_rand"] == -0.5


@pytest.mark.parametrize("beta", [0.0, 0.5, 2.0])
def test_beta(beta):
    ss, sd, ds, _ = reference.pair_counts(TRUE, PRED)
    precision, recall = ss / (ss + ds), ss / (ss + sd)
    expected = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    assert pair_fbeta_score(TRUE, PRED, beta=beta) == pytest.approx(expected)
    assert pair_precision_recall_fscore(TRUE, PRED, beta=beta) == pytest.approx(
        (precision, recall, expected)
    )
    assert class_f_measure(TRUE, PRED, beta=beta) == pytest.approx(
        reference.class_f(TRUE, PRED, beta)
    )


@pytest.mark.parametrize(
    "kind",
    [
        list,
        np.array,
        lambda v: np.array(v, dtype=np.uint8),
        lambda v: np.array(v, dtype=np.int8) - 100,
        lambda v: np.array(v, dtype=np.uint64) + np.uint64(2**63),
        lambda v: np.array(v, dtype=np.int64) * 10**15,
        lambda v: np.array(v, dtype=float),
        lambda v: np.array(v, dtype=str),
        lambda v: np.array(v, dtype="S3"),
        lambda v: np.array([("a", 1, 2.5)[i] for i in v], dtype=object),
        lambda v: np.array(v, dtype="M8[D]"),
        lambda v: pd.Series(v, index=range(5, 5 + len(v))),
        lambda v: pd.Series([f"c{i}" for i in v]),
        lambda v: pd.Series(v, dtype="category"),
        lambda v: pd.Series(v, dtype="Int64"),
    ],
)
def test_kinds_of_labels(kind):
    expected = external_indices(TRUE, PRED)
    assert external_indices(kind(TRUE), kind(PRED)) == expected
    assert (coassociation_matrix(kind(TRUE)) != reference.coassociation(TRUE)).sum() == 0


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


def test_minkowski_is_the_distance_of_coassociation_matrices():
    assert_allclose(minkowski_score(TRUE, PRED), reference.minkowski_from_matrices(TRUE, PRED))
    assert_allclose(minkowski_score(PRED, TRUE), reference.minkowski_from_matrices(PRED, TRUE))


@pytest.mark.parametrize("function", [external_indices, pair_counts, *SINGLE.values()])
def test_input_is_not_modified(function):
    true, pred, weight = np.array(TRUE), np.array(PRED), np.linspace(0.5, 2, len(TRUE))
    for array in (true, pred, weight):
        array.setflags(write=False)
    found = function(true, pred, sample_weight=weight)
    assert found == function(TRUE, PRED, sample_weight=np.linspace(0.5, 2, len(TRUE)))


@pytest.mark.parametrize("name", SINGLE)
def test_scores_are_python_floats(name):
    assert type(SINGLE[name](TRUE, PRED)) is float
    assert type(SINGLE[name](TRUE, PRED, sample_weight=np.ones(17))) is float
    assert {type(value) for value in external_indices(TRUE, PRED).to_dict().values()} == {float}


def test_results_are_printable_frames():
    result = external_indices(TRUE, PRED)
    frame = result.to_frame()
    assert frame.loc["rand", "value"] == result["rand"]
    assert len(str(result).splitlines()) == len(frame) == len(result)
    assert f"rand             {result['rand']:.4f}" in str(result)


@each_value
@pytest.mark.parametrize(
    ("true", "pred", "weight", "message"),
    [
        ([0, 1], [0, 1, 2], None, "inconsistent numbers of samples"),
        ([0, 1], [0, 1], [1.0], "sample_weight|inconsistent numbers"),
        ([[0], [1]], [0, 1], None, r"labels_true must be 1-D, got an array of shape \(2, 1\)"),
        ([0, 1], [0.5, 1], None, "labels_pred must be discrete labels, got the fraction .*0.5"),
        ([0, 1], [1e300, 1], None, "labels_pred must be discrete labels"),
        ([0, np.nan], [0, 1], None, "contains NaN"),
        (np.array(["a", None], dtype=object), [0, 1], None, "labels_true .*missing values"),
        ([0, 1], [0, 1], [1, -1], "sample_weight must be >= 0, got -1"),
        ([0, 1], [0, 1], [0, 0], "sample_weight must hold a weight > 0, got only zeros"),
        ([0, 1], [0, 1], [1, np.nan], "NaN"),
    ],
)
@pytest.mark.parametrize("function", [external_indices, pair_counts, purity_score])
def test_bad_input(function, true, pred, weight, message):
    with pytest.raises(ValueError, match=message):
        function(true, pred, sample_weight=weight)


@each_value
@pytest.mark.parametrize("function", [class_f_measure, pair_fbeta_score])
@pytest.mark.parametrize("beta", [-1, "1", np.nan])
def test_bad_beta(function, beta):
    with pytest.raises(ValueError, match="'beta' parameter"):
        function(TRUE, PRED, beta=beta)


def test_bad_labels_of_coassociation():
    with pytest.raises(ValueError, match=r"labels must be 1-D, got an array of shape \(1, 2\)"):
        coassociation_matrix([[0, 1]])


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1e-8])
@settings(max_examples=10, deadline=None)
@given(data=weighted_partitions(st.floats(0.1, 1)))
def test_the_scale_of_small_weights_changes_no_index(data, scale):
    true, pred, weight = data
    for function in SINGLE.values():
        expected = quiet(function, true, pred, sample_weight=weight)
        found = quiet(function, true, pred, sample_weight=np.multiply(weight, scale))
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("scale", [2.0**60, 2.0**500, 2.0**660, 2.0**1000])
@settings(max_examples=10, deadline=None)
@given(data=weighted_partitions(st.floats(0.1, 1)))
def test_huge_weights_reach_the_limit_of_many_copies(data, scale):
    """Beside the pairs of copies of a sample the ``-1`` of ``w (w - 1)`` vanishes."""
    true, pred, weight = data
    for function in SINGLE.values():
        expected = quiet(function, true, pred, sample_weight=np.multiply(weight, 2.0**60))
        found = quiet(function, true, pred, sample_weight=np.multiply(weight, scale))
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("small", [1e-3, 1e-9, 1e-100, 1e-140])
def test_light_samples_count_beside_a_heavy_one(small):
    """One sample of weight 1, apart in both partitions, shares no pair with the others."""
    true, pred = ["x", "a", "a", "b"], ["x", "a", "b", "b"]
    weight = [1.0, small, small, small]
    alone = external_indices(true[1:], pred[1:])
    for name in ("pair_jaccard", "pair_f1", "fowlkes_mallows", "minkowski"):
        expected = alone[name]
        assert SINGLE[name](true, pred, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e160, 1e200])
def test_pair_counts_that_no_float_holds_are_refused(scale):
    weight = np.full(17, scale)
    with pytest.raises(ValueError, match=r"sample_weight must be .* about 2\*\*"):
        pair_counts(TRUE, PRED, sample_weight=weight)
    assert np.isfinite(list(external_indices(TRUE, PRED, sample_weight=weight).values())).all()


@pytest.mark.parametrize(
    "beta", [1e-200, 1e-160, 1e154, 1e200, 10**400, np.inf], ids=lambda beta: str(beta)[:6]
)
@settings(max_examples=25, deadline=None)
@given(pair=partitions())
def test_extreme_beta_is_precision_or_recall(pair, beta):
    limit = 0.0 if beta < 1 else 1e7
    for function in (class_f_measure, pair_fbeta_score):
        expected = quiet(function, *pair, beta=limit)
        assert quiet(function, *pair, beta=beta) == pytest.approx(expected, rel=1e-9)


def test_a_clusterer_in_place_of_labels_is_refused_with_a_remedy():
    for arguments, name in (([0, 1], KMeans(2)), "labels_pred"), ((KMeans, [0, 1]), "labels_true"):
        with pytest.raises(TypeError, match=f"^{name} must .* KMeans; pass clusterer.fit_predict"):
            purity_score(*arguments)
