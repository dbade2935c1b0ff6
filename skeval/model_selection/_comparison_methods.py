"""Table of the tests for comparisons: their functions, names and conditions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from skeval._inference import paired
from skeval.metrics import get_scorer
from skeval.model_selection import _pair_tests
from skeval.model_selection._pair_tests import PairTests
from skeval.utils._checks import check_methods, check_option, naming
from skeval.utils._text import name_estimators


@dataclass(frozen=True)
class ComparisonMethod:
    """A test for comparisons.

    Attributes
    ----------
    name : str
        Value of the argument `method`, and of the attribute of the result.
    title : str
        Name of the test in sentences.
    test : callable
        Function of arrays that returns `PairTests`.
    scope : str
        Sentence on its conditions.
    scoring : str or None
        The only score that it tests; None for any score.
    of_classes : bool
        Whether it compares predicted classes, and therefore does not accept regressors.
    independent : bool
        Whether it assumes independent samples, and therefore does not accept groups.
    one_sided : bool
        Whether it can test one side.
    simultaneous : bool
        Whether its P-values account for all pairs.
    level : callable
        Function of the confidence level that returns the significance level.
    """

    name: str
    title: str
    test: Callable[..., PairTests]
    scope: str = ""
    scoring: str | None = None
    of_classes: bool = False
    independent: bool = False
    one_sided: bool = True
    simultaneous: bool = False
    level: Callable[[float], float] = paired.significance_level


def check_choices(methods: Collection[str], method: str, alternative: str) -> None:
    """Raise unless the method is "auto" or one of the methods, and the alternative is valid."""
    check_option("method", method, ("auto", *methods))
    check_option("alternative", alternative, paired.ALTERNATIVES)


def check_method(method: str, alternative: str, n_names: int) -> None:
    """Raise unless a method can test this alternative for this number of systems."""
    row = METHODS[method]
    if alternative != "two-sided" and (n_names > 2 or not row.one_sided):
        what = f"method={method!r}" if not row.one_sided else f"more than two, here {n_names}"
        raise ValueError(f"alternative must be 'two-sided' for {what}, got {alternative!r}.")


def check_named(name: str, things: Any, minimum: int) -> None:
    """Raise unless an argument is a dict with a minimum number of names."""
    named = isinstance(things, Mapping) and all(isinstance(key, str) for key in things)
    if not named or len(things) < minimum:
        got = f"the keys {list(things)!r}" if isinstance(things, Mapping) else repr(things)
        raise TypeError(f"{name} must be a dict of {minimum} names (str) at least, got {got}.")


def name_listed(argument: str, things: Any, noun: str = "") -> dict[str, Any]:
    """Return two or more items by name; a list has names from a noun, or from its estimators."""
    if isinstance(things, list | tuple):
        if len(things) < 2:
            raise TypeError(f"{argument} must hold two at least, got {len(things)}.")
        numbered = [f"{noun} {number}" for number in range(1, 1 + len(things))]
        return dict(zip(numbered if noun else name_estimators(*things), things, strict=True))
    if isinstance(things, Mapping):
        check_named(argument, things, 2)
        return dict(things)
    shape = f" of shape {np.shape(things)}" if hasattr(things, "shape") else ""
    raise TypeError(
        f"{argument} must be a dict or a list of two at least, got {type(things).__name__}{shape}; "
        f"the order of arguments is {ORDERS[argument]}."
    )


ORDERS = {
    "estimators": "compare_classifiers(estimators, X, y)",
    "predictions": "compare_predictions(y_true, predictions)",
    "scores": "compare_scores(scores), over='datasets' and over='items' take tables and arrays",
}
"""Calls of the functions that compare a dict or list."""


def check_estimators(name: str, estimators: Mapping[str, Any], method: str, groups: Any) -> None:
    """Raise unless the method can compare the estimators, with `groups` if they are passed."""
    row = METHODS[method]
    for key, estimator in estimators.items():
        check_methods(f"{name}[{key!r}]", estimator, "fit", "predict", "get_params")
    kinds = {is_classifier(estimator) for estimator in estimators.values()}
    classes = [type(estimator).__name__ for estimator in estimators.values()]
    if len(kinds) > 1:
        raise TypeError(
            f"{name} must all be classifiers or all be regressors, got {' and '.join(classes)}."
        )
    if row.of_classes and kinds == {False}:
        raise TypeError(
            f"method={method!r} must be given classifiers, got {classes[0]}; "
            "'corrected_t' and 'bootstrap' take regressors."
        )
    if groups is not None and row.independent:
        raise ValueError(
            f"groups must be None for method={method!r}, which takes samples for independent; "
            "method='bootstrap' draws whole groups, 'corrected_t' holds whole groups out."
        )


def choose_scoring(method: str, scoring: Any, estimator: Any) -> Any:
    """Return the score that a method tests; raise if the requested one is different."""
    fixed = METHODS[method].scoring
    if fixed is not None and scoring not in (None, fixed):
        raise ValueError(f"method={method!r} tests scoring={fixed!r}, got {scoring!r}.")
    if scoring is None and fixed is None:
        return "accuracy" if is_classifier(estimator) else "r2"
    return fixed or scoring


def resolve_scorer(scoring: Any) -> Any:
    """Return the scorer with this name; other scorers are returned unchanged."""
    with naming("scoring"):
        return get_scorer(scoring) if isinstance(scoring, str) else scoring


def level_over_datasets(confidence_level: float) -> float:
    """Return the significance level of Demsar (2006), which may exceed 5 %."""
    return 1 - confidence_level


RULES = "This applies to these predictions; variation from retraining is not included."
DATASETS = "This applies to data sets like these, not to a single data set."
MEAN_RANKS = f"The mean ranks of two systems depend on which others are compared. {DATASETS}"
OF_LABELS: dict[str, Any] = {"scoring": "accuracy", "of_classes": True}
OVER_DATASETS: dict[str, Any] = {"one_sided": False, "level": level_over_datasets}

ROWS = (
    ComparisonMethod("corrected_t", "corrected resampled t", _pair_tests.corrected_t),
    ComparisonMethod("permutation", "paired permutation", _pair_tests.permutation, RULES),
    ComparisonMethod("bootstrap", "paired bootstrap", _pair_tests.bootstrap, RULES),
    ComparisonMethod(
        "max_t", "largest t of all pairs", _pair_tests.max_t, RULES, simultaneous=True
    ),
    ComparisonMethod("mcnemar", "McNemar's test", _pair_tests.mcnemar, RULES, **OF_LABELS),
    ComparisonMethod(
        "cochran_q", "McNemar's test after Cochran's Q", _pair_tests.cochran_q, RULES, **OF_LABELS
    ),
    ComparisonMethod(
        "delong", "DeLong's test", _pair_tests.delong, RULES, **OF_LABELS | {"scoring": "roc_auc"}
    ),
    ComparisonMethod(
        "obuchowski_rockette",
        "analysis of variance of readers and cases",
        _pair_tests.compare_study,
        "This applies to readers and cases like these.",
    ),
    ComparisonMethod(
        "fixed_readers",
        "normal test of cases with fixed readers",
        _pair_tests.compare_study,
        "This applies to these readers, with cases like these.",
    ),
    ComparisonMethod(
        "time_blocks", "blocks of time", _pair_tests.time_blocks, RULES, independent=True
    ),
    ComparisonMethod(
        "diebold_mariano",
        "Diebold and Mariano's test",
        _pair_tests.diebold_mariano,
        RULES,
        independent=True,
    ),
    ComparisonMethod(
        "wilcoxon", "Wilcoxon's signed-rank test", _pair_tests.wilcoxon, DATASETS, **OVER_DATASETS
    ),
    ComparisonMethod(
        "nemenyi",
        "Nemenyi's test",
        _pair_tests.nemenyi,
        MEAN_RANKS,
        simultaneous=True,
        **OVER_DATASETS,
    ),
    ComparisonMethod(
        "mean_ranks",
        "normal distance of mean ranks",
        _pair_tests.mean_ranks,
        MEAN_RANKS,
        **OVER_DATASETS,
    ),
)
METHODS = {row.name: row for row in ROWS}
"""Methods by name."""
