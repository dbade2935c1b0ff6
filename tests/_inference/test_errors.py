"""Point .632 and .632+ against Efron & Tibshirani (1997), and variances by influence."""

from functools import partial

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given
from hypothesis import strategies as st
from reference import bootstrap as reference
from reference.bootstrap import point632, point632plus
from reference.intervals import degrees_of_mean as slow_degrees_of_mean
from reference.intervals import shared_variance as slow_shared_variance
from reference.intervals import split_share as slow_split_share
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.metrics import mean_squared_error
from sklearn.neighbors import NearestCentroid

from skeval._inference import errors
from skeval._inference.errors import (
    combine,
    degrees_of_mean,
    difference_limits,
    explained_limits,
    inflation_of,
    needs_repeat,
    no_information,
    out_of_bag_influence,
    pairwise_means,
    sampling_influence,
    shared_variance,
    split_share,
    standard_error,
)
from skeval._resampling.inputs import Loss
from skeval._resampling.sampling_units import DrawingUnits
from skeval.model_selection import bootstrap_error, metric_interval

unit = st.floats(0, 1)
LOSSES = {
    "zero_one": lambda true, pred: (true != pred).astype(float),
    "squared": lambda true, pred: (true - pred) ** 2,
    "absolute": lambda true, pred: abs(true - pred),
}


@given(unit, unit, unit)
def test_values(apparent, oob, gamma):
    assert combine("oob", apparent, oob, gamma).error == oob
    assert combine(".632", apparent, oob, gamma).error == pytest.approx(point632(apparent, oob))
    plus = combine(".632+", apparent, oob, gamma)
    assert plus.error == pytest.approx(point632plus(apparent, oob, gamma))
    assert 0 <= plus.relative_overfitting <= 1
    assert 0.632 <= plus.weight <= 1 + 1e-15


@each_value
@pytest.mark.parametrize("method", ["oob", ".632", ".632+"])
@pytest.mark.parametrize(
    "point", [(0.1, 0.3, 0.5), (0.3, 0.1, 0.5), (0.1, 0.6, 0.5), (0.4, 0.5, 0.3), (0.4, 0.2, 0.3)]
)
def test_gradient_is_the_derivative(method, point):
    def value(shifted):
        return combine(method, *shifted).error

    step = 1e-6
    numeric = [
        (value(np.add(point, step * axis)) - value(np.subtract(point, step * axis))) / (2 * step)
        for axis in np.eye(3)
    ]
    np.testing.assert_allclose(combine(method, *point).gradient, numeric, atol=1e-8)


def influence_of(Q, unit_counts, units, n_blocks=1):
    """What `bootstrap_error` hands over, of a full loss matrix Q (B, n)."""
    counts = unit_counts[:, units.unit]
    left_out = counts == 0
    sample_errors = (Q * left_out).sum(axis=0) / left_out.sum(axis=0)
    scores = (Q * left_out) @ (1 / units.left_out_probability)
    return out_of_bag_influence(
        sample_errors, scores, iter(np.array_split(counts, n_blocks)), units
    )


@each_value
@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_centering_changes_nothing_over_all_resamples(n, seed):
    counts = reference.all_resamples([np.arange(n)])
    assert len(counts) == n**n
    Q = np.random.default_rng(seed).normal(size=counts.shape)
    units = DrawingUnits(np.arange(n), (np.arange(n),))
    influence = influence_of(Q, counts, units)
    np.testing.assert_allclose(
        influence.sampling + influence.training, reference.paper_influence(Q, counts), atol=1e-14
    )


DESIGNS = {
    "plain": ([0, 1, 2, 3], [[0, 1, 2, 3]]),
    "stratified": ([0, 1, 2, 3, 4], [[0, 2, 3], [1, 4]]),
    "groups": ([0, 1, 1, 2, 3, 3, 3], [[0, 1, 2, 3]]),
}


def design_of(name):
    """Unit of each sample, units of each stratum, and the size of each unit's stratum."""
    unit, strata = np.array(DESIGNS[name][0]), [np.array(s) for s in DESIGNS[name][1]]
    size = np.empty(len(set(unit)))
    for stratum in strata:
        size[stratum] = len(stratum)
    return unit, strata, size


