"""Naive Bayes of counts for many training sets: scikit-learn's fits, one by one."""

import numpy as np
import pytest
from helpers.crossed import each_value
from helpers.splits import KINDS, N_FITS, N, some_splits
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from skeval._solvers.counts import count_by_class, linear_scores, score_tested

MODELS = {"multinomial": MultinomialNB, "complement": ComplementNB, "bernoulli": BernoulliNB}


@each_value
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_log_likelihoods_are_those_of_scikit_learn(model, kind, sparse):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if model == "bernoulli" else 5, size=(N, 7)).astype(float)
    labels = rng.permuted(np.tile(np.arange(N) % 3, (N_FITS, 1)), axis=1)
    splits = some_splits(kind, rng)
    samples = csr_array(X) if sparse else X
    sums, sizes = count_by_class(samples, labels, splits.weights, 3)
    slopes, offsets = linear_scores(model, sums, sizes, 0.5)
    scores, noise = score_tested(samples, slopes, offsets, splits.tested)
    assert noise.max() < 1e-12
    for fit, weights in enumerate(splits.weights):
        rows = np.flatnonzero(weights)
        estimator = MODELS[model](alpha=0.5, fit_prior=False)
        estimator.fit(X[rows], labels[fit, rows], sample_weight=weights[rows])
        expected = estimator.predict_log_proba(X[splits.tested[fit]])
        found = scores[fit] - np.log(np.exp(scores[fit]).sum(axis=1, keepdims=True))
        assert_allclose(found, expected, atol=1e-10)
