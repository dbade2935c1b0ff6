"""Which estimators a test can compare, by which score and over which splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from skeval._resampling.folds import resolve_folds
from skeval._resampling.target import Target
from skeval._resampling.task import Task
from skeval._resampling.weights import check_takes_weights
from skeval.metrics import get_scorer
from skeval.metrics._scorers import range_of
from skeval.model_selection._cross_validation import repeat_folds
from skeval.utils._checks import check_methods, naming
from skeval.utils._seeds import RandomStateLike

__all__ = [
    "check_estimators",
    "check_named",
    "check_rope",
    "check_shared",
    "choose_scoring",
    "choose_splits",
    "default_rope",
    "order_arguments",
    "resolve_scorer",
]

N_REPEATS = 10
"""Of the default folds under "corrected_t"."""


ROPE = 0.01
"""Half the width of the region of practical equivalence of rates."""


def order_arguments(
    estimator_a: Any, estimator_b: Any, X: Any, y: Any
) -> tuple[dict[str, Any] | None, tuple[Any, ...], Any, Any]:
    """Return the names (None for a pair) and the estimators, X and y, as the two forms give them.

    They are ``a, b, X, y`` and ``estimators, X, y``.
    """
    given = [value for value in (estimator_b, X, y) if value is not None]
    if isinstance(estimator_a, Mapping):
        if len(given) != 2:
            raise TypeError(
                "estimator_b must be left out where estimator_a is a dict of estimators, and X and "
                f"y given; got {len(given)} arguments beside the dict."
            )
        check_named("estimator_a", estimator_a, 2)
        return dict(estimator_a), tuple(estimator_a.values()), *given
    if len(given) != 3:
        raise TypeError(
            "estimator_a, estimator_b, X and y must be given, or a dict of estimators, X and y; "
            f"got {1 + len(given)} arguments."
        )
    return None, (estimator_a, estimator_b), X, y


def check_named(name: str, things: Any, minimum: int) -> None:
    """Raise unless something is a dict with as many names at least."""
    named = isinstance(things, Mapping) and all(isinstance(key, str) for key in things)
    if not named or len(things) < minimum:
        got = f"the keys {list(things)!r}" if isinstance(things, Mapping) else repr(things)
        raise TypeError(f"{name} must be a dict of {minimum} names (str) at least, got {got}.")


def default_rope(scoring: str) -> float:
    """Return 0.01 where a score lies between -1 and 1 whatever the data, else 0."""
    return ROPE if max(map(abs, range_of(scoring))) <= 1 else 0.0


def check_rope(rope: Any) -> float:
    """Return half the width of a region of practical equivalence, or raise unless it is >= 0."""
    if not isinstance(rope, Real) or isinstance(rope, bool) or not 0 <= float(rope) < np.inf:
        raise ValueError(f"rope must be a number >= 0, got {rope!r}.")
    return float(rope)


def check_estimators(estimators: Mapping[str, Any], method: str, groups: Any) -> None:
    """Raise unless all can be compared, and by this method where there are groups.

    The estimators come by the words that an error has for them.
    """
    for name, estimator in estimators.items():
        check_methods(name, estimator, "fit", "predict", "get_params")
    kinds = {is_classifier(estimator) for estimator in estimators.values()}
    classes = [type(estimator).__name__ for estimator in estimators.values()]
    if len(kinds) > 1:
        every = "both" if len(estimators) == 2 else "all"
        raise TypeError(
            f"{' and '.join(estimators)} must {every} be classifiers or {every} be regressors, got "
            f"{' and '.join(classes)}."
        )
    if method in ("mcnemar", "delong") and kinds == {False}:
        raise TypeError(
            f"method={method!r} must be given classifiers, got {classes[0]}; "
            "'corrected_t' and 'bootstrap' take regressors."
        )
    if groups is not None and method in ("mcnemar", "delong"):
        raise ValueError(
            f"groups must be None for method={method!r}, which takes samples for independent; "
            "method='bootstrap' draws whole groups, 'corrected_t' holds whole groups out."
        )


def check_shared(words: Sequence[str], estimators: Sequence[Any], task: Task, method: str) -> None:
    """Raise unless all estimators take the weights, and the method does without fits that fail."""
    if task.weight is not None:
        for word, estimator in zip(words, estimators, strict=True):
            try:
                check_takes_weights(estimator)
            except TypeError as error:
                raise TypeError(f"{word}: {error}") from error
    if method != "corrected_t" and task.error_score != "raise":
        raise ValueError(
            f"error_score must be 'raise' for method={method!r}, which pools the predictions of "
            f"all samples, got {task.error_score!r}."
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
    """Return the splits that all estimators see: for the t-test by default repeated folds."""
    if cv is None and method == "corrected_t":
        return repeat_folds(N_REPEATS, X, target, groups, random_state)
    return list(resolve_folds(cv, X, target, groups, random_state))
