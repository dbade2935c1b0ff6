"""Pooled errors of sites, against R's metafor, SciPy and integrals of the likelihood."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import sites
from scipy import stats
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from skeval.model_selection import EstimatesDisplay, _pooling, cross_val_error, new_site_error

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


class Told(BaseEstimator):
    """Predicts the first feature."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


class ToldNumber(RegressorMixin, Told):
    pass


class ToldClass(ClassifierMixin, Told):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


def pool_values(values, variances):
    """Return the pooled mean of sites of two samples, whose mean losses vary this much."""
    losses = np.ravel(np.add.outer([-1, 1], np.zeros(len(values))) * np.sqrt(variances) + values)
    site = np.tile(np.arange(len(values)), 2)
    return new_site_error(ToldNumber(), losses[:, None], losses, site, loss=lambda _, told: told)


def pool_rates(errors, sizes):
    """Return the pooled rate of sites with these counts."""
    site = np.repeat(np.arange(len(sizes)), sizes)
    rank = np.concatenate([np.arange(size) for size in sizes])
    y = np.arange(len(site)) % 2
    told = np.where(rank < np.repeat(errors, sizes), 1 - y, y)
    return new_site_error(ToldClass(), told[:, None], y, site)


def log_relative_risks():
    a, b, c, d = BCG.T
    values = np.log(a / (a + b)) - np.log(c / (c + d))
    return values, 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)


def test_published_analysis_of_thirteen_trials():
    # tau^2 of Paule and Mandel, as R's metafor has it
    found = pool_values(*log_relative_risks())
    assert found.value == pytest.approx(-0.7150, abs=5e-5)
    assert found.details["between"] ** 2 == pytest.approx(0.3181, abs=5e-5)
    assert found.details["q"] == pytest.approx(152.2330, abs=5e-5)
    w = 1 / log_relative_risks()[1]
    typical = (len(w) - 1) * w.sum() / (w.sum() ** 2 - np.sum(w**2))
    between = found.details["between"] ** 2
    assert found.details["i_squared"] == pytest.approx(between / (between + typical))


def test_hartung_and_knapp_is_their_definition():
    values, variances = log_relative_risks()
    found = pool_values(values, variances)
    w = 1 / (variances + found.details["between"] ** 2)
    spread = np.sum(w * (values - found.value) ** 2) / (len(values) - 1)
    assert found.standard_error == pytest.approx(np.sqrt(spread / w.sum()))
    half = stats.t.isf(0.025, 12) * found.standard_error
    assert tuple(found.interval) == pytest.approx((found.value - half, found.value + half))


def test_the_variance_between_sites_makes_q_its_expectation():
    # Paule and Mandel (1982), or 0 if Q is smaller without it
    rng = np.random.default_rng(0)
    for _ in range(50):
        k = rng.integers(3, 20)
        variances = rng.uniform(0.01, 0.5, k)
        values = rng.normal(0, np.sqrt(variances + rng.choice([0, 0.05, 0.5])))
        between = pool_values(values, variances).details["between"] ** 2
        w = 1 / (variances + between)
        q = w @ (values - np.average(values, weights=w)) ** 2
        assert q == pytest.approx(k - 1) if between else q <= k - 1


def test_two_sites_foretell_nothing():
    two = pool_values(np.array([0.2, 0.3]), np.array([0.01, 0.02]))
    assert tuple(two.confidence_interval(method="prediction")) == (-np.inf, np.inf)
    rates = pool_rates([1, 2], [20, 30])
    assert tuple(rates.confidence_interval(method="prediction")) == (0.0, 1.0)


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
    pooled = pool_rates(np.round(40 * errors), np.full(6, 40))
    assert found.value == pytest.approx(pooled.value)
    assert tuple(found.interval) == pytest.approx(tuple(pooled.interval))
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


