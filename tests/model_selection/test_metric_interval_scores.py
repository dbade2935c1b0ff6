"""Score intervals: never a point, within the range, of the table alone, and they cover."""

import sys
from functools import partial
from inspect import unwrap

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.echo import metric_of
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import metric_intervals as reference
from reference.metric_intervals import counted
from scipy import stats
from scipy.stats import binom, binomtest, norm
from sklearn import metrics
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, mean_squared_error, roc_auc_score
from statsmodels.stats.proportion import confint_proportions_2indep

from skeval._inference.intervals import area_interval
from skeval.metrics import (
    cost_sensitive_error,
    error_rate,
    get_scorer_names,
    macro_fbeta_score,
    micro_fbeta_score,
)
from skeval.metrics._table import METRICS
from skeval.model_selection import metric_interval, score_interval

RANGES = {
    error_rate: (0, 1),
    sk.hamming_loss: (0, 1),
    partial(sk.f1_score, average="weighted"): (0, 1),
    partial(sk.f1_score, average="micro"): (0, 1),
    partial(sk.recall_score, average="weighted"): (0, 1),
    partial(sk.recall_score, average="macro"): (0, 1),
    partial(sk.precision_score, average="macro"): (0, 1),
    partial(sk.fbeta_score, beta=2, average="macro"): (0, 1),
    partial(sk.fbeta_score, beta=2, average="weighted"): (0, 1),
    partial(sk.jaccard_score, average="macro"): (0, 1),
    macro_fbeta_score: (0, 1),
    micro_fbeta_score: (0, 1),
    sk.balanced_accuracy_score: (0, 1),
    sk.matthews_corrcoef: (-1, 1),
    sk.cohen_kappa_score: (-1, 1),
    partial(cost_sensitive_error, cost_matrix=2 * (1 - np.eye(3)), labels=[0, 1, 2]): (0, 2),
}
TABLES = {
    "perfect": np.diag([10, 10, 10]),
    "perfect, rare": np.diag([27, 1, 2]),
    "all wrong": np.roll(np.diag([5, 5, 5]), 1, axis=1),
    "one class predicted": np.array([[8, 0, 0], [7, 0, 0], [2, 0, 0]]),
    "two samples": np.diag([1, 1, 0]),
    "two samples, one wrong": np.array([[1, 1, 0], [0, 0, 0], [0, 0, 0]]),
    "ordinary": np.array([[20, 3, 0], [1, 9, 2], [0, 2, 8]]),
}


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=9, max_size=9).filter(lambda cells: sum(cells) >= 2),
    st.sampled_from(list(RANGES)),
    st.permutations([0, 1, 2]),
)
def test_of_any_table(cells, metric, order):
    table = np.array(cells).reshape(3, 3)
    smallest, largest = RANGES[metric]
    y, p = counted(table)
    found = metric_interval(metric, y, p, n_resamples=2)
    if not np.isfinite(found.value):  # kappa or adjusted accuracy of one class
        assert np.isnan([*found.interval]).all()
        return
    assert (
        smallest - 1e-9
        <= found.interval.low
        <= found.value
        <= found.interval.high
        <= largest + 1e-9
    )
    assert found.interval.high > found.interval.low
    names, rows = np.array(order), np.random.default_rng(0).permutation(len(y))
    again = metric_interval(metric, names[y][rows], names[p][rows], n_resamples=2)
    assert_allclose([*again.interval], [*found.interval], atol=2e-5)


def test_of_proportions_is_wilson():
    y, p = counted(TABLES["ordinary"])
    expected = binomtest(37, 45).proportion_ci(method="wilson")
    for metric in (
        sk.accuracy_score,
        partial(sk.f1_score, average="micro"),
        partial(sk.precision_score, average="micro"),
        partial(sk.recall_score, average="weighted"),
        micro_fbeta_score,
    ):
        for method in ("auto", "score"):
            found = metric_interval(metric, y, p, method=method)
            assert_allclose([*found.interval], expected, atol=2e-6)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("name", ["f1", "precision", "recall", "jaccard"])
