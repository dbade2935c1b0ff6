"""Which of several classifiers is better, on several data sets?

The comparison by ranks, its result, and what the data sets seen say about the difference of two
classifiers on a next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator, SeedSequence

from skeval._inference.paired import (
    CORRECTIONS,
    RegionProbabilities,
    adjust_pvalues,
    simultaneous_level,
)
from skeval._inference.posteriors import (
    dirichlet_weights,
    hierarchical_draws,
    largest_fractions,
    signed_rank_draws,
)
from skeval._inference.ranks import (
    FriedmanTest,
    critical_difference,
    find_equal,
    find_groups,
    friedman,
    mean_rank_pvalues,
    nemenyi_pvalues,
    rank_rows,
    signed_rank_test,
    smallest_pvalue,
)
from skeval.model_selection._comparison import check_rope
from skeval.model_selection._run_over_datasets import ScoreTable, read_score_table
from skeval.utils._checks import check_confidence_level, check_option
from skeval.utils._compat import validate_params
from skeval.utils._seeds import RandomStateLike, root_seed
from skeval.utils._text import (
    DataFrame,
    ShownAsText,
    align_text,
    fill_text,
    make_frame,
    say_pvalue,
    write_ends,
    write_number,
    write_probability,
)

__all__ = ["DatasetComparison", "RegionPosterior", "compare_over_datasets"]

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


N_DRAWS = 10_000
"""From the posterior of the signed-rank test: a probability is known to 0.01."""

TITLES = {
    "wilcoxon": "Wilcoxon's signed-rank test",
    "nemenyi": "Nemenyi's test",
    "mean_ranks": "mean ranks, normal",
}


@dataclass(frozen=True, eq=False)
class DatasetComparison(ShownAsText):
    """Several classifiers on several data sets, and which of them differ by more than chance.

    In a table of pairs the row comes first: ``differences[i, j]`` is `i` minus `j`.

    Attributes
    ----------
    names, datasets : tuple of str
        The classifiers and the data sets.
    dropped : tuple of str
        Data sets that were left out for a missing score.
    test : str
        How two classifiers were compared: "wilcoxon", "nemenyi" or "mean_ranks".
    reason : str
        Why by this test.
    correction : str
        Of the P-values, for the number of pairs.
    scores : ndarray of shape (n_datasets, n_classifiers)
        The scores, means over the splits.
    split_scores : list of ndarray of shape (n_splits, n_classifiers), or None
        Those of the splits of each data set, where they were given.
    test_fraction : float or None
        The part of a data set on which a split is tested, where `run_over_datasets` made them.
    mean_ranks : ndarray of shape (n_classifiers,)
        1 is the rank of the highest score on a data set, ties share theirs.
    omnibus : FriedmanTest or None
        Friedman's and Iman and Davenport's test that no classifier differs; None of two.
    critical_difference : float
        Of mean ranks, from which Nemenyi's test calls two different.
    pvalues : ndarray of shape (n_classifiers, n_classifiers)
        Of all pairs, corrected; 1 on the diagonal.
    differences : ndarray of shape (n_classifiers, n_classifiers)
        Hodges and Lehmann's estimates of the difference of scores.
    lows, highs : ndarray of shape (n_classifiers, n_classifiers)
        Ends of simultaneous intervals of `differences`; infinite where there are too few data sets.
    effect_sizes : ndarray of shape (n_classifiers, n_classifiers)
        Matched-pairs rank-biserial correlations, in [-1, 1].
    rope : float
        Half the width of the region of practical equivalence.
    better : ndarray of shape (n_classifiers, n_classifiers)
        Posterior probability that the row is better than the column by more than `rope`, by the
        Bayesian signed-rank test.
    equivalent : ndarray of shape (n_classifiers, n_classifiers)
        That neither is.
    confidence_level : float
        With which all intervals hold together.
    """

    names: tuple[str, ...]
    datasets: tuple[str, ...]
    dropped: tuple[str, ...]
    test: str
    reason: str
    correction: str
    scores: np.ndarray = field(repr=False)
    split_scores: list[np.ndarray] | None = field(repr=False)
    test_fraction: float | None
    mean_ranks: np.ndarray
    omnibus: FriedmanTest | None
    critical_difference: float
    pvalues: np.ndarray = field(repr=False)
    differences: np.ndarray = field(repr=False)
    lows: np.ndarray = field(repr=False)
    highs: np.ndarray = field(repr=False)
    effect_sizes: np.ndarray = field(repr=False)
    rope: float
    better: np.ndarray = field(repr=False)
    equivalent: np.ndarray = field(repr=False)
    confidence_level: float
    root: SeedSequence = field(repr=False)

    @property
    def order(self) -> np.ndarray:
        """Places of the classifiers from the best mean rank to the worst."""
        return np.argsort(self.mean_ranks, kind="stable")

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Longest runs of neighbours by mean rank of which no two are found different."""
        alpha = 1 - self.confidence_level
        found = find_groups(self.order, self.pvalues, alpha)
        return [tuple(self.names[place] for place in group) for group in found]

    def posterior(
        self,
        a: str,
        b: str,
        *,
        method: str = "signed_rank",
        rope: float | None = None,
        test_fraction: float | None = None,
    ) -> RegionPosterior:
        """Return the Bayesian test of two classifiers.

        Parameters
        ----------
        a, b : str
            Names of the two.
        method : {"signed_rank", "hierarchical"}, default="signed_rank"
            "signed_rank" takes one score of each on a data set. "hierarchical" takes the scores of
            the splits, and so knows how sure the difference on each data set is, but takes the
            differences for Student's t around their centre.
        rope : float, default=None
            Half the width of the region of practical equivalence; None takes that of the result.
        test_fraction : float, default=None
            The part of a data set on which a split is tested, which is the correlation of the
            splits: 0.1 of ten folds, however often repeated ("hierarchical"). None takes that of
            `run_over_datasets`.

        Returns
        -------
        RegionPosterior
        """
        check_option("method", method, ("signed_rank", "hierarchical"))
        for name, value in (("a", a), ("b", b)):
            check_option(name, value, self.names)
        rope = self.rope if rope is None else check_rope(rope)
        i, j = self.names.index(a), self.names.index(b)
        if method == "hierarchical":
            draws = self._draw_hierarchical(i, j, rope, test_fraction)
        else:
            rng = np.random.default_rng(self.root)
            weights = dirichlet_weights(len(self.datasets), N_DRAWS, rng)
            draws = signed_rank_draws(self.scores[:, i] - self.scores[:, j], rope, weights)
        return RegionPosterior(method, a, b, rope, len(self.datasets), draws)

    def _draw_hierarchical(
        self, i: int, j: int, rope: float, test_fraction: float | None
    ) -> np.ndarray:
        if self.split_scores is None:
            raise ValueError("method='hierarchical' needs scores of splits, got one a data set.")
        fraction = self.test_fraction if test_fraction is None else test_fraction
        if fraction is None or not 0 < fraction < 1:
            raise ValueError(
                f"test_fraction must lie in (0, 1), 0.1 for ten folds, got {fraction!r}."
            )
        differences = [scores[:, i] - scores[:, j] for scores in self.split_scores]
        if rope == 0 and any(np.ptp(each) == 0 for each in differences):
            raise ValueError("rope must be > 0 where two differ by the same on every split.")
        rng = np.random.default_rng(self.root)
        return hierarchical_draws(differences, rope, fraction, rng)

    @property
    def conclusion(self) -> str:
        """What may be concluded, and what not, in words."""
        alpha, order = 1 - self.confidence_level, self.order
        best = find_equal(self.mean_ranks, self.mean_ranks.min())
        found = (self.pvalues[best] <= alpha).all(axis=0)
        beaten = [self.names[j] for j in order if found[j] and j not in best]
        rest = [self.names[j] for j in order if not found[j] and j not in best]
        alone = len(best) == 1
        said = " and ".join(self.names[j] for j in best)
        said += f" {'has' if alone else 'share'} the best mean rank"
        if beaten:
            said += f"; {'it differs' if alone else 'they differ'} from {', '.join(beaten)}"
            said += " by more than chance"
        n_found = int((self.pvalues[np.triu_indices(len(self.names), 1)] <= alpha).sum())
        said += f" ({TITLES[self.test]}, level {100 * alpha:.3g} % for all pairs). "
        if n_found > len(beaten) * len(best):
            said += f"Of all pairs {n_found} of {len(self._list_pairs())} differ. "
        if rest:
            who = "It is not" if alone else "Not all of them are"
            said += f"{who} shown to differ from {', '.join(rest)}, which is no proof of equality. "
        if self.test != "wilcoxon":
            said += "Mean ranks of two depend on who else takes part. "
        return said + "All this is of data sets like these, and of no single one."

    def to_frame(self) -> DataFrame:
        """Return one row for each pair.

        Returns
        -------
        pandas.DataFrame
        """
        return make_frame([self._describe_pair(*pair) for pair in self._list_pairs()])

    def _list_pairs(self) -> list[tuple[int, int]]:
        places = self.order.tolist()
        return [(i, j) for at, i in enumerate(places) for j in places[at + 1 :]]

    def _describe_pair(self, i: int, j: int) -> dict[str, Any]:
        tables = {"difference": self.differences, "low": self.lows, "high": self.highs}
        tables |= {"pvalue": self.pvalues, "effect_size": self.effect_sizes}
        described: dict[str, Any] = {"a": self.names[i], "b": self.names[j]}
        described |= {name: float(table[i, j]) for name, table in tables.items()}
        found = {"a_better": self.better[i, j], "equivalent": self.equivalent[i, j]}
        return described | found | {"b_better": self.better[j, i]}

    def __str__(self) -> str:
        title = f"{len(self.names)} classifiers on {len(self.datasets)} data sets"
        if self.dropped:
            title += f" ({len(self.dropped)} dropped: {', '.join(self.dropped)})"
        ranks = [(self.names[j], f"{self.mean_ranks[j]:.3f}") for j in self.order]
        lines = [align_text(f"{title}, mean ranks", ranks)]
        if self.omnibus is not None:
            f, p = self.omnibus.f_statistic, self.omnibus.f_pvalue
            lines.append(f"Friedman, Iman-Davenport: F = {f:.2f}, {say_pvalue(p, 3)}")
        lines.append(f"pairs by {TITLES[self.test]}, correction: {self.correction}")
        lines.append(fill_text(self.reason))
        rows = []
        for row in (self._describe_pair(*pair) for pair in self._list_pairs()):
            ends = write_ends(row["low"], row["high"])
            said = f"{write_number(row['difference']):>7} {ends}  {say_pvalue(row['pvalue'], 3)}"
            rows.append((f"{row['a']} - {row['b']}", said))
        level = f"differences, {100 * self.confidence_level:g} % intervals for all together"
        return "\n".join([*lines, align_text(level, rows), fill_text(self.conclusion)])


