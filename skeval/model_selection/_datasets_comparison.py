"""Which of several classifiers is better, on several data sets?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from skeval._inference.adjustment import (
    CORRECTIONS,
    adjust_pvalues,
    simultaneous_level,
)
from skeval._inference.posteriors import (
    dirichlet_weights,
    largest_fractions,
    signed_rank_draws,
)
from skeval._inference.rank_tests import (
    critical_difference,
    friedman,
    mean_rank_pvalues,
    nemenyi_pvalues,
    rank_rows,
    signed_rank_test,
    smallest_pvalue,
)
from skeval.model_selection._comparison_checks import check_rope
from skeval.model_selection._datasets_result import N_DRAWS, DatasetComparison
from skeval.model_selection._score_table import ScoreTable, read_score_table
from skeval.utils._checks import check_confidence_level, check_option
from skeval.utils._compat import validate_params
from skeval.utils._seeds import RandomStateLike, root_seed

__all__ = ["compare_over_datasets"]

TESTS = ("auto", "wilcoxon", "nemenyi", "mean_ranks")


@validate_params({"random_state": ["random_state", Generator]})
def compare_over_datasets(
    scores: Any,
    *,
    test: str = "auto",
    correction: str = "holm",
    rope: float = 0.01,
    confidence_level: float = 0.95,
    missing: str = "raise",
    random_state: RandomStateLike = None,
) -> DatasetComparison:
    r"""Compare classifiers over several data sets: tests, intervals, posterior probabilities.

    Parameters
    ----------
    scores : dataframe, array-like, or dict or list of data sets
        A score of each classifier on each data set; larger is better, so give errors a minus sign.
        One of

        - a frame with a row for each data set and a column for each classifier;
        - a frame in long form with the columns ``dataset``, ``classifier`` and ``score``, and
          ``split`` where there are scores of splits, which pairs them; the order of its rows does
          not matter, and what is named is sorted;
        - a dict of data sets, or a list, of dicts of classifiers: each with a result of
          `cross_validate`, the scores of the splits, or one score;
        - what `run_over_datasets` returns;
        - an array of shape (n_datasets, n_classifiers) or (n_datasets, n_classifiers, n_splits).

        Scores of splits are averaged, and kept for the hierarchical test.
    test : {"auto", "wilcoxon", "nemenyi", "mean_ranks"}, default="auto"
        How two classifiers are compared.

        "wilcoxon": the signed-rank test of the scores of the two, with `correction`. It takes
        differences for symmetric and depends on no other classifier.

        "nemenyi": the distance of mean ranks, by the studentised range; `correction` is not
        needed. "mean_ranks": the same distance by the normal distribution, with `correction`.
        Both fail where classifiers differ in how much their scores vary: they reject up to twice
        as often as they should, see Notes.

        "auto" is "wilcoxon", but "nemenyi" where three classifiers or more are on so few data sets
        that Wilcoxon's test could never reject. The result says which it was, and why.
    correction : {"holm", "bonferroni", "none"}, default="holm"
        Of the P-values, for the number of pairs.
    rope : float, default=0.01
        Half the width of the region of practical equivalence, in units of the score.
    confidence_level : float, default=0.95
        With which the intervals of all differences hold together; one minus it is the level of
        the tests where a result says what differs.
    missing : {"raise", "drop"}, default="raise"
        What to do where a classifier has no score on a data set: raise an error that names the
        two, or leave the data set out, and list it in ``dropped``.
    random_state : int, RandomState, Generator or None, default=None
        Draws from the posteriors.

    Returns
    -------
    comparison : DatasetComparison
        With mean ranks, Friedman's test, and tables of all pairs.

    Raises
    ------
    ValueError
        If a score is missing, a data set or classifier is named twice, classifiers have other
        splits, or there are fewer than two data sets or classifiers.
    TypeError
        If `scores` is none of the above.

    Notes
    -----
    With :math:`R_j` the mean rank of classifier `j` of `k` on `N` data sets,

    .. math:: \chi^2 = \frac{12 N}{k (k+1)} \sum_j \left(R_j - \frac{k+1}{2}\right)^2 , \qquad
       F = \frac{(N - 1) \chi^2}{N (k - 1) - \chi^2} ,

    the first divided by its value for untied ranks where there are ties; F has :math:`k - 1` and
    :math:`(k - 1)(N - 1)` degrees of freedom [1]_. Neither is a gate before the pairs: Holm's
    correction and Nemenyi's test hold by themselves.

    The difference of two is the median of the Walsh averages (Hodges and Lehmann) of its values on
    the data sets, with the interval that inverts Wilcoxon's test, at Bonferroni's level for all
    pairs. With few data sets no such interval has the level and its ends are infinite. The effect
    size is the matched-pairs rank-biserial correlation.

    The posterior probabilities are those of the Bayesian signed-rank test [3]_;
    `DatasetComparison.posterior` has the hierarchical one of scores of splits.

    Mean ranks of two depend on all others [2]_, and fail where scores are of different laws. With
    scores of the same mean, of which every other one varies thirty times as much, "nemenyi" calls a
    pair of 10 classifiers different in 9 to 10 % of experiments at a nominal 5 %, "mean_ranks" in 7
    to 8 %, and F rejects in 7 to 9 %; with every other one skewed it is up to 10, 10 and 12 % on 50
    data sets. "wilcoxon" stays at 2 to 4 % and 5 to 7 %. On 5 data sets it never rejects.
    A posterior probability is no P-value: without a `rope`, one of two equal classifiers is said to
    be better with probability 0.95 in 16, 13 and 11 % of experiments on 5, 15 and 50 data sets.
    All of this, and the power, is in ``benchmarks/results/over_datasets.md``.

    References
    ----------
    .. [1] Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets.
       Journal of Machine Learning Research 7, 1-30.
    .. [2] Benavoli, A., Corani, G. and Mangili, F. (2016). Should we really use post-hoc tests
       based on mean-ranks? Journal of Machine Learning Research 17, 1-10.
    .. [3] Benavoli, A., Corani, G., Demsar, J. and Zaffalon, M. (2017). Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis. Journal of Machine
       Learning Research 18, 1-36.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.model_selection import compare_over_datasets
    >>> rng = np.random.default_rng(0)
    >>> hardness = rng.uniform(0.6, 0.9, size=(12, 1))
    >>> scores = hardness + [0.05, 0.02, 0.0] + rng.normal(scale=0.01, size=(12, 3))
    >>> frame = pd.DataFrame(scores, columns=["forest", "svm", "bayes"])
    >>> print(compare_over_datasets(frame, random_state=0))
    3 classifiers on 12 data sets, mean ranks
      forest  1.000
      svm     2.083
      bayes   2.917
    Friedman, Iman-Davenport: F = 133.00, P < 0.0001
    pairs by Wilcoxon's signed-rank test, correction: holm
      the default: it compares two by their own scores alone
    differences, 95 % intervals for all together
      forest - svm     0.0295 [0.0185, 0.0418]  P = 0.00146
      forest - bayes   0.0479 [0.0385, 0.0581]  P = 0.00146
      svm - bayes      0.0186 [0.0098, 0.0256]  P = 0.00146
      forest has the best mean rank; it differs from svm, bayes by more than chance
      (Wilcoxon's signed-rank test, level 5 % for all pairs). Of all pairs 3 of 3 differ.
      All this is of data sets like these, and of no single one.
    """
    check_confidence_level(confidence_level)
    check_option("test", test, TESTS)
    check_option("correction", correction, CORRECTIONS)
    check_option("missing", missing, ("raise", "drop"))
    rope = check_rope(rope)
    table = read_score_table(scores, missing)
    n, k = table.scores.shape
    ranks = rank_rows(table.scores)
    used, reason = _choose_test(test, n, k, 1 - confidence_level, correction)
    root = root_seed(random_state)
    pairs = _compare_pairs(table, ranks.mean(axis=0), used, correction, confidence_level)
    better, equivalent = _find_probabilities(table.scores, rope, root)
    return DatasetComparison(
        names=table.names,
        datasets=table.datasets,
        dropped=table.dropped,
        test=used,
        reason=reason,
        correction="nemenyi" if used == "nemenyi" else correction,
        scores=table.scores,
        split_scores=table.splits,
        test_fraction=table.test_fraction,
        mean_ranks=ranks.mean(axis=0),
        omnibus=friedman(ranks) if k > 2 else None,
        critical_difference=critical_difference(n, k, confidence_level),
        **pairs._asdict(),
        rope=rope,
        better=better,
        equivalent=equivalent,
        confidence_level=confidence_level,
        root=root,
    )


def _choose_test(test: str, n: int, k: int, alpha: float, correction: str) -> tuple[str, str]:
    """Return the test of pairs, and the reason for it in words."""
    if test != "auto":
        return test, "asked for"
    n_pairs = 1 if correction == "none" else k * (k - 1) // 2
    least = min(smallest_pvalue(n) * n_pairs, 1.0)
    if least <= alpha:
        return "wilcoxon", "the default: it compares two by their own scores alone"
    few = f"on {n} data sets the smallest P-value of Wilcoxon's test is {least:.2g}"
    if k == 2:
        return "wilcoxon", f"the default, though it cannot reject: {few}"
    return "nemenyi", few


class _Pairs(NamedTuple):
    """Tables (k, k) of all pairs."""

    pvalues: np.ndarray
    differences: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    effect_sizes: np.ndarray


def _compare_pairs(
    table: ScoreTable, mean_ranks: np.ndarray, test: str, correction: str, confidence_level: float
) -> _Pairs:
    (n, k), scores = table.scores.shape, table.scores
    rows, columns = np.triu_indices(k, 1)
    found = [
        signed_rank_test(scores[:, a] - scores[:, b]) for a, b in zip(rows, columns, strict=True)
    ]
    level = simultaneous_level(confidence_level, len(rows))
    lows, highs = np.array([each.limits(level) for each in found]).T
    distances = np.abs(mean_ranks[rows] - mean_ranks[columns])
    if test == "nemenyi":
        pvalues = nemenyi_pvalues(distances, n, k)
    else:
        single = np.array([each.pvalue for each in found])
        if test == "mean_ranks":
            single = mean_rank_pvalues(distances, n, k)
        pvalues = adjust_pvalues(single, correction)

    def square(above: np.ndarray, below: np.ndarray) -> np.ndarray:
        filled = np.zeros((k, k))
        filled[rows, columns], filled[columns, rows] = above, below
        return filled

    estimates = np.array([each.estimate for each in found])
    effects = np.array([each.effect_size for each in found])
    return _Pairs(
        square(pvalues, pvalues) + np.eye(k),
        square(estimates, -estimates),
        square(lows, -highs),
        square(highs, -lows),
        square(effects, -effects),
    )


def _find_probabilities(
    scores: np.ndarray, rope: float, root: np.random.SeedSequence
) -> tuple[np.ndarray, np.ndarray]:
    """Return the posterior probabilities, "row better than column" and "equivalent", (k, k)."""
    n, k = scores.shape
    weights = dirichlet_weights(n, N_DRAWS, np.random.default_rng(root))
    better, equivalent = np.zeros((k, k)), np.eye(k)
    for a, b in zip(*np.triu_indices(k, 1), strict=True):
        found = largest_fractions(signed_rank_draws(scores[:, a] - scores[:, b], rope, weights))
        better[a, b], better[b, a] = found.a_better, found.b_better
        equivalent[a, b] = equivalent[b, a] = found.equivalent
    return better, equivalent