def test_averages_of_labels_have_the_error_of_their_influence(name, average):
    """By name or as a function; the influence of a sample is a derivative by its weight."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, (40, 3))
    p = np.where(rng.random((40, 3)) < 0.3, 1 - y, y)
    score = partial(getattr(sk, f"{name}_score"), average=average)
    changes = [
        score(y, p, sample_weight=1 + step) - score(y, p, sample_weight=1 - step)
        for step in 1e-4 * np.eye(40)
    ]
    found = metric_interval(f"{name}_{average}", y, p)
    assert found.value == score(y, p)
    assert found.standard_error == pytest.approx(
        np.sqrt(np.sum(np.square(changes)) * 40 / 39) / 2e-4, rel=1e-5
    )
    assert found.interval == metric_interval(score, y, p).interval
    assert found.interval.method == "score"
    flat = metric_interval(name, y.ravel(), p.ravel(), groups=np.repeat(np.arange(40), 3))
    assert average != "micro" or found.interval == flat.interval


@each_value
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "metric",
    [
        *(sk.matthews_corrcoef, sk.cohen_kappa_score, "geometric_mean"),
        partial(sk.cohen_kappa_score, weights="quadratic"),
    ],
)
@pytest.mark.parametrize(
    "table", [[[20, 3, 1], [1, 9, 2], [1, 2, 8]], [[1, 4, 2], [6, 2, 9], [3, 5, 1]]]
)
def test_errors_are_those_of_the_derivatives_by_the_weights(metric, weighted, table):
    y, p = counted(table)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y)) if weighted else np.ones(len(y))
    plain = metric_of(metric) if isinstance(metric, str) else metric
    found = metric_interval(metric, y, p, sample_weight=weight if weighted else None)
    assert found.value == pytest.approx(plain(y, p, sample_weight=weight), rel=1e-12)
    slopes = reference.derivatives(plain, y, p, weight)
    assert found.standard_error == pytest.approx(np.sqrt(np.sum(slopes**2)), rel=1e-6)


@pytest.mark.parametrize("counts", [[27, 0, 1, 2], [15, 0, 0, 15], [10, 4, 5, 11], [3, 0, 0, 1]])
def test_limits_are_the_extremes_of_the_region(counts):
    """No table of a fine grid of the region lies beyond the limits, and one comes near them."""
    table = np.reshape(counts, (2, 2))
    share, radius = table / table.sum(), norm.ppf(0.975) ** 2 / table.sum()
    grid = reference.tables_of_the_region(share, radius, 20_000)[:1000]
    for metric, score in (
        (partial(sk.f1_score, average="macro"), reference.macro_f),
        (partial(sk.recall_score, average="macro"), reference.macro_recall),
        (partial(sk.jaccard_score, average="macro"), reference.macro_jaccard),
        (sk.matthews_corrcoef, reference.matthews),
    ):
        values = score(grid)
        low, high = metric_interval(metric, *counted(table)).interval
        assert low - 1e-6 <= values.min() <= low + 0.15
        assert high - 0.15 <= values.max() <= high + 1e-6


@each_value
@pytest.mark.parametrize(
    "counts",
    [
        [[170, 0, 0], [0, 170, 0], [0, 2, 158]],  # four empty cells and one more share what is left
        [[170, 0, 0], [0, 169, 1], [0, 1, 159]],
        [[170, 0, 0], [0, 169, 1], [0, 0, 160]],
        [[9, 0, 0], [0, 8, 1], [0, 1, 8]],
    ],
)
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # SciPy 1.12 of the peer
def test_lower_limits_of_cells_equally_good_are_found_in_few_steps(counts):
    """Where steps along single lines went to and fro 500 times; SciPy works on the cells here."""
    n = np.sum(counts)
    level = 2 * norm.cdf(7.0 if n == 500 else 5.0) - 1
    radius = norm.isf((1 - level) / 2) ** 2 / n
    y, p = counted(counts)
    for metric, score in (
        (partial(sk.recall_score, average="macro"), reference.macro_recall),
        (partial(sk.f1_score, average="macro"), reference.macro_f),
        (sk.cohen_kappa_score, reference.kappa),
        (sk.matthews_corrcoef, reference.matthews),
    ):
        calls = []
        sys.setprofile(lambda frame, event, _, calls=calls: calls.append(event == "call"))
        try:
            low = metric_interval(metric, y, p, confidence_level=level).interval.low
        finally:
            sys.setprofile(None)
        assert sum(calls) < 100_000
        smallest = reference.smallest_in_region(
            reference.with_gradient(score), np.array(counts) / n, radius
        )
        assert_allclose(low, smallest, atol=2e-6)


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Classifier that is fixed: its score is the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


def find_areas(y, score):
    """Return the intervals of the area of a fixed score, and of the same score out of fold."""
    plan = {"n_folds": 2, "n_repeats": 2, "random_state": 0}
    return (
        metric_interval(roc_auc_score, y, score),
        score_interval(FirstColumn(), score[:, None], y, scoring="roc_auc", **plan),
    )


@pytest.mark.parametrize("sizes", [(5, 30), (8, 60), (20, 20), (40, 100)])
def test_the_interval_of_an_area_gets_shorter_as_the_area_rises(sizes):
    """Normal quantiles of both classes, moved apart until all pairs are in order."""
    y = np.repeat([1, 0], sizes)
    places = np.concatenate([norm.ppf((np.arange(n) + 0.5) / n) for n in sizes])
    found = [find_areas(y, places + shift * y) for shift in np.arange(0.5, 6.5, 0.5)]
    for areas in zip(*found, strict=True):
        assert areas[0].value < 0.7
        assert areas[-1].value == 1
        widths = [each.interval.high - each.interval.low for each in areas]
        assert np.all(np.diff(widths) <= 1e-12)


@pytest.mark.parametrize("sizes", [(2, 9), (5, 30), (8, 60), (20, 20), (40, 100)])
def test_a_perfect_area_is_worth_at_least_one_with_a_misranked_pair(sizes):
    y, order = np.repeat([1, 0], sizes), np.arange(sum(sizes))[::-1]
    at = sizes[0] + np.array([-1, 0])
    swapped = order.copy()
    swapped[at] = order[at[::-1]]
    for perfect, imperfect in zip(find_areas(y, order), find_areas(y, swapped), strict=True):
        assert perfect.value == 1
        assert perfect.interval.low >= imperfect.interval.low
        assert 1 - perfect.interval.low <= imperfect.interval.high - imperfect.interval.low + 1e-12


@pytest.mark.parametrize("sizes", [(1, 1), (1, 29), (3, 27), (50, 50)])
def test_area_interval(sizes):
    for area in (0.0, 0.1, 0.5, 0.9, 1.0):
        for error in (np.nan, 0.0, 0.05):
            low, high = area_interval(area, error, sizes, 0.95)
            assert 0 <= low <= area <= high <= 1
            assert high - low > 1e-3
            mirrored = area_interval(1 - area, error, sizes[::-1], 0.95)
            assert_allclose([1 - mirrored[1], 1 - mirrored[0]], [low, high], atol=1e-9)
    # Newcombe's own interval solves (A - t)^2 = z^2 V(t)
    low, high = area_interval(0.9, np.nan, sizes, 0.95)
    for t in (low, high):
        more = (sum(sizes) / 2 - 1) * ((1 - t) / (2 - t) + t / (1 + t))
        variance = t * (1 - t) * (1 + more) / (sizes[0] * sizes[1])
        assert_allclose((0.9 - t) ** 2, norm.ppf(0.975) ** 2 * variance, rtol=1e-6)


def test_auto_draws_within_classes_where_one_would_be_missing():
    y, p = np.repeat([0, 1], [27, 3]), np.linspace(0, 1, 30) ** 2

    def metric(y, p):
        return sk.roc_auc_score(y, p) if len(set(y.tolist())) > 1 else np.nan

    with pytest.warns(UndefinedMetricWarning, match=r"undefined on \d+ of 90 resamples. .* again"):
        found = metric_interval(metric, y, np.roll(p, 2), n_resamples=90, random_state=0)
    assert found.extra.n_undefined == 0
    with pytest.warns(UndefinedMetricWarning, match="left out"):
        found = metric_interval(
            metric, y, np.roll(p, 2), method="percentile", n_resamples=90, random_state=0
        )
    assert found.extra.n_undefined == np.isnan(found.replicates).sum() > 0
    assert "undefined" in str(found)


def true_table(priors, rate):
    k = len(priors)
    p = np.full((k, k), (1 - rate) / (k - 1))
    np.fill_diagonal(p, rate)
    return p * np.array(priors)[:, None]


def coverage(metric, priors, rate, n, n_sets):
    """How many of the tables that hold every class have an interval that holds the truth."""
    p = true_table(priors, rate)
    k = len(p)
    truth = metric(*np.indices((k, k)).reshape(2, -1), sample_weight=p.ravel())
    tables = np.random.default_rng(0).multinomial(n, p.ravel(), n_sets)
    tables = tables[(tables.reshape(-1, k, k).sum(axis=2) > 0).all(axis=1)]
    distinct, times = np.unique(tables, axis=0, return_counts=True)
    hits = [truth in metric_interval(metric, *counted(t.reshape(k, k))).interval for t in distinct]
    return int(times @ np.array(hits)), len(tables)


COVERED = {
    "F": sk.f1_score,
    "macro F": partial(sk.f1_score, average="macro"),
    "balanced accuracy": sk.balanced_accuracy_score,
    "Matthews": sk.matthews_corrcoef,
    "kappa": sk.cohen_kappa_score,
}


@pytest.mark.simulated
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "prior"), [*((name, 0.1) for name in COVERED), (next(iter(COVERED)), 0.5)]
)
def test_coverage(name, prior):
    """95 % where BCa and the delta method held the truth in .71 to .82 (30 samples, rate .95)."""
    hits, n = coverage(COVERED[name], [1 - prior, prior], 0.95, 30, 35)
    assert binom.cdf(hits, n, 0.95) > 0.001


@pytest.mark.simulated
@pytest.mark.parametrize(("prior", "shift"), [(0.5, 2.33), (0.1, 2.33), (0.1, 1.19)])
def test_coverage_of_areas(prior, shift):
    """DeLong's interval held the truth in .59 to .75 of samples of 30 with 10 % positives."""
    rng, hits, n_sets = np.random.default_rng(0), 0, 0
    for _ in range(60):
        y = rng.random(30) < prior
        if not y.any():
            continue
        n_sets += 1
        interval = metric_interval(sk.roc_auc_score, y, rng.normal(size=30) + shift * y)
        hits += norm.cdf(shift / 2**0.5) in interval.interval
    assert binom.cdf(hits, n_sets, 0.95) > 0.001


