"""Pooled estimates of sites, against R's metafor and statsmodels."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from skeval.model_selection import EstimatesDisplay, cross_val_error, new_site_error
from skeval.model_selection._pooling import (
    PooledRate,
    SiteCounts,
    count_errors,
    describe_site,
    find_between,
    pool,
    pool_sites,
)

# Trials of the BCG vaccine (Colditz et al. 1994): with and without tuberculosis, of the treated and
# of the others, as metafor has them in `dat.bcg`.
BCG = np.array(
    [
        (4, 119, 11, 128),
        (6, 300, 29, 274),
        (3, 228, 11, 209),
        (62, 13536, 248, 12619),
        (33, 5036, 47, 5761),
        (180, 1361, 372, 1079),
        (8, 2537, 10, 619),
        (505, 87886, 499, 87892),
        (29, 7470, 45, 7232),
        (17, 1699, 65, 1600),
        (186, 50448, 141, 27197),
        (5, 2493, 3, 2338),
        (27, 16886, 29, 17825),
    ],
    dtype=float,
)


def log_relative_risks():
    a, b, c, d = BCG.T
    values = np.log(a / (a + b)) - np.log(c / (c + d))
    return values, 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)


def test_published_analysis_of_thirteen_trials():
    # rma(yi, vi, data=dat) of metafor, as its documentation prints it
    found = pool(*log_relative_risks())
    assert found.mean == pytest.approx(-0.7145, abs=5e-5)
    assert found.between == pytest.approx(0.3132, abs=5e-5)
    assert found.q == pytest.approx(152.2330, abs=5e-5)
    assert 100 * found.i_squared == pytest.approx(92.22, abs=5e-3)


def test_hartung_and_knapp_is_their_definition():
    values, variances = log_relative_risks()
    found = pool(values, variances)
    w = 1 / (variances + found.between)
    spread = np.sum(w * (values - found.mean) ** 2) / (len(values) - 1)
    assert found.standard_error == pytest.approx(np.sqrt(spread / w.sum()))
    half = stats.t.isf(0.025, 12) * found.standard_error
    assert found.limits(0.95) == pytest.approx((found.mean - half, found.mean + half))


def test_the_likelihood_is_the_largest():
    # the score of the restricted likelihood is 0, or tau^2 is
    rng = np.random.default_rng(0)
    for _ in range(50):
        k = rng.integers(3, 20)
        variances = rng.uniform(0.01, 0.5, k)
        values = rng.normal(0, np.sqrt(variances + rng.choice([0, 0.05, 0.5])))
        between = find_between(values, variances)
        w = 1 / (variances + between)
        mean = np.average(values, weights=w)
        score = np.sum(w**2 * (values - mean) ** 2) - (w.sum() - np.sum(w**2) / w.sum())
        assert score == pytest.approx(0, abs=1e-3 * w.sum()) if between else score <= 1e-9


def test_two_sites_foretell_nothing():
    two = pool(np.array([0.2, 0.3]), np.array([0.01, 0.02]))
    assert two.prediction_limits(0.95) == (-np.inf, np.inf)


RNG = np.random.default_rng(0)
SITE = np.repeat([f"town {number}" for number in range(6)], 40)
X = RNG.normal(size=(240, 3))
Y = (X[:, 0] + RNG.normal(size=6).repeat(40) + RNG.normal(size=240) > 0).astype(int)


def test_sites_are_left_out_one_by_one():
    found = new_site_error(LogisticRegression(), X, Y, SITE)
    predicted = cross_val_predict(LogisticRegression(), X, Y, groups=SITE, cv=LeaveOneGroupOut())
    wrong = predicted != Y
    errors = np.array([wrong[town == SITE].mean() for town in np.unique(SITE)])
    assert found.replicates.tolist() == errors.tolist()
    pooled = PooledRate(SiteCounts(40 * errors, np.full(6, 40.0)))
    assert found.value == pytest.approx(pooled.mean)
    assert found.interval.low == pytest.approx(pooled.limits(0.95)[0])
    beyond = found.confidence_interval(method="prediction")
    assert beyond.low <= found.interval.low <= found.interval.high <= beyond.high
    assert f"[{beyond.low:.4f}, {beyond.high:.4f}]" in found.details["another_site"]
    drawn = found.plot()
    assert isinstance(drawn, EstimatesDisplay)
    assert list(drawn.names) == [*np.unique(SITE), "another site", "mean of sites"]


def test_weights_of_samples_are_those_of_their_sites():
    weight = RNG.uniform(0.5, 2, 240)
    found = new_site_error(LogisticRegression(), X, Y, SITE, sample_weight=weight)
    folds = cross_val_error(
        LogisticRegression(), X, Y, cv=LeaveOneGroupOut(), groups=SITE, sample_weight=weight
    )
    assert found.replicates == pytest.approx(folds.replicates)


def test_an_error_of_0_has_a_weight():
    found = new_site_error(
        LogisticRegression(), X, np.where(SITE == "town 0", X[:, 0] > 0, Y), SITE
    )
    assert np.isfinite(found.interval.low)


def test_no_errors_at_all_have_an_exact_upper_limit():
    """0 errors of 260 samples at 7 sites: 3.69 / 260 is Clopper and Pearson's limit."""
    sites = np.repeat(np.arange(7), [37] * 6 + [38])
    labels = np.tile([0, 1], 130)
    found = new_site_error(
        GaussianNB(), labels[:, None] * 9.0 + RNG.random((260, 1)), labels, sites
    )
    assert found.value == found.interval.low == 0
    assert 0.0141 < found.interval.high < 0.0160
    assert found.confidence_interval(method="prediction").high > found.interval.high


