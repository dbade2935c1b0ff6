"""Which of two classifiers is better, by the scores of splits that were computed before?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skeval._inference.paired import (
    ALTERNATIVES,
    PairedTest,
    differences_of,
    five_by_two_f,
    five_by_two_t,
)
from skeval.model_selection._comparison import check_rope, judge_splits
from skeval.model_selection._comparison_result import ClassifierComparison
from skeval.model_selection._run_over_datasets import check_same_indices, read_splits_scores
from skeval.utils._checks import check_confidence_level, check_option, warn_undefined

__all__ = ["compare_scores"]

LARGEST = 1e100  # whose square is a number still
METHODS = ("corrected_t", "5x2cv_t", "5x2cv_f")


def compare_scores(
    scores_a: Any,
    scores_b: Any,
    *,
    method: str = "corrected_t",
    test_train_ratio: float | None = None,
    alternative: str = "two-sided",
    rope: float = 0.01,
    confidence_level: float = 0.95,
) -> ClassifierComparison:
    r"""Test and interval for the difference of two classifiers, from the scores of the same splits.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_splits,), or dict
        Scores of two classifiers on the same splits, in the same order, or results of
        `cross_validate`.
    method : {"corrected_t", "5x2cv_t", "5x2cv_f"}, default="corrected_t"
        "corrected_t": the corrected resampled t-test of Nadeau and Bengio, as in
        `compare_classifiers`, with the Bayesian correlated t test. "5x2cv_t" [1]_ and "5x2cv_f"
        [2]_: of five repeats of two folds, ten scores, the two of a repeat next to each other.
    test_train_ratio : float, default=None
        Size of a test set over that of its training set ("corrected_t"): 1 / 9 for ten folds,
        however often repeated. None reads it from results of `cross_validate` that have
        ``return_indices=True``.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        What the test is to show of the score of `a` minus that of `b`; the F-test is two-sided.
    rope : float, default=0.01
        Half the width of the region of practical equivalence ("corrected_t").
    confidence_level : float, default=0.95
        Nominal coverage of the interval, which is two-sided.

    Returns
    -------
    comparison : ClassifierComparison
        With `difference` (a minus b), its `interval`, and `pvalue`.

    Raises
    ------
    ValueError
        If the splits differ in number, or in the indices that results of `cross_validate` have, or
        are too few, or the ratio is not known.

    Notes
    -----
    With :math:`d_{ij}` the difference on fold `j` of repeat `i` and
    :math:`s_i^2 = (d_{i1} - d_{i2})^2 / 2`,

    .. math:: t = \frac{d_{11}}{\sqrt{\sum_i s_i^2 / 5}}, \qquad
              F = \frac{\sum_{ij} d_{ij}^2}{2 \sum_i s_i^2} ,

    on 5, and on 10 and 5 degrees of freedom. The interval of "5x2cv_t" is around the difference on
    the first fold, as its statistic is; that of "5x2cv_f" inverts the test, and is nan where the
    ten differ too much among themselves for any difference to fit.

    In ``benchmarks/results/split_tests.md`` two equal rules are called different, at a nominal 5 %,
    in 3 to 4 % of data sets by the corrected t over 10 x 10 folds, 1 % over 10, and 2 to 3 % by
    either 5 x 2 test; of two that differ (n = 60 and 200) these find 50 and 95 %, 18 and 68 %, 28
    and 61 % (t), 38 and 80 % (F). The t-test without the correction, which is not here, fails: over
    10 x 10 folds it calls equal rules different in 54 %.

    References
    ----------
    .. [1] Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised
       classification learning algorithms. Neural Computation 10, 1895-1923.
       https://doi.org/10.1162/089976698300017197
    .. [2] Alpaydin, E. (1999). Combined 5 x 2 cv F test for comparing supervised classification
       learning algorithms. Neural Computation 11, 1885-1892.
       https://doi.org/10.1162/089976699300016007

    Examples
    --------
    >>> from skeval.model_selection import compare_scores
    >>> a = [0.81, 0.79, 0.84, 0.80, 0.83]
    >>> b = [0.78, 0.78, 0.80, 0.79, 0.81]
    >>> print(compare_scores(a, b, test_train_ratio=1 / 4))
    score, corrected_t
      a: a                             0.8140
      b: b                             0.7920
      difference                       0.0220
      95 % interval                    [-0.0023, 0.0463]
      P-value                          0.0657
      P(a, neither, b better by 0.01)  0.879, 0.110, 0.011
      No difference is shown at 5 % (P = 0.066). That is no proof of equality. The
      difference may lie anywhere from -0.002 to 0.046 (95 % interval).
    """
    check_confidence_level(confidence_level)
    check_option("method", method, METHODS)
    check_option("alternative", alternative, ALTERNATIVES)
    rope = check_rope(rope)
    if method == "5x2cv_f" and alternative != "two-sided":
        raise ValueError(f"alternative must be 'two-sided' for '5x2cv_f', got {alternative!r}.")
    a, b = read_splits_scores("scores_a", scores_a), read_splits_scores("scores_b", scores_b)
    _check_splits(a, b, method)
    check_same_indices({"scores_a": scores_a, "scores_b": scores_b})
    if method == "corrected_t":
        ratio = _find_ratio(test_train_ratio, scores_a, scores_b)
        test, details = judge_splits(np.column_stack([a, b]), ratio, rope, alternative)
    elif test_train_ratio is not None:
        raise ValueError(f"test_train_ratio must be None for method={method!r}.")
    else:
        test = _judge_five_by_two(np.column_stack([a, b]), method, alternative, confidence_level)
        details = {"split_scores": np.column_stack([a, b])}
    return ClassifierComparison(
        method=method,
        scoring="score",
        name_a="a",
        name_b="b",
        score_a=float(a.mean()),
        score_b=float(b.mean()),
        difference=float(a.mean() - b.mean()),
        standard_error=test.standard_error,
        statistic=test.statistic,
        pvalue=test.pvalue,
        alternative=alternative,
        limits={method: test.limits},
        confidence_level=confidence_level,
        **details,
    )


def _judge_five_by_two(
    scores: np.ndarray, method: str, alternative: str, confidence_level: float
) -> PairedTest:
    differences = differences_of(scores).reshape(5, 2)
    if method == "5x2cv_f":
        test = five_by_two_f(differences)
    else:
        test = five_by_two_t(differences, alternative)
    if np.isnan(test.limits(confidence_level)).any():
        warn_undefined(
            f"The interval of {method!r} is undefined, nan: the differences leave no variance to "
            "judge by, or vary too much from repeat to repeat."
        )
    return test


def _check_splits(a: np.ndarray, b: np.ndarray, method: str) -> None:
    for name, values in (("scores_a", a), ("scores_b", b)):
        if np.isnan(values).any():
            raise ValueError(f"{name} must have no missing scores, got {np.isnan(values).sum()}.")
        if np.abs(values).max() > LARGEST:
            raise ValueError(f"{name} must be <= {LARGEST:g} in size, got {values.max():g}.")
    if len(a) != len(b):
        raise ValueError(
            f"scores_a and scores_b must be of the same splits, got {len(a)} and {len(b)}."
        )
    if method != "corrected_t" and len(a) != 10:
        raise ValueError(
            f"scores_a and scores_b must hold 10 scores, of 5 x 2 folds, got {len(a)}."
        )
    if len(a) < 2:
        raise ValueError("scores_a and scores_b must be of two splits at least, got 1.")


def _find_ratio(ratio: float | None, *results: Any) -> float:
    """Return the ratio that is given, or that of the indices of the first result that has them."""
    if ratio is not None:
        if not isinstance(ratio, int | float | np.number) or not 0 < ratio < np.inf:
            raise ValueError(f"test_train_ratio must be a number > 0, got {ratio!r}.")
        return float(ratio)
    for result in results:
        if isinstance(result, Mapping) and "indices" in result:
            indices = result["indices"]
            pairs = zip(indices["test"], indices["train"], strict=True)
            return float(np.mean([len(test) / len(train) for test, train in pairs]))
    raise ValueError(
        "test_train_ratio must be given, 1 / 9 for ten folds, or scores_a be a result of "
        "cross_validate with return_indices=True; got None."
    )
