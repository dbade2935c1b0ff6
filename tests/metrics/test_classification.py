"""Error rate; precision, recall and F averaged over classes."""

import warnings
from functools import partial

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_equal
from reference import classification as reference
from scipy.sparse import csr_matrix
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import fbeta_score, precision_recall_fscore_support, zero_one_loss

from skeval.metrics import (
    averaged_precision_recall_fscore,
    error_rate,
    macro_fbeta_score,
    matrices_precision_recall_fscore,
    micro_fbeta_score,
    npv_score,
    ppv_score,
    sensitivity_score,
    specificity_score,
    weighted_fbeta_score,
)


def problem(n=60, n_classes=4, seed=0):
    """Every class occurs twice at least on both sides."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat(np.arange(n_classes), 2), rng.integers(0, n_classes, n)])
    wrong = rng.random(len(y)) < 0.4
    wrong[: 2 * n_classes] = False
    return y, np.where(wrong, rng.integers(0, n_classes, len(y)), y)


def test_error_rate_counts():
    y, p = problem()
    w = np.random.default_rng(1).random(len(y))
    assert error_rate([0] * 10, [1] + [0] * 9) == 0.1  # 1 - 0.9 is not
    assert_allclose(error_rate(y, p), zero_one_loss(y, p), rtol=1e-12)
    assert_allclose(error_rate(y, p, sample_weight=w), reference.error_rate(y, p, w), rtol=1e-12)
    assert error_rate(np.eye(3, dtype=int), np.eye(3, dtype=int)[[0, 2, 1]]) == 2 / 3


@each_value
@pytest.mark.parametrize("average", ["macro", "micro", "log_inverse", [3.0, 1.0, 0.0, 2.0]])
@pytest.mark.parametrize("beta", [0, 0.5, 1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_reference_implementation(average, beta, weighted):
    y, p = problem()
    w = np.random.default_rng(3).random(len(y)) + 1 if weighted else np.ones(len(y))
    got = averaged_precision_recall_fscore(y, p, beta=beta, average=average, sample_weight=w)
    expected = reference.averaged(y.tolist(), p.tolist(), w.tolist(), range(4), average, beta)
    assert_allclose(got, expected, rtol=1e-12)
    assert all(type(value) is float for value in got)


def test_the_three_scores_are_its_f():
    y, p = problem()
    options = {"beta": 2, "labels": [3, 1]}
    for score, average in [
        (macro_fbeta_score, "macro"),
        (micro_fbeta_score, "micro"),
        (weighted_fbeta_score, "log_inverse"),
    ]:
        expected = averaged_precision_recall_fscore(y, p, average=average, **options)[2]
        assert score(y, p, **options) == expected


def outcome(score, *args, **options):
    """Return the value, and whether it came with a warning of an undefined metric."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = score(*args, **options)
    return value, any(issubclass(w.category, UndefinedMetricWarning) for w in caught)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6),
    st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True) | st.none(),
    st.sampled_from([0, 0.5, 1, 2, np.inf]),
    st.sampled_from([0.0, 1.0, np.nan, "warn"]),
)
def test_micro_f_is_scikit_learns_where_anything_is_undefined(pairs, labels, beta, zero_division):
    """The same number, the same nan and the same warning, for few samples and many gaps."""
    y, p = np.array(pairs).T
    options = {"labels": labels, "beta": beta, "zero_division": zero_division}
    ours, warned = outcome(micro_fbeta_score, y, p, **options)
    theirs, they_warned = outcome(fbeta_score, y, p, average="micro", **options)
    assert_allclose(ours, theirs, rtol=1e-12)
    if 0 < beta < np.inf:  # beyond, scikit-learn does not say that F = P or F = R is 0/0
        assert warned == they_warned


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6),
    st.sampled_from([0, 1, 2]),
)
def test_f_alone_warns_where_it_depends_on_zero_division(pairs, beta):
    y, p = np.array(pairs).T
    class_weight = np.arange(1.0, len(np.union1d(y, p)) + 1)
    for score in (macro_fbeta_score, partial(weighted_fbeta_score, class_weight=class_weight)):
        _, warned = outcome(score, y, p, beta=beta)
        assert warned == (
            score(y, p, beta=beta, zero_division=0) != score(y, p, beta=beta, zero_division=1)
        )


