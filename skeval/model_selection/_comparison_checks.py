"""Which pairs of estimators a test can compare, by which score and over which splits."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from skeval._resampling.folds import resolve_folds
from skeval._resampling.target import Target
from skeval.metrics import get_scorer
from skeval.model_selection._cross_validation import repeat_folds
from skeval.utils._checks import check_methods, naming
from skeval.utils._seeds import RandomStateLike

__all__ = ["check_pair", "choose_scoring", "choose_splits", "resolve_scorer"]

N_REPEATS = 10
"""Of the default folds under "corrected_t"."""


def check_pair(estimator_a: Any, estimator_b: Any, method: str, groups: Any) -> None:
    """Raise unless both can be compared, and by this method where there are groups."""
    for name, estimator in (("estimator_a", estimator_a), ("estimator_b", estimator_b)):
        check_methods(name, estimator, "fit", "predict", "get_params")
    if is_classifier(estimator_a) != is_classifier(estimator_b):
        raise TypeError(
            "estimator_a and estimator_b must both be classifiers or both be regressors, got "
            f"{type(estimator_a).__name__} and {type(estimator_b).__name__}."
        )
    if method in ("mcnemar", "delong") and not is_classifier(estimator_a):
        raise TypeError(
            f"method={method!r} must be given classifiers, got {type(estimator_a).__name__}; "
            "'corrected_t' and 'bootstrap' take regressors."
        )
    if groups is not None and method in ("mcnemar", "delong"):
        raise ValueError(
            f"groups must be None for method={method!r}, which takes samples for independent; "
            "method='bootstrap' draws whole groups, 'corrected_t' holds whole groups out."
        )


def choose_scoring(method: str, scoring: Any, estimator: Any) -> Any:
    """Return the score that a method tests, or raise where it tests another."""
    fixed = {"mcnemar": "accuracy", "delong": "roc_auc"}.get(method)
    if fixed is not None and scoring not in (None, fixed):
        raise ValueError(f"method={method!r} tests scoring={fixed!r}, got {scoring!r}.")
    if scoring is None and fixed is None:
        return "accuracy" if is_classifier(estimator) else "r2"
    return fixed or scoring


def resolve_scorer(scoring: Any) -> Any:
    """Return the scorer of a name, any other as it is."""
    with naming("scoring"):
        return get_scorer(scoring) if isinstance(scoring, str) else scoring


def choose_splits(
    cv: Any, method: str, X: Any, target: Target, groups: Any, random_state: RandomStateLike
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the splits that both estimators see: for the t-test by default repeated folds."""
    if cv is None and method == "corrected_t":
        return repeat_folds(N_REPEATS, X, target, groups, random_state)
    return list(resolve_folds(cv, X, target, groups, random_state))
