"""External validation of probabilities: statsmodels, groups, weights, coverage."""

import numpy as np
import pytest
from scipy import stats
from scipy.interpolate import CubicSpline
from scipy.special import expit, logit
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import brier_score_loss, r2_score

from skeval.metrics import calibration_measures


def draw(n, seed, slope=1.0, shift=0.0):
    rng = np.random.default_rng(seed)
    odds = rng.normal(-0.5, 1.2, n)
    y = (rng.random(n) < expit(shift + slope * odds)).astype(int)
    return y, expit(odds)


@pytest.fixture(scope="module")
def sample():
    return draw(300, 0, slope=0.7, shift=0.3)


@pytest.fixture(scope="module")
def found(sample):
    return calibration_measures(*sample, random_state=0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("weighted", [False, True])
def test_the_interval_of_the_scaled_brier_score_includes_the_estimate(weighted):
    """Also for constant probabilities equal to the observed share, whose ratio does not vary."""
    rng = np.random.default_rng(0)
    for n in (10, 30, 100):
        y = (np.arange(n) < 0.3 * n).astype(int)
        for p in (np.full(n, 0.3), np.full(n, 0.5), np.where(y, 0.9, 0.1), rng.random(n)):
            weight = rng.uniform(0.5, 2, n) if weighted else None
            found = calibration_measures(y, p, sample_weight=weight, random_state=0)["scaled_brier"]
            assert found.interval.low < found.value < found.interval.high


def shrink(y, ratio):
    """Return a ratio of variances, shrunk toward 1 if it is below."""
    n = min(y.sum(), len(y) - y.sum())
    return max(ratio, (n * ratio + 4) / (n + 4))


def test_the_regressions_are_those_of_statsmodels(sample, found):
    """Generalized linear models with an offset, and their sandwich (HC0)."""
    sm = pytest.importorskip("statsmodels.api")
    (y, p), family = sample, sm.families.Binomial()
    ones, odds = np.ones((len(y), 1)), logit(p)
    large = sm.GLM(y, ones, family=family, offset=odds).fit(cov_type="HC0")
    assert found["in_the_large"].value == pytest.approx(large.params[0], abs=1e-8)
    assert found["in_the_large"].standard_error == pytest.approx(large.bse[0], rel=1e-6)
    both = sm.GLM(y, np.column_stack([ones, odds]), family=family).fit(cov_type="HC0")
    for at, name in enumerate(("intercept", "slope")):
        assert found[name].value == pytest.approx(both.params[at], abs=1e-8)
        assert found[name].standard_error == pytest.approx(both.bse[at], rel=1e-6)
    plain = sm.GLM(y, np.column_stack([ones, odds]), family=family).fit()
    for end in found["slope"].interval:  # twice the loss of profile likelihood is z^2 r
        profile = sm.GLM(y, ones, family=family, offset=end * odds).fit()
        lost = 2 * (both.llf - profile.llf) / shrink(y, (both.bse[1] / plain.bse[1]) ** 2)
        assert lost == pytest.approx(stats.norm.ppf(0.975) ** 2, rel=1e-6)
    model = sm.GLM(y, ones, family=family, offset=odds).fit()
    for end in found["in_the_large"].interval:
        mean = expit(odds + end)
        information = np.sum(mean * (1 - mean)) * shrink(y, (large.bse[0] / model.bse[0]) ** 2)
        assert np.sum(y - mean) ** 2 / information == pytest.approx(stats.norm.ppf(0.975) ** 2)


def test_groups_and_weights_are_those_of_statsmodels(sample):
    sm = pytest.importorskip("statsmodels.api")
    (y, p), rng = sample, np.random.default_rng(1)
    groups, weight = rng.integers(0, 25, len(y)), rng.exponential(size=len(y)) + 0.2
    design = np.column_stack([np.ones(len(y)), logit(p)])
    model = sm.GLM(y, design, family=sm.families.Binomial())
    options = {"groups": groups, "use_correction": False}
    clustered = model.fit(cov_type="cluster", cov_kwds=options)
    one = calibration_measures(y, p, groups=groups, random_state=0)
    mean = clustered.predict(design)
    information = design.T @ (design * (mean * (1 - mean))[:, None])
    influence = design @ np.linalg.inv(information)[:, 1] * (y - mean)
    assert np.sum(np.bincount(groups, influence) ** 2) == pytest.approx(clustered.bse[1] ** 2)
    variance = 0.0
    for group in range(25):  # each is left out in turn, by one step of Newton's method: CR3
        rest = design[groups != group] * (mean * (1 - mean))[groups != group, None]
        left = rest.T @ design[groups != group]
        step = np.linalg.solve(left, design[groups != group].T @ (y - mean)[groups != group])
        variance += step**2
    for at, name in enumerate(("intercept", "slope")):
        assert one[name].standard_error == pytest.approx(variance[at] ** 0.5, rel=1e-6)
    weighted = sm.GLM(y, design, family=sm.families.Binomial(), freq_weights=weight).fit()
    other = calibration_measures(y, p, sample_weight=weight, random_state=0)
    assert other["slope"].value == pytest.approx(weighted.params[1], abs=1e-7)
    again = calibration_measures(y, p, sample_weight=7 * weight, random_state=0)
    for name, each in other.items():
        ends = each.interval.low, each.interval.high
        assert ends == pytest.approx(tuple(again[name].interval))


def test_sums_and_brier_are_what_they_say(sample, found):
    y, p = sample
    assert found["observed_expected"].value == pytest.approx(y.sum() / p.sum())
    baseline = brier_score_loss(y, np.full(len(y), y.mean()))
    assert found["scaled_brier"].value == pytest.approx(1 - brier_score_loss(y, p) / baseline)
    assert found["scaled_brier"].value == pytest.approx(r2_score(y, p))


def test_ends_of_the_score_interval_are_where_the_test_is_significant(sample, found):
    """Of Poisson's variance, scaled by the ratio that the report of the error has."""
    y, p = sample
    each = found["observed_expected"].interval
    ratio = found["observed_expected"].standard_error ** 2 * p.sum() ** 2 / y.sum()
    larger = shrink(y, ratio)
    for end in (each.low, each.high):
        z2 = (y.sum() - end * p.sum()) ** 2 / (larger * end * p.sum())
        assert z2 == pytest.approx(stats.norm.ppf(0.975) ** 2)


def test_what_has_no_slope_is_undefined():
    y = np.repeat([0, 1], 30)
    with pytest.warns(UndefinedMetricWarning, match="separate"):
        found = calibration_measures(y, np.where(y == 1, 0.9, 0.2) + 0.001 * np.arange(60) / 60)
    assert np.isnan([found["slope"].value, found["slope"].interval.low]).all()
    assert np.isfinite(found["observed_expected"].interval.high)
    with pytest.warns(UserWarning, match="3 probabilities of 0 or 1"):
        calibration_measures(np.tile([0, 1], 30), np.r_[0.0, 1.0, 1.0, np.linspace(0.1, 0.9, 57)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_proba": np.linspace(-0.1, 1, 40)}, "between 0 and 1"),
        ({"y_true": np.zeros(40)}, "both classes"),
        ({"groups": np.zeros(40)}, "two groups"),
    ],
)
def test_a_broken_rule_is_named(change, message):
    given = {"y_true": np.tile([0, 1], 20), "y_proba": np.linspace(0.1, 0.9, 40)} | change
    with pytest.raises(ValueError, match=message):
        calibration_measures(**given)


@pytest.mark.parametrize("n", [150, 999])
def test_distances_of_the_curve_are_of_all_samples(n):
    """The fitted curve is known at 200 probabilities; it is linear beyond them in the log-odds."""
    rng = np.random.default_rng(n)
    odds = rng.normal(-1, 1.5, n)
    y, p = rng.random(n) < expit(odds), expit(1.6 * odds + 0.3)
    weight = rng.integers(1, 4, n)
    for options in ({}, {"sample_weight": weight}):
        measures = calibration_measures(y, p, random_state=0, **options)
        curve = measures["ici"].details["curve"]
        x, fitted = logit(curve.x), logit(curve.y)
        smooth, at = CubicSpline(x, fitted), logit(p)
        inside = np.clip(at, x[0], x[-1])
        line = smooth(inside) + smooth(inside, 1) * (at - inside)
        distance = np.abs(expit(line) - p)
        expected = np.average(distance, weights=options.get("sample_weight"))
        assert measures["ici"].value == pytest.approx(expected, rel=1e-3)
        if not options:
            for name, share in {"e50": 0.5, "e90": 0.9}.items():
                quantile = np.quantile(distance, share)
                assert measures[name].value == pytest.approx(quantile, rel=2e-3)
        for name in ("ici", "e50", "e90"):
            low, high = measures[name].interval
            assert low <= measures[name].value <= high


def test_copies_of_all_samples_in_their_groups_add_no_information(sample):
    """Also to the distances of the curve and its band, apart from the places of the knots."""
    (y, p), groups = sample, np.random.default_rng(1).integers(0, 25, 300)
    once, thrice = (
        calibration_measures(
            np.tile(y, k), np.tile(p, k), groups=np.tile(groups, k), random_state=0
        )
        for k in (1, 3)
    )
    for name in ("ici", "e50", "e90"):
        error = once[name].standard_error
        assert thrice[name].standard_error == pytest.approx(error, rel=0.02)
    one, other = (each["ici"].details["curve"] for each in (once, thrice))
    assert other.high - other.low == pytest.approx(one.high - one.low, rel=0.02)


@pytest.mark.parametrize("name", ["ici", "e50", "e90"])
def test_a_higher_level_has_a_higher_upper_limit_of_the_distance(sample, name):
    """The limit is a boundary, not one of few places that are tried."""
    highs = [
        calibration_measures(*sample, confidence_level=level, random_state=0)[name].interval.high
        for level in (0.7, 0.8, 0.9, 0.95)
    ]
    assert np.all(np.diff(highs) > 0)


@pytest.mark.parametrize("groups", [None, np.arange(500) // 2])
def test_events_far_rarer_than_predicted_exclude_a_distance_of_zero(groups):
    """Then too few events do not widen the deviations of a calibrated curve."""
    rng = np.random.default_rng(3)
    p = expit(rng.normal(-2, 1.2, 500))
    rare, calibrated = (
        calibration_measures(rng.random(500) < chance, p, groups=groups, random_state=0)
        for chance in (expit(logit(p) - 1.2), p)
    )
    assert rare["in_the_large"].interval.high < -0.5
    for name in ("ici", "e50", "e90"):
        low, high = rare[name].interval
        assert 0 < low < rare[name].value < high
        by_chance = calibrated[name].details["by_chance"]
        assert rare[name].details["by_chance"] == pytest.approx(by_chance, rel=0.25)


@pytest.mark.parametrize("seed", range(4))
def test_calibrated_probabilities_include_a_distance_of_zero(seed):
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(-2, 1.2, 400))
    measures = calibration_measures(rng.random(400) < p, p, random_state=0)
    assert all(measures[name].interval.low == 0 for name in ("ici", "e50", "e90"))


def test_the_covariance_of_the_curve_has_a_factor_for_few_events():
    """Copies have the same fit, so only the number of samples changes the width of the curve."""
    rng = np.random.default_rng(0)
    y, p = np.arange(400) < 40, expit(rng.normal(-1, 1, 400))
    curves = [
        calibration_measures(np.tile(y, k), np.tile(p, k), random_state=0)["ici"].details["curve"]
        for k in (1, 3)
    ]
    one, other = (np.mean(logit(each.high) - logit(each.low)) for each in curves)
    # 40 and 120 events, and 4 coefficients
    assert one / other == pytest.approx(np.sqrt(3 * (40 / 36) / (120 / 116)), rel=2e-3)
