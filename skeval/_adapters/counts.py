"""Naive Bayes classifiers of counts: multinomial, complement and Bernoulli."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import softmax
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import binarize

from skeval._adapters.label_free import label_free_adapter
from skeval._adapters.registry import Adapter, adapter_for
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.target import Target
from skeval._solvers import counts
from skeval._solvers.moments import log_priors, settle
from skeval._solvers.smoothers import EPSILON, decide
from skeval._solvers.splits import Splits

KINDS = {MultinomialNB: "multinomial", ComplementNB: "complement", BernoulliNB: "bernoulli"}

MIN_ALPHA = 1e-10
"""Smallest value of alpha that scikit-learn accepts without a warning."""


MAX_SLOPES = 2**14
"""Maximum number of features times classes: logarithms take most of the time beyond."""


@adapter_for.register(MultinomialNB)
@adapter_for.register(ComplementNB)
@adapter_for.register(BernoulliNB)
def counts_adapter(estimator: Any, X: Any, target: Target, transformers: tuple) -> Adapter | None:
    """Return the adapter of a naive Bayes classifier of counts."""
    alpha, norm = estimator.alpha, getattr(estimator, "norm", False)
    supported = type(estimator) in KINDS and isinstance(alpha, Real) and float(alpha) >= MIN_ALPHA
    if not supported or norm or target.n_classes < 2:
        return None
    return label_free_adapter(None, make_counts_deletion, estimator, X, target, transformers)


def make_counts_deletion(
    estimator: Any, X: Any, target: Target, transformers: tuple
) -> CountsDeletion | None:
    """Return a solver that fits a classifier to arbitrary training sets, or None if unsupported."""
    samples = csr_array(X) if issparse(X) else np.asarray(X)
    many = samples.ndim != 2 or samples.shape[1] * target.n_classes > MAX_SLOPES
    if transformers or many or samples.dtype.kind not in "iufb":
        return None
    if type(estimator) is BernoulliNB and estimator.binarize is not None:
        samples = binarize(samples, threshold=estimator.binarize)
    values = np.asarray(samples.data if issparse(samples) else samples)
    if not (np.isfinite(values).all() and values.min(initial=0) >= 0):
        return None
    return CountsDeletion(samples.astype(float), estimator, target.n_classes)


class CountsDeletion:
    """Fits to arbitrary training sets, computed from the counts of the classes."""

    def __init__(self, samples: Any, estimator: Any, n_classes: int) -> None:
        self.samples, self.n_classes = samples, n_classes
        self.kind, self.alpha = KINDS[type(estimator)], float(estimator.alpha)
        priors = estimator.class_prior
        if priors is None and not estimator.fit_prior:
            priors = np.full(n_classes, 1 / n_classes)
        self.priors = None if priors is None else np.asarray(priors, dtype=float)
        self.noise = EPSILON

    def __call__(self, labels: np.ndarray, splits: Splits) -> FitOutput:
        """Return the predictions for label vectors (n_fits, n_samples) of codes."""
        step = counts.stack_size(self.samples, self.n_classes, splits.tested.shape[1])
        scores, noise = [], []
        for start in range(0, len(labels), step):
            some = slice(start, start + step)
            block = Splits(splits.weights[some], splits.tested[some])
            of_block = self._score(labels[some], block)
            scores.append(of_block[0])
            noise.append(of_block[1])
        values, error = np.concatenate(scores), np.concatenate(noise)
        # predicted classes and probabilities must not depend on the rounding errors of the scores
        predicted, certain = decide(values.swapaxes(1, 2), np.maximum(error, self.noise))
        certain &= settle(values, error[:, None, None]) & np.isfinite(values).all(axis=(1, 2))
        return FitOutput.of_same_samples(predicted, certain, probability=softmax(values, axis=2))

    def _score(self, labels: np.ndarray, splits: Splits) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of tested samples in a stack of fits, and their errors."""
        with np.errstate(all="ignore"):  # in fits that are left to the estimator
            sums, sizes = counts.count_by_class(
                self.samples, labels, splits.weights, self.n_classes
            )
            slopes, offsets = counts.linear_scores(self.kind, sums, sizes, self.alpha)
            if self.kind != "complement":
                offsets = offsets + log_priors(self.priors, sizes)
            return counts.score_tested(self.samples, slopes, offsets, splits.tested)
