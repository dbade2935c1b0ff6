"""Functions of labels and scores accept arrays of any library; functions that fit models do not."""

import inspect
import os

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import skeval
from skeval import metrics, model_selection
from skeval.metrics import cluster as indices

xp = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
NEEDS_SCIPY = pytest.mark.skipif(
    os.environ.get("SCIPY_ARRAY_API") != "1", reason="SCIPY_ARRAY_API is not set to 1"
)
DISPATCH = pytest.mark.parametrize("dispatch", [False, pytest.param(True, marks=NEEDS_SCIPY)])
rng = np.random.default_rng(0)
LABELS, SCORES = rng.integers(0, 2, 40), rng.random(40)
PREDICTED = np.where(rng.random(40) < 0.2, 1 - LABELS, LABELS)
CLASSES, PROBABILITIES = rng.integers(0, 3, 40), rng.dirichlet(np.ones(3), 40)
POINTS = rng.normal(size=(40, 3))
SEVERAL = rng.integers(0, 2, (40, 3))
ARGUMENTS = [
    (LABELS, PREDICTED),
    (LABELS, SCORES),
    (SEVERAL, SEVERAL),
    (CLASSES, PROBABILITIES),
    (POINTS, CLASSES),
    (SCORES + 1, SCORES + 2),
    (LABELS, PREDICTED, [[0, 1], [5, 0]]),
    (LABELS,),
]


def list_functions():
    """Return our functions of arrays: those of scikit-learn follow its own rules."""
    for module in (metrics, indices):
        for name in module.__all__:
            function = getattr(module, name)
            ours = inspect.isfunction(function) and function.__module__.startswith("skeval")
            if ours and not name.startswith(("make_", "get_")):
                yield pytest.param(function, id=name)


def seeded(function):
    options = {"n_resamples": 5, "random_state": 0}
    taken = inspect.signature(function).parameters
    return {name: value for name, value in options.items() if name in taken}


@pytest.mark.filterwarnings("ignore")
@DISPATCH
@pytest.mark.parametrize("function", list_functions())
def test_arrays_of_another_library_give_the_same_value(function, dispatch):
    options, tried = seeded(function), 0
    for arguments in ARGUMENTS:
        try:
            expected = function(*arguments, **options)
        except (TypeError, ValueError):
            continue  # other arguments
        tried += 1
        with config_context(array_api_dispatch=dispatch):
            result = function(*map(xp.asarray, arguments), **options)
        np.testing.assert_equal(str(result), str(expected))
    if not tried:
        pytest.skip("needs other arguments")


@pytest.mark.parametrize("convert", [xp.asarray, "pyarrow"])
@DISPATCH
def test_functions_of_predictions_accept_any_array(dispatch, convert):
    if convert == "pyarrow":
        convert = pytest.importorskip("pyarrow").array
    y, predicted, groups = convert(LABELS), convert(PREDICTED), convert(np.arange(40) // 2)
    with config_context(array_api_dispatch=dispatch):
        found = skeval.metric_interval("accuracy", y, predicted, groups=groups)
        plain = skeval.metric_interval("accuracy", LABELS, PREDICTED, groups=np.arange(40) // 2)
        assert str(found) == str(plain)
        two = {"a": predicted, "b": y}
        pair = model_selection.compare_predictions(y, two, random_state=0).difference
        held_out = model_selection.holdout_error(y, predicted)
        report = skeval.evaluate_predictions(y, predicted, random_state=0)
    assert abs(pair.value) == pytest.approx(np.mean(PREDICTED != LABELS))
    assert held_out.value == pytest.approx(np.mean(PREDICTED != LABELS))
    assert str(report) == str(skeval.evaluate_predictions(LABELS, PREDICTED, random_state=0))


@pytest.mark.parametrize("labels", [np.array(["no", "yes"])[LABELS], LABELS == 1], ids=str)
def test_pyarrow_arrays_of_strings_and_booleans(labels):
    pa = pytest.importorskip("pyarrow")
    found = skeval.metric_interval("accuracy", pa.array(labels), pa.chunked_array([labels]))
    assert found.value == 1


@NEEDS_SCIPY
def test_loops_evaluate_frames_under_dispatch():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[::8, :4], y[::8]
    options = {"include": ["cross_validation"], "random_state": 0}
    expected = skeval.evaluate(GaussianNB(), X, y, **options)
    with config_context(array_api_dispatch=True):
        found = skeval.evaluate(GaussianNB(), X, y, **options)
    assert found.estimates["cross_validation"].value == expected.estimates["cross_validation"].value


@DISPATCH
def test_functions_that_fit_models_refuse_other_arrays(dispatch):
    y = pd.Series(LABELS)
    with config_context(array_api_dispatch=dispatch):
        for X, target, name in ((xp.asarray(POINTS), y, "X"), (POINTS, xp.asarray(LABELS), "y")):
            for function in (skeval.evaluate, skeval.error_interval, skeval.permutation_test):
                with pytest.raises(TypeError, match=f"{name} must be a NumPy array, a sparse"):
                    function(LogisticRegression(), X, target)
