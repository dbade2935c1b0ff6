"""Calls from threads leave the warning filters of the process as they are."""

import sys
import warnings
from threading import Thread, current_thread, main_thread

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.cluster import choose_n_clusters
from skeval.model_selection import (
    bootstrap_error,
    bootstrap_score,
    compare_classifiers,
    cross_val_error,
    metric_interval,
    permutation_test,
)
from skeval.report import evaluate, evaluate_clusterer, evaluate_predictions
from skeval.utils._checks import ignored_warnings, warn_undefined, warn_user

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
GROUPS = np.arange(60) // 3
MODEL = LogisticRegression()
SELECTION = make_pipeline(StandardScaler(), SelectKBest(k=2), MODEL)
FEW = {"cv": 3, "random_state": 0}

CALLS = {
    "cross_val_error": lambda: cross_val_error(MODEL, X, Y, groups=GROUPS, **FEW),
    "bootstrap_error": lambda: bootstrap_error(MODEL, X, Y, n_resamples=20, random_state=0),
    "bootstrap_score": lambda: bootstrap_score(MODEL, X, Y, n_resamples=20, random_state=0),
    "permutation_test": lambda: permutation_test(
        KNeighborsClassifier(), X, Y, n_permutations=40, **FEW
    ),
    "compare_classifiers": lambda: compare_classifiers([MODEL, SELECTION], X, Y, **FEW),
    "metric_interval": lambda: metric_interval("f1", Y, Y[::-1], groups=GROUPS, random_state=0),
    "evaluate": lambda: evaluate(
        SELECTION, X, Y, n_bootstraps=10, n_permutations=10, n_perturbations=10, **FEW
    ).to_html(),
    "evaluate several": lambda: evaluate({"a": MODEL, "b": SELECTION}, X, Y, include=[], **FEW),
    "evaluate_predictions": lambda: evaluate_predictions(
        Y, np.tanh(X[:, 0]) / 2 + 0.5, random_state=0
    ),
    "choose_n_clusters": lambda: choose_n_clusters(KMeans(n_init=1), X, random_state=0),
    "evaluate_clusterer": lambda: evaluate_clusterer(
        KMeans(n_init=1), X, n_clusters=[2, 3], n_repeats=2, random_state=0
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_threads_do_not_change_filters(call, monkeypatch):
    changes, results = [], []

    class Observed(warnings.catch_warnings):
        def __enter__(self):
            caller = sys._getframe(1).f_globals["__name__"]
            if caller.startswith("skeval") and current_thread() is not main_thread():
                changes.append(caller)
            return super().__enter__()

    monkeypatch.setattr(warnings, "catch_warnings", Observed)
    thread = Thread(target=lambda: results.append(call()))
    thread.start()
    thread.join()
    assert results
    assert not changes


def run_in_thread(function):
    thread = Thread(target=function)
    thread.start()
    thread.join()


@pytest.mark.parametrize("run", [lambda function: function(), run_in_thread], ids=["main", "other"])
def test_warnings_of_this_package_are_ignored_in_any_thread(run):
    def warn_six_times():
        with ignored_warnings(UndefinedMetricWarning, "The (score|loss)"):
            warn_undefined("The score is undefined")
            warn_undefined("A score is undefined")
            warn_user("The score is low")
            with ignored_warnings():
                warn_user("Nothing is known")
        warn_undefined("The loss is undefined")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run(warn_six_times)
    shown = [str(warning.message) for warning in caught]
    assert shown == ["A score is undefined", "The score is low", "The loss is undefined"]
