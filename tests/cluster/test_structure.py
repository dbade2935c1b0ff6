"""The test of structure and the interval of an index: definitions, size, power, coverage."""

import pickle
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.metrics
from joblib import parallel_config
from scipy.stats import binomtest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics import silhouette_score as sklearn_silhouette

import skeval.metrics.cluster as metrics_of_clusterings
from skeval.cluster import index_interval, structure_test
from skeval.cluster._references import resolve_reference
from skeval.cluster._structure import find_row
from skeval.metrics.cluster import (
    compactness_score,
    davies_bouldin_score,
    dunn_score,
    silhouette_score,
)
from skeval.metrics.cluster._indices import INDICES
from skeval.utils._checks import repetition_rng, root_seed

within_cluster_sse = partial(compactness_score, unit="sum")
within_cluster_variance = partial(compactness_score, unit="mean")
WARD, KMEANS = AgglomerativeClustering(3), KMeans(3, n_init=1)


def blobs(seed=0, n=60):
    return make_blobs(n, centers=[[0, 0], [9, 0], [0, 9]], random_state=seed)[0]


@pytest.mark.parametrize("kind", ["uniform", "box", "permuted", "unimodal"])
def test_equals_the_definition(kind):
    X = np.random.default_rng(0).normal(size=(40, 2))
    found = structure_test(WARD, X, reference=kind, n_references=9, random_state=3)
    root, draws = root_seed(3).spawn(1)[0], resolve_reference(X, kind)[1]
    null = []
    for b in range(9):
        data = draws(repetition_rng(root, b))
        null.append(silhouette_score(data, WARD.fit_predict(data)))
    np.testing.assert_array_equal(found.null_distribution, null)
    assert found.statistic == silhouette_score(X, WARD.fit_predict(X))
    assert found.pvalue == (1 + sum(value >= found.statistic for value in null)) / 10


def test_structure_is_found_by_either_direction():
    X = blobs()
    for index, greater in ((silhouette_score, True), (davies_bouldin_score, False)):
        options = {"index": index, "greater_is_better": greater, "random_state": 0}
        found = structure_test(WARD, X, n_references=19, **options)
        assert found.pvalue == 0.05
        assert found.n_exceedances == 0
    found = structure_test(WARD, X, index=davies_bouldin_score, n_references=19, random_state=0)
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


def test_seeds_and_jobs():
    X, options = blobs(), {"n_references": 5, "random_state": 0}
    one = structure_test(KMEANS, X, **options)
    with parallel_config(backend="threading"):
        two = structure_test(KMEANS, X, n_jobs=2, **options)
    np.testing.assert_array_equal(one.null_distribution, two.null_distribution)
    more = structure_test(KMEANS, X, n_references=7, random_state=0)
    np.testing.assert_array_equal(more.null_distribution[:5], one.null_distribution)
    other = structure_test(KMEANS, X, n_references=5)
    assert not np.array_equal(other.null_distribution, one.null_distribution)


def test_result_and_display():
    found = structure_test(WARD, blobs(), n_references=9, random_state=0)
    assert "reference                  unimodal" in str(found)
    assert 0 <= found.pvalue_interval.low <= found.pvalue_interval.high <= 1
    display = found.plot()
    assert display.lines_[0].get_xdata()[0] == found.statistic
    assert display.ax_.get_xlabel() == "silhouette score"
    assert display.plot(ax=display.ax_) is display
    plt.close(display.figure_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"index": "silhouette"}, "'index' parameter"),
        ({"index": lambda X, labels: np.inf}, "index must have a finite value on the data"),
        ({"clusterer": KMeans(1)}, "labels must hold at least 2 clusters"),
        ({"n_references": 0}, "'n_references' parameter"),
        ({"reference": "none"}, "'reference' parameter"),
        ({"confidence_level": 0}, "confidence_level must fulfill"),
    ],
)
def test_bad_input(change, message):
    arguments = {"clusterer": WARD, "n_references": 2} | change
    with pytest.raises(ValueError, match=message):
        structure_test(arguments.pop("clusterer"), blobs(), **arguments)


def labeled_blobs(seed=0, n=45):
    return make_blobs(n, centers=3, cluster_std=2.0, random_state=seed)


