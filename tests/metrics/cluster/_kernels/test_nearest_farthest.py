"""The nearest pair between clusters and the diameter, against all pairs, on awkward shapes."""

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist, pdist

from skeval.metrics.cluster._kernels import distance_pass as search
from skeval.metrics.cluster._kernels.distance_pass import largest_diameter, nearest_between

rng = np.random.default_rng(7)
ANGLE = rng.uniform(0, 2 * np.pi, 900)


def on_sphere(n, p):
    points = rng.normal(size=(n, p))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


SHAPES = {
    "gaussian": rng.normal(size=(900, 3)),
    "gaussian in 10-D": rng.normal(size=(900, 10)),
    "sphere": on_sphere(900, 3),
    "sphere in 8-D": on_sphere(900, 8),
    "circle": np.column_stack([np.cos(ANGLE), np.sin(ANGLE)]),
    "line": np.outer(rng.normal(size=900), [1.0, 2.0, 3.0]),
    "one feature": rng.normal(size=(900, 1)),
    "grid": rng.integers(0, 4, size=(900, 2)).astype(float),
    "far": rng.normal(size=(900, 2)) + 1e6,
    "outlier": np.vstack([rng.normal(size=(899, 2)), [[1e5, 1e5]]]),
    "one point": np.ones((900, 2)),
}


@each_value
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_clusters", [2, 3, 8, 900])
def test_nearest_and_largest_of_many_clusters(shape, n_clusters, monkeypatch):
    monkeypatch.setattr(search, "FIRST_BATCH", 50)
    points = SHAPES[shape]
    cluster = np.sort(np.arange(900) % n_clusters)
    D = cdist(points, points)
    nearest = D[cluster[:, None] != cluster].min()
    assert nearest_between(points, cluster) == pytest.approx(nearest, rel=1e-13)
    sizes = np.bincount(cluster)
    ends = np.cumsum(sizes)
    members = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    widest = max(D[m, m].max() for m in members)
    assert largest_diameter(points, members) == pytest.approx(widest, rel=1e-13)


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 70), st.integers(1, 3)),
              elements=st.integers(-3, 3).map(float)))  # fmt: skip
def test_diameter_of_any_grid_points(points):
    expected = pdist(points).max(initial=0.0)
    found = largest_diameter(points, [slice(0, len(points))])
    assert found == pytest.approx(expected, rel=1e-13)
