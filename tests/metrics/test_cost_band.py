"""The band of a cost curve covers the curve of the population."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom, norm

from skeval.metrics import cost_curve_band


def population(separation, x, cuts=None):
    """Return the lowest cost over every threshold of two normal scores, or of their classes."""
    cuts = np.linspace(-8, 8 + separation, 100_001) if cuts is None else cuts
    cuts = np.concatenate([[-np.inf], cuts, [np.inf]])
    costs = norm.sf(cuts) * (1 - x[:, None]) + norm.cdf(cuts, separation) * x[:, None]
    return costs.min(axis=1)


def covered(n, separation, n_sets, n_resamples, n_points, seed=0, cuts=None):
    """Return in how many data sets the band holds the true cost, at each x inside (0, 1)."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], n)
    x = np.linspace(0, 1, n_points)[1:-1]
    truth = population(separation, x, cuts)
    hits = np.zeros(len(x), dtype=int)
    for _ in range(n_sets):
        score = rng.normal(size=2 * n) + separation * y
        score = score if cuts is None else np.digitize(score, cuts)
        band = cost_curve_band(
            y, score, n_resamples=n_resamples, n_points=n_points, random_state=rng
        )
        hits += (band.low[1:-1] <= truth) & (truth <= band.high[1:-1])
    return hits


@pytest.mark.simulated
@pytest.mark.parametrize(("n", "separation"), [(30, 1), (100, 2)])
def test_it_covers_in_93_of_100_data_sets_at_least(n, separation):
    hits = covered(n, separation, n_sets=25, n_resamples=50, n_points=6)
    assert binom.cdf(hits, 25, 0.93).min() > 0.005


def test_groups_widen_the_band_of_a_difference():
    """With copies of independent samples as groups, more copies do not narrow the band."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    scores = [y + rng.normal(size=60) for _ in range(2)]
    copies, group = np.repeat(np.arange(60), 5), np.repeat(np.arange(60), 5)
    options = {"n_points": 5, "n_resamples": 150, "random_state": 0}
    one, other = (score[copies] for score in scores)
    grouped = cost_curve_band(y[copies], one, baseline=other, groups=group, **options)
    ignored = cost_curve_band(y[copies], one, baseline=other, **options)
    single = cost_curve_band(y, scores[0], baseline=scores[1], **options)
    assert_allclose(grouped.y, single.y)
    widths = [(band.high - band.low)[1:-1].sum() for band in (grouped, ignored, single)]
    assert 0.8 < widths[0] / widths[2] < 1.5
    assert widths[1] < 0.7 * widths[2]


def test_resamples_of_groups_have_both_classes():
    """Half of the resamples of two groups with one class each lack a class; others are drawn."""
    y, score, group = np.repeat([0, 1], 5), np.arange(10.0), np.repeat([0, 1], 5)
    band = cost_curve_band(y, score, groups=group, n_resamples=20, n_points=3, random_state=0)
    assert np.isfinite(band.extra.replicates).all()
