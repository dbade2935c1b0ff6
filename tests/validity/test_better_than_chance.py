"""Noise is seldom called better than chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import skeval

FEW = {"n_bootstraps": 2, "n_permutations": 0, "random_state": 0}


def count_claims(n_sets, make, model, **few):
    """Return how many of the data sets are called better than chance, or than shuffled labels."""
    claims = 0
    for child in np.random.SeedSequence(1).spawn(n_sets):
        rng = np.random.default_rng(child)
        options = FEW | {"n_permutations": 79} | few
        told = skeval.evaluate(model, *make(rng), **options).verdict.lower()
        claims += "better than" in told
    return claims


def draw_noise(rng, n=40, share=0.5):
    return rng.normal(size=(n, 3)), (np.arange(n) < share * n).astype(int)


@pytest.mark.simulated
def test_noise_is_not_called_better_than_chance():
    few = {"cv": 3, "n_permutations": 0, "include": "holdout"}
    claims = count_claims(8, draw_noise, LinearDiscriminantAnalysis(), **few)
    assert binom.sf(claims - 1, 8, 0.05) > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share"), [(40, 0.5), (100, 0.3), (200, 0.1)])
def test_noise_is_not_called_better_than_chance_long(n, share):
    claims = count_claims(300, lambda rng: draw_noise(rng, n, share), LinearDiscriminantAnalysis())
    print(n, share, claims / 300)
    assert binom.sf(claims - 1, 300, 0.05) > 0.001
