"""Naive Bayes of counts: the answers of single fits."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.label_free import (
    OTHER_PARTS,
    adapter_of,
    check_against_single_fits,
    other_parts_plan,
    permutation_plan,
    some_labels,
)
from scipy.sparse import csr_array
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

MODELS = [
    MultinomialNB(),
    MultinomialNB(alpha=1e-3, fit_prior=False),
    ComplementNB(),
    BernoulliNB(),
    BernoulliNB(binarize=1.5, class_prior=[0.2, 0.3, 0.5]),
    BernoulliNB(binarize=None),
]


def counts(kind, n=48):
    rng = np.random.default_rng(0)
    X = rng.poisson(1.5, size=(n, 8)).astype(float)
    if kind == "shares":
        X /= 1 + X.sum(axis=1, keepdims=True)
    if kind == "ties and duplicates":
        X = np.repeat(rng.integers(0, 2, size=(n // 4, 8)), 4, axis=0)
        X[5] = 0
    if kind == "constant columns":
        X[:, 1], X[:, 2] = 0, 3
    return csr_array(X) if kind == "sparse" else X


@each_value
@pytest.mark.parametrize(
    "kind", ["plain", "sparse", "shares", "ties and duplicates", "constant columns"]
)
@pytest.mark.parametrize("parts", [*OTHER_PARTS, "weights"])
def test_any_training_sets(parts, kind):
    X, y, plan = counts(kind), some_labels(n_classes=3), other_parts_plan(parts)
    for model in MODELS:
        samples = (X > 0).astype(float) if getattr(model, "binarize", 0) is None else X
        left = check_against_single_fits(model, samples, y, most_left=1.0, plan=plan)
        assert left <= 0.2 or kind == "ties and duplicates"


@pytest.mark.parametrize("model", MODELS[:4], ids=str)
def test_a_rare_class_of_repeated_training_sets(model):
    y = np.where(np.arange(48) < 5, "b", "a")
    check_against_single_fits(model, counts("plain"), y, most_left=0.3, plan=permutation_plan(48))


@pytest.mark.parametrize(
    "model",
    [
        MultinomialNB(alpha=0),
        MultinomialNB(alpha=np.ones(8)),
        ComplementNB(norm=True),
        type("Own", (MultinomialNB,), {})(),
    ],
    ids=range(4),
)
def test_what_is_left_to_the_estimator(model):
    y, plan = some_labels(), other_parts_plan("redrawn folds")
    assert adapter_of(model, counts("plain"), y, plan) is None


def test_negative_and_missing_numbers_are_left_to_the_estimator():
    y, plan = some_labels(), other_parts_plan("redrawn folds")
    for wrong in (-1.0, np.nan):
        X = counts("plain")
        X[3, 3] = wrong
        assert adapter_of(MultinomialNB(), X, y, plan) is None
