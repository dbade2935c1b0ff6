"""The experiment over data sets: the scores of scikit-learn, kept when it is killed."""

import importlib
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skeval.datasets._tables import Table
from skeval.model_selection import compare_over_datasets, run_over_datasets

TWO = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2, random_state=0)}
DATA = {"iris": load_iris(return_X_y=True), "wine": lambda: load_wine(return_X_y=True)}
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


def test_scores_are_those_of_scikit_learn():
    found = run_over_datasets(TWO, DATA, cv=FOLDS, scoring="f1_macro")
    for name, data in (("iris", DATA["iris"]), ("wine", DATA["wine"]())):
        for estimator in TWO:
            expected = cross_val_score(TWO[estimator], *data, cv=FOLDS, scoring="f1_macro")
            assert_allclose(found[name][estimator], expected)
    assert list(found) == ["iris", "wine"]
    assert found.names == ("bayes", "tree")
    assert_allclose(found.test_fraction, 0.25)
    frame = found.to_frame()
    assert len(frame) == 2 * 2 * 4
    compared = compare_over_datasets(found)
    assert_allclose(compared.split_scores[1][:, 0], found["wine"]["bayes"])
    assert_allclose(compare_over_datasets(frame).scores, compared.scores)
    posteriors = [
        compare_over_datasets(found, random_state=0).posterior(
            "tree", "bayes", method="hierarchical", test_fraction=fraction
        )
        for fraction in (None, 0.25)
    ]
    assert_allclose(posteriors[0].draws, posteriors[1].draws, rtol=0)
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert str(found).splitlines()[0] == "f1_macro on 2 data sets: mean (lowest to highest)"


def test_groups_and_regressors():
    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) % 6
    found = run_over_datasets({"one": GaussianNB()}, {"iris": (X, y, groups)}, cv=GroupKFold(3))
    expected = cross_val_score(GaussianNB(), X, y, groups=groups, cv=GroupKFold(3))
    assert_allclose(found["iris"]["one"], expected)
    table = Table(X, y, ["a", "b", "c", "d"])
    loaded = run_over_datasets({"one": GaussianNB()}, {"iris": table}, cv=FOLDS)
    assert_allclose(loaded["iris"]["one"], cross_val_score(GaussianNB(), X, y, cv=FOLDS))
    models = {"ridge": Ridge(), "least squares": LinearRegression()}
    assert run_over_datasets(models, {"petal": (X[:, :3], X[:, 3])}).scoring == "r2"


def test_seeds_and_jobs():
    def run(seed, **options):
        found = run_over_datasets(TWO, DATA, cv=3, random_state=seed, **options)
        return np.concatenate([found["iris"]["tree"], found["wine"]["tree"]])

    with parallel_config(backend="threading"):
        assert_allclose(run(0), run(0, n_jobs=2), rtol=0)
    assert (run(0) != run(1)).any()
    assert (run(None) != run(None)).any()
    # a data set that is added moves the folds of no other
    more = run_over_datasets(TWO, {"first": DATA["wine"], **DATA}, cv=3, random_state=0)
    assert_allclose(more["wine"]["tree"], run(0)[3:])


STUDY = """
import os, signal
from sklearn.datasets import load_iris, load_wine
from sklearn.naive_bayes import GaussianNB
from skeval.model_selection import run_over_datasets


class Logged(GaussianNB):
    def fit(self, X, y):
        with open(os.environ["LOG"], "a+") as log:
            log.write("fit\\n")
            log.seek(0)
            if len(log.readlines()) == 20 and "KILLED" in os.environ:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


def study(memory):
    return run_over_datasets(
        {"one": Logged(), "other": Logged(var_smoothing=0.1)},
        {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)},
        cv=8,
        random_state=0,
        memory=memory,
    )
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_run_that_is_killed_goes_on(tmp_path, monkeypatch):
    """Of 32 fits it is killed in the 20th; fits are kept by fours, and so 16 of them are."""
    (tmp_path / "killed_study.py").write_text(STUDY)
    log, memory = tmp_path / "log", str(tmp_path / "memory")
    monkeypatch.setenv("LOG", str(log))
    path = [str(tmp_path), str(Path(__file__).parents[2])]
    killed = subprocess.run(
        [sys.executable, "-c", f"import killed_study; killed_study.study({memory!r})"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path), "KILLED": "1"},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(log.read_text().splitlines()) == 20
    monkeypatch.syspath_prepend(tmp_path)
    study = importlib.import_module("killed_study").study
    finished = study(memory)
    assert len(log.read_text().splitlines()) == 20 + 32 - 16
    afresh = study(None)
    for name in afresh:
        for estimator in ("one", "other"):
            assert_allclose(finished[name][estimator], afresh[name][estimator], rtol=0)


class Failing(KNeighborsClassifier):
    def fit(self, X, y):
        raise RuntimeError("cannot be fitted")


@pytest.mark.parametrize(
    ("estimators", "datasets", "options", "error", "message"),
    [
        ([GaussianNB()], DATA, {}, TypeError, "estimators must be a dict of 1 names"),
        (TWO, [DATA], {}, TypeError, "datasets must be a dict of 1 names"),
        (TWO, {"none": 3}, {}, ValueError, r"datasets\['none'\] must be \(X, y\)"),
        ({"none": None}, DATA, {}, TypeError, r"estimators\['none'\] must have the methods"),
        (TWO | {"ridge": Ridge()}, DATA, {}, TypeError, "all be classifiers"),
        (TWO, DATA, {"memory": "folder"}, ValueError, "random_state must be an int where memory"),
        (TWO, DATA, {"scoring": "nonsense"}, ValueError, "get_scorer_names"),
    ],
)
def test_bad_input(estimators, datasets, options, error, message):
    with pytest.raises(error, match=message):
        run_over_datasets(estimators, datasets, **options)


def test_an_error_says_where_it_was_raised():
    with pytest.raises(RuntimeError, match="cannot be fitted") as caught:
        run_over_datasets(TWO | {"failing": Failing()}, DATA, cv=3)
    assert "'failing' on the data set 'iris'" in caught.value.__notes__[0]
