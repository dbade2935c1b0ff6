"""Columns of each fit are what scikit-learn's transformers make of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from skeval._adapters.column_steps import is_supported_scaler, make_column_steps
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import validate_data

N = 24


def some_data():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(N, 3)) * [1.0, 10.0, 0.1] + [0, 5, 0], np.full(N, 2.0)])
    X[4:, 2] = 0.5  # In a fit without the first samples the column is constant.
    counts = rng.multinomial(N, np.full(N, 1 / N), size=3)
    counts[0, :4] = 0
    order = np.array([rng.permutation(N) for _ in counts])
    return X, np.resize(["a", "a", "b"], N), PlanBlock(counts, counts == 0, order)


def column_steps(steps, X):
    """Return the steps before a classifier of two classes, or the reason against them."""
    _, target, _ = validate_data(SVC(), X, np.arange(len(X)) % 2)
    return make_column_steps(steps, X, target)


STEPS = {
    "standard": [StandardScaler()],
    "not centered": [StandardScaler(with_mean=False)],
    "not scaled": [StandardScaler(with_std=False)],
    "min-max": [MinMaxScaler(feature_range=(-1, 3))],
    "varying": [VarianceThreshold()],
    "all three": [SimpleImputer(), VarianceThreshold(), MinMaxScaler()],
}


@pytest.mark.parametrize("name", STEPS)
def test_columns_are_what_the_transformers_make_of_them(name):
    X, _, block = some_data()
    maps = column_steps(STEPS[name], X).maps(block)
    for shift, scale, n_kept, counts in zip(
        maps.shift, maps.scale, maps.n_kept, block.train, strict=True
    ):
        expected = make_pipeline(*STEPS[name]).fit(X[np.repeat(np.arange(N), counts)]).transform(X)
        kept = np.isfinite(scale)
        assert kept.sum() == n_kept == expected.shape[1]
        assert_allclose(((X - shift) / scale)[:, kept], expected, rtol=1e-9, atol=1e-9)


def test_steps_that_are_not_served():
    X = some_data()[0]
    for steps in (
        [StandardScaler(), VarianceThreshold()],
        [StandardScaler(), MinMaxScaler()],
        [VarianceThreshold(0.1)],
        [MinMaxScaler(clip=True)],
        [StandardScaler(), PCA(2)],
        [SimpleImputer(missing_values=0.5)],
    ):
        assert column_steps(steps, X).startswith("no solver supports these transformers: ")
    assert not is_supported_scaler(type("Own", (StandardScaler,), {})())