@pytest.mark.parametrize("design", DESIGNS)
def test_influence_is_the_derivative_of_the_reweighted_estimate(design):
    unit, strata, size = design_of(design)
    counts = reference.all_resamples(strata)
    Q = np.random.default_rng(2).random((len(counts), len(unit)))
    functional = partial(reference.out_of_bag_functional, Q, unit, counts, size)
    expected = reference.numerical_influence(functional, strata)
    influence = influence_of(Q, counts, DrawingUnits(unit, tuple(strata)))
    np.testing.assert_allclose(influence.sampling + influence.training, expected, atol=1e-9)


def test_blocks_and_failed_fits():
    units = DrawingUnits(np.arange(4), (np.arange(4),))
    counts = reference.all_resamples([np.arange(4)])
    rng = np.random.default_rng(0)
    Q = rng.random(counts.shape)
    whole, blocks = influence_of(Q, counts, units), influence_of(Q, counts, units, n_blocks=7)
    np.testing.assert_allclose(whole.training, blocks.training, atol=1e-15)
    assert whole.noise == pytest.approx(blocks.noise)
    failed = rng.random(len(counts)) < 0.2
    errors, scores = rng.random(4), rng.random(len(counts))
    with_nan = np.where(failed, np.nan, scores)
    left = out_of_bag_influence(errors, with_nan, iter(np.array_split(counts, 3)), units)
    kept = out_of_bag_influence(errors, scores[~failed], iter([counts[~failed]]), units)
    np.testing.assert_allclose(left.training, kept.training, atol=1e-15)
    assert left.noise == pytest.approx(kept.noise)


@pytest.mark.parametrize("design", DESIGNS)
def test_sampling_influence_is_the_derivative_of_the_mean(design):
    unit, strata, size = design_of(design)
    values = np.random.default_rng(1).normal(size=len(unit))

    def functional(probability):
        shares = (size * probability)[unit]
        return np.sum(shares * values) / np.sum(shares)

    expected = reference.numerical_influence(functional, strata)
    units = DrawingUnits(unit, tuple(strata))
    np.testing.assert_allclose(sampling_influence(values, units), expected, atol=1e-9)


@pytest.mark.parametrize("name", [*LOSSES, "callable"])
def test_no_information_is_the_mean_over_pairs_and_moves_as_said(name, monkeypatch):
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 3, 9).astype(float), rng.integers(0, 3, 9).astype(float)
    function = LOSSES.get(name, lambda true, pred: np.maximum(true - pred, 0) + 0.5 * (pred > true))
    loss = Loss(name, function)

    def gamma(probability):
        pairs = [[function(truth[[i]], predicted[[j]])[0] for j in range(9)] for i in range(9)]
        return probability @ np.array(pairs) @ probability

    error, values = no_information(truth, predicted, None if name == "zero_one" else loss)
    assert error == pytest.approx(gamma(np.full(9, 1 / 9)))
    assert values.mean() == pytest.approx(error)
    units = DrawingUnits(np.arange(9), (np.arange(9),))
    expected = reference.numerical_influence(gamma, [np.arange(9)])
    np.testing.assert_allclose(sampling_influence(values, units), expected, atol=1e-9)
    whole = pairwise_means(truth, predicted, loss, np.ones(len(truth)))
    monkeypatch.setattr(errors, "PAIR_ELEMENTS", 20)
    np.testing.assert_allclose(
        pairwise_means(truth, predicted, loss, np.ones(len(truth))), whole, atol=1e-15
    )


def test_monte_carlo_noise_is_taken_out():
    """Over few resamples the corrected squares average to those of all resamples."""
    n = 5
    units = DrawingUnits(np.arange(n), (np.arange(n),))
    counts = reference.all_resamples([np.arange(n)])
    Q = np.random.default_rng(0).random(counts.shape)
    left_out = counts == 0
    errors = (Q * left_out).sum(axis=0) / left_out.sum(axis=0)
    scores = (Q * left_out) @ (1 / units.left_out_probability)
    exact = np.sum(influence_of(Q, counts, units).training ** 2)
    rng = np.random.default_rng(1)
    raw, corrected = [], []
    for _ in range(2000):
        rows = rng.integers(0, len(counts), 40)
        part = out_of_bag_influence(errors, scores[rows], iter([counts[rows]]), units)
        raw.append(np.sum(part.training**2))
        corrected.append(raw[-1] - part.noise)
    error = np.std(corrected) / 2000**0.5
    assert np.mean(raw) - exact > 10 * error
    assert abs(np.mean(corrected) - exact) < 4 * error