@pytest.mark.simulated
@pytest.mark.parametrize("n_groups", [3, 10, 30])
@pytest.mark.filterwarnings("ignore:.*groups are too few")
def test_coverage_of_groups(n_groups):
    """Rates differ between groups of 10: their variance, by Student's quantile."""
    rng, hits = np.random.default_rng(0), 0
    unit = np.repeat(np.arange(n_groups), 10)
    for _ in range(60):
        wrong = rng.random(len(unit)) < rng.beta(4, 16, n_groups)[unit]
        y = rng.integers(0, 2, len(unit))
        hits += 0.8 in metric_interval(sk.accuracy_score, y, y ^ wrong, groups=unit).interval
    assert binom.cdf(hits, 60, 0.94) > 0.001


@pytest.mark.simulated
def test_hall_is_students_interval_where_nothing_is_skewed_and_covers_where_it_is():
    errors = np.array([1.0, 2.0, 3.0, 4.0])
    hall, t = (
        metric_interval(sk.mean_absolute_error, 0 * errors, errors, method=method)
        for method in ("hall", "t")
    )
    assert_allclose([*hall.interval], [*t.interval], rtol=1e-9)
    rng, hits = np.random.default_rng(0), {"hall": 0, "t": 0}
    for _ in range(100):  # squares of normal errors: chi-squared on 1 degree of freedom
        errors = rng.normal(size=15)
        for method in hits:
            found = metric_interval(sk.mean_squared_error, 0 * errors, errors, method=method)
            hits[method] += 1.0 in found.interval
            assert 0 <= found.interval.low < found.value < found.interval.high
    assert binom.cdf(hits["hall"], 100, 0.95) > 0.001
    assert hits["t"] < hits["hall"]