def test_one_imprecise_site_does_not_widen_the_prediction():
    values = np.array([0.05, 0.12, 0.18, 0.02, 0.11, 0.3])
    ends = [
        pool_values(values, np.array([0.03] * 5 + [error]) ** 2).confidence_interval(
            method="prediction"
        )
        for error in (10.0, 100.0, 1e4)
    ]
    for one in ends:
        assert tuple(one) == pytest.approx(tuple(ends[0]), abs=1e-3)


def test_few_sites_have_hartung_and_knapps_interval_of_log_odds():
    errors, sizes = np.array([12, 25, 30]), np.array([60, 60, 80])
    found = pool_rates(errors, sizes)
    y, rate = np.log((errors + 0.5) / (sizes - errors + 0.5)), errors.sum() / sizes.sum()
    v = 1 / (sizes * rate * (1 - rate))
    w = 1 / (v + pool_values(y, v).details["between"] ** 2)
    mean = w @ y / w.sum()
    half = stats.t.isf(0.025, 2) * np.sqrt(w @ (y - mean) ** 2 / 2 / w.sum())
    assert found.interval.method == "hartung_knapp"
    assert tuple(found.interval) == pytest.approx(tuple(expit([mean - half, mean + half])))
    assert found.value == pytest.approx(expit(mean))


