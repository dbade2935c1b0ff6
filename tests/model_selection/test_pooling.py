"""Pooled estimates of sites, against R's metafor and statsmodels."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from skeval._inference.designs import PooledRate, SiteCounts
from skeval.metrics import sensitivity_score
from skeval.model_selection import (
    Estimate,
    EstimatesDisplay,
    cross_val_error,
    metric_interval,
    new_site_error,
    pool_estimates,
)
from skeval.model_selection._pooling import count_errors, find_between, pool

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


def test_numbers_and_estimates_are_pooled_alike():
    values, variances = log_relative_risks()
    errors = np.sqrt(variances)
    given = {
        at: Estimate(name="x", value=value, standard_error=error, method="given")
        for at, (value, error) in enumerate(zip(values.tolist(), errors.tolist(), strict=True))
    }
    one, other = pool_estimates(values, errors), pool_estimates(given)
    assert (one.value, str(one.interval)) == (other.value, str(other.interval))
    assert one.value == pytest.approx(-0.7145, abs=5e-5)
    assert one.details["between"] ** 2 == pytest.approx(0.3132, abs=5e-5)


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


def test_a_share_of_1_counts_its_own_samples():
    """Sensitivity 10 of 10 among 200 samples has the weight of 10, not of 200."""
    sites = {}
    for at, (hits, positives) in enumerate([(10, 10), (80, 100), (78, 100), (9, 12)]):
        truth, called = (1 * (np.arange(200) < count) for count in (positives, hits))
        sites[at] = metric_interval(sensitivity_score, truth, called)
    counted = count_errors(sites)
    assert counted.sizes == pytest.approx([10, 100, 100, 12], rel=1e-6)
    assert counted.errors == pytest.approx([10, 80, 78, 9], rel=1e-6)
    low, high = (
        pool_estimates({name: sites[name] for name in kept}, scale="binomial").value
        for kept in ([1, 2, 3], [0, 1, 2, 3])
    )
    assert high - low < 0.03


def test_one_imprecise_site_does_not_widen_the_prediction():
    values = [0.05, 0.12, 0.18, 0.02, 0.11, 0.3]
    ends = [
        pool_estimates(values, [0.03] * 5 + [error], scale="identity").confidence_interval(
            method="prediction"
        )
        for error in (10.0, 100.0, 1e4)
    ]
    for one in ends:
        assert tuple(one) == pytest.approx((ends[0].low, ends[0].high), abs=1e-3)


RATE = metric_interval("accuracy", Y, Y)


def test_sites_have_the_names_that_they_are_given():
    values, errors = {"a": 0.1, "b": 0.3, "c": 0.2}, {"c": 0.03, "a": 0.01, "b": 0.02}
    expected = pool_estimates([0.1, 0.3, 0.2], [0.01, 0.02, 0.03])
    series = pd.Series(values), pd.Series(errors)[list(values)]
    for form in ((values, errors), (values, [0.01, 0.02, 0.03]), series):
        found = pool_estimates(*form)
        assert list(found.details["sites"]) == ["a", "b", "c", "another site"]
        assert (found.value, found.interval) == (expected.value, expected.interval)
    assert pool_estimates([RATE, RATE]).value == pool_estimates({"u": RATE, "v": RATE}).value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pool_estimates([0.1, 0.2]), "or numbers with standard_errors"),
        (lambda: pool_estimates([0.1], [0.2]), "two sites"),
        (lambda: pool_estimates([RATE, RATE], [0.1, 0.1]), "standard_errors must be None"),
        (lambda: pool_estimates([0.1, 0.2], [0.1, 0.0]), "above 0"),
        (lambda: pool_estimates([0.1, 0.2], [0.1, -0.1]), "above 0"),
        (lambda: pool_estimates({"a": 0.1, "b": 0.2}, {"a": 0.1, "c": 0.2}), "NaN"),
        (lambda: pool_estimates([0.1, -0.2], [0.1, 0.1], scale="log"), "scale='log'"),
        (lambda: pool_estimates([0.1, 0.2], [0.1, 0.1, 0.1]), "for each of the estimates"),
        (lambda: pool_estimates([0.1, 0.2], [0.1, 0.1], scale="probit"), "scale must"),
        (lambda: pool_estimates({"a": 1, "b": 2}), "Estimates of one quantity"),
        (lambda: new_site_error(LogisticRegression(), X, Y, None), "name the site"),
        (lambda: new_site_error(LogisticRegression(), X, Y, np.arange(240)), "two samples"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sites_without_a_rate_or_a_weight_are_errors_and_equal_sites_do_not_differ():
    options = {"scale": "binomial"}
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\] for scale=.binomial., got 1.2"):
        pool_estimates([1.2, 0.3], [0.1, 0.1], **options)
    equal = pool_estimates([1.0, 1.0, 1.0], [0.1, 0.2, 0.3], scale="identity")
    assert equal.value == 1.0
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
