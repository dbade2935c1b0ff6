"""scikit-learn's callbacks on our estimators, and nothing where it has none."""

import numpy as np
import pytest
from helpers.long_runs import X, y
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.svm import PerturbationResamplingSVC

SAMPLES = X[:, :4] / X[:, :4].std(axis=0)


def perturbation(**options):
    return PerturbationResamplingSVC(**({"n_resamples": 40, "cv": 3, "random_state": 0} | options))


def selection(**options):
    options = {"cv": 5, "random_state": 0} | options
    return CV2FeatureSelectionPipeline(SelectKBest(k=2), GaussianNB(), **options)


# An estimator and the number of subtasks of each run of jobs in its fit.
FITS = {
    "perturbation": (perturbation(), [1, 3, 100]),
    "another kernel": (perturbation(kernel="rbf"), [1, 3, 100]),
    "published statistic": (perturbation(statistic="resubstitution"), [1, 3, 40]),
    "no perturbation": (perturbation(n_resamples=0), []),
    "selection": (selection(), [5]),
    "selection, many at a time": (selection(n_jobs=2), [5]),
    "no rounds": (selection(cv=None), []),
    "nested": (selection().set_params(classifier=perturbation()), [5]),
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
    silent, listener = clone(estimator).fit(SAMPLES, y), Listener()
    told = clone(estimator).set_callbacks(listener).fit(SAMPLES, y)
    np.testing.assert_array_equal(told.predict(SAMPLES), silent.predict(SAMPLES))
    root = listener.begun[0]
    assert root.max_subtasks == len(sizes)
    assert [task.max_subtasks for task in root._children_map.values()] == sizes
    assert [len(task._children_map) for task in root._children_map.values()] == sizes
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


def test_in_a_pipeline_and_a_search(callback, capsys):
    pytest.importorskip("rich")
    pipeline = make_pipeline(StandardScaler(), selection())
    search = GridSearchCV(pipeline, {"cv2featureselectionpipeline__cv": [3, 4]}, cv=2)
    bar = callback.ProgressBar(max_propagation_depth=None)
    search.set_callbacks(bar).fit(SAMPLES, y)
    assert "CV2FeatureSelectionPipeline - resampling" in capsys.readouterr().out


@pytest.mark.parametrize("name", FITS)
def test_without_callbacks(name, monkeypatch):
    """As with a scikit-learn that has none."""
    estimator = clone(FITS[name][0])
    expected = clone(estimator).fit(SAMPLES, y).predict(SAMPLES)

    def missing(self):
        raise AttributeError("_init_callback_context")

    name_of_method = "_init_callback_context"
    monkeypatch.setattr(type(estimator), name_of_method, property(missing), raising=False)
    np.testing.assert_array_equal(estimator.fit(SAMPLES, y).predict(SAMPLES), expected)
