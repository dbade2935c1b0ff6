"""Transformers that ignore the labels, and those that draw no random numbers."""

import numpy as np
import pytest
from helpers.crossed import each_value
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
)


@each_value
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
