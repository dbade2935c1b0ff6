"""Ridge regression and its kin: for a training part, the predictions are linear in the labels.

scikit-learn's own estimators fit many targets at once. Targets that make up a basis, of all labels
or of those that the columns explain, give the matrix that makes predictions of labels.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier

from skeval._resampling.adapters import Adapter, adapter_for
from skeval._resampling.target import Target
from skeval._smoothers.adapter import Outcome, Part, Rule, label_free_adapter
from skeval._solvers.smoothers import EPSILON, Smoother, class_signs, decide, find_basis

__all__ = ["LinearRule", "learn_linear"]

MOST_UNITS = 2048
"""Training samples for which a matrix of all of them squared is made."""

AGREEMENT = 1e-11
"""How far a prediction may lie from that of a single fit, in units of the labels."""

AT_ONCE = 16
"""Label vectors of a trial: equations of many targets are solved in another order than of one."""

MARGIN = 100.0
"""Decision values of so many times the difference seen from 0 are certain of their sign."""

DIRECT_SOLVERS = ("auto", "cholesky", "svd")


@adapter_for.register(Ridge)
@adapter_for.register(RidgeClassifier)
@adapter_for.register(LinearRegression)
@adapter_for.register(KernelRidge)
def linear_adapter(estimator: Any, X: Any, target: Target, transformers: tuple) -> Adapter | None:
    """Return the adapter of an estimator that solves its equations directly."""
    if not solves_directly(estimator):
        return None
    return label_free_adapter(learn_linear, estimator, X, target, transformers)


def solves_directly(estimator: Any) -> bool:
    """Whether the predictions of an estimator are a matrix times the labels."""
    if type(estimator) is LinearRegression:
        return not estimator.positive
    if type(estimator) is KernelRidge:
        return isinstance(estimator.alpha, Real)
    return (
        type(estimator) in (Ridge, RidgeClassifier)
        and isinstance(estimator.alpha, Real)
        and not estimator.positive
        and estimator.solver in DIRECT_SOLVERS
        and not getattr(estimator, "class_weight", None)
    )


def learn_linear(estimator: Any, part: Part, target: Target) -> Rule | None:
    """Return the rule of a training part, None where none agrees with a single fit."""
    if issparse(part.train) and type(estimator) is not KernelRidge:
        return None  # solved step by step, until the labels are met
    if not issparse(part.train):
        part = part._replace(train=as_floats(part.train), test=as_floats(part.test))
    if part.train.dtype != np.float64:
        return None  # of single precision, in which a sum depends on its order
    n_classes = 0 if target.classes is None else len(target.classes)
    single = clone(estimator).fit(part.train, part.example)
    expected = single.decision_function(part.test) if n_classes else single.predict(part.test)
    unit = 1.0 if n_classes else float(np.abs(part.example).max())
    for find in (find_smoother, ManyTargets):
        predict = find(estimator, part)
        if predict is None:
            continue
        rule = LinearRule(predict, n_classes)
        found = rule.values(np.tile(part.example, (AT_ONCE, 1)))[0]
        difference = float(np.abs(found - expected.T).max())
        if difference <= AGREEMENT * unit:
            rule.noise = MARGIN * max(difference, predict.rounding(len(part.example)))
            return rule
    return None


def as_floats(samples: Any) -> np.ndarray:
    """Return the numbers that an estimator makes of dense samples."""
    array = np.asarray(samples)
    return array if array.dtype == np.float32 else array.astype(float)


def find_smoother(estimator: Any, part: Part) -> Smoother | None:
    """Return the smoother of a training part, None where it is larger than its uses."""
    m, linear = len(part.example), type(estimator) is not KernelRidge
    basis = find_basis(part.train) if linear else None
    if basis is None and m > min(part.n_repetitions, max(MOST_UNITS, part.train.shape[1])):
        return None
    fit = ManyTargets(estimator, part)
    # Equation 3 of doc/derivations/smoothers.rst, or equation 1.
    return Smoother(basis, fit((np.eye(m) if basis is None else basis).T).T)


class ManyTargets:
    """One fit to all label vectors at once, each a target of its own."""

    def __init__(self, estimator: Any, part: Part) -> None:
        self.part = part
        self.estimator = estimator
        self.weights: dict[str, np.ndarray] = {}
        if type(estimator) is RidgeClassifier:  # it is a Ridge of signs, all weights 1
            names = Ridge().get_params()
            self.estimator = Ridge(**{name: getattr(estimator, name) for name in names})
            self.weights = {"sample_weight": np.ones(len(part.example))}

    def __call__(self, targets: np.ndarray) -> np.ndarray:
        """Return the predictions (..., n_tested) of targets (..., m)."""
        flat = targets.reshape(-1, targets.shape[-1])
        model = clone(self.estimator).fit(self.part.train, flat.T, **self.weights)
        found = model.predict(self.part.test).reshape(-1, len(flat))
        return found.T.reshape(*targets.shape[:-1], -1)

    @property
    def size(self) -> int:
        """Numbers that it holds."""
        return int(np.prod(self.part.train.shape) + np.prod(self.part.test.shape))

    def rounding(self, n_trained: int) -> float:
        """Return what rounding may change in predictions of signs."""
        return EPSILON * n_trained**0.5


class LinearRule:
    """Numbers, or classes by their signs."""

    def __init__(self, predict: Smoother | ManyTargets, n_classes: int) -> None:
        self.predict = predict
        self.n_classes = n_classes
        self.noise = EPSILON

    @property
    def size(self) -> int:
        """Numbers that are kept."""
        return self.predict.size

    def __call__(self, labels: np.ndarray) -> Outcome:
        """Return the answers for label vectors (n_fits, n_trained)."""
        values = self.values(labels)
        if not self.n_classes:
            return Outcome(values, np.isfinite(values).all(axis=1))
        predicted, certain = decide(values, self.noise)
        return Outcome(predicted, certain, values if values.ndim == 2 else values.swapaxes(1, 2))

    def values(self, labels: np.ndarray) -> np.ndarray:
        """Return numbers (n_fits, n_tested), or decision values, of each class where several."""
        return self.predict(
            class_signs(labels, self.n_classes) if self.n_classes else labels.astype(float)
        )
