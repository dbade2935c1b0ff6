"""Warnings of the table itself: copies of samples and of the target, row numbers."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval._resampling.task import Target, check_task
from skeval.report._data_checks import write_data_warnings

FEW = {"n_bootstraps": 5, "n_permutations": 0, "random_state": 0}


def warnings_of(X, y, groups=None, names=None):
    target = check_task(DecisionTreeClassifier(), np.zeros((len(y), 1)), y, None)[1]
    return write_data_warnings(X, target, groups, names, {})


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 3)), np.tile([0, 1], 25)


def test_tripled_samples_are_told_loudly_and_no_interval_is_a_point(noise):
    X, y = np.tile(noise[0], (3, 1)), np.tile(noise[1], 3)
    report = skeval.evaluate(KNeighborsClassifier(1), X, y, **FEW)
    assert report["cross_validation"].value == 0
    assert report.warnings[0].startswith("150 of 150 samples have an exact copy under another")
    assert all(estimate.interval.high > estimate.interval.low for estimate in report.estimates)
    assert "! 150 of 150 samples" in str(report)


def test_copies_within_a_group_are_no_fault(noise):
    X, y = np.repeat(noise[0], 3, axis=0), np.repeat(noise[1], 3)
    assert warnings_of(X, y, np.repeat(np.arange(50), 3)) == []
    assert len(warnings_of(X, y, np.tile(np.arange(30), 5))) == 1


def test_a_few_copies_and_tables_of_few_values(noise):
    X, y = noise
    assert warnings_of(np.vstack([X[:49], X[:1]]), y) == []
    assert warnings_of(np.vstack([X[:40], X[:10]]), y)[0].startswith("20 of 50 samples")
    rng = np.random.default_rng(0)
    assert warnings_of(rng.integers(0, 2, (50, 3)).astype(float), y) == []


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_bundled_sets_have_no_fault(load):
    codes = [warning.code for warning in warnings_of(*load(return_X_y=True))]
    assert codes == (["constant"] if load is load_digits else [])  # its corners are never inked


@pytest.mark.parametrize(
    "copy", [lambda y: y, lambda y: 3 - y, lambda y: 10.0 * (y == 1) + 5 * (y == 2)]
)
def test_a_copy_of_the_classes_under_any_code(copy):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, copy(y)])
    assert warnings_of(X, y, names=[*"abcd", "species"])[0].startswith(
        "Feature 'species' is a copy of the target: a rule that uses it reads the answer."
    )
    few = FEW | {"cv": 3, "include": "holdout"}
    report = skeval.evaluate(DecisionTreeClassifier(random_state=0), X, y, **few)
    assert report.warnings[0].startswith("Feature 'x4' is a copy of the target")
    assert all(estimate.interval.high > 0.02 for estimate in report.estimates)


def test_a_copy_among_columns_of_text():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(name=np.array(["x", "y", "z"])[y])
    assert warnings_of(frame, y, names=list(frame))[0].startswith("Feature 'name' is a copy")


def test_a_feature_that_tells_the_classes_apart():
    X, y = load_iris(return_X_y=True)
    first = y == 0
    assert warnings_of(X, first, names=list("abcd"))[0].startswith(
        "Each of the features 'c', 'd' alone tells all classes apart, without one error: make sure"
    )
    few = np.r_[0:4, 50:54]  # so few samples one of four features may part by chance
    assert warnings_of(X[few], first[few]) == []


def test_a_linear_copy_of_numbers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    target = Target(y, None, y)
    assert write_data_warnings(X, target, None, None, {}) == []
    copied = np.column_stack([X, 2 - 3 * y])
    assert write_data_warnings(copied, target, None, None, {})[0].startswith(
        "Feature 'x3' is a copy"
    )
    report = skeval.evaluate(LinearRegression(), copied, y, **FEW)
    assert "[0.0000, 0.0000]" not in str(report)


def test_row_numbers(noise):
    X, y = noise
    frame = pd.DataFrame(X, columns=list("abc")).assign(id=np.arange(1000, 1050))
    mixed = frame.sample(frac=1, random_state=0)
    for table in (frame, mixed):
        (sentence,) = warnings_of(table, y, names=list(frame))
        assert sentence.startswith("Feature 'id' counts the samples in whole numbers")
        assert not sentence.headline
    (sentence,) = warnings_of(frame.assign(id=7 * frame["id"]), y, names=list(frame))
    assert sentence.code == "row-number"
    assert warnings_of(mixed.assign(id=7 * mixed["id"]), y, names=list(frame)) == []


@pytest.mark.parametrize("order", [np.arange(50), np.random.default_rng(0).permutation(50)])
def test_row_numbers_that_tell_the_target_forbid_to_quote(noise, order):
    X, y = (
        np.column_stack([noise[0], np.arange(50)])[order],
        np.repeat([0, 1, 0, 1], [20, 9, 3, 18]),
    )
    (sentence,) = warnings_of(X, y[order])
    assert sentence.headline == "feature 'x3' counts the rows, whose order tells the target"
    numbers = np.arange(50) + noise[0][:, 0]
    (sentence,) = write_data_warnings(
        X, Target(numbers[order], None, numbers[order]), None, None, {}
    )
    assert sentence.headline


def test_what_is_no_table_is_left_alone(noise):
    X, y = noise
    twice = np.vstack([X[:25], X[:25]])
    assert warnings_of(["one text"] * 50, y) == []
    assert warnings_of(csr_matrix(twice), y) == []
    assert warnings_of(twice @ twice.T, y) == []  # a kernel
    assert warnings_of(np.where(X > 2, np.inf, np.where(X < -1, np.nan, X)), y) == []


def patients(rng, n_patients=60, flipped=0.0):
    """Draw visits of patients in any order, each patient with one label but for some of them."""
    patient = rng.permutation(np.repeat(np.arange(n_patients), rng.integers(1, 4, n_patients)))
    y = rng.integers(0, 2, n_patients)[patient] ^ (rng.random(len(patient)) < flipped)
    return np.array([f"P{k:03d}" for k in patient]), y


def test_an_identifier_among_the_columns_left_out_forbids_to_quote():
    rng = np.random.default_rng(0)
    name, y = patients(rng)
    X = rng.normal(size=(len(y), 3))
    few = FEW | {"cv": 3, "include": "holdout"}
    report = skeval.evaluate(
        DecisionTreeClassifier(random_state=0), X, y, left_out={"patient": name}, **few
    )
    (found,) = [w for w in report.warnings if w.code == "identifier"]
    n_repeated = sum(np.sum(name == one) for one in set(name) if np.sum(name == one) > 1)
    assert found.headline == (
        f"{n_repeated} of {len(y)} samples share their value of 'patient' and always their class "
        "with others (use --groups patient)"
    )
    frame = pd.DataFrame({"patient": name})
    copy = skeval.evaluate(DecisionTreeClassifier(random_state=0), X, y, left_out=frame, **few)
    assert copy.warnings == report.warnings


def test_identifiers_by_kind_of_column():
    rng = np.random.default_rng(0)
    name, y = patients(rng)
    X = rng.normal(size=(len(y), 2))
    number = np.unique(name, return_inverse=True)[1] * 7 + 1000.0
    (told,) = warnings_of(np.column_stack([X, number]), y)
    assert told.code == "identifier"
    assert told.headline.endswith("(use --groups x2)")
    target = check_task(DecisionTreeClassifier(), X, y, None)[1]
    both = write_data_warnings(X, target, None, None, {"a": name, "b": number})
    assert len(both) == 1  # two names of the same patients
    assert write_data_warnings(X, target, name, None, {"a": name}) == []
    once = np.where(np.arange(len(y)) % 2, name, "")  # no value is no patient
    (found,) = write_data_warnings(X, target, None, None, {"a": once})
    assert f"of {np.sum(once != '')} samples" in found


def test_labels_that_differ_within_an_identifier_are_told_without_a_headline():
    rng = np.random.default_rng(0)
    name, y = patients(rng, 200, flipped=0.25)
    X = rng.normal(size=(len(y), 2))
    target = check_task(DecisionTreeClassifier(), X, y, None)[1]
    (found,) = write_data_warnings(X, target, None, None, {"patient": name})
    assert found.code == "identifier"
    assert not found.headline
    assert "they are not independent" in found


@pytest.mark.parametrize("left_out", [[1, 2], {"a": [1, 2]}, {"a": np.zeros((20, 2))}])
def test_left_out_must_be_columns(left_out):
    with pytest.raises(ValueError, match="left_out must"):
        skeval.evaluate(DecisionTreeClassifier(), np.zeros((20, 2)), [0, 1] * 10, left_out=left_out)


def test_features_that_only_the_target_can_have_made_forbid_to_quote(noise):
    X, y = noise
    rng = np.random.default_rng(0)
    for leak in (10 * y + rng.normal(size=50), y * rng.exponential(size=50)):
        (found,) = warnings_of(np.column_stack([X, leak]), y)
        assert found.code == "telling-feature"
        assert found.headline.startswith("feature 'x3' alone tells all classes apart")
    apart = 6 * y + rng.uniform(-2.9, 2.9, size=50)  # as far as measurements may lie
    (found,) = warnings_of(np.column_stack([X, apart]), y)
    assert found.code == "telling-feature"
    assert not found.headline


@pytest.mark.parametrize("make", [np.exp, lambda y: -(y**3), lambda y: y.round(1)])
def test_functions_of_numbers_forbid_to_quote(noise, make):
    y = noise[0][:, 0]
    X = np.column_stack([noise[0][:, 1:], make(y)])
    (found,) = write_data_warnings(X, Target(y, None, y), None, None, {})
    assert found.headline.startswith("feature 'x2' alone tells the order of the targets")
    X[7, 2] += 1
    assert write_data_warnings(X, Target(y, None, y), None, None, {}) == []


@pytest.mark.parametrize("n_others", [0, 1, 2, 5])
def test_numbers_that_hardly_vary_are_told_by_no_feature(noise, n_others):
    """Two of 50 numbers that differ are at the end of some feature by chance, all 50 never."""
    X, y = noise[0], np.zeros(50)
    y[np.argsort(X[:, 0])[50 - n_others :]] = 1.0
    found = write_data_warnings(X, Target(y, None, y), None, None, {})
    assert [text.code for text in found] == (["telling-feature"] if n_others > 2 else [])


@pytest.mark.parametrize("grave", [True, False])
def test_groups_that_share_their_target_forbid_to_quote(grave):
    """Noisy copies that share a random label are grave; where classes lie apart they are not."""
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 2, 60), 3)
    centres = np.repeat(rng.normal(size=(60, 5)), 3, axis=0)
    X = centres + 0.05 * rng.normal(size=(180, 5)) + (0 if grave else 20) * labels[:, None]
    (found,) = [text for text in warnings_of(X, labels) if text.code == "groups"]
    assert bool(found.headline) == grave
