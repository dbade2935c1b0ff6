"""Values that are missing or rounded by class, and targets that are computed from features."""

import numpy as np
import pandas as pd
import pytest

from skeval._resampling.sampling_units import Target
from skeval.report._data_checks import write_data_warnings


def find(X, y, names=None):
    """Return the warnings of a table, of classes if labels are not floats."""
    if y.dtype.kind == "f":
        return write_data_warnings(X, Target(y, None, y), None, names, {})
    classes, codes = np.unique(y, return_inverse=True)
    return write_data_warnings(X, Target(y, classes, codes), None, names, {})


@pytest.fixture
def noise():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 5)), rng.permutation(np.repeat(["ill", "well"], 100))


def assert_grave_in_any_representation(X, y, code):
    """Order of rows and columns, names of classes and signs of features change nothing."""
    order = np.random.default_rng(1).permutation(len(y))
    renamed = np.where(y == "ill", 1, 0)
    for rows, labels in [(X, y), (X[:, ::-1], renamed), (X[order], y[order]), (-X, 1 - renamed)]:
        (warning,) = find(rows, labels)
        assert warning.code == code
        assert warning.headline


def test_values_missing_in_most_of_a_class_are_grave(noise):
    X, y = noise
    X[np.flatnonzero(y == "ill")[:60], 3] = np.nan
    assert_grave_in_any_representation(X, y, "missing-by-class")
    assert find(X, y)[0].startswith(
        "Missing in one class only: Feature 'x3' has missing values only in class ill (60 % of its "
        "samples)."
    )


def test_values_missing_in_a_few_of_a_class_are_noted_unless_chance_explains_them(noise):
    X, y = noise
    X[np.flatnonzero(y == "ill")[:20], 3] = np.nan
    (warning,) = find(X, y)
    assert warning.code == "missing-by-class"
    assert not warning.headline
    X[np.flatnonzero(y == "well")[:1], 3] = np.nan
    assert find(X, y) == []
    few = noise[0].copy()
    few[:, 3] = 0.5 + np.arange(200)
    few[np.flatnonzero(y == "ill")[:4], 2] = np.nan
    assert "missing-by-class" not in [warning.code for warning in find(few, y)]


def test_missing_texts_of_a_class():
    rng = np.random.default_rng(0)
    town = np.array(["Rome", "Pisa", "Bari"], dtype=object)[rng.integers(0, 3, 90)]
    gaps = np.where(np.arange(90) < 30, None, town)
    table = pd.DataFrame({"town": gaps, "age": rng.normal(size=90)})
    (warning,) = find(table, np.repeat(["ill", "well"], 45), ["town", "age"])
    assert "Feature 'town' has missing values only in class ill (67 %" in warning


def test_fewer_decimals_in_a_class_are_grave_and_no_identifier(noise):
    X, y = noise
    X[:, 3] = np.where(y == "ill", X[:, 3].round(1), X[:, 3].round(3))
    assert_grave_in_any_representation(X, y, "rounded-by-class")


def test_decimals_that_size_or_few_values_explain_are_no_trace(noise):
    X, y = noise
    assert find(X.round(1), y) == []
    larger = np.exp(X + np.log(10) * (y == "ill")[:, None])
    three_digits = np.array([[float(f"{value:.3g}") for value in row] for row in larger])
    assert find(three_digits, y) == []
    X[:, 3] = np.where(y == "ill", np.arange(200) % 3, np.abs(X[:, 3]))  # a score of 0, 1 or 2
    assert "rounded-by-class" not in [warning.code for warning in find(X, y)]


@pytest.mark.parametrize(
    ("compute", "formula"),
    [
        (lambda X: X[:, 0] - 2 * X[:, 2] + 5, "weighted sum"),
        (lambda X: 3 * X[:, 0] / X[:, 2] ** 2, "product"),
    ],
)
def test_a_target_computed_from_features_is_grave(noise, compute, formula):
    X = np.exp(noise[0][:50])
    y = compute(X)
    (warning,) = find(X, y)
    assert warning.headline == (f"the target is a {formula} of features 'x0', 'x2', up to rounding")
    assert find(1e6 * X[::-1], y[::-1])[0].headline == warning.headline
    assert find(X, y * (1 + 1e-5 * np.random.default_rng(0).normal(size=50))) == []
    assert [warning.code for warning in find(X[:15], y[:15])] == ["unchecked"]  # too few rows
