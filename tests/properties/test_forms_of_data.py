"""Labels and samples in forms that few functions of NumPy take."""

import numpy as np
import pytest
from helpers import disguises
from helpers.outcomes import assert_same_numbers
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, LinearSVC

import skeval
from skeval.metrics import roc_curve_band
from skeval.model_selection import cross_val_error, holdout_error, metric_interval, permutation_test

RNG = np.random.default_rng(0)
Z = np.arange(80) % 2
SCORE = Z + RNG.normal(size=80)
NAMES = np.where(Z, "yes", "no")
GUESSES = np.where(SCORE > 0.5, "yes", "no")
OPTIONS = [
    {},
    {"method": "delong"},
    {"groups": np.arange(80) // 2},
    {"sample_weight": 1.0 + Z},
    {"by": np.arange(80) // 40},
    {"method": "percentile", "n_resamples": 9, "random_state": 0},
    {"within": np.arange(80) // 20},
]


@pytest.mark.parametrize("form", disguises.NAMES)
def test_areas_of_text_labels(form):
    names = disguises.NAMES[form](NAMES)
    for options in OPTIONS:
        expected = metric_interval("roc_auc", Z, SCORE, **options)
        assert_same_numbers(metric_interval("roc_auc", names, SCORE, **options), expected)
    band = {"pos_label": "yes", "n_resamples": 9, "random_state": 0}
    expected = roc_curve_band(NAMES, SCORE, **band)
    assert_same_numbers(roc_curve_band(names, SCORE, **band), expected)


@pytest.mark.parametrize("form", disguises.NAMES)
def test_text_labels_of_predictions_and_of_estimators(form):
    names, guesses = disguises.NAMES[form](NAMES), disguises.NAMES[form](GUESSES)
    X = SCORE[:, None]
    for call in (
        holdout_error,
        lambda y, p: metric_interval("balanced_accuracy", y, p),
        lambda y, p: skeval.evaluate_predictions(y, p).metrics["accuracy"],
        lambda y, p: cross_val_error(GaussianNB(), X, y, random_state=0),
        lambda y, p: permutation_test(GaussianNB(), X, y, n_permutations=3, random_state=0),
    ):
        assert_same_numbers(call(names, guesses), call(NAMES, GUESSES))


def summarize(samples):
    return np.array([[np.mean(sample), len(sample)] for sample in samples])


@pytest.mark.parametrize("model", [LogisticRegression(), SVC(), LinearSVC(), GaussianNB()], ids=str)
def test_samples_of_different_lengths(model):
    samples = [RNG.normal(size=3 + i % 3) + 2 * z for i, z in enumerate(Z[:60])]
    ragged, table = make_pipeline(FunctionTransformer(summarize), model), summarize(samples)
    found = cross_val_error(ragged, samples, Z[:60], cv=5, random_state=0)
    assert found.value == cross_val_error(model, table, Z[:60], cv=5, random_state=0).value
    options = {"n_permutations": 3, "n_bootstraps": 3, "random_state": 0}
    report = skeval.evaluate(ragged, samples, Z[:60], **options)
    assert np.isfinite(report.answer.value)
