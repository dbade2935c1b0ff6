"""Posteriors of the next data set against a reference, published numbers and quadrature."""

import numpy as np
from helpers.published_scores import bayes_and_trees
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import over_datasets as reference

from skeval._inference import posteriors
from skeval._inference.paired import corrected_t, correlated_t_probabilities
from skeval._inference.posteriors import (
    dirichlet_weights,
    hierarchical_draws,
    largest_fractions,
    signed_rank_draws,
)

SOME = settings(max_examples=30, deadline=None, derandomize=True, database=None)


@SOME
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=5), st.integers(0, 2))
def test_bayesian_signed_rank_draws(differences, rope):
    weights = dirichlet_weights(len(differences), 3, np.random.default_rng(0))
    found = signed_rank_draws(np.array(differences) / 10, rope / 10, weights)
    for draw, weight in zip(found, weights, strict=True):
        assert_allclose(draw, reference.signed_rank_draw(differences, rope, weight), atol=1e-12)


def test_posteriors_equal_the_documentation_of_baycomp():
    """Its pages "Shortcut functions" and "Classes with tests", naive Bayes against J48.

    Theirs are draws, too: 50,000 of the signed-rank test; 40,000 dependent ones of Stan.
    """
    means, folds = bayes_and_trees()
    differences = (means["nbc"] - means["j48"]).to_numpy()
    rng = np.random.default_rng(0)
    found = signed_rank_draws(differences, 1.0, dirichlet_weights(54, 20_000, rng))
    assert_allclose(largest_fractions(found), [0.23014, 0.00674, 0.76312], atol=0.01)
    found = hierarchical_draws(list(folds[:, 0] - folds[:, 1]), 1.0, 0.1, rng)
    assert_allclose(largest_fractions(found), [0.0795, 0.0365, 0.884], atol=0.015)
    sonar = np.flatnonzero(means.index == "sonar")[0]
    d = folds[sonar, 0] - folds[sonar, 1]
    error = corrected_t(d, 1 / 9).standard_error
    expected = [0.28584464173791002, 0.2691518716880249, 0.44500348657406508]
    assert_allclose(correlated_t_probabilities(d.mean(), error, 10, 0.5), expected, rtol=1e-9)


def test_hierarchical_sampler_equals_quadrature(monkeypatch):
    monkeypatch.setattr(posteriors, "MAX_PRIOR_SCALE", 3.0)
    monkeypatch.setattr(posteriors, "N_KEPT", 400)
    rng = np.random.default_rng(3)
    differences = [rng.normal(mean, 0.05, 5) for mean in (0.0, 0.03, 0.06)]
    expected = reference.mean_hierarchical(differences, 0.02, 0.2, 3.0)
    found = hierarchical_draws(differences, 0.02, 0.2, rng).mean(axis=0)
    assert_allclose(found, expected, atol=0.01)


def test_equal_differences_leave_the_sampler_alone():
    differences = [np.full(5, 0.03), np.random.default_rng(0).normal(0.03, 0.02, 5)]
    draws = hierarchical_draws(differences, 0.01, 0.2, np.random.default_rng(0))
    assert_allclose(draws.sum(axis=1), 1.0, atol=1e-9)
    assert draws.mean(axis=0).argmax() == 0
