"""Evaluation of one or several clusterers at several numbers of clusters.

The function, and the comparison of several clusterers by their stability on the same halves.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning

from skeval._resampling.progress import begin_step
from skeval.cluster import (
    ClusteringComparison,
    NClustersChoice,
    choose_n_clusters,
    compare_clusterings,
    pareto_dominance,
)
from skeval.cluster._n_clusters_choice import (
    GAP,
    SEQUENTIAL,
    SILHOUETTE,
    check_candidates,
    resolve_parameter,
)
from skeval.cluster._references import REFERENCES, resolve_reference
from skeval.cluster._stability import (
    AGREEMENTS,
    PREDICTION_STRENGTH,
    SMALLEST,
    check_points,
    fit_labels,
    seed_clusterer,
)
from skeval.metrics.cluster import adjusted_rand_score, external_indices
from skeval.model_selection import Comparison
from skeval.model_selection._comparison_methods import Systems, compare
from skeval.report import _clustering
from skeval.report._clustering import MARKERS, MEASURES, ORIENTATION, ClusteringReport
from skeval.report._run import describe_run, write_estimator
from skeval.report._sections import Figure, ReportsByName, Section, Table
from skeval.utils._checks import (
    RandomStateLike,
    check_jobs,
    check_methods,
    check_option,
    check_same_length,
    small_seed,
)
from skeval.utils._plotting import Display, put_legend_above, shorten_name
from skeval.utils._text import count, write_ends, write_number, write_pvalue, write_with_spread

HALVES = (PREDICTION_STRENGTH, "adjusted_rand", SILHOUETTE)
"""Rules based on halves of the data, whose agreement is in the verdict."""

HALVING_OPTIONS = ("reference", "n_repeats", "param_name", "n_jobs", "verbose", "memory")
"""Options that `choose_n_clusters` has too."""
INDICES = ("silhouette", "dunn", "davies_bouldin_pairwise", "calinski_harabasz", "connectivity")
N_NEIGHBORS = 10
MAX_CLUSTERS = 8


@overload
def evaluate_clusterer(
    clusterer: Mapping[str, Any], X: Any, **options: Any
) -> ClustererComparison: ...
@overload
def evaluate_clusterer(clusterer: Any, X: Any, **options: Any) -> ClusteringReport: ...
def evaluate_clusterer(  # type: ignore[misc]  # the two forms do not name the options
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
    """Evaluate a clusterer at several numbers of clusters.

    A dict of clusterers is evaluated on the same halves of the data and on the same data without
    structure, and their stabilities are compared.

    The report chooses the number of clusters by sequential tests, and compares the choice with the
    other rules of `choose_n_clusters`. It has internal indices of the clustering of all samples and
    their Pareto front, the stability between random halves, agreement with known classes if there
    are any, and warnings if the choice should not be taken at face value.

    Parameters
    ----------
    clusterer : estimator, or dict of str to estimator
        Clusterer, or pipeline, with `fit_predict` and a parameter for the number of clusters; or
        at least two of them by name.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        The data. Indices and nearest neighbors use Euclidean distances in X, so scale X
        beforehand.
    n_clusters : iterable of int, default=None
        Candidates, from 2 to half the number of samples. None means 2 to 8, within this limit.
    labels_true : array-like of shape (n_samples,), default=None
        Known classes, for comparison only: neither the clusterings nor the choice use them.
    indices : sequence of str, default=("silhouette", "dunn", "davies_bouldin_pairwise", \
            "calinski_harabasz", "connectivity")
        Internal indices, as in `compare_clusterings`. Sparse X has no Calinski-Harabasz index.
    stability : {"prediction_strength", "adjusted_rand", "matched_accuracy"}, \
            default="prediction_strength"
        Measure of agreement between halves to report; the choice does not depend on it.
    reference : {"auto", "uniform", "box", "permuted", "unimodal"}, default="auto"
        Data without structure to compare halves and the gap with, as in `choose_n_clusters`.
    n_repeats : int, default=10
        Number of random halvings, at least 2.
    param_name : str, default=None
        Parameter of the clusterer for the number of clusters; None detects it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the halvings and of the clusterer's own `random_state` if that is None.
    n_jobs : int, default=None
        Number of joblib workers; the numbers do not depend on it.
    verbose : int, default=0
        1 prints each step and its progress to standard error.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished halvings. An interrupted run that is repeated with the same arguments, and
        an int as `random_state`, does only the remaining ones; see :doc:`/user_guide/scale`.

    Returns
    -------
    ClusteringReport
        For a dict, a `ClustererComparison` with one report per clusterer.

    Raises
    ------
    ValueError
        If an argument is invalid, or an index is undefined for a clustering; the message names
        argument, rule and value.

    See Also
    --------
    skeval.cluster.choose_n_clusters : Only the stability and the choice.
    skeval.cluster.compare_clusterings : Only the indices and the front.

    Notes
    -----
    The connectivity uses 10 neighbors, or all other samples if there are fewer. A k above a sixth
    of the samples cannot be tested on halves; see `choose_n_clusters` for this and for the
    assumptions of the choice.

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
    options: dict[str, Any] = {"n_clusters": n_clusters, "labels_true": labels_true}
    options |= {"indices": indices, "stability": stability, "reference": reference}
    options |= {"n_repeats": n_repeats, "param_name": param_name, "random_state": random_state}
    options |= {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    if isinstance(clusterer, Mapping):
        return _evaluate_each(clusterer, X, options)
    arguments = {"clusterer": clusterer, "X": X} | options
    check_methods("clusterer", clusterer, "fit_predict", "get_params", "set_params")
    check_option("stability", stability, AGREEMENTS)
    check_option("reference", reference, REFERENCES)
    check_same_length(X=X, labels_true=labels_true)
    X = check_points(clusterer, X)
    candidates = _check_range(n_clusters, X.shape[0])
    seed = small_seed(random_state)
    check_jobs(n_jobs, verbose)
    begin_step("clusterings", verbose)
    partitions = _cluster_all(clusterer, X, candidates, param_name, seed)
    begin_step("indices", verbose)
    comparison = compare_clusterings(
        X,
        {f"k = {k}": labels for k, labels in partitions.items()},
        indices=indices,
        n_neighbors=min(N_NEIGHBORS, X.shape[0] - 1),
        n_jobs=n_jobs,
    )
    external = None
    if labels_true is not None:
        external = tuple(external_indices(labels_true, labels) for labels in partitions.values())
    begin_step("number of clusters", verbose)
    methods = [SEQUENTIAL, *dict.fromkeys((stability, *HALVES))]
    if resolve_reference(X, reference)[0] != "permuted":  # permuted columns keep ties
        methods.append(GAP)
    with warnings.catch_warnings():  # the report has its own sentence for this
        warnings.filterwarnings("ignore", "The gap still increases", UserWarning)
        choices: Any = choose_n_clusters(  # a mapping, because there are several methods
            clusterer,
            X,
            n_clusters=candidates.tolist(),
            method=methods,
            random_state=seed,
            **{name: options[name] for name in HALVING_OPTIONS},
        )
    return ClusteringReport(
        comparison=comparison,
        choices=choices,
        stability=choices[stability],
        external=external,
        partitions=partitions,
        shown=_clustering.show_clusters(X, partitions, choices[SEQUENTIAL], seed, n_jobs),
        warnings=tuple(
            _clustering.write_warnings(
                comparison, choices[SEQUENTIAL], choices[stability], X.shape[0]
            )
        ),
        n_samples=X.shape[0],
        n_features=X.shape[1],
        clusterer=write_estimator(clusterer),
        **describe_run("skeval.report.evaluate_clusterer", arguments, seed),
    )


def _evaluate_each(
    clusterers: Mapping[str, Any], X: Any, options: dict[str, Any]
) -> ClustererComparison:
    """Return the reports of several clusterers with one seed, and their comparison."""
    if len(clusterers) < 2:
        raise ValueError(f"clusterer must hold at least two clusterers, got {len(clusterers)}.")
    for name, clusterer in clusterers.items():
        check_methods(f"clusterer[{name!r}]", clusterer, "fit_predict", "get_params", "set_params")
        resolve_parameter(clusterer, options["param_name"])
    check_jobs(options["n_jobs"], options["verbose"])
    seed = small_seed(options["random_state"])
    options = options | {"random_state": seed}
    if isinstance(options["n_clusters"], Iterable):
        options["n_clusters"] = list(options["n_clusters"])  # each report reads it
    reports = {}
    for name, clusterer in clusterers.items():
        begin_step(f"evaluating {name}", options["verbose"])
        reports[str(name)] = evaluate_clusterer(clusterer, X, **options)
    arguments = {"clusterer": dict(clusterers), "X": X} | options
    return ClustererComparison(
        reports=reports,
        comparisons=compare_stabilities(reports),
        indices=_compare_indices(reports),
        warnings=tuple(f"{name}: {text}" for name, one in reports.items() for text in one.warnings),
        **describe_run("skeval.report.evaluate_clusterer", arguments, seed),
    )


def _check_range(n_clusters: Iterable[int] | None, n_samples: int) -> np.ndarray:
    """Return the candidates in ascending order, or raise."""
    if n_clusters is None:
        return np.arange(2, min(MAX_CLUSTERS, n_samples // 2) + 1)
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
        partitions[k] = fit_labels(copy, X)
    return partitions


LEVEL = 0.05
"""Joint level of all comparisons of the stabilities."""


def compare_stabilities(reports: Mapping[str, ClusteringReport]) -> dict[int, Comparison]:
    """Compare all pairs at each number of clusters that the halves support.

    The level of each comparison is adjusted so that all intervals hold simultaneously.
    """
    first, names = next(iter(reports.values())), tuple(reports)
    candidates, scoring = first.stability.candidates.tolist(), first.stability.method
    tried = [k for k in candidates if k * SMALLEST <= first.n_samples // 2]  # ascending
    level = 1 - LEVEL / max(len(tried), 1)
    systems = Systems(names, scoring, first.n_samples, confidence_level=level)
    scores = np.array([report.stability.replicates for report in reports.values()])
    with warnings.catch_warnings():  # the table shows undefined values
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return {
            k: compare(systems, "halvings", of_k, 0.0)  # splits are independent given the data
            for k, of_k in zip(tried, scores.transpose(1, 2, 0), strict=False)
        }


def _compare_indices(reports: Mapping[str, ClusteringReport]) -> ClusteringComparison:
    """Return the internal indices of all clusterings of all clusterers, with one front."""
    parts = {name: report.comparison for name, report in reports.items()}
    first = next(iter(parts.values()))
    values = np.concatenate([part.values for part in parts.values()])
    dominates, front = pareto_dominance(values, greater_is_better=first.greater_is_better)
    return ClusteringComparison(
        tuple(f"{name}, {each}" for name, part in parts.items() for each in part.names),
        first.indices,
        first.greater_is_better,
        values,
        np.concatenate([part.n_clusters for part in parts.values()]),
        dominates,
        front,
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClustererComparison(ReportsByName):
    """Reports of several clusterers on the same halves of the data, with their stabilities.

    It is a mapping: ``comparison["ward"]`` is the report of one clusterer. It has the `warnings` of
    all reports, and the `seed`, `settings`, `versions`, `call` and `date` of every report.

    Attributes
    ----------
    reports : dict of str to ClusteringReport
        One report per clusterer, on the same halves and the same data without structure.
    comparisons : dict of int to Comparison
        For each number of clusters that the halves support: the stabilities of all pairs, compared
        by Student's t of their differences in each halving. The 95 % intervals of all pairs and
        all numbers of clusters hold simultaneously, over random halvings of these data.
    indices : ClusteringComparison
        Internal indices of the clusterings of all samples by each clusterer and number of
        clusters, and the Pareto front of all of them.
    """

    comparisons: dict[int, Comparison]
    indices: ClusteringComparison

    _title, _before = "Comparison of clusterers", "Warnings"
    _main_part = "clusterings"

    @property
    def n_clusters(self) -> dict[str, int]:
        """The choice of each clusterer; 1 if there is no evidence of more."""
        return {name: report.n_clusters for name, report in self.items()}

    @property
    def verdict(self) -> str:
        """The choice of each clusterer, and which is more stable there."""
        chosen = [
            f"{name} {count(report.n_clusters, 'cluster')} "
            f"(P = {write_pvalue(report.choice.pvalue)} for structure)"
            for name, report in self.items()
        ]
        sentences = [f"Choices: {', '.join(chosen)}."]
        stabler = [write_stabler(k, self.comparisons[k]) for k in self._quoted]
        if stabler:
            repeats = self._first.stability.replicates.shape[1]
            sentences += [
                *stabler,
                f"This is based on {repeats} random splits of these data, the same for",
            ]
            sentences[-1] += (
                " all; it does not show how results vary with new data, nor that the more stable "
                "algorithm is right."
            )
        return " ".join(sentences)

    @property
    def _facts(self) -> list[str]:
        """The size of the data, and the number of clusterers."""
        return [
            f"{self._first.n_samples} samples, {self._first.n_features} features, "
            f"{len(self)} clusterers on the same halves"
        ]

    @property
    def _quoted(self) -> list[int]:
        """Compared numbers of clusters that some clusterer chooses, or shows instead of 1."""
        return sorted({report.shown_n_clusters for report in self.values()} & {*self.comparisons})

    def plot(self, ax: Any = None) -> StabilitiesDisplay:
        """Draw the stability of each clusterer at each number of clusters; requires matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.

        Returns
        -------
        Display
        """
        return StabilitiesDisplay({n: report.stability for n, report in self.items()}).plot(ax)

    @property
    def _results(self) -> dict[str, Any]:
        """The results by their names in `to_dict` and `to_frame`, after the warnings."""
        return {"clusterings": self._rows(), "differences": self._differences()}

    def _make_sections(self) -> Iterator[Section]:
        """Yield the sections of all clusterers side by side, of pairs, and of each clusterer."""
        yield self._show_side_by_side()
        yield self._show_pairs()
        for name, report in self.items():
            numbers = replace(report._tabulate_numbers(), n_in_text=0)
            lines = [report.verdict]
            yield Section(name, explains=lines, code=report.clusterer, tables=[numbers])

    def _show_side_by_side(self) -> Section:
        """Return the section of the choice of each clusterer, with its values."""
        method, has_classes = self._first.stability.method, self._first.external is not None
        head = ["clusterer", "choice", "P for\nstructure", "rules that\nagree"]
        head += ["k shown", " ".join(MEASURES[method]), "Pareto front"]
        head += ["adjusted Rand\nwith classes"] * has_classes
        rows, lines = self._rows(), []
        by_name = {(row["name"], row["n_clusters"]): row for row in rows}
        for name, report in self.items():
            k, others = report.shown_n_clusters, [*report.choices.values()][1:]
            row, n_agree = by_name[name, k], sum(o.n_clusters == report.n_clusters for o in others)
            cells = [name, str(report.n_clusters), write_pvalue(report.choice.pvalue)]
            cells += [f"{n_agree} of {len(others)}", str(k)]
            cells += [write_with_spread(row[method], row["standard_error"])]
            cells += ["yes" if row["front"] else "no"]
            if has_classes:
                cells.append(f"{row['external']['adjusted_rand']:.3f}")
            lines.append(cells)
        figure = Figure(
            self.plot,
            "Points with standard errors over the splits; a ring marks the choice. Dashed: "
            "the same algorithm on data without structure.",
            label=f"Stability of {len(self)} clusterers against the number of clusters.",
            height=3.4,
        )
        sentences = [FRONT_OF_ALL, ORIENTATION] if has_classes else [FRONT_OF_ALL]
        title = "Choice of each algorithm; values at k, the largest silhouette for one cluster."
        table = Table(title, head, lines)
        return Section("Side by side", sentences=sentences, figures=[figure], tables=[table])

    def _show_pairs(self) -> Section:
        """Return the section of the differences at each number of clusters."""
        rows, lines = self._differences(), []
        for row in sorted(rows, key=lambda row: row["n_clusters"] not in self._quoted):
            pair = self.comparisons[row["n_clusters"]].differences[row["a"], row["b"]]
            cells = pair.value, pair.interval, write_pvalue(pair.pvalue)
            ends = f"{pair.a} - {pair.b}", f"{row['adjusted_rand']:.3f}"
            lines.append((str(row["n_clusters"]), ends[0], *cells, ends[1]))
        head = ["k", "pair", "difference", "interval", "P", "agreement"]
        n_quoted = sum(row["n_clusters"] in self._quoted for row in rows)
        table = Table("Differences at k clusters.", head, lines, n_in_text=n_quoted, left=(1, 3))
        level = LEVEL / max(len(self.comparisons), 1)
        caption = (
            f"Difference of the {' '.join(MEASURES[self._first.stability.method])}, by "
            "Student's t over the splits. Intervals are simultaneous at "
            f"{100 * (1 - LEVEL):g} % over all pairs and k; P-values are corrected for the "
            f"pairs and significant at {level:.2g} or less. Agreement is the adjusted Rand "
            "index of the two clusterings of all samples; 1 if they are identical."
        )
        return Section("Which is more stable?", explains=[NOT_RIGHT, caption], tables=[table])

    def _differences(self) -> list[dict[str, Any]]:
        """Return the differences of all pairs of clusterers at each number of clusters.

        Returns
        -------
        list of dict
            The number of clusters, the entries of ``to_dict`` of the `Difference` of the two
            stabilities, and the adjusted Rand index of the two clusterings of all samples.
        """
        return [
            {"n_clusters": k, **difference.to_dict()}
            | {"adjusted_rand": adjusted_rand_score(*(self[n].partitions[k] for n in names))}
            for k, comparison in self.comparisons.items()
            for names, difference in comparison.differences.items()
        ]

    def _rows(self) -> list[dict[str, Any]]:
        """Return one row per clusterer and number of clusters, as plain Python objects.

        Returns
        -------
        list of dict
            The rows of the reports with the name of the clusterer; `front` refers to all of them.
        """
        rows = [{"name": name} | row for name, report in self.items() for row in report._rows()]
        fronts = self.indices.front.tolist()
        return [row | {"front": front} for row, front in zip(rows, fronts, strict=True)]


FRONT_OF_ALL = (
    "Pareto front: no other k of any clusterer is at least as good on every index and better on "
    "one."
)
NOT_RIGHT = (
    "More stable does not mean right: an algorithm that cuts a cloud at the same place every "
    "time is stable on any data. All splits use the same samples, so they do not show how "
    "the difference would vary with new ones."
)


def write_stabler(k: int, comparison: Comparison) -> str:
    """Return which clusterers are more stable at a number of clusters, and the undecided pairs."""
    order = [comparison.names[place] for place in comparison.order]
    best, others = order[0], order[1:]
    pairs = {
        name: comparison.differences.get((best, name)) or comparison.differences[name, best]
        for name in others
    }
    same = [name for name, pair in pairs.items() if pair.value == 0 == pair.standard_error]
    shown = [name for name, pair in pairs.items() if pair.pvalue <= pair.level]
    left = [name for name in others if name not in same and name not in shown]
    phrases = [f"is as stable as {' and '.join(same)} on every split"] if same else []
    for names, word in ((shown, "is"), (left, "is not significantly")):
        if names:
            ends = [_write_ends_from(best, pairs[name]) for name in names]
            listed = " and ".join(f"{n} ({e})" for n, e in zip(names, ends, strict=True))
            phrases.append(f"{word} more stable than {listed}")
    return f"At k = {k} {best} {', and '.join(phrases)}."


def _write_ends_from(first: str, difference: Any) -> str:
    """Return the difference in stability of a pair, with its interval."""
    low, high = difference.interval.low, difference.interval.high
    value = difference.value
    if difference.a != first:
        value, low, high = -value, -high, -low
    return f"by {write_number(value)}, {write_ends(low, high)}"


@dataclass(eq=False, repr=False)
class StabilitiesDisplay(Display):
    """Plot of the stability of several clusterers against the number of clusters."""

    choices: Mapping[str, NClustersChoice]

    def _draw(self, ax: Any) -> None:
        """Draw a curve for each clusterer and for data without structure; mark the choices."""
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
