"""Nearest neighbors for many label vectors: the answers of single fits."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.deletion import (
    CLASSIFIERS,
    KINDS,
    OF_NEIGHBORS,
    OTHER_PARTS,
    REGRESSORS,
    check_against_single_fits,
    other_parts_plan,
    some_labels,
    some_samples,
    takes_its_turn,
)
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
    # the estimator chooses among samples at the same distance
    tied = kind in ("duplicated rows", "integers")
    check_against_single_fits(CLASSIFIERS[name], X, y, most_left=1.0 if tied else 0.1)


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
