"""DeLong's areas and their covariance against U-statistics, and by simulation."""

import numpy as np
import pytest
from helpers.coverage import consistent_with
from numpy.testing import assert_allclose
from reference import metric_intervals as reference
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from skeval._inference.areas import delong
from skeval.model_selection import metric_interval


@pytest.mark.parametrize("seed", range(3))
def test_delong_equals_the_u_statistic(seed):
    rng = np.random.default_rng(seed)
    positive = rng.permutation(np.repeat([True, False], [7, 11]))
    scores = rng.integers(0, 8, size=(3, 18)).astype(float)  # ties within and between classes
    areas, covariance = delong(positive, scores)
    expected = reference.delong(scores[:, positive].tolist(), scores[:, ~positive].tolist())
    assert_allclose(areas, expected[0], rtol=1e-12)
    assert_allclose(covariance, expected[1], rtol=1e-10, atol=1e-15)
    assert_allclose(areas, [roc_auc_score(positive, s) for s in scores])


def coverage_of_delong(n_data_sets, n_each=100, shift=1.0):
    truth = norm.cdf(shift / np.sqrt(2))
    y = np.repeat([0, 1], n_each)
    rng = np.random.default_rng(0)
    return sum(
        truth
        in metric_interval(
            roc_auc_score, y, rng.normal(size=2 * n_each) + shift * y, method="delong"
        ).interval
        for _ in range(n_data_sets)
    )


def test_delong_coverage():
    assert consistent_with(coverage_of_delong(200), 200)


@pytest.mark.slow
def test_delong_coverage_long():
    hits = coverage_of_delong(3000)
    print(f"DeLong: {hits / 3000:.4f}")
    assert consistent_with(hits, 3000)
