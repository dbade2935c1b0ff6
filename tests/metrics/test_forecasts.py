"""Relative errors of forecasts, prediction intervals, quantiles, and the geometric mean."""

import numpy as np
import pytest
from helpers.echo import metric_of
from scipy.stats import binom, binomtest, norm
from sklearn.metrics import label_ranking_loss, mean_absolute_error, mean_pinball_loss, recall_score

from skeval.metrics import get_scorer
from skeval.model_selection import metric_interval

RNG = np.random.default_rng(0)
Y = RNG.gamma(2, size=60)
GUESS = Y + RNG.normal(size=60)
LIMITS = np.column_stack([GUESS - 0.5, GUESS + 0.6])
PAST = RNG.gamma(2, size=40)
WEIGHT = RNG.integers(1, 4, 60)
# each with its arguments, data, and a plain loop
CASES = {
    "neg_smape": (
        {},
        GUESS,
        lambda y, p: (
            sum(2 * abs(a - b) / (abs(a) + abs(b)) for a, b in zip(y, p, strict=True)) / len(y)
        ),
    ),
    "neg_mase": (
        {"y_train": PAST, "season": 3},
        GUESS,
        lambda y, p: mean_absolute_error(y, p) / mean_absolute_error(PAST[3:], PAST[:-3]),
    ),
    "interval_coverage": (
        {},
        LIMITS,
        lambda y, p: sum(low <= a <= high for a, (low, high) in zip(y, p, strict=True)) / len(y),
    ),
    "neg_winkler_loss": (
        {"confidence_level": 0.8},
        LIMITS,
        lambda y, p: (
            10 * sum(mean_pinball_loss(y, p[:, i], alpha=q) for i, q in enumerate((0.1, 0.9)))
        ),
    ),
    "neg_mean_quantile_loss": (
        {"quantiles": [0.3, 0.6]},
        LIMITS,
        lambda y, p: np.mean(
            [mean_pinball_loss(y, p[:, i], alpha=q) for i, q in enumerate((0.3, 0.6))]
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reference_weights_and_order(name):
    arguments, pred, reference = CASES[name]
    metric, scorer = metric_of(name, **arguments), get_scorer(name, **arguments)
    value = metric(Y, pred)
    assert value == pytest.approx(reference(Y, pred))
    weighted = metric(Y, pred, sample_weight=WEIGHT)
    assert weighted == pytest.approx(metric(np.repeat(Y, WEIGHT), np.repeat(pred, WEIGHT, axis=0)))
    assert metric(Y[::-1], pred[::-1]) == pytest.approx(value)
    found = metric_interval(scorer, Y, pred)
    assert found.value == pytest.approx(value)
    assert found.interval.low < value < found.interval.high
    # groups of copies
    copies = np.repeat(np.arange(60), 2)
    once = metric_interval(scorer, Y, pred, groups=np.arange(60))
    more = metric_interval(scorer, Y[copies], pred[copies], groups=copies)
    assert [*more.interval] == pytest.approx([*once.interval], rel=0.02)


def test_zeros():
    assert metric_of("neg_smape")([0.0, 1.0], [0.0, 0.0]) == 1.0
    assert metric_of("neg_mase", y_train=[0, 2, 0])([0.0, 0.0], [1.0, 1.0]) == 0.5
    with pytest.raises(ValueError, match="y_train must have more than season=2 values"):
        metric_of("neg_mase", y_train=[1, 2, 1, 2, 1], season=2)([0.0], [1.0])


def test_wrong_limits():
    with pytest.raises(ValueError, match=r"\(n_samples, 2\).*\(60,\)"):
        metric_of("neg_winkler_loss")(Y, GUESS)
    for name in ("neg_winkler_loss", "interval_coverage"):
        with pytest.raises(ValueError, match="the lower limit in the first column"):
            metric_of(name)(Y, LIMITS[:, ::-1])
    with pytest.raises(ValueError, match=r"quantiles must lie between 0 and 1"):
        metric_of("neg_mean_quantile_loss", quantiles=[0, 1])(Y, LIMITS)


NAMES = np.array(["b", "c", "a"])
CLASS = RNG.integers(0, 3, 60)
SETS = RNG.random((60, 3)) < 0.6
AS_SETS = [set(NAMES[row].tolist()) for row in SETS]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("set_coverage", [float(SETS[i, c]) for i, c in enumerate(CLASS)]),
        ("mean_set_size", [float(sum(row)) for row in SETS]),
    ],
)
def test_prediction_sets(name, expected):
    """Sets of names, a matrix in any order of its columns, and a frame are the same."""
    found = metric_interval(name, CLASS, SETS)
    assert found.value == pytest.approx(np.mean(expected))
    assert found.method == {"set_coverage": "wilson", "mean_set_size": "log"}[name]
    assert found.interval.low < found.value < found.interval.high
    assert metric_interval(name, NAMES[CLASS], AS_SETS).interval == found.interval
    turned = get_scorer(f"neg_{name}" if "size" in name else name, labels=[2, 1, 0])
    assert metric_interval(turned, CLASS, SETS[:, ::-1]).interval == found.interval
    weighted, more = (
        metric_interval(name, CLASS, SETS, sample_weight=WEIGHT).value,
        np.repeat(np.arange(60), WEIGHT),
    )
    assert weighted == pytest.approx(metric_interval(name, CLASS[more], SETS[more]).value)
    # copies in groups, as a matrix and as sets
    copies = np.repeat(np.arange(60), 2)
    once = metric_interval(name, CLASS, SETS, groups=np.arange(60))
    each = metric_interval(name, NAMES[CLASS[copies]], np.array(AS_SETS)[copies], groups=copies)
    assert [*each.interval] == pytest.approx([*once.interval], rel=0.02)


def test_coverage_by_size_class_and_unit():
    """Parts of the samples need not have all classes, in either form."""
    size = SETS.sum(axis=1)
    for part in (size.clip(1, 2), CLASS, CLASS + 3 * (size > 1)):
        by_matrix = metric_interval("set_coverage", CLASS, SETS, by=part)
        by_sets = metric_interval("set_coverage", NAMES[CLASS], AS_SETS, by=part)
        expected = [SETS[part == name, CLASS[part == name]].mean() for name in by_matrix]
        assert [found.value for found in by_matrix.values()] == pytest.approx(expected)
        assert [found.interval for found in by_sets.values()] == [
            found.interval for found in by_matrix.values()
        ]
    units = metric_interval("set_coverage", CLASS, SETS, within=CLASS)
    assert units.value == pytest.approx(np.mean([SETS[c == CLASS, c].mean() for c in range(3)]))


@pytest.mark.parametrize(
    ("y", "sets", "match"),
    [
        (CLASS, SETS.astype(int), "boolean array .* type int"),
        (CLASS, [["b"]] * 60, "list of sets"),
        (CLASS, SETS[:, :2], "2 columns"),
        (CLASS, AS_SETS, "numbers"),
        (CLASS, AS_SETS[1:], "59"),
        (CLASS, [np.nan, *AS_SETS[1:]], "list of sets"),
    ],
)
def test_wrong_sets(y, sets, match):
    with pytest.raises(ValueError, match=match):
        metric_interval("set_coverage", y, sets)


def test_coverage_is_no_loss_that_few_samples_dominate():
    rare = metric_interval(
        "interval_coverage", Y, np.where(np.arange(60)[:, None] < 2, [-9, 99], 99)
    )
    assert rare.value == 2 / 60
    assert "caution" not in rare.details


def test_errors_of_limits_do_not_ask_for_one_column():
    """Two columns are limits here, and probabilities of two classes elsewhere."""
    wrong = get_scorer("neg_mean_quantile_loss", quantiles=[0.1, 1.5])
    with pytest.raises(
        ValueError, match=r"quantiles must lie between 0 and 1, got \[0.1, 1.5\]\.$"
    ):
        metric_interval(wrong, Y, LIMITS)
    with pytest.raises(ValueError, match=r"pass that of the second"):
        metric_interval("smape", Y, LIMITS)


def test_equal_values_of_all_samples_have_an_interval():
    """The fraction is that of so many samples, since none varies."""
    true, score = np.tile([1, 0, 1], (30, 1)), np.tile([0.1, 0.2, 0.3], (30, 1))
    found = metric_interval(label_ranking_loss, true, score)
    assert found.value == 0.5
    assert [*found.interval] == pytest.approx(
        [*binomtest(15, 30).proportion_ci(0.95, "wilson")], abs=0.02
    )


def test_few_misses_have_no_interval():
    wide = LIMITS + [-9, 9]
    assert np.isnan(metric_interval("winkler_loss", Y, wide).interval.low)


def test_geometric_mean():
    y = RNG.integers(0, 3, 90)
    p = np.where(RNG.random(90) < 0.6, y, RNG.integers(0, 3, 90))
    recalls = recall_score(y, p, average=None)
    assert metric_of("geometric_mean")(y, p) == pytest.approx(np.prod(recalls) ** (1 / 3))
    found = metric_interval("geometric_mean", y, p)
    assert found.method == "score"
    assert found.interval.low < found.value < found.interval.high
    names = np.array(["c", "a", "b"])
    assert [*metric_interval("geometric_mean", names[y], names[p]).interval] == pytest.approx(
        [*found.interval], abs=1e-4
    )


def covered(n, n_sets, share=0.2, shift=1.5):
    """Return how often each interval covers its metric, of normal values and scores."""
    rng, hits = np.random.default_rng(0), dict.fromkeys(["coverage", "winkler", "g_mean"], 0)
    edge, winkler = norm.ppf(0.9), get_scorer("neg_winkler_loss", confidence_level=0.8)
    # expected score of the central 80 % interval: 2 phi(z) / alpha per side
    truth = {"coverage": 0.8, "winkler": 2 * norm.pdf(edge) / 0.1, "g_mean": norm.cdf(shift / 2)}
    for _ in range(n_sets):
        y, limits = rng.normal(size=n), np.tile([-edge, edge], (n, 1))
        label = np.arange(n) < max(2, rng.binomial(n, share))
        called = rng.normal(size=n) + shift * label > shift / 2
        found = {
            "coverage": metric_interval("interval_coverage", y, limits),
            "winkler": metric_interval(winkler, y, limits),
            "g_mean": metric_interval("geometric_mean", label, called),
        }
        for name, estimate in found.items():
            hits[name] += truth[name] in estimate.interval or np.isnan(estimate.interval.low)
    return hits


@pytest.mark.simulated
def test_it_covers():
    for hits in covered(100, 60).values():
        assert binom.cdf(hits, 60, 0.94) > 0.001
