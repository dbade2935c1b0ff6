"""The test of structure: definition, size, power."""

from functools import partial

import numpy as np
import pytest
from helpers.references import draw_references
from scipy.stats import binomtest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs

from skeval.cluster import structure_test
from skeval.metrics.cluster import davies_bouldin_index, silhouette_score

WARD, KMEANS = AgglomerativeClustering(3), KMeans(3, n_init=1)


def blobs(seed=0, n=60):
    return make_blobs(n, centers=[[0, 0], [9, 0], [0, 9]], random_state=seed)[0]


@pytest.mark.parametrize("kind", ["uniform", "box", "permuted", "unimodal"])
def test_equals_the_definition(kind):
    X = np.random.default_rng(0).normal(size=(40, 2))
    found = structure_test(WARD, X, reference=kind, n_references=9, random_state=3)
    sets = draw_references(X, kind, 9, random_state=3)
    null = [silhouette_score(data, WARD.fit_predict(data)) for data in sets]
    np.testing.assert_array_equal(found.null_distribution, null)
    assert found.statistic == silhouette_score(X, WARD.fit_predict(X))
    assert found.pvalue == (1 + sum(value >= found.statistic for value in null)) / 10


def test_structure_is_found_by_either_direction():
    X = blobs()
    for index, greater in ((silhouette_score, True), (davies_bouldin_index, False)):
        options = {"index": index, "greater_is_better": greater, "random_state": 0}
        found = structure_test(WARD, X, n_references=19, **options)
        assert found.pvalue == 0.05
        assert found.n_exceedances == 0
    found = structure_test(WARD, X, index=davies_bouldin_index, n_references=19, random_state=0)
    assert found.pvalue == 1.0


def rejections(draw, kind, n_sets, n_references=19, first=0):
    """Count the data sets with a P-value of at most 0.05."""
    small = 0
    for seed in range(first, first + n_sets):
        X = draw(np.random.default_rng(seed))
        found = structure_test(
            KMEANS, X, reference=kind, n_references=n_references, random_state=seed
        )
        small += found.pvalue <= 0.05
    return small


NULLS = {
    "uniform": (lambda rng: rng.uniform(size=(60, 2)), "uniform"),
    "uniform, box": (lambda rng: rng.uniform(size=(60, 2)), "box"),
    "gaussian": (lambda rng: rng.normal(size=(60, 2)), "uniform"),
    "gaussian, permuted": (lambda rng: rng.normal(size=(60, 2)), "permuted"),
    "exponential, permuted": (lambda rng: rng.exponential(size=(60, 2)), "permuted"),
    "uniform, unimodal": (lambda rng: rng.uniform(size=(60, 2)), "auto"),
    "gaussian, unimodal": (lambda rng: rng.normal(size=(60, 2)), "auto"),
    "exponential, unimodal": (lambda rng: rng.exponential(size=(60, 2)), "auto"),
    "lognormal, unimodal": (lambda rng: rng.lognormal(size=(60, 4)), "auto"),
}


@pytest.mark.simulated
@pytest.mark.parametrize("name", ["uniform", "exponential, unimodal"])
def test_size(name):
    assert binomtest(rejections(*NULLS[name], 11), 11, 0.05, alternative="greater").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_size_long(name):
    small = rejections(*NULLS[name], 400, first=1000)
    assert binomtest(small, 400, 0.05, alternative="greater").pvalue > 0.005


def test_power():
    def three(rng):
        return np.repeat([[0, 0], [5, 0], [0, 5]], 20, axis=0) + rng.normal(size=(60, 2))

    assert rejections(three, "auto", 4) == 4


def test_undefined_draws_err_on_the_safe_side():
    index = partial(silhouette_score, noise="drop")
    X = np.vstack([blobs(), [[4.5, 4.5]]])
    found = structure_test(DBSCAN(eps=4.0), X, index=index, n_references=9, random_state=0)
    undefined = np.isnan(found.null_distribution)
    assert undefined.any()
    assert found.n_exceedances >= undefined.sum()
    assert found.name == "silhouette_score"
    never = structure_test(
        DBSCAN(eps=4.0), X, index=lambda data, _: 0.5 if data is X else np.nan, n_references=3
    )
    assert never.pvalue == 1.0
    assert "under the null hypothesis  undefined" in str(never)


def test_result_and_display():
    found = structure_test(WARD, blobs(), n_references=9, random_state=0)
    assert "reference                  unimodal" in str(found)
    assert 0 <= found.pvalue_interval.low <= found.pvalue_interval.high <= 1
    display = found.plot()
    assert display.lines_[0].get_xdata()[0] == found.statistic
    assert display.ax_.get_xlabel() == "silhouette score"
    assert display.plot(ax=display.ax_) is display
