"""Linear discriminant analysis for many label vectors: the answers of single fits."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.deletion import (
    KINDS,
    OTHER_PARTS,
    TWO_CLASSES,
    check_against_single_fits,
    other_parts_plan,
    some_labels,
    some_samples,
    takes_its_turn,
)
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold

from skeval.model_selection import permutation_test

LDA = LinearDiscriminantAnalysis


# What the estimator itself computes of rounding errors only is left to it, as a whole.
LEFT = {
    "all scales": ["least squares"],
    "constant columns": ["shrunk", "shrunk to the end", "least squares", "svd", "svd with priors"],
    "duplicated columns": ["least squares", "svd", "svd with priors"],
    "offset": ["shrunk", "shrunk to the end", "least squares"],
    "many columns": ["least squares", "svd", "svd with priors"],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TWO_CLASSES)
def test_discriminant_analysis(kind, name):
    X, y = some_samples(kind), some_labels()
    # scikit-learn squares the samples, the offset included.
    loose = 1e-6 if kind in ("all scales", "offset") else 1e-8
    left = check_against_single_fits(TWO_CLASSES[name], X, y, most_left=1.0, rtol=loose)
    assert left == 1.0 if name in LEFT.get(kind, ()) else left < 0.1


@each_value
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", OTHER_PARTS)
def test_any_training_sets(parts, kind):
    X, y, plan = some_samples(kind), some_labels(), other_parts_plan(parts)
    for number, (name, model) in enumerate(TWO_CLASSES.items()):
        if not takes_its_turn(number, parts, kind):
            continue
        loose = 1e-6 if kind in ("all scales", "offset") else 1e-8
        left = check_against_single_fits(model, X, y, most_left=1.0, rtol=loose, plan=plan)
        if kind == "plain" and "shrunk" not in name:
            assert left <= 0.1


@pytest.mark.parametrize("outlier", [1e4, 1e8, 1e10])
@pytest.mark.filterwarnings("ignore:Only one class", "ignore:the roc_auc of")
def test_an_outlier_makes_no_other_samples_tied(outlier):
    class Own(LinearDiscriminantAnalysis):
        """No adapter knows it."""

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    X[7, 0] = outlier
    options = {"cv": list(StratifiedKFold(5).split(X, y)), "scoring": "roc_auc"}
    found, expected = (
        permutation_test(model(), X, y, n_permutations=7, random_state=0, **options)
        for model in (LinearDiscriminantAnalysis, Own)
    )
    assert found.pvalue == expected.pvalue
