"""Columns of each fit are what scikit-learn's transformers make of them."""

import numpy as np
import pytest
from helpers.crossed import each_value
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
        [SimpleImputer(missing_values=0.5)],
    ):
        assert column_steps(steps, X).startswith("no solver supports these transformers: ")
    assert not is_supported_scaler(type("Own", (StandardScaler,), {})())


@each_value
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_components", [1, 3, 6])
@pytest.mark.parametrize("before", [[], [StandardScaler()], [MinMaxScaler()]], ids=str)
def test_principal_components_of_each_fit(before, n_components, whiten):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * np.arange(1, 7) + 5
    counts = rng.multinomial(40, np.full(40, 1 / 40), size=3)
    steps = [*before, PCA(n_components, whiten=whiten)]
    maps = column_steps(steps, X).maps(PlanBlock(counts, counts == 0))
    assert maps.usable.all()
    for fit, of_fit in enumerate(counts):
        expected = make_pipeline(*steps).fit(np.repeat(X, of_fit, axis=0)).transform(X)
        columns = maps.transform(X, fit)
        columns *= np.sign(np.sum(columns * expected, axis=0))  # the signs of axes are arbitrary
        assert_allclose(columns, expected, atol=1e-9)


def test_components_that_are_left_to_the_estimator():
    """Equal eigenvalues, more components than samples, weights, and random numbers."""
    rng = np.random.default_rng(0)
    square = np.tile([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], (5, 1))
    cases = [
        (PCA(1), square, np.ones((1, 20), dtype=int)),
        (PCA(5), rng.normal(size=(20, 6)), (np.arange(20) < 4)[None].astype(int)),
        (PCA(2), rng.normal(size=(20, 6)), rng.exponential(size=(1, 20))),
        (PCA(3), rng.normal(size=(600, 90)), np.ones((1, 600), dtype=int)),
    ]
    for pca, X, train in cases:
        maps = column_steps([pca], X).maps(PlanBlock(train, np.ones(train.shape, bool)))
        assert not maps.usable.any()
    for pca in (PCA(), PCA(0.9), PCA(3, svd_solver="arpack"), PCA(7)):
        assert column_steps([pca], rng.normal(size=(20, 6))).endswith(": PCA")
