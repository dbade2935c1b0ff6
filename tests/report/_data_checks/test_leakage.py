"""Features that give the target away."""

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from helpers.tables import FEW, warnings_of
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval._resampling.target import Target
from skeval.report._data_checks import write_data_warnings


@pytest.mark.parametrize(
    "copy", [lambda y: y, lambda y: 3 - y, lambda y: 10.0 * (y == 1) + 5 * (y == 2)]
)
def test_a_copy_of_the_classes_under_any_code(copy):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, copy(y)])
    assert warnings_of(X, y, names=[*"abcd", "species"])[0].startswith(
        "Copy of the target: Feature 'species' is a copy of the target. Remove it"
    )
    few = FEW | {"cv": 3, "include": "holdout"}
    report = skeval.evaluate(DecisionTreeClassifier(random_state=0), X, y, **few)
    assert report.warnings[0].startswith("Copy of the target: Feature 'x4' is a copy")
    assert all(estimate.interval.high > 0.02 for estimate in report.estimates.values())


def test_a_copy_among_columns_of_text():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(name=np.array(["x", "y", "z"])[y])
    assert warnings_of(frame, y, names=list(frame))[0].startswith(
        "Copy of the target: Feature 'name'"
    )


def test_a_feature_that_tells_the_classes_apart():
    X, y = load_iris(return_X_y=True)
    first = y == 0
    assert warnings_of(X, first, names=list("abcd"))[0].startswith(
        "Perfect feature: Each of the features 'c', 'd' alone separates all classes without error."
    )
    few = np.r_[0:4, 50:54]  # so few samples one of four features may part by chance
    assert [text.code for text in warnings_of(X[few], first[few])] == ["unchecked"]


def test_a_linear_copy_of_numbers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    target = Target(y, None, y)
    assert write_data_warnings(X, target, None, None, {}) == []
    copied = np.column_stack([X, 2 - 3 * y])
    assert write_data_warnings(copied, target, None, None, {})[0].startswith(
        "Copy of the target: Feature 'x3' is a copy"
    )
    report = skeval.evaluate(LinearRegression(), copied, y, **FEW)
    assert "[0.0000, 0.0000]" not in str(report)


def test_features_that_separate_the_classes_are_noted_without_a_headline(noise):
    X, y = noise
    rng = np.random.default_rng(0)
    for feature in (10 * y + rng.normal(size=50), y * rng.exponential(size=50)):
        (warning,) = warnings_of(np.column_stack([X, feature]), y)
        assert warning.code == "telling-feature"
        assert not warning.headline


@pytest.mark.parametrize("make", [np.exp, lambda y: -(y**3), lambda y: y.round(1)])
def test_functions_of_a_numeric_target_are_copies(noise, make):
    y = noise[0][:, 0]
    X = np.column_stack([noise[0][:, 1:], make(y)])
    (warning,) = write_data_warnings(X, Target(y, None, y), None, None, {})
    assert warning.headline == "feature 'x2' is a copy of the target"
    X[7, 2] += 1  # one row, and a missing value, hide nothing
    X[8, 2] = np.nan
    (warning,) = write_data_warnings(X, Target(y, None, y), None, None, {})
    assert warning.headline == "feature 'x2' is a copy of the target"
    X[:4, 2] += 1
    assert write_data_warnings(X, Target(y, None, y), None, None, {}) == []


def encode(level, y, smoothing=0.0):
    """Return for each sample the smoothed mean target of its level, by a loop."""
    means = {}
    for each in np.unique(level):
        own = y[level == each]
        means[each] = (own.sum() + smoothing * y.mean()) / (len(own) + smoothing)
    return np.array([means[each] for each in level])


@each_value
@pytest.mark.parametrize("smoothing", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("of", ["classes", "three classes", "numbers", "counts"])
def test_mean_targets_of_categories_are_grave_however_smoothed(of, smoothing):
    rng = np.random.default_rng(0)
    level, X = rng.integers(0, 12, 120), rng.normal(size=(120, 2))
    y = {
        "classes": rng.integers(0, 2, 120),
        "three classes": rng.integers(0, 3, 120),
        "numbers": rng.normal(size=120),
        "counts": rng.poisson(3, 120).astype(float),
    }[of]
    feature = encode(level, (y == 1) if of == "three classes" else y, smoothing)
    classes = np.unique(y) if "classes" in of else None
    for order in (slice(None), slice(None, None, -1)):
        samples, target = np.column_stack([X, feature])[order], y[order]
        found = write_data_warnings(samples, Target(target, classes, target), None, None, {})
        assert [warning.code for warning in found if warning.headline] == ["target-encoded"]
    honest = encode(level, rng.permutation(feature), smoothing)
    found = write_data_warnings(np.column_stack([X, honest]), Target(y, classes, y), None, None, {})
    assert not any(warning.headline for warning in found)


def test_missing_values_filled_with_knowledge_of_the_class_are_grave(noise):
    X, y = noise[0].copy(), noise[1]
    X[[0, 2, 4], 1] = np.delete(X[y == 0, 1], [0, 1, 2]).mean()
    (warning,) = write_data_warnings(X, Target(y, np.array([0, 1]), y), None, None, {})
    assert warning.code == "target-imputed"
    assert warning.headline.startswith("feature 'x1' repeats a value of one class only")
    X[1, 1] = X[0, 1]  # in a sample of the other class as well
    assert write_data_warnings(X, Target(y, np.array([0, 1]), y), None, None, {}) == []


@pytest.mark.parametrize("n_others", [0, 1, 2, 5])
def test_numbers_that_hardly_vary_are_told_by_no_feature(noise, n_others):
    """Two of 50 numbers that differ are at the end of some feature by chance, all 50 never."""
    X, y = noise[0], np.zeros(50)
    y[np.argsort(X[:, 0])[50 - n_others :]] = 1.0
    found = write_data_warnings(X, Target(y, None, y), None, None, {})
    assert [text.code for text in found] == (["telling-feature"] if n_others > 2 else [])


def grave_codes(X, y, **options):
    return [text.code for text in warnings_of(X, y, **options) if text.headline]


def test_waiting_times_that_give_the_choice_of_a_flight_away():
    table = pytest.importorskip("statsmodels.api").datasets.modechoice.load_pandas().data
    air = table[table["mode"] == 1]
    X, flew = air[["ttme", "invc", "gc", "hinc"]].to_numpy(), air["choice"].to_numpy(dtype=int)
    assert grave_codes(X, flew) == ["target-imputed"]
    assert grave_codes(-1e6 * X[::-1], flew[::-1]) == ["target-imputed"]
    assert grave_codes(X[:, 1:], flew) == []
    at_the_end = np.where(X == 64, 200, np.where(X == 69, 210, X))  # an ordinary good feature
    assert grave_codes(at_the_end, flew) == []
