"""Every view of one clusterer, or of several, over a range of numbers of clusters, in one call.

The function, its report section by section, its sentences, the one clustering that a page shows
sample by sample, and several clusterers side by side.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from textwrap import shorten
from typing import Any, overload

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import UndefinedMetricWarning

from skeval._inference.estimate import Results
from skeval.cluster import (
    ClusteringComparison,
    NClustersChoice,
    ParetoDisplay,
    StabilityDisplay,
    choose_n_clusters,
    compare_clusterings,
    pareto_dominance,
)
from skeval.cluster._choose import check_candidates, resolve_parameter
from skeval.cluster._stability import (
    AGREEMENTS,
    PREDICTION_STRENGTH,
    REFERENCES,
    SMALLEST,
    check_points,
    seed_clusterer,
)
from skeval.metrics.cluster import adjusted_rand_score, external_indices, silhouette_samples
from skeval.model_selection import Comparison
from skeval.model_selection._comparison_methods import Question, Splits, compare
from skeval.report._comparison import ReportsByName
from skeval.report._evaluate import make_announcer
from skeval.report._sections import Figure, Report, Section, Table
from skeval.report._source import describe_run, write_estimator
from skeval.utils._checks import check_methods, check_option, check_same_length
from skeval.utils._plotting import Display, put_legend_above, shorten_name
from skeval.utils._seeds import RandomStateLike, small_seed
from skeval.utils._text import (
    DataFrame,
    count,
    make_frame,
    write_ends,
    write_number,
    write_pvalue,
    write_with_spread,
)

__all__ = [
    "ClustererComparison",
    "ClusteringReport",
    "evaluate_clusterer",
    "show_clusters",
    "write_choice",
    "write_warnings",
]

INDICES = ("silhouette", "dunn", "davies_bouldin_pairwise", "calinski_harabasz", "connectivity")
NEIGHBOURS = 10
MOST, MOST_SIZES = 8, 12
LONGEST_FACT = 300


@overload
def evaluate_clusterer(
    clusterer: Mapping[str, Any], X: Any, **options: Any
) -> ClustererComparison: ...
@overload
def evaluate_clusterer(clusterer: Any, X: Any, **options: Any) -> ClusteringReport: ...
def evaluate_clusterer(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] | None = None,
    labels_true: Any = None,
    indices: Sequence[str] = INDICES,
    stability: str = "prediction_strength",
    reference: str = "auto",
    n_repeats: int = 10,
    param_name: str | None = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> ClusteringReport | ClustererComparison:
    """Evaluate a clusterer at several numbers of clusters, side by side.

    Of several clusterers, given as a dict, it evaluates each on the same halves of the data and on
    the same data without structure, and compares how stable they are.

    Internal indices of the clustering of all samples, the Pareto front over them, the stability
    between random halves with the number of clusters that it chooses, agreement with known
    classes where there are any, and warnings in plain words where the choice should not be taken
    at its face.

    Parameters
    ----------
    clusterer : estimator, or dict of str to estimator
        Any clusterer, or pipeline, with `fit_predict` and a parameter for the number of clusters;
        or two of them at least, by name.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        The data. Indices and nearest neighbours are Euclidean in X as given, so scale X
        beforehand.
    n_clusters : iterable of int, default=None
        The candidates, from 2 to half the number of samples. None tries 2 to 8, as far as that.
    labels_true : array-like of shape (n_samples,), default=None
        Known classes, for orientation: neither the clusterings nor the choice use them.
    indices : sequence of str, default=("silhouette", "dunn", "davies_bouldin_pairwise", \
            "calinski_harabasz", "connectivity")
        Internal indices, as in `compare_clusterings`. Sparse X has no Calinski-Harabasz index.
    stability : {"prediction_strength", "adjusted_rand", "matched_accuracy"}, \
            default="prediction_strength"
        What is measured between halves; its rule, that of `choose_n_clusters`, makes the choice.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        The data without structure that stability is held against, as in `choose_n_clusters`.
    n_repeats : int, default=10
        Number of random halvings, at least 2.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters; None finds it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the halvings and of the clusterer's own `random_state` where that is None.
    n_jobs : int, default=None
        Number of joblib workers; the numbers do not depend on it.
    verbose : int, default=0
        1 names each step on standard error and shows how far it has come.
    memory : str, path-like or joblib.Memory, default=None
        Where finished halvings are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.

    Returns
    -------
    ClusteringReport
        Of a dict a `ClustererComparison`, which holds one for each clusterer.

    Raises
    ------
    ValueError
        If an argument breaks a rule, or an index is undefined for a clustering; the message names
        argument, rule and value.

    See Also
    --------
    skeval.cluster.choose_n_clusters : The stability and the choice alone.
    skeval.cluster.compare_clusterings : The indices and the front alone.

    Notes
    -----
    The connectivity looks at 10 neighbours, or at all others where there are fewer. What halves
    cannot hold, a k above a sixth of the samples, carries no evidence and is never chosen; see
    `choose_n_clusters`, which also says what the choice presumes.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.report import evaluate_clusterer
    >>> X, y = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> report = evaluate_clusterer(
    ...     KMeans(n_init=5), X, n_clusters=(2, 3, 4), labels_true=y, random_state=0
    ... )
    >>> report.n_clusters, report.comparison.front_names
    (3, ('k = 3',))
    """
    arguments = dict(locals())  # first, while the only local variables are the arguments
    if isinstance(clusterer, Mapping):
        return _evaluate_each(**arguments)
    check_option("stability", stability, AGREEMENTS)
    check_option("reference", reference, REFERENCES)
    check_same_length(X=X, labels_true=labels_true)
    X = check_points(clusterer, X)
    candidates = _check_range(n_clusters, X.shape[0])
    seed, say = small_seed(random_state), make_announcer(n_jobs, verbose)
    say("clusterings")
    partitions = _cluster_all(clusterer, X, candidates, param_name, seed)
    say("indices")
    comparison = compare_clusterings(
        X,
        {f"k = {k}": labels for k, labels in partitions.items()},
        indices=indices,
        n_neighbors=min(NEIGHBOURS, X.shape[0] - 1),
        n_jobs=n_jobs,
    )
    external = None
    if labels_true is not None:
        external = tuple(external_indices(labels_true, found) for found in partitions.values())
    say("stability")
    choice: Any = choose_n_clusters(  # of one method, so an NClustersChoice
        clusterer,
        X,
        n_clusters=candidates.tolist(),
        method=stability,
        reference=reference,
        n_repeats=n_repeats,
        param_name=param_name,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=verbose,
        memory=memory,
    )
    return ClusteringReport(
        comparison=comparison,
        stability=choice,
        external=external,
        partitions=partitions,
        shown=show_clusters(X, partitions, choice, seed, n_jobs),
        warnings=tuple(write_warnings(comparison, choice, X.shape[0])),
        n_samples=X.shape[0],
        n_features=X.shape[1],
        clusterer=write_estimator(clusterer),
        **describe_run("skeval.report.evaluate_clusterer", arguments, seed),
    )


def _evaluate_each(clusterer: Mapping[str, Any], **arguments: Any) -> ClustererComparison:
    """Return the reports of several clusterers under one seed, and how they compare."""
    if len(clusterer) < 2:
        raise ValueError(f"clusterer must hold at least two clusterers, got {len(clusterer)}.")
    for name, each in clusterer.items():
        check_methods(f"clusterer[{name!r}]", each, "fit_predict", "get_params", "set_params")
        resolve_parameter(each, arguments["param_name"])
    if isinstance(arguments["n_clusters"], Iterable):
        arguments["n_clusters"] = list(arguments["n_clusters"])  # each reads it
    arguments["random_state"] = seed = small_seed(arguments["random_state"])
    say = make_announcer(arguments["n_jobs"], arguments["verbose"])
    reports = {}
    for name, each in clusterer.items():
        say(f"evaluating {name}")
        reports[str(name)] = evaluate_clusterer(each, **arguments)
    made = {"clusterer": dict(clusterer)} | arguments
    return ClustererComparison(
        reports=reports,
        comparisons=compare_stabilities(reports),
        indices=_compare_indices(reports),
        warnings=tuple(f"{name}: {text}" for name, one in reports.items() for text in one.warnings),
        **describe_run("skeval.report.evaluate_clusterer", made, seed),
    )


def _check_range(n_clusters: Iterable[int] | None, n_samples: int) -> np.ndarray:
    """Return the candidates in ascending order, or raise."""
    if n_clusters is None:
        return np.arange(2, min(MOST, n_samples // 2) + 1)
    candidates = check_candidates(n_clusters, 1, PREDICTION_STRENGTH)
    for k in (candidates[0], candidates[-1]):
        if not 2 <= k <= n_samples // 2:
            raise ValueError(
                f"n_clusters must lie between 2 and {n_samples // 2}, half of the {n_samples} "
                f"samples, since halves are clustered too; got {k}."
            )
    return candidates


def _cluster_all(
    clusterer: Any, X: Any, candidates: np.ndarray, param_name: str | None, seed: int
) -> dict[int, np.ndarray]:
    """Return the labels of all samples for each number of clusters."""
    name = resolve_parameter(clusterer, param_name)
    partitions = {}
    for k in candidates.tolist():
        copy = seed_clusterer(clone(clusterer).set_params(**{name: k}), np.random.default_rng(seed))
        partitions[k] = np.asarray(copy.fit_predict(X))
    return partitions


def write_warnings(
    comparison: ClusteringComparison, choice: NClustersChoice, n_samples: int
) -> list[str]:
    """Return the sentences that a reader should know before quoting the choice."""
    tried, chosen = choice.candidates, np.flatnonzero(choice.candidates == choice.n_clusters)
    sentences = [
        f"Asked for {k} clusters, the algorithm found {found}."
        for k, found in zip(tried, comparison.n_clusters, strict=True)
        if k != found
    ]
    sentences += _write_stability_warnings(choice, n_samples)
    if not len(chosen):
        return sentences
    row = chosen[0]
    if len(tried) > 1 and row == len(tried) - 1:
        sentences.append(f"{tried[row]} is the largest k tried: a larger one may do as well.")
    better = tried[comparison.dominates[:, row]]
    if len(better):
        names = " and ".join(map(str, better))
        sentences.append(f"On the internal indices k = {names} beats the choice, k = {tried[row]}.")
    return sentences


def _write_stability_warnings(choice: NClustersChoice, n_samples: int) -> list[str]:
    """Return sentences on candidates that are stable without being evidence of clusters."""
    sentences = []
    above = choice.candidates[choice.candidates * SMALLEST > n_samples // 2]
    if above.size:
        sentences.append(
            f"Halves of {n_samples // 2} samples cannot hold {above[0]} clusters or more of "
            f"{SMALLEST} each: there is no evidence of so many."
        )
    if choice.method != PREDICTION_STRENGTH:
        return sentences
    for row in np.flatnonzero(
        (choice.values >= choice.threshold) & (choice.values < choice.limits)
    ):
        sentences.append(
            f"Halves agree on k = {choice.candidates[row]} ({choice.values[row]:.2f}), but on data "
            f"without structure, too ({choice.reference_values[row]:.2f})."
        )
    return sentences


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClusteringReport(Report):
    """A clusterer at several numbers of clusters.

    It has the `warnings`, the `seed`, the `settings`, the `versions`, the `call` and the `date` of
    every report.

    Attributes
    ----------
    comparison : ClusteringComparison
        Internal indices of the clustering of all samples by each number of clusters, and the
        Pareto front over these indices.
    stability : NClustersChoice
        How well random halves predict each other's clusters, and the choice by that rule.
    external : tuple of dict of str to float, or None
        Agreement of each clustering with known classes; None without such classes.
    partitions : dict of int to ndarray of shape (n_samples,)
        The labels of all samples by number of clusters.
    shown : ShownClusters or None
        What a page draws of the samples: the clustering of the choice, or the most stable one,
        along two principal components, with the silhouettes; None where it has one cluster.
    n_samples, n_features : int
        Size of the data.
    clusterer : str
        The clusterer, as source text.
    """

    comparison: ClusteringComparison
    stability: NClustersChoice
    external: tuple[Results, ...] | None
    partitions: dict[int, np.ndarray]
    shown: ShownClusters | None
    n_samples: int
    n_features: int
    clusterer: str

    title, before = "Clustering report", "Before you quote the choice"
    main_part, row_name = "rows", "n_clusters"

    @property
    def n_clusters(self) -> int:
        """The choice; 1 where no number of clusters is stable enough."""
        return self.stability.n_clusters

    @property
    def verdict(self) -> str:
        """The choice, with the rule that made it, and what is to be said against it."""
        return write_choice(self.stability)

    @property
    def facts(self) -> list[str]:
        """The clusterer and the size of the data."""
        clusterer = shorten(self.clusterer, LONGEST_FACT, placeholder=" …")
        return [clusterer, f"{self.n_samples} samples, {self.n_features} features"]

    @property
    def about(self) -> dict[str, Any]:
        """What `to_dict` has before the results of the sections."""
        stability = self.stability
        return {
            "clusterer": self.clusterer,
            "n_samples": self.n_samples,
            "n_features": self.n_features,
            "n_clusters": self.n_clusters,
            "rule": stability.rule,
            "threshold": stability.threshold,
            "reference": stability.reference,
            "stability": stability.method,
            "n_repeats": stability.replicates.shape[1],
        }

    def _make_sections(self) -> Iterator[Section]:
        """Yield the samples, the stability, all numbers and the indices."""
        yield self._show_samples()
        yield self._show_stability()
        yield self._show_numbers()
        yield self._show_indices()

    def _show_samples(self) -> Section:
        """Show the samples in their clusters, where there are two clusters to tell apart."""
        shown, heading, tables = self.shown, "What the clusters look like", [self._tabulate_sizes()]
        if shown is None:
            return Section(heading, tables=tables)
        figures = [
            Figure(
                partial(draw_map, shown),
                "The samples along the two directions in which they vary most, each cluster with "
                "its number at its mean. What overlaps here may be apart along other directions.",
                label=f"The samples of {shown.n_clusters} clusters on two principal components.",
                height=3.6,
            ),
            Figure(
                partial(draw_silhouettes, shown),
                "The silhouette of each sample: near 1 where its own cluster is much nearer than "
                "any other, below 0 where another one is nearer.",
                label=f"Silhouettes of the samples of {shown.n_clusters} clusters.",
                height=3.6,
            ),
        ]
        chosen = shown.n_clusters == self.n_clusters
        what = "the choice" if chosen else "no choice, the most stable k"
        told = f"Shown is k = {shown.n_clusters}, {what}."
        return Section(heading, explains=[told], figures=figures, tables=tables)

    def _tabulate_sizes(self) -> Table:
        """Return the sizes of the clusters for each number of them."""
        rows = []
        for k, labels in self.partitions.items():
            sizes = np.sort(np.unique(labels, return_counts=True)[1])[::-1].tolist()
            more = f" and {len(sizes) - MOST_SIZES} more" if len(sizes) > MOST_SIZES else ""
            rows.append((str(k), ", ".join(map(str, sizes[:MOST_SIZES])) + more))
        return Table(
            "Samples in each cluster, the largest first.",
            ["k", "sizes"],
            rows,
            quoted={str(self.n_clusters)},
            beside=True,
            n_in_text=0,
        )

    def plot(self, ax: Any = None) -> StabilityDisplay:
        """Draw the stability of each number of clusters; requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        StabilityDisplay
        """
        return StabilityDisplay.from_result(self.stability, ax=ax)

    def _show_stability(self) -> Section:
        """Show how well halves of the data predict each other's clusters."""
        figure = Figure(
            self.plot,
            f"Each of {self.stability.replicates.shape[1]} times the data were halved at random, "
            "both halves clustered, and the clusters of one predicted from the other; 1 is "
            "perfect agreement. In grey the same of data without structure, and what the rule "
            "asks for.",
            label="Stability against the number of clusters; the table holds the numbers.",
            height=3.2,
        )
        heading = "How stable is each number of clusters?"
        return Section(heading, sentences=[PRESUMES], figures=[figure])

    def _show_numbers(self) -> Section:
        """Show all numbers as a table."""
        sentences = [FRONT] if self.external is None else [FRONT, ORIENTATION]
        tables, results = [self.tabulate_numbers()], {"rows": self.rows()}
        return Section("All numbers", sentences=sentences, tables=tables, results=results)

    def tabulate_numbers(self) -> Table:
        """Return the table of all numbers, a row for each number of clusters."""
        columns = list(self._make_columns())
        chosen = self.stability.candidates == self.n_clusters
        columns.append((("", "", "choice"), ["chosen" if this else "" for this in chosen]))
        heads, cells = zip(*columns, strict=True)
        return Table(
            "Which way is better stands below each name; k is the number of clusters.",
            ["\n".join(filter(None, head)) for head in heads],
            list(zip(*cells, strict=True)),
            quoted={str(self.n_clusters)},
            left=(len(columns) - 1,),
        )

    def _make_columns(self) -> Iterator[tuple[tuple[str, ...], list[str]]]:
        """Yield the name of each column, in up to three lines, and its cells."""
        stability, comparison = self.stability, self.comparison
        yield ("k",), [str(k) for k in stability.candidates]
        for place, name in enumerate(comparison.indices):
            first, _, last = name.partition("_")
            up = "larger" if comparison.greater_is_better[place] else "smaller"
            yield (first, last.replace("_", " "), up), _write_alike(comparison.values[:, place])
        means = zip(stability.values, stability.standard_errors, strict=True)
        yield (*MEASURES[stability.method], "larger"), [write_with_spread(*each) for each in means]
        reference = [f"{value:.3f}" for value in stability.reference_values]
        yield ("the same", "without", "structure"), reference
        yield ("Pareto", "front"), ["yes" if this else "no" for this in comparison.front]
        if self.external is not None:
            values = np.array([indices["adjusted_rand"] for indices in self.external])
            yield ("adjusted", "Rand with", "classes"), _write_alike(values)

    def _show_indices(self) -> Section:
        """Show the indices against the number of clusters, and the first two by each other."""
        comparison = self.comparison
        n_panels = len(comparison.indices)
        figures = [
            Figure(
                comparison.plot,
                "Internal indices of the clustering of all samples.",
                label=f"{n_panels} internal indices against the number of clusters, as in the "
                "table.",
                height=0.5 + 1.45 * n_panels,
                n_panels=n_panels,
            )
        ]
        if n_panels > 1:
            first, second = (name.replace("_", " ") for name in comparison.indices[:2])
            figures.append(
                Figure(
                    partial(ParetoDisplay.from_result, comparison),
                    f"{first.capitalize()} against {second}; the front is that of these two "
                    "indices alone.",
                    label=f"Each number of clusters by {first} and {second}.",
                    height=3.4,
                )
            )
        return Section("What the internal indices say", figures=figures)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each number of clusters, as plain Python objects.

        Returns
        -------
        list of dict
            With the number of clusters asked for and found, the internal indices, the stability
            with its standard error, that of data without structure with its own, the limit that
            the rule sets, whether the row is on the Pareto front and whether it is the choice, and
            the adjusted Rand index where there are classes.
        """
        comparison, stability = self.comparison, self.stability
        rows = []
        for row, k in enumerate(stability.candidates.tolist()):
            found = {
                "n_clusters": k,
                "n_found": int(comparison.n_clusters[row]),
                **dict(zip(comparison.indices, comparison.values[row].tolist(), strict=True)),
                stability.method: float(stability.values[row]),
                "standard_error": float(stability.standard_errors[row]),
                "reference": float(stability.reference_values[row]),
                "reference_standard_error": float(stability.reference_standard_errors[row]),
                "limit": float(stability.limits[row]),
                "front": bool(comparison.front[row]),
                "chosen": k == self.n_clusters,
            }
            if self.external is not None:
                found["external"] = self.external[row].to_dict()
            rows.append(found)
        return rows

    def to_frame(self, part: str | None = None) -> DataFrame:
        """Return a data frame with one row for each number of clusters; needs pandas.

        Parameters
        ----------
        part : str, default=None
            "rows" (the default), or another name of `to_dict` that holds rows.

        Returns
        -------
        pandas.DataFrame
            Indexed by `n_clusters`.
        """
        if part not in (None, "rows"):
            return super().to_frame(part)
        rows = [row | row.pop("external", {}) for row in self.rows()]
        return make_frame(rows).set_index("n_clusters")


def _write_alike(values: np.ndarray) -> list[str]:
    """Return numbers with as many decimals as show four figures of the largest."""
    sizes = np.abs(values[np.isfinite(values)])
    figures = int(np.floor(np.log10(sizes.max()))) if sizes.any() else 0
    form = ".3e" if figures > 6 else f".{min(max(3 - figures, 0), 4)}f"
    return [f"{value:{form}}" for value in values]


ORIENTATION = (
    "Adjusted Rand with the known classes: for orientation only, nothing else here has seen them."
)
FRONT = "Pareto front: no other k is at least as good on every index to its left and better on one."
PRESUMES = (
    "The choice presumes clusters of the kind that the algorithm looks for (k-means and Ward: "
    "round ones); others are cut. To be cut alike in both halves is no evidence of groups, so "
    "each k is held against the same algorithm on data without structure."
)
REFERENCE_NAMES = {
    "uniform": "data without structure (uniform in the principal box)",
    "box": "data without structure (uniform in the ranges of the features)",
    "permuted": "data without structure (every column shuffled by itself)",
}


def write_choice(stability: NClustersChoice) -> str:
    """Say which number of clusters the rule chose, why, and what is to be said against it."""
    measure = " ".join(MEASURES[stability.method])
    repeats = stability.replicates.shape[1]
    hedge = ", but only just" if stability.edge else ""
    if stability.caution:
        hedge += ", which the shapes of single columns explain"
    chosen = np.flatnonzero(stability.candidates == stability.n_clusters)
    if not len(chosen):
        told = (
            f"Choice: one cluster{hedge}, since no k tried has a mean {measure} "
            f"{_write_limit(stability)}, over {repeats} random halvings."
        )
    else:
        value, error = stability.values[chosen[0]], stability.standard_errors[chosen[0]]
        best = "within one standard error of the best and "
        if stability.method == PREDICTION_STRENGTH:
            best = ""
        told = (
            f"Choice: {stability.n_clusters} clusters{hedge}, the largest k with a {measure} "
            f"{best}{_write_limit(stability)}: {write_with_spread(value, error)} over {repeats} "
            f"random halvings, where {stability.limits[chosen[0]]:.3f} is needed."
        )
    return " ".join(filter(None, (told, stability.caution, stability.edge)))


def _write_limit(stability: NClustersChoice) -> str:
    """Say how far a stability must lie above the reference."""
    above = f"at least 2/3 of the way from that of {REFERENCE_NAMES[stability.reference]} to 1"
    if stability.method != PREDICTION_STRENGTH:
        return above
    return f"of {stability.threshold:g} or more and {above}"


MEASURES = {
    "prediction_strength": ("prediction", "strength"),
    "adjusted_rand": ("adjusted Rand", "of halves"),
    "matched_accuracy": ("matched accuracy", "of halves"),
}
"""What is measured between halves, in words on two lines."""


N_COMPONENTS = 2


def show_clusters(
    X: Any,
    partitions: Mapping[int, np.ndarray],
    choice: NClustersChoice,
    seed: int,
    n_jobs: int | None,
) -> ShownClusters | None:
    """Return the clustering of the choice; None where the algorithm found one cluster only."""
    shown = choice.n_clusters
    if shown not in partitions:
        shown = int(choice.candidates[np.argmax(choice.values)])
    labels = partitions[shown]
    if len(np.unique(labels)) < 2:
        return None
    # in one layout of memory, since sums in another differ in their last digits
    points = X if issparse(X) else np.ascontiguousarray(X, dtype=float)
    silhouettes = silhouette_samples(points, labels, noise="cluster", n_jobs=n_jobs)
    components, shares = _project(points, seed)
    return ShownClusters(shown, labels, components, shares, silhouettes)


def _project(points: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates on the first two principal components, and their shares of variance."""
    n_found = min(N_COMPONENTS, points.shape[1])
    solver = "auto"
    if issparse(points):
        if points.shape[1] > N_COMPONENTS:
            solver = "arpack"  # needs no dense copy
        else:
            points = points.toarray()
    components, shares = np.zeros((points.shape[0], N_COMPONENTS)), np.zeros(N_COMPONENTS)
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing varies there are no shares
        analysis = PCA(n_found, svd_solver=solver, random_state=seed)
        components[:, :n_found] = analysis.fit_transform(points)
        shares[:n_found] = analysis.explained_variance_ratio_
    return components, shares