def test_zero_division():
    y, p = [0, 0, 1, 1], [0, 0, 0, 0]  # class 1 is never predicted: P = (1/2, 0/0), R = (1, 0)
    with pytest.warns(UndefinedMetricWarning, match=r"never predicted\) is 0/0 for \[1\] and set"):
        assert macro_fbeta_score(y, p) == pytest.approx(2 * 0.25 * 0.5 / 0.75)
    assert averaged_precision_recall_fscore(y, p, zero_division=0.0)[0] == 0.25
    assert averaged_precision_recall_fscore(y, p, zero_division=1.0)[0] == 0.75
    assert averaged_precision_recall_fscore(y, p, zero_division=np.nan)[0] == 0.5
    assert np.isnan(averaged_precision_recall_fscore(y, p, labels=[1], zero_division=np.nan)[0])
    for zero_division in (0.0, 1.0, np.nan):
        theirs = precision_recall_fscore_support(y, p, average="macro", zero_division=zero_division)
        ours = averaged_precision_recall_fscore(y, p, zero_division=zero_division)
        assert_allclose(ours[:2], theirs[:2])
    with pytest.warns(UndefinedMetricWarning, match=r"Recall \(never true\) is 0/0 for \[\[1\]\]"):
        assert averaged_precision_recall_fscore([0], [1], average="micro", labels=[1])[1] == 0.0
    assert macro_fbeta_score([0, 0], [0, 1], labels=[1]) == 0.0  # P = 0: whatever R is
    assert np.isnan(macro_fbeta_score([0, 1], [0, 0], labels=[2], zero_division=np.nan))


def test_class_weights_by_array_dict_and_labels():
    y, p = np.array(["x", "y", "z"])[np.stack(problem(n_classes=3))]
    by_array = weighted_fbeta_score(y, p, class_weight=[1, 2, 3])
    assert by_array == weighted_fbeta_score(y, p, class_weight={"z": 3, "x": 1, "y": 2})
    assert_allclose(by_array, weighted_fbeta_score(y, p, class_weight=[0.1, 0.2, 0.3]))
    reordered = weighted_fbeta_score(y, p, class_weight=[3, 1, 2], labels=["z", "x", "y"])
    assert_allclose(by_array, reordered)
    assert_allclose(weighted_fbeta_score(y, p, class_weight=[1, 1, 1]), macro_fbeta_score(y, p))
    for unit in (1e-300, 1e307, 2**60):
        scaled = weighted_fbeta_score(y, p, class_weight=[unit, 2 * unit, 3 * unit])
        assert_allclose(scaled, by_array, rtol=1e-12)


def test_log_inverse_needs_two_samples_of_every_class():
    with pytest.raises(ValueError, match=r"each class in y_true, got fewer of \[1\]"):
        weighted_fbeta_score([0, 0, 1], [0, 0, 1])
    with pytest.raises(ValueError, match=r"got fewer of \['b'\]"):
        weighted_fbeta_score(["a", "a"], ["a", "b"])


# Several confusion matrices


@each_value
@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(5))
def test_averages_over_matrices_against_plain_loops(average, beta, seed):
    rng = np.random.default_rng(seed)
    matrices = [rng.integers(0, 4, (k, k)) for k in rng.integers(2, 5, size=4)]
    values = matrices_precision_recall_fscore(
        matrices, average=average, beta=beta, zero_division=0.0
    )
    expected = reference.averaged_over_matrices([m.tolist() for m in matrices], average, beta)
    assert_allclose(values, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        ([], "at least one confusion matrix"),
        ([[[1, 2, 3], [4, 5, 6]]], r"matrices\[0\] must have shape .*, got \(2, 3\)"),
        ([np.eye(2), [[7]]], r"matrices\[1\] must have shape .*, got \(1, 1\)"),
        ([[[1, -2], [0, 1]]], r"matrices\[0\] must contain counts >= 0, got -2"),
        ([[[1, np.nan], [0, 1]]], r"matrices\[0\] contains NaN"),
        (np.eye(2), r"matrices\[0\] must have shape .*, got \(2,\)"),
    ],
)
def test_bad_matrices(matrices, message):
    with pytest.raises(ValueError, match=message):
        matrices_precision_recall_fscore(matrices)


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_indicators_count_like_dense_ones(weighted):
    rng = np.random.default_rng(0)
    true, pred = rng.integers(0, 2, (2, 30, 4))
    options = {"sample_weight": rng.integers(0, 3, 30) if weighted else None, "zero_division": 0.0}
    for metric in (micro_fbeta_score, macro_fbeta_score, averaged_precision_recall_fscore):
        assert_equal(
            metric(csr_matrix(true), csr_matrix(pred), **options), metric(true, pred, **options)
        )


@pytest.mark.parametrize("score", [sensitivity_score, specificity_score, ppv_score, npv_score])
def test_every_true_class_needs_its_prediction(score):
    for n_true, n_predicted in [(4, 3), (3, 4), (4, 1)]:
        with pytest.raises(ValueError, match="must have the same length"):
            score([0, 1, 1, 0][:n_true], [0, 1, 0, 1][:n_predicted])
