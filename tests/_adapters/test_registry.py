"""The registry of adapters: who is served, and why not."""

import numpy as np
import pytest
from helpers.adapters import adapter_of_steps
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval._adapters.registry import NoSolver, ask_steps
from skeval._resampling.target import validate_data

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2
TARGET = validate_data(SVC(), X, Y)[1]


class OwnSVC(SVC):
    """A subclass may do anything."""


@pytest.mark.parametrize(
    "estimator", [SVC(kernel="linear"), LinearDiscriminantAnalysis(), make_pipeline(SVC())], ids=str
)
def test_served(estimator):
    assert adapter_of_steps(estimator, X, TARGET) is not None


@pytest.mark.parametrize("estimator", [OwnSVC(), DecisionTreeClassifier()], ids=str)
def test_not_served(estimator):
    assert adapter_of_steps(estimator, X, TARGET) is None


def test_steps_that_pass_through_are_none_and_a_memory_is_a_reason(tmp_path):
    steps = [("nothing", "passthrough"), ("svc", SVC(kernel="linear"))]
    assert adapter_of_steps(Pipeline(steps), X, TARGET) is not None
    refusal = ask_steps(Pipeline(steps, memory=str(tmp_path)), X, TARGET)
    assert isinstance(refusal, NoSolver)
    assert "in memory" in refusal.why


def test_mapped_samples_are_served(tmp_path):
    mapped = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=X.shape)
    mapped[:] = X
    assert adapter_of_steps(SVC(kernel="linear"), mapped, TARGET) is not None
