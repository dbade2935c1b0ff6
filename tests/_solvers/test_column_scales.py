"""Scales of columns under many weightings: those of a StandardScaler."""

import numpy as np
from reference.svm import standard_scale
from sklearn.preprocessing import StandardScaler

from skeval._solvers.column_scales import ColumnScales


def test_scales_are_those_of_a_standard_scaler():
    """Also for columns that are constant only where the weights are not nought."""
    rng = np.random.default_rng(10)
    X = rng.normal(size=(30, 6)) * [1.0, 1e-6, 1e6, 1.0, 1.0, 1.0] + [0, 0, 0, 1e7, 0, 0.1]
    X[:20, 4] = 0.3
    X[:25, 5] = 0.1
    weights = np.concatenate(
        [rng.multinomial(30, np.full(30, 1 / 30), size=4), rng.exponential(size=(2, 30))]
    )
    weights[1, 20:] = weights[5, 20:] = 0.0
    columns = ColumnScales(X)
    scales = np.sqrt(columns.ridge(weights)) * columns.scale
    for row, w in zip(scales, weights, strict=True):
        expected = StandardScaler().fit(X, sample_weight=w).scale_
        np.testing.assert_allclose(row, expected, rtol=1e-7)
        np.testing.assert_allclose(row, standard_scale(X, w), rtol=1e-6)


def test_means_and_scales_by_which_columns_are_divided():
    """A column that never varies has its value as the mean, and is not scaled."""
    rng = np.random.default_rng(11)
    X = np.column_stack([rng.normal(size=(30, 3)) + [0.0, 5.0, -1e3], np.full(30, 7.0)])
    weights = rng.multinomial(30, np.full(30, 1 / 30), size=4).astype(float)
    columns = ColumnScales(X)
    means, scales = columns.means(weights), columns.deviations(weights)
    for w, mean, scale in zip(weights, means, scales, strict=True):
        expected = StandardScaler().fit(X, sample_weight=w)
        np.testing.assert_allclose(mean, expected.mean_, rtol=1e-12)
        np.testing.assert_allclose(scale, expected.scale_, rtol=1e-9)
