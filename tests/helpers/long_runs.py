"""Resampling with an estimator that writes each of its fits to a file, to be interrupted."""

import os
import signal
import time
from operator import attrgetter
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB

from skeval.cluster import (
    choose_n_clusters,
    cluster_stability,
    gap_statistic,
    predictive_power,
    structure_test,
)
from skeval.feature_selection import CV2FeatureSelectionPipeline, selection_bias
from skeval.model_selection import (
    bootstrap_error,
    compare_classifiers,
    cross_val_error,
    error_interval,
    permutation_test,
    perturbation_interval,
    score_interval,
)
from skeval.report import evaluate, evaluate_clusterer

__all__ = ["RUNS", "Logged", "Slow", "fits"]

X, y = (table[:60] for table in load_breast_cancer(return_X_y=True))
# One feature in seven tells a little, so that not every fold selects it.
RNG = np.random.default_rng(1)
WEAK = np.c_[RNG.normal(size=(60, 1)) + y[:, None], RNG.normal(size=(60, 6))]


def log_fit():
    """Note a fit where FITS_LOG says, if it does, taking FITS_SECONDS; stop at FITS_LIMIT fits."""
    if "FITS_LOG" not in os.environ:
        return
    with open(os.environ["FITS_LOG"], "a") as log:
        log.write("x")
    time.sleep(float(os.environ.get("FITS_SECONDS", 0)))
    if fits() == int(os.environ.get("FITS_LIMIT", -1)):
        raise KeyboardInterrupt


def fits():
    """Return how many fits were noted."""
    log = Path(os.environ["FITS_LOG"])
    return log.stat().st_size if log.exists() else 0


class Logged(ClassifierMixin, BaseEstimator):
    """The nearest of the weighted means of two classes, in the first feature."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y, sample_weight=None):
        log_fit()
        self.classes_ = np.unique(y)
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        self.means_ = [np.average(X[y == c, 0], weights=weights[y == c]) for c in self.classes_]
        return self

    def predict(self, X):
        distances = np.abs(X[:, :1] - np.array(self.means_) - self.shift)
        return self.classes_[np.argmin(distances, axis=1)]


class LoggedClusterer(ClusterMixin, BaseEstimator):
    """Samples by the rank of their first feature."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit_predict(self, X, y=None):
        log_fit()
        return np.argsort(np.argsort(X[:, 0])) * self.n_clusters // len(X)


class Slow(ClassifierMixin, BaseEstimator):
    """Takes a tenth of a second, and says which process it runs in; does not survive `fatal`."""

    def __init__(self, log, main, fatal=None):
        self.log = log
        self.main = main
        self.fatal = fatal

    def fit(self, X, y):
        with open(self.log, "a") as log:
            log.write(f"{os.getpid()}\n")
        if os.getpid() != self.main and np.sum(X) == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.1)
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def evaluated(**options):
    sizes = {"include": "all", "n_permutations": 9}
    report = evaluate(Logged(), X, y, cv=3, random_state=0, **sizes, **options)
    errors = [(estimate.value, estimate.standard_error) for estimate in report.estimates.values()]
    return [*np.ravel(errors), *report.permutation.null_distribution]


def selected(**options):
    rule = CV2FeatureSelectionPipeline(
        SelectKBest(k=3), Logged(), cv=[*cv_rounds()], random_state=0, **options
    ).fit(X, y)
    return [rule.cv2_error_, *rule.selection_frequency_]


def cv_rounds():
    rng = np.random.default_rng(0)
    for _ in range(20):
        order = rng.permutation(len(y))
        yield order[:40], order[40:]


def biased(**options):
    result = selection_bias(
        SelectKBest(k=1), Logged(), WEAK, y, cv=5, n_repeats=2, random_state=0, **options
    )
    ends = result.interval.low, result.interval.high
    return [result.extra.cv1_error, result.extra.cv2_error, *ends]


def clustered(**options):
    report = evaluate_clusterer(
        LoggedClusterer(), X, n_clusters=[2, 3], n_repeats=4, random_state=0, **options
    )
    replicates = [
        (choice.replicates.ravel(), choice.reference_replicates.ravel())
        for choice in report.choices.values()
    ]
    return np.concatenate([values for pair in replicates for values in pair])


def compared(**options):
    models = {"one": Logged(), "other": Logged(0.5)}
    found = compare_classifiers(models, X, y, cv=5, random_state=0, **options)
    return found.extra.split_scores.ravel()


def drawn(function, estimator, *data, read="replicates", **sizes):
    """Return a call whose numbers are an attribute of the result."""

    def call(**options):
        found = function(estimator, *data, random_state=0, **sizes, **options)
        return np.ravel(attrgetter(read)(found))

    return call


def dispersions(**options):
    sizes = {"n_clusters": [2], "n_references": 19, "random_state": 0}
    found = gap_statistic(LoggedClusterer(), X, **sizes, **options)
    return found.details["reference_log_dispersions"].ravel()


FITTED, CLUSTERED = (Logged(), X, y), (LoggedClusterer(), X)
# Each returns numbers that depend on every fit.
RUNS = {
    "bootstrap_error": drawn(bootstrap_error, *FITTED, n_resamples=40),
    "cross_val_error": drawn(cross_val_error, *FITTED),
    "error_interval": drawn(error_interval, *FITTED, n_folds=4, n_repeats=4),
    "score_interval": drawn(
        score_interval, *FITTED, scoring="balanced_accuracy", method="corrected_t", n_repeats=20
    ),
    "perturbation_interval": drawn(
        perturbation_interval, *FITTED, read="extra.statistics", n_resamples=40, cv=3
    ),
    "permutation_test": drawn(
        permutation_test, *FITTED, read="null_distribution", n_permutations=20, cv=3
    ),
    "selection_bias": biased,
    "CV2FeatureSelectionPipeline": selected,
    "predictive_power": drawn(predictive_power, *CLUSTERED, n_repeats=20),
    "prediction_strength": drawn(
        predictive_power, *CLUSTERED, agreement="prediction_strength", n_repeats=20
    ),
    "choose_n_clusters": drawn(
        choose_n_clusters, *CLUSTERED, read="reference_replicates", n_clusters=[2, 3]
    ),
    "cluster_stability": drawn(cluster_stability, *CLUSTERED, n_resamples=20),
    "structure_test": drawn(structure_test, *CLUSTERED, read="null_distribution", n_references=20),
    "gap_statistic": dispersions,
    "compare_classifiers": compared,
    "evaluate": evaluated,
    "evaluate_clusterer": clustered,
}