@dataclass(frozen=True, eq=False)
class RegionPosterior(ShownAsText):
    """How probable it is that one of two classifiers is better on a next data set.

    Attributes
    ----------
    method : {"signed_rank", "hierarchical"}
        The Bayesian test.
    name_a, name_b : str
        The classifiers.
    rope : float
        Half the width of the region of practical equivalence.
    n_datasets : int
        Number of data sets.
    draws : ndarray of shape (n_draws, 3)
        Draws from the posterior of three probabilities: that on a next data set `a` is better by
        more than `rope`, neither is, or `b` is.
    probabilities : RegionProbabilities
        Fraction of the draws in which each of the three is the largest: ``a_better``,
        ``equivalent``, ``b_better``.
    """

    method: str
    name_a: str
    name_b: str
    rope: float
    n_datasets: int
    draws: np.ndarray = field(repr=False)
    probabilities: RegionProbabilities = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", largest_fractions(self.draws))

    @property
    def conclusion(self) -> str:
        """What may be concluded, and what not, in words."""
        better, equivalent, worse = self.probabilities
        said = {
            better: f"{self.name_a} is the better one on data sets like these",
            equivalent: f"{self.name_a} and {self.name_b} are practically equivalent on data sets "
            "like these",
            worse: f"{self.name_b} is the better one on data sets like these",
        }
        largest = max(better, equivalent, worse)
        if largest >= 0.95:
            probability = write_probability(largest)
            return f"{said[largest]}, with probability {probability}; a single one may differ."
        return (
            "Nothing is settled: no one of better, equivalent and worse has the probability 0.95. "
            "More data sets are needed."
        )

    def __str__(self) -> str:
        rows = [
            (f"{self.name_a} better", write_probability(self.probabilities.a_better)),
            (f"equivalent within {self.rope:g}", write_probability(self.probabilities.equivalent)),
            (f"{self.name_b} better", write_probability(self.probabilities.b_better)),
        ]
        title = f"{self.method}, {self.n_datasets} data sets"
        return align_text(title, rows) + "\n" + fill_text(self.conclusion)