@dataclass(frozen=True, eq=False)
class ShownClusters:
    """A clustering of the data, seen along the directions in which they vary most.

    Attributes
    ----------
    n_clusters : int
        The number of clusters that was asked for: the choice, or the most stable one where no
        number was chosen.
    labels : ndarray of shape (n_samples,)
        The cluster of each sample.
    components : ndarray of shape (n_samples, 2)
        Coordinates on the first two principal components of X; of one feature the second is 0.
    shares : ndarray of shape (2,)
        Shares of the variance of X along them; nan where nothing varies.
    silhouettes : ndarray of shape (n_samples,)
        The silhouette of each sample.
    """

    n_clusters: int
    labels: np.ndarray
    components: np.ndarray
    shares: np.ndarray
    silhouettes: np.ndarray


MOST_POINTS = 2000
MARKERS = "o^sDvP*X"
BACKGROUND = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}


def draw_map(shown: ShownClusters, ax: Any) -> None:
    """Draw the samples on two principal components, each cluster with a marker and its number.

    Of many samples, every so many are drawn: more would not be told apart.
    """
    step = -(-len(shown.labels) // MOST_POINTS)
    drawn, labels = shown.components[::step], shown.labels[::step]
    for place, label in enumerate(np.unique(shown.labels)):
        style = {"marker": MARKERS[place % len(MARKERS)], "color": f"C{place % 2}"}
        ax.scatter(*drawn[labels == label].T, s=14, alpha=0.6, linewidths=0, **style)
    for label in np.unique(shown.labels):
        centre = shown.components[shown.labels == label].mean(axis=0)
        ax.text(*centre, str(label), ha="center", va="center", weight="bold", bbox=BACKGROUND)
    for axis, name, share in zip("xy", ("first", "second"), shown.shares, strict=True):
        told = f", {100 * share:.0f} % of the variance" if np.isfinite(share) else ""
        ax.set(**{f"{axis}label": f"{name} component{told}"})


def draw_silhouettes(shown: ShownClusters, ax: Any) -> None:
    """Draw the silhouettes of each cluster from the worst to the best, one cluster on another."""
    start, gap, ticks = 0.0, 0.02 * len(shown.labels), []
    for place, label in enumerate(np.unique(shown.labels)):
        found = np.sort(shown.silhouettes[shown.labels == label])
        rows = start + np.arange(len(found) + 1)
        ax.fill_betweenx(
            rows, np.append(found, found[-1]), step="post", color=f"C{place % 2}", alpha=0.7
        )
        ticks.append((start + len(found) / 2, f"{label} ({len(found)})"))
        start += len(found) + gap
    ax.axvline(0, color="0.5", linewidth=0.8)
    mean = shown.silhouettes.mean()
    ax.axvline(mean, color="0.5", linestyle="--", label=f"mean {mean:.3f}")
    ax.set_yticks(*zip(*ticks, strict=True))
    ax.set_ylim(start, 0)
    ax.set(xlabel="silhouette (larger is better)", ylabel="cluster (samples)")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0)


