"""The inner rounds: select and fit on a training part, predict the rest."""

import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skeval.feature_selection._consensus import feature_ranks
from skeval.model_selection._target import Target
from skeval.model_selection._weights import weight_parameters

__all__ = ["Round", "feasible_folds", "fit_classifier", "fit_round", "fit_selector", "selected"]


class Round(NamedTuple):
    """What one inner round leaves behind."""

    support: np.ndarray
    ranks: np.ndarray
    predicted: np.ndarray


def fit_round(
    selector: Any,
    classifier: Any,
    X: Any,
    y: np.ndarray,
    weights: np.ndarray | None,
    fold: tuple[int, tuple[np.ndarray, np.ndarray]],
) -> Round:
    """Select and fit on the training part of a numbered fold, predict the test part."""
    number, (train, test) = fold
    weights = None if weights is None else weights[train]
    selector = fit_selector(selector, X[train], y[train], weights)
    support = selected(selector, f"in round {number}")
    classifier = fit_classifier(classifier, selector.transform(X[train]), y[train], weights)
    predicted = classifier.predict(selector.transform(X[test]))
    return Round(support, feature_ranks(selector, X.shape[1]), predicted)


def fit_selector(selector: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> Any:
    """Fit a clone, with sample weights where it takes them."""
    weighted = weights is not None and has_fit_parameter(selector, "sample_weight")
    return clone(selector).fit(X, y, **({"sample_weight": weights} if weighted else {}))


def fit_classifier(classifier: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> Any:
    """Fit a clone, with sample weights if there are any."""
    return clone(classifier).fit(X, y, **weight_parameters(classifier, weights))


def feasible_folds(cv: Any, target: Target) -> Any:
    """Return `cv`, with a warning fewer folds where the smallest class has too few members."""
    smallest = max(2, int(np.bincount(target.codes).min()))
    if not isinstance(cv, Integral) or cv <= smallest:
        return cv
    warnings.warn(
        f"cv={cv} needs {cv} members of each class, the smallest class has {smallest}: "
        f"{smallest} inner folds are made.",
        stacklevel=5,
    )
    return smallest


def selected(selector: Any, where: str) -> np.ndarray:
    """Return the support of a fitted selector; raise if it is empty."""
    support = selector.get_support()
    if not support.any():
        raise ValueError(f"selector must select at least one feature, {where} it selected none.")
    return support
