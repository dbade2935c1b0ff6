"""Single fits of an ``SVC``, by libsvm without scikit-learn's validation.

libsvm receives the same arrays and options as from ``SVC`` and predicts the same labels, so no
trial fit is needed. Validation takes most of the time of a fit to few samples.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skeval._adapters.svc_problems import Boxes
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.plans import Fit
from skeval._resampling.target import Target
from skeval._solvers.libsvm import LibsvmOptions, decide_by_libsvm, has_libsvm

_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def make_libsvm_fits(
    svc: SVC, X: Any, target: Target, boxes: Boxes, transformers: tuple
) -> LibsvmFits | None:
    """Return the fits of an SVC by libsvm, None if the data or the options rule them out."""
    named = isinstance(svc.kernel, str) and svc.kernel in _KERNELS
    if not named or svc.verbose or issparse(X) or np.ndim(X) != 2 or not has_libsvm():
        return None
    return LibsvmFits(svc, target, boxes, transformers)


class LibsvmFits:
    """Fits of an SVC and of the transformers before it."""

    def __init__(self, svc: SVC, target: Target, boxes: Boxes, transformers: tuple) -> None:
        self._svc, self._target, self._boxes = svc, target, boxes
        self._before = make_pipeline(*transformers) if transformers else None
        self._options = LibsvmOptions(
            svc.kernel,
            float(svc.C),
            int(svc.degree),
            float(svc.coef0),
            float(svc.tol),
            bool(svc.shrinking),
            float(svc.cache_size),
        )

    def __call__(self, fit: Fit, train: Any, labels: Any, test: Any) -> FitOutput:
        """Return the output of a fit, marked as failed if the estimator must do it."""
        try:
            values = self._decide(fit, train, labels, test)
        except Exception:  # the estimator raises the same error
            values = None
        failed = np.array([values is None])
        if values is None:
            return FitOutput(fit.test[None], failed)
        if values.shape[1] == 1:
            decision = -values[:, 0]
            return FitOutput(fit.test[None], failed, (decision >= 0).astype(np.intp), decision)
        predicted, votes = count_pair_votes(values, self._svc)
        return FitOutput(fit.test[None], failed, predicted, votes)

    def _decide(self, fit: Fit, train: Any, labels: Any, test: Any) -> np.ndarray | None:
        """Return the decision values (n_test, n_pairs) of pairs of classes, None if unsupported."""
        weights = {} if fit.weights is None else {"sample_weight": fit.weights.astype(float)}
        if self._before is not None:
            if weights:  # transformers may also use weights
                return None
            before = clone(self._before)
            train, test = before.fit_transform(train, labels), before.transform(test)
        train, test = (np.asarray(part, dtype=np.float64, order="C") for part in (train, test))
        codes = (self._target.codes if fit.order is None else self._target.codes[fit.order])[
            fit.training_rows
        ]
        counts = np.bincount(codes, minlength=self._target.n_classes)
        if not (counts.all() and np.isfinite(train).all() and np.isfinite(test).all()):
            return None
        values = decide_by_libsvm(
            self._options,
            train,
            codes,
            test,
            gamma=self._find_gamma(train),
            class_weight=self._boxes.class_weights(counts),
            **weights,
        )
        return values if np.isfinite(values).all() else None

    def _find_gamma(self, train: np.ndarray) -> float:
        """Return gamma as SVC computes it."""
        gamma = self._svc.gamma
        if self._options.kernel == "precomputed":
            return 0.0
        if not isinstance(gamma, str):
            return float(gamma)
        variance = train.var() if gamma == "scale" else 1.0
        return float(1.0 / (train.shape[1] * variance)) if variance != 0 else 1.0


def count_pair_votes(values: np.ndarray, classifier: SVC) -> tuple[np.ndarray, np.ndarray]:
    """Return predicted codes and decision values, computed from pairs of classes as in SVC.

    `values` has the shape (n_tested, n_pairs); positive values favor the first class of a pair. The
    prediction is the first class with the most votes. The decision value of a class against the
    rest is its number of votes plus the sum of its values, scaled to less than half a vote. With
    `break_ties`, the largest decision value gives the prediction.
    """
    n_classes = int(0.5 + np.sqrt(0.25 + 2 * values.shape[1]))
    votes, sums = np.zeros((2, len(values), n_classes))
    for value, (first, second) in zip(values.T, combinations(range(n_classes), 2), strict=True):
        votes[:, first] += value > 0
        votes[:, second] += value <= 0
        sums[:, first] += value
        sums[:, second] -= value
    rest = votes + sums / (3.0 * (np.abs(sums) + 1.0))
    one_to_rest = classifier.decision_function_shape == "ovr"
    ranked = rest if classifier.break_ties and one_to_rest else votes
    return ranked.argmax(axis=1), rest if one_to_rest else values
