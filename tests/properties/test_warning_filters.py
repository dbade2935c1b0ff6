"""Calls from threads leave the warning filters of the process as they are."""

import sys
import warnings
from threading import Thread, current_thread, main_thread

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.report import evaluate
from skeval.utils._checks import ignored_warnings, warn_undefined, warn_user

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
SELECTION = make_pipeline(StandardScaler(), SelectKBest(k=2), LogisticRegression())


@pytest.mark.filterwarnings("ignore")
def test_an_evaluation_in_a_thread_does_not_change_filters(monkeypatch):
    changes, results = [], []
    options = {"n_permutations": 10, "cv": 3}

    def call():
        return evaluate(SELECTION, X, Y, include="all", random_state=0, **options).to_html()

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
