"""Values against reference implementations: 1 to 50 classes, ties, duplicates, rare classes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import classification, external, internal, ranking

from skeval.metrics import break_even_point, error_norm, error_rate, macro_fbeta_score, ranking_loss
from skeval.metrics.cluster import coassociation_matrix, external_indices, internal_indices

SOME = settings(max_examples=20, deadline=None, derandomize=True, database=None)


@st.composite
def two_partitions(draw):
    """From one class to as many as samples, one of them often much larger than the others."""
    n, k = draw(st.integers(2, 60)), draw(st.integers(1, 50))
    label = st.integers(0, k - 1)
    if draw(st.booleans()):
        label = st.integers(0, 9).flatmap(lambda i: st.integers(0, k - 1) if i == 9 else st.just(0))
    vector = st.lists(label, min_size=n, max_size=n).map(np.array)
    return draw(vector), draw(vector)


@SOME
@given(two_partitions())
@pytest.mark.filterwarnings("ignore:Pair precision", "ignore:Pair recall", "ignore:.*0/0")
def test_external_indices(pair):
    found = external_indices(*pair).to_dict()
    expected = external.all_indices(*[labels.tolist() for labels in pair])
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    matrix = coassociation_matrix(pair[0], sparse_output=False)
    np.testing.assert_array_equal(matrix, external.coassociation(pair[0]))


@SOME
@given(two_partitions())
def test_classes(pair):
    y, p = pair
    ones, classes = np.ones(len(y)), sorted({*y.tolist(), *p.tolist()})
    assert error_rate(y, p) == pytest.approx(classification.error_rate(y, p, ones), abs=1e-15)
    _, _, f = classification.averaged(y, p, ones, classes, "macro", 1.0)
    assert macro_fbeta_score(y, p, zero_division=0.0) == pytest.approx(f, rel=1e-12)
    for order in (0, 1, 2, np.inf):
        expected = classification.error_norm(y, p, order, ones)
        assert error_norm(y, p, ord=order) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 1e300])
@SOME
@given(scores=st.lists(st.integers(0, 8), min_size=2, max_size=30), rare=st.booleans())
def test_scores_of_any_magnitude(scale, scores, rare):
    positive = np.arange(len(scores)) == 0 if rare else np.arange(len(scores)) % 2 == 0
    score, ones = np.array(scores) * scale, np.ones(len(scores))
    expected = ranking.ranking_loss(positive, score, ones)
    assert ranking_loss(positive, score) == pytest.approx(expected, abs=1e-14)
    expected = ranking.break_even_point(positive, score, ones)
    assert break_even_point(positive, score) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-130, 1.0, 1e130])
@pytest.mark.filterwarnings("ignore:The Dunn index is 0 / 0")
@SOME
@given(data=st.data())
def test_points_of_any_magnitude(scale, data):
    n, k = data.draw(st.integers(5, 14)), data.draw(st.integers(2, 4))
    entries = st.lists(st.integers(-3, 3), min_size=2 * n, max_size=2 * n)
    X = np.array(data.draw(entries), dtype=float).reshape(n, 2)
    X = np.column_stack([X + np.arange(n)[:, None], np.full(n, 2.0)])  # a constant column
    X[1] = X[0]
    labels = np.arange(n) % k
    found = internal_indices(X * scale, labels, n_neighbors=3)
    D = internal.distance_matrix(X.tolist())
    expected = internal.silhouette_samples(D, labels.tolist())
    np.testing.assert_allclose(found["silhouette_samples"], expected, rtol=1e-9, atol=1e-12)
    assert found["dunn"] == pytest.approx(internal.dunn(D, labels.tolist()), rel=1e-9, nan_ok=True)
    assert found["sse"] / scale**2 == pytest.approx(internal.sse(X, labels.tolist()), rel=1e-9)
    expected = internal.connectivity(D, labels.tolist(), 3)
    assert found["connectivity"] == pytest.approx(expected, rel=1e-9)
