"""Several classifiers on several data sets: the result of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from skeval._inference.posteriors import (
    dirichlet_weights,
    hierarchical_draws,
    signed_rank_draws,
)
from skeval._inference.rank_tests import FriedmanTest, find_equal, find_groups
from skeval.model_selection._comparison_checks import check_rope
from skeval.model_selection._region_posterior import RegionPosterior
from skeval.utils._checks import check_option
from skeval.utils._frames import DataFrame, make_frame
from skeval.utils._text import (
    ShownAsText,
    align_text,
    fill_text,
    say_pvalue,
    write_ends,
    write_number,
)

__all__ = ["N_DRAWS", "DatasetComparison"]

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
