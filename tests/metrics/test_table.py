"""What the rows of the table say of the metrics holds of their numbers."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, spearmanr
from sklearn import metrics as sk
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

import skeval
from skeval import metrics
from skeval._inference.areas import Ranking
from skeval._inference.intervals import area_interval, area_variance, inflate_area
from skeval.metrics import _table
from skeval.metrics._scorers import SCORERS
from skeval.metrics._table import METRICS, Folds, Sample
from skeval.model_selection import metric_interval

RNG = np.random.default_rng(0)
CLASS = RNG.integers(0, 2, 60)
CALLED = np.where(RNG.random(60) < 0.8, CLASS, 1 - CLASS)
NUMBER = RNG.gamma(3, size=60)
GUESS = NUMBER * RNG.gamma(9, size=60) / 9
SCORE = CALLED + RNG.normal(size=60)
LABELS = RNG.integers(0, 2, (60, 3))
LABEL_SCORE = LABELS + RNG.normal(size=(60, 3))
NEEDED = {"cost_matrix": 1 - np.eye(2), "beta": 2.0}
WITH_INTERVAL = [row for row in METRICS if row.interval]


def name(row):
    return row.function.__name__


def sample(row):
    """Return data that a metric takes, and the arguments that it needs."""
    if "multilabel-indicator" in row.targets:
        return (LABELS, LABEL_SCORE), {}
    if row.response == "predict_proba":
        return (CLASS, 1 / (1 + np.exp(-SCORE))), {}
    if "set" in name(row):
        return (CLASS, LABEL_SCORE[:, :2] > 0.3), {}
    if name(row) in ("interval_coverage", "mean_quantile_loss", "winkler_loss"):
        needed = {"quantiles": [0.4, 0.6]} if "quantiles" in row.required else {}
        return (NUMBER, np.column_stack([0.8 * GUESS, 1.1 * GUESS])), needed
    if "continuous" in row.targets:
        return (NUMBER, GUESS), {
            "y_train": np.arange(9.0) ** 2
        } if "y_train" in row.required else {}
    needed = {key: NEEDED[key] for key in row.required if key in NEEDED}
    at_k = {"k": 0.25 if row.function.__name__.endswith("at_k") else 1}
    arguments = at_k if "k" in row.supported else needed
    return (CLASS, CALLED if row.response == "predict" else SCORE), arguments


@pytest.mark.parametrize("row", WITH_INTERVAL, ids=name)
def test_the_first_form_is_the_interval_and_every_form_holds_the_value(row):
    data, arguments = sample(row)

    def metric(method):
        function = partial(row.function, **arguments) if arguments else row.function
        return metric_interval(function, *data, method=method)

    found = metric("auto")
    assert found.method == row.interval[0].methods[0]
    assert found.value == pytest.approx(row.function(*data, **arguments))
    assert found.method in found.interval_methods
    for form in row.interval:
        for method in set(form.methods) & set(found.interval_methods):
            each = metric(method)
            assert each.interval.low <= found.value <= each.interval.high, method
            low, high = row.bounds(2)
            assert low <= each.interval.low < each.interval.high <= high
            assert each.confidence_interval(0.5) != each.interval


@pytest.mark.parametrize("row", WITH_INTERVAL, ids=name)
def test_order_names_and_weights_of_samples(row):
    """The order, the unit of weights and equal weights do not matter, nor does weight 0 or a copy.

    Copies of samples as groups have the interval of groups of one sample each.
    """
    (true, pred), arguments = sample(row)
    metric = partial(row.function, **arguments) if arguments else row.function
    rng = np.random.default_rng(1)
    weight, order, groups = rng.random(60) + 0.2, rng.permutation(60), np.arange(60)

    def measure(rows=slice(None), **options):
        options = {"n_resamples": 40, "random_state": 0} | options
        found = metric_interval(metric, true[rows], pred[rows], **options)
        return np.array([found.value, found.interval.low, found.interval.high])

    expected = measure()
    near = partial(np.testing.assert_allclose, rtol=1e-6, atol=5e-6)
    near(measure(order), expected)
    near(measure(sample_weight=np.full(60, 1e-5)), expected)
    methods = {name for form in row.interval for name in form.methods}
    if "score" not in methods or "class_weight" in row.supported:
        return  # the bootstrap serves weights and groups; log-inverse weights count samples
    weighted = measure(sample_weight=weight)
    for unit in (1e-50, 1e50):
        near(measure(sample_weight=unit * weight), weighted)
    seen = groups % 4 > 0
    near(measure(sample_weight=weight * seen), measure(seen, sample_weight=weight[seen]))
    alone, copies = measure(groups=groups), np.repeat(groups, 4)
    near(measure(copies, groups=copies)[0], alone[0])
    np.testing.assert_allclose(measure(copies, groups=copies), alone, atol=0.02)
    if row.from_table is not None and not row.required:
        names, near_names = np.array(["b", "a"]), partial(near, atol=5e-5)
        takes = "pos_label" in row.supported
        named = partial(row.function, **arguments, **({"pos_label": "a"} if takes else {}))
        found = metric_interval(named, names[true], names[pred])
        near_names([found.value, found.interval.low, found.interval.high], expected)


@pytest.mark.parametrize("row", [row for row in METRICS if row.per_sample], ids=name)
def test_the_mean_over_samples_is_the_metric(row):
    data, arguments = sample(row)
    if row.response == "predict_proba":
        shares = RNG.dirichlet([1, 1], 60)
        losses, expected = row.per_sample(CLASS, shares), row.function(CLASS, shares[:, 1])
    else:
        losses, expected = row.per_sample(*data, **arguments), row.function(*data, **arguments)
    assert losses.mean() ** (0.5 if row.root else 1) == pytest.approx(expected)


def test_every_metric_has_one_row_and_ours_are_scorers():
    functions = [row.function for row in METRICS]
    assert len(set(functions)) == len(functions)
    ours = [row for row in METRICS if row.function.__module__.startswith("skeval")]
    assert all(row in SCORERS.values() for row in ours)


class Own:
    """A metric that cannot be looked up, since it has no hash."""

    __hash__ = None
    __name__ = "own"

    def __call__(self, y_true, y_pred):
        return np.mean(y_true == y_pred) ** 2


@pytest.mark.parametrize("metric", [Own(), Own().__call__], ids=["no hash", "method"])
def test_a_metric_without_a_row_has_an_interval_by_the_bootstrap(metric):
    found = metric_interval(metric, CLASS, CALLED, n_resamples=50, random_state=0)
    assert (found.method, found.value) == ("bca", np.mean(CLASS == CALLED) ** 2)


def test_every_metric_is_public_or_in_the_table_of_names():
    """A number that `metric_interval` gives by name needs no function of its own."""
    page = Path(__file__).parents[2] / "doc" / "api" / "metrics.rst"
    if not page.exists():
        pytest.skip("doc/ is not beside the tests")
    named = set(re.findall(r'^"(\w+)"  ', page.read_text(), re.MULTILINE))
    ours = {key for key, row in SCORERS.items() if row in METRICS}
    public = {key for key in ours if SCORERS[key].function.__name__ in metrics.__all__}
    assert ours - public == named


def test_a_report_shows_what_rows_report():
    few = {"include": [], "random_state": 0}
    X = np.column_stack([CLASS + RNG.normal(size=60), RNG.normal(size=60)])
    of_classes = skeval.evaluate(GaussianNB(), X, CLASS, **few).metrics
    of_numbers = skeval.evaluate(Ridge(), X, NUMBER, **few).metrics
    shown = [each.extra.metric for each in (*of_classes.values(), *of_numbers.values())]
    assert set(shown) == {reported.name for row in METRICS for reported in row.reported}
    assert of_classes["recall of 1"].extra.label == "1"


@each_value
@pytest.mark.parametrize("metric", [sk.accuracy_score, sk.zero_one_loss])
@pytest.mark.parametrize("grouped", [False, True])
def test_exact_matches_of_several_labels_are_one_column(metric, grouped):
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, (60, 3))
    pred = np.where(rng.random((60, 3)) < 0.1, 1 - true, true)
    options = {"groups": np.arange(60) // 4} if grouped else {"groups": np.arange(60)}
    found = metric_interval(metric, true, pred, **options)
    exact = np.all(true == pred, axis=1)
    expected = metric_interval(metric, np.ones(60, dtype=bool), exact, **options)
    assert found.value == pytest.approx(expected.value)
    assert found.interval.method == expected.interval.method == "score"
    assert list(found.interval) == pytest.approx(list(expected.interval))


OF_FOLDS = st.tuples(st.integers(5, 60), st.integers(5, 60))


@given(OF_FOLDS, st.floats(0.01, 0.99), st.floats(0, 1), st.floats(1.1, 2.5))
def test_an_area_out_of_fold_has_the_variance_of_training_sets(members, area, noise, inflation):
    sizes = float(members[0]), float(members[1])
    result = Ranking(area, 0.01, sizes, np.inf, np.zeros(2))
    folds = Folds(np.arange(2), np.zeros(2, int), np.arange(2), [], inflation)
    sample = Sample(np.array([True, False]), np.array([1.0, 0.0]), folds=folds)
    limits, error = _table.close_area(result, sample, noise)["score"]
    # the variance, shrunk toward that of the model, times the largest of three factors
    alone, least, model = 0.01**2, min(sizes), area_variance(area, sizes)
    alone = max(alone, (least * alone + 20 * model) / (least + 20))
    factor = max(inflation, 1 + noise, inflate_area(area, sizes))
    assert error**2 == pytest.approx(alone * factor)
    # a fixed model has neither
    plain, fixed = _table.close_area(result, sample._replace(folds=None))["score"]
    assert fixed == 0.01
    low, high = limits(0.95)
    assert low <= plain(0.95)[0] <= area <= plain(0.95)[1] <= high
    # below the area, the factor of its own value is not used
    base = area_interval(area, alone**0.5, sizes, 0.95, inflation=max(inflation, 1 + noise))
    assert (low, high) == pytest.approx(base)


@given(OF_FOLDS, st.floats(0.01, 0.99))
def test_the_variance_of_an_area_of_noise_is_doubled(members, area):
    sizes = float(members[0]), float(members[1])
    factor = inflate_area(area, sizes)
    assert inflate_area(0.5, sizes) == 2 >= factor >= 1
    assert factor == pytest.approx(inflate_area(1 - area, sizes[::-1]))
    # it falls with the distance from 1/2, and with the sizes of the classes
    assert inflate_area((area + (area > 0.5)) / 2, sizes) <= factor
    assert inflate_area(area, (sizes[0] + 1, sizes[1])) <= factor
    # the squared distance that an area implies is that of the signal and the noise
    signal, noise = 1.5, 1 / sizes[0] + 1 / sizes[1]
    t = float(norm.cdf(np.sqrt(signal**2 / (signal + noise) / 2)))
    assert inflate_area(t, sizes) == pytest.approx(1 + noise / (signal + noise))


@pytest.mark.parametrize("area", [0.3, 0.5, 0.8])
def test_only_the_upper_limit_of_an_area_has_the_variance_of_noise(area):
    sizes, error = (10.0, 90.0), 0.1
    low, high = area_interval(area, error, sizes, 0.95, inflation=1.2)
    ratio = max(error**2 / area_variance(area, sizes), 1.0)
    for t, factor in ((low, 1.2), (high, max(1.2, inflate_area(high, sizes)))):
        expected = norm.ppf(0.975) ** 2 * ratio * factor * area_variance(t, sizes)
        assert (area - t) ** 2 == pytest.approx(expected)


@given(OF_FOLDS, st.floats(0, 1), st.floats(1.01, 2))
def test_the_interval_of_an_area_out_of_fold_is_never_below_chance(members, area, inflation):
    sizes = float(members[0]), float(members[1])
    low, high = area_interval(area, 0.01, sizes, 0.95, inflation=inflation)
    assert 0 <= low <= area <= high <= 1
    assert high >= 0.5
    # a fixed model may be worse than chance
    assert area_interval(0.0, 0.01, (30.0, 30.0), 0.95)[1] < 0.5


def test_rank_noise_is_the_part_of_ranks_that_repeats_do_not_share():
    rng = np.random.default_rng(0)
    n = 100
    fit = np.concatenate([rng.permutation(n) % 10, 10 + rng.permutation(n) % 10])
    row, repeats = np.tile(np.arange(n), 2), [slice(0, n), slice(n, 2 * n)]
    folds = Folds(row, fit, np.arange(n), repeats, 1.2)
    first, other = rng.normal(size=(2, n))

    def find(second):
        """Return the noise of two repeats with these scores."""
        score = np.concatenate([first, second])
        sample = Sample(np.tile(np.arange(n) % 2 == 0, 2), score, folds=folds)
        return _table.find_rank_noise(sample, score[:, None])

    assert find(first) == find(np.exp(first)) == 0
    assert find(other) == 1 == find(-first)
    slightly = first + 0.1 * other
    assert 0 < find(slightly) < find(first + 0.2 * other) < 1
    assert find(slightly) == pytest.approx(find(np.exp(3 * slightly)))
    # a jackknife of the rank correlation: each model leaves out a tenth of the samples
    apart = 1 - spearmanr(first, slightly)[0]
    assert find(slightly) == pytest.approx(apart * (1 - 1 / n) / (1 / 10 - 1 / n))


def test_a_fixed_weight_has_no_closed_form():
    """The weights would have to be those of the resampled rows."""
    weighted = partial(metrics.error_rate, sample_weight=np.arange(60.0))
    with pytest.warns(UndefinedMetricWarning, match="acceleration"):
        found = metric_interval(weighted, CLASS, CALLED, n_resamples=20, random_state=0)
    assert found.method == "bca"
