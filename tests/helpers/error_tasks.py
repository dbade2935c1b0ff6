"""Small tasks with estimates of `error_interval`, and the comparison with a definition."""

import numpy as np
import pytest
from helpers.folds import note_splits
from numpy.testing import assert_allclose
from reference import intervals as reference
from scipy.stats import norm
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from skeval.model_selection import error_interval

RNG = np.random.default_rng(7)
N = 26
Y = RNG.permutation(np.repeat([0, 1, 2], [12, 9, 5]))
X = RNG.normal(size=(N, 3)) + Y[:, None] * [1.5, -1.0, 0.0]
NUMBERS = X[:, 0] + RNG.standard_t(3, N)
TASKS = {
    "classes": (KNeighborsClassifier(3), Y, "zero_one", lambda a, b: float(a != b)),
    "numbers": (Ridge(), NUMBERS, "squared", lambda a, b: (a - b) ** 2),
    "absolute": (Ridge(), NUMBERS, "absolute", lambda a, b: abs(a - b)),
}
EXACT = {"rtol": 1e-12, "atol": 1e-12}
SEED = 5
NORMAL = norm.ppf(0.95)


def splits_of(task, method, random_state=SEED, **settings):
    """The rows that each fit of a method trains on and is tested on."""
    _, y, *_ = TASKS[task]
    settings |= {"method": method, "random_state": random_state}
    return note_splits(error_interval, y, **settings)


def found(task, method, confidence_level=0.9, **settings):
    model, y, loss, _ = TASKS[task]
    return error_interval(
        model,
        X,
        y,
        method=method,
        loss=loss,
        confidence_level=confidence_level,
        random_state=SEED,
        **settings,
    )


def assert_agrees(result, task, error, standard_error, quantile=NORMAL):
    """Hold the estimate, its standard error and the published interval against a definition."""
    low = 0.0  # the range of the loss
    high = 1.0 if task == "classes" else np.inf
    assert_allclose(result.value, np.clip(error, low, high), **EXACT)
    assert_allclose(result.standard_error, standard_error, **EXACT)
    form = "normal" if result.extra.degrees_of_freedom is None else "t"
    published = result.confidence_interval(method=form)
    half = quantile * standard_error
    expected = np.clip([result.value - half, result.value + half], low, high)
    assert_allclose([published.low, published.high], expected, **EXACT)
    if task == "classes":
        n = result.effective_n_samples
        form = reference.jeffreys if result.method == "repeated_cv" else reference.wilson
        expected = form(result.value, n, quantile)
    else:
        expected = result.value * np.exp(np.array([-half, half]) / result.value)
    assert_allclose([*result.interval], expected, **EXACT)


tasks = pytest.mark.parametrize("task", TASKS)