def test_weights_reduce_the_samples_of_a_site_without_errors():
    sites, labels = np.repeat(np.arange(5), 40), np.tile([0, 1], 100)
    features = labels[:, None] * 9.0 + RNG.random((200, 1))
    weight = np.ones(200)
    plain = new_site_error(GaussianNB(), features, labels, sites, sample_weight=weight)
    weight[::40] = 1000.0
    found = new_site_error(GaussianNB(), features, labels, sites, sample_weight=weight)
    assert found.interval.high > 10 * plain.interval.high


def test_an_error_of_1_counts_its_own_samples():
    """10 errors of 10 have the weight of 10 samples."""
    sites = {
        at: describe_site("error rate", hits / n, 0.0, 0.95, n, n)
        for at, (hits, n) in enumerate([(10, 10), (80, 100), (78, 100), (9, 12)])
    }
    counted = count_errors(sites)
    assert counted.sizes == pytest.approx([10, 100, 100, 12], rel=1e-6)
    assert counted.errors == pytest.approx([10, 80, 78, 9], rel=1e-6)


def test_one_imprecise_site_does_not_widen_the_prediction():
    values = np.array([0.05, 0.12, 0.18, 0.02, 0.11, 0.3])
    ends = [
        pool(values, np.array([0.03] * 5 + [error]) ** 2).prediction_limits(0.95)
        for error in (10.0, 100.0, 1e4)
    ]
    for one in ends:
        assert one == pytest.approx(ends[0], abs=1e-3)


def pool_rates(errors, sizes):
    """Return the pooled rate of sites with these counts."""
    sites = {
        at: describe_site("error rate", x / n, 0.0, 0.95, n, n)
        for at, (x, n) in enumerate(zip(errors, sizes, strict=True))
    }
    return pool_sites(sites, "binomial", 0.95, (0.0, 1.0), 0)


def test_few_sites_have_hartung_and_knapps_interval_of_log_odds():
    errors, sizes = np.array([12, 25, 30]), np.array([60, 60, 80])
    found = pool_rates(errors, sizes)
    y, rate = np.log((errors + 0.5) / (sizes - errors + 0.5)), errors.sum() / sizes.sum()
    v = 1 / (sizes * rate * (1 - rate))
    w = 1 / (v + find_between(y, v))
    mean = w @ y / w.sum()
    half = stats.t.isf(0.025, 2) * np.sqrt(w @ (y - mean) ** 2 / 2 / w.sum())
    assert found.interval.method == "hartung_knapp"
    assert tuple(found.interval) == pytest.approx(tuple(expit([mean - half, mean + half])))
    assert found.value == pytest.approx(expit(mean))


