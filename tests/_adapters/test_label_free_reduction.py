"""Columns that each training set selects or projects: the answers of single fits."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.label_free import (
    KINDS,
    OTHER_PARTS,
    adapter_of,
    check_against_single_fits,
    other_parts_plan,
    permutation_plan,
    some_labels,
    some_samples,
    takes_its_turn,
)
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, f_classif, mutual_info_classif
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

LDA, QDA = LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(reg_param=0.1)
NB, KNN = GaussianNB(), KNeighborsClassifier()
MODELS = {
    "chosen + NB": [SelectKBest(k=2), NB],
    "scaled + chosen + NB": [StandardScaler(), SelectKBest(k=3), NB],
    "chosen + scaled + LDA": [SelectKBest(k=2), StandardScaler(), LDA],
    "chosen + QDA": [SelectKBest(f_classif, k=2), QDA],
    "chosen + neighbors": [SelectKBest(k=2), KNN],
    "scaled + chosen + near": [
        StandardScaler(), SelectKBest(k=3), KNeighborsClassifier(weights="distance")
    ],
    "components + NB": [PCA(2), NB],
    "scaled + components + LDA": [StandardScaler(), PCA(3), LDA],
    "components + QDA": [PCA(2, svd_solver="full"), QDA],
    "scaled + components + neighbors": [MinMaxScaler(), StandardScaler(), PCA(3), KNN],
    "components + regression": [PCA(2), KNeighborsRegressor()],
}  # fmt: skip
UNSUPPORTED = {"many columns", "constant columns"}


@each_value
@pytest.mark.filterwarnings("ignore:Features .* are constant", "ignore:invalid value")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", OTHER_PARTS)
def test_any_training_sets(parts, kind):
    X, rng = some_samples(kind), np.random.default_rng(3)
    for number, (name, steps) in enumerate(MODELS.items()):
        if not takes_its_turn(number, parts, kind):
            continue
        y = some_labels(n_classes=2 + number % 2)
        if "regression" in name:
            y = rng.normal(size=len(X)) + 1
        model, plan = make_pipeline(*steps), other_parts_plan(parts)
        loose = 1e-6 if kind in ("all scales", "offset") else 1e-8
        left = check_against_single_fits(model, X, y, most_left=1.0, rtol=loose, plan=plan)
        if kind == "plain" and (parts != "resamples on all" or "near" not in name):
            assert left <= 0.25, name
        if kind == "constant columns" and "chosen" in name:
            assert left == 1.0


@pytest.mark.parametrize("name", [name for name in MODELS if "regression" not in name])
def test_a_rare_class_and_duplicates(name):
    X = np.repeat(some_samples("plain", n=24), 2, axis=0)
    y = np.where(np.arange(48) < 5, "b", "a")
    plan = other_parts_plan("redrawn folds")
    check_against_single_fits(make_pipeline(*MODELS[name]), X, y, most_left=1.0, plan=plan)


@each_value
@pytest.mark.parametrize("steps", [[PCA(2)], [StandardScaler(), PCA(3)]], ids=str)
@pytest.mark.parametrize("model", [KNN, LDA], ids=str)
def test_components_of_training_sets_that_are_repeated(steps, model):
    X, y = some_samples("plain"), some_labels()
    plan = permutation_plan(48)
    check_against_single_fits(make_pipeline(*steps, model), X, y, most_left=0.1, plan=plan)


@pytest.mark.parametrize("n_features", [60, 120])
def test_components_that_are_drawn_at_random_are_left_to_the_estimator(n_features):
    """Of 693 and 780 training samples and 120 features, but not of 60."""
    rng, n = np.random.default_rng(0), 1040
    X, y = rng.normal(size=(n, n_features)) * np.arange(1, n_features + 1), rng.integers(0, 2, n)
    for plan in (permutation_plan(n), other_parts_plan("redrawn folds", n=n)):
        adapter = adapter_of(make_pipeline(PCA(2), LDA), X, y, plan)
        assert (adapter is None) == (n_features == 120)


@pytest.mark.parametrize(
    "steps",
    [
        [SelectKBest(mutual_info_classif, k=2), NB],
        [SelectKBest(k="all"), NB],
        [SelectKBest(k=2), SelectKBest(k=1), NB],
        [PCA(2, whiten=True), NB],
        [PCA(2), StandardScaler(), NB],
        [PCA(2, svd_solver="randomized", random_state=0), NB],
        [SelectKBest(k=2), MinMaxScaler(), NB],
        [SelectKBest(k=2), LinearDiscriminantAnalysis(solver="lsqr"), "three classes"],
    ],
    ids=range(8),
)
def test_what_is_not_reduced_here(steps):
    n_classes = 2
    if isinstance(steps[-1], str):
        *steps, _ = steps
        n_classes = 3
    X, y = some_samples("plain"), some_labels(n_classes=n_classes)
    plan = other_parts_plan("redrawn folds")
    assert adapter_of(make_pipeline(*steps), X, y, plan) is None
