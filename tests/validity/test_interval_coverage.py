"""Do the intervals of the hold-out error cover as often as they say?"""

import numpy as np
import pytest
from helpers.crossed import each_value
from scipy.stats import binom, binomtest

from skeval._inference.intervals import (
    PROPORTION_INTERVALS,
    normal_interval,
    stratified_wilson_interval,
)
from skeval.model_selection import holdout_error


def coverage_by_simulation(draw, truth, n_sets, priors=None):
    covered = 0
    for _ in range(n_sets):
        y_true, y_pred = draw()
        covered += truth in holdout_error(y_true, y_pred, priors=priors).confidence_interval()
    return binomtest(covered, n_sets, 0.95)


@pytest.mark.parametrize(("n", "error"), [(60, 0.2), (150, 0.1)])
def test_wilson(n, error):
    rng = np.random.default_rng(n)
    test = coverage_by_simulation(lambda: (np.zeros(n), rng.random(n) < error), error, 400)
    assert test.pvalue > 1e-3, test.statistic


def test_stratified_wilson():
    rng = np.random.default_rng(0)
    y_true = np.repeat([0, 1], [40, 60])
    rates, priors = np.array([0.1, 0.25]), np.array([0.7, 0.3])

    def draw():
        return y_true, np.where(rng.random(100) < rates[y_true], 2, y_true)

    test = coverage_by_simulation(draw, priors @ rates, 400, priors)
    assert test.pvalue > 1e-3, test.statistic


@pytest.mark.parametrize("n", [20, 50, 200])
def test_exact_coverage_of_the_proportion_intervals(n):
    """Summed over all outcomes: Clopper-Pearson never below, Wilson near on average, Wald below."""
    errors, wrong = np.linspace(0.02, 0.5, 97), np.arange(n + 1)
    coverage = {}
    for method, interval in PROPORTION_INTERVALS.items():
        low, high = np.array([interval(k, n, 0.95) for k in wrong]).T
        covers = (low[:, None] <= errors) & (errors <= high[:, None])
        coverage[method] = np.sum(binom.pmf(wrong[:, None], n, errors) * covers, axis=0)
    assert coverage["exact"].min() >= 0.95
    assert abs(coverage["wilson"].mean() - 0.95) < 0.01
    assert coverage["wilson"].min() > 0.83
    assert abs(coverage["jeffreys"].mean() - 0.95) < 0.015
    assert coverage["agresti_coull"].min() > 0.91
    assert coverage["wald"].mean() < coverage["wilson"].mean() - 0.005


@each_value
@pytest.mark.parametrize("sizes", [(30, 30), (100, 20)])
@pytest.mark.parametrize("rates", [(0.02, 0.02), (0.05, 0.2), (0.3, 0.2)])
@pytest.mark.parametrize("prior", [0.5, 0.9])
def test_exact_coverage_with_priors(sizes, rates, prior):
    """Why stratified Wilson is the default: the normal interval may cover 47 %."""
    sizes, rates, priors = np.array(sizes), np.array(rates), np.array([prior, 1 - prior])
    stratified = normal = 0.0
    for first in range(sizes[0] + 1):
        for second in range(sizes[1] + 1):
            wrong = np.array([first, second])
            probability = np.prod(binom.pmf(wrong, sizes, rates))
            if probability < 1e-7:
                continue
            low, high = stratified_wilson_interval(wrong, sizes, priors, 0.95)
            stratified += probability * (low <= priors @ rates <= high)
            observed = wrong / sizes
            error = np.sqrt(np.sum(priors**2 * observed * (1 - observed) / sizes))
            low, high = normal_interval(priors @ observed, error, 0.95, (0, 1))
            normal += probability * (low <= priors @ rates <= high)
    assert 0.935 < stratified < 0.975
    assert normal < 0.947
