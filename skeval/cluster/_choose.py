"""The number of clusters: by stability of halves, by their silhouette, or by the gap statistic.

Every method gives each candidate a value and a limit that the value has to reach; both are held
against the same clusterer on data without structure.
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
from skeval.utils._checks import check_option, root_seed, warn_user
from skeval.utils._compat import Interval, StrOptions, validate_params
from skeval.utils._text import DataFrame

__all__ = [
    "NClustersChoice",
    "check_candidates",
    "choose_n_clusters",
    "gap_statistic",
    "resolve_parameter",
]


GAP = "gap"
SHARE = 2 / 3
"""Least share of the way from the reference to 1; by simulation, see `choose_n_clusters`."""

ERROR = 0.05
"""Share of data without structure in which the silhouette of some candidate reaches its limit."""

SQUARED = "sqeuclidean"
Array = np.ndarray


class Measured(NamedTuple):
    """The (K,) means of the candidates, their standard errors, and what they are held against.

    That is the (K, B) values of the reference, and the least strength of real clusters.
    """

    values: Array
    errors: Array
    reference: Array
    threshold: float

    @property
    def share_of_the_way(self) -> Array:
        """What lies `SHARE` of the way from the reference to 1."""
        base = self.reference.mean(axis=1)
        return base + SHARE * (1 - base)

    def near_the_best(self, limits: Array) -> Array:
        """Raise limits to one standard error below the best of the sufficient candidates."""
        base = self.reference.mean(axis=1)
        found = np.flatnonzero((self.values >= limits) & (self.values > base))
        if not found.size:
            return limits
        best = found[np.argmax(self.values[found])]
        return np.maximum(limits, self.values[best] - self.errors[best])


def limit_strength(found: Measured) -> Array:
    """Return the strength that each candidate must reach."""
    return np.maximum(found.share_of_the_way, found.threshold)


def limit_agreement(found: Measured) -> Array:
    """Return the agreement of halves that each candidate must reach, near the best of them."""
    return found.near_the_best(found.share_of_the_way)


def limit_silhouette(found: Measured) -> Array:
    """Return what the silhouette of each candidate must reach, near the best of them.

    It is the upper prediction limit of one more draw of the reference, for all candidates together.
    """
    n_candidates, n_draws = found.reference.shape
    quantile = t.isf(ERROR / n_candidates, n_draws - 1)
    spread = found.reference.std(axis=1, ddof=1) * np.sqrt(1 + 1 / n_draws)
    return found.near_the_best(found.reference.mean(axis=1) + quantile * spread)


def limit_gap(found: Measured) -> Array:
    """Return the gap of the next candidate less its standard error; the last one has no limit."""
    return np.append((found.values - found.errors)[1:], -np.inf)


class Method(NamedTuple):
    """How the number of clusters is chosen.

    Attributes
    ----------
    measure : callable or None
        What is measured of two halves; None of the gap, which is of all samples.
    limits : callable
        ``(measured) -> limits``: what each candidate must reach.
    rule : str
        Which candidate is chosen, in words.
    takes_one : bool
        Whether one cluster has a value, too.
    takes_largest : bool
        Whether the largest of the candidates that reach their limits is chosen, or the smallest.
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
    """What every method needs to try candidates."""

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
    """Return what is tried, or raise where parameter or reference are not to be had."""
    parameter = resolve_parameter(clusterer, param_name)
    kind, draws = _stability.resolve_reference(X, reference)
    root = root_seed(random_state)
    return Trial(X, clusterer, parameter, kind, draws, n_repeats, threshold, root, options)


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
    r"""Choose the number of clusters that one half of the data predicts in the other.

    K-means cuts a long cloud in the middle in both halves alike, and uniform noise hardly less.
    So every candidate is measured on the same random halves of the data, and on halves of draws of
    data without structure. With :math:`s_k` the mean stability and :math:`r_k` its mean in
    the reference, a candidate is sufficient if

    .. math:: \frac{s_k - r_k}{1 - r_k} \ge \frac23 ,

    where 1 is full agreement of the halves, and 0 that of the halves of noise. With
    ``"prediction_strength"`` it must also reach `threshold`, and the choice is the largest
    sufficient k; with ``"adjusted_rand"`` or ``"matched_accuracy"`` the largest whose mean
    `predictive_power` lies within one standard error of the best sufficient one. It is 1 if no
    candidate is sufficient.

    With ``"silhouette"`` the mean silhouette of the halves, each clustered by itself, must exceed
    the prediction limit of one more draw of the reference, of 95 % for all candidates together; the
    choice is the smallest k within one standard error of the best of these, else 1. ``"gap"`` is
    the gap statistic of all samples by its own rule, see `gap_statistic`. A list sets several
    methods side by side.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict` and a parameter for the number of clusters.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Nearest neighbours are Euclidean in X as given, so scale X beforehand.
    n_clusters : iterable of int, default=range(1, 11)
        The candidates, at least 1, and at least 2 unless the method is prediction strength or the
        gap, which always takes 1 as well. In a list, methods that cannot take 1 leave it out.
    method : str or list of str, default="prediction_strength"
        "prediction_strength", "adjusted_rand", "matched_accuracy", "silhouette" or "gap"; a list
        sets several side by side, on the same clusterings of the same halves.
    threshold : float, default=0.8
        Smallest strength of real clusters; only prediction strength reads it.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        The data without structure: points drawn uniformly in the box along the principal axes that
        holds the data ("uniform") or in that of the ranges of the features ("box"), or the data
        with every column shuffled by itself ("permuted"), which keeps the values of a column and so
        takes from it no groups that it shows alone. "auto" is "uniform", or "permuted" for sparse
        X.
    n_repeats : int, default=20
        Number of random halvings, at least 2, and of draws of data without structure.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters. None finds `n_clusters` or
        `n_components`, in a pipeline too if it is unique there.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the halvings and of the clusterer's own `random_state` where that is None.
    n_jobs : int, default=None
        Number of halvings computed at a time, through joblib; the numbers do not depend on it.
    verbose : int, default=0
        1 shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.

    Returns
    -------
    NClustersChoice or dict of str to NClustersChoice
        The choice, its rule, and the curve of values with standard errors; of a list of methods
        their choices by name.

    Raises
    ------
    ValueError
        If there is no candidate or one is out of range, if the parameter for the number of
        clusters is not found or not unique, if the clusterer takes precomputed distances, or if
        X has fewer than 4 samples, is not finite or of a size whose squares are not.

    See Also
    --------
    predictive_power : The measures of halves.
    gap_statistic : The gap alone, with its dispersions.
    StabilityDisplay : Draws the curve.

    Notes
    -----
    A halving carries no evidence of k clusters, and counts 0, where either half lacks k clusters
    of 3 samples or more: a cluster of one sample has no pair that could be separated, and what
    halves cannot hold (k above n/6) or an algorithm does not find is not there. The paper [1]_
    compares the strength itself with 0.8 to 0.9, as does R's fpc; that takes the cut through the
    middle of a long cloud for two clusters. The two thirds were found by simulation; the
    reference is that of the gap statistic [2]_.

    The choice presumes clusters of the kind that the algorithm looks for: K-means, Ward's method
    and spherical mixtures look for round ones, and cut others. Without structure (Gaussian and
    uniform noise, n from 8 to 200, 200 points with 8 outliers; K-means, Ward and single linkage)
    the tests require of prediction strength 1 in at least 95 % of data sets. In 25 Gaussian data
    sets of 50 samples the silhouette chose 1 in 24, the gap in 25. Skewed and heavy-tailed data are
    not uniform either. Of 30 data sets of 80 samples each in the plane (exponential, chi-squared
    with 4 and Student's t with 3 degrees of freedom, log-normal; K-means, k to 5, 10 halvings) all
    methods but the silhouette chose 1 in all; the silhouette chose more in 2 exponential and 3
    log-normal ones. So where k > 1 is chosen against a box and the columns are not correlated, the
    choice is held against columns shuffled by themselves as well, and its `caution` says if it
    fails there; its `edge` says how near the limit it is.

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
    """Return the names of distinct methods, or raise."""
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
    """Add a caution to choices that columns shuffled by themselves do not allow."""
    chosen = {name: found.n_clusters for name, found in choices.items() if found.n_clusters > 1}
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
    """Return the candidates of a method; beside others, a method leaves out what it cannot take."""
    takes_one = METHODS[method].takes_one
    if not takes_one and n_methods > 1:
        n_clusters = [k for k in check_candidates(n_clusters, 1, method).tolist() if k > 1]
    candidates = check_candidates(n_clusters, 1 if takes_one else 2, method)
    return np.union1d(candidates, 1) if method == GAP else candidates


def _choose_by_halves(
    trial: Trial, candidates: dict[str, np.ndarray]
) -> dict[str, NClustersChoice]:
    """Return the choice of each method that measures halves; all see the same halves."""
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
    """Return the choice that the (2, K, n_repeats) values of data and reference make."""
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
    """Return the choice of the gap statistic, whose reference has a gap of 0."""
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
    """Return the chosen number of clusters: 1 where no candidate reaches its limit."""
    reached = candidates[(values >= limits) & (values > base)]
    if not reached.size:
        return 1
    return int(reached.max() if METHODS[method].takes_largest else reached.min())


def check_candidates(n_clusters: Iterable[int], smallest: int, method: str) -> np.ndarray:
    """Return the distinct candidates in ascending order, or raise."""
    if not isinstance(n_clusters, Iterable):
        raise TypeError(f"n_clusters must be an iterable of integers, got {n_clusters!r}.")
    candidates = list(n_clusters)
    wrong = [k for k in candidates if not isinstance(k, Integral) or k < smallest]
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
    """Return the parameter for the number of clusters, given or found."""
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
        found = [name for name in names if name.split("__")[-1] == ending]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(f"param_name must say which of {', '.join(found)} to set.")
    raise ValueError(
        "param_name must name the parameter for the number of clusters: "
        f"{type(clusterer).__name__} has neither n_clusters nor n_components."
    )


@dataclass(frozen=True, eq=False)
class NClustersChoice(Result):
    """A chosen number of clusters and the value of every candidate.

    The values are stabilities, silhouettes or gaps, as the method says. The gap of a candidate is
    held against that of the next one, and the reference has a gap of 0.

    Attributes
    ----------
    n_clusters : int
        The choice.
    candidates : ndarray of shape (n_candidates,)
        The numbers of clusters that were asked for, ascending.
    values, standard_errors : ndarray of shape (n_candidates,)
        Mean of each candidate and its standard error over the halvings; of the gap s_k.
    replicates : ndarray of shape (n_candidates, n_repeats)
        Value of each halving; a column holds the same halves, or the same draw of the reference of
        the gap, for every candidate.
    reference_values, reference_standard_errors : ndarray of shape (n_candidates,)
        The same of data without structure: the mean over as many draws, each halved once.
    reference_replicates : ndarray of shape (n_candidates, n_repeats)
        Value of each draw.
    limits : ndarray of shape (n_candidates,)
        What the value of each candidate had to reach.
    method : str
        What was measured.
    reference : {"uniform", "box", "permuted"}
        The data without structure.
    threshold : float
        Smallest strength of real clusters, whatever the reference; only prediction strength
        reads it.
    rule : str
        The rule of the choice, in words.
    caution : str
        That the shapes of single columns explain the clusters, where that is so; else empty.
    details : mapping
        Of the gap, the arrays "log_dispersions" of shape (n_candidates,) and
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
        """How far each value lies above what it had to reach; below 0 where it did not."""
        return self.values - self.limits

    @property
    def edge(self) -> str:
        """How near the choice is to another one, in a sentence; empty where it is not near.

        Near is less than two standard errors, those of the values over the halvings, or of the gap
        over draws of the reference: others may choose otherwise.
        """
        ours = self.candidates == self.n_clusters
        missed = (self.margins < 0) & (self.candidates != 1)
        # where the smallest sufficient k is chosen, a larger one has no say, and the reverse
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
            f"Near the edge: k = {k} {verb} the limit of {self.limits[row]:.3f} by "
            f"{abs(margin):.3f} ({_text.write_with_spread(value, self.standard_errors[row])}), so "
            f"other {others} may choose otherwise."
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
            limit = "none" if np.isneginf(least) else _text.write_number(least)  # of the last gap
            mark = "  <- chosen" if k == self.n_clusters else ""
            text = f"{_text.write_number(value)} +/- {_text.write_spread(error)}, "
            text += f"reference {_text.write_number(reference)}, limit {limit}{mark}"
            rows.append((f"k = {k}", text))
        text = _text.align_text(f"{_text.count(self.n_clusters, 'cluster')} by {self.method}", rows)
        return "\n".join([text, *(f"! {each}" for each in (self.edge, self.caution) if each)])


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
    r"""Compute the gap statistic of several numbers of clusters.

    The dispersion of k clusters :math:`C_r` of :math:`n_r` samples is

    .. math:: W_k = \sum_{r=1}^k \frac{1}{2 n_r} \sum_{i, j \in C_r} d_{ij} ,

    which for squared distances is the sum of squares around the centroids. It falls as clusters
    are added, in data without structure too; the gap is how much further it fell,

    .. math:: gap(k) = \frac1B \sum_{b=1}^B \log W^*_{kb} - \log W_k , \qquad
        s_k = \sqrt{1 + 1/B}\; sd_b(\log W^*_{kb}) ,

    with :math:`W^*_{kb}` the dispersion of the clusters of the b-th draw of data without
    structure. The choice is the smallest k with :math:`gap(k) \ge gap(k+1) - s_{k+1}`, which may
    be 1.

    Parameters
    ----------
    clusterer : estimator
        Any clusterer, or pipeline, with `fit_predict` and a parameter for the number of clusters.
        One cluster is all samples, without a fit.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Distances are those of X as given, so scale X beforehand.
    n_clusters : iterable of int, default=range(1, 11)
        The candidates, at least 1 and fewer than the samples. The rule compares each with the
        next.
    reference : {"auto", "uniform", "box", "permuted"}, default="auto"
        The data without structure: points drawn uniformly in the box along the principal axes that
        holds the data ("uniform"), or in the box of the ranges of the features ("box"), or the data
        with every column shuffled by itself ("permuted"). "auto" is "uniform", or "permuted" for
        sparse X.
    metric : {"sqeuclidean", "euclidean"}, default="sqeuclidean"
        The distance :math:`d` of the dispersion.
    n_references : int, default=100
        Number of draws :math:`B` of data without structure, at least 2.
    param_name : str, default=None
        The clusterer's parameter for the number of clusters. None finds `n_clusters` or
        `n_components`, in a pipeline too if it is unique there.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of the clusterer's own `random_state` where that is None.
    n_jobs : int, default=None
        Number of clusterings computed at a time, through joblib; the numbers do not depend on it.
    verbose : int, default=0
        1 shows a progress bar; more adds joblib's own lines.
    memory : str, path-like or joblib.Memory, default=None
        Where finished fits are kept. A run that was interrupted and starts again with the same
        arguments, `random_state` an int, does only the rest; see :doc:`/user_guide/scale`.

    Returns
    -------
    NClustersChoice
        The choice, the gap of each candidate as `values` and s_k as `standard_errors`; the
        logarithms of the dispersions are `details` of it.

    Raises
    ------
    ValueError
        If a candidate is out of range, if the parameter for the number of clusters is not found or
        not unique, if the clusterer takes precomputed distances, or if X has fewer than 4 samples
        or only equal ones, is not finite or of a size whose squares are not, or if draws without
        structure have no more different points than clusters.

    Warns
    -----
    UserWarning
        If no candidate fulfils the rule: the gap still grows at the largest, which is given.

    See Also
    --------
    choose_n_clusters : The gap beside prediction strength and the silhouette.
    StabilityDisplay : Draws the curve.

    Notes
    -----
    ``clusGap`` of the R package cluster sums plain distances, unless ``d.power = 2``: the paper's
    example and this function's default square them (``metric="euclidean"`` gives the former). It
    divides the variance by B - 1, the paper and this function by B. Its default rule is not that of
    the paper, which it calls "Tibs2001SEmax". Label -1, noise, counts as one cluster.

    The rule errs where clusters are nested: the gap may fall and rise again. And it presumes
    clusters that W sees, compact ones.

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
    """Return the (K,) logarithms of dispersions of the data, and the (K, B) of the references.

    All numbers of clusters meet the same draws.
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
    """Cluster the data or a draw of the reference, and return the logarithms of the dispersions."""
    data, logs = reference(job.rng) if job.of_reference else X, []
    for k, clusterer in _stability.seed_alike(clusterers, job.rng).items():
        labels = np.zeros(data.shape[0], dtype=int) if k == 1 else clusterer.fit_predict(data)
        logs.append(log_dispersion(data, np.asarray(labels), metric))
    return logs


