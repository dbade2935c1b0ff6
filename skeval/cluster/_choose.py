"""Choice of the number of clusters by stability, silhouette or the gap statistic.

Each method computes a value and a limit for each candidate, and compares them with the results of
the same clusterer on reference data without structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from scipy.sparse import issparse
from scipy.stats import sem, t
from sklearn.base import clone

from skeval._inference.estimate import Details, Result, Results
from skeval.cluster import _stability
from skeval.cluster._stability import (
    AGREEMENTS,
    PREDICTION_STRENGTH,
    REFERENCE_WORDS,
    REFERENCES,
    SMALLEST,
    STABILITY,
    Draw,
    Draws,
    Measure,
    Seed,
)
from skeval.metrics.cluster import compactness_score, within_cluster_distances
from skeval.metrics.cluster._kernels.distances import to_centroids
from skeval.metrics.cluster._samples import partition_rows
from skeval.utils import _text
from skeval.utils._checks import check_option, in_order, is_no_table, root_seed, warn_user
from skeval.utils._compat import Interval, StrOptions, validate_params
from skeval.utils._text import DataFrame

GAP = "gap"
SHARE = 2 / 3
"""Required fraction of the distance from the reference to 1; see `choose_n_clusters`."""

ERROR = 0.05
"""Probability that, without structure, the silhouette of any candidate reaches its limit."""

SQUARED = "sqeuclidean"
Array = np.ndarray


class Measured(NamedTuple):
    """Means and standard errors of the candidates, both (K,), and the reference.

    `reference` contains the (K, B) values on reference data; `threshold` is the smallest prediction
    strength of real clusters.
    """

    values: Array
    errors: Array
    reference: Array
    threshold: float

    @property
    def share_of_the_way(self) -> Array:
        """Values at the fraction `SHARE` of the distance from the reference to 1."""
        base = self.reference.mean(axis=1)
        return base + SHARE * (1 - base)

    def near_the_best(self, limits: Array) -> Array:
        """Raise limits to one standard error below the best sufficient candidate."""
        base = self.reference.mean(axis=1)
        sufficient = np.flatnonzero((self.values >= limits) & (self.values > base))
        if not sufficient.size:
            return limits
        best = sufficient[np.argmax(self.values[sufficient])]
        return np.maximum(limits, self.values[best] - self.errors[best])


def limit_strength(measured: Measured) -> Array:
    """Return the required prediction strength of each candidate."""
    return np.maximum(measured.share_of_the_way, measured.threshold)


def limit_agreement(measured: Measured) -> Array:
    """Return the required agreement of halves of each candidate, near the best."""
    return measured.near_the_best(measured.share_of_the_way)


def limit_silhouette(measured: Measured) -> Array:
    """Return the required silhouette of each candidate, near the best.

    It is the simultaneous upper prediction limit for one more draw of the reference.
    """
    n_candidates, n_draws = measured.reference.shape
    quantile = t.isf(ERROR / n_candidates, n_draws - 1)
    spread = measured.reference.std(axis=1, ddof=1) * np.sqrt(1 + 1 / n_draws)
    return measured.near_the_best(measured.reference.mean(axis=1) + quantile * spread)


def limit_gap(measured: Measured) -> Array:
    """Return the gap of the next candidate minus its standard error; -inf for the last."""
    return np.append((measured.values - measured.errors)[1:], -np.inf)


class Method(NamedTuple):
    """Method that chooses the number of clusters.

    Attributes
    ----------
    measure : callable or None
        Measure of two halves; None for the gap, which uses all samples.
    limits : callable
        ``(measured) -> limits``: required value of each candidate.
    rule : str
        Rule of the choice, in words.
    takes_one : bool
        Whether a single cluster has a value.
    takes_largest : bool
        Whether the largest candidate that reaches its limit is chosen, or the smallest.
    """

    measure: Measure | None
    limits: Callable[[Measured], Array]
    rule: str
    takes_one: bool = False
    takes_largest: bool = True


_LEAST = "at least 2/3 of the way from the reference to 1, else 1"
METHODS = {
    name: Method(
        partial(_stability.agree_both_ways, agreement),
        limit_agreement,
        f"largest k within one standard error of the best and {_LEAST}",
    )
    for name, agreement in AGREEMENTS.items()
} | {
    PREDICTION_STRENGTH: Method(
        partial(_stability.agree_both_ways, AGREEMENTS[PREDICTION_STRENGTH]),
        limit_strength,
        f"largest k with strength >= {{threshold:g}} and {_LEAST}",
        takes_one=True,
    ),
    "silhouette": Method(
        _stability.mean_silhouette,
        limit_silhouette,
        "smallest k within one standard error of the best and above the reference, else 1",
        takes_largest=False,
    ),
    GAP: Method(
        None,
        limit_gap,
        "smallest k whose gap is within one standard error of that of the next k",
        takes_one=True,
        takes_largest=False,
    ),
}


class Trial(NamedTuple):
    """Inputs shared by all methods."""

    X: Any
    clusterer: Any
    parameter: str
    kind: str
    draws: Draws
    n_repeats: int
    threshold: float
    root: SeedSequence
    options: dict[str, Any]


def read_trial(
    clusterer: Any,
    X: Any,
    param_name: str | None,
    reference: str,
    n_repeats: int,
    threshold: float,
    random_state: Seed,
    **options: Any,
) -> Trial:
    """Return the validated inputs; raise if parameter or reference cannot be resolved."""
    parameter = resolve_parameter(clusterer, param_name)
    kind, draws = _stability.resolve_reference(X, reference)
    root = root_seed(random_state)
    return Trial(X, clusterer, parameter, kind, draws, n_repeats, threshold, root, options)


@in_order(clusterer=is_no_table, X=None)
@validate_params(
    STABILITY
    | {
        "method": [StrOptions(set(METHODS)), list, tuple],
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "reference": [StrOptions(set(REFERENCES))],
        "param_name": [str, None],
    }
)
def choose_n_clusters(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] = range(1, 11),
    method: str | Sequence[str] = "prediction_strength",
    threshold: float = 0.8,
    reference: str = "auto",
    n_repeats: int = 20,
    param_name: str | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> NClustersChoice | Results:
    r"""Choose the number of clusters by stability, silhouette or the gap statistic.

    Stability alone can mislead: K-means splits an elongated cloud in the middle, the same way in
    both halves, and uniform noise almost as consistently. Therefore each candidate is evaluated on
    the same random halves of the data, and on halves of simulated reference data without structure.
    With the mean stability :math:`s_k` and its mean in the reference :math:`r_k`, a candidate is
    sufficient if

    .. math:: \frac{s_k - r_k}{1 - r_k} \ge \frac23 ,

    where 1 means full agreement of the halves and 0 the agreement of halves of noise. With
    ``"prediction_strength"`` it must also reach `threshold`, and the choice is the largest
    sufficient k; with ``"adjusted_rand"`` or ``"matched_accuracy"`` the largest whose mean
    `predictive_power` lies within one standard error of the best sufficient one. It is 1 if no
    candidate is sufficient.

    With ``"silhouette"`` the mean silhouette of the separately clustered halves must exceed the
    prediction limit of one more draw of the reference, 95 % simultaneously for all candidates. The
    choice is the smallest k within one standard error of the best of these, or 1 if there is none.
    ``"gap"`` is the gap statistic of all samples with its own rule, see `gap_statistic`. A list
    compares several methods.

    Parameters
    ----------
    clusterer : estimator
        Clusterer or pipeline with `fit_predict` and a parameter for the number of clusters.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Nearest neighbors are computed with Euclidean distance on X as passed, so scale X
        beforehand.
    n_clusters : iterable of int, default=range(1, 11)
        Candidates, at least 2, or at least 1 for prediction strength and the gap; the gap always
        includes 1. In a list, methods that do not support 1 omit it.
    method : str or list of str, default="prediction_strength"
        "prediction_strength", "adjusted_rand", "matched_accuracy", "silhouette" or "gap"; a list
        compares several, on the same clusterings of the same halves.
    threshold : float, default=0.8
        Smallest strength of real clusters; only used by prediction strength.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        Reference data without structure: points drawn uniformly in the bounding box of the data
        along the principal axes ("uniform") or along the features ("box"), or the data with each
        column permuted separately ("permuted"), which preserves groups that a single column shows.
        "auto" is "uniform", or "permuted" for sparse X.
    n_repeats : int, default=20
        Number of random halvings and of draws of reference data, at least 2.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters. None uses `n_clusters` or
        `n_components`, also in a pipeline if unique.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the halvings and of the clusterer's own `random_state` if that is None.
    n_jobs : int, default=None
        Number of halvings computed in parallel through joblib; results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache for finished fits. An interrupted run that restarts with the same arguments and an int
        `random_state` only computes the remaining fits; see :doc:`/user_guide/scale`.

    Returns
    -------
    NClustersChoice or dict of str to NClustersChoice
        The choice, its rule, and the curve of values with standard errors; for a list of methods,
        the choices by name.

    Raises
    ------
    ValueError
        If there is no candidate or one is out of range, if the parameter for the number of
        clusters is not found or not unique, if the clusterer takes precomputed distances, or if
        X has fewer than 4 samples, is not finite or of a size whose squares are not.

    See Also
    --------
    predictive_power : Computes the agreement of halves.
    gap_statistic : Computes the gap alone, with its dispersions.
    StabilityDisplay : Draws the curve.

    Notes
    -----
    A halving counts 0 for k clusters if either half lacks k clusters of 3 samples or more: a
    cluster of one sample has no pair that could be separated, and k above n/6 clusters cannot occur
    in a half. The paper [1]_ and R's fpc compare the strength itself with 0.8 to 0.9, which reports
    two clusters for an elongated cloud split in the middle. The limit of two thirds was determined
    by simulation; the reference is the gap statistic's [2]_.

    The choice assumes clusters of the kind that the algorithm detects: K-means, Ward's method and
    spherical mixtures detect round clusters and split others. Without structure (Gaussian and
    uniform noise, n from 8 to 200, 200 points with 8 outliers; K-means, Ward and single linkage)
    the tests require that prediction strength chooses 1 in at least 95 % of data sets. In 25
    Gaussian data sets of 50 samples the silhouette chose 1 in 24, the gap in 25. Skewed and
    heavy-tailed data are not uniform either. In 30 two-dimensional data sets of 80 samples for each
    of four distributions (exponential, chi-squared with 4 and Student's t with 3 degrees of
    freedom, log-normal; K-means, k up to 5, 10 halvings), all methods but the silhouette always
    chose 1; the silhouette chose more in 2 exponential and 3 log-normal data sets. Therefore, if k
    > 1 is chosen against a box and the columns are uncorrelated, the choice is also compared with
    separately permuted columns. Its `caution` reports a failure of this test, and its `edge` a
    narrow decision.

    References
    ----------
    .. [1] Tibshirani, R. and Walther, G. (2005). Cluster validation by prediction strength. Journal
       of Computational and Graphical Statistics 14, 511-528.
       https://doi.org/10.1198/106186005X59243
    .. [2] Tibshirani, R., Walther, G. and Hastie, T. (2001). Estimating the number of clusters in a
       data set via the gap statistic. Journal of the Royal Statistical Society B 63, 411-423.
       https://doi.org/10.1111/1467-9868.00293

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.cluster import choose_n_clusters
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> choice = choose_n_clusters(
    ...     KMeans(n_init=2), X, n_clusters=range(1, 5), n_repeats=5, random_state=0
    ... )
    >>> choice.n_clusters
    3
    """
    X = _stability.check_points(clusterer, X)
    methods = [method] if isinstance(method, str) else _check_methods(method)
    n_clusters = list(n_clusters) if isinstance(n_clusters, Iterable) else n_clusters
    candidates = {name: _candidates_of(name, n_clusters, len(methods)) for name in methods}
    if GAP in methods:
        check_sizes(X, candidates[GAP])
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    trial = read_trial(
        clusterer, X, param_name, reference, n_repeats, float(threshold), random_state, **options
    )
    choices = _explain_choices(trial, _choose_all(trial, candidates))
    if isinstance(method, str):
        return choices[method]
    return Results({name: choices[name] for name in methods})


def _check_methods(methods: Sequence[str]) -> list[str]:
    """Return the validated names of distinct methods."""
    if not methods:
        raise ValueError("method must hold at least one name, got none.")
    return list(dict.fromkeys(check_option("method", name, METHODS) for name in methods))


def _choose_all(trial: Trial, candidates: dict[str, np.ndarray]) -> dict[str, NClustersChoice]:
    """Return the choice of each method among its own candidates."""
    choices = _choose_by_halves(trial, {k: v for k, v in candidates.items() if k != GAP})
    if GAP in candidates:
        choices[GAP] = _choose_by_gap(trial, candidates[GAP])
    return choices


def _explain_choices(
    trial: Trial, choices: dict[str, NClustersChoice]
) -> dict[str, NClustersChoice]:
    """Add a caution to choices that are not confirmed against permuted columns."""
    chosen = {name: c.n_clusters for name, c in choices.items() if c.n_clusters > 1}
    shuffle = _stability.shuffle_when_uncorrelated(trial.X, trial.kind) if chosen else None
    if shuffle is None:
        return choices
    candidates = {
        name: np.arange(1, k + 1) if name == GAP else np.array([k]) for name, k in chosen.items()
    }
    again = _choose_all(trial._replace(kind="permuted", draws=shuffle), candidates)
    cautions = {
        name: _stability.explain_by_columns(trial.X, f"k = {k} as well")
        for name, k in chosen.items()
        if again[name].n_clusters == 1
    }
    return choices | {name: replace(choices[name], caution=text) for name, text in cautions.items()}


def _candidates_of(method: str, n_clusters: Iterable[int], n_methods: int) -> np.ndarray:
    """Return the candidates of a method; among several, a method omits an unsupported 1."""
    takes_one = METHODS[method].takes_one
    if not takes_one and n_methods > 1:
        n_clusters = [k for k in check_candidates(n_clusters, 1, method).tolist() if k > 1]
    candidates = check_candidates(n_clusters, 1 if takes_one else 2, method)
    return np.union1d(candidates, 1) if method == GAP else candidates


def _choose_by_halves(
    trial: Trial, candidates: dict[str, np.ndarray]
) -> dict[str, NClustersChoice]:
    """Return the choice of each method that measures halves; all use the same halves."""
    if not candidates:
        return {}
    union = np.unique(np.concatenate(list(candidates.values())))
    possible = union * SMALLEST <= trial.X.shape[0] // 2
    clusterers = with_n_clusters(trial.clusterer, trial.parameter, union[possible])
    measures = [measure for name in candidates if (measure := METHODS[name].measure)]
    table = np.zeros((len(measures), 2, len(union), trial.n_repeats))
    table[:, :, possible] = _stability.run_halvings(
        clusterers, trial.X, trial.draws, measures, trial.n_repeats, trial.root, trial.options
    )
    return {
        method: _read_choice(trial, method, own, values[:, np.isin(union, own)])
        for (method, own), values in zip(candidates.items(), table, strict=True)
    }


def _read_choice(
    trial: Trial, method: str, candidates: np.ndarray, both: np.ndarray
) -> NClustersChoice:
    """Return the choice from the (2, K, n_repeats) values of data and reference."""
    (values, base), (errors, base_errors) = both.mean(axis=-1), sem(both, axis=-1)
    limits = METHODS[method].limits(Measured(values, errors, both[1], trial.threshold))
    return NClustersChoice(
        n_clusters=pick_candidate(method, candidates, values, limits, base),
        candidates=candidates,
        values=values,
        standard_errors=errors,
        replicates=both[0],
        reference_values=base,
        reference_standard_errors=base_errors,
        reference_replicates=both[1],
        limits=limits,
        method=method,
        reference=trial.kind,
        threshold=trial.threshold,
        rule=METHODS[method].rule.format(threshold=trial.threshold),
    )


def _choose_by_gap(trial: Trial, candidates: np.ndarray, metric: str = SQUARED) -> NClustersChoice:
    """Return the choice of the gap statistic; the gap of the reference is 0."""
    logs, reference_logs = compute_dispersions(trial, candidates, metric)
    gap, errors = read_gap(logs, reference_logs)
    limits = limit_gap(Measured(gap, errors, reference_logs, trial.threshold))
    return NClustersChoice(
        n_clusters=choose_by_gap(candidates, gap, limits),
        candidates=candidates,
        values=gap,
        standard_errors=errors,
        replicates=reference_logs - logs[:, None],
        reference_values=np.zeros(len(candidates)),
        reference_standard_errors=sem(reference_logs, axis=1),
        reference_replicates=reference_logs - reference_logs.mean(axis=1, keepdims=True),
        limits=limits,
        method=GAP,
        reference=trial.kind,
        threshold=trial.threshold,
        rule=METHODS[GAP].rule,
        details={"log_dispersions": logs, "reference_log_dispersions": reference_logs},
    )


def pick_candidate(
    method: str, candidates: Array, values: Array, limits: Array, base: Array | float
) -> int:
    """Return the chosen number of clusters; 1 if no candidate reaches its limit."""
    reached = candidates[(values >= limits) & (values > base)]
    if not reached.size:
        return 1
    return int(reached.max() if METHODS[method].takes_largest else reached.min())


def check_candidates(n_clusters: Iterable[int], smallest: int, method: str) -> np.ndarray:
    """Return the validated, distinct candidates in ascending order."""
    if not isinstance(n_clusters, Iterable):
        raise TypeError(f"n_clusters must be an iterable of integers, got {n_clusters!r}.")
    candidates = list(n_clusters)
    wrong = [
        k for k in candidates if isinstance(k, bool) or not isinstance(k, Integral) or k < smallest
    ]
    if wrong or not candidates:
        got = f"{wrong[0]!r}" if wrong else "no candidate"
        raise ValueError(
            f"n_clusters must hold integers >= {smallest} for method={method!r}, got {got}."
        )
    return np.unique(np.asarray(candidates, dtype=np.int64))


def with_n_clusters(clusterer: Any, name: str, candidates: np.ndarray) -> dict[int, Any]:
    """Return a clone of the clusterer for each number of clusters."""
    return {k: clone(clusterer).set_params(**{name: k}) for k in candidates.tolist()}


def resolve_parameter(clusterer: Any, param_name: str | None) -> str:
    """Return the validated or detected parameter for the number of clusters."""
    if param_name is None:
        return find_parameter(clusterer)
    if not isinstance(param_name, str) or param_name not in clusterer.get_params(deep=True):
        raise ValueError(
            f"param_name must be a parameter of {type(clusterer).__name__}, got {param_name!r}."
        )
    return param_name


def find_parameter(clusterer: Any) -> str:
    """Return the name of the one parameter that sets the number of clusters."""
    names = sorted(clusterer.get_params(deep=True))
    for ending in ("n_clusters", "n_components"):
        matches = [name for name in names if name.split("__")[-1] == ending]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise ValueError(f"param_name must say which of {', '.join(matches)} to set.")
    raise ValueError(
        "param_name must name the parameter for the number of clusters: "
        f"{type(clusterer).__name__} has neither n_clusters nor n_components."
    )


@dataclass(frozen=True, eq=False)
class NClustersChoice(Result):
    """Chosen number of clusters, and the values of all candidates.

    The values are stabilities, silhouettes or gaps, depending on `method`. The gap of a candidate
    is compared with the gap of the next candidate; the reference has a gap of 0.

    Attributes
    ----------
    n_clusters : int
        The chosen number of clusters.
    candidates : ndarray of shape (n_candidates,)
        Candidate numbers of clusters, ascending.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean of each candidate and its standard error over the halvings; s_k for the gap.
    replicates : ndarray of shape (n_candidates, n_repeats)
        Value of each halving. A column refers to the same halves, or for the gap to the same draw
        of the reference, for every candidate.
    reference_values, reference_standard_errors : ndarray of shape (n_candidates,)
        The same for data without structure: mean over `n_repeats` draws, each halved once.
    reference_replicates : ndarray of shape (n_candidates, n_repeats)
        Value of each draw of the reference.
    limits : ndarray of shape (n_candidates,)
        Required value of each candidate.
    method : str
        Measure of the choice.
    reference : {"uniform", "box", "permuted"}
        Reference data without structure.
    threshold : float
        Smallest strength of real clusters for any reference; only used by prediction strength.
    rule : str
        Rule of the choice, in words.
    caution : str
        Warning that shapes of single columns explain the clusters, or an empty string.
    details : mapping
        For the gap, the arrays "log_dispersions" of shape (n_candidates,) and
        "reference_log_dispersions" of shape (n_candidates, n_repeats).
    """

    n_clusters: int
    candidates: np.ndarray
    values: np.ndarray
    standard_errors: np.ndarray
    replicates: np.ndarray = field(repr=False)
    reference_values: np.ndarray
    reference_standard_errors: np.ndarray
    reference_replicates: np.ndarray = field(repr=False)
    limits: np.ndarray
    method: str
    reference: str
    threshold: float
    rule: str
    caution: str = ""
    details: Details = field(default_factory=dict, repr=False)

    @property
    def margins(self) -> np.ndarray:
        """Distance of each value above its limit; negative if below."""
        return self.values - self.limits

    @property
    def edge(self) -> str:
        """Sentence about a narrow decision; empty if the decision is clear.

        A decision is narrow if a value is within two standard errors of its limit. The standard
        errors are over halvings or, for the gap, over draws of the reference; other draws may lead
        to another choice.
        """
        ours = self.candidates == self.n_clusters
        missed = (self.margins < 0) & (self.candidates != 1)
        # if the smallest sufficient k is chosen, larger candidates are irrelevant, and vice versa
        if not METHODS[self.method].takes_largest:
            missed &= ~np.any(ours) | (self.candidates < self.n_clusters)
        else:
            missed &= self.candidates > self.n_clusters
        eligible = missed | (ours & (self.candidates > 1) & np.isfinite(self.margins))
        near = eligible & (np.abs(self.margins) < 2 * self.standard_errors)
        if not near.any():
            return ""
        row = np.flatnonzero(near)[np.argmin(np.abs(self.margins[near]))]
        k, value, margin = self.candidates[row], self.values[row], self.margins[row]
        verb = "reaches" if margin >= 0 else "misses"
        others = "draws of the reference" if self.method == GAP else "halvings"
        return (
            f"Narrow decision: k = {k} {verb} the limit of {self.limits[row]:.3f} by "
            f"{abs(margin):.3f} "
            f"({_text.write_with_spread(value, self.standard_errors[row])}), so other "
            f"{others} may choose differently."
        )

    def to_frame(self) -> DataFrame:
        """Return a data frame with one row per candidate."""
        return _text.make_frame(
            {
                self.method: self.values,
                "standard_error": self.standard_errors,
                "reference": self.reference_values,
                "reference_standard_error": self.reference_standard_errors,
                "limit": self.limits,
                "chosen": self.candidates == self.n_clusters,
            },
            self.candidates,
            "n_clusters",
        )

    def __str__(self) -> str:
        rows = [("rule", self.rule), ("reference", REFERENCE_WORDS[self.reference])]
        for k, value, error, reference, least in zip(
            self.candidates,
            self.values,
            self.standard_errors,
            self.reference_values,
            self.limits,
            strict=True,
        ):
            limit = "none" if np.isneginf(least) else _text.write_number(least)
            mark = "  <- chosen" if k == self.n_clusters else ""
            text = f"{_text.write_number(value)} +/- {_text.write_spread(error)}, "
            text += f"reference {_text.write_number(reference)}, limit {limit}{mark}"
            rows.append((f"k = {k}", text))
        text = _text.align_text(f"{_text.count(self.n_clusters, 'cluster')} by {self.method}", rows)
        return "\n".join([text, *(f"! {note}" for note in (self.edge, self.caution) if note)])


@in_order(clusterer=is_no_table, X=None)
@validate_params(
    STABILITY
    | {
        "reference": [StrOptions(set(REFERENCES))],
        "metric": [StrOptions({SQUARED, "euclidean"})],
        "n_references": [Interval(Integral, 2, None, closed="left")],
        "param_name": [str, None],
    }
)
def gap_statistic(
    clusterer: Any,
    X: Any,
    *,
    n_clusters: Iterable[int] = range(1, 11),
    reference: str = "auto",
    metric: str = SQUARED,
    n_references: int = 100,
    param_name: str | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
) -> NClustersChoice:
    r"""Compute the gap statistic for several numbers of clusters.

    The dispersion of k clusters :math:`C_r` of :math:`n_r` samples is

    .. math:: W_k = \sum_{r=1}^k \frac{1}{2 n_r} \sum_{i, j \in C_r} d_{ij} ,

    which for squared distances is the sum of squares around the centroids. It decreases as clusters
    are added, also in data without structure. The gap is the additional decrease,

    .. math:: gap(k) = \frac1B \sum_{b=1}^B \log W^*_{kb} - \log W_k , \qquad
        s_k = \sqrt{1 + 1/B}\; sd_b(\log W^*_{kb}) ,

    where :math:`W^*_{kb}` is the dispersion of the clusters in the b-th draw of data without
    structure. The choice is the smallest k with :math:`gap(k) \ge gap(k+1) - s_{k+1}`, which may be
    1.

    Parameters
    ----------
    clusterer : estimator
        Clusterer or pipeline with `fit_predict` and a parameter for the number of clusters. A
        single cluster contains all samples and needs no fit.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Distances are computed on X as passed, so scale X beforehand.
    n_clusters : iterable of int, default=range(1, 11)
        Candidates, at least 1 and fewer than the samples. The rule compares each candidate with the
        next.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        Reference data without structure: points drawn uniformly in the bounding box of the data
        along the principal axes ("uniform"), or along the features ("box"), or the data with each
        column permuted separately ("permuted"). "auto" is "uniform", or "permuted" for sparse X.
    metric : {"sqeuclidean", "euclidean"}, default="sqeuclidean"
        The distance :math:`d` of the dispersion.
    n_references : int, default=100
        Number of draws :math:`B` of reference data, at least 2.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters. None uses `n_clusters` or
        `n_components`, also in a pipeline if unique.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of the clusterer's own `random_state` if that is None.
    n_jobs : int, default=None
        Number of clusterings computed in parallel through joblib; results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar; larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache for finished fits. An interrupted run that restarts with the same arguments and an int
        `random_state` only computes the remaining fits; see :doc:`/user_guide/scale`.

    Returns
    -------
    NClustersChoice
        The choice, with the gaps as `values`, s_k as `standard_errors`, and the logarithms of the
        dispersions in `details`.

    Raises
    ------
    ValueError
        If a candidate is out of range, if the parameter for the number of clusters is not found or
        not unique, if the clusterer takes precomputed distances, or if X has fewer than 4 samples
        or only equal ones, is not finite or of a size whose squares are not, or if the reference
        data have no more distinct points than clusters.

    Warns
    -----
    UserWarning
        If no candidate satisfies the rule: the gap still increases at the largest candidate, which
        is returned.

    See Also
    --------
    choose_n_clusters : Compares the gap with prediction strength and the silhouette.
    StabilityDisplay : Draws the curve.

    Notes
    -----
    ``clusGap`` of the R package cluster sums plain distances, unless ``d.power = 2``: the example
    in the paper and the default of this function use squared distances (``metric="euclidean"``
    gives plain distances). It divides the variance by B - 1, the paper and this function by B. Its
    default rule differs from the rule of the paper, which it calls "Tibs2001SEmax". Label -1,
    noise, counts as one cluster.

    The rule may fail for nested clusters, where the gap may decrease and increase again. It also
    assumes compact clusters, which W describes well.

    References
    ----------
    .. [1] Tibshirani, R., Walther, G. and Hastie, T. (2001). Estimating the number of clusters in a
       data set via the gap statistic. Journal of the Royal Statistical Society B 63, 411-423.
       https://doi.org/10.1111/1467-9868.00293

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> from skeval.cluster import gap_statistic
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> result = gap_statistic(
    ...     KMeans(n_init=2), X, n_clusters=range(1, 6), n_references=20, random_state=0
    ... )
    >>> result.n_clusters
    3
    """
    X = _stability.check_points(clusterer, X)
    candidates = check_candidates(n_clusters, 1, GAP)
    check_sizes(X, candidates)
    options = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory}
    trial = read_trial(
        clusterer, X, param_name, reference, n_references, 0.0, random_state, **options
    )
    return _choose_by_gap(trial, candidates, metric)


def compute_dispersions(
    trial: Trial, candidates: np.ndarray, metric: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return log dispersions of the data, (K,), and of the reference, (K, B).

    All numbers of clusters use the same draws.
    """
    root = SeedSequence(trial.root.entropy, spawn_key=trial.root.spawn_key)  # without children
    of_reference = root.spawn(1)[0]
    clusterers = with_n_clusters(trial.clusterer, trial.parameter, candidates)
    measure = partial(measure_draw, trial.X, trial.draws, clusterers, metric)
    draws = [(root, 1), (of_reference, trial.n_repeats)]
    logs = _stability.run_draws(measure, draws, **trial.options)
    return np.array(logs[0]), np.array(logs[1:]).T


