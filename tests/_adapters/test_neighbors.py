"""Nearest neighbors for many label vectors: the answers of single fits."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.label_free import (
    CLASSIFIERS,
    KINDS,
    OF_NEIGHBORS,
    OTHER_PARTS,
    REGRESSORS,
    adapter_of,
    check_against_single_fits,
    other_parts_plan,
    permutation_plan,
    some_labels,
    some_samples,
    takes_its_turn,
    whole_block,
)
from numpy.testing import assert_array_equal
from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@each_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name in OF_NEIGHBORS])
def test_classifiers(kind, name):
    X, y = some_samples(kind), some_labels(n_classes=2 + (KINDS.index(kind) + len(name)) % 2)
    if name == "city neighbors":  # of which scikit-learn 1.6 knows no labels but these
        y = np.unique(y, return_inverse=True)[1]
    check_against_single_fits(CLASSIFIERS[name], X, y, most_left=0.1)


@each_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in REGRESSORS if name in OF_NEIGHBORS])
def test_regressors(kind, name):
    X = some_samples(kind)
    y = np.random.default_rng(3).normal(size=len(X)) + 1
    check_against_single_fits(REGRESSORS[name], X, y, most_left=1.0, rtol=1e-8)


@each_value
@pytest.mark.parametrize("name", [name for name in REGRESSORS if name in OF_NEIGHBORS])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_scales_of_the_numbers(name, scale):
    X = some_samples("plain")
    y = scale * (np.random.default_rng(3).normal(size=len(X)) + 1)
    check_against_single_fits(REGRESSORS[name], X, y, rtol=1e-9 * scale)


@each_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", OTHER_PARTS)
def test_any_training_sets(parts, kind):
    X, rng = some_samples(kind), np.random.default_rng(3)
    for number, name in enumerate(OF_NEIGHBORS):
        if not takes_its_turn(number, parts, kind):
            continue
        y = some_labels(n_classes=2 + len(name) % 2)
        model = {**REGRESSORS, **CLASSIFIERS}[name]
        if name == "city neighbors":
            y = np.unique(y, return_inverse=True)[1]
        if not is_classifier(model):
            y = rng.normal(size=len(X)) + 1
        plan = other_parts_plan(parts)
        left = check_against_single_fits(model, X, y, most_left=1.0, plan=plan)
        assert left <= 0.1 or kind != "plain" or (parts == "resamples on all" and "near" in name)


@pytest.mark.parametrize("parts", OTHER_PARTS)
def test_any_training_sets_behind_a_scaler(parts):
    for kind in ("plain", "integers", "constant columns", "all scales", "many columns"):
        for n_classes, k, weights in ((2, 5, "uniform"), (3, 4, "distance")):
            if weights == "distance" and parts == "resamples on all":
                continue  # a sample is its own neighbor, at a distance of 0
            model = make_pipeline(StandardScaler(), KNeighborsClassifier(k, weights=weights))
            y, plan = some_labels(n_classes=n_classes), other_parts_plan(parts)
            left = check_against_single_fits(model, some_samples(kind), y, most_left=1.0, plan=plan)
            assert kind == "integers" or left == 0


def test_precomputed_distances():
    X, y = some_samples("plain"), some_labels()
    plan = permutation_plan(48)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    plain = adapter_of(KNeighborsClassifier(algorithm="brute"), X, y, plan)(whole_block(plan))
    model = KNeighborsClassifier(metric="precomputed")
    given = adapter_of(model, distances, y, plan)(whole_block(plan))
    assert not plain.failed.any()
    assert not given.failed.any()
    assert_array_equal(plain.predicted, given.predicted)
