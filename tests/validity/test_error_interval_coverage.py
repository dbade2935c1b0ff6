"""Do the intervals of the bootstrap and of perturbation cover the error of the fitted rule?

Easy classes decide: where few errors are seen, or none, an interval made of a standard error alone
is too short or a point.
"""

import numpy as np
import pytest
from helpers.batch_rules import BatchLDA, lda_rule, register
from helpers.simulation import GaussianDesign
from scipy.stats import binom

from skeval._inference.intervals import normal_interval
from skeval._resampling.inputs import validate_inputs
from skeval.model_selection import perturbation_interval
from skeval.model_selection._bootstrap import estimate_bootstraps
from skeval.utils._checks import root_seed

PERTURBED = ("cross_validation", "resubstitution")
CELLS = [(n, p, d) for p in (4, 15) for d in (4.0, 2.5, 1.2) for n in (40, 100)]


class WeightedLDA(BatchLDA):
    """Takes the weights that its rule for many fits at once needs."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


register(WeightedLDA, lda_rule)


def coverage(n, p, separation, n_sets, n_bootstraps, n_resamples, statistics=PERTURBED):
    """Return how often each interval, and the normal one, covers the error; and mean widths."""
    design, covered, widths = GaussianDesign(n, p, separation), {}, {}
    for child in np.random.SeedSequence([n, p, int(10 * separation)]).spawn(n_sets):
        rng = np.random.default_rng(child)
        data = design.draw(rng)
        while np.bincount(data.y).min() < 10:
            data = design.draw(rng)
        seed = int(rng.integers(2**31))
        X, y = data.X, data.y
        truth = design.true_error(data, WeightedLDA().fit(X, y))
        inputs = validate_inputs(WeightedLDA(), X, y)
        found = dict(estimate_bootstraps(inputs, root_seed(seed), n_resamples=n_bootstraps))
        for name in statistics:
            found[name] = perturbation_interval(
                WeightedLDA(), X, y, n_resamples=n_resamples, statistic=name, random_state=seed
            )
        for name, estimate in found.items():
            interval = estimate.confidence_interval()
            normal = normal_interval(estimate.value, estimate.standard_error, 0.95, (0, 1))
            for key, (low, high) in {
                name: (interval.low, interval.high),
                f"{name} normal": normal,
            }.items():
                covered[key] = covered.get(key, 0) + (low <= truth <= high)
                widths[key] = widths.get(key, 0.0) + (high - low) / n_sets
    return covered, widths


@pytest.mark.filterwarnings("ignore:the resubstitution error:UserWarning")
def test_easy_classes():
    """40 samples of classes four standard deviations apart, true error .03."""
    covered, _ = coverage(40, 4, 4.0, 60, 60, 40)
    for name in ("oob", ".632", ".632+", *PERTURBED):
        assert binom.cdf(covered[name], 60, 0.95) > 0.001, (name, covered[name])
    for name in (".632", ".632+", "resubstitution"):
        assert binom.cdf(covered[f"{name} normal"], 60, 0.95) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("n", "p", "separation"), CELLS)
@pytest.mark.filterwarnings("ignore:the resubstitution error:UserWarning")
def test_coverage_long(n, p, separation):
    covered, widths = coverage(n, p, separation, 300, 200, 100)
    for name in covered:
        print(f"{n} {p} {separation} {name}: {covered[name] / 300:.3f} ({widths[name]:.2f})")
    if n < 5 * p:  # .632+ is too large there by more than its interval, the docstring says
        return
    for name in (".632", ".632+", "cross_validation"):
        assert binom.cdf(covered[name], 300, 0.95) > 0.001, name
