"""Columns of X that a fitted selector, or a pipeline with a selector, keeps.

Steps that select columns or transform each column (scaling, imputation) keep columns of X, so the
selection is a mask. Extraction (PCA, PLS, LDA) makes new features and has no mask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.validation import check_is_fitted


class Selection(NamedTuple):
    """Columns that a fitted selector keeps, and their ranks, both of shape (n_features,)."""

    support: np.ndarray
    ranks: np.ndarray


class ClassScores(TransformerMixin, BaseEstimator):
    """Transformer that regresses on class indicators: PLS for classification.

    The scores of `PLSRegression` depend on a numeric target, and its `fit_transform` returns a
    pair, so that it cannot be a step of a pipeline.
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any) -> ClassScores:
        """Fit the transformer to one indicator column per class, a single one for two classes."""
        self.transformer_ = clone(self.transformer).fit(X, LabelBinarizer().fit_transform(y))
        return self

    def transform(self, X: Any) -> Any:
        """Return the scores of X."""
        check_is_fitted(self)
        return self.transformer_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the scores."""
        return self.transformer_.get_feature_names_out(input_features)


def prepare_selector(selector: Any) -> Any:
    """Return the selector; transformers that are regressors are fitted to class indicators."""
    if isinstance(selector, Pipeline):
        if not any(prepare_selector(step) is not step for _, step in selector.steps):
            return selector
        steps = [(name, prepare_selector(step)) for name, step in selector.steps]
        return clone(selector).set_params(steps=steps)
    # RFE(SVR()) has the tags of a regressor, but is a selector
    is_selector = hasattr(selector, "get_support")
    if not is_selector and hasattr(selector, "transform") and is_regressor(selector):
        return ClassScores(selector)
    return selector


def without_selection(selector: Any) -> Any:
    """Return the preprocessing of a selector: the steps that do not select."""
    if isinstance(selector, Pipeline):
        steps = [(name, without_selection(step)) for name, step in selector.steps]
        return Pipeline(steps)
    return "passthrough" if hasattr(selector, "get_support") else selector


def list_steps(selector: Any) -> Iterator[Any]:
    """Yield the steps of a selector, including those of nested pipelines."""
    if isinstance(selector, Pipeline):
        for _, step in selector.steps:
            yield from list_steps(step)
    elif selector is not None and selector != "passthrough":
        yield selector


def check_selects(selector: Any) -> None:
    """Raise if a step of a fitted selector selects no feature."""
    for step in list_steps(selector):
        if hasattr(step, "get_support") and not np.any(support := step.get_support()):
            raise ValueError(
                f"selector must select at least one of the {len(support)} features, it selected "
                "none."
            )


def read_selection(selector: Any, n_features: int) -> Selection | None:
    """Return the columns that a fitted selector keeps; None if it makes new features."""
    check_selects(selector)
    columns, ranks = np.arange(n_features), np.full(n_features, float(n_features))
    for step in list_steps(selector):
        support = step_support(step, len(columns))
        if support is None:
            return None
        # columns that an earlier step dropped keep the worst rank
        step_ranks = feature_ranks(step)
        if step_ranks is not None:
            ranks[columns] = step_ranks
        columns = columns[support]
    mask = np.zeros(n_features, dtype=bool)
    mask[columns] = True
    return Selection(mask, ranks)


def step_support(step: Any, n_features: int) -> np.ndarray | None:
    """Return the mask of the columns that a fitted step keeps; None if it makes new features."""
    if hasattr(step, "get_support"):
        return np.asarray(step.get_support())
    if not hasattr(step, "get_feature_names_out"):
        return None
    # a column is kept if its name is; extraction returns new names
    names = getattr(step, "feature_names_in_", None)
    if names is None:
        names = np.array([f"column {j}" for j in range(n_features)], dtype=object)
    kept = np.isin(names, names_out := step.get_feature_names_out(names))
    return kept if np.count_nonzero(kept) == len(names_out) else None


def feature_ranks(selector: Any) -> np.ndarray | None:
    """Return the rank of each feature, 1 is best; None if a fitted selector has no ranking.

    Taken from `ranking_` (recursive elimination) or `scores_` (univariate selection); an undefined
    score ranks last.
    """
    if hasattr(selector, "ranking_"):
        return np.asarray(selector.ranking_, dtype=float)
    if hasattr(selector, "scores_"):
        scores = np.where(np.isnan(selector.scores_), -np.inf, selector.scores_)
        _, places = np.unique(-scores, return_inverse=True)  # older rankdata fails for infinities
        return rankdata(places)
    return None
