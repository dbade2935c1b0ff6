"""The binomial mixed model of sites: its likelihood, exact limits, and coverage."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import sites as reference
from scipy import stats
from scipy.special import expit, logit

from skeval._inference import designs
from skeval._inference.designs import PooledRate, SiteCounts


@pytest.mark.parametrize("spread", [0.05, 0.5, 3.0])
def test_likelihood_equals_its_integral(spread):
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 60, 6).astype(float)
    errors = rng.binomial(sizes.astype(int), 0.1).astype(float) + 0.25
    counts = SiteCounts(errors, sizes)
    for mean in (-5.0, -2.0, 0.5):
        expected = reference.log_likelihood(errors, sizes, mean, spread)
        assert_allclose(counts.log_likelihood(np.array([mean]), spread), expected, rtol=1e-5)


@pytest.mark.parametrize("errors", [[0, 0, 0, 0], [0, 1, 0, 2], [3, 8, 5, 7], [10, 30, 20, 40]])
def test_equal_sites_have_the_limits_of_clopper_and_pearson(errors, monkeypatch):
    monkeypatch.setattr(designs, "PRIOR_SCALE", 1e-4)
    sizes = [10, 30, 20, 40]
    pooled = PooledRate(SiteCounts(np.array(errors, float), np.array(sizes, float)))
    expected = stats.binomtest(sum(errors), sum(sizes)).proportion_ci(method="exact")
    assert_allclose(pooled.limits(0.95), (expected.low, expected.high), rtol=2e-2, atol=1e-9)
    assert_allclose(pooled.mean, sum(errors) / sum(sizes), rtol=1e-6)


def test_the_estimate_has_the_largest_likelihood():
    errors, sizes = np.array([1.0, 9.0, 20.0, 4.0]), np.array([40.0, 50.0, 45.0, 200.0])
    pooled = PooledRate(SiteCounts(errors, sizes))

    def value(rate, spread):
        return (
            reference.log_likelihood(errors, sizes, logit(rate), spread)
            - spread**2 / 2 / designs.PRIOR_SCALE**2
        )

    best = value(pooled.mean, np.sqrt(pooled.between))
    for factor in (0.98, 1.02):
        assert value(factor * pooled.mean, np.sqrt(pooled.between)) < best
        assert value(pooled.mean, factor * np.sqrt(pooled.between)) < best


def test_correct_answers_mirror_errors():
    errors, sizes = np.array([1.0, 0.0, 5.0]), np.array([20.0, 30.0, 25.0])
    one, other = (
        PooledRate(SiteCounts(errors, sizes)),
        PooledRate(SiteCounts(sizes - errors, sizes)),
    )
    for a, b in [
        (one.limits(0.9), other.limits(0.9)),
        (one.prediction_limits(0.9), other.prediction_limits(0.9)),
    ]:
        assert_allclose(a, (1 - b[1], 1 - b[0]), rtol=1e-4, atol=1e-6)
    assert_allclose(one.standard_error, other.standard_error, rtol=1e-4)


def test_two_sites_do_not_predict_a_third():
    two = PooledRate(SiteCounts(np.array([1.0, 2.0]), np.array([20.0, 30.0])))
    assert two.prediction_limits(0.95) == (0.0, 1.0)


def count_covered(n_sites, rate, spread, n_sets, seed=0):
    """Return how often the intervals cover the median site and another one."""
    rng, covered = np.random.default_rng(seed), np.zeros(2, dtype=int)
    for _ in range(n_sets):
        sizes = np.round(5 * 100 ** rng.random(n_sites))  # 5 to 500, unequal
        rates = expit(logit(rate) + spread * rng.normal(size=n_sites + 1))
        errors = rng.binomial(sizes.astype(int), rates[:-1])
        pooled = PooledRate(SiteCounts(errors.astype(float), sizes))
        (low, high), (least, most) = pooled.limits(0.95), pooled.prediction_limits(0.95)
        covered += [low <= rate <= high, least <= rates[-1] <= most]
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
