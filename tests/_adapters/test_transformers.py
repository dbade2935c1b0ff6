"""Transformers that ignore the labels, and those that draw no random numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skeval._adapters.transformers import (
    are_affine,
    draws_nothing,
    ignores_labels,
    is_deterministic,
    make_column_steps,
)
from skeval._resampling.plans import PlanBlock


@pytest.mark.parametrize("n_components", [1, 3, 9, 10, 0.5, "mle", None])
@pytest.mark.parametrize("shape", [(100, 10), (99, 10), (501, 60), (502, 49), (12, 510), (450, 80)])
def test_components_that_scikit_learn_draws_at_random(shape, n_components):
    X = np.random.default_rng(0).normal(size=shape)
    if n_components == "mle" and shape[0] < shape[1]:
        pytest.skip("PCA refuses it")
    model = PCA(n_components).fit(X)
    deterministic = is_deterministic(model, *shape)
    assert deterministic == (model._fit_svd_solver in ("full", "covariance_eigh"))
    assert draws_nothing(make_pipeline(StandardScaler(), clone(model)).fit(X)) == deterministic


def test_random_components_of_some_columns():
    X = np.random.default_rng(0).normal(size=(501, 90))
    some = ColumnTransformer([("a", PCA(2), slice(0, 80))], remainder=StandardScaler())
    assert ignores_labels(some)
    assert not draws_nothing(some.fit(X))
    assert draws_nothing(some.set_params(a__random_state=0).fit(X))


def test_what_ignores_labels():
    own = type("Own", (StandardScaler,), {})()
    assert ignores_labels(PCA(3))
    assert ignores_labels(make_pipeline(StandardScaler(), PCA(3, svd_solver="full")))
    for step in (PCA(3, svd_solver="arpack"), PCA(3, svd_solver="randomized"), SelectKBest(), own):
        assert not ignores_labels(step)


def test_what_is_affine():
    assert are_affine((StandardScaler(), MinMaxScaler()))
    assert not are_affine((StandardScaler(), MinMaxScaler(clip=True)))


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_components", [1, 3, 6])
@pytest.mark.parametrize("before", [[], [StandardScaler()], [MinMaxScaler()]], ids=str)
def test_principal_components_of_each_fit(before, n_components, whiten):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * np.arange(1, 7) + 5
    counts = rng.multinomial(40, np.full(40, 1 / 40), size=3)
    steps = [*before, PCA(n_components, whiten=whiten)]
    maps = make_column_steps(steps, X).maps(PlanBlock(counts, counts == 0))
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
        maps = make_column_steps([pca], X).maps(PlanBlock(train, np.ones(train.shape, bool)))
        assert not maps.usable.any()
    for pca in (PCA(), PCA(0.9), PCA(3, svd_solver="arpack"), PCA(7)):
        assert make_column_steps([pca], rng.normal(size=(20, 6))) is None