def test_the_error_of_equal_rates_is_binomial():
    """Many equal sites are one sample. The variance between them is not known to be 0."""
    found = pool_rates([40] * 8, [200] * 8)
    assert 0.01 <= found.standard_error < 0.0125  # sqrt(0.2 * 0.8 / 1600) = 0.01
    another = found.details["sites"]["another site"]
    assert another.standard_error == pytest.approx(found.standard_error)
    # log-odds of other sites deviate by `between`, rates by p (1 - p) times it
    found = pool_rates([10, 30, 40, 60, 80, 50], [200] * 6)
    expected = found.value * (1 - found.value) * found.details["between"]
    another = found.details["sites"]["another site"]
    assert another.standard_error**2 - found.standard_error**2 == pytest.approx(expected**2)


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
        (lambda: new_site_error(LogisticRegression(), X, Y, None), "contain the site"),
        (lambda: new_site_error(LogisticRegression(), X, Y, np.arange(240)), "two samples"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_site_without_any_error_of_a_numeric_target_is_refused():
    exact = np.where(SITE == "town 0", 0.0, X[:, 0])
    with pytest.raises(ValueError, match=r"standard errors above 0.*'town 0' has 0.0"):
        new_site_error(Constant(), X, exact, SITE)


def test_squared_errors_are_pooled_on_the_log_scale():
    found = new_site_error(LinearRegression(), X[:, 1:], X[:, 0], SITE)
    squares = [(X[town == SITE, 0] - cross_val_predict_site(town)) ** 2 for town in np.unique(SITE)]
    errors = np.array([own.mean() for own in squares])
    variances = np.array([own.var(ddof=1) / len(own) for own in squares]) / errors**2
    logs = pool_values(np.log(errors), variances)
    assert found.details["scale"] == "log"
    assert found.value == pytest.approx(np.exp(logs.value))
    assert tuple(found.interval) == pytest.approx(tuple(np.exp([*logs.interval])))


def cross_val_predict_site(town):
    """Return the predictions for one site by a linear regression on all others."""
    others = town != SITE
    model = LinearRegression().fit(X[others, 1:], X[others, 0])
    return model.predict(X[~others, 1:])


class Constant(LinearRegression):
    """Predicts 0."""

    def predict(self, X):
        return np.zeros(len(X))


def test_equal_sites_do_not_differ():
    equal = pool_values(np.ones(3), np.array([0.1, 0.2, 0.3]) ** 2)
    assert equal.value == pytest.approx(1.0)
    assert equal.interval.low < 1 < equal.interval.high


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


@pytest.mark.parametrize("errors", [[0, 0, 0, 0], [0, 1, 0, 2], [3, 8, 5, 7], [10, 30, 20, 40]])
def test_equal_sites_have_the_limits_of_clopper_and_pearson(errors, monkeypatch):
    monkeypatch.setattr(_pooling, "PRIOR_SCALE", 1e-4)
    sizes = [10, 30, 20, 40]
    pooled = pool_rates(errors, sizes)
    expected = stats.binomtest(sum(errors), sum(sizes)).proportion_ci(method="exact")
    assert_allclose([*pooled.interval], (expected.low, expected.high), rtol=2e-2, atol=1e-9)
    assert_allclose(pooled.value, sum(errors) / sum(sizes), rtol=1e-6)


def test_the_estimate_has_the_largest_likelihood():
    errors, sizes = np.array([1, 9, 20, 4]), np.array([40, 50, 45, 200])
    pooled = pool_rates(errors, sizes)
    mean, between = pooled.value, pooled.details["between"]

    def value(rate, spread):
        return (
            sites.log_likelihood(errors, sizes, logit(rate), spread)
            - spread**2 / 2 / _pooling.PRIOR_SCALE**2
        )

    best = value(mean, between)
    for factor in (0.98, 1.02):
        assert value(factor * mean, between) < best
        assert value(mean, factor * between) < best


def test_another_site_has_the_average_of_the_mixed_model():
    """Over the posterior of mean and spread, with the priors that the docstring names."""
    errors, sizes = np.array([1, 9, 20, 4]), np.array([40, 50, 45, 200])
    found = pool_rates(errors, sizes)
    odds, spreads = np.linspace(-10, 4, 141), np.linspace(0.03, 6, 200)[:, None]
    likelihood = sites.log_likelihoods(errors, sizes, odds, spreads[:, 0])
    posterior = likelihood - spreads**2 / 2 / 1.5**2
    low, high = found.confidence_interval(method="prediction")
    for end, side in ((low, -1), (high, 1)):
        weight = np.exp(posterior - posterior.max()) * expit(side * odds)
        beyond = stats.norm.cdf(side * (odds - logit(end)) / spreads)
        assert np.average(beyond, weights=weight) == pytest.approx(0.025, abs=2e-4)


def test_correct_answers_mirror_errors():
    errors, sizes = np.array([1, 0, 5]), np.array([20, 30, 25])
    one, other = pool_rates(errors, sizes), pool_rates(sizes - errors, sizes)
    for method in ("binomial", "prediction"):
        low, high = other.confidence_interval(0.9, method)
        assert_allclose(
            [*one.confidence_interval(0.9, method)], (1 - high, 1 - low), rtol=1e-4, atol=1e-6
        )
    assert_allclose(one.standard_error, other.standard_error, rtol=1e-4)


def count_covered(n_sites, rate, spread, n_sets, seed=0):
    """Return how often the intervals cover the median site and another one."""
    rng, covered = np.random.default_rng(seed), np.zeros(2, dtype=int)
    for _ in range(n_sets):
        sizes = np.round(5 * 100 ** rng.random(n_sites)).astype(int)  # 5 to 500, unequal
        rates = expit(logit(rate) + spread * rng.normal(size=n_sites + 1))
        pooled = pool_rates(rng.binomial(sizes, rates[:-1]), sizes)
        another = pooled.confidence_interval(method="prediction")
        covered += [rate in pooled.interval, rates[-1] in another]
    return covered


@pytest.mark.parametrize(("n_sites", "rate", "spread"), [(20, 0.008, 0.0), (7, 0.05, 0.7)])
def test_intervals_cover_the_median_site_and_another(n_sites, rate, spread):
    covered = count_covered(n_sites, rate, spread, 15)
    assert (stats.binom.cdf(covered, 15, 0.93) > 0.001).all()


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rate", [0.004, 0.03, 0.2, 0.5])
@pytest.mark.parametrize("n_sites", [3, 7, 20, 50])
def test_coverage_of_many_kinds_of_sites(n_sites, rate, spread):
    covered = count_covered(n_sites, rate, spread, 200)
    assert (stats.binom.cdf(covered, 200, 0.93) > 0.001).all()