LEVEL = 0.05
"""Of all statements on which of several clusterers is more stable, together."""


@dataclass(frozen=True)
class Halvings:
    """Stabilities of several clusterers on the same halvings, of shape (n_repeats, n_names)."""

    names: tuple[str, ...]
    scores: np.ndarray
    scoring: str
    n_samples: int

    def halvings(self) -> Splits:
        """Return the stabilities, as of splits that are independent given the data."""
        return Splits(self.scores, 0.0)


def compare_stabilities(reports: Mapping[str, ClusteringReport]) -> dict[int, Comparison]:
    """Return the comparison of all pairs at each number of clusters that halves can hold.

    The level of each makes all statements hold together.
    """
    first = next(iter(reports.values()))
    choices = [report.stability for report in reports.values()]
    tried = [
        (row, k)
        for row, k in enumerate(first.stability.candidates.tolist())
        if k * SMALLEST <= first.n_samples // 2
    ]
    question = Question(confidence_level=1 - LEVEL / max(len(tried), 1))
    comparisons = {}
    with warnings.catch_warnings():  # the table shows what is undefined
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for row, k in tried:
            scores = np.column_stack([choice.replicates[row] for choice in choices])
            source = Halvings(tuple(reports), scores, first.stability.method, first.n_samples)
            comparisons[k] = compare(source, "halvings", question)
    return comparisons


