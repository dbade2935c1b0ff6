"""Internal indices of data that are hard on arithmetic, against the double loops."""

import numpy as np
import pytest
from helpers.cases import every_other
from reference import internal as reference

from skeval.metrics import cluster as sk
from skeval.metrics.cluster import _distance_pass as passes

KINDS = {
    "normal": lambda rng, n, p: rng.normal(size=(n, p)),
    "grid": lambda rng, n, p: rng.integers(0, 3, (n, p)).astype(float),
    "duplicates": lambda rng, n, p: rng.normal(size=(n, p))[rng.integers(0, n // 3, n)],
    "heavy": lambda rng, n, p: rng.standard_cauchy((n, p)) * 10.0 ** rng.integers(-3, 4, (n, 1)),
    "line": lambda rng, n, p: (
        rng.normal(size=(n, 1)) * rng.normal(size=(1, p)) + 1e-6 * rng.normal(size=(n, p))
    ),
    "outlier": lambda rng, n, p: rng.normal(size=(n, p)) + 1e6 * (np.arange(n) == 3)[:, None],
}
LABELS = {
    "numbers with gaps": lambda y: y * 1000 - 7,
    "text": lambda y: np.array(list("abcdef"))[y],
    "unsigned": lambda y: y.astype(np.uint8),
    "halves": lambda y: y * 0.5,
}
DATA = {
    "double": lambda X: X,
    "single": lambda X: X.astype(np.float32),
    "columns": np.asfortranarray,
}


@pytest.fixture(params=[2**18, 50], autouse=True)
def strip(request, monkeypatch):
    monkeypatch.setattr(passes, "STRIP_NUMBERS", request.param)


@pytest.mark.parametrize(
    ("kind", "offset", "metric"),
    every_other(
        KINDS, [(0.0, "euclidean"), (0.0, "manhattan"), (1e8, "manhattan"), (1e8, "euclidean")]
    ),
)
def test_hostile_data_equal_the_double_loops(kind, offset, metric):
    """Up to 60 features, one singleton; scales are powers of two, which round nothing."""
    rng = np.random.default_rng([len(kind), int(offset > 0), len(metric)])
    for scale, form, names in zip((1.0, 2.0**-332, 2.0**332), DATA, LABELS, strict=False):
        p, n, L = rng.choice([1, 2, 5, 20, 60]), 24, int(rng.integers(1, 12))
        X = KINDS[kind](rng, n, p) + offset
        X = DATA[form](X if form == "single" else X * scale)
        y = np.append(rng.integers(0, 4, n - 1), 5)  # the last is alone
        unit = 1.0 if form == "single" else scale
        D, keys = reference.distance_matrix(X.astype(float) / unit, metric), list(y)
        if np.sort(reference.within(D, keys)[1])[-1] == 0:
            continue
        found = sk.internal_indices(X, LABELS[names](y), metric=metric, n_neighbors=L)
        silhouettes = reference.silhouette_samples(D, keys)
        np.testing.assert_allclose(found["silhouette_samples"], silhouettes, atol=1e-10)
        assert found["connectivity"] == pytest.approx(reference.connectivity(D, keys, L), abs=1e-9)
        assert found["dunn"] == pytest.approx(reference.dunn(D, keys), rel=1e-10)
        mean, largest = reference.within(D, keys)
        np.testing.assert_allclose(found["mean_within"] / unit, mean, rtol=1e-10)
        np.testing.assert_allclose(found["max_within"] / unit, largest, rtol=1e-10)
        mean, smallest = reference.between(D, keys)
        np.testing.assert_allclose(found["mean_between"] / unit, mean, rtol=1e-10)
        np.testing.assert_allclose(found["min_between"] / unit, smallest, rtol=1e-10)
