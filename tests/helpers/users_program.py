"""A program of a user, in which mypy finds the types of skeval, and what is wrong."""

from typing import assert_type

from skeval import compare_classifiers, error_interval, evaluate, metric_interval, permutation_test
from skeval._inference.estimate import Estimate, Results
from skeval.metrics.cluster import silhouette_score
from skeval.report import EvaluationReport


def check_types() -> None:
    """Read by mypy, and never run."""
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    report = evaluate(object(), X, y, n_bootstraps=10)
    assert_type(report, EvaluationReport)
    assert_type(error_interval(object(), X, y).interval.low, float)
    assert_type(metric_interval("accuracy", y, y), Estimate)
    assert_type(compare_classifiers([object(), object()], X, y).difference.pvalue, float)
    assert_type(silhouette_score(X, y), float)
    assert_type(permutation_test(object(), X, y, n_permutations=9).pvalue, float)
    assert_type(permutation_test(object(), X, y, scoring=["accuracy", "f1"]), Results)
    evaluate(object(), X, y, n_bootstraps="many")  # type: ignore[call-overload]
