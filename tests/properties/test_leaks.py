"""Folds that leak, and groups that folds split, are refused by every function that takes them."""

import numpy as np
import pytest
from helpers.crossed import each_value
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import skeval
from skeval import model_selection
from skeval.feature_selection import CV2FeatureSelectionPipeline, selection_bias

RNG = np.random.default_rng(0)
CENTERS, CLASSES = RNG.normal(size=(20, 4)), RNG.permutation(np.arange(20) % 2)
GROUPS = np.repeat(np.arange(20), 3)
X, Y = CENTERS[GROUPS] + 0.1 * RNG.normal(size=(60, 4)), CLASSES[GROUPS]
NEAREST = KNeighborsClassifier(1)
SEARCH = GridSearchCV(NEAREST, {"n_neighbors": [1, 3]}, cv=2)

CALLS = {
    "evaluate": lambda **options: skeval.evaluate(NEAREST, X, Y, **options),
    "evaluate of two": lambda **options: skeval.evaluate(
        {"one": NEAREST, "three": KNeighborsClassifier(3)}, X, Y, **options
    ),
    "error_interval": lambda **options: skeval.error_interval(NEAREST, X, Y, **options),
    "cross_val_error": lambda **options: model_selection.cross_val_error(NEAREST, X, Y, **options),
    "learning_curve_band": lambda **options: model_selection.learning_curve_band(
        NEAREST, X, Y, **options
    ),
    "permutation_test": lambda **options: skeval.permutation_test(
        NEAREST, X, Y, n_permutations=5, **options
    ),
    "perturbation_interval": lambda **options: model_selection.perturbation_interval(
        SVC(kernel="linear"), X, Y, **options
    ),
    "tuning_optimism": lambda **options: model_selection.tuning_optimism(SEARCH, X, Y, **options),
    "compare_classifiers": lambda **options: skeval.compare_classifiers(
        [NEAREST, KNeighborsClassifier(3)], X, Y, **options
    ),
    "selection_bias": lambda **options: selection_bias(SelectKBest(k=2), NEAREST, X, Y, **options),
    "CV2FeatureSelectionPipeline": lambda groups=None, **options: CV2FeatureSelectionPipeline(
        SelectKBest(k=2), NEAREST, **options
    ).fit(X, Y, groups=groups),
}
SPLITTERS = {
    "stratified": StratifiedKFold(5, shuffle=True, random_state=0),
    "plain": KFold(5, shuffle=True, random_state=0),
    "repeated": RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0),
    "random": ShuffleSplit(3, random_state=0),
    "list": list(KFold(5, shuffle=True, random_state=0).split(X)),
}


@each_value
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("call", CALLS)
def test_splitters_must_not_split_groups(call, splitter):
    with pytest.raises(ValueError, match="cv must not split groups: group"):
        CALLS[call](groups=GROUPS, cv=SPLITTERS[splitter])


@pytest.mark.parametrize("call", CALLS)
def test_test_samples_must_not_be_training_samples(call):
    everything = np.arange(60)
    for folds in (
        [(everything, everything)] * 2,
        [(everything, test) for _, test in SPLITTERS["list"]],
    ):
        with pytest.raises(ValueError, match="training and test sets without common samples"):
            CALLS[call](cv=folds)
