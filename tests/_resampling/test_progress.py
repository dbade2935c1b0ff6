"""verbose=1 shows how far the work has come, on standard error, and changes nothing."""

import re
import sys

import numpy as np
import pytest
from helpers.long_runs import RUNS, Logged, X, y
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from skeval._resampling.progress import Progress, show_estimate, show_progress
from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import bootstrap_error, permutation_test, perturbation_interval
from skeval.svm import PerturbationResamplingSVC


class Stopped(ClassifierMixin, BaseEstimator):
    """A classifier whose fit raises, after some that do not."""

    n_fits = 0

    def __init__(self, error=None):
        self.error = error

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Stopped.n_fits += 1
        if self.error is not None and Stopped.n_fits == 3:
            raise self.error("stop")
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


STEPS = [
    "error interval",
    "resubstitution",
    "holdout",
    "cross_validation",
    "leave_one_out",
    "bootstrap",
    "importance",
    "permutation",
]


def bootstrap(n_resamples=40, **options):
    return bootstrap_error(Logged(), X, y, n_resamples=n_resamples, random_state=0, **options)


def last_counts(text):
    """Return the last (done, total) of each bar."""
    bars = [bar for bar in text.split("\n") if "it/s" in bar or "s/it" in bar]
    return [tuple(map(int, re.findall(r"(\d+)/(\d+) \[", bar)[-1])) for bar in bars]


@pytest.mark.parametrize("name", RUNS)
def test_a_bar_on_standard_error(name, capsys):
    pytest.importorskip("tqdm")
    silent = RUNS[name]()
    assert capsys.readouterr() == ("", "")
    np.testing.assert_array_equal(RUNS[name](verbose=1), silent)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Done" not in err
    counts = last_counts(err)
    assert counts
    assert all(done == total for done, total in counts)
    if name == "evaluate":
        assert [line[8:-4] for line in err.split("\n") if line.startswith("skeval: ")] == STEPS


