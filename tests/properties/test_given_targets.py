"""The target reaches estimators and scorers as it was given, and its form changes no number."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from helpers.cases import every_other
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skeval.model_selection import (
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    error_interval,
    permutation_test,
    perturbation_interval,
    resubstitution_error,
)

RNG = np.random.default_rng(0)
CODES = np.tile([0, 1], 20)
INDEX = [f"patient {i}" for i in range(40)]
X = pd.DataFrame(RNG.normal(size=(40, 3)) + CODES[:, None], index=INDEX, columns=list("abc"))
NAMES = np.array(["no", "yes"])[CODES]
NEIGHBOURS = KNeighborsClassifier(3)


def joint(model, X, y, **options):
    return [
        (each.pvalue, each.statistic)
        for each in permutation_test(
            model, X, y, scoring=["accuracy", "roc_auc"], n_permutations=3, **options
        ).values()
    ]


FUNCTIONS = {
    "resubstitution_error": lambda model, X, y, **o: resubstitution_error(model, X, y).value,
    "cross_val_error": lambda model, X, y, **o: cross_val_error(model, X, y, **o).value,
    "bootstrap_error": lambda model, X, y, **o: (
        bootstrap_error(model, X, y, n_resamples=8, random_state=0).value
    ),
    "perturbation_interval": lambda model, X, y, **o: perturbation_interval(
        model, X, y, n_resamples=5, **o
    ).extra.statistics.tolist(),
    "error_interval": lambda model, X, y, cv=3, **o: error_interval(
        model, X, y, n_folds=cv, n_repeats=2, **o
    ).replicates.tolist(),
    "permutation_test": joint,
    "compare_classifiers": lambda model, X, y, **o: [
        compare_classifiers([model, NEIGHBOURS], X, y, method=method, n_resamples=5, **o).values[0]
        for method in ("corrected_t", "mcnemar", "bootstrap")
    ],
}


class Witness(GaussianNB):
    """Refuses a target that is not the Series that was given, row by row."""

    given: pd.Series | None = None
    shuffled = False

    def fit(self, X, y, sample_weight=None):
        assert isinstance(y, pd.Series)
        assert y.dtype == Witness.given.dtype
        assert y.index.equals(X.index)
        if not Witness.shuffled:
            assert (y == Witness.given[y.index.drop_duplicates()].reindex(y.index)).all()
        return super().fit(X, y, sample_weight)


def options_of(name):
    options = {} if name == "resubstitution_error" else {"random_state": 0}
    return options | ({"cv": 3} if name not in ("resubstitution_error", "bootstrap_error") else {})


@cache
def answer_for_codes(name):
    return FUNCTIONS[name](GaussianNB(), X, CODES, **options_of(name))


# The form is read before it is known who does the fits, so a solver meets some forms only.


@pytest.mark.parametrize(
    ("name", "dtype"),
    every_other(FUNCTIONS, ["int64", "object", "category", "Int64", "float32", "boolean"]),
)
def test_estimators_see_the_series(name, dtype, monkeypatch):
    given = pd.Series(CODES, index=INDEX).astype(dtype)
    seen = given.astype("int64") if dtype == "object" else given  # scikit-learn takes no objects
    monkeypatch.setattr(Witness, "given", seen)
    monkeypatch.setattr(Witness, "shuffled", name == "permutation_test")
    plain = answer_for_codes(name)
    assert FUNCTIONS[name](Witness(), X, given, **options_of(name)) == plain


def test_shuffled_labels_name_the_same_samples():
    """An estimator that looks labels up by index finds the shuffled ones, not the true ones."""
    found = []

    class ByIndex(KNeighborsClassifier):
        def fit(self, X, y):
            joined = X.join(y.rename("label"))
            found.append(bool((joined["label"] == pd.Series(NAMES, INDEX)[X.index]).all()))
            return super().fit(joined[list("abc")], joined["label"])

    y = pd.Series(NAMES, INDEX)
    options = {"cv": 4, "n_permutations": 5, "random_state": 0}
    result = permutation_test(ByIndex(1), X, y, **options)
    plain = permutation_test(KNeighborsClassifier(1), X, NAMES, **options)
    assert result.null_distribution.tolist() == plain.null_distribution.tolist()
    assert found == [True] * 4 + [False] * 20