def test_another_site_has_the_average_of_its_distributions():
    """Over draws of the variance between sites: Q of equally large sites is chi-squared."""
    errors = np.array([12, 25, 30, 18])
    found = pool_rates(errors, np.full(4, 80))
    y = np.log((errors + 0.5) / (80 - errors + 0.5))
    v = 1 / (80 * errors.mean() / 80 * (1 - errors.mean() / 80))
    chi2 = np.random.default_rng(0).chisquare(3, 200_000)
    between = np.maximum(0, np.sum((y - y.mean()) ** 2) / chi2 - v)
    law = stats.t(3, y.mean(), np.sqrt(between + (v + between) / 4))
    for level in (0.8, 0.95):
        low, high = found.confidence_interval(level, method="prediction")
        assert law.cdf(logit(low)).mean() == pytest.approx((1 - level) / 2, abs=2e-3)
        assert law.sf(logit(high)).mean() == pytest.approx((1 - level) / 2, abs=2e-3)


def test_few_sites_that_agree_have_at_least_the_normal_interval():
    found = pool_rates([20, 20, 20], [100, 100, 100])
    y, error = np.log(20.5 / 80.5), np.sqrt(1 / (300 * 0.2 * 0.8))
    normal = expit(y + stats.norm.isf(0.025) * error * np.array([-1, 1]))
    assert tuple(found.interval) == pytest.approx(tuple(normal))


@pytest.mark.parametrize(
    ("errors", "sizes"), [([4, 6], [40, 40]), ([1, 3, 2], [40, 50, 60]), ([9] * 6, [40] * 6)]
)
def test_few_errors_and_other_numbers_of_sites_have_the_mixed_model(errors, sizes):
    assert pool_rates(errors, sizes).interval.method == "binomial"


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
def test_few_sites_cover(spread):
    """Sites of 40 to 160 samples: coverage, and the width without variation between sites."""
    rng, covered, widths = np.random.default_rng(0), 0, []
    for _ in range(150):
        sizes = np.round(40 * 4 ** rng.random(3)).astype(int)
        errors = rng.binomial(sizes, expit(logit(0.3) + spread * rng.normal(size=3)))
        low, high = pool_rates(errors, sizes).interval
        covered += low <= 0.3 <= high
        pooled = stats.binomtest(int(errors.sum()), int(sizes.sum())).proportion_ci(method="wilson")
        widths.append((high - low) / (pooled.high - pooled.low))
    assert stats.binom.cdf(covered, 150, 0.94) > 0.001
    if spread == 0:
        assert np.median(widths) < 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: new_site_error(LogisticRegression(), X, Y, SITE, scale="probit"), "scale must"),
        (lambda: new_site_error(LogisticRegression(), X, Y, None), "name the site"),
        (lambda: new_site_error(LogisticRegression(), X, Y, np.arange(240)), "two samples"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_scale_that_the_errors_do_not_have_is_refused():
    number = X[:, 0] * 9
    with pytest.raises(ValueError, match=r"scale must not be .binomial. for errors outside"):
        new_site_error(LinearRegression(), X[:, 1:], number, SITE, scale="binomial")
    exact = X[:, 0] + (SITE == "town 0")
    with pytest.raises(ValueError, match=r"scale must not be .log. for errors of 0"):
        new_site_error(Constant(), X, np.where(SITE == "town 0", 0.0, exact), SITE, scale="log")


class Constant(LinearRegression):
    """Predicts 0."""

    def predict(self, X):
        return np.zeros(len(X))


def test_equal_sites_do_not_differ():
    equal = pool(np.ones(3), np.array([0.1, 0.2, 0.3]) ** 2)
    assert equal.mean == 1.0
    low, high = equal.limits(0.95)
    assert low < 1 < high


def test_a_site_whose_fit_fails_is_left_out_with_a_warning():
    rng = np.random.default_rng(0)
    site = np.repeat(np.arange(4), 20)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    X[site == 0, 0] += 100

    class FailsOnLarge(LogisticRegression):
        def fit(self, X, y):
            if np.count_nonzero(X[:, 0] > 50) == 0:  # the training set lacks site 0
                raise ValueError("too small")
            return super().fit(X, y)

    with pytest.warns(FitFailedWarning, match="1 of 4 fits failed"):
        result = new_site_error(FailsOnLarge(), X, y, site, error_score=np.nan)
    assert (result.extra.n_failed, len(result.replicates)) == (1, 3)
