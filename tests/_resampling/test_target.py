"""Targets: labels as codes, Series as they were given, and permuted labels."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skeval._resampling.target import has_outputs, permute_labels, read_outputs, validate_data

X = np.arange(8.0)[:, None]
LABELS = np.array(["b", "a"] * 4)


def test_labels_are_coded_in_their_order_and_decoded():
    _, target, _ = validate_data(GaussianNB(), X, LABELS)
    assert target.n_classes == 2
    assert_array_equal(target.codes, [1, 0] * 4)
    assert_array_equal(target.decode(target.codes), LABELS)
    assert_array_equal(target.encode(np.array(["a", "b"]), 2), [0, 1])


def test_predictions_are_checked():
    _, target, _ = validate_data(GaussianNB(), X, LABELS)
    with pytest.raises(ValueError, match="must predict labels that are in y, got 'c'"):
        target.encode(np.array(["a", "c"]), 2)
    with pytest.raises(ValueError, match=r"one value for each sample, shape \(2,\)"):
        target.encode(np.array(["a"]), 2)


def test_numbers_have_no_classes():
    _, target, _ = validate_data(Ridge(), X, X[:, 0])
    assert target.n_classes == 0
    assert target.codes is target.y


def test_a_series_keeps_its_index_and_gets_a_dtype():
    series = pd.Series(np.arange(8, dtype=object) % 2, index=list("abcdefgh"))
    _, target, _ = validate_data(GaussianNB(), X, series)
    assert target.given.dtype == int
    order = np.arange(8)[::-1]
    permuted = permute_labels(target.given, order)
    assert permuted.index.tolist() == list("abcdefgh")
    assert_array_equal(permuted.to_numpy(), target.y[order])
    assert permute_labels(target.given, None) is target.given


OUTPUTS = np.column_stack([np.arange(8) % 2, np.arange(8) % 4 == 0]).astype(int)


def test_predictions_of_several_labels_are_checked():
    target = read_outputs(DecisionTreeClassifier(), OUTPUTS, None)
    assert_array_equal(target.encode(OUTPUTS[:3], 3), OUTPUTS[:3])
    with pytest.raises(ValueError, match=r"must predict every column of y, shape \(3, 2\)"):
        target.encode(OUTPUTS[:3, :1], 3)
    with pytest.raises(ValueError, match="labels that are in y, got 2 in column 'label 0'"):
        target.encode(2 * OUTPUTS[:3], 3)


def test_targets_with_several_columns():
    assert has_outputs(OUTPUTS)
    assert not has_outputs([[1, 2], [3]])
    with pytest.raises(ValueError, match="y must hold numbers for a regressor, got texts"):
        read_outputs(Ridge(), OUTPUTS.astype(str), None)
