"""Identifiers, and groups of samples that belong together."""

import numpy as np
import pandas as pd
import pytest
from helpers.tables import FEW, warnings_of
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval._resampling.target import validate_data
from skeval.report._data_checks import write_data_warnings


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
        f"{n_repeated} of {len(y)} samples share a value of 'patient', and samples with the same "
        "value always have the same class"
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
    assert told.headline.endswith("always have the same class")
    target = validate_data(DecisionTreeClassifier(), X, y, None)[1]
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
    target = validate_data(DecisionTreeClassifier(), X, y, None)[1]
    (found,) = write_data_warnings(X, target, None, None, {"patient": name})
    assert found.code == "identifier"
    assert not found.headline
    assert "The samples are not independent" in found


@pytest.mark.parametrize("grave", [True, False])
def test_groups_that_share_their_target_forbid_to_quote(grave):
    """Noisy copies that share a random label are grave; where classes lie apart they are not."""
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 2, 60), 3)
    centers = np.repeat(rng.normal(size=(60, 5)), 3, axis=0)
    X = centers + 0.05 * rng.normal(size=(180, 5)) + (0 if grave else 20) * labels[:, None]
    (found,) = [text for text in warnings_of(X, labels) if text.code == "groups"]
    assert bool(found.headline) == grave


def grave_codes(X, y, **options):
    return [text.code for text in warnings_of(X, y, **options) if text.headline]


def test_persons_whose_rows_repeat():
    table = pytest.importorskip("statsmodels.api").datasets.randhie.load_pandas().data[:1000]
    X, visits = table.drop(columns="mdvis").to_numpy(), table["mdvis"].to_numpy(dtype=float)
    assert "copies" in grave_codes(X, visits)
    persons = np.unique(X[:, [0, 2, 3, 5]], axis=0, return_inverse=True)[1].reshape(-1)
    assert "copies" not in grave_codes(X, visits, groups=persons)
    order = np.lexsort(X.T)  # sorted files hold equal rows together, too
    assert "copies" not in grave_codes(X[order], visits[order])
    order = np.random.default_rng(0).permutation(len(X))
    assert "copies" not in grave_codes(X[order], visits[order])