def test_a_line_for_each_step_where_there_is_no_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    bootstrap(100, verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\nskeval: 100 fits\n")


def test_what_was_kept_counts(capsys, tmp_path):
    pytest.importorskip("tqdm")
    for n_reused in (0, 40):
        bootstrap(verbose=1, memory=tmp_path)
        text = capsys.readouterr().err
        assert last_counts(text) == [(40, 40)]
        assert ("skeval reused 40 of 40 fits" in text) == (n_reused == 40)
    bootstrap(60, verbose=1, memory=tmp_path)
    assert "skeval reused 40 of 60 fits that memory= had stored" in capsys.readouterr().err


def test_fits_of_solvers_count(capsys):
    pytest.importorskip("tqdm")
    samples, svc = X[:, :4] / X[:, :4].std(axis=0), SVC(kernel="linear")
    options = {"cv": 5, "random_state": 0, "verbose": 1}
    perturbation_interval(svc, samples, y, n_resamples=80, **options)
    permutation_test(svc, samples, y, n_permutations=79, **options)
    assert last_counts(capsys.readouterr().err) == [(5, 5), (400, 400), (400, 400)]


def test_a_sequential_test_stops_with_its_bar(capsys):
    pytest.importorskip("tqdm")
    options = {"n_permutations": 500, "max_exceedances": 3, "random_state": 0}
    labels = np.random.default_rng(0).permutation(y)
    result = permutation_test(Logged(), X, labels, cv=3, verbose=1, **options)
    ((done, total),) = last_counts(capsys.readouterr().err)
    assert 3 * result.n_resamples < done < total == 3 * 501  # blocks may overshoot


@pytest.mark.parametrize(
    ("error", "bar", "verbose"),
    [(KeyboardInterrupt, True, 1), (ArithmeticError, False, 2), (ArithmeticError, True, 0)],
)
def test_what_stops_a_run_comes_through(error, bar, verbose, monkeypatch):
    if not bar:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    Stopped.n_fits = 0
    with pytest.raises(error, match="stop"):
        bootstrap_error(Stopped(error), X, y, n_resamples=9, verbose=verbose)
    # a test that needs no more fits closes the rest
    options = {"n_permutations": 99, "max_exceedances": 2, "random_state": 0, "verbose": verbose}
    assert permutation_test(Stopped(), X, y, cv=3, **options).stopped


@pytest.fixture
def now(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("skeval._resampling.progress.monotonic", lambda: now[0])
    return now


def test_the_clock_of_progress_starts_with_the_first_fit(capsys, now):
    with show_progress(Progress(10)):
        now[0] = 1000  # imports, and reading a table
        bootstrap()
        assert capsys.readouterr().err == ""
        now[0] = 1011
        bootstrap()
    assert "fits, 11 s" in capsys.readouterr().err


def fit_slowly(progress, now, total, seconds):
    """Report fits that take this many seconds each."""
    progress.begin(total)
    for _ in range(total):
        now[0] += seconds
        progress.update(1)


def test_away_from_a_terminal_a_line_is_written_now_and_then(capsys, now):
    progress = Progress(10)
    fit_slowly(progress, now, 100, 0.5)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["skeval: 20 of 100 fits, 10 s", "skeval: 40 of 100 fits, 20 s"]
    assert len(lines) == 5
    fit_slowly(progress, now, 1000, 0.5)
    assert len(capsys.readouterr().err.splitlines()) < 15


def test_on_a_terminal_one_line_is_redrawn(capsys, now, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    progress = Progress(10, redraws=True)
    with show_progress(progress):
        progress.step = "a step"
        show_estimate(lambda: "error .1 [.05, .2]" + 80 * "x")
        fit_slowly(progress, now, 10, 0.5)
    shown = capsys.readouterr().err
    assert "\n" not in shown
    frames = shown.split("\r\x1b[K")
    assert max(map(len, frames)) == 59
    assert frames[4].startswith("skeval: 4 of 10 fits, 2 s; error .1 [")
    assert frames[-1] == ""


class Broken:
    """A standard error that takes some writes, and no more."""

    def __init__(self, n_writes):
        self.n_writes = n_writes

    def write(self, text):
        self.n_writes -= 1
        if self.n_writes < 0:
            raise BrokenPipeError

    def flush(self):
        pass

    def isatty(self):
        return False


@pytest.mark.parametrize(
    ("stream", "shown"), [(None, "bar"), (Broken(0), "line"), (Broken(1), "bar")]
)
def test_a_display_that_fails_costs_nothing(monkeypatch, stream, shown):
    expected = bootstrap().value
    monkeypatch.setattr(sys, "stderr", stream)
    if shown == "bar":
        assert bootstrap(verbose=1).value == expected
        return
    with show_progress(Progress(0)):
        assert bootstrap().value == expected
        show_estimate(lambda: 1 / 0)


SAMPLES = X[:, :4] / X[:, :4].std(axis=0)


def perturbation(**options):
    return PerturbationResamplingSVC(**({"n_resamples": 40, "cv": 3, "random_state": 0} | options))


def selection(**options):
    options = {"cv": 5, "random_state": 0} | options
    return CV2FeatureSelectionPipeline(SelectKBest(k=2), GaussianNB(), **options)


# An estimator and the number of subtasks of each run of jobs in its fit.
FITS = {
    "perturbation, which begins when it is read": (perturbation(), []),
    "selection": (selection(), [5]),
    "selection, many at a time": (selection(n_jobs=2), [5]),
    "no rounds": (selection(cv=None), []),
    "nested": (selection().set_params(classifier=perturbation(n_resamples=5)), [5]),
}


class Listener:
    """Notes what it is told."""

    def __init__(self):
        self.begun, self.ended, self.open = [], [], 0

    def setup(self, estimator, context):
        self.open += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context)

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context)

    def teardown(self, estimator, context):
        self.open -= 1


@pytest.fixture
def callback():
    return pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9")


@pytest.mark.parametrize("name", FITS)
def test_every_run_of_jobs_is_a_task_of_the_fit(name, callback):
    estimator, sizes = FITS[name]
    listener = Listener()
    with parallel_config(backend="threading"):  # of the one that has several jobs
        silent = clone(estimator).fit(SAMPLES, y)
        told = clone(estimator).set_callbacks(listener).fit(SAMPLES, y)
    np.testing.assert_array_equal(told.predict(SAMPLES), silent.predict(SAMPLES))
    root = listener.begun[0]
    assert root.max_subtasks == len(sizes)
    assert [inputs.max_subtasks for inputs in root._children_map.values()] == sizes
    assert [len(inputs._children_map) for inputs in root._children_map.values()] == sizes
    assert len(listener.begun) == len(listener.ended) == 1 + len(sizes) + sum(sizes)
    assert listener.ended[-1] is root
    assert listener.open == 0


def test_a_fit_that_fails_is_torn_down(callback):
    listener = Listener()
    estimator = perturbation(statistic="no such").set_callbacks(listener)
    with pytest.raises(ValueError, match="statistic"):
        estimator.fit(SAMPLES, y)
    assert listener.open == 0
    assert clone(estimator).set_params(statistic="resubstitution").fit(SAMPLES, y)