def test_bootstrap_error_is_the_influence_of_the_losses_of_a_loop():
    X, y = load_iris(return_X_y=True)
    X, y = X[50::7], y[50::7]
    n = len(y)
    indices = np.random.default_rng(0).integers(n, size=(150, n))
    found = bootstrap_error(NearestCentroid(), X, y, method="oob", indices=indices)
    Q = [NearestCentroid().fit(X[rows], y[rows]).predict(X) != y for rows in indices]
    counts = np.array([np.bincount(rows, minlength=n) for rows in indices])
    influence = influence_of(
        np.array(Q, float), counts, DrawingUnits(np.arange(n), (np.arange(n),))
    )
    expected = standard_error(np.array([0.0, 1.0, 0.0]), np.zeros(n), influence, np.zeros(n))
    assert found.standard_error == pytest.approx(expected)
    assert expected > standard_error(
        np.array([0.0, 1.0, 0.0]),
        np.zeros(n),
        influence._replace(training=np.zeros(n)),
        np.zeros(n),
    )


def deal(losses, fold, weight=None):
    """Return losses and folds of shape (n_repeats, n) as columns."""
    n_repeats, n = losses.shape
    row, repeat = np.tile(np.arange(n), n_repeats), np.repeat(np.arange(n_repeats), n)
    counted = None if weight is None else weight[row]
    return losses.ravel(), row, repeat, fold.ravel(), counted


def draw_losses(rng, n_repeats=4, n=30, n_folds=5, shared=0.3):
    """Return losses that a fold of a repeat shares a part of, and the folds."""
    fold = np.array([rng.permutation(np.arange(n) % n_folds) for _ in range(n_repeats)])
    of_fit = shared * rng.normal(size=(n_repeats, n_folds))
    own = rng.normal(size=n) + 0.5 * rng.normal(size=(n_repeats, n))
    return own + np.take_along_axis(of_fit, fold, axis=1), fold


@pytest.mark.parametrize("weighted", [False, True])
def test_shared_variance_is_that_of_the_pairs(weighted):
    rng = np.random.default_rng(0)
    losses, fold = draw_losses(rng, n=31)
    weight = rng.uniform(0.5, 2, 31) if weighted else None
    expected = slow_shared_variance(
        losses.tolist(), fold.tolist(), [1.0] * 31 if weight is None else weight.tolist()
    )
    found = shared_variance(*deal(losses, fold, weight))
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("n_repeats", "shared"), [(10, 0.0), (10, 0.3), (2, 0.3)])
def test_shared_variance_is_unbiased(n_repeats, shared):
    """The variance of what a fit adds to its losses, over that of a mean of single losses."""
    rng = np.random.default_rng(2)
    drawn = [draw_losses(rng, n_repeats, 60, 5, shared) for _ in range(300)]
    found, noise, _ = np.array([shared_variance(*deal(*each)) for each in drawn]).T
    variance = np.mean([losses.var() for losses, _ in drawn])
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - 60 * shared**2 / variance) < 4 * error
    if not shared:
        assert noise.mean() == pytest.approx(np.std(found), rel=0.15)


def test_nothing_is_shared_where_nothing_is_repeated_or_varies():
    losses, fold = draw_losses(np.random.default_rng(3))
    assert np.isnan(shared_variance(*deal(losses[:1], fold[:1]))).all()
    assert np.isnan(shared_variance(*deal(np.zeros((4, 30)), fold))).all()


TAILS = {
    "squares of normal errors": lambda rng, n: rng.normal(size=n) ** 2,
    "squares of t, 3 degrees": lambda rng, n: rng.standard_t(3, size=n) ** 2,
    "powers of e": lambda rng, n: np.exp(3 * rng.normal(size=n)),
    "mostly 0": lambda rng, n: np.where(np.arange(n) < 5, rng.uniform(size=n), 0.0),
    "two values": lambda rng, n: rng.choice([0.0, 1.0, 7.0], size=n),
}


