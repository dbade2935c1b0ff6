"""Do the intervals of `error_interval` cover the error of the fitted rule?

Two Gaussian classes, and linear discriminant analysis by a rule that fits many resamples at once,
whose exact error is known.
"""

import numpy as np
import pytest
from helpers.batch_rules import BatchLDA
from helpers.simulation import GaussianDesign
from scipy.stats import binom

from skeval.model_selection import error_interval

CELLS = [(n, p, d) for p in (5, 15) for d in (1.0, 2.0, 3.0) for n in (50, 100)]


def coverage(n, p, separation, n_sets, methods):
    """Return how often each interval covers the error, and its mean width."""
    design = GaussianDesign(n, p, separation)
    covered, widths = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0.0)
    for child in np.random.SeedSequence([n, p, int(10 * separation)]).spawn(n_sets):
        rng = np.random.default_rng(child)
        data = design.draw(rng)
        truth = design.true_error(data, BatchLDA().fit(data.X, data.y))
        seed = int(rng.integers(2**31))
        for name, options in methods.items():
            result = error_interval(BatchLDA(), data.X, data.y, random_state=seed, **options)
            covered[name] += truth in result.interval
            widths[name] += (result.interval.high - result.interval.low) / n_sets
    return covered, widths


SHORT = {
    "repeated_cv": {"n_repeats": 5},
    "corrected_t": {"method": "corrected_t", "n_repeats": 25},
    "conservative_z": {"method": "conservative_z", "n_repeats": 5},
    "nested_cv": {"method": "nested_cv", "n_repeats": 4},
}


def test_coverage():
    """What is recommended covers."""
    covered, _ = coverage(60, 8, 2.0, 20, SHORT)
    for name in SHORT:
        assert binom.cdf(covered[name], 20, 0.95) > 0.001, (name, covered[name])


LONG = {
    "repeated_cv": {},
    "nested_cv": {"method": "nested_cv"},
    "conservative_z": {"method": "conservative_z"},
    "corrected_t": {"method": "corrected_t"},
}


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p", "separation"), CELLS)
def test_coverage_long(n, p, separation):
    covered, widths = coverage(n, p, separation, 200, LONG)
    for name in covered:
        print(f"{n} {p} {separation} {name}: {covered[name] / 200:.3f} ({widths[name]:.3f})")
    for name in ("repeated_cv", "nested_cv"):
        assert binom.cdf(covered[name], 200, 0.95) > 0.001, name
