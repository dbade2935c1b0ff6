"""The influence of each sample is the derivative of the metric by its weight."""

from functools import partial

import numpy as np
import pytest
from helpers.echo import metric_of
from hypothesis import given
from hypothesis import strategies as st
from reference import metric_intervals as reference
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from skeval.metrics import get_scorer, net_benefit
from skeval.metrics._gains import find_top
from skeval.model_selection import metric_interval

STEP = 1e-6


def differentiate(function, weight):
    """Return the derivative of a function of weights by each of them, from central differences."""
    moves = STEP * np.eye(len(weight))
    return np.array([(function(weight + m) - function(weight - m)) / (2 * STEP) for m in moves])


@st.composite
def three_scores(draw):
    """Return classes and scores, most of which are tied in the middle."""
    counts = [draw(st.integers(2, 3)), draw(st.integers(6, 9)), draw(st.integers(2, 3))]
    score = np.repeat([0.0, 1.0, 2.0], counts)
    flags = st.lists(st.booleans(), min_size=len(score), max_size=len(score))
    positive = np.array(draw(flags))
    positive[:2], positive[-2:] = [False, True], [True, False]
    order = np.random.default_rng(draw(st.integers(0, 99))).permutation(len(score))
    weight = 0.5 + np.random.default_rng(draw(st.integers(0, 99))).random(len(score))
    return positive[order], score[order], weight


@given(
    data=three_scores(), part=st.floats(-0.05, 0.05), of=st.sampled_from(["precision", "recall"])
)
def test_at_k(data, part, of):
    """The threshold lies within the ties, so that the metric is smooth in the weights."""
    positive, score, weight = data
    k = part + float((score > 1) @ weight + (score == 1) @ weight / 2) / weight.sum()
    top = find_top(positive, score, weight, k)
    influence = top.find_influence(of, size=1e4)  # only the ties are near the threshold
    slope = differentiate(lambda w: getattr(find_top(positive, score, w, k), of), weight)
    np.testing.assert_allclose(influence / weight.sum(), slope, atol=1e-7)
    assert weight @ influence == pytest.approx(0, abs=1e-9)


@given(data=three_scores(), max_fpr=st.floats(0.3, 0.7))
def test_partial_area(data, max_fpr):
    """The variance of each class is that of the influences of its samples."""
    positive, score, _ = data
    metric, ones = partial(roc_auc_score, max_fpr=max_fpr), np.ones(len(score))
    slopes = reference.derivatives(metric, positive, score, ones)
    sides = slopes[positive], slopes[~positive]
    assert [side.sum() for side in sides] == pytest.approx([0, 0], abs=1e-7)
    expected = sum(np.sum(side**2) * len(side) / (len(side) - 1) for side in sides)
    found = metric_interval(metric, positive, score)
    assert found.standard_error**2 == pytest.approx(expected, rel=1e-5, abs=1e-12)


@given(counts=st.lists(st.integers(1, 30), min_size=9, max_size=9))
def test_the_error_of_a_geometric_mean(counts):
    metric, (y, p) = metric_of("geometric_mean"), reference.counted(np.reshape(counts, (3, 3)))
    slopes = reference.derivatives(metric, y, p, np.ones(len(y)))
    found = metric_interval(get_scorer("geometric_mean"), y, p)
    assert found.standard_error**2 == pytest.approx(np.sum(slopes**2), rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("threshold", [0.2, 0.5])
@pytest.mark.parametrize("counts", [[[8, 5], [3, 24]], [[20, 9], [7, 14]]])
def test_limits_of_a_standardized_net_benefit_are_those_of_a_search(threshold, counts):
    """The net benefit divided by the prevalence, which is a ratio of sums over samples."""
    y, p = reference.counted(counts)
    curve = net_benefit(y, 0.1 + 0.8 * p, thresholds=[threshold], standardize=True)

    def score(table):
        gain = table[..., 1, 1] - threshold / (1 - threshold) * table[..., 0, 1]
        return gain / table[..., 1, :].sum(axis=-1)

    share, radius = np.array(counts) / len(y), norm.ppf(0.975) ** 2 / len(y)
    assert curve.y[0] == pytest.approx(score(share))
    for end, sign in ((curve.low[0], 1), (curve.high[0], -1)):
        signed = reference.with_gradient(lambda p, sign=sign: sign * score(p))
        found = reference.smallest_in_region(signed, share, radius)
        assert sign * end == pytest.approx(found, abs=2e-5)


NUMBERS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=10, max_size=20)
MEANS = {
    "neg_smape": {},
    "neg_mase": {"y_train": [1, 3, 2, 5]},
    "neg_winkler_loss": {"confidence_level": 0.5},
    "neg_mean_quantile_loss": {"quantiles": [0.3, 0.8]},
    "interval_coverage": {},
    "set_coverage": {"labels": [0, 1]},
    "neg_mean_set_size": {"labels": [0, 1]},
}


