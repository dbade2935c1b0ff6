"""Only what is asked for is computed, and the rest says that it was not."""

import numpy as np
import pytest
from helpers.crossed import each_value
from scipy.sparse import csr_matrix
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances

from skeval.metrics.cluster import _samples, internal_indices
from skeval.metrics.cluster._internal import ROWS, TABLES
from skeval.metrics.cluster._kernels import distance_pass as passes

EVERYTHING = (*ROWS, *TABLES)
# In 2-D trees and bounds prune, in 30-D they do not.
DATA = {p: make_blobs(700, p, centers=4, cluster_std=3.0, random_state=0) for p in (2, 30)}


@pytest.fixture
def pairs(monkeypatch):
    """The number of distances in the tiles, the diagonal and below it not counted."""
    seen = []

    class Counted(_samples.Samples):
        @property
        def tiles(self):
            tiles = super().tiles

            def strip(rows):
                found = tiles(rows)

                def block(columns):
                    i = np.arange(rows.start, rows.stop)[:, None]
                    seen.append((np.arange(columns.start, columns.stop) > i).sum())
                    return found(columns)

                return block

            return strip

    monkeypatch.setattr(_samples, "Samples", Counted)
    return seen


@each_value
@pytest.mark.parametrize("p", DATA)
@pytest.mark.parametrize("name", EVERYTHING)
def test_one_alone_equals_that_of_all(name, p):
    X, y = DATA[p]
    found = internal_indices(X, y, indices=[name])
    expected = internal_indices(X, y)[name]
    np.testing.assert_allclose(found[name], expected, rtol=1e-11)
    assert list(found) == [name, "label", "size"]


def sum_of_steps(a, b):
    return float(np.abs(a - b).sum())


@pytest.mark.filterwarnings("ignore:Undefined for this metric")
@pytest.mark.parametrize("kind", ["manhattan", "cosine", "chebyshev", "callable", "sparse cosine"])
def test_other_metrics_over_many_tiles(kind, monkeypatch):
    """Each metric by tiles against its whole matrix, with threads."""
    monkeypatch.setattr(passes, "TILE_ROWS", 50)
    monkeypatch.setattr(passes, "TILE_COLUMNS", 70)
    X, y = DATA[30][0][:300], DATA[30][1][:300]
    metric = {"callable": sum_of_steps, "sparse cosine": "cosine"}.get(kind, kind)
    D = pairwise_distances(X, metric="manhattan" if kind == "callable" else metric)
    np.fill_diagonal(D, 0.0)
    whole = internal_indices((D + D.T) / 2, y, metric="precomputed")
    data = csr_matrix(X) if kind == "sparse cosine" else X
    for n_jobs in (None, 2):
        found = internal_indices(data, y, metric=metric, n_jobs=n_jobs)
        for name in ("silhouette", "dunn", "connectivity"):
            assert found[name] == pytest.approx(whole[name], rel=1e-10)


def test_dunn_and_connectivity_need_no_pass_where_trees_prune(pairs):
    X, y = make_blobs(5000, 2, centers=4, cluster_std=3.0, random_state=0)
    internal_indices(X, y, indices=["dunn", "connectivity"])
    assert not pairs
    internal_indices(X, y, indices=["davies_bouldin_pairwise"])  # within clusters only
    assert 0 < sum(pairs) < 0.3 * 5000**2 / 2


@pytest.mark.filterwarnings("ignore:Undefined for this metric")
def test_nothing_is_undefined_that_was_not_asked_for(recwarn):
    X, y = DATA[30]
    internal_indices(csr_matrix(X), y, indices=["silhouette", "sse"])
    assert not recwarn
