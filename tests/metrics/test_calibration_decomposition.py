"""Parts of proper scores: they add up, and are those of Murphy, Stephenson and CORP."""

import numpy as np
import pytest
from helpers.crossed import each_value
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import calibration as reference
from sklearn.metrics import brier_score_loss, log_loss

from skeval.metrics import reliability_curve, score_decomposition


def draw(n=60, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.integers(1, 20, n) / 20
    return (rng.random(n) < p).astype(int), p, rng.random(n) + 0.1


def add_up(parts):
    return (
        parts["miscalibration"]
        - parts["discrimination"]
        + parts["uncertainty"]
        + parts["within_bins"]
    )


@each_value
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["corp", "murphy"])
def test_score_is_that_of_scikit_learn(method, weighted):
    y, p, w = draw()
    weight = w if weighted else None
    options = {"method": method, "sample_weight": weight}
    brier, log = (score_decomposition(y, p, loss=loss, **options) for loss in ("brier", "log_loss"))
    assert_allclose(brier["score"], brier_score_loss(y, p, sample_weight=weight), rtol=1e-12)
    assert_allclose(log["score"], log_loss(y, p, sample_weight=weight), rtol=1e-12)
    for parts in (brier, log):
        assert_allclose(add_up(parts), parts["score"], rtol=1e-12)


def test_probabilities_of_0_and_1_are_scored_as_scikit_learn_does():
    y, p = [0, 1, 1, 0], [0.0, 1.0, 0.0, 0.5]
    assert_allclose(score_decomposition(y, p, loss="log_loss")["score"], log_loss(y, p), rtol=1e-12)


@each_value
@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
@pytest.mark.parametrize("weighted", [False, True])
def test_murphy_with_the_terms_within_bins(strategy, weighted):
    y, p, w = draw()
    weight = w if weighted else np.ones(60)
    options = {"n_bins": 4, "strategy": strategy, "sample_weight": weight}
    bins = reliability_curve(y, p, **options).columns
    reliability, resolution, uncertainty, variance, covariance = reference.murphy(
        y, p, weight, [*bins["above"], bins["up_to"][-1]]
    )
    parts = score_decomposition(y, p, method="murphy", **options)
    assert_allclose(parts["miscalibration"], reliability, rtol=1e-10)
    assert_allclose(parts["discrimination"], resolution, rtol=1e-10)
    assert_allclose(parts["uncertainty"], uncertainty, rtol=1e-10)
    assert_allclose(parts["within_bins"], variance - covariance, rtol=1e-9, atol=1e-13)
    assert abs(parts["within_bins"]) > 1e-6


def test_bins_of_one_probability_hide_nothing():
    y, p = [0, 0, 0, 1, 1, 1, 0, 1], [0.1] * 4 + [0.8] * 4
    parts = score_decomposition(y, p, method="murphy", strategy="uniform")
    assert_allclose(
        [
            parts["miscalibration"],
            parts["discrimination"],
            parts["uncertainty"],
            parts["within_bins"],
        ],
        [(0.15**2 + 0.05**2) / 2, 0.25**2, 0.25, 0],
        atol=1e-15,
    )
    corp = score_decomposition(y, p)
    assert_allclose(corp["miscalibration"], parts["miscalibration"])
    assert_allclose(corp["discrimination"], parts["discrimination"])
    assert corp["n_bins"] == parts["n_bins"] == 2


@each_value
@pytest.mark.parametrize("loss", ["brier", "log_loss"])
@pytest.mark.parametrize("seed", range(4))
def test_corp_by_pooling_violators(loss, seed):
    y, p, w = draw(30, seed)
    w = w if seed % 2 else np.ones(30)
    parts = score_decomposition(y, p, loss=loss, sample_weight=w)
    expected = reference.corp(y.tolist(), p.tolist(), w.tolist(), loss)
    found = parts["miscalibration"], parts["discrimination"], parts["uncertainty"]
    assert_allclose(found, expected, atol=1e-12)


def test_corp_by_hand():
    """The middle two change places: pooled to 1/2."""
    parts = score_decomposition([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8])
    assert_allclose(parts["score"], (0.01 + 0.49 + 0.36 + 0.04) / 4)
    assert_allclose(parts["miscalibration"], parts["score"] - 0.125)
    assert_allclose([parts["discrimination"], parts["uncertainty"]], [0.125, 0.25])


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=1, max_size=12))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_parts_of_corp_are_never_negative(samples):
    y, p = np.array([a for a, _ in samples]), np.array([b for _, b in samples]) / 8
    for loss in ("brier", "log_loss"):
        parts = score_decomposition(y, p, loss=loss)
        assert min(parts["miscalibration"], parts["discrimination"], parts["uncertainty"]) >= -1e-12
        assert add_up(parts) == pytest.approx(parts["score"])
        assert parts["within_bins"] == 0


def test_what_recalibration_and_constants_have():
    y, p, w = draw()
    recalibrated = reference.pool_violators(y, p, w)
    assert score_decomposition(y, recalibrated, sample_weight=w)["miscalibration"] == pytest.approx(
        0
    )
    constant = score_decomposition(y, np.full(60, 0.3))
    assert constant["discrimination"] == pytest.approx(0)
    assert constant["miscalibration"] == pytest.approx((y.mean() - 0.3) ** 2)


def test_several_classes_and_text():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 50)
    y = np.array(list("abc"))[rng.integers(0, 3, 50)]
    of_b = score_decomposition(y, p, pos_label="b")
    assert of_b == score_decomposition(y == "b", p[:, 1])
    assert str(of_b).splitlines()[0] == f"score           {of_b['score']:.4f}"
    assert of_b.to_dict() == dict(of_b)
