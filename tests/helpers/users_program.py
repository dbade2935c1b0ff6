"""A program of a user, in which mypy finds the types of skeval, and what is wrong."""

from typing import assert_type

from skeval._inference.estimate import Results
from skeval.feature_selection import selection_bias
from skeval.metrics.cluster import silhouette_score
from skeval.model_selection import (
    Estimate,
    bootstrap_error,
    compare_classifiers,
    error_interval,
    holdout_error,
    metric_interval,
    permutation_test,
    score_interval,
)
from skeval.report import Report, evaluate


def check_types() -> None:
    """Read by mypy, and never run."""
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    report = evaluate(object(), X, y, n_permutations=10)
    assert_type(report, Report)
    assert_type(error_interval(object(), X, y).interval.low, float)
    assert_type(metric_interval("accuracy", y, y), Estimate)
    assert_type(compare_classifiers([object(), object()], X, y).difference.pvalue, float)
    assert_type(silhouette_score(X, y), float)
    assert_type(permutation_test(object(), X, y, n_permutations=9).pvalue, float)
    assert_type(permutation_test(object(), X, y, scoring=["accuracy", "f1"]), Results)
    score = score_interval(object(), X, y, scoring="roc_auc", n_repeats=2)
    low, high = score.interval
    assert_type(low, float)
    assert_type(high - score.value, float)
    assert_type(score_interval(object(), X, y, scoring=["accuracy", "f1"]), Results)
    assert_type(bootstrap_error(object(), X, y).standard_error, float)
    assert_type(holdout_error(y, y).value, float)
    assert_type(selection_bias(object(), object(), X, y).value, float)
    assert_type(permutation_test(object(), X, y).n_exceedances, int | None)
    evaluate(object(), X, y, n_permutations="many")  # type: ignore[arg-type]
    # misspelled options
    error_interval(object(), X, y, method="repeated-cv")  # type: ignore[arg-type]
    metric_interval("accuracy", y, y, method="wilsn")  # type: ignore[call-overload]
    compare_classifiers([object()], X, y, alternative="larger")  # type: ignore[arg-type]
    bootstrap_error(object(), X, y, method="632")  # type: ignore[arg-type]
    permutation_test(object(), X, y, exchange="sample")  # type: ignore[call-overload]
    score_interval(object(), X, y, error_score="nan")  # type: ignore[call-overload]
    silhouette_score(X, y, noise="dropp")  # type: ignore[arg-type]