def measure_draw(
    X: Any, reference: Draws, clusterers: dict[int, Any], metric: str, job: Draw
) -> list[float]:
    """Cluster the data or a draw of the reference, and return the log dispersions."""
    data, logs = reference(job.rng) if job.of_reference else X, []
    for k, clusterer in _stability.seed_alike(clusterers, job.rng).items():
        labels = np.zeros(data.shape[0]) if k == 1 else _stability.fit_labels(clusterer, data)
        logs.append(log_dispersion(data, labels, metric))
    return logs


def log_dispersion(X: Any, labels: np.ndarray, metric: str) -> float:
    """Return the logarithm of the pooled within-cluster dispersion, equation (2) of the paper."""
    if metric == SQUARED:
        points = X if issparse(X) else np.asarray(X, dtype=np.float64)
        partition = partition_rows(labels)
        total = to_centroids(points[partition.order], partition, SQUARED).sum()
    else:
        distances = within_cluster_distances(X, labels, metric=metric, noise="cluster")
        total = np.sum(distances["mean"] * (distances["size"] - 1) / 2)
    return float(np.log(total)) if total > 0 else -np.inf


def read_gap(logs: np.ndarray, reference_logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the (K,) gaps and their standard errors s_k, equations (3) and (6) of the paper."""
    if not np.isfinite(reference_logs).all():
        raise ValueError(
            "n_clusters must be less than the number of different points in data without "
            "structure, whose dispersion is 0 otherwise and has no logarithm."
        )
    n_references = reference_logs.shape[1]
    errors = reference_logs.std(axis=1) * np.sqrt(1 + 1 / n_references)
    return reference_logs.mean(axis=1) - logs, errors


def choose_by_gap(candidates: np.ndarray, gap: np.ndarray, limits: np.ndarray) -> int:
    """Return the chosen number of clusters; warn if it is the last, which has no limit."""
    chosen = pick_candidate(GAP, candidates, gap, limits, -np.inf)
    if chosen == candidates[-1] > candidates[0]:
        warn_user(
            f"The gap still increases at {chosen} clusters, the largest candidate, which is "
            "chosen; try more clusters."
        )
    return chosen


def check_sizes(X: Any, candidates: np.ndarray) -> None:
    """Raise unless there are more samples than clusters and two distinct samples."""
    if candidates.max() >= X.shape[0]:
        raise ValueError(
            f"n_clusters must be less than the {X.shape[0]} samples of X, got {candidates.max()}."
        )
    if compactness_score(X, np.zeros(X.shape[0]), unit="sum") == 0:
        raise ValueError("X must hold two samples that differ, got equal ones.")
