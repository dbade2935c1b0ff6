"""The inner rounds: select and fit on a training part, predict the rest."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from skeval._resampling.folds import limit_folds
from skeval._resampling.target import Target
from skeval._resampling.weights import group_parameters, weight_parameters
from skeval.feature_selection._consensus import feature_ranks

__all__ = [
    "Round",
    "check_support",
    "fit_part",
    "limit_inner_folds",
    "read_round",
]


class Round(NamedTuple):
    """The features that one inner round selected, their ranks, and its predictions."""

    support: np.ndarray
    ranks: np.ndarray
    predicted: np.ndarray


def read_round(model: Any, X: Any, y: Any) -> Round:
    """Return the result of a round from its pipeline, which was fitted without inner rounds."""
    ranks = feature_ranks(model.selector_, X.shape[1])
    return Round(model.support_, ranks, model.predict(X))


def fit_part(
    part: Any, X: Any, y: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
) -> Any:
    """Fit a clone of the selector or classifier, with weights and groups where it takes them."""
    given = {**weight_parameters(part, weights), **group_parameters(part, groups)}
    return clone(part).fit(X, y, **given)


def limit_inner_folds(cv: Any, target: Target) -> Any:
    """Return `cv`, with a warning fewer folds where the smallest class has too few members."""
    if isinstance(cv, Integral) and int(cv) > 1 and np.bincount(target.codes).min() < 2:
        raise ValueError(
            f"cv={cv} inner folds need at least 2 members of each class, the smallest has 1; "
            "cv=None does without them."
        )
    return limit_folds(cv, target.codes)


def check_support(selector: Any) -> np.ndarray:
    """Return the support of a fitted selector; raise if it is empty."""
    support = selector.get_support()
    if not support.any():
        raise ValueError(
            f"selector must select at least one of the {len(support)} features, it selected none."
        )
    return support
