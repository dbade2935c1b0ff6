"""Samples need be no rows of numbers: texts, arrays of any shape, precomputed kernels."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from helpers.outcomes import assert_same_numbers
from scipy.sparse import csr_matrix
from sklearn.cluster import AgglomerativeClustering
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.metrics import pairwise_distances
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, scale
from sklearn.svm import SVC

from skeval.cluster import choose_n_clusters, predictive_power
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
Y = np.tile(["pos", "neg"], 15)
SKIES = RNG.choice(["red", "blue"], 30)
TEXTS = [
    f"a {sky} sky on a {'fine' if y == 'pos' else 'bad'} day"
    for y, sky in zip(Y, SKIES, strict=True)
]
FRAME = pd.DataFrame({"kind": RNG.choice(list("abc"), 30), "value": RNG.normal(size=30)})
CUBES = RNG.normal(size=(30, 2, 3)) + (Y == "pos")[:, None, None]


def flattened(X):
    return X.reshape(len(X), -1)


BAYES = make_pipeline(CountVectorizer(), MultinomialNB())
WORDS = make_pipeline(CountVectorizer(), SelectKBest(chi2, k=2), SVC(kernel="linear"))
ENCODED = make_pipeline(
    ColumnTransformer(
        [("kind", OneHotEncoder(handle_unknown="ignore"), ["kind"])], remainder="passthrough"
    ),
    SVC(kernel="linear"),
)
FLAT = make_pipeline(FunctionTransformer(flattened), SVC(kernel="linear"))
KINDS = {
    "list of texts": (BAYES, TEXTS),
    "series of texts": (WORDS, pd.Series(TEXTS, index=range(30, 60))),
    "array of texts": (WORDS, np.array(TEXTS)),
    "frame of names": (ENCODED, FRAME),
    "images": (FLAT, CUBES),
}
FUNCTIONS = {
    "cross_val_error": partial(cross_val_error, cv=3),
    "bootstrap_error": partial(bootstrap_error, n_resamples=5),
    "perturbation_interval": partial(perturbation_interval, n_resamples=4, cv=3),
    "error_interval": partial(error_interval, n_folds=3, n_repeats=2),
    "permutation_test": partial(permutation_test, n_permutations=4, cv=3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_samples_of_any_kind(kind):
    estimator, X = KINDS[kind]
    for function in FUNCTIONS.values():
        function(estimator, X, Y, random_state=0)
    assert resubstitution_error(estimator, X, Y).value <= 0.5
    compare_classifiers([estimator, estimator], X, Y, cv=3, method="mcnemar", random_state=0)


POINTS, CLASSES = load_breast_cancer(return_X_y=True)
POINTS, CLASSES = scale(POINTS[:80]), CLASSES[:80]
KERNEL = POINTS @ POINTS.T
DISTANCES = pairwise_distances(POINTS)


@each_value
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("plain", "precomputed", "matrix"),
    [
        (SVC(kernel="linear"), SVC(kernel="precomputed"), KERNEL),
        (SVC(kernel="linear"), SVC(kernel="precomputed"), pd.DataFrame(KERNEL)),
        (KNeighborsClassifier(3), KNeighborsClassifier(3, metric="precomputed"), DISTANCES),
    ],
    ids=["kernel", "frame", "distances"],
)
def test_precomputed_kernels_equal_their_samples(name, plain, precomputed, matrix):
    """A bootstrap that took the rows of the matrix alone would pass for a kernel of repeats."""
    if name == "perturbation_interval" and "metric" in plain.get_params():
        pytest.skip("nearest neighbors take no weights")
    function = partial(FUNCTIONS[name], random_state=0)
    expected, found = function(plain, POINTS, CLASSES), function(precomputed, matrix, CLASSES)
    assert_same_numbers(list(found.to_dict().values()), list(expected.to_dict().values()), 1e-12)


def test_a_kernel_that_is_not_square():
    for matrix in (KERNEL[:, :5], csr_matrix(KERNEL[:, :5])):
        with pytest.raises(ValueError, match=r"X must be a square matrix .* got \(80, 5\)"):
            bootstrap_error(SVC(kernel="precomputed"), matrix, CLASSES)


def test_clusterers_of_distances_are_refused():
    """Labels travel between halves by the nearest point, which a half of a matrix has not."""
    clusterer = AgglomerativeClustering(metric="precomputed", linkage="average")
    with pytest.raises(ValueError, match="clusterer must not require precomputed"):
        predictive_power(clusterer, DISTANCES)
    with pytest.raises(ValueError, match="clusterer must not require precomputed"):
        choose_n_clusters(clusterer, DISTANCES, n_clusters=[2, 3])
