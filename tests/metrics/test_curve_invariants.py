"""Invariants of every curve with limits: order, names, scales, weights, groups, level, seeds."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skeval.metrics import cost_curve_band, net_benefit, precision_recall_curve_band, roc_curve_band

SIMULATED = {"n_resamples": 30, "n_points": 21, "random_state": 5}
CURVES = {
    "roc": partial(roc_curve_band, **SIMULATED),
    "precision_recall": partial(precision_recall_curve_band, **SIMULATED),
    "cost": partial(cost_curve_band, **SIMULATED),
    "net_benefit": partial(net_benefit, thresholds=[0.1, 0.3, 0.6]),
}
DIFFERENCES = {name: CURVES[name] for name in ("cost", "net_benefit")}
EACH = [(name, False) for name in CURVES] + [(name, True) for name in DIFFERENCES]
each_curve = pytest.mark.parametrize(("name", "difference"), EACH)


def problem(n=60):
    """Return classes and the probabilities of two models, with ties."""
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 3 == 0).astype(int)
    odds = [np.rint(5 * (2 * y - 1 + 2 * rng.normal(size=n))) for _ in range(2)]
    return y, *(1 / (1 + np.exp(-values / 5)) for values in odds)


def ends(name, difference, y, p, other, **options):
    """Return the curve with its pointwise limits and its band."""
    baseline = {"baseline": other} if difference else {}
    curve = CURVES[name](y, p, **baseline, **options)
    return np.array([curve.y, curve.low, curve.high, *(curve.band or ())])


@each_curve
def test_order_names_and_the_unit_of_weights_change_nothing(name, difference):
    y, p, other = problem()
    weight = np.random.default_rng(1).random(60) + 0.1
    expected = ends(name, difference, y, p, other, sample_weight=weight)
    # resamples of the cost curve follow the order of the samples
    order = np.arange(60) if name == "cost" else np.random.default_rng(2).permutation(60)
    named = np.array(["well", "ill"])[y[order]]
    options = {"pos_label": "ill", "sample_weight": 1e100 * weight[order]}
    changed = ends(name, difference, named, p[order], other[order], **options)
    assert_allclose(changed, expected, atol=1e-5)


@pytest.mark.parametrize("name", ["roc", "precision_recall", "cost"])
@pytest.mark.parametrize("change", [np.exp, np.arctan, lambda s: 1e6 * s - 3])
def test_increasing_functions_of_the_score_change_nothing(name, change):
    y, p, _ = problem()
    found = ends(name, False, y, change(p), None)
    assert_allclose(found, ends(name, False, y, p, None), rtol=0, atol=1e-12)


@each_curve
def test_samples_without_weight_are_absent_and_equal_weights_are_none(name, difference):
    y, p, other = problem()
    plain = ends(name, difference, y, p, other)
    assert_allclose(ends(name, difference, y, p, other, sample_weight=np.full(60, 7)), plain)
    seen = np.arange(60) % 4 > 0
    absent = ends(name, difference, y, p, other, sample_weight=seen)
    expected = ends(name, difference, y[seen], p[seen], other[seen])
    assert_allclose(absent, expected, atol=1e-5)


@each_curve
def test_limits_enclose_the_curve_and_widen_with_the_level(name, difference):
    y, p, other = problem()
    narrow, wide = (
        ends(name, difference, y, p, other, confidence_level=level) for level in (0.8, 0.99)
    )
    for value, low, high, *band in (narrow, wide):
        if not (difference and name == "cost"):  # quantiles of differences may exclude it
            assert (low <= value + 1e-12).all()
            assert (value <= high + 1e-12).all()
        assert not band or ((band[0] <= low).all() and (high <= band[1]).all())
    assert (wide[1] <= narrow[1]).all()
    assert (narrow[2] <= wide[2]).all()


@pytest.mark.parametrize("name", CURVES)
def test_perfect_predictions_leave_a_width(name):
    y = np.repeat([0, 1], [30, 10])
    _, low, high, *_ = ends(name, False, y, y.astype(float), None)
    assert (high - low)[1:-1].min() > 0.02


@pytest.mark.parametrize("name", ["roc", "precision_recall", "net_benefit"])
def test_copies_in_a_group_count_once(name):
    y, p, _ = problem(240)
    alone = ends(name, False, y, p, None, groups=np.arange(240))
    copies = (np.repeat(values, 3) for values in (y, p, np.arange(240)))
    y_copied, p_copied, groups = copies
    grouped = ends(name, False, y_copied, p_copied, None, groups=groups)
    assert_allclose(grouped[:3], alone[:3], atol=0.01)
    names = np.array([f"patient {i}" for i in groups])
    assert_allclose(ends(name, False, y_copied, p_copied, None, groups=names), grouped)
    free = ends(name, False, y_copied, p_copied, None)
    assert np.mean(free[2] - free[1]) < np.mean(grouped[2] - grouped[1])


@pytest.mark.parametrize("name", ["roc", "precision_recall", "cost"])
def test_seeds(name):
    y, p, _ = problem()

    def run(seed, n_resamples=6):
        curve = CURVES[name](y, p, n_resamples=n_resamples, random_state=seed)
        return curve.extra.replicates if name == "cost" else curve.extra.distances

    assert_array_equal(run(1), run(1))
    assert_array_equal(run(1), run(1, 9)[:6])
    assert np.abs(run(1) - run(2)).max() > 0
    assert np.abs(run(None) - run(None)).max() > 0
