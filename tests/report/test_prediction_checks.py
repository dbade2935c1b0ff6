"""Warnings about existing predictions: repeated rounds of the same samples."""

import numpy as np
import pytest

import skeval

SHARED = {"random_state": 0}


def evaluate(*args, **kwargs):
    return skeval.evaluate_predictions(*args, **SHARED, **kwargs)


@pytest.mark.parametrize("kind", ["probabilities", "labels", "numbers"])
def test_rounds_of_predictions_of_the_same_samples_are_not_independent(kind):
    rng = np.random.default_rng(0)
    truth = np.tile(rng.normal(size=40) if kind == "numbers" else rng.integers(0, 2, 40), 5)
    score = truth + np.tile(rng.normal(size=40), 5) + 0.2 * rng.normal(size=200)
    unrelated = truth + rng.normal(size=200)
    if kind != "numbers":
        score, unrelated = (1 / (1 + np.exp(-each)) for each in (score, unrelated))
    if kind == "labels":
        score, unrelated = (np.round(each).astype(int) for each in (score, unrelated))
    (warning,) = evaluate(truth, score, kind=kind).warnings
    assert warning.code == "repeated"
    assert "5 predictions for each of 40 samples" in warning
    assert list(evaluate(truth, unrelated, kind=kind).warnings) == []
    assert list(evaluate(truth, score, kind=kind, groups=np.tile(np.arange(40), 5)).warnings) == []


def test_regular_designs_are_not_repeated_predictions():
    """Alternating labels repeat after any even number of rows, independent errors do not."""
    rng = np.random.default_rng(0)
    found = [evaluate(np.tile([0, 1, 1, 0], 30), rng.random(120)).warnings for _ in range(8)]
    assert not any(warning.code == "repeated" for warnings in found for warning in warnings)