@each_value
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("method", ["delta", "normal"])
def test_rounding_makes_no_error_of_the_delta_method(beta, average, method):
    """At the estimate 1 its standard error is 0 but for rounding: no interval, not a crash."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        y = rng.integers(0, rng.integers(2, 7), rng.integers(5, 60))
        y[0] = 1 - min(y[1], 1)
        metric = partial(sk.fbeta_score, beta=beta, average=average)
        with pytest.warns(UndefinedMetricWarning, match="interval"):
            found = metric_interval(metric, y, y.copy(), method=method)
        assert np.isnan([*found.interval]).all()


def probabilities(n=60, n_classes=2):
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(n_classes), n)
    y = np.array(["a", "b", "c"])[[rng.choice(n_classes, p=row) for row in shares]]
    return y, shares


def numbers(n=60):
    rng = np.random.default_rng(0)
    y = rng.gamma(3, size=n)
    return y, y * rng.gamma(9, size=n) / 9


CASES = [
    (metrics.log_loss, *probabilities()),
    (metrics.log_loss, *probabilities(n_classes=3)),
    (metrics.brier_score_loss, probabilities()[0] == "b", probabilities()[1][:, 1]),
    (metrics.mean_absolute_percentage_error, *numbers()),
    (metrics.mean_squared_log_error, *numbers()),
    (metrics.mean_pinball_loss, *numbers()),
    (metrics.mean_absolute_error, *numbers()),
    (metrics.mean_squared_error, *numbers()),
    *(
        (metric, probabilities()[0], np.where(probabilities()[1][:, 0] > 0.5, "a", "b"))
        for metric in (
            metrics.accuracy_score,
            metrics.zero_one_loss,
            metrics.hamming_loss,
            error_rate,
        )
    ),
    ("smape", *numbers()),
    ("winkler_loss", numbers()[0], np.outer(numbers()[1], [0.9, 1.2])),
    ("winkler_loss", numbers()[0], np.outer(numbers()[1], [0.8, 1.1])),
    ("interval_coverage", numbers()[0], np.outer(numbers()[1], [0.9, 1.2])),
    ("set_coverage", probabilities()[0], probabilities()[1] > 0.4),
    ("mean_set_size", probabilities()[0], probabilities()[1] > 0.4),
]


def test_every_metric_has_a_case():
    plain = [
        row
        for row in METRICS
        if row.per_sample
        and not (row.root or row.required or {"continuous", "multilabel-indicator"} <= row.targets)
    ]
    names = {getattr(metric, "__name__", metric) for metric, *_ in CASES}
    assert names == {row.function.__name__ for row in plain}


@pytest.mark.parametrize(
    ("case", "weighted"), [(case, number % 2 == 1) for number, case in enumerate(CASES)]
)
def test_interval_is_that_of_the_metric(case, weighted):
    metric, y_true, y_pred = case
    value = metric
    if isinstance(metric, str):
        value = metric_of(metric if metric in get_scorer_names() else f"neg_{metric}")
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y_true)) if weighted else None
    calls = []

    def slow(y_true, y_pred, **options):  # a function that the table does not know
        calls.append(1)
        return value(y_true, y_pred, **options)

    options = {"method": "bca", "n_resamples": 25, "sample_weight": weight, "random_state": 0}
    fast = metric_interval(metric, y_true, y_pred, **options)
    plain = metric_interval(slow, y_true, y_pred, **options)
    assert len(calls) > 50
    np.testing.assert_allclose(fast.replicates, plain.replicates, rtol=1e-10)
    assert fast.interval.low == pytest.approx(plain.interval.low, rel=1e-9)
    assert fast.interval.high == pytest.approx(plain.interval.high, rel=1e-9)


def test_the_metric_is_called_for_all_samples_and_not_for_resamples():
    y, shares = probabilities()
    code, calls = unwrap(metrics.log_loss).__code__, []
    sys.setprofile(lambda frame, event, _: calls.append((frame.f_code, event)))
    try:
        metric_interval(metrics.log_loss, y, shares, method="bca", n_resamples=200, random_state=0)
    finally:
        sys.setprofile(None)
    assert calls.count((code, "call")) == 1


def test_a_sum_is_no_mean_over_samples():
    y, shares = probabilities()
    total = partial(metrics.log_loss, normalize=False)
    found = metric_interval(total, y, shares, n_resamples=25, random_state=0)
    assert found.value == pytest.approx(total(y, shares))
    assert found.interval.low < found.value < found.interval.high


def test_a_metric_by_the_name_of_its_scorer():
    y, shares = probabilities()
    y = y == "b"
    by_name = metric_interval("roc_auc", y, shares[:, 1])
    by_hand = metric_interval(metrics.roc_auc_score, y, shares[:, 1])
    assert (by_name.interval, by_name.name) == (by_hand.interval, by_hand.name)
    labels = shares[:, 1] > 0.5
    macro = partial(metrics.f1_score, average="macro")
    assert metric_interval("f1_macro", y, labels).value == macro(y, labels)
    with pytest.raises(ValueError, match=r"the negative of a loss.* log_loss"):
        metric_interval("neg_log_loss", y, shares)
    with pytest.raises(ValueError, match="id you mean 'roc_auc'"):
        metric_interval("rocauc", y, shares)


DRAW = np.random.default_rng(0)
TRUE = DRAW.integers(0, 2, 120)
GUESSED = np.where(DRAW.random(120) < 0.8, TRUE, 1 - TRUE)
SITE = np.array(["north", "south", "west"])[DRAW.integers(0, 3, 120)]


def right_of(mask):
    return int(np.sum(TRUE[mask] == GUESSED[mask])), int(mask.sum())


def test_difference_from_the_rest_is_newcombes():
    found = metric_interval(accuracy_score, TRUE, GUESSED, by=SITE).less_the_rest["north"]
    sides = right_of(SITE == "north"), right_of(SITE != "north")
    expected = confint_proportions_2indep(*sides[0], *sides[1], method="newcomb")
    assert_allclose(list(found.interval), expected, atol=1e-9)


@pytest.mark.parametrize("metric", [accuracy_score, mean_squared_error])
def test_order_and_names_of_subgroups_do_not_matter(metric):
    order, names = DRAW.permutation(120), {"north": 2, "south": 1, "west": 0}
    found = metric_interval(metric, TRUE, GUESSED, by=SITE)
    again = metric_interval(
        metric, TRUE[order], GUESSED[order], by=[names[site] for site in SITE[order]]
    )
    for name, estimate in found.items():
        assert_allclose(list(again[names[name]].interval), list(estimate.interval))
    for name, difference in found.less_the_rest.items():
        other = again.less_the_rest[names[name]]
        assert_allclose(list(other.interval), list(difference.interval))


def test_pvalues_against_the_rest_invert_the_interval():
    found = metric_interval(accuracy_score, TRUE, GUESSED, by=SITE)
    pvalues = []
    for name, difference in found.less_the_rest.items():
        pvalue = difference.details["pvalue"]
        pvalues.append(pvalue)
        own = confint_proportions_2indep(
            *right_of(name == SITE), *right_of(name != SITE), method="newcomb", alpha=pvalue
        )
        assert min(map(abs, own)) < 1e-3
    adjusted = [each.details["pvalue_adjusted"] for each in found.less_the_rest.values()]
    assert_allclose(adjusted, stats.false_discovery_control(pvalues))


def test_missing_values_form_a_subgroup():
    site = SITE.astype(object)
    site[:20] = None
    assert set(metric_interval(accuracy_score, TRUE, GUESSED, by=site)) == {
        *("missing", "north", "south", "west")
    }


@pytest.mark.parametrize("dtype", [int, float, str, object])
def test_subgroups_of_numbers_are_in_numeric_order(dtype):
    size = np.array([9, 10, 100, 20])[np.arange(120) % 4].astype(dtype)
    found = metric_interval(accuracy_score, TRUE, GUESSED, by=size)
    assert [float(name) for name in found] == [9, 10, 20, 100]
    assert all(estimate.n_samples == 30 for estimate in found.values())
    size = size.astype(object)
    size[size == size[1]] = None
    *names, last = metric_interval(accuracy_score, TRUE, GUESSED, by=size)
    assert [float(name) for name in names] == [9, 20, 100]
    assert last == "missing"
    days = np.datetime64("2024-01-01") + np.arange(120) % 3
    found = metric_interval(accuracy_score, TRUE, GUESSED, by=days)
    assert [*map(str, found)] == sorted(map(str, found))


@pytest.mark.parametrize("by", [SITE[:5], "site", np.column_stack([SITE, SITE])])
def test_subgroups_of_another_length_are_refused(by):
    with pytest.raises(ValueError, match="by must have a subgroup for each of 120 samples"):
        metric_interval(accuracy_score, TRUE, GUESSED, by=by)
