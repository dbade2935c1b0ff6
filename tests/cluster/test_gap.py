"""The gap statistic: its definition, R's numbers, the paper's scenarios, seeds, bad input."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.published_scores import GAP, LOG_W, RUSPINI, SCENARIOS, SE
from helpers.references import draw_references
from reference import gap as reference
from scipy.sparse import csr_matrix
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs

from skeval.cluster import StabilityDisplay, _choose, gap_statistic

WARD = AgglomerativeClustering()
KMEANS = KMeans(n_init=2)


def three(seed=0, n=90):
    return make_blobs(n, centers=[[0, 0], [9, 0], [0, 9]], random_state=seed)[0]


@each_value
@pytest.mark.parametrize(("metric", "power"), [("sqeuclidean", 2), ("euclidean", 1)])
@pytest.mark.parametrize("kind", ["uniform", "box", "permuted"])
def test_equals_the_definition(kind, metric, power):
    X = three(n=30)
    found = gap_statistic(
        WARD, X, n_clusters=range(1, 5), reference=kind, metric=metric, n_references=5,
        random_state=3,
    )  # fmt: skip
    sets = draw_references(X, kind, 5, random_state=3)
    gaps, errors = [], []
    for row, k in enumerate(range(1, 5)):
        clusterer = AgglomerativeClustering(k)
        log_w, *logs = (
            np.log(reference.dispersion(data, clusterer.fit_predict(data), power))
            for data in (X, *sets)
        )
        np.testing.assert_allclose(found.details["reference_log_dispersions"][row], logs)
        expected = reference.gap(log_w, logs)
        assert found.details["log_dispersions"][row] == pytest.approx(log_w)
        assert (found.values[row], found.standard_errors[row]) == pytest.approx(expected)
        gaps.append(expected[0])
        errors.append(expected[1])
    assert found.n_clusters == reference.choice([1, 2, 3, 4], gaps, errors)


def test_numbers_of_r():
    """R counts each pair once, so that its W is half that of the paper; its draws are its own."""
    found = gap_statistic(
        KMeans(n_init=4), RUSPINI, n_clusters=range(1, 6), metric="euclidean", n_references=30,
        random_state=0,
    )  # fmt: skip
    np.testing.assert_allclose(found.details["log_dispersions"][:4] - np.log(2), LOG_W, atol=1e-6)
    noise = np.hypot(np.array(SE) / np.sqrt(60), found.standard_errors[:4] / np.sqrt(30))
    assert (np.abs(found.values[:4] - GAP) < 4 * noise).all()
    np.testing.assert_allclose(found.standard_errors[:4], SE, rtol=0.4)
    assert found.n_clusters == 4


@pytest.mark.parametrize(
    ("gaps", "errors", "expected"),
    [
        ([0.5, 0.4, 0.6], [0.1, 0.1, 0.1], 1),
        ([0.1, 0.4, 0.3], [0.1, 0.1, 0.1], 2),
        ([0.1, 0.4, 0.6], [0.1, 0.1, 0.1], None),
        # the curve of the example of maxSE in R, where "Tibs2001SEmax" is 1
        ([2, 3, 5, 4, 7, 8, 5, 4], np.array([1, 1, 2, 1, 1, 3, 1, 1]), 1),
        ([2, 3, 5, 4, 7, 8, 5, 4], np.array([1, 1, 2, 1, 1, 3, 1, 1]) / 8, 3),
    ],
)
def test_rule(gaps, errors, expected, monkeypatch):
    k = np.arange(1, len(gaps) + 1)
    # two draws of the reference with these means and, up to rounding, these errors
    spread = (1 + 1e-9) * np.array(errors) / np.sqrt(1.5)
    logs = [np.zeros(len(k)), gaps + spread, gaps - spread]
    monkeypatch.setattr(_choose._stability, "run_draws", lambda *_, **__: logs)
    result = gap_statistic(KMEANS, three(), n_clusters=k, n_references=2)
    assert reference.choice(k, gaps, errors) == expected
    assert result.n_clusters == (k[-1] if expected is None else expected)


def right_choices(name, n_sets, first=0):
    draw, kind, truth = SCENARIOS[name]
    right = 0
    for seed in range(first, first + n_sets):
        X = draw(np.random.default_rng(seed))
        found = gap_statistic(
            KMEANS, X, n_clusters=range(1, 7), reference=kind, n_references=15, random_state=seed
        )
        right += found.n_clusters == truth
    return right


@pytest.mark.simulated
@pytest.mark.parametrize("name", ["a", "b", "e"])
def test_scenarios_of_the_paper(name):
    assert right_choices(name, 2) == 2


def test_sparse_data_are_permuted():
    X = np.where(three() < 1, 0, three())
    options = {"n_clusters": [1, 2, 3, 4, 5], "n_references": 3, "random_state": 0}
    kmeans = KMeans(n_init=2, random_state=0)
    sparse = gap_statistic(kmeans, csr_matrix(X), **options)
    dense = gap_statistic(kmeans, X, reference="permuted", **options)
    assert sparse.reference == "permuted"
    np.testing.assert_allclose(sparse.details["log_dispersions"], dense.details["log_dispersions"])


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_clusters_of_no_width():
    X = np.repeat([[0.0, 0], [5, 5], [9, 0]], 10, axis=0)
    found = gap_statistic(KMEANS, X, n_clusters=range(1, 6), n_references=5, random_state=0)
    assert found.n_clusters == 3
    assert np.isposinf(found.values[2:]).all()
    two = gap_statistic(KMEANS, X[:20], n_clusters=[1, 2, 3], n_references=5, random_state=0)
    assert two.n_clusters == 2
    with pytest.raises(ValueError, match="n_clusters must be smaller"):
        gap_statistic(
            KMEANS, X[:, :1], n_clusters=range(1, 5), reference="permuted", n_references=3
        )


def test_a_gap_that_still_grows():
    found = gap_statistic(KMEANS, three(), n_clusters=[1, 2, 3], n_references=10, random_state=0)
    assert found.n_clusters == 3
    assert "! The gap still increases at the largest k, 3" in str(found)


def test_result_and_display():
    found = gap_statistic(KMEANS, three(), n_clusters=range(1, 6), n_references=4, random_state=0)
    frame = found.to_frame()
    assert frame.index[frame["chosen"]].tolist() == [3]
    np.testing.assert_array_equal(frame["gap"], found.values)
    assert str(found).count("<- chosen") == 1
    display = StabilityDisplay.from_result(found)
    np.testing.assert_array_equal(display.errorbar_.lines[0].get_ydata(), found.values)
    assert display.plot(ax=display.ax_) is display