@pytest.mark.parametrize("n", [44, 45])
def test_interval_equals_the_definition(n):
    X, labels = labeled_blobs(n=n)
    found = index_interval(silhouette_score, X, labels, n_resamples=6, random_state=4)
    root, values = root_seed(4).spawn(1)[0], []
    for b in range(6):
        half = np.sort(repetition_rng(root, b).permutation(n)[: n // 2])
        values.append(silhouette_score(X[half], labels[half]))
    np.testing.assert_allclose(found.replicates, values)
    error = np.std(values, ddof=1) * np.sqrt((n // 2) / (n - n // 2))
    assert found.value == silhouette_score(X, labels)
    assert found.standard_error == pytest.approx(error)
    assert found.interval.high == pytest.approx(found.value + 1.959964 * error)
    assert found.interval.low == pytest.approx(found.value - 1.959964 * error)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("index", [silhouette_score, partial(sklearn_silhouette, metric="l1")])
def test_the_ends_lie_in_the_range_of_the_index(index, level):
    labels = np.repeat([0, 1], 8)
    for gap in (0.3, 3.0, 30.0):
        X = gap * labels[:, None] + np.linspace(0, 1, 16)[::-1, None] ** 8
        found = index_interval(index, X, labels, n_resamples=30, random_state=0)
        interval = found.confidence_interval(level)
        assert found.bounds == (-1, 1)
        assert -1 <= interval.low < found.value < interval.high <= 1


def test_ends_of_indices_of_two_partitions_and_of_unknown_ones():
    X, labels = labeled_blobs()
    other = labels.copy()
    other[:2] = 3
    both = index_interval(adjusted_rand_score, X, labels, other, n_resamples=30, random_state=0)
    assert both.interval.high == 1 > both.value

    def ten_times(data, names):
        return 10 * silhouette_score(data, names)

    found = index_interval(ten_times, X, labels, growth="mean", n_resamples=30, random_state=0)
    assert found.bounds == (-np.inf, np.inf)
    assert found.interval.high == pytest.approx(found.value + 1.959964 * found.standard_error)


def test_every_known_index_is_a_function_of_this_package_or_scikit_learn():
    known = {row.function_name for row in INDICES}
    assert known <= {*dir(metrics_of_clusterings), *dir(sklearn.metrics)}


@pytest.mark.parametrize("row", INDICES, ids=lambda row: row.name)
def test_indices_grow_with_n_as_the_table_says(row):
    """Halves have the index itself or half of it, whatever the index."""
    assert find_row(row.function) is row
    if row.name == "dunn":
        return
    rng, n = np.random.default_rng(0), 600
    X = rng.integers(0, 3, n)[:, None] * 3.0 + rng.normal(size=(n, 4))
    first, second = (KMeans(3, n_init=1, random_state=s).fit_predict(X[:, s:]) for s in (0, 2))
    arguments = [X, first] if row.is_internal else [first, second]
    half = rng.permutation(n)[: n // 2]
    share = row.function(*(each[half] for each in arguments)) / row.function(*arguments)
    assert share == pytest.approx(0.5 if row.growth == "sum" else 1.0, abs=0.2)


def test_an_index_of_ones_own_says_how_it_grows():
    X, labels = labeled_blobs()

    def total(data, names):
        return float(np.square(data).sum())

    options = {"n_resamples": 10, "random_state": 0}
    with pytest.raises(ValueError, match="got None, and total is not known here"):
        index_interval(total, X, labels, **options)
    with pytest.raises(ValueError, match="dunn_score rests on few samples and has no limit"):
        index_interval(dunn_score, X, labels, **options)
    as_mean = index_interval(total, X, labels, growth="mean", **options)
    as_sum = index_interval(total, X, labels, growth="sum", **options)
    assert as_sum.standard_error == pytest.approx(as_mean.standard_error * 45 / 22)
    known = index_interval(within_cluster_sse, X, labels, **options)
    assert known.details["growth"] == "sum"
    per_sample = index_interval(within_cluster_variance, X, labels, growth="mean", **options)
    # The sum of n terms is n times their mean.  Halves of 45 are 22 samples.
    assert known.standard_error == pytest.approx(45 * per_sample.standard_error)
    assert known.interval.low == pytest.approx(45 * per_sample.interval.low)


def test_the_spread_of_halves_is_that_of_a_mean():
    """Exact for a mean: the variance of a half without replacement is s^2 (1/m - 1/n)."""
    X, labels = np.random.default_rng(0).normal(size=(60, 1)), np.zeros(60)
    of_mean, of_sum = (
        index_interval(index, X, labels, growth=growth, n_resamples=n_resamples, random_state=0)
        for index, growth, n_resamples in (
            (lambda data, _: data.mean(), "mean", 4000),
            (lambda data, _: data.sum(), "sum", 50),
        )
    )
    assert of_mean.standard_error == pytest.approx(X.std(ddof=1) / np.sqrt(60), rel=0.05)
    first = np.std(of_mean.replicates[:50], ddof=1)
    assert of_sum.standard_error == pytest.approx(60 * first)


def test_clusterers_are_fitted_on_each_half():
    X, _ = labeled_blobs()
    found = index_interval(silhouette_score, X, WARD, n_resamples=4, random_state=0)
    root = root_seed(0).spawn(1)[0]
    for b, value in enumerate(found.replicates):
        half = np.sort(repetition_rng(root, b).permutation(45)[:22])
        assert value == silhouette_score(X[half], WARD.fit_predict(X[half]))
    both = index_interval(adjusted_rand_score, X, WARD, KMEANS, n_resamples=10, random_state=0)
    assert both.name == "adjusted_rand_score"
    assert 0 < both.value <= 1
    first, second = WARD.fit_predict(X), KMeans(3, random_state=0).fit_predict(X)
    given = index_interval(adjusted_rand_score, X, first, second, random_state=0, n_resamples=10)
    assert given.value == adjusted_rand_score(first, second)
    mixed = index_interval(adjusted_rand_score, X, first, KMEANS, n_resamples=10, random_state=0)
    assert mixed.value == both.value


def sample(rng, n):
    centers = np.array([[0, 0], [4, 0], [0, 4]])
    return centers[rng.integers(0, 3, n)] + rng.normal(size=(n, 2))


def coverage(index, n, n_sets, n_resamples, truth_from):
    """Return the P-value of coverage .95 of an index of refitted K-means clusters."""
    kmeans = KMeans(3, n_init=2, random_state=0)
    values = [
        index(X, kmeans.fit_predict(X))
        for X in (sample(np.random.default_rng(10**6 + i), n) for i in range(truth_from))
    ]
    truth, covered = np.mean(values), 0
    for seed in range(n_sets):
        X = sample(np.random.default_rng(seed), n)
        found = index_interval(index, X, kmeans, n_resamples=n_resamples, random_state=seed)
        covered += truth in found.interval
    return binomtest(covered, n_sets, 0.95).pvalue


@pytest.mark.simulated
@pytest.mark.parametrize("index", [silhouette_score, within_cluster_sse])
def test_coverage(index):
    assert coverage(index, 40, 8, 15, 30) > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(
    "index", [silhouette_score, within_cluster_sse, metrics_of_clusterings.calinski_harabasz_score]
)
def test_coverage_long(index):
    assert coverage(index, 80, 200, 100, 1000) > 0.005


def test_duplicates_would_bias_a_bootstrap():
    """Halves have no duplicates: their mean silhouette is near that of all samples."""
    X, labels = labeled_blobs(n=60)
    halves = index_interval(silhouette_score, X, labels, n_resamples=100, random_state=0)
    rng = np.random.default_rng(0)
    draws = rng.integers(0, 60, size=(100, 60))
    bootstrap = [silhouette_score(X[rows], labels[rows]) for rows in draws]
    bias = np.mean(bootstrap) - halves.value
    assert abs(halves.replicates.mean() - halves.value) < bias / 2


def test_seeds_jobs_and_results():
    X, labels = labeled_blobs()
    one = index_interval(silhouette_score, X, KMEANS, n_resamples=6, random_state=0)
    with parallel_config(backend="threading"):
        two = index_interval(silhouette_score, X, KMEANS, n_resamples=6, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(one.replicates, two.replicates)
    more = index_interval(silhouette_score, X, KMEANS, n_resamples=8, random_state=0)
    np.testing.assert_array_equal(more.replicates[:6], one.replicates)
    again = pickle.loads(pickle.dumps(one))
    assert again.interval == one.interval
    wide = one.confidence_interval(confidence_level=0.99)
    assert wide.low < one.interval.low
    assert "95 % interval" in str(one)
    manhattan = partial(silhouette_score, metric="manhattan")
    assert index_interval(manhattan, X, labels, n_resamples=2).name == "silhouette_score"


def test_undefined_halves():
    X = np.arange(10.0)[:, None]
    labels = np.r_[0, np.ones(9)].astype(int)
    with pytest.warns(UndefinedMetricWarning, match="undefined on .* halves, which were left out"):
        found = index_interval(silhouette_score, X, labels, n_resamples=20, random_state=0)
    assert 0 < np.isnan(found.replicates).sum() < 20
    with pytest.raises(ValueError, match="no finite value on 3 of 3"):
        index_interval(
            partial(silhouette_score, metric="precomputed"), np.abs(X - X.T), labels, n_resamples=3
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": np.zeros(44)}, "X and labels must have the same length, got 45 and 44"),
        ({"labels_other": [0, 1]}, "X and labels_other must have the same length"),
        ({"labels": np.zeros(45)}, "labels must hold at least 2 clusters"),
        (
            {"index": lambda X, labels: np.nan, "growth": "mean"},
            "index must have a finite value on the data",
        ),
        ({"index": "silhouette"}, "'index' parameter"),
        ({"growth": "square"}, "'growth' parameter"),
        ({"n_resamples": 1}, "'n_resamples' parameter"),
        ({"confidence_level": 1}, "confidence_level must fulfill"),
        ({"X": np.ones((3, 2)), "labels": [0, 1, 1]}, "minimum of 10"),
        ({"labels": object()}, "labels must be a 1-D array of labels or a clusterer with fit_pre"),
    ],
)
def test_bad_input_of_intervals(change, message):
    X, labels = labeled_blobs()
    arguments = {"index": silhouette_score, "X": X, "labels": labels, "n_resamples": 2} | change
    with pytest.raises(ValueError, match=message):
        index_interval(arguments.pop("index"), arguments.pop("X"), **arguments)


def test_an_index_gets_as_many_partitions_as_it_compares():
    X, labels = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match=r"labels_other must be another partition for adjusted_r"):
        index_interval(adjusted_rand_score, X, labels)
    with pytest.raises(ValueError, match=r"labels_other must be None for silhouette_score.* ndarr"):
        index_interval(silhouette_score, X, labels, labels)
