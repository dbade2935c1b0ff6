"""How results print, and which intervals they offer."""

import json

import numpy as np
import pytest

from skeval._inference.proportions import exact_interval, wilson_interval
from skeval.model_selection import (
    BootstrapErrorEstimate,
    ConfidenceInterval,
    CrossValErrorEstimate,
    ErrorEstimate,
    HoldoutErrorEstimate,
    holdout_error,
)


def test_error_estimate_prints_aligned():
    estimate = ErrorEstimate("resubstitution", 0.25, 0.0684, 40, "zero_one", np.zeros(40))
    # statsmodels.stats.proportion.proportion_confint(10, 40, method="wilson")
    # (0.141870..., 0.401942...)
    assert str(estimate) == "\n".join(
        [
            "resubstitution (zero_one loss)",
            "  error           0.2500",
            "  standard error  0.0684",
            "  95 % interval   [0.1419, 0.4019] (wilson)",
            "  samples tested  40",
        ]
    )


def test_values_start_in_one_column():
    bootstrap = BootstrapErrorEstimate(
        *("bootstrap .632+", 0.2, 0.05, 40, "zero_one", np.full(7, 0.25)),
        resubstitution=0.1,
        oob=0.25,
        no_information=0.5,
        relative_overfitting=0.375,
        weight=0.73,
        n_redrawn=3,
        average="samples",
        n_failed=2,
    )
    folds = CrossValErrorEstimate(
        "cross-validation", 0.2, 0.05, 40, "squared", np.array([0.1, 0.4, np.nan]), n_failed=1
    )
    holdout = holdout_error([0, 1, 1], [0, 1, 0], priors=[0.9, 0.1])
    assert isinstance(holdout, HoldoutErrorEstimate)
    for result in (bootstrap, folds, holdout):
        title, *lines = str(result).splitlines()
        assert title == f"{result.method} ({result.loss} loss)"
        column = max(len(line[2:].split("  ")[0]) for line in lines) + 4
        assert all(line[column - 1] == " " and line[column] != " " for line in lines)
    assert "  resamples             7 (3 drawn again)" in str(bootstrap)
    assert "  relative overfitting  0.3750" in str(bootstrap)
    assert "  no information        0.5000" in str(bootstrap)
    assert "  out-of-bag            0.2500 (mean over samples)" in str(bootstrap)
    assert "  failed fits           2" in str(bootstrap)
    assert "  mean of 3 folds  0.2500" in str(folds)
    assert "  variance reduction  " in str(holdout)


def test_interval_prints_and_contains():
    interval = ConfidenceInterval(0.1, 0.2, 0.9, "wilson")
    assert str(interval) == "[0.1000, 0.2000] (90 %, wilson)"
    assert 0.1 in interval
    assert 0.2 in interval
    assert 0.21 not in interval


def test_which_intervals():
    losses = {
        "zero_one": ("wilson", "exact", "wald", "normal"),
        "squared": ("log", "normal"),
        "mine": ("normal",),
    }
    for loss, methods in losses.items():
        estimate = ErrorEstimate("cross-validation", 0.25, 0.5, 40, loss, np.zeros(40))
        assert estimate.interval_methods == methods
        normal = estimate.confidence_interval(method="normal")
        assert normal.low == (pytest.approx(0.25 - 1.959964 * 0.5) if loss == "mine" else 0)
        assert normal.high == (1 if loss == "zero_one" else pytest.approx(0.25 + 1.959964 * 0.5))
    zero_one = ErrorEstimate("cross-validation", 0.25, 0.05, 40, "zero_one", np.zeros(40))
    exact = zero_one.confidence_interval(0.9, "exact")
    assert (exact.low, exact.high) == exact_interval(10, 40, 0.9)
    default = zero_one.confidence_interval()
    assert (default.low, default.high) == wilson_interval(10, 40, 0.95)
    doubled = ErrorEstimate("bootstrap oob", 0.25, np.sqrt(0.25 * 0.75 / 20), 40, "zero_one", [])
    found = doubled.confidence_interval()
    assert (found.low, found.high) == pytest.approx(wilson_interval(5, 20, 0.95), abs=1e-12)
    squared = ErrorEstimate("cross-validation", 3.0, 1.5, 40, "squared", np.zeros(40))
    found = squared.confidence_interval()
    assert (found.low, found.high) == pytest.approx(np.exp(np.log(3) + [-0.979982, 0.979982]))


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, np.nan, "0.95", None])
def test_bad_level(level):
    with pytest.raises(ValueError, match=r"level must fulfil 0 < level < 1, got"):
        holdout_error([0, 1], [0, 1]).confidence_interval(level)


def test_bad_method():
    with pytest.raises(ValueError, match=r"method must be one of 'wilson', .*; got 'bayes'"):
        holdout_error([0, 1], [0, 1]).confidence_interval(method="bayes")
    with pytest.raises(ValueError, match=r"method must be one of .*'normal'; got 'wilson'"):
        holdout_error([0, 1], [0, 1], priors=[0.5, 0.5]).confidence_interval(method="wilson")


def test_to_dict_is_json():
    values = json.loads(json.dumps(holdout_error([0, 1], [0, 0]).to_dict()))
    assert values["error"] == 0.5
    assert values["n_samples"] == 2