@each_value
@pytest.mark.parametrize("n", [26, 60, 500])
@pytest.mark.parametrize("kind", TAILS)
def test_degrees_of_the_mean_are_those_by_definition(kind, n):
    losses = np.repeat(TAILS[kind](np.random.default_rng(n), n), 3)
    expected = slow_degrees_of_mean(losses.tolist(), n, 1.3)
    found = degrees_of_mean(errors.TestLosses(losses), n, 1.3, bounded=False)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    # Neither the unit of the losses nor their order matters, nor that of weights.
    again = degrees_of_mean(
        errors.TestLosses(1e6 * losses[::-1], np.full(len(losses), 7.0)), n, 1.3, bounded=False
    )
    np.testing.assert_allclose(again, expected, rtol=1e-9)


def test_samples_that_hardly_count_tell_no_degrees_of_freedom():
    losses = np.random.default_rng(0).normal(size=40) ** 2
    alone = degrees_of_mean(errors.TestLosses(losses), 40, 1.3, bounded=True)
    more = errors.TestLosses(
        np.r_[losses, np.full(400, 3.0)], np.r_[np.ones(40), np.full(400, 1e-12)]
    )
    assert degrees_of_mean(more, 440, 1.3, bounded=True) == pytest.approx(alone)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_split_share_is_that_of_the_units(clustered, weighted):
    rng = np.random.default_rng(0)
    losses, fold = draw_losses(rng, n=30)
    weight = rng.uniform(0.5, 2, 30) if weighted else np.ones(30)
    unit = rng.permutation(np.arange(30) // 3 if clustered else np.arange(30))
    values, row, repeat, _, counted = deal(losses, fold, weight)
    found = split_share(values, row, repeat, unit, counted if weighted else None)
    expected = slow_split_share(losses.tolist(), unit.tolist(), weight.tolist())
    assert found == pytest.approx(expected, rel=1e-10)


def test_split_share_is_unbiased_and_undefined_for_one_repeat():
    """Noise of variance 1/4 in each repeat, beside a variance of 1 between samples."""
    rng = np.random.default_rng(1)
    unit = np.arange(200)
    shares = []
    for _ in range(200):
        losses, fold = draw_losses(rng, 4, 200, 5, shared=0.0)
        shares.append(split_share(*deal(losses, fold)[:3], unit))
    assert np.mean(shares) == pytest.approx(0.2 / 4, rel=0.03)
    losses, fold = draw_losses(rng)
    assert np.isnan(split_share(*deal(losses[:1], fold[:1])[:3], np.arange(30)))
    assert split_share(*deal(np.zeros((3, 30)), fold[:3])[:3], np.arange(30)) == 0


@given(st.floats(0, 3), st.integers(2, 10))
def test_repeats_end_where_splits_add_five_percent(ratio, n_repeats):
    """`ratio` is the variance of random splits over that of infinitely many repeats."""
    share = ratio / (1 + ratio) / n_repeats
    more = needs_repeat(share, n_repeats)
    added = np.sqrt(1 + ratio / n_repeats) - 1
    assert more == (added > 0.05) or added == pytest.approx(0.05)
    assert needs_repeat(np.nan, 1)


@given(st.floats(-5, 20), st.floats(0, 5), st.floats(0, 0.5), st.booleans())
def test_inflation_is_continuous_and_grows_with_what_models_share(delta, noise, share, zero_one):
    def of(value):
        return inflation_of(errors.Shared(value, noise, 50.0), share, zero_one=zero_one)

    least = 1.15 + share + (0.16 if zero_one else 0)
    assert of(delta) >= least - 1e-12
    assert 0 <= of(delta + 0.1) - of(delta) <= 0.1 + 1e-12
    assert of(noise) == pytest.approx(max(least, 1 + 0.2 * noise))


@given(st.floats(-2, 2), st.floats(0.01, 1), st.floats(0.01, 3), st.floats(0, 2))
def test_limits_of_a_difference_solve_their_equation(difference, error, spread, noise):
    low, high = difference_limits(difference, error, np.inf, spread, 0.95, noise)
    assert low < difference < high
    reach = stats.norm.ppf(0.975) * error
    for end in (low, high):
        # no equation, but Student's limits, where a difference of 0 has a negative variance
        is_possible = spread + difference > 0
        left = max(spread + difference, noise) - end
        expected = reach**2 * (left / spread if is_possible else 1)
        assert (difference - end) ** 2 == pytest.approx(expected, abs=1e-9)
    plain = difference_limits(difference, error, np.inf, np.inf, 0.95)
    np.testing.assert_allclose(plain, [difference - reach, difference + reach])
    # the distance between the limits grows with the error, and the higher is never above Student's
    wider = difference_limits(difference, 1.1 * error, np.inf, spread, 0.95, noise)
    assert wider[1] - wider[0] > high - low
    assert high <= plain[1] + 1e-12 or noise > spread + difference


@given(
    st.floats(0.05, 3), st.floats(0.01, 0.5), st.floats(0.01, 2), st.floats(0, 2), st.floats(1, 2)
)
def test_limits_of_an_explained_variance_solve_their_equations(
    ratio, error, spread, noise, inflation
):
    low, high = explained_limits(ratio, error, np.inf, spread, noise, inflation, 0.95)
    reach = stats.norm.ppf(0.975) * error / ratio
    above = max(inflation, 1 + noise / spread)
    assert np.log(high / ratio) ** 2 == pytest.approx(reach**2 * above)
    # the lower limit implies a signal
    below = max(inflation, (max(0.0, 1 - low) + 2 * noise) / spread)
    assert np.log(ratio / low) ** 2 == pytest.approx(reach**2 * below)
    # Student's quantile is wider, and without any error there is one value
    student = explained_limits(ratio, error, 5.0, spread, noise, inflation, 0.95)
    assert student[0] < low < ratio < high < student[1]
    assert explained_limits(ratio, 0.0, np.inf, spread, noise, inflation, 0.95) == (ratio, ratio)


@pytest.mark.parametrize("n", [40, 100, 400])
def test_normal_errors_have_no_heavy_tail(n):
    rng = np.random.default_rng(n)
    kinds = {"normal": rng.normal, "t3": lambda size: rng.standard_t(3, size)}
    flagged = {}
    for name, draw in kinds.items():
        samples = (errors.TestLosses(draw(size=n) ** 2) for _ in range(400))
        flagged[name] = sum(bool(errors.describe_tail(tested, n)) for tested in samples)
    assert stats.binomtest(flagged["normal"], 400, 0.02, "greater").pvalue > 1e-3
    assert flagged["t3"] > 400 * {40: 0.25, 100: 0.75, 400: 0.95}[n]


SQUARED = {
    "normal": (lambda rng, size: rng.normal(size=size), 0.93, 1.05, 1.6),
    "t5": (lambda rng, size: rng.standard_t(5, size) / np.sqrt(5 / 3), 0.9, 1.6, 4.5),
    "t3": (lambda rng, size: rng.standard_t(3, size) / np.sqrt(3), 0.79, 2.2, 12.0),
}


@pytest.mark.simulated
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("n", [40, 100])
@pytest.mark.parametrize("kind", SQUARED)
def test_interval_of_the_squared_error_covers_and_is_short(kind, n):
    """Coverage of independent squared errors, and width over the chi-square interval."""
    draw, least, median, upper = SQUARED[kind]
    rng = np.random.default_rng(n)
    exact = n * (1 / stats.chi2.ppf(0.025, n) - 1 / stats.chi2.ppf(0.975, n))
    found = [metric_interval(mean_squared_error, np.zeros(n), draw(rng, n)) for _ in range(1000)]
    low, high = np.array([[*each.interval] for each in found]).T
    given, covered = np.isfinite(low).sum(), np.sum((low <= 1) & (high >= 1))
    assert given > 950  # where one error is most of the mean there is no interval
    assert stats.binomtest(covered, given, least, "less").pvalue > 0.01
    assert np.nanmedian(high - low) < median * exact
    assert np.nanquantile(high - low, 0.9) < upper * exact


@pytest.mark.parametrize("spread", [0.05, 0.2, np.inf])
def test_a_difference_within_its_noise_includes_zero_whatever_the_spread(spread):
    """Predictions that are shrunk too far imply a negative variance, which decides nothing."""
    low, high = errors.difference_limits(-0.1, 0.5, 50, spread, 0.95)
    assert low < -0.1 < 0 < high
