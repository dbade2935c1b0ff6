"""P(pvalue <= a) <= a under the null hypothesis, selection inside; not so with selection outside.

Labels are independent of 60 features; SelectKBest(5) and a linear SVM, 3 folds. The short version
is always on, the long one (400 data sets) runs with ``-m slow``.
"""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skeval.model_selection import permutation_test

PROCEDURE = make_pipeline(SelectKBest(k=5), SVC(kernel="linear"))
SHORT = {"n_data_sets": 40, "n_permutations": 19, "levels": (0.05, 0.1)}
LONG = {"n_data_sets": 400, "n_permutations": 199, "levels": (0.01, 0.05, 0.1)}
SIZES = [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.slow)]


def plain(rng):
    return rng.normal(size=(24, 60)), rng.permutation(np.tile([0, 1], 12)), {}


def within_groups(rng):
    """Groups differ in the features and in the class proportions: only within them is it fair."""
    groups = np.repeat(np.arange(3), 8)
    X = rng.normal(size=(24, 60)) + 2 * rng.normal(size=(3, 60))[groups]
    y = np.concatenate([rng.permutation([0] * zeros + [1] * (8 - zeros)) for zeros in (2, 4, 6)])
    return X, y, {"groups": groups, "cv": list(StratifiedKFold(3).split(X, y))}


def whole_groups(rng):
    """Every sample of a group has the label of the group, and features in common with it."""
    groups = np.repeat(np.arange(12), 2)
    X = rng.normal(size=(24, 60)) + 2 * rng.normal(size=(12, 60))[groups]
    return X, rng.permutation(np.tile([0, 1], 6))[groups], {"groups": groups, "cv": GroupKFold(3)}


def sequential(rng):
    X, y, _ = plain(rng)
    return X, y, {"max_exceedances": 5}


def decided(rng):
    X, y, _ = plain(rng)
    return X, y, {"alpha": 0.1}


def pvalues(design, n_data_sets, n_permutations, selected_before=False):
    found = []
    for seed in range(n_data_sets):
        X, y, options = design(np.random.default_rng(seed))
        if selected_before:
            X = SelectKBest(k=5).fit_transform(X, y)
        options = {"cv": StratifiedKFold(3), "random_state": seed} | options
        found.append(
            permutation_test(PROCEDURE, X, y, n_permutations=n_permutations, **options).pvalue
        )
    return np.array(found)


def is_valid(found, level):
    rejected = int(np.sum(found <= level))
    return binomtest(rejected, len(found), level, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "design",
    [plain, within_groups, whole_groups, sequential, decided],
    ids=lambda design: design.__name__,
)
def test_the_whole_procedure_is_valid(design, size):
    found = pvalues(design, size["n_data_sets"], size["n_permutations"])
    for level in size["levels"]:
        assert is_valid(found, level), f"level {level}: {np.mean(found <= level)}"
    assert found.min() < 0.5  # it can reject at all


@pytest.mark.parametrize("size", SIZES)
def test_selecting_before_is_not_valid(size):
    """The features were chosen with the true labels, and the permutations do not choose again."""
    found = pvalues(plain, size["n_data_sets"] // 2, size["n_permutations"], selected_before=True)
    assert np.mean(found <= 0.05) > 0.3


@pytest.mark.parametrize("size", SIZES)
def test_ignoring_groups_is_not_valid(size):
    """Shuffling samples where labels belong to groups rejects far too often."""

    def ungrouped(rng):
        X, y, _ = whole_groups(rng)
        return X, y, {"cv": StratifiedKFold(3, shuffle=True, random_state=0)}

    found = pvalues(ungrouped, size["n_data_sets"] // 2, size["n_permutations"])
    assert np.mean(found <= 0.05) > 0.3


def test_power():
    """A planted signal is found."""

    def planted(rng):
        X, y, options = plain(rng)
        X[y == 1, :5] += 2
        return X, y, options

    assert (pvalues(planted, 10, 19) == 0.05).all()