def log_dispersion(X: Any, labels: np.ndarray, metric: str) -> float:
    """Return the logarithm of the pooled within-cluster dispersion, equation (2) of the paper."""
    if metric == SQUARED:
        points = X if issparse(X) else np.asarray(X, dtype=np.float64)
        partition = partition_rows(labels)
        total = to_centroids(points[partition.order], partition, SQUARED).sum()
    else:
        found = within_cluster_distances(X, labels, metric=metric, noise="cluster")
        total = np.sum(found["mean"] * (found["size"] - 1) / 2)
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
    """Return the chosen number of clusters; warn where it is that without a limit."""
    chosen = pick_candidate(GAP, candidates, gap, limits, -np.inf)
    if chosen == candidates[-1] > candidates[0]:
        warn_user(
            f"The gap still grows at {chosen} clusters, the largest candidate, which is given as "
            "the choice; try more."
        )
    return chosen


def check_sizes(X: Any, candidates: np.ndarray) -> None:
    """Raise unless there are more samples than clusters, and two that differ."""
    if candidates.max() >= X.shape[0]:
        raise ValueError(
            f"n_clusters must be less than the {X.shape[0]} samples of X, got {candidates.max()}."
        )
    if compactness_score(X, np.zeros(X.shape[0]), unit="sum") == 0:
        raise ValueError("X must hold two samples that differ, got equal ones.")
