"""Error rate; precision, recall and F averaged over classes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import classification as slow
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    fbeta_score,
    precision_recall_fscore_support,
    zero_one_loss,
)

from skeval.metrics import (
    averaged_precision_recall_fscore,
    error_rate,
    macro_fbeta_score,
    micro_fbeta_score,
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
    assert_allclose(error_rate(y, p, sample_weight=w), slow.error_rate(y, p, w), rtol=1e-12)
    assert error_rate(np.eye(3, dtype=int), np.eye(3, dtype=int)[[0, 2, 1]]) == 2 / 3


def test_error_rate_is_never_negative():
    weight = [0.1, 0.2, 0.3, 0.7, 1.1]
    assert error_rate([0, 1, 0, 1, 1], [0, 1, 0, 1, 1], sample_weight=weight) == 0.0


@pytest.mark.parametrize("average", ["macro", "micro", "log_inverse", [3.0, 1.0, 0.0, 2.0]])
@pytest.mark.parametrize("beta", [0, 0.5, 1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_slow_one(average, beta, weighted):
    y, p = problem()
    w = np.random.default_rng(3).random(len(y)) + 1 if weighted else np.ones(len(y))
    got = averaged_precision_recall_fscore(y, p, beta=beta, average=average, sample_weight=w)
    expected = slow.averaged(y.tolist(), p.tolist(), w.tolist(), range(4), average, beta)
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


@pytest.mark.parametrize("labels", [None, [2, 0], [1]])
def test_precision_and_recall_agree_with_scikit_learn(labels):
    y, p = problem()
    w = np.random.default_rng(4).random(len(y))
    for average in ("macro", "micro"):
        theirs = precision_recall_fscore_support(
            y, p, beta=0.5, average=average, labels=labels, sample_weight=w
        )
        ours = averaged_precision_recall_fscore(
            y, p, beta=0.5, average=average, labels=labels, sample_weight=w
        )
        assert_allclose(ours[:2], theirs[:2], rtol=1e-12)
        if average == "micro":
            assert_allclose(ours[2], theirs[2], rtol=1e-12)


def test_macro_f_of_the_docstring():
    # P = (3/3, 2/3), R = (3/4, 2/2): F_c = 6/7, 4/5; F of the means 5/6 and 7/8.
    y, p = [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]
    assert_allclose(f1_score(y, p, average="macro"), (6 / 7 + 4 / 5) / 2)
    assert_allclose(macro_fbeta_score(y, p), 2 * (5 / 6) * (7 / 8) / (5 / 6 + 7 / 8))


def test_log_inverse_by_hand():
    # Supports 8 and 2: weights 1/3 and 1 are 1/4 and 3/4. P = (7/8, 1/2), R = (7/8, 1/2).
    y, p = [0] * 8 + [1] * 2, [0] * 7 + [1, 1, 0]
    precision, recall, f = averaged_precision_recall_fscore(y, p, average="log_inverse")
    assert_allclose([precision, recall, f], [0.25 * 7 / 8 + 0.75 / 2] * 3)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_macro_f_is_at_least_scikit_learns_and_micro_is_accuracy(pairs):
    y, p = np.array(pairs).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for beta in (0.5, 1.0, 3.0):
            theirs = fbeta_score(y, p, beta=beta, average="macro")
            assert macro_fbeta_score(y, p, beta=beta) >= theirs - 1e-12
    assert_allclose(micro_fbeta_score(y, p), accuracy_score(y, p), rtol=1e-12)


def test_limits_of_beta():
    y, p = problem()
    precision, recall, f = averaged_precision_recall_fscore(y, p, beta=0)
    assert_allclose(f, precision)
    assert averaged_precision_recall_fscore(y, p, beta=np.inf)[2] == recall
    assert_allclose(macro_fbeta_score(y, p, beta=1e9), recall)


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
    with pytest.warns(UndefinedMetricWarning, match="never true"):
        assert macro_fbeta_score([0, 0], [0, 1], labels=[1]) == 0.0


def test_a_label_that_nobody_has_is_undefined_as_in_scikit_learn():
    with pytest.warns(UndefinedMetricWarning):
        assert macro_fbeta_score([0, 1], [0, 1], labels=[0, 7]) == 0.5


def test_class_weights_by_array_dict_and_labels():
    y, p = np.array(["x", "y", "z"])[np.stack(problem(n_classes=3))]
    by_array = weighted_fbeta_score(y, p, class_weight=[1, 2, 3])
    assert by_array == weighted_fbeta_score(y, p, class_weight={"z": 3, "x": 1, "y": 2})
    assert_allclose(by_array, weighted_fbeta_score(y, p, class_weight=[0.1, 0.2, 0.3]))
    reordered = weighted_fbeta_score(y, p, class_weight=[3, 1, 2], labels=["z", "x", "y"])
    assert_allclose(by_array, reordered)
    assert_allclose(weighted_fbeta_score(y, p, class_weight=[1, 1, 1]), macro_fbeta_score(y, p))


def test_log_inverse_needs_two_samples_of_every_class():
    with pytest.raises(ValueError, match=r"more than one sample of every class, got \{1: 1\.0\}"):
        weighted_fbeta_score([0, 0, 1], [0, 0, 1])
    with pytest.raises(ValueError, match=r"got \{'b': 0\.0\}"):
        weighted_fbeta_score(["a", "a"], ["a", "b"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"class_weight": [1.0]}, r"one per class, 2, got shape \(1,\)"),
        ({"class_weight": [1.0, -1.0]}, r">= 0 and not all 0, got \[1.0, -1.0\]"),
        ({"class_weight": [0.0, 0.0]}, "not all 0"),
        ({"class_weight": {0: 1.0}}, r"exactly the classes \[0, 1\], got \[0\]"),
        ({"class_weight": {0: 1.0, 1: 1.0, 2: 1.0}}, "exactly the classes"),
        ({"class_weight": "balanced"}, "'class_weight' parameter .* Got 'balanced'"),
        ({"beta": -1.0}, "'beta' parameter .* Got -1.0"),
        ({"labels": [0, 0]}, r"must not repeat a class, got \[0, 0\]"),
        ({"labels": []}, "at least one class, got an empty list"),
        ({"sample_weight": [1, 1, -1, 1]}, "sample_weight must be >= 0"),
        ({"zero_division": "nan"}, "'zero_division' parameter"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        weighted_fbeta_score([0, 0, 1, 1], [0, 1, 1, 1], **arguments)


def test_indicator_matrix_and_pandas():
    rng = np.random.default_rng(5)
    y, p = rng.integers(0, 2, (20, 3)), rng.integers(0, 2, (20, 3))
    theirs = precision_recall_fscore_support(y, p, average="macro")
    assert_allclose(averaged_precision_recall_fscore(y, p)[:2], theirs[:2])
    y, p = problem()
    series = pd.Series(y.astype(str), index=range(7, 7 + len(y)))
    assert macro_fbeta_score(series, p.astype(str)) == macro_fbeta_score(y, p)
