"""Expected calibration error: the sum, its bias, and the coverage of its interval."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference.calibration import calibration_error
from scipy.special import expit, logit
from scipy.stats import binom

from skeval.metrics import expected_calibration_error, reliability_curve

MODELS = {
    "calibrated": lambda q, r: q,
    "overconfident": lambda q, r: expit(2 * logit(q) - logit(r)),
    "too low": lambda q, r: q / 2,
    "too high": lambda q, r: np.minimum(1, 1.5 * q + 0.02),
    "flat": lambda q, r: r + 0.2 * (q - r),
}


def simulate(model, rate, n, n_sets, **options):
    """Return (error, corrected, true distance, covered) of each data set."""
    rng, rows = np.random.default_rng(0), []
    for _ in range(n_sets):
        q = np.clip(rng.beta(4 * rate, 4 * (1 - rate), n), 1e-9, 1 - 1e-9)
        p = MODELS[model](q, rate)
        found = expected_calibration_error(rng.random(n) < q, p, **options)
        bins = reliability_curve(q < 0, p, **options).columns
        edges = np.column_stack([bins["above"], bins["up_to"]])
        truth = calibration_error(q, p, np.ones(n), [*edges[:, 0], edges[-1, 1]])
        covered = found.interval.low - 1e-9 <= truth <= found.interval.high
        rows.append((found.value, found.details["corrected"], truth, covered))
    return np.array(rows).T


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_error_by_the_definition(strategy):
    rng = np.random.default_rng(0)
    p, w = rng.random(40), rng.random(40)
    y = (rng.random(40) < p).astype(int)
    options = {"n_bins": 4, "strategy": strategy}
    for weight in (None, w):
        bins = reliability_curve(y, p, sample_weight=weight, **options).columns
        edges = np.column_stack([bins["above"], bins["up_to"]])
        expected = calibration_error(
            y, p, np.ones(40) if weight is None else w, [*edges[:, 0], edges[-1, 1]]
        )
        found = expected_calibration_error(y, p, sample_weight=weight, **options)
        assert_allclose(found.value, expected, rtol=1e-12)


@pytest.mark.simulated
def test_bias_is_what_it_says():
    error, corrected, truth, _ = simulate("calibrated", 0.5, 100, 40)
    rng = np.random.default_rng(1)
    p = rng.beta(2, 2, 100)
    by_chance = expected_calibration_error(p > 0.5, p).details["by_chance"]
    assert truth.max() == pytest.approx(0, abs=1e-12)
    assert error.mean() == pytest.approx(by_chance, rel=0.15)  # 40 data sets
    assert corrected.mean() < error.mean() / 2
    error, corrected, truth, _ = simulate("overconfident", 0.5, 200, 40)
    assert truth.mean() < error.mean()
    assert abs(corrected.mean() - truth.mean()) < error.mean() - truth.mean()


@pytest.mark.simulated
@pytest.mark.parametrize(
    ("model", "rate", "n"),
    [("calibrated", 0.5, 50), ("overconfident", 0.1, 200), ("too high", 0.02, 50)],
)
def test_it_covers_in_93_of_100_data_sets_at_least(model, rate, n):
    *_, covered = simulate(model, rate, n, 30)
    assert binom.cdf(covered.sum(), 30, 0.93) > 0.005