def sample(pairs, name):
    """Return true values and forecasts, limits or sets, all of which are of the numbers."""
    y, guess = np.array(pairs, dtype=float).T
    if "set" in name:
        return y.astype(int) % 2, np.column_stack([guess > 3, guess < 7])
    limits = np.column_stack([guess - 1, guess + 2])
    return y, guess if name in ("neg_smape", "neg_mase") else limits


@given(pairs=NUMBERS, name=st.sampled_from(sorted(MEANS)))
def test_means_have_the_error_of_the_jackknife(pairs, name):
    y, pred = sample(pairs, name)
    metric, groups, n = get_scorer(name, **MEANS[name]), np.arange(len(y)), len(y)
    found = metric_interval(metric, y, pred, groups=groups)
    left_out = [
        metric._score_func(y[groups != i], pred[groups != i], **MEANS[name]) for i in groups
    ]
    assert found.standard_error**2 == pytest.approx((n - 1) * np.var(left_out), abs=1e-12)
    # three copies of the sample, in another order
    order = np.random.default_rng(0).permutation(np.repeat(groups, 3))
    more = metric_interval(metric, y[order], pred[order], groups=np.arange(3 * n))
    assert more.value == pytest.approx(found.value)
    ratio = (n - 1) / (3 * n - 1)
    assert more.standard_error**2 == pytest.approx(ratio * found.standard_error**2, abs=1e-12)


@given(pairs=NUMBERS, name=st.sampled_from([name for name in sorted(MEANS) if "set" not in name]))
def test_units_of_the_target(pairs, name):
    """A loss in units of the target has them, and a relative one or a coverage has none."""
    y, pred = sample(pairs, name)
    in_units, options = name in ("neg_winkler_loss", "neg_mean_quantile_loss"), MEANS[name]
    rescaled = {key: np.multiply(7, v) if key == "y_train" else v for key, v in options.items()}
    once, scaled = (
        metric_interval(get_scorer(name, **given), unit * y, unit * pred, groups=np.arange(len(y)))
        for unit, given in ((1, options), (7, rescaled))
    )
    factor = 7 if in_units else 1
    for attribute in ("value", "standard_error"):
        assert getattr(scaled, attribute) == pytest.approx(factor * getattr(once, attribute))


@given(data=three_scores(), repeats=st.integers(2, 4))
def test_copies_of_the_sample_have_its_value(data, repeats):
    positive, score, _ = data
    copies = np.random.default_rng(0).permutation(np.tile(np.arange(len(score)), repeats))
    for name, arguments in (
        *((f"{of}_at_k", {"k": 0.3}) for of in ("precision", "recall", "lift")),
        ("ks_statistic", {}),
        ("geometric_mean", {}),
    ):
        pred = score > 0 if name == "geometric_mean" else score
        metric = get_scorer(name, **arguments)
        once = metric_interval(metric, positive, pred)
        more = metric_interval(metric, positive[copies], pred[copies])
        assert more.value == pytest.approx(once.value)
        assert more.interval.low >= once.interval.low - 1e-9
        assert more.interval.high <= once.interval.high + 1e-9