def _compare_indices(reports: Mapping[str, ClusteringReport]) -> ClusteringComparison:
    """Return the internal indices of all clusterings of all clusterers, with one front."""
    parts = {name: report.comparison for name, report in reports.items()}
    first = next(iter(parts.values()))
    values = np.concatenate([part.values for part in parts.values()])
    return ClusteringComparison(
        tuple(f"{name}, {each}" for name, part in parts.items() for each in part.names),
        first.indices,
        first.greater_is_better,
        values,
        np.concatenate([part.n_clusters for part in parts.values()]),
        *pareto_dominance(values, greater_is_better=first.greater_is_better),
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClustererComparison(ReportsByName):
    """The reports of several clusterers on the same halves of the data, and how stable each is.

    It is a mapping: ``comparison["ward"]`` is the report of one of them. It has the `warnings` of
    all, and the `seed`, the `settings`, the `versions`, the `call` and the `date` of every report.

    Attributes
    ----------
    reports : dict of str to ClusteringReport
        One for each clusterer, on the same halves and the same data without structure.
    comparisons : dict of int to Comparison
        By number of clusters, as far as halves hold so many: the stabilities of all pairs, by
        Student's t of their differences halving by halving. The intervals of all pairs and all
        numbers of clusters hold together at 95 %, over random halvings of these data.
    indices : ClusteringComparison
        Internal indices of the clusterings of all samples by each clusterer and number of
        clusters, and the Pareto front of all of them.
    """

    comparisons: dict[int, Comparison]
    indices: ClusteringComparison

    title, before = "Comparison of clusterers", "Before you quote a choice"
    main_part = "clusterings"

    @property
    def n_clusters(self) -> dict[str, int]:
        """The choice of each; 1 where no number of clusters is stable enough."""
        return {name: report.n_clusters for name, report in self.items()}

    @property
    def verdict(self) -> str:
        """What each chooses, and which is more stable there."""
        chosen = [f"{name} {count(k, 'cluster')}" for name, k in self.n_clusters.items()]
        told = [f"Choices: {', '.join(chosen)}."]
        found = [write_stabler(k, self.comparisons[k]) for k in self._quoted]
        if found:
            repeats = self._first.stability.replicates.shape[1]
            told += [*found, f"This is of {repeats} random halvings of these data, the same for"]
            told[-1] += " all, and says nothing of new data, nor that the more stable is right."
        return " ".join(told)

    @property
    def facts(self) -> list[str]:
        """The size of the data, and of how many clusterers."""
        return [
            f"{self._first.n_samples} samples, {self._first.n_features} features, "
            f"{len(self)} clusterers on the same halves"
        ]

    @property
    def _quoted(self) -> list[int]:
        """The numbers of clusters that are chosen by one of them, and compared."""
        return sorted({*self.n_clusters.values()} & {*self.comparisons})

    def plot(self, ax: Any = None) -> StabilitiesDisplay:
        """Draw the stability of each clusterer at each number of clusters; requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        Display
        """
        return StabilitiesDisplay({n: report.stability for n, report in self.items()}).plot(ax)

    def _make_sections(self) -> Iterator[Section]:
        """Yield all side by side, each pair, and each clusterer."""
        yield self._show_side_by_side()
        yield self._show_pairs()
        for name, report in self.items():
            numbers = replace(report.tabulate_numbers(), n_in_text=0)
            told = [report.verdict]
            yield Section(name, explains=told, code=report.clusterer, tables=[numbers])

    def _show_side_by_side(self) -> Section:
        """Show what each chooses, with the numbers of its choice."""
        method, known = self._first.stability.method, self._first.external is not None
        head = ["clusterer", "choice", " ".join(MEASURES[method]), "needed", "Pareto front"]
        head += ["adjusted Rand\nwith classes"] * known
        rows, quoted = self.rows(), []
        for name, k in self.n_clusters.items():
            cells = ["--"] * (len(head) - 2)
            for row in rows:
                if row["name"] == name and row["chosen"]:
                    value = write_with_spread(row[method], row["standard_error"])
                    cells = [value, f"{row['limit']:.3f}", "yes" if row["front"] else "no"]
                    if known:
                        cells.append(f"{row['external']['adjusted_rand']:.3f}")
            quoted.append([name, str(k), *cells])
        figure = Figure(
            self.plot,
            "Each with its standard error over the halvings; a ring is the choice. Dashed: the "
            "same clusterer on data without structure.",
            label=f"Stability of {len(self)} clusterers against the number of clusters.",
            height=3.4,
        )
        sentences = [FRONT_OF_ALL, ORIENTATION] if known else [FRONT_OF_ALL]
        table = Table("The choice of each.", head, quoted)
        results = {"clusterings": rows}
        return Section(
            "Side by side", sentences=sentences, figures=[figure], tables=[table], results=results
        )

    def _show_pairs(self) -> Section:
        """Show the difference of every two at each number of clusters."""
        rows, lines = self.differences(), []
        for row in sorted(rows, key=lambda row: row["n_clusters"] not in self._quoted):
            ends = (row["low"], row["high"])
            cells = row["value"], ends, write_pvalue(row["pvalue"]), f"{row['adjusted_rand']:.3f}"
            lines.append((str(row["n_clusters"]), f"{row['a']} - {row['b']}", *cells))
        head = ["k", "pair", "difference", "interval", "P", "agreement"]
        n_quoted = sum(row["n_clusters"] in self._quoted for row in rows)
        table = Table("Differences at k clusters.", head, lines, n_in_text=n_quoted, left=(1, 3))
        held = LEVEL / max(len(self.comparisons), 1)
        told = (
            f"The difference is that of the {' '.join(MEASURES[self._first.stability.method])}, by "
            "Student's t over the halvings. The intervals hold together at "
            f"{100 * (1 - LEVEL):g} %, for all pairs and every k; P is corrected for the pairs, "
            f"and shows a difference from {held:.2g} down. Agreement is the adjusted Rand index of "
            "the clusterings of all samples by the two: 1 where they are the same."
        )
        return Section(
            "Which is more stable?",
            explains=[NOT_RIGHT, told],
            tables=[table],
            results={"differences": rows},
        )

    def differences(self) -> list[dict[str, Any]]:
        """Return the difference of every two clusterers at each number of clusters.

        Returns
        -------
        list of dict
            With the number of clusters, the names `a` and `b`, the stability of `a` less that of
            `b` as `value` with its `standard_error`, `low`, `high` and `pvalue`, and the adjusted
            Rand index of the two clusterings of all samples.
        """
        return [
            {
                "n_clusters": k,
                "a": each.a,
                "b": each.b,
                "value": each.value,
                "standard_error": each.standard_error,
                "low": each.interval.low,
                "high": each.interval.high,
                "pvalue": each.pvalue,
                "adjusted_rand": adjusted_rand_score(
                    self[each.a].partitions[k], self[each.b].partitions[k]
                ),
            }
            for k, found in self.comparisons.items()
            for each in found.differences.values()
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each clusterer and number of clusters, as plain Python objects.

        Returns
        -------
        list of dict
            The rows of the reports, each with the name of its clusterer; `front` is of all of them.
        """
        rows = [{"name": name} | row for name, report in self.items() for row in report.rows()]
        fronts = self.indices.front.tolist()
        return [row | {"front": front} for row, front in zip(rows, fronts, strict=True)]


FRONT_OF_ALL = (
    "Pareto front: no other k of any clusterer is at least as good on every index and better on "
    "one."
)
NOT_RIGHT = (
    "The more stable one is not the right one for that: an algorithm that cuts a cloud at the same "
    "place every time is stable, whatever the data. All halvings hold the same samples, so how the "
    "difference would vary with new ones is not told."
)


def write_stabler(k: int, found: Comparison) -> str:
    """Say which clusterer is more stable than which at a number of clusters, and what is open."""
    order = [found.names[place] for place in found.order]
    best, others = order[0], order[1:]
    pairs = {
        name: found.differences.get((best, name)) or found.differences[name, best]
        for name in others
    }
    same = [name for name, each in pairs.items() if each.value == 0 == each.standard_error]
    shown = [name for name, each in pairs.items() if each.pvalue <= each.level]
    left = [name for name in others if name not in same and name not in shown]
    told = [f"is as stable as {' and '.join(same)} on every halving"] if same else []
    for names, word in ((shown, "is"), (left, "is not shown to be")):
        if names:
            ends = [_write_ends_from(best, pairs[name]) for name in names]
            listed = " and ".join(f"{n} ({e})" for n, e in zip(names, ends, strict=True))
            told.append(f"{word} more stable than {listed}")
    return f"At k = {k} {best} {', and '.join(told)}."


def _write_ends_from(first: str, each: Any) -> str:
    """Return how much more stable the first of a pair is, with the interval."""
    low, high = each.interval.low, each.interval.high
    value = each.value
    if each.a != first:
        value, low, high = -value, -high, -low
    return f"by {write_number(value)}, {write_ends(low, high)}"


@dataclass(eq=False, repr=False)
class StabilitiesDisplay(Display):
    """The stability of several clusterers against the number of clusters, and their choices."""

    choices: Mapping[str, NClustersChoice]

    def _draw(self, ax: Any) -> None:
        """Draw the curve of each, dashed that of data without structure, and mark the choices."""
        for place, (name, each) in enumerate(self.choices.items()):
            at = each.candidates + 0.08 * (place - (len(self.choices) - 1) / 2)  # side by side
            style: dict[str, Any] = {"color": f"C{place % 2}"}
            style["marker"] = MARKERS[place % len(MARKERS)]
            options = style | {"label": shorten_name(name), "capsize": 3}
            ax.errorbar(at, each.values, each.standard_errors, **options)
            ax.plot(at, each.reference_values, linestyle="--", alpha=0.5, markersize=3, **style)
            chosen = each.candidates == each.n_clusters
            ring = {"fillstyle": "none", "markersize": 13, "color": style["color"]}
            ax.plot(at[chosen], each.values[chosen], "o", **ring)
        ax.set_xticks(each.candidates)
        ax.set_xlabel("number of clusters")
        ax.set_ylabel(f"{each.method.replace('_', ' ')}\n(mean and standard error)")
        put_legend_above(ax, 0.22, ncols=3)
